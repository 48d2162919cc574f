//! Probes on real directories: structure, limits, and above all the removal of all files.
//! Assertions cover only counts that do not depend on time.

mod loops;
mod planted;
mod required;
mod tool;
mod workloads;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use walwise_measure::measure::{Measurement, Method, ProbeInclusion, ProbePhase};
use walwise_measure::probes::{
    CancelHandle, ProbeError, ProbePlan, ProbeRequest, plan_probe, run_probe,
};

use crate::support::running::{RunningProgram, wait_for_condition};
use crate::support::sorted_file_names;

fn short_probe_request(directory: &Path) -> ProbeRequest {
    let mut request = ProbeRequest::new(directory);
    request.program = crate::support::programs::walwise_path().into();
    request.seconds = 0.3;
    request.file_bytes = 1 << 20;
    request
}

fn run_without_progress(plan: &ProbePlan) -> Result<Measurement, ProbeError> {
    run_probe(plan, &CancelHandle::default(), &mut |_| {})
}

#[test]
fn a_probe_measures_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut request = short_probe_request(directory.path());
    request
        .extra
        .extend(Method::methods_with_inclusion(ProbeInclusion::FlushCost));
    // The number of rounds ends this probe, because a busy disk makes little progress in a fixed
    // time.
    request.seconds = 3_000.0;
    let plan = plan_probe(&request).unwrap();
    let (control, mut phases, mut last) = (CancelHandle::default(), Vec::new(), None);
    let found = run_probe(&plan, &control, &mut |progress| {
        if phases.last() != Some(&progress.phase) {
            phases.push(progress.phase);
        }
        if progress.phase == ProbePhase::Rounds && progress.round == 1 {
            let [scratch] = &sorted_file_names(directory.path())[..] else {
                panic!("one scratch directory")
            };
            let scratch = directory.path().join(scratch);
            assert_eq!(
                sorted_file_names(&scratch),
                ["walwise-wal"],
                "linked while it is used"
            );
            assert_eq!(
                fs::metadata(scratch).unwrap().permissions().mode() & 0o777,
                0o700
            );
            assert!(progress.interim.is_some() && !progress.histogram.is_empty());
        }
        if progress.round == 2 {
            control.cancel();
        }
        last = Some(progress.clone());
    })
    .unwrap();
    let counted: u64 = last
        .iter()
        .flat_map(|last| &last.histogram)
        .map(|(_, count)| count)
        .sum();
    let default = found
        .methods
        .iter()
        .find(|row| row.method == Method::Fdatasync && row.pages == 1)
        .unwrap();
    let paced = default.paced.as_ref().unwrap();
    assert_eq!(counted, paced.samples, "the last telling has every commit");
    assert!(
        last.is_some_and(|last| (last.seconds + last.remaining_seconds - 3_000.0).abs() < 1e-6)
    );
    assert_eq!(sorted_file_names(directory.path()), [""; 0]);
    assert_eq!(
        phases,
        [
            ProbePhase::Preparing,
            ProbePhase::WarmUp,
            ProbePhase::Rounds,
            ProbePhase::CleaningUp
        ]
    );
    assert_eq!(found.rounds, 2, "{found:?}");
    assert!(found.bytes_written > 1 << 20 && found.bytes_written <= plan.max_bytes);
    for row in &found.methods {
        assert_eq!(row.back_to_back.is_none(), row.error.is_some(), "{row:?}");
        let loops = row.back_to_back.as_ref();
        assert!(
            loops.is_none_or(|loops| loops.rounds_us.len() == 2),
            "{row:?}"
        );
        assert_eq!(
            row.paced.is_some(),
            row.as_server && row.pages == 1 && row.error.is_none(),
            "{row:?}"
        );
    }
    let server: Vec<_> = found
        .methods
        .iter()
        .filter(|r| r.as_server)
        .map(|r| (r.method.name(), r.pages))
        .collect();
    assert_eq!(server.len(), 8);
    assert_eq!(found.comparisons.len(), 3);
}

#[test]
fn the_smallest_budget_ends_cleanly() {
    let directory = tempfile::tempdir().unwrap();
    let mut request = short_probe_request(directory.path());
    request.seconds = 0.0;
    request.file_bytes = 0;
    let found = run_without_progress(&plan_probe(&request).unwrap()).unwrap();
    assert!(!found.cancelled);
    // The number of commits depends on the speed of the disk.
    let too_few = found
        .caveats
        .iter()
        .any(|c| c.id.to_string() == "few-samples" && c.refuses_advice);
    let paced = found.methods[0]
        .paced
        .as_ref()
        .map_or(0, |paced| paced.samples);
    assert_eq!(too_few, paced < 8, "{found:?}");
    assert!(
        !too_few || found.best == Method::Fdatasync,
        "too little to prefer another: {found:?}"
    );
    assert_eq!(sorted_file_names(directory.path()), [""; 0]);
}

