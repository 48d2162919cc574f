//! The sections of a report, which text, Markdown, HTML and the TUI render. Content that several
//! targets share appears under the first of them.

pub(crate) mod dedup;
pub(crate) mod target_order {
    //! The order in which targets are displayed: the worst first, devices last. The report itself
    //! lists targets in the order of subjects.

    use super::dedup::FindingsByTarget;
    use crate::TargetSummary;
    use walwise_judge::durability::VerdictKind;
    use walwise_judge::rules::{Finding, Level, Outcome};

    /// Sorts targets by urgency, and free disks by their rank.
    pub fn sorted_targets_worst_first<'a>(
        findings: &FindingsByTarget<'a>,
    ) -> Vec<&'a TargetSummary> {
        numbered_targets_worst_first(findings)
            .into_iter()
            .map(|(_, target)| target)
            .collect()
    }

    /// The targets with their indices in the report.
    pub fn numbered_targets_worst_first<'a>(
        findings: &FindingsByTarget<'a>,
    ) -> Vec<(usize, &'a TargetSummary)> {
        let mut targets: Vec<_> = findings.report.targets.iter().enumerate().collect();
        targets.sort_by_cached_key(|(_, target)| (target_urgency(findings, target), target.rank));
        targets
    }

    /// The most urgent target has the smallest key. A critical finding makes even a durable target
    /// urgent, because the finding can be about the next boot.
    fn target_urgency(
        findings: &FindingsByTarget<'_>,
        target: &TargetSummary,
    ) -> (u8, Option<VerdictKind>) {
        let verdict = findings.report.verdict(&target.target);
        let standing = verdict.map(|verdict| verdict.standing);
        match standing {
            _ if target.kind.is_device() => (4, None),
            Some(VerdictKind::AtRisk | VerdictKind::Contradictory) => (0, standing),
            _ if critical_finding_count(findings, target) > 0 => (1, None),
            Some(VerdictKind::Unproven | VerdictKind::ProvenByDrill | VerdictKind::Durable) => {
                (2, standing)
            }
            None => (3, None),
        }
    }

    /// Counts the critical findings about the target, its boot lines and its stack.
    pub fn critical_finding_count(
        findings: &FindingsByTarget<'_>,
        target: &TargetSummary,
    ) -> usize {
        let is_critical = |finding: &&&Finding| {
            finding.level == Level::Critical && finding.outcome == Outcome::Applies
        };
        findings
            .target_findings(target)
            .iter()
            .filter(is_critical)
            .count()
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeMap;

        use super::*;
        use crate::{sample_reports, text};
        use walwise_model::facts::catalog::target::{self, TargetKind};
        use walwise_model::facts::{FactSet, Source, Subject};

        #[test]
        fn targets_are_sorted_worst_first() {
            let kinds = [
                (Some(VerdictKind::AtRisk), true),
                (Some(VerdictKind::AtRisk), false),
                (Some(VerdictKind::Contradictory), false),
                (Some(VerdictKind::Durable), true),
                (Some(VerdictKind::Unproven), false),
                (Some(VerdictKind::ProvenByDrill), false),
                (Some(VerdictKind::Durable), false),
                (None, false),
            ];
            let severity = [0, 0, 1, 2, 3, 4, 5, 6];
            for (a, one) in kinds.iter().zip(severity) {
                for (b, other) in kinds.iter().zip(severity) {
                    let text = text::render(&two_target_report(*a, *b));
                    let at = |name: &str| text.find(&format!(": {name}\n")).unwrap();
                    assert_eq!(at("/a") < at("/b"), one <= other, "{a:?} {b:?}\n{text}");
                }
            }
        }

        #[test]
        fn summary_counts_critical_boot_findings() {
            let text = text::render(&two_target_report(
                (Some(VerdictKind::Durable), true),
                (None, false),
            ));
            assert!(
                text.contains("\n  DURABLE, 1 critical  /a\n  UNREADABLE           /b\n"),
                "{text}"
            );
        }

        fn two_target_report(
            a: (Option<VerdictKind>, bool),
            b: (Option<VerdictKind>, bool),
        ) -> crate::Report {
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
                facts.insert_known(
                    &place,
                    &target::KIND,
                    kind,
                    Source::from_system_call("test"),
                );
                facts.add_layer_below(&place, &fs);
                facts.set_fact_link(&place, &fs);
                facts.add_subject(&next);
                facts.set_fact_link(&next, &fs);
                verdicts.extend(standing.map(|standing| sample_reports::verdict(&place, standing)));
                if critical {
                    findings.push(sample_reports::applying_finding(
                        "boot.one",
                        &next,
                        Level::Critical,
                        Vec::new(),
                    ));
                }
            }
            sample_reports::build_sample_report(&facts, verdicts, findings, BTreeMap::new())
        }
    }
}
pub mod flush_path {
    //! A flush path in a line: `commit → PostgreSQL → ext4 ✗ DROPPED   sda ! LOST HERE`.

