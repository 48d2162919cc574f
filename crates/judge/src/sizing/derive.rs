//! Writes the sizing of each server as facts. If a needed fact is unknown, the result is unknown
//! for the same reason.

mod postgres {
    //! PostgreSQL: from counters of WAL and checkpoints.

    use super::{Server, Unknown, derived_source, range_ends};
    use crate::facts::catalog::cluster::SizeFit;
    use crate::facts::catalog::{mount, postgres};
    use crate::facts::{FactSet, Reading, Subject, UnknownReason};
    use crate::servers::{postgres_size, postgres_time};
    use crate::sizing::forecast::Forecast;
    use crate::sizing::wal::{
        CheckpointSettings, MIN_CHECKPOINTS, WalContents, WalCounts, WalSizing,
    };
    use crate::sizing::{round_up, saturating_bytes};
    use crate::text;

    /// The `checkpoint_timeout` whose trade-off is stated, in seconds.
    const LONGER_TIMEOUT: f64 = 900.0;
    /// An average over less time means nothing, in seconds.
    const MIN_COUNTED_SECONDS: f64 = 60.0;
    /// The automatic `wal_buffers` is this part of `shared_buffers`, with a minimum in bytes
    /// (xlog.c).
    const PART_OF_BUFFERS: u64 = 32;
    const LEAST_BUFFERS: u64 = 64 << 10;
    /// Peaks need this multiple of the average before WAL files are worth keeping for them.
    const BURST_FACTOR: f64 = 4.0;

    /// What decides the distance of checkpoints, and counts them.
    const BASIS: [&str; 6] = [
        postgres::WAL_MADE.name(),
        postgres::CHECKPOINTS_TIMED.name(),
        postgres::CHECKPOINTS_REQUESTED.name(),
        postgres::MAX_WAL_SIZE.name(),
        postgres::CHECKPOINT_TIMEOUT.name(),
        postgres::CHECKPOINT_TARGET.name(),
    ];

    pub fn derive(facts: &mut FactSet, cluster: &Subject) {
        let server = Server {
            facts,
            subject: cluster,
        };
        let buffers = server.wal_buffers_share();
        let rate = server.wal_rate();
        let sized = server.wal_sizing();
        let whole = |rate: &f64| {
            Reading::known(
                saturating_bytes(*rate),
                derived_source(&[postgres::WAL_MADE.name(), postgres::WAL_TIME.name()]),
            )
        };
        let rate = rate.as_ref().map_or_else(Unknown::reading, whole);
        let on_basis = |value| Reading::known(value, derived_source(&BASIS));
        let told = match &sized {
            Err(why) => Conclusions {
                busy: why.reading(),
                forced: why.reading(),
                fit: why.reading(),
                size: why.reading(),
                trade: why.reading(),
                recovery: why.reading(),
                longer: why.reading(),
                least: why.reading(),
            },
            Ok(sizing) => server.conclusions(sizing, &on_basis),
        };
        facts.insert(cluster, &postgres::WAL_BUFFERS_SHARE, buffers);
        facts.insert(cluster, &postgres::WAL_RATE, rate);
        facts.insert(
            cluster,
            &postgres::WAL_BUSY_RATE,
            told.busy.map(saturating_bytes),
        );
        facts.insert(cluster, &postgres::CHECKPOINTS_FORCED, told.forced);
        facts.insert(cluster, &postgres::WAL_GROWTH, told.fit);
        facts.insert(cluster, &postgres::WAL_SIZE, told.size);
        facts.insert(cluster, &postgres::WAL_TRADE, told.trade);
        let (least, most) = range_ends(&told.recovery);
        facts.insert(cluster, &postgres::RECOVERY_LEAST, least);
        facts.insert(cluster, &postgres::RECOVERY_MOST, most);
        facts.insert(cluster, &postgres::TIMEOUT_TRADE, told.longer);
        facts.insert(cluster, &postgres::MIN_WAL_SIZE_WANTED, told.least);
    }

