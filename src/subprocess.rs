//! A subprocess: our own program again, in a role of its own, which exchanges messages with us.
//!
//! A process that touches a file on a dead server can neither be interrupted nor exit, and root that reads for somebody
//! has to give up its rights for good. A subprocess does such work, and we wait for its messages until a deadline. The
//! work itself is left to the role, which is the only argument, as everybody can read arguments. All else goes over a
//! socket, which is its standard output. An abandoned subprocess learns of it as the socket closes, and cleans up as soon
//! as the kernel releases it; one that writes is therefore not killed.

mod bytes;
mod channel;
pub mod credentials;

pub use bytes::Bytes;
pub use channel::{Channel, RecvError};

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::SigSet;
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// The time that walwise waits for a message of a subprocess that looks or reads.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Our own program, even when its file was replaced.
pub const PROGRAM: &str = "/proc/self/exe";

/// What a subprocess does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Answers questions about the machine.
    Ask,
    /// The same as another user.
    AskAs,
    /// Removes the scratch directory when we are gone.
    Watch,
    /// Makes the namespaces of a trial.
    TrialBetween,
    /// Is the first process in them.
    TrialInside,
    /// The same two for a trial on a disk, which is cleared when we are gone.
    TrialBetweenDisk,
    TrialInsideDisk,
    /// Writes a document.
    Write,
    /// Reads what a user named.
    Read,
    /// Writes and reads for a drill.
    Drill,
}

impl Role {
    const ALL: [Self; 10] = [
        Self::Ask,
        Self::AskAs,
        Self::Watch,
        Self::TrialBetween,
        Self::TrialInside,
        Self::TrialBetweenDisk,
        Self::TrialInsideDisk,
        Self::Write,
        Self::Read,
        Self::Drill,
    ];

    /// The role of this process by its arguments, the program's name first; `None` where a user started it.
    pub fn of(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let word = arguments.nth(1)?;
        Self::ALL.into_iter().find(|role| word == OsStr::new(role.argument()))
    }

    fn argument(self) -> &'static str {
        match self {
            Self::Ask => "__ask",
            Self::AskAs => "__ask-as",
            Self::Watch => "__watch",
            Self::TrialBetween => "__trial-between",
            Self::TrialInside => "__trial-inside",
            Self::TrialBetweenDisk => "__trial-between-disk",
            Self::TrialInsideDisk => "__trial-inside-disk",
            Self::Write => "__write",
            Self::Read => "__read",
            Self::Drill => "__drill",
        }
    }

    /// Whether a terminal's signals, such as a hangup, reach us alone.
    fn has_own_group(self) -> bool {
        match self {
            Self::Ask | Self::TrialBetween | Self::TrialBetweenDisk | Self::Write | Self::Drill => true,
            // The first two leave the session, which the leader of a group cannot; those inside are in the group of the
            // one between; what reads leaves nothing behind.
            Self::AskAs | Self::Watch | Self::TrialInside | Self::TrialInsideDisk | Self::Read => false,
        }
    }

    /// Begins this process in its role; returns its end of the channel.
    pub fn begin(self) -> io::Result<Channel> {
        match self {
            // They clean up when we are gone, whatever signal ended us.
            Self::Watch | Self::Write => SigSet::all().thread_block()?,
            // The kernel kills them when their parent is gone.
            Self::TrialBetween | Self::TrialInside => set_parent_process_death_signal(Some(Signal::KILL))?,
            // The end of the channel ends them.
            Self::Ask
            | Self::AskAs
            | Self::TrialBetweenDisk
            | Self::TrialInsideDisk
            | Self::Read
            | Self::Drill => {}
        }
        Channel::home()
    }

    /// Runs another subprocess at our own end of the channel, and waits for it.
    pub fn run(self) -> io::Result<ExitStatus> {
        command(PROGRAM, self).stdin(Stdio::null()).status()
    }
}

