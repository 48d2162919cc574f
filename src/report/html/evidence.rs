//! Every finding with its place in the document, by rule; and the facts they rest on.

use std::collections::BTreeMap;

use super::anchors;
use super::markup::{Markup, tag};
use super::section::{mark, table};
use crate::facts::{FactRow, Reading, catalog};
use crate::report::Report;
use crate::report::telling::{Mark, words};
use crate::rules::{Finding, Outcome};

/// How many facts there is room for beside each target.
const FACTS: usize = 400;
/// How many conditions of a finding are told.
const SEEN: usize = 12;

/// What every rule says that applies or is undecided, and of what, the worst first.
pub fn findings(report: &Report) -> Markup {
    let mut order: Vec<&str> = Vec::new();
    let mut by_rule: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        let of_rule = by_rule.entry(&finding.rule).or_default();
        if of_rule.is_empty() {
            order.push(&finding.rule);
        }
        of_rule.push(finding);
    }
    let rules = order.iter().filter_map(|rule| by_rule.get(rule).map(|all| of_rule(rule, all)));
    Markup::all(rules)
}

fn of_rule(rule: &str, findings: &[&Finding]) -> Markup {
    let first = findings.first();
    let reason = first.map_or("", |finding| &*finding.because);
    let item = |finding: &Finding| {
        let is_open = match finding.outcome {
            Outcome::Undecided { .. } => true,
            Outcome::Applies | Outcome::DoesNotApply => false,
        };
        let own = if *finding.because == *reason { "" } else { &*finding.because };
        let seen = seen(finding);
        let mut item = tag("li")
            .with("id", &anchors::finding(&finding.rule, &finding.subject))
            .add(mark(&Mark::Level(finding.level, is_open)))
            .text(" ")
            .text(&words::subject(&finding.subject))
            .text(": ")
            .text(&finding.title);
        if !own.is_empty() {
            item = item.add(tag("p").text(own));
        }
        Markup::from(if seen.is_empty() { item } else { item.add(tag("p").with("class", "dim").text(&seen)) })
    };
    let heading = tag("h3").with("id", &anchors::rule(rule)).add(tag("code").text(rule));
    let list = tag("ul").adding(findings.iter().map(|finding| item(finding)));
    Markup::from(heading).and(tag("p").text(reason)).and(list)
}

/// What was seen, where the reasons were kept.
fn seen(finding: &Finding) -> String {
    let Some(trace) = &finding.trace else { return String::new() };
    let all = crate::rules::explain::rows(trace).into_iter().filter(|row| !row.seen.is_empty());
    let told: Vec<String> = all.take(SEEN).map(|row| format!("{}: {}", row.label, row.seen)).collect();
    told.join(" · ")
}

/// The facts, those of a subject together, and how many found no room.
pub fn facts(report: &Report) -> Markup {
    let room = FACTS.saturating_mul(report.targets.len().max(1));
    let is_told = |row: &FactRow<'_>| row.reading.is_known() || row.reading.is_gap();
    let mut by_subject: BTreeMap<_, Vec<FactRow<'_>>> = BTreeMap::new();
    let mut left = 0_usize;
    for (at, row) in report.facts.rows().filter(is_told).enumerate() {
        if at < room {
            by_subject.entry(row.subject).or_default().push(row);
        } else {
            left = left.saturating_add(1);
        }
    }
    let each = by_subject.into_iter().map(|(subject, rows)| {
        let name = subject.to_string();
        let rows: Vec<Vec<Markup>> = rows.iter().map(fact).collect();
        let heading = tag("h3").add(tag("code").text(&name));
        Markup::from(heading).and(table(&name, &["fact", "value", "read from"], &[], rows))
    });
    let all = Markup::all(each);
    if left == 0 {
        return all;
    }
    let more = format!("{left} more facts are in the data of this document, and in walwise facts.");
    all.and(tag("p").text(&more))
}

fn fact(row: &FactRow<'_>) -> Vec<Markup> {
    let (value, from) = match row.reading {
        Reading::Known { value, source } => (catalog::show(row.fact, value), source.to_string()),
        Reading::Unknown { why, detail, remedy } => {
            let why = if detail.is_empty() { why.to_string() } else { format!("{why}: {detail}") };
            (format!("not known: {why}"), remedy.as_ref().map(ToString::to_string).unwrap_or_default())
        }
    };
    vec![tag("code").text(row.fact).into(), Markup::text(&value), Markup::text(&from)]
}

/// A fold with a heading.
pub fn fold(heading: &str, id: &str, inner: Markup) -> Markup {
    let summary = tag("summary").add(tag("h2").with("id", id).text(heading));
    tag("details").add(summary).add(inner).into()
}
