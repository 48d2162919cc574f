//! Verdicts, caches and flushes of machines that occur.

use proptest::prelude::*;

use super::machine::{Machine, data};
use crate::durability::{Layer, Standing};
use crate::facts::Subject;

#[test]
fn belief_claim_and_barrier() {
    // queue, the disk's word, barrier → verdict, cache, flush, suppressed by
    for (queue, word, barrier, verdict, cache, flush, by) in [
        ("write back", "write back", "on", "durable", "volatile", "sent", "none"),
        ("write back", "write back", "no effect", "durable", "volatile", "sent", "none"),
        ("write back", "write back, no read (daft)", "on", "durable", "volatile", "sent", "none"),
        ("write back", "write back", "off", "at risk", "volatile", "suppressed", "mount option"),
        ("write back", "write back", "?", "unproven", "volatile", "unknown", "none"),
        ("write back", "write through", "on", "durable", "volatile", "sent", "none"),
        ("write back", "?", "on", "durable", "volatile", "sent", "none"),
        ("write back", "?", "off", "at risk", "volatile", "suppressed", "mount option"),
        (
            "write through",
            "write back",
            "on",
            "contradictory",
            "contradictory",
            "suppressed",
            "queue override",
        ),
        (
            "write through",
            "write back, no read (daft)",
            "on",
            "contradictory",
            "contradictory",
            "suppressed",
            "queue override",
        ),
        (
            "write through",
            "write back",
            "off",
            "at risk",
            "contradictory",
            "suppressed",
            "mount option,queue override",
        ),
        ("write through", "write through", "on", "durable", "none", "not needed", "none"),
        ("write through", "none", "on", "durable", "none", "not needed", "none"),
        ("write through", "write through", "off", "durable", "none", "suppressed", "mount option"),
        ("write through", "?", "on", "unproven", "unknown", "unknown", "none"),
        ("write through", "?", "off", "at risk", "unknown", "suppressed", "mount option"),
        ("?", "write back", "on", "unproven", "volatile", "unknown", "none"),
        ("?", "write through", "on", "unproven", "none", "unknown", "none"),
        ("?", "?", "on", "unproven", "unknown", "unknown", "none"),
        ("?", "?", "off", "at risk", "unknown", "suppressed", "mount option"),
    ] {
        let machine = Machine::plain()
            .with("device.write_cache", queue)
            .with("device.cache_type", word)
            .with("mount.barrier", barrier);
        let seen = [
            machine.word().to_owned(),
            machine.concludes("target.cache"),
            machine.concludes("target.flush"),
            machine.concludes("target.flush_suppressed_by"),
        ];
        assert_eq!(seen, [verdict, cache, flush, by], "{queue} / {word} / {barrier}");
        assert_eq!(machine.concludes("device.cache"), cache);
    }
}

#[test]
fn what_a_transport_lets_one_conclude() {
    for (transport, queue, word, verdict, cache) in [
        ("nvme", "write back", "?", "durable", "volatile"),
        ("nvme", "write through", "?", "unproven", "unknown"),
        ("virtio", "write back", "write back", "durable", "volatile"),
        ("virtio", "write through", "write through", "durable", "none"),
        ("virtio-scsi", "write through", "write through", "unproven", "unknown"),
        ("virtio-scsi", "write back", "write back", "durable", "volatile"),
        ("vmware", "write through", "write through", "unproven", "unknown"),
        ("hyperv", "write through", "write through", "unproven", "unknown"),
        ("xen", "write through", "?", "unproven", "unknown"),
        ("usb", "write through", "write through", "unproven", "unknown"),
        ("usb", "write back", "write back", "unproven", "volatile"),
        ("sas", "write through", "write through", "durable", "none"),
        ("network", "write back", "?", "unproven", "unknown"),
        ("network", "write through", "?", "unproven", "unknown"),
        ("other", "write back", "?", "unproven", "unknown"),
        ("megaraid", "write back", "write back", "unproven", "unknown"),
        ("raid", "write through", "write through", "unproven", "unknown"),
        ("?", "write back", "write back", "unproven", "volatile"),
    ] {
        let machine = Machine::plain()
            .with("device.transport", transport)
            .with("device.write_cache", queue)
            .with("device.cache_type", word);
        assert_eq!(
            [machine.word(), &machine.concludes("device.cache")],
            [verdict, cache],
            "{transport}: {queue} / {word}"
        );
    }
}

