//! Configuration files named with an option for stopped servers: the parts that are used, and
//! unusable files.

use std::fs;
use std::path::Path;

use super::support::loops::mount_ext4;
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::{check_json, known_fact_value, stderr, stdout, walwise};
use crate::support::deadline::CommandInTime as _;

const OPTIONS: [&str; 2] = ["--mysql-defaults", "--postgres-config"];

fn assert_refused(command: &str, option: &str, file: &Path) -> String {
    let mut walwise = walwise();
    walwise.arg(command).arg(option).arg(file);
    match command {
        "explain" => walwise.arg("pg.fsync-off"),
        "check" => walwise.arg("--no-probe"),
        _ => &mut walwise,
    };
    let output = walwise.output_in_time();
    assert_eq!(
        output.status.code(),
        Some(2),
        "{command} {option}: {}",
        stderr(&output)
    );
    assert_eq!(stdout(&output), "", "{command} {option}");
    stderr(&output)
}

#[test]
fn unusable_configuration_files_are_refused_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let none = directory.path().join("none.cnf");
    for option in OPTIONS {
        for command in ["check", "facts", "explain", "capture"] {
            let says = assert_refused(command, option, &none);
            let file = none.display();
            assert!(
                says.contains(&format!("cannot use {file} for {option}")),
                "{command}: {says}"
            );
            assert!(
                says.contains("pass the configuration file with which the server is started"),
                "{says}"
            );
        }
        let says = assert_refused("facts", option, directory.path());
        assert!(
            says.contains("pass a readable configuration file"),
            "{says}"
        );
    }
}

#[test]
fn relative_option_file_resolves_here_and_is_captured() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("own.cnf"),
        "[mysqld]\nsync_binlog = 1\npassword = Zk7hunter2\n",
    )
    .unwrap();
    let run = |arguments: &[&str]| {
        let output = walwise()
            .current_dir(directory.path())
            .args(arguments)
            .output_in_time();
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    let named = ["--mysql-defaults", "own.cnf"];
    let (code, says) = run(&[
        &["capture", "--no-mask", "--output", "own.host"][..],
        &named,
    ]
    .concat());
    assert_eq!(code, Some(0), "{says}");
    let capture = fs::read_to_string(directory.path().join("own.host")).unwrap();
    assert!(
        capture.contains("own.cnf\n") && !capture.contains("Zk7hunter2"),
        "{capture}"
    );
    let (code, says) = run(&[&["facts", "--host", "own.host", "kernel."][..], &named].concat());
    assert_eq!(code, Some(0), "{says}");
    let (code, says) = run(&[
        "facts",
        "--host",
        "own.host",
        "--mysql-defaults",
        "other.cnf",
    ]);
    assert_eq!(code, Some(2), "{says}");
    assert!(
        says.contains("pass the same option to `walwise capture`"),
        "{says}"
    );
}

#[test]
#[ignore = "needs root: loop devices, MariaDB and PostgreSQL 15"]
fn stopped_server_settings_name_their_file_and_line() {
    let (my_disk, pg_disk) = (mount_ext4(&[], ""), mount_ext4(&[], ""));
    let maria = Mariadb::new_below(&my_disk.point, "[mysqld]\nsync_binlog = 1\n");
    let cluster = Cluster::new_below(&pg_disk.point, &pg_disk.point);
    cluster.append_to_file("own.conf", "fsync = off\n");
    let (my_file, pg_file) = (
        maria.temporary_directory().join("my.cnf"),
        cluster.data.join("own.conf"),
    );
    let capture = my_disk.point.join("own.host");
    let capture = capture.to_str().unwrap();
    for (option, file, data, name, value) in [
        (
            OPTIONS[0],
            &my_file,
            &maria.data,
            "mysql.sync_binlog",
            serde_json::json!(1),
        ),
        (
            OPTIONS[1],
            &pg_file,
            &cluster.data,
            "pg.fsync",
            serde_json::json!(false),
        ),
    ] {
        let named = [option, file.to_str().unwrap()];
        let data = data.to_str().unwrap();
        let keep = || {
            let _ = fs::remove_file(capture);
            let output = walwise()
                .args(["capture", data, "--output", capture])
                .args(named)
                .output_in_time();
            assert!(output.status.success(), "{}", stderr(&output));
        };
        keep();
        for host in [&[][..], &["--host", capture]] {
            let look = || check_json(&[&["--no-probe", data][..], &named, host].concat()).1;
            // A server of another test starts as root for a moment and may appear to use this
            // directory.
            let mut report = look();
            for _ in 0..100 {
                if !report["warnings"].to_string().contains("runs as root") {
                    break;
                }
                keep();
                report = look();
            }
            let rows = report["facts"].as_array().unwrap();
            let row = rows
                .iter()
                .find(|row| row["fact"] == name && row["reading"]["value"] == value);
            let row = row.unwrap_or_else(|| panic!("{name} {host:?}: {}", report["warnings"]));
            assert!(row["reading"]["source"]["line"].is_u64(), "{row}");
            let told = row["subject"].as_str().unwrap();
            assert!(known_fact_value(&report, told, name).is_some());
        }
        fs::remove_file(capture).unwrap();
    }
}
