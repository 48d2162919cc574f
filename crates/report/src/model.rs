//! The report as a value; field names are those of the JSON. Fields are only added;
//! [`SCHEMA_VERSION`] counts changes of meaning.

pub mod answer;
pub mod difference;
pub mod latency {
    //! Commit latency of a target, small enough to be copied from report to report by
    //! [`crate::price`].

    use serde::{Deserialize, Serialize};

    use walwise_measure::measure::Method;
    use walwise_model::facts::Subject;

    /// Commit latency of a target, from the last run that measured it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct CommitLatency {
        pub target: Subject,
        /// Start of the measurement, RFC 3339.
        pub when: String,
        /// The layers below the target at that time. The figures are dropped once they differ.
        pub layers: Vec<String>,
        /// Each sync method that the server can use, for commits of one page.
        pub methods: Vec<MethodPrice>,
    }

    /// The latency of a paced commit by one method, in microseconds.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct MethodPrice {
        pub method: Method,
        /// Whether it is the method in force, or the recommended one if that is unknown.
        pub chosen: bool,
        /// Median of paced commits.
        pub median_us: f64,
        /// The 95 % interval of the median.
        pub low_us: f64,
        pub high_us: f64,
        /// Only from 1,000 commits on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub p99_us: Option<f64>,
    }
}
pub mod upgrade;
pub mod what_if {
    //! The differences under assumed facts, as a part of the report of the real host. Made in
    //! [`crate::what_if`].

    use serde::Serialize;

    use super::difference::Difference;
    use walwise_model::facts::{Reading, Subject, Value};

    /// The assumptions and the differences that follow.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct WhatIf {
        /// The assumed facts.
        pub assumed: Vec<Assumed>,
        /// The differences; `before` is the real host, *now* the assumed one.
        pub difference: Difference,
        /// Steps that plans gain or lose.
        pub steps: Vec<StepChange>,
        /// Advice that can lose data, which would be offered if the assumptions had been read and
        /// measured on this host.
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

    /// An assumed fact.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Assumed {
        /// The subject of the fact.
        pub subject: Subject,
        /// The name of the fact.
        pub fact: String,
        /// The assumed value.
        pub value: Value,
        /// The real reading.
        pub really: Reading<Value>,
    }

    impl Assumed {
        /// *stated* for an unknown fact, else *assumed*; neither allows anything that can lose
        /// data.
        pub fn as_str(&self) -> &'static str {
            if self.really.is_known() {
                "assumed"
            } else {
                "stated"
            }
        }
    }

    /// A step that only one of the two plans has.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct StepChange {
        /// The target of the plan.
        pub target: Subject,
        /// Whether it is in the assumed plan; otherwise it is in the real one.
        pub comes: bool,
        /// The subject to change.
        pub subject: Subject,
        /// The setting and its change.
        pub advice: String,
    }

    /// Advice that can lose data, and so is not given for assumed facts.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct WouldBeOffered {
        /// The rule that would give it.
        pub rule: String,
        /// The subject to change.
        pub subject: Subject,
        /// The setting and its value.
        pub advice: String,
        /// Its trade-off.
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
use latency::CommitLatency;
use upgrade::Upgrade;
use walwise_judge::durability::{Verdict, VerdictKind};
use walwise_judge::rules::{
    Advice, Basis, Confidence, Finding, Level, Outcome, Pack, Study, Tally,
};
use walwise_measure::measure::Measurement;
use walwise_model::escape::Command;
use walwise_model::facts::catalog::target::TargetKind;
use walwise_model::facts::{Area, Choice, FactRow, FactSet, Note, Subject, Value};
use walwise_model::settings::{NewFilesystem, Setting};
use what_if::WhatIf;

/// The schema version of the JSON.
pub const SCHEMA_VERSION: u32 = 4;

/// The oldest schema read by `--baseline` and `walwise show`.
pub const OLDEST_SCHEMA: u32 = 3;

