mod config_argument;
mod process;

use super::*;
use crate::facts::catalog::postgres;
use crate::facts::{Reading, Remedy, Scope, Subject, UnknownReason};
use crate::host::{
    ConfigDialect, ConfigDirective, HostErrorKind, HostTimestamp, Question, Stat, Tool,
};
use crate::testing::{FakeHost, ZERO_STAT, displayed_notes_and_readings, note_sentences};

const DATA: &str = "/srv/pg";
/// Start of the server, in seconds since 1970.
const STARTED: u64 = 1_000;

fn directory_stat_answer(uid: u64) -> Vec<u8> {
    stat_answer_with_mode(0o040_700, uid, Some(STARTED - 1))
}

fn file_stat_answer(uid: u64, changed: Option<u64>) -> Vec<u8> {
    stat_answer_with_mode(0o100_600, uid, changed)
}

fn stat_answer_with_mode(mode: u64, uid: u64, changed: Option<u64>) -> Vec<u8> {
    stat_answer_with_ctime(mode, uid, changed.map(HostTimestamp::from_unix_seconds))
}

fn stat_answer_with_ctime(mode: u64, uid: u64, changed: Option<HostTimestamp>) -> Vec<u8> {
    Stat {
        mode,
        uid,
        inode: 2,
        ctime: changed,
        ..ZERO_STAT
    }
    .encode()
}

fn with_conf_file(fake: FakeHost, path: &str, settings: &[(&str, &str)]) -> FakeHost {
    let line = |(n, (key, value)): (usize, &(&str, &str))| {
        let line = u32::try_from(n).unwrap() + 1;
        ConfigDirective::new(line, *key, *value).encode()
    };
    let answer: Vec<Vec<u8>> = settings.iter().enumerate().map(line).collect();
    let fake = fake.with_answer(
        Question::Config(path.into(), ConfigDialect::Postgres),
        answer.concat(),
    );
    fake.with_answer(
        Question::Stat(path.into()),
        file_stat_answer(26, Some(STARTED - 1)),
    )
}

fn host_with_stopped_cluster() -> FakeHost {
    let fake = FakeHost::default()
        .with_file(format!("{DATA}/PG_VERSION"), "15\n")
        .with_answer(Question::Stat(DATA.into()), directory_stat_answer(26))
        .with_answer(Question::UserName(26), "postgres")
        .with_answer(Question::RealPath(DATA.into()), DATA)
        .with_answer(
            Question::RealPath(format!("{DATA}/pg_wal").into()),
            "/wal/pg",
        )
        .with_answer(
            Question::Stat(format!("{DATA}/PG_VERSION").into()),
            directory_stat_answer(26),
        )
        .with_answer(
            Question::Stat(format!("{DATA}/global").into()),
            directory_stat_answer(26),
        )
        .with_answer(Question::Servers, "");
    with_conf_file(
        fake,
        &format!("{DATA}/postgresql.conf"),
        &[("fsync", "off"), ("wal_level", "minimal")],
    )
}

fn host_with_running_cluster() -> FakeHost {
    with_conf_file(
        host_with_stopped_cluster(),
        &format!("{DATA}/postgresql.auto.conf"),
        &[],
    )
    .with_answer(Question::Servers, "10 1 26 postgres\n")
    .with_answer(
        Question::CommandLine(10),
        format!("-D {DATA}\n-c max_wal_senders=0\n"),
    )
    .with_answer(Question::Environment(10), "")
    .with_file(
        format!("{DATA}/postmaster.pid"),
        format!("10\n{DATA}\n{STARTED}\n5433\n/run/pg\nlocalhost\n"),
    )
}

fn collect_data_directory(host: &FakeHost) -> FactSet {
    let request = Request {
        target: Some(DATA.into()),
        ..Request::default()
    };
    collect(host, &request)
}

fn cluster_subject() -> Subject {
    Subject::cluster(DATA)
}

