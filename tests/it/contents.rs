//! Possible contents of a disk, on real loop devices of three sizes. None is called free beyond the
//! reported unread run. None is overwritten by the mkfs of a script made while the disk was free.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::unistd::{Whence, lseek};
use walwise_sys::host::{Host, LiveHost, ScanDepth};

use crate::script::{edited, script_for, sh};
use crate::support::loops::{Loop, unmount};
use crate::support::{run, stderr};

const MIB: u64 = 1 << 20;

/// Fills a loop device of so many MiB; false where such a thing is not made on so small a one.
type Fill = Box<dyn Fn(&Loop, u64) -> bool>;

/// A kind of contents.
struct Kind {
    name: String,
    fill: Fill,
}

fn kind(name: impl Into<String>, fill: impl Fn(&Loop, u64) + 'static) -> Kind {
    let fill = move |disk: &Loop, mib| {
        fill(disk, mib);
        true
    };
    Kind {
        name: name.into(),
        fill: Box::new(fill),
    }
}

/// Made by a program that takes the device as its last argument.
fn made(name: &'static str, command: &'static [&'static str]) -> Kind {
    kind(name, move |disk, _| disk.mkfs(command))
}

/// These bytes, counted from the beginning, or from the end where the place is negative.
fn bytes(name: &'static str, place: i64, bytes: &'static [u8]) -> Kind {
    kind(name, move |disk, mib| write(disk, mib, place, bytes))
}

fn write(disk: &Loop, mib: u64, place: i64, bytes: &[u8]) {
    let at = if place < 0 {
        mib * MIB - place.unsigned_abs()
    } else {
        place.unsigned_abs()
    };
    let device = OpenOptions::new().write(true).open(&disk.device).unwrap();
    device.write_all_at(bytes, at).unwrap();
    device.sync_all().unwrap();
}

/// So many MiB of random bytes.
fn chance(mib: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next)
        .take(mib << 17)
        .flatten()
        .collect()
}

/// A file system with a file of 8 MiB in it; false where mkfs refuses so small a device.
fn file_system(disk: &Loop, mib: u64, fstype: &str) -> bool {
    let mixed: &[&str] = if mib < 256 { &["--mixed"] } else { &[] };
    match fstype {
        "ext4" => disk.mkfs(&["mkfs.ext4", "-q"]),
        "xfs" if mib < 300 => return false,
        "xfs" => disk.mkfs(&["mkfs.xfs", "-q"]),
        "btrfs" => disk.mkfs(&[&["mkfs.btrfs", "-q"], mixed].concat()),
        other => panic!("{other} is not made here"),
    }
    let point = tempfile::tempdir().unwrap();
    run("mount", &[&disk.device, point.path().to_str().unwrap()]);
    std::fs::write(point.path().join("file"), chance(8)).unwrap();
    unmount(point.path());
    disk.wait_until_free();
    true
}

/// A file system of which so much was overwritten with zeros, at the beginning or at the end.
fn wiped(fstype: &'static str, mib: u64, at_end: bool) -> Kind {
    let end = if at_end { "end" } else { "beginning" };
    let fill = move |disk: &Loop, size: u64| {
        let made = file_system(disk, size, fstype);
        let from = if at_end {
            size.saturating_sub(mib) * MIB
        } else {
            0
        };
        let zeros = vec![0; usize::try_from(mib.min(size) * MIB).unwrap()];
        if made {
            write(disk, size, i64::try_from(from).unwrap(), &zeros);
        }
        made
    };
    Kind {
        name: format!("{fstype} without {mib} MiB of its {end}"),
        fill: Box::new(fill),
    }
}

fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for fstype in ["ext4", "xfs", "btrfs"] {
        let fill = move |disk: &Loop, mib| file_system(disk, mib, fstype);
        kinds.push(Kind {
            name: fstype.to_owned(),
            fill: Box::new(fill),
        });
        for (mib, at_end) in [1, 4, 16, 64]
            .into_iter()
            .flat_map(|mib| [(mib, false), (mib, true)])
        {
            kinds.push(wiped(fstype, mib, at_end));
        }
    }
    kinds.extend([
        made("ext2", &["mke2fs", "-q", "-t", "ext2"]),
        made(
            "ext3 with blocks of 1 KiB",
            &["mke2fs", "-q", "-t", "ext3", "-b", "1024"],
        ),
        // mke2fs writes all of a journal; on the largest disk that would fill the one below.
        kind("an ext journal of 64 MiB", |disk, _| {
            run(
                "mke2fs",
                &[
                    "-q",
                    "-b",
                    "4096",
                    "-O",
                    "journal_dev",
                    &disk.device,
                    "16384",
                ],
            );
        }),
        made("swap", &["mkswap"]),
        kind("a GPT", |disk, _| {
            let table = format!(
                "echo ',,' | sfdisk -q --no-reread --no-tell-kernel --label gpt {}",
                disk.device
            );
            run("sh", &["-c", &table]);
        }),
        bytes("LUKS1", 0, b"LUKS\xba\xbe\0\x01"),
        made("an LVM volume", &["pvcreate", "-q", "-ff", "-y"]),
        made("bcache", &["make-bcache", "-B"]),
        bytes("LUKS2", 0, b"LUKS\xba\xbe\0\x02"),
        bytes("the second header of LUKS2", 0x4000, b"SKUL\xba\xbe\0\x02"),
        bytes("md 0.90", -65536, b"\xfc\x4e\x2b\xa9"),
        bytes("md 1.0", -8192, b"\xfc\x4e\x2b\xa9"),
        bytes("md 1.1", 0, b"\xfc\x4e\x2b\xa9"),
        bytes("md 1.2", 4096, b"\xfc\x4e\x2b\xa9"),
        bytes("IMSM", -1024, b"Intel Raid ISM Cfg Sig. "),
        bytes("DDF", -512, b"\xde\x11\xde\x11"),
        bytes("DRBD", -4036, b"\x83\x74\x02\x6d"),
        bytes(
            "the first label of ZFS",
            128 << 10,
            b"\x0c\xb1\xba\0\0\0\0\0",
        ),
        bytes(
            "the last label of ZFS",
            -(128 << 10),
            b"\x0c\xb1\xba\0\0\0\0\0",
        ),
        bytes("a DOS table", 510, b"\x55\xaa"),
        bytes("the second GPT", -512, b"EFI PART"),
        bytes("an Oracle ASM disk", 32, b"ORCLDISK"),
        bytes("Ceph", 0, b"bluestore block device"),
        bytes("an archive of tar", 257, b"ustar"),
        kind("a tablespace of InnoDB", |disk, mib| {
            write(disk, mib, 0, &chance(12));
        }),
        kind("20 MiB from 5 MiB on", |disk, mib| {
            write(disk, mib, 5 << 20, &chance(20));
        }),
        kind("a file in the middle", |disk, mib| {
            write(
                disk,
                mib,
                i64::try_from(mib * MIB / 2 + 12345).unwrap(),
                &chance(24),
            );
        }),
        bytes("one byte behind the first MiB", (1 << 20) + 77, b"x"),
    ]);
    kinds
}

/// The longest run of the image that holds anything but zeros or ones, in bytes, by blocks of 4
/// KiB.
fn longest_run(image: &Path) -> u64 {
    const BLOCK: u64 = 4096;
    let file = File::open(image).unwrap();
    let size = file.metadata().unwrap().len();
    let seek = |from: u64, whence| {
        lseek(&file, i64::try_from(from).unwrap(), whence).map(i64::unsigned_abs)
    };
    let (mut at, mut run, mut longest) = (0, 0, 0);
    while let Ok(from) = seek(at, Whence::SeekData) {
        let to = seek(from, Whence::SeekHole).unwrap().min(size);
        run = if from == at { run } else { 0 };
        let mut block = vec![0; usize::try_from(BLOCK).unwrap()];
        for place in (from..to).step_by(block.len()) {
            let count = file.read_at(&mut block, place).unwrap();
            let piece = &block[..count];
            let blank =
                piece.iter().all(|byte| *byte == 0) || piece.iter().all(|byte| *byte == 0xff);
            run = if blank { 0 } else { run + BLOCK };
            longest = longest.max(run);
        }
        at = to;
    }
    longest
}

/// Every kind on a disk of so many MiB; returns the errors, in sentences. The script reads all of a
/// small disk only.
fn wrong(mib: u64, with_script: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let mut tried = 0;
    for Kind { name, fill } in kinds() {
        let disk = Loop::new(mib);
        let point = tempfile::tempdir().unwrap();
        let script = edited(
            &script_for(&disk, "ext4", &["-m 1"], "noatime"),
            &point.path().join("mnt"),
        );
        if !fill(&disk, mib) {
            continue;
        }
        tried += 1;
        let found = LiveHost::with_program(env!("CARGO_BIN_EXE_walwise").into())
            .content(Path::new(&disk.device), ScanDepth::Thorough)
            .unwrap_or_else(|miss| panic!("{name}: {miss:?}"));
        let run = longest_run(&disk.image());
        let free = found.signatures.is_empty()
            && !found.has_data
            && !found.is_held
            && found.unread_places == 0;
        if free && run > found.unread_run {
            problems.push(format!(
                "{name} is called free: {run} bytes in one piece, {found:?}"
            ));
        }
        if with_script && run > 0 {
            let output = sh(&script);
            if output.status.code() != Some(1) || !stderr(&output).contains("nothing was done") {
                problems.push(format!("{name}: {:?} {}", output.status, stderr(&output)));
            }
        }
    }
    assert!(tried >= 45, "{tried} kinds");
    problems
}

#[test]
#[ignore = "needs root: loop devices"]
fn nothing_on_a_small_disk_is_called_free_or_reaches_mkfs() {
    assert_eq!(wrong(64, true), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn nothing_on_a_gibibyte_is_called_free_or_reaches_mkfs() {
    assert_eq!(wrong(1 << 10, true), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn nothing_on_a_large_disk_is_called_free_beyond_what_is_told() {
    assert_eq!(wrong(40 << 10, false), Vec::<String>::new());
}
