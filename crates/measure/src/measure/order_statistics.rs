//! Quantiles, and the interval of a median. They assume no distribution, because latencies are
//! skewed and have bursts.

use super::{ComparisonConclusion, Estimate, MEANINGFUL_PERCENT};

/// Error probability of a single interval. Comparisons of several methods need a smaller
/// probability.
pub const ALPHA: f64 = 0.05;

/// `gain` is the interval of a gain in percent, if there is one.
pub fn conclusion_from_gain(gain: Option<Estimate>) -> ComparisonConclusion {
    match gain {
        Some(gain) if gain.low > MEANINGFUL_PERCENT || gain.high < -MEANINGFUL_PERCENT => {
            ComparisonConclusion::Settled
        }
        Some(gain) if gain.low > -MEANINGFUL_PERCENT && gain.high < MEANINGFUL_PERCENT => {
            ComparisonConclusion::NoMeaningfulDifference
        }
        _ => ComparisonConclusion::NotSettled,
    }
}

/// The gain in percent of a latency that is `ratio` times as long.
pub fn gain_percent(ratio: Estimate) -> Estimate {
    let percent = |ratio: f64| 100.0 * (1.0 - ratio);
    Estimate {
        value: percent(ratio.value),
        low: percent(ratio.high),
        high: percent(ratio.low),
    }
}

/// The integer part; 0 for a negative value.
pub fn floor_to_usize(value: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "such casts saturate"
    )]
    let integer = value as usize;
    integer
}

pub fn sorted_copy(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Nearest-rank quantile of sorted values; 0 without values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = floor_to_usize((share * sorted.len() as f64).ceil());
    let last = sorted.len().saturating_sub(1);
    sorted
        .get(rank.saturating_sub(1).min(last))
        .copied()
        .unwrap_or(0.0)
}

/// The median, in the unit of the values; 0 without values.
pub fn median_of_sorted(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    let at = |i: usize| sorted.get(i).copied().unwrap_or(0.0);
    if sorted.len() % 2 == 1 {
        at(half)
    } else {
        f64::midpoint(at(half.saturating_sub(1)), at(half))
    }
}

pub fn median_of(values: &[f64]) -> f64 {
    median_of_sorted(&sorted_copy(values))
}

/// Divides the values in order into at most `count` runs of about equal length, and returns the
/// median of each run.
pub fn medians_of_consecutive_runs(values: &[f64], count: usize) -> Vec<f64> {
    let count = values.len().min(count);
    let at = |run: usize| run * values.len() / count.max(1);
    (0..count)
        .filter_map(|run| values.get(at(run)..at(run + 1)))
        .map(median_of)
        .collect()
}

/// Median and 99th percentile, in the unit of the values; zeros without values.
pub fn median_and_p99(values: &[f64]) -> (f64, f64) {
    let sorted = sorted_copy(values);
    (median_of_sorted(&sorted), quantile(&sorted, 0.99))
}

/// Median with an interval that errs with probability at most `alpha`. `None` with fewer than 6
/// values for 5 %, or fewer than 8 for 1 %.
///
/// This is the interval of the sign test (Conover, *Practical Nonparametric Statistics*,
/// "confidence interval for a quantile"). Its ends are order statistics whose ranks follow the
/// binomial distribution with p = 1/2.
pub fn median_interval(values: &[f64], alpha: f64) -> Option<Estimate> {
    median_and_inner_span(values, excluded_value_count(values.len(), 0.5, alpha)?)
}

/// The [`median_interval`], or with too few values the span from lowest to highest. Without values,
/// all figures are zero.
pub fn median_interval_or_span(values: &[f64], alpha: f64) -> Estimate {
    let cut = excluded_value_count(values.len(), 0.5, alpha);
    median_and_inner_span(values, cut.unwrap_or(0)).unwrap_or_default()
}

/// The median, with the span of the values without the `cut` lowest and the `cut` highest.
fn median_and_inner_span(values: &[f64], cut: usize) -> Option<Estimate> {
    let sorted = sorted_copy(values);
    Some(Estimate {
        value: median_of_sorted(&sorted),
        low: *sorted.get(cut)?,
        high: *sorted.get(sorted.len().checked_sub(cut + 1)?)?,
    })
}

