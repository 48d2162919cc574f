//! Functions with which tests wait for child processes, pipes, terminals and threads, each with a
//! deadline. After the deadline, the child process is killed, and the test fails with the name of
//! the missing event. `tests/source/deadlines.rs` forbids all other waits in tests.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle, ScopedJoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time limit for a child process and for reading its output. No command in a test needs that
/// long, even on a busy host.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// Time limit for conditions, for threads to end, and for [`Watchdog`]; all of these take less time
/// than commands.
const SHORT_DEADLINE: Duration = Duration::from_secs(90);

/// Waits until `holds` returns true. Panics with `what` after [`SHORT_DEADLINE`].
pub fn wait_for_condition(what: &str, holds: impl FnMut() -> bool) {
    assert!(becomes_true_in_time(holds), "{what}");
}

/// Waits until `holds` returns true; returns false after [`SHORT_DEADLINE`].
pub fn becomes_true_in_time(holds: impl FnMut() -> bool) -> bool {
    becomes_true_before(Instant::now() + SHORT_DEADLINE, holds)
}

fn becomes_true_before(deadline: Instant, mut holds: impl FnMut() -> bool) -> bool {
    while !holds() {
        if Instant::now() >= deadline {
            return false;
        }
        // Leaves the processor to the process under test.
        thread::sleep(Duration::from_millis(1));
    }
    true
}

pub trait CommandInTime {
    fn output_in_time(&mut self) -> Output;

    fn status_in_time(&mut self) -> ExitStatus;
}

impl CommandInTime for Command {
    fn output_in_time(&mut self) -> Output {
        let command = self
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"))
            .output_in_time()
    }

    fn status_in_time(&mut self) -> ExitStatus {
        self.spawn()
            .unwrap_or_else(|error| panic!("{self:?}: {error}"))
            .wait_in_time()
    }
}

pub trait ChildInTime {
    fn wait_in_time(&mut self) -> ExitStatus;

    fn kill_in_time(&mut self);

    /// Closes standard input and collects standard output and standard error until the child exits.
    fn output_in_time(self) -> Output;

    fn output_for_input(self, input: &[u8]) -> Output;
}

impl ChildInTime for Child {
    fn wait_in_time(&mut self) -> ExitStatus {
        wait_for_exit(self, Instant::now() + DEADLINE)
    }

    fn kill_in_time(&mut self) {
        // The child may have ended already, so a failed kill is not an error.
        let _ = self.kill();
        let is_over = becomes_true_in_time(|| !matches!(self.try_wait(), Ok(None)));
        assert!(
            is_over || thread::panicking(),
            "{} does not end when it is killed",
            describe_process(self.id())
        );
    }

