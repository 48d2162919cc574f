use std::ops::ControlFlow::{Break, Continue};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::fs::{CWD, IFlags, Mode};

use super::extent::Extent;
use super::retry;
use crate::host::TrialTool;
use crate::probes::{open_directory, set_and_verify_inode_flags};
use crate::settings::NewFilesystem;
use crate::trial::CandidateRecord;

const LOG_DIRECTORY: &str = "log";

/// Time that the kernel may keep a mount busy after the last process there has ended.
const UNMOUNT_TIMEOUT: Duration = Duration::from_secs(10);

/// `None` if trials do not make this file system.
pub fn mkfs_program(filesystem: NewFilesystem) -> Option<TrialTool> {
    match filesystem {
        NewFilesystem::Ext4 => Some(TrialTool::Mke2fs),
        NewFilesystem::Xfs => Some(TrialTool::MkfsXfs),
        NewFilesystem::Btrfs => Some(TrialTool::MkfsBtrfs),
        NewFilesystem::Zfs => None,
    }
}

/// First line of the program's version output; empty for losetup and mount.
pub fn read_version_line(maker: TrialTool) -> Result<String, String> {
    let word = match maker {
        TrialTool::Mke2fs | TrialTool::MkfsXfs => "-V",
        TrialTool::MkfsBtrfs => "--version",
        TrialTool::Losetup | TrialTool::Mount => return Ok(String::new()),
    };
    let printed = maker
        .run(&[word.to_owned()])
        .map_err(|miss| miss.to_string())?;
    Ok(crate::text::display_safe(
        printed.lines().next().unwrap_or_default().trim().as_bytes(),
    ))
}

/// The file system is unmounted when this value is dropped.
pub struct MountedCandidate<'a> {
    place: &'a Path,
    pub log: PathBuf,
}

impl<'a> MountedCandidate<'a> {
    /// Makes the candidate's file system on the extent and mounts it at `place`. The error is a
    /// complete sentence.
    pub fn make_and_mount(
        candidate: &CandidateRecord,
        extent: &dyn Extent,
        place: &'a Path,
    ) -> Result<Self, String> {
        let filesystem = candidate.candidate.filesystem();
        let maker = mkfs_program(filesystem)
            .ok_or_else(|| format!("trials do not support {filesystem}"))?;
        extent.make_filesystem(
            filesystem,
            maker,
            candidate.mkfs.get(1..).unwrap_or_default(),
        )?;
        let (flags, data) = split_mount_options(&candidate.mount);
        let device = extent.path_for_mount()?;
        mount(
            Some(device.as_str()),
            place,
            Some(filesystem.as_str()),
            flags,
            Some(data.as_str()),
        )
        .map_err(|e| format!("cannot mount {}: {e}", candidate.candidate.name()))?;
        let mounted = Self {
            place,
            log: place.join(LOG_DIRECTORY),
        };
        mounted.create_log_directory(candidate.candidate.is_nocow())?;
        Ok(mounted)
    }

    fn create_log_directory(&self, nocow: bool) -> Result<(), String> {
        rustix::fs::mkdir(&self.log, Mode::RWXU)
            .map_err(|e| format!("cannot create the log directory: {e}"))?;
        if nocow {
            let set = open_directory(CWD, &self.log)
                .and_then(|directory| set_and_verify_inode_flags(&directory, IFlags::NOCOW));
            set.map_err(|e| {
                format!("cannot set the attribute C (no copy-on-write) on the log directory: {e}")
            })?;
        }
        Ok(())
    }

    /// Writes out pending changes of mkfs and mount with syncfs(2), which leaves other file systems
    /// alone. The error is a complete sentence.
    pub fn sync_filesystem(&self) -> Result<(), String> {
        open_directory(CWD, &self.log)
            .and_then(rustix::fs::syncfs)
            .map_err(|e| format!("cannot sync the file system: {e}"))
    }

    /// Unmounts the file system and reports a failure, unlike dropping. The error is a complete
    /// sentence.
    pub fn unmount(self) -> Result<(), String> {
        let done = unmount_with_retry(self.place)
            .map_err(|e| format!("cannot unmount the file system: {e}"));
        std::mem::forget(self);
        done
    }
}

impl Drop for MountedCandidate<'_> {
    fn drop(&mut self) {
        let _ = unmount_with_retry(self.place);
    }
}

/// Retries while the mount is busy: the kernel ends pending work of a killed process, such as
/// io_uring requests, a moment later.
fn unmount_with_retry(place: &Path) -> Result<(), Errno> {
    retry(
        UNMOUNT_TIMEOUT,
        Duration::from_millis(10),
        || match umount2(place, MntFlags::UMOUNT_NOFOLLOW) {
            Err(Errno::EBUSY) => Continue(Err(Errno::EBUSY)),
            done => Break(done),
        },
    )
}

const MOUNT_FLAGS: [(&str, MsFlags); 4] = [
    ("noatime", MsFlags::MS_NOATIME),
    ("nodiratime", MsFlags::MS_NODIRATIME),
    ("relatime", MsFlags::MS_RELATIME),
    ("lazytime", MsFlags::MS_LAZYTIME),
];

/// Options that are defaults, or that every mount of a trial has.
const IMPLIED_OPTIONS: [&str; 5] = ["defaults", "rw", "nosuid", "nodev", "noexec"];

fn split_mount_options(options: &str) -> (MsFlags, String) {
    // No program or device file of a candidate is ever used, so both are forbidden.
    let mut flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let mut data = Vec::new();
    for word in options
        .split(',')
        .filter(|word| !word.is_empty() && !IMPLIED_OPTIONS.contains(word))
    {
        match MOUNT_FLAGS.iter().find(|(name, _)| *name == word) {
            Some((_, flag)) => flags |= *flag,
            None => data.push(word),
        }
    }
    (flags, data.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_flags_and_data_are_separated() {
        let (found, data) = split_mount_options("noatime,lazytime,barrier=0,commit=5");
        assert!(found.contains(MsFlags::MS_NOATIME | MsFlags::MS_LAZYTIME | MsFlags::MS_NODEV));
        assert_eq!(data, "barrier=0,commit=5");
        assert_eq!(split_mount_options("").1, "");
    }

    #[test]
    fn every_file_system_that_trials_make_has_a_program() {
        for candidate in crate::trial::Candidate::ALL {
            assert!(mkfs_program(candidate.filesystem()).is_some());
        }
    }
}
