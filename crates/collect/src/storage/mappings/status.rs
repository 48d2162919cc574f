//! Status lines of device-mapper targets, by the kernel's documents or source
//! (Documentation/admin-guide/device-mapper/*.rst; drivers/md/dm-*.c, `*_status`). The state is
//! unknown unless the line is complete and every word is known.

use MappingHealth::{
    Degraded, Error, Failed, Fine, Full, Lost, NoPath, ReadOnly, Rebuilding, Resyncing, WriteHole,
};

use crate::facts::Choice;
use crate::facts::catalog::device::{ArrayLevel, MappingHealth, SyncAction};
use crate::text_table::rows;

#[derive(Clone, Debug, PartialEq)]
pub struct TargetStatus {
    pub state: MappingHealth,
    /// Names of copies, paths, logs and journals that have failed or are missing.
    pub failed: Vec<String>,
    /// Copies that are being rebuilt.
    pub lagging: Vec<String>,
    /// The number of blocks that are only on the cache device.
    pub dirty: Option<u64>,
    /// A pool's metadata and data space in use, in percent.
    pub used_percent: Option<[f64; 2]>,
}

impl From<MappingHealth> for TargetStatus {
    fn from(state: MappingHealth) -> Self {
        Self {
            state,
            failed: Vec::new(),
            lagging: Vec::new(),
            dirty: None,
            used_percent: None,
        }
    }
}

/// Targets with the forms of their status lines, from `status_forms.txt`.
fn status_forms() -> impl Iterator<Item = [&'static str; 2]> {
    rows(include_str!("status_forms.txt"))
}

/// The worst state that a word means; `None` unless the words have the forms of the target.
fn parse_status_fields(target: &str, words: &[&str]) -> Option<TargetStatus> {
    let mut state = Fine;
    let mut words = words;
    let [_, forms] = status_forms().find(|[name, _]| *name == target)?;
    for form in forms.split(',').map(str::trim) {
        if form == "rest" {
            return Some(state.into());
        }
        let (word, mut rest) = words.split_first()?;
        let meant = match form {
            "any" => Some(Fine),
            "number" => parse_number(word).map(|_| Fine),
            "number or dash" => (*word == "-" || parse_number(word).is_some()).then_some(Fine),
            "error count" => Some(if parse_number(word)? == 0 {
                Fine
            } else {
                Error
            }),
            "used" => Some(fine_or_full(parse_used_and_total(word)?)),
            "share" => parse_used_and_total(word).map(|_| Fine),
            "counted" => {
                rest = split_counted_words(words)?.1;
                Some(Fine)
            }
            states => states.split('/').find_map(|listed| {
                let (known, state) = listed.split_once('=')?;
                MappingHealth::from_word(state.trim()).filter(|_| known.trim() == *word)
            }),
        };
        state = state.max(meant?);
        words = rest;
    }
    words.is_empty().then_some(state.into())
}

pub fn has_status_parser(target: &str) -> bool {
    status_forms().any(|[name, _]| name == target)
}

pub fn parse_target_status(target: &str, words: &[&str]) -> Option<TargetStatus> {
    match (target, words) {
        (target, _) if !has_status_parser(target) => None,
        // A failed snapshot has other words (`snapshot_status` in drivers/md/dm-snap.c).
        (_, ["Fail" | "failed"]) | ("snapshot" | "snapshot-merge", ["Merge", "failed"]) => {
            Some(Failed.into())
        }
        ("snapshot" | "snapshot-merge", ["Invalid" | "Overflow"]) => Some(Lost.into()),
        ("cache", words) => parse_cache(words),
        ("mirror", words) => parse_mirror(words),
        ("multipath", words) => parse_multipath(words),
        ("raid", words) => parse_raid(words),
        ("thin-pool", words) => parse_thin_pool(words),
        ("vdo", words) => parse_vdo(words),
        (target, words) => parse_status_fields(target, words),
    }
}

fn parse_number(word: &str) -> Option<u64> {
    word.parse().ok()
}

