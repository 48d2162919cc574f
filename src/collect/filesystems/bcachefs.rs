//! bcachefs: all member devices of a mounted file system, from /sys/fs/bcachefs/UUID/dev-N/block
//! (Documentation/filesystems/bcachefs of the kernels that have it, 6.7 to 6.17).
//!
//! The mount's source also names devices, separated by colons, but only those given to mount(8). A missing member has a
//! directory without `block`; nothing else here reveals it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::members::no_members;
use crate::collect::collector::{Collector, Request};
use crate::collect::storage::block::node;
use crate::facts::catalog::mount;
use crate::facts::{FactSet, Subject};
use crate::host::Host;

/// Reads bcachefs file systems.
pub const COLLECTOR: Collector = Collector { id: "bcachefs", run };

const ALL: &str = "/sys/fs/bcachefs";

fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let mounts = facts.which(&mount::FSTYPE, |fstype| fstype == "bcachefs");
    if mounts.is_empty() {
        return;
    }
    let names = match host.list(Path::new(ALL)) {
        Ok(names) => names,
        Err(miss) => {
            return facts.warn(no_members(ALL, &miss, "bcachefs"));
        }
    };
    let mut of_device: BTreeMap<Subject, usize> = BTreeMap::new();
    let all: Vec<Vec<Subject>> = names.iter().map(|name| members(host, &Path::new(ALL).join(name))).collect();
    for (index, members) in all.iter().enumerate() {
        of_device.extend(members.iter().map(|member| (member.clone(), index)));
    }
    for subject in mounts {
        let found = facts.below(&subject).iter().find_map(|device| of_device.get(device));
        for device in found.and_then(|index| all.get(*index)).into_iter().flatten() {
            facts.stand(&subject, device);
        }
    }
}

/// The block devices that the directories `dev-0`, `dev-1` … link to.
fn members(host: &dyn Host, home: &Path) -> Vec<Subject> {
    let names = host.list(home).unwrap_or_default();
    let devices = names.iter().filter(|name| name.as_encoded_bytes().starts_with(b"dev-"));
    let block = |path: PathBuf| host.link(&path.join("block")).ok()?.file_name().map(node::subject);
    devices.filter_map(|name| block(home.join(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::Source;

    #[test]
    fn every_member_is_a_leaf() {
        let home = "/sys/fs/bcachefs/0c5f0f7c-7c1c-4d52-9f5b-2f4f0d1f5a11";
        let host = Fake::default()
            .symlink(format!("{home}/dev-0/block"), "../../../../devices/virtual/block/sda2")
            .symlink(format!("{home}/dev-1/block"), "../../../../devices/virtual/block/sdb")
            .file(format!("{home}/dev-2/label"), "gone\n");
        let mut facts = FactSet::default();
        let data = Subject::mount("/data");
        facts.know(&data, &mount::FSTYPE, "bcachefs".to_owned(), Source::file("x"));
        facts.stand(&data, &Subject::device("sda2"));
        run(&host, &Request::default(), &mut facts);
        assert_eq!(facts.leaves(&data), [Subject::device("sda2"), Subject::device("sdb")]);
    }
}
