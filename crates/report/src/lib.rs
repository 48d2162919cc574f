//! The report: one value from which the TUI, the text, the JSON and every export are made.
//!
//! The report sorts and combines the judgements of `walwise-judge`, and adds none. Advice that the
//! kernel, a tool or the server would not accept is listed as withheld.

mod device_content;
pub mod report_reader;
mod findings_by_subject {
    //! An index of findings by subject. On a host with thousands of disks, a search of all findings
    //! for each target would take too long.

    use std::collections::BTreeMap;

    use walwise_judge::rules::Finding;
    use walwise_model::facts::Subject;

    pub struct FindingsBySubject<'a> {
        by_subject: BTreeMap<&'a Subject, Vec<(usize, &'a Finding)>>,
    }

    impl<'a> FindingsBySubject<'a> {
        pub fn new(findings: &'a [Finding]) -> Self {
            let mut by_subject: BTreeMap<&Subject, Vec<(usize, &Finding)>> = BTreeMap::new();
            for (place, finding) in findings.iter().enumerate() {
                by_subject
                    .entry(&finding.subject)
                    .or_default()
                    .push((place, finding));
            }
            Self { by_subject }
        }

        /// The findings about any of the subjects, each once, in the order of all findings.
        pub fn findings_of_subjects(&self, subjects: &[Subject]) -> Vec<&'a Finding> {
            let mut found: Vec<(usize, &Finding)> = subjects
                .iter()
                .filter_map(|subject| self.by_subject.get(subject))
                .flatten()
                .copied()
                .collect();
            found.sort_by_key(|(place, _)| *place);
            found.dedup_by_key(|(place, _)| *place);
            found.into_iter().map(|(_, finding)| finding).collect()
        }
    }
}
mod distinct {
    //! Short lists without duplicates, in the order of first occurrence.

    /// Appends the items that the list does not have yet, each once.
    pub fn extend_distinct<T: PartialEq>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
        for one in more {
            if !list.contains(&one) {
                list.push(one);
            }
        }
    }

    pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut list = Vec::new();
        extend_distinct(&mut list, items);
        list
    }
}
mod device_description;
mod model;
mod stack_truncation;
pub mod time_axis;
pub mod ratio_axis {
    //! An axis of log-ratios: the speed of trial candidates relative to the first one.
    //!
    //! Equal ratios take equal space. The first candidate, at 0 %, is always on the axis.

    use walwise_measure::trial::LogRatioInterval;

