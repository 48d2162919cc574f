//! Names and values of a machine, escaped for another reader: a shell, systemd, udev, fstab, a
//! server's file, a comment.
//!
//! A command line for a person is a [`Command`], in which only literal text of the source is
//! unquoted. Input is text as facts show it, output the name that it stands for. A name that cannot
//! be displayed is refused, because nobody could see what they paste.

pub mod comment {
    //! Comments of shell scripts, configuration files and rules: from a `#` to the end of the line.
    //!
    //! The text stays on its line. Facts are display-safe already; this is a second safeguard.

    use crate::text::is_display_unsafe;

    /// A text that may follow a `#`: on one line, and without characters that change a terminal's
    /// display.
    pub fn escape_line(text: &str) -> String {
        text.chars()
            .map(|c| if is_display_unsafe(c) { '?' } else { c })
            .collect()
    }

    /// Lines as comments, each on one line whatever it contains.
    pub fn lines<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> String {
        let one = |line: S| {
            format!("# {}", escape_line(line.as_ref()))
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
            fn a_comment_stays_one(told in prop::collection::vec(prop_oneof![any::<String>(), "[\n\r\u{85}\u{2028}a #\\\\]{0,6}"], 0..4)) {
                let text = lines(&told);
                // Every character that a reader may take for the end of a line.
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
    //! Characters that would end a field or a line, or garble its display, are written as octal
    //! escapes (fstab(5)). All of them are decoded by libmount, so a field can hold anything except
    //! an empty text.

    use std::fmt::Write as _;

    use crate::text::is_display_unsafe;

    /// Bytes as a field. `None` for an empty field, which no line can hold.
    pub fn field(raw: &[u8]) -> Option<String> {
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
                // A leading # would make the line a comment.
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

    /// Bytes of a field, of fstab or of a mount table: a backslash and three octal digits stand for
    /// a byte. Anything else stays.
    pub fn unescape(mut word: &[u8]) -> Vec<u8> {
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
            /// libmount decodes any three octal digits after a backslash (util-linux,
            /// lib/mangle.c), as our own reader does.
            #[test]
            fn a_field_is_read_back_as_it_was(
                raw in prop_oneof![any::<Vec<u8>>(), "[ \t\n\\\\#0-7a-é\u{2028}]{1,8}".prop_map(String::into_bytes)],
            ) {
                let field = field(&raw);
                prop_assert_eq!(field.is_none(), raw.is_empty());
                let field = field.unwrap_or_default();
                prop_assert!(!field.starts_with('#'));
                prop_assert!(!field.contains(|c: char| c.is_whitespace() || is_display_unsafe(c)), "{}", field);
                prop_assert_eq!(unescape(field.as_bytes()), raw);
            }
        }
    }
}
pub mod mysql {
    //! Values for MySQL and MariaDB: in their option files, and in a statement.
    //!
    //! A value of an option file may stand in double quotes, where a backslash begins an escape and
    //! a `#` no comment (my_default.c, `search_default_file_with_ext` and `find_end_comment`). In a
    //! statement a word stands in quotes, because ON, DEFAULT and the like have meanings of their
    //! own.

    use super::comment;

    /// A value after `name = ` in an option file.
    pub fn option_value(value: &str) -> String {
        let value = comment::escape_line(value);
        if !value.is_empty() && value.chars().all(is_plain) {
            return value;
        }
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    }

    /// A value of `SET`; `None` for what no setting of a server holds. A number may have a unit of
    /// powers of 1024, which a statement does not take.
    pub fn literal(value: &str) -> Option<String> {
        if let Some(number) = parse_size(value) {
            return Some(number.to_string());
        }
        (value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.chars().all(is_plain))
            .then(|| format!("'{value}'"))
    }

    fn parse_size(value: &str) -> Option<u64> {
        let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match value.strip_prefix(digits)? {
            "" => 0,
            "k" | "K" => 10,
            "m" | "M" => 20,
            "g" | "G" => 30,
            "t" | "T" => 40,
            _ => return None,
        };
        digits.parse::<u64>().ok()?.checked_mul(1 << shift)
    }

    fn is_plain(c: char) -> bool {
        c.is_ascii_alphanumeric() || "_./:+-".contains(c)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn values_are_written_as_option_files_have_them() {
            for (value, written) in [
                ("O_DIRECT", "O_DIRECT"),
                ("1", "1"),
                ("128M", "128M"),
                ("", "\"\""),
                ("a # b", "\"a # b\""),
                ("it's \"\\n\"", "\"it's \\\"\\\\n\\\"\""),
                ("1\n[client]", "\"1?[client]\""),
            ] {
                assert_eq!(option_value(value), written, "{value:?}");
            }
        }

        #[test]
        fn a_statement_takes_numbers_and_words_and_nothing_else() {
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
                assert_eq!(literal(value), written.map(str::to_owned), "{value}");
            }
        }
    }
}
pub mod shell {
    //! Words of a POSIX shell.
    //!
    //! Quotes are used only where they are needed, since most names are plain and stay readable.
    //! The meaning of a word for its program, such as an option, is left to [`super::Command`].

    use super::decoded_name;
    use crate::text::{display_safe, is_display_unsafe};

    /// A name as facts show it, as one word. `None` for a name that cannot be displayed, because it
    /// cannot be pasted either.
    pub fn quote_name(shown: &str) -> Option<String> {
        quote(&decoded_name(shown)?)
    }

    /// A literal text as one word. `None` for control characters and the like.
    pub fn quote(text: &str) -> Option<String> {
        if text.contains(is_display_unsafe) {
            return None;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            return Some(text.to_owned());
        }
        // Between double quotes a shell reads a text with single quotes plainly, if nothing of its
        // own is in it.
        if text.contains('\'') && !text.contains(['"', '$', '`', '\\', '!']) {
            return Some(format!("\"{text}\""));
        }
        Some(format!("'{}'", text.replace('\'', "'\\''")))
    }

    /// A program with its arguments as it was run, to be read and run again. An argument that
    /// cannot be pasted is written as displayed, quoted: another name, and harmless.
    pub fn command_line(program: &str, arguments: &[&str]) -> String {
        let shown = |word: &str| {
            quote(word)
                .or_else(|| quote(&display_safe(word.as_bytes())))
                .unwrap_or_default()
        };
        let words = std::iter::once(&program).chain(arguments);
        words.map(|word| shown(word)).collect::<Vec<_>>().join(" ")
    }

    #[cfg(test)]
    mod tests {
        use std::process::Command;

        use proptest::prelude::*;

        use super::*;
        use crate::deadline::CommandInTime as _;

        /// The words that a shell reads, each ended by a NUL.
        fn shell_parse(words: &[String]) -> Vec<u8> {
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
            fn a_shell_reads_every_word_as_the_name_it_stands_for(
                names in prop::collection::vec(prop_oneof![any::<String>(), "[-~!-/:-@ -a]{0,12}", "[$`'\"\\\\;&|<>(){}*?\\[\\]#~!% a-]{1,8}"], 1..20),
            ) {
                let shown = names.iter().map(|name| display_safe(name.as_bytes()));
                let (words, read_as): (Vec<String>, Vec<&String>) =
                    shown.zip(&names).filter_map(|(shown, name)| Some((quote_name(&shown)?, name))).unzip();
                if words.is_empty() {
                    return Ok(());
                }
                let expected: Vec<u8> = read_as.iter().flat_map(|name| [name.as_bytes(), b"\0"].concat()).collect();
                prop_assert_eq!(shell_parse(&words), expected, "{:?}", words);
            }

            #[test]
            fn what_cannot_be_shown_is_no_word(name: Vec<u8>) {
                let fit = std::str::from_utf8(&name).is_ok_and(|name| !name.contains(is_display_unsafe));
                prop_assert_eq!(quote_name(&display_safe(&name)).is_some(), fit);
            }
        }

        #[test]
        fn plain_names_stay_as_they_are() {
            assert_eq!(quote_name("/srv/data").as_deref(), Some("/srv/data"));
            assert_eq!(quote_name("/a b'c").as_deref(), Some("\"/a b'c\""));
            assert_eq!(quote_name("/a$'c").as_deref(), Some("'/a$'\\''c'"));
            assert_eq!(
                quote_name("/a\\\\b").as_deref(),
                Some("'/a\\b'"),
                "a backslash in the name itself"
            );
            assert_eq!(quote_name(""), Some("''".to_owned()));
            assert_eq!(
                command_line("ls", &["-d", "/a b", "/\x1b$(id)"]),
                "ls -d '/a b' '/\\x1b$(id)'"
            );
            for shown in [
                "/a\\x1b",
                "/a\\x0ab",
                "/a\\xff",
                "/a\\u{202e}",
                "/a\u{202e}",
            ] {
                assert_eq!(quote_name(shown), None, "{shown}");
            }
        }
    }
}
mod command;
pub mod udev {
    //! Values in udev rules.
    //!
    //! In a match udev reads `*?[|` as a pattern, and `$` and `%` as substitutions, without an
    //! escape in all its versions (udev(7)). Only plain text is therefore written, and everything
    //! else is refused.

    /// A value with its quotes, for a comparison or an assignment; `None` unless it is plain:
    /// letters, digits, `_-.:` and blanks, and no blank at an end.
    pub fn value(shown: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || " _-.:".contains(c);
        let good = !shown.is_empty() && shown.trim() == shown && shown.chars().all(plain);
        good.then(|| format!("\"{shown}\""))
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;
        use crate::text::display_safe;

        /// A value as udev reads it (udev-rules.c, parse_line): up to the next quote, with `\`
        /// before a literal character; `None` for more than text.
        fn udev_value(quoted: &str) -> Option<&str> {
            let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
            (!inner.contains(['"', '\\', '*', '?', '[', '|', '$', '%', '{', '}', '\n']))
                .then_some(inner)
        }

        proptest! {
            #[test]
            fn a_value_is_read_as_it_was_meant_or_refused(
                name in prop_oneof![any::<Vec<u8>>(), "[a-zA-Z0-9 ._:-]{1,20}".prop_map(String::into_bytes), "[\"\\\\*?\\[|$%a]{1,6}".prop_map(String::into_bytes)],
            ) {
                let shown = display_safe(&name);
                if let Some(quoted) = value(&shown) {
                    prop_assert_eq!(udev_value(&quoted).map(str::as_bytes), Some(name.as_slice()));
                }
            }
        }

        #[test]
        fn plain_text_is_written() {
            assert_eq!(
                value("t10.ATA     Samsung SSD").as_deref(),
                Some("\"t10.ATA     Samsung SSD\"")
            );
            assert_eq!(value("write back").as_deref(), Some("\"write back\""));
            for bad in ["", " a", "*", "a\"b", "a%kb", "$env{x}", "\\x1b", "a/b"] {
                assert_eq!(value(bad), None, "{bad}");
            }
        }
    }
}

pub use command::Command;

use crate::text::{is_display_unsafe, original_bytes};

/// The name behind the text of a fact; `None` for one that is no text or would change the display
/// of others.
fn decoded_name(shown: &str) -> Option<String> {
    String::from_utf8(original_bytes(shown))
        .ok()
        .filter(|name| !name.contains(is_display_unsafe))
}
