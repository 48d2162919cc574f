//! Whether the log of a server is large enough for the server's writes, and what another size would
//! cost.
//!
//! [`wal`] and [`redo`] calculate on plain numbers; [`derive()`] reads facts and inserts the
//! results as facts. A prediction is a range, with the measurements behind it. Rules decide whether
//! a size is advised.

mod forecast {

    use crate::text;

    /// A predicted range, ends included.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Forecast {
        pub least: f64,
        pub most: f64,
    }

    impl Forecast {
        pub fn between(one: f64, other: f64) -> Self {
            Self {
                least: one.min(other),
                most: one.max(other),
            }
        }

        /// A range of seconds: `5 min`, `20 s to 3 min`. Figures are rounded, because predictions
        /// are not precise.
        pub fn seconds_text(self) -> String {
            let (least, most) = (duration_text(self.least), duration_text(self.most));
            match (least.split_once(' '), most.split_once(' ')) {
                _ if least == most => most,
                (Some((number, unit)), Some((_, other))) if unit == other => {
                    format!("{number} to {most}")
                }
                _ => format!("{least} to {most}"),
            }
        }

        pub fn ratio_text(self) -> String {
            let (least, most) = (two_digits(self.least), two_digits(self.most));
            if least == most {
                most
            } else {
                format!("{least} to {most}")
            }
        }
    }

    fn duration_text(seconds: f64) -> String {
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
            text::round_grouped(figure)
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
                assert_eq!(Forecast::between(least, most).seconds_text(), told);
            }
            assert_eq!(Forecast::between(1.0, 5.97).ratio_text(), "1 to 6");
        }
    }
}
mod wal;
mod redo {
    //! InnoDB's redo log: how long the log lasts at the current rate, which size would last an
    //! hour, and what that size costs.
    //!
    //! The server counts bytes since its start, so only an average is known; peaks write more.
    //! Replay speed was measured on other hosts, so its range is wide.

    use super::ceil_power_of_two;
    use super::forecast::Forecast;
    use crate::facts::catalog::cluster::LogSizeFit;

    #[derive(Clone, Copy, Debug)]
    pub struct RedoCounts {
        /// Capacity of the redo log in bytes.
        pub capacity: u64,
        /// Redo written on average, in bytes per second.
        pub rate: f64,
        /// Seconds over which the bytes were counted.
        pub seconds: f64,
        /// Amount of redo, in bytes, that crash recovery would replay now, if the server reports
        /// it.
        pub age: Option<u64>,
    }

    /// By custom the redo log should last an hour at peak rate; the MySQL manual (*Configuring Redo
    /// Log Capacity*) gives no figure.
    const WANTED_SECONDS: f64 = 3600.0;
    /// The shortest counting time, in seconds, whose average is representative.
    pub const MIN_COUNTED_SECONDS: f64 = 3600.0;
    /// From this share of the capacity on, the log counts as full: InnoDB then writes pages only to
    /// make room in the log.
    const FULL_SHARE: f64 = 0.75;
    /// The largest `innodb_redo_log_capacity`, in bytes, that every release with this variable
    /// accepts.
    const MAX_CAPACITY: u64 = 128 << 30;
    /// Replay speed in bytes per second, from random pages on slow media to pages in memory.
    const REPLAY_BYTES_PER_SECOND: Forecast = Forecast {
        least: 5.0 * 1_048_576.0,
        most: 500.0 * 1_048_576.0,
    };
    /// Upper limit of the startup time without replay, in seconds.
    const STARTUP_SECONDS: f64 = 5.0;

    impl RedoCounts {
        pub fn seconds_until_full(&self) -> f64 {
            self.capacity as f64 / self.rate.max(1.0)
        }

