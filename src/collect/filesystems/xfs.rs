//! XFS: the features that a file system was created with, from its superblock, which only root may read.
//!
//! The options in force are in mountinfo; the features here are what a new kernel must support to mount it at all. A
//! version 4 file system is recognised by the absence of `crc`.

use std::collections::BTreeMap;

use super::superblocks;
use crate::collect::collector::{Collector, Request};
use crate::facts::catalog::mount;
use crate::facts::{FactSet, Reading, Scope, Subject, Why};
use crate::host::{Host, Superblock};
use crate::workers;

/// Reads XFS file systems.
pub const COLLECTOR: Collector = Collector { id: "xfs", run };

fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let mut by_device: BTreeMap<Option<Subject>, Vec<Subject>> = BTreeMap::new();
    for mount in facts.which(&mount::FSTYPE, |fstype| fstype == "xfs") {
        by_device.entry(facts.resolve(&mount, Scope::Device)).or_default().push(mount);
    }
    let devices: Vec<&Option<Subject>> = by_device.keys().collect();
    let readings = workers::each(&devices, |device| match device {
        Some(device) => superblocks::read(host, facts, device, Superblock::Xfs).map(|found| found.features),
        None => Reading::unknown(Why::Absent, "the device below is unknown"),
    });
    for (mounts, reading) in by_device.values().zip(readings) {
        for mount in mounts {
            facts.put(mount, &mount::XFS_FEATURES, reading.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::Source;
    use crate::facts::catalog::{device, host as machine};
    use crate::host::Question;

    const V5: &str =
        "features v5 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit crc bigtime\n";
    const V4: &str = "features v4 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit\n";

    fn collect(answer: Option<&str>, privileged: bool) -> Reading<Vec<String>> {
        let host = match answer {
            Some(answer) => {
                Fake::default().answer(Question::Superblock("/dev/sda1".into(), Superblock::Xfs), answer)
            }
            None => Fake::default(),
        };
        let mut facts = FactSet::default();
        facts.know(&Subject::host(), &machine::PRIVILEGED, privileged, Source::Assumed);
        facts.know(&Subject::device("sda1"), &device::PATH, "/dev/sda1".to_owned(), Source::Assumed);
        for point in ["/", "/bind"] {
            facts.know(&Subject::mount(point), &mount::FSTYPE, "xfs".to_owned(), Source::Assumed);
            facts.link(&Subject::mount(point), &Subject::device("sda1"));
        }
        run(&host, &Request::default(), &mut facts);
        assert!(host.asked().len() <= 1, "a file system is asked once, however often it is mounted");
        let [one, other] =
            ["/", "/bind"].map(|point| facts.get(&Subject::mount(point), &mount::XFS_FEATURES));
        assert_eq!(one, other);
        one
    }

    #[test]
    fn root_reads_the_features() {
        let has = |answer, word: &str| collect(Some(answer), true).value().unwrap().iter().any(|w| w == word);
        assert!(has(V5, "crc") && has(V5, "bigtime") && has(V5, "v5"));
        assert!(has(V4, "v4") && !has(V4, "crc"));
    }

    #[test]
    fn who_is_not_root_or_gets_no_answer_knows_nothing() {
        assert!(matches!(collect(Some(V5), false), Reading::Unknown { why: Why::Denied, .. }));
        assert!(matches!(collect(None, true), Reading::Unknown { why: Why::Absent, .. }));
        for strange in ["", "features", "v5 crc\n"] {
            assert!(matches!(collect(Some(strange), true), Reading::Unknown { why: Why::Malformed, .. }));
        }
    }
}
