//! Waits of tests for children, pipes, terminals and threads. Each has a deadline; there the child
//! is killed, and the test fails with the name of what it waited for. No test waits in any other
//! way (`tests/source/deadlines.rs`).

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

/// Longer than any command of a test takes on a working machine, however busy.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// Longer than anything else takes there.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until something holds; fails when it does not within [`PATIENCE`].
pub fn wait_for(what: &str, holds: impl FnMut() -> bool) {
    assert!(held(holds), "{what}");
}

/// Whether something holds within [`PATIENCE`].
pub fn held(holds: impl FnMut() -> bool) -> bool {
    held_until(Instant::now() + PATIENCE, holds)
}

fn held_until(deadline: Instant, mut holds: impl FnMut() -> bool) -> bool {
    while !holds() {
        if Instant::now() >= deadline {
            return false;
        }
        // Not to take the processor from what is waited for.
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// A command that is run to its end.
pub trait CommandInTime {
    /// Runs it with nothing to read, and gives what it wrote.
    fn output_in_time(&mut self) -> Output;

    /// Runs it, and gives how it ended.
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

/// A child that runs.
pub trait ChildInTime {
    /// Waits for its end.
    fn wait_in_time(&mut self) -> ExitStatus;

    /// Kills it, and waits for its end.
    fn kill_in_time(&mut self);

    /// Closes its input and gives what comes through its pipes until it ends.
    fn output_in_time(self) -> Output;

    /// The same for a child that reads this meanwhile.
    fn fed_in_time(self, input: &[u8]) -> Output;
}

impl ChildInTime for Child {
    fn wait_in_time(&mut self) -> ExitStatus {
        ended(self, Instant::now() + DEADLINE)
    }

    fn kill_in_time(&mut self) {
        // It may have ended by itself.
        let _ = self.kill();
        let is_over = held(|| !matches!(self.try_wait(), Ok(None)));
        assert!(
            is_over || thread::panicking(),
            "{} does not end when it is killed",
            name(self.id())
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
            if !is_readable(&open, deadline) {
                fail(self.id(), "closes its output");
            }
            take(&mut out, &mut stdout);
            take(&mut err, &mut stderr);
        }
        let status = ended(&mut self, deadline);
        Output {
            status,
            stdout,
            stderr,
        }
    }

    fn fed_in_time(mut self, input: &[u8]) -> Output {
        let mut stdin = self.stdin.take().unwrap();
        let input = input.to_vec();
        // It ends at the latest with the child.
        let feeder = thread::spawn(move || stdin.write_all(&input));
        let output = self.output_in_time();
        let _ = feeder.join_in_time();
        output
    }
}

fn ended(child: &mut Child, deadline: Instant) -> ExitStatus {
    let mut status = None;
    let is_over = held_until(deadline, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !is_over {
        fail(child.id(), "ends");
    }
    status.unwrap()
}

/// Adds what is there to read; at the end nothing is left to read from.
fn take(pipe: &mut Option<impl Read + AsFd>, to: &mut Vec<u8>) {
    let mut piece = [0; 1 << 14];
    let Some(open) = pipe.as_mut() else { return };
    if !is_readable(&[open.as_fd()], Instant::now()) {
        return;
    }
    match open.read(&mut piece) {
        Ok(0) => *pipe = None,
        Ok(count) => to.extend(&piece[..count]),
        Err(error) if error.kind() == ErrorKind::Interrupted => {}
        Err(error) => panic!("{error}"),
    }
}

/// Whether one of these can be read, or is closed, before the deadline.
fn is_readable(open: &[BorrowedFd<'_>], deadline: Instant) -> bool {
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

/// Kills a child and fails the test.
fn fail(process: u32, what: &str) -> ! {
    let name = name(process);
    let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL);
    panic!("never within {} s: {name} {what}", DEADLINE.as_secs());
}

/// The command line of a process.
fn name(process: u32) -> String {
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

/// Reads what is there, once something is; nothing at the end.
pub fn read_in_time(what: &str, source: &mut (impl Read + AsFd), bytes: &mut [u8]) -> usize {
    let is_there = is_readable(&[source.as_fd()], Instant::now() + DEADLINE);
    assert!(is_there, "never within {} s: {what}", DEADLINE.as_secs());
    source.read(bytes).unwrap()
}

/// The lines that a child writes.
pub struct ChildLines {
    process: u32,
    source: Option<ChildStdout>,
    unread: Vec<u8>,
}

impl ChildLines {
    /// Those of a child whose output comes through a pipe.
    pub fn of(child: &mut Child) -> Self {
        Self {
            process: child.id(),
            source: Some(child.stdout.take().unwrap()),
            unread: Vec::new(),
        }
    }
}

impl Iterator for ChildLines {
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
            if !is_readable(&[source.as_fd()], deadline) {
                fail(self.process, "writes a line");
            }
            take(&mut self.source, &mut self.unread);
        }
    }
}

/// A thread that is waited for.
pub trait ThreadInTime {
    /// What it returns.
    type Value;

    /// Waits for its end.
    fn join_in_time(self) -> Self::Value;
}

impl<T> ThreadInTime for JoinHandle<T> {
    type Value = T;

    fn join_in_time(self) -> T {
        wait_for("a thread ends", || self.is_finished());
        self.join().unwrap()
    }
}

impl<T> ThreadInTime for ScopedJoinHandle<'_, T> {
    type Value = T;

    fn join_in_time(self) -> T {
        wait_for("a thread ends", || self.is_finished());
        self.join().unwrap()
    }
}

/// Does something at a deadline, unless it is dropped before.
pub struct Alarm(#[expect(dead_code, reason = "its end is the message")] Sender<()>);

impl Alarm {
    /// Does this after [`PATIENCE`].
    pub fn new(ring: impl FnOnce() + Send + 'static) -> Self {
        let (alarm, dropped) = channel();
        thread::spawn(move || {
            if dropped.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                ring();
            }
        });
        Self(alarm)
    }
}
