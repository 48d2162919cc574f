//! The contents of block devices, and whether an unused device is free for a database.
//!
//! *Free* needs proof: nothing uses the device, all known signature locations were read, and none
//! of them has a signature or data. A device in use is not read. Reading needs root, and an unread
//! device is never free. In a container nothing is free, because a container shows the host's disks
//! but not their use.

mod uses;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use self::uses::{DeviceUse, DeviceUseIndex};
use crate::collector::Request;
use crate::escape::ShellCommand;
use crate::fact_readings::FactReadings;
use crate::facts::catalog::device::{self, ContentState, DeviceKind};
use crate::facts::catalog::{host as machine, mount};
use crate::facts::{FactSet, NoteKind, Reading, Remedy, Source, Subject, UnknownReason};
use crate::host::{self, Host, HostError, HostErrorKind, ScanDepth, path_bytes};
use crate::host_readings::error_reading;
use crate::parallel;
use crate::path_lookup::{device_of_node, device_of_path};
use crate::text::display_safe;

fn is_scannable_kind(kind: DeviceKind) -> bool {
    matches!(
        kind,
        DeviceKind::Disk
            | DeviceKind::Partition
            | DeviceKind::Md
            | DeviceKind::Lvm
            | DeviceKind::Crypt
            | DeviceKind::Multipath
            | DeviceKind::Dmraid
            | DeviceKind::Vdo
            | DeviceKind::Dm
            | DeviceKind::Loop
    )
}

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let named = request
        .target
        .as_deref()
        .and_then(|path| requested_device(host, path, facts));
    let uses = DeviceUseIndex::from_facts(host, facts);
    let alone = require_complete_mount_table(facts);
    let devices = facts.subjects_where(&device::SIZE, |size| *size > 0);
    let answers = parallel::map_items(&devices, |subject| {
        let look = if named.as_ref() == Some(subject) {
            ScanDepth::Thorough
        } else {
            ScanDepth::Brief
        };
        content_readings(
            host,
            subject,
            look,
            &uses.uses_of_device(subject, facts),
            &alone,
            facts,
        )
    });
    for (subject, readings) in devices.iter().zip(answers) {
        readings.insert_for(subject, facts);
    }
}

fn requested_device(host: &dyn Host, path: &Path, facts: &FactSet) -> Option<Subject> {
    let by_number = || {
        device_of_node(
            host,
            host.stat(path).ok().filter(host::Stat::is_block_device)?,
            facts,
        )
    };
    by_number().or_else(|| device_of_path(host, path_bytes(path), facts))
}

/// The users of a device and, if it has no users, its contents. `alone` is the result of
/// [`require_complete_mount_table`].
fn content_readings(
    host: &dyn Host,
    subject: &Subject,
    look: ScanDepth,
    uses: &[DeviceUse],
    alone: &Result<(), Reading<()>>,
    facts: &FactSet,
) -> FactReadings {
    let in_use = !uses.is_empty();
    let source =
        Source::derived_from([mount::DEVNO.name(), "holders in sysfs", device::SWAP.name()]);
    let used_by = match alone {
        Err(unknown) if !in_use => unknown.clone().map(|()| Vec::new()),
        _ => Reading::known(uses.iter().map(DeviceUse::to_string).collect(), source),
    };
    // A device is not scanned if it is in use, or because of its kind.
    let (scan, holds) = if in_use {
        // The contents of a device in use would not change the answer, so they are not read.
        let holds = uses.iter().map(DeviceUse::content_description).collect();
        let source = Source::derived_from([device::USED_BY.name()]);
        (None, Reading::known(holds, source))
    } else if !facts
        .value(subject, &device::KIND)
        .is_some_and(is_scannable_kind)
    {
        let says = "walwise does not read devices of this kind";
        (None, Reading::unknown(UnknownReason::NotCollected, says))
    } else {
        let found = scan_device(host, subject, look, facts);
        let holds = match &found {
            Reading::Known { value, .. }
                if value.unread_places > 0 && describe_contents(value).is_empty() =>
            {
                let left = value.unread_places;
                let says = format!("{left} known signature locations were not read in time");
                let unread = Reading::unknown(UnknownReason::TimedOut, says);
                match facts.value(subject, &device::PATH) {
                    Some(path) => with_remedy_after_brief_scan(unread, look, &path),
                    None => unread,
                }
            }
            found => found.clone().map(|found| describe_contents(&found)),
        };
        (Some(found), holds)
    };
    let is_empty = holds.clone().map(|holds| holds.is_empty());
    // If the use of the device is unknown, an empty scan does not prove that the device is free.
    // Contents that were found are certain.
    let is_empty = match (is_empty.value(), alone) {
        (Some(true), Err(unknown)) => unknown.clone().map(|()| true),
        (Some(true), Ok(())) => facts
            .get(subject, &device::SWAP)
            .and_then_reading(|_, _| is_empty),
        (Some(false) | None, _) => is_empty,
    };
    let scanned = scan.as_ref().and_then(Reading::value);
    let is_whole = scanned.is_some_and(|found| found.unread_run == 0);
    let content = is_empty.map(|empty| match (empty, is_whole) {
        (false, _) => ContentState::Holds,
        (true, false) => ContentState::Free,
        (true, true) => ContentState::Blank,
    });
    let mut readings = FactReadings::default();
    readings.add(&device::USED_BY, used_by);
    if let Some(scan) = scan {
        let signatures = scan.clone().map(|found| signature_names(&found));
        readings.add(&device::SIGNATURES, signatures);
        readings.add(
            &device::BYTES_READ,
            scan.clone().map(|found| found.bytes_read),
        );
        readings.add(&device::UNREAD_RUN, scan.map(|found| found.unread_run));
    }
    readings.add(&device::CONTENT, content);
    readings.add(&device::HOLDS, holds);
    readings
}

