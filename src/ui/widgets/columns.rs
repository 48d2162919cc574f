//! Aligned columns: how wide each becomes in the room there is, and which give way first.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text;

/// How a column behaves when room is short.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// May be cut down to this many columns before anything is left out.
    pub least: usize,
    /// Which is left out first: the highest; 0 stays.
    pub drop: u8,
}

impl Column {
    /// A column that is never left out.
    pub const fn keep(least: usize) -> Self {
        Self { least, drop: 0 }
    }

    /// A column that may be left out, the highest first.
    pub const fn drop(drop: u8) -> Self {
        Self { least: usize::MAX, drop }
    }
}

/// One cell.
pub type Cell = (String, Style);

const GAP: usize = 2;

/// The rows as lines, each cell aligned with those above and below it, within so many columns.
pub fn lines(rows: &[Vec<Cell>], columns: &[Column], room: usize) -> Vec<Line<'static>> {
    let widths = widths(rows, columns, room);
    rows.iter().map(|row| line(row, &widths)).collect()
}

fn line(row: &[Cell], widths: &[usize]) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for ((content, style), width) in row.iter().zip(widths).filter(|(_, width)| **width > 0) {
        if !spans.is_empty() {
            spans.push(Span::raw(text::blank(GAP)));
        }
        spans.push(Span::styled(text::pad(content, *width), *style));
    }
    Line::from(spans)
}

/// The width of each column; 0 for those left out. First the widest that may be cut are cut, then columns are left out.
fn widths(rows: &[Vec<Cell>], columns: &[Column], room: usize) -> Vec<usize> {
    let natural = |i: usize| {
        rows.iter().filter_map(|row| row.get(i)).map(|(content, _)| text::width(content)).max().unwrap_or(0)
    };
    let full: Vec<usize> = (0..columns.len()).map(natural).collect();
    let mut left_out = 0_u8;
    let mut order: Vec<u8> = columns.iter().map(|column| column.drop).filter(|drop| *drop > 0).collect();
    order.sort_unstable();
    loop {
        let shown = |column: &Column| column.drop == 0 || left_out == 0 || column.drop < left_out;
        let mut widths: Vec<usize> =
            full.iter().zip(columns).map(|(width, column)| if shown(column) { *width } else { 0 }).collect();
        shrink(&mut widths, columns, room);
        match order.pop() {
            Some(next) if total(&widths) > room => left_out = next,
            _ => return widths,
        }
    }
}

/// Takes columns away from the widest that may be cut until the row fits or nothing may be cut any more.
fn shrink(widths: &mut [usize], columns: &[Column], room: usize) {
    let mut excess = total(widths).saturating_sub(room);
    while excess > 0 {
        let widest = widths.iter_mut().zip(columns).filter(|(width, column)| **width > column.least);
        let Some((width, _)) = widest.max_by_key(|(width, _)| **width) else { return };
        *width = width.saturating_sub(1);
        excess = excess.saturating_sub(1);
    }
}

fn total(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0).count();
    widths.iter().sum::<usize>().saturating_add(GAP.saturating_mul(shown.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(room: usize) -> Vec<String> {
        let row = |cells: [&str; 3]| cells.iter().map(|c| ((*c).to_owned(), Style::default())).collect();
        let rows: Vec<Vec<Cell>> =
            vec![row(["critical", "nobarrier → barrier", "remount"]), row(["keep", "fdatasync", "at once"])];
        let columns = [Column::keep(8), Column::keep(6), Column::drop(1)];
        lines(&rows, &columns, room).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn columns_align_then_shrink_then_give_way() {
        assert_eq!(
            shown(60),
            ["critical  nobarrier → barrier  remount", "keep      fdatasync            at once"]
        );
        assert_eq!(shown(30), ["critical  nobarrier …  remount", "keep      fdatasync    at once"]);
        assert_eq!(shown(20), ["critical  nobarrier…", "keep      fdatasync "]);
    }

    #[test]
    fn no_room_is_no_panic() {
        for room in 0..40 {
            assert_eq!(shown(room).len(), 2);
        }
    }
}
