//! What a running server counts of its WAL and its checkpoints, with the memory and the segments
//! that it writes them from and to: all from its own answer, since no file holds it.
//!
//! Counters begin at the moment at which they were last reset, by somebody or by a crash. Times are
//! differences of the server's own clock. What follows from them is left to `sizing`.

use jiff::Timestamp;

use super::server::SettingsReply;
use crate::facts::catalog::postgres;
use crate::facts::{FactSet, Key, Reading, Subject, Why};
use crate::host::pg_lines::counters::{
    BUFFERS_FULL, CHECKPOINT, CHECKPOINTS_SINCE, NOW, POSITION, REDO, REQUESTED, TIMED, WAL_BYTES,
    WAL_IMAGES, WAL_RECORDS, WAL_SINCE,
};

/// Records all of it; `unsaid` is the reason where no server answered.
pub fn put(
    facts: &mut FactSet,
    cluster: &Subject,
    answer: Option<&SettingsReply>,
    unsaid: &dyn Fn(&str) -> Reading<u64>,
) {
    let told = Told { answer, unsaid };
    let mut put = |key: &Key<u64>, reading: Reading<u64>| facts.put(cluster, key, reading);
    put(&postgres::WAL_BUFFERS, told.size("wal_buffers"));
    put(&postgres::SHARED_BUFFERS, told.size("shared_buffers"));
    put(&postgres::WAL_SEGMENT_SIZE, told.size("wal_segment_size"));
    put(&postgres::WAL_MADE, told.count(WAL_BYTES));
    put(&postgres::WAL_RECORDS, told.count(WAL_RECORDS));
    put(&postgres::WAL_IMAGES, told.count(WAL_IMAGES));
    put(&postgres::WAL_BUFFERS_FULL, told.count(BUFFERS_FULL));
    put(&postgres::WAL_RECENT, told.between(POSITION, REDO));
    put(&postgres::CHECKPOINTS_TIMED, told.count(TIMED));
    put(&postgres::CHECKPOINTS_REQUESTED, told.count(REQUESTED));
    for (key, since) in [
        (&postgres::WAL_TIME, WAL_SINCE),
        (&postgres::WAL_RECENT_TIME, CHECKPOINT),
        (&postgres::CHECKPOINTS_TIME, CHECKPOINTS_SINCE),
    ] {
        facts.put(
            cluster,
            key,
            told.between(NOW, since).map(|micros| micros as f64),
        );
    }
    let day = |micros| {
        let moment = i64::try_from(micros)
            .ok()
            .and_then(|micros| Timestamp::from_microsecond(micros).ok());
        let moment = moment.ok_or_else(|| format!("{micros} microseconds are no moment"))?;
        Ok(moment.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    facts.put(
        cluster,
        &postgres::WAL_SINCE,
        told.count(WAL_SINCE).and_then(day),
    );
}

/// The answer, or the reason why there is none.
struct Told<'a> {
    answer: Option<&'a SettingsReply>,
    unsaid: &'a dyn Fn(&str) -> Reading<u64>,
}

impl Told<'_> {
    fn count(&self, name: &str) -> Reading<u64> {
        let what = name.trim_matches(['(', ')']);
        let Some(answer) = self.answer else {
            return (self.unsaid)(what);
        };
        match (answer.get(name), answer.get(NOW)) {
            (Some(Reading::Known { value, .. }), _) if name == POSITION && value.is_empty() => {
                Reading::unknown(
                    Why::Absent,
                    "a standby makes no WAL of its own: ask its primary",
                )
            }
            (Some(told), _) => told.and_then(|value| whole(&value)),
            (None, Some(_)) => {
                Reading::unknown(Why::Absent, format!("this release does not count {what}"))
            }
            (None, None) => Reading::unknown(
                Why::NotCollected,
                format!("the answer to hand holds no counters, and so no {what}"),
            ),
        }
    }

    /// How much the first is more than the second.
    fn between(&self, last: &str, first: &str) -> Reading<u64> {
        match (self.count(last), self.count(first)) {
            (
                Reading::Known {
                    value: last,
                    source,
                },
                Reading::Known { value: first, .. },
            ) => {
                let more = |()| {
                    last.checked_sub(first)
                        .ok_or_else(|| format!("{last} is less than {first}"))
                };
                Reading::known((), source).and_then(more)
            }
            (unknown @ Reading::Unknown { .. }, _) | (_, unknown) => unknown,
        }
    }

    /// A size in kilobytes, or in bytes where the server names no larger unit.
    fn size(&self, name: &str) -> Reading<u64> {
        let Some(answer) = self.answer else {
            return (self.unsaid)(name);
        };
        match answer.get(name) {
            Some(told) => told.and_then(|value| match value.strip_suffix(b"kB") {
                Some(number) => whole(number)?
                    .checked_mul(1024)
                    .ok_or_else(|| "more than there can be".to_owned()),
                None => whole(&value),
            }),
            None => Reading::unknown(Why::Absent, format!("the server does not say {name}")),
        }
    }
}

