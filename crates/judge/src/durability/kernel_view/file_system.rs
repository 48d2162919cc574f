//! File systems on a path: whether they send flushes, and what other mount options risk at a power
//! failure (ext4(5), xfs(5), btrfs(5), zfsprops(7), Documentation/filesystems).
//!
//! Options belong to the superblock, so all mounts of one superblock get the same findings.

use super::{
    HopFinding, StackCaches, is_unknown_because, kernel_evidence, unproven_finding,
    zfs_pool_findings,
};
use crate::compat::is_journal_ignored;
use crate::durability::device_view::FlushOutcome;
use crate::durability::fact_reader::FactReader;
use crate::durability::{Evidence, EvidenceImpact, VerdictRemedy};
use crate::facts::catalog::mount::{self, BarrierState, Logbias, MountClass, ZfsSync};
use crate::facts::catalog::target::{self, FlushSuppressor, InodeFlag};
use crate::facts::catalog::{host, kernel};
use crate::facts::{Subject, UnknownReason};
use crate::ternary::Ternary;

pub fn file_system_findings(
    ask: &mut FactReader,
    hop: &Subject,
    bottom: StackCaches,
) -> Vec<HopFinding> {
    use EvidenceImpact::AtRisk;
    let name = hop.name();
    let fstype = ask
        .read_and_record_use(hop, &mount::FSTYPE)
        .unwrap_or_else(|| "a file system".to_owned());
    let class = ask.read_or_record_missing(hop, &mount::CLASS);
    let unseen =
        |ask: &FactReader, says: String| vec![unproven_finding(ask, hop, &mount::CLASS, says)];
    match class {
        Some(MountClass::Block) => {
            let mut found = vec![barrier_finding(ask, hop, &fstype, bottom)];
            found.extend(ext4_journal_finding(ask, hop));
            found.extend(unfound_log_or_realtime_device_finding(ask, hop));
            found.extend(unknown_btrfs_devices_finding(ask, hop, &fstype));
            found
        }
        Some(MountClass::Memory) => {
            let says = format!("{name} keeps its data in memory ({fstype})");
            let bears = AtRisk(VerdictRemedy::move_out_of_memory(hop));
            vec![(
                FlushOutcome::Dropped(FlushSuppressor::FileSystem),
                kernel_evidence(ask, hop, &mount::CLASS, bears, says),
            )]
        }
        Some(MountClass::Overlay) => vec![overlay_finding(ask, hop)],
        Some(MountClass::Zfs) => {
            let mut found = vec![zfs_flush_finding(ask, hop, bottom)];
            found.extend(zfs_pool_findings(ask, hop));
            found
        }
        Some(MountClass::Network) => {
            let kind = match fstype.as_str() {
                "virtiofs" => "directory on the virtual machine's host",
                _ => "network file system",
            };
            unseen(
                ask,
                format!("{name} is a {kind} ({fstype}), and its storage may not honour flushes"),
            )
        }
        Some(MountClass::Fuse) => unseen(
            ask,
            format!(
                "{name} is a FUSE file system ({fstype}); it is unknown whether its daemon honours flushes"
            ),
        ),
        Some(MountClass::Other) => unseen(
            ask,
            format!("it is unknown whether {name} ({fstype}) honours flushes"),
        ),
        None => unseen(
            ask,
            format!("it is unknown what kind of file system {name} is"),
        ),
    }
}

fn impact_of_omitted_flush(
    bottom: StackCaches,
    off: &str,
    mend: VerdictRemedy,
) -> (EvidenceImpact, String) {
    if !bottom.cache.is_safe_unflushed() || bottom.is_stateless == Ternary::False {
        (
            EvidenceImpact::AtRisk(mend),
            format!("{off}, so no flush is sent"),
        )
    } else if bottom.is_stateless == Ternary::Unknown {
        (
            EvidenceImpact::Unproven,
            format!("{off}, and an underlying layer may hold data until it is flushed"),
        )
    } else {
        let only = "which is safe only because no underlying disk loses cached writes";
        (EvidenceImpact::Durable, format!("{off}, {only}"))
    }
}

