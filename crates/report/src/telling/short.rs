//! The short report of one target in about 25 lines: the host, the verdict with its caveat, the
//! flush path, the answers, what to fix first, and what is not known. Several targets are a line
//! each, then comes the worst.
//!
//! A limit cuts what has little weight and says how much. It never cuts what is critical, what a
//! verdict cannot see, advice that was withheld, notes, or the number of critical findings that are
//! undecided.

use std::collections::BTreeSet;

use super::answers::{self, AnswerRow};
use super::once::{Chapter, FindingsByTarget, Numbered};
use super::section::{Bullet, Detail, Grid, Mark, Section};
use super::{
    Phrase, baseline, findings, flush, host, order, price, target, unknown, what_if, words,
};
use crate::fixes::{self, Fix};
use crate::{Report, TargetSummary};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::Scope;
use walwise_model::facts::catalog::mount;
use walwise_model::quote::Command;
use walwise_model::settings::SettingKind;

/// A piece of the short report.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A line behind a label, with commands beneath it.
    Line(Bullet),
    Grid(Grid),
    /// What to use, now and recommended.
    Answers(Vec<AnswerRow>),
    Fixes(FixList),
    /// A section as in the whole report.
    Section(Section),
}

/// What to fix first.
#[derive(Clone, Debug, Default)]
pub struct FixList {
    entries: Vec<FixEntry>,
    /// How many of them no limit cuts.
    always: usize,
    /// The command that prints what keeps changed mount options over a reboot.
    persist: Option<Command>,
}

#[derive(Clone, Debug)]
struct FixEntry {
    /// Its number, where it is one of the target in full.
    number: Option<usize>,
    fix: Bullet,
    level: Level,
    rules: Vec<String>,
    is_mount: bool,
}

/// What is shown of a list.
pub struct VisibleFixes {
    pub entries: Vec<(Option<usize>, Bullet)>,
    /// How many were cut, by their rules.
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

