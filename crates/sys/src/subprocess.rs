//! Starts walwise itself as a subprocess with another role, and exchanges messages with it.
//!
//! A process that touches a file on a dead server can neither be interrupted nor exit. A process of
//! root that reads for another user has to give up its rights for good. A subprocess does such
//! work, and the parent waits for its messages until a deadline. The role is the only argument,
//! because other users can read arguments. All other data travels over a socket, which is the
//! subprocess's standard output. When the socket closes, a subprocess that writes files cleans up,
//! so the parent does not kill it.

pub(crate) mod credentials {
    //! Changes a subprocess of root irrevocably to another user.
    //!
    //! Before the subprocess reads anything, it limits its memory and processor time, leaves root's
    //! session, and gives up root's groups, user and capabilities. A change of user before exec
    //! would fail for a program in /root, and would let that user trace the subprocess.

    use std::fs::File;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::path::Path;

    use nix::errno::Errno;
    use nix::sys::prctl;
    use nix::sys::resource::{Resource, setrlimit};
    use nix::unistd::{
        Gid, Uid, chdir, chroot, setfsgid, setfsuid, setgroups, setresgid, setresuid, setsid,
    };

    use crate::text::io_error_message;

    /// Limit on writable memory, in bytes: a file of 1 MiB and everything derived from it, with
    /// ample reserve.
    const MEMORY_BYTES: u64 = 96 << 20;

    /// Processor time in seconds; the parent limits the waiting time separately.
    const PROCESSOR_SECONDS: u64 = 10;

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct Credentials {
        pub uid: u32,
        pub gid: u32,
        pub groups: Vec<u32>,
    }

    impl Credentials {
        /// Gives up root for good, after changing to the root directory `root`. Root connects to
        /// the socket, but with the user's rights on the socket's path. After an error the
        /// subprocess must not read anything.
        pub(crate) fn drop_privileges_and_connect(
            &self,
            root: Option<&Path>,
            socket: Option<&Path>,
        ) -> Result<Option<UnixStream>, String> {
            if self.uid == 0 {
                return Err("walwise reads nothing as root on behalf of another user".to_owned());
            }
            // Opened before chroot, because /proc may differ or be missing in another root
            // directory.
            let status = File::open("/proc/self/status").map_err(|e| io_error_message(&e))?;
            set_resource_limits()
                .map_err(|e| format!("resource limits cannot be set: {}", e.desc()))?;
            if let Some(root) = root {
                let entered = chroot(root).and_then(|()| chdir("/"));
                entered.map_err(|e| {
                    format!(
                        "the root directory cannot be changed to {}: {}",
                        root.display(),
                        e.desc()
                    )
                })?;
            }
            let stream = socket.map(|path| self.connect_as_user(path)).transpose()?;
            self.become_user()
                .and_then(|()| self.verify_privileges_dropped(status))
                .map_err(|why| format!("{why}, so nothing was read"))?;
            Ok(stream)
        }

        /// Connects to the socket as root, but resolves its path with the user's rights
        /// (setfsuid(2)).
        fn connect_as_user(&self, path: &Path) -> Result<UnixStream, String> {
            setfsgid(Gid::from_raw(self.gid));
            setfsuid(Uid::from_raw(self.uid));
            UnixStream::connect(path).map_err(|e| io_error_message(&e))
        }

        /// Changes session, groups and user. The process leaves root's session first: in it, an
        /// attacker who takes over the process could type into root's terminal.
        fn become_user(&self) -> Result<(), String> {
            let refused = |what, e: Errno| {
                format!(
                    "walwise cannot become user {} ({what}: {})",
                    self.uid,
                    e.desc()
                )
            };
            let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
            let groups: Vec<Gid> = self.groups.iter().copied().map(Gid::from_raw).collect();
            setsid().map_err(|e| refused("setsid", e))?;
            setgroups(&groups).map_err(|e| refused("setgroups", e))?;
            setresgid(gid, gid, gid).map_err(|e| refused("setresgid", e))?;
            setresuid(uid, uid, uid).map_err(|e| refused("setresuid", e))?;
            prctl::set_no_new_privs().map_err(|e| refused("no_new_privs", e))
        }

