//! Tests the fstab that an installer writes (`[[default]]` in `tests/migrations.toml`) on real
//! file systems: loop devices below a separate root directory, where walwise runs as root. No
//! line may cause a false alarm or stay undecided for the distribution's next releases.
//!
//! walwise captures this root directory. The capture then gets the kernel of the distribution,
//! because a test cannot replace the running kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::migrations::{
    DefaultFstab, DistributionVersions, FstabLine, read_migration_table, run_upgrade_on_host,
};
use crate::support::deadline::CommandInTime as _;
use crate::support::loops::LoopDevice;
use crate::support::programs::{copy_walwise_into, private_mounts_shell};
use crate::support::{stderr, stdout, walwise};

/// mkfs command for a file system as the oldest distribution of the table creates it.
fn mkfs_command(fs: &str) -> &'static [&'static str] {
    match fs {
        "ext4" => &["mkfs.ext4", "-q", "-O", "^orphan_file,^metadata_csum_seed"],
        "xfs" => &["mkfs.xfs", "-q", "-m", "bigtime=0,inobtcount=0"],
        "btrfs" => &["mkfs.btrfs", "-q", "-R", "^free-space-tree"],
        "vfat" => &["mkfs.vfat"],
        other => panic!("{other} is on no disk"),
    }
}

/// The disks, the fstab, and the commands that mount the file systems below `$tree`, except
/// those that this kernel cannot mount.
struct LiveFstab {
    disks: Vec<LoopDevice>,
    fstab: String,
    mounts: String,
}

fn create_live_fstab(lines: &[FstabLine]) -> LiveFstab {
    let mut live = LiveFstab {
        disks: Vec::new(),
        fstab: String::new(),
        mounts: String::new(),
    };
    let mut root = None;
    if !lines.iter().any(|line| line.at == "/") {
        root = Some(live.add_disk("ext4"));
        writeln!(live.mounts, "mount {} \"$tree\"", live.disks[0].device).unwrap();
    }
    for FstabLine {
        at,
        fs,
        options,
        source,
        ..
    } in lines
    {
        let is_subvolume = fs == "btrfs" && options.contains("subvol=");
        let device = match (source, root) {
            (Some(source), _) if source.starts_with("/dev/disk/cloud/") => {
                let disk = live.add_disk("ext4");
                live.disks[disk].device.clone()
            }
            (Some(source), _) => source.clone(),
            (None, Some(root)) if is_subvolume => live.disks[root].device.clone(),
            (None, _) => {
                let disk = live.add_disk(fs);
                root.get_or_insert(disk);
                live.disks[disk].device.clone()
            }
        };
        // A comment, tabs and several spaces, as installers write them.
        writeln!(live.fstab, "# {at}\n{device}\t{at}   {fs}\t{options} 0 0").unwrap();
        if is_subvolume {
            let name = options.trim_start_matches("subvol=/");
            writeln!(
                live.mounts,
                "mkdir -p \"$(dirname \"$tree/{name}\")\"\n\
                 [ -e \"$tree/{name}\" ] || btrfs -q subvolume create \"$tree/{name}\""
            )
            .unwrap();
        }
        if at == "/" {
            writeln!(live.mounts, "mount -o {options} {device} \"$tree\"").unwrap();
        } else if source.is_none() && fs != "vfat" {
            writeln!(
                live.mounts,
                "mkdir -p \"$tree{at}\"\nmount -t {fs} -o {options} {device} \"$tree{at}\""
            )
            .unwrap();
        } else if fs == "swap" {
            writeln!(
                live.mounts,
                "dd if=/dev/zero of=\"$tree{device}\" bs=1M count=1 status=none\n\
                 mkswap -q \"$tree{device}\""
            )
            .unwrap();
        }
    }
    live
}

impl LiveFstab {
    fn add_disk(&mut self, fs: &str) -> usize {
        let disk = LoopDevice::new(512);
        disk.mkfs(mkfs_command(fs));
        self.disks.push(disk);
        self.disks.len() - 1
    }
}

