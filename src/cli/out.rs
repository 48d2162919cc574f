//! The only module that prints: to standard output, standard error, and files that are written
//! completely or not at all.

use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Context, anyhow};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;

use super::CliError;
use super::args::Output;
use crate::measure::Progress;
use crate::output::{Destination, Wish};
use crate::report::json;
use crate::report::text::LineStyle;
use crate::text;

/// The result of a command: its exit code, or why it ended early.
pub(super) type ExitResult = Result<u8, CliError>;

/// Prints a value as JSON; a closed reader counts as success.
pub(super) fn print_json(value: &impl Serialize) -> ExitResult {
    let mut stdout = BufWriter::new(io::stdout().lock());
    accept_broken_pipe(json::write(value, &mut stdout).and_then(|()| stdout.flush()))
}

fn accept_broken_pipe(outcome: io::Result<()>) -> ExitResult {
    match outcome {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(anyhow!(
            "cannot write to standard output: {}",
            text::error_words(&error)
        )
        .into()),
    }
}

/// Prints to standard output; a closed reader counts as success. Whatever could control a terminal
/// is escaped, but for the colours of a line on a terminal that has them.
pub(super) fn print(document: &str) -> ExitResult {
    let escaped = if line_style().colour {
        escape_between_colours(document)
    } else {
        text::escape_lines(document)
    };
    let mut stdout = io::stdout().lock();
    accept_broken_pipe(
        stdout
            .write_all(escaped.as_bytes())
            .and_then(|()| stdout.flush()),
    )
}

/// Escapes what stands between sequences that set a colour (SGR of ECMA-48).
fn escape_between_colours(document: &str) -> Cow<'_, str> {
    const BEGINS: &str = "\x1b[";
    let mut pieces = document.split(BEGINS);
    let mut out = text::escape_lines(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let numbers = piece
            .bytes()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b';'))
            .count();
        let (colour, rest) = match piece.split_at_checked(numbers + 1) {
            Some((colour, rest)) if colour.ends_with('m') => ([BEGINS, colour].concat(), rest),
            _ => (text::escape(BEGINS).into_owned(), piece),
        };
        out += &colour;
        out += &text::escape_lines(rest);
    }
    Cow::Owned(out)
}

/// Whether standard output accepts a line without blocking, now or in a moment; true where that
/// cannot be determined.
pub(super) fn takes_more() -> bool {
    const MOMENT: u16 = 50;
    let stdout = io::stdout();
    let mut waiting = [PollFd::new(stdout.as_fd(), PollFlags::POLLOUT)];
    !matches!(
        poll(&mut waiting, PollTimeout::from(MOMENT)),
        Ok(0) | Err(Errno::EINTR)
    )
}

/// The destination of a document, found before anything is read or measured for it.
pub(super) enum Delivery {
    Printed,
    Written(Box<Destination>),
}

impl Delivery {
    /// The destination that the options name. With `runs` the document may be executed.
    pub(super) fn find(options: &Output, runs: bool) -> Result<Self, CliError> {
        match options
            .output
            .as_deref()
            .filter(|path| *path != Path::new("-"))
        {
            None => Ok(Self::Printed),
            Some(path) => {
                let access = options.output_mode.unwrap_or_default();
                let found = destination(
                    path,
                    Wish {
                        access,
                        runs,
                        ..Wish::default()
                    },
                )?;
                Ok(Self::Written(Box::new(found)))
            }
        }
    }

    /// How lines may be drawn there: coloured on a terminal alone.
    pub(super) fn line_style(&self) -> LineStyle {
        match self {
            Self::Printed => line_style(),
            Self::Written(_) => LineStyle {
                colour: false,
                ascii: !locale_is_utf8(),
            },
        }
    }

    /// Prints a value as JSON, or writes it.
    pub(super) fn deliver_json(self, value: &impl Serialize) -> ExitResult {
        match self {
            Self::Printed => print_json(value),
            Self::Written(_) => self.deliver(&json::pretty(value)),
        }
    }

    /// Prints it, or writes it.
    pub(super) fn deliver(self, document: &str) -> ExitResult {
        match self {
            Self::Printed => print(document),
            Self::Written(found) => {
                found
                    .commit(text::escape_lines(document).as_bytes())
                    .context("the report was made and not saved")?;
                Ok(0)
            }
        }
    }
}

/// How lines may be drawn on standard output: coloured on a terminal where nothing forbids it.
pub(super) fn line_style() -> LineStyle {
    let is_terminal = io::IsTerminal::is_terminal(&io::stdout()) && !terminal_is_dumb();
    LineStyle {
        colour: is_terminal && allows_colour(),
        ascii: !locale_is_utf8(),
    }
}

/// Whether nobody forbids colour (no-color.org).
pub(super) fn allows_colour() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A destination for a document; prints its warnings.
pub(super) fn destination(path: &Path, wish: Wish) -> Result<Destination, CliError> {
    let found = Destination::open(path, wish).map_err(anyhow::Error::from)?;
    if let Some(says) = found.notice() {
        notice(says);
    }
    Ok(found)
}

/// Prints one sentence to standard error. Names in it are untrusted, even those from the command
/// line.
pub(super) fn complain(sentence: &str) {
    let _ = writeln!(
        io::stderr().lock(),
        "walwise: {}",
        text::escape_lines(sentence)
    );
}

/// Prints a side effect to standard error, so that it is in no document.
pub(super) fn notice(sentence: &str) {
    complain(sentence);
}

/// A line of progress on standard error, replaced by the next; an empty one clears it. Only for a
/// terminal.
pub(super) fn progress(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{}", text::escape(line));
    let _ = stderr.flush();
}

/// Whether progress is visible: a line can be replaced by the next.
pub(super) fn stderr_is_terminal() -> bool {
    io::IsTerminal::is_terminal(&io::stderr()) && !terminal_is_dumb()
}

/// Whether the terminal can only print lines (terminfo's entry `dumb`).
pub(super) fn terminal_is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether the locale supports more than ASCII, by the variables of setlocale(3), in its order.
pub(super) fn locale_is_utf8() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL")
        .or_else(|| set("LC_CTYPE"))
        .or_else(|| set("LANG"))
        .unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The progress of a probe, in words.
pub(super) fn progress_line(now: &Progress) -> String {
    let so_far = now
        .so_far_in_words()
        .map(|says| format!("; {says}"))
        .unwrap_or_default();
    format!("{}: {}{so_far}", now.phase.words(), now.how_far())
}
