//! Journeys through the real program in a real terminal: what is on the screen, how it ends, and that the terminal is as it
//! was found.

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::Signal;

use crate::support::pty::Pty;

/// A directory to look at, on the file system of the build.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn path(directory: &tempfile::TempDir) -> &str {
    directory.path().to_str().unwrap()
}

#[test]
fn from_the_overview_to_the_advice_and_out() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Do first");
    pty.press("?");
    pty.until_shown("type to filter");
    pty.press("quit");
    pty.until_shown("/ quit_");
    pty.press("\x1b");
    pty.until_gone("/ quit_");
    pty.press("4");
    pty.until_shown("current → recommended");
    pty.press("\x1b");
    pty.until_shown("Do first");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

/// A fact of a recorded machine is supposed, its advice seen to change, and the machine as it is comes back.
#[test]
fn another_kernel_is_supposed_and_left_again() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/el8-xfs-nobarrier.host");
    let mut pty = Pty::walwise(&["/data", "--host", capture]);
    pty.until_shown("Do first");
    pty.press("4");
    let real = pty.until_shown("current → recommended");
    assert!(real.contains("takes"), "{real}");
    pty.press("w");
    pty.until_shown("which fact?");
    pty.press("kernel.rel");
    pty.until_shown("/ kernel.rel_");
    pty.press("\r");
    pty.until_shown("type a value");
    pty.press("4.14.200\r");
    pty.until_shown("WHAT IF  kernel.release = 4.14.200");
    let supposed = pty.until_shown("(boot.ineffective-option)");
    assert!(supposed.contains("(assumed; really"), "{supposed}");
    let (_, gone) = supposed.split_once("No longer").expect(&supposed);
    assert!(gone.contains("(boot.refused-option)"), "the kernel that runs refuses the option: {supposed}");
    pty.press("W");
    pty.until_gone("WHAT IF");
    let again = pty.until_shown("current → recommended");
    assert!(!again.contains("(boot.ineffective-option)"), "{again}");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

#[test]
fn every_fact_of_a_layer_is_two_keys_away() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Do first");
    pty.press("2");
    pty.until_shown("from the target down");
    // Whatever the file system is, it has a type, and that was read in the mount table.
    pty.press("/fstype");
    pty.until("only what was looked for", |screen| {
        let shown = screen.contents();
        shown.contains("mount.fstype") && shown.contains("mountinfo:") && !shown.contains("mount.point")
    });
    pty.press("\rj\r");
    pty.until_shown("means ");
    pty.resize(130, 40);
    pty.until("the facts stand beside", |screen| screen.rows(0, 130).any(|row| row.contains("│ ")));
    pty.press("\x1b\x1b\x1b");
    pty.until_shown("Do first");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

#[test]
fn why_a_rule_does_not_apply_is_shown() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Do first");
    pty.press("5");
    pty.until_shown("enter why");
    pty.press("/does not apply");
    pty.until_shown("Does not apply   ");
    pty.press("\r\r");
    let screen = pty.until_shown("all of");
    assert!(screen.contains("sources"), "{screen}");
    pty.press("\x1b");
    pty.until_gone("all of");
    pty.press("\x1b");
    pty.until_gone("/ does not apply");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

#[test]
fn signals_restore_the_terminal_and_name_themselves() {
    let data = directory();
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129)] {
        let mut pty = Pty::walwise(&[path(&data)]);
        pty.until_shown("Overview");
        pty.signal_foreground(signal);
        assert_eq!(pty.wait(), code, "{signal}");
        pty.assert_restored();
    }
}

#[test]
fn ctrl_c_ends_it_at_once() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Overview");
    pty.press("\x03");
    assert_eq!(pty.wait(), 130);
    pty.assert_restored();
}

