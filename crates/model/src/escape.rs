//! Names and values of a host, quoted or escaped for a shell, udev, fstab, a MySQL option file or a
//! comment.
//!
//! The input is display-safe text of facts, and the output denotes the original name. A name that
//! cannot be displayed is refused, because users could not check what they paste. Command lines for
//! people are of type [`ShellCommand`], in which only text of the source code or of a rule stays
//! unquoted.

pub mod comment {
    //! Comments from a `#` to the end of the line, in shell scripts, configuration files and rules.
    //!
    //! Facts are display-safe already; escaping here is a second safeguard against text that ends
    //! its comment.

    use crate::text::is_display_unsafe;

    /// Replaces line ends, and characters that change a terminal's display, by `?`. The result is
    /// safe after a `#`.
    pub fn replace_unsafe_chars(text: &str) -> String {
        text.chars()
            .map(|c| if is_display_unsafe(c) { '?' } else { c })
            .collect()
    }

    /// Formats each item as one comment line, even an item that contains line ends.
    pub fn comment_lines<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> String {
        let one = |line: S| {
            format!("# {}", replace_unsafe_chars(line.as_ref()))
                .trim_end()
                .to_owned()
                + "\n"
        };
        lines.into_iter().map(one).collect()
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            #[test]
            fn comment_lines_are_one_comment_each(told in prop::collection::vec(prop_oneof![any::<String>(), "[\n\r\u{85}\u{2028}a #\\\\]{0,6}"], 0..4)) {
                let text = comment_lines(&told);
                let ends = |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
                let shown: Vec<&str> = text.split_terminator(ends).collect();
                prop_assert_eq!(shown.len(), told.len());
                prop_assert!(shown.iter().all(|line| line.starts_with('#')), "{}", text);
            }
        }
    }
}
pub mod fstab {
    //! Fields of /etc/fstab.
    //!
    //! Characters that would end a field or a line, or garble the display, are written as octal
    //! escapes (fstab(5)). libmount decodes every such escape, so a field can hold any bytes except
    //! an empty string.

    use std::fmt::Write as _;

    use crate::text::is_display_unsafe;

    /// Encodes bytes as a field; `None` for an empty slice, because fstab has no empty fields.
    pub fn encode_fstab_field(raw: &[u8]) -> Option<String> {
        if raw.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(raw.len());
        let octal = |out: &mut String, bytes: &[u8]| {
            for byte in bytes {
                let _ = write!(out, "\\{byte:03o}");
            }
        };
        for chunk in raw.utf8_chunks() {
            for c in chunk.valid().chars() {
                // A `#` is escaped at the beginning, where it would make the line a comment.
                let hash = c == '#' && out.is_empty();
                if c == '\\' || hash || c.is_whitespace() || is_display_unsafe(c) {
                    octal(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes());
                } else {
                    out.push(c);
                }
            }
            octal(&mut out, chunk.invalid());
        }
        Some(out)
    }

    /// Decodes a field of fstab or of a mount table: a backslash and three octal digits, at most
    /// `\377`, stand for one byte. All other bytes stay.
    pub fn decode_fstab_field(mut word: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(word.len());
        while let [first, rest @ ..] = word {
            if let [
                b'\\',
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                rest @ ..,
            ] = word
            {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                word = rest;
            } else {
                out.push(*first);
                word = rest;
            }
        }
        out
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            #[test]
            fn fstab_field_round_trips(
                raw in prop_oneof![any::<Vec<u8>>(), "[ \t\n\\\\#0-7a-é\u{2028}]{1,8}".prop_map(String::into_bytes)],
            ) {
                let field = encode_fstab_field(&raw);
                prop_assert_eq!(field.is_none(), raw.is_empty());
                let field = field.unwrap_or_default();
                prop_assert!(!field.starts_with('#'));
                prop_assert!(!field.contains(|c: char| c.is_whitespace() || is_display_unsafe(c)), "{}", field);
                prop_assert_eq!(decode_fstab_field(field.as_bytes()), raw);
            }
        }
    }
}
pub mod mysql {
    //! Values of MySQL and MariaDB settings, in option files and in `SET` statements.
    //!
    //! Double quotes in an option file keep a `#` from starting a comment; a backslash inside them
    //! starts an escape (my_default.c, `search_default_file_with_ext` and `find_end_comment`). In a
    //! statement a word is quoted, because bare ON and DEFAULT are keywords of SQL.

    use super::comment;

