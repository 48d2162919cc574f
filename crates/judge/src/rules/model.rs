//! A loaded rule: a condition over facts, advice, and the examples that are its tests.
//!
//! The loader has checked that all facts exist and all values fit. A rule holds references to facts
//! and settings, so no later lookup can use a wrong name.

use std::sync::Arc;

use super::evidence::Study;
use super::template::Template;
use super::user_commands::UserCommandSpec;
use super::{Basis, Change, Confidence, EffectScope, Fix, Level, Risk};
use crate::facts::catalog::target::VerdictKind;
use crate::facts::{FactSet, KeyInfo, Reading, Scope, ServerArea, Subject, Value, area_of_name};
use crate::provenance::Verification;
use crate::settings::{Setting, SettingKind};
use crate::version::{AffectedReleases, Version};

#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique and stable: `area.name`.
    pub id: String,
    /// The walwise version that introduced the rule.
    pub since: String,
    /// Last comparison of the rule with its sources; optional in users' rules.
    pub checked: Option<Verification>,
    pub scope: Scope,
    /// One line: the statement that is shown where the rule applies.
    pub title: Template,
    /// Shown where the rule is undecided; the answer "yes" means that the rule applies.
    pub question: Template,
    pub level: Level,
    /// Best verdict of targets above a subject to which the rule applies.
    pub caps: Option<VerdictKind>,
    pub confidence: Confidence,
    pub basis: Basis,
    pub because: Template,
    /// The remedy if none of the advice is given.
    pub remedy: Option<Template>,
    /// Why nothing on the host helps; used without `remedy`, or if a fact in `remedy` is unknown.
    pub no_remedy: Option<Template>,
    /// Public sources, at least one.
    pub refs: Arc<[String]>,
    /// Ids of rules that yield to this one if both advise different values for a setting.
    pub overrides: Vec<String>,
    pub when: Condition,
    pub advise: Vec<AdviceSpec>,
    pub evidence: Vec<Study>,
    pub examples: Vec<RuleExample>,
    pub author: Author,
    pub file: String,
    /// First line of the rule in `file`, counted from one.
    pub line: usize,
}

impl Rule {
    /// Whether the rule ranks `value` among several choices for settings of this kind.
    pub fn ranks_value(&self, kind: SettingKind, value: &str) -> bool {
        self.advise.iter().any(|spec| {
            spec.rank.is_some()
                && spec.setting.kind == kind
                && matches!(&spec.change, ChangeSpec::Fixed(Change::Set(set)) if set == value)
        })
    }
}

/// What a faulty release does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// Data is lost although its flush succeeded.
    LosesFlushedData,
    /// Data is overwritten or wrong.
    CorruptsData,
    /// The file system cannot be mounted after a crash.
    DoesNotMount,
    /// The server or the pool does not start.
    DoesNotStart,
    Hangs,
    GoesReadOnly,
}

impl FaultEffect {
    pub const ALL: [Self; 6] = [
        Self::LosesFlushedData,
        Self::CorruptsData,
        Self::DoesNotMount,
        Self::DoesNotStart,
        Self::Hangs,
        Self::GoesReadOnly,
    ];

    /// The words that follow "a release that" in the texts of rules.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LosesFlushedData => "loses flushed data",
            Self::CorruptsData => "corrupts data",
            Self::DoesNotMount => "does not mount after a crash",
            Self::DoesNotStart => "does not start",
            Self::Hangs => "hangs",
            Self::GoesReadOnly => "goes read-only",
        }
    }

    /// Whether an acknowledged commit can be lost, overwritten or unrecoverable.
    pub fn is_loss(self) -> bool {
        matches!(
            self,
            Self::LosesFlushedData | Self::CorruptsData | Self::DoesNotMount
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// walwise itself; tests prove which changes such a rule may advise.
    Walwise,
    /// A user, whose rules never advise a change that can lose data.
    User,
}

/// Whether the examples of built-in rules are read. Examples are half the size of a rule, and only
/// tests need them; examples of users' rules are always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleLoading {
    Read,
    Skipped,
}

#[derive(Clone, Debug)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// Holds for each element of the subject's stack.
    Every(QuantifiedElement, Box<Condition>),
    /// Holds for at least one element of the subject's stack.
    Some(QuantifiedElement, Box<Condition>),
    Fact(FactTest),
}

