//! The effects of the next kernel: the report of this machine beside that of the same machine with the next kernel,
//! distribution and tools assumed, as tasks for an administrator.
//!
//! Everything that the next boot needs has an answer. Every line that will be wrong is named, option by option, even if
//! it is wrong today; other subjects are named only if they change. The part of a finding follows from the facts in its
//! condition, so that rules can be added, switched off or given another level without a change here.

mod answer;
mod boot;
mod ground;
mod weight;
mod need;
mod layer;
mod feature;
mod other;
mod parameter;
mod unknown;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use super::exit::FailCondition;
use crate::facts::catalog::kernel;
use crate::facts::{FactSet, Scope, Subject};
use crate::rules::{Finding, Level, Outcome, Trace};
use crate::validity::{self, Ruling};
use crate::version::Version;

pub use answer::Answer;
pub use need::BootNeed;

/// What becomes of something, in the order in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// It will not mount, or the machine will not boot.
    Blocker,
    /// It is taken and does nothing any more.
    LosesEffect,
    /// It is taken, and will go.
    Deprecated,
    /// It cannot be said before it is tried.
    NotKnown,
    /// Something else is not as it was.
    Changes,
    /// It is wrong today, and the upgrade changes nothing of that.
    Already,
    /// It need not be said any more.
    Needless,
    /// It gets better.
    Better,
}

impl Part {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Blocker,
        Self::LosesEffect,
        Self::Deprecated,
        Self::NotKnown,
        Self::Changes,
        Self::Already,
        Self::Needless,
        Self::Better,
    ];

    /// As a heading.
    pub fn words(self) -> &'static str {
        match self {
            Self::Blocker => "Will not mount, or not boot",
            Self::LosesEffect => "Loses its effect",
            Self::Deprecated => "Is on its way out",
            Self::NotKnown => "Cannot be said",
            Self::Changes => "Changes",
            Self::Already => "Wrong as it is today, whatever the kernel",
            Self::Needless => "Need not be said any more",
            Self::Better => "Gets better",
        }
    }
}

/// One thing, named once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    /// What becomes of it.
    pub part: Part,
    /// How much it matters; of what cannot be decided how much it would.
    pub level: Level,
    /// On what.
    pub subject: Subject,
    /// Where it is written, for what the next boot mounts: `/etc/fstab:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// One line: what.
    pub what: String,
    /// Why, and what comes of it; empty where there is nothing to say.
    pub because: String,
    /// Public sources.
    pub sources: Vec<String>,
    /// Whether it is like that with the running kernel too.
    pub already: bool,
    /// Whether it could not be decided.
    pub undecided: bool,
    /// The rule that found it; absent where none is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Of what cannot be decided the level that it has however that turns out.
    #[serde(skip)]
    pub(crate) sure: Option<Level>,
    /// What it answers of something that the next boot needs; nothing where it is about something else.
    #[serde(skip)]
    pub(crate) answer: Option<Answer>,
    /// Which of several things of the subject it is about.
    #[serde(skip)]
    pub(crate) name: Option<String>,
}

impl Item {
    /// A message that is no answer about a need of the next boot.
    fn told(part: Part, level: Level, subject: &Subject, what: String, ruling: Ruling) -> Self {
        Self {
            part,
            level,
            subject: subject.clone(),
            place: None,
            what,
            because: ruling.because,
            sources: if ruling.source.is_empty() { Vec::new() } else { vec![ruling.source] },
            already: false,
            undecided: false,
            rule: None,
            sure: None,
            answer: None,
            name: None,
        }
    }

    /// A message that it is unknown whether the next boot can do it.
    fn open(subject: &Subject, level: Level, what: String, ruling: Ruling) -> Self {
        let answer = Some(Answer::CannotBeTold);
        Self { undecided: true, answer, ..Self::told(Part::NotKnown, level, subject, what, ruling) }
    }

