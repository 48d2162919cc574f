//! What holds for every machine: nothing unknown is taken for granted, and no measurement raises a verdict.

use proptest::prelude::*;

use super::machine::Machine;
use crate::durability::Standing;

/// Facts that bear on the verdict of the plain machine, with their values.
const BEARING: &[(&str, &[&str])] = &[
    ("mount.class", &["block", "memory", "network", "zfs", "fuse", "other"]),
    ("mount.barrier", &["on", "off", "no effect"]),
    ("device.kind", &["disk", "zram", "zvol", "other"]),
    (
        "device.transport",
        &["sata", "nvme", "virtio", "virtio-scsi", "usb", "mmc", "pmem", "megaraid", "raid", "network"],
    ),
    ("device.write_cache", &["write back", "write through"]),
    ("device.cache_type", &["write back", "write through", "none", "write back, no read (daft)"]),
    ("device.drive_cache", &["on", "off"]),
    ("nvme.volatile_cache", &["true", "false"]),
    ("mount.fstype", &["ext4", "xfs", "btrfs"]),
    ("ext4.journal", &["true", "false"]),
    ("zfs.sync", &["standard", "always", "disabled"]),
    ("zfs.no_cache_flush", &["true", "false"]),
    ("controller.battery", &["healthy", "learning", "failed"]),
    ("controller.policy", &["write back", "write through", "always write back"]),
    ("controller.policy_in_force", &["write back", "write through"]),
    ("controller.on_battery_failure", &["write through", "stays"]),
    ("controller.disk_cache", &["off", "on", "disk default"]),
    ("pg.fsync", &["true", "false"]),
    ("pg.synchronous_commit", &["on", "off"]),
    ("pg.fsync_disabled_by", &["none", "libeatmydata.so"]),
];

/// Machines of kinds that occur, with up to four of their facts changed or forgotten.
fn any_machine() -> impl Strategy<Value = Machine> {
    let plain = || Machine::plain().with_cluster();
    let without_cache =
        || plain().with("device.write_cache", "write through").with("device.cache_type", "write through");
    let starts = vec![
        plain(),
        plain().with("device.transport", "nvme").with("device.cache_type", "?"),
        without_cache(),
        without_cache().with("mount.barrier", "off"),
        Machine::protected().with_cluster(),
        Machine::protected().with_cluster().with("mount.barrier", "off"),
        Machine::protected().with_cluster().with("controller.policy_in_force", "write through"),
    ];
    let words: Vec<(&'static str, &'static str)> = BEARING
        .iter()
        .flat_map(|(fact, values)| values.iter().chain([&"?"]).map(move |value| (*fact, *value)))
        .collect();
    let changes = proptest::collection::vec(proptest::sample::select(words), 0..5);
    (proptest::sample::select(starts), changes)
        .prop_map(|(start, changes)| changes.iter().fold(start, |m, (fact, value)| m.with(fact, value)))
}

/// Whether a fact of the machine is unknown.
fn unknown(machine: &Machine, fact: &str) -> bool {
    machine.fact(fact).is_none()
}

proptest! {
    /// *Durable* with something unknown stays durable whatever that turns out to be: nothing unknown is taken for granted.
    #[test]
    fn durable_survives_learning_more(machine in any_machine()) {
        if machine.verdict().standing == Standing::Durable {
            for (fact, values) in BEARING.iter().filter(|(fact, _)| unknown(&machine, fact)) {
                for value in *values {
                    let learned = machine.clone().with(fact, value).verdict();
                    prop_assert_eq!(learned.standing, Standing::Durable, "{} is {}", fact, value);
                }
            }
        }
    }

    /// Forgetting a fact never turns anything else into *durable*.
    #[test]
    fn forgetting_never_makes_it_durable(machine in any_machine()) {
        let before = machine.verdict().standing;
        for (fact, _) in BEARING {
            let after = machine.clone().with(fact, "?").verdict().standing;
            prop_assert!(after != Standing::Durable || before == Standing::Durable, "{}", fact);
        }
    }

    /// No measurement raises a verdict.
    #[test]
    fn no_measurement_raises(machine in any_machine(), arrived in 0.0..3.0f64, counts: bool, implausible: bool) {
        let machine = machine.with("device.counts_flushes", &counts.to_string());
        let measured = machine
            .clone()
            .with("probe.flushes_per_commit", &arrived.to_string())
            .with("probe.implausible", &implausible.to_string());
        prop_assert!(measured.verdict().standing <= machine.verdict().standing);
    }
}
