//! Inserts the sizing of each server's log as facts. If a needed fact is unknown, the result is
//! unknown for the same reason.

mod mysql {
    use super::{
        ServerFacts, UnknownFact, derived_reading, least_and_most_in_micros, no_better_size,
        reading_from,
    };
    use crate::facts::catalog::cluster::{KIND, LogSizeFit};
    use crate::facts::catalog::mysql;
    use crate::facts::{FactSet, Reading, ServerKind, Subject, UnknownReason};
    use crate::sizing::Forecast;
    use crate::sizing::bytes_from_float;
    use crate::sizing::{MIN_COUNTED_SECONDS, RedoLogUsage};
    use crate::text;

    /// The largest `innodb_log_buffer_size` that is advised, in bytes.
    const MAX_LOG_BUFFER: u64 = 256 << 20;

    const SIZING_FACTS: [&str; 3] = [
        mysql::REDO_SIZE.name(),
        mysql::REDO_WRITTEN.name(),
        mysql::UPTIME.name(),
    ];

    pub fn derive_redo_facts(facts: &mut FactSet, cluster: &Subject) {
        let server = ServerFacts {
            facts,
            subject: cluster,
        };
        let size = server.redo_log_size_if_single_setting();
        let buffer = server.log_buffer_size_to_set();
        let counts = server.redo_log_usage();
        let rate = reading_from(&counts, &SIZING_FACTS, |counts| {
            Ok(bytes_from_float(counts.rate))
        });
        let lasts = reading_from(&counts, &SIZING_FACTS, |counts| {
            Ok(counts.seconds_to_fill_capacity() * 1e6)
        });
        let recovery = reading_from(&counts, &[mysql::CHECKPOINT_AGE.name()], |counts| {
            server.redo_recovery_forecast(counts)
        });
        let (least, most) = least_and_most_in_micros(&recovery);
        let fit = counts
            .as_ref()
            .map_or_else(UnknownFact::to_reading, |counts| server.redo_fit(counts));
        let wanted = reading_from(&counts, &SIZING_FACTS, |counts| {
            Ok(server.better_redo_size(counts)?.to_string())
        });
        let trade = reading_from(&counts, &SIZING_FACTS, |counts| {
            let size = server.better_redo_size(counts)?;
            Ok(server.redo_size_tradeoff(counts, size))
        });
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

    impl ServerFacts<'_> {
        /// Size of the redo log if a single setting decides it: one file since MariaDB 10.5, the
        /// capacity since MySQL 8.0.30. In earlier releases the size is the product of two
        /// settings.
        fn redo_log_size_if_single_setting(&self) -> Reading<u64> {
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
                        "{kind} {} has several redo log files; walwise does not read how many",
                        version.numeric_part()
                    );
                    return Err(UnknownFact(Reading::unknown(
                        UnknownReason::NotCollected,
                        detail,
                    )));
                }
                Ok((self.require(key)?, key.name()))
            };
            match size() {
                Ok((size, name)) => derived_reading(Ok(size), &[name]),
                Err(why) => why.to_reading(),
            }
        }

        fn redo_log_usage(&self) -> Result<RedoLogUsage, UnknownFact> {
            let capacity = match self.redo_log_size_if_single_setting() {
                Reading::Known { value, .. } => value,
                unknown @ Reading::Unknown { .. } => {
                    return Err(UnknownFact(unknown.into_unknown_reading()));
                }
            };
            let seconds = self.require(&mysql::UPTIME)? / 1e6;
            let written = self.require(&mysql::REDO_WRITTEN)?;
            let rate = written as f64 / seconds.max(1.0);
            Ok(RedoLogUsage {
                capacity,
                rate,
                seconds,
                age: self.value(&mysql::CHECKPOINT_AGE),
            })
        }

        fn redo_fit(&self, counts: &RedoLogUsage) -> Reading<LogSizeFit> {
            match counts.fit_and_better_capacity(self.log_free_bytes_for_growth()) {
                Some((fit, _)) => derived_reading(Ok(fit), &SIZING_FACTS),
                None if counts.seconds < MIN_COUNTED_SECONDS => {
                    Reading::ambiguous("the server has run for less than an hour")
                }
                None => self.enough_unless_free_space_unknown("redo log"),
            }
        }

        fn better_redo_size(&self, counts: &RedoLogUsage) -> Result<u64, UnknownFact> {
            let judged = counts.fit_and_better_capacity(self.log_free_bytes_for_growth());
            judged.and_then(|(_, size)| size).ok_or_else(no_better_size)
        }

        fn redo_size_tradeoff(&self, counts: &RedoLogUsage, size: u64) -> String {
            let then = RedoLogUsage {
                capacity: size,
                ..*counts
            };
            let lasts = |counts: &RedoLogUsage| {
                Forecast::between_unordered(
                    counts.seconds_to_fill_capacity(),
                    counts.seconds_to_fill_capacity(),
                )
                .duration_range_text()
            };
            format!(
                "{}: lasts {} at {}/s (average since the server started {} ago), instead of {} now; {}",
                text::format_bytes(size),
                lasts(&then),
                text::format_bytes(bytes_from_float(counts.rate)),
                Forecast::between_unordered(counts.seconds, counts.seconds).duration_range_text(),
                lasts(counts),
                match (
                    self.is_on_rotating_disk(),
                    RedoLogUsage::redo_recovery_seconds(size),
                    RedoLogUsage::redo_recovery_seconds(counts.capacity)
                ) {
                    (true, ..) => "recovery time on hard disks is unknown".to_owned(),
                    (false, then, now) => format!(
                        "crash recovery with a full log would take {} instead of {}",
                        then.duration_range_text(),
                        now.duration_range_text()
                    ),
                }
            )
        }

        fn redo_recovery_forecast(&self, counts: &RedoLogUsage) -> Result<Forecast, UnknownFact> {
            let detail = match (counts.age, self.is_on_rotating_disk()) {
                (Some(age), false) => return Ok(RedoLogUsage::redo_recovery_seconds(age)),
                (Some(_), true) => "replay was not measured on hard disks",
                (None, _) => "the server does not report its checkpoint age",
            };
            Err(UnknownFact(Reading::absent(detail)))
        }

        /// The size to set. Empty if no session has waited for the log buffer, or if it may not
        /// grow further.
        fn log_buffer_size_to_set(&self) -> Reading<String> {
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
            derived_reading(wanted(), &of)
        }
    }
}

