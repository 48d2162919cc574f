//! The report as text for people: the answer first, then why, then what to do. This is also the
//! screen-reader mode.
//!
//! Levels and verdicts are words and depth is indentation, so nothing depends on colour or drawing.
//! What is said, and in which order, is the business of [`super::telling`].

mod short;

use super::telling::{
    self, Bullet, Bullets, Detail, Element, Grid, Instruction, Mark, Rank, ReportPart, Section,
};
use super::{LayerRow, Report, Upgrade, WhatIf};
use walwise_model::quote::Command;
use walwise_model::text::page::TextBuilder;
use walwise_model::text::wrap::columns;
use walwise_model::workers;

/// What a terminal allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStyle {
    /// Whether words may be coloured.
    pub colour: bool,
    /// Whether marks have to be ASCII.
    pub ascii: bool,
}

/// The short report: about 25 lines for a target.
pub fn short(report: &Report, style: LineStyle) -> String {
    short::render(report, style)
}

/// One part of the report, in full.
pub fn only(report: &Report, part: ReportPart) -> String {
    let mut page = TextBuilder::default();
    for group in telling::only(report, part) {
        page.append(&drawn(&group));
    }
    page.finish()
}

pub fn render(report: &Report) -> String {
    let mut page = TextBuilder::default();
    for group in workers::each(&telling::groups(report), |sections| drawn(sections)) {
        page.append(&group);
    }
    page.finish()
}

/// What the next kernel changes: blockers first, each thing once with its level.
pub fn upgrade(real: &Report, assumed: &WhatIf, upgrade: &Upgrade) -> String {
    drawn(&telling::upgrade::sections(real, assumed, upgrade)).finish()
}

/// Sections alone, such as those of a kept report.
pub fn sections(sections: &[Section]) -> String {
    drawn(sections).finish()
}

fn drawn(sections: &[Section]) -> TextBuilder {
    let mut page = TextBuilder::default();
    for section in sections.iter().filter(|section| !section.is_appendix) {
        draw(&mut page, section);
    }
    page
}

fn draw(page: &mut TextBuilder, section: &Section) {
    let margin = match section.rank {
        Rank::Top => 0,
        Rank::Part => 2,
    };
    page.gap();
    let indent = if section.heading.is_empty() {
        margin
    } else {
        let lead = if section.lead.is_empty() { "" } else { ", " };
        page.para(
            margin,
            &format!("{}{lead}{}", section.heading, section.lead),
        );
        margin + 2
    };
    for element in &section.elements {
        match element {
            Element::Sentence(says) => page.para(indent, &says.to_string()),
            Element::Bullets(Bullets { bullets, .. }) => {
                let room = bullets
                    .iter()
                    .filter_map(|one| one.marks.first())
                    .map(room)
                    .max();
                for one in bullets {
                    bullet(page, indent, room.unwrap_or_default(), one);
                }
            }
            Element::Grid(one) => grid(page, indent, one),
            Element::Stack(layers) => {
                page.table(indent, &layers.iter().map(layer).collect::<Vec<_>>(), &[]);
            }
            Element::Instructions(steps) => {
                for step in steps {
                    instruction(page, step);
                }
            }
        }
    }
}

/// A bullet whose first mark has the room of all beside it.
fn bullet(page: &mut TextBuilder, indent: usize, first: usize, bullet: &Bullet) {
    let rooms = std::iter::once(first).chain(bullet.marks.iter().skip(1).map(room));
    let label: String = bullet
        .marks
        .iter()
        .zip(rooms)
        .map(|(one, room)| mark(one, room))
        .collect();
    let of = if bullet.of.is_empty() {
        String::new()
    } else {
        format!("{}: ", bullet.of)
    };
    let (label, of) = if label.is_empty() {
        (of, label)
    } else {
        (label, of)
    };
    let aside = if bullet.aside.is_empty() {
        String::new()
    } else {
        format!(" ({})", bullet.aside)
    };
    page.hanging(indent, &label, &format!("{of}{}{aside}", bullet.says));
    let beneath = if label.is_empty() { 2 } else { columns(&label) };
    details(page, indent + beneath, &bullet.beneath);
}

