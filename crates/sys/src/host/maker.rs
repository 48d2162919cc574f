//! The programs by which a trial creates file systems, on its own loop files and on a disk given to
//! it: the only ones on the allow-list that write, and only a trial runs them.
//!
//! They are found and run as the reading ones are. Their arguments are checked here, whoever asks:
//! mkfs writes to a loop device, or to what the asking process has open, and to nothing else. On a
//! disk it is told where to end, and to discard nothing, as it would discard the whole disk.

use std::path::PathBuf;
use std::time::Duration;

use super::live::programs;
use super::{HostError, HostErrorKind};

const DEADLINE: Duration = Duration::from_secs(60);

/// The options of the small file system that is mounted for the sake of its loop device.
const SMALL_FS_OPTIONS: [&str; 8] = ["-q", "-F", "-t", "ext2", "-b", "4096", "-E", "nodiscard"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MakerProgram {
    Mke2fs,
    MkfsXfs,
    /// btrfs-progs' mkfs.btrfs.
    MkfsBtrfs,
    /// util-linux's mount, which attaches a loop device.
    Mount,
    /// util-linux's losetup, which changes one.
    Losetup,
}

impl MakerProgram {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mke2fs => "mke2fs",
            Self::MkfsXfs => "mkfs.xfs",
            Self::MkfsBtrfs => "mkfs.btrfs",
            Self::Mount => "mount",
            Self::Losetup => "losetup",
        }
    }

    /// The package that provides it in most distributions.
    pub fn package(self) -> &'static str {
        match self {
            Self::Mke2fs => "e2fsprogs",
            Self::MkfsXfs => "xfsprogs",
            Self::MkfsBtrfs => "btrfs-progs",
            Self::Mount | Self::Losetup => "util-linux",
        }
    }

    /// Its path, if it may be run.
    pub fn location(self) -> Result<PathBuf, HostError> {
        programs::location(self.name())
    }

    pub fn run(self, words: &[String]) -> Result<String, HostError> {
        if !self.is_allowed(words) {
            return Err(HostError::new(
                HostErrorKind::Failed,
                "walwise does not allow this use of the program",
            ));
        }
        let printed = programs::run_maker(self.name(), words, DEADLINE)?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    /// Whether a trial may run it with these arguments.
    pub fn is_allowed(self, words: &[String]) -> bool {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match (self, words.as_slice()) {
            (Self::Mke2fs | Self::MkfsXfs | Self::MkfsBtrfs, ["-V" | "--version"]) => true,
            (Self::Mke2fs, [options @ .., file, blocks]) if options == SMALL_FS_OPTIONS => {
                is_descriptor(file) && is_number(blocks)
            }
            (Self::Mke2fs, [options @ .., disk, size]) if is_descriptor(disk) => {
                size.strip_suffix('k').is_some_and(is_number)
                    && names_no_file(options)
                    && options
                        .iter()
                        .any(|word| word.split(',').any(|part| part == "nodiscard"))
            }
            (Self::MkfsXfs, [options @ .., "-d", size, disk]) if is_descriptor(disk) => {
                size.strip_prefix("size=").is_some_and(is_long_number)
                    && names_no_file(options)
                    && options.contains(&"-K")
            }
            (Self::MkfsBtrfs, [options @ .., "-b", size, disk]) if is_descriptor(disk) => {
                is_long_number(size) && names_no_file(options) && options.contains(&"-K")
            }
            (Self::Mke2fs | Self::MkfsXfs | Self::MkfsBtrfs, [options @ .., device]) => {
                is_loop(device) && names_no_file(options)
            }
            (Self::Mount, ["-n", "-i", "-t", "ext4", "-o", options, file, "/tmp"]) => {
                let bytes = options.strip_prefix("loop,nosuid,nodev,noexec,sizelimit=");
                bytes.is_some_and(|bytes| bytes.bytes().all(|b| b.is_ascii_digit()))
                    && is_descriptor(file)
            }
            (Self::Losetup, ["--direct-io=on", device] | ["--sector-size", "4096", device]) => {
                is_loop(device)
            }
            (Self::Mke2fs | Self::MkfsXfs | Self::MkfsBtrfs | Self::Mount | Self::Losetup, _) => {
                false
            }
        }
    }
}

pub fn is_loop(path: &str) -> bool {
    path.strip_prefix("/dev/loop").is_some_and(is_number)
}

