use super::test_host::{TestHost, data_target};
use crate::durability::{FlushState, Verdict, VerdictKind};
use crate::facts::Subject;
use crate::facts::catalog::target::FlushDelivery;
use walwise_model::text::JoinText;

pub fn flush_path_contradiction(verdict: &Verdict) -> Option<&'static str> {
    let fates = || verdict.flush_path.iter().map(|hop| hop.state);
    let loses = verdict.standing < VerdictKind::Unproven;
    let ranks: Vec<u32> = verdict.flush_path.iter().map(|hop| hop.rank).collect();
    let said: Vec<&Subject> = verdict
        .flush_path
        .iter()
        .flat_map(|hop| &hop.subjects)
        .collect();
    let arrives = |hop: &crate::durability::FlushHop| hop.arrival != FlushDelivery::Suppressed;
    if fates().any(FlushState::may_lose_commit) != loses {
        return Some("a commit is lost on the one and not on the other");
    }
    if fates().any(|fate| fate == FlushState::Unknown) && verdict.standing == VerdictKind::Durable {
        return Some("a hop is unknown below a durable verdict");
    }
    if verdict.standing == VerdictKind::Unproven && fates().all(FlushState::needs_no_explanation) {
        return Some("nothing on the path says why it is unproven");
    }
    if fates().any(|fate| fate == FlushState::Unseen) && verdict.limits.is_empty() {
        return Some("something is unseen without a limit");
    }
    if fates().any(|fate| fate == FlushState::FlushSent)
        && verdict
            .flush_path
            .iter()
            .any(|hop| hop.state == FlushState::FlushSent && !arrives(hop))
    {
        return Some("a flush is sent on below a drop");
    }
    if !ranks.is_sorted() {
        return Some("the ranks are out of order");
    }
    let disks = verdict.paths.iter().filter_map(|path| path.hops.last());
    if disks
        .into_iter()
        .any(|disk| *disk != verdict.target && !said.contains(&disk))
    {
        return Some("a disk is missing");
    }
    None
}

fn flush_path_text(machine: &TestHost) -> String {
    let verdict = machine.verdict();
    assert_eq!(
        flush_path_contradiction(&verdict),
        None,
        "{:?}",
        verdict.flush_path
    );
    let hops = verdict.flush_path.iter().skip(1);
    hops.map(|hop| format!("{} {}", hop.name, hop.state))
        .join_with(", ")
}

#[test]
fn every_hop_passes_a_flush_on() {
    let path = "no server yet not judged, ext4 passed, sda flush sent";
    assert_eq!(flush_path_text(&TestHost::with_volatile_disk()), path);
    let with_server = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .with_fact("cluster.kind", "postgres");
    assert_eq!(
        flush_path_text(&with_server),
        "PostgreSQL passed, ext4 passed, sda flush sent"
    );
}

#[test]
fn flush_path_marks_the_hop_that_loses_commits() {
    let server = || {
        TestHost::with_volatile_disk()
            .with_postgres_cluster()
            .with_fact("cluster.kind", "postgres")
    };
    for (machine, path) in [
        (
            TestHost::with_volatile_disk().with_fact("mount.barrier", "off"),
            "no server yet not judged, ext4 DROPPED, sda LOST HERE",
        ),
        (
            server().with_fact("pg.fsync", "false"),
            "PostgreSQL DROPPED, ext4 passed, sda LOST HERE",
        ),
        (
            server().with_fact("pg.synchronous_commit", "off"),
            "PostgreSQL LOST HERE, ext4 passed, sda flush sent",
        ),
        (
            TestHost::with_volatile_disk().with_fact("device.write_cache", "write through"),
            "no server yet not judged, ext4 passed, sda DISAGREES",
        ),
        (
            TestHost::with_volatile_disk().with_fact("ext4.journal", "false"),
            "no server yet not judged, ext4 LOST HERE, sda flush sent",
        ),
        (
            TestHost::with_volatile_disk().with_fact("device.write_cache", "?"),
            "no server yet not judged, ext4 passed, sda unknown",
        ),
        (
            TestHost::with_protected_cache()
                .with_postgres_cluster()
                .with_fact("pg.fsync", "false"),
            "server LOST HERE, ext4 passed, sda answered, disks behind it no cache",
        ),
    ] {
        assert_eq!(flush_path_text(&machine), path);
    }
}

