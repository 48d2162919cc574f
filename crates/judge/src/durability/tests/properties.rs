//! Properties of every host: neither an unknown fact, nor another disk, nor a measurement
//! raises a verdict.
//!
//! Stacks have up to two layers over up to three disks. Facts that only count against a disk
//! are like measurements: their absence proves nothing.

use proptest::prelude::*;

use super::test_host::{TestHost, data_target};
use crate::durability::VerdictKind;
use crate::facts::{Reading, Scope, Subject, Value, catalog};

const BEARING: &[(&str, &[&str])] = &[
    (
        "mount.class",
        &["block", "memory", "network", "zfs", "fuse", "other"],
    ),
    ("mount.fstype", &["ext4", "xfs", "btrfs"]),
    ("mount.barrier", &["on", "off", "no effect"]),
    ("ext4.journal", &["true", "false"]),
    ("zfs.sync", &["standard", "always", "disabled"]),
    ("zfs.no_cache_flush", &["true", "false"]),
    ("device.kind", &["disk", "zram", "zvol", "other"]),
    (
        "device.transport",
        &[
            "sata",
            "sas",
            "scsi",
            "nvme",
            "virtio",
            "virtio-scsi",
            "usb",
            "mmc",
            "pmem",
            "megaraid",
            "raid",
            "network",
        ],
    ),
    ("device.write_cache", &["write back", "write through"]),
    (
        "device.cache_type",
        &[
            "write back",
            "write through",
            "none",
            "write back, no read (daft)",
        ],
    ),
    ("device.drive_cache", &["on", "off"]),
    ("nvme.volatile_cache", &["true", "false"]),
    ("controller.battery", &["healthy", "learning", "failed"]),
    (
        "controller.policy",
        &["write back", "write through", "always write back"],
    ),
    (
        "controller.policy_in_force",
        &["write back", "write through"],
    ),
    ("controller.on_battery_failure", &["write through", "stays"]),
    ("controller.disk_cache", &["off", "on", "disk default"]),
    ("pg.fsync", &["true", "false"]),
    ("pg.synchronous_commit", &["on", "off"]),
    (
        "pg.synchronous_commit_overrides",
        &["", "database app: off"],
    ),
    ("pg.full_page_writes", &["true", "false"]),
    ("pg.fsync_disabled_by", &["none", "libeatmydata.so"]),
];

const OF_LAYERS: &[(&str, &[&str])] = &[
    ("device.write_cache", &["write back", "write through"]),
    ("md.level", &["raid1", "raid5", "raid0"]),
    ("bcache.cache_mode", &["writeback", "writethrough", "none"]),
    ("bcache.state", &["no cache", "clean", "dirty"]),
    ("drbd.protocol", &["A", "B", "C"]),
];

/// Facts that only count against a disk: warnings, faults and network attachment.
const AGAINST: &[(&str, &[&str])] = &[
    (
        "nvme.critical_warning",
        &["", "memory backup failed", "read-only", "temperature"],
    ),
    (
        "nvme.capacitor",
        &["healthy", "degraded", "failed", "absent", "unreadable"],
    ),
    ("device.ephemeral", &["true", "false"]),
    ("device.fabric", &["tcp", "iscsi", "fibre channel"]),
];

/// Kinds of layers. A random stack has one device per layer, so thin volumes are left out: each
/// needs a second device, its pool.
const LAYERS: &[&str] = &[
    "lvm",
    "crypt",
    "md",
    "multipath",
    "dm",
    "dmraid",
    "vdo",
    "loop",
    "bcache",
    "drbd",
];

type FactValues = &'static [(&'static str, &'static str)];

const DISKS: &[FactValues] = &[
    &[
        ("device.transport", "sata"),
        ("device.write_cache", "write back"),
        ("device.cache_type", "write back"),
    ],
    &[
        ("device.transport", "sas"),
        ("device.driver", "mpt3sas"),
        ("device.write_cache", "write through"),
        ("device.cache_type", "write through"),
        ("device.drive_cache", "off"),
    ],
    &[
        ("device.transport", "scsi"),
        ("device.driver", "ahci"),
        ("device.write_cache", "write back"),
    ],
    &[
        ("device.transport", "nvme"),
        ("device.write_cache", "write back"),
    ],
    &[
        ("device.transport", "nvme"),
        ("device.write_cache", "write through"),
        ("nvme.volatile_cache", "false"),
        ("nvme.critical_warning", ""),
    ],
    &[
        ("device.transport", "virtio"),
        ("device.write_cache", "write through"),
        ("device.cache_type", "write through"),
    ],
    &[
        ("device.transport", "megaraid"),
        ("device.write_cache", "write back"),
        ("controller.battery", "healthy"),
        ("controller.policy", "write back"),
        ("controller.policy_in_force", "write back"),
        ("controller.on_battery_failure", "write through"),
        ("controller.disk_cache", "off"),
    ],
    &[
        ("device.transport", "raid"),
        ("device.write_cache", "write through"),
        ("device.cache_type", "write through"),
        ("controller.policy", "write through"),
        ("controller.policy_in_force", "write through"),
        ("controller.disk_cache", "off"),
    ],
];

