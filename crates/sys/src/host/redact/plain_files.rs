//! Plain files that an answer may contain: those of the kernel, and a few listed here, each with an
//! expected shape.
//!
//! Another user may have replaced an expected file by a different one, or by a link. Content
//! without the shape is therefore dropped. Mount tables are filtered too, because a FUSE file
//! system shows its source as typed, password included.

use std::ffi::OsStr;
use std::path::Path;

use super::mounts;
use crate::host::{HostError, HostResult};

/// The chassis asset tag of Azure's virtual machines, and only of these (cloud-init,
/// DataSourceAzure.py, `AZURE_CHASSIS_ASSET_TAG`). A capture keeps this tag, because all these
/// machines share it.
pub const AZURE_CHASSIS: &str = "7783-7084-3265-9085-8269-3286-77";

/// Lines of a postmaster.pid that are kept: process id, data directory, start time, port, socket
/// directory. The listen address in the next line is dropped.
const PID_LINES: usize = 5;

const LONGEST_PATH: usize = 4096;

/// The kind of a plain file, which decides the expected shape. Text without that shape is dropped.
pub enum PlainFileKind {
    /// A file of the kernel, whose text is kept unchanged.
    Kernel,
    /// The chassis asset tag. Only Azure's tag is kept, because any other tag could identify the
    /// host.
    ChassisTag,
    MountTable,
    /// A file of udev's database, for the names of ZFS volumes.
    Udev,
    /// An administrator's file, in a place that only root can write.
    System,
    Version,
    Pid,
}

impl PlainFileKind {
    /// Fails for a file whose text an answer must not contain.
    pub(crate) fn from_path(path: &Path) -> Result<Self, HostError> {
        const RESERVED: &str = "not read, because the file may contain passwords; walwise reads only files and keys that it knows";
        Self::from_known_path(path).ok_or_else(|| HostError::failed(RESERVED))
    }

    fn from_known_path(path: &Path) -> Option<Self> {
        let parts: Vec<&[u8]> = path.iter().map(OsStr::as_encoded_bytes).collect();
        match parts.as_slice() {
            parts if parts.contains(&b"..".as_slice()) => None,
            // Below a process's root directory, the same rules apply as elsewhere.
            [b"/", b"proc", _, b"root" | b"cwd", beneath @ ..] => {
                Self::from_file_name(beneath.last()?)
            }
            // Command lines and environments are read by separate questions, mounts in mountinfo.
            [
                b"/",
                b"proc",
                ..,
                b"environ" | b"cmdline" | b"mem" | b"auxv" | b"stack" | b"mounts",
            ] => None,
            [b"/", b"proc", .., b"mountinfo"] => Some(Self::MountTable),
            [b"/", b"sys", .., b"chassis_asset_tag"] => Some(Self::ChassisTag),
            [b"/", b"proc" | b"sys", ..] => Some(Self::Kernel),
            [b"/", b"run", b"udev", b"data", ..] => Some(Self::Udev),
            [b"/", b"etc", b"os-release" | b"ld.so.preload"]
            | [b"/", b"usr", b"lib", b"os-release"]
            | [b"/", b"run", b"systemd", b"container"] => Some(Self::System),
            parts => Self::from_file_name(parts.last()?),
        }
    }

    fn from_file_name(name: &[u8]) -> Option<Self> {
        match name {
            b"PG_VERSION" => Some(Self::Version),
            b"postmaster.pid" => Some(Self::Pid),
            _ => None,
        }
    }

    pub fn redact(self, text: Vec<u8>) -> HostResult {
        let left = match self {
            Self::Kernel | Self::System => Some(text),
            Self::ChassisTag => Some(redact_chassis_tag(&text)),
            Self::MountTable => Some(mounts::redact_mount_table(&text)),
            Self::Udev => Some(keep_zvol_links(&text)),
            Self::Version => pg_version_text_if_valid(&text),
            Self::Pid => redact_postmaster_pid(&text),
        };
        left.ok_or_else(|| HostError::failed("the file does not have the expected format"))
    }
}

/// Replaces any tag but Azure's by `other`; an empty tag stays empty.
fn redact_chassis_tag(text: &[u8]) -> Vec<u8> {
    match text.trim_ascii() {
        tag if tag == AZURE_CHASSIS.as_bytes() => tag.to_vec(),
        [] => Vec::new(),
        _ => b"other".to_vec(),
    }
}

fn pg_version_text_if_valid(text: &[u8]) -> Option<Vec<u8>> {
    let word = text.trim_ascii();
    let fits =
        (1..=8).contains(&word.len()) && word.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    fits.then(|| text.to_vec())
}

