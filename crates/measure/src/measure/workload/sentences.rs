//! Summarises each workload in one sentence. Rows are found by the names that the load generators
//! give them.

use super::super::ComparisonConclusion;
use super::{Workload, WorkloadResult, WorkloadRow};
use crate::text;

pub(super) fn workload_sentence(workload: Workload, rows: &[WorkloadRow]) -> String {
    let said = match workload {
        Workload::Segment => segment_sentence(rows),
        Workload::Group => group_commit_sentence(rows),
        Workload::Innodb => innodb_sentence(rows),
        Workload::Files => small_files_sentence(rows),
        Workload::Entangle => neighbour_writer_sentence(rows),
        Workload::PgTestFsync => pg_test_fsync_sentence(rows),
        Workload::Transaction => transaction_sentence(rows),
        Workload::Commit => commit_sentence(rows),
    };
    said.unwrap_or_else(|| {
        "Nothing was measured: the workload ended before its first round.".to_owned()
    })
}

pub(super) fn find_measured_row<'r>(
    rows: &'r [WorkloadRow],
    name: &str,
) -> Option<&'r WorkloadRow> {
    rows.iter().find(|row| row.name == name && row.samples > 0)
}

fn median_text(rows: &[WorkloadRow], name: &str) -> Option<String> {
    find_measured_row(rows, name).map(|row| text::format_micros(row.median_us.value))
}

fn ratio_to_reference_row_text(rows: &[WorkloadRow], name: &str) -> Option<String> {
    let row = find_measured_row(rows, name)?;
    let ratio = row.cost_ratio?;
    Some(match row.settled? {
        ComparisonConclusion::Settled => format!("{:.1} × as long", ratio.value),
        ComparisonConclusion::NoMeaningfulDifference => "just as long".to_owned(),
        ComparisonConclusion::NotSettled => format!(
            "{:.1} to {:.1} × as long (undecided)",
            ratio.low, ratio.high
        ),
    })
}

fn throughput_ratio_text(row: &WorkloadRow) -> Option<String> {
    let times = |ratio: f64| 1.0 / ratio.max(1e-9);
    let ratio = row.cost_ratio?;
    Some(match row.settled? {
        ComparisonConclusion::Settled => format!("{:.1} × as many", times(ratio.value)),
        ComparisonConclusion::NoMeaningfulDifference => "just as many".to_owned(),
        ComparisonConclusion::NotSettled => {
            format!(
                "{:.1} to {:.1} × as many, undecided",
                times(ratio.high),
                times(ratio.low)
            )
        }
    })
}

fn rate_text(row: &WorkloadRow) -> String {
    text::format_rounded_and_grouped(row.per_second.value)
}

fn pg_test_fsync_sentence(rows: &[WorkloadRow]) -> Option<String> {
    let row = find_measured_row(rows, "one 8 kB write: fdatasync")?;
    Some(format!(
        "pg_test_fsync would show {} ops/sec for fdatasync.",
        text::format_rounded_and_grouped(1e6 / row.mean_us.max(1e-3))
    ))
}

fn segment_sentence(rows: &[WorkloadRow]) -> Option<String> {
    Some(format!(
        "A commit into a recycled segment takes {}. Into a new segment it takes {} if zero-filled, {} if not filled. \
         Recycling a segment takes {}, creating a zero-filled one {} and an unfilled one {}.",
        median_text(rows, "recycled")?,
        ratio_to_reference_row_text(rows, "filled with zeros")?,
        ratio_to_reference_row_text(rows, "not filled")?,
        median_text(rows, "recycling")?,
        median_text(rows, "filling with zeros")?,
        median_text(rows, "creating, not filled")?,
    ))
}

fn group_commit_sentence(rows: &[WorkloadRow]) -> Option<String> {
    let (one, most) = rows_with_fewest_and_most_threads(rows)?;
    Some(format!(
        "1 client completes {} commits/s (mean); {} clients complete {} ({}). With all clients, a commit waits {} (median), with {:.2} \
         flushes per commit.",
        rate_text(one),
        most.threads,
        rate_text(most),
        throughput_ratio_text(most)?,
        text::format_micros(most.median_us.value),
        most.flush_calls_per_operation,
    ))
}

fn innodb_sentence(rows: &[WorkloadRow]) -> Option<String> {
    Some(format!(
        "A 512 B transaction in redo log and binary log takes {}, and a 4 kB one {}. A flush of the growing binary log \
         takes {} as a flush of the redo log.",
        median_text(rows, "both in turn, 512 B")?,
        median_text(rows, "both in turn, 4 kB")?,
        ratio_to_reference_row_text(rows, "binlog, fdatasync, 512 B")?,
    ))
}

fn transaction_sentence(rows: &[WorkloadRow]) -> Option<String> {
    let (_, most) = rows_with_fewest_and_most_threads(rows)?;
    let together = format!(
        "{} clients together complete {} transactions/s (mean)",
        most.threads,
        rate_text(most)
    );
    let Some(both) = median_text(rows, "redo log and binary log") else {
        return Some(format!("{together}."));
    };
    Some(format!(
        "A flush of the binary log takes {} as a flush of the redo log. With sync_binlog = 1, a transaction waits for both, \
         {both} (median). {together}.",
        ratio_to_reference_row_text(rows, "binary log")?,
    ))
}

fn commit_sentence(rows: &[WorkloadRow]) -> Option<String> {
    let row = rows.iter().find(|row| row.samples > 0)?;
    Some(format!(
        "A back-to-back commit takes {} (median).",
        text::format_micros(row.median_us.value)
    ))
}

