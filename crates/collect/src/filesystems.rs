//! Mounts in force and what is mounted: types, options, features, members, barriers and stripes.
//! One file per type of file system or per question.
//!
//! Devices are read in [`super::storage`]; which mount stands on which device is left to
//! [`super::stack`].

mod fstype {
    //! The class of a file system type, which decides whether the file system may be touched at
    //! all.
    //!
    //! A network or FUSE file system can block any process that queries it; the kernel does not
    //! show the disks of `zfs`; an overlay keeps its data elsewhere. An unlisted type is a block
    //! file system if its device number says so; a major number of zero means that there is no
    //! device.

    use crate::facts::catalog::mount::MountClass;

    const NETWORK: &[&str] = &[
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ceph",
        "9p",
        "afs",
        "lustre",
        "coda",
        "ncpfs",
        "pvfs2",
        "gpfs",
        "beegfs",
        "glusterfs",
        "davfs",
        "orangefs",
        // Shared folders of a hypervisor: the other side is the machine that hosts this one.
        "vboxsf",
        "vmhgfs",
        "prl_fs",
    ];
    const FUSE: &[&str] = &["fuse", "fuseblk", "virtiofs"];
    const MEMORY: &[&str] = &["tmpfs", "ramfs", "devtmpfs", "rootfs", "hugetlbfs"];
    const OVERLAY: &[&str] = &["overlay", "overlayfs", "aufs", "unionfs", "shiftfs"];
    /// Block file systems whose superblock has an anonymous device number.
    const ANONYMOUS_BLOCK: &[&str] = &["btrfs", "bcachefs"];

    /// The class of a file system type; `major` is the first half of the device number.
    pub fn class(fstype: &str, major: u32) -> MountClass {
        let is = |list: &[&str]| list.contains(&fstype);
        if is(NETWORK) {
            MountClass::Network
        } else if is(FUSE) || fstype.starts_with("fuse.") {
            MountClass::Fuse
        } else if is(MEMORY) {
            MountClass::Memory
        } else if is(OVERLAY) {
            MountClass::Overlay
        } else if fstype == "zfs" {
            MountClass::Zfs
        } else if major != 0 || is(ANONYMOUS_BLOCK) {
            MountClass::Block
        } else {
            MountClass::Other
        }
    }

    #[cfg(test)]
    mod tests {
        use super::class;

        #[test]
        fn classes() {
            for (fstype, major, expect) in [
                ("ext4", 8, "block"),
                ("btrfs", 0, "block"),
                ("squashfs", 7, "block"),
                ("nfs4", 0, "network"),
                ("fuse.sshfs", 0, "fuse"),
                ("fuseblk", 8, "fuse"),
                ("fusectl", 0, "other"),
                ("tmpfs", 0, "memory"),
                ("overlay", 0, "overlay"),
                ("zfs", 0, "zfs"),
                ("bcachefs", 0, "block"),
                ("ramfs", 0, "memory"),
                ("9p", 0, "network"),
                ("vboxsf", 0, "network"),
                ("virtiofs", 0, "fuse"),
                ("ceph", 0, "network"),
                ("fuse.glusterfs", 0, "fuse"),
                ("cifs", 0, "network"),
                ("proc", 0, "other"),
            ] {
                assert_eq!(class(fstype, major).word(), expect, "{fstype}");
            }
        }
    }
}
mod members {
    //! File systems that span devices, and what is said where their members are unknown.

    use crate::facts::note::StorageNote;
    use crate::host::Miss;

    /// The note for file systems of a type that spans devices, where their members are unknown.
    pub fn no_members(directory: &'static str, miss: &Miss, fstype: &'static str) -> StorageNote {
        StorageNote::NoMembers {
            directory,
            reason: miss.to_string(),
            fstype,
        }
    }
}
mod superblocks {
    //! Features of a file system and the size of its clusters, from its superblock, read as root.
    //!
    //! The live host reads and parses the superblock. No program is needed, so a run without
    //! programs has both too.

    use crate::facts::catalog::{device, host as machine, mount};
    use crate::facts::{FactSet, Reading, Remedy, Source, Subject, Why};
    use crate::host::{Host, Question, Superblock};
    use crate::refusal::refused;
    use crate::text::safe;

    /// What a superblock says.
    #[derive(Clone)]
    pub struct Described {
        /// The features, by the names that the tools of the file system give them.
        pub features: Vec<String>,
        /// The size of a cluster in bytes, where space is given out in clusters.
        pub cluster: Option<u64>,
        /// The UUID, as blkid prints it; captures of older releases lack it.
        pub uuid: Option<String>,
    }

