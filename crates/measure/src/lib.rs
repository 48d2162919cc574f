//! Probes of commits and workloads, the power-cut drill, and trials of file systems side by side.
//!
//! [`measure`], [`drill`] and [`trial`] are statistics and records, without I/O. [`probes`] and
//! [`trial_runner`] write to scratch files, and to the loop file or disk of a trial.

use walwise_model::{escape, facts, servers, settings, text, version};
use walwise_sys::{host, safe_path, subprocess};

pub mod drill;
pub mod measure;
pub mod probes;
pub mod trial;
pub mod trial_runner;
