//! The child that writes a document: it finds the place, reports it, receives the document, and renames it when told
//! to.
//!
//! It communicates over its errand's line. It receives no signals. If the parent exits or gives up, the line closes and
//! the child removes its draft.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use super::draft::{NamedDocument, OutputLocation, Refused, WriteOptions};
use super::existing::Existing;
use super::say;
use crate::errand::{self, SocketChannel};
use crate::way::{CreationPolicy, Walker};

/// The hidden argument that makes the program such a child.
pub(super) const ARGUMENT: &str = "__write";

/// Acts as the child if the arguments (the program's name first) ask for it; `None` if they do not.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let Some((path, options)) = parse(errand::words(arguments, ARGUMENT)?) else {
        return Some(ExitCode::FAILURE);
    };
    let served = nix::sys::signal::SigSet::all()
        .thread_block()
        .map_err(Into::into)
        .and_then(|()| SocketChannel::home());
    let Ok(mut line) = served else { return Some(ExitCode::FAILURE) };
    // If the reader is gone, nobody needs an answer.
    let said = match write(&PathBuf::from(path), options, &mut line) {
        Ok(named) => line
            .say(say::DONE, named.series_name.unwrap_or_default().as_bytes())
            .and_then(|()| line.say(say::WARNING, named.warning.unwrap_or_default().as_bytes())),
        Err(WriteFailure::Refused(Refused::Exists)) => line.say(say::EXISTS, b""),
        Err(WriteFailure::Refused(Refused::For(why))) => line.say(say::REFUSED, why.as_bytes()),
        Err(WriteFailure::Alone) => return Some(ExitCode::FAILURE),
    };
    Some(said.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// The inverse of [`super::Wish::words`].
fn parse(words: Vec<OsString>) -> Option<(OsString, WriteOptions)> {
    let mut words = words.into_iter();
    let path = words.next()?;
    let [existing, mode, runs, series, missing] =
        [words.next()?, words.next()?, words.next()?, words.next()?, words.next()?]
            .map(|word| word.into_string().unwrap_or_default());
    let octal = |text: &str| u32::from_str_radix(text, 8).ok();
    let missing = match missing.split_once(':') {
        None => CreationPolicy::Refused,
        Some((_, mode)) => CreationPolicy::Made(octal(mode)?),
    };
    let mode = if mode == "umask" { None } else { Some(octal(&mode)?) };
    let existing = Existing::from_word(&existing)?;
    Some((path, WriteOptions { existing, mode, runs: runs == "runs", series: series == "series", missing }))
}

enum WriteFailure {
    Refused(Refused),
    /// The parent is gone, or gave up.
    Alone,
}

impl<T: Into<Refused>> From<T> for WriteFailure {
    fn from(refused: T) -> Self {
        Self::Refused(refused.into())
    }
}

fn write(
    path: &std::path::Path,
    options: WriteOptions,
    line: &mut SocketChannel,
) -> Result<NamedDocument, WriteFailure> {
    let alone = |_| WriteFailure::Alone;
    let location = OutputLocation::find(Walker::ourselves(), path, options)?;
    line.say(say::READY, location.notice.as_deref().unwrap_or_default().as_bytes()).map_err(alone)?;
    let mut document = Vec::new();
    loop {
        match line.hear(None) {
            Ok((say::PART, part)) => document.extend(part),
            Ok((say::ALL, _)) => break,
            Ok(_) | Err(_) => return Err(WriteFailure::Alone),
        }
    }
    let draft = location.write(&document)?;
    line.say(say::WRITTEN, b"").map_err(alone)?;
    match line.hear(None) {
        Ok((say::NAME_IT, _)) => Ok(draft.name_it()?),
        Ok(_) | Err(_) => Err(WriteFailure::Alone),
    }
}
