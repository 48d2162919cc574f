//! PostgreSQL's WAL: when its amount forces a checkpoint, which size would leave that to the time,
//! and what such a size comes to.
//!
//! The distance at which a checkpoint is forced is the server's own (`CalculateCheckpointSegments`
//! in xlog.c). What replay costs is measured elsewhere and wide: see [`RECORD_US`] and [`PAGE_US`].

use super::forecast::Forecast;
use super::round_up;
use crate::facts::catalog::cluster::SizeFit;

/// What decides how far apart checkpoints are.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointSettings {
    /// `max_wal_size`, in bytes.
    pub most: u64,
    /// A WAL segment, in bytes.
    pub segment: u64,
    /// `checkpoint_timeout`, in seconds.
    pub timeout: f64,
    /// `checkpoint_completion_target`.
    pub target: f64,
    /// Whether WAL is kept for two checkpoints, as before 11.
    pub keeps_two: bool,
}

/// What the server counted.
#[derive(Clone, Copy, Debug)]
pub struct WalCounts {
    /// WAL per second, on average.
    pub rate: f64,
    /// WAL made, in bytes, with its records and its full-page images, where they are counted.
    pub contents: Option<WalContents>,
    /// Checkpoints that were due.
    pub timed: u64,
    pub requested: u64,
    /// For how long checkpoints were counted, in seconds.
    pub seconds: f64,
}

/// What a stretch of WAL holds.
#[derive(Clone, Copy, Debug)]
pub struct WalContents {
    pub bytes: f64,
    pub records: f64,
    /// Full-page images in them.
    pub images: f64,
}

/// Below so many checkpoints nothing follows from what triggered them.
pub const FEWEST: u64 = 10;
/// From this share on forced checkpoints are more than an exception.
const EXCEPTION: f64 = 0.1;
/// Microseconds that replay takes for a record, from cheap ones on a fast processor to dear ones on
/// a slow one.
const RECORD_US: Forecast = Forecast {
    least: 0.5,
    most: 5.0,
};
/// Microseconds for a page: an image that stays in memory, up to one that flash has to write before
/// recovery ends.
const PAGE_US: Forecast = Forecast {
    least: 5.0,
    most: 300.0,
};
/// Bytes of a full-page image, and of the smallest record.
const PAGE: f64 = 8192.0;
const SMALLEST_RECORD: f64 = 50.0;
/// Seconds that a start takes beyond replay, at most.
const START: f64 = 2.0;

impl CheckpointSettings {
    /// How much WAL forces a checkpoint.
    pub fn distance(&self, most: u64) -> f64 {
        let cycles = if self.keeps_two { 2.0 } else { 1.0 };
        let segments = (most / self.segment.max(1)) as f64 / (cycles + self.target);
        segments.floor().max(1.0) * self.segment as f64
    }

    /// The `max_wal_size` with which this distance is not reached.
    fn size_for(&self, distance: f64) -> f64 {
        let cycles = if self.keeps_two { 2.0 } else { 1.0 };
        (distance + self.segment as f64) * (cycles + self.target)
    }

    /// Seconds between two checkpoints with this size at this rate.
    fn interval(&self, most: u64, rate: f64) -> f64 {
        (self.distance(most) / rate.max(1.0)).min(self.timeout)
    }
}

/// What follows from the counters.
#[derive(Clone, Copy, Debug)]
pub struct WalSizing {
    settings: CheckpointSettings,
    counts: WalCounts,
    /// WAL per second while checkpoints were forced, or on average where none were.
    pub busy: Forecast,
}

