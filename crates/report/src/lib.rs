//! The report: one value from which the screens, the text, the JSON and every export are made.
//! Pure.
//!
//! It orders and joins judgements and makes none itself. It is also the last guard: advice that the
//! validity table does not accept for this kernel, tool or server is removed here and listed as
//! withheld.

mod content;
pub mod inside;
mod index {
    //! Findings by subject, so that a report on a host with thousands of disks takes linear time.

    use std::collections::BTreeMap;

    use walwise_judge::rules::Finding;
    use walwise_model::facts::Subject;

    pub struct Index<'a> {
        by_subject: BTreeMap<&'a Subject, Vec<(usize, &'a Finding)>>,
    }

    impl<'a> Index<'a> {
        /// An index of these findings; their order is kept.
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

        /// Those about any of these subjects, each with its position in the whole, in that order.
        pub fn about(&self, subjects: &[Subject]) -> Vec<(usize, &'a Finding)> {
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
mod bound;
mod layer;
mod model;
pub mod ratios {
    //! An axis of ratios, as logarithms: where a candidate of a trial stands against the first,
    //! with marks in per cent.
    //!
    //! Equal ratios take equal room, and the first candidate, at 0 %, is always on it.

    use walwise_measure::trial::Interval;

    /// An axis from one log-ratio to another.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RatioAxis {
        low: f64,
        high: f64,
    }

    /// Per cent that may be marked, those that matter most first.
    const MARKS: [f64; 25] = [
        0.0, 10.0, -10.0, 20.0, -20.0, 50.0, -50.0, 100.0, -80.0, 5.0, -5.0, 200.0, -90.0, 2.0,
        -2.0, 400.0, -95.0, 900.0, -98.0, 1.0, -1.0, 1900.0, -99.0, 4900.0, 9900.0,
    ];
    /// An axis reaches at least this far on each side of the first: 5 %.
    const LEAST: f64 = 0.05;
    /// And at most so far, whatever was measured: a hundredth, and a hundred times.
    const MOST: f64 = 4.605_170_185_988_092;

    impl RatioAxis {
        /// The axis for these intervals.
        pub fn around(intervals: impl Iterator<Item = Interval>) -> Self {
            let sane = intervals.filter(|found| found.low.is_finite() && found.high.is_finite());
            let (low, high) = sane.fold((-LEAST, LEAST), |(low, high), found| {
                (low.min(found.low), high.max(found.high))
            });
            // A little room beyond the ends, so that they are seen to end.
            let room = 0.04 * (high - low);
            Self {
                low: (low - room).max(-MOST),
                high: (high + room).min(MOST),
            }
        }

        /// The share of the axis at which a log-ratio stands: below 0 or above 1 where it lies
        /// outside; 0 for what is no number.
        pub fn share(&self, log: f64) -> f64 {
            let share = (log - self.low) / (self.high - self.low);
            if share.is_finite() { share } else { 0.0 }
        }

        /// Its marks in ascending order, each as a share with its label, no two closer than
        /// `apart`.
        pub fn marks(&self, apart: f64) -> Vec<(f64, String)> {
            let mut found: Vec<(f64, String)> = Vec::new();
            for percent in MARKS {
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
                let axis = RatioAxis::around([interval].into_iter());
                let marks = axis.marks(apart);
                prop_assert!(marks.iter().any(|(_, label)| label == "0 %"), "{:?}", marks);
                prop_assert!(marks.windows(2).all(|pair| pair[1].0 - pair[0].0 >= apart - 1e-9), "{:?}", marks);
                prop_assert!(axis.share(low) <= axis.share(low + wide));
            }
        }

        #[test]
        fn what_is_no_number_is_on_no_axis() {
            let axis = RatioAxis::around(
                [Interval {
                    low: f64::NEG_INFINITY,
                    value: 0.0,
                    high: f64::NAN,
                }]
                .into_iter(),
            );
            assert_eq!(axis, RatioAxis::around(std::iter::empty()));
            assert!(axis.share(f64::NAN) <= 0.0);
        }
    }
}
mod choice;
pub mod difference;
pub mod exit;
mod identity {
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
        /// Its value, trimmed: letters, digits, single characters of `_-.:` and blanks only.
        pub value: String,
    }

    /// The identifying attribute of a disk, if one was read on this very machine and is plain text.
    pub fn of(report: &Report, disk: &Subject) -> Option<Identity> {
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
                let shared = fact.name() == device::SERIAL.name() && file == "device/serial";
                let value = reading.value()?;
                (!shared && plain(file, "_/") && plain(value, "_-.: ")).then(|| Identity {
                    file: file.to_owned(),
                    value: value.clone(),
                })
            })
    }

    fn plain(text: &str, also: &str) -> bool {
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
                    report.facts.know(&disk, fact, (*value).to_owned(), source);
                }
                let expect = expect.map(|(file, value)| Identity {
                    file: file.to_owned(),
                    value: value.to_owned(),
                });
                assert_eq!(of(&report, &disk), expect);
                report.host.live = false;
                assert_eq!(of(&report, &disk), None, "a capture masks it");
            }
        }
    }
}
pub mod needed {
    //! The unknown facts that a target needs: those missing for its verdict, and those that would
    //! decide its rules.
    //!
    //! They belong to the target's own stack and neighbours: itself, the layers below, its boot
    //! lines, its servers with their logs, and the host. A fact about a shared disk is needed by
    //! both of its targets; an unknown fact about another server is not.

