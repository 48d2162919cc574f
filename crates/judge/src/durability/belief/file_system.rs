//! File systems on the way: whether they send flushes, and which other mount options decide what a
//! power failure destroys (their manual pages: ext4(5), xfs(5), btrfs(5), zfsprops(7), and
//! Documentation/filesystems of the kernel).
//!
//! Options belong to the superblock, so all mounts of one superblock are judged alike. Without a
//! journal ext4 still flushes, but a power failure can destroy the directory that holds the
//! committed file.

use super::{Bottom, Hop, evidence, pool};
use crate::durability::ask::Ask;
use crate::durability::claim::Passage;
use crate::durability::{Bears, Evidence, Mend};
use crate::facts::catalog::kernel;
use crate::facts::catalog::mount::{self, Barrier, Logbias, MountClass, ZfsSync};
use crate::facts::catalog::target::{self, Attribute, Suppressor};
use crate::facts::{Reading, Subject, Why};
use crate::truth::Truth;

/// Judges a file system on the way.
pub fn mount(ask: &mut Ask, hop: &Subject, bottom: Bottom) -> Vec<Hop> {
    use Bears::{AtRisk, Unproven};
    let name = hop.name();
    let fstype = ask
        .value(hop, &mount::FSTYPE)
        .unwrap_or_else(|| "a file system".to_owned());
    let class = ask.need(hop, &mount::CLASS);
    let unseen = |ask: &Ask, says: String| {
        vec![(
            Passage::Unknown,
            evidence(ask, hop, &mount::CLASS, Unproven, says),
        )]
    };
    match class {
        Some(MountClass::Block) => {
            let mut found = vec![barrier(ask, hop, &fstype, bottom)];
            found.extend(journal(ask, hop));
            found.extend(extra_devices(ask, hop));
            found.extend(members(ask, hop, &fstype));
            found
        }
        Some(MountClass::Memory) => {
            let says = format!("{name} is kept in memory ({fstype})");
            let bears = AtRisk(Mend::OutOfMemory(hop.clone()));
            vec![(
                Passage::Dropped(Suppressor::FileSystem),
                evidence(ask, hop, &mount::CLASS, bears, says),
            )]
        }
        Some(MountClass::Overlay) => vec![overlay(ask, hop)],
        Some(MountClass::Zfs) => {
            let mut found = vec![zfs(ask, hop, bottom)];
            found.extend(pool::pool(ask, hop));
            found
        }
        Some(MountClass::Network) => unseen(
            ask,
            format!(
                "{name} is {fstype} over the network, and what the other side does with a flush is not visible"
            ),
        ),
        Some(MountClass::Fuse) => unseen(
            ask,
            format!(
                "{name} is a FUSE file system ({fstype}); what its program does with a flush is not visible"
            ),
        ),
        Some(MountClass::Other) => unseen(
            ask,
            format!("it is unknown what {fstype} at {name} does with a flush"),
        ),
        None => unseen(
            ask,
            format!("it is unknown what kind of file system {name} is"),
        ),
    }
}

/// The fate of data whose flush is not sent, given the disks below.
fn unflushed(bottom: Bottom, off: &str, mend: Mend) -> (Bears, String) {
    if !bottom.cache.is_safe_unflushed() || bottom.plain == Truth::False {
        (Bears::AtRisk(mend), format!("{off}, so no flush is sent"))
    } else if bottom.plain == Truth::Unknown {
        (
            Bears::Unproven,
            format!("{off}, and a layer below it may hold data until it is flushed"),
        )
    } else {
        let only = "which is safe only because no disk below loses its cache";
        (Bears::Durable, format!("{off}, {only}"))
    }
}

fn barrier(ask: &mut Ask, hop: &Subject, fstype: &str, bottom: Bottom) -> Hop {
    use Bears::{Durable, Unproven};
    let name = hop.name();
    let (passage, bears, says) = match ask.need(hop, &mount::BARRIER) {
        Some(Barrier::On) => (
            Passage::Sent,
            Durable,
            format!("{name} is {fstype} and sends flushes"),
        ),
        Some(Barrier::NoEffect) => (
            Passage::Sent,
            Durable,
            format!("{name} is {fstype} and sends flushes, whatever its barrier option says"),
        ),
        Some(Barrier::Off) => {
            let off = format!("{name} is {fstype} mounted without barriers");
            let (bears, says) = unflushed(bottom, &off, Mend::Barriers(hop.clone()));
            (Passage::Dropped(Suppressor::MountOption), bears, says)
        }
        None => (
            Passage::Unknown,
            Unproven,
            format!("it is unknown whether {name} ({fstype}) sends flushes"),
        ),
    };
    (passage, evidence(ask, hop, &mount::BARRIER, bears, says))
}

