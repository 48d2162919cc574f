//! One measurement compared with another of the same place at another time: nothing pairs their
//! rounds, so they are two independent samples.
//!
//! The shift is the median of all ratios between them (Hodges and Lehmann, *Annals of Mathematical
//! Statistics* 34, 1963), its interval that of the rank test of Mann and Whitney (Conover,
//! *Practical Nonparametric Statistics*, ch. 5). Neither assumes a shape. Consecutive rounds are
//! correlated, so runs of them count as one. Two measurements differ more than the rounds of one
//! do. A shift therefore counts only when it also exceeds the drift within either measurement.

use serde::Serialize;

use super::estimate::{Estimate, MEANINGFUL_PERCENT};
use super::order::{self, median, median_of, quantile, sorted};

/// The largest number of runs that the rounds of a measurement are divided into.
const RUNS: usize = 20;

/// The smallest number of runs for a meaningful interval.
const FEWEST: usize = 8;

/// The normal quantile of an interval with a probability of error of 1 %: several methods are
/// compared.
const Z: f64 = 2.576;

/// What became of the latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Moved {
    /// Slower beyond noise and beyond 5 %.
    Slower,
    /// Faster beyond noise and beyond 5 %.
    Faster,
    /// No shift beyond noise.
    Not,
}

/// How a latency moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Shift {
    /// By how much, in percent of what it was, with its 99 % interval; negative when faster.
    pub percent: Estimate,
    /// How far runs of rounds within one measurement lie from its median, in percent: the larger of
    /// both.
    pub drift_percent: f64,
    /// What that comes to.
    pub moved: Moved,
}

/// The shift of the latency, by the medians of the rounds of both measurements; `None` when either
/// has too few.
pub fn shift(before: &[f64], now: &[f64]) -> Option<Shift> {
    let (before, now) = (runs(before)?, runs(now)?);
    let ratios = now.iter().flat_map(|b| before.iter().map(move |a| b / a));
    let ratios = sorted(&ratios.collect::<Vec<f64>>());
    let cut = ranks_outside(before.len(), now.len());
    let last = ratios.len().checked_sub(cut + 1)?;
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let percent = Estimate {
        value: percent(median(&ratios)),
        low: percent(*ratios.get(cut)?),
        high: percent(*ratios.get(last)?),
    };
    let drift = drift(&before).max(drift(&now));
    let bound = MEANINGFUL_PERCENT.max(drift);
    // Halving the latency is as large a shift as doubling it.
    let moved = if percent.low > bound {
        Moved::Slower
    } else if percent.high < 100.0 * (100.0 / (100.0 + bound) - 1.0) {
        Moved::Faster
    } else {
        Moved::Not
    };
    Some(Shift {
        percent,
        drift_percent: drift,
        moved,
    })
}

/// The medians of runs of rounds, in order; `None` when there are too few or one is not positive.
fn runs(rounds: &[f64]) -> Option<Vec<f64>> {
    let runs = order::runs(rounds, RUNS);
    (runs.len() >= FEWEST && runs.iter().all(|us| us.is_finite() && *us > 0.0)).then_some(runs)
}

/// The distance within which nine of ten runs of a measurement lie from its median, in percent.
fn drift(runs: &[f64]) -> f64 {
    let median = median_of(runs);
    let away = |us: &f64| 100.0 * ((us / median).max(median / us) - 1.0);
    quantile(&sorted(&runs.iter().map(away).collect::<Vec<f64>>()), 0.9)
}

/// The number of ratios at each end outside the interval, by the normal approximation.
fn ranks_outside(n: usize, m: usize) -> usize {
    let (n, m) = (n as f64, m as f64);
    let rank = n * m / 2.0 - Z * (n * m * (n + m + 1.0) / 12.0).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank, at least 0"
    )]
    let rank = rank.floor().max(0.0) as usize;
    rank
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Conover, table A7: quantiles of the Mann-Whitney statistic, p = 0.005.
        for (n, m, rank) in [(8, 8, 7), (10, 10, 16), (20, 20, 105)] {
            assert!(
                ranks_outside(n, m).abs_diff(rank) <= 1,
                "{n} {m}: {}",
                ranks_outside(n, m)
            );
        }
    }

    #[test]
    fn too_few_rounds_say_nothing() {
        let rounds = [100.0; 20];
        assert_eq!(shift(&rounds[..7], &rounds), None);
        assert_eq!(shift(&rounds, &rounds[..7]), None);
        assert_eq!(shift(&rounds, &[0.0; 20]), None);
        assert_eq!(shift(&[], &[]), None);
    }

    #[test]
    fn a_shift_is_as_large_as_it_was_made() {
        let quiet: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i % 3)).collect();
        for (factor, moved) in [
            (0.5, Moved::Faster),
            (0.9, Moved::Faster),
            (0.97, Moved::Not),
            (1.0, Moved::Not),
            (1.04, Moved::Not),
            (1.2, Moved::Slower),
            (3.0, Moved::Slower),
        ] {
            let other: Vec<f64> = quiet.iter().map(|us| us * factor).collect();
            let shift = shift(&quiet, &other).unwrap();
            assert_eq!(shift.moved, moved, "{factor} {shift:?}");
            assert!(
                (shift.percent.value - 100.0 * (factor - 1.0)).abs() < 2.0,
                "{factor} {shift:?}"
            );
        }
    }

    #[test]
    fn what_one_run_drifts_by_is_no_shift() {
        let drifting: Vec<f64> = (0..60).map(|i| 100.0 + 2.0 * f64::from(i)).collect();
        let late: Vec<f64> = drifting.iter().map(|us| us * 1.3).collect();
        assert_eq!(shift(&drifting, &late).unwrap().moved, Moved::Not);
    }

    proptest! {
        #[test]
        fn both_ways_are_mirrors(
            before in prop::collection::vec(50.0..500.0f64, 8..90),
            now in prop::collection::vec(50.0..500.0f64, 8..90),
        ) {
            let (there, back) = (shift(&before, &now).unwrap(), shift(&now, &before).unwrap());
            let mirror = |percent: f64| 100.0 * (100.0 / (100.0 + percent) - 1.0);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + a.abs());
            prop_assert!(near(there.percent.low, mirror(back.percent.high)), "{there:?} {back:?}");
            prop_assert!(near(there.percent.high, mirror(back.percent.low)), "{there:?} {back:?}");
            let turned = match back.moved {
                Moved::Slower => Moved::Faster,
                Moved::Faster => Moved::Slower,
                Moved::Not => Moved::Not,
            };
            prop_assert_eq!(there.moved, turned);
            prop_assert!(there.percent.low <= there.percent.value && there.percent.value <= there.percent.high);
        }

        #[test]
        fn nothing_is_moved_from_itself(rounds in prop::collection::vec(50.0..500.0f64, 8..200)) {
            prop_assert_eq!(shift(&rounds, &rounds).unwrap().moved, Moved::Not);
        }
    }
}
