//! WAL and checkpoint counters of a running server, and its settings about memory and WAL segments.
//! All are taken from the server's answer.
//!
//! Counters start at their last reset, by a user or a crash. Durations are differences between
//! times of the server's clock.

use jiff::Timestamp;

use super::server::{InactiveSlot, SettingsReply};
use super::settings::parse_size;
use crate::databases::unreported_counter;
use crate::facts::catalog::postgres::{self, HugePages, WalSyncMethod};
use crate::facts::{Choice as _, FactSet, Reading, Remedy, Subject, UnknownReason};
use crate::host::pg_settings_lines::counters::{
    ARCHIVE_FAILED, ARCHIVED, ARCHIVER_FAILING, BUFFERS_FULL, CHECKPOINT, CHECKPOINTS_SINCE, NOW,
    POSITION, REDO, REQUESTED, STANDBYS, TIMED, WAITING, WAL_BYTES, WAL_IMAGES, WAL_RECORDS,
    WAL_SINCE, WAL_SYNC_TIME, WAL_SYNCS, WAL_WRITE_TIME, WAL_WRITES,
};
use crate::text::display_safe;

/// The smallest number of flushes for which a mean is reported.
const MIN_FLUSHES: u64 = 100;

/// A server's answer. Without an answer every reading is unknown: absent if no server runs, else
/// denied, with the remedy.
pub struct ReplyReader<'a> {
    pub answer: Option<&'a SettingsReply>,
    pub running: &'a Reading<bool>,
    pub remedy: Option<Remedy>,
}

