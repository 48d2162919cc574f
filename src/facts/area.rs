//! Areas of facts and settings, the word before the dot of a name, where they apply to some subjects only: a server has
//! the settings of its own line and not those of another.

use super::{Choice, choice};

choice! {
    /// The server line that settings belong to.
    pub enum Area { Pg = "pg", Mysql = "mysql" }
}

/// The area of a fact or setting of this name; `None` where it applies to every subject.
pub fn area(name: &str) -> Option<Area> {
    Area::from_word(name.split_once('.')?.0)
}