impl Condition {
    /// Whether the condition looks up a fact of the scope, or quantifies over subjects of the
    /// scope.
    pub fn uses_scope(&self, scope: Scope) -> bool {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().any(|kid| kid.uses_scope(scope)),
            Self::Not(kid) => kid.uses_scope(scope),
            Self::Every(relation, _) | Self::Some(relation, _) => relation.scope() == scope,
            Self::Fact(test) => test.fact.scope == scope,
        }
    }

    pub fn has_quantifier(&self) -> bool {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().any(Self::has_quantifier),
            Self::Not(kid) => kid.has_quantifier(),
            Self::Every(..) | Self::Some(..) => true,
            Self::Fact(_) => false,
        }
    }

    /// Visits every test of the condition, including tests in quantifiers.
    pub fn for_each_test<'c>(&'c self, found: &mut impl FnMut(&'c FactTest)) {
        match self {
            Self::All(kids) | Self::Any(kids) => {
                for kid in kids {
                    kid.for_each_test(found);
                }
            }
            Self::Not(kid) | Self::Every(_, kid) | Self::Some(_, kid) => kid.for_each_test(found),
            Self::Fact(test) => found(test),
        }
    }

    fn collect_fact_areas(&self, into: &mut Vec<ServerArea>) {
        match self {
            Self::All(kids) | Self::Any(kids) => {
                kids.iter().for_each(|kid| kid.collect_fact_areas(into));
            }
            Self::Not(kid) => kid.collect_fact_areas(into),
            Self::Every(..) | Self::Some(..) => {}
            Self::Fact(test) => into.extend(area_of_name(test.fact.name)),
        }
    }
}

impl AdviceSpec {
    /// Whether the advice is given wherever the rule applies, and changes something.
    pub fn always_changes_setting(&self) -> bool {
        let changes = match &self.change {
            ChangeSpec::Fixed(Change::Keep)
            | ChangeSpec::SetFrom(_)
            | ChangeSpec::AddFrom(_)
            | ChangeSpec::RemoveFrom(_) => false,
            ChangeSpec::Fixed(
                Change::Set(_) | Change::Add(_) | Change::Remove(_) | Change::Edit { .. },
            ) => true,
        };
        changes && self.when.is_none()
    }
}

impl Rule {
    /// `None` if the rule has no remedy of its own.
    pub fn fix_for_subject(
        &self,
        facts: &FactSet,
        subject: &Subject,
        which: &[&Subject],
    ) -> Option<Fix> {
        let known = |text: &&Template| {
            self.no_remedy.is_none() || text.has_all_required_facts(facts, subject)
        };
        let told = |here| {
            move |text: &Template| Fix {
                here,
                text: self.with_user_file_line(&text.text(facts, subject, which)),
            }
        };
        let here = self.remedy.as_ref().filter(known).map(told(true));
        here.or_else(|| self.no_remedy.as_ref().map(told(false)))
    }

    /// Adds file and line to the text of a user's rule.
    fn with_user_file_line(&self, says: &str) -> String {
        match self.author {
            Author::Walwise => says.to_owned(),
            Author::User => format!("{says} (from {}:{})", self.file, self.line),
        }
    }

    /// Whether title, reason or remedy contain `{which}`, the elements of a quantifier.
    pub fn uses_which_placeholder(&self) -> bool {
        let texts = [
            Some(&self.title),
            Some(&self.because),
            self.remedy.as_ref(),
            self.no_remedy.as_ref(),
        ];
        texts
            .into_iter()
            .flatten()
            .any(Template::uses_which_placeholder)
    }

    /// Areas of the facts that are looked up outside quantifiers, and of the advised settings.
    pub fn areas(&self) -> impl Iterator<Item = ServerArea> {
        let mut areas = Vec::new();
        self.when.collect_fact_areas(&mut areas);
        areas.extend(
            self.advise
                .iter()
                .filter_map(|advice| advice.setting.kind.area()),
        );
        areas.into_iter()
    }
}

/// Kind of element that a quantifier covers in the subject's stack; the subject itself counts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantifiedElement {
    /// The disks at the bottom.
    Leaf,
    Layer,
    Mount,
}

impl QuantifiedElement {
    pub const ALL: [Self; 3] = [Self::Leaf, Self::Layer, Self::Mount];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::Layer => "layer",
            Self::Mount => "mount",
        }
    }

    pub fn scope(self) -> Scope {
        match self {
            Self::Leaf | Self::Layer => Scope::Device,
            Self::Mount => Scope::Mount,
        }
    }
}

#[derive(Clone, Debug)]
pub struct FactTest {
    pub fact: &'static KeyInfo,
    pub op: TestOperator,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TestOperator {
    Is(Value),
    IsNot(Value),
    In(Vec<Value>),
    NotIn(Vec<Value>),
    Has(String),
    Lacks(String),
    HasAny(Vec<String>),
    /// The option alone or with a value: `compress` or `compress=zstd`.
    HasOption(String),
    /// Neither the option alone nor the option with a value.
    LacksOption(String),
    AtLeast(Value),
    Below(Value),
    /// The version has a fix that was released in these lines ([`Version::has_fix`]).
    FixedIn(Vec<Version>),
    /// The version is a release with the fault; the test of a `[[release]]`.
    InRange(AffectedReleases),
    /// The version is at least a vendor's build ([`Version::build_at_least`]).
    BuildAtLeast(Version),
    BuildBelow(Version),
    /// Compares the text, or the version as written.
    StartsWith(String),
    EndsWith(String),
    Contains(String),
    /// Whether the fact is known; the only test whose result is never unknown.
    Known(bool),
    /// Whether the host has the fact's object; unknown if the fact could not be read.
    Exists(bool),
}

impl TestOperator {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Is(_) => "is",
            Self::IsNot(_) => "is_not",
            Self::In(_) => "in",
            Self::NotIn(_) => "not_in",
            Self::Has(_) => "has",
            Self::Lacks(_) => "lacks",
            Self::HasAny(_) => "has_any",
            Self::HasOption(_) => "has_option",
            Self::LacksOption(_) => "lacks_option",
            Self::AtLeast(_) => "at_least",
            Self::Below(_) => "below",
            Self::FixedIn(_) => "fixed_in",
            Self::InRange(_) => "in_range",
            Self::BuildAtLeast(_) => "build_at_least",
            Self::BuildBelow(_) => "build_below",
            Self::StartsWith(_) => "starts_with",
            Self::EndsWith(_) => "ends_with",
            Self::Contains(_) => "contains",
            Self::Known(_) => "known",
            Self::Exists(_) => "exists",
        }
    }
}

