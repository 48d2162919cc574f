//! Whether a file that says what this machine uses names a device: fstab, crypttab, the pools of
//! ZFS and their like.
//!
//! It errs on the side of yes. A disk is named by its node, by any link of udev's, and by its
//! serial number or WWN anywhere in a word, as most names beneath /dev/disk/by-id hold them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct DeviceNames {
    /// Its node, such as /dev/sdb2.
    pub node: String,
    /// The node of the disk that it is a part of, and its number there; `None` for a whole disk.
    pub part_of: Option<(String, String)>,
    /// The links beneath /dev that lead to it, or to the disk that it is a part of.
    pub links: BTreeSet<String>,
    /// What the disk shows of itself: serial number and WWN.
    pub words: Vec<String>,
    /// The last parts of all links to partitions on this machine, by UUID and by label.
    pub resolved: BTreeSet<String>,
}

/// Files that name devices.
const FILES: [&str; 9] = [
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

/// Directories of files that name devices, with what the names of those end in.
const DIRECTORIES: [(&str, &str); 5] = [
    ("/etc/systemd/system", ".mount"),
    ("/etc/systemd/system", ".swap"),
    ("/etc/drbd.d", ".res"),
    ("/etc/mdadm/mdadm.conf.d", ".conf"),
    ("/etc/mdadm.conf.d", ".conf"),
];

/// The largest such file in bytes.
const LARGEST: u64 = 4 << 20;

/// The files of this machine that name devices, and their text; the error says which could not be
/// read.
pub fn files() -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut paths: Vec<PathBuf> = FILES.map(PathBuf::from).to_vec();
    for (directory, end) in DIRECTORIES {
        match fs::read_dir(directory) {
            Ok(entries) => {
                let names = entries
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|e| format!("{directory}: {e}"))?;
                let fits = |path: &PathBuf| path.to_string_lossy().ends_with(end);
                paths.extend(names.iter().map(fs::DirEntry::path).filter(fits));
            }
            Err(e) if is_absent(&e) => {}
            Err(e) => return Err(format!("{directory}: {e}")),
        }
    }
    let read = |path: &PathBuf| {
        let shown = crate::text::safe(path.as_os_str().as_encoded_bytes());
        match text(path) {
            Ok(text) => Some(Ok((shown, text))),
            Err(e) if is_absent(&e) => None,
            Err(e) => Some(Err(format!("{shown}: {e}"))),
        }
    };
    paths.iter().filter_map(read).collect()
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn text(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    // A link to /dev/null masks a unit.
    if !found.is_file() {
        return Ok(Vec::new());
    }
    if found.len() > LARGEST {
        return Err(io::Error::other("is larger than any such file"));
    }
    fs::read(path)
}

/// The files that name the device, each once.
pub fn mentions(files: &[(String, Vec<u8>)], names: &DeviceNames) -> Vec<String> {
    let naming = files
        .iter()
        .filter(|(_, text)| words(text).iter().any(|word| names.are_in(word)));
    naming.map(|(file, _)| file.clone()).collect()
}

/// The words of a text, or of what can be read in a file that is none; comments of lines aside.
fn words(text: &[u8]) -> Vec<String> {
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

impl DeviceNames {
    /// Whether a word may be a name of the device.
    fn are_in(&self, word: &str) -> bool {
        let (key, value) = word.split_once('=').unwrap_or(("", word));
        // `sys_serial=…` of LVM, `What=/dev/…` of systemd, `root=UUID=…` of the kernel.
        let last = value.rsplit('=').next().unwrap_or(value);
        [word, value, last]
            .into_iter()
            .any(|name| self.is_node(name) || self.is_link(name) || self.holds_word(name))
            || self.may_be_partition(key, value)
    }

    fn is_node(&self, name: &str) -> bool {
        match &self.part_of {
            Some((whole, _)) => name == self.node || name == whole,
            None => name.strip_prefix(self.node.as_str()).is_some_and(|rest| {
                let number = rest.strip_prefix('p').unwrap_or(rest);
                rest.is_empty()
                    || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            }),
        }
    }

    fn is_link(&self, name: &str) -> bool {
        let is_last = |link: &String| link.rsplit('/').next() == Some(name);
        !name.is_empty() && (self.links.contains(name) || self.links.iter().any(is_last))
    }

    /// Whether it holds the serial number or WWN, other than as the name of another partition of
    /// the disk.
    fn holds_word(&self, name: &str) -> bool {
        let udev = |word: &String| word.replace(' ', "_");
        // `naa.5000…` is `wwn-0x5000…` to udev and `35000…` to multipath.
        let bare = |word: &String| word.rsplit_once('.').map(|(_, number)| number.to_owned());
        let told = self
            .words
            .iter()
            .flat_map(|word| [Some(udev(word)), bare(word)])
            .flatten();
        let holds = told
            .filter(|word| word.len() >= 4)
            .any(|word| name.contains(&word));
        let other = match (&self.part_of, name.rsplit_once("-part")) {
            (Some((_, number)), Some((_, named))) => named != number,
            (Some(_) | None, _) => false,
        };
        holds && !other
    }

    /// Whether a partition's UUID or label that leads nowhere may be its own.
    fn may_be_partition(&self, key: &str, value: &str) -> bool {
        let (key, value) = value.split_once('=').unwrap_or((key, value));
        self.part_of.is_some()
            && matches!(key, "PARTUUID" | "PARTLABEL")
            && !self.resolved.contains(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(node: &str, part_of: Option<(&str, &str)>) -> DeviceNames {
        DeviceNames {
            node: node.to_owned(),
            part_of: part_of.map(|(whole, number)| (whole.to_owned(), number.to_owned())),
            links: [format!(
                "/dev/disk/by-id/ata-Disk_S1234{}",
                if part_of.is_some() { "-part2" } else { "" }
            )]
            .into(),
            words: vec!["S1234".to_owned(), "naa.5000c500a1b2c3d4".to_owned()],
            resolved: ["cafe-01".to_owned()].into(),
        }
    }

    #[test]
    fn any_name_of_a_disk_or_of_a_partition_of_it_is_a_mention() {
        let disk = names("/dev/sdb", None);
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
                mentions(&[("f".to_owned(), text.as_bytes().to_vec())], &disk),
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
                mentions(&[("f".to_owned(), text.as_bytes().to_vec())], &disk).is_empty(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_partition_is_named_by_its_own_names_and_by_its_disk() {
        let part = names("/dev/sdb2", Some(("/dev/sdb", "2")));
        let is =
            |text: &str| !mentions(&[("f".to_owned(), text.as_bytes().to_vec())], &part).is_empty();
        for text in [
            "/dev/sdb2 /srv xfs",
            "/dev/sdb none",
            "/dev/disk/by-id/ata-Disk_S1234-part2 /srv xfs",
            "/dev/disk/by-id/ata-Disk_S1234 /srv xfs",
            // No link leads there, so nobody knows which it is.
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
