use ratatui::text::Line;

use crate::escape::ShellCommand;
use crate::facts::Subject;
use crate::measure::Method;
use crate::report::Format;
use crate::report::view::{Detail, ItemRef, Section};

/// Content of the details pane for a selected row.
#[derive(Clone, Debug)]
pub enum RowDetails {
    Nothing,
    /// Enter unfolds the row itself; only rows of the pane have this value.
    Unfold,
    Item(String, ItemRef, Vec<Detail>),
    Sections(&'static str, Vec<Section>),
    Layer(Subject),
    Fact(Subject, String),
    /// An index into the rules of the target.
    Rule(usize),
    /// An index into the missing facts of the target.
    MissingFact(usize),
    Method(Method),
    Document(Format),
}

#[derive(Clone, Debug)]
pub struct PageBlock {
    /// Name for the selection; `None` if the block cannot be selected.
    pub key: Option<String>,
    pub lines: Vec<Line<'static>>,
    pub details: RowDetails,
    /// Commands that the key `y` copies.
    pub commands: Vec<ShellCommand>,
    /// Fact whose value the user can enter with the key `i`.
    pub fact: Option<(Subject, String)>,
    /// True for a problem; the key `n` jumps to the next problem.
    pub has_issue: bool,
    /// True if a fact behind the block has changed since all facts were read.
    pub is_moved: bool,
    pub is_heading: bool,
}

impl PageBlock {
    pub fn new_text(lines: Vec<Line<'static>>) -> Self {
        Self {
            key: None,
            lines,
            details: RowDetails::Nothing,
            commands: Vec::new(),
            fact: None,
            has_issue: false,
            is_moved: false,
            is_heading: false,
        }
    }

    pub fn new_heading(lines: Vec<Line<'static>>) -> Self {
        Self {
            is_heading: true,
            ..Self::new_text(lines)
        }
    }

    pub fn new_row(key: impl Into<String>, details: RowDetails, lines: Vec<Line<'static>>) -> Self {
        Self {
            key: Some(key.into()),
            details,
            ..Self::new_text(lines)
        }
    }

    pub fn with_issue(self, is_amiss: bool) -> Self {
        Self {
            has_issue: is_amiss,
            ..self
        }
    }

    pub(super) fn plain_text(&self) -> String {
        self.lines
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }
}
