//! The result of evaluating a rule on a subject.

use crate::settings::Setting;
use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::own::{OwnCommand, Purpose};
use crate::facts::{Need, Reading, Subject, Value};
use crate::quote::Command;
use crate::truth::Truth;

/// How much a finding matters, least first. One scale everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Already right.
    Keep,
    /// Allowed, with its trade-off stated.
    #[serde(rename = "optional", alias = "option")]
    Option,
    /// A recommended improvement.
    Advice,
    /// Something to look at.
    Warning,
    /// Data can be lost, or the next boot fails.
    Critical,
}

impl Level {
    /// All of them, least first.
    pub const ALL: [Self; 5] = [
        Self::Keep,
        Self::Option,
        Self::Advice,
        Self::Warning,
        Self::Critical,
    ];

    /// The word in rules, JSON and on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Option => "optional",
            Self::Advice => "advice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// How sure it is, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Works, but young or rarely used.
    Experimental,
    /// Somebody credible says so, and is cited.
    Documented,
    /// Measured by us, here.
    Measured,
    /// Read from the machine.
    Certain,
}

impl Confidence {
    /// All of them, least first.
    pub const ALL: [Self; 4] = [
        Self::Experimental,
        Self::Documented,
        Self::Measured,
        Self::Certain,
    ];

    /// The word in rules, JSON and on screens.
    pub fn word(self) -> &'static str {
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
    /// The documented default of the product, and no fact speaks against it.
    Default,
    /// A cited source.
    Documented,
    /// A probe or a trial on this disk, or the counters of the server.
    Measured,
}

impl Basis {
    pub const ALL: [Self; 3] = [Self::Default, Self::Documented, Self::Measured];

    /// The word in rules, JSON and on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Documented => "documented",
            Self::Measured => "measured",
        }
    }
}

/// What could go wrong when advice is followed, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Nothing to fear, takes effect at once.
    None,
    /// The server must reload its configuration.
    NeedsReload,
    /// The server must be restarted.
    NeedsRestart,
    /// The file system must be mounted anew, while it is in use.
    NeedsRemount,
    /// The file system must be unmounted, and what uses it stopped.
    NeedsUnmount,
    /// A new file system must be made, and data moved.
    NeedsNewFilesystem,
    /// Committed data can be lost if the facts are not as they seem. Subject to the asymmetry rule.
    DataLossIfWrong,
}

impl Risk {
    /// All of them, least first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::NeedsReload,
        Self::NeedsRestart,
        Self::NeedsRemount,
        Self::NeedsUnmount,
        Self::NeedsNewFilesystem,
        Self::DataLossIfWrong,
    ];

    /// What following the advice interrupts.
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
    pub fn word(self) -> &'static str {
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

/// What following advice changes: its scope, in the sense of "who else is affected".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// This mount only.
    ThisMount,
    /// The whole file system, every mount of it.
    WholeFilesystem,
    /// Files created in this directory from then on.
    NewFiles,
    /// The database server.
    Server,
    /// The block device, and everything above it.
    Device,
    /// Nothing now; what the next boot does.
    NextBoot,
}

impl Reach {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ThisMount,
        Self::WholeFilesystem,
        Self::NewFiles,
        Self::Server,
        Self::Device,
        Self::NextBoot,
    ];

    /// The word in rules and JSON.
    pub fn word(self) -> &'static str {
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

/// The risk as the JSON has it.
#[derive(Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
struct Interruption {
    /// `none`, `reload`, `restart`, `unmount` or `downtime`.
    interrupts: &'static str,
    /// Whether committed data can be lost if the facts are not as they seem.
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

/// A change as the JSON has it; one that keeps has neither part.
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
    /// Give it this value.
    Set(String),
    /// For settings that are lists of options: add these.
    Add(Vec<String>),
    /// For settings that are lists of options: take these away.
    Remove(Vec<String>),
    /// Both at once: what a plan makes of several rules. Rules themselves say one or the other.
    Edit {
        /// Add these.
        add: Vec<String>,
        /// Take these away.
        remove: Vec<String>,
    },
    /// Leave it as it is.
    Keep,
}

impl Change {
    /// What is given or added; nothing for what is taken away or kept.
    pub fn values(&self) -> &[String] {
        match self {
            Self::Set(value) => std::slice::from_ref(value),
            Self::Add(values) | Self::Edit { add: values, .. } => values,
            Self::Remove(_) | Self::Keep => &[],
        }
    }

    /// What is taken away.
    pub fn removed(&self) -> &[String] {
        match self {
            Self::Remove(values) | Self::Edit { remove: values, .. } => values,
            Self::Set(_) | Self::Add(_) | Self::Keep => &[],
        }
    }

