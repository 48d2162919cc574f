//! The way to a directory in which root may write: walked name by name on open directories, so that
//! nobody redirects it.
//!
//! This module decides who else could redirect it: by a link, by a directory that others can write,
//! or by a directory of their own. The work at its end is left to the caller. Beyond another user's
//! directory no link is followed at all, because the owner of a directory may have moved root's own
//! links into it.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::text;

/// The largest number of links on one way, as in the kernel (path_resolution(7)).
const LINKS: usize = 40;

/// The sticky bit: names in a directory are their owners' alone (inode(7)).
const STICKY: u32 = 0o1000;

/// Magic numbers of linux/magic.h.
const PROC: u64 = 0x9fa0;
const FUSE: u64 = 0x6573_5546;

/// Opens a directory only to look further.
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a way cannot be followed to its end.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    #[error("{}: {}", shown(at), errno_words(*error))]
    System { at: PathBuf, error: Errno },
    /// A link that another user created, or that lies where another user rules.
    #[error(
        "{} is a link that {who} put there, and it is not followed; name where it leads",
        shown(at)
    )]
    Link { at: PathBuf, who: String },
    /// A link of the kernel's, which leads to an open file instead of a name.
    #[error(
        "{} leads through /proc to an open file; write to standard output instead",
        shown(at)
    )]
    OpenFile { at: PathBuf },
    /// A link whose target does not exist.
    #[error("{} leads to {}, which does not exist", shown(at), shown(to))]
    Dangling { at: PathBuf, to: PathBuf },
    /// A directory in which others can exchange every name.
    #[error(
        "others can write {}, which has no sticky bit, so they could put something else in its place; name a directory that \
         only you can write",
        shown(at)
    )]
    Shared { at: PathBuf },
    /// The given path is a directory, or empty.
    #[error("{} is a directory; name a regular file", shown(at))]
    Directory { at: PathBuf },
    /// The given path is empty.
    #[error("no name was given; name a regular file")]
    Nameless,
}

/// The treatment of missing directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CreationPolicy {
    Refused,
    /// They are created, with this mode less the umask.
    Made(u32),
}

/// The user who walks: his own files and root's are trusted.
#[derive(Clone, Copy, Debug)]
pub struct Walker {
    pub uid: u32,
    /// The effective group, which on most systems is the user's own.
    pub gid: u32,
}

/// Another user's directory on the way: its owner decides what lies at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    pub at: PathBuf,
    /// Who they are, in words.
    pub who: String,
}

#[derive(Debug)]
pub struct End {
    /// The directory, open for looking only.
    pub directory: OwnedFd,
    /// The first directory of another user on the way; `None` without one.
    pub stranger: Option<Stranger>,
}

/// The end of a way to a file: the name in the last directory, and the object of that name.
#[derive(Debug)]
pub struct FileEnd {
    pub end: End,
    /// The name in it; never that of a link.
    pub name: OsString,
    /// The object of that name; `None` where there is none.
    pub there: Option<Stat>,
}

impl Walker {
    pub fn ourselves() -> Self {
        Self {
            uid: nix::unistd::geteuid().as_raw(),
            gid: nix::unistd::getegid().as_raw(),
        }
    }

    /// The way to a directory.
    pub fn directory(self, path: &Path, missing: CreationPolicy) -> Result<End, Obstacle> {
        let mut steps = Steps::begin(self, path, missing)?;
        while let Some(name) = steps.left.pop() {
            match steps.take(&name)? {
                NameLookup::Nothing => return Err(steps.system(&name, Errno::NOENT)),
                NameLookup::Something(_) => return Err(steps.system(&name, Errno::NOTDIR)),
                NameLookup::Further => {}
            }
        }
        steps.end()
    }

    /// The way to a file that exists or may be created; a link is followed to its target.
    pub fn file(self, path: &Path, missing: CreationPolicy) -> Result<FileEnd, Obstacle> {
        let mut steps = Steps::begin(self, path, missing)?;
        let directory = || Obstacle::Directory {
            at: path.to_owned(),
        };
        if path.as_os_str().is_empty() {
            return Err(Obstacle::Nameless);
        }
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(directory());
        }
        while let Some(name) = steps.left.pop() {
            let is_last = steps.left.is_empty();
            let there = match steps.take(&name)? {
                NameLookup::Further => continue,
                NameLookup::Something(_) if !is_last => {
                    return Err(steps.system(&name, Errno::NOTDIR));
                }
                NameLookup::Nothing if !is_last => return Err(steps.system(&name, Errno::NOENT)),
                NameLookup::Something(stat) => Some(stat),
                NameLookup::Nothing if steps.last_was_link => {
                    return Err(Obstacle::Dangling {
                        at: path.to_owned(),
                        to: steps.at.join(&name),
                    });
                }
                NameLookup::Nothing => None,
            };
            return Ok(FileEnd {
                end: steps.end()?,
                name,
                there,
            });
        }
        Err(directory())
    }
}

