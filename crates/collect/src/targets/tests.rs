use std::path::Path;

use super::*;
use crate::facts::catalog::device::{self, ContentState};
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::postgres;
use crate::facts::catalog::target::{self, DirectoryRole, InodeFlag, TargetKind};
use crate::facts::{Choice, Reading, Source, UnknownReason};
use crate::host::{HostErrorKind, Question, Stat};
use crate::testing::{FakeHost, ZERO_STAT, note_sentences};

fn stat_answer(kind: u64, node: (u64, u64)) -> Vec<u8> {
    let (node_major, node_minor) = node;
    Stat {
        mode: kind,
        node_major,
        node_minor,
        inode: 2,
        ..ZERO_STAT
    }
    .encode()
}

trait DirectoryAnswers {
    fn with_directory(self, path: &str) -> Self;
    fn with_linked_directory(self, path: &str, real: &str) -> Self;
}

impl DirectoryAnswers for FakeHost {
    fn with_directory(self, path: &str) -> Self {
        self.with_answer(Question::Stat(path.into()), stat_answer(0o040_755, (0, 0)))
            .with_answer(Question::RealPath(path.into()), path)
            .with_answer(Question::IsEmpty(path.into()), "yes\n")
            .with_answer(Question::Flags(path.into()), "0")
    }

    fn with_linked_directory(self, path: &str, real: &str) -> Self {
        self.with_directory(real)
            .with_answer(Question::Stat(path.into()), stat_answer(0o040_755, (0, 0)))
            .with_answer(Question::RealPath(path.into()), real)
    }
}

fn host_with_directories() -> FakeHost {
    FakeHost::default()
        .with_answer(
            Question::Stat("/etc/hosts".into()),
            stat_answer(0o100_644, (0, 0)),
        )
        .with_directory("/")
        .with_directory("/data")
        .with_directory("/wal")
        .with_directory("/net")
}

fn facts_of_mounts_and_disks() -> FactSet {
    let mut facts = FactSet::default();
    let read = || Source::from_file("/proc/self/mountinfo");
    for (point, device, fstype, class) in [
        ("/", "sda1", "ext4", MountClass::Block),
        ("/data", "sdb1", "xfs", MountClass::Block),
        ("/wal", "sdc", "ext4", MountClass::Block),
        ("/net", "", "nfs4", MountClass::Network),
        ("/etc/hosts", "sda1", "ext4", MountClass::Block),
    ] {
        let subject = Subject::mount(point);
        facts.insert_known(&subject, &mount::POINT, point.to_owned(), read());
        facts.insert_known(&subject, &mount::ROOT, "/".to_owned(), read());
        facts.insert_known(&subject, &mount::FSTYPE, fstype.to_owned(), read());
        facts.insert_known(&subject, &mount::CLASS, class, read());
        facts.insert_known(&subject, &mount::READ_ONLY, false, read());
        facts.insert_known(&subject, &mount::IN_SIGHT, true, read());
        if !device.is_empty() {
            let device = Subject::device(device);
            facts.insert_known(
                &device,
                &device::PATH,
                format!("/dev/{}", device.name()),
                read(),
            );
            facts.add_layer_below(&subject, &device);
            facts.set_fact_link(&subject, &device);
        }
    }
    facts.add_layer_below(&Subject::device("sdb1"), &Subject::device("sdb"));
    facts.add_subject(&Subject::device("sdb"));
    facts
}

fn insert_postgres_cluster(facts: &mut FactSet, data: &str, wal: &str) -> Subject {
    let cluster = Subject::cluster(data);
    let read = || Source::from_file("/proc/1/cmdline");
    facts.insert_known(&cluster, &postgres::DATA, data.to_owned(), read());
    facts.insert_known(&cluster, &postgres::WAL, wal.to_owned(), read());
    facts.insert_known(&cluster, &postgres::TABLESPACES, Vec::new(), read());
    cluster
}

