//! Decides whether a quantile of the latency of back-to-back commits is below a threshold:
//! *pass*, *fail*, or *cannot tell*. A wrong *pass* has a probability of at most 1 %, and so
//! has a wrong *fail*.
//!
//! A commit is *slow* if it does not meet the threshold. A quantile of 99 % is below the
//! threshold if less than 1 % of the commits are slow. Neighbouring commits depend on each
//! other, so a round is one observation: the share of slow commits among consecutive commits.
//!
//! Two bettors bet on these shares, one on *pass* and one on *fail*. The wealth of a bettor whose
//! answer is wrong is a supermartingale. The probability that it ever reaches 100 is at most 1 %
//! (Ville's inequality). The bound holds for every distribution within rounds and at every round,
//! so a test may stop at any time (Waudby-Smith and Ramdas, "Estimating means of bounded random
//! variables by betting", JRSS-B 2024). For single commits it is Wald's binomial test.

#[cfg(test)]
mod tests;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::order_statistics::{ALPHA, quantile_fn_with_equal_round_weight, quantile_interval};
use crate::facts::{Choice, choice};
use crate::text;

choice! {
    /// The quantile that a requirement limits.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum LatencyQuantile {
        Median = "median",
        P95 = "p95",
        P99 = "p99",
    }
}

choice! {
    /// `<` or `<=`.
    #[derive(Serialize, Deserialize, JsonSchema)]
    pub enum ThresholdRelation {
        #[serde(rename = "<")]
        Below = "<",
        #[serde(rename = "<=")]
        AtMost = "<=",
    }
}

choice! {
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum TimeUnit {
        Us = "us",
        Ms = "ms",
        S = "s",
    }
}

/// A limit on the latency of a commit, such as `p99 < 10ms`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    pub statistic: LatencyQuantile,
    pub relation: ThresholdRelation,
    /// Threshold in `unit`.
    pub threshold: f64,
    pub unit: TimeUnit,
}

choice! {
    /// Answer to a requirement. Anything unknown, interrupted or too short is `cannot-tell`.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum RequirementAnswer {
        Pass = "pass",
        Fail = "fail",
        CannotTell = "cannot tell",
    }
}

choice! {
    /// Evidence against the durability of fast commits.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum NotDurable {
        FlushSuppressed = "no flush reaches a disk here",
        ImplausibleRate = "no disk of this kind flushes that fast",
    }
}

/// A requirement with its answer, the error probability, and the figures behind the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementResult {
    #[serde(flatten)]
    pub requirement: Requirement,
    pub answer: RequirementAnswer,
    /// Largest probability that this answer is wrong, in percent.
    pub error_percent: f64,
    /// The quantile, in microseconds; absent without commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate_us: Option<f64>,
    /// Ends of the 95 % interval of the quantile, in microseconds; absent with too few commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_us: Option<[f64; 2]>,
    /// Back-to-back commits, without warm-up.
    pub samples: u64,
    /// Commits that exceed the threshold.
    #[serde(default)]
    pub slow_samples: u64,
    /// Rounds of consecutive commits; each round is one observation.
    pub rounds: u32,
    /// Why *pass* is impossible here: it would praise commits that are not durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_durable: Option<NotDurable>,
}

const ACCEPTED: &str = "expected median, p95 or p99, then < or <=, then a time in us, ms or s, \
                        such as 'p99 < 10ms'";

impl LatencyQuantile {
    pub fn share(self) -> f64 {
        match self {
            Self::Median => 0.5,
            Self::P95 => 0.95,
            Self::P99 => 0.99,
        }
    }
}

impl TimeUnit {
    fn micros_per_unit(self) -> f64 {
        match self {
            Self::Us => 1.0,
            Self::Ms => 1e3,
            Self::S => 1e6,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (statistic, sign) = (self.statistic.as_str(), self.relation.as_str());
        let (threshold, unit) = (self.threshold, self.unit.as_str());
        write!(f, "{statistic} {sign} {threshold} {unit}")
    }
}

impl Requirement {
    /// Parses `p99 < 10ms`; spaces are optional.
    ///
    /// # Errors
    ///
    /// A message with the accepted forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let compact: String = text.split_whitespace().collect();
        let parsed = LatencyQuantile::ALL.iter().find_map(|&statistic| {
            let rest = compact.strip_prefix(statistic.as_str())?;
            let (relation, time) = match rest.strip_prefix("<=") {
                Some(time) => (ThresholdRelation::AtMost, time),
                None => (ThresholdRelation::Below, rest.strip_prefix('<')?),
            };
            // `ms` and `us` also end in `s`, so `s` is tried last.
            let (unit, number) = TimeUnit::ALL
                .iter()
                .find_map(|&unit| Some((unit, time.strip_suffix(unit.as_str())?)))?;
            let is_plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let threshold = number.parse::<f64>().ok().filter(|_| is_plain)?;
            let found = Self {
                statistic,
                relation,
                threshold,
                unit,
            };
            (1.0..=3.6e9)
                .contains(&found.threshold_us())
                .then_some(found)
        });
        parsed.ok_or_else(|| ACCEPTED.to_owned())
    }

