//! The interlock opens in exactly the combinations that its specification allows. About 10¹²
//! combinations are visited as three exhaustive factors, between which only values pass. Complete
//! random hosts exclude that a later factor reads a fact of an earlier one.

mod factors {
    //! The three factors, each visited exhaustively: a disk's facts, the facts joined to its
    //! assessment, and those that the interlock adds.

    use std::collections::{BTreeMap, BTreeSet};

    use super::super::machine::{Machine, data};
    use super::{ALL, Fact, allowed, start};
    use crate::durability::Caps;
    use crate::durability::device_view::{Cache, DiskAssessment, FlushOutcome, assess_disk};
    use crate::durability::{VerdictKind, interlock, verdict_builder};
    use crate::facts::catalog::target::Suppressor;
    use crate::facts::{Reading, Subject};
    use crate::ternary::Ternary;

    /// What later factors see of an assessment: cache, flush, whether it reports *write back*, and
    /// the worst verdict of its evidence.
    type Class = (Cache, FlushOutcome, Ternary, VerdictKind);

    /// The class of the only assessment that lets the interlock open.
    const OPENING: Class = (
        Cache::Protected,
        FlushOutcome::Sent,
        Ternary::True,
        VerdictKind::Durable,
    );

    fn class(of: &DiskAssessment) -> Class {
        let worst = of.evidence.iter().map(|says| says.standing).min().unwrap();
        (of.cache, of.flush_outcome, of.write_back, worst)
    }

    /// All values of these facts.
    fn facts(names: &[&str]) -> Vec<Fact> {
        let find = |name: &&str| *ALL.iter().find(|(fact, _)| fact == name).unwrap();
        names.iter().map(find).collect()
    }

    /// Visits every combination, changing the machine in place.
    fn each(
        of: &[Fact],
        machine: &mut Machine,
        chosen: &mut Vec<&'static str>,
        visit: &mut dyn FnMut(&Machine, &[&str]),
    ) {
        let Some(((fact, values), rest)) = of.split_first() else {
            return visit(machine, chosen);
        };
        for value in *values {
            machine.set(fact, value);
            chosen.push(value);
            each(rest, machine, chosen, visit);
            chosen.pop();
        }
    }

    /// Visits every combination of a disk's facts, checks its class against the specification, and
    /// collects the assessments.
    fn disks(
        names: &[&str],
        start: &Machine,
        leaves: &mut BTreeMap<Class, DiskAssessment>,
    ) -> usize {
        let (of, disk, mut visited) = (facts(names), Subject::device("sda"), 0);
        each(
            &of,
            &mut start.clone(),
            &mut Vec::new(),
            &mut |machine, chosen| {
                let found = assess_disk(&machine.facts, &disk);
                let opens = of
                    .iter()
                    .zip(chosen)
                    .all(|((fact, _), value)| allowed(fact, value));
                assert_eq!(class(&found) == OPENING, opens, "{chosen:?}: {found:?}");
                leaves.entry(class(&found)).or_insert(found);
                visited += 1;
            },
        );
        visited
    }

    /// Every assessment that a disk's facts can produce.
    fn leaves() -> BTreeMap<Class, DiskAssessment> {
        let mut found = BTreeMap::new();
        // Behind a controller: everything its tool reports, with everything the kernel reports of
        // the volume.
        let behind = [
            "controller.battery",
            "controller.policy",
            "controller.policy_in_force",
            "controller.on_battery_failure",
            "controller.disk_cache",
            "device.write_cache",
            "device.cache_type",
        ];
        let mut visited = disks(&behind, &start(), &mut found);
        // Any attachment: everything a disk reports of itself.
        let own = [
            "device.transport",
            "nvme.volatile_cache",
            "nvme.critical_warning",
            "device.ephemeral",
            "device.write_cache",
            "device.cache_type",
            "device.drive_cache",
        ];
        visited += disks(&own, &start(), &mut found);
        // Everything that an NVMe drive reports of its cache, warnings and capacitor.
        let capacitor = [
            "device.transport",
            "nvme.volatile_cache",
            "nvme.critical_warning",
            "nvme.capacitor",
            "device.write_cache",
            "device.drive_cache",
        ];
        visited += disks(&capacitor, &start(), &mut found);
        let kinds = [
            "device.kind",
            "device.transport",
            "device.fabric",
            "device.write_cache",
            "device.cache_type",
        ];
        visited += disks(&kinds, &start(), &mut found);
        assert_eq!(visited, 17_280 + 41_310 + 16_524 + 12_240);
        found
    }