    pub fn quote_mysql_option_value(value: &str) -> String {
        let value = comment::replace_unsafe_chars(value);
        if !value.is_empty() && value.chars().all(is_plain_option_char) {
            return value;
        }
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    }

    /// Formats a value for `SET`. Statements do not accept the suffixes K, M, G and T, so the
    /// number is written out. `None` unless the value is a 64-bit number or a plain word.
    pub fn format_mysql_statement_literal(value: &str) -> Option<String> {
        if let Some(number) = parse_mysql_size(value) {
            return Some(number.to_string());
        }
        (value.starts_with(|c: char| c.is_ascii_alphabetic())
            && value.chars().all(is_plain_option_char))
        .then(|| format!("'{value}'"))
    }

    /// Parses a number with an optional unit, a power of 1024, as my_getopt does.
    pub fn parse_mysql_size(value: &str) -> Option<u64> {
        let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match value.strip_prefix(digits)? {
            "" => 0,
            "k" | "K" => 10,
            "m" | "M" => 20,
            "g" | "G" => 30,
            "t" | "T" => 40,
            "p" | "P" => 50,
            "e" | "E" => 60,
            _ => return None,
        };
        digits.parse::<u64>().ok()?.checked_mul(1 << shift)
    }

    fn is_plain_option_char(c: char) -> bool {
        c.is_ascii_alphanumeric() || "_./:+-".contains(c)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn option_file_values_are_quoted_if_needed() {
            for (value, written) in [
                ("O_DIRECT", "O_DIRECT"),
                ("1", "1"),
                ("128M", "128M"),
                ("", "\"\""),
                ("a # b", "\"a # b\""),
                ("it's \"\\n\"", "\"it's \\\"\\\\n\\\"\""),
                ("1\n[client]", "\"1?[client]\""),
            ] {
                assert_eq!(quote_mysql_option_value(value), written, "{value:?}");
            }
        }

        #[test]
        fn statement_literals_are_numbers_or_words() {
            for (value, written) in [
                ("1", Some("1")),
                ("128M", Some("134217728")),
                ("on", Some("'on'")),
                ("O_DIRECT", Some("'O_DIRECT'")),
                ("", None),
                ("1; DROP", None),
                ("'", None),
                ("99999999T", None),
            ] {
                assert_eq!(
                    format_mysql_statement_literal(value),
                    written.map(str::to_owned),
                    "{value}"
                );
            }
        }
    }
}
pub mod shell {
    //! Quoting of words for a POSIX shell.
    //!
    //! Quotes are added only where needed, so that plain names stay readable. A leading dash is not
    //! checked here, but in [`super::ShellCommand`].

    use super::decode_display_safe_name;
    use crate::text::JoinText;
    use crate::text::{display_safe, is_display_unsafe};

    /// Quotes the original name of a display-safe text. `None` for a name that cannot be displayed,
    /// because nobody can paste such a name.
    pub fn quote_display_safe_shell_name(shown: &str) -> Option<String> {
        quote_shell_word(&decode_display_safe_name(shown)?)
    }

    /// Quotes literal text as one word; `None` if the text contains control or invisible
    /// characters.
    pub fn quote_shell_word(text: &str) -> Option<String> {
        if text.contains(is_display_unsafe) {
            return None;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            return Some(text.to_owned());
        }
        // A name with single quotes is put in double quotes to keep it readable, unless it contains
        // `$`, a backquote, a backslash or `!`, which a shell expands there.
        if text.contains('\'') && !text.contains(['"', '$', '`', '\\', '!']) {
            return Some(format!("\"{text}\""));
        }
        Some(format!("'{}'", text.replace('\'', "'\\''")))
    }

    /// Formats a program and its arguments, for people to read and to run again. An argument that
    /// cannot be pasted is replaced by its quoted display form, which denotes another, harmless
    /// name.
    pub fn format_command_line(program: &str, arguments: &[&str]) -> String {
        let shown = |word: &str| {
            quote_shell_word(word)
                .or_else(|| quote_shell_word(&display_safe(word.as_bytes())))
                .unwrap_or_default()
        };
        let words = std::iter::once(&program).chain(arguments);
        words.map(|word| shown(word)).join_with(" ")
    }

    #[cfg(test)]
    mod tests {
        use std::process::Command;

        use proptest::prelude::*;

        use super::*;
        use crate::deadline::CommandInTime as _;