    /// Both ends are natural logarithms of speed ratios.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LogRatioAxis {
        low: f64,
        high: f64,
    }

    /// Candidates for ticks in per cent, the most important first.
    const PERCENT_MARKS: [f64; 25] = [
        0.0, 10.0, -10.0, 20.0, -20.0, 50.0, -50.0, 100.0, -80.0, 5.0, -5.0, 200.0, -90.0, 2.0,
        -2.0, 400.0, -95.0, 900.0, -98.0, 1.0, -1.0, 1900.0, -99.0, 4900.0, 9900.0,
    ];
    /// Minimum extent to each side of the first candidate, as a log-ratio: about 5 %.
    const MIN_REACH: f64 = 0.05;
    /// ln(100): the axis covers at most a hundredth to a hundred times the first candidate's speed.
    const MAX_REACH: f64 = 4.605_170_185_988_092;

    impl LogRatioAxis {
        /// Covers the intervals and the first candidate. Intervals with an end that is not finite
        /// are ignored.
        pub fn from_intervals(intervals: impl Iterator<Item = LogRatioInterval>) -> Self {
            let sane = intervals.filter(|found| found.low.is_finite() && found.high.is_finite());
            let (low, high) = sane.fold((-MIN_REACH, MIN_REACH), |(low, high), found| {
                (low.min(found.low), high.max(found.high))
            });
            // Without a margin, the ends of the intervals would touch the frame.
            let room = 0.04 * (high - low);
            Self {
                low: (low - room).max(-MAX_REACH),
                high: (high + room).min(MAX_REACH),
            }
        }

        /// 0 is the low end and 1 the high end. A ratio off the axis gives a position outside 0–1,
        /// a ratio that is not finite gives 0.
        pub fn position_of_log_ratio(&self, log: f64) -> f64 {
            let share = (log - self.low) / (self.high - self.low);
            if share.is_finite() { share } else { 0.0 }
        }

        /// Ticks in ascending order as (share, label), at least `apart` from each other.
        pub fn ticks(&self, apart: f64) -> Vec<(f64, String)> {
            let mut found: Vec<(f64, String)> = Vec::new();
            for percent in PERCENT_MARKS {
                let log = (percent / 100.0).ln_1p();
                let share = self.position_of_log_ratio(log);
                let is_near = |(other, _): &(f64, String)| (share - other).abs() < apart;
                if (self.low..=self.high).contains(&log) && !found.iter().any(is_near) {
                    let label = if percent == 0.0 {
                        "0 %".to_owned()
                    } else {
                        format!("{percent:+} %")
                    };
                    found.push((share, label));
                }
            }
            found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            found
        }
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            #[test]
            fn zero_has_a_tick_and_ticks_keep_distance(low in -9.0_f64..1.0, wide in 0.0_f64..9.0, apart in 0.05_f64..0.5) {
                let interval = LogRatioInterval { low, value: low, high: low + wide };
                let axis = LogRatioAxis::from_intervals([interval].into_iter());
                let marks = axis.ticks(apart);
                prop_assert!(marks.iter().any(|(_, label)| label == "0 %"), "{:?}", marks);
                prop_assert!(marks.windows(2).all(|pair| pair[1].0 - pair[0].0 >= apart - 1e-9), "{:?}", marks);
                prop_assert!(axis.position_of_log_ratio(low) <= axis.position_of_log_ratio(low + wide));
            }
        }

        #[test]
        fn non_finite_intervals_are_ignored() {
            let axis = LogRatioAxis::from_intervals(
                [LogRatioInterval {
                    low: f64::NEG_INFINITY,
                    value: 0.0,
                    high: f64::NAN,
                }]
                .into_iter(),
            );
            assert_eq!(axis, LogRatioAxis::from_intervals(std::iter::empty()));
            assert!(axis.position_of_log_ratio(f64::NAN) <= 0.0);
        }
    }
}
pub mod difference;
mod disk_ranking;
pub mod exit;
mod disk_id {
    //! The unique identity of a disk as a sysfs attribute, which can be read again before mkfs or
    //! in a udev rule. Names such as sdb can change at every boot.

    use crate::Report;
    use walwise_model::facts::catalog::device;
    use walwise_model::facts::{Source, Subject};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DiskIdAttribute {
        /// The path below the disk's directory in /sys/class/block, for example `device/wwid`.
        pub file: String,
        /// The value of the attribute: only ASCII letters, digits, `_-.:` and blanks.
        pub value: String,
    }

    /// `None` for captures, and for disks without an identity of plain characters.
    pub fn find_disk_id_attribute(report: &Report, disk: &Subject) -> Option<DiskIdAttribute> {
        let facts = [&device::UNIT, &device::SERIAL, &device::DM_UUID];
        facts
            .into_iter()
            .filter(|_| report.host.live)
            .find_map(|fact| {
                let reading = report.facts.get(disk, fact);
                let Some(Source::File { path, .. }) = reading.source() else {
                    return None;
                };
                let file = path
                    .strip_prefix("/sys/class/block/")?
                    .strip_prefix(disk.name())?
                    .strip_prefix('/')?;
                // All namespaces of an NVMe disk have one `device/serial`, which therefore
                // identifies none of them.
                let shared = fact.name() == device::SERIAL.name() && file == "device/serial";
                let value = reading.value()?;
                (!shared && is_safe_plain_text(file, "_/") && is_safe_plain_text(value, "_-.: "))
                    .then(|| DiskIdAttribute {
                        file: file.to_owned(),
                        value: value.clone(),
                    })
            })
    }

