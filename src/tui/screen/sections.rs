//! Sections of the report on a page: sentences as text, and entries with rules as rows that unfold
//! to their reasons.

use std::collections::BTreeSet;

use ratatui::text::Line;

use super::details::Details;
use crate::escape::Command;
use crate::report::Report;
use crate::report::text::layer_cells;
use crate::report::view::{
    Badge, Bullet, Bullets, Detail, Element, Instruction, ItemRef, RichText, Section,
};
use crate::rules::{Finding, Level, Outcome};
use crate::tui::data::Data;
use crate::tui::labels;
use crate::tui::page::{Block, EnterEffect, Page, PageState};
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;

/// What to draw, and its width.
#[derive(Clone, Copy)]
pub struct SectionView<'a> {
    pub data: &'a Data,
    /// The reports searched for findings; the first match wins.
    pub reports: &'a [&'a Report],
    pub state: &'a PageState,
    pub room: usize,
}

/// A bullet or an instruction of a section.
pub struct Item<'a> {
    pub key: String,
    pub level: Option<Level>,
    /// Two marks, a setting, a subject, the text, and dim text.
    cells: [StyledText; 6],
    pub about: &'a ItemRef,
    details: &'a [Detail],
    /// A short form of the text.
    pub brief: String,
}

const COLUMNS: [Column; 6] = [
    Column::wrap(9),
    Column::keep(8),
    Column::keep(14),
    Column::keep(8),
    Column::wrap(24),
    Column::wrap_or_drop(17, 1),
];

impl Item<'_> {
    /// The commands to apply it.
    pub fn commands(&self) -> Vec<Command> {
        let commands = self.details.iter().find_map(|detail| {
            let Detail::Commands(_, commands) = detail else {
                return None;
            };
            Some(commands.clone())
        });
        commands.unwrap_or_default()
    }

    /// Replaces the text by the fix, if there is one.
    #[must_use]
    pub fn with_fix(mut self) -> Self {
        let remedy = self.details.iter().find_map(|detail| match detail {
            Detail::Field("fix", says) => Some(says.to_string()),
            _ => None,
        });
        let [.., says, _] = &mut self.cells;
        says.0 = remedy.unwrap_or_else(|| std::mem::take(&mut says.0));
        self
    }

    /// Whether it is a problem: a warning or above.
    pub fn has_issue(&self) -> bool {
        self.level >= Some(Level::Warning)
    }
}

