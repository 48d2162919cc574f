//! Facts of trials: what file systems came to that were made and measured side by side on this very stack. Only
//! `walwise check --trial` adds them, from a record that anybody could have written, so nothing that can lose data may
//! depend on them.

facts! {
    /// Whether every load that decides was settled, from the record of a trial on this disk.
    SETTLED: bool = Target "trial.settled" ValueKind::Bool, measured;
    /// What the figures of the trial are worth: `disk` where they were measured on it, otherwise the certificate of its loop file: `faithful`, `order only`, `indicative` or `not certified`.
    BASIS: TrialBasis = Target "trial.basis", measured;
    /// The file systems that may be the fastest, or are within 5 % of it, under every load that decides, with 95 % confidence for each load; nothing where a trial was not settled.
    BEST: Vec<TrialFilesystem> = Target "trial.best" ValueKind::Choices(TrialFilesystem::WORDS), measured;
    /// The file systems that were shown to be slower than another one under at least one load that decides.
    SLOWER: Vec<TrialFilesystem> = Target "trial.slower" ValueKind::Choices(TrialFilesystem::WORDS), measured;
    /// The faster of fdatasync and open_datasync in the trial: fdatasync unless the other gains at least 5 %; on the target's own file system, and on a free disk on all that may be the best.
    METHOD: WalSyncMethod = Target "trial.method", measured;
    /// How much that method gains over fdatasync in the trial, in percent: the lower bound.
    METHOD_GAIN: f64 = Target "trial.method_gain_percent" ValueKind::Number, measured;
}

choice! {
    /// A file system that a trial ranks.
    pub enum TrialFilesystem {
        Ext4 = "ext4",
        /// ext4 with fast commits.
        Ext4FastCommit = "ext4-fast-commit",
        Xfs = "xfs",
        Btrfs = "btrfs",
        /// btrfs with +C on the directory of the log.
        BtrfsNocow = "btrfs-nocow",
    }
}

choice! {
    /// What figures of a trial are worth.
    pub enum TrialBasis {
        /// On the disk itself.
        Disk = "disk",
        /// On a loop file that is as fast as its host's file system.
        Faithful = "faithful",
        /// On a loop file that draws ratios towards 1: the order holds.
        OrderOnly = "order only",
        /// On a loop file that changes the picture.
        Indicative = "indicative",
        /// On a loop file that was never shown to be as fast as its host's file system.
        NotCertified = "not certified",
    }
}

impl TrialBasis {
    /// Whether the order of the candidates holds on the disk too.
    pub fn holds_order(self) -> bool {
        matches!(self, Self::Disk | Self::Faithful | Self::OrderOnly)
    }
}

use crate::facts::{Choice, choice};

use super::postgres::WalSyncMethod;