        /// Verifies that no privilege of root is left: real, effective, saved and file-system ids,
        /// and every capability.
        fn verify_privileges_dropped(&self, mut status: File) -> Result<(), String> {
            let mut text = String::new();
            status
                .read_to_string(&mut text)
                .map_err(|e| io_error_message(&e))?;
            let ids = |word, id| format!("{word}\t{id}\t{id}\t{id}\t{id}");
            let none = |word| format!("{word}\t{:016x}", 0);
            let capabilities = ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"].map(none);
            let wanted = [ids("Uid:", self.uid), ids("Gid:", self.gid)]
                .into_iter()
                .chain(capabilities);
            if wanted
                .into_iter()
                .all(|wanted| text.lines().any(|line| line == wanted))
            {
                return Ok(());
            }
            Err(format!(
                "walwise became user {} but kept root privileges",
                self.uid
            ))
        }
    }

    fn set_resource_limits() -> Result<(), Errno> {
        let limits = [
            (Resource::RLIMIT_DATA, MEMORY_BYTES),
            (Resource::RLIMIT_CPU, PROCESSOR_SECONDS),
            (Resource::RLIMIT_CORE, 0),
            (Resource::RLIMIT_FSIZE, 0),
        ];
        limits
            .into_iter()
            .try_for_each(|(what, limit)| setrlimit(what, limit, limit))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn dropping_root_to_uid_zero_is_refused() {
            let root = Credentials {
                uid: 0,
                gid: 0,
                groups: Vec::new(),
            };
            assert!(
                root.drop_privileges_and_connect(None, None)
                    .unwrap_err()
                    .contains("as root")
            );
        }
    }
}

use std::char::TryFromCharError;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use walwise_model::facts::{Choice, choice};

use nix::sys::signal::SigSet;
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::limits::MOUNT_TABLE;
use walwise_model::parallel::lock;

/// Limit on the wait for one message of a subprocess that reads.
pub const RECV_TIMEOUT: Duration = Duration::from_secs(10);

/// Path of the running program, which works even if the program's file was replaced.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

choice! {
    pub enum Role {
        HostReader = "__ask",
        OwnerReader = "__ask-as",
        ScratchCleaner = "__watch",
        TrialNamespaces = "__trial-between",
        /// The first process in the namespaces of a trial.
        TrialInit = "__trial-inside",
        /// Like [`Self::TrialNamespaces`], for a trial on a disk. When walwise exits, the kernel
        /// does not kill this process, so that the disk can be cleared.
        DiskTrialNamespaces = "__trial-between-disk",
        DiskTrialInit = "__trial-inside-disk",
        DocumentWriter = "__write",
        FileReader = "__read",
        Drill = "__drill",
        CommitSampler = "__sample-commits",
    }
}

impl Role {
    /// Returns the role in `arguments`, which include the program's name. `None` if a user started
    /// the program.
    pub fn from_arguments(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        Self::from_word(arguments.nth(1)?.to_str()?)
    }

    /// Whether the subprocess gets its own process group, so that it does not receive a terminal's
    /// signals, such as a hangup.
    fn has_own_process_group(self) -> bool {
        match self {
            Self::HostReader
            | Self::TrialNamespaces
            | Self::DiskTrialNamespaces
            | Self::DocumentWriter
            | Self::Drill => true,
            // An owner reader, commit sampler or scratch cleaner leaves the session, which a group
            // leader cannot do. An init process stays in the group of the process that creates its
            // namespaces. A file reader has nothing to clean up.
            Self::OwnerReader
            | Self::CommitSampler
            | Self::ScratchCleaner
            | Self::TrialInit
            | Self::DiskTrialInit
            | Self::FileReader => false,
        }
    }

