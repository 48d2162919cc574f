//! Words of a POSIX shell.
//!
//! Quotes are used only where they are needed, since most names are plain and stay readable. The meaning of a word for
//! its program, such as an option, is left to [`super::Command`].

use super::named;
use crate::text::{is_treacherous, safe};

/// A name as facts show it, as one word. `None` for a name that cannot be displayed, because it cannot be pasted
/// either.
pub fn word(shown: &str) -> Option<String> {
    quoted(&named(shown)?)
}

/// A literal text as one word. `None` for control characters and the like.
pub fn quoted(text: &str) -> Option<String> {
    if text.contains(is_treacherous) {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Some(text.to_owned());
    }
    Some(format!("'{}'", text.replace('\'', "'\\''")))
}

/// A program with its arguments as it was run, to be read and run again. An argument that cannot be pasted is written
/// as displayed, quoted: another name, and harmless.
pub fn line(program: &str, arguments: &[&str]) -> String {
    let shown = |word: &str| quoted(word).or_else(|| quoted(&safe(word.as_bytes()))).unwrap_or_default();
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
    fn read(words: &[String]) -> Vec<u8> {
        let script = format!("printf '%s\\0' {}", words.join(" "));
        let shell =
            Command::new("/bin/sh").args(["-c", &script]).current_dir("/").env_clear().output_in_time();
        assert!(shell.status.success(), "{script}: {}", String::from_utf8_lossy(&shell.stderr));
        shell.stdout
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_every_word_as_the_name_it_stands_for(
            names in prop::collection::vec(prop_oneof![any::<String>(), "[-~!-/:-@ -a]{0,12}", "[$`'\"\\\\;&|<>(){}*?\\[\\]#~!% a-]{1,8}"], 1..20),
        ) {
            let shown = names.iter().map(|name| safe(name.as_bytes()));
            let (words, read_as): (Vec<String>, Vec<&String>) =
                shown.zip(&names).filter_map(|(shown, name)| Some((word(&shown)?, name))).unzip();
            if words.is_empty() {
                return Ok(());
            }
            let expected: Vec<u8> = read_as.iter().flat_map(|name| [name.as_bytes(), b"\0"].concat()).collect();
            prop_assert_eq!(read(&words), expected, "{:?}", words);
        }

        #[test]
        fn what_cannot_be_shown_is_no_word(name: Vec<u8>) {
            let fit = std::str::from_utf8(&name).is_ok_and(|name| !name.contains(is_treacherous));
            prop_assert_eq!(word(&safe(&name)).is_some(), fit);
        }
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(word("/srv/data").as_deref(), Some("/srv/data"));
        assert_eq!(word("/a b'c").as_deref(), Some("'/a b'\\''c'"));
        assert_eq!(word("/a\\\\b").as_deref(), Some("'/a\\b'"), "a backslash in the name itself");
        assert_eq!(word(""), Some("''".to_owned()));
        assert_eq!(line("ls", &["-d", "/a b", "/\x1b$(id)"]), "ls -d '/a b' '/\\x1b$(id)'");
        for shown in ["/a\\x1b", "/a\\x0ab", "/a\\xff", "/a\\u{202e}", "/a\u{202e}"] {
            assert_eq!(word(shown), None, "{shown}");
        }
    }
}