#[test]
fn loop_device_above_dropped_flush_passes_it_on() {
    let (top, host_mount, disk) = (
        Subject::device("top"),
        Subject::mount("/host"),
        Subject::device("sdb"),
    );
    let machine = super::stacks::host_with_device_above_disk("loop", "write back")
        .without_stack()
        .with_layer_below(&data_target(), &Subject::mount("/data2"))
        .with_layer_below(&Subject::mount("/data2"), &top)
        .with_layer_below(&top, &host_mount)
        .with_layer_below(&host_mount, &disk)
        .with_fact_of(&host_mount, "mount.class", "block")
        .with_fact_of(&host_mount, "mount.fstype", "ext4")
        .with_fact_of(&host_mount, "mount.barrier", "off")
        .with_fact_of(&host_mount, "ext4.journal", "true")
        .with_fact_of(&disk, "device.kind", "disk")
        .with_fact_of(&disk, "device.transport", "sata")
        .with_fact_of(&disk, "device.write_cache", "write back");
    let path = "no server yet not judged, ext4 passed, top passed, ext4 DROPPED, sdb LOST HERE";
    assert_eq!(flush_path_text(&machine), path);
}

#[test]
fn a_protected_cache_answers_with_and_without_flushes() {
    let path = "no server yet not judged, ext4 passed, sda answered, disks behind it no cache";
    assert_eq!(flush_path_text(&TestHost::with_protected_cache()), path);
    let dropped = "no server yet not judged, ext4 DROPPED, sda answered, disks behind it no cache";
    assert_eq!(
        flush_path_text(&TestHost::with_protected_cache().with_fact("mount.barrier", "off")),
        dropped
    );
}

#[test]
fn invisible_layers_appear_as_hops() {
    let path = "no server yet not judged, ext4 passed, sda flush sent, ";
    for (from, beyond) in [
        ("guest", "hypervisor unseen"),
        ("container", "host unseen"),
        ("?", "virtual machine unseen"),
    ] {
        assert_eq!(
            flush_path_text(&TestHost::with_volatile_disk().with_fact("host.seen_by", from)),
            format!("{path}{beyond}")
        );
    }
}

#[test]
fn flushes_that_did_not_arrive_contradict_the_disk() {
    let machine = TestHost::with_volatile_disk()
        .with_fact("device.counts_flushes", "true")
        .with_fact("probe.flushes_per_commit", "0");
    assert_eq!(
        flush_path_text(&machine),
        "no server yet not judged, ext4 passed, sda DISAGREES"
    );
}

#[test]
fn disks_with_equal_flush_state_share_a_hop() {
    let mount = Subject::mount("/data");
    let mut machine = TestHost::with_volatile_disk();
    for name in ["sdb", "sdc"] {
        let disk = Subject::device(name);
        machine = machine.with_layer_below(&mount, &disk);
        for (fact, word) in [
            ("device.kind", "disk"),
            ("device.transport", "sata"),
            ("device.write_cache", "write back"),
            ("device.cache_type", "write back"),
        ] {
            machine.set_fact_of(&disk, fact, word);
        }
    }
    assert_eq!(
        flush_path_text(&machine),
        "no server yet not judged, ext4 passed, sda sdb sdc flush sent"
    );
    machine.set_fact_of(
        &Subject::device("sdb"),
        "device.write_cache",
        "write through",
    );
    let path = "no server yet not judged, ext4 passed, sda sdc flush sent, sdb DISAGREES";
    assert_eq!(flush_path_text(&machine), path);
    assert_eq!(machine.verdict().target, data_target());
}
