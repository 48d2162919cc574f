//! The short report of one target in about 25 lines: host, verdict with its limits, flush path,
//! answers, fixes, unknown facts. Several targets get a line each, then the worst follows.
//!
//! Less important parts are cut and counted. Never cut: critical findings, limits of a verdict,
//! withheld advice, notes, and the number of undecided critical rules.

use std::collections::BTreeSet;

use super::answers::{self, AnswerRow};
use super::dedup::{FindingsByTarget, IndexedFinding, TargetView};
use super::section::{Badge, Bullet, Detail, Grid, Section};
use super::{
    RichText, baseline, findings, flush, host, latency, target, target_order, unknown, what_if,
    wording,
};
use crate::fixes::{self, Fix};
use crate::{Report, TargetSummary};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::escape::Command;
use walwise_model::facts::Scope;
use walwise_model::facts::catalog::mount;
use walwise_model::settings::SettingKind;

/// A part of the short report.
#[derive(Clone, Debug)]
pub enum ShortPart {
    /// A line with a label, and commands below it.
    Line(Bullet),
    Grid(Grid),
    /// Settings, now and recommended.
    Answers(Vec<AnswerRow>),
    Fixes(FixList),
    /// A section as in the full report.
    Section(Section),
}

/// What to fix first.
#[derive(Clone, Debug, Default)]
pub struct FixList {
    entries: Vec<FixEntry>,
    /// The number of entries that are never cut.
    uncut: usize,
    /// The command that prints the fstab lines for changed mount options.
    persist: Option<Command>,
}

#[derive(Clone, Debug)]
struct FixEntry {
    /// Its number, if it is about the target shown in full.
    number: Option<usize>,
    fix: Bullet,
    level: Level,
    rules: Vec<String>,
    is_mount: bool,
}

/// The visible part of a list.
pub struct VisibleFixes {
    pub entries: Vec<(Option<usize>, Bullet)>,
    /// The number of cut entries, with their rules.
    pub more: Option<String>,
    pub persist: Option<Command>,
}

impl FixList {
    /// Whether an entry is more than advice.
    pub fn is_urgent(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.level >= Level::Warning)
    }

    /// Cuts the list to the entries that stay, and others as `detail` allows.
    pub fn cut_to(&self, detail: FixDetail) -> VisibleFixes {
        let (shown, cut) = self
            .entries
            .split_at(self.uncut.max(detail.entries).min(self.entries.len()));
        let more = (!cut.is_empty()).then(|| {
            let rules = wording::distinct(
                cut.iter()
                    .flat_map(|entry| entry.rules.iter().map(String::as_str)),
            );
            match rules.as_slice() {
                [one, two, three, _, ..] => {
                    format!(
                        "+ {} more: {one}, {two}, {three}, … (--only plan)",
                        cut.len()
                    )
                }
                few => format!("+ {} more: {}", cut.len(), few.join(", ")),
            }
        });
        let entry = |entry: &FixEntry| {
            let mut fix = entry.fix.clone();
            if !detail.sources && entry.level < Level::Critical {
                fix.rule.clear();
                fix.details
                    .retain(|detail| !matches!(detail, Detail::Verbose(..)));
            }
            (entry.number, fix)
        };
        let persists = detail.sources && shown.iter().any(|entry| entry.is_mount);
        VisibleFixes {
            entries: shown.iter().map(entry).collect(),
            more,
            persist: self.persist.clone().filter(|_| persists),
        }
    }

    /// The critical fixes, without numbers.
    fn critical_only(report: &Report, fixes: &[Fix<'_>]) -> Self {
        let critical = fixes.iter().filter(|fix| fix.level == Level::Critical);
        let entries: Vec<FixEntry> = critical
            .map(|fix| FixEntry::new(report, None, None, fix))
            .collect();
        Self {
            uncut: entries.len(),
            entries,
            persist: None,
        }
    }
}

