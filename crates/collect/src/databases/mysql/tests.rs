mod config_argument;
mod log_directories;

use proptest::prelude::*;

use super::*;
use crate::facts::catalog::{cluster, mysql};
use crate::facts::{Reading, Scope, ServerArea, ServerKind, Subject, UnknownReason};
use crate::host::{
    ConfigDialect, ConfigDirective, HostErrorKind, HostTimestamp, Question, Stat, Tool,
};
use crate::testing::{FakeHost, ZERO_STAT, displayed_notes_and_readings, note_sentences};

const MARIADB: &str =
    "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n";
const MYSQL: &str =
    "/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)\n";

fn stat_answer(mode: u64, inode: u64, changed: u64) -> Vec<u8> {
    stat_answer_with_owner(27, mode, inode, changed)
}

fn stat_answer_with_owner(uid: u64, mode: u64, inode: u64, changed: u64) -> Vec<u8> {
    Stat {
        mode,
        uid,
        gid: 27,
        major: 8,
        minor: 1,
        inode,
        size: 1,
        ctime: Some(HostTimestamp::from_unix_seconds(changed)),
        ..ZERO_STAT
    }
    .encode()
}

fn with_directory(fake: FakeHost, path: &str, inode: u64) -> FakeHost {
    fake.with_answer(Question::RealPath(path.into()), path)
        .with_answer(
            Question::Stat(path.into()),
            stat_answer(0o040_755, inode, 5),
        )
}

fn with_option_file(fake: FakeHost, path: &str, lines: &[(&str, &str)]) -> FakeHost {
    let setting = |(line, (key, value)): (u32, &(&str, &str))| {
        ConfigDirective::new(line, *key, *value).encode()
    };
    let answer: Vec<u8> = (1..).zip(lines).flat_map(setting).collect();
    fake.with_answer(Question::Config(path.into(), ConfigDialect::Mysql), answer)
        .with_answer(Question::Stat(path.into()), stat_answer(0o100_644, 9, 50))
}

const SOCKET: &str = "/run/mysqld/mysqld.sock";

fn with_server_reply(fake: FakeHost, lines: &str) -> FakeHost {
    fake.with_answer(Question::Identity, "euid=0\n")
        .with_answer(
            Question::Stat(SOCKET.into()),
            stat_answer(0o140_777, 12, 1200),
        )
        .with_answer(
            Question::MysqlSettings(SOCKET.into()),
            format!("datadir\t/srv/db/\n{lines}"),
        )
}

fn host_with_running_server(program: &str, version: &str) -> FakeHost {
    let tool = if program.ends_with("mariadbd") {
        Tool::Mariadbd
    } else {
        Tool::Mysqld
    };
    let fake = FakeHost::default()
        .with_answer(
            Question::Servers,
            format!("10 1 27 {}\n", program.rsplit('/').next().unwrap()),
        )
        .with_answer(Question::CommandLine(10), "")
        .with_answer(Question::Environment(10), "")
        .with_answer(Question::UserName(27), "mysql")
        .with_symlink("/proc/10/cwd", "/srv/db")
        .with_symlink("/proc/10/exe", program)
        .with_answer(Question::RealPath(program.into()), program)
        .with_answer(
            Question::Stat("/srv/db/ibdata1".into()),
            stat_answer(0o100_660, 33, 5),
        )
        .with_answer(Question::Tablespaces(10), "8 1 33\n")
        .with_answer(
            Question::Stat("/proc/10/exe".into()),
            stat_answer(0o100_755, 77, 5),
        )
        .with_answer(
            Question::Stat(program.into()),
            stat_answer(0o100_755, 77, 5),
        )
        .with_answer(Question::Run(tool, vec!["--version".to_owned()]), version)
        .with_answer(Question::ProcessStart(10), "1100500000000\n")
        .with_file(
            "/proc/10/stat",
            "10 (db) S 1 1 1 0 -1 1 1 0 0 0 5 3 0 0 20 0 9 0 10000 1 2\n",
        );
    let fake = ["/etc", "/etc/mysql"]
        .iter()
        .fold(fake, |fake, path| with_directory(fake, path, 4));
    with_server_reply(with_directory(fake, "/srv/db", 3), "")
}

fn collect_without_target(fake: &FakeHost) -> FactSet {
    collect(fake, &Request::default())
}

fn db_cluster() -> Subject {
    Subject::cluster("/srv/db")
}

fn value_and_source(facts: &FactSet, name: &str) -> String {
    match facts.reading_by_name(&db_cluster(), name) {
        Reading::Known { value, source } => format!("{value} {source}"),
        Reading::Unknown { why, .. } => format!("? {why}"),
    }
}