    use super::Tone;
    use walwise_judge::durability::{FlushHop, FlushState, HopKind, Verdict};

    /// The cause of a verdict in a few words, from the hop that decides it: `ext4 on /data sends no
    /// flushes`. Empty if no hop decides.
    pub fn verdict_cause_text(verdict: &Verdict) -> String {
        let Some(hop) = verdict.deciding_hop() else {
            return String::new();
        };
        let name = match (hop.kind, hop.subjects.as_slice()) {
            (HopKind::FileSystem, [mount]) => format!("{} on {}", hop.name, mount.name()),
            _ => hop.name.clone(),
        };
        match hop.state {
            FlushState::FlushSent => format!("every flush reaches {name}"),
            FlushState::Answered => format!("protected cache: {name}"),
            FlushState::NoCache => format!("no volatile cache: {name}"),
            FlushState::Dropped => format!("flushes are dropped at {name}"),
            FlushState::LostHere => format!("commits can be lost in {name}"),
            FlushState::Disagrees => format!("contradictory sources: {name}"),
            FlushState::Unknown => format!("missing evidence: {name}"),
            FlushState::Passed | FlushState::Unseen | FlushState::NotJudged => String::new(),
        }
    }

    pub fn hop_symbol_word_and_tone(hop: &FlushHop) -> (&'static str, &'static str, Tone) {
        let word = hop.state.as_str();
        match hop.state {
            FlushState::NotJudged if matches!(hop.kind, HopKind::Commit) => ("●", "", Tone::Good),
            FlushState::NotJudged => ("·", "–", Tone::Dim),
            FlushState::Passed | FlushState::FlushSent => ("●", word, Tone::Good),
            FlushState::Answered => ("◆", word, Tone::Good),
            FlushState::NoCache => ("○", word, Tone::Good),
            FlushState::Unknown | FlushState::Unseen => ("?", word, Tone::Doubt),
            FlushState::Disagrees => ("≠", word, Tone::Bad),
            FlushState::Dropped => ("✗", word, Tone::Bad),
            FlushState::LostHere => ("!", word, Tone::Bad),
        }
    }

    pub fn is_hop_unremarkable(hop: &FlushHop) -> bool {
        match hop_symbol_word_and_tone(hop).2 {
            Tone::Good | Tone::Dim => true,
            Tone::Doubt | Tone::Bad => false,
        }
    }

    /// Replaces the blanks in the text of one layer, so that the text never wraps.
    pub const NO_BREAK_SPACE: char = '\u{a0}';

    /// A bar separates parallel layers. No arrow leads to a layer that receives no flush.
    pub fn flush_path_line(path: &[FlushHop]) -> String {
        let mut out = String::new();
        let mut before: Option<u32> = None;
        for hop in path {
            let is_fine = hop.state.needs_no_explanation();
            // Disks behind a controller are shown only if something is wrong with them.
            if matches!(hop.kind, HopKind::Members) && is_fine {
                continue;
            }
            out.push_str(match before {
                None => "",
                Some(rank) if rank == hop.rank => " | ",
                Some(_) if hop.arrival.is_suppressed() => "\u{a0}\u{a0} ",
                Some(_) => " → ",
            });
            before = Some(hop.rank);
            let is_to_come = matches!(hop.kind, HopKind::Server) && hop.subjects.is_empty();
            let name = if is_to_come {
                format!("({})", hop.name)
            } else {
                hop.name.clone()
            };
            let text = if is_fine {
                name
            } else {
                format!("{name} {} {}", hop_symbol_word_and_tone(hop).0, hop.state)
            };
            out.push_str(&text.replace(' ', &NO_BREAK_SPACE.to_string()));
        }
        out
    }
}
pub mod answers;
pub mod baseline;
pub mod findings;
pub mod host;
pub mod latency;
mod plan;
pub(crate) mod saved_report;
mod section;
pub mod short_report;
pub mod target;
pub mod unknown_facts;
pub mod upgrade;
pub mod what_if;
pub mod wording;