fn value_and_source(facts: &FactSet, name: &str) -> String {
    match facts.reading_by_name(&cluster_subject(), name) {
        Reading::Known { value, source } => format!("{value} {source}"),
        Reading::Unknown { why, .. } => format!("? {why}"),
    }
}

#[test]
fn stopped_cluster_is_collected_at_requested_directory() {
    let facts = collect_data_directory(&host_with_stopped_cluster());
    for (name, expected) in [
        ("pg.data_directory", "/srv/pg /srv/pg"),
        ("pg.wal_directory", "/wal/pg realpath /srv/pg/pg_wal"),
        ("pg.version", "15 /srv/pg/PG_VERSION"),
        ("pg.running", "no /srv/pg/postmaster.pid"),
        ("pg.user", "postgres stat /srv/pg"),
        ("pg.name", "postgresql 15 in /srv/pg /srv/pg"),
        ("pg.fsync", "no /srv/pg/postgresql.conf:1"),
        ("pg.wal_level", "minimal /srv/pg/postgresql.conf:2"),
        ("pg.max_wal_senders", "10 default of PostgreSQL 15"),
        ("pg.wal_init_zero", "yes default of PostgreSQL 15"),
        ("pg.debug_io_direct", "? not available"),
        ("pg.fsync_disabled_by", "? not available"),
    ] {
        assert_eq!(value_and_source(&facts, name), expected, "{name}");
    }
    assert_eq!(note_sentences(&facts), [] as [String; 0]);
}

#[test]
fn command_line_wins_over_alter_system_over_file() {
    let auto = format!("{DATA}/postgresql.auto.conf");
    let host = with_conf_file(
        host_with_running_cluster(),
        &auto,
        &[("fsync", "on"), ("max_wal_senders", "3")],
    );
    let facts = collect_data_directory(&host);
    assert_eq!(
        value_and_source(&facts, "pg.fsync"),
        "yes /srv/pg/postgresql.auto.conf:1"
    );
    assert_eq!(
        value_and_source(&facts, "pg.max_wal_senders"),
        "0 /proc/10/cmdline"
    );
    assert_eq!(value_and_source(&facts, "pg.running"), "yes /proc/10");
    assert_eq!(
        value_and_source(&facts, "pg.fsync_disabled_by"),
        "none /proc/10/environ"
    );
}

#[test]
fn denied_file_makes_settings_denied_with_remedy() {
    let auto = Question::Config(
        format!("{DATA}/postgresql.auto.conf").into(),
        ConfigDialect::Postgres,
    );
    let facts = collect_data_directory(
        &host_with_running_cluster().with_error(auto, HostErrorKind::Denied),
    );
    for name in ["pg.fsync", "pg.full_page_writes"] {
        let remedy = match facts.reading_by_name(&cluster_subject(), name) {
            Reading::Unknown {
                why: UnknownReason::Denied,
                remedy,
                ..
            } => remedy.clone(),
            reading => panic!("{name}: {reading:?}"),
        };
        assert_eq!(remedy, Some(Remedy::RunAs("postgres".to_owned())), "{name}");
    }
    assert_eq!(
        value_and_source(&facts, "pg.max_wal_senders"),
        "0 /proc/10/cmdline"
    );
}

#[test]
fn server_value_wins_and_difference_is_noted() {
    let socket = "/run/pg/.s.PGSQL.5433";
    let answer = format!(
        "server_version\t15.20 (Debian)\t\tdefault\t\t\ndata_directory\t{DATA}\t\toverride\t\t\n\
         fsync\ton\t\tdefault\t\t\nwal_level\tminimal\t\tconfiguration file\t\t\n\
         wal_sync_method\tfsync\t\tconfiguration file\t/x.conf\t7\n"
    );
    let facts = collect_data_directory(
        &host_with_running_cluster().with_answer(Question::PgSettings(socket.into()), answer),
    );
    assert_eq!(
        value_and_source(&facts, "pg.fsync"),
        format!("yes the server at {socket}")
    );
    assert_eq!(
        value_and_source(&facts, "pg.wal_level"),
        "minimal /srv/pg/postgresql.conf:2"
    );
    assert_eq!(
        value_and_source(&facts, "pg.wal_sync_method"),
        "fsync /x.conf:7"
    );
    assert_eq!(
        facts
            .value(&cluster_subject(), &postgres::VERSION)
            .unwrap()
            .numeric_part(),
        "15.20"
    );
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|w| w.contains("fsync is off in /srv/pg/postgresql.conf:1")),
        "{:?}",
        note_sentences(&facts)
    );
}

