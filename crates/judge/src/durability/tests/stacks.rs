use super::test_host::{TestHost, data_target};
use crate::durability::{VerdictCaps, VerdictKind};
use crate::facts::catalog::device::MappingHealth;
use crate::facts::{Choice, Subject};

pub fn host_with_device_above_disk(kind: &str, queue: &str) -> TestHost {
    let top = Subject::device("top");
    let mount = Subject::mount("/data2");
    let target = data_target();
    TestHost::with_volatile_disk()
        .without_stack()
        .with_layer_below(&target, &mount)
        .with_layer_below(&mount, &top)
        .with_layer_below(&top, &Subject::device("sda"))
        .with_fact_of(&mount, "mount.class", "block")
        .with_fact_of(&mount, "mount.fstype", "ext4")
        .with_fact_of(&mount, "mount.barrier", "on")
        .with_fact_of(&mount, "ext4.journal", "true")
        .with_fact_of(&top, "device.kind", kind)
        .with_fact_of(&top, "device.write_cache", queue)
        .with_fact_of(&top, "md.level", "raid1")
}

#[test]
fn verdict_by_queue_of_stacked_devices() {
    for (kind, queue, disk_queue, disk_word, verdict) in [
        ("md", "write back", "write back", "write back", "durable"),
        (
            "md",
            "write through",
            "write back",
            "write back",
            "contradictory",
        ),
        (
            "md",
            "write through",
            "write through",
            "write through",
            "contradictory",
        ),
        (
            "md",
            "write back",
            "write through",
            "write through",
            "durable",
        ),
        (
            "lvm",
            "write through",
            "write through",
            "write through",
            "durable",
        ),
        (
            "lvm",
            "write through",
            "write back",
            "write back",
            "contradictory",
        ),
        (
            "lvm",
            "write back",
            "write through",
            "write back",
            "contradictory",
        ),
        (
            "dm",
            "write through",
            "write through",
            "write through",
            "unproven",
        ),
        ("crypt", "?", "write back", "write back", "unproven"),
        ("loop", "write back", "write back", "write back", "durable"),
        (
            "loop",
            "write through",
            "write through",
            "write through",
            "contradictory",
        ),
    ] {
        let answer = if disk_word == "write back" {
            "on"
        } else {
            "off"
        };
        let machine = host_with_device_above_disk(kind, queue)
            .with_fact("device.write_cache", disk_queue)
            .with_fact("device.cache_type", disk_word)
            .with_fact("device.drive_cache", answer);
        assert_eq!(
            machine.verdict_name(),
            verdict,
            "{kind} {queue} above {disk_queue} / {disk_word}"
        );
    }
    let unread = host_with_device_above_disk("lvm", "write through")
        .with_fact("device.write_cache", "?")
        .with_fact("device.cache_type", "?");
    let says = unread.verdict().sentence;
    assert!(
        says.contains("it is unknown whether an underlying disk is write back"),
        "{says}"
    );
}

#[test]
fn verdict_of_stateful_devices() {
    // Columns: kind, queue, fact and value, number of disks below → verdict.
    for (kind, queue, (fact, value), disks, verdict) in [
        (
            "bcache",
            "write back",
            ("bcache.cache_mode", "writeback"),
            2,
            "durable",
        ),
        (
            "bcache",
            "write back",
            ("bcache.cache_mode", "?"),
            2,
            "durable",
        ),
        (
            "bcache",
            "write back",
            ("bcache.cache_mode", "writeback"),
            1,
            "unproven",
        ),
        (
            "bcache",
            "write back",
            ("bcache.cache_mode", "writethrough"),
            1,
            "durable",
        ),
        (
            "bcache",
            "write back",
            ("bcache.state", "no cache"),
            1,
            "durable",
        ),
        (
            "bcache",
            "write back",
            ("bcache.cache_mode", "?"),
            1,
            "unproven",
        ),
        (
            "bcache",
            "write through",
            ("bcache.cache_mode", "writeback"),
            2,
            "contradictory",
        ),
        ("drbd", "write back", ("drbd.protocol", "A"), 1, "durable"),
        ("drbd", "write back", ("drbd.protocol", "?"), 1, "durable"),
        (
            "drbd",
            "write back",
            ("drbd.write_ordering", "drain"),
            1,
            "durable",
        ),
        (
            "drbd",
            "write through",
            ("drbd.protocol", "C"),
            1,
            "contradictory",
        ),
        ("zvol", "write back", ("device.size", "1"), 1, "unproven"),
        ("zram", "write back", ("device.size", "1"), 1, "at risk"),
        ("ram", "write through", ("device.size", "1"), 1, "at risk"),
        ("other", "write back", ("device.size", "1"), 1, "unproven"),
        ("dmraid", "write back", ("device.size", "1"), 2, "durable"),
        ("vdo", "write back", ("device.size", "1"), 1, "durable"),
        ("lvm", "write back", ("dm.targets", "cache"), 2, "durable"),
        ("lvm", "write back", ("dm.targets", "thin"), 1, "durable"),
        (
            "dm",
            "write back",
            ("dm.targets", "writecache"),
            2,
            "durable",
        ),
    ] {
        let (top, other) = (Subject::device("top"), Subject::device("sdb"));
        let mut machine = host_with_device_above_disk(kind, queue).with_fact_of(&top, fact, value);
        if disks == 2 {
            machine = machine
                .with_layer_below(&top, &other)
                .with_fact_of(&other, "device.kind", "disk")
                .with_fact_of(&other, "device.transport", "sata")
                .with_fact_of(&other, "device.write_cache", "write back");
        }
        assert_eq!(
            machine.verdict_name(),
            verdict,
            "{kind} {queue} {fact}={value} on {disks}"
        );
        if disks == 2 && verdict == "durable" {
            let forgets = machine.with_fact_of(&other, "device.write_cache", "?");
            assert_eq!(
                forgets.verdict_name(),
                "unproven",
                "{kind}: the cache's own disk counts like any other"
            );
        }
    }
}

