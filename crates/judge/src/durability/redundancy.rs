//! Redundancy: the loss that one more disk failure would cause, apart from power failures. It
//! is reported next to the verdict and never changes the verdict.
//!
//! The worst layer decides. Redundancy that only a controller, LVM or a peer can report is
//! *unknown*; headings do not mention *unknown*.

use super::fact_reader::FactReader;
use super::raid_controller;
use crate::facts::catalog::device::{
    self, ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind, MappingHealth, SyncAction,
};
use crate::facts::catalog::mount::{self, MountClass, VdevState};
use crate::facts::{Scope, Subject};

pub use crate::facts::catalog::target::RedundancyState;

/// The redundancy of a layer, and a sentence if there is something to report.
type LayerRedundancy = (RedundancyState, Option<String>);

pub fn target_redundancy(ask: &mut FactReader, target: &Subject) -> (RedundancyState, String) {
    let stack = ask.facts.layers_below(target);
    let mut found: Vec<LayerRedundancy> = stack
        .iter()
        .flat_map(|hop| hop_redundancy(ask, hop))
        .collect();
    found.sort_by_key(|(redundancy, _)| *redundancy);
    let worst = found
        .first()
        .map_or(RedundancyState::None, |(redundancy, _)| *redundancy);
    let says: Vec<String> = found.into_iter().filter_map(|(_, says)| says).collect();
    (worst, says.join(" "))
}

fn hop_redundancy(ask: &mut FactReader, hop: &Subject) -> Vec<LayerRedundancy> {
    match hop.scope() {
        Scope::Device => device_redundancy(ask, hop),
        Scope::Mount => file_system_redundancy(ask, hop).into_iter().collect(),
        Scope::Host | Scope::Boot | Scope::Cluster | Scope::Target => Vec::new(),
    }
}

fn device_redundancy(ask: &mut FactReader, hop: &Subject) -> Vec<LayerRedundancy> {
    match ask.read_and_record_use(hop, &device::KIND) {
        Some(DeviceKind::Md) => array_redundancy(ask, hop),
        Some(DeviceKind::Lvm | DeviceKind::Dm) => {
            mapping_redundancy(ask, hop, false).into_iter().collect()
        }
        Some(DeviceKind::Multipath) => mapping_redundancy(ask, hop, true).into_iter().collect(),
        Some(DeviceKind::Drbd | DeviceKind::Dmraid) => vec![(RedundancyState::Unknown, None)],
        Some(DeviceKind::Disk) => raid_volume_redundancy(ask, hop).into_iter().collect(),
        Some(
            DeviceKind::Partition
            | DeviceKind::Crypt
            | DeviceKind::Vdo
            | DeviceKind::Bcache
            | DeviceKind::Zvol
            | DeviceKind::Loop
            | DeviceKind::Zram
            | DeviceKind::Ram
            | DeviceKind::Other,
        )
        | None => Vec::new(),
    }
}

/// Always *unknown*, because only the controller's own tool reports it. `None` for any other
/// device.
fn raid_volume_redundancy(ask: &mut FactReader, hop: &Subject) -> Option<LayerRedundancy> {
    let transport = ask.read_and_record_use(hop, &device::TRANSPORT);
    let is_one = raid_controller::is_behind_raid_controller(ask, hop, transport)
        && !raid_controller::is_passthrough_disk(ask, hop);
    is_one.then_some((RedundancyState::Unknown, None))
}

