//! A background job: the request, its progress, and its result.

use std::sync::Arc;

use super::hypothesis::{AssumedHost, Supposition};
use crate::facts::{Source, Subject};
use crate::measure::Progress;
use crate::report::{Format, Report};
use crate::rules::RuleSet;
use crate::settings::NewFilesystem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// [`super::jobs::Worker::collect`].
    Collect,
    /// [`super::jobs::Worker::plan_probe`].
    PlanProbe(Subject),
    /// [`super::jobs::Worker::probe`].
    Probe(Subject),
    /// [`super::jobs::Worker::suppose`].
    Suppose(Vec<Supposition>),
    /// [`super::jobs::Worker::want`].
    ChooseFilesystem(Subject, Option<NewFilesystem>),
    /// [`super::jobs::Worker::raw`].
    Raw(Source, String),
    /// [`super::jobs::Worker::document`].
    Document(Format),
    /// [`super::jobs::Worker::save`].
    Save(Save),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save {
    pub format: Format,
    /// The document as displayed; `None` to render it first.
    pub document: Option<Arc<str>>,
    /// The file name as typed.
    pub name: String,
    /// Whether an existing file may be replaced.
    pub replace: bool,
}

/// Identifies a job; numbers increase.
pub type JobId = u64;

#[derive(Clone, Debug, PartialEq)]
pub enum JobResult {
    Report(Box<Report>),
    /// What a probe would do, to be confirmed.
    Plan(Vec<String>),
    /// The host under assumptions.
    AssumedHost(Box<AssumedHost>),
    /// The raw lines behind a value.
    Raw(Source, String, Vec<String>),
    Document(Arc<str>),
    Saved(Saved),
    /// The error, as a sentence.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Saved under this absolute path.
    At(String),
    /// The file exists already; nothing was written.
    Exists(String),
}

#[derive(Clone, Debug)]
pub enum JobProgress {
    /// The step of reading, such as `mounts`.
    Reading(String),
    Report(Box<Report>),
    /// The rules for the coming report.
    Rules(Arc<RuleSet>),
    /// Progress of a measurement.
    Probing(Box<Progress>),
}
