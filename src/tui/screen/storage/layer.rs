use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::facts::{Scope, Subject};
use crate::report::LayerRow;
use crate::report::view::wording;
use crate::tui::theme::{BAD, DIM, DOUBT, PLAIN};
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::text;
use crate::tui::widgets::tree::{self, BranchPrefix};

pub struct StackNode<'a> {
    pub subject: &'a Subject,
    branch: BranchPrefix,
    description: String,
    cache: &'a str,
    weakest: bool,
}

pub fn stack_nodes(rows: &[LayerRow]) -> Vec<StackNode<'_>> {
    let depths: Vec<usize> = rows
        .iter()
        .map(|row| usize::try_from(row.depth).unwrap_or_default())
        .collect();
    let branches = tree::branch_prefixes(&depths);
    rows.iter()
        .zip(branches)
        .enumerate()
        .map(|(at, (row, branch))| {
            StackNode::new(row, branch, &lower_layer_names_drawn_elsewhere(rows, at))
        })
        .collect()
}

/// The names of layers below this one that the tree shows elsewhere. The tree draws each layer
/// once, below the first layer that uses it.
fn lower_layer_names_drawn_elsewhere(rows: &[LayerRow], at: usize) -> Vec<&str> {
    let Some(row) = rows.get(at) else {
        return Vec::new();
    };
    let after = rows.get(at + 1..).unwrap_or_default();
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
    fn new(row: &'a LayerRow, branch: BranchPrefix, elsewhere: &[&str]) -> Self {
        let mut says = row.says.clone();
        if !elsewhere.is_empty() {
            says = format!("{says} → {}", elsewhere.join(", "));
        }
        Self {
            subject: &row.subject,
            branch,
            description: says,
            cache: &row.cache,
            weakest: row.weakest,
        }
    }

    pub fn for_related_subject(subject: &'a Subject) -> Self {
        let says = match subject.scope() {
            Scope::Boot => "/etc/fstab and mount units",
            Scope::Cluster => "the server",
            _ => "",
        };
        let branch = BranchPrefix {
            first: String::new(),
            under: String::new(),
        };
        Self {
            subject,
            branch,
            description: says.to_owned(),
            cache: "",
            weakest: false,
        }
    }

    pub fn key(&self) -> String {
        super::layer_block_key(self.subject)
    }

    pub fn search_text(&self) -> String {
        format!(
            "{} {} {} {}",
            self.subject,
            self.description,
            self.cache,
            self.weakest_mark()
        )
    }

    pub fn title(&self) -> String {
        let name = wording::describe_subject(self.subject);
        if self.weakest {
            format!("{name} {}", self.weakest_mark())
        } else {
            name
        }
    }

    /// The description and the text about the cache. The description is empty for the host, boot
    /// settings and servers.
    pub fn description_lines(&self) -> [&str; 2] {
        let is_layer = !matches!(
            self.subject.scope(),
            Scope::Host | Scope::Boot | Scope::Cluster
        );
        [if is_layer { &self.description } else { "" }, self.cache]
    }

    pub fn without_branch(self) -> Self {
        Self {
            branch: BranchPrefix {
                first: String::new(),
                under: String::new(),
            },
            ..self
        }
    }

    fn layer_name(&self) -> &str {
        if self.subject.scope() == Scope::Host {
            "host"
        } else {
            self.subject.name()
        }
    }

    fn weakest_mark(&self) -> &'static str {
        if self.weakest { "← weakest" } else { "" }
    }
}

/// `gaps` contains the number of unknown facts of each layer.
pub fn layer_lines(
    layers: &[&StackNode<'_>],
    gaps: &[usize],
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
        .map(|(layer, gaps)| layer_cells(layer, gaps))
        .collect();
    let shape = [Column::new_cuttable(0); 5];
    let widths = columns::natural_widths(&whole, shape.len());
    if columns::total_width(&widths) <= room {
        return columns::align_rows(&whole, &shape, room)
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
        .map(|(layer, gaps)| wrapped_layer_lines(layer, gaps, names, room))
        .collect()
}

fn layer_cells(layer: &StackNode<'_>, gaps: &str) -> Vec<StyledText> {
    vec![
        (
            format!("{}{}", layer.branch.first, layer.layer_name()),
            PLAIN,
        ),
        (layer.description.clone(), PLAIN),
        (layer.cache.to_owned(), DIM),
        (layer.weakest_mark().to_owned(), BAD),
        (gaps.to_owned(), DOUBT),
    ]
}

fn wrapped_layer_lines(
    layer: &StackNode<'_>,
    gaps: &str,
    names: usize,
    room: usize,
) -> Vec<Line<'static>> {
    let beside = room.saturating_sub(names).saturating_sub(2);
    let rows = |said: &str, role: Style| -> Vec<Vec<(String, Style)>> {
        let rows = text::wrap(said, beside)
            .into_iter()
            .filter(|row| !row.is_empty());
        rows.map(|row| vec![(row, role)]).collect()
    };
    let mut right = rows(&layer.description, PLAIN);
    right.extend(rows(layer.cache, DIM));
    for (mark, role) in [(layer.weakest_mark(), BAD), (gaps, DOUBT)] {
        let taken = |row: &[(String, Style)]| {
            row.iter()
                .map(|(said, _)| text::width(said) + 2)
                .sum::<usize>()
        };
        let piece = (mark.to_owned(), role);
        match right.last_mut() {
            _ if mark.is_empty() => {}
            Some(last) if taken(last) + text::width(mark) <= beside => {
                last.push(piece);
            }
            _ => right.push(vec![piece]),
        }
    }
    let branch = [&layer.branch.first, &layer.branch.under];
    let [first, under] = branch.map(|branch| names.saturating_sub(text::width(branch)));
    let fits = text::width(layer.layer_name()) <= first;
    let name = text::wrap(
        layer.layer_name(),
        if fits { first } else { first.min(under) },
    );
    let left = |i: usize| {
        let [first, under] = branch;
        let name = name.get(i).map_or("", String::as_str);
        format!("{}{name}", if i == 0 { first } else { under })
    };
    let line = |i: usize| {
        let mut spans = vec![Span::raw(text::pad_or_truncate(&left(i), names))];
        for (said, style) in right.get(i).into_iter().flatten() {
            spans.push(Span::raw("  "));
            spans.push(Span::styled(said.clone(), *style));
        }
        Line::from(spans)
    };
    (0..right.len().max(name.len())).map(line).collect()
}
