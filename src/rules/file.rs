//! A rule file with its name and contents, and the record of a user's file in a pack.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A rule file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuleFile {
    /// Its name as the user knows it.
    pub name: String,
    /// What it contains.
    pub text: String,
}

/// A rule file of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UserFile {
    /// Its name as the user knows it.
    pub file: String,
    /// SHA-256 of what it contains, with whatever mistakes.
    pub sha256: String,
}

impl UserFile {
    /// The entry of a file.
    pub fn from_file(file: &RuleFile) -> Self {
        Self { file: file.name.clone(), sha256: sha256(file.text.as_bytes()) }
    }

    /// The name under which it counts.
    pub(super) fn counts_as(&self) -> String {
        format!("user/{}", self.file.rsplit('/').next().unwrap_or(&self.file))
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