#[test]
fn dm_targets_decide_verdict() {
    // Columns: targets, the mapping's queue above disks without cache, barrier → verdict.
    for (targets, queue, barrier, verdict) in [
        ("linear", "write through", "on", "durable"),
        ("linear,striped", "write through", "off", "durable"),
        ("crypt", "write through", "on", "durable"),
        ("thin", "write back", "on", "durable"),
        ("thin", "write through", "on", "contradictory"),
        ("thin", "write back", "off", "at risk"),
        ("cache", "write back", "off", "at risk"),
        ("writecache", "write through", "on", "contradictory"),
        ("snapshot", "write through", "on", "unproven"),
        ("snapshot", "write back", "off", "unproven"),
        ("unheard-of", "write back", "off", "unproven"),
        ("unheard-of", "write back", "on", "unproven"),
        ("linear,unheard-of", "write back", "on", "unproven"),
        ("flakey", "write back", "on", "unproven"),
        ("snapshot", "write back", "on", "durable"),
        ("raid", "write back", "on", "durable"),
        ("integrity", "write back", "on", "durable"),
        ("integrity", "write back", "off", "at risk"),
    ] {
        for kind in ["lvm", "dm"] {
            let machine = host_with_device_above_disk(kind, queue)
                .with_fact_of(&Subject::device("top"), "dm.targets", targets)
                .with_fact_of(&Subject::mount("/data2"), "mount.barrier", barrier)
                .with_fact("device.write_cache", "write through")
                .with_fact("device.cache_type", "write through")
                .with_fact("device.drive_cache", "off");
            assert_eq!(
                machine.verdict_name(),
                verdict,
                "{kind} {targets}: {queue}, barrier {barrier}"
            );
        }
    }
}

#[test]
fn dm_state_decides_verdict_and_redundancy() {
    for state in MappingHealth::ALL
        .iter()
        .map(|state| state.as_str())
        .chain(["?"])
    {
        let (verdict, redundancy) = match state {
            "fine" => ("durable", "whole"),
            "resyncing" => ("durable", "unknown"),
            "degraded" | "rebuilding" => ("durable", "degraded"),
            "degraded, write hole open" => ("at risk", "degraded"),
            "failed" | "lost" => ("at risk", "failed"),
            "no path" => ("unproven", "failed"),
            "?" => ("unproven", "unknown"),
            _ => ("unproven", "whole"),
        };
        for kind in ["lvm", "dm", "multipath"] {
            let top = Subject::device("top");
            let machine = host_with_device_above_disk(kind, "write back")
                .with_fact_of(&top, "dm.targets", "raid")
                .with_fact_of(&top, "dm.state", state);
            assert_eq!(machine.verdict_name(), verdict, "{kind} {state}");
            assert_eq!(
                machine.derived_fact_text("target.redundancy"),
                redundancy,
                "{kind} {state}"
            );
        }
    }
}

