//! Renders reports as text, which screen readers can read. Levels and verdicts are words, and depth
//! is indentation, so nothing depends on colour or line drawing.

mod short;

use super::view::{
    self, Badge, Bullet, BulletList, Detail, Element, Grid, HeadingLevel, ReportPart, Section,
    StepInstruction,
};
use super::{LayerRow, Report, Upgrade, WhatIf};
use walwise_model::parallel;
use walwise_model::text::page_layout::TextPage;
use walwise_model::text::wrap::display_width;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOutputStyle {
    pub colour: bool,
    pub ascii: bool,
}

pub fn render_short(report: &Report, style: TextOutputStyle) -> String {
    short::render(report, style)
}

pub fn render_report_part(report: &Report, part: ReportPart) -> String {
    let mut page = TextPage::default();
    for group in view::report_part_section_groups(report, part) {
        page.append_page(&layout_sections(&group));
    }
    page.into_text()
}

pub fn render(report: &Report) -> String {
    let mut page = TextPage::default();
    for group in parallel::map_items(&view::full_report_section_groups(report), |sections| {
        layout_sections(sections)
    }) {
        page.append_page(&group);
    }
    page.into_text()
}

pub fn render_upgrade(real: &Report, assumed: &WhatIf, upgrade: &Upgrade) -> String {
    layout_sections(&view::upgrade::upgrade_sections(real, assumed, upgrade)).into_text()
}

pub(crate) fn render_sections_text(sections: &[Section]) -> String {
    layout_sections(sections).into_text()
}

fn layout_sections(sections: &[Section]) -> TextPage {
    let mut page = TextPage::default();
    for section in sections.iter().filter(|section| !section.is_appendix) {
        write_section(&mut page, section);
    }
    page
}

fn write_section(page: &mut TextPage, section: &Section) {
    let margin = match section.heading_level {
        HeadingLevel::Top => 0,
        HeadingLevel::Part => 2,
    };
    page.ensure_blank_line();
    let indent = if section.heading.is_empty() {
        margin
    } else {
        let lead = if section.lead.is_empty() { "" } else { ", " };
        page.append_paragraph(
            margin,
            &format!("{}{lead}{}", section.heading, section.lead),
        );
        margin + 2
    };
    for element in &section.elements {
        match element {
            Element::Sentence(says) => page.append_paragraph(indent, &says.to_string()),
            Element::Bullets(BulletList { bullets, .. }) => {
                let room = bullets
                    .iter()
                    .filter_map(|one| one.badges.first())
                    .map(badge_width)
                    .max();
                for one in bullets {
                    write_bullet(page, indent, room.unwrap_or_default(), one);
                }
            }
            Element::Grid(one) => write_grid(page, indent, one),
            Element::Stack(layers) => {
                let rows: Vec<_> = layers.iter().map(layer_cells).collect();
                page.append_table(indent, &rows, &[]);
            }
            Element::Instructions(steps) => {
                for step in steps {
                    write_step(page, step);
                }
            }
        }
    }
}

fn write_bullet(page: &mut TextPage, indent: usize, first: usize, bullet: &Bullet) {
    let rooms = std::iter::once(first).chain(bullet.badges.iter().skip(1).map(badge_width));
    let label: String = bullet
        .badges
        .iter()
        .zip(rooms)
        .map(|(one, room)| padded_badge(one, room))
        .collect();
    let of = match bullet.leading_subject() {
        "" => String::new(),
        subject => format!("{subject}: "),
    };
    let (label, of) = if label.is_empty() {
        (of, label)
    } else {
        (label, of)
    };
    let aside = if bullet.note.is_empty() {
        String::new()
    } else {
        format!(" ({})", bullet.note)
    };
    page.append_hanging_paragraph(indent, &label, &format!("{of}{}{aside}", bullet.text));
    let beneath = if label.is_empty() {
        2
    } else {
        display_width(&label)
    };
    write_details(page, indent + beneath, &bullet.details);
}

/// The column width of a kind of badge, 0 if texts of the kind differ in length, and the gap after
/// the text.
fn badge_width_and_gap(mark: &Badge) -> (usize, &'static str) {
    match mark {
        Badge::Level(..) | Badge::Change(_) => (10, ""),
        Badge::Standing(_) => (14, ""),
        Badge::Layer(_) => (13, ""),
        Badge::Remark(_) | Badge::Verdict(..) => (0, "  "),
        Badge::Setting(_) => (0, "   "),
    }
}

fn padded_badge(mark: &Badge, room: usize) -> String {
    format!("{:<room$}", mark.badge_text() + badge_width_and_gap(mark).1)
}

fn badge_width(mark: &Badge) -> usize {
    badge_width_and_gap(mark).0
}

fn write_grid(page: &mut TextPage, indent: usize, grid: &Grid) {
    let cells = |row: &Vec<view::RichText>| row.iter().map(ToString::to_string).collect();
    let is_headed = grid.right_aligned.contains(&true);
    let head = is_headed.then(|| grid.head.iter().map(|&name| name.to_owned()).collect());
    let rows: Vec<Vec<String>> = head
        .into_iter()
        .chain(grid.rows.iter().map(cells))
        .collect();
    if grid.narrow_splits.is_empty() {
        page.append_table(indent, &rows, &grid.right_aligned);
    }
    for columns in grid.narrow_splits {
        let of = |row: &Vec<String>| {
            columns
                .iter()
                .filter_map(|at| row.get(*at).cloned())
                .collect()
        };
        let right: Vec<bool> = columns
            .iter()
            .filter_map(|at| grid.right_aligned.get(*at).copied())
            .collect();
        page.append_table(indent, &rows.iter().map(of).collect::<Vec<_>>(), &right);
        page.ensure_blank_line();
    }
}

