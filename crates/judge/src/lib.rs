//! What facts mean: whether a commit survives a power cut, what a kernel or server makes of an
//! option, how much WAL is needed, and what the rules in `rules/*.toml` conclude.
//!
//! Facts are taken and values are returned; no file, clock, process or environment is touched, and
//! the rules are compiled in.

use walwise_model::{
    bounds, checked, drivers, facts, quote, rows, servers, settings, text, truth, version, workers,
};

pub mod durability;
pub mod rules;
pub mod sizing;
pub mod validity;
