//! The expendable child: a copy of walwise that makes system calls which may never return. The
//! child runs the code in [`super::reader`].
//!
//! A system call on a dead NFS server or a stuck FUSE file system cannot be interrupted. A thread
//! in such a call prevents its process from exiting. A child that misses its deadline is therefore
//! killed and abandoned, and the next question starts a new child. A child exits when its channel
//! closes, so it outlives walwise by one question at most.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::{HostError, HostErrorKind, HostResult, Question, ServerOwner, question};
use crate::subprocess::{MessageBytes, RecvError, Role, Subprocess};
use crate::text;
use walwise_model::parallel::lock;

/// The longest question, in bytes. A longer one would not fit the socket's buffer, and writing must
/// not block.
const LONGEST_QUESTION: usize = 32 << 10;

pub(super) struct ChildHost {
    program: PathBuf,
    owner: Option<ServerOwner>,
    state: Mutex<ChildState>,
}

#[derive(Default)]
struct ChildState {
    child: Option<Subprocess>,
    starting: Option<JoinHandle<io::Result<Subprocess>>>,
    notes: Vec<String>,
}

impl ChildHost {
    /// `program` runs as the child; with an `owner`, the child first becomes that user. No child
    /// starts before [`Self::prestart_child`] or the first question.
    pub fn new(program: PathBuf, owner: Option<ServerOwner>) -> Self {
        Self {
            program,
            owner,
            state: Mutex::default(),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, ChildState> {
        lock(&self.state)
    }

    /// Starts the child in the background before it is needed: starting takes longer than most
    /// answers.
    pub fn prestart_child(&self) {
        let mut state = self.lock_state();
        if state.child.is_none() && state.starting.is_none() {
            let (program, owner) = (self.program.clone(), self.owner.clone());
            // If no thread can be started, the first question starts the child.
            state.starting = Builder::new()
                .spawn(move || start_child(&program, owner.as_ref()))
                .ok();
        }
    }

    /// Stops an idle child; a child that is answering a question continues. The next question
    /// starts another child.
    pub fn stop_if_idle(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.kill_idle_child();
        }
    }

    pub fn timeout_notes(&self) -> Vec<String> {
        self.lock_state().notes.clone()
    }

    pub fn ask(&self, question: &Question, deadline: Duration) -> HostResult {
        let words = question::encode(question);
        if words.len() >= LONGEST_QUESTION {
            return Err(HostError::failed("the path is too long"));
        }
        let mut state = self.lock_state();
        let child = state
            .take_child()
            .map_or_else(|| start_child(&self.program, self.owner.as_ref()), Ok);
        let mut child = child.map_err(|e| {
            let why = text::io_error_message(&e);
            HostError::failed(format!("cannot start the reading process: {why}"))
        })?;
        let sent = child.channel.send(&words).map_err(|_| RecvError::Closed);
        let error = match sent.and_then(|()| child.channel.recv(Some(deadline))) {
            Ok(answer) => {
                state.child = Some(child);
                let answer: Result<MessageBytes, HostError> = answer;
                return answer.map(|bytes| bytes.0);
            }
            Err(error) => error,
        };
        child.kill();
        Err(match error {
            RecvError::Closed => HostError::failed("the reading process ended without an answer"),
            RecvError::Timeout => {
                let says = format!("no answer within {} s", deadline.as_secs_f32());
                state.notes.push(format!("{says}: {words}"));
                HostError::new(HostErrorKind::TimedOut, says)
            }
        })
    }
}

impl ChildState {
    /// Takes the child, after waiting for a start in the background. The caller puts the child back
    /// after its answer.
    fn take_child(&mut self) -> Option<Subprocess> {
        let started = self
            .starting
            .take()
            .and_then(|starting| starting.join().ok()?.ok());
        started.or_else(|| self.child.take())
    }

    fn kill_idle_child(&mut self) {
        self.take_child()
            .into_iter()
            .for_each(Subprocess::kill_idle);
    }
}

impl Drop for ChildHost {
    fn drop(&mut self) {
        self.lock_state().kill_idle_child();
    }
}

fn start_child(program: &PathBuf, owner: Option<&ServerOwner>) -> io::Result<Subprocess> {
    let Some(owner) = owner else {
        return Subprocess::spawn_program(program, Role::HostReader, Stdio::null());
    };
    let mut child = Subprocess::spawn_program(program, Role::OwnerReader, Stdio::null())?;
    child.channel.send(owner)?;
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_without_reader_role_gives_failed_error() {
        let host = ChildHost::new(PathBuf::from("/bin/true"), None);
        let miss = host
            .ask(&Question::Uname, Duration::from_secs(60))
            .unwrap_err();
        assert_eq!(miss.kind, HostErrorKind::Failed);
    }
}