#[test]
fn zfs_pool_state_decides_verdict() {
    for (fact, word, verdict) in [
        ("zfs.pool_state", "ONLINE", "durable"),
        ("zfs.pool_state", "DEGRADED", "durable"),
        ("zfs.pool_state", "FAULTED", "at risk"),
        ("zfs.pool_state", "UNAVAIL", "at risk"),
        ("zfs.pool_state", "SUSPENDED", "unproven"),
        ("zfs.pool_state", "OFFLINE", "unproven"),
        ("zfs.pool_state", "REMOVED", "unproven"),
        ("zfs.pool_state", "?", "unproven"),
        ("zfs.damaged", "true", "at risk"),
        ("zfs.damaged", "?", "unproven"),
        ("zfs.devices", "?", "unproven"),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("mount.class", "zfs")
            .with_fact("mount.fstype", "zfs")
            .with_fact("zfs.sync", "standard")
            .with_fact("zfs.no_cache_flush", "false")
            .with_fact(fact, word);
        assert_eq!(machine.verdict_name(), verdict, "{fact} {word}");
    }
}

#[test]
fn array_with_unjudged_member_is_unproven() {
    let top = Subject::device("top");
    for (members, verdict) in [
        ("sda in_sync", "durable"),
        ("sda in_sync,sdb in_sync", "unproven"),
        ("?", "unproven"),
    ] {
        assert_eq!(
            host_with_device_above_disk("md", "write back")
                .with_fact_of(&top, "md.members", members)
                .verdict_name(),
            verdict,
            "{members}"
        );
    }
    let failed = host_with_device_above_disk("md", "write back").with_fact_of(
        &top,
        "md.members",
        "sda in_sync,sdb faulty",
    );
    assert_eq!(
        failed
            .with_fact_of(&top, "md.failed_members", "sdb")
            .verdict_name(),
        "durable"
    );
}

#[test]
fn unread_dm_targets_matter_only_for_generic_dm() {
    for (kind, verdict) in [
        ("lvm", "durable"),
        ("crypt", "durable"),
        ("multipath", "durable"),
        ("dm", "unproven"),
    ] {
        let top = Subject::device("top");
        let machine =
            host_with_device_above_disk(kind, "write back").with_fact_of(&top, "dm.targets", "?");
        assert_eq!(machine.verdict_name(), verdict, "{kind}");
        assert_eq!(
            host_with_device_above_disk(kind, "write back").verdict_name(),
            verdict,
            "{kind}, not collected"
        );
    }
}

#[test]
fn without_barriers_stateful_layers_are_not_durable() {
    for (kind, verdict) in [
        ("crypt", "durable"),
        ("lvm", "durable"),
        ("dm", "unproven"),
        ("loop", "at risk"),
    ] {
        let machine = host_with_device_above_disk(kind, "write back")
            .with_fact("device.write_cache", "write through")
            .with_fact("device.cache_type", "write through")
            .with_fact("device.drive_cache", "off")
            .with_fact_of(&Subject::mount("/data2"), "mount.barrier", "off");
        assert_eq!(machine.verdict_name(), verdict, "{kind}");
    }
}

#[test]
fn a_loop_file_is_judged_through_the_file_system_it_lies_on() {
    let (host_mount, disk) = (Subject::mount("/host"), Subject::device("sdb"));
    let lower = |barrier: &str| {
        host_with_device_above_disk("loop", "write back")
            .without_stack()
            .with_layer_below(&data_target(), &Subject::mount("/data2"))
            .with_layer_below(&Subject::mount("/data2"), &Subject::device("top"))
            .with_layer_below(&Subject::device("top"), &host_mount)
            .with_layer_below(&host_mount, &disk)
            .with_fact_of(&host_mount, "mount.class", "block")
            .with_fact_of(&host_mount, "mount.fstype", "ext4")
            .with_fact_of(&host_mount, "mount.barrier", barrier)
            .with_fact_of(&host_mount, "ext4.journal", "true")
            .with_fact_of(&disk, "device.kind", "disk")
            .with_fact_of(&disk, "device.transport", "sata")
            .with_fact_of(&disk, "device.write_cache", "write back")
    };
    assert_eq!(lower("on").verdict_name(), "durable");
    assert_eq!(lower("off").verdict_name(), "at risk");
    assert_eq!(lower("?").verdict_name(), "unproven");
    assert_eq!(
        lower("on")
            .with_fact_of(&host_mount, "mount.class", "memory")
            .verdict_name(),
        "at risk"
    );
}

