use walwise_model::facts::{FactRow, FactSet, Reading};
use walwise_model::text::is_display_unsafe;

/// Panics if a text could control a terminal or hide something.
pub fn assert_display_safe(text: &str) {
    assert!(!text.chars().any(is_display_unsafe), "{text:?}");
}

#[allow(dead_code, reason = "not every target has facts")]
pub fn assert_facts_display_safe(facts: &FactSet) {
    facts
        .notes()
        .iter()
        .for_each(|note| assert_display_safe(&note.to_string()));
    for FactRow {
        subject, reading, ..
    } in facts.rows()
    {
        assert_display_safe(subject.name());
        match reading {
            Reading::Known { value, source } => {
                assert_display_safe(&value.to_string());
                assert_display_safe(&source.to_string());
            }
            Reading::Unknown { detail, .. } => assert_display_safe(detail),
        }
    }
}
