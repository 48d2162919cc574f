//! The place of the scratch directory: in the directory asked for, or beside it when that belongs
//! to a database.
//!
//! A place is good when its figures are those of the target: same file system and subvolume
//! (`st_dev`, of which btrfs has one per subvolume). Inode flags that change how data is written
//! (ioctl_iflags(2)) are given to the scratch directory where the place lacks them. The id of a
//! quota project cannot be read without an unsafe call and is not compared; whether the directory
//! passes one on is. The contents of its parent directories decide whether it is inside a database.
//! Each parent is opened from the one below it, so that the directory that was examined is the one
//! that is written in.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Dir, IFlags, Mode, OFlags};

use super::error::{Refusal, shown};
use crate::facts::{Area, Choice};
use crate::text;

/// A directory in which the scratch directory may lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchParent {
    /// The directory, links followed.
    pub directory: PathBuf,
    /// Its device and inode, so that it can be recognised when it is opened again.
    pub identity: (u64, u64),
    /// The inode flags of the target, where the scratch directory would not inherit them.
    pub flags: Option<IFlags>,
}

/// The space that must be available.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Space in use at a time, in bytes.
    pub bytes: u64,
    /// Whether an exact fit suffices.
    pub to_the_brim: bool,
}

/// Finds the place for a target, or for the directory that `--scratch` names in its stead. Network
/// and FUSE file systems need `anywhere`.
pub fn find(
    target: &Path,
    scratch: Option<&Path>,
    anywhere: bool,
    room: &Room,
) -> Result<ScratchParent, Refusal> {
    let (place, flags) = match scratch {
        Some(scratch) => requested_parent(scratch, target)?,
        None => default_parent(target)?,
    };
    let path = place.path;
    let directory = reopen(&place.directory).map_err(|e| Refusal::from_errno(e, &path))?;
    if !anywhere {
        check_class(&directory, &path)?;
    }
    check_writable(&directory, &path)?;
    check_space(&directory, &path, room)?;
    let stat = rustix::fs::fstat(&directory).map_err(|e| Refusal::from_errno(e, &path))?;
    Ok(ScratchParent {
        directory: path,
        identity: (stat.st_dev, stat.st_ino),
        flags,
    })
}

/// An open directory, and its path for display.
#[derive(Debug)]
struct OpenDirectory {
    directory: OwnedFd,
    path: PathBuf,
}

const HOLD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl OpenDirectory {
    /// Opens the target of a path, links followed.
    fn open(path: &Path) -> Result<Self, Refusal> {
        let directory = rustix::fs::openat(CWD, path, HOLD, Mode::empty())
            .map_err(|e| Refusal::from_errno(e, path))?;
        // Only for display, and to recognise it when it is opened again.
        let real = fs::canonicalize(path).map_err(|e| Refusal::from_errno(errno(&e), path))?;
        Ok(Self {
            directory,
            path: real,
        })
    }

    /// Its parent; `None` for the root.
    fn around(&self) -> Option<Self> {
        let path = self.path.parent()?.to_owned();
        let directory = rustix::fs::openat(&self.directory, "..", HOLD, Mode::empty()).ok()?;
        Some(Self { directory, path })
    }

    /// It and all its parents, itself first.
    fn upward(self) -> Vec<Self> {
        let mut all = vec![self];
        while let Some(around) = all.last().and_then(Self::around) {
            all.push(around);
        }
        all
    }

    /// The device number of its file system, or on btrfs of its subvolume.
    fn device(&self) -> Option<u64> {
        rustix::fs::fstat(&self.directory)
            .ok()
            .map(|found| found.st_dev)
    }
}

/// Opens a held directory for reading.
fn reopen(directory: &OwnedFd) -> Result<OwnedFd, rustix::io::Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, ".", flags, Mode::empty())
}

fn errno(error: &std::io::Error) -> rustix::io::Errno {
    rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO)
}