/// Parses `USED/ALL`; `None` if malformed, if ALL is 0, or if USED exceeds ALL.
fn parse_used_and_total(word: &str) -> Option<[u64; 2]> {
    let (used, all) = word.split_once('/')?;
    let (used, all) = (parse_number(used)?, parse_number(all)?);
    (all > 0 && used <= all).then_some([used, all])
}

fn percent_of_total([used, all]: [u64; 2]) -> f64 {
    used as f64 / all as f64 * 100.0
}

fn fine_or_full([used, all]: [u64; 2]) -> MappingHealth {
    if used == all { Full } else { Fine }
}

/// Splits words that begin with their count, such as `2 A B C`, into the counted ones (`A B`) and
/// the rest (`C`).
fn split_counted_words<'w, 't>(words: &'w [&'t str]) -> Option<(&'w [&'t str], &'w [&'t str])> {
    let (count, rest) = words.split_first()?;
    rest.split_at_checked(parse_number(count)?.try_into().ok()?)
}

/// Parses the words after `thin-pool`, such as
/// `1 19/4096 200/3200 - rw discard_passdown queue_if_no_space - 1024` (thin-provisioning.rst). In
/// captures of walwise 0.1 they are only the used shares of metadata and data space, `19/4096
/// 200/3200`.
fn parse_thin_pool(words: &[&str]) -> Option<TargetStatus> {
    let ([metadata, data] | [_, metadata, data, ..]) = words else {
        return None;
    };
    let [metadata, data] = [parse_used_and_total(metadata)?, parse_used_and_total(data)?];
    let status = if words.len() == 2 {
        fine_or_full(metadata).max(fine_or_full(data)).into()
    } else {
        parse_status_fields("thin-pool", words)?
    };
    Some(TargetStatus {
        used_percent: Some([metadata, data].map(percent_of_total)),
        ..status
    })
}

/// Parses the words after `raid`, such as `raid1 2 AA 204800/204800 idle 0 0 -` (dm-raid.rst). Old
/// kernels lack the last two words, data offset and journal. If the level can have a journal, a
/// line that ends before the journal may be truncated and is rejected.
fn parse_raid(words: &[&str]) -> Option<TargetStatus> {
    let [kind, count, health, synced, action, mismatches, more @ ..] = words else {
        return None;
    };
    let level = ArrayLevel::from_word(kind.split('_').next()?)?;
    let action = SyncAction::from_word(action)?;
    let count = parse_number(count)?;
    parse_used_and_total(synced)?;
    parse_number(mismatches)?;
    let journal = match more {
        [] | [_] if level.has_parity() => return None,
        [] | [_] => None,
        [_, journal, ..] => Some(*journal),
    };
    let (has_journal, journal_failed) = match journal {
        None | Some("-") => (false, false),
        Some("A" | "a") => (true, false),
        Some("D") => (false, true),
        Some(_) => return None,
    };
    let (mut failed, mut lagging) = (Vec::new(), Vec::new());
    for (leg, letter) in (1u64..).zip(health.chars()) {
        match letter {
            'A' => {}
            'a' => lagging.push(format!("member {leg}")),
            'D' | '-' => failed.push(format!("member {leg}")),
            _ => return None,
        }
    }
    (health.len() as u64 == count && count > 0).then_some(())?;
    let bearable = if level.may_tolerate_more_losses() {
        count - 1
    } else {
        level.tolerated_losses(count).unwrap_or(0)
    };
    // During a resync the kernel marks all working members as lagging.
    let behind = if action.is_resync() || lagging.len() as u64 == count {
        0
    } else {
        lagging.len() as u64
    };
    let gone = failed.len() as u64;
    let state = if gone + behind > bearable && gone + behind > 0 {
        Failed
    } else if journal_failed {
        ReadOnly
    } else if level.has_parity() && !has_journal && gone + behind > 0 {
        WriteHole
    } else if gone > 0 {
        Degraded
    } else if lagging.is_empty() {
        Fine
    } else if behind == 0 {
        Resyncing
    } else {
        Rebuilding
    };
    failed.extend(journal_failed.then(|| "journal".to_owned()));
    Some(TargetStatus {
        failed,
        lagging,
        ..state.into()
    })
}