pub fn layer_cells(row: &LayerRow) -> Vec<String> {
    let depth = usize::try_from(row.depth).unwrap_or_default().min(20);
    let mark = if row.weakest { "weakest" } else { "" };
    let name = format!("{}{}", "  ".repeat(depth), row.subject.name());
    vec![name, row.says.clone(), row.cache.clone(), mark.to_owned()]
}

fn write_step(page: &mut TextPage, step: &StepInstruction) {
    let number = step
        .number
        .map(|number| number.to_string())
        .unwrap_or_default();
    let label = format!("{number:>2}  {:<10}", step.level.as_str());
    page.append_hanging_paragraph(
        2,
        &label,
        &format!("{} of {}: {}", step.setting, step.subject, step.change),
    );
    match &step.details {
        Some(beneath) => write_details(page, 8, beneath),
        None => page.append_paragraph(8, "as above"),
    }
}

/// The column width of labels before commands.
const PURPOSE_WIDTH: usize = 9;

fn write_details(page: &mut TextPage, indent: usize, details: &[Detail]) {
    // The label of a detail, and the least width of the column of labels that it needs.
    let label_and_width = |detail: &Detail| match detail {
        Detail::Sentence(_) | Detail::Continuation(_) => ("", 0),
        Detail::Field(label, _) => (*label, label.len() + 2),
        Detail::Verbose(label, _) => (*label, 0),
        Detail::Commands(label, _) => (*label, PURPOSE_WIDTH),
        Detail::Diff { .. } => ("result", PURPOSE_WIDTH),
        Detail::UserCommand(_) => ("yours", PURPOSE_WIDTH),
    };
    let widths = details.iter().map(|detail| label_and_width(detail).1);
    let width = widths.max().unwrap_or_default();
    for detail in details {
        let label = format!("{:<width$}", label_and_width(detail).0);
        match detail {
            Detail::Sentence(says) => page.append_paragraph(indent, &says.to_string()),
            Detail::Field(_, says) => {
                page.append_hanging_paragraph(indent, &label, &says.to_string());
            }
            Detail::Continuation(says) => page.append_paragraph(indent + width, &says.to_string()),
            Detail::Diff {
                result: Some(whole),
                ..
            } => page.append_hanging_paragraph(indent, &label, whole),
            Detail::Diff { result: None, .. } | Detail::Verbose(..) => {}
            Detail::Commands(_, commands) => {
                let labels = std::iter::once(&*label).chain(std::iter::repeat(""));
                for (command, label) in commands.iter().zip(labels) {
                    page.append_verbatim_line(indent, &format!("{label:<width$}{command}"));
                }
            }
            Detail::UserCommand(own) => {
                let line = format!("{label}{}: {}", own.purpose, own.command);
                page.append_verbatim_line(indent, &line);
                page.append_paragraph(indent + width, &own.unchecked_origin_sentence());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_reports;

    #[test]
    fn at_risk_report_as_text() {
        insta::assert_snapshot!(render(&sample_reports::at_risk()));
    }

    #[test]
    fn several_free_disks_as_text() {
        insta::assert_snapshot!(render(&sample_reports::free_disks(3)));
    }

    #[test]
    fn free_disk_report_as_text() {
        insta::assert_snapshot!(render(&sample_reports::free_disk()));
    }

    #[test]
    fn findings_outside_requested_target_are_counted() {
        let mut report = sample_reports::at_risk();
        let beside = |rule: &str, level| {
            sample_reports::applying_finding(
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
        let line = "\n2 findings on other targets (1 critical): `walwise check`\n";
        assert!(one.contains(line) && !one.contains("beside."), "{one}");
        assert!(one.contains("Title of kernel.fsync-errors"), "{one}");
    }

    #[test]
    fn undecided_findings_are_grouped_by_missing_fact() {
        use walwise_judge::rules::{Level, Outcome};
        use walwise_model::facts::{MissingFact, Subject, UnknownReason};
        let mut report = sample_reports::at_risk();
        let disk = Subject::device("dm-7");
        let open = |rule: &str, facts: &[&str]| {
            let need = |fact: &&str| MissingFact {
                subject: disk.clone(),
                fact: (*fact).to_owned(),
                why: UnknownReason::Denied,
                detail: "dmsetup".to_owned(),
                remedy: None,
            };
            let sets: Vec<Vec<MissingFact>> = facts.iter().map(|fact| vec![need(fact)]).collect();
            let mut finding =
                sample_reports::applying_finding(rule, &disk, Level::Warning, Vec::new());
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
                && at("Cannot be decided on this host") < at("layer.blind"),
            "{text}"
        );
    }

    #[test]
    fn identical_disks_share_one_description() {
        let one = sample_reports::free_disks(1);
        let many = sample_reports::free_disks(2_000);
        let (one, many) = (render(&one).lines().count(), render(&many).lines().count());
        assert!(
            many < one + 2_000 * 18,
            "{one} lines for one disk, {many} for 2000"
        );
    }

    #[test]
    fn lines_except_commands_fit_80_columns() {
        use unicode_width::UnicodeWidthStr as _;
        for line in sample_reports::at_risk_and_free_disk()
            .iter()
            .map(render)
            .collect::<String>()
            .lines()
        {
            let copied = ["apply", "verify", "undo"]
                .iter()
                .any(|word| line.trim_start().starts_with(word));
            assert!(copied || line.width() <= 80, "{line}");
        }
    }
}
