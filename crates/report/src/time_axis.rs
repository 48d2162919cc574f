//! A logarithmic axis of latencies. Latencies are compared by their ratio, so equal ratios take
//! equal space.

use std::ops::RangeInclusive;

use walwise_measure::measure::Estimate;

/// Both ends are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogTimeAxis {
    low: f64,
    high: f64,
}

const COARSE_TICK_FIGURES: [f64; 3] = [1.0, 2.0, 5.0];
const FINE_TICK_FIGURES: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
/// Below this ratio of high to low, the ends of the axis may be any of [`FINE_TICK_FIGURES`] times
/// a power of ten.
const FINE_ENDS_BELOW: f64 = 4.0;
const FINE_TICKS_BELOW: f64 = 10.0;
/// The smallest ratio of the high end to the low end.
const MIN_RATIO: f64 = 2.0;
/// Times outside this range, in microseconds, are not commit latencies.
const VALID_TIMES: RangeInclusive<f64> = 1e-3..=1e12;

impl LogTimeAxis {
    /// Makes an axis that covers all valid spans of (low, high) in microseconds. Ends are rounded
    /// outwards to round figures. `None` without a valid span.
    pub fn from_spans(spans: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let sane =
            spans.filter(|(low, high)| VALID_TIMES.contains(low) && VALID_TIMES.contains(high));
        let (low, high) = sane.fold((f64::INFINITY, 0.0_f64), |(low, high), (from, to)| {
            (low.min(from.min(to)), high.max(from.max(to)))
        });
        if low > high {
            return None;
        }
        let figures: &[f64] = if high / low < FINE_ENDS_BELOW {
            &FINE_TICK_FIGURES
        } else {
            &COARSE_TICK_FIGURES
        };
        // The factors near 1 absorb rounding errors of the powers of ten in `tick_values_between`.
        let low = tick_values_between(low / 10.0, low * 1.000_001, figures)
            .last()
            .copied()?;
        let high = high.max(low * MIN_RATIO) * 0.999_999;
        let high = tick_values_between(high, high * 20.0, figures)
            .first()
            .copied()?;
        Some(Self { low, high })
    }

    /// Makes an axis with these ends, in microseconds, without rounding. `None` if an end is
    /// invalid or the ends are not ascending.
    pub fn from_ends(low: f64, high: f64) -> Option<Self> {
        (VALID_TIMES.contains(&low) && VALID_TIMES.contains(&high) && low < high)
            .then_some(Self { low, high })
    }

    /// Makes an axis for curves, each a list of ascending times. Times above the 97th percentile
    /// are ignored, so that the slowest commits do not stretch the axis.
    pub fn from_quantile_curves<'q>(curves: impl Iterator<Item = &'q [f64]>) -> Option<Self> {
        let span = |all: &[f64]| {
            Some((
                *all.first()?,
                *all.get(all.len().saturating_sub(1) * 97 / 100)?,
            ))
        };
        Self::from_spans(curves.filter_map(span))
    }

    /// The position of a time, 0 at the low end and 1 at the high end. Times off the axis give
    /// values outside 0–1; negative times give NaN.
    pub fn position_of_time(&self, us: f64) -> f64 {
        (us / self.low).ln() / (self.high / self.low).ln()
    }

    pub fn positions_of_estimate(&self, estimate: Estimate) -> [f64; 3] {
        [estimate.low, estimate.value, estimate.high].map(|us| self.position_of_time(us))
    }

    pub fn time_at_position(&self, share: f64) -> f64 {
        self.low * (self.high / self.low).powf(share)
    }

    /// Ticks in ascending order: the position on the axis, and a label such as `150 µs`.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let figures: &[f64] = if self.high / self.low < FINE_TICKS_BELOW {
            &FINE_TICK_FIGURES
        } else {
            &COARSE_TICK_FIGURES
        };
        tick_values_between(self.low * 0.999_999, self.high * 1.000_001, figures)
            .into_iter()
            .map(|us| (self.position_of_time(us), time_label(us)))
            .collect()
    }
}

fn tick_values_between(from: f64, to: f64, figures: &[f64]) -> Vec<f64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the decade of a plausible time"
    )]
    let decade = |us: f64| us.log10().floor() as i32;
    (decade(from)..=decade(to))
        .flat_map(|tens| figures.iter().map(move |one| one * 10_f64.powi(tens)))
        .filter(|mark| (from..=to).contains(mark))
        .collect()
}

fn time_label(us: f64) -> String {
    let (figure, unit) = match us {
        us if us < 1e3 => (us, "µs"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    let figure = format!("{figure:.2}");
    format!(
        "{} {unit}",
        figure.trim_end_matches('0').trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_are_round_and_at_least_a_factor_of_two_apart() {
        let axis = |low, high| LogTimeAxis::from_spans([(low, high)].into_iter()).unwrap();
        assert_eq!(
            axis(178.0, 187.0),
            LogTimeAxis {
                low: 150.0,
                high: 300.0
            }
        );
        assert_eq!(
            axis(120.0, 480.0),
            LogTimeAxis {
                low: 100.0,
                high: 500.0
            }
        );
        assert_eq!(
            axis(100.0, 100.0),
            LogTimeAxis {
                low: 100.0,
                high: 200.0
            }
        );
    }

    #[test]
    fn invalid_times_give_no_axis() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
            assert_eq!(LogTimeAxis::from_spans([(value, value)].into_iter()), None);
            assert_eq!(LogTimeAxis::from_ends(value, 10.0), None);
        }
        assert_eq!(LogTimeAxis::from_ends(10.0, 10.0), None);
    }

    proptest! {
        #[test]
        fn axis_contains_values_and_ticks(low in 0.001_f64..1e9, factor in 1.0_f64..1e3) {
            let high = low * factor;
            let axis = LogTimeAxis::from_spans([(low, high)].into_iter()).unwrap();
            prop_assert!(axis.low <= low && high <= axis.high && axis.high >= axis.low * 1.99, "{:?}", axis);
            let shares: Vec<f64> = axis.ticks().into_iter().map(|(share, _)| share).collect();
            prop_assert!(shares.len() >= 2 && shares.is_sorted(), "{:?}", shares);
            prop_assert!(shares.iter().all(|share| (-1e-6..=1.000_001).contains(share)), "{:?}", shares);
            let back = axis.time_at_position(axis.position_of_time(low));
            prop_assert!((back / low - 1.0).abs() < 1e-9, "{}", back);
        }
    }
}
