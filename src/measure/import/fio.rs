//! fio's JSON (`--output-format=json`): per job the rate of writes, and the latency of its flushes with percentiles.
//!
//! The surprise: a job without `fsync=`, `fdatasync=` or `sync=` flushed nothing, and its figures say nothing of commits,
//! however good they look. Latencies of flushes are separate from those of writes only for fsync and fdatasync; with
//! `sync=` the write is the flush (HOWTO of fio, `sync` and `lat_ns`).

use serde_json::{Map, Value};

use super::{Group, Imported, ImportedRow, implausible};
use crate::text;

/// The run, or what is wrong with it; `None` for what is no JSON of fio.
pub fn read(input: &[u8]) -> Option<Result<Vec<Imported>, String>> {
    // fio prints warnings before the document.
    let start = input.iter().position(|b| *b == b'{')?;
    let document: Value = serde_json::from_slice(input.get(start..)?).ok()?;
    let version = document.get("fio version")?;
    let Some(jobs) = document.get("jobs").and_then(Value::as_array) else {
        return Some(Err("this JSON of fio has no jobs".to_owned()));
    };
    let global = document.get("global options");
    let options: Vec<Options> = jobs.iter().map(|job| Options::of(job, global)).collect();
    let rows: Vec<ImportedRow> =
        jobs.iter().zip(&options).filter_map(|(job, options)| row(job, options)).collect();
    let dry: Vec<&str> = options.iter().filter(|job| !job.flushes()).map(|job| job.name.as_str()).collect();
    let mut remarks: Vec<String> =
        implausible(&rows, |row| !dry.contains(&row.name.as_str())).into_iter().collect();
    if !dry.is_empty() {
        remarks.push(format!(
            "{} flushed nothing (no fsync=, fdatasync= or sync=), so its figures say nothing of commits.",
            dry.join(", ")
        ));
    }
    let flushed = rows.iter().filter(|row| !dry.contains(&row.name.as_str()));
    let best = flushed.filter_map(|row| Some((row, row.per_second?))).max_by(|a, b| a.1.total_cmp(&b.1));
    let sentence = match best {
        Some((row, rate)) => {
            format!(
                "{} flushed {} times per second there; one figure has no interval: measure here.",
                row.name,
                text::rounded(rate)
            )
        }
        None => "No job flushed anything, so nothing follows for a server.".to_owned(),
    };
    Some(Ok(vec![Imported {
        tool: text::safe(version.as_str().unwrap_or("fio").as_bytes()),
        budget: if jobs.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", jobs.len()) },
        rows,
        remarks,
        sentence,
    }]))
}

/// What a job was told; its own options win over the global ones.
struct Options {
    name: String,
    flush_every: u64,
    is_sync: bool,
}

impl Options {
    fn of(job: &Value, global: Option<&Value>) -> Self {
        let own = job.get("job options");
        let option =
            |name: &str| own.and_then(|of| of.get(name)).or_else(|| global.and_then(|of| of.get(name)));
        let count = |name: &str| option(name).and_then(number).unwrap_or(0);
        let sync = option("sync").and_then(Value::as_str).unwrap_or("0");
        Self {
            name: text::safe(job.get("jobname").and_then(Value::as_str).unwrap_or("job").as_bytes()),
            flush_every: count("fsync").max(count("fdatasync")),
            is_sync: !matches!(sync, "0" | "none"),
        }
    }

    fn flushes(&self) -> bool {
        self.flush_every > 0 || self.is_sync
    }
}

/// Options are strings in fio's JSON; an option that is only named is 1.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) if text.is_empty() => Some(1),
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
}

fn row(job: &Value, options: &Options) -> Option<ImportedRow> {
    let writes = job.get("write")?;
    let per_second =
        writes.get("iops").and_then(Value::as_f64).filter(|rate| rate.is_finite() && *rate > 0.0);
    // A flush per so many writes.
    let every = options.flush_every.max(1) as f64;
    let of_flushes = job.get("sync").and_then(|sync| sync.get("lat_ns"));
    let of_writes = ["clat_ns", "lat_ns"].into_iter().find_map(|name| writes.get(name)?.get("percentile"));
    let percentiles =
        of_flushes.and_then(|lat| lat.get("percentile")).or(of_writes.filter(|_| options.is_sync));
    Some(ImportedRow {
        group: Group::Job,
        name: options.name.clone(),
        per_second: per_second.map(|rate| rate / every),
        percentiles_us: percentiles.and_then(Value::as_object).map(in_micros).unwrap_or_default(),
        missing: per_second.is_none().then(|| "wrote nothing".to_owned()),
    })
}

/// `{"50.000000": 123456}` in nanoseconds, by rising percent.
fn in_micros(percentiles: &Map<String, Value>) -> Vec<(f64, f64)> {
    let pair = |(percent, ns): (&String, &Value)| Some((percent.parse::<f64>().ok()?, ns.as_f64()? / 1e3));
    let mut pairs: Vec<(f64, f64)> = percentiles.iter().filter_map(pair).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}