fn command(program: impl AsRef<OsStr>, role: Role) -> Command {
    let mut command = Command::new(program);
    command.arg(role.argument()).env_clear().stderr(Stdio::null());
    command
}

/// A running subprocess.
pub struct Subprocess {
    child: Child,
    pub channel: Channel,
}

impl Subprocess {
    /// Starts our own program in a role, with a request.
    pub fn spawn(role: Role, request: &impl Serialize) -> io::Result<Self> {
        // It may have to read our standard input.
        let stdin = if role == Role::Read { Stdio::inherit() } else { Stdio::null() };
        let mut child = Self::of(PROGRAM, role, stdin)?;
        // One that has ended by now has said why.
        let _ = child.channel.send(request);
        Ok(child)
    }

    /// Starts this program, ours or one that tests built, in a role.
    pub fn of(program: impl AsRef<OsStr>, role: Role, stdin: Stdio) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        // One that does not read must not block us.
        ours.set_write_timeout(Some(PATIENCE))?;
        let mut command = command(program, role);
        if role.has_own_group() {
            command.process_group(0);
        }
        let child = command.stdin(stdin).stdout(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        Ok(Self { child, channel: Channel::new(ours) })
    }

    /// Whether it has ended, though others may still hold its end of the channel.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits for one that has reported its completion.
    pub fn wait(mut self) {
        let _ = self.channel.shutdown(Shutdown::Both);
        let _ = self.child.wait();
    }

    /// Tells it that we say nothing more, and hears what it still says until it ends; at most this long for each message.
    pub fn close<T: DeserializeOwned>(mut self, timeout: Duration, mut heard: impl FnMut(T)) {
        let _ = self.channel.shutdown(Shutdown::Write);
        while let Ok(message) = self.channel.recv(Some(timeout)) {
            heard(message);
        }
        self.kill();
    }

    /// Kills it, and waits in the same way for all others who hold its end of the channel.
    pub fn end(mut self, timeout: Duration) {
        let _ = self.child.kill();
        self.close(timeout, |_: IgnoredAny| ());
    }

    /// Kills one that may be stuck, without waiting: the kill takes effect when the kernel releases it.
    pub fn kill(self) {
        kill(self.child, false);
    }

    /// Kills one that is idle, and leaves its exit to [`reap`].
    pub fn retire(self) {
        kill(self.child, true);
    }
}

/// What was killed, and whether it was idle. Those exit while the output is written, which takes about as long.
static KILLED: Mutex<Vec<(Child, bool)>> = Mutex::new(Vec::new());

fn killed() -> MutexGuard<'static, Vec<(Child, bool)>> {
    KILLED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill(mut child: Child, is_idle: bool) {
    let _ = child.kill();
    let mut killed = killed();
    killed.push((child, is_idle));
    killed.retain_mut(|(child, _)| matches!(child.try_wait(), Ok(None)));
}

/// Waits for what was killed while idle, as `main` does last; this cannot block.
pub fn reap() {
    for (mut child, _) in std::mem::take(&mut *killed()).into_iter().filter(|(_, is_idle)| *is_idle) {
        let _ = child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(words: &[&str]) -> Option<Role> {
        Role::of(words.iter().map(OsString::from))
    }

    #[test]
    fn a_role_is_the_first_argument() {
        for known in Role::ALL {
            assert_eq!(role(&["walwise", known.argument()]), Some(known));
        }
        for ordinary in [&["walwise", "check", "__ask"][..], &["walwise"], &["__ask"], &[]] {
            assert_eq!(role(ordinary), None, "{ordinary:?}");
        }
    }

    #[test]
    fn what_says_nothing_is_closed_and_left() {
        let mut child = Subprocess::of("/bin/true", Role::Ask, Stdio::null()).unwrap();
        assert_eq!(child.channel.recv::<()>(Some(PATIENCE)), Err(RecvError::Closed));
        child.retire();
        reap();
    }
}
