//! The facts of a layer as they are read: what decides something first, then speed and health; what it is and all else
//! folded. Plain words and units; name and source of each are beneath it.

use std::collections::BTreeSet;

use ratatui::text::{Line, Span};

use super::fact::{FactLine, FactState};
use crate::facts::{FactGroup, Subject, catalog};
use crate::report::Report;
use crate::report::telling::words as told;
use crate::rules::{Level, Outcome, Trace};
use crate::ui::data::Data;
use crate::ui::judged::CameTo;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::text;
use crate::ui::words;

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
    pub const ALL: [Self; 5] = [Self::Decides, Self::Speed, Self::Health, Self::Identity, Self::Other];

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

/// The facts of a subject that something rests on: findings that apply, and what would decide a rule.
pub fn deciding<'a>(data: &'a Data, report: &'a Report, subject: &Subject) -> BTreeSet<&'a str> {
    let mut facts = BTreeSet::new();
    let applying = data.focus.rules.iter().filter(|rule| rule.came_to == CameTo::Applies);
    for finding in applying.flat_map(|rule| rule.of(report)) {
        let counts = finding.outcome == Outcome::Applies && finding.level > Level::Keep;
        if let Some(trace) = finding.trace.as_deref().filter(|_| counts) {
            seen(trace, subject, &mut facts);
        }
    }
    let needs = data.focus.needs.iter().filter(|(need, _)| need.subject == *subject);
    facts.extend(needs.map(|(need, _)| need.fact.as_str()));
    facts
}

fn seen<'a>(trace: &'a Trace, subject: &Subject, facts: &mut BTreeSet<&'a str>) {
    facts.extend(trace.seen.as_ref().filter(|seen| seen.subject == *subject).map(|seen| seen.fact));
    for kid in &trace.kids {
        seen(kid, subject, facts);
    }
}

/// So many rows of a value are shown before it is opened.
const ROWS: usize = 3;

fn label(fact: &FactLine<'_>) -> String {
    catalog::find(fact.name).map_or_else(|| fact.name.to_owned(), crate::facts::KeyInfo::label)
}

/// The columns of the longest name, in at most half of the room.
pub fn longest<'f>(facts: impl Iterator<Item = &'f FactLine<'f>>, room: usize) -> usize {
    facts.map(|fact| text::width(&label(fact))).max().unwrap_or_default().min(room / 2)
}

/// One fact in plain words: a mark where it is unknown, its name, its value.
pub fn row(fact: &FactLine<'_>, theme: Theme, name: usize, room: usize) -> Vec<Line<'static>> {
    let label = label(fact);
    let left = name + 4;
    let (mark, says, role) = match &fact.said {
        FactState::Known(value, _) => ("", value.clone(), TextRole::Plain),
        FactState::Unknown(need, is_gap) => {
            let remedy = words::remedy(need);
            let remedy = if remedy.is_empty() { String::new() } else { format!(" → {remedy}") };
            let role = if *is_gap { TextRole::Doubt } else { TextRole::Dim };
            (if *is_gap { "?" } else { "" }, format!("{}{remedy}", told::reason(need)), role)
        }
    };
    let mut rows = text::wrap(&says, room.saturating_sub(left).max(8));
    if rows.len() > ROWS {
        rows.truncate(ROWS);
        if let Some(last) = rows.last_mut() {
            last.push('…');
        }
    }
    let line = |(i, row): (usize, String)| {
        let (mark, label) = if i == 0 { (mark, &*label) } else { ("", "") };
        Line::from(vec![
            Span::styled(text::pad(mark, 2), theme.style(TextRole::Doubt)),
            Span::styled(text::pad(label, name + 2), theme.style(TextRole::Dim)),
            Span::styled(row, theme.style(role)),
        ])
    };
    rows.into_iter().enumerate().map(line).collect()
}
