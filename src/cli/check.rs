//! `walwise check`: facts, probe, rules, report, and an exit code for the result.

use anyhow::Context as _;

use super::args::{Check, Measure};
use super::host::{self, look_at};
use super::kept::{self, Shelf};
use super::out::{Delivery, ExitResult};
use super::probe::measure;
use super::{CliError, baseline, out, rule_files};
use crate::facts::note::MeasurementNote;
use crate::facts::{Note, Scope, Subject};
use crate::host::{Host, RememberingHost};
use crate::report::difference::{Kept, difference};
use crate::report::exit;
use crate::report::{Format, Health, Protocol, json, price, text};
use crate::session::{self, MeasurementOptions, Session};

/// Checks a target, or everything found.
pub(super) fn run(args: &Check) -> ExitResult {
    let protocol = args.format.protocol();
    match checked(args) {
        // What asks by a protocol hears of a failure in its words, too.
        Err(CliError::Usage(sentence)) => failed(protocol, &sentence, CliError::Usage),
        Err(CliError::Other(error)) => {
            failed(protocol, &format!("{error:#}"), |_| CliError::Other(error))
        }
        ended => ended,
    }
}

fn failed(
    protocol: Protocol,
    sentence: &str,
    error: impl FnOnce(String) -> CliError,
) -> ExitResult {
    match (protocol.failure(sentence), protocol.code(Health::Unknown)) {
        (Some(line), Some(code)) => out::print(&line).map(|_| code),
        _ => Err(error(sentence.to_owned())),
    }
}

fn checked(args: &Check) -> ExitResult {
    baseline::check(args)?;
    if args.extent.only.is_some() && args.format != Format::Text {
        return Err(CliError::Usage(
            "--only is a part of the text; leave out --format".to_owned(),
        ));
    }
    let delivery = Delivery::find(&args.output, args.format.runs())?;
    let rules = host::rules(args.from.rules.as_deref())?;
    let target = args.target.as_deref();
    let machine = host::open(args.from.host.as_deref())?;
    // Assumptions are judged over the very answers of the first pass.
    let machine: Box<dyn Host> = if args.assume.is_empty() {
        machine
    } else {
        Box::new(RememberingHost::new(machine))
    };
    let mut session = look_at(machine.as_ref(), &args.from, target, rules)?;
    if let Some(filesystem) = args.fs {
        let targets: Vec<Subject> = session.read.subjects(Scope::Target).cloned().collect();
        for target in targets {
            session
                .want(&target, Some(filesystem))
                .map_err(CliError::Usage)?;
        }
    }
    let suppose = || host::supposed(&args.assume, &session, machine.as_ref(), &args.from, target);
    let hypothesis = if args.assume.is_empty() {
        None
    } else {
        Some(suppose()?)
    };
    // A capture is kept no longer than it is needed.
    drop(machine);
    let before = baseline::load(args, &session)?;
    let keep = if args.save {
        Some(Shelf::of(&session, target)?.place_next()?)
    } else {
        None
    };
    let not_measured = if args.target.is_some() && !args.no_probe && session.live {
        measure_target(&mut session, &args.measure)?
    } else {
        None
    };
    session.engine = args.db.area();
    session.traced = match args.format {
        Format::Json => args.extent.verbose || args.save,
        format => format == Format::Html || args.save,
    };
    let mut report = session.report();
    report.warnings.extend(not_measured.map(Note::from));
    if session.live && (args.save || args.format.protocol().tells_earlier_prices()) {
        price::add_earlier(&mut report, kept::earlier_prices(&session));
    }
    let fail_on = args.fail_on.condition(args.fail_on_undecided);
    // Only the report itself is kept, without the comparison.
    let kept = keep.map(|found| (found, json::render(&report)));
    report.what_if = hypothesis.map(|hypothesis| session.what_if(&report, &hypothesis).1);
    report.baseline = before.map(|before| difference(&before, &Kept::from_report(&report)));
    match (args.format, args.extent.only) {
        (Format::Json, _) if args.extent.verbose => delivery.deliver_json(&report)?,
        (Format::Text, Some(only)) => delivery.deliver(&text::only(&report, only.part()))?,
        (Format::Text, None) if !args.extent.verbose => {
            let style = delivery.line_style();
            delivery.deliver(&text::short(&report, style))?
        }
        (format, _) => delivery.deliver(&format.render(&report).map_err(CliError::Usage)?)?,
    };
    if let Some((found, document)) = kept {
        let written = found
            .commit(document.as_bytes())
            .context("the report was made and not kept as a baseline")?;
        out::notice(&format!("kept as baseline: {}", written.path.display()));
        written
            .warning
            .iter()
            .for_each(|sentence| out::notice(sentence));
    }
    if let Some(code) = args.format.protocol().code(Health::from_report(&report)) {
        return Ok(code);
    }
    let found = fail_on.map_or(0, |condition| exit::code(&report, condition));
    Ok(rule_files::exit_code(found, &session.rules))
}

/// Measures in the target, where it is a directory; returns the message where it could not.
fn measure_target(
    session: &mut Session,
    options: &Measure,
) -> Result<Option<MeasurementNote>, CliError> {
    let (facts, _) = session.judged();
    let Some(target) = session::measurable(&facts).into_iter().next() else {
        let why = session::unreadable(&facts).or_else(|| session::to_be_made(&facts));
        return Ok(why.map(|reason| MeasurementNote::Absence { reason }));
    };
    let Measure { scratch, seconds } = options;
    let options = MeasurementOptions {
        scratch: scratch.clone(),
        ..MeasurementOptions::new(*seconds)
    };
    let outcome = match session::prepare(&facts, &target, &options) {
        Ok(plan) => match measure(&plan)? {
            // A report on half of it would be misleading.
            (outcome, Some(number)) => {
                return Err(CliError::Signal(
                    number,
                    outcome.err().map(|error| error.message),
                ));
            }
            (outcome, None) => outcome,
        },
        Err(refusal) => {
            return Ok(Some(MeasurementNote::Absence {
                reason: refusal.to_string(),
            }));
        }
    };
    match outcome {
        Ok(measurement) => {
            session.measured.insert(target, measurement);
            Ok(None)
        }
        Err(error) => {
            let says = MeasurementNote::Fragment {
                reason: error.to_string(),
            };
            session
                .measured
                .extend(error.partial.map(|partial| (target, *partial)));
            Ok(Some(says))
        }
    }
}
