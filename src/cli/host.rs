//! Opens the host or a capture, collects its facts, and reads the records that options name.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::CliError;
use super::args::HostArgs;
use super::error::path_error_text;
pub(super) use super::rule_files::load_rules_in_force;
use super::{file_reader, out};
use crate::collect::{self, CollectStep, Request};
use crate::drill::DrillRecord;
use crate::facts::{FactSet, Note, Scope};
use crate::host::{CachingHost, Host, LiveHost, RecordedHost};
use crate::report::RunOption;
use crate::report::report_reader;
use crate::rules::RuleSet;
use crate::session::Session;
use crate::session::assume::{self, Hypothesis};
use crate::text::{self, display_path};
use crate::trial::TrialRecord;
use walwise_model::text::JoinText as _;

const LARGEST_CAPTURE: u64 = crate::limits::CAPTURE as u64;

const LARGEST_RECORD: u64 = 16 << 20;

pub(super) fn open_host(file: Option<&Path>) -> Result<Box<dyn Host + Send>, CliError> {
    let Some(path) = file else {
        return Ok(Box::new(LiveHost::with_started_child()));
    };
    let host = RecordedHost::from_capture(read_file_bytes(path, LARGEST_CAPTURE)?)
        .map_err(|e| CliError::Usage(format!("cannot use {}: {e}", path.display())))?;
    Ok(Box::new(host))
}

fn path_usage_error(act: &str, path: &Path, error: &io::Error) -> CliError {
    CliError::Usage(path_error_text(act, path, error))
}

/// Makes the target absolute, as collectors require. Symbolic links are not resolved, because they
/// may lead to a mount that hangs.
pub(super) fn absolute_path(target: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(target).map_err(|e| path_usage_error("resolve", target, &e))
}

/// In a masked capture, parts of the path may have other names; it is an error if several masked
/// paths match.
pub(super) fn resolve_masked_path(
    host: &dyn Host,
    target: Option<&Path>,
) -> Result<Option<PathBuf>, CliError> {
    let Some(path) = target.map(absolute_path).transpose()? else {
        return Ok(None);
    };
    let mut called = host.possible_masked_paths(&path);
    if called.len() > 1 {
        let some = called.iter().take(5).map(|path| path.display().to_string());
        return Err(CliError::Usage(format!(
            "{} is ambiguous in this masked capture: specify one of {}",
            path.display(),
            some.join_with(", ")
        )));
    }
    Ok(called.pop().or(Some(path)))
}

pub(super) fn collection_request(
    host: &dyn Host,
    from: &HostArgs,
    target: Option<&Path>,
) -> Result<Request, CliError> {
    let request = Request {
        target: resolve_masked_path(host, target)?,
        allow_missing: from.new,
        mysql_defaults: resolve_masked_path(host, from.servers.mysql_defaults.as_deref())?,
        postgres_config: resolve_masked_path(host, from.servers.postgres_config.as_deref())?,
        without_programs: from.no_programs,
    };
    match collect::config_argument_error(host, &request) {
        Some(mistake) => Err(CliError::Usage(mistake)),
        None => Ok(request),
    }
}

fn read_drill_record(path: &Path) -> Result<DrillRecord, CliError> {
    parse_drill_record(path, &read_file_bytes(path, LARGEST_RECORD)?)
}

/// Like [`read_drill_record`], but the file may be absent, because walwise creates and extends it.
pub(super) fn read_drill_record_if_any(path: &Path) -> Result<Option<DrillRecord>, CliError> {
    let mut bytes = Vec::new();
    let read = file_reader::open_regular_file(path, LARGEST_RECORD)
        .and_then(|mut file| file.read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(path_usage_error("use", path, &error)),
        Ok(_) => parse_drill_record(path, &bytes).map(Some),
    }
}

fn parse_drill_record(path: &Path, bytes: &[u8]) -> Result<DrillRecord, CliError> {
    DrillRecord::parse(&String::from_utf8_lossy(bytes))
        .map_err(|says| CliError::Usage(format!("cannot use {}: {says}", path.display())))
}

/// Each record has the display-safe name of its file.
fn read_named_records<T>(
    files: &[PathBuf],
    read: impl Fn(&Path) -> Result<T, CliError>,
) -> Result<Vec<(String, T)>, CliError> {
    let named = |file: &PathBuf| Ok((display_path(file), read(file)?));
    files.iter().map(named).collect()
}