impl FixEntry {
    fn new(
        report: &Report,
        of: Option<&TargetSummary>,
        number: Option<usize>,
        fix: &Fix<'_>,
    ) -> Self {
        Self {
            number,
            fix: answers::fix_bullet(report, of, fix),
            level: fix.level,
            rules: fix.rules.clone(),
            is_mount: fix
                .setting
                .is_some_and(|setting| setting.kind == SettingKind::MountOptions),
        }
    }
}

/// The number of targets in the table; further ones only if they have critical findings.
const MAX_TARGETS: usize = 12;

/// How much of the fixes is shown. Critical ones, warnings with a command, and steps for a free
/// disk are always shown.
#[derive(Clone, Copy, Debug)]
pub struct FixDetail {
    /// The most entries, unless more must stay.
    pub entries: usize,
    /// Whether entries show the source of the value in force and their rules, and whether the
    /// command for fstab is shown.
    pub sources: bool,
}

impl FixDetail {
    /// From most to least.
    pub const ALL: [Self; 7] = [
        Self {
            entries: 3,
            sources: true,
        },
        Self {
            entries: 2,
            sources: true,
        },
        Self {
            entries: 1,
            sources: true,
        },
        Self {
            entries: 2,
            sources: false,
        },
        Self {
            entries: 1,
            sources: false,
        },
        Self {
            entries: 0,
            sources: true,
        },
        Self {
            entries: 0,
            sources: false,
        },
    ];
}

/// The short report, in order.
pub fn short_parts(report: &Report) -> Vec<ShortPart> {
    let by_target = FindingsByTarget::new(report);
    let targets = target_order::worst_first(&by_target);
    let places = by_target.first_mentions(&targets);
    let mut lines = vec![ShortPart::Line(Bullet::sentence(host::header_line(report)))];
    if targets.is_empty() {
        lines.push(ShortPart::Line(Bullet::sentence(host::NO_TARGETS)));
    }
    lines.extend(targets_table(&by_target, &targets));
    let mut said_limits: Vec<&str> = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let chapter = places.target_view(place);
        let limits = report
            .verdict(&target.target)
            .map_or("", |verdict| &*verdict.limits);
        if place == 0 && report.baseline.is_none() {
            lines.extend(main_target(&chapter, target));
        } else if place == 0 {
            lines.extend(verdict_parts(report, target));
        } else {
            if !limits.is_empty() && !said_limits.contains(&limits) {
                lines.extend(verdict_parts(report, target));
            }
            lines.extend(uncut_parts(&chapter, target));
        }
        said_limits.push(limits);
    }
    if report.baseline.is_some() {
        lines.extend(
            baseline::sections(report)
                .into_iter()
                .map(ShortPart::Section),
        );
        let critical = targets
            .first()
            .map(|target| uncut_parts(&places.target_view(0), target));
        lines.extend(critical.into_iter().flatten());
    }
    lines.extend(untargeted_parts(report));
    let notes = report
        .warnings
        .iter()
        .map(|note| with_label("Note", note.to_string()));
    lines.extend(notes.map(ShortPart::Line));
    lines.extend(
        report
            .what_if
            .iter()
            .flat_map(what_if::what_if_sections)
            .map(ShortPart::Section),
    );
    deduplicate(lines)
}

