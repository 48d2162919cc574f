//! What would be different, beside the machine as it is: in short on the overview, whole before the advice. The words are
//! those of the text report.

use ratatui::style::Style;
use ratatui::text::Line;

use super::details::Details;
use crate::facts::Subject;
use crate::report::Report;
use crate::report::telling::what_if::{self as told, Consequence, ConsequenceGroup};
use crate::rules::Finding;
use crate::ui::data::Data;
use crate::ui::page::{Block, Enter, Page, PageState};
use crate::ui::screen_id::ScreenId;
use crate::ui::supposed::Supposed;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::{columns, text};

/// The block that stands for all of it.
pub const KEY: &str = "what if";
/// Columns for what stands before a sentence.
const LABEL: usize = 10;

/// In short: what is supposed, what becomes of verdicts, which rules are decided, and how much else is different.
pub fn brief(page: &mut Page, data: &Data, room: usize) {
    let Some(supposed) = &data.supposed else { return };
    heading(page, data.theme, room);
    let what_if = &supposed.what_if;
    let mut lines = Vec::new();
    for one in &what_if.assumed {
        lines.extend(sentence(&told::assumption(one), data.theme, room));
    }
    let parts = told::told(what_if);
    let (first, others): (Vec<ConsequenceGroup>, Vec<ConsequenceGroup>) =
        parts.into_iter().partition(|part| part.title.is_empty());
    for row in first.iter().flat_map(|part| &part.rows) {
        lines.extend(sentence(row, data.theme, room));
    }
    // Which rules are decided was said already.
    let others: Vec<String> = others
        .iter()
        .filter(|part| part.title != told::DECIDED)
        .map(|part| format!("{} ({})", lower(part.title), part.rows.len()))
        .collect();
    let summary = if what_if.changes_nothing() { told::NOTHING.to_owned() } else { others.join(" · ") };
    if !summary.is_empty() {
        lines.extend(text::wrap(&summary, room).into_iter().map(Line::from));
    }
    page.blocks.push(Block::item(KEY, Enter::Open(ScreenId::Advice, KEY.to_owned()), lines));
}

/// A heading without what stands behind its comma, as part of a line.
fn lower(title: &str) -> String {
    title.split(',').next().unwrap_or_default().to_lowercase()
}

fn heading(page: &mut Page, theme: Theme, room: usize) {
    let aside = "beside the machine as it is; W leaves";
    page.heading(theme, "What if", &text::fit(aside, room.saturating_sub(10)));
}

pub fn all(page: &mut Page, data: &Data, state: &PageState, room: usize) {
    let (Some(supposed), Some(real)) = (&data.supposed, data.report.as_deref()) else { return };
    let theme = data.theme;
    heading(page, theme, room);
    let says = text::wrap(told::SAYS, room).into_iter();
    page.blocks.push(Block::item(
        KEY,
        Enter::Nothing,
        says.map(|line| Line::styled(line, theme.style(TextRole::Dim))).collect(),
    ));
    for one in &supposed.what_if.assumed {
        let key = format!("assumed {} {}", one.fact, one.subject);
        let mut block = Block::item(key, Enter::Nothing, sentence(&told::assumption(one), theme, room));
        block.fact = Some((one.subject.clone(), one.fact.clone()));
        page.blocks.push(block);
    }
    if supposed.what_if.changes_nothing() {
        page.text(vec![Line::raw(told::NOTHING)]);
    }
    for part in told::told(&supposed.what_if) {
        if !part.title.is_empty() {
            let title = text::wrap(part.title, room).into_iter();
            page.text(title.map(|line| Line::styled(line, theme.style(TextRole::Heading))).collect());
        }
        for row in &part.rows {
            page.blocks.push(item(part.title, row, supposed, real, theme, state, room));
        }
    }
}

/// A sentence that unfolds to the reasons of the finding that it is about.
fn item(
    title: &str,
    row: &Consequence,
    supposed: &Supposed,
    real: &Report,
    theme: Theme,
    state: &PageState,
    room: usize,
) -> Block {
    let key = format!("{KEY} {title} {} {}", row.label, row.says);
    let mut lines = sentence(row, theme, room);
    // What is gone has its reasons in the report of the machine as it is.
    let found = row.finding.as_ref().and_then(|(rule, subject)| {
        let then = finding(&supposed.report, rule, subject).map(|found| (&supposed.report, found));
        then.or_else(|| finding(real, rule, subject).map(|found| (real, found)))
    });
    let Some((report, found)) = found else { return Block::item(key, Enter::Nothing, lines) };
    if state.is_unfolded(&key) {
        let mut details = Details::new(theme, room.saturating_sub(2));
        details.reasons(report, found);
        details.trace(found);
        details.gap();
        lines.extend(details.indented());
    }
    Block::item(key, Enter::Unfold, lines)
}

fn finding<'r>(report: &'r Report, rule: &str, subject: &Subject) -> Option<&'r Finding> {
    report.findings.iter().find(|finding| finding.rule == rule && finding.subject == *subject)
}

/// A row as lines, wrapped beside its label.
fn sentence(row: &Consequence, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let indent = if row.label.is_empty() { 0 } else { LABEL };
    let rows = text::wrap(&row.says, room.saturating_sub(indent));
    columns::labelled((&row.label, theme.style(TextRole::Doubt)), indent, rows, Style::default())
}
