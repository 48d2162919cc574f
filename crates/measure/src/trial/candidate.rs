//! The candidates of a trial, as a closed list, and what each is made of beyond what walwise
//! advises for it.

use serde::{Deserialize, Serialize};

use crate::settings::NewFilesystem;

/// A candidate. The first that is asked for is the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// ext4 as walwise would make and mount it.
    Ext4,
    /// The same with fast commits.
    Ext4FastCommit,
    Xfs,
    /// btrfs with copy on write.
    Btrfs,
    /// btrfs with +C on the directory of the log.
    BtrfsNocow,
    /// ext4 without barriers: what flushing costs. It keeps no commits and is never ranked.
    Ext4Nobarrier,
}

impl Contender {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] = [
        Self::Ext4,
        Self::Ext4FastCommit,
        Self::Xfs,
        Self::Btrfs,
        Self::BtrfsNocow,
        Self::Ext4Nobarrier,
    ];

    /// Those of a trial for which none were named.
    pub const USUAL: [Self; 5] = [
        Self::Ext4,
        Self::Ext4FastCommit,
        Self::Xfs,
        Self::Btrfs,
        Self::BtrfsNocow,
    ];

    /// Its word on the command line and in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Ext4FastCommit => "ext4-fast-commit",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::BtrfsNocow => "btrfs-nocow",
            Self::Ext4Nobarrier => "ext4-nobarrier",
        }
    }

    /// The file system that is made.
    pub fn filesystem(self) -> NewFilesystem {
        match self {
            Self::Ext4 | Self::Ext4FastCommit | Self::Ext4Nobarrier => NewFilesystem::Ext4,
            Self::Xfs => NewFilesystem::Xfs,
            Self::Btrfs | Self::BtrfsNocow => NewFilesystem::Btrfs,
        }
    }

    /// A mkfs option beyond those that are advised, as words.
    pub fn mkfs(self) -> &'static [&'static str] {
        match self {
            Self::Ext4FastCommit => &["-O", "fast_commit"],
            Self::Ext4 | Self::Xfs | Self::Btrfs | Self::BtrfsNocow | Self::Ext4Nobarrier => &[],
        }
    }

    /// A mount option beyond those that are advised.
    pub fn mount(self) -> Option<&'static str> {
        match self {
            Self::Ext4Nobarrier => Some("barrier=0"),
            Self::Ext4 | Self::Ext4FastCommit | Self::Xfs | Self::Btrfs | Self::BtrfsNocow => None,
        }
    }

    /// Whether new files of the log are overwritten in place because of an attribute of their
    /// directory.
    pub fn is_nocow(self) -> bool {
        matches!(self, Self::BtrfsNocow)
    }

    /// Whether it is asked to flush what it reports as durable.
    pub fn promises_commits(self) -> bool {
        !matches!(self, Self::Ext4Nobarrier)
    }
}

/// What mkfs is told for the measurement's sake: nothing may write in the background or discard
/// what was written. It is forced, as the extent holds the file system that the trial made before.
pub fn mkfs_of_trials(filesystem: NewFilesystem) -> &'static [&'static str] {
    match filesystem {
        NewFilesystem::Ext4 => &[
            "-q",
            "-F",
            "-t",
            "ext4",
            "-E",
            "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
        ],
        NewFilesystem::Xfs | NewFilesystem::Btrfs => &["-q", "-f", "-K"],
        NewFilesystem::Zfs => &[],
    }
}

/// The advised mount options that hold on a loop file: what would punch holes into the image is
/// left out.
pub fn mount_of_trials(advised: &str, more: Option<&str>) -> String {
    let left_out = ["defaults", "discard", "discard=async", "discard=sync"];
    let kept = advised
        .split(',')
        .filter(|word| !word.is_empty() && !left_out.contains(word));
    kept.chain(more).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_documents() {
        for candidate in Contender::ALL {
            assert_eq!(serde_json::to_value(candidate).unwrap(), candidate.word());
        }
        assert!(
            Contender::USUAL
                .iter()
                .all(|candidate| candidate.promises_commits())
        );
    }

    #[test]
    fn nothing_discards_the_image() {
        assert_eq!(mount_of_trials("noatime,discard=async", None), "noatime");
        assert_eq!(mount_of_trials("defaults", Some("barrier=0")), "barrier=0");
        assert_eq!(mount_of_trials("", None), "");
    }
}
