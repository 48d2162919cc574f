//! Writes a finished document to a file, completely or not at all. Only this module writes files
//! that the user requested.
//!
//! A [`OutputDestination`] is opened before anything is measured, and the document is committed at
//! the end. A subprocess does both, because any file system may stop responding.
//! [`crate::safe_path`] decides which paths are safe. An existing file is replaced, never written
//! to: its mode, owner and hard links do not carry over.

mod draft;
pub mod series;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use draft::{OutputLocation, PublishedDocument, WriteError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::safe_path::{MissingDirectoryPolicy, TrustedUser};
use crate::subprocess::{Channel, MessageBytes, RECV_TIMEOUT, RecvError, Role, Subprocess};
use crate::text;

/// Bytes of a document that one message carries.
const PART_BYTES: usize = 1 << 20;

const LONGEST_WRITE: Duration = Duration::from_secs(60);

/// The reason why a document was not written, or why its rename may not be durable. Directories
/// that were created for the document remain.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file of that name exists and may not be replaced.
    #[error("{} already exists", path.display())]
    Exists { path: PathBuf },
    /// The path is unsafe, or a system call failed.
    #[error("cannot write {}: {why}", path.display())]
    Refused {
        path: PathBuf,
        /// The error and how to fix it; display-safe.
        why: String,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilePermissions {
    /// Files that root writes are readable by root alone. Files of other users follow the umask.
    #[default]
    Standard,
    Private,
    Mode(u32),
}

impl FilePermissions {
    /// Parses an octal mode, at most 0755. Fails for setuid, setgid and sticky bits, write
    /// permission of group or others, and an owner without read or write permission.
    pub fn parse_octal_mode(text: &str) -> Result<Self, String> {
        let bits = u32::from_str_radix(text, 8)
            .ok()
            .filter(|bits| *bits <= 0o7777);
        match bits {
            None => Err("expected an octal mode, such as 0640".to_owned()),
            Some(bits) if bits & !0o755 != 0 => Err(
                "only the owner may have write permission, and setuid, setgid and sticky bits are not allowed; use a mode such as 0640"
                    .to_owned(),
            ),
            Some(bits) if bits & 0o600 != 0o600 => {
                Err("the owner must have read and write permission".to_owned())
            }
            Some(bits) => Ok(Self::Mode(bits)),
        }
    }

    fn mode_bits(self, root: bool) -> Option<u32> {
        match self {
            Self::Mode(bits) => Some(bits),
            Self::Private => Some(0o600),
            Self::Standard if root => Some(0o600),
            Self::Standard => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputOptions {
    pub existing: ExistingFilePolicy,
    pub access: FilePermissions,
    /// Whether the document is a script that will be executed. Such a script is refused where
    /// another user could change it.
    pub executable: bool,
    /// Whether the document continues a [`series`]. The requested name is then a
    /// [`series::dated_file_name`]; the next free number becomes its prefix, and the oldest
    /// documents beyond the limits are removed.
    pub series: bool,
    pub missing: MissingDirectoryPolicy,
}

#[derive(Debug)]
pub struct SavedDocument {
    /// Path of the written document. In a [`series`] the path differs from the requested one,
    /// because the number is assigned on writing.
    pub path: PathBuf,
    /// A warning that older documents of the series could not be removed.
    pub warning: Option<String>,
}

/// A checked path for a document. The document appears there only with
/// [`OutputDestination::commit`].
pub struct OutputDestination {
    path: PathBuf,
    child: Subprocess,
    notice: Option<String>,
}

impl OutputDestination {
    pub fn open(path: &Path, wish: OutputOptions) -> Result<Self, OutputError> {
        let child = Subprocess::spawn(Role::DocumentWriter, &(MessageBytes::from(path), wish));
        let child = child.map_err(|error| OutputError::Refused {
            path: path.to_owned(),
            why: format!(
                "the process that writes the file did not start: {}",
                text::io_error_message(&error)
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

    /// A warning if another user controls the directory.
    pub fn foreign_owner_notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Writes the document and renames it to the path. After an error or a crash, the path never
    /// holds a part of the document.
    pub fn commit(mut self, document: &[u8]) -> Result<SavedDocument, OutputError> {
        let channel = &mut self.child.channel;
        let mut parts = document.chunks(PART_BYTES).chain([&[][..]]);
        // If sending fails, the child may have sent the reason, which `recv` returns below.
        let _ = parts.try_for_each(|part| channel.send(&MessageBytes(part.to_vec())));
        self.recv::<()>(LONGEST_WRITE)?;
        let _ = self.child.channel.send(&());
        let PublishedDocument {
            series_name,
            warning,
        } = self.recv(LONGEST_WRITE)?;
        self.child.close_channel_and_wait();
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
            Err(RecvError::Closed) => {
                "the process that writes the file ended without a reply".to_owned()
            }
            Err(RecvError::Timeout) => {
                format!(
                    "no answer within {} s; specify a file on a file system that responds",
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

// The subprocess that writes a document.
//
// It receives the path and options, then the document in parts, of which the last is empty, then
// the order to rename. It sends a notice about the directory, a confirmation that the draft is
// written, and the final name. An error may replace any of them. If the parent exits or gives up,
// the channel closes, and the subprocess removes the draft.

pub fn run_document_writer(mut channel: Channel) -> io::Result<()> {
    let reply = receive_and_publish_document(&mut channel);
    // If the parent has exited, `reply` is an error that nobody receives, and this send fails.
    channel.send(&reply)
}

fn receive_and_publish_document(channel: &mut Channel) -> Result<PublishedDocument, WriteError> {
    let (path, options): (MessageBytes, OutputOptions) = channel.recv(None)?;
    let location = OutputLocation::resolve_and_check_writable(
        TrustedUser::current_user(),
        &PathBuf::from(path),
        options,
    )?;
    channel.send(&Ok::<_, WriteError>(&location.notice))?;
    let mut document = Vec::new();
    loop {
        let MessageBytes(part) = channel.recv(None)?;
        if part.is_empty() {
            break;
        }
        document.extend(part);
    }
    let draft = location.write_draft(&document)?;
    channel.send(&Ok::<_, WriteError>(()))?;
    channel.recv::<()>(None)?;
    draft.publish()
}

/// What happens to a file that already exists at the path of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExistingFilePolicy {
    Kept,
    #[default]
    Replaced,
    /// The document replaces the existing file and continues its content, so this user must own
    /// that file.
    Continued,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_octal_modes_are_accepted() {
        for (text, bits) in [
            ("0640", 0o640),
            ("644", 0o644),
            ("0755", 0o755),
            ("600", 0o600),
        ] {
            assert_eq!(
                FilePermissions::parse_octal_mode(text),
                Ok(FilePermissions::Mode(bits))
            );
        }
        for wrong in [
            "0660", "0602", "4755", "2755", "1644", "0440", "x", "", "-600", "0o600", "77777",
        ] {
            assert!(FilePermissions::parse_octal_mode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn mode_bits_follow_access_and_root() {
        let bits = |access: FilePermissions| [access.mode_bits(true), access.mode_bits(false)];
        assert_eq!(bits(FilePermissions::Standard), [Some(0o600), None]);
        assert_eq!(bits(FilePermissions::Private), [Some(0o600); 2]);
        assert_eq!(bits(FilePermissions::Mode(0o640)), [Some(0o640); 2]);
    }
}
