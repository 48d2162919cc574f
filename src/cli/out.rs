//! The one place that prints: standard output, standard error, and files that are written completely or not at all.

use std::env;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, anyhow};

use super::CliError;
use crate::measure::{Phase, Progress};
use crate::report::output;
use crate::text;

/// How a command went: its exit code, or why it ended early.
pub(super) type Done = Result<u8, CliError>;

/// Prints to standard output; a reader that has gone away is success.
pub(super) fn print(document: &str) -> Done {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(document.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(anyhow!("cannot write to standard output: {}", text::error_words(&error)).into()),
    }
}

/// Prints, or writes to the file that was asked for.
pub(super) fn deliver(document: &str, file: Option<&Path>) -> Done {
    match file {
        None => print(document),
        Some(path) if path == Path::new("-") => print(document),
        Some(path) => {
            output::write_atomically(path, document.as_bytes())
                .context("the report was made and not saved")?;
            Ok(0)
        }
    }
}

/// One sentence to standard error. Names in it may be anybody's, also those of the command line.
pub(super) fn complain(sentence: &str) {
    let _ = writeln!(io::stderr().lock(), "walwise: {}", text::safe_lines(sentence));
}

/// What was done besides, to standard error, so that it is in no document.
pub(super) fn notice(sentence: &str) {
    complain(sentence);
}

/// A line of progress to standard error, replaced by the next; an empty one clears it. Only for a terminal.
pub(super) fn progress(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{line}");
    let _ = stderr.flush();
}

/// A line to standard error that stays, above the progress. Only for a terminal.
pub(super) fn announce(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Whether progress would be seen: a line can be replaced by the next.
pub(super) fn stderr_is_terminal() -> bool {
    io::IsTerminal::is_terminal(&io::stderr()) && !terminal_is_dumb()
}

/// Whether the terminal says that it can do nothing but print lines (terminfo's entry `dumb`).
pub(super) fn terminal_is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// How far a probe is, in words.
pub(super) fn progress_line(now: &Progress) -> String {
    let settled = match now.open() {
        _ if now.settled => ", settled".to_owned(),
        Some((open, of)) if !open.is_empty() => {
            format!(", not settled yet: {} of {of} methods open", open.len())
        }
        _ if now.so_far.is_some() && now.phase != Phase::CleaningUp => ", not settled yet".to_owned(),
        _ => String::new(),
    };
    format!("{}: {}{settled}", now.phase.words(), now.how_far())
}
