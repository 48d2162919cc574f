//! Draws a trial at any size. If the rows do not suffice, the gaps are left out first, then the
//! control runs, then the candidates of the last loads.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::board::{BoardLoad, TrialBoard, format_duration};
use crate::text::bars::{bar_char, format_interval_bar, share_to_index};
use crate::text::format_rate_or_dash;
use crate::trial::{CandidateStanding, ForestPlotRow};
use crate::tui::ScreenOptions;
use crate::tui::theme::{ACCENT, BOLD, DIM, DOUBT, GOOD, apply_options};
use crate::tui::widgets::{area, axis, text};

const RATE_WIDTH: usize = 10;
const WORDS_WIDTH: usize = 25;
/// With fewer columns for the bar of an interval, the text at its right is left out.
const MIN_BAR_WIDTH: usize = 12;
pub fn draw_board(
    board: &TrialBoard,
    doing: &str,
    left: f64,
    options: ScreenOptions,
    buffer: &mut Buffer,
) {
    let whole = *buffer.area();
    let (head, rest) = area::split_top(whole, 1);
    let (news, rest) = area::split_top(rest, 1);
    let (rule, rest) = area::split_top(rest, 1);
    let (footer, rest) = area::split_bottom(rest, 1);
    let (floor, body) = area::split_bottom(rest, 1);
    let blocks = if board.blocks == 1 {
        "1 block complete".to_owned()
    } else {
        format!("{} blocks complete", board.blocks)
    };
    draw_left_and_right(
        (&format!(" {}", board.title), BOLD),
        (&format!("{blocks} "), Style::default()),
        head,
        buffer,
    );
    let needed = board
        .seconds_needed
        .map(|needed| format!("result in about {} · ", format_duration(needed)))
        .unwrap_or_default();
    let most = format!("{needed}ends within {} ", format_duration(left));
    draw_left_and_right(
        (&format!(" {doing}"), DIM),
        (&most, Style::default()),
        news,
        buffer,
    );
    Span::styled("─".repeat(usize::from(rule.width)), DIM).render(rule, buffer);
    draw_loads_or_no_result(board, body, buffer);
    draw_raw_extent_rates(&board.raw_extent_rates, floor, buffer);
    let keys = Line::from(vec![
        Span::styled(" q", ACCENT),
        Span::styled(" stops and reports the results so far", DIM),
    ]);
    keys.render(footer, buffer);
    apply_options(options, buffer);
}

fn draw_left_and_right(left: (&str, Style), right: (&str, Style), row: Rect, buffer: &mut Buffer) {
    let (place, rest) =
        area::split_right(row, u16::try_from(text::width(right.0)).unwrap_or(u16::MAX));
    Span::styled(
        text::truncate_to_width(left.0, usize::from(rest.width).saturating_sub(1)),
        left.1,
    )
    .render(rest, buffer);
    Span::styled(right.0.to_owned(), right.1).render(place, buffer);
}

fn draw_loads_or_no_result<'b>(board: &'b TrialBoard, body: Rect, buffer: &mut Buffer) {
    if let Some(says) = &board.no_result {
        let lines = text::wrap(says, usize::from(body.width).saturating_sub(2));
        for (line, row) in lines.iter().zip(body.rows()) {
            Span::styled(format!(" {line}"), DOUBT).render(row, buffer);
        }
        return;
    }
    let room = usize::from(body.height);
    let twin = |row: &&ForestPlotRow| matches!(row.place, CandidateStanding::Twin { .. });
    let shown = |with_twin: bool| -> Vec<(&BoardLoad, Vec<&ForestPlotRow>)> {
        let rows = |load: &'b BoardLoad| {
            load.rows
                .iter()
                .filter(|row| with_twin || !twin(row))
                .collect()
        };
        board.loads.iter().map(|load| (load, rows(load))).collect()
    };
    let high = |parts: &[(&BoardLoad, Vec<&ForestPlotRow>)]| {
        parts.iter().map(|(_, rows)| 1 + rows.len()).sum::<usize>() + 1
    };
    let (mut parts, mut gap) = (shown(true), 1);
    if high(&parts) + parts.len().saturating_sub(1) > room {
        gap = 0;
    }
    if high(&parts) > room {
        parts = shown(false);
    }
    let mut at = parts.len();
    while at > 1 && high(&parts) > room {
        at -= 1;
        if let Some((_, rows)) = parts.get_mut(at) {
            rows.clear();
        }
    }
    let field = CandidateRowWidths::for_board(board, usize::from(body.width));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (nth, (load, rows)) in parts.iter().enumerate() {
        if nth > 0 && gap > 0 {
            lines.push(Line::default());
        }
        lines.push(Line::from(vec![
            Span::styled(format!(" {}: ", load.name), BOLD),
            Span::styled(load.answer.clone(), load.role),
        ]));
        lines.extend(rows.iter().map(|row| candidate_line(board, row, &field)));
    }
    lines.truncate(room.saturating_sub(1));
    lines.extend(ratio_axis_label_line(board, &field));
    for (line, row) in lines.into_iter().zip(body.rows()) {
        line.render(row, buffer);
    }
}

