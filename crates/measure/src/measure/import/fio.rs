//! fio's JSON (`--output-format=json`): flush rate, number in flight and latency of each job. The
//! rate is the inverse of the latency only for one flush at a time without pauses.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{ImportedRow, ImportedRun, implausible_rate_remark};
use crate::measure::BenchmarkSection;
use crate::text::{self, json};
use walwise_model::text::JoinText;

/// Parses fio's JSON document as one run; `None` if the input is not fio's JSON.
pub fn parse_if_fio_json(input: &[u8]) -> Option<Result<Vec<ImportedRun>, String>> {
    // fio prints warnings before the JSON document and nothing after it. Text after the document
    // means two runs in one file, which are not one result.
    let (document, _) = json::split_first_json_object(input)
        .filter(|(_, behind)| behind.trim_ascii().is_empty())?;
    let version = document.get("fio version")?;
    let Some(jobs) = document.get("jobs").and_then(Value::as_array) else {
        return Some(Err("this fio JSON has no jobs".to_owned()));
    };
    let global = document.get("global options");
    let jobs: Vec<FioJobResult> = jobs
        .iter()
        .map(|job| FioJobResult::from_json(job, global, jobs))
        .collect();
    let rows: Vec<ImportedRow> = jobs.iter().filter_map(|job| job.row.clone()).collect();
    let flushed: Vec<(&FioJobResult, &ImportedRow, f64)> = jobs
        .iter()
        .filter(|job| job.has_flushes)
        .filter_map(|job| Some((job, job.row.as_ref()?, job.row.as_ref()?.per_second?)))
        .collect();
    let dry: BTreeSet<&str> = jobs
        .iter()
        .filter(|job| !job.has_flushes)
        .map(|job| job.name.as_str())
        .collect();
    let mut remarks: Vec<String> =
        implausible_rate_remark(&rows, |row| flushed.iter().any(|(_, of, _)| *of == row))
            .into_iter()
            .collect();
    if !dry.is_empty() {
        remarks.push(format!(
            "{} flushed nothing (no fsync=, fdatasync= or sync=, or too few writes), so there are \
             no figures for commits.",
            dry.into_iter().join_with(", ")
        ));
    }
    let beside = jobs.iter().filter(|job| job.concurrent_results > 1).count();
    if beside > 1 {
        remarks.push(format!(
            "{beside} jobs ran at the same time as others (numjobs=, or no stonewall), so none of them had the disk to itself."
        ));
    }
    let alone = flushed
        .iter()
        .filter(|(job, row, _)| job.concurrent_results == 1 && row.at_a_time == Some(1));
    let sentence = match alone.max_by(|a, b| a.2.total_cmp(&b.2)) {
        Some((_, row, rate)) => {
            format!(
                "{} completed {} flushes/s in that run. A single figure has no confidence interval; probe this \
                 host instead.",
                row.name,
                text::format_rounded_and_grouped(*rate)
            )
        }
        None if flushed.is_empty() => {
            "No job flushed anything, so the file does not show the commit latency of a server."
                .to_owned()
        }
        None => "No job ran alone with one flush at a time, as a single client does; probe this host instead."
            .to_owned(),
    };
    Some(Ok(vec![ImportedRun {
        tool: text::display_safe(version.as_str().unwrap_or("fio").as_bytes()),
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

struct FioJobResult {
    name: String,
    has_flushes: bool,
    /// Number of results in the job's group, this result included: jobs of a group run together.
    concurrent_results: usize,
    /// The figures of the writes; `None` if the result has no statistics of writes.
    row: Option<ImportedRow>,
}

impl FioJobResult {
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
        let name = text::display_safe(name.and_then(Value::as_str).unwrap_or("job").as_bytes());
        // Without aggregation there is one result per process, each with the name of the job. A
        // name that occurs once stands for the sum of all processes.
        let processes = if of_name == 1 { options.processes } else { 1 };
        let row = job.get("write").map(|writes| {
            let per_second = seen
                .flushes_per_second(&options)
                .filter(|rate| rate.is_finite() && *rate > 0.0);
            let of_writes = ["clat_ns", "lat_ns"]
                .into_iter()
                .find_map(|name| writes.get(name)?.get("percentile"));
            let of_flushes = job
                .get("sync")
                .and_then(|sync| sync.get("lat_ns")?.get("percentile"));
            let percentiles = of_flushes.or(of_writes.filter(|_| options.is_sync));
            ImportedRow {
                group: BenchmarkSection::Job,
                name: name.clone(),
                per_second,
                at_a_time: seen.configured_flushes_in_flight(&options, processes),
                percentiles_us: percentiles
                    .and_then(Value::as_object)
                    .map(percentiles_in_micros)
                    .unwrap_or_default(),
                missing: per_second.is_none().then(|| "wrote nothing".to_owned()),
            }
        });
        Self {
            name,
            has_flushes: flushes,
            concurrent_results: of_group.count(),
            row,
        }
    }
}

/// Options of a job, which override fio's global options. An aggregated result has the options of
/// its last job.
struct JobOptions {
    /// Operations per flush, from the options `fsync=` and `fdatasync=`.
    flush_every: Vec<u64>,
    /// True with the option `sync=`: each write is a flush too (HOWTO of fio, `sync` and `lat_ns`;
    /// stat.c).
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
        let count = |name: &str| option(name).and_then(parse_option_number).unwrap_or(0);
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

/// Counters of a result; `None` for a counter that this version of fio lacks.
struct IoCounters {
    writes_per_second: Option<f64>,
    operations: f64,
    /// Number of separate flush calls, without the writes of `sync=`. The number comes from the
    /// latency samples, because `sync.total_ios` counts only `fsync` and not `fdatasync`.
    flushes: Option<f64>,
    seconds: f64,
    /// Average number of operations in flight: sum of the latencies divided by the elapsed time.
    mean_in_flight: f64,
    /// True if at most one operation was ever queued, as with a synchronous engine, whatever
    /// `iodepth` is.
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
            mean_in_flight: if seconds > 0.0 { took / seconds } else { 0.0 },
            is_queued_singly: levels.is_some_and(|levels| !levels.is_empty() && !deeper(levels)),
        }
    }

    fn flushes_per_second(&self, options: &JobOptions) -> Option<f64> {
        let counted = self
            .flushes
            .filter(|flushes| *flushes > 0.0 && self.seconds > 0.0 && !options.is_sync);
        match counted {
            Some(flushes) => Some(flushes / self.seconds),
            None => self
                .writes_per_second
                .map(|rate| rate / self.writes_per_flush(options)),
        }
    }

    fn writes_per_flush(&self, options: &JobOptions) -> f64 {
        let is_told = self.flushes.is_none() && !options.is_sync;
        options
            .flush_every
            .iter()
            .filter(|_| is_told)
            .min()
            .map_or(1.0, |every| *every as f64)
    }

    /// The configured number of flushes in flight; `None` if the counters contradict the
    /// configuration.
    ///
    /// Contradictions occur in aggregated jobs (`group_reporting`), which fio does not mark. Such a
    /// row has the name of the first job and the options of the last.
    fn configured_flushes_in_flight(&self, options: &JobOptions, processes: u64) -> Option<u64> {
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
        // A process may end before its next flush is due, so a difference of two flushes per
        // process is accepted.
        let slack = 0.05 * due + 2.0 * processes as f64;
        let is_told = self
            .flushes
            .is_none_or(|flushes| (flushes - due).abs() <= slack);
        // The mean counts writes and flushes, so with queued writes it can be twice the queue's
        // depth.
        let most = if count == 1 { 1.2 } else { 2.2 * count as f64 };
        (is_told && self.mean_in_flight <= most).then_some(count)
    }
}

/// fio's JSON has the values of options as strings. An option without a value is 1.
fn parse_option_number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) if text.is_empty() => Some(1),
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
}

fn percentiles_in_micros(percentiles: &Map<String, Value>) -> Vec<(f64, f64)> {
    let pair =
        |(percent, ns): (&String, &Value)| Some((percent.parse::<f64>().ok()?, ns.as_f64()? / 1e3));
    let mut pairs: Vec<(f64, f64)> = percentiles.iter().filter_map(pair).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}
