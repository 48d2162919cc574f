//! The short report. Less important parts are cut and counted. Critical findings, limits of a
//! verdict, withheld advice, notes, and the number of undecided critical rules are never cut.

use std::collections::BTreeSet;

use super::answers::{self, AnswerRow};
use super::dedup::{FindingsByTarget, ShownItemsTracker};
use super::section::{Badge, Bullet, Detail, Grid, Section};
use super::{
    RichText, baseline, findings, flush_path, host, latency, target, target_order, unknown_facts,
    what_if, wording,
};
use crate::fixes::{self, RecommendedFix};
use crate::{Report, TargetSummary};
use walwise_judge::rules::{Finding, Level};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::Scope;
use walwise_model::facts::catalog::mount;
use walwise_model::settings::SettingKind;

pub(crate) enum ShortPart {
    Line(Bullet),
    Grid(Grid),
    Answers(Vec<AnswerRow>),
    Fixes(FixList),
    Section(Section),
}

pub(crate) struct FixList {
    entries: Vec<FixListEntry>,
    /// The command that prints the fstab lines for changed mount options.
    persist: Option<ShellCommand>,
}

struct FixListEntry {
    /// The number for display; `None` on targets that are not shown in full.
    number: Option<usize>,
    fix: Bullet,
    level: Level,
    rules: Vec<String>,
    is_mount: bool,
    /// Shown at every level of detail.
    is_kept: bool,
}

/// The entries of a [`FixList`] at one level of detail.
pub(crate) struct VisibleFixes {
    pub entries: Vec<(Option<usize>, Bullet)>,
    /// A line with the number of cut entries and their rules.
    pub more: Option<String>,
    pub persist: Option<ShellCommand>,
}

impl FixList {
    pub fn has_urgent_fix(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.level >= Level::Warning)
    }

    pub fn visible_fixes(&self, detail: FixDetailLimit) -> VisibleFixes {
        let (shown, cut): (Vec<_>, Vec<_>) = self
            .entries
            .iter()
            .enumerate()
            .partition(|(at, entry)| entry.is_kept || *at < detail.entries);
        let more = (!cut.is_empty()).then(|| {
            let count = cut.len();
            let rules = cut.iter().flat_map(|(_, entry)| &entry.rules);
            match &*wording::distinct_texts(rules.map(String::as_str)) {
                [one, two, three, _, ..] => {
                    format!("+ {count} more: {one}, {two}, {three}, … (--only plan)")
                }
                few => format!("+ {count} more: {}", few.join(", ")),
            }
        });
        let entry = |entry: &FixListEntry| {
            let mut fix = entry.fix.clone();
            if !detail.sources && entry.level < Level::Critical {
                fix.rule.clear();
                fix.details
                    .retain(|detail| !matches!(detail, Detail::Verbose(..)));
            }
            (entry.number, fix)
        };
        let persists = detail.sources && shown.iter().any(|(_, entry)| entry.is_mount);
        VisibleFixes {
            entries: shown.iter().map(|(_, fix)| entry(fix)).collect(),
            more,
            persist: self.persist.clone().filter(|_| persists),
        }
    }

    fn from_critical_fixes(report: &Report, fixes: &[RecommendedFix<'_>]) -> Self {
        let critical = fixes.iter().filter(|fix| fix.level == Level::Critical);
        Self {
            entries: critical
                .map(|fix| FixListEntry::new(report, None, None, fix))
                .collect(),
            persist: None,
        }
    }
}

impl FixListEntry {
    fn new(
        report: &Report,
        of: Option<&TargetSummary>,
        number: Option<usize>,
        fix: &RecommendedFix<'_>,
    ) -> Self {
        Self {
            number,
            fix: answers::fix_bullet(report, of, fix),
            level: fix.level,
            rules: fix.rules.clone(),
            is_mount: fix
                .setting
                .is_some_and(|setting| setting.kind == SettingKind::MountOptions),
            is_kept: fix.level == Level::Critical
                || fix.level == Level::Warning && !fix.commands.is_empty()
                || of.is_some_and(|of| of.kind.is_device()) && fix.setting.is_some(),
        }
    }
}

/// Targets beyond this number are listed only if they have critical findings.
const MAX_TARGETS: usize = 12;

/// Limits the number of fixes and their details. Critical fixes, warnings with a command, and steps
/// for a free disk are always shown.
#[derive(Clone, Copy)]
pub(crate) struct FixDetailLimit {
    /// The number of first entries that are shown. Later entries are shown only if never cut.
    pub entries: usize,
    /// True if rules, the source of the present value, and the command for fstab are shown.
    /// Critical entries always show rules and source.
    pub sources: bool,
}

impl FixDetailLimit {
    /// All levels of detail, from most to least.
    pub const ALL: [Self; 7] = [
        Self::new(3, true),
        Self::new(2, true),
        Self::new(1, true),
        Self::new(2, false),
        Self::new(1, false),
        Self::new(0, true),
        Self::new(0, false),
    ];

    const fn new(entries: usize, sources: bool) -> Self {
        Self { entries, sources }
    }
}

