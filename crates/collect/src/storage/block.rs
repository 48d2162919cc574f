pub mod sysfs_device {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;
    use std::sync::LazyLock;

    use crate::attribute;
    use crate::facts::catalog::device::DeviceKind;
    use crate::facts::{Choice as _, FactSet, KeyInfo, Reading, Subject};
    use crate::host::Host;
    use crate::text::display_safe;
    use crate::text_table::rows;

    pub const CLASS: &str = "/sys/class/block";

    /// A row of `marks.txt`: mark, kind, whether devices may be below, transport, network.
    type MarkRow = [&'static str; 5];

    static MARKS: LazyLock<Vec<MarkRow>> =
        LazyLock::new(|| rows(include_str!("block/marks.txt")).collect());

    #[derive(Clone, Debug)]
    pub struct SysfsBlockDevice {
        pub name: OsString,
        pub subject: Subject,
        pub kind: DeviceKind,
        /// The path in the device tree that the link in /sys/class/block leads to; empty if
        /// unknown.
        pub device_path: Vec<u8>,
    }

    impl SysfsBlockDevice {
        #[cfg(test)]
        pub fn new(name: &str, kind: &str) -> Self {
            let subject = self::device_subject(OsStr::new(name));
            let kind = DeviceKind::from_word(kind).expect("a value of device.kind");
            Self {
                name: name.into(),
                subject,
                kind,
                device_path: Vec::new(),
            }
        }

        pub fn attribute_path(&self, name: &str) -> PathBuf {
            let mut path = PathBuf::with_capacity(CLASS.len() + self.name.len() + name.len() + 2);
            path.extend([OsStr::new(CLASS), &self.name, OsStr::new(name)]);
            path
        }

        /// Records facts with the files in the device's directory that contain them.
        pub fn insert_attributes(
            &self,
            host: &dyn Host,
            attributes: &[(KeyInfo, &str)],
            facts: &mut FactSet,
        ) {
            for (key, file) in attributes {
                let reading = attribute::read_value(host, &self.attribute_path(file), key.kind);
                facts.insert_untyped_value(&self.subject, key, reading);
            }
        }

        pub fn read_text(&self, host: &dyn Host, attribute: &str) -> Reading<String> {
            attribute::read_text(host, &self.attribute_path(attribute))
        }

        pub fn read_number(&self, host: &dyn Host, attribute: &str) -> Reading<u64> {
            attribute::read_number(host, &self.attribute_path(attribute))
        }

        /// The rows that match the device's name, then those that match its device path.
        pub fn mark_rows(&self) -> impl Iterator<Item = &'static MarkRow> {
            MARKS.iter().filter(|[mark, ..]| {
                self.has_name_prefix(mark)
                    || mark.starts_with('/') && self.device_path_contains(mark)
            })
        }

        pub fn kind_by_name(&self) -> DeviceKind {
            // The boot and replay-protected areas of an eMMC read as zeros, but are not free disks.
            // They count as *other*.
            let is_emmc_area = |rest: &[u8]| !rest.iter().all(|b| b.is_ascii_digit() || *b == b'p');
            if self
                .name
                .as_bytes()
                .strip_prefix(b"mmcblk")
                .is_some_and(is_emmc_area)
            {
                return DeviceKind::Other;
            }
            self.mark_rows()
                .find_map(|[_, kind, ..]| DeviceKind::from_word(kind))
                .unwrap_or(DeviceKind::Other)
        }

        pub fn has_name_prefix(&self, prefix: &str) -> bool {
            self.name.as_bytes().starts_with(prefix.as_bytes())
        }

        /// False for partitions, which use their disk's queue, unless device-mapper made the
        /// partition.
        pub fn has_own_queue(&self) -> bool {
            !self.kind.is_partition() || self.has_name_prefix("dm-")
        }

        pub fn device_path_contains(&self, part: &str) -> bool {
            self.device_path
                .windows(part.len())
                .any(|window| window == part.as_bytes())
        }

        pub fn first_matching_path_component(
            &self,
            matches: impl Fn(&str) -> bool,
        ) -> Option<String> {
            let parts = self
                .device_path
                .split(|b| *b == b'/')
                .filter_map(|part| std::str::from_utf8(part).ok());
            parts.filter(|part| matches(part)).map(str::to_owned).next()
        }
    }

    /// False for a device path that may be truncated or garbled. After each component `targetH:C:T`
    /// the address of a unit `H:C:T:U` must follow, as in `target2:0:0/2:0:0:0`
    /// (drivers/scsi/scsi_sysfs.c).
    pub fn is_complete_device_path(place: &[u8]) -> bool {
        let parts: Vec<&[u8]> = place.split(|b| *b == b'/').collect();
        let is_followed_by_unit = |(target, at): (&[u8], usize)| {
            let unit = parts
                .get(at)
                .and_then(|unit| unit.strip_prefix(target)?.strip_prefix(b":"));
            unit.is_some_and(|unit| !unit.is_empty() && unit.iter().all(u8::is_ascii_digit))
        };
        let mut targets = (1..)
            .zip(&parts)
            .filter_map(|(next, part)| Some((part.strip_prefix(b"target")?, next)));
        place.iter().all(u8::is_ascii_graphic) && targets.all(is_followed_by_unit)
    }

    pub fn device_subject(name: &OsStr) -> Subject {
        Subject::device(display_safe(name.as_bytes()))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::catalog::device::{NetworkTransport, Transport};
        use crate::text_table::check_rows;

        #[test]
        fn table_of_marks_has_only_known_words() {
            check_rows::<5>(include_str!("block/marks.txt"));
            for [mark, kind, slaves, transport, network] in MARKS.iter() {
                let is_name = !mark.starts_with('/');
                assert_eq!(DeviceKind::from_word(kind).is_some(), is_name, "{mark}");
                assert_eq!(["yes", "no"].contains(slaves), is_name, "{mark}");
                assert!(
                    transport.is_empty() || Transport::from_word(transport).is_some(),
                    "{mark}"
                );
                assert!(
                    network.is_empty() || NetworkTransport::from_word(network).is_some(),
                    "{mark}"
                );
                assert_eq!(*transport == "network", !network.is_empty(), "{mark}");
            }
            assert_eq!(MARKS.len(), 26);
        }
    }
}
mod bcache;
mod cloud;
pub mod dm {
    //! Device-mapper devices: name, UUID, and the kind, which the UUID's prefix shows without
    //! root's rights.
    //!
    //! The prefixes are those of lsblk(8). A partition of a multipath disk is a device-mapper
    //! device too. The targets (linear, thin, cache …) need root, see [`crate::storage::mappings`].