    /// The same as a need that the next boot cannot meet.
    fn blocks(self) -> Self {
        Self { part: Part::Blocker, undecided: false, answer: Some(Answer::Fails), ..self }
    }
}

/// What the upgrade changes, blockers first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Upgrade {
    /// Everything that is to be told, each thing once.
    pub items: Vec<Item>,
    /// Everything that the next boot needs, with what becomes of it.
    pub needs: Vec<BootNeed>,
}

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
        let failing: Vec<Subject> =
            items.iter().filter(|item| fails(item)).map(|item| item.subject.clone()).collect();
        items.retain(|item| item.part != Part::Better || !failing.contains(&item.subject));
        items.sort_by(|a, b| place(a).cmp(&place(b)));
        items.dedup();
        let needs = need::needs(&supposed.facts, &items);
        Self { items, needs }
    }

    /// The items to be minded: everything of a level that counts, unless it gets better.
    pub fn counted(&self, level: Level) -> impl Iterator<Item = &Item> {
        let counts =
            move |item: &&Item| item.part != Part::Better && item.level >= level && item.level > Level::Keep;
        self.items.iter().filter(counts)
    }

    /// The exit code, by the rules of `check`.
    pub fn exit_code(&self, fail_on: FailCondition) -> u8 {
        let counted: Vec<&Item> = self.counted(fail_on.level).collect();
        let decided = |item: &&Item| if item.undecided { item.sure } else { Some(item.level) };
        let worst = counted.iter().filter_map(decided).filter(|level| *level >= fail_on.level).max();
        match worst {
            Some(Level::Critical) => 3,
            Some(_) => 4,
            None if fail_on.undecided && !counted.is_empty() => 5,
            None => 0,
        }
    }
}

/// The kernel's version and its vendor.
fn kernel_of(facts: &FactSet) -> Option<(Version, String)> {
    let host = Subject::host();
    facts.value(&host, &kernel::VERSION).zip(facts.value(&host, &kernel::VENDOR))
}

/// Whether one person builds both kernels, so that the next one has every feature in use.
fn built_again(now: Option<&(Version, String)>, then: Option<&(Version, String)>) -> bool {
    now.zip(then)
        .is_some_and(|((now, by), (then, next_by))| validity::builds_again((now, by), (then, next_by)))
}

/// The sort key of items: part, level, and the order of lines in a file.
fn place(item: &Item) -> impl Ord + '_ {
    let place = item.place.as_deref().unwrap_or_default();
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    let line: u32 = line.parse().unwrap_or(0);
    (item.part, Reverse(item.level), item.undecided, file, line, &item.subject, &item.what, &item.rule)
}

/// Findings by rule and subject.
type FindingIndex<'r> = BTreeMap<(&'r str, &'r Subject), &'r Finding>;

fn by_name(report: &Report) -> FindingIndex<'_> {
    report.findings.iter().map(|finding| ((finding.rule.as_str(), &finding.subject), finding)).collect()
}

/// The same finding in the other report.
fn same<'r>(findings: &FindingIndex<'r>, finding: &'r Finding) -> Option<&'r Finding> {
    findings.get(&(finding.rule.as_str(), &finding.subject)).copied()
}

fn applies(finding: &Finding) -> bool {
    finding.outcome == Outcome::Applies
}

fn is_open(finding: &Finding) -> bool {
    matches!(finding.outcome, Outcome::Undecided { .. })
}

fn of_boot(finding: &Finding) -> bool {
    finding.subject.scope() == Scope::Boot
}

/// Whether the condition of a finding tests a fact. A compared report has its traces.
fn looks_at(finding: &Finding, fact: &str) -> bool {
    fn asks(trace: &Trace, fact: &str) -> bool {
        trace.seen.as_ref().is_some_and(|seen| seen.fact == fact)
            || trace.kids.iter().any(|kid| asks(kid, fact))
    }
    finding.trace.as_ref().is_some_and(|trace| asks(trace, fact))
}

/// A finding as an item.
fn item(part: Part, finding: &Finding, already: bool) -> Item {
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
