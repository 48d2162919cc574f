use super::*;
use crate::facts::catalog::device::DeviceKind;
use crate::facts::{Source, UnknownReason};
use crate::host::ContentScan;
use crate::trial_runner::disk::disk_id::DiskId;

const BYTES: u64 = 1 << 30;

fn spare_disk() -> Subject {
    Subject::device("sdc")
}

fn free_disk_facts() -> FactSet {
    let mut facts = FactSet::default();
    let known = || Source::Assumed;
    facts.insert_known(
        &Subject::host(),
        &host::CONTAINER,
        "none".to_owned(),
        known(),
    );
    facts.insert_known(&spare_disk(), &device::KIND, DeviceKind::Disk, known());
    facts.insert_known(&spare_disk(), &device::ZONED, ZoneModel::None, known());
    facts.insert_known(&spare_disk(), &device::READ_ONLY, false, known());
    facts.insert_known(&spare_disk(), &device::SWAP, false, known());
    for key in [&device::USED_BY, &device::HOLDS, &device::SIGNATURES] {
        facts.insert_known(&spare_disk(), key, Vec::new(), known());
    }
    facts.insert_known(&spare_disk(), &device::CONTENT, ContentState::Free, known());
    facts
}

fn free_disk_findings() -> DeviceFindings {
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

fn free_disk_facts_with_reading<T: FactValue>(key: &Key<T>, reading: Reading<T>) -> FactSet {
    let mut facts = free_disk_facts();
    facts.insert(&spare_disk(), key, reading);
    facts
}

fn free_disk_facts_with_value<T: FactValue>(key: &Key<T>, value: T) -> FactSet {
    free_disk_facts_with_reading(key, Reading::known(value, Source::Assumed))
}

fn free_disk_facts_with_list(key: &Key<Vec<String>>, word: &str) -> FactSet {
    free_disk_facts_with_value(key, vec![word.to_owned()])
}

#[test]
fn unused_free_or_blank_disk_may_be_erased() {
    assert_eq!(
        erase_refusal_by_facts(&free_disk_facts(), &spare_disk()),
        None
    );
    assert_eq!(
        erase_refusal_by_facts(
            &free_disk_facts_with_value(&device::KIND, DeviceKind::Partition),
            &spare_disk()
        ),
        None
    );
    assert_eq!(
        erase_refusal_by_facts(
            &free_disk_facts_with_value(&device::CONTENT, ContentState::Blank),
            &spare_disk()
        ),
        None
    );
    assert_eq!(
        erase_refusal_by_findings(&free_disk_findings(), BYTES),
        None
    );
    let just = DeviceFindings {
        size: Ok(BYTES + RESERVED_END_BYTES),
        ..free_disk_findings()
    };
    assert_eq!(erase_refusal_by_findings(&just, BYTES), None);
}

/// Each item has facts that forbid erasing, and words that the refusal must contain.
fn forbidding_facts() -> Vec<(FactSet, String)> {
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
        "same disk as sda, mounted at /",
    ];
    let mut all: Vec<(FactSet, String)> = used
        .into_iter()
        .map(|word| {
            (
                free_disk_facts_with_list(&device::USED_BY, word),
                format!("is in use: {word}"),
            )
        })
        .collect();
    let signatures = crate::host::LiveHost::device_signature_names();
    assert!(signatures.len() >= 45, "{signatures:?}");
    for name in signatures {
        all.push((
            free_disk_facts_with_list(&device::SIGNATURES, name),
            format!("holds {name}"),
        ));
        all.push((
            free_disk_facts_with_list(&device::HOLDS, name),
            format!("holds {name}"),
        ));
    }
    let held = "data that a program has open exclusively (O_EXCL)";
    for word in ["unrecognised data", held] {
        all.push((
            free_disk_facts_with_list(&device::HOLDS, word),
            format!("holds {word}"),
        ));
    }
    all.push((
        free_disk_facts_with_value(&device::CONTENT, ContentState::Holds),
        "holds data".to_owned(),
    ));
    all.push((
        free_disk_facts_with_value(&device::SWAP, true),
        "is in use as swap".to_owned(),
    ));
    all.push((
        free_disk_facts_with_value(&device::READ_ONLY, true),
        "is read-only".to_owned(),
    ));
    all.push((
        free_disk_facts_with_value(&device::ZONED, ZoneModel::HostManaged),
        "must be written sequentially".to_owned(),
    ));
    for kind in <DeviceKind as crate::facts::Choice>::ALL.iter().copied() {
        if kind != DeviceKind::Disk && kind != DeviceKind::Partition {
            all.push((
                free_disk_facts_with_value(&device::KIND, kind),
                "is neither a disk nor a partition".to_owned(),
            ));
        }
    }
    for container in ["docker", "lxc", "podman"] {
        let mut inside = free_disk_facts();
        inside.insert_known(
            &Subject::host(),
            &host::CONTAINER,
            container.to_owned(),
            Source::Assumed,
        );
        all.push((inside, format!("container ({container})")));
    }
    all
}

