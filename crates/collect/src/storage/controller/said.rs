//! The output of a controller's tool in one shape for all tools: adapters, their battery, their
//! volumes.
//!
//! Parsers make these values from bytes. [`super::ask`] runs the tools, and [`super::place`] finds
//! the disk's volume. A missing value, an unknown word and a contradiction are all gaps, and a gap
//! is never filled with a safe value.

use crate::facts::Why;
use crate::facts::catalog::controller::{Battery, DiskCache, OnFailure, Policy, WriteMode};

/// A value of the fact that it becomes, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldReading<T> {
    /// A value that the tool printed.
    Is(T),
    /// No usable value: the reason, and the detail in words.
    Gap(Why, String),
}

impl<T: Copy> FieldReading<T> {
    /// A gap: the tool does not print it.
    pub fn missing(what: &str) -> Self {
        Self::Gap(Why::Absent, format!("`{what}` is not said"))
    }

    /// A gap: the tool prints an unknown word.
    pub fn unknown(what: &str, word: &str) -> Self {
        Self::Gap(
            Why::Malformed,
            format!("`{what}` is `{word}`, a word that walwise does not know"),
        )
    }

    /// A gap: the tool prints two things that contradict each other.
    pub fn disputed(what: impl Into<String>) -> Self {
        Self::Gap(Why::Ambiguous, what.into())
    }

    /// The value, when there is one.
    pub fn is(&self) -> Option<T> {
        match self {
            Self::Is(value) => Some(*value),
            Self::Gap(..) => None,
        }
    }

    /// The value changed by a function; a gap stays a gap.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> FieldReading<U> {
        match self {
            Self::Is(value) => FieldReading::Is(change(value)),
            Self::Gap(why, detail) => FieldReading::Gap(why, detail),
        }
    }

    /// This value where the other has one; else the other's gap.
    pub fn only_if<U>(self, other: &FieldReading<U>) -> Self {
        match other {
            FieldReading::Is(_) => self,
            FieldReading::Gap(why, detail) => Self::Gap(*why, detail.clone()),
        }
    }
}

/// A fact with several accounts, of which the worst counts.
pub trait Graded: Copy {
    /// How bad it is: 0 is the best, and no two are alike.
    fn harm(self) -> u8;
}

impl Graded for Battery {
    fn harm(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::Charging => 1,
            Self::Learning => 2,
            Self::Degraded => 3,
            Self::Unreadable => 4,
            Self::Absent => 5,
            Self::Failed => 6,
        }
    }
}

impl Graded for WriteMode {
    fn harm(self) -> u8 {
        match self {
            Self::WriteThrough => 0,
            Self::WriteBack => 1,
        }
    }
}

impl Graded for DiskCache {
    fn harm(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::DiskDefault => 1,
            Self::On => 2,
        }
    }
}

/// Whether this says that there is no battery.
pub fn is_absent(battery: Battery) -> bool {
    matches!(battery, Battery::Absent)
}

/// The policy of a write-back cache, by what it does without its battery.
pub fn write_back(on_failure: OnFailure) -> Policy {
    match on_failure {
        OnFailure::WriteThrough => Policy::WriteBack,
        OnFailure::Stays => Policy::AlwaysWriteBack,
    }
}

/// The inverse: what a cache with this policy does without its battery.
pub fn on_failure(policy: Policy) -> OnFailure {
    match policy {
        Policy::AlwaysWriteBack => OnFailure::Stays,
        Policy::WriteBack | Policy::WriteThrough => OnFailure::WriteThrough,
    }
}

/// How a cache writes while nothing overrides its policy.
pub fn in_force(policy: Policy) -> WriteMode {
    match policy {
        Policy::WriteBack | Policy::AlwaysWriteBack => WriteMode::WriteBack,
        Policy::WriteThrough => WriteMode::WriteThrough,
    }
}

/// The worst of several accounts of one thing. The best value needs all of them: with a gap among
/// them, only a value worse than the best is known.
pub fn worst<T: Graded>(accounts: impl IntoIterator<Item = FieldReading<T>>) -> FieldReading<T> {
    let mut gap = None;
    let mut worst: Option<T> = None;
    for account in accounts {
        match account {
            FieldReading::Is(word) if worst.is_none_or(|so_far| word.harm() > so_far.harm()) => {
                worst = Some(word);
            }
            FieldReading::Is(_) => {}
            missing @ FieldReading::Gap(..) => gap = gap.or(Some(missing)),
        }
    }
    match (worst, gap) {
        (Some(word), None) => FieldReading::Is(word),
        (Some(word), Some(_)) if word.harm() > 0 => FieldReading::Is(word),
        (_, Some(gap)) => gap,
        (None, None) => FieldReading::missing("anything"),
    }
}

/// Address of a PCI device: domain, bus, device, function.
pub type Pci = [u32; 4];