#[derive(Clone, Debug)]
struct RandomStack {
    machine: TestHost,
    layers: Vec<Subject>,
    disks: Vec<Subject>,
}

impl RandomStack {
    fn with_layers(layers: &[&str], disks: &[FactValues]) -> Self {
        let plain = TestHost::with_protected_cache()
            .with_postgres_cluster()
            .without_stack();
        let mount = Subject::mount("/data");
        let mut machine = plain.with_layer_below(&data_target(), &mount);
        machine.facts.set_fact_link(&data_target(), &mount);
        machine
            .facts
            .set_fact_link(&data_target(), &Subject::cluster("/data"));
        let mut stack = Self {
            machine,
            layers: Vec::new(),
            disks: Vec::new(),
        };
        let mut above = mount;
        for (at, kind) in layers.iter().enumerate() {
            let layer = Subject::device(format!("layer{at}"));
            stack.machine.facts.add_layer_below(&above, &layer);
            for (fact, word) in [("device.kind", *kind), ("device.write_cache", "write back")] {
                stack.machine.set_fact_of(&layer, fact, word);
            }
            if *kind == "md" {
                stack.machine.set_fact_of(&layer, "md.level", "raid1");
            }
            stack.layers.push(layer.clone());
            above = layer;
        }
        for words in disks {
            stack.add_disk(&above, words);
        }
        stack
    }

    fn add_disk(&mut self, under: &Subject, words: FactValues) {
        let disk = Subject::device(format!("disk{}", self.disks.len()));
        self.machine.facts.add_layer_below(under, &disk);
        self.machine.set_fact_of(&disk, "device.kind", "disk");
        for (fact, word) in words {
            self.machine.set_fact_of(&disk, fact, word);
        }
        self.disks.push(disk);
    }

    fn subject_for_fact(&self, fact: &str, on_layer: bool, at: usize) -> Option<Subject> {
        let scope = catalog::find_by_name(fact).unwrap().scope;
        let of = if on_layer { &self.layers } else { &self.disks };
        match scope {
            Scope::Device => of.get(at % of.len().max(1)).cloned(),
            Scope::Mount => Some(Subject::mount("/data")),
            Scope::Cluster => Some(Subject::cluster("/data")),
            Scope::Host => Some(Subject::host()),
            Scope::Boot | Scope::Target => Some(data_target()),
        }
    }

    fn verdict_kind(&self) -> VerdictKind {
        self.machine.verdict().standing
    }

    fn is_interlock_open(&self) -> bool {
        matches!(
            self.machine.flush_removal_allowed_reading(),
            Reading::Known { value: true, .. }
        )
    }
}

fn arbitrary_stack() -> impl Strategy<Value = RandomStack> {
    let words =
        |of: &'static [(&'static str, &'static [&'static str])]| -> Vec<(&'static str, &'static str)> {
            of.iter()
                .flat_map(|(fact, values)| values.iter().chain([&"?"]).map(move |v| (*fact, *v)))
                .collect()
        };
    let changes =
        |of| proptest::collection::vec((proptest::sample::select(words(of)), 0..3usize), 0..4);
    let layers = proptest::collection::vec(proptest::sample::select(LAYERS), 0..3);
    let disks = proptest::collection::vec(proptest::sample::select(DISKS), 1..4);
    (
        layers,
        disks,
        changes(BEARING),
        changes(OF_LAYERS),
        changes(AGAINST),
    )
        .prop_map(|(layers, disks, bearing, of_layers, against)| {
            let mut stack = RandomStack::with_layers(&layers, &disks);
            let all = bearing
                .iter()
                .map(|c| (c, false))
                .chain(of_layers.iter().map(|c| (c, true)));
            for (((fact, word), at), on_layer) in all.chain(against.iter().map(|c| (c, false))) {
                if let Some(of) = stack.subject_for_fact(fact, on_layer, *at) {
                    stack.machine.set_fact_of(&of, fact, word);
                }
            }
            stack
        })
}

/// Whether the fact can only count against a disk. `device.drive_cache` is such a fact on NVMe
/// drives without a volatile cache, because these do not answer feature 06h.
fn only_counts_against_disk(machine: &TestHost, of: &Subject, fact: &str) -> bool {
    let has_none = machine.facts.value(of, &catalog::device::NVME_VOLATILE) == Some(false);
    AGAINST.iter().any(|(name, _)| *name == fact) || (fact == "device.drive_cache" && has_none)
}

