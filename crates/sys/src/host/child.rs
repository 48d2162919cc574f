//! The expendable child: a process of our own binary that is asked what may never be answered. What
//! it does itself is left to [`super::reader`].
//!
//! A system call on a dead NFS server or a stuck FUSE file system cannot be interrupted from
//! within, and a thread stuck in one keeps its process from exiting. Such questions therefore go to
//! a child, one after another. If an answer does not come in time, the child is killed and
//! abandoned, and the next question gets a new one. Nobody waits for an abandoned child: the kill
//! takes effect when the kernel releases it. The child exits when its channel closes, so it
//! outlives walwise by one question at most.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::owner::Owner;
use super::{Miss, MissKind, Question, words};
use crate::subprocess::{Bytes, RecvError, Role, Subprocess};
use crate::text;

/// The longest question in bytes: a longer one would not fit the socket's buffer, and writing must
/// not block.
const LONGEST_QUESTION: usize = 32 << 10;

/// Asks through a child, and replaces a child that got stuck.
pub(super) struct Expendable {
    program: PathBuf,
    owner: Option<Owner>,
    state: Mutex<ChildSupervisor>,
}

#[derive(Default)]
struct ChildSupervisor {
    child: Option<Subprocess>,
    starting: Option<JoinHandle<io::Result<Subprocess>>>,
    notes: Vec<String>,
}

impl Expendable {
    /// Children will be processes of this program; those with an owner become him first.
    pub fn new(program: PathBuf, owner: Option<Owner>) -> Self {
        Self {
            program,
            owner,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ChildSupervisor> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the child in the background before it is needed: starting takes longer than most
    /// answers.
    pub fn begin(&self) {
        let mut state = self.state();
        if state.child.is_none() && state.starting.is_none() {
            let (program, owner) = (self.program.clone(), self.owner.clone());
            // If no thread can be started, the child is started when it is needed.
            state.starting = Builder::new()
                .spawn(move || start(&program, owner.as_ref()))
                .ok();
        }
    }

    /// Ends the child unless it is being asked; the next question starts another.
    pub fn rest(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.retire();
        }
    }

    /// Ends the child without waiting for its exit, as dropping does: many exit in the time of one.
    pub fn end(&self) {
        self.state().retire();
    }

    /// Notes about the children abandoned so far.
    pub fn notes(&self) -> Vec<String> {
        self.state().notes.clone()
    }

    /// Asks, and gives up at the deadline.
    pub fn ask(&self, question: &Question, deadline: Duration) -> Result<Vec<u8>, Miss> {
        let failed = |says: String| Err(Miss::new(MissKind::Failed, says));
        let words = words::encode(question);
        if words.len() >= LONGEST_QUESTION {
            return failed("the path is too long".to_owned());
        }
        let mut state = self.state();
        let child = state
            .take()
            .map_or_else(|| start(&self.program, self.owner.as_ref()), Ok);
        let mut child = match child {
            Ok(child) => child,
            Err(e) => {
                return failed(format!(
                    "cannot start the reading child: {}",
                    text::error_words(&e)
                ));
            }
        };
        let sent = child.channel.send(&words).map_err(|_| RecvError::Closed);
        let error = match sent.and_then(|()| child.channel.recv(Some(deadline))) {
            Ok(answer) => {
                state.child = Some(child);
                let answer: Result<Bytes, Miss> = answer;
                return answer.map(|bytes| bytes.0);
            }
            Err(error) => error,
        };
        child.kill();
        match error {
            RecvError::Closed => failed("the reading child ended without an answer".to_owned()),
            RecvError::Timeout => {
                let seconds = deadline.as_secs_f32();
                state
                    .notes
                    .push(format!("no answer within {seconds} s, given up: {words}"));
                Err(Miss::new(
                    MissKind::TimedOut,
                    format!("no answer within {seconds} s"),
                ))
            }
        }
    }
}

impl ChildSupervisor {
    /// The running child, perhaps one that was started in the background. It is put back once it
    /// has answered.
    fn take(&mut self) -> Option<Subprocess> {
        let started = self
            .starting
            .take()
            .and_then(|starting| starting.join().ok()?.ok());
        started.or_else(|| self.child.take())
    }

    fn retire(&mut self) {
        self.take().into_iter().for_each(Subprocess::retire);
    }
}

impl Drop for Expendable {
    fn drop(&mut self) {
        self.end();
    }
}

fn start(program: &PathBuf, owner: Option<&Owner>) -> io::Result<Subprocess> {
    let Some(owner) = owner else {
        return Subprocess::of(program, Role::Ask, Stdio::null());
    };
    let mut child = Subprocess::of(program, Role::AskAs, Stdio::null())?;
    child.channel.send(owner)?;
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_no_child_is_a_failure() {
        let host = Expendable::new(PathBuf::from("/bin/true"), None);
        let miss = host
            .ask(&Question::Uname, Duration::from_secs(60))
            .unwrap_err();
        assert_eq!(miss.kind, MissKind::Failed);
    }
}
