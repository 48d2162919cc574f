//! Sentence and table of each workload. Row names are those of the prober; a sentence leaves out
//! parts without a row.

use super::super::{Conclusion, Method, PgTest};
use super::result::{Workload, WorkloadResult, WorkloadRow};
use crate::text;

pub(super) fn sentence(workload: Workload, rows: &[WorkloadRow]) -> String {
    let said = match workload {
        Workload::Segment => segment(rows),
        Workload::Group => group(rows),
        Workload::Innodb => innodb(rows),
        Workload::Files => files(rows),
        Workload::Entangle => entangle(rows),
        Workload::Floor => floor(rows),
        Workload::PgTestFsync => pg_test_fsync(rows),
        Workload::Transaction => transaction(rows),
    };
    said.unwrap_or_else(|| {
        "Nothing measured: the workload ended before its first round.".to_owned()
    })
}

fn measured_row<'r>(rows: &'r [WorkloadRow], name: &str) -> Option<&'r WorkloadRow> {
    rows.iter().find(|row| row.name == name && row.samples > 0)
}

fn median_text(rows: &[WorkloadRow], name: &str) -> Option<String> {
    measured_row(rows, name).map(|row| text::micros(row.median_us.value))
}

/// The latency relative to the reference row.
fn duration_ratio(rows: &[WorkloadRow], name: &str) -> Option<String> {
    let row = measured_row(rows, name)?;
    let ratio = row.cost_ratio?;
    Some(match row.settled? {
        Conclusion::Settled => format!("{:.1} × as long", ratio.value),
        Conclusion::NoMeaningfulDifference => "just as long".to_owned(),
        Conclusion::NotSettled => format!(
            "{:.1} to {:.1} × as long (undecided)",
            ratio.low, ratio.high
        ),
    })
}

/// The throughput of several threads relative to one.
fn throughput_ratio(row: &WorkloadRow) -> Option<String> {
    let times = |ratio: f64| 1.0 / ratio.max(1e-9);
    let ratio = row.cost_ratio?;
    Some(match row.settled? {
        Conclusion::Settled => format!("{:.1} × as many", times(ratio.value)),
        Conclusion::NoMeaningfulDifference => "no more".to_owned(),
        Conclusion::NotSettled => {
            format!(
                "{:.1} to {:.1} × as many, undecided",
                times(ratio.high),
                times(ratio.low)
            )
        }
    })
}

fn pg_test_fsync(rows: &[WorkloadRow]) -> Option<String> {
    let row = measured_row(rows, &PgTest::Pages(1, Method::Fdatasync).name())?;
    Some(format!(
        "pg_test_fsync would show {} ops/sec for fdatasync.",
        text::round_grouped(1e6 / row.mean_us.max(1e-3))
    ))
}

fn segment(rows: &[WorkloadRow]) -> Option<String> {
    Some(format!(
        "A commit into a recycled segment takes {}; into a new zero-filled one {}, into a new unfilled one {}. \
         Making such a segment takes {}, {} and {}.",
        median_text(rows, "recycled")?,
        duration_ratio(rows, "filled with zeros")?,
        duration_ratio(rows, "not filled")?,
        median_text(rows, "recycling")?,
        median_text(rows, "filling with zeros")?,
        median_text(rows, "making, not filled")?,
    ))
}

fn group(rows: &[WorkloadRow]) -> Option<String> {
    let (one, most) = fewest_and_most_threads(rows)?;
    Some(format!(
        "1 client completes {} commits/s (mean), {} clients {} ({}). Each commit then waits {} (median), with {:.2} \
         flushes per commit.",
        text::round_grouped(one.per_second.value),
        most.threads,
        text::round_grouped(most.per_second.value),
        throughput_ratio(most)?,
        text::micros(most.median_us.value),
        most.flush_calls_per_operation,
    ))
}

fn innodb(rows: &[WorkloadRow]) -> Option<String> {
    Some(format!(
        "A 512 B transaction in redo log and binary log takes {}, a 4 kB one {}. A flush of the growing binary log \
         takes {} as one of the redo log.",
        median_text(rows, "both in turn, 512 B")?,
        median_text(rows, "both in turn, 4 kB")?,
        duration_ratio(rows, "binlog, fdatasync, 512 B")?,
    ))
}

fn transaction(rows: &[WorkloadRow]) -> Option<String> {
    let (_, most) = fewest_and_most_threads(rows)?;
    let together = format!(
        "{} clients together complete {} transactions/s (mean)",
        most.threads,
        text::round_grouped(most.per_second.value)
    );
    let Some(both) = median_text(rows, "redo log and binary log") else {
        return Some(format!("{together}."));
    };
    Some(format!(
        "A flush of the binary log takes {} as one of the redo log; with sync_binlog = 1 a transaction waits for both, \
         {both} (median). {together}.",
        duration_ratio(rows, "binary log")?,
    ))
}

fn files(rows: &[WorkloadRow]) -> Option<String> {
    let (one, most) = fewest_and_most_threads(rows)?;
    Some(format!(
        "1 thread writes {} durable small files/s, {} threads {} ({}).",
        text::round_grouped(one.per_second.value),
        most.threads,
        text::round_grouped(most.per_second.value),
        throughput_ratio(most)?,
    ))
}

