//! Disks that are several paths to one unit, by the identity that each shows (`wwid` in sysfs, from the SCSI vital
//! product data page 83h or the NVMe name space).
//!
//! Each path keeps its own facts and stays a leaf of the stack, because it has its own counters and a queue that can be
//! told to drop flushes. [`FactSet::disks`] and [`FactSet::unit`] count the paths once. A synthetic device for the unit
//! was rejected: nothing could be read of it. Some makers give several units one identity, so paths must agree on the
//! size too.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::node::Node;
use crate::collect::attribute;
use crate::facts::catalog::device;
use crate::facts::{FactSet, Reading, Subject, Why};
use crate::host::Host;

/// Records the identity that a disk shows.
pub fn describe(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let file = if node.is_called("nvme") {
        "wwid"
    } else if node.is_called("sd") {
        "device/wwid"
    } else {
        return;
    };
    let reading = attribute::text(host, &node.attribute(file)).and_then(|text| {
        let tells = text.bytes().any(|b| b.is_ascii_alphanumeric() && b != b'0');
        if tells { Ok(text) } else { Err("it tells nothing".to_owned()) }
    });
    let reading = match reading {
        Reading::Unknown { why: Why::Malformed, detail, .. } => Reading::unknown(Why::Absent, detail),
        reading => reading,
    };
    facts.put(&node.subject, &device::UNIT, reading);
}

/// Joins disks that show the same identity and size: further paths to the unit of the first.
pub fn join<'n>(disks: impl IntoIterator<Item = &'n Subject>, facts: &mut FactSet) {
    let mut first: BTreeMap<(String, u64), &Subject> = BTreeMap::new();
    for disk in disks {
        let (unit, size) = (facts.value(disk, &device::UNIT), facts.value(disk, &device::SIZE));
        if let Some(key) = unit.zip(size) {
            match first.entry(key) {
                Entry::Occupied(first) => facts.same_unit(disk, first.get()),
                Entry::Vacant(place) => {
                    place.insert(disk);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::Source;

    fn units(disks: &[(&str, &str, u64)]) -> FactSet {
        let mut facts = FactSet::default();
        let subjects: Vec<Subject> = disks.iter().map(|(name, ..)| Subject::device(*name)).collect();
        for (name, wwid, size) in disks {
            let file = if name.starts_with("nvme") { "wwid" } else { "device/wwid" };
            let host = Fake::default().files(&format!("/sys/class/block/{name}"), &[(file, wwid)]);
            let node = Node::new(name, "disk");
            facts.know(&node.subject, &device::SIZE, *size, Source::file("x"));
            describe(&host, &node, &mut facts);
        }
        join(&subjects, &mut facts);
        facts
    }

    #[test]
    fn two_paths_count_once_with_and_without_a_multipath_above() {
        let mut facts = units(&[
            ("sda", "naa.600140500000000000000000000000a1", 9),
            ("sdb", "naa.600140500000000000000000000000a1", 9),
            ("sdc", "naa.600140500000000000000000000000a2", 9),
            ("sdd", "naa.600140500000000000000000000000a1", 8),
        ]);
        let [sda, sdb, sdc, sdd, mpath] = ["sda", "sdb", "sdc", "sdd", "dm-0"].map(Subject::device);
        for (top, base) in [(&mpath, &sda), (&mpath, &sdb)] {
            facts.stand(top, base);
        }
        assert_eq!(facts.disks(&mpath), std::slice::from_ref(&sda));
        assert_eq!(facts.leaves(&mpath), [sda.clone(), sdb.clone()], "every path is judged");
        assert_eq!(facts.unit(&sdb), &sda);
        assert_eq!((facts.unit(&sdc), facts.unit(&sdd)), (&sdc, &sdd));
    }

    #[test]
    fn identities_that_tell_nothing_join_nothing() {
        for wwid in ["", "0000000000000000", " ", "..."] {
            let facts = units(&[("sda", wwid, 9), ("sdb", wwid, 9)]);
            let sdb = Subject::device("sdb");
            assert_eq!(facts.unit(&sdb), &sdb, "{wwid:?}");
        }
    }
}
