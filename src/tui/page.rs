//! A page consists of blocks; every screen builds one page. A block is a group of lines that
//! may be selected.
//!
//! Moving, scrolling and drawing do not depend on the content of the blocks. The details of the
//! selected row are a second page ([`super::page_view`]). The selection is stored by name, so
//! that it survives a new report.

mod block;

use std::collections::BTreeSet;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

pub use self::block::{PageBlock, RowDetails};
use super::click_map::{ClickMap, ClickTarget};
use super::filter::Filter;
use super::sidebar::SidebarRow;
use super::theme::{ACCENT, BOLD, DIM, DOUBT, SELECTED};
use super::widgets::area;
use crate::escape::ShellCommand;

const SELECTION_MARK_WIDTH: u16 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueDirection {
    Next,
    Previous,
}

#[derive(Clone, Debug, Default)]
pub struct Page {
    pub blocks: Vec<PageBlock>,
    /// Empty without a column at the left.
    pub side: Vec<SidebarRow>,
    /// Sentences for the status row, the most important first; one that does not fit is left out.
    pub hints: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectionState {
    /// Key of the selected block. If no block has this key, the first problem is selected, or else
    /// the first row.
    pub selected: Option<String>,
    pub unfolded: BTreeSet<String>,
    scroll: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaneFocus {
    #[default]
    List,
    /// The pane has the keyboard focus.
    Pane,
    /// The pane also covers the list.
    Full,
}

#[derive(Clone, Debug, Default)]
pub struct PageState {
    pub list: SelectionState,
    pub pane: SelectionState,
    pub focus: PaneFocus,
    pub filter: Option<Filter>,
    pub only_unknown: bool,
    pub with_sources: bool,
}

impl PageState {
    /// Copies the display options, but not the selection and the filter.
    pub fn display_options_only(&self) -> Self {
        Self {
            only_unknown: self.only_unknown,
            with_sources: self.with_sources,
            ..Self::default()
        }
    }

    pub fn passes_filter(&self, said: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.text.matches(said))
    }

    pub fn has_filter_text(&self) -> bool {
        self.filter
            .as_ref()
            .is_some_and(|filter| !filter.text.text().trim().is_empty())
    }

    pub fn is_typing_filter(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.typing)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Motion {
    /// The index after the motion, in a list of `count` entries with `page` entries per page.
    pub fn position_after(self, at: usize, page: usize, count: usize) -> usize {
        let last = count.saturating_sub(1);
        let next = match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at + 1,
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at + page,
            Self::Top => 0,
            Self::Bottom => last,
        };
        next.min(last)
    }
}

impl Page {
    pub fn content_width(width: u16) -> usize {
        usize::from(width.saturating_sub(SELECTION_MARK_WIDTH).saturating_sub(1))
    }

    pub fn push_text_block(&mut self, lines: Vec<Line<'static>>) {
        if !lines.is_empty() {
            self.blocks.push(PageBlock::new_text(lines));
        }
    }

    /// Commands of the fixes, in order, each once. Optional changes have trade-offs, so users copy
    /// their commands one at a time.
    pub fn fix_commands(&self) -> Vec<ShellCommand> {
        let mut all: Vec<ShellCommand> = Vec::new();
        let to_fix = self.blocks.iter().filter(|block| block.has_issue);
        for command in to_fix.flat_map(|block| &block.commands) {
            if !all.contains(command) {
                all.push(command.clone());
            }
        }
        all
    }

    pub fn push_heading(&mut self, title: &str, aside: &str) {
        let mut line = Line::styled(title.to_owned(), BOLD);
        if !aside.is_empty() {
            line.push_span(Span::styled(format!("  {aside}"), DIM));
        }
        self.blocks.push(PageBlock::new_heading(vec![line]));
    }

    /// Drops blocks unless `wanted` accepts the text of the heading followed by the block's own. A
    /// heading without remaining blocks is dropped as well.
    pub fn retain_matching_blocks(&mut self, wanted: impl Fn(&str) -> bool) {
        let (mut heading, mut over) = (None, String::new());
        for block in std::mem::take(&mut self.blocks) {
            if block.is_heading {
                over = block.plain_text();
                heading = Some(block);
            } else if wanted(&format!("{over} {}", block.plain_text())) {
                self.blocks.extend(heading.take());
                self.blocks.push(block);
            }
        }
    }

    pub fn selected_block(&self, cursor: &SelectionState) -> Option<&PageBlock> {
        self.selected_block_with_lines(cursor)
            .map(|(_, block)| block)
    }

