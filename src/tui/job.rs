//! One piece of work in the background: what is asked for, how far it is, what it came to.

use std::sync::Arc;

use super::supposed::{Supposed, Supposition};
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
    Want(Subject, Option<NewFilesystem>),
    /// [`super::jobs::Worker::raw`].
    Raw(Source, String),
    /// [`super::jobs::Worker::document`].
    Document(Format),
    /// [`super::jobs::Worker::save`].
    Save(Save),
}

/// A document to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save {
    pub format: Format,
    /// The document as displayed, so that exactly that is saved; `None` to make it first.
    pub document: Option<Arc<str>>,
    /// The name of the file as it was typed.
    pub name: String,
    /// Whether a file of this name may be replaced.
    pub replace: bool,
}

/// Which job; numbers go up.
pub type JobId = u64;

#[derive(Clone, Debug, PartialEq)]
pub enum JobResult {
    Report(Box<Report>),
    /// The description of a probe.
    Plan(Vec<String>),
    /// The assumed machine and its differences.
    Supposed(Box<Supposed>),
    /// The raw lines behind a value.
    Raw(Source, String, Vec<String>),
    /// A report as a document.
    Document(Arc<str>),
    /// The result of saving a file.
    Saved(Saved),
    /// Why there is nothing, in a sentence.
    Failed(String),
}

/// The result of saving a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It is in this file, by its whole path.
    At(String),
    /// There is this file already; nothing was written.
    Exists(String),
}

#[derive(Clone, Debug)]
pub enum Partial {
    /// The step of reading, such as `mounts`.
    Reading(String),
    Report(Box<Report>),
    /// The rules by which the machine is going to be judged.
    Rules(Arc<RuleSet>),
    /// How the measurement goes.
    Probing(Box<Progress>),
}
