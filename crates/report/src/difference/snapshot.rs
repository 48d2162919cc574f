//! The parts of a report that are compared. A report in memory and its JSON document give equal
//! snapshots: times are rounded to the nanosecond, because JSON may change the last bit of a
//! number.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::difference::{DisplayedValue, FactState, FindingState, ReportOrigin};
use crate::model::{LayerRow, Report, Stack};
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{Finding, Outcome};
use walwise_measure::measure::{Estimate, LogKind, MeasuredLog, Measurement, Method, MethodResult};
use walwise_model::facts::{FactRow, KeyInfo, Reading, Scope, Subject, Value, catalog};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportSnapshot {
    pub origin: ReportOrigin,
    /// Ids of the evaluated rules.
    pub rules: BTreeSet<String>,
    pub targets: BTreeMap<Subject, TargetSnapshot>,
    pub facts: BTreeMap<Subject, BTreeMap<&'static str, FactState>>,
    /// Findings that apply or are undecided, by rule id and subject.
    pub findings: BTreeMap<(String, Subject), FindingState>,
    pub verdicts: BTreeMap<Subject, VerdictKind>,
    pub probes: BTreeMap<Subject, ProbeSnapshot>,
    /// The number of facts whose names this version of walwise does not know.
    pub unknown_facts: usize,
    /// The number of parts of the document that could not be read.
    pub unreadable: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetSnapshot {
    pub title: String,
    pub subjects: Vec<Subject>,
    pub mount: Option<Subject>,
    /// The first block device below the target.
    pub device: Option<Subject>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeSnapshot {
    /// Start time, RFC 3339.
    pub when: String,
    pub directory: String,
    pub log: LogSnapshot,
    /// Rows by method and pages per commit.
    pub rows: BTreeMap<(Method, u32), RowSnapshot>,
    /// Reasons not to compare this measurement with another one.
    pub doubts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSnapshot {
    pub kind: LogKind,
    pub page_bytes: u32,
    /// The method that the redo log uses; `None` if unknown, and for other logs.
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

    pub(super) fn is_comparable(self, other: Self) -> bool {
        (self.kind, self.page_bytes) == (other.kind, other.page_bytes)
    }
}

impl Default for LogSnapshot {
    fn default() -> Self {
        Self::new(&MeasuredLog::default())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RowSnapshot {
    /// True if a server commits with this method.
    pub as_server: bool,
    /// Median of paced commits with its interval, in microseconds.
    pub median_us: Estimate,
    /// Medians of the rounds of paced commits, in microseconds, in the order measured. For a report
    /// of schema 3, the times of single commits instead.
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
            kept.set_mount_and_device(
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
            if let Some(info) = catalog::find_by_name(fact) {
                kept.facts
                    .entry(subject.clone())
                    .or_default()
                    .insert(info.name, fact_snapshot(info, reading));
            }
        }
        kept
    }

    pub(super) fn set_mount_and_device<'s>(
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

    pub fn subjects_with_facts(&self) -> impl Iterator<Item = &Subject> {
        self.facts.keys()
    }

    pub(super) fn all_subjects(&self) -> BTreeSet<&Subject> {
        let found = self.findings.keys().map(|(_, subject)| subject);
        let judged = self.verdicts.keys().chain(self.probes.keys());
        self.subjects_with_facts()
            .chain(self.targets.keys())
            .chain(found)
            .chain(judged)
            .collect()
    }

    /// Returns the value of a fact; `None` if the fact is unknown or absent.
    pub fn value(&self, subject: &Subject, fact: &str) -> Option<&DisplayedValue> {
        self.facts.get(subject)?.get(fact)?.value()
    }
}

fn report_origin(report: &Report) -> ReportOrigin {
    let host = &report.host;
    ReportOrigin {
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

fn fact_snapshot(info: &KeyInfo, reading: &Reading<Value>) -> FactState {
    match reading {
        Reading::Known { value, .. } => FactState::Known {
            value: DisplayedValue::from_value(info, value),
        },
        Reading::Unknown { why, .. } => FactState::Unknown { why: *why },
    }
}

fn finding_snapshot(finding: &Finding) -> Option<((String, Subject), FindingState)> {
    let applies = match finding.outcome {
        Outcome::Applies => true,
        Outcome::Undecided { .. } => false,
        Outcome::DoesNotApply => return None,
    };
    let kept = FindingState {
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
    /// Makes a row from the times of paced commits; `None` if a time is negative or not finite.
    pub(super) fn new(as_server: bool, median: Estimate, rounds: &[f64]) -> Option<Self> {
        let Estimate { value, low, high } = median;
        let times = rounds.iter().chain([&value, &low, &high]);
        times
            .into_iter()
            .all(|us| us.is_finite() && *us >= 0.0)
            .then(|| Self {
                as_server,
                median_us: Estimate {
                    value: round_to_nanoseconds(value),
                    low: round_to_nanoseconds(low),
                    high: round_to_nanoseconds(high),
                },
                rounds_us: rounds.iter().copied().map(round_to_nanoseconds).collect(),
            })
    }
}

fn round_to_nanoseconds(us: f64) -> f64 {
    (us * 1_000.0).round() / 1_000.0
}
