//! `walwise check`: a report on the host or one target, with a measurement and a comparison on
//! request.

use anyhow::Context as _;

use super::args::{CheckArgs, MeasureArgs};
use super::host::{self, collect_session_from_host};
use super::out::{ExitResult, OutputTarget};
use super::probe::run_probe_plan;
use super::report_store::{self, ReportStore};
use super::{CliError, baseline, out, rule_files};
use crate::facts::{Note, NoteKind, Scope};
use crate::host::{CachingHost, Host};
use crate::report::exit;
use crate::report::{Format, PluginState, json, latency, text};
use crate::session::{self, MeasurementOptions, Session};

pub(super) fn run(args: &CheckArgs) -> ExitResult {
    match run_check(args) {
        // A monitoring protocol, such as Nagios, has its own line and exit code for a failure.
        Err(CliError::Usage(sentence)) => {
            print_failure_or_return_error(args.format, &sentence, CliError::Usage)
        }
        Err(CliError::Other(error)) => {
            print_failure_or_return_error(args.format, &format!("{error:#}"), |_| {
                CliError::Other(error)
            })
        }
        ended => ended,
    }
}

fn print_failure_or_return_error(
    format: Format,
    sentence: &str,
    error: impl FnOnce(String) -> CliError,
) -> ExitResult {
    match (
        format.failure_line(sentence),
        format.exit_code(PluginState::Unknown),
    ) {
        (Some(line), Some(code)) => out::print_document(&line).map(|_| code),
        _ => Err(error(sentence.to_owned())),
    }
}

fn run_check(args: &CheckArgs) -> ExitResult {
    baseline::check_baseline_format(args)?;
    if args.extent.only.is_some() && args.format != Format::Text {
        return Err(CliError::Usage(
            "--only selects a part of the text report; leave out --format".to_owned(),
        ));
    }
    let delivery = OutputTarget::open(&args.output, args.format.is_executable())?;
    let rules = host::load_rules_in_force(args.from.rules.as_deref())?;
    let target = args.target.as_deref();
    let machine = host::open_host(args.from.host.as_deref())?;
    // Assumptions are evaluated over the host's answers from which the session is read, so these
    // answers are cached.
    let machine: Box<dyn Host> = if args.assume.is_empty() {
        machine
    } else {
        Box::new(CachingHost::new(machine))
    };
    let mut session = collect_session_from_host(machine.as_ref(), &args.from, target, rules)?;
    if let Some(filesystem) = args.fs {
        let targets = session.facts.subjects_of_scope(Scope::Target);
        for target in targets.cloned().collect::<Vec<_>>() {
            session
                .choose_filesystem(&target, Some(filesystem))
                .map_err(CliError::Usage)?;
        }
    }
    let (texts, host) = (&args.assume, machine.as_ref());
    let hypothesis = (!texts.is_empty())
        .then(|| host::evaluate_assumption_texts(texts, &session, host, &args.from, target))
        .transpose()?;
    // Frees the memory of the capture, which can be large.
    drop(machine);
    let before = baseline::load_baseline(args, &session)?;
    let open_saved_report = || {
        let (path, wish) = ReportStore::for_target(&session, target)?.next_report_destination();
        out::open_destination(&path, wish)
    };
    let keep = args.save.then(open_saved_report).transpose()?;
    let not_measured = if target.is_some() && !args.no_probe && session.live {
        measure_target(&mut session, &args.measure)?
    } else {
        None
    };
    session.engine = args.db.server_area();
    session.traced = match args.format {
        Format::Json => args.extent.verbose || args.save,
        format => format == Format::Html || args.save,
    };
    let mut report = session.build_report();
    report
        .warnings
        .extend(not_measured.map(|sentence| Note::new(NoteKind::NotMeasured, sentence)));
    if session.live && (args.save || args.format.includes_earlier_latencies()) {
        latency::add_earlier_latencies(
            &mut report,
            report_store::read_saved_latencies(&session, out::print_notice),
        );
    }
    let fail_on = args.fail_on.fail_condition(args.fail_on_undecided);
    // The report is saved without assumptions and comparison, because a later baseline needs
    // neither.
    let kept = keep.map(|found| (found, json::render_report(&report)));
    report.what_if = hypothesis.map(|hypothesis| session.evaluate_what_if(&report, &hypothesis).1);
    report.baseline = before.map(|before| session.difference_with_explanations(&before, &report));
    match (args.format, args.extent.only) {
        (Format::Json, _) if args.extent.verbose => delivery.print_or_save_json(&report)?,
        (Format::Text, Some(only)) => delivery
            .print_or_save_document(&text::render_report_part(&report, only.report_part()))?,
        (Format::Text, None) if !args.extent.verbose => {
            let style = delivery.text_style();
            delivery.print_or_save_document(&text::render_short(&report, style))?
        }
        (format, _) => {
            delivery.print_or_save_document(&format.render(&report).map_err(CliError::Usage)?)?
        }
    };
    if let Some((found, document)) = kept {
        let written = found
            .commit(document.as_bytes())
            .context("the report was generated but not saved as a baseline")?;
        out::print_notice(&format!("baseline saved: {}", written.path.display()));
        written
            .warning
            .iter()
            .for_each(|sentence| out::print_notice(sentence));
    }
    if let Some(code) = args.format.exit_code(PluginState::from_report(&report)) {
        return Ok(code);
    }
    let found = fail_on.map_or(0, |condition| exit::exit_code(&report, condition));
    Ok(rule_files::print_rule_warnings_and_exit_code(
        found,
        &session.rules,
    ))
}

/// Measures in the target if it is a directory. The returned sentence states why nothing was measured,
/// or why the measurement is incomplete.
fn measure_target(
    session: &mut Session,
    options: &MeasureArgs,
) -> Result<Option<String>, CliError> {
    let (facts, _) = session.derived_facts_and_verdicts();
    let Some(target) = session::measurable_targets_wal_first(&facts)
        .into_iter()
        .next()
    else {
        let why = session::unreadable_target_reason(&facts)
            .or_else(|| session::missing_directory_message(&facts));
        return Ok(why.map(|reason| format!("not measured: {reason}")));
    };
    let MeasureArgs { scratch, seconds } = options;
    let options = MeasurementOptions {
        scratch: scratch.clone(),
        ..MeasurementOptions::new(*seconds)
    };
    let plan = match session::plan_target_probe(&facts, &target, &options) {
        Ok(plan) => plan,
        Err(refusal) => return Ok(Some(format!("not measured: {refusal}"))),
    };
    let (outcome, signal) = run_probe_plan(&plan)?;
    if let Some(number) = signal {
        // A report on an interrupted measurement would mislead.
        let why = outcome.err().map(|error| error.message);
        return Err(CliError::Signal(number, why));
    }
    let (measurement, says) = match outcome {
        Ok(measurement) => (Some(measurement), None),
        Err(error) => {
            let says = format!("measurement incomplete: {error}");
            (error.partial.map(|partial| *partial), Some(says))
        }
    };
    session
        .measurements
        .extend(measurement.map(|measurement| (target, measurement)));
    Ok(says)
}
