//! The expendable child: a process of our own binary that is asked what may never be answered. What it does itself is
//! left to [`super::reader`].
//!
//! A system call on a dead NFS server or a stuck FUSE file system cannot be interrupted from within, and a thread stuck
//! in one keeps its process from exiting. Such questions therefore go to a child, one after another. If an answer does
//! not come in time, the child is killed and abandoned, and the next question gets a new one. Nobody waits for an
//! abandoned child: the kill takes effect when the kernel releases it. The child exits when its standard input ends, so
//! it outlives walwise by one question at most.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::owner::Owner;
use super::{Miss, MissKind, Question, words};
use crate::text;

/// The hidden first argument that makes our binary the child.
pub const ARGUMENT: &str = "__ask";

/// The same for a child that changes its user; the first line of its input names the user.
pub const ARGUMENT_AS: &str = "__ask-as";

/// The longest answer accepted, in bytes; longer than any legitimate one.
const LONGEST_ANSWER: usize = 2 * crate::bounds::MOUNT_TABLE;

/// The longest question accepted, in bytes: a longer one would not fit the socket's buffer, and writing must not block.
pub const LONGEST_QUESTION: usize = 32 << 10;

/// An answer as the child writes it: `ok LENGTH` or the refusal's word and length, a newline, the bytes.
pub fn frame(answer: &Result<Vec<u8>, Miss>) -> Vec<u8> {
    let (word, body) = match answer {
        Ok(bytes) => ("ok", bytes.as_slice()),
        Err(miss) => (words::miss_word(miss.kind), miss.detail.as_bytes()),
    };
    [format!("{word} {}\n", body.len()).as_bytes(), body].concat()
}

/// The answer in a frame once it is complete; `None` while more must come.
fn unframe(bytes: &[u8]) -> Option<Result<Vec<u8>, Miss>> {
    let garbled = || Some(Err(Miss::new(MissKind::Failed, "the child's answer is garbled")));
    let Some(end) = bytes.iter().position(|b| *b == b'\n') else {
        return if bytes.len() > 64 { garbled() } else { None };
    };
    let (header, body) = bytes.split_at(end);
    let header = str::from_utf8(header).unwrap_or_default();
    let Some((word, length)) = header.split_once(' ').and_then(|(w, l)| Some((w, l.parse::<usize>().ok()?)))
    else {
        return garbled();
    };
    if length > LONGEST_ANSWER {
        return garbled();
    }
    let body = body.get(1..)?.get(..length)?.to_vec();
    match (word, words::miss_kind(word)) {
        ("ok", _) => Some(Ok(body)),
        (_, Some(kind)) => Some(Err(Miss::new(kind, String::from_utf8_lossy(&body)))),
        _ => garbled(),
    }
}

/// Asks through a child, and replaces a child that got stuck.
pub(super) struct Expendable {
    program: PathBuf,
    owner: Option<Owner>,
    state: Mutex<ChildSupervisor>,
}

#[derive(Default)]
struct ChildSupervisor {
    child: Option<Running>,
    starting: Option<JoinHandle<io::Result<Running>>>,
    abandoned: Vec<Child>,
    notes: Vec<String>,
}

struct Running {
    process: Child,
    channel: UnixStream,
}

/// Why a child gave no answer.
enum ReplyFailure {
    Ended,
    Late,
}

impl Expendable {
    /// Children will be processes of this program, which must call [`super::reader::serve`].
    pub fn new(program: PathBuf) -> Self {
        Self { program, owner: None, state: Mutex::default() }
    }

    /// The same, and they become this owner first.
    pub fn becoming(program: PathBuf, owner: Owner) -> Self {
        Self { program, owner: Some(owner), state: Mutex::default() }
    }

    /// Starts the child in the background before it is needed: starting takes longer than most answers.
    pub fn begin(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.child.is_none() && state.starting.is_none() {
            let (program, owner) = (self.program.clone(), self.owner.clone());
            let start = move || Running::start(&program, owner.as_ref());
            // If no thread can be started, the child is started when it is needed.
            state.starting = Builder::new().spawn(start).ok();
        }
    }

