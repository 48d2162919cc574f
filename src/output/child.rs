//! The child that writes a document: it finds the place, reports it, receives the document, and renames it when told
//! to.
//!
//! It communicates over its errand's line. It receives no signals. If the parent exits or gives up, the line closes and
//! the child removes its draft.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use super::draft::{Manner, Refused, Spot};
use super::say;
use crate::errand::{self, Line};
use crate::way::{Missing, Walker};

/// The hidden argument that makes the program such a child.
pub(super) const ARGUMENT: &str = "__write";

/// Acts as the child if the arguments (the program's name first) ask for it; `None` if they do not.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let Some((path, manner)) = parse(errand::words(arguments, ARGUMENT)?) else {
        return Some(ExitCode::FAILURE);
    };
    let served =
        nix::sys::signal::SigSet::all().thread_block().map_err(Into::into).and_then(|()| Line::home());
    let Ok(mut line) = served else { return Some(ExitCode::FAILURE) };
    // If the reader is gone, nobody needs an answer.
    let said = match write(&PathBuf::from(path), manner, &mut line) {
        Ok(()) => line.say(say::DONE, b""),
        Err(Ended::Refused(Refused::Exists)) => line.say(say::EXISTS, b""),
        Err(Ended::Refused(Refused::For(why))) => line.say(say::REFUSED, why.as_bytes()),
        Err(Ended::Alone) => return Some(ExitCode::FAILURE),
    };
    Some(said.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// The inverse of [`super::Wish::words`].
fn parse(words: Vec<OsString>) -> Option<(OsString, Manner)> {
    let mut words = words.into_iter();
    let path = words.next()?;
    let [how, mode, runs, missing] = [words.next()?, words.next()?, words.next()?, words.next()?]
        .map(|word| word.into_string().unwrap_or_default());
    let octal = |text: &str| u32::from_str_radix(text, 8).ok();
    let missing = match missing.split_once(':') {
        None => Missing::Refused,
        Some(("made", mode)) => Missing::Made(octal(mode)?),
        Some((_, mode)) => Missing::AllMade(octal(mode)?),
    };
    let mode = if mode == "umask" { None } else { Some(octal(&mode)?) };
    Some((path, Manner { replace: how == "replace", mode, runs: runs == "runs", missing }))
}

/// Why it ended early.
enum Ended {
    Refused(Refused),
    /// The parent is gone, or gave up.
    Alone,
}

impl<T: Into<Refused>> From<T> for Ended {
    fn from(refused: T) -> Self {
        Self::Refused(refused.into())
    }
}

fn write(path: &std::path::Path, manner: Manner, line: &mut Line) -> Result<(), Ended> {
    let alone = |_| Ended::Alone;
    let spot = Spot::find(Walker::ourselves(), path, manner)?;
    line.say(say::READY, spot.notice.as_deref().unwrap_or_default().as_bytes()).map_err(alone)?;
    let mut document = Vec::new();
    loop {
        match line.hear(None) {
            Ok((say::PART, part)) => document.extend(part),
            Ok((say::ALL, _)) => break,
            Ok(_) | Err(_) => return Err(Ended::Alone),
        }
    }
    let draft = spot.write(&document)?;
    line.say(say::WRITTEN, b"").map_err(alone)?;
    match line.hear(None) {
        Ok((say::NAME_IT, _)) => Ok(draft.name_it()?),
        Ok(_) | Err(_) => Err(Ended::Alone),
    }
}
