//! The interlock opens in exactly the combinations that its specification allows.
//!
//! Three groups of facts, each enumerated completely, cover about 10¹² combinations. A later
//! group depends on an earlier group only through the values in `AssessmentClass`; tests with
//! random complete hosts check this.

mod exhaustive_tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::test_host::{TestHost, data_target};
    use super::{ALL, FactDomain, host_with_open_interlock, may_interlock_open_with};
    use crate::durability::VerdictCaps;
    use crate::durability::device_view::{
        CacheVolatility, DiskAssessment, FlushOutcome, assess_disk,
    };
    use crate::durability::{VerdictKind, flush_removal_interlock, verdict_builder};
    use crate::facts::catalog::target::FlushSuppressor;
    use crate::facts::{Reading, Subject};
    use crate::ternary::Ternary;

    type AssessmentClass = (CacheVolatility, FlushOutcome, Ternary, VerdictKind);

    const OPENING: AssessmentClass = (
        CacheVolatility::Protected,
        FlushOutcome::Sent,
        Ternary::True,
        VerdictKind::Durable,
    );

    fn cache_and_flush_class(of: &DiskAssessment) -> AssessmentClass {
        let worst = of.evidence.iter().map(|says| says.standing).min().unwrap();
        (of.cache, of.flush_outcome, of.write_back, worst)
    }

    fn fact_domains_by_name(names: &[&str]) -> Vec<FactDomain> {
        let find = |name: &&str| *ALL.iter().find(|(fact, _)| fact == name).unwrap();
        names.iter().map(find).collect()
    }

    fn for_each_combination(
        of: &[FactDomain],
        machine: &mut TestHost,
        chosen: &mut Vec<&'static str>,
        visit: &mut dyn FnMut(&TestHost, &[&str]),
    ) {
        let Some(((fact, values), rest)) = of.split_first() else {
            return visit(machine, chosen);
        };
        for value in *values {
            machine.set_fact(fact, value);
            chosen.push(value);
            for_each_combination(rest, machine, chosen, visit);
            chosen.pop();
        }
    }

    fn assess_disk_for_each_combination(
        names: &[&str],
        start: &TestHost,
        leaves: &mut BTreeMap<AssessmentClass, DiskAssessment>,
    ) -> usize {
        let (of, disk, mut visited) = (fact_domains_by_name(names), Subject::device("sda"), 0);
        for_each_combination(
            &of,
            &mut start.clone(),
            &mut Vec::new(),
            &mut |machine, chosen| {
                let found = assess_disk(&machine.facts, &disk);
                let opens = of
                    .iter()
                    .zip(chosen)
                    .all(|((fact, _), value)| may_interlock_open_with(fact, value));
                assert_eq!(
                    cache_and_flush_class(&found) == OPENING,
                    opens,
                    "{chosen:?}: {found:?}"
                );
                leaves.entry(cache_and_flush_class(&found)).or_insert(found);
                visited += 1;
            },
        );
        visited
    }

    fn one_assessment_per_class() -> BTreeMap<AssessmentClass, DiskAssessment> {
        let mut found = BTreeMap::new();
        let behind = [
            "controller.battery",
            "controller.policy",
            "controller.policy_in_force",
            "controller.on_battery_failure",
            "controller.disk_cache",
            "device.write_cache",
            "device.cache_type",
        ];
        let mut visited =
            assess_disk_for_each_combination(&behind, &host_with_open_interlock(), &mut found);
        let own = [
            "device.transport",
            "nvme.volatile_cache",
            "nvme.critical_warning",
            "device.ephemeral",
            "device.write_cache",
            "device.cache_type",
            "device.drive_cache",
        ];
        visited += assess_disk_for_each_combination(&own, &host_with_open_interlock(), &mut found);
        let capacitor = [
            "device.transport",
            "nvme.volatile_cache",
            "nvme.critical_warning",
            "nvme.capacitor",
            "device.write_cache",
            "device.drive_cache",
        ];
        visited +=
            assess_disk_for_each_combination(&capacitor, &host_with_open_interlock(), &mut found);
        let kinds = [
            "device.kind",
            "device.transport",
            "device.fabric",
            "device.write_cache",
            "device.cache_type",
        ];
        visited +=
            assess_disk_for_each_combination(&kinds, &host_with_open_interlock(), &mut found);
        assert_eq!(visited, 17_280 + 41_310 + 16_524 + 12_240);
        found
    }

    #[test]
    #[ignore = "exhaustive"]
    fn target_judgement_matches_interlock_spec() {
        let leaves = one_assessment_per_class();
        assert!(leaves.contains_key(&OPENING));
        let of = fact_domains_by_name(&[
            "mount.fstype",
            "mount.barrier",
            "ext4.journal",
            "pg.fsync",
            "pg.synchronous_commit",
            "pg.synchronous_commit_overrides",
            "probe.implausible",
            "probe.flushes_per_commit",
        ]);
        let (target, disk) = (data_target(), Subject::device("sda"));
        let mut judgements = BTreeSet::new();
        for (class, leaf) in &leaves {
            let disks = BTreeMap::from([(disk.clone(), leaf.clone())]);
            let mut machine = host_with_open_interlock()
                .with_fact("device.counts_flushes", "true")
                .with_fact("btrfs.devices", "sda");
            for_each_combination(
                &of,
                &mut machine,
                &mut Vec::new(),
                &mut |machine, chosen| {
                    let found = verdict_builder::judge_target(
                        &machine.facts,
                        &target,
                        &disks,
                        &VerdictCaps::default(),
                    );
                    let ready = found.verdict.standing == VerdictKind::Durable
                        && found.flush == FlushOutcome::Sent
                        && found.is_stateless == Ternary::True;
                    let fine = |(fact, value): (&str, &str)| match fact {
                        "mount.fstype" => value != "?",
                        "ext4.journal" => {
                            may_interlock_open_with(fact, value) || !chosen[0].starts_with("ext")
                        }
                        "probe.flushes_per_commit" => !value.starts_with('0'),
                        _ => may_interlock_open_with(fact, value),
                    };
                    let expect = class.1 == FlushOutcome::Sent
                        && class.3 == VerdictKind::Durable
                        && of
                            .iter()
                            .zip(chosen)
                            .all(|((fact, _), value)| fine((fact, value)));
                    assert_eq!(ready, expect, "{class:?} {chosen:?}: {:?}", found.verdict);
                    judgements.insert((found.verdict.standing, found.flush, found.is_stateless));
                },
            );
        }
        assert!(judgements.len() > 10, "{judgements:?}");
    }

    #[test]
    #[ignore = "exhaustive"]
    fn the_interlock_is_the_conjunction_of_its_conditions() {
        let of = fact_domains_by_name(&[
            "mount.fstype",
            "mount.class",
            "kernel.version",
            "kernel.vendor",
            "probe.flush_cost",
            "probe.commit",
        ]);
        let standings = [
            VerdictKind::Durable,
            VerdictKind::Unproven,
            VerdictKind::Contradictory,
            VerdictKind::AtRisk,
        ];
        let flushes = [
            FlushOutcome::Sent,
            FlushOutcome::NotNeeded,
            FlushOutcome::Unknown,
            FlushOutcome::Dropped(FlushSuppressor::MountOption),
        ];
        let caches = [
            CacheVolatility::Protected,
            CacheVolatility::None,
            CacheVolatility::Unknown,
            CacheVolatility::Contradictory,
            CacheVolatility::Volatile,
        ];
        let disk = Subject::device("sda");
        let start = host_with_open_interlock();
        let leaf = assess_disk(&start.facts, &disk);
        let judged = verdict_builder::judge_target(
            &start.facts,
            &data_target(),
            &BTreeMap::from([(disk.clone(), leaf.clone())]),
            &VerdictCaps::default(),
        );
        let leaves = caches.map(|cache| DiskAssessment {
            cache,
            ..leaf.clone()
        });
        let mut below: Vec<Vec<&DiskAssessment>> = leaves.iter().map(|leaf| vec![leaf]).collect();
        below.extend(leaves.iter().map(|leaf| vec![&leaves[0], leaf]));
        below.push(Vec::new());
        let mut visited = 0;
        for_each_combination(
            &of,
            &mut start.clone(),
            &mut Vec::new(),
            &mut |machine, chosen| {
                let right = of
                    .iter()
                    .zip(chosen)
                    .all(|((fact, _), value)| may_interlock_open_with(fact, value));
                let wrong = of
                    .iter()
                    .zip(chosen)
                    .filter(|((fact, _), value)| !may_interlock_open_with(fact, value))
                    .count();
                for standing in standings {
                    for flush in flushes {
                        for plain in [Ternary::True, Ternary::Unknown, Ternary::False] {
                            let mut found = judged.clone();
                            (found.verdict.standing, found.flush, found.is_stateless) =
                                (standing, flush, plain);
                            let is_ready = (standing, flush, plain)
                                == (VerdictKind::Durable, FlushOutcome::Sent, Ternary::True);
                            // With two conditions failed already, one set of disks is enough,
                            // because the disks cannot open the interlock.
                            let few = if wrong + usize::from(!is_ready) > 1 {
                                1
                            } else {
                                below.len()
                            };
                            for disks in &below[..few] {
                                let protected = !disks.is_empty()
                                    && disks.iter().all(|l| l.cache == CacheVolatility::Protected);
                                let disks: Vec<(&Subject, &DiskAssessment)> =
                                    disks.iter().map(|leaf| (&disk, *leaf)).collect();
                                for (live, assumed) in [(true, false), (false, false), (true, true)]
                                {
                                    found.dependencies.assumed = if assumed {
                                        BTreeSet::from(["a fact".to_owned()])
                                    } else {
                                        BTreeSet::new()
                                    };
                                    let seen =
                                        flush_removal_interlock::evaluate_flush_removal_interlock(
                                            &machine.facts,
                                            &data_target(),
                                            &found,
                                            &disks,
                                            live,
                                        );
                                    let opens = matches!(seen, Reading::Known { value: true, .. });
                                    let expect = right && is_ready && protected && live && !assumed;
                                    assert_eq!(
                                        opens, expect,
                                        "{chosen:?} {standing:?} {flush:?} {plain:?}: {seen:?}"
                                    );
                                    visited += 1;
                                }
                            }
                        }
                    }
                }
            },
        );
        assert!(visited > 100_000, "{visited}");
    }
}

