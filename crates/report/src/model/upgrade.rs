//! What the next kernel changes, as a part of the report. Made in [`crate::upgrade`].

use serde::Serialize;

use walwise_judge::rules::Level;
use walwise_model::facts::Subject;

/// What the upgrade changes, blockers first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Upgrade {
    /// All items, each once.
    pub items: Vec<Item>,
    /// Everything that the next boot needs, and whether it will work.
    pub needs: Vec<BootNeed>,
}

impl Upgrade {
    /// The items at or above a level, without *keep* and without improvements.
    pub fn counted_items(&self, level: Level) -> impl Iterator<Item = &Item> {
        let counts = move |item: &&Item| {
            item.part != Part::Better && item.level >= level && item.level > Level::Keep
        };
        self.items.iter().filter(counts)
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Item {
    /// The section of the report.
    pub part: Part,
    /// Its level; of an undecided item, the level it may have.
    pub level: Level,
    /// The subject that changes.
    pub subject: Subject,
    /// Where the boot mount is declared: `/etc/fstab:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// One line: the change.
    pub what: String,
    /// The reason and the consequence; can be empty.
    pub because: String,
    /// Public sources.
    pub sources: Vec<String>,
    /// Whether the running kernel does the same.
    pub already: bool,
    /// Whether it is undecided.
    pub undecided: bool,
    /// The rule that found it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The level that an undecided item has in any case.
    #[serde(skip)]
    pub(crate) certain_level: Option<Level>,
    /// Its effect on something that the next boot needs; `None` if it is about something else.
    #[serde(skip)]
    pub(crate) answer: Option<Answer>,
    /// Tells apart several items of one subject.
    #[serde(skip)]
    pub(crate) name: Option<String>,
}

/// The sections of the report, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// It will not mount, or the host will not boot.
    Blocker,
    /// It is accepted but has no effect any more.
    LosesEffect,
    /// It is accepted, but will be removed.
    Deprecated,
    /// Undecided: only the boot itself will show.
    NotKnown,
    /// Something else changes.
    Changes,
    /// It is wrong today, and the upgrade does not change that.
    Already,
    /// It is the default now, so it is redundant.
    Needless,
    /// It improves.
    Better,
}

impl Part {
    /// All sections, in order.
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

    pub fn heading(self) -> &'static str {
        match self {
            Self::Blocker => "Will not mount or boot",
            Self::LosesEffect => "No longer effective",
            Self::Deprecated => "Deprecated",
            Self::NotKnown => "Undecided",
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
    /// Its kind.
    pub kind: Kind,
    /// The subject needed.
    pub subject: Subject,
    /// Where the boot mount is declared: `/etc/fstab:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its display name.
    pub name: String,
    /// Whether it will work.
    pub answer: Answer,
    /// Phrases: what loses its effect, what fails, or what is undecided; empty if it works.
    pub why: Vec<String>,
}

/// The kind of something that the boot needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A line of fstab, a mount unit, or the root file system.
    Mount,
    /// Swap.
    Swap,
    /// An md array.
    Array,
    /// An LVM or other device mapper volume.
    Volume,
    /// An encrypted device.
    Crypt,
    /// Several paths to one disk.
    Multipath,
    /// ZFS pools.
    Pool,
}

impl Kind {
    pub fn is_array(self) -> bool {
        matches!(self, Self::Array)
    }

    pub fn is_crypt(self) -> bool {
        matches!(self, Self::Crypt)
    }
}

/// Whether something that the next boot needs will work, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It works unchanged.
    Works,
    /// It works, but an option there has no effect any more.
    WorksAndLoses,
    /// Undecided: only the boot itself will show.
    CannotBeTold,
    /// It will not mount, or the machine will not boot.
    Fails,
}

impl Answer {
    pub fn works(self) -> bool {
        matches!(self, Self::Works)
    }
}
