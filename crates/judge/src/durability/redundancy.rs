//! Redundancy: the loss that one more disk failure would cause, apart from power failures. It
//! is reported next to the verdict and never changes the verdict.
//!
//! The worst layer decides. Redundancy that only a controller, LVM or a peer can report is
//! *unknown*; headings do not mention *unknown*.

use super::fact_reader::FactReader;
use super::raid_controller;
use crate::facts::Scope;
use crate::facts::catalog::device::{
    self, ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind, MappingHealth, SyncAction,
};
use crate::facts::catalog::mount::{self, MountClass, VdevState};

pub use crate::facts::catalog::target::RedundancyState;

/// The redundancy of a layer, and a sentence if there is something to report.
type LayerRedundancy = (RedundancyState, Option<String>);

const UNKNOWN: LayerRedundancy = (RedundancyState::Unknown, None);

pub fn target_redundancy(target: FactReader) -> (RedundancyState, String) {
    let mut found: Vec<LayerRedundancy> = target
        .facts
        .layers_below(target.subject)
        .iter()
        .flat_map(|hop| hop_redundancy(target.for_subject(hop)))
        .collect();
    found.sort_by_key(|(redundancy, _)| *redundancy);
    let worst = found
        .first()
        .map_or(RedundancyState::None, |(redundancy, _)| *redundancy);
    let sentences: Vec<String> = found.into_iter().filter_map(|(_, text)| text).collect();
    (worst, sentences.join(" "))
}

fn hop_redundancy(hop: FactReader) -> Vec<LayerRedundancy> {
    match hop.subject.scope() {
        Scope::Device => device_redundancy(hop),
        Scope::Mount => file_system_redundancy(hop).into_iter().collect(),
        Scope::Host | Scope::Boot | Scope::Cluster | Scope::Target => Vec::new(),
    }
}

fn device_redundancy(hop: FactReader) -> Vec<LayerRedundancy> {
    let one = match hop.read(&device::KIND) {
        Some(DeviceKind::Md) => return array_redundancy(hop),
        Some(DeviceKind::Lvm | DeviceKind::Dm) => mapping_redundancy(hop, false),
        Some(DeviceKind::Multipath) => mapping_redundancy(hop, true),
        Some(DeviceKind::Drbd | DeviceKind::Dmraid) => Some(UNKNOWN),
        Some(DeviceKind::Disk) => raid_volume_redundancy(hop),
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
        | None => None,
    };
    one.into_iter().collect()
}

/// The redundancy of a volume of a RAID controller: always *unknown*, because only the controller's
/// own tool reports it. `None` for any other device.
fn raid_volume_redundancy(hop: FactReader) -> Option<LayerRedundancy> {
    let transport = hop.read(&device::TRANSPORT);
    let is_one = raid_controller::is_behind_raid_controller(hop, transport)
        && !raid_controller::is_passthrough_disk(hop);
    is_one.then_some(UNKNOWN)
}

/// The items in parentheses after a space; empty for an empty list.
fn parenthesized(items: &[String]) -> String {
    if items.is_empty() {
        String::new()
    } else {
        format!(" ({})", items.join(", "))
    }
}

fn mapping_redundancy(hop: FactReader, paths: bool) -> Option<LayerRedundancy> {
    let Some(targets) = hop.read(&device::DM_TARGETS) else {
        return (!paths).then_some(UNKNOWN);
    };
    let copies = targets
        .iter()
        .any(|target| target == "raid" || target == "mirror");
    if !copies && !paths {
        return None;
    }
    let name = hop.name();
    let missing = hop.read(&device::DM_FAILED).unwrap_or_default();
    let lagging = hop.read(&device::DM_LAGGING).unwrap_or_default();
    let lacks = parenthesized(if missing.is_empty() {
        &lagging
    } else {
        &missing
    });
    let (redundancy, what) = match hop.read(&device::DM_STATE) {
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
            let text = format!(
                "It is unknown whether the copies of {name} are complete: see `lvs -a -o name,lv_health_status,sync_percent`."
            );
            return Some((RedundancyState::Unknown, copies.then_some(text)));
        }
    };
    Some((redundancy, Some(format!("{name} {what}{lacks}."))))
}

fn array_redundancy(hop: FactReader) -> Vec<LayerRedundancy> {
    let name = hop.name();
    let Some(level) = hop.read(&device::MD_LEVEL) else {
        return vec![UNKNOWN];
    };
    if level.is_container() {
        return Vec::new();
    }
    let title = level.display_name();
    if let Some(state @ (ArrayState::Clear | ArrayState::Inactive | ArrayState::Broken)) =
        hop.read(&device::MD_STATE)
    {
        let text = format!("{name} ({title}) is not running: its state is {state}.");
        return vec![(RedundancyState::Failed, Some(text))];
    }
    let mut found = Vec::new();
    if let Some(members) = hop.read(&device::MD_DISKS)
        && let Some(spares) = level.tolerated_losses(members)
    {
        found.push(md_redundancy_by_missing_members(
            hop, level, members, spares,
        ));
    }
    let failed = hop.read(&device::MD_FAILED).unwrap_or_default();
    if !failed.is_empty() {
        let text = format!(
            "{name} ({title}) has failed members: {}.",
            failed.join(", ")
        );
        found.push((RedundancyState::FailedMember, Some(text)));
    }
    if level.has_parity() {
        let policy = hop.read(&device::MD_CONSISTENCY);
        match policy.and_then(ConsistencyPolicy::has_write_hole) {
            Some(true) => {
                let text = format!(
                    "{name} ({title}) has an open write hole: a power failure followed by a disk failure can damage data at \
                     rest."
                );
                // A degraded array gets no sentence here. The verdict reports its write hole,
                // because a power failure alone can then do the damage.
                let lacks = hop
                    .read(&device::MD_DEGRADED)
                    .is_some_and(|missing| missing > 0);
                found.push((RedundancyState::WriteHole, (!lacks).then_some(text)));
            }
            Some(false) => {}
            None => found.push(UNKNOWN),
        }
    }
    if found.is_empty() && !is_without_redundancy(level) {
        found.push(UNKNOWN);
    }
    found
}

