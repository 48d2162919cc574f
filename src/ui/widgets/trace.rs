//! The trace of a rule as a tree: condition, result, reading, source; for an unknown one the remedy. Nothing is cut: a
//! text too long for its columns continues in the next row.

use ratatui::text::{Line, Span};

use super::text;
use crate::facts::{Reading, catalog};
use crate::rules::Trace;
use crate::truth::Truth;
use crate::ui::theme::{TextRole, Theme};

/// Deeper than this a tree is cut: no rule file needs it, and a screen has no room for it.
const DEEPEST: usize = 12;

/// The tree, within so many columns.
pub fn lines(trace: &Trace, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    flatten(trace, "", "", 0, &mut rows);
    let longest = rows.iter().map(|row| text::width(&row.left)).max().unwrap_or(0);
    let label_room = longest.min(room.saturating_mul(11) / 20);
    rows.iter().flat_map(|row| row.lines(theme, label_room, room)).collect()
}

/// One condition, with its branch before it.
struct TreeRow<'a> {
    left: String,
    /// The text under the branch on further lines.
    under: String,
    trace: &'a Trace,
}

impl TreeRow<'_> {
    fn lines(&self, theme: Theme, label_room: usize, room: usize) -> Vec<Line<'static>> {
        let truth = self.trace.truth;
        let role = match truth {
            Truth::True => TextRole::Good,
            Truth::Unknown => TextRole::Doubt,
            Truth::False => TextRole::Plain,
        };
        let (seen, from, remedy) = self.seen();
        let used = label_room.saturating_add(11);
        let beside = room.saturating_sub(used);
        let labels = text::wrap_under(&self.left, &self.under, label_room);
        let mut said: Vec<(String, TextRole)> =
            together(&seen, &from, beside).into_iter().map(|row| (row, TextRole::Dim)).collect();
        let remedy = remedy.map(|remedy| text::wrap(&format!("→ {remedy}"), beside)).unwrap_or_default();
        said.extend(remedy.into_iter().map(|row| (row, TextRole::Plain)));
        let row = |i: usize| {
            let left = labels.get(i).unwrap_or(&self.under);
            let truth = if i == 0 { truth.word() } else { "" };
            let (said, said_role) = said.get(i).cloned().unwrap_or((String::new(), TextRole::Plain));
            Line::from(vec![
                Span::raw(text::pad(left, label_room)),
                Span::raw("  "),
                Span::styled(text::pad(truth, 7), theme.style(role)),
                Span::raw("  "),
                Span::styled(said, theme.style(said_role)),
            ])
        };
        (0..labels.len().max(said.len())).map(row).collect()
    }

    /// The reading, its source, and the remedy.
    fn seen(&self) -> (String, String, Option<String>) {
        let Some(seen) = &self.trace.seen else { return (String::new(), String::new(), None) };
        match &*seen.reading {
            Reading::Known { value, source } => (catalog::show(seen.fact, value), source.to_string(), None),
            Reading::Unknown { why, detail, remedy } => {
                (format!("{why}: {detail}"), String::new(), remedy.as_ref().map(ToString::to_string))
            }
        }
    }
}

/// A value and where it was read, in one row if they fit.
fn together(value: &str, source: &str, room: usize) -> Vec<String> {
    let whole = format!("{value}   {source}");
    if text::width(&whole) <= room {
        return vec![whole.trim_end().to_owned()];
    }
    let rows = [value, source].into_iter().filter(|said| !said.is_empty());
    rows.flat_map(|said| text::wrap(said, room)).collect()
}

fn flatten<'a>(trace: &'a Trace, branch: &str, under: &str, depth: usize, rows: &mut Vec<TreeRow<'a>>) {
    let subject = trace.seen.as_ref().map(|seen| format!("  ({})", seen.subject)).unwrap_or_default();
    rows.push(TreeRow { left: format!("{branch}{}{subject}", trace.label), under: under.to_owned(), trace });
    if depth >= DEEPEST {
        return;
    }
    for (i, kid) in trace.kids.iter().enumerate() {
        let last = i.saturating_add(1) == trace.kids.len();
        let (arm, stem) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        flatten(kid, &format!("{under}{arm}"), &format!("{under}{stem}"), depth.saturating_add(1), rows);
    }
}
