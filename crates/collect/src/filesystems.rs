use crate::facts::Choice;
use crate::facts::catalog::mount::MountClass;
use crate::host::HostError;
use crate::text_table::rows;

mod superblocks {
    //! Features, cluster size and UUID of a file system, from its superblock, which only root can
    //! read. The live host parses superblocks itself, so no program is needed.

    use crate::fact_readings::FactReadings;
    use crate::facts::catalog::{device, host, mount};
    use crate::facts::{FactSet, Reading, Remedy, Subject};
    use crate::host::{Host, Question, SuperblockKind};
    use crate::host_readings::syscall_reading;
    use crate::text::{bytes, display_safe};

    #[derive(Clone)]
    pub struct SuperblockFields {
        pub features: Vec<String>,
        /// The cluster size in bytes; `None` if there are no clusters, or in older captures.
        pub cluster: Option<u64>,
        /// As blkid prints it; older captures lack it.
        pub uuid: Option<String>,
    }

    pub fn read_superblock(
        host: &dyn Host,
        facts: &FactSet,
        device: &Subject,
        kind: SuperblockKind,
    ) -> Reading<SuperblockFields> {
        if facts.host_value(&host::PRIVILEGED) != Some(true) {
            let denied = Reading::denied("only root can read the superblock");
            return denied.with_remedy(Remedy::RunAsRoot);
        }
        facts
            .get(device, &device::PATH)
            .and_then_reading(|node, _| {
                let source = format!("superblock of {node}");
                match host.ask(&Question::Superblock(node.into(), kind)) {
                    Err(miss) if miss.is_eperm() => Reading::denied(format!("{source}: {miss}")),
                    answer => syscall_reading(answer, &source).and_then(|answer| {
                        parse_superblock_fields(&answer)
                            .ok_or_else(|| "the feature list is missing".to_owned())
                    }),
                }
            })
    }

    pub fn add_superblock_uuid(readings: &mut FactReadings, read: &Reading<SuperblockFields>) {
        if let Reading::Known { value, source } = read
            && let Some(uuid) = &value.uuid
        {
            readings.add(&mount::UUID, Reading::known(uuid.clone(), source.clone()));
        }
    }

    /// Parses the line `features WORD…` and the optional lines `cluster BYTES` and `uuid UUID`.
    fn parse_superblock_fields(answer: &[u8]) -> Option<SuperblockFields> {
        let mut lines = bytes::lines(answer);
        let words = lines.next()?.trim_ascii().strip_prefix(b"features ")?;
        let words = words
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let line = |name: &str| {
            let value = lines
                .clone()
                .find_map(|line| line.strip_prefix(name.as_bytes()))?;
            Some(display_safe(value.trim_ascii()))
        };
        Some(SuperblockFields {
            features: words.map(display_safe).collect(),
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
    //! The mount's source names only the devices given to mount(8). A missing member shows only in
    //! sysfs, where its directory `dev-N` lacks `block`.

    use std::path::{Path, PathBuf};

    use super::unknown_members_note;
    use crate::collector::Request;
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Subject};
    use crate::host::Host;
    use crate::storage::block::sysfs_device;

    const SYSFS_DIRECTORY: &str = "/sys/fs/bcachefs";

    pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
        let mounts = facts.subjects_where(&mount::FSTYPE, |fstype| fstype == "bcachefs");
        if mounts.is_empty() {
            return;
        }
        let names = match host.list_directory(Path::new(SYSFS_DIRECTORY)) {
            Ok(names) => names,
            Err(miss) => {
                return facts.add_note_once(unknown_members_note(
                    SYSFS_DIRECTORY,
                    &miss,
                    "bcachefs",
                ));
            }
        };
        let all: Vec<Vec<Subject>> = names
            .iter()
            .map(|name| bcachefs_member_devices(host, &Path::new(SYSFS_DIRECTORY).join(name)))
            .collect();
        for subject in mounts {
            let own = facts.layers_directly_below(&subject);
            let found = all
                .iter()
                .find(|members| members.iter().any(|member| own.contains(member)));
            for device in found.into_iter().flatten() {
                facts.add_layer_below(&subject, device);
            }
        }
    }

    fn bcachefs_member_devices(host: &dyn Host, home: &Path) -> Vec<Subject> {
        let names = host.list_directory(home).unwrap_or_default();
        let devices = names
            .iter()
            .filter(|name| name.as_encoded_bytes().starts_with(b"dev-"));
        let block = |path: PathBuf| {
            host.link_target(&path.join("block"))
                .ok()?
                .file_name()
                .map(sysfs_device::device_subject)
        };
        devices.filter_map(|name| block(home.join(name))).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::Source;
        use crate::testing::FakeHost;

        #[test]
        fn member_devices_are_added_below_mount() {
            let home = "/sys/fs/bcachefs/0c5f0f7c-7c1c-4d52-9f5b-2f4f0d1f5a11";
            let host = FakeHost::default()
                .with_symlink(
                    format!("{home}/dev-0/block"),
                    "../../../../devices/virtual/block/sda2",
                )
                .with_symlink(
                    format!("{home}/dev-1/block"),
                    "../../../../devices/virtual/block/sdb",
                )
                .with_file(format!("{home}/dev-2/label"), "gone\n");
            let mut facts = FactSet::default();
            let data = Subject::mount("/data");
            facts.insert_known(
                &data,
                &mount::FSTYPE,
                "bcachefs".to_owned(),
                Source::from_file("x"),
            );
            facts.add_layer_below(&data, &Subject::device("sda2"));
            collect_facts(&host, &Request::default(), &mut facts);
            assert_eq!(
                facts.bottom_devices(&data),
                [Subject::device("sda2"), Subject::device("sdb")]
            );
        }
    }
}
pub mod btrfs;
pub mod ext4;
pub mod stripe;
pub mod xfs {
    //! XFS: the features that a file system was created with, from its superblock. They decide
    //! which kernels can mount it. A version 4 file system lacks `crc`.

