use ratatui::layout::{Rect, Size};

use super::screen_id::ScreenId;
use super::widgets::area;

/// Columns around a page's text: one for the selection mark, and one at the right.
const MARGINS: u16 = 2;
/// Columns of the list of targets, including margins and the vertical line at its right.
pub const SIDEBAR_WIDTH: u16 = 44;
/// Columns and rows of the smallest terminal with a list of targets.
const MIN_SIZE_WITH_SIDEBAR: (u16, u16) = (132, 38);
/// Minimum columns, without the list of targets, for details at the right of the page.
const MIN_WIDTH_WITH_RIGHT_PANE: u16 = 120;
/// Minimum rows of a body that gives a third of its rows to the details. Overview and Probe need
/// more, so that answers and figures stay visible.
const MIN_ROWS_WITH_PANE: u16 = 15;
const MIN_ROWS_WITH_PANE_BELOW_FIGURES: u16 = 23;

#[derive(Clone, Copy, Debug)]
pub struct FrameLayout {
    pub header: Rect,
    pub tabs: Rect,
    pub rule: Rect,
    pub body: Rect,
    pub status: Rect,
    pub footer: Rect,
}

pub fn frame_layout(size: Size) -> FrameLayout {
    let (header, rest) = area::split_top(Rect::new(0, 0, size.width, size.height), 1);
    let (tabs, rest) = area::split_top(rest, 1);
    let (rule, rest) = area::split_top(rest, 1);
    let (footer, rest) = area::split_bottom(rest, 1);
    let (status, body) = area::split_bottom(rest, 1);
    FrameLayout {
        header,
        tabs,
        rule,
        body,
        status,
        footer,
    }
}

/// The body without its first row if a filter is open there.
pub fn page_area(size: Size, is_searching: bool) -> Rect {
    let body = frame_layout(size).body;
    area::split_top(body, u16::from(is_searching)).1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLayout {
    /// Columns and rows for the text of the page.
    pub columns: usize,
    pub rows: usize,
    /// Columns of the list of targets; 0 without it.
    pub side: u16,
    pub pane: PanePlace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanePlace {
    /// Columns, including the vertical line at the left.
    Right(u16),
    /// Minimum rows of the details.
    Below(u16),
}

impl BodyLayout {
    /// Divides the terminal; `is_searching` takes one row for the filter.
    pub fn new(size: Size, is_searching: bool, (screen, targets): (ScreenId, usize)) -> Self {
        let has_list = matches!(screen, ScreenId::Overview) && targets > 1;
        let rows = page_area(size, is_searching).height;
        let (columns, high) = MIN_SIZE_WITH_SIDEBAR;
        let sidebar = if has_list && size.width >= columns && size.height >= high {
            SIDEBAR_WIDTH
        } else {
            0
        };
        let left = size.width.saturating_sub(sidebar);
        let pane = if left >= MIN_WIDTH_WITH_RIGHT_PANE {
            PanePlace::Right((left.saturating_mul(2) / 5).clamp(54, 80))
        } else {
            let least = match screen {
                ScreenId::Overview | ScreenId::Probe => MIN_ROWS_WITH_PANE_BELOW_FIGURES,
                _ => MIN_ROWS_WITH_PANE,
            };
            PanePlace::Below(if rows < least { 0 } else { rows / 3 })
        };
        let beside = match pane {
            PanePlace::Right(columns) => columns,
            PanePlace::Below(_) => 0,
        };
        Self {
            columns: usize::from(left.saturating_sub(beside).saturating_sub(MARGINS)),
            rows: usize::from(rows),
            side: sidebar,
            pane,
        }
    }

    /// Rows of the page if the details below it have their minimum height.
    pub fn rows_above_pane(self) -> usize {
        match self.pane {
            PanePlace::Right(_) => self.rows,
            PanePlace::Below(least) => self.rows.saturating_sub(usize::from(least)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pane_is_below_or_right_and_sidebar_at_left() {
        let of =
            |screen, width, height| BodyLayout::new(Size::new(width, height), false, (screen, 2));
        let pane = |width, height| of(ScreenId::Rules, width, height).pane;
        assert_eq!(pane(60, 15), PanePlace::Below(0));
        assert_eq!(pane(80, 24), PanePlace::Below(6));
        assert_eq!(pane(100, 30), PanePlace::Below(8));
        assert_eq!(pane(140, 45), PanePlace::Right(56));
        assert_eq!(pane(200, 60), PanePlace::Right(80));
        let with_list = |width| of(ScreenId::Overview, width, 45);
        assert_eq!(
            (with_list(131).side, with_list(140).side),
            (0, SIDEBAR_WIDTH)
        );
        assert_eq!(with_list(140).pane, PanePlace::Below(13));
    }
}
