//! Processes in another mount namespace, such as servers in containers. Files are read through
//! /proc/PID/root, and directories of the process are mapped to paths in walwise's namespace.
//!
//! Symbolic links are resolved here, one by one, because an absolute link starts at the process's
//! root. A mapped path is derived from both mount tables (device, root, mount point), then proven:
//! both paths must have the same device and inode.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use super::server_processes::verified_real_path;
use super::user_host::UserHost;
use crate::facts::{Reading, Source};
use crate::host::{Host, HostError, HostErrorKind, HostResult, Question, path_bytes};
use crate::host_readings::{error_reading, syscall_reading};
use crate::mountinfo::{self, MountEntry};
use crate::text::{display_path, display_safe};
use crate::visibility;

/// The kernel's limit of symbolic links in one path (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// The host as a server's process sees it.
pub struct ServerHost<'a> {
    /// The host with the rights of the server's user.
    user: UserHost<'a>,
    /// The host with walwise's own rights, for installed programs, and for directories that the
    /// process's user cannot reach in walwise's mount namespace.
    pub invoker: &'a dyn Host,
    /// The process's mount namespace, if that differs from walwise's.
    pub namespace: Option<MountNamespace>,
}

pub struct MountNamespace {
    pid: u32,
    our_mounts: Vec<MountEntry>,
    /// The process's mount table, read at the first use because it may be long.
    process_mounts: OnceLock<Result<Vec<MountEntry>, HostError>>,
}

impl MountNamespace {
    /// `None` if the process shares walwise's mount namespace, or if that is unknown.
    fn read_if_different(user: &dyn Host, invoker: &dyn Host, pid: u32) -> Option<Self> {
        let own = user.link_target(Path::new("/proc/self/ns/mnt")).ok()?;
        let theirs = user
            .link_target(Path::new(&format!("/proc/{pid}/ns/mnt")))
            .ok()?;
        if own == theirs {
            return None;
        }
        let table = mountinfo::read_mountinfo(invoker, Path::new("/proc/self/mountinfo"));
        let entries = table.unwrap_or_default().entries;
        let in_sight = visibility::are_mounts_visible(&entries);
        let here = entries
            .into_iter()
            .zip(in_sight)
            .filter_map(|(entry, visible)| visible.then_some(entry));
        Some(Self {
            pid,
            our_mounts: here.collect(),
            process_mounts: OnceLock::new(),
        })
    }

    /// The path below /proc/PID/root of the process's `path`. The directories above `path` must not
    /// be links, because an absolute link would start at walwise's root.
    fn proc_root_path(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.pid));
        root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn resolve_links(&self, user: &dyn Host, path: &Path) -> Result<PathBuf, HostError> {
        let mut todo: VecDeque<OsString> = path_components(path).collect();
        let (mut done, mut links) = (PathBuf::from("/"), 0);
        while let Some(part) = todo.pop_front() {
            if part == ".." {
                done.pop();
                continue;
            }
            let next = done.join(&part);
            match user.link_target(&self.proc_root_path(&next)) {
                Ok(to) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(HostError::failed("too many symbolic links"));
                    }
                    if to.is_absolute() {
                        done = PathBuf::from("/");
                    }
                    for part in path_components(&to).collect::<Vec<_>>().into_iter().rev() {
                        todo.push_front(part);
                    }
                }
                // The path is missing or is not a link; the caller's next query shows which of the
                // two.
                Err(miss) if matches!(miss.kind, HostErrorKind::Failed | HostErrorKind::Absent) => {
                    done = next;
                }
                Err(miss) => return Err(miss),
            }
        }
        Ok(done)
    }
}

impl<'a> ServerHost<'a> {
    /// `uid` is the server's user, and `pid` its process, if one is running.
    pub fn new(invoker: &'a dyn Host, uid: u32, pid: Option<u32>) -> Self {
        let user = UserHost::new(invoker, uid);
        Self {
            namespace: pid.and_then(|pid| MountNamespace::read_if_different(&user, invoker, pid)),
            user,
            invoker,
        }
    }

