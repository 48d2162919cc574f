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
use super::{Evidence, EvidenceImpact, EvidenceLayer};
use crate::durability::VerdictRemedy;
use crate::facts::catalog::device::{
    self, ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind, MappingHealth,
};
use crate::facts::catalog::mount::{self, VdevState};
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, Subject, UnknownReason};
use crate::ternary::Ternary;

#[derive(Clone, Copy, Debug)]
pub struct StackCaches {
    pub cache: CacheVolatility,
    pub write_back: Ternary,
    /// Whether no device on the path holds data that only a flush writes out.
    pub is_stateless: Ternary,
}

pub type HopFinding = (FlushOutcome, Evidence);

fn kernel_evidence<T>(
    ask: &FactReader,
    hop: &Subject,
    from: &Key<T>,
    bears: EvidenceImpact,
    says: String,
) -> Evidence {
    let source = ask.source_text(hop, from);
    Evidence::new(EvidenceLayer::Kernel, hop, bears, says, source)
}

fn unproven_finding<T>(ask: &FactReader, hop: &Subject, from: &Key<T>, says: String) -> HopFinding {
    let evidence = kernel_evidence(ask, hop, from, EvidenceImpact::Unproven, says);
    (FlushOutcome::Unknown, evidence)
}

// State of an md array: whether the array runs, and whether a power failure can damage data at
// rest.
//
// A degraded RAID 4, 5 or 6 computes missing data from parity. Without a journal or partial parity
// log, a power failure can leave the parity wrong (md(4); *cannot start dirty degraded array* in
// raid5.c).

fn array_findings(ask: &mut FactReader, hop: &Subject) -> Vec<HopFinding> {
    let level = ask.read_or_record_missing(hop, &device::MD_LEVEL);
    let state = inoperative_array_finding(ask, hop)
        .into_iter()
        .chain(level.and_then(|level| unassessed_member_finding(ask, hop, level)));
    let more = match level {
        Some(level) => finding_by_array_level(ask, hop, level),
        None => Some(unknown_array_level_finding(ask, hop)),
    };
    state.chain(more).collect()
}

fn unknown_array_level_finding(ask: &FactReader, hop: &Subject) -> HopFinding {
    let says = format!(
        "the RAID level of {} is unknown, so a write hole cannot be ruled out",
        hop.name()
    );
    (
        FlushOutcome::Sent,
        kernel_evidence(ask, hop, &device::MD_LEVEL, EvidenceImpact::Unproven, says),
    )
}

/// A stopped array acknowledges nothing, so its data is unproven, not at risk. A failed array has
/// lost acknowledged data.
fn inoperative_array_finding(ask: &mut FactReader, hop: &Subject) -> Option<HopFinding> {
    let name = hop.name();
    let (bears, says) = match ask.read_and_record_use(hop, &device::MD_STATE)? {
        ArrayState::Broken => (
            EvidenceImpact::AtRisk(VerdictRemedy::restore_array(hop)),
            format!("{name} has failed (broken): members are missing"),
        ),
        state @ (ArrayState::Clear | ArrayState::Inactive) => (
            EvidenceImpact::Unproven,
            format!("{name} is not running ({state}), so its data is unreachable"),
        ),
        ArrayState::Suspended
        | ArrayState::ReadOnly
        | ArrayState::ReadAuto
        | ArrayState::Clean
        | ArrayState::Active
        | ArrayState::WritePending
        | ArrayState::ActiveIdle => return None,
    };
    Some((
        FlushOutcome::Unknown,
        kernel_evidence(ask, hop, &device::MD_STATE, bears, says),
    ))
}

fn unassessed_member_finding(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    if level.is_container() {
        return None;
    }
    let name = hop.name();
    let says = match ask.read_or_record_missing(hop, &device::MD_MEMBERS) {
        None => format!("the members of {name} are unknown"),
        Some(members) => {
            let failed = ask
                .read_and_record_use(hop, &device::MD_FAILED)
                .unwrap_or_default();
            let below = ask.facts.layers_directly_below(hop);
            let names = members.iter().filter_map(|member| member.split(' ').next());
            let mut unseen = names.filter(|member| {
                !failed.iter().any(|failed| failed == member)
                    && !below.contains(&Subject::device(*member))
            });
            let member = unseen.next()?;
            format!("{member} is a member of {name}, but was not found among the devices below it")
        }
    };
    Some(unproven_finding(ask, hop, &device::MD_MEMBERS, says))
}

