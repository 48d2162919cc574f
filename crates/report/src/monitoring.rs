//! Output for monitoring systems: a plug-in line for Nagios, and metrics for Prometheus. It depends
//! on the report alone, not on host or clock.

pub mod nagios {
    //! One line for Nagios and Icinga, with performance data (Monitoring Plugins Development
    //! Guidelines).

    use super::{PluginState, applying_findings_of_level, reason_for_unknown_state, summary_line};
    use crate::exit;
    use crate::model::Report;
    use walwise_judge::rules::Level;
    use walwise_model::text::JoinText;
    use walwise_model::text::escape_display_unsafe_lines;

    const MAX_NAMED: usize = 3;
    const MAX_LATENCIES: usize = 16;

    /// Limit on the text before the performance data. Nagios cuts plug-in output at 8 kB.
    const MAX_TEXT_CHARS: usize = 1000;

    pub fn render_nagios_output(report: &Report) -> String {
        let count = |level| applying_findings_of_level(report, level).len();
        let health = PluginState::from_report(report);
        let mut says = summary_line(report, MAX_NAMED);
        if health == PluginState::Unknown {
            says = format!("{}; {says}", reason_for_unknown_state(report));
        }
        let mut data = vec![
            format!("critical={};;0;0", count(Level::Critical)),
            format!("warning={};0;;0", count(Level::Warning)),
            format!(
                "undecided={};;;0",
                exit::count_findings_lacking_non_probe_facts(report, Level::Critical)
            ),
        ];
        for price in report.prices.iter().take(MAX_LATENCIES) {
            for row in price.methods.iter().filter(|row| row.chosen) {
                let seconds = row.median_us / 1e6;
                // These characters delimit the fields of performance data.
                let label = price.target.name().replace(['=', '\'', '|'], "_");
                data.push(format!("'commit {label}'={seconds}s;;;0"));
            }
        }
        format!(
            "WALWISE {} - {} | {}\n",
            health.as_str(),
            nagios_safe_text(&says),
            data.join(" ")
        )
    }

    pub fn nagios_failure_line(sentence: &str) -> String {
        format!(
            "WALWISE {} - {}\n",
            PluginState::Unknown.as_str(),
            nagios_safe_text(&escape_display_unsafe_lines(sentence))
        )
    }

    /// Joins lines and replaces `|`, which begins the performance data, by `/`. Long text is cut.
    fn nagios_safe_text(says: &str) -> String {
        says.lines()
            .join_with(" ")
            .replace('|', "/")
            .chars()
            .take(MAX_TEXT_CHARS)
            .collect()
    }
}
pub mod prometheus {
    //! Metrics for the textfile collector of Prometheus' node exporter, in the Prometheus text
    //! format.
    //!
    //! No sample has a timestamp, because the collector skips files with timestamps (node_exporter,
    //! collector/textfile.go). A metric without samples is left out, so an unmeasured latency is
    //! absent and never 0. `walwise_left_out` counts the targets and findings beyond the limits.

    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::{MAX_FINDINGS, MAX_TARGETS, applying_findings_of_level, kebab_case_verdict};
    use crate::exit;
    use crate::model::Report;
    use walwise_judge::durability::VerdictKind;
    use walwise_judge::rules::Level;
    use walwise_model::facts::Choice;

    pub fn render_prometheus_metrics(report: &Report) -> String {
        let mut page = MetricsWriter::default();
        page.begin_metric("walwise_build_info", "The version of walwise.");
        page.add_sample(&[("version", report.tool.version.as_str())], 1.0);
        page.begin_metric(
            "walwise_pack_info",
            "The rules and tables in force; fingerprint is their SHA-256.",
        );
        page.add_sample(
            &[
                ("version", report.pack.version.as_str()),
                ("fingerprint", report.pack.sha256.as_str()),
            ],
            1.0,
        );
        if let Some(seconds) = parse_unix_seconds(&report.when) {
            page.begin_metric(
                "walwise_last_run_timestamp_seconds",
                "Unix time of this report.",
            );
            page.add_sample(&[], seconds);
        }
        let left_out = [
            write_verdicts_and_count_omitted(&mut page, report),
            write_findings_and_count_omitted(&mut page, report),
        ];
        write_latency_metrics(&mut page, report);
        page.begin_metric(
            "walwise_left_out",
            "Number of targets and findings omitted because the number of series is limited.",
        );
        for (of, count) in ["targets", "findings"].into_iter().zip(left_out) {
            page.add_sample(&[("of", of)], count as f64);
        }
        page.text
    }