/// Each item has findings that forbid erasing, and words that the refusal must contain.
fn forbidding_findings() -> Vec<(DeviceFindings, &'static str)> {
    let one = |word: &str| Ok(vec![word.to_owned()]);
    vec![
        (
            DeviceFindings {
                hidden: true,
                ..free_disk_findings()
            },
            "the kernel hides",
        ),
        (
            DeviceFindings {
                owner: 1000,
                ..free_disk_findings()
            },
            "a device node that other users can open",
        ),
        (
            DeviceFindings {
                is_open_to_all: true,
                ..free_disk_findings()
            },
            "a device node that other users can open",
        ),
        (
            DeviceFindings {
                size: Ok(0),
                ..free_disk_findings()
            },
            "has no size",
        ),
        (
            DeviceFindings {
                size: Ok(BYTES),
                ..free_disk_findings()
            },
            "choose a smaller --size",
        ),
        (
            DeviceFindings {
                size: Ok(BYTES + RESERVED_END_BYTES - 512),
                ..free_disk_findings()
            },
            "choose a smaller --size",
        ),
        (
            DeviceFindings {
                read_only: Ok(true),
                ..free_disk_findings()
            },
            "is read-only",
        ),
        (
            DeviceFindings {
                removable: Ok(true),
                ..free_disk_findings()
            },
            "is removable",
        ),
        (
            DeviceFindings {
                claimed: Ok(true),
                ..free_disk_findings()
            },
            "claimed it (O_EXCL)",
        ),
        (
            DeviceFindings {
                holders: one("dm-0"),
                ..free_disk_findings()
            },
            "in use by dm-0",
        ),
        (
            DeviceFindings {
                partitions: one("sdc1"),
                ..free_disk_findings()
            },
            "has partitions",
        ),
        (
            DeviceFindings {
                openers: one("qemu (12)"),
                ..free_disk_findings()
            },
            "is open in qemu (12)",
        ),
        (
            DeviceFindings {
                exports: one("loop0"),
                ..free_disk_findings()
            },
            "is in use by loop0",
        ),
        (
            DeviceFindings {
                exports: one("an NVMe target"),
                ..free_disk_findings()
            },
            "an NVMe target",
        ),
        (
            DeviceFindings {
                exports: one("a SCSI target"),
                ..free_disk_findings()
            },
            "a SCSI target",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/fstab"),
                ..free_disk_findings()
            },
            "is named in /etc/fstab",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/crypttab"),
                ..free_disk_findings()
            },
            "is named in /etc/crypttab",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/zfs/zpool.cache"),
                ..free_disk_findings()
            },
            "zpool.cache",
        ),
        (
            DeviceFindings {
                mentions: one("/etc/lvm/devices/system.devices"),
                ..free_disk_findings()
            },
            "system.devices",
        ),
        (
            DeviceFindings {
                disk_id: Err("cannot be told from another".to_owned()),
                ..free_disk_findings()
            },
            "cannot be told",
        ),
    ]
}

#[test]
fn unsuitable_disk_is_refused_with_reason() {
    let (known, found) = (forbidding_facts(), forbidding_findings());
    for (facts, says) in &known {
        let why = erase_refusal_by_facts(facts, &spare_disk());
        assert!(
            why.as_ref().is_some_and(|why| why.contains(says.as_str())),
            "{says}: {why:?}"
        );
    }
    for (findings, says) in &found {
        let why = erase_refusal_by_findings(findings, BYTES);
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

fn unknown_reading<T>() -> Reading<T> {
    Reading::denied("who knows")
}

fn unknown_finding<T>() -> DeviceReadResult<T> {
    Err("who knows".to_owned())
}

#[test]
fn unknown_facts_and_findings_refuse_erasing() {
    let mut host = free_disk_facts();
    host.insert(&Subject::host(), &host::CONTAINER, unknown_reading());
    for facts in [
        host,
        free_disk_facts_with_reading(&device::KIND, unknown_reading()),
        free_disk_facts_with_reading(&device::ZONED, unknown_reading()),
        free_disk_facts_with_reading(&device::READ_ONLY, unknown_reading()),
        free_disk_facts_with_reading(&device::SWAP, unknown_reading()),
        free_disk_facts_with_reading(&device::USED_BY, unknown_reading()),
        free_disk_facts_with_reading(&device::HOLDS, unknown_reading()),
        free_disk_facts_with_reading(&device::SIGNATURES, unknown_reading()),
        free_disk_facts_with_reading(&device::CONTENT, unknown_reading()),
        FactSet::default(),
    ] {
        assert!(erase_refusal_by_facts(&facts, &spare_disk()).is_some());
    }
    assert!(
        erase_refusal_by_facts(&free_disk_facts(), &Subject::device("sdd")).is_some(),
        "nothing is known of another disk"
    );
    for findings in [
        DeviceFindings {
            size: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            read_only: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            removable: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            claimed: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            holders: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            partitions: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            openers: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            exports: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            mentions: unknown_finding(),
            ..free_disk_findings()
        },
        DeviceFindings {
            disk_id: unknown_finding(),
            ..free_disk_findings()
        },
    ] {
        let why = erase_refusal_by_findings(&findings, BYTES);
        assert!(why.is_some_and(|why| why.contains("who knows")));
    }
}

#[test]
fn incomplete_scan_refuses_erasing() {
    let cut = ContentScan {
        unread_places: 1,
        ..ContentScan::default()
    };
    assert!(ContentScan::decode(&cut.encode()).is_ok_and(|scan| scan.unread_places == 1));
    let unread = free_disk_facts_with_reading(
        &device::CONTENT,
        Reading::unknown(
            UnknownReason::TimedOut,
            "1 known location was not read in time",
        ),
    );
    assert!(
        erase_refusal_by_facts(&unread, &spare_disk())
            .is_some_and(|why| why.contains("was not read in time"))
    );
}
