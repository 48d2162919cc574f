//! Each method compared with the default by paced commits, as a server makes them. The methods take
//! turns, so that a common slowdown cancels out: the ratio of two medians of the same run of turns
//! is one observation, and the interval of their median is the sign-test interval
//! ([`super::order`]). There is one look, at the end.

use super::estimate::MEANINGFUL_PERCENT;
use super::order;
use super::{Comparison, Conclusion, Estimate, Latencies, Measurement, Method, MethodResult};

/// The probability of error of a comparison, of which there are at most three or four: together at
/// most 5 %.
const ALPHA: f64 = 0.01;

/// The smallest number of runs for which an interval of this level exists.
pub const FEWEST: usize = 8;

/// Every other method of the server against the default.
pub fn compare_all(rows: &[MethodResult], default: Method) -> Vec<Comparison> {
    let others = rows
        .iter()
        .filter(|row| row.as_server && row.pages == 1 && row.method != default);
    others
        .filter_map(|row| compare(rows, row.method, default))
        .collect()
}

/// One method against another; `None` unless paced commits of both were measured.
pub fn compare(rows: &[MethodResult], method: Method, against: Method) -> Option<Comparison> {
    let (gain_percent, enough) = gain(rows, 1, (method, against), |row| row.paced.as_ref())?;
    let settled = if enough {
        settled(gain_percent)
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

/// Whether a method is slower than another beyond noise with two pages back to back: such a method
/// is not advised.
pub fn is_slower_with_two_pages(rows: &[MethodResult], method: Method, against: Method) -> bool {
    let gain = gain(rows, 2, (method, against), |row| row.back_to_back.as_ref());
    gain.is_some_and(|(gain, enough)| enough && gain.high < 0.0)
}

/// The gain of a method over another with so many pages, in these latencies; see [`paired_gain`].
fn gain(
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

fn settled(gain: Estimate) -> Conclusion {
    if gain.low > MEANINGFUL_PERCENT || gain.high < -MEANINGFUL_PERCENT {
        Conclusion::Settled
    } else if gain.low > -MEANINGFUL_PERCENT && gain.high < MEANINGFUL_PERCENT {
        Conclusion::NoMeaningfulDifference
    } else {
        Conclusion::NotSettled
    }
}

/// The gain of a method in percent of the other's time, from the medians of the same rounds, and
/// whether the rounds suffice for its interval; `None` without any round.
fn paired_gain(method: &[f64], other: &[f64]) -> Option<(Estimate, bool)> {
    let pairs = method.iter().zip(other);
    let ratios: Vec<f64> = pairs
        .filter(|(a, b)| **a > 0.0 && **b > 0.0)
        .map(|(a, b)| a / b)
        .collect();
    if ratios.is_empty() {
        return None;
    }
    let ratio = order::interval(&ratios, ALPHA);
    let enough = ratio.is_some();
    let ratio = ratio.unwrap_or_else(|| order::interval_or_span(&ratios, ALPHA));
    let percent = |ratio: f64| 100.0 * (1.0 - ratio);
    let gain = Estimate {
        value: percent(ratio.value),
        low: percent(ratio.high),
        high: percent(ratio.low),
    };
    Some((gain, enough))
}

/// The outcome as a whole: settled when the advice cannot change any more and one method is better
/// than every other.
pub fn outcome(measurement: &Measurement, default: Method) -> Conclusion {
    let open = |c: &Comparison| c.settled.is_open() && c.gain_percent.high >= 0.0;
    if measurement.best != default {
        Conclusion::Settled
    } else if measurement.comparisons.is_empty() || measurement.comparisons.iter().any(open) {
        Conclusion::NotSettled
    } else if measurement.comparisons.iter().any(|c| c.settled.is_alike()) {
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
        assert_eq!(settled(estimate(5.1, 20.0)), Conclusion::Settled);
        assert_eq!(settled(estimate(-40.0, -5.1)), Conclusion::Settled);
        assert_eq!(
            settled(estimate(-4.9, 4.9)),
            Conclusion::NoMeaningfulDifference
        );
        assert_eq!(settled(estimate(4.0, 20.0)), Conclusion::NotSettled);
        assert_eq!(settled(estimate(-20.0, 20.0)), Conclusion::NotSettled);
    }
}
