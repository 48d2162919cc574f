//! Chooses the parent of the scratch directory: the directory that the user requested, the target,
//! or the parent of the database that contains the target. For comparable figures, it must be on
//! the target's file system and subvolume (`st_dev`) and have its inode flags (ioctl_iflags(2)).
//!
//! Quota project ids cannot be read without unsafe code and are not compared. The flag that passes
//! a project id on to new files is compared.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Dir, IFlags, Mode, OFlags};
use rustix::io::Errno;

use super::ProbeRefusal;
use super::file_calls::{filesystem_magic, open_directory};
use crate::facts::{Choice, ServerArea};
use crate::text;
use crate::text::display_path;
use walwise_model::text::JoinText;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchParent {
    /// Path with symbolic links resolved.
    pub directory: PathBuf,
    /// Device and inode number, checked when the directory is opened again.
    pub identity: (u64, u64),
    /// Inode flags to set on the scratch directory; `None` if no flag has to be set.
    pub flags: Option<IFlags>,
}

/// Finds and checks the parent directory for a scratch directory with at most `bytes` bytes in use
/// at any time. The directory that the user requested may be on a network or FUSE file system.
/// `force` allows such file systems too, and needs no more space than `bytes`.
pub fn find_scratch_parent(
    target: &Path,
    scratch: Option<&Path>,
    force: bool,
    bytes: u64,
) -> Result<ScratchParent, ProbeRefusal> {
    let (place, flags) = match scratch {
        Some(scratch) => requested_scratch_parent(scratch, target)?,
        None => default_scratch_parent(target)?,
    };
    let path = place.path;
    let directory =
        open_directory(&place.directory, ".").map_err(|e| ProbeRefusal::from_errno(e, &path))?;
    if scratch.is_none() && !force {
        check_not_network_or_fuse(&directory, &path)?;
    }
    check_writable(&directory, &path)?;
    check_space(&directory, &path, bytes, force)?;
    let stat = rustix::fs::fstat(&directory).map_err(|e| ProbeRefusal::from_errno(e, &path))?;
    Ok(ScratchParent {
        directory: path,
        identity: (stat.st_dev, stat.st_ino),
        flags,
    })
}

#[derive(Debug)]
struct OpenDirectory {
    directory: OwnedFd,
    path: PathBuf,
}

const PATH_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl OpenDirectory {
    fn open(path: &Path) -> Result<Self, ProbeRefusal> {
        let directory = rustix::fs::openat(CWD, path, PATH_FLAGS, Mode::empty())
            .map_err(|e| ProbeRefusal::from_errno(e, path))?;
        // The resolved path is displayed, and opened again by the probe.
        let real = fs::canonicalize(path).map_err(|e| {
            let errno = Errno::from_io_error(&e).unwrap_or(Errno::IO);
            ProbeRefusal::from_errno(errno, path)
        })?;
        Ok(Self {
            directory,
            path: real,
        })
    }

    /// `None` for the root, or if the parent cannot be opened.
    fn open_parent(&self) -> Option<Self> {
        let path = self.path.parent()?.to_owned();
        let directory =
            rustix::fs::openat(&self.directory, "..", PATH_FLAGS, Mode::empty()).ok()?;
        Some(Self { directory, path })
    }

    /// The directory itself, then its parents up to the root. Each parent is opened as `..` of its
    /// child, so that a directory that another process renames or replaces is not examined instead.
    fn open_ancestors(self) -> Vec<Self> {
        let mut all = vec![self];
        while let Some(around) = all.last().and_then(Self::open_parent) {
            all.push(around);
        }
        all
    }

    /// Device number of the file system; on btrfs, of the subvolume.
    fn device_number(&self) -> Option<u64> {
        rustix::fs::fstat(&self.directory)
            .ok()
            .map(|found| found.st_dev)
    }
}