impl WalSizing {
    /// `None` where too few checkpoints were counted.
    pub fn new(settings: CheckpointSettings, counts: WalCounts) -> Option<Self> {
        let all = counts.timed.saturating_add(counts.requested);
        (all >= FEWEST && counts.seconds > 0.0).then(|| {
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

    /// At most so many checkpoints were forced: somebody may have asked for some, and the WAL made
    /// cannot have forced more.
    fn forced(&self) -> f64 {
        let by_amount =
            self.counts.rate * self.counts.seconds / self.settings.distance(self.settings.most);
        by_amount.min(self.counts.requested as f64)
    }

    /// Their share of all checkpoints.
    pub fn forced_share(&self) -> f64 {
        self.forced() / self.counts.timed.saturating_add(self.counts.requested) as f64
    }

    /// A checkpoint is only forced where its distance was written within the timeout, which is the
    /// least rate. What remains of the time without the intervals that ended by time was shared by
    /// the forced ones, which gives the rate itself.
    fn busy_rate(&self) -> Forecast {
        let CheckpointSettings { most, timeout, .. } = self.settings;
        let (forced, distance) = (self.forced(), self.settings.distance(most));
        if forced < 1.0 {
            return Forecast::between(self.counts.rate, self.counts.rate);
        }
        let least = (distance / timeout).max(self.counts.rate);
        let busy = self.counts.seconds - self.counts.timed as f64 * timeout;
        let told = (busy > 0.0 && busy < forced * timeout)
            .then(|| forced * distance / busy.max(timeout / 2.0));
        Forecast::between(least, told.unwrap_or(least).max(least))
    }

    /// Whether the size suffices, and the size that does where that is another; `free` are bytes on
    /// the file system of the WAL, half of which stay free.
    pub fn fit(&self, free: Option<u64>) -> Option<(SizeFit, Option<u64>)> {
        if self.forced_share() < EXCEPTION {
            return Some((SizeFit::Enough, None));
        }
        let now = self.settings.most;
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

    /// Seconds between checkpoints in busy times.
    pub fn interval(&self, size: u64) -> Forecast {
        let at = |rate| self.settings.interval(size, rate);
        Forecast::between(at(self.busy.most), at(self.busy.least))
    }

    /// By how much full-page images become fewer in busy times: not at all where no page is changed
    /// twice within the new interval, in proportion to the interval where the same pages are
    /// changed in each.
    pub fn fewer_images(&self, size: u64, timeout: f64) -> Forecast {
        let then = Self {
            settings: CheckpointSettings {
                timeout,
                ..self.settings
            },
            ..*self
        };
        let longer = |rate: f64| {
            then.settings.interval(size, rate) / self.settings.interval(self.settings.most, rate)
        };
        Forecast::between(1.0, longer(self.busy.most).max(longer(self.busy.least)))
    }

    /// Seconds of recovery after a crash at the end of an interval, or of the checkpoint that
    /// follows it, in busy times. `None` where the server does not count what its WAL holds.
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
        // Rarer checkpoints leave fewer images, and more of the WAL to records.
        let small =
            ((contents.bytes - contents.images * PAGE) / contents.records).max(SMALLEST_RECORD);
        let per_byte = |record: f64, page: f64| {
            let now = (contents.records * record + contents.images * page) / contents.bytes;
            Forecast::between(now, record / small)
        };
        Some(Forecast {
            least: least * per_byte(RECORD_US.least, PAGE_US.least).least / 1e6,
            most: most * per_byte(RECORD_US.most, PAGE_US.most).most / 1e6 + START,
        })
    }

    /// The `max_wal_size` that a longer timeout needs in busy times.
    pub fn size_of_timeout(&self, timeout: f64) -> u64 {
        round_up(self.settings.size_for(self.busy.most * timeout)).max(self.settings.most)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sizing::bytes;

    const GIB: f64 = 1_073_741_824.0;

    /// The defaults of PostgreSQL 14 and later.
    const DEFAULT: CheckpointSettings = CheckpointSettings {
        most: 1 << 30,
        segment: 16 << 20,
        timeout: 300.0,
        target: 0.9,
        keeps_two: false,
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
        let segments = |settings: CheckpointSettings, most| bytes(settings.distance(most)) >> 24;
        assert_eq!(segments(DEFAULT, 1 << 30), 33);
        let ten = CheckpointSettings {
            keeps_two: true,
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
        // Somebody asks for many: so little WAL has forced none of them.
        let asked = WalSizing::new(DEFAULT, counts(0.4, 100, 500, 60_000.0)).unwrap();
        assert_eq!(asked.fit(Some(1 << 40)), Some((SizeFit::Enough, None)));
    }

    #[test]
    fn the_size_is_that_of_busy_times_and_has_room() {
        // An hour a day 60 MiB/s, which force a checkpoint every 8.8 s, and nothing else for the
        // rest of it.
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
        assert_eq!(sizing.interval(64 << 30).seconds(), "5 min");
        let fewer = sizing.fewer_images(64 << 30, 300.0);
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
        /// Whatever was counted, no size is advised that is not larger, or for which there is no
        /// room.
        #[test]
        fn no_size_is_too_large(
            most in 1u64..1 << 44, segment in prop::sample::select(vec![1u64 << 20, 16 << 20, 1 << 30]), free in 0u64..1 << 46,
            gib in 0.0..1e6, timed in 0u64..1 << 40, requested in 0u64..1 << 40, seconds in 1.0..1e9,
        ) {
            let settings = CheckpointSettings { most, segment, ..DEFAULT };
            if let Some(sizing) = WalSizing::new(settings, counts(gib, timed, requested, seconds))
                && let Some((fit, size)) = sizing.fit(Some(free))
            {
                prop_assert_eq!(fit == SizeFit::TooSmall, size.is_some());
                prop_assert!(size.is_none_or(|size| size > most && size <= free / 2));
                prop_assert!(sizing.busy.least <= sizing.busy.most && sizing.busy.most.is_finite());
                let fewer = sizing.fewer_images(size.unwrap_or(most), 300.0);
                prop_assert!(fewer.least <= 1.0 && fewer.most >= 1.0);
            }
        }
    }
}
