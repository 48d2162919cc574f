//! The directories of a server's logs: from its files, from its own answer, and by its version.

use super::*;

const DIRECTORIES: [&str; 5] = [
    "/srv/log",
    "/srv/db/binlogs",
    "/srv/binlogs",
    "/srv/redo",
    "/srv/was",
];

/// A MariaDB of this version with these lines, which says this of itself.
fn of(version: &str, lines: &[(&str, &str)], says: &str) -> FactSet {
    let version = MARIADB.replace("10.11.19", version);
    let fake = saying(
        cnf(
            running("/usr/sbin/mariadbd", &version),
            "/etc/my.cnf",
            lines,
        ),
        says,
    );
    collect(
        &DIRECTORIES
            .iter()
            .fold(fake, |fake, path| directory(fake, path, 40)),
    )
}

fn binlog(version: &str, lines: &[(&str, &str)]) -> String {
    told(&of(version, lines, ""), "mysql.binlog_directory")
}

/// MariaDB documentation, binlog_directory, which came with 12.3.1.
#[test]
fn the_binary_log_lies_where_its_directory_is_set_in_versions_that_have_that() {
    let bare = ("mysqld.log_bin", "1");
    let place = ("mysqld.binlog_directory", "binlogs");
    assert_eq!(
        binlog("12.3.1", &[bare, place]),
        "/srv/db/binlogs /etc/my.cnf:2"
    );
    assert_eq!(
        binlog("13.0.1", &[("mysqld.log_bin", "x"), place]),
        "/srv/db/binlogs /etc/my.cnf:2"
    );
    assert_eq!(
        binlog(
            "12.3.1",
            &[bare, ("mysqld.binlog_directory", "/srv/binlogs")]
        ),
        "/srv/binlogs /etc/my.cnf:2"
    );
    assert_eq!(binlog("12.3.1", &[bare]), "/srv/db /etc/my.cnf:1");
    assert_eq!(
        binlog("12.3.1", &[place]),
        "? absent",
        "no binary log is written"
    );
    assert_eq!(
        binlog("12.3.1", &[("mysqld.log_bin", "/srv/log/x")]),
        "/srv/log /etc/my.cnf:1"
    );
    // The server refuses two directories.
    assert_eq!(
        binlog("12.3.1", &[("mysqld.log_bin", "/srv/log/x"), place]),
        "? malformed"
    );
    for before in ["12.3.0", "11.8.9"] {
        let loose = [
            ("mysqld.log_bin", "/srv/log/x"),
            ("mysqld.loose_binlog_directory", "binlogs"),
        ];
        assert_eq!(binlog(before, &loose), "/srv/log /etc/my.cnf:1", "{before}");
    }
    assert_eq!(binlog("no version", &[bare, place]), "? not collected");
    assert_eq!(
        binlog("12.3.1", &[bare, ("mysqld.binlog_directory", "")]),
        "? ambiguous",
        "what it is, is not told"
    );
}

#[test]
fn a_running_server_says_where_its_logs_are_and_a_line_that_says_so_too_is_named() {
    let lines = [
        ("mysqld.log_bin", "/srv/log/x"),
        ("mysqld.innodb_log_group_home_dir", "/srv/was"),
        ("mysqld.innodb_undo_tablespaces", "0"),
    ];
    let said = "log_bin\tON\nlog_bin_basename\t/srv/log/x\ninnodb_log_group_home_dir\t/srv/redo/\n";
    let facts = of("10.11.19", &lines, said);
    assert_eq!(
        told(&facts, "mysql.binlog_directory"),
        "/srv/log /etc/my.cnf:1"
    );
    assert_eq!(
        told(&facts, "mysql.redo_directory"),
        "/srv/redo the server at /run/mysqld/mysqld.sock"
    );
    let says = sentences(&facts).join("\n");
    assert!(
        says.contains(
            "innodb_log_group_home_dir is /srv/was in /etc/my.cnf:2 and /srv/redo/ in the running server"
        ),
        "{says}"
    );
    assert_eq!(sentences(&facts).len(), 1, "{says}");
    let facts = of(
        "12.3.1",
        &lines,
        "log_bin\tON\nbinlog_directory\t/srv/binlogs\n",
    );
    assert_eq!(
        told(&facts, "mysql.binlog_directory"),
        "/srv/binlogs the server at /run/mysqld/mysqld.sock"
    );
    let facts = of(
        "10.11.19",
        &[],
        "log_bin\tON\nlog_bin_basename\t/srv/log/x\n",
    );
    assert_eq!(
        told(&facts, "mysql.binlog_directory"),
        "/srv/log the server at /run/mysqld/mysqld.sock"
    );
    let facts = of("10.11.19", &lines, "log_bin\tOFF\n");
    assert_eq!(told(&facts, "mysql.binlog_directory"), "? absent");
    // What nothing sets is the data directory, as the server says too.
    let facts = of("10.11.19", &[], "innodb_log_group_home_dir\t./\n");
    assert_eq!(told(&facts, "mysql.redo_directory"), "/srv/db /proc/10/cwd");
}
