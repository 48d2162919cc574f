//! Draws sections of the report as rows that can be selected.

use std::collections::BTreeSet;

use ratatui::text::Line;

use super::detail_lines::DetailLines;
use crate::escape::ShellCommand;
use crate::report::Report;
use crate::report::text::layer_cells;
use crate::report::view::{
    Badge, Bullet, BulletList, Detail, Element, Grid, ItemRef, RichText, Section, StepInstruction,
};
use crate::rules::{Finding, Level, Outcome};
use crate::tui::labels;
use crate::tui::page::{Page, PageBlock, RowDetails};
use crate::tui::screen_data::ScreenData;
use crate::tui::theme::{BOLD, DIM, PLAIN, level_style, tone_style};
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;

#[derive(Clone, Copy, Debug)]
pub struct SectionRenderer<'a> {
    pub data: &'a ScreenData,
    pub room: usize,
    /// Shows the commands of a row below it.
    pub with_commands: bool,
}

struct SectionItem<'a> {
    key: String,
    level: Option<Level>,
    /// Two marks, a setting, a subject, the text, and dim text.
    cells: [StyledText; 6],
    about: &'a ItemRef,
    details: &'a [Detail],
}

const COLUMNS: [Column; 6] = [
    Column::new_wrapping(10),
    Column::new_wrapping(8),
    Column::new_wrapping(14),
    Column::new_wrapping(12),
    Column::new_wrapping(24),
    Column::new_wrapping_or_droppable(17, 1),
];

impl SectionItem<'_> {
    fn item_commands(&self) -> &[ShellCommand] {
        let commands = self.details.iter().find_map(|detail| match detail {
            Detail::Commands(_, commands) => Some(commands.as_slice()),
            _ => None,
        });
        commands.unwrap_or_default()
    }
}

