//! The report for monitoring systems and for automation: one form each, drawn from the report's
//! value.
//!
//! Each form keeps the contract of its reader, to the exit code. What they share is here: what
//! counts, how much of it is named, and the words. Host, probe and clock are left to others, so a
//! form of the same report is the same bytes.

pub mod nagios {
    //! One line for Nagios and Icinga, with performance data (Monitoring Plugins Development
    //! Guidelines).

    use super::{Health, applying, line, unknown};
    use crate::exit;
    use crate::model::Report;
    use walwise_judge::rules::Level;
    use walwise_model::text::escape_lines;

    /// The largest number of things of a kind that the line names, and of targets with performance
    /// data.
    const MOST: usize = 3;
    const MOST_PRICES: usize = 16;

    /// The longest text before the performance data, in characters; Nagios cuts at 8 kB.
    const LONGEST: usize = 1000;

    pub fn render(report: &Report) -> String {
        let count = |level| applying(report, level).len();
        let health = Health::from_report(report);
        let says = match health {
            Health::Unknown => format!("{}; {}", unknown(report), line(report, MOST)),
            Health::Good | Health::Warning | Health::Critical => line(report, MOST),
        };
        let mut data = vec![
            format!("critical={};;0;0", count(Level::Critical)),
            format!("warning={};0;;0", count(Level::Warning)),
            format!("undecided={};;;0", exit::undecided(report, Level::Critical)),
        ];
        for price in report.prices.iter().take(MOST_PRICES) {
            for row in price.methods.iter().filter(|row| row.chosen) {
                let seconds = row.median_us / 1e6;
                data.push(format!(
                    "'commit {}'={seconds}s;;;0",
                    label(price.target.name())
                ));
            }
        }
        format!(
            "WALWISE {} - {} | {}\n",
            health.word(),
            text(&says),
            data.join(" ")
        )
    }

    /// The line for a run that failed.
    pub fn failure(sentence: &str) -> String {
        format!(
            "WALWISE {} - {}\n",
            Health::Unknown.word(),
            text(&escape_lines(sentence))
        )
    }

    /// Text before the bar that begins the performance data.
    fn text(says: &str) -> String {
        let plain = |c: char| if c == '|' { '/' } else { c };
        says.lines()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .map(plain)
            .take(LONGEST)
            .collect()
    }

    /// A label of performance data: no equals sign and no quote, and no bar, at which readers
    /// split.
    fn label(name: &str) -> String {
        name.chars()
            .map(|c| {
                if matches!(c, '=' | '\'' | '|') {
                    '_'
                } else {
                    c
                }
            })
            .collect()
    }
}
pub mod prometheus {
    //! Metrics for the textfile collector of Prometheus' node exporter, in its text format.
    //!
    //! No sample has a time stamp, because the collector then skips the whole file (node_exporter,
    //! collector/textfile.go). A metric without samples is left out, so a price that nobody
    //! measured is absent and never 0. Findings and targets beyond a bound are counted in
    //! `walwise_left_out`.

    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::{MOST_FINDINGS, MOST_TARGETS, applying, standing_word};
    use crate::exit;
    use crate::model::Report;
    use walwise_judge::durability::Standing;
    use walwise_judge::rules::Level;
    use walwise_model::facts::Choice;

