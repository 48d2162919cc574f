//! The report as a value; field names are those of the JSON. New fields keep the schema version; a
//! change of meaning increments [`SCHEMA_VERSION`].

pub mod answer;
pub mod difference;
pub mod latency {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use walwise_measure::measure::Method;
    use walwise_model::facts::Subject;

    /// The latest measured commit latency of a target.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct CommitLatency {
        pub target: Subject,
        /// Start of the measurement, RFC 3339.
        pub when: String,
        /// The layers below the target at that time. The latency is dropped if the present layers
        /// differ.
        pub layers: Vec<String>,
        /// The sync methods available to the server, measured with one-page commits.
        pub methods: Vec<MethodLatency>,
    }

    /// The latency of paced commits with one method, in microseconds.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct MethodLatency {
        pub method: Method,
        /// True for one method at most: the method in force, or else the best one.
        pub chosen: bool,
        /// Median of paced commits.
        pub median_us: f64,
        /// The low end of the 95 % interval of the median; `high_us` is the high end.
        pub low_us: f64,
        pub high_us: f64,
        /// Present only with 1,000 commits or more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub p99_us: Option<f64>,
    }
}
pub mod upgrade;
pub mod what_if {
    use schemars::JsonSchema;
    use serde::Serialize;

    use super::difference::{Difference, FactChange};
    use walwise_model::facts::{Reading, Subject, Value};

    /// The assumptions and the resulting differences.
    #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
    pub struct WhatIf {
        /// One entry per assumed fact, with the real reading.
        pub assumed: Vec<FactAssumption>,
        /// The differences between two reports: `before` is the real host, `now` the host under the
        /// assumptions.
        pub difference: Difference,
        /// Plan steps that the assumptions add or remove.
        pub steps: Vec<StepChange>,
        /// Advice that can lose data. It would be offered if the assumed facts had been read and
        /// measured on this host.
        pub would_be_offered: Vec<WithheldRiskyAdvice>,
    }

    impl WhatIf {
        /// The assumed facts themselves do not count as an effect.
        pub(crate) fn has_no_effect(&self) -> bool {
            let found = &self.difference;
            found.gone.is_empty()
                && found.appeared.is_empty()
                && found.verdicts.is_empty()
                && found.findings.is_empty()
                && found.facts.iter().all(|change| self.assumes_fact(change))
                && self.steps.is_empty()
                && self.would_be_offered.is_empty()
        }

        pub(crate) fn assumes_fact(&self, change: &FactChange) -> bool {
            self.assumed
                .iter()
                .any(|one| one.subject == change.subject && one.fact == change.fact)
        }
    }

    /// A fact with its assumed value and the reading on the real host.
    #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
    pub struct FactAssumption {
        /// The subject that has the fact, such as a device, a mount or a server.
        pub subject: Subject,
        /// The name of the fact, for example `device.write_cache`.
        pub fact: String,
        /// The value that replaces the real one under the assumptions.
        pub value: Value,
        /// The reading on the real host.
        pub really: Reading<Value>,
    }

    impl FactAssumption {
        /// `stated` if the fact is unknown on the real host, else `assumed`. Neither allows advice
        /// that can lose data.
        pub(crate) fn assumed_or_stated_word(&self) -> &'static str {
            if self.really.is_known() {
                "assumed"
            } else {
                "stated"
            }
        }
    }

    /// A step of only one of the two plans, the real or the assumed one.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    pub struct StepChange {
        /// The target whose plan gains or loses the step.
        pub target: Subject,
        /// True if the assumptions add the step, false if they remove it.
        pub comes: bool,
        /// The subject that the step would change.
        pub subject: Subject,
        /// The setting and its change, such as `mount.options: remove nobarrier`.
        pub advice: String,
    }

    /// Advice that can lose data. It is withheld, because its facts are only assumed.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    pub struct WithheldRiskyAdvice {
        /// The id of the rule that would give the advice.
        pub rule: String,
        /// The subject that the advice would change.
        pub subject: Subject,
        /// The setting and the advised change, such as `mount.options: remove nobarrier`.
        pub advice: String,
        /// The disadvantage of the advice, in words.
        #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
        pub tradeoff: Option<String>,
    }
}

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::device_content::DeviceContent;
use answer::{Answer, Topic};
use difference::Difference;
use latency::CommitLatency;
use upgrade::Upgrade;
use walwise_judge::durability::{Verdict, VerdictKind};
use walwise_judge::rules::{
    Advice, AdviceBasis, Confidence, Finding, Level, Outcome, Pack, PublishedMeasurement,
    RuleOutcomeCounts,
};
use walwise_measure::measure::Measurement;
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog::target::TargetKind;
use walwise_model::facts::{Choice, FactRow, FactSet, Note, ServerArea, Subject};
use walwise_model::settings::{NewFilesystem, Setting};
use what_if::WhatIf;