/// Parses the words after `mirror`, such as `2 253:3 253:4 200/200 1 AA 1 core`: devices, share in
/// sync, a letter per device, the log (`mirror_status` in drivers/md/dm-raid1.c).
fn parse_mirror(words: &[&str]) -> Option<TargetStatus> {
    let (legs, rest) = split_counted_words(words)?;
    let [synced, "1", health, log @ ..] = rest else {
        return None;
    };
    let [synced, all] = parse_used_and_total(synced)?;
    (health.len() == legs.len() && !legs.is_empty()).then_some(())?;
    let mut failed = Vec::new();
    for (leg, letter) in (1u64..).zip(health.chars()) {
        match letter {
            'A' => {}
            'D' | 'F' | 'S' | 'R' | 'U' => failed.push(format!("member {leg}")),
            _ => return None,
        }
    }
    let none_left = failed.len() == legs.len();
    match split_counted_words(log)?.0 {
        ["core"] | ["disk", _, "A"] => {}
        ["disk", _, "D" | "F" | "R"] => failed.push("log".to_owned()),
        _ => return None,
    }
    let lagging = if synced < all {
        vec!["copies".to_owned()]
    } else {
        Vec::new()
    };
    let state = if none_left {
        Failed
    } else if !failed.is_empty() {
        Degraded
    } else if synced < all {
        Resyncing
    } else {
        Fine
    };
    Some(TargetStatus {
        failed,
        lagging,
        ..state.into()
    })
}

/// Parses the words after `multipath`, such as `2 0 0 0 1 1 A 0 2 0 8:0 A 0 8:16 F 3`: features,
/// handler, groups (`multipath_status` in drivers/md/dm-mpath.c). Each path has a letter, a failure
/// count, and the selector's words, here none.
fn parse_multipath(words: &[&str]) -> Option<TargetStatus> {
    let (_, rest) = split_counted_words(words)?;
    let (_, rest) = split_counted_words(rest)?;
    let [groups, next, rest @ ..] = rest else {
        return None;
    };
    let mut rest = rest;
    parse_number(next)?;
    let (mut failed, mut usable) = (Vec::new(), false);
    for _ in 0..parse_number(groups)? {
        let ["A" | "E" | "D", after @ ..] = rest else {
            return None;
        };
        let (_, after) = split_counted_words(after)?;
        let [paths, adds, after @ ..] = after else {
            return None;
        };
        let adds = parse_number(adds)?.try_into().ok()?;
        rest = after;
        for _ in 0..parse_number(paths)? {
            let [path, letter, count, after @ ..] = rest else {
                return None;
            };
            parse_number(count)?;
            match *letter {
                "A" => usable = true,
                "F" => failed.push(format!("path {path}")),
                _ => return None,
            }
            rest = after.split_at_checked(adds)?.1;
        }
    }
    let state = match (usable, failed.is_empty()) {
        (false, _) => NoPath,
        (true, false) => Degraded,
        (true, true) => Fine,
    };
    rest.is_empty().then_some(TargetStatus {
        failed,
        ..state.into()
    })
}

fn parse_cache(words: &[&str]) -> Option<TargetStatus> {
    let (_, rest) = words.split_at_checked(10)?;
    Some(TargetStatus {
        dirty: Some(parse_number(rest.first()?)?),
        ..parse_status_fields("cache", rest)?
    })
}

/// Parses the words after `vdo`, such as `253:1 normal - online online 100 4096` (vdo.rst). A
/// failed index is not a failure of the device, because it stops only deduplication.
fn parse_vdo(words: &[&str]) -> Option<TargetStatus> {
    let [
        _device,
        mode_word,
        "-" | "recovering",
        index,
        compression,
        used,
        all,
    ] = words
    else {
        return None;
    };
    let (used, all) = (parse_number(used)?, parse_number(all)?);
    let mode = match *mode_word {
        "normal" | "recovering" => Fine,
        "read-only" => ReadOnly,
        _ => return None,
    };
    let known = [
        "closed", "closing", "error", "offline", "online", "opening", "unknown",
    ];
    (known.contains(index) && ["online", "offline"].contains(compression)).then_some(())?;
    (used <= all && all > 0).then(|| mode.max(fine_or_full([used, all])).into())
}

#[cfg(test)]
mod tests;
