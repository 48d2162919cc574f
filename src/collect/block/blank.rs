//! What holds each block device, and whether an unused one is blank.
//!
//! Blank needs proof: nothing uses the device, it has been read, and neither a signature nor other data was found. A
//! device in use is not read at all. The surprise: reading needs root, and what could not be read is never blank; nor is
//! anything in a container, where the disks of the host are seen but not what the host does with them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::dm;
use crate::collect::stack::device_at;
use crate::collect::{Collector, Request, refused};
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::{host as machine, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::Host;
use crate::text::{raw, safe};
use crate::workers;

/// Reads what is on unused devices.
pub const COLLECTOR: Collector = Collector { id: "unused devices", run };

/// Whether a device of this kind could be given to a database, if blank.
fn is_giveable(kind: DeviceKind) -> bool {
    match kind {
        DeviceKind::Disk
        | DeviceKind::Partition
        | DeviceKind::Md
        | DeviceKind::Lvm
        | DeviceKind::Crypt
        | DeviceKind::Multipath
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Dm
        | DeviceKind::Loop => true,
        DeviceKind::Bcache
        | DeviceKind::Drbd
        | DeviceKind::Zvol
        | DeviceKind::Zram
        | DeviceKind::Ram
        | DeviceKind::Other => false,
    }
}

fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let mut holders = holders(facts);
    zram_holders(host, facts, &mut holders);
    let holders = holders;
    let paths = paths(facts);
    let alone = sees_every_mount(facts);
    let devices = facts.which(&device::SIZE, |size| *size > 0);
    let answers = workers::each(&devices, |subject| {
        let mut used_by = used_by(subject, &holders, facts);
        for other in paths.get(facts.unit(subject)).into_iter().flatten().filter(|other| *other != subject) {
            let by_other = self::used_by(other, &holders, facts);
            used_by.extend(by_other.iter().map(|word| format!("path to {}, {word}", other.name())));
        }
        answer(host, subject, used_by, &alone, facts)
    });
    for (subject, answer) in devices.iter().zip(answers) {
        facts.put(subject, &device::USED_BY, answer.used_by);
        if let Some(signatures) = answer.signatures {
            facts.put(subject, &device::SIGNATURES, signatures);
        }
        facts.put(subject, &device::BLANK, answer.blank);
    }
}

/// What is said of a device.
struct Answer {
    used_by: Reading<Vec<String>>,
    /// Of a device that was read.
    signatures: Option<Reading<Vec<String>>>,
    blank: Reading<bool>,
}

/// Who uses a device and, where nobody does, what is on it. `alone` is what [`sees_every_mount`] says.
fn answer(
    host: &dyn Host,
    subject: &Subject,
    used_by: Vec<String>,
    alone: &Result<(), Reading<()>>,
    facts: &FactSet,
) -> Answer {
    let in_use = !used_by.is_empty();
    let source = Source::derived([mount::DEVNO.name(), "holders in sysfs", device::SWAP.name()]);
    let used_by = match alone {
        Err(unknown) if !in_use => unknown.clone().map(|()| Vec::new()),
        _ => Reading::known(used_by, source),
    };
    if in_use || !facts.value(subject, &device::KIND).is_some_and(is_giveable) {
        let source = Source::derived([device::USED_BY.name(), device::KIND.name()]);
        // What is in use is not read: nothing found on it would change the answer.
        return Answer { used_by, signatures: None, blank: Reading::known(false, source) };
    }
    let (signatures, blank) = read(host, subject, facts);
    let blank = match alone {
        Err(unknown) if blank.value() == Some(&true) => unknown.clone().map(|()| false),
        _ => blank,
    };
    Answer { used_by, signatures, blank }
}

/// Whether all that is mounted can be seen from here; unknown in a container.
fn sees_every_mount(facts: &FactSet) -> Result<(), Reading<()>> {
    match facts.get(&Subject::host(), &machine::CONTAINER) {
        Reading::Known { value, .. } if value != "none" => {
            Err(Reading::unknown(Why::Ambiguous, "what is mounted outside this container cannot be seen"))
        }
        _ => Ok(()),
    }
}

/// Where a zram writes idle pages to, which no link in sysfs tells. It is no layer beneath: what is in memory is lost.
fn zram_holders(host: &dyn Host, facts: &FactSet, holders: &mut BTreeMap<Subject, Vec<Subject>>) {
    for (zram, path) in facts.known(&device::ZRAM_BACKING) {
        if path == "none" {
            continue;
        }
        if let Some(device) = device_at(host, &raw(&path), facts) {
            holders.entry(device).or_default().push(zram.clone());
        }
    }
}

