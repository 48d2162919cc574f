use ratatui::layout::Size;

/// Rows of the frame: header, tabs, rule, status, footer.
const FRAME_ROWS: u16 = 5;
/// Columns around a page's text: three for the selection mark, and one at the right.
const MARGINS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    pub columns: usize,
    pub rows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLayout {
    Single,
    /// Narrow parts side by side.
    Pairs,
    /// A sidebar with targets and facts at the left, the page about one target at the right.
    Panes,
}

impl Viewport {
    /// Computes the space for a page; `is_searching` takes one row for the filter.
    pub fn new(size: Size, is_searching: bool) -> Self {
        let rows = size
            .height
            .saturating_sub(FRAME_ROWS)
            .saturating_sub(u16::from(is_searching));
        Self {
            columns: usize::from(size.width).saturating_sub(MARGINS),
            rows: usize::from(rows),
        }
    }

    /// Chooses the layout. Without a filter, terminals get two columns from 96 × 28 cells on, and
    /// panes from 132 × 38 on.
    pub fn layout(self) -> PageLayout {
        match (self.columns, self.rows) {
            (128.., 33..) => PageLayout::Panes,
            (92.., 23..) => PageLayout::Pairs,
            _ => PageLayout::Single,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::frame;
    use crate::tui::page::{Page, PageState};

    #[test]
    fn the_room_is_that_of_the_frame() {
        for (width, height) in [(60, 15), (80, 24), (100, 30), (140, 45)] {
            let size = Size::new(width, height);
            let body = frame::page_area(size, &PageState::default());
            let room = Viewport::new(size, false);
            assert_eq!(
                (room.columns, room.rows),
                (Page::content_width(body.width), usize::from(body.height))
            );
        }
    }

    #[test]
    fn the_usual_sizes_have_a_layout_each() {
        let layout = |width, height| Viewport::new(Size::new(width, height), false).layout();
        assert_eq!(layout(80, 24), PageLayout::Single);
        assert_eq!(layout(100, 30), PageLayout::Pairs);
        assert_eq!(layout(140, 45), PageLayout::Panes);
        assert_eq!([layout(95, 60), layout(200, 27)], [PageLayout::Single; 2]);
        assert_eq!([layout(131, 60), layout(200, 37)], [PageLayout::Pairs; 2]);
    }
}
