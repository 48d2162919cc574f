//! Events of the screens, and the effects that they request. A session is a list of messages, so
//! any session can be replayed as a test.

use ratatui::layout::Position;

use super::job::{Job, JobId, JobProgress, JobResult};
use super::key::KeyPress;

#[derive(Debug)]
pub enum Msg {
    Key(KeyPress),
    /// Characters typed into a text field.
    Text(String),
    /// Pasted text: untrusted, any content.
    Paste(String),
    /// A mouse action at this cell.
    Mouse(MouseAction, Position),
    /// Wake-up: input is in the queue.
    Input,
    Signal(i32),
    Hangup,
    /// The next animation frame.
    Tick,
    /// Progress of a job.
    Progress(JobId, JobProgress),
    Done(JobId, JobResult),
}

impl Msg {
    /// Whether it is Ctrl-C.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Key(key) if key.is_in("ctrl-c"))
    }

    /// The character that it types, if any.
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
    /// The left button.
    Click,
    /// Away from the user.
    WheelUp,
    /// Towards the user.
    WheelDown,
}

/// A side effect to be performed outside of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideEffect {
    Start(JobId, Job),
    /// Asks a job to stop.
    Cancel(JobId),
    /// Copies a text to the clipboard.
    Copy(String),
    /// Whether we handle the mouse, or the terminal does.
    Mouse(bool),
    /// Restores the terminal and stops, until continued.
    Suspend,
    /// Redraws everything at the current size, after a resize or foreign output.
    Redraw,
    /// Takes over the terminal again, after being continued.
    Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Quit,
    /// Ended by this signal, or by the key for it.
    Signal(i32),
}
