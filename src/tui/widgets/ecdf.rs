//! Draws the share of commits that complete within a time, as curves on a logarithmic time axis.
//!
//! Curves are braille dots, or letters in ASCII. Each curve has its name beside it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{axis, text};
use crate::report::time_axis::LogTimeAxis;
use crate::text::bars::share_to_index;

pub struct Curve<'a> {
    /// Text beside the curve. In ASCII, its first letter draws the curve.
    pub label: String,
    pub style: Style,
    /// Times in ascending order, at equal steps of the share of commits.
    pub quantiles: &'a [f64],
}

pub struct EcdfChart {
    /// The curves and both scales; empty if there are too few columns or rows.
    pub lines: Vec<Line<'static>>,
    /// Labels without a free place beside their curves.
    pub unplaced_labels: Vec<String>,
}

/// Bits of a braille cell's dots: four rows of two.
const DOT_BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
const DOTS_ACROSS: usize = 2;
const DOTS_DOWN: usize = 4;
const BLANK_BRAILLE: u32 = 0x2800;
const SCALE_WIDTH: usize = 8;

/// Draws the curves above a logarithmic time axis; `dim` styles the axes.
pub fn ecdf_chart(
    curves: &[Curve<'_>],
    columns: usize,
    rows: usize,
    dim: Style,
    ascii: bool,
) -> EcdfChart {
    let (inner, high) = (columns.saturating_sub(SCALE_WIDTH), rows.saturating_sub(2));
    let axis = LogTimeAxis::from_quantile_curves(curves.iter().map(|curve| curve.quantiles));
    let axis = axis
        .filter(|_| high >= 3)
        .and_then(|axis| Some((axis, axis::time_axis_lines(&axis, inner)?)));
    let Some((axis, [ticks, labels])) = axis else {
        return EcdfChart {
            lines: Vec::new(),
            unplaced_labels: Vec::new(),
        };
    };
    let mut grid = ChartGrid {
        cells: vec![vec![(' ', Style::default()); inner]; high],
    };
    if ascii {
        grid.draw_letters(curves, &axis);
    } else {
        grid.draw_braille(curves, &axis);
    }
    let unplaced = curves
        .iter()
        .filter(|curve| !grid.place_curve_label(curve, &axis));
    let unplaced_labels = unplaced.map(|curve| curve.label.clone()).collect();
    let scale = |row: usize| match row {
        0 => "100 %",
        row if row == high / 2 => "50 %",
        row if row + 1 == high => "0 %",
        _ => "",
    };
    let with_scale = |(row, cells): (usize, Vec<(char, Style)>)| {
        let mut line = Line::styled(format!("{:>6} │", scale(row)), dim);
        for run in cells.chunk_by(|(_, one), (_, other)| one == other) {
            let style = run.first().map(|(_, style)| *style).unwrap_or_default();
            let symbols: String = run.iter().map(|(symbol, _)| symbol).collect();
            line.push_span(Span::styled(symbols, Style::reset().patch(style)));
        }
        line
    };
    let mut lines: Vec<Line<'static>> =
        grid.cells.into_iter().enumerate().map(with_scale).collect();
    lines.push(Line::styled(
        format!("{}└{ticks}", text::spaces(SCALE_WIDTH - 1)),
        dim,
    ));
    lines.push(Line::styled(
        format!("{}{labels}", text::spaces(SCALE_WIDTH)),
        dim,
    ));
    EcdfChart {
        lines,
        unplaced_labels,
    }
}

/// The cells of the curves, row by row from the top.
struct ChartGrid {
    cells: Vec<Vec<(char, Style)>>,
}

/// The row of the curve in each column, from 0 at the top to `last` at the bottom.
fn curve_rows(curve: &Curve<'_>, axis: &LogTimeAxis, columns: usize, last: usize) -> Vec<usize> {
    let at = |column: usize| {
        let time = axis.time_at_position(column as f64 / columns.saturating_sub(1).max(1) as f64);
        last - share_to_index(share_of_commits_within(curve.quantiles, time), last)
    };
    let mut lowest = last;
    let falls_never = |column| {
        lowest = lowest.min(at(column));
        lowest
    };
    (0..columns).map(falls_never).collect()
}

/// The share of commits, from 0 to 1, that complete within `time`, interpolated between the
/// quantiles.
fn share_of_commits_within(quantiles: &[f64], time: f64) -> f64 {
    let done = quantiles.partition_point(|quantile| *quantile <= time);
    let before = done
        .checked_sub(1)
        .and_then(|before| quantiles.get(before))
        .copied();
    let part = match (before, quantiles.get(done)) {
        (Some(from), Some(to)) if to > &from => (time - from) / (to - from),
        _ => 0.0,
    };
    (done as f64 + part) / quantiles.len().max(1) as f64
}

impl ChartGrid {
    fn size(&self) -> (usize, usize) {
        (self.cells.first().map_or(0, Vec::len), self.cells.len())
    }

    fn draw_braille(&mut self, curves: &[Curve<'_>], axis: &LogTimeAxis) {
        let (columns, rows) = self.size();
        let (wide, high) = (columns * DOTS_ACROSS, rows * DOTS_DOWN);
        for curve in curves {
            let mut before = None;
            for (x, y) in curve_rows(curve, axis, wide, high.saturating_sub(1))
                .into_iter()
                .enumerate()
            {
                // Fills the gaps of a steep curve.
                for y in y..=before.map_or(y, |before: usize| before.saturating_sub(1).max(y)) {
                    let dot = DOT_BITS
                        .get(y % DOTS_DOWN)
                        .and_then(|row| row.get(x % DOTS_ACROSS))
                        .copied()
                        .unwrap_or_default();
                    if let Some((symbol, style)) = self
                        .cells
                        .get_mut(y / DOTS_DOWN)
                        .and_then(|row| row.get_mut(x / DOTS_ACROSS))
                    {
                        if *symbol == ' ' {
                            *style = curve.style;
                        }
                        let dots = u32::from(*symbol).max(BLANK_BRAILLE) | dot;
                        *symbol = char::from_u32(dots).unwrap_or(' ');
                    }
                }
                before = Some(y);
            }
        }
    }

    /// Marks a cell in which several curves meet with a star.
    fn draw_letters(&mut self, curves: &[Curve<'_>], axis: &LogTimeAxis) {
        let (columns, rows) = self.size();
        for curve in curves {
            let letter = curve.label.chars().next().unwrap_or('*');
            for (x, y) in curve_rows(curve, axis, columns, rows.saturating_sub(1))
                .into_iter()
                .enumerate()
            {
                if let Some(cell) = self.cells.get_mut(y).and_then(|row| row.get_mut(x)) {
                    *cell = match cell.0 {
                        ' ' => (letter, curve.style),
                        _ => ('*', cell.1),
                    };
                }
            }
        }
    }

    /// Writes the label right of its curve, or else left of it, as near to the median as there are
    /// blank cells. False if there are none.
    fn place_curve_label(&mut self, curve: &Curve<'_>, axis: &LogTimeAxis) -> bool {
        let (columns, rows) = self.size();
        let width = text::width(&curve.label);
        let places = curve_rows(curve, axis, columns, rows.saturating_sub(1));
        let mut by_distance: Vec<usize> = (1..rows.saturating_sub(1)).collect();
        by_distance.sort_by_key(|row| row.abs_diff(rows / 2));
        for row in by_distance {
            let right = places.partition_point(|place| *place >= row) + 1;
            let left = places
                .partition_point(|place| *place > row)
                .checked_sub(width + 2);
            for start in [Some(right), left].into_iter().flatten() {
                let blank = start.saturating_sub(1)..start + width + 1;
                let cells = self.cells.get_mut(row);
                let Some(free) = cells
                    .and_then(|cells| cells.get_mut(blank.start..blank.end.min(columns)))
                    .filter(|cells| {
                        start + width <= columns && cells.iter().all(|cell| cell.0 == ' ')
                    })
                else {
                    continue;
                };
                let skipped = start - blank.start;
                for (cell, symbol) in free.iter_mut().skip(skipped).zip(curve.label.chars()) {
                    *cell = (symbol, curve.style);
                }
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample_curve<'a>(label: &str, quantiles: &'a [f64]) -> Curve<'a> {
        Curve {
            label: label.to_owned(),
            style: Style::default(),
            quantiles,
        }
    }

    #[test]
    fn ecdf_rises_from_zero_to_hundred_percent_with_label() {
        let (fast, slow): (Vec<f64>, Vec<f64>) = (1..=64)
            .map(|i| (f64::from(i + 100), f64::from(i + 300)))
            .unzip();
        let curves = [
            sample_curve("fsync +1", &fast),
            sample_curve("open_sync", &slow),
        ];
        let chart = ecdf_chart(&curves, 60, 7, Style::default(), true);
        assert_eq!(
            chart
                .lines
                .iter()
                .map(|line| line.to_string().trim_end().to_owned())
                .collect::<Vec<_>>(),
            [
                " 100 % │               ffffffffffffffffffffffffff***********",
                "       │           ffff                        oo",
                "  50 % │       ffff fsync +1                  o open_sync",
                "       │   ffff                             oo",
                "   0 % │***ooooooooooooooooooooooooooooooooo",
                "       └┬────────────┬────────┬────────────┬───────────────┬",
                "        100 µs    150 µs   200 µs       300 µs        500 µs",
            ]
        );
        assert_eq!(chart.unplaced_labels, [""; 0]);
    }

    proptest! {
        #[test]
        fn curves_are_monotonic_and_fill_the_chart(
            mut times in prop::collection::vec(prop_oneof![Just(f64::NAN), Just(-1.0), Just(1e300), 1.0_f64..1e5], 0..64),
            columns in 0_usize..120,
            rows in 0_usize..20,
            ascii: bool,
        ) {
            times.sort_by(f64::total_cmp);
            let curves = [sample_curve("fdatasync", &times)];
            let drawn = ecdf_chart(&curves, columns, rows, Style::default(), ascii).lines;
            prop_assert!(drawn.is_empty() || drawn.len() == rows);
            for line in &drawn {
                prop_assert_eq!(line.width(), columns);
            }
            if let Some(axis) = LogTimeAxis::from_quantile_curves([times.as_slice()].into_iter()) {
                let places = curve_rows(&curves[0], &axis, 50, 30);
                prop_assert!(places.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
