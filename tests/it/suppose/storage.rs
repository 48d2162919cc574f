//! Mount options of ext4, XFS and btrfs, the journal mode, access, and values written to the queue
//! of a loop device.

use std::fs;

use super::{BaselineReport, RowOutcome, compare_assumed_with_actual};
use crate::support::loops::{self, MountPoint, MountedFileSystem, unmount};
use crate::support::{run, stderr, stdout, walwise};

/// Assumptions about a mount, the options that make them true, and the expected outcome.
type RemountRow = (&'static [&'static str], &'static str, RowOutcome);

use crate::support::deadline::CommandInTime as _;
use RowOutcome::{Equal, Refused};

/// Mount options of ext4. `M` stands for the mount, which is remounted with the options of each
/// row.
const EXT4: &[RemountRow] = &[
    (&["mount.super_options@M=rw,nobarrier"], "nobarrier", Equal),
    (
        &["mount.super_options@M=rw,nodioread_nolock,nodelalloc,data=journal"],
        "data=journal",
        Equal,
    ),
    (
        &["mount.super_options@M=rw,data=writeback"],
        "data=writeback",
        Equal,
    ),
    (
        &["mount.super_options@M=rw,nobarrier,data=writeback"],
        "nobarrier,data=writeback",
        Equal,
    ),
    (&["mount.super_options@M=rw,discard"], "discard", Equal),
    (&["mount.super_options@M=rw,commit=60"], "commit=60", Equal),
    (
        &["mount.super_options@M=rw,errors=remount-ro"],
        "errors=remount-ro",
        Equal,
    ),
    (
        &["mount.super_options@M=rw,nodelalloc"],
        "nodelalloc",
        Equal,
    ),
    (
        &["mount.super_options@M=rw,noauto_da_alloc"],
        "noauto_da_alloc",
        Equal,
    ),
    (
        &["mount.super_options@M=rw,nojournal_checksum"],
        "nojournal_checksum",
        Equal,
    ),
    (&["mount.super_options@M=rw,stripe=64"], "stripe=64", Equal),
    (&["mount.super_options@M=rw,lazytime"], "lazytime", Equal),
    (&["mount.super_options@M=rw,sync"], "sync", Equal),
    (&["mount.options@M=rw,noatime"], "noatime", Equal),
    (&["mount.options@M=rw"], "strictatime", Equal),
    (
        &["mount.options@M=rw,nosuid,nodev,noexec,relatime"],
        "nosuid,nodev,noexec",
        Equal,
    ),
    (
        &[
            "mount.options@M=rw,noatime",
            "mount.super_options@M=rw,nobarrier",
        ],
        "noatime,nobarrier",
        Equal,
    ),
    (&["mount.barrier@M=off"], "nobarrier", Refused),
    (&["ext4.data@M=journal"], "data=journal", Refused),
    (&["ext4.options@M=rw,nobarrier"], "nobarrier", Refused),
    (&["mount.read_only@M=true"], "ro", Refused),
    (&["mount.atime@M=noatime"], "noatime", Refused),
];

/// Mount options of XFS. `S` stands for the options in /proc/self/mountinfo, the only source for
/// XFS and btrfs.
const XFS: &[RemountRow] = &[
    (&["mount.super_options@M=S"], "ro", Equal),
    (&["mount.super_options@M=S"], "discard", Equal),
    (&["mount.super_options@M=S"], "inode32", Equal),
    (&["mount.super_options@M=S"], "wsync", Equal),
    (&["mount.super_options@M=S"], "logbsize=256k", Equal),
    (&["mount.options@M=rw,noatime"], "noatime", Equal),
];

const BTRFS: &[RemountRow] = &[
    (&["mount.super_options@M=S"], "nobarrier", Equal),
    (&["mount.super_options@M=S"], "nodatacow", Equal),
    (&["mount.super_options@M=S"], "compress=zstd", Equal),
    (&["mount.super_options@M=S"], "flushoncommit", Equal),
    (&["mount.super_options@M=S"], "commit=60", Equal),
    (&["mount.super_options@M=S"], "ro", Equal),
    (&["mount.options@M=rw,noatime"], "noatime", Equal),
    (&["btrfs.nodatacow@M=true"], "nodatacow", Refused),
];