/// The devices of a btrfs, where they are unknown: a mount names one, and a commit is as durable as
/// the worst of them.
fn members(ask: &mut Ask, hop: &Subject, fstype: &str) -> Option<Hop> {
    if fstype != "btrfs" || ask.need(hop, &mount::BTRFS_DEVICES).is_some() {
        return None;
    }
    let says = format!(
        "it is unknown which devices {} ({fstype}) spans",
        hop.name()
    );
    Some((
        Passage::Unknown,
        evidence(ask, hop, &mount::BTRFS_DEVICES, Bears::Unproven, says),
    ))
}

/// The effect of a missing journal, with the ext4 driver.
fn journal(ask: &mut Ask, hop: &Subject) -> Option<Hop> {
    let name = hop.name();
    let Some(fstype) = ask.need(hop, &mount::FSTYPE) else {
        let says = format!("it is unknown which file system {name} is");
        return Some((
            Passage::Unknown,
            evidence(ask, hop, &mount::FSTYPE, Bears::Unproven, says),
        ));
    };
    if !matches!(fstype.as_str(), "ext2" | "ext3" | "ext4") {
        return None;
    }
    let (bears, says) = match ask.need(hop, &mount::EXT4_JOURNAL) {
        Some(true) => {
            // The journal's device belongs to the stack; only an external one that could not be
            // identified is missing.
            let elsewhere = ask.facts.get(hop, &mount::EXT4_JOURNAL_DEVICE);
            if !matches!(
                elsewhere,
                Reading::Unknown {
                    why: Why::Ambiguous,
                    ..
                }
            ) {
                return None;
            }
            ask.miss(
                hop,
                &mount::EXT4_JOURNAL_DEVICE,
                Some("find the device: dumpe2fs -h DEVICE, as root"),
            );
            (
                Bears::Unproven,
                format!("the journal of {name} is on another device, and it is unknown on which"),
            )
        }
        Some(false) if skips_journal(ask, hop) => (
            Bears::AtRisk(Mend::Recovery(hop.clone())),
            format!(
                "{name} is {fstype} mounted norecovery, so its journal is not in use and a power failure can cost whole \
                 directories, whatever was flushed"
            ),
        ),
        Some(false) => (
            Bears::AtRisk(match fstype.as_str() {
                "ext2" => Mend::JournalLess(hop.clone()),
                _ => Mend::Journal(hop.clone()),
            }),
            format!(
                "{name} is {fstype} without a journal, so a power failure can cost whole directories, whatever was flushed"
            ),
        ),
        None => (
            Bears::Unproven,
            format!("it is unknown whether {name} ({fstype}) has a journal"),
        ),
    };
    Some((
        Passage::Sent,
        evidence(ask, hop, &mount::EXT4_JOURNAL, bears, says),
    ))
}

/// Whether a file system has a journal that it was mounted not to load. The kernel shows such a
/// mount like one without a journal, but for the option; the superblock decides where it could be
/// read.
fn skips_journal(ask: &mut Ask, hop: &Subject) -> bool {
    let is_named = |options: Option<Vec<String>>| {
        options.is_some_and(|options| {
            options
                .iter()
                .any(|option| ["norecovery", "noload"].contains(&option.as_str()))
        })
    };
    let is_skipped = is_named(ask.value(hop, &mount::SUPER_OPTIONS))
        || is_named(ask.value(hop, &mount::EXT4_OPTIONS));
    let lacks = |features: Vec<String>| features.iter().all(|feature| feature != "has_journal");
    is_skipped && !ask.value(hop, &mount::EXT4_FEATURES).is_some_and(lacks)
}

/// A log or real-time device that was not found is one that nobody judges.
fn extra_devices(ask: &mut Ask, hop: &Subject) -> Option<Hop> {
    let key = &mount::EXTRA_DEVICES;
    if !matches!(
        ask.facts.get(hop, key),
        Reading::Unknown {
            why: Why::Ambiguous,
            ..
        }
    ) {
        return None;
    }
    ask.miss(hop, key, None);
    let says = format!(
        "{} has a log or real-time device that was not found",
        hop.name()
    );
    Some((
        Passage::Unknown,
        evidence(ask, hop, key, Bears::Unproven, says),
    ))
}

