//! `walwise probe`: the measurements alone; `check` shares the code that measures.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use serde::Serialize;

use super::args::{From, Load, PlainFormat, Probe};
use super::out::{self, ExitResult, print};
use super::signals::Listener;
use super::{CliError, host, input};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::WalFlushMethod;
use crate::measure::{
    Imported, Measurement, PG_TESTS, Phase, Workload, import, imported_table, in_the_tools_layout,
    latency_lines, sentence, sizes, workload_lines,
};
use crate::probes::{self, ProbeError, ProbeOptions, ProbePlan, Progress};
use crate::report::json;
use crate::rules::RuleSet;
use crate::session::{self, MeasurementOptions, RowSelection};
use crate::text;

/// The default duration of a measurement in seconds.
const SECONDS: f64 = 10.0;

/// The default duration of a test of `pg_test_fsync` in seconds, as in that tool.
const PG_TEST_SECONDS: f64 = 5.0;

/// Measures in one directory, when one is named; prints the result, then the imported figures.
pub(super) fn run(args: &Probe) -> ExitResult {
    let imported = read_all(&args.import)?;
    match &args.directory {
        Some(directory) => measured(args, directory, &imported),
        None => show(
            &ProbeOutput {
                measured: None,
                imported: &imported,
            },
            None,
            args.format,
        ),
    }
}

fn measured(args: &Probe, directory: &Path, imported: &[Imported]) -> ExitResult {
    let session = host::look(&From::default(), Some(directory), RuleSet::default())?;
    let (facts, _) = session.judged();
    let Some(target) = session::measurable(&facts).into_iter().next() else {
        let why =
            session::unreadable(&facts).map(|why| anyhow!("cannot be measured: {why}").into());
        let nothing = || {
            CliError::Usage(format!(
                "{} is not an existing directory",
                directory.display()
            ))
        };
        return Err(why.unwrap_or_else(nothing));
    };
    let per_test = args.seconds.unwrap_or(PG_TEST_SECONDS);
    let (seconds, (rows, workloads)) = if args.pg_test_fsync {
        (
            per_test * PG_TESTS.len() as f64,
            (RowSelection::Nothing, vec![Workload::PgTestFsync]),
        )
    } else {
        (args.seconds.unwrap_or(SECONDS), wanted(&args.workload))
    };
    let options = MeasurementOptions {
        scratch: args.scratch.clone(),
        seconds,
        rows,
        workloads,
        probe: ProbeOptions {
            keep_samples: args.flags.samples,
            nice: args.flags.nice,
            force: args.flags.force,
        },
    };
    let plan = session::prepare(&facts, &target, &options).map_err(anyhow::Error::new)?;
    let (outcome, signal) = measure(&plan)?;
    let (found, error) = match outcome {
        Ok(found) => (Some(found), None),
        Err(mut error) => (error.partial.take().map(|partial| *partial), Some(error)),
    };
    let ended = match (signal, error) {
        (Some(number), error) => Some(CliError::Signal(number, error.map(|error| error.message))),
        (None, error) => error.map(|error| anyhow::Error::new(error).into()),
    };
    // Measurements made before an interruption are kept.
    let printed = match found.filter(|found| !found.cancelled || found.has_rounds()) {
        None => Ok(0),
        Some(found) if args.pg_test_fsync && args.format == PlainFormat::Text => {
            let rows = found
                .workloads
                .first()
                .map(|found| found.rows.as_slice())
                .unwrap_or_default();
            print(&in_the_tools_layout(rows, per_test))
        }
        Some(found) => {
            let in_force = match session::method_in_force(&facts, &target) {
                WalFlushMethod::Is(method) => Some(method),
                WalFlushMethod::Default | WalFlushMethod::Unknown => None,
            };
            show(
                &ProbeOutput {
                    measured: Some(&found),
                    imported,
                },
                in_force,
                args.format,
            )
        }
    };
    ended.map_or(printed, Err)
}

/// The largest output of a measuring tool that is read, in bytes.
const LARGEST_IMPORT: u64 = 16 << 20;

