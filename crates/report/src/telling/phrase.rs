//! A sentence in pieces: what is a name, a value or a command stands apart from the words around
//! it, so that each form marks and escapes it in its own way.

use std::fmt;

/// A sentence, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase(Vec<Fragment>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fragment {
    Plain(String),
    /// A name, a value or a command.
    Code(String),
    /// A command of walwise for the reader to run, which forms without marks write in backticks.
    Command(String),
    /// Words that matter most.
    Strong(String),
    /// A verdict in a heading, which forms without larger letters write in capitals.
    Verdict(String),
    /// The heading under which the whole report tells the rest. The short text names the option
    /// that shows it.
    Further(&'static str),
}

impl Phrase {
    pub fn plain(words: impl Into<String>) -> Self {
        Self(vec![Fragment::Plain(words.into())])
    }

    /// A name, a value or a command alone.
    pub fn code(name: impl Into<String>) -> Self {
        Self(vec![Fragment::Code(name.into())])
    }

    /// Words that matter most.
    pub fn strong(words: impl Into<String>) -> Self {
        Self(vec![Fragment::Strong(words.into())])
    }

    /// A verdict that heads a section.
    pub fn verdict(words: impl Into<String>) -> Self {
        Self(vec![Fragment::Verdict(words.into())])
    }

    /// Names with commas between.
    pub fn codes<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().fold(Self::default(), |all, name| {
            let all = if all.is_empty() { all } else { all.and(", ") };
            all.and_code(name)
        })
    }

    /// The same with words behind it.
    #[must_use]
    pub fn and(mut self, words: impl Into<String>) -> Self {
        self.0.push(Fragment::Plain(words.into()));
        self
    }

    /// The same with a name, a value or a command behind it.
    #[must_use]
    pub fn and_code(mut self, name: impl Into<String>) -> Self {
        self.0.push(Fragment::Code(name.into()));
        self
    }

    /// The same with a command of walwise behind it.
    #[must_use]
    pub fn and_command(mut self, command: impl Into<String>) -> Self {
        self.0.push(Fragment::Command(command.into()));
        self
    }

    /// The same with the place of the rest behind it, in parentheses.
    #[must_use]
    pub fn and_further(mut self, heading: &'static str) -> Self {
        self.0.push(Fragment::Plain(" (".to_owned()));
        self.0.push(Fragment::Further(heading));
        self.0.push(Fragment::Plain(")".to_owned()));
        self
    }

    /// The same with another one behind it.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Its pieces in order.
    pub fn fragments(&self) -> &[Fragment] {
        &self.0
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|fragment| fragment.words().is_empty())
    }
}

impl Fragment {
    /// What it says, without its mark.
    fn words(&self) -> &str {
        match self {
            Self::Plain(words)
            | Self::Code(words)
            | Self::Strong(words)
            | Self::Verdict(words)
            | Self::Command(words) => words,
            Self::Further(words) => words,
        }
    }
}

impl<S: Into<String>> From<S> for Phrase {
    fn from(words: S) -> Self {
        Self::plain(words)
    }
}

/// Without marks; a verdict in capitals.
impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|fragment| match fragment {
            Fragment::Plain(words) | Fragment::Code(words) | Fragment::Strong(words) => {
                f.write_str(words)
            }
            Fragment::Command(command) => write!(f, "`{command}`"),
            Fragment::Further(_) => f.write_str("-v"),
            Fragment::Verdict(words) => f.write_str(&words.to_uppercase()),
        })
    }
}