    /// The superblock of what is on this device.
    pub fn read(
        host: &dyn Host,
        facts: &FactSet,
        device: &Subject,
        kind: Superblock,
    ) -> Reading<Described> {
        if facts.value(&Subject::host(), &machine::PRIVILEGED) != Some(true) {
            let denied = Reading::unknown(Why::Denied, "only root can read the superblock");
            return denied.or_try(Remedy::RunAsRoot);
        }
        let node = match facts.get(device, &device::PATH) {
            Reading::Known { value, .. } => value,
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => {
                return Reading::Unknown {
                    why,
                    detail,
                    remedy,
                };
            }
        };
        let source = format!("superblock of {node}");
        match host.ask(&Question::Superblock(node.into(), kind)) {
            Ok(answer) => match parse(&answer) {
                Some(described) => Reading::known(described, Source::call(source)),
                None => Reading::unknown(Why::Malformed, format!("{source}: no features")),
            },
            Err(miss) if miss.is_forbidden() => {
                Reading::unknown(Why::Denied, format!("{source}: {miss}"))
            }
            Err(miss) => refused(&miss, &source),
        }
    }

    /// Records the UUID of a mount, where its superblock holds one.
    pub fn record_uuid(facts: &mut FactSet, mounted: &Subject, read: &Reading<Described>) {
        if let Reading::Known {
            value: Described {
                uuid: Some(uuid), ..
            },
            source,
        } = read
        {
            facts.know(mounted, &mount::UUID, uuid.clone(), source.clone());
        }
    }

    /// Lines: `features WORD…`; where there are clusters, `cluster BYTES`; `uuid UUID`.
    fn parse(answer: &[u8]) -> Option<Described> {
        let mut lines = answer.split(|b| *b == b'\n');
        let words = lines.next()?.trim_ascii().strip_prefix(b"features ")?;
        let words = words
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let rest: Vec<&[u8]> = lines.collect();
        let line = |name: &str| {
            rest.iter()
                .find_map(|line| line.strip_prefix(name.as_bytes()))
                .map(|value| safe(value.trim_ascii()))
        };
        Some(Described {
            features: words.map(safe).collect(),
            cluster: line("cluster ").and_then(|size| size.parse().ok()),
            uuid: line("uuid "),
        })
    }
}
pub mod barrier;
pub mod mounts;
pub mod bcachefs {
    //! bcachefs: all member devices of a mounted file system, from
    //! /sys/fs/bcachefs/UUID/dev-N/block (Documentation/filesystems/bcachefs of the kernels that
    //! have it, 6.7 to 6.17).
    //!
    //! The mount's source also names devices, separated by colons, but only those given to
    //! mount(8). A missing member has a directory without `block`; nothing else here reveals it.

    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::members::no_members;
    use crate::collector::{Collector, Request};
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Subject};
    use crate::host::Host;
    use crate::storage::block::node;

    /// Reads bcachefs file systems.
    pub const COLLECTOR: Collector = Collector {
        id: "bcachefs",
        run,
    };

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
        let all: Vec<Vec<Subject>> = names
            .iter()
            .map(|name| members(host, &Path::new(ALL).join(name)))
            .collect();
        for (index, members) in all.iter().enumerate() {
            of_device.extend(members.iter().map(|member| (member.clone(), index)));
        }
        for subject in mounts {
            let found = facts
                .below(&subject)
                .iter()
                .find_map(|device| of_device.get(device));
            for device in found
                .and_then(|index| all.get(*index))
                .into_iter()
                .flatten()
            {
                facts.stand(&subject, device);
            }
        }
    }

    /// The block devices that the directories `dev-0`, `dev-1` … link to.
    fn members(host: &dyn Host, home: &Path) -> Vec<Subject> {
        let names = host.list(home).unwrap_or_default();
        let devices = names
            .iter()
            .filter(|name| name.as_encoded_bytes().starts_with(b"dev-"));
        let block = |path: PathBuf| {
            host.link(&path.join("block"))
                .ok()?
                .file_name()
                .map(node::subject)
        };
        devices.filter_map(|name| block(home.join(name))).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::Source;
        use crate::testing::Fake;

        #[test]
        fn every_member_is_a_leaf() {
            let home = "/sys/fs/bcachefs/0c5f0f7c-7c1c-4d52-9f5b-2f4f0d1f5a11";
            let host = Fake::default()
                .symlink(
                    format!("{home}/dev-0/block"),
                    "../../../../devices/virtual/block/sda2",
                )
                .symlink(
                    format!("{home}/dev-1/block"),
                    "../../../../devices/virtual/block/sdb",
                )
                .file(format!("{home}/dev-2/label"), "gone\n");
            let mut facts = FactSet::default();
            let data = Subject::mount("/data");
            facts.know(
                &data,
                &mount::FSTYPE,
                "bcachefs".to_owned(),
                Source::file("x"),
            );
            facts.stand(&data, &Subject::device("sda2"));
            run(&host, &Request::default(), &mut facts);
            assert_eq!(
                facts.leaves(&data),
                [Subject::device("sda2"), Subject::device("sdb")]
            );
        }
    }
}
pub mod btrfs;
pub mod ext4;
pub mod stripe;
pub mod xfs {
    //! XFS: the features that a file system was created with, from its superblock, which only root
    //! may read.
    //!
    //! The options in force are in mountinfo; the features here are what a new kernel must support
    //! to mount it at all. A version 4 file system is recognised by the absence of `crc`.