/// With a terminal of its own a program is told of its end by a signal; with a borrowed one it has to notice.
#[test]
fn a_terminal_that_is_closed_ends_it() {
    let data = directory();
    for own in [true, false] {
        // The master must not be inherited, or it would never be closed.
        let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let mut master = posix_openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname_r(&master).unwrap();
        let slave = || {
            let file =
                fs::File::options().read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits()).open(&name);
            Stdio::from(file.unwrap())
        };
        let mut command = Command::new(if own { "setsid" } else { env!("CARGO_BIN_EXE_walwise") });
        if own {
            command.args(["--ctty", env!("CARGO_BIN_EXE_walwise")]);
        }
        command.arg(path(&data)).stdin(slave()).stdout(slave()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("Overview") {
            let mut bytes = [0; 4096];
            let count = master.read(&mut bytes).unwrap();
            seen.extend_from_slice(&bytes[..count]);
        }
        drop(master);
        let deadline = Instant::now() + Duration::from_mins(1);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                child.kill().unwrap();
            }
            std::thread::yield_now();
        };
        assert_eq!(status.code(), Some(129), "own terminal: {own}, {status}");
    }
}

#[test]
fn a_size_is_followed() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Do first");
    pty.resize(120, 40);
    pty.until("the last row has the keys", |screen| {
        screen.rows(0, 120).nth(39).is_some_and(|row| row.contains("q quit"))
    });
    pty.resize(50, 10);
    pty.until_shown("needs 60×15, this is 50×10");
    // Typed at the very moment of a change: neither may be lost.
    pty.resize(100, 30);
    pty.press("4");
    pty.until_shown("current → recommended");
    pty.until("the last row has the keys", |screen| {
        screen.rows(0, 100).nth(29).is_some_and(|row| row.contains("q quit"))
    });
    pty.press("1");
    pty.resize(80, 24);
    pty.until_shown("Do first");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

/// Stops by key or by signal, sees the shell, continues, and leaves.
fn stop_and_continue(stop: impl FnOnce(&mut Pty)) {
    let data = directory();
    let script = format!("\"$W\" '{}'; echo STOPPED; read _; fg; echo \"DONE $?\"; read _", path(&data));
    let mut pty = Pty::shell(&script);
    pty.until_shown("Do first");
    stop(&mut pty);
    pty.until("the shell is back", |screen| {
        screen.contents().contains("STOPPED") && !screen.alternate_screen() && !screen.hide_cursor()
    });
    pty.assert_restored();
    pty.press("\n");
    pty.until("the screen is back", |screen| {
        screen.alternate_screen() && screen.contents().contains("Do first")
    });
    pty.press("4");
    pty.until_shown("current → recommended");
    pty.press("q");
    pty.until_shown("DONE 0");
    pty.assert_restored();
    pty.press("\n");
    pty.wait();
}

#[test]
fn ctrl_z_gives_the_shell_back_until_fg() {
    stop_and_continue(|pty| pty.press("\x1a"));
}

#[test]
fn a_stop_signal_from_outside_does_the_same() {
    stop_and_continue(|pty| pty.signal_foreground(Signal::SIGTSTP));
}

#[test]
fn continued_in_the_background_it_leaves_the_terminal_alone() {
    let data = directory();
    let script = format!(
        "\"$W\" '{}'; echo STOPPED; bg; read _; echo STILL-THE-SHELL; read _; fg; echo \"DONE $?\"",
        path(&data)
    );
    let mut pty = Pty::shell(&script);
    pty.until_shown("Do first");
    pty.press("\x1a");
    pty.until_shown("STOPPED");
    pty.press("\n");
    pty.until_shown("STILL-THE-SHELL");
    pty.assert_restored();
    pty.press("\n");
    pty.until("the screen is back", |screen| {
        screen.alternate_screen() && screen.contents().contains("Do first")
    });
    pty.press("q");
    pty.until_shown("DONE 0");
    pty.assert_restored();
    pty.wait();
}

#[test]
fn without_a_shell_above_it_ctrl_z_does_not_strand_anybody() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Do first");
    pty.press("\x1a");
    pty.until_shown("there is no shell to return to");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

