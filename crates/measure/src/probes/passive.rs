//! Observes the waits of a running server's commits, without writing anything: over one connection
//! to the server, and by the counters of the disks.

use std::path::PathBuf;

use super::{CancelHandle, DiskCounterReader};
use crate::facts::catalog::mysql::InnodbFlushMethod;
use crate::facts::catalog::postgres::{SynchronousCommit, WalSyncMethod};
use crate::facts::catalog::target::{self, FlushDelivery};
use crate::facts::catalog::{cluster as kind, device, mysql, postgres};
use crate::facts::{FactSet, Reading, Scope, ServerKind, Subject};
use crate::host::commit_sampler::{CommitSample, CommitSampler, ServerProtocol};
use crate::host::{Host as _, HostError, LiveHost, path_from_bytes};
use crate::measure::{CommitSamples, CommitSettings, DiskFlushes, LogSyncMode, PassiveMeasurement};
use crate::text::decode_display_safe;

/// A server to observe, and its settings that affect commits.
#[derive(Clone, Debug)]
pub struct PassivePlan {
    directory: String,
    protocol: ServerProtocol,
    socket: PathBuf,
    seconds: f64,
    settings: CommitSettings,
}

/// Reason why a server cannot be observed, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PassiveError(String);

impl PassivePlan {
    /// Plans to observe the server of `target`. `facts` must include the conclusions.
    pub fn from_facts(
        target: &Subject,
        facts: &FactSet,
        seconds: f64,
    ) -> Result<Self, PassiveError> {
        let refuse = |why: &str| Err(PassiveError(format!("{}: {why}", target.name())));
        let cluster = facts.subject_in_scope(target, Scope::Cluster);
        let server =
            cluster.and_then(|cluster| Some((facts.value(&cluster, &kind::KIND)?, cluster)));
        let Some((kind, cluster)) = server else {
            return refuse("no database server uses this directory; specify a data directory");
        };
        let path = |text: String| path_from_bytes(decode_display_safe(&text));
        let (protocol, socket) = match kind {
            ServerKind::Postgres => {
                let directory = facts.value(&cluster, &postgres::SOCKET_DIRECTORY);
                let port = facts.value(&cluster, &postgres::PORT);
                let socket = directory
                    .zip(port)
                    .map(|(directory, port)| path(directory).join(format!(".s.PGSQL.{port}")));
                (ServerProtocol::Postgres, socket)
            }
            ServerKind::Mariadb => {
                let socket = facts.value(&cluster, &mysql::SOCKET).map(path);
                (ServerProtocol::Mysql, socket)
            }
            ServerKind::Mysql => {
                return refuse("--passive supports PostgreSQL and MariaDB, not MySQL");
            }
        };
        let Some(socket) = socket else {
            return refuse(
                "no running server answered; run walwise as root or as the server's user",
            );
        };
        if kind.is_mariadb() && !has_flush_wait_after_commit(&cluster, facts) {
            return refuse("MariaDB before 10.6 does not report which sessions wait for a flush");
        }
        Ok(Self {
            directory: target.name().to_owned(),
            protocol,
            socket,
            seconds,
            settings: commit_settings(kind, target, &cluster, facts),
        })
    }
}

/// Whether a session of MariaDB waits for its flush after the commit (10.6, MDEV-24341).
fn has_flush_wait_after_commit(cluster: &Subject, facts: &FactSet) -> bool {
    let version = facts.value(cluster, &mysql::VERSION);
    version.is_some_and(|version| (version.number(0), version.number(1)) >= (10, 6))
}

fn commit_settings(
    kind: ServerKind,
    target: &Subject,
    cluster: &Subject,
    facts: &FactSet,
) -> CommitSettings {
    let disks = facts.bottom_devices(target);
    let counts = |disk: &Subject| {
        facts.value(disk, &device::COUNTS_FLUSHES) == Some(true)
            && facts
                .value(disk, &device::WRITE_CACHE)
                .is_some_and(device::QueueWriteCache::is_write_back)
    };
    let (log_flush, asynchronous) = if kind.is_postgres() {
        let method = facts.value(cluster, &postgres::WAL_SYNC_METHOD);
        (
            method.and_then(wal_log_sync_mode),
            reason_wal_commit_may_not_wait(cluster, facts),
        )
    } else {
        let method = facts.value(cluster, &mysql::FLUSH_METHOD);
        (
            method.and_then(redo_log_sync_mode),
            reason_redo_commit_may_not_wait(cluster, facts),
        )
    };
    CommitSettings {
        log_flush,
        separates_turn: kind.is_postgres(),
        asynchronous,
        flushes_must_arrive: facts.value(target, &target::FLUSH) == Some(FlushDelivery::Sent)
            && !disks.is_empty()
            && disks.iter().all(counts),
        disks: disks.iter().map(|disk| disk.name().to_owned()).collect(),
    }
}

