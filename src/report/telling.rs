//! What a report says to people, made once: which sections in which order, and what stands in each.
//!
//! The forms of a report draw these sections ([`super::text`], [`super::markdown`]), and so do the screens, one target at a
//! time. What is shared by several targets is told under the first of them. The sections of a
//! large host are made by all processors.

mod once;
mod order;
mod phrase;
mod tone;
pub mod flush;
mod section;
pub mod words;
pub mod answers;
mod baseline;
pub mod kept;
pub mod plan;
mod findings;
pub mod price;
pub mod unknown;
pub mod target;
pub mod what_if;
pub mod host;
pub mod short;
pub mod upgrade;

use std::collections::BTreeMap;

use super::{Report, TargetSummary};
use crate::facts::{Scope, Subject};
use crate::workers;
use once::FindingsByTarget;
pub use phrase::{Fragment, Phrase};
pub use section::{About, Bullet, Bullets, Cells, Detail, Element, Grid, Instruction, Mark, Rank, Section};
pub use tone::{Tone, sign};

/// A part of the report that can be told alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// What to do, in order, with all commands.
    Plan,
    /// What each verdict rests on.
    Evidence,
    Price,
    /// What is not known, what it leaves undecided, and what would help.
    Unknown,
}

/// One part of the report, for each target that has it.
pub fn only(report: &Report, part: ReportPart) -> Vec<Vec<Section>> {
    let findings = FindingsByTarget::new(report);
    let targets = order::worst_first(&findings);
    let places = findings.places(&targets);
    let mut groups: Vec<Vec<Section>> = vec![host::head(report)];
    for (place, target) in targets.iter().enumerate() {
        let sections = target::part(&mut places.chapter(place), target, part);
        if !sections.is_empty() {
            groups.push([vec![target::heading_alone(report, target)], sections].concat());
        }
    }
    groups
}

/// What there is to do about one target and what is to be known of it, for forms that show one target at a time.
#[derive(Clone, Debug, Default)]
pub struct Advised {
    pub change: Option<Section>,
    pub right: Option<Section>,
    pub options: Option<Section>,
    pub found: Option<Section>,
    pub undecided: Option<Section>,
    withheld: Option<Section>,
    conflicts: Option<Section>,
}

impl Advised {
    /// Told as if there were no other target.
    pub fn new(report: &Report, target: &TargetSummary) -> Self {
        let findings = FindingsByTarget::alone(report, target);
        let places = findings.places(&[target]);
        let chapter = &mut places.chapter(0);
        let concerns = |of: &Subject| of.scope() == Scope::Host || target.subjects.contains(of);
        Self {
            change: plan::change(chapter, target),
            right: plan::right(chapter, target),
            options: plan::options(chapter, target),
            found: findings::found_of_target(chapter, target),
            undecided: findings::undecided_of_target(chapter, target),
            withheld: host::withheld(report, concerns),
            conflicts: host::conflicts(report, concerns),
        }
    }

    /// All of it in order.
    pub fn sections(&self) -> impl Iterator<Item = &Section> {
        let Self { change, right, options, found, undecided, withheld, conflicts } = self;
        [change, right, options, found, undecided, withheld, conflicts].into_iter().flatten()
    }
}

/// The targets in the order in which they are told.
pub fn worst_first(report: &Report) -> Vec<&TargetSummary> {
    order::worst_first(&FindingsByTarget::new(report))
}

/// Their positions in the report.
pub fn places_worst_first(report: &Report) -> Vec<usize> {
    let places: BTreeMap<&Subject, usize> = report.targets.iter().map(|one| &one.target).zip(0..).collect();
    worst_first(report).into_iter().filter_map(|one| places.get(&one.target).copied()).collect()
}

/// The whole report in groups of sections: the host with its targets in a line each, each target from the worst on, then
/// what concerns no target.
pub fn groups(report: &Report) -> Vec<Vec<Section>> {
    let findings = FindingsByTarget::new(report);
    let targets = order::worst_first(&findings);
    let places = findings.places(&targets);
    let mut first = host::head(report);
    first.extend(baseline::sections(report));
    first.extend(host::summary(&findings, &targets));
    let numbered: Vec<(usize, &TargetSummary)> = targets.iter().copied().enumerate().collect();
    let mut groups = vec![first];
    groups.extend(workers::each(&numbered, |(place, target)| {
        target::sections(&mut places.chapter(*place), target)
    }));
    groups.push(host::rest(report, &mut places.rest()));
    groups
}
