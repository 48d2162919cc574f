//! Values in udev rules, and names that udev gives to links in /dev/disk.
//!
//! In a match udev reads `*?[|` as a pattern, and `$` and `%` as substitutions, without an escape in all its versions
//! (udev(7)). Only plain text is therefore written, and everything else is refused.

use std::fmt::Write as _;

/// A value with its quotes, for a comparison or an assignment; `None` unless it is plain: letters, digits, `_-.:` and
/// blanks, and no blank at an end.
pub fn value(shown: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-.:".contains(c);
    let good = !shown.is_empty() && shown.trim() == shown && shown.chars().all(plain);
    good.then(|| format!("\"{shown}\""))
}

/// A label as udev names its link: all but a few characters as `\xNN` (encode_devnode_name of systemd). `None` for
/// bytes that are no text.
pub fn link_name(raw: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(raw).ok()?;
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || "#+-.:=@_".contains(c) || !c.is_ascii() {
            out.push(c);
        } else {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::safe;

    /// A value as udev reads it (udev-rules.c, parse_line): up to the next quote, with `\` before a literal character;
    /// `None` for more than text.
    fn read(quoted: &str) -> Option<&str> {
        let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
        (!inner.contains(['"', '\\', '*', '?', '[', '|', '$', '%', '{', '}', '\n'])).then_some(inner)
    }

    proptest! {
        #[test]
        fn a_value_is_read_as_it_was_meant_or_refused(
            name in prop_oneof![any::<Vec<u8>>(), "[a-zA-Z0-9 ._:-]{1,20}".prop_map(String::into_bytes), "[\"\\\\*?\\[|$%a]{1,6}".prop_map(String::into_bytes)],
        ) {
            let shown = safe(&name);
            if let Some(quoted) = value(&shown) {
                prop_assert_eq!(read(&quoted).map(str::as_bytes), Some(name.as_slice()));
            }
        }

        #[test]
        fn a_link_is_one_plain_name(name: String) {
            let link = link_name(name.as_bytes()).unwrap();
            prop_assert!(!link.contains(|c: char| "/ \n'\"$%`*?".contains(c)), "{}", link);
            prop_assert_eq!(crate::text::raw(&link), name.into_bytes());
        }
    }

    #[test]
    fn plain_text_is_written() {
        assert_eq!(value("t10.ATA     Samsung SSD").as_deref(), Some("\"t10.ATA     Samsung SSD\""));
        assert_eq!(value("write back").as_deref(), Some("\"write back\""));
        for bad in ["", " a", "*", "a\"b", "a%kb", "$env{x}", "\\x1b", "a/b"] {
            assert_eq!(value(bad), None, "{bad}");
        }
        assert_eq!(link_name("my disk/ü".as_bytes()).as_deref(), Some("my\\x20disk\\x2fü"));
    }
}
