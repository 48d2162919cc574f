//! Fields of /etc/fstab.
//!
//! Characters that would end a field or a line, or garble its display, are written as octal escapes (fstab(5)). All of
//! them are decoded by libmount, so a field can hold anything except an empty text.

use std::fmt::Write as _;

use crate::text::is_treacherous;

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
            if c == '\\' || hash || c.is_whitespace() || is_treacherous(c) {
                octal(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                out.push(c);
            }
        }
        octal(&mut out, chunk.invalid());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::mountinfo;

    proptest! {
        /// libmount decodes any three octal digits after a backslash (util-linux, lib/mangle.c), as our own reader
        /// does.
        #[test]
        fn a_field_is_read_back_as_it_was(
            raw in prop_oneof![any::<Vec<u8>>(), "[ \t\n\\\\#0-7a-é\u{2028}]{1,8}".prop_map(String::into_bytes)],
        ) {
            let field = field(&raw);
            prop_assert_eq!(field.is_none(), raw.is_empty());
            let field = field.unwrap_or_default();
            prop_assert!(!field.starts_with('#'));
            prop_assert!(!field.contains(|c: char| c.is_whitespace() || is_treacherous(c)), "{}", field);
            prop_assert_eq!(mountinfo::unescape(field.as_bytes()), raw);
        }
    }
}