    /// In words: `fdatasync`, `add noatime`, `remove nobarrier`, `keep`.
    pub fn words(&self) -> String {
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

/// One thing to do, or to leave as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Advice {
    /// The setting, such as `mount.options` or `pg.wal_sync_method`.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub setting: &'static Setting,
    /// What to do to it.
    #[serde(serialize_with = "change_parts")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "ChangeParts"))]
    pub change: Change,
    /// What it is now.
    pub current: Reading<Value>,
    /// Who else is affected.
    pub reach: Reach,
    /// What it interrupts, and whether data can be lost.
    #[serde(flatten, serialize_with = "interruption")]
    #[cfg_attr(
        any(test, feature = "testing"),
        schemars(flatten, with = "Interruption")
    )]
    pub risk: Risk,
    /// For one choice among several, such as the file system of a free disk: 1 is the first choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// What it costs, for an option.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// Commands that do it, for review.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub apply: Vec<Command>,
    /// Commands that show that it is done.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub verify: Vec<Command>,
    /// Commands that take it back.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub undo: Vec<Command>,
    /// Commands of a user's rule, which walwise does not check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnCommand>,
}

impl Advice {
    /// What it does in words, with units: `1G`, `add noatime`, `remove nobarrier`, `keep`.
    pub fn summary(&self) -> String {
        match &self.change {
            Change::Set(value) => self.setting.with_unit(value),
            change @ (Change::Add(_) | Change::Remove(_) | Change::Edit { .. } | Change::Keep) => {
                change.words()
            }
        }
    }

    /// What is to be run for review, under its word: `apply`, `verify` and `undo`.
    pub fn commands(&self) -> [(&'static str, &[Command]); 3] {
        let of = |purpose: Purpose, commands| (purpose.word(), commands);
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
    /// It does not.
    DoesNotApply,
    /// It cannot be said.
    Undecided {
        /// The smallest sets of missing facts of which each alone could decide it, best first.
        needs: Vec<Vec<Need>>,
    },
}

impl Outcome {
    /// In words.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::DoesNotApply => "does not apply",
            Self::Undecided { .. } => "undecided",
        }
    }
}

/// A rule on a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// On what.
    pub subject: Subject,
    /// Whether it holds.
    pub outcome: Outcome,
    /// How much it matters.
    pub level: Level,
    /// How sure it is.
    pub confidence: Confidence,
    /// What its advice rests on.
    pub basis: Basis,
    /// The settings that its rule advises on.
    #[serde(skip)]
    pub settings: Arc<[&'static Setting]>,
    /// One line: what is so where it applies, and a question where it is undecided.
    pub title: String,
    /// Why it matters.
    pub because: Arc<str>,
    /// Public sources.
    pub refs: Arc<[String]>,
    /// What to do. Empty unless it applies.
    pub advice: Vec<Advice>,
    /// Advice that could lose data and is not given, because not every fact that decides it was
    /// seen on this machine.
    pub held_back: Vec<HeldBack>,
    /// What mends it, or why nothing on this host does. Of whatever is critical and applies, there
    /// is one.
    #[serde(rename = "fix", skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Mending>,
    /// Why it is so: every sub-condition with what was seen. Left out where nobody will read it: on
    /// a large host it is the larger part of all findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<Trace>>,
}

impl Finding {
    /// Where it stands among others: what applies before what is undecided, worst and surest first.
    pub fn place(&self) -> impl Ord {
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

/// What mends what a finding says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Mending {
    /// Whether it can be done on this host.
    pub here: bool,
    #[serde(rename = "text")]
    /// In a sentence or two: what to do, or why nothing here mends it and where that is to be
    /// changed.
    pub says: String,
}

/// Advice that is not given. It has no commands, so that nobody runs them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct HeldBack {
    /// The setting and what it would have been: `mount.options: add nobarrier`.
    pub advice: String,
    /// Why it is not given.
    pub because: String,
}

/// A condition that was evaluated, with what it is made of, for this is what explains.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Trace {
    /// The condition in words: `all of`, `device.cache is protected`.
    pub label: String,
    /// What it came to.
    pub truth: Truth,
    /// For a test of one fact, what was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// The sub-conditions.
    pub kids: Vec<Trace>,
}

/// The reading a test looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Seen {
    /// What the fact is about.
    pub subject: Subject,
    /// The fact's name.
    pub fact: &'static str,
    /// What is known of it.
    pub reading: Arc<Reading<Value>>,
}
