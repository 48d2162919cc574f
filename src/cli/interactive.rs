//! `walwise [TARGET]`: the screens on a terminal, otherwise the text report. Measurements start
//! only on request.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use anyhow::Context;
use clap::CommandFactory;

use super::CliError;
use super::args::{Cli, HostArgs, NoCommandArgs};
use super::host;
use super::out::{self, ExitResult};
use crate::collect::{self, CollectStep, Request};
use crate::facts::{FactSet, Note, Scope, Subject};
use crate::host::{CachingHost, Host};
use crate::measure::{ProbeProgress, measurement_summary};
use crate::output::{ExistingFilePolicy, OutputDestination, OutputError, OutputOptions};
use crate::parallel;
use crate::probes::{self, CancelHandle, ProbePlan};
use crate::report::{Report, RunOption, host_summary, text};
use crate::rules::RuleSet;
use crate::session::assume;
use crate::session::{self, MeasurementOptions, Session};
use crate::text::suggest::nearest_word_hint;
use crate::text::{display_path, io_error_message};
use crate::tui::{
    self, AssumedFact, AssumedHost, ComparisonReference, ExitReason, Job, JobProgress, JobResult,
    SaveOutcome, SaveRequest, Worker,
};
use live_refresh::LiveRefreshState;

mod comparisons;
mod live_refresh;

const PROBE_SECONDS: f64 = 10.0;

pub(super) fn run(args: NoCommandArgs) -> ExitResult {
    // A bare word that does not exist is a mistyped command; a directory to be created can be given
    // as ./NAME.
    if let Some(word) = args
        .target
        .as_ref()
        .filter(|t| t.components().count() == 1 && t.is_relative())
        && !may_exist_in_working_dir(word)
    {
        let word = display_path(word);
        let all = Cli::command();
        let meant = nearest_word_hint(&word, all.get_subcommands().map(clap::Command::get_name));
        let meant = meant.unwrap_or_else(|| "`walwise --help` lists the commands".to_owned());
        return Err(CliError::Usage(format!(
            "`{word}` is neither a command nor a directory; {meant}"
        )));
    }
    let from = HostArgs {
        host: args.host,
        new: args.new,
        servers: args.servers,
        ..HostArgs::default()
    };
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    if !terminal || out::terminal_is_dumb() {
        if terminal {
            out::print_notice(
                "TERM=dumb: this terminal cannot show the screens, so walwise prints the text report",
            );
        }
        let session = host::open_host_and_collect_session(
            &from,
            args.target.as_deref(),
            host::load_rules_in_force(None)?,
        )?;
        let report = session.build_report();
        let mut style = out::stdout_text_style();
        style.ascii |= args.ascii;
        return out::print_document(&if args.verbose {
            text::render(&report)
        } else {
            text::render_short(&report, style)
        });
    }
    let options = screen_options(args.ascii);
    let machine = host::open_host(from.host.as_deref())?;
    let request = host::collection_request(machine.as_ref(), &from, args.target.as_deref())?;
    if let Some(mistake) = collect::unusable_request_note(machine.as_ref(), &request) {
        return Err(CliError::Usage(format!("nothing to check: {mistake}")));
    }
    let worker = InteractiveWorker {
        options: from.report_command_options(),
        host: from.host,
        request,
        loaded: Mutex::default(),
        probe_error: Mutex::default(),
    };
    match tui::run_screens(Arc::new(worker), options).context("the terminal failed")? {
        ExitReason::Quit => Ok(0),
        ExitReason::Signal(number) => Err(CliError::Signal(number, None)),
    }
}

pub(super) fn screen_options(ascii: bool) -> tui::ScreenOptions {
    tui::ScreenOptions {
        colour: out::is_colour_allowed(),
        ascii: ascii || !out::locale_is_utf8(),
        in_tmux: is_inside_tmux(),
    }
}

/// Whether the working directory has, or may have, an entry of this name. The directory is listed
/// instead of calling stat, because the entry itself may be on a file system that hangs.
fn may_exist_in_working_dir(word: &Path) -> bool {
    let Some(name) = word.file_name() else {
        return true;
    };
    fs::read_dir(".").map_or(true, |all| all.flatten().any(|one| one.file_name() == name))
}

fn probe_confirmation_lines(plan: &ProbePlan) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for row in plan.rows.iter().filter(|row| row.as_server) {
        let named = plan.log.method_with_setting_text(row.method);
        if !methods.contains(&named) {
            methods.push(named);
        }
    }
    vec![
        format!("The measurement {}.", plan.announcement),
        format!("The measurement compares {}.", methods.join(", ")),
        "The measurement ends early when the result is clear; press c to stop and keep the results so far. The \
         scratch directory is always removed."
            .to_owned(),
    ]
}

