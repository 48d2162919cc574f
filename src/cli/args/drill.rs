//! The command line of `walwise drill`. What is common to all commands is left to [`super`].

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::examples::help;

/// `walwise drill`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Drill {
    /// A step of the drill; without one, the instructions in order.
    #[command(subcommand)]
    pub step: Option<DrillStep>,
    /// The directory to drill.
    pub directory: Option<PathBuf>,
}

/// The steps of a drill that walwise does.
#[derive(Debug, Subcommand)]
pub enum DrillStep {
    /// Write commits into DIR/walwise-drill until the power fails or it is stopped, and print each
    /// number once it is durable, for a machine that keeps its power.
    #[command(after_help = help("drill write"))]
    Write(DrillWrite),
    /// Print which commits are there.
    #[command(after_help = help("drill read"))]
    Read {
        /// The directory that was written to.
        directory: PathBuf,
    },
    /// Show what is lost: exit code 3 if anything is.
    #[command(after_help = help("drill check"))]
    Check {
        /// What `drill write` printed.
        acknowledged: PathBuf,
        /// What `drill read` printed.
        survived: PathBuf,
        /// Add the result to this record, which is created if missing; `walwise check --drill`
        /// reads it.
        #[arg(long, value_name = "RECORD.json")]
        record: Option<PathBuf>,
    },
}

/// `walwise drill write`.
#[derive(Args, Debug)]
pub struct DrillWrite {
    /// An existing directory on the file system in question.
    pub directory: PathBuf,
    /// How to make each commit durable.
    #[arg(long, value_enum, default_value_t = DrillMethod::Fdatasync)]
    pub method: DrillMethod,
    /// Where to write commits.
    #[arg(long, value_enum, default_value_t = DrillSegments::Recycled)]
    pub segments: DrillSegments,
}

/// The ways to make a commit durable.
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
    /// The same with `O_DIRECT`.
    OpenDatasyncDirect,
    /// The same with `O_DIRECT`.
    OpenSyncDirect,
}

/// Where commits of a drill go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DrillSegments {
    /// Round and round in one segment that was filled before.
    Recycled,
    /// Into a new segment after each.
    Fresh,
}
