//! Devices that are not free, each refused for what it is; and a free one of which anything at all
//! is unknown.

use super::*;
use crate::cells::disk::plate::KnownBy;
use crate::facts::{Source, Why};
use crate::host::DeviceScan;

const BYTES: u64 = 1 << 30;

fn disk() -> Subject {
    Subject::device("sdc")
}

/// What is known of a blank disk that nobody uses.
fn facts() -> FactSet {
    let mut facts = FactSet::default();
    let known = || Source::Assumed;
    facts.know(
        &Subject::host(),
        &machine::CONTAINER,
        "none".to_owned(),
        known(),
    );
    facts.know(&disk(), &device::KIND, DeviceKind::Disk, known());
    facts.know(&disk(), &device::ZONED, Zoned::None, known());
    facts.know(&disk(), &device::READ_ONLY, false, known());
    facts.know(&disk(), &device::SWAP, false, known());
    for key in [&device::USED_BY, &device::HOLDS, &device::SIGNATURES] {
        facts.know(&disk(), key, Vec::new(), known());
    }
    facts.know(&disk(), &device::CONTENT, Content::Free, known());
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
        parts: Ok(Vec::new()),
        claimed: Ok(false),
        openers: Ok(Vec::new()),
        exports: Ok(Vec::new()),
        mentions: Ok(Vec::new()),
        known_by: Ok(KnownBy::Serial("S1".to_owned())),
    }
}

fn changed<T: FactValue>(key: &Key<T>, reading: Reading<T>) -> FactSet {
    let mut facts = facts();
    facts.put(&disk(), key, reading);
    facts
}

fn is<T: FactValue>(key: &Key<T>, value: T) -> FactSet {
    changed(key, Reading::known(value, Source::Assumed))
}

fn lists(key: &Key<Vec<String>>, word: &str) -> FactSet {
    is(key, vec![word.to_owned()])
}

#[test]
fn a_blank_disk_that_nobody_uses_is_free() {
    assert_eq!(by_facts(&facts(), &disk()), None);
    assert_eq!(
        by_facts(&is(&device::KIND, DeviceKind::Partition), &disk()),
        None
    );
    assert_eq!(
        by_facts(&is(&device::CONTENT, Content::Blank), &disk()),
        None
    );
    assert_eq!(by_findings(&findings(), BYTES), None);
    let just = DeviceFindings {
        size: Ok(BYTES + LAST),
        ..findings()
    };
    assert_eq!(by_findings(&just, BYTES), None);
}

/// What `by_facts` says, and the words that it has to say.
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
        "inner part of LVM",
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
    let held = "something that another program has opened exclusively (O_EXCL)";
    for word in ["data of no known kind", held] {
        all.push((lists(&device::HOLDS, word), format!("holds {word}")));
    }
    all.push((
        is(&device::CONTENT, Content::Holds),
        "holds something".to_owned(),
    ));
    all.push((is(&device::SWAP, true), "is swap in use".to_owned()));
    all.push((is(&device::READ_ONLY, true), "is read-only".to_owned()));
    all.push((
        is(&device::ZONED, Zoned::HostManaged),
        "written in order only".to_owned(),
    ));
    for kind in <DeviceKind as crate::facts::Choice>::ALL.iter().copied() {
        if kind != DeviceKind::Disk && kind != DeviceKind::Partition {
            all.push((
                is(&device::KIND, kind),
                "is neither a disk nor a partition".to_owned(),
            ));
        }
    }
    for container in ["docker", "lxc", "podman"] {
        let mut inside = facts();
        inside.know(
            &Subject::host(),
            &machine::CONTAINER,
            container.to_owned(),
            Source::Assumed,
        );
        all.push((inside, format!("container ({container})")));
    }
    all
}

/// The same of `by_findings`.
fn kinds_by_findings() -> Vec<(DeviceFindings, &'static str)> {
    let one = |word: &str| Ok(vec![word.to_owned()]);
    vec![
        (
            DeviceFindings {
                hidden: true,
                ..findings()
            },
            "the kernel keeps for itself",
        ),
        (
            DeviceFindings {
                owner: 1000,
                ..findings()
            },
            "a node that another user can open",
        ),
        (
            DeviceFindings {
                is_open_to_all: true,
                ..findings()
            },
            "a node that another user can open",
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
                size: Ok(BYTES + LAST - 512),
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
            "on it stands dm-0",
        ),
        (
            DeviceFindings {
                parts: one("sdc1"),
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
                known_by: Err("cannot be told from another".to_owned()),
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
        let why = by_facts(facts, &disk());
        assert!(
            why.as_ref().is_some_and(|why| why.contains(says.as_str())),
            "{says}: {why:?}"
        );
    }
    for (findings, says) in &found {
        let why = by_findings(findings, BYTES);
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
    Reading::unknown(Why::Denied, "who knows")
}

fn hidden<T>() -> LookedAt<T> {
    Err("who knows".to_owned())
}

#[test]
fn whatever_is_unknown_is_a_no() {
    let mut host = facts();
    host.put(&Subject::host(), &machine::CONTAINER, unknown());
    for facts in [
        host,
        changed(&device::KIND, unknown()),
        changed(&device::ZONED, unknown()),
        changed(&device::READ_ONLY, unknown()),
        changed(&device::SWAP, unknown()),
        changed(&device::USED_BY, unknown()),
        changed(&device::HOLDS, unknown()),
        changed(&device::SIGNATURES, unknown()),
        changed(&device::CONTENT, unknown()),
        FactSet::default(),
    ] {
        assert!(by_facts(&facts, &disk()).is_some());
    }
    assert!(
        by_facts(&facts(), &Subject::device("sdd")).is_some(),
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
            parts: hidden(),
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
            known_by: hidden(),
            ..findings()
        },
    ] {
        let why = by_findings(&findings, BYTES);
        assert!(why.is_some_and(|why| why.contains("who knows")));
    }
}

/// What reading a device finds becomes what it holds, so that every signature there is ends here.
#[test]
fn what_was_not_read_to_its_end_is_not_free() {
    let cut = DeviceScan {
        places_left: 1,
        ..DeviceScan::default()
    };
    assert!(DeviceScan::decode(&cut.encode()).is_ok_and(|scan| scan.places_left == 1));
    let unread = changed(
        &device::CONTENT,
        Reading::unknown(Why::TimedOut, "1 known location was not read in time"),
    );
    assert!(by_facts(&unread, &disk()).is_some_and(|why| why.contains("was not read in time")));
}
