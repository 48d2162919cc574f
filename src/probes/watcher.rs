//! The watcher: a child process of our own program that removes the scratch directory if we die without doing so.
//!
//! It waits on a socket whose other end only we hold. When that closes without a last word, we were killed. It lives in
//! its own session with all signals blocked, so that what kills us from a terminal does not kill it first. The surprise:
//! it has the directory as its standard output, because that is how a descriptor is handed down without unsafe code;
//! it prints nothing and holds none of our own outputs open.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use super::error::{ErrorKind, ProbeError};
use super::scratch::{self, PREFIX};

/// The hidden argument that makes the program a watcher.
const ARGUMENT: &str = "__watch";

/// What is said over the socket: by the child once it is safe from signals, by us when the directory exists (its inode
/// follows) and when it is gone.
const READY: u8 = b'r';
const CREATED: u8 = b'c';
const DONE: u8 = b'd';

/// A running watcher, seen from the prober.
pub struct Watcher {
    child: Child,
    socket: UnixStream,
}

impl Watcher {
    /// Starts a watcher for a name in a directory and waits until it is ready.
    pub fn start(program: &Path, directory: &OwnedFd, name: &str) -> Result<Self, ProbeError> {
        let failed = |error: std::io::Error| {
            let says = format!(
                "starting the watcher, which removes the scratch directory if walwise is killed, failed: {error}; nothing was written"
            );
            ProbeError::new(ErrorKind::Watcher, says)
        };
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        let child = Command::new(program)
            .args([ARGUMENT, name])
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(directory.try_clone().map_err(failed)?))
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut watcher = Self { child, socket };
        let mut answer = [0];
        let ready = watcher.socket.read_exact(&mut answer);
        if ready.is_err() || answer != [READY] {
            watcher.done();
            return Err(failed(std::io::Error::other("it did not answer")));
        }
        Ok(watcher)
    }

    /// Tells it which inode is ours.
    pub fn created(&mut self, inode: u64) {
        let mut message = vec![CREATED];
        message.extend(inode.to_ne_bytes());
        // If it is gone there is nobody to tell; we still remove the directory ourselves.
        let _ = self.socket.write_all(&message);
    }

    /// Dismisses it: the directory is gone.
    pub fn done(mut self) {
        let _ = self.socket.write_all(&[DONE]);
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

/// Does the watcher's work if the arguments (the program's name first) ask for it; `None` if they do not. To be called
/// first thing in `main`.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.nth(1)?.to_str() != Some(ARGUMENT) {
        return None;
    }
    let name = arguments.next().and_then(|name| name.into_string().ok());
    Some(match name.filter(|name| name.starts_with(PREFIX) && !name.contains('/')) {
        Some(name) => watch(&name).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        None => ExitCode::FAILURE,
    })
}

fn watch(name: &str) -> std::io::Result<()> {
    nix::sys::signal::SigSet::all().thread_block()?;
    // It fails only for the leader of a group, who needs no new session.
    let _ = nix::unistd::setsid();
    std::env::set_current_dir("/")?;
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    socket.write_all(&[READY])?;
    let mut inode = None;
    let mut message = [0];
    while socket.read_exact(&mut message).is_ok() {
        match message {
            [CREATED] => {
                let mut number = [0; 8];
                if socket.read_exact(&mut number).is_ok() {
                    inode = Some(u64::from_ne_bytes(number));
                }
            }
            [DONE] => return Ok(()),
            _ => break,
        }
    }
    Ok(scratch::remove(std::io::stdout(), name, inode)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve_words(words: &[&str]) -> Option<ExitCode> {
        serve(words.iter().map(OsString::from))
    }

    #[test]
    fn ordinary_arguments_are_none_of_its_business() {
        assert!(serve_words(&["walwise"]).is_none());
        assert!(serve_words(&["walwise", "check", "__watch"]).is_none());
        assert!(serve_words(&[]).is_none());
    }

    #[test]
    fn it_removes_nothing_but_scratch_directories() {
        for name in ["/etc/passwd", "data", ".walwise-probe-1/../x"] {
            assert_eq!(serve_words(&["walwise", "__watch", name]), Some(ExitCode::FAILURE), "{name}");
        }
    }
}
