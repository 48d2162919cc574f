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
        let (mut samples, mut needed) = (Vec::new(), 0.0);
        for (at, load) in self.loads.iter().enumerate() {
            if let Some(least) = load.min_flushes_per_call() {
                let of_load = self.samples(CellSubject::Candidate(candidate), at);
                needed += least * call_count(&of_load);
                samples.extend(of_load);
            }
        }
        match flushes_per_call(&samples, |sample| sample.flushes) {
            Some(each) if each * call_count(&samples) >= MIN_FLUSH_SHARE * needed => {
                FlushAuditResult::Sufficient(each)
            }
            Some(each) => FlushAuditResult::Insufficient(each),
            None => FlushAuditResult::NotCounted,
        }
    }

    /// The flushes of the trial's own device per call under one load; `None` without calls, or if
    /// the device does not count flushes.
    pub(crate) fn flushes_per_call(&self, candidate: usize, load: usize) -> Option<f64> {
        let samples = self.samples(CellSubject::Candidate(candidate), load);
        flushes_per_call(&samples, |sample| sample.flushes)
    }

    /// The flushes of the disks under the extent per call, those of other programs included; `None`
    /// without calls, or if the disks do not count flushes.
    pub(crate) fn disk_flushes_per_call(&self, candidate: usize) -> Option<f64> {
        let samples: Vec<TrialSample> = (0..self.loads.len())
            .flat_map(|at| self.samples(CellSubject::Candidate(candidate), at))
            .collect();
        flushes_per_call(&samples, |sample| sample.leaf_flushes)
    }
}

fn call_count(samples: &[TrialSample]) -> f64 {
    samples.iter().map(|sample| sample.calls as f64).sum()
}

fn flushes_per_call(
    samples: &[TrialSample],
    flush_count: fn(&TrialSample) -> Option<u64>,
) -> Option<f64> {
    let flushes = samples
        .iter()
        .map(|sample| flush_count(sample).map(|count| count as f64))
        .sum::<Option<f64>>()?;
    let calls = call_count(samples);
    (calls > 0.0).then(|| flushes / calls)
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
