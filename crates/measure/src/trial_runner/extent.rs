use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::host::TrialTool;
use crate::settings::NewFilesystem;
use crate::subprocess::Channel;

/// The part of a disk, or of a loop device, that a trial writes.
pub trait Extent {
    /// Checks that the extent still belongs to the trial and is unused, and that a loop file leaves
    /// enough free space. The error is a complete sentence.
    fn check_still_usable(&self) -> Result<(), String>;

    fn make_filesystem(
        &self,
        filesystem: NewFilesystem,
        maker: TrialTool,
        options: &[String],
    ) -> Result<(), String>;

    fn path_for_mount(&self) -> Result<String, String>;

    fn open_device_direct(&self) -> Result<OwnedFd, Errno>;

    fn bytes(&self) -> u64;

    /// Bytes written to prepare a loop file, or to clear a disk at the end.
    fn preparation_or_clear_bytes(&self) -> u64;

    /// Kernel name of the device.
    fn device_name(&self) -> &str;

    /// Kernel name of the device that counts the flushes.
    fn flush_device_name(&self) -> String {
        self.device_name().to_owned()
    }

    /// Fills the holes of a loop file before the raw extent is measured, so that no commit
    /// allocates blocks, as on a disk. The error is a complete sentence.
    fn fill_holes(&self) -> Result<(), String> {
        Ok(())
    }

    /// Bytes of zeros written to holes of the loop file so far, which the loop device does not
    /// count.
    fn bytes_written_to_holes(&self) -> u64 {
        0
    }

    /// Bytes of the loop file for which the file system below has allocated no blocks.
    fn hole_bytes(&self) -> Result<u64, String> {
        Ok(0)
    }

    /// The loop file, opened again for direct I/O; `None` on a disk.
    fn open_backing_file_direct(&self) -> Option<Result<OwnedFd, Errno>> {
        None
    }

    /// Clears a disk at the end of the trial. The error is a complete sentence.
    fn clear(&self, _: &mut Channel) -> Result<(), String> {
        Ok(())
    }
}

pub fn run_trial_tool<W: ToString>(maker: TrialTool, words: &[W]) -> Result<(), String> {
    let words: Vec<String> = words.iter().map(W::to_string).collect();
    maker
        .run(&words)
        .map(drop)
        .map_err(|miss| format!("{}: {miss}", maker.as_str()))
}

/// The additional mkfs arguments for a disk, as two lists: the options before the device, then
/// the device and the options after it. They set the size of the extent, and a UUID to
/// recognise the file system.
pub fn disk_mkfs_args(
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