use std::fmt;

use dedup::FindingsByTarget;

use super::{Report, TargetSummary};
use walwise_judge::durability::VerdictKind;
use walwise_model::facts::{Scope, Subject};
use walwise_model::parallel;

pub use section::{
    Badge, Bullet, BulletList, CellRenderer, Detail, Element, Grid, HeadingLevel, ItemRef, Section,
    StepInstruction,
};

/// A part of the report that `--only` selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    Plan,
    Evidence,
    Latency,
    Unknown,
}

/// The first group is the header. Each target that has the part adds one more.
pub(crate) fn report_part_section_groups(report: &Report, part: ReportPart) -> Vec<Vec<Section>> {
    let findings = FindingsByTarget::new(report);
    let targets = target_order::sorted_targets_worst_first(&findings);
    let places = findings.assign_first_mentions(&targets);
    let mut groups: Vec<Vec<Section>> = vec![host::header_sections(report)];
    for (place, target) in targets.iter().enumerate() {
        let sections =
            target::target_report_part_sections(&mut places.target_tracker(place), target, part);
        if !sections.is_empty() {
            groups.push([vec![target::target_heading(report, target)], sections].concat());
        }
    }
    groups
}

/// The advice about one target, for outputs that show one target at a time.
#[derive(Clone, Debug, Default)]
pub struct AdviceSections {
    /// The changes and the findings without advice, each once, the most urgent first.
    pub fixes: Option<Section>,
    pub change: Option<Section>,
    no_change: Option<Section>,
    options: Option<Section>,
    findings: Option<Section>,
    pub undecided: Option<Section>,
    withheld: Option<Section>,
    conflicts: Option<Section>,
}

impl AdviceSections {
    /// Collects the advice about a target and about the host, including advice that other targets
    /// share.
    pub fn new(report: &Report, target: &TargetSummary) -> Self {
        let findings = FindingsByTarget::for_target_and_host(report, target);
        let places = findings.assign_first_mentions(&[target]);
        let chapter = &mut places.target_tracker(0);
        let concerns = |of: &Subject| of.scope() == Scope::Host || target.subjects.contains(of);
        Self {
            fixes: plan::fixes_section(chapter, target),
            change: plan::changes_section(chapter, target),
            no_change: plan::no_change_section(chapter, target),
            options: plan::optional_changes_section(chapter, target),
            findings: findings::findings_without_advice_section(chapter, target),
            undecided: findings::target_undecided_section(chapter, target),
            withheld: host::withheld_section(report, concerns),
            conflicts: host::conflicts_section(report, concerns),
        }
    }

    /// Returns the sections that repeat nothing of `fixes`, without the undecided ones.
    pub fn sections_without_repeated_fixes(&self) -> impl Iterator<Item = &Section> {
        [
            &self.options,
            &self.withheld,
            &self.conflicts,
            &self.no_change,
        ]
        .into_iter()
        .flatten()
    }