fn requested_scratch_parent(
    scratch: &Path,
    target: &Path,
) -> Result<(OpenDirectory, Option<IFlags>), ProbeRefusal> {
    let mut upward = OpenDirectory::open(scratch)?.open_ancestors();
    if let Some((_, database)) = topmost_database(&upward) {
        let why = "--scratch names a directory inside the database's directory".to_owned();
        return Err(ProbeRefusal::NoSiblingPlace {
            database: display_path(&database.path),
            why,
        });
    }
    let place = upward.swap_remove(0);
    match OpenDirectory::open(target).map(|target| inode_flags_to_set(&place, &target)) {
        Ok(Err(why)) => Err(ProbeRefusal::DifferentFilesystem {
            scratch: display_path(scratch),
            target: display_path(target),
            why,
        }),
        Ok(Ok(flags)) => Ok((place, flags)),
        Err(_) => Ok((place, None)),
    }
}

/// The target itself, or the parent directory of the database that the target belongs to.
fn default_scratch_parent(target: &Path) -> Result<(OpenDirectory, Option<IFlags>), ProbeRefusal> {
    let mut upward = OpenDirectory::open(target)?.open_ancestors();
    let Some((at, database)) = topmost_database(&upward) else {
        return Ok((upward.swap_remove(0), None));
    };
    let database = display_path(&database.path);
    let refuse = |why: String| ProbeRefusal::NoSiblingPlace {
        database: database.clone(),
        why,
    };
    if let Some(top) = index_of_filesystem_top(&upward)
        .filter(|top| *top <= at)
        .and_then(|top| upward.get(top))
    {
        return Err(refuse(format!(
            "{} is the root of its file system or subvolume, so its parent directory is on another one",
            display_path(&top.path)
        )));
    }
    let (Some(target), Some(parent)) = (upward.first(), upward.get(at + 1)) else {
        return Err(refuse("the directory has no parent".to_owned()));
    };
    match inode_flags_to_set(parent, target) {
        Err(why) => Err(refuse(format!(
            "its parent {} is unsuitable: {why}",
            display_path(&parent.path)
        ))),
        Ok(flags) => Ok((upward.swap_remove(at + 1), flags)),
    }
}

/// The index of the topmost directory on the file system and subvolume of `upward[0]`.
fn index_of_filesystem_top(upward: &[OpenDirectory]) -> Option<usize> {
    let here = upward.first()?.device_number()?;
    upward
        .iter()
        .take_while(|held| held.device_number() == Some(here))
        .count()
        .checked_sub(1)
}

/// The topmost directory with files of a database, and its index.
fn topmost_database(upward: &[OpenDirectory]) -> Option<(usize, &OpenDirectory)> {
    upward
        .iter()
        .enumerate()
        .rfind(|(_, held)| has_database_files(&held.directory))
}

/// The path of the database that contains a directory, for display; `None` if there is none.
pub fn enclosing_database_path(directory: OwnedFd, path: PathBuf) -> Option<String> {
    let upward = OpenDirectory { directory, path }.open_ancestors();
    topmost_database(&upward).map(|(_, database)| display_path(&database.path))
}

