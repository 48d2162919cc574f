//! Compares an earlier report with the present one. Findings and verdicts are compared as the
//! reports state them; no rule is evaluated again.

mod renames;
mod snapshot;

use std::collections::{BTreeMap, BTreeSet};

use renames::Renames;

use super::model::difference::{
    Difference, DisplayedValue, FactChange, FactState, FindingChange, FindingState, LikelyCause,
    MethodLatencyShift, ProbeLatencyShift, RenamedSubject, ReportOrigin, VerdictChange,
};
use walwise_judge::durability::VerdictKind;
use walwise_measure::measure::{Estimate, MeasuredLog, Method, estimate_latency_shift};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog;
use walwise_model::facts::catalog::postgres::{self, WalSyncMethod};
use walwise_model::facts::{Choice, FactStability, Scope, Subject};
use walwise_model::text::format_names_and_rest;

pub use super::model::difference::FindingChangeKind;
pub use snapshot::{MAX_BYTES, ReportParseError};

pub fn compare_snapshots(before: &ReportSnapshot, now: &ReportSnapshot) -> Difference {
    let names = Renames::detect(before, now);
    let old = names.rename_snapshot(before);
    let is_host_known = |origin: &ReportOrigin| !origin.host.is_empty() && origin.host != "unknown";
    let mut difference = Difference {
        before: before.origin.clone(),
        same_host: !is_host_known(&before.origin)
            || !is_host_known(&now.origin)
            || before.origin.host == now.origin.host,
        remarks: comparison_remarks(&old, now),
        renamed: names
            .pairs_with_existing_names(now)
            .map(|(a, b)| RenamedSubject {
                before: a.clone(),
                now: b.clone(),
            })
            .collect(),
        gone: subjects_missing_in_other_report(&old, now),
        appeared: subjects_missing_in_other_report(now, &old),
        verdicts: verdict_changes(&old, now),
        findings: finding_changes(&old, now),
        facts: fact_changes(&old, now),
        probes: Vec::new(),
        known_changes: Vec::new(),
    };
    if let Some(common) = common_subjects_if_limited(&old, now) {
        difference
            .findings
            .retain(|change| common.contains(&change.subject));
        difference
            .facts
            .retain(|change| common.contains(&change.subject));
    }
    difference.probes = latency_shifts(&old, now, &difference.facts);
    difference
}

/// Lists the subjects with facts that are in `from` but not in `of`. Targets are left out unless
/// both reports cover the same targets.
fn subjects_missing_in_other_report(from: &ReportSnapshot, of: &ReportSnapshot) -> Vec<Subject> {
    let alike = covers_same_targets(from, of);
    let counts = |subject: &&Subject| alike || !from.targets.contains_key(*subject);
    from.subjects_with_facts()
        .filter(|subject| !of.facts.contains_key(*subject))
        .filter(counts)
        .cloned()
        .collect()
}

/// True if both reports were made for the same TARGET, or for different TARGETs that name the same
/// directories and devices.
fn covers_same_targets(a: &ReportSnapshot, b: &ReportSnapshot) -> bool {
    let both = a.origin.asked.is_some() && b.origin.asked.is_some();
    a.origin.asked == b.origin.asked || (both && a.targets.keys().eq(b.targets.keys()))
}

/// The subjects of the targets that both reports cover, to which the comparison is limited. `None`
/// if the reports cover the same targets, so that no limit is needed.
fn common_subjects_if_limited(
    before: &ReportSnapshot,
    now: &ReportSnapshot,
) -> Option<BTreeSet<Subject>> {
    if covers_same_targets(before, now) {
        return None;
    }
    let both = now
        .targets
        .iter()
        .filter_map(|(target, new)| Some((target, before.targets.get(target)?, new)));
    let own = both
        .flat_map(|(target, old, new)| old.subjects.iter().chain(&new.subjects).chain([target]));
    let host = now
        .subjects_with_facts()
        .filter(|subject| subject.scope() == Scope::Host);
    Some(own.chain(host).cloned().collect())
}

fn verdict_changes(before: &ReportSnapshot, now: &ReportSnapshot) -> Vec<VerdictChange> {
    let change = |(target, now): (&Subject, &VerdictKind)| {
        let before = *before.verdicts.get(target)?;
        (before != *now).then(|| VerdictChange {
            target: target.clone(),
            before,
            now: *now,
        })
    };
    let mut changes: Vec<VerdictChange> = now.verdicts.iter().filter_map(change).collect();
    changes.sort_by_key(|change| change.now);
    changes
}

