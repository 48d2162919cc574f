//! A real PostgreSQL cluster on a private socket, found and read through the live host.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;
use walwise_collect::{Request, run_all_collectors};
use walwise_model::facts::catalog::{postgres, target};
use walwise_model::facts::{FactRow, FactSet, Reading, Scope, Subject, UnknownReason};
use walwise_sys::host::LiveHost;
use walwise_sys::host::{Host, HostError, Question};

use super::support::postgres::Cluster;
use super::support::{known_fact_value, stderr, walwise};
use crate::support::deadline::{CommandInTime as _, wait_for_condition};

const SECRET: &str = "hunter2-of-the-replica";

fn start_cluster_with_include() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.append_to_file("postgresql.conf", "include 'storage.conf'\n");
    cluster.append_to_file(
        "storage.conf",
        "# the WAL\nwal_sync_method = 'open_datasync'\n",
    );
    cluster.append_to_file(
        "postgresql.auto.conf",
        &format!("primary_conninfo = 'host=x password={SECRET}'\ncommit_delay = '7'\n"),
    );
    cluster.arguments.push_str("-c max_wal_senders=3");
    cluster.start();
    cluster
}

fn collect_and_log_answers(cluster: &Cluster) -> (FactSet, AnswerLoggingHost) {
    let host = AnswerLoggingHost {
        live: LiveHost::with_child_program(PathBuf::from(crate::support::programs::walwise_path())),
        answers: Mutex::default(),
    };
    let request = Request {
        target: Some(cluster.data.clone()),
        allow_missing: true,
        without_programs: false,
        ..Request::default()
    };
    (run_all_collectors(&host, &request, &mut |_, _| {}), host)
}

struct AnswerLoggingHost {
    live: LiveHost,
    answers: Mutex<Vec<u8>>,
}

impl Host for AnswerLoggingHost {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let answer = self.live.ask(question);
        if let Ok(bytes) = &answer {
            self.answers.lock().unwrap().extend_from_slice(bytes);
        }
        answer
    }

    fn run_notes(&self) -> Vec<String> {
        self.live.run_notes()
    }
}