    /// Ends the child unless it is being asked; the next question starts another.
    pub fn rest(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.started();
            state.child.take().into_iter().for_each(Running::retire);
        }
    }

    /// Kills the child without waiting for its exit, as dropping does: many exit in the time of one.
    pub fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.started();
        if let Some(child) = &mut state.child {
            let _ = child.process.kill();
        }
    }

    /// Notes about the children abandoned so far.
    pub fn notes(&self) -> Vec<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).notes.clone()
    }

    /// Asks, and gives up at the deadline.
    pub fn ask(&self, question: &Question, deadline: Duration) -> Result<Vec<u8>, Miss> {
        let words = words::encode(question);
        if words.len() >= LONGEST_QUESTION {
            return Err(Miss::new(MissKind::Failed, "the path is too long"));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Reaps children that have exited meanwhile; never blocks.
        state.abandoned.retain_mut(|process| matches!(process.try_wait(), Ok(None)));
        let mut child = state.running(&self.program, self.owner.as_ref()).map_err(|e| {
            let says = format!("cannot start the reading child: {}", text::error_words(&e));
            Miss::new(MissKind::Failed, says)
        })?;
        match child.ask(&words, Instant::now() + deadline) {
            Ok(answer) => {
                state.child = Some(child);
                answer
            }
            Err(silence) => {
                let _ = child.process.kill();
                state.abandoned.push(child.process);
                let seconds = deadline.as_secs_f32();
                Err(match silence {
                    ReplyFailure::Ended => {
                        Miss::new(MissKind::Failed, "the reading child ended without an answer")
                    }
                    ReplyFailure::Late => {
                        state.notes.push(format!("no answer within {seconds} s, given up: {words}"));
                        Miss::new(MissKind::TimedOut, format!("no answer within {seconds} s"))
                    }
                })
            }
        }
    }
}

impl ChildSupervisor {
    /// Adopts the child started in the background as the running one.
    fn started(&mut self) {
        if let Some(Ok(Ok(child))) = self.starting.take().map(JoinHandle::join) {
            self.child = Some(child);
        }
    }

    /// The running child; a new one where none runs. It is put back once it has answered.
    fn running(&mut self, program: &Path, owner: Option<&Owner>) -> io::Result<Running> {
        self.started();
        self.child.take().map_or_else(|| Running::start(program, owner), Ok)
    }
}

impl Drop for Expendable {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.started();
        state.child.take().into_iter().for_each(Running::retire);
    }
}

/// Children that were killed while idle. They exit while the output is written, which takes about as long.
static ENDED: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Reaps the children that were ended, as `main` does last. They were idle, so this cannot block.
pub fn reap() {
    let ended = std::mem::take(&mut *ENDED.lock().unwrap_or_else(PoisonError::into_inner));
    for mut process in ended {
        let _ = process.wait();
    }
}

impl Running {
    fn start(program: &Path, owner: Option<&Owner>) -> io::Result<Self> {
        let (mut channel, theirs) = UnixStream::pair()?;
        channel.set_write_timeout(Some(Duration::from_secs(1)))?;
        if let Some(owner) = owner {
            channel.write_all(format!("{owner}\n").as_bytes())?;
        }
        let mut command = Command::new(program);
        // One that becomes somebody else leaves the session, which the leader of a group cannot.
        if owner.is_none() {
            command.process_group(0);
        }
        let process = command
            .arg(if owner.is_some() { ARGUMENT_AS } else { ARGUMENT })
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs.try_clone()?)))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { process, channel })
    }

    /// Ends an idle child, and leaves its exit to [`reap`].
    fn retire(self) {
        let Self { mut process, channel } = self;
        drop(channel);
        let _ = process.kill();
        let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain_mut(|process| matches!(process.try_wait(), Ok(None)));
        ended.push(process);
    }

    fn ask(&mut self, words: &str, deadline: Instant) -> Result<Result<Vec<u8>, Miss>, ReplyFailure> {
        let ended = |_| ReplyFailure::Ended;
        self.channel.write_all(format!("{words}\n").as_bytes()).map_err(ended)?;
        let mut bytes = Vec::new();
        let mut piece = [0; 16 << 10];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ReplyFailure::Late);
            }
            self.channel.set_read_timeout(Some(left)).map_err(ended)?;
            match self.channel.read(&mut piece) {
                Ok(0) => return Err(ReplyFailure::Ended),
                Ok(count) => bytes.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(_) => return Err(ReplyFailure::Ended),
            }
            if let Some(answer) = unframe(&bytes) {
                return Ok(answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn frames_carry_any_answer(body: Vec<u8>) {
            let answer = Ok(body);
            let framed = frame(&answer);
            prop_assert_eq!(unframe(&framed), Some(answer));
            prop_assert_eq!(unframe(&framed[..framed.len() - 1]), None);
        }

        #[test]
        fn refusals_survive(detail in "[a-z ]{0,30}") {
            let answer = Err(Miss::new(MissKind::Denied, detail));
            prop_assert_eq!(unframe(&frame(&answer)), Some(answer));
        }

        #[test]
        fn garbage_does_no_harm(bytes: Vec<u8>) {
            unframe(&bytes);
        }
    }

    #[test]
    fn a_child_that_is_no_child_is_a_failure() {
        let host = Expendable::new(PathBuf::from("/bin/true"));
        let miss = host.ask(&Question::Uname, Duration::from_secs(60)).unwrap_err();
        assert_eq!(miss.kind, MissKind::Failed);
    }
}