use super::{
    Forecast, ServerFacts, UnknownFact, derive_retention_facts, derived_reading, no_better_size,
    reading_from,
};
use crate::facts::catalog::cluster::{self, LogSizeFit};
use crate::facts::catalog::{mount, postgres, probe};
use crate::facts::{FactSet, Reading, Scope, ServerKind, Subject, UnknownReason};
use crate::servers::{format_postgres_size, format_postgres_time};
use crate::sizing::bytes_from_float;
use crate::sizing::wal::{
    CheckpointSettings, MIN_CHECKPOINTS, WalRecordAndImageCounts, WalSizing, WalStatistics,
};
use crate::text;

pub fn derive_sizing_facts(facts: &mut FactSet) {
    let clusters: Vec<Subject> = facts.subjects_of_scope(Scope::Cluster).cloned().collect();
    for subject in clusters {
        match facts.value(&subject, &cluster::KIND) {
            Some(ServerKind::Postgres) => {
                derive_wal_facts(facts, &subject);
                derive_flush_facts(facts, &subject);
                derive_retention_facts(facts, &subject);
            }
            Some(ServerKind::Mysql | ServerKind::Mariadb) => {
                mysql::derive_redo_facts(facts, &subject);
            }
            None => {}
        }
    }
}

fn least_and_most_in_micros(span: &Reading<Forecast>) -> (Reading<f64>, Reading<f64>) {
    (
        span.clone().map(|span| span.least * 1e6),
        span.clone().map(|span| span.most * 1e6),
    )
}

/// A longer `checkpoint_timeout`, in seconds, whose trade-off against the present one becomes a
/// fact.
const LONGER_TIMEOUT: f64 = 900.0;
/// The shortest counting time, in seconds, whose average is representative.
const MIN_COUNTED_SECONDS: f64 = 60.0;

/// Largest value of `commit_delay` (PostgreSQL manual).
const MAX_COMMIT_DELAY_MICROS: f64 = 100e3;

const SIZING_FACTS: [&str; 6] = [
    postgres::WAL_MADE.name(),
    postgres::CHECKPOINTS_TIMED.name(),
    postgres::CHECKPOINTS_REQUESTED.name(),
    postgres::MAX_WAL_SIZE.name(),
    postgres::CHECKPOINT_TIMEOUT.name(),
    postgres::CHECKPOINT_TARGET.name(),
];