fn finding_changes(before: &ReportSnapshot, now: &ReportSnapshot) -> Vec<FindingChange> {
    let all: BTreeSet<&(String, Subject)> =
        before.findings.keys().chain(now.findings.keys()).collect();
    let change = |key: &&(String, Subject)| {
        let (rule, subject) = *key;
        let lacks =
            |kept: &ReportSnapshot| !kept.rules.contains(rule) || !kept.facts.contains_key(subject);
        let (old, new) = (before.findings.get(*key), now.findings.get(*key));
        FindingChange {
            rule: rule.clone(),
            subject: subject.clone(),
            class: classify_finding_change(old, new, || lacks(before), || lacks(now)),
            before: old.cloned(),
            now: new.cloned(),
        }
    };
    all.iter().map(change).collect()
}

/// Compares the earlier and the present state of a finding. `lacked` and `lacks` return whether the
/// earlier and the present report lack the finding's rule or subject.
fn classify_finding_change(
    before: Option<&FindingState>,
    now: Option<&FindingState>,
    lacked: impl FnOnce() -> bool,
    lacks: impl FnOnce() -> bool,
) -> FindingChangeKind {
    match (before, now) {
        (None, Some(_)) if lacked() => FindingChangeKind::Appeared,
        (Some(_), None) if lacks() => FindingChangeKind::Gone,
        (None, Some(now)) if now.applies => FindingChangeKind::New,
        (Some(before), None) if before.applies => FindingChangeKind::Fixed,
        (Some(before), Some(now)) if before.applies && now.applies && before.level != now.level => {
            FindingChangeKind::Level
        }
        (Some(before), Some(now)) if before.applies == now.applies => FindingChangeKind::Same,
        (Some(before), _) if !before.applies => FindingChangeKind::Decided,
        (_, Some(_)) => FindingChangeKind::Undecided,
        // Unreachable: each key is in one of the reports, and earlier arms cover `(Some, None)`.
        (Some(_) | None, None) => FindingChangeKind::Same,
    }
}

fn fact_changes(before: &ReportSnapshot, now: &ReportSnapshot) -> Vec<FactChange> {
    let names = |kept: &ReportSnapshot| -> BTreeSet<&'static str> {
        kept.facts
            .values()
            .flat_map(BTreeMap::keys)
            .copied()
            .collect()
    };
    let (known_then, known_now) = (names(before), names(now));
    // A fact that only one of the two walwise versions collects is not a change of the host.
    let same_version = before.origin.walwise == now.origin.walwise;
    let comparable =
        |fact: &str| same_version || (known_then.contains(fact) && known_now.contains(fact));
    let mut changes = Vec::new();
    for (subject, new) in &now.facts {
        let Some(old) = before.facts.get(subject) else {
            continue;
        };
        let names: BTreeSet<&'static str> = old.keys().chain(new.keys()).copied().collect();
        for fact in names.into_iter().filter(|fact| comparable(fact)) {
            let (old, new) = (old.get(fact), new.get(fact));
            let nature =
                catalog::find_by_name(fact).map_or(FactStability::Lasting, |info| info.nature);
            if nature != FactStability::Measured && has_known_value_changed(old, new) {
                let subject = subject.clone();
                changes.push(FactChange {
                    subject,
                    fact,
                    nature,
                    before: old.cloned(),
                    now: new.cloned(),
                });
            }
        }
    }
    changes
}

/// A fact that is unknown in both reports has not changed, even if the reasons differ.
fn has_known_value_changed(before: Option<&FactState>, now: Option<&FactState>) -> bool {
    let (before, now) = (
        before.and_then(FactState::known_value),
        now.and_then(FactState::known_value),
    );
    match (before, now) {
        (Some(before), Some(now)) => !before.equals_ignoring_order(now),
        (before, now) => before != now,
    }
}