    fn output_in_time(mut self) -> Output {
        drop(self.stdin.take());
        let deadline = Instant::now() + DEADLINE;
        let (mut out, mut err) = (self.stdout.take(), self.stderr.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        while out.is_some() || err.is_some() {
            let open: Vec<BorrowedFd<'_>> = out
                .iter()
                .map(AsFd::as_fd)
                .chain(err.iter().map(AsFd::as_fd))
                .collect();
            if !is_any_readable_before(&open, deadline) {
                kill_and_panic(self.id(), "closes its output");
            }
            read_available(&mut out, &mut stdout);
            read_available(&mut err, &mut stderr);
        }
        let status = wait_for_exit(&mut self, deadline);
        Output {
            status,
            stdout,
            stderr,
        }
    }

    fn output_for_input(mut self, input: &[u8]) -> Output {
        let mut stdin = self.stdin.take().unwrap();
        let input = input.to_vec();
        // Once the child has ended, the write fails, so joining the thread cannot hang.
        let feeder = thread::spawn(move || stdin.write_all(&input));
        let output = self.output_in_time();
        let _ = feeder.join_in_time();
        output
    }
}

fn wait_for_exit(child: &mut Child, deadline: Instant) -> ExitStatus {
    let mut status = None;
    let is_over = becomes_true_before(deadline, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !is_over {
        kill_and_panic(child.id(), "ends");
    }
    status.unwrap()
}

fn read_available(pipe: &mut Option<impl Read + AsFd>, to: &mut Vec<u8>) {
    let mut piece = [0; 1 << 14];
    let Some(open) = pipe.as_mut() else { return };
    if !is_any_readable_before(&[open.as_fd()], Instant::now()) {
        return;
    }
    match open.read(&mut piece) {
        Ok(0) => *pipe = None,
        Ok(count) => to.extend(&piece[..count]),
        Err(error) if error.kind() == ErrorKind::Interrupted => {}
        Err(error) => panic!("{error}"),
    }
}

fn is_any_readable_before(open: &[BorrowedFd<'_>], deadline: Instant) -> bool {
    let mut asked: Vec<PollFd<'_>> = open
        .iter()
        .map(|fd| PollFd::new(*fd, PollFlags::POLLIN))
        .collect();
    loop {
        let rest = deadline.saturating_duration_since(Instant::now());
        match poll(&mut asked, PollTimeout::try_from(rest).unwrap()) {
            Ok(count) => return count > 0,
            Err(nix::errno::Errno::EINTR) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn kill_and_panic(process: u32, what: &str) -> ! {
    let name = describe_process(process);
    let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL);
    panic!("never within {} s: {name} {what}", DEADLINE.as_secs());
}

fn describe_process(process: u32) -> String {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let mut name = String::new();
    for word in line
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
    {
        write!(name, "{} ", String::from_utf8_lossy(word)).unwrap();
    }
    name + "(process " + &process.to_string() + ")"
}

/// Waits for data and reads once; returns 0 at the end of the source.
pub fn read_in_time(what: &str, source: &mut (impl Read + AsFd), bytes: &mut [u8]) -> usize {
    let is_there = is_any_readable_before(&[source.as_fd()], Instant::now() + DEADLINE);
    assert!(is_there, "never within {} s: {what}", DEADLINE.as_secs());
    source.read(bytes).unwrap()
}

pub struct ChildStdoutLines {
    process: u32,
    source: Option<ChildStdout>,
    unread: Vec<u8>,
}

impl ChildStdoutLines {
    pub fn from_child(child: &mut Child) -> Self {
        Self {
            process: child.id(),
            source: Some(child.stdout.take().unwrap()),
            unread: Vec::new(),
        }
    }
}

impl Iterator for ChildStdoutLines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let end = self.unread.iter().position(|byte| *byte == b'\n');
            if let Some(end) = end {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Some(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            let Some(source) = &self.source else {
                let rest = std::mem::take(&mut self.unread);
                return (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned());
            };
            if !is_any_readable_before(&[source.as_fd()], deadline) {
                kill_and_panic(self.process, "writes a line");
            }
            read_available(&mut self.source, &mut self.unread);
        }
    }
}

pub trait ThreadInTime {
    type Value;

    fn join_in_time(self) -> Self::Value;
}

impl<T> ThreadInTime for JoinHandle<T> {
    type Value = T;

    fn join_in_time(self) -> T {
        wait_for_condition("a thread ends", || self.is_finished());
        self.join().unwrap()
    }
}

impl<T> ThreadInTime for ScopedJoinHandle<'_, T> {
    type Value = T;

    fn join_in_time(self) -> T {
        wait_for_condition("a thread ends", || self.is_finished());
        self.join().unwrap()
    }
}

pub struct Watchdog(#[expect(dead_code, reason = "its end is the message")] Sender<()>);

impl Watchdog {
    pub fn new(ring: impl FnOnce() + Send + 'static) -> Self {
        let (alarm, dropped) = channel();
        thread::spawn(move || {
            if dropped.recv_timeout(SHORT_DEADLINE)
                == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                ring();
            }
        });
        Self(alarm)
    }
}