/// The file is a record, or an HTML page that embeds one.
fn read_trial_record(path: &Path) -> Result<TrialRecord, CliError> {
    let document = read_text_file(path, LARGEST_RECORD)?;
    TrialRecord::parse(report_reader::embedded_json(&document)).map_err(|says| {
        CliError::Usage(text::display_safe(
            format!("cannot use {}: {says}", path.display()).as_bytes(),
        ))
    })
}

pub(super) fn read_text_file(path: &Path, largest: u64) -> Result<String, CliError> {
    read_file_bytes(path, largest).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn read_file_bytes(path: &Path, largest: u64) -> Result<Vec<u8>, CliError> {
    file_reader::read_bytes(path, largest).map_err(|e| path_usage_error("use", path, &e))
}

pub(super) fn evaluate_assumption_texts(
    texts: &[String],
    session: &Session,
    host: &dyn Host,
    from: &HostArgs,
    target: Option<&Path>,
) -> Result<Hypothesis, CliError> {
    let request = collection_request(host, from, target)?;
    let supposed = assume::parse_assumptions(texts, &session.facts)
        .and_then(|all| session.evaluate_assumptions(&all, host, &request));
    supposed.map_err(|mistakes| match mistakes.as_slice() {
        [one] => CliError::Usage(format!("invalid assumption: {one}")),
        several => CliError::Usage(format!("invalid assumptions:\n  {}", several.join("\n  "))),
    })
}

pub(super) fn open_host_and_collect_session(
    from: &HostArgs,
    target: Option<&Path>,
    rules: RuleSet,
) -> Result<Session, CliError> {
    let host = open_host(from.host.as_deref())?;
    collect_session_from_host(host.as_ref(), from, target, rules)
}

/// Collects facts from this host, without rules.
pub(super) fn collect_live_session(target: Option<&Path>) -> Result<Session, CliError> {
    open_host_and_collect_session(&HostArgs::default(), target, RuleSet::default())
}

/// Assumed facts, and facts that change with them, are marked as assumed.
pub(super) fn open_session_with_assumptions(
    from: &HostArgs,
    target: Option<&Path>,
    rules: RuleSet,
    assumed: &[String],
) -> Result<Session, CliError> {
    if assumed.is_empty() {
        return open_host_and_collect_session(from, target, rules);
    }
    let host = open_host(from.host.as_deref())?;
    let host = CachingHost::new(host.as_ref());
    let session = collect_session_from_host(&host, from, target, rules)?;
    Ok(session.with_hypothesis(&evaluate_assumption_texts(
        assumed, &session, &host, from, target,
    )?))
}

impl HostArgs {
    /// Lists the options that commands in a report repeat, with display-safe file names. A stream
    /// becomes `FILE`, because a stream cannot be read twice.
    pub(super) fn report_command_options(&self) -> Vec<RunOption> {
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
                display_path(file)
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

pub(super) fn collect_session_from_host(
    host: &dyn Host,
    from: &HostArgs,
    target: Option<&Path>,
    rules: RuleSet,
) -> Result<Session, CliError> {
    let request = collection_request(host, from, target)?;
    if let (Some(named), Some(called)) = (target.map(absolute_path).transpose()?, &request.target)
        && named != *called
    {
        let (named, called) = (named.display(), called.display());
        out::print_notice(&format!("{named} is masked as {called} in this capture"));
    }
    let show = out::can_show_progress();
    let mut progress = |step: CollectStep, _: &FactSet| {
        if show {
            out::print_progress(&format!("reading {} …", step.name()));
        }
    };
    let mut session = Session::collect_from_host(host, &request, rules, &mut progress);
    session.drills = read_named_records(&from.drill, read_drill_record)?;
    session.trials = read_named_records(&from.trial, read_trial_record)?;
    session.options = from.report_command_options();
    session.named_target = target.map(display_path);
    if show {
        out::print_progress("");
    }
    let mut targets = session.facts.subjects_of_scope(Scope::Target);
    if target.is_some() && targets.next().is_none() {
        let why = session.facts.notes().iter().map(Note::to_string);
        return Err(CliError::Usage(format!(
            "nothing to check: {}",
            why.join_with("; ")
        )));
    }
    drop(targets);
    Ok(session)
}
