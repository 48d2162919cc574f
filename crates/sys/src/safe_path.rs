//! Opens the components of a path one by one, each relative to the open directory above, so that no
//! user can redirect root's file.
//!
//! Other users could redirect the path by a link, or by a directory that they own or may write.
//! Below a directory of another user no link is followed, because that user may have moved a link
//! of root there.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::prelude::*;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::path::Arg;
use serde::{Deserialize, Serialize};

use crate::text;
use crate::text::display_path;

/// Limit on the links followed on one path; the kernel has the same limit (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// The sticky bit: only the owner of a file in the directory may rename or remove it (inode(7)).
const STICKY: u32 = 0o1000;

const PROC: u64 = 0x9fa0;
const FUSE: u64 = 0x6573_5546;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("{}: {}", display_path(at), errno_message(*error))]
    System { at: PathBuf, error: Errno },
    /// A link that another user created, or that is below another user's directory.
    #[error(
        "{} is a link created by {who} and is not followed; specify its target",
        display_path(at)
    )]
    UntrustedLink { at: PathBuf, who: String },
    /// A link in /proc that leads to an open file instead of a name.
    #[error(
        "{} resolves through /proc to an open file; write to standard output instead",
        display_path(at)
    )]
    OpenFile { at: PathBuf },
    #[error(
        "{} points to {}, which does not exist",
        display_path(at),
        display_path(to)
    )]
    Dangling { at: PathBuf, to: PathBuf },
    #[error(
        "other users can write to {}, which has no sticky bit, so they could replace its files; specify a directory that only you can write to",
        display_path(at)
    )]
    WritableByOthers { at: PathBuf },
    #[error("{} is a directory; specify a regular file", display_path(at))]
    Directory { at: PathBuf },
    #[error("no file name given; specify a regular file")]
    EmptyPath,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MissingDirectoryPolicy {
    #[default]
    Refused,
    /// Missing directories are created, with this mode less the umask.
    Made(u32),
}

/// The user for whom a path is opened. Files of this user and of root are trusted.
#[derive(Clone, Copy, Debug)]
pub struct TrustedUser {
    pub uid: u32,
    /// A group whose write access is trusted too, because most users have a group of their own.
    /// Root trusts no group.
    pub gid: u32,
}

/// A directory on the path whose owner is another user and controls everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignDirectory {
    pub at: PathBuf,
    pub owner: String,
}

#[derive(Debug)]
pub struct OpenedDirectory {
    pub directory: OwnedFd,
    pub foreign_owner: Option<ForeignDirectory>,
}

#[derive(Debug)]
pub(crate) struct ResolvedFile {
    pub parent: OpenedDirectory,
    pub name: OsString,
    /// Status of the file, which may be a link's target; `None` if the file does not exist.
    pub existing: Option<Stat>,
}

impl TrustedUser {
    pub fn current_user() -> Self {
        Self {
            uid: nix::unistd::geteuid().as_raw(),
            gid: nix::unistd::getegid().as_raw(),
        }
    }

    pub fn open_directory(
        self,
        path: &Path,
        missing: MissingDirectoryPolicy,
    ) -> Result<OpenedDirectory, PathError> {
        let mut steps = PathWalk::new(self, path, missing)?;
        match steps.walk_to_end()? {
            None => steps.into_checked_directory(),
            Some((name, None)) => Err(steps.path_system_error(&name, Errno::NOENT)),
            Some((name, Some(_))) => Err(steps.path_system_error(&name, Errno::NOTDIR)),
        }
    }

    /// Walks to the directory of a file and opens that directory; the file itself may be missing.
    /// If the file is a link, its target is resolved.
    pub(crate) fn resolve_file(
        self,
        path: &Path,
        missing: MissingDirectoryPolicy,
    ) -> Result<ResolvedFile, PathError> {
        let mut steps = PathWalk::new(self, path, missing)?;
        let directory = || PathError::Directory {
            at: path.to_owned(),
        };
        if path.as_os_str().is_empty() {
            return Err(PathError::EmptyPath);
        }
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(directory());
        }
        let (name, existing) = steps.walk_to_end()?.ok_or_else(directory)?;
        if existing.is_none() && steps.last_was_link {
            return Err(PathError::Dangling {
                at: path.to_owned(),
                to: steps.at.join(&name),
            });
        }
        Ok(ResolvedFile {
            parent: steps.into_checked_directory()?,
            name,
            existing,
        })
    }
}

enum NameLookup {
    Missing,
    Existing(Stat),
    /// The name was a directory or a link. The directory is now the current one, or the link's
    /// target is walked next.
    Continue,
}

