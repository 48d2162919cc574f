//! What if: the list of facts that can be assumed, then the value of the chosen one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::pane::{Choices, typed};
use crate::ui::model::Model;
use crate::ui::standing::mark;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::what_if::{MenuItem, Picker, SelectableFact};
use crate::ui::widgets::columns::{self, Column, StyledText};
use crate::ui::widgets::text;
use crate::ui::words;

const WIDTH: u16 = 76;

/// Draws the list of facts, or that of values.
pub fn draw(model: &Model, picker: &Picker, area: Rect, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let entries = picker.entries();
    let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
    let mut above = picker.of.as_deref().map(|choice| about(choice, theme, room)).unwrap_or_default();
    let (sign, asks) = match &picker.of {
        None => ("/ ", "type to find any fact of this target"),
        Some(_) => ("= ", "type a value"),
    };
    above.push(typed(theme, sign, picker.typed.text(), asks));
    let title = match &picker.of {
        None => "What if: which fact?".to_owned(),
        Some(of) if of.really.is_known() => format!("What if: {} of {}", of.key.name, of.subject),
        Some(of) => format!("State by hand: {} of {}", of.key.name, of.subject),
    };
    let below = said(picker, entries.len(), theme, room);
    let choices =
        Choices { title: &title, width: WIDTH, above, count: entries.len(), chosen: picker.chosen, below };
    choices.draw(theme, area, buffer, |shown, room| {
        let shown: Vec<(usize, &MenuItem<'_>)> =
            entries.iter().enumerate().skip(shown.start).take(shown.len()).collect();
        list(&shown, picker.chosen, theme, room)
    });
}

/// The description of a fact, and its reading.
fn about(choice: &SelectableFact, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let dim = theme.style(TextRole::Dim);
    let doc = text::wrap(choice.key.doc.trim(), room).into_iter();
    let mut lines: Vec<Line<'static>> = doc.map(|line| Line::styled(line, dim)).collect();
    lines.push(Line::raw(text::fit(&format!("now      {}", choice.now()), room)));
    if let Some(supposed) = &choice.supposed {
        let line = text::fit(&format!("supposed {supposed}"), room);
        lines.push(Line::styled(line, theme.style(TextRole::Doubt)));
    }
    lines
}

/// The text below the list: a mistake, else the form of a value, and a reminder that nothing here opens anything.
fn said(picker: &Picker, entries: usize, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let mistake = picker.mistake.clone().or_else(|| picker.refused());
    let (says, role) = match (&mistake, &picker.of) {
        (Some(mistake), _) => (mistake.clone(), TextRole::Doubt),
        (None, Some(of)) if entries == 0 => {
            let now = if of.really.is_known() { "; tab takes what it is now" } else { "" };
            (format!("{} is {}{now}", of.key.name, of.key.kind.words()), TextRole::Dim)
        }
        (None, _) if entries == 0 => ("no fact of this target has such a name".to_owned(), TextRole::Doubt),
        (None, _) => {
            let says = "Nothing assumed or entered affects plans or exports, or allows what can lose data.";
            (says.to_owned(), TextRole::Dim)
        }
    };
    text::wrap(&says, room).into_iter().take(3).map(|line| Line::styled(line, theme.style(role))).collect()
}

fn list(shown: &[(usize, &MenuItem<'_>)], chosen: usize, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let mut group = "";
    let mut rows: Vec<Vec<StyledText>> = Vec::new();
    for (at, entry) in shown {
        let is_chosen = *at == chosen;
        let plain = theme.style(TextRole::Plain);
        let name = if is_chosen { plain.add_modifier(Modifier::BOLD) } else { plain };
        let mark = mark(theme, is_chosen);
        let dim = theme.style(TextRole::Dim);
        rows.push(match entry {
            MenuItem::Fact(choice) => {
                let heading = if choice.group == group { "" } else { choice.group };
                group = choice.group;
                let now = match &choice.supposed {
                    Some(supposed) => (format!("supposed {supposed}"), theme.style(TextRole::Doubt)),
                    None => (choice.now(), dim),
                };
                let of = (words::subject(&choice.subject), plain);
                vec![(heading.to_owned(), dim), mark, (choice.key.name.to_owned(), name), of, now]
            }
            MenuItem::Word(word) => vec![mark, ((*word).to_owned(), name)],
            MenuItem::Really => vec![mark, ("as it really is".to_owned(), name)],
        });
    }
    let facts = [Column::keep(12), Column::keep(1), Column::keep(20), Column::keep(8), Column::keep(10)];
    let values = [Column::keep(1), Column::keep(10)];
    let is_facts = matches!(shown.first(), Some((_, MenuItem::Fact(_))));
    columns::lines(&rows, if is_facts { &facts } else { &values }, room)
}