/// The `schema` number of JSON reports and recommendations.
pub const SCHEMA_VERSION: u32 = 4;

/// The oldest schema that `--baseline` and `walwise show` read.
pub const OLDEST_SCHEMA: u32 = 3;

/// A report. Targets, stacks, verdicts, plans and facts are sorted by subject.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The schema version of this document.
    pub schema: u32,
    /// The walwise version that made the report.
    pub tool: ToolSummary,
    /// The version and fingerprint of the rules and tables used.
    pub pack: Pack,
    /// Time of the report, RFC 3339 in UTC.
    pub when: String,
    /// TARGET as given on the command line; absent if everything was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The server assumed for targets without one.
    #[serde(skip)]
    #[schemars(skip)]
    pub engine: ServerArea,
    /// Name, distribution and kernel of the host, and how the facts were collected.
    pub host: HostSummary,
    /// The checked directories and devices.
    pub targets: Vec<TargetSummary>,
    /// The layers below each target, from file system to disk.
    pub stacks: Vec<Stack>,
    /// The durability verdict of each target that is a directory.
    pub verdicts: Vec<Verdict>,
    /// Measurements of commit latency in this run, by target.
    pub probes: Vec<ProbeResult>,
    /// The latest commit latency of each target, from this run or from an earlier saved report.
    #[serde(
        rename = "commit_latencies",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub prices: Vec<CommitLatency>,
    /// Findings for each rule and subject where the rule applies or is undecided, the worst first.
    /// The JSON has two lists.
    #[serde(flatten, serialize_with = "serialize_split_by_outcome")]
    #[schemars(flatten, with = "FindingLists")]
    pub findings: Vec<Finding>,
    /// The number of results of each rule, including rules that do not apply here.
    pub rules: Vec<RuleOutcomeCounts>,
    /// One plan per target, with all recommended steps.
    pub plans: Vec<Plan>,
    /// Pairs of findings that require different values of one setting.
    pub conflicts: Vec<Conflict>,
    /// Advice that the report does not offer, because a value would be refused or a fact is
    /// unknown.
    pub withheld: Vec<WithheldAdvice>,
    /// The differences from the report given with `--baseline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Difference>,
    /// Notes about the whole run.
    #[schemars(with = "Vec<String>")]
    pub warnings: Vec<Note>,
    /// The differences under assumed facts. All other parts of the report describe the real host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// The changes that the next kernel brings; only in reports of `walwise upgrade`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
    /// Every collected, derived and measured fact.
    #[schemars(with = "Vec<FactRow<'static>>")]
    pub facts: FactSet,
}

/// The two lists of findings in the JSON.
#[derive(Serialize, JsonSchema)]
struct FindingLists<'a> {
    /// Findings whose rule applies, the worst first.
    findings: Vec<&'a Finding>,
    /// Findings whose rule lacks facts, the worst first; each title is a question.
    undecided: Vec<&'a Finding>,
}

fn serialize_split_by_outcome<S: Serializer>(all: &[Finding], out: S) -> Result<S::Ok, S::Error> {
    let (undecided, findings) = all
        .iter()
        .partition(|finding| matches!(finding.outcome, Outcome::Undecided { .. }));
    FindingLists {
        findings,
        undecided,
    }
    .serialize(out)
}