    use std::collections::{BTreeMap, BTreeSet};

    use super::{Report, TargetSummary};
    use walwise_judge::rules::{Finding, Outcome};
    use walwise_model::facts::{FactSet, Need, Scope, Subject};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Needed {
        /// The fact, why it is unknown, and its remedy.
        pub need: Need,
        /// The rules that it would help to decide; empty where only the verdict needs it.
        pub rules: Vec<String>,
    }

    /// The needs of a target, given the findings that concern it: those of its verdict come first.
    pub fn of_target<'a>(
        report: &Report,
        target: &TargetSummary,
        about: impl IntoIterator<Item = &'a Finding>,
    ) -> Vec<Needed> {
        let way = TargetScope::new(&report.facts, target);
        let mut all = Collected::default();
        let missing = report
            .verdict(&target.target)
            .into_iter()
            .flat_map(|verdict| &verdict.missing);
        missing
            .filter(|need| way.holds(&need.subject))
            .for_each(|need| all.add(need, None));
        for finding in about {
            let Outcome::Undecided { needs } = &finding.outcome else {
                continue;
            };
            // Facts of a measurement are requested with the price of a commit, not one by one.
            let to_read =
                |need: &&Need| !need.fact.starts_with("probe.") && way.holds(&need.subject);
            needs
                .iter()
                .flatten()
                .filter(to_read)
                .for_each(|need| all.add(need, Some(&finding.rule)));
        }
        all.needed
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
        pub fn holds(&self, subject: &Subject) -> bool {
            subject.scope() == Scope::Host
                || self.own.contains(subject)
                || self.servers.contains(subject)
        }
    }

    /// Each fact once, in order of arrival.
    #[derive(Default)]
    struct Collected {
        needed: Vec<Needed>,
        at: BTreeMap<(Subject, String), usize>,
    }

    impl Collected {
        fn add(&mut self, need: &Need, rule: Option<&str>) {
            let next = self.needed.len();
            let at = *self
                .at
                .entry((need.subject.clone(), need.fact.clone()))
                .or_insert(next);
            if at == next {
                self.needed.push(Needed {
                    need: need.clone(),
                    rules: Vec::new(),
                });
            }
            let rules = self.needed.get_mut(at).map(|needed| &mut needed.rules);
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
mod order {
    //! The urgency of a target, by which the text and the screens order targets. The causes are
    //! decided elsewhere; this module only compares.

    use super::{Report, TargetSummary};
    use walwise_judge::durability::Standing;

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
                Some(Standing::AtRisk) => Urgency::AtRisk,
                Some(Standing::Contradictory) => Urgency::Contradictory,
                _ if critical() => Urgency::Critical,
                Some(Standing::Unproven) => Urgency::Unproven,
                Some(Standing::ProvenByDrill) => Urgency::ProvenByDrill,
                Some(Standing::Durable) => Urgency::Durable,
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
    use walwise_judge::rules::{Change, Finding, Level, Mending, Outcome};

    /// Gives every applying critical finding its remedy.
    pub fn give(findings: &mut [Finding], withheld: &[Withheld]) {
        let critical = |finding: &&mut Finding| {
            finding.level == Level::Critical && finding.outcome == Outcome::Applies
        };
        for finding in findings.iter_mut().filter(critical) {
            let told = finding.remedy.take();
            finding.remedy = by_advice(finding)
                .or(told)
                .or_else(|| none(finding, withheld))
                .or_else(|| Some(raised()));
        }
    }

    fn by_advice(finding: &Finding) -> Option<Mending> {
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
                        advice.change.words()
                    )
                } else {
                    format!("{}: {}", advice.setting, advice.change.words())
                }
            })
            .collect();
        (!all.is_empty()).then(|| Mending {
            here: true,
            says: all.join("; "),
        })
    }

    fn none(finding: &Finding, withheld: &[Withheld]) -> Option<Mending> {
        let of = |one: &&Withheld| one.rule == finding.rule && one.subject == finding.subject;
        let one = withheld.iter().find(of)?;
        Some(Mending {
            here: false,
            says: format!("Withheld: {}. {}", one.advice, one.because),
        })
    }

    /// For a rule of lower level that a user's file made critical.
    fn raised() -> Mending {
        let says = "None is known: a user's file raised this rule to critical, and the rule names no remedy.";
        Mending {
            here: false,
            says: says.to_owned(),
        }
    }
}
mod answers;
mod build;
pub mod conf;
pub mod fixes;
mod format;
mod hop;
pub mod html;
pub mod json;
mod kept;
pub mod markdown;
mod monitoring;
mod mysql;
mod origin;
pub mod paste;
mod plan;
mod postgres;
pub mod price;
pub mod recommendation;
mod remount;
pub mod script;
mod stack;
pub mod telling;
pub mod text;
pub mod upgrade;
mod what_if {
    //! The differences under assumed facts: a part of the report of the real machine, which stays
    //! unchanged.
    //!
    //! Plans, exports and the exit code are those of the observed machine. Advice that can lose
    //! data is only named as *would be offered*, without commands, because it requires observed
    //! facts.

