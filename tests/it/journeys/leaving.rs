use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::Signal;

use super::{data_directory, directory_in_memory, path_str};
use crate::support::deadline::read_in_time;
use crate::support::pty::Pty;
use crate::support::running::wait_for_condition;
use crate::support::untouched::DirectorySnapshot;

#[test]
fn signals_restore_the_terminal_and_set_the_exit_code() {
    let data = data_directory();
    for (signal, code) in [
        (Signal::SIGTERM, 143),
        (Signal::SIGINT, 130),
        (Signal::SIGHUP, 129),
    ] {
        let mut pty = Pty::start_walwise(&[path_str(&data)]);
        pty.wait_for_text("Overview");
        pty.signal_foreground(signal);
        pty.assert_ends_clean(code);
    }
}

#[test]
fn ctrl_c_ends_it_at_once() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Overview");
    pty.press("\x03");
    pty.assert_ends_clean(130);
}

struct ClosableTerminal {
    master: PtyMaster,
    parser: vt100::Parser,
    child: Child,
}

impl ClosableTerminal {
    fn start(data: &Path, own: bool) -> Self {
        // A child that inherits the master would keep the terminal open.
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname_r(&master).unwrap();
        let slave = || {
            let file = fs::File::options()
                .read(true)
                .write(true)
                .custom_flags(OFlag::O_NOCTTY.bits())
                .open(&name);
            Stdio::from(file.unwrap())
        };
        let mut command = Command::new(if own {
            "setsid"
        } else {
            crate::support::programs::walwise_path()
        });
        if own {
            command.args(["--ctty", crate::support::programs::walwise_path()]);
        }
        command
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8")
            .arg(data);
        let child = command
            .stdin(slave())
            .stdout(slave())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            master,
            parser: vt100::Parser::default(),
            child,
        }
    }

    fn read_until_shown(&mut self, text: &str) {
        while !self.parser.screen().contents().contains(text) {
            let mut bytes = [0; 4096];
            let count = read_in_time(text, &mut self.master, &mut bytes);
            self.parser.process(&bytes[..count]);
        }
    }

    fn press(&mut self, key: &str) {
        self.master.write_all(key.as_bytes()).unwrap();
    }

    fn close_and_wait(self) -> Option<i32> {
        drop(self.master);
        let mut child = self.child;
        let mut status = None;
        wait_for_condition("it ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().code()
    }
}

/// SIGHUP reports the end of the controlling terminal only; on any other terminal the program must
/// notice the end by itself.
#[test]
fn a_terminal_that_is_closed_ends_it() {
    let data = data_directory();
    let kept = DirectorySnapshot::take(data.path());
    for own in [true, false] {
        let mut terminal = ClosableTerminal::start(data.path(), own);
        terminal.read_until_shown("Overview");
        assert_eq!(terminal.close_and_wait(), Some(129), "own terminal: {own}");
        assert!(
            kept.changed_paths().is_empty(),
            "{:?}",
            kept.changed_paths()
        );
    }
}

#[test]
fn a_terminal_that_is_closed_during_a_probe_ends_that_too() {
    for own in [true, false] {
        let data = directory_in_memory();
        let kept = DirectorySnapshot::take(data.path());
        let mut terminal = ClosableTerminal::start(data.path(), own);
        terminal.read_until_shown("recommended");
        terminal.press("p");
        terminal.read_until_shown("y start");
        terminal.press("y");
        terminal.read_until_shown("back to back");
        assert_eq!(terminal.close_and_wait(), Some(129), "own terminal: {own}");
        assert!(
            kept.changed_paths().is_empty(),
            "{:?}",
            kept.changed_paths()
        );
    }
}
