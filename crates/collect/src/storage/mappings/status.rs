//! Status lines of device-mapper targets, by the kernel's documents or source
//! (Documentation/admin-guide/device-mapper/*.rst; drivers/md/dm-*.c, `*_status`). The state is
//! unknown unless the line is complete and every word is known.

use crate::facts::Choice;
use crate::facts::catalog::device::{ArrayLevel, MappingState, SyncAction};

#[derive(Clone, Debug, PartialEq)]
pub struct TargetStatus {
    pub state: MappingState,
    /// Names of copies, paths, logs and journals that have failed or are missing.
    pub failed: Vec<String>,
    /// Copies that are being rebuilt.
    pub lagging: Vec<String>,
    /// The number of blocks that are only on the cache device.
    pub dirty: Option<u64>,
    /// A pool's metadata and data space in use, in percent.
    pub used_percent: Option<[f64; 2]>,
}

impl From<MappingState> for TargetStatus {
    fn from(state: MappingState) -> Self {
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
    ("clone", parse_clone),
    ("era", parse_era),
    ("integrity", parse_integrity),
    ("mirror", parse_mirror),
    ("multipath", parse_multipath),
    ("raid", parse_raid),
    ("snapshot", parse_snapshot),
    ("snapshot-merge", parse_snapshot),
    ("thin", parse_thin),
    ("thin-pool", parse_thin_pool),
    ("vdo", parse_vdo),
    ("verity", parse_verity),
    ("writecache", parse_writecache),
];

pub fn has_status_parser(target: &str) -> bool {
    STATUS_PARSERS.iter().any(|(name, _)| *name == target)
}

pub fn parse_target_status(target: &str, words: &[&str]) -> Option<TargetStatus> {
    let (_, read) = STATUS_PARSERS.iter().find(|(name, _)| *name == target)?;
    match words {
        ["Fail" | "failed"] => Some(MappingState::Failed.into()),
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

fn fine_or_full(shares: &[[u64; 2]]) -> MappingState {
    if shares.iter().any(|[used, all]| used == all) {
        MappingState::Full
    } else {
        MappingState::Fine
    }
}

/// Splits words that begin with their count, such as `2 A B C`, into the counted ones (`A B`) and
/// the rest (`C`).
fn split_counted_words<'w, 't>(words: &'w [&'t str]) -> Option<(&'w [&'t str], &'w [&'t str])> {
    let (count, rest) = words.split_first()?;
    rest.split_at_checked(parse_number(count)?.try_into().ok()?)
}

fn parse_metadata_mode(word: &str) -> Option<MappingState> {
    match word {
        "rw" => Some(MappingState::Fine),
        "ro" => Some(MappingState::ReadOnly),
        "Fail" => Some(MappingState::Failed),
        _ => None,
    }
}

fn parse_needs_check(word: &str) -> Option<MappingState> {
    match word {
        "-" => Some(MappingState::Fine),
        "needs_check" => Some(MappingState::NeedsCheck),
        _ => None,
    }
}

/// Parses the words after `thin-pool`, such as
/// `1 19/4096 200/3200 - rw discard_passdown queue_if_no_space - 1024` (thin-provisioning.rst). In
/// captures of walwise 0.1 they are only the used shares of metadata and data space, `19/4096
/// 200/3200`.
fn parse_thin_pool(words: &[&str]) -> Option<TargetStatus> {
    let (metadata, data, state) = match words {
        [metadata, data] => (
            parse_used_and_total(metadata)?,
            parse_used_and_total(data)?,
            MappingState::Fine,
        ),
        [
            transaction,
            metadata,
            data,
            root,
            mode_word,
            "discard_passdown" | "no_discard_passdown" | "ignore_discard",
            "queue_if_no_space" | "error_if_no_space",
            check_word,
            ..,
        ] => {
            parse_number(transaction)?;
            (*root == "-" || parse_number(root).is_some()).then_some(())?;
            let mode = match *mode_word {
                "out_of_data_space" => Some(MappingState::Full),
                word => parse_metadata_mode(word),
            };
            (
                parse_used_and_total(metadata)?,
                parse_used_and_total(data)?,
                mode?.max(parse_needs_check(check_word)?),
            )
        }
        _ => return None,
    };
    let state = state.max(fine_or_full(&[metadata, data]));
    Some(TargetStatus {
        used_percent: Some([percent_of_total(metadata), percent_of_total(data)]),
        ..state.into()
    })
}

/// Parses the words after `thin`, such as `409600 819199`: number of mapped sectors, highest mapped
/// sector (thin-provisioning.rst).
fn parse_thin(words: &[&str]) -> Option<TargetStatus> {
    let [mapped, highest] = words else {
        return None;
    };
    parse_number(mapped)?;
    (*highest == "-" || parse_number(highest).is_some()).then_some(MappingState::Fine.into())
}

