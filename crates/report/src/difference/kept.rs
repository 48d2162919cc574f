//! A report reduced to the compared parts: facts as shown, findings, verdicts, and the price of a
//! commit.
//!
//! It is made from a report in memory or from its JSON document ([`super::parse`]), with the same
//! result. Times are rounded to the nanosecond, because a figure that went through JSON may come
//! back with its last bit changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::difference::{KeptFact, KeptFinding, Made, Shown};
use crate::model::{LayerRow, Report, Stack};
use walwise_judge::durability::Standing;
use walwise_judge::rules::{Finding, Outcome};
use walwise_measure::measure::{Estimate, LogKind, MeasuredLog, Measurement, Method, MethodResult};
use walwise_model::facts::{FactRow, KeyInfo, Reading, Scope, Subject, Value, catalog};

/// What is compared of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// When, where and by what it was made.
    pub made: Made,
    /// The rules that were evaluated, by id.
    pub rules: BTreeSet<String>,
    pub targets: BTreeMap<Subject, KeptTarget>,
    /// Facts by subject and name.
    pub facts: BTreeMap<Subject, BTreeMap<&'static str, KeptFact>>,
    /// Findings that apply or are undecided, by rule and subject.
    pub findings: BTreeMap<(String, Subject), KeptFinding>,
    /// The durability verdict of each target.
    pub verdicts: BTreeMap<Subject, Standing>,
    /// What was measured, by target.
    pub probes: BTreeMap<Subject, KeptProbe>,
    /// Facts in the document that this version of walwise does not know.
    pub foreign: usize,
    /// Parts of the document that could not be read.
    pub unreadable: usize,
}

/// What is compared of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptTarget {
    /// The name people know it by.
    pub title: String,
    /// Everything whose facts and findings concern it.
    pub subjects: Vec<Subject>,
    pub mount: Option<Subject>,
    /// The first block device beneath it.
    pub device: Option<Subject>,
}

/// What is compared of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptProbe {
    /// When it began, RFC 3339.
    pub when: String,
    /// The directory it was measured in.
    pub directory: String,
    /// The log that was written, as far as figures depend on it.
    pub log: KeptLog,
    /// The rows by method and pages per commit.
    pub rows: BTreeMap<(Method, u32), KeptRow>,
    /// Why its figures are not to be compared with those of another time, if anything speaks
    /// against that.
    pub doubts: Vec<String>,
}

/// Whose log it is decides with what it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLog {
    pub kind: LogKind,
    /// Size of its pages in bytes.
    pub page_bytes: u32,
    /// The method of a redo log in force.
    pub in_force: Option<Method>,
}

impl KeptLog {
    pub(super) fn new(log: &MeasuredLog) -> Self {
        Self {
            kind: log.kind,
            page_bytes: log.page_bytes,
            in_force: log.in_force,
        }
    }

    /// Whether figures of both can be compared.
    pub(super) fn is_like(self, other: Self) -> bool {
        (self.kind, self.page_bytes) == (other.kind, other.page_bytes)
    }
}

impl Default for KeptLog {
    fn default() -> Self {
        Self::new(&MeasuredLog::default())
    }
}

/// What is compared of a method with one write size.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRow {
    /// Whether a server would do it like that.
    pub as_server: bool,
    /// Median of paced commits with its interval, in microseconds.
    pub median_us: Estimate,
    /// Medians of runs of paced commits, in order.
    pub rounds_us: Vec<f64>,
}

impl Kept {
    /// The compared parts of a report.
    pub fn from_report(report: &Report) -> Self {
        let mut kept = Self {
            made: made(report),
            rules: report
                .rules
                .iter()
                .map(|tally| tally.rule.clone())
                .collect(),
            verdicts: report
                .verdicts
                .iter()
                .map(|v| (v.target.clone(), v.standing))
                .collect(),
            findings: report.findings.iter().filter_map(finding).collect(),
            probes: report
                .probes
                .iter()
                .map(|p| (p.target.clone(), probe(&p.measurement)))
                .collect(),
            ..Self::default()
        };
        for target in &report.targets {
            let (title, subjects) = (target.title.clone(), target.subjects.clone());
            kept.targets.entry(target.target.clone()).or_default().title = title;
            kept.targets
                .entry(target.target.clone())
                .or_default()
                .subjects = subjects;
        }
        for Stack { target, layers, .. } in &report.stacks {
            kept.stand(
                target,
                layers.iter().map(|LayerRow { subject, .. }| subject),
            );
        }
        for FactRow {
            subject,
            fact,
            reading,
        } in report.facts.rows()
        {
            if let Some(info) = catalog::find(fact) {
                kept.facts
                    .entry(subject.clone())
                    .or_default()
                    .insert(info.name, state(info, reading));
            }
        }
        kept
    }

