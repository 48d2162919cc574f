//! Mistyped targets get no verdict, and most get a suggestion.

use std::fs;
use std::path::Path;

use crate::support::deadline::CommandInTime as _;
use crate::support::{stderr, stdout, walwise};

const THERE: [&str; 8] = [
    "srv/pg/data",
    "srv/pg/wal",
    "srv/postgresql/16/main",
    "var/lib/mysql",
    "var/lib/postgresql/15/main",
    "mnt/nvme0/pgdata",
    "mnt/nvme1/pgdata",
    "data/mariadb",
];

/// The typed target, and the directory that was meant.
const TYPED: [(&str, &str); 40] = [
    ("srv/pg/dta", "srv/pg/data"),
    ("srv/pg/daat", "srv/pg/data"),
    ("srv/pg/dat", "srv/pg/data"),
    ("srv/pg/Data", "srv/pg/data"),
    ("srv/pg/data1", "srv/pg/data"),
    ("srv/pgg/data", "srv/pg/data"),
    ("srv/gp/data", "srv/pg/data"),
    ("svr/pg/data", "srv/pg/data"),
    ("sr/pg/data", "srv/pg/data"),
    ("srv/pg/wall", "srv/pg/wal"),
    ("srv/pg/wla", "srv/pg/wal"),
    ("srv/pg/awl", "srv/pg/wal"),
    ("srv/postgres/16/main", "srv/postgresql/16/main"),
    ("srv/postgresql/61/main", "srv/postgresql/16/main"),
    ("srv/postgresql/16/mian", "srv/postgresql/16/main"),
    ("srv/postgersql/16/main", "srv/postgresql/16/main"),
    ("srv/postgresql/17/main", "srv/postgresql/16/main"),
    ("srv/postgresql/16/man", "srv/postgresql/16/main"),
    ("srv/postresql/16/main", "srv/postgresql/16/main"),
    ("var/lib/mysq", "var/lib/mysql"),
    ("var/lib/msyql", "var/lib/mysql"),
    ("var/lib/mysqld", "var/lib/mysql"),
    ("var/ilb/mysql", "var/lib/mysql"),
    ("vra/lib/mysql", "var/lib/mysql"),
    ("var/lib/postgresql/15/mai", "var/lib/postgresql/15/main"),
    ("var/lib/postgresql/51/main", "var/lib/postgresql/15/main"),
    ("var/lib/postgresq/15/main", "var/lib/postgresql/15/main"),
    ("var/lib/postgresql/15/maim", "var/lib/postgresql/15/main"),
    ("var/lib/potsgresql/15/main", "var/lib/postgresql/15/main"),
    ("var/lib/postgressql/15/main", "var/lib/postgresql/15/main"),
    ("mnt/nvme0/pgdat", "mnt/nvme0/pgdata"),
    ("mnt/nvme0/pgdtaa", "mnt/nvme0/pgdata"),
    ("mnt/nvme0/pg_data", "mnt/nvme0/pgdata"),
    ("mnt/nvme0/dgpata", "mnt/nvme0/pgdata"),
    ("mtn/nvme1/pgdata", "mnt/nvme1/pgdata"),
    ("mnt/nvme1/pgdata2", "mnt/nvme1/pgdata"),
    ("data/mariadv", "data/mariadb"),
    ("data/maria", "data/mariadb"),
    ("data/maraidb", "data/mariadb"),
    ("dat/mariadb", "data/mariadb"),
];

fn assert_refused(target: &Path) -> String {
    let output = walwise()
        .args(["check", "--no-probe", "--no-programs"])
        .arg(target)
        .output_in_time();
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}: {}",
        target.display(),
        stdout(&output)
    );
    assert_eq!(stdout(&output), "", "{}", target.display());
    stderr(&output)
}

#[test]
fn mistyped_targets_get_hints_and_no_verdict() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for there in THERE {
        fs::create_dir_all(root.join(there)).unwrap();
    }
    let right = TYPED.iter().filter(|(typed, meant)| {
        let says = assert_refused(&root.join(typed));
        assert!(
            says.contains("does not exist") && says.contains("add --new"),
            "{says}"
        );
        says.contains(&format!("did you mean {}?", root.join(meant).display()))
    });
    let right = right.count();
    assert!(right >= 36, "{right} of 40");
}

#[test]
fn impossible_targets_are_refused_and_new_ones_marked() {
    assert!(assert_refused(Path::new("/etc/passwd")).contains("is a file"));
    assert!(assert_refused(Path::new("/dev/null")).contains("neither a block device"));
    let place = tempfile::tempdir().unwrap();
    let to_be = place.path().join("pg/16");
    assert_refused(&to_be);
    let made = walwise()
        .args([
            "check",
            "--no-probe",
            "--no-programs",
            "--new",
            "-v",
            "--format",
            "json",
        ])
        .arg(&to_be)
        .output_in_time();
    let report: serde_json::Value = serde_json::from_str(&stdout(&made)).unwrap();
    assert_eq!(report["targets"][0]["kind"], "created", "{}", stderr(&made));
    assert!(!to_be.exists());
}
