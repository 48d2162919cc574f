//! The typed name of a fact. Each is declared once, in [`super::catalog`], and used by collectors, judgement, rules,
//! screens and documentation alike.

use std::marker::PhantomData;

use super::{Scope, Value};
use crate::text;
use crate::version::Version;

/// What a fact's value is, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
}

impl Kind {
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
        }
    }
}

/// What is declared of a fact, without its Rust type.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo {
    /// The dotted name, such as `device.write_cache`.
    pub name: &'static str,
    /// What it is about.
    pub scope: Scope,
    /// What its value is.
    pub kind: Kind,
    /// One sentence, with the public source of the attribute.
    pub doc: &'static str,
}

impl KeyInfo {
    /// A value of this fact as people read it, with its unit: `16 MiB`, `182 µs`, `yes`.
    pub fn show(&self, value: &Value) -> String {
        match (self.kind, value) {
            (Kind::Bytes, Value::Whole(count)) => text::bytes(*count),
            (Kind::Micros, Value::Number(us)) => text::micros(*us),
            (_, value) => value.to_string(),
        }
    }
}

/// The typed name of a fact.
#[derive(Debug)]
pub struct Key<T> {
    /// The declaration.
    pub info: KeyInfo,
    shape: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// Declares a fact.
    pub const fn new(name: &'static str, scope: Scope, kind: Kind, doc: &'static str) -> Self {
        Self { info: KeyInfo { name, scope, kind, doc }, shape: PhantomData }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.info.name
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
