//! An estimate on an axis: `├──●──┤`, with the dot at the value and the ends at those of the interval.

use std::cmp::Ordering::{Equal, Greater, Less};

use super::axis::{Axis, AxisColumns as _, cell};
use super::text;
use crate::measure::Estimate;

/// The bar of an estimate in exactly so many columns. What lies off the axis is an arrow at its edge; what is no time is
/// blank.
pub fn bar(estimate: Estimate, axis: &Axis, columns: usize) -> String {
    let is_time = estimate.value.is_finite() && estimate.value > 0.0;
    if !is_time || columns == 0 {
        return text::blank(columns);
    }
    let or_value = |end: f64| if end.is_finite() && end > 0.0 { end } else { estimate.value };
    let (low, high) = (or_value(estimate.low), or_value(estimate.high));
    let column = |us| axis.column(us, columns);
    let last = columns.saturating_sub(1);
    let edge = |us, at: usize, end| match axis.place(us) {
        Equal => (at, end),
        Less => (0, '◂'),
        Greater => (last, '▸'),
    };
    let (from, from_mark) = edge(low, column(low), '├');
    let (to, to_mark) = edge(high, column(high), '┤');
    let at = edge(estimate.value, column(estimate.value), '●');
    drawn([(from, from_mark), at, (to, to_mark)], columns)
}

/// An interval by the columns and marks of its lower end, its middle and its upper end.
fn drawn([(from, from_mark), (at, mark), (to, to_mark)]: [(usize, char); 3], columns: usize) -> String {
    let drawn = (0..columns).map(|column| match column {
        column if column == at => mark,
        column if column == from => from_mark,
        column if column == to => to_mark,
        column if (from..=to).contains(&column) => '─',
        _ => ' ',
    });
    drawn.collect()
}

/// The bar of an interval by the shares of the field at which its lower end, its middle and its upper end stand; what lies
/// outside is an arrow at the edge.
pub fn bar_of_shares([low, at, high]: [f64; 3], columns: usize) -> String {
    let mark = |share: f64, mark| match share {
        share if share < 0.0 => '◂',
        share if share > 1.0 => '▸',
        _ => mark,
    };
    let place = |share, usual| (cell(share, columns.saturating_sub(1)), mark(share, usual));
    drawn([place(low, '├'), place(at, '●'), place(high, '┤')], columns)
}

/// A share from 0 to 1 as a bar of so many columns.
pub fn progress(share: f64, columns: usize) -> String {
    let done = cell(share, columns);
    (0..columns).map(|column| if column < done { '█' } else { '░' }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis() -> Axis {
        Axis::between(10.0, 1_000.0).unwrap()
    }

    #[test]
    fn the_dot_stands_between_the_ends() {
        let drawn = |value, low, high| bar(Estimate { value, low, high }, &axis(), 11);
        assert_eq!(drawn(100.0, 40.0, 250.0), "   ├─●─┤   ");
        assert_eq!(drawn(100.0, 100.0, 100.0), "     ●     ");
        assert_eq!(drawn(100.0, 1.0, 9_000.0), "◂────●────▸");
        assert_eq!(drawn(1.0, 1.0, 1.0), "◂          ");
        assert_eq!(drawn(5_000.0, 5_000.0, 5_000.0), "          ▸");
    }

    proptest! {
        #[test]
        fn whatever_is_estimated_fills_its_columns(
            figures in prop::array::uniform3(prop_oneof![
                Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(0.0), Just(1e300), 1e-3_f64..1e6,
            ]),
            columns in 0_usize..80,
        ) {
            let [value, low, high] = figures;
            let drawn = bar(Estimate { value, low, high }, &axis(), columns);
            prop_assert_eq!(drawn.chars().count(), columns);
            prop_assert_eq!(progress(value, columns).chars().count(), columns);
        }
    }
}
