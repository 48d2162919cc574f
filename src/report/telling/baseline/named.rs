//! The names of many things in a line.

use crate::report::telling::words;
use crate::text::first_of;

/// How many names are told before the rest is counted.
const NAMED: usize = 6;

/// The first of several names, each once; the rest counted.
pub fn named(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    first_of(&words::distinct(names.iter().map(String::as_str)), NAMED)
}
