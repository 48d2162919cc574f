//! How much of the report the text of `check` shows: the short form, all of it, or one part.

use clap::{Args, ValueEnum};

use crate::report::telling::ReportPart;

/// How much of the report is shown as text; the short form without any of it.
#[derive(Args, Debug, Default, Clone)]
pub struct Extent {
    /// The whole report as text: evidence, reasons, what is allowed at a price, how to undo.
    #[arg(long, short)]
    pub verbose: bool,
    /// One part of the whole report.
    #[arg(long, value_enum, value_name = "PART", conflicts_with = "verbose")]
    pub only: Option<OnlyPart>,
}

/// What `--only` can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlyPart {
    /// What to do, in order, with the commands to apply, verify and undo it.
    Plan,
    /// What each verdict rests on.
    Evidence,
    /// What a commit costs, method by method.
    Price,
    /// What is not known, what it leaves undecided, and what would help.
    Unknown,
}

impl OnlyPart {
    /// The part of the report.
    pub fn part(self) -> ReportPart {
        match self {
            Self::Plan => ReportPart::Plan,
            Self::Evidence => ReportPart::Evidence,
            Self::Price => ReportPart::Price,
            Self::Unknown => ReportPart::Unknown,
        }
    }
}