    pub fn render(report: &Report) -> String {
        let mut page = Metrics::default();
        page.metric("walwise_build_info", "The version of walwise.");
        page.sample(&[("version", report.tool.version.as_str())], 1.0);
        page.metric(
            "walwise_pack_info",
            "The rules and tables in force; fingerprint is their SHA-256.",
        );
        page.sample(
            &[
                ("version", report.pack.version.as_str()),
                ("fingerprint", report.pack.sha256.as_str()),
            ],
            1.0,
        );
        if let Some(seconds) = seconds(&report.when) {
            page.metric(
                "walwise_last_run_timestamp_seconds",
                "When this report was made.",
            );
            page.sample(&[], seconds);
        }
        let left_out = [verdicts(&mut page, report), findings(&mut page, report)];
        prices(&mut page, report);
        page.metric(
            "walwise_left_out",
            "How many targets and findings have no series of their own.",
        );
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
                let labels = [
                    ("target", verdict.target.name()),
                    ("standing", word.as_str()),
                ];
                page.sample(&labels, f64::from(u8::from(verdict.standing == *standing)));
            }
        }
        report.verdicts.len().saturating_sub(MOST_TARGETS)
    }

    fn findings(page: &mut Metrics, report: &Report) -> usize {
        page.metric("walwise_findings", "Findings that apply, by level.");
        for level in Level::ALL {
            page.sample(
                &[("level", level.word())],
                figure(applying(report, level).len()),
            );
        }
        page.metric(
            "walwise_undecided",
            "Rules that lack more than a measurement to be decided, by level.",
        );
        for level in Level::ALL {
            page.sample(
                &[("level", level.word())],
                figure(exit::undecided(report, level)),
            );
        }
        page.metric(
            "walwise_finding",
            "A critical finding or a warning that applies.",
        );
        let serious: Vec<_> = [Level::Critical, Level::Warning]
            .into_iter()
            .flat_map(|level| applying(report, level))
            .collect();
        for finding in serious.iter().take(MOST_FINDINGS) {
            let subject = finding.subject.to_string();
            let labels = [
                ("rule", finding.rule.as_str()),
                ("subject", subject.as_str()),
                ("level", finding.level.word()),
            ];
            page.sample(&labels, 1.0);
        }
        serious.len().saturating_sub(MOST_FINDINGS)
    }

    fn prices(page: &mut Metrics, report: &Report) {
        let told = || report.prices.iter().take(MOST_TARGETS);
        page.metric(
            "walwise_commit_seconds",
            "Latency of a paced commit of one page by one client, by the last run that measured it.",
        );
        for price in told() {
            for row in &price.methods {
                let stats = [("median", Some(row.median_us)), ("p99", row.p99_us)];
                for (stat, us) in stats {
                    let labels = [
                        ("target", price.target.name()),
                        ("method", row.method.name()),
                        ("stat", stat),
                    ];
                    if let Some(us) = us {
                        page.sample(&labels, us / 1e6);
                    }
                }
            }
        }
        page.metric(
            "walwise_commit_measured_timestamp_seconds",
            "When that was measured.",
        );
        for price in told() {
            if let Some(at) = seconds(&price.when) {
                page.sample(&[("target", price.target.name())], at);
            }
        }
    }

    /// A point of time in seconds since 1970.
    fn seconds(when: &str) -> Option<f64> {
        when.parse::<jiff::Timestamp>()
            .ok()
            .map(|at| at.as_second() as f64)
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
            let labels: Vec<String> = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
                .collect();
            let labels = if labels.is_empty() {
                String::new()
            } else {
                format!("{{{}}}", labels.join(","))
            };
            let series = format!("{}{labels}", self.name);
            if value.is_finite() && self.seen.insert(series.clone()) {
                self.text.push_str(&std::mem::take(&mut self.head));
                let _ = writeln!(self.text, "{series} {value}");
            }
        }
    }

    /// The value of a label. Text of a report is display-safe, so that a line break in it is one of
    /// ours.
    fn escaped(value: &str) -> String {
        value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    }
}

use super::exit::{self, FailCondition, ReportConcern};
use super::model::Report;
use walwise_judge::durability::{Standing, Verdict};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::Note;
use walwise_model::facts::note::RulesNote;

/// The largest number of findings that are named one by one; the rest is counted.
const MOST_FINDINGS: usize = 200;

/// The largest number of targets that are named one by one.
const MOST_TARGETS: usize = 100;

/// Whose rules an exit code follows, and whether prices of earlier runs are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// walwise's own exit codes, about this run alone.
    Ours,
    /// walwise's own exit codes; prices of earlier runs are told.
    Periodic,
    /// A plug-in of Nagios or Icinga (Monitoring Plugins Development Guidelines): 0 to 3.
    Nagios,
}

/// What a plug-in says of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing at a warning or above.
    Good,
    Warning,
    /// A critical finding, or a verdict that counts like one.
    Critical,
    /// Nothing found, but a critical rule is undecided, or rules that should be in force are not.
    Unknown,
}

impl Health {
    /// What a report comes to: critical before warning before unknown.
    pub fn from_report(report: &Report) -> Self {
        let of = |level, undecided| exit::concern(report, FailCondition { level, undecided });
        match of(Level::Warning, false) {
            ReportConcern::Found(Level::Critical) => return Self::Critical,
            ReportConcern::Found(Level::Warning | Level::Advice | Level::Option | Level::Keep) => {
                return Self::Warning;
            }
            ReportConcern::Undecided | ReportConcern::Nothing => {}
        }
        let is_open = of(Level::Critical, true) == ReportConcern::Undecided;
        if is_open || lacks_rules(report) {
            Self::Unknown
        } else {
            Self::Good
        }
    }

    /// The word of the plug-in guidelines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl Protocol {
    /// The exit code that replaces walwise's own, if the protocol has one.
    pub fn code(self, health: Health) -> Option<u8> {
        match self {
            Self::Ours | Self::Periodic => None,
            Self::Nagios => Some(match health {
                Health::Good => 0,
                Health::Warning => 1,
                Health::Critical => 2,
                Health::Unknown => 3,
            }),
        }
    }

