//! PostgreSQL: files, includes, ALTER SYSTEM, the command line, databases, roles, and states in
//! which the server does not answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::{Viewer, ViewerReport, assert_views_agree, command_as_stranger};
use crate::support::deadline::{ChildInTime as _, CommandInTime as _};
use crate::support::postgres::Cluster;
use crate::support::running::wait_for_condition;
use crate::support::{rule_outcome, walwise};

/// Settings that affect durability: name, two values, and the fact.
const SETTINGS: [(&str, &str, &str, &str); 4] = [
    ("fsync", "off", "on", "pg.fsync"),
    ("full_page_writes", "off", "on", "pg.full_page_writes"),
    (
        "synchronous_commit",
        "off",
        "local",
        "pg.synchronous_commit",
    ),
    (
        "synchronous_standby_names",
        "",
        "ANY 2 (berlin, bonn, *)",
        "pg.synchronous_standbys",
    ),
];

#[derive(Clone, Copy, Debug)]
enum SettingSource {
    File,
    Include,
    AlterSystem,
    CommandLine,
}

#[derive(Clone, Copy, Debug)]
enum ActivationEvent {
    Nothing,
    Reload,
    Restart,
}

fn create_cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.append_to_file("postgresql.conf", "include_if_exists 'more.conf'\n");
    cluster.start();
    for statement in [
        "CREATE DATABASE app",
        "CREATE DATABASE plain",
        "CREATE ROLE plain LOGIN",
        "CREATE ROLE bob LOGIN",
        "CREATE ROLE carl LOGIN",
    ] {
        cluster.sql(statement);
    }
    cluster
}

fn reports_of_all_viewers(cluster: &Cluster) -> BTreeMap<Viewer, ViewerReport> {
    let as_owner = cluster.walwise_as_owner();
    let program = as_owner.get_program().to_owned();
    let commands = [
        (Viewer::Root, walwise()),
        (Viewer::Owner, as_owner),
        (Viewer::Stranger, command_as_stranger(Path::new(&program))),
    ];
    commands
        .into_iter()
        .map(|(viewer, command)| (viewer, ViewerReport::from_check(&cluster.data, command)))
        .collect()
}

fn show_setting(cluster: &Cluster, database: &str, role: &str, name: &str) -> String {
    let place = cluster.path_string("");
    let statement = format!("SHOW {name}");
    cluster.run_server_program(
        "psql",
        &[
            "-h", &place, "-p", "5499", "-d", database, "-U", role, "-Atc", &statement,
        ],
    )
}

fn server_values(cluster: &Cluster) -> BTreeMap<&'static str, Value> {
    let value = |name: &str, shown: String| match name {
        "fsync" | "full_page_writes" => json!(shown == "on"),
        "synchronous_standby_names" => json!(if shown.is_empty() { 0 } else { 2 }),
        _ => json!(shown),
    };
    let row = |(name, _, _, fact): &(&'static str, _, _, &'static str)| {
        (
            *fact,
            value(name, show_setting(cluster, "plain", "plain", name)),
        )
    };
    SETTINGS.iter().map(row).collect()
}

fn assert_overrides_shown(
    row: &str,
    cluster: &Cluster,
    sights: &BTreeMap<Viewer, ViewerReport>,
    expected: usize,
) {
    for (viewer, sight) in sights {
        let Some(known) = sight.known_value("pg.synchronous_commit_overrides") else {
            assert_eq!(
                *viewer,
                Viewer::Stranger,
                "{row}: root and the owner are told"
            );
            continue;
        };
        let known = known.as_array().unwrap();
        assert_eq!(known.len(), expected, "{row}: {known:?}");
        for one in known {
            let (whose, value) = one.as_str().unwrap().rsplit_once(": ").unwrap();
            let (role, database) = match whose.split(' ').collect::<Vec<_>>()[..] {
                ["database", database] => ("plain", database),
                ["role", role] => (role, "plain"),
                ["role", role, "in", "database", database] => (role, database),
                _ => panic!("{whose}"),
            };
            assert_eq!(
                show_setting(cluster, database, role, "synchronous_commit"),
                value,
                "{row}: {whose}"
            );
        }
    }
}

