//! The command line of `walwise show`. What is common to all commands is left to [`super`].

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Output;

/// `walwise show`.
#[derive(Args, Debug)]
pub struct Show {
    /// A report of --save, --format json or --format html.
    pub report: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    /// Where it goes.
    #[command(flatten)]
    pub output: Output,
}

/// Forms in which a kept report can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// For people.
    Text,
    /// For programs: the report as it was written.
    Json,
    /// A document with all facts.
    Markdown,
    /// The same as one page, with the report inside.
    Html,
}
