//! The column at the left of a wide page: the other targets, and what is known of the host. Keys do not go there; a click
//! on a target chooses it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::hits::{Hit, Hits};
use super::theme::{TextRole, Theme};
use super::widgets::area;

#[derive(Clone, Debug)]
pub struct SideRow {
    pub line: Line<'static>,
    /// The place of the target that it is about, from the worst on.
    pub target: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Side {
    /// Its rows; what has no room is not drawn.
    pub rows: Vec<SideRow>,
    /// Its columns, with the line at its right.
    pub width: u16,
}

impl Side {
    /// Draws it and returns what is left for the page.
    pub fn draw(&self, theme: Theme, area: Rect, hits: &mut Hits, buffer: &mut Buffer) -> Rect {
        let (left, rest) = area::left(area, self.width);
        let (edge, inner) = area::right(left, 1);
        for row in edge.rows() {
            Span::styled("│", theme.style(TextRole::Dim)).render(row, buffer);
        }
        for (row, place) in self.rows.iter().zip(inner.rows()) {
            (&row.line).render(place, buffer);
            if let Some(target) = row.target {
                hits.add(place, Hit::Target(target));
            }
        }
        rest
    }
}
