//! One layer of the tree: its name behind its branch, what it is, what matters of its cache,
//! whether it is the weakest, and how many of its facts are unknown.
//!
//! In one line where all of them fit so, else what it is goes on in further lines: nothing of it is
//! cut.

use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::facts::{Scope, Subject};
use crate::report::LayerRow;
use crate::report::telling::words as told;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;
use crate::tui::widgets::tree::{self, Branch};

/// A layer, or something beside the stack.
pub struct StackNode<'a> {
    pub subject: &'a Subject,
    branch: Branch,
    says: String,
    cache: &'a str,
    weakest: bool,
}

pub fn of_stack(rows: &[LayerRow]) -> Vec<StackNode<'_>> {
    let depths: Vec<usize> = rows
        .iter()
        .map(|row| usize::try_from(row.depth).unwrap_or_default())
        .collect();
    let branches = tree::branches(&depths);
    rows.iter()
        .zip(branches)
        .enumerate()
        .map(|(at, (row, branch))| StackNode::new(row, branch, &elsewhere(rows, at)))
        .collect()
}

/// On what a layer stands that is not drawn beneath it: it is drawn beneath the first that stands
/// on it.
fn elsewhere(rows: &[LayerRow], at: usize) -> Vec<&str> {
    let Some(row) = rows.get(at) else {
        return Vec::new();
    };
    let after = rows.get(at.saturating_add(1)..).unwrap_or_default();
    let beneath = after.iter().take_while(|below| below.depth > row.depth);
    let drawn: BTreeSet<&Subject> = beneath.map(|below| &below.subject).collect();
    let shown = |base: &Subject| rows.iter().any(|row| row.subject == *base);
    row.below
        .iter()
        .filter(|base| !drawn.contains(base) && shown(base))
        .map(Subject::name)
        .collect()
}

impl<'a> StackNode<'a> {
    fn new(row: &'a LayerRow, branch: Branch, elsewhere: &[&str]) -> Self {
        let mut says = row.says.clone();
        if !elsewhere.is_empty() {
            says = format!("{says} → {}", elsewhere.join(", "));
        }
        Self {
            subject: &row.subject,
            branch,
            says,
            cache: &row.cache,
            weakest: row.weakest,
        }
    }

    /// Something that is no layer of the stack.
    pub fn other(subject: &'a Subject) -> Self {
        let says = match subject.scope() {
            Scope::Boot => "/etc/fstab and mount units",
            Scope::Cluster => "the server",
            _ => "",
        };
        let branch = Branch {
            first: String::new(),
            under: String::new(),
        };
        Self {
            subject,
            branch,
            says: says.to_owned(),
            cache: "",
            weakest: false,
        }
    }

    pub fn key(&self) -> String {
        super::layer_key(self.subject)
    }

    /// All that is said of it in the tree, to look for something in.
    pub fn said(&self) -> String {
        format!(
            "{} {} {} {}",
            self.subject,
            self.says,
            self.cache,
            self.mark()
        )
    }

    /// The heading over its facts.
    pub fn title(&self) -> String {
        let name = told::subject(self.subject);
        if self.weakest {
            format!("{name} {}", self.mark())
        } else {
            name
        }
    }

    /// What stands beneath that heading.
    pub fn about(&self) -> [&str; 2] {
        let is_layer = !matches!(
            self.subject.scope(),
            Scope::Host | Scope::Boot | Scope::Cluster
        );
        [if is_layer { &self.says } else { "" }, self.cache]
    }

    /// The same without its branch, for a list of what was found.
    pub fn flat(self) -> Self {
        Self {
            branch: Branch {
                first: String::new(),
                under: String::new(),
            },
            ..self
        }
    }

    fn name(&self) -> &str {
        if self.subject.scope() == Scope::Host {
            "host"
        } else {
            self.subject.name()
        }
    }

    fn mark(&self) -> &'static str {
        if self.weakest { "← weakest" } else { "" }
    }
}

/// The lines of each layer, given how many of its facts are unknown.
pub fn lines(
    layers: &[&StackNode<'_>],
    gaps: &[usize],
    theme: Theme,
    room: usize,
) -> Vec<Vec<Line<'static>>> {
    let gaps: Vec<String> = gaps
        .iter()
        .map(|count| {
            if *count > 0 {
                format!("{count} unknown")
            } else {
                String::new()
            }
        })
        .collect();
    let whole: Vec<Vec<StyledText>> = layers
        .iter()
        .zip(&gaps)
        .map(|(layer, gaps)| cells(layer, gaps, theme))
        .collect();
    let shape = [Column::keep(0); 5];
    let widths = columns::natural(&whole, shape.len());
    if columns::total(&widths) <= room {
        return columns::lines(&whole, &shape, room)
            .into_iter()
            .map(|line| vec![line])
            .collect();
    }
    let names = widths
        .first()
        .copied()
        .unwrap_or_default()
        .min(room.saturating_mul(2) / 5);
    layers
        .iter()
        .zip(&gaps)
        .map(|(layer, gaps)| broken(layer, gaps, theme, names, room))
        .collect()
}

fn cells(layer: &StackNode<'_>, gaps: &str, theme: Theme) -> Vec<StyledText> {
    vec![
        (
            format!("{}{}", layer.branch.first, layer.name()),
            theme.style(TextRole::Plain),
        ),
        (layer.says.clone(), theme.style(TextRole::Plain)),
        (layer.cache.to_owned(), theme.style(TextRole::Dim)),
        (layer.mark().to_owned(), theme.style(TextRole::Bad)),
        (gaps.to_owned(), theme.style(TextRole::Doubt)),
    ]
}

/// One layer in several lines: what it is and its cache beside the name, the marks behind what has
/// room for them.
fn broken(
    layer: &StackNode<'_>,
    gaps: &str,
    theme: Theme,
    names: usize,
    room: usize,
) -> Vec<Line<'static>> {
    let beside = room.saturating_sub(names).saturating_sub(2);
    let rows = |said: &str, role: TextRole| -> Vec<Vec<(String, Style)>> {
        let rows = text::wrap(said, beside)
            .into_iter()
            .filter(|row| !row.is_empty());
        rows.map(|row| vec![(row, theme.style(role))]).collect()
    };
    let mut right = rows(&layer.says, TextRole::Plain);
    right.extend(rows(layer.cache, TextRole::Dim));
    for (mark, role) in [(layer.mark(), TextRole::Bad), (gaps, TextRole::Doubt)] {
        let taken = |row: &[(String, Style)]| {
            row.iter()
                .map(|(said, _)| text::width(said).saturating_add(2))
                .sum()
        };
        let piece = (mark.to_owned(), theme.style(role));
        match right.last_mut() {
            _ if mark.is_empty() => {}
            Some(last) if usize::saturating_add(taken(last), text::width(mark)) <= beside => {
                last.push(piece);
            }
            _ => right.push(vec![piece]),
        }
    }
    let first = text::width(&layer.branch.first);
    let name = text::fit_middle(layer.name(), names.saturating_sub(first));
    let left = |i: usize| {
        if i == 0 {
            format!("{}{name}", layer.branch.first)
        } else {
            layer.branch.under.clone()
        }
    };
    let line = |i: usize| {
        let mut spans = vec![Span::raw(text::pad(&left(i), names))];
        for (said, style) in right.get(i).into_iter().flatten() {
            spans.push(Span::raw("  "));
            spans.push(Span::styled(said.clone(), *style));
        }
        Line::from(spans)
    };
    (0..right.len().max(1)).map(line).collect()
}
