//! Aligns cells in columns, and shrinks or wraps the columns if the row is too narrow.
//!
//! Informative columns wrap; names and repetitions are cut or dropped.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text;

#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The column is never cut below this width; a column with narrower content is never cut.
    pub min_width: usize,
    /// The column with the highest number is dropped first; 0 is never dropped.
    pub drop: u8,
    /// True if long cells wrap instead of being cut.
    pub wraps: bool,
}

impl Column {
    /// Creates a column that can be cut to `least` columns of text, but is never dropped.
    pub const fn new_cuttable(least: usize) -> Self {
        Self {
            min_width: least,
            drop: 0,
            wraps: false,
        }
    }

    /// Creates a column that is never cut, and is dropped before columns with a lower `drop`.
    pub const fn new_droppable(drop: u8) -> Self {
        Self {
            min_width: usize::MAX,
            drop,
            wraps: false,
        }
    }

    /// Creates a column that wraps, keeps at least `least` columns of text, and is never dropped.
    pub const fn new_wrapping(least: usize) -> Self {
        Self {
            min_width: least,
            drop: 0,
            wraps: true,
        }
    }

    /// Creates a column that wraps, and is dropped if `least` columns of text are not left. Columns
    /// with a higher `drop` are dropped first.
    pub const fn new_wrapping_or_droppable(least: usize, drop: u8) -> Self {
        Self {
            min_width: least,
            drop,
            wraps: true,
        }
    }
}

pub type StyledText = (String, Style);

const GAP: usize = 2;
/// Separates parts of a cell, which are on lines of their own if the cell wraps.
pub const PART_GAP: &str = "\u{a0}  ";

/// Each row is one line: columns that could wrap are cut as well.
pub fn align_rows(rows: &[Vec<StyledText>], columns: &[Column], room: usize) -> Vec<Line<'static>> {
    let widths = fit_column_widths(rows, columns, room);
    rows.iter().map(|row| row_line(row, &widths)).collect()
}

/// Each row has as many lines as its wrapped cells need.
pub fn wrapped_rows(
    rows: &[Vec<StyledText>],
    columns: &[Column],
    room: usize,
) -> Vec<Vec<Line<'static>>> {
    let widths = fit_column_widths(rows, columns, room);
    rows.iter()
        .map(|row| wrap_row(row, columns, &widths))
        .collect()
}

/// Joins lines pairwise; the right lines start at column `at`.
pub fn join_lines_side_by_side(
    left: Vec<Line<'static>>,
    right: Vec<Line<'static>>,
    at: usize,
) -> Vec<Line<'static>> {
    let high = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let row = |_| {
        let first = left.next().unwrap_or_default();
        let gap = at.saturating_sub(first.width());
        let more = right.next().unwrap_or_default();
        let styled = |line: Line<'static>| {
            let style = line.style;
            line.spans
                .into_iter()
                .map(move |span| Span::styled(span.content, style.patch(span.style)))
        };
        let spans = styled(first)
            .chain([Span::raw(text::spaces(gap))])
            .chain(styled(more));
        Line::from(spans.collect::<Vec<_>>())
    };
    (0..high).map(row).collect()
}

/// Adds a note such as `interrupts: none` at the right end of the first line that has room, without
/// its label if necessary, or else on a line of its own.
pub fn push_note_at_right(lines: &mut Vec<Line<'static>>, (note, style): &StyledText, room: usize) {
    let note = note.as_str();
    let short = note.rsplit(": ").next().unwrap_or_default();
    let start = |note: &str| room.saturating_sub(text::width(note));
    let place = |note| {
        let has_room = |line: &Line<'_>| line.width() + GAP <= start(note);
        Some((lines.iter().position(has_room)?, note))
    };
    let (at, note) = place(note)
        .or_else(|| place(short))
        .unwrap_or((lines.len(), note));
    if note.is_empty() {
        return;
    }
    if at == lines.len() {
        lines.push(Line::default());
    }
    if let Some(line) = lines.get_mut(at) {
        line.push_span(Span::raw(text::spaces(start(note) - line.width())));
        line.push_span(Span::styled(note.to_owned(), *style));
    }
}

pub fn labelled_rows(
    (label, of_label): (&str, Style),
    indent: usize,
    rows: Vec<String>,
    style: Style,
) -> Vec<Line<'static>> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let line = |(row, label): (String, &str)| {
        Line::from(vec![
            Span::styled(text::pad_or_truncate(label, indent), of_label),
            Span::styled(row, style),
        ])
    };
    rows.into_iter().zip(labels).map(line).collect()
}

fn wrap_row(row: &[StyledText], columns: &[Column], widths: &[usize]) -> Vec<Line<'static>> {
    let pieces = |((content, _), (column, width)): (&StyledText, (&Column, &usize))| {
        let under = text::branch_below(content);
        let rows = if column.wraps && text::width(content) > *width {
            let parts = content.split(PART_GAP);
            parts
                .flat_map(|part| text::wrap_with_prefix(part, &under, *width))
                .collect()
        } else {
            vec![content.replace(PART_GAP, "   ")]
        };
        (rows, under)
    };
    let pieces: Vec<(Vec<String>, String)> = row
        .iter()
        .zip(columns.iter().zip(widths))
        .map(pieces)
        .collect();
    let shown = pieces.iter().zip(widths).filter(|(_, width)| **width > 0);
    let high = shown.map(|((rows, _), _)| rows.len()).max().unwrap_or(1);
    let one = |at: usize| -> Vec<StyledText> {
        let piece = |((rows, under), (_, style)): (&(Vec<String>, String), &StyledText)| {
            (rows.get(at).unwrap_or(under).clone(), *style)
        };
        pieces.iter().zip(row).map(piece).collect()
    };
    (0..high).map(|at| row_line(&one(at), widths)).collect()
}

