//! Values and names of systemd units.
//!
//! Values are written as systemd reads them: `%` doubled, because a single one begins a specifier (systemd.unit(5)),
//! and nothing quoted. A value that no unit can hold is refused.

use std::fmt::Write as _;

use crate::text::is_treacherous;

/// Bytes as the value of a setting; `None` for a value that none can hold.
pub fn value(raw: &[u8]) -> Option<String> {
    let doubled: Vec<u8> =
        raw.iter().flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b'%'))).collect();
    spelled(&doubled)
}

/// The same for a value from a unit, in the spelling of units. Refused are line breaks and other controls, leading and
/// trailing blanks, a trailing backslash (it would join the next line), empty values, and bytes that are no text.
pub fn spelled(raw: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(raw).ok()?;
    let good = !text.is_empty() && text.trim() == text && !text.ends_with('\\');
    (good && !text.contains(is_treacherous)).then(|| text.to_owned())
}

/// The name of the unit for a path, as from `systemd-escape --path`. `None` for a path that is not absolute and plain,
/// and for a name that no file can have.
pub fn name(path: &[u8]) -> Option<String> {
    const LONGEST: usize = 255 - "systemd-fsck@.service".len();
    let inner = path.strip_prefix(b"/")?;
    let parts: Vec<&[u8]> =
        inner.split(|b| *b == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
    if parts.iter().any(|part| *part == b"..") || path.contains(&0) {
        return None;
    }
    let simple = parts.join(&b'/');
    if simple.is_empty() {
        return Some("-".to_owned());
    }
    let mut out = String::new();
    for (at, byte) in simple.iter().enumerate() {
        match byte {
            b'/' => out.push('-'),
            b'.' if at == 0 => out.push_str("\\x2e"),
            b':' | b'_' | b'.' => out.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(*byte)),
            byte => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    (out.len() <= LONGEST).then_some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            any::<Vec<u8>>(),
            "[ -~\n\u{2028}é]{1,10}".prop_map(String::into_bytes),
            "[%\\\\ a]{1,4}".prop_map(String::into_bytes)
        ]
    }

    /// A unit name decoded to a path, as by systemd (unit_name_path_unescape).
    fn read_name(name: &str) -> Vec<u8> {
        if name == "-" {
            return b"/".to_vec();
        }
        let bytes = name.as_bytes();
        let (mut out, mut at) = (vec![b'/'], 0);
        while at < bytes.len() {
            let code = (bytes[at] == b'\\').then(|| u8::from_str_radix(&name[at + 2..at + 4], 16).unwrap());
            out.push(code.unwrap_or(if bytes[at] == b'-' { b'/' } else { bytes[at] }));
            at += if code.is_some() { 4 } else { 1 };
        }
        out
    }

    proptest! {
        /// systemd strips blanks at both ends, joins lines after a backslash, and reads `%%` as one.
        #[test]
        fn a_value_is_read_back_or_refused(raw in bytes()) {
            if let Some(value) = value(&raw) {
                prop_assert!(!value.contains(is_treacherous) && !value.ends_with('\\'));
                prop_assert!(!value.replace("%%", "").contains('%'), "a specifier: {}", value);
                prop_assert_eq!(value.trim().replace("%%", "%").into_bytes(), raw);
            }
        }

        #[test]
        fn a_name_is_read_back_as_the_path(raw in bytes()) {
            let path = [b"/", &raw[..]].concat();
            if let Some(name) = name(&path) {
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b":-_.\\".contains(&b)), "{}", name);
                let parts: Vec<&[u8]> =
                    path.split(|b| *b == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
                prop_assert_eq!(read_name(&name), [b"/", &parts.join(&b'/')[..]].concat());
            }
        }
    }

    #[test]
    fn paths_are_named_as_systemd_names_them() {
        for (path, expected) in [
            ("/", "-"),
            ("/srv/pg", "srv-pg"),
            ("//srv//pg/./", "srv-pg"),
            ("/.hidden/.x", "\\x2ehidden-.x"),
            ("/a-b/c d", "a\\x2db-c\\x20d"),
            ("/dev/disk/by-uuid/1-2", "dev-disk-by\\x2duuid-1\\x2d2"),
            ("/é%\\", "\\xc3\\xa9\\x25\\x5c"),
        ] {
            assert_eq!(name(path.as_bytes()).as_deref(), Some(expected));
        }
        for path in ["", "srv", "/srv/..", "/srv/../etc", "/a\0b"] {
            assert_eq!(name(path.as_bytes()), None, "{path}");
        }
        assert_eq!(name(format!("/{}", "x".repeat(256)).as_bytes()), None, "no file can be called that");
    }
}
