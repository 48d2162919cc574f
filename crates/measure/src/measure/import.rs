//! Figures measured elsewhere: the text of `pg_test_fsync` (three formats) and fio's JSON.
//!
//! Imported figures are shown separately and never used for advice. One figure per method has no
//! interval, and both tools open files differently from the server.

mod fio;
mod pg_test_fsync;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::BenchmarkSection;
use crate::text;

pub fn parse_benchmark_output(input: &[u8]) -> Result<Vec<ImportedRun>, String> {
    if let Some(runs) = fio::parse_if_fio_json(input) {
        return runs;
    }
    let runs = pg_test_fsync::parse(&String::from_utf8_lossy(input))?;
    if runs.is_empty() {
        return Err(
            "the file is neither the output of pg_test_fsync nor JSON of fio (--output-format=json)".to_owned(),
        );
    }
    Ok(runs)
}

pub fn imported_run_lines(run: &ImportedRun) -> Vec<String> {
    let mut lines = vec![format!("measured elsewhere: {}, {}", run.tool, run.budget)];
    let mut last = None;
    for row in &run.rows {
        if last != Some(row.group) {
            lines.push(format!("  {}", row.group.label()));
            last = Some(row.group);
        }
        lines.push(
            format!("    {:<32} {}", row.name, rate_and_percentiles_text(row))
                .trim_end()
                .to_owned(),
        );
    }
    lines.extend(run.remarks.iter().map(|remark| format!("  note: {remark}")));
    lines.push(format!("  {}", run.sentence));
    lines
}

fn rate_and_percentiles_text(row: &ImportedRow) -> String {
    let Some(rate) = row.per_second else {
        return row.missing.clone().unwrap_or_default();
    };
    let mut words = format!("{:>9}/s", text::format_rounded_and_grouped(rate));
    match row.group {
        // With several flushes in flight, or pauses between them, the inverse of the rate is not a
        // latency.
        BenchmarkSection::Job => match row.at_a_time {
            Some(1) => words += "  one at a time",
            Some(count) => {
                let _ = write!(words, "  {count} at a time");
            }
            None => words += "  number in flight unknown",
        },
        BenchmarkSection::OneWrite
        | BenchmarkSection::TwoWrites
        | BenchmarkSection::Sizes
        | BenchmarkSection::OtherDescriptor
        | BenchmarkSection::NotSynced => {
            if rate > 0.0 {
                let _ = write!(words, "  {:>9} each", text::format_micros(1e6 / rate));
            }
        }
    }
    let shown: Vec<String> = [50.0, 99.0]
        .into_iter()
        .filter_map(|percent| {
            let us = row.percentile_us(percent)?;
            Some(format!("p{percent:.0} {}", text::format_micros(us)))
        })
        .collect();
    if !shown.is_empty() {
        let _ = write!(words, "  one flush: {}", shown.join(", "));
    }
    words
}

/// Flushes per second that no block device exceeds; see
/// [`crate::measure::MaxPlausibleCommitRate::for_block_device`].
const MAX_FLUSHES_PER_SECOND: f64 = 100_000.0;

/// One run of `pg_test_fsync` or fio, with remarks and a conclusion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ImportedRun {
    /// The program, with its version if the output has it.
    pub tool: String,
    /// Duration or number of operations, in the tool's words.
    pub budget: String,
    /// Rows of figures, in the tool's order.
    pub rows: Vec<ImportedRow>,
    /// Sentences about the limits of these figures.
    pub remarks: Vec<String>,
    /// The conclusion for a server, in one sentence.
    pub sentence: String,
}