/// Whether it is an open file of a process: `/proc/12/fd/3`.
fn is_descriptor(path: &str) -> bool {
    let parts = path
        .strip_prefix("/proc/")
        .and_then(|rest| rest.split_once("/fd/"));
    parts.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Whether no word is a path, which could be another device or a file.
fn names_no_file(options: &[&str]) -> bool {
    options.iter().all(|word| !word.contains('/'))
}

fn is_long_number(word: &str) -> bool {
    (1..=13).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

fn is_number(word: &str) -> bool {
    (1..=9).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_loop_devices_is_written_to() {
        let may = |maker: MakerProgram, line: &str| {
            maker.is_allowed(
                &line
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        assert!(may(
            MakerProgram::Mke2fs,
            "-q -F -t ext4 -O fast_commit /dev/loop7"
        ));
        assert!(
            may(MakerProgram::MkfsXfs, "-V")
                && may(MakerProgram::MkfsBtrfs, "-q -f -K /dev/loop12")
        );
        for line in [
            "",
            "/dev/sda",
            "-F /dev/loop0p1",
            "-d /etc /dev/loop0",
            "/dev/loop0 /dev/sda",
            "/dev/loop",
        ] {
            assert!(!may(MakerProgram::Mke2fs, line), "{line}");
            assert!(!may(MakerProgram::MkfsBtrfs, line), "{line}");
        }
        let open = "/proc/12/fd/3";
        assert!(may(
            MakerProgram::Mke2fs,
            &format!("-q -F -E x=0,nodiscard -U 7 {open} 1048576k")
        ));
        assert!(may(
            MakerProgram::MkfsXfs,
            &format!("-q -f -K -m uuid=7 -d size=1073741824 {open}")
        ));
        assert!(may(
            MakerProgram::MkfsBtrfs,
            &format!("-q -f -K -U 7 -b 1073741824 {open}")
        ));
        for line in [
            "-E nodiscard",
            "-K",
            "-K -d file=1",
            "-K -d size=",
            "-K -b",
            "-K -d name=/dev/sda -d size=1",
        ] {
            for end in [
                open.to_owned(),
                format!("{open} /dev/sda"),
                "/dev/sda 1024k".to_owned(),
                "/dev/sdb".to_owned(),
            ] {
                for maker in [
                    MakerProgram::Mke2fs,
                    MakerProgram::MkfsXfs,
                    MakerProgram::MkfsBtrfs,
                ] {
                    assert!(
                        !may(maker, &format!("{line} {end}")),
                        "{maker:?} {line} {end}"
                    );
                }
            }
        }
        let small = "-q -F -t ext2 -b 4096 -E nodiscard";
        assert!(may(
            MakerProgram::Mke2fs,
            &format!("{small} /proc/12/fd/3 1024")
        ));
        for file in [
            "/etc/passwd 1024",
            "/proc/12/fd/3/../../1/fd/3 1024",
            "/proc/12/fd/3 /dev/sda",
            "/proc/12/fd/3",
        ] {
            assert!(
                !may(MakerProgram::Mke2fs, &format!("{small} {file}")),
                "{file}"
            );
        }
        let mount = "-n -i -t ext4 -o loop,nosuid,nodev,noexec,sizelimit=1024";
        assert!(may(
            MakerProgram::Mount,
            &format!("{mount} /proc/12/fd/3 /tmp")
        ));
        for line in [
            "/dev/sda /tmp",
            "/proc/12/fd/3 /etc",
            "/proc/12/fd/3",
            "--bind /proc/12/fd/3 /tmp",
        ] {
            assert!(
                !may(MakerProgram::Mount, &format!("{mount} {line}")),
                "{line}"
            );
        }
        assert!(!may(
            MakerProgram::Mount,
            "-n -i -t ext4 -o loop,suid /proc/12/fd/3 /tmp"
        ));
        assert!(may(MakerProgram::Losetup, "--direct-io=on /dev/loop3"));
        assert!(may(MakerProgram::Losetup, "--sector-size 4096 /dev/loop3"));
        for line in [
            "--detach-all",
            "--detach /dev/loop0",
            "--direct-io=on /dev/sda",
            "/dev/loop0 /etc/passwd",
        ] {
            assert!(!may(MakerProgram::Losetup, line), "{line}");
        }
    }
}
