//! Compares two measurements of one directory, made at different times. Nothing pairs their rounds,
//! so both are independent samples. No distribution is assumed.
//!
//! Two measurements differ more than the rounds of a single measurement. A shift therefore counts
//! only if it exceeds the drift within both.

use schemars::JsonSchema;
use serde::Serialize;

use super::order_statistics::{
    self, floor_to_usize, median_of, median_of_sorted, quantile, sorted_copy,
};
use super::{Estimate, MEANINGFUL_PERCENT};

/// A measurement is divided into at most this many runs, because consecutive rounds are correlated.
const MAX_RUNS: usize = 20;

const MIN_RUNS: usize = 8;

/// Normal quantile for an error probability of 1 %, as several methods are compared.
const Z_99_PERCENT: f64 = 2.576;

/// Direction of a latency change; `not` if the change is within noise or at most 5 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShiftDirection {
    /// The commits are slower, by more than noise and by more than 5 %.
    Slower,
    /// The commits are faster, by more than noise and by more than 5 %.
    Faster,
    /// The change is within noise, or at most 5 %.
    Not,
}

/// Change of the median latency from an earlier to a later measurement, whose rounds are not
/// paired.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyShift {
    /// Change in percent of the earlier latency, with its 99 % interval; negative if faster.
    pub percent: Estimate,
    /// Drift within a measurement: nine of ten runs lie this close to the median, in percent. The
    /// larger value of both measurements.
    pub drift_percent: f64,
    pub moved: ShiftDirection,
}

/// `before` and `now` are medians of rounds. `None` with fewer than eight rounds in a measurement,
/// or if the median of a run of rounds is not positive.
///
/// The change is the median of all ratios of a later to an earlier median (Hodges and Lehmann,
/// *Annals of Mathematical Statistics* 34, 1963). The interval is that of the Mann-Whitney test
/// (Conover, *Practical Nonparametric Statistics*, ch. 5).
pub fn estimate_latency_shift(before: &[f64], now: &[f64]) -> Option<LatencyShift> {
    let (before, now) = (positive_run_medians(before)?, positive_run_medians(now)?);
    let ratios = now.iter().flat_map(|b| before.iter().map(move |a| b / a));
    let ratios = sorted_copy(&ratios.collect::<Vec<f64>>());
    let cut = excluded_ratio_count(before.len(), now.len());
    let last = ratios.len().checked_sub(cut + 1)?;
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let percent = Estimate {
        value: percent(median_of_sorted(&ratios)),
        low: percent(*ratios.get(cut)?),
        high: percent(*ratios.get(last)?),
    };
    let drift = drift_percent(&before).max(drift_percent(&now));
    let bound = MEANINGFUL_PERCENT.max(drift);
    // Halving the latency counts as large a shift as doubling it, so the lower limit is the inverse
    // of the upper one.
    let moved = if percent.low > bound {
        ShiftDirection::Slower
    } else if percent.high < 100.0 * (100.0 / (100.0 + bound) - 1.0) {
        ShiftDirection::Faster
    } else {
        ShiftDirection::Not
    };
    Some(LatencyShift {
        percent,
        drift_percent: drift,
        moved,
    })
}

fn positive_run_medians(rounds: &[f64]) -> Option<Vec<f64>> {
    let runs = order_statistics::medians_of_consecutive_runs(rounds, MAX_RUNS);
    (runs.len() >= MIN_RUNS && runs.iter().all(|us| us.is_finite() && *us > 0.0)).then_some(runs)
}

fn drift_percent(runs: &[f64]) -> f64 {
    let median = median_of(runs);
    let away = |us: &f64| 100.0 * ((us / median).max(median / us) - 1.0);
    quantile(
        &sorted_copy(&runs.iter().map(away).collect::<Vec<f64>>()),
        0.9,
    )
}

/// Number of ratios outside the interval at each end, for `n` and `m` medians (normal approximation
/// of the Mann-Whitney test).
fn excluded_ratio_count(n: usize, m: usize) -> usize {
    let (n, m) = (n as f64, m as f64);
    floor_to_usize(n * m / 2.0 - Z_99_PERCENT * (n * m * (n + m + 1.0) / 12.0).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_match_mann_whitney_tables() {
        // Conover, table A7: quantiles of the Mann-Whitney statistic, p = 0.005.
        for (n, m, rank) in [(8, 8, 7), (10, 10, 16), (20, 20, 105)] {
            assert!(
                excluded_ratio_count(n, m).abs_diff(rank) <= 1,
                "{n} {m}: {}",
                excluded_ratio_count(n, m)
            );
        }
    }

    #[test]
    fn too_few_rounds_give_no_shift() {
        let rounds = [100.0; 20];
        assert_eq!(estimate_latency_shift(&rounds[..7], &rounds), None);
        assert_eq!(estimate_latency_shift(&rounds, &rounds[..7]), None);
        assert_eq!(estimate_latency_shift(&rounds, &[0.0; 20]), None);
        assert_eq!(estimate_latency_shift(&[], &[]), None);
    }

    #[test]
    fn shift_matches_simulated_factor() {
        let quiet: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i % 3)).collect();
        for (factor, moved) in [
            (0.5, ShiftDirection::Faster),
            (0.9, ShiftDirection::Faster),
            (0.97, ShiftDirection::Not),
            (1.0, ShiftDirection::Not),
            (1.04, ShiftDirection::Not),
            (1.2, ShiftDirection::Slower),
            (3.0, ShiftDirection::Slower),
        ] {
            let other: Vec<f64> = quiet.iter().map(|us| us * factor).collect();
            let shift = estimate_latency_shift(&quiet, &other).unwrap();
            assert_eq!(shift.moved, moved, "{factor} {shift:?}");
            assert!(
                (shift.percent.value - 100.0 * (factor - 1.0)).abs() < 2.0,
                "{factor} {shift:?}"
            );
        }
    }

    #[test]
    fn drift_within_a_run_is_no_shift() {
        let drifting: Vec<f64> = (0..60).map(|i| 100.0 + 2.0 * f64::from(i)).collect();
        let late: Vec<f64> = drifting.iter().map(|us| us * 1.3).collect();
        assert_eq!(
            estimate_latency_shift(&drifting, &late).unwrap().moved,
            ShiftDirection::Not
        );
    }

    proptest! {
        #[test]
        fn reversed_shift_is_inverse(
            before in prop::collection::vec(50.0..500.0f64, 8..90),
            now in prop::collection::vec(50.0..500.0f64, 8..90),
        ) {
            let (there, back) = (estimate_latency_shift(&before, &now).unwrap(), estimate_latency_shift(&now, &before).unwrap());
            let mirror = |percent: f64| 100.0 * (100.0 / (100.0 + percent) - 1.0);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + a.abs());
            prop_assert!(near(there.percent.low, mirror(back.percent.high)), "{there:?} {back:?}");
            prop_assert!(near(there.percent.high, mirror(back.percent.low)), "{there:?} {back:?}");
            let turned = match back.moved {
                ShiftDirection::Slower => ShiftDirection::Faster,
                ShiftDirection::Faster => ShiftDirection::Slower,
                ShiftDirection::Not => ShiftDirection::Not,
            };
            prop_assert_eq!(there.moved, turned);
            prop_assert!(there.percent.low <= there.percent.value && there.percent.value <= there.percent.high);
        }

        #[test]
        fn identical_measurements_show_no_shift(rounds in prop::collection::vec(50.0..500.0f64, 8..200)) {
            prop_assert_eq!(estimate_latency_shift(&rounds, &rounds).unwrap().moved, ShiftDirection::Not);
        }
    }
}