#[test]
fn an_nvme_disk_without_cache_names_what_would_prove_it() {
    let verdict = Machine::plain()
        .with("device.transport", "nvme")
        .with("device.write_cache", "write through")
        .with("device.cache_type", "?")
        .verdict();
    let need = verdict.missing.iter().find(|need| need.fact == "device.cache_type").unwrap();
    assert!(need.remedy.as_ref().unwrap().to_string().contains("nvme id-ctrl"));
}

#[test]
fn controllers() {
    // battery, policy, in force, on battery failure, member disks → verdict, cache
    for (battery, policy, in_force, failure, members, verdict, cache) in [
        ("healthy", "write back", "write back", "write through", "off", "durable", "protected"),
        ("healthy", "write back", "write back", "write through", "on", "at risk", "volatile"),
        ("healthy", "write back", "write back", "write through", "disk default", "unproven", "unknown"),
        ("healthy", "write back", "write back", "stays", "off", "unproven", "unknown"),
        ("healthy", "always write back", "write back", "stays", "off", "unproven", "unknown"),
        ("failed", "always write back", "write back", "stays", "off", "at risk", "volatile"),
        ("failed", "always write back", "?", "?", "off", "at risk", "volatile"),
        ("absent", "write back", "?", "stays", "?", "at risk", "volatile"),
        ("absent", "write back", "write through", "write through", "off", "durable", "none"),
        ("learning", "write back", "write through", "write through", "off", "durable", "none"),
        ("learning", "write back", "write back", "write through", "off", "unproven", "unknown"),
        ("charging", "write back", "write back", "write through", "off", "unproven", "unknown"),
        ("degraded", "write back", "write back", "write through", "off", "unproven", "unknown"),
        ("unreadable", "write back", "write back", "write through", "off", "unproven", "unknown"),
        ("?", "write through", "write through", "?", "off", "durable", "none"),
        ("?", "write through", "write through", "?", "?", "unproven", "unknown"),
    ] {
        for transport in ["megaraid", "raid"] {
            let machine = Machine::plain()
                .with("device.transport", transport)
                .with("controller.battery", battery)
                .with("controller.policy", policy)
                .with("controller.policy_in_force", in_force)
                .with("controller.on_battery_failure", failure)
                .with("controller.disk_cache", members);
            assert_eq!(
                [machine.word(), &machine.concludes("device.cache")],
                [verdict, cache],
                "{battery} / {policy} / {in_force} / {failure} / {members}"
            );
        }
    }
    let by_driver = Machine::plain().with("device.transport", "scsi").with("device.driver", "megaraid_sas");
    assert_eq!(by_driver.word(), "unproven", "its flushes may end in the driver");
}

#[test]
fn file_systems_without_a_disk() {
    for (class, fstype, verdict) in [
        ("memory", "tmpfs", "at risk"),
        ("network", "nfs4", "unproven"),
        ("fuse", "fuse.sshfs", "unproven"),
        ("zfs", "zfs", "unproven"),
        ("other", "what", "unproven"),
        ("block", "ext4", "unproven"),
        ("overlay", "overlay", "unproven"),
        ("?", "?", "unproven"),
    ] {
        let mount = Subject::mount("/nowhere");
        let mut machine = Machine::plain();
        machine.facts = crate::facts::FactSet::default();
        let machine = machine
            .stand(&data(), &mount)
            .with("target.kind", "directory")
            .on(&mount, "mount.class", class)
            .on(&mount, "mount.fstype", fstype)
            .on(&mount, "mount.barrier", "on");
        assert_eq!(machine.word(), verdict, "{class}");
        assert_eq!(machine.concludes("target.cache"), "unknown");
    }
    assert_eq!(
        Machine::plain().with("mount.class", "overlay").with("mount.super_options", "volatile").word(),
        "at risk"
    );
    assert_eq!(
        Machine::plain().with("mount.class", "overlay").with("mount.super_options", "rw").word(),
        "durable"
    );
    assert_eq!(Machine::plain().with("mount.class", "zfs").with("zfs.sync", "disabled").word(), "at risk");
}

/// Puts a device between the file system and sda.
fn between(kind: &str, queue: &str) -> Machine {
    let top = Subject::device("top");
    let mount = Subject::mount("/data2");
    let target = data();
    Machine::plain()
        .unstacked()
        .stand(&target, &mount)
        .stand(&mount, &top)
        .stand(&top, &Subject::device("sda"))
        .on(&mount, "mount.class", "block")
        .on(&mount, "mount.fstype", "ext4")
        .on(&mount, "mount.barrier", "on")
        .on(&top, "device.kind", kind)
        .on(&top, "device.write_cache", queue)
        .on(&top, "md.level", "raid1")
}