#[test]
fn settings_and_sources_of_running_server_with_includes() {
    let fake = host_with_running_server("/usr/sbin/mariadbd", MARIADB);
    let fake = with_option_file(
        fake,
        "/etc/mysql/my.cnf",
        &[
            ("mysqld.datadir", "/srv/db"),
            ("mysqld.sync_binlog", "1"),
            ("includedir", "/etc/mysql/conf.d"),
        ],
    );
    let fake = with_option_file(
        fake,
        "/etc/mysql/conf.d/b.cnf",
        &[
            ("mariadb-10.11.innodb_flush_log_at_trx_commit", "2"),
            ("mariadb-10.6.innodb_flush_method", "nosync"),
            ("mariadb.loose_skip_innodb_doublewrite", "1"),
            ("mysqld_safe.sync_binlog", "7"),
        ],
    );
    let fake = with_option_file(
        fake,
        "/etc/mysql/conf.d/a.cnf",
        &[
            ("mariadbd.innodb_flush_log_at_trx_commit", "0"),
            ("server.log_bin", "/srv/log/bin"),
            ("server.innodb_log_group_home_dir", "../redo"),
        ],
    )
    .with_answer(
        Question::List("/etc/mysql/conf.d".into()),
        "a.cnf\0b.cnf\0c.cnf.bak\0",
    )
    .with_answer(Question::RealPath("/srv/db/../redo".into()), "/srv/redo");
    let fake = with_directory(with_directory(fake, "/etc/mysql/conf.d", 6), "/srv/log", 7);
    let facts = collect_without_target(&fake);

    assert_eq!(
        facts.value(&db_cluster(), &cluster::KIND),
        Some(ServerKind::Mariadb),
        "{}",
        displayed_notes_and_readings(&facts)
    );
    assert_eq!(
        facts
            .value(&db_cluster(), &mysql::VERSION)
            .unwrap()
            .numeric_part(),
        "10.11.19"
    );
    for (name, expected) in [
        ("mysql.data_directory", "/srv/db /proc/10/cwd"),
        (
            "mysql.redo_directory",
            "/srv/redo /etc/mysql/conf.d/a.cnf:3",
        ),
        (
            "mysql.binlog_directory",
            "/srv/log /etc/mysql/conf.d/a.cnf:2",
        ),
        (
            "mysql.innodb_flush_log_at_trx_commit",
            "2 /etc/mysql/conf.d/b.cnf:1",
        ),
        (
            "mysql.innodb_flush_method",
            "O_DIRECT default of MariaDB 10.11",
        ),
        ("mysql.innodb_doublewrite", "off /etc/mysql/conf.d/b.cnf:3"),
        ("mysql.doublewrite_directory", "? not available"),
        ("mysql.undo_directory", "? not available"),
        ("mysql.sync_binlog", "1 /etc/mysql/my.cnf:2"),
        ("mysql.log_bin", "yes /etc/mysql/conf.d/a.cnf:2"),
        ("mysql.user", "mysql stat /srv/db"),
        ("mysql.fsync_disabled_by", "none /proc/10/environ"),
    ] {
        assert_eq!(value_and_source(&facts, name), expected, "{name}");
    }
    assert!(
        facts.is_of_other_area(&db_cluster(), ServerArea::Pg)
            && !facts.is_of_other_area(&db_cluster(), ServerArea::Mysql)
    );
}

#[test]
fn last_setting_wins_and_persisted_settings_override() {
    let fake = host_with_running_server("/usr/sbin/mysqld", MYSQL).with_answer(
        Question::CommandLine(10),
        "--defaults_file=/own.cnf\n--sync_binlog=5\n--disable_log_bin=1\n",
    );
    let fake = with_option_file(
        fake,
        "/etc/my.cnf",
        &[("mysqld.innodb_flush_method", "nosync")],
    );
    let fake = with_option_file(
        fake,
        "/own.cnf",
        &[
            ("mysqld.sync_binlog", "9"),
            ("mysqld.log_bin", "/srv/x"),
            ("mysqld-8.0.innodb_io_capacity", "4k"),
        ],
    );
    let persisted = ConfigDirective::new(1, "persisted.sync_binlog", "100").encode();
    let auto = "/srv/db/mysqld-auto.cnf";
    let fake = fake
        .with_answer(
            Question::Config(auto.into(), ConfigDialect::MysqlPersisted),
            persisted,
        )
        .with_answer(Question::Stat(auto.into()), stat_answer(0o100_640, 8, 50));
    let facts = collect_without_target(&fake);
    for (name, expected) in [
        ("cluster.kind", "mysql `mysqld --version`"),
        ("mysql.sync_binlog", "100 /srv/db/mysqld-auto.cnf:1"),
        ("mysql.log_bin", "no /proc/10/cmdline"),
        ("mysql.innodb_io_capacity", "4096 /own.cnf:3"),
        ("mysql.innodb_flush_method", "fsync default of MySQL 8.0"),
        ("mysql.undo_directory", "/srv/db /proc/10/cwd"),
    ] {
        assert_eq!(
            value_and_source(&facts, name),
            expected,
            "{name}: {}",
            displayed_notes_and_readings(&facts)
        );
    }
}