/// Columns for marks of a kind; what is no word of a short list takes what it needs.
fn room(mark: &Mark) -> usize {
    match mark {
        Mark::Level(..) | Mark::Change(_) => 10,
        Mark::Standing(_) => 14,
        Mark::Layer(_) => 13,
        Mark::Remark(_) | Mark::Setting(_) | Mark::Verdict(..) => 0,
    }
}

fn mark(mark: &Mark, room: usize) -> String {
    let gap = match mark {
        Mark::Level(..) | Mark::Change(_) | Mark::Standing(_) | Mark::Layer(_) => "",
        Mark::Remark(_) | Mark::Verdict(..) => "  ",
        Mark::Setting(_) => "   ",
    };
    format!("{:<room$}", mark.words() + gap)
}

fn grid(page: &mut TextBuilder, indent: usize, grid: &Grid) {
    let cells = |row: &Vec<telling::Phrase>| row.iter().map(ToString::to_string).collect();
    // Figures stand under their head; names and words say themselves what they are.
    let is_headed = grid.right.contains(&true);
    let head = is_headed.then(|| grid.head.iter().map(|&name| name.to_owned()).collect());
    let rows: Vec<Vec<String>> = head
        .into_iter()
        .chain(grid.rows.iter().map(cells))
        .collect();
    if grid.narrow.is_empty() {
        page.table(indent, &rows, &grid.right);
    }
    for columns in grid.narrow {
        let of = |row: &Vec<String>| {
            columns
                .iter()
                .filter_map(|at| row.get(*at).cloned())
                .collect()
        };
        let right: Vec<bool> = columns
            .iter()
            .filter_map(|at| grid.right.get(*at).copied())
            .collect();
        page.table(indent, &rows.iter().map(of).collect::<Vec<_>>(), &right);
        page.gap();
    }
}

/// A layer of a stack as the cells of a row.
pub fn layer(row: &LayerRow) -> Vec<String> {
    let depth = usize::try_from(row.depth).unwrap_or_default().min(20);
    let mark = if row.weakest { "weakest" } else { "" };
    let name = format!("{}{}", "  ".repeat(depth), row.subject.name());
    vec![name, row.says.clone(), row.cache.clone(), mark.to_owned()]
}

fn instruction(page: &mut TextBuilder, step: &Instruction) {
    let number = step
        .number
        .map(|number| number.to_string())
        .unwrap_or_default();
    let label = format!("{number:>2}  {:<10}", step.level.word());
    page.hanging(
        2,
        &label,
        &format!("{} of {}: {}", step.setting, step.of, step.change),
    );
    match &step.beneath {
        Some(beneath) => details(page, 8, beneath),
        None => page.para(8, "as told above"),
    }
}

/// Columns for the words in front of commands.
const PURPOSE: usize = 9;

/// Lines whose words in front take the same room.
fn details(page: &mut TextBuilder, indent: usize, details: &[Detail]) {
    let fields = details.iter().map(|detail| match detail {
        Detail::Field(label, _) => label.len() + 2,
        Detail::Becomes { .. } | Detail::Commands(..) | Detail::Own(_) => PURPOSE,
        Detail::Sentence(_) | Detail::More(_) | Detail::Aside(..) => 0,
    });
    let width = fields.max().unwrap_or_default();
    for detail in details {
        let label = format!("{:<width$}", label(detail));
        match detail {
            Detail::Sentence(says) => page.para(indent, &says.to_string()),
            Detail::Field(_, says) => page.hanging(indent, &label, &says.to_string()),
            Detail::More(says) => page.para(indent + width, &says.to_string()),
            Detail::Becomes {
                whole: Some(whole), ..
            } => page.hanging(indent, &label, whole),
            Detail::Becomes { whole: None, .. } | Detail::Aside(..) => {}
            Detail::Commands(_, commands) => {
                let labels = std::iter::once(&*label).chain(std::iter::repeat(""));
                let mut line = |(command, label): (&Command, &str)| {
                    page.verbatim(indent, &format!("{label:<width$}{command}"));
                };
                commands.iter().zip(labels).for_each(&mut line);
            }
            Detail::Own(own) => {
                page.verbatim(
                    indent,
                    &format!("{label}{}: {}", own.purpose.word(), own.command),
                );
                page.para(indent + width, &own.sentence());
            }
        }
    }
}