fn small_files_sentence(rows: &[WorkloadRow]) -> Option<String> {
    let (one, most) = rows_with_fewest_and_most_threads(rows)?;
    Some(format!(
        "1 thread writes {} durable small files/s, {} threads {} ({}).",
        rate_text(one),
        most.threads,
        rate_text(most),
        throughput_ratio_text(most)?,
    ))
}

fn neighbour_writer_sentence(rows: &[WorkloadRow]) -> Option<String> {
    let p95 = |name| find_measured_row(rows, name).map(|row| text::format_micros(row.p95_us));
    Some(format!(
        "Next to a writer on the same file system, fdatasync takes {} as alone (p95 {} instead of {}), \
         and fsync {} (p95 {} instead of {}).",
        ratio_to_reference_row_text(rows, "fdatasync, next to a writer")?,
        p95("fdatasync, next to a writer")?,
        p95("fdatasync, alone")?,
        ratio_to_reference_row_text(rows, "fsync, next to a writer")?,
        p95("fsync, next to a writer")?,
        p95("fsync, alone")?,
    ))
}

fn rows_with_fewest_and_most_threads(rows: &[WorkloadRow]) -> Option<(&WorkloadRow, &WorkloadRow)> {
    let measured = || rows.iter().filter(|row| row.samples > 0);
    Some((
        measured().min_by_key(|row| row.threads)?,
        measured().max_by_key(|row| row.threads)?,
    ))
}

pub fn workload_lines(found: &WorkloadResult) -> Vec<String> {
    let title = format!(
        "{}: {}; {} rounds",
        found.workload.name(),
        found.operation,
        found.rounds
    );
    let heading = format!(
        "{:<30} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}  ratio",
        "", "median", "p95", "p99", "max", "ops/s", "sync/op"
    );
    let rows = found.rows.iter().map(workload_row_line);
    [title, heading]
        .into_iter()
        .chain(rows)
        .chain([found.sentence.clone()])
        .collect()
}

fn workload_row_line(row: &WorkloadRow) -> String {
    let name = &row.name;
    if let Some(error) = &row.error {
        return format!("{name:<30} {error}");
    }
    let p99 = row
        .p99_us
        .map_or_else(|| "-".to_owned(), text::format_micros);
    let cost =
        row.cost_ratio
            .zip(row.against.as_ref())
            .map_or_else(String::new, |(ratio, against)| {
                format!(
                    "{:.2} × {against} ({:.2} to {:.2})",
                    ratio.value, ratio.low, ratio.high
                )
            });
    let line = format!(
        "{name:<30} {:>9} {:>9} {p99:>9} {:>9} {:>9} {:>7.2}  {cost}",
        text::format_micros(row.median_us.value),
        text::format_micros(row.p95_us),
        text::format_micros(row.max_us),
        rate_text(row),
        row.flush_calls_per_operation,
    );
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{RoundSamples, RowSamples};

    fn sample_series(name: &str, threads: u32, us: f64) -> RowSamples {
        let seconds = 10.0 * us / 1e6 / f64::from(threads);
        let pass = RoundSamples {
            times_us: vec![us; 10],
            seconds,
            flush_calls: 10,
            flushes: None,
        };
        let against = (threads > 1 || name.contains("next to")).then_some(0);
        RowSamples {
            threads,
            against,
            rounds: vec![pass; 8],
            ..RowSamples::new(name, 512)
        }
    }

    fn workload_result(workload: Workload, rows: &[RowSamples]) -> WorkloadResult {
        WorkloadResult::new(workload, rows, false)
    }

    #[test]
    fn group_commit_lines_have_throughput_ratio() {
        let rows = [
            sample_series("1 session", 1, 200.0),
            sample_series("16 sessions", 16, 400.0),
        ];
        insta::assert_snapshot!(workload_lines(&workload_result(Workload::Group, &rows)).join("\n"), @r#"
group: commits of 512 B; one fdatasync covers all waiting commits; 8 rounds
                                  median       p95       p99       max     ops/s sync/op  ratio
1 session                         200 µs    200 µs         -    200 µs     5 000    1.00
16 sessions                       400 µs    400 µs         -    400 µs    40 000    1.00  0.12 × 1 session (0.12 to 0.12)
1 client completes 5 000 commits/s (mean); 16 clients complete 40 000 (8.0 × as many). With all clients, a commit waits 400 µs (median), with 1.00 flushes per commit.
"#);
    }

    #[test]
    fn neighbour_sentence_compares_with_commits_alone() {
        let rows = [
            "fdatasync, alone",
            "fdatasync, next to a writer",
            "fsync, alone",
            "fsync, next to a writer",
        ];
        let rows: Vec<_> = rows
            .iter()
            .zip([100.0, 150.0, 200.0, 900.0])
            .map(|(n, us)| sample_series(n, 1, us))
            .collect();
        insta::assert_snapshot!(workload_result(Workload::Entangle, &rows).sentence, @r#"
Next to a writer on the same file system, fdatasync takes 1.5 × as long as alone (p95 150 µs instead of 100 µs), and fsync 9.0 × as long (p95 900 µs instead of 200 µs).
"#);
    }

    #[test]
    fn sentence_without_samples_says_nothing_measured() {
        for workload in Workload::ALL {
            let found = workload_result(workload, &[RowSamples::new("write", 1)]);
            assert!(
                found.sentence.starts_with("Nothing was measured"),
                "{}",
                found.sentence
            );
        }
    }
}