fn has_database_files(directory: &OwnedFd) -> bool {
    let is_there =
        |mark: &&str| rustix::fs::statat(directory, *mark, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    ServerArea::ALL
        .iter()
        .map(|area| area.database_profile())
        .any(|server| {
            server.marker_files.iter().any(is_there)
                || server
                    .tablespace_prefix
                    .is_some_and(|mark| has_tablespace_entry(directory, mark))
        })
}

/// True if the directory has an entry whose name is `mark` followed by a digit. Only 66 entries are
/// read, because the top directory of a tablespace has few.
fn has_tablespace_entry(directory: &OwnedFd, mark: &str) -> bool {
    let mut names = open_directory(directory, ".")
        .and_then(Dir::new)
        .into_iter()
        .flatten()
        .take(66)
        .flatten();
    let is_its = |name: &[u8]| {
        name.strip_prefix(mark.as_bytes())
            .and_then(<[u8]>::first)
            .is_some_and(u8::is_ascii_digit)
    };
    names.any(|entry| is_its(entry.file_name().to_bytes()))
}

/// The inode flags to set on the scratch directory so that commits there behave as in the target;
/// `None` if none has to be set. The error names a difference that setting flags cannot remove.
fn inode_flags_to_set(
    place: &OpenDirectory,
    target: &OpenDirectory,
) -> Result<Option<IFlags>, String> {
    match (place.device_number(), target.device_number()) {
        (Some(a), Some(b)) if a == b => {}
        (Some(_), Some(_)) => return Err("it is on another file system or subvolume".to_owned()),
        _ => return Err("its file system is unknown".to_owned()),
    }
    let (here, there) = (
        inheritable_inode_flags(place),
        inheritable_inode_flags(target),
    );
    match (here, there) {
        (here, there) if here == there => Ok(None),
        (Some(here), Some(there)) if INHERITED_FLAGS.contains(here ^ there) => Ok(Some(there)),
        _ => {
            let words = |flags: Option<IFlags>| match flags {
                None => "unreadable".to_owned(),
                Some(flags) if flags.is_empty() => "none".to_owned(),
                Some(flags) => flags.iter_names().map(|(name, _)| name).join_with(" "),
            };
            Err(format!(
                "its inode flags differ ({} instead of {}); see chattr(1)",
                words(here),
                words(there)
            ))
        }
    }
}

/// FS_NOCOMP_FL of linux/fs.h, which has no name in rustix.
const NOT_COMPRESSED: IFlags = IFlags::from_bits_retain(0x400);

/// Inode flags that change how data is written and that new files inherit.
pub const INHERITED_FLAGS: IFlags = IFlags::NOCOW
    .union(IFlags::COMPRESSED)
    .union(NOT_COMPRESSED)
    .union(IFlags::JOURNALING)
    .union(IFlags::SYNC);

/// The flags of [`INHERITED_FLAGS`] and the project-inherit flag that are set on a directory. Empty
/// if the file system has no flags; `None` if the flags cannot be read.
fn inheritable_inode_flags(held: &OpenDirectory) -> Option<IFlags> {
    let matter = INHERITED_FLAGS | IFlags::PROJECT_INHERIT;
    let directory = open_directory(&held.directory, ".").ok()?;
    match rustix::fs::ioctl_getflags(&directory) {
        Ok(flags) => Some(flags & matter),
        Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::NOSYS) => Some(IFlags::empty()),
        Err(_) => None,
    }
}

/// Classifies a file system by its magic number (linux/magic.h and the file systems' own sources)
/// as `network` or `FUSE`; `None` for any other.
fn network_or_fuse_type_name(magic: u64) -> Option<&'static str> {
    match magic {
        0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x00c3_6400 | 0x5346_414f | 0x0102_1997
        | 0x0bd0_0bd0 | 0x4750_4653 | 0x7375_7245 | 0x564c | 0x0116_1970 | 0x7461_636f => {
            Some("network")
        }
        0x6573_5546 => Some("FUSE"),
        _ => None,
    }
}

fn check_not_network_or_fuse(directory: &OwnedFd, path: &Path) -> Result<(), ProbeRefusal> {
    let magic = filesystem_magic(directory).map_err(|e| ProbeRefusal::from_errno(e, path))?;
    match network_or_fuse_type_name(magic) {
        Some(class) => Err(ProbeRefusal::NetworkOrFuse {
            directory: display_path(path),
            class,
        }),
        None => Ok(()),
    }
}

fn check_writable(directory: &OwnedFd, path: &Path) -> Result<(), ProbeRefusal> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(directory.as_fd(), ".", access, AtFlags::EACCESS)
        .map_err(|e| ProbeRefusal::from_errno(e, path))
}

