//! What facts mean: whether a commit survives a power failure, whether a kernel or server accepts
//! an option, how much WAL is needed, and what the rules conclude. Facts in, values out: no file,
//! clock, process or environment is touched. The rules are compiled in.

use walwise_model::{
    bounds, drivers, escape, facts, parallel, provenance, servers, settings, ternary, text,
    toml_table, version,
};

pub mod compat;
pub mod durability;
pub mod rules;
pub mod sizing;
