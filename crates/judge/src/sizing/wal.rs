//! PostgreSQL's WAL: when its volume forces a checkpoint, which size would leave checkpoints to the
//! timeout, and what that costs. The distance is the server's own formula
//! (`CalculateCheckpointSegments` in xlog.c). Replay speed is a wide range measured elsewhere.

use super::forecast::Forecast;
use super::round_up;
use crate::facts::catalog::cluster::SizeFit;

/// Settings that decide the distance of checkpoints.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointSettings {
    /// `max_wal_size`, in bytes.
    pub max_wal_size: u64,
    /// Segment size in bytes.
    pub segment: u64,
    /// `checkpoint_timeout`, in seconds.
    pub timeout: f64,
    /// `checkpoint_completion_target`.
    pub target: f64,
    /// Whether WAL is kept for two checkpoints, as before PostgreSQL 11.
    pub keeps_two_cycles: bool,
}

/// Counters of the server.
#[derive(Clone, Copy, Debug)]
pub struct WalCounts {
    /// WAL bytes per second, on average.
    pub rate: f64,
    /// Present if records and full-page images are counted.
    pub contents: Option<WalContents>,
    /// Checkpoints by timeout.
    pub timed: u64,
    pub requested: u64,
    /// The time over which checkpoints were counted, in seconds.
    pub seconds: f64,
}

/// What a stretch of WAL contains.
#[derive(Clone, Copy, Debug)]
pub struct WalContents {
    pub bytes: f64,
    pub records: f64,
    /// Full-page images.
    pub images: f64,
}

/// With fewer checkpoints nothing follows from what triggered them.
pub const MIN_CHECKPOINTS: u64 = 10;
/// Forced checkpoints are an exception below this share.
const FORCED_SHARE_LIMIT: f64 = 0.1;
/// µs to replay a record: from cheap ones on a fast CPU to expensive ones on a slow one.
const RECORD_US: Forecast = Forecast {
    least: 0.5,
    most: 5.0,
};
/// µs to replay a page: from one that stays in memory to one that flash has to write before
/// recovery ends.
const PAGE_US: Forecast = Forecast {
    least: 5.0,
    most: 300.0,
};
/// Bytes of a full-page image, and of the smallest record.
const PAGE: f64 = 8192.0;
const SMALLEST_RECORD: f64 = 50.0;
/// Seconds of startup besides replay, at most.
const STARTUP_SECONDS: f64 = 2.0;

impl CheckpointSettings {
    /// Bytes of WAL that force a checkpoint.
    pub fn distance(&self, most: u64) -> f64 {
        let cycles = if self.keeps_two_cycles { 2.0 } else { 1.0 };
        let segments = (most / self.segment.max(1)) as f64 / (cycles + self.target);
        segments.floor().max(1.0) * self.segment as f64
    }

    /// The `max_wal_size` at which this distance is not reached.
    fn size_for(&self, distance: f64) -> f64 {
        let cycles = if self.keeps_two_cycles { 2.0 } else { 1.0 };
        (distance + self.segment as f64) * (cycles + self.target)
    }

    /// Seconds between two checkpoints at this rate.
    fn interval(&self, most: u64, rate: f64) -> f64 {
        (self.distance(most) / rate.max(1.0)).min(self.timeout)
    }
}

/// Results of sizing WAL.
#[derive(Clone, Copy, Debug)]
pub struct WalSizing {
    settings: CheckpointSettings,
    counts: WalCounts,
    /// Peak rate: bytes per second while checkpoints were forced, or the average if none were.
    pub busy: Forecast,
}

impl WalSizing {
    /// `None` if too few checkpoints were counted.
    pub fn new(settings: CheckpointSettings, counts: WalCounts) -> Option<Self> {
        let all = counts.timed.saturating_add(counts.requested);
        (all >= MIN_CHECKPOINTS && counts.seconds > 0.0).then(|| {
            let sizing = Self {
                settings,
                counts,
                busy: Forecast::between(counts.rate, counts.rate),
            };
            Self {
                busy: sizing.busy_rate(),
                ..sizing
            }
        })
    }

    /// An upper limit: some were requested by users, and the WAL written cannot have forced more.
    fn forced_checkpoints(&self) -> f64 {
        let by_amount = self.counts.rate * self.counts.seconds
            / self.settings.distance(self.settings.max_wal_size);
        by_amount.min(self.counts.requested as f64)
    }

    /// Their share of all checkpoints.
    pub fn forced_share(&self) -> f64 {
        self.forced_checkpoints() / self.counts.timed.saturating_add(self.counts.requested) as f64
    }

