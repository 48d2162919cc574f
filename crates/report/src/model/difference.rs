use schemars::JsonSchema;
use serde::Serialize;

use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::Level;
use walwise_measure::measure::{Estimate, LatencyShift, Method, ShiftDirection};
use walwise_model::facts::{FactStability, KeyInfo, Subject, UnknownReason, Value};

/// The differences between an earlier report and this one. Subjects have their present names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Time, host and versions of the earlier report.
    pub before: ReportOrigin,
    /// True if both reports have the same host name, or if either name is unknown.
    pub same_host: bool,
    /// Limits of the comparison: different rules, privileges or targets, or parts that could not be
    /// read.
    pub remarks: Vec<String>,
    /// Subjects that both reports contain under different names.
    pub renamed: Vec<RenamedSubject>,
    /// Subjects that no longer exist.
    pub gone: Vec<Subject>,
    /// Subjects that did not exist before.
    pub appeared: Vec<Subject>,
    /// Verdicts that differ between the reports, by target.
    pub verdicts: Vec<VerdictChange>,
    /// Every finding of either report, exactly once.
    pub findings: Vec<FindingChange>,
    /// Changed facts of subjects in both reports.
    pub facts: Vec<FactChange>,
    /// Commit latency of targets that both reports measured.
    pub probes: Vec<ProbeLatencyShift>,
    /// Known kernel changes that can explain slower commits: they apply now and did not
    /// apply in the earlier report.
    pub known_changes: Vec<KernelUpgradeChange>,
}

/// A known kernel change that can explain slower commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelUpgradeChange {
    /// The id of the rule, for example `change.jbd2-debug`.
    pub rule: String,
    pub title: String,
    pub because: String,
}

impl Difference {
    /// True if the commits of a target are slower by more than the noise of the measurements.
    pub fn has_slower_commits(&self) -> bool {
        self.probes
            .iter()
            .any(|probe| probe.main_shift_direction() == Some(ShiftDirection::Slower))
    }

    /// Removes changes of subjects that `is_kept` rejects; renames and verdicts stay.
    pub fn retain_changes_of_subjects(&mut self, is_kept: impl Fn(&Subject) -> bool) {
        self.gone.retain(&is_kept);
        self.appeared.retain(&is_kept);
        self.facts.retain(|change| is_kept(&change.subject));
        self.findings.retain(|change| is_kept(&change.subject));
    }

    /// Facts that drift constantly, such as free space, do not count.
    pub fn has_changes_besides_drift(&self) -> bool {
        !self.gone.is_empty()
            || !self.appeared.is_empty()
            || !self.renamed.is_empty()
            || !self.verdicts.is_empty()
            || self
                .facts
                .iter()
                .any(|change| change.nature != FactStability::Drifting)
            || self
                .findings
                .iter()
                .any(|finding| finding.class != FindingChangeKind::Same)
            || self.probes.iter().any(ProbeLatencyShift::is_significant)
    }
}

/// Time, host and walwise version of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportOrigin {
    /// Time of the report, RFC 3339 in UTC.
    pub when: String,
    /// Version of walwise that made the report.
    pub walwise: String,
    /// SHA-256 of the rules and tables used; empty if unknown.
    pub pack: String,
    /// Name of the host, or `unknown`.
    pub host: String,
    /// Distribution, or `unknown`.
    pub os: String,
    /// Kernel release, or `unknown`.
    pub kernel: String,
    /// True if facts were collected as root; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// True if the facts are from the host itself, false for a capture.
    pub live: bool,
    /// TARGET as given on the command line; absent if everything was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

/// A subject with different names in the two reports, for example a disk after a reboot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenamedSubject {
    /// The name in the earlier report.
    pub before: Subject,
    /// The name in this report.
    pub now: Subject,
}

/// A target that the two reports judge differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictChange {
    /// The directory that was judged.
    pub target: Subject,
    /// The verdict in the earlier report.
    pub before: VerdictKind,
    /// The verdict in this report.
    pub now: VerdictKind,
}

/// A fact that changed. `before` or `now` is absent if that report lacks the fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FactChange {
    /// The subject that has the fact, such as a device, a mount or a server.
    pub subject: Subject,
    /// The name of the fact, for example `device.scheduler`.
    pub fact: &'static str,
    /// Stability of the fact: lasting, drifting, or derived from other facts.
    pub nature: FactStability,
    /// The value in the earlier report, or the reason why the value was unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<FactState>,
    /// The value in this report, or the reason why the value is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<FactState>,
}

impl FactChange {
    /// False for a fact that drifts constantly, is measured, or is derived from others.
    pub fn is_lasting(&self) -> bool {
        match self.nature {
            FactStability::Lasting | FactStability::Identity | FactStability::Assigned => true,
            FactStability::Drifting | FactStability::Concluded | FactStability::Measured => false,
        }
    }

    /// The earlier and the present value; `None` unless both reports have a value.
    pub fn known_value_pair(&self) -> Option<(&DisplayedValue, &DisplayedValue)> {
        self.before
            .as_ref()?
            .known_value()
            .zip(self.now.as_ref()?.known_value())
    }
}

/// A fact in one report: either the displayed value, or the reason why the value is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum FactState {
    /// The report has a value.
    Known {
        /// Rounded, with a unit, as in all formats.
        value: DisplayedValue,
    },
    /// The value was not collected, or could not be read.
    Unknown {
        /// The reason why the value is unknown, such as `absent` or `denied`.
        why: UnknownReason,
    },
}

