//! What a running probe tells while it runs. A value like any other, so that screens can draw it without knowing the
//! probe.

use super::{Measurement, Workload};

/// What a probe is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Listening whether others use the disks, then writing the scratch file.
    Preparing,
    /// First commits of each method, thrown away.
    WarmUp,
    /// Measuring.
    Rounds,
    /// A few commits with pauses between them, as a quiet server makes them.
    Paced,
    /// Measuring a workload.
    Workload(Workload),
    /// Removing the scratch directory.
    CleaningUp,
}

impl Phase {
    /// The words on screens.
    pub fn words(self) -> &'static str {
        match self {
            Self::Preparing => "writing the scratch file",
            Self::WarmUp => "warming up",
            Self::Rounds => "measuring",
            Self::Paced => "measuring with pauses",
            Self::Workload(Workload::Segment) => "measuring new segments",
            Self::Workload(Workload::Group) => "measuring group commit",
            Self::Workload(Workload::Innodb) => "measuring redo and binary log",
            Self::Workload(Workload::Files) => "measuring small files",
            Self::Workload(Workload::Entangle) => "measuring beside a writer",
            Self::Workload(Workload::Floor) => "measuring without flushes",
            Self::Workload(Workload::PgTestFsync) => "measuring what pg_test_fsync does",
            Self::CleaningUp => "removing the scratch directory",
        }
    }
}

/// One message of a running probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// Rounds completed.
    pub round: u32,
    /// Seconds since it began.
    pub seconds: f64,
    /// Share of the budget used, 0 to 1.
    pub share: f64,
    /// Whether the comparison has come to an end.
    pub settled: bool,
    /// What is known so far, some times a second; `None` in between and before the first round.
    pub so_far: Option<Measurement>,
    /// Times of one-page commits with the default so far, as counts per bucket: `(up to microseconds, commits)`, four
    /// buckets per doubling. Comes with `so_far`.
    pub histogram: Vec<(f64, u64)>,
}
