//! What is different between two reports, as a part of the later one: facts, findings, verdicts,
//! and the price of a commit. It is found in [`crate::difference`].

use serde::Serialize;

use walwise_judge::durability::Standing;
use walwise_judge::rules::Level;
use walwise_measure::measure::{Estimate, Method, Moved, Shift};
use walwise_model::facts::{KeyInfo, Nature, Subject, Value, Why};

/// What is different. Subjects have the names of now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Difference {
    /// The report of before.
    pub before: Made,
    /// Whether it is of the same host, as far as their names tell.
    pub same_host: bool,
    /// What limits the comparison: other rules, other privileges, another target, parts that could
    /// not be read.
    pub remarks: Vec<String>,
    /// What has another name now.
    pub renamed: Vec<Renamed>,
    /// What is no longer there.
    pub gone: Vec<Subject>,
    /// What is new.
    pub appeared: Vec<Subject>,
    /// Verdicts that are others.
    pub verdicts: Vec<VerdictChange>,
    /// Every finding of either report, each once.
    pub findings: Vec<FindingChange>,
    /// Facts that changed, of what is in both reports.
    pub facts: Vec<FactChange>,
    /// What a commit costs, where both reports measured it.
    pub probes: Vec<ProbeShift>,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && !self.has_lasting()
    }

    /// Whether anything differs besides values that drift by themselves.
    pub fn has_lasting(&self) -> bool {
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
            || self.probes.iter().any(ProbeShift::has_moved)
    }
}

/// When, where and by what a report was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Made {
    /// When, RFC 3339 in UTC.
    pub when: String,
    /// Version of walwise.
    pub walwise: String,
    /// SHA-256 over the rules and tables it was judged by; empty when not known.
    pub pack: String,
    /// Name of the host, or `unknown`.
    pub host: String,
    /// Distribution, or `unknown`.
    pub os: String,
    /// Kernel release, or `unknown`.
    pub kernel: String,
    /// Whether root looked; absent when not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// Whether it is of the machine itself (`true`) or of a capture.
    pub live: bool,
    /// The target that was asked for; absent when everything found was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

/// A thing under two names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Renamed {
    /// Its name before.
    pub before: Subject,
    /// Its name now.
    pub now: Subject,
}

/// A verdict that is another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct VerdictChange {
    /// The target.
    pub target: Subject,
    /// What it was.
    pub before: Standing,
    /// What it is.
    pub now: Standing,
}

/// A fact that changed. Absent is what nobody had read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FactChange {
    /// What it is about.
    pub subject: Subject,
    /// Its name.
    pub fact: &'static str,
    /// Whether it stays by itself, moves by itself, or follows from other facts.
    pub nature: Nature,
    /// What was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<KeptFact>,
    /// What is known.
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

/// What was known of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum KeptFact {
    /// It was known.
    Known {
        /// Its value as it is shown.
        value: Shown,
    },
    /// It was not.
    Unknown {
        /// The kind of reason.
        why: Why,
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

/// A value as it is shown: with its unit, and rounded as people read it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Shown {
    /// One value.
    Text(String),
    /// The words of a list.
    Words(Vec<String>),
}

impl Shown {
    /// A value of a fact as it is shown.
    pub fn from_value(info: &KeyInfo, value: &Value) -> Self {
        match value {
            Value::List(words) => Self::Words(words.clone()),
            value => Self::Text(info.show(value)),
        }
    }

    /// In one line.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Words(words) if words.is_empty() => "none".to_owned(),
            Self::Words(words) => words.join(","),
        }
    }

    /// Whether both are the same: for a list its set of words, because the order is that of the
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
    /// On what.
    pub subject: Subject,
    /// What became of it.
    pub class: Class,
    /// What it was; absent when it did not apply or was not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<KeptFinding>,
    /// What it is; absent when it does not apply or is not there.
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

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It applies and did not.
    New,
    /// It applied and does not any more.
    Fixed,
    /// It is as it was: applies, or is undecided.
    Same,
    /// It applies, and applied with another level.
    Level,
    /// It was undecided, and now applies or does not.
    Decided,
    /// It is undecided, and was not.
    Undecided,
    /// Its rule or its subject was not there before.
    Appeared,
    /// Its rule or its subject is not there now.
    Gone,
}

/// What is compared of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct KeptFinding {
    /// Whether it applied; it was undecided otherwise.
    pub applies: bool,
    /// How much it matters.
    pub level: Level,
    /// One line.
    pub title: String,
}

/// How the price of a commit moved on one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct ProbeShift {
    /// The target.
    pub target: Subject,
    /// When it was measured before, RFC 3339.
    pub before: String,
    /// In which directory it was measured before.
    pub directory_before: String,
    /// In which directory it was measured now.
    pub directory_now: String,
    /// The method whose price the sentence is about: the one in force, or the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Every row that both measured.
    pub rows: Vec<RowShift>,
    /// What speaks against comparing the figures; they are then not judged.
    pub doubts: Vec<String>,
    /// Changed facts of the host, or of what is beneath the target, that can move the price; only
    /// where it moved.
    pub likely_causes: Vec<Cause>,
}

impl ProbeShift {
    /// The row that the sentence is about.
    pub fn main(&self) -> Option<&RowShift> {
        self.rows
            .iter()
            .find(|row| Some(row.method) == self.method && row.pages == 1)
    }

    /// The shift of the price; `None` where it is unknown.
    pub fn moved(&self) -> Option<Moved> {
        let shift = self.main()?.shift.as_ref()?;
        self.doubts.is_empty().then_some(shift.moved)
    }

    /// Whether the price moved significantly.
    pub fn has_moved(&self) -> bool {
        self.moved().is_some_and(|moved| moved != Moved::Not)
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
    /// Whether a server would do it like that.
    pub as_server: bool,
    /// Median before.
    pub before_us: Estimate,
    /// Median now.
    pub now_us: Estimate,
    /// How it moved; absent when there were too few rounds to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
}

/// A changed fact that can move the price of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Cause {
    /// What it is about.
    pub subject: Subject,
    /// Its name.
    pub fact: &'static str,
}
