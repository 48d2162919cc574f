//! Targets on real file systems: the mount of a directory, the role of a device, and properties of
//! a directory.

use std::path::{Path, PathBuf};

use walwise_collect::{Request, run_all_collectors};
use walwise_model::facts::catalog::target;
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_sys::host::LiveHost;

use super::support::loops::{MountPoint, mount_btrfs, mount_ext4};
use super::support::run;

fn collect_target_facts(target: &Path) -> FactSet {
    let host =
        LiveHost::with_child_program(PathBuf::from(crate::support::programs::walwise_path()));
    let request = Request {
        target: Some(target.to_owned()),
        allow_missing: true,
        without_programs: true,
        ..Request::default()
    };
    run_all_collectors(&host, &request, &mut |_, _| {})
}

fn target_subject(path: &Path) -> Subject {
    Subject::target(path.to_str().unwrap())
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_new_directory_a_link_and_a_device_lead_to_the_same_file_system() {
    let disk = mount_ext4(&[], "");
    let link = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&disk.point, link.path().join("link")).unwrap();
    let created = target_subject(&disk.point.join("new/pg"));
    let facts = collect_target_facts(&link.path().join("link/new/pg"));
    assert_eq!(
        facts.value(&created, &target::KIND),
        Some(target::TargetKind::Created),
        "{:?}",
        facts.notes()
    );
    assert_eq!(
        facts.applicable_subject(&created, Scope::Mount),
        Some(Subject::mount(disk.path()))
    );
    assert_eq!(
        facts.applicable_subject(&created, Scope::Device),
        Some(Subject::device(disk.disk.name()))
    );

    let facts = collect_target_facts(Path::new(&disk.disk.device));
    let mounted = target_subject(&disk.point);
    assert_eq!(
        facts.value(&mounted, &target::KIND),
        Some(target::TargetKind::Directory)
    );
    assert_eq!(
        facts.value(&mounted, &target::EMPTY),
        Some(true),
        "lost+found is nothing"
    );
    assert!(
        facts
            .notes()
            .iter()
            .any(|note| note.to_string().contains(" is mounted on ")),
        "{:?}",
        facts.notes()
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn overmounted_path_resolves_to_the_upper_mount() {
    let (below, inner, over) = (
        mount_ext4(&[], ""),
        mount_ext4(&[], ""),
        mount_ext4(&[], ""),
    );
    let covered = below.create_subdirectory("a/b");
    let path = covered.join("pg");
    let _inner = MountPoint::bind_mount(&inner.point, covered);
    let device =
        || collect_target_facts(&path).applicable_subject(&target_subject(&path), Scope::Device);
    assert_eq!(device(), Some(Subject::device(inner.disk.name())));
    let _over = MountPoint::bind_mount(&over.point, below.point.join("a"));
    assert_eq!(device(), Some(Subject::device(over.disk.name())));
}

#[test]
#[ignore = "needs root: a loop device"]
fn btrfs_nocow_flag_is_read_and_inherited() {
    let disk = mount_btrfs("");
    let marked = disk.create_subdirectory("marked");
    run("chattr", &["+C", marked.to_str().unwrap()]);
    for (path, nocow) in [
        (marked.clone(), true),
        (marked.join("new"), true),
        (disk.create_subdirectory("plain"), false),
    ] {
        let facts = collect_target_facts(&path);
        assert_eq!(
            facts.value(&target_subject(&path), &target::NOCOW),
            Some(nocow),
            "{}",
            path.display()
        );
    }
}