    struct Conclusions {
        busy: Reading<f64>,
        forced: Reading<f64>,
        fit: Reading<SizeFit>,
        size: Reading<String>,
        trade: Reading<String>,
        recovery: Reading<Forecast>,
        longer: Reading<String>,
        least: Reading<String>,
    }

    impl Server<'_> {
        /// `wal_buffers` relative to the automatic size.
        fn wal_buffers_share(&self) -> Reading<f64> {
            let share = || {
                let (now, shared) = (
                    self.require(&postgres::WAL_BUFFERS)?,
                    self.require(&postgres::SHARED_BUFFERS)?,
                );
                let segment = self.require(&postgres::WAL_SEGMENT_SIZE)?;
                Ok(now as f64 / (shared / PART_OF_BUFFERS).min(segment).max(LEAST_BUFFERS) as f64)
            };
            let of = [
                postgres::WAL_BUFFERS.name(),
                postgres::SHARED_BUFFERS.name(),
            ];
            share().map_or_else(
                |why: Unknown| why.reading(),
                |share| Reading::known(share, derived_source(&of)),
            )
        }

        /// WAL per second: over all counted time, or else since the last checkpoint.
        fn wal_rate(&self) -> Result<f64, Unknown> {
            // A standby does not know its position, and its counters do not count what it replays.
            let recent = self.require(&postgres::WAL_RECENT)?;
            let per_second = |bytes: u64, micros: f64| {
                (micros >= MIN_COUNTED_SECONDS * 1e6).then(|| bytes as f64 / (micros / 1e6))
            };
            let counted = self
                .value(&postgres::WAL_MADE)
                .zip(self.value(&postgres::WAL_TIME));
            if let Some(rate) = counted.and_then(|(bytes, micros)| per_second(bytes, micros)) {
                return Ok(rate);
            }
            let micros = self.require(&postgres::WAL_RECENT_TIME)?;
            per_second(recent, micros).ok_or_else(|| {
                let detail = "the server has counted its WAL for less than a minute";
                Unknown(Reading::unknown(UnknownReason::Ambiguous, detail))
            })
        }

        fn wal_sizing(&self) -> Result<WalSizing, Unknown> {
            let version = self.require(&postgres::VERSION)?;
            let settings = CheckpointSettings {
                max_wal_size: self.require(&postgres::MAX_WAL_SIZE)?,
                segment: self.require(&postgres::WAL_SEGMENT_SIZE)?,
                timeout: self.require(&postgres::CHECKPOINT_TIMEOUT)? / 1e6,
                target: self.require(&postgres::CHECKPOINT_TARGET)?,
                keeps_two_cycles: version.number(0) < 11,
            };
            let contents = || {
                let (bytes, records) = (
                    self.value(&postgres::WAL_MADE)?,
                    self.value(&postgres::WAL_RECORDS)?,
                );
                let images = self.value(&postgres::WAL_IMAGES)?;
                Some(WalContents {
                    bytes: bytes as f64,
                    records: records as f64,
                    images: images as f64,
                })
            };
            let counts = WalCounts {
                rate: self.wal_rate()?,
                contents: contents(),
                timed: self.require(&postgres::CHECKPOINTS_TIMED)?,
                requested: self.require(&postgres::CHECKPOINTS_REQUESTED)?,
                seconds: self.require(&postgres::CHECKPOINTS_TIME)? / 1e6,
            };
            WalSizing::new(settings, counts).ok_or_else(|| {
                let detail =
                    format!("the server has counted fewer than {MIN_CHECKPOINTS} checkpoints");
                Unknown(Reading::unknown(UnknownReason::Ambiguous, detail))
            })
        }

