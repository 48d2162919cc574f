//! fio's JSON (`--output-format=json`): per job the rate of flushes, the number in flight, and the
//! duration of one.
//!
//! Rate and latency are independent: one is the other's inverse only where a job flushes one at a
//! time without pauses. The output does not say that fio aggregated several jobs
//! (`group_reporting`), and names such a row after its first job with the options of its last. The
//! options are therefore checked against the counters. `sync.total_ios` counts `fsync` alone and
//! not `fdatasync`; the samples of the latency count both. A job without any flush says nothing
//! about commits. With `sync=` the write is the flush (HOWTO of fio, `sync` and `lat_ns`; stat.c).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::run::{Imported, ImportedRow, implausible};
use crate::measure::group::Group;
use crate::text::{self, json};

/// The runs, or the error in them; `None` for a text that is no JSON of fio.
pub fn read(input: &[u8]) -> Option<Result<Vec<Imported>, String>> {
    // Warnings stand before the document, and nothing behind it: two runs in one file are not one
    // of them.
    let (document, _) = json::first(input).filter(|(_, behind)| behind.trim_ascii().is_empty())?;
    let version = document.get("fio version")?;
    let Some(jobs) = document.get("jobs").and_then(Value::as_array) else {
        return Some(Err("this JSON of fio has no jobs".to_owned()));
    };
    let global = document.get("global options");
    let jobs: Vec<JobStatistics> = jobs
        .iter()
        .map(|job| JobStatistics::from_json(job, global, jobs))
        .collect();
    let rows: Vec<ImportedRow> = jobs.iter().filter_map(|job| job.row.clone()).collect();
    let flushed: Vec<(&JobStatistics, &ImportedRow, f64)> = jobs
        .iter()
        .filter(|job| job.flushes)
        .filter_map(|job| Some((job, job.row.as_ref()?, job.row.as_ref()?.per_second?)))
        .collect();
    let dry: BTreeSet<&str> = jobs
        .iter()
        .filter(|job| !job.flushes)
        .map(|job| job.name.as_str())
        .collect();
    let mut remarks: Vec<String> =
        implausible(&rows, |row| flushed.iter().any(|(_, of, _)| *of == row))
            .into_iter()
            .collect();
    if !dry.is_empty() {
        remarks.push(format!(
            "{} flushed nothing (no fsync=, fdatasync= or sync=, or too few writes), so its figures say nothing of commits.",
            dry.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    let beside = jobs.iter().filter(|job| job.companions > 1).count();
    if beside > 1 {
        remarks.push(format!(
            "{beside} jobs ran beside others (numjobs=, or no stonewall), so a row is one among several."
        ));
    }
    let alone = flushed
        .iter()
        .filter(|(job, row, _)| job.companions == 1 && row.at_a_time == Some(1));
    let sentence = match alone.max_by(|a, b| a.2.total_cmp(&b.2)) {
        Some((_, row, rate)) => {
            format!(
                "{} flushed {} times per second there; one figure has no interval: measure here.",
                row.name,
                text::rounded(*rate)
            )
        }
        None if flushed.is_empty() => "No job flushed anything, so nothing follows for a server.".to_owned(),
        None => "No job flushed alone and one at a time, as a session commits, so no rate is that of a session: measure here."
            .to_owned(),
    };
    Some(Ok(vec![Imported {
        tool: text::safe(version.as_str().unwrap_or("fio").as_bytes()),
        budget: if jobs.len() == 1 {
            "1 job".to_owned()
        } else {
            format!("{} jobs", jobs.len())
        },
        rows,
        remarks,
        sentence,
    }]))
}

/// One of fio's results: of a job, or of several aggregated ones.
struct JobStatistics {
    name: String,
    /// Whether anything was flushed.
    flushes: bool,
    /// The number of results of the same time, including this one: jobs of a group run together.
    companions: usize,
    /// `None` where it is not about writing.
    row: Option<ImportedRow>,
}

impl JobStatistics {
    fn from_json(job: &Value, global: Option<&Value>, all: &[Value]) -> Self {
        let options = JobOptions::from_json(job, global);
        let (name, group) = (job.get("jobname"), job.get("groupid"));
        let of_group = all.iter().filter(|other| other.get("groupid") == group);
        let of_name = of_group
            .clone()
            .filter(|other| other.get("jobname") == name)
            .count();
        let seen = IoCounters::from_json(job);
        let flushes = match seen.flushes {
            Some(flushes) => flushes > 0.0 || options.is_sync,
            None => !options.flush_every.is_empty() || options.is_sync,
        };
        let name = text::safe(name.and_then(Value::as_str).unwrap_or("job").as_bytes());
        // As many results with its name as it should have processes: they were not aggregated.
        let processes = if of_name == 1 { options.processes } else { 1 };
        let row = job.get("write").map(|writes| {
            let per_second = seen
                .per_second(&options)
                .filter(|rate| rate.is_finite() && *rate > 0.0);
            let of_writes = ["clat_ns", "lat_ns"]
                .into_iter()
                .find_map(|name| writes.get(name)?.get("percentile"));
            let of_flushes = job
                .get("sync")
                .and_then(|sync| sync.get("lat_ns")?.get("percentile"));
            let percentiles = of_flushes.or(of_writes.filter(|_| options.is_sync));
            ImportedRow {
                group: Group::Job,
                name: name.clone(),
                per_second,
                at_a_time: seen.at_a_time(&options, processes),
                percentiles_us: percentiles
                    .and_then(Value::as_object)
                    .map(in_micros)
                    .unwrap_or_default(),
                missing: per_second.is_none().then(|| "wrote nothing".to_owned()),
            }
        });
        Self {
            name,
            flushes,
            companions: of_group.count(),
            row,
        }
    }
}

/// The options of a job; its own ones override the global ones. For an aggregate, the options of
/// one of its jobs.
struct JobOptions {
    /// The number of operations before a flush is due, for each kind of flush that is configured.
    flush_every: Vec<u64>,
    is_sync: bool,
    processes: u64,
    depth: u64,
}

impl JobOptions {
    fn from_json(job: &Value, global: Option<&Value>) -> Self {
        let own = job.get("job options");
        let option = |name: &str| {
            own.and_then(|of| of.get(name))
                .or_else(|| global.and_then(|of| of.get(name)))
        };
        let count = |name: &str| option(name).and_then(number).unwrap_or(0);
        let sync = option("sync").and_then(Value::as_str).unwrap_or("0");
        Self {
            flush_every: ["fsync", "fdatasync"]
                .map(count)
                .into_iter()
                .filter(|every| *every > 0)
                .collect(),
            is_sync: !matches!(sync, "0" | "none"),
            processes: count("numjobs").max(1),
            depth: count("iodepth").max(1),
        }
    }
}

/// The counters; `None` where this version of fio lacks them.
struct IoCounters {
    /// Writes per second.
    writes_per_second: Option<f64>,
    operations: f64,
    /// Separate flushes, without those of `sync=`.
    flushes: Option<f64>,
    seconds: f64,
    /// The average number in flight: the sum of their times, divided by the elapsed time.
    busy: f64,
    /// Whether no more than one was ever queued, as with a synchronous engine, whatever its
    /// configured depth.
    is_queued_singly: bool,
}

impl IoCounters {
    fn from_json(job: &Value) -> Self {
        let of = |part: &str| job.get(part);
        let figure = |part: &str, name: &str| of(part)?.get(name)?.as_f64();
        let latency = |part: &str, name: &str| of(part)?.get("lat_ns")?.get(name)?.as_f64();
        let seconds = figure("write", "runtime").unwrap_or(0.0) / 1e3;
        let count = |part| figure(part, "total_ios").unwrap_or(0.0);
        let flushes = latency("sync", "N");
        let took = |part, count: f64| count * latency(part, "mean").unwrap_or(0.0) / 1e9;
        let took = took("write", count("write"))
            + took("read", count("read"))
            + took("sync", flushes.unwrap_or(0.0));
        let deeper = |levels: &Map<String, Value>| {
            levels.iter().any(|(level, share)| {
                level != "1" && share.as_f64().is_none_or(|share| share > 0.0)
            })
        };
        let levels = of("iodepth_level").and_then(Value::as_object);
        Self {
            writes_per_second: figure("write", "iops"),
            operations: count("write") + count("read"),
            flushes,
            seconds,
            busy: if seconds > 0.0 { took / seconds } else { 0.0 },
            is_queued_singly: levels.is_some_and(|levels| !levels.is_empty() && !deeper(levels)),
        }
    }

    /// Flushes per second; for a job without flushes, its writes.
    fn per_second(&self, options: &JobOptions) -> Option<f64> {
        let counted = self
            .flushes
            .filter(|flushes| *flushes > 0.0 && self.seconds > 0.0 && !options.is_sync);
        match counted {
            Some(flushes) => Some(flushes / self.seconds),
            None => self
                .writes_per_second
                .map(|rate| rate / self.every(options)),
        }
    }

    /// Writes per flush, where flushes were not counted.
    fn every(&self, options: &JobOptions) -> f64 {
        let is_told = self.flushes.is_none() && !options.is_sync;
        options
            .flush_every
            .iter()
            .filter(|_| is_told)
            .min()
            .map_or(1.0, |every| *every as f64)
    }

    /// The number according to the options, unless the counters show that the options are not those
    /// of the whole aggregate.
    fn at_a_time(&self, options: &JobOptions, processes: u64) -> Option<u64> {
        let count = processes.saturating_mul(if self.is_queued_singly {
            1
        } else {
            options.depth
        });
        let due: f64 = options
            .flush_every
            .iter()
            .map(|every| self.operations / *every as f64)
            .sum();
        // A process may end before its next flush is due.
        let slack = 0.05 * due + 2.0 * processes as f64;
        let is_told = self
            .flushes
            .is_none_or(|flushes| (flushes - due).abs() <= slack);
        // Where flushes are queued too, they count besides the writes.
        let most = if count == 1 { 1.2 } else { 2.2 * count as f64 };
        (is_told && self.busy <= most).then_some(count)
    }
}

/// Options are strings in fio's JSON; an option without a value is 1.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) if text.is_empty() => Some(1),
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
}

/// `{"50.000000": 123456}` in nanoseconds, by rising percent.
fn in_micros(percentiles: &Map<String, Value>) -> Vec<(f64, f64)> {
    let pair =
        |(percent, ns): (&String, &Value)| Some((percent.parse::<f64>().ok()?, ns.as_f64()? / 1e3));
    let mut pairs: Vec<(f64, f64)> = percentiles.iter().filter_map(pair).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}