#[test]
fn work_that_fails_leaves_the_screen_and_what_was_known() {
    let place = directory();
    let capture = place.path().join("db.host");
    let captured = Command::new(env!("CARGO_BIN_EXE_walwise")).arg("capture").output().unwrap();
    fs::write(&capture, captured.stdout).unwrap();
    let mut pty = Pty::walwise(&["--host", capture.to_str().unwrap()]);
    pty.until_shown("capture");
    pty.until_gone("reading");
    fs::remove_file(&capture).unwrap();
    pty.press("r");
    pty.until_shown("reading the machine failed");
    pty.press("p");
    pty.until_shown("Not now");
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

/// A directory in memory, so that these probes do not disturb those of other tests on the disk.
fn memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// Confirms a probe and waits until it measures.
fn probing(data: &tempfile::TempDir) -> Pty {
    let mut pty = Pty::walwise(&[path(data)]);
    pty.until_shown("p measures it");
    pty.press("p");
    let asked = pty.until_shown("y start");
    assert!(asked.contains("Probe of"), "{asked}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0, "nothing is written before it is confirmed");
    pty.press("y");
    pty.until_shown("Times");
    pty
}

/// Everything in and beneath a directory.
fn all_in(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(all_in(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

#[test]
fn a_probe_is_confirmed_watched_cancelled_and_made_again() {
    let place = memory();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("there before"), "kept").unwrap();
    let before = all_in(place.path());
    // In memory a probe may be over before the key arrives; then it is a matter of trying again.
    let cancelled = |_| {
        let mut pty = Pty::walwise(&[data.to_str().unwrap()]);
        pty.until_shown("Do first");
        pty.press("3");
        pty.until_shown("not measured");
        pty.press("p");
        pty.until_shown("y start");
        assert_eq!(all_in(place.path()), before, "nothing is written before it is confirmed");
        pty.press("y");
        pty.until_shown("Times");
        pty.press("c");
        let screen = pty.until_shown("rounds in");
        assert!(screen.contains("fdatasync"), "what was measured is kept:\n{screen}");
        assert_eq!(all_in(place.path()), before);
        screen.contains("what was measured until then is kept").then_some(pty)
    };
    let mut pty = (0..20).find_map(cancelled).expect("one of twenty was cancelled in time");
    pty.press("p");
    pty.until_shown("y start");
    pty.press("y");
    pty.until("another measurement, this time whole", |screen| {
        let shown = screen.contents();
        shown.contains("rounds in") && !shown.contains("is kept")
    });
    assert_eq!(all_in(place.path()), before);
    pty.press("q");
    assert_eq!(pty.wait(), 0);
    pty.assert_restored();
}

#[test]
fn a_probe_without_screens_says_how_it_goes_on_a_terminal_only() {
    let data = memory();
    let probe = ["probe", path(&data), "--seconds", "1"];
    let mut pty = Pty::walwise(&probe);
    assert_eq!(pty.wait(), 0);
    let written = pty.written();
    for said in ["writes at most", "measuring: round 1, at most ", " s left, not settled yet"] {
        assert!(written.contains(said), "{said}:\n{written}");
    }
    let piped =
        Command::new(env!("CARGO_BIN_EXE_walwise")).args(probe).stdin(Stdio::null()).output().unwrap();
    let [out, complaint] = [piped.stdout, piped.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!((piped.status.code(), complaint.as_str()), (Some(0), ""));
    assert!(out.contains("fdatasync") && !out.contains(" left"), "{out}");
}

#[test]
fn leaving_during_a_probe_takes_the_scratch_file_along() {
    for (leave, code) in [("q", 0), ("\x03", 130)] {
        let data = memory();
        let mut pty = probing(&data);
        pty.press(leave);
        assert_eq!(pty.wait(), code);
        pty.assert_restored();
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    }
    let data = memory();
    let mut pty = probing(&data);
    pty.signal_foreground(Signal::SIGTERM);
    assert_eq!(pty.wait(), 143);
    pty.assert_restored();
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}
