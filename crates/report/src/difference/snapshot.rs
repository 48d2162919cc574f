//! A report reduced to what is compared: facts as shown, findings, verdicts, commit latency.
//!
//! It comes from a report in memory or from its JSON document ([`super::parse`]), with the same
//! result. Times are rounded to the nanosecond, because JSON may change the last bit of a figure.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::difference::{KeptFact, KeptFinding, Made, Shown};
use crate::model::{LayerRow, Report, Stack};
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{Finding, Outcome};
use walwise_measure::measure::{Estimate, LogKind, MeasuredLog, Measurement, Method, MethodResult};
use walwise_model::facts::{FactRow, KeyInfo, Reading, Scope, Subject, Value, catalog};

/// The compared parts of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportSnapshot {
    /// When, where and by which version the report was made.
    pub origin: Made,
    /// The rules that were evaluated, by id.
    pub rules: BTreeSet<String>,
    pub targets: BTreeMap<Subject, TargetSnapshot>,
    /// Facts by subject and name.
    pub facts: BTreeMap<Subject, BTreeMap<&'static str, KeptFact>>,
    /// Findings that apply or are undecided, by rule and subject.
    pub findings: BTreeMap<(String, Subject), KeptFinding>,
    /// The durability verdict of each target.
    pub verdicts: BTreeMap<Subject, VerdictKind>,
    /// Measurements by target.
    pub probes: BTreeMap<Subject, ProbeSnapshot>,
    /// Facts in the document that this version of walwise does not know.
    pub unknown_facts: usize,
    /// Parts of the document that could not be read.
    pub unreadable: usize,
}

/// The compared parts of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetSnapshot {
    /// Its display name.
    pub title: String,
    /// Everything whose facts and findings concern it.
    pub subjects: Vec<Subject>,
    pub mount: Option<Subject>,
    /// The first block device beneath it.
    pub device: Option<Subject>,
}

/// The compared parts of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeSnapshot {
    /// Start time, RFC 3339.
    pub when: String,
    /// The directory it was measured in.
    pub directory: String,
    /// The properties of the written log that affect its figures.
    pub log: LogSnapshot,
    /// The rows by method and pages per commit.
    pub rows: BTreeMap<(Method, u32), RowSnapshot>,
    /// Reasons not to compare its figures with those of another run.
    pub doubts: Vec<String>,
}

/// The log that was measured; only figures of the same kind and page size are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSnapshot {
    pub kind: LogKind,
    /// Size of its pages in bytes.
    pub page_bytes: u32,
    /// The method in force of a redo log.
    pub in_force: Option<Method>,
}

impl LogSnapshot {
    pub(super) fn new(log: &MeasuredLog) -> Self {
        Self {
            kind: log.kind,
            page_bytes: log.page_bytes,
            in_force: log.in_force,
        }
    }

    /// Whether figures of both can be compared.
    pub(super) fn is_comparable(self, other: Self) -> bool {
        (self.kind, self.page_bytes) == (other.kind, other.page_bytes)
    }
}

impl Default for LogSnapshot {
    fn default() -> Self {
        Self::new(&MeasuredLog::default())
    }
}

/// The compared parts of one method with one write size.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSnapshot {
    /// Whether a server commits like this.
    pub as_server: bool,
    /// Median of paced commits with its interval, in microseconds.
    pub median_us: Estimate,
    /// Medians of runs of paced commits, in order.
    pub rounds_us: Vec<f64>,
}

impl ReportSnapshot {
    pub fn from_report(report: &Report) -> Self {
        let mut kept = Self {
            origin: report_origin(report),
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
            findings: report
                .findings
                .iter()
                .filter_map(finding_snapshot)
                .collect(),
            probes: report
                .probes
                .iter()
                .map(|p| (p.target.clone(), probe_snapshot(&p.measurement)))
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
            kept.set_layers(
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
                    .insert(info.name, fact_snapshot(info, reading));
            }
        }
        kept
    }

    /// Records the mount and the device below a target.
    pub(super) fn set_layers<'s>(
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

    /// Every subject in any part.
    pub(super) fn all_subjects(&self) -> BTreeSet<&Subject> {
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

fn report_origin(report: &Report) -> Made {
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

fn fact_snapshot(info: &KeyInfo, reading: &Reading<Value>) -> KeptFact {
    match reading {
        Reading::Known { value, .. } => KeptFact::Known {
            value: Shown::from_value(info, value),
        },
        Reading::Unknown { why, .. } => KeptFact::Unknown { why: *why },
    }
}

fn finding_snapshot(finding: &Finding) -> Option<((String, Subject), KeptFinding)> {
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

fn probe_snapshot(found: &Measurement) -> ProbeSnapshot {
    let row = |row: &MethodResult| Some(((row.method, row.pages), row_snapshot(row)?));
    let against = found
        .caveats
        .iter()
        .filter(|caveat| caveat.prevents_comparison());
    ProbeSnapshot {
        when: found.when.clone(),
        directory: found.directory.clone(),
        log: LogSnapshot::new(&found.log),
        rows: found.methods.iter().filter_map(row).collect(),
        doubts: against.map(|caveat| caveat.text.clone()).collect(),
    }
}

fn row_snapshot(row: &MethodResult) -> Option<RowSnapshot> {
    let paced = row.paced.as_ref()?;
    RowSnapshot::new(row.as_server, paced.median_us, &paced.rounds_us)
}

impl RowSnapshot {
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

fn to_nanoseconds(us: f64) -> f64 {
    (us * 1_000.0).round() / 1_000.0
}
