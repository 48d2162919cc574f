//! Styles by meaning, from the sixteen colours of the user's own palette, and a final pass for
//! terminals that have ASCII only.
//!
//! Colour only repeats words and marks; without colour the modifiers stay. White, black and yellow
//! are never a foreground, because they are unreadable on the background of half of all terminals.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::durability::Standing;
use crate::report::telling::Tone;
use crate::rules::Level;

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    Plain,
    Heading,
    /// Secondary.
    Dim,
    /// Where the selection is, and the keys.
    Accent,
    Good,
    Bad,
    /// Not known, or to be looked at.
    Doubt,
    Code,
}

/// How to draw on this terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether only ASCII may be drawn.
    pub ascii: bool,
}

impl Theme {
    /// The style of a meaning.
    pub fn style(self, role: TextRole) -> Style {
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

    pub fn level(self, level: Level) -> Style {
        self.style(match level {
            Level::Critical => TextRole::Bad,
            Level::Warning => TextRole::Doubt,
            Level::Advice => TextRole::Accent,
            Level::Option => TextRole::Plain,
            Level::Keep => TextRole::Good,
        })
    }

    /// The style of a hop of a flush path.
    pub fn tone(self, tone: Tone) -> Style {
        self.style(match tone {
            Tone::Good => TextRole::Good,
            Tone::Dim => TextRole::Dim,
            Tone::Doubt => TextRole::Doubt,
            Tone::Bad => TextRole::Bad,
        })
    }

    /// The style of a verdict.
    pub fn standing(self, standing: Standing) -> Style {
        self.tone(standing.into()).add_modifier(Modifier::BOLD)
    }
}

/// Replaces everything that is not ASCII by something of the same width that is.
pub fn to_ascii(buffer: &mut Buffer) {
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
            "▸" | "→" | "▶" | "≥" => ">",
            "▾" | "↓" => "v",
            "↑" => "^",
            "←" | "◀" | "◂" | "≤" => "<",
            "…" => "~",
            "─" | "━" | "·" | "–" | "—" => "-",
            "µ" => "u",
            "×" => "x",
            "░" => ".",
            other if other.width() > 1 => "??",
            other => height(other).unwrap_or("?"),
        };
        cell.set_symbol(plain);
    }
}

/// An eighth to eight eighths of a cell, by characters that look the fuller the higher.
fn height(block: &str) -> Option<&'static str> {
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