fn finding_by_array_level(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    match level {
        ArrayLevel::Raid1 | ArrayLevel::Raid10 => array_failure_finding(ask, hop, level),
        ArrayLevel::Raid4 | ArrayLevel::Raid5 | ArrayLevel::Raid6 => {
            array_failure_finding(ask, hop, level).or_else(|| write_hole_finding(ask, hop, level))
        }
        ArrayLevel::Linear | ArrayLevel::Raid0 => None,
        ArrayLevel::Multipath | ArrayLevel::Faulty | ArrayLevel::Container => {
            let says = format!(
                "walwise cannot evaluate {} ({})",
                hop.name(),
                level.display_name()
            );
            Some(unproven_finding(ask, hop, &device::MD_LEVEL, says))
        }
    }
}

/// RAID 10 counts as failed only if every member is missing, because the layout of the copies is
/// unknown.
fn array_failure_finding(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    let missing = ask.read_and_record_use(hop, &device::MD_DEGRADED)?;
    let members = ask.read_and_record_use(hop, &device::MD_DISKS)?;
    let bearable = if level.may_tolerate_more_losses() {
        members.saturating_sub(1)
    } else {
        level.tolerated_losses(members)?
    };
    let says = format!(
        "{} ({}) has failed: it lacks {missing} of its {members} members",
        hop.name(),
        level.display_name()
    );
    let bears = EvidenceImpact::AtRisk(VerdictRemedy::restore_array(hop));
    let hop = (
        FlushOutcome::Unknown,
        kernel_evidence(ask, hop, &device::MD_DEGRADED, bears, says),
    );
    (missing > bearable).then_some(hop)
}

fn write_hole_finding(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    let (name, level) = (hop.name(), level.display_name());
    let policy = ask.read_and_record_use(hop, &device::MD_CONSISTENCY);
    let open = policy.and_then(ConsistencyPolicy::has_write_hole);
    let missing = ask.read_and_record_use(hop, &device::MD_DEGRADED);
    let (bears, says) = match (open, missing) {
        (Some(false), _) | (_, Some(0)) => return None,
        (Some(true), Some(missing)) => (
            EvidenceImpact::AtRisk(VerdictRemedy::rebuild_array(hop)),
            format!(
                "{name} ({level}) is degraded ({missing} missing) with an open write hole: a power failure can damage data at rest"
            ),
        ),
        (Some(true), None) => {
            ask.record_missing_fact(hop, &device::MD_DEGRADED, None);
            (
                EvidenceImpact::Unproven,
                format!(
                    "{name} ({level}) has a write hole, and it is unknown whether a member is missing"
                ),
            )
        }
        (None, _) => {
            ask.record_missing_fact(hop, &device::MD_CONSISTENCY, None);
            (
                EvidenceImpact::Unproven,
                format!("{name} ({level}) may be degraded, and its consistency policy is unknown"),
            )
        }
    };
    Some((
        FlushOutcome::Sent,
        kernel_evidence(ask, hop, &device::MD_CONSISTENCY, bears, says),
    ))
}

// State of a ZFS pool: failure, damaged data, and unknown devices (zpool-status(8),
// zpoolconcepts(7)). The module `redundancy` judges whether data is stored in copies.

