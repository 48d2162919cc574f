//! Facts: named values about the host, its devices, mounts and databases. A value is never guessed.
//!
//! A reading is known, with its source, or unknown, with a reason and perhaps a remedy. Collectors
//! fill a [`FactSet`]; every other layer queries that set. A lookup always returns a reading: a
//! fact without an entry is *not collected*.

#[macro_use]
mod choice {
    //! Enums whose variants stand for the words of a fixed list, such as the values of a fact. Code
    //! matches every variant, so the compiler reports each place that a new word affects.
    //!
    //! Only [`Choice::from_word`] converts text to a variant; an unlisted word becomes `None`.
    //! Tools print other words, which collectors translate first.

    use super::{FactValue, Reading, Value, ValueKind};

    /// A closed set of words, declared by [`choice!`](crate::choice).
    pub trait Choice: Copy + Eq + 'static {
        const ALL: &'static [Self];
        const WORDS: &'static [&'static str];

        fn as_str(self) -> &'static str;

        /// `None` for an unlisted word.
        fn from_word(word: &str) -> Option<Self> {
            let mut known = Self::ALL.iter().zip(Self::WORDS);
            known
                .find(|(_, known)| **known == word)
                .map(|(value, _)| *value)
        }

        /// The error lists the known words; [`Reading::and_then`] makes it the detail of a
        /// malformed reading.
        fn parse_word(word: &str) -> Result<Self, String> {
            Self::from_word(word).ok_or_else(|| unknown_word_message(word, Self::WORDS))
        }
    }

    fn unknown_word_message(word: &str, words: &[&str]) -> String {
        format!("`{word}` is not one of: {}", words.join(", "))
    }

    /// Makes a reading malformed if its value contains a word that the choice of `kind` does not
    /// list.
    pub(super) fn malformed_if_word_is_unlisted(
        kind: ValueKind,
        reading: Reading<Value>,
    ) -> Reading<Value> {
        let Some(words) = kind.allowed_words() else {
            return reading;
        };
        reading.and_then(|value| match &value {
            Value::Text(word) if !kind.is_list() && words.contains(&word.as_str()) => Ok(value),
            Value::List(all) if kind.is_list() => {
                match all.iter().find(|word| !words.contains(&word.as_str())) {
                    Some(other) => Err(unknown_word_message(other, words)),
                    None => Ok(value),
                }
            }
            other => Err(unknown_word_message(&other.to_string(), words)),
        })
    }

    impl<T: Choice> FactValue for T {
        const KIND: ValueKind = ValueKind::Choice(T::WORDS);

        fn into_value(self) -> Value {
            Value::Text(self.as_str().to_owned())
        }

        fn from_value(value: &Value) -> Option<Self> {
            let Value::Text(word) = value else {
                return None;
            };
            Self::from_word(word)
        }
    }

    impl<T: Choice> FactValue for Vec<T> {
        const KIND: ValueKind = ValueKind::Choices(T::WORDS);

        fn into_value(self) -> Value {
            Value::List(
                self.into_iter()
                    .map(|one| one.as_str().to_owned())
                    .collect(),
            )
        }

        fn from_value(value: &Value) -> Option<Self> {
            let Value::List(words) = value else {
                return None;
            };
            words.iter().map(|word| T::from_word(word)).collect()
        }
    }

    /// Declares enums in which each variant stands for one word, and implements [`Choice`] for
    /// each enum. A name after the word declares the predicate for that variant.
    #[macro_export]
    macro_rules! choice {
    ($($(#[$meta:meta])* pub enum $name:ident { $(
        $(#[$of_value:meta])* $value:ident = $word:literal $($(#[$about:meta])* $is_value:ident)?
    ),+ $(,)? })+) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of_value])* $value),+ }

        impl $crate::facts::Choice for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn as_str(self) -> &'static str {
                $name::as_str(self)
            }
        }

        impl $name {
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }

            $($($(#[$about])* pub fn $is_value(self) -> bool {
                matches!(self, Self::$value)
            })?)+
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+ };
}
}
pub mod note;
mod reading;
mod subject;
mod value_kind {
    use super::Value;
    use crate::version::Version;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ValueKind {
        Bool,
        Count,
        Bytes,
        Micros,
        /// A number in another unit, such as percent or operations per second; the name or the
        /// description of the fact gives the unit.
        Number,
        Text,
        Choice(&'static [&'static str]),
        Version,
        List,
        Choices(&'static [&'static str]),
    }

    impl ValueKind {
        pub fn is_list(self) -> bool {
            matches!(self, Self::List | Self::Choices(_))
        }

        pub fn allowed_words(self) -> Option<&'static [&'static str]> {
            if let Self::Choice(words) | Self::Choices(words) = self {
                Some(words)
            } else {
                None
            }
        }

        pub fn value_kind_description(self) -> String {
            match self {
                Self::Bool => "true or false".to_owned(),
                Self::Count => "a count".to_owned(),
                Self::Bytes => "a size in bytes".to_owned(),
                Self::Micros => "microseconds".to_owned(),
                Self::Number => "a number".to_owned(),
                Self::Text => "text".to_owned(),
                Self::Choice(words) => format!("one of: {}", words.join(", ")),
                Self::Version => "a version".to_owned(),
                Self::List => "a list of words".to_owned(),
                Self::Choices(words) => format!("a list of: {}", words.join(", ")),
            }
        }
    }

    pub trait FactValue: Sized {
        /// Kind of facts with this Rust type; a declaration in the catalogue can name another kind.
        const KIND: ValueKind;

        fn into_value(self) -> Value;
        /// Converts a value to the Rust type; `None` if the value has another data type.
        fn from_value(value: &Value) -> Option<Self>;
    }

    macro_rules! fact_value {
        ($type:ty, $variant:ident, $kind:ident) => {
            impl FactValue for $type {
                const KIND: ValueKind = ValueKind::$kind;

                fn into_value(self) -> Value {
                    Value::$variant(self)
                }
                fn from_value(value: &Value) -> Option<Self> {
                    match value {
                        Value::$variant(inner) => Some(inner.clone()),
                        _ => None,
                    }
                }
            }
        };
    }

    fact_value!(bool, Bool, Bool);
    fact_value!(u64, Whole, Count);
    fact_value!(f64, Number, Number);
    fact_value!(String, Text, Text);
    fact_value!(Version, Version, Version);
    fact_value!(Vec<String>, List, List);
}
mod server_area {
    //! Database servers, and the areas of their facts and settings. An area is the word before the
    //! dot, as in `pg.fsync`; a server has only the facts and settings of its own area.