#[test]
fn worst_disk_decides_verdict() {
    let other = Subject::device("sdb");
    let pair = |kind: &str, queue: &str| {
        host_with_device_above_disk("md", "write back")
            .with_layer_below(&Subject::device("top"), &other)
            .with_fact_of(&other, "device.kind", kind)
            .with_fact_of(&other, "device.transport", "sata")
            .with_fact_of(&other, "device.write_cache", queue)
    };
    assert_eq!(pair("disk", "write back").verdict_name(), "durable");
    assert_eq!(pair("disk", "?").verdict_name(), "unproven");
    assert_eq!(pair("zram", "write back").verdict_name(), "at risk");
    let verdict = pair("disk", "?").verdict();
    assert_eq!(verdict.paths.len(), 2);
    assert_eq!(
        verdict.paths[0].standing,
        VerdictKind::Unproven,
        "worst first"
    );
    assert_eq!(verdict.paths[0].hops.last(), Some(&other));
}

#[test]
fn too_many_routes_are_judged_merged_with_note() {
    let node = |layer: u32, index: u32| Subject::device(format!("n{layer}-{index}"));
    let build = |last: &str| {
        let mut machine = host_with_device_above_disk("md", "write back")
            .with_layer_below(&Subject::device("top"), &node(0, 0));
        for layer in 0..12 {
            for (top, base) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                machine = machine.with_layer_below(&node(layer, top), &node(layer + 1, base));
            }
            for index in 0..2 {
                let of = node(layer, index);
                machine = machine
                    .with_fact_of(&of, "device.kind", "md")
                    .with_fact_of(&of, "md.level", "raid1")
                    .with_fact_of(&of, "device.write_cache", "write back");
            }
        }
        for index in 0..2 {
            let queue = if index == 0 { "write back" } else { last };
            machine = machine
                .with_fact_of(&node(12, index), "device.kind", "disk")
                .with_fact_of(&node(12, index), "device.transport", "sata")
                .with_fact_of(&node(12, index), "device.write_cache", queue);
        }
        machine
    };
    assert_eq!(build("write back").verdict_name(), "durable");
    assert_eq!(build("?").verdict_name(), "unproven");
    let mut machine = build("write back");
    crate::durability::judge_targets(&mut machine.facts, true, &VerdictCaps::default());
    assert_eq!(machine.facts.notes().len(), 1);
}

/// A host with an array above sda. `facts` has the form `LEVEL STATE MISSING/MEMBERS POLICY`, as in
/// `raid1 active 0/2 bitmap`; `failed` lists the failed members.
fn host_with_array(facts: &str, failed: &str) -> TestHost {
    let top = Subject::device("top");
    let words: Vec<&str> = facts.split(' ').collect();
    let (degraded, members) = words[2].split_once('/').unwrap();
    host_with_device_above_disk("md", "write back")
        .with_fact_of(&top, "md.level", words[0])
        .with_fact_of(&top, "md.array_state", words[1])
        .with_fact_of(&top, "md.degraded", degraded)
        .with_fact_of(&top, "md.raid_disks", members)
        .with_fact_of(&top, "md.consistency_policy", words[3])
        .with_fact_of(&top, "md.failed_members", failed)
}

#[test]
fn array_heading_by_missing_members() {
    for (facts, failed, heading) in [
        ("raid1 active 0/2 bitmap", "", "durable"),
        ("raid1 read-auto 0/2 resync", "", "durable"),
        ("raid1 ? 0/2 ?", "", "durable"),
        ("raid0 active ?/2 none", "", "durable"),
        ("raid1 active 1/2 bitmap", "", "durable, but degraded"),
        ("raid1 active 1/2 bitmap", "sdb", "durable, but degraded"),
        (
            "raid1 active 0/2 bitmap",
            "sdb",
            "durable, but with a failed member",
        ),
        ("raid10 active 2/4 bitmap", "", "durable, but degraded"),
        ("raid10 active 4/4 bitmap", "", "at risk, failed"),
        ("raid1 active 2/2 bitmap", "", "at risk, failed"),
        ("raid5 active 4/4 bitmap", "", "at risk, failed"),
        ("raid5 active 2/4 ppl", "", "at risk, failed"),
        ("raid6 active 2/6 journal", "", "durable, but degraded"),
        ("raid6 active 3/6 journal", "", "at risk, failed"),
        (
            "raid5 active 0/3 bitmap",
            "",
            "durable, but with an open write hole",
        ),
        ("raid5 active 0/3 ppl", "", "durable"),
        ("raid5 active 1/3 bitmap", "", "at risk, degraded"),
        ("raid4 active 1/3 resync", "", "at risk, degraded"),
        ("raid6 active 1/4 none", "", "at risk, degraded"),
        ("raid5 active 1/3 ppl", "", "durable, but degraded"),
        ("raid5 active 1/3 ?", "", "unproven, degraded"),
        (
            "raid5 active ?/3 bitmap",
            "",
            "unproven, with an open write hole",
        ),
        ("raid5 active 0/3 ?", "", "durable"),
        ("raid1 inactive 0/2 unknown", "", "unproven, failed"),
        ("raid0 broken ?/2 none", "", "at risk, failed"),
        ("raid1 readonly 0/2 bitmap", "", "durable"),
        ("faulty active ?/1 none", "", "unproven"),
        ("? active 0/2 bitmap", "", "unproven"),
    ] {
        let verdict = host_with_array(facts, failed).verdict();
        assert_eq!(
            verdict.heading_with_exceptions(),
            heading,
            "{facts}: {} {}",
            verdict.sentence,
            verdict.second_fault
        );
        let after = verdict.second_fault.contains("followed by a disk failure");
        assert_eq!(
            after,
            heading.ends_with("open write hole"),
            "{facts}: {}",
            verdict.second_fault
        );
        let told = !verdict.second_fault.is_empty();
        assert_eq!(
            told,
            verdict.redundancy.verdict_suffix().is_some(),
            "{facts}: {}",
            verdict.second_fault
        );
        for sentence in verdict.second_fault.split_inclusive(". ") {
            assert!(sentence.split_whitespace().count() <= 25, "{sentence}");
        }
    }
}

