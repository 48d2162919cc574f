//! Parses the text of `pg_test_fsync`: the format of 2011 without microseconds, and the formats
//! since PostgreSQL 9.3 (src/bin/pg_test_fsync/pg_test_fsync.c). Columns differ between releases,
//! so lines are split at white space.

use super::{ImportedRow, ImportedRun, implausible_rate_remark};
use crate::measure::BenchmarkSection;
use crate::text;

/// Ratio of two rates up to which the difference counts as noise.
const NOISE_RATIO: f64 = 1.05;

const HEADINGS: &[(&str, BenchmarkSection)] = &[
    (
        "Compare file sync methods using one",
        BenchmarkSection::OneWrite,
    ),
    (
        "Compare file sync methods using two",
        BenchmarkSection::TwoWrites,
    ),
    ("Compare open_sync with different", BenchmarkSection::Sizes),
    (
        "Test if fsync on non-write",
        BenchmarkSection::OtherDescriptor,
    ),
    ("Non-sync", BenchmarkSection::NotSynced),
    ("Non-Sync", BenchmarkSection::NotSynced),
];

/// Parses one or more runs of `pg_test_fsync`. Fails on translated output; the error names the
/// command that prints English output.
pub fn parse(input: &str) -> Result<Vec<ImportedRun>, &'static str> {
    let lines: Vec<&str> = input.lines().map(str::trim).collect();
    let starts: Vec<usize> = (0..lines.len())
        .filter(|at| is_run_start(&lines, *at))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let mut runs = Vec::new();
    for (start, end) in starts.iter().zip(ends) {
        let lines = lines.get(*start..end).unwrap_or_default();
        let rows = parse_rows(lines);
        if !rows.is_empty() {
            runs.push(build_imported_run(
                lines
                    .first()
                    .copied()
                    .and_then(budget_text_from_line)
                    .unwrap_or_default(),
                rows,
            ));
        }
    }
    let is_foreign = lines
        .iter()
        .any(|line| is_line_about_o_direct(line) && !line.starts_with(RUN_MARKER_LINE));
    if runs.is_empty() && is_foreign {
        Err(NOT_ENGLISH_ERROR)
    } else {
        Ok(runs)
    }
}

const NOT_ENGLISH_ERROR: &str =
    "this pg_test_fsync text is not in English: run LC_ALL=C pg_test_fsync";

/// Start of the second line of `pg_test_fsync`'s output.
const RUN_MARKER_LINE: &str = "O_DIRECT supported on this platform";

/// True for the line about O_DIRECT in any language: translated output keeps the names O_DIRECT,
/// open_datasync and open_sync.
fn is_line_about_o_direct(line: &str) -> bool {
    ["O_DIRECT", "open_datasync", "open_sync"]
        .iter()
        .all(|name| line.contains(name))
}

/// True if a run begins at this line, which has the time per test. The first run may also begin at
/// [`RUN_MARKER_LINE`], because quotations can lack the line with the time.
fn is_run_start(lines: &[&str], at: usize) -> bool {
    let line = lines.get(at).copied().unwrap_or_default();
    budget_text_from_line(line).is_some() || (at == 0 && line.starts_with(RUN_MARKER_LINE))
}

/// Parses the rows of one run. Lines without a known format are skipped, because web pages quote
/// and cut the output.
fn parse_rows(lines: &[&str]) -> Vec<ImportedRow> {
    let (mut rows, mut group) = (Vec::new(), None);
    for line in lines {
        if let Some((_, of)) = HEADINGS
            .iter()
            .find(|(heading, _)| line.starts_with(heading))
        {
            group = Some(*of);
            continue;
        }
        rows.extend(group.and_then(|group| parse_row(line, group)));
    }
    rows
}

fn budget_text_from_line(line: &str) -> Option<String> {
    let (count, rest) = line.split_once(' ')?;
    let known = ["seconds per test", "second per test", "operations per test"].contains(&rest);
    (known && count.parse::<u64>().is_ok()).then(|| line.to_owned())
}

