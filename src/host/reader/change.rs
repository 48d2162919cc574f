//! The step by which the reading child becomes the owner of what it reads.
//!
//! The child is started as root and gives that up before it reads anything. The user and the root directory are in its
//! first message, so its arguments reveal nothing. MySQL's and MariaDB's servers accept root but not their owner. For
//! them the socket is connected as root, though found with the owner's rights, and root is given up before a byte is
//! read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::host::live::{files, machine, processes};
use crate::host::owner::Owner;
use crate::host::{Miss, MissKind};
use crate::subprocess::credentials::Credentials;

impl Owner {
    /// Gives up root for good. A refusal says why nothing may be read; the child is then useless.
    pub fn become_it(&self) -> Result<Option<UnixStream>, Miss> {
        // Whatever fails here is a refusal: that nobody could look does not make anything absent.
        let denied = |says: String| Miss::new(MissKind::Denied, says);
        files::hold_proc().map_err(|miss| denied(miss.detail))?;
        // Every path leads where it leads for the process, and no further.
        let root = self.process.filter(|_| self.inside).map(|pid| PathBuf::from(format!("/proc/{pid}/root")));
        let socket = self.socket.clone().map(PathBuf::from);
        self.credentials().assume(root.as_deref(), socket.as_deref()).map_err(denied)
    }

    /// User and groups. Those of a process count only where its user may inspect it. A program that runs with another
    /// group may not be inspected (PR_SET_DUMPABLE in prctl(2)), and /proc then belongs to root. A process that has
    /// ended has none.
    fn credentials(&self) -> Credentials {
        let of_process = self.process.and_then(|pid| of_process(pid, self.uid));
        let alone = || Credentials { uid: self.uid, gid: machine::group_of(self.uid), groups: Vec::new() };
        of_process.unwrap_or_else(alone)
    }
}

fn of_process(pid: u32, uid: u32) -> Option<Credentials> {
    let status = files::read(Path::new(&format!("/proc/{pid}/status"))).ok()?;
    let of = fs::metadata(format!("/proc/{pid}")).ok()?;
    let found = processes::credentials(&status).filter(|found| found.uid == uid)?;
    ((of.uid(), of.gid()) == (found.uid, found.gid)).then_some(found)
}
