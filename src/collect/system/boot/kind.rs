//! Lines that mount a device with another file system type than the one it is mounted with now.
//!
//! The consequences are left to `report::upgrade`. The root on the kernel's command line was mounted by this very
//! boot, so nothing is concluded from it.

use super::device;
use super::entry::COMMAND_LINE;
use crate::facts::catalog::{boot, mount};
use crate::facts::{FactSet, Scope, Source, Subject};
use crate::host::Host;

/// File systems that the mount table names as they are written in fstab; `fuseblk` and others stand for several.
const NAMED_AS_WRITTEN: [&str; 13] = [
    "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "msdos", "nilfs2", "reiserfs",
    "vfat", "xfs",
];

/// Records the mounted type for every line that names another one.
pub fn conclude(host: &dyn Host, facts: &mut FactSet) {
    let lines: Vec<Subject> = facts.subjects(Scope::Boot).cloned().collect();
    for line in lines {
        let is_kernels = facts.value(&line, &boot::WHERE).is_some_and(|place| place == COMMAND_LINE);
        let written = facts.value(&line, &boot::WRITTEN_TYPE);
        let Some((named, written)) = facts.value(&line, &boot::SOURCE).zip(written).filter(|_| !is_kernels)
        else {
            continue;
        };
        let is_known = |fstype: &str| NAMED_AS_WRITTEN.contains(&fstype);
        if !written.split(',').all(is_known) {
            continue;
        }
        let Some(device) = device::found(host, facts, &named) else { continue };
        let there = device::mounted(facts, &device).find_map(|at| facts.value(at, &mount::FSTYPE));
        if let Some(there) =
            there.filter(|there| is_known(there) && !written.split(',').any(|word| word == there))
        {
            let source = Source::derived([boot::SOURCE.name(), mount::FSTYPE.name()]);
            facts.know(&line, &boot::TYPE_THERE, there, source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::catalog::device as block;
    use crate::host::Question;

    #[test]
    fn what_is_mounted_now_is_held_against_what_is_written() {
        let host = Fake::default().answer(Question::RealPath("/dev/disk/by-uuid/1".into()), "/dev/vda");
        for (named, written, place, expected) in [
            ("/dev/vda", "xfs", "/etc/fstab:2", Some("ext4")),
            ("UUID=1", "xfs,btrfs", "/etc/fstab:2", Some("ext4")),
            ("/dev/vda", "ext4", "/etc/fstab:2", None),
            ("/dev/vda", "xfs,ext4", "/etc/fstab:2", None),
            ("/dev/vda", "auto", "/etc/fstab:2", None),
            ("/dev/vdb", "xfs", "/etc/fstab:2", None),
            ("/dev/vda", "xfs", "/proc/cmdline", None),
        ] {
            let (mut facts, line) = (FactSet::default(), Subject::boot("/mnt"));
            let (root, from) = (Subject::mount("/"), || Source::file("a test"));
            for name in ["vda", "vdb"] {
                facts.know(&Subject::device(name), &block::KIND, block::DeviceKind::Disk, from());
            }
            facts.know(&root, &mount::FSTYPE, "ext4".to_owned(), from());
            facts.stand(&root, &Subject::device("vda"));
            facts.know(&line, &boot::SOURCE, named.to_owned(), from());
            facts.know(&line, &boot::WRITTEN_TYPE, written.to_owned(), from());
            facts.know(&line, &boot::WHERE, place.to_owned(), from());
            conclude(&host, &mut facts);
            assert_eq!(
                facts.value(&line, &boot::TYPE_THERE).as_deref(),
                expected,
                "{named} {written} {place}"
            );
        }
    }
}
