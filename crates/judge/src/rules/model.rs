//! A loaded rule: a condition over facts, advice, and the examples that are its tests.
//!
//! The loader has checked that all facts exist and all values fit. A rule holds references to facts
//! and settings, so no later lookup can use a wrong name.

use std::sync::Arc;

use super::published_evidence::PublishedMeasurement;
use super::template::Template;
use super::{
    AdviceBasis, Change, Confidence, EffectScope, FixOrReason, Level, Risk, UserCommandSpec,
};
use crate::facts::catalog::target::VerdictKind;
use crate::facts::{
    FactSet, KeyInfo, Reading, Scope, ServerArea, Subject, Value, choice, server_area_of_name,
};
use crate::provenance::VerificationStamp;
use crate::settings::{Setting, SettingKind};
use crate::version::{AffectedReleases, Version};

#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique and stable: `area.name`.
    pub id: String,
    /// The walwise version that introduced the rule.
    pub since: String,
    /// Last comparison of the rule with its sources; optional in users' rules.
    pub checked: Option<VerificationStamp>,
    pub scope: Scope,
    /// The statement that is shown where the rule applies; one line.
    pub title: Template,
    /// The question that is shown where the rule is undecided; the answer "yes" means that the rule
    /// applies.
    pub question: Template,
    pub level: Level,
    /// The best verdict that a target can have if the rule applies to a subject in the target's
    /// stack.
    pub caps: Option<VerdictKind>,
    pub confidence: Confidence,
    pub basis: AdviceBasis,
    pub because: Template,
    /// The fix that an admin can make on this host.
    pub remedy: Option<Template>,
    /// The reason why nothing on the host helps. Shown if there is no `remedy`, or if a fact in
    /// `remedy` is unknown.
    pub no_remedy: Option<Template>,
    /// Public sources, at least one.
    pub refs: Arc<[String]>,
    /// Ids of rules that yield to this one if both advise different values for a setting.
    pub overrides: Vec<String>,
    pub when: Condition,
    /// Effect of an upgrade, in a row of known changes. Such a rule is judged only under an assumed
    /// kernel, as by `walwise upgrade`, or to explain a shift of commit latency.
    pub change: Option<ChangeEffect>,
    pub advise: Vec<AdviceSpec>,
    pub evidence: Vec<PublishedMeasurement>,
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

choice! {
    /// Effect of a known change on a server after an upgrade.
    pub enum ChangeEffect {
        Stops = "does not start",
        SlowsDown = "slower",
        /// Commits can be slower, but no fact shows this before the upgrade. The change only
        /// explains slower commits measured since a baseline.
        ExplainsShift = "slower if measured",
        ChangesSetting = "setting changes",
    }
}

impl ChangeEffect {
    pub fn finding_level(self) -> Level {
        match self {
            Self::Stops => Level::Critical,
            Self::SlowsDown | Self::ExplainsShift | Self::ChangesSetting => Level::Warning,
        }
    }

    /// Whether the change can explain that commits are slower than before the upgrade.
    pub fn can_slow_commits(self) -> bool {
        matches!(self, Self::SlowsDown | Self::ExplainsShift)
    }

    /// False if no fact shows the change before the upgrade.
    pub(crate) fn is_judged_before_upgrade(self) -> bool {
        !matches!(self, Self::ExplainsShift)
    }
}

choice! {
    pub enum FaultEffect {
        LosesFlushedData = "loses flushed data",
        CorruptsData = "corrupts data",
        DoesNotMount = "does not mount after a crash",
        DoesNotStart = "does not start",
        Hangs = "hangs",
        GoesReadOnly = "goes read-only",
    }
}