/// Paths by the unit they lead to, where there are several.
fn paths(facts: &FactSet) -> BTreeMap<Subject, Vec<Subject>> {
    let mut paths: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
    for device in facts.subjects(Scope::Device).filter(|device| facts.unit(device) != *device) {
        let first = facts.unit(device).clone();
        paths.entry(first.clone()).or_insert_with(|| vec![first]).push(device.clone());
    }
    paths
}

/// The signatures on a device and whether it is blank.
fn read(
    host: &dyn Host,
    subject: &Subject,
    facts: &FactSet,
) -> (Option<Reading<Vec<String>>>, Reading<bool>) {
    let Some(path) = facts.value(subject, &device::PATH) else {
        return (None, Reading::unknown(Why::Absent, format!("the node of {subject} is not known")));
    };
    let bytes = raw(&path);
    let found = match host.signatures(Path::new(OsStr::from_bytes(&bytes))) {
        Ok(found) => Reading::known(found, Source::call(format!("reading {path}"))),
        Err(miss) => refused(&miss, &format!("reading {path}")),
    };
    let names =
        |found: &crate::host::Signatures| found.found.iter().map(|name| safe(name.as_bytes())).collect();
    let swap = facts.get(subject, &device::SWAP);
    let blank = found.clone().map(|found| found.found.is_empty() && !found.data);
    // Where it is not known whether the device is swapped to, nothing but a "no" is certain.
    let blank = match (blank.value(), swap) {
        (Some(true), Reading::Unknown { why, detail, remedy }) => Reading::Unknown { why, detail, remedy },
        _ => blank,
    };
    (Some(found.map(|found| names(&found))), blank)
}

/// What stands directly on each subject.
fn holders(facts: &FactSet) -> BTreeMap<Subject, Vec<Subject>> {
    let mut holders: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
    for (top, base) in facts.edges() {
        holders.entry(base.clone()).or_default().push(top.clone());
    }
    holders
}

