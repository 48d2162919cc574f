//! Writes a finished document to a file, completely or not at all: the only way in which walwise
//! writes a requested file.
//!
//! A [`Destination`] is found before anything is measured and written at the end, by a child, since
//! any file system may stop responding. [`crate::way`] decides which paths are safe; standard
//! output is left to the caller. An existing file is never written to, but replaced: its mode, its
//! owner and its other links do not carry over.

mod existing {
    //! What becomes of a file that exists where a document is to be written. Judging the file is
    //! left to [`super::draft`].

    use serde::{Deserialize, Serialize};

    /// What becomes of a file that exists.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Existing {
        /// It stays, and nothing is written.
        Kept,
        /// The document takes its place.
        Replaced,
        /// The document takes its place and continues it, so that it must be our own.
        Continued,
    }
}
mod draft;
pub mod series;
mod child {
    //! The subprocess that writes a document: it finds the place, reports it, receives the
    //! document, and renames it when told to.
    //!
    //! If its parent exits or gives up, the channel closes and its draft is removed. It reports a
    //! notice about the place, that the draft is written, and the name of the document; each may be
    //! a refusal instead. It receives the path and the options, the parts of the document with an
    //! empty one at the end, and the order to rename it.

    use std::io;
    use std::path::PathBuf;

    use super::draft::{NamedDocument, OutputLocation, Refused, WriteOptions};
    use crate::subprocess::{Bytes, Channel};
    use crate::way::Walker;

    /// Acts as the subprocess.
    pub fn serve(mut channel: Channel) -> io::Result<()> {
        match write(&mut channel) {
            Ok(named) => channel.send(&Ok::<_, Refused>(named)),
            Err(WriteFailure::Refused(refused)) => channel.send(&Err::<(), _>(refused)),
            Err(WriteFailure::Alone) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    enum WriteFailure {
        Refused(Refused),
        /// The parent is gone, or gave up.
        Alone,
    }

    impl<T: Into<Refused>> From<T> for WriteFailure {
        fn from(refused: T) -> Self {
            Self::Refused(refused.into())
        }
    }

    fn write(channel: &mut Channel) -> Result<NamedDocument, WriteFailure> {
        let (path, options): (Bytes, WriteOptions) =
            channel.recv(None).map_err(|_| WriteFailure::Alone)?;
        let location = OutputLocation::find(Walker::ourselves(), &PathBuf::from(path), options)?;
        channel
            .send(&Ok::<_, Refused>(&location.notice))
            .map_err(|_| WriteFailure::Alone)?;
        let mut document = Vec::new();
        loop {
            let Bytes(part) = channel.recv(None).map_err(|_| WriteFailure::Alone)?;
            if part.is_empty() {
                break;
            }
            document.extend(part);
        }
        let draft = location.write(&document)?;
        channel
            .send(&Ok::<_, Refused>(()))
            .map_err(|_| WriteFailure::Alone)?;
        channel.recv::<()>(None).map_err(|_| WriteFailure::Alone)?;
        Ok(draft.name_it()?)
    }
}

pub use child::serve;
pub use existing::Existing;

use std::path::{Path, PathBuf};
use std::time::Duration;

use draft::{NamedDocument, Refused, WriteOptions};
use serde::de::DeserializeOwned;

use crate::subprocess::{Bytes, PATIENCE, RecvError, Role, Subprocess};
use crate::text;
use crate::way::CreationPolicy;

/// The largest part of a document that is sent at once, in bytes.
const PART: usize = 1 << 20;

/// The longest time for a file system to make a document durable.
const LONGEST_WRITE: Duration = Duration::from_secs(60);

/// Why a document was not written. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file of that name exists and may not be replaced.
    #[error("{} exists", path.display())]
    Exists { path: PathBuf },
    /// The path is unsafe, or the system refused.
    #[error("cannot write {}: {why}", path.display())]
    Refused {
        path: PathBuf,
        /// The error and a remedy, display-safe.
        why: String,
    },
}

/// Who may read the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// For root, readable by root alone; for others, by the umask.
    #[default]
    Usual,
    Private,
    Exactly(u32),
}

impl Access {
    /// Parses requested permissions: octal, and not writable for others.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bits = u32::from_str_radix(text, 8)
            .ok()
            .filter(|bits| *bits <= 0o7777);
        match bits {
            None => Err("permissions in octal, please, such as 0640".to_owned()),
            Some(bits) if bits & !0o755 != 0 => Err(
                "nobody but the owner may write it, and no program may run as its owner; 0640, say"
                    .to_owned(),
            ),
            Some(bits) if bits & 0o600 != 0o600 => {
                Err("its owner must be able to read and write it".to_owned())
            }
            Some(bits) => Ok(Self::Exactly(bits)),
        }
    }

    /// The exact bits; `None` where the umask decides.
    fn bits(self, root: bool) -> Option<u32> {
        match self {
            Self::Exactly(bits) => Some(bits),
            Self::Private => Some(0o600),
            Self::Usual if root => Some(0o600),
            Self::Usual => None,
        }
    }
}

