use std::collections::{BTreeMap, BTreeSet};

use super::anchors;
use super::markup::{Markup, Tag, tag};
use super::section::{badge_markup, scrollable_frame};
use crate::Report;
use crate::view::{Badge, wording};
use walwise_judge::rules::Finding;
use walwise_judge::rules::explain::trace_rows;
use walwise_model::facts::{FactRow, Scope, Subject, catalog};
use walwise_model::text::JoinText;

/// The page shows at most this many facts per target of the report, on average.
const MAX_FACTS: usize = 400;
/// Maximum number of conditions shown for one finding.
const MAX_CONDITIONS: usize = 12;

pub fn rule_sections(report: &Report) -> Markup {
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
        .filter_map(|rule| by_rule.get(rule).map(|all| rule_section(rule, all)));
    Markup::concat(rules)
}

fn rule_section(rule: &str, findings: &[&Finding]) -> Markup {
    let first = findings.first();
    let reason = first.map_or("", |finding| &*finding.because);
    let item = |finding: &Finding| {
        let is_open = finding.outcome.is_undecided();
        let own = if *finding.because == *reason {
            ""
        } else {
            &*finding.because
        };
        let seen = tag("p").attr("class", "dim");
        tag("li")
            .attr(
                "id",
                &anchors::finding_anchor(&finding.rule, &finding.subject),
            )
            .add(badge_markup(&Badge::Level(finding.level, is_open)))
            .add_text(" ")
            .add_text(&wording::describe_subject(&finding.subject))
            .add_text(": ")
            .add_text(&finding.title)
            .add(tag("p").add_text(own).none_if_empty())
            .add(
                seen.add_text(&observed_values_text(finding))
                    .none_if_empty(),
            )
    };
    let heading = tag("h3")
        .attr("id", &anchors::rule_anchor(rule))
        .add(tag("code").add_text(rule));
    let list = tag("ul").add_all(findings.iter().map(|finding| item(finding)));
    Markup::from(heading)
        .append(tag("p").add_text(reason))
        .append(list)
}

fn observed_values_text(finding: &Finding) -> String {
    let Some(trace) = &finding.trace else {
        return String::new();
    };
    trace_rows(trace)
        .into_iter()
        .filter(|row| !row.reading.is_empty())
        .take(MAX_CONDITIONS)
        .map(|row| format!("{}: {}", row.label, row.reading))
        .join_with(" · ")
}

/// Facts of the host, of the targets' subjects, and of the subjects in flush paths. Other facts are
/// only in the JSON data.
pub struct FactAppendix<'a> {
    by_subject: BTreeMap<&'a Subject, Vec<FactRow<'a>>>,
    omitted: usize,
}

impl<'a> FactAppendix<'a> {
    pub fn from_report(report: &'a Report) -> Self {
        let room = MAX_FACTS.saturating_mul(report.targets.len().max(1));
        let hops = report
            .verdicts
            .iter()
            .flat_map(|verdict| &verdict.flush_path);
        let subjects = report.targets.iter().flat_map(|target| &target.subjects);
        let subjects: BTreeSet<&Subject> =
            subjects.chain(hops.flat_map(|hop| &hop.subjects)).collect();
        let concerns =
            |subject: &Subject| subject.scope() == Scope::Host || subjects.contains(subject);
        let is_told = |row: &FactRow<'_>| row.reading.is_known() || row.reading.is_fillable_gap();
        let (mut told, mut count) = (
            Self {
                by_subject: BTreeMap::new(),
                omitted: 0,
            },
            0,
        );
        for row in report.facts.rows().filter(is_told) {
            if count < room && concerns(row.subject) {
                count += 1;
                told.by_subject.entry(row.subject).or_default().push(row);
            } else {
                told.omitted = told.omitted.saturating_add(1);
            }
        }
        told
    }

    /// Makes a link element without text that leads to the facts of a subject. `None` if the page
    /// does not show these facts.
    pub fn facts_link(&self, subject: &Subject) -> Option<Tag> {
        let to = || tag("a").attr("href", &format!("#{}", anchors::facts_anchor(subject)));
        self.by_subject.contains_key(subject).then(to)
    }

    pub fn facts_table(&self) -> Markup {
        if self.by_subject.is_empty() {
            return Markup::default();
        }
        let group = |(subject, rows): (&&Subject, &Vec<FactRow<'_>>)| {
            let name = tag("code").add_text(&subject.to_string());
            let head = tag("th")
                .attr("colspan", "3")
                .attr("scope", "colgroup")
                .add(name);
            tag("tbody")
                .attr("id", &anchors::facts_anchor(subject))
                .add(tag("tr").add(head))
                .add_all(rows.iter().map(fact_row))
        };
        let heads = ["fact", "value", "read from"]
            .map(|name| tag("th").attr("scope", "col").add_text(name));
        let table = tag("table")
            .attr("class", "facts")
            .add(tag("thead").add(tag("tr").add_all(heads)))
            .add_all(self.by_subject.iter().map(group));
        let all = Markup::from(scrollable_frame("Table: facts", table));
        if self.omitted == 0 {
            return all;
        }
        let more = format!(
            "{} more facts are in the JSON data of this page and in `walwise facts`.",
            self.omitted
        );
        all.append(tag("p").add_text(&more))
    }
}

fn fact_row(row: &FactRow<'_>) -> Tag {
    let (value, from) = catalog::value_and_source_or_unknown_reason(row.fact, row.reading)
        .unwrap_or_else(|(why, remedy)| (format!("unknown: {why}"), remedy.unwrap_or_default()));
    tag("tr").add_all([row.fact, &value, &from].map(|cell| tag("td").add_text(cell)))
}

/// The style sheet leaves a closed appendix out in print.
pub fn collapsible_section(heading: &str, id: &str, is_appendix: bool, inner: Markup) -> Markup {
    let summary = tag("summary").add(tag("h2").attr("id", id).add_text(heading));
    let fold = tag("details");
    let fold = if is_appendix {
        fold.attr("class", "appendix")
    } else {
        fold
    };
    fold.add(summary).add(inner).into()
}