    use super::Choice;

    choice! {
        /// The family of servers that facts and settings belong to; MariaDB belongs to `Mysql`.
        pub enum ServerArea { Pg = "pg", Mysql = "mysql" }

        #[derive(serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum ServerKind {
            Postgres = "postgres" is_postgres,
            Mysql = "mysql",
            Mariadb = "mariadb" is_mariadb,
        }
    }

    impl ServerKind {
        /// The product's own spelling, such as `PostgreSQL`.
        pub fn server_product_name(self) -> &'static str {
            match self {
                Self::Postgres => "PostgreSQL",
                Self::Mysql => "MySQL",
                Self::Mariadb => "MariaDB",
            }
        }

        /// MySQL and MariaDB share an area, because both read the same option files.
        pub fn server_area(self) -> ServerArea {
            match self {
                Self::Postgres => ServerArea::Pg,
                Self::Mysql | Self::Mariadb => ServerArea::Mysql,
            }
        }

        /// The oldest release in `rules/tables/servers.toml`, as major and minor number. Earlier
        /// releases are assumed to have the settings of this one.
        pub(crate) fn oldest_listed_release(self) -> [u64; 2] {
            match self {
                Self::Postgres => [9, 4],
                Self::Mysql => [5, 7],
                Self::Mariadb => [10, 2],
            }
        }
    }

    /// The server area of a fact or setting, by the word before the dot; `None` if that word is not
    /// an area.
    pub fn server_area_of_name(name: &str) -> Option<ServerArea> {
        ServerArea::from_word(name.split_once('.')?.0)
    }
}
pub mod catalog;
mod database_profile;
mod fact_set;
mod key;