fn derive_wal_facts(facts: &mut FactSet, cluster: &Subject) {
    let server = ServerFacts {
        facts,
        subject: cluster,
    };
    let rate = derived_reading(
        server.average_wal_rate().map(bytes_from_float),
        &[postgres::WAL_MADE.name(), postgres::WAL_TIME.name()],
    );
    let sized = server.wal_sizing();
    let busy = reading_from(&sized, &SIZING_FACTS, |sizing| {
        Ok(bytes_from_float(sizing.busy.most))
    });
    let forced = reading_from(&sized, &SIZING_FACTS, |sizing| {
        Ok(sizing.forced_checkpoint_share() * 100.0)
    });
    let fit = sized
        .as_ref()
        .map_or_else(UnknownFact::to_reading, |sizing| server.wal_fit(sizing));
    let size = reading_from(&sized, &SIZING_FACTS, |sizing| {
        server.better_wal_size(sizing).map(format_postgres_size)
    });
    let trade = reading_from(&sized, &SIZING_FACTS, |sizing| {
        let size = server.better_wal_size(sizing)?;
        Ok(server.wal_size_tradeoff(sizing, size))
    });
    let recovery = reading_from(&sized, &SIZING_FACTS, |sizing| {
        server.wal_recovery_forecast(sizing)
    });
    let longer = reading_from(&sized, &SIZING_FACTS, |sizing| {
        Ok(server.checkpoint_timeout_tradeoff(sizing))
    });
    let (least, most) = least_and_most_in_micros(&recovery);
    facts.insert(cluster, &postgres::WAL_RATE, rate);
    facts.insert(cluster, &postgres::WAL_BUSY_RATE, busy);
    facts.insert(cluster, &postgres::CHECKPOINTS_FORCED, forced);
    facts.insert(cluster, &postgres::WAL_GROWTH, fit);
    facts.insert(cluster, &postgres::WAL_SIZE, size);
    facts.insert(cluster, &postgres::WAL_TRADE, trade);
    facts.insert(cluster, &postgres::RECOVERY_LEAST, least);
    facts.insert(cluster, &postgres::RECOVERY_MOST, most);
    facts.insert(cluster, &postgres::TIMEOUT_TRADE, longer);
}

fn derive_flush_facts(facts: &mut FactSet, cluster: &Subject) {
    let read = |subject| ServerFacts { facts, subject };
    let flush = || read(cluster).require(&postgres::WAL_FLUSH_MEAN);
    let half = flush().map(|micros| format!("{:.0}", (micros / 2.0).min(MAX_COMMIT_DELAY_MICROS)));
    let target = facts.applicable_subject(cluster, Scope::Target);
    let slowdown = flush().and_then(|flush| match &target {
        Some(target) => Ok(flush / read(target).require(&probe::COMMIT)?),
        None => Err(UnknownFact(Reading::absent(
            "the WAL's directory is unknown",
        ))),
    });
    let names = [postgres::WAL_FLUSH_MEAN.name(), probe::COMMIT.name()];
    let (half, slowdown) = (
        derived_reading(half, &names[..1]),
        derived_reading(slowdown, &names),
    );
    facts.insert(cluster, &postgres::HALF_FLUSH, half);
    facts.insert(cluster, &postgres::FLUSH_SLOWDOWN, slowdown);
}

