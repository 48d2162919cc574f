//! The vocabulary of walwise: facts about a host, settings, versions, and text that is safe to
//! display.
//!
//! This crate opens no file, starts no process, and reads neither clock nor environment. Only
//! [`parallel`] starts threads.

pub mod escape;
#[macro_use]
pub mod facts;
pub mod limits;
pub mod parallel;
pub mod provenance;
pub mod scsi_drivers;
pub mod servers;
pub mod settings;
pub mod ternary;
pub mod text;
pub mod toml_table;
pub mod version;
#[cfg(test)]
use walwise_testkit::deadline;