/// A report. Targets, their stacks, verdicts and plans, and facts are sorted by subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// The tool that made the report.
    pub tool: ToolSummary,
    /// The rules and tables it was judged by.
    pub pack: Pack,
    /// When it was made, RFC 3339 in UTC.
    pub when: String,
    /// The requested target, as it was named; absent when everything found was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The server assumed for answers where there is none.
    #[serde(skip)]
    #[cfg_attr(any(test, feature = "testing"), schemars(skip))]
    pub engine: Area,
    /// The host.
    pub host: HostSummary,
    /// The checked targets.
    pub targets: Vec<TargetSummary>,
    /// The stack below each target.
    pub stacks: Vec<Stack>,
    /// The durability verdict of each target that is a directory.
    pub verdicts: Vec<Verdict>,
    /// Measurements by target.
    pub probes: Vec<ProbeResult>,
    /// Commit latency by target, from the last run that measured it: this one, or one whose report
    /// was saved.
    #[serde(
        rename = "commit_latencies",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub prices: Vec<CommitLatency>,
    /// Every rule on every subject where it applies or is undecided, the worst first. The JSON has
    /// two lists.
    #[serde(flatten, serialize_with = "in_two_lists")]
    #[cfg_attr(any(test, feature = "testing"), schemars(flatten, with = "Findings"))]
    pub findings: Vec<Finding>,
    /// The results of each rule, including rules that do not apply here.
    pub rules: Vec<Tally>,
    /// The plan of each target.
    pub plans: Vec<Plan>,
    /// Findings that require different values of one setting.
    pub conflicts: Vec<Conflict>,
    /// Advice that was withheld, with the reason.
    pub withheld: Vec<Withheld>,
    /// The differences from the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Difference>,
    /// Notes about the whole run.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub warnings: Vec<Note>,
    /// The differences under assumed facts; the rest of the report is about the real host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// What the next kernel changes, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
    /// All facts.
    pub facts: FactSet,
}

/// The two lists of findings in the JSON.
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
        self.facts.reading_by_name(subject, fact).value()
    }

    /// Unknown facts that could be known. A fact that does not exist is no gap: some disks have no
    /// model name.
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
        find_sorted(&self.verdicts, |verdict| verdict.target.cmp(target))
    }

    /// The stack beneath a target.
    pub fn stack(&self, target: &Subject) -> Option<&Stack> {
        find_sorted(&self.stacks, |stack| stack.target.cmp(target))
    }

    /// The plan of a target.
    pub fn plan(&self, target: &Subject) -> Option<&Plan> {
        find_sorted(&self.plans, |plan| plan.target.cmp(target))
    }
}

/// See [`Report::gaps`].
pub(super) fn is_gap(row: &FactRow<'_>) -> bool {
    row.reading.is_gap()
}

/// Binary search in a sorted list.
fn find_sorted<T>(list: &[T], place: impl Fn(&T) -> Ordering) -> Option<&T> {
    list.get(list.binary_search_by(place).ok()?)
}

/// The tool that made the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct ToolSummary {
    /// `walwise`.
    pub name: String,
    pub version: String,
    /// The number of evaluated rules.
    pub rules: usize,
}

/// The host in a line.
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
    /// Whether facts were collected as root; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// Whether the facts are from the host itself (`true`) or from a capture.
    pub live: bool,
    /// The options of this run that its commands repeat.
    #[serde(skip)]
    pub options: Vec<RunOption>,
}

/// A command-line option that selects where facts come from, with its value.
pub type RunOption = (&'static str, Option<String>);

impl HostSummary {
    /// A walwise command with the options of this run; `None` where a file name cannot be quoted.
    pub fn command(&self, command: Command) -> Option<Command> {
        self.options
            .iter()
            .try_fold(command, |command, (option, value)| {
                let command = command.literal(" ").literal(option);
                match value {
                    Some(value) => command.literal(" ").value(value),
                    None => Some(command),
                }
            })
    }
}

fn serialize_choice<T: Choice, S: Serializer>(
    choice: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.as_str())
}

/// A target: a directory or a device that advice is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct TargetSummary {
    /// The target.
    pub target: Subject,
    /// Its display name: the cluster it belongs to, or its path.
    pub title: String,
    /// `directory`, `created` or `device`.
    #[serde(serialize_with = "serialize_choice")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub kind: TargetKind,
    /// The contents of a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<DeviceContent>,
    /// What database servers store there: `data`, `wal`, `tablespace`, `redo`, `binlog`,
    /// `doublewrite`, `undo`. Empty when unused, absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The directories of these roles. All have the verdict of the target, because they are on one
    /// file system.
    pub directories: Vec<DirectoryRow>,
    /// The cluster that uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Subject>,
    /// All subjects that concern it: itself, its stack, its boot mounts, its cluster.
    pub subjects: Vec<Subject>,
    /// The rank among several free disks, 1 for the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The reason for the rank; empty without one.
    pub rank_because: String,
    /// The answers: each setting, now and recommended.
    pub answers: BTreeMap<Topic, Answer>,
}

