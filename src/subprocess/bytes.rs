//! Bytes in a message, such as a path that is no text: one character for each, so that most take one byte of JSON.

use std::char::TryFromCharError;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Any bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        bytes.0.into_iter().map(char::from).collect()
    }
}

impl TryFrom<String> for Bytes {
    type Error = TryFromCharError;

    fn try_from(text: String) -> Result<Self, TryFromCharError> {
        text.chars().map(u8::try_from).collect::<Result<_, _>>().map(Self)
    }
}

impl From<&Path> for Bytes {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<Bytes> for PathBuf {
    fn from(bytes: Bytes) -> Self {
        OsString::from_vec(bytes.0).into()
    }
}
