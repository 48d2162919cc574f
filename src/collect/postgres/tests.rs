//! Clusters from all that leads to them: a process, Debian's directories, the directory that was asked for.

use super::*;
use crate::collect::testing::{Fake, shown};
use crate::facts::catalog::postgres;
use crate::facts::{Reading, Remedy, Scope, Subject, Why};
use crate::host::{Dialect, MissKind, Question, Setting, Stat, Tool};

const DATA: &str = "/srv/pg";

fn stat(uid: u64) -> Vec<u8> {
    let mode = 0o040_700;
    Stat { mode, uid, gid: 0, major: 0, minor: 0, node_major: 0, node_minor: 0, inode: 2, size: 0 }.encode()
}

fn conf(fake: Fake, path: &str, settings: &[(&str, &str)]) -> Fake {
    let line = |(n, (key, value)): (usize, &(&str, &str))| {
        let line = u32::try_from(n).unwrap() + 1;
        Setting { line, key: key.as_bytes().to_vec(), value: value.as_bytes().to_vec() }.encode()
    };
    let answer: Vec<Vec<u8>> = settings.iter().enumerate().map(line).collect();
    fake.answer(Question::Config(path.into(), Dialect::Postgres), answer.concat())
}

/// A stopped cluster of version 15 whose WAL lies elsewhere.
fn stopped() -> Fake {
    let fake = Fake::default()
        .file(format!("{DATA}/PG_VERSION"), "15\n")
        .answer(Question::Stat(DATA.into()), stat(26))
        .answer(Question::UserName(26), "postgres")
        .answer(Question::RealPath(DATA.into()), DATA)
        .answer(Question::RealPath(format!("{DATA}/pg_wal").into()), "/wal/pg")
        .answer(Question::Stat(format!("{DATA}/PG_VERSION").into()), stat(26))
        .answer(Question::Stat(format!("{DATA}/global").into()), stat(26))
        .answer(Question::Servers, "");
    conf(fake, &format!("{DATA}/postgresql.conf"), &[("fsync", "off"), ("wal_level", "minimal")])
}

fn running() -> Fake {
    stopped()
        .answer(Question::Servers, "10 1 26 postgres\n")
        .answer(Question::CommandLine(10), format!("-D {DATA}\n-c max_wal_senders=0\n"))
        .answer(Question::Environment(10), "")
        .file(format!("{DATA}/postmaster.pid"), format!("10\n{DATA}\n1\n5433\n/run/pg\nlocalhost\n"))
}

fn collect(host: &Fake) -> FactSet {
    let request = Request { target: Some(DATA.into()), without_programs: false };
    let mut facts = FactSet::default();
    run(host, &request, &mut facts);
    facts
}

fn cluster() -> Subject {
    Subject::cluster(DATA)
}

/// A setting and where it is set.
fn told(facts: &FactSet, name: &str) -> String {
    match facts.reading(&cluster(), name) {
        Reading::Known { value, source } => format!("{value} {source}"),
        Reading::Unknown { why, .. } => format!("? {why}"),
    }
}

#[test]
fn a_stopped_cluster_is_found_where_it_was_asked_for() {
    let facts = collect(&stopped());
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
        ("pg.debug_io_direct", "? absent"),
        ("pg.fsync_disabled_by", "? absent"),
    ] {
        assert_eq!(told(&facts, name), expected, "{name}");
    }
    assert_eq!(facts.warnings(), &[] as &[String]);
}

#[test]
fn the_command_line_is_above_alter_system_which_is_above_the_file() {
    let auto = format!("{DATA}/postgresql.auto.conf");
    let host = conf(running(), &auto, &[("fsync", "on"), ("max_wal_senders", "3")]);
    let facts = collect(&host);
    assert_eq!(told(&facts, "pg.fsync"), "yes /srv/pg/postgresql.auto.conf:1");
    assert_eq!(told(&facts, "pg.max_wal_senders"), "0 /proc/10/cmdline");
    assert_eq!(told(&facts, "pg.running"), "yes /proc/10");
    assert_eq!(told(&facts, "pg.fsync_disabled_by"), "none /proc/10/environ");
}

#[test]
fn a_denied_file_leaves_what_it_could_set_unknown_and_names_who_may_read_it() {
    let auto = Question::Config(format!("{DATA}/postgresql.auto.conf").into(), Dialect::Postgres);
    let facts = collect(&running().refuse(auto, MissKind::Denied));
    for name in ["pg.fsync", "pg.full_page_writes"] {
        let remedy = match facts.reading(&cluster(), name) {
            Reading::Unknown { why: Why::Denied, remedy, .. } => remedy.clone(),
            reading => panic!("{name}: {reading:?}"),
        };
        assert_eq!(remedy, Some(Remedy::RunAs("postgres".to_owned())), "{name}");
    }
    assert_eq!(told(&facts, "pg.max_wal_senders"), "0 /proc/10/cmdline");
}

