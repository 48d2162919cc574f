//! The contents of block devices, and whether an unused device is free to be given to a database.
//!
//! *Free* needs proof: nothing uses the device, its known places have been read, and they hold
//! neither a signature nor other data. A device in use is not read at all. Reading needs root, and
//! a device that could not be read is never free. Nothing is free in a container, which shows the
//! host's disks but not their use.

mod uses;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use self::uses::{Use, Uses};
use crate::collector::{Collector, Request};
use crate::facts::catalog::device::{self, Content, DeviceKind};
use crate::facts::catalog::host as machine;
use crate::facts::catalog::mount;
use crate::facts::note::MountNote;
use crate::facts::{FactSet, Note, Reading, Remedy, Source, Subject, Why};
use crate::host::{self, Host, Look, Miss, MissKind, path_bytes};
use crate::lookup::{device_at, device_of_node};
use crate::quote::Command;
use crate::refusal::refused;
use crate::text::safe;
use crate::workers;

/// Reads what is on unused devices.
pub const COLLECTOR: Collector = Collector {
    id: "unused devices",
    run,
};

/// Whether a device of this kind could be given to a database, if free.
fn is_giveable(kind: DeviceKind) -> bool {
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

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let named = request
        .target
        .as_deref()
        .and_then(|path| named(host, path, facts));
    let uses = Uses::read(host, facts);
    let alone = sees_every_mount(facts);
    let devices = facts.which(&device::SIZE, |size| *size > 0);
    let answers = workers::each(&devices, |subject| {
        let look = if named.as_ref() == Some(subject) {
            Look::Named
        } else {
            Look::Passing
        };
        answer(
            host,
            subject,
            look,
            &uses.all(subject, facts),
            &alone,
            facts,
        )
    });
    for (subject, answer) in devices.iter().zip(answers) {
        facts.put(subject, &device::USED_BY, answer.used_by);
        if let Some(found) = answer.found {
            facts.put(
                subject,
                &device::SIGNATURES,
                found.clone().map(|found| names(&found)),
            );
            facts.put(
                subject,
                &device::BYTES_READ,
                found.clone().map(|found| found.bytes_read),
            );
            facts.put(
                subject,
                &device::UNREAD_RUN,
                found.map(|found| found.unread_run),
            );
        }
        facts.put(subject, &device::CONTENT, answer.content);
        facts.put(subject, &device::HOLDS, answer.holds);
    }
}

/// The device that the run was asked for, by any of its names.
fn named(host: &dyn Host, path: &Path, facts: &FactSet) -> Option<Subject> {
    let by_number = || {
        device_of_node(
            host,
            host.stat(path).ok().filter(host::Stat::is_block)?,
            facts,
        )
    };
    by_number().or_else(|| device_at(host, path_bytes(path), facts))
}

/// The answer about one device.
struct ContentReadings {
    used_by: Reading<Vec<String>>,
    /// Of a device that was read.
    found: Option<Reading<host::DeviceScan>>,
    content: Reading<Content>,
    holds: Reading<Vec<String>>,
}

