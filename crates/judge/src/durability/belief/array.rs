//! An md array: whether it runs, and which data a power failure destroys beyond what its members
//! hold back.
//!
//! The number of further failures that it tolerates is left to [`super::super::redundancy`]. A
//! degraded RAID 4, 5 or 6 without a journal or a partial parity log needs no second fault. The
//! missing disk's data is computed from parity, which a power failure leaves wrong, even for blocks
//! that were not being written. md refuses to start such an array (*cannot start dirty degraded
//! array* in drivers/md/raid5.c). When forced to, it returns wrong data (md(4);
//! Documentation/driver-api/md/raid5-ppl.rst).

use super::{Hop, evidence};
use crate::durability::ask::Ask;
use crate::durability::claim::Passage;
use crate::durability::{Bears, Mend};
use crate::facts::Subject;
use crate::facts::catalog::device::{self, ArrayLevel, ArrayState, ConsistencyPolicy};

/// Judges the effects of an array besides passing flushes on; empty where it has none.
pub fn array(ask: &mut Ask, hop: &Subject) -> Vec<Hop> {
    let level = ask.need(hop, &device::MD_LEVEL);
    let state = running(ask, hop)
        .into_iter()
        .chain(level.and_then(|level| members(ask, hop, level)));
    let more = match level {
        Some(level) => of(ask, hop, level),
        None => Some(unknown(ask, hop)),
    };
    state.chain(more).collect()
}

fn unknown(ask: &Ask, hop: &Subject) -> Hop {
    let says = format!(
        "the RAID level of {} is not known, so a write hole cannot be ruled out",
        hop.name()
    );
    (
        Passage::Sent,
        evidence(ask, hop, &device::MD_LEVEL, Bears::Unproven, says),
    )
}

/// Whether it accepts writes at all. A stopped array acknowledges none, so nothing is acknowledged
/// falsely; a failed one has lost what it acknowledged.
fn running(ask: &mut Ask, hop: &Subject) -> Option<Hop> {
    let name = hop.name();
    let (bears, says) = match ask.value(hop, &device::MD_STATE)? {
        ArrayState::Broken => (
            Bears::AtRisk(Mend::Restore(hop.clone())),
            format!("{name} has failed (broken): its members are not all there"),
        ),
        state @ (ArrayState::Clear | ArrayState::Inactive) => (
            Bears::Unproven,
            format!("{name} does not run ({state}), so its contents are out of reach"),
        ),
        ArrayState::Suspended
        | ArrayState::ReadOnly
        | ArrayState::ReadAuto
        | ArrayState::Clean
        | ArrayState::Active
        | ArrayState::WritePending
        | ArrayState::ActiveIdle => return None,
    };
    Some((
        Passage::Unknown,
        evidence(ask, hop, &device::MD_STATE, bears, says),
    ))
}

/// Whether all members that the array counts are known and judged. No list of members is never
/// taken for one member.
fn members(ask: &mut Ask, hop: &Subject, level: ArrayLevel) -> Option<Hop> {
    if level.is_container() {
        return None;
    }
    let name = hop.name();
    let says = match ask.need(hop, &device::MD_MEMBERS) {
        None => format!("the members of {name} are not known"),
        Some(members) => {
            let failed = ask.value(hop, &device::MD_FAILED).unwrap_or_default();
            let below = ask.facts.below(hop);
            let names = members.iter().filter_map(|member| member.split(' ').next());
            let mut unseen = names.filter(|member| {
                !failed.iter().any(|failed| failed == member)
                    && !below.contains(&Subject::device(*member))
            });
            let member = unseen.next()?;
            format!("the member {member} of {name} is not among the devices below it")
        }
    };
    Some((
        Passage::Unknown,
        evidence(ask, hop, &device::MD_MEMBERS, Bears::Unproven, says),
    ))
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
            Some((
                Passage::Unknown,
                evidence(ask, hop, &device::MD_LEVEL, Bears::Unproven, says),
            ))
        }
    }
}

/// Whether more members are missing than its level tolerates. For a RAID 10 that is certain only
/// when none is left.
fn gone(ask: &mut Ask, hop: &Subject, level: ArrayLevel) -> Option<Hop> {
    let missing = ask.value(hop, &device::MD_DEGRADED)?;
    let members = ask.value(hop, &device::MD_DISKS)?;
    let bearable = if level.may_lack_more() {
        members.saturating_sub(1)
    } else {
        level.spares(members)?
    };
    let says = format!(
        "{} ({}) has failed: it lacks {missing} of its {members} members",
        hop.name(),
        level.title()
    );
    let bears = Bears::AtRisk(Mend::Restore(hop.clone()));
    let hop = (
        Passage::Unknown,
        evidence(ask, hop, &device::MD_DEGRADED, bears, says),
    );
    (missing > bearable).then_some(hop)
}

/// The effect of a power failure on data that is not being written.
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
                format!(
                    "{name} ({level}) has a write hole, and it is unknown whether it lacks a member"
                ),
            )
        }
        (None, _) => {
            ask.miss(hop, &device::MD_CONSISTENCY, None);
            (
                Bears::Unproven,
                format!(
                    "{name} ({level}) may be degraded, and its consistency policy is not known"
                ),
            )
        }
    };
    Some((
        Passage::Sent,
        evidence(ask, hop, &device::MD_CONSISTENCY, bears, says),
    ))
}
