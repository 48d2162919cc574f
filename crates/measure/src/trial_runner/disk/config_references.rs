//! Configuration files that name a device: fstab, crypttab, ZFS's zpool.cache and similar
//! files.
//!
//! If it is uncertain whether a file names the device, the file counts as naming it. A name is
//! the device's node, a udev link, or any word with the serial number or WWN, like most names
//! in /dev/disk/by-id.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::directory_entries::{is_absent_error, read_entry_paths_if_present};

#[derive(Clone, Debug, Default)]
pub struct DeviceAliases {
    pub node: String,
    /// Node of the disk that contains the partition, and the partition's number; `None` for a disk.
    pub parent_disk: Option<(String, String)>,
    /// Links below /dev/disk to the device or to the disk that contains it.
    pub links: BTreeSet<String>,
    /// Serial number and WWN of the disk.
    pub ids: Vec<String>,
    /// Partition UUIDs and labels that have a udev link on this host.
    pub partition_links: BTreeSet<String>,
}

const CONFIG_FILES: [&str; 9] = [
    "/etc/fstab",
    "/etc/crypttab",
    "/etc/zfs/zpool.cache",
    "/etc/mdadm.conf",
    "/etc/mdadm/mdadm.conf",
    "/etc/lvm/devices/system.devices",
    "/etc/multipath/wwids",
    "/etc/drbd.conf",
    "/proc/cmdline",
];

/// Directories, with the suffix of the files in them that may name devices.
const CONFIG_DIRECTORIES: [(&str, &str); 5] = [
    ("/etc/systemd/system", ".mount"),
    ("/etc/systemd/system", ".swap"),
    ("/etc/drbd.d", ".res"),
    ("/etc/mdadm/mdadm.conf.d", ".conf"),
    ("/etc/mdadm.conf.d", ".conf"),
];

const MAX_FILE_BYTES: u64 = 4 << 20;

/// The error names a file that could not be read.
pub fn read_device_config_files() -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut paths: Vec<PathBuf> = CONFIG_FILES.map(PathBuf::from).to_vec();
    for (directory, end) in CONFIG_DIRECTORIES {
        let entries = read_entry_paths_if_present(directory.as_ref())?;
        let fits = |path: &PathBuf| path.to_string_lossy().ends_with(end);
        paths.extend(entries.into_iter().filter(fits));
    }
    let read = |path: &PathBuf| {
        let shown = crate::text::display_path(path);
        match read_config_file(path) {
            Ok(text) => Some(Ok((shown, text))),
            Err(e) if is_absent_error(&e) => None,
            Err(e) => Some(Err(format!("{shown}: {e}"))),
        }
    };
    paths.iter().filter_map(read).collect()
}

fn read_config_file(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    // A masked systemd unit is a link to /dev/null, which is not a regular file.
    if !found.is_file() {
        return Ok(Vec::new());
    }
    if found.len() > MAX_FILE_BYTES {
        return Err(io::Error::other(
            "too large for a configuration file (limit 4 MiB)",
        ));
    }
    fs::read(path)
}

pub fn files_naming_device(files: &[(String, Vec<u8>)], names: &DeviceAliases) -> Vec<String> {
    let naming = files.iter().filter(|(_, text)| {
        non_comment_tokens(text)
            .iter()
            .any(|word| names.is_named_by_token(word))
    });
    naming.map(|(file, _)| file.clone()).collect()
}

fn non_comment_tokens(text: &[u8]) -> Vec<String> {
    let lines = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii_start().starts_with(b"#"));
    let is_apart = |byte: &u8| !byte.is_ascii_graphic() || b"\"',;".contains(byte);
    let words = lines
        .flat_map(|line| line.split(is_apart))
        .filter(|word| word.len() > 1);
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

impl DeviceAliases {
    fn is_named_by_token(&self, word: &str) -> bool {
        let (key, value) = word.split_once('=').unwrap_or(("", word));
        // The name may follow `=`, as in `sys_serial=…` (LVM), `What=/dev/…` (systemd) and
        // `root=UUID=…` (kernel).
        let last = value.rsplit('=').next().unwrap_or(value);
        [word, value, last].into_iter().any(|name| {
            self.is_node_name(name) || self.is_link_name(name) || self.matches_serial_or_wwn(name)
        }) || self.may_refer_to_this_partition(key, value)
    }

    fn is_node_name(&self, name: &str) -> bool {
        match &self.parent_disk {
            Some((whole, _)) => name == self.node || name == whole,
            None => name.strip_prefix(self.node.as_str()).is_some_and(|rest| {
                let number = rest.strip_prefix('p').unwrap_or(rest);
                rest.is_empty()
                    || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            }),
        }
    }

