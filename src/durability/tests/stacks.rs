//! Verdicts over more than one layer: queues above the disk, files as disks, several disks, stacks too large to walk.

use super::machine::{Machine, data};
use crate::durability::Standing;
use crate::facts::Subject;

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