        fn conclusions(
            &self,
            sizing: &WalSizing,
            on_basis: &dyn Fn(String) -> Reading<String>,
        ) -> Conclusions {
            let (busy, average) = (sizing.busy.most, self.wal_rate().unwrap_or_default());
            let most = self.value(&postgres::MAX_WAL_SIZE).unwrap_or_default();
            let timeout = self
                .value(&postgres::CHECKPOINT_TIMEOUT)
                .unwrap_or_default()
                / 1e6;
            let fit = sizing.fit(self.free_bytes());
            let no_free = || match self.facts.resolve(self.subject, mount::FREE.info.scope) {
                Some(mount) => self
                    .facts
                    .get(&mount, &mount::FREE)
                    .map(|_| SizeFit::Enough),
                None => Reading::unknown(UnknownReason::NotCollected, "the file system of its WAL"),
            };
            let size = fit.and_then(|(_, size)| size);
            let needed = sizing.size_for_timeout(LONGER_TIMEOUT);
            let has_room = self.free_bytes().is_some_and(|free| needed <= free / 2);
            let is_bursty = busy >= average * BURST_FACTOR;
            Conclusions {
                busy: Reading::known(busy, derived_source(&BASIS)),
                forced: Reading::known(sizing.forced_share() * 100.0, derived_source(&BASIS)),
                fit: fit.map_or_else(no_free, |(fit, _)| {
                    Reading::known(fit, derived_source(&BASIS))
                }),
                size: size.map_or_else(
                    || absent("no other size is needed, or none fits"),
                    |size| on_basis(postgres_size(size)),
                ),
                trade: size.map_or_else(
                    || absent("no other size is needed, or none fits"),
                    |size| on_basis(self.wal_trade(sizing, size, (most, timeout))),
                ),
                recovery: match sizing.recovery(most, timeout) {
                    _ if self.is_on_rotating_disk() => {
                        absent("replay was not measured on rotating disks")
                    }
                    Some(span) => Reading::known(span, derived_source(&BASIS)),
                    None => absent("this release does not count WAL records"),
                },
                longer: if has_room && timeout < LONGER_TIMEOUT {
                    on_basis(self.timeout_trade(sizing, needed, (most, timeout)))
                } else {
                    on_basis(String::new())
                },
                least: if is_bursty && size.is_none() {
                    on_basis(postgres_size(round_up(most as f64 / 4.0)))
                } else {
                    on_basis(String::new())
                },
            }
        }

        /// What a size costs, compared with the current one.
        fn wal_trade(&self, sizing: &WalSizing, size: u64, (now, timeout): (u64, f64)) -> String {
            format!(
                "{}: a checkpoint every {} at {} of WAL (busy periods{}); full-page images ÷ {}; {}",
                postgres_size(size),
                sizing.interval(size).seconds_text(),
                busy_rates_text(sizing),
                self.since_text(),
                sizing.image_reduction(size, timeout).ratio_text(),
                self.wal_recovery(sizing, (size, timeout), (now, timeout)),
            )
        }

        fn timeout_trade(&self, sizing: &WalSizing, needed: u64, now: (u64, f64)) -> String {
            format!(
                "{} needs max_wal_size = {} at {} of WAL (busy periods{}); full-page images ÷ {}; {}",
                postgres_time(LONGER_TIMEOUT * 1e6),
                postgres_size(needed),
                busy_rates_text(sizing),
                self.since_text(),
                sizing.image_reduction(needed, LONGER_TIMEOUT).ratio_text(),
                self.wal_recovery(sizing, (needed, LONGER_TIMEOUT), now),
            )
        }

        fn since_text(&self) -> String {
            self.value(&postgres::WAL_SINCE)
                .map(|since| format!(" since {since}"))
                .unwrap_or_default()
        }

