//! What the tests of every crate share. It waits for children, pipes, terminals and threads with a
//! deadline; nothing in it is shipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "for tests"
)]

pub mod deadline;
