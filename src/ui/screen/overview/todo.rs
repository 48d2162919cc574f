//! What to do first, what is kept, what may be done at a price, what is undecided, and advice that was withheld: each as a
//! line that says how much there is, or as a list.

use ratatui::text::{Line, Span};

use super::{Dashboard, turn};
use crate::quote::Command;
use crate::report::Step;
use crate::report::telling::words as told;
use crate::rules::{Finding, Level};
use crate::ui::fill::DashboardPart;
use crate::ui::page::{Block, Enter, Page};
use crate::ui::screen::advice::{copied, noted_key, step_key};
use crate::ui::screen::rest::{MOST, rest};
use crate::ui::screen_id::ScreenId;
use crate::ui::theme::TextRole;
use crate::ui::widgets::columns::{self, Column, StyledText};
use crate::ui::widgets::text;
use crate::ui::words;

/// A thing to do: where Enter leads, what is copied, the row, and the rules that want it.
struct Todo {
    level: Level,
    key: String,
    copy: Vec<Command>,
    cells: Vec<StyledText>,
    rules: String,
}

/// The columns of a thing to do.
const SHAPE: [Column; 5] =
    [Column::keep(8), Column::keep(8), Column::wrap(34), Column::drop(1), Column::drop(2)];
/// Rules that apply because of the verdict have names that begin so.
const OF_VERDICT: &str = "verdict.";
/// How many of a list are shown, according to the rows that are left.
pub const FEW: [usize; 3] = [2, 4, MOST];
/// What stands beneath a thing begins here.
const INDENT: usize = 10;
/// Rows from the empty one before the heading to the end of the first thing to do.
pub const HEAD: usize = 4;

