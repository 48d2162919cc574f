//! What is not known, by what would help.

use std::collections::BTreeMap;

use super::page::Page;
use super::words;
use crate::facts::{Reading, Remedy};
use crate::report::Report;

/// How many facts are named before the rest is counted.
const NAMED: usize = 8;

/// Writes the count of unknown facts and how to learn them.
pub fn write(page: &mut Page, report: &Report) {
    let mut groups: BTreeMap<Option<&Remedy>, Vec<&str>> = BTreeMap::new();
    for row in report.gaps() {
        if let Reading::Unknown { remedy, .. } = row.reading {
            groups.entry(remedy.as_ref()).or_default().push(row.fact);
        }
    }
    let count: usize = groups.values().map(Vec::len).sum();
    if count == 0 {
        return;
    }
    page.heading(&format!(
        "Not known: {}; `walwise facts` names each with its reason",
        words::count(count, "fact")
    ));
    for (remedy, facts) in groups.into_iter().rev() {
        let names = super::distinct(facts.iter().copied());
        let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = remedy.map_or_else(|| "no remedy is known".to_owned(), ToString::to_string);
        page.para(2, &format!("{}: {what}", words::count(facts.len(), "fact")));
        page.para(4, &format!("{shown}{more}"));
    }
}
