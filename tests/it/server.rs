//! `walwise check` with a real PostgreSQL server with data on ext4 and WAL on XFS: findings,
//! measurements, and advice that the server accepts.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::{Change, RuleSet};
use walwise_model::facts::catalog::postgres::WalSyncMethod;
use walwise_model::facts::catalog::{postgres, probe};
use walwise_model::facts::{Choice, FactSet, Source, Subject};
use walwise_report::{Report, server_conf, text};
use walwise_sys::host::LiveHost;

use super::support::loops::{MountedFileSystem, mount_ext4, mount_xfs};
use super::support::postgres::Cluster;
use super::support::{
    has_no_scratch_directory, known_fact_value, rule_outcome, stderr, stdout, verdict, walwise,
};
use crate::support::deadline::CommandInTime as _;

const METHODS: [&str; 4] = ["fdatasync", "open_datasync", "fsync", "open_sync"];

struct ClusterOnTwoMounts {
    cluster: Cluster,
    data: MountedFileSystem,
    wal: MountedFileSystem,
}

impl ClusterOnTwoMounts {
    fn new() -> Self {
        let (data, wal) = (mount_ext4(&[], ""), mount_xfs(""));
        Self {
            cluster: Cluster::new_below(&data.point, &wal.point),
            data,
            wal,
        }
    }

    fn subject(&self) -> String {
        format!("cluster {}", self.cluster.path_string("data"))
    }

    fn wal_target(&self) -> Subject {
        Subject::target(self.cluster.path_string("wal"))
    }

    fn collect_session(&self) -> Session {
        let host = LiveHost::with_child_program(crate::support::programs::walwise_path().into());
        let request = Request {
            target: Some(self.cluster.data.clone()),
            allow_missing: true,
            without_programs: true,
            ..Request::default()
        };
        Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |_, _| {})
    }
}

fn insert_measurement_for(facts: &mut FactSet, target: &Subject, method: &str) {
    let source = || Source::Probe {
        id: "commit".to_owned(),
    };
    facts.insert_known(
        target,
        &probe::BEST_METHOD,
        WalSyncMethod::from_word(method).unwrap(),
        source(),
    );
    facts.insert_known(target, &probe::ADVISES_CHANGE, true, source());
    facts.insert_known(target, &probe::GAIN_PERCENT, 30.0, source());
    facts.insert_known(
        target,
        &probe::OUTCOME,
        probe::ComparisonConclusion::Settled,
        source(),
    );
    facts.insert_known(target, &probe::IMPLAUSIBLE, false, source());
}

fn string_column<'r>(rows: &'r Value, name: &str) -> Vec<&'r str> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row[name].as_str().unwrap())
        .collect()
}

#[test]
#[ignore = "needs root: loop devices and PostgreSQL 15"]
fn the_data_directory_of_a_server_leads_to_its_wal_which_is_measured() {
    let machine = ClusterOnTwoMounts::new();
    let cluster = &machine.cluster;
    cluster.append_to_file("postgresql.conf", "include 'storage.conf'\n");
    cluster.append_to_file("storage.conf", "wal_sync_method = 'open_datasync'\n");
    cluster.start();
    for mut command in [walwise(), cluster.walwise_as_owner()] {
        command.arg("check").arg(&cluster.data).args([
            "--probe-seconds",
            "3",
            "-v",
            "--format",
            "json",
        ]);
        let output = command.output_in_time();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e} {}", stderr(&output)));

        let (data, wal) = (cluster.path_string("data"), cluster.path_string("wal"));
        let mut roles: Vec<_> = report["targets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["roles"].to_string())
            .collect();
        roles.sort_unstable();
        assert_eq!(roles, ["[\"data\"]", "[\"wal\"]"]);
        for directory in [&data, &wal] {
            assert!(
                verdict(&report, Path::new(directory)).is_some(),
                "{}",
                report["verdicts"]
            );
        }
        let method = known_fact_value(&report, &machine.subject(), "pg.wal_sync_method").unwrap();
        let built_with =
            known_fact_value(&report, &machine.subject(), "pg.wal_compression_values").unwrap();
        assert!(
            built_with
                .as_array()
                .unwrap()
                .iter()
                .any(|word| word == "pglz"),
            "{built_with}"
        );
        assert_eq!(method, "open_datasync");
        let rows = report["facts"].as_array().unwrap().iter();
        let row = rows.clone().find(|row| {
            row["fact"] == "pg.wal_sync_method" && row["subject"] == machine.subject().as_str()
        });
        let source = &row.unwrap()["reading"]["source"];
        assert_eq!(source["path"], format!("{data}/storage.conf"), "{source}");
        assert_eq!(source["line"], 1);

        let probes = report["probes"].as_array().unwrap();
        assert_eq!(
            string_column(&report["probes"], "target"),
            [format!("target {wal}")],
            "{}",
            report["warnings"]
        );
        let measured = probes[0]["measurement"]["directory"].as_str().unwrap();
        assert_eq!(
            measured,
            machine.wal.path(),
            "beside the WAL, on its file system"
        );
        assert_eq!(
            known_fact_value(&report, &format!("target {wal}"), "probe.directory").unwrap(),
            measured
        );
        let of_server = |rule: &str| rule_outcome(&report, rule, &machine.subject());
        assert_eq!(of_server("pg.fsync-off"), Some("applies"));
        // Which method wins depends on the disk; the rules about the server must use the
        // measurement.
        assert!(
            of_server("pg.sync-method-measured") != Some("undecided"),
            "{}",
            report["findings"]
        );
        assert!(
            has_no_scratch_directory(&machine.wal.point)
                && has_no_scratch_directory(&machine.data.point)
        );
    }
}