use std::fmt;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::escape_display_unsafe_in_place;
use crate::version::Version;

pub use crate::choice;
pub use choice::Choice;
pub use database_profile::{ConfigFileSyntax, DatabaseProfile, DirectorySpec};
pub use fact_set::{FactRow, FactSet};
pub use key::{FactGroup, FactId, FactStability, Key, KeyInfo};
pub use note::{Note, NoteKind};
pub use reading::{Reading, Remedy, Source, UnknownReason};
pub use server_area::{ServerArea, ServerKind, server_area_of_name};
pub use subject::{Scope, Subject};
pub use value_kind::{FactValue, ValueKind};

// The unit of a value belongs to the fact's key ([`ValueKind`]), not to the value.

/// The value of a fact. Text is display-safe: control characters were escaped where the text
/// was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Serialised as `true` or `false`, displayed as `yes` or `no`.
    Bool(bool),
    /// A whole number: a count, or bytes.
    Whole(u64),
    /// A measured number: microseconds, or a ratio.
    Number(f64),
    /// Text of one line, such as a word or a path.
    Text(String),
    /// A version, including the part that a vendor appends.
    // A version that is read back from JSON stays text.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    Version(#[schemars(with = "String")] Version),
    /// Several words, in the order of the source.
    List(Vec<String>),
}

impl Value {
    fn into_display_safe(mut self) -> Self {
        match &mut self {
            Self::Text(text) => escape_display_unsafe_in_place(text),
            Self::List(words) => words.iter_mut().for_each(escape_display_unsafe_in_place),
            // These values contain nothing to escape; even a parsed version holds only printable
            // ASCII.
            Self::Bool(_) | Self::Whole(_) | Self::Number(_) | Self::Version(_) => {}
        }
        self
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(true) => f.write_str("yes"),
            Self::Bool(false) => f.write_str("no"),
            Self::Whole(n) => write!(f, "{n}"),
            Self::Number(n) => write!(f, "{n:.2}"),
            Self::Text(text) => f.write_str(text),
            Self::Version(version) => write!(f, "{version}"),
            Self::List(words) if words.is_empty() => f.write_str("none"),
            Self::List(words) => f.write_str(&words.join(",")),
        }
    }
}

// Judgement looks up millions of facts on a large host, so a list is sorted and searched by
// [`FactId`], never by name.

#[derive(Clone, Debug, PartialEq)]
struct Fact {
    id: FactId,
    pub name: &'static str,
    pub reading: Arc<Reading<Value>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct FactList(Vec<Fact>);

impl FactList {
    pub fn get(&self, id: FactId) -> Option<&Arc<Reading<Value>>> {
        let at = self.0.binary_search_by_key(&id, |fact| fact.id).ok()?;
        self.0.get(at).map(|fact| &fact.reading)
    }

    pub fn insert(&mut self, key: &KeyInfo, reading: Arc<Reading<Value>>) {
        self.insert_fact(Fact {
            id: key.id,
            name: key.name,
            reading,
        });
    }

    /// Adds facts, which replace earlier readings of those facts.
    pub fn insert_all(&mut self, others: &Self) {
        others
            .iter()
            .for_each(|fact| self.insert_fact(fact.clone()));
    }