/// `persisted_globals_load` decides whether the server reads mysqld-auto.cnf (MySQL 8.0 manual).
#[test]
fn persisted_settings_need_persisted_globals_load() {
    let auto = "/srv/db/mysqld-auto.cnf";
    let base = |lines: &[(&str, &str)]| {
        let persisted = ConfigDirective::new(1, "persisted.sync_binlog", "100").encode();
        with_option_file(
            host_with_running_server("/usr/sbin/mysqld", MYSQL),
            "/etc/my.cnf",
            lines,
        )
        .with_answer(
            Question::Config(auto.into(), ConfigDialect::MysqlPersisted),
            persisted,
        )
        .with_answer(Question::Stat(auto.into()), stat_answer(0o100_640, 8, 50))
    };
    let sync =
        |fake: FakeHost| value_and_source(&collect_without_target(&fake), "mysql.sync_binlog");
    assert_eq!(
        sync(base(&[("mysqld.sync_binlog", "5")])),
        "100 /srv/db/mysqld-auto.cnf:1"
    );
    for off in ["OFF", "0", "false"] {
        let lines = [
            ("mysqld.sync_binlog", "5"),
            ("mysqld.persisted_globals_load", off),
        ];
        assert_eq!(sync(base(&lines)), "5 /etc/my.cnf:1", "{off}");
    }
    let skipped = base(&[
        ("mysqld.sync_binlog", "5"),
        ("mysqld.skip_persisted_globals_load", "1"),
    ]);
    assert_eq!(sync(skipped), "5 /etc/my.cnf:1");
    let said = |says: &str| {
        sync(with_server_reply(
            base(&[("mysqld.sync_binlog", "5")]),
            says,
        ))
    };
    assert_eq!(
        said("sync_binlog\t100\n"),
        "100 /srv/db/mysqld-auto.cnf:1",
        "the server agrees"
    );
    assert_eq!(
        said("sync_binlog\t7\n"),
        "7 the server at /run/mysqld/mysqld.sock"
    );
}

#[test]
fn file_changed_after_server_start_is_ambiguous() {
    let base = || {
        with_option_file(
            host_with_running_server("/usr/sbin/mariadbd", MARIADB),
            "/etc/my.cnf",
            &[("mysqld.sync_binlog", "1")],
        )
    };
    assert_eq!(
        value_and_source(&collect_without_target(&base()), "mysql.sync_binlog"),
        "1 /etc/my.cnf:1"
    );
    let later = base().with_answer(
        Question::Stat("/etc/my.cnf".into()),
        stat_answer(0o100_644, 9, 1100),
    );
    let facts = collect_without_target(&later);
    assert_eq!(value_and_source(&facts, "mysql.sync_binlog"), "? ambiguous");
    assert_eq!(
        value_and_source(&facts, "mysql.innodb_doublewrite"),
        "? ambiguous",
        "what nothing sets is uncertain too"
    );
    assert_eq!(
        value_and_source(&facts, "mysql.data_directory"),
        "/srv/db /proc/10/cwd",
        "where it works stays certain"
    );
    let exact = |nanos| {
        let changed = format!(
            "mode=33188 uid=27 gid=27 major=8 minor=1 node_major=0 node_minor=0 inode=9 size=1 changed=1100.{nanos}"
        );
        value_and_source(
            &collect_without_target(
                &base().with_answer(Question::Stat("/etc/my.cnf".into()), changed),
            ),
            "mysql.sync_binlog",
        )
    };
    assert_eq!(exact("300000000"), "1 /etc/my.cnf:1");
    assert_eq!(
        exact("495000000"),
        "? ambiguous",
        "the clock of files can be behind"
    );
    let unknown_start = base().with_answer(Question::ProcessStart(10), "garbage");
    assert_eq!(
        value_and_source(&collect_without_target(&unknown_start), "mysql.sync_binlog"),
        "? ambiguous"
    );
}