impl FaultEffect {
    /// Whether an acknowledged commit can be lost, overwritten or unrecoverable.
    pub(crate) fn is_data_loss(self) -> bool {
        matches!(
            self,
            Self::LosesFlushedData | Self::CorruptsData | Self::DoesNotMount
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Built-in rules. Tests check which changes they may advise.
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
    Every(StackElementKind, Box<Condition>),
    Some(StackElementKind, Box<Condition>),
    Fact(FactTest),
}

impl Condition {
    pub(crate) fn children(&self) -> &[Self] {
        match self {
            Self::All(kids) | Self::Any(kids) => kids,
            Self::Not(kid) | Self::Every(_, kid) | Self::Some(_, kid) => std::slice::from_ref(kid),
            Self::Fact(_) => &[],
        }
    }

    /// Whether the condition quantifies over subjects of the scope, or tests a fact of the scope
    /// outside quantifiers.
    pub(crate) fn uses_scope(&self, scope: Scope) -> bool {
        match self {
            Self::All(_) | Self::Any(_) | Self::Not(_) => {
                self.children().iter().any(|kid| kid.uses_scope(scope))
            }
            Self::Every(relation, _) | Self::Some(relation, _) => relation.scope() == scope,
            Self::Fact(test) => test.fact.scope == scope,
        }
    }

    pub(crate) fn has_quantifier(&self) -> bool {
        matches!(self, Self::Every(..) | Self::Some(..))
            || self.children().iter().any(Self::has_quantifier)
    }

    pub fn for_each_test<'c>(&'c self, found: &mut impl FnMut(&'c FactTest)) {
        if let Self::Fact(test) = self {
            found(test);
        }
        for kid in self.children() {
            kid.for_each_test(found);
        }
    }

    fn collect_server_areas_of_tests(&self, into: &mut Vec<ServerArea>) {
        match self {
            Self::All(_) | Self::Any(_) | Self::Not(_) => {
                for kid in self.children() {
                    kid.collect_server_areas_of_tests(into);
                }
            }
            Self::Every(..) | Self::Some(..) => {}
            Self::Fact(test) => into.extend(server_area_of_name(test.fact.name)),
        }
    }
}

impl AdviceSpec {
    /// Whether the advice is given wherever the rule applies, and changes something.
    pub(crate) fn always_changes_setting(&self) -> bool {
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
    /// The remedy of the rule for a subject, or the reason why there is none; `None` if the rule
    /// states neither.
    pub(crate) fn fix_for_subject(
        &self,
        facts: &FactSet,
        subject: &Subject,
        which: &[&Subject],
    ) -> Option<FixOrReason> {
        let known = |text: &&Template| {
            self.no_remedy.is_none() || text.has_all_required_facts(facts, subject)
        };
        let told = |here| {
            move |text: &Template| FixOrReason {
                here,
                text: self
                    .with_location_of_user_rule(&text.render_for_subject(facts, subject, which)),
            }
        };
        let here = self.remedy.as_ref().filter(known).map(told(true));
        here.or_else(|| self.no_remedy.as_ref().map(told(false)))
    }

    fn with_location_of_user_rule(&self, says: &str) -> String {
        match self.author {
            Author::Walwise => says.to_owned(),
            Author::User => format!("{says} (from {}:{})", self.file, self.line),
        }
    }

    pub(crate) fn has_which_placeholder(&self) -> bool {
        let texts = [
            Some(&self.title),
            Some(&self.because),
            self.remedy.as_ref(),
            self.no_remedy.as_ref(),
        ];
        texts
            .into_iter()
            .flatten()
            .any(Template::has_which_placeholder)
    }

    /// The server areas of the facts that are looked up outside quantifiers, and of the advised
    /// settings.
    pub(crate) fn server_areas(&self) -> Vec<ServerArea> {
        let mut areas = Vec::new();
        self.when.collect_server_areas_of_tests(&mut areas);
        areas.extend(
            self.advise
                .iter()
                .filter_map(|advice| advice.setting.kind.server_area()),
        );
        areas.sort_unstable();
        areas.dedup();
        areas
    }
}

choice! {
    /// Kind of element that a quantifier covers in the subject's stack. The stack includes the
    /// subject itself.
    pub enum StackElementKind {
        Leaf = "leaf",
        Layer = "layer",
        Mount = "mount",
    }
}

impl StackElementKind {
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
    /// Whether the test is the opposite of `op`, as `lacks` is of `has`.
    pub negated: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TestOperator {
    Is(Value),
    In(Vec<Value>),
    Has(String),
    HasAny(Vec<String>),
    /// The option alone or with a value: `compress` or `compress=zstd`.
    HasOption(String),
    AtLeast(Value),
    /// The version has a fix; the list names the first fixed release of each release line
    /// ([`Version::is_fixed_in`]).
    FixedIn(Vec<Version>),
    /// The version is among the faulty releases of a `[[release]]` table.
    InRange(AffectedReleases),
    /// The version is that of a vendor's build or a later one ([`Version::build_at_least`]).
    BuildAtLeast(Version),
    /// The text begins with this fragment. A version is compared as the text that was read.
    StartsWith(String),
    EndsWith(String),
    Contains(String),
    /// Whether the fact is known; the result of this test is never unknown.
    Known,
    /// Whether the fact exists on the host: no for an *absent* reading, unknown for any other
    /// unknown reading.
    Exists,
}

#[derive(Clone, Debug)]
pub struct AdviceSpec {
    pub setting: &'static Setting,
    pub change: ChangeSpec,
    pub when: Option<Condition>,
    pub reach: EffectScope,
    pub risk: Risk,
    /// Rank among several choices for a setting; 1 is the first choice.
    pub rank: Option<u32>,
    pub tradeoff: Option<Template>,
    pub apply: Vec<Template>,
    pub verify: Vec<Template>,
    pub undo: Vec<Template>,
    /// Commands of a user's rule, which walwise does not check; `apply`, `verify` and `undo` are
    /// then empty.
    pub user_commands: Vec<UserCommandSpec>,
}

impl AdviceSpec {
    /// The change in words. *Set to* precedes only a value that is passed literally to a kernel or
    /// server: the value of `database.placement` may be `another disk`.
    pub fn advised_change_text(&self) -> String {
        let kind = self.setting.kind;
        let is_literal = kind.server_area().is_some() || kind.is_queue_attribute();
        if let ChangeSpec::Fixed(Change::Set(value)) = &self.change
            && is_literal
        {
            return format!("set to {value}");
        }
        self.change.change_text()
    }
}

#[derive(Clone, Debug)]
pub enum ChangeSpec {
    Fixed(Change),
    SetFrom(&'static KeyInfo),
    AddFrom(&'static KeyInfo),
    RemoveFrom(&'static KeyInfo),
}

impl ChangeSpec {
    /// The change in words: `another disk`, `add noatime`, `set to the value of probe.best_method`.
    fn change_text(&self) -> String {
        match self {
            Self::Fixed(change) => change.describe_change(),
            Self::SetFrom(fact) => format!("set to the value of {}", fact.name),
            Self::AddFrom(fact) => format!("add the items listed in {}", fact.name),
            Self::RemoveFrom(fact) => format!("remove the items listed in {}", fact.name),
        }
    }
}

#[derive(Clone, Debug)]
pub struct RuleExample {
    pub name: String,
    pub facts: Vec<ExampleFact>,
    pub stack: Option<ExampleStack>,
    pub expect: ExpectedOutcome,
    /// All settings that must be advised in the example; with `None`, any advice passes.
    pub advise: Option<Vec<String>>,
    /// First line of the example in its file, counted from one.
    pub line: usize,
}

impl RuleExample {
    /// `None` unless both examples have the same name, or the same facts and stack.
    pub(crate) fn duplicate_example_message(&self, other: &Self) -> Option<String> {
        // The facts of both examples are in the order of their names, as in every TOML table.
        let alike = self.facts == other.facts && self.stack == other.stack;
        match (alike, self.name == other.name) {
            (true, _) => Some(format!(
                "the example `{}` has the same facts as `{}`",
                self.name, other.name
            )),
            (false, true) => Some(format!("two examples are called `{}`", self.name)),
            (false, false) => None,
        }
    }
}

pub(crate) type ExampleFact = (&'static KeyInfo, Reading<Value>);

/// The stack of an example: a list of facts for each leaf, layer and mount. The stack has no other
/// elements, except that a disk without known facts replaces a missing leaf below a mount.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExampleStack {
    pub leaves: Vec<Vec<ExampleFact>>,
    pub layers: Vec<Vec<ExampleFact>>,
    pub mounts: Vec<Vec<ExampleFact>>,
}

choice! {
    pub enum ExpectedOutcome {
        Applies = "applies",
        DoesNotApply = "does not apply",
        Undecided = "undecided",
    }
}