#[test]
fn checksums_come_from_server_or_control_file() {
    let control = || {
        Question::Run(
            Tool::PgControldata(15),
            vec!["-D".to_owned(), DATA.to_owned()],
        )
    };
    let line = |number: &str| format!("Data page checksum version:           {number}\n");
    let told_of =
        |fake: FakeHost| value_and_source(&collect_data_directory(&fake), "pg.data_checksums");
    let argv = format!("`pg_controldata-15 -D {DATA}`");
    assert_eq!(
        told_of(host_with_stopped_cluster().with_answer(control(), line("1"))),
        format!("yes {argv}")
    );
    assert_eq!(
        told_of(host_with_running_cluster().with_answer(control(), line("0"))),
        format!("no {argv}"),
        "also while it runs"
    );
    for damaged in ["", "Data page checksum version: x", "noise"] {
        assert_eq!(
            told_of(host_with_stopped_cluster().with_answer(control(), damaged)),
            "? malformed",
            "{damaged}"
        );
    }
    assert_eq!(
        told_of(host_with_stopped_cluster().with_error(control(), HostErrorKind::Denied)),
        "? denied"
    );
    let socket = "/run/pg/.s.PGSQL.5433";
    for (value, expected) in [("on", "yes"), ("off", "no")] {
        let says = format!(
            "data_directory\t{DATA}\t\toverride\t\t\ndata_checksums\t{value}\t\toverride\t\t\n"
        );
        let fake =
            host_with_running_cluster().with_answer(Question::PgSettings(socket.into()), says);
        assert_eq!(told_of(fake), format!("{expected} the server at {socket}"));
    }
    let old = host_with_stopped_cluster()
        .with_file(format!("{DATA}/PG_VERSION"), "9.6\n")
        .with_answer(control(), line("1"));
    assert_eq!(told_of(old), "? not collected");
    let reading = collect_data_directory(&host_with_stopped_cluster())
        .reading_by_name(&cluster_subject(), "pg.data_checksums")
        .clone();
    assert!(
        matches!(
            reading,
            Reading::Unknown {
                why: UnknownReason::Absent,
                remedy: Some(_),
                ..
            }
        ),
        "{reading:?}"
    );
}

#[test]
fn reply_of_other_server_is_ignored() {
    for row in [
        "data_directory\t/srv/other\t\toverride\t\t",
        "server_version\t16.1\t\tdefault\t\t",
    ] {
        let answer = format!("{row}\nfsync\ton\t\tdefault\t\t\n");
        let facts = collect_data_directory(
            &host_with_running_cluster()
                .with_answer(Question::PgSettings("/run/pg/.s.PGSQL.5433".into()), answer),
        );
        assert_eq!(
            value_and_source(&facts, "pg.fsync"),
            "no /srv/pg/postgresql.conf:1"
        );
    }
}

#[test]
fn pid_mismatch_in_pid_file_rejects_process() {
    let host = host_with_running_cluster()
        .with_file(format!("{DATA}/postmaster.pid"), "1\n/srv/pg\n1000\n");
    let facts = collect_data_directory(&host);
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|warning| warning.contains("process 10")),
        "{:?}",
        note_sentences(&facts)
    );
    assert_eq!(value_and_source(&facts, "pg.running"), "? ambiguous");
}