    use std::collections::BTreeMap;

    use super::superblocks;
    use crate::collector::Request;
    use crate::fact_readings::FactReadings;
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Reading, Scope, Subject};
    use crate::host::{Host, SuperblockKind};
    use crate::parallel;

    pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
        let mut by_device: BTreeMap<Option<Subject>, Vec<Subject>> = BTreeMap::new();
        for mount in facts.subjects_where(&mount::FSTYPE, |fstype| fstype == "xfs") {
            by_device
                .entry(facts.applicable_subject(&mount, Scope::Device))
                .or_default()
                .push(mount);
        }
        let devices: Vec<&Option<Subject>> = by_device.keys().collect();
        let found = parallel::map_items(&devices, |device| {
            let read = match device {
                Some(device) => {
                    superblocks::read_superblock(host, facts, device, SuperblockKind::Xfs)
                }
                None => Reading::absent("the underlying device is unknown"),
            };
            let mut readings = FactReadings::default();
            superblocks::add_superblock_uuid(&mut readings, &read);
            readings.add(&mount::XFS_FEATURES, read.map(|found| found.features));
            readings
        });
        for (mounts, readings) in by_device.values().zip(found) {
            for mount in mounts {
                readings.insert_for(mount, facts);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::Source;
        use crate::facts::UnknownReason;
        use crate::facts::catalog::{device, host};
        use crate::host::Question;
        use crate::testing::FakeHost;

        const V5: &str = "features v5 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit crc bigtime\n";
        const V4: &str =
            "features v4 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit\n";

        fn collect_xfs_features(answer: Option<&str>, privileged: bool) -> Reading<Vec<String>> {
            let host = match answer {
                Some(answer) => FakeHost::default().with_answer(
                    Question::Superblock("/dev/sda1".into(), SuperblockKind::Xfs),
                    answer,
                ),
                None => FakeHost::default(),
            };
            let mut facts = FactSet::default();
            facts.insert_known(
                &Subject::host(),
                &host::PRIVILEGED,
                privileged,
                Source::Assumed,
            );
            facts.insert_known(
                &Subject::device("sda1"),
                &device::PATH,
                "/dev/sda1".to_owned(),
                Source::Assumed,
            );
            for point in ["/", "/bind"] {
                facts.insert_known(
                    &Subject::mount(point),
                    &mount::FSTYPE,
                    "xfs".to_owned(),
                    Source::Assumed,
                );
                facts.set_fact_link(&Subject::mount(point), &Subject::device("sda1"));
            }
            collect_facts(&host, &Request::default(), &mut facts);
            assert!(
                host.asked_questions().len() <= 1,
                "each file system is queried once, regardless of its number of mounts"
            );
            let [one, other] =
                ["/", "/bind"].map(|point| facts.get(&Subject::mount(point), &mount::XFS_FEATURES));
            assert_eq!(one, other);
            one
        }

        #[test]
        fn xfs_features_are_read_with_root() {
            let has = |answer, word: &str| {
                collect_xfs_features(Some(answer), true)
                    .value()
                    .unwrap()
                    .iter()
                    .any(|w| w == word)
            };
            assert!(has(V5, "crc") && has(V5, "bigtime") && has(V5, "v5"));
            assert!(has(V4, "v4") && !has(V4, "crc"));
        }

        #[test]
        fn superblock_needs_root_and_valid_answer() {
            assert!(matches!(
                collect_xfs_features(Some(V5), false),
                Reading::Unknown {
                    why: UnknownReason::Denied,
                    ..
                }
            ));
            assert!(matches!(
                collect_xfs_features(None, true),
                Reading::Unknown {
                    why: UnknownReason::Absent,
                    ..
                }
            ));
            for strange in ["", "features", "v5 crc\n"] {
                assert!(matches!(
                    collect_xfs_features(Some(strange), true),
                    Reading::Unknown {
                        why: UnknownReason::Malformed,
                        ..
                    }
                ));
            }
        }
    }
}
pub mod zfs;

fn unknown_members_note(directory: &'static str, miss: &HostError, fstype: &'static str) -> String {
    format!("{directory}: {miss}; members of {fstype} file systems are unknown")
}

/// A file system of an unlisted type has no block device if its major device number is zero.
fn mount_class_of_fstype(fstype: &str, major: u32) -> MountClass {
    let listed = listed_type(fstype).and_then(|[_, class, ..]| MountClass::from_word(class));
    match listed {
        Some(class) => class,
        None if fstype.starts_with("fuse.") => MountClass::Fuse,
        None if major != 0 => MountClass::Block,
        None => MountClass::Other,
    }
}

/// The row of `types.txt`: type, class, `flushes`, `named`.
fn listed_type(fstype: &str) -> Option<[&'static str; 4]> {
    rows::<4>(include_str!("filesystems/types.txt")).find(|[known, ..]| *known == fstype)
}

/// Whether fstab and the mount table always have the same name for the type.
pub fn is_named_as_written(fstype: &str) -> bool {
    listed_type(fstype).is_some_and(|[.., named]| named == "named")
}

#[cfg(test)]
mod mount_class_tests {
    use super::mount_class_of_fstype;

    #[test]
    fn classifies_file_system_types() {
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
            ("virtiofs", 0, "network"),
            ("ceph", 0, "network"),
            ("fuse.glusterfs", 0, "fuse"),
            ("cifs", 0, "network"),
            ("proc", 0, "other"),
        ] {
            assert_eq!(
                mount_class_of_fstype(fstype, major).as_str(),
                expect,
                "{fstype}"
            );
        }
    }
}