fn row_line(row: &[StyledText], widths: &[usize]) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for ((content, style), width) in row.iter().zip(widths).filter(|(_, width)| **width > 0) {
        if !spans.is_empty() {
            spans.push(Span::raw(text::spaces(GAP)));
        }
        spans.push(Span::styled(text::pad_or_truncate(content, *width), *style));
    }
    if let Some(last) = spans.last_mut() {
        last.content = last.content.trim_end().to_owned().into();
    }
    Line::from(spans)
}

/// The width of each column, 0 if dropped. If some columns wrap, they shrink first, then columns
/// are dropped, then the others are cut. Otherwise the widest columns are cut before any is
/// dropped.
fn fit_column_widths(rows: &[Vec<StyledText>], columns: &[Column], room: usize) -> Vec<usize> {
    let full = natural_widths(rows, columns.len());
    let mut left_out = 0_u8;
    let mut order: Vec<u8> = columns
        .iter()
        .map(|column| column.drop)
        .filter(|drop| *drop > 0)
        .collect();
    order.sort_unstable();
    loop {
        let shown = |column: &Column| column.drop == 0 || left_out == 0 || column.drop < left_out;
        let mut widths: Vec<usize> = full
            .iter()
            .zip(columns)
            .map(|(width, column)| if shown(column) { *width } else { 0 })
            .collect();
        let wraps = columns.iter().any(|column| column.wraps);
        shrink_widest_columns(&mut widths, columns, room, |column| column.wraps || !wraps);
        match order.pop() {
            Some(next) if total_width(&widths) > room => left_out = next,
            _ => {
                shrink_widest_columns(&mut widths, columns, room, |_| true);
                return widths;
            }
        }
    }
}

/// Narrows the widest selected column step by step until the row fits or all are at their minimum.
fn shrink_widest_columns(
    widths: &mut [usize],
    columns: &[Column],
    room: usize,
    which: impl Fn(&Column) -> bool,
) {
    let mut excess = total_width(widths).saturating_sub(room);
    while excess > 0 {
        let may =
            |(width, column): &(&mut usize, &Column)| which(column) && **width > column.min_width;
        let widest = widths.iter_mut().zip(columns).filter(may);
        let Some((width, _)) = widest.max_by_key(|(width, _)| **width) else {
            return;
        };
        *width = width.saturating_sub(1);
        excess = excess.saturating_sub(1);
    }
}

pub fn natural_widths(rows: &[Vec<StyledText>], columns: usize) -> Vec<usize> {
    let width = |at: usize| {
        rows.iter()
            .filter_map(|row| row.get(at))
            .map(|(content, _)| text::width(content))
            .max()
    };
    (0..columns)
        .map(|at| width(at).unwrap_or_default())
        .collect()
}

pub fn total_width(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0).count();
    widths.iter().sum::<usize>() + GAP * shown.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned_sample_rows(room: usize) -> Vec<String> {
        let row = |cells: [&str; 3]| {
            cells
                .iter()
                .map(|c| ((*c).to_owned(), Style::default()))
                .collect()
        };
        let rows: Vec<Vec<StyledText>> = vec![
            row(["critical", "nobarrier → barrier", "remount"]),
            row(["keep", "fdatasync", "at once"]),
        ];
        let columns = [
            Column::new_cuttable(8),
            Column::new_cuttable(6),
            Column::new_droppable(1),
        ];
        align_rows(&rows, &columns, room)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn columns_align_then_shrink_then_drop() {
        assert_eq!(
            aligned_sample_rows(60),
            [
                "critical  nobarrier → barrier  remount",
                "keep      fdatasync            at once"
            ]
        );
        assert_eq!(
            aligned_sample_rows(30),
            [
                "critical  nobarrier …  remount",
                "keep      fdatasync    at once"
            ]
        );
        assert_eq!(
            aligned_sample_rows(20),
            ["critical  nobarrier…", "keep      fdatasync"]
        );
    }

    #[test]
    fn wrapping_keeps_all_words_and_drops_before_cutting() {
        let row = |cells: [&str; 3]| {
            cells
                .iter()
                .map(|c| ((*c).to_owned(), Style::default()))
                .collect()
        };
        let rows: Vec<Vec<StyledText>> = vec![
            row([
                "/srv/data",
                "remove nobarrier, relatime → noatime",
                "remount",
            ]),
            row(["host", "none", ""]),
        ];
        let columns = [
            Column::new_cuttable(4),
            Column::new_wrapping(12),
            Column::new_droppable(1),
        ];
        let shown = |room: usize| -> Vec<String> {
            let rows = wrapped_rows(&rows, &columns, room);
            rows.iter()
                .flatten()
                .map(|line| line.to_string().trim_end().to_owned())
                .collect()
        };
        assert_eq!(
            shown(40),
            [
                "/srv/data  remove nobarrier,     remount",
                "           relatime → noatime",
                "host       none"
            ]
        );
        assert_eq!(
            shown(24),
            [
                "/srv/data  remove",
                "           nobarrier,",
                "           relatime →",
                "           noatime",
                "host       none"
            ]
        );
        assert!(
            shown(18)
                .iter()
                .any(|line| line.starts_with("/sr…  remove")),
            "{:?}",
            shown(18)
        );
    }

    #[test]
    fn too_narrow_width_does_not_panic() {
        for room in 0..40 {
            assert_eq!(aligned_sample_rows(room).len(), 2);
        }
    }
}