    fn write_verdicts_and_count_omitted(page: &mut MetricsWriter, report: &Report) -> usize {
        page.begin_metric(
            "walwise_verdict",
            "Durability verdict of a target: 1 for its current verdict, 0 for all others.",
        );
        for verdict in report.verdicts.iter().take(MAX_TARGETS) {
            for standing in VerdictKind::ALL {
                let word = kebab_case_verdict(*standing);
                let labels = [
                    ("target", verdict.target.name()),
                    ("standing", word.as_str()),
                ];
                page.add_sample(&labels, f64::from(u8::from(verdict.standing == *standing)));
            }
        }
        report.verdicts.len().saturating_sub(MAX_TARGETS)
    }

    fn write_findings_and_count_omitted(page: &mut MetricsWriter, report: &Report) -> usize {
        let mut write_by_level = |name, help, count: fn(&Report, Level) -> usize| {
            page.begin_metric(name, help);
            for &level in Level::ALL {
                page.add_sample(&[("level", level.as_str())], count(report, level) as f64);
            }
        };
        write_by_level(
            "walwise_findings",
            "Number of findings that apply, by level.",
            |report, level| applying_findings_of_level(report, level).len(),
        );
        write_by_level(
            "walwise_undecided",
            "Number of undecided rules by level, excluding those that only need a measurement.",
            exit::count_findings_lacking_non_probe_facts,
        );
        page.begin_metric(
            "walwise_finding",
            "A critical finding or a warning that applies.",
        );
        let serious: Vec<_> = [Level::Critical, Level::Warning]
            .into_iter()
            .flat_map(|level| applying_findings_of_level(report, level))
            .collect();
        for finding in serious.iter().take(MAX_FINDINGS) {
            let subject = finding.subject.to_string();
            let labels = [
                ("rule", finding.rule.as_str()),
                ("subject", subject.as_str()),
                ("level", finding.level.as_str()),
            ];
            page.add_sample(&labels, 1.0);
        }
        serious.len().saturating_sub(MAX_FINDINGS)
    }

    fn write_latency_metrics(page: &mut MetricsWriter, report: &Report) {
        let told = || report.prices.iter().take(MAX_TARGETS);
        page.begin_metric(
            "walwise_commit_seconds",
            "Latency of paced one-page commits by one client, from the last run that measured it.",
        );
        for price in told() {
            for row in &price.methods {
                for (stat, us) in [("median", Some(row.median_us)), ("p99", row.p99_us)] {
                    let labels = [
                        ("target", price.target.name()),
                        ("method", row.method.name()),
                        ("stat", stat),
                    ];
                    // A sample that is not finite is left out.
                    page.add_sample(&labels, us.unwrap_or(f64::NAN) / 1e6);
                }
            }
        }
        page.begin_metric(
            "walwise_commit_measured_timestamp_seconds",
            "Unix time of the commit latency measurement.",
        );
        for price in told() {
            if let Some(at) = parse_unix_seconds(&price.when) {
                page.add_sample(&[("target", price.target.name())], at);
            }
        }
    }

    fn parse_unix_seconds(when: &str) -> Option<f64> {
        when.parse::<jiff::Timestamp>()
            .ok()
            .map(|at| at.as_second() as f64)
    }

    #[derive(Default)]
    struct MetricsWriter {
        text: String,
        /// Name of the metric that `begin_metric` began last.
        name: &'static str,
        /// HELP and TYPE lines, which are written with the first sample of the metric.
        pending_head: String,
        /// The series written so far. The collector rejects a file in which a series occurs twice.
        series: BTreeSet<String>,
    }

    impl MetricsWriter {
        /// Every metric of walwise is a gauge.
        fn begin_metric(&mut self, name: &'static str, help: &str) {
            self.name = name;
            self.pending_head = format!("# HELP {name} {help}\n# TYPE {name} gauge\n");
        }

