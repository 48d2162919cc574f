//! Keys, mouse and signals as messages, each from its own blocking thread. Terminal input is read
//! as fast as it arrives, so that Ctrl-C is found behind any amount of it.

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

/// How long a terminal that accepts no output, such as a stopped one, may delay the exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Linux terminals return less per read.
const READ_SIZE: usize = 1 << 16;
/// Interval of read attempts while another process group has the terminal.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Starts listening for signals. Call it before taking over the terminal, so that no signal can
/// leave it in that state.
pub fn signals(out: Sender<Msg>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH])?;
    spawn("signals", move || {
        for number in &mut signals {
            if matches!(number, SIGTERM | SIGINT | SIGHUP) {
                exit_after_timeout(number);
            }
            if out.send(Msg::Signal(number)).is_err() {
                return;
            }
        }
    })
}

/// Starts listening for stop and continue only; the caller handles the other signals.
pub fn stop_signals(out: Sender<Msg>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTSTP, SIGCONT])?;
    spawn("stops", move || {
        for number in &mut signals {
            if out.send(Msg::Signal(number)).is_err() {
                return;
            }
        }
    })
}

/// Ends the process after a timeout, in case drawing hangs on a terminal that accepts no output.
fn exit_after_timeout(number: i32) {
    let end = move || {
        thread::sleep(EXIT_TIMEOUT);
        terminal::restore_modes();
        signal_hook::low_level::exit(number.saturating_add(128));
    };
    // If no thread can be started, the normal exit has to suffice.
    let _ = spawn("patience", end);
}

/// Starts listening for keys, the mouse, and the closing of the terminal. Size changes arrive as a
/// signal.
pub fn keys(out: &Sender<Msg>, queue: InputQueue) -> io::Result<()> {
    let closed = out.clone();
    let keys = out.clone();
    spawn("hangup", move || {
        if wait_until_closed() {
            let _ = closed.send(Msg::Hangup);
        }
    })?;
    spawn("keys", move || {
        // With SIGTTIN blocked, a read in the background fails instead of stopping the process.
        let _ = SigSet::from(Signal::SIGTTIN).thread_block();
        let mut decoder = Decoder::default();
        let mut bytes = vec![0; READ_SIZE];
        let mut failed = false;
        loop {
            let msgs = match read_input(&mut bytes, decoder.timeout()) {
                Ok(Some(read)) => decoder.decode(read),
                Ok(None) => decoder.flush(),
                // After two failures in the foreground the terminal is gone; the thread above
                // reports it. A single one may date from the background.
                Err(_) if failed && terminal::in_foreground() => return,
                Err(_) => {
                    failed = terminal::in_foreground();
                    thread::sleep(RETRY_INTERVAL);
                    continue;
                }
            };
            failed = false;
            let interrupts = msgs.iter().any(Msg::is_interrupt);
            if queue.push(msgs) && keys.send(Msg::Input).is_err() {
                return;
            }
            if interrupts {
                // As the terminal itself does at this key: text typed or pasted before must not
                // reach the shell.
                let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
                decoder = Decoder::default();
            }
        }
    })
}

/// Reads available bytes; `None` after `wait`. End of input is an error, as a terminal has none.
fn read_input(bytes: &mut [u8], wait: Option<Duration>) -> nix::Result<Option<&[u8]>> {
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

/// Blocks until the terminal is closed. poll(2) reports that without any requested event, whereas
/// reading also fails in the background.
fn wait_until_closed() -> bool {
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
