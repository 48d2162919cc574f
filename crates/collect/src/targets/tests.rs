use std::path::Path;

use super::*;
use crate::facts::catalog::device::{self, ContentState};
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::postgres;
use crate::facts::catalog::target::{self, DirectoryRole, InodeFlag, TargetKind};
use crate::facts::{Choice, Reading, Source, UnknownReason};
use crate::host::{HostErrorKind, Question, Stat};
use crate::testing::{FakeHost, note_sentences};

fn stat(kind: u64, node: (u64, u64)) -> Vec<u8> {
    let (node_major, node_minor) = node;
    let (uid, gid, major, minor, size) = (0, 0, 0, 0, 0);
    Stat {
        mode: kind,
        uid,
        gid,
        major,
        minor,
        node_major,
        node_minor,
        inode: 2,
        size,
        ctime: None,
    }
    .encode()
}

trait Directories {
    fn directory(self, path: &str) -> Self;
    fn link_to(self, path: &str, real: &str) -> Self;
}

impl Directories for FakeHost {
    fn directory(self, path: &str) -> Self {
        self.answer(Question::Stat(path.into()), stat(0o040_755, (0, 0)))
            .answer(Question::RealPath(path.into()), path)
            .answer(Question::IsEmpty(path.into()), "yes\n")
            .answer(Question::Flags(path.into()), "0")
    }

    fn link_to(self, path: &str, real: &str) -> Self {
        self.directory(real)
            .answer(Question::Stat(path.into()), stat(0o040_755, (0, 0)))
            .answer(Question::RealPath(path.into()), real)
    }
}

fn host() -> FakeHost {
    FakeHost::default()
        .answer(Question::Stat("/etc/hosts".into()), stat(0o100_644, (0, 0)))
        .directory("/")
        .directory("/data")
        .directory("/wal")
        .directory("/net")
}

fn storage() -> FactSet {
    let mut facts = FactSet::default();
    let read = || Source::file("/proc/self/mountinfo");
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
            facts.add_edge(&subject, &device);
            facts.link(&subject, &device);
        }
    }
    facts.add_edge(&Subject::device("sdb1"), &Subject::device("sdb"));
    facts.add_subject(&Subject::device("sdb"));
    facts
}

fn cluster(facts: &mut FactSet, data: &str, wal: &str) -> Subject {
    let cluster = Subject::cluster(data);
    let read = || Source::file("/proc/1/cmdline");
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
    run(host, &request, &mut facts);
    facts
}

fn targets(facts: &FactSet) -> Vec<(String, String)> {
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

fn pair(name: &str, role: &str) -> (String, String) {
    (name.to_owned(), role.to_owned())
}

#[test]
fn a_directory_is_placed_on_its_mount_and_device() {
    let facts = collect(
        &host().link_to("/srv/link", "/data/pg"),
        Some("/srv/link"),
        storage(),
    );
    let subject = Subject::target("/data/pg");
    assert_eq!(targets(&facts), [pair("/data/pg", "")]);
    assert_eq!(
        facts.value(&subject, &target::KIND),
        Some(TargetKind::Directory)
    );
    assert_eq!(facts.value(&subject, &target::EMPTY), Some(true));
    assert_eq!(
        facts.subject_in_scope(&subject, Scope::Mount),
        Some(Subject::mount("/data"))
    );
    assert_eq!(
        facts.subject_in_scope(&subject, Scope::Device),
        Some(Subject::device("sdb1"))
    );
    assert_eq!(facts.bottom_devices(&subject), [Subject::device("sdb")]);
}

#[test]
fn a_directory_to_be_created_is_described_by_the_nearest_that_exists() {
    let host = host().answer(
        Question::Flags("/data".into()),
        (0x0080_0000 | 0x8).to_string(),
    );
    let facts = collect(&host, Some("/data/new/./x/../pg"), storage());
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
        facts.subject_in_scope(&subject, Scope::Mount),
        Some(Subject::mount("/data"))
    );
    assert_eq!(
        facts.reading_by_name(&subject, "target.nocow").value(),
        None,
        "xfs has no such thing"
    );
}

