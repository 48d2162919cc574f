//! Whether a device between file system and disks keeps data or a mapping of its own that only a flush writes out. Then
//! it needs flushes even where no disk below does.
//!
//! It goes by kind, md level and, where root read them, the targets of the mapping (Documentation/admin-guide/
//! device-mapper). The surprise: without root a mapping's type is not shown, but a volume that lies on no other volume is
//! linear or striped.

use crate::facts::catalog::device;
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
    let on_a_mapping =
        || facts.below(hop).iter().any(|base| matches!(kind(base).as_deref(), Some("lvm" | "dm") | None));
    match kind(hop).as_deref() {
        Some("disk" | "partition" | "crypt" | "multipath") => Truth::True,
        Some("lvm" | "dm" | "dmraid" | "vdo") => match targets(facts, hop) {
            Some(Targets::Pass) => Truth::True,
            Some(Targets::Keep) => Truth::False,
            None if kind(hop).as_deref() == Some("lvm") && !on_a_mapping() => Truth::True,
            Some(Targets::Other) | None => Truth::Unknown,
        },
        Some("md") => match facts.value(hop, &device::MD_LEVEL).as_deref() {
            Some("raid0" | "raid1" | "raid10" | "linear") => Truth::True,
            _ => Truth::Unknown,
        },
        // A loop file, what is in memory, and caches and copies with a log of their own.
        Some("loop" | "zram" | "ram" | "bcache" | "drbd" | "zvol") => Truth::False,
        _ if hop.scope() != Scope::Device => Truth::False,
        _ => Truth::Unknown,
    }
}
