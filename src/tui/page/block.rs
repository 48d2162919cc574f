//! Blocks of lines that belong together, the pieces of a page: what can be selected, what Enter
//! does, what is copied.

use ratatui::text::Line;

use crate::facts::Subject;
use crate::quote::Command;
use crate::tui::screen_id::ScreenId;

/// The effect of Enter on a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enter {
    Nothing,
    /// Shows more beneath, or hides it again.
    Unfold,
    /// Moves into the pane beside.
    Beside,
    /// Opens this screen with this block selected and unfolded.
    Open(ScreenId, String),
}

/// Lines that belong together.
#[derive(Clone, Debug)]
pub struct Block {
    /// The name by which it is selected; `None` for what cannot be.
    pub key: Option<String>,
    pub lines: Vec<Line<'static>>,
    pub enter: Enter,
    /// The commands that are copied; none where it has none.
    pub copy: Vec<Command>,
    /// The fact that it is about, which can be stated or supposed to be another.
    pub fact: Option<(Subject, String)>,
    /// Whether it is something that is not all right, which `n` finds.
    pub is_amiss: bool,
    /// Whether it is a heading over what follows.
    pub(super) is_heading: bool,
}

impl Block {
    /// Lines that cannot be selected.
    pub fn text(lines: Vec<Line<'static>>) -> Self {
        Self {
            key: None,
            lines,
            enter: Enter::Nothing,
            copy: Vec::new(),
            fact: None,
            is_amiss: false,
            is_heading: false,
        }
    }

    /// Lines that cannot be selected, and open this block of a screen when they are clicked.
    pub fn link(lines: Vec<Line<'static>>, screen: ScreenId, key: String) -> Self {
        Self {
            enter: Enter::Open(screen, key),
            ..Self::text(lines)
        }
    }

    /// A heading over what follows.
    pub(super) fn heading(lines: Vec<Line<'static>>) -> Self {
        Self {
            is_heading: true,
            ..Self::text(lines)
        }
    }

    /// Lines that can be selected.
    pub fn item(key: impl Into<String>, enter: Enter, lines: Vec<Line<'static>>) -> Self {
        Self {
            key: Some(key.into()),
            enter,
            ..Self::text(lines)
        }
    }

    /// The same, and whether it is something that is not all right.
    pub fn amiss(self, is_amiss: bool) -> Self {
        Self { is_amiss, ..self }
    }

    /// All that it shows, to look for something in.
    pub(super) fn said(&self) -> String {
        self.lines
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }
}
