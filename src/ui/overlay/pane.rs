//! What the overlays are made of: a frame, and the keys that answer it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use crate::ui::hits::Hits;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::{area, text};

/// Keys and what each would answer, in a row.
pub fn answers(theme: Theme, choices: &[(&str, &str)], row: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    let mut rest = row;
    for (key, label) in choices {
        let said = format!(" {label}");
        let wide = text::width(key).saturating_add(text::width(&said));
        let (place, after) = area::left(rest, u16::try_from(wide).unwrap_or(u16::MAX));
        let key_style = theme.style(TextRole::Accent);
        Line::from(vec![Span::styled(*key, key_style), Span::raw(said)]).render(place, buffer);
        hits.press(place, key);
        (_, rest) = area::left(after, 4);
    }
}

/// A frame with a title in the middle of the area, emptied; gives what is inside of it.
pub fn pane(theme: Theme, title: &str, width: u16, height: u16, whole: Rect, buffer: &mut Buffer) -> Rect {
    let pane = area::centred(whole, width, height);
    Clear.render(pane, buffer);
    let block = Block::bordered()
        .border_style(theme.style(TextRole::Dim))
        .title(Line::styled(format!(" {title} "), theme.style(TextRole::Heading)));
    let inner = block.inner(pane);
    block.render(pane, buffer);
    let content = area::inset(inner, 1);
    buffer.set_style(content, Style::default());
    content
}