        fn words_parsed_by_shell(words: &[String]) -> Vec<u8> {
            let script = format!("printf '%s\\0' {}", words.join(" "));
            let shell = Command::new("/bin/sh")
                .args(["-c", &script])
                .current_dir("/")
                .env_clear()
                .output_in_time();
            assert!(
                shell.status.success(),
                "{script}: {}",
                String::from_utf8_lossy(&shell.stderr)
            );
            shell.stdout
        }

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(64))]
            #[test]
            fn shell_reads_quoted_names_unchanged(
                names in prop::collection::vec(prop_oneof![any::<String>(), "[-~!-/:-@ -a]{0,12}", "[$`'\"\\\\;&|<>(){}*?\\[\\]#~!% a-]{1,8}"], 1..20),
            ) {
                let shown = names.iter().map(|name| display_safe(name.as_bytes()));
                let (words, read_as): (Vec<String>, Vec<&String>) =
                    shown.zip(&names).filter_map(|(shown, name)| Some((quote_display_safe_shell_name(&shown)?, name))).unzip();
                if words.is_empty() {
                    return Ok(());
                }
                let expected: Vec<u8> = read_as.iter().flat_map(|name| [name.as_bytes(), b"\0"].concat()).collect();
                prop_assert_eq!(words_parsed_by_shell(&words), expected, "{:?}", words);
            }

            #[test]
            fn undisplayable_name_is_not_quoted(name: Vec<u8>) {
                let fit = str::from_utf8(&name).is_ok_and(|name| !name.contains(is_display_unsafe));
                prop_assert_eq!(quote_display_safe_shell_name(&display_safe(&name)).is_some(), fit);
            }
        }

        #[test]
        fn plain_names_are_not_quoted() {
            assert_eq!(
                quote_display_safe_shell_name("/srv/data").as_deref(),
                Some("/srv/data")
            );
            assert_eq!(
                quote_display_safe_shell_name("/a b'c").as_deref(),
                Some("\"/a b'c\"")
            );
            assert_eq!(
                quote_display_safe_shell_name("/a$'c").as_deref(),
                Some("'/a$'\\''c'")
            );
            assert_eq!(
                quote_display_safe_shell_name("/a\\\\b").as_deref(),
                Some("'/a\\b'"),
                "a backslash in the name itself"
            );
            assert_eq!(quote_display_safe_shell_name(""), Some("''".to_owned()));
            assert_eq!(
                format_command_line("ls", &["-d", "/a b", "/\x1b$(id)"]),
                "ls -d '/a b' '/\\x1b$(id)'"
            );
            for shown in [
                "/a\\x1b",
                "/a\\x0ab",
                "/a\\xff",
                "/a\\u{202e}",
                "/a\u{202e}",
            ] {
                assert_eq!(quote_display_safe_shell_name(shown), None, "{shown}");
            }
        }
    }
}
pub mod udev {
    //! Values in udev rules.
    //!
    //! In a match udev interprets `*?[|` as a pattern, and `$` and `%` as substitutions. Some
    //! versions of udev cannot escape these characters (udev(7)), so only plain text is accepted as
    //! a value.

    /// Quotes a value for a match or an assignment. `None` unless the value consists of ASCII
    /// letters, digits, `_-.:` and blanks, without a blank at either end.
    pub fn quote_udev_value(shown: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || " _-.:".contains(c);
        let good = !shown.is_empty() && shown.trim() == shown && shown.chars().all(plain);
        good.then(|| format!("\"{shown}\""))
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;
        use crate::text::display_safe;

        fn parse_udev_value(quoted: &str) -> Option<&str> {
            let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
            (!inner.contains(['"', '\\', '*', '?', '[', '|', '$', '%', '{', '}', '\n']))
                .then_some(inner)
        }

        proptest! {
            #[test]
            fn udev_value_round_trips_or_is_refused(
                name in prop_oneof![any::<Vec<u8>>(), "[a-zA-Z0-9 ._:-]{1,20}".prop_map(String::into_bytes), "[\"\\\\*?\\[|$%a]{1,6}".prop_map(String::into_bytes)],
            ) {
                let shown = display_safe(&name);
                if let Some(quoted) = quote_udev_value(&shown) {
                    prop_assert_eq!(parse_udev_value(&quoted).map(str::as_bytes), Some(name.as_slice()));
                }
            }
        }

        #[test]
        fn plain_udev_text_is_quoted_and_other_refused() {
            assert_eq!(
                quote_udev_value("t10.ATA     Samsung SSD").as_deref(),
                Some("\"t10.ATA     Samsung SSD\"")
            );
            assert_eq!(
                quote_udev_value("write back").as_deref(),
                Some("\"write back\"")
            );
            for bad in ["", " a", "*", "a\"b", "a%kb", "$env{x}", "\\x1b", "a/b"] {
                assert_eq!(quote_udev_value(bad), None, "{bad}");
            }
        }
    }
}