#[test]
fn unreported_buffering_is_ambiguous_if_flush_method_is_set() {
    const ELEVEN: &str = "mariadbd  Ver 11.4.2-MariaDB for debian-linux-gnu on x86_64";
    let name = "mysql.innodb_data_file_buffering";
    let set = [("mysqld.innodb_flush_method", "fsync")];
    let told_of = |version: &str, lines: &[(&str, &str)], says: &str| {
        let fake = with_option_file(
            host_with_running_server("/usr/sbin/mariadbd", version),
            "/etc/my.cnf",
            lines,
        );
        value_and_source(
            &collect_without_target(&with_server_reply(fake, says)),
            name,
        )
    };
    let said = "innodb_data_file_buffering\t";
    assert_eq!(
        told_of(ELEVEN, &[], &format!("{said}OFF\n")),
        "no default of MariaDB 11.4"
    );
    assert_eq!(
        told_of(ELEVEN, &set, &format!("{said}ON\n")),
        "yes the server at /run/mysqld/mysqld.sock",
        "whoever reads the files alone would think otherwise"
    );
    assert_eq!(
        told_of(ELEVEN, &set, "innodb_io_capacity\t200\n"),
        "? ambiguous"
    );
    assert_eq!(
        told_of(MARIADB, &set, ""),
        "? not available",
        "10.11 has none"
    );
}

#[test]
fn server_values_win_and_matching_file_line_is_source() {
    let lines = [
        ("mysqld.sync_binlog", "1"),
        ("mysqld.innodb_flush_log_at_trx_commit", "1"),
        ("mysqld.log_bin", "x"),
    ];
    let base = || {
        with_option_file(
            host_with_running_server("/usr/sbin/mariadbd", MARIADB),
            "/etc/my.cnf",
            &lines,
        )
    };
    let facts = collect_without_target(&with_server_reply(
        base(),
        "sync_binlog\t1\ninnodb_flush_log_at_trx_commit\t2\nlog_bin\tON\ninnodb_flush_method\tO_DIRECT\n\
         innodb_io_capacity\t400\ninnodb_log_file_size\t10485760\nnoise\n",
    ));
    for (name, expected) in [
        ("mysql.sync_binlog", "1 /etc/my.cnf:1"),
        (
            "mysql.innodb_flush_log_at_trx_commit",
            "2 the server at /run/mysqld/mysqld.sock",
        ),
        ("mysql.log_bin", "yes /etc/my.cnf:3"),
        (
            "mysql.innodb_flush_method",
            "O_DIRECT default of MariaDB 10.11",
        ),
        (
            "mysql.innodb_io_capacity",
            "400 the server at /run/mysqld/mysqld.sock",
        ),
        (
            "mysql.innodb_log_file_size",
            "10485760 the server at /run/mysqld/mysqld.sock",
        ),
    ] {
        assert_eq!(value_and_source(&facts, name), expected, "{name}");
    }
    let warned = |words: &str| {
        note_sentences(&facts)
            .iter()
            .filter(|warning| warning.contains(words))
            .count()
    };
    assert_eq!(
        warned("innodb_flush_log_at_trx_commit is 1 in /etc/my.cnf:2 but 2 in the running server"),
        1
    );
    assert_eq!(
        note_sentences(&facts).len(),
        1,
        "{:?}",
        note_sentences(&facts)
    );
}

