//! A program in a terminal of its own: keys in, parsed screen out. Nobody answers terminal queries here, as on some real
//! terminals.

use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longer than any working machine needs.
const DEADLINE: Duration = Duration::from_mins(1);

struct Seen {
    parser: vt100::Parser,
    written: Vec<u8>,
    ended: bool,
}

/// A program in a terminal; killed when it is dropped.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    modes_before: String,
}

impl Pty {
    /// Starts walwise with these arguments.
    pub fn walwise(arguments: &[&str]) -> Self {
        Self::walwise_in(Path::new("."), &[], arguments)
    }

    /// The same in this directory and with these variables.
    pub fn walwise_in(directory: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::program_in(directory, variables, env!("CARGO_BIN_EXE_walwise"), arguments)
    }

    /// Starts any program.
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
        let writer = pair.master.take_writer().unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(cells(24), cells(80), 0);
        let seen = Arc::new((Mutex::new(Seen { parser, written: Vec::new(), ended: false }), Condvar::new()));
        let seen_by_reader = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                let count = match reader.read(&mut bytes) {
                    Ok(count) => count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => 0,
                };
                // A test that failed has nothing more to see.
                let Ok(mut seen) = seen_by_reader.0.lock() else { return };
                seen.parser.process(&bytes[..count]);
                seen.written.extend(&bytes[..count]);
                seen.ended = count == 0;
                seen_by_reader.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Self { master: pair.master, writer, child, seen, modes_before }
    }

    /// Types.
    pub fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
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
            assert_eq!(screen.mouse_protocol_encoding(), vt100::MouseProtocolEncoding::Sgr);
            let (_, width) = screen.size();
            let place = screen
                .rows(0, width.get())
                .zip(1..)
                .find_map(|(line, row)| Some((line.split_once(text)?.0.chars().count() + 1, row)));
            place.unwrap_or_else(|| panic!("{text} is not within a line:\n{}", screen.contents()))
        };
        self.press(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Gives the terminal another size.
    pub fn resize(&self, width: u16, height: u16) {
        self.seen.0.lock().unwrap().parser.screen_mut().set_size(cells(height), cells(width));
        self.master.resize(pty_size(width, height)).unwrap();
    }

    /// Waits until the screen is as described, and gives its text.
    pub fn until(&self, what: &str, mut holds: impl FnMut(&vt100::Screen) -> bool) -> String {
        let (seen, changed) = &*self.seen;
        let mut seen = seen.lock().unwrap();
        loop {
            let screen = seen.parser.screen();
            if holds(screen) {
                return screen.contents();
            }
            assert!(!seen.ended, "ended before: {what}\n{}", screen.contents());
            let (next, waited) = changed.wait_timeout(seen, DEADLINE).unwrap();
            seen = next;
            let shown = seen.parser.screen().contents();
            assert!(!waited.timed_out(), "never: {what}\n{shown}");
        }
    }

    /// Waits until a text is on the screen, and gives all of it.
    pub fn until_shown(&self, text: &str) -> String {
        self.until(text, |screen| screen.contents().contains(text))
    }

    /// Waits until a text is gone from the screen.
    pub fn until_gone(&self, text: &str) -> String {
        self.until(&format!("no {text}"), |screen| !screen.contents().contains(text))
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

    /// Waits for the end, and gives the exit code.
    pub fn wait(&mut self) -> u32 {
        let code = self.child.wait().unwrap().exit_code();
        let (seen, changed) = &*self.seen;
        let all_read =
            changed.wait_timeout_while(seen.lock().unwrap(), DEADLINE, |seen| !seen.ended).unwrap();
        assert!(all_read.0.ended, "somebody still holds the terminal");
        code
    }

    /// Fails unless the terminal is as it was found: modes, main screen, cursor.
    pub fn assert_restored(&self) {
        assert_eq!(modes(&*self.master), self.modes_before);
        let seen = self.seen.0.lock().unwrap();
        assert!(!seen.parser.screen().alternate_screen(), "the alternate screen was not left");
        assert!(!seen.parser.screen().hide_cursor(), "the cursor stayed hidden");
        let mouse = seen.parser.screen().mouse_protocol_mode();
        assert_eq!(mouse, vt100::MouseProtocolMode::None, "the mouse was not given back");
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It has usually ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
    PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}