        fn add_sample(&mut self, labels: &[(&str, &str)], value: f64) {
            let labels: Vec<String> = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escape_label(value)))
                .collect();
            let labels = if labels.is_empty() {
                String::new()
            } else {
                format!("{{{}}}", labels.join(","))
            };
            let series = format!("{}{labels}", self.name);
            if value.is_finite() && self.series.insert(series.clone()) {
                self.text.push_str(&std::mem::take(&mut self.pending_head));
                let _ = writeln!(self.text, "{series} {value}");
            }
        }
    }

    /// Line breaks are the only control characters in the text of a report.
    fn escape_label(value: &str) -> String {
        value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    }
}

use super::exit::{self, FailThreshold, WorstResult};
use super::fixes;
use super::model::Report;
use walwise_judge::durability::{Verdict, VerdictKind};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::NoteKind;
use walwise_model::text::JoinText;

/// Critical findings and warnings beyond this number get no series.
const MAX_FINDINGS: usize = 200;

/// Verdicts and latencies of targets beyond this number get no series.
const MAX_TARGETS: usize = 100;

/// The variants are in the order of the exit codes 0 to 3 of a Nagios or Icinga plug-in
/// (Monitoring Plugins Development Guidelines).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginState {
    Good,
    Warning,
    /// A critical finding applies, or the verdict of a target has the level critical.
    Critical,
    /// A critical rule is undecided, a verdict is unproven, boot mounts could not be read, or
    /// configured rules are not in force.
    Unknown,
}

impl PluginState {
    /// Critical takes precedence over warning, and warning over unknown.
    pub fn from_report(report: &Report) -> Self {
        let of = |level, undecided| exit::worst_result(report, FailThreshold { level, undecided });
        match of(Level::Warning, false) {
            WorstResult::Finding(Level::Critical) => return Self::Critical,
            WorstResult::Finding(
                Level::Warning | Level::Advice | Level::Optional | Level::Keep,
            ) => {
                return Self::Warning;
            }
            WorstResult::Undecided | WorstResult::Nothing => {}
        }
        let is_open = of(Level::Critical, true) == WorstResult::Undecided;
        if is_open || lacks_configured_rules(report) {
            Self::Unknown
        } else {
            Self::Good
        }
    }

