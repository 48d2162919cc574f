//! File systems on a path: whether they send flushes, and what other mount options risk at a power
//! failure (ext4(5), xfs(5), btrfs(5), zfsprops(7), Documentation/filesystems).
//!
//! Options belong to the superblock, so all mounts of one superblock get the same findings.

use super::{
    FlushClause, HopFinding, StackCaches, dropped_by_file_system, sent, unproven, zfs_pool_findings,
};
use crate::compat::is_journal_ignored;
use crate::durability::EvidenceImpact::{self, AtRisk, Durable, Unproven};
use crate::durability::device_view::FlushOutcome;
use crate::durability::fact_reader::FactReader;
use crate::durability::{Evidence, EvidenceLayer, VerdictRemedy};
use crate::facts::catalog::mount::{self, BarrierState, Logbias, MountClass, ZfsSync};
use crate::facts::catalog::target::{self, FlushSuppressor, InodeFlag};
use crate::facts::catalog::{host, kernel};
use crate::facts::{Subject, UnknownReason};
use crate::ternary::Ternary;

pub fn file_system_findings(hop: FactReader, bottom: StackCaches) -> Vec<HopFinding> {
    let name = hop.name();
    let fstype = hop
        .read(&mount::FSTYPE)
        .unwrap_or_else(|| "a file system".to_owned());
    let clause = match hop.require(&mount::CLASS) {
        Some(MountClass::Block) => {
            let mut found = vec![barrier_finding(hop, &fstype, bottom)];
            found.extend(ext4_journal_finding(hop));
            found.extend(unfound_log_or_realtime_device_finding(hop));
            found.extend(unknown_btrfs_devices_finding(hop, &fstype));
            return found;
        }
        Some(MountClass::Overlay) => return vec![overlay_finding(hop)],
        Some(MountClass::Zfs) => {
            let mut found = vec![zfs_flush_finding(hop, bottom)];
            found.extend(zfs_pool_findings(hop));
            return found;
        }
        Some(MountClass::Memory) => dropped_by_file_system(
            VerdictRemedy::move_out_of_memory(name),
            format!("{name} keeps its data in memory ({fstype})"),
        ),
        Some(MountClass::Network) => {
            let kind = match fstype.as_str() {
                "virtiofs" => "directory on the virtual machine's host",
                _ => "network file system",
            };
            unproven(format!(
                "{name} is a {kind} ({fstype}), and its storage may not honour flushes"
            ))
        }
        Some(MountClass::Fuse) => unproven(format!(
            "{name} is a FUSE file system ({fstype}); it is unknown whether its daemon honours flushes"
        )),
        Some(MountClass::Other) => unproven(format!(
            "it is unknown whether {name} ({fstype}) honours flushes"
        )),
        None => unproven(format!("it is unknown what kind of file system {name} is")),
    };
    vec![hop.finding(&mount::CLASS, clause)]
}

/// `off` is a clause about the setting that omits flushes.
fn impact_of_omitted_flush(
    bottom: StackCaches,
    off: &str,
    remedy: VerdictRemedy,
) -> (EvidenceImpact, String) {
    if !bottom.cache.is_safe_unflushed() || bottom.is_stateless == Ternary::False {
        (AtRisk(remedy), format!("{off}, so no flush is sent"))
    } else if bottom.is_stateless == Ternary::Unknown {
        (
            Unproven,
            format!("{off}, and an underlying layer may hold data until it is flushed"),
        )
    } else {
        let only = "which is safe only because no underlying disk loses cached writes";
        (Durable, format!("{off}, {only}"))
    }
}

fn barrier_finding(hop: FactReader, fstype: &str, bottom: StackCaches) -> HopFinding {
    let name = hop.name();
    let clause = match hop.require(&mount::BARRIER) {
        Some(BarrierState::On) => sent(format!("{name} ({fstype}) sends flushes")),
        Some(BarrierState::NoEffect) => sent(format!(
            "{name} ({fstype}) sends flushes, regardless of its barrier option"
        )),
        Some(BarrierState::Off) => {
            let off = format!("{name} ({fstype}) is mounted without barriers");
            let remedy = VerdictRemedy::enable_barriers(name);
            let (impact, text) = impact_of_omitted_flush(bottom, &off, remedy);
            let outcome = FlushOutcome::Dropped(FlushSuppressor::MountOption);
            (outcome, impact, text)
        }
        None => unproven(format!(
            "it is unknown whether {name} ({fstype}) sends flushes"
        )),
    };
    hop.finding(&mount::BARRIER, clause)
}