impl Report {
    /// The unknown facts that might be read on this host. Facts that cannot exist here are left
    /// out; for example, some disks have no model name.
    pub fn readable_unknown_facts(&self) -> impl Iterator<Item = FactRow<'_>> {
        self.facts
            .rows()
            .filter(|row| row.reading.is_fillable_gap())
    }

    pub fn studies_behind_rule(&self, rule: &str) -> &[PublishedMeasurement] {
        self.rules
            .iter()
            .find(|tally| tally.rule == rule)
            .map_or(&[], |tally| &tally.evidence)
    }

    /// The subjects of all targets.
    pub(crate) fn target_subjects(&self) -> BTreeSet<&Subject> {
        let targets = self.targets.iter();
        targets.flat_map(|target| &target.subjects).collect()
    }

    pub fn verdict(&self, target: &Subject) -> Option<&Verdict> {
        find_in_sorted(&self.verdicts, |verdict| verdict.target.cmp(target))
    }

    pub fn stack(&self, target: &Subject) -> Option<&Stack> {
        find_in_sorted(&self.stacks, |stack| stack.target.cmp(target))
    }

    pub fn plan(&self, target: &Subject) -> Option<&Plan> {
        find_in_sorted(&self.plans, |plan| plan.target.cmp(target))
    }

    /// The steps of the target's plan; empty without a plan.
    pub(crate) fn steps(&self, target: &Subject) -> &[Step] {
        self.plan(target).map_or(&[], |plan| &plan.steps)
    }

    pub fn measurement(&self, target: &Subject) -> Option<&Measurement> {
        let mut probes = self.probes.iter();
        let probe = probes.find(|probe| probe.target == *target)?;
        Some(&probe.measurement)
    }

    /// The command that checks the target again, with the options of this run. `None` if a name
    /// cannot be quoted.
    pub fn check_command(&self, target: &Subject, suffix: &'static str) -> Option<ShellCommand> {
        let check = ShellCommand::walwise_check_command(target.name(), suffix)?;
        self.host.append_run_options_to_command(check)
    }
}

/// Finds the item for which `place` returns `Equal`. The list must be sorted in the order of
/// `place`.
pub fn find_in_sorted<T>(list: &[T], place: impl Fn(&T) -> Ordering) -> Option<&T> {
    list.get(list.binary_search_by(place).ok()?)
}

/// The walwise version that made the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolSummary {
    /// Always `walwise`.
    pub name: String,
    pub version: String,
    /// The number of rules evaluated.
    pub rules: usize,
}

/// Name, distribution and kernel of the host, and how the facts were collected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostSummary {
    /// The host name, or `unknown`.
    pub name: String,
    /// Distribution, or `unknown`.
    pub os: String,
    /// Kernel release, or `unknown`.
    pub kernel: String,
    /// Where walwise ran: `host`, `guest`, `container`, or `unknown`.
    pub seen_by: String,
    /// True if facts were collected as root; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// True if the facts are from the host itself, false for a capture.
    pub live: bool,
    /// Options of this run that are repeated in printed commands.
    #[serde(skip)]
    pub options: Vec<RunOption>,
}

/// A command-line option with its value, if there is one.
pub type RunOption = (&'static str, Option<String>);

impl HostSummary {
    /// `None` if a value cannot be quoted.
    pub(crate) fn append_run_options_to_command(
        &self,
        command: ShellCommand,
    ) -> Option<ShellCommand> {
        self.options
            .iter()
            .try_fold(command, |command, (option, value)| {
                let command = command.append_literal(" ").append_literal(option);
                match value {
                    Some(value) => command.append_literal(" ").append_quoted_name(value),
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

/// A directory or device that walwise advises on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TargetSummary {
    /// The identity of the target: the word `target` and a path.
    pub target: Subject,
    /// The display name: the server that uses the target, or the path.
    pub title: String,
    /// `directory`, `created` (a directory that does not exist yet) or `device`.
    #[serde(serialize_with = "serialize_choice")]
    #[schemars(with = "String")]
    pub kind: TargetKind,
    /// The contents of the device; absent for directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<DeviceContent>,
    /// What database servers store on the target: `data`, `wal`, `tablespace`, `redo`, `binlog`,
    /// `doublewrite`, `undo`. Empty when unused, absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The directories of the target's roles. All share the target's verdict, because they are on
    /// one file system.
    pub directories: Vec<DirectoryRow>,
    /// The database server that uses the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Subject>,
    /// All subjects related to the target: the target itself, its stack, its boot mounts and its
    /// server.
    pub subjects: Vec<Subject>,
    /// The rank among several free disks, 1 for the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The reason for the rank; empty without a rank.
    pub rank_because: String,
    /// For each setting, the value in force and the recommended value.
    pub answers: BTreeMap<Topic, Answer>,
}

impl TargetSummary {
    pub(crate) fn is_free_disk(&self) -> bool {
        self.content
            .as_ref()
            .is_some_and(DeviceContent::may_get_new_file_system)
    }
}

/// A directory of a database server on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirectoryRow {
    /// The use of the directory, one of the target's roles.
    pub role: String,
    pub path: String,
    /// The target's durability verdict, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictKind>,
}

/// The stack below a target, as a graph: rows in display order, each with the layers directly
/// below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stack {
    /// The directory or device on top of the stack.
    pub target: Subject,
    /// The layers in display order, the target first.
    pub layers: Vec<LayerRow>,
    /// The number of layers that the report omits because the stack is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
}

/// A mount or device in a stack, as one row of the display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LayerRow {
    /// The mount or device of this layer.
    pub subject: Subject,
    /// The distance below the target. A layer with two parents is listed under the first one.
    pub depth: u32,
    /// A description, for example `ext4 rw,relatime`, `RAID1, 2 of 2 disks` or `Samsung SSD 870 EVO`.
    #[serde(rename = "text")]
    pub says: String,
    /// A remark on the layer's cache; can be empty.
    pub cache: String,
    /// True if this layer decides the verdict.
    pub weakest: bool,
    /// Every layer directly below, including layers that are listed under another parent.
    pub below: Vec<Subject>,
}

/// A measurement of commit latency on one target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbeResult {
    /// The measured directory.
    pub target: Subject,
    pub measurement: Measurement,
}

/// The steps for one target, each setting at most once. On a free disk the first step creates the
/// file system. On an existing file system, steps that need a new one come last.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plan {
    /// The directory or device that the steps are for.
    pub target: Subject,
    /// Changes in order of application, then settings to keep.
    pub steps: Vec<Step>,
    /// Optional changes with trade-offs, not part of the steps.
    pub options: Vec<Step>,
    /// File systems that can be requested; only for a free disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filesystems: Vec<FilesystemChoice>,
}

