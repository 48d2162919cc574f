//! Facts that are one of a few words, as types: every judgement of one names all its words in a `match`, so that a new
//! word cannot be overlooked.
//!
//! [`Choice::from_word`] is the only place where an outside word becomes a value; a word that is not in the list becomes none.
//! The collector that reads a tool translates the tool's words.

use super::{FactValue, Reading, Value, ValueKind};

/// A closed set of words, made by [`choice!`].
pub trait Choice: Copy + Eq + 'static {
    /// Every value, in the order in which they are declared.
    const ALL: &'static [Self];
    /// The word of each, in the same order.
    const WORDS: &'static [&'static str];

    /// Its word in facts, rules and outputs.
    fn word(self) -> &'static str;

    /// The value of a word; none where the word is not in the list.
    fn from_word(word: &str) -> Option<Self> {
        let mut known = Self::ALL.iter().zip(Self::WORDS);
        known.find(|(_, known)| **known == word).map(|(value, _)| *value)
    }

    /// The same of a word that was read, for [`Reading::and_then`].
    fn read(word: &str) -> Result<Self, String> {
        Self::from_word(word).ok_or_else(|| not_among(word, Self::WORDS))
    }
}

/// The complaint about a word that is in no list.
fn not_among(word: &str, words: &[&str]) -> String {
    format!("`{word}` is not among: {}", words.join(", "))
}

/// The reading of a fact of this kind: a word that a choice does not have is malformed.
pub(super) fn checked(kind: ValueKind, reading: Reading<Value>) -> Reading<Value> {
    let Some(words) = kind.choices() else { return reading };
    reading.and_then(|value| match &value {
        Value::Text(word) if !kind.is_list() && words.contains(&word.as_str()) => Ok(value),
        Value::List(all) if kind.is_list() => match all.iter().find(|word| !words.contains(&word.as_str())) {
            Some(other) => Err(not_among(other, words)),
            None => Ok(value),
        },
        other => Err(not_among(&other.to_string(), words)),
    })
}

impl<T: Choice> FactValue for T {
    fn into_value(self) -> Value {
        Value::Text(self.word().to_owned())
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) => Self::from_word(word),
            Value::Bool(_) | Value::Whole(_) | Value::Number(_) | Value::Version(_) | Value::List(_) => None,
        }
    }
}

impl<T: Choice> FactValue for Vec<T> {
    fn into_value(self) -> Value {
        Value::List(self.into_iter().map(|one| one.word().to_owned()).collect())
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::List(words) => words.iter().map(|word| T::from_word(word)).collect(),
            Value::Bool(_) | Value::Whole(_) | Value::Number(_) | Value::Version(_) | Value::Text(_) => None,
        }
    }
}

/// Declares a closed set of words: a type, its values, and the word of each.
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of_value:meta])* $value:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of_value])* $value),+ }

        impl $crate::facts::Choice for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn word(self) -> &'static str {
                $name::word(self)
            }
        }

        impl $name {
            /// Its word in facts, rules and outputs.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
pub(crate) use choice;
