//! The host that a command works with.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::CliError;
use super::args::From;
pub(super) use super::rule_files::rules;
use super::{input, out};
use crate::collect::{self, CollectStep, Request};
use crate::drill::Record;
use crate::facts::{FactSet, Note, Scope};
use crate::host::{Host, LiveHost, RecordedHost, RememberingHost, path_bytes};
use crate::report::RunOption;
use crate::report::inside::ReportReader;
use crate::rules::RuleSet;
use crate::session::Session;
use crate::session::assume::{self, Hypothesis};
use crate::text;
use crate::trial::TrialRecord;

/// The largest capture that is read, in bytes.
const LARGEST_CAPTURE: u64 = crate::bounds::CAPTURE as u64;

/// The largest record of drills, or of a trial, that is read, in bytes.
const LARGEST_RECORD: u64 = 16 << 20;

/// Opens the host: this machine, or a capture.
pub(super) fn open(file: Option<&Path>) -> Result<Box<dyn Host + Send>, CliError> {
    let Some(path) = file else {
        return Ok(Box::new(LiveHost::to_look()));
    };
    let host = RecordedHost::new(whole(path, LARGEST_CAPTURE)?)
        .map_err(|e| CliError::Usage(format!("cannot use {}: {e}", path.display())))?;
    Ok(Box::new(host))
}

/// The error for an unusable path on the command line, in the system's or the reader's words.
fn cannot(what: &str, path: &Path, error: &io::Error) -> CliError {
    CliError::Usage(format!(
        "cannot {what} {}: {}",
        path.display(),
        text::error_words(error)
    ))
}

/// The target in the form that collectors need: absolute, but not resolved, because a link may lead
/// onto a mount that hangs.
pub(super) fn absolute(target: Option<&Path>) -> Result<Option<PathBuf>, CliError> {
    let Some(target) = target else {
        return Ok(None);
    };
    let path = std::path::absolute(target).map_err(|e| cannot("look at", target, &e))?;
    Ok(Some(path))
}

/// The target, or another path that was named, by this host's name for it: a capture may have
/// masked a part of the path.
pub(super) fn target_on(
    host: &dyn Host,
    target: Option<&Path>,
) -> Result<Option<PathBuf>, CliError> {
    let Some(path) = absolute(target)? else {
        return Ok(None);
    };
    let mut called = host.may_be_called(&path);
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
                "cannot tell what {} is in this capture, where names are masked: name one of {}",
                path.display(),
                some.join(", ")
            )))
        }
    }
}

/// The request to the collectors.
pub(super) fn request(
    host: &dyn Host,
    from: &From,
    target: Option<&Path>,
) -> Result<Request, CliError> {
    let request = Request {
        target: target_on(host, target)?,
        new: from.new,
        mysql_defaults: target_on(host, from.servers.mysql_defaults.as_deref())?,
        postgres_config: target_on(host, from.servers.postgres_config.as_deref())?,
        without_programs: from.no_programs,
    };
    match collect::unusable(host, &request) {
        Some(mistake) => Err(CliError::Usage(mistake)),
        None => Ok(request),
    }
}

pub(super) fn drill_record(path: &Path) -> Result<Record, CliError> {
    parse_drill_record(path, &whole(path, LARGEST_RECORD)?)
}

/// The same of a file that walwise continues, and that may be absent.
pub(super) fn drill_record_if_any(path: &Path) -> Result<Option<Record>, CliError> {
    let mut bytes = Vec::new();
    let read =
        input::open_regular(path, LARGEST_RECORD).and_then(|mut file| file.read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("use", path, &error)),
        Ok(_) => parse_drill_record(path, &bytes).map(Some),
    }
}

fn parse_drill_record(path: &Path, bytes: &[u8]) -> Result<Record, CliError> {
    Record::parse(&String::from_utf8_lossy(bytes))
        .map_err(|says| CliError::Usage(format!("cannot use {}: {says}", path.display())))
}

/// Records of trials, each with the name of its file, display-safe.
fn trials(files: &[PathBuf]) -> Result<Vec<(String, TrialRecord)>, CliError> {
    files
        .iter()
        .map(|file| Ok((text::safe(path_bytes(file)), trial_record(file)?)))
        .collect()
}