fn collect(host: &FakeHost, target: Option<&str>, mut facts: FactSet) -> FactSet {
    let request = Request {
        target: target.map(PathBuf::from),
        allow_missing: true,
        ..Request::default()
    };
    collect_facts(host, &request, &mut facts);
    facts
}

fn target_names_and_roles(facts: &FactSet) -> Vec<(String, String)> {
    let row = |subject: &Subject| {
        let roles: Vec<&str> = facts
            .value(subject, &target::ROLES)
            .unwrap()
            .into_iter()
            .map(Choice::as_str)
            .collect();
        (subject.name().to_owned(), roles.join(" and "))
    };
    facts.subjects_of_scope(Scope::Target).map(row).collect()
}

fn name_and_role(name: &str, role: &str) -> (String, String) {
    (name.to_owned(), role.to_owned())
}

#[test]
fn directory_target_is_linked_to_mount_and_device() {
    let facts = collect(
        &host_with_directories().with_linked_directory("/srv/link", "/data/pg"),
        Some("/srv/link"),
        facts_of_mounts_and_disks(),
    );
    let subject = Subject::target("/data/pg");
    assert_eq!(
        target_names_and_roles(&facts),
        [name_and_role("/data/pg", "")]
    );
    assert_eq!(
        facts.value(&subject, &target::KIND),
        Some(TargetKind::Directory)
    );
    assert_eq!(facts.value(&subject, &target::EMPTY), Some(true));
    assert_eq!(
        facts.applicable_subject(&subject, Scope::Mount),
        Some(Subject::mount("/data"))
    );
    assert_eq!(
        facts.applicable_subject(&subject, Scope::Device),
        Some(Subject::device("sdb1"))
    );
    assert_eq!(facts.bottom_devices(&subject), [Subject::device("sdb")]);
}

#[test]
fn missing_directory_uses_nearest_existing_parent() {
    let host = host_with_directories().with_answer(
        Question::Flags("/data".into()),
        (0x0080_0000 | 0x8).to_string(),
    );
    let facts = collect(
        &host,
        Some("/data/new/./x/../pg"),
        facts_of_mounts_and_disks(),
    );
    let subject = Subject::target("/data/new/pg");
    assert_eq!(
        facts.value(&subject, &target::KIND),
        Some(TargetKind::Created)
    );
    assert_eq!(
        facts.value(&subject, &target::FLAGS),
        Some(vec![InodeFlag::Nocow, InodeFlag::Sync])
    );
    assert_eq!(
        facts.applicable_subject(&subject, Scope::Mount),
        Some(Subject::mount("/data"))
    );
    assert_eq!(
        facts.reading_by_name(&subject, "target.nocow").value(),
        None,
        "xfs has no such thing"
    );
}

#[test]
fn file_and_path_below_file_are_rejected() {
    for path in ["/etc/hosts", "/etc/hosts/pg"] {
        let facts = collect(
            &host_with_directories(),
            Some(path),
            facts_of_mounts_and_disks(),
        );
        assert_eq!(target_names_and_roles(&facts), []);
        assert!(
            note_sentences(&facts)
                .iter()
                .any(|warning| warning.contains("/etc/hosts")),
            "{:?}",
            note_sentences(&facts)
        );
    }
}

#[test]
fn timed_out_target_is_queried_once() {
    let host = host_with_directories()
        .with_error(Question::Stat("/net/pg".into()), HostErrorKind::TimedOut);
    let facts = collect(&host, Some("/net/pg"), facts_of_mounts_and_disks());
    let subject = Subject::target("/net/pg");
    let unknown = |name| {
        matches!(
            facts.reading_by_name(&subject, name),
            Reading::Unknown {
                why: UnknownReason::TimedOut,
                ..
            }
        )
    };
    assert!(unknown("target.kind") && unknown("target.empty") && unknown("target.flags"));
    assert_eq!(
        facts.applicable_subject(&subject, Scope::Mount),
        Some(Subject::mount("/net"))
    );
    let asked = host
        .asked_questions()
        .into_iter()
        .filter(|question| format!("{question:?}").contains("/net/pg"))
        .count();
    assert_eq!(asked, 1);
}

