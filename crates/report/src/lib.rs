//! The report: one value from which the screens, the text, the JSON and every export are made.
//! Pure.
//!
//! It orders and joins judgements and makes none itself. It is also the last guard: advice that the
//! validity table does not accept for this kernel, tool or server is removed here and listed as
//! withheld.

mod content;
pub mod embedded_json;
mod index {
    //! Findings by subject, so that a report on a host with thousands of disks takes linear time.

    use std::collections::BTreeMap;

    use walwise_judge::rules::Finding;
    use walwise_model::facts::Subject;

    pub struct Index<'a> {
        by_subject: BTreeMap<&'a Subject, Vec<(usize, &'a Finding)>>,
    }

    impl<'a> Index<'a> {
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

        /// Findings about any of these subjects, each once, with its position among all findings.
        pub fn findings_about(&self, subjects: &[Subject]) -> Vec<(usize, &'a Finding)> {
            let mut found: Vec<(usize, &Finding)> = subjects
                .iter()
                .filter_map(|subject| self.by_subject.get(subject))
                .flatten()
                .copied()
                .collect();
            found.sort_by_key(|(place, _)| *place);
            found.dedup_by_key(|(place, _)| *place);
            found
        }
    }
}
pub mod axis;
mod layer;
mod model;
mod truncate;
pub mod ratios {
    //! An axis of log-ratios: a trial candidate relative to the first, with marks in per cent.
    //!
    //! Equal ratios take equal space, and the first candidate, at 0 %, is always on the axis.

    use walwise_measure::trial::Interval;

    /// An axis from one log-ratio to another.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RatioAxis {
        low: f64,
        high: f64,
    }

    /// Per cent that may be marked, the most important first.
    const PERCENT_MARKS: [f64; 25] = [
        0.0, 10.0, -10.0, 20.0, -20.0, 50.0, -50.0, 100.0, -80.0, 5.0, -5.0, 200.0, -90.0, 2.0,
        -2.0, 400.0, -95.0, 900.0, -98.0, 1.0, -1.0, 1900.0, -99.0, 4900.0, 9900.0,
    ];
    /// An axis reaches at least this far on each side of the first: 5 %.
    const MIN_REACH: f64 = 0.05;
    /// And at most this far: a hundredth or a hundredfold, whatever was measured.
    const MAX_REACH: f64 = 4.605_170_185_988_092;

    impl RatioAxis {
        /// The axis for these intervals.
        pub fn spanning(intervals: impl Iterator<Item = Interval>) -> Self {
            let sane = intervals.filter(|found| found.low.is_finite() && found.high.is_finite());
            let (low, high) = sane.fold((-MIN_REACH, MIN_REACH), |(low, high), found| {
                (low.min(found.low), high.max(found.high))
            });
            // A margin, so that the ends of the intervals are visible.
            let room = 0.04 * (high - low);
            Self {
                low: (low - room).max(-MAX_REACH),
                high: (high + room).min(MAX_REACH),
            }
        }

        /// The position of a log-ratio as a share of the axis: below 0 or above 1 outside it, 0 if
        /// not finite.
        pub fn share(&self, log: f64) -> f64 {
            let share = (log - self.low) / (self.high - self.low);
            if share.is_finite() { share } else { 0.0 }
        }

        /// Marks in ascending order as (share, label), no two closer than `apart`.
        pub fn ticks(&self, apart: f64) -> Vec<(f64, String)> {
            let mut found: Vec<(f64, String)> = Vec::new();
            for percent in PERCENT_MARKS {
                let log = (percent / 100.0).ln_1p();
                let share = self.share(log);
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
            fn the_first_is_always_marked_and_marks_stand_apart(low in -9.0_f64..1.0, wide in 0.0_f64..9.0, apart in 0.05_f64..0.5) {
                let interval = Interval { low, value: low, high: low + wide };
                let axis = RatioAxis::spanning([interval].into_iter());
                let marks = axis.ticks(apart);
                prop_assert!(marks.iter().any(|(_, label)| label == "0 %"), "{:?}", marks);
                prop_assert!(marks.windows(2).all(|pair| pair[1].0 - pair[0].0 >= apart - 1e-9), "{:?}", marks);
                prop_assert!(axis.share(low) <= axis.share(low + wide));
            }
        }

        #[test]
        fn what_is_no_number_is_on_no_axis() {
            let axis = RatioAxis::spanning(
                [Interval {
                    low: f64::NEG_INFINITY,
                    value: 0.0,
                    high: f64::NAN,
                }]
                .into_iter(),
            );
            assert_eq!(axis, RatioAxis::spanning(std::iter::empty()));
            assert!(axis.share(f64::NAN) <= 0.0);
        }
    }
}
pub mod difference;
mod disk_ranking;
pub mod exit;
mod disk_id {
    //! The unique identity of a disk, as an attribute of sysfs that can be read again when it
    //! matters: before mkfs, in a udev rule.
    //!
    //! Names such as sdb are assigned at every boot and are no identity. All name spaces of an NVMe
    //! disk share its serial number, which therefore confirms an identity but is none by itself.
    //! Captures mask all identities.

