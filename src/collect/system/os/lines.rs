//! Lines of the form `name=value`, as the host answers them and os-release(5) has them.

use crate::text::safe;

/// The value of a `name=value` line.
pub fn word(text: &[u8], name: &str) -> Option<String> {
    value(text, name).map(safe)
}

pub fn value<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut lines = text.split(|b| *b == b'\n');
    lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}