fn zfs_pool_findings(ask: &mut FactReader, hop: &Subject) -> Vec<HopFinding> {
    let name = hop.name();
    let mut found = Vec::new();
    match ask.read_and_record_use(hop, &mount::ZFS_POOL_STATE) {
        Some(VdevState::Online | VdevState::Degraded) => {}
        Some(state @ (VdevState::Faulted | VdevState::Unavailable)) => {
            let says = format!("the ZFS pool of {name} has failed ({state})");
            let bears = EvidenceImpact::AtRisk(VerdictRemedy::restore_array(hop));
            found.push((
                FlushOutcome::Unknown,
                kernel_evidence(ask, hop, &mount::ZFS_POOL_STATE, bears, says),
            ));
        }
        Some(state @ (VdevState::Offline | VdevState::Removed | VdevState::Suspended)) => {
            let says = format!("the ZFS pool of {name} refuses writes ({state})");
            found.push(unproven_finding(ask, hop, &mount::ZFS_POOL_STATE, says));
        }
        None => found.extend(unknown_pool_fact_finding(
            ask,
            hop,
            &mount::ZFS_POOL_STATE,
            "which state its pool is in",
        )),
    }
    match ask.read_and_record_use(hop, &mount::ZFS_DAMAGED) {
        Some(false) => {}
        Some(true) => {
            let says = format!("the ZFS pool of {name} holds permanently damaged data");
            let bears = EvidenceImpact::AtRisk(VerdictRemedy::new(format!(
                "Restore the files that `zpool status -v` lists for the pool of {name}, then run `zpool scrub POOL`."
            )));
            found.push((
                FlushOutcome::Unknown,
                kernel_evidence(ask, hop, &mount::ZFS_DAMAGED, bears, says),
            ));
        }
        // A capture of an earlier walwise version lacks this fact. That is no evidence of
        // damage.
        None if is_unknown_because(ask, hop, &mount::ZFS_DAMAGED, UnknownReason::NotCollected) => {}
        None => found.extend(unknown_pool_fact_finding(
            ask,
            hop,
            &mount::ZFS_DAMAGED,
            "whether its data is damaged",
        )),
    }
    if ask.read_and_record_use(hop, &mount::ZFS_DEVICES).is_none() {
        found.extend(unknown_pool_fact_finding(
            ask,
            hop,
            &mount::ZFS_DEVICES,
            "which devices its pool uses",
        ));
    }
    found
}

fn is_unknown_because<T>(
    ask: &FactReader,
    hop: &Subject,
    key: &Key<T>,
    reason: UnknownReason,
) -> bool {
    matches!(ask.facts.reading(hop, key.id()), Reading::Unknown { why, .. } if *why == reason)
}

/// `None` if the zpool command is missing, because then nothing about the pool can be read.
fn unknown_pool_fact_finding<T: FactValue>(
    ask: &mut FactReader,
    hop: &Subject,
    key: &Key<T>,
    what: &str,
) -> Option<HopFinding> {
    if is_unknown_because(ask, hop, key, UnknownReason::Absent) {
        return None;
    }
    ask.record_missing_fact(hop, key, None);
    let says = format!("{} is on ZFS, and it is unknown {what}", hop.name());
    Some(unproven_finding(ask, hop, key, says))
}

// State of a device-mapper device, from the status of its targets (root only).
//
// A failed target lost acknowledged data. A target that refuses writes acknowledges nothing,
// so older data is merely unproven.

fn mapping_fault_finding(
    ask: &mut FactReader,
    hop: &Subject,
    kind: DeviceKind,
) -> Option<HopFinding> {
    if !can_have_failing_targets(ask.facts, hop, kind) {
        return None;
    }
    let name = hop.name();
    let Some(state) = ask.read_and_record_use(hop, &device::DM_STATE) else {
        // The fact is absent if dmsetup is not installed. That is no evidence of a fault.
        if is_unknown_because(ask, hop, &device::DM_STATE, UnknownReason::Absent) {
            return None;
        }
        ask.record_missing_fact(hop, &device::DM_STATE, None);
        let says = format!("it is unknown whether the device-mapper targets of {name} work");
        return Some(unproven_finding(ask, hop, &device::KIND, says));
    };
    let (passage, bears, says) = match state {
        MappingHealth::Fine
        | MappingHealth::Degraded
        | MappingHealth::Resyncing
        | MappingHealth::Rebuilding => {
            return None;
        }
        MappingHealth::WriteHole => (
            FlushOutcome::Sent,
            EvidenceImpact::AtRisk(VerdictRemedy::rebuild_array(hop)),
            format!(
                "{name} is degraded with an open write hole: a power failure can damage data at rest"
            ),
        ),
        MappingHealth::Full => {
            unproven_flush_outcome(format!("{name} is full, so writes wait or fail"))
        }
        MappingHealth::ReadOnly => {
            unproven_flush_outcome(format!("{name} refuses writes (read-only)"))
        }
        MappingHealth::NeedsCheck => unproven_flush_outcome(format!(
            "{name} refuses writes until its metadata is checked"
        )),
        MappingHealth::NoPath => unproven_flush_outcome(format!("{name} has no working path")),
        MappingHealth::Error => unproven_flush_outcome(format!(
            "{name} reports an error, so its data may be damaged"
        )),
        MappingHealth::Lost => (
            FlushOutcome::Unknown,
            EvidenceImpact::AtRisk(VerdictRemedy::repair_mapping(hop)),
            format!("the snapshot {name} is invalid: its data is lost"),
        ),
        MappingHealth::Failed => (
            FlushOutcome::Unknown,
            EvidenceImpact::AtRisk(VerdictRemedy::repair_mapping(hop)),
            format!("{name} has failed: its data cannot be read"),
        ),
    };
    Some((
        passage,
        kernel_evidence(ask, hop, &device::DM_STATE, bears, says),
    ))
}

