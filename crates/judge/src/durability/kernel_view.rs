//! The kernel's view: whether each hop above the disks passes a flush on.
//!
//! A queue in *write through* mode drops flushes (Documentation/ABI/stable/sysfs-block,
//! queue/write_cache). A hop with state of its own needs flushes even if no disk below does.

mod file_system;
mod queue;

pub use file_system::{container_evidence, directory_flags_evidence, file_system_findings};
pub use queue::stacked_device_findings;

use super::device_view::{CacheVolatility, FlushOutcome};
use super::fact_reader::FactReader;
use super::{Evidence, EvidenceImpact, EvidenceLayer, VerdictRemedy};
use crate::facts::catalog::device::{
    self, ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind, MappingHealth,
};
use crate::facts::catalog::mount::{self, VdevState};
use crate::facts::catalog::target::FlushSuppressor;
use crate::facts::{FactSet, Key, Scope, Subject, UnknownReason};
use crate::ternary::Ternary;
use EvidenceImpact::{AtRisk, Durable, Unproven};

#[derive(Clone, Copy, Debug)]
pub struct StackCaches {
    pub cache: CacheVolatility,
    pub write_back: Ternary,
    /// Whether no device on the path holds data that only a flush writes out.
    pub is_stateless: Ternary,
}

pub type HopFinding = (FlushOutcome, Evidence);

/// The outcome of a flush at a hop, the effect on the verdict, and the reason as a clause.
type FlushClause = (FlushOutcome, EvidenceImpact, String);

fn sent(text: String) -> FlushClause {
    (FlushOutcome::Sent, Durable, text)
}

fn unproven(text: String) -> FlushClause {
    (FlushOutcome::Unknown, Unproven, text)
}

fn dropped_by_file_system(remedy: VerdictRemedy, text: String) -> FlushClause {
    let outcome = FlushOutcome::Dropped(FlushSuppressor::FileSystem);
    (outcome, AtRisk(remedy), text)
}

fn failed(remedy: VerdictRemedy, text: String) -> FlushClause {
    (FlushOutcome::Unknown, AtRisk(remedy), text)
}

impl FactReader<'_> {
    fn finding<T>(self, key: &Key<T>, (outcome, impact, text): FlushClause) -> HopFinding {
        let evidence = self.evidence(EvidenceLayer::Kernel, key, impact, text);
        (outcome, evidence)
    }

    fn unproven_finding<T>(self, key: &Key<T>, text: String) -> HopFinding {
        self.finding(key, unproven(text))
    }
}

// State of an md array: whether the array runs, and whether a power failure can damage data at
// rest.
//
// A degraded RAID 4, 5 or 6 computes missing data from parity. Without a journal or partial parity
// log, a power failure can leave the parity wrong (md(4); *cannot start dirty degraded array* in
// raid5.c).

fn array_findings(hop: FactReader) -> Vec<HopFinding> {
    let level = hop.require(&device::MD_LEVEL);
    let mut found = Vec::from_iter(inoperative_array_finding(hop));
    let Some(level) = level else {
        let text = format!(
            "the RAID level of {} is unknown, so a write hole cannot be ruled out",
            hop.name()
        );
        let clause = (FlushOutcome::Sent, Unproven, text);
        found.push(hop.finding(&device::MD_LEVEL, clause));
        return found;
    };
    found.extend(unassessed_member_finding(hop, level));
    found.extend(finding_by_array_level(hop, level));
    found
}

/// A stopped array acknowledges nothing, so its data is unproven, not at risk. A failed array has
/// lost acknowledged data.
fn inoperative_array_finding(hop: FactReader) -> Option<HopFinding> {
    let name = hop.name();
    let clause = match hop.read(&device::MD_STATE)? {
        ArrayState::Broken => failed(
            VerdictRemedy::restore_array(name),
            format!("{name} has failed (broken): members are missing"),
        ),
        state @ (ArrayState::Clear | ArrayState::Inactive) => unproven(format!(
            "{name} is not running ({state}), so its data is unreachable"
        )),
        ArrayState::Suspended
        | ArrayState::ReadOnly
        | ArrayState::ReadAuto
        | ArrayState::Clean
        | ArrayState::Active
        | ArrayState::WritePending
        | ArrayState::ActiveIdle => return None,
    };
    Some(hop.finding(&device::MD_STATE, clause))
}

