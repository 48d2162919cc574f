//! The forms for monitoring: their contracts over every combination of what counts, and over hostile names.

use std::collections::BTreeSet;

use super::*;
use crate::facts::Source;
use crate::facts::Subject;
use crate::facts::catalog::target::{FLUSH, Flush};
use crate::report::{Format, price, sample};

fn durable_with_price() -> Report {
    let mut report = sample::at_risk();
    report.facts.know(&sample::data(), &FLUSH, Flush::Sent, Source::derived(["mount.barrier"]));
    report.prices = price::measured(&report);
    report
}

fn with(finding: Option<Level>, undecided: bool) -> Report {
    let mut report = sample::free_disk();
    let make = |level| sample::finding("rule.one", &sample::new_disk(), level, Vec::new());
    report.findings = finding.map(make).into_iter().collect();
    if undecided {
        let open = Outcome::Undecided { needs: vec![Vec::new()] };
        report.findings.push(Finding { outcome: open, ..make(Level::Critical) });
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
        assert_eq!(Health::from_report(&report), health, "{found:?} {undecided}");
        assert_eq!(Protocol::Nagios.code(health), Some(nagios));
        assert_eq!(Protocol::Ours.code(health).or(Protocol::Periodic.code(health)), None);
        let line = Format::Nagios.render(&report).unwrap();
        assert!(line.starts_with(&format!("WALWISE {} - ", health.word())), "{line}");
    }
    let mut report = with(None, false);
    report.warnings.push(RulesNote::Loss { sentence: "a file is gone".to_owned() }.into());
    assert_eq!(Health::from_report(&report), Health::Unknown);
}

/// A line for a node may not say more than what was found: of an unproven verdict, and of rules that are not in force.
#[test]
fn what_is_not_known_is_not_called_fine() {
    let mut unproven = sample::at_risk();
    unproven.findings.clear();
    unproven.verdicts.iter_mut().for_each(|verdict| verdict.standing = Standing::Unproven);
    assert_eq!(Health::from_report(&unproven), Health::Warning);
    let mut lost = with(None, false);
    lost.warnings.push(RulesNote::Loss { sentence: "a file is gone".to_owned() }.into());
    let line = Format::Nagios.render(&lost).unwrap();
    assert!(line.contains("rules are missing") && !line.contains("undecided;"), "{line}");
    let line = Format::Nagios.render(&with(None, true)).unwrap();
    assert!(line.contains("1 critical rule is undecided"), "{line}");
}

/// Every line is a comment or one sample without a time stamp, no series stands twice, and every metric has its head.
fn assert_metrics(text: &str) {
    let (mut series, mut heads) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            heads.insert(head.split(' ').next().unwrap().to_owned());
        } else if !line.starts_with("# HELP ") {
            let (of, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok() && (of.ends_with('}') || !of.contains(' ')), "{line}");
            assert!(heads.contains(of.split('{').next().unwrap()), "{line}");
            assert!(series.insert(of.to_owned()), "twice: {line}");
        }
    }
}

#[test]
fn a_price_is_there_with_its_time_or_absent() {
    let text = Format::Prometheus.render(&durable_with_price()).unwrap();
    assert_metrics(&text);
    assert!(text.contains("walwise_commit_seconds{target=\"/srv/pg/15/main\",method="), "{text}");
    assert!(
        text.contains("walwise_commit_measured_timestamp_seconds{target=\"/srv/pg/15/main\"} 1"),
        "{text}"
    );
    assert!(text.contains("walwise_verdict{target=\"/srv/pg/15/main\",standing=\"at-risk\"} 1"), "{text}");
    let unmeasured = Report { prices: Vec::new(), ..sample::at_risk() };
    for report in [unmeasured, sample::free_disk()] {
        let text = Format::Prometheus.render(&report).unwrap();
        assert_metrics(&text);
        assert!(!text.contains("walwise_commit"), "{text}");
        assert!(!Format::Nagios.render(&report).unwrap().contains("commit "));
    }
    assert!(Format::Nagios.render(&durable_with_price()).unwrap().contains("'commit /srv/pg/15/main'=0.00"));
}

/// What is undecided counts as what applies does: not beside the target that was asked for, and not for want of a
/// measurement alone.
#[test]
fn what_is_undecided_counts_like_what_applies() {
    let undecided = |report: &Report| {
        let text = Format::Prometheus.render(report).unwrap();
        let of = "walwise_undecided{level=\"critical\"} ";
        text.lines().find_map(|line| line.strip_prefix(of)).unwrap().parse::<usize>().unwrap()
    };
    let mut report = with(None, true);
    assert_eq!(undecided(&report), 1);
    report.asked = Some(report.targets[0].title.clone());
    assert_eq!(undecided(&report), 1);
    report.findings[0].subject = Subject::mount("/beside");
    assert_eq!((undecided(&report), Health::from_report(&report)), (0, Health::Good));
    report.asked = None;
    assert_eq!((undecided(&report), Health::from_report(&report)), (1, Health::Unknown));
}

/// Ten thousand findings make a bounded number of series, and what is left out is counted.
#[test]
fn the_number_of_series_is_bounded() {
    let mut report = sample::free_disk();
    let finding =
        |n| sample::finding("rule.one", &Subject::device(format!("sd{n}")), Level::Warning, Vec::new());
    report.findings = (0..10_000).map(finding).collect();
    let text = Format::Prometheus.render(&report).unwrap();
    assert_metrics(&text);
    assert!(text.lines().count() < 300 && text.contains("walwise_left_out{of=\"findings\"} 9800"), "{text}");
    assert!(Format::Nagios.render(&report).unwrap().len() < 2000);
}

#[test]
fn names_stay_names() {
    for name in ["/a\"} 1\\", "/a|b=c'd", "/<x a='b'>&\"]]>", "/%s{{x}}", &"/x".repeat(2000)] {
        let mut report = durable_with_price();
        let target = Subject::target(name);
        report.verdicts[0].target = target.clone();
        report.prices[0].target = target.clone();
        report.findings.push(sample::finding("rule.one", &target, Level::Critical, Vec::new()));
        assert_metrics(&Format::Prometheus.render(&report).unwrap());
        let line = Format::Nagios.render(&report).unwrap();
        assert_eq!((line.lines().count(), line.matches('|').count()), (1, 1), "{line}");
        let (_, data) = line.split_once('|').unwrap();
        assert_eq!(data.matches('\'').count(), 2, "{data}");
    }
}
