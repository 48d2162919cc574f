//! `pg_test_fsync`'s text: that of 2011 without microseconds (2,000 operations per test), and those
//! since 9.3, with `n/a` for methods that the build lacks and `n/a*` for those that the file system
//! refuses with O_DIRECT (src/bin/pg_test_fsync/pg_test_fsync.c).
//!
//! Columns differ between releases, so lines are read by tokens. The open methods are always
//! measured with O_DIRECT and with one flush per write. No current server does that, so their rows
//! are no evidence.

use super::run::{Imported, ImportedRow, implausible};
use crate::measure::group::Group;
use crate::text;

/// By how much a bigger write may be faster before it is remarked.
const NOISE: f64 = 1.05;

/// The headings, by their beginnings.
const HEADINGS: &[(&str, Group)] = &[
    ("Compare file sync methods using one", Group::OneWrite),
    ("Compare file sync methods using two", Group::TwoWrites),
    ("Compare open_sync with different", Group::Sizes),
    ("Test if fsync on non-write", Group::OtherDescriptor),
    ("Non-sync", Group::NotSynced),
    ("Non-Sync", Group::NotSynced),
];

/// Looks through a text; a page may hold several runs. An error says what to do about one that is
/// not in English.
pub fn read(input: &str) -> Result<Vec<Imported>, &'static str> {
    let lines: Vec<&str> = input.lines().map(str::trim).collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|at| begins(&lines, *at)).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let mut runs = Vec::new();
    for (start, end) in starts.iter().zip(ends) {
        let lines = lines.get(*start..end).unwrap_or_default();
        let rows = rows(lines);
        if !rows.is_empty() {
            runs.push(run(
                lines.first().copied().and_then(budget).unwrap_or_default(),
                rows,
            ));
        }
    }
    let is_foreign = lines
        .iter()
        .any(|line| is_marker(line) && !line.starts_with(MARKER));
    if runs.is_empty() && is_foreign {
        Err(FOREIGN)
    } else {
        Ok(runs)
    }
}

/// What to do about a text in another language.
const FOREIGN: &str = "this text of pg_test_fsync is not in English: run LC_ALL=C pg_test_fsync";

/// The second line of every run.
const MARKER: &str = "O_DIRECT supported on this platform";

/// The same in any language: the names in it are never translated.
fn is_marker(line: &str) -> bool {
    ["O_DIRECT", "open_datasync", "open_sync"]
        .iter()
        .all(|name| line.contains(name))
}

/// Whether a run begins there, with its time per test or, in a quotation without it, with the
/// marker.
fn begins(lines: &[&str], at: usize) -> bool {
    let line = lines.get(at).copied().unwrap_or_default();
    budget(line).is_some() || (at == 0 && line.starts_with(MARKER))
}

/// The rows of a run, under its headings. Other lines are skipped: pages quote, and cut.
fn rows(lines: &[&str]) -> Vec<ImportedRow> {
    let (mut rows, mut group) = (Vec::new(), None);
    for line in lines {
        if let Some((_, of)) = HEADINGS
            .iter()
            .find(|(heading, _)| line.starts_with(heading))
        {
            group = Some(*of);
            continue;
        }
        rows.extend(group.and_then(|group| row(line, group)));
    }
    rows
}

/// `5 seconds per test`, `1 second per test`, `2000 operations per test`.
fn budget(line: &str) -> Option<String> {
    let (count, rest) = line.split_once(' ')?;
    let known = ["seconds per test", "second per test", "operations per test"].contains(&rest);
    (known && count.parse::<u64>().is_ok()).then(|| line.to_owned())
}

fn row(line: &str, group: Group) -> Option<ImportedRow> {
    let named = |name: &str| {
        let name: Vec<&str> = name.split_whitespace().collect();
        (!name.is_empty()).then(|| text::safe(name.join(" ").as_bytes()))
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
    if let Some(name) = line.strip_suffix("n/a*") {
        return Some(of(named(name)?, None, Some("O_DIRECT was refused")));
    }
    line.strip_suffix("n/a")
        .and_then(named)
        .map(|name| of(name, None, Some("not in this build")))
}

fn run(budget: String, rows: Vec<ImportedRow>) -> Imported {
    let tool = "pg_test_fsync".to_owned();
    let mut imported = Imported {
        tool,
        budget,
        rows,
        remarks: Vec::new(),
        sentence: String::new(),
    };
    imported.remarks = remarks(&imported);
    imported.sentence = sentence(&imported);
    imported
}

fn rate(run: &Imported, group: Group, name: &str) -> Option<f64> {
    run.row(group, name)?.per_second.filter(|rate| *rate > 0.0)
}

fn remarks(run: &Imported) -> Vec<String> {
    let mut remarks: Vec<String> = implausible(&run.rows, |row| row.group != Group::NotSynced)
        .into_iter()
        .collect();
    for row in run.rows.iter().filter(|row| row.group == Group::OneWrite) {
        let two = rate(run, Group::TwoWrites, &row.name);
        if let Some((one, two)) = row
            .per_second
            .zip(two)
            .filter(|(one, two)| *two > NOISE * one)
        {
            remarks.push(format!(
                "two writes with {} were faster ({}/s) than one ({}/s), which the amount written does not explain: \
                 the figures depend on more than the method.",
                row.name,
                text::rounded(two),
                text::rounded(one)
            ));
        }
    }
    if run
        .rows
        .iter()
        .any(|row| row.name.starts_with("open_") && row.per_second.is_some())
    {
        remarks.push(
            "the open methods were measured with O_DIRECT, which servers since 16 do not use, nor older ones that \
             somebody could replicate from."
                .to_owned(),
        );
    }
    if !run.rows.iter().any(|row| row.group == Group::NotSynced) {
        remarks.push("it ended before its last section.".to_owned());
    }
    remarks
}

/// The conclusion: the default stays, because nothing here is evidence against it.
fn sentence(run: &Imported) -> String {
    let Some(default) = rate(run, Group::OneWrite, "fdatasync") else {
        return "There is no figure for fdatasync, the default on Linux, so nothing follows for a server."
            .to_owned();
    };
    let costs = format!(
        "fdatasync made {} commits per second there",
        text::rounded(default)
    );
    let gain = |group| Some(rate(run, group, "fsync")? / rate(run, group, "fdatasync")?);
    let gains = [gain(Group::OneWrite), gain(Group::TwoWrites)];
    let least = gains
        .into_iter()
        .flatten()
        .reduce(f64::min)
        .filter(|_| gains.iter().all(Option::is_some));
    match least {
        Some(least) if least > NOISE => format!(
            "{costs}; fsync made more with one and with two writes, but one figure per method has no interval: measure here."
        ),
        _ => format!("{costs}; nothing in it argues for another method."),
    }
}
