//! Paths whose access may hang, determined once from the mount table without touching any mount.
//!
//! If no mounted file system can hang, everything is read directly, except through the links of a
//! process, which may lead to another mount namespace. Otherwise only the kernel's own directories
//! are read directly. Any other path may lead to any mount through a symbolic link, and following
//! the link already touches that mount.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::escape::fstab::decode_fstab_field;
use crate::host::{is_in_word_list, path_from_bytes};
use crate::text::bytes;

const REMOTE_TYPES: &str = "9p acfs afs autofs beegfs ceph cifs coda cvmfs gfs2 glusterfs gpfs lustre mmfs ncpfs nfs \
    nfs4 ocfs2 orangefs panfs pvfs2 smb2 smb3 smbfs vboxsf virtiofs";

const REMOTE_DEVICES: [&str; 3] = ["/dev/nbd", "/dev/rbd", "/dev/drbd"];

pub struct MountHangRisks {
    points: HashMap<PathBuf, bool>,
    any_hang: bool,
}

impl MountHangRisks {
    /// Treats every path as one that may hang, because no mount is known.
    pub fn for_unreadable_table() -> Self {
        Self {
            points: HashMap::new(),
            any_hang: true,
        }
    }

    /// Parses /proc/self/mountinfo (proc_pid_mountinfo(5)). A malformed line counts as a mount that
    /// can hang.
    pub fn parse(mountinfo: &[u8]) -> Self {
        let lines = bytes::lines(mountinfo).filter(|line| !line.is_empty());
        let (mut points, mut any_hang) = (HashMap::new(), false);
        for (point, hangs) in
            lines.map(|line| parse_mount_hang_risk(line).unwrap_or((PathBuf::new(), true)))
        {
            any_hang |= hangs;
            // The last mount at a mount point hides the earlier ones.
            points.insert(point, hangs);
        }
        Self { points, any_hang }
    }

    #[cfg(test)]
    pub fn has_mount_that_may_hang(&self) -> bool {
        self.any_hang
    }

    pub fn path_may_hang(&self, path: &Path) -> bool {
        if !self.any_hang {
            return is_process_link_path(path);
        }
        !is_kernel_directory_path(path)
            || path
                .ancestors()
                .find_map(|over| self.points.get(over))
                .is_none_or(|hangs| *hangs)
    }
}

/// Whether the path goes through a link of a process to its files, which may be on any mount.
fn is_process_link_path(path: &Path) -> bool {
    const LINKS: &str = "root cwd exe fd map_files";
    path.starts_with("/proc")
        && path
            .iter()
            .any(|name| is_in_word_list(LINKS, name.as_encoded_bytes()))
}

fn is_kernel_directory_path(path: &Path) -> bool {
    let directories = ["/sys", "/dev", "/proc"];
    directories
        .iter()
        .any(|directory| path.starts_with(directory))
        && !path.components().any(|c| c == Component::ParentDir)
        && !is_process_link_path(path)
}

