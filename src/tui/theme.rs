//! Styles by meaning, in the sixteen colours of the user's palette, and replacements for characters
//! outside ASCII.
//!
//! Colour only repeats what words and marks show. Without colour, modifiers such as bold are kept.
//! White, black and yellow are never a foreground: about half of all terminals have a background on
//! which they are unreadable.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::durability::VerdictKind;
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::Method;
use crate::report::view::Tone;
use crate::rules::Level;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    Plain,
    Heading,
    Dim,
    Accent,
    Good,
    Bad,
    /// For unknown values, and for anything that the user must check.
    Doubt,
    Code,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    pub colour: bool,
    pub ascii: bool,
}

impl Theme {
    pub fn role_style(self, role: TextRole) -> Style {
        let (colour, modifier) = match role {
            TextRole::Plain => (None, Modifier::empty()),
            TextRole::Heading => (None, Modifier::BOLD),
            TextRole::Dim => (None, Modifier::DIM),
            TextRole::Accent => (Some(Color::Cyan), Modifier::BOLD),
            TextRole::Good => (Some(Color::Green), Modifier::empty()),
            TextRole::Bad => (Some(Color::Red), Modifier::BOLD),
            TextRole::Doubt => (Some(Color::Magenta), Modifier::empty()),
            TextRole::Code => (Some(Color::Cyan), Modifier::empty()),
        };
        let style = Style::default().add_modifier(modifier);
        match colour {
            Some(colour) if self.colour => style.fg(colour),
            _ => style,
        }
    }

    /// The selected row of the pane with the keyboard focus. Colours stay, so a verdict or a level
    /// keeps its hue as the background.
    pub fn selection_style() -> Style {
        Style::default()
            .add_modifier(Modifier::REVERSED | Modifier::BOLD)
            .remove_modifier(Modifier::DIM)
    }

    pub fn level_style(self, level: Level) -> Style {
        self.role_style(match level {
            Level::Critical => TextRole::Bad,
            Level::Warning => TextRole::Doubt,
            Level::Advice => TextRole::Accent,
            Level::Optional => TextRole::Plain,
            Level::Keep => TextRole::Good,
        })
    }

    /// The hue of a sync method, the same in every table and chart. It never means good or bad.
    pub fn method_style(self, method: Method) -> Style {
        let colour = match method.wal_sync_method() {
            Some(WalSyncMethod::Fdatasync) => Color::Blue,
            Some(WalSyncMethod::OpenDatasync) => Color::Cyan,
            Some(WalSyncMethod::Fsync) => Color::Magenta,
            Some(WalSyncMethod::OpenSync) => Color::Green,
            Some(WalSyncMethod::FsyncWritethrough) | None => return Style::default(),
        };
        if self.colour {
            Style::default().fg(colour)
        } else {
            Style::default()
        }
    }

    pub fn tone_style(self, tone: Tone) -> Style {
        self.role_style(match tone {
            Tone::Good => TextRole::Good,
            Tone::Dim => TextRole::Dim,
            Tone::Doubt => TextRole::Doubt,
            Tone::Bad => TextRole::Bad,
        })
    }

    pub fn verdict_style(self, standing: VerdictKind) -> Style {
        self.tone_style(standing.into())
            .add_modifier(Modifier::BOLD)
    }
}

/// Replaces every character that is not ASCII by one of the same width.
pub fn replace_non_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().is_ascii() {
            continue;
        }
        let plain = match cell.symbol() {
            "│" | "├" | "┤" | "┃" => "|",
            "┌" | "┐" | "┘" | "┏" | "┓" | "┣" | "┻" | "┛" | "┬" | "┼" => "+",
            "└" | "┗" => "`",
            "┊" => ":",
            "●" => "*",
            "◆" => "@",
            "○" => "o",
            "✗" => "X",
            "≠" => "#",
            "▌" | "▸" | "→" | "▶" | "≥" => ">",
            "▾" | "↓" => "v",
            "↑" => "^",
            "←" | "◀" | "◂" | "≤" => "<",
            "…" => "~",
            "─" | "━" | "·" | "–" | "—" => "-",
            "µ" => "u",
            "×" => "x",
            "░" => ".",
            other if other.width() > 1 => "??",
            other => ascii_bar(other).unwrap_or("?"),
        };
        cell.set_symbol(plain);
    }
}

fn ascii_bar(block: &str) -> Option<&'static str> {
    const RAMP: [(&str, &str); 8] = [
        ("▁", "_"),
        ("▂", "."),
        ("▃", ":"),
        ("▄", "-"),
        ("▅", "="),
        ("▆", "+"),
        ("▇", "*"),
        ("█", "#"),
    ];
    RAMP.iter()
        .find(|(rich, _)| *rich == block)
        .map(|(_, plain)| *plain)
}
