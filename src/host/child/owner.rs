//! How the reading child becomes the owner of what it reads.
//!
//! It is started as root and gives that up before it reads anything: groups, user, capabilities, memory, time. Setting the
//! user before the program is executed would fail for one that lies in /root, and would let the owner trace the child. Who
//! it becomes and where is said in its first line of input, so nothing of it stands among its arguments. The surprise:
//! MySQL's and MariaDB's servers let root in and not their owner, so for them the socket is connected as root, though
//! found with the rights of the owner, and the rest of root is given up before a byte is read.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{Gid, Uid, chdir, chroot, setfsgid, setfsuid, setgroups, setresgid, setresuid};

use super::super::live::{Person, files, machine, processes};
use crate::host::{Miss, MissKind, path_bytes};
use crate::text;

/// The word that the first line of input begins with.
const WORD: &str = "owner";

/// Memory that may be written to, in bytes: a file of a MiB with what it is turned into, many times over.
const MEMORY_BYTES: u64 = 96 << 20;

/// Processor time, in seconds. Waiting is bounded by who asks.
const PROCESSOR_SECONDS: u64 = 10;

/// Whom the child becomes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The user, who is not root.
    pub uid: u32,
    /// A process of his, whose groups are taken; without one his group in /etc/passwd is, and no other.
    pub process: Option<u32>,
    /// Whether paths are those that the process sees, from its own root.
    pub inside: bool,
    /// The socket that is connected before, while the child still is root.
    pub socket: Option<PathBuf>,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uid, process, inside, socket } = self;
        let process = process.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
        let place = if *inside { "inside" } else { "here" };
        write!(f, "{WORD} {uid} {process} {place}")?;
        match socket {
            Some(path) => write!(f, " {}", text::safe(path_bytes(path))),
            None => Ok(()),
        }
    }
}

impl Owner {
    /// The inverse of its display form.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let is_one = words.next()? == WORD;
        let uid = words.next()?.parse().ok()?;
        let process = match words.next()? {
            "-" => None,
            pid => Some(pid.parse().ok()?),
        };
        let inside = match words.next()? {
            "inside" => true,
            "here" => false,
            _ => return None,
        };
        let socket = words.next().map(|path| PathBuf::from(OsString::from_vec(text::raw(path))));
        is_one.then_some(Self { uid, process, inside, socket })
    }

    /// Gives up being root for good. The refusal says why nothing may be read; then the child is of no use.
    pub fn become_it(&self) -> Result<Option<UnixStream>, Miss> {
        // Whatever fails here is a refusal: that nobody could look does not make anything absent.
        self.change().map_err(|miss| Miss::new(MissKind::Denied, miss.detail))
    }

    fn change(&self) -> Result<Option<UnixStream>, Miss> {
        if self.uid == 0 {
            return Err(denied("nothing is read as root on behalf of somebody"));
        }
        files::hold_proc()?;
        let person = self.person();
        limit()?;
        self.enter()?;
        let stream = self.socket.as_deref().map(|path| connect(path, &person)).transpose()?;
        let refused = |what: &str, e: nix::Error| {
            denied(&format!(
                "walwise cannot become user {} ({what}: {}), and reads nothing as root",
                self.uid,
                e.desc()
            ))
        };
        let (uid, gid) = (Uid::from_raw(person.uid), Gid::from_raw(person.gid));
        let groups: Vec<Gid> = person.groups.iter().copied().map(Gid::from_raw).collect();
        setgroups(&groups).map_err(|e| refused("setgroups", e))?;
        setresgid(gid, gid, gid).map_err(|e| refused("setresgid", e))?;
        setresuid(uid, uid, uid).map_err(|e| refused("setresuid", e))?;
        prctl::set_no_new_privs().map_err(|e| refused("no_new_privs", e))?;
        settled(&person)?;
        Ok(stream)
    }

    /// User and groups. Those of a process count only where it may be looked at by its user: a program that runs with
    /// somebody else's group may not (PR_SET_DUMPABLE in prctl(2)), and then /proc gives it to root. A process that has
    /// ended since has none.
    fn person(&self) -> Person {
        let of_process = self.process.and_then(|pid| of_process(pid, self.uid));
        let alone = || Person { uid: self.uid, gid: machine::group_of(self.uid), groups: Vec::new() };
        of_process.unwrap_or_else(alone)
    }

    /// Takes the root of the process for its own, so that every path leads where it leads there, and no further.
    fn enter(&self) -> Result<(), Miss> {
        let Some(pid) = self.process.filter(|_| self.inside) else { return Ok(()) };
        let failed =
            |e: nix::Error| denied(&format!("the root of process {pid} cannot be entered: {}", e.desc()));
        chroot(Path::new(&format!("/proc/{pid}/root"))).map_err(failed)?;
        chdir("/").map_err(failed)
    }
}

fn of_process(pid: u32, uid: u32) -> Option<Person> {
    let status = files::read(Path::new(&format!("/proc/{pid}/status"))).ok()?;
    let of = fs::metadata(format!("/proc/{pid}")).ok()?;
    let person = processes::person(&status).filter(|person| person.uid == uid)?;
    ((of.uid(), of.gid()) == (person.uid, person.gid)).then_some(person)
}

/// Connects as root, with the rights of the owner on the way to the socket: that is what setfsuid(2) is for.
fn connect(path: &Path, person: &Person) -> Result<UnixStream, Miss> {
    setfsgid(Gid::from_raw(person.gid));
    setfsuid(Uid::from_raw(person.uid));
    UnixStream::connect(path).map_err(|e| files::miss(&e))
}

/// Bounds memory and time, and allows no core.
fn limit() -> Result<(), Miss> {
    let limits = [
        (Resource::RLIMIT_DATA, MEMORY_BYTES),
        (Resource::RLIMIT_CPU, PROCESSOR_SECONDS),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, 0),
    ];
    for (what, limit) in limits {
        setrlimit(what, limit, limit)
            .map_err(|e| denied(&format!("its limits cannot be set: {}", e.desc())))?;
    }
    Ok(())
}

/// Looks whether nothing of root is left.
fn settled(person: &Person) -> Result<(), Miss> {
    let status = files::own_status()?;
    let text = String::from_utf8_lossy(&status);
    let none = |word: &str| {
        let set = text.lines().find_map(|line| line.strip_prefix(word));
        set.is_some_and(|set| set.trim().bytes().all(|digit| digit == b'0'))
    };
    let bare = ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"].into_iter().all(none);
    if bare && processes::numbers(&status) == Some((person.uid, person.gid)) {
        return Ok(());
    }
    Err(denied(&format!("walwise became user {} and kept rights of root, so it reads nothing", person.uid)))
}

fn denied(says: &str) -> Miss {
    Miss::new(MissKind::Denied, says)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_says_whom(uid: u32, process: Option<u32>, inside: bool, socket: Option<Vec<u8>>) {
            let socket = socket.map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
            let owner = Owner { uid, process, inside, socket };
            let line = owner.to_string();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(Owner::parse(&line), Some(owner));
        }

        #[test]
        fn other_lines_say_nobody(line: String) {
            prop_assume!(!line.starts_with(WORD));
            prop_assert_eq!(Owner::parse(&line), None);
        }
    }

    #[test]
    fn nobody_becomes_root() {
        let root = Owner { uid: 0, process: None, inside: false, socket: None };
        assert_eq!(root.become_it().unwrap_err().kind, MissKind::Denied);
    }
}
