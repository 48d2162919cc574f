//! The result of evaluating a rule on a subject.

use crate::settings::Setting;
use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::user_commands::{Purpose, UserCommand};
use crate::escape::Command;
use crate::facts::{MissingFact, Reading, Subject, Value};
use crate::ternary::Ternary;

/// How much a finding matters, least first. One scale everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Already right.
    Keep,
    /// Allowed, with its trade-off stated.
    #[serde(rename = "optional", alias = "option")]
    Optional,
    /// A recommended improvement.
    Advice,
    /// Something to check.
    Warning,
    /// Data can be lost, or the next boot fails.
    Critical,
}

impl Level {
    /// Least first.
    pub const ALL: [Self; 5] = [
        Self::Keep,
        Self::Optional,
        Self::Advice,
        Self::Warning,
        Self::Critical,
    ];

    /// The word in rules, JSON and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Optional => "optional",
            Self::Advice => "advice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// How sure a rule is, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Works, but young or rarely used.
    Experimental,
    /// A credible cited source.
    Documented,
    /// Measured on this host.
    Measured,
    /// Read from the host.
    Certain,
}

impl Confidence {
    /// Least first.
    pub const ALL: [Self; 4] = [
        Self::Experimental,
        Self::Documented,
        Self::Measured,
        Self::Certain,
    ];

    /// The word in rules, JSON and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Experimental => "experimental",
            Self::Documented => "documented",
            Self::Measured => "measured",
            Self::Certain => "certain",
        }
    }
}

/// What the value of an answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The product's documented default, and no fact speaks against it.
    Default,
    /// A cited source.
    Documented,
    /// A probe or a trial on this disk, or the server's counters.
    Measured,
}

impl Basis {
    pub const ALL: [Self; 3] = [Self::Default, Self::Documented, Self::Measured];

    /// The word in rules, JSON and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Documented => "documented",
            Self::Measured => "measured",
        }
    }
}

/// What following advice interrupts or risks, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Nothing; takes effect immediately.
    None,
    /// The server must reload its configuration.
    NeedsReload,
    /// The server must be restarted.
    NeedsRestart,
    /// The file system must be remounted, while in use.
    NeedsRemount,
    /// The file system must be unmounted, and its users stopped.
    NeedsUnmount,
    /// A new file system must be created, and data moved.
    NeedsNewFilesystem,
    /// Committed data can be lost if the facts are wrong. Subject to the asymmetry rule.
    DataLossIfWrong,
}

impl Risk {
    /// Least first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::NeedsReload,
        Self::NeedsRestart,
        Self::NeedsRemount,
        Self::NeedsUnmount,
        Self::NeedsNewFilesystem,
        Self::DataLossIfWrong,
    ];

    /// What following the advice interrupts, as in reports.
    pub fn interrupts(self) -> &'static str {
        match self {
            Self::None | Self::NeedsRemount | Self::DataLossIfWrong => "none",
            Self::NeedsReload => "reload",
            Self::NeedsRestart => "restart",
            Self::NeedsUnmount => "unmount",
            Self::NeedsNewFilesystem => "downtime",
        }
    }

    /// The word in rules.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::NeedsReload => "needs-reload",
            Self::NeedsRestart => "needs-restart",
            Self::NeedsRemount => "needs-remount",
            Self::NeedsUnmount => "needs-unmount",
            Self::NeedsNewFilesystem => "needs-new-filesystem",
            Self::DataLossIfWrong => "data-loss-if-wrong",
        }
    }
}

/// What else following advice affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EffectScope {
    /// This mount only.
    ThisMount,
    /// The whole file system, with every mount of it.
    WholeFilesystem,
    /// Files created in this directory from then on.
    NewFiles,
    /// The database server.
    Server,
    /// The block device, and everything above it.
    Device,
    /// Nothing until the next boot.
    NextBoot,
}

impl EffectScope {
    pub const ALL: [Self; 6] = [
        Self::ThisMount,
        Self::WholeFilesystem,
        Self::NewFiles,
        Self::Server,
        Self::Device,
        Self::NextBoot,
    ];

