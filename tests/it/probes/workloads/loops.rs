//! Workloads on file systems of their own: each runs on all of them, and is refused or ends cleanly
//! without space, quota, or disk.

use std::fs;

use walwise_measure::measure::{ProbePhase, Workload};
use walwise_measure::probes::{CancelHandle, plan_probe, run_probe};

use super::calls::free_space_calls;
use super::{
    assert_runs_and_cleans_up, plan_for_workload, request_for_workload, run_one_round, workload_row,
};
use crate::support::loops::{
    MountedFileSystem, mount_btrfs, mount_ext4, mount_file_system, mount_xfs,
};
use crate::support::running::RunningProgram;
use crate::support::sorted_file_names;

#[test]
#[ignore = "needs root: a loop device"]
fn workloads_run_on_ext4() {
    assert_runs_and_cleans_up(&mount_ext4(&[], "").point);
}

#[test]
#[ignore = "needs root: a loop device"]
fn workloads_run_on_xfs() {
    assert_runs_and_cleans_up(&mount_xfs("").point);
}

#[test]
#[ignore = "needs root: a loop device"]
fn workloads_run_on_btrfs() {
    assert_runs_and_cleans_up(&mount_btrfs("").point);
}

#[test]
#[ignore = "needs root: a loop device"]
fn the_disk_counts_a_flush_for_each_that_is_asked_for() {
    let mounted = mount_ext4(&[], "");
    let mut request = request_for_workload(&mounted.point, Workload::Innodb);
    request.leaves = vec![mounted.disk.name().to_owned()];
    request.leaves_count_flushes = true;
    let found = run_one_round(&plan_probe(&request).unwrap()).unwrap();
    let flushes = workload_row(&found, "redo, fdatasync, 512 B")
        .flushes_per_operation
        .unwrap();
    assert!(flushes >= 1.0, "{flushes}");
    let both = workload_row(&found, "both in turn, 512 B")
        .flushes_per_operation
        .unwrap();
    assert!(both >= 2.0, "{both}");
}

#[test]
#[ignore = "needs root: a loop device"]
fn space_check_file_is_allocated_once_and_removed() {
    assert_eq!(
        free_space_calls(&mount_ext4(&[], "").point),
        ["openat room", "fallocate room", "unlinkat room"]
    );
}

#[test]
#[ignore = "needs root: a loop device"]
fn quota_errors_are_reported_before_and_during_writing() {
    let mounted = mount_btrfs("");
    crate::support::run("btrfs", &["quota", "enable", mounted.path()]);
    crate::support::run("btrfs", &["qgroup", "limit", "40M", mounted.path()]);
    let mut request = request_for_workload(&mounted.point, Workload::Segment);
    request.file_bytes = 16 << 20;
    let before = run_one_round(&plan_probe(&request).unwrap()).unwrap_err();
    assert!(before.to_string().contains("quota"), "{before}");
    assert!(
        before.to_string().contains("reserving") && before.to_string().contains("quota"),
        "{before}"
    );
    assert!(before.partial.is_none());

    (request.options.force, request.file_bytes) = (true, 64 << 20);
    let after = run_one_round(&plan_probe(&request).unwrap()).unwrap_err();
    assert!(after.to_string().contains("quota"), "{after}");
    assert!(
        after.to_string().contains("writing the scratch file")
            && after.to_string().contains("quota"),
        "{after}"
    );
    assert_eq!(sorted_file_names(&mounted.point), [""; 0]);
}

fn mount_nearly_full_ext4() -> MountedFileSystem {
    let mounted = mount_file_system(96, &["mkfs.ext4", "-q", "-m", "0"], "");
    fs::write(mounted.point.join("filler"), vec![1; 40 << 20]).unwrap();
    mounted
}

#[test]
#[ignore = "needs root: a loop device"]
fn nearly_full_file_system_is_measured_only_with_force() {
    let mounted = mount_nearly_full_ext4();
    let probe = |more: &[&str]| {
        let arguments = [
            "probe",
            mounted.path(),
            "--seconds",
            "1",
            "--format",
            "json",
        ];
        RunningProgram::start_walwise([&arguments[..], more].concat()).wait_for_output()
    };
    let refused = probe(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        crate::support::stderr(&refused).contains("--force"),
        "{refused:?}"
    );
    let forced = probe(&["--force"]);
    assert_eq!(forced.status.code(), Some(0), "{forced:?}");
    assert_eq!(sorted_file_names(&mounted.point), ["filler"]);
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_workload_that_fills_up_its_file_system_keeps_what_it_has() {
    for workload in [
        Workload::Files,
        Workload::Innodb,
        Workload::Entangle,
        Workload::Segment,
    ] {
        let mounted = mount_file_system(96, &["mkfs.ext4", "-q", "-m", "0"], "");
        let filler = mounted.point.join("filler");
        let error = run_probe(
            &plan_for_workload(&mounted.point, workload),
            &CancelHandle::default(),
            &mut |progress| {
                if matches!(progress.phase, ProbePhase::Workload(_)) && progress.round == 1 {
                    let mut file = fs::File::create(&filler).unwrap();
                    let _ = std::io::copy(&mut std::io::repeat(1), &mut file);
                }
            },
        )
        .unwrap_err();
        assert!(
            error.to_string().contains("ran out of space"),
            "{workload:?}: {error}"
        );
        let partial = error.partial.unwrap();
        assert!(
            partial.workloads[0].rounds >= 1 && !partial.workloads[0].rows.is_empty(),
            "{partial:?}"
        );
        assert_eq!(
            sorted_file_names(&mounted.point),
            ["filler"],
            "{workload:?}"
        );
    }
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_disk_that_fails_under_a_workload_is_an_error_that_keeps_the_rounds_before() {
    for workload in [Workload::Group, Workload::Files, Workload::Entangle] {
        let mounted = mount_xfs("");
        let error = run_probe(
            &plan_for_workload(&mounted.point, workload),
            &CancelHandle::default(),
            &mut |progress| {
                if matches!(progress.phase, ProbePhase::Workload(_)) && progress.round == 1 {
                    crate::support::run("xfs_io", &["-x", "-c", "shutdown", mounted.path()]);
                }
            },
        )
        .unwrap_err();
        assert!(
            error.to_string().contains("I/O error"),
            "{workload:?}: {error}"
        );
        assert!(error.to_string().contains("still there"), "{error}");
        assert_eq!(error.partial.unwrap().workloads[0].rounds, 1);
    }
}
