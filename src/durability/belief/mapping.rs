//! A mapped device: whether its targets work, by their status, which only root can read.
//!
//! A target that has failed has lost what it acknowledged. One that takes no writes acknowledges none, so nothing is
//! acknowledged falsely; what was before is unproven. Copies and paths of which one still serves are left to
//! [`super::super::redundancy`], except that parity that lacks a disk needs no second fault, as in [`super::array`].

use super::{Hop, evidence, own_state};
use crate::durability::ask::Ask;
use crate::durability::claim::Passage;
use crate::durability::{Bears, Mend};
use crate::facts::catalog::device::{self, DeviceKind, MappingState};
use crate::facts::{Reading, Subject, Why};

/// Judges the state of a device of device-mapper; nothing where it works, or where its kind has no state.
pub fn mapping(ask: &mut Ask, hop: &Subject, kind: DeviceKind) -> Option<Hop> {
    if !own_state::may_fail(ask.facts, hop, kind) {
        return None;
    }
    let name = hop.name();
    let Some(state) = ask.value(hop, &device::DM_STATE) else {
        // Without the program nobody can ask.
        if matches!(ask.facts.get(hop, &device::DM_STATE), Reading::Unknown { why: Why::Absent, .. }) {
            return None;
        }
        ask.miss(hop, &device::DM_STATE, None);
        let says = format!("it is unknown whether the targets of {name} work");
        return Some((Passage::Unknown, evidence(ask, hop, &device::KIND, Bears::Unproven, says)));
    };
    let (passage, bears, says) = match state {
        MappingState::Fine | MappingState::Degraded | MappingState::Resyncing | MappingState::Rebuilding => {
            return None;
        }
        MappingState::WriteHole => (
            Passage::Sent,
            Bears::AtRisk(Mend::Rebuild(hop.clone())),
            format!("{name} is degraded with its write hole open: a power failure can damage data at rest"),
        ),
        MappingState::Full => stopped(format!("{name} is full, so writes wait or fail")),
        MappingState::ReadOnly => stopped(format!("{name} takes no writes (read only)")),
        MappingState::NeedsCheck => {
            stopped(format!("the metadata of {name} needs a check, and it takes no writes until then"))
        }
        MappingState::NoPath => stopped(format!("none of the paths of {name} works")),
        MappingState::Error => stopped(format!("{name} has met an error, so what it holds may be damaged")),
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