impl ImportedRun {
    pub fn find_row(&self, group: BenchmarkSection, name: &str) -> Option<&ImportedRow> {
        self.rows
            .iter()
            .find(|row| row.group == group && row.name == name)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ImportedRow {
    /// Section of the output that the figure comes from.
    pub group: BenchmarkSection,
    /// Name of the method or job, display-safe.
    pub name: String,
    /// Operations per second; absent if the output has no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// Most operations in flight at a time; absent if the output does not prove a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_a_time: Option<u64>,
    /// Percentiles of one flush, as `(percent, µs)`; empty if the tool reports none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles_us: Vec<(f64, f64)>,
    /// Reason for a missing figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl ImportedRow {
    pub fn percentile_us(&self, percent: f64) -> Option<f64> {
        self.percentiles_us
            .iter()
            .find(|(of, _)| (of - percent).abs() < 1e-6)
            .map(|(_, us)| *us)
    }

    /// Flushes per second with one flush in flight: the inverse of the median latency, or else
    /// the rate divided by the number in flight.
    pub fn flush_rate_with_one_in_flight(&self) -> Option<f64> {
        let by_latency = self
            .percentile_us(50.0)
            .filter(|us| *us > 0.0)
            .map(|us| 1e6 / us);
        by_latency.or_else(|| Some(self.per_second? / self.at_a_time? as f64))
    }
}

fn implausible_rate_remark(
    rows: &[ImportedRow],
    is_flushed: impl Fn(&ImportedRow) -> bool,
) -> Option<String> {
    let flushed = rows.iter().filter(|row| is_flushed(row));
    let (row, rate) = flushed
        .filter_map(|row| Some((row, row.flush_rate_with_one_in_flight()?)))
        .filter(|(_, rate)| *rate > MAX_FLUSHES_PER_SECOND)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "{} flushes/s with {} exceed the speed of any disk: the data was not flushed there (memory file system?).",
        text::format_rounded_and_grouped(rate),
        row.name
    ))
}

#[cfg(test)]
mod tests {
    // Files in tests/imports: `pg-9.5-*` and `pg-2011-*` are from digoal's articles of 2015 (a
    // virtual machine, CentOS 7) and 2011 (a SAS disk of 10,000 rpm, and memory); `pg-15.txt` is
    // `pg_test_fsync -s 1` of PostgreSQL 15 on a busy virtual machine; the others are fio 3.33,
    // shortened to what walwise reads.

    use proptest::prelude::*;

    use super::*;

    fn import_file(name: &str) -> Vec<ImportedRun> {
        let path = format!("{}/../../tests/imports/{name}", env!("CARGO_MANIFEST_DIR"));
        parse_benchmark_output(&std::fs::read(path).unwrap()).unwrap()
    }

    fn import_file_with_one_run(name: &str) -> ImportedRun {
        let mut runs = import_file(name);
        assert_eq!(runs.len(), 1, "{name}");
        runs.remove(0)
    }

    fn rate_of_row(run: &ImportedRun, group: BenchmarkSection, name: &str) -> f64 {
        run.find_row(group, name)
            .and_then(|row| row.per_second)
            .unwrap()
    }

    fn remarks_containing(run: &ImportedRun, word: &str) -> Vec<String> {
        run.remarks
            .iter()
            .filter(|remark| remark.contains(word))
            .cloned()
            .collect()
    }

    #[test]
    fn published_pg_9_5_runs_keep_their_ratios() {
        let [ext4, default, tuned] = ["ext4", "btrfs-default", "btrfs-tuned"]
            .map(|name| import_file_with_one_run(&format!("pg-9.5-{name}.txt")));
        let fdatasync = |run| rate_of_row(run, BenchmarkSection::OneWrite, "fdatasync");
        assert!(
            (fdatasync(&ext4) / fdatasync(&tuned) - 2.86).abs() < 0.01,
            "tuned btrfs has a third of ext4's rate"
        );
        assert!((fdatasync(&ext4) / fdatasync(&default) - 11.64).abs() < 0.01);
        for run in [&ext4, &default, &tuned] {
            assert_eq!(
                (run.rows.len(), run.budget.as_str()),
                (18, "5 seconds per test")
            );
            assert!(
                run.sentence
                    .ends_with("; no other method is clearly faster."),
                "{}",
                run.sentence
            );
        }
        assert_eq!(
            remarks_containing(&default, "two writes with").len(),
            1,
            "{:?}",
            default.remarks
        );
        assert!(
            default.remarks[0].contains("fsync were faster (519/s) than one (385/s)"),
            "{:?}",
            default.remarks
        );
        assert!(
            remarks_containing(&ext4, "two writes with").is_empty()
                && remarks_containing(&tuned, "two writes with").is_empty()
        );
    }

