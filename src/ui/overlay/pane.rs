//! What the overlays are made of: a frame, a list to choose from, and the keys that answer a question.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use crate::ui::hits::Hits;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::{area, text};

/// Keys and what each would answer, in a row.
pub fn answers(theme: Theme, choices: &[(&str, &str)], row: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    let mut rest = row;
    for (key, label) in choices {
        let said = format!(" {label}");
        let wide = text::width(key).saturating_add(text::width(&said));
        let (place, after) = area::left(rest, u16::try_from(wide).unwrap_or(u16::MAX));
        let key_style = theme.style(TextRole::Accent);
        Line::from(vec![Span::styled(*key, key_style), Span::raw(said)]).render(place, buffer);
        hits.press(place, key);
        (_, rest) = area::left(after, 4);
    }
}

/// The rows of the frame.
const FRAME: usize = 2;
/// Rows of a list that are no entries: the frame, what was typed, and what is said beneath.
const OTHERS: u16 = 5;

/// The entries that a screenful of a list is, on a screen with a body this high.
pub fn screenful(body: u16) -> usize {
    usize::from(body.saturating_sub(OTHERS)).max(1)
}

/// A list to choose from.
pub struct Choices<'a> {
    pub title: &'a str,
    pub width: u16,
    /// Before the entries.
    pub above: Vec<Line<'static>>,
    pub count: usize,
    pub chosen: usize,
    /// Beneath the entries; the number of those out of sight where it is empty.
    pub below: Vec<Line<'static>>,
}

impl Choices<'_> {
    /// Draws as many entries as fit, the chosen one among them; gives their places.
    pub fn draw(
        self,
        theme: Theme,
        whole: Rect,
        buffer: &mut Buffer,
        entries: impl FnOnce(Range<usize>, usize) -> Vec<Line<'static>>,
    ) -> Vec<(usize, Rect)> {
        let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let said = self.below.len().max(1);
        let wanted = rows(self.above.len() + self.count + said + FRAME);
        let width = self.width.min(whole.width);
        let room = usize::from(width).saturating_sub(4);
        let title = text::fit(self.title, room);
        let inner = pane(theme, &title, width, wanted.min(whole.height), whole, buffer);
        let (last, rest) = area::bottom(inner, rows(said));
        let (first, rest) = area::top(rest, rows(self.above.len()));
        let skipped = self.chosen.saturating_add(1).saturating_sub(usize::from(rest.height));
        let shown = skipped..self.count.min(skipped.saturating_add(usize::from(rest.height)));
        let mut below = self.below;
        if below.is_empty() && shown.end < self.count {
            let says = format!("↓ {} more", self.count.saturating_sub(shown.end));
            below.push(Line::styled(says, theme.style(TextRole::Doubt)));
        }
        let places: Vec<(usize, Rect)> = shown.clone().zip(rest.rows()).collect();
        let lines = self.above.into_iter().zip(first.rows()).chain(below.into_iter().zip(last.rows()));
        let entries = entries(shown, room).into_iter().zip(rest.rows());
        lines.chain(entries).for_each(|(line, row)| line.render(row, buffer));
        places
    }
}

/// What is typed into a list behind a mark, or what can be.
pub fn typed(theme: Theme, mark: &'static str, typed: &str, asks: &str) -> Line<'static> {
    let (shown, role) = match typed {
        "" => (asks.to_owned(), TextRole::Dim),
        typed => (format!("{typed}_"), TextRole::Plain),
    };
    Line::from(vec![
        Span::styled(mark, theme.style(TextRole::Accent)),
        Span::styled(shown, theme.style(role)),
    ])
}

/// A frame with a title in the middle of the area, emptied; gives what is inside of it.
pub fn pane(theme: Theme, title: &str, width: u16, height: u16, whole: Rect, buffer: &mut Buffer) -> Rect {
    let pane = area::centred(whole, width, height);
    Clear.render(pane, buffer);
    let block = Block::bordered()
        .border_style(theme.style(TextRole::Dim))
        .title(Line::styled(format!(" {title} "), theme.style(TextRole::Heading)));
    let inner = block.inner(pane);
    block.render(pane, buffer);
    let content = area::inset(inner, 1);
    buffer.set_style(content, Style::default());
    content
}