fn barrier_finding(
    ask: &mut FactReader,
    hop: &Subject,
    fstype: &str,
    bottom: StackCaches,
) -> HopFinding {
    use EvidenceImpact::{Durable, Unproven};
    let name = hop.name();
    let (passage, bears, says) = match ask.read_or_record_missing(hop, &mount::BARRIER) {
        Some(BarrierState::On) => (
            FlushOutcome::Sent,
            Durable,
            format!("{name} ({fstype}) sends flushes"),
        ),
        Some(BarrierState::NoEffect) => (
            FlushOutcome::Sent,
            Durable,
            format!("{name} ({fstype}) sends flushes, regardless of its barrier option"),
        ),
        Some(BarrierState::Off) => {
            let off = format!("{name} ({fstype}) is mounted without barriers");
            let (bears, says) =
                impact_of_omitted_flush(bottom, &off, VerdictRemedy::enable_barriers(hop));
            (
                FlushOutcome::Dropped(FlushSuppressor::MountOption),
                bears,
                says,
            )
        }
        None => (
            FlushOutcome::Unknown,
            Unproven,
            format!("it is unknown whether {name} ({fstype}) sends flushes"),
        ),
    };
    (
        passage,
        kernel_evidence(ask, hop, &mount::BARRIER, bears, says),
    )
}

/// A mount names only one device of a btrfs file system, but a commit is only as durable as the
/// worst one.
fn unknown_btrfs_devices_finding(
    ask: &mut FactReader,
    hop: &Subject,
    fstype: &str,
) -> Option<HopFinding> {
    if fstype != "btrfs"
        || ask
            .read_or_record_missing(hop, &mount::BTRFS_DEVICES)
            .is_some()
    {
        return None;
    }
    let says = format!(
        "it is unknown which devices {} ({fstype}) spans",
        hop.name()
    );
    Some(unproven_finding(ask, hop, &mount::BTRFS_DEVICES, says))
}

fn ext4_journal_finding(ask: &mut FactReader, hop: &Subject) -> Option<HopFinding> {
    let name = hop.name();
    let Some(fstype) = ask.read_or_record_missing(hop, &mount::FSTYPE) else {
        let says = format!("it is unknown which file system {name} is");
        return Some(unproven_finding(ask, hop, &mount::FSTYPE, says));
    };
    if !matches!(fstype.as_str(), "ext2" | "ext3" | "ext4") {
        return None;
    }
    let (bears, says) = match ask.read_or_record_missing(hop, &mount::EXT4_JOURNAL) {
        Some(true) => {
            // A separate journal device is judged with the stack. Only a device that could not be
            // identified needs a finding here.
            if !is_unknown_because(
                ask,
                hop,
                &mount::EXT4_JOURNAL_DEVICE,
                UnknownReason::Ambiguous,
            ) {
                return None;
            }
            ask.record_missing_fact(
                hop,
                &mount::EXT4_JOURNAL_DEVICE,
                Some("find the device: dumpe2fs -h DEVICE, as root"),
            );
            (
                EvidenceImpact::Unproven,
                format!("the journal of {name} is on another, unknown device"),
            )
        }
        Some(false) if has_unloaded_journal(ask, hop) => (
            EvidenceImpact::AtRisk(VerdictRemedy::load_journal(hop)),
            format!(
                "{name} ({fstype}) is mounted with norecovery, so its journal is not in use and a \
                 power failure can lose whole directories, including flushed data"
            ),
        ),
        Some(false) => (
            EvidenceImpact::AtRisk(match fstype.as_str() {
                "ext2" => VerdictRemedy::new(format!(
                    "Move the data from {name} to a file system with a journal."
                )),
                _ => VerdictRemedy::add_journal(hop),
            }),
            format!(
                "{name} ({fstype}) has no journal, so a power failure can lose whole directories, including flushed data"
            ),
        ),
        None => (
            EvidenceImpact::Unproven,
            format!("it is unknown whether {name} ({fstype}) has a journal"),
        ),
    };
    Some((
        FlushOutcome::Sent,
        kernel_evidence(ask, hop, &mount::EXT4_JOURNAL, bears, says),
    ))
}