    #[test]
    fn pg_2011_format_has_operations_per_test() {
        let [disk, memory] =
            ["pg-2011-sas-ext3.txt", "pg-2011-tmpfs.txt"].map(import_file_with_one_run);
        assert_eq!(disk.budget, "2000 operations per test");
        assert!(
            (rate_of_row(&disk, BenchmarkSection::OneWrite, "fdatasync") - 159.689).abs() < 1e-9
        );
        assert!(
            (rate_of_row(&disk, BenchmarkSection::Sizes, "1kB open_sync writes") - 10.13).abs()
                < 1e-9
        );
        assert!(
            (rate_of_row(&disk, BenchmarkSection::NotSynced, "write") - 170_386.778).abs() < 1e-9
        );
        assert!(
            remarks_containing(&disk, "exceed the speed of any disk").is_empty(),
            "unflushed writes may be fast"
        );
        let missing = |name| {
            memory
                .find_row(BenchmarkSection::OneWrite, name)
                .unwrap()
                .missing
                .as_deref()
        };
        assert_eq!(missing("open_datasync"), Some("not in this build"));
        assert_eq!(missing("open_sync"), Some("O_DIRECT was refused"));
        assert_eq!(
            remarks_containing(&memory, "exceed the speed of any disk").len(),
            1,
            "{:?}",
            memory.remarks
        );
    }

    #[test]
    fn current_format_and_several_runs_are_parsed() {
        let run = import_file_with_one_run("pg-15.txt");
        assert_eq!(
            (run.budget.as_str(), run.rows.len()),
            ("1 second per test", 18)
        );
        assert!((rate_of_row(&run, BenchmarkSection::Sizes, "16 * 1kB open_sync writes")) > 0.0);
        let text = ["pg-15.txt", "pg-2011-tmpfs.txt"].map(|name| {
            std::fs::read_to_string(format!(
                "{}/../../tests/imports/{name}",
                env!("CARGO_MANIFEST_DIR")
            ))
            .unwrap()
        });
        let page = format!(
            "[root@db ~]# pg_test_fsync\r\n{}\nand then\n{}",
            text[0], text[1]
        );
        assert_eq!(parse_benchmark_output(page.as_bytes()).unwrap().len(), 2);
        // pg_test_fsync stops here on a disk with 4 kB sectors, which refuses smaller direct
        // writes.
        let cut = text[0].split("2kB open_sync").next().unwrap();
        assert_eq!(
            remarks_containing(
                &parse_benchmark_output(cut.as_bytes()).unwrap()[0],
                "its last section is missing"
            )
            .len(),
            1
        );
    }

    #[test]
    fn translated_output_is_rejected_and_comma_rates_skipped() {
        let german = "1 Sekunde pro Test\nO_DIRECT wird von dieser Plattform für open_datasync und open_sync unterstützt.\n";
        assert!(
            parse_benchmark_output(german.as_bytes())
                .unwrap_err()
                .ends_with("run LC_ALL=C pg_test_fsync")
        );
        // A comma may separate decimals or thousands, so a rate with a comma is ignored.
        let commas = "5 seconds per test\nCompare file sync methods using one 8kB write:\n  fdatasync  2,283 ops/sec\n  fsync 250.5 ops/sec\n";
        let run = parse_benchmark_output(commas.as_bytes()).unwrap().remove(0);
        assert!(
            run.find_row(BenchmarkSection::OneWrite, "fdatasync")
                .is_none()
        );
        assert!((rate_of_row(&run, BenchmarkSection::OneWrite, "fsync") - 250.5).abs() < 1e-9);
    }