    pub(crate) fn threshold_us(&self) -> f64 {
        self.threshold * self.unit.micros_per_unit()
    }

    fn is_slow(&self, us: f64) -> bool {
        match self.relation {
            ThresholdRelation::Below => us >= self.threshold_us(),
            ThresholdRelation::AtMost => us > self.threshold_us(),
        }
    }

    /// Largest share of slow commits that meets the requirement.
    fn allowed_share_of_slow_commits(&self) -> f64 {
        1.0 - self.statistic.share()
    }
}

/// Probability of a wrong *pass*, and of a wrong *fail*.
const ERROR: f64 = 0.01;

/// Stakes of the bets, as shares of the largest possible stake, with the share of the wealth that
/// each gets at the start. The largest stake decides fastest if no commit is slow.
const STAKES: [(f64, f64); 4] = [(1.0, 0.7), (0.5, 0.1), (0.25, 0.1), (0.125, 0.1)];

/// Bound on each part of the wealth: infinity times zero is not a number.
const MAX_WEALTH: f64 = 1e200;

/// Wealth of bets on the shares of slow commits; starts at 1.
#[derive(Clone, Copy, Debug)]
struct BettingWealth([f64; STAKES.len()]);

impl BettingWealth {
    fn initial_wealth() -> Self {
        Self(STAKES.map(|(_, share)| share))
    }

    /// Multiplies each part of the wealth. `gain` is at least −1, with a mean of at most 0 if the
    /// answer that the wealth bets on is wrong.
    fn update_wealth(&mut self, gain: f64) {
        for (part, (stake, _)) in self.0.iter_mut().zip(STAKES) {
            *part = (*part * (1.0 + stake * gain).max(0.0)).min(MAX_WEALTH);
        }
    }

    fn is_decisive(&self) -> bool {
        self.0.iter().sum::<f64>() >= 1.0 / ERROR
    }
}

/// Rounds in which a burst of slow commits counts as one observation: a quarter of a second.
const BURST_ROUNDS: usize = 25;

/// Sequential test of one requirement, which may stop after any round.
#[derive(Clone, Debug)]
pub struct SequentialRequirementTest {
    requirement: Requirement,
    pass: BettingWealth,
    fail: BettingWealth,
    /// Share of slow commits of each round, with the duration of the round.
    shares: Vec<(f64, f64)>,
}

impl SequentialRequirementTest {
    pub fn new(requirement: Requirement) -> Self {
        Self {
            requirement,
            pass: BettingWealth::initial_wealth(),
            fail: BettingWealth::initial_wealth(),
            shares: Vec::new(),
        }
    }

    /// The number of commits must have been chosen before the round began.
    pub(crate) fn push_round(&mut self, times_us: &[f64], seconds: f64) {
        let slow = times_us
            .iter()
            .filter(|us| self.requirement.is_slow(**us))
            .count();
        let share = slow as f64 / times_us.len().max(1) as f64;
        let allowed = self.requirement.allowed_share_of_slow_commits();
        self.pass.update_wealth((allowed - share) / (1.0 - allowed));
        self.fail.update_wealth((share - allowed) / allowed);
        self.shares.push((share, seconds));
    }

    pub fn answer(&self) -> RequirementAnswer {
        let allowed = self.requirement.allowed_share_of_slow_commits();
        let mean = self.mean_slow_share();
        if self.pass.is_decisive()
            && mean < allowed
            && self.time_weighted_slow_share() < allowed
            && self.is_robust_to_bursts()
        {
            RequirementAnswer::Pass
        } else if self.fail.is_decisive() && mean > allowed && self.is_robust_to_bursts() {
            RequirementAnswer::Fail
        } else {
            RequirementAnswer::CannotTell
        }
    }