fn comparison_remarks(before: &ReportSnapshot, now: &ReportSnapshot) -> Vec<String> {
    let (was, is) = (&before.origin, &now.origin);
    let mut remarks = Vec::new();
    if !covers_same_targets(before, now) {
        remarks.push(format!(
            "the baseline covers {}, this report covers {}; only targets in both are compared",
            was.asked.as_deref().unwrap_or("all targets"),
            is.asked.as_deref().unwrap_or("all targets")
        ));
    }
    if was.live != is.live {
        let of = |live: bool| {
            if live { "the host itself" } else { "a capture" }
        };
        remarks.push(format!(
            "the baseline is from {}, this report from {}",
            of(was.live),
            of(is.live)
        ));
    }
    let fewer_facts = match (was.privileged, is.privileged) {
        (Some(true), Some(false)) => Some(
            "the baseline was created as root, but this report was not, so this report has \
             fewer facts",
        ),
        (Some(false), Some(true)) => Some(
            "this report was created as root, but the baseline was not, so the baseline has \
             fewer facts",
        ),
        _ => None,
    };
    remarks.extend(fewer_facts.map(str::to_owned));
    let ids = |rules: Vec<&String>| {
        if rules.is_empty() {
            "none".to_owned()
        } else {
            format_names_and_rest(&rules, 3)
        }
    };
    let new: Vec<_> = now.rules.difference(&before.rules).collect();
    let old: Vec<_> = before.rules.difference(&now.rules).collect();
    if !new.is_empty() || !old.is_empty() {
        remarks.push(format!(
            "the baseline used a different rule set (new: {}; removed: {}), so findings may differ",
            ids(new),
            ids(old)
        ));
    } else if was.walwise != is.walwise {
        remarks.push(format!(
            "the baseline was created by walwise {}, this report by {}: rules and findings may \
             differ",
            was.walwise, is.walwise
        ));
    } else if was.pack != is.pack {
        remarks.push(
            "rules have changed since the baseline but kept their ids, so findings may differ"
                .to_owned(),
        );
    }
    let unmeasured = before
        .probes
        .keys()
        .filter(|target| !now.probes.contains_key(*target));
    for target in unmeasured.filter(|target| now.targets.contains_key(*target)) {
        let name = target.name();
        remarks.push(format!(
            "commit latency on {name} was measured for the baseline, but not in this run; to \
             measure it: {}",
            ShellCommand::text_or_placeholder(ShellCommand::walwise_check_command(name, ""))
        ));
    }
    for (what, count) in [
        (
            "facts of the baseline that this version does not know and did not compare",
            before.unknown_facts,
        ),
        ("unreadable parts of the baseline", before.unreadable),
        ("unreadable parts of this report", now.unreadable),
    ] {
        if count > 0 {
            remarks.push(format!("{what}: {count}"));
        }
    }
    remarks
}

#[cfg(test)]
mod tests;

// Changed facts are at best *likely* causes of a changed latency: that both changed proves nothing.

/// The change of latency of each target that both reports measured with the same kind of log and
/// page size.
fn latency_shifts(
    before: &ReportSnapshot,
    now: &ReportSnapshot,
    changes: &[FactChange],
) -> Vec<ProbeLatencyShift> {
    let shift = |(target, new): (&Subject, &ProbeSnapshot)| {
        let old = before.probes.get(target)?;
        let is_alike = (old.log.kind, old.log.page_bytes) == (new.log.kind, new.log.page_bytes);
        is_alike.then(|| target_latency_shift(now, target, old, new, changes))
    };
    now.probes.iter().filter_map(shift).collect()
}

fn target_latency_shift(
    now: &ReportSnapshot,
    target: &Subject,
    old: &ProbeSnapshot,
    new: &ProbeSnapshot,
    changes: &[FactChange],
) -> ProbeLatencyShift {
    let row = |(&(method, pages), new): (&(Method, u32), &MethodSnapshot)| {
        let old = old.rows.get(&(method, pages))?;
        Some(MethodLatencyShift {
            method,
            pages,
            as_server: new.as_server,
            before_us: old.median_us,
            now_us: new.median_us,
            shift: estimate_latency_shift(&old.rounds_us, &new.rounds_us),
        })
    };
    let rows: Vec<MethodLatencyShift> = new.rows.iter().filter_map(row).collect();
    let mut probe = ProbeLatencyShift {
        target: target.clone(),
        before: old.when.clone(),
        directory_before: old.directory.clone(),
        directory_now: new.directory.clone(),
        method: new.log.in_force.or_else(|| main_method(now, target, &rows)),
        rows,
        doubts: caveats_of_both_probes(old, new),
        likely_causes: Vec::new(),
    };
    if probe.is_significant() {
        probe.likely_causes = likely_causes_of_shift(now, target, changes);
    }
    probe
}

