//! Observes the waits of a running server's commits, without writing anything: over one connection
//! to the server, and by the counters of the disks.

use std::path::PathBuf;
use std::slice;

use super::server_log::ServerLog;
use super::{CancelHandle, DiskCounterReader};
use crate::facts::catalog::postgres::{SynchronousCommit, WalSyncMethod};
use crate::facts::catalog::target::{self, FlushDelivery};
use crate::facts::catalog::{cluster as kind, device, mysql, postgres};
use crate::facts::{FactSet, Reading, Scope, ServerKind, Subject};
use crate::host::commit_sampler::{CommitSample, CommitSampler, ServerProtocol};
use crate::host::{Host as _, HostError, LiveHost, path_from_bytes};
use crate::measure::{
    CommitSamples, DiskFlushes, LogSyncMode, PassiveMeasurement, ServerAndDiskProperties,
};
use crate::text::decode_display_safe;

/// A server to observe, and its settings that affect commits.
#[derive(Clone, Debug)]
pub struct PassiveMeasurementPlan {
    directory: String,
    protocol: ServerProtocol,
    socket: PathBuf,
    seconds: f64,
    settings: ServerAndDiskProperties,
}

impl PassiveMeasurementPlan {
    /// Plans to observe the server of `target`. `facts` must include derived facts, such as
    /// [`target::FLUSH`]. The error is a sentence.
    pub fn from_facts(target: &Subject, facts: &FactSet, seconds: f64) -> Result<Self, String> {
        let refuse = |why: &str| Err(format!("{}: {why}", target.name()));
        let cluster = facts.applicable_subject(target, Scope::Cluster);
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
                "no running server answered; start the server, or run walwise as root or as the server's user",
            );
        };
        // Since MariaDB 10.6 (MDEV-24341), a session waits for its flush only after the commit.
        let has_flush_waits = || {
            let version = facts.value(&cluster, &mysql::VERSION);
            version.is_some_and(|version| version.first_numbers() >= [10, 6])
        };
        if kind.is_mariadb() && !has_flush_waits() {
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

fn commit_settings(
    kind: ServerKind,
    target: &Subject,
    cluster: &Subject,
    facts: &FactSet,
) -> ServerAndDiskProperties {
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
            method.and_then(log_sync_mode),
            async_wal_commit_reason(cluster, facts),
        )
    } else {
        let log = ServerLog::redo_log_from_facts(facts, target, cluster);
        (
            log.and_then(|redo| log_sync_mode(redo.log.in_force?.wal_sync_method()?)),
            async_redo_commit_reason(cluster, facts),
        )
    };
    ServerAndDiskProperties {
        log_flush,
        separates_turn: kind.is_postgres(),
        asynchronous,
        flushes_must_arrive: facts.value(target, &target::FLUSH) == Some(FlushDelivery::Sent)
            && !disks.is_empty()
            && disks.iter().all(counts),
        flushes_reach_each_disk: are_flushes_passed_to_each_disk(target, facts),
        disks: disks.iter().map(|disk| disk.name().to_owned()).collect(),
    }
}

/// Whether the layers below `target` pass each flush on to every disk: partitions, LVM without thin
/// volumes or snapshots, LUKS.
fn are_flushes_passed_to_each_disk(target: &Subject, facts: &FactSet) -> bool {
    let is_plain_target = |name: &String| ["linear", "striped", "crypt"].contains(&name.as_str());
    let is_plain = |layer: &Subject| {
        let kind = facts.value(layer, &device::KIND);
        kind.is_some_and(|kind| kind.is_disk() || kind.is_partition())
            || facts
                .value(layer, &device::DM_TARGETS)
                .is_some_and(|targets| targets.iter().all(is_plain_target))
    };
    facts.layers_below(target).iter().all(|layer| {
        if layer.scope() == Scope::Device {
            is_plain(layer)
        } else {
            facts.layers_directly_below(layer).len() <= 1
        }
    })
}

