//! Events of the user interface, and the effects it requests. A session is a list of messages, so
//! that any session can be replayed as a test.

use ratatui::layout::Position;

use super::job::{Job, JobId, JobResult, Partial};
use super::key::KeyPress;

#[derive(Debug)]
pub enum Msg {
    Key(KeyPress),
    /// These characters were typed into a text, one after the other.
    Text(String),
    /// This was pasted. It may be anything.
    Paste(String),
    /// The mouse did this on this cell.
    Mouse(Pointed, Position),
    /// Input was read, and waits in the queue.
    Input,
    Signal(i32),
    Hangup,
    /// Time for the next frame of what animates.
    Tick,
    /// A job says how far it is.
    Progress(JobId, Partial),
    Done(JobId, JobResult),
}

impl Msg {
    /// Whether it is the key that ends everything.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Key(key) if key.is_in("ctrl-c"))
    }

    /// The character that it types, when it types one.
    pub fn types(&self) -> Option<char> {
        if let Self::Key(key) = self {
            key.types()
        } else {
            None
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// The left button was pressed.
    Click,
    /// The wheel was turned away from the user.
    WheelUp,
    /// The wheel was turned towards the user.
    WheelDown,
}

/// Something to be done outside of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideEffect {
    Start(JobId, Job),
    /// Ask a job to stop; it ends when it can.
    Cancel(JobId),
    /// Put a text on the clipboard.
    Copy(String),
    /// Take the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Give the terminal back and stop, until continued.
    Suspend,
    /// Forget what was drawn and ask for the size, for a screen that has another one or that
    /// something else wrote on.
    Renew,
    /// Take the terminal again, after having been continued.
    Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Quit,
    /// This signal, or the key that stands for it.
    Signal(i32),
}
