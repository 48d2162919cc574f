//! The few shapes a fact's value can have. Units belong to the key ([`super::ValueKind`]), not to the value.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::text::escape_in_place;
use crate::version::Version;

/// A fact's value. Text is display-safe already: it was made so where it entered ([`crate::text::safe`]).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number: a count, or bytes.
    Whole(u64),
    /// A measured number: microseconds, or a ratio.
    Number(f64),
    /// A word or a line.
    Text(String),
    /// A version, shown with its vendor tail.
    // Back from JSON, it is text.
    #[serde(skip_deserializing)]
    #[cfg_attr(test, schemars(!skip_deserializing))]
    Version(#[cfg_attr(test, schemars(with = "String"))] Version),
    /// Several words, in the order of the source.
    List(Vec<String>),
}

impl Value {
    /// The shape in words, for diagnostics.
    pub fn shape(&self) -> &'static str {
        match self {
            Self::Bool(_) => "true or false",
            Self::Whole(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::Version(_) => "a version",
            Self::List(_) => "a list",
        }
    }
}

impl Value {
    /// The value with whatever could control a terminal escaped.
    pub(super) fn escaped(mut self) -> Self {
        match &mut self {
            Self::Text(text) => escape_in_place(text),
            Self::List(words) => words.iter_mut().for_each(escape_in_place),
            // A version escapes its tail.
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

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => value.serialize(out),
            Self::Whole(value) => value.serialize(out),
            Self::Number(value) => value.serialize(out),
            Self::Text(value) => value.serialize(out),
            Self::Version(value) => out.collect_str(value),
            Self::List(value) => value.serialize(out),
        }
    }
}