/// Whether the file system has a journal that this mount does not load. Mount option and superblock
/// decide, because the kernel shows such a mount as one without a journal.
fn has_unloaded_journal(ask: &mut FactReader, hop: &Subject) -> bool {
    let is_named =
        |options: Option<Vec<String>>| options.is_some_and(|options| is_journal_ignored(&options));
    let is_skipped = is_named(ask.read_and_record_use(hop, &mount::SUPER_OPTIONS))
        || is_named(ask.read_and_record_use(hop, &mount::EXT4_OPTIONS));
    let lacks = |features: Vec<String>| features.iter().all(|feature| feature != "has_journal");
    is_skipped
        && !ask
            .read_and_record_use(hop, &mount::EXT4_FEATURES)
            .is_some_and(lacks)
}

fn unfound_log_or_realtime_device_finding(
    ask: &mut FactReader,
    hop: &Subject,
) -> Option<HopFinding> {
    let key = &mount::EXTRA_DEVICES;
    if !is_unknown_because(ask, hop, key, UnknownReason::Ambiguous) {
        return None;
    }
    ask.record_missing_fact(hop, key, None);
    let says = format!(
        "{} has a log or real-time device that was not found",
        hop.name()
    );
    Some(unproven_finding(ask, hop, key, says))
}

fn overlay_finding(ask: &mut FactReader, hop: &Subject) -> HopFinding {
    use EvidenceImpact::{AtRisk, Durable, Unproven};
    let name = hop.name();
    let options = ask.read_or_record_missing(hop, &mount::SUPER_OPTIONS);
    let volatile = options.map(|all| all.iter().any(|o| o == "volatile" || o == "fsync=volatile"));
    let (passage, bears, says) = match volatile {
        Some(true) => (
            FlushOutcome::Dropped(FlushSuppressor::FileSystem),
            AtRisk(VerdictRemedy::new(format!(
                "Mount the overlay {name} without volatile, or keep the data on a separate volume."
            ))),
            format!("{name} is an overlay mounted with volatile, so nothing is flushed"),
        ),
        Some(false) => (
            FlushOutcome::Sent,
            Durable,
            format!("{name} is an overlay, which passes flushes to its upper layer"),
        ),
        None => (
            FlushOutcome::Unknown,
            Unproven,
            format!("it is unknown whether the overlay at {name} passes flushes on"),
        ),
    };
    (
        passage,
        kernel_evidence(ask, hop, &mount::SUPER_OPTIONS, bears, says),
    )
}

