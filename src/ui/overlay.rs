//! The overlays: the list of every command, the questions before a probe and before a file is written, and the choice
//! of assumptions.

mod confirm;
pub mod help;
mod save;
pub mod what_if;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::hits::Hits;
use super::model::{Model, Overlay};
use super::theme::{TextRole, Theme};
use super::widgets::{area, text};

/// Draws what lies over the screen, within this area.
pub fn draw(model: &Model, area: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help { filter, chosen }) => help::draw(model, filter, *chosen, area, hits, buffer),
        Some(Overlay::Confirm { target, plan }) => confirm::draw(model, target, plan, area, hits, buffer),
        Some(Overlay::WhatIf(picker)) => what_if::draw(model, picker, area, buffer),
        Some(Overlay::Save(form)) => save::draw(model, form, area, hits, buffer),
    }
}

/// Keys and what each would answer, in a row.
fn answers(theme: Theme, choices: &[(&str, &str)], row: Rect, hits: &mut Hits, buffer: &mut Buffer) {
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
fn pane(theme: Theme, title: &str, width: u16, height: u16, whole: Rect, buffer: &mut Buffer) -> Rect {
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
