//! The extent of a trial: a loop file of its own, or the beginning of a disk that a person gave it.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::disk::HeldDisk;
use super::image::Image;
use crate::host::MakerProgram;
use crate::probes::Disks;
use crate::settings::NewFilesystem;

/// Where file systems are made.
pub enum CellExtent {
    Loop(Image),
    Disk(HeldDisk),
}

impl CellExtent {
    /// Makes sure that it is still ours and used by nobody else; the error is a sentence.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Loop(image) => image.check(),
            Self::Disk(disk) => disk.check(),
        }
    }

    /// Makes a file system with these options; the error is a sentence.
    pub fn make(
        &self,
        filesystem: NewFilesystem,
        maker: MakerProgram,
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
            Self::Loop(image) => run(&[], &[image.path().to_owned()]).and_then(|()| image.fill()),
            Self::Disk(disk) => {
                let path = disk.path()?;
                let uuid = disk.begins_to_make()?;
                let (more, end) = of_disk(filesystem, &uuid, disk.bytes(), path);
                run(&more, &end)?;
                disk.has_made()
            }
        }
    }

    /// The path that mount(2) takes.
    pub fn mountable(&self) -> Result<String, String> {
        match self {
            Self::Loop(image) => Ok(image.path().to_owned()),
            Self::Disk(disk) => disk.path(),
        }
    }

    /// Makes it as written as a disk before the bare extent is measured; the error is a sentence.
    pub fn fill(&self) -> Result<(), String> {
        match self {
            Self::Loop(image) => image.fill(),
            Self::Disk(_) => Ok(()),
        }
    }

    /// Bytes that were written beside the device up to now.
    pub fn filled(&self) -> u64 {
        match self {
            Self::Loop(image) => image.filled(),
            Self::Disk(_) => 0,
        }
    }

    /// Bytes of it that have no place on the disk below.
    pub fn unwritten(&self) -> Result<u64, String> {
        match self {
            Self::Loop(image) => image.unwritten(),
            Self::Disk(_) => Ok(0),
        }
    }

    /// The loop file, opened again for direct I/O; `None` on a disk, where nothing lies between.
    pub fn host(&self) -> Option<Result<OwnedFd, Errno>> {
        match self {
            Self::Loop(image) => Some(image.direct()),
            Self::Disk(_) => None,
        }
    }

    /// The device, opened again for direct I/O.
    pub fn direct(&self) -> Result<OwnedFd, Errno> {
        match self {
            Self::Loop(image) => image.direct_device(),
            Self::Disk(disk) => disk.direct(),
        }
    }

    /// Bytes of it.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Loop(image) => image.bytes(),
            Self::Disk(disk) => disk.bytes(),
        }
    }

    /// Bytes that are written before the first cell, or after the last one.
    pub fn prepared(&self) -> u64 {
        match self {
            Self::Loop(image) => image.bytes() + super::TAIL,
            Self::Disk(disk) => disk.bytes(),
        }
    }

    /// What counts bytes that are written to it.
    pub fn own(&self) -> Disks {
        match self {
            Self::Loop(image) => Disks::new(&[image.kernel_name().to_owned()]),
            Self::Disk(disk) => Disks::new(&[disk.kernel_name().to_owned()]),
        }
    }

    /// What counts its flushes: the kernel counts those of a partition for its disk.
    pub fn flushing(&self) -> Disks {
        match self {
            Self::Loop(image) => Disks::new(&[image.kernel_name().to_owned()]),
            Self::Disk(disk) => Disks::new(&[disk.disk_name()]),
        }
    }
}

/// What mkfs is told beyond its options on a disk, before and from the device on: no more than the
/// extent, and a UUID by which the file system is known.
fn of_disk(
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
    use crate::trial::{Contender, mkfs_of_trials};

    /// Whatever is made on a disk is told where the extent ends, and to discard nothing.
    #[test]
    fn every_candidate_may_be_made_on_a_disk_within_its_extent_only() {
        let path = "/proc/12/fd/3".to_owned();
        let uuid = "77616c77-6973-8574-8000-000000050102";
        for candidate in Contender::ALL {
            let filesystem = candidate.filesystem();
            let maker = crate::cells::maker(filesystem).unwrap();
            let (more, end) = of_disk(filesystem, uuid, 1 << 30, path.clone());
            let own: Vec<String> = mkfs_of_trials(filesystem)
                .iter()
                .map(|word| (*word).to_owned())
                .collect();
            assert!(
                maker.may(&[&own[..], &more, &end].concat()),
                "{candidate:?}"
            );
            assert!(
                !maker.may(&[&own[..], std::slice::from_ref(&path)].concat()),
                "without a size: {candidate:?}"
            );
            let quiet = own
                .iter()
                .filter(|word| *word != "-K" && !word.contains("nodiscard"))
                .cloned();
            assert!(
                !maker.may(&quiet.chain(more).chain(end).collect::<Vec<_>>()),
                "discards: {candidate:?}"
            );
        }
    }
}
