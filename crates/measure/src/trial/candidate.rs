use serde::{Deserialize, Serialize};

use crate::settings::NewFilesystem;
use walwise_model::text::JoinText;

/// File system that a trial compares with others. The first candidate is the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Candidate {
    /// ext4 with the advised mkfs and mount options.
    Ext4,
    Ext4FastCommit,
    Xfs,
    Btrfs,
    /// btrfs with `chattr +C` on the log directory.
    BtrfsNocow,
    /// ext4 without barriers, to show the cost of flushes. This candidate can lose commits and is
    /// never ranked.
    Ext4Nobarrier,
}

impl Candidate {
    pub const ALL: [Self; 6] = [
        Self::Ext4,
        Self::Ext4FastCommit,
        Self::Xfs,
        Self::Btrfs,
        Self::BtrfsNocow,
        Self::Ext4Nobarrier,
    ];

    pub const DEFAULTS: [Self; 5] = [
        Self::Ext4,
        Self::Ext4FastCommit,
        Self::Xfs,
        Self::Btrfs,
        Self::BtrfsNocow,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Ext4FastCommit => "ext4-fast-commit",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::BtrfsNocow => "btrfs-nocow",
            Self::Ext4Nobarrier => "ext4-nobarrier",
        }
    }

    pub fn filesystem(self) -> NewFilesystem {
        match self {
            Self::Ext4 | Self::Ext4FastCommit | Self::Ext4Nobarrier => NewFilesystem::Ext4,
            Self::Xfs => NewFilesystem::Xfs,
            Self::Btrfs | Self::BtrfsNocow => NewFilesystem::Btrfs,
        }
    }

    /// Options in addition to the advised ones.
    pub fn extra_mkfs_options(self) -> &'static [&'static str] {
        match self {
            Self::Ext4FastCommit => &["-O", "fast_commit"],
            Self::Ext4 | Self::Xfs | Self::Btrfs | Self::BtrfsNocow | Self::Ext4Nobarrier => &[],
        }
    }

    /// Option in addition to the advised ones.
    pub fn extra_mount_option(self) -> Option<&'static str> {
        match self {
            Self::Ext4Nobarrier => Some("barrier=0"),
            Self::Ext4 | Self::Ext4FastCommit | Self::Xfs | Self::Btrfs | Self::BtrfsNocow => None,
        }
    }

    /// True if the log directory has the attribute `C`, so that new log files are overwritten in
    /// place.
    pub fn is_nocow(self) -> bool {
        matches!(self, Self::BtrfsNocow)
    }

    pub fn has_barriers(self) -> bool {
        !matches!(self, Self::Ext4Nobarrier)
    }
}

/// Mkfs options that prevent background writes and discards. The force option is needed because the
/// extent still holds the previous file system.
pub fn trial_mkfs_options(filesystem: NewFilesystem) -> &'static [&'static str] {
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

/// The advised options without `defaults` and `discard`, then `more`. A discard would punch
/// holes into a loop file.
pub fn trial_mount_options(advised: &str, more: Option<&str>) -> String {
    let left_out = ["defaults", "discard", "discard=async", "discard=sync"];
    let kept = advised
        .split(',')
        .filter(|word| !word.is_empty() && !left_out.contains(word));
    kept.chain(more).join_with(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidate_names_match_serialized_names() {
        for candidate in Candidate::ALL {
            assert_eq!(serde_json::to_value(candidate).unwrap(), candidate.name());
        }
        assert!(
            Candidate::DEFAULTS
                .iter()
                .all(|candidate| candidate.has_barriers())
        );
    }

    #[test]
    fn trial_mount_options_omit_discard() {
        assert_eq!(
            trial_mount_options("noatime,discard=async", None),
            "noatime"
        );
        assert_eq!(
            trial_mount_options("defaults", Some("barrier=0")),
            "barrier=0"
        );
        assert_eq!(trial_mount_options("", None), "");
    }
}
