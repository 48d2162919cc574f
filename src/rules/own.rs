//! Commands of a user's rule that walwise does not understand: they are shown as the user's own.
//!
//! They are text and no [`Command`](crate::quote::Command), so that no script and nothing to paste can contain them by
//! mistake. A command that can lose data never becomes one: its rule is refused.

use serde::Serialize;

use super::template::Template;

/// What a command of a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// It does what is advised.
    Apply,
    /// It shows that it is done.
    Verify,
    /// It takes it back.
    Undo,
}

impl Purpose {
    /// The word in rules, JSON and on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Verify => "verify",
            Self::Undo => "undo",
        }
    }
}

/// A command as its author wrote it, which is not understood.
#[derive(Clone, Debug)]
pub struct OwnSpec {
    /// What it is for.
    pub purpose: Purpose,
    /// The command.
    pub command: Template,
    /// Why it is not understood.
    pub why: String,
}

/// A command of the user's own that is not understood: never in a script, nor among what is to be pasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OwnCommand {
    /// What it is for.
    pub purpose: Purpose,
    /// The command, with the facts of the subject in it.
    pub command: String,
    /// The file whose rule has it.
    pub file: String,
    /// The line that this rule starts on, counted from one.
    pub line: usize,
    /// Why walwise does not understand it.
    pub why: String,
}

impl OwnCommand {
    /// Its author and why it is not walwise's, in a sentence.
    pub fn sentence(&self) -> String {
        let Self { file, line, why, .. } = self;
        format!("your own command, of {file}:{line}; walwise does not understand it: {why}")
    }
}
