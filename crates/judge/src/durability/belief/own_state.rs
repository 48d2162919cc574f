//! Whether a device between file system and disks keeps data or a mapping of its own that only a
//! flush writes out. Such a device needs flushes even where no disk below does.
//!
//! The answer depends on its kind, md level and, where root read them, the targets of the mapping
//! (Documentation/admin-guide/device-mapper). A mapping's type is hidden without root, but a volume
//! on no other mapping is linear or striped.

use crate::facts::catalog::device::{self, ArrayLevel, DeviceKind};
use crate::facts::{FactSet, Reading, Scope, Subject, Why};
use crate::truth::Truth;

/// The behaviour of a mapping's targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// They only pass requests on.
    Pass,
    /// At least one has state and asks for flushes for its own sake (`flush_supported` in
    /// drivers/md).
    Keep,
    /// All pass flushes on (`num_flush_bios` in drivers/md); whether one has state meanwhile is
    /// unknown.
    Forward,
    /// At least one is unknown here.
    Other,
}

impl Targets {
    /// Whether one of them has state of its own.
    pub fn keep(self) -> bool {
        matches!(self, Self::Keep)
    }
}

const PASSING: [&str; 5] = ["linear", "striped", "crypt", "multipath", "mirror"];
const KEEPING: [&str; 8] = [
    "thin",
    "thin-pool",
    "cache",
    "writecache",
    "era",
    "clone",
    "vdo",
    "integrity",
];
const FORWARDING: [&str; 8] = [
    "raid",
    "snapshot",
    "snapshot-origin",
    "snapshot-merge",
    "unstriped",
    "switch",
    "ebs",
    "zoned",
];

/// The behaviour of a mapping's targets, where they were read. The worst of several counts.
pub fn targets(facts: &FactSet, hop: &Subject) -> Option<Targets> {
    let targets = facts.value(hop, &device::DM_TARGETS)?;
    if unknown(&targets).is_some() {
        return Some(Targets::Other);
    }
    let any_in = |known: &[&str]| {
        targets
            .iter()
            .any(|target| known.contains(&target.as_str()))
    };
    Some(if any_in(&KEEPING) {
        Targets::Keep
    } else if any_in(&FORWARDING) {
        Targets::Forward
    } else {
        Targets::Pass
    })
}

/// The first of a mapping's targets that is unknown here; `none` where it has no target.
pub fn unknown(targets: &[String]) -> Option<&str> {
    let is_known = |target: &&String| {
        let known = [&PASSING[..], &KEEPING, &FORWARDING];
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

/// Whether a device of this kind may have targets that can fail. A volume whose targets nobody
/// asked for is linear or striped where it stands on no other mapping.
pub fn may_fail(facts: &FactSet, hop: &Subject, kind: DeviceKind) -> bool {
    match kind {
        DeviceKind::Lvm => {
            let is_or_may_be = |base: &Subject| {
                facts
                    .value(base, &device::KIND)
                    .is_none_or(DeviceKind::is_mapping)
            };
            let unasked = matches!(
                facts.get(hop, &device::DM_TARGETS),
                Reading::Unknown {
                    why: Why::Denied | Why::NotCollected,
                    ..
                }
            );
            !unasked || facts.below(hop).iter().any(is_or_may_be)
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

/// Whether a device on top of others has no state of its own.
pub fn plain(facts: &FactSet, hop: &Subject) -> Truth {
    let kind = |of: &Subject| facts.value(of, &device::KIND);
    match kind(hop) {
        Some(
            DeviceKind::Disk | DeviceKind::Partition | DeviceKind::Crypt | DeviceKind::Multipath,
        ) => Truth::True,
        Some(DeviceKind::Lvm) => by_targets(facts, hop).unwrap_or_else(|| {
            let may_be_mapped = |base: &Subject| kind(base).is_none_or(DeviceKind::is_mapping);
            if facts.below(hop).iter().any(may_be_mapped) {
                Truth::Unknown
            } else {
                Truth::True
            }
        }),
        Some(DeviceKind::Dm | DeviceKind::Dmraid | DeviceKind::Vdo) => {
            by_targets(facts, hop).unwrap_or(Truth::Unknown)
        }
        Some(DeviceKind::Md) => match facts.value(hop, &device::MD_LEVEL) {
            Some(
                ArrayLevel::Linear | ArrayLevel::Raid0 | ArrayLevel::Raid1 | ArrayLevel::Raid10,
            ) => Truth::True,
            Some(
                ArrayLevel::Raid4
                | ArrayLevel::Raid5
                | ArrayLevel::Raid6
                | ArrayLevel::Multipath
                | ArrayLevel::Faulty
                | ArrayLevel::Container,
            )
            | None => Truth::Unknown,
        },
        // A loop file, memory, and caches and copies with a log of their own.
        Some(
            DeviceKind::Loop
            | DeviceKind::Zram
            | DeviceKind::Ram
            | DeviceKind::Bcache
            | DeviceKind::Drbd
            | DeviceKind::Zvol,
        ) => Truth::False,
        Some(DeviceKind::Other) | None if hop.scope() != Scope::Device => Truth::False,
        Some(DeviceKind::Other) | None => Truth::Unknown,
    }
}

/// The answer by its targets, where they were read.
fn by_targets(facts: &FactSet, hop: &Subject) -> Option<Truth> {
    targets(facts, hop).map(|targets| match targets {
        Targets::Pass => Truth::True,
        Targets::Keep => Truth::False,
        Targets::Forward | Targets::Other => Truth::Unknown,
    })
}