enum NameLookup {
    Nothing,
    /// Neither a directory nor a link.
    Something(Stat),
    /// A directory, which is now the current one, or a link, whose names come next.
    Further,
}

struct Steps {
    walker: Walker,
    missing: CreationPolicy,
    here: OwnedFd,
    at: PathBuf,
    /// Remaining names, the next one last; `/` starts again at the root.
    left: Vec<OsString>,
    links: usize,
    /// Whether the remaining names come from a link in last position.
    last_was_link: bool,
    stranger: Option<Stranger>,
}

impl Steps {
    fn begin(walker: Walker, path: &Path, missing: CreationPolicy) -> Result<Self, Obstacle> {
        let here = rustix::fs::openat(CWD, ".", LOOK | OFlags::DIRECTORY, Mode::empty());
        let here = here.map_err(|error| Obstacle::System {
            at: path.to_owned(),
            error,
        })?;
        let left = names(path);
        let at = PathBuf::new();
        Ok(Self {
            walker,
            missing,
            here,
            at,
            left,
            links: 0,
            last_was_link: false,
            stranger: None,
        })
    }

    fn system(&self, name: &OsStr, error: Errno) -> Obstacle {
        Obstacle::System {
            at: self.at.join(name),
            error,
        }
    }

    /// Follows a name in the current directory.
    fn take(&mut self, name: &OsStr) -> Result<NameLookup, Obstacle> {
        if name == "/" {
            let root = rustix::fs::openat(CWD, "/", LOOK | OFlags::DIRECTORY, Mode::empty());
            self.here = root.map_err(|error| self.system(name, error))?;
            self.at = PathBuf::from("/");
            return Ok(NameLookup::Further);
        }
        self.judge()?;
        let found = match rustix::fs::openat(&self.here, name, LOOK, Mode::empty()) {
            Err(Errno::NOENT) => match self.mode_of_missing() {
                None => return Ok(NameLookup::Nothing),
                Some(mode) => self.make(name, mode)?,
            },
            found => found.map_err(|error| self.system(name, error))?,
        };
        let stat = rustix::fs::fstat(&found).map_err(|error| self.system(name, error))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => self.follow(name, &found, &stat)?,
            FileType::Directory => {
                self.here = found;
                self.at.push(name);
            }
            _ => return Ok(NameLookup::Something(stat)),
        }
        Ok(NameLookup::Further)
    }

    /// The mode for creating a missing directory here; `None` where none may be created. The last
    /// name is the file's.
    fn mode_of_missing(&self) -> Option<u32> {
        match (self.missing, self.left.len()) {
            (CreationPolicy::Refused, _) | (_, 0) => None,
            (CreationPolicy::Made(mode), _) => Some(mode),
        }
    }

    fn make(&self, name: &OsStr, mode: u32) -> Result<OwnedFd, Obstacle> {
        let failed = |error| self.system(name, error);
        match rustix::fs::mkdirat(&self.here, name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error)),
        }
        rustix::fs::openat(&self.here, name, LOOK, Mode::empty()).map_err(failed)
    }

    /// Puts the names of a link before the remaining ones, if the link may be followed.
    fn follow(&mut self, name: &OsStr, link: &OwnedFd, stat: &Stat) -> Result<(), Obstacle> {
        let at = self.at.join(name);
        if magic(&self.here) == Some(PROC) {
            return Err(Obstacle::OpenFile { at });
        }
        let who = match &self.stranger {
            Some(stranger) => Some(stranger.who.clone()),
            None => (!self.is_trusted(stat.st_uid)).then(|| format!("uid {}", stat.st_uid)),
        };
        if let Some(who) = who {
            return Err(Obstacle::Link { at, who });
        }
        self.links += 1;
        if self.links > LINKS {
            return Err(Obstacle::System {
                at,
                error: Errno::LOOP,
            });
        }
        let text = rustix::fs::readlinkat(link, "", Vec::new())
            .map_err(|error| self.system(name, error))?;
        let text = PathBuf::from(OsString::from_vec(text.into_bytes()));
        self.last_was_link |= self.left.is_empty();
        self.left.extend(names(&text));
        Ok(())
    }

    /// Checks that a name may be looked up here, and records the directory's owner.
    fn judge(&mut self) -> Result<(), Obstacle> {
        let stat =
            rustix::fs::fstat(&self.here).map_err(|error| self.system(OsStr::new(""), error))?;
        let own_group = self.walker.uid != 0 && stat.st_gid == self.walker.gid;
        let writers = if own_group { 0o002 } else { 0o022 };
        if stat.st_mode & writers != 0 && stat.st_mode & STICKY == 0 {
            return Err(Obstacle::Shared { at: self.at() });
        }
        let who = match magic(&self.here) {
            // Its server determines the owners of all files, and anybody may run one.
            Some(FUSE) if self.walker.uid == 0 => {
                Some("the server of a FUSE file system".to_owned())
            }
            _ => (!self.is_trusted(stat.st_uid)).then(|| format!("uid {}", stat.st_uid)),
        };
        if let (None, Some(who)) = (&self.stranger, who) {
            self.stranger = Some(Stranger { at: self.at(), who });
        }
        Ok(())
    }

    fn at(&self) -> PathBuf {
        if self.at.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            self.at.clone()
        }
    }

    fn is_trusted(&self, uid: u32) -> bool {
        uid == 0 || uid == self.walker.uid
    }

    fn end(mut self) -> Result<End, Obstacle> {
        self.judge()?;
        Ok(End {
            directory: self.here,
            stranger: self.stranger,
        })
    }
}