    /// The path of the process's directory in walwise's mount namespace. The reading is known only
    /// if both paths have the same device and inode. In a shared namespace that is the path itself,
    /// with the given source.
    pub fn host_path(&self, path: &Path, source: Source) -> Reading<PathBuf> {
        let Some(namespace) = &self.namespace else {
            return Reading::known(path.to_owned(), source);
        };
        let shown = format!("{} of process {}", display_path(path), namespace.pid);
        let resolved = namespace.resolve_links(&self.user, path).and_then(|real| {
            let stat = self.user.stat(&namespace.proc_root_path(&real))?;
            Ok((real, stat.file_id()))
        });
        let (real, seen) = match resolved {
            Ok(resolved) => resolved,
            Err(miss) => return error_reading(&miss, &shown),
        };
        let same = |candidate: &PathBuf| {
            let found = self.invoker.stat(candidate);
            found.is_ok_and(|stat| stat.file_id() == seen)
        };
        let from = format!("/proc/{}/mountinfo", namespace.pid);
        // Most paths are equal in both namespaces, so the unmapped path is tried first.
        if same(&real) {
            return Reading::known(real, Source::from_file(from));
        }
        let table =
            || mountinfo::read_mountinfo(&self.user, Path::new(&from)).map(|table| table.entries);
        let theirs = match namespace.process_mounts.get_or_init(table) {
            Ok(theirs) => theirs,
            Err(miss) => return error_reading(miss, &from),
        };
        // Of several mounts on one mount point, the last one hides the others, so the last match
        // counts.
        let entry = theirs
            .iter()
            .filter_map(|entry| {
                let rest = real.strip_prefix(OsStr::from_bytes(&entry.point)).ok()?;
                Some((entry, rest))
            })
            .max_by_key(|(entry, _)| (entry.point.len(), entry.line));
        let Some((entry, rest)) = entry else {
            return Reading::ambiguous(format!("{from} has no mount for {}", display_path(path)));
        };
        let inner = Path::new(OsStr::from_bytes(&entry.root)).join(rest);
        let mut candidates = namespace
            .our_mounts
            .iter()
            .filter(|ours| ours.devno == entry.devno)
            .filter_map(|ours| {
                let rest = inner.strip_prefix(OsStr::from_bytes(&ours.root)).ok()?;
                let path = Path::new(OsStr::from_bytes(&ours.point)).join(rest);
                // `join` with an empty path leaves a trailing slash.
                Some(path.components().collect())
            });
        match candidates.find(same) {
            Some(path) => Reading::known(path, Source::from_file_line(from, entry.line)),
            None => Reading::ambiguous(format!(
                "{shown} is on {} ({}, device {}), a mount that is not visible from here",
                display_safe(&entry.source),
                display_safe(&entry.fstype),
                entry.devno
            )),
        }
    }

    /// The path of the process's directory in walwise's mount namespace, with links resolved.
    pub fn real_host_directory(&self, path: &Path) -> Reading<String> {
        let call = format!("realpath {}", display_path(path));
        syscall_reading(verified_real_path(self, path), &call)
            .and_then_reading(|real, source| self.host_path(&real, source))
            .map(|here| display_path(&here))
    }

    /// The directory's path is `seen` for the process and `here` for walwise. For a process in
    /// another mount namespace, the result is the owner of `here` if `seen` belongs to `user`: the
    /// process can change its own mounts between two queries, but not walwise's.
    pub fn directory_owner_uid(
        &self,
        seen: &Path,
        here: &Path,
        user: u32,
    ) -> Result<u64, HostError> {
        let there = self.stat(seen)?.uid;
        if self.namespace.is_some() && there == u64::from(user) {
            Ok(self.invoker.stat(here)?.uid)
        } else {
            Ok(there)
        }
    }
}