/// Keeps the first lines of a postmaster.pid, up to the first malformed one. `None` if even the
/// process id is malformed.
fn redact_postmaster_pid(text: &[u8]) -> Option<Vec<u8>> {
    let fits = |(number, line): &(usize, &[u8])| {
        let text = line.trim_ascii();
        if matches!(number, 1 | 4) {
            // The socket directory is empty if the server has no socket.
            return text.is_empty()
                || text.starts_with(b"/") && !text.contains(&b'=') && text.len() <= LONGEST_PATH;
        }
        // A single-user server writes its process id with a minus.
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        (1..=20).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
    };
    let lines = text.split_inclusive(|b| *b == b'\n').enumerate();
    let kept = lines.take(PID_LINES).take_while(fits);
    let kept: Vec<&[u8]> = kept.map(|(_, line)| line).collect();
    (!kept.is_empty()).then(|| kept.concat())
}

fn keep_zvol_links(text: &[u8]) -> Vec<u8> {
    text.split_inclusive(|b| *b == b'\n')
        .filter(|line| line.starts_with(b"S:zvol/"))
        .flatten()
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redacted_text(path: &str, text: &str) -> Option<String> {
        let left = PlainFileKind::from_path(Path::new(path))
            .ok()?
            .redact(text.as_bytes().to_vec());
        left.ok().map(|left| String::from_utf8(left).unwrap())
    }

    #[test]
    fn only_known_plain_files_are_readable() {
        for path in [
            "/proc/1/environ",
            "/proc/cmdline",
            "/proc/mounts",
            "/proc/7/mounts",
            "/proc/7/root/etc/shadow",
            "/proc/7/root/proc/cmdline",
            "/sys/../etc/shadow",
            "/etc/shadow",
            "/etc/fstab",
            "/x/postgresql.auto.conf",
            "/root/.pgpass",
            "/root/.my.cnf",
            "/root/.mylogin.cnf",
            "/etc/nvme/config.json",
            "/etc/systemd/system/a.mount",
            "/etc/mysql/debian.cnf",
            "/x/PG_VERSION.bak",
        ] {
            assert_eq!(redacted_text(path, "secret"), None, "{path}");
        }
        for path in [
            "/proc/self/mountinfo",
            "/etc/os-release",
            "/x/PG_VERSION",
            "/proc/7/root/x/postmaster.pid",
            "/sys/a.mount",
        ] {
            assert!(PlainFileKind::from_path(Path::new(path)).is_ok(), "{path}");
        }
    }

    #[test]
    fn content_of_unexpected_format_is_dropped() {
        for (path, text, expected) in [
            (
                "/sys/class/dmi/id/chassis_asset_tag",
                "7783-7084-3265-9085-8269-3286-77\n",
                Some(AZURE_CHASSIS),
            ),
            (
                "/sys/class/dmi/id/chassis_asset_tag",
                "RACK7-0815\n",
                Some("other"),
            ),
            ("/sys/class/dmi/id/chassis_asset_tag", "\n", Some("")),
            ("/x/PG_VERSION", "16\n", Some("16\n")),
            ("/x/PG_VERSION", "9.6", Some("9.6")),
            ("/x/PG_VERSION", "root:$y$secret:1::::\n", None),
            ("/x/PG_VERSION", "16\nroot:secret\n", None),
            ("/x/PG_VERSION", "", None),
            (
                "/x/postmaster.pid",
                "10\n/data\n17\n5432\n/run\n10.1.2.3\n 1 2\nready\n",
                Some("10\n/data\n17\n5432\n/run\n"),
            ),
            (
                "/x/postmaster.pid",
                "10\n/data\n17\n5432\n\nlocalhost\n",
                Some("10\n/data\n17\n5432\n\n"),
            ),
            ("/x/postmaster.pid", "10\nroot:secret:1\n", Some("10\n")),
            ("/x/postmaster.pid", "root:secret:1\n", None),
            ("/x/postmaster.pid", "PGPASSWORD=secret\0A=b", None),
            (
                "/run/udev/data/b8:1",
                "S:zvol/tank/pg\nE:PASSWORD=secret\nS:disk/by-id/x\n",
                Some("S:zvol/tank/pg\n"),
            ),
        ] {
            assert_eq!(
                redacted_text(path, text).as_deref(),
                expected,
                "{path} {text}"
            );
        }
    }

    proptest! {
        #[test]
        fn only_numbers_and_paths_of_pid_files_are_kept(
            text in "([ -~]{0,12}\n){0,8}", name in prop::sample::select(vec!["PG_VERSION", "postmaster.pid"])
        ) {
            let path = format!("/data/{name}");
            for line in redacted_text(&path, &text).unwrap_or_default().lines() {
                let number = line.trim().bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
                prop_assert!(number || line.trim().starts_with('/'), "{line}");
            }
        }
    }
}
