//! Judges whether the log of a server is as large as what is written to it needs, and what another
//! size would come to.
//!
//! The arithmetic is in [`wal`] for PostgreSQL and in [`redo`] for InnoDB, upon plain numbers;
//! [`derive()`] takes these from facts and makes facts of the results. A prediction is a range that
//! says what it is based on. Whether a size is advised is left to the rules.

mod forecast {
    //! A prediction: a range between two numbers, and how people read it.

    use crate::text;

    /// A range of times in seconds or of any other measure, its ends included.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Forecast {
        /// The least.
        pub least: f64,
        /// The most.
        pub most: f64,
    }

    impl Forecast {
        /// The range between two numbers in any order.
        pub fn between(one: f64, other: f64) -> Self {
            Self {
                least: one.min(other),
                most: one.max(other),
            }
        }

        /// Seconds as people read them: `5 min`, `20 s to 3 min`. No more than two digits, as none
        /// of it is known better.
        pub fn seconds(self) -> String {
            let (least, most) = (seconds(self.least), seconds(self.most));
            match (least.split_once(' '), most.split_once(' ')) {
                _ if least == most => most,
                (Some((number, unit)), Some((_, other))) if unit == other => {
                    format!("{number} to {most}")
                }
                _ => format!("{least} to {most}"),
            }
        }

        /// Ratios as people read them: `1 to 6`.
        pub fn ratio(self) -> String {
            let (least, most) = (two_digits(self.least), two_digits(self.most));
            if least == most {
                most
            } else {
                format!("{least} to {most}")
            }
        }
    }

    fn seconds(seconds: f64) -> String {
        match seconds {
            few if few < 1.0 => "1 s".to_owned(),
            few if few < 99.5 => format!("{} s", two_digits(few)),
            some if some < 5970.0 => format!("{} min", two_digits(some / 60.0)),
            some if some < 99.5 * 3600.0 => format!("{} h", two_digits(some / 3600.0)),
            many => format!("{} days", two_digits(many / 86_400.0)),
        }
    }

    fn two_digits(figure: f64) -> String {
        if figure < 9.95 {
            format!("{figure:.1}").trim_end_matches(".0").to_owned()
        } else {
            text::rounded(figure)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn ranges_are_read_with_one_unit_where_they_have_one() {
            for (least, most, told) in [
                (300.0, 300.0, "5 min"),
                (20.0, 190.0, "20 s to 3.2 min"),
                (61.4, 75.0, "61 to 75 s"),
                (0.01, 0.2, "1 s"),
                (7200.0, 3600.0, "60 min to 2 h"),
                (1e6, 2e6, "12 to 23 days"),
            ] {
                assert_eq!(Forecast::between(least, most).seconds(), told);
            }
            assert_eq!(Forecast::between(1.0, 5.97).ratio(), "1 to 6");
        }
    }
}
mod wal;
mod redo {
    //! InnoDB's redo log: how long it lasts at the rate at which it is written, which size would
    //! hold an hour, and what such a size comes to.
    //!
    //! A server counts what it wrote since its start, so only an average is known, and busy times
    //! write more. What replay costs is measured elsewhere and wide: see [`REPLAY`].

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

    /// Seconds that it is to hold (MySQL manual, *Configuring Redo Log Capacity*, names no figure;
    /// an hour of busy times is the custom).
    const HOUR: f64 = 3600.0;
    /// Shorter than this an average means nothing.
    pub const SHORTEST: f64 = 3600.0;
    /// From this share on pages are written only to make room in it.
    const FULL: f64 = 0.75;
    /// The largest capacity that every release with the setting takes, in bytes.
    const LARGEST: u64 = 128 << 30;
    /// Bytes of redo that replay takes in a second, from pages in random order on slow media up to
    /// pages in memory.
    const REPLAY: Forecast = Forecast {
        least: 5.0 * 1_048_576.0,
        most: 500.0 * 1_048_576.0,
    };
    /// Seconds that a start takes beyond replay, at most.
    const START: f64 = 5.0;

