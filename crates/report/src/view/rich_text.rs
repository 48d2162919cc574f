//! Text with markup: names, values and commands are separate from plain words, so that each output
//! can mark and escape them.

use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RichText(Vec<TextSpan>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSpan {
    Plain(String),
    Code(String),
    /// A walwise command for the reader to run; plain text puts it in backticks.
    Command(String),
    Strong(String),
    /// A verdict in a heading; plain text writes it in capitals.
    Verdict(String),
    /// A reference to a heading of the full report. Plain text shows the option `-v` instead.
    SeeSection(&'static str),
}

impl RichText {
    pub fn plain(words: impl Into<String>) -> Self {
        Self(vec![TextSpan::Plain(words.into())])
    }

    pub fn code(name: impl Into<String>) -> Self {
        Self(vec![TextSpan::Code(name.into())])
    }

    pub fn strong(words: impl Into<String>) -> Self {
        Self(vec![TextSpan::Strong(words.into())])
    }

    pub fn verdict(words: impl Into<String>) -> Self {
        Self(vec![TextSpan::Verdict(words.into())])
    }

    pub fn comma_separated_codes<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().fold(Self::default(), |all, name| {
            let all = if all.is_empty() {
                all
            } else {
                all.append(", ")
            };
            all.append_code(name)
        })
    }

    #[must_use]
    pub fn append(mut self, words: impl Into<String>) -> Self {
        self.0.push(TextSpan::Plain(words.into()));
        self
    }

    #[must_use]
    pub fn append_code(mut self, name: impl Into<String>) -> Self {
        self.0.push(TextSpan::Code(name.into()));
        self
    }

    #[must_use]
    pub fn append_command(mut self, command: impl Into<String>) -> Self {
        self.0.push(TextSpan::Command(command.into()));
        self
    }

    #[must_use]
    pub fn append_reference(mut self, heading: &'static str) -> Self {
        self.0.push(TextSpan::Plain(" (".to_owned()));
        self.0.push(TextSpan::SeeSection(heading));
        self.0.push(TextSpan::Plain(")".to_owned()));
        self
    }

    #[must_use]
    pub fn append_rich_text(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn spans(&self) -> &[TextSpan] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|fragment| fragment.as_str().is_empty())
    }
}

impl TextSpan {
    fn as_str(&self) -> &str {
        match self {
            Self::Plain(words)
            | Self::Code(words)
            | Self::Strong(words)
            | Self::Verdict(words)
            | Self::Command(words) => words,
            Self::SeeSection(words) => words,
        }
    }
}

impl<S: Into<String>> From<S> for RichText {
    fn from(words: S) -> Self {
        Self::plain(words)
    }
}

impl fmt::Display for RichText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|fragment| match fragment {
            TextSpan::Plain(words) | TextSpan::Code(words) | TextSpan::Strong(words) => {
                f.write_str(words)
            }
            TextSpan::Command(command) => write!(f, "`{command}`"),
            TextSpan::SeeSection(_) => f.write_str("-v"),
            TextSpan::Verdict(words) => f.write_str(&words.to_uppercase()),
        })
    }
}
