//! Checks that a candidate flushed the commits that were reported as durable; otherwise the
//! candidate is never ranked.
//!
//! For a loop file, the flushes are counted by the loop device, so those of other programs are
//! not included. For a partition, they are counted by the entire disk. FUA writes are not
//! counted (Documentation/ABI/stable/sysfs-block, `stat`), but loop devices have no FUA.

use super::record::{CellSubject, TrialRecord, TrialSample};

/// Share of the required flushes that suffices: the counter misses a few at the start and end of a
/// load.
const MIN_FLUSH_SHARE: f64 = 0.9;

/// Result of the audit of one candidate. Each number is flushes per call that requests a flush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlushAuditResult {
    Sufficient(f64),
    NoBarriers,
    Insufficient(f64),
    /// The device does not count flushes, or nothing was measured.
    NotCounted,
}

impl FlushAuditResult {
    /// For a sufficient result, the cell shows `of_load`, the flushes per call under one load,
    /// instead of the ratio over all loads.
    pub fn flush_cell_text(self, of_load: Option<f64>) -> String {
        match self {
            Self::Sufficient(each) => format!("{:.2}", of_load.unwrap_or(each)),
            Self::Insufficient(each) => format!("{each:.2}, too few"),
            Self::NoBarriers => "none".to_owned(),
            Self::NotCounted => "not counted".to_owned(),
        }
    }

    pub fn is_disqualifying(self) -> bool {
        matches!(self, Self::NoBarriers | Self::Insufficient(_))
    }
}

impl TrialRecord {
    pub(crate) fn audit_candidate_flushes(&self, candidate: usize) -> FlushAuditResult {
        if self
            .candidates
            .get(candidate)
            .is_some_and(|made| !made.candidate.has_barriers())
        {
            return FlushAuditResult::NoBarriers;
        }
        let loads = self
            .loads
            .iter()
            .enumerate()
            .filter_map(|(at, load)| Some((at, load.min_flushes_per_call()?)));
        let samples: Vec<(TrialSample, f64)> = loads
            .flat_map(|(at, least)| {
                let samples = self.samples_by_block(CellSubject::Candidate(candidate), at);
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
                if flushes >= MIN_FLUSH_SHARE * needed {
                    FlushAuditResult::Sufficient(each)
                } else {
                    FlushAuditResult::Insufficient(each)
                }
            }
            Some(_) | None => FlushAuditResult::NotCounted,
        }
    }

    /// The flushes of the trial's own device per call under one load; `None` without calls, or if
    /// the device does not count flushes.
    pub(crate) fn flushes_per_call(&self, candidate: usize, load: usize) -> Option<f64> {
        let samples: Vec<TrialSample> = self
            .samples_by_block(CellSubject::Candidate(candidate), load)
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

    /// The flushes of the disks under the extent per call, those of other programs included; `None`
    /// without calls, or if the disks do not count flushes.
    pub(crate) fn disk_flushes_per_call(&self, candidate: usize) -> Option<f64> {
        let loads = 0..self.loads.len();
        let samples: Vec<TrialSample> = loads
            .flat_map(|at| {
                self.samples_by_block(CellSubject::Candidate(candidate), at)
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
    use crate::trial::Candidate;
    use crate::trial::fixtures::record_with_commit_rates;
    use crate::trial::load::{LoadShape, TrialLoad};

    /// One flush serves at most one commit per client.
    #[test]
    fn clients_may_share_flushes_within_bounds() {
        let of = |clients: u32, flushes: u64| {
            let mut record =
                record_with_commit_rates(&[(Candidate::Ext4, 4_000.0, Some(flushes))], 3);
            record.loads = vec![TrialLoad {
                clients,
                shape: LoadShape::WriteOnly,
            }];
            record.audit_candidate_flushes(0)
        };
        assert_eq!(
            (of(1, 1_000), of(1, 100)),
            (
                FlushAuditResult::Sufficient(1.0),
                FlushAuditResult::Insufficient(0.1)
            )
        );
        assert_eq!(
            (of(8, 130), of(8, 100)),
            (
                FlushAuditResult::Sufficient(0.13),
                FlushAuditResult::Insufficient(0.1)
            )
        );
        assert_eq!(of(32, 0), FlushAuditResult::Insufficient(0.0));
    }
}
