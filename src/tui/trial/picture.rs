//! Draws a trial at any size. What does not fit is left out by rank, the loads last.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::board::{BoardLoad, TrialBoard, duration};
use crate::text::bars::{cell_index, height, interval};
use crate::text::per_second;
use crate::trial::{ForestPlace, ForestRow};
use crate::tui::theme::{TextRole, Theme, to_ascii};
use crate::tui::widgets::{area, axis, text};

/// Columns of a rate, and of an interval as text.
const RATE: usize = 10;
const WORDS_WIDTH: usize = 25;
/// The narrowest useful bar.
const MIN_BAR: usize = 12;
pub fn draw(board: &TrialBoard, doing: &str, left: f64, theme: Theme, buffer: &mut Buffer) {
    let whole = *buffer.area();
    let (head, rest) = area::top(whole, 1);
    let (news, rest) = area::top(rest, 1);
    let (rule, rest) = area::top(rest, 1);
    let (footer, rest) = area::bottom(rest, 1);
    let (floor, body) = area::bottom(rest, 1);
    let dim = theme.style(TextRole::Dim);
    let blocks = if board.blocks == 1 {
        "1 block".to_owned()
    } else {
        format!("{} blocks", board.blocks)
    };
    draw_both_sides(
        (&format!(" {}", board.title), theme.style(TextRole::Heading)),
        (&format!("{blocks} "), Style::default()),
        head,
        buffer,
    );
    let needed = board
        .seconds_needed
        .map(|needed| format!("settled in about {} · ", duration(needed)))
        .unwrap_or_default();
    let most = format!("{needed}ends within {} ", duration(left));
    draw_both_sides(
        (&format!(" {doing}"), dim),
        (&most, Style::default()),
        news,
        buffer,
    );
    Span::styled("─".repeat(usize::from(rule.width)), dim).render(rule, buffer);
    draw_loads(board, body, theme, buffer);
    draw_bare_strip(&board.bare_rates, floor, theme, buffer);
    let keys = Line::from(vec![
        Span::styled(" q", theme.style(TextRole::Accent)),
        Span::styled(" stops and reports the results so far", dim),
    ]);
    keys.render(footer, buffer);
    if theme.ascii {
        to_ascii(buffer);
    }
}

/// Left and right text in one row; the left is cut if needed.
fn draw_both_sides(left: (&str, Style), right: (&str, Style), row: Rect, buffer: &mut Buffer) {
    let (place, rest) = area::right(row, u16::try_from(text::width(right.0)).unwrap_or(u16::MAX));
    Span::styled(
        text::truncate(left.0, usize::from(rest.width).saturating_sub(1)),
        left.1,
    )
    .render(rest, buffer);
    Span::styled(right.0.to_owned(), right.1).render(place, buffer);
}

/// The loads; those that do not fit get one line each.
fn draw_loads<'b>(board: &'b TrialBoard, body: Rect, theme: Theme, buffer: &mut Buffer) {
    if let Some(says) = &board.no_result {
        let lines = text::wrap(says, usize::from(body.width).saturating_sub(2));
        for (line, row) in lines.iter().zip(body.rows()) {
            Span::styled(format!(" {line}"), theme.style(TextRole::Doubt)).render(row, buffer);
        }
        return;
    }
    let room = usize::from(body.height);
    let twin = |row: &&ForestRow| matches!(row.place, ForestPlace::Twin { .. });
    let shown = |with_twin: bool| -> Vec<(&BoardLoad, Vec<&ForestRow>)> {
        let rows = |load: &'b BoardLoad| {
            load.rows
                .iter()
                .filter(|row| with_twin || !twin(row))
                .collect()
        };
        board.loads.iter().map(|load| (load, rows(load))).collect()
    };
    let high = |parts: &[(&BoardLoad, Vec<&ForestRow>)]| {
        parts.iter().map(|(_, rows)| 1 + rows.len()).sum::<usize>() + 1
    };
    let (mut parts, mut gap) = (shown(true), 1);
    if high(&parts) + parts.len().saturating_sub(1) > room {
        gap = 0;
    }
    if high(&parts) > room {
        parts = shown(false);
    }
    // The last loads lose their candidates first.
    let mut at = parts.len();
    while at > 1 && high(&parts) > room {
        at -= 1;
        if let Some((_, rows)) = parts.get_mut(at) {
            rows.clear();
        }
    }
    let field = FieldWidths::for_board(board, usize::from(body.width));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (nth, (load, rows)) in parts.iter().enumerate() {
        if nth > 0 && gap > 0 {
            lines.push(Line::default());
        }
        lines.push(Line::from(vec![
            Span::styled(format!(" {}: ", load.name), theme.style(TextRole::Heading)),
            Span::styled(load.answer.clone(), theme.style(load.role)),
        ]));
        lines.extend(
            rows.iter()
                .map(|row| candidate_line(board, row, &field, theme)),
        );
    }
    lines.truncate(room.saturating_sub(1));
    lines.extend(axis_line(board, &field, theme));
    for (line, row) in lines.into_iter().zip(body.rows()) {
        line.render(row, buffer);
    }
}

