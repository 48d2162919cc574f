//! The page and, in a pane below it or at its right, the details of its selected row. No other
//! module divides the body between them.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::click_map::{ClickMap, ClickTarget};
use super::page::{Page, PageBlock, PageState, PaneFocus, SelectionState};
use super::sidebar::draw_sidebar;
use super::theme::{ACCENT, BOLD, DIM, SELECTED};
use super::viewport::{BodyLayout, PanePlace};
use super::widgets::{area, text};

/// A pane with fewer rows, its heading included, is left out.
const MIN_PANE_ROWS: u16 = 3;
/// Columns that the pane's heading needs besides the title; without room, the title gets the next
/// line.
const HEADING_WIDTH: usize = 38;

pub struct PageView {
    pub state: PageState,
    pub page: Arc<Page>,
    title: String,
    pub details: Page,
    list_area: Rect,
    pane_area: Rect,
    edge: Rect,
}

impl PageView {
    /// `details` builds title and page of a row's details for the given columns and rows.
    pub fn new(
        page: Arc<Page>,
        state: PageState,
        (room, body): (BodyLayout, Rect),
        details: impl FnOnce(&PageBlock, &PageState, (usize, usize)) -> (String, Page),
    ) -> Self {
        let (_, body) = area::split_left(body, room.side);
        let selected = page.selected_block(&state.list);
        let is_full = state.focus == PaneFocus::Full && selected.is_some();
        let (pane_area, list_area) = match room.pane {
            _ if selected.is_none() => (Rect::ZERO, body),
            _ if is_full => (body, Rect::ZERO),
            PanePlace::Right(columns) => area::split_right(body, columns),
            PanePlace::Below(least) => {
                let used = area::saturating_columns(page.height());
                let rows = least.max(body.height.saturating_sub(used));
                area::split_bottom(body, if rows < MIN_PANE_ROWS { 0 } else { rows })
            }
        };
        let has_edge =
            !pane_area.is_empty() && !is_full && matches!(room.pane, PanePlace::Right(_));
        let (edge, pane_area) = area::split_left(pane_area, u16::from(has_edge));
        let size = (
            Page::content_width(pane_area.width),
            usize::from(pane_area.height.saturating_sub(1)),
        );
        let (mut title, mut details) = selected
            .map(|block| details(block, &state, size))
            .unwrap_or_default();
        if text::width(&title) + HEADING_WIDTH > size.0 {
            let lines = text::wrapped_lines(&std::mem::take(&mut title), BOLD, size.0);
            details.blocks.insert(0, PageBlock::new_text(lines));
        }
        Self {
            state,
            page,
            title,
            details,
            list_area,
            pane_area,
            edge,
        }
    }

    /// False if the terminal has become too small for the pane.
    pub fn is_pane_focused(&self) -> bool {
        self.state.focus != PaneFocus::List && self.has_pane()
    }

    pub fn has_pane(&self) -> bool {
        self.pane_area.height > 0
    }

    /// The page with the keyboard focus, its cursor and its height.
    pub fn focused_page(&self) -> (&Page, &SelectionState, u16) {
        if self.is_pane_focused() {
            let height = self.pane_area.height.saturating_sub(1);
            (&self.details, &self.state.pane, height)
        } else {
            (&self.page, &self.state.list, self.list_area.height)
        }
    }

    /// The selected row. If the details have the focus but no row, the row that the details
    /// describe.
    pub fn focused_selection(&self) -> Option<&PageBlock> {
        let (page, cursor, _) = self.focused_page();
        page.selected_block(cursor)
            .or_else(|| self.page.selected_block(&self.state.list))
    }

    /// Changes the cursor of the page with the keyboard focus. When another row is selected, its
    /// details are shown from the top.
    #[must_use]
    pub fn into_state_with_changed_cursor(
        mut self,
        change: impl FnOnce(&Page, &mut SelectionState, u16),
    ) -> PageState {
        let (page, cursor, height) = self.focused_page();
        let mut cursor = cursor.clone();
        change(page, &mut cursor, height);
        if self.is_pane_focused() {
            self.state.pane = cursor;
        } else {
            if cursor.selected != self.state.list.selected {
                self.state.pane = SelectionState::default();
            }
            self.state.list = cursor;
        }
        self.state
    }

    /// Counts the lines below the visible part of the page with the keyboard focus.
    pub fn hidden_lines_below(&self) -> usize {
        let (page, cursor, height) = self.focused_page();
        page.lines_below(cursor, usize::from(height))
    }

    pub fn draw(&self, body: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
        if !self.page.side.is_empty() {
            draw_sidebar(&self.page.side, body, hits, buffer);
        }
        let in_pane = self.is_pane_focused();
        let (role, pane_role) = if in_pane {
            (DIM, Some(ACCENT))
        } else {
            (ACCENT, None)
        };
        let list = (&mut *hits, ClickTarget::Row as fn(String) -> ClickTarget);
        self.page
            .draw(&self.state.list, Some(role), self.list_area, list, buffer);
        for row in self.edge.rows() {
            Span::styled("│", DIM).render(row, buffer);
        }
        let (heading, content) = area::split_top(self.pane_area, 1);
        if !in_pane {
            hits.add_key_area(self.pane_area, "tab");
        }
        self.draw_pane_heading(heading, hits, buffer);
        let pane = (hits, ClickTarget::PaneRow as fn(String) -> ClickTarget);
        self.details
            .draw(&self.state.pane, pane_role, content, pane, buffer);
    }

    /// The heading is inverse while the pane has the keyboard focus, because the details may have
    /// no row to mark.
    fn draw_pane_heading(&self, row: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
        let height = usize::from(self.pane_area.height.saturating_sub(1));
        let below = self.details.lines_below(&self.state.pane, height);
        let (keys, label) = match self.state.focus {
            PaneFocus::Full => ("esc", " esc back ".to_owned()),
            PaneFocus::List | PaneFocus::Pane if below > 0 => {
                ("enter", format!(" ↓ {below} more, enter: full height "))
            }
            PaneFocus::List | PaneFocus::Pane => ("enter", " enter: full height ".to_owned()),
        };
        let title = format!("Details  {}", self.title);
        let heading = if self.is_pane_focused() {
            SELECTED
        } else {
            BOLD
        };
        area::draw_heading(&Line::styled(title, heading), row, buffer);
        let (_, inner) = area::split_right(row, 1);
        let (right, _) = area::split_right(inner, area::saturating_columns(text::width(&label)));
        Span::styled(label, DIM).render(right, buffer);
        hits.add_key_area(right, keys);
    }
}
