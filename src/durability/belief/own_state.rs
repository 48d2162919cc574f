//! Whether a device between file system and disks keeps data or a mapping of its own that only a flush writes out. Then
//! it needs flushes even where no disk below does.
//!
//! It goes by kind, md level and, where root read them, the targets of the mapping (Documentation/admin-guide/
//! device-mapper). The surprise: without root a mapping's type is not shown, but a volume that lies on no other volume is
//! linear or striped.

use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::{FactSet, Scope, Subject};
use crate::truth::Truth;

/// What the targets of a mapping do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Only hand on what they get.
    Pass,
    /// At least one keeps something and asks for flushes for its own sake (`flush_supported` in drivers/md).
    Keep,
    /// At least one that is not known here.
    Other,
}

impl Targets {
    /// Whether one keeps something of its own.
    pub fn keep(self) -> bool {
        match self {
            Self::Keep => true,
            Self::Pass | Self::Other => false,
        }
    }
}

const PASSING: [&str; 5] = ["linear", "striped", "crypt", "multipath", "mirror"];
const KEEPING: [&str; 7] = ["thin", "thin-pool", "cache", "writecache", "era", "clone", "vdo"];

/// What the targets of a mapping do, where they were read.
pub fn targets(facts: &FactSet, hop: &Subject) -> Option<Targets> {
    let targets = facts.value(hop, &device::DM_TARGETS)?;
    let all_in = |known: &[&str]| targets.iter().all(|target| known.contains(&target.as_str()));
    Some(if targets.is_empty() {
        Targets::Other
    } else if targets.iter().any(|target| KEEPING.contains(&target.as_str())) {
        Targets::Keep
    } else if all_in(&PASSING) {
        Targets::Pass
    } else {
        Targets::Other
    })
}

/// Whether a device that stands on others keeps nothing of its own.
pub fn plain(facts: &FactSet, hop: &Subject) -> Truth {
    let kind = |of: &Subject| facts.value(of, &device::KIND);
    match kind(hop) {
        Some(DeviceKind::Disk | DeviceKind::Partition | DeviceKind::Crypt | DeviceKind::Multipath) => {
            Truth::True
        }
        Some(DeviceKind::Lvm) => by_targets(facts, hop).unwrap_or_else(|| {
            let may_be_mapped = |base: &Subject| kind(base).is_none_or(DeviceKind::is_mapping);
            if facts.below(hop).iter().any(may_be_mapped) { Truth::Unknown } else { Truth::True }
        }),
        Some(DeviceKind::Dm | DeviceKind::Dmraid | DeviceKind::Vdo) => {
            by_targets(facts, hop).unwrap_or(Truth::Unknown)
        }
        Some(DeviceKind::Md) => match facts.value(hop, &device::MD_LEVEL).as_deref() {
            Some("raid0" | "raid1" | "raid10" | "linear") => Truth::True,
            _ => Truth::Unknown,
        },
        // A loop file, what is in memory, and caches and copies with a log of their own.
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

/// By what its targets do, where they were read.
fn by_targets(facts: &FactSet, hop: &Subject) -> Option<Truth> {
    targets(facts, hop).map(|targets| match targets {
        Targets::Pass => Truth::True,
        Targets::Keep => Truth::False,
        Targets::Other => Truth::Unknown,
    })
}