#[test]
fn debian_config_and_data_directories_are_joined() {
    let file = "/etc/postgresql/15/main/postgresql.conf";
    let host = host_with_stopped_cluster()
        .with_answer(
            Question::Stat("/etc/postgresql".into()),
            directory_stat_answer(26),
        )
        .with_answer(
            Question::Stat("/etc/postgresql/15".into()),
            directory_stat_answer(26),
        )
        .with_answer(Question::List("/etc/postgresql".into()), "15")
        .with_answer(Question::List("/etc/postgresql/15".into()), "main")
        .with_answer(Question::Stat(file.into()), directory_stat_answer(0))
        .with_answer(
            Question::Run(Tool::PgCtl(15), vec!["--version".to_owned()]),
            "pg_ctl (PostgreSQL) 15.20 (Debian)\n",
        );
    let facts = collect_data_directory(&with_conf_file(
        host,
        file,
        &[("data_directory", DATA), ("fsync", "on")],
    ));
    assert_eq!(facts.subjects_of_scope(Scope::Cluster).count(), 1);
    assert_eq!(
        value_and_source(&facts, "pg.name"),
        format!("postgresql 15/main {file}")
    );
    assert_eq!(
        value_and_source(&facts, "pg.data_directory"),
        format!("{DATA} {file}:1")
    );
    assert_eq!(
        value_and_source(&facts, "pg.version"),
        "15.20 (Debian) `pg_ctl-15 --version`"
    );
    assert_eq!(
        value_and_source(&facts, "pg.fsync"),
        format!("yes {file}:2")
    );
}

#[test]
fn version_comes_from_program_of_same_major() {
    let with = |fake: FakeHost, tool: Tool, says: &str| {
        fake.with_answer(
            Question::Run(tool, vec!["--version".to_owned()]),
            format!("{says}\n"),
        )
    };
    let told_of = |fake: &FakeHost| value_and_source(&collect_data_directory(fake), "pg.version");
    let pg_ctl = with(
        host_with_stopped_cluster(),
        Tool::PgCtl(15),
        "pg_ctl (PostgreSQL) 15.20",
    );
    assert_eq!(told_of(&pg_ctl), "15.20 `pg_ctl-15 --version`");
    let both = with(pg_ctl, Tool::Postgres(15), "postgres (PostgreSQL) 15.20");
    assert_eq!(told_of(&both), "15.20 `pg_ctl-15 --version`");
    let postgres = Question::Run(Tool::Postgres(15), vec!["--version".to_owned()]);
    assert!(
        !both.asked_questions().contains(&postgres),
        "remove one of the two"
    );
    let old_capture = with(
        host_with_stopped_cluster(),
        Tool::Postgres(15),
        "postgres (PostgreSQL) 15.20",
    );
    assert_eq!(told_of(&old_capture), "15.20 `postgres-15 --version`");
    for other in ["pg_ctl (PostgreSQL) 16.1", "pg_ctl", "noise"] {
        let fake = with(host_with_stopped_cluster(), Tool::PgCtl(15), other);
        assert_eq!(told_of(&fake), format!("15 {DATA}/PG_VERSION"), "{other}");
    }
}

#[test]
fn unknown_version_leaves_defaults_unknown() {
    let host = host_with_stopped_cluster().with_error(
        Question::Read(format!("{DATA}/PG_VERSION").into()),
        HostErrorKind::Denied,
    );
    let facts = collect_data_directory(&host);
    assert_eq!(
        value_and_source(&facts, "pg.full_page_writes"),
        "? not collected"
    );
    assert_eq!(
        value_and_source(&facts, "pg.fsync"),
        "no /srv/pg/postgresql.conf:1"
    );
}

#[test]
fn config_timeout_still_records_cluster() {
    let file = format!("{DATA}/postgresql.conf");
    let host = host_with_running_cluster()
        .with_error(Question::RealPath(file.into()), HostErrorKind::TimedOut);
    let request = Request::default();
    let facts = collect(&host, &request);
    assert_eq!(facts.subjects_of_scope(Scope::Cluster).count(), 1);
    assert_eq!(value_and_source(&facts, "pg.running"), "yes /proc/10");
    assert_eq!(value_and_source(&facts, "pg.fsync"), "? not collected");
    assert!(displayed_notes_and_readings(&facts).contains("could not be read in time"));
    // Each query may last until the timeout, so only two are made: for the file and for the
    // directory's owner.
    let asked = host
        .asked_questions()
        .into_iter()
        .filter(|question| format!("{question:?}").contains(DATA))
        .count();
    assert_eq!(asked, 2);
}