/// The users of a device and, where it has none, its contents. `alone` is the answer of
/// [`sees_every_mount`].
fn answer(
    host: &dyn Host,
    subject: &Subject,
    look: Look,
    uses: &[Use],
    alone: &Result<(), Reading<()>>,
    facts: &FactSet,
) -> ContentReadings {
    let in_use = !uses.is_empty();
    let source = Source::derived([mount::DEVNO.name(), "holders in sysfs", device::SWAP.name()]);
    let used_by = match alone {
        Err(unknown) if !in_use => unknown.clone().map(|()| Vec::new()),
        _ => Reading::known(uses.iter().map(Use::to_string).collect(), source),
    };
    if in_use {
        // A device in use is not read: its contents would not change the answer.
        let source = || Source::derived([device::USED_BY.name()]);
        let holds = uses.iter().map(Use::held).collect();
        let content = Reading::known(Content::Holds, source());
        return ContentReadings {
            used_by,
            found: None,
            content,
            holds: Reading::known(holds, source()),
        };
    }
    if !facts.value(subject, &device::KIND).is_some_and(is_giveable) {
        let unread = || Reading::unknown(Why::NotCollected, "a device of this kind is not read");
        return ContentReadings {
            used_by,
            found: None,
            content: unread(),
            holds: unread().map(|_: Content| Vec::new()),
        };
    }
    let found = read(host, subject, look, facts);
    let holds = match &found {
        Reading::Known { value, .. } if value.places_left > 0 && held(value).is_empty() => {
            let left = value.places_left;
            let says = format!("{left} known locations of signatures were not read in time");
            let unread = Reading::unknown(Why::TimedOut, says);
            match facts.value(subject, &device::PATH) {
                Some(path) => or_named(unread, look, &path),
                None => unread,
            }
        }
        found => found.clone().map(|found| held(&found)),
    };
    let content = holds.clone().map(|holds| holds.is_empty());
    let content = match (content.value(), alone, facts.get(subject, &device::SWAP)) {
        // Where it is not known whether the device is in use, nothing but what was found on it is
        // certain.
        (Some(true), Err(unknown), _) => unknown.clone().map(|()| true),
        (
            Some(true),
            _,
            Reading::Unknown {
                why,
                detail,
                remedy,
            },
        ) => Reading::Unknown {
            why,
            detail,
            remedy,
        },
        _ => content,
    };
    let whole = found.value().is_some_and(|found| found.unread_run == 0);
    let content = content.map(|empty| match (empty, whole) {
        (false, _) => Content::Holds,
        (true, false) => Content::Free,
        (true, true) => Content::Blank,
    });
    ContentReadings {
        used_by,
        found: Some(found),
        content,
        holds,
    }
}

/// The contents found, in words.
fn held(found: &host::DeviceScan) -> Vec<String> {
    let mut holds = names(found);
    if holds.is_empty() && found.data {
        holds.push("data of no known kind".to_owned());
    }
    if found.held {
        holds.push("something that another program has opened exclusively (O_EXCL)".to_owned());
    }
    holds
}

fn names(found: &host::DeviceScan) -> Vec<String> {
    found
        .found
        .iter()
        .map(|name| safe(name.as_bytes()))
        .collect()
}

/// Whether all mounts are known; not in a container, and not where the table was not read whole.
fn sees_every_mount(facts: &FactSet) -> Result<(), Reading<()>> {
    use MountNote::{BeyondBound, MalformedLine, NoTable};
    let is_gap = |note: &Note| {
        matches!(
            note,
            Note::Mount(NoTable { .. } | MalformedLine { .. } | BeyondBound { .. })
        )
    };
    if facts.warnings().iter().any(is_gap) {
        return Err(Reading::unknown(
            Why::Malformed,
            "the mount table could not be read whole",
        ));
    }
    match facts.get(&Subject::host(), &machine::CONTAINER) {
        Reading::Known { value, .. } if value != "none" => Err(Reading::unknown(
            Why::Ambiguous,
            "what is mounted outside this container cannot be seen",
        )),
        _ => Ok(()),
    }
}

/// The contents of a device.
fn read(
    host: &dyn Host,
    subject: &Subject,
    look: Look,
    facts: &FactSet,
) -> Reading<host::DeviceScan> {
    let Some(path) = facts.value(subject, &device::PATH) else {
        return Reading::unknown(Why::Absent, format!("the node of {subject} is not known"));
    };
    let bytes = crate::text::raw(&path);
    let node = Path::new(OsStr::from_bytes(&bytes));
    // A stale node, or one that a user put over it, leads elsewhere.
    let number = host
        .stat(node)
        .ok()
        .map(|stat| format!("{}:{}", stat.node_major, stat.node_minor));
    if number
        .zip(facts.value(subject, &device::DEVNO))
        .is_some_and(|(of_node, own)| of_node != own)
    {
        return Reading::unknown(
            Why::Ambiguous,
            format!("{path} is the node of another device"),
        );
    }
    match ask(host, node, look) {
        Ok(found) => Reading::known(found, Source::call(format!("reading {path}"))),
        Err(miss) => {
            let unread = refused(&miss, &format!("reading {path}"));
            if miss.kind == MissKind::TimedOut {
                or_named(unread, look, &path)
            } else {
                unread
            }
        }
    }
}

