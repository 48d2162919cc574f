//! Every command that walwise prints over all recorded machines: executed on a real machine of its
//! kind, or listed with the reason why not. `tests/commands` prints the counts; a change of mount
//! options is tried with its undo.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use tempfile::TempDir;
use walwise_judge::rules::Advice;
use walwise_model::facts::catalog::mount;

use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{Loop, Mounted, btrfs, ext4};
use crate::support::mariadb::Mariadb;
use crate::support::postgres::{Cluster, PROGRAMS};
use crate::support::{recorded, stderr};

/// What is not executed here, by how it begins, with the reason.
const NOT_HERE: [(&str, &str); 15] = [
    ("#", "a remark: done by hand"),
    (
        "walwise ",
        "run by answers::commands_of_a_capture_run_as_printed",
    ),
    ("mount ", "by changes_of_mount_options_hold_and_are_undone"),
    ("umount ", "by changes_of_mount_options_hold_and_are_undone"),
    (
        "findmnt ",
        "by changes_of_mount_options_hold_and_are_undone",
    ),
    ("zfs ", "this kernel has no ZFS, and Debian ships none"),
    (
        "mysql ",
        "Debian 12 has no MySQL; MariaDB has no SET PERSIST",
    ),
    ("systemctl ", "needs a system booted by systemd"),
    (
        "initdb ",
        "its directory is a placeholder; tests/converge runs it",
    ),
    (
        "echo 4294967295 ",
        "only drivers with a timeout have the attribute: NVMe, SCSI",
    ),
    (
        "echo 30000 ",
        "only drivers with a timeout have the attribute: NVMe, SCSI",
    ),
    (
        "cat /sys/class/block/nvme",
        "only drivers with a timeout have the attribute: NVMe, SCSI",
    ),
    (
        "cat /proc/mdstat",
        "this kernel has no md; the lab boots one that has",
    ),
    ("grep ", "finds what the machine of a test may lack"),
    ("swapon ", "only lists"),
];

/// Distinct sequences of advice: the setting with its three lists of commands.
fn printed() -> BTreeSet<(String, [Vec<String>; 3])> {
    let mut all = BTreeSet::new();
    for (_, report) in recorded::reports() {
        let steps = report
            .plans
            .iter()
            .flat_map(|plan| plan.steps.iter().filter(|step| !step.keeps()));
        let of_findings = report.findings.iter().flat_map(|finding| &finding.advice);
        for advice in steps.map(|step| &step.advice).chain(of_findings) {
            let Advice {
                setting,
                apply,
                verify,
                undo,
                ..
            } = advice;
            let texts =
                [apply, verify, undo].map(|list| list.iter().map(ToString::to_string).collect());
            all.insert((setting.name.to_owned(), texts));
        }
    }
    all
}

/// The kind of a machine, with what stands for the names of the recorded one.
enum Machine {
    Ext4(Mounted),
    Btrfs(Mounted),
    Postgres(Cluster),
    Mariadb { server: Mariadb, _data: TempDir },
}

fn machine(setting: &str) -> Option<Machine> {
    Some(match setting {
        "directory.attributes" | "mount.options" => Machine::Btrfs(btrfs("nodatacow")),
        "ext4.fast_commit" | "block.write_cache" => Machine::Ext4(ext4(&[], "")),
        pg if pg.starts_with("pg.") => Machine::Postgres(Cluster::new()),
        mysql if mysql.starts_with("mysql.") => {
            let data = tempfile::tempdir().unwrap();
            let mut server = Mariadb::beneath(data.path(), "");
            server.start();
            Machine::Mariadb {
                server,
                _data: data,
            }
        }
        _ => return None,
    })
}

/// A word of the recorded machine that names what it calls differently here.
fn renamed(word: &str, machine: &Machine) -> Option<String> {
    let (disk, point) = match machine {
        Machine::Ext4(mounted) | Machine::Btrfs(mounted) => (&mounted.disk, mounted.path()),
        Machine::Postgres(_) if word.starts_with("PATH=") => {
            return Some(format!("PATH={PROGRAMS}:/usr/bin"));
        }
        Machine::Postgres(cluster) => return word.starts_with('/').then(|| cluster.path("data")),
        Machine::Mariadb { server, .. } => {
            return word
                .starts_with("--socket=")
                .then(|| format!("--socket={}/socket", server.own().display()));
        }
    };
    if let Some(rest) = word.strip_prefix("/sys/class/block/") {
        let (_, attribute) = rest.split_once('/')?;
        return Some(format!("/sys/class/block/{}/{attribute}", disk.name()));
    }
    if word.starts_with("/dev/") {
        return Some(disk.device.clone());
    }
    word.starts_with('/').then(|| point.to_owned())
}