/// Captures a host with this fstab, as root in a separate mount namespace and root directory.
/// libmount must parse the fstab there without an error. Also returns target, type and options
/// of each line as libmount parses them.
fn capture_with_fstab(
    default: &DefaultFstab,
    system: &DistributionVersions,
    dir: &Path,
) -> (String, String) {
    let live = create_live_fstab(&default.lines);
    let (fstab, os_release) = (dir.join("fstab"), dir.join("os-release"));
    fs::write(&fstab, &live.fstab).unwrap();
    fs::write(&os_release, system.os_release()).unwrap();
    let output = dir.join("captured.host");
    let script = format!(
        "set -eu
        tree=$5
        mkdir -p \"$tree\"
        {}
        for part in usr proc sys dev; do mkdir -p \"$tree/$part\"; mount --rbind /$part \"$tree/$part\"; done
        for part in bin sbin lib lib64; do [ -e \"$tree/$part\" ] || ln -s usr/$part \"$tree/$part\"; done
        mkdir -p \"$tree/etc\" \"$tree/tmp\" \"$tree/run/mount\"
        cp \"$1\" \"$tree/etc/fstab\"
        cp \"$2\" \"$tree/etc/os-release\"
        touch \"$tree/walwise\"
        mount --bind \"$3\" \"$tree/walwise\"
        chroot \"$tree\" /walwise capture --no-mask > \"$4\"
        chroot \"$tree\" findmnt --verify >&2 || true
        chroot \"$tree\" mount -a -f >&2
        chroot \"$tree\" findmnt --fstab -rno TARGET,FSTYPE,OPTIONS
        ",
        live.mounts
    );
    let program = copy_walwise_into(dir);
    let result = private_mounts_shell(&script)
        .args([&fstab, &os_release, &program, &output, &dir.join("tree")])
        .output_in_time();
    assert!(
        result.status.success(),
        "{}: {}\n{script}",
        default.source,
        stderr(&result)
    );
    let verified = stderr(&result);
    assert!(verified.contains("0 parse errors"), "{verified}");
    (fs::read_to_string(output).unwrap(), stdout(&result))
}

/// Target, type and options of each fstab line as walwise parses them, without swap.
fn fstab_lines_of_walwise(host: &Path) -> Vec<String> {
    let output = walwise()
        .args(["facts", "--format", "json", "--host"])
        .arg(host)
        .output_in_time();
    let facts: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let reading = |subject: &Value, fact: &str| {
        let mut rows = facts.iter();
        let row = rows.find(|row| row["subject"] == *subject && row["fact"] == fact);
        row.unwrap()["reading"]["value"].clone()
    };
    let points = facts.iter().filter(|row| row["fact"] == "boot.point");
    let mut lines: Vec<String> = points
        .map(|row| {
            let options = reading(&row["subject"], "boot.options");
            let options = options.as_array().unwrap().iter();
            let options: Vec<&str> = options.map(|one| one.as_str().unwrap()).collect();
            format!(
                "{} {} {}",
                row["reading"]["value"].as_str().unwrap(),
                reading(&row["subject"], "boot.written_type")
                    .as_str()
                    .unwrap(),
                options.join(",")
            )
        })
        .collect();
    lines.sort_unstable();
    lines
}

/// Converts libmount's lines to the form of [`fstab_lines_of_walwise`]. libmount escapes spaces
/// and keeps a trailing slash; a capture lacks the value of `comment=`.
fn fstab_lines_of_libmount(rows: &str) -> Vec<String> {
    let rows = rows.lines().filter(|row| !row.starts_with("none "));
    let mut lines: Vec<String> = rows
        .map(|row| {
            let row = row.replace("/ ", " ").replace("\\x20", " ");
            let row = if row.starts_with(' ') {
                format!("/{row}")
            } else {
                row
            };
            match row.split_once("comment=") {
                Some((before, _)) => format!("{before}comment="),
                None => row,
            }
        })
        .collect();
    lines.sort_unstable();
    lines
}

/// Replaces the kernel and tools in the capture by those of the distribution. A swap file of
/// the fstab is listed as in use.
fn replace_system_answers(captured: &str, system: &DistributionVersions) -> String {
    let mut answers: BTreeMap<&str, String> =
        system.kernel_and_tool_answers().into_iter().collect();
    let swaps = "Filename\tType\tSize\tUsed\tPriority\n/swapfile file 1020 0 -2";
    if captured.contains("/swapfile") {
        answers.insert("read /proc/swaps", swaps.to_owned());
    }
    let mut host = String::new();
    let mut is_exchanged = false;
    for line in captured.lines() {
        if line.starts_with(['|', ':', '!']) {
            if !is_exchanged {
                writeln!(host, "{line}").unwrap();
            }
            continue;
        }
        writeln!(host, "{line}").unwrap();
        is_exchanged = answers.contains_key(line);
        for answer in answers.get(line).iter().flat_map(|text| text.lines()) {
            writeln!(host, "|{answer}").unwrap();
        }
    }
    host
}

#[test]
#[ignore = "needs root: mounts loop devices in a name space of its own"]
fn the_fstab_of_an_installer_raises_no_alarm() {
    let table = read_migration_table();
    let dir = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let (mut lines, mut read) = (0, 0);
    for default in &table.default {
        let system = &table.system[&default.from];
        let (captured, rows) = capture_with_fstab(default, system, dir.path());
        let path = dir.path().join("edited.host");
        fs::write(&path, replace_system_answers(&captured, system)).unwrap();
        let ours = fstab_lines_of_walwise(&path);
        assert_eq!(ours, fstab_lines_of_libmount(&rows), "{}", default.source);
        read += ours.len();
        for to in &default.to {
            let (_, found) = run_upgrade_on_host(&path, to);
            lines += found.len();
            let of_fstab = |name: &str| default.lines.iter().any(|line| line.at == name);
            for (name, (answer, why)) in found.iter().filter(|(name, _)| of_fstab(name)) {
                if answer != "works" {
                    wrong.push(format!(
                        "{} → {to} ({}): {name} {answer}: {why}",
                        default.from, default.source
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(lines >= 100 && read >= 36, "{lines} {read}");
}

/// All fstab lines of the table, in each form that fstab(5) permits, have the same fields in
/// walwise as in libmount.
#[test]
#[ignore = "needs root: mounts a file over /etc/fstab in a name space of its own"]
fn fstab_fields_equal_those_of_libmount() {
    let table = read_migration_table();
    let all = table.default.iter().map(|default| &default.lines);
    let all = all.chain(table.migration.iter().map(|migration| &migration.lines));
    let lines: BTreeSet<(&str, &str)> = all
        .flatten()
        .filter(|line| !["swap", "zfs"].contains(&line.fs.as_str()))
        .map(|line| (line.fs.as_str(), line.options.as_str()))
        .collect();
    let mut fstab = String::new();
    for (at, (fs, options)) in lines.iter().enumerate() {
        match at % 6 {
            0 => writeln!(fstab, "/dev/none-{at}\t/m/{at}\t{fs}\t{options}\t0\t0"),
            1 => writeln!(fstab, "  /dev/none-{at} /m/{at} {fs} {options}"),
            2 => writeln!(fstab, "/dev/none-{at} /m/a\\040b{at} {fs} {options} 0 2"),
            3 => writeln!(fstab, "# {at}\n\n/dev/none-{at} /m/{at}/ {fs} {options} 1"),
            4 => writeln!(
                fstab,
                "UUID=0000-{at} \t /m/{at} {fs}  {options} 0 0 # note"
            ),
            _ => writeln!(fstab, "LABEL=a\\040{at} /m/\\043{at} {fs} {options} 0 0"),
        }
        .unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let (path, captured) = (dir.path().join("fstab"), dir.path().join("captured.host"));
    fs::write(&path, &fstab).unwrap();
    let script = "set -eu
        mount --bind \"$1\" /etc/fstab
        \"$2\" capture --no-mask > \"$3\"
        findmnt --fstab -rno TARGET,FSTYPE,OPTIONS";
    let result = private_mounts_shell(script)
        .args([&path, &copy_walwise_into(dir.path()), &captured])
        .output_in_time();
    assert!(result.status.success(), "{}", stderr(&result));
    let ours = fstab_lines_of_walwise(&captured);
    assert_eq!(ours, fstab_lines_of_libmount(&stdout(&result)), "{fstab}");
    assert!(ours.len() >= 60, "{}", ours.len());
}
