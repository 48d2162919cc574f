//! Rules: conditions over facts, with advice. They are data (`rules/*.toml`), three-valued, and carry their own examples.
//!
//! This layer reads no machine and prints nothing: facts in, findings out, every sub-condition kept as a trace. The
//! surprise: advice that can lose data is held back unless every fact that decides it was seen on this machine.

mod finding;

pub use finding::{Advice, Change, Confidence, Finding, Level, Outcome, Reach, Risk, Seen, Trace};