fn unassessed_member_finding(hop: FactReader, level: ArrayLevel) -> Option<HopFinding> {
    if level.is_container() {
        return None;
    }
    let name = hop.name();
    let text = match hop.require(&device::MD_MEMBERS) {
        None => format!("the members of {name} are unknown"),
        Some(members) => {
            let failed = hop.read(&device::MD_FAILED).unwrap_or_default();
            let below = hop.layers_directly_below();
            let names = members.iter().filter_map(|member| member.split(' ').next());
            let mut unseen = names.filter(|member| {
                !failed.iter().any(|failed| failed == member)
                    && !below.contains(&Subject::device(*member))
            });
            let member = unseen.next()?;
            format!("{member} is a member of {name}, but was not found among the devices below it")
        }
    };
    Some(hop.unproven_finding(&device::MD_MEMBERS, text))
}

fn finding_by_array_level(hop: FactReader, level: ArrayLevel) -> Option<HopFinding> {
    match level {
        ArrayLevel::Raid1 | ArrayLevel::Raid10 => array_failure_finding(hop, level),
        ArrayLevel::Raid4 | ArrayLevel::Raid5 | ArrayLevel::Raid6 => {
            array_failure_finding(hop, level).or_else(|| write_hole_finding(hop, level))
        }
        ArrayLevel::Linear | ArrayLevel::Raid0 => None,
        ArrayLevel::Multipath | ArrayLevel::Faulty | ArrayLevel::Container => {
            let level = level.display_name();
            let text = format!("walwise cannot evaluate {} ({level})", hop.name());
            Some(hop.unproven_finding(&device::MD_LEVEL, text))
        }
    }
}

/// RAID 10 counts as failed only if every member is missing, because the layout of the copies is
/// unknown.
fn array_failure_finding(hop: FactReader, level: ArrayLevel) -> Option<HopFinding> {
    let missing = hop.read(&device::MD_DEGRADED)?;
    let members = hop.read(&device::MD_DISKS)?;
    let bearable = if level.may_tolerate_more_losses() {
        members.saturating_sub(1)
    } else {
        level.tolerated_losses(members)?
    };
    let text = format!(
        "{} ({}) has failed: it lacks {missing} of its {members} members",
        hop.name(),
        level.display_name()
    );
    let clause = failed(VerdictRemedy::restore_array(hop.name()), text);
    (missing > bearable).then(|| hop.finding(&device::MD_DEGRADED, clause))
}

fn write_hole_finding(hop: FactReader, level: ArrayLevel) -> Option<HopFinding> {
    let (name, level) = (hop.name(), level.display_name());
    let policy = hop.read(&device::MD_CONSISTENCY);
    let open = policy.and_then(ConsistencyPolicy::has_write_hole);
    let missing = hop.read(&device::MD_DEGRADED);
    let (impact, text) = match (open, missing) {
        (Some(false), _) | (_, Some(0)) => return None,
        (Some(true), Some(missing)) => (
            AtRisk(VerdictRemedy::rebuild_array(name)),
            format!(
                "{name} ({level}) is degraded ({missing} missing) with an open write hole: a power failure can damage data at rest"
            ),
        ),
        (Some(true), None) => {
            hop.record_missing(&device::MD_DEGRADED, None);
            (
                Unproven,
                format!(
                    "{name} ({level}) has a write hole, and it is unknown whether a member is missing"
                ),
            )
        }
        (None, _) => {
            hop.record_missing(&device::MD_CONSISTENCY, None);
            (
                Unproven,
                format!("{name} ({level}) may be degraded, and its consistency policy is unknown"),
            )
        }
    };
    Some(hop.finding(&device::MD_CONSISTENCY, (FlushOutcome::Sent, impact, text)))
}

// State of a ZFS pool: failure, damaged data, and unknown devices (zpool-status(8),
// zpoolconcepts(7)). The module `redundancy` judges whether data is stored in copies.

