//! The overview: the verdict in one line, what to do first, the price of a commit, and what is not known with what would
//! help. What is said elsewhere in full is one key away.

use ratatui::text::{Line, Span};

use super::advice::{noted_key, step_key};
use super::details::Details;
use super::rest::{MOST, rest};
use super::{price, unknown, what_if};
use crate::durability::{Path, Verdict};
use crate::facts::Subject;
use crate::quote::Command;
use crate::report::telling::target::{heading, standing, without_verdict};
use crate::report::telling::words as told;
use crate::report::{Plan, Report, Step};
use crate::rules::{Change, Level};
use crate::ui::data::{Activity, Data};
use crate::ui::page::{Block, Enter, Page, PageState};
use crate::ui::screen_id::ScreenId;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::columns::{self, Column, StyledText};
use crate::ui::widgets::text;
use crate::ui::words;

/// The page.
pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
    let mut page = Page::default();
    let Some(report) = data.report.as_deref() else {
        page.text(not_yet(data));
        return page;
    };
    if !data.complete {
        page.text(so_far(data, report, room));
    } else if data.focus.target.is_none() {
        page.text(no_target(data, room));
    } else {
        verdict(&mut page, data, report, state, room);
        what_if::brief(&mut page, data, room);
        do_first(&mut page, data, report, room);
        price::add(&mut page, data, report, state, room);
        unknown::add(&mut page, data, report, state, room);
    }
    warnings(&mut page, data.theme, report, room);
    page
}

/// Before the first fact.
fn not_yet(data: &Data) -> Vec<Line<'static>> {
    let said = match &data.activity {
        Activity::Collecting { what, .. } => format!("reading {what} …"),
        _ => "Nothing was read: r tries again.".to_owned(),
    };
    vec![Line::default(), Line::styled(said, data.theme.style(TextRole::Dim))]
}

/// While the machine is being read: what was found, and no judgement yet.
fn so_far(data: &Data, report: &Report, room: usize) -> Vec<Line<'static>> {
    let mut lines = not_yet(data);
    lines.push(Line::default());
    for target in &report.targets {
        lines.push(Line::raw(text::fit(&format!("found  {}", target.title), room)));
    }
    lines
}

fn no_target(data: &Data, room: usize) -> Vec<Line<'static>> {
    let mut details = Details::new(data.theme, room);
    details.gap();
    details.paragraph("No database, data mount or free disk was found. Name a directory: walwise DIR");
    details.lines
}

fn verdict(page: &mut Page, data: &Data, report: &Report, state: &PageState, room: usize) {
    const KEY: &str = "verdict";
    let theme = data.theme;
    let Some(verdict) = data.verdict() else {
        let mut details = Details::new(theme, room);
        if let Some(target) = report.targets.get(data.focus.at) {
            details.paragraph(&standing(report, target).to_string());
            let wish = data.plan().and_then(Plan::wish).map(|wish| format!("The plan makes {wish}."));
            for says in without_verdict(target).into_iter().chain(wish) {
                details.paragraph(&says);
            }
        }
        page.text(details.lines);
        return;
    };
    let word = heading(verdict).to_string();
    let indent = text::width(&word).saturating_add(3);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (i, row) in text::wrap(&verdict.sentence, room.saturating_sub(indent)).into_iter().enumerate() {
        let head = if i == 0 { text::pad(&word, indent) } else { text::blank(indent) };
        lines.push(Line::from(vec![Span::styled(head, theme.standing(verdict.standing)), Span::raw(row)]));
    }
    for row in [&verdict.second_fault, &verdict.host_loss]
        .into_iter()
        .flat_map(|says| text::wrap(says, room.saturating_sub(indent)))
    {
        if !row.is_empty() {
            lines.push(Line::raw(format!("{}{row}", text::blank(indent))));
        }
    }
    for row in text::wrap(&verdict.limits, room.saturating_sub(indent)) {
        if !row.is_empty() {
            lines.push(Line::styled(format!("{}{row}", text::blank(indent)), theme.style(TextRole::Dim)));
        }
    }
    if state.is_unfolded(KEY) {
        lines.extend(super::details::indented(evidence(verdict, theme, room.saturating_sub(2))));
    }
    page.blocks.push(Block::item(KEY, Enter::Unfold, lines));
}

