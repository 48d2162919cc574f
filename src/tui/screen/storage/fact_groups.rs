use std::collections::BTreeSet;

use super::fact_entry::{FactEntry, FactEntryState};
use crate::facts::{FactGroup, Subject, catalog};
use crate::report::view::wording;
use crate::rules::{Level, Outcome};
use crate::tui::rule_results::RuleResult;
use crate::tui::screen::PageContext;
use crate::tui::theme::{DIM, DOUBT, PLAIN};
use crate::tui::widgets::columns::{Column, StyledText};
use crate::tui::widgets::text;

pub fn fact_group_heading(group: FactGroup) -> &'static str {
    match group {
        FactGroup::Flushes => "Facts that decide",
        FactGroup::Speed => "Speed and layout",
        FactGroup::Health => "Health",
        FactGroup::Identity => "Identity",
        FactGroup::Other => "Other facts",
    }
}

pub fn is_folded_by_default(group: FactGroup) -> bool {
    matches!(group, FactGroup::Identity | FactGroup::Other)
}

/// Facts in `decides` belong to the first group, whatever their group in the catalogue.
pub fn displayed_group(fact: &str, decides: &BTreeSet<&str>) -> FactGroup {
    match catalog::find_by_name(fact) {
        _ if decides.contains(fact) => FactGroup::Flushes,
        info => info.map_or(FactGroup::Other, |info| info.group),
    }
}

/// The facts of a subject on which applying findings above [`Level::Keep`] depend, and missing
/// facts that would decide a rule.
pub fn deciding_fact_names<'a>(view: &PageContext<'a>, subject: &Subject) -> BTreeSet<&'a str> {
    let PageContext { data, report, .. } = *view;
    let mut facts = BTreeSet::new();
    let applying = data
        .focus
        .rules
        .iter()
        .filter(|rule| rule.result == RuleResult::Applies);
    for finding in applying.flat_map(|rule| rule.rule_findings_in_report(report)) {
        let counts = finding.outcome == Outcome::Applies && finding.level > Level::Keep;
        if let Some(trace) = finding.trace.as_deref().filter(|_| counts) {
            let seen = trace.readings_of_all_tests().into_iter();
            facts.extend(
                seen.filter(|one| one.subject == *subject)
                    .map(|one| one.fact),
            );
        }
    }
    let needs = data
        .focus
        .needs
        .iter()
        .filter(|(need, _)| need.subject == *subject);
    facts.extend(needs.map(|(need, _)| need.fact.as_str()));
    facts
}

/// Width in columns at which a value is cut; the details show it in full.
const MAX_VALUE_WIDTH: usize = 160;

const MAX_SOURCE_WIDTH: usize = 30;

/// Mark, name, value and source of a fact.
pub const COLUMNS: [Column; 4] = [
    Column::new_cuttable(1),
    Column::new_wrapping(36),
    Column::new_wrapping(24),
    Column::new_cuttable(10),
];

pub fn full_fact_cells(fact: &FactEntry<'_>) -> Vec<StyledText> {
    let (mark, says, role, source) = match &fact.state {
        FactEntryState::Known(value, source) => ("", value.clone(), PLAIN, shorten_source(source)),
        FactEntryState::Unknown(need, is_gap) => {
            let remedy = need
                .remedy
                .as_ref()
                .map(|remedy| format!(" → {remedy}"))
                .unwrap_or_default();
            let (mark, role) = if *is_gap { ("?", DOUBT) } else { ("", DIM) };
            (
                mark,
                format!("unknown: {}{remedy}", wording::missing_fact_reason(need)),
                role,
                String::new(),
            )
        }
    };
    vec![
        (mark.to_owned(), DOUBT),
        (fact.name.to_owned(), PLAIN),
        (says, role),
        (source, DIM),
    ]
}

fn shorten_source(source: &str) -> String {
    if source.starts_with('/') {
        text::truncate_start(source, MAX_SOURCE_WIDTH)
    } else {
        text::truncate_to_width(source, MAX_SOURCE_WIDTH)
    }
}

pub fn short_fact_cells(fact: &FactEntry<'_>) -> Vec<StyledText> {
    let label = catalog::find_by_name(fact.name).map_or_else(
        || fact.name.to_owned(),
        crate::facts::KeyInfo::display_label,
    );
    let mut cells = full_fact_cells(fact);
    if let [_, name, says, source] = cells.as_mut_slice() {
        *name = (label, DIM);
        says.0 = text::truncate_to_width(&says.0, MAX_VALUE_WIDTH);
        source.0.clear();
    }
    cells
}
