//! The three possible effects of a command, and how those of its parts combine.

use std::ops::Range;

/// The effect of a command, or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEffect {
    /// It is understood, and nothing in it can lose data.
    Harmless,
    /// It is not understood completely.
    Strange {
        /// Why.
        why: String,
    },
    /// It can lose data.
    Loses {
        /// The part that loses data, in bytes of the command as written.
        range: Range<usize>,
        /// The effect, as the continuation of a sentence after the culprit.
        what: String,
    },
}

impl CommandEffect {
    /// It is not understood, for this reason.
    pub fn strange(why: impl Into<String>) -> Self {
        Self::Strange { why: why.into() }
    }

    /// It can lose data, for this reason.
    pub fn loses(range: Range<usize>, what: impl Into<String>) -> Self {
        Self::Loses { range, what: what.into() }
    }

    /// The worse of two parts that are both executed.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Loses { .. }, _) | (_, Self::Harmless) | (Self::Strange { .. }, Self::Strange { .. }) => {
                self
            }
            (Self::Strange { .. }, Self::Loses { .. }) | (Self::Harmless, _) => other,
        }
    }

    /// A command that is not understood, with a possible suspect in it.
    #[must_use]
    pub fn or(self, suspect: Option<Self>) -> Self {
        match (&self, suspect) {
            (Self::Strange { .. }, Some(suspect)) => suspect,
            (Self::Strange { .. } | Self::Harmless | Self::Loses { .. }, _) => self,
        }
    }
}

/// All parts, each of which is executed.
pub fn all(parts: impl IntoIterator<Item = CommandEffect>) -> CommandEffect {
    parts.into_iter().fold(CommandEffect::Harmless, CommandEffect::and)
}