use proptest::prelude::*;

use super::test_host::TestHost;
use crate::durability::VerdictCaps;
use crate::facts::{Reading, Subject};

type FactDomain = (&'static str, &'static [&'static str]);

/// Every deciding fact with its values: all words of a choice, examples of a number, and `?` for an
/// unknown reading.
const ALL: &[FactDomain] = &[
    (
        "controller.battery",
        &[
            "healthy",
            "charging",
            "learning",
            "degraded",
            "failed",
            "absent",
            "unreadable",
            "?",
        ],
    ),
    (
        "controller.policy",
        &["write back", "write through", "always write back", "?"],
    ),
    (
        "controller.policy_in_force",
        &["write back", "write through", "?"],
    ),
    (
        "controller.on_battery_failure",
        &["write through", "stays", "?"],
    ),
    ("controller.disk_cache", &["off", "on", "disk default", "?"]),
    (
        "device.kind",
        &["disk", "zvol", "zram", "ram", "other", "?"],
    ),
    (
        "device.transport",
        &[
            "megaraid",
            "raid",
            "nvme",
            "scsi",
            "sata",
            "sas",
            "usb",
            "virtio",
            "virtio-scsi",
            "xen",
            "vmware",
            "hyperv",
            "mmc",
            "pmem",
            "network",
            "other",
            "?",
        ],
    ),
    (
        "device.fabric",
        &[
            "?",
            "tcp",
            "rdma",
            "fc",
            "iscsi",
            "fibre channel",
            "nbd",
            "rbd",
        ],
    ),
    ("device.write_cache", &["write back", "write through", "?"]),
    (
        "device.cache_type",
        &[
            "write back",
            "write through",
            "none",
            "write back, no read (daft)",
            "?",
        ],
    ),
    ("device.drive_cache", &["off", "on", "?"]),
    ("nvme.volatile_cache", &["false", "true", "?"]),
    (
        "nvme.critical_warning",
        &[
            "",
            "?",
            "temperature",
            "memory backup failed",
            "read-only",
            "singing",
        ],
    ),
    (
        "nvme.capacitor",
        &["healthy", "degraded", "failed", "absent", "unreadable", "?"],
    ),
    ("device.ephemeral", &["false", "true", "?"]),
    (
        "mount.class",
        &[
            "block", "network", "memory", "fuse", "overlay", "zfs", "other", "?",
        ],
    ),
    ("mount.fstype", &["ext4", "ext3", "xfs", "btrfs", "?"]),
    ("mount.barrier", &["on", "off", "no effect", "?"]),
    ("ext4.journal", &["true", "false", "?"]),
    ("kernel.version", &["6.1.0", "9.0", "?"]),
    ("kernel.vendor", &["debian", "?"]),
    ("pg.fsync", &["true", "false", "?"]),
    ("pg.synchronous_commit", &["on", "off", "?"]),
    (
        "pg.synchronous_commit_overrides",
        &["", "database app: off", "?"],
    ),
    ("pg.fsync_disabled_by", &["none", "libeatmydata.so", "?"]),
    ("device.counts_flushes", &["true", "false", "?"]),
    ("probe.flushes_per_commit", &["1", "0.2", "0", "?"]),
    ("probe.implausible", &["false", "true", "?"]),
    ("probe.flush_cost", &["40", "4", "-1", "?"]),
    ("probe.commit", &["100", "?"]),
];

/// Whether the specification lets the interlock open with this value of the fact. Written
/// independently of the code under test.
fn may_interlock_open_with(fact: &str, value: &str) -> bool {
    match fact {
        // The interlock needs a cache with a healthy battery that falls back to write-through,
        // member disks without caches, and a queue that sends flushes.
        "controller.battery" => value == "healthy",
        "controller.policy" | "controller.policy_in_force" | "device.write_cache" => {
            value == "write back"
        }
        "controller.on_battery_failure" => value == "write through",
        "controller.disk_cache" => value == "off",
        "device.kind" => value == "disk",
        "device.transport" => value == "megaraid" || value == "raid",
        "device.fabric" => value == "?",
        "nvme.critical_warning" => ["", "?", "temperature"].contains(&value),
        // A failed capacitor keeps the interlock shut. No other state of the capacitor matters.
        "nvme.capacitor" => value != "failed",
        // The interlock needs ext4 and a kernel that accepts and honours `nobarrier`. Kernel 9 is
        // newer than the tables of `compat`.
        "mount.class" => value == "block",
        "mount.fstype" => value == "ext4",
        "kernel.version" => value == "6.1.0",
        "kernel.vendor" => value == "debian",
        // "No effect" means that the kernel ignores the option `nobarrier`, so flushes are sent.
        "mount.barrier" => value == "on" || value == "no effect",
        "ext4.journal" | "pg.fsync" => value == "true",
        "pg.synchronous_commit" => value == "on",
        // Sessions that override `synchronous_commit` do not matter, but it must be known which
        // sessions these are.
        "pg.synchronous_commit_overrides" => value != "?",
        "pg.fsync_disabled_by" => value == "none",
        // A commit takes 100 µs; the gain must exceed 5 % of that.
        "probe.flush_cost" => value == "40",
        "probe.commit" => value == "100",
        // A disk that is ephemeral, or may be, keeps the interlock shut.
        "device.ephemeral" => value == "false",
        "probe.implausible" => value != "true",
        // A *write back* queue agrees with any report of the disk. `should_open_interlock` judges
        // `counts_flushes` and `flushes_per_commit` together.
        "device.cache_type"
        | "device.drive_cache"
        | "nvme.volatile_cache"
        | "device.counts_flushes"
        | "probe.flushes_per_commit" => true,
        _ => panic!("{fact} is not specified"),
    }
}

fn should_open_interlock<'a>(value: impl Fn(&str) -> &'a str) -> bool {
    let lost = value("device.counts_flushes") == "true"
        && ["0", "0.2"].contains(&value("probe.flushes_per_commit"));
    !lost
        && ALL
            .iter()
            .all(|(fact, _)| may_interlock_open_with(fact, value(fact)))
}

fn is_interlock_open(machine: &TestHost) -> bool {
    matches!(
        machine.flush_removal_allowed_reading(),
        Reading::Known { value: true, .. }
    )
}

fn host_with_open_interlock() -> TestHost {
    TestHost::with_protected_cache().with_postgres_cluster()
}

/// A value for every fact. At least 12 of 13 values on average let the interlock open.
fn arbitrary_fact_values() -> impl Strategy<Value = Vec<&'static str>> {
    let one = |(fact, values): &FactDomain| {
        let fine: Vec<&str> = values
            .iter()
            .copied()
            .filter(|value| may_interlock_open_with(fact, value))
            .collect();
        prop_oneof![
            12 => proptest::sample::select(fine),
            1 => proptest::sample::select(values.to_vec()),
        ]
    };
    ALL.iter().map(one).collect::<Vec<_>>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn random_hosts_open_interlock_as_specified(values in arbitrary_fact_values()) {
        let machine = ALL.iter().zip(&values).fold(host_with_open_interlock(), |m, ((fact, _), value)| m.with_fact(fact, value));
        let at = |fact: &str| ALL.iter().position(|(name, _)| *name == fact).map(|at| values[at]).unwrap();
        prop_assert_eq!(is_interlock_open(&machine), should_open_interlock(at), "{:?}", machine.flush_removal_allowed_reading());
    }
}

