//! The common form of all tools' output: adapters with battery and volumes.
//!
//! An absent value, an unknown word and a contradiction are all *missing*, which never counts as
//! safe.

use crate::facts::catalog::controller::{
    BatteryCondition, BatteryFailurePolicy, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::facts::{Choice, UnknownReason};
use crate::text_table::rows;

/// A value that a tool reported, or why there is none. `other.and(reading)` is the reading only if
/// the other value is known.
pub type FieldReading<T> = Result<T, MissingField>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingField(pub UnknownReason, pub String);

pub fn not_reported<T>(what: &str) -> FieldReading<T> {
    let says = format!("the tool does not report {what}");
    Err(MissingField(UnknownReason::Absent, says))
}

pub fn unrecognised_value<T>(what: &str, word: &str) -> FieldReading<T> {
    let says = format!("`{what}` is `{word}`, a value unknown to walwise");
    Err(MissingField(UnknownReason::Malformed, says))
}

pub fn conflicting<T>(what: impl Into<String>) -> FieldReading<T> {
    Err(MissingField(UnknownReason::Ambiguous, what.into()))
}

/// The state of a battery, capacitor or flash module, in the words of all tools. Only the words for
/// a healthy one are those of a single tool.
pub fn parse_battery_state(word: &str, healthy: &[&str]) -> Option<BatteryCondition> {
    if healthy.contains(&word) {
        return Some(BatteryCondition::Healthy);
    }
    rows(BATTERY_STATES)
        .find(|[extent, known, _]| word == *known || *extent == "begins" && word.starts_with(known))
        .and_then(|[_, _, state]| BatteryCondition::from_word(state))
}

const BATTERY_STATES: &str = include_str!("battery_states.txt");

/// The rank of a value, from 0 for the best.
pub trait Severity: Copy {
    fn severity(self) -> u8;
}

impl Severity for BatteryCondition {
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

impl Severity for CachePolicyInForce {
    fn severity(self) -> u8 {
        match self {
            Self::WriteThrough => 0,
            Self::WriteBack => 1,
        }
    }
}

impl Severity for CachePolicy {
    fn severity(self) -> u8 {
        match self {
            Self::WriteThrough | Self::WriteBack => 0,
            Self::AlwaysWriteBack => 1,
        }
    }
}

impl Severity for BatteryFailurePolicy {
    fn severity(self) -> u8 {
        match self {
            Self::WriteThrough => 0,
            Self::Stays => 1,
        }
    }
}

impl Severity for MemberDiskCache {
    fn severity(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::DiskDefault => 1,
            Self::On => 2,
        }
    }
}

pub fn write_back_policy_by_failure_policy(on_failure: BatteryFailurePolicy) -> CachePolicy {
    match on_failure {
        BatteryFailurePolicy::WriteThrough => CachePolicy::WriteBack,
        BatteryFailurePolicy::Stays => CachePolicy::AlwaysWriteBack,
    }
}

pub fn battery_failure_policy(policy: CachePolicy) -> BatteryFailurePolicy {
    match policy {
        CachePolicy::AlwaysWriteBack => BatteryFailurePolicy::Stays,
        CachePolicy::WriteBack | CachePolicy::WriteThrough => BatteryFailurePolicy::WriteThrough,
    }
}

pub fn mode_in_force_without_fallback(policy: CachePolicy) -> CachePolicyInForce {
    match policy {
        CachePolicy::WriteBack | CachePolicy::AlwaysWriteBack => CachePolicyInForce::WriteBack,
        CachePolicy::WriteThrough => CachePolicyInForce::WriteThrough,
    }
}

/// If one reading is missing, the result is known only if another is worse than the best value.
/// `what` is the field that is not reported if there is no reading.
pub fn worst_reading<T: Severity>(
    what: &str,
    accounts: impl IntoIterator<Item = FieldReading<T>>,
) -> FieldReading<T> {
    let mut gap = None;
    let mut worst: Option<T> = None;
    for account in accounts {
        match account {
            Ok(word) if worst.is_none_or(|so_far| word.severity() > so_far.severity()) => {
                worst = Some(word);
            }
            Ok(_) => {}
            Err(missing) => gap = gap.or(Some(missing)),
        }
    }
    match (worst, gap) {
        (Some(word), None) => Ok(word),
        (Some(word), Some(_)) if word.severity() > 0 => Ok(word),
        (_, Some(gap)) => Err(gap),
        (None, None) => not_reported(what),
    }
}

/// The worst state of a battery that one field counts or shows as `present`. If that field shows
/// none, a `status` of something else is a `contradiction`.
pub fn battery_state(
    present: FieldReading<BatteryCondition>,
    status: FieldReading<BatteryCondition>,
    more: Option<FieldReading<BatteryCondition>>,
    contradiction: &str,
) -> FieldReading<BatteryCondition> {
    if present != Ok(BatteryCondition::Absent) {
        worst_reading("battery", [present, status].into_iter().chain(more))
    } else if !matches!(
        status,
        Ok(BatteryCondition::Absent) | Err(MissingField(UnknownReason::Absent, _))
    ) {
        conflicting(contradiction)
    } else {
        present
    }
}

/// PCI domain, bus, device and function.
pub type PciAddress = [u32; 4];

/// Parses four hexadecimal numbers separated by colons and dots: `0000:03:00.0`, `00:02:00:00`.
pub fn parse_pci_address(text: &str) -> Option<PciAddress> {
    let parts = text.trim().split([':', '.']);
    let numbers: Result<Vec<u32>, _> = parts.map(|part| u32::from_str_radix(part, 16)).collect();
    numbers.ok()?.try_into().ok()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// The adapter's number or slot, as the tool prints it.
    pub name: String,
    pub model: Option<String>,
    pub pci: Option<PciAddress>,
    pub battery: FieldReading<BatteryCondition>,
    pub detail: Option<String>,
    pub volumes: Vec<Volume>,
}

impl Adapter {
    /// An adapter of which only the name is known; `why` is the reading of the battery.
    pub fn name_only(name: impl Into<String>, why: FieldReading<BatteryCondition>) -> Self {
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
    /// The volume's number in the SCSI address, for families that show it.
    pub target: Option<u32>,
    pub node: Option<String>,
    /// The world-wide name: hexadecimal digits in lower case.
    pub wwn: Option<String>,
    pub policy: FieldReading<CachePolicy>,
    pub in_force: FieldReading<CachePolicyInForce>,
    /// The behaviour without a working battery.
    pub on_failure: FieldReading<BatteryFailurePolicy>,
    pub disk_cache: FieldReading<MemberDiskCache>,
}

impl Volume {
    pub fn name_only(name: String) -> Self {
        Self {
            name,
            target: None,
            node: None,
            wwn: None,
            policy: not_reported("write cache"),
            in_force: not_reported("write cache"),
            on_failure: not_reported("write cache"),
            disk_cache: not_reported("cache of the disks"),
        }
    }
}

/// In lower case; `None` unless there are 16 or more digits, all hexadecimal.
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
    fn worst_reading_wins_and_healthy_needs_all() {
        let healthy = || Ok(BatteryCondition::Healthy);
        let gap = || not_reported("x");
        assert_eq!(worst_reading("x", [healthy(), healthy()]), healthy());
        assert_eq!(
            worst_reading(
                "x",
                [
                    healthy(),
                    Ok(BatteryCondition::Failed),
                    Ok(BatteryCondition::Charging)
                ]
            ),
            Ok(BatteryCondition::Failed)
        );
        assert_eq!(worst_reading("x", [healthy(), gap()]), gap());
        assert_eq!(
            worst_reading("x", [gap(), Ok(BatteryCondition::Degraded)]),
            Ok(BatteryCondition::Degraded)
        );
        assert_eq!(
            worst_reading::<BatteryCondition>("x", []),
            not_reported("x")
        );
    }

    #[test]
    fn parses_pci_addresses_and_wwns() {
        assert_eq!(parse_pci_address("0000:03:00.0"), Some([0, 3, 0, 0]));
        assert_eq!(parse_pci_address("00:0a:00:01"), Some([0, 10, 0, 1]));
        for text in ["", "03:00.0", "0000:03:00.0.1", "a:b:c:x"] {
            assert_eq!(parse_pci_address(text), None, "{text}");
        }
        assert_eq!(
            parse_wwn("600508B1001C7A6BAEB3D4DCF5A4DA9F").as_deref(),
            Some("600508b1001c7a6baeb3d4dcf5a4da9f")
        );
        assert_eq!(parse_wwn("NA"), None);
    }

    #[test]
    fn healthy_words_of_one_tool_are_unknown_to_others() {
        assert_eq!(parse_battery_state("ready", &["optimal"]), None);
        assert_eq!(
            parse_battery_state("ready", &["ready"]),
            Some(BatteryCondition::Healthy)
        );
    }

    #[test]
    fn unrecognised_status_contradicts_an_absent_battery() {
        let absent = || Ok(BatteryCondition::Absent);
        let state = |status| battery_state(absent(), status, None, "conflict");
        assert_eq!(
            state(unrecognised_value("status", "foo")),
            conflicting("conflict")
        );
        assert_eq!(
            state(Ok(BatteryCondition::Healthy)),
            conflicting("conflict")
        );
        for status in [absent(), not_reported("status")] {
            assert_eq!(state(status), absent());
        }
    }

    proptest! {
        #[test]
        fn worst_reading_is_independent_of_order(
            accounts in prop::collection::vec(prop_oneof![
                prop::sample::select(BatteryCondition::ALL).prop_map(Ok),
                Just(not_reported("x")),
            ], 0..5).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        ) {
            let (one, other) = accounts;
            prop_assert_eq!(worst_reading("x", one.clone()), worst_reading("x", other));
            let healthy = worst_reading("x", one.clone()) == Ok(BatteryCondition::Healthy);
            prop_assert_eq!(healthy, !one.is_empty() && one.iter().all(|account| *account == Ok(BatteryCondition::Healthy)));
        }

        #[test]
        fn pci_addresses_and_wwns_round_trip(address: [u16; 4], name in "[0-9a-fA-F]{16,32}", text in "[ -~]{0,20}") {
            let [a, b, c, d] = address;
            let expect = Some(address.map(u32::from));
            prop_assert_eq!(parse_pci_address(&format!("{a:04x}:{b:02x}:{c:02x}.{d:x}")), expect);
            prop_assert_eq!(parse_wwn(&format!("0x{name}")), Some(name.to_ascii_lowercase()));
            parse_pci_address(&text);
            prop_assert!(parse_wwn(&text).is_none_or(|name| name.bytes().all(|b| b.is_ascii_hexdigit())));
        }
    }
}
