use proptest::prelude::*;

use super::*;
use super::{MethodSnapshot, ProbeSnapshot, TargetSnapshot};
use crate::model::difference::DisplayedValue;
use crate::sample_reports;
use walwise_judge::rules::Level;
use walwise_measure::measure::{Estimate, Method, ShiftDirection};
use walwise_model::facts::UnknownReason;

fn text_fact(value: &str) -> FactState {
    FactState::Known {
        value: DisplayedValue::Text(value.to_owned()),
    }
}

fn list_fact(value: &str) -> FactState {
    FactState::Known {
        value: DisplayedValue::Words(value.split(',').map(str::to_owned).collect()),
    }
}

fn insert_fact(kept: &mut ReportSnapshot, subject: &Subject, fact: &str, state: FactState) {
    let name = catalog::find_by_name(fact)
        .unwrap_or_else(|| panic!("no fact {fact}"))
        .name;
    kept.facts
        .entry(subject.clone())
        .or_default()
        .insert(name, state);
}

fn any_fact() -> impl Strategy<Value = FactState> {
    prop_oneof![
        4 => prop::sample::select(vec!["one", "two", ""]).prop_map(text_fact),
        2 => prop::sample::select(vec!["a,b", "b,a", "a", "a,b,c"]).prop_map(list_fact),
        1 => Just(FactState::Unknown { why: UnknownReason::Denied }),
        1 => Just(FactState::Unknown { why: UnknownReason::Absent }),
    ]
}

fn any_subject() -> impl Strategy<Value = Subject> {
    prop::sample::select(vec![
        Subject::host(),
        Subject::device("sda"),
        Subject::device("sda1"),
        Subject::device("sdb"),
        Subject::device("nvme0n1p1"),
        Subject::mount("/srv"),
        Subject::mount("/data"),
        Subject::target("/srv/pg"),
        Subject::target("/data/pg"),
        Subject::target("/dev/sdb"),
    ])
}

const FACTS: [&str; 6] = [
    "kernel.release",
    "device.scheduler",
    "mount.options",
    "mount.free",
    "target.verdict",
    "device.kind",
];

fn any_snapshot(renames: bool) -> impl Strategy<Value = ReportSnapshot> {
    let names: Vec<&str> = FACTS
        .into_iter()
        .chain(renames.then_some("device.serial"))
        .collect();
    let facts = prop::collection::vec(
        (any_subject(), prop::sample::select(names), any_fact()),
        0..30,
    );
    let rules = prop::sample::subsequence(vec!["a.one", "b.two", "c.three"], 0..=3);
    let level = prop::sample::select(Level::ALL.to_vec());
    let rule = prop::sample::select(vec!["a.one", "b.two", "c.three"]);
    let findings = prop::collection::vec((rule, any_subject(), any::<bool>(), level), 0..20);
    let path = || prop::sample::select(vec!["/srv/pg", "/data/pg", "/srv", "/dev/sdb", "/dev/sda"]);
    let device = prop::sample::select(vec!["sda", "sda1", "sdb", "nvme0n1p1"]);
    let target = (
        path().prop_map(Subject::target),
        path().prop_map(Subject::mount),
        device.prop_map(Subject::device),
    );
    let targets = prop::collection::vec(target, 0..if renames { 4 } else { 1 });
    (facts, rules, findings, targets, any::<bool>()).prop_map(
        |(facts, rules, findings, targets, later)| {
            let mut kept = ReportSnapshot {
                rules: rules.into_iter().map(str::to_owned).collect(),
                ..ReportSnapshot::default()
            };
            kept.origin.walwise = if later { "2" } else { "1" }.to_owned();
            for (subject, fact, state) in facts {
                insert_fact(&mut kept, &subject, fact, state);
            }
            for (rule, subject, applies, level) in findings {
                let finding = FindingState {
                    applies,
                    level,
                    title: rule.to_owned(),
                };
                kept.findings.insert((rule.to_owned(), subject), finding);
            }
            for (target, mount, device) in targets {
                let place = TargetSnapshot {
                    mount: Some(mount),
                    device: Some(device),
                    ..TargetSnapshot::default()
                };
                kept.targets.insert(target, place);
            }
            kept
        },
    )
}

