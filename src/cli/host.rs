//! Opens the host that a command reads, and the records that go with it.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::CliError;
use super::args::HostArgs;
pub(super) use super::rule_files::rules;
use super::{input, out};
use crate::collect::{self, CollectStep, Request};
use crate::drill::Record;
use crate::facts::{FactSet, Note, Scope};
use crate::host::{CachingHost, Host, LiveHost, RecordedHost, path_bytes};
use crate::report::RunOption;
use crate::report::embedded_json::ReportReader;
use crate::rules::RuleSet;
use crate::session::Session;
use crate::session::assume::{self, Hypothesis};
use crate::text;
use crate::trial::TrialRecord;

/// The largest capture accepted, in bytes.
const LARGEST_CAPTURE: u64 = crate::bounds::CAPTURE as u64;

/// The largest drill or trial record accepted, in bytes.
const LARGEST_RECORD: u64 = 16 << 20;

pub(super) fn open(file: Option<&Path>) -> Result<Box<dyn Host + Send>, CliError> {
    let Some(path) = file else {
        return Ok(Box::new(LiveHost::with_started_child()));
    };
    let host = RecordedHost::new(file_bytes(path, LARGEST_CAPTURE)?)
        .map_err(|e| CliError::Usage(format!("cannot use {}: {e}", path.display())))?;
    Ok(Box::new(host))
}

/// The error for an unusable path on the command line.
fn path_error(what: &str, path: &Path, error: &io::Error) -> CliError {
    CliError::Usage(format!(
        "cannot {what} {}: {}",
        path.display(),
        text::error_message(error)
    ))
}

/// The target in the form that collectors need: absolute, but not resolved, because a link may lead
/// onto a mount that hangs.
pub(super) fn absolute_path(target: Option<&Path>) -> Result<Option<PathBuf>, CliError> {
    let Some(target) = target else {
        return Ok(None);
    };
    let path = std::path::absolute(target).map_err(|e| path_error("resolve", target, &e))?;
    Ok(Some(path))
}

/// The path in the names of this host: a capture may have masked a part of it.
pub(super) fn host_path(
    host: &dyn Host,
    target: Option<&Path>,
) -> Result<Option<PathBuf>, CliError> {
    let Some(path) = absolute_path(target)? else {
        return Ok(None);
    };
    let mut called = host.possible_masks(&path);
    match called.len() {
        0 => Ok(Some(path)),
        1 => Ok(called.pop()),
        _ => {
            let some: Vec<String> = called
                .iter()
                .take(5)
                .map(|path| path.display().to_string())
                .collect();
            Err(CliError::Usage(format!(
                "{} is ambiguous in this masked capture: name one of {}",
                path.display(),
                some.join(", ")
            )))
        }
    }
}

pub(super) fn request(
    host: &dyn Host,
    from: &HostArgs,
    target: Option<&Path>,
) -> Result<Request, CliError> {
    let request = Request {
        target: host_path(host, target)?,
        allow_missing: from.new,
        mysql_defaults: host_path(host, from.servers.mysql_defaults.as_deref())?,
        postgres_config: host_path(host, from.servers.postgres_config.as_deref())?,
        without_programs: from.no_programs,
    };
    match collect::config_argument_error(host, &request) {
        Some(mistake) => Err(CliError::Usage(mistake)),
        None => Ok(request),
    }
}

pub(super) fn drill_record(path: &Path) -> Result<Record, CliError> {
    parse_drill_record(path, &file_bytes(path, LARGEST_RECORD)?)
}

/// Like [`drill_record`], but the file may be absent: walwise creates and extends it.
pub(super) fn drill_record_if_any(path: &Path) -> Result<Option<Record>, CliError> {
    let mut bytes = Vec::new();
    let read =
        input::open_regular(path, LARGEST_RECORD).and_then(|mut file| file.read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(path_error("use", path, &error)),
        Ok(_) => parse_drill_record(path, &bytes).map(Some),
    }
}

fn parse_drill_record(path: &Path, bytes: &[u8]) -> Result<Record, CliError> {
    Record::parse(&String::from_utf8_lossy(bytes))
        .map_err(|says| CliError::Usage(format!("cannot use {}: {says}", path.display())))
}

/// Trial records, each with its display-safe file name.
fn trial_records(files: &[PathBuf]) -> Result<Vec<(String, TrialRecord)>, CliError> {
    files
        .iter()
        .map(|file| Ok((text::display_safe(path_bytes(file)), trial_record(file)?)))
        .collect()
}

/// A trial record, or the HTML page that embeds it.
fn trial_record(path: &Path) -> Result<TrialRecord, CliError> {
    let mut text = String::new();
    // Reading from memory cannot fail, and the document is already UTF-8.
    let document = text_file(path, LARGEST_RECORD)?;
    let _ = ReportReader::new(document.as_bytes()).read_to_string(&mut text);
    TrialRecord::parse(&text).map_err(|says| {
        CliError::Usage(text::display_safe(
            format!("cannot use {}: {says}", path.display()).as_bytes(),
        ))
    })
}

