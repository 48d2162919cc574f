//! Writes a finished document to a file, completely or not at all: the only code that writes a
//! requested file.
//!
//! A [`Destination`] is opened before anything is measured and committed at the end, by a child,
//! since any file system may stop responding. [`crate::way`] decides which paths are safe. An
//! existing file is never written to, but replaced: its mode, owner and other links do not carry
//! over.

mod existing_file {
    //! What happens to an existing file where a document is to be written. Checking it is left to
    //! [`super::draft`].

    use serde::{Deserialize, Serialize};

    /// What happens to an existing file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum ExistingFile {
        /// It stays, and nothing is written.
        Kept,
        /// The document takes its place.
        Replaced,
        /// The document replaces and continues it, so the file must be our own.
        Continued,
    }
}
mod draft;
pub mod series;
mod child {
    //! The subprocess that writes a document: it finds the place, reports it, receives the
    //! document, and renames it on request.
    //!
    //! If its parent exits or gives up, the channel closes and the draft is removed. It receives
    //! path and options, the parts of the document with an empty one at the end, and the order to
    //! rename it. It sends a notice about the place, that the draft is written, and the final name;
    //! each may be a refusal instead.

    use std::io;
    use std::path::PathBuf;

    use super::draft::{NamedDocument, OutputLocation, WriteError, WriteOptions};
    use crate::safe_path::Walker;
    use crate::subprocess::{Bytes, Channel};

    pub fn serve(mut channel: Channel) -> io::Result<()> {
        match write(&mut channel) {
            Ok(named) => channel.send(&Ok::<_, WriteError>(named)),
            Err(WriteFailure::Refused(refused)) => channel.send(&Err::<(), _>(refused)),
            Err(WriteFailure::ParentGone) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    enum WriteFailure {
        Refused(WriteError),
        /// The parent is gone, or gave up.
        ParentGone,
    }

    impl<T: Into<WriteError>> From<T> for WriteFailure {
        fn from(refused: T) -> Self {
            Self::Refused(refused.into())
        }
    }

    fn write(channel: &mut Channel) -> Result<NamedDocument, WriteFailure> {
        let (path, options): (Bytes, WriteOptions) =
            channel.recv(None).map_err(|_| WriteFailure::ParentGone)?;
        let location = OutputLocation::find(Walker::current_user(), &PathBuf::from(path), options)?;
        channel
            .send(&Ok::<_, WriteError>(&location.notice))
            .map_err(|_| WriteFailure::ParentGone)?;
        let mut document = Vec::new();
        loop {
            let Bytes(part) = channel.recv(None).map_err(|_| WriteFailure::ParentGone)?;
            if part.is_empty() {
                break;
            }
            document.extend(part);
        }
        let draft = location.write(&document)?;
        channel
            .send(&Ok::<_, WriteError>(()))
            .map_err(|_| WriteFailure::ParentGone)?;
        channel
            .recv::<()>(None)
            .map_err(|_| WriteFailure::ParentGone)?;
        Ok(draft.publish()?)
    }
}

pub use child::serve;
pub use existing_file::ExistingFile;

use std::path::{Path, PathBuf};
use std::time::Duration;

use draft::{NamedDocument, WriteError, WriteOptions};
use serde::de::DeserializeOwned;

use crate::safe_path::CreationPolicy;
use crate::subprocess::{Bytes, RECV_TIMEOUT, RecvError, Role, Subprocess};
use crate::text;

/// The largest part of a document that is sent at once, in bytes.
const PART_BYTES: usize = 1 << 20;

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

/// Permissions of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// For root, readable by root alone; for others, by the umask.
    #[default]
    Standard,
    Private,
    Mode(u32),
}

impl Access {
    /// Parses requested permissions: octal, and not writable for others.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bits = u32::from_str_radix(text, 8)
            .ok()
            .filter(|bits| *bits <= 0o7777);
        match bits {
            None => Err("permissions must be octal, such as 0640".to_owned()),
            Some(bits) if bits & !0o755 != 0 => Err(
                "only the owner may write it, without setuid, setgid or sticky bits; for example 0640"
                    .to_owned(),
            ),
            Some(bits) if bits & 0o600 != 0o600 => {
                Err("its owner must be able to read and write it".to_owned())
            }
            Some(bits) => Ok(Self::Mode(bits)),
        }
    }

    fn bits(self, root: bool) -> Option<u32> {
        match self {
            Self::Mode(bits) => Some(bits),
            Self::Private => Some(0o600),
            Self::Standard if root => Some(0o600),
            Self::Standard => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    pub existing: ExistingFile,
    pub access: Access,
    /// Whether it may be executed, so that nobody else may be able to change it.
    pub executable: bool,
    /// Whether it continues a [`series`]: the name given is a [`series::date_name`], which gets the
    /// next free number as its prefix, and the oldest documents beyond the limits are removed.
    pub series: bool,
    pub missing: CreationPolicy,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            existing: ExistingFile::Replaced,
            access: Access::Standard,
            executable: false,
            series: false,
            missing: CreationPolicy::Refused,
        }
    }
}

impl OutputOptions {
    /// The form that the subprocess receives.
    fn options(self, root: bool) -> WriteOptions {
        let Self {
            existing,
            access,
            executable: runs,
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

#[derive(Debug)]
pub struct SavedDocument {
    /// Its path; the number of a [`series`] is taken only when it is written.
    pub path: PathBuf,
    /// A warning: older documents of its series could not be removed.
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
    pub fn open(path: &Path, wish: OutputOptions) -> Result<Self, OutputError> {
        let options = wish.options(nix::unistd::geteuid().is_root());
        let child = Subprocess::spawn(Role::DocumentWriter, &(Bytes::from(path), options));
        let child = child.map_err(|error| OutputError::Refused {
            path: path.to_owned(),
            why: format!(
                "the writing process did not start: {}",
                text::error_message(&error)
            ),
        })?;
        let mut found = Self {
            path: path.to_owned(),
            child,
            notice: None,
        };
        found.notice = found.recv(RECV_TIMEOUT)?;
        Ok(found)
    }

    /// A warning about the place: that another user controls it.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Writes the document: completely, even after a crash, or not at all.
    pub fn commit(mut self, document: &[u8]) -> Result<SavedDocument, OutputError> {
        let channel = &mut self.child.channel;
        let mut parts = document.chunks(PART_BYTES).chain([&[][..]]);
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
        Ok(SavedDocument { path, warning })
    }

    fn recv<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T, OutputError> {
        let why = match self.child.channel.recv(Some(patience)) {
            Ok(Ok(reply)) => return Ok(reply),
            Ok(Err(WriteError::Exists)) => {
                return Err(OutputError::Exists {
                    path: self.path.clone(),
                });
            }
            Ok(Err(WriteError::For(why))) => why,
            Err(RecvError::Closed) => "the writing process ended without a reply".to_owned(),
            Err(RecvError::Timeout) => {
                format!(
                    "no answer within {} s; name a file on a file system that responds",
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
            assert_eq!(Access::parse(text), Ok(Access::Mode(bits)));
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
        assert_eq!(bits(Access::Standard), [Some(0o600), None]);
        assert_eq!(bits(Access::Private), [Some(0o600); 2]);
        assert_eq!(bits(Access::Mode(0o640)), [Some(0o640); 2]);
    }
}
