use std::path::Path;

use super::*;
use crate::config_argument_error;

const FILE: &str = "/srv/conf/own.cnf";

fn host_with_stopped_server(lines: &[(&str, &str)]) -> FakeHost {
    let fake = FakeHost::default()
        .with_answer(Question::Servers, "")
        .with_answer(Question::UserName(27), "mysql")
        .with_answer(
            Question::RealPath("/usr/sbin/mariadbd".into()),
            "/usr/sbin/mariadbd",
        )
        .with_answer(
            Question::Run(Tool::Mariadbd, vec!["--version".to_owned()]),
            MARIADB,
        )
        .with_answer(
            Question::Stat("/srv/db/ibdata1".into()),
            stat_answer(0o100_660, 33, 5),
        );
    let fake = with_directory(with_directory(fake, "/srv/db", 3), "/srv/db/mysql", 4);
    let fake = with_option_file(fake, "/etc/my.cnf", &[("mysqld.sync_binlog", "9")]);
    with_option_file(
        with_option_file(fake, FILE, lines),
        "/srv/conf/more.cnf",
        &[("mysqld.innodb_flush_log_at_trx_commit", "2")],
    )
}

fn request_with_defaults_file(target: Option<&str>) -> Request {
    Request {
        target: target.map(Into::into),
        mysql_defaults: Some(FILE.into()),
        ..Request::default()
    }
}

#[test]
fn named_defaults_file_replaces_standard_files() {
    let fake = host_with_stopped_server(&[
        ("mysqld.datadir", "/srv/db"),
        ("include", "/srv/conf/more.cnf"),
        ("mysqld.innodb_flush_method", "fsync"),
    ]);
    for target in [None, Some("/srv/db")] {
        let facts = collect(&fake, &request_with_defaults_file(target));
        for (name, expected) in [
            ("mysql.data_directory", "/srv/db /srv/conf/own.cnf:1"),
            ("mysql.running", "no /proc"),
            (
                "mysql.innodb_flush_log_at_trx_commit",
                "2 /srv/conf/more.cnf:1",
            ),
            ("mysql.innodb_flush_method", "fsync /srv/conf/own.cnf:3"),
            ("mysql.sync_binlog", "0 default of MariaDB 10.11"),
        ] {
            assert_eq!(
                value_and_source(&facts, name),
                expected,
                "{name}: {}",
                displayed_notes_and_readings(&facts)
            );
        }
        assert_eq!(note_sentences(&facts), [] as [String; 0]);
    }
    let asked = fake.asked_questions();
    let as_whom = |question: &Question| match question {
        Question::AsUser(uid, inner)
            if inner.path().is_some_and(|path| path == Path::new(FILE)) =>
        {
            Some(*uid)
        }
        _ => None,
    };
    assert_eq!(
        asked.iter().filter_map(as_whom).next_back(),
        Some(27),
        "as the owner of the data"
    );
    let config = Question::Config(FILE.into(), ConfigDialect::Mysql);
    assert!(!asked.contains(&config), "never as who we are");
}

#[test]
fn file_with_other_datadir_does_not_apply_to_target() {
    let facts = collect(
        &host_with_stopped_server(&[("mysqld.sync_binlog", "1")]),
        &request_with_defaults_file(Some("/srv/db")),
    );
    assert_eq!(
        value_and_source(&facts, "mysql.sync_binlog"),
        "1 /srv/conf/own.cnf:1",
        "{}",
        displayed_notes_and_readings(&facts)
    );
    assert_eq!(
        value_and_source(&facts, "mysql.data_directory"),
        "/srv/db /srv/db"
    );

    let lines = [
        ("mysqld.datadir", "/srv/other"),
        ("mysqld.sync_binlog", "1"),
    ];
    let other = with_directory(
        with_directory(host_with_stopped_server(&lines), "/srv/other", 13),
        "/srv/other/mysql",
        14,
    );
    let other = other.with_answer(
        Question::Stat("/srv/other/ibdata1".into()),
        stat_answer(0o100_660, 15, 5),
    );
    let facts = collect(&other, &request_with_defaults_file(Some("/srv/db")));
    assert!(
        value_and_source(&facts, "mysql.sync_binlog").starts_with('?'),
        "{}",
        displayed_notes_and_readings(&facts)
    );
    assert_eq!(
        facts.value(&Subject::cluster("/srv/other"), &mysql::SYNC_BINLOG),
        Some(1)
    );
    let says = note_sentences(&facts).join("\n");
    assert!(
        says.contains("names /srv/other as the data directory, so it does not apply to /srv/db"),
        "{says}"
    );
    let facts = collect(
        &host_with_stopped_server(&[("mysqld.datadir", "/srv/none")]),
        &request_with_defaults_file(None),
    );
    assert!(
        note_sentences(&facts)[0].contains("--mysql-defaults /srv/conf/own.cnf is not used"),
        "{}",
        displayed_notes_and_readings(&facts)
    );
}

