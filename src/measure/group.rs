//! What the figures of another tool are of: the sections of `pg_test_fsync`, and the jobs of fio.

use serde::Serialize;

/// What a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// One write of 8 kB, then the flush.
    OneWrite,
    /// Two writes of 8 kB, then the flush; with the open methods each write flushes.
    TwoWrites,
    /// 16 kB in one to sixteen writes, each flushed.
    Sizes,
    /// Whether a flush through another descriptor counts.
    OtherDescriptor,
    /// Without any flush.
    NotSynced,
    /// A job of fio.
    Job,
}

impl Group {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::OneWrite => "one 8 kB write",
            Self::TwoWrites => "two 8 kB writes",
            Self::Sizes => "16 kB in writes of different size",
            Self::OtherDescriptor => "fsync through another descriptor",
            Self::NotSynced => "8 kB without a flush",
            Self::Job => "jobs",
        }
    }
}
