use super::*;

const DIRECTORIES: [&str; 5] = [
    "/srv/log",
    "/srv/db/binlogs",
    "/srv/binlogs",
    "/srv/redo",
    "/srv/was",
];

fn facts_with_log_settings(version: &str, lines: &[(&str, &str)], says: &str) -> FactSet {
    let version = MARIADB.replace("10.11.19", version);
    let fake = with_server_reply(
        with_option_file(
            host_with_running_server("/usr/sbin/mariadbd", &version),
            "/etc/my.cnf",
            lines,
        ),
        says,
    );
    collect_without_target(
        &DIRECTORIES
            .iter()
            .fold(fake, |fake, path| with_directory(fake, path, 40)),
    )
}

fn binlog_directory_text(version: &str, lines: &[(&str, &str)]) -> String {
    value_and_source(
        &facts_with_log_settings(version, lines, ""),
        "mysql.binlog_directory",
    )
}

#[test]
fn binlog_directory_setting_counts_since_12_3_1() {
    let bare = ("mysqld.log_bin", "1");
    let place = ("mysqld.binlog_directory", "binlogs");
    assert_eq!(
        binlog_directory_text("12.3.1", &[bare, place]),
        "/srv/db/binlogs /etc/my.cnf:2"
    );
    assert_eq!(
        binlog_directory_text("13.0.1", &[("mysqld.log_bin", "x"), place]),
        "/srv/db/binlogs /etc/my.cnf:2"
    );
    assert_eq!(
        binlog_directory_text(
            "12.3.1",
            &[bare, ("mysqld.binlog_directory", "/srv/binlogs")]
        ),
        "/srv/binlogs /etc/my.cnf:2"
    );
    assert_eq!(
        binlog_directory_text("12.3.1", &[bare]),
        "/srv/db /etc/my.cnf:1"
    );
    assert_eq!(
        binlog_directory_text("12.3.1", &[place]),
        "? not available",
        "no binary log is written"
    );
    assert_eq!(
        binlog_directory_text("12.3.1", &[("mysqld.log_bin", "/srv/log/x")]),
        "/srv/log /etc/my.cnf:1"
    );
    assert_eq!(
        binlog_directory_text("12.3.1", &[("mysqld.log_bin", "/srv/log/x"), place]),
        "? malformed"
    );
    for before in ["12.3.0", "11.8.9"] {
        let loose = [
            ("mysqld.log_bin", "/srv/log/x"),
            ("mysqld.loose_binlog_directory", "binlogs"),
        ];
        assert_eq!(
            binlog_directory_text(before, &loose),
            "/srv/log /etc/my.cnf:1",
            "{before}"
        );
    }
    assert_eq!(
        binlog_directory_text("no version", &[bare, place]),
        "? not collected"
    );
    assert_eq!(
        binlog_directory_text("12.3.1", &[bare, ("mysqld.binlog_directory", "")]),
        "? ambiguous",
        "what it is, is not told"
    );
}

#[test]
fn reported_log_directories_win() {
    let lines = [
        ("mysqld.log_bin", "/srv/log/x"),
        ("mysqld.innodb_log_group_home_dir", "/srv/was"),
        ("mysqld.innodb_undo_tablespaces", "0"),
    ];
    let said = "log_bin\tON\nlog_bin_basename\t/srv/log/x\ninnodb_log_group_home_dir\t/srv/redo/\n";
    let facts = facts_with_log_settings("10.11.19", &lines, said);
    assert_eq!(
        value_and_source(&facts, "mysql.binlog_directory"),
        "/srv/log /etc/my.cnf:1"
    );
    assert_eq!(
        value_and_source(&facts, "mysql.redo_directory"),
        "/srv/redo the server at /run/mysqld/mysqld.sock"
    );
    let says = note_sentences(&facts).join("\n");
    assert!(
        says.contains(
            "innodb_log_group_home_dir is /srv/was in /etc/my.cnf:2 but /srv/redo/ in the running server"
        ),
        "{says}"
    );
    assert_eq!(note_sentences(&facts).len(), 1, "{says}");
    let facts = facts_with_log_settings(
        "12.3.1",
        &lines,
        "log_bin\tON\nbinlog_directory\t/srv/binlogs\n",
    );
    assert_eq!(
        value_and_source(&facts, "mysql.binlog_directory"),
        "/srv/binlogs the server at /run/mysqld/mysqld.sock"
    );
    let facts = facts_with_log_settings(
        "10.11.19",
        &[],
        "log_bin\tON\nlog_bin_basename\t/srv/log/x\n",
    );
    assert_eq!(
        value_and_source(&facts, "mysql.binlog_directory"),
        "/srv/log the server at /run/mysqld/mysqld.sock"
    );
    let facts = facts_with_log_settings("10.11.19", &lines, "log_bin\tOFF\n");
    assert_eq!(
        value_and_source(&facts, "mysql.binlog_directory"),
        "? not available"
    );
    // An unset redo directory is the data directory, which the server reports as `./`.
    let facts = facts_with_log_settings("10.11.19", &[], "innodb_log_group_home_dir\t./\n");
    assert_eq!(
        value_and_source(&facts, "mysql.redo_directory"),
        "/srv/db /proc/10/cwd"
    );
}
