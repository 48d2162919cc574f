//! The status of device-mapper's targets: what each says of its state, by the kernel's document or,
//! where that leaves words out, its source (Documentation/admin-guide/device-mapper/*.rst;
//! drivers/md/dm-*.c, `*_status`).
//!
//! A line is an answer when it has all its fields and each is a word that is known; anything else
//! is an unknown state.

use crate::facts::Choice;
use crate::facts::catalog::device::{ArrayLevel, MappingState, SyncAction};

/// What a target says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetStatus {
    pub state: MappingState,
    /// Copies or paths that have failed or are missing.
    pub failed: Vec<String>,
    /// Copies that are still being written.
    pub lagging: Vec<String>,
    /// Blocks that only the disk of a cache holds.
    pub dirty: Option<u64>,
    /// Shares of a pool's metadata and data space in use, in percent.
    pub shares: Option<[f64; 2]>,
}

impl From<MappingState> for TargetStatus {
    fn from(state: MappingState) -> Self {
        Self {
            state,
            failed: Vec::new(),
            lagging: Vec::new(),
            dirty: None,
            shares: None,
        }
    }
}

/// Reads the words behind a target; nothing where they are not all there or one is unknown.
type StatusReader = fn(&[&str]) -> Option<TargetStatus>;

/// The targets that have a state, and how their status is read.
const READERS: &[(&str, StatusReader)] = &[
    ("cache", cache),
    ("clone", clone),
    ("era", era),
    ("integrity", integrity),
    ("mirror", mirror),
    ("multipath", multipath),
    ("raid", raid),
    ("snapshot", snapshot),
    ("snapshot-merge", snapshot),
    ("thin", thin),
    ("thin-pool", thin_pool),
    ("vdo", vdo),
    ("verity", verity),
    ("writecache", writecache),
];

/// Whether a target has a state that its status shows.
pub fn has_state(target: &str) -> bool {
    READERS.iter().any(|(name, _)| *name == target)
}

/// Reads the status of a target; nothing where it is incomplete or holds a word that is unknown.
pub fn parse(target: &str, words: &[&str]) -> Option<TargetStatus> {
    let (_, read) = READERS.iter().find(|(name, _)| *name == target)?;
    match words {
        ["Fail" | "failed"] => Some(MappingState::Failed.into()),
        words => read(words),
    }
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

/// `USED/ALL`, of which no more is used than there is.
fn share(word: &str) -> Option<[u64; 2]> {
    let (used, all) = word.split_once('/')?;
    let (used, all) = (number(used)?, number(all)?);
    (all > 0 && used <= all).then_some([used, all])
}

fn percent([used, all]: [u64; 2]) -> f64 {
    used as f64 / all as f64 * 100.0
}

fn full_or_fine(shares: &[[u64; 2]]) -> MappingState {
    if shares.iter().any(|[used, all]| used == all) {
        MappingState::Full
    } else {
        MappingState::Fine
    }
}

/// The words behind a number of words.
fn counted<'w, 't>(words: &'w [&'t str]) -> Option<(&'w [&'t str], &'w [&'t str])> {
    let (count, rest) = words.split_first()?;
    rest.split_at_checked(number(count)?.try_into().ok()?)
}

/// The mode of metadata (`rw`, `ro`).
fn mode(word: &str) -> Option<MappingState> {
    match word {
        "rw" => Some(MappingState::Fine),
        "ro" => Some(MappingState::ReadOnly),
        "Fail" => Some(MappingState::Failed),
        _ => None,
    }
}

fn check(word: &str) -> Option<MappingState> {
    match word {
        "-" => Some(MappingState::Fine),
        "needs_check" => Some(MappingState::NeedsCheck),
        _ => None,
    }
}

/// thin-provisioning.rst. Captures of walwise 0.1 hold only the two shares, which a pool that has
/// failed does not print.
fn thin_pool(words: &[&str]) -> Option<TargetStatus> {
    let (metadata, data, state) = match words {
        [metadata, data] => (share(metadata)?, share(data)?, MappingState::Fine),
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
            number(transaction)?;
            (*root == "-" || number(root).is_some()).then_some(())?;
            let mode = match *mode_word {
                "out_of_data_space" => Some(MappingState::Full),
                word => mode(word),
            };
            (
                share(metadata)?,
                share(data)?,
                mode?.max(check(check_word)?),
            )
        }
        _ => return None,
    };
    let state = state.max(full_or_fine(&[metadata, data]));
    Some(TargetStatus {
        shares: Some([percent(metadata), percent(data)]),
        ..state.into()
    })
}

/// thin-provisioning.rst: sectors that are mapped, and the highest of them.
fn thin(words: &[&str]) -> Option<TargetStatus> {
    let [mapped, highest] = words else {
        return None;
    };
    number(mapped)?;
    (*highest == "-" || number(highest).is_some()).then_some(MappingState::Fine.into())
}

/// snapshot.rst, and `snapshot_status` in drivers/md/dm-snap.c.
fn snapshot(words: &[&str]) -> Option<TargetStatus> {
    let state = match words {
        ["Invalid" | "Overflow"] => MappingState::Lost,
        ["Merge", "failed"] => MappingState::Failed,
        [used, metadata] => {
            number(metadata)?;
            full_or_fine(&[share(used)?])
        }
        _ => return None,
    };
    Some(state.into())
}