struct CandidateRowWidths {
    name: usize,
    bar: usize,
    words: usize,
}

impl CandidateRowWidths {
    fn for_board(board: &TrialBoard, room: usize) -> Self {
        let names = board
            .loads
            .iter()
            .flat_map(|load| &load.rows)
            .map(|row| text::width(&row.name));
        let name = names.max().unwrap_or(0).min(20);
        let rest = room.saturating_sub(3 + name + 2 + RATE_WIDTH + 2);
        match rest.checked_sub(2 + WORDS_WIDTH + 1) {
            Some(bar) if bar >= MIN_BAR_WIDTH => Self {
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
        3 + self.name + 2 + RATE_WIDTH + 2
    }
}

fn candidate_line(
    board: &TrialBoard,
    row: &ForestPlotRow,
    field: &CandidateRowWidths,
) -> Line<'static> {
    let is_below = matches!(
        row.place,
        CandidateStanding::Twin { .. } | CandidateStanding::Unranked
    );
    let best = row.place.may_be_best();
    let style = if best { Style::default() } else { DIM };
    let sign = if best { "●" } else { " " };
    let mark = if best { GOOD } else { style };
    let (name, rate) = (
        text::pad_or_truncate(&row.name, field.name),
        format_rate_or_dash(row.rate),
    );
    let mut spans = vec![
        Span::styled(format!(" {sign} "), mark),
        Span::styled(format!("{name}  {rate:>RATE_WIDTH$}  "), style),
        Span::styled(
            interval_bar_text(board, row, field.bar),
            if is_below { style } else { mark },
        ),
    ];
    if field.words > 0 {
        spans.push(Span::styled(
            format!(
                "  {}",
                text::truncate_to_width(&row.place.comparison_text(), field.words)
            ),
            style,
        ));
    }
    Line::from(spans)
}

fn interval_bar_text(board: &TrialBoard, row: &ForestPlotRow, columns: usize) -> String {
    let first = share_to_index(
        board.axis.position_of_log_ratio(0.0),
        columns.saturating_sub(1),
    );
    let drawn = match (row.place.interval(), row.place) {
        (Some(found), _) => format_interval_bar(
            [found.low, found.value, found.high].map(|at| board.axis.position_of_log_ratio(at)),
            columns,
        ),
        (None, CandidateStanding::Reference { .. }) => (0..columns)
            .map(|column| if column == first { '◆' } else { ' ' })
            .collect(),
        (
            None,
            CandidateStanding::Ranked { .. }
            | CandidateStanding::Twin { .. }
            | CandidateStanding::Unranked,
        ) => text::spaces(columns),
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

fn ratio_axis_label_line(board: &TrialBoard, field: &CandidateRowWidths) -> Option<Line<'static>> {
    let apart = 8.0 / field.bar.max(1) as f64;
    let (_, labels) = axis::axis_label_count_and_line(&board.axis.ticks(apart), field.bar);
    let line = format!("{}{labels}", text::spaces(field.bar_start()));
    (!board.loads.is_empty()).then(|| Line::styled(line, DIM))
}

fn draw_raw_extent_rates(floor: &[f64], row: Rect, buffer: &mut Buffer) {
    let most = floor.iter().copied().fold(0.0, f64::max);
    let Some(last) = floor.last().filter(|_| most > 0.0) else {
        return;
    };
    let name = " raw extent  ";
    let now = format!("  {} ", format_rate_or_dash(Some(*last)));
    let room = usize::from(row.width).saturating_sub(text::width(name) + text::width(&now));
    let shown = floor.iter().skip(floor.len().saturating_sub(room));
    let drawn: String = shown.map(|rate| bar_char(rate / most)).collect();
    let line = Line::from(vec![
        Span::styled(name, DIM),
        Span::styled(drawn, ACCENT),
        Span::raw(now),
    ]);
    line.render(row, buffer);
}

#[cfg(test)]
mod tests;
