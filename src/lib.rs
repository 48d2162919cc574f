//! walwise looks at the storage beneath a database and recommends file system, mount options and WAL settings.
//!
//! The program is a pipeline of values; each module knows only those above it in this list:
//!
//! - [`truth`], [`version`], [`text`] — vocabulary
//! - [`quote`] — names and values in commands, units, rules, lines and comments
//! - [`workers`] — one piece of work on many things, by all processors
//! - [`errand`] — work that may never end, done by a child that can be left behind
//! - [`way`] — the way to a directory, so that nobody redirects root
//! - [`output`] — the one way to write what somebody asked for
//! - [`facts`] — readings: known with a source, or unknown with a reason
//! - [`rows`] — tables of rows, and what is wrong with them
//! - [`servers`] — servers' settings by release, declared once
//! - [`settings`] — what can be advised
//! - [`drivers`] — what is behind the drivers of SCSI hosts
//! - [`host`] — the one seam through which the machine is read, live or recorded
//! - [`collect`] — host → facts
//! - [`measure`], [`durability`], [`validity`] — judgement, pure
//! - [`probes`] — measurements in scratch files, and the drill; the only other writes
//! - [`rules`] — facts → findings, three-valued, from `rules/*.toml`
//! - [`report`] — one value from which every output is made
//! - [`pipeline`] — joins them in order
//! - [`cli`], [`ui`] — front ends
#![warn(missing_docs)]

pub mod cli;
pub mod collect;
pub mod drill;
pub mod drivers;
pub mod durability;
pub mod errand;
pub mod facts;
pub mod host;
pub mod measure;
pub mod output;
pub mod pipeline;
pub mod probes;
pub mod quote;
pub mod report;
pub mod rows;
pub mod rules;
pub mod servers;
pub mod settings;
pub mod text;
pub mod truth;
pub mod ui;
pub mod validity;
pub mod version;
pub mod way;
pub mod workers;