fn describe_contents(found: &host::ContentScan) -> Vec<String> {
    let mut holds = signature_names(found);
    if holds.is_empty() && found.has_data {
        holds.push("unrecognised data".to_owned());
    }
    if found.is_held {
        holds.push("data that a program has open exclusively (O_EXCL)".to_owned());
    }
    holds
}

fn signature_names(found: &host::ContentScan) -> Vec<String> {
    found
        .signatures
        .iter()
        .map(|name| display_safe(name.as_bytes()))
        .collect()
}

/// Fails if the mount table is incomplete. In a container it always is, because it lacks the mounts
/// of the host.
fn require_complete_mount_table(facts: &FactSet) -> Result<(), Reading<()>> {
    if facts
        .notes()
        .iter()
        .any(|note| note.kind == NoteKind::IncompleteMountTable)
    {
        return Err(Reading::malformed(
            "the mount table could not be read completely",
        ));
    }
    match facts.host_reading(&machine::CONTAINER) {
        Reading::Known { value, .. } if value != "none" => Err(Reading::ambiguous(
            "mounts outside this container are not visible",
        )),
        _ => Ok(()),
    }
}

fn scan_device(
    host: &dyn Host,
    subject: &Subject,
    look: ScanDepth,
    facts: &FactSet,
) -> Reading<host::ContentScan> {
    let Some(path) = facts.value(subject, &device::PATH) else {
        return Reading::absent(format!("the device node of {subject} is unknown"));
    };
    let bytes = crate::text::decode_display_safe(&path);
    let node = Path::new(OsStr::from_bytes(&bytes));
    // A stale or replaced device node may lead to another device.
    let number = host
        .stat(node)
        .ok()
        .map(|stat| format!("{}:{}", stat.node_major, stat.node_minor));
    if number
        .zip(facts.value(subject, &device::DEVNO))
        .is_some_and(|(of_node, own)| of_node != own)
    {
        return Reading::ambiguous(format!("{path} is the device node of another device"));
    }
    match scan_at_available_depth(host, node, look) {
        Ok(found) => Reading::known(found, Source::from_system_call(format!("reading {path}"))),
        Err(miss) => {
            let unread = error_reading(&miss, &format!("reading {path}"));
            if miss.kind == HostErrorKind::TimedOut {
                with_remedy_after_brief_scan(unread, look, &path)
            } else {
                unread
            }
        }
    }
}

/// A thorough scan has no remedy, because it was already the check of a single device.
fn with_remedy_after_brief_scan<T>(unread: Reading<T>, look: ScanDepth, path: &str) -> Reading<T> {
    match look {
        ScanDepth::Thorough => unread,
        ScanDepth::Brief => {
            let check =
                ShellCommand::text_or_placeholder(ShellCommand::walwise_check_command(path, ""));
            unread.with_remedy(Remedy::Do(format!(
                "check this device (takes at most 10 s): {check}"
            )))
        }
    }
}