    use super::sysfs_device::SysfsBlockDevice;
    use crate::facts::FactSet;
    use crate::facts::catalog::device::{self, DeviceKind};
    use crate::host::Host;

    /// The result is the UUID, empty if unknown.
    pub fn insert_mapping_name_and_uuid(
        host: &dyn Host,
        node: &SysfsBlockDevice,
        facts: &mut FactSet,
    ) -> String {
        node.insert_attributes(host, &[(device::DM_NAME.info, "dm/name")], facts);
        let uuid = node.read_text(host, "dm/uuid");
        let text = uuid.value().cloned().unwrap_or_default();
        facts.insert(&node.subject, &device::DM_UUID, uuid);
        text
    }

    pub fn mapping_kind_by_uuid_prefix(uuid: &str) -> DeviceKind {
        match uuid.split_once('-') {
            Some(("LVM", _)) => DeviceKind::Lvm,
            Some(("CRYPT", rest))
                if !rest.starts_with("VERITY-") && !rest.starts_with("INTEGRITY-") =>
            {
                DeviceKind::Crypt
            }
            Some(("mpath", _)) => DeviceKind::Multipath,
            Some(("DMRAID", _)) => DeviceKind::Dmraid,
            Some(("VDO", _)) => DeviceKind::Vdo,
            Some((part, rest)) if part.starts_with("part") && rest.starts_with("mpath-") => {
                DeviceKind::Partition
            }
            _ => DeviceKind::Dm,
        }
    }

    /// Whether the UUID is that of an internal volume of an LVM pool, cache or snapshot, which only
    /// LVM may use.
    pub fn is_lvm_internal(uuid: &str) -> bool {
        const INNER: &[&str] = &[
            "-tpool", "-tdata", "-tmeta", "-real", "-cow", "-cpool", "-cvol", "-cdata", "-cmeta",
            "-corig", "-pool",
        ];
        uuid.starts_with("LVM-") && INNER.iter().any(|suffix| uuid.ends_with(suffix))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn uuid_prefix_decides_mapping_kind() {
            for (uuid, expect) in [
                ("LVM-Hk2nWcXY", "lvm"),
                ("CRYPT-LUKS2-0f3c-luks", "crypt"),
                ("CRYPT-PLAIN-swap", "crypt"),
                ("CRYPT-VERITY-ab", "dm"),
                ("mpath-3600a0980", "multipath"),
                ("part1-mpath-3600a0980", "partition"),
                ("DMRAID-isw_ab_vol0", "dmraid"),
                ("VDO-0f3c", "vdo"),
                ("stratis-1-private-0f3c", "dm"),
                ("", "dm"),
            ] {
                assert_eq!(mapping_kind_by_uuid_prefix(uuid).as_str(), expect, "{uuid}");
            }
            assert!(is_lvm_internal("LVM-abc-tpool") && !is_lvm_internal("LVM-abc"));
        }
    }
}
mod geometry;
mod md;
mod medium;
mod topology;
mod transport;

