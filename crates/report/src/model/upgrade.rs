//! The changes by the next kernel, as a part of the report. [`crate::upgrade`] creates them.

use serde::Serialize;

use walwise_judge::rules::Level;
use walwise_model::facts::Subject;

/// The changes by the next kernel, blockers first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Upgrade {
    /// All changes, each exactly once.
    pub items: Vec<UpgradeItem>,
    /// Everything that the next boot needs, and whether it will work.
    pub needs: Vec<BootNeed>,
}

impl Upgrade {
    /// Changes at or above a level. A `keep` and an improvement never count.
    pub fn problem_items_from_level(&self, level: Level) -> impl Iterator<Item = &UpgradeItem> {
        let counts = move |item: &&UpgradeItem| {
            item.part != UpgradeSection::Better && item.level >= level && item.level > Level::Keep
        };
        self.items.iter().filter(counts)
    }
}

/// One change by the next kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct UpgradeItem {
    /// The section of the report that lists the change.
    pub part: UpgradeSection,
    /// The level of the change, or the highest possible level if undecided.
    pub level: Level,
    /// The host, mount, device or server that is affected.
    pub subject: Subject,
    /// The place that declares the boot mount, for example `/etc/fstab:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The change, in one line.
    pub what: String,
    /// The reason and the consequence; can be empty.
    pub because: String,
    /// Public sources, such as kernel commits and manuals.
    pub sources: Vec<String>,
    /// True if the running kernel behaves in this way, too.
    pub already: bool,
    /// True if a fact is missing that decides whether the change happens.
    pub undecided: bool,
    /// The id of the rule that found the change, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The level that an undecided change has at least, because a finding already applies.
    #[serde(skip)]
    pub(crate) certain_level: Option<Level>,
    /// The effect on something that the next boot needs; `None` if the change is about something
    /// else.
    #[serde(skip)]
    pub(crate) answer: Option<BootOutcome>,
    /// Distinguishes several changes of one subject.
    #[serde(skip)]
    pub(crate) name: Option<String>,
}

/// The sections of the report, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UpgradeSection {
    /// A file system will not mount, or the host will not boot.
    Blocker,
    /// A setting is accepted but has no effect any more.
    LosesEffect,
    /// A setting is accepted but will be removed.
    Deprecated,
    /// Undecided: only the boot itself will show.
    NotKnown,
    /// Something else changes.
    Changes,
    /// Something is wrong today, and the upgrade does not change that.
    Already,
    /// A setting is the default now, so it is redundant.
    Needless,
    /// Something improves.
    Better,
}

impl UpgradeSection {
    /// In display order.
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
    /// Mount, swap, array, volume, encrypted device, multipath or pool.
    pub kind: BootNeedKind,
    /// The host, mount or device that the boot needs.
    pub subject: Subject,
    /// The place that declares the boot mount, for example `/etc/fstab:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The name for display.
    pub name: String,
    /// Whether the need will be met.
    pub answer: BootOutcome,
    /// Phrases: what loses its effect, what fails, or what is undecided. Empty if everything works.
    pub why: Vec<String>,
}

/// The kind of something that the next boot needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BootNeedKind {
    /// A line of fstab, a mount unit, or the root file system.
    Mount,
    /// A swap device or a swap file.
    Swap,
    /// An md array.
    Array,
    /// A device mapper volume, for example of LVM.
    Volume,
    /// An encrypted device.
    Crypt,
    /// Several paths to one disk.
    Multipath,
    /// ZFS pools.
    Pool,
}

impl BootNeedKind {
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
pub enum BootOutcome {
    /// The need is met without a change.
    Works,
    /// The need is met, but an option has no effect any more.
    WorksAndLoses,
    /// Undecided: only the boot itself will show.
    CannotBeTold,
    /// A file system will not mount, or the host will not boot.
    Fails,
}

impl BootOutcome {
    pub fn works_unchanged(self) -> bool {
        matches!(self, Self::Works)
    }
}
