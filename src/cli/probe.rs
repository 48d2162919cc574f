//! `walwise probe`: measures commit latency in a directory.

mod passive;

use anyhow::anyhow;

use super::args::{ProbeArgs, ProbeWorkload, TextOrJsonFormat};
use super::out::{self, ExitResult, print_document};
use super::signals::SignalListener;
use super::{CliError, host};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{
    Measurement, ProbePhase, RequirementAnswer, WalMethodInForce, Workload,
    format_like_pg_test_fsync, latency_by_commit_size_lines, latency_table_lines,
    measurement_summary, pg_test_fsync_test_count, workload_lines,
};
use crate::probes::{self, ProbeError, ProbeOptions, ProbePlan, ProbeProgress, ProbeRefusal};
use crate::report::json;
use crate::session::{self, CommitProfileOptions, MeasurementOptions, ProbeRowSelection};

const DEFAULT_SECONDS: f64 = 10.0;

/// Seconds per test, the default of `pg_test_fsync`.
const PG_TEST_SECONDS: f64 = 5.0;

pub(super) fn run(args: &ProbeArgs) -> ExitResult {
    let directory = &args.directory;
    if args.passive {
        return passive::run(args, directory);
    }
    let session = host::collect_live_session(Some(directory))?;
    let (facts, _) = session.derived_facts_and_verdicts();
    let Some(target) = session::measurable_targets_wal_first(&facts)
        .into_iter()
        .next()
    else {
        let why = session::unreadable_target_reason(&facts)
            .map(|why| anyhow!("cannot measure: {why}").into());
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
            per_test * pg_test_fsync_test_count() as f64,
            (ProbeRowSelection::Nothing, vec![Workload::PgTestFsync]),
        )
    } else {
        (
            args.seconds.unwrap_or(DEFAULT_SECONDS),
            selected_rows_and_workloads(&args.workload),
        )
    };
    let options = MeasurementOptions {
        scratch: args.scratch.clone(),
        seconds,
        rows,
        workloads,
        commits: (args.profile.is_some() || args.require.is_some()).then_some(
            CommitProfileOptions {
                profile: args.profile,
                requirement: args.require,
            },
        ),
        probe: ProbeOptions {
            keep_samples: args.flags.samples,
            nice: args.flags.nice,
            force: args.flags.force,
        },
    };
    let plan = match session::plan_target_probe(&facts, &target, &options) {
        Err(refusal @ ProbeRefusal::UnknownFlushMethod) => {
            out::print_error(&refusal.to_string());
            return Ok(requirement_exit_code(RequirementAnswer::CannotTell));
        }
        plan => plan.map_err(anyhow::Error::new)?,
    };
    let (outcome, signal) = run_probe_plan(&plan)?;
    let (found, error) = match outcome {
        Ok(found) => (Some(found), None),
        Err(mut error) => (error.partial.take().map(|partial| *partial), Some(error)),
    };
    let ended = match (signal, error) {
        (Some(number), error) => Some(CliError::Signal(number, error.map(|error| error.message))),
        (None, error) => error.map(|error| anyhow::Error::new(error).into()),
    };
    let answer = found
        .as_ref()
        .and_then(|found| found.workloads.first()?.requirement.as_ref())
        .map_or(0, |required| requirement_exit_code(required.answer));
    // Rounds completed before an interruption are still printed.
    let printed = match found.filter(|found| !found.cancelled || found.has_complete_rounds()) {
        None => Ok(0),
        Some(found) if args.pg_test_fsync && args.format == TextOrJsonFormat::Text => {
            let rows = found
                .workloads
                .first()
                .map(|found| found.rows.as_slice())
                .unwrap_or_default();
            print_document(&format_like_pg_test_fsync(rows, per_test))
        }
        Some(found) => {
            let in_force = match session::wal_method_in_force(&facts, &target) {
                WalMethodInForce::Is(method) => Some(method),
                WalMethodInForce::Default | WalMethodInForce::Unknown => None,
            };
            print_document(&match args.format {
                TextOrJsonFormat::Json => json::to_pretty_json(&found),
                TextOrJsonFormat::Text => measurement_text(&found, in_force),
            })
        }
    };
    ended.map_or_else(|| printed.map(|code| code.max(answer)), Err)
}

fn selected_rows_and_workloads(names: &[ProbeWorkload]) -> (ProbeRowSelection, Vec<Workload>) {
    let all = names.contains(&ProbeWorkload::All);
    let rows = match names {
        [] => ProbeRowSelection::All,
        _ if all || names.contains(&ProbeWorkload::Wal) => ProbeRowSelection::Sizes,
        _ => ProbeRowSelection::Nothing,
    };
    let is_wanted = |workload: &Workload| {
        all || names
            .iter()
            .any(|name| to_workload(*name) == Some(*workload))
    };
    (rows, Workload::ALL.into_iter().filter(is_wanted).collect())
}

fn requirement_exit_code(answer: RequirementAnswer) -> u8 {
    match answer {
        RequirementAnswer::Pass => 0,
        RequirementAnswer::Fail => 3,
        RequirementAnswer::CannotTell => 5,
    }
}

fn to_workload(name: ProbeWorkload) -> Option<Workload> {
    match name {
        ProbeWorkload::Wal | ProbeWorkload::All => None,
        ProbeWorkload::Segment => Some(Workload::Segment),
        ProbeWorkload::Group => Some(Workload::Group),
        ProbeWorkload::Innodb => Some(Workload::Innodb),
        ProbeWorkload::Files => Some(Workload::Files),
        ProbeWorkload::Entangle => Some(Workload::Entangle),
    }
}

fn measurement_text(measurement: &Measurement, in_force: Option<WalSyncMethod>) -> String {
    let mut lines = Vec::new();
    let seconds = measurement.seconds;
    if measurement.methods.is_empty() {
        lines.push(format!("{}, {seconds:.1} s", measurement.directory));
    } else {
        let rounds = measurement.rounds;
        lines.push(format!(
            "{}, {rounds} rounds in {seconds:.1} s; {}",
            measurement.directory,
            measurement.paced_conditions_text()
        ));
        lines.extend(latency_table_lines(measurement, in_force));
        lines.extend(latency_by_commit_size_lines(measurement));
        lines.extend([String::new(), measurement_summary(measurement, in_force)]);
    }
    for found in &measurement.workloads {
        lines.push(String::new());
        lines.extend(workload_lines(found));
    }
    lines.extend(
        measurement
            .caveats
            .iter()
            .map(|caveat| format!("caveat: {}", caveat.text)),
    );
    lines.join("\n") + "\n"
}

/// The second result is the number of the signal that cancelled the measurement, if any.
pub(super) fn run_probe_plan(
    plan: &ProbePlan,
) -> Result<(Result<Measurement, ProbeError>, Option<i32>), CliError> {
    let listener = SignalListener::start()?;
    let show = out::can_show_progress();
    // The announcement precedes every write, also without a terminal.
    out::print_notice(&format!("the measurement {}", plan.announcement));
    let mut phase = None;
    let mut tell = |progress: &ProbeProgress| {
        let is_news = phase.replace(progress.phase) != Some(progress.phase);
        if show
            && (is_news
                || progress.interim.is_some()
                || matches!(progress.phase, ProbePhase::Workload(_)))
        {
            out::print_progress(&out::probe_progress_line(progress));
        }
    };
    let outcome = probes::run_probe(plan, &listener.cancel_handle(), &mut tell);
    if show {
        out::print_progress("");
    }
    Ok((outcome, listener.stop_and_take_signal()))
}