    /// The minimum: a forced checkpoint writes its distance within the timeout. The estimate:
    /// forced checkpoints share the time not covered by timed ones.
    fn busy_rate(&self) -> Forecast {
        let CheckpointSettings {
            max_wal_size: most,
            timeout,
            ..
        } = self.settings;
        let (forced, distance) = (self.forced_checkpoints(), self.settings.distance(most));
        if forced < 1.0 {
            return Forecast::between(self.counts.rate, self.counts.rate);
        }
        let least = (distance / timeout).max(self.counts.rate);
        let busy = self.counts.seconds - self.counts.timed as f64 * timeout;
        let told = (busy > 0.0 && busy < forced * timeout)
            .then(|| forced * distance / busy.max(timeout / 2.0));
        Forecast::between(least, told.unwrap_or(least).max(least))
    }

    /// Whether the size suffices, and which size would. `free`: free bytes on the file system of
    /// the WAL, half of which stay free.
    pub fn fit(&self, free: Option<u64>) -> Option<(SizeFit, Option<u64>)> {
        if self.forced_share() < FORCED_SHARE_LIMIT {
            return Some((SizeFit::Enough, None));
        }
        let now = self.settings.max_wal_size;
        let wanted = round_up(
            self.settings
                .size_for(self.busy.most * self.settings.timeout),
        );
        let mut size = wanted.max(round_up(now as f64 * 2.0));
        let free = free?;
        while size > free / 2 {
            size /= 2;
        }
        Some(if size > now {
            (SizeFit::TooSmall, Some(size))
        } else {
            (SizeFit::NoRoom, None)
        })
    }

    /// Seconds between checkpoints at peak rate.
    pub fn interval(&self, size: u64) -> Forecast {
        let at = |rate| self.settings.interval(size, rate);
        Forecast::between(at(self.busy.most), at(self.busy.least))
    }

    /// The factor by which full-page images decrease at peak rate: 1 if no page changes twice
    /// within the interval, the ratio of intervals if the same pages change in each.
    pub fn image_reduction(&self, size: u64, timeout: f64) -> Forecast {
        let then = Self {
            settings: CheckpointSettings {
                timeout,
                ..self.settings
            },
            ..*self
        };
        let longer = |rate: f64| {
            then.settings.interval(size, rate)
                / self.settings.interval(self.settings.max_wal_size, rate)
        };
        Forecast::between(1.0, longer(self.busy.most).max(longer(self.busy.least)))
    }

    /// Seconds of crash recovery at the end of an interval, or of the following checkpoint, at peak
    /// rate. `None` if the server does not count WAL contents.
    pub fn recovery(&self, size: u64, timeout: f64) -> Option<Forecast> {
        let contents = self
            .counts
            .contents
            .filter(|of| of.bytes > 0.0 && of.records > 0.0)?;
        let settings = CheckpointSettings {
            timeout,
            ..self.settings
        };
        let written = |rate: f64| settings.interval(size, rate) * rate;
        let (least, most) = (
            written(self.busy.least),
            written(self.busy.most) * (1.0 + settings.target),
        );
        // Rarer checkpoints leave fewer images, so more of the WAL is records.
        let small =
            ((contents.bytes - contents.images * PAGE) / contents.records).max(SMALLEST_RECORD);
        let per_byte = |record: f64, page: f64| {
            let now = (contents.records * record + contents.images * page) / contents.bytes;
            Forecast::between(now, record / small)
        };
        Some(Forecast {
            least: least * per_byte(RECORD_US.least, PAGE_US.least).least / 1e6,
            most: most * per_byte(RECORD_US.most, PAGE_US.most).most / 1e6 + STARTUP_SECONDS,
        })
    }

