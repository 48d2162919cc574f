//! `walwise probe`: the measurements alone; and the measuring that `check` shares with it.

use anyhow::anyhow;

use super::args::{From, Probe, Shape};
use super::out::{self, Done, print};
use super::signals::Listener;
use super::{CliError, host};
use crate::measure::{Measurement, price_of_a_commit};
use crate::pipeline::{self, Options, Rows};
use crate::probes::{self, Plan, ProbeError, Progress};
use crate::report::json;
use crate::rules::RuleSet;

/// Measures in one directory and prints what was found.
pub(super) fn run(args: &Probe) -> Done {
    let session = host::look(&From::default(), Some(&args.directory), RuleSet::default())?;
    let (facts, _) = session.judged();
    let Some(target) = pipeline::measurable(&facts).into_iter().next() else {
        let why = pipeline::unreadable(&facts).map(|why| anyhow!("cannot be measured: {why}").into());
        let nothing =
            || CliError::Usage(format!("{} is no directory that is there", args.directory.display()));
        return Err(why.unwrap_or_else(nothing));
    };
    let options = Options { scratch: args.scratch.clone(), seconds: args.seconds, rows: Rows::All };
    let plan = pipeline::prepare(&facts, &target, &options).map_err(anyhow::Error::new)?;
    match measure(&plan)? {
        Ok(measurement) => {
            show(&measurement, pipeline::method_in_force(&facts, &target).as_deref(), args.format)
        }
        Err(error) => {
            if let Some(partial) = &error.partial {
                show(partial, None, args.format)?;
            }
            Err(anyhow::Error::new(error).into())
        }
    }
}

fn show(measurement: &Measurement, in_force: Option<&str>, format: Shape) -> Done {
    match format {
        Shape::Json => print(&json::pretty(measurement)),
        Shape::Text => print(&text(measurement, in_force)),
    }
}

fn text(measurement: &Measurement, in_force: Option<&str>) -> String {
    let mut lines = vec![format!(
        "{}, {} rounds in {:.1} s, one session; 8 kB pages",
        measurement.directory, measurement.rounds, measurement.seconds
    )];
    lines.extend(price_of_a_commit(measurement, in_force, false));
    lines.push(String::new());
    lines.push(measurement.sentence.clone());
    lines.extend(measurement.caveats.iter().map(|caveat| format!("caveat: {}", caveat.says)));
    lines.join("\n") + "\n"
}

/// Runs a plan, with progress on a terminal. A signal ends it, and then the program; the scratch file is gone.
pub(super) fn measure(plan: &Plan) -> Result<Result<Measurement, ProbeError>, CliError> {
    let listener = Listener::start()?;
    let show = out::stderr_is_terminal();
    let seconds = plan.seconds;
    if show {
        out::progress(&plan.says);
    }
    let mut tell = |progress: &Progress| {
        if show && progress.so_far.is_some() {
            out::progress(&format!("{} of at most {seconds:.0} s", out::progress_line(progress)));
        }
    };
    let outcome = probes::run(plan, &listener.control(), &mut tell);
    if show {
        out::progress("");
    }
    match listener.ended() {
        Some(signal) => Err(signal),
        None => Ok(outcome),
    }
}