fn parse_mount_hang_risk(line: &[u8]) -> Option<(PathBuf, bool)> {
    let words: Vec<&[u8]> = line.split(|b| *b == b' ').collect();
    let dash = words.iter().position(|word| *word == b"-")?;
    let fstype = *words.get(dash + 1)?;
    let source = words.get(dash + 2)?;
    let point = path_from_bytes(decode_fstab_field(words.get(4)?));
    let fuse = fstype.starts_with(b"fuse") && fstype != b"fusectl";
    let remote = REMOTE_DEVICES
        .iter()
        .any(|prefix| source.starts_with(prefix.as_bytes()));
    Some((
        point,
        fuse || remote || is_in_word_list(REMOTE_TYPES, fstype),
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOCAL: &str = "21 26 0:20 / /sys rw - sysfs sysfs rw\n\
        22 26 0:21 / /proc rw - proc proc rw\n\
        26 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
        27 21 0:28 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n";

    fn local_mounts_and(line: &str) -> MountHangRisks {
        MountHangRisks::parse(format!("{LOCAL}{line}\n").as_bytes())
    }

    #[test]
    fn local_mounts_never_hang() {
        let mounts = MountHangRisks::parse(LOCAL.as_bytes());
        assert!(!mounts.has_mount_that_may_hang());
        assert!(!mounts.path_may_hang(Path::new("/var/lib/postgresql")));
    }

    #[test]
    fn remote_mount_leaves_only_kernel_paths_safe() {
        let lines = [
            "40 26 0:50 / /mnt rw - nfs4 server:/x rw",
            "40 26 0:50 / /mnt rw - fuse.sshfs you@there: rw",
            "40 26 0:50 / /mnt rw - ext4 /dev/nbd0p1 rw",
            "this is no mount",
        ];
        for line in lines {
            let mounts = local_mounts_and(line);
            for safe in [
                "/proc/self/mountinfo",
                "/sys/block/sda/queue/rotational",
                "/dev/disk/by-id/x",
                "/proc/1/stat",
            ] {
                assert!(!mounts.path_may_hang(Path::new(safe)), "{line}: {safe}");
            }
            for other in [
                "/etc/fstab",
                "/mnt/data",
                "/srv",
                "/sys/../mnt",
                "/proc/1/root/mnt",
                "/proc/1/cwd",
                "mnt",
            ] {
                assert!(mounts.path_may_hang(Path::new(other)), "{line}: {other}");
            }
        }
    }

    #[test]
    fn mounts_below_proc_and_sys_are_considered() {
        let mounts = local_mounts_and("40 22 0:50 / /proc/with\\040space rw - fuse.lxcfs lxcfs rw");
        assert!(mounts.path_may_hang(Path::new("/proc/with space")));
        assert!(mounts.path_may_hang(Path::new("/proc/with space/cpuinfo")));
        assert!(!mounts.path_may_hang(Path::new("/proc/stat")));
        let mounts = local_mounts_and(
            "40 22 0:50 / /sys/x rw - fuse.y y rw\n41 22 0:51 / /sys/x rw - tmpfs z rw",
        );
        assert!(
            !mounts.path_may_hang(Path::new("/sys/x/z")),
            "the last mount is in sight"
        );
    }

    fn escape_mountinfo_field(name: &[u8]) -> String {
        let byte = |b: &u8| match b {
            b' ' | b'\t' | b'\n' | b'\\' | b'#' | ..=31 | 127.. => format!("\\{b:03o}"),
            b => char::from(*b).to_string(),
        };
        name.iter().map(byte).collect()
    }

    fn mount_lines() -> impl Strategy<Value = Vec<String>> {
        let kind = prop::sample::select(vec![
            "ext4 /dev/sda1",
            "nfs4 server:/x",
            "fuse.x y",
            "ext4 /dev/rbd0",
            "tmpfs t",
        ]);
        prop::collection::vec(kind, 0..6).prop_map(|kinds| {
            let line = |(n, kind)| format!("{n} 26 0:50 / /sys/m{n} rw - {kind} rw");
            kinds.into_iter().enumerate().map(line).collect()
        })
    }

    proptest! {
        #[test]
        fn malformed_line_makes_no_path_safe(bad: Vec<u8>, lines in mount_lines(), at: prop::sample::Index) {
            let good = MountHangRisks::parse(lines.join("\n").as_bytes());
            let mut all: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
            all.insert(at.index(all.len() + 1), &bad);
            let both = MountHangRisks::parse(&all.join(&b'\n'));
            let alone = MountHangRisks::parse(&bad);
            prop_assert_eq!(both.has_mount_that_may_hang(), good.has_mount_that_may_hang() || alone.has_mount_that_may_hang());
            for path in ["/etc/fstab", "/sys/m0/x", "/sys/m1", "/proc/1/root/x", "x"].map(Path::new) {
                prop_assert!(both.path_may_hang(path) || !good.path_may_hang(path), "{path:?}");
            }
        }

        #[test]
        fn order_of_distinct_mount_points_is_irrelevant(lines in mount_lines()) {
            let backwards: Vec<&str> = lines.iter().rev().map(String::as_str).collect();
            let [one, other] = [lines.join("\n"), backwards.join("\n")].map(|text| MountHangRisks::parse(text.as_bytes()));
            for path in ["/sys/m0/x", "/sys/m1/y", "/sys/m2", "/sys", "/etc"].map(Path::new) {
                prop_assert_eq!(one.path_may_hang(path), other.path_may_hang(path));
            }
        }

        #[test]
        fn escaped_mount_points_are_decoded(name in prop::collection::vec(1u8.., 1..20)) {
            prop_assert_eq!(decode_fstab_field(escape_mountinfo_field(&name).as_bytes()), name.clone());
            prop_assume!(!name.contains(&b'/') && name != b"." && name != b"..");
            let path = Path::new("/sys").join(path_from_bytes(name.clone()));
            let mounts = local_mounts_and(&format!("40 21 0:50 / /sys/{} rw - fuse.x y rw", escape_mountinfo_field(&name)));
            prop_assert!(mounts.path_may_hang(&path) && mounts.path_may_hang(&path.join("x")));
            prop_assert!(!mounts.path_may_hang(Path::new("/sys/block")) || name == b"block");
        }
    }
}
