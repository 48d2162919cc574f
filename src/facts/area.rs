//! Areas of facts and settings, the word before the dot of a name, as far as a subject can be one of which they are no
//! question: a server has the settings of its own line and not those of another.

use super::{Choice, choice};

choice! {
    /// Whose settings they are.
    pub enum Area { Pg = "pg", Mysql = "mysql" }
}

/// The area of a fact or setting of this name; none where it can be a question of every subject.
pub fn area(name: &str) -> Option<Area> {
    Area::of(name.split_once('.')?.0)
}
