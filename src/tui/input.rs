//! Blocking threads read terminal input and signals. Terminal input is read as fast as it arrives,
//! so that Ctrl-C is found behind any amount of input.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::termios::{FlushArg, tcflush};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::input_queue::InputQueue;
use super::msg::Msg;
use super::terminal::{self, Decoder};

/// Longest time for which a terminal that accepts no output can delay the exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Size of the read buffer in bytes; a Linux terminal returns less per read.
const READ_SIZE: usize = 1 << 16;
/// Interval of read attempts while another process group has the terminal.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Call this before changing the terminal's modes, so that no signal can end the process and leave
/// them changed.
pub fn listen_for_signals(out: Sender<Msg>, numbers: &[i32]) -> io::Result<()> {
    let mut signals = Signals::new(numbers)?;
    spawn_named_thread("signals", move || {
        for number in &mut signals {
            if matches!(number, SIGTERM | SIGINT | SIGHUP) {
                start_exit_timeout(number);
            }
            if out.send(Msg::Signal(number)).is_err() {
                return;
            }
        }
    })
}

/// Ends the process after [`EXIT_TIMEOUT`], in case drawing hangs on a terminal that accepts no
/// output.
fn start_exit_timeout(number: i32) {
    let end = move || {
        thread::sleep(EXIT_TIMEOUT);
        terminal::restore_cooked_mode();
        signal_hook::low_level::exit(number.saturating_add(128));
    };
    // If the thread cannot be started, the process ends only when the main loop handles the signal.
    let _ = spawn_named_thread("patience", end);
}

/// Starts listening for keys, the mouse, and the closing of the terminal. Size changes arrive as
/// SIGWINCH.
pub fn listen_for_input(out: &Sender<Msg>, queue: InputQueue) -> io::Result<()> {
    let closed = out.clone();
    let keys = out.clone();
    spawn_named_thread("hangup", move || {
        if wait_until_terminal_closed() {
            let _ = closed.send(Msg::Hangup);
        }
    })?;
    spawn_named_thread("keys", move || {
        // With SIGTTIN blocked, a read in the background fails instead of stopping the process.
        let _ = SigSet::from(Signal::SIGTTIN).thread_block();
        let mut decoder = Decoder::default();
        let mut bytes = vec![0; READ_SIZE];
        let mut failed = false;
        loop {
            let msgs = match read_input(&mut bytes, decoder.flush_timeout()) {
                Ok(Some(read)) => decoder.decode(read),
                Ok(None) => decoder.decode_buffered(),
                // Two failed reads in the foreground mean that the terminal is gone, which the
                // thread `hangup` reports. A single failure may come from a read just before the
                // process came to the foreground.
                Err(_) if failed && terminal::is_in_foreground() => return,
                Err(_) => {
                    failed = terminal::is_in_foreground();
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
                // Text typed or pasted before Ctrl-C must not reach the shell; a terminal in cooked
                // mode drops such text as well.
                let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
                decoder = Decoder::default();
            }
        }
    })
}

/// `None` if nothing arrives within `wait`, or if a signal interrupts the wait. End of input is an
/// error, because an open terminal never reports one.
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

/// False if poll(2) fails. Unlike read(2), poll(2) also works in the background, and reports a
/// hangup without a requested event.
fn wait_until_terminal_closed() -> bool {
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

fn spawn_named_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| ())
}
