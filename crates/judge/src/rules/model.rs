//! A rule as it was written: a condition over facts, advice, and the examples that are its tests.
//!
//! [`super::load`] has checked everything here: facts exist, values fit them, words are in the
//! catalogue. Facts and settings are held by declaration, not by name, so no later lookup can use a
//! wrong name.

use std::sync::Arc;

use super::evidence::Study;
use super::own::OwnSpec;
use super::template::Template;
use super::{Basis, Change, Confidence, Level, Mending, Reach, Risk};
use crate::checked::SourceCheck;
use crate::facts::catalog::target::Standing;
use crate::facts::{Area, FactSet, KeyInfo, Reading, Scope, Subject, Value, area};
use crate::settings::{Setting, SettingKind};
use crate::version::{ReleaseRange, Version};

#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique and stable: `area.name`.
    pub id: String,
    /// The version of walwise that introduced it.
    pub since: String,
    /// When it was last compared with its sources; a user's rule need not say it.
    pub checked: Option<SourceCheck>,
    /// The subjects it is evaluated on.
    pub scope: Scope,
    /// The statement where it applies, in one line.
    pub title: Template,
    /// The open point where it is undecided: a question to which "yes" means that it applies.
    pub question: Template,
    pub level: Level,
    /// The best verdict of a target above a subject where it applies.
    pub caps: Option<Standing>,
    pub confidence: Confidence,
    pub basis: Basis,
    pub because: Template,
    /// The remedy, where none of its advice is given.
    pub remedy: Option<Template>,
    /// Why nothing on the host mends it: for a rule without `remedy`, or with one whose facts are
    /// unknown.
    pub no_remedy: Option<Template>,
    /// Public sources, at least one.
    pub refs: Arc<[String]>,
    /// Rules that it takes precedence over where both advise different values for one setting.
    pub overrides: Vec<String>,
    pub when: Cond,
    /// The advice where it applies.
    pub advise: Vec<AdviceSpec>,
    /// Published measurements.
    pub evidence: Vec<Study>,
    pub examples: Vec<Example>,
    pub author: Author,
    pub file: String,
    /// The line it starts on, counted from one.
    pub line: usize,
}

impl Rule {
    /// Whether it advises this value of such a setting as one choice among several.
    pub fn offers(&self, kind: SettingKind, value: &str) -> bool {
        self.advise.iter().any(|spec| {
            spec.rank.is_some()
                && spec.setting.kind == kind
                && matches!(&spec.change, ChangeSpec::Fixed(Change::Set(set)) if set == value)
        })
    }
}

/// What a release does to those whom its fault hits.
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
    /// The file system turns read-only.
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

    /// The words in rules, behind "a release that".
    pub fn word(self) -> &'static str {
        match self {
            Self::LosesFlushedData => "loses flushed data",
            Self::CorruptsData => "corrupts data",
            Self::DoesNotMount => "does not mount after a crash",
            Self::DoesNotStart => "does not start",
            Self::Hangs => "hangs",
            Self::GoesReadOnly => "goes read-only",
        }
    }

    /// Whether an acknowledged commit can be lost, overwritten or unrecoverable by it.
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
    /// A user. Such a rule never advises a change that can lose data.
    User,
}

/// Whether the examples of the rules that come with walwise are read. They are half of what a rule
/// holds, its tests alone need them, and the tests of the tree have read them. A user's always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleExamples {
    Read,
    /// Left: those rules have none.
    Left,
}

#[derive(Clone, Debug)]
pub enum Cond {
    All(Vec<Cond>),
    Any(Vec<Cond>),
    Not(Box<Cond>),
    /// It holds for each element of the subject's stack.
    Every(Relation, Box<Cond>),
    /// It holds for an element of the subject's stack.
    Some(Relation, Box<Cond>),
    Fact(Test),
}

impl Cond {
    /// Whether a fact of this scope is looked up in the subject, in its links, or in its stack.
    pub fn asks(&self, scope: Scope) -> bool {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().any(|kid| kid.asks(scope)),
            Self::Not(kid) => kid.asks(scope),
            Self::Every(relation, _) | Self::Some(relation, _) => relation.scope() == scope,
            Self::Fact(test) => test.fact.scope == scope,
        }
    }

    /// Whether it contains a quantifier.
    pub fn quantifies(&self) -> bool {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().any(Self::quantifies),
            Self::Not(kid) => kid.quantifies(),
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
    /// Its remedy for a subject, in its own words.
    pub fn told_remedy(
        &self,
        facts: &FactSet,
        subject: &Subject,
        which: &[&Subject],
    ) -> Option<Mending> {
        let known = |text: &&Template| self.no_remedy.is_none() || text.is_known(facts, subject);
        let told = |here| {
            move |text: &Template| Mending {
                here,
                says: self.signed(&text.text(facts, subject, which)),
            }
        };
        let here = self.remedy.as_ref().filter(known).map(told(true));
        here.or_else(|| self.no_remedy.as_ref().map(told(false)))
    }

    /// Its text, signed with its author.
    fn signed(&self, says: &str) -> String {
        match self.author {
            Author::Walwise => says.to_owned(),
            Author::User => format!("{says} (so says {}:{})", self.file, self.line),
        }
    }

    /// Whether its title, its reason or its remedy names elements of a quantifier.
    pub fn names_which(&self) -> bool {
        let texts = [
            Some(&self.title),
            Some(&self.because),
            self.remedy.as_ref(),
            self.no_remedy.as_ref(),
        ];
        texts.into_iter().flatten().any(Template::names_which)
    }

    /// The areas of the facts that it looks up in its subject, and of the settings that it advises.
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

/// The elements of a quantifier in the subject's stack; the subject itself is one where it has the
/// right kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The disks at the bottom.
    Leaf,
    Layer,
    Mount,
}