struct PathWalk {
    walker: TrustedUser,
    missing: MissingDirectoryPolicy,
    current: OwnedFd,
    at: PathBuf,
    /// The names that remain to be walked, the next one last; `/` restarts at the root.
    remaining: Vec<OsString>,
    links: usize,
    /// True if the path itself, not only a directory on it, is a link; a missing target is then an
    /// error.
    last_was_link: bool,
    foreign_owner: Option<ForeignDirectory>,
}

impl PathWalk {
    fn new(
        walker: TrustedUser,
        path: &Path,
        missing: MissingDirectoryPolicy,
    ) -> Result<Self, PathError> {
        let current = open_component(CWD, ".").map_err(|error| PathError::System {
            at: path.to_owned(),
            error,
        })?;
        Ok(Self {
            walker,
            missing,
            current,
            at: PathBuf::new(),
            remaining: reversed_components(path),
            links: 0,
            last_was_link: false,
            foreign_owner: None,
        })
    }

    fn path_system_error(&self, name: &OsStr, error: Errno) -> PathError {
        PathError::System {
            at: self.at.join(name),
            error,
        }
    }

    fn or_path_error<T>(&self, name: &OsStr, result: Result<T, Errno>) -> Result<T, PathError> {
        result.map_err(|error| self.path_system_error(name, error))
    }

    /// The last name and its status, unless the path ends at a directory.
    fn walk_to_end(&mut self) -> Result<Option<(OsString, Option<Stat>)>, PathError> {
        while let Some(name) = self.remaining.pop() {
            let is_last = self.remaining.is_empty();
            match self.walk_component(&name)? {
                NameLookup::Continue => {}
                NameLookup::Existing(stat) if is_last => return Ok(Some((name, Some(stat)))),
                NameLookup::Missing if is_last => return Ok(Some((name, None))),
                NameLookup::Existing(_) => {
                    return Err(self.path_system_error(&name, Errno::NOTDIR));
                }
                NameLookup::Missing => return Err(self.path_system_error(&name, Errno::NOENT)),
            }
        }
        Ok(None)
    }

    fn walk_component(&mut self, name: &OsStr) -> Result<NameLookup, PathError> {
        if name == "/" {
            self.current = self.or_path_error(name, open_component(CWD, "/"))?;
            self.at = PathBuf::from("/");
            return Ok(NameLookup::Continue);
        }
        self.check_directory_and_record_owner()?;
        let found = match open_component(&self.current, name) {
            Err(Errno::NOENT) => match self.missing_directory_mode() {
                None => return Ok(NameLookup::Missing),
                Some(mode) => self.or_path_error(name, self.create_and_open_directory(name, mode)),
            },
            found => self.or_path_error(name, found),
        }?;
        let stat = self.or_path_error(name, rustix::fs::fstat(&found))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => self.follow_link(name, &found, &stat)?,
            FileType::Directory => {
                self.current = found;
                self.at.push(name);
            }
            _ => return Ok(NameLookup::Existing(stat)),
        }
        Ok(NameLookup::Continue)
    }

    /// The mode with which to create a missing directory; `None` if the directory must not be
    /// created. The last name of the path is the file and is never created here.
    fn missing_directory_mode(&self) -> Option<u32> {
        match (self.missing, self.remaining.len()) {
            (MissingDirectoryPolicy::Refused, _) | (_, 0) => None,
            (MissingDirectoryPolicy::Made(mode), _) => Some(mode),
        }
    }

    fn create_and_open_directory(&self, name: &OsStr, mode: u32) -> Result<OwnedFd, Errno> {
        match rustix::fs::mkdirat(&self.current, name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => open_component(&self.current, name),
            Err(error) => Err(error),
        }
    }

    /// Continues the walk at a link's target. The names of the target precede the remaining names
    /// of the path.
    fn follow_link(&mut self, name: &OsStr, link: &OwnedFd, stat: &Stat) -> Result<(), PathError> {
        let at = self.at.join(name);
        if fs_magic(&self.current) == Some(PROC) {
            return Err(PathError::OpenFile { at });
        }
        let who = match &self.foreign_owner {
            Some(stranger) => Some(stranger.owner.clone()),
            None => (!self.is_trusted_uid(stat.st_uid)).then(|| format!("uid {}", stat.st_uid)),
        };
        if let Some(who) = who {
            return Err(PathError::UntrustedLink { at, who });
        }
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(PathError::System {
                at,
                error: Errno::LOOP,
            });
        }
        let text = self.or_path_error(name, rustix::fs::readlinkat(link, "", Vec::new()))?;
        let text = PathBuf::from(OsString::from_vec(text.into_bytes()));
        self.last_was_link |= self.remaining.is_empty();
        self.remaining.extend(reversed_components(&text));
        Ok(())
    }

    /// Refuses a directory in which other users could replace files, and records an owner other
    /// than the user or root.
    fn check_directory_and_record_owner(&mut self) -> Result<(), PathError> {
        let stat = self.or_path_error(OsStr::new(""), rustix::fs::fstat(&self.current))?;
        let own_group = self.walker.uid != 0 && stat.st_gid == self.walker.gid;
        let writers = if own_group { 0o002 } else { 0o022 };
        if stat.st_mode & writers != 0 && stat.st_mode & STICKY == 0 {
            return Err(PathError::WritableByOthers {
                at: self.current_path(),
            });
        }
        let who = match fs_magic(&self.current) {
            // Any user may run a FUSE server, which can report any owner, so root treats the
            // directory as another user's.
            Some(FUSE) if self.walker.uid == 0 => Some("a FUSE server".to_owned()),
            _ => (!self.is_trusted_uid(stat.st_uid)).then(|| format!("uid {}", stat.st_uid)),
        };
        if let (None, Some(who)) = (&self.foreign_owner, who) {
            self.foreign_owner = Some(ForeignDirectory {
                at: self.current_path(),
                owner: who,
            });
        }
        Ok(())
    }

    fn current_path(&self) -> PathBuf {
        if self.at.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            self.at.clone()
        }
    }

    fn is_trusted_uid(&self, uid: u32) -> bool {
        uid == 0 || uid == self.walker.uid
    }

    fn into_checked_directory(mut self) -> Result<OpenedDirectory, PathError> {
        self.check_directory_and_record_owner()?;
        Ok(OpenedDirectory {
            directory: self.current,
            foreign_owner: self.foreign_owner,
        })
    }
}