#[test]
fn timed_out_process_of_other_user_gives_no_cluster() {
    let file = format!("{DATA}/postgresql.conf");
    let host = host_with_running_cluster()
        .with_answer(Question::Servers, "10 1 1000 postgres\n")
        .with_error(Question::RealPath(file.into()), HostErrorKind::TimedOut);
    let facts = collect(&host, &Request::default());
    assert_eq!(facts.subjects_of_scope(Scope::Cluster).count(), 0);
    let asked = host.asked_questions().into_iter();
    let about = asked.filter(|question| format!("{question:?}").contains(DATA));
    for question in about {
        assert!(
            matches!(question, Question::AsUser(1000, _)),
            "{question:?}"
        );
    }
}

#[test]
fn data_directory_timeout_is_noted() {
    let host = host_with_running_cluster()
        .with_error(Question::Stat(DATA.into()), HostErrorKind::TimedOut);
    let facts = collect_data_directory(&host);
    assert_eq!(value_and_source(&facts, "pg.fsync"), "? not collected");
    assert!(
        displayed_notes_and_readings(&facts).contains("/srv/pg could not be read in time"),
        "{}",
        displayed_notes_and_readings(&facts)
    );
}

#[test]
fn two_servers_may_share_a_configuration_file() {
    let file = "/etc/shared.conf";
    let other = "/srv/other";
    let host = host_with_running_cluster()
        .with_answer(Question::Servers, "10 1 26 postgres\n20 1 26 postgres\n")
        .with_answer(
            Question::CommandLine(10),
            format!("-D {DATA}\n-c config_file={file}\n"),
        )
        .with_answer(
            Question::CommandLine(20),
            format!("-D {other}\n-c config_file={file}\n"),
        )
        .with_answer(Question::Stat(other.into()), directory_stat_answer(26))
        .with_file(format!("{other}/postmaster.pid"), "20\n");
    let facts = collect_data_directory(&with_conf_file(host, file, &[("fsync", "on")]));
    let clusters: Vec<&str> = facts
        .subjects_of_scope(Scope::Cluster)
        .map(Subject::name)
        .collect();
    assert_eq!(clusters, [other, DATA]);
}

fn host_with_config_includes() -> FakeHost {
    let includes = [
        ("fsync", "off"),
        ("include_dir", "/etc/pg/conf.d"),
        ("include_if_exists", "/etc/pg/none.conf"),
        ("include", "/etc/pg/more.conf"),
        ("wal_recycle", "off"),
    ];
    let host = with_conf_file(
        host_with_running_cluster(),
        &format!("{DATA}/postgresql.conf"),
        &includes,
    );
    let host = with_conf_file(host, "/etc/pg/more.conf", &[("commit_delay", "7")]);
    let host = with_conf_file(host, "/etc/pg/conf.d/1.conf", &[("wal_level", "logical")]);
    let host = with_conf_file(
        host,
        &format!("{DATA}/postgresql.auto.conf"),
        &[("full_page_writes", "off")],
    );
    host.with_answer(Question::List("/etc/pg/conf.d".into()), "1.conf")
        .with_answer(
            Question::Stat("/etc/pg/conf.d".into()),
            directory_stat_answer(0),
        )
        .with_answer(Question::Stat("/etc/pg".into()), directory_stat_answer(0))
}

const IN_ORDER: [&str; 5] = [
    "pg.fsync",
    "pg.wal_level",
    "pg.commit_delay",
    "pg.wal_recycle",
    "pg.full_page_writes",
];

