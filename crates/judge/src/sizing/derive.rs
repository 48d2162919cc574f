//! Makes facts of what the arithmetic says of each server. What is not known leaves unknown what
//! would follow from it, for the same reason.

mod postgres {
    //! What follows from a PostgreSQL's counters of WAL and checkpoints.

    use super::{Server, Unknown, ends, from};
    use crate::facts::catalog::cluster::SizeFit;
    use crate::facts::catalog::{mount, postgres};
    use crate::facts::{FactSet, Reading, Subject, Why};
    use crate::servers::{postgres_size, postgres_time};
    use crate::sizing::forecast::Forecast;
    use crate::sizing::wal::{CheckpointSettings, FEWEST, WalContents, WalCounts, WalSizing};
    use crate::sizing::{bytes, round_up};
    use crate::text;

    /// The `checkpoint_timeout` whose price is told, in seconds.
    const LONGER: f64 = 900.0;
    /// An average over less than this is none, in seconds.
    const SHORTEST: f64 = 60.0;
    /// `wal_buffers` that the server chooses: this part of `shared_buffers`, and at least so many
    /// bytes (xlog.c).
    const PART_OF_BUFFERS: u64 = 32;
    const LEAST_BUFFERS: u64 = 64 << 10;
    /// Busy times need this much more than the average before files are worth keeping for them.
    const BURST: f64 = 4.0;

    /// What decides the distance of checkpoints, and what counts them.
    const BASIS: [&str; 6] = [
        postgres::WAL_MADE.name(),
        postgres::CHECKPOINTS_TIMED.name(),
        postgres::CHECKPOINTS_REQUESTED.name(),
        postgres::MAX_WAL_SIZE.name(),
        postgres::CHECKPOINT_TIMEOUT.name(),
        postgres::CHECKPOINT_TARGET.name(),
    ];

