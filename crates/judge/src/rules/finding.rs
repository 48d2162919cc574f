use crate::settings::Setting;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::{CommandPurpose, UserCommand};
use crate::escape::ShellCommand;
use crate::facts::{MissingFact, Reading, Subject, Value, choice};
use crate::ternary::Ternary;

choice! {
    /// Importance of a finding, in ascending order.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Level {
        /// The current state is right; no change is needed.
        Keep = "keep",
        /// A permitted change, with its trade-off stated.
        #[serde(rename = "optional", alias = "option")]
        Optional = "optional",
        /// A recommended improvement.
        Advice = "advice",
        /// Something to check.
        Warning = "warning",
        /// Data can be lost, or the next boot fails.
        Critical = "critical",
    }
}

choice! {
    /// How certain a rule is, in ascending order.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Confidence {
        /// The change works, but is new or rarely used.
        Experimental = "experimental",
        /// A credible source is cited.
        Documented = "documented",
        /// Recovery was tested from the disk states that a power cut can leave during a recorded workload.
        CrashTested = "crash-tested",
        /// Measured on this host, by a probe or a trial.
        Measured = "measured",
        /// Read from the host.
        Certain = "certain",
    }
}

choice! {
    /// The kind of evidence behind an advised value.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum AdviceBasis {
        /// The product's documented default; no known fact speaks against it.
        Default = "default",
        /// A public source that the rule cites.
        Documented = "documented",
        /// Measurements: a probe or a trial on this disk, or the server's counters.
        Measured = "measured",
    }
}

choice! {
    /// The interruption or the risk that the change involves, in ascending order.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Risk {
        /// Nothing; the change takes effect immediately.
        None = "none",
        /// The server must reload its configuration.
        NeedsReload = "needs-reload",
        /// The server must be restarted, which ends all sessions.
        NeedsRestart = "needs-restart",
        /// The file system must be remounted; it can stay in use.
        NeedsRemount = "needs-remount",
        /// The file system must be unmounted, after its users have been stopped.
        NeedsUnmount = "needs-unmount",
        /// A new file system must be created and the data moved to it.
        NeedsNewFilesystem = "needs-new-filesystem",
        /// Committed data can be lost if the facts are wrong. Such advice needs facts observed on
        /// this host.
        DataLossIfWrong = "data-loss-if-wrong",
    }
}

impl Risk {
    /// The word in reports and JSON for the interruption by the advised change; `none` for a
    /// remount.
    pub fn interruption_word(self) -> &'static str {
        match self {
            Self::None | Self::NeedsRemount | Self::DataLossIfWrong => "none",
            Self::NeedsReload => "reload",
            Self::NeedsRestart => "restart",
            Self::NeedsUnmount => "unmount",
            Self::NeedsNewFilesystem => "downtime",
        }
    }
}

choice! {
    /// What the advised change affects.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum EffectScope {
        /// This mount only; other mounts of the file system do not change.
        ThisMount = "this-mount",
        /// The file system and all its mounts.
        WholeFilesystem = "whole-filesystem",
        /// Files that are created in this directory after the change.
        NewFiles = "new-files",
        /// The database server with all its databases.
        Server = "server",
        /// The block device, and everything above it.
        Device = "device",
        /// Mounts from the next boot on; the running system does not change.
        NextBoot = "next-boot",
    }
}

/// The JSON form of a `Risk`.
#[derive(Serialize, JsonSchema)]
struct InterruptionJson {
    /// `none`, `reload`, `restart`, `unmount` or `downtime`.
    interrupts: &'static str,
    /// Whether committed data can be lost if the facts are wrong.
    data_loss_if_wrong: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn serialize_interruption<S: Serializer>(risk: &Risk, out: S) -> Result<S::Ok, S::Error> {
    let data_loss_if_wrong = *risk == Risk::DataLossIfWrong;
    InterruptionJson {
        interrupts: risk.interruption_word(),
        data_loss_if_wrong,
    }
    .serialize(out)
}

/// The JSON form of a `Change`; all parts are empty for *keep*.
#[derive(Serialize, JsonSchema)]
struct ChangeJson<'c> {
    set: Option<&'c str>,
    add: &'c [String],
    remove: &'c [String],
}