fn parse_row(line: &str, group: BenchmarkSection) -> Option<ImportedRow> {
    let named = |name: &str| {
        let name: Vec<&str> = name.split_whitespace().collect();
        (!name.is_empty()).then(|| text::display_safe(name.join(" ").as_bytes()))
    };
    let of = |name, per_second, missing: Option<&str>| ImportedRow {
        group,
        name,
        per_second,
        at_a_time: Some(1),
        percentiles_us: Vec::new(),
        missing: missing.map(str::to_owned),
    };
    if let Some((before, _)) = line.split_once(" ops/sec") {
        let (name, figure) = before.rsplit_once(char::is_whitespace)?;
        let rate = figure
            .parse::<f64>()
            .ok()
            .filter(|rate| rate.is_finite() && *rate >= 0.0)?;
        return Some(of(named(name)?, Some(rate), None));
    }
    // `n/a*` means that the file system refuses O_DIRECT; `n/a` means that the build lacks the
    // method.
    if let Some(name) = line.strip_suffix("n/a*") {
        return Some(of(named(name)?, None, Some("O_DIRECT was refused")));
    }
    line.strip_suffix("n/a")
        .and_then(named)
        .map(|name| of(name, None, Some("not in this build")))
}

fn build_imported_run(budget: String, rows: Vec<ImportedRow>) -> ImportedRun {
    let tool = "pg_test_fsync".to_owned();
    let mut imported = ImportedRun {
        tool,
        budget,
        rows,
        remarks: Vec::new(),
        sentence: String::new(),
    };
    imported.remarks = build_remarks(&imported);
    imported.sentence = conclusion_sentence(&imported);
    imported
}

fn positive_rate(run: &ImportedRun, group: BenchmarkSection, name: &str) -> Option<f64> {
    run.find_row(group, name)?
        .per_second
        .filter(|rate| *rate > 0.0)
}

fn build_remarks(run: &ImportedRun) -> Vec<String> {
    let mut remarks: Vec<String> =
        implausible_rate_remark(&run.rows, |row| row.group != BenchmarkSection::NotSynced)
            .into_iter()
            .collect();
    for row in run
        .rows
        .iter()
        .filter(|row| row.group == BenchmarkSection::OneWrite)
    {
        let two = positive_rate(run, BenchmarkSection::TwoWrites, &row.name);
        if let Some((one, two)) = row
            .per_second
            .zip(two)
            .filter(|(one, two)| *two > NOISE_RATIO * one)
        {
            remarks.push(format!(
                "two writes with {} were faster ({}/s) than one ({}/s), even though they write more: \
                 the figures depend on more than the method.",
                row.name,
                text::format_rounded_and_grouped(two),
                text::format_rounded_and_grouped(one)
            ));
        }
    }
    // pg_test_fsync always uses O_DIRECT for the open methods and flushes after every write. No
    // server does so by default, so rows of these methods are not evidence.
    if run
        .rows
        .iter()
        .any(|row| row.name.starts_with("open_") && row.per_second.is_some())
    {
        remarks.push(
            "pg_test_fsync used O_DIRECT for the open methods; PostgreSQL does so only up to version 15, and only with \
             wal_level = minimal."
                .to_owned(),
        );
    }
    if !run
        .rows
        .iter()
        .any(|row| row.group == BenchmarkSection::NotSynced)
    {
        remarks.push("the output is incomplete: its last section is missing.".to_owned());
    }
    remarks
}

/// Summarises a run in a sentence, which never advises another method, because one figure per
/// method has no interval.
fn conclusion_sentence(run: &ImportedRun) -> String {
    let Some(default) = positive_rate(run, BenchmarkSection::OneWrite, "fdatasync") else {
        return "The file has no figure for fdatasync, the default on Linux, so it does not show \
                the commit latency of a server."
            .to_owned();
    };
    let costs = format!(
        "fdatasync completed {} commits/s in that run",
        text::format_rounded_and_grouped(default)
    );
    let gain =
        |group| Some(positive_rate(run, group, "fsync")? / positive_rate(run, group, "fdatasync")?);
    let gains = [
        gain(BenchmarkSection::OneWrite),
        gain(BenchmarkSection::TwoWrites),
    ];
    let least = gains
        .into_iter()
        .flatten()
        .reduce(f64::min)
        .filter(|_| gains.iter().all(Option::is_some));
    match least {
        Some(least) if least > NOISE_RATIO => format!(
            "{costs}. fsync was faster with one and with two writes, but a single figure per \
             method has no confidence interval; probe this host instead."
        ),
        _ => format!("{costs}; no other method is clearly faster."),
    }
}