/// A record of a trial, or the page that holds it.
fn trial_record(path: &Path) -> Result<TrialRecord, CliError> {
    let mut text = String::new();
    // What is read from memory does not fail, and it is text.
    let document = text_file(path, LARGEST_RECORD)?;
    let _ = ReportReader::new(document.as_bytes()).read_to_string(&mut text);
    TrialRecord::parse(&text).map_err(|says| {
        CliError::Usage(text::safe(
            format!("cannot use {}: {says}", path.display()).as_bytes(),
        ))
    })
}

/// The text of a file that the user named, of at most so many bytes.
pub(super) fn text_file(path: &Path, largest: u64) -> Result<String, CliError> {
    whole(path, largest).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of a file that the user named, of at most so many.
fn whole(path: &Path, largest: u64) -> Result<Vec<u8>, CliError> {
    input::bytes(path, largest).map_err(|e| cannot("use", path, &e))
}

/// The machine that was read, read again under assumptions; the error lists all mistakes at once.
pub(super) fn supposed(
    texts: &[String],
    session: &Session,
    host: &dyn Host,
    from: &From,
    target: Option<&Path>,
) -> Result<Hypothesis, CliError> {
    let request = request(host, from, target)?;
    let supposed =
        assume::parse(texts, &session.read).and_then(|all| session.suppose(&all, host, &request));
    supposed.map_err(|mistakes| match mistakes.as_slice() {
        [one] => CliError::Usage(format!("cannot assume that: {one}")),
        several => CliError::Usage(format!("cannot assume that:\n  {}", several.join("\n  "))),
    })
}

/// Reads the host as the options say. On a terminal it shows each step.
pub(super) fn look(
    from: &From,
    target: Option<&Path>,
    rules: RuleSet,
) -> Result<Session, CliError> {
    let host = open(from.host.as_deref())?;
    look_at(host.as_ref(), from, target, rules)
}

/// The same with these facts assumed: assumptions and their consequences are marked.
pub(super) fn look_assuming(
    from: &From,
    target: Option<&Path>,
    rules: RuleSet,
    assumed: &[String],
) -> Result<Session, CliError> {
    if assumed.is_empty() {
        return look(from, target, rules);
    }
    let host = open(from.host.as_deref())?;
    let host = RememberingHost::new(host.as_ref());
    let session = look_at(&host, from, target, rules)?;
    Ok(session.assuming(&supposed(assumed, &session, &host, from, target)?))
}

impl From {
    /// The options that the commands of a report repeat, display-safe; `FILE` for a stream, which
    /// is gone once it is read.
    pub(super) fn options(&self) -> Vec<RunOption> {
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
                text::safe(path_bytes(file))
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

/// Reads this host as the options say.
pub(super) fn look_at(
    host: &dyn Host,
    from: &From,
    target: Option<&Path>,
    rules: RuleSet,
) -> Result<Session, CliError> {
    let request = request(host, from, target)?;
    if let (Some(named), Some(called)) = (absolute(target)?, &request.target)
        && named != *called
    {
        let (named, called) = (named.display(), called.display());
        out::notice(&format!(
            "{named} is {called} in this capture: its names are masked"
        ));
    }
    let show = out::stderr_is_terminal();
    let mut progress = |step: CollectStep, _: &FactSet| {
        if show {
            out::progress(&format!("reading {} …", step.name()));
        }
    };
    let mut session = Session::look(host, &request, rules, &mut progress);
    session.drills = from
        .drill
        .iter()
        .map(|file| Ok((text::safe(path_bytes(file)), drill_record(file)?)))
        .collect::<Result<_, CliError>>()?;
    session.trials = trials(&from.trial)?;
    session.options = from.options();
    session.asked = target.map(|target| text::safe(path_bytes(target)));
    if show {
        out::progress("");
    }
    match target {
        Some(_) if session.read.subjects(Scope::Target).next().is_none() => {
            let why: Vec<String> = session
                .read
                .warnings()
                .iter()
                .map(Note::to_string)
                .collect();
            Err(CliError::Usage(format!(
                "nothing to check: {}",
                why.join("; ")
            )))
        }
        _ => Ok(session),
    }
}
