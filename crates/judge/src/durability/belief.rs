//! The belief layer: whether a flush travels on at each hop above the disks, as the kernel sees it.
//! A file system can be told not to send flushes. Any queue can be told that there is nothing to
//! flush (Documentation/ABI/stable/sysfs-block, queue/write_cache), which drops the flushes of
//! everything above it.
//!
//! It judges one hop at a time; file systems and queues have a file each, and the disk's own queue
//! is judged in [`super::claim`]. A hop with state of its own (a loop file, a thin pool, a cache)
//! loses data without flushes even over disks that hold nothing back.

mod array;
mod pool {
    //! A ZFS pool: whether it works, whether what it holds is damaged, and whether all its devices
    //! are known (zpool-status(8), zpoolconcepts(7)).
    //!
    //! How far it is from failing is left to [`super::super::redundancy`].

    use super::{Hop, evidence};
    use crate::durability::ask::Ask;
    use crate::durability::claim::Passage;
    use crate::durability::{Bears, Mend};
    use crate::facts::catalog::mount::{self, VdevState};
    use crate::facts::{FactValue, Key, Reading, Subject, Why};

    /// Judges the pool of a mount; empty where it works and all its devices are known.
    pub fn pool(ask: &mut Ask, hop: &Subject) -> Vec<Hop> {
        let name = hop.name();
        let mut found = Vec::new();
        match ask.value(hop, &mount::ZFS_POOL_STATE) {
            Some(VdevState::Online | VdevState::Degraded) => {}
            Some(state @ (VdevState::Faulted | VdevState::Unavailable)) => {
                let says = format!("the ZFS pool of {name} has failed ({state})");
                let bears = Bears::AtRisk(Mend::Restore(hop.clone()));
                found.push((
                    Passage::Unknown,
                    evidence(ask, hop, &mount::ZFS_POOL_STATE, bears, says),
                ));
            }
            Some(state @ (VdevState::Offline | VdevState::Removed | VdevState::Suspended)) => {
                let says = format!("the ZFS pool of {name} takes no writes ({state})");
                found.push((
                    Passage::Unknown,
                    evidence(ask, hop, &mount::ZFS_POOL_STATE, Bears::Unproven, says),
                ));
            }
            None => found.extend(unknown(
                ask,
                hop,
                &mount::ZFS_POOL_STATE,
                "the state of its pool",
            )),
        }
        match ask.value(hop, &mount::ZFS_DAMAGED) {
            Some(false) => {}
            Some(true) => {
                let says = format!("the ZFS pool of {name} holds data that is damaged for good");
                let bears = Bears::AtRisk(Mend::Damaged(hop.clone()));
                found.push((
                    Passage::Unknown,
                    evidence(ask, hop, &mount::ZFS_DAMAGED, bears, says),
                ));
            }
            // A capture of before lacks it, as a host without the program does.
            None if is_because(ask, hop, &mount::ZFS_DAMAGED, Why::NotCollected) => {}
            None => found.extend(unknown(
                ask,
                hop,
                &mount::ZFS_DAMAGED,
                "whether its data is damaged",
            )),
        }
        if ask.value(hop, &mount::ZFS_DEVICES).is_none() {
            found.extend(unknown(
                ask,
                hop,
                &mount::ZFS_DEVICES,
                "which devices it is on",
            ));
        }
        found
    }

    fn is_because<T>(ask: &Ask, hop: &Subject, key: &Key<T>, reason: Why) -> bool {
        matches!(ask.facts.reading(hop, key.id()), Reading::Unknown { why, .. } if *why == reason)
    }