#[test]
fn single_deviations_match_interlock_spec() {
    check_deviation_combinations(1);
}

#[test]
#[ignore = "exhaustive"]
fn paired_deviations_match_interlock_spec() {
    check_deviation_combinations(usize::MAX);
}

/// Checks the interlock with every deviation from an open host, alone and combined with each of
/// up to `partners - 1` later deviations.
fn check_deviation_combinations(partners: usize) {
    let all: Vec<(&str, &str)> = ALL
        .iter()
        .flat_map(|(fact, values)| values.iter().map(|value| (*fact, *value)))
        .collect();
    assert!(is_interlock_open(&host_with_open_interlock()));
    for (i, a) in all.iter().enumerate() {
        let machine = host_with_open_interlock().with_fact(a.0, a.1);
        let reading = |fact: &str| {
            machine
                .fact_value(fact)
                .map_or("?".to_owned(), ToString::to_string)
        };
        for b in all
            .iter()
            .skip(i)
            .filter(|b| b.0 != a.0 || b.1 == a.1)
            .take(partners)
        {
            let both = machine.clone().with_fact(b.0, b.1);
            let counted = [a, b]
                .iter()
                .any(|x| **x == ("device.counts_flushes", "true"))
                && [a, b]
                    .iter()
                    .any(|x| x.0 == "probe.flushes_per_commit" && x.1.starts_with('0'));
            let expect =
                may_interlock_open_with(a.0, a.1) && may_interlock_open_with(b.0, b.1) && !counted;
            assert_eq!(
                is_interlock_open(&both),
                expect,
                "{a:?} {b:?} ({})",
                reading("device.kind")
            );
        }
    }
}