pub(super) fn text_file(path: &Path, largest: u64) -> Result<String, CliError> {
    file_bytes(path, largest).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of a file named by the user; an error above `largest`.
fn file_bytes(path: &Path, largest: u64) -> Result<Vec<u8>, CliError> {
    input::read_bytes(path, largest).map_err(|e| path_error("use", path, &e))
}

/// The host read again under assumptions; the error lists all mistakes at once.
pub(super) fn read_hypothesis(
    texts: &[String],
    session: &Session,
    host: &dyn Host,
    from: &HostArgs,
    target: Option<&Path>,
) -> Result<Hypothesis, CliError> {
    let request = request(host, from, target)?;
    let supposed =
        assume::parse(texts, &session.facts).and_then(|all| session.suppose(&all, host, &request));
    supposed.map_err(|mistakes| match mistakes.as_slice() {
        [one] => CliError::Usage(format!("cannot assume that: {one}")),
        several => CliError::Usage(format!("cannot assume that:\n  {}", several.join("\n  "))),
    })
}

/// Opens and reads the host, with progress on a terminal.
pub(super) fn open_session(
    from: &HostArgs,
    target: Option<&Path>,
    rules: RuleSet,
) -> Result<Session, CliError> {
    let host = open(from.host.as_deref())?;
    read_session(host.as_ref(), from, target, rules)
}

/// The same under assumptions; these and their consequences are marked.
pub(super) fn open_session_assuming(
    from: &HostArgs,
    target: Option<&Path>,
    rules: RuleSet,
    assumed: &[String],
) -> Result<Session, CliError> {
    if assumed.is_empty() {
        return open_session(from, target, rules);
    }
    let host = open(from.host.as_deref())?;
    let host = CachingHost::new(host.as_ref());
    let session = read_session(&host, from, target, rules)?;
    Ok(session.with_hypothesis(&read_hypothesis(assumed, &session, &host, from, target)?))
}

impl HostArgs {
    /// The options that commands in a report repeat, display-safe. A stream becomes `FILE`, because
    /// it cannot be read twice.
    pub(super) fn run_options(&self) -> Vec<RunOption> {
        let Self {
            host,
            rules,
            new,
            servers,
            no_programs: _,
            drill,
            trial,
        } = self;
        let name = |file: &PathBuf| {
            let is_stream =
                file == Path::new("-") || file.starts_with("/dev") || file.starts_with("/proc");
            Some(if is_stream {
                "FILE".to_owned()
            } else {
                text::display_safe(path_bytes(file))
            })
        };
        let one = |option, file: &Option<PathBuf>| file.as_ref().map(|file| (option, name(file)));
        let single = [
            one("--host", host),
            one("--rules", rules),
            one("--mysql-defaults", &servers.mysql_defaults),
            one("--postgres-config", &servers.postgres_config),
            new.then_some(("--new", None)),
        ];
        let drills = drill.iter().map(|file| ("--drill", name(file)));
        let trials = trial.iter().map(|file| ("--trial", name(file)));
        single
            .into_iter()
            .flatten()
            .chain(drills)
            .chain(trials)
            .collect()
    }
}

/// Reads this host, with progress on a terminal.
pub(super) fn read_session(
    host: &dyn Host,
    from: &HostArgs,
    target: Option<&Path>,
    rules: RuleSet,
) -> Result<Session, CliError> {
    let request = request(host, from, target)?;
    if let (Some(named), Some(called)) = (absolute_path(target)?, &request.target)
        && named != *called
    {
        let (named, called) = (named.display(), called.display());
        out::print_notice(&format!("{named} is masked as {called} in this capture"));
    }
    let show = out::stderr_is_terminal();
    let mut progress = |step: CollectStep, _: &FactSet| {
        if show {
            out::print_progress(&format!("reading {} …", step.name()));
        }
    };
    let mut session = Session::collect(host, &request, rules, &mut progress);
    session.drills = from
        .drill
        .iter()
        .map(|file| Ok((text::display_safe(path_bytes(file)), drill_record(file)?)))
        .collect::<Result<_, CliError>>()?;
    session.trials = trial_records(&from.trial)?;
    session.options = from.run_options();
    session.named_target = target.map(|target| text::display_safe(path_bytes(target)));
    if show {
        out::print_progress("");
    }
    match target {
        Some(_) if session.facts.subjects(Scope::Target).next().is_none() => {
            let why: Vec<String> = session.facts.notes().iter().map(Note::to_string).collect();
            Err(CliError::Usage(format!(
                "nothing to check: {}",
                why.join("; ")
            )))
        }
        _ => Ok(session),
    }
}