#[test]
fn named_file_is_unused_for_running_server() {
    let lines = [("mysqld.datadir", "/srv/db"), ("mysqld.sync_binlog", "1")];
    let runs = with_option_file(
        host_with_running_server("/usr/sbin/mariadbd", MARIADB),
        FILE,
        &lines,
    );
    let runs = with_directory(
        with_option_file(runs, "/etc/my.cnf", &[("mysqld.sync_binlog", "9")]),
        "/srv/db/mysql",
        4,
    );
    let facts = collect(&runs, &request_with_defaults_file(Some("/srv/db")));
    assert_eq!(
        value_and_source(&facts, "mysql.sync_binlog"),
        "9 /etc/my.cnf:1",
        "{}",
        displayed_notes_and_readings(&facts)
    );
    let says = note_sentences(&facts).join("\n");
    assert!(
        says.contains("not used: a server is running on the data directory"),
        "{says}"
    );

    for servers in ["10 1 27 mariadbd\n", "more 27 3\n", "11 1 - mysqld\n"] {
        let may = host_with_stopped_server(&lines)
            .with_answer(Question::Servers, servers)
            .with_answer(Question::CommandLine(10), "")
            .with_answer(Question::Environment(10), "")
            .with_symlink("/proc/10/cwd", "/srv/db")
            .with_error(Question::Tablespaces(10), HostErrorKind::Denied);
        let facts = collect(&may, &request_with_defaults_file(Some("/srv/db")));
        assert!(
            !value_and_source(&facts, "mysql.sync_binlog").ends_with("own.cnf:2"),
            "{servers} {}",
            displayed_notes_and_readings(&facts)
        );
        assert!(
            note_sentences(&facts)
                .iter()
                .any(|says| says.contains("not used: a server may be running")),
            "{servers}"
        );
    }
}

#[test]
fn unreadable_named_file_is_error_with_advice() {
    let config = Question::Config(FILE.into(), ConfigDialect::Mysql);
    for (kind, target, help) in [
        (
            HostErrorKind::Absent,
            None,
            "pass the configuration file with which the server is started",
        ),
        (
            HostErrorKind::Denied,
            None,
            "pass the data directory as TARGET",
        ),
        (
            HostErrorKind::Denied,
            Some("/srv/db"),
            "give the owner of the data directory read access",
        ),
        (HostErrorKind::NotCollected, None, "walwise capture"),
        (HostErrorKind::Failed, None, "readable configuration file"),
    ] {
        let fake = host_with_stopped_server(&[]).with_error(config.clone(), kind);
        let says = config_argument_error(&fake, &request_with_defaults_file(target)).unwrap();
        assert!(
            says.starts_with("cannot use /srv/conf/own.cnf for --mysql-defaults: refused; "),
            "{says}"
        );
        assert!(says.contains(help), "{says}");
    }
    assert_eq!(
        config_argument_error(
            &host_with_stopped_server(&[]),
            &request_with_defaults_file(None)
        ),
        None
    );
    assert_eq!(
        config_argument_error(&host_with_stopped_server(&[]), &Request::default()),
        None
    );
}
