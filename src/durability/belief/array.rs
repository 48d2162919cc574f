//! An md array: whether it runs, and what a power failure leaves of it beyond what its members hold back.
//!
//! How much of it may fail besides is told beside the verdict. The surprise: a degraded RAID 4, 5 or 6 without a journal or a
//! partial parity log is no second fault. What the missing disk held is worked out from parity, which a power failure leaves
//! wrong, also for blocks that nobody wrote then: md refuses to start it (*cannot start dirty degraded array* in
//! drivers/md/raid5.c) and, forced to, hands out wrong data (md(4); Documentation/driver-api/md/raid5-ppl.rst).

use super::{Hop, evidence};
use crate::durability::ask::Ask;
use crate::durability::claim::Passage;
use crate::durability::{Bears, Mend};
use crate::facts::Subject;
use crate::facts::catalog::device::{self, ArrayLevel, ArrayState, ConsistencyPolicy};

/// Judges what an array does besides passing flushes on; nothing where there is nothing to say.
pub fn array(ask: &mut Ask, hop: &Subject) -> Vec<Hop> {
    let level = ask.need(hop, &device::MD_LEVEL);
    let state = running(ask, hop);
    let more = match level {
        Some(level) => of(ask, hop, level),
        None => Some(unknown(ask, hop)),
    };
    state.into_iter().chain(more).collect()
}

fn unknown(ask: &Ask, hop: &Subject) -> Hop {
    let says = format!("the RAID level of {} is not known, so a write hole cannot be ruled out", hop.name());
    (Passage::Sent, evidence(ask, hop, &device::MD_LEVEL, Bears::Unproven, says))
}

/// Whether it takes writes at all. What has stopped answers none, so nothing is acknowledged falsely; what has failed has
/// lost what it acknowledged.
fn running(ask: &mut Ask, hop: &Subject) -> Option<Hop> {
    let name = hop.name();
    let (bears, says) = match ask.value(hop, &device::MD_STATE)? {
        ArrayState::Broken => (
            Bears::AtRisk(Mend::Restore(hop.clone())),
            format!("{name} has failed (broken): its members are not all there"),
        ),
        state @ (ArrayState::Clear | ArrayState::Inactive) => {
            (Bears::Unproven, format!("{name} does not run ({state}), so what it holds cannot be reached"))
        }
        ArrayState::Suspended
        | ArrayState::ReadOnly
        | ArrayState::ReadAuto
        | ArrayState::Clean
        | ArrayState::Active
        | ArrayState::WritePending
        | ArrayState::ActiveIdle => return None,
    };
    Some((Passage::Unknown, evidence(ask, hop, &device::MD_STATE, bears, says)))
}

fn of(ask: &mut Ask, hop: &Subject, level: ArrayLevel) -> Option<Hop> {
    match level {
        ArrayLevel::Raid1 | ArrayLevel::Raid10 => gone(ask, hop, level),
        ArrayLevel::Raid4 | ArrayLevel::Raid5 | ArrayLevel::Raid6 => {
            gone(ask, hop, level).or_else(|| write_hole(ask, hop, level))
        }
        ArrayLevel::Linear | ArrayLevel::Raid0 => None,
        ArrayLevel::Multipath | ArrayLevel::Faulty | ArrayLevel::Container => {
            let says = format!("walwise cannot judge {} ({})", hop.name(), level.title());
            Some((Passage::Unknown, evidence(ask, hop, &device::MD_LEVEL, Bears::Unproven, says)))
        }
    }
}

/// Whether more is missing than its level can do without. Of a RAID 10 that is certain only when nothing is left.
fn gone(ask: &mut Ask, hop: &Subject, level: ArrayLevel) -> Option<Hop> {
    let missing = ask.value(hop, &device::MD_DEGRADED)?;
    let members = ask.value(hop, &device::MD_DISKS)?;
    let bearable = if level.may_lack_more() { members.saturating_sub(1) } else { level.spares(members)? };
    let says =
        format!("{} ({}) has failed: it lacks {missing} of its {members} members", hop.name(), level.title());
    let bears = Bears::AtRisk(Mend::Restore(hop.clone()));
    let hop = (Passage::Unknown, evidence(ask, hop, &device::MD_DEGRADED, bears, says));
    (missing > bearable).then_some(hop)
}

/// What a power failure does to data that nobody writes then.
fn write_hole(ask: &mut Ask, hop: &Subject, level: ArrayLevel) -> Option<Hop> {
    let (name, level) = (hop.name(), level.title());
    let policy = ask.value(hop, &device::MD_CONSISTENCY);
    let open = policy.and_then(ConsistencyPolicy::leaves_hole);
    let missing = ask.value(hop, &device::MD_DEGRADED);
    let (bears, says) = match (open, missing) {
        (Some(false), _) | (_, Some(0)) => return None,
        (Some(true), Some(missing)) => (
            Bears::AtRisk(Mend::Rebuild(hop.clone())),
            format!(
                "{name} ({level}) is degraded ({missing} missing) with its write hole open: a power failure can damage data at rest"
            ),
        ),
        (Some(true), None) => {
            ask.miss(hop, &device::MD_DEGRADED, None);
            (
                Bears::Unproven,
                format!("{name} ({level}) has a write hole, and whether it lacks a member is not known"),
            )
        }
        (None, _) => {
            ask.miss(hop, &device::MD_CONSISTENCY, None);
            (
                Bears::Unproven,
                format!("{name} ({level}) may be degraded, and its consistency policy is not known"),
            )
        }
    };
    Some((Passage::Sent, evidence(ask, hop, &device::MD_CONSISTENCY, bears, says)))
}
