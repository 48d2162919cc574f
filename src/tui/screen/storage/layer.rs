use std::collections::BTreeSet;

use ratatui::text::Line;

use crate::facts::{Scope, Subject};
use crate::report::LayerRow;
use crate::report::view::wording;
use crate::text::JoinText;
use crate::tui::theme::{BAD, DOUBT, PLAIN};
use crate::tui::widgets::columns::{self, Column, PART_GAP, StyledText};
use crate::tui::widgets::tree;

pub struct StackNode<'a> {
    pub subject: &'a Subject,
    branch: String,
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
    fn new(row: &'a LayerRow, branch: String, elsewhere: &[&str]) -> Self {
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
        Self {
            subject,
            branch: String::new(),
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
            branch: String::new(),
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
    const COLUMNS: [Column; 4] = [
        Column::new_wrapping(16),
        Column::new_wrapping(16),
        Column::new_cuttable(9),
        Column::new_cuttable(11),
    ];
    let cells = |(layer, gaps): (&&StackNode<'_>, &usize)| -> Vec<StyledText> {
        let says = [&*layer.description, layer.cache].into_iter();
        let says = says.filter(|says| !says.is_empty()).join_with(PART_GAP);
        let gaps = match gaps {
            0 => String::new(),
            count => format!("{count} unknown"),
        };
        vec![
            (format!("{}{}", layer.branch, layer.layer_name()), PLAIN),
            (says, PLAIN),
            (layer.weakest_mark().to_owned(), BAD),
            (gaps, DOUBT),
        ]
    };
    let rows: Vec<_> = layers.iter().zip(gaps).map(cells).collect();
    columns::wrapped_rows(&rows, &COLUMNS, room)
}