/// The directory that `--scratch` names, when it yields the same figures as the target would.
fn requested_parent(
    scratch: &Path,
    target: &Path,
) -> Result<(OpenDirectory, Option<IFlags>), Refusal> {
    let upward = OpenDirectory::open(scratch)?.upward();
    if let Some(database) = database_of(&upward).and_then(|at| upward.get(at)) {
        let why = "--scratch names a place in it".to_owned();
        return Err(Refusal::NoPlaceBeside {
            database: shown(&database.path),
            why,
        });
    }
    let place = upward
        .into_iter()
        .next()
        .ok_or_else(|| Refusal::Missing(shown(scratch)))?;
    match OpenDirectory::open(target).map(|target| difference(&place, &target)) {
        Ok(Err(why)) => Err(Refusal::ElsewhereScratch {
            scratch: shown(scratch),
            target: shown(target),
            why,
        }),
        Ok(Ok(flags)) => Ok((place, flags)),
        Err(_) => Ok((place, None)),
    }
}

/// The target, or the parent of the database it belongs to.
fn default_parent(target: &Path) -> Result<(OpenDirectory, Option<IFlags>), Refusal> {
    let mut upward = OpenDirectory::open(target)?.upward();
    let Some(at) = database_of(&upward) else {
        return Ok((upward.swap_remove(0), None));
    };
    let database = upward
        .get(at)
        .map(|database| shown(&database.path))
        .unwrap_or_default();
    let refuse = |why: String| Refusal::NoPlaceBeside {
        database: database.clone(),
        why,
    };
    if let Some(top) = top_of_mount(&upward)
        .filter(|top| *top <= at)
        .and_then(|top| upward.get(top))
    {
        return Err(refuse(format!(
            "{} is the top of its file system or subvolume as it is mounted there, with nothing beside it; it can be measured once it lies a directory below, or where the same file system is mounted elsewhere too",
            shown(&top.path)
        )));
    }
    let (Some(target), Some(parent)) = (upward.first(), upward.get(at + 1)) else {
        return Err(refuse("there is nothing beside it".to_owned()));
    };
    match difference(parent, target) {
        Err(why) => Err(refuse(format!(
            "{} beside it is unfit: {why}",
            shown(&parent.path)
        ))),
        Ok(flags) => Ok((upward.swap_remove(at + 1), flags)),
    }
}

/// The topmost of the directory and its parents on the same file system and subvolume.
fn top_of_mount(upward: &[OpenDirectory]) -> Option<usize> {
    let here = upward.first()?.device()?;
    upward
        .iter()
        .take_while(|held| held.device() == Some(here))
        .count()
        .checked_sub(1)
}

/// The topmost of the directory and its parents in which a database keeps files.
fn database_of(upward: &[OpenDirectory]) -> Option<usize> {
    upward
        .iter()
        .rposition(|held| holds_database(&held.directory))
}

/// The path of the database that a directory belongs to, for display; `None` if it belongs to none.
pub fn database_around(directory: OwnedFd, path: PathBuf) -> Option<String> {
    let upward = OpenDirectory { directory, path }.upward();
    database_of(&upward)
        .and_then(|at| upward.get(at))
        .map(|database| shown(&database.path))
}