struct FieldWidths {
    name: usize,
    bar: usize,
    words: usize,
}

impl FieldWidths {
    fn for_board(board: &TrialBoard, room: usize) -> Self {
        let names = board
            .loads
            .iter()
            .flat_map(|load| &load.rows)
            .map(|row| text::width(&row.name));
        let name = names.max().unwrap_or(0).min(20);
        // Margin, mark, and the gaps between four columns.
        let rest = room.saturating_sub(3 + name + 2 + RATE + 2);
        match rest.checked_sub(2 + WORDS_WIDTH + 1) {
            Some(bar) if bar >= MIN_BAR => Self {
                name,
                bar,
                words: WORDS_WIDTH,
            },
            Some(_) | None => Self {
                name,
                bar: rest.saturating_sub(1),
                words: 0,
            },
        }
    }

    fn bar_start(&self) -> usize {
        3 + self.name + 2 + RATE + 2
    }
}

fn candidate_line(
    board: &TrialBoard,
    row: &ForestRow,
    field: &FieldWidths,
    theme: Theme,
) -> Line<'static> {
    let is_below = matches!(row.place, ForestPlace::Twin { .. } | ForestPlace::Unranked);
    let best = row.place.may_be_best();
    let style = if best {
        Style::default()
    } else {
        theme.style(TextRole::Dim)
    };
    let sign = if best { "●" } else { " " };
    let mark = if best {
        theme.style(TextRole::Good)
    } else {
        style
    };
    let (name, rate) = (text::pad(&row.name, field.name), per_second(row.rate));
    let mut spans = vec![
        Span::styled(format!(" {sign} "), mark),
        Span::styled(format!("{name}  {rate:>RATE$}  "), style),
        Span::styled(
            bar_text(board, row, field.bar),
            if is_below { style } else { mark },
        ),
    ];
    if field.words > 0 {
        spans.push(Span::styled(
            format!(
                "  {}",
                text::truncate(&row.place.comparison_text(), field.words)
            ),
            style,
        ));
    }
    Line::from(spans)
}

/// The interval, with a mark at the first candidate.
fn bar_text(board: &TrialBoard, row: &ForestRow, columns: usize) -> String {
    let first = cell_index(board.axis.share(0.0), columns.saturating_sub(1));
    let drawn = match (row.place.interval(), row.place) {
        (Some(found), _) => interval(
            [found.low, found.value, found.high].map(|at| board.axis.share(at)),
            columns,
        ),
        (None, ForestPlace::Reference { .. }) => (0..columns)
            .map(|column| if column == first { '◆' } else { ' ' })
            .collect(),
        (None, ForestPlace::Ranked { .. } | ForestPlace::Twin { .. } | ForestPlace::Unranked) => {
            text::blank(columns)
        }
    };
    drawn
        .chars()
        .enumerate()
        .map(|(at, mark)| {
            if at == first && mark == ' ' {
                '┊'
            } else {
                mark
            }
        })
        .collect()
}

/// The axis labels, below the bars.
fn axis_line(board: &TrialBoard, field: &FieldWidths, theme: Theme) -> Option<Line<'static>> {
    let apart = 8.0 / field.bar.max(1) as f64;
    let (_, labels) = axis::label_line(&board.axis.ticks(apart), field.bar);
    let line = format!("{}{labels}", text::blank(field.bar_start()));
    (!board.loads.is_empty()).then(|| Line::styled(line, theme.style(TextRole::Dim)))
}

/// The last blocks of the bare device or file as a strip.
fn draw_bare_strip(floor: &[f64], row: Rect, theme: Theme, buffer: &mut Buffer) {
    let most = floor.iter().copied().fold(0.0, f64::max);
    let Some(last) = floor.last().filter(|_| most > 0.0) else {
        return;
    };
    let name = " bare extent  ";
    let now = format!("  {} ", per_second(Some(*last)));
    let room = usize::from(row.width).saturating_sub(text::width(name) + text::width(&now));
    let shown = floor.iter().skip(floor.len().saturating_sub(room));
    let drawn: String = shown.map(|rate| height(rate / most)).collect();
    let line = Line::from(vec![
        Span::styled(name, theme.style(TextRole::Dim)),
        Span::styled(drawn, theme.style(TextRole::Accent)),
        Span::raw(now),
    ]);
    line.render(row, buffer);
}

#[cfg(test)]
mod tests;