pub(crate) fn short_report_parts(report: &Report) -> Vec<ShortPart> {
    let by_target = FindingsByTarget::new(report);
    let targets = target_order::sorted_targets_worst_first(&by_target);
    let places = by_target.assign_first_mentions(&targets);
    let mut lines = vec![sentence_line(host::header_line(report))];
    if targets.is_empty() {
        lines.push(sentence_line(host::NO_TARGETS_SENTENCE));
    }
    lines.extend(targets_table(&by_target, &targets));
    let mut said_limits: Vec<&str> = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let chapter = places.target_tracker(place);
        let limits = report
            .verdict(&target.target)
            .map_or("", |verdict| &*verdict.limits);
        if place == 0 && report.baseline.is_none() {
            lines.extend(main_target_parts(&chapter, target));
        } else if place == 0 {
            lines.extend(verdict_parts(report, target));
        } else {
            if !limits.is_empty() && !said_limits.contains(&limits) {
                lines.extend(verdict_parts(report, target));
            }
            lines.extend(never_cut_parts(&chapter, target));
        }
        said_limits.push(limits);
    }
    if report.baseline.is_some() {
        lines.extend(
            baseline::baseline_sections(report)
                .into_iter()
                .map(ShortPart::Section),
        );
        if let Some(target) = targets.first() {
            lines.extend(never_cut_parts(&places.target_tracker(0), target));
        }
    }
    lines.extend(untargeted_parts(report));
    let notes = report.warnings.iter();
    lines.extend(notes.map(|note| labelled_line("Note", note.to_string())));
    let what_if = report.what_if.iter();
    let sections = what_if.flat_map(what_if::short_what_if_sections);
    lines.extend(sections.map(ShortPart::Section));
    remove_repeated_parts(lines)
}

/// Targets can share disks and servers, and therefore lines and fixes.
fn remove_repeated_parts(mut pieces: Vec<ShortPart>) -> Vec<ShortPart> {
    let mut told = BTreeSet::new();
    let mut is_new = |line: &Bullet| {
        let label = line.badges.first().map(Badge::badge_text);
        told.insert((label, line.rule.clone(), line.text.to_string()))
    };
    pieces.retain_mut(|piece| match piece {
        ShortPart::Line(line) => is_new(line),
        ShortPart::Fixes(list) => {
            list.entries.retain(|entry| is_new(&entry.fix));
            !list.entries.is_empty()
        }
        ShortPart::Grid(_) | ShortPart::Answers(_) | ShortPart::Section(_) => true,
    });
    pieces
}

fn labelled_line(label: &'static str, says: impl Into<RichText>) -> ShortPart {
    ShortPart::Line(Bullet::with_badge(Badge::Remark(label), says))
}

fn sentence_line(says: impl Into<RichText>) -> ShortPart {
    ShortPart::Line(Bullet::from_sentence(says))
}

/// Empty with fewer than two targets.
fn targets_table(by_target: &FindingsByTarget<'_>, targets: &[&TargetSummary]) -> Vec<ShortPart> {
    if targets.len() < 2 {
        return Vec::new();
    }
    let report = by_target.report;
    let row = |target: &TargetSummary| {
        let standing = target::verdict_or_content_heading(report, target);
        let about = by_target.target_findings(target);
        let mut fixes = fixes::target_fixes(report, target, about);
        fixes.retain(|fix| fix.level == Level::Critical);
        let standing = match fixes.len() {
            0 => standing,
            count => standing.append(format!(", {count} critical")),
        };
        let latency =
            latency::durable_median_text(report, target).unwrap_or_else(|| "–".to_owned());
        vec![
            standing,
            RichText::code(&target.title),
            target_filesystem_type(report, target).into(),
            latency.into(),
        ]
    };
    let (named, others): (Vec<_>, Vec<_>) =
        targets.iter().enumerate().partition(|(place, target)| {
            *place < MAX_TARGETS || target_order::critical_finding_count(by_target, target) > 0
        });
    let rows = named.into_iter().map(|(_, target)| row(target)).collect();
    let grid = Grid {
        head: vec!["verdict", "target", "file system", "latency"],
        rows,
        ..Grid::default()
    };
    let more = omitted_count_line(others.len(), " targets", "Contents");
    [ShortPart::Grid(grid)].into_iter().chain(more).collect()
}

/// The type of the target's file system; empty if the target is not mounted.
pub fn target_filesystem_type(report: &Report, target: &TargetSummary) -> String {
    let mounted = report
        .facts
        .applicable_subject(&target.target, Scope::Mount);
    mounted
        .and_then(|mounted| report.facts.value(&mounted, &mount::FSTYPE))
        .unwrap_or_default()
}

