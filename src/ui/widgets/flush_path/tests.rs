//! The path of seven stacks as they are drawn, and what holds for every path.

use super::*;
use crate::durability::Standing;
use crate::facts::Subject;

const PLAIN: Theme = Theme { colour: false, ascii: false };

/// A hop: its kind, names, what it is, its fate, its rank, and what arrives.
fn hop(kind: HopKind, names: &str, says: &str, fate: Fate, rank: u32, arrival: Flush) -> FlushHop {
    let devices = names.split(' ').map(Subject::device);
    FlushHop {
        kind,
        subjects: devices.collect(),
        name: names.to_owned(),
        says: says.to_owned(),
        fate,
        because: String::new(),
        source: String::new(),
        standing: Standing::Durable,
        rank,
        arrival,
    }
}

fn commit() -> FlushHop {
    hop(HopKind::Commit, "commit", "reported once the flush below returns", Fate::NotJudged, 0, Flush::Sent)
}

fn drawn(path: &[FlushHop], columns: usize) -> Vec<String> {
    rows(path, PLAIN, columns)
        .iter()
        .flat_map(|(_, lines)| lines)
        .map(|line| line.to_string().trim_end().to_owned())
        .collect()
}

fn over_a_drop() -> [FlushHop; 5] {
    use Fate::{Dropped, LostHere, Passed};
    use HopKind::{Disk, FileSystem, Layer};
    [
        commit(),
        hop(FileSystem, "xfs", "/data · rw,relatime", Passed, 1, Flush::Sent),
        hop(Layer, "loop0", "/images/data.img, 100 GiB", Passed, 2, Flush::Sent),
        hop(FileSystem, "ext4", "/images · nobarrier", Dropped, 3, Flush::Sent),
        hop(Disk, "sda", "SAMSUNG MZ7LH960 · volatile cache", LostHere, 4, Flush::Suppressed),
    ]
}

#[test]
fn the_rail_ends_where_the_flush_is_dropped() {
    assert_eq!(
        drawn(&over_a_drop(), 76),
        [
            "┏━━● commit            reported once the flush below returns",
            "┃  ● xfs               /data · rw,relatime                       passed",
            "┃  ● loop0             /images/data.img, 100 GiB                 passed",
            "┗━━✗ ext4              /images · nobarrier                       DROPPED",
            "   ! sda               SAMSUNG MZ7LH960 · volatile cache         LOST HERE",
        ]
    );
    assert_eq!(
        drawn(&over_a_drop(), 36),
        [
            "┏━━● commit",
            "┃  ● xfs                 passed",
            "┃  ● loop0               passed",
            "┗━━✗ ext4                DROPPED",
            "     /images · nobarrier",
            "   ! sda                 LOST HERE",
            "     SAMSUNG MZ7LH960 · volatile",
            "     cache",
        ]
    );
}

#[test]
fn ways_part_and_join() {
    use Fate::{Disagrees, FlushSent, Passed, Unseen};
    use HopKind::{Beyond, Disk, Layer};
    let diamond = [
        commit(),
        hop(Layer, "dm-0", "LVM", Passed, 1, Flush::Sent),
        hop(Layer, "md0 md1", "2 × RAID1", Passed, 2, Flush::Sent),
        hop(Disk, "sda sdb", "2 × PM893", FlushSent, 3, Flush::Sent),
    ];
    let starts = |path: &[FlushHop]| -> Vec<String> {
        drawn(path, 76)
            .iter()
            .map(|line| line.chars().take(12).collect::<String>().trim_end().to_owned())
            .collect()
    };
    assert_eq!(starts(&diamond), ["┏━━● commit", "┃  ● dm-0", "┣┓ ● md0 md1", "┗┻━● sda sdb"]);
    let legs = [
        commit(),
        hop(Layer, "md0", "RAID1", Passed, 1, Flush::Sent),
        hop(Disk, "sda", "", FlushSent, 2, Flush::Sent),
        hop(Disk, "sdb", "", Disagrees, 2, Flush::Sent),
    ];
    assert_eq!(starts(&legs), ["┏━━● commit", "┃  ● md0", "┣━━● sda", "┗━━≠ sdb"]);
    let guest = [
        commit(),
        hop(Disk, "vdb", "", FlushSent, 1, Flush::Sent),
        hop(Beyond, "hypervisor", "", Unseen, 2, Flush::Unknown),
    ];
    assert_eq!(starts(&guest), ["┏━━● commit", "┃  ● vdb", "┊  ? hypervi"]);
}

#[test]
fn a_long_path_is_short_where_nothing_happens() {
    let layers =
        (1..30).map(|rank| hop(HopKind::Layer, &format!("dm-{rank}"), "", Fate::Passed, rank, Flush::Sent));
    let disk = hop(HopKind::Disk, "sda", "", Fate::FlushSent, 30, Flush::Sent);
    let path: Vec<FlushHop> = [commit()].into_iter().chain(layers).chain([disk]).collect();
    assert_eq!(
        drawn(&path, 76),
        [
            "┏━━● commit            reported once the flush below returns",
            "┃  ● 29 layers         dm-1 and all below it                     passed",
            "┗━━● sda                                                         flush sent",
        ]
    );
}

#[test]
fn no_width_is_too_small() {
    for columns in 0..120 {
        for line in drawn(&over_a_drop(), columns) {
            assert!(text::width(&line) <= columns.max(20), "{columns}: {line}");
        }
    }
}
