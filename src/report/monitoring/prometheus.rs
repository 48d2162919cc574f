//! Metrics for the textfile collector of Prometheus' node exporter, in its text format.
//!
//! No sample has a time stamp, because the collector then skips the whole file (node_exporter, collector/textfile.go). A
//! metric without samples is left out, so a price that nobody measured is absent and never 0. Findings and targets beyond
//! a bound are counted in `walwise_left_out`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{MOST_FINDINGS, MOST_TARGETS, applying, standing_word};
use crate::durability::Standing;
use crate::facts::Choice;
use crate::report::exit;
use crate::report::model::Report;
use crate::rules::Level;

pub fn render(report: &Report) -> String {
    let mut page = Metrics::default();
    page.metric("walwise_build_info", "The version of walwise.");
    page.sample(&[("version", report.tool.version.as_str())], 1.0);
    page.metric("walwise_pack_info", "The rules and tables in force; fingerprint is their SHA-256.");
    page.sample(
        &[("version", report.pack.version.as_str()), ("fingerprint", report.pack.sha256.as_str())],
        1.0,
    );
    if let Some(seconds) = seconds(&report.when) {
        page.metric("walwise_last_run_timestamp_seconds", "When this report was made.");
        page.sample(&[], seconds);
    }
    let left_out = [verdicts(&mut page, report), findings(&mut page, report)];
    prices(&mut page, report);
    page.metric("walwise_left_out", "How many targets and findings have no series of their own.");
    for (of, count) in ["targets", "findings"].into_iter().zip(left_out) {
        page.sample(&[("of", of)], figure(count));
    }
    page.text
}

fn verdicts(page: &mut Metrics, report: &Report) -> usize {
    page.metric(
        "walwise_verdict",
        "The durability verdict of a target: 1 for its standing, 0 for the others.",
    );
    for verdict in report.verdicts.iter().take(MOST_TARGETS) {
        for standing in Standing::ALL {
            let word = standing_word(*standing);
            let labels = [("target", verdict.target.name()), ("standing", word.as_str())];
            page.sample(&labels, f64::from(u8::from(verdict.standing == *standing)));
        }
    }
    report.verdicts.len().saturating_sub(MOST_TARGETS)
}

fn findings(page: &mut Metrics, report: &Report) -> usize {
    page.metric("walwise_findings", "Findings that apply, by level.");
    for level in Level::ALL {
        page.sample(&[("level", level.word())], figure(applying(report, level).len()));
    }
    page.metric("walwise_undecided", "Rules that lack more than a measurement to be decided, by level.");
    for level in Level::ALL {
        page.sample(&[("level", level.word())], figure(exit::undecided(report, level)));
    }
    page.metric("walwise_finding", "A critical finding or a warning that applies.");
    let serious: Vec<_> =
        [Level::Critical, Level::Warning].into_iter().flat_map(|level| applying(report, level)).collect();
    for finding in serious.iter().take(MOST_FINDINGS) {
        let subject = finding.subject.to_string();
        let labels =
            [("rule", finding.rule.as_str()), ("subject", subject.as_str()), ("level", finding.level.word())];
        page.sample(&labels, 1.0);
    }
    serious.len().saturating_sub(MOST_FINDINGS)
}

fn prices(page: &mut Metrics, report: &Report) {
    let told = || report.prices.iter().take(MOST_TARGETS);
    page.metric(
        "walwise_commit_seconds",
        "What a durable commit of one page costs, by the last run that measured it.",
    );
    for price in told() {
        for row in &price.methods {
            let stats = [
                ("mean", Some(row.mean_us)),
                ("median", Some(row.median_us)),
                ("p95", Some(row.p95_us)),
                ("p99", row.p99_us),
            ];
            for (stat, us) in stats {
                let labels = [("target", price.target.name()), ("method", row.method.name()), ("stat", stat)];
                if let Some(us) = us {
                    page.sample(&labels, us / 1e6);
                }
            }
        }
    }
    page.metric("walwise_commit_measured_timestamp_seconds", "When that was measured.");
    for price in told() {
        if let Some(at) = seconds(&price.when) {
            page.sample(&[("target", price.target.name())], at);
        }
    }
}

/// A point of time in seconds since 1970.
fn seconds(when: &str) -> Option<f64> {
    when.parse::<jiff::Timestamp>().ok().map(|at| at.as_second() as f64)
}

fn figure(count: usize) -> f64 {
    count as f64
}

/// Metrics that are being written.
#[derive(Default)]
struct Metrics {
    text: String,
    /// The present metric, and its head while it has no sample.
    name: &'static str,
    head: String,
    /// The series that stand there: the collector refuses a file that has one twice.
    seen: BTreeSet<String>,
}

impl Metrics {
    /// Begins a metric; all are gauges.
    fn metric(&mut self, name: &'static str, help: &str) {
        self.name = name;
        self.head = format!("# HELP {name} {help}\n# TYPE {name} gauge\n");
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let series = format!("{}{labels}", self.name);
        if value.is_finite() && self.seen.insert(series.clone()) {
            self.text.push_str(&std::mem::take(&mut self.head));
            let _ = writeln!(self.text, "{series} {value}");
        }
    }
}

/// The value of a label. Text of a report is display-safe, so that a line break in it is one of ours.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