mod multipath_identity {
    //! Several paths to one unit (SCSI logical unit or NVMe namespace), found by the identity that
    //! each disk reports: `wwid` in sysfs, from the SCSI vital product data page 83h or the
    //! namespace.
    //!
    //! Each path keeps its facts and stays a bottom device of the stack, because it has its own
    //! counters and its own queue, which can drop flushes. [`FactSet::distinct_bottom_disks`]
    //! counts each unit once. Some makers give several units one identity, so sizes must match too.

    use std::collections::BTreeMap;
    use std::collections::btree_map::Entry;

    use super::sysfs_device::SysfsBlockDevice;
    use crate::facts::catalog::device;
    use crate::facts::{FactSet, Reading, Subject, UnknownReason};
    use crate::host::Host;

    pub fn insert_disk_wwid(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
        let file = if node.has_name_prefix("nvme") {
            "wwid"
        } else if node.has_name_prefix("sd") {
            "device/wwid"
        } else {
            return;
        };
        let is_identity =
            |text: &String| text.bytes().any(|b| b.is_ascii_alphanumeric() && b != b'0');
        let reading = node.read_text(host, file).and_then(|text| {
            Some(text)
                .filter(is_identity)
                .ok_or_else(|| "the identifier is blank or all zeros".to_owned())
        });
        let reading = match reading {
            Reading::Unknown {
                why: UnknownReason::Malformed,
                detail,
                ..
            } => Reading::absent(detail),
            reading => reading,
        };
        facts.insert(&node.subject, &device::UNIT, reading);
    }

    /// Marks disks of equal identity and size as paths to one unit, which the first of them
    /// represents.
    pub fn link_paths_to_same_disk<'n>(
        disks: impl IntoIterator<Item = &'n Subject>,
        facts: &mut FactSet,
    ) {
        let mut first: BTreeMap<(String, u64), &Subject> = BTreeMap::new();
        for disk in disks {
            let (unit, size) = (
                facts.value(disk, &device::UNIT),
                facts.value(disk, &device::SIZE),
            );
            if let Some(key) = unit.zip(size) {
                match first.entry(key) {
                    Entry::Occupied(first) => facts.record_path_to_same_disk(disk, first.get()),
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
        use crate::facts::Source;
        use crate::testing::FakeHost;

        fn facts_with_linked_paths(disks: &[(&str, &str, u64)]) -> FactSet {
            let mut facts = FactSet::default();
            let subjects: Vec<Subject> = disks
                .iter()
                .map(|(name, ..)| Subject::device(*name))
                .collect();
            for (name, wwid, size) in disks {
                let file = if name.starts_with("nvme") {
                    "wwid"
                } else {
                    "device/wwid"
                };
                let host = FakeHost::default()
                    .with_files_in_directory(&format!("/sys/class/block/{name}"), &[(file, wwid)]);
                let node = SysfsBlockDevice::new(name, "disk");
                facts.insert_known(&node.subject, &device::SIZE, *size, Source::from_file("x"));
                insert_disk_wwid(&host, &node, &mut facts);
            }
            link_paths_to_same_disk(&subjects, &mut facts);
            facts
        }

        #[test]
        fn paths_with_equal_wwid_count_as_one_disk() {
            let mut facts = facts_with_linked_paths(&[
                ("sda", "naa.600140500000000000000000000000a1", 9),
                ("sdb", "naa.600140500000000000000000000000a1", 9),
                ("sdc", "naa.600140500000000000000000000000a2", 9),
                ("sdd", "naa.600140500000000000000000000000a1", 8),
            ]);
            let [sda, sdb, sdc, sdd, mpath] =
                ["sda", "sdb", "sdc", "sdd", "dm-0"].map(Subject::device);
            for (top, base) in [(&mpath, &sda), (&mpath, &sdb)] {
                facts.add_layer_below(top, base);
            }
            assert_eq!(
                facts.distinct_bottom_disks(&mpath),
                std::slice::from_ref(&sda)
            );
            assert_eq!(
                facts.bottom_devices(&mpath),
                [sda.clone(), sdb.clone()],
                "every path is evaluated"
            );
            assert_eq!(facts.first_path_to_same_disk(&sdb), &sda);
            assert_eq!(
                (
                    facts.first_path_to_same_disk(&sdc),
                    facts.first_path_to_same_disk(&sdd)
                ),
                (&sdc, &sdd)
            );
        }

        #[test]
        fn blank_wwids_link_no_paths() {
            for wwid in ["", "0000000000000000", " ", "..."] {
                let facts = facts_with_linked_paths(&[("sda", wwid, 9), ("sdb", wwid, 9)]);
                let sdb = Subject::device("sdb");
                assert_eq!(facts.first_path_to_same_disk(&sdb), &sdb, "{wwid:?}");
            }
        }
    }
}
pub mod device;