    pub fn selectable_blocks(&self) -> impl Iterator<Item = &PageBlock> {
        self.blocks.iter().filter(|block| block.key.is_some())
    }

    pub fn height(&self) -> usize {
        self.blocks.iter().map(|block| block.lines.len()).sum()
    }

    pub fn lines_below(&self, cursor: &SelectionState, height: usize) -> usize {
        self.height()
            .saturating_sub(self.clamped_scroll(cursor, height).saturating_add(height))
    }

    fn selectable_blocks_with_lines(
        &self,
    ) -> impl DoubleEndedIterator<Item = (Range<usize>, &PageBlock)> {
        let mut at = 0_usize;
        let placed: Vec<_> = self
            .blocks
            .iter()
            .map(|block| {
                let from = at;
                at += block.lines.len();
                (from..at, block)
            })
            .filter(|(_, block)| block.key.is_some())
            .collect();
        placed.into_iter()
    }

    fn selected_block_with_lines(
        &self,
        cursor: &SelectionState,
    ) -> Option<(Range<usize>, &PageBlock)> {
        let all = || self.selectable_blocks_with_lines();
        all()
            .find(|(_, block)| block.key == cursor.selected)
            .or_else(|| all().find(|(_, block)| block.has_issue))
            .or_else(|| all().next())
    }

    /// First visible line. Without a selection by the user, the first problem is visible.
    fn clamped_scroll(&self, cursor: &SelectionState, height: usize) -> usize {
        let first = self
            .selected_block_with_lines(cursor)
            .filter(|(_, block)| cursor.selected.is_none() && block.has_issue);
        let least = first.map_or(0, |(lines, _)| {
            lines.end.saturating_sub(height).min(lines.start)
        });
        cursor
            .scroll
            .max(least)
            .min(self.height().saturating_sub(height))
    }

    /// `height` is the number of visible rows.
    pub fn apply_motion(&self, cursor: &mut SelectionState, motion: Motion, height: u16) {
        let height = usize::from(height);
        cursor.scroll = self.clamped_scroll(cursor, height);
        cursor.selected = self
            .selected_block(cursor)
            .and_then(|block| block.key.clone());
        let page = height.saturating_sub(1).max(1);
        match motion {
            Motion::Up => self.select_previous_or_scroll(cursor, height),
            Motion::Down => self.select_next_or_scroll(cursor, height),
            Motion::PageUp => {
                cursor.scroll = cursor.scroll.saturating_sub(page);
                self.move_selection_into_view(cursor, height);
            }
            Motion::PageDown => {
                cursor.scroll += page;
                cursor.scroll = self.clamped_scroll(cursor, height);
                self.move_selection_into_view(cursor, height);
            }
            Motion::Top => {
                cursor.scroll = 0;
                cursor.selected = self
                    .selectable_blocks_with_lines()
                    .next()
                    .and_then(|(_, block)| block.key.clone());
            }
            Motion::Bottom => {
                cursor.scroll = self.height().saturating_sub(height);
                cursor.selected = self
                    .selectable_blocks_with_lines()
                    .next_back()
                    .and_then(|(_, block)| block.key.clone());
            }
        }
    }

    /// The search wraps around at the last or first block.
    pub fn jump_to_issue(&self, cursor: &mut SelectionState, way: IssueDirection, height: u16) {
        let from = self
            .selected_block_with_lines(cursor)
            .map(|(lines, _)| lines.start);
        let amiss = || {
            self.selectable_blocks_with_lines()
                .filter(|(_, block)| block.has_issue)
        };
        let found = match way {
            IssueDirection::Next => amiss()
                .find(|(lines, _)| Some(lines.start) > from)
                .or_else(|| amiss().next()),
            IssueDirection::Previous => amiss()
                .rfind(|(lines, _)| Some(lines.start) < from)
                .or_else(|| amiss().next_back()),
        };
        if let Some((_, block)) = found {
            cursor.selected.clone_from(&block.key);
            self.scroll_to_selection(cursor, height);
        }
    }

    pub fn has_block_with_issue(&self) -> bool {
        self.selectable_blocks().any(|block| block.has_issue)
    }

    /// Scrolls until the selected block is visible, together with its heading.
    pub fn scroll_to_selection(&self, cursor: &mut SelectionState, height: u16) {
        let height = usize::from(height);
        cursor.scroll = self.clamped_scroll(cursor, height);
        if let Some((lines, _)) = self.selected_block_with_lines(cursor) {
            self.scroll_showing_first_lines(cursor, &lines, height);
        }
    }