impl Relation {
    pub const ALL: [Self; 3] = [Self::Leaf, Self::Layer, Self::Mount];

    pub fn word(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::Layer => "layer",
            Self::Mount => "mount",
        }
    }

    /// The scope of its elements.
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
    /// The operator and its operand.
    pub op: Op,
}

/// The operator of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Is(Value),
    /// It does not equal the value.
    IsNot(Value),
    In(Vec<Value>),
    /// It equals none of them.
    NotIn(Vec<Value>),
    Has(String),
    /// The list lacks the word.
    Lacks(String),
    /// The list has one of the words.
    HasAny(Vec<String>),
    /// The list has the option, alone or with a value: `compress` or `compress=zstd`.
    HasOption(String),
    /// The list has the option neither alone nor with a value.
    LacksOption(String),
    /// At or above.
    AtLeast(Value),
    Below(Value),
    /// The version has a fix that landed in these lines ([`Version::has_fix`]).
    FixedIn(Vec<Version>),
    /// It is among the releases with a fault: the test of a `[[release]]`.
    InRange(ReleaseRange),
    /// At or above a build of one vendor ([`Version::build_at_least`]).
    BuildAtLeast(Version),
    BuildBelow(Version),
    /// The text, or the version as written, begins with this.
    StartsWith(String),
    EndsWith(String),
    Contains(String),
    /// Whether it is known at all: the only test whose result is never unknown.
    Known(bool),
    /// Whether the machine has it at all: unknown where it could not be read.
    Exists(bool),
}

impl Op {
    pub fn word(&self) -> &'static str {
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

/// Advice in the words of a rule; [`super::advise`] turns it into [`super::Advice`].
#[derive(Clone, Debug)]
pub struct AdviceSpec {
    pub setting: &'static Setting,
    pub change: ChangeSpec,
    /// A further condition for the advice.
    pub when: Option<Cond>,
    /// Who else is affected.
    pub reach: Reach,
    pub risk: Risk,
    /// 1 for the first choice among several for the same setting.
    pub rank: Option<u32>,
    pub price: Option<Template>,
    /// Commands that apply it.
    pub apply: Vec<Template>,
    /// Commands that verify it.
    pub verify: Vec<Template>,
    pub undo: Vec<Template>,
    /// Commands of a user's rule, which walwise does not check. The others are then empty.
    pub own: Vec<OwnSpec>,
}

/// The change that advice makes.
#[derive(Clone, Debug)]
pub enum ChangeSpec {
    /// A change written out in the rule.
    Fixed(Change),
    /// Set it to the value of this fact.
    SetFrom(&'static KeyInfo),
    /// Add the words of this list.
    AddFrom(&'static KeyInfo),
    /// Take away the words of this list.
    RemoveFrom(&'static KeyInfo),
}

impl ChangeSpec {
    /// In words: `add noatime`, `set to what probe.best_method says`.
    pub fn words(&self) -> String {
        match self {
            Self::Fixed(Change::Set(value)) => format!("set to {value}"),
            Self::Fixed(change) => change.words(),
            Self::SetFrom(fact) => format!("set to what {} says", fact.name),
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
    /// Facts of the subject and of what it is linked to.
    pub facts: Vec<Given>,
    pub stack: Option<ExampleStack>,
    pub expect: Expect,
    /// Exactly the settings that should be advised; `None` leaves them open.
    pub advise: Option<Vec<String>>,
    /// Its line, counted from one.
    pub line: usize,
}

impl Example {
    /// The case of another example that this one repeats; `None` where it shows a case of its own.
    pub fn repeats(&self, other: &Self) -> Option<String> {
        let sorted = |facts: &[Given]| {
            let mut facts = facts.to_vec();
            facts.sort_by_key(|(key, _)| key.name);
            facts
                .into_iter()
                .map(|(key, reading)| (key.name, reading))
                .collect::<Vec<_>>()
        };
        let elements =
            |all: &[Vec<Given>]| all.iter().map(|facts| sorted(facts)).collect::<Vec<_>>();
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

pub type Given = (&'static KeyInfo, Reading<Value>);

/// The elements of quantifiers in an example: complete, even where a list is empty.
#[derive(Clone, Debug, Default)]
pub struct ExampleStack {
    pub leaves: Vec<Vec<Given>>,
    /// Block devices above them.
    pub layers: Vec<Vec<Given>>,
    /// File systems.
    pub mounts: Vec<Vec<Given>>,
}

/// The expected outcome of an example; [`super::Outcome`] without its needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    Applies,
    DoesNotApply,
    /// The outcome is undecided.
    Undecided,
}

impl Expect {
    pub const ALL: [Self; 3] = [Self::Applies, Self::DoesNotApply, Self::Undecided];

    pub fn word(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::DoesNotApply => "does not apply",
            Self::Undecided => "undecided",
        }
    }
}