    pub fn set_up_process_and_channel(self) -> io::Result<Channel> {
        match self {
            // A scratch cleaner or document writer cleans up after walwise, even if a signal ended
            // walwise.
            Self::ScratchCleaner | Self::DocumentWriter => SigSet::all().thread_block()?,
            Self::TrialNamespaces | Self::TrialInit => {
                set_parent_process_death_signal(Some(Signal::KILL))?;
            }
            // The other subprocesses exit when their channel closes.
            Self::HostReader
            | Self::OwnerReader
            | Self::DiskTrialNamespaces
            | Self::DiskTrialInit
            | Self::FileReader
            | Self::Drill
            | Self::CommitSampler => {}
        }
        Channel::from_stdout()
    }

    pub fn run_to_exit(self) -> io::Result<ExitStatus> {
        role_command(OWN_PROGRAM, self)
            .stdin(Stdio::null())
            .status()
    }
}

fn role_command(program: impl AsRef<OsStr>, role: Role) -> Command {
    let mut command = Command::new(program);
    command.arg(role.as_str()).env_clear().stderr(Stdio::null());
    command
}

pub struct Subprocess {
    child: Child,
    pub channel: Channel,
}

impl Subprocess {
    pub fn spawn(role: Role, request: &impl Serialize) -> io::Result<Self> {
        // A file reader may have to read walwise's standard input.
        let stdin = if role == Role::FileReader {
            Stdio::inherit()
        } else {
            Stdio::null()
        };
        let mut child = Self::spawn_program(OWN_PROGRAM, role, stdin)?;
        // If sending fails, the subprocess has exited and has already sent the reason.
        let _ = child.channel.send(request);
        Ok(child)
    }

    /// Starts `program` in the given role. Only tests pass another program than walwise itself.
    pub fn spawn_program(program: impl AsRef<OsStr>, role: Role, stdin: Stdio) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        // If the subprocess does not read, the parent must not block.
        ours.set_write_timeout(Some(RECV_TIMEOUT))?;
        let mut command = role_command(program, role);
        if role.has_own_process_group() {
            command.process_group(0);
        }
        let child = command
            .stdin(stdin)
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .spawn()?;
        Ok(Self {
            child,
            channel: Channel::new(ours),
        })
    }

    /// Whether the subprocess itself has exited; other processes may still hold its end of the
    /// channel.
    pub fn has_exited(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits for the exit of a subprocess that has reported its last result.
    pub fn close_channel_and_wait(mut self) {
        let _ = self.channel.shutdown(Shutdown::Both);
        let _ = self.child.wait();
    }

    /// Closes the parent's side of the channel and passes the remaining messages to `receive`.
    /// Kills the subprocess when the channel closes, or when no message has arrived for `timeout`.
    pub fn drain_messages_and_kill<T: DeserializeOwned>(
        mut self,
        timeout: Duration,
        mut receive: impl FnMut(T),
    ) {
        let _ = self.channel.shutdown(Shutdown::Write);
        while let Ok(message) = self.channel.recv(Some(timeout)) {
            receive(message);
        }
        self.kill();
    }

    /// Kills the subprocess and waits until all other processes that hold its end of the channel
    /// have closed it, at most `timeout` after each message.
    pub fn kill_and_wait_for_closed_channel(mut self, timeout: Duration) {
        let _ = self.child.kill();
        self.drain_messages_and_kill(timeout, |_: IgnoredAny| ());
    }

    /// Kills a subprocess that may be stuck, without waiting for its exit. A stuck process exits
    /// only when its system call returns.
    pub fn kill(self) {
        kill_child_without_waiting(self.child, false);
    }

    /// Kills an idle subprocess; [`reap_idle_children`] later waits for its exit.
    pub(crate) fn kill_idle(self) {
        kill_child_without_waiting(self.child, true);
    }
}