    use crate::Report;
    use walwise_model::facts::catalog::device;
    use walwise_model::facts::{Source, Subject};

    /// An attribute and its value.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Identity {
        /// The file, below the disk's directory in /sys/class/block: `device/wwid`.
        pub file: String,
        /// Its value, trimmed: only letters, digits, `_-.:` and blanks.
        pub value: String,
    }

    /// The identifying attribute of a disk, if one was read on this very machine and is plain text.
    pub fn stable_id(report: &Report, disk: &Subject) -> Option<Identity> {
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
                // All namespaces of an NVMe disk have the same device/serial.
                let shared = fact.name() == device::SERIAL.name() && file == "device/serial";
                let value = reading.value()?;
                (!shared && is_plain_text(file, "_/") && is_plain_text(value, "_-.: ")).then(|| {
                    Identity {
                        file: file.to_owned(),
                        value: value.clone(),
                    }
                })
            })
    }

    fn is_plain_text(text: &str, also: &str) -> bool {
        let good = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(good)
            && text.trim() == text
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::sample;

        #[test]
        fn only_what_tells_one_disk_from_all_others_and_was_read_here_counts() {
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
                let mut report = sample::free_disk();
                let disk = Subject::device("sdc");
                for (fact, (file, value)) in &facts {
                    let source = Source::file(format!("/sys/class/block/sdc/{file}"));
                    report
                        .facts
                        .insert_known(&disk, fact, (*value).to_owned(), source);
                }
                let expect = expect.map(|(file, value)| Identity {
                    file: file.to_owned(),
                    value: value.to_owned(),
                });
                assert_eq!(stable_id(&report, &disk), expect);
                report.host.live = false;
                assert_eq!(stable_id(&report, &disk), None, "a capture masks it");
            }
        }
    }
}
pub mod missing_facts {
    //! The unknown facts that a target needs: those missing for its verdict, and those that would
    //! decide its rules.
    //!
    //! They belong to the target's own stack and neighbours: itself, the layers below, its boot
    //! lines, its servers with their logs, and the host. A fact about a shared disk is needed by
    //! both of its targets; an unknown fact about another server is not.

    use std::collections::{BTreeMap, BTreeSet};

    use super::{Report, TargetSummary};
    use walwise_judge::rules::{Finding, Outcome};
    use walwise_model::facts::{FactSet, MissingFact, Scope, Subject};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RequiredFact {
        /// The fact, why it is unknown, and its remedy.
        pub need: MissingFact,
        /// The rules that it would help to decide; empty where only the verdict needs it.
        pub rules: Vec<String>,
    }

    /// The missing facts of a target, those of its verdict first; `about` are the findings about
    /// it.
    pub fn target_missing_facts<'a>(
        report: &Report,
        target: &TargetSummary,
        about: impl IntoIterator<Item = &'a Finding>,
    ) -> Vec<RequiredFact> {
        let way = TargetScope::new(&report.facts, target);
        let mut all = MissingFacts::default();
        let missing = report
            .verdict(&target.target)
            .into_iter()
            .flat_map(|verdict| &verdict.missing);
        missing
            .filter(|need| way.contains(&need.subject))
            .for_each(|need| all.add(need, None));
        for finding in about {
            let Outcome::Undecided { needs } = &finding.outcome else {
                continue;
            };
            // The report asks for a measurement as a whole, not for each of its facts.
            let to_read = |need: &&MissingFact| {
                !need.fact.starts_with("probe.") && way.contains(&need.subject)
            };
            needs
                .iter()
                .flatten()
                .filter(to_read)
                .for_each(|need| all.add(need, Some(&finding.rule)));
        }
        all.entries
    }

    /// The subjects that belong to a target.
    pub struct TargetScope<'a> {
        own: BTreeSet<&'a Subject>,
        servers: BTreeSet<Subject>,
    }

    impl<'a> TargetScope<'a> {
        /// The subjects of a target, including the log places of the servers on it.
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
                        .filter_map(|scope| facts.resolve(&server, scope)),
                );
                all.extend(facts.stack(&server));
                all.insert(server);
            }
            Self {
                own: target.subjects.iter().collect(),
                servers: all,
            }
        }

        /// Whether a subject belongs to it; the host always does.
        pub fn contains(&self, subject: &Subject) -> bool {
            subject.scope() == Scope::Host
                || self.own.contains(subject)
                || self.servers.contains(subject)
        }
    }

    /// Each fact once, in order of insertion.
    #[derive(Default)]
    struct MissingFacts {
        entries: Vec<RequiredFact>,
        positions: BTreeMap<(Subject, String), usize>,
    }

    impl MissingFacts {
        fn add(&mut self, need: &MissingFact, rule: Option<&str>) {
            let next = self.entries.len();
            let at = *self
                .positions
                .entry((need.subject.clone(), need.fact.clone()))
                .or_insert(next);
            if at == next {
                self.entries.push(RequiredFact {
                    need: need.clone(),
                    rules: Vec::new(),
                });
            }
            let rules = self.entries.get_mut(at).map(|needed| &mut needed.rules);
            if let Some((rules, rule)) = rules
                .zip(rule)
                .filter(|(rules, rule)| !rules.iter().any(|one| one == rule))
            {
                rules.push(rule.to_owned());
            }
        }
    }
}
mod mkfs;
mod options;
mod urgency {
    //! The urgency of a target, by which the text and the screens order targets. The causes are
    //! decided elsewhere; this module only compares.

