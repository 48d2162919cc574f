//! The cleaner is a child process of this program that removes the scratch directory if walwise is
//! killed. The cleaner waits on a channel whose other end only walwise holds; if the channel closes
//! without `Done`, walwise died.
//!
//! The cleaner has its own session and blocks all signals, so that no signal from a terminal kills
//! it together with walwise. It gets the parent directory as standard input, because other
//! descriptors cannot be passed on without unsafe code.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use super::ProbeError;
use super::scratch_directory::{self, DIRECTORY_PREFIX};
use crate::subprocess::{Channel, RECV_TIMEOUT, Role, Subprocess};

/// Messages to the cleaner. The name is sent as a message because all users can read the arguments
/// of a process.
#[derive(Serialize, Deserialize)]
enum CleanerMessage {
    Name(String),
    /// Inode number of the scratch directory, sent once the directory exists.
    Created(u64),
    Done,
}

pub struct ScratchCleaner(Subprocess);

impl ScratchCleaner {
    /// Starts the cleaner, and returns once it runs in its own session with all signals blocked.
    pub fn start(program: impl AsRef<OsStr>, directory: &OwnedFd) -> Result<Self, ProbeError> {
        let start = || -> io::Result<Self> {
            let mut child = Subprocess::spawn_program(
                program,
                Role::ScratchCleaner,
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

    pub(crate) fn send_directory_name(&mut self, name: &str) -> Result<(), ProbeError> {
        self.0
            .channel
            .send(&CleanerMessage::Name(name.to_owned()))
            .map_err(|error| start_error(&error))
    }

    pub(crate) fn send_directory_inode(&mut self, inode: u64) {
        // A cleaner that has exited does not receive the message; the probe still removes the
        // directory.
        let _ = self.0.channel.send(&CleanerMessage::Created(inode));
    }

    /// Must be called after the removal of the directory.
    pub(crate) fn finish_without_cleaning(mut self) {
        let _ = self.0.channel.send(&CleanerMessage::Done);
        self.0.close_channel_and_wait();
    }
}

fn start_error(error: &io::Error) -> ProbeError {
    let says = format!(
        "cannot start the cleaner, which removes the scratch directory if walwise is killed: {error}; nothing was written"
    );
    ProbeError::new(says)
}

pub fn run_scratch_cleaner(mut channel: Channel) -> io::Result<()> {
    // setsid fails only for a process group leader (setsid(2)), and a leader needs no new session.
    let _ = nix::unistd::setsid();
    std::env::set_current_dir("/")?;
    channel.send(&())?;
    let place = io::stdin();
    let Some((name, held)) = receive_pending_removal(|| channel.recv(None).ok(), &place)? else {
        return Ok(());
    };
    // A directory that is already open is removed even if it was renamed.
    let held = held.map_or_else(
        || scratch_directory::open_if_created_by_this_probe(&place, &name, None),
        |held| Ok(Some(held)),
    )?;
    held.map_or(Ok(()), |held| {
        Ok(scratch_directory::remove_directory_even_if_renamed(
            &place, &name, &held,
        )?)
    })
}

/// Receives messages until `Done`, or until the channel closes. Returns the name of the directory
/// to remove, and the directory itself if it was created. `None` after `Done`, or without a valid
/// name.
fn receive_pending_removal(
    mut next: impl FnMut() -> Option<CleanerMessage>,
    place: impl AsFd,
) -> io::Result<Option<(String, Option<OwnedFd>)>> {
    let mut left = None;
    while let Some(message) = next() {
        match message {
            // Only a name in walwise's format is ever removed.
            CleanerMessage::Name(name) => {
                let is_ours = name.starts_with(DIRECTORY_PREFIX) && !name.contains('/');
                left = is_ours.then_some((name, None));
            }
            CleanerMessage::Created(inode) => {
                if let Some((name, directory)) = &mut left {
                    *directory = scratch_directory::open_if_created_by_this_probe(
                        &place,
                        name,
                        Some(inode),
                    )?;
                }
            }
            CleanerMessage::Done => return Ok(None),
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending_name(messages: impl IntoIterator<Item = CleanerMessage>) -> Option<String> {
        let place = std::fs::File::open("/").unwrap();
        let mut messages = messages.into_iter();
        receive_pending_removal(|| messages.next(), &place)
            .unwrap()
            .map(|(name, _)| name)
    }

    #[test]
    fn cleaner_removes_only_scratch_names() {
        for name in ["/etc/passwd", "data", ".walwise-probe-1/../x", ""] {
            assert_eq!(
                pending_name([CleanerMessage::Name(name.to_owned())]),
                None,
                "{name}"
            );
        }
        let ours = pending_name([CleanerMessage::Name(".walwise-probe-1".to_owned())]);
        assert_eq!(ours.as_deref(), Some(".walwise-probe-1"));
    }

    #[test]
    fn cleaner_has_nothing_to_remove_after_done() {
        assert_eq!(
            pending_name([
                CleanerMessage::Name(".walwise-probe-1".to_owned()),
                CleanerMessage::Done
            ]),
            None
        );
        assert_eq!(pending_name([]), None);
    }
}
