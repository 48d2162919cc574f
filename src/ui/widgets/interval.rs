//! An estimate on an axis: `├──●──┤`, with the dot at the value and the ends at those of the interval.

use super::text;
use crate::measure::Estimate;
use crate::report::axis::Axis;
use crate::text::bars::{cell, interval};

/// The bar of an estimate in exactly so many columns; what is no time is blank.
pub fn bar(estimate: Estimate, axis: &Axis, columns: usize) -> String {
    let is_time = |us: f64| us.is_finite() && us > 0.0;
    if !is_time(estimate.value) {
        return text::blank(columns);
    }
    let or_value = |end: f64| if is_time(end) { end } else { estimate.value };
    let estimate = Estimate { low: or_value(estimate.low), high: or_value(estimate.high), ..estimate };
    interval(axis.shares(estimate), columns)
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
