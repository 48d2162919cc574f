//! The queries to PostgreSQL 14 and later.

use std::time::Duration;

use super::{
    CommitCounters, CommitSample, CommitWaits, OUT_OF_CONNECTIONS, QuerySchedule, SAMPLES,
    SamplerQuery, reject_impossible_wait_counts, sum_squared_differences,
};
use crate::host::HostError;
use crate::host::live::conversation::{QuerySequence, malformed_answer_error};
use crate::text::bytes;

/// First release with `pg_stat_wal`: WAL flushes, and writes forced by full WAL buffers.
/// Subtransactions are counted since release 13, so each supported release has them.
const OLDEST_MAJOR: u64 = 14;

/// Statement timeout in ms, far longer than a query takes: on a server short of processors, the
/// pauses between samples become longer.
pub const STATEMENT_TIMEOUT_MS: &str = "6000";

pub struct SamplerQueries<F> {
    schedule: QuerySchedule,
    emit: F,
}

impl<F: FnMut(CommitSample) -> Result<(), HostError>> SamplerQueries<F> {
    pub fn new(schedule: QuerySchedule, emit: F) -> Self {
        Self { schedule, emit }
    }

    fn parse_sample(&self, row: &[&[u8]]) -> Result<CommitSample, HostError> {
        let number = |at: usize| -> Option<u64> { bytes::parse(row.get(at)?) };
        match self.schedule.current {
            Some(SamplerQuery::Waits) => {
                if row.get(7) == Some(&b"f".as_slice()) {
                    let says = "the connecting role lacks pg_read_all_stats";
                    return Err(HostError::denied(says));
                }
                if row.get(8) == Some(&b"t".as_slice()) {
                    let says = "a standby does not commit transactions; measure its primary";
                    return Err(HostError::failed(says));
                }
                if row.get(9) == Some(&b"f".as_slice()) {
                    return Err(HostError::failed(OUT_OF_CONNECTIONS));
                }
                let all = || {
                    Some(CommitWaits {
                        time_us: self.schedule.current_begun_us,
                        next_xid: number(0)?,
                        samples: number(1)?,
                        turn: number(2)?,
                        flush: number(3)?,
                        standby: number(4)?,
                        squared_differences: sum_squared_differences(&parse_number_list(
                            row.get(10)?,
                        )?),
                        background: number(5)?,
                        prepared: number(6)?,
                        sessions: number(11)?,
                        flushes: number(12)?.saturating_sub(1),
                    })
                };
                let waits =
                    reject_impossible_wait_counts(all().ok_or_else(malformed_answer_error)?)?;
                Ok(CommitSample::Waits(waits))
            }
            Some(SamplerQuery::Counters) => {
                let all = || {
                    Some(CommitCounters {
                        time_us: self.schedule.current_begun_us,
                        reset_age_s: number(0)?,
                        commits: Some(number(1)?),
                        rollbacks: number(2)?,
                        subtransactions: number(3)?,
                        wal_writes: number(4)?,
                        wal_syncs: Some(number(5)?),
                        buffers_full: number(6)?,
                        commit_delay: number(7)?,
                        asynchronous_subscriptions: number(8)?,
                    })
                };
                all()
                    .map(CommitSample::Counters)
                    .ok_or_else(malformed_answer_error)
            }
            None => Err(malformed_answer_error()),
        }
    }
}

impl<F: FnMut(CommitSample) -> Result<(), HostError>> QuerySequence for SamplerQueries<F> {
    fn next_query(&mut self, major: u64) -> Result<Option<String>, HostError> {
        if major < OLDEST_MAJOR {
            return Err(HostError::failed(format!(
                "PostgreSQL releases before {OLDEST_MAJOR} do not count WAL flushes"
            )));
        }
        let query = self.schedule.advance_to_next_query();
        Ok(query.map(|query| match query {
            SamplerQuery::Waits => waits_query(),
            SamplerQuery::Counters => counters_query(major),
        }))
    }

    fn receive_row(&mut self, row: &[&[u8]]) -> Result<(), HostError> {
        let sample = self.parse_sample(row)?;
        self.schedule.mark_answered()?;
        (self.emit)(sample)
    }

    fn time_limit(&self) -> Duration {
        self.schedule.time_limit()
    }
}

fn parse_number_list(list: &[u8]) -> Option<Vec<u32>> {
    list.split(|b| *b == b' ').map(bytes::parse).collect()
}

