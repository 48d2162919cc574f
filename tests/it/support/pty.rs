//! A program in a terminal of its own: keys in, parsed screen out. Terminal queries get no answer
//! here, as on some real terminals.
//!
//! Every journey ends in [`Pty::ends`], which compares the terminal and the directories with their
//! initial state; a journey without it fails.

use std::cell::Cell;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::deadline::{holds_in_time, wait_for};
use super::untouched::Untouched;

/// Longer than any working machine needs.
const DEADLINE: Duration = Duration::from_secs(60);

struct Seen {
    parser: vt100::Parser,
    written: Vec<u8>,
    /// Whether nobody reads what is written.
    held: bool,
    ended: bool,
}

impl Seen {
    /// Whether a picture has begun and not ended, by the marks around it.
    fn is_drawing(&self) -> bool {
        let last = |mark: &[u8]| {
            self.written
                .windows(mark.len())
                .rposition(|bytes| bytes == mark)
        };
        last(b"\x1b[?2026h") > last(b"\x1b[?2026l")
    }
}

/// A program in a terminal; killed when it is dropped.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    /// A thread writes, since a program that reads nothing would keep us.
    typed: Sender<Vec<u8>>,
    taken: Receiver<io::Result<()>>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    modes_before: String,
    kept: Vec<Untouched>,
    largest: Cell<u64>,
    is_judged: bool,
}

impl Pty {
    /// Starts walwise with these arguments.
    pub fn walwise(arguments: &[&str]) -> Self {
        Self::walwise_in(Path::new("."), &[], arguments)
    }

    /// The same in this directory and with these variables. What is in that directory and in those
    /// that are named must be the same in the end.
    pub fn walwise_in(directory: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        let named = arguments.iter().map(Path::new).chain([directory]);
        let kept: Vec<Untouched> = named
            .filter(|path| path.is_absolute() && path.is_dir())
            .map(Untouched::now)
            .collect();
        let mut pty = Self::program_in(
            directory,
            variables,
            env!("CARGO_BIN_EXE_walwise"),
            arguments,
        );
        pty.kept = kept;
        pty
    }

    /// Starts any program. No directory is looked at, since one of them may never answer.
    pub fn program_in(
        directory: &Path,
        variables: &[(&str, &str)],
        program: &str,
        arguments: &[&str],
    ) -> Self {
        let mut command = usual(CommandBuilder::new(program));
        command.args(arguments);
        command.cwd(directory);
        for (name, value) in variables {
            command.env(name, value);
        }
        Self::start(command)
    }

    /// Starts a shell with job control and this script, in which `$W` is walwise.
    pub fn shell(script: &str) -> Self {
        let mut command = usual(CommandBuilder::new("bash"));
        command.args(["--norc", "-c", &format!("set -m; {script}")]);
        command.env("W", env!("CARGO_BIN_EXE_walwise"));
        Self::start(command)
    }

    fn start(command: CommandBuilder) -> Self {
        let pair = native_pty_system().openpty(pty_size(80, 24)).unwrap();
        let modes_before = modes(&*pair.master);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let mut writer = pair.master.take_writer().unwrap();
        let (typed, to_write) = channel::<Vec<u8>>();
        let (is_written, taken) = channel();
        std::thread::spawn(move || {
            for keys in to_write {
                let done = writer.write_all(&keys).and_then(|()| writer.flush());
                if is_written.send(done).is_err() {
                    return;
                }
            }
        });
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(cells(24), cells(80), 0);
        let seen = Arc::new((
            Mutex::new(Seen {
                parser,
                written: Vec::new(),
                held: false,
                ended: false,
            }),
            Condvar::new(),
        ));
        let seen_by_reader = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                {
                    let (seen, changed) = &*seen_by_reader;
                    let Ok(seen) = seen.lock() else { return };
                    drop(changed.wait_while(seen, |seen| seen.held));
                }
                let count = match reader.read(&mut bytes) {
                    Ok(count) => count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => 0,
                };
                // A test that failed has nothing more to see.
                let Ok(mut seen) = seen_by_reader.0.lock() else {
                    return;
                };
                seen.parser.process(&bytes[..count]);
                seen.written.extend(&bytes[..count]);
                seen.ended = count == 0;
                seen_by_reader.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Self {
            master: pair.master,
            typed,
            taken,
            child,
            seen,
            modes_before,
            kept: Vec::new(),
            largest: Cell::new(0),
            is_judged: false,
        }
    }

