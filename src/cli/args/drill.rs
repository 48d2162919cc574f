//! Arguments of `walwise drill` and of its steps. Doc comments become help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::named_values;
use crate::cli::examples::examples_help;
use crate::measure::Method;
use crate::probes::drill::SegmentMode;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct DrillArgs {
    /// A step of the drill; without one, print the instructions.
    #[command(subcommand)]
    pub step: Option<DrillCommand>,
    /// The directory to test.
    pub directory: Option<PathBuf>,
}

/// The steps of a drill that walwise runs.
#[derive(Debug, Subcommand)]
pub enum DrillCommand {
    /// Write commits into DIR/walwise-drill until the power is cut or you stop the command. The
    /// number of each commit is printed once the commit is durable; save the output on another
    /// host.
    #[command(after_help = examples_help("drill write"))]
    Write(DrillWriteArgs),
    /// Print which commits survived.
    #[command(after_help = examples_help("drill read"))]
    Read {
        /// Directory that `drill write` wrote to.
        directory: PathBuf,
    },
    /// Show lost commits; exit code 3 if there are any.
    #[command(after_help = examples_help("drill check"))]
    Check {
        /// Output of `drill write`.
        acknowledged: PathBuf,
        /// Output of `drill read`.
        survived: PathBuf,
        /// Add the result to this record (created if missing), for `walwise check --drill`.
        #[arg(long, value_name = "RECORD.json")]
        record: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub struct DrillWriteArgs {
    /// An existing directory on the file system to test.
    pub directory: PathBuf,
    /// Sync method of the commits.
    #[arg(long, value_parser = named_values::<Method>(METHODS), default_value = "fdatasync")]
    pub method: Method,
    /// WAL segments to write to.
    #[arg(long, value_parser = named_values::<SegmentMode>(SEGMENT_MODES), default_value = "recycled")]
    pub segments: SegmentMode,
}

/// Values of `--method`.
const METHODS: &[(&str, &str)] = &[
    ("fdatasync", "pwrite, fdatasync"),
    ("fsync", "pwrite, fsync"),
    ("open_datasync", "pwrite to a file opened `O_DSYNC`"),
    ("open_sync", "pwrite to a file opened `O_SYNC`"),
    ("open_datasync_direct", "open_datasync with `O_DIRECT`"),
    ("open_sync_direct", "open_sync with `O_DIRECT`"),
];

/// Values of `--segments`.
const SEGMENT_MODES: &[(&str, &str)] = &[
    ("recycled", "One prefilled segment, overwritten repeatedly"),
    ("fresh", "A new segment whenever the last one is full"),
];