/// A mount names only one device of a btrfs file system, but a commit is only as durable as the
/// worst one.
fn unknown_btrfs_devices_finding(hop: FactReader, fstype: &str) -> Option<HopFinding> {
    if fstype != "btrfs" || hop.require(&mount::BTRFS_DEVICES).is_some() {
        return None;
    }
    let text = format!(
        "it is unknown which devices {} ({fstype}) spans",
        hop.name()
    );
    Some(hop.unproven_finding(&mount::BTRFS_DEVICES, text))
}

fn ext4_journal_finding(hop: FactReader) -> Option<HopFinding> {
    let name = hop.name();
    let Some(fstype) = hop.require(&mount::FSTYPE) else {
        let text = format!("it is unknown which file system {name} is");
        return Some(hop.unproven_finding(&mount::FSTYPE, text));
    };
    if !matches!(fstype.as_str(), "ext2" | "ext3" | "ext4") {
        return None;
    }
    let (impact, text) = match hop.require(&mount::EXT4_JOURNAL) {
        Some(true) => {
            // A separate journal device is judged with the stack. Only a device that could not be
            // identified needs a finding here.
            let key = &mount::EXT4_JOURNAL_DEVICE;
            if !hop.is_unknown_because(key, UnknownReason::Ambiguous) {
                return None;
            }
            hop.record_missing(key, Some("find the device: dumpe2fs -h DEVICE, as root"));
            (
                Unproven,
                format!("the journal of {name} is on another, unknown device"),
            )
        }
        Some(false) if has_unloaded_journal(hop) => (
            AtRisk(VerdictRemedy::load_journal(name)),
            format!(
                "{name} ({fstype}) is mounted with norecovery, so its journal is not in use and a \
                 power failure can lose whole directories, including flushed data"
            ),
        ),
        Some(false) => (
            AtRisk(match fstype.as_str() {
                "ext2" => VerdictRemedy::new(format!(
                    "Move the data from {name} to a file system with a journal."
                )),
                _ => VerdictRemedy::add_journal(name),
            }),
            format!(
                "{name} ({fstype}) has no journal, so a power failure can lose whole directories, including flushed data"
            ),
        ),
        None => (
            Unproven,
            format!("it is unknown whether {name} ({fstype}) has a journal"),
        ),
    };
    let clause = (FlushOutcome::Sent, impact, text);
    Some(hop.finding(&mount::EXT4_JOURNAL, clause))
}

/// Whether the file system has a journal that this mount does not load. Mount option and superblock
/// decide, because the kernel shows such a mount as one without a journal.
fn has_unloaded_journal(hop: FactReader) -> bool {
    let is_named =
        |options: Option<Vec<String>>| options.is_some_and(|options| is_journal_ignored(&options));
    let is_skipped =
        is_named(hop.read(&mount::SUPER_OPTIONS)) || is_named(hop.read(&mount::EXT4_OPTIONS));
    let lacks = |features: Vec<String>| features.iter().all(|feature| feature != "has_journal");
    is_skipped && !hop.read(&mount::EXT4_FEATURES).is_some_and(lacks)
}

fn unfound_log_or_realtime_device_finding(hop: FactReader) -> Option<HopFinding> {
    let key = &mount::EXTRA_DEVICES;
    if !hop.is_unknown_because(key, UnknownReason::Ambiguous) {
        return None;
    }
    hop.record_missing(key, None);
    let text = format!(
        "{} has a log or real-time device that was not found",
        hop.name()
    );
    Some(hop.unproven_finding(key, text))
}

fn overlay_finding(hop: FactReader) -> HopFinding {
    let name = hop.name();
    let options = hop.require(&mount::SUPER_OPTIONS);
    let volatile = options.map(|all| all.iter().any(|o| o == "volatile" || o == "fsync=volatile"));
    let clause = match volatile {
        Some(true) => dropped_by_file_system(
            VerdictRemedy::new(format!(
                "Mount the overlay {name} without volatile, or keep the data on a separate volume."
            )),
            format!("{name} is an overlay mounted with volatile, so nothing is flushed"),
        ),
        Some(false) => sent(format!(
            "{name} is an overlay, which passes flushes to its upper layer"
        )),
        None => unproven(format!(
            "it is unknown whether the overlay at {name} passes flushes on"
        )),
    };
    hop.finding(&mount::SUPER_OPTIONS, clause)
}