/// Counts values in four buckets per doubling, as `(upper bound, count)`, without empty buckets at
/// either end.
pub fn log_scale_histogram(values: &[f64]) -> Vec<(f64, u64)> {
    const PER_DOUBLING: f64 = 4.0;
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a time")]
    let bucket = |v: &f64| (v.max(0.01).log2() * PER_DOUBLING).ceil() as i32;
    let mut counts = std::collections::BTreeMap::new();
    for value in values {
        *counts.entry(bucket(value)).or_insert(0u64) += 1;
    }
    let ends = counts.keys().next().zip(counts.keys().next_back());
    let all = ends
        .map(|(first, last)| *first..=*last)
        .into_iter()
        .flatten();
    all.map(|b| {
        (
            (f64::from(b) / PER_DOUBLING).exp2(),
            counts.get(&b).copied().unwrap_or(0),
        )
    })
    .collect()
}

/// A function that gives the quantile of a share, such as 0.95, over all rounds with equal weight.
/// Without weights a slow round, which has fewer operations, would count less.
pub fn quantile_fn_with_equal_round_weight(rounds: &[&[f64]]) -> impl Fn(f64) -> f64 {
    let weigh = |round: &&[f64]| {
        let weight = 1.0 / round.len().max(1) as f64;
        round
            .iter()
            .map(|value| (*value, weight))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<(f64, f64)> = rounds.iter().flat_map(weigh).collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = all.iter().map(|(_, weight)| weight).sum();
    move |share| {
        let mut below = 0.0;
        let reached = |(_, weight): &&(f64, f64)| {
            below += weight;
            below >= share * total * (1.0 - 1e-9)
        };
        all.iter()
            .find(reached)
            .or(all.last())
            .map_or(0.0, |(value, _)| *value)
    }
}

/// Ends of the interval of a quantile over all rounds with equal weight, which errs with
/// probability at most `alpha`. `None` with too few values. The interval follows from that of a
/// share (Woodruff, JASA 1952). Values of a round depend on each other, so their number is
/// reduced to that of independent values with the same variance (Korn and Graubard, *Survey
/// Methodology* 1998).
pub fn quantile_interval(rounds: &[&[f64]], share: f64, alpha: f64) -> Option<[f64; 2]> {
    let quantile = quantile_fn_with_equal_round_weight(rounds);
    let value = quantile(share);
    let above = |round: &&[f64]| {
        round.iter().filter(|v| **v > value).count() as f64 / round.len().max(1) as f64
    };
    let shares: Vec<f64> = rounds.iter().map(above).collect();
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let variance = shares
        .iter()
        .map(|share| (share - mean).powi(2))
        .sum::<f64>()
        / (count * (count - 1.0)).max(1.0);
    let values = rounds.iter().map(|round| round.len()).sum::<usize>();
    let independent = mean * (1.0 - mean) / variance.max(f64::MIN_POSITIVE);
    let effective = if variance > 0.0 {
        floor_to_usize(independent.min(values as f64))
    } else {
        values
    };
    let outside = |share| Some(excluded_value_count(effective, share, alpha)? as f64);
    let (below, above) = (outside(share)?, outside(1.0 - share)?);
    let rank = effective as f64;
    Some([quantile((below + 1.0) / rank), quantile(1.0 - above / rank)])
}

/// Number of values below the interval of the quantile `share`: the largest k with P(Binomial(n,
/// share) < k + 1) ≤ alpha / 2. With `1 - share`, the number of values above the interval. `None`
/// if even the span of all values errs more often than `alpha`.
fn excluded_value_count(n: usize, share: f64, alpha: f64) -> Option<usize> {
    let limit = (alpha / 2.0).ln();
    // The sum uses logarithms because 2^-n underflows from about a thousand rounds on.
    let mut term = n as f64 * (1.0 - share).ln();
    let mut tail = term;
    let mut found = None;
    for k in 0..n {
        if tail > limit {
            break;
        }
        found = Some(k);
        term += ((n - k) as f64 / (k + 1) as f64 * share / (1.0 - share)).ln();
        tail = tail.max(term) + (-(tail - term).abs()).exp().ln_1p();
    }
    found
}

/// Quotients of the values with the same index, without those by 0.
pub(crate) fn paired_ratios(dividends: &[f64], divisors: &[f64]) -> Vec<f64> {
    dividends
        .iter()
        .zip(divisors)
        .filter(|(_, divisor)| **divisor > 0.0)
        .map(|(dividend, divisor)| dividend / divisor)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_match_binomial_tables() {
        // Conover, table of the binomial distribution, p = 1/2.
        let at_5_percent = [
            (5, None),
            (6, Some(0)),
            (9, Some(1)),
            (20, Some(5)),
            (25, Some(7)),
            (50, Some(17)),
        ];
        for (n, cut) in at_5_percent {
            assert_eq!(excluded_value_count(n, 0.5, 0.05), cut, "n = {n}");
        }
        assert_eq!(excluded_value_count(7, 0.5, 0.01), None);
        assert_eq!(excluded_value_count(8, 0.5, 0.01), Some(0));
        assert!(
            excluded_value_count(5_000, 0.5, 0.05).is_some_and(|cut| (2_420..2_440).contains(&cut))
        );
    }

    /// The smallest sample whose largest value exceeds the 99th percentile with a probability of
    /// 97.5 %: 0.99^n ≤ 0.025.
    #[test]
    fn p99_interval_needs_368_values() {
        assert_eq!(excluded_value_count(367, 0.01, 0.05), None);
        assert_eq!(excluded_value_count(368, 0.01, 0.05), Some(0));
        let row: Vec<f64> = (1..=10_000).map(f64::from).collect();
        let [low, high] = quantile_interval(&[&row], 0.99, 0.05).unwrap();
        assert!((9_875.0..=9_885.0).contains(&low), "{low}");
        assert!((9_915.0..=9_925.0).contains(&high), "{high}");
        // Ten equal values in each round count as one.
        let rounds: Vec<Vec<f64>> = row.iter().map(|v| vec![*v; 10]).collect();
        let rounds: Vec<&[f64]> = rounds.iter().map(|round| &round[..]).collect();
        let clustered = quantile_interval(&rounds, 0.99, 0.05).unwrap();
        assert!((clustered[0] - low).abs() < 3.0 && (clustered[1] - high).abs() < 3.0);
    }

    #[test]
    fn quantiles_and_median_match_known_values() {
        let row: Vec<f64> = (1..=100).map(f64::from).collect();
        assert!((quantile(&row, 0.95) - 95.0).abs() < 1e-9);
        assert!((quantile(&row, 1.0) - 100.0).abs() < 1e-9);
        assert!((median_of_sorted(&row) - 50.5).abs() < 1e-9);
        assert!(quantile(&[], 0.5).abs() < 1e-9 && median_of_sorted(&[]).abs() < 1e-9);
    }

    #[test]
    fn histograms_have_no_gaps() {
        assert_eq!(log_scale_histogram(&[]), []);
        let counts: Vec<u64> = log_scale_histogram(&[107.0, 127.0, 180.0])
            .iter()
            .map(|(_, n)| *n)
            .collect();
        assert_eq!(counts, [1, 1, 0, 1]);
    }

    proptest! {
        #[test]
        fn histogram_counts_every_value(values in prop::collection::vec(0.5..1e6f64, 0..80)) {
            let buckets = log_scale_histogram(&values);
            prop_assert_eq!(buckets.iter().map(|(_, n)| n).sum::<u64>(), values.len() as u64);
            prop_assert!(values.iter().all(|v| buckets.iter().any(|(up_to, n)| *n > 0 && *v <= up_to * 1.0001)));
        }

        #[test]
        fn median_interval_contains_median(mut values in prop::collection::vec(1.0..1e6f64, 8..80)) {
            let first = median_interval(&values, ALPHA).unwrap();
            prop_assert!(first.low <= first.value && first.value <= first.high);
            values.reverse();
            prop_assert_eq!(median_interval(&values, ALPHA).unwrap(), first);
            let wider = median_interval(&values, 0.01).unwrap();
            prop_assert!(wider.low <= first.low && wider.high >= first.high);
        }
    }
}