    /// The `max_wal_size` that a longer timeout needs at peak rate.
    pub fn size_for_timeout(&self, timeout: f64) -> u64 {
        round_up(self.settings.size_for(self.busy.most * timeout)).max(self.settings.max_wal_size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sizing::saturating_bytes;

    const GIB: f64 = 1_073_741_824.0;

    /// Defaults of PostgreSQL 14 and later.
    const DEFAULT: CheckpointSettings = CheckpointSettings {
        max_wal_size: 1 << 30,
        segment: 16 << 20,
        timeout: 300.0,
        target: 0.9,
        keeps_two_cycles: false,
    };

    fn counts(gib: f64, timed: u64, requested: u64, seconds: f64) -> WalCounts {
        let contents = WalContents {
            bytes: gib * GIB,
            records: gib * GIB / 300.0,
            images: gib * GIB / 16_384.0,
        };
        WalCounts {
            rate: gib * GIB / seconds,
            contents: Some(contents),
            timed,
            requested,
            seconds,
        }
    }

    #[test]
    fn the_distance_is_that_of_the_server() {
        // 64 segments over 1.9, 2.9 and 2.5, rounded down.
        let segments =
            |settings: CheckpointSettings, most| saturating_bytes(settings.distance(most)) >> 24;
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
    fn a_server_whose_checkpoints_are_timed_is_left_alone() {
        let quiet = WalSizing::new(DEFAULT, counts(10.0, 2000, 15, 600_000.0)).unwrap();
        assert_eq!(quiet.fit(Some(1 << 40)), Some((SizeFit::Enough, None)));
        assert!(
            WalSizing::new(DEFAULT, counts(10.0, 4, 5, 2000.0)).is_none(),
            "too few to tell"
        );
        // Many requested checkpoints but little WAL: they were manual, not forced by max_wal_size.
        let asked = WalSizing::new(DEFAULT, counts(0.4, 100, 500, 60_000.0)).unwrap();
        assert_eq!(asked.fit(Some(1 << 40)), Some((SizeFit::Enough, None)));
    }

    #[test]
    fn the_size_is_that_of_busy_times_and_has_room() {
        // One hour a day at 60 MiB/s forces a checkpoint every 8.8 s; the rest of the day is idle.
        let gib = 60.0 * 3600.0 / 1024.0;
        let sizing = WalSizing::new(DEFAULT, counts(gib, 276, 409, 86_400.0)).unwrap();
        assert!(
            (55.0..65.0).contains(&(sizing.busy.most / 1_048_576.0)),
            "{:?}",
            sizing.busy
        );
        // 60 MiB/s × 300 s × 1.9 are 33.4 GiB.
        assert_eq!(
            sizing.fit(Some(1 << 40)),
            Some((SizeFit::TooSmall, Some(64 << 30)))
        );
        assert_eq!(
            sizing.fit(Some(20 << 30)),
            Some((SizeFit::TooSmall, Some(8 << 30)))
        );
        assert_eq!(sizing.fit(Some(3 << 30)), Some((SizeFit::NoRoom, None)));
        assert_eq!(sizing.fit(None), None);
        assert_eq!(sizing.interval(64 << 30).seconds_text(), "5 min");
        let fewer = sizing.image_reduction(64 << 30, 300.0);
        assert!(
            fewer.least <= 1.0 && (30.0..36.0).contains(&fewer.most),
            "{fewer:?}"
        );
    }

    #[test]
    fn recovery_is_foretold_from_what_the_wal_holds() {
        let sizing = WalSizing::new(DEFAULT, counts(1000.0, 10, 1900, 60_000.0)).unwrap();
        let (now, then) = (
            sizing.recovery(1 << 30, 300.0).unwrap(),
            sizing.recovery(16 << 30, 300.0).unwrap(),
        );
        assert!(
            now.least < now.most && now.most < then.most && now.least < then.least,
            "{now:?} {then:?}"
        );
        let mute = WalCounts {
            contents: None,
            ..counts(1000.0, 10, 1900, 60_000.0)
        };
        assert_eq!(
            WalSizing::new(DEFAULT, mute)
                .unwrap()
                .recovery(1 << 30, 300.0),
            None
        );
    }

    proptest! {
        /// An advised size is always larger than the current one, and fits the free space.
        #[test]
        fn no_size_is_too_large(
            most in 1u64..1 << 44, segment in prop::sample::select(vec![1u64 << 20, 16 << 20, 1 << 30]), free in 0u64..1 << 46,
            gib in 0.0..1e6, timed in 0u64..1 << 40, requested in 0u64..1 << 40, seconds in 1.0..1e9,
        ) {
            let settings = CheckpointSettings { max_wal_size: most, segment, ..DEFAULT };
            if let Some(sizing) = WalSizing::new(settings, counts(gib, timed, requested, seconds))
                && let Some((fit, size)) = sizing.fit(Some(free))
            {
                prop_assert_eq!(fit == SizeFit::TooSmall, size.is_some());
                prop_assert!(size.is_none_or(|size| size > most && size <= free / 2));
                prop_assert!(sizing.busy.least <= sizing.busy.most && sizing.busy.most.is_finite());
                let fewer = sizing.image_reduction(size.unwrap_or(most), 300.0);
                prop_assert!(fewer.least <= 1.0 && fewer.most >= 1.0);
            }
        }
    }
}
