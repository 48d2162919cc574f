use ratatui::text::Line;

use crate::escape::ShellCommand;
use crate::facts::Subject;
use crate::tui::screen_id::ScreenId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnterEffect {
    Nothing,
    Unfold,
    OpenPane,
    /// Opens a screen and selects and unfolds the block with this key there.
    Open(ScreenId, String),
}

#[derive(Clone, Debug)]
pub struct Block {
    /// Name for the selection; `None` if the block cannot be selected.
    pub key: Option<String>,
    pub lines: Vec<Line<'static>>,
    pub enter: EnterEffect,
    /// Commands that the key `y` copies.
    pub commands: Vec<ShellCommand>,
    /// Fact whose value the user can enter with the key `i`.
    pub fact: Option<(Subject, String)>,
    /// True for a problem; the key `n` jumps to the next problem.
    pub has_issue: bool,
    /// True if a fact behind the block has changed since all facts were read.
    pub is_moved: bool,
    pub(super) is_heading: bool,
}

impl Block {
    pub fn new_text(lines: Vec<Line<'static>>) -> Self {
        Self {
            key: None,
            lines,
            enter: EnterEffect::Nothing,
            commands: Vec::new(),
            fact: None,
            has_issue: false,
            is_moved: false,
            is_heading: false,
        }
    }

    /// Creates a block that cannot be selected; a click on it opens another screen at the block
    /// `key`.
    pub fn new_link(lines: Vec<Line<'static>>, screen: ScreenId, key: String) -> Self {
        Self {
            enter: EnterEffect::Open(screen, key),
            ..Self::new_text(lines)
        }
    }

    pub(super) fn new_heading(lines: Vec<Line<'static>>) -> Self {
        Self {
            is_heading: true,
            ..Self::new_text(lines)
        }
    }

    pub fn new_selectable_item(
        key: impl Into<String>,
        enter: EnterEffect,
        lines: Vec<Line<'static>>,
    ) -> Self {
        Self {
            key: Some(key.into()),
            enter,
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