#[test]
fn a_file_is_refused_and_so_is_a_directory_beneath_one() {
    for path in ["/etc/hosts", "/etc/hosts/pg"] {
        let facts = collect(&host(), Some(path), storage());
        assert_eq!(targets(&facts), []);
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
fn what_does_not_answer_is_unknown_and_asked_nothing_more() {
    let host = host().refuse(Question::Stat("/net/pg".into()), HostErrorKind::TimedOut);
    let facts = collect(&host, Some("/net/pg"), storage());
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
        facts.subject_in_scope(&subject, Scope::Mount),
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
fn a_device_means_its_mount_point_or_itself() {
    let block = |fake: FakeHost, path: &str, node: (u64, u64), name: &str| {
        fake.answer(Question::Stat(path.into()), stat(0o060_660, node))
            .answer(Question::RealPath(path.into()), path)
            .symlink(
                format!("/sys/dev/block/{}:{}", node.0, node.1),
                &format!("../x/{name}"),
            )
    };
    let facts = collect(
        &block(host(), "/dev/disk/by-id/x", (8, 17), "sdb1"),
        Some("/dev/disk/by-id/x"),
        storage(),
    );
    assert_eq!(targets(&facts), [pair("/data", "")]);
    assert!(
        note_sentences(&facts)
            .iter()
            .any(|warning| warning.contains("mounted on /data"))
    );

    let facts = collect(
        &block(host(), "/dev/sdb", (8, 16), "sdb"),
        Some("/dev/sdb"),
        storage(),
    );
    let subject = Subject::target("/dev/sdb");
    assert_eq!(
        facts.value(&subject, &target::KIND),
        Some(TargetKind::Device)
    );
    assert_eq!(
        facts.subject_in_scope(&subject, Scope::Device),
        Some(Subject::device("sdb"))
    );
    assert_eq!(facts.bottom_devices(&subject), [Subject::device("sdb")]);
}

#[test]
fn a_mount_point_that_another_mount_lies_over_is_suggested_to_nobody() {
    let gone = |path: &str, fake: FakeHost| {
        fake.refuse(Question::Stat(path.into()), HostErrorKind::Absent)
    };
    for (asked, meant) in [
        ("/data/pg", None),
        ("/data/pgg", None),
        ("/dta", Some("/data")),
    ] {
        let mut storage = storage();
        storage.insert_known(
            &Subject::mount("/data/pg"),
            &mount::POINT,
            "/data/pg".to_owned(),
            Source::file("/proc"),
        );
        let host = gone(asked, gone("/data/pg", host()));
        let path = Path::new(asked);
        let mistake = request::target_error(&host, path, &host.stat(path), false, &storage);
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
    let mut storage = storage();
    let cluster = cluster(&mut storage, "/data/pg", "/wal/pg");
    let facts = collect(
        &host().directory("/data/pg").directory("/wal/pg"),
        None,
        storage,
    );
    assert_eq!(
        targets(&facts),
        [pair("/data/pg", "data"), pair("/wal/pg", "wal")]
    );
    assert_eq!(
        facts.subject_in_scope(&cluster, Scope::Target),
        Some(Subject::target("/wal/pg"))
    );
    assert_eq!(
        facts.subject_in_scope(&cluster, Scope::Mount),
        Some(Subject::mount("/wal"))
    );
    for target in ["/data/pg", "/wal/pg"] {
        assert_eq!(
            facts
                .subject_in_scope(&Subject::target(target), Scope::Cluster)
                .as_ref(),
            Some(&cluster)
        );
    }
}

#[test]
fn data_and_wal_on_one_file_system_are_one_target() {
    let mut storage = storage();
    let cluster = cluster(&mut storage, "/data/pg", "/data/fast/wal");
    let facts = collect(
        &host().directory("/data/pg").directory("/data/fast/wal"),
        None,
        storage,
    );
    assert_eq!(
        targets(&facts),
        [pair("/data/pg", "data and wal"), pair("/wal", "")]
    );
    assert_eq!(
        facts.subject_in_scope(&cluster, Scope::Target),
        Some(Subject::target("/data/pg"))
    );
}

#[test]
fn no_directory_is_known_to_be_unused_while_a_wal_is_not_found() {
    let mut storage = storage();
    let cluster = cluster(&mut storage, "/data/pg", "/wal/pg");
    storage.insert(
        &cluster,
        &postgres::WAL,
        Reading::denied("realpath /data/pg/pg_wal"),
    );
    let facts = collect(&host().directory("/data/pg"), None, storage);
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
    assert_eq!(facts.subject_in_scope(&cluster, Scope::Target), None);
}

#[test]
fn a_directory_in_or_around_a_cluster_belongs_to_it() {
    for (asked, role) in [
        ("/data/pg/base", "data"),
        ("/data", "data"),
        ("/wal/pg", "wal"),
        ("/data/other", ""),
    ] {
        let mut storage = storage();
        let cluster = cluster(&mut storage, "/data/pg", "/wal/pg");
        let facts = collect(
            &host().directory(asked).directory("/wal/pg"),
            Some(asked),
            storage,
        );
        assert!(targets(&facts).contains(&pair(asked, role)));
        let linked = facts.subject_in_scope(&Subject::target(asked), Scope::Cluster);
        assert_eq!(linked, Some(cluster).filter(|_| !role.is_empty()));
    }
}

#[test]
fn without_clusters_data_mounts_and_free_devices_are_found() {
    let mut storage = storage();
    let free = Subject::device("sdd");
    storage.insert_known(
        &free,
        &device::PATH,
        "/dev/sdd".to_owned(),
        Source::file("/sys"),
    );
    storage.insert_known(
        &free,
        &device::CONTENT,
        ContentState::Free,
        Source::file("/dev/sdd"),
    );
    let locked = Subject::device("sde");
    storage.insert_known(
        &locked,
        &device::PATH,
        "/dev/sde".to_owned(),
        Source::file("/sys"),
    );
    storage.insert_known(
        &locked,
        &device::CONTENT,
        ContentState::Free,
        Source::file("/dev/sde"),
    );
    storage.insert_known(&locked, &device::READ_ONLY, true, Source::file("/sys"));
    let host = host();
    let facts = collect(&host, None, storage);
    assert_eq!(
        targets(&facts),
        [pair("/data", ""), pair("/dev/sdd", ""), pair("/wal", "")]
    );
    let touched = host
        .asked_questions()
        .iter()
        .any(|question| format!("{question:?}").contains("/net"));
    assert!(!touched, "nobody asked for the network file system");
}

#[test]
fn the_root_is_a_target_only_when_nothing_else_is() {
    let mut only_root = FactSet::default();
    let root = Subject::mount("/");
    only_root.insert_known(&root, &mount::IN_SIGHT, true, Source::file("x"));
    only_root.insert_known(&root, &mount::POINT, "/".to_owned(), Source::file("x"));
    assert_eq!(targets(&collect(&host(), None, only_root)), [pair("/", "")]);
}

#[test]
fn swap_on_the_same_disk_is_named() {
    let mut storage = storage();
    let swap = Subject::device("sdb2");
    storage.insert_known(&swap, &device::SWAP, true, Source::file("/proc/swaps"));
    storage.add_edge(&swap, &Subject::device("sdb"));
    let facts = collect(&host(), None, storage);
    let beside = |target: &str| facts.value(&Subject::target(target), &target::SWAP_BESIDE);
    assert_eq!(beside("/data"), Some(vec!["sdb".to_owned()]));
    assert_eq!(beside("/wal"), Some(vec![]));
}

#[test]
fn what_lies_in_memory_or_on_the_network_has_no_disks_here() {
    for (class, diskless) in [
        (MountClass::Memory, true),
        (MountClass::Network, true),
        (MountClass::Fuse, false),
        (MountClass::Block, false),
    ] {
        let mut storage = storage();
        storage.insert_known(
            &Subject::mount("/data"),
            &mount::CLASS,
            class,
            Source::file("x"),
        );
        let facts = collect(&host(), Some("/data"), storage);
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
fn nocow_is_the_flag_or_the_mount_option() {
    for (flag, option, expected) in [
        (0x0080_0000, Some(false), Some(true)),
        (0, Some(true), Some(true)),
        (0, Some(false), Some(false)),
        (0, None, None),
    ] {
        let mut storage = storage();
        let data = Subject::mount("/data");
        storage.insert_known(&data, &mount::FSTYPE, "btrfs".to_owned(), Source::file("x"));
        if let Some(option) = option {
            storage.insert_known(&data, &mount::BTRFS_NODATACOW, option, Source::file("x"));
        }
        let host = host().answer(Question::Flags("/data".into()), flag.to_string());
        let facts = collect(&host, Some("/data"), storage);
        assert_eq!(
            facts.value(&Subject::target("/data"), &target::NOCOW),
            expected
        );
    }
}

#[test]
fn a_wal_directory_with_another_flag_is_not_passed_over() {
    let mut storage = storage();
    storage.insert_known(
        &Subject::mount("/data"),
        &mount::FSTYPE,
        "btrfs".to_owned(),
        Source::file("x"),
    );
    storage.insert_known(
        &Subject::mount("/data"),
        &mount::BTRFS_NODATACOW,
        false,
        Source::file("x"),
    );
    cluster(&mut storage, "/data/pg", "/data/pg/pg_wal");
    let host = host().directory("/data/pg").directory("/data/pg/pg_wal");
    let host = host.answer(
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
fn asking_for_the_data_is_asking_for_the_wal_that_lies_elsewhere_too() {
    for (asked, both) in [
        ("/data/pg", true),
        ("/data", true),
        ("/wal/pg", false),
        ("/data/other", false),
    ] {
        let mut storage = storage();
        let cluster = cluster(&mut storage, "/data/pg", "/wal/pg");
        let facts = collect(
            &host().directory(asked).directory("/wal/pg"),
            Some(asked),
            storage,
        );
        let roles: Vec<_> = targets(&facts)
            .into_iter()
            .filter(|(name, _)| name != asked)
            .collect();
        let expected = both.then(|| pair("/wal/pg", "wal"));
        assert_eq!(
            roles,
            expected.clone().into_iter().collect::<Vec<_>>(),
            "{asked}"
        );
        if expected.is_some() {
            assert_eq!(
                facts.subject_in_scope(&cluster, Scope::Target),
                Some(Subject::target("/wal/pg")),
                "{asked}"
            );
        }
    }
}

#[test]
fn what_is_no_device_is_no_target_and_it_is_said_why() {
    let host = host()
        .directory("/dev")
        .directory("/dev/shm")
        .link_to("/srv/devices", "/dev")
        .symlink("/srv/dangling", "/gone")
        .answer(Question::Stat("/dev/zero".into()), stat(0o020_666, (1, 5)));
    for (asked, why) in [
        ("/dev/doesnotexist", "no such device"),
        ("/dev/mapper/vg-none", "no such device"),
        ("/data/../dev/none", "no such device"),
        ("/srv/devices/none", "no such device"),
        ("/dev/zero", "neither a block device"),
        ("/etc/hosts", "is a file"),
        ("/srv/dangling", "a link to /gone"),
    ] {
        let facts = collect(&host, Some(asked), storage());
        assert_eq!(targets(&facts), [], "{asked}");
        assert!(
            note_sentences(&facts)
                .iter()
                .any(|warning| warning.contains(why)),
            "{:?}",
            note_sentences(&facts)
        );
    }
    let facts = collect(&host, Some("/dev/shm/pg"), storage());
    assert_eq!(
        targets(&facts),
        [pair("/dev/shm/pg", "")],
        "a directory in memory"
    );
}

#[test]
fn a_capture_answers_for_the_devices_it_holds_and_for_no_other() {
    let host = || {
        ["/dev/sdb1", "/dev/sdb", "/dev/loop10", "/srv/pg"]
            .iter()
            .fold(host(), |host, path| {
                host.refuse(Question::Stat((*path).into()), HostErrorKind::NotCollected)
            })
    };
    let mut storage = storage();
    storage.insert_known(
        &Subject::device("sdb"),
        &device::PATH,
        "/dev/sdb".to_owned(),
        Source::file("/sys"),
    );
    for (asked, expected) in [
        ("/dev/sdb1", Some("/data")),
        ("/dev/sdb", Some("/dev/sdb")),
        ("/dev/loop10", None),
        ("/srv/pg", Some("/srv/pg")),
    ] {
        let facts = collect(&host(), Some(asked), storage.clone());
        let expected: Vec<_> = expected.iter().map(|name| pair(name, "")).collect();
        assert_eq!(targets(&facts), expected, "{asked}");
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
fn what_servers_share_is_named() {
    let mut storage = storage();
    cluster(&mut storage, "/data/pg", "/wal/pg");
    cluster(&mut storage, "/data/other", "/data/other/pg_wal");
    let directories = ["/data/pg", "/wal/pg", "/data/other", "/data/other/pg_wal"];
    let host = directories.into_iter().fold(host(), Directories::directory);
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
fn two_paths_to_one_unit_are_one_disk_that_is_shared() {
    let mut storage = storage();
    storage.set_first_path(&Subject::device("sdc"), &Subject::device("sdb"));
    cluster(&mut storage, "/data/pg", "/wal/pg");
    let facts = collect(
        &host().directory("/data/pg").directory("/wal/pg"),
        None,
        storage,
    );
    let shared = facts.value(&Subject::target("/wal/pg"), &target::SHARES_DISK);
    assert_eq!(shared, Some(vec!["/data/pg".to_owned()]));
}

#[test]
fn two_volumes_of_one_thin_pool_are_named() {
    let mut storage = storage();
    let pool = Subject::device("dm-2");
    storage.insert_known(
        &pool,
        &device::DM_UUID,
        "LVM-abc-tpool".to_owned(),
        Source::file("/sys"),
    );
    for volume in ["sdb1", "sdc"] {
        storage.add_edge(&Subject::device(volume), &pool);
    }
    cluster(&mut storage, "/data/pg", "/wal/pg");
    let facts = collect(
        &host().directory("/data/pg").directory("/wal/pg"),
        None,
        storage,
    );
    let shared = facts.value(&Subject::target("/wal/pg"), &target::SHARES_THIN_POOL);
    assert_eq!(shared, Some(vec!["/data/pg".to_owned()]));
}

#[test]
fn a_tablespace_on_another_file_system_is_a_target_and_leads_to_the_log() {
    for (asked, others) in [
        ("/data/pg", vec!["/wal/space"]),
        ("/wal/space", vec!["/data/pg"]),
    ] {
        let mut storage = storage();
        let cluster = cluster(&mut storage, "/data/pg", "/data/pg/pg_wal");
        let space = vec!["/wal/space".to_owned()];
        storage.insert_known(
            &cluster,
            &postgres::TABLESPACES,
            space,
            Source::file("/data/pg/pg_tblspc"),
        );
        let host = host()
            .directory("/data/pg")
            .directory("/data/pg/pg_wal")
            .directory("/wal/space");
        let facts = collect(&host, Some(asked), storage);
        let mut names: Vec<String> = targets(&facts).into_iter().map(|(name, _)| name).collect();
        names.retain(|name| name != asked);
        assert_eq!(names, others, "{asked}");
        assert!(targets(&facts).contains(&pair("/wal/space", "tablespace")));
        assert_eq!(
            facts.subject_in_scope(&Subject::target("/wal/space"), Scope::Cluster),
            Some(cluster)
        );
    }
}
