//! A process in another mount name space, such as a server in a container: its files are read
//! through its root, and its directories are mapped to paths here.
//!
//! Paths are followed link by link from the process' own root, because an absolute link in a
//! container starts at that root. The path here is derived from both mount tables (device, root and
//! mount point), then proven: both names must be the same device and inode. Systemd services often
//! have a mount name space of their own too, in which nearly every path is the same as here.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use crate::facts::{Reading, Source, Why};
use crate::host::{Host, Miss, MissKind, Question, path_bytes, path_of};
use crate::refusal::refused;
use crate::text::safe;
use crate::{mountinfo, sight};

/// The largest number of links followed in a path, as in the kernel (path_resolution(7)).
const LINKS: usize = 40;

/// The host as a process sees it.
pub struct Inside<'a> {
    /// The host as the user of the process sees it.
    host: &'a dyn Host,
    /// The host as we see it, to recognise directories that only we may reach.
    ours: &'a dyn Host,
    pid: u32,
    root: PathBuf,
    /// Our mounts in sight: device number, root, and mount point.
    here: Vec<(String, PathBuf, PathBuf)>,
    /// Its mounts: read once, as they may be many.
    theirs: OnceLock<Result<Vec<mountinfo::Entry>, Miss>>,
}

impl<'a> Inside<'a> {
    /// The view of a process; `None` when it is the same as ours, or when that cannot be known.
    pub fn new(host: &'a dyn Host, ours: &'a dyn Host, pid: u32) -> Option<Self> {
        let own = host.link(Path::new("/proc/self/ns/mnt")).ok()?;
        let theirs = host.link(Path::new(&format!("/proc/{pid}/ns/mnt"))).ok()?;
        if own == theirs {
            return None;
        }
        let table = mountinfo::read(ours, Path::new("/proc/self/mountinfo"));
        let entries = table.unwrap_or_default().entries;
        let in_sight = sight::in_sight(&entries);
        let here = entries
            .into_iter()
            .zip(in_sight)
            .filter(|(_, visible)| *visible);
        let here = here.map(|(entry, _)| (entry.devno, path_of(entry.root), path_of(entry.point)));
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        Some(Self {
            host,
            ours,
            pid,
            root,
            here: here.collect(),
            theirs: OnceLock::new(),
        })
    }

    /// The path as the process names it, without links.
    fn resolve(&self, path: &Path) -> Result<PathBuf, Miss> {
        let mut todo: VecDeque<OsString> = parts(path).collect();
        let (mut done, mut links) = (PathBuf::from("/"), 0);
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                done.pop();
                continue;
            }
            let next = done.join(&part);
            match self.host.link(&self.within(&next)) {
                Ok(to) => {
                    links += 1;
                    if links > LINKS {
                        return Err(Miss::new(MissKind::Failed, "too many links"));
                    }
                    if to.is_absolute() {
                        done = PathBuf::from("/");
                    }
                    for part in parts(&to).collect::<Vec<_>>().into_iter().rev() {
                        todo.push_front(part);
                    }
                }
                // No link, or nothing: the next question will tell.
                Err(miss) if matches!(miss.kind, MissKind::Failed | MissKind::Absent) => {
                    done = next;
                }
                Err(miss) => return Err(miss),
            }
        }
        Ok(done)
    }

    /// A path without links as we reach it through the process.
    fn within(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Where a directory that the process names lies here, or why that is unknown.
    pub fn here(&self, path: &Path) -> Reading<PathBuf> {
        let shown = safe(path_bytes(path));
        let from = format!("/proc/{}/mountinfo", self.pid);
        let unknown = |detail: String| Reading::unknown(Why::Ambiguous, detail);
        let real = match self.resolve(path) {
            Ok(real) => real,
            Err(miss) => return refused(&miss, &format!("{shown} of process {}", self.pid)),
        };
        let seen = match self.host.stat(&self.within(&real)) {
            Ok(stat) => (stat.major, stat.minor, stat.inode),
            Err(miss) => return refused(&miss, &format!("{shown} of process {}", self.pid)),
        };
        let same = |candidate: &PathBuf| {
            let found = self.ours.stat(candidate);
            found.is_ok_and(|stat| (stat.major, stat.minor, stat.inode) == seen)
        };
        if same(&real) {
            return Reading::known(real, Source::file(from));
        }
        let table = || mountinfo::read(self.host, Path::new(&from)).map(|table| table.entries);
        let theirs = match self.theirs.get_or_init(table) {
            Ok(theirs) => theirs,
            Err(miss) => return refused(miss, &from),
        };
        let over = |entry: &&mountinfo::Entry| real.starts_with(OsStr::from_bytes(&entry.point));
        // Of several on one point the last is in sight.
        let entry = theirs
            .iter()
            .filter(over)
            .max_by_key(|entry| (entry.point.len(), entry.line));
        let Some(entry) = entry else {
            return unknown(format!("{from} has no mount for {shown}"));
        };
        let rest = real
            .strip_prefix(OsStr::from_bytes(&entry.point))
            .unwrap_or(Path::new(""));
        let inner = Path::new(OsStr::from_bytes(&entry.root)).join(rest);
        let ours = self
            .here
            .iter()
            .filter(|(devno, root, _)| *devno == entry.devno && inner.starts_with(root));
        let candidates = ours
            .map(|(_, root, point)| point.join(inner.strip_prefix(root).unwrap_or(Path::new(""))));
        match candidates.map(|path| without_end(&path)).find(same) {
            Some(path) => Reading::known(path, Source::line(from, entry.line)),
            None => unknown(format!(
                "{shown} of process {} is on {} ({}, device {}), whose mount is not visible from here",
                self.pid,
                safe(&entry.source),
                safe(&entry.fstype),
                entry.devno
            )),
        }
    }
}