/// Advice as written in a rule, before facts are filled in.
#[derive(Clone, Debug)]
pub struct AdviceSpec {
    pub setting: &'static Setting,
    pub change: ChangeSpec,
    /// Condition for this advice, in addition to the condition of the rule.
    pub when: Option<Condition>,
    /// What else the change affects.
    pub reach: EffectScope,
    pub risk: Risk,
    /// 1 for the first of several choices for a setting.
    pub rank: Option<u32>,
    pub tradeoff: Option<Template>,
    pub apply: Vec<Template>,
    pub verify: Vec<Template>,
    pub undo: Vec<Template>,
    /// Commands of a user's rule, which walwise does not check; `apply`, `verify` and `undo` are
    /// then empty.
    pub user_commands: Vec<UserCommandSpec>,
}

#[derive(Clone, Debug)]
pub enum ChangeSpec {
    Fixed(Change),
    /// Set the setting to the value of this fact.
    SetFrom(&'static KeyInfo),
    /// Add the words of this list fact.
    AddFrom(&'static KeyInfo),
    /// Remove the words of this list fact.
    RemoveFrom(&'static KeyInfo),
}

impl ChangeSpec {
    /// In words: `add noatime`, `set to the value of probe.best_method`.
    pub fn describe(&self) -> String {
        match self {
            Self::Fixed(Change::Set(value)) => format!("set to {value}"),
            Self::Fixed(change) => change.describe(),
            Self::SetFrom(fact) => format!("set to the value of {}", fact.name),
            Self::AddFrom(fact) => format!("add what {} lists", fact.name),
            Self::RemoveFrom(fact) => format!("remove what {} lists", fact.name),
        }
    }
}

/// A test of the rule itself: facts, and the expected outcome.
#[derive(Clone, Debug)]
pub struct RuleExample {
    pub name: String,
    /// Facts of the subject and of subjects linked to it.
    pub facts: Vec<ExampleFact>,
    pub stack: Option<ExampleStack>,
    pub expect: ExpectedOutcome,
    /// Exactly the settings that must be advised; `None` accepts any advice.
    pub advise: Option<Vec<String>>,
    /// Counted from one.
    pub line: usize,
}

impl RuleExample {
    /// Message if this example repeats the facts or the name of `other`.
    pub fn duplicate_message(&self, other: &Self) -> Option<String> {
        let sorted = |facts: &[ExampleFact]| {
            let mut facts = facts.to_vec();
            facts.sort_by_key(|(key, _)| key.name);
            facts
                .into_iter()
                .map(|(key, reading)| (key.name, reading))
                .collect::<Vec<_>>()
        };
        let elements =
            |all: &[Vec<ExampleFact>]| all.iter().map(|facts| sorted(facts)).collect::<Vec<_>>();
        let stack = |of: &Option<ExampleStack>| {
            of.as_ref()
                .map(|of| [&of.leaves, &of.layers, &of.mounts].map(|all| elements(all)))
        };
        let alike = sorted(&self.facts) == sorted(&other.facts)
            && stack(&self.stack) == stack(&other.stack);
        match (alike, self.name == other.name) {
            (true, _) => Some(format!(
                "the example `{}` has the facts of `{}`",
                self.name, other.name
            )),
            (false, true) => Some(format!("two examples are called `{}`", self.name)),
            (false, false) => None,
        }
    }
}

pub type ExampleFact = (&'static KeyInfo, Reading<Value>);

/// Elements of quantifiers in an example. The stack is complete, even if a list is empty.
#[derive(Clone, Debug, Default)]
pub struct ExampleStack {
    pub leaves: Vec<Vec<ExampleFact>>,
    pub layers: Vec<Vec<ExampleFact>>,
    pub mounts: Vec<Vec<ExampleFact>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedOutcome {
    Applies,
    DoesNotApply,
    Undecided,
}

impl ExpectedOutcome {
    pub const ALL: [Self; 3] = [Self::Applies, Self::DoesNotApply, Self::Undecided];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::DoesNotApply => "does not apply",
            Self::Undecided => "undecided",
        }
    }
}