fn zfs_pool_findings(hop: FactReader) -> Vec<HopFinding> {
    let name = hop.name();
    let mut found = Vec::new();
    match hop.read(&mount::ZFS_POOL_STATE) {
        Some(VdevState::Online | VdevState::Degraded) => {}
        Some(state @ (VdevState::Faulted | VdevState::Unavailable)) => {
            let clause = failed(
                VerdictRemedy::restore_array(name),
                format!("the ZFS pool of {name} has failed ({state})"),
            );
            found.push(hop.finding(&mount::ZFS_POOL_STATE, clause));
        }
        Some(state @ (VdevState::Offline | VdevState::Removed | VdevState::Suspended)) => {
            let text = format!("the ZFS pool of {name} refuses writes ({state})");
            found.push(hop.unproven_finding(&mount::ZFS_POOL_STATE, text));
        }
        None => found.extend(unknown_pool_fact_finding(
            hop,
            &mount::ZFS_POOL_STATE,
            "which state its pool is in",
        )),
    }
    match hop.read(&mount::ZFS_DAMAGED) {
        Some(false) => {}
        Some(true) => {
            let remedy = VerdictRemedy::new(format!(
                "Restore the files that `zpool status -v` lists for the pool of {name}, then run `zpool scrub POOL`."
            ));
            let text = format!("the ZFS pool of {name} holds permanently damaged data");
            found.push(hop.finding(&mount::ZFS_DAMAGED, failed(remedy, text)));
        }
        // A capture of an earlier walwise version lacks this fact. That is no evidence of
        // damage.
        None if hop.is_unknown_because(&mount::ZFS_DAMAGED, UnknownReason::NotCollected) => {}
        None => found.extend(unknown_pool_fact_finding(
            hop,
            &mount::ZFS_DAMAGED,
            "whether its data is damaged",
        )),
    }
    if hop.read(&mount::ZFS_DEVICES).is_none() {
        found.extend(unknown_pool_fact_finding(
            hop,
            &mount::ZFS_DEVICES,
            "which devices its pool uses",
        ));
    }
    found
}

/// The finding about an unknown fact of a pool. `None` if the zpool command is missing, because
/// then nothing about the pool can be read.
fn unknown_pool_fact_finding<T>(hop: FactReader, key: &Key<T>, what: &str) -> Option<HopFinding> {
    if hop.is_unknown_because(key, UnknownReason::Absent) {
        return None;
    }
    hop.record_missing(key, None);
    let text = format!("{} is on ZFS, and it is unknown {what}", hop.name());
    Some(hop.unproven_finding(key, text))
}

// State of a device-mapper device, from the status of its targets (root only).
//
// A failed target lost acknowledged data. A target that refuses writes acknowledges nothing,
// so older data is merely unproven.

fn mapping_fault_finding(hop: FactReader, kind: DeviceKind) -> Option<HopFinding> {
    if !can_have_failing_targets(hop, kind) {
        return None;
    }
    let name = hop.name();
    let key = &device::DM_STATE;
    let Some(state) = hop.read(key) else {
        // The fact is absent if dmsetup is not installed. That is no evidence of a fault.
        if hop.is_unknown_because(key, UnknownReason::Absent) {
            return None;
        }
        hop.record_missing(key, None);
        let text = format!("it is unknown whether the device-mapper targets of {name} work");
        return Some(hop.unproven_finding(&device::KIND, text));
    };
    let clause = match state {
        MappingHealth::Fine
        | MappingHealth::Degraded
        | MappingHealth::Resyncing
        | MappingHealth::Rebuilding => {
            return None;
        }
        MappingHealth::WriteHole => (
            FlushOutcome::Sent,
            AtRisk(VerdictRemedy::rebuild_array(name)),
            format!(
                "{name} is degraded with an open write hole: a power failure can damage data at rest"
            ),
        ),
        MappingHealth::Full => unproven(format!("{name} is full, so writes wait or fail")),
        MappingHealth::ReadOnly => unproven(format!("{name} refuses writes (read-only)")),
        MappingHealth::NeedsCheck => unproven(format!(
            "{name} refuses writes until its metadata is checked"
        )),
        MappingHealth::NoPath => unproven(format!("{name} has no working path")),
        MappingHealth::Error => unproven(format!(
            "{name} reports an error, so its data may be damaged"
        )),
        MappingHealth::Lost => failed(
            VerdictRemedy::repair_mapping(name),
            format!("the snapshot {name} is invalid: its data is lost"),
        ),
        MappingHealth::Failed => failed(
            VerdictRemedy::repair_mapping(name),
            format!("{name} has failed: its data cannot be read"),
        ),
    };
    Some(hop.finding(key, clause))
}

// Whether a device between file system and disks holds data or a mapping that only a flush writes
// out. Such a device needs flushes even if no disk below does.
//
// Only root can read the targets of a mapping. An LVM volume with unread targets and no other
// mapping below is linear or striped.