/// Builds the query for [`CommitWaits`]. The pauses between samples are random, so that samples do
/// not coincide with periodic work of the server. The argument of `pg_stat_get_activity` depends on
/// the pause and the sample number, so that the plan node Memoize reuses no result. The statistics
/// snapshot is cleared because a cached one does not list new sessions. Whatever is connected to a
/// database commits: clients, the apply workers of subscriptions, and other background workers.
///
/// PostgreSQL 17 renamed the events to `WalWrite` and `WalSync` (PostgreSQL manual, *wait events*).
fn waits_query() -> String {
    format!(
        "SELECT txid_snapshot_xmax(txid_current_snapshot())::text, count(*)::text, \
         sum(turn)::text, sum(flush)::text, sum(standby)::text, sum(background)::text, \
         (SELECT count(*)::text FROM pg_catalog.pg_prepared_xacts), \
         pg_has_role('pg_read_all_stats', 'USAGE')::text::char(1), pg_is_in_recovery()::text::char(1), \
         (current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
          - coalesce(current_setting('reserved_connections', true)::int, 0) > (SELECT count(*) \
          FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' \
          AND pid <> pg_backend_pid()))::text::char(1), \
         string_agg((turn + flush + standby)::text, ' ' ORDER BY number), \
         (SELECT sum(numbackends)::text FROM pg_catalog.pg_stat_database), count(DISTINCT position)::text \
         FROM generate_series(1, {SAMPLES}) AS number, \
         LATERAL (SELECT pg_sleep(0.02 + random() * 0.03 + 0 * number)::text AS pause, \
           pg_stat_clear_snapshot()::text AS cleared OFFSET 0) AS paused, \
         LATERAL (SELECT CASE WHEN pause || cleared || number IS NOT NULL AND NOT pg_is_in_recovery() \
           THEN pg_current_wal_flush_lsn() END AS position OFFSET 0) AS wal, \
         LATERAL (SELECT \
           count(*) FILTER (WHERE is_session AND type = 'LWLock' AND event = 'walwrite') AS turn, \
           count(*) FILTER (WHERE is_session AND type = 'IO' AND event IN ('walsync', 'walwrite')) AS flush, \
           count(*) FILTER (WHERE is_session AND event = 'syncrep') AS standby, \
           count(*) FILTER (WHERE NOT is_session AND type = 'IO' AND event IN ('walsync', 'walwrite')) AS background \
           FROM (SELECT datid IS NOT NULL AS is_session, wait_event_type AS type, \
                 lower(wait_event) AS event \
                 FROM pg_stat_get_activity(CASE WHEN pause || cleared || number IS NULL THEN 0 END)) AS process) AS waits\0"
    )
}

fn counters_query(major: u64) -> String {
    // PostgreSQL 18 moved the counts of writes and flushes from `pg_stat_wal` to `pg_stat_io`.
    let (writes, syncs, table) = match major {
        18.. => (
            "sum(writes)",
            "sum(fsyncs)",
            "pg_stat_io WHERE object = 'wal'",
        ),
        _ => ("wal_write", "wal_sync", "pg_stat_wal"),
    };
    let resets = ["pg_stat_database", "pg_stat_slru", "pg_stat_wal", table]
        .map(|table| format!("(SELECT max(stats_reset) FROM pg_catalog.{table})"))
        .join(", ");
    format!(
        "SELECT greatest(0, trunc(extract(epoch FROM statement_timestamp() \
         - coalesce(greatest({resets}), pg_postmaster_start_time()))))::bigint::text, \
         sum(xact_commit)::text, sum(xact_rollback)::text, \
         (SELECT sum(blks_hit)::text FROM pg_catalog.pg_stat_slru \
         WHERE lower(name) IN ('subtrans', 'subtransaction')), \
         (SELECT {writes}::text FROM pg_catalog.{table}), (SELECT {syncs}::text FROM pg_catalog.{table}), \
         (SELECT wal_buffers_full::text FROM pg_catalog.pg_stat_wal), \
         current_setting('commit_delay'), (SELECT count(*)::text FROM pg_catalog.pg_subscription \
         WHERE subenabled AND subsynccommit = 'off') FROM pg_catalog.pg_stat_database\0"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::live::conversation::ProtocolAction;
    use crate::host::live::conversation::tests::actions_after;
    use crate::host::live::postgres::PostgresProtocolClient;
    use crate::host::live::postgres::tests::{
        data_row, query_message, ready_again, ready_messages, server_message,
    };

    fn feed_messages(
        seconds: f64,
        messages: &[Vec<u8>],
    ) -> (Vec<CommitSample>, Result<Vec<ProtocolAction>, HostError>) {
        let mut samples = Vec::new();
        let schedule = QuerySchedule::new(seconds);
        let queries = SamplerQueries::new(schedule, |sample| {
            samples.push(super::super::with_zero_time(sample));
            Ok(())
        });
        let mut client = PostgresProtocolClient::new(b"postgres", STATEMENT_TIMEOUT_MS, queries);
        let steps = actions_after(&mut client, &messages.concat());
        (samples, steps)
    }

    fn waits_query_reply(rights: &str, standby: &str, free: &str) -> Vec<u8> {
        let numbers = ["700", "20", "3", "2", "1", "0", "0"];
        let fields: Vec<Option<&str>> = numbers
            .iter()
            .chain([&rights, &standby, &free, &"0 2 1", &"4", &"9"])
            .copied()
            .map(Some)
            .collect();
        [data_row(&fields), ready_again()].concat()
    }

    fn counters_query_reply() -> Vec<u8> {
        let fields = ["9", "90", "1", "0", "80", "70", "3", "0", "2"].map(Some);
        [data_row(&fields), ready_again()].concat()
    }

    #[test]
    fn counters_are_read_first_and_last_and_waits_between() {
        let (samples, steps) = feed_messages(0.0, &[ready_messages(), counters_query_reply()]);
        let counters = CommitCounters {
            time_us: 0,
            reset_age_s: 9,
            commits: Some(90),
            rollbacks: 1,
            subtransactions: 0,
            wal_writes: 80,
            wal_syncs: Some(70),
            buffers_full: 3,
            commit_delay: 0,
            asynchronous_subscriptions: 2,
        };
        assert_eq!(samples, [CommitSample::Counters(counters)]);
        assert!(matches!(
            steps.unwrap().last(),
            Some(ProtocolAction::Done { .. })
        ));
        let rows = std::iter::repeat_n(waits_query_reply("t", "f", "t"), 9);
        let all = [ready_messages(), counters_query_reply()]
            .into_iter()
            .chain(rows)
            .chain([counters_query_reply()])
            .collect::<Vec<_>>();
        let (samples, steps) = feed_messages(60.0, &all);
        assert_eq!(samples.len(), 11);
        let query = |text: &str| ProtocolAction::Send(query_message(text));
        let steps = steps.unwrap();
        let is_counters = |step: &ProtocolAction| *step == query(&counters_query(16));
        let found: Vec<usize> = (0..steps.len())
            .filter(|at| is_counters(&steps[*at]))
            .collect();
        assert_eq!(found, [0, 10], "one in ten");
    }

    #[test]
    fn unusable_server_ends_sampling_with_reason() {
        for (row, part) in [
            (waits_query_reply("f", "f", "t"), "pg_read_all_stats"),
            (waits_query_reply("t", "t", "t"), "standby"),
            (waits_query_reply("t", "f", "f"), "no free connections"),
        ] {
            let (samples, steps) =
                feed_messages(60.0, &[ready_messages(), counters_query_reply(), row]);
            assert!(
                steps.unwrap_err().detail.contains(part) && samples.len() == 1,
                "{part}"
            );
        }
        let old = [
            server_message(b'R', &[0; 4]),
            server_message(b'S', b"server_version\x0013.22\0"),
            ready_again(),
        ]
        .concat();
        assert!(
            feed_messages(1.0, &[old])
                .1
                .unwrap_err()
                .detail
                .contains("before 14")
        );
        let null = [data_row(&[Some("1"); 4]), ready_again()].concat();
        let (samples, steps) = feed_messages(60.0, &[ready_messages(), null]);
        assert!(samples.is_empty() && steps.unwrap_err().detail.contains("malformed"));
        let full = server_message(b'E', b"SFATAL\0Msorry, too many clients already\0\0");
        assert!(
            feed_messages(1.0, &[full])
                .1
                .unwrap_err()
                .detail
                .contains("too many clients")
        );
    }

    /// A server that replies immediately, or twice, cannot exhaust memory.
    #[test]
    fn samples_of_fast_or_repeating_servers_are_bounded() {
        let rows = std::iter::repeat_n(waits_query_reply("t", "f", "t"), 1_000);
        let all: Vec<Vec<u8>> = [ready_messages(), counters_query_reply()]
            .into_iter()
            .chain(rows)
            .collect();
        let (samples, _) = feed_messages(60.0, &all);
        assert!(samples.len() < 40, "{}", samples.len());
        let row = counters_query_reply();
        let twice = [ready_messages(), [row.clone(), row].concat()];
        assert_eq!(feed_messages(60.0, &twice).0.len(), 1);
    }

    proptest! {
        #[test]
        fn errors_from_hostile_servers_are_display_safe(pieces in prop::collection::vec(
            prop_oneof![
                any::<Vec<u8>>(),
                Just(ready_messages()),
                (prop::sample::select(b"RSKZEDTCN".to_vec()), any::<Vec<u8>>()).prop_map(|(k, b)| server_message(k, &b)),
            ], 0..6)
        ) {
            if let Err(error) = feed_messages(60.0, &pieces).1 {
                prop_assert!(!error.detail.chars().any(crate::text::is_display_unsafe));
            }
        }
    }
}
