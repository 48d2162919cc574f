//! Battery and flash-module state from the flags of MegaRAID firmware, which MegaCli and storcli
//! both print.
//!
//! Flag names follow thomas-krenn/check_lsi_raid and glensc/nagios-plugin-check_raid,
//! t/data/megacli. The state can be *Optimal* while a flag requests a new battery, so the worse of
//! the two counts.

use super::fields::{ToolOutputFields, listed};
use super::report::{FieldReading, Severity, parse_battery_state, worst_reading};
use crate::facts::Choice;
use crate::facts::catalog::controller::BatteryCondition;
use crate::text_table::rows;

/// The rows of `battery_flags.txt`: flag, harmless value, state otherwise, and `newer` or nothing.
pub fn battery_flags() -> impl Iterator<Item = [&'static str; 4]> {
    rows(include_str!("battery_flags.txt"))
}

pub fn parse_state(word: &str) -> Option<BatteryCondition> {
    parse_battery_state(word, &["optimal", "operational"])
}

/// The state from the bits of its code (`MFI_BBU_STATE_*` in mfireg.h of FreeBSD).
pub fn parse_battery_state_code(code: u64) -> BatteryCondition {
    const BITS: [(u64, BatteryCondition); 4] = [
        (1, BatteryCondition::Absent),
        // With bit 10 the firmware requests a new battery; the present charge is unknown.
        (0xf86, BatteryCondition::Degraded),
        (1 << 3, BatteryCondition::Charging),
        (1 << 4 | 1 << 6, BatteryCondition::Learning),
    ];
    // Healthy batteries have bit 12 set.
    const HARMLESS: u64 = 1 << 12;
    let known = BITS.iter().fold(HARMLESS, |all, (bits, _)| all | bits);
    if code & !known != 0 {
        return BatteryCondition::Unreadable;
    }
    BITS.into_iter()
        .filter(|(bits, _)| code & bits != 0)
        .map(|(_, state)| state)
        .max_by_key(|state| state.severity())
        .unwrap_or(BatteryCondition::Healthy)
}

pub fn parse_battery_flags(fields: &ToolOutputFields) -> FieldReading<BatteryCondition> {
    let is_newer = |[.., age]: &[&str; 4]| *age == "newer";
    let has_newer = battery_flags()
        .filter(is_newer)
        .any(|[flag, ..]| fields.contains_key(flag));
    let flags = battery_flags().filter(|row| has_newer || !is_newer(row));
    let states = flags.map(|[flag, harmless, otherwise, _]| {
        fields.parse_lowercase_value(flag, |word| {
            if word == harmless {
                Some(BatteryCondition::Healthy)
            } else {
                BatteryCondition::from_word(otherwise)
            }
        })
    });
    let own = [
        parse_replacement_required(fields),
        parse_charging_status(fields),
    ];
    worst_reading("battery flags", own.into_iter().chain(states))
}

pub fn parse_replacement_required(fields: &ToolOutputFields) -> FieldReading<BatteryCondition> {
    fields.parse_lowercase_value(
        "battery replacement required",
        listed("megaraid: battery replacement required"),
    )
}

fn parse_charging_status(fields: &ToolOutputFields) -> FieldReading<BatteryCondition> {
    fields.parse_lowercase_value("charging status", listed("megaraid: charging status"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_code_bits_give_worst_state() {
        for (code, state) in [
            (0, BatteryCondition::Healthy),
            (1 << 12, BatteryCondition::Healthy),
            (8, BatteryCondition::Charging),
            (64, BatteryCondition::Learning),
            (64 | 8, BatteryCondition::Learning),
            (1 << 10 | 8, BatteryCondition::Degraded),
            (1, BatteryCondition::Absent),
            (1 << 11, BatteryCondition::Degraded),
            // Bit 5 requests a learn cycle, and is also set without a battery.
            (32, BatteryCondition::Unreadable),
            (1 << 13, BatteryCondition::Unreadable),
            (1 << 20, BatteryCondition::Unreadable),
        ] {
            assert_eq!(parse_battery_state_code(code), state, "{code}");
        }
    }
}