    /// Selects the next block if the end of the selected one is visible, and the next one starts at
    /// most one line below the visible area. Otherwise scrolls by one line, so that no line is
    /// skipped.
    fn select_next_or_scroll(&self, cursor: &mut SelectionState, height: usize) {
        let below = cursor.scroll + height;
        let after = match self.selected_block_with_lines(cursor) {
            Some((lines, _)) if lines.start < below && lines.end <= below => {
                lines.end.max(lines.start + 1).max(cursor.scroll)
            }
            _ => usize::MAX,
        };
        let next = self
            .selectable_blocks_with_lines()
            .find(|(lines, _)| lines.start >= after)
            .filter(|(lines, _)| lines.start <= below);
        match next {
            Some((lines, block)) => {
                cursor.selected.clone_from(&block.key);
                self.scroll_showing_first_lines(cursor, &lines, height);
            }
            None => cursor.scroll += 1,
        }
        cursor.scroll = self.clamped_scroll(cursor, height);
    }

    fn select_previous_or_scroll(&self, cursor: &mut SelectionState, height: usize) {
        let below = cursor.scroll + height;
        let before = match self.selected_block_with_lines(cursor) {
            Some((lines, _)) if lines.start >= cursor.scroll => lines.start.min(below),
            _ => 0,
        };
        let previous = self
            .selectable_blocks_with_lines()
            .rfind(|(lines, _)| !lines.is_empty() && lines.end <= before);
        match previous.filter(|(lines, _)| lines.end >= cursor.scroll) {
            Some((lines, block)) => {
                cursor.selected.clone_from(&block.key);
                self.scroll_showing_last_lines(cursor, &lines, height);
            }
            None => cursor.scroll = cursor.scroll.saturating_sub(1),
        }
    }

    /// If there are more lines than rows, the first lines are shown.
    fn scroll_showing_first_lines(
        &self,
        cursor: &mut SelectionState,
        lines: &Range<usize>,
        height: usize,
    ) {
        let start = self.start_including_heading(lines.start);
        if lines.start < cursor.scroll {
            cursor.scroll = start;
        } else if lines.end > cursor.scroll + height {
            cursor.scroll = start
                .min(lines.end.saturating_sub(height))
                .max(cursor.scroll);
            if lines.end.saturating_sub(lines.start) > height {
                cursor.scroll = lines.start;
            }
        }
    }

    /// If there are more lines than rows, the last lines are shown.
    fn scroll_showing_last_lines(
        &self,
        cursor: &mut SelectionState,
        lines: &Range<usize>,
        height: usize,
    ) {
        let start = self.start_including_heading(lines.start);
        if lines.end.saturating_sub(start) > height {
            cursor.scroll = lines.end.saturating_sub(height);
        } else {
            cursor.scroll = cursor
                .scroll
                .min(start)
                .max(lines.end.saturating_sub(height));
        }
    }

    /// The start of the unselectable lines directly above `start`, so that a heading stays with its
    /// block.
    fn start_including_heading(&self, start: usize) -> usize {
        self.selectable_blocks_with_lines()
            .map(|(lines, _)| lines.end)
            .rfind(|end| *end <= start)
            .unwrap_or(0)
    }

    fn move_selection_into_view(&self, cursor: &mut SelectionState, height: usize) {
        let below = cursor.scroll + height;
        let in_sight = |lines: &Range<usize>| lines.end > cursor.scroll && lines.start < below;
        if self
            .selected_block_with_lines(cursor)
            .is_some_and(|(lines, _)| in_sight(&lines))
        {
            return;
        }
        if let Some((_, block)) = self
            .selectable_blocks_with_lines()
            .find(|(lines, _)| in_sight(lines))
        {
            cursor.selected.clone_from(&block.key);
        }
    }

