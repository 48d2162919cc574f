//! The report as a value. Field names are the JSON's. Fields are only added, and [`SCHEMA_VERSION`]
//! counts changes of meaning.

pub mod answer;
pub mod difference;
pub mod price {
    //! What a commit costs on a target, small enough to be carried from report to report. It is
    //! made and read in [`crate::price`].

    use serde::{Deserialize, Serialize};

    use walwise_measure::measure::Method;
    use walwise_model::facts::Subject;

    /// What a commit costs on a target, by the last run that measured it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Price {
        /// The target.
        pub target: Subject,
        /// When the measurement began, RFC 3339.
        pub when: String,
        /// The layers beneath it at that time. Where they are others now, the price is no longer
        /// told.
        pub layers: Vec<String>,
        /// Of each method that a server could use, for commits of one page.
        pub methods: Vec<MethodPrice>,
    }

    /// The latency of a paced commit by one method, in microseconds.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct MethodPrice {
        /// The method.
        pub method: Method,
        /// Whether it is the one in force, or the one to use where none is known to be.
        pub chosen: bool,
        /// Median of paced commits.
        pub median_us: f64,
        /// The 95 % interval of the median.
        pub low_us: f64,
        pub high_us: f64,
        /// From 1,000 commits on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub p99_us: Option<f64>,
    }
}
pub mod upgrade;
pub mod what_if {
    //! What would be different under assumed facts, as a part of the report of the real machine. It
    //! is found in [`crate::what_if`].

    use serde::Serialize;

    use super::difference::Difference;
    use walwise_model::facts::{Reading, Subject, Value};

    /// What would be different, and because of what.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct WhatIf {
        /// What is assumed.
        pub assumed: Vec<Assumed>,
        /// What is different then; `before` is the machine as it is. Values of *now* are assumed,
        /// or follow from what is.
        pub difference: Difference,
        /// Steps of plans that come or go.
        pub steps: Vec<StepChange>,
        /// Advice that can lose data, and would be offered if what is assumed had been seen and
        /// measured on this machine.
        pub would_be_offered: Vec<WouldBeOffered>,
    }

    impl WhatIf {
        /// Whether nothing differs.
        pub fn changes_nothing(&self) -> bool {
            let assumed = |subject: &Subject, fact: &str| {
                self.assumed
                    .iter()
                    .any(|one| one.subject == *subject && one.fact == fact)
            };
            let Difference {
                gone,
                appeared,
                verdicts,
                findings,
                facts,
                ..
            } = &self.difference;
            gone.is_empty()
                && appeared.is_empty()
                && verdicts.is_empty()
                && findings.is_empty()
                && facts
                    .iter()
                    .all(|change| assumed(&change.subject, change.fact))
                && self.steps.is_empty()
                && self.would_be_offered.is_empty()
        }
    }

    /// A fact that is assumed.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Assumed {
        /// What it is about.
        pub subject: Subject,
        /// Its name.
        pub fact: String,
        /// What it is assumed to be.
        pub value: Value,
        /// What is known of it.
        pub really: Reading<Value>,
    }

    impl Assumed {
        /// *stated* for an unknown fact, else *assumed*; neither opens anything that can lose data.
        pub fn word(&self) -> &'static str {
            if self.really.is_known() {
                "assumed"
            } else {
                "stated"
            }
        }
    }

    /// A step of a plan that only one of both has.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct StepChange {
        /// Of whose plan.
        pub target: Subject,
        /// Whether it is in the plan then; it is in the real one otherwise.
        pub comes: bool,
        /// On what.
        pub subject: Subject,
        /// The setting and what to do to it.
        pub advice: String,
    }

    /// Advice that can lose data and is not given.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct WouldBeOffered {
        /// The rule that would give it.
        pub rule: String,
        /// On what.
        pub subject: Subject,
        /// The setting and what it would be.
        pub advice: String,
        /// What it would cost.
        #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
        pub price: Option<String>,
    }
}

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::content::DeviceContent;
use answer::{Answer, Topic};
use difference::Difference;
use price::Price;
use upgrade::Upgrade;
use walwise_judge::durability::{Standing, Verdict};
use walwise_judge::rules::{
    Advice, Basis, Confidence, Finding, Level, Outcome, Pack, Study, Tally,
};
use walwise_measure::measure::Measurement;
use walwise_model::facts::catalog::target::TargetKind;
use walwise_model::facts::{Area, Choice, FactRow, FactSet, Note, Subject, Value};
use walwise_model::quote::Command;
use walwise_model::settings::{NewFilesystem, Setting};
use what_if::WhatIf;

/// Version of the JSON's meaning.
pub const SCHEMA_VERSION: u32 = 4;

/// The oldest version that is read as a baseline and by `walwise show`.
pub const OLDEST_SCHEMA: u32 = 3;