fn reading_text(facts: &FactSet, cluster: &Subject, name: &str) -> String {
    match facts.reading_by_name(cluster, name) {
        Reading::Known { value, source } => format!("{value} {source}"),
        Reading::Unknown { why, detail, .. } => format!("? {why} {detail}"),
    }
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn a_running_cluster_is_found_with_where_its_settings_are_set() {
    let cluster = start_cluster_with_include();
    let data = cluster.path_string("data");
    let (facts, host) = collect_and_log_answers(&cluster);
    let subject = Subject::cluster(&*data);
    let said = |name| reading_text(&facts, &subject, name);
    let clusters: Vec<_> = facts.subjects_of_scope(Scope::Cluster).collect();
    assert!(
        clusters.contains(&&subject),
        "{clusters:?} {:?}",
        facts.notes()
    );

    assert_eq!(facts.value(&subject, &postgres::RUNNING), Some(true));
    assert_eq!(
        facts.value(&subject, &postgres::DATA).as_deref(),
        Some(data.as_str())
    );
    assert_eq!(
        facts.value(&subject, &postgres::WAL),
        Some(cluster.path_string("wal"))
    );
    assert_eq!(
        facts.value(&subject, &postgres::USER).as_deref(),
        Some("postgres")
    );
    assert_eq!(
        facts
            .value(&subject, &postgres::FSYNC_DISABLED_BY)
            .as_deref(),
        Some("none")
    );
    let version = facts.value(&subject, &postgres::VERSION).unwrap();
    assert!(
        version.number(0) == 15 && version.number_count() == 2,
        "{version}"
    );

    assert_eq!(
        said("pg.wal_sync_method"),
        format!("open_datasync {data}/storage.conf:2")
    );
    assert_eq!(
        said("pg.commit_delay"),
        format!("7 {data}/postgresql.auto.conf:4")
    );
    assert!(
        said("pg.fsync").starts_with(&format!("no {data}/postgresql.conf:")),
        "{}",
        said("pg.fsync")
    );
    assert_eq!(facts.value(&subject, &postgres::MAX_WAL_SENDERS), Some(3));
    assert_eq!(
        facts.value(&subject, &postgres::WAL_LEVEL),
        Some(postgres::WalLevel::Replica)
    );
    assert!(matches!(
        facts.get(&subject, &postgres::DEBUG_IO_DIRECT),
        Reading::Unknown {
            why: UnknownReason::Absent,
            ..
        }
    ));

    let target = Subject::target(&*data);
    assert_eq!(
        facts.value(&target, &target::ROLES),
        Some(vec![
            target::DirectoryRole::Data,
            target::DirectoryRole::Wal
        ])
    );
    assert_eq!(
        facts.applicable_subject(&target, Scope::Cluster),
        Some(subject.clone())
    );
    assert_eq!(
        facts.applicable_subject(&subject, Scope::Target),
        Some(target)
    );

    let mut everything = String::from_utf8_lossy(&host.answers.lock().unwrap()).into_owned();
    for FactRow { reading, .. } in facts.rows() {
        let _ = write!(everything, "{reading:?}");
    }
    assert!(
        !everything.contains(SECRET) && !everything.contains("conninfo"),
        "a secret came out"
    );
}

fn check_json(mut walwise: Command, cluster: &Cluster) -> Value {
    let output = walwise
        .args(["check", "--no-probe", "-v", "--format", "json"])
        .arg(&cluster.data)
        .output_in_time();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e} {}", stderr(&output)))
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn a_change_that_awaits_a_reload_is_not_taken_for_what_is_in_force() {
    let cluster = start_cluster_with_include();
    cluster.append_to_file("storage.conf", "wal_sync_method = fsync\n");
    let report = check_json(cluster.walwise_as_owner(), &cluster);
    let subject = Subject::cluster(cluster.path_string("data")).to_string();
    assert_eq!(
        known_fact_value(&report, &subject, "pg.wal_sync_method").unwrap(),
        "open_datasync"
    );
    assert_eq!(
        known_fact_value(&report, &subject, "pg.full_page_writes").unwrap(),
        true
    );
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("wal_sync_method is fsync"), "{warnings}");
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn printed_commands_change_a_setting_and_take_it_back() {
    let cluster = Cluster::new();
    cluster.append_to_file(
        "postgresql.conf",
        "full_page_writes = off\ncheckpoint_completion_target = 0.5\n",
    );
    cluster.start();
    for is_root in [true, false] {
        let walwise = if is_root {
            walwise()
        } else {
            cluster.walwise_as_owner()
        };
        let report = check_json(walwise, &cluster);
        let run_lines = |advice: &Value, word: &str| {
            let lines: Vec<&str> = advice[word]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let mut shell = if is_root {
                Command::new("sh")
            } else {
                cluster.command_as_owner("/bin/sh")
            };
            shell.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
            let output = shell.args(["-e", "-c", &lines.join("\n")]).output_in_time();
            assert!(output.status.success(), "{lines:?}: {}", stderr(&output));
        };
        let plans = report["plans"].as_array().unwrap().iter();
        let steps = plans.flat_map(|plan| plan["steps"].as_array().unwrap());
        let changed = steps.map(|step| &step["advice"]).filter(|advice| {
            advice["setting"].as_str().unwrap().starts_with("pg.")
                && advice["change"]["set"].is_string()
        });
        let mut seen = 0;
        for advice in changed {
            let name = advice["setting"]
                .as_str()
                .unwrap()
                .strip_prefix("pg.")
                .unwrap();
            let before = cluster.sql(&format!("SHOW {name}"));
            run_lines(advice, "apply");
            let value = || cluster.sql(&format!("SHOW {name}"));
            wait_for_condition(&format!("a reload of {name}"), || value() != before);
            run_lines(advice, "verify");
            run_lines(advice, "undo");
            wait_for_condition(&format!("the undo of {name}"), || value() == before);
            seen += 1;
        }
        assert!(seen >= 2, "{report}");
    }
}

/// Only the running server has the values of a deleted file. The server answers only its owner, so
/// root connects as that owner.
#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn files_changed_after_start_are_not_reported_as_in_force() {
    let cluster = Cluster::new();
    let more = cluster.temporary_directory().join("conf.d");
    std::fs::create_dir(&more).unwrap();
    std::fs::write(more.join("no.conf"), "fsync = off\n").unwrap();
    cluster.append_to_file(
        "postgresql.conf",
        &format!("fsync = on\ninclude_dir '{}'\n", more.display()),
    );
    cluster.start();
    let subject = Subject::cluster(cluster.path_string("data")).to_string();
    let fsync =
        |walwise| known_fact_value(&check_json(walwise, &cluster), &subject, "pg.fsync").cloned();
    let log = cluster.log();
    assert_eq!(fsync(walwise()), Some(false.into()));
    std::fs::remove_file(more.join("no.conf")).unwrap();
    assert_eq!(
        fsync(walwise()),
        Some(false.into()),
        "root asks as the owner"
    );
    assert_eq!(
        fsync(cluster.walwise_as_owner()),
        Some(false.into()),
        "its owner is answered"
    );
    assert_eq!(cluster.log(), log, "no connection was refused");
    // Moving the socket leaves walwise only the configuration files, and one of them is gone.
    std::fs::rename(
        cluster.temporary_directory().join(".s.PGSQL.5499"),
        cluster.temporary_directory().join("elsewhere"),
    )
    .unwrap();
    assert_eq!(fsync(walwise()), None);
    std::fs::rename(
        cluster.temporary_directory().join("elsewhere"),
        cluster.temporary_directory().join(".s.PGSQL.5499"),
    )
    .unwrap();

    cluster.stop();
    cluster.start();
    assert_eq!(fsync(walwise()), Some(true.into()));
}