fn serialize_change<S: Serializer>(change: &Change, out: S) -> Result<S::Ok, S::Error> {
    let set = match change {
        Change::Set(value) => Some(&**value),
        Change::Add(_) | Change::Remove(_) | Change::Edit { .. } | Change::Keep => None,
    };
    let add = if set.is_some() {
        &[]
    } else {
        change.set_or_added_values()
    };
    ChangeJson {
        set,
        add,
        remove: change.removed_options(),
    }
    .serialize(out)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Set(String),
    Add(Vec<String>),
    Remove(Vec<String>),
    Edit {
        add: Vec<String>,
        remove: Vec<String>,
    },
    Keep,
}

impl Change {
    /// The values to set or add; empty for a removal and for *keep*.
    pub fn set_or_added_values(&self) -> &[String] {
        match self {
            Self::Set(value) => std::slice::from_ref(value),
            Self::Add(values) | Self::Edit { add: values, .. } => values,
            Self::Remove(_) | Self::Keep => &[],
        }
    }

    pub fn removed_options(&self) -> &[String] {
        match self {
            Self::Remove(values) | Self::Edit { remove: values, .. } => values,
            Self::Set(_) | Self::Add(_) | Self::Keep => &[],
        }
    }

    /// The change in words, without units: `fdatasync`, `add noatime`, `remove nobarrier`, `keep`.
    pub fn describe_change(&self) -> String {
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

/// A setting to change or to keep.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// The setting, such as `mount.options` or `pg.wal_sync_method`.
    #[schemars(with = "String")]
    pub setting: &'static Setting,
    /// The change: set a value, add or remove options, or keep the setting.
    #[serde(serialize_with = "serialize_change")]
    #[schemars(with = "ChangeJson")]
    pub change: Change,
    /// The value in force now, or the reason why it is unknown.
    pub current: Reading<Value>,
    /// What the change affects.
    pub reach: EffectScope,
    /// What the change interrupts, and whether data can be lost.
    #[serde(flatten, serialize_with = "serialize_interruption")]
    #[schemars(flatten, with = "InterruptionJson")]
    pub risk: Risk,
    /// The rank among several choices, such as the file systems for a free disk; 1 is the first
    /// choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The trade-off of an optional change.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub tradeoff: Option<String>,
    /// Commands that make the change, for review.
    #[schemars(with = "Vec<String>")]
    pub apply: Vec<ShellCommand>,
    /// Commands whose output shows whether the change is in force.
    #[schemars(with = "Vec<String>")]
    pub verify: Vec<ShellCommand>,
    /// Commands that restore the state before the change.
    #[schemars(with = "Vec<String>")]
    pub undo: Vec<ShellCommand>,
    /// Commands of a user's rule, which walwise does not check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<UserCommand>,
}

impl Advice {
    /// The change in words, with units: `1G`, `add noatime`, `remove nobarrier`, `keep`.
    pub fn change_text_with_units(&self) -> String {
        match &self.change {
            Change::Set(value) => self.setting.format_with_unit(value),
            change @ (Change::Add(_) | Change::Remove(_) | Change::Edit { .. } | Change::Keep) => {
                change.describe_change()
            }
        }
    }

