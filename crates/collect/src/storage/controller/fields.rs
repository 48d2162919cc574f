//! Lines of `Key : value`, as most of the tools print them.
//!
//! Keys are compared in lower case with single blanks. A key with two different values in one
//! section counts as having no value, because a heading between the two lines may be lost.

use std::collections::BTreeMap;

use super::report::{
    FieldReading, PciAddress, conflicting, not_reported, parse_pci_address, unrecognised_value,
};
use super::synonyms::{self, Synonyms};
use crate::facts::Choice;
use crate::text::{bytes, display_safe};
use crate::text_table::rows;
use walwise_model::text::JoinText;

#[derive(Clone, Debug, Default)]
pub struct ToolOutputFields {
    values: BTreeMap<String, Result<String, ()>>,
    names: Synonyms,
}

impl ToolOutputFields {
    pub fn with_synonyms(names: Synonyms) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    pub fn add_line(&mut self, line: &str) {
        if let Some((key, value)) = split_key_and_value(line) {
            self.insert_or_conflict(&key, value);
        }
    }

    pub fn insert_or_conflict(&mut self, key: &str, value: String) {
        let new = Ok(value);
        self.values
            .entry(synonyms::canonical_key_of_synonym(self.names, key).to_owned())
            .and_modify(|old| {
                if *old != new {
                    *old = Err(());
                }
            })
            .or_insert(new);
    }

    /// `None` if the key is missing or has several different values.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key)?.as_ref().ok().map(String::as_str)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// `None` if the key is missing, as in the output of some versions.
    pub fn parse_optional_value<T: Copy>(
        &self,
        key: &str,
        meaning: impl Fn(&str) -> Option<T>,
    ) -> Option<FieldReading<T>> {
        self.contains_key(key)
            .then(|| self.parse_lowercase_value(key, meaning))
    }

    pub fn parse_lowercase_value<T: Copy>(
        &self,
        key: &str,
        meaning: impl Fn(&str) -> Option<T>,
    ) -> FieldReading<T> {
        match self.values.get(key) {
            None => not_reported(key),
            Some(Err(())) => conflicting(format!("`{key}` has two different values")),
            Some(Ok(value)) => meaning(&value.to_ascii_lowercase())
                .map_or_else(|| unrecognised_value(key, value), Ok),
        }
    }
}

/// Parses exactly the words that `words.txt` lists for a field.
pub fn listed<T: Choice>(field: &'static str) -> impl Fn(&str) -> Option<T> {
    move |word| {
        rows(WORDS)
            .find(|[of, known, _]| *of == field && *known == word)
            .and_then(|[_, _, meaning]| T::from_word(meaning))
    }
}

const WORDS: &str = include_str!("words.txt");

/// The field of `words.txt` with the words of all tools for the caches of member disks.
pub const DISK_CACHE: &str = "any: cache of the disks";

/// The fields below each heading. Lines before the first heading are dropped.
pub fn fields_by_heading<H>(
    answer: &[u8],
    names: Synonyms,
    mut heading: impl FnMut(&str) -> Option<H>,
) -> Vec<(H, ToolOutputFields)> {
    let mut sections: Vec<(H, ToolOutputFields)> = Vec::new();
    for line in display_safe_lines(answer) {
        if let Some(heading) = heading(&line) {
            sections.push((heading, ToolOutputFields::with_synonyms(names)));
        } else if let Some((_, fields)) = sections.last_mut() {
            fields.add_line(&line);
        }
    }
    sections
}

pub fn split_key_and_value(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(':')?;
    let key = to_single_spaced_lowercase(key);
    (!key.is_empty()).then(|| (key, value.trim().to_owned()))
}

pub fn to_single_spaced_lowercase(text: &str) -> String {
    text.split_whitespace().join_with(" ").to_ascii_lowercase()
}

pub fn display_safe_lines(answer: &[u8]) -> Vec<String> {
    let show = |line: &[u8]| {
        let blanks: Vec<u8> = line
            .iter()
            .map(|b| if *b == b'\t' { b' ' } else { *b })
            .collect();
        display_safe(blanks.strip_suffix(b"\r").unwrap_or(&blanks))
    };
    bytes::lines(answer).map(show).collect()
}

/// Parses a field whose key contains colons, such as
/// `PCI Address (Domain:Bus:Device.Function): 0000:03:00.0`.
pub fn parse_pci_address_field(fields: &ToolOutputFields) -> Option<PciAddress> {
    let (_, address) = fields.get("pci address (domain")?.split_once(')')?;
    parse_pci_address(address.trim_start_matches([' ', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::catalog::controller::BatteryCondition;
    use crate::text_table::check_rows;

    #[test]
    fn words_mean_values_of_the_facts_of_their_fields() {
        use crate::facts::catalog::controller::{
            BatteryFailurePolicy, CachePolicy, CachePolicyInForce, MemberDiskCache,
        };
        fn has_words<T: Choice>(fields: &[&str]) -> usize {
            let words = |[of, ..]: &[&str; 3]| fields.contains(of);
            let rows: Vec<[&str; 3]> = rows(WORDS).filter(words).collect();
            for [field, word, meaning] in &rows {
                assert!(T::from_word(meaning).is_some(), "{field} {word}");
            }
            rows.len()
        }
        check_rows::<3>(WORDS);
        let counts = [
            has_words::<BatteryCondition>(&[
                "megacli: issohgood",
                "megaraid: battery replacement required",
                "megaraid: charging status",
                "storcli: HwCfg/BBU",
            ]),
            has_words::<BatteryFailurePolicy>(&[
                "smart: no-battery write cache",
                "storcli: Cache When BBU Bad",
            ]),
            has_words::<CachePolicy>(&[
                "arcconf: write-cache setting",
                "storcli: Cache",
                "storcli: Write Cache(initial setting)",
                "storcli2: CurrentCache",
            ]),
            has_words::<CachePolicyInForce>(&["arcconf: write-cache status"]),
            has_words::<MemberDiskCache>(&[DISK_CACHE, "megacli: is vd cached"]),
        ];
        assert_eq!(counts, [11, 4, 15, 3, 12]);
        assert_eq!(rows::<3>(WORDS).count(), counts.iter().sum::<usize>());
        assert_eq!(
            listed::<BatteryCondition>("megacli: issohgood")("complete"),
            None
        );
        let parse = listed::<MemberDiskCache>(DISK_CACHE);
        assert_eq!(parse("disabled (pending reboot)"), None);
    }

    #[test]
    fn conflicting_field_values_are_unknown() {
        let mut fields = ToolOutputFields::default();
        for line in [
            "  Battery  State : Optimal",
            "Size: 1",
            "Size: 2",
            "Name:",
            "no field",
            ": nothing",
        ] {
            fields.add_line(line);
        }
        assert_eq!(fields.get("battery state"), Some("Optimal"));
        assert_eq!(fields.get("size"), None);
        assert!(fields.contains_key("size") && fields.get("name") == Some(""));
        let known = |value: &str| (value == "optimal").then_some(BatteryCondition::Healthy);
        assert_eq!(
            fields.parse_lowercase_value("battery state", known),
            Ok(BatteryCondition::Healthy)
        );
        for key in ["size", "name", "nothing"] {
            assert!(fields.parse_lowercase_value(key, known).is_err());
        }
    }
}
