//! Command lines for people to run: literal text of the source code or of a rule, with quoted
//! values of the machine.
//!
//! walwise displays a [`ShellCommand`] but never runs one. Only this module can build one, so every
//! value is quoted. A value in the place of an argument is refused if it begins with a dash: the
//! program would read the value as an option, despite quotes.

use std::fmt;

use serde::Serialize;

use super::{comment, shell};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ShellCommand(String);

impl ShellCommand {
    pub fn new(code: &'static str) -> Self {
        Self(code.to_owned())
    }

    pub fn walwise_check(name: &str, after: &'static str) -> Option<Self> {
        Some(
            Self::new("walwise check ")
                .append_value(name)?
                .append_literal(after),
        )
    }

    /// A comment line after `# `. Line ends in the text become `?`, so the comment cannot end
    /// early.
    pub fn comment(says: &str) -> Self {
        Self(format!("# {}", comment::escape_comment_line(says)))
    }

    #[must_use]
    pub fn append_literal(self, code: &'static str) -> Self {
        self.append_rule_text(code)
    }

    /// Appends text of a rule's template without quotes. Values of the machine must not be part of
    /// the text.
    #[must_use]
    pub fn append_rule_text(mut self, code: &str) -> Self {
        self.0.push_str(code);
        self
    }

    /// Appends the quoted name that a display-safe text stands for. `None` for a name that cannot
    /// be quoted, or that a program would read as an option.
    pub fn append_value(self, shown: &str) -> Option<Self> {
        let is_option = shown.starts_with('-') && self.0.ends_with(' ');
        if is_option {
            None
        } else {
            self.append_value_or_option(shown)
        }
    }

    /// Like [`Self::append_value`], but also accepts a value that begins with a dash.
    pub fn append_value_or_option(mut self, shown: &str) -> Option<Self> {
        self.0.push_str(&shell::quote_shell_name(shown)?);
        Some(self)
    }

    /// Appends text as one quoted word, even if the text is already quoted for another program.
    /// `None` for text with control or invisible characters.
    pub fn append_quoted_text(mut self, text: &str) -> Option<Self> {
        self.0.push_str(&shell::quote_shell_word(text)?);
        Some(self)
    }

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
