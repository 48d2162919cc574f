//! The differences between two reports, as a part of the later one: facts, findings, verdicts,
//! commit latency. Made in [`crate::difference`].

use serde::Serialize;

use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::Level;
use walwise_measure::measure::{Estimate, Method, Shift, ShiftDirection};
use walwise_model::facts::{KeyInfo, Nature, Subject, UnknownReason, Value};

/// The differences. Subjects have their present names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Difference {
    /// The earlier report.
    pub before: Made,
    /// Whether both are of the same host, judged by its name.
    pub same_host: bool,
    /// Limits of the comparison: other rules, privileges or targets, parts that could not be read.
    pub remarks: Vec<String>,
    /// Renamed subjects.
    pub renamed: Vec<Renamed>,
    /// Subjects that no longer exist.
    pub gone: Vec<Subject>,
    /// New subjects.
    pub appeared: Vec<Subject>,
    /// Verdicts that changed.
    pub verdicts: Vec<VerdictChange>,
    /// Every finding of either report, each once.
    pub findings: Vec<FindingChange>,
    /// Changed facts of subjects in both reports.
    pub facts: Vec<FactChange>,
    /// Commit latency, where both reports measured it.
    pub probes: Vec<ProbeShift>,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && !self.has_lasting_changes()
    }

    /// Whether anything differs besides values that drift constantly, such as free space.
    pub fn has_lasting_changes(&self) -> bool {
        let things = [&self.gone, &self.appeared]
            .into_iter()
            .any(|subjects| !subjects.is_empty());
        things
            || !self.renamed.is_empty()
            || !self.verdicts.is_empty()
            || self
                .facts
                .iter()
                .any(|change| change.nature != Nature::Drifting)
            || self
                .findings
                .iter()
                .any(|finding| finding.class != Class::Same)
            || self.probes.iter().any(ProbeShift::is_significant)
    }
}

/// When, where and by which version a report was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Made {
    /// When, RFC 3339 in UTC.
    pub when: String,
    /// Version of walwise.
    pub walwise: String,
    /// SHA-256 of the rules and tables it was judged by; empty if unknown.
    pub pack: String,
    /// Name of the host, or `unknown`.
    pub host: String,
    /// Distribution, or `unknown`.
    pub os: String,
    /// Kernel release, or `unknown`.
    pub kernel: String,
    /// Whether facts were collected as root; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// Whether it is of the host itself (`true`) or of a capture.
    pub live: bool,
    /// The requested target; absent when everything found was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

/// A subject with two names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Renamed {
    /// Its name before.
    pub before: Subject,
    /// Its name now.
    pub now: Subject,
}

/// A verdict that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct VerdictChange {
    /// The target.
    pub target: Subject,
    /// The earlier verdict.
    pub before: VerdictKind,
    /// The present verdict.
    pub now: VerdictKind,
}

/// A fact that changed. A side is absent if that report does not have the fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FactChange {
    /// The subject of the fact.
    pub subject: Subject,
    /// The name of the fact.
    pub fact: &'static str,
    /// Whether it lasts, drifts, or follows from other facts.
    pub nature: Nature,
    /// The earlier state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<KeptFact>,
    /// The present state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<KeptFact>,
}

impl FactChange {
    /// Both values, where both are known.
    pub fn values(&self) -> Option<(&Shown, &Shown)> {
        self.before
            .as_ref()?
            .value()
            .zip(self.now.as_ref()?.value())
    }
}

/// The state of a fact in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum KeptFact {
    /// It was known.
    Known {
        /// Its value as displayed.
        value: Shown,
    },
    /// It was unknown.
    Unknown {
        /// The kind of reason.
        why: UnknownReason,
    },
}

impl KeptFact {
    /// The value, when known.
    pub fn value(&self) -> Option<&Shown> {
        match self {
            Self::Known { value } => Some(value),
            Self::Unknown { .. } => None,
        }
    }
}

/// A value as displayed: rounded, with its unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Shown {
    /// One value.
    Text(String),
    /// The items of a list.
    Words(Vec<String>),
}

impl Shown {
    pub fn from_value(info: &KeyInfo, value: &Value) -> Self {
        match value {
            Value::List(words) => Self::Words(words.clone()),
            value => Self::Text(info.format_value(value)),
        }
    }

