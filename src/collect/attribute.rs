//! Attribute files of sysfs and procfs as readings: one value per file, with the file as its source.
//!
//! This module knows the shapes of a value (text, number, flag, one of a few words) and nothing of its meaning. An
//! empty attribute is malformed, unless it may be blank; so is one that is cut or no text ([`Host::attribute`]).

use std::path::Path;

use super::refusal::refused;
use crate::facts::{Choice, Reading, Source, Why};
use crate::host::{Host, path_bytes};
use crate::text::safe;

/// The text of an attribute, trimmed and display-safe.
pub fn text(host: &dyn Host, path: &Path) -> Reading<String> {
    let shown = safe(path_bytes(path));
    match host.attribute(path) {
        Ok(text) if text.is_empty() => Reading::unknown(Why::Malformed, format!("{shown} is empty")),
        Ok(text) => Reading::known(text, Source::file(shown)),
        Err(miss) => refused(&miss, &shown),
    }
}

/// The same of an attribute that may hold nothing but blanks: a device of SCSI may leave its vendor blank.
pub fn blank(host: &dyn Host, path: &Path) -> Reading<String> {
    let shown = safe(path_bytes(path));
    match host.attribute(path) {
        Ok(text) => Reading::known(text, Source::file(shown)),
        Err(miss) => refused(&miss, &shown),
    }
}

/// The text of an attribute that every device of this kind has: where it is missing, the device was not read whole.
pub fn certain(reading: Reading<String>) -> Reading<String> {
    match reading {
        Reading::Unknown { why: Why::Absent, detail, .. } => {
            Reading::unknown(Why::Malformed, format!("{detail}; every device of this kind has it"))
        }
        reading => reading,
    }
}

/// A whole decimal number; anything else is malformed.
pub fn number(host: &dyn Host, path: &Path) -> Reading<u64> {
    text(host, path).and_then(|text| text.parse().map_err(|_| format!("`{text}` is no number")))
}

/// A flag, `0` or `1`; anything else is malformed.
pub fn flag(host: &dyn Host, path: &Path) -> Reading<bool> {
    text(host, path).and_then(|text| match text.as_str() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("`{text}` is neither 0 nor 1")),
    })
}

/// One word of a choice; any other word is malformed.
pub fn choice<T: Choice>(host: &dyn Host, path: &Path) -> Reading<T> {
    text(host, path).and_then(|text| T::read(&text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::catalog::device::WriteCache;
    use crate::host::Question;

    proptest! {
        /// An attribute is what it says, or unknown; whatever is around it, and whatever it holds.
        #[test]
        fn any_attribute_is_a_value_or_unknown(bytes: Vec<u8>, count: u64, blank in "[ \t]{0,3}") {
            let path = Path::new("/sys/x");
            let with = |text: &[u8]| Fake::default().answer(Question::Read(path.into()), text);
            let noise = with(&bytes);
            let shown = text(&noise, path);
            let line = bytes.strip_suffix(b"\n").unwrap_or_default();
            let printed = str::from_utf8(line).is_ok_and(|line| !line.chars().any(|c| c.is_control() && c != '\t'));
            prop_assert_eq!(shown.is_known(), printed && !line.trim_ascii().is_empty());
            prop_assert!(shown.value().is_none_or(|text| !text.chars().any(crate::text::is_treacherous)));
            prop_assert_eq!(choice::<WriteCache>(&noise, path).is_known(), shown.value().is_some_and(|word| WriteCache::from_word(word).is_some()));
            let plain = with(format!("{blank}{count}{blank}\n").as_bytes());
            prop_assert_eq!(number(&plain, path).value().copied(), Some(count));
            prop_assert_eq!(flag(&plain, path).value().copied(), match count { 0 => Some(false), 1 => Some(true), _ => None });
        }
    }
}