    fn mean_slow_share(&self) -> f64 {
        self.shares.iter().map(|(share, _)| share).sum::<f64>() / self.shares.len().max(1) as f64
    }

    /// Share of slow commits, weighted by time: a stall has few commits, but may last long.
    fn time_weighted_slow_share(&self) -> f64 {
        let slow: f64 = self.shares.iter().map(|(share, time)| share * time).sum();
        let all: f64 = self.shares.iter().map(|(_, time)| time).sum();
        slow / all.max(f64::MIN_POSITIVE)
    }

    /// Whether the answer holds even if bursts of slow commits outlast a round: the largest burst
    /// counts as one observation. The bound is Chernoff's for sums of bounded
    /// variables (Hoeffding, JASA 1963, theorem 1, in its Poisson form).
    fn is_robust_to_bursts(&self) -> bool {
        let (mean, rounds) = (self.mean_slow_share(), self.shares.len());
        let excess =
            |window: &[(f64, f64)]| window.iter().map(|(share, _)| share - mean).sum::<f64>();
        let length = BURST_ROUNDS.min(rounds).max(1);
        let burst = self.shares.windows(length).map(excess).fold(0.0, f64::max);
        let allowed = self.requirement.allowed_share_of_slow_commits();
        let ratio = mean / allowed;
        let divergence = 1.0 - ratio + ratio * ratio.max(f64::MIN_POSITIVE).ln();
        burst <= 1.0 || rounds as f64 * allowed / burst * divergence >= (1.0 / ERROR).ln()
    }
}

impl RequirementResult {
    /// Answers the requirement from rounds, each with its latencies in microseconds and its
    /// duration in seconds. `is_complete` is false for a run that was cancelled or failed, which
    /// answers nothing.
    pub fn new(requirement: Requirement, rounds: &[(&[f64], f64)], is_complete: bool) -> Self {
        let mut test = SequentialRequirementTest::new(requirement);
        rounds
            .iter()
            .for_each(|(times, seconds)| test.push_round(times, *seconds));
        let times: Vec<&[f64]> = rounds.iter().map(|(times, _)| *times).collect();
        let samples: usize = times.iter().map(|round| round.len()).sum();
        let share = requirement.statistic.share();
        let answer = if is_complete {
            test.answer()
        } else {
            RequirementAnswer::CannotTell
        };
        Self {
            requirement,
            answer,
            error_percent: 100.0 * ERROR,
            estimate_us: (samples > 0).then(|| quantile_fn_with_equal_round_weight(&times)(share)),
            interval_us: quantile_interval(&times, share, ALPHA),
            samples: samples as u64,
            slow_samples: times
                .iter()
                .flat_map(|round| round.iter())
                .filter(|us| requirement.is_slow(**us))
                .count() as u64,
            rounds: u32::try_from(rounds.len()).unwrap_or(u32::MAX),
            not_durable: None,
        }
    }

    /// The result where commits are not durable: never *pass*.
    pub(crate) fn withhold_pass(self, not_durable: NotDurable) -> Self {
        let answer = match self.answer {
            RequirementAnswer::Fail => RequirementAnswer::Fail,
            RequirementAnswer::Pass | RequirementAnswer::CannotTell => {
                RequirementAnswer::CannotTell
            }
        };
        Self {
            answer,
            not_durable: Some(not_durable),
            ..self
        }
    }

    pub fn sentence(&self) -> String {
        let answer = format!("{}: {}", self.requirement, self.answer.as_str());
        let Some(estimate) = self.estimate_us else {
            return format!("{answer}; no commits were measured.");
        };
        let interval = self.interval_us.map_or_else(
            || {
                format!(
                    "{} exceed the threshold",
                    text::group_digits(self.slow_samples)
                )
            },
            |[low, high]| {
                let [low, high] = [low, high].map(text::format_micros);
                format!("95 % interval {low} to {high}")
            },
        );
        let figures = format!(
            "the {} of {} back-to-back commits is {} ({interval}).",
            self.requirement.statistic.as_str(),
            text::group_digits(self.samples),
            text::format_micros(estimate)
        );
        let more = match (self.not_durable, self.answer) {
            (Some(evidence), _) => format!(
                " A pass requires durable commits, but {}.",
                evidence.as_str()
            ),
            (None, RequirementAnswer::CannotTell) => {
                " A longer run (--seconds N) may decide.".to_owned()
            }
            (None, RequirementAnswer::Pass | RequirementAnswer::Fail) => String::new(),
        };
        format!("{answer}; {figures}{more}")
    }
}
