//! The text typed to search a screen. The screens query it; it knows none of them.
//!
//! Every word must occur, in any order and any case, as in help.

use super::widgets::field::Field;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub text: Field,
    /// Whether keys still go to it.
    pub typing: bool,
}

impl Filter {
    /// Whether something that is said so is shown.
    pub fn passes(&self, said: &str) -> bool {
        let said = said.to_lowercase();
        self.text.text().split_whitespace().all(|word| said.contains(&word.to_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_must_be_there() {
        let passes = |text: &str| Filter { text: Field::new(text), typing: true }.passes("sda device.Cache");
        for (text, expected) in [("", true), ("CACHE sd", true), ("cache sdb", false), (" ", true)] {
            assert_eq!(passes(text), expected, "{text}");
        }
    }
}
