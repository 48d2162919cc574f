//! Every finding with its place in the document, by rule; and the facts they rest on.

use std::collections::{BTreeMap, BTreeSet};

use super::anchors;
use super::markup::{Markup, Tag, tag};
use super::section::{framed, mark};
use crate::Report;
use crate::telling::{Mark, words};
use walwise_judge::rules::{Finding, Outcome};
use walwise_model::facts::{FactRow, Reading, Scope, Subject, catalog};

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
    let rules = order
        .iter()
        .filter_map(|rule| by_rule.get(rule).map(|all| of_rule(rule, all)));
    Markup::all(rules)
}

fn of_rule(rule: &str, findings: &[&Finding]) -> Markup {
    let first = findings.first();
    let reason = first.map_or("", |finding| &*finding.because);
    let item = |finding: &Finding| {
        let is_open = matches!(finding.outcome, Outcome::Undecided { .. });
        let own = if *finding.because == *reason {
            ""
        } else {
            &*finding.because
        };
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
        Markup::from(if seen.is_empty() {
            item
        } else {
            item.add(tag("p").with("class", "dim").text(&seen))
        })
    };
    let heading = tag("h3")
        .with("id", &anchors::rule(rule))
        .add(tag("code").text(rule));
    let list = tag("ul").adding(findings.iter().map(|finding| item(finding)));
    Markup::from(heading).and(tag("p").text(reason)).and(list)
}

/// What was seen, where the reasons were kept.
fn seen(finding: &Finding) -> String {
    let Some(trace) = &finding.trace else {
        return String::new();
    };
    let all = walwise_judge::rules::explain::rows(trace)
        .into_iter()
        .filter(|row| !row.seen.is_empty());
    let told: Vec<String> = all
        .take(SEEN)
        .map(|row| format!("{}: {}", row.label, row.seen))
        .collect();
    told.join(" · ")
}

/// The facts that the document tells, those of a subject together: of the host and of what targets
/// rest on. The rest is in the data.
pub struct FactsTold<'a> {
    by_subject: BTreeMap<&'a Subject, Vec<FactRow<'a>>>,
    left: usize,
}

impl<'a> FactsTold<'a> {
    pub fn of(report: &'a Report) -> Self {
        let room = FACTS.saturating_mul(report.targets.len().max(1));
        let hops = report
            .verdicts
            .iter()
            .flat_map(|verdict| &verdict.flush_path);
        let subjects = report.targets.iter().flat_map(|target| &target.subjects);
        let subjects: BTreeSet<&Subject> =
            subjects.chain(hops.flat_map(|hop| &hop.subjects)).collect();
        let concerns =
            |subject: &Subject| subject.scope() == Scope::Host || subjects.contains(subject);
        let is_told = |row: &FactRow<'_>| row.reading.is_known() || row.reading.is_gap();
        let (mut told, mut count) = (
            Self {
                by_subject: BTreeMap::new(),
                left: 0,
            },
            0,
        );
        for row in report.facts.rows().filter(is_told) {
            if count < room && concerns(row.subject) {
                count += 1;
                told.by_subject.entry(row.subject).or_default().push(row);
            } else {
                told.left = told.left.saturating_add(1);
            }
        }
        told
    }

    /// A link to the facts about something, in which nothing stands yet; nothing where none are
    /// told.
    pub fn link(&self, subject: &Subject) -> Option<Tag> {
        let to = || tag("a").with("href", &format!("#{}", anchors::facts(subject)));
        self.by_subject.contains_key(subject).then(to)
    }

    /// All of them in one table, and how many found no room.
    pub fn table(&self) -> Markup {
        if self.by_subject.is_empty() {
            return Markup::default();
        }
        let group = |(subject, rows): (&&Subject, &Vec<FactRow<'_>>)| {
            let name = tag("code").text(&subject.to_string());
            let head = tag("th")
                .with("colspan", "3")
                .with("scope", "colgroup")
                .add(name);
            tag("tbody")
                .with("id", &anchors::facts(subject))
                .add(tag("tr").add(head))
                .adding(rows.iter().map(fact))
        };
        let heads =
            ["fact", "value", "read from"].map(|name| tag("th").with("scope", "col").text(name));
        let table = tag("table")
            .with("class", "facts")
            .add(tag("thead").add(tag("tr").adding(heads)))
            .adding(self.by_subject.iter().map(group));
        let all = Markup::from(framed("Table: facts", table));
        if self.left == 0 {
            return all;
        }
        let more = format!(
            "{} more facts are in the data of this document, and in walwise facts.",
            self.left
        );
        all.and(tag("p").text(&more))
    }
}

fn fact(row: &FactRow<'_>) -> Tag {
    let (value, from) = match row.reading {
        Reading::Known { value, source } => (catalog::show(row.fact, value), source.to_string()),
        Reading::Unknown {
            why,
            detail,
            remedy,
        } => {
            let why = if detail.is_empty() {
                why.to_string()
            } else {
                format!("{why}: {detail}")
            };
            (
                format!("not known: {why}"),
                remedy.as_ref().map(ToString::to_string).unwrap_or_default(),
            )
        }
    };
    tag("tr").adding([row.fact, &value, &from].map(|cell| tag("td").text(cell)))
}

/// A fold with a heading. One that is an appendix is printed only where it is open.
pub fn fold(heading: &str, id: &str, is_appendix: bool, inner: Markup) -> Markup {
    let summary = tag("summary").add(tag("h2").with("id", id).text(heading));
    let fold = tag("details");
    let fold = if is_appendix {
        fold.with("class", "appendix")
    } else {
        fold
    };
    fold.add(summary).add(inner).into()
}
