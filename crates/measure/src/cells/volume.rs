//! A candidate's file system on the extent: made, mounted where nobody else sees it, unmounted.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::fs::{IFlags, Mode, OFlags};

use super::extent::CellExtent;
use crate::host::MakerProgram;
use crate::probes::give_flags;
use crate::settings::NewFilesystem;
use crate::trial::CandidateRecord;

/// The directory of the log in a candidate.
const LOG: &str = "log";

/// How long the kernel may keep a place busy after the last process there has ended.
const ENDING: Duration = Duration::from_secs(10);

/// The program that makes a file system; `None` for one that trials do not make.
pub fn maker(filesystem: NewFilesystem) -> Option<MakerProgram> {
    match filesystem {
        NewFilesystem::Ext4 => Some(MakerProgram::Mke2fs),
        NewFilesystem::Xfs => Some(MakerProgram::MkfsXfs),
        NewFilesystem::Btrfs => Some(MakerProgram::MkfsBtrfs),
        NewFilesystem::Zfs => None,
    }
}

/// The version of a program, in its own words; the error says why there is none.
pub fn version(maker: MakerProgram) -> Result<String, String> {
    let word = match maker {
        MakerProgram::Mke2fs | MakerProgram::MkfsXfs => "-V",
        MakerProgram::MkfsBtrfs => "--version",
        MakerProgram::Losetup | MakerProgram::Mount => return Ok(String::new()),
    };
    let printed = maker
        .run(&[word.to_owned()])
        .map_err(|miss| miss.to_string())?;
    Ok(crate::text::safe(
        printed.lines().next().unwrap_or_default().trim().as_bytes(),
    ))
}

/// A mounted candidate. It is unmounted when it is dropped.
pub struct Mounted<'a> {
    place: &'a Path,
    /// The directory of the log.
    pub log: PathBuf,
}

impl<'a> Mounted<'a> {
    /// Makes the candidate anew on the extent and mounts it; the error is a sentence.
    pub fn make(
        candidate: &CandidateRecord,
        extent: &CellExtent,
        place: &'a Path,
    ) -> Result<Self, String> {
        let filesystem = candidate.candidate.filesystem();
        let maker = maker(filesystem).ok_or_else(|| format!("trials do not make {filesystem}"))?;
        extent.make(
            filesystem,
            maker,
            candidate.mkfs.get(1..).unwrap_or_default(),
        )?;
        let (flags, data) = flags(&candidate.mount);
        let device = extent.mountable()?;
        mount(
            Some(device.as_str()),
            place,
            Some(filesystem.word()),
            flags,
            Some(data.as_str()),
        )
        .map_err(|e| format!("cannot mount {}: {e}", candidate.candidate.word()))?;
        let mounted = Self {
            place,
            log: place.join(LOG),
        };
        mounted.prepare(candidate.candidate.is_nocow())?;
        Ok(mounted)
    }

    fn prepare(&self, nocow: bool) -> Result<(), String> {
        rustix::fs::mkdir(&self.log, Mode::RWXU)
            .map_err(|e| format!("cannot make a directory: {e}"))?;
        if nocow {
            let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let set = rustix::fs::open(&self.log, directory, Mode::empty())
                .and_then(|directory| give_flags(&directory, IFlags::NOCOW));
            set.map_err(|e| format!("cannot set +C: {e}"))?;
        }
        Ok(())
    }

    /// Makes durable what mkfs and mount left to do, on this file system alone; the error is a
    /// sentence.
    pub fn sync(&self) -> Result<(), String> {
        let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.log, directory, Mode::empty());
        opened
            .and_then(rustix::fs::syncfs)
            .map_err(|e| format!("cannot sync: {e}"))
    }

    /// Unmounts it; the error is a sentence.
    pub fn unmount(self) -> Result<(), String> {
        let done = unmount(self.place).map_err(|e| format!("cannot unmount: {e}"));
        std::mem::forget(self);
        done
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = unmount(self.place);
    }
}

/// Unmounts a place. What a process had in flight when it was killed, such as a ring of io_uring,
/// the kernel ends a moment after the process.
fn unmount(place: &Path) -> Result<(), Errno> {
    let begun = Instant::now();
    loop {
        match umount2(place, MntFlags::UMOUNT_NOFOLLOW) {
            Err(Errno::EBUSY) if begun.elapsed() < ENDING => {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// Options that are flags to the kernel (mount(2)).
const FLAGS: [(&str, MsFlags); 4] = [
    ("noatime", MsFlags::MS_NOATIME),
    ("nodiratime", MsFlags::MS_NODIRATIME),
    ("relatime", MsFlags::MS_RELATIME),
    ("lazytime", MsFlags::MS_LAZYTIME),
];

/// Options that hold anyway.
const IMPLIED: [&str; 5] = ["defaults", "rw", "nosuid", "nodev", "noexec"];

/// Mount options as mount(2) takes them: what is a flag to the kernel, and the rest as text.
fn flags(options: &str) -> (MsFlags, String) {
    // No program and no device file of a candidate is ever used.
    let mut flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let mut data = Vec::new();
    for word in options
        .split(',')
        .filter(|word| !word.is_empty() && !IMPLIED.contains(word))
    {
        match FLAGS.iter().find(|(name, _)| *name == word) {
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
    fn flags_and_data_are_told_apart() {
        let (found, data) = flags("noatime,lazytime,barrier=0,commit=5");
        assert!(found.contains(MsFlags::MS_NOATIME | MsFlags::MS_LAZYTIME | MsFlags::MS_NODEV));
        assert_eq!(data, "barrier=0,commit=5");
        assert_eq!(flags("").1, "");
    }

    #[test]
    fn every_file_system_that_trials_make_has_a_program() {
        for candidate in crate::trial::Contender::ALL {
            assert!(maker(candidate.filesystem()).is_some());
        }
    }
}