#[test]
fn dynamic_settings_without_reply_are_unknown() {
    let base = || {
        with_option_file(
            host_with_running_server("/usr/sbin/mariadbd", MARIADB),
            "/etc/my.cnf",
            &[("mysqld.sync_binlog", "1")],
        )
    };
    let asked = |fake: &FakeHost| {
        fake.asked_questions()
            .iter()
            .any(|question| matches!(question.strip_as_user(), Question::MysqlSettings(_)))
    };
    let old = Question::Run(Tool::Mariadbd, vec!["--version".to_owned()]);
    for (fake, expected, asks) in [
        (base().with_answer(Question::Identity, "euid=1000\n"), "? not collected", false),
        // walwise does not query MariaDB 10.3, because it would log the refused connection.
        (base().with_answer(old, MARIADB.replace("10.11.19", "10.3.39")), "? not collected", false),
        (base().with_error(Question::Stat(SOCKET.into()), HostErrorKind::Absent), "? not available", false),
        (
            base().with_answer(
                Question::Stat(SOCKET.into()),
                b"mode=49663 uid=1000 gid=27 major=8 minor=1 node_major=0 node_minor=0 inode=12 size=0",
            ),
            "? not available",
            false,
        ),
        (base().with_error(Question::MysqlSettings(SOCKET.into()), HostErrorKind::Denied), "? denied", true),
        (
            base().with_answer(Question::MysqlSettings(SOCKET.into()), "datadir\t/srv/other/\nsync_binlog\t1\n"),
            "? ambiguous",
            true,
        ),
        (base().with_answer(Question::MysqlSettings(SOCKET.into()), ""), "? ambiguous", true),
        (base().with_answer(Question::Identity, "euid=27\n"), "1 /etc/my.cnf:1", true),
    ] {
        let facts = collect_without_target(&fake);
        assert_eq!(value_and_source(&facts, "mysql.sync_binlog"), expected, "{}", displayed_notes_and_readings(&facts));
        assert_eq!(asked(&fake), asks, "{expected}");
        assert!(facts.get(&db_cluster(), &mysql::FLUSH_METHOD).is_known(), "no server takes that while it runs");
        if let Reading::Unknown { detail, remedy, .. } = facts.get(&db_cluster(), &mysql::SYNC_BINLOG) {
            assert!(detail.contains("was 1") && detail.contains("SET GLOBAL"), "{detail}");
            assert!(remedy.is_some());
        }
    }
}

#[test]
fn unreadable_or_ambiguous_options_are_unknown() {
    let base = || host_with_running_server("/usr/sbin/mariadbd", MARIADB);
    let sync =
        |fake: FakeHost| value_and_source(&collect_without_target(&fake), "mysql.sync_binlog");
    let one = &[("mysqld.sync_binlog", "1")][..];
    assert_eq!(sync(base()), "0 default of MariaDB 10.11");
    assert_eq!(
        sync(with_option_file(
            base(),
            "/etc/my.cnf",
            &[("mysqld.sync_b", "")]
        )),
        "? ambiguous",
        "an abbreviation"
    );
    assert_eq!(
        sync(with_option_file(
            base(),
            "/etc/my.cnf",
            &[("mysqld.sync_binlog", "")]
        )),
        "? ambiguous"
    );
    assert_eq!(
        sync(with_option_file(
            base(),
            "/etc/my.cnf",
            &[("include", "more.cnf"), one[0]]
        )),
        "1 /etc/my.cnf:2"
    );
    assert_eq!(
        sync(with_option_file(
            base(),
            "/etc/my.cnf",
            &[one[0], ("include", "more.cnf")]
        )),
        "? ambiguous"
    );
    assert_eq!(
        sync(with_option_file(
            base(),
            "/etc/my.cnf",
            &[("includedir", "/gone")]
        )),
        "? malformed"
    );
    assert_eq!(
        sync(base().with_error(
            Question::Config("/etc/my.cnf".into(), ConfigDialect::Mysql),
            HostErrorKind::Denied
        )),
        "? denied"
    );
    assert_eq!(
        sync(base().with_error(Question::Environment(10), HostErrorKind::Denied)),
        "? denied"
    );
    let ours = base().with_answer(Question::CommandLine(10), "--sync_binlog=1\n");
    assert_eq!(
        sync(ours.with_error(Question::Environment(10), HostErrorKind::Denied)),
        "1 /proc/10/cmdline"
    );
    let open = with_option_file(base(), "/etc/my.cnf", one);
    let open = open.with_answer(
        Question::Stat("/etc/my.cnf".into()),
        stat_answer(0o100_666, 9, 50),
    );
    let facts = collect_without_target(&open);
    assert_eq!(
        value_and_source(&facts, "mysql.sync_binlog"),
        "0 default of MariaDB 10.11"
    );
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|warning| warning.contains("ignores")),
        "{:?}",
        note_sentences(&facts)
    );
    let other = base().with_symlink("/proc/10/exe", "/opt/mariadbd");
    let facts = collect_without_target(&with_option_file(
        other,
        "/etc/my.cnf",
        &[("mariadb-10.11.sync_binlog", "1")],
    ));
    assert_eq!(value_and_source(&facts, "mysql.sync_binlog"), "? ambiguous");
    assert_eq!(
        value_and_source(&facts, "mysql.innodb_flush_method"),
        "? not collected"
    );
    assert_eq!(
        value_and_source(&facts, "cluster.kind"),
        "mariadb /proc/10/exe"
    );
    // The process in a container runs another program under the same path, with another device and
    // inode.
    let other = base().with_answer(
        Question::Stat("/proc/10/exe".into()),
        stat_answer(0o100_755, 78, 5),
    );
    assert_eq!(
        value_and_source(&collect_without_target(&other), "mysql.version"),
        "? ambiguous"
    );
}

