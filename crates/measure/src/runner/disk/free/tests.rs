//! Devices that are not free, each refused for its reason; and a free one with any one fact
//! unknown.

use super::*;
use crate::facts::{Source, UnknownReason};
use crate::host::DeviceScan;
use crate::runner::disk::serial::DiskId;

const BYTES: u64 = 1 << 30;

fn disk() -> Subject {
    Subject::device("sdc")
}

/// Facts of an unused, blank disk.
fn facts() -> FactSet {
    let mut facts = FactSet::default();
    let known = || Source::Assumed;
    facts.insert_known(
        &Subject::host(),
        &machine::CONTAINER,
        "none".to_owned(),
        known(),
    );
    facts.insert_known(&disk(), &device::KIND, DeviceKind::Disk, known());
    facts.insert_known(&disk(), &device::ZONED, Zoned::None, known());
    facts.insert_known(&disk(), &device::READ_ONLY, false, known());
    facts.insert_known(&disk(), &device::SWAP, false, known());
    for key in [&device::USED_BY, &device::HOLDS, &device::SIGNATURES] {
        facts.insert_known(&disk(), key, Vec::new(), known());
    }
    facts.insert_known(&disk(), &device::CONTENT, Content::Free, known());
    facts
}

fn findings() -> DeviceFindings {
    DeviceFindings {
        owner: 0,
        is_open_to_all: false,
        size: Ok(4 << 30),
        read_only: Ok(false),
        removable: Ok(false),
        hidden: false,
        holders: Ok(Vec::new()),
        partitions: Ok(Vec::new()),
        claimed: Ok(false),
        openers: Ok(Vec::new()),
        exports: Ok(Vec::new()),
        mentions: Ok(Vec::new()),
        disk_id: Ok(DiskId::Serial("S1".to_owned())),
    }
}

fn facts_with<T: FactValue>(key: &Key<T>, reading: Reading<T>) -> FactSet {
    let mut facts = facts();
    facts.insert(&disk(), key, reading);
    facts
}

fn with_value<T: FactValue>(key: &Key<T>, value: T) -> FactSet {
    facts_with(key, Reading::known(value, Source::Assumed))
}

fn lists(key: &Key<Vec<String>>, word: &str) -> FactSet {
    with_value(key, vec![word.to_owned()])
}

#[test]
fn a_blank_disk_that_nobody_uses_is_free() {
    assert_eq!(refusal_by_facts(&facts(), &disk()), None);
    assert_eq!(
        refusal_by_facts(&with_value(&device::KIND, DeviceKind::Partition), &disk()),
        None
    );
    assert_eq!(
        refusal_by_facts(&with_value(&device::CONTENT, Content::Blank), &disk()),
        None
    );
    assert_eq!(refusal_by_findings(&findings(), BYTES), None);
    let just = DeviceFindings {
        size: Ok(BYTES + LAST_BYTES),
        ..findings()
    };
    assert_eq!(refusal_by_findings(&just, BYTES), None);
}

/// Refusals by facts, with the words that must appear.
fn kinds_by_facts() -> Vec<(FactSet, String)> {
    let used = [
        "mounted at /srv",
        "partitioned",
        "member of md0",
        "member of dm-3",
        "member of bcache0",
        "member of drbd0",
        "member of zram0",
        "member of loop0",
        "internal LVM volume",
        "part of sdb, mounted at /",
        "part of sdb, member of md127",
        "path to sda, mounted at /",
    ];
    let mut all: Vec<(FactSet, String)> = used
        .into_iter()
        .map(|word| (lists(&device::USED_BY, word), format!("is in use: {word}")))
        .collect();
    let signatures = crate::host::LiveHost::signatures();
    assert!(signatures.len() >= 45, "{signatures:?}");
    for name in signatures {
        all.push((lists(&device::SIGNATURES, name), format!("holds {name}")));
        all.push((lists(&device::HOLDS, name), format!("holds {name}")));
    }
    let held = "data that a program has open exclusively (O_EXCL)";
    for word in ["unrecognised data", held] {
        all.push((lists(&device::HOLDS, word), format!("holds {word}")));
    }
    all.push((
        with_value(&device::CONTENT, Content::Holds),
        "holds something".to_owned(),
    ));
    all.push((
        with_value(&device::SWAP, true),
        "is in use as swap".to_owned(),
    ));
    all.push((
        with_value(&device::READ_ONLY, true),
        "is read-only".to_owned(),
    ));
    all.push((
        with_value(&device::ZONED, Zoned::HostManaged),
        "must be written sequentially".to_owned(),
    ));
    for kind in <DeviceKind as crate::facts::Choice>::ALL.iter().copied() {
        if kind != DeviceKind::Disk && kind != DeviceKind::Partition {
            all.push((
                with_value(&device::KIND, kind),
                "is neither a disk nor a partition".to_owned(),
            ));
        }
    }
    for container in ["docker", "lxc", "podman"] {
        let mut inside = facts();
        inside.insert_known(
            &Subject::host(),
            &machine::CONTAINER,
            container.to_owned(),
            Source::Assumed,
        );
        all.push((inside, format!("container ({container})")));
    }
    all
}

