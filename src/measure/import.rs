//! Figures measured elsewhere or at another time: `pg_test_fsync`'s text in its three dialects, and fio's JSON.
//!
//! They are shown separately, never mixed with our own samples and never a reason to change a setting. One figure per
//! method has no interval, and the tool opens files otherwise than the server does. The commonest remark is about
//! unnoticed noise, such as two pages being faster than one.

mod run;
mod fio;
mod pg_test_fsync;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

pub use run::{Imported, ImportedRow};

use super::group::Group;
use crate::text;

/// Every run found in a text, with anything in between; the error says what was expected.
pub fn import(input: &[u8]) -> Result<Vec<Imported>, String> {
    if let Some(runs) = fio::read(input) {
        return runs;
    }
    let runs = pg_test_fsync::read(&String::from_utf8_lossy(input))?;
    if runs.is_empty() {
        return Err("neither the text of pg_test_fsync nor the JSON of fio (--output-format=json)".to_owned());
    }
    Ok(runs)
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