    use super::{Report, TargetSummary};
    use walwise_judge::durability::VerdictKind;

    /// The urgency of a target, most urgent first. A critical finding raises a target although its
    /// verdict is durable, because the finding can be about the next boot.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Urgency {
        /// Commits may be lost.
        AtRisk,
        /// The evidence is contradictory.
        Contradictory,
        /// A critical finding applies.
        Critical,
        /// The verdict lacks evidence.
        Unproven,
        /// Durable, proven by a drill.
        ProvenByDrill,
        Durable,
        /// Not judged, and no disk.
        Unjudged,
        Device,
    }

    impl Report {
        /// The urgency of a target; `critical` tells whether a critical finding about it applies.
        pub fn urgency(&self, target: &TargetSummary, critical: impl FnOnce() -> bool) -> Urgency {
            match self.verdict(&target.target).map(|verdict| verdict.standing) {
                _ if target.kind.is_device() => Urgency::Device,
                Some(VerdictKind::AtRisk) => Urgency::AtRisk,
                Some(VerdictKind::Contradictory) => Urgency::Contradictory,
                _ if critical() => Urgency::Critical,
                Some(VerdictKind::Unproven) => Urgency::Unproven,
                Some(VerdictKind::ProvenByDrill) => Urgency::ProvenByDrill,
                Some(VerdictKind::Durable) => Urgency::Durable,
                None => Urgency::Unjudged,
            }
        }
    }
}
mod remedy {
    //! The remedy of each critical finding: its advice where there is some, else its rule's text,
    //! else why its advice was withheld.
    //!
    //! The loader makes sure that one of the three exists. Advice takes precedence over the text,
    //! which is meant for findings without any; a rule that a user raised may lack it.

    use super::Withheld;
    use walwise_judge::rules::{Change, Finding, Fix, Level, Outcome};

    pub fn fill_in(findings: &mut [Finding], withheld: &[Withheld]) {
        let critical = |finding: &&mut Finding| {
            finding.level == Level::Critical && finding.outcome == Outcome::Applies
        };
        for finding in findings.iter_mut().filter(critical) {
            let told = finding.remedy.take();
            finding.remedy = from_advice(finding)
                .or(told)
                .or_else(|| from_withheld(finding, withheld))
                .or_else(|| Some(without_remedy()));
        }
    }

    fn from_advice(finding: &Finding) -> Option<Fix> {
        let changes = finding
            .advice
            .iter()
            .filter(|advice| advice.change != Change::Keep);
        let all: Vec<String> = changes
            .map(|advice| {
                if advice.setting.kind.is_placement() {
                    format!(
                        "Move {} to {}.",
                        finding.subject.name(),
                        advice.change.describe()
                    )
                } else {
                    format!("{}: {}", advice.setting, advice.change.describe())
                }
            })
            .collect();
        (!all.is_empty()).then(|| Fix {
            here: true,
            text: all.join("; "),
        })
    }

    fn from_withheld(finding: &Finding, withheld: &[Withheld]) -> Option<Fix> {
        let of = |one: &&Withheld| one.rule == finding.rule && one.subject == finding.subject;
        let one = withheld.iter().find(of)?;
        Some(Fix {
            here: false,
            text: format!("Withheld: {}. {}", one.advice, one.because),
        })
    }

