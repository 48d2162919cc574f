//! The screen of a trial while it runs: a line for each candidate, whose interval tightens as
//! blocks arrive.
//!
//! It has the terminal to itself and is no screen of [`super::run`]: no key there begins a trial.
//! It asks for nothing and measures nothing; whoever runs the trial hands it what is known and asks
//! it what the user wants.

mod board;
mod picture;

use std::io;
use std::sync::mpsc::{self, Receiver};

use nix::sys::signal::{Signal, raise};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use signal_hook::consts::{SIGCONT, SIGTSTP};

use super::Options;
use super::input;
use super::msg::Msg;
use super::queue::InputQueue;
use super::svg;
use super::terminal::{Display, Tty};
use super::theme::Theme;
use crate::trial::TrialRecord;
use board::TrialBoard;

/// The screen after the last block of a record, on a terminal of so many columns and rows, as SVG.
pub fn trial_picture(record: &TrialRecord, (columns, rows): (u16, u16)) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    let left = (record.budget - record.seconds).max(0.0);
    let theme = Theme {
        colour: true,
        ascii: false,
    };
    picture::draw(
        &TrialBoard::of(record),
        "the last block is complete",
        left,
        theme,
        &mut buffer,
    );
    svg::svg(&buffer, "walwise: a trial")
}

/// The terminal while a trial runs. It is given back when this is dropped.
pub struct TrialScreen {
    display: Tty,
    inbox: Receiver<Msg>,
    input: InputQueue,
    theme: Theme,
    board: TrialBoard,
    doing: String,
    /// A shell has the terminal.
    away: bool,
}

impl TrialScreen {
    /// Takes the terminal at standard input and output.
    pub fn enter(options: Options, record: &TrialRecord) -> io::Result<Self> {
        let (out, inbox) = mpsc::channel();
        input::stops(out.clone())?;
        let display = Tty::enter(options.in_tmux)?;
        let input = InputQueue::default();
        input::keys(&out, input.clone())?;
        let theme = Theme {
            colour: options.colour,
            ascii: options.ascii,
        };
        let (board, doing) = (TrialBoard::of(record), String::new());
        Ok(Self {
            display,
            inbox,
            input,
            theme,
            board,
            doing,
            away: false,
        })
    }

    /// Takes in what is known after a block.
    pub fn learn(&mut self, record: &TrialRecord) {
        self.board = TrialBoard::of(record);
    }

    /// Takes in what is done now.
    pub fn say(&mut self, doing: &str) {
        doing.clone_into(&mut self.doing);
    }

    /// Minds the keys, and draws where the terminal takes output, with the most seconds that are
    /// left; returns whether the user wants to end the trial. Ctrl-C is handed on as the signal for
    /// which it stands.
    pub fn turn(&mut self, left: f64, takes_output: bool) -> io::Result<bool> {
        let leaves = self.is_left()?;
        if self.away {
            self.away = !self.display.resume()?;
        }
        if takes_output && !self.away {
            let Self {
                display,
                theme,
                board,
                doing,
                ..
            } = self;
            display.fit()?;
            display.draw(&mut |buffer| picture::draw(board, doing, left, *theme, buffer))?;
        }
        Ok(leaves)
    }

    fn is_left(&mut self) -> io::Result<bool> {
        let mut leaves = false;
        let typed = std::iter::from_fn(|| self.input.next(false));
        for msg in self.inbox.try_iter().chain(typed) {
            match msg {
                Msg::Key(key) if key.is_in("q Q") => leaves = true,
                Msg::Key(key) if key.is_in("ctrl-c") => raise(Signal::SIGINT)?,
                Msg::Key(key) if key.is_in("ctrl-z") => self.away |= self.display.suspend()?,
                Msg::Signal(SIGTSTP) => self.away |= self.display.suspend()?,
                Msg::Signal(SIGCONT) => self.away = !self.display.resume()?,
                // Whoever hangs up sends a signal, too.
                Msg::Key(_)
                | Msg::Text(_)
                | Msg::Paste(_)
                | Msg::Mouse(..)
                | Msg::Input
                | Msg::Signal(_)
                | Msg::Hangup
                | Msg::Tick
                | Msg::Progress(..)
                | Msg::Done(..) => {}
            }
        }
        Ok(leaves)
    }
}