fn main_target_parts(chapter: &ShownItemsTracker<'_>, of: &TargetSummary) -> Vec<ShortPart> {
    let report = chapter.report;
    let mut pieces = verdict_parts(report, of);
    if let Some(verdict) = report.verdict(&of.target) {
        let path = flush_path::flush_path_line(&verdict.flush_path);
        pieces.push(labelled_line("Path", path));
    }
    pieces.extend(answers::filesystem_candidates_grid(report, of).map(ShortPart::Grid));
    pieces.push(ShortPart::Answers(answers::answer_rows(of)));
    pieces.push(ShortPart::Fixes(target_fix_list(chapter, of)));
    pieces.extend(never_cut_lines(chapter, of));
    pieces.push(ShortPart::Line(unknown_facts::unknown_facts_line(
        chapter, of,
    )));
    pieces
}

fn target_fix_list(chapter: &ShownItemsTracker<'_>, of: &TargetSummary) -> FixList {
    let report = chapter.report;
    let fixes = fixes::target_fixes(report, of, chapter.target_findings(of));
    let persist = fixes::fstab_export_command(report, of);
    FixList {
        entries: (1..)
            .zip(&fixes)
            .map(|(number, fix)| FixListEntry::new(report, Some(of), Some(number), fix))
            .collect(),
        persist: persist.filter(|_| !of.kind.is_device()),
    }
}

fn never_cut_parts(chapter: &ShownItemsTracker<'_>, of: &TargetSummary) -> Vec<ShortPart> {
    let report = chapter.report;
    let fixes = fixes::target_fixes(report, of, chapter.target_findings(of));
    let mut pieces = vec![ShortPart::Fixes(FixList::from_critical_fixes(
        report, &fixes,
    ))];
    pieces.extend(never_cut_lines(chapter, of));
    pieces
}

/// The section `heading` lists the omitted entries. `what` follows the number and begins with a
/// blank. `None` if nothing is omitted.
fn omitted_count_line(count: usize, what: &str, heading: &'static str) -> Option<ShortPart> {
    let says =
        || RichText::plain(format!("+ {count} more{what}")).append_section_reference(heading);
    (count > 0).then(|| sentence_line(says()))
}

fn verdict_parts(report: &Report, of: &TargetSummary) -> Vec<ShortPart> {
    let verdict = report.verdict(&of.target);
    let heading = target::verdict_or_content_heading(report, of);
    let badge = Badge::Verdict(heading, verdict.map(|verdict| verdict.standing));
    let head = Bullet::with_badge(badge, RichText::code(&of.title));
    let sentences = match verdict {
        Some(verdict) => [
            &verdict.sentence,
            &verdict.second_fault,
            &verdict.host_loss,
            &verdict.limits,
        ]
        .into_iter()
        .filter(|says| !says.is_empty())
        .cloned()
        .collect(),
        None => target::device_content_sentences(of),
    };
    let mut parts = vec![ShortPart::Line(head)];
    parts.extend(sentences.into_iter().map(sentence_line));
    parts
}

/// `what` follows the word `critical`; it is empty or begins with a blank. `None` if no
/// critical finding is undecided.
fn undecided_critical_line(findings: &[&Finding], what: &str) -> Option<ShortPart> {
    let open = findings
        .iter()
        .filter(|finding| finding.level == Level::Critical && finding.outcome.is_undecided());
    let rules = wording::distinct_texts(open.map(|finding| &*finding.rule));
    let count = rules.len();
    let says = RichText::plain(format!("{count} critical{what}: "))
        .append_rich_text(RichText::comma_separated_codes(rules));
    (count > 0).then(|| labelled_line("Undecided", says))
}

/// Undecided critical rules and withheld advice.
fn never_cut_lines(
    chapter: &ShownItemsTracker<'_>,
    of: &TargetSummary,
) -> impl Iterator<Item = ShortPart> {
    let withheld = chapter
        .report
        .withheld
        .iter()
        .filter(|one| of.subjects.contains(&one.subject));
    undecided_critical_line(chapter.target_findings(of), "")
        .into_iter()
        .chain(withheld.map(withheld_line))
}

fn withheld_line(one: &crate::WithheldAdvice) -> ShortPart {
    let says = wording::withheld_advice_text(one);
    ShortPart::Line(Bullet {
        rule: one.rule.clone(),
        ..Bullet::with_badge(Badge::Remark("Withheld"), says)
    })
}

fn untargeted_parts(report: &Report) -> Vec<ShortPart> {
    let (host, beside) = findings::host_and_other_untargeted_findings(report);
    let beside_asked = findings::other_targets_note(report, &beside);
    let told = if report.asked.is_some() {
        host
    } else {
        [host, beside].concat()
    };
    let fixes = fixes::untargeted_fixes(&told);
    let lesser = fixes
        .iter()
        .filter(|fix| fix.level < Level::Critical)
        .count();
    let mut pieces = vec![ShortPart::Fixes(FixList::from_critical_fixes(
        report, &fixes,
    ))];
    pieces.extend(undecided_critical_line(&told, " about the host"));
    let known = report.target_subjects();
    let withheld = report.withheld.iter();
    let withheld = withheld.filter(|one| !known.contains(&one.subject));
    pieces.extend(withheld.map(withheld_line));
    pieces.extend(omitted_count_line(lesser, " about the host", "Findings"));
    pieces.extend(beside_asked.map(sentence_line));
    pieces
}
