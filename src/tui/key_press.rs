//! Keys by name: `j`, `G`, `?`, `esc`, `ctrl-c`.
//!
//! Commands, help and tests use these names; only the decoder uses the terminal's key codes.

use std::fmt;

use crate::text::JoinText;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPress(String);

impl KeyPress {
    pub fn from_name(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The key that types a character; `None` for a control character.
    pub fn from_char(c: char) -> Option<Self> {
        match c {
            ' ' => Some(Self::from_name("space")),
            c if c.is_control() => None,
            c => Some(Self(c.to_string())),
        }
    }

    pub fn from_control_letter(letter: char) -> Self {
        Self(format!("ctrl-{}", letter.to_ascii_lowercase()))
    }

    /// Whether the key is one of `names`, which are separated by spaces, as in `"down j"`.
    pub fn is_one_of(&self, names: &str) -> bool {
        names.split(' ').any(|name| name == self.0)
    }

    /// `None` for keys such as `esc`.
    pub fn typed_char(&self) -> Option<char> {
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

pub fn format_key_names(names: &str) -> String {
    let one = |name| match name {
        "up" => "↑",
        "down" => "↓",
        "left" => "←",
        "right" => "→",
        other => other,
    };
    names.split(' ').map(one).join_with(" ")
}