#[test]
fn device_target_becomes_its_mount_or_itself() {
    let block = |fake: FakeHost, path: &str, node: (u64, u64), name: &str| {
        fake.with_answer(Question::Stat(path.into()), stat_answer(0o060_660, node))
            .with_answer(Question::RealPath(path.into()), path)
            .with_symlink(
                format!("/sys/dev/block/{}:{}", node.0, node.1),
                &format!("../x/{name}"),
            )
    };
    let facts = collect(
        &block(
            host_with_directories(),
            "/dev/disk/by-id/x",
            (8, 17),
            "sdb1",
        ),
        Some("/dev/disk/by-id/x"),
        facts_of_mounts_and_disks(),
    );
    assert_eq!(target_names_and_roles(&facts), [name_and_role("/data", "")]);
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|warning| warning.contains("mounted on /data"))
    );

    let facts = collect(
        &block(host_with_directories(), "/dev/sdb", (8, 16), "sdb"),
        Some("/dev/sdb"),
        facts_of_mounts_and_disks(),
    );
    let subject = Subject::target("/dev/sdb");
    assert_eq!(
        facts.value(&subject, &target::KIND),
        Some(TargetKind::Device)
    );
    assert_eq!(
        facts.applicable_subject(&subject, Scope::Device),
        Some(Subject::device("sdb"))
    );
    assert_eq!(facts.bottom_devices(&subject), [Subject::device("sdb")]);
}

#[test]
fn covered_mount_point_is_not_suggested() {
    let gone = |path: &str, fake: FakeHost| {
        fake.with_error(Question::Stat(path.into()), HostErrorKind::Absent)
    };
    for (asked, meant) in [
        ("/data/pg", None),
        ("/data/pgg", None),
        ("/dta", Some("/data")),
    ] {
        let mut storage = facts_of_mounts_and_disks();
        storage.insert_known(
            &Subject::mount("/data/pg"),
            &mount::POINT,
            "/data/pg".to_owned(),
            Source::from_file("/proc"),
        );
        let host = gone(asked, gone("/data/pg", host_with_directories()));
        let path = Path::new(asked);
        let mistake = request::unusable_target_note(&host, path, &host.stat(path), false, &storage);
        let said = mistake
            .map(|mistake| mistake.to_string())
            .unwrap_or_default();
        assert!(said.contains(&format!("{asked} does not exist")), "{said}");
        let suggested = said
            .split_once("did you mean ")
            .and_then(|(_, rest)| rest.split_once('?'));
        assert_eq!(suggested.map(|(meant, _)| meant), meant, "{said}");
    }
}

#[test]
fn data_and_wal_on_two_file_systems_are_two_targets() {
    let mut storage = facts_of_mounts_and_disks();
    let cluster = insert_postgres_cluster(&mut storage, "/data/pg", "/wal/pg");
    let facts = collect(
        &host_with_directories()
            .with_directory("/data/pg")
            .with_directory("/wal/pg"),
        None,
        storage,
    );
    assert_eq!(
        target_names_and_roles(&facts),
        [
            name_and_role("/data/pg", "data"),
            name_and_role("/wal/pg", "wal")
        ]
    );
    assert_eq!(
        facts.applicable_subject(&cluster, Scope::Target),
        Some(Subject::target("/wal/pg"))
    );
    assert_eq!(
        facts.applicable_subject(&cluster, Scope::Mount),
        Some(Subject::mount("/wal"))
    );
    for target in ["/data/pg", "/wal/pg"] {
        assert_eq!(
            facts
                .applicable_subject(&Subject::target(target), Scope::Cluster)
                .as_ref(),
            Some(&cluster)
        );
    }
}

