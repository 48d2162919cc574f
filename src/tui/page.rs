//! A page: blocks of lines, some of which can be selected and unfolded. Every screen is one.
//!
//! It moves, scrolls and draws without knowing what the blocks mean. A wide page may have a pane at
//! its right, which is a page itself; keys go to one of the two. The selection is kept by name, so
//! that it survives a new report.

mod block;

use std::collections::BTreeSet;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

pub use self::block::{Block, EnterEffect};
use super::click_map::{ClickMap, ClickTarget};
use super::filter::Filter;
use super::sidebar::Sidebar;
use super::theme::{TextRole, Theme};
use super::widgets::area;

/// Columns at the left for the selection mark.
const GUTTER: u16 = 3;

/// The direction of a jump to a block with a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpToIssue {
    Next,
    Previous,
}

#[derive(Clone, Debug, Default)]
pub struct Page {
    pub blocks: Vec<Block>,
    pub pane: Option<Pane>,
    /// The column at the left of the page.
    pub side: Option<Sidebar>,
}

/// A page at the right of another one.
#[derive(Clone, Debug)]
pub struct Pane {
    pub page: Box<Page>,
    /// In columns, including the line at its left.
    pub width: u16,
}

impl Pane {
    /// Columns for the content of a pane this wide.
    pub fn content_width(width: u16) -> usize {
        Page::content_width(width.saturating_sub(1))
    }
}

/// The user's position on a page.
#[derive(Clone, Debug, Default)]
pub struct PageState {
    /// The selected block, by name; the first selectable block if there is none of this name.
    pub selected: Option<String>,
    /// Unfolded blocks, by name.
    pub unfolded: BTreeSet<String>,
    pub filter: Option<Filter>,
    /// Whether only unknown facts are shown, on screens that support it.
    pub only_unknown: bool,
    /// Whether names and sources are shown, on screens that fold them.
    pub with_sources: bool,
    /// The position in the pane.
    pane: Option<Box<PageState>>,
    in_pane: bool,
    scroll: usize,
}

impl PageState {
    /// A state without selection, unfolded blocks or search; display options stay.
    pub fn reset(&self) -> Self {
        Self {
            only_unknown: self.only_unknown,
            with_sources: self.with_sources,
            ..Self::default()
        }
    }

    pub fn is_unfolded(&self, key: &str) -> bool {
        self.unfolded.contains(key)
    }

