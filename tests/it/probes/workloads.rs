//! Each workload runs, leaves no file behind, and makes exactly the system calls that its
//! description claims.

mod calls;
mod loops;

use std::fs;
use std::path::Path;

use walwise_measure::measure::{Measurement, ProbePhase, Workload, WorkloadRow};
use walwise_measure::probes::{
    CancelHandle, ProbeError, ProbePlan, ProbeRequest, plan_probe, run_probe,
};

use super::short_probe_request;
use crate::support::deadline::ThreadInTime as _;
use crate::support::running::RunningProgram;
use crate::support::{sorted_file_names, stdout};

fn plan_for_workload(directory: &Path, workload: Workload) -> ProbePlan {
    let mut request = request_for_workload(directory, workload);
    request.options.keep_samples = true;
    plan_probe(&request).unwrap()
}

fn request_for_workload(directory: &Path, workload: Workload) -> ProbeRequest {
    let mut request = short_probe_request(directory);
    request.pages.clear();
    request.workloads = vec![workload];
    request.seconds = 20.0;
    request
}

fn run_one_round(plan: &ProbePlan) -> Result<Measurement, ProbeError> {
    let control = CancelHandle::default();
    run_probe(plan, &control, &mut |progress| {
        if matches!(progress.phase, ProbePhase::Workload(_)) && progress.round == 1 {
            control.cancel();
        }
    })
}

fn workload_row<'m>(found: &'m Measurement, name: &str) -> &'m WorkloadRow {
    let rows = &found.workloads[0].rows;
    rows.iter()
        .find(|row| row.name == name)
        .unwrap_or_else(|| panic!("no row {name}: {rows:?}"))
}

fn assert_runs_and_cleans_up(directory: &Path) {
    for workload in Workload::ALL {
        let plan = plan_for_workload(directory, workload);
        let found = run_one_round(&plan).unwrap();
        assert_eq!(sorted_file_names(directory), [""; 0], "{workload:?}");
        assert!(
            found.methods.is_empty() && found.caveats.iter().all(|c| !c.refuses_advice),
            "{found:?}"
        );
        assert!(found.bytes_written <= plan.max_bytes);
        let result = &found.workloads[0];
        assert_eq!((result.workload, result.rounds), (workload, 1));
        for row in &result.rows {
            assert_eq!(
                row.samples == 0,
                row.error.is_some(),
                "{workload:?} {row:?}"
            );
            assert_eq!(row.samples_us.concat().len() as u64, row.samples, "{row:?}");
            let calls = row.flush_calls_per_operation;
            let expected = match (workload, row.name.as_str()) {
                (Workload::Files, _) => 2.0..=2.0,
                (Workload::Innodb, name) if name.starts_with("both") => 2.0..=2.0,
                (Workload::Group, _) if row.threads > 1 => 0.0..=1.0,
                (Workload::Segment, "recycling") => 3.0..=3.0,
                (Workload::Segment, name) if name.contains("ing") => 4.0..=4.0,
                _ => 1.0..=1.0,
            };
            assert!(expected.contains(&calls), "{workload:?} {row:?}");
        }
    }
}

#[test]
fn workloads_run_in_any_directory() {
    assert_runs_and_cleans_up(tempfile::tempdir().unwrap().path());
}

#[test]
fn workloads_run_after_comparison() {
    let directory = tempfile::tempdir().unwrap();
    let mut request = request_for_workload(directory.path(), Workload::Group);
    request.pages = vec![1, 2];
    request.seconds = 0.1;
    let (mut phases, plan) = (Vec::new(), plan_probe(&request).unwrap());
    let found = run_probe(&plan, &CancelHandle::default(), &mut |progress| {
        if phases.last() != Some(&progress.phase) {
            phases.push(progress.phase);
        }
    });
    let found = found.unwrap();
    assert_eq!((found.methods.len(), found.workloads.len()), (9, 1));
    assert_eq!(phases.last(), Some(&ProbePhase::CleaningUp));
    assert_eq!(
        phases[phases.len() - 2],
        ProbePhase::Workload(Workload::Group)
    );
    assert_eq!(sorted_file_names(directory.path()), [""; 0]);
}