    fn is_safe_plain_text(text: &str, also: &str) -> bool {
        let good = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(good)
            && text.trim() == text
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::sample_reports;

        #[test]
        fn disk_id_requires_plain_unique_attribute() {
            let wwid = ("device/wwid", "naa.5002538e40a1b2c3");
            let cases = [
                (vec![(&device::UNIT, wwid)], Some(wwid)),
                (
                    vec![(&device::SERIAL, ("serial", "vol-1"))],
                    Some(("serial", "vol-1")),
                ),
                (vec![(&device::SERIAL, ("device/serial", "S4"))], None),
                (
                    vec![
                        (&device::UNIT, ("wwid", "eui.0025")),
                        (&device::SERIAL, ("device/serial", "S4")),
                    ],
                    Some(("wwid", "eui.0025")),
                ),
                (
                    vec![(&device::DM_UUID, ("dm/uuid", "LVM-abc"))],
                    Some(("dm/uuid", "LVM-abc")),
                ),
                (vec![(&device::UNIT, ("device/wwid", "a\"b"))], None),
                (vec![(&device::UNIT, ("device/wwid", "*"))], None),
                (vec![(&device::UNIT, ("../sdb/device/wwid", "naa.5"))], None),
                (Vec::new(), None),
            ];
            for (facts, expect) in cases {
                let mut report = sample_reports::free_disk();
                let disk = Subject::device("sdc");
                for (fact, (file, value)) in &facts {
                    let source = Source::from_file(format!("/sys/class/block/sdc/{file}"));
                    report
                        .facts
                        .insert_known(&disk, fact, (*value).to_owned(), source);
                }
                let expect = expect.map(|(file, value)| DiskIdAttribute {
                    file: file.to_owned(),
                    value: value.to_owned(),
                });
                assert_eq!(find_disk_id_attribute(&report, &disk), expect);
                report.host.live = false;
                assert_eq!(
                    find_disk_id_attribute(&report, &disk),
                    None,
                    "a capture masks it"
                );
            }
        }
    }
}
pub mod missing_facts {
    //! The unknown facts that a target's verdict and undecided rules need.
    //!
    //! Facts about servers that do not use the target are left out, even if they share its disk.

    use std::collections::{BTreeMap, BTreeSet};

    use super::{Report, TargetSummary};
    use walwise_judge::rules::{Finding, Outcome};
    use walwise_model::facts::{FactSet, MissingFact, Remedy, Scope, Subject, UnknownReason};

    /// How a missing fact becomes known.
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum FactRemedy {
        NoKnownWay,
        /// The source is missing from the capture, so the host must be captured again.
        AnotherCapture,
        Remedy(Remedy),
    }

    impl FactRemedy {
        pub(crate) fn from_missing_fact(need: &MissingFact, report: &Report) -> Self {
            match (&need.remedy, need.why) {
                (Some(remedy), _) => Self::Remedy(remedy.clone()),
                (None, UnknownReason::NotCollected) if !report.host.live => Self::AnotherCapture,
                (
                    None,
                    UnknownReason::NotCollected
                    | UnknownReason::Absent
                    | UnknownReason::Denied
                    | UnknownReason::TimedOut
                    | UnknownReason::Malformed
                    | UnknownReason::Ambiguous,
                ) => Self::NoKnownWay,
            }
        }

        /// One instruction for `count` facts that have this remedy.
        pub(crate) fn instruction_text(&self, count: usize) -> String {
            match self {
                Self::NoKnownWay if count == 1 => "no known way to read it".to_owned(),
                Self::NoKnownWay => "no known way to read them".to_owned(),
                Self::AnotherCapture => "not in this capture; capture the host again".to_owned(),
                Self::Remedy(remedy) => remedy.to_string(),
            }
        }
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MissingFactWithRules {
        pub need: MissingFact,
        /// The undecided rules that need the fact; empty if only the verdict needs it.
        pub rules: Vec<String>,
    }

    /// Lists the unknown facts, those for the verdict first. `about` are the findings about the
    /// target.
    pub fn target_missing_facts<'a>(
        report: &Report,
        target: &TargetSummary,
        about: impl IntoIterator<Item = &'a Finding>,
    ) -> Vec<MissingFactWithRules> {
        let way = TargetAndServerSubjects::new(&report.facts, target);
        let mut all = MissingFactCollector::default();
        let missing = report
            .verdict(&target.target)
            .into_iter()
            .flat_map(|verdict| &verdict.missing);
        missing
            .filter(|need| way.contains(&need.subject))
            .for_each(|need| all.add_missing_fact(need, None));
        for finding in about {
            let Outcome::Undecided { needs } = &finding.outcome else {
                continue;
            };
            // Facts of a measurement are left out, because the report requests one measurement
            // instead.
            let to_read = |need: &&MissingFact| {
                !need.fact.starts_with("probe.") && way.contains(&need.subject)
            };
            needs
                .iter()
                .flatten()
                .filter(to_read)
                .for_each(|need| all.add_missing_fact(need, Some(&finding.rule)));
        }
        all.entries
    }

