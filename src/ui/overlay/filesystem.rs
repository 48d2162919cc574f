//! The choice of a file system for a free disk: what can be made at which price, and why the rest cannot.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::pane::pane;
use crate::report::FilesystemChoice;
use crate::ui::model::Model;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::columns::{self, Column, StyledText};
use crate::ui::widgets::text;

const WIDTH: u16 = 76;
/// Rows for what is said of the chosen one.
const SAID: u16 = 4;

/// Draws the list, with what is to be said of the chosen one beneath.
pub fn draw(model: &Model, chosen: usize, area: Rect, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let choices = model.data.filesystems();
    let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
    let rows: Vec<Vec<StyledText>> =
        choices.iter().enumerate().map(|(at, choice)| cells(choice, at == chosen, theme)).collect();
    let mut lines = columns::lines(&rows, &[Column::keep(1), Column::keep(6), Column::keep(10)], room);
    lines.push(Line::default());
    if let Some(choice) = choices.get(chosen) {
        let (says, role) = said(choice);
        let rows = text::wrap(&says, room).into_iter().take(usize::from(SAID));
        lines.extend(rows.map(|line| Line::styled(line, theme.style(role))));
    }
    let height = u16::try_from(choices.len()).unwrap_or(u16::MAX).saturating_add(SAID).saturating_add(3);
    let title = format!("Which file system for {}?", model.data.focus.title);
    let width = WIDTH.min(area.width);
    let inner = pane(theme, &text::fit(&title, room), width, height.min(area.height), area, buffer);
    for (line, row) in lines.into_iter().zip(inner.rows()) {
        line.render(row, buffer);
    }
}

fn cells(choice: &FilesystemChoice, is_chosen: bool, theme: Theme) -> Vec<StyledText> {
    let name = theme.style(if choice.refused.is_none() { TextRole::Plain } else { TextRole::Dim });
    let name = if is_chosen { name.add_modifier(Modifier::BOLD) } else { name };
    let place = match (choice.first, choice.wanted) {
        (true, true) => "the first choice, and wanted",
        (true, false) => "the first choice",
        (false, true) => "wanted",
        (false, false) => "",
    };
    let refused = if choice.refused.is_some() { "cannot be made here" } else { "" };
    let says = [place, refused].into_iter().filter(|says| !says.is_empty()).collect::<Vec<_>>().join("; ");
    vec![
        (if is_chosen { "▸" } else { " " }.to_owned(), theme.style(TextRole::Accent)),
        (choice.filesystem.to_string(), name),
        (says, theme.style(TextRole::Dim)),
    ]
}

/// Why it cannot be made, else what its rule says of it and what it costs.
fn said(choice: &FilesystemChoice) -> (String, TextRole) {
    if let Some(why) = &choice.refused {
        return (why.clone(), TextRole::Doubt);
    }
    let title = choice.title.as_ref().map(|title| format!("{title}."));
    let price = choice.price.as_ref().map(|price| format!("Price: {price}"));
    (title.into_iter().chain(price).collect::<Vec<_>>().join(" "), TextRole::Dim)
}
