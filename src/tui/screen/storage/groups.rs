//! The facts of a layer as they are read: what decides something first, then speed and health; what
//! it is and all else folded. Plain words and units; name and source of each are beneath it.

use std::collections::BTreeSet;

use super::fact::{FactLine, FactState};
use crate::facts::{FactGroup, Subject, catalog};
use crate::report::Report;
use crate::report::telling::words as told;
use crate::rules::{Level, Outcome, Trace};
use crate::tui::data::Data;
use crate::tui::judged::CameTo;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::{Column, StyledText};
use crate::tui::widgets::text;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DisplayGroup {
    /// What becomes of a flush, and what a finding rests on.
    Decides,
    Speed,
    /// Whether it is well.
    Health,
    Identity,
    /// All else.
    Other,
}

impl DisplayGroup {
    /// All of them, in the order in which they are shown.
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
            Self::Other => "Everything else",
        }
    }

    /// Whether its facts are shown only when asked for.
    pub fn is_folded(self) -> bool {
        matches!(self, Self::Identity | Self::Other)
    }

    /// The group of a fact, given those that findings rest on.
    pub fn of(fact: &str, decides: &BTreeSet<&str>) -> Self {
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

/// The facts of a subject that something rests on: findings that apply, and what would decide a
/// rule.
pub fn deciding<'a>(data: &'a Data, report: &'a Report, subject: &Subject) -> BTreeSet<&'a str> {
    let mut facts = BTreeSet::new();
    let applying = data
        .focus
        .rules
        .iter()
        .filter(|rule| rule.came_to == CameTo::Applies);
    for finding in applying.flat_map(|rule| rule.of(report)) {
        let counts = finding.outcome == Outcome::Applies && finding.level > Level::Keep;
        if let Some(trace) = finding.trace.as_deref().filter(|_| counts) {
            seen(trace, subject, &mut facts);
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

fn seen<'a>(trace: &'a Trace, subject: &Subject, facts: &mut BTreeSet<&'a str>) {
    facts.extend(
        trace
            .seen
            .as_ref()
            .filter(|seen| seen.subject == *subject)
            .map(|seen| seen.fact),
    );
    for kid in &trace.kids {
        seen(kid, subject, facts);
    }
}

/// The most columns of a value that are shown before it is opened.
const MOST: usize = 160;

/// The most columns of a source.
const SOURCE: usize = 30;

/// A mark, a name, a value, and where that was read. Names are not broken.
pub const SHAPE: [Column; 4] = [
    Column::keep(1),
    Column::wrap(36),
    Column::wrap(24),
    Column::keep(10),
];

/// A fact by its name, with its source.
pub fn in_full(fact: &FactLine<'_>, theme: Theme) -> Vec<StyledText> {
    let (mark, says, role, source) = match &fact.said {
        FactState::Known(value, source) => ("", value.clone(), TextRole::Plain, short(source)),
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
                format!("unknown: {}{remedy}", told::reason(need)),
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

/// A source in a row: of a path the end, of a conclusion that it is one.
fn short(source: &str) -> String {
    if source.starts_with('/') {
        text::fit_end(source, SOURCE)
    } else {
        text::fit(source, SOURCE)
    }
}

/// The same in plain words, without its source.
pub fn in_short(fact: &FactLine<'_>, theme: Theme) -> Vec<StyledText> {
    let label =
        catalog::find(fact.name).map_or_else(|| fact.name.to_owned(), crate::facts::KeyInfo::label);
    let mut cells = in_full(fact, theme);
    if let [_, name, says, source] = cells.as_mut_slice() {
        *name = (label, theme.style(TextRole::Dim));
        says.0 = text::fit(&says.0, MOST);
        source.0.clear();
    }
    cells
}