fn check_remount_rows(made: &MountedFileSystem, rows: &[RemountRow]) {
    let again = |options: &str| {
        unmount(&made.point);
        made.disk.wait_until_free();
        let options = if options.is_empty() {
            "defaults"
        } else {
            options
        };
        run("mount", &["-o", options, &made.disk.device, made.path()]);
    };
    let printed = || {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let line = table
            .lines()
            .rfind(|line| line.split(' ').nth(4) == Some(made.path()))
            .unwrap();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    let before = BaselineReport::save(&made.point, &[made.path(), made.disk.name()]);
    for (assumed, options, expected) in rows {
        let mut shows = String::new();
        if assumed.iter().any(|one| one.ends_with("=S")) {
            again(options);
            shows = printed();
            again("");
        }
        let filled = |one: &&str| {
            let one = one.replace("@M=", &format!("@{}=", made.path()));
            one.strip_suffix("=S")
                .map_or(one.clone(), |key| format!("{key}={shows}"))
        };
        let assumed: Vec<String> = assumed.iter().map(filled).collect();
        let came = compare_assumed_with_actual(options, &before, &assumed, || again(options));
        assert_eq!(came, *expected, "{assumed:?}");
        again("");
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn assumed_ext4_options_match_real_remounts() {
    check_remount_rows(&loops::mount_ext4(&[], ""), EXT4);
}

#[test]
#[ignore = "needs root: loop devices"]
fn assumed_xfs_options_match_real_remounts() {
    check_remount_rows(&loops::mount_xfs(""), XFS);
}

#[test]
#[ignore = "needs root: loop devices"]
fn assumed_btrfs_options_match_real_remounts() {
    check_remount_rows(&loops::mount_btrfs(""), BTRFS);
}

#[test]
#[ignore = "needs root: loop devices"]
fn assumed_options_apply_to_all_mounts_of_a_superblock() {
    let place = tempfile::tempdir().unwrap();
    let made = loops::mount_ext4(&[], "nobarrier,commit=30");
    let bound = MountPoint::bind_mount(&made.point, place.path().to_owned());
    let (first, second) = (made.path(), bound.0.to_str().unwrap());
    let now = BaselineReport::save(&made.point, &[made.path(), made.disk.name()]);
    let back = format!("mount.super_options@{first}=rw,commit=30");
    assert_eq!(
        compare_assumed_with_actual("barrier", &now, &[back], || made.remount("barrier")),
        Equal
    );
    let facts = |assumed: &[&str]| {
        let assume = assumed.iter().flat_map(|one| ["--assume", one]);
        let output = walwise()
            .args(["facts", "mount."])
            .args(assume)
            .output_in_time();
        assert_eq!(stderr(&output), "");
        stdout(&output)
    };
    let of_second = |page: &str, name: &str| {
        let behind = page
            .split(second)
            .nth(1)
            .unwrap_or_else(|| panic!("no {second}: {page}"))
            .to_owned();
        behind
            .lines()
            .find(|line| line.contains(name))
            .unwrap()
            .to_owned()
    };
    let supposed = facts(&[&format!(
        "mount.super_options@{first}=rw,nobarrier,commit=30"
    )]);
    assert!(
        of_second(&supposed, "mount.barrier").contains("off"),
        "{supposed}"
    );
    let bound_read_only = [
        format!("mount.options@{first}=ro,relatime"),
        format!("mount.super_options@{first}=rw,commit=30"),
    ];
    let now = BaselineReport::save(&made.point, &[made.path(), made.disk.name()]);
    let came = compare_assumed_with_actual("bind,ro", &now, &bound_read_only, || {
        run("mount", &["-o", "remount,bind,ro", first]).clear();
    });
    assert_eq!(came, Equal);
}

#[test]
#[ignore = "needs root: loop devices"]
fn assumed_queue_attributes_match_real_writes() {
    let made = loops::mount_ext4(&[], "");
    let disk = made.disk.name();
    let queue = |attribute: &str, value: &str| {
        fs::write(format!("/sys/block/{disk}/queue/{attribute}"), value).unwrap();
    };
    let shows = |attribute: &str| {
        let text = fs::read_to_string(format!("/sys/block/{disk}/queue/{attribute}")).unwrap();
        text.trim().to_owned()
    };
    let before = BaselineReport::save(&made.point, &[made.path(), made.disk.name()]);
    let turns = shows("rotational");
    let other = if turns == "1" { "0" } else { "1" };
    let rows = [
        (
            "device.write_cache",
            "write_cache",
            "write back",
            "write through",
            "write through",
        ),
        (
            "device.scheduler",
            "scheduler",
            "none",
            "mq-deadline",
            "mq-deadline",
        ),
        (
            "device.rotational",
            "rotational",
            &turns,
            other,
            if other == "1" { "true" } else { "false" },
        ),
    ];
    for (fact, attribute, old, new, assumed) in rows {
        let assumed = format!("{fact}@{disk}={assumed}");
        assert_eq!(
            compare_assumed_with_actual(fact, &before, &[assumed], || queue(attribute, new)),
            Equal
        );
        queue(attribute, old);
    }
    let both = [
        format!("device.write_cache@{disk}=write through"),
        format!("mount.super_options@{}=rw,nobarrier", made.path()),
    ];
    let came = compare_assumed_with_actual("both", &before, &both, || {
        queue("write_cache", "write through");
        made.remount("nobarrier");
    });
    assert_eq!(came, Equal);
}
