use std::sync::Arc;

use super::hypothesis::{AssumedFact, AssumedHost};
use crate::facts::{Source, Subject};
use crate::measure::Progress;
use crate::report::{Format, Report};
use crate::rules::RuleSet;
use crate::settings::NewFilesystem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    Collect,
    PlanProbe(Subject),
    Probe(Subject),
    Suppose(Vec<AssumedFact>),
    ChooseFilesystem(Subject, Option<NewFilesystem>),
    Raw(Source, String),
    Document(Format),
    Save(SaveRequest),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveRequest {
    pub format: Format,
    /// The document as shown on screen; if `None`, the worker renders one.
    pub document: Option<Arc<str>>,
    /// File name or path as typed.
    pub name: String,
    /// Allows overwriting an existing file.
    pub replace: bool,
}

/// A later job has a higher number.
pub type JobId = u64;

#[derive(Clone, Debug, PartialEq)]
pub enum JobResult {
    Report(Box<Report>),
    /// Lines that describe what a probe would write, for the user to confirm.
    Plan(Vec<String>),
    AssumedHost(Box<AssumedHost>),
    /// Source, value, and the recorded lines that the value was read from.
    Raw(Source, String, Vec<String>),
    Document(Arc<str>),
    Saved(SaveOutcome),
    /// Error message for the user.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveOutcome {
    /// Holds the absolute path.
    At(String),
    /// The file exists already; nothing was written.
    Exists(String),
}

#[derive(Clone, Debug)]
pub enum JobProgress {
    /// Name of the collector that is running, such as `mounts`.
    Reading(String),
    Report(Box<Report>),
    /// Sent before the report that the rules produce.
    Rules(Arc<RuleSet>),
    Probing(Box<Progress>),
}
