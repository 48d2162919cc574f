//! The storage collectors on this machine: compared with lsblk and findmnt, and on file systems
//! made for the purpose.

use std::collections::BTreeSet;

use walwise_collect::{Request, run_all};
use walwise_model::facts::catalog::device::{self, Content};
use walwise_model::facts::catalog::mount;
use walwise_model::facts::{FactSet, Reading, Scope, Subject, UnknownReason};
use walwise_sys::host::LiveHost;

use crate::support::loops::{self, Loop, Mounted};
use crate::support::run;

fn collect() -> FactSet {
    let host = LiveHost::with_program(env!("CARGO_BIN_EXE_walwise").into());
    run_all(&host, &Request::default(), &mut |_, _| {})
}

fn on(mounted: &Mounted) -> Subject {
    Subject::mount(mounted.path())
}

#[test]
#[ignore = "needs root: loop devices"]
fn lsblk_and_findmnt_see_the_same() {
    let one_more = loops::ext4(&[], "");
    let facts = collect();
    let json = run("lsblk", &["-J", "-b", "-l", "-o", "NAME,MAJ:MIN,SIZE,RO"]);
    let lsblk: serde_json::Value = serde_json::from_str(&json).unwrap();
    for row in lsblk["blockdevices"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["size"] != 0)
    {
        let name = row["name"].as_str().unwrap();
        // Other tests' loop devices come and go, and come again as others.
        if name.starts_with("loop") && name != one_more.disk.name() {
            continue;
        }
        let subject = Subject::device(name);
        let Some(devno) = facts.value(&subject, &device::DEVNO) else {
            continue;
        };
        assert_eq!(devno, row["maj:min"], "{subject}");
        assert_eq!(
            facts.value(&subject, &device::SIZE),
            row["size"].as_u64(),
            "{subject}"
        );
        assert_eq!(
            facts.value(&subject, &device::READ_ONLY),
            row["ro"].as_bool(),
            "{subject}"
        );
    }
    for subject in facts.subjects(Scope::Mount) {
        let point = facts.value(subject, &mount::POINT).unwrap();
        if facts.value(subject, &mount::IN_SIGHT) == Some(true) && !point.starts_with("/tmp") {
            let seen = run(
                "findmnt",
                &["-n", "-r", "-o", "FSTYPE,MAJ:MIN,PROPAGATION", "-T", &point],
            );
            let last = seen.lines().last().unwrap().to_owned();
            let ours = [&mount::FSTYPE, &mount::DEVNO]
                .map(|key| facts.value(subject, key).unwrap())
                .join(" ");
            assert!(last.starts_with(&ours), "{subject}: {ours} against {last}");
        }
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn ext4_says_what_is_in_force() {
    let fs = loops::ext4(&[], "data=writeback");
    let (facts, subject) = (collect(), on(&fs));
    assert_eq!(
        facts.value(&subject, &mount::BARRIER),
        Some(mount::Barrier::On)
    );
    assert_eq!(
        facts.value(&subject, &mount::EXT4_DATA),
        Some(mount::JournalMode::Writeback)
    );
    assert_eq!(facts.value(&subject, &mount::EXT4_JOURNAL), Some(true));
    assert_eq!(facts.value(&subject, &mount::EXT4_FAST_COMMIT), Some(false));
    let stack: Vec<String> = facts
        .stack(&subject)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        stack.first().map(String::as_str),
        Some(format!("device {}", fs.disk.name()).as_str())
    );
    assert!(
        stack
            .get(1)
            .is_some_and(|below| below.starts_with("mount ")),
        "the file lies on a mount: {stack:?}"
    );
    fs.remount("nobarrier");
    assert_eq!(
        collect().value(&subject, &mount::BARRIER),
        Some(mount::Barrier::Off)
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn barriers_turned_off_in_the_superblock_are_seen() {
    let disk = Loop::new(64);
    disk.mkfs(&["mkfs.ext4", "-q", "-O", "fast_commit"]);
    run("tune2fs", &["-o", "nobarrier", &disk.device]);
    let fs = disk.mount("");
    let (facts, subject) = (collect(), on(&fs));
    let printed = facts.value(&subject, &mount::SUPER_OPTIONS).unwrap();
    assert!(
        !printed.iter().any(|option| option == "nobarrier"),
        "mountinfo hides it: {printed:?}"
    );
    assert_eq!(
        facts.value(&subject, &mount::BARRIER),
        Some(mount::Barrier::Off)
    );
    assert_eq!(facts.value(&subject, &mount::EXT4_FAST_COMMIT), Some(true));
}

#[test]
#[ignore = "needs root: loop devices"]
fn btrfs_stands_on_all_its_members() {
    let (first, second) = (Loop::new(256), Loop::new(256));
    run(
        "mkfs.btrfs",
        &[
            "-q",
            "-d",
            "raid1",
            "-m",
            "raid1",
            &first.device,
            &second.device,
        ],
    );
    let names = BTreeSet::from([first.name().to_owned(), second.name().to_owned()]);
    let fs = first.mount("nodatacow");
    let (facts, subject) = (collect(), on(&fs));
    let members = facts
        .below(&subject)
        .iter()
        .map(|device| device.name().to_owned())
        .collect();
    assert_eq!(names, members);
    assert_eq!(
        facts.value(&subject, &mount::BTRFS_DATA_PROFILES).unwrap(),
        ["raid1"]
    );
    assert_eq!(facts.value(&subject, &mount::BTRFS_NODATACOW), Some(true));
    assert_eq!(facts.value(&subject, &mount::BTRFS_ERRORS), Some(0));
    assert_eq!(facts.value(&subject, &mount::BTRFS_MISSING), Some(0));
    assert_eq!(
        facts.value(&subject, &mount::BARRIER),
        Some(mount::Barrier::On)
    );
    for device in facts.below(&subject) {
        assert_eq!(
            facts.value(device, &device::CONTENT),
            Some(Content::Holds),
            "{device}"
        );
    }
    drop(fs);
    drop(second);
}

#[test]
#[ignore = "needs root: loop devices"]
fn an_external_log_of_xfs_is_part_of_the_stack() {
    let (data, log) = (Loop::new(512), Loop::new(128));
    let option = format!("logdev={}", log.device);
    run("mkfs.xfs", &["-q", "-l", &option, &data.device]);
    let fs = data.mount(&option);
    let (facts, subject) = (collect(), on(&fs));
    let below: Vec<&str> = facts.below(&subject).iter().map(Subject::name).collect();
    assert_eq!(below, [fs.disk.name(), log.name()]);
    assert_eq!(
        facts.value(&subject, &mount::BARRIER),
        Some(mount::Barrier::On)
    );
    drop(fs);
}

#[test]
#[ignore = "needs root: loop devices"]
fn an_external_journal_of_ext4_is_part_of_the_stack() {
    let (data, journal) = (Loop::new(64), Loop::new(64));
    journal.mkfs(&["mke2fs", "-q", "-b", "4096", "-O", "journal_dev"]);
    data.mkfs(&[
        "mkfs.ext4",
        "-q",
        "-b",
        "4096",
        "-J",
        &format!("device={}", journal.device),
    ]);
    let fs = data.mount("");
    let (facts, subject) = (collect(), on(&fs));
    assert_eq!(
        facts
            .value(&subject, &mount::EXT4_JOURNAL_DEVICE)
            .as_deref(),
        Some(journal.name())
    );
    let below: Vec<&str> = facts.below(&subject).iter().map(Subject::name).collect();
    assert_eq!(below, [fs.disk.name(), journal.name()]);
    let inside = loops::ext4(&[], "");
    let reading = collect().get(&on(&inside), &mount::EXT4_JOURNAL_DEVICE);
    assert!(
        matches!(
            reading,
            Reading::Unknown {
                why: UnknownReason::Absent,
                ..
            }
        ),
        "{reading:?}"
    );
    drop(fs);
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_device_is_free_until_something_is_on_it() {
    let disk = Loop::new(64);
    let subject = Subject::device(disk.name());
    // Named, since there may be no time for a disk that is not, beside those of other tests.
    let named = || {
        let host = LiveHost::with_program(env!("CARGO_BIN_EXE_walwise").into());
        let request = Request {
            target: Some(disk.device.clone().into()),
            ..Request::default()
        };
        run_all(&host, &request, &mut |_, _| {})
    };
    assert!(
        named()
            .value(&subject, &device::CONTENT)
            .is_some_and(Content::is_available)
    );
    disk.mkfs(&["mkfs.ext4", "-q"]);
    let facts = named();
    assert_eq!(
        facts.value(&subject, &device::CONTENT),
        Some(Content::Holds)
    );
    assert_eq!(
        facts.value(&subject, &device::SIGNATURES).unwrap(),
        ["ext4"]
    );
    let fs = disk.mount("");
    let facts = collect();
    assert_eq!(
        facts.value(&subject, &device::USED_BY).unwrap(),
        [format!("mounted at {}", fs.path())]
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn the_mount_on_top_is_the_one_in_sight() {
    let below = loops::ext4(&[], "");
    let above = Mounted::at(
        {
            let disk = Loop::new(64);
            disk.mkfs(&["mkfs.ext4", "-q"]);
            disk
        },
        below.point.clone(),
        "",
    );
    let facts = collect();
    let top = Subject::mount(format!("{}#2", below.path()));
    assert_eq!(facts.value(&on(&below), &mount::IN_SIGHT), Some(false));
    assert_eq!(facts.value(&top, &mount::IN_SIGHT), Some(true));
    assert_eq!(
        facts.resolve(&top, Scope::Device),
        Some(Subject::device(above.disk.name()))
    );
    drop(above);
}
