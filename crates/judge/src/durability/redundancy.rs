//! The cost of one more fault, independent of power failures: copies and parity that are missing or
//! failed below a target, and parity that may be wrong when it is needed. It stands beside the
//! verdict and never changes it.
//!
//! Single layers are judged from their own facts, and the worst is the target's. The state that
//! only a controller, LVM or a peer knows is *unknown*, which neither counts as whole nor appears
//! in a heading.

use super::ask::Ask;
use super::controller;
use crate::facts::catalog::device::{
    self, ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind, MappingState, SyncAction,
};
use crate::facts::catalog::mount::{self, MountClass, VdevState};
use crate::facts::{Scope, Subject};

pub use crate::facts::catalog::target::Redundancy;

/// The redundancy of a layer, with a sentence where there is something to say.
type LayerRedundancy = (Redundancy, Option<String>);

/// The redundancy below a target, and what is missing, in sentences; empty where nothing is known
/// to be missing.
pub fn judge(ask: &mut Ask, target: &Subject) -> (Redundancy, String) {
    let stack = ask.facts.stack(target);
    let mut found: Vec<LayerRedundancy> = stack.iter().flat_map(|hop| layer(ask, hop)).collect();
    found.sort_by_key(|(redundancy, _)| *redundancy);
    let worst = found
        .first()
        .map_or(Redundancy::None, |(redundancy, _)| *redundancy);
    let says: Vec<String> = found.into_iter().filter_map(|(_, says)| says).collect();
    (worst, says.join(" "))
}

fn layer(ask: &mut Ask, hop: &Subject) -> Vec<LayerRedundancy> {
    match hop.scope() {
        Scope::Device => block(ask, hop),
        Scope::Mount => mounted(ask, hop).into_iter().collect(),
        Scope::Host | Scope::Boot | Scope::Cluster | Scope::Target => Vec::new(),
    }
}

