//! A program in its own terminal: sends keys and parses the screen. Terminal queries get no answer,
//! as on some real terminals.
//!
//! Every journey must wait for the end of its program, for example with [`Pty::assert_ends_clean`],
//! which compares terminal and directories with their initial state.

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

use super::deadline::{becomes_true_in_time, wait_for_condition};
use super::untouched::DirectorySnapshot;

const DEADLINE: Duration = Duration::from_secs(60);

struct TerminalOutput {
    parser: vt100::Parser,
    written: Vec<u8>,
    held: bool,
    ended: bool,
}

impl TerminalOutput {
    /// Whether a frame is incomplete, according to the begin and end marks of synchronized output.
    fn is_frame_incomplete(&self) -> bool {
        let last = |mark: &[u8]| {
            self.written
                .windows(mark.len())
                .rposition(|bytes| bytes == mark)
        };
        last(b"\x1b[?2026h") > last(b"\x1b[?2026l")
    }
}

pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    /// Sends keys to a writer thread, because a program that reads nothing would block the test.
    typed: Sender<Vec<u8>>,
    taken: Receiver<io::Result<()>>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<(Mutex<TerminalOutput>, Condvar)>,
    modes_before: String,
    kept: Vec<DirectorySnapshot>,
    largest: Cell<u64>,
    is_judged: bool,
}

impl Pty {
    pub fn start_walwise(arguments: &[&str]) -> Self {
        Self::start_walwise_in(Path::new("."), &[], arguments)
    }