fn run_here(command: &str, machine: &Machine) {
    let plain = command.split("   #").next().unwrap();
    let is_quoted = |word: &str| {
        word.contains(['\'', '"', '='])
            && !word.starts_with("--socket=")
            && !word.starts_with("PATH=")
    };
    let words = plain.split(' ').map(|word| {
        let own = if is_quoted(word) {
            None
        } else {
            renamed(word, machine)
        };
        own.unwrap_or_else(|| word.to_owned())
    });
    let line = words.collect::<Vec<_>>().join(" ");
    let mut shell = Command::new("sh");
    if let Machine::Postgres(cluster) = machine {
        // A report that was not made by root prints what the server's owner is to type.
        if !line.starts_with("runuser ") {
            shell = cluster.as_owner("/bin/sh");
        }
        let is_running = cluster.data.join("postmaster.pid").exists();
        match (is_running, command.contains("pg_checksums")) {
            (true, true) => cluster.stop(),
            (false, false) => cluster.start(),
            (true, false) | (false, true) => {}
        }
        shell
            .env("PGHOST", cluster.own())
            .env("PGPORT", "5499")
            .env("PGDATABASE", "postgres");
    }
    let output = shell
        .current_dir("/")
        .args(["-e", "-c", &line])
        .output_in_time();
    assert!(
        output.status.success(),
        "{command}\n{line}\n{}",
        stderr(&output)
    );
}

#[test]
#[ignore = "needs root: loop devices, PostgreSQL 15 and MariaDB"]
fn every_printed_command_is_executed_or_listed() {
    let (mut executed, mut listed) = (BTreeSet::new(), BTreeMap::<&str, usize>::new());
    let mut machines: BTreeMap<String, Machine> = BTreeMap::new();
    for (setting, lists) in printed() {
        for list in lists {
            let reason = |command: &str| {
                NOT_HERE
                    .iter()
                    .find(|(begins, _)| command.starts_with(begins))
            };
            // What is done to an unmounted file system is tried between its unmount and its mount.
            let is_run = list.iter().any(|command| reason(command).is_none());
            let is_mount =
                |command: &str| command.starts_with("mount ") || command.starts_with("umount ");
            for command in list {
                if let Some((_, reason)) =
                    reason(&command).filter(|_| !(is_run && is_mount(&command)))
                {
                    *listed.entry(reason).or_default() += 1;
                    continue;
                }
                let machine = machines.entry(setting.clone()).or_insert_with(|| {
                    machine(&setting).unwrap_or_else(|| {
                        panic!("{setting}: {command}: neither executed nor listed")
                    })
                });
                run_here(&command, machine);
                executed.insert(command);
            }
        }
    }
    eprintln!(
        "{} commands executed; listed with a reason:",
        executed.len()
    );
    for (reason, count) in listed {
        eprintln!("{count:6} {reason}");
    }
}

/// Every change of mount options on ext4, XFS and btrfs: from what is undone to what is applied and
/// back.
#[test]
#[ignore = "needs root: loop devices"]
fn changes_of_mount_options_hold_and_are_undone() {
    let mut changes = BTreeMap::new();
    for (_, report) in recorded::reports() {
        for step in report.plans.iter().flat_map(|plan| &plan.steps) {
            let Some(fstype) = report.facts.value(&step.subject, &mount::FSTYPE) else {
                continue;
            };
            if step.advice.setting.name == "mount.options" && !step.keeps() {
                let words = (
                    step.advice.change.values().to_vec(),
                    step.advice.change.removed().to_vec(),
                );
                changes
                    .entry((fstype, words))
                    .or_insert_with(|| step.advice.clone());
            }
        }
    }
    let (mut tried, mut foreign) = (0, BTreeSet::new());
    for ((fstype, (add, remove)), advice) in changes {
        if !["ext4", "xfs", "btrfs"].contains(&&*fstype) {
            foreign.insert(fstype);
            continue;
        }
        let disk = Loop::new(512);
        disk.mkfs(&[&format!("mkfs.{fstype}"), "-q"]);
        // Recorded machines have older kernels, too.
        if let Some(refused) = remove.iter().find(|word| disk.try_mount(word).is_err()) {
            foreign.insert(format!("{fstype} {refused}"));
            continue;
        }
        let machine = Machine::Ext4(disk.mount(""));
        let Machine::Ext4(mounted) = &machine else {
            unreachable!()
        };
        let in_force = || mounted.disk.in_force(&mounted.point);
        for (commands, is_applied) in [
            (&advice.undo, false),
            (&advice.apply, true),
            (&advice.undo, false),
        ] {
            let of_mount = commands
                .iter()
                .map(ToString::to_string)
                .filter(|command| command.contains("mount "));
            for command in of_mount.filter(|command| !command.starts_with('#')) {
                run_here(&command, &machine);
                tried += 1;
            }
            let now = in_force();
            let gone = |word: &&String| now.contains(word) && is_applied;
            assert_eq!(
                add.iter().all(|word| now.contains(word)),
                is_applied || add.is_empty(),
                "{advice:?}: {now:?}"
            );
            assert_eq!(remove.iter().find(gone), None, "{advice:?}: {now:?}");
        }
    }
    eprintln!(
        "{tried} commands of mount options executed; not mounted by this kernel: {foreign:?}"
    );
}
