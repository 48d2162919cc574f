//! A trace as text: the tree of conditions, what each came to, what was seen and where.
//!
//! It draws and does not print; the command line and the screens show the same lines.

use super::{Seen, Trace};
use crate::facts::Reading;

/// With which characters the tree is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Box drawing characters.
    Unicode,
    /// For terminals without them.
    Ascii,
}

/// One condition of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The branches before it: `│  ├─ `.
    pub branch: String,
    /// The condition in words.
    pub label: String,
    /// `yes`, `no` or `unknown`.
    pub truth: crate::truth::Truth,
    /// What was seen, or why nothing was.
    pub seen: String,
    /// Where it was read, or what would help.
    pub from: String,
}

/// The conditions of a trace, each with what it came to.
pub fn rows(trace: &Trace, drawing: Drawing) -> Vec<Line> {
    let mut rows = Vec::new();
    add(trace, drawing, String::new(), "", &mut rows);
    rows
}

fn add(trace: &Trace, drawing: Drawing, branch: String, stem: &str, rows: &mut Vec<Line>) {
    let (seen, from) = trace.seen.as_ref().map(told).unwrap_or_default();
    rows.push(Line { branch, label: trace.label.clone(), truth: trace.truth, seen, from });
    let (tee, end, pipe) = match drawing {
        Drawing::Unicode => ("├─ ", "└─ ", "│  "),
        Drawing::Ascii => ("|- ", "`- ", "|  "),
    };
    for (index, kid) in trace.kids.iter().enumerate() {
        let last = index + 1 == trace.kids.len();
        let branch = format!("{stem}{}", if last { end } else { tee });
        let stem = format!("{stem}{}", if last { "   " } else { pipe });
        add(kid, drawing, branch, &stem, rows);
    }
}

fn told(seen: &Seen) -> (String, String) {
    match &seen.reading {
        Reading::Known { value, source } => {
            let info = crate::facts::catalog::find(&seen.fact);
            let shown = info.map_or_else(|| value.to_string(), |info| info.show(value));
            (shown, source.to_string())
        }
        Reading::Unknown { why, detail, remedy } => {
            let why = if detail.is_empty() { why.to_string() } else { format!("{why}: {detail}") };
            (why, remedy.as_ref().map(|remedy| format!("→ {remedy}")).unwrap_or_default())
        }
    }
}

/// The same as aligned lines of text.
pub fn lines(trace: &Trace, drawing: Drawing) -> Vec<String> {
    use unicode_width::UnicodeWidthStr;
    let rows = rows(trace, drawing);
    let left = |row: &Line| format!("{}{}", row.branch, row.label);
    let wide = |text: &str| UnicodeWidthStr::width(text);
    let first = rows.iter().map(|row| wide(&left(row))).max().unwrap_or(0);
    let second = rows.iter().filter(|row| !row.from.is_empty()).map(|row| wide(&row.seen)).max().unwrap_or(0);
    let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(wide(text)));
    let line = |row: &Line| {
        let (left, word) = (left(row), row.truth.word());
        let (gap, gap2) = (pad(&left, first), pad(&row.seen, second));
        let line = format!("{left}{gap}  {word:<7}  {}{gap2}  {}", row.seen, row.from);
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