fn reversed_change_kind(class: FindingChangeKind) -> FindingChangeKind {
    match class {
        FindingChangeKind::New => FindingChangeKind::Fixed,
        FindingChangeKind::Fixed => FindingChangeKind::New,
        FindingChangeKind::Decided => FindingChangeKind::Undecided,
        FindingChangeKind::Undecided => FindingChangeKind::Decided,
        FindingChangeKind::Appeared => FindingChangeKind::Gone,
        FindingChangeKind::Gone => FindingChangeKind::Appeared,
        FindingChangeKind::Same | FindingChangeKind::Level => class,
    }
}

proptest! {
    #[test]
    fn snapshot_has_no_difference_to_itself(kept in any_snapshot(true)) {
        let difference = compare_snapshots(&kept, &kept);
        prop_assert!(difference.facts.is_empty() && !difference.has_changes_besides_drift(), "{difference:?}");
        prop_assert!(difference.remarks.is_empty() && difference.same_host);
    }

    #[test]
    fn swapped_snapshots_give_mirrored_difference(before in any_snapshot(false), now in any_snapshot(false)) {
        let (there, back) = (compare_snapshots(&before, &now), compare_snapshots(&now, &before));
        prop_assert_eq!(&there.gone, &back.appeared);
        prop_assert_eq!(&there.appeared, &back.gone);
        prop_assert_eq!(there.findings.len(), back.findings.len());
        for (a, b) in there.findings.iter().zip(&back.findings) {
            prop_assert_eq!((&a.rule, &a.subject, &a.before, &a.now), (&b.rule, &b.subject, &b.now, &b.before));
            prop_assert_eq!(a.class, reversed_change_kind(b.class));
            prop_assert!(!(a.is_finding_worse() && a.is_finding_fixed()));
        }
        prop_assert_eq!(there.facts.len(), back.facts.len());
        for (a, b) in there.facts.iter().zip(&back.facts) {
            prop_assert_eq!((&a.subject, a.fact, &a.before, &a.now), (&b.subject, b.fact, &b.now, &b.before));
        }
    }

    #[test]
    fn every_finding_has_exactly_one_change(before in any_snapshot(true), now in any_snapshot(true)) {
        let names = Renames::detect(&before, &now);
        let old = names.rename_snapshot(&before);
        prop_assert_eq!(old.findings.len(), before.findings.len());
        prop_assert_eq!((old.facts.len(), old.targets.len()), (before.facts.len(), before.targets.len()));
        let difference = compare_snapshots(&before, &now);
        let keys: Vec<_> = difference.findings.iter().map(|f| (f.rule.clone(), f.subject.clone())).collect();
        let all: BTreeSet<_> = old.findings.keys().chain(now.findings.keys()).cloned().collect();
        prop_assert_eq!(keys, all.into_iter().collect::<Vec<_>>());
        for finding in &difference.findings {
            prop_assert!(finding.before.is_some() || finding.now.is_some());
        }
        for pair in &difference.renamed {
            prop_assert!(pair.before != pair.now);
        }
    }
}

#[test]
fn sample_report_has_no_difference_to_itself() {
    for report in sample_reports::at_risk_and_free_disk() {
        let kept = ReportSnapshot::from_report(&report);
        let difference = compare_snapshots(&kept, &kept);
        assert!(
            difference.facts.is_empty() && !difference.has_changes_besides_drift(),
            "{difference:?}"
        );
        assert_eq!(difference.probes.len(), report.probes.len());
    }
}

