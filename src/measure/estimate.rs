//! A figure with its certainty: the interval, whether a comparison came to an end, and the thresholds for both. How an
//! interval is found is in [`super::order`].

use serde::{Deserialize, Serialize};

use crate::facts::catalog::probe::ProbeOutcome;

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Whether a comparison came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// One is better beyond noise and beyond 5 %.
    Settled,
    /// They lie within 5 % of each other.
    NoMeaningfulDifference,
    /// The budget ended first.
    NotSettled,
}

impl Conclusion {
    /// Whether one is better beyond doubt.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Settled)
    }

    /// Whether the budget ended before it could be said.
    pub fn is_open(self) -> bool {
        matches!(self, Self::NotSettled)
    }

    /// Whether they are alike for all that matters.
    pub fn is_alike(self) -> bool {
        matches!(self, Self::NoMeaningfulDifference)
    }

    /// The same as a fact.
    pub fn outcome(self) -> ProbeOutcome {
        match self {
            Self::Settled => ProbeOutcome::Settled,
            Self::NoMeaningfulDifference => ProbeOutcome::NoMeaningfulDifference,
            Self::NotSettled => ProbeOutcome::NotSettled,
        }
    }
}

/// The smallest gain that justifies a change, in percent.
pub const MEANINGFUL_PERCENT: f64 = 5.0;

/// The number of samples from which a 99th percentile is more than the account of a few.
pub(super) const SAMPLES_FOR_P99: usize = 1_000;