/// Whose the directory is that a process of this user names: his, or whoever's it is as the process
/// sees it or as we do. A process may exchange its own mounts between two questions, but not ours.
pub fn owner(
    host: &dyn Host,
    inside: Option<&Inside<'_>>,
    seen: &Path,
    here: &Path,
    user: u32,
) -> Result<u64, Miss> {
    let there = host.stat(seen)?.uid;
    match inside {
        Some(inside) if there == u64::from(user) => Ok(inside.ours.stat(here)?.uid),
        Some(_) | None => Ok(there),
    }
}

/// The path without a trailing slash, which joining an empty path leaves.
fn without_end(path: &Path) -> PathBuf {
    path.components().collect()
}

/// The names in a path, with `..` among them.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// Questions about paths are answered as the process sees them. Who users are is another question
/// in a container.
impl Host for Inside<'_> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        if let Question::UserName(_) = question {
            return Err(Miss::new(
                MissKind::NotCollected,
                "the server has users of its own",
            ));
        }
        let Some(path) = question
            .path()
            .filter(|path| !path.starts_with("/proc") && !path.starts_with("/sys"))
        else {
            return self.host.ask(question);
        };
        let real = match question {
            // The link itself is asked about, so only what leads to it is followed.
            Question::Link(_) => match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => self.resolve(parent)?.join(name),
                _ => path.clone(),
            },
            _ => self.resolve(path)?,
        };
        if let Question::RealPath(_) = question {
            // It has to exist, as for realpath(3).
            self.host.stat(&self.within(&real))?;
            return Ok(path_bytes(&real).to_vec());
        }
        let mut mapped = question.clone();
        if let Some(path) = mapped.path_mut() {
            *path = self.within(&real);
        }
        self.host.ask(&mapped)
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::Stat;
    use crate::testing::Fake;

    const MOUNTS: &str = "10 1 0:40 / / rw - overlay overlay rw\n\
        11 10 8:17 /volumes/pg /var/lib/pg rw - xfs /dev/sdb1 rw\n\
        12 10 8:33 / /wal rw - ext4 /dev/sdc1 rw\n";

    fn stat(minor: u64, inode: u64) -> Vec<u8> {
        let (mode, uid, gid, major, node_major, node_minor, size) = (0o040_755, 70, 70, 8, 0, 0, 0);
        Stat {
            mode,
            uid,
            gid,
            major,
            minor,
            node_major,
            node_minor,
            inode,
            size,
            changed: None,
        }
        .encode()
    }

    const OURS: &str =
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:17 / /srv rw - xfs /dev/sdb1 rw\n";

    fn machine() -> Fake {
        let at = |path: &str| Question::Stat(path.into());
        Fake::default()
            .file("/proc/self/mountinfo", OURS)
            .symlink("/proc/self/ns/mnt", "mnt:[1]")
            .symlink("/proc/7/ns/mnt", "mnt:[2]")
            .file("/proc/7/mountinfo", MOUNTS)
            .answer(at("/proc/7/root/var/lib/pg/data"), stat(17, 5))
            .answer(at("/srv/volumes/pg/data"), stat(17, 5))
            .answer(at("/proc/7/root/wal/pg"), stat(33, 6))
            .symlink("/proc/7/root/var/lib/pg/data/pg_wal", "/wal/pg")
            .symlink("/proc/7/root/pgdata", "var/lib/pg/data")
            .file("/proc/7/root/var/lib/pg/data/PG_VERSION", "16\n")
    }

    #[test]
    fn what_a_server_in_a_container_sees_is_found_here_and_proven() {
        let fake = machine();
        let inside = Inside::new(&fake, &fake, 7).unwrap();
        let here = |path: &str| inside.here(Path::new(path));
        assert_eq!(
            here("/pgdata").value().unwrap(),
            Path::new("/srv/volumes/pg/data")
        );
        assert_eq!(
            inside.read(Path::new("/pgdata/PG_VERSION")).unwrap(),
            b"16\n"
        );
        assert_eq!(
            inside.real_path(Path::new("/pgdata/pg_wal")).unwrap(),
            Path::new("/wal/pg")
        );
        let Reading::Unknown {
            why: Why::Ambiguous,
            detail,
            ..
        } = here("/pgdata/pg_wal")
        else {
            panic!()
        };
        assert!(detail.contains("/dev/sdc1 (ext4, device 8:33)"), "{detail}");
        // The same name here is something else.
        let fake = machine();
        let fake = fake.answer(Question::Stat("/srv/volumes/pg/data".into()), stat(17, 99));
        let inside = Inside::new(&fake, &fake, 7).unwrap();
        assert!(!inside.here(Path::new("/pgdata")).is_known());
    }

    #[test]
    fn the_same_name_space_needs_no_other_view() {
        let fake = machine();
        let (same, nothing) = (fake.symlink("/proc/7/ns/mnt", "mnt:[1]"), Fake::default());
        assert!(Inside::new(&same, &same, 7).is_none());
        assert!(Inside::new(&nothing, &nothing, 7).is_none());
    }

    proptest! {
        #[test]
        fn hostile_containers_never_fail(table: Vec<u8>, target in "[./a-z]{0,12}", path in "/[./a-z]{0,12}") {
            let fake = machine();
            let fake = fake.file("/proc/7/mountinfo", table).symlink("/proc/7/root/a", &target).symlink("/proc/7/root/b", "b/b");
            let inside = Inside::new(&fake, &fake, 7).unwrap();
            inside.here(Path::new(&path));
            inside.here(Path::new("/b"));
            let _ = inside.real_path(Path::new(&path));
        }
    }
}