/// A directory of a database server on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct DirectoryRow {
    /// Its role, one of the target's.
    pub role: String,
    pub path: String,
    /// The durability verdict, where the target has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictKind>,
}

/// The stack below a target, as a graph: rows in display order, each with the layers it stands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Stack {
    /// The target.
    pub target: Subject,
    /// The layers, the target first.
    pub layers: Vec<LayerRow>,
    /// The number of further layers, mostly omitted from the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
}

/// One layer of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct LayerRow {
    /// The subject of the layer.
    pub subject: Subject,
    /// The distance below the target; a layer with two parents is shown under the first.
    pub depth: u32,
    /// A description: `ext4 rw,relatime`, `RAID1, 2 of 2`, `Samsung SSD 870 EVO`.
    #[serde(rename = "text")]
    pub says: String,
    /// A remark on its cache; empty if none is needed.
    pub cache: String,
    /// Whether this layer decides the verdict.
    pub weakest: bool,
    /// The layers it stands on.
    pub below: Vec<Subject>,
}

/// A measurement of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct ProbeResult {
    /// The target.
    pub target: Subject,
    pub measurement: Measurement,
}

/// The ordered steps for one target, without contradictions: no setting twice. On a free disk it
/// starts with the file system; on an existing one, steps that need a new file system come last.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Plan {
    /// The target.
    pub target: Subject,
    /// Changes in order of application, then settings to keep.
    pub steps: Vec<Step>,
    /// Optional changes with trade-offs, not part of the steps.
    pub options: Vec<Step>,
    /// On a free disk: every file system that can be requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filesystems: Vec<FilesystemChoice>,
}

/// A file system for a free disk, with its advantages and trade-offs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FilesystemChoice {
    /// `ext4`, `xfs`, `btrfs` or `zfs`.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub filesystem: NewFilesystem,
    /// Whether it is the recommended one.
    pub first: bool,
    /// Its rank by published figures; `None` if no rule offers it.
    #[serde(skip)]
    pub rank: Option<u32>,
    /// Whether the user requested it. The plan then creates it, unless it is refused.
    pub wanted: bool,
    /// The title of its rule, if a rule offers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its trade-off.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// Why it cannot be created here; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Step {
    /// The subject to change: the target itself, its mount, a device, a boot line, a cluster.
    pub subject: Subject,
    /// Its level.
    pub level: Level,
    /// How certain the rule is.
    pub confidence: Confidence,
    /// The basis of the advice.
    pub basis: Basis,
    /// The rules that advise it.
    pub rules: Vec<String>,
    /// One line: the reason.
    pub title: String,
    /// The change and its commands. For option lists, the changes of several rules are joined.
    pub advice: Advice,
    /// The value of the setting afterwards, such as the complete option string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// For a choice among several: the others, best first.
    pub alternatives: Vec<Alternative>,
}

/// A choice that ranks after the recommended one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Alternative {
    /// Its rank; if equal to that of the recommended one, there is no meaningful difference.
    pub rank: u32,
    /// The value of the setting.
    pub value: String,
    /// The rule that offers it.
    pub rule: String,
    /// One line: the reason.
    pub title: String,
    /// Its trade-off.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
}

/// Two findings that require different values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Conflict {
    /// The subject of the setting.
    pub subject: Subject,
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub setting: &'static Setting,
    /// The advice that is followed: its rule and its value.
    pub followed: String,
    /// The advice that is not followed.
    pub overruled: String,
    /// Why the first takes precedence.
    pub because: String,
}

/// Advice that was withheld.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Withheld {
    /// The rule that gave the advice.
    pub rule: String,
    /// The subject of the advice.
    pub subject: Subject,
    /// The setting and its advised value.
    pub advice: String,
    /// The reason: what would refuse it, or what is unknown.
    pub because: String,
}
