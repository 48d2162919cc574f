//! Creates, finds and removes scratch directories. [`super::scratch`] makes the files in them;
//! [`super::scratch_cleaner`] removes the directory if the probe dies.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::file_calls::{create_file, open_directory};
use crate::safe_path::random_u64;

pub const DIRECTORY_PREFIX: &str = ".walwise-probe-";

/// Prefix of the names of all scratch files; other files are never removed.
const FILE_PREFIX: &str = "walwise-";

const MAX_ENTRIES_READ: usize = 100_000;

/// A user who may rename files around the directory could replace the new directory before it is
/// opened. A directory is therefore refused if it has entries, or another owner than new files of
/// this process.
pub(super) fn make_private_directory(place: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    // Like O_EXCL, mkdir fails if the name exists, even as a link.
    rustix::fs::mkdirat(place, name, Mode::RWXU)?;
    let directory = open_directory(place, name)?;
    let found = rustix::fs::fstat(&directory)?;
    let mut inside = Dir::read_from(&directory)?;
    let is_new = inside.all(|entry| {
        entry.is_ok_and(|entry| [&b"."[..], b".."].contains(&entry.file_name().to_bytes()))
    });
    let is_ours = found.st_uid == nix::unistd::geteuid().as_raw()
        || detect_new_file_uid(&directory) == Ok(found.st_uid);
    if is_new && is_ours {
        Ok(directory)
    } else {
        Err(Errno::STALE)
    }
}

/// Other users cannot guess the random part of the name.
pub(super) fn new_scratch_directory_name() -> String {
    format!(
        "{DIRECTORY_PREFIX}{}-{:016x}",
        std::process::id(),
        random_u64()
    )
}

/// The process id in the name of a scratch directory, such as
/// `.walwise-probe-4711-0123456789abcdef`; `None` for any other name.
fn pid_in_name(name: &str) -> Option<Pid> {
    let (pid, number) = name.strip_prefix(DIRECTORY_PREFIX)?.split_once('-')?;
    let is_number = number.len() == 16
        && number
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let is_pid = pid.bytes().all(|b| b.is_ascii_digit());
    Pid::from_raw(pid.parse().ok()?).filter(|_| is_number && is_pid)
}

/// Marks a scratch directory as in use while the descriptor is open. On a file system without
/// locks, only the process id in the name shows the use.
pub(super) fn lock_as_in_use(directory: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive)
}

/// Scratch directories that killed probes of this user left in `place`. Directories of other users
/// are ignored, whatever their names.
pub(super) fn list_leftover_directory_names(place: &OwnedFd) -> Vec<String> {
    let Ok(entries) = Dir::read_from(place) else {
        return Vec::new();
    };
    let is_left = |name: &String| {
        let left = || -> Result<bool, Errno> {
            let directory = open_directory(place, name)?;
            let (found, around) = (rustix::fs::fstat(&directory)?, rustix::fs::fstat(place)?);
            let is_private = Mode::from_raw_mode(found.st_mode) == Mode::RWXU;
            let is_ours =
                found.st_uid == nix::unistd::geteuid().as_raw() && found.st_dev == around.st_dev;
            let is_free = match lock_as_in_use(&directory) {
                Ok(()) => true,
                Err(Errno::WOULDBLOCK) => false,
                Err(_) => {
                    pid_in_name(name).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
                }
            };
            Ok(is_private && is_ours && is_free)
        };
        left() == Ok(true)
    };
    let names = entries
        .flatten()
        .take(MAX_ENTRIES_READ)
        .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let mut left: Vec<String> = names
        .filter(|name| pid_in_name(name).is_some())
        .filter(is_left)
        .collect();
    left.sort_unstable();
    left
}

/// Creates and removes a file to find the user id that new files in a directory get. Some file
/// systems have no owners, or map root to another user.
fn detect_new_file_uid(directory: &OwnedFd) -> Result<u32, Errno> {
    let name = scratch_file_name("owner");
    let file = create_file(directory, &name)?;
    let found = rustix::fs::fstat(&file);
    rustix::fs::unlinkat(directory, &name, AtFlags::empty())?;
    Ok(found?.st_uid)
}

/// Opens the scratch directory `name` if its inode is `inode`. Without `inode`, because the probe
/// died before it reported the number, the owner must be this user.
///
/// `None` if the directory is missing or was replaced.
pub(super) fn open_if_created_by_this_probe(
    place: impl AsFd,
    name: &str,
    inode: Option<u64>,
) -> Result<Option<OwnedFd>, Errno> {
    let directory = match open_directory(&place, name) {
        Ok(directory) => directory,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    let (found, around) = (rustix::fs::fstat(&directory)?, rustix::fs::fstat(&place)?);
    let by_owner = || found.st_uid == nix::unistd::geteuid().as_raw();
    let is_ours =
        found.st_dev == around.st_dev && inode.map_or_else(by_owner, |inode| inode == found.st_ino);
    Ok(is_ours.then_some(directory))
}

/// The greatest number of attempts to find a directory while other processes rename it.
const MAX_LOOKUPS: usize = 10;

pub(super) fn remove_directory_even_if_renamed(
    place: impl AsFd,
    name: &str,
    directory: &OwnedFd,
) -> Result<(), Errno> {
    remove_scratch_files(directory)?;
    let ours = rustix::fs::fstat(directory)?;
    let is_it = |around: &dyn AsFd, name: &CStr| {
        let found = rustix::fs::statat(around.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino))
    };
    let name = CString::new(name).map_err(|_| Errno::INVAL)?;
    if is_it(&place, &name) {
        return rustix::fs::unlinkat(&place, &name, AtFlags::REMOVEDIR);
    }
    for _ in 0..MAX_LOOKUPS {
        if rustix::fs::fstat(directory)?.st_nlink == 0 {
            return Ok(());
        }
        let around = open_directory(directory, "..")?;
        let entries = Dir::read_from(&around)?.flatten();
        let now = entries
            .map(|entry| entry.file_name().to_owned())
            .find(|name| is_it(&around, name));
        match now.map(|now| rustix::fs::unlinkat(&around, now, AtFlags::REMOVEDIR)) {
            None | Some(Err(Errno::NOENT)) => {}
            Some(answer) => return answer,
        }
    }
    Err(Errno::BUSY)
}

/// Reads the path from /proc/self/fd, so that a renamed directory is found.
pub(super) fn path_of_open_directory(directory: &OwnedFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok()
}

/// Repeats the removal until no scratch file is listed, because removing files while reading a
/// directory can skip entries.
pub(super) fn remove_scratch_files(directory: &OwnedFd) -> Result<(), Errno> {
    while remove_scratch_files_once(directory)? > 0 {}
    Ok(())
}

fn remove_scratch_files_once(directory: &OwnedFd) -> Result<usize, Errno> {
    let mut removed = 0;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_bytes().starts_with(FILE_PREFIX.as_bytes()) {
            continue;
        }
        match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
                removed += 1;
            }
            Ok(_) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(removed)
}

pub(super) fn scratch_file_name(what: &str) -> String {
    format!("{FILE_PREFIX}{what}")
}
