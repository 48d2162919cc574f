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
mod tests {
    //! Every state of every target, in the words of the kernel's documents and sources.

    use proptest::prelude::*;

    use super::*;
    use crate::host::Tool;
    use crate::host::redact::{mapper_targets, printed};

    const POOL: &str = "discard_passdown queue_if_no_space";

    /// A status, and its state, what has failed, and what lags.
    fn cases() -> Vec<(
        String,
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
    )> {
        let cache = "cache 8 27/4096 128 512/1024 10 2 5 1 0 9 7 1 writeback 2 migration_threshold 2048 smq 0";
        let mut cases: Vec<(String, &str, &[&str], &[&str])> = [
            (
                format!("thin-pool 1 19/4096 200/3200 - rw {POOL} - 1024"),
                "fine",
            ),
            (
                format!("thin-pool 1 19/4096 200/3200 17 rw {POOL} -"),
                "fine",
            ),
            (
                format!("thin-pool 1 19/4096 3200/3200 - out_of_data_space {POOL} - 1024"),
                "full",
            ),
            (
                format!("thin-pool 1 19/4096 3200/3200 - rw {POOL} - 1024"),
                "full",
            ),
            (
                format!("thin-pool 1 200/4096 200/3200 - ro {POOL} - 1024"),
                "read only",
            ),
            (
                format!("thin-pool 1 4096/4096 200/3200 - ro {POOL} needs_check 1024"),
                "needs check",
            ),
            (format!("{cache} rw -"), "fine"),
            (format!("{cache} ro -"), "read only"),
            (format!("{cache} ro needs_check"), "needs check"),
        ]
        .map(|(line, state)| (line, state, &[][..], &[][..]))
        .to_vec();
        let plain = [
            ("thin-pool Fail", "failed"),
            ("thin-pool failed", "failed"),
            ("thin-pool 19/4096 200/3200", "fine"),
            ("thin-pool 19/4096 3200/3200", "full"),
            ("thin 409600 819199", "fine"),
            ("thin 0 -", "fine"),
            ("thin Fail", "failed"),
            ("snapshot 16/20480 16", "fine"),
            ("snapshot 20480/20480 16", "full"),
            ("snapshot Invalid", "lost"),
            ("snapshot Overflow", "lost"),
            ("snapshot Merge failed", "failed"),
            ("snapshot-merge 16/20480 16", "fine"),
            ("snapshot-merge Merge failed", "failed"),
            ("cache Fail", "failed"),
            ("writecache 0 4096 100 20", "fine"),
            ("writecache 1 4096 100 20", "error"),
            ("integrity 0 819200 -", "fine"),
            ("integrity 3 819200 -", "error"),
            ("verity V", "fine"),
            ("verity C", "error"),
            ("vdo 253:1 normal - online online 100 4096", "fine"),
            ("vdo 253:1 normal - error offline 100 4096", "fine"),
            (
                "vdo 253:1 recovering recovering online online 100 4096",
                "fine",
            ),
            ("vdo 253:1 read-only - online online 100 4096", "read only"),
            ("vdo 253:1 normal - online online 4096 4096", "full"),
            ("era 8 10/4096 17 -", "fine"),
            ("era Fail", "failed"),
            (
                "clone 8 10/4096 8 100/200 0 0 4 hydration_threshold 1 hydration_batch_size 1 rw",
                "fine",
            ),
            ("clone 8 10/4096 8 100/200 0 0 0 ro", "read only"),
            ("clone 8 10/4096 8 100/200 0 0 0 Fail", "failed"),
        ];
        cases.extend(plain.map(|(line, state)| (line.to_owned(), state, &[][..], &[][..])));
        let legs: [(&str, &str, &[&str], &[&str]); 26] = [
            ("raid raid1 2 AA 204800/204800 idle 0 0 -", "fine", &[], &[]),
            ("raid raid1 2 AA 204800/204800 idle 0", "fine", &[], &[]),
            (
                "raid raid1 2 DA 204800/204800 idle 0 0 -",
                "degraded",
                &["leg 1"],
                &[],
            ),
            (
                "raid raid1 2 A- 204800/204800 idle 0 0 -",
                "degraded",
                &["leg 2"],
                &[],
            ),
            (
                "raid raid1 2 Aa 1024/204800 recover 0 0 -",
                "rebuilding",
                &[],
                &["leg 2"],
            ),
            (
                "raid raid1 2 aa 1024/204800 resync 0 0 -",
                "resyncing",
                &[],
                &["leg 1", "leg 2"],
            ),
            (
                "raid raid1 2 DD 204800/204800 idle 0 0 -",
                "failed",
                &["leg 1", "leg 2"],
                &[],
            ),
            (
                "raid raid1 2 Da 1024/204800 idle 0 0 -",
                "failed",
                &["leg 1"],
                &["leg 2"],
            ),
            (
                "raid raid0 2 AD 204800/204800 idle 0 0 -",
                "failed",
                &["leg 2"],
                &[],
            ),
            (
                "raid raid5_ls 3 AAA 204800/204800 check 0 0 -",
                "fine",
                &[],
                &[],
            ),
            (
                "raid raid5_ls 3 AAa 1024/204800 recover 0 0 -",
                "degraded, write hole open",
                &[],
                &["leg 3"],
            ),
            (
                "raid raid5_ls 3 A-A 204800/204800 idle 0 0 -",
                "degraded, write hole open",
                &["leg 2"],
                &[],
            ),
            (
                "raid raid5_ls 3 A-A 204800/204800 idle 0 0 A",
                "degraded",
                &["leg 2"],
                &[],
            ),
            (
                "raid raid5_ls 3 --A 204800/204800 idle 0 0 -",
                "failed",
                &["leg 1", "leg 2"],
                &[],
            ),
            (
                "raid raid5_ls 3 aaa 1024/204800 resync 0 0 -",
                "resyncing",
                &[],
                &["leg 1", "leg 2", "leg 3"],
            ),
            (
                "raid raid5_ls 3 AAA 204800/204800 idle 0 0 D",
                "read only",
                &["journal"],
                &[],
            ),
            (
                "raid raid6_zr 4 --AA 204800/204800 idle 0 0 -",
                "degraded, write hole open",
                &["leg 1", "leg 2"],
                &[],
            ),
            (
                "raid raid10_near 4 A-AA 204800/204800 idle 0 0 -",
                "degraded",
                &["leg 2"],
                &[],
            ),
            ("mirror 2 253:3 253:4 200/200 1 AA 1 core", "fine", &[], &[]),
            (
                "mirror 2 253:3 253:4 200/200 1 AD 1 core",
                "degraded",
                &["leg 2"],
                &[],
            ),
            (
                "mirror 2 253:3 253:4 100/200 1 AA 3 disk 253:2 A",
                "resyncing",
                &[],
                &["copies"],
            ),
            (
                "mirror 2 253:3 253:4 200/200 1 AA 3 disk 253:2 D",
                "degraded",
                &["log"],
                &[],
            ),
            (
                "mirror 2 253:3 253:4 200/200 1 DF 1 core",
                "failed",
                &["leg 1", "leg 2"],
                &[],
            ),
            (
                "multipath 2 0 0 0 1 1 A 0 2 2 8:0 A 0 0 1 8:16 A 0 0 1",
                "fine",
                &[],
                &[],
            ),
            (
                "multipath 2 0 0 0 2 1 A 0 2 0 8:0 A 0 8:16 A 0 E 0 1 0 8:32 F 3",
                "degraded",
                &["path 8:32"],
                &[],
            ),
            (
                "multipath 2 0 0 0 1 1 E 0 2 0 8:0 F 3 8:16 F 3",
                "no path",
                &["path 8:0", "path 8:16"],
                &[],
            ),
        ];
        cases.extend(
            legs.map(|(line, state, failed, lagging)| (line.to_owned(), state, failed, lagging)),
        );
        cases
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn read(line: &str) -> Option<TargetStatus> {
        let (target, words) = line.split_once(' ').unwrap_or((line, ""));
        parse(target, &words.split_ascii_whitespace().collect::<Vec<_>>())
    }

    /// Each status is read from what leaves of it.
    #[test]
    fn every_state_of_every_target() {
        for (line, state, failed, lagging) in cases() {
            let text = format!("x: 0 8 {line}\n").into_bytes();
            let kept =
                String::from_utf8(printed(Tool::Dmsetup, &["status".to_owned()], text)).unwrap();
            let status = kept.strip_prefix("x: ").and_then(|kept| read(kept.trim()));
            let status = status.unwrap_or_else(|| panic!("{line}: {kept}"));
            assert_eq!(
                (status.state.word(), status.failed.as_slice()),
                (state, strings(failed).as_slice()),
                "{line}"
            );
            assert_eq!(status.lagging, strings(lagging), "{line}");
        }
        for state in MappingState::ALL {
            assert!(
                cases().iter().any(|(_, word, ..)| *word == state.word()),
                "no case for {state}"
            );
        }
        for (target, _) in READERS {
            assert!(
                cases()
                    .iter()
                    .any(|(line, ..)| line.split(' ').next() == Some(target)),
                "no case for {target}"
            );
        }
    }

    /// What leaves of a status is what is read here.
    #[test]
    fn targets_with_a_state_are_those_whose_status_leaves() {
        for (target, leaves) in mapper_targets() {
            assert_eq!(has_state(target), leaves, "{target}");
        }
    }

    #[test]
    fn a_status_without_its_end_or_with_another_word_is_unknown() {
        for line in [
            "thin-pool",
            "thin-pool Error",
            "thin-pool 1 19/4096 200/3200 - rw discard_passdown queue_if_no_space",
            "thin-pool 1 19/4096 200/3200 - rw discard_passdown queue_if_no_space ?",
            "thin-pool 1 19/4096 200/3200 - new discard_passdown queue_if_no_space -",
            "thin-pool 1 19/4096 3201/3200 - rw discard_passdown queue_if_no_space -",
            "thin -",
            "thin 12",
            "snapshot Unknown",
            "snapshot 16/20480",
            "raid raid1 2 A 204800/204800 idle 0 0 -",
            "raid raid1 2 AAA 204800/204800 idle 0 0 -",
            "raid raid1 2 AX 204800/204800 idle 0 0 -",
            "raid raid1 2 AA 204800/204800 dream 0 0 -",
            "raid raid7 2 AA 204800/204800 idle 0 0 -",
            "raid raid1 2 AA 204800/204800",
            "raid raid1 0  0/0 idle 0",
            "mirror 2 253:3 253:4 200/200 1 A 1 core",
            "mirror 2 253:3 253:4 200/200 1 AA",
            "mirror 2 253:3 253:4 200/200 1 AA 3 disk 253:2 ?",
            "multipath 2 0 0 0 2 1 A 0 2 0 8:0 A 0 8:16 A 0",
            "multipath 2 0 0 0 1 1 A 0 2 0 8:0 A 0",
            "multipath 2 0 0 0 1 1 A 0 1 0 8:0 ? 0",
            "multipath 2 0 0 0 1 1 ? 0 1 0 8:0 A 0",
            "cache 8 27/4096 128 512/1024 10 2 5 1 0 9 7 1 writeback 2 ? 2048 ? 0 rw",
            "cache 8 27/4096 128 512/1024 10 2 5 1 0 9 7 1 writeback 2 ? 2048 ? 0",
            "cache Error",
            "writecache 0",
            "integrity 0",
            "verity ?",
            "vdo 253:1 normal - online online 100",
            "vdo 253:1 odd - online online 100 200",
            "era Error",
            "clone 8 10/4096 8 100/200 0 0 0",
            "clone 8 10/4096 8 100/200 0 0 0 ?",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    proptest! {
        /// No status of which words are lost at the end is better than the whole one.
        #[test]
        fn what_is_cut_off_makes_nothing_better(which in 0usize..66, keep in 0usize..40) {
            let cases = cases();
            let Some((line, ..)) = cases.get(which) else { return Ok(()) };
            let whole = read(line).map(|status| status.state);
            let cut: Vec<&str> = line.split(' ').take(keep.max(1)).collect();
            if let Some(status) = read(&cut.join(" ")) {
                prop_assert!(Some(status.state) >= whole, "{line}: {cut:?}");
            }
        }

        #[test]
        fn any_words_do_no_harm(target in prop::sample::select(READERS), words in prop::collection::vec("[0-9A-Da/:-]{1,4}", 0..20)) {
            parse(target.0, &words.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
