//! Keys, the mouse and signals as messages, each from a thread of its own that blocks until an
//! event. What the terminal sends is read as fast as it comes, so that Ctrl-C is found behind
//! anything.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::termios::{FlushArg, tcflush};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

use super::msg::Msg;
use super::queue::InputQueue;
use super::terminal::{self, Decoder};

/// The longest time for which a terminal that accepts no output (such as a stopped one) may delay
/// the exit.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of one read; a terminal of Linux hands on fewer.
const READ: usize = 1 << 16;
/// The interval between attempts to read a terminal that belongs to another process group.
const AWAY: Duration = Duration::from_millis(100);

/// Starts listening for signals. Call it before taking the terminal over, so that none can leave it
/// in that state.
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

/// Starts listening for keys, the mouse, and the closing of the terminal. A change of its size is
/// left to the signal.
pub fn keys(out: &Sender<Msg>, queue: InputQueue) -> io::Result<()> {
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
        let mut decoder = Decoder::default();
        let mut bytes = vec![0; READ];
        let mut failed = false;
        loop {
            let msgs = match read(&mut bytes, decoder.patience()) {
                Ok(Some(read)) => decoder.decode(read),
                Ok(None) => decoder.quiet(),
                // After two failures in the foreground the terminal is gone; the thread above
                // reports it. A single one may date from the background.
                Err(_) if failed && terminal::in_foreground() => return,
                Err(_) => {
                    failed = terminal::in_foreground();
                    thread::sleep(AWAY);
                    continue;
                }
            };
            failed = false;
            let interrupts = msgs.iter().any(Msg::is_interrupt);
            if queue.push(msgs) && keys.send(Msg::Input).is_err() {
                return;
            }
            if interrupts {
                // As the terminal itself does at this key: what was typed or pasted before must not
                // reach the shell.
                let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
                decoder = Decoder::default();
            }
        }
    })
}

/// Reads what there is; `None` where nothing came in this time. The end of input is an error: a
/// terminal has none.
fn read(bytes: &mut [u8], wait: Option<Duration>) -> nix::Result<Option<&[u8]>> {
    let stdin = io::stdin();
    let wait = wait
        .and_then(|wait| PollTimeout::try_from(wait).ok())
        .unwrap_or(PollTimeout::NONE);
    match poll(&mut [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)], wait) {
        Ok(0) | Err(Errno::EINTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error),
    }
    match nix::unistd::read(stdin, bytes) {
        Ok(0) => Err(Errno::EIO),
        Ok(count) => Ok(Some(bytes.get(..count).unwrap_or_default())),
        Err(Errno::EINTR | Errno::EAGAIN) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Blocks until the terminal is closed, which poll(2) reports without being asked; reading fails in
/// the background, too.
fn until_closed() -> bool {
    let stdin = io::stdin();
    loop {
        let mut asked = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
        match poll(&mut asked, PollTimeout::NONE) {
            Ok(_) => return true,
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| ())
}
