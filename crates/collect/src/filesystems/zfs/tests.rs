use proptest::prelude::*;

use super::*;
use crate::facts::catalog::mount::MountClass;
use crate::facts::{Remedy, Source};
use crate::host::Question;
use crate::testing::FakeHost;

const STATUS: &str = "pool: tank\nstate: ONLINE\n\tNAME STATE\n\ttank ONLINE\n\t  mirror-0 ONLINE\n\t    /dev/sda1 ONLINE\n\
    \t    /dev/sdb1 ONLINE\n\tspecial\n\t  /dev/sdc1 ONLINE\n\tlogs\n\t  /dev/nvme0n1p1 ONLINE\n\tcache\n\t  /dev/sdd1 ONLINE\n\
    \tspares\n\t  /dev/sde1 AVAIL\npool: cold\nstate: DEGRADED\n\tcold DEGRADED\n\t  raidz1-0 DEGRADED\n\t    /dev/sdf1 ONLINE\n\
    \t    1234567890 UNAVAIL\n";

fn host_with_pools(status: &str) -> FakeHost {
    let properties = "tank\tsync\tstandard\ntank/pg\tsync\tdisabled\ntank/pg\tlogbias\tlatency\ntank/pg\trecordsize\t32768\n\
        cold\tsync\tsometimes\ncold\tlogbias\tboth\n";
    FakeHost::default()
        .with_answer(
            Question::Run(Tool::Zpool, vec!["status".into(), "-P".into()]),
            status,
        )
        .with_answer(
            Question::Run(Tool::Zfs, PROPERTIES.map(str::to_owned).to_vec()),
            properties,
        )
        .with_files_in_directory(
            "/sys/module/zfs/parameters",
            &[("zfs_nocacheflush", "0"), ("zil_nocacheflush", "1")],
        )
        .with_file("/sys/module/zfs/version", "2.1.11-1\n")
        .with_file(
            "/run/udev/data/b230:16",
            "S:zvol/tank/vol\nE:DEVTYPE=disk\n",
        )
}

fn collect(host: &FakeHost) -> FactSet {
    let mut facts = FactSet::default();
    for name in ["sda1", "sdb1", "sdc1", "sdd1", "sde1", "sdf1", "nvme0n1p1"] {
        facts.add_subject(&Subject::device(name));
    }
    for (point, dataset) in [("/pg", "tank/pg"), ("/cold", "cold")] {
        let subject = Subject::mount(point);
        facts.insert_known(
            &subject,
            &mount::CLASS,
            MountClass::Zfs,
            Source::from_file("x"),
        );
        facts.insert_known(
            &subject,
            &mount::SOURCE,
            dataset.to_owned(),
            Source::from_file("x"),
        );
    }
    let volume = Subject::device("zd16");
    facts.insert_known(
        &volume,
        &device::KIND,
        device::DeviceKind::Zvol,
        Source::from_file("x"),
    );
    facts.insert_known(
        &volume,
        &device::DEVNO,
        "230:16".to_owned(),
        Source::from_file("x"),
    );
    collect_facts(host, &Request::default(), &mut facts);
    facts
}

#[test]
fn datasets_and_volumes_have_pool_devices_below() {
    let facts = collect(&host_with_pools(STATUS));
    let devices = ["sda1", "sdb1", "sdc1", "nvme0n1p1"].map(Subject::device);
    assert_eq!(facts.layers_directly_below(&Subject::mount("/pg")), devices);
    assert_eq!(
        facts.layers_directly_below(&Subject::device("zd16")),
        devices
    );
    assert_eq!(
        facts
            .value(&Subject::mount("/pg"), &mount::ZFS_DEVICES)
            .unwrap()
            .len(),
        4
    );
}

#[test]
fn unavailable_pool_device_is_lost() {
    let facts = collect(&host_with_pools(STATUS));
    let cold = Subject::mount("/cold");
    assert_eq!(
        facts.layers_directly_below(&cold),
        [Subject::device("sdf1")]
    );
    assert_eq!(facts.value(&cold, &mount::ZFS_DEVICES).unwrap(), ["sdf1"]);
    assert_eq!(
        facts.value(&cold, &mount::ZFS_LOST).unwrap(),
        ["1234567890 UNAVAIL"]
    );
    assert_eq!(
        facts.value(&cold, &mount::ZFS_POOL_STATE),
        Some(VdevState::Degraded)
    );
}

