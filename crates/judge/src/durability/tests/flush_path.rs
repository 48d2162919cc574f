//! The flush path agrees with the verdict, and each situation has its own states.

use super::machine::{Machine, data};
use crate::durability::{FlushState, Verdict, VerdictKind};
use crate::facts::Subject;
use crate::facts::catalog::target::Flush;

/// How a flush path contradicts its verdict, if it does.
pub fn disagreement(verdict: &Verdict) -> Option<&'static str> {
    let fates = || verdict.flush_path.iter().map(|hop| hop.state);
    let loses = verdict.standing < VerdictKind::Unproven;
    let ranks: Vec<u32> = verdict.flush_path.iter().map(|hop| hop.rank).collect();
    let said: Vec<&Subject> = verdict
        .flush_path
        .iter()
        .flat_map(|hop| &hop.subjects)
        .collect();
    let arrives = |hop: &crate::durability::FlushHop| hop.arrival != Flush::Suppressed;
    if fates().any(FlushState::loses) != loses {
        return Some("a commit is lost on the one and not on the other");
    }
    if fates().any(|fate| fate == FlushState::Unknown) && verdict.standing == VerdictKind::Durable {
        return Some("a hop is unknown below a durable verdict");
    }
    if verdict.standing == VerdictKind::Unproven && fates().all(FlushState::is_sound) {
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

/// The path in one line: names with their states.
fn path_text(machine: &Machine) -> String {
    let verdict = machine.verdict();
    assert_eq!(disagreement(&verdict), None, "{:?}", verdict.flush_path);
    let hops = verdict.flush_path.iter().skip(1);
    hops.map(|hop| format!("{} {}", hop.name, hop.state))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn every_hop_passes_a_flush_on() {
    let path = "no server yet not judged, ext4 passed, sda flush sent";
    assert_eq!(path_text(&Machine::plain()), path);
    let with_server = Machine::plain()
        .with_cluster()
        .with("cluster.kind", "postgres");
    assert_eq!(
        path_text(&with_server),
        "PostgreSQL passed, ext4 passed, sda flush sent"
    );
}

#[test]
fn the_place_where_a_commit_is_lost() {
    let server = || {
        Machine::plain()
            .with_cluster()
            .with("cluster.kind", "postgres")
    };
    for (machine, path) in [
        (
            Machine::plain().with("mount.barrier", "off"),
            "no server yet not judged, ext4 DROPPED, sda LOST HERE",
        ),
        (
            server().with("pg.fsync", "false"),
            "PostgreSQL DROPPED, ext4 passed, sda LOST HERE",
        ),
        (
            server().with("pg.synchronous_commit", "off"),
            "PostgreSQL LOST HERE, ext4 passed, sda flush sent",
        ),
        (
            Machine::plain().with("device.write_cache", "write through"),
            "no server yet not judged, ext4 passed, sda DISAGREES",
        ),
        (
            Machine::plain().with("ext4.journal", "false"),
            "no server yet not judged, ext4 LOST HERE, sda flush sent",
        ),
        (
            Machine::plain().with("device.write_cache", "?"),
            "no server yet not judged, ext4 passed, sda unknown",
        ),
        // Nothing below caches it, so it is lost in memory where the flush is dropped.
        (
            Machine::protected()
                .with_cluster()
                .with("pg.fsync", "false"),
            "server LOST HERE, ext4 passed, sda answered, disks behind it no cache",
        ),
    ] {
        assert_eq!(path_text(&machine), path);
    }
}

/// A loop device above the file system that drops the flush passes it on: the marks belong below.
#[test]
fn a_loop_above_a_drop_loses_nothing() {
    let (top, host_mount, disk) = (
        Subject::device("top"),
        Subject::mount("/host"),
        Subject::device("sdb"),
    );
    let machine = super::stacks::between("loop", "write back")
        .unstacked()
        .stand(&data(), &Subject::mount("/data2"))
        .stand(&Subject::mount("/data2"), &top)
        .stand(&top, &host_mount)
        .stand(&host_mount, &disk)
        .on(&host_mount, "mount.class", "block")
        .on(&host_mount, "mount.fstype", "ext4")
        .on(&host_mount, "mount.barrier", "off")
        .on(&host_mount, "ext4.journal", "true")
        .on(&disk, "device.kind", "disk")
        .on(&disk, "device.transport", "sata")
        .on(&disk, "device.write_cache", "write back");
    let path = "no server yet not judged, ext4 passed, top passed, ext4 DROPPED, sdb LOST HERE";
    assert_eq!(path_text(&machine), path);
}

#[test]
fn a_protected_cache_answers_with_and_without_flushes() {
    let path = "no server yet not judged, ext4 passed, sda answered, disks behind it no cache";
    assert_eq!(path_text(&Machine::protected()), path);
    let dropped = "no server yet not judged, ext4 DROPPED, sda answered, disks behind it no cache";
    assert_eq!(
        path_text(&Machine::protected().with("mount.barrier", "off")),
        dropped
    );
}

#[test]
fn what_cannot_be_seen_is_a_hop() {
    let path = "no server yet not judged, ext4 passed, sda flush sent, ";
    for (from, beyond) in [
        ("guest", "hypervisor unseen"),
        ("container", "host unseen"),
        ("?", "virtual machine unseen"),
    ] {
        assert_eq!(
            path_text(&Machine::plain().with("host.seen_by", from)),
            format!("{path}{beyond}")
        );
    }
}

#[test]
fn flushes_that_did_not_arrive_contradict_the_disk() {
    let machine = Machine::plain()
        .with("device.counts_flushes", "true")
        .with("probe.flushes_per_commit", "0");
    assert_eq!(
        path_text(&machine),
        "no server yet not judged, ext4 passed, sda DISAGREES"
    );
}

#[test]
fn disks_with_one_fate_are_one_hop() {
    let mount = Subject::mount("/data");
    let mut machine = Machine::plain();
    for name in ["sdb", "sdc"] {
        let disk = Subject::device(name);
        machine = machine.stand(&mount, &disk);
        for (fact, word) in [
            ("device.kind", "disk"),
            ("device.transport", "sata"),
            ("device.write_cache", "write back"),
            ("device.cache_type", "write back"),
        ] {
            machine.insert_text(&disk, fact, word);
        }
    }
    assert_eq!(
        path_text(&machine),
        "no server yet not judged, ext4 passed, sda sdb sdc flush sent"
    );
    machine.insert_text(
        &Subject::device("sdb"),
        "device.write_cache",
        "write through",
    );
    let path = "no server yet not judged, ext4 passed, sda sdc flush sent, sdb DISAGREES";
    assert_eq!(path_text(&machine), path);
    assert_eq!(machine.verdict().target, data());
}
