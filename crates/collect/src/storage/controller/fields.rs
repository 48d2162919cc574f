//! Lines of `Key : value`, as most of the tools print them.
//!
//! Keys are compared in lower case with single blanks. A key that appears twice in one block with
//! different values has no value, because a heading between the two may have been lost.

use std::collections::BTreeMap;

use super::names::{self, Synonyms};
use super::said::{FieldReading, Pci, pci};
use crate::text::safe;

/// The fields of one block.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    values: BTreeMap<String, Result<String, ()>>,
    /// What the maker calls one thing.
    names: Synonyms,
}

impl Fields {
    /// No fields yet, with the names that one maker gives to one thing.
    pub fn of(names: Synonyms) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// Adds a line, if it is a field.
    pub fn add(&mut self, line: &str) {
        if let Some((key, value)) = split(line) {
            self.put(&key, value);
        }
    }

    pub fn put(&mut self, key: &str, value: String) {
        let new = Ok(value);
        self.values
            .entry(names::own(self.names, key).to_owned())
            .and_modify(|old| {
                if *old != new {
                    *old = Err(());
                }
            })
            .or_insert(new);
    }

    /// The value of a key; `None` when it is missing or has different values.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key)?.as_ref().ok().map(String::as_str)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Whether the key occurs at all.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// The meaning of a value, by a function of its text in lower case.
    pub fn said<T: Copy>(&self, key: &str, meaning: impl Fn(&str) -> Option<T>) -> FieldReading<T> {
        match self.values.get(key) {
            None => FieldReading::missing(key),
            Some(Err(())) => FieldReading::disputed(format!("`{key}` is said in two ways")),
            Some(Ok(value)) => match meaning(&value.to_ascii_lowercase()) {
                Some(meant) => FieldReading::Is(meant),
                None => FieldReading::unknown(key, value),
            },
        }
    }
}

/// Key and value of a line, around its first colon.
pub fn split(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(':')?;
    let key = plain(key);
    (!key.is_empty()).then(|| (key, value.trim().to_owned()))
}

/// In lower case with single blanks.
pub fn plain(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_ascii_lowercase()
}

/// The lines of an answer, display-safe except for their blanks.
pub fn lines(answer: &[u8]) -> Vec<String> {
    let show = |line: &[u8]| {
        let blanks: Vec<u8> = line
            .iter()
            .map(|b| if *b == b'\t' { b' ' } else { *b })
            .collect();
        safe(blanks.strip_suffix(b"\r").unwrap_or(&blanks))
    };
    answer.split(|b| *b == b'\n').map(show).collect()
}

/// The same from a field whose key has colons of its own:
/// `PCI Address (Domain:Bus:Device.Function): 0000:03:00.0`.
pub fn pci_field(fields: &Fields) -> Option<Pci> {
    let (_, address) = fields.get("pci address (domain")?.split_once(')')?;
    pci(address.trim_start_matches([' ', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::catalog::controller::Battery;

    #[test]
    fn what_is_said_twice_differently_is_not_said() {
        let mut fields = Fields::default();
        for line in [
            "  Battery  State : Optimal",
            "Size: 1",
            "Size: 2",
            "Name:",
            "no field",
            ": nothing",
        ] {
            fields.add(line);
        }
        assert_eq!(fields.get("battery state"), Some("Optimal"));
        assert_eq!(fields.get("size"), None);
        assert!(fields.has("size") && fields.get("name") == Some(""));
        let known = |value: &str| (value == "optimal").then_some(Battery::Healthy);
        assert_eq!(
            fields.said("battery state", known),
            FieldReading::Is(Battery::Healthy)
        );
        for key in ["size", "name", "nothing"] {
            assert_eq!(fields.said(key, known).is(), None);
        }
    }
}
