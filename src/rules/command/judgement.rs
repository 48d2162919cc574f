//! The three things that a command can be, and how those of its parts go together.

use std::ops::Range;

/// What a command, or a part of one, does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is understood, and nothing in it can lose data.
    Harmless,
    /// It is not understood completely.
    Strange {
        /// Why.
        why: String,
    },
    /// It can lose data.
    Loses {
        /// What in it, in bytes of the command as it was written.
        range: Range<usize>,
        /// How, as a sentence goes on behind the culprit.
        what: String,
    },
}

impl Judgement {
    /// It is not understood, because.
    pub fn strange(why: impl Into<String>) -> Self {
        Self::Strange { why: why.into() }
    }

    /// It can lose data, because.
    pub fn loses(range: Range<usize>, what: impl Into<String>) -> Self {
        Self::Loses { range, what: what.into() }
    }

    /// Of two parts that are both done: the worse.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Loses { .. }, _) | (_, Self::Harmless) | (Self::Strange { .. }, Self::Strange { .. }) => {
                self
            }
            (Self::Strange { .. }, Self::Loses { .. }) | (Self::Harmless, _) => other,
        }
    }

    /// What is not understood may be suspect.
    #[must_use]
    pub fn or(self, suspect: Option<Self>) -> Self {
        match (&self, suspect) {
            (Self::Strange { .. }, Some(suspect)) => suspect,
            (Self::Strange { .. } | Self::Harmless | Self::Loses { .. }, _) => self,
        }
    }
}

/// All parts, each of which is done.
pub fn all(parts: impl IntoIterator<Item = Judgement>) -> Judgement {
    parts.into_iter().fold(Judgement::Harmless, Judgement::and)
}
