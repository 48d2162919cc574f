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
    /// Checks that the extent still belongs to the trial and is unused, and that a loop file leaves
    /// enough free space. The error is a complete sentence.
    pub fn check_still_usable(&self) -> Result<(), String> {
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
                .map_err(|miss| format!("{}: {miss}", maker.as_str()))
        };
        match self {
            Self::Loop(image) => {
                run(&[], &[image.loop_device_path().to_owned()]).and_then(|()| image.fill_holes())
            }
            Self::Disk(disk) => {
                let path = disk.descriptor_path()?;
                let uuid = disk.begin_mkfs_and_return_uuid()?;
                let (more, end) = disk_mkfs_args(filesystem, &uuid, disk.extent_bytes(), path);
                run(&more, &end)?;
                disk.check_and_mark_after_mkfs()
            }
        }
    }

    pub fn mount_source(&self) -> Result<String, String> {
        match self {
            Self::Loop(image) => Ok(image.loop_device_path().to_owned()),
            Self::Disk(disk) => disk.descriptor_path(),
        }
    }

    /// Fills the holes of a loop file before the raw extent is measured, so that no commit
    /// allocates blocks, as on a disk. The error is a complete sentence.
    pub fn fill_holes(&self) -> Result<(), String> {
        match self {
            Self::Loop(image) => image.fill_holes(),
            Self::Disk(_) => Ok(()),
        }
    }

    /// Bytes of zeros written to holes of the loop file so far, which the loop device does not
    /// count.
    pub fn bytes_written_to_holes(&self) -> u64 {
        match self {
            Self::Loop(image) => image.bytes_written_to_holes(),
            Self::Disk(_) => 0,
        }
    }

    /// Bytes of the loop file for which the file system below has allocated no blocks.
    pub fn hole_bytes(&self) -> Result<u64, String> {
        match self {
            Self::Loop(image) => image.hole_bytes(),
            Self::Disk(_) => Ok(0),
        }
    }

    /// The loop file, opened again for direct I/O; `None` on a disk.
    pub fn open_backing_file_direct(&self) -> Option<Result<OwnedFd, Errno>> {
        match self {
            Self::Loop(image) => Some(image.open_backing_file_direct()),
            Self::Disk(_) => None,
        }
    }

    pub fn open_device_direct(&self) -> Result<OwnedFd, Errno> {
        match self {
            Self::Loop(image) => image.open_device_direct(),
            Self::Disk(disk) => disk.open_device_direct(),
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Loop(image) => image.extent_bytes(),
            Self::Disk(disk) => disk.extent_bytes(),
        }
    }

    /// Bytes written to prepare a loop file, or to clear a disk at the end.
    pub fn preparation_or_clear_bytes(&self) -> u64 {
        match self {
            Self::Loop(image) => image.extent_bytes() + super::TAIL_BYTES,
            Self::Disk(disk) => disk.extent_bytes(),
        }
    }

    pub fn device_counter_reader(&self) -> DiskCounterReader {
        match self {
            Self::Loop(image) => DiskCounterReader::new(&[image.loop_device_name().to_owned()]),
            Self::Disk(disk) => DiskCounterReader::new(&[disk.kernel_name().to_owned()]),
        }
    }

    /// For a partition, the counters are those of the disk that contains it, because the kernel
    /// counts flushes per disk.
    pub fn flush_counter_reader(&self) -> DiskCounterReader {
        match self {
            Self::Loop(image) => DiskCounterReader::new(&[image.loop_device_name().to_owned()]),
            Self::Disk(disk) => DiskCounterReader::new(&[disk.whole_disk_name()]),
        }
    }
}

/// The additional mkfs arguments for a disk, as two lists: the options before the device, then
/// the device and the options after it. They set the size of the extent, and a UUID to
/// recognise the file system.
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

    #[test]
    fn mkfs_arguments_need_size_and_no_discard() {
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
                maker.allows_arguments(&[&own[..], &more, &end].concat()),
                "{candidate:?}"
            );
            assert!(
                !maker.allows_arguments(&[&own[..], std::slice::from_ref(&path)].concat()),
                "without a size: {candidate:?}"
            );
            let quiet = own
                .iter()
                .filter(|word| *word != "-K" && !word.contains("nodiscard"))
                .cloned();
            assert!(
                !maker.allows_arguments(&quiet.chain(more).chain(end).collect::<Vec<_>>()),
                "discards: {candidate:?}"
            );
        }
    }
}
