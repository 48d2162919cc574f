//! The queries to MariaDB 10.6 and later.
//!
//! Since 10.6, a session that has committed leaves the commit with the state `Updating status`, and
//! waits there for its flush (MDEV-24341); with the binary log, it waits with the state `Commit`.
//! A transaction that writes takes two ids, one when it starts to write and one when it ends.

use std::time::Duration;

use super::{
    CommitCounters, CommitSample, CommitWaits, OUT_OF_CONNECTIONS, QuerySchedule, SAMPLES,
    SamplerQuery, malformed, squared_differences,
};
use crate::host::HostError;
use crate::host::live::mysql::QuerySequence;

/// States of a session that waits for its commit.
const COMMIT_STATES: &str =
    "'Commit', 'Commit_implicit', 'Updating status', 'Waiting for prior transaction to commit'";

const IDS_PER_TRANSACTION: u64 = 2;

pub struct SamplerQueries<F> {
    schedule: QuerySchedule,
    waits: CommitWaits,
    counters: CommitCounters,
    /// Prepared transactions since the server's start, at the first query.
    prepared_before: Option<u64>,
    /// Sessions that waited in each sample of the query.
    waiting: Vec<u32>,
    emit: F,
}

impl<F: FnMut(CommitSample) -> Result<(), HostError>> SamplerQueries<F> {
    pub fn new(schedule: QuerySchedule, emit: F) -> Self {
        Self {
            schedule,
            waits: CommitWaits::default(),
            counters: CommitCounters::default(),
            prepared_before: None,
            waiting: Vec::new(),
            emit,
        }
    }
}

impl<F: FnMut(CommitSample) -> Result<(), HostError>> QuerySequence for SamplerQueries<F> {
    fn next_query(&mut self) -> Option<String> {
        self.schedule.advance().map(|query| match query {
            SamplerQuery::Waits => waits_query(),
            SamplerQuery::Counters => counters_query(),
        })
    }

    fn handle_row(&mut self, name: &[u8], value: &[u8]) -> Result<(), HostError> {
        let number = std::str::from_utf8(value)
            .ok()
            .and_then(|text| text.parse::<u64>().ok());
        let required = || number.ok_or_else(malformed);
        match name {
            b"time" => {
                self.waits.time_us = required()?;
                self.counters.time_us = required()?;
            }
            b"is_privileged" if number == Some(0) => {
                let says = "the user that connects lacks the privilege PROCESS";
                return Err(HostError::denied(says));
            }
            b"free_connections" if number.is_none_or(|free| free == 0) => {
                return Err(HostError::failed(OUT_OF_CONNECTIONS));
            }
            b"ids" => self.waits.next_xid = required()? / IDS_PER_TRANSACTION,
            b"waiting" if self.waiting.len() < SAMPLES as usize => {
                let count = u32::try_from(required()?).map_err(|_| malformed())?;
                self.waiting.push(count);
            }
            b"waiting" => return Err(malformed()),
            b"COM_XA_PREPARE" => {
                let all = required()?;
                let before = *self.prepared_before.get_or_insert(all);
                self.waits.prepared = all.saturating_sub(before);
            }
            b"HANDLER_ROLLBACK" => self.counters.rollbacks = number,
            b"INNODB_LOG_WRITES" => self.counters.wal_syncs = number,
            b"INNODB_LOG_WAITS" => self.counters.buffers_full = number,
            b"end" => {
                let sample = match self.schedule.current {
                    Some(SamplerQuery::Waits) => {
                        let waiting = std::mem::take(&mut self.waiting);
                        CommitSample::Waits(CommitWaits {
                            samples: waiting.len() as u64,
                            flush: waiting.iter().copied().map(u64::from).sum(),
                            squared_differences: squared_differences(&waiting),
                            ..self.waits.clone()
                        })
                    }
                    Some(SamplerQuery::Counters) => CommitSample::Counters(self.counters.clone()),
                    None => return Err(malformed()),
                };
                self.schedule.record_answer()?;
                return (self.emit)(sample);
            }
            _ => {}
        }
        Ok(())
    }

    fn handle_refusal(&mut self, error: String) -> Result<(), HostError> {
        Err(HostError::denied(error))
    }