#[test]
fn data_and_wal_on_one_file_system_are_one_target() {
    let mut storage = facts_of_mounts_and_disks();
    let cluster = insert_postgres_cluster(&mut storage, "/data/pg", "/data/fast/wal");
    let facts = collect(
        &host_with_directories()
            .with_directory("/data/pg")
            .with_directory("/data/fast/wal"),
        None,
        storage,
    );
    assert_eq!(
        target_names_and_roles(&facts),
        [
            name_and_role("/data/pg", "data and wal"),
            name_and_role("/wal", "")
        ]
    );
    assert_eq!(
        facts.applicable_subject(&cluster, Scope::Target),
        Some(Subject::target("/data/pg"))
    );
}

#[test]
fn unknown_wal_directory_leaves_roles_unknown() {
    let mut storage = facts_of_mounts_and_disks();
    let cluster = insert_postgres_cluster(&mut storage, "/data/pg", "/wal/pg");
    storage.insert(
        &cluster,
        &postgres::WAL,
        Reading::denied("realpath /data/pg/pg_wal"),
    );
    let facts = collect(
        &host_with_directories().with_directory("/data/pg"),
        None,
        storage,
    );
    assert_eq!(
        facts.value(&Subject::target("/data/pg"), &target::ROLES),
        Some(vec![DirectoryRole::Data])
    );
    for list in [
        target::ROLES.info.id,
        target::DIRECTORIES.info.id,
        target::CLUSTERS.info.id,
    ] {
        let reading = facts.reading(&Subject::target("/wal"), list);
        assert!(
            matches!(
                reading,
                Reading::Unknown {
                    why: UnknownReason::Denied,
                    ..
                }
            ),
            "{reading:?}"
        );
    }
    assert_eq!(facts.applicable_subject(&cluster, Scope::Target), None);
}

#[test]
fn directory_overlapping_cluster_belongs_to_it() {
    for (asked, role) in [
        ("/data/pg/base", "data"),
        ("/data", "data"),
        ("/wal/pg", "wal"),
        ("/data/other", ""),
    ] {
        let mut storage = facts_of_mounts_and_disks();
        let cluster = insert_postgres_cluster(&mut storage, "/data/pg", "/wal/pg");
        let facts = collect(
            &host_with_directories()
                .with_directory(asked)
                .with_directory("/wal/pg"),
            Some(asked),
            storage,
        );
        assert!(target_names_and_roles(&facts).contains(&name_and_role(asked, role)));
        let linked = facts.applicable_subject(&Subject::target(asked), Scope::Cluster);
        assert_eq!(linked, Some(cluster).filter(|_| !role.is_empty()));
    }
}

#[test]
fn data_mounts_and_free_devices_become_targets() {
    let mut storage = facts_of_mounts_and_disks();
    let free = Subject::device("sdd");
    storage.insert_known(
        &free,
        &device::PATH,
        "/dev/sdd".to_owned(),
        Source::from_file("/sys"),
    );
    storage.insert_known(
        &free,
        &device::CONTENT,
        ContentState::Free,
        Source::from_file("/dev/sdd"),
    );
    let locked = Subject::device("sde");
    storage.insert_known(
        &locked,
        &device::PATH,
        "/dev/sde".to_owned(),
        Source::from_file("/sys"),
    );
    storage.insert_known(
        &locked,
        &device::CONTENT,
        ContentState::Free,
        Source::from_file("/dev/sde"),
    );
    storage.insert_known(&locked, &device::READ_ONLY, true, Source::from_file("/sys"));
    let host = host_with_directories();
    let facts = collect(&host, None, storage);
    assert_eq!(
        target_names_and_roles(&facts),
        [
            name_and_role("/data", ""),
            name_and_role("/dev/sdd", ""),
            name_and_role("/wal", "")
        ]
    );
    let touched = host
        .asked_questions()
        .iter()
        .any(|question| format!("{question:?}").contains("/net"));
    assert!(!touched, "nobody asked for the network file system");
}

