//! The measurement of a target, derived from its facts: where, on which disks, with which server's
//! flags.

use std::path::PathBuf;

use crate::facts::catalog::device::Cache;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::{FactSet, Reading, Scope, Subject};
use crate::measure::{Measurement, Method, Occasion, WalFlushMethod, Workload};
use crate::probes::{ProbeOptions, ProbePlan, ProbeRequest, Refusal, plan};

/// The rows of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSelection {
    /// Those that decide advice: the server's methods and the unflushed floor.
    Deciding,
    /// Also those of `pg_test_fsync` and of O_DIRECT, marked as such.
    All,
    /// The server's methods with 1, 2, 4 and 8 pages per commit, each with pauses too; and the
    /// floor.
    Sizes,
    /// None: only workloads are measured.
    Nothing,
}

/// Options of a measurement.
#[derive(Clone, Debug)]
pub struct MeasurementOptions {
    /// The directory that the user named for scratch files.
    pub scratch: Option<PathBuf>,
    /// The longest time in seconds.
    pub seconds: f64,
    pub rows: RowSelection,
    /// Further workloads, each measured for the same time.
    pub workloads: Vec<Workload>,
    pub probe: ProbeOptions,
}

impl MeasurementOptions {
    /// The rows that decide advice, for at most so many seconds.
    pub fn new(seconds: f64) -> Self {
        Self {
            scratch: None,
            seconds,
            rows: RowSelection::Deciding,
            workloads: Vec::new(),
            probe: ProbeOptions::default(),
        }
    }
}

/// Plans the measurement of a target; nothing is written yet. `facts` are judged ones.
pub fn prepare(
    facts: &FactSet,
    subject: &Subject,
    options: &MeasurementOptions,
) -> Result<ProbePlan, Refusal> {
    let mut request = ProbeRequest::of_target(subject, facts);
    request.scratch.clone_from(&options.scratch);
    request.seconds = options.seconds;
    request.seed = seed();
    request.workloads.clone_from(&options.workloads);
    request.options = options.probe;
    match options.rows {
        RowSelection::Deciding | RowSelection::All => {}
        RowSelection::Sizes => (request.pages, request.all_paced) = (vec![1, 2, 4, 8], true),
        RowSelection::Nothing => request.pages.clear(),
    }
    // A transaction of InnoDB waits for more than its redo log; together they take no longer than
    // asked for.
    let is_whole = options.workloads.is_empty() && options.rows != RowSelection::Nothing;
    if request.server.is_redo() && is_whole {
        request.workloads.push(Workload::Transaction);
        request.seconds /= 2.0;
    }
    // The price of a flush matters only where flushes could be omitted.
    let protected = facts
        .value(subject, &target::CACHE)
        .is_some_and(Cache::is_protected);
    if protected || options.rows == RowSelection::All {
        request.extra.extend(Method::beside(Occasion::FlushCost));
    }
    if options.rows == RowSelection::All {
        request.extra.extend(Method::beside(Occasion::AllRows));
    }
    plan(&request)
}

/// `wal_sync_method` in force in the cluster of a target.
pub fn method_in_force(facts: &FactSet, subject: &Subject) -> WalFlushMethod {
    let Some(cluster) = facts.resolve(subject, Scope::Cluster) else {
        return WalFlushMethod::Default;
    };
    match facts.database(&cluster).wal_method {
        Some(key) => facts
            .value(&cluster, key)
            .map_or(WalFlushMethod::Unknown, WalFlushMethod::Is),
        None => WalFlushMethod::Default,
    }
}

/// The measurement as facts.
pub(super) fn to_facts(measurement: &Measurement, subject: &Subject, facts: &mut FactSet) {
    let in_force = method_in_force(facts, subject);
    crate::measure::to_facts(measurement, subject, in_force, facts);
}

/// The targets that can be measured: existing directories. Those with WAL or redo log come first,
/// since a commit waits for them.
pub fn measurable(facts: &FactSet) -> Vec<Subject> {
    let exists = |t: &&Subject| {
        facts
            .value(t, &target::KIND)
            .is_some_and(TargetKind::is_directory)
    };
    let holds_log = |t: &Subject| {
        facts
            .value(t, &target::ROLES)
            .is_some_and(|roles| roles.iter().any(|role| role.is_wal() || role.is_redo()))
    };
    let mut targets: Vec<Subject> = facts
        .subjects(Scope::Target)
        .filter(exists)
        .cloned()
        .collect();
    targets.sort_by_key(|target| !holds_log(target));
    targets
}

/// Why it is unknown whether a target can be measured, where its properties could not be read.
pub fn unreadable(facts: &FactSet) -> Option<String> {
    facts
        .subjects(Scope::Target)
        .find_map(|subject| match facts.get(subject, &target::KIND) {
            Reading::Unknown { detail, .. } => Some(detail),
            Reading::Known { .. } => None,
        })
}

/// The instruction for a directory that is still to be created, if there is one among the targets.
pub fn to_be_made(facts: &FactSet) -> Option<String> {
    let created = |subject: &&Subject| {
        facts
            .value(subject, &target::KIND)
            .is_some_and(TargetKind::is_created)
    };
    let subject = facts.subjects(Scope::Target).find(created)?;
    Some(format!(
        "{} does not exist yet; make it, or check the directory above it",
        subject.name()
    ))
}

/// A different order in every run, so that none is favoured.
fn seed() -> u64 {
    let nanoseconds = jiff::Timestamp::now().as_nanosecond();
    u64::try_from(nanoseconds.unsigned_abs() & u128::from(u64::MAX)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::target::Role;

    #[test]
    fn wal_is_measured_before_data_and_what_is_not_there_never() {
        let mut facts = FactSet::default();
        let mut put = |path: &str, kind: TargetKind, roles: &[Role]| {
            let target = Subject::target(path);
            facts.know(&target, &target::KIND, kind, Source::call("test"));
            facts.know(
                &target,
                &target::ROLES,
                roles.to_vec(),
                Source::call("test"),
            );
        };
        put("/data", TargetKind::Directory, &[Role::Data]);
        put("/new", TargetKind::Created, &[Role::Wal]);
        put("/unused", TargetKind::Directory, &[]);
        put("/wal", TargetKind::Directory, &[Role::Wal]);
        put("/x", TargetKind::Directory, &[Role::Data, Role::Wal]);
        let names: Vec<_> = measurable(&facts)
            .iter()
            .map(|target| target.name().to_owned())
            .collect();
        assert_eq!(names, ["/wal", "/x", "/data", "/unused"]);
    }
}
