//! A ZFS pool: whether it works, whether what it holds is damaged, and whether all its devices are known
//! (zpool-status(8), zpoolconcepts(7)).
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
            found.push((Passage::Unknown, evidence(ask, hop, &mount::ZFS_POOL_STATE, bears, says)));
        }
        Some(state @ (VdevState::Offline | VdevState::Removed | VdevState::Suspended)) => {
            let says = format!("the ZFS pool of {name} takes no writes ({state})");
            found.push((Passage::Unknown, evidence(ask, hop, &mount::ZFS_POOL_STATE, Bears::Unproven, says)));
        }
        None => found.extend(unknown(ask, hop, &mount::ZFS_POOL_STATE, "the state of its pool")),
    }
    match ask.value(hop, &mount::ZFS_DAMAGED) {
        Some(false) => {}
        Some(true) => {
            let says = format!("the ZFS pool of {name} holds data that is damaged for good");
            let bears = Bears::AtRisk(Mend::Damaged(hop.clone()));
            found.push((Passage::Unknown, evidence(ask, hop, &mount::ZFS_DAMAGED, bears, says)));
        }
        // A capture of before lacks it, as a host without the program does.
        None if is_because(ask, hop, &mount::ZFS_DAMAGED, Why::NotCollected) => {}
        None => found.extend(unknown(ask, hop, &mount::ZFS_DAMAGED, "whether its data is damaged")),
    }
    if ask.value(hop, &mount::ZFS_DEVICES).is_none() {
        found.extend(unknown(ask, hop, &mount::ZFS_DEVICES, "which devices it is on"));
    }
    found
}

fn is_because<T>(ask: &Ask, hop: &Subject, key: &Key<T>, reason: Why) -> bool {
    matches!(ask.facts.reading(hop, key.id()), Reading::Unknown { why, .. } if *why == reason)
}

/// Evidence that something is unknown; none without the program, where nobody can ask.
fn unknown<T: FactValue>(ask: &mut Ask, hop: &Subject, key: &Key<T>, what: &str) -> Option<Hop> {
    if is_because(ask, hop, key, Why::Absent) {
        return None;
    }
    ask.miss(hop, key, None);
    let says = format!("{} is ZFS, and {what} is unknown", hop.name());
    Some((Passage::Unknown, evidence(ask, hop, key, Bears::Unproven, says)))
}
