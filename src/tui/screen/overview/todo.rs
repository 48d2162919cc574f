//! What to do first, what is kept, what may be done at a price, what is undecided, and advice that
//! was withheld: each as a line that says how much there is, or as a list.

use ratatui::text::{Line, Span};

use super::{Dashboard, turn};
use crate::report::fixes::is_of_verdict;
use crate::report::telling::answers::{self, AnswerRow};
use crate::report::telling::{Section, Tone, words};
use crate::report::{AnswerAction, Topic};
use crate::rules::Level;
use crate::tui::fill::DashboardPart;
use crate::tui::page::{Block, Enter, Page};
use crate::tui::screen::price;
use crate::tui::screen::rest::{MOST, rest};
use crate::tui::screen::sections::Item;
use crate::tui::screen_id::ScreenId;
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;

/// How many of a list are shown, according to the rows that are left.
pub const FEW: [usize; 3] = [2, 4, MOST];
/// What stands beneath a thing begins here.
const INDENT: usize = 10;
/// Rows from the empty one before the heading to the end of the first thing to do.
pub const HEAD: usize = 4;

impl Dashboard<'_> {
    fn items<'s>(&self, section: Option<&'s Section>) -> Vec<Item<'s>> {
        section
            .map(|section| self.view().all(section))
            .unwrap_or_default()
    }

    /// What is to be changed and what was found, the worst first; with commands where there is room
    /// for them.
    pub fn do_first(&self) -> DashboardPart {
        let advised = &self.data.focus.advised;
        let mut todo = self.items(advised.change.as_ref());
        todo.retain(|item| item.level.is_some());
        // What only repeats the verdict says nothing where a step that mends it is at hand.
        let mends = todo.iter().any(|item| item.level == Some(Level::Critical));
        let is_of_verdict =
            |item: &Item<'_>| item.about.rules.iter().any(|rule| is_of_verdict(rule));
        let found = self.items(advised.found.as_ref()).into_iter();
        let found = found.filter(|item| item.is_amiss() && !(mends && is_of_verdict(item)));
        todo.extend(found.map(Item::mended));
        todo.sort_by_key(|item| std::cmp::Reverse(item.level));
        let mut page = self.section("Fix first", "");
        if todo.is_empty() {
            page.text(vec![Line::raw("Nothing to fix.")]);
            return DashboardPart::new(page.blocks);
        }
        let form = |commands: usize| {
            let mut page = page.clone();
            self.list(&mut page, &todo, MOST);
            let blocks = page
                .blocks
                .iter_mut()
                .filter(|block| block.key.is_some())
                .zip(&todo);
            for (block, item) in blocks.take(commands) {
                block.lines.extend(self.beneath(item));
            }
            page.blocks
        };
        DashboardPart::new(form(0))
            .or(turn::COMMAND, form(1))
            .or(turn::COMMANDS, form(MOST))
    }

    /// At most so many items, which open the advice about them, and how many more there are.
    fn list(&self, page: &mut Page, items: &[Item<'_>], most: usize) {
        for mut block in self.view().blocks(items).into_iter().take(most) {
            block.enter = Enter::Open(ScreenId::Advice, block.key.clone().unwrap_or_default());
            page.blocks.push(block);
        }
        rest(page, self.theme, items.len(), most);
    }

    /// The command of a thing and its rule; nothing where it has no command. A command is shown
    /// whole or not at all: Enter shows those that are longer, or several.
    fn beneath(&self, item: &Item<'_>) -> Option<Line<'static>> {
        let dim = self.theme.style(TextRole::Dim);
        let room = self.room.saturating_sub(INDENT);
        let left = match item.copy().as_slice() {
            [] => return None,
            [one] if !one.as_ref().contains('\n') && text::width(one.as_ref()) <= room => {
                Span::styled(one.to_string(), self.theme.style(TextRole::Code))
            }
            all => Span::styled(
                format!("enter shows {}", words::count(all.len(), "command")),
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

    /// What to use for each setting, now and recommended.
    pub fn answers(&self) -> DashboardPart {
        const SHAPE: [Column; 3] = [Column::keep(15), Column::wrap(14), Column::wrap(24)];
        let Some(target) = self.report.targets.get(self.data.focus.at) else {
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
            // A key measures it here, as a command does elsewhere.
            let says = match (row.topic, price::of(self.data)) {
                (Topic::CommitLatency, None) => price::unmeasured(self.data).0,
                _ => row.recommended,
            };
            let recommended = format!("{} {says}", row.action.mark());
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
            .chain(answers::rows(target).into_iter().map(row))
            .collect();
        let mut page = self.section("Answers", "");
        page.text(
            columns::wrapped(&rows, &SHAPE, self.room)
                .into_iter()
                .flatten()
                .collect(),
        );
        DashboardPart::new(page.blocks)
    }

    /// What may be done at a price.
    pub fn options(&self) -> DashboardPart {
        let items = self.items(self.data.focus.advised.options.as_ref());
        let short: Vec<String> = items.iter().map(|item| item.brief.clone()).collect();
        self.summed_up(
            "Options",
            "allowed, at a price; no part of the plan",
            &short,
            &items,
        )
    }

    /// Rules that need a fact; how many of them are critical is said in any case.
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
        let rules = words::count(levels.len(), "rule");
        let short = (!levels.is_empty()).then(|| format!("{rules} need a fact{critical}"));
        let items = self.items(self.data.focus.advised.undecided.as_ref());
        self.summed_up(
            "Undecided",
            &format!("{rules}{critical}"),
            short.as_slice(),
            &items,
        )
    }

    /// Advice that was taken out, with the reason: it is never folded.
    pub fn withheld(&self) -> DashboardPart {
        let here = self
            .report
            .withheld
            .iter()
            .filter(|one| self.data.focus.concerns(&one.subject));
        let lines: Vec<Line<'static>> = here
            .flat_map(|one| self.labelled("Withheld", &words::withheld(one)))
            .collect();
        DashboardPart::new(vec![Block::text(lines)])
    }

    /// Things in a line, with how many more there are; or as a list beneath a heading.
    fn summed_up(
        &self,
        label: &str,
        aside: &str,
        short: &[String],
        items: &[Item<'_>],
    ) -> DashboardPart {
        if short.is_empty() {
            return DashboardPart::default();
        }
        let says = in_a_line(short, self.room.saturating_sub(super::LABEL + 1));
        let line = self.labelled(label, &says);
        let Some(first) = items.first() else {
            return super::airy(Block::text(line));
        };
        let open = Enter::Open(ScreenId::Advice, first.key.clone());
        let form = |most: usize| {
            let mut page = self.section(label, aside);
            self.list(&mut page, items, most);
            page.blocks
        };
        let line = super::airy(Block::item(label.to_lowercase(), open, line));
        FEW.into_iter()
            .fold(line, |part, most| part.or(turn::LISTS, form(most)))
    }
}

/// As many as fit in a line, and how many more there are.
fn in_a_line(all: &[String], room: usize) -> String {
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
