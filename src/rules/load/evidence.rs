//! Published measurements in a rule.

use super::fields::{CheckedTable, SpannedValue, TableSchema, Text};
use super::prose::flowing;
use crate::rules::diagnostic::Diagnostics;
use crate::rules::evidence::Study;

const EVIDENCE: TableSchema = TableSchema {
    what: "this evidence",
    required: &["source", "year", "says", "caveat"],
    optional: &["kernel", "hardware", "contradicted_by"],
};

/// The plausible years of a measurement about walwise's subject.
const YEARS: std::ops::RangeInclusive<u16> = 1990..=2099;

/// Reads a piece of evidence.
pub(super) fn evidence(item: SpannedValue<'_>, problems: &mut Diagnostics) -> Option<Study> {
    let before = problems.count();
    let fields = CheckedTable::open(item, &EVIDENCE, problems)?;
    let mut words = |key: &str| fields.text(key, problems).map(|Text { text, .. }| flowing(&text));
    let (source, says, caveat) = (words("source"), words("says"), words("caveat"));
    let (kernel, hardware, contradicted_by) = (words("kernel"), words("hardware"), words("contradicted_by"));
    let year = fields.get("year").and_then(|item| year(item, problems));
    if problems.count() > before {
        return None;
    }
    Some(Study {
        source: source?,
        year: year?,
        kernel,
        hardware,
        says: says?,
        caveat: caveat?,
        contradicted_by,
    })
}

fn year(item: SpannedValue<'_>, problems: &mut Diagnostics) -> Option<u16> {
    let year = item.get_ref().as_integer().and_then(|year| year.as_str().parse().ok());
    let year = year.filter(|year| YEARS.contains(year));
    if year.is_none() {
        problems.report(
            item,
            "a year is a number such as 2019",
            "write it without quotes, with four digits: 2019",
        );
    }
    year
}
