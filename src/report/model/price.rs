//! What a commit costs on a target, small enough to be carried from report to report. It is made and read in
//! [`crate::report::price`].

use serde::{Deserialize, Serialize};

use crate::facts::Subject;
use crate::measure::Method;

/// What a commit costs on a target, by the last run that measured it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Price {
    /// The target.
    pub target: Subject,
    /// When the measurement began, RFC 3339.
    pub when: String,
    /// The layers beneath it at that time. Where they are others now, the price is no longer told.
    pub layers: Vec<String>,
    /// Of each method that a server could use, for commits of one page.
    pub methods: Vec<MethodPrice>,
}

/// What a commit costs by one method, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodPrice {
    /// The method.
    pub method: Method,
    /// Whether it is the one in force, or the one to use where none is known to be.
    pub chosen: bool,
    /// Mean time.
    pub mean_us: f64,
    /// Median time.
    pub median_us: f64,
    /// 95th percentile.
    pub p95_us: f64,
    /// 99th percentile, from 1,000 samples on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
}
