//! The report that a check is compared with: one that was named, or the one that was kept last ([`super::kept`]).

use std::io::{self, Read};
use std::path::Path;

use super::args::Check;
use super::kept::Shelf;
use super::{CliError, input, out};
use crate::host::path_bytes;
use crate::pipeline::Session;
use crate::quote::Command;
use crate::report::Format;
use crate::report::difference::{Kept, LARGEST};
use crate::text;

/// The value of `--baseline` for the report that was kept last.
const LAST: &str = "last";

/// Checks that the options are compatible.
pub(super) fn check(args: &Check) -> Result<(), CliError> {
    if args.baseline.is_none() || args.format.compares() {
        return Ok(());
    }
    let forms: Vec<_> = Format::ALL.into_iter().filter(|form| form.compares()).map(Format::name).collect();
    Err(CliError::Usage(format!(
        "a difference is shown in {} only; leave out --baseline, or take --format {}",
        forms.join(" and "),
        forms.join(" or ")
    )))
}

/// The report to compare with, if one was requested. Under `--save` a kept one that is missing or unusable is a notice,
/// because the run that begins a series has none, and the next one compares with what this one keeps.
pub(super) fn load(args: &Check, session: &Session) -> Result<Option<Kept>, CliError> {
    let Some(name) = &args.baseline else { return Ok(None) };
    if name != Path::new(LAST) {
        return parse(name, input::open(name, LARGEST)).map(Some);
    }
    match last(args, session) {
        Err(CliError::Usage(sentence)) if args.save => {
            out::notice(&format!("nothing is compared: {sentence}"));
            Ok(None)
        }
        found => found.map(Some),
    }
}

/// The report that was kept last.
fn last(args: &Check, session: &Session) -> Result<Kept, CliError> {
    let target = args.target.as_deref();
    let shelf = Shelf::of(session, target)?;
    let place = text::safe(path_bytes(&shelf.directory));
    let newest = shelf.newest().map_err(|error| {
        CliError::Usage(format!("cannot look into {place}: {}", text::error_words(&error)))
    })?;
    match newest {
        Some(path) => parse(&path, input::open_regular(&path, LARGEST)),
        None if args.save => Err(CliError::Usage(format!("no baseline is kept in {place} yet"))),
        None => {
            Err(CliError::Usage(format!("no baseline is kept in {place}; `{}` keeps one", keeps(target))))
        }
    }
}

/// A report, from its file.
fn parse(path: &Path, opened: io::Result<impl Read>) -> Result<Kept, CliError> {
    let refuse = |what: String| CliError::Usage(format!("cannot compare with {}: {what}", path.display()));
    let kept = opened.map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => refuse(format!(
            "it is a directory; name a report, or write `--baseline {LAST}` before the target"
        )),
        _ => refuse(text::error_words(&error)),
    })?;
    Kept::parse(kept).map_err(|error| refuse(error.to_string()))
}

/// The command that keeps a baseline.
fn keeps(target: Option<&Path>) -> String {
    let of = |target: &Path| Command::check(&text::safe(path_bytes(target)), " --save");
    Command::or_why(target.map_or(Some(Command::new("walwise check --save")), of))
}
