use std::fs;
use std::path::Path;

use walwise_measure::measure::{Measurement, Method, MethodResult, ProbeInclusion, ProbePhase};
use walwise_measure::probes::{CancelHandle, ProbeRefusal, ProbeRequest, plan_probe, run_probe};

use super::{kill_a_probe_of, short_probe_request};
use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{
    LoopDevice, MountedFileSystem, mount_btrfs, mount_ext4, mount_file_system, mount_xfs,
};
use crate::support::running::wait_for_condition;
use crate::support::sorted_file_names;

fn probe_request_for(mounted: &MountedFileSystem) -> ProbeRequest {
    let mut request = short_probe_request(&mounted.point);
    request.leaves = vec![mounted.disk.name().to_owned()];
    request.leaves_count_flushes = true;
    request.seconds = 1.0;
    request
}

fn one_page_method_result(found: &Measurement, method: Method) -> &MethodResult {
    found
        .methods
        .iter()
        .find(|r| r.method == method && r.pages == 1)
        .unwrap()
}

fn probe_refusal(target: &Path) -> ProbeRefusal {
    plan_probe(&short_probe_request(target)).unwrap_err()
}

#[test]
#[ignore = "needs root: a loop device"]
fn flushes_are_counted_where_they_arrive() {
    let mounted = mount_ext4(&[], "");
    let found = run_twenty_rounds(probe_request_for(&mounted));
    for method in [Method::Fdatasync, Method::OpenDatasync] {
        // The count is slightly above 1 if the journal commits by itself meanwhile, and 2 for
        // methods that also write the timestamp.
        let flushes = one_page_method_result(&found, method)
            .flushes_per_commit
            .unwrap();
        assert!(
            (0.99..1.5).contains(&flushes),
            "{} {flushes}",
            method.name()
        );
    }
    assert_eq!(
        one_page_method_result(&found, Method::Floor).flushes_per_commit,
        None
    );

    mounted.remount("nobarrier");
    let found = run_twenty_rounds(probe_request_for(&mounted));
    let flushes = one_page_method_result(&found, Method::Fdatasync)
        .flushes_per_commit
        .unwrap();
    assert!(flushes < 0.05, "{flushes}");
}

fn probe_and_list_scratch_flags(request: &ProbeRequest, place: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let control = CancelHandle::default();
    let plan = plan_probe(request).unwrap();
    assert_eq!(plan.directory, place);
    run_probe(&plan, &control, &mut |_| {
        let scratch = sorted_file_names(place)
            .into_iter()
            .find(|name| name.starts_with(".walwise-probe-"));
        let Some(scratch) = scratch else { return };
        for file in fs::read_dir(place.join(scratch)).unwrap() {
            let listed = crate::support::run("lsattr", &[file.unwrap().path().to_str().unwrap()]);
            let flags = listed.split_whitespace().next().unwrap_or_default();
            found.push(if flags.contains('C') { "NOCOW" } else { "none" }.to_owned());
        }
        control.cancel();
    })
    .unwrap();
    found.dedup();
    found
}

fn run_twenty_rounds(mut request: ProbeRequest) -> Measurement {
    request.seconds = 3_000.0;
    let control = CancelHandle::default();
    let found = run_probe(&plan_probe(&request).unwrap(), &control, &mut |progress| {
        if progress.round == 20 {
            control.cancel();
        }
    });
    found.unwrap()
}

#[test]
#[ignore = "needs root: a loop device"]
fn the_cost_of_a_flush_needs_real_direct_io() {
    let mounted = mount_xfs("");
    let mut request = probe_request_for(&mounted);
    request
        .extra
        .extend(Method::methods_with_inclusion(ProbeInclusion::FlushCost));
    request.extra.push(Method::OpenDatasyncDirect);
    let found = run_twenty_rounds(request);
    for method in [
        Method::FdatasyncDirect,
        Method::FloorDirect,
        Method::OpenDatasyncDirect,
    ] {
        assert!(
            one_page_method_result(&found, method)
                .back_to_back
                .is_some(),
            "{:?}",
            one_page_method_result(&found, method)
        );
    }
    assert!(
        one_page_method_result(&found, Method::FdatasyncDirect)
            .flushes_per_commit
            .is_some()
    );
    assert_eq!(
        one_page_method_result(&found, Method::OpenDatasyncDirect).flushes_per_commit,
        None,
        "it may use forced unit access"
    );
}

