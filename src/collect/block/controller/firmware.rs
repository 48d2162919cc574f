//! What MegaRAID firmware says of its battery or flash module, in the flags that MegaCli and storcli both print.
//!
//! Names after thomas-krenn/check_lsi_raid and the reports in glensc/nagios-plugin-check_raid, t/data/megacli. The
//! surprise: the state in one word can say *Optimal* beside a flag that asks for a new battery, so both are held
//! together and the worse is believed.

use super::fields::Fields;
use super::said::{BATTERY, Said, worst};

/// Flags of the battery, each with the word in which it does no harm and what it means otherwise.
const FLAGS: [(&str, &str, &str); 11] = [
    ("voltage", "ok", "degraded"),
    ("temperature", "ok", "degraded"),
    ("learn cycle active", "no", "learning"),
    ("learn cycle status", "ok", "degraded"),
    ("learn cycle timeout", "no", "degraded"),
    ("i2c errors detected", "no", "degraded"),
    ("battery pack missing", "no", "absent"),
    ("remaining capacity low", "no", "degraded"),
    ("no space to cache offload", "no", "degraded"),
    ("pack is about to fail & should be replaced", "no", "failed"),
    ("cache offload premium feature required", "no", "degraded"),
];

/// Firmware that prints one of these prints all of them.
const NEWER: [&str; 3] = [
    "no space to cache offload",
    "pack is about to fail & should be replaced",
    "cache offload premium feature required",
];

/// Both ways to write one flag.
const REPLACEMENT: [&str; 2] = ["battery replacement required", "replacement required"];

/// The state in one word.
pub fn state(word: &str) -> Option<&'static str> {
    match word {
        "optimal" | "operational" => Some("healthy"),
        "missing" | "absent" | "not present" => Some("absent"),
        "failed" | "dead" => Some("failed"),
        "unknown" => Some("unreadable"),
        word if word.starts_with("charging") => Some("charging"),
        word if word.starts_with("learn") => Some("learning"),
        word if word.starts_with("degraded") || word.starts_with("dgd") => Some("degraded"),
        _ => None,
    }
}

/// The number that the firmware gives for the state, by its bits (`MFI_BBU_STATE_*` in mfireg.h of FreeBSD).
pub fn number(code: u64) -> Said {
    const BITS: [(u64, &str); 11] = [
        (1, "absent"),
        (1 << 1, "degraded"),
        (1 << 2, "degraded"),
        (1 << 3, "charging"),
        (1 << 4, "learning"),
        (1 << 6, "learning"),
        (1 << 7, "degraded"),
        (1 << 8, "degraded"),
        (1 << 9, "degraded"),
        (1 << 10, "failed"),
        (1 << 11, "degraded"),
    ];
    // That a learn cycle is due one day says nothing of today.
    const HARMLESS: u64 = 1 << 12 | 1 << 13;
    let known = BITS.iter().fold(HARMLESS, |all, (bit, _)| all | bit);
    if code & !known != 0 {
        return Said::Is("unreadable");
    }
    let set = BITS.iter().filter(|(bit, _)| code & bit != 0).map(|(_, word)| Said::Is(word));
    worst(&BATTERY, set.chain([Said::Is("healthy")]))
}

/// What all flags of a battery say together; every one that is expected has to be there.
pub fn flags(fields: &Fields) -> Said {
    let newer = NEWER.iter().any(|flag| fields.has(flag));
    let mut accounts = vec![replacement(fields), charging(fields)];
    for (flag, harmless, otherwise) in FLAGS {
        if fields.has(flag) || newer || !NEWER.contains(&flag) {
            accounts
                .push(fields.said(flag, |word| Some(if word == harmless { "healthy" } else { otherwise })));
        }
    }
    worst(&BATTERY, accounts)
}

/// Whether the firmware wants a new one.
pub fn replacement(fields: &Fields) -> Said {
    let key = REPLACEMENT.into_iter().find(|key| fields.has(key)).unwrap_or("replacement required");
    fields.said(key, |word| match word {
        "no" => Some("healthy"),
        "yes" => Some("failed"),
        _ => None,
    })
}

fn charging(fields: &Fields) -> Said {
    fields.said("charging status", |word| match word {
        "none" | "complete" => Some("healthy"),
        "charging" => Some("charging"),
        "discharging" => Some("learning"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sums_of_states() {
        for (code, word) in [
            (0, "healthy"),
            (1 << 12, "healthy"),
            (8, "charging"),
            (64, "learning"),
            (64 | 8, "learning"),
            (1 << 10 | 8, "failed"),
            (1, "absent"),
            (1 << 11, "degraded"),
            // A learn cycle was asked for; also seen where there is no battery.
            (32, "unreadable"),
            (1 << 20, "unreadable"),
        ] {
            assert_eq!(number(code), Said::Is(word), "{code}");
        }
    }
}
