//! The trace of a rule as a tree: condition, what it came to, what was seen, where; an unknown with what would settle it.

use ratatui::text::{Line, Span};

use super::text;
use crate::facts::Reading;
use crate::rules::Trace;
use crate::truth::Truth;
use crate::ui::theme::{Role, Theme};

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
struct Row<'a> {
    left: String,
    /// What stands under the branch on further lines.
    under: String,
    trace: &'a Trace,
}

impl Row<'_> {
    fn lines(&self, theme: Theme, label_room: usize, room: usize) -> Vec<Line<'static>> {
        let truth = self.trace.truth;
        let role = match truth {
            Truth::True => Role::Good,
            Truth::Unknown => Role::Doubt,
            Truth::False => Role::Plain,
        };
        let (seen, remedy) = self.seen();
        let used = label_room.saturating_add(11);
        let mut lines = vec![Line::from(vec![
            Span::raw(text::pad(&self.left, label_room)),
            Span::raw("  "),
            Span::styled(text::pad(truth.word(), 7), theme.style(role)),
            Span::raw("  "),
            Span::styled(text::fit(&seen, room.saturating_sub(used)), theme.style(Role::Dim)),
        ])];
        if let Some(remedy) = remedy {
            lines.push(Line::from(vec![
                Span::raw(text::pad(&self.under, used)),
                Span::raw(text::fit(&format!("→ {remedy}"), room.saturating_sub(used))),
            ]));
        }
        lines
    }

    fn seen(&self) -> (String, Option<String>) {
        match self.trace.seen.as_ref().map(|seen| &*seen.reading) {
            None => (String::new(), None),
            Some(Reading::Known { value, source }) => (format!("{value}   {source}"), None),
            Some(Reading::Unknown { why, detail, remedy }) => {
                (format!("{why}: {detail}"), remedy.as_ref().map(ToString::to_string))
            }
        }
    }
}

fn flatten<'a>(trace: &'a Trace, branch: &str, under: &str, depth: usize, rows: &mut Vec<Row<'a>>) {
    let subject = trace.seen.as_ref().map(|seen| format!("  ({})", seen.subject)).unwrap_or_default();
    rows.push(Row { left: format!("{branch}{}{subject}", trace.label), under: under.to_owned(), trace });
    if depth >= DEEPEST {
        return;
    }
    for (i, kid) in trace.kids.iter().enumerate() {
        let last = i.saturating_add(1) == trace.kids.len();
        let (arm, stem) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        flatten(kid, &format!("{under}{arm}"), &format!("{under}{stem}"), depth.saturating_add(1), rows);
    }
}
