//! One fact of a layer, as the screen needs it: its value with its source, or why there is none.

use crate::facts::Need;
use crate::report::telling::words as told;

/// What is known of one fact.
pub enum FactState {
    /// Its value, and where it was read.
    Known(String, String),
    /// Why it is not known; and whether it could be.
    Unknown(Box<Need>, bool),
}

pub struct FactLine<'a> {
    pub name: &'a str,
    pub said: FactState,
}

impl FactLine<'_> {
    /// All that is said of it, to look for something in.
    pub fn text(&self) -> String {
        match &self.said {
            FactState::Known(value, source) => format!("{} {value} {source}", self.name),
            FactState::Unknown(need, _) => {
                let remedy = need.remedy.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{} unknown {} {remedy}", self.name, told::reason(need))
            }
        }
    }

    /// Whether it is unknown and could be known.
    pub fn is_gap(&self) -> bool {
        matches!(self.said, FactState::Unknown(_, true))
    }
}