/// Killed children that may not have exited. The flag is true for a child that was idle: it
/// exits immediately and can be waited for. A stuck child may never exit.
static KILLED: Mutex<Vec<(Child, bool)>> = Mutex::new(Vec::new());

fn lock_killed_children() -> MutexGuard<'static, Vec<(Child, bool)>> {
    lock(&KILLED)
}

fn kill_child_without_waiting(mut child: Child, is_idle: bool) {
    let _ = child.kill();
    let mut killed = lock_killed_children();
    killed.push((child, is_idle));
    killed.retain_mut(|(child, _)| matches!(child.try_wait(), Ok(None)));
}

/// Waits for the exit of children that were killed while idle. `main` calls this last; such
/// children exit immediately.
pub fn reap_idle_children() {
    for (mut child, _) in std::mem::take(&mut *lock_killed_children())
        .into_iter()
        .filter(|(_, is_idle)| *is_idle)
    {
        let _ = child.wait();
    }
}

// Messages over a socket. Each message is its length in four bytes, followed by that many
// bytes of JSON.

/// The longest answer is a mount table, each of whose bytes takes up to four bytes of JSON.
const MAX_MESSAGE_BYTES: usize = 4 * MOUNT_TABLE;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecvError {
    /// The other process has exited, or sent something invalid.
    #[error("the other process has exited")]
    Closed,
    #[error("no message arrived in time")]
    Timeout,
}

impl From<RecvError> for io::Error {
    fn from(error: RecvError) -> Self {
        Self::other(error)
    }
}

pub struct Channel {
    socket: UnixStream,
    /// Bytes received so far that do not form a complete message yet.
    received: Vec<u8>,
}

impl Channel {
    fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            received: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn pair() -> (Self, Self) {
        let (one, other) = UnixStream::pair().unwrap();
        (Self::new(one), Self::new(other))
    }

    /// Creates the subprocess's end of the channel from its standard output, which is a socket.
    pub fn from_stdout() -> io::Result<Self> {
        Ok(Self::new(UnixStream::from(
            io::stdout().as_fd().try_clone_to_owned()?,
        )))
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.shutdown(how)
    }

    /// Exits this process when the other end closes. For a subprocess that expects no further
    /// message.
    pub fn exit_process_when_closed(&self) -> io::Result<()> {
        let mut socket = self.socket.try_clone()?;
        let wait = move || {
            let _ = socket.read(&mut [0]);
            std::process::exit(1);
        };
        std::thread::Builder::new().spawn(wait).map(drop)
    }

    /// Fails if the other process has exited, or does not read before the write timeout.
    pub fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.socket
            .write_all(&[&length.to_le_bytes()[..], &text].concat())
    }

    /// Without a timeout, the call blocks until a message arrives or the channel closes.
    pub fn recv<T: DeserializeOwned>(&mut self, timeout: Option<Duration>) -> Result<T, RecvError> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut piece = vec![0; 64 << 10];
        loop {
            if let Some(message) = self.take_received_message()? {
                return Ok(message);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(RecvError::Timeout);
            }
            self.socket
                .set_read_timeout(left)
                .map_err(|_| RecvError::Closed)?;
            match self.socket.read(&mut piece) {
                Ok(0) => return Err(RecvError::Closed),
                Ok(count) => self
                    .received
                    .extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                    ) => {}
                Err(_) => return Err(RecvError::Closed),
            }
        }
    }

    fn take_received_message<T: DeserializeOwned>(&mut self) -> Result<Option<T>, RecvError> {
        let Some((length, rest)) = self.received.split_first_chunk() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > MAX_MESSAGE_BYTES {
            return Err(RecvError::Closed);
        }
        let Some(text) = rest.get(..length) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(text).map_err(|_| RecvError::Closed)?;
        self.received.drain(..size_of::<u32>() + length);
        Ok(Some(message))
    }
}

