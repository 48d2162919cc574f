//! One run of another tool, as it was read: its figures, what to bear in mind, and what follows.

use serde::Serialize;

use crate::measure::group::Group;
use crate::text;

/// Above this nothing flushes; see [`crate::measure::SpeedLimit::block_device`].
const IMPLAUSIBLE_PER_SECOND: f64 = 100_000.0;

/// One run of a tool, not measured here.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Imported {
    /// The program, with its version where it says so.
    pub tool: String,
    /// How long or how often it measured, in its own words.
    pub budget: String,
    /// Its figures, in its order.
    pub rows: Vec<ImportedRow>,
    /// What to bear in mind.
    pub remarks: Vec<String>,
    /// What follows for a server, in a sentence.
    pub sentence: String,
}

impl Imported {
    /// The row of a group and name.
    pub fn row(&self, group: Group, name: &str) -> Option<&ImportedRow> {
        self.rows.iter().find(|row| row.group == group && row.name == name)
    }
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedRow {
    /// What was compared.
    pub group: Group,
    /// The method or job; display-safe.
    pub name: String,
    /// Operations per second; absent where there is no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// How many of them were under way at a time, at most; absent where nothing says it for certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_a_time: Option<u64>,
    /// Percentiles of one flush in microseconds, as `(percent, µs)`; none where the tool gives none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles_us: Vec<(f64, f64)>,
    /// Why there is no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl ImportedRow {
    /// A percentile of one flush, in microseconds.
    pub fn percentile_us(&self, percent: f64) -> Option<f64> {
        self.percentiles_us.iter().find(|(of, _)| (of - percent).abs() < 1e-6).map(|(_, us)| *us)
    }

    /// The rate of a flush by itself, per second: with several at a time the rate says less than the latency.
    pub fn of_one_per_second(&self) -> Option<f64> {
        let by_latency = self.percentile_us(50.0).filter(|us| *us > 0.0).map(|us| 1e6 / us);
        by_latency.or_else(|| Some(self.per_second? / self.at_a_time? as f64))
    }
}

/// Remarks on implausible rows of any tool: a flush without any cost has flushed nothing.
pub fn implausible(rows: &[ImportedRow], is_flushed: impl Fn(&ImportedRow) -> bool) -> Option<String> {
    let flushed = rows.iter().filter(|row| is_flushed(row));
    let (row, rate) = flushed
        .filter_map(|row| Some((row, row.of_one_per_second()?)))
        .filter(|(_, rate)| *rate > IMPLAUSIBLE_PER_SECOND)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "{} flushes per second with {} are more than any disk can do: nothing was flushed there, as on a file system in memory.",
        text::rounded(rate),
        row.name
    ))
}