    /// This directory, too, must be in the end as it is now.
    pub fn keeping(mut self, directory: &Path) -> Self {
        self.kept.push(Untouched::now(directory));
        self
    }

    /// A file that was asked for: as it is now, it may stay.
    pub fn asked_for(&mut self, file: &Path) {
        self.kept
            .iter_mut()
            .for_each(|directory| directory.admit(file));
    }

    /// Fails unless the directories are as they were.
    pub fn assert_untouched(&self, when: &str) {
        for directory in &self.kept {
            assert_eq!(
                directory.differences(),
                [""; 0].map(PathBuf::from),
                "{when}"
            );
        }
    }

    /// Stops the program where it is, without its knowledge, so that what it has on disk can be
    /// looked at; says whether there is anything that was not there before.
    pub fn freeze(&self) -> bool {
        self.signal(Signal::SIGSTOP);
        wait_for("it stops", || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process()))
                .unwrap_or_default();
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with('T'))
        });
        self.kept
            .iter()
            .any(|directory| !directory.differences().is_empty())
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.process().try_into().unwrap()), signal).unwrap();
    }

    /// Reads no more of what is written, like a terminal that hangs, or goes on reading.
    pub fn hold(&self, held: bool) {
        self.seen.0.lock().unwrap().held = held;
        self.seen.1.notify_all();
    }

    /// Whether the first thread of the program waits for the terminal to take its output.
    pub fn is_stuck(&self) -> bool {
        let call = std::fs::read_to_string(format!("/proc/{}/syscall", self.process()))
            .unwrap_or_default();
        // The number of the call, then its arguments: the first is standard output.
        call.split_whitespace().nth(1) == Some("0x1")
    }

    /// The process that was started.
    pub fn process(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// The most memory that it has had, in bytes, as far as it was looked at: when keys were
    /// pressed, and while its end was waited for.
    pub fn largest(&self) -> u64 {
        self.largest.get()
    }

    /// Types.
    pub fn press(&mut self, keys: &str) {
        self.typed.send(keys.as_bytes().to_vec()).unwrap();
        let taken = self.taken.recv_timeout(DEADLINE);
        self.largest
            .set(self.largest.get().max(peak(self.process())));
        taken
            .unwrap_or_else(|_| panic!("never taken: {} bytes", keys.len()))
            .unwrap();
    }

    /// Clicks on the first place where a text is on the screen, once it is.
    pub fn click(&mut self, text: &str) {
        self.until_shown(text);
        let (column, row) = {
            let seen = self.seen.0.lock().unwrap();
            let screen = seen.parser.screen();
            assert_eq!(
                screen.mouse_protocol_mode(),
                vt100::MouseProtocolMode::PressRelease,
                "the mouse is not taken"
            );
            assert_eq!(
                screen.mouse_protocol_encoding(),
                vt100::MouseProtocolEncoding::Sgr
            );
            let (_, width) = screen.size();
            let place = screen
                .rows(0, width.get())
                .zip(1..)
                .find_map(|(line, row)| Some((line.split_once(text)?.0.chars().count() + 1, row)));
            place.unwrap_or_else(|| panic!("{text} is not within a line:\n{}", screen.contents()))
        };
        self.press(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Gives the terminal another size, of which what reads the screen here learns nothing.
    pub fn resize_unseen(&self, width: u16, height: u16) {
        self.master.resize(pty_size(width, height)).unwrap();
    }

    /// Gives the terminal another size.
    pub fn resize(&self, width: u16, height: u16) {
        self.seen
            .0
            .lock()
            .unwrap()
            .parser
            .screen_mut()
            .set_size(cells(height), cells(width));
        self.master.resize(pty_size(width, height)).unwrap();
    }

    /// Waits until the screen is as described, and gives its text. Never looks at a picture that is
    /// half drawn.
    pub fn until(&self, what: &str, mut holds: impl FnMut(&vt100::Screen) -> bool) -> String {
        let (seen, changed) = &*self.seen;
        let mut seen = seen.lock().unwrap();
        loop {
            let screen = seen.parser.screen();
            if !seen.is_drawing() && holds(screen) {
                return screen.contents();
            }
            assert!(!seen.ended, "ended before: {what}\n{}", screen.contents());
            let (next, waited) = changed.wait_timeout(seen, DEADLINE).unwrap();
            seen = next;
            let shown = seen.parser.screen().contents();
            assert!(!waited.timed_out(), "never: {what}\n{shown}");
        }
    }

    /// Whether a text is on the screen now.
    pub fn shows(&self, text: &str) -> bool {
        self.seen
            .0
            .lock()
            .unwrap()
            .parser
            .screen()
            .contents()
            .contains(text)
    }

    /// Waits until a text is on the screen, and gives all of it.
    pub fn until_shown(&self, text: &str) -> String {
        self.until(text, |screen| screen.contents().contains(text))
    }

    /// Waits until a text is gone from the screen.
    pub fn until_gone(&self, text: &str) -> String {
        self.until(&format!("no {text}"), |screen| {
            !screen.contents().contains(text)
        })
    }

    /// All that was ever written, also what was replaced since.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen.0.lock().unwrap().written).into_owned()
    }

    /// Sends a signal to whatever the terminal listens to now.
    pub fn signal_foreground(&self, signal: Signal) {
        let group = self.master.process_group_leader().unwrap();
        kill(Pid::from_raw(group), signal).unwrap();
    }

    /// Waits for the end, which must come with this exit code and leave everything as it was found:
    /// the terminal's modes, main screen, cursor, mouse and colours, and the directories.
    pub fn ends(&mut self, code: u32) {
        let (found, shown) = self.end();
        assert_eq!(found, code, "{shown}");
        self.assert_given_back();
        self.assert_untouched("in the end");
    }

    /// The same where the terminal takes no output until the end: its modes are as before, and soon
    /// the directories; what is on its screen nobody can change.
    pub fn ends_unread(&mut self, code: u32) {
        let (found, shown) = self.end();
        assert_eq!(found, code, "{shown}");
        assert_eq!(modes(&*self.master), self.modes_before);
        self.soon_untouched();
    }

    /// Kills it, which it cannot do anything about. Only the directories can be as before then,
    /// soon.
    pub fn killed(&mut self) {
        self.signal(Signal::SIGKILL);
        self.end();
        self.soon_untouched();
    }

    /// Removes the files of a program that could not clean up.
    fn soon_untouched(&self) {
        for directory in &self.kept {
            wait_for("nothing is left", || directory.differences().is_empty());
        }
    }

    /// Waits for the end, and gives the exit code and the last screen.
    fn end(&mut self) -> (u32, String) {
        self.is_judged = true;
        let mut status = None;
        let (process, largest) = (self.process(), &self.largest);
        let last = || self.seen.0.lock().unwrap().parser.screen().contents();
        wait_for("it ends", || {
            largest.set(largest.get().max(peak(process)));
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.hold(false);
        let (seen, changed) = &*self.seen;
        let all_read = changed
            .wait_timeout_while(seen.lock().unwrap(), DEADLINE, |seen| !seen.ended)
            .unwrap();
        assert!(all_read.0.ended, "somebody still holds the terminal");
        drop(all_read);
        (status.unwrap().exit_code(), last())
    }

    /// Fails unless the terminal is as it was found, as it must be in the end and while a shell has
    /// it.
    pub fn assert_given_back(&self) {
        assert_eq!(modes(&*self.master), self.modes_before);
        let seen = self.seen.0.lock().unwrap();
        let screen = seen.parser.screen();
        assert!(
            !screen.alternate_screen(),
            "the alternate screen was not left"
        );
        assert!(!screen.hide_cursor(), "the cursor stayed hidden");
        // Mouse, paste and keypad; colours and emphasis.
        let fresh = vt100::Parser::default();
        assert_eq!(
            screen.input_mode_formatted(),
            fresh.screen().input_mode_formatted()
        );
        assert_eq!(
            screen.attributes_formatted(),
            fresh.screen().attributes_formatted()
        );
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It has usually ended by itself.
        let _ = self.child.kill();
        holds_in_time(|| !matches!(self.child.try_wait(), Ok(None)));
        assert!(
            self.is_judged || std::thread::panicking(),
            "a journey ends in `ends`"
        );
    }
}

/// The most memory that a process has had until now, in bytes; 0 where it has ended.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .unwrap_or(0)
        << 10
}

/// A terminal as most people have one, whatever that of the tests is.
fn usual(mut command: CommandBuilder) -> CommandBuilder {
    command.env_remove("NO_COLOR");
    command.env_remove("TMUX");
    command.env("LC_ALL", "C.UTF-8");
    command.env("TERM", "xterm-256color");
    command
}

fn modes(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

fn pty_size(width: u16, height: u16) -> PtySize {
    PtySize {
        rows: height,
        cols: width,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}