fn log_sync_mode(method: WalSyncMethod) -> Option<LogSyncMode> {
    match method {
        WalSyncMethod::Fsync | WalSyncMethod::Fdatasync => Some(LogSyncMode::Call),
        WalSyncMethod::OpenSync | WalSyncMethod::OpenDatasync => Some(LogSyncMode::Open),
        WalSyncMethod::FsyncWritethrough => None,
    }
}

/// Why a commit of PostgreSQL may return before its flush. An unknown setting is a reason as well.
fn async_wal_commit_reason(cluster: &Subject, facts: &FactSet) -> Option<String> {
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
fn async_redo_commit_reason(cluster: &Subject, facts: &FactSet) -> Option<String> {
    match facts.value(cluster, &mysql::FLUSH_LOG) {
        Some(1) => None,
        Some(value) => Some(format!("innodb_flush_log_at_trx_commit is {value}")),
        None => Some("innodb_flush_log_at_trx_commit is unknown".to_owned()),
    }
}

/// Observes the server until the time limit, until the samples contradict each other, or until
/// `cancel` is set. `progress` gets the seconds since the start. The result covers the time
/// until the last reading of the counters. An error of the server ends the observation early.
pub fn sample_commit_waits(
    plan: &PassiveMeasurementPlan,
    cancel: &CancelHandle,
    mut progress: impl FnMut(f64),
) -> Result<PassiveMeasurement, String> {
    let failed = |why: String| format!("{}: {why}", plan.directory);
    let directory = path_from_bytes(decode_display_safe(&plan.directory));
    let owner = LiveHost::new().stat(&directory);
    let uid = owner.ok().and_then(|stat| u32::try_from(stat.uid).ok());
    let uid = uid.ok_or_else(|| failed("the owner of the directory is unknown".to_owned()))?;
    let disks = plan.settings.disks.iter();
    let disks: Vec<_> = disks
        .map(|disk| DiskCounterReader::new(slice::from_ref(disk)))
        .collect();
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
            // Waits after the last reading of the counters are discarded, because no counter covers
            // them.
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
        (Some(found), error) => Ok(PassiveMeasurement {
            ended_early: error.map(|error| error.to_string()),
            ..found
        }),
        (None, Some(error)) => Err(failed(error.to_string())),
        (None, None) => Err(failed(
            "the measurement was too short: at least two samples are needed".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::device::DeviceKind;

    /// `targets` are device-mapper targets.
    fn stack_of_two_disks(targets: &str) -> (FactSet, Subject) {
        let (target, dm) = (Subject::target("/db"), Subject::device("dm-0"));
        let mut facts = FactSet::default();
        let source = || Source::from_system_call("test");
        facts.add_layer_below(&target, &dm);
        facts.insert_known(&dm, &device::DM_TARGETS, vec![targets.to_owned()], source());
        for disk in ["sda", "sdb"].map(Subject::device) {
            facts.add_layer_below(&dm, &disk);
            facts.insert_known(&disk, &device::KIND, DeviceKind::Disk, source());
        }
        (facts, target)
    }

    #[test]
    fn only_plain_layers_pass_each_flush_to_every_disk() {
        for (targets, expected) in [("striped", true), ("multipath", false), ("thin", false)] {
            let (facts, target) = stack_of_two_disks(targets);
            assert_eq!(
                are_flushes_passed_to_each_disk(&target, &facts),
                expected,
                "{targets}"
            );
        }
        let (mut facts, target) = stack_of_two_disks("linear");
        let mount = Subject::mount("/db");
        facts.add_layer_below(&target, &mount);
        for disk in ["sdc", "sdd"].map(Subject::device) {
            let source = Source::from_system_call("test");
            facts.add_layer_below(&mount, &disk);
            facts.insert_known(&disk, &device::KIND, DeviceKind::Disk, source);
        }
        assert!(
            !are_flushes_passed_to_each_disk(&target, &facts),
            "an external journal"
        );
    }
}
