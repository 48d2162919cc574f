//! The results of workloads as facts. Facts of a workload that was not requested stay *not collected*.

use super::result::{Workload, WorkloadResult, WorkloadRow};
use crate::facts::catalog::probe;
use crate::facts::{FactSet, Key, Source, Subject};

type Figure<'f> = &'f dyn Fn(&WorkloadRow) -> Option<f64>;

/// Puts the facts that these workloads found about a target.
pub fn to_facts(found: &[WorkloadResult], target: &Subject, facts: &mut FactSet) {
    let ratio = |row: &WorkloadRow| row.cost_ratio.map(|ratio| ratio.value);
    let rate = |row: &WorkloadRow| Some(row.per_second.value);
    let median = |row: &WorkloadRow| Some(row.median_us.value);
    let wanted: [(Workload, &str, Figure<'_>, &Key<f64>); 9] = [
        (Workload::Segment, "filled with zeros", &ratio, &probe::NEW_SEGMENT_ZEROED),
        (Workload::Segment, "not filled", &ratio, &probe::NEW_SEGMENT_UNFILLED),
        (Workload::Group, "16 sessions", &rate, &probe::GROUP_COMMITS_PER_SECOND),
        (Workload::Innodb, "both in turn, 512 B", &median, &probe::BINLOG_COMMIT),
        (Workload::Transaction, "redo log and binary log", &median, &probe::BINLOG_COMMIT),
        (Workload::Transaction, "16 sessions", &rate, &probe::GROUP_COMMITS_PER_SECOND),
        (Workload::Files, "1 thread", &rate, &probe::FILES_PER_SECOND),
        (Workload::Entangle, "fdatasync, beside a writer", &ratio, &probe::ENTANGLED_FDATASYNC),
        (Workload::Entangle, "fsync, beside a writer", &ratio, &probe::ENTANGLED_FSYNC),
    ];
    for (workload, name, figure, key) in wanted {
        let row = found.iter().filter(|one| one.workload == workload).flat_map(|one| &one.rows);
        let row = row.filter(|row| row.samples > 0).find(|row| row.name == name);
        if let Some(value) = row.and_then(figure) {
            facts.know(target, key, value, Source::Probe { id: workload.name().to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Pass, Series};

    #[test]
    fn only_what_was_measured_becomes_known() {
        let pass = Pass { times_us: vec![100.0; 4], seconds: 0.0004, flush_calls: 4, flushes: None };
        let series = |name: &str| Series { rounds: vec![pass.clone(); 8], ..Series::new(name, 8192) };
        let rows = [series("fdatasync, alone"), series("fdatasync, beside a writer").against(0)];
        let found = [WorkloadResult::new(Workload::Entangle, &rows, false)];
        let (target, mut facts) = (Subject::target("/t"), FactSet::default());
        to_facts(&found, &target, &mut facts);
        assert_eq!(facts.value(&target, &probe::ENTANGLED_FDATASYNC), Some(1.0));
        assert_eq!(facts.value(&target, &probe::ENTANGLED_FSYNC), None);
        assert_eq!(facts.value(&target, &probe::FILES_PER_SECOND), None);
    }
}