/// Whether a server made it: it holds a name that only that server gives.
fn holds_database(directory: &OwnedFd) -> bool {
    let is_there =
        |mark: &&str| rustix::fs::statat(directory, *mark, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    Area::ALL.iter().map(|area| area.database()).any(|server| {
        server.marks.iter().any(is_there)
            || server
                .tablespace_mark
                .is_some_and(|mark| holds_tablespace(directory, mark))
    })
}

/// A directory with many names is none.
fn holds_tablespace(directory: &OwnedFd, mark: &str) -> bool {
    let mut names = reopen(directory)
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

/// The inode flags that a scratch directory in this place needs to give the figures of the target;
/// the error is a difference that no flag removes.
fn difference(place: &OpenDirectory, target: &OpenDirectory) -> Result<Option<IFlags>, String> {
    match (place.device(), target.device()) {
        (Some(a), Some(b)) if a == b => {}
        (Some(_), Some(_)) => return Err("it is another file system or subvolume".to_owned()),
        _ => return Err("it cannot be looked at".to_owned()),
    }
    let (here, there) = (flags(place), flags(target));
    match (here, there) {
        (here, there) if here == there => Ok(None),
        (Some(here), Some(there)) if INHERITED.contains(here ^ there) => Ok(Some(there)),
        _ => {
            let words = |flags: Option<IFlags>| match flags {
                None => "unreadable".to_owned(),
                Some(flags) if flags.is_empty() => "none".to_owned(),
                Some(flags) => flags
                    .iter_names()
                    .map(|(name, _)| name)
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            Err(format!(
                "its inode flags differ ({} instead of {}), see chattr(1)",
                words(here),
                words(there)
            ))
        }
    }
}

/// FS_NOCOMP_FL of linux/fs.h, for which the library has no name.
const NOT_COMPRESSED: IFlags = IFlags::from_bits_retain(0x400);

/// The inode flags that change how data is written, and that new files take over from their
/// directory.
pub const INHERITED: IFlags = IFlags::NOCOW
    .union(IFlags::COMPRESSED)
    .union(NOT_COMPRESSED)
    .union(IFlags::JOURNALING)
    .union(IFlags::SYNC);

/// Those, and the one that decides to which quota data counts. Empty where the file system has
/// none.
fn flags(held: &OpenDirectory) -> Option<IFlags> {
    let matter = INHERITED | IFlags::PROJECT_INHERIT;
    let directory = reopen(&held.directory).ok()?;
    match rustix::fs::ioctl_getflags(&directory) {
        Ok(flags) => Some(flags & matter),
        Err(rustix::io::Errno::NOTTY | rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
            Some(IFlags::empty())
        }
        Err(_) => None,
    }
}

/// Magic numbers of linux/magic.h and of the file systems' own sources.
fn foreign_class(magic: u64) -> Option<&'static str> {
    match magic {
        0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x00c3_6400 | 0x5346_414f | 0x0102_1997
        | 0x0bd0_0bd0 | 0x4750_4653 | 0x7375_7245 | 0x564c | 0x0116_1970 | 0x7461_636f => {
            Some("network")
        }
        0x6573_5546 => Some("FUSE"),
        _ => None,
    }
}

fn check_class(directory: &OwnedFd, path: &Path) -> Result<(), Refusal> {
    let statfs = rustix::fs::fstatfs(directory).map_err(|e| Refusal::from_errno(e, path))?;
    #[expect(clippy::cast_sign_loss, reason = "a bit pattern")]
    let magic = (statfs.f_type as u64) & 0xffff_ffff;
    match foreign_class(magic) {
        Some(class) => Err(Refusal::Class {
            directory: shown(path),
            class,
        }),
        None => Ok(()),
    }
}

fn check_writable(directory: &OwnedFd, path: &Path) -> Result<(), Refusal> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(directory.as_fd(), ".", access, AtFlags::EACCESS)
        .map_err(|e| Refusal::from_errno(e, path))
}

/// Requires four times the space in use at a time, with five percent of the file system left after
/// that.
fn check_space(directory: &OwnedFd, path: &Path, room: &Room) -> Result<(), Refusal> {
    let vfs = rustix::fs::fstatvfs(directory).map_err(|e| Refusal::from_errno(e, path))?;
    let (size, free) = (
        vfs.f_blocks.saturating_mul(vfs.f_frsize),
        vfs.f_bavail.saturating_mul(vfs.f_frsize),
    );
    let bytes = room.bytes;
    let margin = if room.to_the_brim {
        bytes
    } else {
        (4 * bytes).max(bytes + size / 20)
    };
    // A tmpfs without a limit reports zero blocks.
    if size > 0 && free < margin {
        let (directory, free, needed) = (shown(path), text::bytes(free), text::bytes(margin));
        return Err(Refusal::Space {
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

    const FILE: Room = Room {
        bytes: 1 << 20,
        to_the_brim: false,
    };

    fn find(target: &Path, scratch: Option<&Path>, room: Room) -> Result<ScratchParent, Refusal> {
        super::find(target, scratch, scratch.is_some(), &room)
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap();
        (directory, real)
    }

    #[test]
    fn a_plain_directory_is_its_own_place() {
        let (_keep, path) = directory();
        assert_eq!(find(&path, None, FILE).unwrap().directory, path);
    }

    #[test]
    fn databases_are_left_alone_at_any_depth() {
        let (_keep, path) = directory();
        for (mark, inside) in [
            ("PG_VERSION", "base/1"),
            ("archive_status", ""),
            ("ibdata1", "shop"),
            ("PG_16_1", "5"),
        ] {
            let database = path.join(format!("with-{mark}"));
            fs::create_dir_all(database.join(inside)).unwrap();
            fs::write(database.join(mark), "").unwrap();
            // Every database directory of a cluster has the same mark again.
            fs::write(database.join(inside).join("PG_VERSION"), "").unwrap();
            assert_eq!(
                find(&database.join(inside), None, FILE).unwrap().directory,
                path,
                "{mark}"
            );
            let refusal = find(&path, Some(&database.join(inside)), FILE).unwrap_err();
            assert!(
                matches!(refusal, Refusal::NoPlaceBeside { .. }),
                "{refusal}"
            );
        }
    }

    #[test]
    fn links_do_not_hide_a_database() {
        let (_keep, path) = directory();
        let database = path.join("main");
        fs::create_dir(&database).unwrap();
        fs::write(database.join("PG_VERSION"), "15\n").unwrap();
        std::os::unix::fs::symlink(&database, path.join("link")).unwrap();
        assert_eq!(
            find(&path.join("link"), None, FILE).unwrap().directory,
            path
        );
        assert_eq!(
            find(&path.join("link/../main/."), None, FILE)
                .unwrap()
                .directory,
            path
        );
    }

    #[test]
    fn what_is_no_directory_is_said_to_be_none() {
        let (_keep, path) = directory();
        let missing = find(&path.join("none"), None, FILE).unwrap_err();
        assert!(
            matches!(missing, Refusal::Missing(_)) && missing.to_string().contains("--scratch"),
            "{missing}"
        );
        fs::write(path.join("file"), "").unwrap();
        assert!(matches!(
            find(&path.join("file"), None, FILE),
            Err(Refusal::NotADirectory(_))
        ));
        assert!(matches!(
            find(&path.join("file/x"), None, FILE),
            Err(Refusal::NotADirectory(_))
        ));
    }

    #[test]
    fn scratch_elsewhere_is_refused() {
        let (_keep, path) = directory();
        let refusal = find(&path, Some(Path::new("/proc")), FILE).unwrap_err();
        assert!(
            matches!(refusal, Refusal::ElsewhereScratch { .. }),
            "{refusal}"
        );
        assert!(find(&path.join("to-be-created"), Some(&path), FILE).is_ok());
    }

    #[test]
    fn space_is_kept() {
        let (_keep, path) = directory();
        let refusal = find(
            &path,
            None,
            Room {
                bytes: 1 << 50,
                to_the_brim: true,
            },
        )
        .unwrap_err();
        assert!(matches!(refusal, Refusal::Space { .. }), "{refusal}");
    }

    #[test]
    fn magic_numbers_are_classed() {
        assert_eq!(foreign_class(0x6969), Some("network"));
        assert_eq!(foreign_class(0x6573_5546), Some("FUSE"));
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x2fc1_2fc1] {
            assert_eq!(foreign_class(local), None);
        }
    }
}
