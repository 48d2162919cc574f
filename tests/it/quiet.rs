//! Read-only runs never make the kernel write: system calls of walwise and of the programs it runs,
//! traced over real file systems.
//!
//! Output goes to pipes, so no file is opened for writing. Stacks `quiet-*` of tests/lab count
//! dirty pages in a virtual machine, where no other process writes.

use std::path::Path;

use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{self, MountedFileSystem};
use crate::support::postgres::Cluster;
use crate::support::pty::Pty;
use crate::support::strace::{TracedCall, parse_trace, traced_walwise};
use crate::support::{has_no_scratch_directory, stdout};

/// Objects opened for writing: the program, the object, and the reason why this writes nothing.
const OPENED: [(&str, &str, &str); 4] = [
    (
        "walwise",
        "/dev/null",
        "what children complain about goes there",
    ),
    ("walwise", "/dev/tty", "the screens draw there"),
    ("strace", "/dev/null", "for what it starts"),
    (
        "dmsetup",
        "/dev/mapper/control",
        "tables are asked for by ioctls on it, of which the kernel takes none without writing",
    ),
];

const OWN: [(&str, &str); 7] = [
    (
        "FS_IOC_GETFLAGS",
        "inode flags of a directory: whether it is NOCOW",
    ),
    ("TCGETS", "whether it is a terminal"),
    ("TCGETS2", "the same with newer libraries"),
    ("TIOCGWINSZ", "how large the terminal is"),
    ("TCSETS", "the screens' keys come one by one"),
    ("TCSETS2", "the same with newer libraries"),
    (
        "FIONBIO",
        "signals wake the screens through a pipe that must not block",
    ),
];

/// ioctls of the programs that walwise runs and of their libraries. Every query is listed, because
/// the devices depend on the host.
const OF_PROGRAMS: [(&str, &str); 17] = [
    ("TCGETS", "whether it is a terminal"),
    ("TIOCGWINSZ", "how wide its lines may be"),
    (
        "SIOCGIFCONF",
        "mariadbd looks for a network card to make identifiers with",
    ),
    ("SIOCGIFHWADDR", "the same"),
    ("DM_VERSION", "dmsetup"),
    ("DM_LIST_DEVICES", "dmsetup"),
    ("DM_LIST_VERSIONS", "dmsetup"),
    ("DM_GET_TARGET_VERSION", "dmsetup"),
    ("DM_DEV_STATUS", "dmsetup"),
    ("DM_TABLE_STATUS", "dmsetup table and status"),
    (
        "SG_IO",
        "smartctl and sdparm: INQUIRY, MODE SENSE, IDENTIFY",
    ),
    (
        "FIBMAP",
        "SCSI_IOCTL_SEND_COMMAND has the same number: smartctl's way where SG_IO is refused",
    ),
    ("HDIO_GET_IDENTITY", "hdparm -W"),
    (
        "HDIO_DRIVE_CMD",
        "hdparm -W: IDENTIFY; smartctl: CHECK POWER MODE",
    ),
    (
        "BLKROGET",
        "nvme and libblkid: whether the device is read-only",
    ),
    ("BLKSSZGET", "the size of its blocks"),
    (
        "NVME_IOCTL",
        "nvme id-ctrl, smart-log, get-feature, get-log: commands of the admin queue that read",
    ),
];

fn forbidden_calls(calls: &[TracedCall]) -> Vec<String> {
    let bad = |call: &&TracedCall| match call.name.as_str() {
        "open" | "openat" | "openat2" => {
            let for_writing = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_TMPFILE"];
            let known = |(program, path, _): &(&str, &str, &str)| {
                call.program == *program && call.rest.contains(&format!("\"{path}\""))
            };
            for_writing.iter().any(|flag| call.rest.contains(flag)) && !OPENED.iter().any(known)
        }
        "ioctl" => {
            let listed: &[(&str, &str)] = if call.program == "walwise" {
                &OWN
            } else {
                &OF_PROGRAMS
            };
            // The request is followed by a bracket, or by a note of strace that another call came
            // between.
            let word = call.rest.split(", ").nth(1).unwrap_or_default();
            let word = word.split([')', ' ']).next().unwrap_or_default();
            !listed.iter().any(|(known, _)| {
                word == *known || *known == "NVME_IOCTL" && word.starts_with(known)
            })
        }
        // All other traced calls change or flush something.
        _ => true,
    };
    calls
        .iter()
        .filter(bad)
        .map(|call| format!("{}: {}({}", call.program, call.name, call.rest))
        .collect()
}

fn mount_three_file_systems() -> [MountedFileSystem; 3] {
    [
        loops::mount_ext4(&[], ""),
        loops::mount_xfs(""),
        loops::mount_btrfs(""),
    ]
}

