//! The queries to MariaDB 10.6 and later.
//!
//! Since 10.6, a committed session waits for its flush in the state `Updating status`
//! (MDEV-24341). With the binary log, it waits in the state `Commit`. A writing transaction
//! takes two transaction ids, one at its first write and one when it ends. Prepared statements
//! (`Execute`) and replication workers commit as queries do.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{
    CommitCounters, CommitSample, CommitWaits, OUT_OF_CONNECTIONS, QuerySchedule, SAMPLES,
    SamplerQuery, sum_squared_differences,
};
use crate::host::HostError;
use crate::host::live::conversation::{QuerySequence, malformed_answer_error};
use crate::text::bytes;

/// Values of `information_schema.PROCESSLIST.STATE` that count as a wait for a commit.
const COMMIT_STATES: &str = "'Commit', 'Commit_implicit', 'Updating status', 'Waiting for prior transaction to commit', \
     'Waiting for semi-sync ACK from slave', 'Waiting for semi-sync ACK from replica'";

const IDS_PER_TRANSACTION: u64 = 2;

/// Limit on the named values of one query; the queries return fewer.
const MAX_NUMBERS: usize = 16;

pub struct SamplerQueries<F> {
    schedule: QuerySchedule,
    /// Named values in the result of the current query; `None` for a value that is not a number.
    numbers: BTreeMap<Vec<u8>, Option<u64>>,
    /// Transactions prepared between the server's start and the first query.
    prepared_before: Option<u64>,
    /// Sessions that waited in each sample of the query.
    waiting: Vec<u32>,
    emit: F,
}

impl<F: FnMut(CommitSample) -> Result<(), HostError>> SamplerQueries<F> {
    pub fn new(schedule: QuerySchedule, emit: F) -> Self {
        Self {
            schedule,
            numbers: BTreeMap::new(),
            prepared_before: None,
            waiting: Vec::new(),
            emit,
        }
    }

    fn sample_from_rows(&mut self) -> Result<CommitSample, HostError> {
        let numbers = std::mem::take(&mut self.numbers);
        let number = |name: &str| {
            let number = numbers.get(name.as_bytes()).copied().flatten();
            number.ok_or_else(malformed_answer_error)
        };
        let time_us = self.schedule.current_begun_us;
        match self.schedule.current {
            Some(SamplerQuery::Waits) => {
                if number("is_privileged")? == 0 {
                    let says = "the connecting user lacks the PROCESS privilege";
                    return Err(HostError::denied(says));
                }
                let sessions = number("THREADS_CONNECTED")?;
                // MariaDB reserves one connection beyond `max_connections` for administrators,
                // which the sampler must not take.
                if sessions > number("max_connections")? {
                    return Err(HostError::failed(OUT_OF_CONNECTIONS));
                }
                let waiting = std::mem::take(&mut self.waiting);
                let prepared = number("COM_XA_PREPARE")?;
                let before = *self.prepared_before.get_or_insert(prepared);
                Ok(CommitSample::Waits(CommitWaits {
                    time_us,
                    next_xid: number("INNODB_MAX_TRX_ID")? / IDS_PER_TRANSACTION,
                    samples: waiting.len() as u64,
                    flush: waiting.iter().copied().map(u64::from).sum(),
                    squared_differences: sum_squared_differences(&waiting),
                    prepared: prepared.saturating_sub(before),
                    sessions,
                    ..CommitWaits::default()
                }))
            }
            Some(SamplerQuery::Counters) => Ok(CommitSample::Counters(CommitCounters {
                time_us,
                reset_age_s: number("UPTIME_SINCE_FLUSH_STATUS")?,
                rollbacks: number("HANDLER_ROLLBACK")?,
                wal_writes: number("INNODB_LOG_WRITES")?,
                buffers_full: number("INNODB_LOG_WAITS")?,
                ..CommitCounters::default()
            })),
            None => Err(malformed_answer_error()),
        }
    }
}

impl<F: FnMut(CommitSample) -> Result<(), HostError>> QuerySequence for SamplerQueries<F> {
    fn next_query(&mut self, _major: u64) -> Result<Option<String>, HostError> {
        let query = self.schedule.advance_to_next_query();
        Ok(query.map(|query| match query {
            SamplerQuery::Waits => waits_query(),
            SamplerQuery::Counters => COUNTERS_QUERY.to_owned(),
        }))
    }

    fn receive_row(&mut self, row: &[&[u8]]) -> Result<(), HostError> {
        let [name, value] = *row else {
            return Err(malformed_answer_error());
        };
        let number: Option<u64> = bytes::parse(value);
        match name {
            b"waiting" if self.waiting.len() < SAMPLES as usize => {
                let count = number.and_then(|count| u32::try_from(count).ok());
                self.waiting.push(count.ok_or_else(malformed_answer_error)?);
            }
            b"waiting" => return Err(malformed_answer_error()),
            b"end" => {
                let sample = self.sample_from_rows()?;
                self.schedule.mark_answered()?;
                return (self.emit)(sample);
            }
            _ if self.numbers.len() < MAX_NUMBERS => {
                self.numbers.insert(name.to_vec(), number);
            }
            _ => return Err(malformed_answer_error()),
        }
        Ok(())
    }