    pub fn sections_except_fixes(&self) -> impl Iterator<Item = &Section> {
        let Self {
            fixes: _,
            change,
            no_change: right,
            options,
            findings: found,
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

pub(crate) fn targets_worst_first(report: &Report) -> Vec<&TargetSummary> {
    target_order::sorted_targets_worst_first(&FindingsByTarget::new(report))
}

/// Indices into `report.targets`.
pub fn target_indices_worst_first(report: &Report) -> Vec<usize> {
    target_order::numbered_targets_worst_first(&FindingsByTarget::new(report))
        .into_iter()
        .map(|(index, _)| index)
        .collect()
}

/// The first group is about the host and lists the targets, each target has one group, and the
/// last group has everything that belongs to no target.
pub(crate) fn full_report_section_groups(report: &Report) -> Vec<Vec<Section>> {
    let findings = FindingsByTarget::new(report);
    let targets = target_order::sorted_targets_worst_first(&findings);
    let places = findings.assign_first_mentions(&targets);
    let mut first = host::header_sections(report);
    first.extend(baseline::baseline_sections(report));
    first.extend(host::targets_summary_section(&findings, &targets));
    let numbered: Vec<(usize, &TargetSummary)> = targets.iter().copied().enumerate().collect();
    let mut groups = vec![first];
    groups.extend(parallel::map_items(&numbered, |(place, target)| {
        target::target_sections(&mut places.target_tracker(*place), target)
    }));
    let untargeted = &mut places.target_tracker(targets.len());
    groups.push(host::host_sections(report, untargeted));
    groups
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Dim,
    Doubt,
    Bad,
}

impl From<VerdictKind> for Tone {
    fn from(standing: VerdictKind) -> Self {
        match standing {
            VerdictKind::AtRisk | VerdictKind::Contradictory => Self::Bad,
            VerdictKind::Unproven => Self::Doubt,
            VerdictKind::ProvenByDrill | VerdictKind::Durable => Self::Good,
        }
    }
}

pub(crate) fn read_before_running_notice(report: &Report) -> String {
    let masked = if report.host.live {
        ""
    } else {
        " The report is from a capture, in which names and serial numbers may be masked."
    };
    format!(
        "For review: nothing was changed. Read each command before you run it; most commands need \
         root.{masked}"
    )
}

pub fn verdict_symbol(standing: VerdictKind) -> &'static str {
    match standing {
        VerdictKind::AtRisk => "!",
        VerdictKind::Contradictory => "≠",
        VerdictKind::Unproven => "?",
        VerdictKind::ProvenByDrill | VerdictKind::Durable => "●",
    }
}

/// Text with markup: names, values and commands are separate from plain words, so that each output
/// can mark and escape them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RichText(Vec<TextSpan>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSpan {
    Plain(String),
    Code(String),
    /// A walwise command for the reader to run; plain text puts it in backticks.
    Command(String),
    Strong(String),
    /// A verdict in a heading; plain text writes it in capitals.
    Verdict(String),
    /// A reference to a heading of the full report. Plain text shows the option `-v` instead.
    SeeSection(&'static str),
}

impl RichText {
    pub fn plain(words: impl Into<String>) -> Self {
        Self(vec![TextSpan::Plain(words.into())])
    }

    pub fn code(name: impl Into<String>) -> Self {
        Self(vec![TextSpan::Code(name.into())])
    }

    pub(crate) fn strong(words: impl Into<String>) -> Self {
        Self(vec![TextSpan::Strong(words.into())])
    }

    pub fn verdict(words: impl Into<String>) -> Self {
        Self(vec![TextSpan::Verdict(words.into())])
    }

    pub(crate) fn comma_separated_codes<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::join(names.into_iter().map(Self::code), ", ")
    }

    pub(crate) fn join(texts: impl Iterator<Item = Self>, separator: &str) -> Self {
        texts
            .reduce(|all, one| all.append(separator).append_rich_text(one))
            .unwrap_or_default()
    }

    #[must_use]
    pub fn append(mut self, words: impl Into<String>) -> Self {
        self.0.push(TextSpan::Plain(words.into()));
        self
    }

    #[must_use]
    pub(crate) fn append_code(mut self, name: impl Into<String>) -> Self {
        self.0.push(TextSpan::Code(name.into()));
        self
    }

    #[must_use]
    pub(crate) fn append_command(mut self, command: impl Into<String>) -> Self {
        self.0.push(TextSpan::Command(command.into()));
        self
    }

    #[must_use]
    pub(crate) fn append_section_reference(mut self, heading: &'static str) -> Self {
        self = self.append(" (");
        self.0.push(TextSpan::SeeSection(heading));
        self.append(")")
    }

    #[must_use]
    pub(crate) fn append_rich_text(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn spans(&self) -> &[TextSpan] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.to_string().is_empty()
    }
}

impl<S: Into<String>> From<S> for RichText {
    fn from(words: S) -> Self {
        Self::plain(words)
    }
}

impl fmt::Display for RichText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|fragment| match fragment {
            TextSpan::Plain(words) | TextSpan::Code(words) | TextSpan::Strong(words) => {
                f.write_str(words)
            }
            TextSpan::Command(command) => write!(f, "`{command}`"),
            TextSpan::SeeSection(_) => f.write_str("-v"),
            TextSpan::Verdict(words) => f.write_str(&words.to_uppercase()),
        })
    }
}