#[test]
fn redundancy_of_raid_lvm_and_btrfs() {
    let top = Subject::device("top");
    let redundancy = |machine: &TestHost| machine.verdict().redundancy.as_str();
    assert_eq!(redundancy(&TestHost::with_volatile_disk()), "none");
    assert_eq!(
        redundancy(&TestHost::with_protected_cache()),
        "unknown",
        "its controller's tool knows"
    );
    assert_eq!(
        redundancy(&TestHost::with_protected_cache().with_fact("controller.volume", "none")),
        "none"
    );
    assert_eq!(
        redundancy(&host_with_device_above_disk("lvm", "write back")),
        "unknown",
        "only root sees what it is made of"
    );
    assert_eq!(
        redundancy(
            &host_with_device_above_disk("lvm", "write back").with_fact_of(
                &top,
                "dm.targets",
                "linear"
            )
        ),
        "none"
    );
    assert_eq!(
        redundancy(&host_with_array("raid1 active 0/2 bitmap", "")),
        "whole"
    );
    assert_eq!(
        redundancy(&host_with_array("raid1 active ?/2 bitmap", "")),
        "unknown"
    );
    assert_eq!(
        redundancy(&host_with_array("raid1 active 0/1 bitmap", "")),
        "none",
        "a mirror of one"
    );
    let syncing = host_with_array("raid1 active 0/2 bitmap", "").with_fact_of(
        &top,
        "md.sync_action",
        "resync",
    );
    assert_eq!(redundancy(&syncing), "unknown");
    let volume =
        host_with_device_above_disk("lvm", "write back").with_fact_of(&top, "dm.targets", "raid");
    assert_eq!(volume.verdict().heading_with_exceptions(), "durable");
    assert_eq!(redundancy(&volume), "whole");
    let unknown = volume.clone().with_fact_of(&top, "dm.state", "?");
    assert!(unknown.verdict().second_fault.contains("lv_health_status"));
    let btrfs = TestHost::with_volatile_disk()
        .with_fact("mount.fstype", "btrfs")
        .with_fact("btrfs.data_profiles", "raid1");
    assert_eq!(
        btrfs.verdict_name(),
        "unproven",
        "its members are not known"
    );
    let btrfs = btrfs.with_fact("btrfs.devices", "sda");
    assert_eq!(redundancy(&btrfs), "unknown");
    let complete = btrfs.clone().with_fact("btrfs.missing_devices", "0");
    assert_eq!(
        redundancy(&complete),
        "unknown",
        "nothing is known of its metadata"
    );
    assert_eq!(
        redundancy(
            &complete
                .clone()
                .with_fact("btrfs.metadata_profiles", "raid1")
        ),
        "whole"
    );
    assert_eq!(
        redundancy(&complete.clone().with_fact("btrfs.metadata_profiles", "dup")),
        "none"
    );
    let single = complete
        .with_fact("btrfs.metadata_profiles", "raid1")
        .with_fact("btrfs.data_profiles", "single");
    assert_eq!(
        redundancy(&single),
        "none",
        "copies of the metadata are none of the data"
    );
    assert_eq!(
        btrfs
            .clone()
            .with_fact("btrfs.missing_devices", "1")
            .verdict()
            .heading_with_exceptions(),
        "durable, but degraded"
    );
    let parity = btrfs
        .with_fact("btrfs.data_profiles", "raid5")
        .with_fact("btrfs.missing_devices", "0");
    assert_eq!(
        parity.verdict().heading_with_exceptions(),
        "durable, but with an open write hole"
    );
}
