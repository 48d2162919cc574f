//! The screen of a running trial: one line per candidate, whose interval narrows as blocks
//! complete.
//!
//! A trial has the terminal to itself and is not a screen of [`super::run`], where no key starts a
//! trial. The caller runs the trial, passes the record to this screen, and polls for input.

mod board;
mod picture;

use std::io;
use std::sync::mpsc::{self, Receiver};

use nix::sys::signal::{Signal, raise};
use signal_hook::consts::{SIGCONT, SIGTSTP};

use super::ScreenOptions;
use super::input;
use super::input_queue::InputQueue;
use super::msg::Msg;
use super::terminal::{TerminalDisplay, Tty};
use crate::trial::TrialRecord;
use board::TrialBoard;

/// Restores the terminal on drop.
pub struct TrialScreen {
    display: Tty,
    inbox: Receiver<Msg>,
    input: InputQueue,
    options: ScreenOptions,
    board: TrialBoard,
    status: String,
    is_suspended: bool,
}

impl TrialScreen {
    pub fn enter(options: ScreenOptions, record: &TrialRecord) -> io::Result<Self> {
        let (out, inbox) = mpsc::channel();
        // The caller handles the other signals.
        input::listen_for_signals(out.clone(), &[SIGTSTP, SIGCONT])?;
        let display = Tty::enter(options.in_tmux)?;
        let input = InputQueue::default();
        input::listen_for_input(&out, input.clone())?;
        let (board, doing) = (TrialBoard::from_record(record), String::new());
        Ok(Self {
            display,
            inbox,
            input,
            options,
            board,
            status: doing,
            is_suspended: false,
        })
    }

    /// To be called after every block of the trial.
    pub fn set_record(&mut self, record: &TrialRecord) {
        self.board = TrialBoard::from_record(record);
    }

    pub fn set_status(&mut self, doing: &str) {
        doing.clone_into(&mut self.status);
    }

    /// Handles input, and draws if the terminal accepts output. `left` is the remaining time budget
    /// in seconds. Returns true if the user quits; Ctrl-C is raised as SIGINT.
    pub fn handle_input_and_draw(&mut self, left: f64, takes_output: bool) -> io::Result<bool> {
        let leaves = self.handle_keys_and_signals()?;
        if self.is_suspended {
            self.is_suspended = !self.display.resume()?;
        }
        if takes_output && !self.is_suspended {
            let Self {
                display,
                options,
                board,
                status: doing,
                ..
            } = self;
            display.clear_if_resized()?;
            display
                .draw(&mut |buffer| picture::draw_board(board, doing, left, *options, buffer))?;
        }
        Ok(leaves)
    }

    fn handle_keys_and_signals(&mut self) -> io::Result<bool> {
        let mut leaves = false;
        let typed = std::iter::from_fn(|| self.input.pop_interrupt_first(false));
        for msg in self.inbox.try_iter().chain(typed) {
            match msg {
                Msg::Key(key) if key.is_one_of("q Q") => leaves = true,
                Msg::Key(key) if key.is_one_of("ctrl-c") => raise(Signal::SIGINT)?,
                Msg::Key(key) if key.is_one_of("ctrl-z") => {
                    self.is_suspended |= self.display.suspend()?;
                }
                Msg::Signal(SIGTSTP) => self.is_suspended |= self.display.suspend()?,
                Msg::Signal(SIGCONT) => self.is_suspended = !self.display.resume()?,
                // A closed terminal also causes SIGHUP, which the caller handles, so `Hangup` needs
                // no action.
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