/// In words, such as `mounted at /`, `member of md0`, `partitioned`, `swap`.
fn used_by(subject: &Subject, holders: &BTreeMap<Subject, Vec<Subject>>, facts: &FactSet) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for holder in holders.get(subject).into_iter().flatten() {
        let is_partition = facts.value(holder, &device::KIND).is_some_and(DeviceKind::is_partition);
        let word = match holder.scope() {
            Scope::Mount => {
                let point = facts.value(holder, &mount::POINT);
                format!("mounted at {}", point.unwrap_or_else(|| holder.name().to_owned()))
            }
            _ if is_partition => "partitioned".to_owned(),
            _ => format!("member of {}", holder.name()),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if facts.value(subject, &device::SWAP) == Some(true) {
        words.push("swap".to_owned());
    }
    if facts.value(subject, &device::DM_UUID).is_some_and(|uuid| dm::is_lvm_internal(&uuid)) {
        words.push("inner part of LVM".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::Choice;
    use crate::facts::Remedy;
    use crate::host::{MissKind, Question, Signatures};

    fn disk(facts: &mut FactSet, name: &str, kind: &str) -> Subject {
        let subject = Subject::device(name);
        facts.know(&subject, &device::KIND, DeviceKind::of(kind).unwrap(), Source::Assumed);
        facts.know(&subject, &device::SIZE, 1 << 30, Source::Assumed);
        facts.know(&subject, &device::PATH, format!("/dev/{name}"), Source::Assumed);
        facts.know(&subject, &device::SWAP, false, Source::Assumed);
        subject
    }

    fn asking(name: &str) -> Question {
        Question::Signatures(format!("/dev/{name}").into())
    }

    fn blank(host: &Fake, facts: &mut FactSet, subject: &Subject) -> Option<bool> {
        run(host, &Request::default(), facts);
        facts.value(subject, &device::BLANK)
    }

    #[test]
    fn only_a_disk_that_was_read_and_held_nothing_is_blank() {
        let found =
            |found: &[&str], data| Signatures { found: found.iter().map(|&f| f.to_owned()).collect(), data };
        for (answer, expect) in [
            (Some(found(&[], false)), Some(true)),
            (Some(found(&["ext4"], true)), Some(false)),
            (Some(found(&["GPT"], false)), Some(false)),
            (Some(found(&[], true)), Some(false)),
            (None, None),
        ] {
            let mut facts = FactSet::default();
            let subject = disk(&mut facts, "sdc", "disk");
            let host = match answer {
                Some(found) => Fake::default().answer(asking("sdc"), found.encode()),
                None => Fake::default().refuse(asking("sdc"), MissKind::Denied),
            };
            assert_eq!(blank(&host, &mut facts, &subject), expect);
        }
    }

    #[test]
    fn what_may_not_be_read_asks_for_root() {
        let mut facts = FactSet::default();
        let subject = disk(&mut facts, "sdc", "disk");
        run(&Fake::default().refuse(asking("sdc"), MissKind::Denied), &Request::default(), &mut facts);
        let reading = facts.get(&subject, &device::BLANK);
        assert!(matches!(reading, Reading::Unknown { remedy: Some(Remedy::RunAsRoot), .. }), "{reading:?}");
    }

    #[test]
    fn what_is_in_use_is_not_read_and_says_by_whom() {
        let mut facts = FactSet::default();
        let [sda, sda1, sda2, sdb] =
            [("sda", "disk"), ("sda1", "partition"), ("sda2", "partition"), ("sdb", "disk")]
                .map(|(n, k)| disk(&mut facts, n, k));
        let md = disk(&mut facts, "md0", "md");
        let root = Subject::mount("/");
        facts.know(&sda2, &device::SWAP, true, Source::Assumed);
        for (top, base) in [(&sda1, &sda), (&sda2, &sda), (&md, &sda1), (&md, &sdb), (&root, &md)] {
            facts.stand(top, base);
        }
        let host = Fake::default();
        run(&host, &Request::default(), &mut facts);
        let used = |d: &Subject| facts.value(d, &device::USED_BY).unwrap().join("; ");
        assert_eq!(
            [&sda, &sda1, &sda2, &sdb, &md].map(used),
            ["partitioned", "member of md0", "swap", "member of md0", "mounted at /"]
        );
        assert!(host.asked().is_empty());
        assert_eq!(facts.value(&sdb, &device::BLANK), Some(false));
    }

    #[test]
    fn the_other_path_to_a_unit_in_use_is_in_use() {
        let mut facts = FactSet::default();
        let [sda, sdb] = ["sda", "sdb"].map(|name| disk(&mut facts, name, "disk"));
        facts.stand(&Subject::mount("/"), &sda);
        facts.same_unit(&sdb, &sda);
        run(&Fake::default(), &Request::default(), &mut facts);
        assert_eq!(facts.value(&sdb, &device::USED_BY).unwrap(), ["path to sda, mounted at /"]);
        assert_eq!(facts.value(&sdb, &device::BLANK), Some(false));
    }

    #[test]
    fn what_a_zram_writes_to_is_in_use() {
        let mut facts = FactSet::default();
        let [zram, sdb] = [("zram0", "zram"), ("sdb", "disk")].map(|(n, k)| disk(&mut facts, n, k));
        facts.know(&zram, &device::ZRAM_BACKING, "/dev/sdb".to_owned(), Source::file("x"));
        run(&Fake::default(), &Request::default(), &mut facts);
        assert_eq!(facts.value(&sdb, &device::USED_BY).unwrap(), ["member of zram0"]);
        assert!(facts.below(&zram).is_empty());
    }

    #[test]
    fn in_a_container_nothing_is_unused_or_blank() {
        let nothing = Signatures::default().encode();
        for (container, expect) in [("none", Some(true)), ("docker", None)] {
            let mut facts = FactSet::default();
            let sdb = disk(&mut facts, "sdb", "disk");
            facts.know(&Subject::host(), &machine::CONTAINER, container.to_owned(), Source::file("x"));
            assert_eq!(blank(&Fake::default().answer(asking("sdb"), &nothing), &mut facts, &sdb), expect);
            assert_eq!(facts.get(&sdb, &device::USED_BY).is_known(), expect.is_some(), "{container}");
        }
    }

    #[test]
    fn pools_ram_and_what_may_be_swap_are_never_blank() {
        let nothing = Signatures::default().encode();
        let mut facts = FactSet::default();
        let [pool, zram, maybe] =
            [("dm-3", "lvm"), ("zram0", "zram"), ("sdd", "disk")].map(|(n, k)| disk(&mut facts, n, k));
        facts.know(&pool, &device::DM_UUID, "LVM-abc-tpool".to_owned(), Source::Assumed);
        facts.put(&maybe, &device::SWAP, Reading::unknown(Why::Ambiguous, "who knows"));
        let host = ["dm-3", "zram0", "sdd"]
            .iter()
            .fold(Fake::default(), |fake, name| fake.answer(asking(name), &nothing));
        assert_eq!(blank(&host, &mut facts, &pool), Some(false));
        assert_eq!(facts.value(&zram, &device::BLANK), Some(false));
        assert_eq!(facts.value(&maybe, &device::BLANK), None);
    }
}