    pub fn commands_by_purpose(&self) -> [(&'static str, &[ShellCommand]); 3] {
        let of = |purpose: CommandPurpose, commands| (purpose.as_str(), commands);
        [
            of(CommandPurpose::Apply, &*self.apply),
            of(CommandPurpose::Verify, &*self.verify),
            of(CommandPurpose::Undo, &*self.undo),
        ]
    }
}

/// Whether a rule's condition holds for a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// The condition holds.
    Applies,
    /// The condition does not hold.
    DoesNotApply,
    /// The condition depends on unknown facts.
    Undecided {
        /// The smallest sets of missing facts that could each decide the condition. Sets with the
        /// fewest facts come first, then sets whose facts have a remedy.
        needs: Vec<Vec<MissingFact>>,
    },
}

impl Outcome {
    pub fn is_undecided(&self) -> bool {
        matches!(self, Self::Undecided { .. })
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::DoesNotApply => "does not apply",
            Self::Undecided { .. } => "undecided",
        }
    }
}

/// The result of a rule on a subject.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Id of the rule: `area.name`.
    pub rule: String,
    /// The subject that the rule was evaluated on.
    pub subject: Subject,
    /// Whether the rule applies, or which missing facts would decide it.
    pub outcome: Outcome,
    /// The importance of the finding, after any change by a user's rule file.
    pub level: Level,
    /// How certain the rule is.
    pub confidence: Confidence,
    /// The kind of evidence behind the advice.
    pub basis: AdviceBasis,
    /// The settings of all advice of the rule, even of advice that does not apply here.
    #[serde(skip)]
    pub settings: Arc<[&'static Setting]>,
    /// One line: a statement if the rule applies, a question if it is undecided.
    pub title: String,
    /// The reason why the finding matters, as sentences.
    pub because: Arc<str>,
    /// Public sources, such as manuals, commits and bug reports.
    pub refs: Arc<[String]>,
    /// Settings to change or keep. Empty unless the rule applies.
    pub advice: Vec<Advice>,
    /// Advice that could lose data and is withheld, because not every deciding fact was observed on
    /// this host.
    pub held_back: Vec<BlockedAdvice>,
    /// The fix, or the reason why this host has none. Every critical finding that applies has one.
    #[serde(rename = "fix", skip_serializing_if = "Option::is_none")]
    pub remedy: Option<FixOrReason>,
    /// The subjects whose facts were read. Empty unless a critical rule applies.
    #[serde(skip)]
    pub observed: BTreeSet<Subject>,
    /// Every part of the condition with its reading. Left out unless requested, because traces are
    /// most of the output on a large host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<ConditionTrace>>,
}

impl Finding {
    /// Findings that apply come before undecided ones, then those with the highest level and
    /// confidence.
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

/// A fix, or the reason why this host has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FixOrReason {
    /// Whether the fix can be made on this host.
    pub here: bool,
    #[serde(rename = "text")]
    /// One or two sentences: the steps of the fix. If nothing on this host helps, the reason, and
    /// where to make the change.
    pub text: String,
}

/// Withheld advice. It has no commands, so that nobody runs them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockedAdvice {
    /// The setting and its change: `mount.options: add nobarrier`.
    pub advice: String,
    /// The reason why the advice is withheld.
    pub because: String,
}

/// An evaluated condition with its parts, for explanations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConditionTrace {
    /// The condition in words: `all of`, `device.cache is protected`.
    pub label: String,
    /// Whether the condition holds, or `unknown`.
    pub truth: Ternary,
    /// The reading, for a test of one fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Observation>,
    /// The nested conditions, in order.
    pub kids: Vec<ConditionTrace>,
}

impl ConditionTrace {
    /// The readings, in the order of the rule's tests.
    pub fn readings_of_all_tests(&self) -> Vec<&Observation> {
        let nested = self.kids.iter().flat_map(Self::readings_of_all_tests);
        self.seen.iter().chain(nested).collect()
    }
}

/// The reading that a test used.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Observation {
    /// The subject that the fact describes.
    pub subject: Subject,
    /// Name of the fact, such as `mount.fstype`.
    pub fact: &'static str,
    /// The value of the fact, or the reason why the fact is unknown.
    pub reading: Arc<Reading<Value>>,
}