impl SectionView<'_> {
    /// Adds a section with all its entries.
    pub fn add(&self, page: &mut Page, section: &Section) {
        let theme = self.data.theme;
        if !section.heading.is_empty() {
            let mut rows = text::wrap(&section.heading.to_string(), self.room).into_iter();
            page.heading(theme, &rows.next().unwrap_or_default(), "");
            page.text(
                rows.map(|row| Line::styled(row, theme.style(TextRole::Heading)))
                    .collect(),
            );
        }
        for element in &section.elements {
            let cells = |row: Vec<String>| {
                row.into_iter()
                    .map(|cell| (cell, theme.style(TextRole::Plain)))
            };
            let table = |rows: Vec<Vec<StyledText>>| {
                let shape = vec![Column::wrap(8); rows.first().map_or(0, Vec::len)];
                columns::wrapped_rows(&rows, &shape, self.room)
                    .into_iter()
                    .flatten()
                    .collect()
            };
            match element {
                Element::Sentence(says) => {
                    let rows = text::wrap(&says.to_string(), self.room);
                    page.text(rows.into_iter().map(Line::raw).collect());
                }
                Element::Bullets(_) | Element::Instructions(_) => {
                    page.blocks
                        .extend(self.blocks(&self.items(section, element)));
                }
                Element::Stack(layers) => {
                    page.text(table(
                        layers
                            .iter()
                            .map(|one| cells(layer_cells(one)).collect())
                            .collect(),
                    ));
                }
                Element::Grid(grid) => {
                    let row = |row: &Vec<RichText>| {
                        cells(row.iter().map(ToString::to_string).collect()).collect()
                    };
                    page.text(table(grid.rows.iter().map(row).collect()));
                }
            }
        }
    }

    /// The entries of a section.
    pub fn all_items<'s>(&self, section: &'s Section) -> Vec<Item<'s>> {
        section
            .elements
            .iter()
            .flat_map(|element| self.items(section, element))
            .collect()
    }

    fn items<'s>(&self, section: &Section, element: &'s Element) -> Vec<Item<'s>> {
        match element {
            Element::Bullets(Bullets { bullets, .. }) => bullets
                .iter()
                .map(|one| self.bullet(section, one))
                .collect(),
            Element::Instructions(steps) => steps.iter().map(|one| self.instruction(one)).collect(),
            Element::Sentence(_) | Element::Grid(_) | Element::Stack(_) => Vec::new(),
        }
    }

    fn bullet<'s>(&self, section: &Section, bullet: &'s Bullet) -> Item<'s> {
        let (plain, dim) = (
            self.data.theme.style(TextRole::Plain),
            self.data.theme.style(TextRole::Dim),
        );
        let mark = |at: usize| {
            let style = |mark: &Badge| match mark {
                Badge::Level(level, _) => self.data.theme.level(*level),
                _ => self.data.theme.tone(mark.tone()),
            };
            bullet
                .badges
                .get(at)
                .map_or((String::new(), plain), |mark| (mark.text(), style(mark)))
        };
        let of = match &bullet.item.subject {
            Some(subject) if !bullet.subject.is_empty() => labels::subject_label(subject),
            _ => bullet.subject.clone(),
        };
        let says = bullet.text.to_string();
        let (level, brief) = match bullet.badges.first() {
            Some(Badge::Level(level, _)) => (Some(*level), says.clone()),
            Some(Badge::Setting(setting)) => (None, setting.to_string()),
            _ => (None, says.clone()),
        };
        let key = match bullet.item.key.as_str() {
            "" => format!("{} {} {of} {says}", section.heading, mark(0).0),
            key => key.to_owned(),
        };
        let cells = [
            mark(0),
            mark(1),
            (String::new(), plain),
            (of, plain),
            (says, plain),
            (bullet.note.to_string(), dim),
        ];
        Item {
            key,
            level,
            cells,
            about: &bullet.item,
            details: &bullet.details,
            brief,
        }
    }

    fn instruction<'s>(&self, step: &'s Instruction) -> Item<'s> {
        let (plain, dim) = (
            self.data.theme.style(TextRole::Plain),
            self.data.theme.style(TextRole::Dim),
        );
        let cells = [
            (
                step.level.as_str().to_owned(),
                self.data.theme.level(step.level),
            ),
            (String::new(), plain),
            (step.setting.to_owned(), plain),
            (
                step.item
                    .subject
                    .as_ref()
                    .map(labels::subject_label)
                    .unwrap_or_default(),
                plain,
            ),
            (step.change.clone(), plain),
            (step.interrupts.to_owned(), dim),
        ];
        Item {
            key: step.item.key.clone(),
            level: Some(step.level),
            cells,
            about: &step.item,
            details: step.details.as_deref().unwrap_or_default(),
            brief: format!("{} {}", step.setting, step.change),
        }
    }

    /// The entries as blocks, with the details of unfolded ones.
    pub fn blocks(&self, items: &[Item<'_>]) -> Vec<Block> {
        let rows: Vec<Vec<StyledText>> = items.iter().map(|item| item.cells.to_vec()).collect();
        let rows = columns::wrapped_rows(&rows, &COLUMNS, self.room)
            .into_iter()
            .zip(items);
        let block = |(mut lines, item): (Vec<Line<'static>>, &Item<'_>)| {
            let is_bare = item.about.rules.is_empty();
            if is_bare || self.state.is_unfolded(&item.key) {
                lines.extend(self.detail_lines(item));
            }
            let mut block = match (is_bare, &item.about.fact) {
                (false, _) => Block::item(item.key.clone(), EnterEffect::Unfold, lines)
                    .with_issue(item.has_issue()),
                (true, Some(_)) => Block::item(item.key.clone(), EnterEffect::Nothing, lines),
                (true, None) => Block::text(lines),
            };
            block.commands = item.commands();
            block.fact.clone_from(&item.about.fact);
            block
        };
        rows.map(block).collect()
    }

    /// The report's details, then the reasons of each rule.
    fn detail_lines(&self, item: &Item<'_>) -> Vec<Line<'static>> {
        let mut details = Details::new(self.data.theme, self.room.saturating_sub(2));
        details.push_report_details(item.details);
        for (report, finding) in self.findings(item.about) {
            details.reasons(report, finding, item.details);
            if item.details.is_empty() {
                details.needs(finding);
            }
            details.trace(finding);
        }
        if !item.about.rules.is_empty() {
            details.gap();
        }
        details.indented()
    }

    /// The findings behind an entry: those of its subject, else those about the target.
    fn findings(&self, about: &ItemRef) -> Vec<(&Report, &Finding)> {
        let of_rules = self.reports.iter().flat_map(|report| {
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
                || self.data.focus.concerns(&finding.subject)
        });
        let mut seen = BTreeSet::new();
        found.retain(|(_, finding)| seen.insert((&finding.rule, &finding.subject)));
        found
    }
}
