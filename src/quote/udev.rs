//! Values in udev rules.
//!
//! In a match udev reads `*?[|` as a pattern, and `$` and `%` as substitutions, without an escape in all its versions
//! (udev(7)). Only plain text is therefore written, and everything else is refused.

/// A value with its quotes, for a comparison or an assignment; `None` unless it is plain: letters, digits, `_-.:` and
/// blanks, and no blank at an end.
pub fn value(shown: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-.:".contains(c);
    let good = !shown.is_empty() && shown.trim() == shown && shown.chars().all(plain);
    good.then(|| format!("\"{shown}\""))
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
    }

    #[test]
    fn plain_text_is_written() {
        assert_eq!(value("t10.ATA     Samsung SSD").as_deref(), Some("\"t10.ATA     Samsung SSD\""));
        assert_eq!(value("write back").as_deref(), Some("\"write back\""));
        for bad in ["", " a", "*", "a\"b", "a%kb", "$env{x}", "\\x1b", "a/b"] {
            assert_eq!(value(bad), None, "{bad}");
        }
    }
}
