//! What words and marks are coloured by, in every form that has colours.

use crate::durability::Standing;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    /// Nothing is judged.
    Dim,
    Doubt,
    Bad,
}

impl From<Standing> for Tone {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::AtRisk | Standing::Contradictory => Self::Bad,
            Standing::Unproven => Self::Doubt,
            Standing::ProvenByDrill | Standing::Durable => Self::Good,
        }
    }
}

/// The sign of a standing, which says the same as its colour.
pub fn sign(standing: Standing) -> &'static str {
    match standing {
        Standing::AtRisk => "!",
        Standing::Contradictory => "≠",
        Standing::Unproven => "?",
        Standing::ProvenByDrill | Standing::Durable => "●",
    }
}
