//! Keys by name: `j`, `G`, `?`, `esc`, `ctrl-c`. Commands, help and tests all use these names; no
//! other module knows the terminal's own key codes.

use std::fmt;

/// A key that was pressed, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPress(String);

impl KeyPress {
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The key that types a character; `None` for what is no character to type.
    pub fn character(c: char) -> Option<Self> {
        match c {
            ' ' => Some(Self::named("space")),
            c if c.is_control() => None,
            c => Some(Self(c.to_string())),
        }
    }

    /// A letter pressed with Control.
    pub fn control(letter: char) -> Self {
        Self(format!("ctrl-{}", letter.to_ascii_lowercase()))
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
