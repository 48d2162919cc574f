//! The watcher: a child process of our own program that removes the scratch directory if we die
//! without doing so.
//!
//! It waits on a channel whose other end only we hold. When that closes without a farewell, we were
//! killed. It runs in its own session with all signals blocked, so that a signal from the terminal
//! that kills us does not kill it first. It has the directory as its standard input, because that
//! is how a descriptor is passed on without unsafe code. It holds none of our own outputs open.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use super::directory::{self, PREFIX};
use super::error::{ErrorKind, ProbeError};
use crate::subprocess::{Channel, PATIENCE, Role, Subprocess};

/// What the watcher is told. The name is no argument, because everybody can read arguments.
#[derive(Serialize, Deserialize)]
enum Message {
    /// A directory of this name will be created.
    Name(String),
    /// It exists, and this is its inode.
    Created(u64),
    /// It is removed.
    Done,
}

/// A running watcher, seen from the prober.
pub struct Watcher(Subprocess);

impl Watcher {
    /// Starts a watcher of a directory and waits until it is safe from signals.
    pub fn start(program: impl AsRef<OsStr>, directory: &OwnedFd) -> Result<Self, ProbeError> {
        let start = || -> io::Result<Self> {
            let mut child =
                Subprocess::of(program, Role::Watch, Stdio::from(directory.try_clone()?))?;
            if child.channel.recv::<()>(Some(PATIENCE)).is_err() {
                child.kill();
                return Err(io::Error::other("it did not answer"));
            }
            Ok(Self(child))
        };
        start().map_err(|error| failed(&error))
    }

    /// Announces the name that will be created.
    pub fn will_create(&mut self, name: &str) -> Result<(), ProbeError> {
        self.0
            .channel
            .send(&Message::Name(name.to_owned()))
            .map_err(|error| failed(&error))
    }

    /// Reports the inode of our directory.
    pub fn created(&mut self, inode: u64) {
        // If the watcher has exited, nobody receives this; we still remove the directory ourselves.
        let _ = self.0.channel.send(&Message::Created(inode));
    }

    /// Dismisses it: the directory is gone.
    pub fn done(mut self) {
        let _ = self.0.channel.send(&Message::Done);
        self.0.wait();
    }
}

fn failed(error: &io::Error) -> ProbeError {
    let says = format!(
        "starting the watcher, which removes the scratch directory if walwise is killed, failed: {error}; nothing was written"
    );
    ProbeError::new(ErrorKind::Watcher, says)
}

/// Acts as the watcher.
pub fn serve(mut channel: Channel) -> io::Result<()> {
    // It fails only for a group leader, which needs no new session.
    let _ = nix::unistd::setsid();
    std::env::set_current_dir("/")?;
    channel.send(&())?;
    let place = io::stdin();
    let Some((name, held)) = left(|| channel.recv(None).ok(), &place)? else {
        return Ok(());
    };
    // A directory that is held open is found under any name.
    let held = held.map_or_else(
        || directory::open_ours(&place, &name, None),
        |held| Ok(Some(held)),
    )?;
    held.map_or(Ok(()), |held| {
        Ok(directory::remove_held(&place, &name, &held)?)
    })
}

/// The remaining work when the messages end: a name, and the directory once it was created.
fn left(
    mut next: impl FnMut() -> Option<Message>,
    place: impl AsFd,
) -> io::Result<Option<(String, Option<OwnedFd>)>> {
    let mut left = None;
    while let Some(message) = next() {
        match message {
            // Nothing but a name in our format is ever removed.
            Message::Name(name) => {
                let is_ours = name.starts_with(PREFIX) && !name.contains('/');
                left = is_ours.then_some((name, None));
            }
            Message::Created(inode) => {
                if let Some((name, directory)) = &mut left {
                    *directory = directory::open_ours(&place, name, Some(inode))?;
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
        left(|| messages.next(), &place)
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
