//! Advice: the plan, what it takes, and its steps, current → recommended, with why and how beneath each; then what is right
//! already, what else was found, what cannot be decided and for want of what, what was withheld, and where rules disagree.

use ratatui::text::Line;

use super::details::Details;
use super::rest::no_target_page;
use super::{step, what_if};
use crate::facts::{Need, Subject};
use crate::quote::Command;
use crate::report::telling::words as told;
use crate::report::{Report, Step, Withheld};
use crate::rules::{Finding, Level, Outcome};
use crate::ui::data::Data;
use crate::ui::page::{Block, Enter, Page, PageState};
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::columns::{self, Column, StyledText};
use crate::ui::words;

/// The name of a step on this page.
pub fn step_key(step: &Step) -> String {
    format!("step {} {}", step.advice.setting, step.subject)
}

/// The name of a finding that is no step.
pub fn noted_key(finding: &Finding) -> String {
    format!("found {} {}", finding.rule, finding.subject)
}

/// What is copied of a step: the commands that do it.
pub fn copied(step: &Step) -> Vec<Command> {
    step.advice.apply.clone()
}

pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
    let Some((report, _)) = data.chosen() else { return no_target_page(data, "advise on") };
    let mut page = Page::default();
    let view = FindingList { data, state, report, room, theme: data.theme };
    what_if::all(&mut page, data, state, room);
    view.plan(&mut page);
    view.right(&mut page);
    view.options(&mut page);
    view.found(&mut page);
    view.undecided(&mut page);
    view.withheld(&mut page);
    view.conflicts(&mut page);
    page
}

struct FindingList<'a> {
    data: &'a Data,
    state: &'a PageState,
    report: &'a Report,
    room: usize,
    theme: Theme,
}