impl ServerFacts<'_> {
    fn enough_unless_free_space_unknown(&self, log: &str) -> Reading<LogSizeFit> {
        let scope = mount::FREE.info.scope;
        match self.facts.applicable_subject(self.subject, scope) {
            Some(mount) => self
                .facts
                .get(&mount, &mount::FREE)
                .map(|_| LogSizeFit::Enough),
            None => Reading::unknown(
                UnknownReason::NotCollected,
                format!("the {log}'s file system is unknown"),
            ),
        }
    }

    /// WAL bytes per second, over all counted time or, failing that, since the last checkpoint.
    fn average_wal_rate(&self) -> Result<f64, UnknownFact> {
        // A standby has no WAL position of its own, so `WAL_RECENT` is unknown and no rate
        // results. Its counters exclude replayed WAL.
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
            let detail = "the server's WAL statistics cover less than a minute";
            UnknownFact(Reading::ambiguous(detail))
        })
    }

    fn wal_sizing(&self) -> Result<WalSizing, UnknownFact> {
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
            Some(WalRecordAndImageCounts {
                bytes: bytes as f64,
                records: records as f64,
                images: images as f64,
            })
        };
        let counts = WalStatistics {
            rate: self.average_wal_rate()?,
            contents: contents(),
            timed: self.require(&postgres::CHECKPOINTS_TIMED)?,
            requested: self.require(&postgres::CHECKPOINTS_REQUESTED)?,
            seconds: self.require(&postgres::CHECKPOINTS_TIME)? / 1e6,
        };
        WalSizing::new(settings, counts).ok_or_else(|| {
            let detail = format!("the server has counted fewer than {MIN_CHECKPOINTS} checkpoints");
            UnknownFact(Reading::ambiguous(detail))
        })
    }

    fn wal_fit(&self, sizing: &WalSizing) -> Reading<LogSizeFit> {
        match sizing.fit_and_better_max_wal_size(self.log_free_bytes_for_growth()) {
            Some((fit, _)) => derived_reading(Ok(fit), &SIZING_FACTS),
            None => self.enough_unless_free_space_unknown("WAL"),
        }
    }

    fn better_wal_size(&self, sizing: &WalSizing) -> Result<u64, UnknownFact> {
        let judged = sizing.fit_and_better_max_wal_size(self.log_free_bytes_for_growth());
        judged.and_then(|(_, size)| size).ok_or_else(no_better_size)
    }

    fn wal_recovery_forecast(&self, sizing: &WalSizing) -> Result<Forecast, UnknownFact> {
        let CheckpointSettings {
            max_wal_size,
            timeout,
            ..
        } = sizing.settings;
        let detail = match sizing.recovery_seconds_at_peak(max_wal_size, timeout) {
            _ if self.is_on_rotating_disk() => "replay was not measured on hard disks",
            Some(span) => return Ok(span),
            None => "this release does not count WAL records",
        };
        Err(UnknownFact(Reading::absent(detail)))
    }

    fn wal_size_tradeoff(&self, sizing: &WalSizing, size: u64) -> String {
        let timeout = sizing.settings.timeout;
        format!(
            "{}: a checkpoint every {} at {} of WAL (in busy periods{}); full-page images reduced by a factor of {}; {}",
            format_postgres_size(size),
            sizing
                .checkpoint_interval_at_peak(size)
                .duration_range_text(),
            peak_wal_rate_text(sizing),
            self.statistics_since_suffix(),
            sizing.full_page_image_reduction(size, timeout).ratio_text(),
            self.recovery_comparison_text(sizing, size, timeout),
        )
    }

    /// The trade-off of `LONGER_TIMEOUT`. Empty if the present timeout is not shorter, or if the
    /// file system has no room for the WAL.
    fn checkpoint_timeout_tradeoff(&self, sizing: &WalSizing) -> String {
        let needed = sizing.max_wal_size_for_timeout(LONGER_TIMEOUT);
        let has_room = self
            .log_free_bytes_for_growth()
            .is_some_and(|free| needed <= free / 2);
        if !(has_room && sizing.settings.timeout < LONGER_TIMEOUT) {
            return String::new();
        }
        format!(
            "{} needs max_wal_size = {} at {} of WAL (in busy periods{}); full-page images reduced by a factor of {}; {}",
            format_postgres_time(LONGER_TIMEOUT * 1e6),
            format_postgres_size(needed),
            peak_wal_rate_text(sizing),
            self.statistics_since_suffix(),
            sizing
                .full_page_image_reduction(needed, LONGER_TIMEOUT)
                .ratio_text(),
            self.recovery_comparison_text(sizing, needed, LONGER_TIMEOUT),
        )
    }

    fn statistics_since_suffix(&self) -> String {
        self.value(&postgres::WAL_SINCE)
            .map(|since| format!(" since {since}"))
            .unwrap_or_default()
    }

    /// Compares crash recovery with this `max_wal_size` and timeout to recovery with the present
    /// settings.
    fn recovery_comparison_text(&self, sizing: &WalSizing, size: u64, timeout: f64) -> String {
        let now = &sizing.settings;
        match (
            sizing.recovery_seconds_at_peak(size, timeout),
            sizing.recovery_seconds_at_peak(now.max_wal_size, now.timeout),
        ) {
            _ if self.is_on_rotating_disk() => "recovery time on hard disks is unknown".to_owned(),
            (Some(then), Some(now)) => {
                format!(
                    "crash recovery takes {} instead of {}",
                    then.duration_range_text(),
                    now.duration_range_text()
                )
            }
            _ => "recovery time is unknown".to_owned(),
        }
    }
}

fn peak_wal_rate_text(sizing: &WalSizing) -> String {
    let (least, most) = (
        text::format_bytes(bytes_from_float(sizing.busy.least)),
        text::format_bytes(bytes_from_float(sizing.busy.most)),
    );
    if least == most {
        format!("{most}/s")
    } else {
        format!("{least}/s to {most}/s")
    }
}

#[cfg(test)]
mod postgres_tests {
    use super::*;
    use crate::facts::catalog::cluster;
    use crate::facts::{ServerKind, Source};
    use crate::version::Version;

