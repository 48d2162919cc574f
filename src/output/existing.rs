//! What becomes of a file that exists where a document is to be written. Judging the file is left to [`super::draft`].

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
