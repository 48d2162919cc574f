//! Figures measured elsewhere or at another time: `pg_test_fsync`'s text in its three dialects and every language, and
//! fio's JSON.
//!
//! They are shown separately, never mixed with our own samples and never a reason to change a setting. One figure per
//! method has no interval, and the tool opens files otherwise than the server does. The commonest remark is about
//! unnoticed noise, such as two pages being faster than one.

mod fio;
mod layout;
mod pg_test_fsync;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::text;

/// Above this nothing flushes; see [`super::SpeedLimit::block_device`].
const IMPLAUSIBLE_PER_SECOND: f64 = 100_000.0;

/// By how much a bigger write may be faster before it is remarked.
const NOISE: f64 = 1.05;

/// One run of a tool, not measured here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    fn percentile_us(&self, percent: f64) -> Option<f64> {
        self.percentiles_us.iter().find(|(of, _)| (of - percent).abs() < 1e-6).map(|(_, us)| *us)
    }

    /// The rate of a flush by itself, per second: with several at a time the rate says less than the latency.
    fn of_one_per_second(&self) -> Option<f64> {
        let by_latency = self.percentile_us(50.0).filter(|us| *us > 0.0).map(|us| 1e6 / us);
        by_latency.or_else(|| Some(self.per_second? / self.at_a_time? as f64))
    }
}

/// What a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// One write of 8 kB, then the flush.
    OneWrite,
    /// Two writes of 8 kB, then the flush; with the open methods each write flushes.
    TwoWrites,
    /// 16 kB in one to sixteen writes, each flushed.
    Sizes,
    /// Whether a flush through another descriptor counts.
    OtherDescriptor,
    /// Without any flush.
    NotSynced,
    /// A job of fio.
    Job,
}

impl Group {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::OneWrite => "one 8 kB write",
            Self::TwoWrites => "two 8 kB writes",
            Self::Sizes => "16 kB in writes of different size",
            Self::OtherDescriptor => "fsync through another descriptor",
            Self::NotSynced => "8 kB without a flush",
            Self::Job => "jobs",
        }
    }
}

/// What to do about a text that cannot be read for certain.
const FOREIGN: &str =
    "pg_test_fsync's text is incomplete or in another language; make it with LC_ALL=C pg_test_fsync";

/// Every run found in a text, with anything in between; the error says what was expected.
pub fn import(input: &[u8]) -> Result<Vec<Imported>, String> {
    if let Some(runs) = fio::read(input) {
        return runs;
    }
    let mut found = pg_test_fsync::read(&String::from_utf8_lossy(input));
    match found.runs.last_mut() {
        Some(last) if found.is_foreign => last.remarks.push(format!("another run is not shown: {FOREIGN}.")),
        Some(_) => {}
        None if found.is_foreign => return Err(FOREIGN.to_owned()),
        None => {
            let expected = "neither the text of pg_test_fsync nor the JSON of fio (--output-format=json)";
            return Err(expected.to_owned());
        }
    }
    Ok(found.runs)
}

/// A run as lines of text; every character one column wide.
pub fn table(run: &Imported) -> Vec<String> {
    let mut lines = vec![format!("not measured here: {}, {}", run.tool, run.budget)];
    let mut last = None;
    for row in &run.rows {
        if last != Some(row.group) {
            lines.push(format!("  {}", row.group.words()));
            last = Some(row.group);
        }
        lines.push(format!("    {:<32} {}", row.name, figures(row)).trim_end().to_owned());
    }
    lines.extend(run.remarks.iter().map(|remark| format!("  note: {remark}")));
    lines.push(format!("  {}", run.sentence));
    lines
}

fn figures(row: &ImportedRow) -> String {
    let Some(rate) = row.per_second else { return row.missing.clone().unwrap_or_default() };
    let mut words = format!("{:>9}/s", text::rounded(rate));
    match row.group {
        // With several at a time, or with pauses, the inverse of the rate is no time.
        Group::Job => match row.at_a_time {
            Some(1) => words += "  one at a time",
            Some(count) => {
                let _ = write!(words, "  {count} at a time");
            }
            None => words += "  how many at a time is not said",
        },
        Group::OneWrite | Group::TwoWrites | Group::Sizes | Group::OtherDescriptor | Group::NotSynced => {
            if rate > 0.0 {
                let _ = write!(words, "  {:>9} each", text::micros(1e6 / rate));
            }
        }
    }
    let shown: Vec<String> = [50.0, 99.0]
        .into_iter()
        .filter_map(|percent| {
            let us = row.percentile_us(percent)?;
            Some(format!("p{percent:.0} {}", text::micros(us)))
        })
        .collect();
    if !shown.is_empty() {
        let _ = write!(words, "  one flush: {}", shown.join(", "));
    }
    words
}

/// Remarks on implausible rows of any tool: a flush without any cost has flushed nothing.
fn implausible(rows: &[ImportedRow], is_flushed: impl Fn(&ImportedRow) -> bool) -> Option<String> {
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

#[cfg(test)]
mod tests;
