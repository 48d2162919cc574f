//! Evaluates real trials with a known result: a file system against itself, unchanged and slowed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use walwise_measure::trial::{
    ComparisonOutcome, PairOutcome, PairedLogThroughput, PairwiseComparison, TrialRecord,
    format_percent_interval,
};

const SLOWED: f64 = 1.15;

struct ControlResult {
    row: String,
    names_a_winner: bool,
    finds_it: bool,
    misses_it: bool,
}

fn read_records(directory: &Path) -> Vec<TrialRecord> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| TrialRecord::parse(&fs::read_to_string(file).unwrap()).unwrap())
        .collect()
}

fn compare_reference_with_twin(record: &TrialRecord, times: f64) -> PairwiseComparison {
    let PairedLogThroughput { candidates, twin } = record.paired_log_throughput(&[0], 0);
    let reference = candidates.into_iter().next().unwrap();
    // The reference also replaces its own repeated measurement, so the control never reports a
    // disturbance.
    let sentinel = reference.clone();
    let twin = twin.into_iter().map(|log| log - times.ln()).collect();
    PairwiseComparison::from_log_throughput(
        &PairedLogThroughput {
            candidates: vec![reference, twin],
            twin: sentinel,
        },
        record.ending,
    )
}

fn evaluate_control(nth: usize, record: &TrialRecord) -> ControlResult {
    let (itself, found) = (
        compare_reference_with_twin(record, 1.0),
        compare_reference_with_twin(record, SLOWED),
    );
    let names_a_winner = matches!(itself.outcome(), ComparisonOutcome::Best(_));
    let outcome = found.pair_outcome(0, 1);
    let said = |interval| Option::map_or(interval, "—".to_owned(), format_percent_interval);
    let row = format!(
        "| {nth} | {} | {} | {:.0} s | {} | {} | {} | {} |",
        record.seed,
        record.blocks.len(),
        record.seconds,
        said(itself.interval_to_reference(1)),
        if names_a_winner {
            "**a winner**"
        } else {
            "none"
        },
        said(found.interval_to_reference(1)),
        match outcome {
            PairOutcome::Faster => "slower",
            PairOutcome::Slower => "**faster**",
            PairOutcome::Equivalent => "**alike**",
            PairOutcome::Undecided => "not settled",
            PairOutcome::Inconclusive => "cannot tell",
        },
    );
    ControlResult {
        row,
        names_a_winner,
        finds_it: outcome == PairOutcome::Faster,
        misses_it: matches!(outcome, PairOutcome::Slower | PairOutcome::Equivalent),
    }
}

pub fn render_control_table(directory: &Path) -> (String, Vec<String>) {
    let records = read_records(directory);
    let Some(first) = records.first() else {
        return (String::new(), vec!["there are no records".to_owned()]);
    };
    let rows: Vec<ControlResult> = records
        .iter()
        .enumerate()
        .map(|(nth, record)| evaluate_control(nth + 1, record))
        .collect();
    let mut out = format!(
        "Trials of ext4 and of ext4 again under another name, as they are and with the samples of\nthe second slowed by 15 % \
         (-13.0 %), on a loop file of {} MiB on {}, begun \
         {}. A trial ends when it is settled, or with\nits budget of {:.0} s. Intervals hold with 95 % confidence over all looks.\n\n\
         | trial | seed | blocks | took | ext4 to itself | winner | slowed | it is |\n|---|---|---|---|---|---|---|---|\n",
        first.bytes >> 20,
        first.host_filesystem,
        first.started,
        first.budget,
    );
    for row in &rows {
        writeln!(out, "{}", row.row).unwrap();
    }
    let count = |of: fn(&ControlResult) -> bool| rows.iter().filter(|row| of(row)).count();
    let (winners, found, missed) = (
        count(|row| row.names_a_winner),
        count(|row| row.finds_it),
        count(|row| row.misses_it),
    );
    let all = rows.len();
    writeln!(
        out,
        "\nOf {all} trials {winners} name a winner between ext4 and itself, and {found} find the slowed one."
    )
    .unwrap();
    let mut wrong = Vec::new();
    if winners * 20 > all * 3 {
        wrong.push(format!("{winners} of {all} name a winner among equals"));
    }
    if missed > 0 {
        wrong.push(format!("{missed} of {all} call the slowed one as fast"));
    }
    (out, wrong)
}
