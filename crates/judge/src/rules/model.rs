//! A rule as written: a condition over facts, advice, and the examples that are its tests.
//!
//! The loader has checked everything: facts exist and values fit. Facts and settings are held by
//! reference, so no later lookup can use a wrong name.

use std::sync::Arc;

use super::evidence::Study;
use super::template::Template;
use super::user_commands::UserCommandSpec;
use super::{Basis, Change, Confidence, EffectScope, Fix, Level, Risk};
use crate::facts::catalog::target::VerdictKind;
use crate::facts::{Area, FactSet, KeyInfo, Reading, Scope, Subject, Value, area};
use crate::provenance::Verification;
use crate::settings::{Setting, SettingKind};
use crate::version::{AffectedReleases, Version};

#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique and stable: `area.name`.
    pub id: String,
    /// The version of walwise that introduced it.
    pub since: String,
    /// When it was last compared with its sources; optional in users' rules.
    pub checked: Option<Verification>,
    /// The scope of its subjects.
    pub scope: Scope,
    /// One line, a statement about where it applies.
    pub title: Template,
    /// A question for where it is undecided; "yes" means that it applies.
    pub question: Template,
    pub level: Level,
    /// The best verdict of targets above a subject where it applies.
    pub caps: Option<VerdictKind>,
    pub confidence: Confidence,
    pub basis: Basis,
    pub because: Template,
    /// The remedy if none of its advice is given.
    pub remedy: Option<Template>,
    /// Why nothing on the host fixes it: without `remedy`, or if facts in `remedy` are unknown.
    pub no_remedy: Option<Template>,
    /// Public sources, at least one.
    pub refs: Arc<[String]>,
    /// Rules over which it takes precedence if both advise different values for one setting.
    pub overrides: Vec<String>,
    pub when: Condition,
    pub advise: Vec<AdviceSpec>,
    pub evidence: Vec<Study>,
    pub examples: Vec<Example>,
    pub author: Author,
    pub file: String,
    /// Its first line, counted from one.
    pub line: usize,
}

impl Rule {
    /// Whether it offers this value of such a setting as one choice among several.
    pub fn offers_choice(&self, kind: SettingKind, value: &str) -> bool {
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
    /// Data whose flush succeeded is gone.
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

    /// The words in rules, after "a release that".
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
    /// walwise itself; its tests prove what the rule may advise.
    Walwise,
    /// A user, whose rule never advises a change that can lose data.
    User,
}

/// Whether the examples of built-in rules are read. They are half of a rule's size and only tests
/// need them. Those of users are always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleExamples {
    Read,
    Skipped,
}

#[derive(Clone, Debug)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// Holds for each element of the subject's stack.
    Every(Relation, Box<Condition>),
    /// Holds for an element of the subject's stack.
    Some(Relation, Box<Condition>),
    Fact(Test),
}

impl Condition {
    /// Whether a fact of this scope is looked up in the subject, in its links, or in its stack.
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

    /// Every test in it, including those in quantifiers.
    pub fn for_each_test<'c>(&'c self, found: &mut impl FnMut(&'c Test)) {
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

    fn areas(&self, into: &mut Vec<Area>) {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().for_each(|kid| kid.areas(into)),
            Self::Not(kid) => kid.areas(into),
            Self::Every(..) | Self::Some(..) => {}
            Self::Fact(test) => into.extend(area(test.fact.name)),
        }
    }
}

