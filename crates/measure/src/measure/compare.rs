//! Each method compared with the default by paced commits, once, at the end. Methods take turns, so
//! a common slowdown cancels out: the ratio of the medians of one run is one observation. The
//! interval is that of the sign test.

use super::estimate::MEANINGFUL_PERCENT;
use super::order_statistics;
use super::{Comparison, Conclusion, Estimate, Latencies, Measurement, Method, MethodResult};

/// Error probability of one comparison. There are at most four: together at most 5 %.
const ALPHA: f64 = 0.01;

/// Fewest runs for which an interval of this level exists.
pub const MIN_RUNS: usize = 8;

/// Compares every other server method with the default.
pub fn compare_all(rows: &[MethodResult], default: Method) -> Vec<Comparison> {
    let others = rows
        .iter()
        .filter(|row| row.as_server && row.pages == 1 && row.method != default);
    others
        .filter_map(|row| compare(rows, row.method, default))
        .collect()
}

/// `None` without paced commits of both.
pub fn compare(rows: &[MethodResult], method: Method, against: Method) -> Option<Comparison> {
    let (gain_percent, enough) = page_gain(rows, 1, (method, against), |row| row.paced.as_ref())?;
    let settled = if enough {
        conclusion(gain_percent)
    } else {
        Conclusion::NotSettled
    };
    Some(Comparison {
        method,
        against,
        gain_percent,
        settled,
    })
}

/// True if a method is slower with two pages, back to back and beyond noise: it is not advised
/// then.
pub fn is_slower_with_two_pages(rows: &[MethodResult], method: Method, against: Method) -> bool {
    let gain = page_gain(rows, 2, (method, against), |row| row.back_to_back.as_ref());
    gain.is_some_and(|(gain, enough)| enough && gain.high < 0.0)
}

fn page_gain(
    rows: &[MethodResult],
    pages: u32,
    (method, against): (Method, Method),
    latencies: fn(&MethodResult) -> Option<&Latencies>,
) -> Option<(Estimate, bool)> {
    let rounds = |method| {
        let row = rows
            .iter()
            .find(|row| row.method == method && row.pages == pages)?;
        Some(latencies(row)?.rounds_us.as_slice())
    };
    paired_gain(rounds(method)?, rounds(against)?)
}

fn conclusion(gain: Estimate) -> Conclusion {
    if gain.low > MEANINGFUL_PERCENT || gain.high < -MEANINGFUL_PERCENT {
        Conclusion::Settled
    } else if gain.low > -MEANINGFUL_PERCENT && gain.high < MEANINGFUL_PERCENT {
        Conclusion::NoMeaningfulDifference
    } else {
        Conclusion::NotSettled
    }
}

/// Gain in percent of the other's time, from the medians of the same rounds, and whether these
/// suffice for an interval. `None` without rounds.
fn paired_gain(method: &[f64], other: &[f64]) -> Option<(Estimate, bool)> {
    let pairs = method.iter().zip(other);
    let ratios: Vec<f64> = pairs
        .filter(|(a, b)| **a > 0.0 && **b > 0.0)
        .map(|(a, b)| a / b)
        .collect();
    if ratios.is_empty() {
        return None;
    }
    let ratio = order_statistics::interval(&ratios, ALPHA);
    let enough = ratio.is_some();
    let ratio = ratio.unwrap_or_else(|| order_statistics::interval_or_span(&ratios, ALPHA));
    let percent = |ratio: f64| 100.0 * (1.0 - ratio);
    let gain = Estimate {
        value: percent(ratio.value),
        low: percent(ratio.high),
        high: percent(ratio.low),
    };
    Some((gain, enough))
}

/// Result of all comparisons: settled once one method beats every other and the advice cannot
/// change.
pub fn outcome(measurement: &Measurement, default: Method) -> Conclusion {
    let open = |c: &Comparison| c.settled.is_undecided() && c.gain_percent.high >= 0.0;
    if measurement.best != default {
        Conclusion::Settled
    } else if measurement.comparisons.is_empty() || measurement.comparisons.iter().any(open) {
        Conclusion::NotSettled
    } else if measurement.comparisons.iter().any(|c| c.settled.is_equal()) {
        Conclusion::NoMeaningfulDifference
    } else {
        Conclusion::Settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, high: f64) -> Estimate {
        Estimate {
            value: f64::midpoint(low, high),
            low,
            high,
        }
    }

    #[test]
    fn the_words_follow_the_interval() {
        assert_eq!(conclusion(estimate(5.1, 20.0)), Conclusion::Settled);
        assert_eq!(conclusion(estimate(-40.0, -5.1)), Conclusion::Settled);
        assert_eq!(
            conclusion(estimate(-4.9, 4.9)),
            Conclusion::NoMeaningfulDifference
        );
        assert_eq!(conclusion(estimate(4.0, 20.0)), Conclusion::NotSettled);
        assert_eq!(conclusion(estimate(-20.0, 20.0)), Conclusion::NotSettled);
    }
}