/// Everything walwise has to say. Targets and what belongs to them, and facts, are in the order of
/// their subjects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// What made it.
    pub tool: ToolSummary,
    /// By which rules and tables it judges.
    pub pack: Pack,
    /// When, RFC 3339 in UTC.
    pub when: String,
    /// The target that was asked for, as it was named; absent when everything found was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Whose settings the answers are about where there is no server.
    #[serde(skip)]
    #[cfg_attr(any(test, feature = "testing"), schemars(skip))]
    pub engine: Area,
    /// The machine in a line.
    pub host: HostSummary,
    /// What was looked at.
    pub targets: Vec<TargetSummary>,
    /// The stack beneath each target.
    pub stacks: Vec<Stack>,
    /// The durability verdict of each target that is a directory.
    pub verdicts: Vec<Verdict>,
    /// What was measured, by target.
    pub probes: Vec<ProbeResult>,
    /// What a commit costs, by target, by the last run that measured it: this one, or one whose
    /// report is kept.
    #[serde(
        rename = "commit_latencies",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub prices: Vec<Price>,
    /// Every rule on every subject where it applies or is undecided, in this order, the worst
    /// first. The JSON has two lists.
    #[serde(flatten, serialize_with = "in_two_lists")]
    #[cfg_attr(any(test, feature = "testing"), schemars(flatten, with = "Findings"))]
    pub findings: Vec<Finding>,
    /// What each rule came to, also those that apply to nothing here.
    pub rules: Vec<Tally>,
    /// What to do, per target.
    pub plans: Vec<Plan>,
    /// Findings that want different things of one setting.
    pub conflicts: Vec<Conflict>,
    /// Advice that was taken out, with the reason.
    pub withheld: Vec<Withheld>,
    /// What is different since the report that this one was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Difference>,
    /// What concerns the run as a whole.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub warnings: Vec<Note>,
    /// What would be different if some facts were others; nothing else in this report is about
    /// that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// What the next kernel changes, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
    /// Every fact.
    pub facts: FactSet,
}

/// Findings as the JSON has them: what is so apart from what is open.
#[derive(Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
struct Findings<'a> {
    /// Every rule on every subject where it applies, the worst first.
    findings: Vec<&'a Finding>,
    /// Every rule on every subject where it is undecided; each title is a question.
    undecided: Vec<&'a Finding>,
}

fn in_two_lists<S: Serializer>(all: &[Finding], out: S) -> Result<S::Ok, S::Error> {
    let (undecided, findings) = all
        .iter()
        .partition(|finding| matches!(finding.outcome, Outcome::Undecided { .. }));
    Findings {
        findings,
        undecided,
    }
    .serialize(out)
}

impl Report {
    /// The value of a fact by name, when known.
    pub fn value(&self, subject: &Subject, fact: &str) -> Option<&Value> {
        self.facts.named(subject, fact).value()
    }

    /// Facts that are not known and could be. What is not there and needs nothing is no gap: a disk
    /// without a model has no model.
    pub fn gaps(&self) -> impl Iterator<Item = FactRow<'_>> {
        self.facts.rows().filter(is_gap)
    }

    /// The published measurements behind a rule.
    pub fn evidence(&self, rule: &str) -> &[Study] {
        self.rules
            .iter()
            .find(|tally| tally.rule == rule)
            .map_or(&[], |tally| &tally.evidence)
    }

    /// The verdict of a target.
    pub fn verdict(&self, target: &Subject) -> Option<&Verdict> {
        found(&self.verdicts, |verdict| verdict.target.cmp(target))
    }

    /// The stack beneath a target.
    pub fn stack(&self, target: &Subject) -> Option<&Stack> {
        found(&self.stacks, |stack| stack.target.cmp(target))
    }

    /// The plan of a target.
    pub fn plan(&self, target: &Subject) -> Option<&Plan> {
        found(&self.plans, |plan| plan.target.cmp(target))
    }
}

/// Whether a fact is not known and could be: see [`Report::gaps`].
pub(super) fn is_gap(row: &FactRow<'_>) -> bool {
    row.reading.is_gap()
}

/// The element at this place of an ordered list.
fn found<T>(list: &[T], place: impl Fn(&T) -> Ordering) -> Option<&T> {
    list.get(list.binary_search_by(place).ok()?)
}

/// What made the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct ToolSummary {
    /// `walwise`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How many rules were evaluated.
    pub rules: usize,
}

/// The machine in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct HostSummary {
    /// Its name, or `unknown`.
    pub name: String,
    /// Distribution, or `unknown`.
    pub os: String,
    /// Kernel release, or `unknown`.
    pub kernel: String,
    /// `host`, `guest` or `container`, or `unknown`.
    pub seen_by: String,
    /// Whether root looked; absent when not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// Whether this is the machine itself (`true`) or a capture of one.
    pub live: bool,
    /// The options of this run that its commands repeat.
    #[serde(skip)]
    pub options: Vec<RunOption>,
}

/// An option of walwise that says where facts come from, with its value.
pub type RunOption = (&'static str, Option<String>);

impl HostSummary {
    /// A command of walwise about the same host, read in the same way; `None` where the name of a
    /// file cannot be written.
    pub fn command(&self, command: Command) -> Option<Command> {
        self.options
            .iter()
            .try_fold(command, |command, (option, value)| {
                let command = command.code(" ").code(option);
                match value {
                    Some(value) => command.code(" ").value(value),
                    None => Some(command),
                }
            })
    }
}

fn word<T: Choice, S: Serializer>(choice: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.word())
}