    pub struct TargetAndServerSubjects<'a> {
        own: BTreeSet<&'a Subject>,
        servers: BTreeSet<Subject>,
    }

    impl<'a> TargetAndServerSubjects<'a> {
        /// Collects the subjects of the target, the servers on it, and the stacks below their
        /// directories.
        pub fn new(facts: &FactSet, target: &'a TargetSummary) -> Self {
            let names = facts
                .value(
                    &target.target,
                    &walwise_model::facts::catalog::target::CLUSTERS,
                )
                .unwrap_or_default();
            let servers = target
                .cluster
                .iter()
                .cloned()
                .chain(names.into_iter().map(Subject::cluster));
            let mut all = BTreeSet::new();
            for server in servers {
                let linked = [Scope::Target, Scope::Mount, Scope::Device];
                all.extend(
                    linked
                        .into_iter()
                        .filter_map(|scope| facts.applicable_subject(&server, scope)),
                );
                all.extend(facts.layers_below(&server));
                all.insert(server);
            }
            Self {
                own: target.subjects.iter().collect(),
                servers: all,
            }
        }

        /// The host counts as a subject of every target.
        pub fn contains(&self, subject: &Subject) -> bool {
            subject.scope() == Scope::Host
                || self.own.contains(subject)
                || self.servers.contains(subject)
        }
    }

    #[derive(Default)]
    struct MissingFactCollector {
        entries: Vec<MissingFactWithRules>,
        positions: BTreeMap<(Subject, String), usize>,
    }

    impl MissingFactCollector {
        fn add_missing_fact(&mut self, need: &MissingFact, rule: Option<&str>) {
            let entries = &mut self.entries;
            let at = *self
                .positions
                .entry((need.subject.clone(), need.fact.clone()))
                .or_insert_with(|| {
                    entries.push(MissingFactWithRules {
                        need: need.clone(),
                        rules: Vec::new(),
                    });
                    entries.len() - 1
                });
            if let (Some(entry), Some(rule)) = (entries.get_mut(at), rule)
                && !entry.rules.iter().any(|one| one == rule)
            {
                entry.rules.push(rule.to_owned());
            }
        }
    }
}
mod mkfs;
mod mount_and_mkfs_options;
mod remedies {
    //! The remedy of a critical finding is its advice, or else the rule's text, or else the reason
    //! why the advice was withheld.

    use super::WithheldAdvice;
    use walwise_judge::rules::{Change, Finding, FixOrReason, Level, Outcome};
    use walwise_model::text::JoinText;

    pub fn fill_in_critical_remedies(findings: &mut [Finding], withheld: &[WithheldAdvice]) {
        let critical = |finding: &&mut Finding| {
            finding.level == Level::Critical && finding.outcome == Outcome::Applies
        };
        for finding in findings.iter_mut().filter(critical) {
            let told = finding.remedy.take();
            finding.remedy = remedy_from_advice(finding)
                .or(told)
                .or_else(|| remedy_from_withheld_advice(finding, withheld))
                // Such a finding exists only if a user's rule file raises the level of the rule.
                .or_else(|| {
                    let says = "No fix is known. A user's rule file raised this rule to critical, but the rule has no fix.";
                    Some(FixOrReason {
                        here: false,
                        text: says.to_owned(),
                    })
                });
        }
    }

    fn remedy_from_advice(finding: &Finding) -> Option<FixOrReason> {
        let changes = finding
            .advice
            .iter()
            .filter(|advice| advice.change != Change::Keep);
        let text = changes
            .map(|advice| {
                let change = advice.change.describe_change();
                if advice.setting.kind.is_placement() {
                    format!("Move {} to {change}.", finding.subject.name())
                } else {
                    format!("{}: {change}", advice.setting)
                }
            })
            .join_with("; ");
        (!text.is_empty()).then_some(FixOrReason { here: true, text })
    }

    fn remedy_from_withheld_advice(
        finding: &Finding,
        withheld: &[WithheldAdvice],
    ) -> Option<FixOrReason> {
        let of = |one: &&WithheldAdvice| one.rule == finding.rule && one.subject == finding.subject;
        let one = withheld.iter().find(of)?;
        Some(FixOrReason {
            here: false,
            text: format!("Withheld: {}. {}", one.advice, one.because),
        })
    }
}
mod answers;
mod build;
pub mod export;
mod fixes;
mod flush_hop;
pub mod html;
pub mod json;
pub mod latency;
pub mod markdown;
mod monitoring;
mod mysql_commands;
mod output_format;
mod plan;
mod postgres_commands;
mod recommendation;
mod remount_commands;
mod saved_report;
pub mod script;
pub mod server_conf;
mod setting_source;
mod stack;
pub mod text;
mod upgrade;
pub mod view;
mod what_if {
    //! Compares the real host with the host under assumed facts. Plans, exports and the exit code
    //! stay those of the real host. Advice that can lose data is only listed as *would be offered*,
    //! because such advice requires observed facts.