    fn insert_fact(&mut self, new: Fact) {
        match self.0.binary_search_by_key(&new.id, |fact| fact.id) {
            Ok(at) => {
                if let Some(old) = self.0.get_mut(at) {
                    *old = new;
                }
            }
            Err(at) => {
                // A list grows in small steps: a large host has ten thousand lists, and
                // doubling each would waste memory.
                if self.0.len() == self.0.capacity() {
                    self.0.reserve_exact(8);
                }
                self.0.insert(at, new);
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Fact> {
        self.0.iter()
    }
}

/// The facts of one subject, looked up once for several reads. With `None`, for a subject that
/// is not in the set, every fact is *not collected*.
#[derive(Clone, Copy, Debug)]
pub struct SubjectFacts<'f>(Option<&'f FactList>);

impl<'f> SubjectFacts<'f> {
    pub fn reading_or_not_collected(self, id: FactId) -> &'f Arc<Reading<Value>> {
        self.0
            .and_then(|row| row.get(id))
            .unwrap_or_else(not_collected_reading)
    }
}

fn not_collected_reading<'f>() -> &'f Arc<Reading<Value>> {
    static NOT_COLLECTED: LazyLock<Arc<Reading<Value>>> =
        LazyLock::new(|| Arc::new(Reading::not_collected()));
    &NOT_COLLECTED
}

/// A missing fact that would decide a rule or a verdict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct MissingFact {
    /// The host, device, mount or server that the fact is about.
    pub subject: Subject,
    /// The fact's name, such as `mount.fstype`.
    pub fact: String,
    /// The kind of reason why the fact is unknown.
    pub why: UnknownReason,
    /// The failed attempt to read the fact, such as `reading /dev/sda`; can be empty.
    pub detail: String,
    /// A step that would make the fact known.
    #[serde(rename = "fix", skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

impl MissingFact {
    /// `None` for a known reading.
    pub fn from_unknown_reading(
        subject: &Subject,
        fact: &str,
        reading: &Reading<Value>,
    ) -> Option<Self> {
        match reading {
            Reading::Known { .. } => None,
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => Some(Self {
                subject: subject.clone(),
                fact: fact.to_owned(),
                why: *why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod fact_list_tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog;

    /// The names are inserted in the order of the catalogue, which differs from the
    /// alphabetical order of the list.
    #[test]
    fn fact_list_is_ordered_and_finds_each_fact() {
        let reading =
            |value: usize| Arc::new(Reading::known(Value::Whole(value as u64), Source::Assumed));
        let keys: Vec<&KeyInfo> = catalog::all_keys().collect();
        let mut row = FactList::default();
        for turn in 0..2 {
            for (at, key) in keys.iter().enumerate().skip(1) {
                row.insert(key, reading(at + turn));
            }
        }
        assert!(row.iter().map(|fact| fact.name).is_sorted());
        assert_eq!(row.iter().count(), keys.len() - 1);
        for (at, key) in keys.iter().enumerate().skip(1) {
            assert_eq!(row.get(key.id), Some(&reading(at + 1)), "{}", key.name);
        }
        assert_eq!(row.get(keys[0].id), None);
        assert_eq!(
            SubjectFacts(Some(&row)).reading_or_not_collected(keys[0].id),
            &Arc::new(Reading::not_collected())
        );
    }
}

#[cfg(any(test, feature = "testing"))]
pub mod testing {
    #![allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::missing_panics_doc,
        reason = "for tests"
    )]

    use super::{KeyInfo, Value, ValueKind, catalog};
    use crate::version::Version;

    /// Parses a fact's value: `yes` or `true` for a switch, commas between the words of a list.
    /// Panics on any other syntax.
    pub fn parse_value(info: &KeyInfo, word: &str) -> Value {
        let list = || {
            word.split_terminator(',')
                .map(str::to_owned)
                .collect::<Vec<String>>()
        };
        let value = match info.kind {
            ValueKind::Bool => match word {
                "yes" | "true" => Value::Bool(true),
                "no" | "false" => Value::Bool(false),
                other => panic!("{} is never {other}", info.name),
            },
            ValueKind::Count | ValueKind::Bytes => Value::Whole(word.parse().unwrap()),
            ValueKind::Micros | ValueKind::Number => Value::Number(word.parse().unwrap()),
            ValueKind::Version => Value::Version(Version::parse(word).unwrap()),
            ValueKind::List | ValueKind::Choices(_) => Value::List(list()),
            ValueKind::Text | ValueKind::Choice(_) => Value::Text(word.to_owned()),
        };
        let words = if info.kind.is_list() {
            list()
        } else {
            vec![word.to_owned()]
        };
        assert!(
            words
                .iter()
                .all(|word| catalog::is_allowed_word(info, word)),
            "{} is never {word}",
            info.name
        );
        value
    }
}