// Bytes in a message, such as a path that is not UTF-8. Each byte becomes one character, so
// most bytes take one byte of JSON.

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct MessageBytes(pub Vec<u8>);

impl From<MessageBytes> for String {
    fn from(bytes: MessageBytes) -> Self {
        bytes.0.into_iter().map(char::from).collect()
    }
}

impl TryFrom<String> for MessageBytes {
    type Error = TryFromCharError;

    fn try_from(text: String) -> Result<Self, TryFromCharError> {
        text.chars()
            .map(u8::try_from)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl From<&Path> for MessageBytes {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<MessageBytes> for PathBuf {
    fn from(bytes: MessageBytes) -> Self {
        OsString::from_vec(bytes.0).into()
    }
}

#[cfg(test)]
mod channel_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::deadline::ThreadInTime as _;
    use crate::subprocess::MessageBytes;

    proptest! {
        #[test]
        fn messages_arrive_as_they_were_sent(bytes: Vec<u8>, refusal: String) {
            let (mut one, mut other) = Channel::pair();
            let (bytes, refusal) = (Ok::<_, String>(MessageBytes(bytes)), Err::<MessageBytes, _>(refusal));
            one.send(&bytes).unwrap();
            one.send(&refusal).unwrap();
            prop_assert_eq!(other.recv(None), Ok(bytes));
            prop_assert_eq!(other.recv(None), Ok(refusal));
        }

        #[test]
        fn receiving_arbitrary_bytes_never_panics(bytes: Vec<u8>) {
            let (mut one, mut other) = Channel::pair();
            one.socket.write_all(&bytes).unwrap();
            drop(one);
            while other.recv::<MessageBytes>(None).is_ok() {}
        }
    }

    #[test]
    fn long_message_is_reassembled() {
        let (mut one, mut other) = Channel::pair();
        let long = MessageBytes(vec![0xe9; 3 << 20]);
        let sent = long.clone();
        let sender = std::thread::spawn(move || one.send(&sent).unwrap());
        assert!(other.recv::<MessageBytes>(None).unwrap() == long);
        sender.join_in_time();
        assert_eq!(other.recv::<MessageBytes>(None), Err(RecvError::Closed));
    }

    #[test]
    fn recv_times_out_and_rejects_invalid_messages() {
        let (mut one, mut other) = Channel::pair();
        assert_eq!(
            other.recv::<()>(Some(Duration::from_millis(1))),
            Err(RecvError::Timeout)
        );
        one.send(&"no number").unwrap();
        assert_eq!(other.recv::<u64>(None), Err(RecvError::Closed));
        let (mut one, mut other) = Channel::pair();
        one.socket.write_all(b"\xff\xff\xff\xff").unwrap();
        assert_eq!(other.recv::<()>(None), Err(RecvError::Closed));
        assert!(
            other.received.len() == 4,
            "no buffer is allocated for the message"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_role(words: &[&str]) -> Option<Role> {
        Role::from_arguments(words.iter().map(OsString::from))
    }

    #[test]
    fn a_role_is_the_first_argument() {
        for &known in Role::ALL {
            assert_eq!(parse_role(&["walwise", known.as_str()]), Some(known));
        }
        for ordinary in [
            &["walwise", "check", "__ask"][..],
            &["walwise"],
            &["__ask"],
            &[],
        ] {
            assert_eq!(parse_role(ordinary), None, "{ordinary:?}");
        }
    }

    #[test]
    fn exited_subprocess_closes_its_channel() {
        let mut child =
            Subprocess::spawn_program("/bin/true", Role::HostReader, Stdio::null()).unwrap();
        assert_eq!(
            child.channel.recv::<()>(Some(RECV_TIMEOUT)),
            Err(RecvError::Closed)
        );
        child.kill_idle();
        reap_idle_children();
    }
}
