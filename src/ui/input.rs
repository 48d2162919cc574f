//! Keys, the mouse and signals as messages, each from a thread of its own that blocks until an event.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event, MouseButton, MouseEvent, MouseEventKind};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use ratatui::layout::Position;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

use super::key::KeyPress;
use super::msg::{Msg, Pointed};
use super::terminal;

/// The longest time for which a terminal that accepts no output (such as a stopped one) may delay the exit.
const PATIENCE: Duration = Duration::from_secs(5);
/// The interval between attempts to read a terminal that belongs to another process group.
const AWAY: Duration = Duration::from_millis(100);

/// Starts listening for signals. Call it before taking the terminal over, so that none can leave it in that state.
pub fn signals(out: Sender<Msg>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH])?;
    spawn("signals", move || {
        for number in &mut signals {
            if matches!(number, SIGTERM | SIGINT | SIGHUP) {
                leave_in_any_case(number);
            }
            if out.send(Msg::Signal(number)).is_err() {
                return;
            }
        }
    })
}

/// Starts listening for being stopped and continued, where others mind the signals that end us.
pub fn stops(out: Sender<Msg>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTSTP, SIGCONT])?;
    spawn("stops", move || {
        for number in &mut signals {
            if out.send(Msg::Signal(number)).is_err() {
                return;
            }
        }
    })
}

/// Ends the process after a while, in case drawing is stuck on a terminal that takes no output.
fn leave_in_any_case(number: i32) {
    let end = move || {
        thread::sleep(PATIENCE);
        terminal::leave_without_output();
        signal_hook::low_level::exit(number.saturating_add(128));
    };
    // If no thread can be started, the normal exit has to suffice.
    let _ = spawn("patience", end);
}

/// Starts listening for keys, the mouse, and the closing of the terminal. A change of its size is left to the signal.
pub fn keys(out: &Sender<Msg>) -> io::Result<()> {
    let closed = out.clone();
    let keys = out.clone();
    spawn("hangup", move || {
        if until_closed() {
            let _ = closed.send(Msg::Hangup);
        }
    })?;
    spawn("keys", move || {
        // Blocked, it makes a read in the background fail instead of stopping the whole process.
        let _ = SigSet::from(Signal::SIGTTIN).thread_block();
        let mut failed = false;
        loop {
            match event::read() {
                Ok(Event::Key(key)) => {
                    failed = false;
                    if KeyPress::from_event(key).into_iter().any(|key| keys.send(Msg::Key(key)).is_err()) {
                        return;
                    }
                }
                Ok(Event::Mouse(event)) => {
                    failed = false;
                    if pointed(event).is_some_and(|msg| keys.send(msg).is_err()) {
                        return;
                    }
                }
                Ok(Event::Paste(text)) => {
                    failed = false;
                    if keys.send(Msg::Paste(text)).is_err() {
                        return;
                    }
                }
                Ok(_) => failed = false,
                // After two failures in the foreground the terminal is gone; the thread above reports it. A single one
                // may date from the background.
                Err(_) if failed && terminal::in_foreground() => return,
                Err(_) => {
                    failed = terminal::in_foreground();
                    thread::sleep(AWAY);
                }
            }
        }
    })
}

/// The message for a mouse event; `None` for one without effect.
fn pointed(event: MouseEvent) -> Option<Msg> {
    let what = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Pointed::Click,
        MouseEventKind::ScrollUp => Pointed::WheelUp,
        MouseEventKind::ScrollDown => Pointed::WheelDown,
        _ => return None,
    };
    Some(Msg::Mouse(what, Position::new(event.column, event.row)))
}

/// Blocks until the terminal is closed. poll(2) without events still reports that; reading does not, since crossterm
/// takes the end of input for no input.
fn until_closed() -> bool {
    let stdin = io::stdin();
    loop {
        let mut asked = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
        match poll(&mut asked, PollTimeout::NONE) {
            Ok(_) => return true,
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(|_| ())
}
