//! Attribute files of sysfs and procfs as readings: one value a file, the file its source.
//!
//! It knows the shapes (text, number, flag, one of a few words) and nothing of what they mean. The surprise: an empty
//! attribute is malformed, because no attribute we ask for says anything by being empty.

use std::path::Path;

use crate::facts::{Key, Kind, Reading, Source, Why};
use crate::host::{Host, path_bytes};
use crate::text::safe;

/// The text of an attribute, trimmed and display-safe.
pub fn text(host: &dyn Host, path: &Path) -> Reading<String> {
    let shown = safe(path_bytes(path));
    match host.attribute(path) {
        Ok(text) if text.is_empty() => Reading::unknown(Why::Malformed, format!("{shown} is empty")),
        Ok(text) => Reading::known(text, Source::file(shown)),
        Err(miss) => super::refused(&miss, &shown),
    }
}

/// A whole number.
pub fn number(host: &dyn Host, path: &Path) -> Reading<u64> {
    text(host, path).and_then(|text| text.parse().map_err(|_| format!("`{text}` is no number")))
}

/// `0` or `1`.
pub fn flag(host: &dyn Host, path: &Path) -> Reading<bool> {
    text(host, path).and_then(|text| match text.as_str() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("`{text}` is neither 0 nor 1")),
    })
}

/// One of the words that the fact allows.
pub fn choice(host: &dyn Host, path: &Path, key: &Key<String>) -> Reading<String> {
    text(host, path).and_then(|text| match key.info.kind {
        Kind::Choice(words) if !words.contains(&text.as_str()) => {
            Err(format!("`{text}` is not among: {}", words.join(", ")))
        }
        _ => Ok(text),
    })
}
