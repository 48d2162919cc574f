//! Pages without a target, and lists of which only the beginning is shown.

use ratatui::text::Line;

use crate::ui::data::Data;
use crate::ui::page::Page;
use crate::ui::screen_id::ScreenId;
use crate::ui::theme::{TextRole, Theme};

/// So many things to do, or missing facts, are shown before the rest is only counted.
pub const MOST: usize = 8;

/// How many were left out of a list, after those that are shown.
pub fn rest(page: &mut Page, theme: Theme, all: usize, shown: usize) {
    let advice = ScreenId::Advice.digit();
    let left = all.saturating_sub(shown);
    if left > 0 {
        page.text(vec![Line::styled(format!("{left} more: {advice}"), theme.style(TextRole::Dim))]);
    }
}

/// The page of what is done to a target where none is chosen.
pub fn no_target_page(data: &Data, to: &str) -> Page {
    let said =
        if data.complete { &format!("There is no target to {to}.") } else { "Still collecting facts." };
    let mut page = Page::default();
    page.text(vec![Line::default(), Line::styled(said.to_owned(), data.theme.style(TextRole::Dim))]);
    page
}