    /// The line for a run that failed; `None` where walwise's own error is the answer.
    pub fn failure(self, sentence: &str) -> Option<String> {
        match self {
            Self::Ours | Self::Periodic => None,
            Self::Nagios => Some(nagios::failure(sentence)),
        }
    }

    /// Whether prices of earlier runs are told.
    pub fn tells_earlier_prices(self) -> bool {
        !matches!(self, Self::Ours)
    }
}

/// The findings of a level that apply and count, in the report's order.
fn applying(report: &Report, level: Level) -> Vec<&Finding> {
    let counted = exit::counted(report).into_iter();
    counted
        .filter(|finding| finding.level == level && finding.outcome == Outcome::Applies)
        .collect()
}

/// The verdicts that count as bad, the worst first.
fn doubtful(report: &Report) -> Vec<&Verdict> {
    let mut bad: Vec<&Verdict> = report
        .verdicts
        .iter()
        .filter(|verdict| is_doubtful(verdict.standing))
        .collect();
    bad.sort_by_key(|verdict| verdict.standing);
    bad
}

/// Whether a verdict counts like a finding.
fn is_doubtful(standing: Standing) -> bool {
    exit::level(standing).is_some()
}

/// The word of a standing in labels and JSON: `at-risk`.
fn standing_word(standing: Standing) -> String {
    standing.word().replace(' ', "-")
}

/// Whether rules that should be in force are not.
fn lacks_rules(report: &Report) -> bool {
    report
        .warnings
        .iter()
        .any(|note| matches!(note, Note::Rules(RulesNote::Loss { .. })))
}

/// Why the health of a host is unknown.
fn unknown(report: &Report) -> String {
    let open = match exit::undecided(report, Level::Critical) {
        0 => None,
        1 => Some("1 critical rule is undecided".to_owned()),
        more => Some(format!("{more} critical rules are undecided")),
    };
    let missing =
        lacks_rules(report).then(|| "rules are missing that should be in force".to_owned());
    open.into_iter()
        .chain(missing)
        .collect::<Vec<_>>()
        .join(", ")
}

/// What is wrong, in a line: verdicts, then findings by their titles, at most `most` of each.
fn line(report: &Report, most: usize) -> String {
    let says =
        |verdict: &&Verdict| format!("{} {}", verdict.target.name(), verdict.standing.word());
    let mut parts = named(&doubtful(report), most, says);
    for level in [Level::Critical, Level::Warning] {
        let title = |finding: &&Finding| format!("{} ({})", finding.title, finding.rule);
        let found = applying(report, level);
        if !found.is_empty() {
            parts.push(format!(
                "{} {}: {}",
                found.len(),
                level.word(),
                named(&found, most, title).join(", ")
            ));
        }
    }
    if parts.is_empty() {
        "nothing critical, no warnings".to_owned()
    } else {
        parts.join("; ")
    }
}

fn named<T>(all: &[T], most: usize, says: impl Fn(&T) -> String) -> Vec<String> {
    let mut parts: Vec<String> = all.iter().take(most).map(says).collect();
    match all.len().saturating_sub(most) {
        0 => {}
        more => parts.push(format!("{more} more")),
    }
    parts
}

#[cfg(test)]
mod tests {
    //! The forms for monitoring: their contracts over every combination of what counts, and over
    //! hostile names.

    use std::collections::BTreeSet;

    use super::*;
    use crate::{Format, price, sample};
    use walwise_model::facts::Source;
    use walwise_model::facts::Subject;
    use walwise_model::facts::catalog::target::{FLUSH, Flush};

    fn durable_with_price() -> Report {
        let mut report = sample::at_risk();
        report.facts.know(
            &sample::data(),
            &FLUSH,
            Flush::Sent,
            Source::derived(["mount.barrier"]),
        );
        report.prices = price::measured(&report);
        report
    }

