//! Export: the forms of the report, each with what it is; what Enter opens beneath is the document that would be saved.

use ratatui::text::Line;

use crate::quote::Command;
use crate::report::telling::words::count;
use crate::report::{Format, Report};
use crate::ui::data::Data;
use crate::ui::documents::ExportDocument;
use crate::ui::export::may_save;
use crate::ui::page::{Block, Enter, Page, PageState};
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::columns::{self, Column};
use crate::ui::widgets::text;

/// So many lines of a document are shown; all of them are saved.
const SHOWN: usize = 500;

pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
    let mut page = Page::default();
    let theme = data.theme;
    let dim = theme.style(TextRole::Dim);
    let Some(report) = data.report.as_deref().filter(|_| may_save(data).is_ok()) else {
        page.text(vec![Line::default(), Line::styled("Still collecting facts.", dim)]);
        return page;
    };
    let what = match report.targets.len() {
        0 | 1 => "the report, as `walwise check --format` prints it".to_owned(),
        all => format!("the report of all {all} targets, as `walwise check --format` prints it"),
    };
    page.heading(theme, "Export", &what);
    let of = told_of(data, report);
    if !of.is_empty() {
        let of = text::wrap(&of, room).into_iter();
        page.text(of.map(|line| Line::styled(line, theme.style(TextRole::Doubt))).collect());
    }
    if let Some(saved) = &data.export.saved {
        page.text(text::wrap(saved, room).into_iter().map(Line::from).collect());
    }
    let rows = Format::ALL.map(|format| {
        vec![(format.name().to_owned(), theme.style(TextRole::Plain)), (format.says().to_owned(), dim)]
    });
    let rows = columns::wrapped(&rows, &[Column::keep(10), Column::wrap(24)], room);
    for (format, mut lines) in Format::ALL.into_iter().zip(rows) {
        if state.is_unfolded(format.name()) {
            lines.extend(match data.export.document(format) {
                None => vec![Line::styled("  making it …", dim)],
                Some(Err(why)) => vec![Line::styled(format!("  {why}"), theme.style(TextRole::Doubt))],
                Some(Ok(document)) => preview(document, state, theme, room.saturating_sub(2)),
            });
            lines.push(Line::default());
        }
        page.blocks.push(Block::item(format.name(), Enter::Unfold, lines));
    }
    if data.export.saved.is_none() {
        page.text(vec![Line::default(), Line::styled("Nothing is written before s was answered.", dim)]);
    }
    page
}

/// What of the screens before is not what is exported.
fn told_of(data: &Data, report: &Report) -> String {
    let mut says = Vec::new();
    if let Some(target) = data.focus.target.as_ref().filter(|_| report.targets.len() > 1) {
        let name = target.name();
        says.push(match Command::check(name, "") {
            Some(command) => format!("It is of all targets; `{command}` makes one of {name} alone."),
            None => "It is of all targets.".to_owned(),
        });
    }
    if data.supposed.is_some() {
        says.push("It is of the machine as it is: nothing assumed or entered affects it.".to_owned());
    }
    says.join(" ")
}

/// The beginning of a document, or all of it where it is short, as it is, or the lines of that with what is looked for; what
/// does not fit in a line is cut.
fn preview(document: &ExportDocument, state: &PageState, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let all = count(document.lines, "line");
    let first = if document.lines > SHOWN {
        format!(", of which the first {SHOWN} are shown")
    } else {
        String::new()
    };
    let found = if state.is_searching() { "; of these, those with the words" } else { "" };
    let shown = document.text.lines().take(SHOWN).filter(|line| state.passes(line));
    let mut lines = vec![Line::styled(format!("  {all}{first}{found}"), theme.style(TextRole::Dim))];
    lines.extend(shown.map(|line| Line::raw(format!("  {}", text::fit(line, room)))));
    lines
}
