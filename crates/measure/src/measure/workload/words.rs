//! Workloads in words: the sentence of each, and the lines of the probe's own output. Row names are
//! those of the prober; a sentence omits parts without a row.

use super::super::{Conclusion, Method, PgTest};
use super::result::{Workload, WorkloadResult, WorkloadRow};
use crate::text;

/// The sentence about the results.
pub(super) fn sentence(workload: Workload, rows: &[WorkloadRow]) -> String {
    let said = match workload {
        Workload::Segment => segment(rows),
        Workload::Group => group(rows),
        Workload::Innodb => innodb(rows),
        Workload::Files => files(rows),
        Workload::Entangle => entangle(rows),
        Workload::Floor => floor(rows),
        Workload::PgTestFsync => tool(rows),
        Workload::Transaction => transaction(rows),
    };
    said.unwrap_or_else(|| "Too little was measured: it ended before its first round.".to_owned())
}

fn measured<'r>(rows: &'r [WorkloadRow], name: &str) -> Option<&'r WorkloadRow> {
    rows.iter().find(|row| row.name == name && row.samples > 0)
}

fn median(rows: &[WorkloadRow], name: &str) -> Option<String> {
    measured(rows, name).map(|row| text::micros(row.median_us.value))
}

/// The duration of an operation relative to the row it is compared with.
fn beside(rows: &[WorkloadRow], name: &str) -> Option<String> {
    let row = measured(rows, name)?;
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
fn as_many(row: &WorkloadRow) -> Option<String> {
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

fn tool(rows: &[WorkloadRow]) -> Option<String> {
    let row = measured(rows, &PgTest::Pages(1, Method::Fdatasync).name())?;
    Some(format!(
        "pg_test_fsync would show {} ops/sec for fdatasync.",
        text::rounded(1e6 / row.mean_us.max(1e-3))
    ))
}

fn segment(rows: &[WorkloadRow]) -> Option<String> {
    Some(format!(
        "A commit into a recycled segment takes {}; into a new one filled with zeros {}, into one that was not {}. \
         Such a segment is made in {}, {} and {}.",
        median(rows, "recycled")?,
        beside(rows, "filled with zeros")?,
        beside(rows, "not filled")?,
        median(rows, "recycling")?,
        median(rows, "filling with zeros")?,
        median(rows, "making, not filled")?,
    ))
}

fn group(rows: &[WorkloadRow]) -> Option<String> {
    let (one, most) = ends(rows)?;
    Some(format!(
        "One session completes {} commits a second, {} together {} ({}), each waiting {} (median), with {:.2} flushes \
         per commit.",
        text::rounded(one.per_second.value),
        most.threads,
        text::rounded(most.per_second.value),
        as_many(most)?,
        text::micros(most.median_us.value),
        most.flush_calls_per_operation,
    ))
}

fn innodb(rows: &[WorkloadRow]) -> Option<String> {
    Some(format!(
        "A transaction of 512 bytes in redo log and binary log takes {}, one of 4 kB {}. A flush of the binary log, which \
         grows, takes {} as one of the redo log.",
        median(rows, "both in turn, 512 B")?,
        median(rows, "both in turn, 4 kB")?,
        beside(rows, "binlog, fdatasync, 512 B")?,
    ))
}

fn transaction(rows: &[WorkloadRow]) -> Option<String> {
    let (_, most) = ends(rows)?;
    let together = format!(
        "Then {} sessions together get {} done a second",
        most.threads,
        text::rounded(most.per_second.value)
    );
    let Some(both) = median(rows, "redo log and binary log") else {
        return Some(format!("{together}."));
    };
    Some(format!(
        "A flush of the binary log takes {} as one of the redo log; with sync_binlog = 1 a transaction waits for both, \
         {both} (median). {together}.",
        beside(rows, "binary log")?,
    ))
}

fn files(rows: &[WorkloadRow]) -> Option<String> {
    let (one, most) = ends(rows)?;
    Some(format!(
        "One thread makes {} small files a second durable, {} together {} ({}).",
        text::rounded(one.per_second.value),
        most.threads,
        text::rounded(most.per_second.value),
        as_many(most)?,
    ))
}

fn entangle(rows: &[WorkloadRow]) -> Option<String> {
    let p95 = |name| measured(rows, name).map(|row| text::micros(row.p95_us));
    Some(format!(
        "Beside a writer on the same file system a commit with fdatasync takes {} as alone (p95 {} instead of {}), with \
         fsync {} (p95 {} instead of {}).",
        beside(rows, "fdatasync, beside a writer")?,
        p95("fdatasync, beside a writer")?,
        p95("fdatasync, alone")?,
        beside(rows, "fsync, beside a writer")?,
        p95("fsync, beside a writer")?,
        p95("fsync, alone")?,
    ))
}

fn floor(rows: &[WorkloadRow]) -> Option<String> {
    let (write, open) = (median(rows, "write")?, median(rows, "open, write, close")?);
    let direct = median(rows, "write, O_DIRECT");
    let direct = direct.map_or_else(String::new, |us| {
        format!("; with O_DIRECT {us}, to the disk but not durable")
    });
    Some(format!(
        "A write of 8 kB that is never flushed takes {write}, {open} when the file is opened for each{direct}."
    ))
}

/// The rows with the fewest and the most threads.
fn ends(rows: &[WorkloadRow]) -> Option<(&WorkloadRow, &WorkloadRow)> {
    let measured = || rows.iter().filter(|row| row.samples > 0);
    Some((
        measured().min_by_key(|row| row.threads)?,
        measured().max_by_key(|row| row.threads)?,
    ))
}

/// A title, a heading, one line per row and the sentence.
pub fn lines(found: &WorkloadResult) -> Vec<String> {
    let title = format!(
        "{}: {}; {} rounds",
        found.workload.name(),
        found.operation,
        found.rounds
    );
    let heading = format!(
        "{:<30} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}  cost",
        "", "median", "p95", "p99", "max", "a second", "sync/op"
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
        text::rounded(row.per_second.value),
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

    fn found(workload: Workload, rows: &[Series]) -> WorkloadResult {
        WorkloadResult::new(workload, rows, false)
    }

    #[test]
    fn a_group_says_what_sharing_gives() {
        let rows = [
            series("1 session", 1, 200.0),
            series("16 sessions", 16, 400.0),
        ];
        insta::assert_snapshot!(lines(&found(Workload::Group, &rows)).join("\n"), @r#"
group: commits of 512 B; one flush covers all that are waiting; fdatasync; 8 rounds
                                  median       p95       p99       max  a second sync/op  cost
1 session                         200 µs    200 µs         -    200 µs     5 000    1.00
16 sessions                       400 µs    400 µs         -    400 µs    40 000    1.00  0.12 × 1 session (0.12 to 0.12)
One session completes 5 000 commits a second, 16 together 40 000 (8.0 × as many), each waiting 400 µs (median), with 1.00 flushes per commit.
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
        insta::assert_snapshot!(found(Workload::Entangle, &rows).sentence, @r#"
Beside a writer on the same file system a commit with fdatasync takes 1.5 × as long as alone (p95 150 µs instead of 100 µs), with fsync 9.0 × as long (p95 900 µs instead of 200 µs).
"#);
        let rows = [
            series("write", 1, 2.0),
            series("open, write, close", 1, 5.0),
        ];
        insta::assert_snapshot!(found(Workload::Floor, &rows).sentence, @r#"
A write of 8 kB that is never flushed takes 2.0 µs, 5.0 µs when the file is opened for each.
"#);
    }

    #[test]
    fn nothing_measured_is_said() {
        for workload in Workload::ALL {
            let found = found(workload, &[Series::new("write", 1)]);
            assert!(
                found.sentence.starts_with("Too little"),
                "{}",
                found.sentence
            );
        }
    }
}
