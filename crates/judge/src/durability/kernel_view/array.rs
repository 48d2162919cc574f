//! An md array: whether it runs, and whether a power failure can damage data at rest. A degraded
//! RAID 4, 5 or 6 without journal or partial parity log computes missing data from parity that may
//! be wrong (md(4); *cannot start dirty degraded array* in raid5.c).

use super::{HopFinding, kernel_evidence};
use crate::durability::device_view::FlushOutcome;
use crate::durability::fact_reader::FactReader;
use crate::durability::{Impact, Remedy};
use crate::facts::Subject;
use crate::facts::catalog::device::{self, ArrayLevel, ArrayState, ConsistencyPolicy};

/// Findings about an array besides its queue; empty if there are none.
pub fn array_findings(ask: &mut FactReader, hop: &Subject) -> Vec<HopFinding> {
    let level = ask.require(hop, &device::MD_LEVEL);
    let state = state_finding(ask, hop)
        .into_iter()
        .chain(level.and_then(|level| member_finding(ask, hop, level)));
    let more = match level {
        Some(level) => level_finding(ask, hop, level),
        None => Some(unknown_level(ask, hop)),
    };
    state.chain(more).collect()
}

fn unknown_level(ask: &FactReader, hop: &Subject) -> HopFinding {
    let says = format!(
        "the RAID level of {} is not known, so a write hole cannot be ruled out",
        hop.name()
    );
    (
        FlushOutcome::Sent,
        kernel_evidence(ask, hop, &device::MD_LEVEL, Impact::Unproven, says),
    )
}

/// A stopped array acknowledges nothing, so nothing is lost; a failed one lost what it
/// acknowledged.
fn state_finding(ask: &mut FactReader, hop: &Subject) -> Option<HopFinding> {
    let name = hop.name();
    let (bears, says) = match ask.get(hop, &device::MD_STATE)? {
        ArrayState::Broken => (
            Impact::AtRisk(Remedy::RestoreArray(hop.clone())),
            format!("{name} has failed (broken): members are missing"),
        ),
        state @ (ArrayState::Clear | ArrayState::Inactive) => (
            Impact::Unproven,
            format!("{name} is not running ({state}), so its data is unreachable"),
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
        FlushOutcome::Unknown,
        kernel_evidence(ask, hop, &device::MD_STATE, bears, says),
    ))
}

/// A member that is not among the devices below the array. An unknown member list is a finding too.
fn member_finding(ask: &mut FactReader, hop: &Subject, level: ArrayLevel) -> Option<HopFinding> {
    if level.is_container() {
        return None;
    }
    let name = hop.name();
    let says = match ask.require(hop, &device::MD_MEMBERS) {
        None => format!("the members of {name} are not known"),
        Some(members) => {
            let failed = ask.get(hop, &device::MD_FAILED).unwrap_or_default();
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
        FlushOutcome::Unknown,
        kernel_evidence(ask, hop, &device::MD_MEMBERS, Impact::Unproven, says),
    ))
}

fn level_finding(ask: &mut FactReader, hop: &Subject, level: ArrayLevel) -> Option<HopFinding> {
    match level {
        ArrayLevel::Raid1 | ArrayLevel::Raid10 => failed_array(ask, hop, level),
        ArrayLevel::Raid4 | ArrayLevel::Raid5 | ArrayLevel::Raid6 => {
            failed_array(ask, hop, level).or_else(|| write_hole_finding(ask, hop, level))
        }
        ArrayLevel::Linear | ArrayLevel::Raid0 => None,
        ArrayLevel::Multipath | ArrayLevel::Faulty | ArrayLevel::Container => {
            let says = format!("walwise cannot judge {} ({})", hop.name(), level.title());
            Some((
                FlushOutcome::Unknown,
                kernel_evidence(ask, hop, &device::MD_LEVEL, Impact::Unproven, says),
            ))
        }
    }
}

/// Whether the array lacks more members than its level tolerates. RAID 10 has certainly failed only
/// when none is left.
fn failed_array(ask: &mut FactReader, hop: &Subject, level: ArrayLevel) -> Option<HopFinding> {
    let missing = ask.get(hop, &device::MD_DEGRADED)?;
    let members = ask.get(hop, &device::MD_DISKS)?;
    let bearable = if level.may_tolerate_more() {
        members.saturating_sub(1)
    } else {
        level.tolerated_losses(members)?
    };
    let says = format!(
        "{} ({}) has failed: it lacks {missing} of its {members} members",
        hop.name(),
        level.title()
    );
    let bears = Impact::AtRisk(Remedy::RestoreArray(hop.clone()));
    let hop = (
        FlushOutcome::Unknown,
        kernel_evidence(ask, hop, &device::MD_DEGRADED, bears, says),
    );
    (missing > bearable).then_some(hop)
}

/// A write hole: a power failure damages data that was not being written.
fn write_hole_finding(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    let (name, level) = (hop.name(), level.title());
    let policy = ask.get(hop, &device::MD_CONSISTENCY);
    let open = policy.and_then(ConsistencyPolicy::has_write_hole);
    let missing = ask.get(hop, &device::MD_DEGRADED);
    let (bears, says) = match (open, missing) {
        (Some(false), _) | (_, Some(0)) => return None,
        (Some(true), Some(missing)) => (
            Impact::AtRisk(Remedy::RebuildArray(hop.clone())),
            format!(
                "{name} ({level}) is degraded ({missing} missing) with its write hole open: a power failure can damage data at rest"
            ),
        ),
        (Some(true), None) => {
            ask.note_missing(hop, &device::MD_DEGRADED, None);
            (
                Impact::Unproven,
                format!(
                    "{name} ({level}) has a write hole, and it is unknown whether a member is missing"
                ),
            )
        }
        (None, _) => {
            ask.note_missing(hop, &device::MD_CONSISTENCY, None);
            (
                Impact::Unproven,
                format!(
                    "{name} ({level}) may be degraded, and its consistency policy is not known"
                ),
            )
        }
    };
    Some((
        FlushOutcome::Sent,
        kernel_evidence(ask, hop, &device::MD_CONSISTENCY, bears, says),
    ))
}