    /// Evidence that something is unknown; none without the program, where nobody can ask.
    fn unknown<T: FactValue>(
        ask: &mut Ask,
        hop: &Subject,
        key: &Key<T>,
        what: &str,
    ) -> Option<Hop> {
        if is_because(ask, hop, key, Why::Absent) {
            return None;
        }
        ask.miss(hop, key, None);
        let says = format!("{} is ZFS, and {what} is unknown", hop.name());
        Some((
            Passage::Unknown,
            evidence(ask, hop, key, Bears::Unproven, says),
        ))
    }
}
mod file_system;
mod own_state;
mod mapping {
    //! A mapped device: whether its targets work, by their status, which only root can read.
    //!
    //! A target that has failed has lost what it acknowledged. One that takes no writes
    //! acknowledges none, so nothing is acknowledged falsely; what was before is unproven. Copies
    //! and paths of which one still serves are left to [`super::super::redundancy`], except that
    //! parity that lacks a disk needs no second fault, as in [`super::array`].

    use super::{Hop, evidence, own_state};
    use crate::durability::ask::Ask;
    use crate::durability::claim::Passage;
    use crate::durability::{Bears, Mend};
    use crate::facts::catalog::device::{self, DeviceKind, MappingState};
    use crate::facts::{Reading, Subject, Why};

    /// Judges the state of a device of device-mapper; nothing where it works, or where its kind has
    /// no state.
    pub fn mapping(ask: &mut Ask, hop: &Subject, kind: DeviceKind) -> Option<Hop> {
        if !own_state::may_fail(ask.facts, hop, kind) {
            return None;
        }
        let name = hop.name();
        let Some(state) = ask.value(hop, &device::DM_STATE) else {
            // Without the program nobody can ask.
            if matches!(
                ask.facts.get(hop, &device::DM_STATE),
                Reading::Unknown {
                    why: Why::Absent,
                    ..
                }
            ) {
                return None;
            }
            ask.miss(hop, &device::DM_STATE, None);
            let says = format!("it is unknown whether the targets of {name} work");
            return Some((
                Passage::Unknown,
                evidence(ask, hop, &device::KIND, Bears::Unproven, says),
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
                Passage::Sent,
                Bears::AtRisk(Mend::Rebuild(hop.clone())),
                format!(
                    "{name} is degraded with its write hole open: a power failure can damage data at rest"
                ),
            ),
            MappingState::Full => stopped(format!("{name} is full, so writes wait or fail")),
            MappingState::ReadOnly => stopped(format!("{name} takes no writes (read only)")),
            MappingState::NeedsCheck => stopped(format!(
                "the metadata of {name} needs a check, and it takes no writes until then"
            )),
            MappingState::NoPath => stopped(format!("none of the paths of {name} works")),
            MappingState::Error => stopped(format!(
                "{name} has met an error, so what it holds may be damaged"
            )),
            MappingState::Lost => (
                Passage::Unknown,
                Bears::AtRisk(Mend::Repair(hop.clone())),
                format!("the snapshot {name} is invalid: what it held is lost"),
            ),
            MappingState::Failed => (
                Passage::Unknown,
                Bears::AtRisk(Mend::Repair(hop.clone())),
                format!("{name} has failed: what it holds cannot be read"),
            ),
        };
        Some((passage, evidence(ask, hop, &device::DM_STATE, bears, says)))
    }

    fn stopped(says: String) -> (Passage, Bears, String) {
        (Passage::Unknown, Bears::Unproven, says)
    }
}
mod queue;

pub use file_system::{directory, mount};
pub use own_state::plain;
pub use queue::queue;

use super::ask::Ask;
use super::claim::{Cache, Passage};
use super::{Bears, Evidence, Layer};
use crate::facts::{Key, Subject};
use crate::truth::Truth;

/// The disks at the bottom of a way, for judging a hop above them.
#[derive(Clone, Copy, Debug)]
pub struct Bottom {
    pub cache: Cache,
    /// Whether a disk there reports *write back*.
    pub write_back: Truth,
    /// Whether no hop between keeps data of its own that only a flush writes out.
    pub plain: Truth,
}

/// The fate of a flush at a hop, and the evidence for it.
pub type Hop = (Passage, Evidence);

fn evidence<T>(ask: &Ask, hop: &Subject, from: &Key<T>, bears: Bears, says: String) -> Evidence {
    let source = ask.origin(hop, from);
    Evidence::new(Layer::Belief, hop, bears, says, source)
}