fn file_changing_calls_in_trace(trace: &str) -> Vec<&str> {
    let opened = |line: &str| {
        line.contains("O_WRONLY") || line.contains("O_RDWR") || line.contains("O_CREAT")
    };
    trace
        .lines()
        .filter(|line| !line.contains("openat(") || opened(line))
        .filter(|line| line.contains('('))
        .collect()
}

#[test]
#[ignore = "needs root: loop devices, strace and PostgreSQL 15"]
fn a_method_that_costs_more_is_advised_against_and_nothing_is_written_inside_the_database() {
    let machine = ClusterOnTwoMounts::new();
    let cluster = &machine.cluster;
    cluster.append_to_file(
        "postgresql.conf",
        "wal_sync_method = fsync\ninclude 'advised.conf'\n",
    );
    cluster.append_to_file("advised.conf", "");
    cluster.start();
    let trace = cluster.temporary_directory().join("trace");
    // strace delays fsync by 0.1 s, so that the result does not depend on the disk.
    let check = |seconds: &str| {
        let output = Command::new("strace")
            .args(["-f", "-qq", "-y", "-e", "inject=fsync:delay_exit=100000", "-o"])
            .arg(&trace)
            .args(["-e", "trace=fsync,openat,creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2,linkat,symlinkat"])
            .args([crate::support::programs::walwise_path(), "check", "--format", "conf", "--probe-seconds", seconds])
            .arg(&cluster.data)
            .output_in_time();
        eprint!("{}", stderr(&output));
        stdout(&output)
    };
    let line_of = |advised: &str| {
        advised
            .lines()
            .find(|line| line.starts_with("wal_sync_method = "))
            .map(str::to_owned)
    };
    // A busy host completes few rounds in the first of these durations.
    let mut advised = String::new();
    for seconds in ["8", "30", "90"] {
        advised = check(seconds);
        if line_of(&advised).is_some() {
            break;
        }
    }
    let line = line_of(&advised).unwrap_or_else(|| panic!("{advised}"));
    cluster.append_to_file("advised.conf", &advised);
    let accepted = cluster.run_server_program(
        "postgres",
        &["-D", &cluster.path_string("data"), "-C", "wal_sync_method"],
    );
    assert!(
        accepted != "fsync" && METHODS.contains(&accepted.as_str()) && line.contains(&accepted),
        "{line}: {accepted}"
    );

    let trace = String::from_utf8_lossy(&std::fs::read(&trace).unwrap()).into_owned();
    let changes = file_changing_calls_in_trace(&trace);
    assert!(
        changes
            .iter()
            .any(|line| line.contains(machine.wal.path()) && line.contains("O_CREAT")),
        "{trace}"
    );
    for inside in [cluster.path_string("data"), cluster.path_string("wal")] {
        let wrong: Vec<_> = changes
            .iter()
            .filter(|line| line.contains(&inside))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
#[ignore = "needs root: loop devices and PostgreSQL 15"]
fn a_server_runs_with_every_method_as_it_was_advised() {
    let machine = ClusterOnTwoMounts::new();
    let cluster = &machine.cluster;
    cluster.append_to_file("postgresql.conf", "include 'advised.conf'\n");
    cluster.append_to_file("advised.conf", "");
    let subject = Subject::cluster(cluster.path_string("data"));
    for (before, method) in METHODS
        .iter()
        .cycle()
        .zip(METHODS.iter().cycle().skip(1))
        .take(METHODS.len())
    {
        std::fs::write(
            cluster.data.join("advised.conf"),
            format!("wal_sync_method = {before}\n"),
        )
        .unwrap();
        let mut session = machine.collect_session();
        assert_eq!(
            session.facts.value(&subject, &postgres::WAL_SYNC_METHOD),
            WalSyncMethod::from_word(before)
        );
        insert_measurement_for(&mut session.facts, &machine.wal_target(), method);
        let report = session.build_report();
        assert_advice_shows_change(&report, before, method, &cluster.path_string("data"));

        let lines = server_conf::render(&report);
        assert!(
            lines.contains(&format!("\nwal_sync_method = {method} ")),
            "{lines}"
        );
        std::fs::write(cluster.data.join("advised.conf"), &lines).unwrap();
        let data = cluster.path_string("data");
        assert_eq!(
            cluster.run_server_program("postgres", &["-D", &data, "-C", "wal_sync_method"]),
            **method
        );
        cluster.start();
        assert_eq!(cluster.sql("SHOW wal_sync_method"), **method);
        let (facts, _) = machine.collect_session().derived_facts_and_verdicts();
        assert_eq!(
            facts.value(&subject, &postgres::WAL_SYNC_METHOD),
            WalSyncMethod::from_word(method)
        );
        cluster.stop();
    }
}

fn assert_advice_shows_change(report: &Report, before: &str, method: &str, data: &str) {
    let step = report
        .plans
        .iter()
        .flat_map(|plan| &plan.steps)
        .find(|s| s.advice.setting.name == "pg.wal_sync_method");
    let advice = &step.unwrap_or_else(|| panic!("{:?}", report.plans)).advice;
    assert_eq!(advice.change, Change::Set(method.to_owned()));
    assert_eq!(
        advice.current.value().map(ToString::to_string).as_deref(),
        Some(before)
    );
    let source = advice.current.source().unwrap().to_string();
    assert_eq!(source, format!("{data}/advised.conf:1"));
    let text = text::render(report)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(text.contains(&format!("{before} → {method}")), "{text}");
}