/// Opens a name in a directory without following a link.
fn open_component(directory: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::empty())
}

fn reversed_components(path: &Path) -> Vec<OsString> {
    let names = path.components().filter(|part| *part != Component::CurDir);
    let mut names: Vec<OsString> = names.map(|part| part.as_os_str().to_owned()).collect();
    names.reverse();
    names
}

fn fs_magic(directory: &OwnedFd) -> Option<u64> {
    let found = rustix::fs::fstatfs(directory).ok()?;
    u64::try_from(found.f_type).ok()
}

/// 64 unpredictable bits. They come from the system's random source, from which the standard
/// library seeds its hash tables.
pub fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn errno_message(errno: Errno) -> String {
    text::io_error_message(&errno.into())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

    use super::*;

    const SOMEBODY: u32 = 4242;

    struct TestTree(tempfile::TempDir);

    impl TestTree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(tree.join("one/two")).unwrap();
            for name in ["", "one", "one/two"] {
                tree.set_mode(name, 0o755);
            }
            tree
        }

        fn join(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn set_mode(&self, name: &str, mode: u32) {
            fs::set_permissions(self.join(name), Permissions::from_mode(mode)).unwrap();
        }

        fn create_symlink(&self, to: &str, name: &str) {
            symlink(to, self.join(name)).unwrap();
        }

        fn resolve(&self, name: &str) -> Result<ResolvedFile, PathError> {
            TrustedUser::current_user()
                .resolve_file(&self.join(name), MissingDirectoryPolicy::Refused)
        }
    }

    fn inode(path: &Path) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).unwrap().ino()
    }

    #[test]
    fn paths_resolve_like_in_the_kernel() {
        let tree = TestTree::new();
        fs::write(tree.join("one/two/file"), "").unwrap();
        tree.create_symlink("one", "up");
        tree.create_symlink("../one/./two/../two", "one/round");
        tree.create_symlink(tree.join("one/two/file").to_str().unwrap(), "straight");
        for name in [
            "one/two/file",
            "up/two/file",
            "one/round/file",
            "straight",
            "one/../up/round/../two/file",
        ] {
            let found = tree.resolve(name).unwrap();
            assert_eq!(
                rustix::fs::fstat(&found.parent.directory).unwrap().st_ino,
                inode(&tree.join("one/two")),
                "{name}"
            );
            assert_eq!(
                (found.name.to_str(), found.existing.unwrap().st_ino),
                (Some("file"), inode(&tree.join(name)))
            );
        }
        assert!(tree.resolve("one/two/new").unwrap().existing.is_none());
        let here = TrustedUser::current_user()
            .resolve_file(Path::new("no-such-file"), MissingDirectoryPolicy::Refused);
        assert!(here.is_ok_and(|found| found.existing.is_none()
            && rustix::fs::fstat(&found.parent.directory).unwrap().st_ino
                == inode(Path::new("."))));
    }

    #[test]
    fn directories_dangling_links_and_loops_are_refused() {
        let tree = TestTree::new();
        fs::write(tree.join("file"), "").unwrap();
        tree.create_symlink("nowhere", "dangling");
        tree.create_symlink("round", "round");
        tree.create_symlink("/proc/self/fd/1", "open");
        for name in [
            "one",
            "one/",
            "one/two/..",
            "dangling",
            "round",
            "file/x",
            "none/x",
            "open",
            "file/",
        ] {
            assert!(tree.resolve(name).is_err(), "{name}");
        }
        assert!(matches!(
            TrustedUser::current_user()
                .resolve_file(Path::new(""), MissingDirectoryPolicy::Refused),
            Err(PathError::EmptyPath)
        ));
        assert!(matches!(
            tree.resolve("dangling"),
            Err(PathError::Dangling { .. })
        ));
        assert!(matches!(
            tree.resolve("open"),
            Err(PathError::OpenFile { .. })
        ));
        assert!(matches!(
            tree.resolve("round"),
            Err(PathError::System {
                error: Errno::LOOP,
                ..
            })
        ));
        let special = TrustedUser::current_user()
            .resolve_file(Path::new("/dev/null"), MissingDirectoryPolicy::Refused);
        assert!(special.is_ok_and(|found| FileType::from_raw_mode(
            found.existing.unwrap().st_mode
        ) != FileType::RegularFile));
    }

    #[test]
    fn world_writable_directory_needs_the_sticky_bit() {
        let tree = TestTree::new();
        for name in ["one", "one/two"] {
            for (mode, fine) in [
                (0o777, false),
                (0o757, false),
                (0o1777, true),
                (0o755, true),
            ] {
                tree.set_mode(name, mode);
                let found = tree.resolve("one/two/file");
                assert_eq!(found.is_ok(), fine, "{name} {mode:o} {found:?}");
            }
        }
    }

    /// Some systems give each user their own group and a umask of 002.
    #[test]
    fn own_group_write_access_is_trusted_except_for_root() {
        let tree = TestTree::new();
        tree.set_mode("one", 0o775);
        let gid = rustix::fs::stat(tree.join("one")).unwrap().st_gid;
        for (uid, gid, fine) in [
            (SOMEBODY, gid, true),
            (SOMEBODY, gid + 1, false),
            (0, gid, false),
        ] {
            let found = TrustedUser { uid, gid }
                .resolve_file(&tree.join("one/two/file"), MissingDirectoryPolicy::Refused);
            assert_eq!(
                !matches!(found, Err(PathError::WritableByOthers { .. })),
                fine,
                "{uid} {gid}"
            );
        }
    }

    #[test]
    fn missing_directories_are_created_on_request() {
        let tree = TestTree::new();
        let walk = |name: &str, missing| {
            TrustedUser::current_user()
                .resolve_file(&tree.join(name), missing)
                .is_ok()
        };
        assert!(!walk("a/file", MissingDirectoryPolicy::Refused));
        assert!(!tree.join("a").exists());
        assert!(
            walk("a/file", MissingDirectoryPolicy::Made(0o700))
                && walk("b/c/d/file", MissingDirectoryPolicy::Made(0o700))
        );
        for made in ["a", "b", "b/c", "b/c/d"] {
            assert_eq!(
                fs::metadata(tree.join(made)).unwrap().permissions().mode() & 0o7777,
                0o700,
                "{made}"
            );
        }
        assert!(!tree.join("b/c/d/file").exists());
    }

    #[test]
    #[ignore = "needs root: files of somebody else"]
    fn foreign_links_are_not_followed() {
        let tree = TestTree::new();
        fs::write(tree.join("one/two/file"), "").unwrap();
        tree.create_symlink("one", "up");
        tree.create_symlink("file", "one/two/last");
        for (link, way) in [("up", "up/two/file"), ("one/two/last", "one/two/last")] {
            assert!(tree.resolve(way).is_ok());
            lchown(tree.join(link), Some(SOMEBODY), None).unwrap();
            assert!(
                matches!(tree.resolve(way), Err(PathError::UntrustedLink { .. })),
                "{way}"
            );
        }
    }

    #[test]
    #[ignore = "needs root: files of somebody else"]
    fn foreign_directory_is_reported_and_its_links_refused() {
        let tree = TestTree::new();
        tree.create_symlink("two", "one/root");
        assert!(
            tree.resolve("one/root/file")
                .unwrap()
                .parent
                .foreign_owner
                .is_none()
        );
        chown(tree.join("one"), Some(SOMEBODY), None).unwrap();
        let stranger = tree
            .resolve("one/two/file")
            .unwrap()
            .parent
            .foreign_owner
            .unwrap();
        assert_eq!(
            stranger,
            ForeignDirectory {
                at: tree.join("one"),
                owner: "uid 4242".to_owned()
            }
        );
        assert!(
            matches!(
                tree.resolve("one/root/file"),
                Err(PathError::UntrustedLink { .. })
            ),
            "root's link, but who moved it there?"
        );
        // A user needs no warning about their own directory.
        let theirs = TrustedUser {
            uid: SOMEBODY,
            gid: SOMEBODY,
        }
        .resolve_file(&tree.join("one/two/file"), MissingDirectoryPolicy::Refused);
        assert!(theirs.unwrap().parent.foreign_owner.is_none());
    }
}
