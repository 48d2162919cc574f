//! Draws the share of commits that complete within a time, as curves on a logarithmic time axis.
//!
//! Curves are braille dots, or letters in ASCII.

use super::{axis, text};
use crate::report::time_axis::LogTimeAxis;
use crate::text::bars::cell_index;

pub struct Curve<'a> {
    pub letter: char,
    /// Times in ascending order, at equal steps of the share of commits.
    pub quantiles: &'a [f64],
}

/// Bits of a braille cell's dots: four rows of two.
const DOT_BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
const DOTS_ACROSS: usize = 2;
const DOTS_DOWN: usize = 4;
const BLANK_BRAILLE: u32 = 0x2800;
const SCALE_WIDTH: usize = 8;

/// Returns the lines of the curves and both scales; empty if there are too few columns or rows.
pub fn ecdf_lines(curves: &[Curve<'_>], columns: usize, rows: usize, ascii: bool) -> Vec<String> {
    let (inner, high) = (columns.saturating_sub(SCALE_WIDTH), rows.saturating_sub(2));
    let axis = LogTimeAxis::from_quantile_curves(curves.iter().map(|curve| curve.quantiles));
    let Some(axis) = axis.filter(|_| high >= 3) else {
        return Vec::new();
    };
    let Some([ticks, labels]) = axis::axis_lines(&axis, inner) else {
        return Vec::new();
    };
    let drawn = if ascii {
        draw_letter_curves(curves, &axis, inner, high)
    } else {
        draw_braille_curves(curves, &axis, inner, high)
    };
    let scale = |row: usize| match row {
        0 => "100 %",
        row if row == high / 2 => "50 %",
        row if row + 1 == high => "0 %",
        _ => "",
    };
    let with_scale = |(row, drawn)| format!("{:>6} │{drawn}", scale(row));
    let mut lines: Vec<String> = drawn.into_iter().enumerate().map(with_scale).collect();
    lines.push(format!("{}└{ticks}", text::spaces(SCALE_WIDTH - 1)));
    lines.push(format!("{}{labels}", text::spaces(SCALE_WIDTH)));
    lines
}

/// Returns the row of the curve in each column, from 0 at the top to `last` at the bottom.
fn curve_rows(curve: &Curve<'_>, axis: &LogTimeAxis, columns: usize, last: usize) -> Vec<usize> {
    let at = |column: usize| {
        let time = axis.time_at(column as f64 / columns.saturating_sub(1).max(1) as f64);
        last - cell_index(share_within(curve.quantiles, time), last)
    };
    let mut lowest = last;
    let falls_never = |column| {
        lowest = lowest.min(at(column));
        lowest
    };
    (0..columns).map(falls_never).collect()
}

/// Returns the share of commits, from 0 to 1, that complete within `time`, interpolated between the
/// quantiles.
fn share_within(quantiles: &[f64], time: f64) -> f64 {
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

fn draw_braille_curves(
    curves: &[Curve<'_>],
    axis: &LogTimeAxis,
    columns: usize,
    rows: usize,
) -> Vec<String> {
    let (wide, high) = (columns * DOTS_ACROSS, rows * DOTS_DOWN);
    let mut cells = vec![vec![BLANK_BRAILLE; columns]; rows];
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
                if let Some(cell) = cells
                    .get_mut(y / DOTS_DOWN)
                    .and_then(|row| row.get_mut(x / DOTS_ACROSS))
                {
                    *cell |= dot;
                }
            }
            before = Some(y);
        }
    }
    let drawn = |cell: &u32| {
        if *cell == BLANK_BRAILLE {
            ' '
        } else {
            char::from_u32(*cell).unwrap_or(' ')
        }
    };
    cells
        .iter()
        .map(|row| row.iter().map(drawn).collect())
        .collect()
}

/// Marks a cell in which several curves meet with a star.
fn draw_letter_curves(
    curves: &[Curve<'_>],
    axis: &LogTimeAxis,
    columns: usize,
    rows: usize,
) -> Vec<String> {
    let mut cells = vec![vec![' '; columns]; rows];
    for curve in curves {
        for (x, y) in curve_rows(curve, axis, columns, rows.saturating_sub(1))
            .into_iter()
            .enumerate()
        {
            if let Some(cell) = cells.get_mut(y).and_then(|row| row.get_mut(x)) {
                *cell = if *cell == ' ' { curve.letter } else { '*' };
            }
        }
    }
    cells.iter().map(|row| row.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_curve_rises_from_nothing_to_all() {
        let (fast, slow): (Vec<f64>, Vec<f64>) = (1..=64)
            .map(|i| (f64::from(i + 100), f64::from(i + 300)))
            .unzip();
        let curves = [
            Curve {
                letter: 'a',
                quantiles: &fast,
            },
            Curve {
                letter: 'b',
                quantiles: &slow,
            },
        ];
        assert_eq!(
            ecdf_lines(&curves, 48, 7, true)
                .iter()
                .map(|line| line.trim_end())
                .collect::<Vec<_>>(),
            [
                " 100 % │           aaaaaaaaaaaaaaaaaaaa*********",
                "       │         aa                   b",
                "  50 % │      aaa                    b",
                "       │  aaaa                      b",
                "   0 % │**bbbbbbbbbbbbbbbbbbbbbbbbbb",
                "       └┬─────────┬──────┬─────────┬───────────┬",
                "        100 µs 150 µs 200 µs    300 µs    500 µs",
            ]
        );
    }

    proptest! {
        #[test]
        fn curves_never_fall_and_fill_their_room(
            mut times in prop::collection::vec(prop_oneof![Just(f64::NAN), Just(-1.0), Just(1e300), 1.0_f64..1e5], 0..64),
            columns in 0_usize..120,
            rows in 0_usize..20,
            ascii: bool,
        ) {
            times.sort_by(f64::total_cmp);
            let curve = [Curve { letter: 'a', quantiles: &times }];
            let drawn = ecdf_lines(&curve, columns, rows, ascii);
            prop_assert!(drawn.is_empty() || drawn.len() == rows);
            for line in &drawn {
                prop_assert_eq!(text::width(line), columns);
            }
            if let Some(axis) = LogTimeAxis::from_quantile_curves([times.as_slice()].into_iter()) {
                let places = curve_rows(&curve[0], &axis, 50, 30);
                prop_assert!(places.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
