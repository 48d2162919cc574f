//! Job control under a shell: walwise stopped by key and by signal, then continued.

use nix::sys::signal::Signal;

use super::{data_directory, path_str};
use crate::support::pty::Pty;

fn assert_stop_gives_shell_back(stop: impl FnOnce(&mut Pty)) {
    let data = data_directory();
    let script = format!(
        "\"$W\" '{}'; echo STOPPED; read _; fg; echo \"DONE $?\"; read _",
        path_str(&data)
    );
    let mut pty = Pty::start_shell(&script);
    pty.wait_for_text("Fix first");
    stop(&mut pty);
    pty.wait_until("the shell is back", |screen| {
        screen.contents().contains("STOPPED") && !screen.alternate_screen() && !screen.hide_cursor()
    });
    pty.assert_terminal_restored();
    pty.press("\n");
    pty.wait_until("the screen is back", |screen| {
        screen.alternate_screen() && screen.contents().contains("Fix first")
    });
    pty.press("4");
    pty.wait_for_text("in order of application");
    pty.press("q");
    pty.wait_for_text("DONE 0");
    pty.assert_terminal_restored();
    pty.press("\n");
    pty.assert_ends_clean(0);
}

#[test]
fn ctrl_z_gives_the_shell_back_until_fg() {
    assert_stop_gives_shell_back(|pty| pty.press("\x1a"));
}

#[test]
fn sigtstp_gives_the_shell_back_until_fg() {
    assert_stop_gives_shell_back(|pty| pty.signal_foreground(Signal::SIGTSTP));
}

#[test]
fn continued_in_the_background_it_leaves_the_terminal_alone() {
    let data = data_directory();
    let script = format!(
        "\"$W\" '{}'; echo STOPPED; bg; read _; echo STILL-THE-SHELL; read _; fg; echo \"DONE $?\"",
        path_str(&data)
    );
    let mut pty = Pty::start_shell(&script);
    pty.wait_for_text("Fix first");
    pty.press("\x1a");
    pty.wait_for_text("STOPPED");
    pty.press("\n");
    pty.wait_for_text("STILL-THE-SHELL");
    pty.assert_terminal_restored();
    pty.press("\n");
    pty.wait_until("the screen is back", |screen| {
        screen.alternate_screen() && screen.contents().contains("Fix first")
    });
    pty.press("q");
    pty.wait_for_text("DONE 0");
    pty.assert_terminal_restored();
    pty.assert_ends_clean(0);
}

#[test]
fn ctrl_z_without_a_parent_shell_does_not_suspend() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    pty.press("\x1a");
    pty.wait_for_text("there is no shell to return to");
    pty.press("q");
    pty.assert_ends_clean(0);
}
