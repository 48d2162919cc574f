//! Lines, words and numbers in bytes that need not be UTF-8.

use std::str::FromStr;

/// The text between line feeds. After a line feed at the end, the last line is empty.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.split(|b| *b == b'\n')
}

/// The text after `NAME=` in the first line that begins so.
pub fn line_value<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    lines(text).find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// The words between ASCII blanks, as `str::split_ascii_whitespace`.
pub fn split_ascii_whitespace(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// Parses the whole text, without removing blanks.
pub fn parse<T: FromStr>(text: &[u8]) -> Option<T> {
    str::from_utf8(text).ok()?.parse().ok()
}