    use std::collections::BTreeMap;

    use super::superblocks;
    use crate::collector::{Collector, Request};
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Reading, Scope, Subject, Why};
    use crate::host::{Host, Superblock};
    use crate::workers;

    /// Reads XFS file systems.
    pub const COLLECTOR: Collector = Collector { id: "xfs", run };

    fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
        let mut by_device: BTreeMap<Option<Subject>, Vec<Subject>> = BTreeMap::new();
        for mount in facts.which(&mount::FSTYPE, |fstype| fstype == "xfs") {
            by_device
                .entry(facts.resolve(&mount, Scope::Device))
                .or_default()
                .push(mount);
        }
        let devices: Vec<&Option<Subject>> = by_device.keys().collect();
        let readings = workers::each(&devices, |device| match device {
            Some(device) => superblocks::read(host, facts, device, Superblock::Xfs),
            None => Reading::unknown(Why::Absent, "the device below is unknown"),
        });
        for (mounts, reading) in by_device.values().zip(readings) {
            for mount in mounts {
                facts.put(
                    mount,
                    &mount::XFS_FEATURES,
                    reading.clone().map(|found| found.features),
                );
                superblocks::record_uuid(facts, mount, &reading);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::Source;
        use crate::facts::catalog::{device, host as machine};
        use crate::host::Question;
        use crate::testing::Fake;

        const V5: &str = "features v5 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit crc bigtime\n";
        const V4: &str =
            "features v4 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit\n";

        fn collect(answer: Option<&str>, privileged: bool) -> Reading<Vec<String>> {
            let host = match answer {
                Some(answer) => Fake::default().answer(
                    Question::Superblock("/dev/sda1".into(), Superblock::Xfs),
                    answer,
                ),
                None => Fake::default(),
            };
            let mut facts = FactSet::default();
            facts.know(
                &Subject::host(),
                &machine::PRIVILEGED,
                privileged,
                Source::Assumed,
            );
            facts.know(
                &Subject::device("sda1"),
                &device::PATH,
                "/dev/sda1".to_owned(),
                Source::Assumed,
            );
            for point in ["/", "/bind"] {
                facts.know(
                    &Subject::mount(point),
                    &mount::FSTYPE,
                    "xfs".to_owned(),
                    Source::Assumed,
                );
                facts.link(&Subject::mount(point), &Subject::device("sda1"));
            }
            run(&host, &Request::default(), &mut facts);
            assert!(
                host.asked().len() <= 1,
                "a file system is asked once, however often it is mounted"
            );
            let [one, other] =
                ["/", "/bind"].map(|point| facts.get(&Subject::mount(point), &mount::XFS_FEATURES));
            assert_eq!(one, other);
            one
        }

        #[test]
        fn root_reads_the_features() {
            let has = |answer, word: &str| {
                collect(Some(answer), true)
                    .value()
                    .unwrap()
                    .iter()
                    .any(|w| w == word)
            };
            assert!(has(V5, "crc") && has(V5, "bigtime") && has(V5, "v5"));
            assert!(has(V4, "v4") && !has(V4, "crc"));
        }

        #[test]
        fn who_is_not_root_or_gets_no_answer_knows_nothing() {
            assert!(matches!(
                collect(Some(V5), false),
                Reading::Unknown {
                    why: Why::Denied,
                    ..
                }
            ));
            assert!(matches!(
                collect(None, true),
                Reading::Unknown {
                    why: Why::Absent,
                    ..
                }
            ));
            for strange in ["", "features", "v5 crc\n"] {
                assert!(matches!(
                    collect(Some(strange), true),
                    Reading::Unknown {
                        why: Why::Malformed,
                        ..
                    }
                ));
            }
        }
    }
}
pub mod zfs;