/// The word in front of a line.
fn label(detail: &Detail) -> &'static str {
    match detail {
        Detail::Sentence(_) | Detail::More(_) => "",
        Detail::Field(label, _) | Detail::Aside(label, _) | Detail::Commands(label, _) => label,
        Detail::Becomes { .. } => "becomes",
        Detail::Own(_) => "yours",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_database_at_risk() {
        insta::assert_snapshot!(render(&sample::at_risk()));
    }

    #[test]
    fn several_free_disks() {
        insta::assert_snapshot!(render(&sample::disks(3)));
    }

    #[test]
    fn a_free_disk() {
        insta::assert_snapshot!(render(&sample::free_disk()));
    }

    #[test]
    fn what_lies_beside_the_asked_target_is_counted_only() {
        let mut report = sample::at_risk();
        let beside = |rule: &str, level| {
            sample::finding(
                rule,
                &walwise_model::facts::Subject::mount("/other"),
                level,
                Vec::new(),
            )
        };
        let mut open = beside("beside.open", walwise_judge::rules::Level::Warning);
        open.outcome = walwise_judge::rules::Outcome::Undecided { needs: Vec::new() };
        report.findings.extend([
            beside("beside.critical", walwise_judge::rules::Level::Critical),
            beside("beside.warning", walwise_judge::rules::Level::Warning),
            beside("beside.keep", walwise_judge::rules::Level::Keep),
            open,
        ]);
        let all = render(&report);
        assert!(
            all.contains("\nElsewhere on this host\n") && all.contains("beside.open"),
            "{all}"
        );
        report.asked = Some("/srv/pg/15/main".to_owned());
        let one = render(&report);
        let line = "\n2 findings elsewhere on this host (1 critical): `walwise check`\n";
        assert!(one.contains(line) && !one.contains("beside."), "{one}");
        assert!(one.contains("Title of kernel.fsync-errors"), "{one}");
    }

    /// What a missing fact leaves open is told together, with the fact once; what nothing would
    /// settle is one line.
    #[test]
    fn what_is_open_is_told_by_what_would_settle_it() {
        use walwise_judge::rules::{Level, Outcome};
        use walwise_model::facts::{Need, Subject, Why};
        let mut report = sample::at_risk();
        let disk = Subject::device("dm-7");
        let open = |rule: &str, facts: &[&str]| {
            let need = |fact: &&str| Need {
                subject: disk.clone(),
                fact: (*fact).to_owned(),
                why: Why::Denied,
                detail: "dmsetup".to_owned(),
                remedy: None,
            };
            let sets: Vec<Vec<Need>> = facts.iter().map(|fact| vec![need(fact)]).collect();
            let mut finding = sample::finding(rule, &disk, Level::Warning, Vec::new());
            finding.outcome = Outcome::Undecided { needs: sets };
            finding
        };
        report.findings.extend([
            open("layer.one", &["dm.targets"]),
            open("layer.other", &["md.level"]),
            open("layer.third", &["dm.targets"]),
            open("layer.blind", &[]),
        ]);
        let text = render(&report);
        let at = |what: &str| {
            text.find(what)
                .unwrap_or_else(|| panic!("{what} in {text}"))
        };
        assert_eq!(text.matches("dm.targets of ").count(), 1, "{text}");
        assert!(
            at("(layer.one)") < at("(layer.third)") && at("(layer.third)") < at("dm.targets of "),
            "{text}"
        );
        assert!(
            at("dm.targets of ") < at("(layer.other)")
                && at("Cannot be decided on this machine") < at("layer.blind"),
            "{text}"
        );
    }

    #[test]
    fn thousands_of_like_disks_are_told_once() {
        let one = sample::disks(1);
        let many = sample::disks(2_000);
        let (one, many) = (render(&one).lines().count(), render(&many).lines().count());
        assert!(
            many < one + 2_000 * 18,
            "{one} lines for one disk, {many} for 2000"
        );
    }

    #[test]
    fn prose_fits_the_page() {
        use unicode_width::UnicodeWidthStr as _;
        for line in sample::all().iter().map(render).collect::<String>().lines() {
            let copied = ["apply", "verify", "undo"]
                .iter()
                .any(|word| line.trim_start().starts_with(word));
            assert!(copied || line.width() <= 80, "{line}");
        }
    }
}