    #[test]
    fn fio_flush_rates_and_depths_are_imported() {
        /// File name; flushes per second and number in flight of each row; whether the sentence has
        /// the rate of one client.
        type ExpectedFioImport = (&'static str, &'static [(f64, Option<u64>)], bool);
        let expected: [ExpectedFioImport; 15] = [
            ("libaio-depth-16", &[(3449.0, Some(16))], false),
            ("uring-depth-4", &[(8253.0, Some(4))], false),
            ("offloaded", &[(13643.0, None)], false),
            ("depth-of-a-synchronous-engine", &[(653.0, Some(1))], true),
            (
                "four-jobs-apart",
                &[
                    (2256.0, Some(1)),
                    (2557.0, Some(1)),
                    (2558.0, Some(1)),
                    (2613.0, Some(1)),
                ],
                false,
            ),
            ("four-jobs-summed", &[(4410.0, Some(4))], false),
            ("eight-osync-summed", &[(13216.0, Some(8))], false),
            ("two-sections-summed", &[(3171.0, None)], false),
            ("one-flushes-three-do-not-summed", &[(302.0, None)], false),
            ("two-at-once", &[(229.0, Some(1)), (408.0, Some(1))], false),
            (
                "every-fourth-then-dsync-depth-8",
                &[(1283.0, Some(1)), (12550.0, Some(8))],
                true,
            ),
            ("reads-too", &[(1256.0, Some(1))], true),
            ("pauses", &[(129.0, Some(1))], true),
            ("ramp", &[(392.0, Some(1))], true),
            ("too-few-writes", &[(128_000.0, Some(1))], false),
        ];
        for (name, rows, is_of_one_session) in expected {
            let run = import_file_with_one_run(&format!("fio/{name}.json"));
            let found: Vec<(f64, Option<u64>)> = run
                .rows
                .iter()
                .map(|row| (row.per_second.unwrap().round(), row.at_a_time))
                .collect();
            assert_eq!(found, rows, "{name}");
            assert_eq!(
                run.sentence.contains("flushes/s in that run"),
                is_of_one_session,
                "{name}: {}",
                run.sentence
            );
            let shown = imported_run_lines(&run).join("\n");
            assert!(
                !shown.contains(" each"),
                "one over the rate is no time: {shown}"
            );
            assert!(
                remarks_containing(&run, "exceed the speed of any disk").is_empty(),
                "{name}: {:?}",
                run.remarks
            );
        }
        assert_eq!(
            remarks_containing(
                &import_file_with_one_run("fio/four-jobs-apart.json"),
                "4 jobs ran at the same time as others"
            )
            .len(),
            1
        );
        assert_eq!(
            remarks_containing(
                &import_file_with_one_run("fio/too-few-writes.json"),
                "flushed nothing"
            )
            .len(),
            1
        );
    }

    #[test]
    fn only_flushing_fio_jobs_count() {
        let run = import_file_with_one_run("fio-fdatasync.json");
        let job = &run.rows[0];
        assert_eq!((run.tool.as_str(), job.name.as_str()), ("fio-3.33", "wal"));
        assert!((job.per_second.unwrap() - 283.009_467).abs() < 1e-6);
        assert!(
            job.percentiles_us
                .iter()
                .any(|(percent, us)| (*percent - 99.0).abs() < 0.1 && *us > 1_000.0),
            "{job:?}"
        );
        let run = import_file_with_one_run("fio-dsync-and-dry.json");
        assert_eq!(
            remarks_containing(&run, "dry flushed nothing").len(),
            1,
            "{:?}",
            run.remarks
        );
        // The sample file was shortened and lost its `groupid` values, so its jobs may have run
        // together.
        assert!(
            run.sentence.starts_with("No job ran alone"),
            "{}",
            run.sentence
        );
        assert!(
            run.rows[0].percentiles_us.len() > 10,
            "with sync= the write is the flush"
        );
    }

    #[test]
    fn unknown_input_is_rejected() {
        for text in [
            "",
            "hello",
            "{}",
            "{\"fio version\": \"fio-3\"}",
            "5 seconds per test\n",
        ] {
            assert!(parse_benchmark_output(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_input_gives_display_safe_lines(noise in proptest::collection::vec(any::<u8>(), 0..400), at in 0..2_000usize) {
            for name in ["pg-15.txt", "fio-fdatasync.json"] {
                let path = format!("{}/../../tests/imports/{name}", env!("CARGO_MANIFEST_DIR"));
                let mut text = std::fs::read(path).unwrap();
                let at = at.min(text.len());
                text.splice(at..at, noise.iter().copied());
                for run in parse_benchmark_output(&text).unwrap_or_default() {
                    let shown = imported_run_lines(&run).join("\n");
                    prop_assert!(!shown.chars().any(|c| text::is_display_unsafe(c) && c != '\n'), "{shown:?}");
                }
            }
        }

        #[test]
        fn malformed_line_loses_at_most_one_row(line in 0..40usize, noise in "[ -~]{0,30}") {
            let path = format!("{}/../../tests/imports/pg-15.txt", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let whole = parse_benchmark_output(text.as_bytes()).unwrap();
            let mut lines: Vec<&str> = text.lines().collect();
            let at = line % lines.len();
            prop_assume!(lines[at].contains("ops/sec"));
            lines[at] = &noise;
            let hurt = parse_benchmark_output(lines.join("\n").as_bytes()).unwrap();
            let lost = whole[0].rows.iter().filter(|row| !hurt[0].rows.contains(row)).count();
            prop_assert!(lost <= 1, "{lost}");
        }
    }
}
