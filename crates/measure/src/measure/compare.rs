//! Compares methods by their latencies. Methods take turns, so a common slowdown cancels out. One
//! observation is the ratio of two medians of the same run; the sign test gives the interval.

use super::{
    Comparison, ComparisonConclusion, Estimate, Latencies, Measurement, Method, MethodResult,
    order_statistics,
};

/// Error probability of one comparison. A probe makes at most four comparisons, which err together
/// in at most 5 % of cases.
const ALPHA: f64 = 0.01;

/// Fewest runs that give an interval with the error probability [`ALPHA`].
pub const MIN_RUNS: usize = 8;

/// Compares each other method with the default, by paced commits of one page. Methods that no
/// server uses are skipped.
pub fn compare_server_methods(rows: &[MethodResult], default: Method) -> Vec<Comparison> {
    let others = rows
        .iter()
        .filter(|row| row.as_server && row.pages == 1 && row.method != default);
    others
        .filter_map(|row| compare_paced_commits(rows, row.method, default))
        .collect()
}

/// `None` if paced one-page commits of either method are missing.
pub fn compare_paced_commits(
    rows: &[MethodResult],
    method: Method,
    against: Method,
) -> Option<Comparison> {
    let (gain_percent, interval) =
        gain_at_page_count(rows, 1, (method, against), |row| row.paced.as_ref())?;
    Some(Comparison {
        method,
        against,
        gain_percent,
        settled: order_statistics::conclusion_from_gain(interval),
    })
}

/// True if back-to-back commits of two pages are slower with `method` than with `against`, beyond
/// noise. Such a method is not advised.
pub fn is_slower_with_two_pages(rows: &[MethodResult], method: Method, against: Method) -> bool {
    let gain = gain_at_page_count(rows, 2, (method, against), |row| row.back_to_back.as_ref());
    gain.is_some_and(|(_, interval)| interval.is_some_and(|gain| gain.high < 0.0))
}

fn gain_at_page_count(
    rows: &[MethodResult],
    pages: u32,
    (method, against): (Method, Method),
    latencies: fn(&MethodResult) -> Option<&Latencies>,
) -> Option<(Estimate, Option<Estimate>)> {
    let rounds = |method| {
        let row = rows
            .iter()
            .find(|row| row.method == method && row.pages == pages)?;
        Some(latencies(row)?.rounds_us.as_slice())
    };
    paired_gain(rounds(method)?, rounds(against)?)
}

/// Gain of `method` in percent of the latency of `other`, and the same if the rounds suffice for an
/// interval with the error probability [`ALPHA`].
fn paired_gain(method: &[f64], other: &[f64]) -> Option<(Estimate, Option<Estimate>)> {
    let pairs = method.iter().zip(other);
    let ratios: Vec<f64> = pairs
        .filter(|(a, b)| **a > 0.0 && **b > 0.0)
        .map(|(a, b)| a / b)
        .collect();
    if ratios.is_empty() {
        return None;
    }
    let interval = order_statistics::median_interval(&ratios, ALPHA);
    let gain =
        order_statistics::gain_percent(order_statistics::median_interval_or_span(&ratios, ALPHA));
    Some((gain, interval.map(order_statistics::gain_percent)))
}

/// The conclusion of the probe from all comparisons. A best method other than the default settles
/// the probe; otherwise any undecided method that may still beat the default leaves it unsettled.
pub fn overall_conclusion(measurement: &Measurement, default: Method) -> ComparisonConclusion {
    let open = |c: &Comparison| c.settled.is_undecided() && c.gain_percent.high >= 0.0;
    if measurement.best != default {
        ComparisonConclusion::Settled
    } else if measurement.comparisons.is_empty() || measurement.comparisons.iter().any(open) {
        ComparisonConclusion::NotSettled
    } else if measurement
        .comparisons
        .iter()
        .any(|c| c.settled.shows_no_difference())
    {
        ComparisonConclusion::NoMeaningfulDifference
    } else {
        ComparisonConclusion::Settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conclusion_from_bounds(low: f64, high: f64) -> ComparisonConclusion {
        let value = f64::midpoint(low, high);
        order_statistics::conclusion_from_gain(Some(Estimate { value, low, high }))
    }

    #[test]
    fn conclusion_follows_gain_interval() {
        assert_eq!(
            conclusion_from_bounds(5.1, 20.0),
            ComparisonConclusion::Settled
        );
        assert_eq!(
            conclusion_from_bounds(-40.0, -5.1),
            ComparisonConclusion::Settled
        );
        assert_eq!(
            conclusion_from_bounds(-4.9, 4.9),
            ComparisonConclusion::NoMeaningfulDifference
        );
        assert_eq!(
            conclusion_from_bounds(4.0, 20.0),
            ComparisonConclusion::NotSettled
        );
        assert_eq!(
            conclusion_from_bounds(-20.0, 20.0),
            ComparisonConclusion::NotSettled
        );
    }
}