    fn take_answer(&mut self) -> Option<Vec<u8>> {
        None
    }

    fn deadline(&self) -> Duration {
        self.schedule.deadline()
    }
}

fn status_query(names: &str) -> String {
    format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
         WHERE VARIABLE_NAME IN ({names})"
    )
}

const TIME_QUERY: &str =
    "SELECT 'time', CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS UNSIGNED) UNION ALL ";

/// Builds the query for [`CommitWaits`]. The parts of the union run in order, so that a pause of
/// random length precedes each sample.
fn waits_query() -> String {
    let sample = format!(
        " UNION ALL SELECT 'pause', SLEEP(0.015 + RAND() * 0.02) UNION ALL SELECT 'waiting', COUNT(*) \
         FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query' AND STATE IN ({COMMIT_STATES})"
    );
    format!(
        "{TIME_QUERY}SELECT IF(VARIABLE_NAME = 'INNODB_MAX_TRX_ID', 'ids', \
         IF(VARIABLE_NAME = 'THREADS_CONNECTED', 'free_connections', VARIABLE_NAME)), \
         IF(VARIABLE_NAME = 'THREADS_CONNECTED', @@max_connections + 1 > VARIABLE_VALUE, VARIABLE_VALUE) \
         FROM information_schema.GLOBAL_STATUS \
         WHERE VARIABLE_NAME IN ('INNODB_MAX_TRX_ID', 'THREADS_CONNECTED', 'COM_XA_PREPARE') \
         UNION ALL SELECT 'is_privileged', COUNT(*) FROM information_schema.USER_PRIVILEGES \
         WHERE PRIVILEGE_TYPE = 'PROCESS' AND REPLACE(GRANTEE, '\\'', '') = CURRENT_USER(){} \
         UNION ALL SELECT 'end', 1",
        sample.repeat(SAMPLES as usize)
    )
}

/// Builds the query for [`CommitCounters`].
fn counters_query() -> String {
    let status = status_query("'HANDLER_ROLLBACK', 'INNODB_LOG_WRITES', 'INNODB_LOG_WAITS'");
    format!("{TIME_QUERY}{status} UNION ALL SELECT 'end', 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (&'a str, &'a str);

    fn run(results: &[&[Row<'_>]]) -> (Vec<CommitSample>, Result<(), HostError>) {
        let mut samples = Vec::new();
        let mut queries = SamplerQueries::new(QuerySchedule::new(60.0), |sample| {
            samples.push(sample);
            Ok(())
        });
        let mut end = Ok(());
        for rows in results {
            assert!(queries.next_query().is_some());
            for (name, value) in *rows {
                end = end.and_then(|()| queries.handle_row(name.as_bytes(), value.as_bytes()));
            }
        }
        (samples, end)
    }

    const COUNTERS: &[Row<'_>] = &[
        ("time", "5"),
        ("HANDLER_ROLLBACK", "2"),
        ("INNODB_LOG_WRITES", "9"),
        ("end", "1"),
    ];

    #[test]
    fn rows_become_samples() {
        let waits: &[Row<'_>] = &[
            ("time", "7"),
            ("ids", "41"),
            ("free_connections", "1"),
            ("COM_XA_PREPARE", "6"),
            ("is_privileged", "1"),
            ("pause", "0"),
            ("waiting", "3"),
            ("pause", "0"),
            ("waiting", "1"),
            ("end", "1"),
        ];
        let (samples, end) = run(&[COUNTERS, waits]);
        let counters = CommitCounters {
            time_us: 5,
            rollbacks: Some(2),
            wal_syncs: Some(9),
            ..CommitCounters::default()
        };
        let waits = CommitWaits {
            time_us: 7,
            next_xid: 20,
            samples: 2,
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
    fn the_sampler_leaves_where_it_sees_nothing_or_takes_the_last_connection() {
        for (row, part) in [
            (("is_privileged", "0"), "PROCESS"),
            (("free_connections", "0"), "out of connections"),
            (("ids", "many"), "malformed"),
        ] {
            let (samples, end) = run(&[COUNTERS, &[row, ("end", "1")]]);
            assert!(
                end.unwrap_err().detail.contains(part) && samples.len() == 1,
                "{part}"
            );
        }
    }
}