/// Whether a device-mapper target holds no data that only a flush writes out; `None` for a target
/// that walwise does not know.
///
/// Targets with state request flushes themselves (`flush_supported` in drivers/md). The others pass
/// flushes on (`num_flush_bios`), but whether they have state is partly unknown.
fn is_dm_target_stateless(target: &str) -> Option<Ternary> {
    Some(match target {
        "linear" | "striped" | "crypt" | "multipath" | "mirror" => Ternary::True,
        "thin" | "thin-pool" | "cache" | "writecache" | "era" | "clone" | "vdo" | "integrity" => {
            Ternary::False
        }
        "raid" | "snapshot" | "snapshot-origin" | "snapshot-merge" | "unstriped" | "switch"
        | "ebs" | "zoned" => Ternary::Unknown,
        _ => return None,
    })
}

/// Whether no target of a mapping has state; unknown if walwise does not know one of them. `None`
/// if the targets could not be read.
fn are_dm_targets_stateless(facts: &FactSet, hop: &Subject) -> Option<Ternary> {
    let targets = facts.value(hop, &device::DM_TARGETS)?;
    let known: Option<Vec<Ternary>> = targets
        .iter()
        .map(|target| is_dm_target_stateless(target))
        .collect();
    Some(known.map_or(Ternary::Unknown, Ternary::all))
}

/// The first target that walwise does not know; `"none"` for a mapping without targets.
fn find_unknown_dm_target(targets: &[String]) -> Option<&str> {
    if targets.is_empty() {
        return Some("none");
    }
    let mut names = targets.iter().map(String::as_str);
    names.find(|target| is_dm_target_stateless(target).is_none())
}

fn may_have_mapping_below(facts: &FactSet, hop: &Subject) -> bool {
    facts.layers_directly_below(hop).iter().any(|base| {
        facts
            .value(base, &device::KIND)
            .is_none_or(DeviceKind::can_have_any_dm_target)
    })
}

/// Whether a target of the device can fail. False for an LVM volume with unread targets and no other
/// mapping below, because it is linear or striped.
fn can_have_failing_targets(hop: FactReader, kind: DeviceKind) -> bool {
    let is_unread = || {
        [UnknownReason::Denied, UnknownReason::NotCollected]
            .into_iter()
            .any(|why| hop.is_unknown_because(&device::DM_TARGETS, why))
    };
    match kind {
        DeviceKind::Lvm => !is_unread() || may_have_mapping_below(hop.facts, hop.subject),
        DeviceKind::Multipath | DeviceKind::Dmraid | DeviceKind::Vdo | DeviceKind::Dm => true,
        DeviceKind::Disk
        | DeviceKind::Partition
        | DeviceKind::Md
        | DeviceKind::Crypt
        | DeviceKind::Bcache
        | DeviceKind::Drbd
        | DeviceKind::Zvol
        | DeviceKind::Loop
        | DeviceKind::Zram
        | DeviceKind::Ram
        | DeviceKind::Other => false,
    }
}

pub fn holds_no_unflushed_data(facts: &FactSet, hop: &Subject) -> Ternary {
    match facts.value(hop, &device::KIND) {
        Some(
            DeviceKind::Disk | DeviceKind::Partition | DeviceKind::Crypt | DeviceKind::Multipath,
        ) => Ternary::True,
        Some(DeviceKind::Lvm) => are_dm_targets_stateless(facts, hop).unwrap_or_else(|| {
            if may_have_mapping_below(facts, hop) {
                Ternary::Unknown
            } else {
                Ternary::True
            }
        }),
        Some(DeviceKind::Dm | DeviceKind::Dmraid | DeviceKind::Vdo) => {
            are_dm_targets_stateless(facts, hop).unwrap_or(Ternary::Unknown)
        }
        Some(DeviceKind::Md) => match facts.value(hop, &device::MD_LEVEL) {
            Some(
                ArrayLevel::Linear | ArrayLevel::Raid0 | ArrayLevel::Raid1 | ArrayLevel::Raid10,
            ) => Ternary::True,
            Some(
                ArrayLevel::Raid4
                | ArrayLevel::Raid5
                | ArrayLevel::Raid6
                | ArrayLevel::Multipath
                | ArrayLevel::Faulty
                | ArrayLevel::Container,
            )
            | None => Ternary::Unknown,
        },
        // Not stateless: devices of these kinds keep data in memory, in a file, or in a cache or
        // log of their own.
        Some(
            DeviceKind::Loop
            | DeviceKind::Zram
            | DeviceKind::Ram
            | DeviceKind::Bcache
            | DeviceKind::Drbd
            | DeviceKind::Zvol,
        ) => Ternary::False,
        Some(DeviceKind::Other) | None if hop.scope() != Scope::Device => Ternary::False,
        Some(DeviceKind::Other) | None => Ternary::Unknown,
    }
}
