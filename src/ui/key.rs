//! Keys by name: `j`, `G`, `?`, `esc`, `ctrl-c`. Commands, help and tests all use these names; no other module knows
//! the terminal's own key codes.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that was pressed, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPress(String);

impl KeyPress {
    /// A key by its name.
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The keys of a terminal event; empty for releases and for keys without a name here. Escape and a key that arrive
    /// together appear as that key with Alt, which no command uses; they are returned as the two keys pressed.
    pub fn from_event(event: KeyEvent) -> Vec<Self> {
        let key = Self::alone(event);
        if !event.modifiers.contains(KeyModifiers::ALT) {
            return key.into_iter().collect();
        }
        // Arrows and the like have Alt in their own sequence, and Alt with backspace is pressed to take back a word.
        let is_both = matches!(event.code, KeyCode::Char(_) | KeyCode::Enter);
        key.filter(|_| is_both).into_iter().flat_map(|key| [Self::named("esc"), key]).collect()
    }

    /// The key itself, whatever Alt is.
    fn alone(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let name = match event.code {
            KeyCode::Char(' ') => "space".to_owned(),
            KeyCode::Char(c) if c.is_control() => return None,
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::CONTROL) => {
                return Some(Self(format!("ctrl-{}", c.to_ascii_lowercase())));
            }
            KeyCode::Char(c) => c.to_string(),
            code => special(code)?.to_owned(),
        };
        Some(Self(name))
    }

    /// Whether it is among these, written as `"down j"`.
    pub fn is_in(&self, names: &str) -> bool {
        names.split(' ').any(|name| name == self.0)
    }

    /// The character it types, when it types one.
    pub fn types(&self) -> Option<char> {
        let mut chars = self.0.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Some(c),
            _ if self.0 == "space" => Some(' '),
            _ => None,
        }
    }
}

impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn special(code: KeyCode) -> Option<&'static str> {
    Some(match code {
        KeyCode::Up => "up",
        KeyCode::Down => "down",
        KeyCode::Left => "left",
        KeyCode::Right => "right",
        KeyCode::Enter => "enter",
        KeyCode::Esc => "esc",
        KeyCode::Tab => "tab",
        KeyCode::BackTab => "backtab",
        KeyCode::PageUp => "pgup",
        KeyCode::PageDown => "pgdn",
        KeyCode::Home => "home",
        KeyCode::End => "end",
        KeyCode::Backspace => "backspace",
        KeyCode::Delete => "delete",
        _ => return None,
    })
}

/// Key names as help shows them: arrows for the arrow keys, commas between.
pub fn shown(names: &str) -> String {
    let one = |name| match name {
        "up" => "↑",
        "down" => "↓",
        "left" => "←",
        "right" => "→",
        other => other,
    };
    names.split(' ').map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_names_and_releases_are_ignored() {
        let event = |code, modifiers| KeyEvent::new(code, modifiers);
        let names = |code, modifiers| {
            let keys = KeyPress::from_event(event(code, modifiers));
            keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(KeyCode::Char('G'), KeyModifiers::SHIFT), "G");
        assert_eq!(names(KeyCode::Char('c'), KeyModifiers::CONTROL), "ctrl-c");
        assert_eq!(names(KeyCode::Esc, KeyModifiers::NONE), "esc");
        let release = KeyEvent::new_with_kind(KeyCode::Esc, KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(KeyPress::from_event(release), []);
        // Escape and the key, in one read.
        assert_eq!(names(KeyCode::Char('x'), KeyModifiers::ALT), "esc x");
        assert_eq!(names(KeyCode::Char('c'), KeyModifiers::ALT | KeyModifiers::CONTROL), "esc ctrl-c");
        assert_eq!(names(KeyCode::Enter, KeyModifiers::ALT), "esc enter");
        assert_eq!(names(KeyCode::Left, KeyModifiers::ALT), "");
        assert_eq!(names(KeyCode::Backspace, KeyModifiers::ALT), "");
    }
}
