//! What every database server's data directory has, whatever the server.

facts! {
    /// Whose data directory it is.
    KIND: String = Cluster "cluster.kind" Kind::Choice(&["postgres", "mysql", "mariadb"]);
}