    /// Without `cursor_role`, no row is marked; the role `Accent` means that the page has the
    /// keyboard focus. `hit` makes the click target of a row from its key.
    pub fn draw(
        &self,
        cursor: &SelectionState,
        cursor_role: Option<Style>,
        area: Rect,
        hits: (&mut ClickMap, fn(String) -> ClickTarget),
        buffer: &mut Buffer,
    ) {
        let (hits, hit) = hits;
        let scroll = self.clamped_scroll(cursor, usize::from(area.height));
        let selected = self
            .selected_block(cursor)
            .and_then(|block| block.key.as_deref());
        let lines = self.blocks.iter().flat_map(|block| {
            let is_selected = block.key.is_some() && block.key.as_deref() == selected;
            let lines = block.lines.iter().enumerate();
            lines.map(move |(i, line)| (block, i == 0, is_selected && i == 0, line))
        });
        for ((block, is_first, is_marked, line), row) in lines.skip(scroll).zip(area.rows()) {
            if let Some(key) = &block.key {
                hits.add_area(row, hit(key.clone()));
            }
            let (gutter, content) = area::split_left(row, SELECTION_MARK_WIDTH);
            let (margin, content) = area::split_right(content, 1);
            if is_first && block.is_moved {
                Span::styled("~", DOUBT).render(margin, buffer);
            }
            let is_cut = line.width() > usize::from(content.width);
            if block.is_heading {
                area::draw_heading(line, row, buffer);
            } else {
                line.render(content, buffer);
            }
            let (last, _) = area::split_right(content, u16::from(is_cut));
            Span::styled("…", DIM).render(last, buffer);
            if let Some(role) = cursor_role.filter(|_| is_marked) {
                Span::styled("▌", role).render(gutter, buffer);
                if role == ACCENT {
                    let (_, after_mark) = area::split_left(row, SELECTION_MARK_WIDTH);
                    buffer.set_style(after_mark, SELECTED);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page_with_block_sizes(sizes: &[usize]) -> Page {
        let block = |(i, size): (usize, &usize)| {
            let lines = vec![Line::from("x"); *size];
            if i % 3 == 0 {
                PageBlock::new_text(lines)
            } else {
                PageBlock::new_row(format!("{i}"), RowDetails::Nothing, lines)
            }
        };
        Page {
            blocks: sizes.iter().enumerate().map(block).collect(),
            ..Page::default()
        }
    }

    fn any_motion() -> impl Strategy<Value = Motion> {
        use Motion::{Bottom, Down, PageDown, PageUp, Top, Up};
        prop::sample::select(vec![Up, Down, PageUp, PageDown, Top, Bottom])
    }

    proptest! {
        #[test]
        fn scroll_stays_within_page_after_motions(
            sizes in prop::collection::vec(0_usize..9, 0..12),
            motions in prop::collection::vec(any_motion(), 0..40),
            height in 0_u16..12,
        ) {
            let page = page_with_block_sizes(&sizes);
            let mut state = SelectionState::default();
            for motion in motions {
                page.apply_motion(&mut state, motion, height);
                let scroll = page.clamped_scroll(&state, usize::from(height));
                prop_assert!(scroll <= page.height().saturating_sub(usize::from(height)));
            }
        }

        #[test]
        fn motion_down_reaches_every_line(sizes in prop::collection::vec(1_usize..9, 1..12), height in 1_u16..12) {
            let page = page_with_block_sizes(&sizes);
            let mut state = SelectionState::default();
            let mut seen = vec![false; page.height()];
            for _ in 0..=page.height().saturating_add(sizes.len()) {
                let scroll = page.clamped_scroll(&state, usize::from(height));
                seen.iter_mut().skip(scroll).take(usize::from(height)).for_each(|line| *line = true);
                page.apply_motion(&mut state, Motion::Down, height);
            }
            prop_assert!(seen.iter().all(|line| *line), "{sizes:?} {seen:?}");
        }
    }

    #[test]
    fn jump_to_issue_wraps_around() {
        let mut page = page_with_block_sizes(&[1, 2, 1, 1, 9, 1, 1, 3, 1]);
        for block in &mut page.blocks {
            block.has_issue = matches!(block.key.as_deref(), Some("2" | "5" | "7"));
        }
        let mut state = SelectionState::default();
        let mut visit = |way| {
            page.jump_to_issue(&mut state, way, 4);
            state.selected.clone().unwrap_or_default()
        };
        assert_eq!(
            [IssueDirection::Next; 4].map(&mut visit),
            ["5", "7", "2", "5"]
        );
        assert_eq!(
            [IssueDirection::Previous; 3].map(&mut visit),
            ["2", "7", "5"]
        );
        page.blocks
            .iter_mut()
            .for_each(|block| block.has_issue = false);
        page.jump_to_issue(&mut state, IssueDirection::Next, 4);
        assert_eq!(state.selected.as_deref(), Some("5"), "nowhere to go");
        assert!(!page.has_block_with_issue());
    }

    #[test]
    fn selection_survives_page_change() {
        let mut state = SelectionState::default();
        page_with_block_sizes(&[1, 1, 1]).apply_motion(&mut state, Motion::Bottom, 10);
        assert_eq!(state.selected.as_deref(), Some("2"));
        let longer = page_with_block_sizes(&[1, 1, 1, 1, 1]);
        assert_eq!(
            longer
                .selected_block(&state)
                .and_then(|block| block.key.as_deref()),
            Some("2")
        );
    }
}
