//! An axis of ratios, as logarithms: where a candidate of a trial stands against the first, with marks in per cent.
//!
//! Equal ratios take equal room, and the first candidate, at 0 %, is always on it.

use crate::trial::Interval;

/// An axis from one log-ratio to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioAxis {
    low: f64,
    high: f64,
}

/// Per cent that may be marked, those that matter most first.
const MARKS: [f64; 25] = [
    0.0, 10.0, -10.0, 20.0, -20.0, 50.0, -50.0, 100.0, -80.0, 5.0, -5.0, 200.0, -90.0, 2.0, -2.0, 400.0,
    -95.0, 900.0, -98.0, 1.0, -1.0, 1900.0, -99.0, 4900.0, 9900.0,
];
/// An axis reaches at least this far on each side of the first: 5 %.
const LEAST: f64 = 0.05;
/// And at most so far, whatever was measured: a hundredth, and a hundred times.
const MOST: f64 = 4.605_170_185_988_092;

impl RatioAxis {
    /// The axis for these intervals.
    pub fn around(intervals: impl Iterator<Item = Interval>) -> Self {
        let sane = intervals.filter(|found| found.low.is_finite() && found.high.is_finite());
        let (low, high) =
            sane.fold((-LEAST, LEAST), |(low, high), found| (low.min(found.low), high.max(found.high)));
        // A little room beyond the ends, so that they are seen to end.
        let room = 0.04 * (high - low);
        Self { low: (low - room).max(-MOST), high: (high + room).min(MOST) }
    }

    /// The share of the axis at which a log-ratio stands: below 0 or above 1 where it lies outside; 0 for what is no number.
    pub fn share(&self, log: f64) -> f64 {
        let share = (log - self.low) / (self.high - self.low);
        if share.is_finite() { share } else { 0.0 }
    }

    /// Its marks in ascending order, each as a share with its label, no two closer than `apart`.
    pub fn marks(&self, apart: f64) -> Vec<(f64, String)> {
        let mut found: Vec<(f64, String)> = Vec::new();
        for percent in MARKS {
            let log = (percent / 100.0).ln_1p();
            let share = self.share(log);
            let is_near = |(other, _): &(f64, String)| (share - other).abs() < apart;
            if (self.low..=self.high).contains(&log) && !found.iter().any(is_near) {
                let label = if percent == 0.0 { "0 %".to_owned() } else { format!("{percent:+} %") };
                found.push((share, label));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_always_marked_and_marks_stand_apart(low in -9.0_f64..1.0, wide in 0.0_f64..9.0, apart in 0.05_f64..0.5) {
            let interval = Interval { low, value: low, high: low + wide };
            let axis = RatioAxis::around([interval].into_iter());
            let marks = axis.marks(apart);
            prop_assert!(marks.iter().any(|(_, label)| label == "0 %"), "{:?}", marks);
            prop_assert!(marks.windows(2).all(|pair| pair[1].0 - pair[0].0 >= apart - 1e-9), "{:?}", marks);
            prop_assert!(axis.share(low) <= axis.share(low + wide));
        }
    }

    #[test]
    fn what_is_no_number_is_on_no_axis() {
        let axis =
            RatioAxis::around([Interval { low: f64::NEG_INFINITY, value: 0.0, high: f64::NAN }].into_iter());
        assert_eq!(axis, RatioAxis::around(std::iter::empty()));
        assert!(axis.share(f64::NAN) <= 0.0);
    }
}