/// If a capture lacks the scan of this depth, the scan of the other depth is returned.
fn scan_at_available_depth(
    host: &dyn Host,
    node: &Path,
    look: ScanDepth,
) -> Result<host::ContentScan, HostError> {
    let other = match look {
        ScanDepth::Brief => ScanDepth::Thorough,
        ScanDepth::Thorough => ScanDepth::Brief,
    };
    match host.scan_device(node, look) {
        Err(miss) if miss.kind == HostErrorKind::NotCollected => host.scan_device(node, other),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;
    use crate::facts::Remedy;
    use crate::host::Question;
    use crate::testing::{FakeHost, ZERO_STAT};

    fn insert_device(facts: &mut FactSet, name: &str, kind: &str) -> Subject {
        let subject = Subject::device(name);
        facts.insert_known(
            &subject,
            &device::KIND,
            DeviceKind::from_word(kind).unwrap(),
            Source::Assumed,
        );
        facts.insert_known(&subject, &device::SIZE, 1 << 30, Source::Assumed);
        facts.insert_known(
            &subject,
            &device::PATH,
            format!("/dev/{name}"),
            Source::Assumed,
        );
        facts.insert_known(&subject, &device::SWAP, false, Source::Assumed);
        subject
    }

    fn scan_question(name: &str) -> Question {
        Question::Content(format!("/dev/{name}").into(), ScanDepth::Brief)
    }

    fn partial_scan(found: &[&str], data: bool) -> host::ContentScan {
        let found = found.iter().map(|&f| f.to_owned()).collect();
        host::ContentScan {
            signatures: found,
            has_data: data,
            bytes_read: 64 << 20,
            unread_run: 1 << 20,
            ..host::ContentScan::default()
        }
    }

    fn collect_content(
        host: &FakeHost,
        facts: &mut FactSet,
        subject: &Subject,
    ) -> Option<ContentState> {
        collect_facts(host, &Request::default(), facts);
        facts.value(subject, &device::CONTENT)
    }

    #[test]
    fn content_state_follows_scan_completeness() {
        let whole = host::ContentScan {
            unread_run: 0,
            ..partial_scan(&[], false)
        };
        let cut = host::ContentScan {
            unread_places: 3,
            ..partial_scan(&[], false)
        };
        let held = host::ContentScan {
            is_held: true,
            ..whole.clone()
        };
        for (answer, expect, holds) in [
            (
                Some(partial_scan(&[], false)),
                Some(ContentState::Free),
                Some(""),
            ),
            (Some(whole), Some(ContentState::Blank), Some("")),
            (Some(cut), None, None),
            (
                Some(held),
                Some(ContentState::Holds),
                Some("data that a program has open exclusively (O_EXCL)"),
            ),
            (
                Some(partial_scan(&["ext4"], true)),
                Some(ContentState::Holds),
                Some("ext4"),
            ),
            (
                Some(partial_scan(&["GPT"], false)),
                Some(ContentState::Holds),
                Some("GPT"),
            ),
            (
                Some(partial_scan(&[], true)),
                Some(ContentState::Holds),
                Some("unrecognised data"),
            ),
            (None, None, None),
        ] {
            let mut facts = FactSet::default();
            let subject = insert_device(&mut facts, "sdc", "disk");
            let host = match answer {
                Some(found) => {
                    FakeHost::default().with_answer(scan_question("sdc"), found.encode())
                }
                None => FakeHost::default().with_error(scan_question("sdc"), HostErrorKind::Denied),
            };
            assert_eq!(collect_content(&host, &mut facts, &subject), expect);
            assert_eq!(
                facts
                    .value(&subject, &device::HOLDS)
                    .map(|words| words.join("; "))
                    .as_deref(),
                holds
            );
        }
    }

    #[test]
    fn requested_disk_is_scanned_thoroughly() {
        let mut facts = FactSet::default();
        let [sdc, sdd] = ["sdc", "sdd"].map(|name| insert_device(&mut facts, name, "disk"));
        let named = Question::Content("/dev/sdc".into(), ScanDepth::Thorough);
        let empty = partial_scan(&[], false).encode();
        let host = FakeHost::default()
            .with_answer(named, &empty)
            .with_answer(scan_question("sdd"), &empty);
        let request = Request {
            target: Some("/dev/sdc".into()),
            ..Request::default()
        };
        collect_facts(&host, &request, &mut facts);
        let free = |disk| facts.value(disk, &device::CONTENT) == Some(ContentState::Free);
        assert!(free(&sdc) && free(&sdd));
    }

    #[test]
    fn node_of_other_device_is_not_scanned() {
        for (number, expect) in [((8, 32), Some(ContentState::Free)), ((8, 48), None)] {
            let mut facts = FactSet::default();
            let sdc = insert_device(&mut facts, "sdc", "disk");
            facts.insert_known(&sdc, &device::DEVNO, "8:32".to_owned(), Source::Assumed);
            let (node_major, node_minor) = number;
            let node = host::Stat {
                mode: 0o060_660,
                gid: 6,
                minor: 6,
                node_major,
                node_minor,
                inode: 1,
                ..ZERO_STAT
            };
            let host = FakeHost::default()
                .with_answer(Question::Stat("/dev/sdc".into()), node.encode())
                .with_answer(scan_question("sdc"), partial_scan(&[], false).encode());
            assert_eq!(collect_content(&host, &mut facts, &sdc), expect);
        }
    }

    #[test]
    fn timed_out_scan_suggests_checking_the_disk() {
        let cut = host::ContentScan {
            unread_places: 3,
            ..partial_scan(&[], false)
        };
        for host in [
            FakeHost::default().with_error(scan_question("sdc"), HostErrorKind::TimedOut),
            FakeHost::default().with_answer(scan_question("sdc"), cut.encode()),
        ] {
            let mut facts = FactSet::default();
            let sdc = insert_device(&mut facts, "sdc", "disk");
            collect_facts(&host, &Request::default(), &mut facts);
            let Reading::Unknown {
                why,
                remedy: Some(Remedy::Do(what)),
                ..
            } = facts.get(&sdc, &device::CONTENT)
            else {
                panic!("{:?}", facts.get(&sdc, &device::CONTENT));
            };
            assert_eq!(why, UnknownReason::TimedOut);
            assert!(what.ends_with("walwise check /dev/sdc"), "{what}");
        }
    }

    #[test]
    fn partition_of_held_disk_is_in_use() {
        let mut facts = FactSet::default();
        let [sdb, part] =
            [("sdb", "disk"), ("sdb1", "partition")].map(|(n, k)| insert_device(&mut facts, n, k));
        let mapping = insert_device(&mut facts, "dm-0", "dm");
        facts.add_layer_below(&part, &sdb);
        facts.add_layer_below(&mapping, &sdb);
        collect_facts(
            &FakeHost::default()
                .with_answer(scan_question("dm-0"), partial_scan(&[], false).encode()),
            &Request::default(),
            &mut facts,
        );
        assert_eq!(
            facts.value(&part, &device::USED_BY).unwrap(),
            ["part of sdb, which is member of dm-0"]
        );
        assert_eq!(
            facts.value(&part, &device::CONTENT),
            Some(ContentState::Holds)
        );
        assert_eq!(
            facts.value(&mapping, &device::CONTENT),
            Some(ContentState::Free)
        );
    }

    #[test]
    fn partition_next_to_used_one_can_be_free() {
        let mut facts = FactSet::default();
        let [sdb, one, two] = [
            ("sdb", "disk"),
            ("sdb1", "partition"),
            ("sdb2", "partition"),
        ]
        .map(|(n, k)| insert_device(&mut facts, n, k));
        facts.add_layer_below(&one, &sdb);
        facts.add_layer_below(&two, &sdb);
        facts.add_layer_below(&Subject::mount("/"), &one);
        let host = FakeHost::default()
            .with_answer(scan_question("sdb2"), partial_scan(&[], false).encode());
        assert_eq!(
            collect_content(&host, &mut facts, &two),
            Some(ContentState::Free)
        );
    }

    #[test]
    fn denied_scan_suggests_root() {
        let mut facts = FactSet::default();
        let subject = insert_device(&mut facts, "sdc", "disk");
        collect_facts(
            &FakeHost::default().with_error(scan_question("sdc"), HostErrorKind::Denied),
            &Request::default(),
            &mut facts,
        );
        let reading = facts.get(&subject, &device::CONTENT);
        assert!(
            matches!(
                reading,
                Reading::Unknown {
                    remedy: Some(Remedy::RunAsRoot),
                    ..
                }
            ),
            "{reading:?}"
        );
    }

    #[test]
    fn used_devices_are_not_scanned() {
        let mut facts = FactSet::default();
        let [sda, sda1, sda2, sdb] = [
            ("sda", "disk"),
            ("sda1", "partition"),
            ("sda2", "partition"),
            ("sdb", "disk"),
        ]
        .map(|(n, k)| insert_device(&mut facts, n, k));
        let md = insert_device(&mut facts, "md0", "md");
        let root = Subject::mount("/");
        facts.insert_known(&sda2, &device::SWAP, true, Source::Assumed);
        for (top, base) in [
            (&sda1, &sda),
            (&sda2, &sda),
            (&md, &sda1),
            (&md, &sdb),
            (&root, &md),
        ] {
            facts.add_layer_below(top, base);
        }
        let host = FakeHost::default();
        collect_facts(&host, &Request::default(), &mut facts);
        let used = |d: &Subject| facts.value(d, &device::USED_BY).unwrap().join("; ");
        assert_eq!(
            [&sda, &sda1, &sda2, &sdb, &md].map(used),
            [
                "partitioned",
                "member of md0",
                "swap",
                "member of md0",
                "mounted at /"
            ]
        );
        assert!(host.asked_questions().is_empty());
        assert_eq!(
            facts.value(&sdb, &device::CONTENT),
            Some(ContentState::Holds)
        );
    }

    #[test]
    fn other_path_to_used_unit_is_in_use() {
        let mut facts = FactSet::default();
        let [sda, sdb] = ["sda", "sdb"].map(|name| insert_device(&mut facts, name, "disk"));
        facts.add_layer_below(&Subject::mount("/"), &sda);
        facts.record_path_to_same_disk(&sdb, &sda);
        collect_facts(&FakeHost::default(), &Request::default(), &mut facts);
        assert_eq!(
            facts.value(&sdb, &device::USED_BY).unwrap(),
            ["same disk as sda, which is mounted at /"]
        );
        assert_eq!(
            facts.value(&sdb, &device::CONTENT),
            Some(ContentState::Holds)
        );
    }

    #[test]
    fn zram_backing_device_is_in_use() {
        let mut facts = FactSet::default();
        let [zram, sdb] =
            [("zram0", "zram"), ("sdb", "disk")].map(|(n, k)| insert_device(&mut facts, n, k));
        facts.insert_known(
            &zram,
            &device::ZRAM_BACKING,
            "/dev/sdb".to_owned(),
            Source::from_file("x"),
        );
        collect_facts(&FakeHost::default(), &Request::default(), &mut facts);
        assert_eq!(
            facts.value(&sdb, &device::USED_BY).unwrap(),
            ["member of zram0"]
        );
        assert!(facts.layers_directly_below(&zram).is_empty());
    }

    #[test]
    fn content_is_unknown_in_container() {
        let nothing = partial_scan(&[], false).encode();
        for (container, expect) in [("none", Some(ContentState::Free)), ("docker", None)] {
            let mut facts = FactSet::default();
            let sdb = insert_device(&mut facts, "sdb", "disk");
            facts.insert_known(
                &Subject::host(),
                &machine::CONTAINER,
                container.to_owned(),
                Source::from_file("x"),
            );
            assert_eq!(
                collect_content(
                    &FakeHost::default().with_answer(scan_question("sdb"), &nothing),
                    &mut facts,
                    &sdb
                ),
                expect
            );
            assert_eq!(
                facts.get(&sdb, &device::USED_BY).is_known(),
                expect.is_some(),
                "{container}"
            );
        }
    }

    #[test]
    fn thin_pools_zram_and_possible_swap_are_not_free() {
        let nothing = partial_scan(&[], false).encode();
        let mut facts = FactSet::default();
        let [pool, zram, maybe] = [("dm-3", "lvm"), ("zram0", "zram"), ("sdd", "disk")]
            .map(|(n, k)| insert_device(&mut facts, n, k));
        facts.insert_known(
            &pool,
            &device::DM_UUID,
            "LVM-abc-tpool".to_owned(),
            Source::Assumed,
        );
        facts.insert(&maybe, &device::SWAP, Reading::ambiguous("who knows"));
        let host = ["dm-3", "zram0", "sdd"]
            .iter()
            .fold(FakeHost::default(), |fake, name| {
                fake.with_answer(scan_question(name), &nothing)
            });
        assert_eq!(
            collect_content(&host, &mut facts, &pool),
            Some(ContentState::Holds)
        );
        assert_eq!(facts.value(&zram, &device::CONTENT), None);
        assert_eq!(facts.value(&maybe, &device::CONTENT), None);
    }
}
