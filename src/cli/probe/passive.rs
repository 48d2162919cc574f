//! `walwise probe DIR --passive`.

use std::path::Path;

use super::super::args::{ProbeArgs, TextOrJsonFormat};
use super::super::out::{self, ExitResult, print_document};
use super::super::signals::SignalListener;
use super::super::{CliError, host};
use super::requirement_exit_code;
use crate::measure::RequirementAnswer;
use crate::probes::passive::{PassiveMeasurementPlan, sample_commit_waits};
use crate::report::json;
use crate::session;

const DEFAULT_SECONDS: f64 = 30.0;

/// Exit code if the disks' counters contradict the server.
const CONTRADICTION_EXIT_CODE: u8 = 3;

pub(super) fn run(args: &ProbeArgs, directory: &Path) -> ExitResult {
    let session = host::collect_live_session(Some(directory))?;
    let (facts, _) = session.derived_facts_and_verdicts();
    let usage = |why: String| CliError::Usage(why);
    let target = session::measurable_targets_wal_first(&facts)
        .into_iter()
        .next();
    let target = target.ok_or_else(|| {
        usage(format!(
            "{} is not an existing directory",
            directory.display()
        ))
    })?;
    let seconds = args.seconds.unwrap_or(DEFAULT_SECONDS);
    let plan = PassiveMeasurementPlan::from_facts(&target, &facts, seconds).map_err(usage)?;
    let listener = SignalListener::start()?;
    let show = out::can_show_progress();
    out::print_notice(&format!(
        "the measurement samples the server's sessions for {seconds:.0} s over one connection and writes nothing"
    ));
    let found = sample_commit_waits(&plan, &listener.cancel_handle(), |passed| {
        if show {
            out::print_progress(&format!("{passed:.0} of {seconds:.0} s"));
        }
    });
    if show {
        out::print_progress("");
    }
    let signal = listener.stop_and_take_signal();
    let found = found.map_err(anyhow::Error::msg)?;
    let code = match args.format {
        TextOrJsonFormat::Json => print_document(&json::to_pretty_json(&found))?,
        TextOrJsonFormat::Text => print_document(&(found.result_lines().join("\n") + "\n"))?,
    };
    if let Some(number) = signal {
        return Err(CliError::Signal(
            number,
            Some("nothing was written".to_owned()),
        ));
    }
    Ok(match (&found.contradiction, found.commit_us) {
        (Some(_), _) => CONTRADICTION_EXIT_CODE,
        (None, None) => requirement_exit_code(RequirementAnswer::CannotTell),
        (None, Some(_)) => code,
    })
}
