//! The common form of all tools' output: adapters with battery and volumes.
//!
//! Parsers make these values from bytes; [`super::query`] runs the tools, [`super::volume_lookup`]
//! finds the disk's volume. An absent value, an unknown word and a contradiction are all *missing*,
//! and nothing safe is ever assumed for them.

use crate::facts::UnknownReason;
use crate::facts::catalog::controller::{Battery, DiskCache, OnFailure, Policy, WriteMode};

/// A value of the fact, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldReading<T> {
    Value(T),
    /// No usable value: reason and detail.
    Missing(UnknownReason, String),
}

impl<T: Copy> FieldReading<T> {
    /// The tool does not print it.
    pub fn missing(what: &str) -> Self {
        Self::Missing(UnknownReason::Absent, format!("`{what}` is not reported"))
    }

    /// The tool prints an unknown word.
    pub fn unknown(what: &str, word: &str) -> Self {
        Self::Missing(
            UnknownReason::Malformed,
            format!("`{what}` is `{word}`, a value unknown to walwise"),
        )
    }

    /// The tool contradicts itself.
    pub fn conflicting(what: impl Into<String>) -> Self {
        Self::Missing(UnknownReason::Ambiguous, what.into())
    }

    pub fn value(&self) -> Option<T> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Missing(..) => None,
        }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> FieldReading<U> {
        match self {
            Self::Value(value) => FieldReading::Value(change(value)),
            Self::Missing(why, detail) => FieldReading::Missing(why, detail),
        }
    }

    /// This value if `other` has one, else the other's reason.
    pub fn only_if<U>(self, other: &FieldReading<U>) -> Self {
        match other {
            FieldReading::Value(_) => self,
            FieldReading::Missing(why, detail) => Self::Missing(*why, detail.clone()),
        }
    }
}

/// Facts with several reports, of which the worst counts.
pub trait Severity: Copy {
    /// 0 is best; all values differ.
    fn severity(self) -> u8;
}