/// `~/` stands for `HOME` if that is an absolute path.
fn parse_save_path(name: &str) -> Result<PathBuf, String> {
    let name = name.trim();
    let home = env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute());
    let path = match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(name),
    };
    match path.file_name() {
        Some(_) if !name.ends_with('/') => {
            std::path::absolute(&path).map_err(|error| io_error_message(&error))
        }
        _ => Err("specify a file, not a directory".to_owned()),
    }
}

/// The outcome is the path, followed by a notice, if any.
fn write_document(path: &Path, wish: OutputOptions, document: &str) -> Result<SaveOutcome, String> {
    let shown = display_path(path);
    let written = OutputDestination::open(path, wish).and_then(|found| {
        let notice = found.foreign_owner_notice().map(str::to_owned);
        let written = found.commit(document.as_bytes())?;
        Ok((written.path, notice.or(written.warning)))
    });
    match written {
        Ok((path, notice)) => {
            let shown = display_path(&path);
            let notice = notice.map(|notice| format!("; {notice}"));
            Ok(SaveOutcome::At(shown + &notice.unwrap_or_default()))
        }
        Err(OutputError::Exists { .. }) => Ok(SaveOutcome::Exists(shown)),
        Err(OutputError::Refused { why, .. }) => Err(format!("cannot write {shown}: {why}")),
    }
}

/// TERM is checked as well, because sudo drops the variable TMUX but keeps TERM.
fn is_inside_tmux() -> bool {
    let typed = env::var("TERM").is_ok_and(|term| term.starts_with("tmux"));
    typed || env::var_os("TMUX").is_some_and(|value| !value.is_empty())
}

struct InteractiveWorker {
    host: Option<PathBuf>,
    options: Vec<RunOption>,
    request: Request,
    loaded: Mutex<Option<LoadedHost>>,
    /// Why the last probe failed; the report repeats this as a warning.
    probe_error: Mutex<Option<String>>,
}

/// `machine` caches the answers from which `session` was read, so that assumptions are evaluated
/// over the same answers.
struct LoadedHost {
    session: Session,
    machine: CachingHost<Box<dyn Host + Send>>,
    watch: LiveRefreshState,
}

impl InteractiveWorker {
    fn with_loaded_host<T>(
        &self,
        act: impl FnOnce(&mut LoadedHost) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut looked = parallel::lock(&self.loaded);
        act(looked.as_mut().ok_or("the host has not been read yet")?)
    }

    fn build_report(&self) -> Result<Report, String> {
        let mut report = self.with_loaded_host(|looked| Ok(looked.session.build_report()))?;
        let failed = parallel::lock(&self.probe_error).clone();
        report.warnings.extend(failed.map(Note::from));
        Ok(report)
    }

    fn probe_plan(&self, target: &Subject) -> Result<ProbePlan, String> {
        self.with_loaded_host(|LoadedHost { session, .. }| {
            if !session.live {
                return Err("a capture cannot be measured".to_owned());
            }
            let (facts, _) = session.derived_facts_and_verdicts();
            if !session::measurable_targets_wal_first(&facts).contains(target) {
                return Err(format!(
                    "{} cannot be measured: it is not a directory",
                    target.name()
                ));
            }
            let options = MeasurementOptions::new(PROBE_SECONDS);
            session::plan_target_probe(&facts, target, &options)
                .map_err(|refusal| refusal.to_string())
        })
    }
}

