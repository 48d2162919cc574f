//! Aligned columns: their widths in the available space, the order in which they shrink, and
//! wrapping.
//!
//! Informative columns wrap; names and repetitions are cut or dropped.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text;

/// How a column behaves when space is short.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Can be cut to this width before any column is dropped.
    pub min_width: usize,
    /// The highest is dropped first; 0 is never dropped.
    pub drop: u8,
    /// Whether it wraps instead of being cut.
    pub wraps: bool,
}

impl Column {
    /// A column that is never dropped.
    pub const fn keep(least: usize) -> Self {
        Self {
            min_width: least,
            drop: 0,
            wraps: false,
        }
    }

    /// A column that can be dropped, the highest first.
    pub const fn drop(drop: u8) -> Self {
        Self {
            min_width: usize::MAX,
            drop,
            wraps: false,
        }
    }

    /// A column that wraps, and is never dropped or cut.
    pub const fn wrap(least: usize) -> Self {
        Self {
            min_width: least,
            drop: 0,
            wraps: true,
        }
    }

    /// A column that wraps, and is dropped below this width.
    pub const fn wrap_or_drop(least: usize, drop: u8) -> Self {
        Self {
            min_width: least,
            drop,
            wraps: true,
        }
    }
}

pub type StyledText = (String, Style);

const GAP: usize = 2;

/// The rows as aligned lines within so many columns; of wrapped cells only the first line.
pub fn lines(rows: &[Vec<StyledText>], columns: &[Column], room: usize) -> Vec<Line<'static>> {
    let widths = widths(rows, columns, room);
    rows.iter().map(|row| line(row, &widths)).collect()
}

/// The same with wrapping: each row takes as many lines as needed, at least one.
pub fn wrapped_rows(
    rows: &[Vec<StyledText>],
    columns: &[Column],
    room: usize,
) -> Vec<Vec<Line<'static>>> {
    let widths = widths(rows, columns, room);
    rows.iter()
        .map(|row| row_in_lines(row, columns, &widths))
        .collect()
}

/// Joins lines at the left with lines that start at this column.
pub fn side_by_side(
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
            .chain([Span::raw(text::blank(gap))])
            .chain(styled(more));
        Line::from(spans.collect::<Vec<_>>())
    };
    (0..high).map(row).collect()
}

/// Rows after a label, which precedes the first.
pub fn labelled_rows(
    (label, of_label): (&str, Style),
    indent: usize,
    rows: Vec<String>,
    style: Style,
) -> Vec<Line<'static>> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let line = |(row, label): (String, &str)| {
        Line::from(vec![
            Span::styled(text::pad(label, indent), of_label),
            Span::styled(row, style),
        ])
    };
    rows.into_iter().zip(labels).map(line).collect()
}

fn row_in_lines(row: &[StyledText], columns: &[Column], widths: &[usize]) -> Vec<Line<'static>> {
    let pieces = |((content, _), (column, width)): (&StyledText, (&Column, &usize))| {
        if column.wraps && text::width(content) > *width {
            text::wrap(content, *width)
        } else {
            vec![content.clone()]
        }
    };
    let pieces: Vec<Vec<String>> = row
        .iter()
        .zip(columns.iter().zip(widths))
        .map(pieces)
        .collect();
    let shown = pieces.iter().zip(widths).filter(|(_, width)| **width > 0);
    let high = shown.map(|(pieces, _)| pieces.len()).max().unwrap_or(1);
    let one = |at: usize| -> Vec<StyledText> {
        let piece = |(pieces, (_, style)): (&Vec<String>, &StyledText)| {
            (pieces.get(at).cloned().unwrap_or_default(), *style)
        };
        pieces.iter().zip(row).map(piece).collect()
    };
    (0..high).map(|at| line(&one(at), widths)).collect()
}

fn line(row: &[StyledText], widths: &[usize]) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for ((content, style), width) in row.iter().zip(widths).filter(|(_, width)| **width > 0) {
        if !spans.is_empty() {
            spans.push(Span::raw(text::blank(GAP)));
        }
        spans.push(Span::styled(text::pad(content, *width), *style));
    }
    Line::from(spans)
}

/// The width of each column, 0 if dropped. Without wrapping columns the widest are cut first, then
/// columns are dropped; with some, those shrink first, then columns are dropped, then cut.
fn widths(rows: &[Vec<StyledText>], columns: &[Column], room: usize) -> Vec<usize> {
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
        shrink(&mut widths, columns, room, |column| column.wraps || !wraps);
        match order.pop() {
            Some(next) if total_width(&widths) > room => left_out = next,
            _ => {
                shrink(&mut widths, columns, room, |_| true);
                return widths;
            }
        }
    }
}

/// Shrinks the widest of the selected columns until the row fits or all are at their minimum.
fn shrink(widths: &mut [usize], columns: &[Column], room: usize, which: impl Fn(&Column) -> bool) {
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

/// The width of each column without any limit.
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

/// The width of a row, with gaps between visible columns.
pub fn total_width(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0).count();
    widths
        .iter()
        .sum::<usize>()
        .saturating_add(GAP.saturating_mul(shown.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(room: usize) -> Vec<String> {
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
        let columns = [Column::keep(8), Column::keep(6), Column::drop(1)];
        lines(&rows, &columns, room)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn columns_align_then_shrink_then_give_way() {
        assert_eq!(
            shown(60),
            [
                "critical  nobarrier → barrier  remount",
                "keep      fdatasync            at once"
            ]
        );
        assert_eq!(
            shown(30),
            [
                "critical  nobarrier …  remount",
                "keep      fdatasync    at once"
            ]
        );
        assert_eq!(shown(20), ["critical  nobarrier…", "keep      fdatasync "]);
    }

    #[test]
    fn what_wraps_loses_no_word_and_leaves_others_out_before_it_cuts_them() {
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
        let columns = [Column::keep(4), Column::wrap(12), Column::drop(1)];
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
    fn no_room_is_no_panic() {
        for room in 0..40 {
            assert_eq!(shown(room).len(), 2);
        }
    }
}
