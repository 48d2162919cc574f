//! Command lines for people to run: literal text of the source code or of a rule, with quoted
//! values of the machine.
//!
//! walwise displays a [`Command`] but never runs one. Only this module can build one, so every
//! value is quoted. A value in the place of an argument is refused if it begins with a dash: the
//! program would read the value as an option, despite quotes.

use std::fmt;

use serde::Serialize;

use super::{comment, shell};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ShellCommand(String);

impl ShellCommand {
    /// Starts a command with literal text, such as `walwise check `.
    pub fn new(code: &'static str) -> Self {
        Self(code.to_owned())
    }

    /// Builds `walwise check NAME` followed by `after`; `None` if the name cannot be quoted.
    pub fn walwise_check(name: &str, after: &'static str) -> Option<Self> {
        Some(
            Self::new("walwise check ")
                .append_value(name)?
                .append_literal(after),
        )
    }

    /// Builds a shell comment, for a place where a command is expected.
    pub fn comment(says: &str) -> Self {
        Self(format!("# {}", comment::escape_comment_line(says)))
    }

    /// Appends unquoted text of the source code.
    #[must_use]
    pub fn append_literal(self, code: &'static str) -> Self {
        self.append_rule_text(code)
    }

    /// Appends unquoted text from a rule. Only for templates of rules, never for values of the
    /// machine.
    #[must_use]
    pub fn append_rule_text(mut self, code: &str) -> Self {
        self.0.push_str(code);
        self
    }

    /// Appends a display-safe value, quoted; `None` if the value cannot be quoted or would be read
    /// as an option.
    pub fn append_value(self, shown: &str) -> Option<Self> {
        let is_option = shown.starts_with('-') && self.0.ends_with(' ');
        if is_option {
            None
        } else {
            self.append_value_or_option(shown)
        }
    }

    /// Like [`Self::value`], but accepts a value that begins with a dash.
    pub fn append_value_or_option(mut self, shown: &str) -> Option<Self> {
        self.0.push_str(&shell::quote_shell_name(shown)?);
        Some(self)
    }

    /// Appends literal text as one word, such as text that is already quoted for another program.
    pub fn append_quoted_text(mut self, text: &str) -> Option<Self> {
        self.0.push_str(&shell::quote_shell_word(text)?);
        Some(self)
    }

    /// Appends a command for another shell as one word: `ssh HOST 'ls /'`.
    pub fn append_nested_command(self, inner: &Self) -> Option<Self> {
        self.append_quoted_text(&inner.0)
    }

    #[must_use]
    pub fn with_comment(self, says: &str) -> Self {
        Self(format!("{}   {}", self.0, Self::comment(says).0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The command as text; for `None`, a remark that a name cannot be quoted.
    pub fn or_placeholder(command: Option<Self>) -> String {
        command.map_or_else(
            || "(no command: the name cannot be quoted)".to_owned(),
            |command| command.0,
        )
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ShellCommand {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_command(name: &str) -> Option<String> {
        ShellCommand::walwise_check(name, " --format fstab").map(|command| command.to_string())
    }

    #[test]
    fn values_are_words_or_there_is_no_command() {
        assert_eq!(
            check_command("/srv/pg").as_deref(),
            Some("walwise check /srv/pg --format fstab")
        );
        assert_eq!(
            check_command("/mnt/$(id>x)").as_deref(),
            Some("walwise check '/mnt/$(id>x)' --format fstab")
        );
        for name in ["--help", "-x", "/mnt/\\x1b[m", "/mnt/\\xff"] {
            assert_eq!(check_command(name), None, "{name}");
        }
        assert!(ShellCommand::or_placeholder(None).starts_with("(no command"));
    }

    #[test]
    fn a_dash_is_an_option_only_where_an_argument_begins() {
        let node = |code| {
            ShellCommand::new(code)
                .append_value("-x")
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
            ShellCommand::new("mkfs ")
                .append_value_or_option("-x")
                .unwrap()
                .as_str(),
            "mkfs -x"
        );
    }

    #[test]
    fn a_command_for_another_shell_is_one_word() {
        let inner = ShellCommand::new("rm -r ").append_value("/a b").unwrap();
        let outer = ShellCommand::new("ssh HOST ")
            .append_nested_command(&inner)
            .unwrap();
        assert_eq!(outer.as_str(), "ssh HOST \"rm -r '/a b'\"");
    }

    #[test]
    fn a_remark_stays_one() {
        assert_eq!(
            ShellCommand::comment("a\nrm -r /\r\u{2028}b").as_str(),
            "# a?rm -r /??b"
        );
    }
}