impl Dashboard<'_> {
    /// What is to be changed and what was found, the worst first; with commands where there is room for them.
    pub fn do_first(&self) -> DashboardPart {
        let todo = self.todo();
        let mut page = self.section("Do first", "");
        if todo.is_empty() {
            page.text(vec![Line::raw("Nothing to change.")]);
            return DashboardPart::new(page.blocks);
        }
        let rows: Vec<Vec<StyledText>> = todo.iter().take(MOST).map(|todo| todo.cells.clone()).collect();
        let drawn = columns::wrapped(&rows, &SHAPE, self.room);
        let form = |commands: usize| {
            let mut page = page.clone();
            for (at, (lines, todo)) in drawn.iter().zip(&todo).enumerate() {
                let mut lines = lines.clone();
                lines.extend((at < commands).then(|| self.beneath(todo)).flatten());
                let enter = Enter::Open(ScreenId::Advice, todo.key.clone());
                let mut block =
                    Block::item(todo.key.clone(), enter, lines).amiss(todo.level >= Level::Warning);
                block.copy.clone_from(&todo.copy);
                page.blocks.push(block);
            }
            rest(&mut page, self.theme, todo.len(), MOST);
            page.blocks
        };
        DashboardPart::new(form(0)).or(turn::COMMAND, form(1)).or(turn::COMMANDS, form(MOST))
    }

    fn todo(&self) -> Vec<Todo> {
        let (_, change) = self.data.parted();
        let setting = change.iter().map(|step| text::width(step.advice.setting.name)).max().unwrap_or(0);
        let mut todo: Vec<Todo> = change.into_iter().map(|step| self.of_step(step, setting)).collect();
        let noted = self.data.focus.noted.iter().filter_map(|at| self.report.findings.get(*at));
        let noted = noted.filter(|finding| finding.level >= Level::Warning);
        // What only repeats the verdict says nothing where a step that mends it is at hand.
        let mends = todo.iter().any(|todo| todo.level == Level::Critical);
        let noted = noted.filter(|finding| !mends || !finding.rule.starts_with(OF_VERDICT));
        todo.extend(noted.map(|finding| self.of_finding(finding)));
        todo.sort_by_key(|todo| std::cmp::Reverse(todo.level));
        todo
    }

    fn of_step(&self, step: &Step, setting: usize) -> Todo {
        let what = format!("{}  {}", text::pad(step.advice.setting.name, setting), told::change(step));
        let risk = told::interruption(step.advice.risk);
        Todo {
            level: step.level,
            key: step_key(step),
            copy: copied(step),
            cells: self.cells(
                step.level,
                &words::subject(&step.subject),
                &what,
                risk,
                step.confidence.word(),
            ),
            rules: step.rules.join(", "),
        }
    }

    fn of_finding(&self, finding: &Finding) -> Todo {
        let what = finding.remedy.as_ref().map_or(&finding.title, |remedy| &remedy.says);
        let of = words::subject(&finding.subject);
        Todo {
            level: finding.level,
            key: noted_key(finding),
            copy: Vec::new(),
            cells: self.cells(finding.level, &of, what, "see why", finding.confidence.word()),
            rules: finding.rule.clone(),
        }
    }

    fn cells(
        &self,
        level: Level,
        subject: &str,
        what: &str,
        risk: &str,
        confidence: &str,
    ) -> Vec<StyledText> {
        let (plain, dim) = (self.theme.style(TextRole::Plain), self.theme.style(TextRole::Dim));
        vec![
            (level.word().to_owned(), self.theme.level(level)),
            (subject.to_owned(), plain),
            (what.to_owned(), plain),
            (risk.to_owned(), dim),
            (confidence.to_owned(), dim),
        ]
    }

    /// The command of a thing and its rule; nothing where it has no command. A command is shown whole or not at all: Enter
    /// shows those that are longer, or several.
    fn beneath(&self, todo: &Todo) -> Option<Line<'static>> {
        let dim = self.theme.style(TextRole::Dim);
        let room = self.room.saturating_sub(INDENT);
        let command = match todo.copy.as_slice() {
            [] => return None,
            [one] => {
                Some(one.as_ref().to_owned()).filter(|one| !one.contains('\n') && text::width(one) <= room)
            }
            _ => None,
        };
        let left = match (command, todo.copy.len()) {
            (Some(command), _) => Span::styled(command, self.theme.style(TextRole::Code)),
            (None, 1) => Span::styled("enter shows the command", dim),
            (None, count) => Span::styled(format!("enter shows {count} commands"), dim),
        };
        let gap = room.saturating_sub(left.width()).saturating_sub(text::width(&todo.rules));
        let rules = if gap > 1 { format!("{}{}", text::blank(gap), todo.rules) } else { String::new() };
        Some(Line::from(vec![Span::raw(text::blank(INDENT)), left, Span::styled(rules, dim)]))
    }

    pub fn keep(&self) -> DashboardPart {
        let (keep, _) = self.data.parted();
        let said = |step: &Step| {
            let name = step.advice.setting.name;
            let value = step.advice.current.value().map(|now| step.advice.setting.written(now));
            (name.to_owned(), value.unwrap_or_default())
        };
        let short = keep.iter().map(|step| {
            let (name, value) = said(step);
            format!("{} {}", name.split_once('.').map_or(&*name, |(_, rest)| rest), text::fit(&value, 24))
        });
        let list = keep.iter().map(|step| {
            let (name, value) = said(step);
            let cells = [name, value, step.title.trim_end_matches('.').to_owned()];
            (step_key(step), cells)
        });
        self.summed_up("Keep", &short.collect::<Vec<_>>(), "already right", &list.collect::<Vec<_>>())
    }

    /// What may be done at a price.
    pub fn options(&self) -> DashboardPart {
        let options = self.data.plan().map(|plan| plan.options.as_slice()).unwrap_or_default();
        let short = options.iter().map(|step| format!("{} {}", step.advice.setting.name, told::change(step)));
        let list = options.iter().map(|step| {
            let cells = [step.advice.setting.name.to_owned(), told::change(step), step.title.clone()];
            (format!("option {}", step_key(step)), cells)
        });
        self.summed_up(
            "Options",
            &short.collect::<Vec<_>>(),
            "allowed, at a price; no part of the plan",
            &list.collect::<Vec<_>>(),
        )
    }

    /// Rules that need a fact; how many of them are critical is said in any case.
    pub fn undecided(&self) -> DashboardPart {
        let findings: Vec<&Finding> =
            self.data.focus.undecided.iter().filter_map(|at| self.report.findings.get(*at)).collect();
        let is_critical = |finding: &&&Finding| finding.level == Level::Critical;
        let criticals = findings.iter().filter(is_critical).count();
        let said = told::count(findings.len(), "rule");
        let critical = if criticals > 0 { format!(", {criticals} critical") } else { String::new() };
        let list = findings.iter().map(|finding| {
            let cells = [words::level(finding), words::subject(&finding.subject), finding.title.clone()];
            (noted_key(finding), cells)
        });
        let short =
            if findings.is_empty() { Vec::new() } else { vec![format!("{said} need a fact{critical}")] };
        self.summed_up("Undecided", &short, &format!("{said}{critical}"), &list.collect::<Vec<_>>())
    }

    /// Advice that was taken out, with the reason: it is never folded.
    pub fn withheld(&self) -> DashboardPart {
        let here = self.report.withheld.iter().filter(|one| self.data.focus.concerns(&one.subject));
        let lines: Vec<Line<'static>> =
            here.flat_map(|one| self.labelled("Withheld", &told::withheld(one))).collect();
        DashboardPart::new(vec![Block::text(lines)])
    }

    /// Things in a line, with how many more there are; or as a list beneath a heading.
    fn summed_up(
        &self,
        label: &str,
        short: &[String],
        aside: &str,
        list: &[(String, [String; 3])],
    ) -> DashboardPart {
        let Some((first, _)) = list.first() else { return DashboardPart::default() };
        let open = |key: &String| Enter::Open(ScreenId::Advice, key.clone());
        let says = in_a_line(short, self.room.saturating_sub(super::LABEL + 1));
        let line = Block::item(label.to_lowercase(), open(first), self.labelled(label, &says));
        let (plain, dim) = (self.theme.style(TextRole::Plain), self.theme.style(TextRole::Dim));
        let cells = |(_, [a, b, c]): &(String, [String; 3])| {
            vec![(a.clone(), plain), (b.clone(), plain), (c.clone(), dim)]
        };
        let shape = [Column::keep(14), Column::keep(12), Column::keep(20)];
        let form = |most: usize| {
            let mut page: Page = self.section(label, aside);
            let rows: Vec<Vec<StyledText>> = list.iter().take(most).map(cells).collect();
            let lines = columns::lines(&rows, &shape, self.room);
            for (line, (key, _)) in lines.into_iter().zip(list) {
                page.blocks.push(Block::item(key.clone(), open(key), vec![line]));
            }
            rest(&mut page, self.theme, list.len(), most);
            page.blocks
        };
        FEW.into_iter().fold(super::airy(line), |part, most| part.or(turn::LISTS, form(most)))
    }
}

/// As many as fit in a line, and how many more there are.
fn in_a_line(all: &[String], room: usize) -> String {
    let line = |count: usize| {
        let more = all.len().saturating_sub(count);
        let more = (more > 0).then(|| format!("{more} more"));
        all.iter().take(count).cloned().chain(more).collect::<Vec<_>>().join(" · ")
    };
    let fits = (1..=all.len()).rev().map(line).find(|line| text::width(line) <= room);
    fits.unwrap_or_else(|| line(1))
}