fn unproven_flush_outcome(says: String) -> (FlushOutcome, EvidenceImpact, String) {
    (FlushOutcome::Unknown, EvidenceImpact::Unproven, says)
}

// Whether a device between file system and disks holds data or a mapping that only a flush writes
// out. Such a device needs flushes even if no disk below does.
//
// Only root can read the targets of a mapping. An LVM volume with unread targets and no other
// mapping below is linear or striped.

/// Whether each target holds no data that only a flush writes out. Targets with state request
/// flushes themselves (`flush_supported` in drivers/md). The others pass flushes on
/// (`num_flush_bios`), but whether they have state is partly unknown.
const DM_TARGETS: [(&str, Ternary); 21] = [
    ("linear", Ternary::True),
    ("striped", Ternary::True),
    ("crypt", Ternary::True),
    ("multipath", Ternary::True),
    ("mirror", Ternary::True),
    ("thin", Ternary::False),
    ("thin-pool", Ternary::False),
    ("cache", Ternary::False),
    ("writecache", Ternary::False),
    ("era", Ternary::False),
    ("clone", Ternary::False),
    ("vdo", Ternary::False),
    ("integrity", Ternary::False),
    ("raid", Ternary::Unknown),
    ("snapshot", Ternary::Unknown),
    ("snapshot-origin", Ternary::Unknown),
    ("snapshot-merge", Ternary::Unknown),
    ("unstriped", Ternary::Unknown),
    ("switch", Ternary::Unknown),
    ("ebs", Ternary::Unknown),
    ("zoned", Ternary::Unknown),
];

fn is_dm_target_stateless(target: &str) -> Option<Ternary> {
    let found = DM_TARGETS.iter().find(|(name, _)| *name == target);
    found.map(|(_, is_stateless)| *is_stateless)
}

/// Whether no target of a mapping has state; unknown if any target is unknown. `None` if the targets
/// could not be read.
fn are_dm_targets_stateless(facts: &FactSet, hop: &Subject) -> Option<Ternary> {
    let targets = facts.value(hop, &device::DM_TARGETS)?;
    if find_unknown_dm_target(&targets).is_some() {
        return Some(Ternary::Unknown);
    }
    let each = targets.iter().map(|target| is_dm_target_stateless(target));
    Some(Ternary::all(
        each.map(|one| one.unwrap_or(Ternary::Unknown)),
    ))
}

/// The first target that [`DM_TARGETS`] does not list; `"none"` for a mapping without targets.
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

/// False for an LVM volume with unread targets and no other mapping below: it is linear or striped.
fn can_have_failing_targets(facts: &FactSet, hop: &Subject, kind: DeviceKind) -> bool {
    let is_unread = || {
        matches!(
            facts.get(hop, &device::DM_TARGETS),
            Reading::Unknown {
                why: UnknownReason::Denied | UnknownReason::NotCollected,
                ..
            }
        )
    };
    match kind {
        DeviceKind::Lvm => !is_unread() || may_have_mapping_below(facts, hop),
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
