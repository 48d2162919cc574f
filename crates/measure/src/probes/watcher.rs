//! The watcher: a child process of this program that removes the scratch directory if walwise is
//! killed. It waits on a channel that only we hold: if that closes without `Done`, we died.
//!
//! It has its own session and blocks all signals, so that a terminal's signal does not kill it
//! first. The directory is its standard input, as descriptors are passed without unsafe code only
//! like this.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use super::directory::{self, PREFIX};
use super::error::{ErrorKind, ProbeError};
use crate::subprocess::{Channel, RECV_TIMEOUT, Role, Subprocess};

/// Messages to the watcher. The name is not an argument: everybody can read those.
#[derive(Serialize, Deserialize)]
enum Message {
    /// A directory of this name will be created.
    Name(String),
    /// It exists, with this inode.
    Created(u64),
    /// It is removed.
    Done,
}

/// A running watcher.
pub struct Watcher(Subprocess);

impl Watcher {
    /// Starts a watcher of a directory and waits until signals cannot stop it.
    pub fn start(program: impl AsRef<OsStr>, directory: &OwnedFd) -> Result<Self, ProbeError> {
        let start = || -> io::Result<Self> {
            let mut child = Subprocess::spawn_program(
                program,
                Role::ScratchWatcher,
                Stdio::from(directory.try_clone()?),
            )?;
            if child.channel.recv::<()>(Some(RECV_TIMEOUT)).is_err() {
                child.kill();
                return Err(io::Error::other("it did not answer"));
            }
            Ok(Self(child))
        };
        start().map_err(|error| start_error(&error))
    }

    pub fn announce_name(&mut self, name: &str) -> Result<(), ProbeError> {
        self.0
            .channel
            .send(&Message::Name(name.to_owned()))
            .map_err(|error| start_error(&error))
    }

    /// Reports the inode of the directory.
    pub fn report_inode(&mut self, inode: u64) {
        // If the watcher has exited, nobody receives this; we still remove the directory ourselves.
        let _ = self.0.channel.send(&Message::Created(inode));
    }

    /// The directory is gone: the watcher may exit.
    pub fn dismiss(mut self) {
        let _ = self.0.channel.send(&Message::Done);
        self.0.wait();
    }
}

fn start_error(error: &io::Error) -> ProbeError {
    let says = format!(
        "starting the watcher, which removes the scratch directory if walwise is killed, failed: {error}; nothing was written"
    );
    ProbeError::new(ErrorKind::Watcher, says)
}

/// Runs as the watcher.
pub fn serve(mut channel: Channel) -> io::Result<()> {
    // setsid fails only for a group leader, which needs no new session.
    let _ = nix::unistd::setsid();
    std::env::set_current_dir("/")?;
    channel.send(&())?;
    let place = io::stdin();
    let Some((name, held)) = pending_removal(|| channel.recv(None).ok(), &place)? else {
        return Ok(());
    };
    // An open directory is found under any name.
    let held = held.map_or_else(
        || directory::open_own(&place, &name, None),
        |held| Ok(Some(held)),
    )?;
    held.map_or(Ok(()), |held| {
        Ok(directory::remove_open_directory(&place, &name, &held)?)
    })
}

/// What is left when the messages end: a name, and the directory once it was created.
fn pending_removal(
    mut next: impl FnMut() -> Option<Message>,
    place: impl AsFd,
) -> io::Result<Option<(String, Option<OwnedFd>)>> {
    let mut left = None;
    while let Some(message) = next() {
        match message {
            // Only names in our format are ever removed.
            Message::Name(name) => {
                let is_ours = name.starts_with(PREFIX) && !name.contains('/');
                left = is_ours.then_some((name, None));
            }
            Message::Created(inode) => {
                if let Some((name, directory)) = &mut left {
                    *directory = directory::open_own(&place, name, Some(inode))?;
                }
            }
            Message::Done => return Ok(None),
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_of(messages: impl IntoIterator<Item = Message>) -> Option<String> {
        let place = std::fs::File::open("/").unwrap();
        let mut messages = messages.into_iter();
        pending_removal(|| messages.next(), &place)
            .unwrap()
            .map(|(name, _)| name)
    }

    #[test]
    fn it_removes_nothing_but_scratch_directories() {
        for name in ["/etc/passwd", "data", ".walwise-probe-1/../x", ""] {
            assert_eq!(left_of([Message::Name(name.to_owned())]), None, "{name}");
        }
        let ours = left_of([Message::Name(".walwise-probe-1".to_owned())]);
        assert_eq!(ours.as_deref(), Some(".walwise-probe-1"));
    }

    #[test]
    fn its_last_word_leaves_nothing_to_do() {
        assert_eq!(
            left_of([Message::Name(".walwise-probe-1".to_owned()), Message::Done]),
            None
        );
        assert_eq!(left_of([]), None);
    }
}