pub fn insert_counter_facts(facts: &mut FactSet, cluster: &Subject, told: &ReplyReader<'_>) {
    // Without `kB` a size counts bytes.
    let size = |name| told.parsed_setting(name, |value| parse_size(value, Some(1)));
    let slot = told.reading("replication slots", |answer| answer.inactive_slot.clone());
    // Without an inactive slot the sizes are 0.
    let slot_bytes =
        |field: fn(InactiveSlot) -> u64| slot.clone().map(|slot| slot.map_or(0, field));
    for (key, reading) in [
        (&postgres::WAL_BUFFERS, size("wal_buffers")),
        (&postgres::SHARED_BUFFERS, size("shared_buffers")),
        (&postgres::WAL_SEGMENT_SIZE, size("wal_segment_size")),
        (
            &postgres::MAX_CONNECTIONS,
            told.parsed_setting("max_connections", parse_integer),
        ),
        (&postgres::WAL_MADE, told.counter(WAL_BYTES)),
        (&postgres::WAL_RECORDS, told.counter(WAL_RECORDS)),
        (&postgres::WAL_IMAGES, told.counter(WAL_IMAGES)),
        (&postgres::WAL_BUFFERS_FULL, told.counter(BUFFERS_FULL)),
        (&postgres::CHECKPOINTS_TIMED, told.counter(TIMED)),
        (&postgres::CHECKPOINTS_REQUESTED, told.counter(REQUESTED)),
        (&postgres::ARCHIVE_FAILURES, told.counter(ARCHIVE_FAILED)),
        (
            &postgres::WAL_RECENT,
            told.counter_difference(POSITION, REDO),
        ),
        (
            &postgres::CONNECTED_STANDBYS,
            told.primary_only_counter(STANDBYS),
        ),
        (
            &postgres::WAITING_SESSIONS,
            told.primary_only_counter(WAITING),
        ),
        (
            &postgres::INACTIVE_SLOT_WAL,
            slot_bytes(|slot| slot.retained),
        ),
        (&postgres::SLOT_WAL, slot_bytes(|slot| slot.most_retained)),
    ] {
        facts.insert(cluster, key, reading);
    }
    let elapsed = |since| {
        let micros = told.counter_difference(NOW, since);
        micros.map(|micros| micros as f64)
    };
    for (key, reading) in [
        (&postgres::WAL_FLUSH_MEAN, told.mean_flush_micros()),
        (&postgres::WAL_TIME, elapsed(WAL_SINCE)),
        (&postgres::WAL_RECENT_TIME, elapsed(CHECKPOINT)),
        (&postgres::CHECKPOINTS_TIME, elapsed(CHECKPOINTS_SINCE)),
    ] {
        facts.insert(cluster, key, reading);
    }
    let slot_text = |field: fn(InactiveSlot) -> String| {
        slot.clone().and_then_reading(|slot, source| match slot {
            Some(slot) => Reading::known(field(slot), source),
            None => Reading::absent("no inactive slot retains WAL"),
        })
    };
    let day = |micros: u64| {
        let moment = i64::try_from(micros)
            .ok()
            .and_then(|micros| Timestamp::from_microsecond(micros).ok());
        let moment = moment.ok_or_else(|| format!("{micros} µs is not a valid time"))?;
        Ok(moment.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    let archived = match told.reported_value(ARCHIVED) {
        Reading::Known { value, .. } if value.is_empty() => {
            Reading::absent("no segment has been archived yet")
        }
        time => time.and_then(|micros| parse_integer(&micros).and_then(day)),
    };
    for (key, reading) in [
        (&postgres::INACTIVE_SLOT, slot_text(|slot| slot.name)),
        (
            &postgres::INACTIVE_SLOT_STATUS,
            slot_text(|slot| slot.status),
        ),
        (&postgres::WAL_SINCE, told.counter(WAL_SINCE).and_then(day)),
        (&postgres::LAST_ARCHIVED, archived),
    ] {
        facts.insert(cluster, key, reading);
    }
    let failing = told.reported_value(ARCHIVER_FAILING);
    let failing = failing.and_then(|word| match word.as_str() {
        "t" => Ok(true),
        "f" => Ok(false),
        other => Err(format!("`{other}` is neither t nor f")),
    });
    facts.insert(cluster, &postgres::ARCHIVER_FAILING, failing);
    let pages = told.parsed_setting("huge_pages_status", HugePages::parse_word);
    facts.insert(cluster, &postgres::HUGE_PAGES, pages);
}

impl ReplyReader<'_> {
    /// `read` gets the answer; without one, `what` is unknown.
    pub fn reading<T>(
        &self,
        what: &str,
        read: impl FnOnce(&SettingsReply) -> Reading<T>,
    ) -> Reading<T> {
        if let Some(answer) = self.answer {
            return read(answer);
        }
        if self.running.value() == Some(&false) {
            return Reading::absent(format!("only a running server reports {what}"));
        }
        Reading::Unknown {
            why: UnknownReason::Denied,
            detail: format!("the server did not report {what}"),
            remedy: self.remedy.clone(),
        }
    }

    fn counter(&self, name: &str) -> Reading<u64> {
        if name == POSITION && self.is_standby() {
            return Reading::absent("a standby generates no WAL: check its primary");
        }
        self.reported_value(name)
            .and_then(|value| parse_integer(&value))
    }

    /// The mean duration of a WAL flush in µs. With `open_datasync` and `open_sync`, each write is
    /// also a flush, so writes are counted.
    fn mean_flush_micros(&self) -> Reading<f64> {
        let method = self.parsed_setting("wal_sync_method", WalSyncMethod::parse_word);
        method.and_then_reading(|method, source| {
            let (count, time) = match method {
                WalSyncMethod::OpenDatasync | WalSyncMethod::OpenSync => {
                    (WAL_WRITES, WAL_WRITE_TIME)
                }
                WalSyncMethod::Fdatasync
                | WalSyncMethod::Fsync
                | WalSyncMethod::FsyncWritethrough => (WAL_SYNCS, WAL_SYNC_TIME),
            };
            self.counter(count).and_then_reading(|count, _| {
                if count < MIN_FLUSHES {
                    return Reading::absent(format!(
                        "the server has counted only {count} WAL flushes, too few for a mean"
                    ));
                }
                self.counter(time).and_then_reading(|time, _| match time {
                    0 => Reading::absent("track_wal_io_timing is off"),
                    time => Reading::known(time as f64 / count as f64, source),
                })
            })
        })
    }

    fn primary_only_counter(&self, name: &str) -> Reading<u64> {
        if self.is_standby() {
            return Reading::absent("sessions do not commit on a standby: check its primary");
        }
        match self.reported_value(name) {
            Reading::Known { value, .. } if value.is_empty() => {
                Reading::denied("the role with which walwise connects lacks pg_read_all_stats")
            }
            text => text.and_then(|value| parse_integer(&value)),
        }
    }

    fn is_standby(&self) -> bool {
        let position = self
            .answer
            .and_then(|answer| answer.setting_reading(POSITION));
        position.is_some_and(|position| position.value().is_some_and(Vec::is_empty))
    }

    fn reported_value(&self, name: &str) -> Reading<String> {
        let what = name.trim_matches(['(', ')']);
        self.reading(what, |answer| match answer.setting_reading(name) {
            Some(told) => told.map(|value| display_safe(&value)),
            None => unreported_counter(what, answer.setting_reading(NOW).is_some()),
        })
    }

    fn counter_difference(&self, last: &str, first: &str) -> Reading<u64> {
        self.counter(last).and_then_reading(|last, source| {
            self.counter(first).and_then_reading(|first, _| {
                Reading::known(last, source).and_then(|last| {
                    last.checked_sub(first)
                        .ok_or_else(|| format!("the value went backwards, from {first} to {last}"))
                })
            })
        })
    }

    fn parsed_setting<T>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Reading<T> {
        self.reading(name, |answer| match answer.setting_reading(name) {
            Some(told) => told.and_then(|value| parse(&display_safe(&value))),
            None => Reading::absent(format!("the server does not report {name}")),
        })
    }
}

fn parse_integer(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::databases::postgres::server::query_settings;
    use crate::facts::{FactValue, Key, Source};
    use crate::host::Question;
    use crate::testing::FakeHost;

    fn counter_value<T: FactValue>(text: &str, key: &Key<T>) -> Result<T, (UnknownReason, String)> {
        let socket = Path::new("/run/.s.PGSQL.5432");
        let answer = query_settings(
            &FakeHost::default().with_answer(Question::PgSettings(socket.into()), text),
            socket,
        );
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/pg"));
        let running = Reading::known(true, Source::from_system_call("test"));
        let told = ReplyReader {
            answer: answer.as_ref(),
            running: &running,
            remedy: None,
        };
        insert_counter_facts(&mut facts, &cluster, &told);
        match facts.get(&cluster, key) {
            Reading::Known { value, .. } => Ok(value),
            Reading::Unknown { why, detail, .. } => Err((why, detail)),
        }
    }

    const BUSY: &str = "server_version\t16.4\t\tdefault\t\t\nwal_buffers\t512\t8kB\tdefault\t\t\n\
        wal_segment_size\t16777216\tB\tdefault\t\t\n(now)\t1795700000000000\n(wal_position)\t5000\n(redo_position)\t2000\n\
        (checkpoint_time)\t1795699940000000\n(wal_bytes)\t900\n(wal_stats_reset)\t1795613600000000\n";

    #[test]
    fn counters_and_sizes_become_facts() {
        assert_eq!(counter_value(BUSY, &postgres::WAL_BUFFERS), Ok(4 << 20));
        assert_eq!(
            counter_value(BUSY, &postgres::WAL_SEGMENT_SIZE),
            Ok(16 << 20)
        );
        assert_eq!(counter_value(BUSY, &postgres::WAL_MADE), Ok(900));
        assert_eq!(counter_value(BUSY, &postgres::WAL_TIME), Ok(86_400e6));
        assert_eq!(
            counter_value(BUSY, &postgres::WAL_SINCE).as_deref(),
            Ok("2026-11-25 13:33 UTC")
        );
        assert_eq!(counter_value(BUSY, &postgres::WAL_RECENT), Ok(3000));
        assert_eq!(counter_value(BUSY, &postgres::WAL_RECENT_TIME), Ok(60e6));
    }

    #[test]
    fn mean_flush_uses_sync_method_and_needs_io_timing() {
        let with = |method: &str, more: &str| {
            let text = format!("{BUSY}wal_sync_method\t{method}\t\tdefault\t\t\n{more}");
            counter_value(&text, &postgres::WAL_FLUSH_MEAN).map_err(|(why, _)| why)
        };
        let counted =
            "(wal_sync)\t200\n(wal_write)\t400\n(wal_sync_time)\t380000\n(wal_write_time)\t40000\n";
        assert_eq!(with("fdatasync", counted), Ok(1_900.0));
        assert_eq!(with("open_datasync", counted), Ok(100.0));
        for other in [
            counted.replace("\t380000", "\t0"),
            counted.replace("\t200", "\t99"),
            String::new(),
        ] {
            assert_eq!(
                with("fdatasync", &other),
                Err(UnknownReason::Absent),
                "{other}"
            );
        }
    }

    #[test]
    fn missing_counters_give_reason() {
        let why = |text: &str| counter_value(text, &postgres::WAL_RECENT).unwrap_err();
        assert_eq!(
            counter_value(BUSY, &postgres::WAL_IMAGES).unwrap_err().0,
            UnknownReason::Absent,
            "13 does not count it"
        );
        let standby = BUSY.replace("(wal_position)\t5000", "(wal_position)\t");
        assert_eq!(
            why(&standby),
            (
                UnknownReason::Absent,
                "a standby generates no WAL: check its primary".to_owned()
            )
        );
        assert_eq!(
            why("fsync\ton\t\tdefault\t\t\n").0,
            UnknownReason::NotCollected,
            "an older capture"
        );
        assert_eq!(
            why(&BUSY.replace("\t5000", "\tmany")).0,
            UnknownReason::Malformed
        );
        assert_eq!(
            why(&BUSY.replace("\t5000", "\t1000")).0,
            UnknownReason::Malformed,
            "time runs forwards"
        );
        assert_eq!(why("").0, UnknownReason::Denied, "no server answered");
    }
}
