use super::compare::{compare_paced_commits, overall_conclusion};
use super::{CaveatId, ComparisonConclusion, Measurement, Method, Workload, WorkloadResult};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::text;

const GROUP_COMMIT_CLIENTS: u32 = 16;

/// `in_force` is the `wal_sync_method` of the PostgreSQL server, if there is such a server.
pub fn measurement_summary(found: &Measurement, in_force: Option<WalSyncMethod>) -> String {
    if found.methods.is_empty() {
        let workloads: Vec<&str> = found
            .workloads
            .iter()
            .map(|one| one.sentence.as_str())
            .collect();
        return workloads.join(" ");
    }
    let mut sentences = Vec::new();
    match found
        .in_force_or_best_row(in_force)
        .filter(|row| row.is_measured())
    {
        None => {
            sentences
                .push("Nothing was measured: the probe ended before its first commit.".to_owned());
        }
        Some(row) => {
            sentences.push(method_recommendation_sentence(found, row.method));
            let is_refused = found.caveats.iter().any(|caveat| caveat.refuses_advice);
            sentences.extend(
                disk_load_note(found)
                    .into_iter()
                    .filter(|_| !is_refused)
                    .map(str::to_owned),
            );
        }
    }
    sentences.extend(
        found
            .workloads
            .iter()
            .find_map(group_or_transaction_sentence),
    );
    sentences.join(" ")
}

fn method_recommendation_sentence(found: &Measurement, in_force: Method) -> String {
    if let Some(caveat) = found.caveats.iter().find(|c| c.refuses_advice) {
        return format!(
            "No method is recommended: {}",
            lowercase_first_letter_unless_acronym(&caveat.text)
        );
    }
    let (name, best) = (
        found.log.method_with_setting_text(in_force),
        found.log.method_with_setting_text(found.best),
    );
    let comparison = compare_paced_commits(&found.methods, found.best, in_force)
        .filter(|_| found.best != in_force);
    let conclusion = comparison.as_ref().map_or_else(
        || overall_conclusion(found, found.reference_method()),
        |c| c.settled,
    );
    match (conclusion, comparison) {
        (ComparisonConclusion::Settled, Some(c)) if c.gain_percent.low > 0.0 => {
            let (gain, low) = (c.gain_percent.value, c.gain_percent.low);
            format!(
                "{best} is faster here than {name}: latency is {gain:.0} % lower (at least {low:.0} %)."
            )
        }
        (ComparisonConclusion::Settled, _) => format!("{name} is the fastest method here."),
        (ComparisonConclusion::NoMeaningfulDifference, _) => {
            format!("No method is meaningfully faster here than {name}.")
        }
        (ComparisonConclusion::NotSettled, _) => {
            let seconds = found.seconds;
            format!(
                "No method is clearly faster than {name} after {seconds:.1} s; a longer probe may find one."
            )
        }
    }
}

/// Notes whether other I/O ran on the disks during the probe. `None` if their counters were
/// unreadable, because a caveat reports that.
fn disk_load_note(found: &Measurement) -> Option<&'static str> {
    let has = |of: fn(CaveatId) -> bool| found.caveats.iter().any(|caveat| of(caveat.id));
    if has(CaveatId::is_competing_io) {
        Some("Other I/O was running; commits are faster on idle disks.")
    } else if has(CaveatId::is_unseen_io) {
        None
    } else {
        Some("Measured on idle disks; expect a higher latency under load.")
    }
}

fn group_or_transaction_sentence(found: &WorkloadResult) -> Option<String> {
    if found.workload == Workload::Transaction {
        return Some(found.sentence.clone());
    }
    let row = found
        .rows
        .iter()
        .find(|row| row.threads == GROUP_COMMIT_CLIENTS && row.samples > 0)?;
    let says = || {
        format!(
            "16 clients complete {} commits/s (mean) together.",
            text::format_rounded_and_grouped(row.per_second.value)
        )
    };
    (found.workload == Workload::Group).then(says)
}

fn lowercase_first_letter_unless_acronym(text: &str) -> String {
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
    use super::super::{
        DiskTraffic, MethodSamples, ProbeSamples, RoundSamples, RowSamples, SampleContext,
        summarise_samples,
    };
    use super::*;

    fn sample_measurement(seen: &SampleContext) -> Measurement {
        let cell = |method, us| MethodSamples {
            rounds: vec![vec![us; 3]; 20],
            paced: vec![vec![us; 3]; 20],
            ..MethodSamples::new(method, 1, true)
        };
        let cells = [
            cell(Method::Fdatasync, 200.0),
            cell(Method::OpenDatasync, 260.0),
        ];
        let cells = cells.into();
        summarise_samples(&ProbeSamples { cells }, seen)
    }

    #[test]
    fn sentence_names_method_in_force() {
        let quiet = DiskTraffic {
            seconds: 0.1,
            written: 1 << 20,
            own_written: 1 << 20,
            flushed: 1 << 20,
            read: 0,
        };
        let seen = SampleContext {
            traffic: vec![quiet; 20],
            ..SampleContext::default()
        };
        let idle = "Measured on idle disks; expect a higher latency under load.";
        let found = sample_measurement(&seen);
        let fastest = format!("fdatasync is the fastest method here. {idle}");
        assert_eq!(measurement_summary(&found, None), fastest);
        assert_eq!(
            measurement_summary(&found, Some(WalSyncMethod::Fdatasync)),
            fastest
        );
        assert_eq!(
            measurement_summary(&found, Some(WalSyncMethod::OpenDatasync)),
            format!(
                "fdatasync is faster here than open_datasync: latency is 23 % lower (at least 23 %). {idle}"
            )
        );
        let unseen = sample_measurement(&SampleContext::default());
        assert_eq!(
            measurement_summary(&unseen, None),
            "fdatasync is the fastest method here."
        );
        assert!(unseen.caveats.iter().any(|caveat| caveat.id.is_unseen_io()));
        let asleep = measurement_summary(
            &sample_measurement(&SampleContext {
                suspended_seconds: 9.0,
                ..seen
            }),
            None,
        );
        assert!(
            asleep.starts_with("No method is recommended: the host was suspended"),
            "{asleep}"
        );
    }

    #[test]
    fn sentence_includes_measured_group_commit() {
        let mut found = sample_measurement(&SampleContext::default());
        let pass = RoundSamples {
            times_us: vec![500.0; 320],
            seconds: 0.01,
            ..RoundSamples::default()
        };
        let series = RowSamples {
            threads: 16,
            rounds: vec![pass; 8],
            ..RowSamples::new("16 sessions", 512)
        };
        let group = WorkloadResult::new(Workload::Group, &[series], false);
        found.workloads = vec![group];
        let says = format!(
            "16 clients complete {} commits/s (mean) together.",
            text::group_digits(32_000)
        );
        assert!(measurement_summary(&found, None).ends_with(&says));
    }
}
