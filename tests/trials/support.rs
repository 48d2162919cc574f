//! Helpers that the trials share with the integration tests.

pub use walwise_testkit::deadline;