    /// Whether an element with this text is shown.
    pub fn passes(&self, said: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.passes(said))
    }

    /// Whether a filter is active.
    pub fn is_searching(&self) -> bool {
        self.filter
            .as_ref()
            .is_some_and(|filter| !filter.text.text().trim().is_empty())
    }

    /// Whether keys are typed into the filter.
    pub fn is_typing(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    /// The position in the pane.
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

/// A movement on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// To the previous line or block.
    Up,
    /// To the next line or block.
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Motion {
    /// The index reached from `at` in a list of `count` entries, with `page` entries per page.
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
    /// Columns for the content of a page this wide.
    pub fn content_width(width: u16) -> usize {
        usize::from(width.saturating_sub(GUTTER).saturating_sub(1))
    }

    /// Adds lines that cannot be selected.
    pub fn text(&mut self, lines: Vec<Line<'static>>) {
        self.blocks.push(Block::text(lines));
    }

    /// Adds a heading with an empty line before it, and dim text at its right.
    pub fn heading(&mut self, theme: Theme, title: &str, aside: &str) {
        let mut lines = Vec::new();
        if !self.blocks.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::from(vec![
            Span::styled(title.to_owned(), theme.style(TextRole::Heading)),
            Span::styled(format!("   {aside}"), theme.style(TextRole::Dim)),
        ]));
        self.blocks.push(Block::heading(lines));
    }

    /// Keeps only blocks that match by their own text or their heading's, each below its heading.
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

    /// Whether keys go to the pane; false if the terminal has become too narrow for one.
    pub fn is_in_pane(&self, state: &PageState) -> bool {
        self.active_pane(state).is_some()
    }

    /// The state of the page or pane that has the keys.
    pub fn active_state<'s>(&self, state: &'s PageState) -> &'s PageState {
        self.active_pane(state).map_or(state, |(_, beside)| beside)
    }

    /// The same, mutable.
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

    /// The selected block of the page or pane that has the keys.
    pub fn selected(&self, state: &PageState) -> Option<&Block> {
        let (page, state) = self.active_pane(state).unwrap_or((self, state));
        page.chosen(state).map(|(_, block)| block)
    }

    /// The selected block of the page itself, even while keys go to the pane.
    pub fn main_selection(&self, state: &PageState) -> Option<&Block> {
        self.chosen(state).map(|(_, block)| block)
    }

    pub fn selectable(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.key.is_some())
    }

    pub fn height(&self) -> usize {
        self.blocks.iter().map(|block| block.lines.len()).sum()
    }

    /// Hidden lines below, of the page or pane that has the keys.
    pub fn hidden_below(&self, state: &PageState, height: u16) -> usize {
        let (page, state) = self.active_pane(state).unwrap_or((self, state));
        page.lines_below(state, usize::from(height))
    }

    fn lines_below(&self, state: &PageState, height: usize) -> usize {
        self.height()
            .saturating_sub(self.scroll(state, height).saturating_add(height))
    }

    fn items(&self) -> impl DoubleEndedIterator<Item = (Range<usize>, &Block)> {
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

    fn chosen(&self, state: &PageState) -> Option<(Range<usize>, &Block)> {
        self.items()
            .find(|(_, block)| block.key == state.selected)
            .or_else(|| self.items().next())
    }

    fn scroll(&self, state: &PageState, height: usize) -> usize {
        state.scroll.min(self.height().saturating_sub(height))
    }

    /// Moves on a page drawn this high, or in its pane.
    pub fn go(&self, state: &mut PageState, motion: Motion, height: u16) {
        if let Some(pane) = self.pane.as_ref().filter(|_| self.is_in_pane(state)) {
            return pane.page.go(self.active_state_mut(state), motion, height);
        }
        let height = usize::from(height);
        state.scroll = self.scroll(state, height);
        let page = height.saturating_sub(1).max(1);
        match motion {
            Motion::Up => self.up(state, height),
            Motion::Down => self.down(state, height),
            Motion::PageUp => {
                state.scroll = state.scroll.saturating_sub(page);
                self.select_in_sight(state, height);
            }
            Motion::PageDown => {
                state.scroll = state.scroll.saturating_add(page);
                state.scroll = self.scroll(state, height);
                self.select_in_sight(state, height);
            }
            Motion::Top => {
                state.scroll = 0;
                state.selected = self.items().next().and_then(|(_, block)| block.key.clone());
            }
            Motion::Bottom => {
                state.scroll = self.height().saturating_sub(height);
                state.selected = self
                    .items()
                    .next_back()
                    .and_then(|(_, block)| block.key.clone());
            }
        }
    }

    /// Selects the next or previous block with a problem; wraps around.
    pub fn jump_to_issue(&self, state: &mut PageState, way: JumpToIssue, height: u16) {
        if let Some(pane) = self.pane.as_ref().filter(|_| self.is_in_pane(state)) {
            return pane
                .page
                .jump_to_issue(self.active_state_mut(state), way, height);
        }
        let from = self.chosen(state).map(|(lines, _)| lines.start);
        let amiss = || self.items().filter(|(_, block)| block.has_issue);
        let found = match way {
            JumpToIssue::Next => amiss()
                .find(|(lines, _)| Some(lines.start) > from)
                .or_else(|| amiss().next()),
            JumpToIssue::Previous => amiss()
                .rfind(|(lines, _)| Some(lines.start) < from)
                .or_else(|| amiss().next_back()),
        };
        if let Some((_, block)) = found {
            state.selected.clone_from(&block.key);
            self.reveal(state, height);
        }
    }

    /// Whether the page or pane that has the keys has a problem.
    pub fn has_issue(&self, state: &PageState) -> bool {
        let (page, _) = self.active_pane(state).unwrap_or((self, state));
        page.selectable().any(|block| block.has_issue)
    }

    /// Scrolls the selected block into view, with its heading if it follows one.
    pub fn reveal(&self, state: &mut PageState, height: u16) {
        if let Some(pane) = self.pane.as_ref().filter(|_| self.is_in_pane(state)) {
            return pane.page.reveal(self.active_state_mut(state), height);
        }
        let height = usize::from(height);
        state.scroll = self.scroll(state, height);
        if let Some((lines, _)) = self.chosen(state) {
            self.scroll_to(state, &lines, height);
        }
    }

    /// Selects the next block if it starts in view or right below, else scrolls one line, so that
    /// nothing is skipped unseen.
    fn down(&self, state: &mut PageState, height: usize) {
        let below = state.scroll.saturating_add(height);
        let after = match self.chosen(state) {
            Some((lines, _)) if lines.start < below && lines.end <= below => lines
                .end
                .max(lines.start.saturating_add(1))
                .max(state.scroll),
            _ => usize::MAX,
        };
        let next = self
            .items()
            .find(|(lines, _)| lines.start >= after)
            .filter(|(lines, _)| lines.start <= below);
        match next {
            Some((lines, block)) => {
                state.selected.clone_from(&block.key);
                self.scroll_to(state, &lines, height);
            }
            None => state.scroll = state.scroll.saturating_add(1),
        }
        state.scroll = self.scroll(state, height);
    }

    fn up(&self, state: &mut PageState, height: usize) {
        let below = state.scroll.saturating_add(height);
        let before = match self.chosen(state) {
            Some((lines, _)) if lines.start >= state.scroll => lines.start.min(below),
            _ => 0,
        };
        let previous = self
            .items()
            .rfind(|(lines, _)| !lines.is_empty() && lines.end <= before);
        match previous.filter(|(lines, _)| lines.end >= state.scroll) {
            Some((lines, block)) => {
                state.selected.clone_from(&block.key);
                self.scroll_to_end(state, &lines, height);
            }
            None => state.scroll = state.scroll.saturating_sub(1),
        }
    }

    /// Scrolls as little as possible to show these lines, from their first on.
    fn scroll_to(&self, state: &mut PageState, lines: &Range<usize>, height: usize) {
        let start = self.heading_start(lines.start);
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

    /// The same from below: shows their last line.
    fn scroll_to_end(&self, state: &mut PageState, lines: &Range<usize>, height: usize) {
        let start = self.heading_start(lines.start);
        if lines.end.saturating_sub(start) > height {
            state.scroll = lines.end.saturating_sub(height);
        } else {
            state.scroll = state
                .scroll
                .min(start)
                .max(lines.end.saturating_sub(height));
        }
    }

    /// The first line of unselectable lines before this one: a heading stays with its block.
    fn heading_start(&self, start: usize) -> usize {
        self.items()
            .map(|(lines, _)| lines.end)
            .rfind(|end| *end <= start)
            .unwrap_or(0)
    }

    fn select_in_sight(&self, state: &mut PageState, height: usize) {
        let below = state.scroll.saturating_add(height);
        let in_sight = |lines: &Range<usize>| lines.end > state.scroll && lines.start < below;
        if self
            .chosen(state)
            .is_some_and(|(lines, _)| in_sight(&lines))
        {
            return;
        }
        if let Some((_, block)) = self.items().find(|(lines, _)| in_sight(lines)) {
            state.selected.clone_from(&block.key);
        }
    }

    /// Draws the visible lines.
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
            return self.draw_column(state, theme, TextRole::Accent, area, hits, buffer);
        };
        let beside = self.is_in_pane(state);
        let (right, left) = area::right(area, *width);
        let (line, right) = area::left(right, 1);
        for row in line.rows() {
            Span::styled("│", theme.style(TextRole::Dim)).render(row, buffer);
        }
        let within = state.pane_state();
        // Lines are clickable only where keys go; a click on the other side moves there.
        let nowhere = &mut ClickMap::default();
        if beside {
            self.draw_column(state, theme, TextRole::Dim, left, nowhere, buffer);
            hits.add_key(left, "esc");
            return inner.draw_column(&within, theme, TextRole::Accent, right, hits, buffer);
        }
        self.draw_column(state, theme, TextRole::Accent, left, hits, buffer);
        // While keys go to the page, a hint shows that the pane continues.
        let more = inner.lines_below(&within, usize::from(right.height));
        let (last, above) = area::bottom(right, u16::from(more > 0));
        inner.draw_column(&within, theme, TextRole::Plain, above, nowhere, buffer);
        if self
            .selected(state)
            .is_some_and(|block| block.enter == EnterEffect::OpenPane)
        {
            hits.add_key(right, "enter");
        }
        if more > 0 {
            let said = format!("   ↓ {} more (enter)", more.saturating_add(1));
            Span::styled(said, theme.style(TextRole::Dim)).render(last, buffer);
        }
    }

    /// Draws the page or the pane; `TextRole::Plain` draws no selection.
    fn draw_column(
        &self,
        state: &PageState,
        theme: Theme,
        cursor: TextRole,
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let scroll = self.scroll(state, usize::from(area.height));
        let chosen = self.chosen(state).filter(|_| cursor != TextRole::Plain);
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
                hits.add(row, hit);
            } else if let EnterEffect::Open(screen, key) = &block.enter {
                hits.add(row, ClickTarget::Open(*screen, key.clone()));
            }
            let unfolded = block
                .key
                .as_deref()
                .is_some_and(|key| state.is_unfolded(key));
            let (sign, role) = match (mark, first && unfolded) {
                (true, false) => (" ▸ ", cursor),
                (true, true) => (" ▾ ", cursor),
                (false, true) => (" ▾ ", TextRole::Dim),
                (false, false) => ("   ", TextRole::Plain),
            };
            let gutter = Rect {
                width: GUTTER.min(row.width),
                ..row
            };
            Span::styled(sign, theme.style(role)).render(gutter, buffer);
            let content = Rect {
                x: row.x.saturating_add(gutter.width),
                width: row.width.saturating_sub(gutter.width).saturating_sub(1),
                ..row
            };
            let mut line = line.clone();
            if mark {
                line.style = line.style.add_modifier(Modifier::BOLD);
            }
            let is_cut = line.width() > usize::from(content.width);
            line.render(content, buffer);
            let (last, _) = area::right(content, u16::from(is_cut));
            Span::styled("…", theme.style(TextRole::Dim)).render(last, buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A page of blocks with so many lines each; every third cannot be selected.
    fn page(sizes: &[usize]) -> Page {
        let block = |(i, size): (usize, &usize)| {
            let lines = vec![Line::from("x"); *size];
            if i % 3 == 0 {
                Block::text(lines)
            } else {
                Block::item(format!("{i}"), EnterEffect::Nothing, lines)
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
                page.go(&mut state, motion, height);
                let scroll = page.scroll(&state, usize::from(height));
                prop_assert!(scroll <= page.height().saturating_sub(usize::from(height)));
            }
        }

        #[test]
        fn every_line_is_reached_by_going_down(sizes in prop::collection::vec(1_usize..9, 1..12), height in 1_u16..12) {
            let page = page(&sizes);
            let mut state = PageState::default();
            let mut seen = vec![false; page.height()];
            for _ in 0..=page.height().saturating_add(sizes.len()) {
                let scroll = page.scroll(&state, usize::from(height));
                seen.iter_mut().skip(scroll).take(usize::from(height)).for_each(|line| *line = true);
                page.go(&mut state, Motion::Down, height);
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
        assert_eq!([JumpToIssue::Next; 4].map(&mut visit), ["2", "5", "7", "2"]);
        assert_eq!([JumpToIssue::Previous; 3].map(&mut visit), ["7", "5", "2"]);
        page.blocks
            .iter_mut()
            .for_each(|block| block.has_issue = false);
        page.jump_to_issue(&mut state, JumpToIssue::Next, 4);
        assert_eq!(state.selected.as_deref(), Some("2"), "nowhere to go");
        assert!(!page.has_issue(&state));
    }

    #[test]
    fn the_selection_survives_a_page_that_changed() {
        let mut state = PageState::default();
        page(&[1, 1, 1]).go(&mut state, Motion::Bottom, 10);
        assert_eq!(state.selected.as_deref(), Some("2"));
        let longer = page(&[1, 1, 1, 1, 1]);
        assert_eq!(
            longer
                .selected(&state)
                .and_then(|block| block.key.as_deref()),
            Some("2")
        );
    }
}