    fn facts_of_busy_server(free: Option<u64>, major: &str) -> (FactSet, Subject) {
        let (server, wal) = (Subject::cluster("/pg"), Subject::mount("/pg"));
        let mut facts = FactSet::default();
        let from = || Source::from_system_call("test");
        facts.set_fact_link(&server, &wal);
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
            facts.insert_known(&wal, &mount::FREE_PERCENT, 50.0, from());
            facts.insert_known(&wal, &mount::SIZE, free * 2, from());
        }
        derive_wal_facts(&mut facts, &server);
        (facts, server)
    }

    #[test]
    fn a_larger_size_is_advised_with_its_tradeoff() {
        let (facts, server) = facts_of_busy_server(Some(1 << 40), "16.4");
        assert_eq!(
            facts.value(&server, &postgres::WAL_GROWTH),
            Some(LogSizeFit::TooSmall)
        );
        assert_eq!(
            facts.value(&server, &postgres::WAL_SIZE).as_deref(),
            Some("8GB")
        );
        let trade = facts.value(&server, &postgres::WAL_TRADE).unwrap();
        let told = "8GB: a checkpoint every 5 min at 3 MiB/s to 7.4 MiB/s of WAL (in busy periods); full-page images reduced by a factor of 1 to 4.2; \
                    crash recovery takes";
        assert!(trade.starts_with(told), "{trade}");
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
    fn nothing_grows_on_a_nearly_full_file_system() {
        let (mut facts, server) = facts_of_busy_server(Some(1 << 40), "16.4");
        let full = Source::from_system_call("test");
        facts.insert_known(&Subject::mount("/pg"), &mount::FREE_PERCENT, 9.0, full);
        derive_wal_facts(&mut facts, &server);
        assert_eq!(
            facts.value(&server, &postgres::WAL_GROWTH),
            Some(LogSizeFit::NoRoom)
        );
        assert_eq!(facts.value(&server, &postgres::WAL_SIZE), None);
        assert_eq!(
            facts.value(&server, &postgres::TIMEOUT_TRADE).as_deref(),
            Some("")
        );
    }

    #[test]
    fn missing_facts_make_sizes_unknown() {
        let (facts, unknown_room) = facts_of_busy_server(None, "16.4");
        assert_eq!(facts.value(&unknown_room, &postgres::WAL_GROWTH), None);
        assert_eq!(facts.value(&unknown_room, &postgres::WAL_SIZE), None);
        let (mut facts, standby) = facts_of_busy_server(Some(1 << 40), "16.4");
        facts.insert(
            &standby,
            &postgres::WAL_RECENT,
            Reading::absent("a standby"),
        );
        derive_wal_facts(&mut facts, &standby);
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
    fn half_flush_is_capped_and_slowdown_needs_probe() {
        let (mut facts, server) = facts_of_busy_server(None, "16.4");
        let target = Subject::target("/pg/pg_wal");
        facts.set_fact_link(&server, &target);
        derive_flush_facts(&mut facts, &server);
        assert_eq!(facts.value(&server, &postgres::HALF_FLUSH), None);
        let from = || Source::from_system_call("test");
        facts.insert_known(&server, &postgres::WAL_FLUSH_MEAN, 4_321.0, from());
        derive_flush_facts(&mut facts, &server);
        let half = facts.value(&server, &postgres::HALF_FLUSH);
        assert_eq!(half.as_deref(), Some("2160"));
        assert_eq!(facts.value(&server, &postgres::FLUSH_SLOWDOWN), None);
        facts.insert_known(&target, &probe::COMMIT, 1_000.0, from());
        facts.insert_known(&server, &postgres::WAL_FLUSH_MEAN, 400_000.0, from());
        derive_flush_facts(&mut facts, &server);
        assert_eq!(facts.value(&server, &postgres::FLUSH_SLOWDOWN), Some(400.0));
        let half = facts.value(&server, &postgres::HALF_FLUSH);
        assert_eq!(half.as_deref(), Some("100000"));
    }

    #[test]
    fn recovery_time_is_unknown_without_record_counts() {
        let (mut facts, server) = facts_of_busy_server(Some(1 << 40), "16.4");
        facts.insert(&server, &postgres::WAL_RECORDS, Reading::absent("13"));
        derive_wal_facts(&mut facts, &server);
        let trade = facts.value(&server, &postgres::WAL_TRADE).unwrap();
        assert!(trade.ends_with("recovery time is unknown"), "{trade}");
        assert_eq!(facts.value(&server, &postgres::RECOVERY_MOST), None);
    }
}