fn caveats_of_both_probes(old: &ProbeSnapshot, new: &ProbeSnapshot) -> Vec<String> {
    let said = |when: &str, says: &String| format!("{when}: {}", says.trim_end_matches('.'));
    let before = old.doubts.iter().map(|says| said("before", says));
    before
        .chain(new.doubts.iter().map(|says| said("now", says)))
        .collect()
}

fn main_method(
    now: &ReportSnapshot,
    target: &Subject,
    rows: &[MethodLatencyShift],
) -> Option<Method> {
    let of_server = || {
        rows.iter()
            .filter(|row| row.as_server && row.pages == 1 && row.method.is_durable())
    };
    let in_force = target_and_host_subjects(now, target)
        .into_iter()
        .filter(|subject| subject.scope() == Scope::Cluster)
        .find_map(|cluster| now.known_value(cluster, postgres::WAL_SYNC_METHOD.name()))
        .and_then(|shown| WalSyncMethod::from_word(&shown.displayed_text()));
    let named =
        of_server().find(|row| in_force.is_some() && row.method.wal_sync_method() == in_force);
    let is_default = |row: &&MethodLatencyShift| {
        row.method
            .wal_sync_method()
            .is_some_and(WalSyncMethod::is_fdatasync)
    };
    let default = || of_server().find(is_default);
    named
        .or_else(default)
        .or_else(|| of_server().next())
        .map(|row| row.method)
}

fn target_and_host_subjects<'k>(
    kept: &'k ReportSnapshot,
    target: &Subject,
) -> BTreeSet<&'k Subject> {
    let own = kept
        .targets
        .get(target)
        .into_iter()
        .flat_map(|target| &target.subjects);
    own.chain(
        kept.subjects_with_facts()
            .filter(|subject| subject.scope() == Scope::Host),
    )
    .collect()
}

/// Lists the changed facts of the target's stack and of the host that can affect latency.
/// Derived facts are left out, because the facts from which they follow are compared as well.
fn likely_causes_of_shift(
    now: &ReportSnapshot,
    target: &Subject,
    changes: &[FactChange],
) -> Vec<LikelyCause> {
    let concerned = target_and_host_subjects(now, target);
    let can = |change: &&FactChange| {
        let prices = catalog::find_by_name(change.fact).is_some_and(|info| info.affects_latency);
        prices
            && change.nature != FactStability::Concluded
            && change.known_value_pair().is_some()
            && concerned.contains(&change.subject)
    };
    let cause = |change: &FactChange| LikelyCause {
        subject: change.subject.clone(),
        fact: change.fact,
    };
    changes.iter().filter(can).map(cause).collect()
}

// The parts of a report that are compared. A report in memory and its JSON document give equal
// snapshots. Times are rounded to the nanosecond, because JSON may change the last bit of a number.

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
    pub log: MeasuredLog,
    /// Rows by method and pages per commit.
    pub rows: BTreeMap<(Method, u32), MethodSnapshot>,
    /// Reasons not to compare this measurement with another one.
    pub doubts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MethodSnapshot {
    /// True if a server commits with this method.
    pub as_server: bool,
    /// Median of paced commits with its interval, in microseconds.
    pub median_us: Estimate,
    /// Medians of the rounds of paced commits, in microseconds, in the order measured. For a report
    /// of schema 3, the times of single commits instead.
    pub rounds_us: Vec<f64>,
}

impl ReportSnapshot {
    fn set_mount_and_device<'s>(
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

    pub(crate) fn subjects_with_facts(&self) -> impl Iterator<Item = &Subject> {
        self.facts.keys()
    }

    fn all_subjects(&self) -> BTreeSet<&Subject> {
        let found = self.findings.keys().map(|(_, subject)| subject);
        let judged = self.verdicts.keys().chain(self.probes.keys());
        self.subjects_with_facts()
            .chain(self.targets.keys())
            .chain(found)
            .chain(judged)
            .collect()
    }

    /// `None` for an unknown or absent fact.
    pub fn known_value(&self, subject: &Subject, fact: &str) -> Option<&DisplayedValue> {
        self.facts.get(subject)?.get(fact)?.known_value()
    }
}

impl MethodSnapshot {
    /// Makes a row from the times of paced commits; `None` if a time is negative or not finite.
    fn new(as_server: bool, median: Estimate, rounds: &[f64]) -> Option<Self> {
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
