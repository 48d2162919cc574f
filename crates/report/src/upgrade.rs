//! The effects of the next kernel, as tasks for an admin. The report of this host is compared with
//! a report that assumes the next kernel, distribution and tools.
//!
//! Everything that the next boot needs gets an answer. Wrong boot lines are listed option by
//! option, even if wrong today; other subjects only if they change. The section of a finding
//! follows from the facts in its condition, so changed rules need no change here.

mod kernel_vendor {

    use walwise_judge::compat;
    use walwise_model::facts::catalog::kernel;
    use walwise_model::facts::{FactSet, Subject};
    use walwise_model::version::Version;

    /// `None` if either is unknown.
    pub fn kernel_and_vendor(facts: &FactSet) -> Option<(Version, String)> {
        let host = Subject::host();
        facts
            .value(&host, &kernel::VERSION)
            .zip(facts.value(&host, &kernel::VENDOR))
    }

    /// True if one custom builder made both kernels and is assumed to keep every feature in use.
    pub fn is_same_custom_builder(
        now: Option<&(Version, String)>,
        then: Option<&(Version, String)>,
    ) -> bool {
        now.zip(then).is_some_and(|((now, by), (then, next_by))| {
            compat::is_same_custom_builder((now, by), (then, next_by))
        })
    }
}
mod boot_dependencies;
mod upgrade_item {
    //! Makes items from a ruling of the validity table, or from a finding and the facts in its
    //! condition.

    use std::collections::BTreeMap;

    use crate::model::Report;
    use crate::model::upgrade::{BootOutcome, UpgradeItem, UpgradeSection};
    use walwise_judge::compat::Support;
    use walwise_judge::rules::{Finding, Level, Outcome, Trace};
    use walwise_model::facts::{Scope, Subject};

    impl UpgradeItem {
        /// An item that is not about a need of the next boot.
        pub(super) fn new_change(
            part: UpgradeSection,
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

        /// An item about something that the next boot may or may not be able to do.
        pub(super) fn new_undecided(
            subject: &Subject,
            level: Level,
            what: String,
            ruling: Support,
        ) -> Self {
            let answer = Some(BootOutcome::CannotBeTold);
            Self {
                undecided: true,
                answer,
                ..Self::new_change(UpgradeSection::NotKnown, level, subject, what, ruling)
            }
        }

        pub(super) fn into_blocker(self) -> Self {
            Self {
                part: UpgradeSection::Blocker,
                undecided: false,
                answer: Some(BootOutcome::Fails),
                ..self
            }
        }
    }

    pub fn item_from_finding(
        part: UpgradeSection,
        finding: &Finding,
        already: bool,
    ) -> UpgradeItem {
        UpgradeItem {
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

    /// Findings by rule id and subject.
    pub type FindingIndex<'r> = BTreeMap<(&'r str, &'r Subject), &'r Finding>;

    pub fn index_findings(report: &Report) -> FindingIndex<'_> {
        report
            .findings
            .iter()
            .map(|finding| ((finding.rule.as_str(), &finding.subject), finding))
            .collect()
    }

    /// Finds the finding with equal rule and subject in the other report.
    pub fn find_counterpart<'r>(
        findings: &FindingIndex<'r>,
        finding: &'r Finding,
    ) -> Option<&'r Finding> {
        findings
            .get(&(finding.rule.as_str(), &finding.subject))
            .copied()
    }

    pub fn finding_applies(finding: &Finding) -> bool {
        finding.outcome == Outcome::Applies
    }

    pub fn is_undecided(finding: &Finding) -> bool {
        matches!(finding.outcome, Outcome::Undecided { .. })
    }

    pub fn is_about_boot(finding: &Finding) -> bool {
        finding.subject.scope() == Scope::Boot
    }

    /// Searches the trace of the finding for a condition on the fact.
    pub fn finding_tests_fact(finding: &Finding, fact: &str) -> bool {
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

    use walwise_judge::rules::Level;
    use walwise_model::facts::catalog::boot;
    use walwise_model::facts::{FactSet, Subject};

    /// Critical if the boot stops when the line fails, warning if the boot continues.
    pub(super) fn boot_line_severity(facts: &FactSet, line: &Subject) -> Level {
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
mod filesystem_features;
mod kernel_parameters;
mod layers;
mod other_changes;
mod unknown_line_properties;

use std::cmp::Reverse;

use super::model::Report;
use super::model::upgrade::{BootOutcome, Upgrade, UpgradeItem, UpgradeSection};
use walwise_model::facts::Subject;

impl Upgrade {
    /// `supposed` is the report under the assumptions.
    pub fn from_reports(real: &Report, supposed: &Report) -> Self {
        let mut items = boot::boot_items(real, supposed);
        items.extend(other_changes::other_items(real, supposed));
        items.extend(filesystem_features::feature_items(
            &real.facts,
            &supposed.facts,
        ));
        items.extend(unknown_line_properties::unknown_items(real, supposed));
        items.extend(layers::layer_items(&real.facts, &supposed.facts));
        items.extend(kernel_parameters::parameter_items(&supposed.facts));
        items.extend(boot_needs::severity_raising_items(&supposed.facts, &items));
        // A subject that fails cannot also improve.
        let fails = |item: &UpgradeItem| item.answer == Some(BootOutcome::Fails);
        let failing: Vec<Subject> = items
            .iter()
            .filter(|item| fails(item))
            .map(|item| item.subject.clone())
            .collect();
        items
            .retain(|item| item.part != UpgradeSection::Better || !failing.contains(&item.subject));
        items.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        items.dedup();
        let needs = boot_needs::list_boot_needs(&supposed.facts, &items);
        Self { items, needs }
    }
}

/// Sorts by part and level, then in the order of lines in a file.
fn sort_key(item: &UpgradeItem) -> impl Ord + '_ {
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
