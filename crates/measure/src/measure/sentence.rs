//! A measurement in words: whether another method is faster than the one in force, and what that
//! rests on. Figures stand beside it in a table.

use super::compare::{compare, outcome};
use super::{CaveatId, Conclusion, Measurement, Method, Workload, WorkloadResult};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::text;

/// The number of concurrent sessions of a busy server that wait for commits, for this sentence.
const SESSIONS: u32 = 16;

/// The sentences of a measurement; `in_force` is the server's WAL method, where there is one.
pub fn sentence(found: &Measurement, in_force: Option<WalSyncMethod>) -> String {
    if found.methods.is_empty() {
        let workloads: Vec<&str> = found
            .workloads
            .iter()
            .map(|one| one.sentence.as_str())
            .collect();
        return workloads.join(" ");
    }
    let mut sentences = Vec::new();
    match found.main_row(in_force).filter(|row| row.is_measured()) {
        None => sentences
            .push("Nothing was measured: the probe ended before its first commit.".to_owned()),
        Some(row) => {
            sentences.push(comparison_sentence(found, row.method));
            let is_refused = found.caveats.iter().any(|caveat| caveat.refuses_advice);
            sentences.extend(
                circumstances(found)
                    .into_iter()
                    .filter(|_| !is_refused)
                    .map(str::to_owned),
            );
        }
    }
    sentences.extend(found.workloads.iter().find_map(workload_sentence));
    sentences.join(" ")
}

/// The method in force beside the best.
fn comparison_sentence(found: &Measurement, in_force: Method) -> String {
    if let Some(caveat) = found.caveats.iter().find(|c| c.refuses_advice) {
        return format!("No method advised: {}", lower_first(&caveat.says));
    }
    let (name, best) = (found.log.named(in_force), found.log.named(found.best));
    let comparison =
        compare(&found.methods, found.best, in_force).filter(|_| found.best != in_force);
    let conclusion = comparison
        .as_ref()
        .map_or_else(|| outcome(found, found.default_method()), |c| c.settled);
    match (conclusion, comparison) {
        (Conclusion::Settled, Some(c)) if c.gain_percent.low > 0.0 => {
            let (gain, low) = (c.gain_percent.value, c.gain_percent.low);
            format!("{best} is faster here than {name}: {gain:.0} % less, at least {low:.0} %.")
        }
        (Conclusion::Settled, _) => format!("{name} is the fastest method here."),
        (Conclusion::NoMeaningfulDifference, _) => {
            format!("No method is meaningfully faster here than {name}.")
        }
        (Conclusion::NotSettled, _) => {
            let seconds = found.seconds;
            format!(
                "No method is clearly faster than {name} after {seconds:.1} s; a longer probe may find one."
            )
        }
    }
}

/// Whether others used the disks; that nobody knows is a caveat of its own.
fn circumstances(found: &Measurement) -> Option<&'static str> {
    let has = |of: fn(CaveatId) -> bool| found.caveats.iter().any(|caveat| of(caveat.id));
    if has(CaveatId::is_of_others) {
        Some("Other I/O was running; on idle disks commits are faster.")
    } else if has(CaveatId::is_unseen) {
        None
    } else {
        Some("Idle disks; expect more under load.")
    }
}

/// What a workload adds to the comparison: the result for several sessions that share flushes, or
/// that of InnoDB's transactions.
fn workload_sentence(found: &WorkloadResult) -> Option<String> {
    if found.workload == Workload::Transaction {
        return Some(found.sentence.clone());
    }
    let row = found
        .rows
        .iter()
        .find(|row| row.threads == SESSIONS && row.samples > 0)?;
    let says = || {
        format!(
            "16 clients complete {} commits/s (mean) together.",
            text::rounded(row.per_second.value)
        )
    };
    (found.workload == Workload::Group).then(says)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let keeps_case = text
        .split(' ')
        .next()
        .is_some_and(|word| word.chars().skip(1).any(char::is_uppercase));
    match chars.next() {
        Some(first) if !keeps_case => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, DiskTraffic, Pass, SampleContext, Samples, Series, summarise};
    use super::*;

    fn measured(seen: &SampleContext) -> Measurement {
        let cell = |method, us| Cell {
            rounds: vec![vec![us; 3]; 20],
            ..Cell::new(method, 1, true)
        };
        let cells = [
            cell(Method::Fdatasync, 200.0),
            cell(Method::OpenDatasync, 260.0),
        ];
        summarise(
            &Samples {
                paced: cells.to_vec(),
                cells: cells.into(),
            },
            seen,
        )
    }

    #[test]
    fn it_speaks_of_the_method_in_force() {
        let quiet = DiskTraffic {
            seconds: 0.1,
            written: 1 << 20,
            ours: 1 << 20,
            flushed: 1 << 20,
            read: 0,
        };
        let seen = SampleContext {
            traffic: vec![quiet; 20],
            ..SampleContext::default()
        };
        let idle = "Idle disks; expect more under load.";
        let found = measured(&seen);
        let fastest = format!("fdatasync is the fastest method here. {idle}");
        assert_eq!(sentence(&found, None), fastest);
        assert_eq!(sentence(&found, Some(WalSyncMethod::Fdatasync)), fastest);
        assert_eq!(
            sentence(&found, Some(WalSyncMethod::OpenDatasync)),
            format!(
                "fdatasync is faster here than open_datasync: 23 % less, at least 23 %. {idle}"
            )
        );
        let unseen = measured(&SampleContext::default());
        assert_eq!(
            sentence(&unseen, None),
            "fdatasync is the fastest method here."
        );
        assert!(unseen.caveats.iter().any(|caveat| caveat.id.is_unseen()));
        let asleep = sentence(
            &measured(&SampleContext {
                suspended_seconds: 9.0,
                ..seen
            }),
            None,
        );
        assert!(
            asleep.starts_with("No method advised: the machine was suspended"),
            "{asleep}"
        );
    }

    #[test]
    fn group_commit_is_in_the_sentence_where_it_was_measured() {
        let mut found = measured(&SampleContext::default());
        let pass = Pass {
            times_us: vec![500.0; 320],
            seconds: 0.01,
            ..Pass::default()
        };
        let series = Series {
            threads: 16,
            rounds: vec![pass; 8],
            ..Series::new("16 sessions", 512)
        };
        let group = WorkloadResult::new(Workload::Group, &[series], false);
        found.workloads = vec![group];
        let says = format!(
            "16 clients complete {} commits/s (mean) together.",
            text::grouped(32_000)
        );
        assert!(sentence(&found, None).ends_with(&says));
    }
}