#[test]
fn finding_change_kind_of_each_state_pair() {
    let finding = |applies, level| FindingState {
        applies,
        level,
        title: String::new(),
    };
    let applies = Some(finding(true, Level::Warning));
    let graver = Some(finding(true, Level::Critical));
    let open = Some(finding(false, Level::Warning));
    let table = [
        (&None, &applies, FindingChangeKind::New),
        (&applies, &None, FindingChangeKind::Fixed),
        (&applies, &applies, FindingChangeKind::Same),
        (&open, &open, FindingChangeKind::Same),
        (&applies, &graver, FindingChangeKind::Level),
        (&graver, &applies, FindingChangeKind::Level),
        (&open, &applies, FindingChangeKind::Decided),
        (&open, &None, FindingChangeKind::Decided),
        (&applies, &open, FindingChangeKind::Undecided),
        (&None, &open, FindingChangeKind::Undecided),
    ];
    for (before, now, expected) in table {
        let came_to = |lacked, lacks| {
            classify_finding_change(before.as_ref(), now.as_ref(), || lacked, || lacks)
        };
        assert_eq!(came_to(false, false), expected);
        let there = if before.is_none() {
            FindingChangeKind::Appeared
        } else {
            expected
        };
        assert_eq!(came_to(true, false), there);
        let here = if now.is_none() {
            FindingChangeKind::Gone
        } else {
            expected
        };
        assert_eq!(came_to(false, true), here);
    }
}

fn insert_disk_with_partition(
    kept: &mut ReportSnapshot,
    name: &str,
    serial: &str,
    scheduler: &str,
) {
    let (disk, part) = (Subject::device(name), Subject::device(format!("{name}1")));
    insert_fact(kept, &disk, "device.serial", text_fact(serial));
    insert_fact(kept, &disk, "device.scheduler", text_fact(scheduler));
    insert_fact(
        kept,
        &disk,
        "device.path",
        text_fact(&format!("/dev/{name}")),
    );
    insert_fact(kept, &part, "device.kind", text_fact("partition"));
    insert_fact(
        kept,
        &part,
        "device.size",
        text_fact(&format!("1 TiB of {serial}")),
    );
    insert_fact(
        kept,
        &part,
        "device.used_by",
        list_fact(&format!("member of md{serial}")),
    );
}

#[test]
fn swapped_disk_names_are_matched_by_serial() {
    let (mut before, mut now) = (ReportSnapshot::default(), ReportSnapshot::default());
    insert_disk_with_partition(&mut before, "sda", "1", "none");
    insert_disk_with_partition(&mut before, "sdb", "2", "none");
    insert_disk_with_partition(&mut now, "sdb", "1", "none");
    insert_disk_with_partition(&mut now, "sda", "2", "bfq");
    for (kept, name) in [(&mut before, "sda1"), (&mut now, "sdb1")] {
        insert_fact(
            kept,
            &Subject::mount("/srv"),
            "mount.source",
            text_fact(&format!("/dev/{name}")),
        );
        insert_fact(
            kept,
            &Subject::boot("/srv"),
            "boot.source",
            text_fact("/dev/sda1"),
        );
    }
    let found = compare_snapshots(&before, &now);
    let renamed: Vec<String> = found
        .renamed
        .iter()
        .map(|pair| format!("{} {}", pair.before.name(), pair.now.name()))
        .collect();
    assert_eq!(renamed, ["sda sdb", "sda1 sdb1", "sdb sda", "sdb1 sda1"]);
    let changed: Vec<_> = found
        .facts
        .iter()
        .map(|change| (change.subject.name(), change.fact))
        .collect();
    assert_eq!(changed, [("sda", "device.scheduler")]);
    assert!(found.gone.is_empty() && found.appeared.is_empty());
}