    impl RedoCounts {
        /// Seconds for which the capacity lasts, on average.
        pub fn lasts(&self) -> f64 {
            self.capacity as f64 / self.rate.max(1.0)
        }

        /// Whether it suffices, and the size that would; `None` where too little is known. `free`
        /// are bytes on its file system, half of which stay free.
        pub fn fit(&self, free: Option<u64>) -> Option<(SizeFit, Option<u64>)> {
            let is_full = self
                .age
                .is_some_and(|age| age as f64 >= FULL * self.capacity as f64);
            if self.seconds < SHORTEST && !is_full {
                return None;
            }
            if self.lasts() >= HOUR && !is_full {
                return Some((SizeFit::Enough, None));
            }
            let mut size =
                round_up((self.rate * HOUR).max(self.capacity as f64 * 2.0)).min(LARGEST);
            let free = free?;
            while size.saturating_sub(self.capacity) > free / 2 {
                size /= 2;
            }
            Some(if size > self.capacity {
                (SizeFit::TooSmall, Some(size))
            } else {
                (SizeFit::NoRoom, None)
            })
        }

        /// Seconds of recovery after a crash with this much redo to replay.
        pub fn recovery(bytes: u64) -> Forecast {
            Forecast {
                least: bytes as f64 / REPLAY.most,
                most: bytes as f64 / REPLAY.least + START,
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const MIB: u64 = 1 << 20;

        fn redo(capacity: u64, rate: f64, seconds: f64, age: Option<u64>) -> RedoCounts {
            RedoCounts {
                capacity,
                rate,
                seconds,
                age,
            }
        }

        #[test]
        fn an_hour_at_the_average_rate_fits() {
            let room = Some(1 << 40);
            for (counts, fit) in [
                // 1 MiB/s are 3.5 GiB in an hour.
                (
                    redo(100 * MIB, 1_048_576.0, 86_400.0, None),
                    Some((SizeFit::TooSmall, Some(4096 * MIB))),
                ),
                (
                    redo(4096 * MIB, 1_048_576.0, 86_400.0, None),
                    Some((SizeFit::Enough, None)),
                ),
                (
                    redo(100 * MIB, 10.0, 86_400.0, Some(MIB)),
                    Some((SizeFit::Enough, None)),
                ),
                // Whatever the average: it is full now.
                (
                    redo(100 * MIB, 10.0, 60.0, Some(80 * MIB)),
                    Some((SizeFit::TooSmall, Some(256 * MIB))),
                ),
                (redo(100 * MIB, 1e9, 60.0, Some(MIB)), None),
                (
                    redo(100 * MIB, 1e12, 86_400.0, None),
                    Some((SizeFit::TooSmall, Some(LARGEST))),
                ),
                (
                    redo(LARGEST, 1e12, 86_400.0, None),
                    Some((SizeFit::NoRoom, None)),
                ),
            ] {
                assert_eq!(counts.fit(room), fit, "{counts:?}");
            }
            let busy = redo(100 * MIB, 1_048_576.0, 86_400.0, None);
            assert_eq!(
                busy.fit(Some(1024 * MIB)),
                Some((SizeFit::TooSmall, Some(512 * MIB)))
            );
            assert_eq!(busy.fit(Some(10 * MIB)), Some((SizeFit::NoRoom, None)));
            assert_eq!(busy.fit(None), None);
            assert!(RedoCounts::recovery(100 * MIB).most < RedoCounts::recovery(200 * MIB).most);
        }
    }
}
mod derive;

pub use derive::derive;

/// The smallest power of two that is at least this many bytes, and no less than a megabyte.
fn round_up(bytes: f64) -> u64 {
    let mut size = 1 << 20;
    while (size as f64) < bytes && size < 1 << 44 {
        size *= 2;
    }
    size
}

/// A rate in whole bytes.
fn bytes(figure: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate, whose ends are cut"
    )]
    let whole = figure.round() as u64;
    whole
}
