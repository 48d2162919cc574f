//! What was not answered, as a reading: a question that the host refused, and a program that may not be run.

use crate::facts::{Reading, Remedy, Why};
use crate::host::{Miss, MissKind};

/// A refusal as a reading. `what` says what was asked, such as a path.
pub fn refused<T>(miss: &Miss, what: &str) -> Reading<T> {
    let why = match miss.kind {
        MissKind::Absent => Why::Absent,
        MissKind::Denied => Why::Denied,
        MissKind::TimedOut => Why::TimedOut,
        MissKind::NotCollected => Why::NotCollected,
        MissKind::Failed => Why::Malformed,
    };
    let detail = if miss.detail.is_empty() { what.to_owned() } else { format!("{what}: {}", miss.detail) };
    let reading = Reading::unknown(why, detail);
    if why == Why::Denied { reading.or_try(Remedy::RunAsRoot) } else { reading }
}

/// The reading of a fact that only a program can tell, in a run without programs.
pub fn not_run<T>() -> Reading<T> {
    Reading::unknown(Why::NotCollected, "this run starts no programs")
}