fn wal_log_sync_mode(method: WalSyncMethod) -> Option<LogSyncMode> {
    match method {
        WalSyncMethod::Fsync | WalSyncMethod::Fdatasync => Some(LogSyncMode::Call),
        WalSyncMethod::OpenSync | WalSyncMethod::OpenDatasync => Some(LogSyncMode::Open),
        WalSyncMethod::FsyncWritethrough => None,
    }
}

fn redo_log_sync_mode(method: InnodbFlushMethod) -> Option<LogSyncMode> {
    match method {
        InnodbFlushMethod::Fsync | InnodbFlushMethod::Direct | InnodbFlushMethod::DirectNoFsync => {
            Some(LogSyncMode::Call)
        }
        InnodbFlushMethod::Dsync => Some(LogSyncMode::Open),
        InnodbFlushMethod::Littlesync | InnodbFlushMethod::Nosync => None,
    }
}

/// Why a commit of PostgreSQL may return before its flush. An unknown setting is a reason as well.
fn reason_wal_commit_may_not_wait(cluster: &Subject, facts: &FactSet) -> Option<String> {
    let is_off = |value: SynchronousCommit| value == SynchronousCommit::Off;
    match facts.value(cluster, &postgres::FSYNC) {
        Some(true) => {}
        Some(false) => return Some("fsync is off".to_owned()),
        None => return Some("fsync is unknown".to_owned()),
    }
    match facts.value(cluster, &postgres::SYNCHRONOUS_COMMIT) {
        Some(value) if is_off(value) => return Some("synchronous_commit is off".to_owned()),
        Some(_) => {}
        None => return Some("synchronous_commit is unknown".to_owned()),
    }
    match facts.get(cluster, &postgres::COMMIT_OVERRIDES) {
        Reading::Known { value, .. } => value
            .iter()
            .find(|one| is_off(one.value))
            .map(|one| format!("synchronous_commit is off for {}", one.owner)),
        Reading::Unknown { .. } => Some(
            "the per-database and per-role settings of synchronous_commit are unknown".to_owned(),
        ),
    }
}

/// Why a commit of InnoDB may return before its flush. An unknown setting is a reason as well.
fn reason_redo_commit_may_not_wait(cluster: &Subject, facts: &FactSet) -> Option<String> {
    match facts.value(cluster, &mysql::FLUSH_LOG) {
        Some(1) => None,
        Some(value) => Some(format!("innodb_flush_log_at_trx_commit is {value}")),
        None => Some("innodb_flush_log_at_trx_commit is unknown".to_owned()),
    }
}

/// Observes the server until the time limit, until the samples contradict each other, or until
/// `cancel` is set. `progress` gets the seconds since the start. The result covers the time
/// until the last reading of the counters; an error of the server ends the observation.
pub fn observe_commits(
    plan: &PassivePlan,
    cancel: &CancelHandle,
    mut progress: impl FnMut(f64),
) -> Result<PassiveMeasurement, PassiveError> {
    let failed = |why: String| PassiveError(format!("{}: {why}", plan.directory));
    let directory = path_from_bytes(decode_display_safe(&plan.directory));
    let owner = LiveHost::new().stat(&directory);
    let uid = owner.ok().and_then(|stat| u32::try_from(stat.uid).ok());
    let uid = uid.ok_or_else(|| failed("the owner of the directory is unknown".to_owned()))?;
    let disks = DiskCounterReader::new_per_disk(&plan.settings.disks);
    let read = || -> Vec<_> { disks.iter().map(|disk| disk.read()?.flushes).collect() };
    let before = read();
    let mut connection =
        CommitSampler::start_sampling_server(plan.protocol, uid, &plan.socket, plan.seconds)
            .map_err(|error| failed(crate::text::io_error_message(&error)))?;
    let mut samples = CommitSamples::default();
    let mut error: Option<HostError> = None;
    let mut result = None;
    while !cancel.is_cancelled()
        && let Some(sample) = connection.recv_sample()
    {
        match sample {
            Ok(CommitSample::Waits(waits)) => {
                let begun = samples
                    .waits
                    .first()
                    .map_or(waits.time_us, |first| first.time_us);
                progress(waits.time_us.saturating_sub(begun) as f64 / 1e6);
                samples.waits.push(waits);
                continue;
            }
            Ok(CommitSample::Counters(counters)) => samples.counters.push(counters),
            // The counters do not cover waits after their last reading.
            Err(found) => {
                error = Some(found);
                break;
            }
        }
        samples.disk_flushes = before
            .iter()
            .zip(read())
            .map(|(before, after)| DiskFlushes::between((*before)?, after?))
            .collect();
        result = PassiveMeasurement::from_samples(&plan.directory, &samples, &plan.settings);
        let is_contradictory = result
            .as_ref()
            .is_some_and(|found| found.contradiction.is_some());
        if is_contradictory {
            break;
        }
    }
    match (result, error) {
        (Some(found), _) => Ok(found),
        (None, Some(error)) => Err(failed(error.to_string())),
        (None, None) => Err(failed("too short for two samples".to_owned())),
    }
}
