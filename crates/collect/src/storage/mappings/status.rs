//! Status lines of device-mapper targets, by the kernel's documents or source
//! (Documentation/admin-guide/device-mapper/*.rst; drivers/md/dm-*.c, `*_status`). The state is
//! unknown unless the line is complete and every word is known.

use MappingHealth::{
    Degraded, Error, Failed, Fine, Full, Lost, NeedsCheck, NoPath, ReadOnly, Rebuilding, Resyncing,
    WriteHole,
};
use StatusField::{Any, Counted, ErrorCount, Number, NumberOrDash, Rest, Share, States, Used};

use crate::facts::Choice;
use crate::facts::catalog::device::{ArrayLevel, MappingHealth, SyncAction};

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

type StatusParser = fn(&[&str]) -> Option<TargetStatus>;

const STATUS_PARSERS: &[(&str, StatusParser)] = &[
    ("cache", parse_cache),
    // Metadata, regions hydrated and being hydrated, features, core arguments, mode.
    ("clone", |words| {
        parse_status_fields(
            &[
                Number,
                Used,
                Number,
                Share,
                Number,
                Counted,
                Counted,
                METADATA_MODE,
            ],
            words,
        )
    }),
    ("era", |words| {
        parse_status_fields(&[Number, Used, Number, NumberOrDash], words)
    }),
    // Number of mismatches, data sectors, progress of recalculation (dm-integrity.rst).
    ("integrity", |words| {
        parse_status_fields(&[ErrorCount, Number, Rest], words)
    }),
    ("mirror", parse_mirror),
    ("multipath", parse_multipath),
    ("raid", parse_raid),
    ("snapshot", parse_snapshot),
    ("snapshot-merge", parse_snapshot),
    // Number of mapped sectors, highest mapped sector (thin-provisioning.rst).
    ("thin", |words| {
        parse_status_fields(&[Number, NumberOrDash], words)
    }),
    ("thin-pool", parse_thin_pool),
    ("vdo", parse_vdo),
    // `V` if all reads were valid, or `C` after a mismatch (verity.rst).
    ("verity", |words| {
        let state = States(&[("V", Fine), ("C", Error)]);
        parse_status_fields(&[state, Rest], words)
    }),
    // Error code, all blocks, free blocks, blocks under writeback (writecache.rst).
    ("writecache", |words| {
        parse_status_fields(&[ErrorCount, Number, Number, Number, Rest], words)
    }),
];

/// The forms of a word in a status line.
enum StatusField {
    Any,
    Number,
    NumberOrDash,
    /// A number that is 0 without errors.
    ErrorCount,
    /// `USED/ALL`, full if both are equal.
    Used,
    /// `PART/ALL`, fine if both are equal.
    Share,
    /// A count and as many words.
    Counted,
    /// One of these words, each with the state that it means.
    States(&'static [(&'static str, MappingHealth)]),
    /// All words that follow, also none.
    Rest,
}

const METADATA_MODE: StatusField = States(&[("rw", Fine), ("ro", ReadOnly), ("Fail", Failed)]);

const NEEDS_CHECK: StatusField = States(&[("-", Fine), ("needs_check", NeedsCheck)]);

/// The worst state that a word means; `None` unless the words have the given forms.
fn parse_status_fields(forms: &[StatusField], words: &[&str]) -> Option<TargetStatus> {
    let mut state = Fine;
    let mut words = words;
    for form in forms {
        if matches!(form, Rest) {
            return Some(state.into());
        }
        let (word, mut rest) = words.split_first()?;
        let meant = match form {
            Any | Rest => Some(Fine),
            Number => parse_number(word).map(|_| Fine),
            NumberOrDash => (*word == "-" || parse_number(word).is_some()).then_some(Fine),
            ErrorCount => Some(if parse_number(word)? == 0 {
                Fine
            } else {
                Error
            }),
            Used => Some(fine_or_full(parse_used_and_total(word)?)),
            Share => parse_used_and_total(word).map(|_| Fine),
            Counted => {
                rest = split_counted_words(words)?.1;
                Some(Fine)
            }
            States(known) => known
                .iter()
                .find_map(|(name, state)| (name == word).then_some(*state)),
        };
        state = state.max(meant?);
        words = rest;
    }
    words.is_empty().then_some(state.into())
}

pub fn has_status_parser(target: &str) -> bool {
    STATUS_PARSERS.iter().any(|(name, _)| *name == target)
}

pub fn parse_target_status(target: &str, words: &[&str]) -> Option<TargetStatus> {
    let (_, read) = STATUS_PARSERS.iter().find(|(name, _)| *name == target)?;
    match words {
        ["Fail" | "failed"] => Some(Failed.into()),
        words => read(words),
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
    const MODE: StatusField = States(&[
        ("rw", Fine),
        ("ro", ReadOnly),
        ("Fail", Failed),
        ("out_of_data_space", Full),
    ]);
    const DISCARDS: StatusField = States(&[
        ("discard_passdown", Fine),
        ("no_discard_passdown", Fine),
        ("ignore_discard", Fine),
    ]);
    const IF_NO_SPACE: StatusField =
        States(&[("queue_if_no_space", Fine), ("error_if_no_space", Fine)]);
    let (metadata, data, status) = if let [metadata, data] = words {
        (metadata, data, parse_status_fields(&[Used, Used], words)?)
    } else {
        let [_transaction, metadata, data, ..] = words else {
            return None;
        };
        let forms = [
            Number,
            Used,
            Used,
            NumberOrDash,
            MODE,
            DISCARDS,
            IF_NO_SPACE,
            NEEDS_CHECK,
            Rest,
        ];
        (metadata, data, parse_status_fields(&forms, words)?)
    };
    let percent = |word| Some(percent_of_total(parse_used_and_total(word)?));
    Some(TargetStatus {
        used_percent: Some([percent(metadata)?, percent(data)?]),
        ..status
    })
}

/// Parses the words after `snapshot`, such as `16/20480 16`: used and total sectors, then the
/// sectors used for metadata. A failed snapshot has words such as `Invalid` instead
/// (snapshot.rst; `snapshot_status` in drivers/md/dm-snap.c).
fn parse_snapshot(words: &[&str]) -> Option<TargetStatus> {
    match words {
        ["Invalid" | "Overflow"] => Some(Lost.into()),
        ["Merge", "failed"] => Some(Failed.into()),
        words => parse_status_fields(&[Used, Number], words),
    }
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

/// After ten counts: dirty blocks, features, core arguments, policy with arguments, mode, check.
fn parse_cache(words: &[&str]) -> Option<TargetStatus> {
    let (_, rest) = words.split_at_checked(10)?;
    let forms = [
        Number,
        Counted,
        Counted,
        Any,
        Counted,
        METADATA_MODE,
        NEEDS_CHECK,
        Rest,
    ];
    Some(TargetStatus {
        dirty: Some(parse_number(rest.first()?)?),
        ..parse_status_fields(&forms, rest)?
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