/// The names of a path, the first one last.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().filter(|part| *part != Component::CurDir);
    let mut names: Vec<OsString> = names.map(|part| part.as_os_str().to_owned()).collect();
    names.reverse();
    names
}

/// The magic number of a directory's file system; `None` where it is unavailable.
fn magic(directory: &OwnedFd) -> Option<u64> {
    let found = rustix::fs::fstatfs(directory).ok()?;
    u64::try_from(found.f_type).ok()
}

/// 64 unpredictable bits: the standard library seeds its hash tables from the system's random
/// source.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn shown(path: &Path) -> String {
    text::safe(path.as_os_str().as_bytes())
}

fn errno_words(errno: Errno) -> String {
    text::error_words(&errno.into())
}

#[cfg(test)]
mod tests {
    //! Paths as root and as another user, on directories of this test. Tests that need another
    //! owner need root, and are ignored unless requested.

    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

    use super::*;

    const SOMEBODY: u32 = 4242;

    struct Tree(tempfile::TempDir);

    impl Tree {
        /// A directory that only we can write, with two more beneath it.
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(tree.at("one/two")).unwrap();
            for name in ["", "one", "one/two"] {
                tree.mode(name, 0o755);
            }
            tree
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn mode(&self, name: &str, mode: u32) {
            fs::set_permissions(self.at(name), Permissions::from_mode(mode)).unwrap();
        }

        fn link(&self, to: &str, name: &str) {
            symlink(to, self.at(name)).unwrap();
        }

        fn file(&self, name: &str) -> Result<FileEnd, Obstacle> {
            Walker::ourselves().file(&self.at(name), CreationPolicy::Refused)
        }
    }