        /// Recovery with a new size and timeout, and with those in force.
        fn wal_recovery(&self, sizing: &WalSizing, then: (u64, f64), now: (u64, f64)) -> String {
            let of = |(size, timeout)| sizing.recovery(size, timeout);
            match (of(then), of(now)) {
                _ if self.is_on_rotating_disk() => {
                    "recovery time on rotating disks is unknown".to_owned()
                }
                (Some(then), Some(now)) => {
                    format!(
                        "crash recovery then {}, now {}",
                        then.seconds_text(),
                        now.seconds_text()
                    )
                }
                _ => "recovery time is unknown".to_owned(),
            }
        }
    }

    fn absent<T>(detail: &str) -> Reading<T> {
        Reading::unknown(UnknownReason::Absent, detail)
    }

    /// The range of the peak rate: `30 MiB/s to 45 MiB/s`.
    fn busy_rates_text(sizing: &WalSizing) -> String {
        let (least, most) = (
            text::bytes(saturating_bytes(sizing.busy.least)),
            text::bytes(saturating_bytes(sizing.busy.most)),
        );
        if least == most {
            format!("{most}/s")
        } else {
            format!("{least}/s to {most}/s")
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::catalog::cluster;
        use crate::facts::{ServerKind, Source};
        use crate::version::Version;

        /// A PostgreSQL with default settings that writes 9 MiB/s for a third of the time.
        fn server(free: Option<u64>, major: &str) -> (FactSet, Subject) {
            let (server, wal) = (Subject::cluster("/pg"), Subject::mount("/pg"));
            let mut facts = FactSet::default();
            let from = || Source::call("test");
            facts.link(&server, &wal);
            facts.insert_known(&server, &cluster::KIND, ServerKind::Postgres, from());
            facts.insert_known(
                &server,
                &postgres::VERSION,
                Version::parse(major).unwrap(),
                from(),
            );
            for (key, value) in [
                (&postgres::MAX_WAL_SIZE, 1 << 30),
                (&postgres::WAL_SEGMENT_SIZE, 16 << 20),
                (&postgres::WAL_BUFFERS, 65_536),
                (&postgres::SHARED_BUFFERS, 1 << 30),
                (&postgres::WAL_MADE, 1 << 40),
                (&postgres::WAL_RECORDS, 1 << 32),
                (&postgres::WAL_IMAGES, 1 << 26),
                (&postgres::WAL_RECENT, 1 << 20),
                (&postgres::CHECKPOINTS_TIMED, 700),
                (&postgres::CHECKPOINTS_REQUESTED, 1900),
            ] {
                facts.insert_known(&server, key, value, from());
            }
            for (key, seconds) in [
                (&postgres::CHECKPOINT_TIMEOUT, 300.0),
                (&postgres::WAL_TIME, 345_600.0),
                (&postgres::WAL_RECENT_TIME, 5.0),
                (&postgres::CHECKPOINTS_TIME, 345_600.0),
            ] {
                facts.insert_known(&server, key, seconds * 1e6, from());
            }
            facts.insert_known(&server, &postgres::CHECKPOINT_TARGET, 0.9, from());
            if let Some(free) = free {
                facts.insert_known(&wal, &mount::FREE, free, from());
            }
            derive(&mut facts, &server);
            (facts, server)
        }

        #[test]
        fn a_size_is_told_with_what_it_comes_to() {
            let (facts, server) = server(Some(1 << 40), "16.4");
            assert_eq!(
                facts.value(&server, &postgres::WAL_GROWTH),
                Some(SizeFit::TooSmall)
            );
            assert_eq!(
                facts.value(&server, &postgres::WAL_SIZE).as_deref(),
                Some("8GB")
            );
            let trade = facts.value(&server, &postgres::WAL_TRADE).unwrap();
            let told = "8GB: a checkpoint every 5 min at 3 MiB/s to 7.4 MiB/s of WAL (busy periods); full-page images ÷ 1 to 4.2; \
                    crash recovery then";
            assert!(trade.starts_with(told), "{trade}");
            assert_eq!(
                facts.value(&server, &postgres::WAL_BUFFERS_SHARE),
                Some(1.0 / 256.0)
            );
            let (least, most) = (
                facts.value(&server, &postgres::RECOVERY_LEAST),
                facts.value(&server, &postgres::RECOVERY_MOST),
            );
            assert!(least.unwrap() < most.unwrap());
            let longer = facts.value(&server, &postgres::TIMEOUT_TRADE).unwrap();
            assert!(
                longer.starts_with("15min needs max_wal_size = 16GB at "),
                "{longer}"
            );
        }

        #[test]
        fn without_a_basis_nothing_is_told() {
            let (facts, unknown_room) = server(None, "16.4");
            assert_eq!(facts.value(&unknown_room, &postgres::WAL_GROWTH), None);
            assert_eq!(facts.value(&unknown_room, &postgres::WAL_SIZE), None);
            let (mut facts, standby) = server(Some(1 << 40), "16.4");
            facts.insert(
                &standby,
                &postgres::WAL_RECENT,
                Reading::unknown(UnknownReason::Absent, "a standby"),
            );
            derive(&mut facts, &standby);
            for key in [
                &postgres::WAL_SIZE,
                &postgres::WAL_TRADE,
                &postgres::TIMEOUT_TRADE,
            ] {
                let Reading::Unknown { detail, .. } = facts.get(&standby, key) else {
                    panic!("{}", key.name())
                };
                assert_eq!(detail, "a standby");
            }
        }

        #[test]
        fn what_replay_costs_is_not_told_of_platters_or_of_wal_that_nobody_counts() {
            let (mut facts, server) = server(Some(1 << 40), "16.4");
            facts.insert(
                &server,
                &postgres::WAL_RECORDS,
                Reading::unknown(UnknownReason::Absent, "13"),
            );
            derive(&mut facts, &server);
            let trade = facts.value(&server, &postgres::WAL_TRADE).unwrap();
            assert!(trade.ends_with("recovery time is unknown"), "{trade}");
            assert_eq!(facts.value(&server, &postgres::RECOVERY_MOST), None);
        }
    }
}
mod mysql {
    //! MySQL and MariaDB: from counters of the redo log.