    fn time_limit(&self) -> Duration {
        self.schedule.time_limit()
    }
}

/// The parts of the UNION run in order, so a pause of random length precedes each sample.
fn waits_query() -> String {
    let sample = format!(
        " UNION ALL SELECT 'pause', SLEEP(0.02 + RAND() * 0.03) UNION ALL SELECT 'waiting', COUNT(*) \
         FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep' AND STATE IN ({COMMIT_STATES})"
    );
    format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
         WHERE VARIABLE_NAME IN ('INNODB_MAX_TRX_ID', 'THREADS_CONNECTED', 'COM_XA_PREPARE') \
         UNION ALL SELECT 'max_connections', @@max_connections \
         UNION ALL SELECT 'is_privileged', COUNT(*) FROM information_schema.USER_PRIVILEGES \
         WHERE PRIVILEGE_TYPE = 'PROCESS' AND REPLACE(GRANTEE, '\\'', '') = CURRENT_USER(){} \
         UNION ALL SELECT 'end', 1",
        sample.repeat(SAMPLES as usize)
    )
}

const COUNTERS_QUERY: &str = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
     WHERE VARIABLE_NAME IN ('HANDLER_ROLLBACK', 'INNODB_LOG_WRITES', 'INNODB_LOG_WAITS', \
     'UPTIME_SINCE_FLUSH_STATUS') UNION ALL SELECT 'end', 1";

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (&'a str, &'a str);

    fn feed_rows(results: &[&[Row<'_>]]) -> (Vec<CommitSample>, Result<(), HostError>) {
        let mut samples = Vec::new();
        let mut queries = SamplerQueries::new(QuerySchedule::new(60.0), |sample| {
            samples.push(super::super::with_zero_time(sample));
            Ok(())
        });
        let mut end = Ok(());
        for rows in results {
            assert!(queries.next_query(0).unwrap().is_some());
            for (name, value) in *rows {
                end = end.and_then(|()| queries.receive_row(&[name.as_bytes(), value.as_bytes()]));
            }
        }
        (samples, end)
    }

    const COUNTERS: &[Row<'_>] = &[
        ("HANDLER_ROLLBACK", "2"),
        ("INNODB_LOG_WRITES", "9"),
        ("INNODB_LOG_WAITS", "0"),
        ("UPTIME_SINCE_FLUSH_STATUS", "60"),
        ("end", "1"),
    ];

    const WAITS: &[Row<'_>] = &[
        ("INNODB_MAX_TRX_ID", "41"),
        ("max_connections", "5"),
        ("THREADS_CONNECTED", "5"),
        ("COM_XA_PREPARE", "6"),
        ("is_privileged", "1"),
        ("pause", "0"),
        ("waiting", "3"),
        ("pause", "0"),
        ("waiting", "1"),
        ("end", "1"),
    ];

    #[test]
    fn rows_become_samples() {
        let (samples, end) = feed_rows(&[COUNTERS, WAITS]);
        let counters = CommitCounters {
            reset_age_s: 60,
            rollbacks: 2,
            wal_writes: 9,
            ..CommitCounters::default()
        };
        let waits = CommitWaits {
            next_xid: 20,
            samples: 2,
            sessions: 5,
            flush: 4,
            squared_differences: 4,
            ..CommitWaits::default()
        };
        assert_eq!(end, Ok(()));
        assert_eq!(
            samples,
            [CommitSample::Counters(counters), CommitSample::Waits(waits)]
        );
    }

    #[test]
    fn sampler_stops_without_privilege_or_free_connection() {
        for (row, part) in [
            (("is_privileged", "0"), "PROCESS"),
            (("max_connections", "4"), "no free connections"),
            (("INNODB_MAX_TRX_ID", "many"), "malformed"),
        ] {
            let mut waits = WAITS.to_vec();
            waits.retain(|(name, _)| *name != row.0);
            waits.insert(0, row);
            let (samples, end) = feed_rows(&[COUNTERS, &waits]);
            assert!(
                end.unwrap_err().detail.contains(part) && samples.len() == 1,
                "{part}"
            );
        }
    }

    /// A count that the server does not report is neither zero nor carried over from the last
    /// query.
    #[test]
    fn a_missing_row_gives_no_sample() {
        for query in [COUNTERS, WAITS] {
            for at in 0..query.len() - 1 {
                let (name, _) = query[at];
                if matches!(name, "pause" | "waiting") {
                    continue;
                }
                let mut rows = query.to_vec();
                rows.remove(at);
                let first = if query == COUNTERS { &rows } else { COUNTERS };
                let (samples, end) = feed_rows(&[first, &rows]);
                let expected = usize::from(query == WAITS);
                assert!(end.is_err() && samples.len() == expected, "{name}");
            }
        }
    }
}
