//! The question before a document is saved: the name of the file, and whether an existing one may be replaced.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::pane::{answers, pane};
use crate::ui::documents::{SaveForm, SaveState};
use crate::ui::hits::Hits;
use crate::ui::model::Model;
use crate::ui::theme::TextRole;
use crate::ui::widgets::text;

const WIDTH: u16 = 76;
/// Columns before the name.
const INDENT: usize = 6;

/// Draws the name with its cursor, what is to be said about it, and the answers.
pub fn draw(model: &Model, form: &SaveForm, area: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
    let name = match form.stage {
        SaveState::Naming(_) => form.name.line(room.saturating_sub(INDENT)),
        SaveState::Saving | SaveState::Exists(_) => {
            Line::raw(text::fit_end(form.name.text(), room.saturating_sub(INDENT)))
        }
    };
    let mut named = vec![Span::styled(text::pad("File", INDENT), theme.style(TextRole::Dim))];
    named.extend(name.spans);
    let mut lines = vec![Line::from(named), Line::default()];
    let (says, role) = match &form.stage {
        SaveState::Naming(None) => {
            ("A name without a directory is in the one where walwise was started.", TextRole::Dim)
        }
        SaveState::Naming(Some(why)) => (why.as_str(), TextRole::Doubt),
        SaveState::Saving => ("saving …", TextRole::Dim),
        SaveState::Exists(_) => ("", TextRole::Plain),
    };
    let exists = match &form.stage {
        SaveState::Exists(path) => format!("{path} exists. Replace it?"),
        _ => says.to_owned(),
    };
    lines.extend(text::wrap(&exists, room).into_iter().map(|line| Line::styled(line, theme.style(role))));
    let choices: &[(&str, &str)] = match form.stage {
        SaveState::Naming(_) => &[("enter", "save"), ("esc", "do not")],
        SaveState::Saving => &[("esc", "do not wait")],
        SaveState::Exists(_) => &[("y", "replace it"), ("n", "another name"), ("esc", "do not save")],
    };
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4).min(area.height);
    let title = format!("Save as {}", form.format.name());
    let inner = pane(theme, &title, WIDTH.min(area.width), height, area, buffer);
    // The answers stay visible even where the rest is longer than the screen.
    lines.truncate(usize::from(inner.height.saturating_sub(2)));
    let below = lines.len().saturating_add(1);
    for (line, row) in lines.into_iter().zip(inner.rows()) {
        line.render(row, buffer);
    }
    if let Some(row) = inner.rows().nth(below) {
        answers(theme, choices, row, hits, buffer);
    }
}
