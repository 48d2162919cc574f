//! The extent of a trial: its own loop file, or the beginning of a disk.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::disk::LockedDisk;
use super::loop_file::LoopFile;
use crate::host::TrialTool;
use crate::probes::DiskCounterReader;
use crate::settings::NewFilesystem;

pub enum TrialExtent {
    Loop(LoopFile),
    Disk(LockedDisk),
}

impl TrialExtent {
    /// Checks that the extent still belongs to the trial and is unused; the error is a sentence.
    pub fn check_unchanged(&self) -> Result<(), String> {
        match self {
            Self::Loop(image) => image.check_device_and_space(),
            Self::Disk(disk) => disk.check_unchanged_and_unused(),
        }
    }

    pub fn make_filesystem(
        &self,
        filesystem: NewFilesystem,
        maker: TrialTool,
        options: &[String],
    ) -> Result<(), String> {
        let run = |more: &[String], end: &[String]| {
            let words = [options, more, end].concat();
            maker
                .run(&words)
                .map(drop)
                .map_err(|miss| format!("{}: {miss}", maker.name()))
        };
        match self {
            Self::Loop(image) => {
                run(&[], &[image.path().to_owned()]).and_then(|()| image.fill_holes())
            }
            Self::Disk(disk) => {
                let path = disk.descriptor_path()?;
                let uuid = disk.begin_mkfs()?;
                let (more, end) = disk_mkfs_args(filesystem, &uuid, disk.bytes(), path);
                run(&more, &end)?;
                disk.finish_mkfs()
            }
        }
    }

    pub fn mount_source(&self) -> Result<String, String> {
        match self {
            Self::Loop(image) => Ok(image.path().to_owned()),
            Self::Disk(disk) => disk.descriptor_path(),
        }
    }

    /// Fills the holes of a loop file before the bare extent is measured, so that every block is
    /// written, as on a disk. The error is a sentence.
    pub fn fill_holes(&self) -> Result<(), String> {
        match self {
            Self::Loop(image) => image.fill_holes(),
            Self::Disk(_) => Ok(()),
        }
    }

    /// Bytes written directly to the loop file so far, not through the device.
    pub fn filled_bytes(&self) -> u64 {
        match self {
            Self::Loop(image) => image.filled_bytes(),
            Self::Disk(_) => 0,
        }
    }

    /// Bytes of the loop file without a place on the disk below.
    pub fn hole_bytes(&self) -> Result<u64, String> {
        match self {
            Self::Loop(image) => image.hole_bytes(),
            Self::Disk(_) => Ok(0),
        }
    }

    /// The loop file, opened again for direct I/O; `None` on a disk.
    pub fn open_loop_file(&self) -> Option<Result<OwnedFd, Errno>> {
        match self {
            Self::Loop(image) => Some(image.open_direct()),
            Self::Disk(_) => None,
        }
    }

    /// The device, opened again for direct I/O.
    pub fn open_direct(&self) -> Result<OwnedFd, Errno> {
        match self {
            Self::Loop(image) => image.open_device_direct(),
            Self::Disk(disk) => disk.open_direct(),
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Loop(image) => image.bytes(),
            Self::Disk(disk) => disk.bytes(),
        }
    }

    /// Bytes written before the first cell, or after the last one.
    pub fn setup_bytes(&self) -> u64 {
        match self {
            Self::Loop(image) => image.bytes() + super::TAIL_BYTES,
            Self::Disk(disk) => disk.bytes(),
        }
    }

    /// Counters of the writes to the extent.
    pub fn own_counters(&self) -> DiskCounterReader {
        match self {
            Self::Loop(image) => DiskCounterReader::new(&[image.kernel_name().to_owned()]),
            Self::Disk(disk) => DiskCounterReader::new(&[disk.kernel_name().to_owned()]),
        }
    }

    /// Counters of the flushes of the extent: the kernel counts those of a partition for the whole
    /// disk.
    pub fn flush_counters(&self) -> DiskCounterReader {
        match self {
            Self::Loop(image) => DiskCounterReader::new(&[image.kernel_name().to_owned()]),
            Self::Disk(disk) => DiskCounterReader::new(&[disk.disk_name()]),
        }
    }
}

/// Additional mkfs arguments on a disk: those that precede the device, and the device followed by
/// all others. The arguments set the size of the extent, and a UUID to recognise the file system.
fn disk_mkfs_args(
    filesystem: NewFilesystem,
    uuid: &str,
    bytes: u64,
    path: String,
) -> (Vec<String>, Vec<String>) {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    match filesystem {
        NewFilesystem::Ext4 => (
            words(&["-U", uuid]),
            vec![path, format!("{}k", bytes >> 10)],
        ),
        NewFilesystem::Xfs => (
            words(&[
                "-m",
                &format!("uuid={uuid}"),
                "-d",
                &format!("size={bytes}"),
            ]),
            vec![path],
        ),
        NewFilesystem::Btrfs => (words(&["-U", uuid, "-b", &bytes.to_string()]), vec![path]),
        NewFilesystem::Zfs => (Vec::new(), vec![path]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Candidate, trial_mkfs_options};

    /// Every mkfs on a disk gets the size of the extent, and options against discarding.
    #[test]
    fn every_candidate_may_be_made_on_a_disk_within_its_extent_only() {
        let path = "/proc/12/fd/3".to_owned();
        let uuid = "77616c77-6973-8574-8000-000000050102";
        for candidate in Candidate::ALL {
            let filesystem = candidate.filesystem();
            let maker = crate::trial_runner::mkfs_program(filesystem).unwrap();
            let (more, end) = disk_mkfs_args(filesystem, uuid, 1 << 30, path.clone());
            let own: Vec<String> = trial_mkfs_options(filesystem)
                .iter()
                .map(|word| (*word).to_owned())
                .collect();
            assert!(
                maker.is_allowed(&[&own[..], &more, &end].concat()),
                "{candidate:?}"
            );
            assert!(
                !maker.is_allowed(&[&own[..], std::slice::from_ref(&path)].concat()),
                "without a size: {candidate:?}"
            );
            let quiet = own
                .iter()
                .filter(|word| *word != "-K" && !word.contains("nodiscard"))
                .cloned();
            assert!(
                !maker.is_allowed(&quiet.chain(more).chain(end).collect::<Vec<_>>()),
                "discards: {candidate:?}"
            );
        }
    }
}
