use std::collections::BTreeSet;
use std::sync::Arc;

use super::assumptions::{AssumedFact, AssumedHost};
use crate::facts::{Source, Subject};
use crate::measure::ProbeProgress;
use crate::report::view::Section;
use crate::report::{Format, Report};
use crate::rules::RuleSet;
use crate::settings::NewFilesystem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    Collect,
    /// Describes, without writing anything, what a probe would write, where, and for how long. The
    /// error is the reason why the target cannot be probed.
    PlanProbe(Subject),
    /// Measures the target; the result is a new report.
    Probe(Subject),
    /// The facts of the real host stay unchanged. The error names a refused assumption and the
    /// reason.
    Suppose(Vec<AssumedFact>),
    /// Plans this file system for a free disk; `None` restores the recommended one. The error is
    /// the reason why the file system cannot be created.
    ChooseFilesystem(Subject, Option<NewFilesystem>),
    /// Reads the recorded lines, display-safe, from which a value was read; empty if the source has
    /// none.
    Raw(Source, String),
    /// Renders the real host's last report, without assumptions.
    Document(Format),
    /// Writes a document to a file atomically.
    Save(SaveRequest),
    ListReferences(ComparisonReference),
    /// Compares the last report of the real host with the named choice; without a name, with the
    /// newest saved report.
    Compare(ComparisonReference, Option<String>),
    /// Describes where the report would be saved, for the user to confirm.
    PlanReportSave,
    /// Saves the last report of the real host, without assumptions.
    SaveReport,
    /// Waits until a fact of `/proc` or `/sys` differs from its last reading.
    Watch,
}

/// The other side of a comparison with the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonReference {
    SavedReport,
    Upgrade,
}

impl ComparisonReference {
    pub const ALL: [Self; 2] = [Self::SavedReport, Self::Upgrade];
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceChoice {
    /// Name for the worker, such as the path of a saved report.
    pub name: String,
    pub label: String,
    pub text: String,
}

#[derive(Clone, Debug)]
pub struct ReferenceComparison {
    pub name: String,
    pub title: String,
    pub sections: Vec<Section>,
}

/// Report of the host after facts of `/proc` and `/sys` were read again.
#[derive(Clone, Debug)]
pub struct HostChange {
    pub report: Report,
    pub changed: ChangedFacts,
}

#[derive(Clone, Debug, Default)]
pub struct ChangedFacts {
    /// Facts that differ from the last rescan; empty once all have their values of that time again.
    pub facts: BTreeSet<(Subject, &'static str)>,
    pub sentences: Vec<String>,
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveRequest {
    pub format: Format,
    /// The document as shown on screen; if `None`, the worker renders one.
    pub document: Option<Arc<str>>,
    pub name: String,
    /// Whether to overwrite an existing file.
    pub replace: bool,
}

/// A later job has a higher number.
pub type JobId = u64;

#[derive(Clone, Debug)]
pub enum JobResult {
    Report(Box<Report>),
    /// Lines that describe what a probe would write, for the user to confirm.
    Plan(Vec<String>),
    AssumedHost(Box<AssumedHost>),
    /// The recorded lines from which a value was read.
    Raw(Vec<String>),
    Document(Arc<str>),
    Saved(SaveOutcome),
    References(Vec<ReferenceChoice>),
    /// A comparison with a saved report or an upgrade; `None` if no report is saved.
    Comparison(Option<Box<ReferenceComparison>>),
    Moved(Box<HostChange>),
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveOutcome {
    /// The absolute path of the written file, followed by a notice, if any.
    At(String),
    /// The absolute path of an existing file; nothing was written.
    Exists(String),
}

#[derive(Clone, Debug)]
pub enum JobProgress {
    /// Name of the collector that is running, such as `mounts`.
    Reading(String),
    Report(Box<Report>),
    /// The rules in force; sent before the report that is evaluated with them.
    Rules(Arc<RuleSet>),
    Probing(Box<ProbeProgress>),
}