#[test]
#[ignore = "needs root: a loop device"]
fn buffered_direct_io_is_told_from_direct_io() {
    for mounted in [mount_btrfs(""), mount_ext4(&[], "data=journal")] {
        let mut request = probe_request_for(&mounted);
        request
            .extra
            .extend(Method::methods_with_inclusion(ProbeInclusion::FlushCost));
        let found = run_twenty_rounds(request);
        let row = one_page_method_result(&found, Method::FdatasyncDirect);
        assert!(row.back_to_back.is_none() && row.error.is_some(), "{row:?}");
        assert!(
            found
                .caveats
                .iter()
                .any(|c| c.id.to_string() == "o-direct" && !c.refuses_advice)
        );
    }
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_read_only_file_system_is_refused() {
    let mounted = mount_ext4(&[], "ro");
    assert_eq!(
        probe_refusal(&mounted.point),
        ProbeRefusal::ReadOnly(mounted.path().to_owned())
    );
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_file_system_that_fills_up_is_an_error_and_keeps_nothing() {
    let mounted = mount_file_system(32, &["mkfs.ext4", "-q", "-m", "0"], "");
    let plan = plan_probe(&probe_request_for(&mounted)).unwrap();
    let filler = mounted.point.join("filler");
    let error = run_probe(&plan, &CancelHandle::default(), &mut |progress| {
        if progress.phase == ProbePhase::Preparing {
            let mut file = fs::File::create(&filler).unwrap();
            let _ = std::io::copy(&mut std::io::repeat(1), &mut file);
        }
    })
    .unwrap_err();
    assert!(error.to_string().contains("ran out of space"), "{error}");
    assert_eq!(sorted_file_names(&mounted.point), ["filler"]);
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_failing_disk_is_an_error_that_keeps_the_rounds_before() {
    let mounted = mount_xfs("");
    let mut request = probe_request_for(&mounted);
    request.seconds = 3_000.0;
    let error = run_probe(
        &plan_probe(&request).unwrap(),
        &CancelHandle::default(),
        &mut |progress| {
            if progress.phase == ProbePhase::Rounds && progress.round == 2 {
                crate::support::run("xfs_io", &["-x", "-c", "shutdown", mounted.path()]);
            }
        },
    )
    .unwrap_err();
    assert!(error.to_string().contains("I/O error"), "{error}");
    assert!(
        error.to_string().contains("still there"),
        "what cannot be removed is named: {error}"
    );
    assert_eq!(error.partial.unwrap().rounds, 2);
}

#[test]
#[ignore = "needs root: a loop device"]
fn an_unmounted_directory_keeps_nothing() {
    let mounted = mount_ext4(&[], "");
    let mut request = probe_request_for(&mounted);
    request.seconds = 3_000.0;
    let control = CancelHandle::default();
    let found = run_probe(&plan_probe(&request).unwrap(), &control, &mut |progress| {
        if progress.phase == ProbePhase::WarmUp {
            crate::support::run("umount", &["-l", mounted.path()]);
        }
        if progress.round == 2 {
            control.cancel();
        }
    })
    .unwrap();
    assert_eq!(found.rounds, 2);
    crate::support::run("mount", &[mounted.disk.device.as_str(), mounted.path()]);
    assert_eq!(sorted_file_names(&mounted.point), [""; 0]);
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_killed_probe_keeps_nothing_and_lets_go_of_the_file_system() {
    let mounted = mount_ext4(&[], "");
    kill_a_probe_of(&mounted.point);
    let umount = || {
        std::process::Command::new("umount")
            .arg(&mounted.point)
            .output_in_time()
    };
    wait_for_condition("the watcher lets go", || umount().status.success());
    crate::support::run("mount", &[mounted.disk.device.as_str(), mounted.path()]);
}

#[test]
#[ignore = "needs root: a loop device"]
fn scratch_file_gets_the_nocow_flag_of_the_database() {
    let mounted = mount_btrfs("");
    let cluster = mounted.create_subdirectory("cluster");
    let data = mounted.create_subdirectory("cluster/main");
    crate::support::run("chattr", &["+C", data.to_str().unwrap()]);
    fs::write(data.join("PG_VERSION"), "15\n").unwrap();
    assert_eq!(
        probe_and_list_scratch_flags(&short_probe_request(&data), &cluster),
        ["NOCOW"]
    );
    let mut elsewhere = short_probe_request(&data);
    elsewhere.scratch = Some(mounted.create_subdirectory("elsewhere"));
    assert_eq!(
        probe_and_list_scratch_flags(&elsewhere, &mounted.point.join("elsewhere")),
        ["NOCOW"]
    );

    crate::support::run("chattr", &["-C", data.to_str().unwrap()]);
    crate::support::run("chattr", &["+C", cluster.to_str().unwrap()]);
    assert_eq!(
        probe_and_list_scratch_flags(&short_probe_request(&data), &cluster),
        ["none"]
    );

    let volume = cluster.join("volume");
    crate::support::run(
        "btrfs",
        &["-q", "subvolume", "create", volume.to_str().unwrap()],
    );
    fs::write(volume.join("PG_VERSION"), "15\n").unwrap();
    let refused = probe_refusal(&volume);
    assert!(
        refused
            .to_string()
            .contains("root of its file system or subvolume"),
        "{refused}"
    );
}

#[test]
#[ignore = "needs root: a loop device"]
fn database_at_mount_point_needs_scratch_directory() {
    let mounted = mount_ext4(&[], "");
    fs::write(mounted.point.join("PG_VERSION"), "15\n").unwrap();
    let refused = probe_refusal(&mounted.point);
    assert!(refused.to_string().contains("--scratch DIR"), "{refused}");
    assert!(
        refused
            .to_string()
            .contains("is the root of its file system"),
        "{refused}"
    );
    let mut request = short_probe_request(&mounted.point);
    request.scratch = Some(mounted.create_subdirectory("inside"));
    assert!(
        plan_probe(&request).is_err(),
        "not even when named: it is inside the database"
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn wal_mounted_inside_its_database_is_what_the_refusal_names() {
    let (data, wal) = (mount_ext4(&[], ""), LoopDevice::new(64));
    let database = data.create_subdirectory("data/pg_wal");
    fs::write(data.create_subdirectory("data").join("PG_VERSION"), "15\n").unwrap();
    wal.mkfs(&["mkfs.ext4", "-q"]);
    let wal = MountedFileSystem::mount_at(wal, database, "");
    let refused = probe_refusal(&wal.point).to_string();
    assert!(
        refused.contains(&format!("{} is the root of its file system", wal.path())),
        "{refused}"
    );
    drop(wal);
    assert!(
        plan_probe(&short_probe_request(
            &data.create_subdirectory("data/pg_wal")
        ))
        .is_ok(),
        "without the mount there is room beside the database"
    );
}

#[test]
#[ignore = "needs root: a loop device"]
fn probe_refuses_database_at_filesystem_root() {
    let disk = LoopDevice::new(64);
    disk.mkfs(&["mkfs.ext4", "-q"]);
    let mounted = disk.mount("");
    let before = sorted_file_names(&mounted.point);
    fs::write(mounted.point.join("ibdata1"), "").unwrap();
    assert!(matches!(
        probe_refusal(&mounted.point),
        ProbeRefusal::NoSiblingPlace { .. }
    ));
    assert_eq!(sorted_file_names(&mounted.point).len(), before.len() + 1);
}