    /// The word in rules and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ThisMount => "this-mount",
            Self::WholeFilesystem => "whole-filesystem",
            Self::NewFiles => "new-files",
            Self::Server => "server",
            Self::Device => "device",
            Self::NextBoot => "next-boot",
        }
    }
}

/// The risk in JSON.
#[derive(Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
struct Interruption {
    /// `none`, `reload`, `restart`, `unmount` or `downtime`.
    interrupts: &'static str,
    /// Whether committed data can be lost if the facts are wrong.
    data_loss_if_wrong: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn interruption<S: Serializer>(risk: &Risk, out: S) -> Result<S::Ok, S::Error> {
    let data_loss_if_wrong = *risk == Risk::DataLossIfWrong;
    Interruption {
        interrupts: risk.interrupts(),
        data_loss_if_wrong,
    }
    .serialize(out)
}

/// A change in JSON; *keep* has neither part.
#[derive(Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
struct ChangeParts<'c> {
    set: Option<&'c str>,
    add: &'c [String],
    remove: &'c [String],
}

fn change_parts<S: Serializer>(change: &Change, out: S) -> Result<S::Ok, S::Error> {
    let set = match change {
        Change::Set(value) => Some(&**value),
        Change::Add(_) | Change::Remove(_) | Change::Edit { .. } | Change::Keep => None,
    };
    let add = if set.is_some() { &[] } else { change.values() };
    ChangeParts {
        set,
        add,
        remove: change.removed(),
    }
    .serialize(out)
}

/// What advice does to a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Set it to this value.
    Set(String),
    /// Add these to a list of options.
    Add(Vec<String>),
    /// Remove these from a list of options.
    Remove(Vec<String>),
    /// Both: a plan that combines several rules. A single rule adds or removes.
    Edit {
        /// To add.
        add: Vec<String>,
        /// To remove.
        remove: Vec<String>,
    },
    /// Leave it unchanged.
    Keep,
}

impl Change {
    /// The values set or added.
    pub fn values(&self) -> &[String] {
        match self {
            Self::Set(value) => std::slice::from_ref(value),
            Self::Add(values) | Self::Edit { add: values, .. } => values,
            Self::Remove(_) | Self::Keep => &[],
        }
    }

    /// The values removed.
    pub fn removed(&self) -> &[String] {
        match self {
            Self::Remove(values) | Self::Edit { remove: values, .. } => values,
            Self::Set(_) | Self::Add(_) | Self::Keep => &[],
        }
    }

    /// In words: `fdatasync`, `add noatime`, `remove nobarrier`, `keep`.
    pub fn describe(&self) -> String {
        match self {
            Self::Set(value) => value.clone(),
            Self::Add(values) => format!("add {}", values.join(", ")),
            Self::Remove(values) => format!("remove {}", values.join(", ")),
            Self::Edit { add, remove } => {
                format!("add {}, remove {}", add.join(", "), remove.join(", "))
            }
            Self::Keep => "keep".to_owned(),
        }
    }
}

/// One setting to change, or to keep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Advice {
    /// The setting, such as `mount.options` or `pg.wal_sync_method`.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub setting: &'static Setting,
    /// The change.
    #[serde(serialize_with = "change_parts")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "ChangeParts"))]
    pub change: Change,
    /// The value now.
    pub current: Reading<Value>,
    /// What else is affected.
    pub reach: EffectScope,
    /// What it interrupts, and whether data can be lost.
    #[serde(flatten, serialize_with = "interruption")]
    #[cfg_attr(
        any(test, feature = "testing"),
        schemars(flatten, with = "Interruption")
    )]
    pub risk: Risk,
    /// The rank of one choice among several, such as the file system of a free disk; 1 is the first
    /// choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The trade-off of an option.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub tradeoff: Option<String>,
    /// Commands that apply it, for review.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub apply: Vec<Command>,
    /// Commands that verify it.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub verify: Vec<Command>,
    /// Commands that undo it.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub undo: Vec<Command>,
    /// Commands of a user's rule, not checked by walwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<UserCommand>,
}