    use super::{Server, Unknown, derived_source, range_ends};
    use crate::facts::catalog::cluster::{KIND, SizeFit};
    use crate::facts::catalog::{mount, mysql};
    use crate::facts::{FactSet, Reading, ServerKind, Subject, UnknownReason};
    use crate::sizing::forecast::Forecast;
    use crate::sizing::redo::{MIN_COUNTED_SECONDS, RedoCounts};
    use crate::sizing::saturating_bytes;
    use crate::text;

    /// The largest advised `innodb_log_buffer_size`.
    const MAX_LOG_BUFFER: u64 = 256 << 20;

    const BASIS: [&str; 3] = [
        mysql::REDO_SIZE.name(),
        mysql::REDO_WRITTEN.name(),
        mysql::UPTIME.name(),
    ];

    pub fn derive(facts: &mut FactSet, cluster: &Subject) {
        let server = Server {
            facts,
            subject: cluster,
        };
        let size = server.redo_size();
        let buffer = server.wanted_log_buffer();
        let counts = server.redo_counts();
        let of = |value: fn(&RedoCounts) -> f64| match &counts {
            Ok(counts) => Reading::known(value(counts), derived_source(&BASIS)),
            Err(why) => why.reading(),
        };
        let rate = of(|counts| counts.rate).map(saturating_bytes);
        let lasts = of(|counts| counts.lasting_seconds() * 1e6);
        let recovery = counts
            .as_ref()
            .map_or_else(Unknown::reading, |counts| server.redo_recovery(counts));
        let (least, most) = range_ends(&recovery);
        let (fit, wanted, trade) = server.redo_fit(&counts);
        facts.insert(cluster, &mysql::REDO_SIZE, size);
        facts.insert(cluster, &mysql::REDO_RATE, rate);
        facts.insert(cluster, &mysql::REDO_LASTS, lasts);
        facts.insert(cluster, &mysql::RECOVERY_LEAST, least);
        facts.insert(cluster, &mysql::RECOVERY_MOST, most);
        facts.insert(cluster, &mysql::REDO_FIT, fit);
        facts.insert(cluster, &mysql::REDO_WANTED, wanted);
        facts.insert(cluster, &mysql::REDO_TRADE, trade);
        facts.insert(cluster, &mysql::LOG_BUFFER_WANTED, buffer);
    }