/// What several targets share is shown under the first.
fn deduplicate(mut pieces: Vec<ShortPart>) -> Vec<ShortPart> {
    let mut told = BTreeSet::new();
    let mut is_new = |line: &Bullet| {
        let label = line.badges.first().map(Badge::text);
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

fn with_label(label: &'static str, says: impl Into<RichText>) -> Bullet {
    Bullet::with_badge(Badge::Remark(label), says)
}

/// A line for each of several targets, the worst first: verdict, critical findings, name, file
/// system, latency.
fn targets_table(by_target: &FindingsByTarget<'_>, targets: &[&TargetSummary]) -> Vec<ShortPart> {
    if targets.len() < 2 {
        return Vec::new();
    }
    let report = by_target.report;
    let row = |target: &TargetSummary| {
        let standing = target::verdict_heading(report, target);
        let standing = match target_order::critical_count(by_target, target) {
            0 => standing,
            count => standing.append(format!(", {count} critical")),
        };
        let latency = latency::median(report, target).unwrap_or_else(|| "–".to_owned());
        vec![
            standing,
            RichText::code(&target.title),
            filesystem_type(report, target).into(),
            latency.into(),
        ]
    };
    let (named, others): (Vec<_>, Vec<_>) =
        targets.iter().enumerate().partition(|(place, target)| {
            *place < MAX_TARGETS || target_order::critical_count(by_target, target) > 0
        });
    let rows = named.into_iter().map(|(_, target)| row(target)).collect();
    let grid = Grid {
        head: vec!["verdict", "target", "file system", "latency"],
        right_aligned: Vec::new(),
        narrow_splits: &[],
        rows,
    };
    let more = more_line(others.len(), " targets", "Contents").map(ShortPart::Line);
    [ShortPart::Grid(grid)].into_iter().chain(more).collect()
}

/// The type of the file system; empty if there is none.
pub fn filesystem_type(report: &Report, target: &TargetSummary) -> String {
    let mounted = report.facts.resolve(&target.target, Scope::Mount);
    mounted
        .and_then(|mounted| report.facts.value(&mounted, &mount::FSTYPE))
        .unwrap_or_default()
}

fn main_target(chapter: &TargetView<'_, '_>, of: &TargetSummary) -> Vec<ShortPart> {
    let report = chapter.report;
    let mut pieces = verdict_parts(report, of);
    if let Some(verdict) = report.verdict(&of.target) {
        pieces.push(ShortPart::Line(with_label(
            "Path",
            flush::path_line(&verdict.flush_path),
        )));
    }
    pieces.extend(answers::filesystem_candidates(report, of).map(ShortPart::Grid));
    pieces.push(ShortPart::Answers(answers::answer_rows(of)));
    pieces.push(ShortPart::Fixes(fix_list(chapter, of)));
    pieces.extend(undecided_line(chapter.findings_about(of), "").map(ShortPart::Line));
    pieces.extend(withheld_lines(report, of).into_iter().map(ShortPart::Line));
    pieces.push(ShortPart::Line(unknown::target_line(chapter, of)));
    pieces
}

fn target_findings<'a>(chapter: &TargetView<'_, 'a>, of: &TargetSummary) -> Vec<&'a Finding> {
    chapter
        .findings_about(of)
        .iter()
        .map(|(_, finding)| *finding)
        .collect()
}

fn fix_list(chapter: &TargetView<'_, '_>, of: &TargetSummary) -> FixList {
    let report = chapter.report;
    let fixes = fixes::target_fixes(report, of, &target_findings(chapter, of));
    let stays = |fix: &Fix<'_>| {
        fix.level == Level::Critical
            || fix.level == Level::Warning && !fix.commands.is_empty()
            || of.kind.is_device() && fix.setting.is_some()
    };
    let persist = fixes::fstab_command(report, of);
    FixList {
        uncut: fixes.iter().filter(|fix| stays(fix)).count(),
        entries: (1..)
            .zip(&fixes)
            .map(|(number, fix)| FixEntry::new(report, Some(of), Some(number), fix))
            .collect(),
        persist: persist.filter(|_| !of.kind.is_device()),
    }
}

/// The parts that are never cut, about a target not shown in full.
fn uncut_parts(chapter: &TargetView<'_, '_>, of: &TargetSummary) -> Vec<ShortPart> {
    let report = chapter.report;
    let fixes = fixes::target_fixes(report, of, &target_findings(chapter, of));
    let mut pieces = vec![ShortPart::Fixes(FixList::critical_only(report, &fixes))];
    pieces.extend(undecided_line(chapter.findings_about(of), "").map(ShortPart::Line));
    pieces.extend(withheld_lines(report, of).into_iter().map(ShortPart::Line));
    pieces
}

/// The number of omitted items, and the heading of the full report that has them; `what` begins
/// with a blank.
fn more_line(count: usize, what: &str, heading: &'static str) -> Option<Bullet> {
    let says = || RichText::plain(format!("+ {count} more{what}")).append_reference(heading);
    (count > 0).then(|| Bullet::sentence(says()))
}

/// The verdict as a heading, then sentences: the verdict, missing redundancy, loss of the host,
/// limits.
fn verdict_parts(report: &Report, of: &TargetSummary) -> Vec<ShortPart> {
    let standing = report.verdict(&of.target).map(|verdict| verdict.standing);
    let heading = target::verdict_heading(report, of);
    let sentences = match report.verdict(&of.target) {
        Some(verdict) => {
            let all = [
                &verdict.sentence,
                &verdict.second_fault,
                &verdict.host_loss,
                &verdict.limits,
            ];
            all.into_iter()
                .filter(|says| !says.is_empty())
                .cloned()
                .collect()
        }
        None => target::without_verdict(of),
    };
    let head = Bullet::with_badge(Badge::Verdict(heading, standing), RichText::code(&of.title));
    let sentences = sentences
        .into_iter()
        .map(|says: String| ShortPart::Line(Bullet::sentence(says)));
    [ShortPart::Line(head)]
        .into_iter()
        .chain(sentences)
        .collect()
}

/// The number of undecided critical rules, with their ids; `what` begins with a blank.
fn undecided_line(findings: &[IndexedFinding<'_>], what: &str) -> Option<Bullet> {
    let open = findings.iter().map(|(_, finding)| *finding);
    let open = open.filter(|finding| finding.level == Level::Critical);
    let open = open.filter(|finding| matches!(finding.outcome, Outcome::Undecided { .. }));
    let rules = wording::distinct(open.map(|finding| &*finding.rule));
    let count = rules.len();
    let says = RichText::plain(format!("{count} critical{what}: ")).join(RichText::codes(rules));
    (count > 0).then(|| with_label("Undecided", says))
}

fn withheld_lines(report: &Report, of: &TargetSummary) -> Vec<Bullet> {
    let about = report
        .withheld
        .iter()
        .filter(|one| of.subjects.contains(&one.subject));
    about.map(withheld_line).collect()
}

fn withheld_line(one: &crate::Withheld) -> Bullet {
    Bullet {
        rule: one.rule.clone(),
        ..with_label("Withheld", wording::withheld_text(one))
    }
}

/// Findings outside all targets: critical ones, and the number of others.
fn untargeted_parts(report: &Report) -> Vec<ShortPart> {
    let (host, beside) = findings::untargeted(report);
    let beside_asked = findings::other_targets_note(report, &beside);
    let told = if report.asked.is_some() {
        host
    } else {
        [host, beside].concat()
    };
    let all: Vec<&Finding> = told.iter().map(|(_, finding)| *finding).collect();
    let fixes = fixes::untargeted_fixes(&all);
    let lesser = fixes
        .iter()
        .filter(|fix| fix.level < Level::Critical)
        .count();
    let mut pieces = vec![ShortPart::Fixes(FixList::critical_only(report, &fixes))];
    pieces.extend(undecided_line(&told, " about the host").map(ShortPart::Line));
    let of_target = |one: &&crate::Withheld| {
        report
            .targets
            .iter()
            .any(|target| target.subjects.contains(&one.subject))
    };
    let withheld = report
        .withheld
        .iter()
        .filter(|one| !of_target(one))
        .map(withheld_line);
    pieces.extend(withheld.map(ShortPart::Line));
    pieces.extend(more_line(lesser, " about the host", "Findings").map(ShortPart::Line));
    pieces.extend(beside_asked.map(Bullet::sentence).map(ShortPart::Line));
    pieces
}