fn overlay(ask: &mut Ask, hop: &Subject) -> Hop {
    use Bears::{AtRisk, Durable, Unproven};
    let name = hop.name();
    let options = ask.need(hop, &mount::SUPER_OPTIONS);
    let volatile = options.map(|all| all.iter().any(|o| o == "volatile" || o == "fsync=volatile"));
    let (passage, bears, says) = match volatile {
        Some(true) => (
            Passage::Dropped(Suppressor::FileSystem),
            AtRisk(Mend::Overlay(hop.clone())),
            format!("{name} is an overlay mounted volatile, so nothing is flushed"),
        ),
        Some(false) => (
            Passage::Sent,
            Durable,
            format!("{name} is an overlay, which flushes its upper layer"),
        ),
        None => (
            Passage::Unknown,
            Unproven,
            format!("it is unknown whether the overlay at {name} flushes"),
        ),
    };
    (
        passage,
        evidence(ask, hop, &mount::SUPER_OPTIONS, bears, says),
    )
}

/// ZFS flushes for a dataset unless its property `sync` says otherwise, and flushes its disks
/// unless the module was told not to.
fn zfs(ask: &mut Ask, hop: &Subject, bottom: Bottom) -> Hop {
    use Bears::{AtRisk, Durable, Unproven};
    let name = hop.name();
    let host = Subject::host();
    let sync = ask.value(hop, &mount::ZFS_SYNC);
    if sync.is_none() {
        ask.miss(
            hop,
            &mount::ZFS_SYNC,
            Some("read it: zfs get -Hp -o value sync DATASET"),
        );
    }
    let (passage, bears, says) = match (sync, ask.need(&host, &kernel::ZFS_NO_FLUSH)) {
        (Some(ZfsSync::Disabled), _) => (
            Passage::Dropped(Suppressor::FileSystem),
            AtRisk(Mend::ZfsSync(hop.clone())),
            format!("{name} is ZFS with sync=disabled, which ignores flushes"),
        ),
        (Some(ZfsSync::Standard | ZfsSync::Always) | None, Some(true)) => {
            let off = format!(
                "{name} is ZFS with cache flushes disabled (zfs_nocacheflush or zil_nocacheflush)"
            );
            let (mut bears, mut says) = unflushed(bottom, &off, Mend::ZfsFlush);
            if sync.is_none() && bears.is_durable() {
                bears = Unproven;
                says += "; it is unknown whether it writes before it answers (its property sync)";
            }
            let hop = (
                Passage::Dropped(Suppressor::FileSystem),
                evidence(ask, &host, &kernel::ZFS_NO_FLUSH, bears, says),
            );
            return hop;
        }
        (None, Some(false) | None) => (
            Passage::Unknown,
            Unproven,
            format!("it is unknown whether ZFS at {name} honours flushes (its property sync)"),
        ),
        (Some(ZfsSync::Standard | ZfsSync::Always), None) => (
            Passage::Unknown,
            Unproven,
            format!("{name} is ZFS, and it is unknown whether its cache flushes are disabled"),
        ),
        (Some(ZfsSync::Standard | ZfsSync::Always), Some(false))
            if ask.facts.below(hop).is_empty() =>
        {
            (
                Passage::Unknown,
                Unproven,
                format!(
                    "{name} is ZFS; it honours flushes, but the caches of its pool's disks are unknown"
                ),
            )
        }
        (Some(sync @ (ZfsSync::Standard | ZfsSync::Always)), Some(false)) => {
            let log = match ask.value(hop, &mount::ZFS_LOGBIAS) {
                Some(Logbias::Throughput) => {
                    " (logbias=throughput: into the pool, not its separate log)"
                }
                Some(Logbias::Latency) | None => "",
            };
            (
                Passage::Sent,
                Durable,
                format!("{name} is ZFS and sends flushes, sync={sync}{log}"),
            )
        }
    };
    (passage, evidence(ask, hop, &mount::ZFS_SYNC, bears, says))
}

/// Flags of the directory that new files inherit and that change the effect of a write (chattr(1)).
pub fn directory(ask: &mut Ask, target: &Subject) -> Vec<Evidence> {
    let mut found = Vec::new();
    for flag in ask.value(target, &target::FLAGS).unwrap_or_default() {
        let what = match flag {
            Attribute::Sync => "every write to new files in it waits for the disk (chattr +S)",
            Attribute::JournalData => {
                "data of new files in it goes through the journal (chattr +j)"
            }
            Attribute::Nocow => {
                "new files in it are overwritten in place, without checksums (chattr +C)"
            }
        };
        let says = format!("{}: {what}", target.name());
        found.push(evidence(ask, target, &target::FLAGS, Bears::Durable, says));
    }
    found
}
