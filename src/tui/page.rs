//! A page consists of blocks; every screen builds one page. A block is a group of lines that may be
//! selected and unfolded.
//!
//! The page moves, scrolls and draws without knowing what the blocks mean. A wide page may have a
//! second page as a pane at its right; the page or the pane receives the keys. The selection is
//! stored by name, so that it survives a new report.

mod block;

use std::collections::BTreeSet;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

pub use self::block::{Block, EnterEffect};
use super::click_map::{ClickMap, ClickTarget};
use super::filter::Filter;
use super::sidebar::Sidebar;
use super::theme::{TextRole, Theme};
use super::widgets::area;
use crate::escape::ShellCommand;

const SELECTION_MARK_WIDTH: u16 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueDirection {
    Next,
    Previous,
}

#[derive(Clone, Debug, Default)]
pub struct Page {
    pub blocks: Vec<Block>,
    pub pane: Option<Pane>,
    pub side: Option<Sidebar>,
}

#[derive(Clone, Debug)]
pub struct Pane {
    pub page: Box<Page>,
    /// Width in columns, including the vertical line at the pane's left.
    pub width: u16,
}

impl Pane {
    pub fn content_width(width: u16) -> usize {
        Page::content_width(width.saturating_sub(1))
    }
}

#[derive(Clone, Debug, Default)]
pub struct PageState {
    /// Key of the selected block. If no block has this key, the first selectable block is selected.
    pub selected: Option<String>,
    pub unfolded: BTreeSet<String>,
    pub filter: Option<Filter>,
    pub only_unknown: bool,
    pub with_sources: bool,
    pane: Option<Box<PageState>>,
    in_pane: bool,
    scroll: usize,
}

impl PageState {
    /// Copies the display options, but not the selection, unfolded blocks and filter.
    pub fn display_options_only(&self) -> Self {
        Self {
            only_unknown: self.only_unknown,
            with_sources: self.with_sources,
            ..Self::default()
        }
    }

    pub fn is_unfolded(&self, key: &str) -> bool {
        self.unfolded.contains(key)
    }