fn zfs_flush_finding(ask: &mut FactReader, hop: &Subject, bottom: StackCaches) -> HopFinding {
    use EvidenceImpact::{AtRisk, Durable, Unproven};
    let name = hop.name();
    let host = Subject::host();
    let sync = ask.read_and_record_use(hop, &mount::ZFS_SYNC);
    if sync.is_none() {
        ask.record_missing_fact(
            hop,
            &mount::ZFS_SYNC,
            Some("read the property: zfs get -Hp -o value sync DATASET"),
        );
    }
    let (passage, bears, says) = match (
        sync,
        ask.read_or_record_missing(&host, &kernel::ZFS_NO_FLUSH),
    ) {
        (Some(ZfsSync::Disabled), _) => (
            FlushOutcome::Dropped(FlushSuppressor::FileSystem),
            AtRisk(VerdictRemedy::new(format!(
                "Set sync=standard for the dataset at {name}."
            ))),
            format!("{name} is ZFS with sync=disabled, which ignores flushes"),
        ),
        (Some(ZfsSync::Standard | ZfsSync::Always) | None, Some(true)) => {
            let off = format!(
                "{name} is ZFS with cache flushes disabled (zfs_nocacheflush or zil_nocacheflush)"
            );
            let (mut bears, mut says) = impact_of_omitted_flush(
                bottom,
                &off,
                VerdictRemedy::new(
                    "Set zfs_nocacheflush and zil_nocacheflush of the ZFS module to 0.".to_owned(),
                ),
            );
            if sync.is_none() && bears.is_durable() {
                bears = Unproven;
                says += "; it is unknown whether commits wait for their writes (the sync property)";
            }
            let hop = (
                FlushOutcome::Dropped(FlushSuppressor::FileSystem),
                kernel_evidence(ask, &host, &kernel::ZFS_NO_FLUSH, bears, says),
            );
            return hop;
        }
        (None, Some(false) | None) => (
            FlushOutcome::Unknown,
            Unproven,
            format!("it is unknown whether ZFS at {name} honours flushes (the sync property)"),
        ),
        (Some(ZfsSync::Standard | ZfsSync::Always), None) => (
            FlushOutcome::Unknown,
            Unproven,
            format!("{name} is ZFS, and it is unknown whether its cache flushes are disabled"),
        ),
        (Some(ZfsSync::Standard | ZfsSync::Always), Some(false))
            if ask.facts.layers_directly_below(hop).is_empty() =>
        {
            (
                FlushOutcome::Unknown,
                Unproven,
                format!(
                    "{name} is ZFS; it honours flushes, but the caches of its pool's disks are unknown"
                ),
            )
        }
        (Some(sync @ (ZfsSync::Standard | ZfsSync::Always)), Some(false)) => {
            let log = match ask.read_and_record_use(hop, &mount::ZFS_LOGBIAS) {
                Some(Logbias::Throughput) => {
                    " (logbias=throughput: commits go to the pool, not to its separate log)"
                }
                Some(Logbias::Latency) | None => "",
            };
            (
                FlushOutcome::Sent,
                Durable,
                format!("{name} is ZFS and sends flushes (sync={sync}){log}"),
            )
        }
    };
    (
        passage,
        kernel_evidence(ask, hop, &mount::ZFS_SYNC, bears, says),
    )
}

/// Evidence against every target within a container, because the mount table of a container lacks
/// mounts of its host. `None` outside of containers.
pub fn container_evidence(ask: &mut FactReader) -> Option<Evidence> {
    let of_host = Subject::host();
    let says = match ask.read_or_record_missing(&of_host, &host::CONTAINER) {
        Some(engine) if engine == "none" => return None,
        Some(_) => "the host's mounts and settings are not visible from this container",
        None => "it is unknown whether walwise runs in a container",
    };
    Some(kernel_evidence(
        ask,
        &of_host,
        &host::CONTAINER,
        EvidenceImpact::Unproven,
        says.to_owned(),
    ))
}

/// Evidence about flags of the target's directory that change how writes to new files behave,
/// because new files inherit the flags (chattr(1)).
pub fn directory_flags_evidence(ask: &mut FactReader, target: &Subject) -> Vec<Evidence> {
    let mut found = Vec::new();
    for flag in ask
        .read_and_record_use(target, &target::FLAGS)
        .unwrap_or_default()
    {
        let what = match flag {
            InodeFlag::Sync => "every write to new files in it waits for the disk (chattr +S)",
            InodeFlag::JournalData => "new files in it have the data-journalling flag (chattr +j)",
            InodeFlag::Nocow => {
                "new files in it are overwritten in place, without checksums (chattr +C)"
            }
        };
        let says = format!("{}: {what}", target.name());
        found.push(kernel_evidence(
            ask,
            target,
            &target::FLAGS,
            EvidenceImpact::Durable,
            says,
        ));
    }
    found
}
