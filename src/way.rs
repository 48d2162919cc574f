//! The way to a directory in which root may write: walked name by name on open directories, so that nobody redirects
//! it.
//!
//! This module decides who else could redirect it: by a link, by a directory that others can write, or by a directory
//! of their own. The work at its end is left to the caller. Beyond another user's directory no link is followed at all,
//! because the owner of a directory may have moved root's own links into it.

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
    #[error("{} is a link that {who} put there, and it is not followed; name where it leads", shown(at))]
    Link { at: PathBuf, who: String },
    /// A link of the kernel's, which leads to an open file instead of a name.
    #[error("{} leads through /proc to an open file; write to standard output instead", shown(at))]
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
        Self { uid: nix::unistd::geteuid().as_raw(), gid: nix::unistd::getegid().as_raw() }
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
        let directory = || Obstacle::Directory { at: path.to_owned() };
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
                NameLookup::Something(_) if !is_last => return Err(steps.system(&name, Errno::NOTDIR)),
                NameLookup::Nothing if !is_last => return Err(steps.system(&name, Errno::NOENT)),
                NameLookup::Something(stat) => Some(stat),
                NameLookup::Nothing if steps.last_was_link => {
                    return Err(Obstacle::Dangling { at: path.to_owned(), to: steps.at.join(&name) });
                }
                NameLookup::Nothing => None,
            };
            return Ok(FileEnd { end: steps.end()?, name, there });
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
        let here = here.map_err(|error| Obstacle::System { at: path.to_owned(), error })?;
        let left = names(path);
        let at = PathBuf::new();
        Ok(Self { walker, missing, here, at, left, links: 0, last_was_link: false, stranger: None })
    }

    fn system(&self, name: &OsStr, error: Errno) -> Obstacle {
        Obstacle::System { at: self.at.join(name), error }
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

    /// The mode for creating a missing directory here; `None` where none may be created. The last name is the file's.
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
            return Err(Obstacle::System { at, error: Errno::LOOP });
        }
        let text = rustix::fs::readlinkat(link, "", Vec::new()).map_err(|error| self.system(name, error))?;
        let text = PathBuf::from(OsString::from_vec(text.into_bytes()));
        self.last_was_link |= self.left.is_empty();
        self.left.extend(names(&text));
        Ok(())
    }

    /// Checks that a name may be looked up here, and records the directory's owner.
    fn judge(&mut self) -> Result<(), Obstacle> {
        let stat = rustix::fs::fstat(&self.here).map_err(|error| self.system(OsStr::new(""), error))?;
        let own_group = self.walker.uid != 0 && stat.st_gid == self.walker.gid;
        let writers = if own_group { 0o002 } else { 0o022 };
        if stat.st_mode & writers != 0 && stat.st_mode & STICKY == 0 {
            return Err(Obstacle::Shared { at: self.at() });
        }
        let who = match magic(&self.here) {
            // Its server determines the owners of all files, and anybody may run one.
            Some(FUSE) if self.walker.uid == 0 => Some("the server of a FUSE file system".to_owned()),
            _ => (!self.is_trusted(stat.st_uid)).then(|| format!("uid {}", stat.st_uid)),
        };
        if let (None, Some(who)) = (&self.stranger, who) {
            self.stranger = Some(Stranger { at: self.at(), who });
        }
        Ok(())
    }

    fn at(&self) -> PathBuf {
        if self.at.as_os_str().is_empty() { PathBuf::from(".") } else { self.at.clone() }
    }

    fn is_trusted(&self, uid: u32) -> bool {
        uid == 0 || uid == self.walker.uid
    }

    fn end(mut self) -> Result<End, Obstacle> {
        self.judge()?;
        Ok(End { directory: self.here, stranger: self.stranger })
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

/// 64 unpredictable bits: the standard library seeds its hash tables from the system's random source.
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
mod tests;
