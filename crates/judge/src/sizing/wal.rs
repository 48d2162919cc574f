//! PostgreSQL's WAL: when the volume of WAL forces a checkpoint, which size would leave checkpoints
//! to the timeout, and what that size costs.
//!
//! The WAL volume between two checkpoints follows the server's own formula
//! (`CalculateCheckpointSegments` in xlog.c). Replay speed was measured on other hosts, so its
//! range is wide.

use super::{Forecast, halve_until_it_fits, next_power_of_two_clamped};
use crate::facts::catalog::cluster::LogSizeFit;

#[derive(Clone, Copy, Debug)]
pub struct CheckpointSettings {
    /// `max_wal_size` in bytes.
    pub max_wal_size: u64,
    /// Size of a WAL segment in bytes.
    pub segment: u64,
    /// `checkpoint_timeout`, in seconds.
    pub timeout: f64,
    /// `checkpoint_completion_target`, from 0 to 1.
    pub target: f64,
    /// Whether WAL is kept for two checkpoints, as before PostgreSQL 11.
    pub keeps_two_cycles: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct WalStatistics {
    /// WAL generated on average, in bytes per second.
    pub rate: f64,
    /// Numbers of WAL records and full-page images; `None` if the server does not count them.
    pub contents: Option<WalRecordAndImageCounts>,
    pub timed: u64,
    pub requested: u64,
    /// Seconds over which checkpoints were counted.
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct WalRecordAndImageCounts {
    pub bytes: f64,
    pub records: f64,
    pub images: f64,
}

/// The smallest number of checkpoints from which conclusions are drawn: with fewer, their triggers
/// are not representative.
pub const MIN_CHECKPOINTS: u64 = 10;
/// Below this share of all checkpoints, forced checkpoints are exceptions that need no larger
/// `max_wal_size`.
const FORCED_SHARE_LIMIT: f64 = 0.1;
/// Time to replay a record, in µs: from a cheap record on a fast CPU to an expensive one on a slow
/// CPU.
const RECORD_US: Forecast = Forecast {
    least: 0.5,
    most: 5.0,
};
/// Time to replay a page, in µs: from a page that stays in memory to one that flash has to write
/// before recovery ends.
const PAGE_US: Forecast = Forecast {
    least: 5.0,
    most: 300.0,
};
/// Sizes in bytes: `PAGE` of a full-page image, `SMALLEST_RECORD` of the smallest WAL record.
const PAGE: f64 = 8192.0;
const SMALLEST_RECORD: f64 = 50.0;
/// Upper limit of the startup time without replay, in seconds.
const STARTUP_SECONDS: f64 = 2.0;

impl CheckpointSettings {
    /// Amount of WAL, in bytes, that forces a checkpoint if `max_wal_size` is `most`.
    pub fn wal_bytes_until_forced_checkpoint(&self, most: u64) -> f64 {
        let cycles = if self.keeps_two_cycles { 2.0 } else { 1.0 };
        let segments = (most / self.segment.max(1)) as f64 / (cycles + self.target);
        segments.floor().max(1.0) * self.segment as f64
    }

    /// The `max_wal_size` at which `distance` bytes of WAL do not force a checkpoint.
    fn max_wal_size_for_distance(&self, distance: f64) -> f64 {
        let cycles = if self.keeps_two_cycles { 2.0 } else { 1.0 };
        (distance + self.segment as f64) * (cycles + self.target)
    }

    fn checkpoint_interval(&self, most: u64, rate: f64) -> f64 {
        (self.wal_bytes_until_forced_checkpoint(most) / rate.max(1.0)).min(self.timeout)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct WalSizing {
    pub settings: CheckpointSettings,
    counts: WalStatistics,
    /// Peak rate: bytes per second while checkpoints were forced, or the average if none were.
    pub busy: Forecast,
}

impl WalSizing {
    /// `None` if too few checkpoints or no time was counted.
    pub fn new(settings: CheckpointSettings, counts: WalStatistics) -> Option<Self> {
        let all = counts.timed.saturating_add(counts.requested);
        (all >= MIN_CHECKPOINTS && counts.seconds > 0.0).then(|| {
            let sizing = Self {
                settings,
                counts,
                busy: Forecast::between_unordered(counts.rate, counts.rate),
            };
            Self {
                busy: sizing.peak_rate(),
                ..sizing
            }
        })
    }

    /// Upper limit of the checkpoints that `max_wal_size` forced: no more than were requested, and
    /// no more than the volume of WAL allows.
    fn upper_limit_of_forced_checkpoints(&self) -> f64 {
        let by_amount = self.counts.rate * self.counts.seconds
            / self
                .settings
                .wal_bytes_until_forced_checkpoint(self.settings.max_wal_size);
        by_amount.min(self.counts.requested as f64)
    }

    pub fn forced_checkpoint_share(&self) -> f64 {
        self.upper_limit_of_forced_checkpoints()
            / self.counts.timed.saturating_add(self.counts.requested) as f64
    }

    /// At the lower end of the range, every forced checkpoint came just before the timeout. At the
    /// upper end, forced checkpoints fill the time that timed checkpoints leave.
    fn peak_rate(&self) -> Forecast {
        let CheckpointSettings {
            max_wal_size: most,
            timeout,
            ..
        } = self.settings;
        let (forced, distance) = (
            self.upper_limit_of_forced_checkpoints(),
            self.settings.wal_bytes_until_forced_checkpoint(most),
        );
        if forced < 1.0 {
            return Forecast::between_unordered(self.counts.rate, self.counts.rate);
        }
        let least = (distance / timeout).max(self.counts.rate);
        let busy = self.counts.seconds - self.counts.timed as f64 * timeout;
        let told = (busy > 0.0 && busy < forced * timeout)
            .then(|| forced * distance / busy.max(timeout / 2.0));
        Forecast::between_unordered(least, told.unwrap_or(least).max(least))
    }

    /// Whether `max_wal_size` suffices, and a better size if not; `None` if a larger size is needed
    /// and `free` is unknown. `free` is the free space on the file system of the WAL in bytes; the
    /// size is at most half of it.
    pub fn fit_and_better_max_wal_size(
        &self,
        free: Option<u64>,
    ) -> Option<(LogSizeFit, Option<u64>)> {
        if self.forced_checkpoint_share() < FORCED_SHARE_LIMIT {
            return Some((LogSizeFit::Enough, None));
        }
        let now = self.settings.max_wal_size;
        let wanted = next_power_of_two_clamped(
            self.settings
                .max_wal_size_for_distance(self.busy.most * self.settings.timeout),
        );
        let size = wanted.max(next_power_of_two_clamped(now as f64 * 2.0));
        Some(halve_until_it_fits(size, now, 0, free?))
    }

    pub fn checkpoint_interval_at_peak(&self, size: u64) -> Forecast {
        let at = |rate| self.settings.checkpoint_interval(size, rate);
        Forecast::between_unordered(at(self.busy.most), at(self.busy.least))
    }

    /// Factor by which `size` and `timeout` reduce full-page images at peak rate. The lower end, 1,
    /// holds if no page changes twice within an interval. The upper end, the ratio of the
    /// intervals, holds if all intervals change the same pages.
    pub fn full_page_image_reduction(&self, size: u64, timeout: f64) -> Forecast {
        let then = Self {
            settings: CheckpointSettings {
                timeout,
                ..self.settings
            },
            ..*self
        };
        let longer = |rate: f64| {
            then.settings.checkpoint_interval(size, rate)
                / self
                    .settings
                    .checkpoint_interval(self.settings.max_wal_size, rate)
        };
        Forecast::between_unordered(1.0, longer(self.busy.most).max(longer(self.busy.least)))
    }

    /// Seconds of crash recovery at peak rate, for a crash between the end of an interval and the
    /// end of the next checkpoint. `None` if the server does not count WAL contents.
    pub fn recovery_seconds_at_peak(&self, size: u64, timeout: f64) -> Option<Forecast> {
        let contents = self
            .counts
            .contents
            .filter(|of| of.bytes > 0.0 && of.records > 0.0)?;
        let settings = CheckpointSettings {
            timeout,
            ..self.settings
        };
        let written = |rate: f64| settings.checkpoint_interval(size, rate) * rate;
        let (least, most) = (
            written(self.busy.least),
            written(self.busy.most) * (1.0 + settings.target),
        );
        // One end of the range assumes WAL without full-page images, because rarer checkpoints
        // cause fewer of them.
        let small =
            ((contents.bytes - contents.images * PAGE) / contents.records).max(SMALLEST_RECORD);
        let per_byte = |record: f64, page: f64| {
            let now = (contents.records * record + contents.images * page) / contents.bytes;
            Forecast::between_unordered(now, record / small)
        };
        Some(Forecast {
            least: least * per_byte(RECORD_US.least, PAGE_US.least).least / 1e6,
            most: most * per_byte(RECORD_US.most, PAGE_US.most).most / 1e6 + STARTUP_SECONDS,
        })
    }

    /// The `max_wal_size` that a longer timeout needs at peak rate, never less than the current
    /// one.
    pub fn max_wal_size_for_timeout(&self, timeout: f64) -> u64 {
        next_power_of_two_clamped(
            self.settings
                .max_wal_size_for_distance(self.busy.most * timeout),
        )
        .max(self.settings.max_wal_size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sizing::bytes_from_float;

    const GIB: f64 = 1_073_741_824.0;

    /// Defaults of PostgreSQL 14 and later.
    const DEFAULT: CheckpointSettings = CheckpointSettings {
        max_wal_size: 1 << 30,
        segment: 16 << 20,
        timeout: 300.0,
        target: 0.9,
        keeps_two_cycles: false,
    };

    fn wal_statistics(gib: f64, timed: u64, requested: u64, seconds: f64) -> WalStatistics {
        let contents = WalRecordAndImageCounts {
            bytes: gib * GIB,
            records: gib * GIB / 300.0,
            images: gib * GIB / 16_384.0,
        };
        WalStatistics {
            rate: gib * GIB / seconds,
            contents: Some(contents),
            timed,
            requested,
            seconds,
        }
    }

    #[test]
    fn checkpoint_distance_matches_postgres_formula() {
        // 64 segments divided by 1.9, 2.9 and 2.5, rounded down.
        let segments = |settings: CheckpointSettings, most| {
            bytes_from_float(settings.wal_bytes_until_forced_checkpoint(most)) >> 24
        };
        assert_eq!(segments(DEFAULT, 1 << 30), 33);
        let ten = CheckpointSettings {
            keeps_two_cycles: true,
            ..DEFAULT
        };
        assert_eq!(segments(ten, 1 << 30), 22);
        assert_eq!(
            segments(CheckpointSettings { target: 0.5, ..ten }, 1 << 30),
            25
        );
        assert_eq!(segments(DEFAULT, 2 << 20), 1, "at least one");
    }

    #[test]
    fn timed_checkpoints_need_no_larger_max_wal_size() {
        let quiet = WalSizing::new(DEFAULT, wal_statistics(10.0, 2000, 15, 600_000.0)).unwrap();
        assert_eq!(
            quiet.fit_and_better_max_wal_size(Some(1 << 40)),
            Some((LogSizeFit::Enough, None))
        );
        assert!(
            WalSizing::new(DEFAULT, wal_statistics(10.0, 4, 5, 2000.0)).is_none(),
            "too few to tell"
        );
        // Many requested checkpoints but little WAL: users requested these checkpoints;
        // `max_wal_size` did not force them.
        let asked = WalSizing::new(DEFAULT, wal_statistics(0.4, 100, 500, 60_000.0)).unwrap();
        assert_eq!(
            asked.fit_and_better_max_wal_size(Some(1 << 40)),
            Some((LogSizeFit::Enough, None))
        );
    }

    #[test]
    fn max_wal_size_fits_peak_rate_and_free_space() {
        // One hour a day at 60 MiB/s forces a checkpoint every 8.8 s; the rest of the day is idle.
        let gib = 60.0 * 3600.0 / 1024.0;
        let sizing = WalSizing::new(DEFAULT, wal_statistics(gib, 276, 409, 86_400.0)).unwrap();
        assert!(
            (55.0..65.0).contains(&(sizing.busy.most / 1_048_576.0)),
            "{:?}",
            sizing.busy
        );
        // 60 MiB/s × 300 s × 1.9 is 33.4 GiB.
        assert_eq!(
            sizing.fit_and_better_max_wal_size(Some(1 << 40)),
            Some((LogSizeFit::TooSmall, Some(64 << 30)))
        );
        assert_eq!(
            sizing.fit_and_better_max_wal_size(Some(20 << 30)),
            Some((LogSizeFit::TooSmall, Some(8 << 30)))
        );
        assert_eq!(
            sizing.fit_and_better_max_wal_size(Some(3 << 30)),
            Some((LogSizeFit::NoRoom, None))
        );
        assert_eq!(sizing.fit_and_better_max_wal_size(None), None);
        assert_eq!(
            sizing
                .checkpoint_interval_at_peak(64 << 30)
                .duration_range_text(),
            "5 min"
        );
        let fewer = sizing.full_page_image_reduction(64 << 30, 300.0);
        assert!(
            fewer.least <= 1.0 && (30.0..36.0).contains(&fewer.most),
            "{fewer:?}"
        );
    }

    #[test]
    fn recovery_forecast_grows_with_size_and_needs_contents() {
        let sizing = WalSizing::new(DEFAULT, wal_statistics(1000.0, 10, 1900, 60_000.0)).unwrap();
        let (now, then) = (
            sizing.recovery_seconds_at_peak(1 << 30, 300.0).unwrap(),
            sizing.recovery_seconds_at_peak(16 << 30, 300.0).unwrap(),
        );
        assert!(
            now.least < now.most && now.most < then.most && now.least < then.least,
            "{now:?} {then:?}"
        );
        let mute = WalStatistics {
            contents: None,
            ..wal_statistics(1000.0, 10, 1900, 60_000.0)
        };
        assert_eq!(
            WalSizing::new(DEFAULT, mute)
                .unwrap()
                .recovery_seconds_at_peak(1 << 30, 300.0),
            None
        );
    }

    proptest! {
        #[test]
        fn recommended_wal_size_fits_free_space(
            most in 1u64..1 << 44, segment in prop::sample::select(vec![1u64 << 20, 16 << 20, 1 << 30]), free in 0u64..1 << 46,
            gib in 0.0..1e6, timed in 0u64..1 << 40, requested in 0u64..1 << 40, seconds in 1.0..1e9,
        ) {
            let settings = CheckpointSettings { max_wal_size: most, segment, ..DEFAULT };
            if let Some(sizing) = WalSizing::new(settings, wal_statistics(gib, timed, requested, seconds))
                && let Some((fit, size)) = sizing.fit_and_better_max_wal_size(Some(free))
            {
                prop_assert_eq!(fit == LogSizeFit::TooSmall, size.is_some());
                prop_assert!(size.is_none_or(|size| size > most && size <= free / 2));
                prop_assert!(sizing.busy.least <= sizing.busy.most && sizing.busy.most.is_finite());
                let fewer = sizing.full_page_image_reduction(size.unwrap_or(most), 300.0);
                prop_assert!(fewer.least <= 1.0 && fewer.most >= 1.0);
            }
        }
    }
}
