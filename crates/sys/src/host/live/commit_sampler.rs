//! Samples how many sessions of a running server wait for their commit, over one connection.
//!
//! The sampler runs in a separate subprocess, because a connection may block. It writes
//! nothing: each of its queries reads the server's memory. A query takes [`SAMPLES`] samples in
//! about 0.7 s; every tenth query reads the server's counters.

mod mysql;
mod postgres;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::conversation::{connect, malformed_answer_error, run_protocol};
use super::machine;
use super::mysql::MysqlProtocolClient;
use super::owners::{process_root_pid, strip_process_root};
use super::postgres::PostgresProtocolClient;
use crate::host::{HostError, ServerOwner};
use crate::subprocess::{Channel, MessageBytes, RECV_TIMEOUT, RecvError, Role, Subprocess};
use crate::text;

/// Samples per query.
const SAMPLES: u32 = 20;

/// Queries for waits between two queries for counters.
const WAITS_PER_COUNTERS: u32 = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerProtocol {
    Postgres,
    Mysql,
}

#[derive(Serialize, Deserialize)]
struct SamplerRequest {
    owner: Option<ServerOwner>,
    server_uid: u32,
    protocol: ServerProtocol,
    socket: MessageBytes,
    seconds: f64,
}

/// Result of one query: numbers of waiting sessions, summed over [`Self::samples`] samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitWaits {
    /// Start of the query in microseconds since the sampler started, by a clock that is never set.
    pub time_us: u64,
    /// The next transaction id at the start. An aborted transaction takes an id as well if it
    /// writes, and in PostgreSQL so does a subtransaction.
    pub next_xid: u64,
    pub samples: u64,
    /// Sessions that wait until another session's write or flush of the WAL ends.
    pub turn: u64,
    /// Sessions that write or flush the WAL themselves; with InnoDB, all sessions that wait for a
    /// flush of the redo log.
    pub flush: u64,
    /// Sessions that wait for a standby's reply.
    pub standby: u64,
    /// Sum of the squared differences between the numbers of waiting sessions in neighbouring
    /// samples.
    pub squared_differences: u64,
    /// Background processes, not sessions, that write or flush the WAL.
    pub background: u64,
    /// Prepared transactions at the start; with InnoDB, those since the first sample.
    pub prepared: u64,
    /// Number of sessions at the start, waiting or not.
    pub sessions: u64,
    /// Flushes that the samples prove: the flushed position of the WAL advanced. 0 for InnoDB.
    pub flushes: u64,
}

/// The server's counters at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitCounters {
    /// Start of the query, as [`CommitWaits::time_us`].
    pub time_us: u64,
    /// Seconds since the statistics were last reset.
    pub reset_age_s: u64,
    /// Committed transactions, including those that wrote nothing. `None` for InnoDB.
    pub commits: Option<u64>,
    /// Rolled back transactions, including those that wrote nothing.
    pub rollbacks: u64,
    /// Hits in the cache of pg_subtrans (`pg_stat_slru.blks_hit`), one for each entry added or
    /// looked up; 0 for InnoDB, whose savepoints take no transaction id.
    pub subtransactions: u64,
    pub wal_writes: u64,
    /// Flushes of the WAL since the last reset; `None` for InnoDB.
    pub wal_syncs: Option<u64>,
    /// Writes of the WAL because its buffers were full.
    pub buffers_full: u64,
    /// `commit_delay` in µs; 0 for InnoDB. A session that delays its flush reports no wait.
    pub commit_delay: u64,
    /// Enabled subscriptions whose workers commit without waiting; 0 for InnoDB.
    pub asynchronous_subscriptions: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommitSample {
    Waits(CommitWaits),
    Counters(CommitCounters),
}

/// The running subprocess. Dropping it ends the connection.
pub struct CommitSampler(Option<Subprocess>);