    /// Records the mount and the device below a target.
    pub(super) fn stand<'s>(
        &mut self,
        target: &Subject,
        layers: impl Iterator<Item = &'s Subject>,
    ) {
        let place = self.targets.entry(target.clone()).or_default();
        for layer in layers {
            let slot = match layer.scope() {
                Scope::Mount => &mut place.mount,
                Scope::Device => &mut place.device,
                _ => continue,
            };
            slot.get_or_insert_with(|| layer.clone());
        }
    }

    /// Every subject that has facts.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.facts.keys()
    }

    /// Every subject that occurs.
    pub(super) fn mentioned(&self) -> BTreeSet<&Subject> {
        let found = self.findings.keys().map(|(_, subject)| subject);
        let judged = self.verdicts.keys().chain(self.probes.keys());
        self.subjects()
            .chain(self.targets.keys())
            .chain(found)
            .chain(judged)
            .collect()
    }

    /// The value of a fact, when known.
    pub fn value(&self, subject: &Subject, fact: &str) -> Option<&Shown> {
        self.facts.get(subject)?.get(fact)?.value()
    }
}

fn made(report: &Report) -> Made {
    let host = &report.host;
    Made {
        when: report.when.clone(),
        walwise: report.tool.version.clone(),
        pack: report.pack.sha256.clone(),
        host: host.name.clone(),
        os: host.os.clone(),
        kernel: host.kernel.clone(),
        privileged: host.privileged,
        live: host.live,
        asked: report.asked.clone(),
    }
}

fn state(info: &KeyInfo, reading: &Reading<Value>) -> KeptFact {
    match reading {
        Reading::Known { value, .. } => KeptFact::Known {
            value: Shown::from_value(info, value),
        },
        Reading::Unknown { why, .. } => KeptFact::Unknown { why: *why },
    }
}

fn finding(finding: &Finding) -> Option<((String, Subject), KeptFinding)> {
    let applies = match finding.outcome {
        Outcome::Applies => true,
        Outcome::Undecided { .. } => false,
        Outcome::DoesNotApply => return None,
    };
    let kept = KeptFinding {
        applies,
        level: finding.level,
        title: finding.title.clone(),
    };
    Some(((finding.rule.clone(), finding.subject.clone()), kept))
}

fn probe(found: &Measurement) -> KeptProbe {
    let row = |row: &MethodResult| Some(((row.method, row.pages), kept_row(row)?));
    let against = found
        .caveats
        .iter()
        .filter(|caveat| caveat.spoils_comparison());
    KeptProbe {
        when: found.when.clone(),
        directory: found.directory.clone(),
        log: KeptLog::new(&found.log),
        rows: found.methods.iter().filter_map(row).collect(),
        doubts: against.map(|caveat| caveat.says.clone()).collect(),
    }
}

fn kept_row(row: &MethodResult) -> Option<KeptRow> {
    let paced = row.paced.as_ref()?;
    KeptRow::new(row.as_server, paced.median_us, &paced.rounds_us)
}

impl KeptRow {
    /// A row with these times; `None` when one of them is not positive.
    pub(super) fn new(as_server: bool, median: Estimate, rounds: &[f64]) -> Option<Self> {
        let Estimate { value, low, high } = median;
        let times = rounds.iter().chain([&value, &low, &high]);
        times
            .into_iter()
            .all(|us| us.is_finite() && *us >= 0.0)
            .then(|| Self {
                as_server,
                median_us: Estimate {
                    value: to_nanoseconds(value),
                    low: to_nanoseconds(low),
                    high: to_nanoseconds(high),
                },
                rounds_us: rounds.iter().copied().map(to_nanoseconds).collect(),
            })
    }
}

/// Microseconds, rounded to the nanosecond.
fn to_nanoseconds(us: f64) -> f64 {
    (us * 1_000.0).round() / 1_000.0
}
