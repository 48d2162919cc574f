//! Arguments of `walwise drill` and of its steps. Doc comments become help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::examples::examples_help;

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
    #[arg(long, value_enum, default_value_t = DrillMethod::Fdatasync)]
    pub method: DrillMethod,
    /// WAL segments to write to.
    #[arg(long, value_enum, default_value_t = DrillSegments::Recycled)]
    pub segments: DrillSegments,
}

/// The sync methods of a drill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum DrillMethod {
    /// pwrite, fdatasync.
    Fdatasync,
    /// pwrite, fsync.
    Fsync,
    /// pwrite to a file opened `O_DSYNC`.
    OpenDatasync,
    /// pwrite to a file opened `O_SYNC`.
    OpenSync,
    /// open_datasync with `O_DIRECT`.
    OpenDatasyncDirect,
    /// open_sync with `O_DIRECT`.
    OpenSyncDirect,
}

/// Where commits of a drill are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DrillSegments {
    /// One prefilled segment, overwritten repeatedly.
    Recycled,
    /// A new segment whenever the last one is full.
    Fresh,
}
