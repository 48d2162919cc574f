//! What figures from a loop file are worth: the host's own file system measured beside the loop device, block by block.
//!
//! A flush of a loop device is an fsync of its file, so the host's journal is in every sample and draws all ratios
//! towards 1. Where that shows, the trial says so.

use super::contest::interval;
use super::looks::LAST;
use super::record::{ExtentKind, Runner, TrialRecord};

/// Times the host's own latency from which figures are an indication only.
const TOO_MUCH: f64 = 1.3;

/// The certificate of a loop file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certificate {
    /// None is needed: nothing lies between the file systems and the disk.
    NotNeeded,
    Unknown,
    /// The loop device is as fast as the file: whatever the interval holds is within a third.
    Faithful,
    /// The blocks scatter too much to say: from so many times the file's latency to so many.
    Unsettled(f64, f64),
    /// It is not: the order holds, ratios are nearer to 1 than on the disk. So many times the file's latency.
    OrderOnly(f64),
    /// It changes the picture: so many times the file's latency.
    Indicative(f64),
}

impl TrialRecord {
    pub fn certificate(&self) -> Certificate {
        match self.extent {
            ExtentKind::Loop => self.certificate_of_loop(),
            ExtentKind::Disk => Certificate::NotNeeded,
        }
    }

    fn certificate_of_loop(&self) -> Certificate {
        let (floor, host) = (self.samples(Runner::Floor, 0), self.samples(Runner::Host, 0));
        let pairs = floor.into_iter().zip(host).filter_map(|(floor, host)| floor.zip(host));
        let ratios: Vec<f64> = pairs
            .map(|(floor, host)| (host.rate() / floor.rate()).ln())
            .filter(|ratio| ratio.is_finite())
            .take(LAST)
            .collect();
        let most = TOO_MUCH.ln();
        match interval(&ratios) {
            None => Certificate::Unknown,
            Some(found) if found.value.abs() > most => Certificate::Indicative(found.value.exp()),
            Some(found) if found.low > 0.0 || found.high < 0.0 => Certificate::OrderOnly(found.value.exp()),
            Some(found) if found.low >= -most && found.high <= most => Certificate::Faithful,
            Some(found) => Certificate::Unsettled(found.low.exp(), found.high.exp()),
        }
    }

    /// How many times faster the bare extent was in its best tenth of blocks than in its worst; `None` without blocks.
    pub fn floor_spread(&self) -> Option<f64> {
        let mut rates: Vec<f64> =
            self.samples(Runner::Floor, 0).into_iter().flatten().map(|sample| sample.rate()).collect();
        rates.sort_by(f64::total_cmp);
        let tenth = rates.len() / 10;
        let worst = rates.get(tenth).copied().filter(|rate| *rate > 0.0)?;
        Some(rates.get(rates.len() - 1 - tenth)? / worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Contender;
    use crate::trial::sample::{record, slowed};

    fn with(times: impl Fn(usize) -> f64) -> TrialRecord {
        slowed(record(&[(Contender::Ext4, 4_000.0, None), (Contender::Xfs, 4_000.0, None)], 15), times)
    }

    #[test]
    fn figures_are_certified_only_where_the_blocks_show_it() {
        assert_eq!(with(|_| 1.0).certificate(), Certificate::Faithful);
        assert!(matches!(with(|_| 0.9).certificate(), Certificate::OrderOnly(times) if times > 1.05));
        assert!(matches!(with(|_| 0.5).certificate(), Certificate::Indicative(times) if times > 1.9));
        let scattered = with(|nth| if nth % 2 == 0 { 0.5 } else { 2.0 });
        assert!(
            matches!(scattered.certificate(), Certificate::Unsettled(low, high) if low < 0.8 && high > 1.3)
        );
    }
}
