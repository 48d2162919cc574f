//! The vocabulary of walwise: what can be known of a machine, and how it is named, compared and
//! written down.
//!
//! Values only: no file, clock, process or environment is touched here; [`workers`] alone uses
//! threads.

pub mod bounds;
pub mod drivers;
pub mod escape;
pub mod facts;
pub mod parallel;
pub mod provenance;
pub mod servers;
pub mod settings;
pub mod ternary;
pub mod text;
pub mod toml_table;
pub mod version;
#[cfg(test)]
use walwise_testkit::deadline;