impl CommitSampler {
    /// Starts to sample the server that runs as `server_uid` and listens on `socket`. Root connects
    /// to PostgreSQL as that user and to InnoDB as root, for a path below /proc/PID/root inside
    /// that root directory.
    pub fn start_sampling_server(
        protocol: ServerProtocol,
        server_uid: u32,
        socket: &Path,
        seconds: f64,
    ) -> io::Result<Self> {
        let is_root = nix::unistd::geteuid().is_root();
        let process = process_root_pid(socket).filter(|_| is_root);
        let socket =
            process.map_or_else(|| socket.to_owned(), |pid| strip_process_root(socket, pid));
        let owner = is_root.then(|| ServerOwner {
            uid: server_uid,
            process,
            inside: process.is_some(),
            socket: (protocol == ServerProtocol::Mysql).then(|| socket.as_path().into()),
        });
        let request = SamplerRequest {
            owner,
            server_uid,
            protocol,
            socket: socket.as_path().into(),
            seconds,
        };
        Subprocess::spawn(Role::CommitSampler, &request).map(|child| Self(Some(child)))
    }

    /// `None` after the last sample.
    pub fn recv_sample(&mut self) -> Option<Result<CommitSample, HostError>> {
        let child = self.0.as_mut()?;
        let message: Result<Option<Result<CommitSample, HostError>>, RecvError> =
            child.channel.recv(Some(RECV_TIMEOUT));
        match message {
            Ok(sample) => sample,
            Err(error) => Some(Err(HostError::failed(error.to_string()))),
        }
    }
}

impl CommitCounters {
    /// The growth from the first reading to the last; `None` with fewer than two readings, or if
    /// the statistics were reset between two of them.
    pub fn counter_growth(readings: &[Self]) -> Option<Self> {
        let (first, last) = (readings.first()?, readings.last()?);
        let is_reset = |pair: &[Self]| {
            let [before, after] = pair else { return true };
            let seconds = after.time_us.saturating_sub(before.time_us) / 1_000_000;
            after.reset_age_s.saturating_add(RESET_AGE_ERROR_S)
                < before.reset_age_s.saturating_add(seconds)
        };
        if readings.len() < 2 || readings.windows(2).any(is_reset) {
            return None;
        }
        let optional = |after: Option<u64>, before: Option<u64>| match after.zip(before) {
            Some((after, before)) => after.checked_sub(before).map(Some),
            None => Some(None),
        };
        Some(Self {
            time_us: last.time_us.checked_sub(first.time_us)?,
            commits: optional(last.commits, first.commits)?,
            rollbacks: last.rollbacks.checked_sub(first.rollbacks)?,
            subtransactions: last.subtransactions.checked_sub(first.subtransactions)?,
            wal_writes: last.wal_writes.checked_sub(first.wal_writes)?,
            wal_syncs: optional(last.wal_syncs, first.wal_syncs)?,
            buffers_full: last.buffers_full.checked_sub(first.buffers_full)?,
            ..Self::default()
        })
    }
}

impl Drop for CommitSampler {
    fn drop(&mut self) {
        if let Some(child) = self.0.take() {
            child.kill_idle();
        }
    }
}

/// The last message to the parent is `None` or an error.
pub fn run_commit_sampler(mut channel: Channel) -> io::Result<()> {
    let request: SamplerRequest = channel.recv(None)?;
    let end = sample_commits(&request, &mut channel).err();
    channel.send(&end.map(Err::<CommitSample, HostError>))
}