    fn is_link_name(&self, name: &str) -> bool {
        let is_last = |link: &String| link.rsplit('/').next() == Some(name);
        !name.is_empty() && (self.links.contains(name) || self.links.iter().any(is_last))
    }

    /// True if `name` contains a serial number or WWN of at least four characters, unless it ends
    /// in `-partN` with the number of another partition.
    fn matches_serial_or_wwn(&self, name: &str) -> bool {
        let udev = |word: &String| word.replace(' ', "_");
        // udev writes `naa.5000…` as `wwn-0x5000…`, multipath as `35000…`.
        let bare = |word: &String| word.rsplit_once('.').map(|(_, number)| number.to_owned());
        let told = self
            .ids
            .iter()
            .flat_map(|word| [Some(udev(word)), bare(word)])
            .flatten();
        let holds = told
            .filter(|word| word.len() >= 4)
            .any(|word| name.contains(&word));
        let other = match (&self.parent_disk, name.rsplit_once("-part")) {
            (Some((_, number)), Some((_, named))) => named != number,
            (Some(_) | None, _) => false,
        };
        holds && !other
    }

    /// True if the device is a partition, and `value` is a partition UUID or label without a udev
    /// link: it may belong to this partition.
    fn may_refer_to_this_partition(&self, key: &str, value: &str) -> bool {
        let (key, value) = value.split_once('=').unwrap_or((key, value));
        self.parent_disk.is_some()
            && matches!(key, "PARTUUID" | "PARTLABEL")
            && !self.partition_links.contains(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_device_aliases(node: &str, part_of: Option<(&str, &str)>) -> DeviceAliases {
        DeviceAliases {
            node: node.to_owned(),
            parent_disk: part_of.map(|(whole, number)| (whole.to_owned(), number.to_owned())),
            links: [format!(
                "/dev/disk/by-id/ata-Disk_S1234{}",
                if part_of.is_some() { "-part2" } else { "" }
            )]
            .into(),
            ids: vec!["S1234".to_owned(), "naa.5000c500a1b2c3d4".to_owned()],
            partition_links: ["cafe-01".to_owned()].into(),
        }
    }

    #[test]
    fn disk_and_partition_names_are_references() {
        let disk = sample_device_aliases("/dev/sdb", None);
        for text in [
            "/dev/sdb /srv ext4 defaults 0 2",
            "/dev/sdb1\t/srv xfs",
            "  /dev/disk/by-id/ata-Disk_S1234 none swap",
            "secret /dev/disk/by-id/wwn-0x5000c500a1b2c3d4-part7 none luks",
            "What=/dev/sdb",
            "IDTYPE=sys_serial IDNAME=S1234 DEVNAME=/dev/sdq PVID=x",
            "/35000c500a1b2c3d4/",
            "quiet root=/dev/sdb2 resume=/dev/sda5",
            "\0\0vdev\0\x01/dev/sdb1\0\0path",
            "disk \"/dev/sdb\";",
        ] {
            assert_eq!(
                files_naming_device(&[("f".to_owned(), text.as_bytes().to_vec())], &disk),
                ["f"],
                "{text:?}"
            );
        }
        for text in [
            "# /dev/sdb /srv ext4",
            "/dev/sdba /srv ext4",
            "/dev/sda1 / ext4",
            "UUID=abcd /srv xfs",
            "",
            "\n#\n",
        ] {
            assert!(
                files_naming_device(&[("f".to_owned(), text.as_bytes().to_vec())], &disk)
                    .is_empty(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn partition_is_referenced_by_own_names_and_disk() {
        let part = sample_device_aliases("/dev/sdb2", Some(("/dev/sdb", "2")));
        let is = |text: &str| {
            !files_naming_device(&[("f".to_owned(), text.as_bytes().to_vec())], &part).is_empty()
        };
        for text in [
            "/dev/sdb2 /srv xfs",
            "/dev/sdb none",
            "/dev/disk/by-id/ata-Disk_S1234-part2 /srv xfs",
            "/dev/disk/by-id/ata-Disk_S1234 /srv xfs",
            // No link has this UUID, so the UUID may belong to any partition.
            "PARTUUID=dead-02 /srv xfs",
            "root=PARTLABEL=data",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "/dev/sdb1 /boot ext4",
            "/dev/disk/by-id/ata-Disk_S1234-part1 /boot",
            "PARTUUID=cafe-01 / ext4",
        ] {
            assert!(!is(text), "{text}");
        }
    }
}