/// Every path with what speaks for its standing, and what is missing.
fn evidence(verdict: &Verdict, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let mut lines =
        vec![Line::styled(format!("as seen by the {}", verdict.seen_by), theme.style(TextRole::Dim))];
    for path in &verdict.paths {
        lines.push(Line::default());
        let mut details = Details::new(theme, room);
        details.field(path.standing.word(), &hops(path));
        lines.extend(details.lines);
        let rows: Vec<Vec<StyledText>> = path
            .evidence
            .iter()
            .map(|evidence| {
                vec![
                    (format!("  {}", evidence.layer.word()), theme.style(TextRole::Dim)),
                    (evidence.says.clone(), theme.style(TextRole::Plain)),
                    (evidence.source.clone(), theme.style(TextRole::Dim)),
                ]
            })
            .collect();
        let shape = [Column::keep(8), Column::wrap(24), Column::wrap_or_drop(20, 1)];
        lines.extend(columns::wrapped(&rows, &shape, room).into_iter().flatten());
    }
    for need in &verdict.missing {
        lines.push(Line::default());
        let mut details = Details::new(theme, room);
        details.need(need);
        lines.extend(details.lines);
    }
    lines
}

fn hops(path: &Path) -> String {
    path.hops.iter().map(Subject::name).collect::<Vec<_>>().join(" → ")
}

/// A thing to do: where Enter leads, what is copied, and the row.
struct Todo {
    level: Level,
    key: String,
    copy: Vec<Command>,
    cells: Vec<StyledText>,
}

fn do_first(page: &mut Page, data: &Data, report: &Report, room: usize) {
    let theme = data.theme;
    let steps = data.plan().map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let (keep, change): (Vec<&Step>, Vec<&Step>) =
        steps.iter().partition(|step| step.advice.change == Change::Keep);
    let setting = change.iter().map(|step| text::width(step.advice.setting.name)).max().unwrap_or(0);
    let mut todo: Vec<Todo> = change.into_iter().map(|step| of_step(step, theme, setting)).collect();
    let noted = data.focus.noted.iter().filter_map(|at| report.findings.get(*at));
    todo.extend(noted.filter(|finding| finding.level >= Level::Warning).map(|finding| Todo {
        level: finding.level,
        key: noted_key(finding),
        copy: Vec::new(),
        cells: cells(
            theme,
            finding.level,
            &words::subject(&finding.subject),
            finding.remedy.as_ref().map_or(&finding.title, |remedy| &remedy.says),
            "see why",
            finding.confidence.word(),
        ),
    }));
    todo.sort_by_key(|todo| std::cmp::Reverse(todo.level));
    page.heading(theme, "Do first", &kept(&keep));
    if todo.is_empty() {
        page.text(vec![Line::raw("Nothing to change.")]);
        return;
    }
    let rows: Vec<Vec<StyledText>> = todo.iter().take(MOST).map(|todo| todo.cells.clone()).collect();
    let shape = [Column::keep(8), Column::keep(8), Column::wrap(34), Column::drop(1), Column::drop(2)];
    for (lines, todo) in columns::wrapped(&rows, &shape, room).into_iter().zip(&todo) {
        let mut block = Block::item(todo.key.clone(), Enter::Open(ScreenId::Advice, todo.key.clone()), lines);
        block.copy.clone_from(&todo.copy);
        page.blocks.push(block);
    }
    rest(page, theme, todo.len(), "shows all of the plan");
}

fn of_step(step: &Step, theme: Theme, setting: usize) -> Todo {
    let what = format!("{}  {}", text::pad(step.advice.setting.name, setting), told::change(step));
    Todo {
        level: step.level,
        key: step_key(step),
        copy: super::advice::copied(step),
        cells: cells(
            theme,
            step.level,
            &words::subject(&step.subject),
            &what,
            words::risk(step.advice.risk),
            step.confidence.word(),
        ),
    }
}

fn cells(
    theme: Theme,
    level: Level,
    subject: &str,
    what: &str,
    risk: &str,
    confidence: &str,
) -> Vec<StyledText> {
    let dim = theme.style(TextRole::Dim);
    vec![
        (level.word().to_owned(), theme.level(level)),
        (subject.to_owned(), theme.style(TextRole::Plain)),
        (what.to_owned(), theme.style(TextRole::Plain)),
        (risk.to_owned(), dim),
        (confidence.to_owned(), dim),
    ]
}

fn kept(keep: &[&Step]) -> String {
    match keep.len() {
        0 => String::new(),
        1 => "1 setting is already right".to_owned(),
        n => format!("{n} settings are already right"),
    }
}

fn warnings(page: &mut Page, theme: Theme, report: &Report, room: usize) {
    if report.warnings.is_empty() {
        return;
    }
    page.heading(theme, "About this run", "");
    let mut details = Details::new(theme, room);
    report.warnings.iter().for_each(|warning| details.paragraph(&warning.to_string()));
    page.text(details.lines);
}
