//! The file system that the user wants, from the printed script to a database on it: what a person would edit is edited,
//! everything else is run as it was printed, and the database is checked again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::script::{edited, sh, with_directory};
use super::support::loops::{Loop, Point, unmount};
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::{check_json, evidence, run, stderr, stdout, walwise};
use crate::support::deadline::CommandInTime as _;

/// What the script printed.
struct Made {
    disk: Loop,
    point: Point,
    printed: String,
    _base: tempfile::TempDir,
}

/// Runs the script for this file system with the edits of a person who wants a directory for a database of this user.
fn made(filesystem: &str, directory: &str, owner: &str) -> Made {
    let disk = Loop::new(512);
    let asked = ["check", &disk.device, "--fs", filesystem, "--no-probe", "--format", "script"];
    let script = walwise().args(asked).output_in_time();
    assert!(script.status.success(), "{}", stderr(&script));
    let open = fs::Permissions::from_mode(0o755);
    let base = tempfile::Builder::new().permissions(open).tempdir().unwrap();
    let point = Point(base.path().join("new"));
    let script = with_directory(&edited(&stdout(&script), &point.0), directory, owner);
    let output = sh(&script);
    assert!(output.status.success(), "{filesystem}: {}\n{script}", stderr(&output));
    Made { disk, point, printed: stdout(&output), _base: base }
}

impl Made {
    /// The printed command that begins with this word, without the indentation.
    fn printed(&self, begins: &str) -> &str {
        let mut lines = self.printed.lines().map(str::trim_start);
        lines.find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("{begins}: {}", self.printed))
    }

    /// Mounts it anew by the printed line, as the next boot will.
    fn mount_as_at_boot(&self) {
        let table = self.point.0.with_extension("fstab");
        fs::write(&table, format!("{}\n", self.printed("UUID="))).unwrap();
        let (table, point) = (table.to_str().unwrap(), self.point.0.to_str().unwrap());
        unmount(&self.point.0);
        run("findmnt", &["--verify", "--tab-file", table]);
        run("mount", &["--fstab", table, point]);
    }

    /// The directory that was made for the database, of which walwise is to be asked.
    fn directory(&self) -> PathBuf {
        let asked = self.printed("walwise check ");
        let directory = asked.strip_prefix("walwise check ").and_then(|rest| rest.split_once(' '));
        PathBuf::from(directory.unwrap().0)
    }
}

/// A check of the database's directory: flushes reach the disk by way of this file system, and its mount stays as it is.
fn nothing_is_to_be_remounted(made: &Made, filesystem: &str, directory: &Path) -> Value {
    let (_, report) = check_json(&[directory.to_str().unwrap(), "--no-probe"]);
    let mount = format!("mount {}", made.point.0.display());
    let says = evidence(&report, directory, "kernel", &mount);
    assert!(!says.is_empty() && says.iter().all(|(standing, _)| standing == "durable"), "{says:?}");
    let steps = report["plans"].as_array().unwrap().iter().flat_map(|plan| plan["steps"].as_array().unwrap());
    let of_mount = steps
        .filter(|step| step["advice"]["change"] != serde_json::json!({"set": null, "add": [], "remove": []}))
        .filter(|step| {
            let setting = step["advice"]["setting"].as_str().unwrap();
            ["mount.options", "directory.attributes", "filesystem"].contains(&setting)
        });
    assert_eq!(of_mount.collect::<Vec<_>>(), Vec::<&Value>::new(), "{filesystem}");
    report
}

#[test]
#[ignore = "needs root: loop devices and PostgreSQL 15"]
fn a_postgres_on_each_file_system_needs_no_second_thought() {
    for filesystem in ["ext4", "xfs", "btrfs"] {
        let made = made(filesystem, "15/main", "postgres");
        made.mount_as_at_boot();
        let directory = made.directory();
        let path = directory.to_str().unwrap();
        let flags = run("lsattr", &["-d", path]);
        let nocow = flags.split_whitespace().next().unwrap().contains('C');
        assert_eq!(nocow, filesystem == "btrfs", "{flags}");

        let cluster = Cluster::typed(made.printed("initdb "));
        assert_eq!(cluster.data, directory);
        cluster.append("postgresql.conf", "listen_addresses = ''\n");
        cluster.start();
        let checksums = if filesystem == "btrfs" { "on" } else { "off" };
        assert_eq!(cluster.sql("SHOW data_checksums"), checksums);
        nothing_is_to_be_remounted(&made, filesystem, &directory);

        let conf = walwise().args(["check", path, "--no-probe", "--format", "conf"]).output_in_time();
        cluster.append("postgresql.conf", "include 'walwise.conf'\n");
        cluster.append("walwise.conf", &stdout(&conf));
        cluster.restart_at_once();
        assert!(stdout(&conf).contains("# now: "), "{}", stdout(&conf));
        let wrong = cluster.sql("SELECT count(*) FROM pg_file_settings WHERE error IS NOT NULL");
        assert_eq!(wrong, "0", "{filesystem}: {}\n{}", stdout(&conf), cluster.log());
        cluster.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000)");
        cluster.stop();
        assert_eq!(run("wipefs", &["-n", "-i", "-O", "TYPE", &made.disk.device]).trim(), filesystem);
    }
}

#[test]
#[ignore = "needs root: loop devices and MariaDB"]
fn so_does_a_mariadb() {
    let made = made("xfs", "mysql", "mysql");
    made.mount_as_at_boot();
    let directory = made.directory();
    let typed: Vec<&str> = made.printed("mariadb-install-db ").split(' ').collect();
    run(typed[0], &typed[1..]);
    let mut server = Mariadb::over(directory.clone());
    server.start();
    nothing_is_to_be_remounted(&made, "xfs", &directory);
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_directory_that_cannot_be_made_keeps_the_disk_as_it_is() {
    let disk = Loop::new(64);
    let asked = ["check", &disk.device, "--fs", "ext4", "--no-probe", "--format", "script"];
    let script = stdout(&walwise().args(asked).output_in_time());
    let base = tempfile::tempdir().unwrap();
    let script = edited(&script, &base.path().join("new"));
    for (directory, owner, says) in [
        ("data", "", "set OWNER"),
        ("data", "nobody-of-this-name", "set OWNER"),
        ("/data", "root", "DATABASE may hold"),
        ("../data", "root", "DATABASE may hold"),
        ("a/..", "root", "DATABASE may hold"),
        ("a/../b", "root", "DATABASE may hold"),
        ("'a b'", "root", "DATABASE may hold"),
    ] {
        let output = sh(&with_directory(&script, directory, owner));
        assert_eq!(output.status.code(), Some(1), "{directory} {owner}");
        assert!(stderr(&output).contains(says), "{directory} {owner}: {}", stderr(&output));
    }
    assert_eq!(run("wipefs", &["-n", &disk.device]), "", "something was written");
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_refusal_says_why_before_anything_is_measured() {
    let small = Loop::new(64);
    let base = tempfile::tempdir().unwrap();
    for (target, filesystem, says) in [
        (small.device.as_str(), "xfs", "device.size is at least 300 MiB (64 MiB)"),
        (base.path().to_str().unwrap(), "xfs", "It is a directory"),
    ] {
        let output = walwise().args(["check", target, "--fs", filesystem]).output_in_time();
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
    assert!(fs::read_dir(base.path()).unwrap().next().is_none());
}
