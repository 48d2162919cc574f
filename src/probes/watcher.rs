//! The watcher: a child process of our own program that removes the scratch directory if we die without doing so.
//!
//! It waits on a socket whose other end only we hold. When that closes without a farewell, we were killed. It runs in
//! its own session with all signals blocked, so that a signal from the terminal that kills us does not kill it first.
//! It has the directory as its standard output, because that is how a descriptor is passed on without unsafe code. It
//! prints nothing and holds none of our own outputs open.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use super::directory::{self, PREFIX};
use super::error::{ErrorKind, ProbeError};

/// The hidden argument that makes the program a watcher.
const ARGUMENT: &str = "__watch";

/// Messages over the socket: by the child once it is safe from signals; by us before the directory is created (the
/// length of its name and the name follow), once it exists (its inode follows), and once it is removed. The name is no
/// argument, because everybody can read arguments.
const READY: u8 = b'r';
const NAME: u8 = b'n';
const CREATED: u8 = b'c';
const DONE: u8 = b'd';

/// A running watcher, seen from the prober.
pub struct Watcher {
    child: Child,
    socket: UnixStream,
}

impl Watcher {
    /// Starts a watcher of a directory and waits until it is ready.
    pub fn start(program: &Path, directory: &OwnedFd) -> Result<Self, ProbeError> {
        let (socket, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
        let child = Command::new(program)
            .arg(ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(directory.try_clone().map_err(|error| failed(&error))?))
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(&error))?;
        let mut watcher = Self { child, socket };
        let mut answer = [0];
        let ready = watcher.socket.read_exact(&mut answer);
        if ready.is_err() || answer != [READY] {
            watcher.done();
            return Err(failed(&std::io::Error::other("it did not answer")));
        }
        Ok(watcher)
    }

    /// Announces the name that will be created.
    pub fn will_create(&mut self, name: &str) -> Result<(), ProbeError> {
        let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
        let message = [&[NAME, length][..], name.as_bytes()].concat();
        self.socket.write_all(&message).map_err(|error| failed(&error))
    }

    /// Reports the inode of our directory.
    pub fn created(&mut self, inode: u64) {
        let mut message = vec![CREATED];
        message.extend(inode.to_ne_bytes());
        // If the watcher has exited, nobody receives this; we still remove the directory ourselves.
        let _ = self.socket.write_all(&message);
    }

    /// Dismisses it: the directory is gone.
    pub fn done(mut self) {
        let _ = self.socket.write_all(&[DONE]);
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

/// Acts as the watcher if the arguments (the program's name first) ask for it; `None` if they do not. `main` calls this
/// first.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.nth(1)?.to_str() != Some(ARGUMENT) {
        return None;
    }
    Some(watch().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn failed(error: &std::io::Error) -> ProbeError {
    let says = format!(
        "starting the watcher, which removes the scratch directory if walwise is killed, failed: {error}; nothing was written"
    );
    ProbeError::new(ErrorKind::Watcher, says)
}

fn watch() -> std::io::Result<()> {
    nix::sys::signal::SigSet::all().thread_block()?;
    // It fails only for a group leader, which needs no new session.
    let _ = nix::unistd::setsid();
    std::env::set_current_dir("/")?;
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    socket.write_all(&[READY])?;
    match hear(&mut socket, std::io::stdout())? {
        // A directory that is held open is found under any name.
        Some((name, Some(directory))) => Ok(directory::remove_held(std::io::stdout(), &name, &directory)?),
        Some((name, None)) => match directory::open_ours(std::io::stdout(), &name, None)? {
            Some(directory) => Ok(directory::remove_held(std::io::stdout(), &name, &directory)?),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

/// The remaining work when the socket closes: a name, and the directory once it was created.
fn hear(mut socket: impl Read, place: impl AsFd) -> std::io::Result<Option<(String, Option<OwnedFd>)>> {
    let mut left = None;
    let mut message = [0];
    while socket.read_exact(&mut message).is_ok() {
        match message {
            [NAME] => left = name(&mut socket)?.map(|name| (name, None)),
            [CREATED] => {
                let mut number = [0; 8];
                socket.read_exact(&mut number)?;
                if let Some((name, directory)) = &mut left {
                    *directory = directory::open_ours(&place, name, Some(u64::from_ne_bytes(number)))?;
                }
            }
            [DONE] => return Ok(None),
            _ => break,
        }
    }
    Ok(left)
}

/// A name in our format; nothing else is ever removed.
fn name(socket: &mut impl Read) -> std::io::Result<Option<String>> {
    let mut length = [0];
    socket.read_exact(&mut length)?;
    let mut name = vec![0; usize::from(u8::from_ne_bytes(length))];
    socket.read_exact(&mut name)?;
    let name = String::from_utf8(name).ok();
    Ok(name.filter(|name| name.starts_with(PREFIX) && !name.contains('/')))
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
        let place = tempfile::tempdir().unwrap();
        let place = std::fs::File::open(place.path()).unwrap();
        let left = |name: &str| {
            let said = [&[NAME, u8::try_from(name.len()).unwrap()], name.as_bytes()].concat();
            hear(&said[..], &place).unwrap().map(|(name, _)| name)
        };
        for name in ["/etc/passwd", "data", ".walwise-probe-1/../x", ""] {
            assert_eq!(left(name), None, "{name}");
        }
        assert_eq!(left(".walwise-probe-1").as_deref(), Some(".walwise-probe-1"));
    }

    #[test]
    fn its_last_word_leaves_nothing_to_do() {
        let place = std::fs::File::open("/").unwrap();
        let said = [&[NAME, 16][..], b".walwise-probe-1", &[DONE]].concat();
        assert!(hear(&said[..], &place).unwrap().is_none());
        assert!(hear(&[][..], &place).unwrap().is_none());
    }
}
