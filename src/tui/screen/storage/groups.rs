//! Groups of a layer's facts: deciding ones first, then speed and health; identity and the rest are
//! folded. Rows have labels and units; name and source are in the details.

use std::collections::BTreeSet;

use super::fact::{FactLine, FactState};
use crate::facts::{FactGroup, Subject, catalog};
use crate::report::Report;
use crate::report::view::wording;
use crate::rules::{Level, Outcome, Trace};
use crate::tui::data::Data;
use crate::tui::rule_results::RuleResult;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::{Column, StyledText};
use crate::tui::widgets::text;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DisplayGroup {
    /// Flush handling, and facts behind findings.
    Decides,
    Speed,
    Health,
    Identity,
    Other,
}

impl DisplayGroup {
    /// In the order of the screen.
    pub const ALL: [Self; 5] = [
        Self::Decides,
        Self::Speed,
        Self::Health,
        Self::Identity,
        Self::Other,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Decides => "Decides",
            Self::Speed => "Speed and shape",
            Self::Health => "Health",
            Self::Identity => "Identity",
            Self::Other => "Other facts",
        }
    }

    /// Whether it is folded at first.
    pub fn is_folded(self) -> bool {
        matches!(self, Self::Identity | Self::Other)
    }

    /// The group of a fact, given those behind findings.
    pub fn for_fact(fact: &str, decides: &BTreeSet<&str>) -> Self {
        let group = catalog::find(fact).map_or(FactGroup::Other, |info| info.group);
        match group {
            _ if decides.contains(fact) => Self::Decides,
            FactGroup::Flushes => Self::Decides,
            FactGroup::Speed => Self::Speed,
            FactGroup::Health => Self::Health,
            FactGroup::Identity => Self::Identity,
            FactGroup::Other => Self::Other,
        }
    }
}

/// The facts of a subject behind applying findings, and those needed to decide a rule.
pub fn deciding_facts<'a>(
    data: &'a Data,
    report: &'a Report,
    subject: &Subject,
) -> BTreeSet<&'a str> {
    let mut facts = BTreeSet::new();
    let applying = data
        .focus
        .rules
        .iter()
        .filter(|rule| rule.result == RuleResult::Applies);
    for finding in applying.flat_map(|rule| rule.findings_in(report)) {
        let counts = finding.outcome == Outcome::Applies && finding.level > Level::Keep;
        if let Some(trace) = finding.trace.as_deref().filter(|_| counts) {
            collect_seen(trace, subject, &mut facts);
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

fn collect_seen<'a>(trace: &'a Trace, subject: &Subject, facts: &mut BTreeSet<&'a str>) {
    facts.extend(
        trace
            .seen
            .as_ref()
            .filter(|seen| seen.subject == *subject)
            .map(|seen| seen.fact),
    );
    for kid in &trace.kids {
        collect_seen(kid, subject, facts);
    }
}

/// Columns of a value before it is unfolded.
const MAX_VALUE_WIDTH: usize = 160;

const MAX_SOURCE_WIDTH: usize = 30;

/// Mark, name, value, source. Names are not broken.
pub const COLUMNS: [Column; 4] = [
    Column::keep(1),
    Column::wrap(36),
    Column::wrap(24),
    Column::keep(10),
];

/// A fact by name, with its source.
pub fn full_cells(fact: &FactLine<'_>, theme: Theme) -> Vec<StyledText> {
    let (mark, says, role, source) = match &fact.state {
        FactState::Known(value, source) => {
            ("", value.clone(), TextRole::Plain, short_source(source))
        }
        FactState::Unknown(need, is_gap) => {
            let remedy = need
                .remedy
                .as_ref()
                .map(|remedy| format!(" → {remedy}"))
                .unwrap_or_default();
            let (mark, role) = if *is_gap {
                ("?", TextRole::Doubt)
            } else {
                ("", TextRole::Dim)
            };
            (
                mark,
                format!("unknown: {}{remedy}", wording::need_reason(need)),
                role,
                String::new(),
            )
        }
    };
    vec![
        (mark.to_owned(), theme.style(TextRole::Doubt)),
        (fact.name.to_owned(), theme.style(TextRole::Plain)),
        (says, theme.style(role)),
        (source, theme.style(TextRole::Dim)),
    ]
}

/// A short source: a path keeps its end, other text its beginning.
fn short_source(source: &str) -> String {
    if source.starts_with('/') {
        text::fit_end(source, MAX_SOURCE_WIDTH)
    } else {
        text::truncate(source, MAX_SOURCE_WIDTH)
    }
}

/// A fact by label, without its source.
pub fn short_cells(fact: &FactLine<'_>, theme: Theme) -> Vec<StyledText> {
    let label =
        catalog::find(fact.name).map_or_else(|| fact.name.to_owned(), crate::facts::KeyInfo::label);
    let mut cells = full_cells(fact, theme);
    if let [_, name, says, source] = cells.as_mut_slice() {
        *name = (label, theme.style(TextRole::Dim));
        says.0 = text::truncate(&says.0, MAX_VALUE_WIDTH);
        source.0.clear();
    }
    cells
}
