//! The choice of a file system for a free disk: what can be made at which price, and why the rest cannot.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::pane::Choices;
use crate::report::FilesystemChoice;
use crate::ui::model::Model;
use crate::ui::standing::mark;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::columns::{self, Column, StyledText};
use crate::ui::widgets::text;

const WIDTH: u16 = 76;

/// Draws the list, with what is to be said of the chosen one beneath.
pub fn draw(model: &Model, chosen: usize, area: Rect, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let choices = model.data.filesystems();
    let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
    let (says, role) = choices.get(chosen).map_or((String::new(), TextRole::Dim), said);
    let says = text::wrap(&says, room).into_iter().map(|line| Line::styled(line, theme.style(role)));
    let list = Choices {
        title: &format!("Which file system for {}?", model.data.focus.title),
        width: WIDTH,
        above: Vec::new(),
        count: choices.len(),
        chosen,
        below: [Line::default()].into_iter().chain(says).collect(),
    };
    let rows: Vec<Vec<StyledText>> =
        choices.iter().enumerate().map(|(at, choice)| cells(choice, at == chosen, theme)).collect();
    list.draw(theme, area, buffer, |shown, room| {
        let lines = columns::lines(&rows, &[Column::keep(1), Column::keep(6), Column::keep(10)], room);
        lines.into_iter().skip(shown.start).take(shown.len()).collect()
    });
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
    vec![mark(theme, is_chosen), (choice.filesystem.to_string(), name), (says, theme.style(TextRole::Dim))]
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