#[test]
fn root_is_target_without_others() {
    let mut only_root = FactSet::default();
    let root = Subject::mount("/");
    only_root.insert_known(&root, &mount::IN_SIGHT, true, Source::from_file("x"));
    only_root.insert_known(&root, &mount::POINT, "/".to_owned(), Source::from_file("x"));
    assert_eq!(
        target_names_and_roles(&collect(&host_with_directories(), None, only_root)),
        [name_and_role("/", "")]
    );
}

#[test]
fn swap_on_same_disk_is_listed() {
    let mut storage = facts_of_mounts_and_disks();
    let swap = Subject::device("sdb2");
    storage.insert_known(&swap, &device::SWAP, true, Source::from_file("/proc/swaps"));
    storage.add_layer_below(&swap, &Subject::device("sdb"));
    let facts = collect(&host_with_directories(), None, storage);
    let beside = |target: &str| facts.value(&Subject::target(target), &target::SWAP_BESIDE);
    assert_eq!(beside("/data"), Some(vec!["sdb".to_owned()]));
    assert_eq!(beside("/wal"), Some(vec![]));
}

#[test]
fn memory_and_network_targets_have_no_disks() {
    for (class, diskless) in [
        (MountClass::Memory, true),
        (MountClass::Network, true),
        (MountClass::Fuse, false),
        (MountClass::Block, false),
    ] {
        let mut storage = facts_of_mounts_and_disks();
        storage.insert_known(
            &Subject::mount("/data"),
            &mount::CLASS,
            class,
            Source::from_file("x"),
        );
        let facts = collect(&host_with_directories(), Some("/data"), storage);
        let target = Subject::target("/data");
        assert_eq!(
            facts.is_scope_inapplicable(&target, Scope::Device),
            diskless,
            "{class}"
        );
        if diskless {
            assert_eq!(facts.value(&target, &target::SWAP_BESIDE), Some(vec![]));
        }
    }
}

#[test]
fn nocow_comes_from_flag_or_mount_option() {
    for (flag, option, expected) in [
        (0x0080_0000, Some(false), Some(true)),
        (0, Some(true), Some(true)),
        (0, Some(false), Some(false)),
        (0, None, None),
    ] {
        let mut storage = facts_of_mounts_and_disks();
        let data = Subject::mount("/data");
        storage.insert_known(
            &data,
            &mount::FSTYPE,
            "btrfs".to_owned(),
            Source::from_file("x"),
        );
        if let Some(option) = option {
            storage.insert_known(
                &data,
                &mount::BTRFS_NODATACOW,
                option,
                Source::from_file("x"),
            );
        }
        let host =
            host_with_directories().with_answer(Question::Flags("/data".into()), flag.to_string());
        let facts = collect(&host, Some("/data"), storage);
        assert_eq!(
            facts.value(&Subject::target("/data"), &target::NOCOW),
            expected
        );
    }
}

#[test]
fn differing_wal_flag_makes_nocow_ambiguous() {
    let mut storage = facts_of_mounts_and_disks();
    storage.insert_known(
        &Subject::mount("/data"),
        &mount::FSTYPE,
        "btrfs".to_owned(),
        Source::from_file("x"),
    );
    storage.insert_known(
        &Subject::mount("/data"),
        &mount::BTRFS_NODATACOW,
        false,
        Source::from_file("x"),
    );
    insert_postgres_cluster(&mut storage, "/data/pg", "/data/pg/pg_wal");
    let host = host_with_directories()
        .with_directory("/data/pg")
        .with_directory("/data/pg/pg_wal");
    let host = host.with_answer(
        Question::Flags("/data/pg/pg_wal".into()),
        0x0080_0000.to_string(),
    );
    let nocow = collect(&host, None, storage).get(&Subject::target("/data/pg"), &target::NOCOW);
    assert!(
        matches!(
            nocow,
            Reading::Unknown {
                why: UnknownReason::Ambiguous,
                ..
            }
        ),
        "{nocow:?}"
    );
}

