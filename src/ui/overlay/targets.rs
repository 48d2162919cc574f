//! The list of targets, the worst first, filtered by the typed text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::pane::pane;
use crate::report::TargetSummary;
use crate::ui::command;
use crate::ui::hits::{Hit, Hits};
use crate::ui::model::Model;
use crate::ui::standing::TargetLine;
use crate::ui::theme::TextRole;
use crate::ui::widgets::columns::{self, Column, StyledText};

const WIDTH: u16 = 76;
/// Rows that are no targets: the frame, what was typed, and how many are out of sight.
const OTHERS: u16 = 4;

/// The most targets that are in sight at once on a screen with a body this high.
pub fn rows(body: u16) -> usize {
    usize::from(body.saturating_sub(OTHERS))
}

pub fn draw(model: &Model, filter: &str, chosen: usize, area: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let Some(report) = model.data.report.as_deref() else { return };
    let count = command::overlay_targets(model, filter).count();
    let wanted = u16::try_from(count.max(1)).unwrap_or(u16::MAX).saturating_add(OTHERS);
    let inner =
        pane(theme, "Targets, worst first", WIDTH.min(area.width), wanted.min(area.height), area, buffer);
    let mut places = inner.rows();
    if let Some(row) = places.next() {
        let typed = if filter.is_empty() { "type to filter".to_owned() } else { format!("{filter}_") };
        let style = theme.style(if filter.is_empty() { TextRole::Dim } else { TextRole::Plain });
        Line::from(vec![Span::styled("/ ", theme.style(TextRole::Accent)), Span::styled(typed, style)])
            .render(row, buffer);
    }
    let last = places.next_back();
    let places: Vec<Rect> = places.collect();
    // As many as fit, with the chosen one among them.
    let skipped = chosen.saturating_add(1).saturating_sub(places.len());
    let shown: Vec<(usize, &TargetSummary)> =
        command::overlay_targets(model, filter).skip(skipped).take(places.len()).collect();
    let below = count.saturating_sub(skipped).saturating_sub(shown.len());
    let said = match (count, below) {
        (0, _) => "No target has such a name.".to_owned(),
        (_, 0) => String::new(),
        (_, below) => format!("↓ {below} more"),
    };
    if let Some(row) = last {
        Span::styled(said, theme.style(TextRole::Doubt)).render(row, buffer);
    }
    let cells = |(at, (_, target)): (usize, &(usize, &TargetSummary))| -> Vec<StyledText> {
        let row = TargetLine::new(report, target, theme);
        let is_chosen = at + skipped == chosen;
        let (plain, dim) = (theme.style(TextRole::Plain), theme.style(TextRole::Dim));
        let name = if is_chosen { theme.style(TextRole::Heading) } else { plain };
        vec![
            (if is_chosen { "▸" } else { " " }.to_owned(), theme.style(TextRole::Accent)),
            (format!("{} {}", row.mark, row.standing), row.style),
            (target.title.clone(), name),
            (row.filesystem, dim),
            (format!("{:>8}", row.price), dim),
        ]
    };
    let rows: Vec<Vec<StyledText>> = shown.iter().enumerate().map(cells).collect();
    let shape = [Column::keep(1), Column::keep(15), Column::keep(12), Column::drop(2), Column::drop(1)];
    let lines = columns::lines(&rows, &shape, usize::from(inner.width));
    for ((line, place), (target, _)) in lines.into_iter().zip(places).zip(&shown) {
        line.render(place, buffer);
        hits.add(place, Hit::Target(*target));
    }
}