impl Worker for InteractiveWorker {
    fn run_job(
        &self,
        job: &Job,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<JobResult, String> {
        Ok(match job {
            Job::Collect => JobResult::Report(self.collect_report(progress)?.into()),
            Job::PlanProbe(target) => {
                JobResult::Plan(probe_confirmation_lines(&self.probe_plan(target)?))
            }
            Job::Probe(target) => {
                JobResult::Report(self.run_probe(target, cancel, progress)?.into())
            }
            Job::Suppose(all) => JobResult::AssumedHost(self.evaluate_assumptions(all)?.into()),
            Job::ChooseFilesystem(target, filesystem) => {
                self.with_loaded_host(|loaded| {
                    loaded.session.choose_filesystem(target, *filesystem)
                })?;
                JobResult::Report(self.build_report()?.into())
            }
            Job::Raw(source, value) => {
                let lines = self.with_loaded_host(|loaded| {
                    Ok(session::raw_answer_lines(&loaded.machine, source, value))
                });
                JobResult::Raw(lines.unwrap_or_default())
            }
            Job::Document(format) => {
                JobResult::Document(format.render(&self.build_report()?)?.into())
            }
            Job::Save(save) => JobResult::Saved(self.save_document(save)?),
            Job::ListReferences(of) => JobResult::References(self.reference_choices(*of)?),
            Job::Compare(ComparisonReference::SavedReport, name) => {
                let compared = self.compare_with_saved_report(name.as_deref())?;
                JobResult::Comparison(compared.map(Box::new))
            }
            Job::Compare(ComparisonReference::Upgrade, name) => {
                let compared = self.compare_with_upgrade(name.as_deref().unwrap_or_default())?;
                JobResult::Comparison(Some(compared.into()))
            }
            Job::PlanReportSave => JobResult::Plan(self.report_save_confirmation_lines()?),
            Job::SaveReport => JobResult::Saved(self.save_report_for_comparison()?),
            Job::Watch => JobResult::Moved(self.poll_for_host_change()?.into()),
        })
    }
}

impl InteractiveWorker {
    fn collect_report(&self, progress: &mut dyn FnMut(JobProgress)) -> Result<Report, String> {
        let machine = host::open_host(self.host.as_deref()).map_err(|error| error.to_string())?;
        let machine = CachingHost::new(machine);
        let live = machine.is_live();
        let rules = Arc::new(host::load_rules_in_force(None).map_err(|error| error.to_string())?);
        progress(JobProgress::Rules(Arc::clone(&rules)));
        let mut shown = None;
        let mut so_far = |step: CollectStep, facts: &FactSet| {
            progress(JobProgress::Reading(step.name().to_owned()));
            // A report of a large host takes time, so one is made only after a visible change.
            let now = (
                host_summary(facts, live),
                facts.subjects_of_scope(Scope::Target).count(),
            );
            if shown.as_ref() == Some(&now) {
                return;
            }
            shown = Some(now);
            // The session has no rules, because rules are evaluated only after all facts have been
            // read.
            let session = Session::new(facts.clone(), RuleSet::default(), live);
            progress(JobProgress::Report(Box::new(session.build_report())));
        };
        let read_at = session::now_rfc3339();
        let mut session = Session::collect_from_host(&machine, &self.request, rules, &mut so_far);
        session.options.clone_from(&self.options);
        session.named_target = self.request.target.as_deref().map(display_path);
        let mut looked = parallel::lock(&self.loaded);
        if let Some(before) = looked.take() {
            session.carry_over_choices_and_measurements(before.session);
        }
        let report = session.build_report();
        *looked = Some(LoadedHost {
            session,
            machine,
            watch: LiveRefreshState::new(read_at),
        });
        *parallel::lock(&self.probe_error) = None;
        Ok(report)
    }

    fn run_probe(
        &self,
        target: &Subject,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<Report, String> {
        let plan = self.probe_plan(target)?;
        let mut tell = |now: &ProbeProgress| progress(JobProgress::Probing(Box::new(now.clone())));
        let outcome = probes::run_probe(&plan, &CancelHandle::from(Arc::clone(cancel)), &mut tell);
        let (measurement, failed) = match outcome {
            // A measurement without a completed round must not replace an earlier one.
            Ok(measurement) if !measurement.has_complete_rounds() => {
                return Err(measurement_summary(&measurement, None));
            }
            Ok(measurement) => (measurement, None),
            Err(error) => {
                let failed = error.to_string();
                let partial = error.partial.ok_or_else(|| failed.clone())?;
                (*partial, Some(failed))
            }
        };
        *parallel::lock(&self.probe_error) = failed;
        self.with_loaded_host(|LoadedHost { session, .. }| {
            session.measurements.insert(target.clone(), measurement);
            Ok(())
        })?;
        self.build_report()
    }

    fn save_document(&self, save: &SaveRequest) -> Result<SaveOutcome, String> {
        let document = match &save.document {
            Some(document) => Arc::clone(document),
            None => save.format.render(&self.build_report()?)?.into(),
        };
        let wish = OutputOptions {
            existing: if save.replace {
                ExistingFilePolicy::Replaced
            } else {
                ExistingFilePolicy::Kept
            },
            executable: save.format.is_executable(),
            ..OutputOptions::default()
        };
        write_document(&parse_save_path(&save.name)?, wish, &document)
    }

    fn evaluate_assumptions(&self, suppositions: &[AssumedFact]) -> Result<AssumedHost, String> {
        self.with_loaded_host(
            |LoadedHost {
                 session, machine, ..
             }| {
                let facts = &session.facts;
                let assumption = |of: &AssumedFact| {
                    assume::assumption_from_parts(&of.subject, of.fact, &of.value, facts)
                };
                let assumptions = suppositions.iter().map(assumption);
                let assumptions = assumptions.collect::<Result<Vec<_>, String>>()?;
                let hypothesis = session
                    .evaluate_assumptions(&assumptions, machine, &self.request)
                    .map_err(|refused| refused.into_iter().next().unwrap_or_default())?;
                let (report, what_if) =
                    session.evaluate_what_if(&session.build_report(), &hypothesis);
                Ok(AssumedHost {
                    suppositions: suppositions.to_vec(),
                    what_if,
                    report,
                })
            },
        )
    }
}