#[test]
fn every_size_is_paced_when_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let mut request = short_probe_request(directory.path());
    (request.pages, request.all_paced) = (vec![1, 2, 4, 8], true);
    request.seconds = 2.0;
    let found = run_probe(
        &plan_probe(&request).unwrap(),
        &CancelHandle::default(),
        &mut |_| {},
    )
    .unwrap();
    let sizes: Vec<u32> = found
        .methods
        .iter()
        .filter(|r| r.as_server)
        .map(|r| r.pages)
        .collect();
    assert_eq!(sizes, [1, 2, 4, 8].repeat(4));
    let of_server = found.methods.iter().filter(|row| row.as_server);
    let paced: Vec<Option<u64>> = of_server
        .map(|row| Some(row.paced.as_ref()?.samples))
        .collect();
    assert!(
        paced.windows(2).all(|two| two[0] == two[1]),
        "a turn has all of them: {paced:?}"
    );
}

#[test]
fn nice_option_applies_to_measuring_thread() {
    let directory = tempfile::tempdir().unwrap();
    let mut request = request_for_workload(directory.path(), Workload::Group);
    request.options.nice = true;
    let plan = plan_probe(&request).unwrap();
    let nice = std::thread::spawn(move || {
        let mut nice = Vec::new();
        let control = CancelHandle::default();
        run_probe(&plan, &control, &mut |_| {
            // Field 19 of proc_pid_stat(5), counted after the name, because the name may contain
            // blanks.
            let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
            let after = stat.rsplit_once(") ").unwrap().1;
            nice.push(after.split(' ').nth(16).unwrap().to_owned());
            control.cancel();
        })
        .unwrap();
        nice
    });
    let nice = nice.join_in_time();
    assert!(
        !nice.is_empty() && nice.iter().all(|nice| nice == "19"),
        "{nice:?}"
    );
}

#[test]
fn command_line_selects_workloads() {
    let directory = tempfile::tempdir().unwrap();
    let probe = |more: &[&str]| {
        let arguments = [
            "probe",
            directory.path().to_str().unwrap(),
            "--seconds",
            "0.3",
        ];
        let output =
            RunningProgram::start_walwise([&arguments[..], more].concat()).wait_for_output();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(sorted_file_names(directory.path()), [""; 0]);
        stdout(&output)
    };
    let found = probe(&["--workload", "files,group", "--samples", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let workloads: Vec<_> = found["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["workload"])
        .collect();
    assert_eq!(workloads, ["group", "files"]);
    assert_eq!(found["methods"].as_array().unwrap().len(), 0);
    for row in found["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["rows"].as_array().unwrap())
    {
        let rounds = row["samples_us"]
            .as_array()
            .map_or(0, |rounds| rounds.iter().map(array_len).sum());
        assert_eq!(row["samples"].as_u64(), Some(rounds), "{row}");
    }

    let found = probe(&["--samples", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert!(found["workloads"].is_null());
    for row in found["methods"].as_array().unwrap() {
        for latencies in ["paced", "back_to_back"]
            .map(|of| &row[of])
            .into_iter()
            .filter(|of| of.is_object())
        {
            let rounds = latencies["samples_us"]
                .as_array()
                .unwrap()
                .iter()
                .map(array_len)
                .sum();
            assert_eq!(latencies["samples"].as_u64(), Some(rounds), "{row}");
        }
    }

    let text = probe(&["--workload", "files"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[2].starts_with("files: create, write 4 kB, fsync, rename"),
        "{text}"
    );
    assert!(
        lines[4].starts_with("1 thread ") && lines[7].starts_with("8 threads "),
        "{text}"
    );
}

fn array_len(values: &serde_json::Value) -> u64 {
    values.as_array().unwrap().len() as u64
}
