//! The JSON of storcli, perccli and their successors: an envelope of controllers, and values at full paths.
//!
//! The meaning of values is left to the parsers. A command that failed still has an entry.

use serde_json::{Map, Value};

use super::fields::plain;
use super::names::{MEGARAID_JSON, own};
use super::said::FieldReading;
use crate::text::json;

/// The document in an answer, with the parsers' own names as keys.
pub fn document(answer: &[u8]) -> Option<Value> {
    Some(renamed(json::first(answer)?.0))
}

/// Two values under names of one thing are none, unless they are alike.
fn renamed(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut out = Map::new();
            for (key, value) in fields {
                let value = renamed(value);
                let key = own(MEGARAID_JSON, &key).to_owned();
                let differs = out.get(&key).is_some_and(|other| *other != value);
                out.insert(key, if differs { Value::Null } else { value });
            }
            Value::Object(out)
        }
        Value::Array(values) => Value::Array(values.into_iter().map(renamed).collect()),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => value,
    }
}

pub fn entries(document: &Value) -> impl Iterator<Item = &Value> {
    document.get("Controllers").and_then(Value::as_array).into_iter().flatten()
}

/// Number of the controller that an entry is about.
pub fn number(entry: &Value) -> Option<String> {
    text(entry, &["Command Status", "Controller"])
}

/// The data of an entry, unless the command failed.
pub fn response(entry: &Value) -> Option<&Value> {
    let done = text(entry, &["Command Status", "Status"]).is_some_and(|status| status == "Success");
    entry.get("Response Data").filter(|_| done)
}

/// The text or number at a path, trimmed.
pub fn text(value: &Value, path: &[&str]) -> Option<String> {
    let mut at = value;
    for key in path {
        at = at.get(key)?;
    }
    let text = match at {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(crate::text::safe(text.trim().as_bytes()))
}

/// The meaning of the text at a path, case-insensitive.
pub fn said<T: Copy>(value: &Value, path: &[&str], meaning: impl Fn(&str) -> Option<T>) -> FieldReading<T> {
    said_exactly(value, path, |word| meaning(&plain(word)))
}

pub fn rows<'a>(data: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    data.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The meaning of the text at a path, case-sensitive.
pub fn said_exactly<T: Copy>(
    value: &Value,
    path: &[&str],
    meaning: impl Fn(&str) -> Option<T>,
) -> FieldReading<T> {
    let what = path.join("/");
    match text(value, path) {
        None => FieldReading::missing(&what),
        Some(word) => meaning(&word).map_or_else(|| FieldReading::unknown(&what, &word), FieldReading::Is),
    }
}
