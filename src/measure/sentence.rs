//! A measurement in words: the price of a commit, with its method and certainty, the meaning for a server, and possible
//! changes.
//!
//! The figures are those of an idle disk unless others used it, which the text then states.

use super::caveats::SampleContext;
use super::compare::outcome;
use super::{Conclusion, Measurement, Method, Workload, WorkloadResult};
use crate::text;

/// The number of concurrent sessions of a busy server that wait for commits, for this sentence.
const SESSIONS: u32 = 16;

/// The sentences of a comparison.
pub fn of(measurement: &Measurement, default: Method, seen: &SampleContext) -> String {
    let row =
        |method| measurement.methods.iter().find(|r| r.method == method && r.pages == 1 && r.samples > 0);
    let Some(best) = row(measurement.best).filter(|r| r.median_us.value > 0.0) else {
        return "Nothing was measured: the probe ended before its first round.".to_owned();
    };
    let (log, cost) = (&measurement.log, text::micros(best.median_us.value));
    let (name, rate) = (log.named(best.method), best.per_second());
    let costs = if log.is_redo() {
        format!(
            "A flush of the redo log with {name} costs {cost} (median); with innodb_flush_log_at_trx_commit = 1 one session \
             completes {rate} commits a second"
        )
    } else {
        format!("A commit with {name} costs {cost} (median); one session completes {rate} a second")
    };
    let found = compared(measurement, default, &costs);
    if measurement.caveats.iter().any(|caveat| caveat.refuses_advice) {
        return found;
    }
    // What follows for one kind of server, such as a commit_delay, its rules say.
    format!("{found} {}", of_others(measurement, seen))
}

fn compared(measurement: &Measurement, default: Method, costs: &str) -> String {
    if let Some(c) = measurement.comparisons.iter().find(|c| c.method == measurement.best) {
        let (gain, low) = (c.gain_percent.value, c.gain_percent.low);
        return format!(
            "{costs}; that is {gain:.0} % less than with {}, at least {low:.0} %.",
            measurement.log.named(default)
        );
    }
    if let Some(caveat) = measurement.caveats.iter().find(|c| c.refuses_advice) {
        return format!("{costs}. No method advised: {}", lower_first(&caveat.says));
    }
    match outcome(measurement, default) {
        Conclusion::NotSettled => {
            format!(
                "{costs}; after {:.1} s there is no clear winner among the methods; a longer probe may find one.",
                measurement.seconds
            )
        }
        Conclusion::NoMeaningfulDifference => format!("{costs}; no other method is meaningfully better."),
        Conclusion::Settled => format!("{costs}; the other methods cost more."),
    }
}

/// The sentence about other users of the disks.
fn of_others(measurement: &Measurement, seen: &SampleContext) -> &'static str {
    if measurement.caveats.iter().any(|caveat| caveat.id.is_of_others()) {
        "Other programs used the disks meanwhile; without them it costs less."
    } else if seen.traffic.is_empty() {
        "It is unknown whether other programs used the disks meanwhile."
    } else {
        "The disks were otherwise idle; expect more under load."
    }
}

/// What a workload adds to the comparison: the result for several sessions that share flushes, or that of InnoDB's
/// transactions.
pub fn of_workload(found: &WorkloadResult) -> Option<String> {
    if found.workload == Workload::Transaction {
        return Some(found.sentence.clone());
    }
    let row = found.rows.iter().find(|row| row.threads == SESSIONS && row.samples > 0)?;
    let says = || format!("Together, 16 sessions complete {} a second.", text::rounded(row.per_second.value));
    (found.workload == Workload::Group).then(says)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let keeps_case = text.split(' ').next().is_some_and(|word| word.chars().skip(1).any(char::is_uppercase));
    match chars.next() {
        Some(first) if !keeps_case => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, DiskTraffic, Pass, Samples, Series, add_workloads, summarise};
    use super::*;

    fn measured(seen: &SampleContext) -> Measurement {
        let cell =
            |method, pages, us| Cell { rounds: vec![vec![us; 3]; 20], ..Cell::new(method, pages, true) };
        let cells = [(Method::Fdatasync, 200.0), (Method::OpenDatasync, 260.0)]
            .into_iter()
            .flat_map(|(method, us)| [cell(method, 1, us), cell(method, 2, us)]);
        summarise(&Samples { cells: cells.collect(), paced: Vec::new() }, seen)
    }

    #[test]
    fn it_says_what_follows_and_what_would_change_it() {
        let rate = text::grouped(5_000);
        let costs =
            format!("A commit with fdatasync costs 200 µs (median); one session completes {rate} a second");
        let quiet = DiskTraffic { seconds: 0.1, written: 1 << 20, ours: 1 << 20, flushed: 1 << 20, read: 0 };
        let seen = SampleContext { traffic: vec![quiet; 20], ..SampleContext::default() };
        assert_eq!(
            measured(&seen).sentence,
            format!(
                "{costs}; the other methods cost more. The disks were otherwise idle; expect more under load."
            )
        );
        let unseen = measured(&SampleContext::default()).sentence;
        assert!(
            unseen.ends_with("It is unknown whether other programs used the disks meanwhile."),
            "{unseen}"
        );
        let asleep = SampleContext { suspended_seconds: 9.0, ..seen };
        let refused = measured(&asleep).sentence;
        assert!(refused.starts_with(&format!("{costs}. No method advised")), "{refused}");
        assert!(!unseen.contains("commit_delay"), "only PostgreSQL has it, and a rule tells of it: {unseen}");
    }

    #[test]
    fn sixteen_sessions_are_told_of_where_they_were_measured() {
        let mut found = measured(&SampleContext::default());
        let pass = Pass { times_us: vec![500.0; 320], seconds: 0.01, ..Pass::default() };
        let series = Series { threads: 16, rounds: vec![pass; 8], ..Series::new("16 sessions", 512) };
        let group = WorkloadResult::new(Workload::Group, &[series], false);
        add_workloads(&mut found, vec![group]);
        let says = format!("Together, 16 sessions complete {} a second.", text::grouped(32_000));
        assert!(found.sentence.ends_with(&says), "{}", found.sentence);
    }
}