fn whole(text: &[u8]) -> Result<u64, String> {
    let text = String::from_utf8_lossy(text);
    text.parse()
        .map_err(|_| format!("`{}` is no number", crate::text::safe(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::databases::postgres::server::ask;
    use crate::facts::FactValue;
    use crate::host::Question;
    use crate::testing::Fake;

    fn told<T: FactValue>(text: &str, key: &Key<T>) -> Result<T, (Why, String)> {
        let socket = Path::new("/run/.s.PGSQL.5432");
        let answer = ask(
            &Fake::default().answer(Question::PgSettings(socket.into()), text),
            socket,
        );
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/pg"));
        put(&mut facts, &cluster, answer.as_ref(), &|what| {
            Reading::unknown(Why::Denied, what)
        });
        match facts.get(&cluster, key) {
            Reading::Known { value, .. } => Ok(value),
            Reading::Unknown { why, detail, .. } => Err((why, detail)),
        }
    }

    const BUSY: &str = "server_version\t16.4\t\tdefault\t\t\nwal_buffers\t512\t8kB\tdefault\t\t\n\
        wal_segment_size\t16777216\tB\tdefault\t\t\n(now)\t1795700000000000\n(wal_position)\t5000\n(redo_position)\t2000\n\
        (checkpoint_time)\t1795699940000000\n(wal_bytes)\t900\n(wal_stats_reset)\t1795613600000000\n";

    #[test]
    fn counters_are_counted_from_a_moment_that_is_told() {
        assert_eq!(told(BUSY, &postgres::WAL_BUFFERS), Ok(4 << 20));
        assert_eq!(told(BUSY, &postgres::WAL_SEGMENT_SIZE), Ok(16 << 20));
        assert_eq!(told(BUSY, &postgres::WAL_MADE), Ok(900));
        assert_eq!(told(BUSY, &postgres::WAL_TIME), Ok(86_400e6));
        assert_eq!(
            told(BUSY, &postgres::WAL_SINCE).as_deref(),
            Ok("2026-11-25 13:33 UTC")
        );
        assert_eq!(told(BUSY, &postgres::WAL_RECENT), Ok(3000));
        assert_eq!(told(BUSY, &postgres::WAL_RECENT_TIME), Ok(60e6));
    }

    #[test]
    fn what_is_not_counted_says_why() {
        let why = |text: &str| told(text, &postgres::WAL_RECENT).unwrap_err();
        assert_eq!(
            told(BUSY, &postgres::WAL_IMAGES).unwrap_err().0,
            Why::Absent,
            "13 does not count it"
        );
        let standby = BUSY.replace("(wal_position)\t5000", "(wal_position)\t");
        assert_eq!(
            why(&standby),
            (
                Why::Absent,
                "a standby makes no WAL of its own: ask its primary".to_owned()
            )
        );
        assert_eq!(
            why("fsync\ton\t\tdefault\t\t\n").0,
            Why::NotCollected,
            "an older capture"
        );
        assert_eq!(why(&BUSY.replace("\t5000", "\tmany")).0, Why::Malformed);
        assert_eq!(
            why(&BUSY.replace("\t5000", "\t1000")).0,
            Why::Malformed,
            "time runs forwards"
        );
        assert_eq!(why("").0, Why::Denied, "no server answered");
    }
}