    pub fn passes_filter(&self, said: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.matches(said))
    }

    pub fn has_filter_text(&self) -> bool {
        self.filter
            .as_ref()
            .is_some_and(|filter| !filter.text.text().trim().is_empty())
    }

    pub fn is_typing_filter(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    pub fn pane_state(&self) -> Self {
        self.pane.as_deref().cloned().unwrap_or_default()
    }

    pub fn enter_pane(&mut self) {
        self.pane.get_or_insert_default();
        self.in_pane = true;
    }

    pub fn leave_pane(&mut self) {
        self.in_pane = false;
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
    /// Returns the index after the motion, in a list of `count` entries with `page` entries per
    /// page.
    pub fn position_after(self, at: usize, page: usize, count: usize) -> usize {
        let last = count.saturating_sub(1);
        let next = match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1),
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at.saturating_add(page),
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

    pub fn push_text(&mut self, lines: Vec<Line<'static>>) {
        self.blocks.push(Block::new_text(lines));
    }

    /// Returns the commands of what is to fix, in order, each once. Those of optional changes, which
    /// have trade-offs, are copied one at a time.
    pub fn commands_to_fix(&self) -> Vec<ShellCommand> {
        let mut all: Vec<ShellCommand> = Vec::new();
        let to_fix = self.blocks.iter().filter(|block| block.has_issue);
        for command in to_fix.flat_map(|block| &block.commands) {
            if !all.contains(command) {
                all.push(command.clone());
            }
        }
        all
    }

    pub fn push_heading(&mut self, theme: Theme, title: &str, aside: &str) {
        let mut lines = Vec::new();
        if !self.blocks.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::from(vec![
            Span::styled(title.to_owned(), theme.role_style(TextRole::Heading)),
            Span::styled(format!("   {aside}"), theme.role_style(TextRole::Dim)),
        ]));
        self.blocks.push(Block::new_heading(lines));
    }

    /// Drops blocks unless `wanted` accepts the text of the heading followed by the block's own. A
    /// heading without remaining blocks is dropped as well.
    pub fn retain_matching(&mut self, wanted: impl Fn(&str) -> bool) {
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

    /// Whether keys go to the page's pane. False if the page has no pane, as on a terminal that
    /// became too narrow.
    pub fn is_in_pane(&self, state: &PageState) -> bool {
        self.active_pane(state).is_some()
    }

    pub fn active_state<'s>(&self, state: &'s PageState) -> &'s PageState {
        self.active_pane(state).map_or(state, |(_, beside)| beside)
    }

    pub fn active_state_mut<'s>(&self, state: &'s mut PageState) -> &'s mut PageState {
        if self.is_in_pane(state) {
            state.pane.get_or_insert_default()
        } else {
            state
        }
    }

    fn active_pane<'s>(&self, state: &'s PageState) -> Option<(&Self, &'s PageState)> {
        let pane = self.pane.as_ref().filter(|_| state.in_pane)?;
        Some((&pane.page, state.pane.as_deref()?))
    }

    pub fn active_selection(&self, state: &PageState) -> Option<&Block> {
        let (page, state) = self.active_pane(state).unwrap_or((self, state));
        page.selected_block_with_lines(state)
            .map(|(_, block)| block)
    }

    /// Returns the selected block of the main page, even while the pane receives the keys.
    pub fn main_page_selection(&self, state: &PageState) -> Option<&Block> {
        self.selected_block_with_lines(state)
            .map(|(_, block)| block)
    }

    pub fn selectable_blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.key.is_some())
    }

    pub fn height(&self) -> usize {
        self.blocks.iter().map(|block| block.lines.len()).sum()
    }

    /// Counts the lines below the visible area, on the page or pane that receives the keys.
    pub fn hidden_below(&self, state: &PageState, height: u16) -> usize {
        let (page, state) = self.active_pane(state).unwrap_or((self, state));
        page.lines_below(state, usize::from(height))
    }

    fn lines_below(&self, state: &PageState, height: usize) -> usize {
        self.height()
            .saturating_sub(self.clamped_scroll(state, height).saturating_add(height))
    }

    fn selectable_blocks_with_lines(
        &self,
    ) -> impl DoubleEndedIterator<Item = (Range<usize>, &Block)> {
        let mut at = 0_usize;
        let placed: Vec<_> = self
            .blocks
            .iter()
            .map(|block| {
                let from = at;
                at = at.saturating_add(block.lines.len());
                (from..at, block)
            })
            .filter(|(_, block)| block.key.is_some())
            .collect();
        placed.into_iter()
    }

    fn selected_block_with_lines(&self, state: &PageState) -> Option<(Range<usize>, &Block)> {
        self.selectable_blocks_with_lines()
            .find(|(_, block)| block.key == state.selected)
            .or_else(|| self.selectable_blocks_with_lines().next())
    }

    fn clamped_scroll(&self, state: &PageState, height: usize) -> usize {
        state.scroll.min(self.height().saturating_sub(height))
    }

    /// Moves the selection or scrolls, on the page or pane that receives the keys. `height` is the
    /// number of its visible rows.
    pub fn apply_motion(&self, state: &mut PageState, motion: Motion, height: u16) {
        if let Some(pane) = self.pane.as_ref().filter(|_| self.is_in_pane(state)) {
            return pane
                .page
                .apply_motion(self.active_state_mut(state), motion, height);
        }
        let height = usize::from(height);
        state.scroll = self.clamped_scroll(state, height);
        let page = height.saturating_sub(1).max(1);
        match motion {
            Motion::Up => self.select_previous_or_scroll(state, height),
            Motion::Down => self.select_next_or_scroll(state, height),
            Motion::PageUp => {
                state.scroll = state.scroll.saturating_sub(page);
                self.keep_selection_visible(state, height);
            }
            Motion::PageDown => {
                state.scroll = state.scroll.saturating_add(page);
                state.scroll = self.clamped_scroll(state, height);
                self.keep_selection_visible(state, height);
            }
            Motion::Top => {
                state.scroll = 0;
                state.selected = self
                    .selectable_blocks_with_lines()
                    .next()
                    .and_then(|(_, block)| block.key.clone());
            }
            Motion::Bottom => {
                state.scroll = self.height().saturating_sub(height);
                state.selected = self
                    .selectable_blocks_with_lines()
                    .next_back()
                    .and_then(|(_, block)| block.key.clone());
            }
        }
    }

    /// Selects the next or previous block with a problem and wraps around.
    pub fn jump_to_issue(&self, state: &mut PageState, way: IssueDirection, height: u16) {
        if let Some(pane) = self.pane.as_ref().filter(|_| self.is_in_pane(state)) {
            return pane
                .page
                .jump_to_issue(self.active_state_mut(state), way, height);
        }
        let from = self
            .selected_block_with_lines(state)
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
            state.selected.clone_from(&block.key);
            self.scroll_to_selection(state, height);
        }
    }

    /// Whether a block has a problem, on the page or pane that receives the keys.
    pub fn has_issue(&self, state: &PageState) -> bool {
        let (page, _) = self.active_pane(state).unwrap_or((self, state));
        page.selectable_blocks().any(|block| block.has_issue)
    }

    /// Scrolls until the selected block is visible, together with its heading.
    pub fn scroll_to_selection(&self, state: &mut PageState, height: u16) {
        if let Some(pane) = self.pane.as_ref().filter(|_| self.is_in_pane(state)) {
            return pane
                .page
                .scroll_to_selection(self.active_state_mut(state), height);
        }
        let height = usize::from(height);
        state.scroll = self.clamped_scroll(state, height);
        if let Some((lines, _)) = self.selected_block_with_lines(state) {
            self.scroll_showing_first_lines(state, &lines, height);
        }
    }

    /// Selects the next block if the selected one is visible to its end and the next one starts at
    /// most one line below the visible area. Otherwise scrolls by one line, so that no line is
    /// skipped.
    fn select_next_or_scroll(&self, state: &mut PageState, height: usize) {
        let below = state.scroll.saturating_add(height);
        let after = match self.selected_block_with_lines(state) {
            Some((lines, _)) if lines.start < below && lines.end <= below => lines
                .end
                .max(lines.start.saturating_add(1))
                .max(state.scroll),
            _ => usize::MAX,
        };
        let next = self
            .selectable_blocks_with_lines()
            .find(|(lines, _)| lines.start >= after)
            .filter(|(lines, _)| lines.start <= below);
        match next {
            Some((lines, block)) => {
                state.selected.clone_from(&block.key);
                self.scroll_showing_first_lines(state, &lines, height);
            }
            None => state.scroll = state.scroll.saturating_add(1),
        }
        state.scroll = self.clamped_scroll(state, height);
    }

    fn select_previous_or_scroll(&self, state: &mut PageState, height: usize) {
        let below = state.scroll.saturating_add(height);
        let before = match self.selected_block_with_lines(state) {
            Some((lines, _)) if lines.start >= state.scroll => lines.start.min(below),
            _ => 0,
        };
        let previous = self
            .selectable_blocks_with_lines()
            .rfind(|(lines, _)| !lines.is_empty() && lines.end <= before);
        match previous.filter(|(lines, _)| lines.end >= state.scroll) {
            Some((lines, block)) => {
                state.selected.clone_from(&block.key);
                self.scroll_showing_last_lines(state, &lines, height);
            }
            None => state.scroll = state.scroll.saturating_sub(1),
        }
    }

    /// Scrolls as little as possible to show these lines. If there are more lines than rows, the
    /// first lines are shown.
    fn scroll_showing_first_lines(
        &self,
        state: &mut PageState,
        lines: &Range<usize>,
        height: usize,
    ) {
        let start = self.start_including_heading(lines.start);
        if lines.start < state.scroll {
            state.scroll = start;
        } else if lines.end > state.scroll.saturating_add(height) {
            state.scroll = start
                .min(lines.end.saturating_sub(height))
                .max(state.scroll);
            if lines.end.saturating_sub(lines.start) > height {
                state.scroll = lines.start;
            }
        }
    }

    /// Scrolls as little as possible to show these lines. If there are more lines than rows, the
    /// last lines are shown.
    fn scroll_showing_last_lines(
        &self,
        state: &mut PageState,
        lines: &Range<usize>,
        height: usize,
    ) {
        let start = self.start_including_heading(lines.start);
        if lines.end.saturating_sub(start) > height {
            state.scroll = lines.end.saturating_sub(height);
        } else {
            state.scroll = state
                .scroll
                .min(start)
                .max(lines.end.saturating_sub(height));
        }
    }

    /// Returns the start of the unselectable lines directly above `start`, so that a heading stays
    /// with its block.
    fn start_including_heading(&self, start: usize) -> usize {
        self.selectable_blocks_with_lines()
            .map(|(lines, _)| lines.end)
            .rfind(|end| *end <= start)
            .unwrap_or(0)
    }

    fn keep_selection_visible(&self, state: &mut PageState, height: usize) {
        let below = state.scroll.saturating_add(height);
        let in_sight = |lines: &Range<usize>| lines.end > state.scroll && lines.start < below;
        if self
            .selected_block_with_lines(state)
            .is_some_and(|(lines, _)| in_sight(&lines))
        {
            return;
        }
        if let Some((_, block)) = self
            .selectable_blocks_with_lines()
            .find(|(lines, _)| in_sight(lines))
        {
            state.selected.clone_from(&block.key);
        }
    }

    pub fn draw(
        &self,
        state: &PageState,
        theme: Theme,
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let area = match &self.side {
            Some(side) => side.draw(theme, area, hits, buffer),
            None => area,
        };
        let Some(Pane { page: inner, width }) = &self.pane else {
            return self.draw_single_page(state, theme, TextRole::Accent, area, hits, buffer);
        };
        let beside = self.is_in_pane(state);
        let (right, left) = area::split_right(area, *width);
        let (line, right) = area::split_left(right, 1);
        for row in line.rows() {
            Span::styled("│", theme.role_style(TextRole::Dim)).render(row, buffer);
        }
        let within = state.pane_state();
        // Of page and pane, only the one that receives the keys has clickable lines; a click on the
        // other one switches to it.
        let nowhere = &mut ClickMap::default();
        if beside {
            self.draw_single_page(state, theme, TextRole::Dim, left, nowhere, buffer);
            hits.add_key(left, "esc");
            return inner.draw_single_page(&within, theme, TextRole::Accent, right, hits, buffer);
        }
        self.draw_single_page(state, theme, TextRole::Accent, left, hits, buffer);
        // While the page receives the keys, the pane's last row shows how many of the pane's lines
        // are hidden.
        let more = inner.lines_below(&within, usize::from(right.height));
        let (last, above) = area::split_bottom(right, u16::from(more > 0));
        inner.draw_single_page(&within, theme, TextRole::Plain, above, nowhere, buffer);
        if self
            .active_selection(state)
            .is_some_and(|block| block.enter == EnterEffect::OpenPane)
        {
            hits.add_key(right, "enter");
        }
        if more > 0 {
            let said = format!("   ↓ {} more (enter)", more.saturating_add(1));
            Span::styled(said, theme.role_style(TextRole::Dim)).render(last, buffer);
        }
    }

    /// Draws one page; `cursor` is the style of the selection, and `TextRole::Plain` hides the
    /// selection.
    fn draw_single_page(
        &self,
        state: &PageState,
        theme: Theme,
        cursor: TextRole,
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let scroll = self.clamped_scroll(state, usize::from(area.height));
        let chosen = self
            .selected_block_with_lines(state)
            .filter(|_| cursor != TextRole::Plain);
        let selected = chosen.and_then(|(_, block)| block.key.as_deref());
        let lines = self.blocks.iter().flat_map(|block| {
            let is_selected = block.key.is_some() && block.key.as_deref() == selected;
            block
                .lines
                .iter()
                .enumerate()
                .map(move |(i, line)| (block, is_selected && i == 0, i == 0, line))
        });
        for ((block, mark, first, line), row) in lines.skip(scroll).zip(area.rows()) {
            if let Some(key) = &block.key {
                let hit = if first {
                    ClickTarget::Line(key.clone())
                } else {
                    ClickTarget::BlockBody(key.clone())
                };
                hits.add_area(row, hit);
            } else if let EnterEffect::Open(screen, key) = &block.enter {
                hits.add_area(row, ClickTarget::Open(*screen, key.clone()));
            }
            let unfolded = block
                .key
                .as_deref()
                .is_some_and(|key| state.is_unfolded(key));
            let (sign, role) = match (mark, first && unfolded) {
                (true, false) => ("▌", cursor),
                (true, true) => ("▌▾", cursor),
                (false, true) => (" ▾ ", TextRole::Dim),
                (false, false) => ("   ", TextRole::Plain),
            };
            let gutter = Rect {
                width: SELECTION_MARK_WIDTH.min(row.width),
                ..row
            };
            Span::styled(sign, theme.role_style(role)).render(gutter, buffer);
            if first && block.is_moved {
                let (last, _) = area::split_right(gutter, 1);
                Span::styled("~", theme.role_style(TextRole::Doubt)).render(last, buffer);
            }
            let content = Rect {
                x: row.x.saturating_add(gutter.width),
                width: row.width.saturating_sub(gutter.width).saturating_sub(1),
                ..row
            };
            let is_cut = line.width() > usize::from(content.width);
            line.render(content, buffer);
            let (last, _) = area::split_right(content, u16::from(is_cut));
            Span::styled("…", theme.role_style(TextRole::Dim)).render(last, buffer);
            if mark && cursor == TextRole::Accent {
                let (_, after_mark) = area::split_left(row, 1);
                buffer.set_style(after_mark, Theme::selection_style());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(sizes: &[usize]) -> Page {
        let block = |(i, size): (usize, &usize)| {
            let lines = vec![Line::from("x"); *size];
            if i % 3 == 0 {
                Block::new_text(lines)
            } else {
                Block::new_selectable_item(format!("{i}"), EnterEffect::Nothing, lines)
            }
        };
        Page {
            blocks: sizes.iter().enumerate().map(block).collect(),
            ..Page::default()
        }
    }

    fn motion() -> impl Strategy<Value = Motion> {
        use Motion::{Bottom, Down, PageDown, PageUp, Top, Up};
        prop::sample::select(vec![Up, Down, PageUp, PageDown, Top, Bottom])
    }

    proptest! {
        #[test]
        fn moving_never_leaves_the_page(
            sizes in prop::collection::vec(0_usize..9, 0..12),
            motions in prop::collection::vec(motion(), 0..40),
            height in 0_u16..12,
        ) {
            let page = page(&sizes);
            let mut state = PageState::default();
            for motion in motions {
                page.apply_motion(&mut state, motion, height);
                let scroll = page.clamped_scroll(&state, usize::from(height));
                prop_assert!(scroll <= page.height().saturating_sub(usize::from(height)));
            }
        }

        #[test]
        fn every_line_is_reached_by_going_down(sizes in prop::collection::vec(1_usize..9, 1..12), height in 1_u16..12) {
            let page = page(&sizes);
            let mut state = PageState::default();
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
    fn seeking_visits_what_is_not_all_right_round_and_round() {
        let mut page = page(&[1, 2, 1, 1, 9, 1, 1, 3, 1]);
        for block in &mut page.blocks {
            block.has_issue = matches!(block.key.as_deref(), Some("2" | "5" | "7"));
        }
        let mut state = PageState::default();
        let mut visit = |way| {
            page.jump_to_issue(&mut state, way, 4);
            state.selected.clone().unwrap_or_default()
        };
        assert_eq!(
            [IssueDirection::Next; 4].map(&mut visit),
            ["2", "5", "7", "2"]
        );
        assert_eq!(
            [IssueDirection::Previous; 3].map(&mut visit),
            ["7", "5", "2"]
        );
        page.blocks
            .iter_mut()
            .for_each(|block| block.has_issue = false);
        page.jump_to_issue(&mut state, IssueDirection::Next, 4);
        assert_eq!(state.selected.as_deref(), Some("2"), "nowhere to go");
        assert!(!page.has_issue(&state));
    }

    #[test]
    fn the_selection_survives_a_page_that_changed() {
        let mut state = PageState::default();
        page(&[1, 1, 1]).apply_motion(&mut state, Motion::Bottom, 10);
        assert_eq!(state.selected.as_deref(), Some("2"));
        let longer = page(&[1, 1, 1, 1, 1]);
        assert_eq!(
            longer
                .active_selection(&state)
                .and_then(|block| block.key.as_deref()),
            Some("2")
        );
    }
}