#[test]
fn server_without_the_tablespace_open_is_not_collected() {
    let fake = host_with_running_server("/usr/sbin/mariadbd", MARIADB)
        .with_answer(Question::Tablespaces(10), "8 1 4711\n");
    let facts = collect_without_target(&fake);
    assert_eq!(facts.subjects_of_scope(Scope::Cluster).count(), 0);
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|warning| warning.contains("another namespace")),
        "{:?}",
        note_sentences(&facts)
    );
}

#[test]
fn stopped_server_is_found_in_default_or_requested_directory() {
    let installed = |fake: FakeHost| {
        let fake = fake
            .with_answer(Question::Servers, "")
            .with_answer(
                Question::RealPath("/usr/sbin/mariadbd".into()),
                "/usr/sbin/mariadbd",
            )
            .with_answer(
                Question::Run(Tool::Mariadbd, vec!["--version".to_owned()]),
                MARIADB,
            );
        let fake = with_directory(
            with_directory(fake, "/var/lib/mysql", 3),
            "/var/lib/mysql/mysql",
            4,
        );
        fake.with_answer(
            Question::Stat("/var/lib/mysql/ibdata1".into()),
            stat_answer(0o100_644, 9, 5),
        )
    };
    let facts = collect_without_target(&with_option_file(
        installed(FakeHost::default()),
        "/etc/my.cnf",
        &[("mysqld.sync_binlog", "1")],
    ));
    let subject = Subject::cluster("/var/lib/mysql");
    assert_eq!(facts.value(&subject, &mysql::RUNNING), Some(false));
    assert_eq!(
        facts.value(&subject, &mysql::SYNC_BINLOG),
        Some(1),
        "{}",
        displayed_notes_and_readings(&facts)
    );

    let fake = with_directory(
        with_directory(installed(FakeHost::default()), "/srv/db", 5),
        "/srv/db/mysql",
        6,
    );
    let fake = fake.with_answer(
        Question::Stat("/srv/db/ibdata1".into()),
        stat_answer(0o100_644, 9, 5),
    );
    let request = Request {
        target: Some("/srv/db".into()),
        ..Request::default()
    };
    let facts = collect(&fake, &request);
    assert_eq!(
        value_and_source(&facts, "mysql.data_directory"),
        "/srv/db /srv/db"
    );
    assert_eq!(
        value_and_source(&facts, "mysql.sync_binlog"),
        "? not collected",
        "this host's files are about another one"
    );
}

#[test]
fn container_server_uses_its_own_files_and_host_path() {
    let fake = host_with_running_server("/usr/sbin/mariadbd", MARIADB)
        .with_symlink("/proc/self/ns/mnt", "mnt:[1]")
        .with_symlink("/proc/10/ns/mnt", "mnt:[2]")
        .with_file(
            "/proc/self/mountinfo",
            "2 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n",
        )
        .with_file(
            "/proc/10/mountinfo",
            "9 1 0:40 / / rw - overlay overlay rw\n10 9 8:1 /vol /srv/db rw - ext4 /dev/sda1 rw\n",
        )
        .with_answer(
            Question::Stat("/proc/10/root/srv/db".into()),
            stat_answer(0o040_755, 3, 5),
        )
        .with_answer(
            Question::Stat("/proc/10/root/srv/db/ibdata1".into()),
            stat_answer(0o100_660, 33, 5),
        )
        .with_answer(
            Question::Stat("/proc/10/root/etc".into()),
            stat_answer(0o040_755, 8, 5),
        )
        .with_answer(
            Question::Stat(format!("/proc/10/root{SOCKET}").into()),
            stat_answer(0o140_777, 12, 1200),
        )
        .with_answer(
            Question::MysqlSettings(format!("/proc/10/root{SOCKET}").into()),
            "datadir\t/srv/db/\n",
        )
        .with_answer(
            Question::Stat("/srv/db".into()),
            stat_answer(0o040_755, 99, 5),
        )
        .with_answer(
            Question::Stat("/mnt/vol".into()),
            stat_answer(0o040_755, 3, 5),
        );
    let fake = with_option_file(fake, "/etc/my.cnf", &[("mysqld.sync_binlog", "7")]);
    let fake = with_option_file(
        fake,
        "/proc/10/root/etc/my.cnf",
        &[("mysqld.sync_binlog", "1")],
    );
    let facts = collect_without_target(&fake);
    let subject = Subject::cluster("/mnt/vol");
    assert_eq!(
        facts.value(&subject, &mysql::DATA).as_deref(),
        Some("/mnt/vol"),
        "{}",
        displayed_notes_and_readings(&facts)
    );
    assert_eq!(
        facts.value(&subject, &mysql::SYNC_BINLOG),
        Some(1),
        "its own files, not ours"
    );
}

