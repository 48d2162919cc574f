//! Conclusions from facts: whether commits survive a power failure, what kernels and servers
//! accept, how much WAL is needed, and which advice the rules give.
//!
//! The crate is pure: no file, clock, process or environment is touched. The rules are compiled in.

use walwise_model::{
    escape, facts, limits, parallel, provenance, scsi_drivers, servers, settings, ternary, text,
    toml_table, version,
};

pub mod compat;
pub mod durability;
pub mod rules;
pub mod sizing;
