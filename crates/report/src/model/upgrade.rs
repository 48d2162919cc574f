use schemars::JsonSchema;
use serde::Serialize;

use walwise_judge::rules::Level;
use walwise_model::facts::{Subject, choice};

/// The changes that the next kernel brings, blockers first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Upgrade {
    /// All changes, each exactly once.
    pub items: Vec<UpgradeItem>,
    /// Everything that the next boot needs, with the expected outcome.
    pub needs: Vec<BootNeed>,
}

impl Upgrade {
    /// Changes at or above a level. Changes of level `keep` and improvements are left out.
    pub(crate) fn problem_items_from_level(
        &self,
        level: Level,
    ) -> impl Iterator<Item = &UpgradeItem> {
        let counts = move |item: &&UpgradeItem| {
            item.part != UpgradeSection::Better && item.level >= level && item.level > Level::Keep
        };
        self.items.iter().filter(counts)
    }
}

/// One change that the next kernel brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The remedy; absent if `because` contains it, or if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Public sources, such as kernel commits and manuals.
    pub sources: Vec<String>,
    /// True if the running kernel behaves in the same way.
    pub already: bool,
    /// True if a fact is missing that decides whether the change happens.
    pub undecided: bool,
    /// The id of the rule that found the change, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The level of a finding that applies in any case, for the exit code of an undecided change.
    #[serde(skip)]
    pub(crate) certain_level: Option<Level>,
    /// Expected outcome for the [`BootNeed`] that the change affects; `None` if it affects none.
    #[serde(skip)]
    pub(crate) answer: Option<BootOutcome>,
    /// A name that distinguishes several changes of one subject.
    #[serde(skip)]
    pub(crate) name: Option<String>,
}

choice! {
    /// The sections of the report, in order.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum UpgradeSection {
        /// A file system will not mount, or the host will not boot.
        Blocker = "Will not mount or boot",
        /// A setting is accepted but no longer has any effect.
        LosesEffect = "No longer effective",
        /// A setting is accepted but will be removed.
        Deprecated = "Deprecated",
        /// Undecided: the outcome is known only after the boot.
        NotKnown = "Undecided",
        /// A change that fits no other section.
        Changes = "Changes",
        /// A problem exists today, and the upgrade does not solve it.
        Already = "Existing problems",
        /// A setting has become the default, so it is redundant.
        Needless = "Now redundant",
        /// The next kernel resolves a current fault, or accepts an option that is rejected now.
        Better = "Improvements",
    }
}

/// A mount, device or pool that the next boot must bring up, with the expected outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BootNeed {
    /// Mount, swap, array, volume, encrypted device, multipath or pool.
    pub kind: BootNeedKind,
    /// The host, mount or device that the boot needs.
    pub subject: Subject,
    /// The place that declares the boot mount, for example `/etc/fstab:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Mount point, device name or path, as shown to the user.
    pub name: String,
    /// The expected outcome at the next boot.
    pub answer: BootOutcome,
    /// One phrase per failure, lost effect or undecided point; empty if everything works.
    pub why: Vec<String>,
}

/// The report lists boot needs in the order of their kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BootNeedKind {
    /// A line of fstab, a mount unit, or the root file system.
    Mount,
    /// A swap device or swap file; the boot continues without it.
    Swap,
    /// A software RAID array of the Linux md driver.
    Array,
    /// A device mapper volume, for example of LVM.
    Volume,
    /// A dm-crypt device that is open now, or a name in crypttab.
    Crypt,
    /// A device-mapper device over several paths to one disk.
    Multipath,
    /// All ZFS pools together, because all need one kernel module.
    Pool,
}

/// Expected outcome for something that the next boot needs, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BootOutcome {
    /// It comes up as before.
    Works,
    /// It comes up, but an option no longer has any effect.
    WorksAndLoses,
    /// Undecided: the outcome is known only after the boot.
    CannotBeTold,
    /// A file system will not mount, or the host will not boot.
    Fails,
}

impl BootOutcome {
    pub fn works_unchanged(self) -> bool {
        matches!(self, Self::Works)
    }
}