fn zfs_flush_finding(hop: FactReader, bottom: StackCaches) -> HopFinding {
    let name = hop.name();
    let host = Subject::host();
    let sync = hop.read(&mount::ZFS_SYNC);
    if sync.is_none() {
        hop.record_missing(
            &mount::ZFS_SYNC,
            Some("read the property: zfs get -Hp -o value sync DATASET"),
        );
    }
    let no_flush = hop.for_subject(&host).require(&kernel::ZFS_NO_FLUSH);
    let clause: FlushClause = match (sync, no_flush) {
        (Some(ZfsSync::Disabled), _) => dropped_by_file_system(
            VerdictRemedy::new(format!("Set sync=standard for the dataset at {name}.")),
            format!("{name} is ZFS with sync=disabled, which ignores flushes"),
        ),
        (Some(ZfsSync::Standard | ZfsSync::Always) | None, Some(true)) => {
            let off = format!(
                "{name} is ZFS with cache flushes disabled (zfs_nocacheflush or zil_nocacheflush)"
            );
            let remedy = VerdictRemedy::new(
                "Set zfs_nocacheflush and zil_nocacheflush of the ZFS module to 0.".to_owned(),
            );
            let (mut impact, mut text) = impact_of_omitted_flush(bottom, &off, remedy);
            if sync.is_none() && impact.is_durable() {
                impact = Unproven;
                text += "; it is unknown whether commits wait for their writes (the sync property)";
            }
            let outcome = FlushOutcome::Dropped(FlushSuppressor::FileSystem);
            return hop
                .for_subject(&host)
                .finding(&kernel::ZFS_NO_FLUSH, (outcome, impact, text));
        }
        (None, Some(false) | None) => unproven(format!(
            "it is unknown whether ZFS at {name} honours flushes (the sync property)"
        )),
        (Some(ZfsSync::Standard | ZfsSync::Always), None) => unproven(format!(
            "{name} is ZFS, and it is unknown whether its cache flushes are disabled"
        )),
        (Some(ZfsSync::Standard | ZfsSync::Always), Some(false))
            if hop.layers_directly_below().is_empty() =>
        {
            unproven(format!(
                "{name} is ZFS; it honours flushes, but the caches of its pool's disks are unknown"
            ))
        }
        (Some(sync @ (ZfsSync::Standard | ZfsSync::Always)), Some(false)) => {
            let log = match hop.read(&mount::ZFS_LOGBIAS) {
                Some(Logbias::Throughput) => {
                    " (logbias=throughput: commits go to the pool, not to its separate log)"
                }
                Some(Logbias::Latency) | None => "",
            };
            sent(format!(
                "{name} is ZFS and sends flushes (sync={sync}){log}"
            ))
        }
    };
    hop.finding(&mount::ZFS_SYNC, clause)
}

/// Evidence against every target within a container, because the mount table of a container lacks
/// mounts of its host. `None` outside of containers.
pub fn container_evidence(host: FactReader) -> Option<Evidence> {
    let text = match host.require(&host::CONTAINER) {
        Some(engine) if engine == "none" => return None,
        Some(_) => "the host's mounts and settings are not visible from this container",
        None => "it is unknown whether walwise runs in a container",
    };
    Some(host.unproven_finding(&host::CONTAINER, text.to_owned()).1)
}

/// Evidence about flags of the target's directory that change how writes to new files behave,
/// because new files inherit the flags (chattr(1)).
pub fn directory_flags_evidence(target: FactReader) -> Vec<Evidence> {
    let flags = target.read(&target::FLAGS).unwrap_or_default();
    let evidence = |flag| {
        let what = match flag {
            InodeFlag::Sync => "every write to new files in it waits for the disk (chattr +S)",
            InodeFlag::JournalData => "new files in it have the data-journalling flag (chattr +j)",
            InodeFlag::Nocow => {
                "new files in it are overwritten in place, without checksums (chattr +C)"
            }
        };
        let text = format!("{}: {what}", target.name());
        target.evidence(EvidenceLayer::Kernel, &target::FLAGS, Durable, text)
    };
    flags.into_iter().map(evidence).collect()
}