#[test]
fn a_cancelled_probe_keeps_what_it_has_and_leaves_nothing() {
    for at in [
        ProbePhase::Preparing,
        ProbePhase::WarmUp,
        ProbePhase::Rounds,
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut request = short_probe_request(directory.path());
        // Longer than any test may take, so that only the cancellation ends the probe.
        request.seconds = 3_000.0;
        let control = CancelHandle::default();
        let found = run_probe(&plan_probe(&request).unwrap(), &control, &mut |progress| {
            if progress.phase == at {
                control.cancel();
            }
        })
        .unwrap();
        assert!(found.cancelled);
        assert_eq!(found.rounds, u32::from(at == ProbePhase::Rounds));
        assert_eq!(sorted_file_names(directory.path()), [""; 0], "{at:?}");
    }
}

#[test]
fn a_database_directory_is_never_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("main");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("PG_VERSION"), "15\n").unwrap();
    let plan = plan_probe(&short_probe_request(&data)).unwrap();
    assert_eq!(plan.directory, directory.path().canonicalize().unwrap());
    let mut seen = Vec::new();
    run_probe(&plan, &CancelHandle::default(), &mut |_| {
        seen.push(sorted_file_names(&data));
    })
    .unwrap();
    assert!(seen.iter().all(|names| names == &["PG_VERSION"]));
    assert_eq!(sorted_file_names(directory.path()), ["main"]);
}

#[test]
fn a_directory_removed_under_the_probe_is_noticed() {
    let outside = tempfile::tempdir().unwrap();
    let directory = outside.path().join("d");
    fs::create_dir(&directory).unwrap();
    let mut request = short_probe_request(&directory);
    request.seconds = 3_000.0;
    let error = run_probe(
        &plan_probe(&request).unwrap(),
        &CancelHandle::default(),
        &mut |progress| {
            if progress.phase == ProbePhase::Rounds && progress.round == 3 {
                fs::remove_dir_all(&directory).unwrap();
            }
        },
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("was removed during the probe"),
        "{error}"
    );
    assert_eq!(
        error.partial.map(|m| m.rounds),
        Some(3),
        "the round without a linked file does not count"
    );
}

#[test]
fn a_directory_swapped_before_the_probe_gets_nothing() {
    let outside = tempfile::tempdir().unwrap();
    let directory = outside.path().join("d");
    fs::create_dir(&directory).unwrap();
    let plan = plan_probe(&short_probe_request(&directory)).unwrap();
    fs::rename(&directory, outside.path().join("old")).unwrap();
    fs::create_dir(&directory).unwrap();
    let error = run_without_progress(&plan).unwrap_err();
    assert!(error.to_string().contains("was replaced"), "{error}");
    assert_eq!(sorted_file_names(&directory), [""; 0]);
}

#[test]
fn without_a_watcher_nothing_is_written() {
    for program in ["/nonexistent/walwise", "/bin/true"] {
        let directory = tempfile::tempdir().unwrap();
        let mut request = short_probe_request(directory.path());
        request.program = program.into();
        let error = run_without_progress(&plan_probe(&request).unwrap()).unwrap_err();
        assert!(error.to_string().contains("cleaner"), "{error}");
        assert_eq!(sorted_file_names(directory.path()), [""; 0]);
    }
}

const VICTIM: &str = "WALWISE_TEST_PROBE_UNTIL_KILLED";

#[test]
fn the_watcher_removes_the_file_of_a_killed_probe() {
    if let Some(directory) = std::env::var_os(VICTIM) {
        let mut request = short_probe_request(Path::new(&directory));
        request.seconds = 3_000.0;
        let _ = run_without_progress(&plan_probe(&request).unwrap());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    kill_a_probe_of(directory.path());
}

fn kill_a_probe_of(directory: &Path) {
    let itself = "probes::the_watcher_removes_the_file_of_a_killed_probe";
    let program = std::env::current_exe().unwrap();
    let mut probe = RunningProgram::start(
        Command::new(program)
            .args(["--exact", itself])
            .env(VICTIM, directory),
    );
    probe.wait_for_scratch_file(directory);
    probe.signal(Signal::SIGKILL);
    probe.wait_for_output();
    wait_for_condition("the watcher removes the file", || {
        sorted_file_names(directory).is_empty()
    });
}