    use std::collections::BTreeSet;

    use super::difference::{ReportSnapshot, compare_snapshots};
    use super::model::Report;
    use super::model::difference::FindingChangeKind;
    use super::model::what_if::{FactAssumption, StepChange, WhatIf, WithheldRiskyAdvice};
    use walwise_judge::rules::{Finding, Risk};
    use walwise_model::facts::catalog;

    /// False for a fact that walwise-judge derives, because it changes only with the facts that it
    /// is derived from.
    pub fn can_be_assumed(fact: &str) -> bool {
        !catalog::find_by_name(fact).is_some_and(|key| key.is_judged)
    }

    impl WhatIf {
        /// Compares two reports under assumptions with the real one: `supposed` marks the assumed
        /// facts as assumed, `pretended` treats them as observed.
        pub fn new(
            assumed: Vec<FactAssumption>,
            real: &Report,
            supposed: &Report,
            pretended: &Report,
        ) -> Self {
            let mut difference = compare_snapshots(
                &ReportSnapshot::from_report(real),
                &ReportSnapshot::from_report(supposed),
            );
            difference
                .findings
                .retain(|finding| finding.class != FindingChangeKind::Same);
            let (before, now) = (plan_steps(real), plan_steps(supposed));
            let gone = before.difference(&now).cloned().map(|step| StepChange {
                comes: false,
                ..step
            });
            let mut steps: Vec<StepChange> = now.difference(&before).cloned().collect();
            steps.extend(gone);
            steps.sort();
            let given = offered_risky_advice(real);
            let mut would_be_offered = offered_risky_advice(pretended);
            would_be_offered.retain(|offer| !given.contains(offer));
            Self {
                assumed,
                difference,
                steps,
                would_be_offered,
            }
        }
    }

    /// All steps of the report's plans, with `comes` set. The caller clears it for steps that only the
    /// real report has.
    fn plan_steps(report: &Report) -> BTreeSet<StepChange> {
        report
            .plans
            .iter()
            .flat_map(|plan| plan.steps.iter().map(move |step| (&plan.target, step)))
            .map(|(target, step)| StepChange {
                target: target.clone(),
                comes: true,
                subject: step.subject.clone(),
                advice: format!(
                    "{}: {}",
                    step.advice.setting,
                    step.advice.change.describe_change()
                ),
            })
            .collect()
    }

    fn offered_risky_advice(report: &Report) -> Vec<WithheldRiskyAdvice> {
        let of = |finding: &Finding| {
            finding
                .advice
                .iter()
                .filter(|advice| advice.risk == Risk::DataLossIfWrong)
                .map(|advice| WithheldRiskyAdvice {
                    rule: finding.rule.clone(),
                    subject: finding.subject.clone(),
                    advice: format!("{}: {}", advice.setting, advice.change.describe_change()),
                    tradeoff: advice.tradeoff.clone(),
                })
                .collect::<Vec<_>>()
        };
        let mut all: Vec<WithheldRiskyAdvice> = report.findings.iter().flat_map(of).collect();
        all.sort();
        all
    }
}
#[cfg(any(test, feature = "testing"))]
pub mod sample_reports;

pub use build::{ReportInput, RunContext, TargetSubjectCollector, build_report, host_summary};
pub use device_content::DeviceContent;
pub use mkfs::{mkfs_command, planned_filesystem};
pub(crate) use model::SCHEMA_VERSION;
pub use model::answer::{AnswerAction, Topic};
pub use model::difference::{Difference, KernelUpgradeChange};
#[cfg(any(test, feature = "testing"))]
pub use model::difference::{
    DisplayedValue, FactChange, FactState, MethodLatencyShift, ProbeLatencyShift,
};
pub use model::latency::CommitLatency;
pub use model::upgrade::Upgrade;
pub use model::what_if::{FactAssumption, StepChange, WhatIf, WithheldRiskyAdvice};
pub use model::{
    Alternative, Conflict, DirectoryRow, FilesystemChoice, HostSummary, LayerRow, Plan,
    ProbeResult, Report, RunOption, Stack, Step, TargetSummary, ToolSummary, WithheldAdvice,
};
pub use monitoring::PluginState;
pub use output_format::Format;
pub use saved_report::SavedReport;

pub use plan::{FilesystemRefusalFn, RuleOverrides};
pub use what_if::can_be_assumed;