    impl Server<'_> {
        /// The size by a single setting: MariaDB's one file from 10.5 on, or MySQL's capacity from
        /// 8.0.30 on. Earlier it was the product of two settings.
        fn redo_size(&self) -> Reading<u64> {
            let size = || {
                let version = self.require(&mysql::VERSION)?;
                let (kind, key, first) = match self.require(&KIND)? {
                    ServerKind::Mariadb => ("MariaDB", &mysql::LOG_FILE_SIZE, [10, 5, 0]),
                    ServerKind::Mysql | ServerKind::Postgres => {
                        ("MySQL", &mysql::REDO_CAPACITY, [8, 0, 30])
                    }
                };
                if [0, 1, 2].map(|part| version.number(part)) < first {
                    let detail = format!(
                        "{kind} {} has several redo files; their number is not read",
                        version.base()
                    );
                    return Err(Unknown(Reading::unknown(
                        UnknownReason::NotCollected,
                        detail,
                    )));
                }
                Ok((self.require(key)?, key.name()))
            };
            size().map_or_else(
                |why| why.reading(),
                |(size, name)| Reading::known(size, derived_source(&[name])),
            )
        }

        fn redo_counts(&self) -> Result<RedoCounts, Unknown> {
            let capacity = match self.redo_size() {
                Reading::Known { value, .. } => value,
                Reading::Unknown {
                    why,
                    detail,
                    remedy,
                } => {
                    return Err(Unknown(Reading::Unknown {
                        why,
                        detail,
                        remedy,
                    }));
                }
            };
            let seconds = self.require(&mysql::UPTIME)? / 1e6;
            let written = self.require(&mysql::REDO_WRITTEN)?;
            let rate = written as f64 / seconds.max(1.0);
            Ok(RedoCounts {
                capacity,
                rate,
                seconds,
                age: self.value(&mysql::CHECKPOINT_AGE),
            })
        }

        fn redo_fit(
            &self,
            counts: &Result<RedoCounts, Unknown>,
        ) -> (Reading<SizeFit>, Reading<String>, Reading<String>) {
            let counts = match counts {
                Ok(counts) => counts,
                Err(why) => return (why.reading(), why.reading(), why.reading()),
            };
            let unsettled = || {
                if counts.seconds < MIN_COUNTED_SECONDS {
                    return Reading::unknown(
                        UnknownReason::Ambiguous,
                        "the server has run for less than an hour",
                    );
                }
                match self.facts.resolve(self.subject, mount::FREE.info.scope) {
                    Some(mount) => self
                        .facts
                        .get(&mount, &mount::FREE)
                        .map(|_| SizeFit::Enough),
                    None => Reading::unknown(
                        UnknownReason::NotCollected,
                        "the file system of its redo log",
                    ),
                }
            };
            let judged = counts.fit(self.free_bytes());
            let fit = judged.map_or_else(unsettled, |(fit, _)| {
                Reading::known(fit, derived_source(&BASIS))
            });
            let none = || {
                Reading::unknown(
                    UnknownReason::Absent,
                    "no other size is needed, or none fits",
                )
            };
            match judged.and_then(|(_, size)| size) {
                Some(size) => {
                    let (wanted, trade) = (size.to_string(), self.redo_trade(counts, size));
                    (
                        fit,
                        Reading::known(wanted, derived_source(&BASIS)),
                        Reading::known(trade, derived_source(&BASIS)),
                    )
                }
                None => (fit, none(), none()),
            }
        }

        fn redo_trade(&self, counts: &RedoCounts, size: u64) -> String {
            let then = RedoCounts {
                capacity: size,
                ..*counts
            };
            let lasts = |counts: &RedoCounts| {
                Forecast::between(counts.lasting_seconds(), counts.lasting_seconds()).seconds_text()
            };
            format!(
                "{}: it lasts {} at {}/s, the average since the start {} ago, now {}; {}",
                text::bytes(size),
                lasts(&then),
                text::bytes(saturating_bytes(counts.rate)),
                Forecast::between(counts.seconds, counts.seconds).seconds_text(),
                lasts(counts),
                match (
                    self.is_on_rotating_disk(),
                    RedoCounts::recovery(size),
                    RedoCounts::recovery(counts.capacity)
                ) {
                    (true, ..) => "recovery time on rotating disks is unknown".to_owned(),
                    (false, then, now) => format!(
                        "crash recovery with a full log then {}, now {}",
                        then.seconds_text(),
                        now.seconds_text()
                    ),
                }
            )
        }

