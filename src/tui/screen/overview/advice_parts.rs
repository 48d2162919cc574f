use ratatui::text::{Line, Span};

use super::{Dashboard, form_priority};
use crate::report::fixes::restates_verdict;
use crate::report::view::answers::{self, AnswerRow};
use crate::report::view::{Section, Tone, wording};
use crate::report::{AnswerAction, Topic};
use crate::rules::Level;
use crate::tui::dashboard_layout::DashboardPart;
use crate::tui::page::{Block, EnterEffect, Page};
use crate::tui::screen::commit_latency;
use crate::tui::screen::sections::SectionItem;
use crate::tui::screen::shared_page_parts::{MAX_ITEMS, push_left_out_count};
use crate::tui::screen_id::ScreenId;
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;

pub const LIST_SIZES: [usize; 3] = [2, 4, MAX_ITEMS];
const INDENT: usize = 10;
/// Fixes shown even without spare rows; all critical ones are.
const MIN_FIXES: usize = 3;
/// Rows from the empty line above the heading to the end of the first fix.
pub const MIN_ROWS: usize = 4;

impl Dashboard<'_> {
    fn section_items<'s>(&self, section: Option<&'s Section>) -> Vec<SectionItem<'s>> {
        section
            .map(|section| self.section_view().section_items(section))
            .unwrap_or_default()
    }

    pub fn fix_first_part(&self) -> DashboardPart {
        let advised = &self.data.focus.advised;
        let mut todo = self.section_items(advised.change.as_ref());
        todo.retain(|item| item.level.is_some());
        // A finding that repeats the verdict is left out if the list contains a critical step,
        // which fixes the cause.
        let mends = todo.iter().any(|item| item.level == Some(Level::Critical));
        let is_of_verdict =
            |item: &SectionItem<'_>| item.about.rules.iter().any(|rule| restates_verdict(rule));
        let found = self.section_items(advised.findings.as_ref()).into_iter();
        let found = found.filter(|item| item.is_urgent() && !(mends && is_of_verdict(item)));
        todo.extend(found.map(SectionItem::with_fix_as_text));
        todo.sort_by_key(|item| std::cmp::Reverse(item.level));
        let mut page = self.new_section_page("Fix first", "");
        if todo.is_empty() {
            page.push_text(vec![Line::raw("Nothing to fix.")]);
            return DashboardPart::new(page.blocks);
        }
        let form = |most: usize| {
            let mut page = page.clone();
            self.push_linked_items(&mut page, &todo, most);
            let blocks = page
                .blocks
                .iter_mut()
                .filter(|block| block.key.is_some())
                .zip(&todo);
            for (block, item) in blocks {
                block.lines.extend(self.item_commands_line(item));
            }
            page.blocks
        };
        let critical = todo
            .iter()
            .filter(|item| item.level == Some(Level::Critical));
        let least = critical.count().clamp(MIN_FIXES, MAX_ITEMS);
        DashboardPart::new(form(least)).with_longer_form(form_priority::FIXES, form(MAX_ITEMS))
    }

    fn push_linked_items(&self, page: &mut Page, items: &[SectionItem<'_>], most: usize) {
        for mut block in self
            .section_view()
            .item_blocks(items)
            .into_iter()
            .take(most)
        {
            block.enter =
                EnterEffect::Open(ScreenId::Advice, block.key.clone().unwrap_or_default());
            page.blocks.push(block);
        }
        push_left_out_count(page, self.theme, items.len(), most);
    }

    /// Returns the line with an item's command. Several commands, or one that does not fit, are
    /// replaced by the number of commands that Enter shows.
    fn item_commands_line(&self, item: &SectionItem<'_>) -> Option<Line<'static>> {
        let dim = self.theme.role_style(TextRole::Dim);
        let room = self.room.saturating_sub(INDENT);
        let left = match item.commands().as_slice() {
            [] => return None,
            [one] if !one.as_ref().contains('\n') && text::width(one.as_ref()) <= room => {
                Span::styled(one.to_string(), self.theme.role_style(TextRole::Code))
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
            format!("{}{rules}", text::spaces(gap))
        } else {
            String::new()
        };
        Some(Line::from(vec![
            Span::raw(text::spaces(INDENT)),
            left,
            Span::styled(rules, dim),
        ]))
    }

    pub fn setting_answers_part(&self) -> DashboardPart {
        const TABLE_COLUMNS: [Column; 3] = [
            Column::new_cuttable(15),
            Column::new_wrapping(14),
            Column::new_wrapping(24),
        ];
        const REASON_COLUMNS: [Column; 2] = [Column::new_cuttable(15), Column::new_wrapping(24)];
        let Some(target) = self.report.targets.get(self.data.focus.position) else {
            return DashboardPart::default();
        };
        let (plain, dim) = (
            self.theme.role_style(TextRole::Plain),
            self.theme.role_style(TextRole::Dim),
        );
        let row = |row: AnswerRow| {
            let style = match row.action {
                AnswerAction::Keep => self.theme.tone_style(Tone::Good),
                AnswerAction::Change | AnswerAction::Create => {
                    self.theme.role_style(TextRole::Accent)
                }
                AnswerAction::Undecided => self.theme.tone_style(Tone::Doubt),
                AnswerAction::NoAdvice | AnswerAction::NotApplicable => dim,
            };
            // The report recommends a command to measure; the screens offer the key `p` instead.
            let says = match (
                row.topic,
                commit_latency::live_or_last_measurement(self.data),
            ) {
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
        let answers = answers::answer_rows(target);
        // Other answers already give their reason in place of a recommendation.
        let has_reason = |row: &&AnswerRow| match row.action {
            AnswerAction::Keep | AnswerAction::Change | AnswerAction::Create => true,
            AnswerAction::Undecided | AnswerAction::NoAdvice | AnswerAction::NotApplicable => false,
        };
        let why = |row: &AnswerRow| vec![(row.label.to_owned(), plain), (row.why.clone(), dim)];
        let reasons: Vec<Vec<StyledText>> = answers.iter().filter(has_reason).map(why).collect();
        let rows: Vec<Vec<StyledText>> = [head]
            .into_iter()
            .chain(answers.into_iter().map(row))
            .collect();
        let mut page = self.new_section_page("Answers", "");
        page.push_text(
            columns::wrapped_rows(&rows, &TABLE_COLUMNS, self.room)
                .into_iter()
                .flatten()
                .collect(),
        );
        let short = page.blocks.clone();
        page.push_text(vec![Line::default()]);
        page.push_text(
            columns::wrapped_rows(&reasons, &REASON_COLUMNS, self.room)
                .into_iter()
                .flatten()
                .collect(),
        );
        DashboardPart::new(short).with_longer_form(form_priority::WHY, page.blocks)
    }

    pub fn optional_advice_part(&self) -> DashboardPart {
        let items = self.section_items(self.data.focus.advised.options.as_ref());
        let short: Vec<String> = items.iter().map(|item| item.brief.clone()).collect();
        self.line_or_list_part(
            "Optional",
            "with trade-offs; not in the plan",
            &short,
            &items,
        )
    }

    pub fn undecided_rules_part(&self) -> DashboardPart {
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
        let items = self.section_items(self.data.focus.advised.undecided.as_ref());
        self.line_or_list_part(
            "Undecided",
            &format!("{rules}{critical}"),
            short.as_slice(),
            &items,
        )
    }

    pub fn withheld_advice_part(&self) -> DashboardPart {
        let here = self
            .report
            .withheld
            .iter()
            .filter(|one| self.data.focus.concerns_target(&one.subject));
        let lines: Vec<Line<'static>> = here
            .flat_map(|one| self.labelled_lines("Withheld", &wording::withheld_text(one)))
            .collect();
        DashboardPart::new(vec![Block::new_text(lines)])
    }

    fn line_or_list_part(
        &self,
        label: &str,
        aside: &str,
        short: &[String],
        items: &[SectionItem<'_>],
    ) -> DashboardPart {
        if short.is_empty() {
            return DashboardPart::default();
        }
        let says = join_to_fit(short, self.room.saturating_sub(super::LABEL_WIDTH + 1));
        let line = self.labelled_lines(label, &says);
        let Some(first) = items.first() else {
            return super::part_with_spacing(Block::new_text(line));
        };
        let open = EnterEffect::Open(ScreenId::Advice, first.key.clone());
        let form = |most: usize| {
            let mut page = self.new_section_page(label, aside);
            self.push_linked_items(&mut page, items, most);
            page.blocks
        };
        let line =
            super::part_with_spacing(Block::new_selectable_item(label.to_lowercase(), open, line));
        LIST_SIZES.into_iter().fold(line, |part, most| {
            part.with_longer_form(form_priority::LISTS, form(most))
        })
    }
}

fn join_to_fit(all: &[String], room: usize) -> String {
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
