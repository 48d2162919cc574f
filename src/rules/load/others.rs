//! Statements of a file about rules elsewhere: that one is off, or has another level.

use super::fields::{Fields, Item, Shape};
use super::flowing;
use crate::rules::Level;
use crate::rules::diagnostic::{Problems, Span};
use crate::rules::others::{GIVEN, Off, Override};

const OFF: Shape = Shape { what: "this table", required: &["rule", "because"], optional: &[] };
const OVERRIDE: Shape =
    Shape { what: "this override", required: &["rule", "level", "because"], optional: &[] };

/// Reads an `[[off]]`.
pub(super) fn off(item: Item<'_>, file: &str, problems: &mut Problems) -> Option<(Off, Span)> {
    let before = problems.count();
    let fields = Fields::open(item, &OFF, problems)?;
    let rule = fields.text("rule", problems);
    let because = reason(&fields, problems);
    let (rule, because) = (rule?, because?);
    if problems.count() > before {
        return None;
    }
    let line = problems.line(rule.span.start);
    Some((Off { rule: rule.text, because, file: file.to_owned(), line }, rule.span))
}

/// Parses an `[[override]]`. The rule's own level is unknown here.
pub(super) fn level(item: Item<'_>, file: &str, problems: &mut Problems) -> Option<(Override, Span)> {
    let before = problems.count();
    let fields = Fields::open(item, &OVERRIDE, problems)?;
    let rule = fields.text("rule", problems);
    let level = fields.word("level", &GIVEN, Level::word, problems);
    let because = reason(&fields, problems);
    let (rule, level, because) = (rule?, level?, because?);
    if problems.count() > before {
        return None;
    }
    let line = problems.line(rule.span.start);
    let file = file.to_owned();
    Some((Override { rule: rule.text, was: level, level, because, file, line }, rule.span))
}

/// The reason, which must not be empty.
fn reason(fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let because = fields.text("because", problems)?;
    let words = flowing(&because.text);
    if words.is_empty() {
        problems.report(because.span, "a reason without a word", "every report shows it: say why".to_owned());
        return None;
    }
    Some(words)
}