    fn inode(path: &Path) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).unwrap().ino()
    }

    #[test]
    fn a_way_ends_where_the_kernel_s_would() {
        let tree = Tree::new();
        fs::write(tree.at("one/two/file"), "").unwrap();
        tree.link("one", "up");
        tree.link("../one/./two/../two", "one/round");
        tree.link(tree.at("one/two/file").to_str().unwrap(), "straight");
        for name in [
            "one/two/file",
            "up/two/file",
            "one/round/file",
            "straight",
            "one/../up/round/../two/file",
        ] {
            let found = tree.file(name).unwrap();
            assert_eq!(
                rustix::fs::fstat(&found.end.directory).unwrap().st_ino,
                inode(&tree.at("one/two")),
                "{name}"
            );
            assert_eq!(
                (found.name.to_str(), found.there.unwrap().st_ino),
                (Some("file"), inode(&tree.at(name)))
            );
        }
        assert!(tree.file("one/two/new").unwrap().there.is_none());
        let here = Walker::ourselves().file(Path::new("no-such-file"), CreationPolicy::Refused);
        assert!(here.is_ok_and(|found| found.there.is_none()
            && rustix::fs::fstat(&found.end.directory).unwrap().st_ino == inode(Path::new("."))));
    }

    #[test]
    fn what_is_no_file_and_no_way_is_refused() {
        let tree = Tree::new();
        fs::write(tree.at("file"), "").unwrap();
        tree.link("nowhere", "dangling");
        tree.link("round", "round");
        tree.link("/proc/self/fd/1", "open");
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
            assert!(tree.file(name).is_err(), "{name}");
        }
        assert!(matches!(
            Walker::ourselves().file(Path::new(""), CreationPolicy::Refused),
            Err(Obstacle::Nameless)
        ));
        assert!(matches!(
            tree.file("dangling"),
            Err(Obstacle::Dangling { .. })
        ));
        assert!(matches!(tree.file("open"), Err(Obstacle::OpenFile { .. })));
        assert!(matches!(
            tree.file("round"),
            Err(Obstacle::System {
                error: Errno::LOOP,
                ..
            })
        ));
        let special = Walker::ourselves().file(Path::new("/dev/null"), CreationPolicy::Refused);
        assert!(special.is_ok_and(
            |found| FileType::from_raw_mode(found.there.unwrap().st_mode) != FileType::RegularFile
        ));
    }

    #[test]
    fn where_others_write_only_a_sticky_directory_will_do() {
        let tree = Tree::new();
        for name in ["one", "one/two"] {
            for (mode, fine) in [
                (0o777, false),
                (0o757, false),
                (0o1777, true),
                (0o755, true),
            ] {
                tree.mode(name, mode);
                let found = tree.file("one/two/file");
                assert_eq!(found.is_ok(), fine, "{name} {mode:o} {found:?}");
            }
        }
    }

    /// Many systems give each user a group of their own and a umask of 002.
    #[test]
    fn a_directory_of_one_s_own_group_is_one_s_own_but_for_root() {
        let tree = Tree::new();
        tree.mode("one", 0o775);
        let gid = rustix::fs::stat(tree.at("one")).unwrap().st_gid;
        for (uid, gid, fine) in [
            (SOMEBODY, gid, true),
            (SOMEBODY, gid + 1, false),
            (0, gid, false),
        ] {
            let found = Walker { uid, gid }.file(&tree.at("one/two/file"), CreationPolicy::Refused);
            assert_eq!(
                !matches!(found, Err(Obstacle::Shared { .. })),
                fine,
                "{uid} {gid}"
            );
        }
    }

    #[test]
    fn directories_are_made_where_that_is_wanted() {
        let tree = Tree::new();
        let walk = |name: &str, missing| Walker::ourselves().file(&tree.at(name), missing).is_ok();
        assert!(!walk("a/file", CreationPolicy::Refused));
        assert!(!tree.at("a").exists());
        assert!(
            walk("a/file", CreationPolicy::Made(0o700))
                && walk("b/c/d/file", CreationPolicy::Made(0o700))
        );
        for made in ["a", "b", "b/c", "b/c/d"] {
            assert_eq!(
                fs::metadata(tree.at(made)).unwrap().permissions().mode() & 0o7777,
                0o700,
                "{made}"
            );
        }
        assert!(!tree.at("b/c/d/file").exists());
    }

    #[test]
    #[ignore = "needs root: files of somebody else"]
    fn links_of_somebody_else_are_not_followed_anywhere() {
        let tree = Tree::new();
        fs::write(tree.at("one/two/file"), "").unwrap();
        tree.link("one", "up");
        tree.link("file", "one/two/last");
        for (link, way) in [("up", "up/two/file"), ("one/two/last", "one/two/last")] {
            assert!(tree.file(way).is_ok());
            lchown(tree.at(link), Some(SOMEBODY), None).unwrap();
            assert!(
                matches!(tree.file(way), Err(Obstacle::Link { .. })),
                "{way}"
            );
        }
    }

    #[test]
    #[ignore = "needs root: files of somebody else"]
    fn in_a_directory_of_somebody_else_it_is_said_and_no_link_is_followed() {
        let tree = Tree::new();
        tree.link("two", "one/root");
        assert!(tree.file("one/root/file").unwrap().end.stranger.is_none());
        chown(tree.at("one"), Some(SOMEBODY), None).unwrap();
        let stranger = tree.file("one/two/file").unwrap().end.stranger.unwrap();
        assert_eq!(
            stranger,
            Stranger {
                at: tree.at("one"),
                who: "uid 4242".to_owned()
            }
        );
        assert!(
            matches!(tree.file("one/root/file"), Err(Obstacle::Link { .. })),
            "root's link, but who moved it there?"
        );
        // A user needs no warning about his own directory.
        let theirs = Walker {
            uid: SOMEBODY,
            gid: SOMEBODY,
        }
        .file(&tree.at("one/two/file"), CreationPolicy::Refused);
        assert!(theirs.unwrap().end.stranger.is_none());
    }
}