fn entangle(rows: &[WorkloadRow]) -> Option<String> {
    let p95 = |name| measured_row(rows, name).map(|row| text::micros(row.p95_us));
    Some(format!(
        "Next to a writer on the same file system, fdatasync takes {} as alone (p95 {} instead of {}), \
         fsync {} (p95 {} instead of {}).",
        duration_ratio(rows, "fdatasync, beside a writer")?,
        p95("fdatasync, beside a writer")?,
        p95("fdatasync, alone")?,
        duration_ratio(rows, "fsync, beside a writer")?,
        p95("fsync, beside a writer")?,
        p95("fsync, alone")?,
    ))
}

fn floor(rows: &[WorkloadRow]) -> Option<String> {
    let (write, open) = (
        median_text(rows, "write")?,
        median_text(rows, "open, write, close")?,
    );
    let direct = median_text(rows, "write, O_DIRECT");
    let direct = direct.map_or_else(String::new, |us| {
        format!("; with O_DIRECT {us}, to the disk but not durable")
    });
    Some(format!(
        "An unflushed 8 kB write takes {write}, {open} if the file is opened for each{direct}."
    ))
}

/// Rows with the fewest and the most threads.
fn fewest_and_most_threads(rows: &[WorkloadRow]) -> Option<(&WorkloadRow, &WorkloadRow)> {
    let measured = || rows.iter().filter(|row| row.samples > 0);
    Some((
        measured().min_by_key(|row| row.threads)?,
        measured().max_by_key(|row| row.threads)?,
    ))
}

/// Title, heading, one line per row, and the sentence.
pub fn lines(found: &WorkloadResult) -> Vec<String> {
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
    let rows = found.rows.iter().map(line);
    [title, heading]
        .into_iter()
        .chain(rows)
        .chain([found.sentence.clone()])
        .collect()
}

fn line(row: &WorkloadRow) -> String {
    let name = &row.name;
    if let Some(error) = &row.error {
        return format!("{name:<30} {error}");
    }
    let p99 = row.p99_us.map_or_else(|| "-".to_owned(), text::micros);
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
        text::micros(row.median_us.value),
        text::micros(row.p95_us),
        text::micros(row.max_us),
        text::round_grouped(row.per_second.value),
        row.flush_calls_per_operation,
    );
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Pass, Series};

    fn series(name: &str, threads: u32, us: f64) -> Series {
        let seconds = 10.0 * us / 1e6 / f64::from(threads);
        let pass = Pass {
            times_us: vec![us; 10],
            seconds,
            flush_calls: 10,
            flushes: None,
        };
        let against = (threads > 1 || name.contains("beside")).then_some(0);
        Series {
            threads,
            against,
            rounds: vec![pass; 8],
            ..Series::new(name, 512)
        }
    }

    fn workload_result(workload: Workload, rows: &[Series]) -> WorkloadResult {
        WorkloadResult::new(workload, rows, false)
    }

    #[test]
    fn a_group_says_what_sharing_gives() {
        let rows = [
            series("1 session", 1, 200.0),
            series("16 sessions", 16, 400.0),
        ];
        insta::assert_snapshot!(lines(&workload_result(Workload::Group, &rows)).join("\n"), @r#"
group: commits of 512 B; one fdatasync covers all that are waiting; 8 rounds
                                  median       p95       p99       max     ops/s sync/op  ratio
1 session                         200 µs    200 µs         -    200 µs     5 000    1.00
16 sessions                       400 µs    400 µs         -    400 µs    40 000    1.00  0.12 × 1 session (0.12 to 0.12)
1 client completes 5 000 commits/s (mean), 16 clients 40 000 (8.0 × as many). Each commit then waits 400 µs (median), with 1.00 flushes per commit.
"#);
    }

    #[test]
    fn other_rows_make_other_sentences() {
        let rows = [
            "fdatasync, alone",
            "fdatasync, beside a writer",
            "fsync, alone",
            "fsync, beside a writer",
        ];
        let rows: Vec<_> = rows
            .iter()
            .zip([100.0, 150.0, 200.0, 900.0])
            .map(|(n, us)| series(n, 1, us))
            .collect();
        insta::assert_snapshot!(workload_result(Workload::Entangle, &rows).sentence, @r#"
Next to a writer on the same file system, fdatasync takes 1.5 × as long as alone (p95 150 µs instead of 100 µs), fsync 9.0 × as long (p95 900 µs instead of 200 µs).
"#);
        let rows = [
            series("write", 1, 2.0),
            series("open, write, close", 1, 5.0),
        ];
        insta::assert_snapshot!(workload_result(Workload::Floor, &rows).sentence, @r#"
An unflushed 8 kB write takes 2.0 µs, 5.0 µs if the file is opened for each.
"#);
    }

    #[test]
    fn nothing_measured_is_said() {
        for workload in Workload::ALL {
            let found = workload_result(workload, &[Series::new("write", 1)]);
            assert!(
                found.sentence.starts_with("Nothing measured"),
                "{}",
                found.sentence
            );
        }
    }
}
