//! A command line for a person to run: literal text of the source or a rule, with values of the
//! machine between, each one word.
//!
//! It is only displayed, never run, but can be made only here, so that every value is quoted. A
//! value in the place of an argument is refused if it begins with a dash, because quotes do not
//! keep a program from taking it for an option.

use std::fmt;

use serde::Serialize;

use super::{comment, shell};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Command(String);

impl Command {
    /// Begins with literal text: `walwise check `.
    pub fn new(code: &'static str) -> Self {
        Self(code.to_owned())
    }

    /// `walwise check NAME` and `after`; `None` where the name cannot be written.
    pub fn check(name: &str, after: &'static str) -> Option<Self> {
        Some(Self::new("walwise check ").value(name)?.literal(after))
    }

    /// A comment in place of a command.
    pub fn comment(says: &str) -> Self {
        Self(format!("# {}", comment::escape_line(says)))
    }

    /// Appends literal text of the source.
    #[must_use]
    pub fn literal(self, code: &'static str) -> Self {
        self.rule_text(code)
    }

    /// Appends text from a rule's author. For templates of rules only.
    #[must_use]
    pub fn rule_text(mut self, code: &str) -> Self {
        self.0.push_str(code);
        self
    }

    /// Appends a value as facts show it; `None` where it cannot be written or would be taken for an
    /// option.
    pub fn value(self, shown: &str) -> Option<Self> {
        let is_option = shown.starts_with('-') && self.0.ends_with(' ');
        if is_option {
            None
        } else {
            self.value_or_option(shown)
        }
    }

    /// The same for a value that may be an option.
    pub fn value_or_option(mut self, shown: &str) -> Option<Self> {
        self.0.push_str(&shell::quote_name(shown)?);
        Some(self)
    }

    /// Appends a text as one word: one that is already quoted for another reader.
    pub fn quoted_text(mut self, text: &str) -> Option<Self> {
        self.0.push_str(&shell::quote(text)?);
        Some(self)
    }

    /// Appends a command for another shell as one word: `ssh HOST 'ls /'`.
    pub fn nested_command(self, inner: &Self) -> Option<Self> {
        self.quoted_text(&inner.0)
    }

    /// Appends a comment.
    #[must_use]
    pub fn with_comment(self, says: &str) -> Self {
        Self(format!("{}   {}", self.0, Self::comment(says).0))
    }

    /// The command as it is to be pasted.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The command, or a remark that a name prevents one.
    pub fn or_placeholder(command: Option<Self>) -> String {
        command.map_or_else(
            || "(no command: the name cannot be quoted)".to_owned(),
            |command| command.0,
        )
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Command {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> Option<String> {
        Command::check(name, " --format fstab").map(|command| command.to_string())
    }

    #[test]
    fn values_are_words_or_there_is_no_command() {
        assert_eq!(
            check("/srv/pg").as_deref(),
            Some("walwise check /srv/pg --format fstab")
        );
        assert_eq!(
            check("/mnt/$(id>x)").as_deref(),
            Some("walwise check '/mnt/$(id>x)' --format fstab")
        );
        for name in ["--help", "-x", "/mnt/\\x1b[m", "/mnt/\\xff"] {
            assert_eq!(check(name), None, "{name}");
        }
        assert!(Command::or_placeholder(None).starts_with("(no command"));
    }

    #[test]
    fn a_dash_is_an_option_only_where_an_argument_begins() {
        let node = |code| {
            Command::new(code)
                .value("-x")
                .map(|command| command.to_string())
        };
        assert_eq!(
            node("cat /sys/block/").as_deref(),
            Some("cat /sys/block/-x")
        );
        assert_eq!(
            node("mysql --socket=").as_deref(),
            Some("mysql --socket=-x")
        );
        assert_eq!(node("cat "), None);
        assert_eq!(
            Command::new("mkfs ")
                .value_or_option("-x")
                .unwrap()
                .as_str(),
            "mkfs -x"
        );
    }

    #[test]
    fn a_command_for_another_shell_is_one_word() {
        let inner = Command::new("rm -r ").value("/a b").unwrap();
        let outer = Command::new("ssh HOST ").nested_command(&inner).unwrap();
        assert_eq!(outer.as_str(), "ssh HOST \"rm -r '/a b'\"");
    }

    #[test]
    fn a_remark_stays_one() {
        assert_eq!(
            Command::comment("a\nrm -r /\r\u{2028}b").as_str(),
            "# a?rm -r /??b"
        );
    }
}
