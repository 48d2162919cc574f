//! Whether a candidate flushed what it reported as durable. Who does not is measured, and never ranked.
//!
//! The flushes are those of the trial's own device, so that nobody else's are among them. A flush that the kernel sends
//! as FUA is not counted (Documentation/ABI/stable/sysfs-block, `stat`); loop devices have no FUA.

use super::record::{Runner, Sample, TrialRecord};

/// Flushes per call below which commits went without: a few may be missing at the edges of a count.
const ENOUGH: f64 = 0.9;

/// What is known of a candidate's flushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promise {
    /// Each call flushed: so many flushes per call.
    Kept(f64),
    /// It is told not to flush.
    NotMade,
    /// Fewer flushes than calls: so many per call.
    Broken(f64),
    /// The device does not count flushes, or nothing was measured.
    NotCounted,
}

impl Promise {
    /// Whether the candidate stands below the line.
    pub fn is_broken(self) -> bool {
        match self {
            Self::NotMade | Self::Broken(_) => true,
            Self::Kept(_) | Self::NotCounted => false,
        }
    }
}

impl TrialRecord {
    /// What is known of the flushes of a candidate.
    pub fn promise(&self, candidate: usize) -> Promise {
        if self.candidates.get(candidate).is_some_and(|made| !made.candidate.promises_commits()) {
            return Promise::NotMade;
        }
        let loads = self.loads.iter().enumerate().filter(|(_, load)| load.flushes_each_call());
        let samples: Vec<Sample> = loads
            .flat_map(|(at, _)| self.samples(Runner::Candidate(candidate), at).into_iter().flatten())
            .collect();
        let flushes =
            samples.iter().map(|sample| sample.flushes.map(|count| count as f64)).sum::<Option<f64>>();
        let calls: f64 = samples.iter().map(|sample| sample.calls as f64).sum();
        match flushes {
            Some(flushes) if calls > 0.0 => {
                let each = flushes / calls;
                if each >= ENOUGH { Promise::Kept(each) } else { Promise::Broken(each) }
            }
            Some(_) | None => Promise::NotCounted,
        }
    }

    /// Flushes of the disks below per call of a candidate, others' included; `None` where they are not counted.
    pub fn leaf_flushes(&self, candidate: usize) -> Option<f64> {
        let loads = 0..self.loads.len();
        let samples: Vec<Sample> = loads
            .flat_map(|at| self.samples(Runner::Candidate(candidate), at).into_iter().flatten())
            .collect();
        let flushes = samples
            .iter()
            .map(|sample| sample.leaf_flushes.map(|count| count as f64))
            .sum::<Option<f64>>()?;
        let calls: f64 = samples.iter().map(|sample| sample.calls as f64).sum();
        (calls > 0.0).then(|| flushes / calls)
    }
}
