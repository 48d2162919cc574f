//! Whether a candidate flushed what it reported as durable. Who does not is measured, and never
//! ranked.
//!
//! The flushes are those of the trial's own device, so that nobody else's are among them. A flush
//! that the kernel sends as FUA is not counted (Documentation/ABI/stable/sysfs-block, `stat`); loop
//! devices have no FUA.

use super::record::{Runner, Sample, TrialRecord};

/// The share of the fewest flushes below which commits went without: a few may be missing at the
/// edges of a count.
const ENOUGH: f64 = 0.9;

/// What is known of a candidate's flushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promise {
    /// There were enough for the calls: so many flushes per call.
    Kept(f64),
    /// It is told not to flush.
    NotMade,
    /// Fewer flushes than the calls need: so many per call.
    Broken(f64),
    /// The device does not count flushes, or nothing was measured.
    NotCounted,
}

impl Promise {
    /// What a table says of it, beside so many flushes per call of one load.
    pub fn says(self, of_load: Option<f64>) -> String {
        match self {
            Self::Kept(each) => format!("{:.2}", of_load.unwrap_or(each)),
            Self::Broken(each) => format!("{each:.2}, too few"),
            Self::NotMade => "none".to_owned(),
            Self::NotCounted => "not counted".to_owned(),
        }
    }

    /// Whether the candidate stands below the line.
    pub fn is_broken(self) -> bool {
        matches!(self, Self::NotMade | Self::Broken(_))
    }
}

impl TrialRecord {
    /// What is known of the flushes of a candidate.
    pub fn promise(&self, candidate: usize) -> Promise {
        if self
            .candidates
            .get(candidate)
            .is_some_and(|made| !made.candidate.promises_commits())
        {
            return Promise::NotMade;
        }
        let loads = self
            .loads
            .iter()
            .enumerate()
            .filter_map(|(at, load)| Some((at, load.least_flushes()?)));
        let samples: Vec<(Sample, f64)> = loads
            .flat_map(|(at, least)| {
                let samples = self.samples(Runner::Candidate(candidate), at);
                samples
                    .into_iter()
                    .flatten()
                    .map(move |sample| (sample, least))
            })
            .collect();
        let flushes = samples
            .iter()
            .map(|(sample, _)| sample.flushes.map(|count| count as f64))
            .sum::<Option<f64>>();
        let calls: f64 = samples.iter().map(|(sample, _)| sample.calls as f64).sum();
        let needed: f64 = samples
            .iter()
            .map(|(sample, least)| sample.calls as f64 * least)
            .sum();
        match flushes {
            Some(flushes) if calls > 0.0 => {
                let each = flushes / calls;
                if flushes >= ENOUGH * needed {
                    Promise::Kept(each)
                } else {
                    Promise::Broken(each)
                }
            }
            Some(_) | None => Promise::NotCounted,
        }
    }

    /// Flushes of our own device per call of a candidate under one load; `None` where they are not
    /// counted.
    pub fn flushes_each(&self, candidate: usize, load: usize) -> Option<f64> {
        let samples: Vec<Sample> = self
            .samples(Runner::Candidate(candidate), load)
            .into_iter()
            .flatten()
            .collect();
        let flushes = samples
            .iter()
            .map(|sample| sample.flushes.map(|count| count as f64))
            .sum::<Option<f64>>()?;
        let calls: f64 = samples.iter().map(|sample| sample.calls as f64).sum();
        (calls > 0.0).then(|| flushes / calls)
    }

    /// Flushes of the disks below per call of a candidate, others' included; `None` where they are
    /// not counted.
    pub fn leaf_flushes(&self, candidate: usize) -> Option<f64> {
        let loads = 0..self.loads.len();
        let samples: Vec<Sample> = loads
            .flat_map(|at| {
                self.samples(Runner::Candidate(candidate), at)
                    .into_iter()
                    .flatten()
            })
            .collect();
        let flushes = samples
            .iter()
            .map(|sample| sample.leaf_flushes.map(|count| count as f64))
            .sum::<Option<f64>>()?;
        let calls: f64 = samples.iter().map(|sample| sample.calls as f64).sum();
        (calls > 0.0).then(|| flushes / calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Contender;
    use crate::trial::load::{CommitShape, TrialLoad};
    use crate::trial::sample::record;

    /// A server's sessions share flushes, and one flush serves each of them once at most.
    #[test]
    fn sessions_of_a_server_share_flushes_within_bounds() {
        let of = |clients: u32, flushes: u64| {
            let mut record = record(&[(Contender::Ext4, 4_000.0, Some(flushes))], 3);
            record.loads = vec![TrialLoad {
                clients,
                shape: CommitShape::WriteOnly,
            }];
            record.promise(0)
        };
        assert_eq!(
            (of(1, 1_000), of(1, 100)),
            (Promise::Kept(1.0), Promise::Broken(0.1))
        );
        assert_eq!(
            (of(8, 130), of(8, 100)),
            (Promise::Kept(0.13), Promise::Broken(0.1))
        );
        assert_eq!(of(32, 0), Promise::Broken(0.0));
    }
}
