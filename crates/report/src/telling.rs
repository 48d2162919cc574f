//! What a report says to people, made once: which sections in which order, and what stands in each.
//!
//! The forms of a report draw these sections ([`super::text`], [`super::markdown`]), and so do the
//! screens, one target at a time. What is shared by several targets is told under the first of
//! them. The sections of a large host are made by all processors.

pub mod once;
pub mod order {
    //! In which order targets are told: the worst first, free disks last. It orders only what is
    //! shown; the report itself keeps the order of subjects.

    use super::once::FindingsByTarget;
    use crate::TargetSummary;
    use walwise_judge::rules::{Level, Outcome};

    /// The targets of a report: at risk, contradictory, with critical findings, unproven, durable,
    /// free disks by their rank.
    pub(crate) fn worst_first<'a>(findings: &FindingsByTarget<'a>) -> Vec<&'a TargetSummary> {
        let mut targets: Vec<&TargetSummary> = findings.report.targets.iter().collect();
        let urgency = |target| {
            findings
                .report
                .urgency(target, || criticals(findings, target) > 0)
        };
        targets.sort_by_cached_key(|target| (urgency(target), target.rank));
        targets
    }

    /// How many critical findings apply to a target, its boot lines and all beneath it.
    pub fn criticals(findings: &FindingsByTarget<'_>, target: &TargetSummary) -> usize {
        let critical =
            |level, outcome: &Outcome| level == Level::Critical && *outcome == Outcome::Applies;
        findings
            .about(target)
            .iter()
            .filter(|(_, finding)| critical(finding.level, &finding.outcome))
            .count()
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeMap;

        use super::*;
        use crate::{sample, text};
        use walwise_judge::durability::Standing;
        use walwise_model::facts::catalog::target::{self, TargetKind};
        use walwise_model::facts::{FactSet, Source, Subject};

        /// Every combination of two lines' verdict and critical findings stands in the order of the
        /// list, whatever the names.
        #[test]
        fn the_worst_is_told_first() {
            let kinds = [
                (Some(Standing::AtRisk), true),
                (Some(Standing::AtRisk), false),
                (Some(Standing::Contradictory), false),
                (Some(Standing::Durable), true),
                (Some(Standing::Unproven), false),
                (Some(Standing::ProvenByDrill), false),
                (Some(Standing::Durable), false),
                (None, false),
            ];
            let severity = [0, 0, 1, 2, 3, 4, 5, 6];
            for (a, one) in kinds.iter().zip(severity) {
                for (b, other) in kinds.iter().zip(severity) {
                    let text = text::render(&report(*a, *b));
                    let at = |name: &str| text.find(&format!(": {name}\n")).unwrap();
                    assert_eq!(at("/a") < at("/b"), one <= other, "{a:?} {b:?}\n{text}");
                }
            }
        }

        #[test]
        fn a_line_of_the_summary_counts_what_is_critical_about_the_boot_line_too() {
            let text = text::render(&report((Some(Standing::Durable), true), (None, false)));
            assert!(
                text.contains("\n  DURABLE, 1 critical  /a\n  UNREADABLE           /b\n"),
                "{text}"
            );
        }

        fn report(a: (Option<Standing>, bool), b: (Option<Standing>, bool)) -> crate::Report {
            let mut facts = FactSet::default();
            let (mut verdicts, mut findings) = (Vec::new(), Vec::new());
            for (name, (standing, critical)) in [("/a", a), ("/b", b)] {
                let (place, fs, next) = (
                    Subject::target(name),
                    Subject::mount(name),
                    Subject::boot(name),
                );
                let kind = if standing.is_some() {
                    TargetKind::Directory
                } else {
                    TargetKind::Device
                };
                facts.know(&place, &target::KIND, kind, Source::call("test"));
                facts.stand(&place, &fs);
                facts.link(&place, &fs);
                facts.mention(&next);
                facts.link(&next, &fs);
                verdicts.extend(standing.map(|standing| sample::verdict(&place, standing)));
                if critical {
                    findings.push(sample::finding(
                        "boot.one",
                        &next,
                        Level::Critical,
                        Vec::new(),
                    ));
                }
            }
            sample::report(&facts, verdicts, findings, BTreeMap::new())
        }
    }
}
mod phrase;
mod tone {
    //! What words and marks are coloured by, in every form that has colours.

    use walwise_judge::durability::Standing;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tone {
        Good,
        /// Nothing is judged.
        Dim,
        Doubt,
        Bad,
    }

    impl From<Standing> for Tone {
        fn from(standing: Standing) -> Self {
            match standing {
                Standing::AtRisk | Standing::Contradictory => Self::Bad,
                Standing::Unproven => Self::Doubt,
                Standing::ProvenByDrill | Standing::Durable => Self::Good,
            }
        }
    }