/// dm-raid.rst. The place of its data and its journal are missing in old kernels; a line that ends
/// before the journal of a level that can have one may have been cut.
fn raid(words: &[&str]) -> Option<TargetStatus> {
    let [kind, count, health, synced, action, mismatches, more @ ..] = words else {
        return None;
    };
    let level = ArrayLevel::from_word(kind.split('_').next()?)?;
    let action = SyncAction::from_word(action)?;
    let count = number(count)?;
    share(synced)?;
    number(mismatches)?;
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
            'a' => lagging.push(format!("leg {leg}")),
            'D' | '-' => failed.push(format!("leg {leg}")),
            _ => return None,
        }
    }
    (health.len() as u64 == count && count > 0).then_some(())?;
    let bearable = if level.may_lack_more() {
        count - 1
    } else {
        level.spares(count).unwrap_or(0)
    };
    // While it resyncs, all that work show as behind.
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

/// `mirror_status` in drivers/md/dm-raid1.c: devices, how much is in sync, a letter for each, and
/// the log.
fn mirror(words: &[&str]) -> Option<TargetStatus> {
    let (legs, rest) = counted(words)?;
    let [synced, "1", health, log @ ..] = rest else {
        return None;
    };
    let [synced, all] = share(synced)?;
    (health.len() == legs.len() && !legs.is_empty()).then_some(())?;
    let mut failed = Vec::new();
    for (leg, letter) in (1u64..).zip(health.chars()) {
        match letter {
            'A' => {}
            'D' | 'F' | 'S' | 'R' | 'U' => failed.push(format!("leg {leg}")),
            _ => return None,
        }
    }
    let none_left = failed.len() == legs.len();
    match counted(log)?.0 {
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

/// `multipath_status` in drivers/md/dm-mpath.c: features, handler, groups; each path with a letter,
/// a count, and what its selector adds.
fn multipath(words: &[&str]) -> Option<TargetStatus> {
    let (_, rest) = counted(words)?;
    let (_, rest) = counted(rest)?;
    let [groups, next, rest @ ..] = rest else {
        return None;
    };
    let mut rest = rest;
    number(next)?;
    let (mut failed, mut usable) = (Vec::new(), false);
    for _ in 0..number(groups)? {
        let ["A" | "E" | "D", after @ ..] = rest else {
            return None;
        };
        let (_, after) = counted(after)?;
        let [paths, adds, after @ ..] = after else {
            return None;
        };
        let adds = number(adds)?.try_into().ok()?;
        rest = after;
        for _ in 0..number(paths)? {
            let [path, letter, count, after @ ..] = rest else {
                return None;
            };
            number(count)?;
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

fn cache(words: &[&str]) -> Option<TargetStatus> {
    let (_, rest) = words.split_at_checked(10)?;
    let [dirty, rest @ ..] = rest else {
        return None;
    };
    let (_, rest) = counted(rest)?;
    let (_, rest) = counted(rest)?;
    let [_policy, rest @ ..] = rest else {
        return None;
    };
    let (_, rest) = counted(rest)?;
    let [mode_word, check_word, ..] = rest else {
        return None;
    };
    let state = mode(mode_word)?.max(check(check_word)?);
    Some(TargetStatus {
        dirty: Some(number(dirty)?),
        ..state.into()
    })
}

/// writecache.rst: an error, and the blocks of the cache: all, free, and being written back.
fn writecache(words: &[&str]) -> Option<TargetStatus> {
    let [error, blocks, free, written, ..] = words else {
        return None;
    };
    for count in [blocks, free, written] {
        number(count)?;
    }
    Some(
        if number(error)? == 0 {
            MappingState::Fine
        } else {
            MappingState::Error
        }
        .into(),
    )
}

/// dm-integrity.rst: blocks that were not what was written, the sectors of data, and what is being
/// recalculated.
fn integrity(words: &[&str]) -> Option<TargetStatus> {
    let [mismatches, sectors, ..] = words else {
        return None;
    };
    number(sectors)?;
    Some(
        if number(mismatches)? == 0 {
            MappingState::Fine
        } else {
            MappingState::Error
        }
        .into(),
    )
}

/// verity.rst: whether a block was not what was signed.
fn verity(words: &[&str]) -> Option<TargetStatus> {
    match *words.first()? {
        "V" => Some(MappingState::Fine.into()),
        "C" => Some(MappingState::Error.into()),
        _ => None,
    }
}

/// vdo.rst. An index that has failed stops deduplication only.
fn vdo(words: &[&str]) -> Option<TargetStatus> {
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
    let (used, all) = (number(used)?, number(all)?);
    let mode = match *mode_word {
        "normal" | "recovering" => MappingState::Fine,
        "read-only" => MappingState::ReadOnly,
        _ => return None,
    };
    let known = [
        "closed", "closing", "error", "offline", "online", "opening", "unknown",
    ];
    (known.contains(index) && ["online", "offline"].contains(compression)).then_some(())?;
    (used <= all && all > 0).then(|| mode.max(full_or_fine(&[[used, all]])).into())
}

fn era(words: &[&str]) -> Option<TargetStatus> {
    let [block, metadata, now, root] = words else {
        return None;
    };
    number(block)?;
    number(now)?;
    (*root == "-" || number(root).is_some()).then_some(())?;
    Some(full_or_fine(&[share(metadata)?]).into())
}

fn clone(words: &[&str]) -> Option<TargetStatus> {
    let [block, metadata, region, copied, copying, rest @ ..] = words else {
        return None;
    };
    for count in [block, region, copying] {
        number(count)?;
    }
    share(copied)?;
    let (_, rest) = counted(rest)?;
    let (_, rest) = counted(rest)?;
    let [mode_word] = rest else { return None };
    Some(
        mode(mode_word)?
            .max(full_or_fine(&[share(metadata)?]))
            .into(),
    )
}

#[cfg(test)]
mod tests;