impl SectionRenderer<'_> {
    pub fn push_section(&self, page: &mut Page, section: &Section) {
        if !section.heading.is_empty() {
            let mut rows = text::wrap(&section.heading.to_string(), self.room).into_iter();
            page.push_heading(&rows.next().unwrap_or_default(), "");
            page.push_text_block(rows.map(|row| Line::styled(row, BOLD)).collect());
        }
        for element in &section.elements {
            match element {
                Element::Sentence(says) => {
                    let says = says.to_string();
                    page.push_text_block(text::wrapped_lines(&says, PLAIN, self.room));
                }
                Element::Bullets(BulletList { bullets, .. }) => {
                    let items = bullets.iter().map(|one| bullet_item(section, one));
                    page.blocks.extend(self.item_blocks(items.collect()));
                }
                Element::Instructions(steps) => {
                    let items = steps.iter().map(|step| self.instruction_item(step));
                    page.blocks.extend(self.item_blocks(items.collect()));
                }
                Element::Stack(layers) => {
                    page.push_text_block(self.wrapped_table_lines(layers.iter().map(layer_cells)));
                }
                Element::Grid(grid) => self.push_grid(page, grid),
            }
        }
    }

    pub fn push_grid(&self, page: &mut Page, grid: &Grid) {
        let head = grid.head.iter().map(|&name| name.to_owned()).collect();
        let rows = grid.rows.iter();
        let rows = rows.map(|row| row.iter().map(RichText::to_string).collect());
        page.push_text_block(self.wrapped_table_lines([head].into_iter().chain(rows)));
    }

    fn wrapped_table_lines(&self, rows: impl Iterator<Item = Vec<String>>) -> Vec<Line<'static>> {
        let cells = |row: Vec<String>| row.into_iter().map(|cell| (cell, PLAIN)).collect();
        let rows: Vec<Vec<StyledText>> = rows.map(cells).collect();
        let shape = vec![Column::new_wrapping(8); rows.first().map_or(0, Vec::len)];
        columns::wrapped_rows(&rows, &shape, self.room).concat()
    }

    fn item_blocks(&self, items: Vec<SectionItem<'_>>) -> Vec<PageBlock> {
        // Beside commands, a column of notes would narrow the titles of all rows.
        let count = COLUMNS.len() - usize::from(self.with_commands);
        let cells = |item: &SectionItem<'_>| item.cells.iter().take(count).cloned().collect();
        let rows: Vec<Vec<StyledText>> = items.iter().map(cells).collect();
        let rows = columns::wrapped_rows(&rows, &COLUMNS, self.room);
        let block = |(mut lines, item): (Vec<Line<'static>>, SectionItem<'_>)| {
            let commands = item.item_commands().to_vec();
            if self.with_commands {
                let [.., note] = &item.cells;
                columns::push_note_at_right(&mut lines, note, self.room);
                lines.extend(self.item_remedy_lines(&item));
            }
            if item.about.rules.is_empty() && item.about.key.is_empty() {
                let mut beneath = DetailLines::new(self.room.saturating_sub(2));
                beneath.push_details(item.details);
                lines.extend(beneath.into_indented_lines());
                let fact = item.about.fact.clone();
                return PageBlock {
                    key: fact.is_some().then_some(item.key),
                    commands,
                    fact,
                    ..PageBlock::new_text(lines)
                };
            }
            let [.., says, _] = item.cells;
            let details = RowDetails::Item(says.0, item.about.clone(), item.details.to_vec());
            PageBlock {
                commands,
                fact: item.about.fact.clone(),
                ..PageBlock::new_row(item.key, details, lines)
                    .with_issue(item.level >= Some(Level::Advice))
            }
        };
        rows.into_iter().zip(items).map(block).collect()
    }

    /// The commands of an item or, without commands, its fix.
    fn item_remedy_lines(&self, item: &SectionItem<'_>) -> Vec<Line<'static>> {
        let mut lines = DetailLines::new(self.room);
        for command in item.item_commands() {
            lines.push_command_with_prompt(command);
        }
        let remedy = item.details.iter().find_map(|detail| match detail {
            Detail::Field("fix", says) => Some(says.to_string()),
            _ => None,
        });
        if let Some(remedy) = remedy.filter(|_| item.item_commands().is_empty()) {
            lines.push_field("  fix", &remedy);
        }
        lines.lines
    }

    fn instruction_item<'s>(&self, step: &'s StepInstruction) -> SectionItem<'s> {
        let number = step.number.map(|number| format!("{number} "));
        let level = number.unwrap_or_default() + step.level.as_str();
        let interrupts = match step.interrupts {
            "" => String::new(),
            "none" if !self.with_commands => String::new(),
            what => format!("interrupts: {what}"),
        };
        // A subject that the report leaves out is clear from the text.
        let subject = step.item.subject.as_ref();
        let subject = subject.filter(|_| !step.subject.is_empty());
        SectionItem {
            key: step.item.key.clone(),
            level: Some(step.level),
            cells: [
                (level, level_style(step.level)),
                (String::new(), PLAIN),
                (step.setting.to_owned(), PLAIN),
                (
                    subject.map(labels::subject_label).unwrap_or_default(),
                    PLAIN,
                ),
                (step.change.clone(), PLAIN),
                (interrupts, DIM),
            ],
            about: &step.item,
            details: step.details.as_deref().unwrap_or_default(),
        }
    }

    /// The details of an item, then the reasons of its findings, from the first report that
    /// contains them.
    pub fn item_detail_lines(
        &self,
        reports: &[&Report],
        about: &ItemRef,
        shown: &[Detail],
    ) -> Vec<Line<'static>> {
        let mut details = DetailLines::new(self.room);
        let findings = self.findings_of_item(reports, about);
        // The findings below name their rules, so the field `rules` is left out.
        let is_new =
            |one: &&Detail| findings.is_empty() || !matches!(one, Detail::Field("rules", _));
        details.push_details(shown.iter().filter(is_new));
        for (report, finding) in findings {
            details.push_finding_explanation(report, finding, shown);
            if shown.is_empty() {
                details.push_missing_fact_sets(finding);
            }
            details.push_trace(finding);
        }
        details.lines
    }

    /// The findings about the item's subject or, if there are none, those that concern the target.
    fn findings_of_item<'r>(
        &self,
        reports: &[&'r Report],
        about: &ItemRef,
    ) -> Vec<(&'r Report, &'r Finding)> {
        let of_rules = reports.iter().flat_map(|report| {
            let holds = |one: &&Finding| {
                about.rules.contains(&one.rule) && one.outcome != Outcome::DoesNotApply
            };
            report
                .findings
                .iter()
                .filter(holds)
                .map(|finding| (*report, finding))
        });
        let (exact, others): (Vec<_>, Vec<_>) =
            of_rules.partition(|(_, finding)| about.subject.as_ref() == Some(&finding.subject));
        let mut found = if exact.is_empty() { others } else { exact };
        found.retain(|(_, finding)| {
            about.subject.as_ref() == Some(&finding.subject)
                || self.data.focus.concerns_target(&finding.subject)
        });
        let mut seen = BTreeSet::new();
        found.retain(|(_, finding)| seen.insert((&finding.rule, &finding.subject)));
        found
    }
}

fn bullet_item<'s>(section: &Section, bullet: &'s Bullet) -> SectionItem<'s> {
    let mark = |at: usize| {
        let style = |mark: &Badge| match mark {
            Badge::Level(level, _) => level_style(*level),
            _ => tone_style(mark.tone()),
        };
        bullet
            .badges
            .get(at)
            .map_or((String::new(), PLAIN), |mark| {
                (mark.badge_text(), style(mark))
            })
    };
    let of = match &bullet.item.subject {
        Some(subject) if !bullet.subject.is_empty() => labels::subject_label(subject),
        _ => bullet.subject.clone(),
    };
    let says = bullet.text.to_string();
    let level = match bullet.badges.first() {
        Some(Badge::Level(level, _)) => Some(*level),
        _ => None,
    };
    let key = match bullet.item.key.as_str() {
        "" => format!("{} {} {of} {says}", section.heading, mark(0).0),
        key => key.to_owned(),
    };
    SectionItem {
        key,
        level,
        cells: [
            mark(0),
            mark(1),
            (String::new(), PLAIN),
            (of, PLAIN),
            (says, PLAIN),
            (bullet.note.to_string(), DIM),
        ],
        about: &bullet.item,
        details: &bullet.details,
    }
}
