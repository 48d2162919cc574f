//! Styles by meaning, in the sixteen colours of the user's palette, and replacements for characters
//! outside ASCII.
//!
//! Colour only repeats what words and marks show. Without colour, modifiers such as bold are kept.
//! White, black and yellow are never a foreground: about half of all terminals have a background on
//! which they are unreadable.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use super::ScreenOptions;
use crate::durability::VerdictKind;
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::Method;
use crate::report::view::Tone;
use crate::rules::Level;

pub const PLAIN: Style = Style::new();
pub const BOLD: Style = PLAIN.add_modifier(Modifier::BOLD);
pub const DIM: Style = PLAIN.add_modifier(Modifier::DIM);
pub const ACCENT: Style = BOLD.fg(Color::Cyan);
pub const GOOD: Style = PLAIN.fg(Color::Green);
pub const BAD: Style = BOLD.fg(Color::Red);
/// For unknown values, and for anything that the user must check.
pub const DOUBT: Style = PLAIN.fg(Color::Magenta);
pub const CODE: Style = PLAIN.fg(Color::Cyan);
/// The selected row of the pane with the keyboard focus. Colours stay, so a verdict or a level
/// keeps its hue as the background.
pub const SELECTED: Style = BOLD
    .add_modifier(Modifier::REVERSED)
    .remove_modifier(Modifier::DIM);

pub fn level_style(level: Level) -> Style {
    match level {
        Level::Critical => BAD,
        Level::Warning => DOUBT,
        Level::Advice => ACCENT,
        Level::Optional => PLAIN,
        Level::Keep => GOOD,
    }
}

/// The hue of a sync method, the same in every table and chart. It never means good or bad.
pub fn method_style(method: Method) -> Style {
    match method.wal_sync_method() {
        Some(WalSyncMethod::Fdatasync) => PLAIN.fg(Color::Blue),
        Some(WalSyncMethod::OpenDatasync) => PLAIN.fg(Color::Cyan),
        Some(WalSyncMethod::Fsync) => PLAIN.fg(Color::Magenta),
        Some(WalSyncMethod::OpenSync) => PLAIN.fg(Color::Green),
        Some(WalSyncMethod::FsyncWritethrough) | None => PLAIN,
    }
}

pub fn tone_style(tone: Tone) -> Style {
    match tone {
        Tone::Good => GOOD,
        Tone::Dim => DIM,
        Tone::Doubt => DOUBT,
        Tone::Bad => BAD,
    }
}

pub fn verdict_style(standing: VerdictKind) -> Style {
    tone_style(standing.into()).add_modifier(Modifier::BOLD)
}

/// Removes colours and characters that the terminal is not to show.
pub fn apply_options(options: ScreenOptions, buffer: &mut Buffer) {
    if !options.colour {
        for cell in &mut buffer.content {
            cell.fg = Color::Reset;
        }
    }
    if options.ascii {
        replace_non_ascii(buffer);
    }
}

/// Characters of the screens, each followed by its replacement.
const REPLACEMENTS: &str = "│|├|┤|┃|┌+┐+┘+┏+┓+┣+┻+┛+┬+┼+└`┗`┊:●*◆@○o✗X≠#▌>▸>→>▶>≥>▾v↓v↑^←<◀<◂<≤<\
    …~─-━-·-–-—-µu×x░.▁_▂.▃:▄-▅=▆+▇*█#";

/// Replaces every character that is not ASCII by one of the same width.
fn replace_non_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().is_ascii() {
            continue;
        }
        let plain = match REPLACEMENTS.split_once(cell.symbol()) {
            Some((_, rest)) => rest.get(..1).unwrap_or("?"),
            None if cell.symbol().width() > 1 => "??",
            None => "?",
        };
        cell.set_symbol(plain);
    }
}
