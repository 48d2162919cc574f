//! The step by which the reading child becomes the owner of what it reads.
//!
//! The child is started as root and gives that up before it reads anything: groups, user, capabilities, memory, time.
//! Setting the user before exec would fail for a program in /root, and would let the owner trace the child. The user
//! and the root directory are in its first line of input, so its arguments reveal nothing. MySQL's and MariaDB's
//! servers accept root but not their owner. For them the socket is connected as root, though found with the owner's
//! rights, and root is given up before a byte is read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{Gid, Uid, chdir, chroot, setfsgid, setfsuid, setgroups, setresgid, setresuid, setsid};

use crate::host::live::{Person, files, machine, processes};
use crate::host::owner::Owner;
use crate::host::{Miss, MissKind};

/// Writable memory in bytes: a file of a MiB and everything it is turned into, many times over.
const MEMORY_BYTES: u64 = 96 << 20;

/// Processor time in seconds. The asking process bounds the waiting.
const PROCESSOR_SECONDS: u64 = 10;

impl Owner {
    /// Gives up root for good. A refusal says why nothing may be read; the child is then useless.
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
        give_up_root(&person)
            .map_err(|miss| denied(&format!("{}, and reads nothing as root", miss.detail)))?;
        Ok(stream)
    }

    /// User and groups. Those of a process count only where its user may inspect it. A program that runs with another
    /// group may not be inspected (PR_SET_DUMPABLE in prctl(2)), and /proc then belongs to root. A process that has
    /// ended has none.
    fn person(&self) -> Person {
        let of_process = self.process.and_then(|pid| of_process(pid, self.uid));
        let alone = || Person { uid: self.uid, gid: machine::group_of(self.uid), groups: Vec::new() };
        of_process.unwrap_or_else(alone)
    }

    /// Changes to the root directory of the process, so that every path leads where it leads there, and no further.
    fn enter(&self) -> Result<(), Miss> {
        let Some(pid) = self.process.filter(|_| self.inside) else { return Ok(()) };
        let failed =
            |e: nix::Error| denied(&format!("the root of process {pid} cannot be entered: {}", e.desc()));
        chroot(Path::new(&format!("/proc/{pid}/root"))).map_err(failed)?;
        chdir("/").map_err(failed)
    }
}

/// Becomes a person and nobody else, for good: groups, user, capabilities, and no way to new ones. It leaves root's session
/// first, as whoever gets hold of this process could type into the terminal of that; the leader of a process group cannot.
fn give_up_root(person: &Person) -> Result<(), Miss> {
    let refused = |what: &str, e: nix::Error| {
        denied(&format!("walwise cannot become user {} ({what}: {})", person.uid, e.desc()))
    };
    let (uid, gid) = (Uid::from_raw(person.uid), Gid::from_raw(person.gid));
    let groups: Vec<Gid> = person.groups.iter().copied().map(Gid::from_raw).collect();
    setsid().map_err(|e| refused("setsid", e))?;
    setgroups(&groups).map_err(|e| refused("setgroups", e))?;
    setresgid(gid, gid, gid).map_err(|e| refused("setresgid", e))?;
    setresuid(uid, uid, uid).map_err(|e| refused("setresuid", e))?;
    prctl::set_no_new_privs().map_err(|e| refused("no_new_privs", e))?;
    settled(person)
}

fn of_process(pid: u32, uid: u32) -> Option<Person> {
    let status = files::read(Path::new(&format!("/proc/{pid}/status"))).ok()?;
    let of = fs::metadata(format!("/proc/{pid}")).ok()?;
    let person = processes::person(&status).filter(|person| person.uid == uid)?;
    ((of.uid(), of.gid()) == (person.uid, person.gid)).then_some(person)
}

/// Connects as root, with the owner's rights on the way to the socket, by means of setfsuid(2).
fn connect(path: &Path, person: &Person) -> Result<UnixStream, Miss> {
    setfsgid(Gid::from_raw(person.gid));
    setfsuid(Uid::from_raw(person.uid));
    UnixStream::connect(path).map_err(|e| files::miss(&e))
}

/// Limits memory and processor time, and disables core dumps.
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

/// Verifies that no privilege of root is left.
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
    Err(denied(&format!("walwise became user {} and kept rights of root", person.uid)))
}

fn denied(says: &str) -> Miss {
    Miss::new(MissKind::Denied, says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_becomes_root() {
        let root = Owner { uid: 0, process: None, inside: false, socket: None };
        assert_eq!(root.become_it().unwrap_err().kind, MissKind::Denied);
    }
}
