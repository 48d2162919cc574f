//! Fixes, answers, optional and undecided advice, and withheld advice: each as a summary line or as
//! a list.

use ratatui::text::{Line, Span};

use super::{Dashboard, priority};
use crate::report::fixes::restates_verdict;
use crate::report::view::answers::{self, AnswerRow};
use crate::report::view::{Section, Tone, wording};
use crate::report::{AnswerAction, Topic};
use crate::rules::Level;
use crate::tui::layout_choice::DashboardPart;
use crate::tui::page::{Block, EnterEffect, Page};
use crate::tui::screen::commit_latency;
use crate::tui::screen::list_limits::{MAX_ITEMS, push_remainder};
use crate::tui::screen::sections::Item;
use crate::tui::screen_id::ScreenId;
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;

/// List lengths, by the rows that are left.
pub const LIST_SIZES: [usize; 3] = [2, 4, MAX_ITEMS];
/// Indentation of a line below an item.
const INDENT: usize = 10;
/// Rows from the empty line before the heading to the end of the first fix.
pub const MIN_ROWS: usize = 4;

impl Dashboard<'_> {
    fn items<'s>(&self, section: Option<&'s Section>) -> Vec<Item<'s>> {
        section
            .map(|section| self.view().all_items(section))
            .unwrap_or_default()
    }

    /// Steps and findings, most urgent first, with commands if there is room.
    pub fn fix_first(&self) -> DashboardPart {
        let advised = &self.data.focus.advised;
        let mut todo = self.items(advised.change.as_ref());
        todo.retain(|item| item.level.is_some());
        // A finding that only repeats the verdict is left out if a critical step fixes it.
        let mends = todo.iter().any(|item| item.level == Some(Level::Critical));
        let is_of_verdict =
            |item: &Item<'_>| item.about.rules.iter().any(|rule| restates_verdict(rule));
        let found = self.items(advised.findings.as_ref()).into_iter();
        let found = found.filter(|item| item.has_issue() && !(mends && is_of_verdict(item)));
        todo.extend(found.map(Item::with_fix));
        todo.sort_by_key(|item| std::cmp::Reverse(item.level));
        let mut page = self.section("Fix first", "");
        if todo.is_empty() {
            page.text(vec![Line::raw("Nothing to fix.")]);
            return DashboardPart::new(page.blocks);
        }
        let form = |commands: usize| {
            let mut page = page.clone();
            self.list(&mut page, &todo, MAX_ITEMS);
            let blocks = page
                .blocks
                .iter_mut()
                .filter(|block| block.key.is_some())
                .zip(&todo);
            for (block, item) in blocks.take(commands) {
                block.lines.extend(self.command_line(item));
            }
            page.blocks
        };
        DashboardPart::new(form(0))
            .with_form(priority::COMMAND, form(1))
            .with_form(priority::COMMANDS, form(MAX_ITEMS))
    }

    /// At most so many items, linked to Advice, and the number of the rest.
    fn list(&self, page: &mut Page, items: &[Item<'_>], most: usize) {
        for mut block in self.view().blocks(items).into_iter().take(most) {
            block.enter =
                EnterEffect::Open(ScreenId::Advice, block.key.clone().unwrap_or_default());
            page.blocks.push(block);
        }
        push_remainder(page, self.theme, items.len(), most);
    }

    /// The command and rule of an item; `None` without a command. A command is never cut: Enter
    /// shows long or multiple ones.
    fn command_line(&self, item: &Item<'_>) -> Option<Line<'static>> {
        let dim = self.theme.style(TextRole::Dim);
        let room = self.room.saturating_sub(INDENT);
        let left = match item.commands().as_slice() {
            [] => return None,
            [one] if !one.as_ref().contains('\n') && text::width(one.as_ref()) <= room => {
                Span::styled(one.to_string(), self.theme.style(TextRole::Code))
            }
            all => Span::styled(
                format!("enter: {}", wording::count_noun(all.len(), "command")),
                dim,
            ),
        };
        let rules = item.about.rules.join(", ");
        let gap = room
            .saturating_sub(left.width())
            .saturating_sub(text::width(&rules));
        let rules = if gap > 1 {
            format!("{}{rules}", text::blank(gap))
        } else {
            String::new()
        };
        Some(Line::from(vec![
            Span::raw(text::blank(INDENT)),
            left,
            Span::styled(rules, dim),
        ]))
    }

    /// Each setting, now and recommended.
    pub fn answers(&self) -> DashboardPart {
        const SHAPE: [Column; 3] = [Column::keep(15), Column::wrap(14), Column::wrap(24)];
        let Some(target) = self.report.targets.get(self.data.focus.position) else {
            return DashboardPart::default();
        };
        let (plain, dim) = (
            self.theme.style(TextRole::Plain),
            self.theme.style(TextRole::Dim),
        );
        let row = |row: AnswerRow| {
            let style = match row.action {
                AnswerAction::Keep => self.theme.tone(Tone::Good),
                AnswerAction::Change | AnswerAction::Create => self.theme.style(TextRole::Accent),
                AnswerAction::Undecided => self.theme.tone(Tone::Doubt),
                AnswerAction::NoAdvice | AnswerAction::NotApplicable => dim,
            };
            // On the screens the key `p` measures, in place of a command.
            let says = match (row.topic, commit_latency::shown_measurement(self.data)) {
                (Topic::CommitLatency, None) => commit_latency::how_to_measure(self.data).0,
                _ => row.recommended,
            };
            let recommended = format!("{} {says}", row.action.symbol());
            vec![
                (row.label.to_owned(), plain),
                (row.now, plain),
                (recommended, style),
            ]
        };
        let head = ["", "now", "recommended"]
            .map(|word| (word.to_owned(), dim))
            .to_vec();
        let rows: Vec<Vec<StyledText>> = [head]
            .into_iter()
            .chain(answers::answer_rows(target).into_iter().map(row))
            .collect();
        let mut page = self.section("Answers", "");
        page.text(
            columns::wrapped_rows(&rows, &SHAPE, self.room)
                .into_iter()
                .flatten()
                .collect(),
        );
        DashboardPart::new(page.blocks)
    }

    pub fn options(&self) -> DashboardPart {
        let items = self.items(self.data.focus.advised.options.as_ref());
        let short: Vec<String> = items.iter().map(|item| item.brief.clone()).collect();
        self.summary_part(
            "Optional",
            "with trade-offs; not in the plan",
            &short,
            &items,
        )
    }

    /// Rules that need a fact; the number of critical ones is always shown.
    pub fn undecided(&self) -> DashboardPart {
        let findings = self
            .data
            .focus
            .undecided
            .iter()
            .filter_map(|at| self.report.findings.get(*at));
        let levels: Vec<Level> = findings.map(|finding| finding.level).collect();
        let critical = match levels
            .iter()
            .filter(|level| **level == Level::Critical)
            .count()
        {
            0 => String::new(),
            count => format!(", {count} critical"),
        };
        let rules = wording::count_noun(levels.len(), "rule");
        let short = (!levels.is_empty()).then(|| format!("{rules} need a fact{critical}"));
        let items = self.items(self.data.focus.advised.undecided.as_ref());
        self.summary_part(
            "Undecided",
            &format!("{rules}{critical}"),
            short.as_slice(),
            &items,
        )
    }

    /// Advice that was withheld, with the reason. Never folded.
    pub fn withheld(&self) -> DashboardPart {
        let here = self
            .report
            .withheld
            .iter()
            .filter(|one| self.data.focus.concerns(&one.subject));
        let lines: Vec<Line<'static>> = here
            .flat_map(|one| self.labelled_lines("Withheld", &wording::withheld_text(one)))
            .collect();
        DashboardPart::new(vec![Block::text(lines)])
    }

    /// Items as a summary line, or as a list below a heading.
    fn summary_part(
        &self,
        label: &str,
        aside: &str,
        short: &[String],
        items: &[Item<'_>],
    ) -> DashboardPart {
        if short.is_empty() {
            return DashboardPart::default();
        }
        let says = joined_to_fit(short, self.room.saturating_sub(super::LABEL + 1));
        let line = self.labelled_lines(label, &says);
        let Some(first) = items.first() else {
            return super::with_spacing(Block::text(line));
        };
        let open = EnterEffect::Open(ScreenId::Advice, first.key.clone());
        let form = |most: usize| {
            let mut page = self.section(label, aside);
            self.list(&mut page, items, most);
            page.blocks
        };
        let line = super::with_spacing(Block::item(label.to_lowercase(), open, line));
        LIST_SIZES.into_iter().fold(line, |part, most| {
            part.with_form(priority::LISTS, form(most))
        })
    }
}

/// As many as fit in a line, and the number of the rest.
fn joined_to_fit(all: &[String], room: usize) -> String {
    let line = |count: usize| {
        let more = all.len().saturating_sub(count);
        let more = (more > 0).then(|| format!("{more} more"));
        all.iter()
            .take(count)
            .cloned()
            .chain(more)
            .collect::<Vec<_>>()
            .join(" · ")
    };
    let fits = (1..=all.len())
        .rev()
        .map(line)
        .find(|line| text::width(line) <= room);
    fits.unwrap_or_else(|| line(1))
}