impl Severity for Battery {
    fn severity(self) -> u8 {
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

impl Severity for WriteMode {
    fn severity(self) -> u8 {
        match self {
            Self::WriteThrough => 0,
            Self::WriteBack => 1,
        }
    }
}

impl Severity for DiskCache {
    fn severity(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::DiskDefault => 1,
            Self::On => 2,
        }
    }
}

pub fn is_absent(battery: Battery) -> bool {
    matches!(battery, Battery::Absent)
}

/// A write-back policy by its behaviour without battery.
pub fn write_back_policy(on_failure: OnFailure) -> Policy {
    match on_failure {
        OnFailure::WriteThrough => Policy::WriteBack,
        OnFailure::Stays => Policy::AlwaysWriteBack,
    }
}

/// The inverse: behaviour without battery of this policy.
pub fn behaviour_on_failure(policy: Policy) -> OnFailure {
    match policy {
        Policy::AlwaysWriteBack => OnFailure::Stays,
        Policy::WriteBack | Policy::WriteThrough => OnFailure::WriteThrough,
    }
}

/// The write mode of this policy while nothing overrides it.
pub fn default_write_mode(policy: Policy) -> WriteMode {
    match policy {
        Policy::WriteBack | Policy::AlwaysWriteBack => WriteMode::WriteBack,
        Policy::WriteThrough => WriteMode::WriteThrough,
    }
}

/// The worst of several reports. With one missing, only a value worse than the best is known.
pub fn worst<T: Severity>(accounts: impl IntoIterator<Item = FieldReading<T>>) -> FieldReading<T> {
    let mut gap = None;
    let mut worst: Option<T> = None;
    for account in accounts {
        match account {
            FieldReading::Value(word)
                if worst.is_none_or(|so_far| word.severity() > so_far.severity()) =>
            {
                worst = Some(word);
            }
            FieldReading::Value(_) => {}
            missing @ FieldReading::Missing(..) => gap = gap.or(Some(missing)),
        }
    }
    match (worst, gap) {
        (Some(word), None) => FieldReading::Value(word),
        (Some(word), Some(_)) if word.severity() > 0 => FieldReading::Value(word),
        (_, Some(gap)) => gap,
        (None, None) => FieldReading::missing("anything"),
    }
}

/// Domain, bus, device, function.
pub type Pci = [u32; 4];

/// Four hexadecimal numbers with colons and dots between: `0000:03:00.0`, `00:02:00:00`.
pub fn parse_pci(text: &str) -> Option<Pci> {
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
    /// A number or slot, as the tool prints it.
    pub name: String,
    pub model: Option<String>,
    /// PCI address.
    pub pci: Option<Pci>,
    pub battery: FieldReading<Battery>,
    /// Why its cache does not work as configured, as printed.
    pub detail: Option<String>,
    pub volumes: Vec<Volume>,
}

impl Adapter {
    /// Nothing but the name is known.
    pub fn name_only(name: impl Into<String>, why: FieldReading<Battery>) -> Self {
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub name: String,
    /// Number in the SCSI address, for families that show it.
    pub target: Option<u32>,
    /// `/dev/sda`.
    pub node: Option<String>,
    /// World-wide name, hexadecimal digits in lower case.
    pub wwn: Option<String>,
    pub policy: FieldReading<Policy>,
    pub in_force: FieldReading<WriteMode>,
    /// Without battery.
    pub on_failure: FieldReading<OnFailure>,
    /// Of the member disks.
    pub disk_cache: FieldReading<DiskCache>,
}

impl Volume {
    /// Nothing but the name is known.
    pub fn name_only(name: String) -> Self {
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

/// Lower case; `None` unless the text is only hexadecimal digits and long enough.
pub fn parse_wwn(text: &str) -> Option<String> {
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
        let healthy = || FieldReading::Value(Battery::Healthy);
        let gap = || FieldReading::missing("x");
        assert_eq!(worst([healthy(), healthy()]), healthy());
        assert_eq!(
            worst([
                healthy(),
                FieldReading::Value(Battery::Failed),
                FieldReading::Value(Battery::Charging)
            ]),
            FieldReading::Value(Battery::Failed)
        );
        assert_eq!(worst([healthy(), gap()]), gap());
        assert_eq!(
            worst([gap(), FieldReading::Value(Battery::Degraded)]),
            FieldReading::Value(Battery::Degraded)
        );
        assert_eq!(worst::<Battery>([]).value(), None);
    }

    #[test]
    fn addresses_and_names() {
        assert_eq!(parse_pci("0000:03:00.0"), Some([0, 3, 0, 0]));
        assert_eq!(parse_pci("00:0a:00:01"), Some([0, 10, 0, 1]));
        for text in ["", "03:00.0", "0000:03:00.0.1", "a:b:c:x"] {
            assert_eq!(parse_pci(text), None, "{text}");
        }
        assert_eq!(
            parse_wwn("600508B1001C7A6BAEB3D4DCF5A4DA9F").as_deref(),
            Some("600508b1001c7a6baeb3d4dcf5a4da9f")
        );
        assert_eq!(parse_wwn("NA"), None);
    }

    proptest! {
        #[test]
        fn the_worst_is_the_same_in_any_order(
            accounts in prop::collection::vec(prop_oneof![
                prop::sample::select(Battery::ALL).prop_map(FieldReading::Value),
                Just(FieldReading::missing("x")),
            ], 0..5).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        ) {
            let (one, other) = accounts;
            prop_assert_eq!(worst(one.clone()), worst(other));
            let healthy = worst(one.clone()) == FieldReading::Value(Battery::Healthy);
            prop_assert_eq!(healthy, !one.is_empty() && one.iter().all(|account| *account == FieldReading::Value(Battery::Healthy)));
        }

        #[test]
        fn addresses_and_names_are_read_or_refused(address: [u16; 4], name in "[0-9a-fA-F]{16,32}", text in "[ -~]{0,20}") {
            let [a, b, c, d] = address;
            let expect = Some(address.map(u32::from));
            prop_assert_eq!(parse_pci(&format!("{a:04x}:{b:02x}:{c:02x}.{d:x}")), expect);
            prop_assert_eq!(parse_wwn(&format!("0x{name}")), Some(name.to_ascii_lowercase()));
            parse_pci(&text);
            prop_assert!(parse_wwn(&text).is_none_or(|name| name.bytes().all(|b| b.is_ascii_hexdigit())));
        }
    }
}
