//! What is measured, and what may be concluded from it: probes of commits and workloads, the
//! power-cut drill, and trials of file systems side by side.
//!
//! [`measure`], [`drill`] and [`trial`] are statistics and records, without I/O; [`probes`] and
//! [`cells`] write, to scratch files and to the loop file or disk that was given for a trial.

use walwise_model::{facts, quote, servers, settings, text, version};
use walwise_sys::{host, subprocess, way};

pub mod cells;
pub mod drill;
pub mod measure;
pub mod probes;
pub mod trial;
