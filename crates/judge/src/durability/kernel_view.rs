//! The kernel's view: whether each hop above the disks passes a flush on.
//!
//! A queue in *write through* mode drops flushes (Documentation/ABI/stable/sysfs-block,
//! queue/write_cache). A hop with state of its own needs flushes even if no disk below does.

mod array;
mod zfs_pool {
    //! State of a ZFS pool: failure, damaged data, and unknown devices (zpool-status(8),
    //! zpoolconcepts(7)). The module `redundancy` judges whether data is stored in copies.

    use super::{HopFinding, kernel_evidence};
    use crate::durability::device_view::FlushOutcome;
    use crate::durability::fact_reader::FactReader;
    use crate::durability::{Remedy, VerdictImpact};
    use crate::facts::catalog::mount::{self, VdevState};
    use crate::facts::{FactValue, Key, Reading, Subject, UnknownReason};

    pub fn zfs_pool_findings(ask: &mut FactReader, hop: &Subject) -> Vec<HopFinding> {
        let name = hop.name();
        let mut found = Vec::new();
        match ask.get(hop, &mount::ZFS_POOL_STATE) {
            Some(VdevState::Online | VdevState::Degraded) => {}
            Some(state @ (VdevState::Faulted | VdevState::Unavailable)) => {
                let says = format!("the ZFS pool of {name} has failed ({state})");
                let bears = VerdictImpact::AtRisk(Remedy::RestoreArray(hop.clone()));
                found.push((
                    FlushOutcome::Unknown,
                    kernel_evidence(ask, hop, &mount::ZFS_POOL_STATE, bears, says),
                ));
            }
            Some(state @ (VdevState::Offline | VdevState::Removed | VdevState::Suspended)) => {
                let says = format!("the ZFS pool of {name} refuses writes ({state})");
                found.push((
                    FlushOutcome::Unknown,
                    kernel_evidence(
                        ask,
                        hop,
                        &mount::ZFS_POOL_STATE,
                        VerdictImpact::Unproven,
                        says,
                    ),
                ));
            }
            None => found.extend(unknown_pool_fact_finding(
                ask,
                hop,
                &mount::ZFS_POOL_STATE,
                "which state its pool is in",
            )),
        }
        match ask.get(hop, &mount::ZFS_DAMAGED) {
            Some(false) => {}
            Some(true) => {
                let says = format!("the ZFS pool of {name} holds permanently damaged data");
                let bears = VerdictImpact::AtRisk(Remedy::RestorePoolFiles(hop.clone()));
                found.push((
                    FlushOutcome::Unknown,
                    kernel_evidence(ask, hop, &mount::ZFS_DAMAGED, bears, says),
                ));
            }
            // A capture of an earlier walwise version lacks this fact. That is no evidence of
            // damage.
            None if is_unknown_because(
                ask,
                hop,
                &mount::ZFS_DAMAGED,
                UnknownReason::NotCollected,
            ) => {}
            None => found.extend(unknown_pool_fact_finding(
                ask,
                hop,
                &mount::ZFS_DAMAGED,
                "whether its data is damaged",
            )),
        }
        if ask.get(hop, &mount::ZFS_DEVICES).is_none() {
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

    /// A finding about an unknown fact of a pool; `None` if the zpool command is missing, because
    /// then nothing about the pool can be read.
    fn unknown_pool_fact_finding<T: FactValue>(
        ask: &mut FactReader,
        hop: &Subject,
        key: &Key<T>,
        what: &str,
    ) -> Option<HopFinding> {
        if is_unknown_because(ask, hop, key, UnknownReason::Absent) {
            return None;
        }
        ask.note_missing(hop, key, None);
        let says = format!("{} is ZFS, and it is unknown {what}", hop.name());
        Some((
            FlushOutcome::Unknown,
            kernel_evidence(ask, hop, key, VerdictImpact::Unproven, says),
        ))
    }
}
mod file_system;
mod layer_state;
mod mapping {
    //! State of a device-mapper device, from the status of its targets (root only).
    //!
    //! A failed target lost acknowledged data. A target that refuses writes acknowledges nothing,
    //! so older data is merely unproven.

    use super::{HopFinding, kernel_evidence, layer_state};
    use crate::durability::device_view::FlushOutcome;
    use crate::durability::fact_reader::FactReader;
    use crate::durability::{Remedy, VerdictImpact};
    use crate::facts::catalog::device::{self, DeviceKind, MappingState};
    use crate::facts::{Reading, Subject, UnknownReason};

    /// A finding about a device with faulty targets, or whose targets are in an unknown state.
    /// `None` if the targets work or cannot fail.
    pub fn mapping_fault_finding(
        ask: &mut FactReader,
        hop: &Subject,
        kind: DeviceKind,
    ) -> Option<HopFinding> {
        if !layer_state::can_have_failing_targets(ask.facts, hop, kind) {
            return None;
        }
        let name = hop.name();
        let Some(state) = ask.get(hop, &device::DM_STATE) else {
            // The fact is absent if dmsetup is not installed. That is no evidence of a fault.
            if matches!(
                ask.facts.get(hop, &device::DM_STATE),
                Reading::Unknown {
                    why: UnknownReason::Absent,
                    ..
                }
            ) {
                return None;
            }
            ask.note_missing(hop, &device::DM_STATE, None);
            let says = format!("it is unknown whether the device-mapper targets of {name} work");
            return Some((
                FlushOutcome::Unknown,
                kernel_evidence(ask, hop, &device::KIND, VerdictImpact::Unproven, says),
            ));
        };
        let (passage, bears, says) = match state {
            MappingState::Fine
            | MappingState::Degraded
            | MappingState::Resyncing
            | MappingState::Rebuilding => {
                return None;
            }
            MappingState::WriteHole => (
                FlushOutcome::Sent,
                VerdictImpact::AtRisk(Remedy::RebuildArray(hop.clone())),
                format!(
                    "{name} is degraded with its write hole open: a power failure can damage data at rest"
                ),
            ),
            MappingState::Full => {
                write_refused_finding(format!("{name} is full, so writes wait or fail"))
            }
            MappingState::ReadOnly => {
                write_refused_finding(format!("{name} refuses writes (read only)"))
            }
            MappingState::NeedsCheck => write_refused_finding(format!(
                "{name} refuses writes until its metadata is checked"
            )),
            MappingState::NoPath => write_refused_finding(format!("{name} has no working path")),
            MappingState::Error => write_refused_finding(format!(
                "{name} reports an error, so its data may be damaged"
            )),
            MappingState::Lost => (
                FlushOutcome::Unknown,
                VerdictImpact::AtRisk(Remedy::RepairMapping(hop.clone())),
                format!("the snapshot {name} is invalid: its data is lost"),
            ),
            MappingState::Failed => (
                FlushOutcome::Unknown,
                VerdictImpact::AtRisk(Remedy::RepairMapping(hop.clone())),
                format!("{name} has failed: its data cannot be read"),
            ),
        };
        Some((
            passage,
            kernel_evidence(ask, hop, &device::DM_STATE, bears, says),
        ))
    }

    fn write_refused_finding(says: String) -> (FlushOutcome, VerdictImpact, String) {
        (FlushOutcome::Unknown, VerdictImpact::Unproven, says)
    }
}
mod queue;

pub use file_system::{directory_flags_evidence, mount_findings};
pub use layer_state::is_stateless;
pub use queue::queue_findings;

use super::device_view::{CacheVolatility, FlushOutcome};
use super::fact_reader::FactReader;
use super::{Evidence, Layer, VerdictImpact};
use crate::facts::{Key, Subject};
use crate::ternary::Ternary;

#[derive(Clone, Copy, Debug)]
pub struct DisksBelow {
    pub cache: CacheVolatility,
    pub write_back: Ternary,
    /// Whether no hop between this hop and the disks keeps data that only a flush writes out.
    pub is_stateless: Ternary,
}

pub type HopFinding = (FlushOutcome, Evidence);

fn kernel_evidence<T>(
    ask: &FactReader,
    hop: &Subject,
    from: &Key<T>,
    bears: VerdictImpact,
    says: String,
) -> Evidence {
    let source = ask.source_text(hop, from);
    Evidence::new(Layer::Kernel, hop, bears, says, source)
}
