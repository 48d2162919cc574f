//! Statements of a file about rules elsewhere: that one is off, or has another level.

use super::fields::{CheckedTable, SpannedValue, TableSchema};
use super::prose::flowing;
use crate::rules::diagnostic::{Diagnostics, Span};
use crate::rules::others::{GIVEN, Off, Override};

const OFF: TableSchema =
    TableSchema { what: "this table", required: &["rule", "because"], optional: &["until"] };
const OVERRIDE: TableSchema =
    TableSchema { what: "this override", required: &["rule", "level", "because"], optional: &["until"] };

pub(super) fn off(item: SpannedValue<'_>, file: &str, problems: &mut Diagnostics) -> Option<(Off, Span)> {
    let before = problems.count();
    let fields = CheckedTable::open(item, &OFF, problems)?;
    let rule = fields.text("rule", problems);
    let (because, until) = (reason(&fields, problems), fields.date("until", problems));
    let (rule, because) = (rule?, because?);
    if problems.count() > before {
        return None;
    }
    let line = problems.line(rule.span.start);
    Some((Off { rule: rule.text, because, until, file: file.to_owned(), line }, rule.span))
}

/// Parses an `[[override]]`. The rule's own level is unknown here.
pub(super) fn level(
    item: SpannedValue<'_>,
    file: &str,
    problems: &mut Diagnostics,
) -> Option<(Override, Span)> {
    let before = problems.count();
    let fields = CheckedTable::open(item, &OVERRIDE, problems)?;
    let rule = fields.text("rule", problems);
    let level = fields.level(&GIVEN, problems);
    let (because, until) = (reason(&fields, problems), fields.date("until", problems));
    let (rule, level, because) = (rule?, level?, because?);
    if problems.count() > before {
        return None;
    }
    let line = problems.line(rule.span.start);
    let file = file.to_owned();
    Some((Override { rule: rule.text, was: level, level, because, until, file, line }, rule.span))
}

/// The reason, which must not be empty.
fn reason(fields: &CheckedTable<'_>, problems: &mut Diagnostics) -> Option<String> {
    let because = fields.text("because", problems)?;
    let words = flowing(&because.text);
    if words.is_empty() {
        problems.report(because.span, "a reason without a word", "every report shows it: say why");
        return None;
    }
    Some(words)
}