    /// Starts walwise in this directory with these variables. The directory and every directory
    /// named in the variables must be unchanged at the end.
    pub fn start_walwise_in(
        directory: &Path,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> Self {
        let named = arguments.iter().map(Path::new).chain([directory]);
        let kept: Vec<DirectorySnapshot> = named
            .filter(|path| path.is_absolute() && path.is_dir())
            .map(DirectorySnapshot::take)
            .collect();
        let mut pty = Self::start_program_in(
            directory,
            variables,
            crate::support::programs::walwise_path(),
            arguments,
        );
        pty.kept = kept;
        pty
    }

    /// Starts any program without checking directories, because one of them may never answer.
    pub fn start_program_in(
        directory: &Path,
        variables: &[(&str, &str)],
        program: &str,
        arguments: &[&str],
    ) -> Self {
        let mut command = set_terminal_env(CommandBuilder::new(program));
        command.args(arguments);
        command.cwd(directory);
        for (name, value) in variables {
            command.env(name, value);
        }
        Self::start(command)
    }

    /// Starts a shell with job control and this script, in which `$W` is walwise.
    pub fn start_shell(script: &str) -> Self {
        let mut command = set_terminal_env(CommandBuilder::new("bash"));
        command.args(["--norc", "-c", &format!("set -m; {script}")]);
        command.env("W", crate::support::programs::walwise_path());
        Self::start(command)
    }

    fn start(command: CommandBuilder) -> Self {
        let pair = native_pty_system().openpty(pty_size(80, 24)).unwrap();
        let modes_before = terminal_modes(&*pair.master);
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
        let parser = vt100::Parser::new(nonzero_cells(24), nonzero_cells(80), 0);
        let seen = Arc::new((
            Mutex::new(TerminalOutput {
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
                // A poisoned lock means that a test failed, so reading stops.
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

    pub fn expecting_unchanged_directory(mut self, directory: &Path) -> Self {
        self.kept.push(DirectorySnapshot::take(directory));
        self
    }

    pub fn accept_changed_file(&mut self, file: &Path) {
        self.kept
            .iter_mut()
            .for_each(|directory| directory.accept_changed_file(file));
    }

    pub fn assert_directories_untouched(&self, when: &str) {
        for directory in &self.kept {
            assert_eq!(
                directory.changed_paths(),
                [""; 0].map(PathBuf::from),
                "{when}"
            );
        }
    }

    /// Stops the program by SIGSTOP, so that its files can be examined; returns true if there are
    /// new files.
    pub fn stop_and_detect_new_files(&self) -> bool {
        self.signal(Signal::SIGSTOP);
        wait_for_condition("it stops", || {
            let stat =
                std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with('T'))
        });
        self.kept
            .iter()
            .any(|directory| !directory.changed_paths().is_empty())
    }

    pub fn resume_program(&self) {
        self.signal(Signal::SIGCONT);
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid().try_into().unwrap()), signal).unwrap();
    }

    pub fn set_output_held(&self, held: bool) {
        self.seen.0.lock().unwrap().held = held;
        self.seen.1.notify_all();
    }

    pub fn is_blocked_writing(&self) -> bool {
        let call =
            std::fs::read_to_string(format!("/proc/{}/syscall", self.pid())).unwrap_or_default();
        // /proc/PID/syscall has the call number, then the arguments; the first argument of the
        // write is standard output (1).
        call.split_whitespace().nth(1) == Some("0x1")
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Returns the peak memory in bytes, sampled at each key press and while waiting for the end.
    pub fn peak_memory(&self) -> u64 {
        self.largest.get()
    }

    pub fn press(&mut self, keys: &str) {
        self.typed.send(keys.as_bytes().to_vec()).unwrap();
        let taken = self.taken.recv_timeout(DEADLINE);
        self.largest
            .set(self.largest.get().max(peak_memory_of(self.pid())));
        taken
            .unwrap_or_else(|_| panic!("never taken: {} bytes", keys.len()))
            .unwrap();
    }

    pub fn click(&mut self, text: &str) {
        self.wait_for_text(text);
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

    /// Resizes the terminal, but not the test's own screen parser.
    pub fn resize_without_parser(&self, width: u16, height: u16) {
        self.master.resize(pty_size(width, height)).unwrap();
    }

    pub fn resize(&self, width: u16, height: u16) {
        self.seen
            .0
            .lock()
            .unwrap()
            .parser
            .screen_mut()
            .set_size(nonzero_cells(height), nonzero_cells(width));
        self.master.resize(pty_size(width, height)).unwrap();
    }

    /// Waits until the screen satisfies the condition; returns the text. Incomplete frames are
    /// ignored.
    pub fn wait_until(&self, what: &str, mut holds: impl FnMut(&vt100::Screen) -> bool) -> String {
        let (seen, changed) = &*self.seen;
        let mut seen = seen.lock().unwrap();
        loop {
            let screen = seen.parser.screen();
            if !seen.is_frame_incomplete() && holds(screen) {
                return screen.contents();
            }
            assert!(!seen.ended, "ended before: {what}\n{}", screen.contents());
            let (next, waited) = changed.wait_timeout(seen, DEADLINE).unwrap();
            seen = next;
            let shown = seen.parser.screen().contents();
            assert!(!waited.timed_out(), "never: {what}\n{shown}");
        }
    }

    pub fn has_text(&self, text: &str) -> bool {
        self.seen
            .0
            .lock()
            .unwrap()
            .parser
            .screen()
            .contents()
            .contains(text)
    }

    pub fn wait_for_text(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contents().contains(text))
    }

    pub fn wait_for_text_gone(&self, text: &str) -> String {
        self.wait_until(&format!("no {text}"), |screen| {
            !screen.contents().contains(text)
        })
    }

    pub fn all_output(&self) -> String {
        String::from_utf8_lossy(&self.seen.0.lock().unwrap().written).into_owned()
    }

    pub fn signal_foreground(&self, signal: Signal) {
        let group = self.master.process_group_leader().unwrap();
        kill(Pid::from_raw(group), signal).unwrap();
    }

    pub fn assert_ends_clean(&mut self, code: u32) {
        let (found, shown) = self.wait_for_exit();
        assert_eq!(found, code, "{shown}");
        self.assert_terminal_restored();
        self.assert_directories_untouched("in the end");
    }

    /// Waits for the end on a terminal that reads no output. The modes and, soon after, the
    /// directories must be restored; the screen cannot be restored.
    pub fn assert_exit_with_unread_output(&mut self, code: u32) {
        let (found, shown) = self.wait_for_exit();
        assert_eq!(found, code, "{shown}");
        assert_eq!(terminal_modes(&*self.master), self.modes_before);
        self.wait_until_directories_untouched();
    }

    /// Kills the program by SIGKILL; only the directories can be restored afterwards, by its
    /// helper.
    pub fn kill_and_check_cleanup(&mut self) {
        self.signal(Signal::SIGKILL);
        self.wait_for_exit();
        self.wait_until_directories_untouched();
    }

    fn wait_until_directories_untouched(&self) {
        for directory in &self.kept {
            wait_for_condition("nothing is left", || directory.changed_paths().is_empty());
        }
    }

    fn wait_for_exit(&mut self) -> (u32, String) {
        self.is_judged = true;
        let mut status = None;
        let (process, largest) = (self.pid(), &self.largest);
        let last = || self.seen.0.lock().unwrap().parser.screen().contents();
        wait_for_condition("it ends", || {
            largest.set(largest.get().max(peak_memory_of(process)));
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.set_output_held(false);
        let (seen, changed) = &*self.seen;
        let all_read = changed
            .wait_timeout_while(seen.lock().unwrap(), DEADLINE, |seen| !seen.ended)
            .unwrap();
        assert!(all_read.0.ended, "somebody still holds the terminal");
        drop(all_read);
        (status.unwrap().exit_code(), last())
    }

    pub fn assert_terminal_restored(&self) {
        assert_eq!(terminal_modes(&*self.master), self.modes_before);
        let seen = self.seen.0.lock().unwrap();
        let screen = seen.parser.screen();
        assert!(
            !screen.alternate_screen(),
            "the alternate screen was not left"
        );
        assert!(!screen.hide_cursor(), "the cursor stayed hidden");
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
        // Killing fails if the program has already ended, as it usually has.
        let _ = self.child.kill();
        becomes_true_in_time(|| !matches!(self.child.try_wait(), Ok(None)));
        assert!(
            self.is_judged || std::thread::panicking(),
            "a journey ends in `assert_ends_clean`"
        );
    }
}

fn peak_memory_of(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .unwrap_or(0)
        << 10
}

fn set_terminal_env(mut command: CommandBuilder) -> CommandBuilder {
    command.env_remove("NO_COLOR");
    command.env_remove("TMUX");
    command.env("LC_ALL", "C.UTF-8");
    command.env("TERM", "xterm-256color");
    command
}

fn terminal_modes(master: &(dyn MasterPty + Send)) -> String {
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

fn nonzero_cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}
