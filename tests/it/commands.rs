//! Runs the commands that walwise prints for recorded hosts, on a real host of the same kind. Every
//! other command is listed with the reason why it is not run. `tests/docs --printed` prints the
//! counts. A change of mount options is applied and undone.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use tempfile::TempDir;
use walwise_judge::rules::Advice;
use walwise_model::facts::catalog::mount;

use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{LoopDevice, MountedFileSystem, mount_btrfs, mount_ext4};
use crate::support::mariadb::Mariadb;
use crate::support::postgres::{Cluster, PROGRAMS};
use crate::support::{recorded, stderr};

const NOT_HERE: [(&str, &str); 28] = [
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
        "echo 240000 ",
        "only drivers with a timeout have the attribute: NVMe, SCSI",
    ),
    (
        "echo 180 ",
        "only drivers with a timeout have the attribute: NVMe, SCSI",
    ),
    (
        "cat /sys/class/block/sd",
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
    (
        "mariadb --socket=/data/mysql/mysql.sock -e \"SET GLOBAL innodb_doublewrite",
        "dynamic from MariaDB 11.4.2 on; Debian 12 has 10.11",
    ),
    (
        "runuser -u postgres -- psql -c 'SHOW file_extend_method",
        "Debian 12 has PostgreSQL 15",
    ),
    (
        "runuser -u postgres -- psql -c \"ALTER SYSTEM SET file_extend_method",
        "Debian 12 has PostgreSQL 15",
    ),
    (
        "runuser -u postgres -- psql -c 'ALTER SYSTEM RESET file_extend_method",
        "Debian 12 has PostgreSQL 15",
    ),
    ("sysctl ", "changes the host of the test"),
    ("echo 'vm.dirty", "changes the host of the test"),
    ("zpool ", "this kernel has no ZFS, and Debian ships none"),
    (
        "echo 0 > /sys/module/zfs/",
        "this kernel has no ZFS, and Debian ships none",
    ),
    ("echo mq-deadline ", "which schedulers a kernel has differs"),
    ("echo bfq ", "which schedulers a kernel has differs"),
];

fn advice_commands_by_setting() -> BTreeSet<(String, [Vec<String>; 3])> {
    let mut all = BTreeSet::new();
    for (_, report) in recorded::recorded_host_reports() {
        let steps = report
            .plans
            .iter()
            .flat_map(|plan| plan.steps.iter().filter(|step| !step.keeps_setting()));
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

enum LiveTestHost {
    Ext4(MountedFileSystem),
    Btrfs(MountedFileSystem),
    Postgres(Cluster),
    Mariadb { server: Mariadb, _data: TempDir },
}

fn create_live_test_host(setting: &str) -> Option<LiveTestHost> {
    Some(match setting {
        "directory.attributes" | "mount.options" => LiveTestHost::Btrfs(mount_btrfs("nodatacow")),
        "ext4.fast_commit" | "block.write_cache" => LiveTestHost::Ext4(mount_ext4(&[], "")),
        "replication.slot" | "replication.standby" | "wal.archiver" => {
            LiveTestHost::Postgres(Cluster::new())
        }
        pg if pg.starts_with("pg.") => LiveTestHost::Postgres(Cluster::new()),
        mysql if mysql.starts_with("mysql.") => {
            let data = tempfile::tempdir().unwrap();
            let mut server = Mariadb::new_below(data.path(), "");
            server.start();
            LiveTestHost::Mariadb {
                server,
                _data: data,
            }
        }
        _ => return None,
    })
}

fn substitute_live_name(word: &str, machine: &LiveTestHost) -> Option<String> {
    let (disk, point) = match machine {
        LiveTestHost::Ext4(mounted) | LiveTestHost::Btrfs(mounted) => {
            (&mounted.disk, mounted.path())
        }
        LiveTestHost::Postgres(_) if word.starts_with("PATH=") => {
            return Some(format!("PATH={PROGRAMS}:/usr/bin"));
        }
        LiveTestHost::Postgres(cluster) => {
            return word.starts_with('/').then(|| cluster.path_string("data"));
        }
        LiveTestHost::Mariadb { server, .. } => {
            return word
                .starts_with("--socket=")
                .then(|| format!("--socket={}/socket", server.temporary_directory().display()));
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

fn run_on_live_host(command: &str, machine: &LiveTestHost) {
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
            substitute_live_name(word, machine)
        };
        own.unwrap_or_else(|| word.to_owned())
    });
    let line = words.collect::<Vec<_>>().join(" ");
    let mut shell = Command::new("sh");
    if let LiveTestHost::Postgres(cluster) = machine {
        // In reports made without root, commands for the server's owner start with `runuser`.
        if !line.starts_with("runuser ") {
            shell = cluster.command_as_owner("/bin/sh");
        }
        let is_running = cluster.data.join("postmaster.pid").exists();
        match (is_running, command.contains("pg_checksums")) {
            (true, true) => cluster.stop(),
            (false, false) => cluster.start(),
            (true, false) | (false, true) => {}
        }
        shell
            .env("PGHOST", cluster.temporary_directory())
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
    let mut machines: BTreeMap<String, LiveTestHost> = BTreeMap::new();
    for (setting, lists) in advice_commands_by_setting() {
        for list in lists {
            let reason = |command: &str| {
                NOT_HERE
                    .iter()
                    .find(|(begins, _)| command.starts_with(begins))
            };
            // Commands for an unmounted file system run between its unmount and its mount.
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
                    create_live_test_host(&setting).unwrap_or_else(|| {
                        panic!("{setting}: {command}: neither executed nor listed")
                    })
                });
                run_on_live_host(&command, machine);
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

#[test]
#[ignore = "needs root: loop devices"]
fn changes_of_mount_options_hold_and_are_undone() {
    let mut changes = BTreeMap::new();
    for (_, report) in recorded::recorded_host_reports() {
        for step in report.plans.iter().flat_map(|plan| &plan.steps) {
            let Some(fstype) = report.facts.value(&step.subject, &mount::FSTYPE) else {
                continue;
            };
            if step.advice.setting.name == "mount.options" && !step.keeps_setting() {
                let words = (
                    step.advice.change.set_or_added_values().to_vec(),
                    step.advice.change.removed_options().to_vec(),
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
        let disk = LoopDevice::new(512);
        disk.mkfs(&[&format!("mkfs.{fstype}"), "-q"]);
        // Recorded hosts may have older kernels, whose options this kernel refuses.
        if let Some(refused) = remove.iter().find(|word| disk.try_mount(word).is_err()) {
            foreign.insert(format!("{fstype} {refused}"));
            continue;
        }
        let machine = LiveTestHost::Ext4(disk.mount(""));
        let LiveTestHost::Ext4(mounted) = &machine else {
            unreachable!()
        };
        let in_force = || mounted.disk.options_in_force(&mounted.point);
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
                run_on_live_host(&command, &machine);
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