/// A file system for a free disk, with advantages and trade-offs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FilesystemChoice {
    /// `ext4`, `xfs`, `btrfs` or `zfs`.
    #[schemars(with = "String")]
    pub filesystem: NewFilesystem,
    /// True for the recommended file system.
    pub first: bool,
    /// The rank by published figures; `None` if no rule offers the file system.
    #[serde(skip)]
    pub rank: Option<u32>,
    /// True if the user requested the file system. The plan then creates it, unless it is refused.
    pub wanted: bool,
    /// The title of the rule that offers the file system, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The disadvantage of the file system, in words.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub tradeoff: Option<String>,
    /// The reason why the file system cannot be created here; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// One step of a plan: a setting to change or to keep.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// The target, mount, device, boot line or server that the step changes.
    pub subject: Subject,
    /// The highest level of the rules behind the step.
    pub level: Level,
    /// The certainty of the first rule behind the step.
    pub confidence: Confidence,
    /// The basis of the advice: default, documented or measured.
    pub basis: AdviceBasis,
    /// Ids of the rules that advise the step.
    pub rules: Vec<String>,
    /// The reason, in one line.
    pub title: String,
    /// The change and its commands. In option lists, the changes of several rules are joined.
    pub advice: Advice,
    /// The value of the setting afterwards, such as the complete option string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Other choices for the setting, best first.
    pub alternatives: Vec<Alternative>,
}

/// A choice that ranks below the recommended one, or equal to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Alternative {
    /// The rank of the choice. An equal rank means no meaningful difference to the recommended
    /// choice.
    pub rank: u32,
    /// The value that this choice gives the setting.
    pub value: String,
    /// The id of the rule that offers the choice.
    pub rule: String,
    /// The reason, in one line.
    pub title: String,
    /// The disadvantage of the choice, in words.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub tradeoff: Option<String>,
}

/// Two findings that require different values of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conflict {
    /// The host, mount, device or server to which the setting belongs.
    pub subject: Subject,
    #[schemars(with = "String")]
    pub setting: &'static Setting,
    /// The followed advice: rule id and value.
    pub followed: String,
    /// The rejected advice: rule id and value.
    pub overruled: String,
    /// The reason why the followed advice takes precedence.
    pub because: String,
}

/// Advice that would be refused or lacks a fact, and is therefore only listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WithheldAdvice {
    /// The id of the rule that gave the advice.
    pub rule: String,
    /// The subject that the advice would have changed.
    pub subject: Subject,
    /// The setting and the advised change, such as `mount.options: remove nobarrier`.
    pub advice: String,
    /// The reason: the kernel, tool or server that refuses the value, or the fact that is unknown.
    pub because: String,
}