        /// Crash recovery now, from the redo not yet in the data files.
        fn redo_recovery(&self, counts: &RedoCounts) -> Reading<Forecast> {
            let detail = match (counts.age, self.is_on_rotating_disk()) {
                (Some(age), false) => {
                    return Reading::known(
                        RedoCounts::recovery(age),
                        derived_source(&[mysql::CHECKPOINT_AGE.name()]),
                    );
                }
                (Some(_), true) => "replay was not measured on rotating disks",
                (None, _) => "the server does not report its checkpoint age",
            };
            Reading::unknown(UnknownReason::Absent, detail)
        }

        /// Twice the log buffer, if sessions have waited for it.
        fn wanted_log_buffer(&self) -> Reading<String> {
            let wanted = || {
                let (now, waits) = (
                    self.require(&mysql::LOG_BUFFER_SIZE)?,
                    self.require(&mysql::LOG_WAITS)?,
                );
                let twice = now.saturating_mul(2);
                let is_wanted = waits > 0 && twice <= MAX_LOG_BUFFER;
                Ok(if is_wanted {
                    twice.to_string()
                } else {
                    String::new()
                })
            };
            let of = [mysql::LOG_BUFFER_SIZE.name(), mysql::LOG_WAITS.name()];
            wanted().map_or_else(
                |why: Unknown| why.reading(),
                |wanted| Reading::known(wanted, derived_source(&of)),
            )
        }
    }
}

use super::forecast::Forecast;
use crate::facts::catalog::device::{self, Medium};
use crate::facts::catalog::{cluster, mount};
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, ServerKind, Source, Subject};

pub fn derive(facts: &mut FactSet) {
    let clusters: Vec<Subject> = facts.subjects(Scope::Cluster).cloned().collect();
    for subject in clusters {
        match facts.value(&subject, &cluster::KIND) {
            Some(ServerKind::Postgres) => postgres::derive(facts, &subject),
            Some(ServerKind::Mysql | ServerKind::Mariadb) => mysql::derive(facts, &subject),
            None => {}
        }
    }
}

struct Server<'f> {
    facts: &'f FactSet,
    subject: &'f Subject,
}

/// Why a fact is unknown, for everything derived from it.
struct Unknown(Reading<()>);

impl Unknown {
    fn reading<T>(&self) -> Reading<T> {
        self.0.as_ref().then(|(), _| Reading::not_collected())
    }
}

impl Server<'_> {
    fn require<T: FactValue>(&self, key: &Key<T>) -> Result<T, Unknown> {
        match self.facts.get(self.subject, key) {
            Reading::Known { value, .. } => Ok(value),
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => Err(Unknown(Reading::Unknown {
                why,
                detail,
                remedy,
            })),
        }
    }

    fn value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        self.facts.value(self.subject, key)
    }

    /// Free bytes on the file system of the log.
    fn free_bytes(&self) -> Option<u64> {
        self.facts.value(
            &self.facts.resolve(self.subject, Scope::Mount)?,
            &mount::FREE,
        )
    }

    /// Replay speed on rotating disks was not measured.
    fn is_on_rotating_disk(&self) -> bool {
        let mount = self.facts.resolve(self.subject, Scope::Mount);
        let disks = mount
            .map(|mount| self.facts.disks(&mount))
            .unwrap_or_default();
        let turns = |disk: &Subject| {
            self.facts
                .value(disk, &device::MEDIUM)
                .is_some_and(Medium::is_rotating)
        };
        disks.iter().any(turns)
    }
}

fn derived_source(names: &[&str]) -> Source {
    Source::derived(names.iter().copied())
}

/// Both ends of a range of seconds, in microseconds.
fn range_ends(span: &Reading<Forecast>) -> (Reading<f64>, Reading<f64>) {
    (
        span.clone().map(|span| span.least * 1e6),
        span.clone().map(|span| span.most * 1e6),
    )
}
