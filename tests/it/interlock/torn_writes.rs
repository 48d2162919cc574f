//! The chain of evidence for atomic page writes never opens the interlock: neither one link nor all
//! links together.

use walwise_judge::durability::{VerdictCaps, judge_targets};
use walwise_judge::rules::{EvaluationOptions, Outcome, RuleSet, evaluate_rule};
use walwise_model::facts::{ServerArea, Subject};
use walwise_report::Report;

use super::{RULE, data_losing_advice};
use crate::support::test_host::{TestHost, data_subject};

/// Facts of the chain for atomic page writes, each with representative values. The first value
/// confirms the chain. Facts of the partition are about `sda1`.
const LINKS: &[(&str, &[&str])] = &[
    ("mysql.innodb_page_size", &["16384", "32768", "?"]),
    (
        "mysql.innodb_flush_method",
        &["O_DIRECT", "fsync", "O_DSYNC", "littlesync", "nosync", "?"],
    ),
    ("kernel.version", &["6.1.0", "4.14.0", "?"]),
    ("mount.fstype", &["ext4", "xfs", "btrfs", "?"]),
    (
        "ext4.features",
        &["extent,bigalloc", "extent", "extent,bigalloc,encrypt", "?"],
    ),
    ("ext4.cluster_size", &["16384", "8192", "?"]),
    ("ext4.data", &["ordered", "journal", "?"]),
    ("target.flags", &["", "journal-data", "?"]),
    ("device.start", &["1048576", "32256", "?"]),
    (
        "device.cloud",
        &[
            "Amazon Elastic Block Store",
            "Amazon EC2 instance store",
            "Google persistent disk",
            "Google local SSD",
            "Azure managed disk",
            "Azure local disk",
            "Alibaba Elastic Block Storage",
            "Oracle block volume",
            "?",
        ],
    ),
    ("device.max_io", &["262144", "8192", "?"]),
];

fn protected_mysql_host(doublewrite: &str, values: &[(&str, &str)]) -> TestHost {
    let mut machine = TestHost::new_with_protected_cache();
    let cluster = Subject::cluster("/data");
    machine.facts.set_fact_link(&data_subject(), &cluster);
    machine.facts.set_fact_link(&cluster, &data_subject());
    machine.facts.set_server_area(&cluster, ServerArea::Mysql);
    for (fact, word) in [
        ("cluster.kind", "mysql"),
        ("mysql.version", "8.4.3"),
        ("mysql.innodb_flush_log_at_trx_commit", "1"),
        ("mysql.log_bin", "false"),
        ("mysql.fsync_disabled_by", "none"),
        ("mysql.running", "true"),
        ("mysql.innodb_flush_method", "fsync"),
        ("mysql.innodb_doublewrite", doublewrite),
        ("target.roles", "data,redo"),
        ("target.clusters", "/data"),
    ] {
        machine.set_fact(fact, word);
    }
    for (fact, word) in values {
        match *fact {
            "device.start" => machine.set_fact_of(&Subject::device("sda1"), fact, word),
            _ => machine.set_fact(fact, word),
        }
    }
    machine
}

fn doublewrite_rules_applying(report: &Report) -> Vec<&str> {
    let rules = ["mysql.doublewrite-off", "mysql.torn-write-prevention"];
    let applying = report
        .findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies);
    applying
        .map(|finding| finding.rule.as_str())
        .filter(|rule| rules.contains(rule))
        .collect()
}

#[test]
fn no_torn_write_link_unlocks_advice() {
    let holding: Vec<(&str, &str)> = LINKS
        .iter()
        .map(|(fact, values)| (*fact, values[0]))
        .collect();
    let offer = format!("option add nobarrier by {RULE}");
    let copies = |values: &[(&str, &str)]| {
        data_losing_advice(&protected_mysql_host("on", values).report(true))
    };
    assert_eq!(
        copies(&[]),
        copies(&holding),
        "they add nothing to a machine with copies"
    );
    assert_eq!(copies(&holding), [offer]);
    let all = protected_mysql_host("off", &holding).report(true);
    assert_eq!(
        (data_losing_advice(&all), doublewrite_rules_applying(&all)),
        (vec![], vec!["mysql.torn-write-prevention"])
    );
    let mut seen = 0;
    for (i, (fact, values)) in LINKS.iter().enumerate() {
        for value in &values[1..] {
            let mut other = holding.clone();
            other[i].1 = value;
            let report = protected_mysql_host("off", &other).report(true);
            assert_eq!(data_losing_advice(&report), [""; 0], "{fact} = {value}");
            // An unknown file system leaves the question of atomic page writes undecided.
            let expect: &[&str] = if (*fact, *value) == ("mount.fstype", "?") {
                &[]
            } else {
                &["mysql.doublewrite-off"]
            };
            assert_eq!(
                doublewrite_rules_applying(&report),
                expect,
                "{fact} = {value}"
            );
            let assumed = format!("~{}", values[0]);
            other[i].1 = &assumed;
            assert_eq!(
                data_losing_advice(&protected_mysql_host("off", &other).report(true)),
                [""; 0],
                "{fact}, assumed"
            );
            seen += 1;
        }
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn no_pair_of_torn_write_links_unlocks_advice() {
    let rules = RuleSet::builtin();
    let about = |id: &str| rules.rules().iter().find(|rule| rule.id == id).unwrap();
    let (critical, warning) = (
        about("mysql.doublewrite-off"),
        about("mysql.torn-write-prevention"),
    );
    let holding: Vec<(&str, &str)> = LINKS
        .iter()
        .map(|(fact, values)| (*fact, values[0]))
        .collect();
    let deviations = LINKS
        .iter()
        .enumerate()
        .flat_map(|(i, (_, values))| values[1..].iter().map(move |v| (i, *v)));
    let deviations: Vec<(usize, &str)> = deviations.collect();
    for (at, (i, first)) in deviations.iter().enumerate() {
        for (j, second) in deviations.iter().skip(at + 1).filter(|(j, _)| j != i) {
            let mut values = holding.clone();
            (values[*i].1, values[*j].1) = (first, second);
            let mut facts = protected_mysql_host("off", &values).facts;
            judge_targets(&mut facts, true, &VerdictCaps::default());
            let applies = |rule| {
                let circumstances = EvaluationOptions {
                    live: true,
                    traced: true,
                };
                evaluate_rule(rule, &facts, &data_subject(), circumstances).outcome
                    == Outcome::Applies
            };
            let unknown = [(*i, first), (*j, second)]
                .iter()
                .any(|(i, v)| (LINKS[*i].0, **v) == ("mount.fstype", "?"));
            assert!(
                !applies(warning),
                "{:?} {first} {:?} {second}",
                LINKS[*i].0,
                LINKS[*j].0
            );
            assert_eq!(
                applies(critical),
                !unknown,
                "{:?} {first} {:?} {second}",
                LINKS[*i].0,
                LINKS[*j].0
            );
        }
    }
}
