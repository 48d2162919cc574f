//! Helpers that the trials share with the integration tests.

#[path = "../it/support/deadline.rs"]
pub mod deadline;