fn sample_commits(request: &SamplerRequest, channel: &mut Channel) -> Result<(), HostError> {
    let connected = match &request.owner {
        Some(owner) => owner.connect_and_drop_root()?,
        None => None,
    };
    let emit = |sample| {
        let sample = Some(Ok::<_, HostError>(sample));
        let sent = channel.send(&sample);
        sent.map_err(|e| HostError::failed(text::io_error_message(&e)))
    };
    let schedule = QuerySchedule::new(request.seconds);
    let user = machine::own_user_name()?;
    let (user, stream) = match connected {
        Some(stream) => (b"root".to_vec(), stream),
        None => (user, connect(&PathBuf::from(request.socket.clone()))?),
    };
    let end = match request.protocol {
        ServerProtocol::Postgres => {
            let queries = postgres::SamplerQueries::new(schedule, emit);
            let timeout = postgres::STATEMENT_TIMEOUT_MS;
            let mut client = PostgresProtocolClient::new(&user, timeout, queries);
            run_protocol(&stream, &mut client, request.server_uid)
        }
        ServerProtocol::Mysql => {
            let queries = mysql::SamplerQueries::new(schedule, emit);
            run_protocol(
                &stream,
                &mut MysqlProtocolClient::new(&user, queries),
                request.server_uid,
            )
        }
    };
    end.map(drop)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SamplerQuery {
    Waits,
    Counters,
}

/// The order of the queries: the first and the last one read the counters.
struct QuerySchedule {
    begun: Instant,
    seconds: f64,
    /// The query that was sent last; `None` before the first one.
    current: Option<SamplerQuery>,
    current_begun_us: u64,
    queries: u32,
    /// Whether the result of `current` has arrived.
    is_answered: bool,
}

impl QuerySchedule {
    fn new(seconds: f64) -> Self {
        Self {
            begun: Instant::now(),
            seconds,
            current: None,
            current_begun_us: 0,
            queries: 0,
            is_answered: false,
        }
    }

    /// The next query; `None` when the time is over, or if the server answered too fast to have
    /// paused between samples.
    fn advance_to_next_query(&mut self) -> Option<SamplerQuery> {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let is_over = elapsed >= self.seconds;
        if f64::from(self.queries) > FIRST_QUERIES + MAX_QUERIES_PER_SECOND * elapsed {
            return None;
        }
        let next = if is_over && self.current == Some(SamplerQuery::Counters) {
            return None;
        } else if is_over || self.queries.is_multiple_of(WAITS_PER_COUNTERS + 1) {
            SamplerQuery::Counters
        } else {
            SamplerQuery::Waits
        };
        self.queries += 1;
        self.is_answered = false;
        self.current_begun_us = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.current = Some(next);
        self.current
    }

    /// A second sample of one query is an error.
    fn mark_answered(&mut self) -> Result<(), HostError> {
        if std::mem::replace(&mut self.is_answered, true) {
            return Err(malformed_answer_error());
        }
        Ok(())
    }

    fn time_limit(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default() + LAST_QUERIES
    }
}

/// Number of queries that the rate limit allows at the start of the conversation.
const FIRST_QUERIES: f64 = 20.0;

const MAX_QUERIES_PER_SECOND: f64 = 3.0;

/// Rounding error in seconds: both times of a reading are whole seconds.
const RESET_AGE_ERROR_S: u64 = 2;

/// Time for the query that runs when the seconds are over, and for the last counters.
const LAST_QUERIES: Duration = Duration::from_secs(8);

const OUT_OF_CONNECTIONS: &str = "the server has no free connections, so walwise closed its own";

/// Sum of the squared differences of neighbouring samples, which gives the variance of a
/// systematic sample.
fn sum_squared_differences(numbers: &[u32]) -> u64 {
    let pairs = numbers.iter().zip(numbers.iter().skip(1));
    pairs
        .map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2))
        .fold(0, u64::saturating_add)
}

/// Rejects counts that no server has, because their sums must not overflow.
fn reject_impossible_wait_counts(waits: CommitWaits) -> Result<CommitWaits, HostError> {
    let counts = [
        waits.turn,
        waits.flush,
        waits.standby,
        waits.background,
        waits.flushes,
    ];
    let is_possible = waits.samples <= u64::from(SAMPLES)
        && counts.into_iter().all(|count| u32::try_from(count).is_ok());
    if is_possible {
        Ok(waits)
    } else {
        Err(malformed_answer_error())
    }
}

#[cfg(test)]
fn with_zero_time(sample: CommitSample) -> CommitSample {
    match sample {
        CommitSample::Waits(waits) => CommitSample::Waits(CommitWaits {
            time_us: 0,
            ..waits
        }),
        CommitSample::Counters(counters) => CommitSample::Counters(CommitCounters {
            time_us: 0,
            ..counters
        }),
    }
}