impl FindingList<'_> {
    fn plan(&self, page: &mut Page) {
        let says = "current → recommended, in this order; nothing is changed by walwise";
        page.heading(self.theme, "Plan", says);
        let (_, change) = self.data.parted();
        let Some(plan) = self.data.plan().filter(|_| !change.is_empty()) else {
            page.text(vec![Line::raw("Nothing to change.")]);
            return;
        };
        let mut details = Details::new(self.theme, self.room);
        details.field("downtime", &told::takes(plan).join("; "));
        if let Some(wish) = plan.wish() {
            details.field("makes", &wish);
        }
        page.text(details.lines);
        self.steps(page, &change, step_key);
    }

    fn right(&self, page: &mut Page) {
        let (keep, _) = self.data.parted();
        let said = self.findings(&self.data.focus.right);
        if keep.is_empty() && said.is_empty() {
            return;
        }
        page.heading(self.theme, "No change needed", "");
        self.steps(page, &keep, step_key);
        let rows: Vec<Vec<StyledText>> =
            said.iter().map(|finding| self.finding_cells(finding, String::new())).collect();
        self.list(page, &rows, &said, |details, finding| {
            details.reasons(self.report, finding);
            details.trace(finding);
        });
    }

    fn options(&self, page: &mut Page) {
        let options = self.data.plan().map(|plan| plan.options.as_slice()).unwrap_or_default();
        if !options.is_empty() {
            page.heading(self.theme, "Allowed, at a price", "not part of the plan");
            let options: Vec<&Step> = options.iter().collect();
            self.steps(page, &options, |step| format!("option {}", step_key(step)));
        }
    }

    fn steps(&self, page: &mut Page, steps: &[&Step], key: impl Fn(&Step) -> String) {
        let rows: Vec<Vec<StyledText>> = steps.iter().map(|step| self.step_cells(step)).collect();
        let shape = [
            Column::keep(8),
            Column::keep(14),
            Column::keep(8),
            Column::wrap(20),
            Column::drop(1),
            Column::drop(2),
        ];
        for (lines, step) in columns::wrapped(&rows, &shape, self.room).into_iter().zip(steps) {
            let beneath = |details: &mut Details| step::write(details, self.data, self.report, step);
            let mut block = self.item(key(step), lines, beneath).amiss(step.level >= Level::Warning);
            block.copy = copied(step);
            page.blocks.push(block);
        }
    }

    fn step_cells(&self, step: &Step) -> Vec<StyledText> {
        let (plain, dim) = (self.theme.style(TextRole::Plain), self.theme.style(TextRole::Dim));
        vec![
            (step.level.word().to_owned(), self.theme.level(step.level)),
            (step.advice.setting.name.to_owned(), plain),
            (words::subject(&step.subject), plain),
            (told::change(step), plain),
            (takes(step).to_owned(), dim),
            (step.confidence.word().to_owned(), dim),
        ]
    }

    fn found(&self, page: &mut Page) {
        let found = self.findings(&self.data.focus.noted);
        if found.is_empty() {
            return;
        }
        page.heading(self.theme, "Found", "without advice");
        let rows: Vec<Vec<StyledText>> =
            found.iter().map(|finding| self.finding_cells(finding, String::new())).collect();
        self.list(page, &rows, &found, |details, finding| {
            details.reasons(self.report, finding);
            details.trace(finding);
        });
    }

    fn undecided(&self, page: &mut Page) {
        let undecided = self.findings(&self.data.focus.undecided);
        if undecided.is_empty() {
            return;
        }
        page.heading(self.theme, "Undecided", "a fact is unknown");
        let rows: Vec<Vec<StyledText>> =
            undecided.iter().map(|finding| self.finding_cells(finding, first_need(finding))).collect();
        self.list(page, &rows, &undecided, |details, finding| {
            details.reasons(self.report, finding);
            details.needs(finding);
            details.trace(finding);
        });
    }

    fn findings(&self, at: &[usize]) -> Vec<&Finding> {
        at.iter().filter_map(|at| self.report.findings.get(*at)).collect()
    }

    fn finding_cells(&self, finding: &Finding, aside: String) -> Vec<StyledText> {
        vec![
            (words::level(finding), self.theme.level(finding.level)),
            (words::subject(&finding.subject), self.theme.style(TextRole::Plain)),
            (finding.title.clone(), self.theme.style(TextRole::Plain)),
            (aside, self.theme.style(TextRole::Dim)),
        ]
    }

    fn list(
        &self,
        page: &mut Page,
        rows: &[Vec<StyledText>],
        findings: &[&Finding],
        beneath: impl Fn(&mut Details, &Finding),
    ) {
        let shape = [Column::keep(9), Column::keep(8), Column::wrap(24), Column::wrap_or_drop(17, 1)];
        for (lines, finding) in columns::wrapped(rows, &shape, self.room).into_iter().zip(findings) {
            let mut block = self.item(noted_key(finding), lines, |details| {
                details.paragraph(&finding.title);
                beneath(details, finding);
            });
            block = block.amiss(finding.level >= Level::Warning);
            block.fact = first_missing(finding);
            page.blocks.push(block);
        }
    }

    fn withheld(&self, page: &mut Page) {
        let here: Vec<&Withheld> = self
            .report
            .withheld
            .iter()
            .filter(|withheld| self.data.focus.concerns(&withheld.subject))
            .collect();
        if here.is_empty() {
            return;
        }
        page.heading(self.theme, "Withheld", "not valid on this machine");
        let cells = |withheld: &&Withheld| -> Vec<StyledText> {
            vec![
                (withheld.advice.clone(), self.theme.style(TextRole::Plain)),
                (withheld.because.clone(), self.theme.style(TextRole::Dim)),
            ]
        };
        let rows: Vec<Vec<StyledText>> = here.iter().map(cells).collect();
        let rows = columns::wrapped(&rows, &[Column::wrap(20), Column::wrap(20)], self.room);
        for (lines, withheld) in rows.into_iter().zip(here) {
            let key = format!("withheld {} {} {}", withheld.rule, withheld.subject, withheld.advice);
            page.blocks.push(self.item(key, lines, |details| {
                details.field("advice", &withheld.advice);
                details.field("on", &withheld.subject.to_string());
                details.field("withheld", &withheld.because);
                details.field("rule", &withheld.rule);
            }));
        }
    }

    fn conflicts(&self, page: &mut Page) {
        let here =
            self.report.conflicts.iter().filter(|conflict| self.data.focus.concerns(&conflict.subject));
        for (i, conflict) in here.enumerate() {
            if i == 0 {
                page.heading(self.theme, "Conflicting rules", "");
            }
            let row = format!("{} on {}", conflict.setting, words::subject(&conflict.subject));
            let key = format!("conflict {} {} {}", conflict.setting, conflict.subject, conflict.overruled);
            page.blocks.push(self.item(key, vec![Line::raw(row)], |details| {
                details.field("followed", &conflict.followed);
                details.field("overruled", &conflict.overruled);
                details.field("because", &conflict.because);
            }));
        }
    }

    /// Lines that unfold; what is beneath is made only when they are unfolded.
    fn item(&self, key: String, mut lines: Vec<Line<'static>>, beneath: impl FnOnce(&mut Details)) -> Block {
        if self.state.is_unfolded(&key) {
            let mut details = Details::new(self.theme, self.room.saturating_sub(2));
            beneath(&mut details);
            details.gap();
            lines.extend(details.indented());
        }
        Block::item(key, Enter::Unfold, lines)
    }
}

/// What following a step takes; nothing where there is nothing to do.
fn takes(step: &Step) -> &'static str {
    if step.keeps() { "" } else { told::interruption(step.advice.risk) }
}

/// The first fact that is missing to decide a finding.
fn first_missing(finding: &Finding) -> Option<(Subject, String)> {
    let Outcome::Undecided { needs } = &finding.outcome else { return None };
    let need = needs.first()?.first()?;
    Some((need.subject.clone(), need.fact.clone()))
}

fn first_need(finding: &Finding) -> String {
    let Outcome::Undecided { needs } = &finding.outcome else { return String::new() };
    let first: Vec<&Need> = needs.first().into_iter().flatten().collect();
    let facts: Vec<&str> = first.iter().map(|need| need.fact.as_str()).collect();
    if facts.is_empty() { "needs more".to_owned() } else { format!("needs {}", facts.join(" and ")) }
}
