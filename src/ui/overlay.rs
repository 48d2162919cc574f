//! What lies over a screen: the list of every command, the question before a probe, and the choice of what is supposed.

mod confirm;
pub mod help;
pub mod what_if;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Widget};

use super::model::{Model, Overlay};
use super::theme::{Role, Theme};
use super::widgets::area;

/// Draws what lies over the screen, within this area.
pub fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help { filter, chosen }) => help::draw(model, filter, *chosen, area, buffer),
        Some(Overlay::Confirm { target, plan }) => confirm::draw(model, target, plan, area, buffer),
        Some(Overlay::WhatIf(picker)) => what_if::draw(model, picker, area, buffer),
    }
}

/// A frame with a title in the middle of the area, emptied; gives what is inside of it.
fn pane(theme: Theme, title: &str, width: u16, height: u16, whole: Rect, buffer: &mut Buffer) -> Rect {
    let pane = area::centred(whole, width, height);
    Clear.render(pane, buffer);
    let block = Block::bordered()
        .border_style(theme.style(Role::Dim))
        .title(Line::styled(format!(" {title} "), theme.style(Role::Heading)));
    let inner = block.inner(pane);
    block.render(pane, buffer);
    let content = area::inset(inner, 1);
    buffer.set_style(content, Style::default());
    content
}