    /// Puts all of it.
    pub fn derive(facts: &mut FactSet, cluster: &Subject) {
        let server = Server {
            facts,
            subject: cluster,
        };
        let buffers = server.buffers_share();
        let rate = server.rate();
        let sized = server.sizing();
        let whole = |rate: &f64| {
            Reading::known(
                bytes(*rate),
                from(&[postgres::WAL_MADE.name(), postgres::WAL_TIME.name()]),
            )
        };
        let rate = rate.as_ref().map_or_else(Unknown::of, whole);
        let on_basis = |value| Reading::known(value, from(&BASIS));
        let told = match &sized {
            Err(why) => Conclusions {
                busy: why.of(),
                forced: why.of(),
                fit: why.of(),
                size: why.of(),
                trade: why.of(),
                recovery: why.of(),
                longer: why.of(),
                least: why.of(),
            },
            Ok(sizing) => server.conclusions(sizing, &on_basis),
        };
        facts.put(cluster, &postgres::WAL_BUFFERS_SHARE, buffers);
        facts.put(cluster, &postgres::WAL_RATE, rate);
        facts.put(cluster, &postgres::WAL_BUSY_RATE, told.busy.map(bytes));
        facts.put(cluster, &postgres::CHECKPOINTS_FORCED, told.forced);
        facts.put(cluster, &postgres::WAL_GROWTH, told.fit);
        facts.put(cluster, &postgres::WAL_SIZE, told.size);
        facts.put(cluster, &postgres::WAL_TRADE, told.trade);
        let (least, most) = ends(&told.recovery);
        facts.put(cluster, &postgres::RECOVERY_LEAST, least);
        facts.put(cluster, &postgres::RECOVERY_MOST, most);
        facts.put(cluster, &postgres::TIMEOUT_TRADE, told.longer);
        facts.put(cluster, &postgres::MIN_WAL_SIZE_WANTED, told.least);
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
        /// `wal_buffers` in units of what the server would choose.
        fn buffers_share(&self) -> Reading<f64> {
            let share = || {
                let (now, shared) = (
                    self.need(&postgres::WAL_BUFFERS)?,
                    self.need(&postgres::SHARED_BUFFERS)?,
                );
                let segment = self.need(&postgres::WAL_SEGMENT_SIZE)?;
                Ok(now as f64 / (shared / PART_OF_BUFFERS).min(segment).max(LEAST_BUFFERS) as f64)
            };
            let of = [
                postgres::WAL_BUFFERS.name(),
                postgres::SHARED_BUFFERS.name(),
            ];
            share().map_or_else(
                |why: Unknown| why.of(),
                |share| Reading::known(share, from(&of)),
            )
        }

        /// WAL per second: of all that is counted, or else since the last checkpoint.
        fn rate(&self) -> Result<f64, Unknown> {
            // On a standby the position is unknown, and what it counts is not what it replays.
            let recent = self.need(&postgres::WAL_RECENT)?;
            let per_second = |bytes: u64, micros: f64| {
                (micros >= SHORTEST * 1e6).then(|| bytes as f64 / (micros / 1e6))
            };
            let counted = self
                .value(&postgres::WAL_MADE)
                .zip(self.value(&postgres::WAL_TIME));
            if let Some(rate) = counted.and_then(|(bytes, micros)| per_second(bytes, micros)) {
                return Ok(rate);
            }
            let micros = self.need(&postgres::WAL_RECENT_TIME)?;
            per_second(recent, micros).ok_or_else(|| {
                let detail = "the server has not counted its WAL for a minute";
                Unknown(Reading::unknown(Why::Ambiguous, detail))
            })
        }

        fn sizing(&self) -> Result<WalSizing, Unknown> {
            let version = self.need(&postgres::VERSION)?;
            let settings = CheckpointSettings {
                most: self.need(&postgres::MAX_WAL_SIZE)?,
                segment: self.need(&postgres::WAL_SEGMENT_SIZE)?,
                timeout: self.need(&postgres::CHECKPOINT_TIMEOUT)? / 1e6,
                target: self.need(&postgres::CHECKPOINT_TARGET)?,
                keeps_two: version.number(0) < 11,
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
                rate: self.rate()?,
                contents: contents(),
                timed: self.need(&postgres::CHECKPOINTS_TIMED)?,
                requested: self.need(&postgres::CHECKPOINTS_REQUESTED)?,
                seconds: self.need(&postgres::CHECKPOINTS_TIME)? / 1e6,
            };
            WalSizing::new(settings, counts).ok_or_else(|| {
                let detail = format!("the server has counted fewer than {FEWEST} checkpoints");
                Unknown(Reading::unknown(Why::Ambiguous, detail))
            })
        }

        fn conclusions(
            &self,
            sizing: &WalSizing,
            on_basis: &dyn Fn(String) -> Reading<String>,
        ) -> Conclusions {
            let (busy, average) = (sizing.busy.most, self.rate().unwrap_or_default());
            let most = self.value(&postgres::MAX_WAL_SIZE).unwrap_or_default();
            let timeout = self
                .value(&postgres::CHECKPOINT_TIMEOUT)
                .unwrap_or_default()
                / 1e6;
            let fit = sizing.fit(self.free());
            let no_free = || match self.facts.resolve(self.subject, mount::FREE.info.scope) {
                Some(mount) => self
                    .facts
                    .get(&mount, &mount::FREE)
                    .map(|_| SizeFit::Enough),
                None => Reading::unknown(Why::NotCollected, "the file system of its WAL"),
            };
            let size = fit.and_then(|(_, size)| size);
            let needed = sizing.size_of_timeout(LONGER);
            let has_room = self.free().is_some_and(|free| needed <= free / 2);
            let is_bursty = busy >= average * BURST;
            Conclusions {
                busy: Reading::known(busy, from(&BASIS)),
                forced: Reading::known(sizing.forced_share() * 100.0, from(&BASIS)),
                fit: fit.map_or_else(no_free, |(fit, _)| Reading::known(fit, from(&BASIS))),
                size: size.map_or_else(
                    || none("no other size is needed, or has room"),
                    |size| on_basis(postgres_size(size)),
                ),
                trade: size.map_or_else(
                    || none("no other size is needed, or has room"),
                    |size| on_basis(self.wal_trade(sizing, size, (most, timeout))),
                ),
                recovery: match sizing.recovery(most, timeout) {
                    _ if self.is_on_platters() => {
                        none("what replay costs on platters was not measured")
                    }
                    Some(span) => Reading::known(span, from(&BASIS)),
                    None => none("this release does not count what its WAL holds"),
                },
                longer: if has_room && timeout < LONGER {
                    on_basis(self.longer(sizing, needed, (most, timeout)))
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

        /// What a size comes to, beside what there is now.
        fn wal_trade(&self, sizing: &WalSizing, size: u64, (now, timeout): (u64, f64)) -> String {
            format!(
                "{}: a checkpoint every {} at {}, the rate of busy times{}; full-page images ÷ {}; {}",
                postgres_size(size),
                sizing.interval(size).seconds(),
                rates(sizing),
                self.since(),
                sizing.fewer_images(size, timeout).ratio(),
                self.wal_recovery(sizing, (size, timeout), (now, timeout)),
            )
        }

        fn longer(&self, sizing: &WalSizing, needed: u64, now: (u64, f64)) -> String {
            format!(
                "{} needs max_wal_size = {} at {}, the rate of busy times{}; full-page images ÷ {}; {}",
                postgres_time(LONGER * 1e6),
                postgres_size(needed),
                rates(sizing),
                self.since(),
                sizing.fewer_images(needed, LONGER).ratio(),
                self.wal_recovery(sizing, (needed, LONGER), now),
            )
        }

        fn since(&self) -> String {
            self.value(&postgres::WAL_SINCE)
                .map(|since| format!(" since {since}"))
                .unwrap_or_default()
        }

        /// Recovery with one size and timeout, and with those in force.
        fn wal_recovery(&self, sizing: &WalSizing, then: (u64, f64), now: (u64, f64)) -> String {
            let of = |(size, timeout)| sizing.recovery(size, timeout);
            match (of(then), of(now)) {
                _ if self.is_on_platters() => {
                    "how long recovery takes on platters is not known here".to_owned()
                }
                (Some(then), Some(now)) => {
                    format!(
                        "recovery after a crash then {}, now {}",
                        then.seconds(),
                        now.seconds()
                    )
                }
                _ => "how long recovery takes is not known here".to_owned(),
            }
        }
    }

    fn none<T>(detail: &str) -> Reading<T> {
        Reading::unknown(Why::Absent, detail)
    }

    /// Both ends of the rate of busy times: `30 to 45 MiB` a second.
    fn rates(sizing: &WalSizing) -> String {
        let (least, most) = (
            text::bytes(bytes(sizing.busy.least)),
            text::bytes(bytes(sizing.busy.most)),
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

        /// A PostgreSQL 16 with its defaults that makes 9 MiB/s for a third of the time.
        fn server(free: Option<u64>, major: &str) -> (FactSet, Subject) {
            let (server, wal) = (Subject::cluster("/pg"), Subject::mount("/pg"));
            let mut facts = FactSet::default();
            let from = || Source::call("test");
            facts.link(&server, &wal);
            facts.know(&server, &cluster::KIND, ServerKind::Postgres, from());
            facts.know(
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
                facts.know(&server, key, value, from());
            }
            for (key, seconds) in [
                (&postgres::CHECKPOINT_TIMEOUT, 300.0),
                (&postgres::WAL_TIME, 345_600.0),
                (&postgres::WAL_RECENT_TIME, 5.0),
                (&postgres::CHECKPOINTS_TIME, 345_600.0),
            ] {
                facts.know(&server, key, seconds * 1e6, from());
            }
            facts.know(&server, &postgres::CHECKPOINT_TARGET, 0.9, from());
            if let Some(free) = free {
                facts.know(&wal, &mount::FREE, free, from());
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
            let told = "8GB: a checkpoint every 5 min at 3 MiB/s to 7.4 MiB/s, the rate of busy times; full-page images ÷ 1 to 4.2; \
                    recovery after a crash then";
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
            facts.put(
                &standby,
                &postgres::WAL_RECENT,
                Reading::unknown(Why::Absent, "a standby"),
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
            facts.put(
                &server,
                &postgres::WAL_RECORDS,
                Reading::unknown(Why::Absent, "13"),
            );
            derive(&mut facts, &server);
            let trade = facts.value(&server, &postgres::WAL_TRADE).unwrap();
            assert!(
                trade.ends_with("how long recovery takes is not known here"),
                "{trade}"
            );
            assert_eq!(facts.value(&server, &postgres::RECOVERY_MOST), None);
        }
    }
}
mod mysql {
    //! What follows from the counters of a MySQL or MariaDB.

    use super::{Server, Unknown, ends, from};
    use crate::facts::catalog::cluster::{KIND, SizeFit};
    use crate::facts::catalog::{mount, mysql};
    use crate::facts::{FactSet, Reading, ServerKind, Subject, Why};
    use crate::sizing::bytes;
    use crate::sizing::forecast::Forecast;
    use crate::sizing::redo::{RedoCounts, SHORTEST};
    use crate::text;

    /// The largest `innodb_log_buffer_size` that is advised.
    const LARGEST_BUFFER: u64 = 256 << 20;

    const BASIS: [&str; 3] = [
        mysql::REDO_SIZE.name(),
        mysql::REDO_WRITTEN.name(),
        mysql::UPTIME.name(),
    ];

    /// Puts all of it.
    pub fn derive(facts: &mut FactSet, cluster: &Subject) {
        let server = Server {
            facts,
            subject: cluster,
        };
        let size = server.redo_size();
        let buffer = server.buffer();
        let counts = server.counts();
        let of = |value: fn(&RedoCounts) -> f64| match &counts {
            Ok(counts) => Reading::known(value(counts), from(&BASIS)),
            Err(why) => why.of(),
        };
        let rate = of(|counts| counts.rate).map(bytes);
        let lasts = of(|counts| counts.lasts() * 1e6);
        let recovery = counts
            .as_ref()
            .map_or_else(Unknown::of, |counts| server.redo_recovery(counts));
        let (least, most) = ends(&recovery);
        let (fit, wanted, trade) = server.judged(&counts);
        facts.put(cluster, &mysql::REDO_SIZE, size);
        facts.put(cluster, &mysql::REDO_RATE, rate);
        facts.put(cluster, &mysql::REDO_LASTS, lasts);
        facts.put(cluster, &mysql::RECOVERY_LEAST, least);
        facts.put(cluster, &mysql::RECOVERY_MOST, most);
        facts.put(cluster, &mysql::REDO_FIT, fit);
        facts.put(cluster, &mysql::REDO_WANTED, wanted);
        facts.put(cluster, &mysql::REDO_TRADE, trade);
        facts.put(cluster, &mysql::LOG_BUFFER_WANTED, buffer);
    }

    impl Server<'_> {
        /// The size of the redo log by the one setting that decides it: MariaDB's file, of which
        /// there is one from 10.5 on, or the capacity of MySQL 8.0.30 and later. Before these it
        /// was a product of two settings.
        fn redo_size(&self) -> Reading<u64> {
            let size = || {
                let version = self.need(&mysql::VERSION)?;
                let (kind, key, first) = match self.need(&KIND)? {
                    ServerKind::Mariadb => ("MariaDB", &mysql::LOG_FILE_SIZE, [10, 5, 0]),
                    ServerKind::Mysql | ServerKind::Postgres => {
                        ("MySQL", &mysql::REDO_CAPACITY, [8, 0, 30])
                    }
                };
                if [0, 1, 2].map(|part| version.number(part)) < first {
                    let detail = format!(
                        "{kind} {} has several files of redo, and how many is not read",
                        version.base()
                    );
                    return Err(Unknown(Reading::unknown(Why::NotCollected, detail)));
                }
                Ok((self.need(key)?, key.name()))
            };
            size().map_or_else(
                |why| why.of(),
                |(size, name)| Reading::known(size, from(&[name])),
            )
        }

        fn counts(&self) -> Result<RedoCounts, Unknown> {
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
            let seconds = self.need(&mysql::UPTIME)? / 1e6;
            let written = self.need(&mysql::REDO_WRITTEN)?;
            let rate = written as f64 / seconds.max(1.0);
            Ok(RedoCounts {
                capacity,
                rate,
                seconds,
                age: self.value(&mysql::CHECKPOINT_AGE),
            })
        }

        fn judged(
            &self,
            counts: &Result<RedoCounts, Unknown>,
        ) -> (Reading<SizeFit>, Reading<String>, Reading<String>) {
            let counts = match counts {
                Ok(counts) => counts,
                Err(why) => return (why.of(), why.of(), why.of()),
            };
            let unsettled = || {
                if counts.seconds < SHORTEST {
                    return Reading::unknown(
                        Why::Ambiguous,
                        "the server has run for less than an hour",
                    );
                }
                match self.facts.resolve(self.subject, mount::FREE.info.scope) {
                    Some(mount) => self
                        .facts
                        .get(&mount, &mount::FREE)
                        .map(|_| SizeFit::Enough),
                    None => Reading::unknown(Why::NotCollected, "the file system of its redo log"),
                }
            };
            let judged = counts.fit(self.free());
            let fit = judged.map_or_else(unsettled, |(fit, _)| Reading::known(fit, from(&BASIS)));
            let none = || Reading::unknown(Why::Absent, "no other size is needed, or has room");
            match judged.and_then(|(_, size)| size) {
                Some(size) => {
                    let (wanted, trade) = (size.to_string(), self.redo_trade(counts, size));
                    (
                        fit,
                        Reading::known(wanted, from(&BASIS)),
                        Reading::known(trade, from(&BASIS)),
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
            let lasts =
                |counts: &RedoCounts| Forecast::between(counts.lasts(), counts.lasts()).seconds();
            format!(
                "{}: it lasts {} at {}/s, the average since the start {} ago, now {}; {}",
                text::bytes(size),
                lasts(&then),
                text::bytes(bytes(counts.rate)),
                Forecast::between(counts.seconds, counts.seconds).seconds(),
                lasts(counts),
                match (
                    self.is_on_platters(),
                    RedoCounts::recovery(size),
                    RedoCounts::recovery(counts.capacity)
                ) {
                    (true, ..) =>
                        "how long recovery takes on platters is not known here".to_owned(),
                    (false, then, now) => format!(
                        "recovery after a crash of a full log then {}, now {}",
                        then.seconds(),
                        now.seconds()
                    ),
                }
            )
        }

        /// Recovery after a crash now, by the redo that is not in the data files yet.
        fn redo_recovery(&self, counts: &RedoCounts) -> Reading<Forecast> {
            let detail = match (counts.age, self.is_on_platters()) {
                (Some(age), false) => {
                    return Reading::known(
                        RedoCounts::recovery(age),
                        from(&[mysql::CHECKPOINT_AGE.name()]),
                    );
                }
                (Some(_), true) => "what replay costs on platters was not measured",
                (None, _) => "the server does not say how old its checkpoint is",
            };
            Reading::unknown(Why::Absent, detail)
        }

        /// Twice the log buffer, where sessions have waited for it.
        fn buffer(&self) -> Reading<String> {
            let wanted = || {
                let (now, waits) = (
                    self.need(&mysql::LOG_BUFFER_SIZE)?,
                    self.need(&mysql::LOG_WAITS)?,
                );
                let twice = now.saturating_mul(2);
                let is_wanted = waits > 0 && twice <= LARGEST_BUFFER;
                Ok(if is_wanted {
                    twice.to_string()
                } else {
                    String::new()
                })
            };
            let of = [mysql::LOG_BUFFER_SIZE.name(), mysql::LOG_WAITS.name()];
            wanted().map_or_else(
                |why: Unknown| why.of(),
                |wanted| Reading::known(wanted, from(&of)),
            )
        }
    }
}

use super::forecast::Forecast;
use crate::facts::catalog::device::{self, Medium};
use crate::facts::catalog::{cluster, mount};
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, ServerKind, Source, Subject};

/// Puts what follows from the counters of every server into the set.
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

/// A server with its facts.
struct Server<'f> {
    facts: &'f FactSet,
    subject: &'f Subject,
}

/// The reason why something is unknown, as the reading of whatever would follow.
struct Unknown(Reading<()>);

impl Unknown {
    fn of<T>(&self) -> Reading<T> {
        self.0.as_ref().then(|(), _| Reading::not_collected())
    }
}

impl Server<'_> {
    /// The value of a fact, or why there is none.
    fn need<T: FactValue>(&self, key: &Key<T>) -> Result<T, Unknown> {
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
    fn free(&self) -> Option<u64> {
        self.facts.value(
            &self.facts.resolve(self.subject, Scope::Mount)?,
            &mount::FREE,
        )
    }

    /// Whether pages lie on platters, on which what replay costs was not measured.
    fn is_on_platters(&self) -> bool {
        let mount = self.facts.resolve(self.subject, Scope::Mount);
        let disks = mount
            .map(|mount| self.facts.disks(&mount))
            .unwrap_or_default();
        let turns = |disk: &Subject| {
            self.facts
                .value(disk, &device::MEDIUM)
                .is_some_and(Medium::turns)
        };
        disks.iter().any(turns)
    }
}

/// The source of a conclusion.
fn from(names: &[&str]) -> Source {
    Source::derived(names.iter().copied())
}

/// Both ends of a range of seconds, in microseconds.
fn ends(span: &Reading<Forecast>) -> (Reading<f64>, Reading<f64>) {
    (
        span.clone().map(|span| span.least * 1e6),
        span.clone().map(|span| span.most * 1e6),
    )
}
