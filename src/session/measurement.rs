//! The measurement of a target, derived from its facts: where, on which disks, with the flags of
//! which server.

use std::path::PathBuf;

use crate::facts::catalog::device::Cache;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::{FactSet, Reading, Scope, Subject};
use crate::measure::{Measurement, Method, WalFlushMethod, WhenMeasured, Workload};
use crate::probes::{ProbeOptions, ProbePlan, ProbeRequest, Refusal, plan};

/// Which rows to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSelection {
    /// Those for advice: the server's methods, and unflushed writes.
    Deciding,
    /// Also those of `pg_test_fsync` and O_DIRECT, marked as such.
    All,
    /// The server's methods with 1, 2, 4 and 8 pages per commit, each also paced; and unflushed
    /// writes.
    Sizes,
    /// Only workloads.
    Nothing,
}

#[derive(Clone, Debug)]
pub struct MeasurementOptions {
    /// The user's directory for scratch files.
    pub scratch: Option<PathBuf>,
    /// Time limit in seconds.
    pub seconds: f64,
    pub rows: RowSelection,
    /// Further workloads, each with the same time limit.
    pub workloads: Vec<Workload>,
    pub probe: ProbeOptions,
}

impl MeasurementOptions {
    /// The rows for advice, with a time limit in seconds.
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

/// Plans the measurement of a target without writing anything. `facts` include conclusions.
pub fn probe_plan(
    facts: &FactSet,
    subject: &Subject,
    options: &MeasurementOptions,
) -> Result<ProbePlan, Refusal> {
    let mut request = ProbeRequest::from_facts(subject, facts);
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
    // An InnoDB transaction waits for more than its redo log. Both together stay within the time
    // limit.
    let is_whole = options.workloads.is_empty() && options.rows != RowSelection::Nothing;
    if request.server.is_redo() && is_whole {
        request.workloads.push(Workload::Transaction);
        request.seconds /= 2.0;
    }
    // The cost of a flush matters only where flushes could be omitted.
    let protected = facts
        .value(subject, &target::CACHE)
        .is_some_and(Cache::is_protected);
    if protected || options.rows == RowSelection::All {
        request
            .extra
            .extend(Method::extra_methods(WhenMeasured::FlushCost));
    }
    if options.rows == RowSelection::All {
        request
            .extra
            .extend(Method::extra_methods(WhenMeasured::AllRows));
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

/// Adds the measurement as facts.
pub(super) fn add_facts(measurement: &Measurement, subject: &Subject, facts: &mut FactSet) {
    let in_force = method_in_force(facts, subject);
    crate::measure::insert_facts(measurement, subject, in_force, facts);
}

/// The targets that can be measured: existing directories, those with WAL or redo log first, since
/// commits wait for them.
pub fn measurable_targets(facts: &FactSet) -> Vec<Subject> {
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

/// Why a target cannot be read, and so not be measured.
pub fn unreadable_target(facts: &FactSet) -> Option<String> {
    facts
        .subjects(Scope::Target)
        .find_map(|subject| match facts.get(subject, &target::KIND) {
            Reading::Unknown { detail, .. } => Some(detail),
            Reading::Known { .. } => None,
        })
}

/// The instruction for a directory that does not exist yet, if a target is one.
pub fn missing_directory(facts: &FactSet) -> Option<String> {
    let created = |subject: &&Subject| {
        facts
            .value(subject, &target::KIND)
            .is_some_and(TargetKind::is_created)
    };
    let subject = facts.subjects(Scope::Target).find(created)?;
    Some(format!(
        "{} does not exist yet; create it, or check its parent directory",
        subject.name()
    ))
}

/// A different order in every run, so that no method is favoured.
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
            facts.insert_known(&target, &target::KIND, kind, Source::call("test"));
            facts.insert_known(
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
        let names: Vec<_> = measurable_targets(&facts)
            .iter()
            .map(|target| target.name().to_owned())
            .collect();
        assert_eq!(names, ["/wal", "/x", "/data", "/unused"]);
    }
}