    /// The sign of a standing, which says the same as its colour.
    pub fn sign(standing: Standing) -> &'static str {
        match standing {
            Standing::AtRisk => "!",
            Standing::Contradictory => "≠",
            Standing::Unproven => "?",
            Standing::ProvenByDrill | Standing::Durable => "●",
        }
    }
}
pub mod flush {
    //! A flush path in a line: `commit → PostgreSQL → ext4 ✗ DROPPED   sda ! LOST HERE`.
    //!
    //! The path is made in [`walwise_judge::durability`]; this module knows its marks and leaves
    //! drawing in rows to the screens.

    use super::Tone;
    use walwise_judge::durability::{Fate, FlushHop, HopKind};

    /// The mark of a hop, the word beside it, and what both are coloured by. The commit is where
    /// the path begins.
    pub fn sign(hop: &FlushHop) -> (&'static str, &'static str, Tone) {
        let word = hop.fate.word();
        match hop.fate {
            Fate::NotJudged if matches!(hop.kind, HopKind::Commit) => ("●", "", Tone::Good),
            Fate::NotJudged => ("·", "–", Tone::Dim),
            Fate::Passed | Fate::FlushSent => ("●", word, Tone::Good),
            Fate::Answered => ("◆", word, Tone::Good),
            Fate::NoCache => ("○", word, Tone::Good),
            Fate::Unknown | Fate::Unseen => ("?", word, Tone::Doubt),
            Fate::Disagrees => ("≠", word, Tone::Bad),
            Fate::Dropped => ("✗", word, Tone::Bad),
            Fate::LostHere => ("!", word, Tone::Bad),
        }
    }

    /// Whether nothing needs to be said of it beside its word.
    pub fn is_well(hop: &FlushHop) -> bool {
        match sign(hop).2 {
            Tone::Good | Tone::Dim => true,
            Tone::Doubt | Tone::Bad => false,
        }
    }

    /// A blank at which no line is broken: a hop stays in one piece.
    pub const UNBROKEN: char = '\u{a0}';

    /// The path in a line: hops of one rank beside each other, a mark and a word where it is not
    /// simply passed on, and no arrow where no flush arrives.
    pub fn line(path: &[FlushHop]) -> String {
        let mut out = String::new();
        let mut before: Option<u32> = None;
        for hop in path.iter().filter(|hop| is_told(hop)) {
            let glue = match before {
                None => "",
                Some(rank) if rank == hop.rank => " | ",
                Some(_) if hop.arrival.is_suppressed() => "\u{a0}\u{a0} ",
                Some(_) => " → ",
            };
            before = Some(hop.rank);
            out.push_str(glue);
            out.push_str(&name(hop).replace(' ', &UNBROKEN.to_string()));
        }
        out
    }

    /// Disks behind a controller are told where they matter.
    fn is_told(hop: &FlushHop) -> bool {
        !matches!(hop.kind, HopKind::Members) || !hop.fate.is_sound()
    }

    fn name(hop: &FlushHop) -> String {
        let is_to_come = matches!(hop.kind, HopKind::Server) && hop.subjects.is_empty();
        let name = if is_to_come {
            format!("({})", hop.name)
        } else {
            hop.name.clone()
        };
        if hop.fate.is_sound() {
            name
        } else {
            format!("{name} {} {}", sign(hop).0, hop.fate)
        }
    }
}
pub mod answers;
mod baseline;
pub mod findings;
pub mod host;
pub mod kept;
pub mod plan;
pub mod price;
mod section;
pub mod short;
pub mod target;
pub mod unknown;
pub mod upgrade;
pub mod what_if;
pub mod words;

use std::collections::BTreeMap;

use super::{Report, TargetSummary};
use once::FindingsByTarget;
pub use phrase::{Fragment, Phrase};
pub use section::{
    About, Bullet, Bullets, Cells, Detail, Element, Grid, Instruction, Mark, Rank, Section,
};
pub use tone::{Tone, sign};
use walwise_model::facts::{Scope, Subject};
use walwise_model::workers;

/// A part of the report that can be told alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// What to do, in order, with all commands.
    Plan,
    /// What each verdict rests on.
    Evidence,
    Latency,
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

/// What there is to do about one target and what is to be known of it, for forms that show one
/// target at a time.
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
        let Self {
            change,
            right,
            options,
            found,
            undecided,
            withheld,
            conflicts,
        } = self;
        [
            change, right, options, found, undecided, withheld, conflicts,
        ]
        .into_iter()
        .flatten()
    }
}

/// The targets in the order in which they are told.
pub(crate) fn worst_first(report: &Report) -> Vec<&TargetSummary> {
    order::worst_first(&FindingsByTarget::new(report))
}

/// Their positions in the report.
pub fn places_worst_first(report: &Report) -> Vec<usize> {
    let places: BTreeMap<&Subject, usize> = report
        .targets
        .iter()
        .map(|one| &one.target)
        .zip(0..)
        .collect();
    worst_first(report)
        .into_iter()
        .filter_map(|one| places.get(&one.target).copied())
        .collect()
}

/// The whole report in groups of sections: the host with its targets in a line each, each target
/// from the worst on, then what concerns no target.
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
