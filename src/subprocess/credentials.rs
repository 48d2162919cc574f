//! The step by which a subprocess of root becomes somebody else for good.
//!
//! It gives up everything before it reads anything: memory, time, session, groups, user, capabilities. Setting the user
//! before exec would fail for a program in /root, and would let him trace it.

use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{Gid, Uid, chdir, chroot, setfsgid, setfsuid, setgroups, setresgid, setresuid, setsid};

use crate::text::error_words;

/// Writable memory in bytes: a file of a MiB and everything it is turned into, many times over.
const MEMORY_BYTES: u64 = 96 << 20;

/// Processor time in seconds. The asking process bounds the waiting.
const PROCESSOR_SECONDS: u64 = 10;

/// A user and his groups, as a process has them (credentials(7)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub uid: u32,
    pub gid: u32,
    /// The supplementary ones.
    pub groups: Vec<u32>,
}

impl Credentials {
    /// Gives up root for good, in this root directory. A socket is connected before, though found with the user's rights.
    /// A refusal says why nothing may be read; the subprocess is then useless.
    pub fn assume(&self, root: Option<&Path>, socket: Option<&Path>) -> Result<Option<UnixStream>, String> {
        if self.uid == 0 {
            return Err("nothing is read as root on behalf of somebody".to_owned());
        }
        // Another root directory has another /proc.
        let status = File::open("/proc/self/status").map_err(|e| error_words(&e))?;
        limit().map_err(|e| format!("its limits cannot be set: {}", e.desc()))?;
        if let Some(root) = root {
            let entered = chroot(root).and_then(|()| chdir("/"));
            entered.map_err(|e| format!("{} cannot be entered: {}", root.display(), e.desc()))?;
        }
        let stream = socket.map(|path| self.connect(path)).transpose()?;
        self.give_up_root()
            .and_then(|()| self.check(status))
            .map_err(|why| format!("{why}, and reads nothing as root"))?;
        Ok(stream)
    }

    /// Connects as root, with the user's rights on the way to the socket, by means of setfsuid(2).
    fn connect(&self, path: &Path) -> Result<UnixStream, String> {
        setfsgid(Gid::from_raw(self.gid));
        setfsuid(Uid::from_raw(self.uid));
        UnixStream::connect(path).map_err(|e| error_words(&e))
    }

    /// Groups, user, capabilities, and no way to new ones. It leaves root's session first, as whoever gets hold of this
    /// process could type into the terminal of that; the leader of a process group cannot.
    fn give_up_root(&self) -> Result<(), String> {
        let refused =
            |what, e: Errno| format!("walwise cannot become user {} ({what}: {})", self.uid, e.desc());
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        let groups: Vec<Gid> = self.groups.iter().copied().map(Gid::from_raw).collect();
        setsid().map_err(|e| refused("setsid", e))?;
        setgroups(&groups).map_err(|e| refused("setgroups", e))?;
        setresgid(gid, gid, gid).map_err(|e| refused("setresgid", e))?;
        setresuid(uid, uid, uid).map_err(|e| refused("setresuid", e))?;
        prctl::set_no_new_privs().map_err(|e| refused("no_new_privs", e))
    }

    /// Verifies that no privilege of root is left: real, effective, saved and file-system ids, and every capability.
    fn check(&self, mut status: File) -> Result<(), String> {
        let mut text = String::new();
        status.read_to_string(&mut text).map_err(|e| error_words(&e))?;
        let ids = |word, id| format!("{word}\t{id}\t{id}\t{id}\t{id}");
        let none = |word| format!("{word}\t{:016x}", 0);
        let capabilities = ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"].map(none);
        let wanted = [ids("Uid:", self.uid), ids("Gid:", self.gid)].into_iter().chain(capabilities);
        if wanted.into_iter().all(|wanted| text.lines().any(|line| line == wanted)) {
            return Ok(());
        }
        Err(format!("walwise became user {} and kept rights of root", self.uid))
    }
}

/// Limits memory and processor time, and disables core dumps.
fn limit() -> Result<(), Errno> {
    let limits = [
        (Resource::RLIMIT_DATA, MEMORY_BYTES),
        (Resource::RLIMIT_CPU, PROCESSOR_SECONDS),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, 0),
    ];
    limits.into_iter().try_for_each(|(what, limit)| setrlimit(what, limit, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_becomes_root() {
        let root = Credentials { uid: 0, gid: 0, groups: Vec::new() };
        assert!(root.assume(None, None).unwrap_err().contains("as root"));
    }
}