fn apply_settings_through_source(cluster: &mut Cluster, place: SettingSource, other: bool) {
    let value = |(name, one, two, _): &(&str, &str, &str, _)| {
        (name.to_string(), if other { two } else { one }.to_string())
    };
    let line = |(name, value): (String, String)| format!("{name} = '{value}'\n");
    let lines = SETTINGS
        .iter()
        .map(value)
        .map(line)
        .collect::<Vec<_>>()
        .concat();
    match place {
        SettingSource::File => {
            let file = cluster.data.join("postgresql.conf");
            let text = std::fs::read_to_string(&file).unwrap();
            let kept = text.split("# from here\n").next().unwrap();
            std::fs::write(&file, format!("{kept}# from here\n{lines}")).unwrap();
        }
        SettingSource::Include => {
            let file = cluster.data.join("more.conf");
            std::fs::write(&file, &lines).unwrap();
            cluster.chown_to_server(&file);
        }
        SettingSource::AlterSystem => {
            for (name, value) in SETTINGS.iter().map(value) {
                cluster.sql(&format!("ALTER SYSTEM SET {name} = '{value}'"));
            }
        }
        SettingSource::CommandLine => {
            let option = |(name, value): (String, String)| format!(" -c {name}='{value}'");
            cluster.arguments = SETTINGS.iter().map(value).map(option).collect();
        }
    }
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn all_viewers_report_postgres_values_from_every_source() {
    let mut cluster = create_cluster();
    let mut other = false;
    for place in [
        SettingSource::File,
        SettingSource::Include,
        SettingSource::AlterSystem,
        SettingSource::CommandLine,
    ] {
        for moment in [
            ActivationEvent::Nothing,
            ActivationEvent::Reload,
            ActivationEvent::Restart,
        ] {
            other = !other;
            apply_settings_through_source(&mut cluster, place, other);
            match moment {
                ActivationEvent::Nothing => {}
                ActivationEvent::Reload => {
                    cluster.sql("SELECT pg_reload_conf()");
                }
                ActivationEvent::Restart => cluster.restart_without_ctime_gap(),
            }
            if let (
                SettingSource::AlterSystem | SettingSource::File | SettingSource::Include,
                ActivationEvent::Reload,
            ) = (place, moment)
            {
                let expected = if other { "local" } else { "off" };
                wait_for_condition("it is loaded", || {
                    show_setting(&cluster, "plain", "plain", "synchronous_commit") == expected
                });
            }
            let row = format!("{place:?} {moment:?}");
            let sights = reports_of_all_viewers(&cluster);
            let shows = server_values(&cluster);
            assert_views_agree(&row, &cluster.data, &sights, &shows);
            let known = |name: &str| sights[&Viewer::Root].known_value(name).is_some();
            assert!(
                SETTINGS.iter().all(|(_, _, _, fact)| known(fact)),
                "{row}: root is told"
            );
            assert_overrides_shown(&row, &cluster, &sights, 0);
        }
        if let SettingSource::AlterSystem = place {
            cluster.sql("ALTER SYSTEM RESET ALL");
        }
    }
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn database_and_role_settings_match_sessions() {
    let cluster = create_cluster();
    cluster.append_to_file("postgresql.conf", "fsync = on\nsynchronous_commit = on\n");
    cluster.restart_without_ctime_gap();
    let heading = |sight: &ViewerReport| sight.verdict_exceptions(&cluster.data);
    let rule = |sight: &ViewerReport| {
        let target = format!("target {}", cluster.data.display());
        rule_outcome(&sight.report, "pg.sessions-commit-off", &target).map(str::to_owned)
    };
    let mut held = 0;
    for (statement, named) in [
        (
            "ALTER DATABASE app SET synchronous_commit = off",
            Some("database app: synchronous_commit = off"),
        ),
        (
            "ALTER ROLE bob SET synchronous_commit = off",
            Some("role bob: synchronous_commit = off"),
        ),
        (
            "ALTER ROLE bob IN DATABASE app SET synchronous_commit = off",
            Some("role bob in database app: synchronous_commit = off"),
        ),
        (
            "ALTER ROLE carl IN DATABASE app SET synchronous_commit = remote_write",
            None,
        ),
        // The database and role that walwise itself uses to connect.
        (
            "ALTER DATABASE postgres SET synchronous_commit = off",
            Some("database postgres"),
        ),
        (
            "ALTER ROLE postgres SET synchronous_commit = off",
            Some("role postgres"),
        ),
    ] {
        cluster.sql(statement);
        held += 1;
        let sights = reports_of_all_viewers(&cluster);
        assert_views_agree(statement, &cluster.data, &sights, &server_values(&cluster));
        assert_overrides_shown(statement, &cluster, &sights, held);
        for viewer in [Viewer::Root, Viewer::Owner] {
            let sight = &sights[&viewer];
            assert_eq!(
                sight.known_value("pg.synchronous_commit"),
                Some(&json!("on")),
                "{statement}: {viewer:?}"
            );
            assert_eq!(rule(sight).as_deref(), Some("applies"), "{statement}");
            if let Some(named) = named {
                assert!(
                    heading(sight).contains(named),
                    "{statement}: {}",
                    heading(sight)
                );
            }
        }
    }
    // An override for all roles counts for the whole instance, because every new session gets it.
    cluster.sql("ALTER ROLE ALL SET synchronous_commit = off");
    let sights = reports_of_all_viewers(&cluster);
    assert_views_agree(
        "everybody",
        &cluster.data,
        &sights,
        &server_values(&cluster),
    );
    assert_eq!(
        sights[&Viewer::Root].known_value("pg.synchronous_commit"),
        Some(&json!("off"))
    );
    assert_eq!(
        sights[&Viewer::Root].best_database_evidence(&cluster.data),
        "at-risk"
    );
}

struct UnresponsiveServer<'c> {
    cluster: &'c Cluster,
    shows: BTreeMap<&'static str, Value>,
}

impl UnresponsiveServer<'_> {
    fn report_after_comparing_views(&self, row: &str) -> ViewerReport {
        let mut sights = reports_of_all_viewers(self.cluster);
        assert_views_agree(row, &self.cluster.data, &sights, &self.shows);
        sights.remove(&Viewer::Root).unwrap()
    }
}