#[test]
fn process_of_other_user_is_ignored() {
    let conf =
        |fake: FakeHost| with_option_file(fake, "/etc/my.cnf", &[("mysqld.sync_binlog", "7")]);
    let fake = conf(host_with_running_server("/usr/sbin/mariadbd", MARIADB))
        .with_answer(Question::Servers, "9 1 42 mariadbd\n10 1 27 mariadbd\n")
        .with_answer(Question::CommandLine(9), "--sync_binlog=1\n")
        .with_answer(Question::Environment(9), "")
        .with_symlink("/proc/9/cwd", "/srv/db")
        .with_answer(Question::Tablespaces(9), "8 1 33\n");
    let facts = collect_without_target(&fake);
    assert_eq!(value_and_source(&facts, "mysql.running"), "yes /proc/10");
    assert!(
        value_and_source(&facts, "mysql.sync_binlog").starts_with('7')
            || value_and_source(&facts, "mysql.sync_binlog").starts_with('?')
    );
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|says| says.contains("process 9 of user 42")),
        "{:?}",
        note_sentences(&facts)
    );
}

#[test]
fn directory_owner_is_checked_on_host_mounts() {
    let seen = |owner: u64| {
        let fake = host_with_running_server("/usr/sbin/mariadbd", MARIADB)
            .with_symlink("/proc/self/ns/mnt", "mnt:[1]")
            .with_symlink("/proc/10/ns/mnt", "mnt:[2]")
            .with_answer(
                Question::Stat("/proc/10/root/srv/db".into()),
                stat_answer(0o040_755, 3, 5),
            )
            .with_answer(
                Question::Stat("/proc/10/root/srv/db/ibdata1".into()),
                stat_answer(0o100_660, 33, 5),
            )
            .with_answer(
                Question::Stat("/srv/db".into()),
                stat_answer_with_owner(owner, 0o040_755, 3, 5),
            );
        value_and_source(&collect_without_target(&fake), "mysql.running")
    };
    assert_eq!(seen(27), "yes /proc/10");
    assert_ne!(seen(26), "yes /proc/10");
}

#[test]
fn running_is_unknown_with_unproven_processes() {
    let installed = |servers: &str| {
        let fake = with_directory(
            with_directory(FakeHost::default(), "/var/lib/mysql", 3),
            "/var/lib/mysql/mysql",
            4,
        );
        let fake = fake
            .with_answer(Question::Servers, servers)
            .with_answer(Question::CommandLine(10), "")
            .with_answer(Question::Environment(10), "")
            .with_symlink("/proc/10/cwd", "/var/lib/mysql")
            .with_error(Question::Tablespaces(10), HostErrorKind::Denied)
            .with_answer(
                Question::RealPath("/usr/sbin/mariadbd".into()),
                "/usr/sbin/mariadbd",
            )
            .with_answer(
                Question::Run(Tool::Mariadbd, vec!["--version".to_owned()]),
                MARIADB,
            )
            .with_answer(
                Question::Stat("/var/lib/mysql/ibdata1".into()),
                stat_answer(0o100_644, 9, 5),
            );
        let facts = collect_without_target(&fake);
        facts.value(&Subject::cluster("/var/lib/mysql"), &mysql::RUNNING)
    };
    assert_eq!(installed(""), Some(false));
    for servers in [
        "10 1 27 mariadbd\n",
        "10 1 0 mysqld\n",
        "10 1 - mysqld\n",
        "more 27 5\n",
    ] {
        assert_eq!(installed(servers), None, "{servers}");
    }
    assert_eq!(
        installed("more 4242 5\n"),
        Some(false),
        "a stranger's processes serve no directory of another user"
    );
}