    /// The status word that the Monitoring Plugins Development Guidelines require.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}

fn applying_findings_of_level(report: &Report, level: Level) -> Vec<&Finding> {
    exit::findings_for_requested_target(report)
        .into_iter()
        .filter(|finding| finding.level == level && finding.outcome == Outcome::Applies)
        .collect()
}

/// Formats a verdict as one lower-case word, such as `at-risk`.
fn kebab_case_verdict(standing: VerdictKind) -> String {
    standing.as_str().replace(' ', "-")
}

fn lacks_configured_rules(report: &Report) -> bool {
    report
        .warnings
        .iter()
        .any(|note| note.kind == NoteKind::RulesNotInForce)
}

fn reason_for_unknown_state(report: &Report) -> String {
    let open = match exit::count_findings_lacking_non_probe_facts(report, Level::Critical) {
        0 => None,
        1 => Some("1 critical rule is undecided".to_owned()),
        more => Some(format!("{more} critical rules are undecided")),
    };
    let missing = lacks_configured_rules(report).then(|| "configured rules are missing".to_owned());
    open.into_iter().chain(missing).join_with(", ")
}

/// Summarises the report in one line: bad verdicts, then the other critical findings and warnings.
/// Names at most `most` verdicts, and `most` findings of each level.
fn summary_line(report: &Report, most: usize) -> String {
    let mut bad: Vec<&Verdict> = report
        .verdicts
        .iter()
        .filter(|verdict| exit::verdict_level(verdict.standing).is_some())
        .collect();
    bad.sort_by_key(|verdict| verdict.standing);
    let says = |verdict: &&Verdict| format!("{} {}", verdict.target.name(), verdict.standing);
    let mut parts = describe_first_and_count(&bad, most, says);
    for level in [Level::Critical, Level::Warning] {
        let title = |finding: &&Finding| format!("{} ({})", finding.title, finding.rule);
        let mut found = applying_findings_of_level(report, level);
        found.retain(|finding| !fixes::is_verdict_rule(&finding.rule));
        if !found.is_empty() {
            parts.push(format!(
                "{} {}: {}",
                found.len(),
                level.as_str(),
                describe_first_and_count(&found, most, title).join(", ")
            ));
        }
    }
    if parts.is_empty() {
        "no critical findings or warnings".to_owned()
    } else {
        parts.join("; ")
    }
}

fn describe_first_and_count<T>(all: &[T], most: usize, says: impl Fn(&T) -> String) -> Vec<String> {
    let mut parts: Vec<String> = all.iter().take(most).map(says).collect();
    match all.len().saturating_sub(most) {
        0 => {}
        more => parts.push(format!("{more} more")),
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Format, latency, sample_reports};
    use walwise_model::facts::Source;
    use walwise_model::facts::Subject;
    use walwise_model::facts::catalog::target::{FLUSH, FlushDelivery};

    fn report_with_latencies() -> Report {
        let mut report = sample_reports::at_risk();
        report.facts.insert_known(
            &sample_reports::data_target(),
            &FLUSH,
            FlushDelivery::Sent,
            Source::derived_from(["mount.barrier"]),
        );
        report.prices = latency::latencies_from_probes(&report);
        report
    }

    fn report_with_finding(finding: Option<Level>, undecided: bool) -> Report {
        let mut report = sample_reports::free_disk();
        let make = |level| {
            sample_reports::applying_finding(
                "rule.one",
                &sample_reports::free_disk_target(),
                level,
                Vec::new(),
            )
        };
        report.findings = finding.map(make).into_iter().collect();
        if undecided {
            let open = Outcome::Undecided {
                needs: vec![Vec::new()],
            };
            report.findings.push(Finding {
                outcome: open,
                ..make(Level::Critical)
            });
        }
        report
    }

    #[test]
    fn plugin_state_and_exit_code_by_finding() {
        let cases = [
            (None, false, PluginState::Good, 0),
            (Some(Level::Advice), false, PluginState::Good, 0),
            (Some(Level::Warning), false, PluginState::Warning, 1),
            (Some(Level::Warning), true, PluginState::Warning, 1),
            (Some(Level::Critical), false, PluginState::Critical, 2),
            (Some(Level::Critical), true, PluginState::Critical, 2),
            (None, true, PluginState::Unknown, 3),
            (Some(Level::Advice), true, PluginState::Unknown, 3),
        ];
        for (found, undecided, health, nagios) in cases {
            let report = report_with_finding(found, undecided);
            assert_eq!(
                PluginState::from_report(&report),
                health,
                "{found:?} {undecided}"
            );
            assert_eq!(Format::Nagios.exit_code(health), Some(nagios));
            assert_eq!(Format::Prometheus.exit_code(health), None);
            let line = Format::Nagios.render(&report).unwrap();
            assert!(
                line.starts_with(&format!("WALWISE {} - ", health.as_str())),
                "{line}"
            );
        }
        let mut report = report_with_finding(None, false);
        report.warnings.push(walwise_model::facts::Note::new(
            NoteKind::RulesNotInForce,
            "a file is gone",
        ));
        assert_eq!(PluginState::from_report(&report), PluginState::Unknown);
    }

    #[test]
    fn unproven_verdict_and_missing_rules_are_not_ok() {
        let mut unproven = sample_reports::at_risk();
        unproven.findings.clear();
        unproven
            .verdicts
            .iter_mut()
            .for_each(|verdict| verdict.standing = VerdictKind::Unproven);
        assert_eq!(PluginState::from_report(&unproven), PluginState::Warning);
        let mut lost = report_with_finding(None, false);
        lost.warnings.push(walwise_model::facts::Note::new(
            NoteKind::RulesNotInForce,
            "a file is gone",
        ));
        let line = Format::Nagios.render(&lost).unwrap();
        assert!(
            line.contains("rules are missing") && !line.contains("undecided;"),
            "{line}"
        );
        let line = Format::Nagios
            .render(&report_with_finding(None, true))
            .unwrap();
        assert!(line.contains("1 critical rule is undecided"), "{line}");
    }

    fn assert_valid_metrics(text: &str) {
        let (mut series, mut heads) = (BTreeSet::new(), BTreeSet::new());
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("# TYPE ") {
                heads.insert(head.split(' ').next().unwrap().to_owned());
            } else if !line.starts_with("# HELP ") {
                let (of, value) = line.rsplit_once(' ').unwrap();
                assert!(
                    value.parse::<f64>().is_ok() && (of.ends_with('}') || !of.contains(' ')),
                    "{line}"
                );
                assert!(heads.contains(of.split('{').next().unwrap()), "{line}");
                assert!(series.insert(of.to_owned()), "twice: {line}");
            }
        }
    }

