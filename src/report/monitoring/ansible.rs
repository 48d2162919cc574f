//! A static local fact for Ansible: small and of a stable shape, so that a play can decide by it.
//!
//! A program as a fact would run with every play, and one that ends with 3 becomes an error text (ansible-core, local.py).
//! The fact is therefore a file that a timer renews. Ages follow from its times when it is read.

use serde::Serialize;

use super::{MOST_FINDINGS, MOST_TARGETS, applying, standing_word};
use crate::durability::Verdict;
use crate::report::json;
use crate::report::model::Report;
use crate::report::model::price::Price;
use crate::rules::Level;

/// Version of the fact's shape.
const SHAPE: u32 = 1;

#[derive(Serialize)]
struct LocalFact<'a> {
    shape: u32,
    walwise: &'a str,
    pack: &'a str,
    /// When the report was made, RFC 3339.
    checked: &'a str,
    verdicts: Vec<VerdictEntry<'a>>,
    critical: Vec<FindingEntry<'a>>,
    warning: Vec<FindingEntry<'a>>,
    prices: &'a [Price],
}

#[derive(Serialize)]
struct VerdictEntry<'a> {
    target: &'a str,
    standing: String,
}

#[derive(Serialize)]
struct FindingEntry<'a> {
    rule: &'a str,
    subject: String,
}

/// The fact.
pub fn render(report: &Report) -> String {
    json::pretty(&LocalFact {
        shape: SHAPE,
        walwise: &report.tool.version,
        pack: &report.pack.sha256,
        checked: &report.when,
        verdicts: report.verdicts.iter().take(MOST_TARGETS).map(entry).collect(),
        critical: entries(report, Level::Critical),
        warning: entries(report, Level::Warning),
        prices: report.prices.get(..MOST_TARGETS.min(report.prices.len())).unwrap_or_default(),
    })
}

fn entry(verdict: &Verdict) -> VerdictEntry<'_> {
    VerdictEntry { target: verdict.target.name(), standing: standing_word(verdict.standing) }
}

fn entries(report: &Report, level: Level) -> Vec<FindingEntry<'_>> {
    let found = applying(report, level).into_iter().take(MOST_FINDINGS);
    found.map(|one| FindingEntry { rule: &one.rule, subject: one.subject.to_string() }).collect()
}