/// Requires free space of four times `bytes`, and 5 % of the file system to stay free. With
/// `force`, `bytes` is enough.
fn check_space(
    directory: &OwnedFd,
    path: &Path,
    bytes: u64,
    force: bool,
) -> Result<(), ProbeRefusal> {
    let vfs = rustix::fs::fstatvfs(directory).map_err(|e| ProbeRefusal::from_errno(e, path))?;
    let (size, free) = (
        vfs.f_blocks.saturating_mul(vfs.f_frsize),
        vfs.f_bavail.saturating_mul(vfs.f_frsize),
    );
    let margin = if force {
        bytes
    } else {
        (4 * bytes).max(bytes + size / 20)
    };
    // A tmpfs without a limit reports zero blocks, so its free space is not checked.
    if size > 0 && free < margin {
        let (directory, free, needed) = (
            display_path(path),
            text::format_bytes(free),
            text::format_bytes(margin),
        );
        return Err(ProbeRefusal::Space {
            directory,
            free,
            needed,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_parent(target: &Path, scratch: Option<&Path>) -> Result<ScratchParent, ProbeRefusal> {
        find_scratch_parent(target, scratch, false, 1 << 20)
    }

    fn temporary_directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap();
        (directory, real)
    }

    #[test]
    fn plain_directory_is_its_own_scratch_parent() {
        let (_keep, path) = temporary_directory();
        assert_eq!(find_parent(&path, None).unwrap().directory, path);
    }

    #[test]
    fn scratch_parent_is_outside_the_database() {
        let (_keep, path) = temporary_directory();
        for (mark, inside) in [
            ("PG_VERSION", "base/1"),
            ("archive_status", ""),
            ("ibdata1", "shop"),
            ("PG_16_1", "5"),
        ] {
            let database = path.join(format!("with-{mark}"));
            fs::create_dir_all(database.join(inside)).unwrap();
            fs::write(database.join(mark), "").unwrap();
            // As in a real cluster, a directory of a single database contains PG_VERSION too.
            fs::write(database.join(inside).join("PG_VERSION"), "").unwrap();
            assert_eq!(
                find_parent(&database.join(inside), None).unwrap().directory,
                path,
                "{mark}"
            );
            let refusal = find_parent(&path, Some(&database.join(inside))).unwrap_err();
            assert!(
                matches!(refusal, ProbeRefusal::NoSiblingPlace { .. }),
                "{refusal}"
            );
        }
    }

    #[test]
    fn symlink_does_not_hide_a_database() {
        let (_keep, path) = temporary_directory();
        let database = path.join("main");
        fs::create_dir(&database).unwrap();
        fs::write(database.join("PG_VERSION"), "15\n").unwrap();
        std::os::unix::fs::symlink(&database, path.join("link")).unwrap();
        assert_eq!(
            find_parent(&path.join("link"), None).unwrap().directory,
            path
        );
        assert_eq!(
            find_parent(&path.join("link/../main/."), None)
                .unwrap()
                .directory,
            path
        );
    }

    #[test]
    fn missing_or_non_directory_target_is_refused() {
        let (_keep, path) = temporary_directory();
        let missing = find_parent(&path.join("none"), None).unwrap_err();
        assert!(
            matches!(missing, ProbeRefusal::Missing(_))
                && missing.to_string().contains("--scratch"),
            "{missing}"
        );
        fs::write(path.join("file"), "").unwrap();
        assert!(matches!(
            find_parent(&path.join("file"), None),
            Err(ProbeRefusal::NotADirectory(_))
        ));
        assert!(matches!(
            find_parent(&path.join("file/x"), None),
            Err(ProbeRefusal::NotADirectory(_))
        ));
    }

    #[test]
    fn scratch_on_other_file_system_is_refused() {
        let (_keep, path) = temporary_directory();
        let refusal = find_parent(&path, Some(Path::new("/proc"))).unwrap_err();
        assert!(
            matches!(refusal, ProbeRefusal::DifferentFilesystem { .. }),
            "{refusal}"
        );
        assert!(find_parent(&path.join("to-be-created"), Some(&path)).is_ok());
    }

    #[test]
    fn insufficient_space_is_refused() {
        let (_keep, path) = temporary_directory();
        let refusal = find_scratch_parent(&path, None, true, 1 << 50).unwrap_err();
        assert!(matches!(refusal, ProbeRefusal::Space { .. }), "{refusal}");
    }

    #[test]
    fn magic_numbers_of_network_and_fuse_are_known() {
        assert_eq!(network_or_fuse_type_name(0x6969), Some("network"));
        assert_eq!(network_or_fuse_type_name(0x6573_5546), Some("FUSE"));
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x2fc1_2fc1] {
            assert_eq!(network_or_fuse_type_name(local), None);
        }
    }
}