    #[test]
    fn latency_metrics_require_a_measurement() {
        let text = Format::Prometheus.render(&report_with_latencies()).unwrap();
        assert_valid_metrics(&text);
        assert!(
            text.contains("walwise_commit_seconds{target=\"/srv/pg/15/main\",method="),
            "{text}"
        );
        assert!(
            text.contains(
                "walwise_commit_measured_timestamp_seconds{target=\"/srv/pg/15/main\"} 1"
            ),
            "{text}"
        );
        assert!(
            text.contains("walwise_verdict{target=\"/srv/pg/15/main\",standing=\"at-risk\"} 1"),
            "{text}"
        );
        let unmeasured = Report {
            prices: Vec::new(),
            ..sample_reports::at_risk()
        };
        for report in [unmeasured, sample_reports::free_disk()] {
            let text = Format::Prometheus.render(&report).unwrap();
            assert_valid_metrics(&text);
            assert!(!text.contains("walwise_commit"), "{text}");
            assert!(!Format::Nagios.render(&report).unwrap().contains("commit "));
        }
        assert!(
            Format::Nagios
                .render(&report_with_latencies())
                .unwrap()
                .contains("'commit /srv/pg/15/main'=0.00")
        );
    }

    #[test]
    fn undecided_count_is_limited_to_target() {
        let undecided = |report: &Report| {
            let text = Format::Prometheus.render(report).unwrap();
            let of = "walwise_undecided{level=\"critical\"} ";
            text.lines()
                .find_map(|line| line.strip_prefix(of))
                .unwrap()
                .parse::<usize>()
                .unwrap()
        };
        let mut report = report_with_finding(None, true);
        assert_eq!(undecided(&report), 1);
        report.asked = Some(report.targets[0].title.clone());
        assert_eq!(undecided(&report), 1);
        report.findings[0].subject = Subject::mount("/beside");
        assert_eq!(
            (undecided(&report), PluginState::from_report(&report)),
            (0, PluginState::Good)
        );
        report.asked = None;
        assert_eq!(
            (undecided(&report), PluginState::from_report(&report)),
            (1, PluginState::Unknown)
        );
    }

    #[test]
    fn number_of_metric_series_is_bounded() {
        let mut report = sample_reports::free_disk();
        let finding = |n| {
            sample_reports::applying_finding(
                "rule.one",
                &Subject::device(format!("sd{n}")),
                Level::Warning,
                Vec::new(),
            )
        };
        report.findings = (0..10_000).map(finding).collect();
        let text = Format::Prometheus.render(&report).unwrap();
        assert_valid_metrics(&text);
        assert!(
            text.lines().count() < 300 && text.contains("walwise_left_out{of=\"findings\"} 9800"),
            "{text}"
        );
        assert!(Format::Nagios.render(&report).unwrap().len() < 2000);
    }

    #[test]
    fn hostile_names_keep_metrics_and_nagios_line_valid() {
        for name in [
            "/a\"} 1\\",
            "/a|b=c'd",
            "/<x a='b'>&\"]]>",
            "/%s{{x}}",
            &"/x".repeat(2000),
        ] {
            let mut report = report_with_latencies();
            let target = Subject::target(name);
            report.verdicts[0].target = target.clone();
            report.prices[0].target = target.clone();
            report.findings.push(sample_reports::applying_finding(
                "rule.one",
                &target,
                Level::Critical,
                Vec::new(),
            ));
            assert_valid_metrics(&Format::Prometheus.render(&report).unwrap());
            let line = Format::Nagios.render(&report).unwrap();
            assert_eq!(
                (line.lines().count(), line.matches('|').count()),
                (1, 1),
                "{line}"
            );
            let (_, data) = line.split_once('|').unwrap();
            assert_eq!(data.matches('\'').count(), 2, "{data}");
        }
    }
}
