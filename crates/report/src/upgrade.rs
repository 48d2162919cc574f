//! The effects of the next kernel, as tasks for an admin: the report of this host compared with one
//! in which the next kernel, distribution and tools are assumed.
//!
//! Everything that the next boot needs has an answer. Wrong lines are named option by option, even
//! if wrong today; other subjects only if they change. The section of a finding follows from the
//! facts in its condition, so rules can be added, disabled or given another level without a change
//! here.

mod kernel_vendor {

    use walwise_judge::compat;
    use walwise_model::facts::catalog::kernel;
    use walwise_model::facts::{FactSet, Subject};
    use walwise_model::version::Version;

    /// The kernel's version and its vendor.
    pub fn kernel_and_vendor(facts: &FactSet) -> Option<(Version, String)> {
        let host = Subject::host();
        facts
            .value(&host, &kernel::VERSION)
            .zip(facts.value(&host, &kernel::VENDOR))
    }

    /// Whether the same user builds both kernels, so that the next one has every feature in use.
    pub fn is_same_builder(
        now: Option<&(Version, String)>,
        then: Option<&(Version, String)>,
    ) -> bool {
        now.zip(then).is_some_and(|((now, by), (then, next_by))| {
            compat::is_same_builder((now, by), (then, next_by))
        })
    }
}
mod boot_dependencies;
mod change {
    //! Makes items from a ruling of the validity table, or from a finding and the facts in its
    //! condition.

    use std::collections::BTreeMap;

    use crate::model::Report;
    use crate::model::upgrade::{Answer, Item, Part};
    use walwise_judge::compat::Support;
    use walwise_judge::rules::{Finding, Level, Outcome, Trace};
    use walwise_model::facts::{Scope, Subject};

    impl Item {
        /// An item that is not about a need of the next boot.
        pub(super) fn change(
            part: Part,
            level: Level,
            subject: &Subject,
            what: String,
            ruling: Support,
        ) -> Self {
            Self {
                part,
                level,
                subject: subject.clone(),
                place: None,
                what,
                because: ruling.because,
                sources: if ruling.source.is_empty() {
                    Vec::new()
                } else {
                    vec![ruling.source]
                },
                already: false,
                undecided: false,
                rule: None,
                certain_level: None,
                answer: None,
                name: None,
            }
        }

        /// An undecided item: it is unknown whether the next boot can do it.
        pub(super) fn undecided(
            subject: &Subject,
            level: Level,
            what: String,
            ruling: Support,
        ) -> Self {
            let answer = Some(Answer::CannotBeTold);
            Self {
                undecided: true,
                answer,
                ..Self::change(Part::NotKnown, level, subject, what, ruling)
            }
        }

        /// Turns it into a blocker.
        pub(super) fn into_blocker(self) -> Self {
            Self {
                part: Part::Blocker,
                undecided: false,
                answer: Some(Answer::Fails),
                ..self
            }
        }
    }

    pub fn from_finding(part: Part, finding: &Finding, already: bool) -> Item {
        Item {
            part,
            level: finding.level,
            subject: finding.subject.clone(),
            place: None,
            what: finding.title.clone(),
            because: finding.because.to_string(),
            sources: finding.refs.to_vec(),
            already,
            undecided: is_undecided(finding),
            rule: Some(finding.rule.clone()),
            certain_level: None,
            answer: None,
            name: None,
        }
    }

    /// Findings by rule and subject.
    pub type FindingIndex<'r> = BTreeMap<(&'r str, &'r Subject), &'r Finding>;

    pub fn index_findings(report: &Report) -> FindingIndex<'_> {
        report
            .findings
            .iter()
            .map(|finding| ((finding.rule.as_str(), &finding.subject), finding))
            .collect()
    }

    /// The same finding in the other report.
    pub fn counterpart<'r>(
        findings: &FindingIndex<'r>,
        finding: &'r Finding,
    ) -> Option<&'r Finding> {
        findings
            .get(&(finding.rule.as_str(), &finding.subject))
            .copied()
    }

    pub fn applies(finding: &Finding) -> bool {
        finding.outcome == Outcome::Applies
    }

    pub fn is_undecided(finding: &Finding) -> bool {
        matches!(finding.outcome, Outcome::Undecided { .. })
    }

    pub fn is_about_boot(finding: &Finding) -> bool {
        finding.subject.scope() == Scope::Boot
    }

    /// Whether the condition of a finding tests a fact, by its trace.
    pub fn tests_fact(finding: &Finding, fact: &str) -> bool {
        fn trace_tests_fact(trace: &Trace, fact: &str) -> bool {
            trace.seen.as_ref().is_some_and(|seen| seen.fact == fact)
                || trace.kids.iter().any(|kid| trace_tests_fact(kid, fact))
        }
        finding
            .trace
            .as_ref()
            .is_some_and(|trace| trace_tests_fact(trace, fact))
    }
}
mod boot;
mod severity {
    //! The severity of a boot line that fails.

    use walwise_judge::rules::Level;
    use walwise_model::facts::catalog::boot;
    use walwise_model::facts::{FactSet, Subject};

    /// The level of a failing line: critical if the boot stops, warning if it continues.
    pub(super) fn line_severity(facts: &FactSet, line: &Subject) -> Level {
        let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
        let has = |word: &str| options.iter().any(|option| option == word);
        let is_root = facts.value(line, &boot::POINT).as_deref() == Some("/");
        let by_itself = facts.value(line, &boot::AUTO) != Some(false);
        let waits = by_itself
            && !["nofail", "_netdev", "x-systemd.automount"]
                .into_iter()
                .any(has);
        if is_root || waits {
            Level::Critical
        } else {
            Level::Warning
        }
    }
}
mod boot_needs;
mod feature;
mod layer;
mod other_changes;
mod parameter;
mod unknown;

use std::cmp::Reverse;

use super::model::Report;
use super::model::upgrade::{Answer, Item, Part, Upgrade};
use walwise_model::facts::Subject;

impl Upgrade {
    /// The changes from the real machine to the assumed one.
    pub fn compare(real: &Report, supposed: &Report) -> Self {
        let mut items = boot::boot_items(real, supposed);
        items.extend(other_changes::other_items(real, supposed));
        items.extend(feature::feature_items(&real.facts, &supposed.facts));
        items.extend(unknown::unknown_items(real, supposed));
        items.extend(layer::layer_items(&real.facts, &supposed.facts));
        items.extend(parameter::parameter_items(&supposed.facts));
        items.extend(boot_needs::severity_raises(&supposed.facts, &items));
        // A subject that fails cannot also improve.
        let fails = |item: &Item| item.answer == Some(Answer::Fails);
        let failing: Vec<Subject> = items
            .iter()
            .filter(|item| fails(item))
            .map(|item| item.subject.clone())
            .collect();
        items.retain(|item| item.part != Part::Better || !failing.contains(&item.subject));
        items.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        items.dedup();
        let needs = boot_needs::needs(&supposed.facts, &items);
        Self { items, needs }
    }
}

/// The sort key of items: part, level, and the order of lines in a file.
fn sort_key(item: &Item) -> impl Ord + '_ {
    let place = item.place.as_deref().unwrap_or_default();
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    let line: u32 = line.parse().unwrap_or(0);
    (
        item.part,
        Reverse(item.level),
        item.undecided,
        file,
        line,
        &item.subject,
        &item.what,
        &item.rule,
    )
}
