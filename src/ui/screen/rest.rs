//! Lists of which only the beginning is shown.

use ratatui::text::Line;

use crate::ui::page::Page;
use crate::ui::screen_id::ScreenId;
use crate::ui::theme::{TextRole, Theme};

/// So many things to do, or missing facts, are shown before the rest is only counted.
pub const MOST: usize = 8;

/// How many were left out of a list.
pub fn rest(page: &mut Page, theme: Theme, all: usize, what: &str) {
    let advice = ScreenId::Advice.digit();
    let left = all.saturating_sub(MOST);
    if left > 0 {
        page.text(vec![Line::styled(
            format!("and {left} more: {advice} {what}"),
            theme.style(TextRole::Dim),
        )]);
    }
}