fn mapping_redundancy(ask: &mut FactReader, hop: &Subject, paths: bool) -> Option<LayerRedundancy> {
    let Some(targets) = ask.read_and_record_use(hop, &device::DM_TARGETS) else {
        return (!paths).then_some((RedundancyState::Unknown, None));
    };
    let copies = targets
        .iter()
        .any(|target| target == "raid" || target == "mirror");
    if !copies && !paths {
        return None;
    }
    let name = hop.name();
    let missing = ask
        .read_and_record_use(hop, &device::DM_FAILED)
        .unwrap_or_default();
    let lagging = ask
        .read_and_record_use(hop, &device::DM_LAGGING)
        .unwrap_or_default();
    let list = if missing.is_empty() { lagging } else { missing };
    let lacks = if list.is_empty() {
        String::new()
    } else {
        format!(" ({})", list.join(", "))
    };
    let (redundancy, says) = match ask.read_and_record_use(hop, &device::DM_STATE) {
        Some(MappingHealth::Degraded | MappingHealth::WriteHole) => {
            (RedundancyState::Degraded, "is degraded")
        }
        Some(MappingHealth::Rebuilding) => (RedundancyState::Degraded, "is being rebuilt"),
        Some(MappingHealth::Resyncing) => (
            RedundancyState::Unknown,
            "is resyncing, and its copies may still differ",
        ),
        Some(MappingHealth::Failed | MappingHealth::Lost | MappingHealth::NoPath) => {
            (RedundancyState::Failed, "has failed")
        }
        Some(
            MappingHealth::Fine
            | MappingHealth::Full
            | MappingHealth::ReadOnly
            | MappingHealth::NeedsCheck
            | MappingHealth::Error,
        ) => return copies.then_some((RedundancyState::Whole, None)),
        None => {
            let says = format!(
                "It is unknown whether the copies of {name} are complete: see `lvs -a -o name,lv_health_status,sync_percent`."
            );
            return Some((RedundancyState::Unknown, copies.then_some(says)));
        }
    };
    Some((redundancy, Some(format!("{name} {says}{lacks}."))))
}

fn array_redundancy(ask: &mut FactReader, hop: &Subject) -> Vec<LayerRedundancy> {
    let name = hop.name();
    let Some(level) = ask.read_and_record_use(hop, &device::MD_LEVEL) else {
        return vec![(RedundancyState::Unknown, None)];
    };
    if level.is_container() {
        return Vec::new();
    }
    let title = level.display_name();
    if let Some(state) = ask
        .read_and_record_use(hop, &device::MD_STATE)
        .filter(|state| is_array_stopped(*state))
    {
        return vec![(
            RedundancyState::Failed,
            Some(format!(
                "{name} ({title}) is not running: its state is {state}."
            )),
        )];
    }
    let mut found = Vec::new();
    if let Some(members) = ask.read_and_record_use(hop, &device::MD_DISKS)
        && let Some(spares) = level.tolerated_losses(members)
    {
        found.push(md_redundancy_by_missing_members(
            ask, hop, level, members, spares,
        ));
    }
    let failed = ask
        .read_and_record_use(hop, &device::MD_FAILED)
        .unwrap_or_default();
    if !failed.is_empty() {
        let says = format!(
            "{name} ({title}) has failed members: {}.",
            failed.join(", ")
        );
        found.push((RedundancyState::FailedMember, Some(says)));
    }
    if level.has_parity() {
        found.extend(match ask.read_and_record_use(hop, &device::MD_CONSISTENCY).and_then(ConsistencyPolicy::has_write_hole) {
            Some(true) => {
                let says = format!(
                    "{name} ({title}) has an open write hole: a power failure followed by a disk failure can damage data at \
                     rest."
                );
                // A degraded array gets no sentence here. The verdict reports its write hole,
                // because a power failure alone can then do the damage.
                let lacks = ask.read_and_record_use(hop, &device::MD_DEGRADED).is_some_and(|missing| missing > 0);
                Some((RedundancyState::WriteHole, (!lacks).then_some(says)))
            }
            Some(false) => None,
            None => Some((RedundancyState::Unknown, None)),
        });
    }
    if found.is_empty() && !is_without_redundancy(level) {
        found.push((RedundancyState::Unknown, None));
    }
    found
}

fn is_without_redundancy(level: ArrayLevel) -> bool {
    level.tolerated_losses(2).is_none()
}

fn is_array_stopped(state: ArrayState) -> bool {
    matches!(
        state,
        ArrayState::Clear | ArrayState::Inactive | ArrayState::Broken
    )
}

fn md_redundancy_by_missing_members(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
    members: u64,
    spares: u64,
) -> LayerRedundancy {
    let (name, title) = (hop.name(), level.display_name());
    match ask.read_and_record_use(hop, &device::MD_DEGRADED) {
        None => (RedundancyState::Unknown, None),
        Some(0) if spares == 0 => (RedundancyState::None, None),
        Some(0)
            if ask
                .read_and_record_use(hop, &device::MD_SYNC_ACTION)
                .is_some_and(SyncAction::is_resync) =>
        {
            (
                RedundancyState::Unknown,
                Some(format!(
                    "{name} ({title}) is resyncing: its copies may still differ."
                )),
            )
        }
        Some(0) => (RedundancyState::Whole, None),
        Some(missing) if missing >= members => (
            RedundancyState::Failed,
            Some(format!(
                "{name} ({title}) has failed: none of its {members} members is left."
            )),
        ),
        Some(missing) => {
            let left = members.saturating_sub(missing);
            let state = format!("{name} ({title}) runs on {left} of {members} members");
            match spares.checked_sub(missing) {
                _ if level.may_tolerate_more_losses() => (
                    RedundancyState::Degraded,
                    Some(format!("{state}: one more failure can destroy the array.")),
                ),
                None => (
                    RedundancyState::Failed,
                    Some(format!("{state}, fewer than it needs, and has failed.")),
                ),
                Some(0) => (
                    RedundancyState::Degraded,
                    Some(format!("{state}: one more failure destroys the array.")),
                ),
                Some(spare) => (
                    RedundancyState::Degraded,
                    Some(format!("{state} and can lose {spare} more.")),
                ),
            }
        }
    }
}