#[test]
fn assumed_facts_never_open_interlock() {
    let deciding = ALL.iter().filter(|(fact, values)| {
        let needless = [
            "device.cache_type",
            "device.drive_cache",
            "nvme.volatile_cache",
            "nvme.capacitor",
            "device.fabric",
        ];
        !needless.contains(fact)
            && may_interlock_open_with(fact, values[0])
            && host_with_open_interlock().fact_value(fact).is_some()
    });
    for (fact, values) in deciding {
        let machine = host_with_open_interlock().with_fact(fact, &format!("~{}", values[0]));
        let Reading::Unknown { detail, .. } = machine.flush_removal_allowed_reading() else {
            panic!("{fact}: known")
        };
        assert!(
            detail.contains("assumed") || detail.contains("measured"),
            "{fact}: {detail}"
        );
    }
}

#[test]
fn interlock_needs_measurements_of_this_host() {
    let mut machine = host_with_open_interlock();
    assert!(is_interlock_open(&machine));
    machine.live = false;
    assert!(!machine.flush_removal_allowed_reading().is_known());
}

#[test]
fn every_disk_must_be_protected() {
    let (md, other) = (Subject::device("md0"), Subject::device("sdb"));
    let pair = TestHost::with_protected_cache()
        .with_layer_below(&Subject::device("sda1"), &md)
        .with_layer_below(&md, &other)
        .with_fact_of(&md, "device.kind", "md")
        .with_fact_of(&md, "md.level", "raid1")
        .with_fact_of(&md, "device.write_cache", "write back")
        .with_fact_of(&other, "device.kind", "disk")
        .with_fact_of(&other, "device.transport", "sata")
        .with_fact_of(&other, "device.write_cache", "write back");
    assert!(!is_interlock_open(&pair));
}

