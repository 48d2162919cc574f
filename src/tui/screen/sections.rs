//! Sections of the report on a page: sentences as text, and whatever a rule says as a line that
//! unfolds to its reasons.

use std::collections::BTreeSet;

use ratatui::text::Line;

use super::details::Details;
use crate::quote::Command;
use crate::report::Report;
use crate::report::telling::{
    About, Bullet, Bullets, Detail, Element, Instruction, Mark, Phrase, Section,
};
use crate::report::text::layer;
use crate::rules::{Finding, Level, Outcome};
use crate::tui::data::Data;
use crate::tui::page::{Block, Enter, Page, PageState};
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;
use crate::tui::words;

/// What is drawn, and where.
#[derive(Clone, Copy)]
pub struct SectionView<'a> {
    pub data: &'a Data,
    /// Where findings are looked for, the first with them.
    pub reports: &'a [&'a Report],
    pub state: &'a PageState,
    pub room: usize,
}

/// A bullet or an instruction of a section.
pub struct Item<'a> {
    pub key: String,
    pub level: Option<Level>,
    /// Two words in front, a setting, what it is about, what is said, and something secondary.
    cells: [StyledText; 6],
    pub about: &'a About,
    beneath: &'a [Detail],
    /// All of it in a few words.
    pub brief: String,
}

const SHAPE: [Column; 6] = [
    Column::wrap(9),
    Column::keep(8),
    Column::keep(14),
    Column::keep(8),
    Column::wrap(24),
    Column::wrap_or_drop(17, 1),
];

impl Item<'_> {
    /// The commands that do it.
    pub fn copy(&self) -> Vec<Command> {
        let commands = self.beneath.iter().find_map(|detail| {
            let Detail::Commands(_, commands) = detail else {
                return None;
            };
            Some(commands.clone())
        });
        commands.unwrap_or_default()
    }

    /// The same with what mends it in the place of what is said, where that is known.
    #[must_use]
    pub fn mended(mut self) -> Self {
        let remedy = self.beneath.iter().find_map(|detail| match detail {
            Detail::Field("fix", says) => Some(says.to_string()),
            _ => None,
        });
        let [.., says, _] = &mut self.cells;
        says.0 = remedy.unwrap_or_else(|| std::mem::take(&mut says.0));
        self
    }

    /// Whether it is something that is not all right.
    pub fn is_amiss(&self) -> bool {
        self.level >= Some(Level::Warning)
    }
}

impl SectionView<'_> {
    /// Adds a section with all that can be chosen in it.
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
                columns::wrapped(&rows, &shape, self.room)
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
                            .map(|one| cells(layer(one)).collect())
                            .collect(),
                    ));
                }
                Element::Grid(grid) => {
                    let row = |row: &Vec<Phrase>| {
                        cells(row.iter().map(ToString::to_string).collect()).collect()
                    };
                    page.text(table(grid.rows.iter().map(row).collect()));
                }
            }
        }
    }

    /// What can be chosen in a section.
    pub fn all<'s>(&self, section: &'s Section) -> Vec<Item<'s>> {
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
            let style = |mark: &Mark| match mark {
                Mark::Level(level, _) => self.data.theme.level(*level),
                _ => self.data.theme.tone(mark.tone()),
            };
            bullet
                .marks
                .get(at)
                .map_or((String::new(), plain), |mark| (mark.words(), style(mark)))
        };
        let of = match &bullet.about.subject {
            Some(subject) if !bullet.of.is_empty() => words::subject(subject),
            _ => bullet.of.clone(),
        };
        let says = bullet.says.to_string();
        let (level, brief) = match bullet.marks.first() {
            Some(Mark::Level(level, _)) => (Some(*level), says.clone()),
            Some(Mark::Setting(setting)) => (None, setting.to_string()),
            _ => (None, says.clone()),
        };
        let key = match bullet.about.key.as_str() {
            "" => format!("{} {} {of} {says}", section.heading, mark(0).0),
            key => key.to_owned(),
        };
        let cells = [
            mark(0),
            mark(1),
            (String::new(), plain),
            (of, plain),
            (says, plain),
            (bullet.aside.to_string(), dim),
        ];
        Item {
            key,
            level,
            cells,
            about: &bullet.about,
            beneath: &bullet.beneath,
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
                step.level.word().to_owned(),
                self.data.theme.level(step.level),
            ),
            (String::new(), plain),
            (step.setting.to_owned(), plain),
            (
                step.about
                    .subject
                    .as_ref()
                    .map(words::subject)
                    .unwrap_or_default(),
                plain,
            ),
            (step.change.clone(), plain),
            (step.takes.to_owned(), dim),
        ];
        Item {
            key: step.about.key.clone(),
            level: Some(step.level),
            cells,
            about: &step.about,
            beneath: step.beneath.as_deref().unwrap_or_default(),
            brief: format!("{} {}", step.setting, step.change),
        }
    }

    /// The items beneath each other, with what stands beneath those that are unfolded.
    pub fn blocks(&self, items: &[Item<'_>]) -> Vec<Block> {
        let rows: Vec<Vec<StyledText>> = items.iter().map(|item| item.cells.to_vec()).collect();
        let rows = columns::wrapped(&rows, &SHAPE, self.room)
            .into_iter()
            .zip(items);
        let block = |(mut lines, item): (Vec<Line<'static>>, &Item<'_>)| {
            let is_bare = item.about.rules.is_empty();
            if is_bare || self.state.is_unfolded(&item.key) {
                lines.extend(self.beneath(item));
            }
            let mut block = match (is_bare, &item.about.fact) {
                (false, _) => {
                    Block::item(item.key.clone(), Enter::Unfold, lines).amiss(item.is_amiss())
                }
                (true, Some(_)) => Block::item(item.key.clone(), Enter::Nothing, lines),
                (true, None) => Block::text(lines),
            };
            block.copy = item.copy();
            block.fact.clone_from(&item.about.fact);
            block
        };
        rows.map(block).collect()
    }

    /// What the report has beneath it, then what each of its rules rests on.
    fn beneath(&self, item: &Item<'_>) -> Vec<Line<'static>> {
        let mut details = Details::new(self.data.theme, self.room.saturating_sub(2));
        details.told(item.beneath);
        for (report, finding) in self.findings(item.about) {
            details.reasons(report, finding, item.beneath);
            if item.beneath.is_empty() {
                details.needs(finding);
            }
            details.trace(finding);
        }
        if !item.about.rules.is_empty() {
            details.gap();
        }
        details.indented()
    }

    /// The findings that say it: those about just this, else those about the target.
    fn findings(&self, about: &About) -> Vec<(&Report, &Finding)> {
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
