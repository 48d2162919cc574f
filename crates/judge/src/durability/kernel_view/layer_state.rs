//! Whether a device between file system and disks keeps data or a mapping that only a flush writes
//! out. Such a device needs flushes even if no disk below does.
//!
//! Only root can read the targets of a mapping. An LVM volume with unread targets and no other
//! mapping below is linear or striped.

use crate::facts::catalog::device::{self, ArrayLevel, DeviceKind};
use crate::facts::{FactSet, Reading, Scope, Subject, UnknownReason};
use crate::ternary::Ternary;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmTargetBehaviour {
    PassThrough,
    /// At least one target has state of its own and requests flushes itself (`flush_supported` in
    /// drivers/md).
    Stateful,
    /// Every target passes flushes on (`num_flush_bios` in drivers/md), but whether one has state
    /// is unknown.
    ForwardsFlush,
    Unknown,
}

impl DmTargetBehaviour {
    pub fn is_stateful(self) -> bool {
        matches!(self, Self::Stateful)
    }
}

const STATELESS_TARGETS: [&str; 5] = ["linear", "striped", "crypt", "multipath", "mirror"];
const STATEFUL_TARGETS: [&str; 8] = [
    "thin",
    "thin-pool",
    "cache",
    "writecache",
    "era",
    "clone",
    "vdo",
    "integrity",
];
const FORWARDING_TARGETS: [&str; 8] = [
    "raid",
    "snapshot",
    "snapshot-origin",
    "snapshot-merge",
    "unstriped",
    "switch",
    "ebs",
    "zoned",
];

/// The behaviour of a mapping's targets taken together: unknown if any target is unknown, otherwise
/// stateful if any target is stateful. `None` if the targets could not be read.
pub fn dm_target_behaviour(facts: &FactSet, hop: &Subject) -> Option<DmTargetBehaviour> {
    let targets = facts.value(hop, &device::DM_TARGETS)?;
    if find_unknown_dm_target(&targets).is_some() {
        return Some(DmTargetBehaviour::Unknown);
    }
    let any_in = |known: &[&str]| {
        targets
            .iter()
            .any(|target| known.contains(&target.as_str()))
    };
    Some(if any_in(&STATEFUL_TARGETS) {
        DmTargetBehaviour::Stateful
    } else if any_in(&FORWARDING_TARGETS) {
        DmTargetBehaviour::ForwardsFlush
    } else {
        DmTargetBehaviour::PassThrough
    })
}

/// The first target whose behaviour is not listed here; `"none"` for a mapping without targets.
pub fn find_unknown_dm_target(targets: &[String]) -> Option<&str> {
    let is_known = |target: &&String| {
        let known = [
            &STATELESS_TARGETS[..],
            &STATEFUL_TARGETS,
            &FORWARDING_TARGETS,
        ];
        known.into_iter().flatten().any(|known| known == target)
    };
    match targets {
        [] => Some("none"),
        targets => targets
            .iter()
            .find(|target| !is_known(target))
            .map(String::as_str),
    }
}

/// Whether a device of this kind can have targets that fail. An LVM volume with unread targets
/// cannot: it is linear or striped, unless another mapping is below.
pub fn can_have_failing_targets(facts: &FactSet, hop: &Subject, kind: DeviceKind) -> bool {
    match kind {
        DeviceKind::Lvm => {
            let is_or_may_be = |base: &Subject| {
                facts
                    .value(base, &device::KIND)
                    .is_none_or(DeviceKind::is_generic_mapping)
            };
            let unasked = matches!(
                facts.get(hop, &device::DM_TARGETS),
                Reading::Unknown {
                    why: UnknownReason::Denied | UnknownReason::NotCollected,
                    ..
                }
            );
            !unasked || facts.directly_below(hop).iter().any(is_or_may_be)
        }
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

pub fn is_stateless(facts: &FactSet, hop: &Subject) -> Ternary {
    let kind = |of: &Subject| facts.value(of, &device::KIND);
    match kind(hop) {
        Some(
            DeviceKind::Disk | DeviceKind::Partition | DeviceKind::Crypt | DeviceKind::Multipath,
        ) => Ternary::True,
        Some(DeviceKind::Lvm) => is_stateless_by_targets(facts, hop).unwrap_or_else(|| {
            let may_be_mapped =
                |base: &Subject| kind(base).is_none_or(DeviceKind::is_generic_mapping);
            if facts.directly_below(hop).iter().any(may_be_mapped) {
                Ternary::Unknown
            } else {
                Ternary::True
            }
        }),
        Some(DeviceKind::Dm | DeviceKind::Dmraid | DeviceKind::Vdo) => {
            is_stateless_by_targets(facts, hop).unwrap_or(Ternary::Unknown)
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

fn is_stateless_by_targets(facts: &FactSet, hop: &Subject) -> Option<Ternary> {
    dm_target_behaviour(facts, hop).map(|targets| match targets {
        DmTargetBehaviour::PassThrough => Ternary::True,
        DmTargetBehaviour::Stateful => Ternary::False,
        DmTargetBehaviour::ForwardsFlush | DmTargetBehaviour::Unknown => Ternary::Unknown,
    })
}