impl FactState {
    pub fn known_value(&self) -> Option<&DisplayedValue> {
        match self {
            Self::Known { value } => Some(value),
            Self::Unknown { .. } => None,
        }
    }
}

/// A value as displayed: rounded, with a unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DisplayedValue {
    /// The value of a fact that is not a list.
    Text(String),
    /// The items of a list, in the order of the source.
    Words(Vec<String>),
}

impl DisplayedValue {
    pub fn from_value(info: &KeyInfo, value: &Value) -> Self {
        match value {
            Value::List(words) => Self::Words(words.clone()),
            value => Self::Text(info.format_value(value)),
        }
    }

    pub fn displayed_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Words(words) if words.is_empty() => "none".to_owned(),
            Self::Words(words) => words.join(","),
        }
    }

    /// Lists with the same items in another order are equal, because the order depends on the
    /// source.
    pub fn equals_ignoring_order(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Words(a), Self::Words(b)) if a != b => {
                let sorted = |words: &[String]| {
                    let mut words = words.to_vec();
                    words.sort_unstable();
                    words
                };
                sorted(a) == sorted(b)
            }
            _ => self == other,
        }
    }
}

/// A finding of either report, compared with the other report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingChange {
    /// The id of the rule, for example `barrier.ext4-off`.
    pub rule: String,
    /// The host, device, mount, boot line or server that the finding is about.
    pub subject: Subject,
    /// Result of the comparison, such as `new`, `fixed` or `same`.
    pub class: FindingChangeKind,
    /// The earlier finding; absent if the rule did not apply or the subject did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<FindingState>,
    /// The present finding; absent if the rule does not apply or the subject does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<FindingState>,
}

impl FindingChange {
    pub fn latest_finding_state(&self) -> Option<&FindingState> {
        self.now.as_ref().or(self.before.as_ref())
    }

    /// True if the finding applies now and did not apply before, or applied at a lower level.
    pub fn is_finding_worse(&self) -> bool {
        let applied = |finding: &Option<FindingState>| {
            finding.as_ref().filter(|f| f.applies).map(|f| f.level)
        };
        applied(&self.now) > applied(&self.before)
    }

    /// True if the finding applied before and does not now; false if its rule or subject no longer
    /// exists.
    pub fn is_finding_fixed(&self) -> bool {
        self.class == FindingChangeKind::Fixed
    }

    pub fn latest_finding_level(&self) -> Level {
        self.latest_finding_state()
            .map_or(Level::Keep, |finding| finding.level)
    }
}

/// Result of comparing one finding between the two reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingChangeKind {
    /// The finding applies now and did not before.
    New,
    /// The finding applied before and does not now.
    Fixed,
    /// The finding applies as before, or is undecided as before.
    Same,
    /// The finding applies at a different level than before.
    Level,
    /// The finding was undecided before and is decided now.
    Decided,
    /// The finding is undecided now and was not before.
    Undecided,
    /// The rule or the subject did not exist before.
    Appeared,
    /// The rule or the subject no longer exists.
    Gone,
}

/// The parts of a finding that are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingState {
    /// True if the rule applies, false if it is undecided.
    pub applies: bool,
    /// `critical`, `warning`, `advice`, `optional` or `keep`.
    pub level: Level,
    pub title: String,
}

/// The commit latencies of one target in both reports, with likely causes of a difference.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbeLatencyShift {
    /// The directory whose commit latency was measured.
    pub target: Subject,
    /// Start of the earlier measurement, RFC 3339.
    pub before: String,
    /// The measured directory, by its path at that time.
    pub directory_before: String,
    /// The measured directory, by its present path.
    pub directory_now: String,
    /// The method in the summary sentence: the one in force, or else the default one, or else the
    /// first of `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// The methods that both reports measured.
    pub rows: Vec<MethodLatencyShift>,
    /// Reasons not to compare the measurements; if there are any, no shift is reported.
    pub doubts: Vec<String>,
    /// Changed facts of the host or of the target's stack that can affect latency; only for a
    /// significant shift.
    pub likely_causes: Vec<LikelyCause>,
}

impl ProbeLatencyShift {
    /// The row of one-page commits with `self.method`.
    pub fn main_method_shift(&self) -> Option<&MethodLatencyShift> {
        self.rows
            .iter()
            .find(|row| Some(row.method) == self.method && row.pages == 1)
    }

    /// `None` if no shift is known, or if the measurements are not comparable.
    pub fn main_shift_direction(&self) -> Option<ShiftDirection> {
        let shift = self.main_method_shift()?.shift.as_ref()?;
        self.doubts.is_empty().then_some(shift.moved)
    }

    pub fn is_significant(&self) -> bool {
        self.main_shift_direction()
            .is_some_and(|moved| moved != ShiftDirection::Not)
    }
}

/// One method with one write size, before and now. Times are microseconds per commit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MethodLatencyShift {
    /// The calls and open flags that made the commits durable.
    pub method: Method,
    /// The number of 8 kB pages in the single write of a commit.
    pub pages: u32,
    /// True if a server commits with this method.
    pub as_server: bool,
    /// The earlier median with its 95 % interval.
    pub before_us: Estimate,
    /// The present median with its 95 % interval.
    pub now_us: Estimate,
    /// The relative change; absent with too few rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<LatencyShift>,
}

/// A changed fact that can affect commit latency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LikelyCause {
    /// The subject that has the fact, such as a device, a mount or a server.
    pub subject: Subject,
    /// The name of the fact, for example `device.scheduler`.
    pub fact: &'static str,
}