#[test]
fn the_running_server_wins_and_a_difference_is_said() {
    let socket = "/run/pg/.s.PGSQL.5433";
    let answer = format!(
        "server_version\t15.20 (Debian)\t\tdefault\t\t\ndata_directory\t{DATA}\t\toverride\t\t\n\
         fsync\ton\t\tdefault\t\t\nwal_level\tminimal\t\tconfiguration file\t\t\n\
         wal_sync_method\tfsync\t\tconfiguration file\t/x.conf\t7\n"
    );
    let facts = collect(&running().answer(Question::PgSettings(socket.into()), answer));
    assert_eq!(told(&facts, "pg.fsync"), format!("yes the server at {socket}"));
    assert_eq!(told(&facts, "pg.wal_level"), "minimal /srv/pg/postgresql.conf:2");
    assert_eq!(told(&facts, "pg.wal_sync_method"), "fsync /x.conf:7");
    assert_eq!(facts.value(&cluster(), &postgres::VERSION).unwrap().base(), "15.20");
    assert!(
        facts.warnings().iter().any(|w| w.contains("fsync is off in /srv/pg/postgresql.conf:1")),
        "{:?}",
        facts.warnings()
    );
}

#[test]
fn another_servers_answer_is_not_taken() {
    for row in ["data_directory\t/srv/other\t\toverride\t\t", "server_version\t16.1\t\tdefault\t\t"] {
        let answer = format!("{row}\nfsync\ton\t\tdefault\t\t\n");
        let facts = collect(&running().answer(Question::PgSettings("/run/pg/.s.PGSQL.5433".into()), answer));
        assert_eq!(told(&facts, "pg.fsync"), "no /srv/pg/postgresql.conf:1");
    }
}

#[test]
fn a_process_of_another_name_space_is_not_taken_for_what_lies_at_its_path_here() {
    let host = running().file(format!("{DATA}/postmaster.pid"), "1\n/srv/pg\n");
    let facts = collect(&host);
    assert!(facts.warnings().iter().any(|warning| warning.contains("process 10")), "{:?}", facts.warnings());
    assert_eq!(told(&facts, "pg.running"), "? ambiguous");
}

#[test]
fn debian_keeps_configuration_and_data_apart() {
    let file = "/etc/postgresql/15/main/postgresql.conf";
    let host = stopped()
        .answer(Question::List("/etc/postgresql".into()), "15")
        .answer(Question::List("/etc/postgresql/15".into()), "main")
        .answer(Question::Stat(file.into()), stat(0))
        .answer(
            Question::Run(Tool::Postgres(15), vec!["--version".to_owned()]),
            "postgres (PostgreSQL) 15.20 (Debian)\n",
        );
    let facts = collect(&conf(host, file, &[("data_directory", DATA), ("fsync", "on")]));
    assert_eq!(facts.subjects(Scope::Cluster).count(), 1);
    assert_eq!(told(&facts, "pg.name"), format!("postgresql 15/main {file}"));
    assert_eq!(told(&facts, "pg.data_directory"), format!("{DATA} {file}:1"));
    assert_eq!(told(&facts, "pg.version"), "15.20 (Debian) `postgres-15 --version`");
    assert_eq!(told(&facts, "pg.fsync"), format!("yes {file}:2"));
}

#[test]
fn without_a_version_no_default_is_claimed() {
    let host = stopped().refuse(Question::Read(format!("{DATA}/PG_VERSION").into()), MissKind::Denied);
    let facts = collect(&host);
    assert_eq!(told(&facts, "pg.full_page_writes"), "? not collected");
    assert_eq!(told(&facts, "pg.fsync"), "no /srv/pg/postgresql.conf:1");
}

#[test]
fn a_directory_that_does_not_answer_is_asked_once() {
    let file = format!("{DATA}/postgresql.conf");
    let host = running().refuse(Question::RealPath(file.into()), MissKind::TimedOut);
    let request = Request::default();
    let mut facts = FactSet::default();
    run(&host, &request, &mut facts);
    assert_eq!(facts.subjects(Scope::Cluster).count(), 0);
    assert!(shown(&facts).contains("did not answer in time"));
    let asked = host.asked().into_iter().filter(|question| format!("{question:?}").contains(DATA)).count();
    assert_eq!(asked, 1);
}

#[test]
fn data_that_does_not_answer_is_said() {
    let host = running().refuse(Question::Stat(DATA.into()), MissKind::TimedOut);
    let facts = collect(&host);
    assert_eq!(facts.subjects(Scope::Cluster).count(), 0);
    assert!(shown(&facts).contains("/srv/pg did not answer in time"), "{}", shown(&facts));
}

#[test]
fn two_servers_may_share_a_configuration_file() {
    let file = "/etc/shared.conf";
    let other = "/srv/other";
    let host = running()
        .answer(Question::Servers, "10 1 26 postgres\n20 1 26 postgres\n")
        .answer(Question::CommandLine(10), format!("-D {DATA}\n-c config_file={file}\n"))
        .answer(Question::CommandLine(20), format!("-D {other}\n-c config_file={file}\n"))
        .answer(Question::Stat(other.into()), stat(26))
        .file(format!("{other}/postmaster.pid"), "20\n");
    let facts = collect(&conf(host, file, &[("fsync", "on")]));
    let clusters: Vec<&str> = facts.subjects(Scope::Cluster).map(Subject::name).collect();
    assert_eq!(clusters, [other, DATA]);
}
