//! What the next kernel changes, as a part of the report of the machine that it is for. It is found
//! in [`crate::upgrade`].

use serde::Serialize;

use walwise_judge::rules::Level;
use walwise_model::facts::Subject;

/// What the upgrade changes, blockers first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Upgrade {
    /// Everything that is to be told, each thing once.
    pub items: Vec<Item>,
    /// Everything that the next boot needs, with what becomes of it.
    pub needs: Vec<BootNeed>,
}

impl Upgrade {
    /// The items to be minded: everything of a level that counts, unless it gets better.
    pub fn counted(&self, level: Level) -> impl Iterator<Item = &Item> {
        let counts = move |item: &&Item| {
            item.part != Part::Better && item.level >= level && item.level > Level::Keep
        };
        self.items.iter().filter(counts)
    }
}

/// One thing, named once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
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
    /// What it answers of something that the next boot needs; nothing where it is about something
    /// else.
    #[serde(skip)]
    pub(crate) answer: Option<Answer>,
    /// Which of several things of the subject it is about.
    #[serde(skip)]
    pub(crate) name: Option<String>,
}

/// What becomes of something, in the order in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
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
            Self::LosesEffect => "No longer effective",
            Self::Deprecated => "Deprecated",
            Self::NotKnown => "Cannot tell",
            Self::Changes => "Changes",
            Self::Already => "Already wrong today",
            Self::Needless => "Now redundant",
            Self::Better => "Gets better",
        }
    }
}

/// Something that the next boot needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct BootNeed {
    /// What kind of thing.
    pub kind: Kind,
    /// What.
    pub subject: Subject,
    /// Where it is written, for what the next boot mounts: `/etc/fstab:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// As people call it.
    pub name: String,
    /// What becomes of it.
    pub answer: Answer,
    /// What is lost, what it fails on, or what cannot be told, a phrase each; empty where it works.
    pub why: Vec<String>,
}

/// What kind of thing the boot needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A line of fstab, a mount unit, or the root file system.
    Mount,
    /// Swap.
    Swap,
    /// An array of md.
    Array,
    /// A volume of LVM, or another one of the device mapper.
    Volume,
    /// An encrypted device.
    Crypt,
    /// Several paths to one disk.
    Multipath,
    /// The pools of ZFS.
    Pool,
}

impl Kind {
    /// Whether md puts it together.
    pub fn is_array(self) -> bool {
        matches!(self, Self::Array)
    }

    /// Whether it is encrypted.
    pub fn is_crypt(self) -> bool {
        matches!(self, Self::Crypt)
    }
}

/// What becomes of something that the next boot needs, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It works as it is.
    Works,
    /// It works, and something that is written there does nothing any more.
    WorksAndLoses,
    /// It cannot be told before it is tried.
    CannotBeTold,
    /// It will not mount, or the machine will not boot.
    Fails,
}

impl Answer {
    /// Whether it works as it is.
    pub fn is_works(self) -> bool {
        matches!(self, Self::Works)
    }
}
