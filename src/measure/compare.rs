//! Each method compared with the default, paired within rounds, so that a common slowdown cancels out.
//!
//! Per round and write size the ratio of the two medians is one observation; the interval of their median is the
//! sign-test interval ([`super::order`]). A probe may stop early, but only at the planned [`LOOKS`]. The 5 % are
//! divided among all looks and the end (Bonferroni; Jennison and Turnbull, *Group Sequential Methods*, ch. 2), so
//! frequent looks do not turn chance into a winner. A gain counts only if commits of one *and* two pages have it, and
//! for methods that an unbroken loop flatters also commits with pauses. The lower bound over all of these needs no
//! correction (intersection-union test; Berger, *Technometrics* 24, 1982).

use super::estimate::MEANINGFUL_PERCENT;
use super::order::{self, ALPHA};
use super::{Cell, Comparison, Conclusion, Estimate, Measurement, Method, Samples};

/// The numbers of rounds after which a probe may check whether it is settled. The first is the smallest number for
/// which an interval of this level exists.
pub const LOOKS: [usize; 5] = [8, 12, 18, 27, 40];

/// The probability of error of one look, or of the end.
const ALPHA_PER_LOOK: f64 = ALPHA / (LOOKS.len() + 1) as f64;

/// Compares a method with the default; `None` unless both were measured with both write sizes.
pub fn compare(samples: &Samples, method: Method, against: Method) -> Option<Comparison> {
    let of_size = |pages| gain(samples.cell(method, pages)?, samples.cell(against, pages)?);
    let paced = || gain(samples.paced(method)?, samples.paced(against)?).filter(|(_, enough)| *enough);
    let paced = if method.is_flattered_by_loops() { paced() } else { None };
    let gains = [Some(of_size(1)?), Some(of_size(2)?), paced];
    let enough = gains.iter().flatten().all(|(_, enough)| *enough);
    let least = |a: Estimate, b: Estimate| Estimate {
        value: a.value.min(b.value),
        low: a.low.min(b.low),
        high: a.high.min(b.high),
    };
    let gain_percent = gains.into_iter().flatten().map(|(gain, _)| gain).reduce(least)?;
    let settled = if enough { settled(gain_percent) } else { Conclusion::NotSettled };
    Some(Comparison { method, against, gain_percent, settled })
}

/// Every challenger against the default.
pub fn compare_all(samples: &Samples) -> Vec<Comparison> {
    let default = samples.default_method();
    samples.challengers().into_iter().filter_map(|method| compare(samples, method, default)).collect()
}

/// Whether further rounds cannot change the advised method: no undecided one may yet prove better.
pub fn decided(samples: &Samples) -> bool {
    let all = compare_all(samples);
    let measurable = |m: &Method| samples.cell(*m, 1).is_some() && samples.cell(*m, 2).is_some();
    all.len() == samples.challengers().iter().filter(|m| measurable(m)).count()
        && samples.rounds() >= LOOKS.first().copied().unwrap_or(0)
        && all.iter().all(|c| !c.settled.is_open() || c.gain_percent.high < 0.0)
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

/// The gain of a cell over another; see [`paired_gain`].
fn gain(method: &Cell, default: &Cell) -> Option<(Estimate, bool)> {
    paired_gain(&method.round_medians(), &default.round_medians())
}

/// The gain of a method in percent of the other's time, from the medians of the same rounds, and whether the rounds
/// suffice for its interval; `None` without any round.
pub fn paired_gain(method: &[f64], other: &[f64]) -> Option<(Estimate, bool)> {
    let pairs = method.iter().zip(other);
    let ratios: Vec<f64> = pairs.filter(|(a, b)| **a > 0.0 && **b > 0.0).map(|(a, b)| a / b).collect();
    if ratios.is_empty() {
        return None;
    }
    let ratio = order::interval(&ratios, ALPHA_PER_LOOK);
    let enough = ratio.is_some();
    let ratio = ratio.unwrap_or_else(|| order::interval_or_span(&ratios, ALPHA_PER_LOOK));
    let percent = |ratio: f64| 100.0 * (1.0 - ratio);
    let gain = Estimate { value: percent(ratio.value), low: percent(ratio.high), high: percent(ratio.low) };
    Some((gain, enough))
}

/// The outcome as a whole: settled when the advice cannot change any more and one method is better than every other.
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
        Estimate { value: f64::midpoint(low, high), low, high }
    }

    #[test]
    fn the_words_follow_the_interval() {
        assert_eq!(settled(estimate(5.1, 20.0)), Conclusion::Settled);
        assert_eq!(settled(estimate(-40.0, -5.1)), Conclusion::Settled);
        assert_eq!(settled(estimate(-4.9, 4.9)), Conclusion::NoMeaningfulDifference);
        assert_eq!(settled(estimate(4.0, 20.0)), Conclusion::NotSettled);
        assert_eq!(settled(estimate(-20.0, 20.0)), Conclusion::NotSettled);
    }

    #[test]
    fn a_gain_with_one_size_only_is_none() {
        let cell =
            |method, pages, us: f64| Cell { rounds: vec![vec![us]; 20], ..Cell::new(method, pages, true) };
        let samples = Samples {
            cells: vec![
                cell(Method::Fdatasync, 1, 100.0),
                cell(Method::Fdatasync, 2, 100.0),
                cell(Method::OpenDatasync, 1, 50.0),
                cell(Method::OpenDatasync, 2, 130.0),
            ],
            paced: Vec::new(),
        };
        let comparison = compare(&samples, Method::OpenDatasync, Method::Fdatasync).unwrap();
        assert!((comparison.gain_percent.value + 30.0).abs() < 1e-9, "{comparison:?}");
        assert_eq!(comparison.settled, Conclusion::Settled, "settled, as slower");
    }
}
