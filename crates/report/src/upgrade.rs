//! The effects of the next kernel: the report of this machine beside that of the same machine with
//! the next kernel, distribution and tools assumed, as tasks for an administrator.
//!
//! Everything that the next boot needs has an answer. Every line that will be wrong is named,
//! option by option, even if it is wrong today; other subjects are named only if they change. The
//! part of a finding follows from the facts in its condition, so that rules can be added, switched
//! off or given another level without a change here.

mod builder {
    //! Which kernel runs, and who builds it.

    use walwise_judge::validity;
    use walwise_model::facts::catalog::kernel;
    use walwise_model::facts::{FactSet, Subject};
    use walwise_model::version::Version;

    /// The kernel's version and its vendor.
    pub fn kernel_of(facts: &FactSet) -> Option<(Version, String)> {
        let host = Subject::host();
        facts
            .value(&host, &kernel::VERSION)
            .zip(facts.value(&host, &kernel::VENDOR))
    }

    /// Whether one person builds both kernels, so that the next one has every feature in use.
    pub fn built_again(now: Option<&(Version, String)>, then: Option<&(Version, String)>) -> bool {
        now.zip(then).is_some_and(|((now, by), (then, next_by))| {
            validity::builds_again((now, by), (then, next_by))
        })
    }
}
mod ground;
mod item {
    //! How items come to be: from a ruling of the table, or from a finding and what its condition
    //! looked at.

    use std::collections::BTreeMap;

    use crate::model::Report;
    use crate::model::upgrade::{Answer, Item, Part};
    use walwise_judge::rules::{Finding, Level, Outcome, Trace};
    use walwise_judge::validity::Ruling;
    use walwise_model::facts::{Scope, Subject};

    impl Item {
        /// A message that is no answer about a need of the next boot.
        pub(super) fn told(
            part: Part,
            level: Level,
            subject: &Subject,
            what: String,
            ruling: Ruling,
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
                sure: None,
                answer: None,
                name: None,
            }
        }

        /// A message that it is unknown whether the next boot can do it.
        pub(super) fn open(subject: &Subject, level: Level, what: String, ruling: Ruling) -> Self {
            let answer = Some(Answer::CannotBeTold);
            Self {
                undecided: true,
                answer,
                ..Self::told(Part::NotKnown, level, subject, what, ruling)
            }
        }

        /// The same as a need that the next boot cannot meet.
        pub(super) fn blocks(self) -> Self {
            Self {
                part: Part::Blocker,
                undecided: false,
                answer: Some(Answer::Fails),
                ..self
            }
        }
    }

    pub fn item(part: Part, finding: &Finding, already: bool) -> Item {
        Item {
            part,
            level: finding.level,
            subject: finding.subject.clone(),
            place: None,
            what: finding.title.clone(),
            because: finding.because.to_string(),
            sources: finding.refs.to_vec(),
            already,
            undecided: is_open(finding),
            rule: Some(finding.rule.clone()),
            sure: None,
            answer: None,
            name: None,
        }
    }

    /// Findings by rule and subject.
    pub type FindingIndex<'r> = BTreeMap<(&'r str, &'r Subject), &'r Finding>;

    pub fn by_name(report: &Report) -> FindingIndex<'_> {
        report
            .findings
            .iter()
            .map(|finding| ((finding.rule.as_str(), &finding.subject), finding))
            .collect()
    }

    /// The same finding in the other report.
    pub fn same<'r>(findings: &FindingIndex<'r>, finding: &'r Finding) -> Option<&'r Finding> {
        findings
            .get(&(finding.rule.as_str(), &finding.subject))
            .copied()
    }

    pub fn applies(finding: &Finding) -> bool {
        finding.outcome == Outcome::Applies
    }

    pub fn is_open(finding: &Finding) -> bool {
        matches!(finding.outcome, Outcome::Undecided { .. })
    }

    pub fn of_boot(finding: &Finding) -> bool {
        finding.subject.scope() == Scope::Boot
    }

    /// Whether the condition of a finding tests a fact. A compared report has its traces.
    pub fn looks_at(finding: &Finding, fact: &str) -> bool {
        fn asks(trace: &Trace, fact: &str) -> bool {
            trace.seen.as_ref().is_some_and(|seen| seen.fact == fact)
                || trace.kids.iter().any(|kid| asks(kid, fact))
        }
        finding
            .trace
            .as_ref()
            .is_some_and(|trace| asks(trace, fact))
    }
}
mod boot;
mod weight {
    //! How much a line of the next boot matters when it fails.

    use walwise_judge::rules::Level;
    use walwise_model::facts::catalog::boot;
    use walwise_model::facts::{FactSet, Subject};

    /// The level of a failing line: the boot stops, or continues without it.
    pub(super) fn weight(facts: &FactSet, line: &Subject) -> Level {
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
mod feature;
mod layer;
mod need;
mod other;
mod parameter;
mod unknown;

use std::cmp::Reverse;

use super::model::Report;
use super::model::upgrade::{Answer, Item, Part, Upgrade};
use walwise_model::facts::Subject;

impl Upgrade {
    /// The changes from the real machine to the assumed one.
    pub fn between(real: &Report, supposed: &Report) -> Self {
        let mut items = boot::items(real, supposed);
        items.extend(other::items(real, supposed));
        items.extend(feature::items(&real.facts, &supposed.facts));
        items.extend(unknown::items(real, supposed));
        items.extend(layer::items(&real.facts, &supposed.facts));
        items.extend(parameter::items(&supposed.facts));
        items.extend(need::raised(&supposed.facts, &items));
        // Nothing that fails counts as better.
        let fails = |item: &Item| item.answer == Some(Answer::Fails);
        let failing: Vec<Subject> = items
            .iter()
            .filter(|item| fails(item))
            .map(|item| item.subject.clone())
            .collect();
        items.retain(|item| item.part != Part::Better || !failing.contains(&item.subject));
        items.sort_by(|a, b| place(a).cmp(&place(b)));
        items.dedup();
        let needs = need::needs(&supposed.facts, &items);
        Self { items, needs }
    }
}

/// The sort key of items: part, level, and the order of lines in a file.
fn place(item: &Item) -> impl Ord + '_ {
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