/// Refusals by findings, with the words that must appear.
fn kinds_by_findings() -> Vec<(DeviceFindings, &'static str)> {
    let one = |word: &str| Ok(vec![word.to_owned()]);
    vec![
        (
            DeviceFindings {
                hidden: true,
                ..findings()
            },
            "the kernel hides",
        ),
        (
            DeviceFindings {
                owner: 1000,
                ..findings()
            },
            "a device node that other users can open",
        ),
        (
            DeviceFindings {
                is_open_to_all: true,
                ..findings()
            },
            "a device node that other users can open",
        ),
        (
            DeviceFindings {
                size: Ok(0),
                ..findings()
            },
            "has no size",
        ),
        (
            DeviceFindings {
                size: Ok(BYTES),
                ..findings()
            },
            "choose a smaller --size",
        ),
        (
            DeviceFindings {
                size: Ok(BYTES + LAST_BYTES - 512),
                ..findings()
            },
            "choose a smaller --size",
        ),
        (
            DeviceFindings {
                read_only: Ok(true),
                ..findings()
            },
            "is read-only",
        ),
        (
            DeviceFindings {
                removable: Ok(true),
                ..findings()
            },
            "is removable",
        ),
        (
            DeviceFindings {
                claimed: Ok(true),
                ..findings()
            },
            "claimed it (O_EXCL)",
        ),
        (
            DeviceFindings {
                holders: one("dm-0"),
                ..findings()
            },
            "held by dm-0",
        ),
        (
            DeviceFindings {
                partitions: one("sdc1"),
                ..findings()
            },
            "has partitions",
        ),
        (
            DeviceFindings {
                openers: one("qemu (12)"),
                ..findings()
            },
            "is open in qemu (12)",
        ),
        (
            DeviceFindings {
                exports: one("loop0"),
                ..findings()
            },
            "is in use by loop0",
        ),
        (
            DeviceFindings {
                exports: one("an NVMe target"),
                ..findings()
            },
            "an NVMe target",
        ),
        (
            DeviceFindings {
                exports: one("a SCSI target"),
                ..findings()
            },
            "a SCSI target",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/fstab"),
                ..findings()
            },
            "is named in /etc/fstab",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/crypttab"),
                ..findings()
            },
            "is named in /etc/crypttab",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/zfs/zpool.cache"),
                ..findings()
            },
            "zpool.cache",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/lvm/devices/system.devices"),
                ..findings()
            },
            "system.devices",
        ),
        (
            DeviceFindings {
                disk_id: Err("cannot be told from another".to_owned()),
                ..findings()
            },
            "cannot be told",
        ),
    ]
}

#[test]
fn no_device_that_is_not_free_is_erased() {
    let (known, found) = (kinds_by_facts(), kinds_by_findings());
    for (facts, says) in &known {
        let why = refusal_by_facts(facts, &disk());
        assert!(
            why.as_ref().is_some_and(|why| why.contains(says.as_str())),
            "{says}: {why:?}"
        );
    }
    for (findings, says) in &found {
        let why = refusal_by_findings(findings, BYTES);
        assert!(
            why.as_ref().is_some_and(|why| why.contains(says)),
            "{says}: {why:?}"
        );
    }
    assert!(
        known.len() + found.len() >= 45,
        "{} and {}",
        known.len(),
        found.len()
    );
}

fn unknown<T>() -> Reading<T> {
    Reading::unknown(UnknownReason::Denied, "who knows")
}

fn hidden<T>() -> Finding<T> {
    Err("who knows".to_owned())
}

#[test]
fn whatever_is_unknown_is_a_no() {
    let mut host = facts();
    host.insert(&Subject::host(), &machine::CONTAINER, unknown());
    for facts in [
        host,
        facts_with(&device::KIND, unknown()),
        facts_with(&device::ZONED, unknown()),
        facts_with(&device::READ_ONLY, unknown()),
        facts_with(&device::SWAP, unknown()),
        facts_with(&device::USED_BY, unknown()),
        facts_with(&device::HOLDS, unknown()),
        facts_with(&device::SIGNATURES, unknown()),
        facts_with(&device::CONTENT, unknown()),
        FactSet::default(),
    ] {
        assert!(refusal_by_facts(&facts, &disk()).is_some());
    }
    assert!(
        refusal_by_facts(&facts(), &Subject::device("sdd")).is_some(),
        "nothing is known of another disk"
    );
    for findings in [
        DeviceFindings {
            size: hidden(),
            ..findings()
        },
        DeviceFindings {
            read_only: hidden(),
            ..findings()
        },
        DeviceFindings {
            removable: hidden(),
            ..findings()
        },
        DeviceFindings {
            claimed: hidden(),
            ..findings()
        },
        DeviceFindings {
            holders: hidden(),
            ..findings()
        },
        DeviceFindings {
            partitions: hidden(),
            ..findings()
        },
        DeviceFindings {
            openers: hidden(),
            ..findings()
        },
        DeviceFindings {
            exports: hidden(),
            ..findings()
        },
        DeviceFindings {
            mentions: hidden(),
            ..findings()
        },
        DeviceFindings {
            disk_id: hidden(),
            ..findings()
        },
    ] {
        let why = refusal_by_findings(&findings, BYTES);
        assert!(why.is_some_and(|why| why.contains("who knows")));
    }
}

#[test]
fn what_was_not_read_to_its_end_is_not_free() {
    let cut = DeviceScan {
        unread_places: 1,
        ..DeviceScan::default()
    };
    assert!(DeviceScan::decode(&cut.encode()).is_ok_and(|scan| scan.unread_places == 1));
    let unread = facts_with(
        &device::CONTENT,
        Reading::unknown(
            UnknownReason::TimedOut,
            "1 known location was not read in time",
        ),
    );
    assert!(
        refusal_by_facts(&unread, &disk()).is_some_and(|why| why.contains("was not read in time"))
    );
}