fn assert_read_only_trace(trace: &Path, what: &str, mounted: &[MountedFileSystem; 3]) {
    let calls = parse_trace(trace);
    let opened = |device: &str| {
        calls
            .iter()
            .any(|call| call.rest.contains(&format!("\"{device}\"")))
    };
    assert!(
        mounted[..2].iter().all(|one| opened(&one.disk.device)),
        "{what} reads the superblocks"
    );
    assert_eq!(forbidden_calls(&calls), [""; 0], "{what}");
    assert!(
        mounted
            .iter()
            .all(|one| has_no_scratch_directory(&one.point)),
        "{what}"
    );
}

#[test]
#[ignore = "needs root: loop devices and strace"]
fn read_only_commands_neither_write_nor_flush() {
    let mounted = mount_three_file_systems();
    let targets = mounted.each_ref().map(MountedFileSystem::path);
    let trace = tempfile::NamedTempFile::new().unwrap();
    let alone: [&[&str]; 5] = [
        &["facts"],
        &["check"],
        &["check", "--no-probe"],
        &["capture"],
        &["upgrade", "--kernel", "6.12"],
    ];
    for arguments in alone {
        let output = traced_walwise(trace.path())
            .args(arguments)
            .output_in_time();
        assert!(!output.stdout.is_empty(), "{arguments:?}: {output:?}");
        assert_read_only_trace(trace.path(), &arguments.join(" "), &mounted);
    }
    for target in targets {
        for arguments in [&["check", "--no-probe"][..], &["capture"]] {
            let output = traced_walwise(trace.path())
                .args(arguments)
                .arg(target)
                .output_in_time();
            assert!(
                stdout(&output).contains(target),
                "{arguments:?} {target}: {output:?}"
            );
            assert_eq!(
                forbidden_calls(&parse_trace(trace.path())),
                [""; 0],
                "{arguments:?} {target}"
            );
        }
    }
}

#[test]
#[ignore = "needs root: loop devices and strace"]
fn screens_open_nothing_for_writing_and_flush_nothing() {
    let mounted = mount_three_file_systems();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let command = traced_walwise(trace.path());
    let arguments: Vec<&str> = command
        .get_args()
        .map(|argument| argument.to_str().unwrap())
        .collect();
    let mut pty = Pty::start_program_in(Path::new("/"), &[], "strace", &arguments);
    pty.wait_for_text("1 Overview");
    pty.wait_for_text_gone("reading");
    for screen in ["2", "3", "4", "5", "6", "1"] {
        pty.press(screen);
    }
    pty.press("?");
    pty.wait_for_text("type to filter");
    pty.press("\x1b");
    pty.wait_for_text_gone("type to filter");
    pty.press("q");
    pty.assert_ends_clean(0);
    assert_read_only_trace(trace.path(), "the screens", &mounted);
}

#[test]
#[ignore = "needs root: PostgreSQL 15 and strace"]
fn a_passive_probe_opens_nothing_for_writing_and_flushes_nothing() {
    let cluster = Cluster::new();
    cluster.start();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let output = traced_walwise(trace.path())
        .arg("probe")
        .arg(&cluster.data)
        .args(["--passive", "--seconds", "2"])
        .output_in_time();
    assert!(
        stdout(&output).contains("nothing was written"),
        "{output:?}"
    );
    assert_eq!(forbidden_calls(&parse_trace(trace.path())), [""; 0]);
}

#[test]
fn forbidden_calls_are_recognised() {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let lines = "7 execve(\"/usr/bin/walwise\", [], 0x1 /* 3 vars */) = 0\n\
        7 openat(AT_FDCWD, \"/dev/null\", O_WRONLY|O_CLOEXEC) = 3\n\
        8 execve(\"/usr/sbin/dumpe2fs\", [], 0x1 /* 3 vars */) = 0\n\
        8 fsync(3)                           = 0\n\
        9 execve(\"/usr/sbin/xfs_db\", [], 0x1 /* 3 vars */) = 0\n\
        9 ioctl(4, BLKFLSBUF, 0)             = 0\n\
        7 <... openat resumed>)              = 5\n\
        9 openat(AT_FDCWD, \"/dev/sda\", O_RDWR) = 3\n\
        10 ioctl(0, FS_IOC_SETFLAGS, [0]) = 0\n\
        8 ioctl(2, TCGETS <unfinished ...>\n\
        7 ioctl(0, TCGETS, 0x7ffd) = -1 ENOTTY (Inappropriate ioctl for device)\n";
    std::fs::write(trace.path(), lines).unwrap();
    let seen = forbidden_calls(&parse_trace(trace.path()));
    let begins = [
        "dumpe2fs: fsync(",
        "xfs_db: ioctl(4, BLKFLSBUF",
        "xfs_db: openat(",
        "walwise: ioctl(0, FS_IOC_SETFLAGS",
    ];
    assert_eq!(seen.len(), begins.len(), "{seen:?}");
    assert!(
        seen.iter()
            .zip(begins)
            .all(|(call, begin)| call.starts_with(begin)),
        "{seen:?}"
    );
}