    /// The value in one line.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Words(words) if words.is_empty() => "none".to_owned(),
            Self::Words(words) => words.join(","),
        }
    }

    /// Whether both are equal; lists are compared as sets, because their order is that of the
    /// source.
    pub fn is_same(&self, other: &Self) -> bool {
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

/// A finding of either report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FindingChange {
    /// The rule.
    pub rule: String,
    /// The subject of the finding.
    pub subject: Subject,
    /// What happened to it.
    pub class: Class,
    /// The earlier finding; absent when it did not apply or its subject did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<KeptFinding>,
    /// The present finding; absent when it does not apply or its subject does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<KeptFinding>,
}

impl FindingChange {
    /// The present state of the finding, else the earlier one.
    pub fn latest(&self) -> Option<&KeptFinding> {
        self.now.as_ref().or(self.before.as_ref())
    }

    /// Whether it applies now and did not before, or has a higher level than before.
    pub fn is_worse(&self) -> bool {
        let applied =
            |finding: &Option<KeptFinding>| finding.as_ref().filter(|f| f.applies).map(|f| f.level);
        applied(&self.now) > applied(&self.before)
    }

    /// Whether it applied before and does not now, although its rule and its subject still exist.
    pub fn is_fixed(&self) -> bool {
        let applied = |finding: &Option<KeptFinding>| finding.as_ref().is_some_and(|f| f.applies);
        matches!(self.class, Class::Fixed) && applied(&self.before) && !applied(&self.now)
    }

    /// The present level, else the earlier one.
    pub fn level(&self) -> Level {
        self.latest().map_or(Level::Keep, |finding| finding.level)
    }
}

/// What happened to a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It applies now, and did not before.
    New,
    /// It applied before, and does not now.
    Fixed,
    /// It applies as before, or is undecided as before.
    Same,
    /// It applies with another level than before.
    Level,
    /// It was undecided, and now applies or does not.
    Decided,
    /// It is undecided now, and was not before.
    Undecided,
    /// Its rule or subject did not exist before.
    Appeared,
    /// Its rule or subject no longer exists.
    Gone,
}

/// The compared parts of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct KeptFinding {
    /// Whether it applies; otherwise it is undecided.
    pub applies: bool,
    /// Its level.
    pub level: Level,
    pub title: String,
}

/// The shift of commit latency on one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct ProbeShift {
    /// The target.
    pub target: Subject,
    /// When it was measured earlier, RFC 3339.
    pub before: String,
    /// The directory of the earlier measurement.
    pub directory_before: String,
    /// The directory of the present measurement.
    pub directory_now: String,
    /// The method that the sentence is about: the one in force, or the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// The rows that both reports measured.
    pub rows: Vec<RowShift>,
    /// Reasons not to compare the figures; with any, no shift is reported.
    pub doubts: Vec<String>,
    /// Changed facts of the host or of the target's stack that can affect latency; only after a
    /// significant shift.
    pub likely_causes: Vec<Cause>,
}

impl ProbeShift {
    /// The row that the sentence is about.
    pub fn main_row(&self) -> Option<&RowShift> {
        self.rows
            .iter()
            .find(|row| Some(row.method) == self.method && row.pages == 1)
    }

    /// How that row moved; `None` if unknown or not comparable.
    pub fn main_shift(&self) -> Option<ShiftDirection> {
        let shift = self.main_row()?.shift.as_ref()?;
        self.doubts.is_empty().then_some(shift.moved)
    }

    pub fn is_significant(&self) -> bool {
        self.main_shift()
            .is_some_and(|moved| moved != ShiftDirection::Not)
    }
}

/// One method with one write size, before and now. Times are microseconds per commit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct RowShift {
    /// The method.
    pub method: Method,
    /// 8 kB pages written at once per commit.
    pub pages: u32,
    /// Whether a server commits like this.
    pub as_server: bool,
    /// Median before.
    pub before_us: Estimate,
    /// Median now.
    pub now_us: Estimate,
    /// How it moved; absent with too few rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
}

/// A changed fact that can affect commit latency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Cause {
    /// The subject of the fact.
    pub subject: Subject,
    /// The name of the fact.
    pub fact: &'static str,
}
