//! Battery and flash-module state from the flags of MegaRAID firmware, which MegaCli and storcli
//! both print.
//!
//! Names follow thomas-krenn/check_lsi_raid and glensc/nagios-plugin-check_raid, t/data/megacli.
//! The state can be *Optimal* while a flag asks for a new battery, so the worse of the two counts.

use super::fields::Fields;
use super::report::{FieldReading, worst};
use crate::facts::catalog::controller::Battery;

/// Flag, its harmless value, and what any other value means.
const FLAGS: [(&str, &str, Battery); 11] = [
    ("voltage", "ok", Battery::Degraded),
    ("temperature", "ok", Battery::Degraded),
    ("learn cycle active", "no", Battery::Learning),
    ("learn cycle status", "ok", Battery::Degraded),
    ("learn cycle timeout", "no", Battery::Degraded),
    ("i2c errors detected", "no", Battery::Degraded),
    ("battery pack missing", "no", Battery::Absent),
    ("remaining capacity low", "no", Battery::Degraded),
    ("no space to cache offload", "no", Battery::Degraded),
    (
        "pack is about to fail & should be replaced",
        "no",
        Battery::Degraded,
    ),
    (
        "cache offload premium feature required",
        "no",
        Battery::Degraded,
    ),
];

/// Firmware prints all of these or none.
const NEWER_FLAGS: [&str; 3] = [
    "no space to cache offload",
    "pack is about to fail & should be replaced",
    "cache offload premium feature required",
];

pub fn parse_state(word: &str) -> Option<Battery> {
    match word {
        "optimal" | "operational" => Some(Battery::Healthy),
        "missing" | "absent" | "not present" => Some(Battery::Absent),
        "failed" | "dead" | "non operational" => Some(Battery::Failed),
        "unknown" => Some(Battery::Unreadable),
        word if word.starts_with("charging") => Some(Battery::Charging),
        word if word.starts_with("learn") => Some(Battery::Learning),
        word if word.starts_with("degraded") || word.starts_with("dgd") => Some(Battery::Degraded),
        _ => None,
    }
}

/// By its bits (`MFI_BBU_STATE_*` in mfireg.h of FreeBSD).
pub fn parse_state_code(code: u64) -> FieldReading<Battery> {
    const BITS: [(u64, Battery); 11] = [
        (1, Battery::Absent),
        (1 << 1, Battery::Degraded),
        (1 << 2, Battery::Degraded),
        (1 << 3, Battery::Charging),
        (1 << 4, Battery::Learning),
        (1 << 6, Battery::Learning),
        (1 << 7, Battery::Degraded),
        (1 << 8, Battery::Degraded),
        (1 << 9, Battery::Degraded),
        // The battery is to be replaced; its charge today is unknown.
        (1 << 10, Battery::Degraded),
        (1 << 11, Battery::Degraded),
    ];
    // Set on healthy batteries; the next bit, 8192, is undocumented.
    const HARMLESS: u64 = 1 << 12;
    let known = BITS.iter().fold(HARMLESS, |all, (bit, _)| all | bit);
    if code & !known != 0 {
        return FieldReading::Value(Battery::Unreadable);
    }
    let set = BITS
        .iter()
        .filter(|(bit, _)| code & bit != 0)
        .map(|(_, state)| FieldReading::Value(*state));
    worst(set.chain([FieldReading::Value(Battery::Healthy)]))
}

/// The worst flag counts; every expected flag must be present.
pub fn flags(fields: &Fields) -> FieldReading<Battery> {
    let newer = NEWER_FLAGS.iter().any(|flag| fields.has(flag));
    let mut accounts = vec![replacement(fields), charging(fields)];
    for (flag, harmless, otherwise) in FLAGS {
        if fields.has(flag) || newer || !NEWER_FLAGS.contains(&flag) {
            accounts.push(fields.parse_value(flag, |word| {
                Some(if word == harmless {
                    Battery::Healthy
                } else {
                    otherwise
                })
            }));
        }
    }
    worst(accounts)
}

pub fn replacement(fields: &Fields) -> FieldReading<Battery> {
    fields.parse_value("battery replacement required", |word| match word {
        "no" => Some(Battery::Healthy),
        "yes" => Some(Battery::Degraded),
        _ => None,
    })
}

fn charging(fields: &Fields) -> FieldReading<Battery> {
    fields.parse_value("charging status", |word| match word {
        "none" | "complete" => Some(Battery::Healthy),
        "charging" => Some(Battery::Charging),
        "discharging" => Some(Battery::Learning),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sums_of_states() {
        for (code, state) in [
            (0, Battery::Healthy),
            (1 << 12, Battery::Healthy),
            (8, Battery::Charging),
            (64, Battery::Learning),
            (64 | 8, Battery::Learning),
            (1 << 10 | 8, Battery::Degraded),
            (1, Battery::Absent),
            (1 << 11, Battery::Degraded),
            // A learn cycle is requested; also set without a battery.
            (32, Battery::Unreadable),
            (1 << 13, Battery::Unreadable),
            (1 << 20, Battery::Unreadable),
        ] {
            assert_eq!(parse_state_code(code), FieldReading::Value(state), "{code}");
        }
    }
}
