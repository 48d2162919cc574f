//! Writes documents to standard output or to the file of `--output`, and messages to standard error.

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
use super::args::OutputArgs;
use crate::measure::ProbeProgress;
use crate::output::{OutputDestination, OutputOptions};
use crate::report::json;
use crate::report::text::TextOutputStyle;
use crate::text;

pub(super) type ExitResult = Result<u8, CliError>;

pub(super) fn print_json(value: &impl Serialize) -> ExitResult {
    let mut stdout = BufWriter::new(io::stdout().lock());
    exit_code_accepting_broken_pipe(
        json::write_pretty_json(value, &mut stdout).and_then(|()| stdout.flush()),
    )
}

fn exit_code_accepting_broken_pipe(outcome: io::Result<()>) -> ExitResult {
    match outcome {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(anyhow!(
            "cannot write to standard output: {}",
            text::io_error_message(&error)
        )
        .into()),
    }
}

/// A closed pipe is not an error. Terminal control sequences are escaped, except colours if the
/// terminal supports them.
pub(super) fn print_document(document: &str) -> ExitResult {
    let escaped = if stdout_text_style().colour {
        escape_except_colours(document)
    } else {
        text::escape_display_unsafe_lines(document)
    };
    let mut stdout = io::stdout().lock();
    exit_code_accepting_broken_pipe(
        stdout
            .write_all(escaped.as_bytes())
            .and_then(|()| stdout.flush()),
    )
}

/// Escapes control characters, as [`text::escape_display_unsafe_lines`] does, but keeps colour
/// sequences (SGR, ECMA-48).
fn escape_except_colours(document: &str) -> Cow<'_, str> {
    const COLOUR_BEGINS: &str = "\x1b[";
    let mut pieces = document.split(COLOUR_BEGINS);
    let mut out = text::escape_display_unsafe_lines(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let numbers = piece
            .bytes()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b';'))
            .count();
        let (colour, rest) = match piece.split_at_checked(numbers + 1) {
            Some((colour, rest)) if colour.ends_with('m') => {
                ([COLOUR_BEGINS, colour].concat(), rest)
            }
            _ => (
                text::escape_display_unsafe(COLOUR_BEGINS).into_owned(),
                piece,
            ),
        };
        out += &colour;
        out += &text::escape_display_unsafe_lines(rest);
    }
    Cow::Owned(out)
}

/// Whether standard output accepts a line within 50 ms. False if a signal interrupts the wait; true
/// after any other error of poll(2).
pub(super) fn stdout_is_writable() -> bool {
    const WAIT_MILLISECONDS: u16 = 50;
    let stdout = io::stdout();
    let mut waiting = [PollFd::new(stdout.as_fd(), PollFlags::POLLOUT)];
    !matches!(
        poll(&mut waiting, PollTimeout::from(WAIT_MILLISECONDS)),
        Ok(0) | Err(Errno::EINTR)
    )
}

/// Standard output, or the file of `--output`.
pub(super) struct OutputTarget(Option<Box<OutputDestination>>);

pub(super) fn output_options(args: &OutputArgs) -> OutputOptions {
    OutputOptions {
        access: args.output_mode.unwrap_or_default(),
        ..OutputOptions::default()
    }
}

impl OutputTarget {
    /// An executable script is refused in a directory that another user controls.
    pub(super) fn open(args: &OutputArgs, executable: bool) -> Result<Self, CliError> {
        let named = args.output.as_deref();
        let file = named.filter(|path| *path != Path::new("-")).map(|path| {
            let wish = OutputOptions {
                executable,
                ..output_options(args)
            };
            open_destination(path, wish).map(Box::new)
        });
        Ok(Self(file.transpose()?))
    }

    pub(super) fn text_style(&self) -> TextOutputStyle {
        let style = stdout_text_style();
        TextOutputStyle {
            colour: style.colour && self.0.is_none(),
            ..style
        }
    }

    pub(super) fn print_or_save_json(self, value: &impl Serialize) -> ExitResult {
        if self.0.is_none() {
            return print_json(value);
        }
        self.print_or_save_document(&json::to_pretty_json(value))
    }

    pub(super) fn print_or_save_document(self, document: &str) -> ExitResult {
        let Some(file) = self.0 else {
            return print_document(document);
        };
        file.commit(text::escape_display_unsafe_lines(document).as_bytes())
            .context("the report was generated but not saved")?;
        Ok(0)
    }
}

pub(super) fn stdout_text_style() -> TextOutputStyle {
    let is_terminal = io::IsTerminal::is_terminal(&io::stdout()) && !terminal_is_dumb();
    TextOutputStyle {
        colour: is_terminal && is_colour_allowed(),
        ascii: !locale_is_utf8(),
    }
}

/// Whether NO_COLOR is unset or empty (no-color.org).
pub(super) fn is_colour_allowed() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

pub(super) fn open_destination(
    path: &Path,
    wish: OutputOptions,
) -> Result<OutputDestination, CliError> {
    let found = OutputDestination::open(path, wish).map_err(anyhow::Error::from)?;
    if let Some(says) = found.foreign_owner_notice() {
        print_notice(says);
    }
    Ok(found)
}

/// Control sequences are escaped, because names in the sentence are not trusted.
pub(super) fn print_error(sentence: &str) {
    let _ = writeln!(
        io::stderr().lock(),
        "walwise: {}",
        text::escape_display_unsafe_lines(sentence)
    );
}

/// Prints to standard error, because standard output may hold a document.
pub(super) fn print_notice(sentence: &str) {
    print_error(sentence);
}

/// Replaces the previous line on standard error; an empty line clears it. The terminal must support
/// control sequences.
pub(super) fn print_progress(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{}", text::escape_display_unsafe(line));
    let _ = stderr.flush();
}

pub(super) fn can_show_progress() -> bool {
    io::IsTerminal::is_terminal(&io::stderr()) && !terminal_is_dumb()
}

/// Whether the terminal is terminfo's `dumb`, which can only print lines.
pub(super) fn terminal_is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether the locale is UTF-8, by the variables of setlocale(3), in the documented order.
pub(super) fn locale_is_utf8() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL")
        .or_else(|| set("LC_CTYPE"))
        .or_else(|| set("LANG"))
        .unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

pub(super) fn probe_progress_line(now: &ProbeProgress) -> String {
    let so_far = now
        .interim_comparison_text()
        .map(|says| format!("; {says}"))
        .unwrap_or_default();
    format!(
        "{}: {}{so_far}",
        now.phase.description(),
        now.round_and_remaining_time_text()
    )
}
