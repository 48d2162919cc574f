//! Confidence intervals from signed ranks, without assumptions about drift, bursts or tails.
//! Candidates run in random order in each block, so the log-ratio of two candidates is symmetric
//! about the true value.
//!
//! Log-ratios of different blocks are independent, so the probabilities of Wilcoxon's signed-rank
//! test are exact.

use crate::measure::Estimate;

/// The interval of a log-ratio of two candidates' throughput.
pub type LogRatioInterval = Estimate;

impl LogRatioInterval {
    /// Intersects two intervals that hold at the same time, such as those of two analyses of one
    /// trial. Chance makes the intervals disjoint in at most one trial of twenty; then the earlier
    /// interval stays.
    #[must_use]
    pub(crate) fn intersection_or_self(self, later: Self) -> Self {
        let (low, high) = (self.low.max(later.low), self.high.min(later.high));
        if low > high {
            self
        } else {
            Self {
                low,
                value: later.value.clamp(low, high),
                high,
            }
        }
    }
}

/// Means of all pairs of values, each value paired with itself too. Both ends of an interval are
/// such means; the estimate is their median (Hodges and Lehmann 1963).
pub struct WalshAverages(Vec<f64>);

impl WalshAverages {
    pub fn new(values: &[f64]) -> Self {
        let of = |(at, a): (usize, &f64)| {
            let a = *a;
            values
                .iter()
                .skip(at)
                .map(move |b| f64::midpoint(a, *b))
                .collect::<Vec<_>>()
        };
        Self(values.iter().enumerate().flat_map(of).collect())
    }

    /// The Walsh average of rank `nth`, counted from 0 for the smallest.
    fn nth_smallest(&mut self, nth: usize) -> Option<f64> {
        (nth < self.0.len()).then(|| *self.0.select_nth_unstable_by(nth, f64::total_cmp).1)
    }

    /// The average of rank `cut`, as the low end of a confidence interval. Its error probability is
    /// at most the `alpha` for which [`excluded_average_count`] returned `cut`.
    pub fn lower_bound(&mut self, cut: usize) -> Option<f64> {
        self.nth_smallest(cut)
    }

    /// The high end of the interval; [`Self::lower_bound`] returns the low end.
    pub fn upper_bound(&mut self, cut: usize) -> Option<f64> {
        self.nth_smallest(self.0.len().checked_sub(cut + 1)?)
    }

    pub fn median(&mut self) -> Option<f64> {
        let half = self.0.len() / 2;
        let upper = self.nth_smallest(half)?;
        if self.0.len() % 2 == 1 {
            Some(upper)
        } else {
            Some(f64::midpoint(self.nth_smallest(half - 1)?, upper))
        }
    }
}

/// Number of lowest or highest Walsh averages of `blocks` values that a bound with error
/// probability `alpha` leaves out; `None` with too few values.
///
/// The number is the largest c with P(T ≤ c) ≤ alpha for the sum T of randomly signed ranks
/// (Lehmann, *Nonparametrics*, ch. 3 and 4; Rosenbaum, *Observational Studies*, ch. 2).
pub fn excluded_average_count(blocks: usize, alpha: f64) -> Option<usize> {
    let most = blocks * (blocks + 1) / 2;
    // `probability[t]` is P(T = t): each rank is in the sum T with probability 1/2.
    let mut probability = vec![0.0; most + 1];
    *probability.first_mut()? = 1.0;
    for rank in 1..=blocks {
        let before = probability.clone();
        for (t, p) in probability.iter_mut().enumerate() {
            let with = t
                .checked_sub(rank)
                .and_then(|rest| before.get(rest))
                .copied()
                .unwrap_or(0.0);
            *p = f64::midpoint(*p, with);
        }
    }
    let tail = |sum: &mut f64, p: &f64| {
        *sum += p;
        Some(*sum)
    };
    probability
        .iter()
        .scan(0.0, tail)
        .take_while(|sum| *sum <= alpha)
        .count()
        .checked_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn excluded_counts_match_signed_rank_tables() {
        // Hollander and Wolfe, table A.4: one-sided.
        let table = [
            (4, 0.05, None),
            (5, 0.05, Some(0)),
            (8, 0.05, Some(5)),
            (10, 0.05, Some(10)),
            (10, 0.01, Some(5)),
            (15, 0.05, Some(30)),
            (20, 0.025, Some(52)),
        ];
        for (blocks, alpha, found) in table {
            assert_eq!(
                excluded_average_count(blocks, alpha),
                found,
                "{blocks} at {alpha}"
            );
        }
        assert_eq!(excluded_average_count(0, 0.05), None);
    }

    #[test]
    fn walsh_averages_of_known_values() {
        let mut walsh = WalshAverages::new(&[1.0, 2.0, 4.0]);
        // The averages are 1, 1.5, 2, 2.5, 3 and 4.
        assert_eq!(
            (walsh.lower_bound(1), walsh.upper_bound(1), walsh.median()),
            (Some(1.5), Some(3.0), Some(2.25))
        );
        assert_eq!((walsh.lower_bound(6), walsh.upper_bound(6)), (None, None));
        assert_eq!(WalshAverages::new(&[]).median(), None);
    }

    proptest! {
        #[test]
        fn negated_values_mirror_the_bounds(values in prop::collection::vec(-3.0..3.0f64, 6..30)) {
            let turned: Vec<f64> = values.iter().map(|v| -v).collect();
            let (mut one, mut two) = (WalshAverages::new(&values), WalshAverages::new(&turned));
            let cut = excluded_average_count(values.len(), 0.05).unwrap();
            let (low, high) = (one.lower_bound(cut).unwrap(), one.upper_bound(cut).unwrap());
            prop_assert!((low + two.upper_bound(cut).unwrap()).abs() < 1e-12);
            prop_assert!(low <= one.median().unwrap() && one.median().unwrap() <= high);
        }
    }
}
