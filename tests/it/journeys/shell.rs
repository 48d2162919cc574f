//! Stopped and continued under a shell, by key and from outside.

use nix::sys::signal::Signal;

use super::{directory, path};
use crate::support::pty::Pty;

/// Stops by key or by signal, sees the shell, continues, and leaves.
fn stop_and_continue(stop: impl FnOnce(&mut Pty)) {
    let data = directory();
    let script = format!(
        "\"$W\" '{}'; echo STOPPED; read _; fg; echo \"DONE $?\"; read _",
        path(&data)
    );
    let mut pty = Pty::shell(&script);
    pty.until_shown("Fix first");
    stop(&mut pty);
    pty.until("the shell is back", |screen| {
        screen.contents().contains("STOPPED") && !screen.alternate_screen() && !screen.hide_cursor()
    });
    pty.assert_given_back();
    pty.press("\n");
    pty.until("the screen is back", |screen| {
        screen.alternate_screen() && screen.contents().contains("Fix first")
    });
    pty.press("4");
    pty.until_shown("in order of application");
    pty.press("q");
    pty.until_shown("DONE 0");
    pty.assert_given_back();
    pty.press("\n");
    pty.ends(0);
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
    pty.until_shown("Fix first");
    pty.press("\x1a");
    pty.until_shown("STOPPED");
    pty.press("\n");
    pty.until_shown("STILL-THE-SHELL");
    pty.assert_given_back();
    pty.press("\n");
    pty.until("the screen is back", |screen| {
        screen.alternate_screen() && screen.contents().contains("Fix first")
    });
    pty.press("q");
    pty.until_shown("DONE 0");
    pty.assert_given_back();
    pty.ends(0);
}

#[test]
fn without_a_shell_above_it_ctrl_z_does_not_strand_anybody() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Fix first");
    pty.press("\x1a");
    pty.until_shown("there is no shell to return to");
    pty.press("q");
    pty.ends(0);
}