#[test]
fn file_changed_after_start_makes_earlier_settings_ambiguous() {
    for (changed, doubted) in [
        (None, 0),
        (Some("/etc/pg/conf.d/1.conf"), 2),
        (Some("/etc/pg/conf.d"), 2),
        (Some("/etc/pg"), 2),
        (Some("/etc/pg/more.conf"), 3),
        (Some("/srv/pg/postgresql.conf"), 4),
        (Some("/srv/pg/postgresql.auto.conf"), 5),
    ] {
        for at in [Some(STARTED), Some(STARTED + 1), None] {
            let host = host_with_config_includes();
            let host = match changed {
                Some(path) => {
                    host.with_answer(Question::Stat(path.into()), file_stat_answer(26, at))
                }
                None => host,
            };
            let facts = collect_data_directory(&host);
            for (n, name) in IN_ORDER.iter().enumerate() {
                assert_eq!(
                    value_and_source(&facts, name) == "? ambiguous",
                    n < doubted,
                    "{name}: {changed:?} {at:?}"
                );
            }
            let default = value_and_source(&facts, "pg.data_sync_retry");
            assert_eq!(
                default == "no default of PostgreSQL 15",
                doubted == 0,
                "{changed:?}: {default}"
            );
            assert_eq!(
                value_and_source(&facts, "pg.max_wal_senders"),
                "0 /proc/10/cmdline",
                "options win for good"
            );
        }
    }
}

#[test]
fn changed_symlink_directory_makes_setting_ambiguous() {
    let host = || host_with_config_includes().with_symlink("/etc/pg/more.conf", "old/more.conf");
    assert_eq!(
        value_and_source(&collect_data_directory(&host()), "pg.commit_delay"),
        "7 /etc/pg/more.conf:1"
    );
    let moved = host().with_answer(
        Question::Stat("/etc/pg".into()),
        file_stat_answer(0, Some(STARTED)),
    );
    assert_eq!(
        value_and_source(&collect_data_directory(&moved), "pg.commit_delay"),
        "? ambiguous"
    );
    assert_eq!(
        value_and_source(&collect_data_directory(&moved), "pg.full_page_writes"),
        "no /srv/pg/postgresql.auto.conf:1"
    );
}

#[test]
fn unknown_start_time_makes_file_settings_ambiguous() {
    let pid_file = Question::Read(format!("{DATA}/postmaster.pid").into());
    for host in [
        host_with_running_cluster().with_error(pid_file.clone(), HostErrorKind::Denied),
        host_with_running_cluster().with_answer(pid_file.clone(), "10\n"),
        host_with_running_cluster().with_answer(pid_file, "10\n/srv/pg\nnoon\n"),
    ] {
        assert_eq!(
            value_and_source(&collect_data_directory(&host), "pg.fsync"),
            "? ambiguous"
        );
    }
    let changed = |host: FakeHost| {
        let file = Question::Stat(format!("{DATA}/postgresql.conf").into());
        host.with_answer(file, file_stat_answer(26, Some(STARTED)))
    };
    let out_of_sight = host_with_running_cluster().with_answer(Question::Servers, "");
    assert_eq!(
        value_and_source(&collect_data_directory(&out_of_sight), "pg.fsync"),
        "no /srv/pg/postgresql.conf:1"
    );
    assert_eq!(
        value_and_source(&collect_data_directory(&changed(out_of_sight)), "pg.fsync"),
        "? ambiguous",
        "it may run"
    );
    assert_eq!(
        value_and_source(
            &collect_data_directory(&changed(host_with_stopped_cluster())),
            "pg.fsync"
        ),
        "no /srv/pg/postgresql.conf:1"
    );
}

