//! Help and command palette in one: every command of the screen below, filtered by the typed text; unavailable ones are
//! dim and give the reason.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::pane::pane;
use crate::ui::command::{self, UserAction};
use crate::ui::hits::{Hit, Hits};
use crate::ui::key;
use crate::ui::model::Model;
use crate::ui::theme::TextRole;
use crate::ui::widgets::text;

const WIDTH: u16 = 100;
/// Rows that are not commands: the frame, the filter, and the reason.
const OTHERS: u16 = 4;

/// The most commands that are in sight at once on a screen with a body this high.
pub fn rows(body: u16) -> usize {
    usize::from(body.saturating_sub(OTHERS))
}

pub fn draw(model: &Model, filter: &str, chosen: usize, area: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let commands = command::filtered(model, filter);
    let wanted = u16::try_from(commands.len()).unwrap_or(u16::MAX).saturating_add(OTHERS);
    let inner = pane(theme, "Help", WIDTH.min(area.width), wanted.min(area.height), area, buffer);
    let mut rows = inner.rows();
    if let Some(row) = rows.next() {
        let typed = if filter.is_empty() { "type to filter".to_owned() } else { format!("{filter}_") };
        let style = theme.style(if filter.is_empty() { TextRole::Dim } else { TextRole::Plain });
        Line::from(vec![Span::styled("/ ", theme.style(TextRole::Accent)), Span::styled(typed, style)])
            .render(row, buffer);
    }
    // The last row gives the whole reason why the chosen command cannot be done, or counts what is out of sight.
    let last = rows.next_back();
    let rows: Vec<Rect> = rows.collect();
    // As many as fit, with the chosen one among them.
    let skipped = chosen.saturating_add(1).saturating_sub(rows.len());
    let why = commands.get(chosen).and_then(|command| command.enabled.as_ref().err());
    let below = commands.len().saturating_sub(skipped).saturating_sub(rows.len());
    let said = match why {
        Some(why) => format!("not now: {why}"),
        None if below > 0 => format!("↓ {below} more"),
        None => String::new(),
    };
    if let Some(row) = last {
        Span::styled(text::fit(&said, usize::from(row.width)), theme.style(TextRole::Doubt))
            .render(row, buffer);
    }
    let mut group = None;
    for ((i, command), row) in commands.iter().enumerate().skip(skipped).zip(rows) {
        let heading = if group == Some(command.group) { "" } else { command.group.title() };
        group = Some(command.group);
        entry(model, command, heading, i == chosen, usize::from(row.width)).render(row, buffer);
        hits.add(row, Hit::Entry(i));
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