    fn with(finding: Option<Level>, undecided: bool) -> Report {
        let mut report = sample::free_disk();
        let make = |level| sample::finding("rule.one", &sample::new_disk(), level, Vec::new());
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
    fn every_protocol_has_its_own_exit_codes() {
        let cases = [
            (None, false, Health::Good, 0),
            (Some(Level::Advice), false, Health::Good, 0),
            (Some(Level::Warning), false, Health::Warning, 1),
            (Some(Level::Warning), true, Health::Warning, 1),
            (Some(Level::Critical), false, Health::Critical, 2),
            (Some(Level::Critical), true, Health::Critical, 2),
            (None, true, Health::Unknown, 3),
            (Some(Level::Advice), true, Health::Unknown, 3),
        ];
        for (found, undecided, health, nagios) in cases {
            let report = with(found, undecided);
            assert_eq!(
                Health::from_report(&report),
                health,
                "{found:?} {undecided}"
            );
            assert_eq!(Protocol::Nagios.code(health), Some(nagios));
            assert_eq!(
                Protocol::Ours
                    .code(health)
                    .or(Protocol::Periodic.code(health)),
                None
            );
            let line = Format::Nagios.render(&report).unwrap();
            assert!(
                line.starts_with(&format!("WALWISE {} - ", health.word())),
                "{line}"
            );
        }
        let mut report = with(None, false);
        report.warnings.push(
            RulesNote::Loss {
                sentence: "a file is gone".to_owned(),
            }
            .into(),
        );
        assert_eq!(Health::from_report(&report), Health::Unknown);
    }

    /// A line for a node may not say more than what was found: of an unproven verdict, and of rules
    /// that are not in force.
    #[test]
    fn what_is_not_known_is_not_called_fine() {
        let mut unproven = sample::at_risk();
        unproven.findings.clear();
        unproven
            .verdicts
            .iter_mut()
            .for_each(|verdict| verdict.standing = Standing::Unproven);
        assert_eq!(Health::from_report(&unproven), Health::Warning);
        let mut lost = with(None, false);
        lost.warnings.push(
            RulesNote::Loss {
                sentence: "a file is gone".to_owned(),
            }
            .into(),
        );
        let line = Format::Nagios.render(&lost).unwrap();
        assert!(
            line.contains("rules are missing") && !line.contains("undecided;"),
            "{line}"
        );
        let line = Format::Nagios.render(&with(None, true)).unwrap();
        assert!(line.contains("1 critical rule is undecided"), "{line}");
    }

    /// Every line is a comment or one sample without a time stamp, no series stands twice, and
    /// every metric has its head.
    fn assert_metrics(text: &str) {
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
    fn a_price_is_there_with_its_time_or_absent() {
        let text = Format::Prometheus.render(&durable_with_price()).unwrap();
        assert_metrics(&text);
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
            ..sample::at_risk()
        };
        for report in [unmeasured, sample::free_disk()] {
            let text = Format::Prometheus.render(&report).unwrap();
            assert_metrics(&text);
            assert!(!text.contains("walwise_commit"), "{text}");
            assert!(!Format::Nagios.render(&report).unwrap().contains("commit "));
        }
        assert!(
            Format::Nagios
                .render(&durable_with_price())
                .unwrap()
                .contains("'commit /srv/pg/15/main'=0.00")
        );
    }

    /// What is undecided counts as what applies does: not beside the target that was asked for, and
    /// not for want of a measurement alone.
    #[test]
    fn what_is_undecided_counts_like_what_applies() {
        let undecided = |report: &Report| {
            let text = Format::Prometheus.render(report).unwrap();
            let of = "walwise_undecided{level=\"critical\"} ";
            text.lines()
                .find_map(|line| line.strip_prefix(of))
                .unwrap()
                .parse::<usize>()
                .unwrap()
        };
        let mut report = with(None, true);
        assert_eq!(undecided(&report), 1);
        report.asked = Some(report.targets[0].title.clone());
        assert_eq!(undecided(&report), 1);
        report.findings[0].subject = Subject::mount("/beside");
        assert_eq!(
            (undecided(&report), Health::from_report(&report)),
            (0, Health::Good)
        );
        report.asked = None;
        assert_eq!(
            (undecided(&report), Health::from_report(&report)),
            (1, Health::Unknown)
        );
    }

    /// Ten thousand findings make a bounded number of series, and what is left out is counted.
    #[test]
    fn the_number_of_series_is_bounded() {
        let mut report = sample::free_disk();
        let finding = |n| {
            sample::finding(
                "rule.one",
                &Subject::device(format!("sd{n}")),
                Level::Warning,
                Vec::new(),
            )
        };
        report.findings = (0..10_000).map(finding).collect();
        let text = Format::Prometheus.render(&report).unwrap();
        assert_metrics(&text);
        assert!(
            text.lines().count() < 300 && text.contains("walwise_left_out{of=\"findings\"} 9800"),
            "{text}"
        );
        assert!(Format::Nagios.render(&report).unwrap().len() < 2000);
    }

    #[test]
    fn names_stay_names() {
        for name in [
            "/a\"} 1\\",
            "/a|b=c'd",
            "/<x a='b'>&\"]]>",
            "/%s{{x}}",
            &"/x".repeat(2000),
        ] {
            let mut report = durable_with_price();
            let target = Subject::target(name);
            report.verdicts[0].target = target.clone();
            report.prices[0].target = target.clone();
            report.findings.push(sample::finding(
                "rule.one",
                &target,
                Level::Critical,
                Vec::new(),
            ));
            assert_metrics(&Format::Prometheus.render(&report).unwrap());
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
