//! The blocks of a page: lines that belong together, whether they can be selected, what Enter does,
//! what is copied.

use ratatui::text::Line;

use crate::escape::Command;
use crate::facts::Subject;
use crate::tui::screen_id::ScreenId;

/// The effect of Enter on a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnterEffect {
    Nothing,
    /// Unfolds or folds the block.
    Unfold,
    /// Moves into the pane.
    OpenPane,
    /// Opens this screen with this block selected and unfolded.
    Open(ScreenId, String),
}

/// Lines that belong together.
#[derive(Clone, Debug)]
pub struct Block {
    /// The name for the selection; `None` if it cannot be selected.
    pub key: Option<String>,
    pub lines: Vec<Line<'static>>,
    pub enter: EnterEffect,
    /// The commands to copy.
    pub commands: Vec<Command>,
    /// Its fact, which can be entered or assumed.
    pub fact: Option<(Subject, String)>,
    /// Whether it is a problem, which `n` jumps to.
    pub has_issue: bool,
    pub(super) is_heading: bool,
}

impl Block {
    /// Lines that cannot be selected.
    pub fn text(lines: Vec<Line<'static>>) -> Self {
        Self {
            key: None,
            lines,
            enter: EnterEffect::Nothing,
            commands: Vec::new(),
            fact: None,
            has_issue: false,
            is_heading: false,
        }
    }

    /// Lines that cannot be selected; a click opens this block on that screen.
    pub fn link(lines: Vec<Line<'static>>, screen: ScreenId, key: String) -> Self {
        Self {
            enter: EnterEffect::Open(screen, key),
            ..Self::text(lines)
        }
    }

    pub(super) fn heading(lines: Vec<Line<'static>>) -> Self {
        Self {
            is_heading: true,
            ..Self::text(lines)
        }
    }

    pub fn item(key: impl Into<String>, enter: EnterEffect, lines: Vec<Line<'static>>) -> Self {
        Self {
            key: Some(key.into()),
            enter,
            ..Self::text(lines)
        }
    }

    /// Marks it as a problem.
    pub fn with_issue(self, is_amiss: bool) -> Self {
        Self {
            has_issue: is_amiss,
            ..self
        }
    }

    /// Its text, for searches.
    pub(super) fn plain_text(&self) -> String {
        self.lines
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }
}