/// How to write a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What becomes of a file that exists.
    pub existing: Existing,
    /// Who may read it.
    pub access: Access,
    /// Whether it may be executed, so that nobody else may be able to change it.
    pub runs: bool,
    /// Whether it continues a [`series`]: the name given is a [`series::date_name`], before which
    /// the next free number is put, and the oldest documents beyond the bounds are removed.
    pub series: bool,
    /// The treatment of missing directories.
    pub missing: CreationPolicy,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            existing: Existing::Replaced,
            access: Access::Usual,
            runs: false,
            series: false,
            missing: CreationPolicy::Refused,
        }
    }
}

impl Wish {
    /// As the subprocess is told it.
    fn options(self, root: bool) -> WriteOptions {
        let Self {
            existing,
            access,
            runs,
            series,
            missing,
        } = self;
        WriteOptions {
            existing,
            mode: access.bits(root),
            runs,
            series,
            missing,
        }
    }
}

/// A document that was written.
#[derive(Debug)]
pub struct Written {
    /// Its path; the number of a [`series`] is taken only when it is written.
    pub path: PathBuf,
    /// A warning about it: older documents of its series that stay.
    pub warning: Option<String>,
}

/// A place where a document can be written; nothing of it exists yet.
pub struct Destination {
    path: PathBuf,
    child: Subprocess,
    notice: Option<String>,
}

impl Destination {
    /// Finds the place, and checks that a file can be created there.
    pub fn open(path: &Path, wish: Wish) -> Result<Self, OutputError> {
        let options = wish.options(nix::unistd::geteuid().is_root());
        let child = Subprocess::spawn(Role::Write, &(Bytes::from(path), options));
        let child = child.map_err(|error| OutputError::Refused {
            path: path.to_owned(),
            why: format!(
                "the child that writes did not start: {}",
                text::error_words(&error)
            ),
        })?;
        let mut found = Self {
            path: path.to_owned(),
            child,
            notice: None,
        };
        found.notice = found.recv(PATIENCE)?;
        Ok(found)
    }

    /// A warning about the place: that another user controls it.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Writes the document: completely, even after a crash, or not at all.
    pub fn commit(mut self, document: &[u8]) -> Result<Written, OutputError> {
        let channel = &mut self.child.channel;
        let mut parts = document.chunks(PART).chain([&[][..]]);
        // A child that stopped reading may have sent the reason.
        let _ = parts.try_for_each(|part| channel.send(&Bytes(part.to_vec())));
        self.recv::<()>(LONGEST_WRITE)?;
        let _ = self.child.channel.send(&());
        let NamedDocument {
            series_name,
            warning,
        } = self.recv(LONGEST_WRITE)?;
        self.child.wait();
        let path =
            series_name.map_or_else(|| self.path.clone(), |name| self.path.with_file_name(name));
        Ok(Written { path, warning })
    }

    fn recv<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T, OutputError> {
        let why = match self.child.channel.recv(Some(patience)) {
            Ok(Ok(reply)) => return Ok(reply),
            Ok(Err(Refused::Exists)) => {
                return Err(OutputError::Exists {
                    path: self.path.clone(),
                });
            }
            Ok(Err(Refused::For(why))) => why,
            Err(RecvError::Closed) => "the child that writes ended without a word".to_owned(),
            Err(RecvError::Timeout) => {
                format!(
                    "no answer within {} s; name a file on a file system that works",
                    patience.as_secs()
                )
            }
        };
        Err(OutputError::Refused {
            path: self.path.clone(),
            why,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_may_write_what_root_wrote() {
        for (text, bits) in [
            ("0640", 0o640),
            ("644", 0o644),
            ("0755", 0o755),
            ("600", 0o600),
        ] {
            assert_eq!(Access::parse(text), Ok(Access::Exactly(bits)));
        }
        for wrong in [
            "0660", "0602", "4755", "2755", "1644", "0440", "x", "", "-600", "0o600", "77777",
        ] {
            assert!(Access::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn root_s_files_are_root_s_unless_somebody_says_so() {
        let bits = |access: Access| [access.bits(true), access.bits(false)];
        assert_eq!(bits(Access::Usual), [Some(0o600), None]);
        assert_eq!(bits(Access::Private), [Some(0o600); 2]);
        assert_eq!(bits(Access::Exactly(0o640)), [Some(0o640); 2]);
    }
}
