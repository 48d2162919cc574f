//! Selects the targets that can be measured, and plans their measurement from the facts.

use std::path::PathBuf;

use crate::facts::catalog::device::CacheVolatility;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::{FactSet, Reading, Scope, Subject};
use crate::measure::{
    CommitProfile, Method, ProbeInclusion, Requirement, WalMethodInForce, Workload,
};
use crate::probes::{ProbeOptions, ProbePlan, ProbeRefusal, ProbeRequest, plan_probe};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeRowSelection {
    /// The measurements that rules need: the server's sync methods and, with a protected cache, the
    /// cost of a flush.
    Deciding,
    /// Additionally all methods of `pg_test_fsync`, O_DIRECT, and always the cost of a flush.
    All,
    /// Like [`Self::Deciding`], with 1, 2, 4 and 8 pages per commit, each also paced.
    Sizes,
    Nothing,
}

#[derive(Clone, Debug)]
pub struct MeasurementOptions {
    pub scratch: Option<PathBuf>,
    pub seconds: f64,
    pub rows: ProbeRowSelection,
    /// Workloads to measure in addition to `rows`, each with the same time limit.
    pub workloads: Vec<Workload>,
    /// Only the commits of one program, instead of `rows` and `workloads`.
    pub commits: Option<CommitProfileOptions>,
    pub probe: ProbeOptions,
}

#[derive(Clone, Copy, Debug)]
pub struct CommitProfileOptions {
    /// Program whose commits are made; `None` for the target's server, or for a directory without a
    /// server.
    pub profile: Option<CommitProfile>,
    /// Limit on the latency of commits; `None` stands for that of the profile.
    pub requirement: Option<Requirement>,
}

impl MeasurementOptions {
    /// Selects the rows that rules need, with a time limit of `seconds`.
    pub fn new(seconds: f64) -> Self {
        Self {
            scratch: None,
            seconds,
            rows: ProbeRowSelection::Deciding,
            workloads: Vec::new(),
            commits: None,
            probe: ProbeOptions::default(),
        }
    }
}

/// Plans a measurement without writing anything. `facts` must include the conclusions.
pub fn plan_target_probe(
    facts: &FactSet,
    subject: &Subject,
    options: &MeasurementOptions,
) -> Result<ProbePlan, ProbeRefusal> {
    let mut request = ProbeRequest::from_facts(subject, facts);
    request.scratch.clone_from(&options.scratch);
    request.seconds = options.seconds;
    request.seed = seed_from_clock();
    request.workloads.clone_from(&options.workloads);
    request.options = options.probe;
    match options.rows {
        ProbeRowSelection::Deciding | ProbeRowSelection::All => {}
        ProbeRowSelection::Sizes => (request.pages, request.all_paced) = (vec![1, 2, 4, 8], true),
        ProbeRowSelection::Nothing => request.pages.clear(),
    }
    if let Some(CommitProfileOptions {
        profile,
        requirement,
    }) = options.commits
    {
        let server = facts
            .applicable_subject(subject, Scope::Cluster)
            .map(|_| wal_method_in_force(facts, subject));
        request.restrict_to_commit_load(profile, requirement, server)?;
        return plan_probe(&request);
    }
    let is_whole = options.workloads.is_empty() && options.rows != ProbeRowSelection::Nothing;
    // An InnoDB transaction waits for more than its redo log, so a transaction is measured too.
    // Each of the two parts gets half of the time limit.
    if request.server.is_redo() && is_whole {
        request.workloads.push(Workload::Transaction);
        request.seconds /= 2.0;
    }
    // The cost of a flush matters only with a protected cache, where flushes can be turned off
    // safely.
    let cache = facts.value(subject, &target::CACHE);
    let is_all = options.rows == ProbeRowSelection::All;
    for (inclusion, is_included) in [
        (
            ProbeInclusion::FlushCost,
            is_all || cache.is_some_and(CacheVolatility::is_protected),
        ),
        (ProbeInclusion::AllRows, is_all),
    ] {
        let methods = Method::methods_with_inclusion(inclusion);
        request.extra.extend(methods.filter(|_| is_included));
    }
    plan_probe(&request)
}

pub fn wal_method_in_force(facts: &FactSet, subject: &Subject) -> WalMethodInForce {
    let Some(cluster) = facts.applicable_subject(subject, Scope::Cluster) else {
        return WalMethodInForce::Default;
    };
    match facts.database_profile_or_postgres(&cluster).wal_method {
        Some(key) => facts
            .value(&cluster, key)
            .map_or(WalMethodInForce::Unknown, WalMethodInForce::Is),
        None => WalMethodInForce::Default,
    }
}

/// Only existing directories. Those with WAL or redo log come first, because commits wait for them.
pub fn measurable_targets_wal_first(facts: &FactSet) -> Vec<Subject> {
    let holds_log = |t: &Subject| {
        facts
            .value(t, &target::ROLES)
            .is_some_and(|roles| roles.iter().any(|role| role.is_wal() || role.is_redo()))
    };
    let mut targets = targets_of_kind(facts, TargetKind::is_directory);
    targets.sort_by_key(|target| !holds_log(target));
    targets
}

pub(super) fn targets_of_kind(facts: &FactSet, is_kind: fn(TargetKind) -> bool) -> Vec<Subject> {
    let fits = |target: &&Subject| facts.value(target, &target::KIND).is_some_and(is_kind);
    let targets = facts.subjects_of_scope(Scope::Target);
    targets.filter(fits).cloned().collect()
}

pub fn unreadable_target_reason(facts: &FactSet) -> Option<String> {
    facts.subjects_of_scope(Scope::Target).find_map(|subject| {
        match facts.get(subject, &target::KIND) {
            Reading::Unknown { detail, .. } => Some(detail),
            Reading::Known { .. } => None,
        }
    })
}

pub fn missing_directory_message(facts: &FactSet) -> Option<String> {
    let created = targets_of_kind(facts, TargetKind::is_to_be_created);
    Some(format!(
        "{} does not exist yet; create it, or check its parent directory",
        created.first()?.name()
    ))
}

/// Takes a seed from the clock, so that the order of the methods differs in every run and no method
/// is favoured by its position.
fn seed_from_clock() -> u64 {
    let nanoseconds = jiff::Timestamp::now().as_nanosecond();
    u64::try_from(nanoseconds.unsigned_abs() & u128::from(u64::MAX)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::target::DirectoryRole;

    #[test]
    fn measurable_targets_put_wal_first_and_skip_missing() {
        let mut facts = FactSet::default();
        let mut put = |path: &str, kind: TargetKind, roles: &[DirectoryRole]| {
            let target = Subject::target(path);
            facts.insert_known(
                &target,
                &target::KIND,
                kind,
                Source::from_system_call("test"),
            );
            facts.insert_known(
                &target,
                &target::ROLES,
                roles.to_vec(),
                Source::from_system_call("test"),
            );
        };
        put("/data", TargetKind::Directory, &[DirectoryRole::Data]);
        put("/new", TargetKind::Created, &[DirectoryRole::Wal]);
        put("/unused", TargetKind::Directory, &[]);
        put("/wal", TargetKind::Directory, &[DirectoryRole::Wal]);
        put(
            "/x",
            TargetKind::Directory,
            &[DirectoryRole::Data, DirectoryRole::Wal],
        );
        let names: Vec<_> = measurable_targets_wal_first(&facts)
            .iter()
            .map(|target| target.name().to_owned())
            .collect();
        assert_eq!(names, ["/wal", "/x", "/data", "/unused"]);
    }
}