#[test]
fn queues_above_the_disk() {
    for (kind, queue, disk_queue, disk_word, verdict) in [
        ("md", "write back", "write back", "write back", "durable"),
        ("md", "write through", "write back", "write back", "contradictory"),
        ("md", "write through", "write through", "write through", "contradictory"),
        ("md", "write back", "write through", "write through", "durable"),
        ("lvm", "write through", "write through", "write through", "durable"),
        ("lvm", "write through", "write back", "write back", "contradictory"),
        ("lvm", "write back", "write through", "write back", "contradictory"),
        ("dm", "write through", "write through", "write through", "unproven"),
        ("crypt", "?", "write back", "write back", "unproven"),
        ("loop", "write back", "write back", "write back", "durable"),
        ("loop", "write through", "write through", "write through", "contradictory"),
    ] {
        let machine =
            between(kind, queue).with("device.write_cache", disk_queue).with("device.cache_type", disk_word);
        assert_eq!(machine.word(), verdict, "{kind} {queue} above {disk_queue} / {disk_word}");
    }
}

#[test]
fn without_barriers_a_layer_with_state_of_its_own_is_not_safe_over_safe_disks() {
    for (kind, verdict) in [("crypt", "durable"), ("lvm", "durable"), ("dm", "unproven"), ("loop", "at risk")]
    {
        let machine = between(kind, "write back")
            .with("device.write_cache", "write through")
            .with("device.cache_type", "write through")
            .on(&Subject::mount("/data2"), "mount.barrier", "off");
        assert_eq!(machine.word(), verdict, "{kind}");
    }
}

#[test]
fn a_loop_file_is_judged_through_the_file_system_it_lies_on() {
    let (host_mount, disk) = (Subject::mount("/host"), Subject::device("sdb"));
    let lower = |barrier: &str| {
        between("loop", "write back")
            .unstacked()
            .stand(&data(), &Subject::mount("/data2"))
            .stand(&Subject::mount("/data2"), &Subject::device("top"))
            .stand(&Subject::device("top"), &host_mount)
            .stand(&host_mount, &disk)
            .on(&host_mount, "mount.class", "block")
            .on(&host_mount, "mount.fstype", "ext4")
            .on(&host_mount, "mount.barrier", barrier)
            .on(&disk, "device.kind", "disk")
            .on(&disk, "device.transport", "sata")
            .on(&disk, "device.write_cache", "write back")
    };
    assert_eq!(lower("on").word(), "durable");
    assert_eq!(lower("off").word(), "at risk");
    assert_eq!(lower("?").word(), "unproven");
    assert_eq!(lower("on").on(&host_mount, "mount.class", "memory").word(), "at risk");
}

#[test]
fn the_worst_disk_governs() {
    let other = Subject::device("sdb");
    let pair = |kind: &str, queue: &str| {
        between("md", "write back")
            .stand(&Subject::device("top"), &other)
            .on(&other, "device.kind", kind)
            .on(&other, "device.transport", "sata")
            .on(&other, "device.write_cache", queue)
    };
    assert_eq!(pair("disk", "write back").word(), "durable");
    assert_eq!(pair("disk", "?").word(), "unproven");
    assert_eq!(pair("zram", "write back").word(), "at risk");
    let verdict = pair("disk", "?").verdict();
    assert_eq!(verdict.paths.len(), 2);
    assert_eq!(verdict.paths[0].standing, Standing::Unproven, "worst first");
    assert_eq!(verdict.paths[0].hops.last(), Some(&other));
}

#[test]
fn the_database_layer() {
    for (fact, value, verdict) in [
        ("pg.fsync", "true", "durable"),
        ("pg.fsync", "false", "at risk"),
        ("pg.fsync", "?", "unproven"),
        ("pg.synchronous_commit", "local", "durable"),
        ("pg.synchronous_commit", "off", "at risk"),
        ("pg.synchronous_commit", "sideways", "unproven"),
        ("pg.synchronous_commit", "?", "unproven"),
        ("pg.fsync_disabled_by", "libeatmydata.so", "at risk"),
        ("pg.fsync_disabled_by", "?", "unproven"),
    ] {
        let machine = Machine::plain().with_cluster().with(fact, value);
        assert_eq!(machine.word(), verdict, "{fact} = {value}");
    }
    let off = Machine::plain().with_cluster().with("pg.fsync", "false");
    assert_eq!(off.concludes("target.flush_suppressed_by"), "server setting");
    let stopped =
        Machine::plain().with_cluster().with("pg.fsync_disabled_by", "?").with("pg.running", "false");
    assert_eq!(stopped.word(), "durable", "no server, no preloaded library");
}

