//! The urgency of a target, by which the text and the screens order targets. The causes are decided elsewhere; this
//! module only compares.

use super::{Report, TargetSummary};
use crate::durability::Standing;

/// The urgency of a target, most urgent first. A critical finding raises a target although its verdict is durable,
/// because the finding can be about the next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Commits may be lost.
    AtRisk,
    /// The evidence is contradictory.
    Contradictory,
    /// A critical finding applies.
    Critical,
    /// The verdict lacks evidence.
    Unproven,
    /// Durable, proven by a drill.
    ProvenByDrill,
    Durable,
    /// Not judged, and no disk.
    Unjudged,
    Device,
}

impl Report {
    /// The urgency of a target; `critical` tells whether a critical finding about it applies.
    pub fn urgency(&self, target: &TargetSummary, critical: impl FnOnce() -> bool) -> Urgency {
        match self.verdict(&target.target).map(|verdict| verdict.standing) {
            _ if target.kind.is_device() => Urgency::Device,
            Some(Standing::AtRisk) => Urgency::AtRisk,
            Some(Standing::Contradictory) => Urgency::Contradictory,
            _ if critical() => Urgency::Critical,
            Some(Standing::Unproven) => Urgency::Unproven,
            Some(Standing::ProvenByDrill) => Urgency::ProvenByDrill,
            Some(Standing::Durable) => Urgency::Durable,
            None => Urgency::Unjudged,
        }
    }
}