fn block(ask: &mut Ask, hop: &Subject) -> Vec<LayerRedundancy> {
    match ask.value(hop, &device::KIND) {
        Some(DeviceKind::Md) => array(ask, hop),
        Some(DeviceKind::Lvm | DeviceKind::Dm) => mapping(ask, hop, false).into_iter().collect(),
        Some(DeviceKind::Multipath) => mapping(ask, hop, true).into_iter().collect(),
        Some(DeviceKind::Drbd | DeviceKind::Dmraid) => vec![(Redundancy::Unknown, None)],
        Some(DeviceKind::Disk) => volume(ask, hop).into_iter().collect(),
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

/// The redundancy of a RAID controller's volume, known only from its own tool.
fn volume(ask: &mut Ask, hop: &Subject) -> Option<LayerRedundancy> {
    let transport = ask.value(hop, &device::TRANSPORT);
    let is_one =
        controller::is_behind_one(ask, hop, transport) && !controller::is_passed_on(ask, hop);
    is_one.then_some((Redundancy::Unknown, None))
}

/// The redundancy of a mapping's copies and paths, whose state only root sees.
fn mapping(ask: &mut Ask, hop: &Subject, paths: bool) -> Option<LayerRedundancy> {
    let Some(targets) = ask.value(hop, &device::DM_TARGETS) else {
        return (!paths).then_some((Redundancy::Unknown, None));
    };
    let copies = targets
        .iter()
        .any(|target| target == "raid" || target == "mirror");
    if !copies && !paths {
        return None;
    }
    let name = hop.name();
    let missing = ask.value(hop, &device::DM_FAILED).unwrap_or_default();
    let lagging = ask.value(hop, &device::DM_LAGGING).unwrap_or_default();
    let list = if missing.is_empty() { lagging } else { missing };
    let lacks = if list.is_empty() {
        String::new()
    } else {
        format!(" ({})", list.join(", "))
    };
    let (redundancy, says) = match ask.value(hop, &device::DM_STATE) {
        Some(MappingState::Degraded | MappingState::WriteHole) => {
            (Redundancy::Degraded, "is degraded")
        }
        Some(MappingState::Rebuilding) => (Redundancy::Degraded, "is being rebuilt"),
        Some(MappingState::Resyncing) => (
            Redundancy::Unknown,
            "resyncs, and its copies may still differ",
        ),
        Some(MappingState::Failed | MappingState::Lost | MappingState::NoPath) => {
            (Redundancy::Failed, "has failed")
        }
        Some(
            MappingState::Fine
            | MappingState::Full
            | MappingState::ReadOnly
            | MappingState::NeedsCheck
            | MappingState::Error,
        ) => return copies.then_some((Redundancy::Whole, None)),
        None => {
            let says = format!(
                "It is unknown whether the copies of {name} are complete: see `lvs -a -o name,lv_health_status,sync_percent`."
            );
            return Some((Redundancy::Unknown, copies.then_some(says)));
        }
    };
    Some((redundancy, Some(format!("{name} {says}{lacks}."))))
}

fn array(ask: &mut Ask, hop: &Subject) -> Vec<LayerRedundancy> {
    let name = hop.name();
    let Some(level) = ask.value(hop, &device::MD_LEVEL) else {
        return vec![(Redundancy::Unknown, None)];
    };
    if level.is_container() {
        return Vec::new();
    }
    let title = level.title();
    if let Some(state) = ask
        .value(hop, &device::MD_STATE)
        .filter(|state| is_down(*state))
    {
        return vec![(
            Redundancy::Failed,
            Some(format!(
                "{name} ({title}) does not run: its state is {state}."
            )),
        )];
    }
    let mut found = Vec::new();
    if let Some(members) = ask.value(hop, &device::MD_DISKS)
        && let Some(spares) = level.spares(members)
    {
        found.push(missing(ask, hop, level, members, spares));
    }
    let failed = ask.value(hop, &device::MD_FAILED).unwrap_or_default();
    if !failed.is_empty() {
        let says = format!(
            "{name} ({title}) has failed members: {}.",
            failed.join(", ")
        );
        found.push((Redundancy::FailedMember, Some(says)));
    }
    if level.has_parity() {
        found.extend(match ask.value(hop, &device::MD_CONSISTENCY).and_then(ConsistencyPolicy::leaves_hole) {
            Some(true) => {
                let says = format!(
                    "{name} ({title}) has an open write hole: a power failure followed by a disk failure can damage data at \
                     rest."
                );
                // For a degraded array the verdict says it: there a power failure alone is enough.
                let lacks = ask.value(hop, &device::MD_DEGRADED).is_some_and(|missing| missing > 0);
                Some((Redundancy::WriteHole, (!lacks).then_some(says)))
            }
            Some(false) => None,
            None => Some((Redundancy::Unknown, None)),
        });
    }
    if found.is_empty() && !is_without_copies(level) {
        found.push((Redundancy::Unknown, None));
    }
    found
}

/// Whether an array of this level keeps everything only once.
fn is_without_copies(level: ArrayLevel) -> bool {
    level.spares(2).is_none()
}

fn is_down(state: ArrayState) -> bool {
    matches!(
        state,
        ArrayState::Clear | ArrayState::Inactive | ArrayState::Broken
    )
}

/// The redundancy by the number of missing members and the number that the level tolerates.
fn missing(
    ask: &mut Ask,
    hop: &Subject,
    level: ArrayLevel,
    members: u64,
    spares: u64,
) -> LayerRedundancy {
    let (name, title) = (hop.name(), level.title());
    match ask.value(hop, &device::MD_DEGRADED) {
        None => (Redundancy::Unknown, None),
        Some(0) if spares == 0 => (Redundancy::None, None),
        Some(0)
            if ask
                .value(hop, &device::MD_SYNC_ACTION)
                .is_some_and(SyncAction::is_resync) =>
        {
            (
                Redundancy::Unknown,
                Some(format!(
                    "{name} ({title}) resyncs: its copies may still differ."
                )),
            )
        }
        Some(0) => (Redundancy::Whole, None),
        Some(missing) if missing >= members => (
            Redundancy::Failed,
            Some(format!(
                "{name} ({title}) has failed: none of its {members} members is left."
            )),
        ),
        Some(missing) => {
            let lacks = format!("{name} ({title}) lacks {missing} of its {members} members");
            match spares.checked_sub(missing) {
                _ if level.may_lack_more() => (
                    Redundancy::Degraded,
                    Some(format!("{lacks}: one more failure can lose it.")),
                ),
                None => (
                    Redundancy::Failed,
                    Some(format!(
                        "{lacks}, more than it can do without: it has failed."
                    )),
                ),
                Some(0) => (
                    Redundancy::Degraded,
                    Some(format!("{lacks}: one more failure loses it.")),
                ),
                Some(left) => (
                    Redundancy::Degraded,
                    Some(format!("{lacks} and can lose {left} more.")),
                ),
            }
        }
    }
}

fn mounted(ask: &mut Ask, hop: &Subject) -> Option<LayerRedundancy> {
    match ask.value(hop, &mount::CLASS)? {
        MountClass::Zfs => Some(pool(ask, hop)),
        MountClass::Block => btrfs(ask, hop),
        MountClass::Network
        | MountClass::Memory
        | MountClass::Fuse
        | MountClass::Overlay
        | MountClass::Other => None,
    }
}

/// The redundancy by the state that ZFS gives its pool (zpool-status(8)); an online pool may be a
/// single disk.
fn pool(ask: &mut Ask, hop: &Subject) -> LayerRedundancy {
    let name = hop.name();
    let lost = ask.value(hop, &mount::ZFS_LOST).unwrap_or_default();
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
    match ask.value(hop, &mount::ZFS_POOL_STATE) {
        Some(state @ VdevState::Degraded) => (Redundancy::Degraded, says(state)),
        Some(
            state @ (VdevState::Faulted
            | VdevState::Unavailable
            | VdevState::Suspended
            | VdevState::Offline
            | VdevState::Removed),
        ) => (Redundancy::Failed, says(state)),
        Some(state @ VdevState::Online) if !lost.is_empty() => (Redundancy::Degraded, says(state)),
        Some(VdevState::Online) | None => (Redundancy::Unknown, None),
    }
}

/// The redundancy by the profiles of a btrfs and its missing devices.
fn btrfs(ask: &mut Ask, hop: &Subject) -> Option<LayerRedundancy> {
    let name = hop.name();
    if ask.value(hop, &mount::FSTYPE)? != "btrfs" {
        return None;
    }
    if let Some(missing @ 1..) = ask.value(hop, &mount::BTRFS_MISSING) {
        return Some((
            Redundancy::Degraded,
            Some(format!(
                "The btrfs at {name} lacks {missing} of its devices."
            )),
        ));
    }
    let data = ask
        .value(hop, &mount::BTRFS_DATA_PROFILES)
        .unwrap_or_default();
    let metadata = ask.value(hop, &mount::BTRFS_METADATA_PROFILES);
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
            "The btrfs at {name} has an open write hole: a power failure followed by a disk failure can damage data at rest."
        );
        return Some((Redundancy::WriteHole, Some(says)));
    }
    // Data kept once is lost with its device, however many copies the metadata has, and the
    // reverse.
    let copies = in_copies(&data) && metadata.as_deref().is_none_or(in_copies);
    let known = metadata.is_some() && ask.value(hop, &mount::BTRFS_MISSING).is_some();
    copies.then_some((
        if known {
            Redundancy::Whole
        } else {
            Redundancy::Unknown
        },
        None,
    ))
}