fn is_without_redundancy(level: ArrayLevel) -> bool {
    level.tolerated_losses(2).is_none()
}

fn md_redundancy_by_missing_members(
    hop: FactReader,
    level: ArrayLevel,
    members: u64,
    spares: u64,
) -> LayerRedundancy {
    let (name, title) = (hop.name(), level.display_name());
    let (redundancy, text) = match hop.read(&device::MD_DEGRADED) {
        None => return UNKNOWN,
        Some(0) if spares == 0 => return (RedundancyState::None, None),
        Some(0)
            if hop
                .read(&device::MD_SYNC_ACTION)
                .is_some_and(SyncAction::is_resync) =>
        {
            (
                RedundancyState::Unknown,
                format!("{name} ({title}) is resyncing: its copies may still differ."),
            )
        }
        Some(0) => return (RedundancyState::Whole, None),
        Some(missing) if missing >= members => (
            RedundancyState::Failed,
            format!("{name} ({title}) has failed: none of its {members} members is left."),
        ),
        Some(missing) => {
            let left = members.saturating_sub(missing);
            let state = format!("{name} ({title}) runs on {left} of {members} members");
            match spares.checked_sub(missing) {
                _ if level.may_tolerate_more_losses() => (
                    RedundancyState::Degraded,
                    format!("{state}: one more failure can destroy the array."),
                ),
                None => (
                    RedundancyState::Failed,
                    format!("{state}, fewer than it needs, and has failed."),
                ),
                Some(0) => (
                    RedundancyState::Degraded,
                    format!("{state}: one more failure destroys the array."),
                ),
                Some(spare) => (
                    RedundancyState::Degraded,
                    format!("{state} and can lose {spare} more."),
                ),
            }
        }
    };
    (redundancy, Some(text))
}

fn file_system_redundancy(hop: FactReader) -> Option<LayerRedundancy> {
    match hop.read(&mount::CLASS)? {
        MountClass::Zfs => Some(zfs_pool_redundancy(hop)),
        MountClass::Block => btrfs_redundancy(hop),
        MountClass::Network
        | MountClass::Memory
        | MountClass::Fuse
        | MountClass::Overlay
        | MountClass::Other => None,
    }
}

/// *Unknown* for an online pool without lost devices, which may be a single disk (zpool-status(8)).
fn zfs_pool_redundancy(hop: FactReader) -> LayerRedundancy {
    let name = hop.name();
    let lost = hop.read(&mount::ZFS_LOST).unwrap_or_default();
    let lacks = parenthesized(&lost);
    let (redundancy, state) = match hop.read(&mount::ZFS_POOL_STATE) {
        Some(state @ VdevState::Degraded) => (RedundancyState::Degraded, state),
        Some(
            state @ (VdevState::Faulted
            | VdevState::Unavailable
            | VdevState::Suspended
            | VdevState::Offline
            | VdevState::Removed),
        ) => (RedundancyState::Failed, state),
        Some(state @ VdevState::Online) if !lost.is_empty() => (RedundancyState::Degraded, state),
        Some(VdevState::Online) | None => return UNKNOWN,
    };
    let text = format!("The ZFS pool of {name} is {state}{lacks}: see `zpool status -x`.");
    (redundancy, Some(text))
}

fn btrfs_redundancy(hop: FactReader) -> Option<LayerRedundancy> {
    let name = hop.name();
    if hop.read(&mount::FSTYPE)? != "btrfs" {
        return None;
    }
    let missing = hop.read(&mount::BTRFS_MISSING);
    if let Some(missing @ 1..) = missing {
        let text = format!("The btrfs file system at {name} is missing {missing} of its devices.");
        return Some((RedundancyState::Degraded, Some(text)));
    }
    let data = hop.read(&mount::BTRFS_DATA_PROFILES).unwrap_or_default();
    let metadata = hop.read(&mount::BTRFS_METADATA_PROFILES);
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
        let text = format!(
            "The btrfs file system at {name} has an open write hole: a power failure followed by a disk failure can damage data at rest."
        );
        return Some((RedundancyState::WriteHole, Some(text)));
    }
    // Data and metadata must both be stored in copies, because whichever is stored only once is
    // lost with a device.
    let copies = in_copies(&data) && metadata.as_deref().is_none_or(in_copies);
    let redundancy = if metadata.is_some() && missing.is_some() {
        RedundancyState::Whole
    } else {
        RedundancyState::Unknown
    };
    copies.then_some((redundancy, None))
}
