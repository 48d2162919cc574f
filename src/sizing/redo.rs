//! InnoDB's redo log: how long it lasts at the rate at which it is written, which size would hold an hour, and what such a
//! size comes to.
//!
//! A server counts what it wrote since its start, so only an average is known, and busy times write more. What replay
//! costs is measured elsewhere and wide: see [`REPLAY`].

use super::forecast::Forecast;
use super::round_up;
use crate::facts::catalog::cluster::SizeFit;

/// What is known of a redo log.
#[derive(Clone, Copy, Debug)]
pub struct RedoCounts {
    /// Its capacity, in bytes.
    pub capacity: u64,
    /// Bytes written per second, on average.
    pub rate: f64,
    /// For how long that was counted, in seconds.
    pub seconds: f64,
    /// Bytes in it that a start after a crash would replay now, where the server says so.
    pub age: Option<u64>,
}

/// Seconds that it is to hold (MySQL manual, *Configuring Redo Log Capacity*, names no figure; an hour of busy times is the custom).
const HOUR: f64 = 3600.0;
/// Shorter than this an average means nothing.
pub const SHORTEST: f64 = 3600.0;
/// From this share on pages are written only to make room in it.
const FULL: f64 = 0.75;
/// The largest capacity that every release with the setting takes, in bytes.
const LARGEST: u64 = 128 << 30;
/// Bytes of redo that replay takes in a second, from pages in random order on slow media up to pages in memory.
const REPLAY: Forecast = Forecast { least: 5.0 * 1_048_576.0, most: 500.0 * 1_048_576.0 };
/// Seconds that a start takes beyond replay, at most.
const START: f64 = 5.0;

impl RedoCounts {
    /// Seconds for which the capacity lasts, on average.
    pub fn lasts(&self) -> f64 {
        self.capacity as f64 / self.rate.max(1.0)
    }

    /// Whether it suffices, and the size that would; `None` where too little is known. `free` are bytes on its file system, half of
    /// which stay free.
    pub fn fit(&self, free: Option<u64>) -> Option<(SizeFit, Option<u64>)> {
        let is_full = self.age.is_some_and(|age| age as f64 >= FULL * self.capacity as f64);
        if self.seconds < SHORTEST && !is_full {
            return None;
        }
        if self.lasts() >= HOUR && !is_full {
            return Some((SizeFit::Enough, None));
        }
        let mut size = round_up((self.rate * HOUR).max(self.capacity as f64 * 2.0)).min(LARGEST);
        let free = free?;
        while size.saturating_sub(self.capacity) > free / 2 {
            size /= 2;
        }
        Some(if size > self.capacity { (SizeFit::TooSmall, Some(size)) } else { (SizeFit::NoRoom, None) })
    }

    /// Seconds of recovery after a crash with this much redo to replay.
    pub fn recovery(bytes: u64) -> Forecast {
        Forecast { least: bytes as f64 / REPLAY.most, most: bytes as f64 / REPLAY.least + START }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn redo(capacity: u64, rate: f64, seconds: f64, age: Option<u64>) -> RedoCounts {
        RedoCounts { capacity, rate, seconds, age }
    }

    #[test]
    fn an_hour_at_the_average_rate_fits() {
        let room = Some(1 << 40);
        for (counts, fit) in [
            // 1 MiB/s are 3.5 GiB in an hour.
            (redo(100 * MIB, 1_048_576.0, 86_400.0, None), Some((SizeFit::TooSmall, Some(4096 * MIB)))),
            (redo(4096 * MIB, 1_048_576.0, 86_400.0, None), Some((SizeFit::Enough, None))),
            (redo(100 * MIB, 10.0, 86_400.0, Some(MIB)), Some((SizeFit::Enough, None))),
            // Whatever the average: it is full now.
            (redo(100 * MIB, 10.0, 60.0, Some(80 * MIB)), Some((SizeFit::TooSmall, Some(256 * MIB)))),
            (redo(100 * MIB, 1e9, 60.0, Some(MIB)), None),
            (redo(100 * MIB, 1e12, 86_400.0, None), Some((SizeFit::TooSmall, Some(LARGEST)))),
            (redo(LARGEST, 1e12, 86_400.0, None), Some((SizeFit::NoRoom, None))),
        ] {
            assert_eq!(counts.fit(room), fit, "{counts:?}");
        }
        let busy = redo(100 * MIB, 1_048_576.0, 86_400.0, None);
        assert_eq!(busy.fit(Some(1024 * MIB)), Some((SizeFit::TooSmall, Some(512 * MIB))));
        assert_eq!(busy.fit(Some(10 * MIB)), Some((SizeFit::NoRoom, None)));
        assert_eq!(busy.fit(None), None);
        assert!(RedoCounts::recovery(100 * MIB).most < RedoCounts::recovery(200 * MIB).most);
    }
}
