//! State of an md array: whether the array runs, and whether a power failure can damage data at
//! rest.
//!
//! A degraded RAID 4, 5 or 6 computes missing data from parity. Without a journal or partial parity
//! log, a power failure can leave the parity wrong (md(4); *cannot start dirty degraded array* in
//! raid5.c).

use super::{HopFinding, kernel_evidence};
use crate::durability::device_view::FlushOutcome;
use crate::durability::fact_reader::FactReader;
use crate::durability::{Remedy, VerdictImpact};
use crate::facts::Subject;
use crate::facts::catalog::device::{self, ArrayLevel, ArrayState, ConsistencyPolicy};

pub fn array_findings(ask: &mut FactReader, hop: &Subject) -> Vec<HopFinding> {
    let level = ask.require(hop, &device::MD_LEVEL);
    let state = inoperative_array_finding(ask, hop)
        .into_iter()
        .chain(level.and_then(|level| missing_member_finding(ask, hop, level)));
    let more = match level {
        Some(level) => level_finding(ask, hop, level),
        None => Some(unknown_level_finding(ask, hop)),
    };
    state.chain(more).collect()
}

fn unknown_level_finding(ask: &FactReader, hop: &Subject) -> HopFinding {
    let says = format!(
        "the RAID level of {} is unknown, so a write hole cannot be ruled out",
        hop.name()
    );
    (
        FlushOutcome::Sent,
        kernel_evidence(ask, hop, &device::MD_LEVEL, VerdictImpact::Unproven, says),
    )
}

/// A finding about an array that does not run. A stopped array acknowledges nothing, so its data is
/// unproven, not at risk. A failed array has lost acknowledged data.
fn inoperative_array_finding(ask: &mut FactReader, hop: &Subject) -> Option<HopFinding> {
    let name = hop.name();
    let (bears, says) = match ask.get(hop, &device::MD_STATE)? {
        ArrayState::Broken => (
            VerdictImpact::AtRisk(Remedy::RestoreArray(hop.clone())),
            format!("{name} has failed (broken): members are missing"),
        ),
        state @ (ArrayState::Clear | ArrayState::Inactive) => (
            VerdictImpact::Unproven,
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

fn missing_member_finding(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    if level.is_container() {
        return None;
    }
    let name = hop.name();
    let says = match ask.require(hop, &device::MD_MEMBERS) {
        None => format!("the members of {name} are unknown"),
        Some(members) => {
            let failed = ask.get(hop, &device::MD_FAILED).unwrap_or_default();
            let below = ask.facts.directly_below(hop);
            let names = members.iter().filter_map(|member| member.split(' ').next());
            let mut unseen = names.filter(|member| {
                !failed.iter().any(|failed| failed == member)
                    && !below.contains(&Subject::device(*member))
            });
            let member = unseen.next()?;
            format!("{member}, a member of {name}, is not among its underlying devices")
        }
    };
    Some((
        FlushOutcome::Unknown,
        kernel_evidence(ask, hop, &device::MD_MEMBERS, VerdictImpact::Unproven, says),
    ))
}

fn level_finding(ask: &mut FactReader, hop: &Subject, level: ArrayLevel) -> Option<HopFinding> {
    match level {
        ArrayLevel::Raid1 | ArrayLevel::Raid10 => array_failure_finding(ask, hop, level),
        ArrayLevel::Raid4 | ArrayLevel::Raid5 | ArrayLevel::Raid6 => {
            array_failure_finding(ask, hop, level).or_else(|| write_hole_finding(ask, hop, level))
        }
        ArrayLevel::Linear | ArrayLevel::Raid0 => None,
        ArrayLevel::Multipath | ArrayLevel::Faulty | ArrayLevel::Container => {
            let says = format!(
                "walwise cannot judge {} ({})",
                hop.name(),
                level.display_name()
            );
            Some((
                FlushOutcome::Unknown,
                kernel_evidence(ask, hop, &device::MD_LEVEL, VerdictImpact::Unproven, says),
            ))
        }
    }
}

/// A finding about an array that lacks more members than its level tolerates. RAID 10 counts as
/// failed only if every member is missing, because the layout of the copies is unknown.
fn array_failure_finding(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    let missing = ask.get(hop, &device::MD_DEGRADED)?;
    let members = ask.get(hop, &device::MD_DISKS)?;
    let bearable = if level.may_tolerate_more_losses() {
        members.saturating_sub(1)
    } else {
        level.tolerated_losses(members)?
    };
    let says = format!(
        "{} ({}) has failed: it lacks {missing} of its {members} members",
        hop.name(),
        level.display_name()
    );
    let bears = VerdictImpact::AtRisk(Remedy::RestoreArray(hop.clone()));
    let hop = (
        FlushOutcome::Unknown,
        kernel_evidence(ask, hop, &device::MD_DEGRADED, bears, says),
    );
    (missing > bearable).then_some(hop)
}

fn write_hole_finding(
    ask: &mut FactReader,
    hop: &Subject,
    level: ArrayLevel,
) -> Option<HopFinding> {
    let (name, level) = (hop.name(), level.display_name());
    let policy = ask.get(hop, &device::MD_CONSISTENCY);
    let open = policy.and_then(ConsistencyPolicy::has_write_hole);
    let missing = ask.get(hop, &device::MD_DEGRADED);
    let (bears, says) = match (open, missing) {
        (Some(false), _) | (_, Some(0)) => return None,
        (Some(true), Some(missing)) => (
            VerdictImpact::AtRisk(Remedy::RebuildArray(hop.clone())),
            format!(
                "{name} ({level}) is degraded ({missing} missing) with its write hole open: a power failure can damage data at rest"
            ),
        ),
        (Some(true), None) => {
            ask.note_missing(hop, &device::MD_DEGRADED, None);
            (
                VerdictImpact::Unproven,
                format!(
                    "{name} ({level}) has a write hole, and it is unknown whether a member is missing"
                ),
            )
        }
        (None, _) => {
            ask.note_missing(hop, &device::MD_CONSISTENCY, None);
            (
                VerdictImpact::Unproven,
                format!("{name} ({level}) may be degraded, and its consistency policy is unknown"),
            )
        }
    };
    Some((
        FlushOutcome::Sent,
        kernel_evidence(ask, hop, &device::MD_CONSISTENCY, bears, says),
    ))
}
