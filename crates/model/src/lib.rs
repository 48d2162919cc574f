//! The vocabulary of walwise: what can be known of a machine, and how it is named, compared and
//! written down.
//!
//! Values only: no file, clock, process or environment is touched here; [`workers`] alone uses
//! threads.

pub mod bounds;
pub mod checked;
pub mod drivers;
pub mod facts;
pub mod quote;
pub mod rows;
pub mod servers;
pub mod settings;
pub mod text;
pub mod truth;
pub mod version;
pub mod workers;
#[cfg(test)]
use walwise_testkit::deadline;
