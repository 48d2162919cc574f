pub use walwise_testkit::deadline;
