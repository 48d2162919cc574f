//! The messages that change the model. A test can replay a session as a list of messages.

use ratatui::layout::Position;

use super::job::{Job, JobId, JobProgress, JobResult};
use super::key_press::KeyPress;

#[derive(Debug)]
pub enum Msg {
    Key(KeyPress),
    Text(String),
    /// Pasted text, which is untrusted and may contain anything.
    Paste(String),
    /// The position is a terminal cell, counted from 0.
    Mouse(MouseAction, Position),
    /// Wakes the main loop: input is in the queue.
    Input,
    Signal(i32),
    Hangup,
    Tick,
    Progress(JobId, JobProgress),
    Done(JobId, JobResult),
}

impl Msg {
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Key(key) if key.is_one_of("ctrl-c"))
    }

    /// `None` for keys such as `esc`.
    pub fn typed_char(&self) -> Option<char> {
        if let Self::Key(key) = self {
            key.typed_char()
        } else {
            None
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseAction {
    Click,
    WheelUp,
    WheelDown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideEffect {
    Start(JobId, Job),
    Cancel(JobId),
    Copy(String),
    /// True enables mouse events; false leaves the mouse to the terminal.
    Mouse(bool),
    /// Restores the terminal and stops the process until SIGCONT.
    Suspend,
    /// Draws every cell again, after a resize or after another program wrote to the terminal.
    Redraw,
    /// Sets the terminal's modes again after SIGCONT.
    Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    Quit,
    /// Holds the number of the signal; Ctrl-C counts as SIGINT.
    Signal(i32),
}