fn postmaster_pid(cluster: &Cluster) -> Pid {
    let text = std::fs::read_to_string(cluster.data.join("postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().trim().parse().unwrap())
}

/// The answer to the statement; `None` if the server refuses the connection.
fn sql_unless_refused(cluster: &Cluster, statement: &str) -> Option<String> {
    let mut command = cluster.server_command("psql");
    command.args([
        "-h",
        &cluster.path_string(""),
        "-p",
        "5499",
        "-d",
        "postgres",
        "-Atc",
        statement,
    ]);
    let output = command.output_in_time();
    let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(answer)
}

fn fill_connection_slots(cluster: &Cluster) -> Vec<Child> {
    let session = || {
        let mut command = cluster.server_command("psql");
        command.args([
            "-h",
            &cluster.path_string(""),
            "-p",
            "5499",
            "-d",
            "plain",
            "-Atc",
            "SELECT pg_sleep(600)",
        ]);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut sessions: Vec<Child> = Vec::new();
    for number in ["1", "2"] {
        sessions.push(session());
        let count = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
        // The slot of the last query may still be taken.
        wait_for_condition("it is in", || {
            sql_unless_refused(cluster, count).as_deref() == Some(number)
        });
    }
    let mut last = session();
    wait_for_condition("nobody else gets in", || {
        // The connection test takes a slot for a moment, so the last session may have been refused.
        if last.try_wait().unwrap().is_some() {
            last = session();
        }
        sql_unless_refused(cluster, "SELECT 1").is_none()
    });
    sessions.push(last);
    sessions
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn unresponsive_server_is_never_misreported() {
    let mut cluster = create_cluster();
    cluster.append_to_file(
        "postgresql.conf",
        "fsync = on\nmax_connections = 3\nsuperuser_reserved_connections = 0\n",
    );
    cluster.restart_without_ctime_gap();
    let shows = server_values(&cluster);
    let unsaid = |row: &str, sight: &ViewerReport| {
        assert_eq!(
            sight.known_value("pg.fsync"),
            Some(&json!(true)),
            "{row}: its files are as it read them"
        );
        assert!(
            sight
                .known_value("pg.synchronous_commit_overrides")
                .is_none(),
            "{row}"
        );
        assert_eq!(
            sight.best_database_evidence(&cluster.data),
            "unproven",
            "{row}"
        );
    };

    kill(postmaster_pid(&cluster), Signal::SIGSTOP).unwrap();
    let row = "stopped by a signal";
    unsaid(
        row,
        &UnresponsiveServer {
            cluster: &cluster,
            shows: shows.clone(),
        }
        .report_after_comparing_views(row),
    );
    kill(postmaster_pid(&cluster), Signal::SIGCONT).unwrap();

    let mut sessions = fill_connection_slots(&cluster);
    let row = "out of connections";
    unsaid(
        row,
        &UnresponsiveServer {
            cluster: &cluster,
            shows: shows.clone(),
        }
        .report_after_comparing_views(row),
    );
    for session in &mut sessions {
        session.kill_in_time();
    }
    // The server processes of the killed sessions do not notice the loss.
    cluster.restart_without_ctime_gap();

    std::fs::write(
        cluster.data.join("pg_hba.conf"),
        "local all plain trust\nlocal all all reject\n",
    )
    .unwrap();
    cluster.run_server_program("pg_ctl", &["-D", &cluster.path_string("data"), "reload"]);
    wait_for_condition("the owner is refused", || {
        sql_unless_refused(&cluster, "SELECT 1").is_none()
    });
    let row = "the owner refused";
    unsaid(
        row,
        &UnresponsiveServer {
            cluster: &cluster,
            shows: server_values(&cluster),
        }
        .report_after_comparing_views(row),
    );
    // walwise cannot determine whether a file changed after the start was loaded.
    cluster.append_to_file("postgresql.conf", "fsync = off\n");
    let sight = UnresponsiveServer {
        cluster: &cluster,
        shows: server_values(&cluster),
    }
    .report_after_comparing_views("refused, and changed since");
    assert_eq!(sight.known_value("pg.fsync"), None);

    std::fs::write(cluster.data.join("pg_hba.conf"), "local all all trust\n").unwrap();
    cluster.stop();
    cluster.append_to_file("postgresql.conf", "restore_command = 'false'\nfsync = on\n");
    cluster.append_to_file("standby.signal", "");
    cluster.arguments = "-c hot_standby=on".to_owned();
    cluster.restart_without_ctime_gap();
    assert_eq!(
        show_setting(&cluster, "plain", "plain", "transaction_read_only"),
        "on"
    );
    let sight = UnresponsiveServer {
        cluster: &cluster,
        shows: server_values(&cluster),
    }
    .report_after_comparing_views("in recovery");
    assert!(
        sight
            .known_value("pg.synchronous_commit_overrides")
            .is_some()
    );
    assert_eq!(sight.known_value("pg.fsync"), Some(&json!(true)));
}

#[test]
#[ignore = "needs root, a mount name space and PostgreSQL 15"]
fn server_with_remounted_data_directory_is_queried() {
    let cluster = create_cluster();
    cluster.append_to_file("postgresql.conf", "fsync = on\n");
    cluster.stop();
    let seen = cluster.temporary_directory().join("elsewhere");
    std::fs::create_dir(&seen).unwrap();
    cluster.chown_to_server(&seen);
    let mut command = Command::new("unshare");
    let script = "mount --make-rprivate / && mount --bind \"$1\" \"$2\" && \
        exec setpriv --reuid=postgres --regid=postgres --clear-groups \"$3\" -D \"$2\" -k \"$4\" -p 5499 -c full_page_writes=off";
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(&cluster.data)
        .arg(&seen);
    command
        .arg(cluster.server_command("postgres").get_program())
        .arg(cluster.temporary_directory());
    let log = std::fs::File::create(cluster.temporary_directory().join("log")).unwrap();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    let mut server = command.spawn().unwrap();
    wait_for_condition("the server answers", || {
        sql_unless_refused(&cluster, "SELECT 1").is_some()
    });

    cluster.sql("ALTER DATABASE app SET synchronous_commit = off");
    let row = "in a mount name space of its own";
    let sights = reports_of_all_viewers(&cluster);
    assert_views_agree(row, &cluster.data, &sights, &server_values(&cluster));
    let root = &sights[&Viewer::Root];
    assert_eq!(
        root.known_value("pg.full_page_writes"),
        Some(&json!(false)),
        "{row}: by its command line"
    );
    assert_eq!(
        root.known_value("pg.synchronous_commit_overrides"),
        Some(&json!(["database app: off"])),
        "{row}"
    );

    kill(postmaster_pid(&cluster), Signal::SIGSTOP).unwrap();
    let sights = reports_of_all_viewers(&cluster);
    kill(postmaster_pid(&cluster), Signal::SIGCONT).unwrap();
    assert_views_agree(
        "the same, stopped by a signal",
        &cluster.data,
        &sights,
        &server_values(&cluster),
    );
    kill(postmaster_pid(&cluster), Signal::SIGINT).unwrap();
    server.wait_in_time();
}
