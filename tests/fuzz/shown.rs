//! Properties of every output.

use walwise_model::facts::{FactRow, FactSet, Reading};
use walwise_model::text::is_display_unsafe;

/// Checks that a text neither controls a terminal nor hides anything.
pub fn safe(text: &str) {
    assert!(!text.chars().any(is_display_unsafe), "{text:?}");
}

/// Checks that every text in a set of facts is safe.
#[allow(dead_code, reason = "not every target has facts")]
pub fn facts(facts: &FactSet) {
    facts
        .notes()
        .iter()
        .for_each(|note| safe(&note.to_string()));
    for FactRow {
        subject, reading, ..
    } in facts.rows()
    {
        safe(subject.name());
        match reading {
            Reading::Known { value, source } => {
                safe(&value.to_string());
                safe(&source.to_string());
            }
            Reading::Unknown { detail, .. } => safe(detail),
        }
    }
}
