//! How much a target needs somebody, by which the text and the screens order targets. What makes it so is decided elsewhere;
//! this only compares.

use super::{Report, TargetSummary};
use crate::durability::Standing;

/// How much a target needs somebody, most first. A critical finding moves a target up although its verdict is durable,
/// because the finding can be about the next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Commits may be lost.
    AtRisk,
    /// The evidence disagrees.
    Contradictory,
    /// A critical finding applies.
    Critical,
    /// The verdict lacks something.
    Unproven,
    /// All is well, by experiment.
    ProvenByDrill,
    /// All is well.
    Durable,
    /// No disk, and not judged.
    Unjudged,
    /// A disk to make something of.
    Device,
}

impl Report {
    /// How much a target needs somebody; `critical` is whether a critical finding about it applies.
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