/// Parses the words after `snapshot`, such as `16/20480 16`: used and total sectors, then the
/// sectors used for metadata. A failed snapshot has words such as `Invalid` instead
/// (snapshot.rst; `snapshot_status` in drivers/md/dm-snap.c).
fn parse_snapshot(words: &[&str]) -> Option<TargetStatus> {
    let state = match words {
        ["Invalid" | "Overflow"] => MappingState::Lost,
        ["Merge", "failed"] => MappingState::Failed,
        [used, metadata] => {
            parse_number(metadata)?;
            fine_or_full(&[parse_used_and_total(used)?])
        }
        _ => return None,
    };
    Some(state.into())
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
        MappingState::Failed
    } else if journal_failed {
        MappingState::ReadOnly
    } else if level.has_parity() && !has_journal && gone + behind > 0 {
        MappingState::WriteHole
    } else if gone > 0 {
        MappingState::Degraded
    } else if lagging.is_empty() {
        MappingState::Fine
    } else if behind == 0 {
        MappingState::Resyncing
    } else {
        MappingState::Rebuilding
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
        MappingState::Failed
    } else if !failed.is_empty() {
        MappingState::Degraded
    } else if synced < all {
        MappingState::Resyncing
    } else {
        MappingState::Fine
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
        (false, _) => MappingState::NoPath,
        (true, false) => MappingState::Degraded,
        (true, true) => MappingState::Fine,
    };
    rest.is_empty().then_some(TargetStatus {
        failed,
        ..state.into()
    })
}

fn parse_cache(words: &[&str]) -> Option<TargetStatus> {
    let (_, rest) = words.split_at_checked(10)?;
    let [dirty, rest @ ..] = rest else {
        return None;
    };
    let (_, rest) = split_counted_words(rest)?;
    let (_, rest) = split_counted_words(rest)?;
    let [_policy, rest @ ..] = rest else {
        return None;
    };
    let (_, rest) = split_counted_words(rest)?;
    let [mode_word, check_word, ..] = rest else {
        return None;
    };
    let state = parse_metadata_mode(mode_word)?.max(parse_needs_check(check_word)?);
    Some(TargetStatus {
        dirty: Some(parse_number(dirty)?),
        ..state.into()
    })
}

/// Parses the words after `writecache`, such as `0 4096 100 20`: error code, all blocks, free
/// blocks, blocks under writeback (writecache.rst).
fn parse_writecache(words: &[&str]) -> Option<TargetStatus> {
    let [error, blocks, free, written, ..] = words else {
        return None;
    };
    for count in [blocks, free, written] {
        parse_number(count)?;
    }
    Some(
        if parse_number(error)? == 0 {
            MappingState::Fine
        } else {
            MappingState::Error
        }
        .into(),
    )
}

/// Parses the words after `integrity`, such as `0 819200 -`: number of mismatches, data sectors,
/// progress of recalculation (dm-integrity.rst).
fn parse_integrity(words: &[&str]) -> Option<TargetStatus> {
    let [mismatches, sectors, ..] = words else {
        return None;
    };
    parse_number(sectors)?;
    Some(
        if parse_number(mismatches)? == 0 {
            MappingState::Fine
        } else {
            MappingState::Error
        }
        .into(),
    )
}

/// Parses the words after `verity`. The first one is `V` if all reads were valid, or `C` after a
/// mismatch (verity.rst).
fn parse_verity(words: &[&str]) -> Option<TargetStatus> {
    match *words.first()? {
        "V" => Some(MappingState::Fine.into()),
        "C" => Some(MappingState::Error.into()),
        _ => None,
    }
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
        "normal" | "recovering" => MappingState::Fine,
        "read-only" => MappingState::ReadOnly,
        _ => return None,
    };
    let known = [
        "closed", "closing", "error", "offline", "online", "opening", "unknown",
    ];
    (known.contains(index) && ["online", "offline"].contains(compression)).then_some(())?;
    (used <= all && all > 0).then(|| mode.max(fine_or_full(&[[used, all]])).into())
}

fn parse_era(words: &[&str]) -> Option<TargetStatus> {
    let [block, metadata, now, root] = words else {
        return None;
    };
    parse_number(block)?;
    parse_number(now)?;
    (*root == "-" || parse_number(root).is_some()).then_some(())?;
    Some(fine_or_full(&[parse_used_and_total(metadata)?]).into())
}

fn parse_clone(words: &[&str]) -> Option<TargetStatus> {
    let [block, metadata, region, copied, copying, rest @ ..] = words else {
        return None;
    };
    for count in [block, region, copying] {
        parse_number(count)?;
    }
    parse_used_and_total(copied)?;
    let (_, rest) = split_counted_words(rest)?;
    let (_, rest) = split_counted_words(rest)?;
    let [mode_word] = rest else { return None };
    Some(
        parse_metadata_mode(mode_word)?
            .max(fine_or_full(&[parse_used_and_total(metadata)?]))
            .into(),
    )
}

#[cfg(test)]
mod tests;