#[test]
fn unreported_setting_remedy_depends_on_user() {
    let file = Question::Stat(format!("{DATA}/postgresql.conf").into());
    let answer = || {
        Remedy::Do(
            "let postgres log in over the socket of the server on /srv/pg, or restart the server, then check again"
                .to_owned(),
        )
    };
    for (uid, name, helps) in [
        (0, "root", answer()),
        (1000, "me", Remedy::RunAs("postgres".to_owned())),
        (26, "postgres", answer()),
    ] {
        let host = host_with_running_cluster()
            .with_answer(Question::Identity, format!("euid={uid}\n"))
            .with_answer(Question::UserName(uid), name)
            .with_answer(file.clone(), file_stat_answer(26, Some(STARTED)));
        let facts = collect_data_directory(&host);
        let socket = Question::PgSettings("/run/pg/.s.PGSQL.5433".into());
        assert!(
            host.asked_questions()
                .contains(&Question::AsUser(26, Box::new(socket))),
            "{name}"
        );
        match facts.reading_by_name(&cluster_subject(), "pg.fsync") {
            Reading::Unknown {
                why: UnknownReason::Ambiguous,
                detail,
                remedy,
            } => {
                assert_eq!(remedy.as_ref(), Some(&helps), "{name}");
                assert!(detail.ends_with("did not report the value"), "{detail}");
                assert!(
                    detail.starts_with("/srv/pg/postgresql.conf changed after"),
                    "{detail}"
                );
            }
            reading => panic!("{reading:?}"),
        }
    }
}

/// The file is changed (`sed -i`) and the server restarted within one second, so only the process's
/// start time shows which came first.
#[test]
fn change_in_second_of_start_uses_process_start_time() {
    let second = STARTED * 1_000_000_000;
    for (changed, started, expected) in [
        (
            second + 300_000_000,
            Some(second + 320_000_000),
            "no /srv/pg/postgresql.conf:1",
        ),
        (
            second + 300_000_000,
            Some(second + 305_000_000),
            "? ambiguous",
        ),
        (
            second + 300_000_000,
            Some(second + 200_000_000),
            "? ambiguous",
        ),
        (second + 300_000_000, None, "? ambiguous"),
        // The clock was set after the start, so the process seems to have started in another
        // second.
        (
            second + 300_000_000,
            Some(second + 3_600_000_000_000),
            "? ambiguous",
        ),
        (
            second - 300_000_000,
            Some(second + 3_600_000_000_000),
            "no /srv/pg/postgresql.conf:1",
        ),
        (
            second - 300_000_000,
            Some(second - 400_000_000),
            "no /srv/pg/postgresql.conf:1",
        ),
    ] {
        let stat =
            stat_answer_with_ctime(0o100_600, 26, Some(HostTimestamp::from_unix_nanos(changed)));
        let host = host_with_running_cluster().with_answer(
            Question::Stat(format!("{DATA}/postgresql.conf").into()),
            stat,
        );
        let host = match started {
            Some(started) => host.with_answer(Question::ProcessStart(10), started.to_string()),
            None => host,
        };
        assert_eq!(
            value_and_source(&collect_data_directory(&host), "pg.fsync"),
            expected,
            "{changed} {started:?}"
        );
    }
}

#[test]
fn reported_settings_need_no_start_time() {
    let answer = "fsync\toff\t\tconfiguration file\t\t\nwal_level\tminimal\t\tuser\t\t\n";
    let host = host_with_running_cluster()
        .with_answer(Question::PgSettings("/run/pg/.s.PGSQL.5433".into()), answer)
        .with_answer(
            Question::Stat(format!("{DATA}/postgresql.conf").into()),
            file_stat_answer(26, Some(STARTED)),
        );
    let facts = collect_data_directory(&host);
    assert_eq!(
        value_and_source(&facts, "pg.fsync"),
        "no /srv/pg/postgresql.conf:1"
    );
    assert_eq!(
        value_and_source(&facts, "pg.wal_level"),
        "? ambiguous",
        "that is our role's"
    );
}

