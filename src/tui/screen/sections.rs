use std::collections::BTreeSet;

use ratatui::text::Line;

use super::detail_lines::DetailLines;
use crate::escape::ShellCommand;
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

#[derive(Clone, Copy)]
pub struct SectionView<'a> {
    pub data: &'a Data,
    /// Reports searched for findings. If several contain a finding of the same rule and subject,
    /// that of the first report is shown.
    pub reports: &'a [&'a Report],
    pub state: &'a PageState,
    pub room: usize,
}

pub struct SectionItem<'a> {
    pub key: String,
    pub level: Option<Level>,
    /// Two marks, a setting, a subject, the text, and dim text.
    cells: [StyledText; 6],
    pub about: &'a ItemRef,
    details: &'a [Detail],
    pub brief: String,
}

const COLUMNS: [Column; 6] = [
    Column::new_wrapping(9),
    Column::new_cuttable(8),
    Column::new_cuttable(14),
    Column::new_cuttable(8),
    Column::new_wrapping(24),
    Column::new_wrapping_or_droppable(17, 1),
];

impl SectionItem<'_> {
    pub fn commands(&self) -> Vec<ShellCommand> {
        let commands = self.details.iter().find_map(|detail| {
            let Detail::Commands(_, commands) = detail else {
                return None;
            };
            Some(commands.clone())
        });
        commands.unwrap_or_default()
    }

    /// Replaces the text by the item's fix, if the item has one.
    #[must_use]
    pub fn with_fix_as_text(mut self) -> Self {
        let remedy = self.details.iter().find_map(|detail| match detail {
            Detail::Field("fix", says) => Some(says.to_string()),
            _ => None,
        });
        let [.., says, _] = &mut self.cells;
        says.0 = remedy.unwrap_or_else(|| std::mem::take(&mut says.0));
        self
    }

    pub fn is_urgent(&self) -> bool {
        self.level >= Some(Level::Warning)
    }

    pub fn has_issue(&self) -> bool {
        self.level >= Some(Level::Advice)
    }
}

impl SectionView<'_> {
    pub fn push_section(&self, page: &mut Page, section: &Section) {
        let theme = self.data.theme;
        if !section.heading.is_empty() {
            let mut rows = text::wrap(&section.heading.to_string(), self.room).into_iter();
            page.push_heading(theme, &rows.next().unwrap_or_default(), "");
            page.push_text(
                rows.map(|row| Line::styled(row, theme.role_style(TextRole::Heading)))
                    .collect(),
            );
        }
        for element in &section.elements {
            let cells = |row: Vec<String>| {
                row.into_iter()
                    .map(|cell| (cell, theme.role_style(TextRole::Plain)))
            };
            let table = |rows: Vec<Vec<StyledText>>| {
                let shape = vec![Column::new_wrapping(8); rows.first().map_or(0, Vec::len)];
                columns::wrapped_rows(&rows, &shape, self.room)
                    .into_iter()
                    .flatten()
                    .collect()
            };
            match element {
                Element::Sentence(says) => {
                    let rows = text::wrap(&says.to_string(), self.room);
                    page.push_text(rows.into_iter().map(Line::raw).collect());
                }
                Element::Bullets(_) | Element::Instructions(_) => {
                    page.blocks
                        .extend(self.item_blocks(&self.element_items(section, element)));
                }
                Element::Stack(layers) => {
                    page.push_text(table(
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
                    page.push_text(table(grid.rows.iter().map(row).collect()));
                }
            }
        }
    }

    pub fn section_items<'s>(&self, section: &'s Section) -> Vec<SectionItem<'s>> {
        section
            .elements
            .iter()
            .flat_map(|element| self.element_items(section, element))
            .collect()
    }

    fn element_items<'s>(&self, section: &Section, element: &'s Element) -> Vec<SectionItem<'s>> {
        match element {
            Element::Bullets(Bullets { bullets, .. }) => bullets
                .iter()
                .map(|one| self.bullet_item(section, one))
                .collect(),
            Element::Instructions(steps) => {
                steps.iter().map(|one| self.instruction_item(one)).collect()
            }
            Element::Sentence(_) | Element::Grid(_) | Element::Stack(_) => Vec::new(),
        }
    }

    fn bullet_item<'s>(&self, section: &Section, bullet: &'s Bullet) -> SectionItem<'s> {
        let (plain, dim) = (
            self.data.theme.role_style(TextRole::Plain),
            self.data.theme.role_style(TextRole::Dim),
        );
        let mark = |at: usize| {
            let style = |mark: &Badge| match mark {
                Badge::Level(level, _) => self.data.theme.level_style(*level),
                _ => self.data.theme.tone_style(mark.tone()),
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
        SectionItem {
            key,
            level,
            cells,
            about: &bullet.item,
            details: &bullet.details,
            brief,
        }
    }

    fn instruction_item<'s>(&self, step: &'s Instruction) -> SectionItem<'s> {
        let (plain, dim) = (
            self.data.theme.role_style(TextRole::Plain),
            self.data.theme.role_style(TextRole::Dim),
        );
        let cells = [
            (
                step.level.as_str().to_owned(),
                self.data.theme.level_style(step.level),
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
        SectionItem {
            key: step.item.key.clone(),
            level: Some(step.level),
            cells,
            about: &step.item,
            details: step.details.as_deref().unwrap_or_default(),
            brief: format!("{} {}", step.setting, step.change),
        }
    }

    pub fn item_blocks(&self, items: &[SectionItem<'_>]) -> Vec<Block> {
        let rows: Vec<Vec<StyledText>> = items.iter().map(|item| item.cells.to_vec()).collect();
        let rows = columns::wrapped_rows(&rows, &COLUMNS, self.room)
            .into_iter()
            .zip(items);
        let block = |(mut lines, item): (Vec<Line<'static>>, &SectionItem<'_>)| {
            let is_bare = item.about.rules.is_empty() && item.about.key.is_empty();
            if is_bare || self.state.is_unfolded(&item.key) {
                lines.extend(self.detail_lines(item));
            }
            let mut block = match (is_bare, &item.about.fact) {
                (false, _) => {
                    Block::new_selectable_item(item.key.clone(), EnterEffect::Unfold, lines)
                        .with_issue(item.has_issue())
                }
                (true, Some(_)) => {
                    Block::new_selectable_item(item.key.clone(), EnterEffect::Nothing, lines)
                }
                (true, None) => Block::new_text(lines),
            };
            block.commands = item.commands();
            block.fact.clone_from(&item.about.fact);
            block
        };
        rows.map(block).collect()
    }

    fn detail_lines(&self, item: &SectionItem<'_>) -> Vec<Line<'static>> {
        let mut details = DetailLines::new(self.data.theme, self.room.saturating_sub(2));
        details.push_report_details(item.details);
        for (report, finding) in self.findings_behind(item.about) {
            details.push_reasons(report, finding, item.details);
            if item.details.is_empty() {
                details.push_missing_fact_sets(finding);
            }
            details.push_trace(finding);
        }
        if !item.about.rules.is_empty() {
            details.push_empty_line();
        }
        details.into_indented_lines()
    }

    /// Returns the findings about the item's subject or, if there are none, those that concern the
    /// target.
    fn findings_behind(&self, about: &ItemRef) -> Vec<(&Report, &Finding)> {
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
                || self.data.focus.concerns_target(&finding.subject)
        });
        let mut seen = BTreeSet::new();
        found.retain(|(_, finding)| seen.insert((&finding.rule, &finding.subject)));
        found
    }
}
