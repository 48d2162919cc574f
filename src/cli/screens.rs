//! `walwise [TARGET]`: the screens on a terminal, the text report otherwise. Nothing is measured
//! until the user asks for it.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use clap::CommandFactory;

use super::CliError;
use super::args::{Bare, Cli, From};
use super::host;
use super::out::{self, ExitResult};
use crate::collect::{self, CollectStep, Request};
use crate::facts::note::MeasurementNote;
use crate::facts::{FactSet, Note, Scope, Source, Subject};
use crate::host::{Host, RememberingHost, path_bytes};
use crate::measure::{Progress, sentence};
use crate::output::{Destination, Existing, OutputError, Wish};
use crate::probes::{self, Control, ProbePlan};
use crate::report::{Format, Report, RunOption, host_summary, text};
use crate::rules::RuleSet;
use crate::session::assume::{self, Assumption};
use crate::session::{self, MeasurementOptions, Session};
use crate::settings::NewFilesystem;
use crate::text::suggest::did_you_mean;
use crate::text::{error_words, safe};
use crate::tui::{self, Exit, Partial, Saved, Supposed, Supposition, Worker};

/// The longest time of a probe from the screens, in seconds.
const PROBE_SECONDS: f64 = 10.0;

/// Shows the screens, or prints the report.
pub(super) fn run(args: Bare) -> ExitResult {
    // A word that is neither is a mistyped command; a directory to be created can be given as
    // ./NAME.
    if let Some(word) = args
        .target
        .as_ref()
        .filter(|t| t.components().count() == 1 && t.is_relative())
        && !is_here(word)
    {
        let word = safe(path_bytes(word));
        let all = Cli::command();
        let meant = did_you_mean(&word, all.get_subcommands().map(clap::Command::get_name));
        let meant = meant.unwrap_or_else(|| "`walwise --help` lists the commands".to_owned());
        return Err(CliError::Usage(format!(
            "`{word}` is neither a command nor a directory; {meant}"
        )));
    }
    let from = From {
        host: args.host,
        new: args.new,
        servers: args.servers,
        ..From::default()
    };
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    if terminal && out::terminal_is_dumb() {
        out::notice("TERM=dumb: this terminal cannot show the screens; here is the report as text");
    }
    if !terminal || out::terminal_is_dumb() {
        let session = host::look(&from, args.target.as_deref(), host::rules(None)?)?;
        let report = session.report();
        let style = out::line_style();
        let style = text::LineStyle {
            ascii: style.ascii || args.ascii,
            ..style
        };
        return out::print(&if args.verbose {
            text::render(&report)
        } else {
            text::short(&report, style)
        });
    }
    let options = options(args.ascii);
    let machine = host::open(from.host.as_deref())?;
    let request = host::request(machine.as_ref(), &from, args.target.as_deref())?;
    if let Some(mistake) = collect::mistake(machine.as_ref(), &request) {
        return Err(CliError::Usage(format!("nothing to check: {mistake}")));
    }
    let repeated = from.options();
    let desk = Desk {
        host: from.host,
        options: repeated,
        request,
        looked: Mutex::default(),
        failed: Mutex::default(),
    };
    match tui::run(Arc::new(desk), options).context("the terminal failed")? {
        Exit::Quit => Ok(0),
        Exit::Signal(number) => Err(CliError::Signal(number, None)),
    }
}

/// How to draw on this terminal; `ascii` is whether the user wants only that.
pub(super) fn options(ascii: bool) -> tui::Options {
    tui::Options {
        colour: out::allows_colour(),
        ascii: ascii || !out::locale_is_utf8(),
        in_tmux: in_tmux(),
    }
}

/// Whether this name exists in the working directory. The listing is searched, because the named
/// object may never respond.
fn is_here(word: &Path) -> bool {
    let Some(name) = word.file_name() else {
        return true;
    };
    fs::read_dir(".").map_or(true, |all| all.flatten().any(|one| one.file_name() == name))
}

/// The text to confirm before a probe starts.
fn to_confirm(plan: &ProbePlan) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for row in plan.rows.iter().filter(|row| row.as_server) {
        let named = plan.log.named(row.method);
        if !methods.contains(&named) {
            methods.push(named);
        }
    }
    vec![
        format!("It {}.", plan.says),
        format!("It compares {}.", methods.join(", ")),
        "It ends sooner when the result is clear; c stops it and keeps the results so far. However it ends, the scratch \
         directory is removed."
            .to_owned(),
    ]
}

/// The path of a typed name: `~/` is the home directory, as in a shell.
fn place(name: &str) -> Result<PathBuf, String> {
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
            std::path::absolute(&path).map_err(|error| error_words(&error))
        }
        _ => Err("name a file, please".to_owned()),
    }
}

/// Whether the terminal is one of tmux's. sudo drops its variable, but not its terminal type.
fn in_tmux() -> bool {
    let typed = env::var("TERM").is_ok_and(|term| term.starts_with("tmux"));
    typed || env::var_os("TMUX").is_some_and(|value| !value.is_empty())
}

/// The work that the screens request.
struct Desk {
    host: Option<PathBuf>,
    options: Vec<RunOption>,
    request: Request,
    looked: Mutex<Option<Looked>>,
    /// Why the last probe did not finish, if it did not; the report says so too.
    failed: Mutex<Option<String>>,
}

/// The facts read, and the machine with its answers: assumptions are judged over the very same
/// ones.
struct Looked {
    session: Session,
    machine: RememberingHost<Box<dyn Host + Send>>,
}