#[test]
fn data_target_adds_wal_on_other_file_system() {
    for (asked, both) in [
        ("/data/pg", true),
        ("/data", true),
        ("/wal/pg", false),
        ("/data/other", false),
    ] {
        let mut storage = facts_of_mounts_and_disks();
        let cluster = insert_postgres_cluster(&mut storage, "/data/pg", "/wal/pg");
        let facts = collect(
            &host_with_directories()
                .with_directory(asked)
                .with_directory("/wal/pg"),
            Some(asked),
            storage,
        );
        let roles: Vec<_> = target_names_and_roles(&facts)
            .into_iter()
            .filter(|(name, _)| name != asked)
            .collect();
        let expected = both.then(|| name_and_role("/wal/pg", "wal"));
        assert_eq!(
            roles,
            expected.clone().into_iter().collect::<Vec<_>>(),
            "{asked}"
        );
        if expected.is_some() {
            assert_eq!(
                facts.applicable_subject(&cluster, Scope::Target),
                Some(Subject::target("/wal/pg")),
                "{asked}"
            );
        }
    }
}

#[test]
fn unsuitable_target_is_rejected_with_note() {
    let host = host_with_directories()
        .with_directory("/dev")
        .with_directory("/dev/shm")
        .with_linked_directory("/srv/devices", "/dev")
        .with_symlink("/srv/dangling", "/gone")
        .with_answer(
            Question::Stat("/dev/zero".into()),
            stat_answer(0o020_666, (1, 5)),
        );
    for (asked, why) in [
        ("/dev/doesnotexist", "no such device"),
        ("/dev/mapper/vg-none", "no such device"),
        ("/data/../dev/none", "no such device"),
        ("/srv/devices/none", "no such device"),
        ("/dev/zero", "neither a block device"),
        ("/etc/hosts", "is a file"),
        ("/srv/dangling", "a link to /gone"),
    ] {
        let facts = collect(&host, Some(asked), facts_of_mounts_and_disks());
        assert_eq!(target_names_and_roles(&facts), [], "{asked}");
        assert!(
            note_sentences(&facts)
                .iter()
                .any(|warning| warning.contains(why)),
            "{:?}",
            note_sentences(&facts)
        );
    }
    let facts = collect(&host, Some("/dev/shm/pg"), facts_of_mounts_and_disks());
    assert_eq!(
        target_names_and_roles(&facts),
        [name_and_role("/dev/shm/pg", "")],
        "a directory in memory"
    );
}

#[test]
fn capture_resolves_only_known_devices() {
    let host = || {
        ["/dev/sdb1", "/dev/sdb", "/dev/loop10", "/srv/pg"]
            .iter()
            .fold(host_with_directories(), |host, path| {
                host.with_error(Question::Stat((*path).into()), HostErrorKind::NotCollected)
            })
    };
    let mut storage = facts_of_mounts_and_disks();
    storage.insert_known(
        &Subject::device("sdb"),
        &device::PATH,
        "/dev/sdb".to_owned(),
        Source::from_file("/sys"),
    );
    for (asked, expected) in [
        ("/dev/sdb1", Some("/data")),
        ("/dev/sdb", Some("/dev/sdb")),
        ("/dev/loop10", None),
        ("/srv/pg", Some("/srv/pg")),
    ] {
        let facts = collect(&host(), Some(asked), storage.clone());
        let expected: Vec<_> = expected
            .iter()
            .map(|name| name_and_role(name, ""))
            .collect();
        assert_eq!(target_names_and_roles(&facts), expected, "{asked}");
        assert_eq!(
            note_sentences(&facts).is_empty(),
            asked == "/dev/sdb",
            "{:?}",
            note_sentences(&facts)
        );
    }
    let facts = collect(&host(), Some("/dev/sdb"), storage);
    assert_eq!(
        facts.value(&Subject::target("/dev/sdb"), &target::KIND),
        Some(TargetKind::Device)
    );
    assert_eq!(
        facts.bottom_devices(&Subject::target("/dev/sdb")),
        [Subject::device("sdb")]
    );
}