use std::fmt;

use serde::Serialize;

use crate::text::{decode_display_safe, is_display_unsafe};

/// The original name of a display-safe text; `None` if the name is not UTF-8 or contains
/// display-unsafe characters.
fn decode_display_safe_name(shown: &str) -> Option<String> {
    String::from_utf8(decode_display_safe(shown))
        .ok()
        .filter(|name| !name.contains(is_display_unsafe))
}

// Command lines for people to run: literal text of the source code or of a rule, with quoted
// values read from the host.
//
// walwise displays a [`ShellCommand`] but never runs one. Only this module can build one, so every
// value is quoted. A value in the place of an argument is refused if it begins with a dash: the
// program would read the value as an option, despite quotes.

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ShellCommand(String);

impl ShellCommand {
    pub fn new(code: &'static str) -> Self {
        Self(code.to_owned())
    }

    pub fn walwise_check_command(name: &str, after: &'static str) -> Option<Self> {
        Some(
            Self::new("walwise check ")
                .append_quoted_name(name)?
                .append_literal(after),
        )
    }

    /// Makes a comment line of `# ` and the text. Line ends in the text become `?`, so the text
    /// cannot end the comment.
    pub fn from_comment(says: &str) -> Self {
        Self(format!("# {}", comment::replace_unsafe_chars(says)))
    }

    #[must_use]
    pub fn append_literal(self, code: &'static str) -> Self {
        self.append_rule_text(code)
    }

    /// Appends rule text unquoted. It must contain no value read from the host.
    #[must_use]
    pub fn append_rule_text(mut self, code: &str) -> Self {
        self.0.push_str(code);
        self
    }

    /// Appends the original name of a display-safe text, quoted. `None` for a name that cannot be
    /// quoted, or that a program would read as an option.
    pub fn append_quoted_name(self, shown: &str) -> Option<Self> {
        let is_option = shown.starts_with('-') && self.0.ends_with(' ');
        if is_option {
            None
        } else {
            self.append_quoted_name_even_with_dash(shown)
        }
    }

    /// Like [`Self::append_quoted_name`], but also accepts a value that begins with a dash.
    pub fn append_quoted_name_even_with_dash(mut self, shown: &str) -> Option<Self> {
        self.0
            .push_str(&shell::quote_display_safe_shell_name(shown)?);
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
    pub fn with_trailing_comment(self, says: &str) -> Self {
        Self(format!("{}   {}", self.0, Self::from_comment(says).0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn text_or_placeholder(command: Option<Self>) -> String {
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
mod command_tests {
    use super::*;

    fn walwise_check_text(name: &str) -> Option<String> {
        ShellCommand::walwise_check_command(name, " --format fstab")
            .map(|command| command.to_string())
    }

    #[test]
    fn unquotable_value_gives_no_command() {
        assert_eq!(
            walwise_check_text("/srv/pg").as_deref(),
            Some("walwise check /srv/pg --format fstab")
        );
        assert_eq!(
            walwise_check_text("/mnt/$(id>x)").as_deref(),
            Some("walwise check '/mnt/$(id>x)' --format fstab")
        );
        for name in ["--help", "-x", "/mnt/\\x1b[m", "/mnt/\\xff"] {
            assert_eq!(walwise_check_text(name), None, "{name}");
        }
        assert!(ShellCommand::text_or_placeholder(None).starts_with("(no command"));
    }

    #[test]
    fn leading_dash_is_refused_at_argument_start() {
        let node = |code| {
            ShellCommand::new(code)
                .append_quoted_name("-x")
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
                .append_quoted_name_even_with_dash("-x")
                .unwrap()
                .as_str(),
            "mkfs -x"
        );
    }

    #[test]
    fn nested_command_is_one_quoted_word() {
        let inner = ShellCommand::new("rm -r ")
            .append_quoted_name("/a b")
            .unwrap();
        let outer = ShellCommand::new("ssh HOST ")
            .append_nested_command(&inner)
            .unwrap();
        assert_eq!(outer.as_str(), "ssh HOST \"rm -r '/a b'\"");
    }

    #[test]
    fn comment_stays_on_one_line() {
        assert_eq!(
            ShellCommand::from_comment("a\nrm -r /\r\u{2028}b").as_str(),
            "# a?rm -r /??b"
        );
    }
}
