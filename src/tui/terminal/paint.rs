//! Writes the cells that changed to the terminal, with sequences that every terminal with a cursor
//! supports (ECMA-48).
//!
//! Colours are written as SGR parameters 31 to 36. crossterm would write `38;5;N`, which terminals
//! with 16 colours interpret as blinking.

use std::io::{self, Write};

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

use crate::text::is_display_unsafe;

pub const CLEAR: &str = "\x1b[0m\x1b[2J";

pub fn write_changes(out: &mut impl Write, before: &Buffer, after: &Buffer) -> io::Result<()> {
    let mut cursor = None;
    let mut style = None;
    for (x, y, cell) in before.diff(after) {
        if cursor != Some((x, y)) {
            write!(out, "\x1b[{};{}H", y.saturating_add(1), x.saturating_add(1))?;
        }
        let wanted = Some((cell.fg, cell.modifier));
        if style != wanted {
            write_style(out, cell)?;
            style = wanted;
        }
        let symbol = cell.symbol();
        let wide = if symbol.len() == 1 { 1 } else { symbol.width() };
        if symbol.chars().any(is_display_unsafe) {
            // An escaped form would be wider than the cell.
            out.write_all("\u{fffd}".repeat(wide.max(1)).as_bytes())?;
        } else {
            out.write_all(symbol.as_bytes())?;
        }
        let wide = u16::try_from(wide).unwrap_or(u16::MAX);
        // After a write to the last column, the position of the cursor depends on the terminal.
        cursor = Some((x.saturating_add(wide), y)).filter(|(x, _)| *x < after.area.width);
    }
    if style.is_none() {
        Ok(())
    } else {
        out.write_all(b"\x1b[0m")
    }
}

fn write_style(out: &mut impl Write, cell: &Cell) -> io::Result<()> {
    out.write_all(b"\x1b[0")?;
    let modifiers = [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::UNDERLINED, ";4"),
        (Modifier::REVERSED, ";7"),
    ];
    for (_, number) in modifiers
        .iter()
        .filter(|(one, _)| cell.modifier.contains(*one))
    {
        out.write_all(number.as_bytes())?;
    }
    out.write_all(match cell.fg {
        Color::Red => b";31m",
        Color::Green => b";32m",
        Color::Blue => b";34m",
        Color::Magenta => b";35m",
        Color::Cyan => b";36m",
        // The theme uses no other colours.
        _ => b"m",
    })
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    fn written_changes(before: &Buffer, after: &Buffer) -> String {
        let mut out = Vec::new();
        write_changes(&mut out, before, after).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Characters from the host must neither control the terminal nor shift later columns.
    #[test]
    fn unsafe_characters_are_replaced_at_same_width() {
        let mut one = Buffer::empty(Rect::new(0, 0, 8, 1));
        let blank = one.clone();
        for (x, symbol) in ["a", "\u{a0}", "b", "\u{202e}", "c", "\u{3000}"]
            .into_iter()
            .enumerate()
        {
            one[(u16::try_from(x).unwrap(), 0)].set_symbol(symbol);
        }
        let drawn = written_changes(&blank, &one);
        let shown: String = drawn
            .split('\x1b')
            .map(|piece| piece.trim_start_matches(|c: char| c.is_ascii_digit() || "[;".contains(c)))
            .map(|piece| piece.trim_start_matches(['H', 'm']))
            .collect();
        assert_eq!(shown, "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}", "{drawn:?}");
    }

    #[test]
    fn only_changed_cells_are_written_with_basic_colours() {
        let blank = Buffer::empty(Rect::new(0, 0, 8, 2));
        let mut one = blank.clone();
        one.set_string(
            1,
            0,
            "ab",
            Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD),
        );
        one.set_string(3, 0, "c", Style::new());
        assert_eq!(
            written_changes(&blank, &one),
            "\x1b[1;2H\x1b[0;1;36mab\x1b[0mc\x1b[0m"
        );
        assert_eq!(written_changes(&one, &one), "");
        let mut two = one.clone();
        two.set_string(
            2,
            0,
            "デx",
            Style::new().fg(Color::Red).remove_modifier(Modifier::BOLD),
        );
        two.set_string(7, 0, "y", Style::new());
        two.set_string(0, 1, "z", Style::new());
        assert_eq!(
            written_changes(&one, &two),
            "\x1b[1;3H\x1b[0;31mデx\x1b[1;8H\x1b[0my\x1b[2;1Hz\x1b[0m"
        );
    }
}
