//! Helpers shared by the tests of every crate. Nothing here is shipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "for tests"
)]

pub mod deadline;
pub mod drawn_screens;

/// Joins the words of a text with single blanks, so that tests do not depend on line breaks.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