impl Advice {
    /// The change in words, with units: `1G`, `add noatime`, `remove nobarrier`, `keep`.
    pub fn summary(&self) -> String {
        match &self.change {
            Change::Set(value) => self.setting.with_unit(value),
            change @ (Change::Add(_) | Change::Remove(_) | Change::Edit { .. } | Change::Keep) => {
                change.describe()
            }
        }
    }

    /// Commands to review, labelled `apply`, `verify` and `undo`.
    pub fn commands(&self) -> [(&'static str, &[Command]); 3] {
        let of = |purpose: Purpose, commands| (purpose.as_str(), commands);
        [
            of(Purpose::Apply, &*self.apply),
            of(Purpose::Verify, &*self.verify),
            of(Purpose::Undo, &*self.undo),
        ]
    }
}

/// Whether a rule's condition holds for a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It holds.
    Applies,
    /// It does not hold.
    DoesNotApply,
    /// It depends on unknown facts.
    Undecided {
        /// The smallest sets of missing facts that could each decide it, best first.
        needs: Vec<Vec<MissingFact>>,
    },
}

impl Outcome {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::DoesNotApply => "does not apply",
            Self::Undecided { .. } => "undecided",
        }
    }
}

/// The result of a rule on a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// The subject.
    pub subject: Subject,
    /// Whether the rule applies.
    pub outcome: Outcome,
    /// How much it matters.
    pub level: Level,
    /// How sure the rule is.
    pub confidence: Confidence,
    /// What its advice rests on.
    pub basis: Basis,
    /// The settings that its rule advises on.
    #[serde(skip)]
    pub settings: Arc<[&'static Setting]>,
    /// One line: a statement if the rule applies, a question if it is undecided.
    pub title: String,
    /// Why it matters.
    pub because: Arc<str>,
    /// Public sources.
    pub refs: Arc<[String]>,
    /// What to do. Empty unless the rule applies.
    pub advice: Vec<Advice>,
    /// Advice that could lose data and is not given, because not every deciding fact was observed
    /// on this host.
    pub held_back: Vec<BlockedAdvice>,
    /// The fix, or why there is none on this host. Every critical finding that applies has one.
    #[serde(rename = "fix", skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Fix>,
    /// Every sub-condition with its reading. Left out if nobody reads it: on a large host it is
    /// most of the findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<Trace>>,
}

impl Finding {
    /// The sort key: applying before undecided, worst and surest first.
    pub fn sort_key(&self) -> impl Ord {
        let outcome = match self.outcome {
            Outcome::Applies => 0,
            Outcome::Undecided { .. } => 1,
            Outcome::DoesNotApply => 2,
        };
        (
            outcome,
            Reverse(self.level),
            Reverse(self.confidence),
            &self.rule,
            &self.subject,
        )
    }
}

/// The fix of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Fix {
    /// Whether it can be done on this host.
    pub here: bool,
    #[serde(rename = "text")]
    /// One or two sentences: what to do, or why nothing on this host fixes it and where to change
    /// it.
    pub text: String,
}

/// Advice that is not given. It has no commands, so that nobody runs them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct BlockedAdvice {
    /// The setting and its change: `mount.options: add nobarrier`.
    pub advice: String,
    /// Why it is not given.
    pub because: String,
}

/// An evaluated condition with its parts, for explanations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Trace {
    /// The condition in words: `all of`, `device.cache is protected`.
    pub label: String,
    /// Its result.
    pub truth: Ternary,
    /// The reading, for a test of one fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Observation>,
    /// The sub-conditions.
    pub kids: Vec<Trace>,
}

/// The reading that a test used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Observation {
    /// The subject of the fact.
    pub subject: Subject,
    /// The fact's name.
    pub fact: &'static str,
    /// The reading.
    pub reading: Arc<Reading<Value>>,
}
