//! Storage collectors on the live host: compared with lsblk and findmnt, and on file systems made
//! for the tests.

use std::collections::BTreeSet;

use walwise_collect::{Request, run_all_collectors};
use walwise_model::facts::catalog::device::{self, ContentState};
use walwise_model::facts::catalog::mount;
use walwise_model::facts::{FactSet, Reading, Scope, Subject, UnknownReason};
use walwise_sys::host::LiveHost;

use crate::support::loops::{self, LoopDevice, MountedFileSystem};
use crate::support::run;

fn collect_live_facts() -> FactSet {
    let host = LiveHost::with_child_program(crate::support::programs::walwise_path().into());
    run_all_collectors(&host, &Request::default(), &mut |_, _| {})
}

fn mount_subject(mounted: &MountedFileSystem) -> Subject {
    Subject::mount(mounted.path())
}

#[test]
#[ignore = "needs root: loop devices"]
fn lsblk_and_findmnt_see_the_same() {
    let one_more = loops::mount_ext4(&[], "");
    let facts = collect_live_facts();
    let json = run("lsblk", &["-J", "-b", "-l", "-o", "NAME,MAJ:MIN,SIZE,RO"]);
    let lsblk: serde_json::Value = serde_json::from_str(&json).unwrap();
    for row in lsblk["blockdevices"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["size"] != 0)
    {
        let name = row["name"].as_str().unwrap();
        // Loop devices of other tests come and go, and names are reused.
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
    for subject in facts.subjects_of_scope(Scope::Mount) {
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
fn ext4_facts_show_options_in_force() {
    let fs = loops::mount_ext4(&[], "data=writeback");
    let (facts, subject) = (collect_live_facts(), mount_subject(&fs));
    assert_eq!(
        facts.value(&subject, &mount::BARRIER),
        Some(mount::BarrierState::On)
    );
    assert_eq!(
        facts.value(&subject, &mount::EXT4_DATA),
        Some(mount::JournalMode::Writeback)
    );
    assert_eq!(facts.value(&subject, &mount::EXT4_JOURNAL), Some(true));
    assert_eq!(facts.value(&subject, &mount::EXT4_FAST_COMMIT), Some(false));
    let stack: Vec<String> = facts
        .layers_below(&subject)
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
        collect_live_facts().value(&subject, &mount::BARRIER),
        Some(mount::BarrierState::Off)
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn barriers_turned_off_in_the_superblock_are_seen() {
    let disk = LoopDevice::new(64);
    disk.mkfs(&["mkfs.ext4", "-q", "-O", "fast_commit"]);
    run("tune2fs", &["-o", "nobarrier", &disk.device]);
    let fs = disk.mount("");
    let (facts, subject) = (collect_live_facts(), mount_subject(&fs));
    let printed = facts.value(&subject, &mount::SUPER_OPTIONS).unwrap();
    assert!(
        !printed.iter().any(|option| option == "nobarrier"),
        "mountinfo hides it: {printed:?}"
    );
    assert_eq!(
        facts.value(&subject, &mount::BARRIER),
        Some(mount::BarrierState::Off)
    );
    assert_eq!(facts.value(&subject, &mount::EXT4_FAST_COMMIT), Some(true));
}

#[test]
#[ignore = "needs root: loop devices"]
fn btrfs_stands_on_all_its_members() {
    let (first, second) = (LoopDevice::new(256), LoopDevice::new(256));
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
    let (facts, subject) = (collect_live_facts(), mount_subject(&fs));
    let members = facts
        .layers_directly_below(&subject)
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
        Some(mount::BarrierState::On)
    );
    for device in facts.layers_directly_below(&subject) {
        assert_eq!(
            facts.value(device, &device::CONTENT),
            Some(ContentState::Holds),
            "{device}"
        );
    }
    drop(fs);
    drop(second);
}

#[test]
#[ignore = "needs root: loop devices"]
fn an_external_log_of_xfs_is_part_of_the_stack() {
    let (data, log) = (LoopDevice::new(512), LoopDevice::new(128));
    let option = format!("logdev={}", log.device);
    run("mkfs.xfs", &["-q", "-l", &option, &data.device]);
    let fs = data.mount(&option);
    let (facts, subject) = (collect_live_facts(), mount_subject(&fs));
    let below: Vec<&str> = facts
        .layers_directly_below(&subject)
        .iter()
        .map(Subject::name)
        .collect();
    assert_eq!(below, [fs.disk.name(), log.name()]);
    assert_eq!(
        facts.value(&subject, &mount::BARRIER),
        Some(mount::BarrierState::On)
    );
    drop(fs);
}

#[test]
#[ignore = "needs root: loop devices"]
fn an_external_journal_of_ext4_is_part_of_the_stack() {
    let (data, journal) = (LoopDevice::new(64), LoopDevice::new(64));
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
    let (facts, subject) = (collect_live_facts(), mount_subject(&fs));
    assert_eq!(
        facts
            .value(&subject, &mount::EXT4_JOURNAL_DEVICE)
            .as_deref(),
        Some(journal.name())
    );
    let below: Vec<&str> = facts
        .layers_directly_below(&subject)
        .iter()
        .map(Subject::name)
        .collect();
    assert_eq!(below, [fs.disk.name(), journal.name()]);
    let inside = loops::mount_ext4(&[], "");
    let reading = collect_live_facts().get(&mount_subject(&inside), &mount::EXT4_JOURNAL_DEVICE);
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
    let disk = LoopDevice::new(64);
    let subject = Subject::device(disk.name());
    // The target is named, because many devices of other tests can use up the time for unnamed
    // disks.
    let named = || {
        let host = LiveHost::with_child_program(crate::support::programs::walwise_path().into());
        let request = Request {
            target: Some(disk.device.clone().into()),
            ..Request::default()
        };
        run_all_collectors(&host, &request, &mut |_, _| {})
    };
    assert!(
        named()
            .value(&subject, &device::CONTENT)
            .is_some_and(ContentState::allows_new_filesystem)
    );
    disk.mkfs(&["mkfs.ext4", "-q"]);
    let facts = named();
    assert_eq!(
        facts.value(&subject, &device::CONTENT),
        Some(ContentState::Holds)
    );
    assert_eq!(
        facts.value(&subject, &device::SIGNATURES).unwrap(),
        ["ext4"]
    );
    let fs = disk.mount("");
    let facts = collect_live_facts();
    assert_eq!(
        facts.value(&subject, &device::USED_BY).unwrap(),
        [format!("mounted at {}", fs.path())]
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn topmost_mount_is_the_visible_one() {
    let below = loops::mount_ext4(&[], "");
    let above = MountedFileSystem::mount_at(
        {
            let disk = LoopDevice::new(64);
            disk.mkfs(&["mkfs.ext4", "-q"]);
            disk
        },
        below.point.clone(),
        "",
    );
    let facts = collect_live_facts();
    let top = Subject::mount(format!("{}#2", below.path()));
    assert_eq!(
        facts.value(&mount_subject(&below), &mount::IN_SIGHT),
        Some(false)
    );
    assert_eq!(facts.value(&top, &mount::IN_SIGHT), Some(true));
    assert_eq!(
        facts.applicable_subject(&top, Scope::Device),
        Some(Subject::device(above.disk.name()))
    );
    drop(above);
}