        /// Whether the capacity suffices, and a better size if not; `None` if too little is known.
        /// `free` is the free space on the log's file system in bytes; the log may grow by at most
        /// half of it.
        pub fn capacity_fit(&self, free: Option<u64>) -> Option<(LogSizeFit, Option<u64>)> {
            let is_full = self
                .age
                .is_some_and(|age| age as f64 >= FULL_SHARE * self.capacity as f64);
            if self.seconds < MIN_COUNTED_SECONDS && !is_full {
                return None;
            }
            if self.seconds_until_full() >= WANTED_SECONDS && !is_full {
                return Some((LogSizeFit::Enough, None));
            }
            let mut size =
                ceil_power_of_two((self.rate * WANTED_SECONDS).max(self.capacity as f64 * 2.0))
                    .min(MAX_CAPACITY);
            let free = free?;
            while size.saturating_sub(self.capacity) > free / 2 {
                size /= 2;
            }
            Some(if size > self.capacity {
                (LogSizeFit::TooSmall, Some(size))
            } else {
                (LogSizeFit::NoRoom, None)
            })
        }

        pub fn recovery_forecast(bytes: u64) -> Forecast {
            Forecast {
                least: bytes as f64 / REPLAY_BYTES_PER_SECOND.most,
                most: bytes as f64 / REPLAY_BYTES_PER_SECOND.least + STARTUP_SECONDS,
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const MIB: u64 = 1 << 20;

        fn redo_counts(capacity: u64, rate: f64, seconds: f64, age: Option<u64>) -> RedoCounts {
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
                // The rate of 1 MiB/s makes 3.5 GiB in an hour, rounded up to 4 GiB.
                (
                    redo_counts(100 * MIB, 1_048_576.0, 86_400.0, None),
                    Some((LogSizeFit::TooSmall, Some(4096 * MIB))),
                ),
                (
                    redo_counts(4096 * MIB, 1_048_576.0, 86_400.0, None),
                    Some((LogSizeFit::Enough, None)),
                ),
                (
                    redo_counts(100 * MIB, 10.0, 86_400.0, Some(MIB)),
                    Some((LogSizeFit::Enough, None)),
                ),
                // The log is 80 % full now, which decides; the average of one minute does not.
                (
                    redo_counts(100 * MIB, 10.0, 60.0, Some(80 * MIB)),
                    Some((LogSizeFit::TooSmall, Some(256 * MIB))),
                ),
                (redo_counts(100 * MIB, 1e9, 60.0, Some(MIB)), None),
                (
                    redo_counts(100 * MIB, 1e12, 86_400.0, None),
                    Some((LogSizeFit::TooSmall, Some(MAX_CAPACITY))),
                ),
                (
                    redo_counts(MAX_CAPACITY, 1e12, 86_400.0, None),
                    Some((LogSizeFit::NoRoom, None)),
                ),
            ] {
                assert_eq!(counts.capacity_fit(room), fit, "{counts:?}");
            }
            let busy = redo_counts(100 * MIB, 1_048_576.0, 86_400.0, None);
            assert_eq!(
                busy.capacity_fit(Some(1024 * MIB)),
                Some((LogSizeFit::TooSmall, Some(512 * MIB)))
            );
            assert_eq!(
                busy.capacity_fit(Some(10 * MIB)),
                Some((LogSizeFit::NoRoom, None))
            );
            assert_eq!(busy.capacity_fit(None), None);
            assert!(
                RedoCounts::recovery_forecast(100 * MIB).most
                    < RedoCounts::recovery_forecast(200 * MIB).most
            );
        }
    }
}
mod derive;
mod retention;
mod server_facts;

pub use derive::derive_sizing_facts;

/// Rounds up to a power of two, from 1 MiB to 16 TiB.
fn ceil_power_of_two(bytes: f64) -> u64 {
    let mut size = 1 << 20;
    while (size as f64) < bytes && size < 1 << 44 {
        size *= 2;
    }
    size
}

fn saturating_bytes(figure: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate, whose ends are cut"
    )]
    let whole = figure.round() as u64;
    whole
}