/// The reading of a device that was not read in time, with a remedy where it was not the target.
fn or_named<T>(unread: Reading<T>, look: Look, path: &str) -> Reading<T> {
    match look {
        Look::Named => unread,
        Look::Passing => {
            let check = Command::or_why(Command::check(path, ""));
            unread.or_try(Remedy::Do(format!(
                "check this device, which takes at most 10 s: {check}"
            )))
        }
    }
}

/// Asks for one of the two looks; a capture holds only one of them.
fn ask(host: &dyn Host, node: &Path, look: Look) -> Result<host::DeviceScan, Miss> {
    let other = match look {
        Look::Passing => Look::Named,
        Look::Named => Look::Passing,
    };
    match host.content(node, look) {
        Err(miss) if miss.kind == MissKind::NotCollected => host.content(node, other),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;
    use crate::facts::Remedy;
    use crate::host::Question;
    use crate::testing::Fake;

    fn disk(facts: &mut FactSet, name: &str, kind: &str) -> Subject {
        let subject = Subject::device(name);
        facts.know(
            &subject,
            &device::KIND,
            DeviceKind::from_word(kind).unwrap(),
            Source::Assumed,
        );
        facts.know(&subject, &device::SIZE, 1 << 30, Source::Assumed);
        facts.know(
            &subject,
            &device::PATH,
            format!("/dev/{name}"),
            Source::Assumed,
        );
        facts.know(&subject, &device::SWAP, false, Source::Assumed);
        subject
    }

    fn asking(name: &str) -> Question {
        Question::Content(format!("/dev/{name}").into(), Look::Passing)
    }

    /// The result for a disk that was read in part.
    fn found(found: &[&str], data: bool) -> host::DeviceScan {
        let found = found.iter().map(|&f| f.to_owned()).collect();
        host::DeviceScan {
            found,
            data,
            bytes_read: 64 << 20,
            unread_run: 1 << 20,
            ..host::DeviceScan::default()
        }
    }

    fn content(host: &Fake, facts: &mut FactSet, subject: &Subject) -> Option<Content> {
        run(host, &Request::default(), facts);
        facts.value(subject, &device::CONTENT)
    }

    #[test]
    fn only_what_was_read_and_held_nothing_is_free_and_only_what_was_read_whole_is_blank() {
        let whole = host::DeviceScan {
            unread_run: 0,
            ..found(&[], false)
        };
        let cut = host::DeviceScan {
            places_left: 3,
            ..found(&[], false)
        };
        let held = host::DeviceScan {
            held: true,
            ..whole.clone()
        };
        for (answer, expect, holds) in [
            (Some(found(&[], false)), Some(Content::Free), Some("")),
            (Some(whole), Some(Content::Blank), Some("")),
            (Some(cut), None, None),
            (
                Some(held),
                Some(Content::Holds),
                Some("something that another program has opened exclusively (O_EXCL)"),
            ),
            (
                Some(found(&["ext4"], true)),
                Some(Content::Holds),
                Some("ext4"),
            ),
            (
                Some(found(&["GPT"], false)),
                Some(Content::Holds),
                Some("GPT"),
            ),
            (
                Some(found(&[], true)),
                Some(Content::Holds),
                Some("data of no known kind"),
            ),
            (None, None, None),
        ] {
            let mut facts = FactSet::default();
            let subject = disk(&mut facts, "sdc", "disk");
            let host = match answer {
                Some(found) => Fake::default().answer(asking("sdc"), found.encode()),
                None => Fake::default().refuse(asking("sdc"), MissKind::Denied),
            };
            assert_eq!(content(&host, &mut facts, &subject), expect);
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
    fn a_disk_that_was_named_is_read_longer() {
        let mut facts = FactSet::default();
        let [sdc, sdd] = ["sdc", "sdd"].map(|name| disk(&mut facts, name, "disk"));
        let named = Question::Content("/dev/sdc".into(), Look::Named);
        let empty = found(&[], false).encode();
        let host = Fake::default()
            .answer(named, &empty)
            .answer(asking("sdd"), &empty);
        let request = Request {
            target: Some("/dev/sdc".into()),
            ..Request::default()
        };
        run(&host, &request, &mut facts);
        let free = |disk| facts.value(disk, &device::CONTENT) == Some(Content::Free);
        assert!(free(&sdc) && free(&sdd));
    }

    #[test]
    fn the_node_of_another_device_is_not_read() {
        for (number, expect) in [((8, 32), Some(Content::Free)), ((8, 48), None)] {
            let mut facts = FactSet::default();
            let sdc = disk(&mut facts, "sdc", "disk");
            facts.know(&sdc, &device::DEVNO, "8:32".to_owned(), Source::Assumed);
            let (node_major, node_minor) = number;
            let nothing = host::Stat {
                mode: 0o060_660,
                uid: 0,
                gid: 6,
                major: 0,
                minor: 6,
                node_major: 0,
                node_minor: 0,
                inode: 1,
                size: 0,
                changed: None,
            };
            let node = host::Stat {
                node_major,
                node_minor,
                ..nothing
            };
            let host = Fake::default()
                .answer(Question::Stat("/dev/sdc".into()), node.encode())
                .answer(asking("sdc"), found(&[], false).encode());
            assert_eq!(content(&host, &mut facts, &sdc), expect);
        }
    }

    #[test]
    fn a_disk_for_which_there_was_no_time_is_to_be_named() {
        let cut = host::DeviceScan {
            places_left: 3,
            ..found(&[], false)
        };
        for host in [
            Fake::default().refuse(asking("sdc"), MissKind::TimedOut),
            Fake::default().answer(asking("sdc"), cut.encode()),
        ] {
            let mut facts = FactSet::default();
            let sdc = disk(&mut facts, "sdc", "disk");
            run(&host, &Request::default(), &mut facts);
            let Reading::Unknown {
                why,
                remedy: Some(Remedy::Do(what)),
                ..
            } = facts.get(&sdc, &device::CONTENT)
            else {
                panic!("{:?}", facts.get(&sdc, &device::CONTENT));
            };
            assert_eq!(why, Why::TimedOut);
            assert!(what.ends_with("walwise check /dev/sdc"), "{what}");
        }
    }

    #[test]
    fn a_partition_of_a_disk_that_something_holds_whole_is_in_use() {
        let mut facts = FactSet::default();
        let [sdb, part] =
            [("sdb", "disk"), ("sdb1", "partition")].map(|(n, k)| disk(&mut facts, n, k));
        let mapping = disk(&mut facts, "dm-0", "dm");
        facts.stand(&part, &sdb);
        facts.stand(&mapping, &sdb);
        run(
            &Fake::default().answer(asking("dm-0"), found(&[], false).encode()),
            &Request::default(),
            &mut facts,
        );
        assert_eq!(
            facts.value(&part, &device::USED_BY).unwrap(),
            ["part of sdb, member of dm-0"]
        );
        assert_eq!(facts.value(&part, &device::CONTENT), Some(Content::Holds));
        assert_eq!(facts.value(&mapping, &device::CONTENT), Some(Content::Free));
    }

    #[test]
    fn a_partition_beside_one_in_use_is_not() {
        let mut facts = FactSet::default();
        let [sdb, one, two] = [
            ("sdb", "disk"),
            ("sdb1", "partition"),
            ("sdb2", "partition"),
        ]
        .map(|(n, k)| disk(&mut facts, n, k));
        facts.stand(&one, &sdb);
        facts.stand(&two, &sdb);
        facts.stand(&Subject::mount("/"), &one);
        let host = Fake::default().answer(asking("sdb2"), found(&[], false).encode());
        assert_eq!(content(&host, &mut facts, &two), Some(Content::Free));
    }

    #[test]
    fn what_may_not_be_read_asks_for_root() {
        let mut facts = FactSet::default();
        let subject = disk(&mut facts, "sdc", "disk");
        run(
            &Fake::default().refuse(asking("sdc"), MissKind::Denied),
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
    fn what_is_in_use_is_not_read_and_says_by_whom() {
        let mut facts = FactSet::default();
        let [sda, sda1, sda2, sdb] = [
            ("sda", "disk"),
            ("sda1", "partition"),
            ("sda2", "partition"),
            ("sdb", "disk"),
        ]
        .map(|(n, k)| disk(&mut facts, n, k));
        let md = disk(&mut facts, "md0", "md");
        let root = Subject::mount("/");
        facts.know(&sda2, &device::SWAP, true, Source::Assumed);
        for (top, base) in [
            (&sda1, &sda),
            (&sda2, &sda),
            (&md, &sda1),
            (&md, &sdb),
            (&root, &md),
        ] {
            facts.stand(top, base);
        }
        let host = Fake::default();
        run(&host, &Request::default(), &mut facts);
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
        assert!(host.asked().is_empty());
        assert_eq!(facts.value(&sdb, &device::CONTENT), Some(Content::Holds));
    }

    #[test]
    fn the_other_path_to_a_unit_in_use_is_in_use() {
        let mut facts = FactSet::default();
        let [sda, sdb] = ["sda", "sdb"].map(|name| disk(&mut facts, name, "disk"));
        facts.stand(&Subject::mount("/"), &sda);
        facts.same_unit(&sdb, &sda);
        run(&Fake::default(), &Request::default(), &mut facts);
        assert_eq!(
            facts.value(&sdb, &device::USED_BY).unwrap(),
            ["path to sda, mounted at /"]
        );
        assert_eq!(facts.value(&sdb, &device::CONTENT), Some(Content::Holds));
    }

    #[test]
    fn what_a_zram_writes_to_is_in_use() {
        let mut facts = FactSet::default();
        let [zram, sdb] = [("zram0", "zram"), ("sdb", "disk")].map(|(n, k)| disk(&mut facts, n, k));
        facts.know(
            &zram,
            &device::ZRAM_BACKING,
            "/dev/sdb".to_owned(),
            Source::file("x"),
        );
        run(&Fake::default(), &Request::default(), &mut facts);
        assert_eq!(
            facts.value(&sdb, &device::USED_BY).unwrap(),
            ["member of zram0"]
        );
        assert!(facts.below(&zram).is_empty());
    }

    #[test]
    fn in_a_container_nothing_is_unused_or_free() {
        let nothing = found(&[], false).encode();
        for (container, expect) in [("none", Some(Content::Free)), ("docker", None)] {
            let mut facts = FactSet::default();
            let sdb = disk(&mut facts, "sdb", "disk");
            facts.know(
                &Subject::host(),
                &machine::CONTAINER,
                container.to_owned(),
                Source::file("x"),
            );
            assert_eq!(
                content(
                    &Fake::default().answer(asking("sdb"), &nothing),
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
    fn pools_ram_and_what_may_be_swap_are_never_free() {
        let nothing = found(&[], false).encode();
        let mut facts = FactSet::default();
        let [pool, zram, maybe] = [("dm-3", "lvm"), ("zram0", "zram"), ("sdd", "disk")]
            .map(|(n, k)| disk(&mut facts, n, k));
        facts.know(
            &pool,
            &device::DM_UUID,
            "LVM-abc-tpool".to_owned(),
            Source::Assumed,
        );
        facts.put(
            &maybe,
            &device::SWAP,
            Reading::unknown(Why::Ambiguous, "who knows"),
        );
        let host = ["dm-3", "zram0", "sdd"]
            .iter()
            .fold(Fake::default(), |fake, name| {
                fake.answer(asking(name), &nothing)
            });
        assert_eq!(content(&host, &mut facts, &pool), Some(Content::Holds));
        assert_eq!(facts.value(&zram, &device::CONTENT), None);
        assert_eq!(facts.value(&maybe, &device::CONTENT), None);
    }
}
