//! What becomes of a file that exists where a document is to be written. Judging the file is left to [`super::draft`].

/// What becomes of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is written.
    Kept,
    /// The document takes its place.
    Replaced,
    /// The document takes its place and continues it, so that it must be our own.
    Continued,
}

impl Existing {
    /// The word for it between walwise and its child.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Replaced => "replaced",
            Self::Continued => "continued",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "kept" => Some(Self::Kept),
            "replaced" => Some(Self::Replaced),
            "continued" => Some(Self::Continued),
            _ => None,
        }
    }
}