impl Desk {
    /// Applies a function to the facts that were read; an error before that.
    fn with<T>(&self, act: impl FnOnce(&mut Looked) -> Result<T, String>) -> Result<T, String> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        act(looked.as_mut().ok_or("the machine has not been read yet")?)
    }

    /// The report of the current state.
    fn report(&self) -> Result<Report, String> {
        let mut report = self.with(|looked| Ok(looked.session.report()))?;
        let failed = self
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        report
            .warnings
            .extend(failed.map(|reason| Note::from(MeasurementNote::Failure { reason })));
        Ok(report)
    }

    fn set_failed(&self, why: Option<String>) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    fn plan(&self, target: &Subject) -> Result<ProbePlan, String> {
        self.with(|Looked { session, .. }| {
            if !session.live {
                return Err("this is a capture; only the machine itself can be measured".to_owned());
            }
            let (facts, _) = session.judged();
            if !session::measurable(&facts).contains(target) {
                return Err(format!(
                    "{} can be measured once it is a directory",
                    target.name()
                ));
            }
            let options = MeasurementOptions::new(PROBE_SECONDS);
            session::prepare(&facts, target, &options).map_err(|refusal| refusal.to_string())
        })
    }
}

impl Worker for Desk {
    fn collect(&self, progress: &mut dyn FnMut(Partial)) -> Result<Report, String> {
        let machine = host::open(self.host.as_deref()).map_err(|error| error.to_string())?;
        let machine = RememberingHost::new(machine);
        let live = machine.is_live();
        let rules = Arc::new(host::rules(None).map_err(|error| error.to_string())?);
        progress(Partial::Rules(Arc::clone(&rules)));
        let mut shown = None;
        let mut so_far = |step: CollectStep, facts: &FactSet| {
            progress(Partial::Reading(step.name().to_owned()));
            // A report of a large host takes time, so there is one only where something visible has
            // changed.
            let now = (
                host_summary(facts, live),
                facts.subjects(Scope::Target).count(),
            );
            if shown.as_ref() == Some(&now) {
                return;
            }
            shown = Some(now);
            // The screens judge nothing before everything was read, so no rule is evaluated.
            let session = Session::new(facts.clone(), RuleSet::default(), live);
            progress(Partial::Report(Box::new(session.report())));
        };
        let mut session = Session::look(&machine, &self.request, rules, &mut so_far);
        session.options.clone_from(&self.options);
        session.asked = self
            .request
            .target
            .as_deref()
            .map(|target| safe(path_bytes(target)));
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = looked.take() {
            session.keep(before.session);
        }
        let report = session.report();
        *looked = Some(Looked { session, machine });
        self.set_failed(None);
        Ok(report)
    }

    fn plan_probe(&self, target: &Subject) -> Result<Vec<String>, String> {
        self.plan(target).map(|plan| to_confirm(&plan))
    }

    fn probe(
        &self,
        target: &Subject,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(Partial),
    ) -> Result<Report, String> {
        let plan = self.plan(target)?;
        let mut tell = |now: &Progress| progress(Partial::Probing(Box::new(now.clone())));
        let outcome = probes::run(&plan, &Control::from(Arc::clone(cancel)), &mut tell);
        let (measurement, failed) = match outcome {
            // An empty measurement does not replace an earlier one.
            Ok(measurement) if !measurement.has_rounds() => {
                return Err(sentence(&measurement, None));
            }
            Ok(measurement) => (measurement, None),
            Err(error) => {
                let failed = error.to_string();
                (
                    error
                        .partial
                        .map(|partial| *partial)
                        .ok_or_else(|| failed.clone())?,
                    Some(failed),
                )
            }
        };
        self.set_failed(failed);
        self.with(|Looked { session, .. }| {
            session.measured.insert(target.clone(), measurement);
            Ok(())
        })?;
        self.report()
    }

    fn want(&self, target: &Subject, filesystem: Option<NewFilesystem>) -> Result<Report, String> {
        self.with(|looked| looked.session.want(target, filesystem))?;
        self.report()
    }

    fn raw(&self, source: &Source, value: &str) -> Vec<String> {
        self.with(|looked| Ok(session::raw(&looked.machine, source, value)))
            .unwrap_or_default()
    }

    fn document(&self, format: Format) -> Result<String, String> {
        format.render(&self.report()?)
    }

    fn save(
        &self,
        format: Format,
        document: &str,
        name: &str,
        replace: bool,
    ) -> Result<Saved, String> {
        let path = place(name)?;
        let shown = safe(path_bytes(&path));
        let existing = if replace {
            Existing::Replaced
        } else {
            Existing::Kept
        };
        let wish = Wish {
            existing,
            runs: format.runs(),
            ..Wish::default()
        };
        let written = Destination::open(&path, wish).and_then(|found| {
            let notice = found.notice().map(str::to_owned);
            found.commit(document.as_bytes()).map(|_| notice)
        });
        match written {
            Ok(None) => Ok(Saved::At(shown)),
            Ok(Some(notice)) => Ok(Saved::At(format!("{shown}; {notice}"))),
            Err(OutputError::Exists { .. }) => Ok(Saved::Exists(shown)),
            Err(OutputError::Refused { why, .. }) => Err(format!("cannot write {shown}: {why}")),
        }
    }

    fn suppose(&self, suppositions: &[Supposition]) -> Result<Supposed, String> {
        self.with(|Looked { session, machine }| {
            let one =
                |one: &Supposition| assume::of(&one.subject, one.fact, &one.value, &session.read);
            let assumptions = suppositions
                .iter()
                .map(one)
                .collect::<Result<Vec<Assumption>, String>>()?;
            let hypothesis = session
                .suppose(&assumptions, machine, &self.request)
                .map_err(|refused| refused.into_iter().next().unwrap_or_default())?;
            let (report, what_if) = session.what_if(&session.report(), &hypothesis);
            Ok(Supposed {
                suppositions: suppositions.to_vec(),
                what_if,
                report,
            })
        })
    }
}