/// A PCI address of four numbers with colons and dots between, hexadecimal: `0000:03:00.0`,
/// `00:02:00:00`.
pub fn pci(text: &str) -> Option<Pci> {
    let parts: Vec<&str> = text.trim().split([':', '.']).collect();
    let number = |part: &&str| u32::from_str_radix(part, 16).ok();
    parts
        .iter()
        .map(number)
        .collect::<Option<Vec<u32>>>()?
        .try_into()
        .ok()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Its name in the tool: a number or a slot.
    pub name: String,
    pub model: Option<String>,
    /// Where it is plugged in.
    pub pci: Option<Pci>,
    /// Battery or flash module.
    pub battery: FieldReading<Battery>,
    /// Why its cache does not work as it is set to, as printed.
    pub detail: Option<String>,
    pub volumes: Vec<Volume>,
}

impl Adapter {
    /// A controller of which only the name is known.
    pub fn unread(name: impl Into<String>, why: FieldReading<Battery>) -> Self {
        Self {
            name: name.into(),
            model: None,
            pci: None,
            battery: why,
            detail: None,
            volumes: Vec::new(),
        }
    }
}

/// A volume of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub name: String,
    /// Number that the SCSI address shows too, where it does.
    pub target: Option<u32>,
    /// Node of the disk it is, such as `/dev/sda`.
    pub node: Option<String>,
    /// World-wide name, hexadecimal digits in lower case.
    pub wwn: Option<String>,
    pub policy: FieldReading<Policy>,
    pub in_force: FieldReading<WriteMode>,
    /// The behaviour without battery.
    pub on_failure: FieldReading<OnFailure>,
    /// Caches of the member disks.
    pub disk_cache: FieldReading<DiskCache>,
}

impl Volume {
    /// A volume of which only the name is known.
    pub fn unread(name: String) -> Self {
        Self {
            name,
            target: None,
            node: None,
            wwn: None,
            policy: FieldReading::missing("write cache"),
            in_force: FieldReading::missing("write cache"),
            on_failure: FieldReading::missing("write cache"),
            disk_cache: FieldReading::missing("cache of the disks"),
        }
    }
}

/// The world-wide name in lower case; `None` unless the text is hexadecimal digits alone and long
/// enough.
pub fn wwn(text: &str) -> Option<String> {
    let digits = text.trim().trim_start_matches("0x");
    let is_name = digits.len() >= 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_name.then(|| digits.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Choice;

    #[test]
    fn the_worst_account_counts_and_the_best_needs_all() {
        let healthy = || FieldReading::Is(Battery::Healthy);
        let gap = || FieldReading::missing("x");
        assert_eq!(worst([healthy(), healthy()]), healthy());
        assert_eq!(
            worst([
                healthy(),
                FieldReading::Is(Battery::Failed),
                FieldReading::Is(Battery::Charging)
            ]),
            FieldReading::Is(Battery::Failed)
        );
        assert_eq!(worst([healthy(), gap()]), gap());
        assert_eq!(
            worst([gap(), FieldReading::Is(Battery::Degraded)]),
            FieldReading::Is(Battery::Degraded)
        );
        assert_eq!(worst::<Battery>([]).is(), None);
    }

    #[test]
    fn addresses_and_names() {
        assert_eq!(pci("0000:03:00.0"), Some([0, 3, 0, 0]));
        assert_eq!(pci("00:0a:00:01"), Some([0, 10, 0, 1]));
        for text in ["", "03:00.0", "0000:03:00.0.1", "a:b:c:x"] {
            assert_eq!(pci(text), None, "{text}");
        }
        assert_eq!(
            wwn("600508B1001C7A6BAEB3D4DCF5A4DA9F").as_deref(),
            Some("600508b1001c7a6baeb3d4dcf5a4da9f")
        );
        assert_eq!(wwn("NA"), None);
    }

    proptest! {
        #[test]
        fn the_worst_is_the_same_in_any_order(
            accounts in prop::collection::vec(prop_oneof![
                prop::sample::select(Battery::ALL).prop_map(FieldReading::Is),
                Just(FieldReading::missing("x")),
            ], 0..5).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        ) {
            let (one, other) = accounts;
            prop_assert_eq!(worst(one.clone()), worst(other));
            let healthy = worst(one.clone()) == FieldReading::Is(Battery::Healthy);
            prop_assert_eq!(healthy, !one.is_empty() && one.iter().all(|account| *account == FieldReading::Is(Battery::Healthy)));
        }

        #[test]
        fn addresses_and_names_are_read_or_refused(address: [u16; 4], name in "[0-9a-fA-F]{16,32}", text in "[ -~]{0,20}") {
            let [a, b, c, d] = address;
            let expect = Some(address.map(u32::from));
            prop_assert_eq!(pci(&format!("{a:04x}:{b:02x}:{c:02x}.{d:x}")), expect);
            prop_assert_eq!(wwn(&format!("0x{name}")), Some(name.to_ascii_lowercase()));
            pci(&text);
            prop_assert!(wwn(&text).is_none_or(|name| name.bytes().all(|b| b.is_ascii_hexdigit())));
        }
    }
}
