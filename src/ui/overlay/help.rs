//! Help and command palette in one: every command of the screen below, filtered by the typed text; unavailable ones are
//! dim and give the reason.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::pane::{Choices, typed};
use crate::ui::command::{self, UserAction};
use crate::ui::hits::{Hit, Hits};
use crate::ui::key;
use crate::ui::model::Model;
use crate::ui::theme::TextRole;
use crate::ui::widgets::text;

const WIDTH: u16 = 100;

pub fn draw(model: &Model, filter: &str, chosen: usize, area: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let commands = command::filtered(model, filter);
    // Beneath stands the whole reason why the chosen command cannot be done.
    let why = commands.get(chosen).and_then(|command| command.enabled.as_ref().err());
    let list = Choices {
        title: "Help",
        width: WIDTH,
        above: vec![typed(theme, "/ ", filter, "type to filter")],
        count: commands.len(),
        chosen,
        below: why
            .map(|why| {
                let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
                let says = text::fit(&format!("not now: {why}"), room);
                Line::styled(says, theme.style(TextRole::Doubt))
            })
            .into_iter()
            .collect(),
    };
    let places = list.draw(theme, area, buffer, |shown, room| {
        let mut group = None;
        let shown = commands.iter().enumerate().skip(shown.start).take(shown.len());
        let line = |(at, command): (usize, &UserAction)| {
            let heading = if group == Some(command.group) { "" } else { command.group.title() };
            group = Some(command.group);
            entry(model, command, heading, at == chosen, room)
        };
        shown.map(line).collect()
    });
    for (at, row) in places {
        hits.add(row, Hit::Entry(at));
    }
}

fn entry(model: &Model, command: &UserAction, heading: &str, chosen: bool, room: usize) -> Line<'static> {
    let theme = model.data.theme;
    let keys_room = 18;
    let said_room = room.saturating_sub(keys_room).saturating_sub(12);
    let (said, role) = match &command.enabled {
        Ok(()) => (command.label.to_owned(), TextRole::Plain),
        Err(why) => (format!("{}  ({why})", command.label), TextRole::Dim),
    };
    let mut said_style = theme.style(role);
    if chosen {
        said_style = said_style.add_modifier(Modifier::BOLD);
    }
    Line::from(vec![
        Span::styled(text::pad(heading, 10), theme.style(TextRole::Dim)),
        Span::styled(if chosen { "▸ " } else { "  " }, theme.style(TextRole::Accent)),
        Span::styled(text::pad(&key::shown(command.keys), keys_room), theme.style(TextRole::Accent)),
        Span::styled(text::fit(&said, said_room), said_style),
    ])
}