#[test]
fn reused_disk_name_becomes_former_name() {
    let (mut before, mut now) = (ReportSnapshot::default(), ReportSnapshot::default());
    insert_disk_with_partition(&mut before, "sda", "1", "none");
    insert_disk_with_partition(&mut before, "sdb", "2", "none");
    insert_disk_with_partition(&mut now, "sda", "2", "none");
    let found = compare_snapshots(&before, &now);
    assert_eq!(
        found.gone,
        [
            Subject::device("former sda"),
            Subject::device("former sda1")
        ]
    );
    assert!(found.facts.is_empty(), "{:?}", found.facts);
    let pairs: Vec<&str> = found.renamed.iter().map(|pair| pair.now.name()).collect();
    assert_eq!(pairs, ["sda", "sda1"]);
}

fn insert_directory_target(kept: &mut ReportSnapshot, path: &str, mount: &str) {
    let target = Subject::target(path);
    insert_fact(kept, &target, "target.path", text_fact("a path"));
    insert_fact(
        kept,
        &Subject::mount(mount),
        "mount.fstype",
        text_fact("ext4"),
    );
    kept.verdicts.insert(target.clone(), VerdictKind::Durable);
    let place = TargetSnapshot {
        mount: Some(Subject::mount(mount)),
        device: Some(Subject::device("sda1")),
        ..TargetSnapshot::default()
    };
    kept.targets.insert(target, place);
}

#[test]
fn moved_target_is_renamed_and_lost_target_is_gone() {
    let report = |path: &str, mount: &str| {
        let mut kept = ReportSnapshot::default();
        insert_directory_target(&mut kept, path, mount);
        kept
    };
    let before = report("/srv/pg", "/srv");
    let mounted_elsewhere = compare_snapshots(&before, &report("/data/pg", "/data"));
    let pairs: Vec<String> = mounted_elsewhere
        .renamed
        .iter()
        .map(|pair| pair.now.to_string())
        .collect();
    assert_eq!(pairs, ["mount /data", "target /data/pg"]);
    assert!(mounted_elsewhere.gone.is_empty());
    let other_directory = compare_snapshots(&before, &report("/srv/pg16", "/srv"));
    assert_eq!(other_directory.renamed.len(), 1, "{other_directory:?}");
    let mut elsewhere = report("/data/pg", "/data");
    elsewhere
        .targets
        .values_mut()
        .for_each(|target| target.device = Some(Subject::device("sdb1")));
    let gone = compare_snapshots(&before, &elsewhere);
    assert_eq!(
        gone.gone,
        [Subject::mount("/srv"), Subject::target("/srv/pg")]
    );
    assert_eq!(
        gone.appeared,
        [Subject::mount("/data"), Subject::target("/data/pg")]
    );
    // If the two runs checked different directories, neither directory is reported as gone.
    let (mut one, mut other) = (before, report("/srv/pg16", "/srv"));
    one.origin.asked = Some("/srv/pg".to_owned());
    other.origin.asked = Some("/srv/pg16".to_owned());
    let asked = compare_snapshots(&one, &other);
    assert!(
        asked.gone.is_empty() && asked.renamed.is_empty(),
        "{asked:?}"
    );
    assert_eq!(asked.remarks.len(), 1);
    // The runs were given different TARGETs, which name the same directory.
    let mut again = one.clone();
    again.origin.asked = Some("./pg".to_owned());
    assert!(compare_snapshots(&one, &again).remarks.is_empty());
}

fn add_measurement(kept: &mut ReportSnapshot, target: &Subject, median: f64) {
    let rounds_us: Vec<f64> = (0..40)
        .map(|i| median * (1.0 + 0.01 * f64::from(i % 3)))
        .collect();
    let row = MethodSnapshot {
        as_server: true,
        median_us: Estimate {
            value: median,
            low: median,
            high: median,
        },
        rounds_us,
    };
    let rows = [Method::Fdatasync, Method::Fsync].map(|method| ((method, 1), row.clone()));
    kept.probes.insert(
        target.clone(),
        ProbeSnapshot {
            rows: rows.into(),
            ..ProbeSnapshot::default()
        },
    );
}

