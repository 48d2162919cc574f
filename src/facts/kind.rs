//! What the value of a fact is: its kind with its unit, and the Rust types that it can have. Choices are left to
//! [`super::choice`].

use super::Value;
use crate::version::Version;

/// What a fact's value is, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// True or false.
    Bool,
    /// A count of things.
    Count,
    /// A size in bytes.
    Bytes,
    /// A time in microseconds.
    Micros,
    /// A plain number such as operations per second, percent or flushes per operation; the name or the text says which.
    Number,
    /// Free text.
    Text,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A version.
    Version,
    /// Several words.
    List,
    /// Several of a few words.
    Choices(&'static [&'static str]),
}

impl ValueKind {
    /// Whether a value is several words.
    pub fn is_list(self) -> bool {
        matches!(self, Self::List | Self::Choices(_))
    }

    /// The words that a value can be or hold, where they are few.
    pub fn choices(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Choice(words) | Self::Choices(words) => Some(words),
            Self::Bool
            | Self::Count
            | Self::Bytes
            | Self::Micros
            | Self::Number
            | Self::Text
            | Self::Version
            | Self::List => None,
        }
    }

    /// In words, for listings and diagnostics.
    pub fn words(self) -> String {
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

/// A Rust type that a fact's value can have.
pub trait FactValue: Sized {
    /// As a value of the set.
    fn into_value(self) -> Value;
    /// Back again; `None` when the shape differs.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! fact_value {
    ($type:ty, $variant:ident) => {
        impl FactValue for $type {
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

fact_value!(bool, Bool);
fact_value!(u64, Whole);
fact_value!(f64, Number);
fact_value!(String, Text);
fact_value!(Version, Version);
fact_value!(Vec<String>, List);