#[test]
fn measurements_lower_and_never_raise() {
    let counted = Machine::plain().with("device.counts_flushes", "true");
    for (arrived, verdict) in [("0", "at risk"), ("0.2", "unproven"), ("1", "durable")] {
        assert_eq!(counted.clone().with("probe.flushes_per_commit", arrived).word(), verdict, "{arrived}");
    }
    let uncounted = Machine::plain().with("probe.flushes_per_commit", "0");
    assert_eq!(uncounted.word(), "durable", "where flushes are not counted, none counted says nothing");
    assert_eq!(Machine::plain().with("probe.implausible", "true").word(), "unproven");
    let expected = counted
        .with("device.write_cache", "write through")
        .with("device.cache_type", "write through")
        .with("probe.flushes_per_commit", "0");
    assert_eq!(expected.word(), "durable", "no flush is needed, none arrived");
}

#[test]
fn sentences() {
    let risky = Machine::plain().with("mount.barrier", "off").verdict();
    assert_eq!(
        risky.sentence,
        "A commit acknowledged now may be lost at power failure: /data is ext4 mounted without barriers, so no flush \
         is sent, and sda holds writes in a volatile cache."
    );
    assert!(risky.limits.is_empty());
    let sound = Machine::plain().with_cluster().verdict();
    assert_eq!(
        sound.sentence,
        "A commit acknowledged now survives a power failure: flushes are sent all the way to sda, which has to write \
         its volatile cache out."
    );
    let unread = Machine::bare().verdict();
    assert!(unread.sentence.contains("cannot be shown from here"), "{}", unread.sentence);
    assert!(unread.sentence.matches(", and ").count() <= 2, "{}", unread.sentence);
    let guest = Machine::plain().with("host.seen_by", "guest").verdict();
    assert!(guest.limits.contains("hypervisor honours flushes"));
    assert_eq!(guest.standing, Standing::Durable);
}

#[test]
fn evidence_names_its_source_and_layer() {
    let verdict = Machine::plain().with_cluster().verdict();
    let path = &verdict.paths[0];
    for layer in [Layer::Database, Layer::Belief, Layer::Claim] {
        assert!(path.evidence.iter().any(|e| e.layer == layer && !e.source.is_empty()), "{layer:?}");
    }
}

#[test]
fn a_stated_fact_marks_what_is_concluded() {
    let machine = Machine::plain().with("device.cache_type", "~write back");
    let mut facts = machine.facts;
    crate::durability::judge(&mut facts, true);
    for (of, fact) in
        [(data(), "target.verdict"), (data(), "target.cache"), (Subject::device("sda"), "device.cache")]
    {
        assert!(!facts.reading(&of, fact).source().unwrap().is_evidence(), "{fact}");
    }
}

#[test]
fn a_huge_stack_is_judged_as_one_and_says_so() {
    let node = |layer: u32, index: u32| Subject::device(format!("n{layer}-{index}"));
    let build = |last: &str| {
        let mut machine = between("md", "write back").stand(&Subject::device("top"), &node(0, 0));
        for layer in 0..12 {
            for (top, base) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                machine = machine.stand(&node(layer, top), &node(layer + 1, base));
            }
            for index in 0..2 {
                machine = machine.on(&node(layer, index), "device.kind", "md").on(
                    &node(layer, index),
                    "device.write_cache",
                    "write back",
                );
            }
        }
        for index in 0..2 {
            let queue = if index == 0 { "write back" } else { last };
            machine = machine
                .on(&node(12, index), "device.kind", "disk")
                .on(&node(12, index), "device.transport", "sata")
                .on(&node(12, index), "device.write_cache", queue);
        }
        machine
    };
    assert_eq!(build("write back").word(), "durable");
    assert_eq!(build("?").word(), "unproven");
    let mut machine = build("write back");
    crate::durability::judge(&mut machine.facts, true);
    assert_eq!(machine.facts.warnings().len(), 1);
}

/// Facts that bear on the verdict of the plain machine, with their values.
const BEARING: &[(&str, &[&str])] = &[
    ("mount.class", &["block", "memory", "network"]),
    ("mount.barrier", &["on", "off", "no effect"]),
    ("device.kind", &["disk", "zram", "other"]),
    ("device.transport", &["sata", "nvme", "virtio", "usb", "megaraid", "network"]),
    ("device.write_cache", &["write back", "write through"]),
    ("device.cache_type", &["write back", "write through", "none"]),
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