proptest! {
    // Most random stacks are not durable, and `learning_unknown_facts_keeps_durable` rejects these.
    #![proptest_config(ProptestConfig { max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn learning_unknown_facts_keeps_durable(stack in arbitrary_stack()) {
        prop_assume!(stack.verdict_kind() == VerdictKind::Durable);
        let places = stack.disks.len().max(stack.layers.len());
        let facts = BEARING.iter().map(|f| (f, false)).chain(OF_LAYERS.iter().map(|f| (f, true)));
        for ((fact, values), on_layer) in facts {
            for of in (0..places).filter_map(|at| stack.subject_for_fact(fact, on_layer, at)) {
                if stack.machine.facts.reading_by_name(&of, fact).is_known() || only_counts_against_disk(&stack.machine, &of, fact) {
                    continue;
                }
                for value in *values {
                    let learned = stack.machine.clone().with_fact_of(&of, fact, value).verdict();
                    prop_assert_eq!(learned.standing, VerdictKind::Durable, "{} of {} is {}", fact, of, value);
                }
            }
        }
    }

    #[test]
    fn forgetting_never_makes_it_durable_nor_opens_the_interlock(stack in arbitrary_stack()) {
        let (before, open) = (stack.verdict_kind(), stack.is_interlock_open());
        let known: Vec<(Subject, &'static str)> = stack
            .machine
            .facts
            .rows()
            .filter(|row| row.reading.is_known() && !only_counts_against_disk(&stack.machine, row.subject, row.fact))
            .map(|row| (row.subject.clone(), row.fact))
            .collect();
        for (subject, fact) in known {
            let mut after = stack.clone();
            let unknown = Reading::denied("a test");
            after.machine.facts.insert_untyped_value(&subject, catalog::find_by_name(fact).unwrap(), unknown);
            let standing = after.verdict_kind();
            prop_assert!(standing != VerdictKind::Durable || before == VerdictKind::Durable, "{} of {}", fact, subject);
            prop_assert!(open || !after.is_interlock_open(), "{} of {}", fact, subject);
        }
    }

    #[test]
    fn the_flush_path_agrees_with_the_verdict(
        stack in arbitrary_stack(), arrived in proptest::option::of(0.0..3.0f64), counts: bool,
    ) {
        let mut machine = stack.machine.clone();
        if let Some(arrived) = arrived {
            for disk in &stack.disks {
                machine.set_fact_of(disk, "device.counts_flushes", &counts.to_string());
            }
            machine.set_fact("probe.flushes_per_commit", &arrived.to_string());
        }
        let verdict = machine.verdict();
        let path: Vec<_> = verdict.flush_path.iter().map(|hop| (&hop.name, hop.state)).collect();
        prop_assert_eq!(super::flush_path::flush_path_contradiction(&verdict), None, "{:?}: {:?}", verdict.standing, path);
    }

    /// Adds a disk below the file system or a layer. Below bcache, the disk could be the missing
    /// cache device and improve the verdict, so bcache is left out.
    #[test]
    fn added_disk_never_improves_verdict(stack in arbitrary_stack(), words in proptest::sample::select(DISKS), at in 0..3usize) {
        let under: Vec<Subject> = [Subject::mount("/data")].into_iter().chain(stack.layers.clone()).collect();
        let under = &under[at % under.len()];
        let kind = stack.machine.facts.value(under, &catalog::device::KIND);
        prop_assume!(kind != Some(catalog::device::DeviceKind::Bcache));
        let (before, open) = (stack.verdict_kind(), stack.is_interlock_open());
        let mut more = stack.clone();
        more.add_disk(under, words);
        prop_assert!(more.verdict_kind() <= before);
        prop_assert!(open || !more.is_interlock_open());
    }

    #[test]
    fn measurement_never_raises_verdict(
        stack in arbitrary_stack(), arrived in 0.0..3.0f64, counts: bool, implausible: bool,
        warning in proptest::sample::select(AGAINST), at in 0..3usize,
    ) {
        let mut machine = stack.machine.clone();
        for disk in &stack.disks {
            machine.set_fact_of(disk, "device.counts_flushes", &counts.to_string());
        }
        let before = machine.verdict().standing;
        machine.set_fact("probe.flushes_per_commit", &arrived.to_string());
        machine.set_fact("probe.implausible", &implausible.to_string());
        prop_assert!(machine.verdict().standing <= before);
        let disk = &stack.disks[at % stack.disks.len()];
        // A warning is set only in place of a fact that is absent, false or not collected.
        // `nvme.critical_warning` is left out: an NVMe drive's report of no cache counts only if
        // its warnings are known.
        let reading = machine.facts.reading_by_name(disk, warning.0);
        let is_open = *reading == Reading::not_collected()
            || reading.is_absent()
            || reading.value() == Some(&Value::Bool(false));
        if is_open && warning.0 != "nvme.critical_warning" {
            let before = machine.verdict().standing;
            for word in warning.1 {
                prop_assert!(machine.clone().with_fact_of(disk, warning.0, word).verdict().standing <= before);
            }
        }
    }
}