fn read_all(files: &[PathBuf]) -> Result<Vec<Imported>, CliError> {
    let mut all = Vec::new();
    for file in files {
        let unusable = |why: String| CliError::Usage(format!("{}: {why}", file.display()));
        let bytes =
            input::bytes(file, LARGEST_IMPORT).map_err(|e| unusable(text::error_words(&e)))?;
        all.extend(import(&bytes).map_err(unusable)?);
    }
    Ok(all)
}

/// The rows of the comparison, and the workloads, for names on the command line.
fn wanted(names: &[Load]) -> (RowSelection, Vec<Workload>) {
    let all = names.contains(&Load::All);
    let rows = match names {
        [] => RowSelection::All,
        _ if all || names.contains(&Load::Wal) => RowSelection::Sizes,
        _ => RowSelection::Nothing,
    };
    let is_wanted = |workload: &Workload| {
        all || names
            .iter()
            .any(|name| workload_of(*name) == Some(*workload))
    };
    (rows, Workload::ALL.into_iter().filter(is_wanted).collect())
}

fn workload_of(name: Load) -> Option<Workload> {
    match name {
        Load::Wal | Load::All => None,
        Load::Segment => Some(Workload::Segment),
        Load::Group => Some(Workload::Group),
        Load::Innodb => Some(Workload::Innodb),
        Load::Files => Some(Workload::Files),
        Load::Entangle => Some(Workload::Entangle),
        Load::Floor => Some(Workload::Floor),
    }
}

/// The measurement made here, separate from imported ones.
#[derive(Serialize)]
struct ProbeOutput<'a> {
    measured: Option<&'a Measurement>,
    imported: &'a [Imported],
}

fn show(
    shown: &ProbeOutput<'_>,
    in_force: Option<WalSyncMethod>,
    format: PlainFormat,
) -> ExitResult {
    match (format, shown) {
        (
            PlainFormat::Json,
            ProbeOutput {
                measured: Some(measured),
                imported: [],
            },
        ) => print(&json::pretty(measured)),
        (PlainFormat::Json, shown) => print(&json::pretty(shown)),
        (PlainFormat::Text, ProbeOutput { measured, imported }) => {
            let parts = measured.iter().map(|found| in_words(found, in_force));
            let tables = imported
                .iter()
                .map(|run| imported_table(run).join("\n") + "\n");
            print(&parts.chain(tables).collect::<Vec<_>>().join("\n"))
        }
    }
}

fn in_words(measurement: &Measurement, in_force: Option<WalSyncMethod>) -> String {
    let mut lines = Vec::new();
    let seconds = measurement.seconds;
    if measurement.methods.is_empty() {
        lines.push(format!("{}, {seconds:.1} s", measurement.directory));
    } else {
        let rounds = measurement.rounds;
        lines.push(format!(
            "{}, {rounds} rounds in {seconds:.1} s; {}",
            measurement.directory,
            measurement.basis()
        ));
        lines.extend(latency_lines(measurement, in_force));
        lines.extend(sizes(measurement));
        lines.extend([String::new(), sentence(measurement, in_force)]);
    }
    for found in &measurement.workloads {
        lines.push(String::new());
        lines.extend(workload_lines(found));
    }
    lines.extend(
        measurement
            .caveats
            .iter()
            .map(|caveat| format!("caveat: {}", caveat.says)),
    );
    lines.join("\n") + "\n"
}

/// Runs a plan, with progress on a terminal. A signal, the second result, ends it and then the
/// program; the scratch directory is removed.
pub(super) fn measure(
    plan: &ProbePlan,
) -> Result<(Result<Measurement, ProbeError>, Option<i32>), CliError> {
    let listener = Listener::start()?;
    let show = out::stderr_is_terminal();
    // What is written is said before it is written, also where nobody watches.
    out::notice(&format!("it {}", plan.says));
    let mut phase = None;
    let mut tell = |progress: &Progress| {
        let is_news = phase.replace(progress.phase) != Some(progress.phase);
        if show
            && (is_news
                || progress.so_far.is_some()
                || matches!(progress.phase, Phase::Workload(_)))
        {
            out::progress(&out::progress_line(progress));
        }
    };
    let outcome = probes::run(plan, &listener.control(), &mut tell);
    if show {
        out::progress("");
    }
    Ok((outcome, listener.ended()))
}