impl AdviceSpec {
    /// Whether it is given wherever its rule applies, and changes something.
    pub fn is_always_given(&self) -> bool {
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
    /// The remedy for a subject in the rule's own words.
    pub fn remedy_for(
        &self,
        facts: &FactSet,
        subject: &Subject,
        which: &[&Subject],
    ) -> Option<Fix> {
        let known = |text: &&Template| self.no_remedy.is_none() || text.is_known(facts, subject);
        let told = |here| {
            move |text: &Template| Fix {
                here,
                text: self.with_author(&text.text(facts, subject, which)),
            }
        };
        let here = self.remedy.as_ref().filter(known).map(told(true));
        here.or_else(|| self.no_remedy.as_ref().map(told(false)))
    }

    /// Text of a user's rule names its file and line.
    fn with_author(&self, says: &str) -> String {
        match self.author {
            Author::Walwise => says.to_owned(),
            Author::User => format!("{says} (from {}:{})", self.file, self.line),
        }
    }

    /// Whether title, reason or remedy name elements of a quantifier.
    pub fn uses_which(&self) -> bool {
        let texts = [
            Some(&self.title),
            Some(&self.because),
            self.remedy.as_ref(),
            self.no_remedy.as_ref(),
        ];
        texts.into_iter().flatten().any(Template::uses_which)
    }

    /// The areas of facts looked up in the subject itself, and of advised settings.
    pub fn areas(&self) -> impl Iterator<Item = Area> {
        let mut areas = Vec::new();
        self.when.areas(&mut areas);
        areas.extend(
            self.advise
                .iter()
                .filter_map(|advice| advice.setting.kind.area()),
        );
        areas.into_iter()
    }
}

/// The elements of a quantifier in the subject's stack, including the subject if it has the right
/// kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The disks at the bottom.
    Leaf,
    Layer,
    Mount,
}

impl Relation {
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
pub struct Test {
    pub fact: &'static KeyInfo,
    pub op: Op,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Is(Value),
    IsNot(Value),
    In(Vec<Value>),
    NotIn(Vec<Value>),
    Has(String),
    Lacks(String),
    HasAny(Vec<String>),
    /// The option alone or with a value: `compress` or `compress=zstd`.
    HasOption(String),
    /// Neither the option alone nor with a value.
    LacksOption(String),
    AtLeast(Value),
    Below(Value),
    /// The version has a fix that landed in these lines ([`Version::has_fix`]).
    FixedIn(Vec<Version>),
    /// A release with the fault: the test of a `[[release]]`.
    InRange(AffectedReleases),
    /// At least a build of one vendor ([`Version::build_at_least`]).
    BuildAtLeast(Version),
    BuildBelow(Version),
    /// On the text, or the version as written.
    StartsWith(String),
    EndsWith(String),
    Contains(String),
    /// Whether it is known at all: the only test whose result is never unknown.
    Known(bool),
    /// Whether the host has it at all; unknown if it could not be read.
    Exists(bool),
}

impl Op {
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

/// Advice as a rule states it, before facts are filled in.
#[derive(Clone, Debug)]
pub struct AdviceSpec {
    pub setting: &'static Setting,
    pub change: ChangeSpec,
    /// A further condition for the advice.
    pub when: Option<Condition>,
    /// What else is affected.
    pub reach: EffectScope,
    pub risk: Risk,
    /// 1 for the first choice among several for the same setting.
    pub rank: Option<u32>,
    pub tradeoff: Option<Template>,
    pub apply: Vec<Template>,
    pub verify: Vec<Template>,
    pub undo: Vec<Template>,
    /// Commands of a user's rule, not checked by walwise. The other lists are then empty.
    pub user_commands: Vec<UserCommandSpec>,
}

#[derive(Clone, Debug)]
pub enum ChangeSpec {
    Fixed(Change),
    /// Set it to the value of this fact.
    SetFrom(&'static KeyInfo),
    /// Add the words of this list.
    AddFrom(&'static KeyInfo),
    /// Remove the words of this list.
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
pub struct Example {
    /// The case that it shows.
    pub name: String,
    /// Facts of the subject and of those linked to it.
    pub facts: Vec<ExampleFact>,
    pub stack: Option<ExampleStack>,
    pub expect: ExpectedOutcome,
    /// Exactly the settings that must be advised; `None` leaves them open.
    pub advise: Option<Vec<String>>,
    /// Counted from one.
    pub line: usize,
}

impl Example {
    /// Which example this one repeats, in words; `None` if it shows a case of its own.
    pub fn duplicated_case(&self, other: &Self) -> Option<String> {
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

/// The elements of quantifiers in an example: complete, even if a list is empty.
#[derive(Clone, Debug, Default)]
pub struct ExampleStack {
    pub leaves: Vec<Vec<ExampleFact>>,
    pub layers: Vec<Vec<ExampleFact>>,
    pub mounts: Vec<Vec<ExampleFact>>,
}

/// The expected outcome of an example.
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
