//! Facts that the data directory of every kind of database server has.

use crate::facts::ServerKind;

facts! {
    /// Whose data directory it is.
    KIND: ServerKind = Cluster "cluster.kind", never;
}