const WHOLE: &str = "  pool: cold\n state: ONLINE\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\tcold ONLINE 0 0 0\n\
    \t  mirror-0 ONLINE 0 0 0\n\t    /dev/sda1 ONLINE 0 0 0\n\t    /dev/sdb1 ONLINE 0 0 0\n\nerrors: No known data errors\n";

type PoolFacts = (
    Option<VdevState>,
    Option<usize>,
    Option<usize>,
    Option<bool>,
    Option<bool>,
);

fn facts_after_status_edit(old: &str, new: &str) -> PoolFacts {
    assert!(WHOLE.contains(old), "{old}");
    let facts = collect(&host_with_pools(&WHOLE.replacen(old, new, 1)));
    let cold = Subject::mount("/cold");
    (
        facts.value(&cold, &mount::ZFS_POOL_STATE),
        facts.value(&cold, &mount::ZFS_DEVICES).map(|all| all.len()),
        facts.value(&cold, &mount::ZFS_LOST).map(|all| all.len()),
        facts
            .value(&cold, &mount::ZFS_ERRORS)
            .map(|all| all.is_empty()),
        facts.value(&cold, &mount::ZFS_DAMAGED),
    )
}

#[test]
fn vdev_state_decides_used_and_lost_devices() {
    let online = Some(VdevState::Online);
    assert_eq!(
        facts_after_status_edit("sdb1", "sdb1"),
        (online, Some(2), Some(0), Some(true), Some(false))
    );
    for state in VdevState::ALL {
        let used = state.is_used_by_zfs();
        let found = facts_after_status_edit("sdb1 ONLINE", &format!("sdb1 {state}"));
        let expect = (
            online,
            Some(1 + usize::from(used)),
            Some(usize::from(!used)),
            Some(true),
            Some(false),
        );
        assert_eq!(found, expect, "{state}");
        // The device node is missing. The list of devices stays known if the pool does not use that
        // device.
        let gone = facts_after_status_edit("/dev/sdb1 ONLINE", &format!("/dev/sdx1 {state}"));
        let expect = (
            online,
            (!used).then_some(1),
            Some(usize::from(!used)),
            Some(true),
            Some(false),
        );
        assert_eq!(gone, expect, "{state}");
        assert_eq!(
            facts_after_status_edit("state: ONLINE", &format!("state: {state}")).0,
            Some(*state)
        );
    }
    assert_eq!(
        facts_after_status_edit("sdb1 ONLINE", "sdb1 DREAMING"),
        (online, None, None, Some(true), Some(false))
    );
    assert_eq!(
        facts_after_status_edit("state: ONLINE", "state: DREAMING").0,
        None
    );
}

#[test]
fn error_counts_and_damage_are_collected() {
    let online = Some(VdevState::Online);
    for counts in ["1 0 0", "0 1.21K 0", "0 0 7"] {
        let found = facts_after_status_edit("sdb1 ONLINE 0 0 0", &format!("sdb1 ONLINE {counts}"));
        assert_eq!(
            found,
            (online, Some(2), Some(0), Some(false), Some(false)),
            "{counts}"
        );
    }
    for (word, damage) in [
        ("none", Some(false)),
        ("permanent", Some(true)),
        ("3 data errors, use '-v' for a list", Some(true)),
        ("?", None),
        ("List of errors unavailable: permission denied", None),
    ] {
        assert_eq!(
            facts_after_status_edit("No known data errors", word).4,
            damage,
            "{word}"
        );
    }
}

#[test]
fn truncated_pool_status_is_unknown() {
    let text = WHOLE.trim_end();
    for end in WHOLE
        .match_indices('\n')
        .map(|(end, _)| end)
        .filter(|end| *end < text.len())
    {
        let facts = collect(&host_with_pools(WHOLE.get(..end).unwrap()));
        let cold = Subject::mount("/cold");
        assert_eq!(
            facts.value(&cold, &mount::ZFS_DEVICES),
            None,
            "{:?}",
            WHOLE.get(..end)
        );
        assert_eq!(facts.value(&cold, &mount::ZFS_DAMAGED), None);
    }
    for (old, new) in [
        ("\t    /dev/sdb1 ONLINE 0 0 0\n", ""),
        ("\t    /dev/sdb1 ONLINE 0 0 0\n", "\t    /dev/sdb1 ONLINE\n"),
        ("mirror-0", "raidz2-0"),
    ] {
        assert_eq!(facts_after_status_edit(old, new).1, None, "{new}");
    }
}

