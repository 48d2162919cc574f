//! Writes a finished document to a file, completely or not at all: the only way in which walwise writes a requested
//! file.
//!
//! A [`Destination`] is found before anything is measured and written at the end, by a child, since any file system may
//! stop responding. [`crate::way`] decides which paths are safe; standard output is left to the caller. An existing
//! file is never written to, but replaced: its mode, its owner and its other links do not carry over.

mod existing;
pub mod series;
mod draft;
mod say;
mod child;

pub use child::serve;
pub use existing::Existing;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::errand::{Errand, PATIENCE, Signals, Silence};
use crate::text;
use crate::way::CreationPolicy;

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
        let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o7777);
        match bits {
            None => Err("permissions in octal, please, such as 0640".to_owned()),
            Some(bits) if bits & !0o755 != 0 => {
                Err("nobody but the owner may write it, and no program may run as its owner; 0640, say"
                    .to_owned())
            }
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
    /// Whether it continues a [`series`]: the name given is a [`series::date_name`], before which the next free number is put,
    /// and the oldest documents beyond the bounds are removed.
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
    /// As words for the child.
    fn words(self, root: bool) -> [String; 5] {
        let missing = match self.missing {
            CreationPolicy::Refused => "refused".to_owned(),
            CreationPolicy::Made(mode) => format!("made:{mode:o}"),
        };
        [
            self.existing.word().to_owned(),
            self.access.bits(root).map_or("umask".to_owned(), |bits| format!("{bits:o}")),
            if self.runs { "runs" } else { "reads" }.to_owned(),
            if self.series { "series" } else { "alone" }.to_owned(),
            missing,
        ]
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
    errand: Errand,
    notice: Option<String>,
}

impl Destination {
    /// Finds the place, and checks that a file can be created there.
    pub fn open(path: &Path, wish: Wish) -> Result<Self, OutputError> {
        let failed = |why: String| OutputError::Refused { path: path.to_owned(), why };
        let words = wish.words(nix::unistd::geteuid().is_root()).map(OsString::from);
        let words: Vec<&OsStr> =
            [path.as_os_str()].into_iter().chain(words.iter().map(OsString::as_os_str)).collect();
        let errand = Errand::send(child::ARGUMENT, &words, Signals::Ours).map_err(|error| {
            failed(format!("the child that writes did not start: {}", text::error_words(&error)))
        })?;
        let mut found = Self { path: path.to_owned(), errand, notice: None };
        let notice = found.expect(say::READY, PATIENCE)?;
        found.notice =
            Some(String::from_utf8_lossy(&notice).into_owned()).filter(|notice| !notice.is_empty());
        Ok(found)
    }

    /// A warning about the place: that another user controls it.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Writes the document: completely, even after a crash, or not at all.
    pub fn commit(mut self, document: &[u8]) -> Result<Written, OutputError> {
        let line = &mut self.errand.line;
        let sent = line.say_all(say::PART, document).and_then(|()| line.say(say::ALL, b""));
        // A child that stopped reading may have sent the reason.
        let _ = sent;
        self.expect(say::WRITTEN, LONGEST_WRITE)?;
        let _ = self.errand.line.say(say::NAME_IT, b"");
        let name = self.expect(say::DONE, LONGEST_WRITE)?;
        let warning = self.expect(say::WARNING, LONGEST_WRITE)?;
        self.errand.done();
        let text =
            |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned()).filter(|text| !text.is_empty());
        let path = text(&name).map_or_else(|| self.path.clone(), |name| self.path.with_file_name(name));
        Ok(Written { path, warning: text(&warning) })
    }

    fn expect(&mut self, wanted: u8, patience: Duration) -> Result<Vec<u8>, OutputError> {
        let refused = |why: String| OutputError::Refused { path: self.path.clone(), why };
        match self.errand.line.hear(Some(patience)) {
            Ok((kind, what)) if kind == wanted => Ok(what),
            Ok((say::EXISTS, _)) => Err(OutputError::Exists { path: self.path.clone() }),
            Ok((say::REFUSED, why)) => Err(refused(String::from_utf8_lossy(&why).into_owned())),
            Ok(_) | Err(Silence::Ended) => {
                Err(refused("the child that writes ended without a word".to_owned()))
            }
            Err(Silence::Late) => Err(refused(format!(
                "no answer within {} s; name a file on a file system that works",
                patience.as_secs()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_may_write_what_root_wrote() {
        for (text, bits) in [("0640", 0o640), ("644", 0o644), ("0755", 0o755), ("600", 0o600)] {
            assert_eq!(Access::parse(text), Ok(Access::Exactly(bits)));
        }
        for wrong in ["0660", "0602", "4755", "2755", "1644", "0440", "x", "", "-600", "0o600", "77777"] {
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