#[test]
fn targets_sharing_file_system_or_disk_are_listed() {
    let mut storage = facts_of_mounts_and_disks();
    insert_postgres_cluster(&mut storage, "/data/pg", "/wal/pg");
    insert_postgres_cluster(&mut storage, "/data/other", "/data/other/pg_wal");
    let directories = ["/data/pg", "/wal/pg", "/data/other", "/data/other/pg_wal"];
    let host = directories
        .into_iter()
        .fold(host_with_directories(), DirectoryAnswers::with_directory);
    let facts = collect(&host, None, storage);
    let list = |target: &str, key| facts.value(&Subject::target(target), key);
    let one = |name: &str| Some(vec![name.to_owned()]);
    assert_eq!(
        list("/data/pg", &target::SHARES_FILE_SYSTEM),
        one("/data/other")
    );
    assert_eq!(list("/data/pg", &target::SHARES_DISK), one("/data/other"));
    assert_eq!(list("/wal/pg", &target::SHARES_DISK), Some(vec![]));
}

#[test]
fn paths_to_one_unit_count_as_shared_disk() {
    let mut storage = facts_of_mounts_and_disks();
    storage.record_path_to_same_disk(&Subject::device("sdc"), &Subject::device("sdb"));
    insert_postgres_cluster(&mut storage, "/data/pg", "/wal/pg");
    let facts = collect(
        &host_with_directories()
            .with_directory("/data/pg")
            .with_directory("/wal/pg"),
        None,
        storage,
    );
    let shared = facts.value(&Subject::target("/wal/pg"), &target::SHARES_DISK);
    assert_eq!(shared, Some(vec!["/data/pg".to_owned()]));
}

#[test]
fn targets_sharing_thin_pool_are_listed() {
    let mut storage = facts_of_mounts_and_disks();
    let pool = Subject::device("dm-2");
    storage.insert_known(
        &pool,
        &device::DM_UUID,
        "LVM-abc-tpool".to_owned(),
        Source::from_file("/sys"),
    );
    for volume in ["sdb1", "sdc"] {
        storage.add_layer_below(&Subject::device(volume), &pool);
    }
    insert_postgres_cluster(&mut storage, "/data/pg", "/wal/pg");
    let facts = collect(
        &host_with_directories()
            .with_directory("/data/pg")
            .with_directory("/wal/pg"),
        None,
        storage,
    );
    let shared = facts.value(&Subject::target("/wal/pg"), &target::SHARES_THIN_POOL);
    assert_eq!(shared, Some(vec!["/data/pg".to_owned()]));
}

#[test]
fn tablespace_and_data_targets_add_each_other() {
    for (asked, others) in [
        ("/data/pg", vec!["/wal/space"]),
        ("/wal/space", vec!["/data/pg"]),
    ] {
        let mut storage = facts_of_mounts_and_disks();
        let cluster = insert_postgres_cluster(&mut storage, "/data/pg", "/data/pg/pg_wal");
        let space = vec!["/wal/space".to_owned()];
        storage.insert_known(
            &cluster,
            &postgres::TABLESPACES,
            space,
            Source::from_file("/data/pg/pg_tblspc"),
        );
        let host = host_with_directories()
            .with_directory("/data/pg")
            .with_directory("/data/pg/pg_wal")
            .with_directory("/wal/space");
        let facts = collect(&host, Some(asked), storage);
        let mut names: Vec<String> = target_names_and_roles(&facts)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        names.retain(|name| name != asked);
        assert_eq!(names, others, "{asked}");
        assert!(
            target_names_and_roles(&facts).contains(&name_and_role("/wal/space", "tablespace"))
        );
        assert_eq!(
            facts.applicable_subject(&Subject::target("/wal/space"), Scope::Cluster),
            Some(cluster)
        );
    }
}