#[test]
fn process_must_own_directory_and_its_pid_file() {
    let named = |facts: &FactSet| value_and_source(facts, "pg.fsync");
    let claims = |fake: FakeHost| {
        fake.with_answer(Question::Servers, "9 1 42 postgres\n10 1 26 postgres\n")
            .with_answer(
                Question::CommandLine(9),
                format!("-D {DATA}\n-c fsync=on\n"),
            )
            .with_answer(Question::Environment(9), "")
    };
    // With a target, the process of the target's owner comes first; without one, the process with
    // the lower pid.
    assert_eq!(
        named(&collect_data_directory(
            &claims(host_with_running_cluster())
        )),
        format!("no {DATA}/postgresql.conf:1")
    );
    let facts = collect(&claims(host_with_running_cluster()), &Request::default());
    assert_eq!(named(&facts), format!("no {DATA}/postgresql.conf:1"));
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|says| says.contains("process 9 of user 42")),
        "{:?}",
        note_sentences(&facts)
    );
    let elsewhere = claims(host_with_running_cluster())
        .with_symlink("/proc/self/ns/mnt", "mnt:[1]")
        .with_symlink("/proc/9/ns/mnt", "mnt:[2]")
        .with_answer(
            Question::Stat(format!("/proc/9/root{DATA}").into()),
            directory_stat_answer(26),
        )
        .with_file(format!("/proc/9/root{DATA}/postmaster.pid"), "1\n")
        .with_file("/proc/9/status", "NSpid:\t9\t1\n");
    assert_eq!(
        named(&collect_data_directory(&elsewhere)),
        format!("no {DATA}/postgresql.conf:1")
    );
    let exchanged = elsewhere.with_answer(
        Question::Stat(format!("/proc/9/root{DATA}").into()),
        directory_stat_answer(42),
    );
    let facts = collect(&exchanged, &Request::default());
    assert_eq!(named(&facts), format!("no {DATA}/postgresql.conf:1"));
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|says| says.contains("process 9 of user 42")),
        "{:?}",
        note_sentences(&facts)
    );
}

#[test]
fn unverifiable_process_is_not_used() {
    for kind in [HostErrorKind::Denied, HostErrorKind::TimedOut] {
        let host = host_with_running_cluster().with_error(
            Question::Read(format!("{DATA}/postmaster.pid").into()),
            kind,
        );
        let facts = collect_data_directory(&host);
        assert!(
            value_and_source(&facts, "pg.max_wal_senders").starts_with('?'),
            "its arguments are not taken"
        );
        assert!(
            !facts
                .reading_by_name(&cluster_subject(), "pg.running")
                .is_known()
        );
    }
    for uid in ["0", "-"] {
        let host = host_with_running_cluster()
            .with_answer(Question::Servers, format!("10 1 {uid} postgres\n"));
        let facts = collect_data_directory(&host);
        assert!(!host.asked_questions().contains(&Question::CommandLine(10)));
        assert_eq!(
            note_sentences(&facts).len(),
            1,
            "{:?}",
            note_sentences(&facts)
        );
    }
}

#[test]
fn stopped_process_is_not_queried() {
    let host = host_with_running_cluster().with_file("/proc/10/stat", "10 (postgres) T 1 10\n");
    collect_data_directory(&host);
    let asked = host.asked_questions();
    assert!(
        !asked
            .iter()
            .any(|question| matches!(question.strip_as_user(), Question::PgSettings(_))),
        "{asked:?}"
    );
}

#[test]
fn cluster_files_are_read_with_owner_rights() {
    let host =
        host_with_running_cluster().with_answer(Question::List("/var/lib/postgresql".into()), "15");
    collect_data_directory(&host);
    let reads = |question: &Question| {
        let kernels = |path: &std::path::PathBuf| path.starts_with("/proc");
        matches!(
            question,
            Question::Read(_) | Question::List(_) | Question::Config(..) | Question::Link(_)
        ) && !question.path().is_some_and(kernels)
    };
    let system = |question: &Question| {
        question.path().is_some_and(|path| {
            path.starts_with("/etc/systemd")
                || path.starts_with("/run/systemd")
                || path.starts_with("/usr/lib")
                || path.starts_with("/lib")
                || path.ends_with("ld.so.preload")
        })
    };
    let asked: Vec<Question> = host
        .asked_questions()
        .into_iter()
        .filter(|question| reads(question) && !system(question))
        .collect();
    assert_eq!(asked, [], "as who we are");
}
