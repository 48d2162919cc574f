//! The share of commits done within a time, as curves on a logarithmic axis: braille dots, or
//! letters where there is only ASCII.

use super::{axis, text};
use crate::report::axis::Axis;
use crate::text::bars::cell;

/// A curve with the letter it is named by.
pub struct Curve<'a> {
    pub letter: char,
    /// Times in ascending order, at equal steps of the share.
    pub quantiles: &'a [f64],
}

/// Dots of a braille cell: two columns of four.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
const ACROSS: usize = 2;
const DOWN: usize = 4;
/// The first braille character, which has no dot.
const BLANK: u32 = 0x2800;
/// Columns of the scale at the left.
const SCALE: usize = 8;

/// The curves with both their scales, in so many columns and rows; nothing where there is no room
/// for them.
pub fn lines(curves: &[Curve<'_>], columns: usize, rows: usize, ascii: bool) -> Vec<String> {
    let (inner, high) = (columns.saturating_sub(SCALE), rows.saturating_sub(2));
    let axis = Axis::around_quantiles(curves.iter().map(|curve| curve.quantiles));
    let Some(axis) = axis.filter(|_| high >= 3) else {
        return Vec::new();
    };
    let Some([ticks, labels]) = axis::lines(&axis, inner) else {
        return Vec::new();
    };
    let drawn = if ascii {
        letters(curves, &axis, inner, high)
    } else {
        dots(curves, &axis, inner, high)
    };
    let scale = |row: usize| match row {
        0 => "100 %",
        row if row == high / 2 => "50 %",
        row if row + 1 == high => "0 %",
        _ => "",
    };
    let with_scale = |(row, drawn)| format!("{:>6} │{drawn}", scale(row));
    let mut lines: Vec<String> = drawn.into_iter().enumerate().map(with_scale).collect();
    lines.push(format!("{}└{ticks}", text::blank(SCALE - 1)));
    lines.push(format!("{}{labels}", text::blank(SCALE)));
    lines
}

/// The place of the curve in each of so many columns, from 0 at the top to `last` at the bottom.
fn places(curve: &Curve<'_>, axis: &Axis, columns: usize, last: usize) -> Vec<usize> {
    let at = |column: usize| {
        let time = axis.time(column as f64 / columns.saturating_sub(1).max(1) as f64);
        last - cell(share(curve.quantiles, time), last)
    };
    let mut lowest = last;
    let falls_never = |column| {
        lowest = lowest.min(at(column));
        lowest
    };
    (0..columns).map(falls_never).collect()
}

/// The share of commits done within a time.
fn share(quantiles: &[f64], time: f64) -> f64 {
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

fn dots(curves: &[Curve<'_>], axis: &Axis, columns: usize, rows: usize) -> Vec<String> {
    let (wide, high) = (columns * ACROSS, rows * DOWN);
    let mut cells = vec![vec![BLANK; columns]; rows];
    for curve in curves {
        let mut before = None;
        for (x, y) in places(curve, axis, wide, high.saturating_sub(1))
            .into_iter()
            .enumerate()
        {
            // A steep curve has no holes.
            for y in y..=before.map_or(y, |before: usize| before.saturating_sub(1).max(y)) {
                let dot = DOTS
                    .get(y % DOWN)
                    .and_then(|row| row.get(x % ACROSS))
                    .copied()
                    .unwrap_or_default();
                if let Some(cell) = cells
                    .get_mut(y / DOWN)
                    .and_then(|row| row.get_mut(x / ACROSS))
                {
                    *cell |= dot;
                }
            }
            before = Some(y);
        }
    }
    let drawn = |cell: &u32| {
        if *cell == BLANK {
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

/// The letter of each curve in each column; a star where several meet.
fn letters(curves: &[Curve<'_>], axis: &Axis, columns: usize, rows: usize) -> Vec<String> {
    let mut cells = vec![vec![' '; columns]; rows];
    for curve in curves {
        for (x, y) in places(curve, axis, columns, rows.saturating_sub(1))
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
            lines(&curves, 48, 7, true)
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
            let drawn = lines(&curve, columns, rows, ascii);
            prop_assert!(drawn.is_empty() || drawn.len() == rows);
            for line in &drawn {
                prop_assert_eq!(text::width(line), columns);
            }
            if let Some(axis) = Axis::around_quantiles([times.as_slice()].into_iter()) {
                let places = places(&curve[0], &axis, 50, 30);
                prop_assert!(places.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