    use std::collections::BTreeSet;

    use super::difference::{Kept, difference};
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
            let mut difference = difference(&Kept::from_report(real), &Kept::from_report(supposed));
            difference
                .findings
                .retain(|finding| finding.class != Class::Same);
            let (before, now) = (steps(real), steps(supposed));
            let gone = before.difference(&now).map(|step| change(step, false));
            let mut steps: Vec<StepChange> = now
                .difference(&before)
                .map(|step| change(step, true))
                .collect();
            steps.extend(gone);
            steps.sort();
            let given = dangerous(real);
            let mut would_be_offered = dangerous(pretended);
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
    fn steps(report: &Report) -> BTreeSet<(Subject, Subject, String)> {
        let plans = report.plans.iter();
        let steps = plans.flat_map(|plan| plan.steps.iter().map(move |step| (&plan.target, step)));
        steps
            .map(|(target, step)| {
                let advice = format!("{}: {}", step.advice.setting, step.advice.change.words());
                (target.clone(), step.subject.clone(), advice)
            })
            .collect()
    }

    fn change((target, subject, advice): &(Subject, Subject, String), comes: bool) -> StepChange {
        StepChange {
            target: target.clone(),
            comes,
            subject: subject.clone(),
            advice: advice.clone(),
        }
    }

    /// Everything in a report that can lose data.
    fn dangerous(report: &Report) -> Vec<WouldBeOffered> {
        let of = |finding: &Finding| {
            let risky = finding
                .advice
                .iter()
                .filter(|advice| advice.risk == Risk::DataLossIfWrong);
            let offers = risky.map(|advice| WouldBeOffered {
                rule: finding.rule.clone(),
                subject: finding.subject.clone(),
                advice: format!("{}: {}", advice.setting, advice.change.words()),
                price: advice.price.clone(),
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

pub use build::{Concerns, Input, RunContext, build, host_summary};
pub use content::DeviceContent;
pub use format::Format;
pub use kept::KeptReport;
pub use mkfs::{chosen, command as mkfs_command};
pub use model::answer::{AnswerAction, Topic};
pub use model::price::Price;
pub use model::upgrade::Upgrade;
pub use model::what_if::{Assumed, StepChange, WhatIf, WouldBeOffered};
pub use model::{
    Alternative, Conflict, DirectoryRow, FilesystemChoice, HostSummary, LayerRow, Plan,
    ProbeResult, Report, RunOption, SCHEMA_VERSION, Stack, Step, TargetSummary, ToolSummary,
    Withheld,
};
pub use monitoring::{Health, Protocol};

pub use plan::{FilesystemRefusal, Overrides};
pub use what_if::can_be_assumed;