    /// For a rule that a user's file raised to critical: below that level a remedy is optional.
    fn without_remedy() -> Fix {
        let says =
            "No fix is known: a user's file raised this rule to critical, and the rule names none.";
        Fix {
            here: false,
            text: says.to_owned(),
        }
    }
}
mod answers;
mod build;
pub mod conf;
pub mod export;
pub mod fixes;
mod format;
mod hop;
pub mod html;
pub mod json;
pub mod latency;
pub mod markdown;
mod monitoring;
mod mysql;
mod plan;
mod postgres;
pub mod recommendation;
mod remount;
mod saved;
pub mod script;
mod setting_source;
mod stack;
pub mod text;
pub mod upgrade;
pub mod view;
mod what_if {
    //! The differences under assumed facts: a part of the report of the real machine, which stays
    //! unchanged.
    //!
    //! Plans, exports and the exit code are those of the observed machine. Advice that can lose
    //! data is only named as *would be offered*, without commands, because it requires observed
    //! facts.

    use std::collections::BTreeSet;

    use super::difference::{ReportSnapshot, difference};
    use super::model::Report;
    use super::model::difference::Class;
    use super::model::what_if::{Assumed, StepChange, WhatIf, WouldBeOffered};
    use walwise_judge::rules::{Finding, Risk};
    use walwise_model::facts::{Subject, catalog};

    /// Whether this fact can be assumed at all: conclusions change only through the facts they
    /// follow from.
    pub fn can_be_assumed(fact: &str) -> bool {
        !catalog::find(fact).is_some_and(|key| key.is_judged)
    }

    impl WhatIf {
        /// The differences between the real machine and the assumed one; `pretended` is the assumed
        /// one as if the assumptions had been observed.
        pub fn new(
            assumed: Vec<Assumed>,
            real: &Report,
            supposed: &Report,
            pretended: &Report,
        ) -> Self {
            let mut difference = difference(
                &ReportSnapshot::from_report(real),
                &ReportSnapshot::from_report(supposed),
            );
            difference
                .findings
                .retain(|finding| finding.class != Class::Same);
            let (before, now) = (plan_steps(real), plan_steps(supposed));
            let gone = before.difference(&now).map(|step| step_change(step, false));
            let mut steps: Vec<StepChange> = now
                .difference(&before)
                .map(|step| step_change(step, true))
                .collect();
            steps.extend(gone);
            steps.sort();
            let given = risky_offers(real);
            let mut would_be_offered = risky_offers(pretended);
            would_be_offered.retain(|offer| !given.contains(offer));
            Self {
                assumed,
                difference,
                steps,
                would_be_offered,
            }
        }
    }

    /// Every step by target, subject and change.
    fn plan_steps(report: &Report) -> BTreeSet<(Subject, Subject, String)> {
        let plans = report.plans.iter();
        let steps = plans.flat_map(|plan| plan.steps.iter().map(move |step| (&plan.target, step)));
        steps
            .map(|(target, step)| {
                let advice = format!("{}: {}", step.advice.setting, step.advice.change.describe());
                (target.clone(), step.subject.clone(), advice)
            })
            .collect()
    }

    fn step_change(
        (target, subject, advice): &(Subject, Subject, String),
        comes: bool,
    ) -> StepChange {
        StepChange {
            target: target.clone(),
            comes,
            subject: subject.clone(),
            advice: advice.clone(),
        }
    }

    /// Advice in a report that can lose data.
    fn risky_offers(report: &Report) -> Vec<WouldBeOffered> {
        let of = |finding: &Finding| {
            let risky = finding
                .advice
                .iter()
                .filter(|advice| advice.risk == Risk::DataLossIfWrong);
            let offers = risky.map(|advice| WouldBeOffered {
                rule: finding.rule.clone(),
                subject: finding.subject.clone(),
                advice: format!("{}: {}", advice.setting, advice.change.describe()),
                price: advice.tradeoff.clone(),
            });
            offers.collect::<Vec<_>>()
        };
        let mut all: Vec<WouldBeOffered> = report.findings.iter().flat_map(of).collect();
        all.sort();
        all
    }
}
#[cfg(any(test, feature = "testing"))]
pub mod sample;

pub use build::{Input, RunContext, SubjectsByTarget, build, host_summary};
pub use content::DeviceContent;
pub use format::Format;
pub use mkfs::{command as mkfs_command, planned_filesystem};
pub use model::answer::{AnswerAction, Topic};
pub use model::latency::CommitLatency;
pub use model::upgrade::Upgrade;
pub use model::what_if::{Assumed, StepChange, WhatIf, WouldBeOffered};
pub use model::{
    Alternative, Conflict, DirectoryRow, FilesystemChoice, HostSummary, LayerRow, Plan,
    ProbeResult, Report, RunOption, SCHEMA_VERSION, Stack, Step, TargetSummary, ToolSummary,
    Withheld,
};
pub use monitoring::{Health, Protocol};
pub use saved::SavedReport;

pub use plan::{FilesystemRefusal, Overrides};
pub use what_if::can_be_assumed;