/// What advice is for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct TargetSummary {
    /// The target.
    pub target: Subject,
    /// The name people know it by: the cluster it belongs to, or its path.
    pub title: String,
    /// `directory`, `created` or `device`.
    #[serde(serialize_with = "word")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub kind: TargetKind,
    /// Of a device: what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<DeviceContent>,
    /// What database servers keep there: `data`, `wal`, `tablespace`, `redo`, `binlog`,
    /// `doublewrite`, `undo`. Empty when it is unused, absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The directories that those are, each with the verdict of the target: what lies on one file
    /// system stands and falls together.
    pub directories: Vec<DirectoryRow>,
    /// The cluster that uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Subject>,
    /// Everything whose facts and findings concern it: itself, its stack, what the next boot mounts
    /// of it, its cluster.
    pub subjects: Vec<Subject>,
    /// Where there are several free disks, which to take: 1 is the first choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// What the rank rests on; empty without one.
    pub rank_because: String,
    /// What to use, now and recommended.
    pub answers: BTreeMap<Topic, Answer>,
}

/// A directory that a database server keeps on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct DirectoryRow {
    /// What is in it, one of the target's roles.
    pub role: String,
    /// Its path.
    pub path: String,
    /// The durability verdict, where the target has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Standing>,
}

/// The stack beneath a target, as a graph: rows in drawing order, each with what it stands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Stack {
    /// The target.
    pub target: Subject,
    /// Its layers, the target first.
    pub layers: Vec<LayerRow>,
    /// How many more layers it has, of which most is not in the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
}

/// One layer of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct LayerRow {
    /// What it is.
    pub subject: Subject,
    /// How far below the target; a layer with two parents is drawn under the first.
    pub depth: u32,
    /// What it is in words: `ext4 rw,relatime`, `RAID1, 2 of 2`, `Samsung SSD 870 EVO`.
    #[serde(rename = "text")]
    pub says: String,
    /// What matters of its cache, in words; empty where nothing does.
    pub cache: String,
    /// Whether this layer decides the verdict.
    pub weakest: bool,
    /// What it stands on.
    pub below: Vec<Subject>,
}

/// A measurement of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct ProbeResult {
    /// The target.
    pub target: Subject,
    /// What was found.
    pub measurement: Measurement,
}

/// The consistent, ordered set of advice for one target: no setting twice. Of a free disk it begins
/// with the file system; where there is one, what needs a new one comes last.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Plan {
    /// The target.
    pub target: Subject,
    /// What to do, in order of application, then what to keep.
    pub steps: Vec<Step>,
    /// What may be done as well, each at its price; none of it is part of the steps.
    pub options: Vec<Step>,
    /// Of a free disk: every file system that can be asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filesystems: Vec<FilesystemChoice>,
}

/// A file system for a free disk: what speaks for it and against it here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FilesystemChoice {
    /// `ext4`, `xfs`, `btrfs` or `zfs`.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub filesystem: NewFilesystem,
    /// Whether it is the first choice here.
    pub first: bool,
    /// Its place by published figures; `None` where no rule offers it.
    #[serde(skip)]
    pub rank: Option<u32>,
    /// Whether the user wants it. The plan then makes it, unless it is refused.
    pub wanted: bool,
    /// One line: what its rule says of it, where it can be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it costs.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// Why it cannot be made here; absent where it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Step {
    /// On what: the target itself, its mount, a device, a boot line, a cluster.
    pub subject: Subject,
    /// How much it matters.
    pub level: Level,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it rests on.
    pub basis: Basis,
    /// The rules that want it.
    pub rules: Vec<String>,
    /// One line: why.
    pub title: String,
    /// What to do. For lists of options the changes of several rules are joined.
    pub advice: Advice,
    /// What the setting will read when done, such as the whole option string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// For one choice among several, the others, best first.
    pub alternatives: Vec<Alternative>,
}

/// A choice that comes after the one that is advised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Alternative {
    /// Its place; where it is the advised one's, there is no meaningful difference.
    pub rank: u32,
    /// What the setting would be.
    pub value: String,
    /// The rule that names it.
    pub rule: String,
    /// One line: why.
    pub title: String,
    /// What it costs.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
}

/// Two findings that want different things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Conflict {
    /// On what.
    pub subject: Subject,
    /// Of which setting.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub setting: &'static Setting,
    /// What is followed: the rule, and what it wants.
    pub followed: String,
    /// What is not.
    pub overruled: String,
    /// Why this way round.
    pub because: String,
}

/// Advice that was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Withheld {
    /// The rule that gave it.
    pub rule: String,
    /// On what.
    pub subject: Subject,
    /// The setting and what it would have been.
    pub advice: String,
    /// Why: what would refuse it, or what is not known.
    pub because: String,
}
