//! XFS: the features that a file system was made with, from `xfs_db -r -c version` (xfs_db(8)), which root alone may ask.
//!
//! What is in force is in mountinfo; this is what a new kernel must know to mount it at all. The surprise: the words are
//! printed in capitals behind the number of the version, and a file system of version 4 is known by lacking `crc`.

use super::{Collector, Request, superblocks};
use crate::facts::catalog::{device, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::{Host, Miss, Tool};
use crate::text::safe;

/// Reads XFS file systems.
pub const COLLECTOR: Collector = Collector { id: "xfs", run };

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let node = |mount: &Subject| {
        facts.resolve(mount, Scope::Device).and_then(|device| facts.value(&device, &device::PATH))
    };
    let mounts = facts.which(&mount::FSTYPE, |fstype| fstype == "xfs");
    let mounts: Vec<(Subject, Option<String>)> =
        mounts.into_iter().map(|mount| (mount.clone(), node(&mount))).collect();
    let mut nodes: Vec<String> = mounts.iter().filter_map(|(_, node)| node.clone()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let ask = |node: &str| host.run(Tool::XfsDb, &["-r", "-c", "version", node]);
    let answers = superblocks::each(request, facts, &nodes, ask, features);
    for (subject, node) in mounts {
        let place = node.and_then(|node| nodes.binary_search(&node).ok());
        let answer: Option<&Reading<Vec<String>>> = place.and_then(|place| answers.get(place));
        let unknown = || Reading::unknown(Why::Absent, "the device beneath is not known");
        facts.put(&subject, &mount::XFS_FEATURES, answer.map_or_else(unknown, Reading::clone));
    }
}

/// `versionnum [0xb4a5+0x18a] = V5,NLINK,DIRV2,…,CRC,FTYPE` → `v5`, `nlink`, …
fn features(node: &str, answer: Result<Vec<u8>, Miss>) -> Reading<Vec<String>> {
    let argv = format!("xfs_db -r -c version {node}");
    let answer = match answer {
        Ok(answer) => answer,
        Err(miss) => return superblocks::unanswered(Tool::XfsDb, &argv, &miss),
    };
    let text = String::from_utf8_lossy(&answer).into_owned();
    let words = text.lines().find_map(|line| line.strip_prefix("versionnum [")?.split_once("] = "));
    match words.filter(|(_, words)| words.starts_with('V')) {
        Some((_, words)) => {
            let words = words.split(',').map(|word| safe(word.trim().as_bytes()).to_lowercase());
            Reading::known(words.collect(), Source::Command { argv })
        }
        None => Reading::unknown(Why::Malformed, format!("`{argv}` names no version")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::catalog::host as machine;
    use crate::host::Question;

    const V5: &str = "versionnum [0xb4a5+0x18a] = V5,NLINK,DIRV2,ALIGN,LOGV2,EXTFLG,MOREBITS,ATTR2,LAZYSBCOUNT,\
        PROJID32BIT,CRC,FTYPE,FINOBT,SPARSE_INODES,REFLINK,INOBTCNT,BIGTIME\n";
    const V4: &str = "versionnum [0xb4a4+0x8a] = V4,NLINK,DIRV2,ALIGN,LOGV2,EXTFLG,MOREBITS,ATTR2,LAZYSBCOUNT,\
        PROJID32BIT\n";

    fn collect(answer: Option<&str>, privileged: bool) -> Reading<Vec<String>> {
        let argv = ["-r", "-c", "version", "/dev/sda1"].map(str::to_owned).to_vec();
        let host = match answer {
            Some(answer) => Fake::default().answer(Question::Run(Tool::XfsDb, argv), answer),
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
    fn root_reads_the_version() {
        let has = |answer, word: &str| collect(Some(answer), true).value().unwrap().iter().any(|w| w == word);
        assert!(has(V5, "crc") && has(V5, "bigtime") && has(V5, "v5"));
        assert!(has(V4, "v4") && !has(V4, "crc"));
    }

    #[test]
    fn who_is_not_root_or_gets_no_answer_knows_nothing() {
        assert!(matches!(collect(Some(V5), false), Reading::Unknown { why: Why::Denied, .. }));
        assert!(matches!(collect(None, true), Reading::Unknown { why: Why::Absent, .. }));
        for strange in ["", "versionnum [0x0] = ", "xfs_db: bad superblock\n"] {
            assert!(matches!(collect(Some(strange), true), Reading::Unknown { why: Why::Malformed, .. }));
        }
    }
}