fn path_components(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// In another mount namespace, paths are those of the process, and user names are refused: a
/// container has its own user database.
impl Host for ServerHost<'_> {
    fn ask(&self, question: &Question) -> HostResult {
        let Some(namespace) = &self.namespace else {
            return self.user.ask(question);
        };
        if let Question::UserName(_) = question {
            return Err(HostError::new(
                HostErrorKind::NotCollected,
                "the server's mount namespace has its own user database",
            ));
        }
        let Some(path) = question
            .path()
            .filter(|path| !path.starts_with("/proc") && !path.starts_with("/sys"))
        else {
            return self.user.ask(question);
        };
        let real = match question {
            // The query is about the link itself, so only the parent directory is resolved.
            Question::Link(_) => match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => {
                    namespace.resolve_links(&self.user, parent)?.join(name)
                }
                _ => path.clone(),
            },
            _ => namespace.resolve_links(&self.user, path)?,
        };
        if let Question::RealPath(_) = question {
            // realpath(3) requires the path to exist.
            self.user.stat(&namespace.proc_root_path(&real))?;
            return Ok(path_bytes(&real).to_vec());
        }
        let mut mapped = question.clone();
        if let Some(path) = mapped.path_mut() {
            *path = namespace.proc_root_path(&real);
        }
        self.user.ask(&mapped)
    }

    fn is_live(&self) -> bool {
        self.invoker.is_live()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::UnknownReason;
    use crate::host::Stat;
    use crate::testing::{FakeHost, ZERO_STAT};

    const MOUNTS: &str = "10 1 0:40 / / rw - overlay overlay rw\n\
        11 10 8:17 /volumes/pg /var/lib/pg rw - xfs /dev/sdb1 rw\n\
        12 10 8:33 / /wal rw - ext4 /dev/sdc1 rw\n";

    fn stat_answer(minor: u64, inode: u64) -> Vec<u8> {
        Stat {
            mode: 0o040_755,
            uid: 70,
            gid: 70,
            major: 8,
            minor,
            inode,
            ..ZERO_STAT
        }
        .encode()
    }

    const OURS: &str =
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:17 / /srv rw - xfs /dev/sdb1 rw\n";

    fn host_with_container() -> FakeHost {
        let at = |path: &str| Question::Stat(path.into());
        FakeHost::default()
            .with_file("/proc/self/mountinfo", OURS)
            .with_symlink("/proc/self/ns/mnt", "mnt:[1]")
            .with_symlink("/proc/7/ns/mnt", "mnt:[2]")
            .with_file("/proc/7/mountinfo", MOUNTS)
            .with_answer(at("/proc/7/root/var/lib/pg/data"), stat_answer(17, 5))
            .with_answer(at("/srv/volumes/pg/data"), stat_answer(17, 5))
            .with_answer(at("/proc/7/root/wal/pg"), stat_answer(33, 6))
            .with_symlink("/proc/7/root/var/lib/pg/data/pg_wal", "/wal/pg")
            .with_symlink("/proc/7/root/pgdata", "var/lib/pg/data")
            .with_file("/proc/7/root/var/lib/pg/data/PG_VERSION", "16\n")
    }

    #[test]
    fn container_paths_map_to_verified_host_paths() {
        let fake = host_with_container();
        let inside = ServerHost::new(&fake, 70, Some(7));
        let source = || Source::from_system_call("test");
        let here = |path: &str| inside.host_path(Path::new(path), source());
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
            why: UnknownReason::Ambiguous,
            detail,
            ..
        } = here("/pgdata/pg_wal")
        else {
            panic!()
        };
        assert!(detail.contains("/dev/sdc1 (ext4, device 8:33)"), "{detail}");
        // In walwise's mount namespace, /srv/volumes/pg/data leads to another directory, with inode
        // 99.
        let fake = host_with_container();
        let fake = fake.with_answer(
            Question::Stat("/srv/volumes/pg/data".into()),
            stat_answer(17, 99),
        );
        let inside = ServerHost::new(&fake, 70, Some(7));
        assert!(!inside.host_path(Path::new("/pgdata"), source()).is_known());
    }

    #[test]
    fn process_in_own_mount_namespace_needs_no_namespace_host() {
        let fake = host_with_container();
        let (same, nothing) = (
            fake.with_symlink("/proc/7/ns/mnt", "mnt:[1]"),
            FakeHost::default(),
        );
        for host in [same, nothing] {
            assert!(MountNamespace::read_if_different(&host, &host, 7).is_none());
        }
    }

    proptest! {
        #[test]
        fn arbitrary_container_mounts_never_panic(table: Vec<u8>, target in "[./a-z]{0,12}", path in "/[./a-z]{0,12}") {
            let fake = host_with_container();
            let fake = fake.with_file("/proc/7/mountinfo", table).with_symlink("/proc/7/root/a", &target).with_symlink("/proc/7/root/b", "b/b");
            let inside = ServerHost::new(&fake, 70, Some(7));
            for path in [path.as_str(), "/b"] {
                inside.host_path(Path::new(path), Source::from_system_call("test"));
            }
            let _ = inside.real_path(Path::new(&path));
        }
    }
}