    #[test]
    #[ignore = "exhaustive"]
    fn a_disk_allows_it_in_exactly_one_state_and_so_does_what_is_joined_to_it() {
        let leaves = leaves();
        assert!(leaves.contains_key(&OPENING));
        let of = facts(&[
            "mount.fstype",
            "mount.barrier",
            "ext4.journal",
            "pg.fsync",
            "pg.synchronous_commit",
            "pg.synchronous_commit_overrides",
            "probe.implausible",
            "probe.flushes_per_commit",
        ]);
        let (target, disk) = (data(), Subject::device("sda"));
        let mut judgements = BTreeSet::new();
        for (class, leaf) in &leaves {
            let disks = BTreeMap::from([(disk.clone(), leaf.clone())]);
            let mut machine = start()
                .with("device.counts_flushes", "true")
                .with("btrfs.devices", "sda");
            each(
                &of,
                &mut machine,
                &mut Vec::new(),
                &mut |machine, chosen| {
                    let found = verdict_builder::judge_target(
                        &machine.facts,
                        &target,
                        &disks,
                        &Caps::default(),
                    );
                    let ready = found.verdict.standing == VerdictKind::Durable
                        && found.flush == FlushOutcome::Sent
                        && found.is_stateless == Ternary::True;
                    let fine = |(fact, value): (&str, &str)| match fact {
                        // Being ext4 is the interlock's own condition; having a journal is the file
                        // system's.
                        "mount.fstype" => value != "?",
                        "ext4.journal" => allowed(fact, value) || !chosen[0].starts_with("ext"),
                        "probe.flushes_per_commit" => !value.starts_with('0'),
                        _ => allowed(fact, value),
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
        let of = facts(&[
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
            FlushOutcome::Dropped(Suppressor::MountOption),
        ];
        let caches = [
            Cache::Protected,
            Cache::None,
            Cache::Unknown,
            Cache::Contradictory,
            Cache::Volatile,
        ];
        let disk = Subject::device("sda");
        let start = start();
        let leaf = assess_disk(&start.facts, &disk);
        let judged = verdict_builder::judge_target(
            &start.facts,
            &data(),
            &BTreeMap::from([(disk.clone(), leaf.clone())]),
            &Caps::default(),
        );
        let leaves = caches.map(|cache| DiskAssessment {
            cache,
            ..leaf.clone()
        });
        // One disk of every kind, and every kind combined with a protected one.
        let mut below: Vec<Vec<&DiskAssessment>> = leaves.iter().map(|leaf| vec![leaf]).collect();
        below.extend(leaves.iter().map(|leaf| vec![&leaves[0], leaf]));
        below.push(Vec::new());
        let mut visited = 0;
        each(
            &of,
            &mut start.clone(),
            &mut Vec::new(),
            &mut |machine, chosen| {
                let right = of
                    .iter()
                    .zip(chosen)
                    .all(|((fact, _), value)| allowed(fact, value));
                let wrong = of
                    .iter()
                    .zip(chosen)
                    .filter(|((fact, _), value)| !allowed(fact, value))
                    .count();
                for standing in standings {
                    for flush in flushes {
                        for plain in [Ternary::True, Ternary::Unknown, Ternary::False] {
                            let mut found = judged.clone();
                            (found.verdict.standing, found.flush, found.is_stateless) =
                                (standing, flush, plain);
                            let is_ready = (standing, flush, plain)
                                == (VerdictKind::Durable, FlushOutcome::Sent, Ternary::True);
                            // Skips disks if two conditions fail already.
                            let few = if wrong + usize::from(!is_ready) > 1 {
                                1
                            } else {
                                below.len()
                            };
                            for disks in &below[..few] {
                                let protected = !disks.is_empty()
                                    && disks.iter().all(|l| l.cache == Cache::Protected);
                                let disks: Vec<(&Subject, &DiskAssessment)> =
                                    disks.iter().map(|leaf| (&disk, *leaf)).collect();
                                for (live, assumed) in [(true, false), (false, false), (true, true)]
                                {
                                    found.dependencies.assumed = if assumed {
                                        BTreeSet::from(["a fact".to_owned()])
                                    } else {
                                        BTreeSet::new()
                                    };
                                    let seen = interlock::evaluate_interlock(
                                        &machine.facts,
                                        &data(),
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

use super::machine::Machine;
use crate::durability::Caps;
use crate::facts::{Reading, Subject};

type Fact = (&'static str, &'static [&'static str]);

/// Every deciding fact with all its values (representatives for numbers), including unknown.
const ALL: &[Fact] = &[
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

/// The specification of one fact, written independently of the code.
fn allowed(fact: &str, value: &str) -> bool {
    match fact {
        // Protected by a healthy battery or flash module, member caches off; write-back that falls
        // back; flushes are sent today.
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
        // It is no battery: it never opens the interlock, and a failed one shuts it.
        "nvme.capacitor" => value != "failed",
        // Only ext4, on a kernel that accepts and honours the option; kernel 9 is unknown today.
        "mount.class" => value == "block",
        "mount.fstype" => value == "ext4",
        "kernel.version" => value == "6.1.0",
        "kernel.vendor" => value == "debian",
        // "No effect": the option is present and changes nothing, so flushes are sent.
        "mount.barrier" => value == "on" || value == "no effect",
        "ext4.journal" | "pg.fsync" => value == "true",
        "pg.synchronous_commit" => value == "on",
        // The server's own value decides; it stays open if other sessions are unknown.
        "pg.synchronous_commit_overrides" => value != "?",
        "pg.fsync_disabled_by" => value == "none",
        // A commit takes 100 µs; the gain must exceed 5 % of it.
        "probe.flush_cost" => value == "40",
        "probe.commit" => value == "100",
        // Virtual disks usually report nothing; here a report exists that could not be read.
        "device.ephemeral" => value == "false",
        "probe.implausible" => value != "true",
        // With a *write back* queue no report of the disk contradicts it; a count is compared with
        // whether a cache is there.
        "device.cache_type"
        | "device.drive_cache"
        | "nvme.volatile_cache"
        | "device.counts_flushes"
        | "probe.flushes_per_commit" => true,
        _ => panic!("{fact} is not specified"),
    }
}

/// The specification of a host: every fact by itself, and no count that shows lost flushes.
fn opens<'a>(value: impl Fn(&str) -> &'a str) -> bool {
    let lost = value("device.counts_flushes") == "true"
        && ["0", "0.2"].contains(&value("probe.flushes_per_commit"));
    !lost && ALL.iter().all(|(fact, _)| allowed(fact, value(fact)))
}

fn open(machine: &Machine) -> bool {
    matches!(machine.interlock(), Reading::Known { value: true, .. })
}

/// A host on which the interlock opens, with a server.
fn start() -> Machine {
    Machine::protected().with_cluster()
}

/// A value for every fact, in four of five cases one that lets it open.
fn any_values() -> impl Strategy<Value = Vec<&'static str>> {
    let one = |(fact, values): &Fact| {
        let fine: Vec<&str> = values
            .iter()
            .copied()
            .filter(|value| allowed(fact, value))
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

    /// Complete hosts from the full product.
    #[test]
    fn a_whole_machine_opens_it_exactly_as_specified(values in any_values()) {
        let machine = ALL.iter().zip(&values).fold(start(), |m, ((fact, _), value)| m.with(fact, value));
        let at = |fact: &str| ALL.iter().position(|(name, _)| *name == fact).map(|at| values[at]).unwrap();
        prop_assert_eq!(open(&machine), opens(at), "{:?}", machine.interlock());
    }
}

#[test]
fn every_deviation_alone_and_every_pair_is_as_specified() {
    let all: Vec<(&str, &str)> = ALL
        .iter()
        .flat_map(|(fact, values)| values.iter().map(|value| (*fact, *value)))
        .collect();
    assert!(open(&start()));
    for (i, a) in all.iter().enumerate() {
        let machine = start().with(a.0, a.1);
        let reading = |fact: &str| {
            machine
                .fact(fact)
                .map_or("?".to_owned(), ToString::to_string)
        };
        for b in all.iter().skip(i).filter(|b| b.0 != a.0 || b.1 == a.1) {
            let both = machine.clone().with(b.0, b.1);
            let counted = [a, b]
                .iter()
                .any(|x| **x == ("device.counts_flushes", "true"))
                && [a, b]
                    .iter()
                    .any(|x| x.0 == "probe.flushes_per_commit" && x.1.starts_with('0'));
            let expect = allowed(a.0, a.1) && allowed(b.0, b.1) && !counted;
            assert_eq!(
                open(&both),
                expect,
                "{a:?} {b:?} ({})",
                reading("device.kind")
            );
        }
    }
}

#[test]
fn assumed_facts_never_open_it() {
    let deciding = ALL.iter().filter(|(fact, values)| {
        let needless = [
            "device.cache_type",
            "device.drive_cache",
            "nvme.volatile_cache",
            "nvme.capacitor",
            "device.fabric",
        ];
        !needless.contains(fact) && allowed(fact, values[0]) && start().fact(fact).is_some()
    });
    for (fact, values) in deciding {
        let machine = start().with(fact, &format!("~{}", values[0]));
        let Reading::Unknown { detail, .. } = machine.interlock() else {
            panic!("{fact}: known")
        };
        assert!(
            detail.contains("assumed") || detail.contains("measured"),
            "{fact}: {detail}"
        );
    }
}

#[test]
fn measurements_of_another_host_never_open_it() {
    let mut machine = start();
    assert!(open(&machine));
    machine.live = false;
    assert!(!machine.interlock().is_known());
}

#[test]
fn every_disk_must_be_protected() {
    let (md, other) = (Subject::device("md0"), Subject::device("sdb"));
    let pair = Machine::protected()
        .stand(&Subject::device("sda1"), &md)
        .stand(&md, &other)
        .on(&md, "device.kind", "md")
        .on(&md, "md.level", "raid1")
        .on(&md, "device.write_cache", "write back")
        .on(&other, "device.kind", "disk")
        .on(&other, "device.transport", "sata")
        .on(&other, "device.write_cache", "write back");
    assert!(!open(&pair));
}

#[test]
fn a_layer_that_may_hold_data_keeps_it_shut() {
    let (mount, lv) = (Subject::mount("/srv"), Subject::device("dm-0"));
    let target = Subject::target("/srv");
    let on = |kind: &str| {
        let mut machine = Machine::protected()
            .on(&target, "target.kind", "directory")
            .on(&mount, "mount.class", "block")
            .on(&mount, "mount.fstype", "ext4")
            .on(&mount, "mount.barrier", "on")
            .on(&mount, "ext4.journal", "true")
            .on(&lv, "device.kind", kind)
            .on(&lv, "device.write_cache", "write back")
            .on(&target, "probe.flush_cost", "40")
            .on(&target, "probe.commit", "100")
            .stand(&target, &mount)
            .stand(&mount, &lv)
            .stand(&lv, &Subject::device("sda"));
        crate::durability::judge_targets(&mut machine.facts, true, &Caps::default());
        machine
            .facts
            .value(&target, &crate::facts::catalog::target::INTERLOCK)
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
fn what_is_missing_is_named() {
    let Reading::Unknown { detail, remedy, .. } = Machine::protected()
        .with("controller.battery", "?")
        .interlock()
    else {
        panic!("known")
    };
    assert!(
        detail.contains("controller.battery of device sda"),
        "{detail}"
    );
    assert!(remedy.is_some());
}
