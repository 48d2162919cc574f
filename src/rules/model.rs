//! A rule as it was written: a condition over facts, advice, and the examples that are its tests.
//!
//! Everything here has been checked by [`super::load`]: facts exist, values fit them, words are of the catalogue. The
//! surprise: facts and settings are held by declaration, not by name, so nothing later can look up a wrong name.

use crate::facts::{Area, area};
use crate::settings::Setting;
use std::sync::Arc;

use super::evidence::Evidence;
use super::own::OwnSpec;
use super::template::Template;
use super::{Change, Confidence, Level, Mending, Reach, Risk};
use crate::facts::{FactSet, KeyInfo, Reading, Scope, Subject, Value};
use crate::version::Version;

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique and stable: `area.name`.
    pub id: String,
    /// The version of walwise that brought it.
    pub since: String,
    /// The subjects it is evaluated on.
    pub scope: Scope,
    /// What is so where it applies, in one line.
    pub title: Template,
    /// What is not known where it is undecided: a question to which "yes" means that it applies.
    pub question: Template,
    /// How much it matters.
    pub level: Level,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why it matters.
    pub because: Template,
    /// What mends it, where none of its advice is given.
    pub remedy: Option<Template>,
    /// Why nothing on the host mends it, where that is so: where there is no `remedy`, or one whose facts are not known.
    pub no_remedy: Option<Template>,
    /// Public sources, at least one.
    pub refs: Arc<[String]>,
    /// Rules it wins over where both want a different value of one setting.
    pub overrides: Vec<String>,
    /// When it applies.
    pub when: Cond,
    /// What to do then.
    pub advise: Vec<AdviceSpec>,
    /// What others measured.
    pub evidence: Vec<Evidence>,
    /// Its tests.
    pub examples: Vec<Example>,
    /// Who wrote it.
    pub author: Author,
    /// The file it stands in.
    pub file: String,
    /// The line it starts on, counted from one.
    pub line: usize,
}

/// Who wrote a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// It comes with walwise, whose tests prove what it may advise.
    Walwise,
    /// Somebody else. Such a rule never advises what can lose data.
    User,
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Cond {
    /// All of them hold.
    All(Vec<Cond>),
    /// One of them holds.
    Any(Vec<Cond>),
    /// It does not hold.
    Not(Box<Cond>),
    /// It holds for each element of the subject's stack.
    Every(Relation, Box<Cond>),
    /// It holds for an element of the subject's stack.
    Some(Relation, Box<Cond>),
    /// A test of one fact.
    Fact(Test),
}

impl Cond {
    /// Whether a fact of this scope is asked of the subject, of what it is linked to, or of its stack.
    pub fn asks(&self, scope: Scope) -> bool {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().any(|kid| kid.asks(scope)),
            Self::Not(kid) => kid.asks(scope),
            Self::Every(relation, _) | Self::Some(relation, _) => relation.scope() == scope,
            Self::Fact(test) => test.fact.scope == scope,
        }
    }

    /// Whether it looks into the stack.
    pub fn quantifies(&self) -> bool {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().any(Self::quantifies),
            Self::Not(kid) => kid.quantifies(),
            Self::Every(..) | Self::Some(..) => true,
            Self::Fact(_) => false,
        }
    }

    /// Every test in it, in quantifiers too.
    pub(super) fn for_each_test<'c>(&'c self, found: &mut impl FnMut(&'c Test)) {
        match self {
            Self::All(kids) | Self::Any(kids) => kids.iter().for_each(|kid| kid.for_each_test(found)),
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
            ChangeSpec::Fixed(Change::Set(_) | Change::Add(_) | Change::Remove(_) | Change::Edit { .. }) => {
                true
            }
        };
        changes && self.when.is_none()
    }
}

impl Rule {
    /// What it says of how to mend what it finds on a subject, in its own words.
    pub fn told_remedy(&self, facts: &FactSet, subject: &Subject, which: &[&Subject]) -> Option<Mending> {
        let known = |text: &&Template| self.no_remedy.is_none() || text.is_known(facts, subject);
        let told = |here| {
            move |text: &Template| Mending { here, says: self.signed(&text.text(facts, subject, which)) }
        };
        let here = self.remedy.as_ref().filter(known).map(told(true));
        here.or_else(|| self.no_remedy.as_ref().map(told(false)))
    }

    /// What it says under the name of who wrote it.
    fn signed(&self, says: &str) -> String {
        match self.author {
            Author::Walwise => says.to_owned(),
            Author::User => format!("{says} (so says {}:{})", self.file, self.line),
        }
    }

    /// Whether its title, its reason or its remedy names elements of a quantifier.
    pub fn names_which(&self) -> bool {
        let texts = [Some(&self.title), Some(&self.because), self.remedy.as_ref(), self.no_remedy.as_ref()];
        texts.into_iter().flatten().any(Template::names_which)
    }

    /// The areas of the facts that it asks of its subject, and of the settings that it advises.
    pub fn areas(&self) -> impl Iterator<Item = Area> {
        let mut areas = Vec::new();
        self.when.areas(&mut areas);
        areas.extend(self.advise.iter().filter_map(|advice| advice.setting.kind.area()));
        areas.into_iter()
    }
}

/// What a quantifier ranges over, in the stack of the subject; the subject itself belongs to it where it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The disks at the bottom.
    Leaf,
    /// Every block device.
    Layer,
    /// Every file system.
    Mount,
}

