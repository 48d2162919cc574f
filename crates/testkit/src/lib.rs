//! Helpers shared by the tests of every crate. Nothing here is shipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "for tests"
)]

pub mod deadline;
