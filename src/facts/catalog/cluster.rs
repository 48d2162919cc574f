//! Facts that the data directory of every kind of database server has.

use crate::facts::{ServerKind, choice};

choice! {
    /// Whether the size of a log suffices for what is written to it.
    pub enum SizeFit {
        Enough = "enough",
        TooSmall = "too small",
        NoRoom = "too small, without room for more",
    }
}

facts! {
    /// Whose data directory it is.
    KIND: ServerKind = Cluster "cluster.kind";
}