impl Relation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Leaf, Self::Layer, Self::Mount];

    /// The word in rules.
    pub fn word(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::Layer => "layer",
            Self::Mount => "mount",
        }
    }

    /// What its elements are.
    pub fn scope(self) -> Scope {
        match self {
            Self::Leaf | Self::Layer => Scope::Device,
            Self::Mount => Scope::Mount,
        }
    }
}

/// A test of one fact.
#[derive(Clone, Debug)]
pub struct Test {
    /// The fact.
    pub fact: &'static KeyInfo,
    /// What is asked of it.
    pub op: Op,
}

/// What can be asked of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// It equals the value.
    Is(Value),
    /// It does not.
    IsNot(Value),
    /// It equals one of them.
    In(Vec<Value>),
    /// It equals none of them.
    NotIn(Vec<Value>),
    /// The list has the word.
    Has(String),
    /// The list has it not.
    Lacks(String),
    /// The list has one of the words.
    HasAny(Vec<String>),
    /// The list has the option, alone or with a value: `compress` or `compress=zstd`.
    HasOption(String),
    /// The list has it neither alone nor with a value.
    LacksOption(String),
    /// At or above.
    AtLeast(Value),
    /// Below.
    Below(Value),
    /// The version has a fix that landed in these lines ([`Version::has_fix`]).
    FixedIn(Vec<Version>),
    /// At or above a build of one vendor ([`Version::build_at_least`]).
    BuildAtLeast(Version),
    /// Below it.
    BuildBelow(Version),
    /// The text, or the version as it is written, begins so.
    StartsWith(String),
    /// It ends so.
    EndsWith(String),
    /// This is somewhere in it.
    Contains(String),
    /// Whether it is known at all: the only test that is never unknown.
    Known(bool),
}

impl Op {
    /// The word in rules.
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
            Self::BuildAtLeast(_) => "build_at_least",
            Self::BuildBelow(_) => "build_below",
            Self::StartsWith(_) => "starts_with",
            Self::EndsWith(_) => "ends_with",
            Self::Contains(_) => "contains",
            Self::Known(_) => "known",
        }
    }
}

/// Advice as a rule words it; [`super::advise`] makes [`super::Advice`] of it.
#[derive(Clone, Debug)]
pub struct AdviceSpec {
    /// What is advised.
    pub setting: &'static Setting,
    /// What to do to it.
    pub change: ChangeSpec,
    /// A further condition, which must hold.
    pub when: Option<Cond>,
    /// Who else is affected.
    pub reach: Reach,
    /// What could go wrong.
    pub risk: Risk,
    /// 1 for the first choice among several for the same setting.
    pub rank: Option<u32>,
    /// What it costs.
    pub price: Option<Template>,
    /// Commands that do it.
    pub apply: Vec<Template>,
    /// Commands that show that it is done.
    pub verify: Vec<Template>,
    /// Commands that take it back.
    pub undo: Vec<Template>,
    /// Commands of a user's rule that are not understood.
    pub own: Vec<OwnSpec>,
}

/// The change that advice makes.
#[derive(Clone, Debug)]
pub enum ChangeSpec {
    /// A change that is spelt out.
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

/// A test of the rule itself: facts, and what they should come to.
#[derive(Clone, Debug)]
pub struct Example {
    /// What it shows.
    pub name: String,
    /// Facts of the subject and of what it is linked to.
    pub facts: Vec<Given>,
    /// Its stack, when given.
    pub stack: Option<ExampleStack>,
    /// What the rule should come to.
    pub expect: Expect,
    /// Exactly the settings that should be advised, when it matters.
    pub advise: Option<Vec<String>>,
    /// Counted from one.
    pub line: usize,
}

impl Example {
    /// What this example says that another one has said; nothing where it shows something of its own.
    pub fn repeats(&self, other: &Self) -> Option<String> {
        let sorted = |facts: &[Given]| {
            let mut facts = facts.to_vec();
            facts.sort_by_key(|(key, _)| key.name);
            facts.into_iter().map(|(key, reading)| (key.name, reading)).collect::<Vec<_>>()
        };
        let elements = |all: &[Vec<Given>]| all.iter().map(|facts| sorted(facts)).collect::<Vec<_>>();
        let stack = |of: &Option<ExampleStack>| {
            of.as_ref().map(|of| [&of.leaves, &of.layers, &of.mounts].map(|all| elements(all)))
        };
        let alike = sorted(&self.facts) == sorted(&other.facts) && stack(&self.stack) == stack(&other.stack);
        match (alike, self.name == other.name) {
            (true, _) => Some(format!("the example `{}` has the facts of `{}`", self.name, other.name)),
            (false, true) => Some(format!("two examples are called `{}`", self.name)),
            (false, false) => None,
        }
    }
}

/// A fact of an example.
pub type Given = (&'static KeyInfo, Reading<Value>);

/// What quantifiers find in an example: complete, whatever of it is empty.
#[derive(Clone, Debug, Default)]
pub struct ExampleStack {
    /// Disks at the bottom.
    pub leaves: Vec<Vec<Given>>,
    /// Block devices above them.
    pub layers: Vec<Vec<Given>>,
    /// File systems.
    pub mounts: Vec<Vec<Given>>,
}

/// What an example expects; [`super::Outcome`] without its needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The condition holds.
    Applies,
    /// It does not.
    DoesNotApply,
    /// It cannot be said.
    Undecided,
}

impl Expect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Applies, Self::DoesNotApply, Self::Undecided];

    /// The words in rules.
    pub fn word(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::DoesNotApply => "does not apply",
            Self::Undecided => "undecided",
        }
    }
}
