//! Contents of disks, on real loop devices of three sizes. No content counts as free beyond the
//! reported unread run, and no script made while the disk was free overwrites content.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::unistd::{Whence, lseek};
use walwise_sys::host::{Host, LiveHost, ScanDepth};

use crate::script::{edit_script_to_run, run_script, script_for};
use crate::support::loops::{LoopDevice, unmount};
use crate::support::{run, stderr};

const MIB: u64 = 1 << 20;

/// Fills a loop device of the given MiB; returns false if the content does not fit on so small a
/// device.
type FillDisk = Box<dyn Fn(&LoopDevice, u64) -> bool>;

struct DiskContent {
    name: String,
    fill: FillDisk,
}

fn disk_content(name: impl Into<String>, fill: impl Fn(&LoopDevice, u64) + 'static) -> DiskContent {
    let fill = move |disk: &LoopDevice, mib| {
        fill(disk, mib);
        true
    };
    DiskContent {
        name: name.into(),
        fill: Box::new(fill),
    }
}

fn content_by_command(name: &'static str, command: &'static [&'static str]) -> DiskContent {
    disk_content(name, move |disk, _| disk.mkfs(command))
}

/// Describes a disk with `bytes` at an offset. A negative `place` counts from the end.
fn content_of_bytes(name: &'static str, place: i64, bytes: &'static [u8]) -> DiskContent {
    disk_content(name, move |disk, mib| {
        write_bytes_at_offset(disk, mib, place, bytes);
    })
}

fn write_bytes_at_offset(disk: &LoopDevice, mib: u64, place: i64, bytes: &[u8]) {
    let at = if place < 0 {
        mib * MIB - place.unsigned_abs()
    } else {
        place.unsigned_abs()
    };
    let device = OpenOptions::new().write(true).open(&disk.device).unwrap();
    device.write_all_at(bytes, at).unwrap();
    device.sync_all().unwrap();
}

fn random_bytes(mib: usize) -> Vec<u8> {
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

/// Creates a file system; returns false if mkfs refuses so small a device.
fn make_file_system(disk: &LoopDevice, mib: u64, fstype: &str) -> bool {
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
    std::fs::write(point.path().join("file"), random_bytes(8)).unwrap();
    unmount(point.path());
    disk.wait_until_free();
    true
}

fn partly_wiped_content(fstype: &'static str, mib: u64, at_end: bool) -> DiskContent {
    let end = if at_end { "end" } else { "beginning" };
    let fill = move |disk: &LoopDevice, size: u64| {
        let made = make_file_system(disk, size, fstype);
        let from = if at_end {
            size.saturating_sub(mib) * MIB
        } else {
            0
        };
        let zeros = vec![0; usize::try_from(mib.min(size) * MIB).unwrap()];
        if made {
            write_bytes_at_offset(disk, size, i64::try_from(from).unwrap(), &zeros);
        }
        made
    };
    DiskContent {
        name: format!("{fstype} without {mib} MiB of its {end}"),
        fill: Box::new(fill),
    }
}

fn all_contents() -> Vec<DiskContent> {
    let mut kinds: Vec<DiskContent> = Vec::new();
    for fstype in ["ext4", "xfs", "btrfs"] {
        let fill = move |disk: &LoopDevice, mib| make_file_system(disk, mib, fstype);
        kinds.push(DiskContent {
            name: fstype.to_owned(),
            fill: Box::new(fill),
        });
        for (mib, at_end) in [1, 4, 16, 64]
            .into_iter()
            .flat_map(|mib| [(mib, false), (mib, true)])
        {
            kinds.push(partly_wiped_content(fstype, mib, at_end));
        }
    }
    kinds.extend([
        content_by_command("ext2", &["mke2fs", "-q", "-t", "ext2"]),
        content_by_command(
            "ext3 with blocks of 1 KiB",
            &["mke2fs", "-q", "-t", "ext3", "-b", "1024"],
        ),
        // mke2fs writes the complete journal, so a large journal would fill the host's disk.
        disk_content("an ext journal of 64 MiB", |disk, _| {
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
        content_by_command("swap", &["mkswap"]),
        disk_content("a GPT", |disk, _| {
            let table = format!(
                "echo ',,' | sfdisk -q --no-reread --no-tell-kernel --label gpt {}",
                disk.device
            );
            run("sh", &["-c", &table]);
        }),
        content_of_bytes("LUKS1", 0, b"LUKS\xba\xbe\0\x01"),
        content_by_command("an LVM volume", &["pvcreate", "-q", "-ff", "-y"]),
        content_by_command("bcache", &["make-bcache", "-B"]),
        content_of_bytes("LUKS2", 0, b"LUKS\xba\xbe\0\x02"),
        content_of_bytes("the second header of LUKS2", 0x4000, b"SKUL\xba\xbe\0\x02"),
        content_of_bytes("md 0.90", -65536, b"\xfc\x4e\x2b\xa9"),
        content_of_bytes("md 1.0", -8192, b"\xfc\x4e\x2b\xa9"),
        content_of_bytes("md 1.1", 0, b"\xfc\x4e\x2b\xa9"),
        content_of_bytes("md 1.2", 4096, b"\xfc\x4e\x2b\xa9"),
        content_of_bytes("IMSM", -1024, b"Intel Raid ISM Cfg Sig. "),
        content_of_bytes("DDF", -512, b"\xde\x11\xde\x11"),
        content_of_bytes("DRBD", -4036, b"\x83\x74\x02\x6d"),
        content_of_bytes(
            "the first label of ZFS",
            128 << 10,
            b"\x0c\xb1\xba\0\0\0\0\0",
        ),
        content_of_bytes(
            "the last label of ZFS",
            -(128 << 10),
            b"\x0c\xb1\xba\0\0\0\0\0",
        ),
        content_of_bytes("a DOS table", 510, b"\x55\xaa"),
        content_of_bytes("the second GPT", -512, b"EFI PART"),
        content_of_bytes("an Oracle ASM disk", 32, b"ORCLDISK"),
        content_of_bytes("Ceph", 0, b"bluestore block device"),
        content_of_bytes("an archive of tar", 257, b"ustar"),
        disk_content("a tablespace of InnoDB", |disk, mib| {
            write_bytes_at_offset(disk, mib, 0, &random_bytes(12));
        }),
        disk_content("20 MiB from 5 MiB on", |disk, mib| {
            write_bytes_at_offset(disk, mib, 5 << 20, &random_bytes(20));
        }),
        disk_content("a file in the middle", |disk, mib| {
            write_bytes_at_offset(
                disk,
                mib,
                i64::try_from(mib * MIB / 2 + 12345).unwrap(),
                &random_bytes(24),
            );
        }),
        content_of_bytes("one byte behind the first MiB", (1 << 20) + 77, b"x"),
    ]);
    kinds
}

/// Returns the length in bytes of the longest run of data. Blocks of 4 KiB with only 0x00 or only
/// 0xff count as empty.
fn longest_data_run(image: &Path) -> u64 {
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

/// Checks every kind of disk content. `with_script` also runs the script, which reads the whole
/// disk, so the disk must be small.
fn check_all_contents(mib: u64, with_script: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let mut tried = 0;
    for DiskContent { name, fill } in all_contents() {
        let disk = LoopDevice::new(mib);
        let point = tempfile::tempdir().unwrap();
        let script = edit_script_to_run(
            &script_for(&disk, "ext4", &["-m 1"], "noatime"),
            &point.path().join("mnt"),
        );
        if !fill(&disk, mib) {
            continue;
        }
        tried += 1;
        let found = LiveHost::with_child_program(crate::support::programs::walwise_path().into())
            .scan_device(Path::new(&disk.device), ScanDepth::Thorough)
            .unwrap_or_else(|miss| panic!("{name}: {miss:?}"));
        let run = longest_data_run(&disk.image());
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
            let output = run_script(&script);
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
    assert_eq!(check_all_contents(64, true), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn nothing_on_a_gibibyte_is_called_free_or_reaches_mkfs() {
    assert_eq!(check_all_contents(1 << 10, true), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn large_disk_is_free_only_within_the_reported_unread_run() {
    assert_eq!(check_all_contents(40 << 10, false), Vec::<String>::new());
}