proptest! {
    #[test]
    fn include_graphs_terminate(web in prop::collection::vec((0usize..6, 0usize..6, 0usize..3), 0..40)) {
        let mut fake = host_with_running_server("/usr/sbin/mariadbd", MARIADB).with_symlink("/etc/my.cnf", "x");
        for from in 0..6 {
            let path = if from == 0 { "/etc/my.cnf".to_owned() } else { format!("/web/{from}.cnf") };
            let to = |to: usize| if to == 0 { "/etc/my.cnf".to_owned() } else { format!("/web/{to}.cnf") };
            let lines: Vec<(&str, String)> = web.iter().filter(|(a, ..)| *a == from).map(|(_, b, kind)| match kind {
                0 => ("include", to(*b)),
                1 => ("includedir", "/web".to_owned()),
                _ => ("mysqld.sync_binlog", b.to_string()),
            }).collect();
            let lines: Vec<(&str, &str)> = lines.iter().map(|(key, value)| (*key, value.as_str())).collect();
            fake = with_option_file(fake, &path, &lines);
        }
        let fake = fake.with_answer(Question::List("/web".into()), "1.cnf\x002.cnf\x003.cnf\x00");
        collect_without_target(&fake);
        prop_assert!(fake.asked_questions().len() <= 256 * 10 + 1000, "{}", fake.asked_questions().len());
    }

    #[test]
    fn arbitrary_answers_never_panic(line: Vec<u8>, environment: Vec<u8>, file: Vec<u8>, version: Vec<u8>, stat: Vec<u8>, said: Vec<u8>) {
        let fake = host_with_running_server("/usr/sbin/mariadbd", MARIADB)
            .with_answer(Question::CommandLine(10), line)
            .with_answer(Question::Environment(10), environment)
            .with_answer(Question::MysqlSettings(SOCKET.into()), [b"datadir\t/srv/db\nsync_binlog\t", said.as_slice()].concat())
            .with_answer(Question::Config("/etc/my.cnf".into(), ConfigDialect::Mysql), &file)
            .with_answer(Question::Config("/srv/db/mysqld-auto.cnf".into(), ConfigDialect::MysqlPersisted), file)
            .with_answer(Question::Run(Tool::Mariadbd, vec!["--version".to_owned()]), version)
            .with_file("/proc/10/stat", &stat)
            .with_answer(Question::ProcessStart(10), stat);
        let facts = collect_without_target(&fake);
        prop_assert!(!displayed_notes_and_readings(&facts).chars().any(crate::text::is_display_unsafe));
    }
}

#[test]
fn old_redo_size_settings_are_ignored_with_capacity() {
    const CAPACITY: (&str, &str) = ("mysqld.innodb_redo_log_capacity", "1G");
    const SIZE: (&str, &str) = ("mysqld.innodb_log_file_size", "512M");
    const FILES: (&str, &str) = ("mysqld.innodb_log_files_in_group", "3");
    let ignored = |program: &str, version: &str, lines: &[(&str, &str)]| {
        let fake = with_option_file(
            host_with_running_server(program, version),
            "/etc/my.cnf",
            lines,
        );
        value_and_source(&collect_without_target(&fake), "mysql.redo_sizes_ignored")
    };
    let mysql = |lines: &[(&str, &str)]| ignored("/usr/sbin/mysqld", MYSQL, lines);
    assert_eq!(
        mysql(&[SIZE, CAPACITY, FILES]),
        "innodb_log_file_size,innodb_log_files_in_group /etc/my.cnf:2"
    );
    assert_eq!(
        mysql(&[CAPACITY, FILES]),
        "innodb_log_files_in_group /etc/my.cnf:1"
    );
    assert_eq!(
        mysql(&[SIZE, FILES]),
        "none default of MySQL 8.0",
        "then their product counts"
    );
    assert_eq!(mysql(&[CAPACITY]), "none /etc/my.cnf:1");
    assert_eq!(
        mysql(&[SIZE, CAPACITY, ("include", "more.cnf")]),
        "? ambiguous"
    );
    let before = MYSQL.replace("8.0.36", "8.0.29");
    assert_eq!(
        ignored("/usr/sbin/mysqld", &before, &[SIZE, CAPACITY]),
        "? not available"
    );
    assert_eq!(
        ignored("/usr/sbin/mariadbd", MARIADB, &[SIZE, CAPACITY]),
        "? not available",
        "it knows only those"
    );
}

#[test]
fn denied_setting_detail_contains_file_name() {
    let fake = host_with_running_server("/usr/sbin/mariadbd", MARIADB).with_error(
        Question::Config("/etc/my.cnf".into(), ConfigDialect::Mysql),
        HostErrorKind::Denied,
    );
    let facts = collect_without_target(&fake);
    let reading = facts.get(&db_cluster(), &mysql::SYNC_BINLOG);
    assert!(
        matches!(reading, Reading::Unknown { why: UnknownReason::Denied, ref detail, .. } if detail.contains("my.cnf"))
    );
}