#[test]
fn latency_shift_lists_likely_causes() {
    let (target, disk, beside) = (
        Subject::target("/srv"),
        Subject::device("sda"),
        Subject::device("sdb"),
    );
    let report = |median, scheduler: &str, verdict: &str| {
        let mut kept = ReportSnapshot::default();
        let concerned = TargetSnapshot {
            subjects: vec![target.clone(), disk.clone()],
            ..TargetSnapshot::default()
        };
        kept.targets.insert(target.clone(), concerned);
        insert_fact(&mut kept, &disk, "device.scheduler", text_fact(scheduler));
        insert_fact(&mut kept, &beside, "device.scheduler", text_fact(scheduler));
        insert_fact(&mut kept, &disk, "device.cache", text_fact(verdict));
        insert_fact(&mut kept, &disk, "device.size", text_fact(verdict));
        insert_fact(
            &mut kept,
            &Subject::host(),
            "kernel.release",
            text_fact(verdict),
        );
        add_measurement(&mut kept, &target, median);
        kept
    };
    let before = report(100.0, "none", "6.1");
    for (median, moved, causes) in [
        (100.0, ShiftDirection::Not, 0),
        (103.0, ShiftDirection::Not, 0),
        (200.0, ShiftDirection::Slower, 2),
        (50.0, ShiftDirection::Faster, 2),
    ] {
        let found = compare_snapshots(&before, &report(median, "bfq", "6.12"));
        let probe = &found.probes[0];
        assert_eq!(
            (probe.main_shift_direction(), probe.likely_causes.len()),
            (Some(moved), causes),
            "{probe:?}"
        );
        assert!(
            probe
                .likely_causes
                .iter()
                .all(|cause| cause.subject != beside)
        );
    }
    let unexplained = compare_snapshots(&before, &report(200.0, "none", "6.1"));
    assert!(
        unexplained.probes[0].likely_causes.is_empty() && unexplained.has_changes_besides_drift()
    );
    let mut doubted = report(200.0, "bfq", "6.1");
    doubted
        .probes
        .values_mut()
        .for_each(|probe| probe.doubts = vec!["somebody else wrote".to_owned()]);
    assert_eq!(
        compare_snapshots(&before, &doubted).probes[0].main_shift_direction(),
        None
    );
}

#[test]
fn facts_new_in_other_version_are_no_change() {
    let (mut before, mut now) = (ReportSnapshot::default(), ReportSnapshot::default());
    let disk = Subject::device("sda");
    insert_fact(&mut before, &disk, "device.model", text_fact("a"));
    insert_fact(&mut now, &disk, "device.model", text_fact("a"));
    insert_fact(&mut now, &disk, "device.scheduler", text_fact("none"));
    assert_eq!(compare_snapshots(&before, &now).facts.len(), 1);
    now.origin.walwise = "later".to_owned();
    let later = compare_snapshots(&before, &now);
    assert!(
        later.facts.is_empty() && later.remarks.len() == 1,
        "{later:?}"
    );
    now.origin.walwise = before.origin.walwise.clone();
    assert!(compare_snapshots(&before, &now).remarks.is_empty());
    now.origin.pack = "other".to_owned();
    assert_eq!(
        compare_snapshots(&before, &now).remarks.len(),
        1,
        "rules of the same names that judge otherwise"
    );
}

#[test]
fn different_host_names_clear_same_host() {
    let host = |name: &str| {
        let mut kept = ReportSnapshot::default();
        kept.origin.host = name.to_owned();
        kept
    };
    assert!(!compare_snapshots(&host("db7"), &host("db8")).same_host);
    assert!(compare_snapshots(&host("db7"), &host("db7")).same_host);
    assert!(compare_snapshots(&host("unknown"), &host("db7")).same_host);
}