#[test]
fn old_capture_without_error_counts_is_accepted() {
    let facts = collect(&host_with_pools(STATUS));
    let pg = Subject::mount("/pg");
    assert_eq!(
        facts.value(&pg, &mount::ZFS_POOL_STATE),
        Some(VdevState::Online)
    );
    assert!(matches!(
        facts.get(&pg, &mount::ZFS_DAMAGED),
        Reading::Unknown {
            why: UnknownReason::NotCollected,
            ..
        }
    ));
}

#[test]
fn file_vdev_resolves_to_its_mount() {
    for (path, found) in [
        ("/dev/sdx1", None),
        ("/files/disk", Some("/files")),
        ("/dev/shm/disk", Some("/dev/shm")),
    ] {
        let host = host_with_pools(&WHOLE.replace("/dev/sdb1", path));
        let mut facts = FactSet::default();
        facts.add_subject(&Subject::device("sda1"));
        for (point, dataset) in [
            ("/", "root"),
            ("/dev", "udev"),
            ("/dev/shm", "shm"),
            ("/files", "x"),
            ("/cold", "cold"),
        ] {
            let subject = Subject::mount(point);
            let class = if point == "/cold" {
                MountClass::Zfs
            } else {
                MountClass::Memory
            };
            facts.insert_known(&subject, &mount::CLASS, class, Source::from_file("x"));
            facts.insert_known(
                &subject,
                &mount::SOURCE,
                dataset.to_owned(),
                Source::from_file("x"),
            );
            facts.insert_known(
                &subject,
                &mount::POINT,
                point.to_owned(),
                Source::from_file("x"),
            );
            facts.insert_known(&subject, &mount::IN_SIGHT, true, Source::from_file("x"));
        }
        collect_facts(&host, &Request::default(), &mut facts);
        let cold = Subject::mount("/cold");
        let expect: Vec<Subject> = std::iter::once(Subject::device("sda1"))
            .chain(found.map(Subject::mount))
            .collect();
        assert_eq!(facts.layers_directly_below(&cold), expect, "{path}");
        assert_eq!(
            facts.value(&cold, &mount::ZFS_DEVICES).is_some(),
            found.is_some(),
            "{path}"
        );
    }
}

#[test]
fn zfs_properties_and_module_facts_are_collected() {
    let facts = collect(&host_with_pools(STATUS));
    let pg = Subject::mount("/pg");
    assert_eq!(facts.value(&pg, &mount::ZFS_SYNC), Some(ZfsSync::Disabled));
    assert_eq!(facts.value(&pg, &mount::ZFS_RECORD), Some(32768));
    assert_eq!(
        facts.value(&pg, &mount::ZFS_LOGBIAS),
        Some(Logbias::Latency)
    );
    let cold = Subject::mount("/cold");
    let malformed = |name| {
        matches!(
            facts.reading_by_name(&cold, name),
            Reading::Unknown {
                why: UnknownReason::Malformed,
                ..
            }
        )
    };
    assert!(malformed("zfs.sync") && malformed("zfs.logbias"));
    assert_eq!(facts.host_value(&kernel::ZFS_NO_FLUSH), Some(true));
    assert_eq!(
        facts
            .host_value(&kernel::ZFS_VERSION)
            .unwrap()
            .numeric_part(),
        "2.1.11"
    );
}

#[test]
fn missing_tools_have_remedy_and_no_zfs_runs_nothing() {
    let facts = collect(&FakeHost::default());
    let reading = facts.get(&Subject::mount("/pg"), &mount::ZFS_SYNC);
    assert!(
        matches!(
            reading,
            Reading::Unknown {
                remedy: Some(Remedy::Install(_)),
                ..
            }
        ),
        "{reading:?}"
    );
    let host = FakeHost::default();
    collect_facts(&host, &Request::default(), &mut FactSet::default());
    assert!(host.asked_questions().is_empty());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        parse_zpool_status(&bytes);
        parse_zfs_properties(&bytes);
    }

    #[test]
    fn unindented_unknown_line_is_skipped(bad in "[^\n\t]{0,30}") {
        prop_assume!(!bad.trim_start().starts_with("pool:") && !bad.trim_start().starts_with("state:"));
        let broken = STATUS.replacen("\tspecial\n", &format!("{bad}\n\tspecial\n"), 1);
        prop_assert_eq!(parse_zpool_status(broken.as_bytes()), parse_zpool_status(STATUS.as_bytes()));
    }
}