    /// All that is critical, warnings with a command, and others as far as there is room.
    pub fn visible(&self, detail: FixDetail) -> VisibleFixes {
        let (shown, cut) = self
            .entries
            .split_at(self.always.max(detail.entries).min(self.entries.len()));
        let more = (!cut.is_empty()).then(|| {
            let rules = words::distinct(
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
                fix.beneath
                    .retain(|detail| !matches!(detail, Detail::Aside(..)));
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

    /// The critical ones of these, none of them numbered.
    fn critical(report: &Report, fixes: &[Fix<'_>]) -> Self {
        let critical = fixes.iter().filter(|fix| fix.level == Level::Critical);
        let entries: Vec<FixEntry> = critical
            .map(|fix| FixEntry::new(report, None, None, fix))
            .collect();
        Self {
            always: entries.len(),
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
            fix: answers::fix(report, of, fix),
            level: fix.level,
            rules: fix.rules.clone(),
            is_mount: fix
                .setting
                .is_some_and(|setting| setting.kind == SettingKind::MountOptions),
        }
    }
}

/// How many targets the table names before it counts those of little urgency.
const TARGETS: usize = 12;

/// How much is said of what to fix. What is critical, warnings with a command, and what makes a
/// file system are always said.
#[derive(Clone, Copy, Debug)]
pub struct FixDetail {
    /// How many entries are shown, if so many are less urgent.
    pub entries: usize,
    /// Whether each says where the value in force was read and its rules, and what keeps mount
    /// options over a reboot.
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
pub fn pieces(report: &Report) -> Vec<Piece> {
    let by_target = FindingsByTarget::new(report);
    let targets = order::worst_first(&by_target);
    let places = by_target.places(&targets);
    let mut lines = vec![Piece::Line(Bullet::sentence(host::line(report)))];
    if targets.is_empty() {
        lines.push(Piece::Line(Bullet::sentence(host::NOTHING)));
    }
    lines.extend(table(&by_target, &targets));
    let mut said_limits: Vec<&str> = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let chapter = places.chapter(place);
        let limits = report
            .verdict(&target.target)
            .map_or("", |verdict| &*verdict.limits);
        if place == 0 && report.baseline.is_none() {
            lines.extend(first_target(&chapter, target));
        } else if place == 0 {
            lines.extend(verdict(report, target));
        } else {
            if !limits.is_empty() && !said_limits.contains(&limits) {
                lines.extend(verdict(report, target));
            }
            lines.extend(never_cut(&chapter, target));
        }
        said_limits.push(limits);
    }
    if report.baseline.is_some() {
        lines.extend(baseline::sections(report).into_iter().map(Piece::Section));
        let critical = targets
            .first()
            .map(|target| never_cut(&places.chapter(0), target));
        lines.extend(critical.into_iter().flatten());
    }
    lines.extend(elsewhere(report));
    let notes = report
        .warnings
        .iter()
        .map(|note| labelled("Note", note.to_string()));
    lines.extend(notes.map(Piece::Line));
    lines.extend(
        report
            .what_if
            .iter()
            .flat_map(what_if::sections)
            .map(Piece::Section),
    );
    once(lines)
}

/// What several targets share is told under the first.
fn once(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut told = BTreeSet::new();
    let mut is_new = |line: &Bullet| {
        let label = line.marks.first().map(Mark::words);
        told.insert((label, line.rule.clone(), line.says.to_string()))
    };
    pieces.retain_mut(|piece| match piece {
        Piece::Line(line) => is_new(line),
        Piece::Fixes(list) => {
            list.entries.retain(|entry| is_new(&entry.fix));
            !list.entries.is_empty()
        }
        Piece::Grid(_) | Piece::Answers(_) | Piece::Section(_) => true,
    });
    pieces
}

fn labelled(label: &'static str, says: impl Into<Phrase>) -> Bullet {
    Bullet::marked(Mark::Remark(label), says)
}

/// Several targets in a line each, the worst first: standing, critical findings, name, file system,
/// latency.
fn table(by_target: &FindingsByTarget<'_>, targets: &[&TargetSummary]) -> Vec<Piece> {
    if targets.len() < 2 {
        return Vec::new();
    }
    let report = by_target.report;
    let row = |target: &TargetSummary| {
        let standing = target::standing(report, target);
        let standing = match order::criticals(by_target, target) {
            0 => standing,
            count => standing.and(format!(", {count} critical")),
        };
        let latency = price::median(report, target).unwrap_or_else(|| "–".to_owned());
        vec![
            standing,
            Phrase::code(&target.title),
            file_system(report, target).into(),
            latency.into(),
        ]
    };
    let (named, others): (Vec<_>, Vec<_>) = targets
        .iter()
        .enumerate()
        .partition(|(place, target)| *place < TARGETS || order::criticals(by_target, target) > 0);
    let rows = named.into_iter().map(|(_, target)| row(target)).collect();
    let grid = Grid {
        head: vec!["verdict", "target", "file system", "latency"],
        right: Vec::new(),
        narrow: &[],
        rows,
    };
    let more = more(others.len(), " targets", "Contents").map(Piece::Line);
    [Piece::Grid(grid)].into_iter().chain(more).collect()
}

/// The type of the file system; empty where there is none yet.
pub fn file_system(report: &Report, target: &TargetSummary) -> String {
    let mounted = report.facts.resolve(&target.target, Scope::Mount);
    mounted
        .and_then(|mounted| report.facts.value(&mounted, &mount::FSTYPE))
        .unwrap_or_default()
}

fn first_target(chapter: &Chapter<'_, '_>, of: &TargetSummary) -> Vec<Piece> {
    let report = chapter.report;
    let mut pieces = verdict(report, of);
    if let Some(verdict) = report.verdict(&of.target) {
        pieces.push(Piece::Line(labelled(
            "Path",
            flush::line(&verdict.flush_path),
        )));
    }
    pieces.extend(answers::candidates(report, of).map(Piece::Grid));
    pieces.push(Piece::Answers(answers::rows(of)));
    pieces.push(Piece::Fixes(fix_list(chapter, of)));
    pieces.extend(undecided(chapter.about(of), "").map(Piece::Line));
    pieces.extend(withheld(report, of).into_iter().map(Piece::Line));
    pieces.push(Piece::Line(unknown::most(chapter, of)));
    pieces
}

fn findings_of<'a>(chapter: &Chapter<'_, 'a>, of: &TargetSummary) -> Vec<&'a Finding> {
    chapter
        .about(of)
        .iter()
        .map(|(_, finding)| *finding)
        .collect()
}

fn fix_list(chapter: &Chapter<'_, '_>, of: &TargetSummary) -> FixList {
    let report = chapter.report;
    let fixes = fixes::target_fixes(report, of, &findings_of(chapter, of));
    let stays = |fix: &Fix<'_>| {
        fix.level == Level::Critical
            || fix.level == Level::Warning && !fix.commands.is_empty()
            || of.kind.is_device() && fix.setting.is_some()
    };
    let persist = fixes::fstab_lines(report, of);
    FixList {
        always: fixes.iter().filter(|fix| stays(fix)).count(),
        entries: (1..)
            .zip(&fixes)
            .map(|(number, fix)| FixEntry::new(report, Some(of), Some(number), fix))
            .collect(),
        persist: persist.filter(|_| !of.kind.is_device()),
    }
}

/// What no limit cuts, about a target that is not told in full.
fn never_cut(chapter: &Chapter<'_, '_>, of: &TargetSummary) -> Vec<Piece> {
    let report = chapter.report;
    let fixes = fixes::target_fixes(report, of, &findings_of(chapter, of));
    let mut pieces = vec![Piece::Fixes(FixList::critical(report, &fixes))];
    pieces.extend(undecided(chapter.about(of), "").map(Piece::Line));
    pieces.extend(withheld(report, of).into_iter().map(Piece::Line));
    pieces
}

/// How many more there are, and under which heading the whole report has them; `what` begins with a
/// blank.
fn more(count: usize, what: &str, heading: &'static str) -> Option<Bullet> {
    let says = || Phrase::plain(format!("+ {count} more{what}")).and_further(heading);
    (count > 0).then(|| Bullet::sentence(says()))
}

/// The verdict as a heading, then in a sentence with what is missing of the copies, what becomes of
/// commits with the host, and what cannot be seen from here.
fn verdict(report: &Report, of: &TargetSummary) -> Vec<Piece> {
    let standing = report.verdict(&of.target).map(|verdict| verdict.standing);
    let heading = target::standing(report, of);
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
    let head = Bullet::marked(Mark::Verdict(heading, standing), Phrase::code(&of.title));
    let sentences = sentences
        .into_iter()
        .map(|says: String| Piece::Line(Bullet::sentence(says)));
    [Piece::Line(head)].into_iter().chain(sentences).collect()
}

/// How many critical findings nobody can decide yet, by their rules; `what` begins with a blank.
fn undecided(findings: &[Numbered<'_>], what: &str) -> Option<Bullet> {
    let open = findings.iter().map(|(_, finding)| *finding);
    let open = open.filter(|finding| finding.level == Level::Critical);
    let open = open.filter(|finding| matches!(finding.outcome, Outcome::Undecided { .. }));
    let rules = words::distinct(open.map(|finding| &*finding.rule));
    let count = rules.len();
    let says = Phrase::plain(format!("{count} critical{what}: ")).join(Phrase::codes(rules));
    (count > 0).then(|| labelled("Undecided", says))
}

/// Advice that was taken out.
fn withheld(report: &Report, of: &TargetSummary) -> Vec<Bullet> {
    let about = report
        .withheld
        .iter()
        .filter(|one| of.subjects.contains(&one.subject));
    about.map(withheld_line).collect()
}

fn withheld_line(one: &crate::Withheld) -> Bullet {
    Bullet {
        rule: one.rule.clone(),
        ..labelled("Withheld", words::withheld(one))
    }
}

/// What concerns no target: what is critical of it, and how much else there is.
fn elsewhere(report: &Report) -> Vec<Piece> {
    let (host, beside) = findings::outside(report);
    let beside_asked = findings::beside(report, &beside);
    let told = if report.asked.is_some() {
        host
    } else {
        [host, beside].concat()
    };
    let all: Vec<&Finding> = told.iter().map(|(_, finding)| *finding).collect();
    let fixes = fixes::other_fixes(&all);
    let lesser = fixes
        .iter()
        .filter(|fix| fix.level < Level::Critical)
        .count();
    let mut pieces = vec![Piece::Fixes(FixList::critical(report, &fixes))];
    pieces.extend(undecided(&told, " about the host").map(Piece::Line));
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
    pieces.extend(withheld.map(Piece::Line));
    pieces.extend(more(lesser, " about the host", "Findings").map(Piece::Line));
    pieces.extend(beside_asked.map(Bullet::sentence).map(Piece::Line));
    pieces
}