#[test]
fn stateful_layer_keeps_interlock_shut() {
    let (mount, lv) = (Subject::mount("/srv"), Subject::device("dm-0"));
    let target = Subject::target("/srv");
    let on = |kind: &str| {
        let mut machine = TestHost::with_protected_cache()
            .with_fact_of(&target, "target.kind", "directory")
            .with_fact_of(&mount, "mount.class", "block")
            .with_fact_of(&mount, "mount.fstype", "ext4")
            .with_fact_of(&mount, "mount.barrier", "on")
            .with_fact_of(&mount, "ext4.journal", "true")
            .with_fact_of(&lv, "device.kind", kind)
            .with_fact_of(&lv, "device.write_cache", "write back")
            .with_fact_of(&target, "probe.flush_cost", "40")
            .with_fact_of(&target, "probe.commit", "100")
            .with_layer_below(&target, &mount)
            .with_layer_below(&mount, &lv)
            .with_layer_below(&lv, &Subject::device("sda"));
        crate::durability::judge_targets(&mut machine.facts, true, &VerdictCaps::default());
        machine.facts.value(
            &target,
            &crate::facts::catalog::target::FLUSH_REMOVAL_ALLOWED,
        )
    };
    for plain in ["lvm", "crypt", "multipath"] {
        assert_eq!(on(plain), Some(true), "{plain}");
    }
    for unseen in ["dm", "dmraid", "vdo", "md"] {
        assert_eq!(on(unseen), None, "{unseen}");
    }
    for holding in ["loop", "zram", "ram", "bcache", "drbd", "zvol"] {
        assert_eq!(on(holding), Some(false), "{holding}");
    }
}

#[test]
fn unknown_interlock_names_missing_facts() {
    let Reading::Unknown { detail, remedy, .. } = TestHost::with_protected_cache()
        .with_fact("controller.battery", "?")
        .flush_removal_allowed_reading()
    else {
        panic!("known")
    };
    assert!(
        detail.contains("controller.battery of device sda"),
        "{detail}"
    );
    assert!(remedy.is_some());
}