fn file_system_redundancy(ask: &mut FactReader, hop: &Subject) -> Option<LayerRedundancy> {
    match ask.read_and_record_use(hop, &mount::CLASS)? {
        MountClass::Zfs => Some(zfs_pool_redundancy(ask, hop)),
        MountClass::Block => btrfs_redundancy(ask, hop),
        MountClass::Network
        | MountClass::Memory
        | MountClass::Fuse
        | MountClass::Overlay
        | MountClass::Other => None,
    }
}

/// *Unknown* for an online pool without lost devices, which may be a single disk (zpool-status(8)).
fn zfs_pool_redundancy(ask: &mut FactReader, hop: &Subject) -> LayerRedundancy {
    let name = hop.name();
    let lost = ask
        .read_and_record_use(hop, &mount::ZFS_LOST)
        .unwrap_or_default();
    let lacks = if lost.is_empty() {
        String::new()
    } else {
        format!(" ({})", lost.join(", "))
    };
    let says = |state: VdevState| {
        Some(format!(
            "The ZFS pool of {name} is {state}{lacks}: see `zpool status -x`."
        ))
    };
    match ask.read_and_record_use(hop, &mount::ZFS_POOL_STATE) {
        Some(state @ VdevState::Degraded) => (RedundancyState::Degraded, says(state)),
        Some(
            state @ (VdevState::Faulted
            | VdevState::Unavailable
            | VdevState::Suspended
            | VdevState::Offline
            | VdevState::Removed),
        ) => (RedundancyState::Failed, says(state)),
        Some(state @ VdevState::Online) if !lost.is_empty() => {
            (RedundancyState::Degraded, says(state))
        }
        Some(VdevState::Online) | None => (RedundancyState::Unknown, None),
    }
}

fn btrfs_redundancy(ask: &mut FactReader, hop: &Subject) -> Option<LayerRedundancy> {
    let name = hop.name();
    if ask.read_and_record_use(hop, &mount::FSTYPE)? != "btrfs" {
        return None;
    }
    if let Some(missing @ 1..) = ask.read_and_record_use(hop, &mount::BTRFS_MISSING) {
        return Some((
            RedundancyState::Degraded,
            Some(format!(
                "The btrfs file system at {name} is missing {missing} of its devices."
            )),
        ));
    }
    let data = ask
        .read_and_record_use(hop, &mount::BTRFS_DATA_PROFILES)
        .unwrap_or_default();
    let metadata = ask.read_and_record_use(hop, &mount::BTRFS_METADATA_PROFILES);
    let in_copies = |profiles: &[String]| {
        let is_one = |profile: &String| {
            ["raid1", "raid1c3", "raid1c4", "raid10"].contains(&profile.as_str())
        };
        !profiles.is_empty() && profiles.iter().all(is_one)
    };
    if data
        .iter()
        .chain(metadata.iter().flatten())
        .any(|profile| profile == "raid5" || profile == "raid6")
    {
        let says = format!(
            "The btrfs file system at {name} has an open write hole: a power failure followed by a disk failure can damage data at rest."
        );
        return Some((RedundancyState::WriteHole, Some(says)));
    }
    // Data and metadata must both be stored in copies, because whichever is stored only once is
    // lost with a device.
    let copies = in_copies(&data) && metadata.as_deref().is_none_or(in_copies);
    let known = metadata.is_some()
        && ask
            .read_and_record_use(hop, &mount::BTRFS_MISSING)
            .is_some();
    copies.then_some((
        if known {
            RedundancyState::Whole
        } else {
            RedundancyState::Unknown
        },
        None,
    ))
}
