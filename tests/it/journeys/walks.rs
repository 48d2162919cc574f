//! Walks through the screens: from the overview to the reasons, to an assumed machine, to the facts
//! of a layer.

use super::{capture, directory, path, suppose_another_kernel};
use crate::support::pty::Pty;

#[test]
fn from_the_overview_to_the_advice_and_out() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Fix first");
    pty.press("?");
    pty.until_shown("type to filter");
    pty.press("quit");
    pty.until_shown("/ quit_");
    pty.press("\x1b");
    pty.until_gone("/ quit_");
    pty.press("4");
    pty.until_shown("in order of application");
    pty.press("\x1b");
    pty.until_shown("Fix first");
    pty.press("q");
    pty.ends(0);
}

/// Keys are named until the first is pressed; then another target is found by its name.
#[test]
fn a_target_is_chosen_from_the_list() {
    let host = capture("real-loop-xfs.host");
    let mut pty = Pty::walwise(&["--host", host.to_str().unwrap()]);
    let first = pty.until_shown("? all commands");
    assert!(
        first.contains("6 Export 1/") && first.contains("enter more"),
        "{first}"
    );
    pty.press("t");
    let listed = pty.until_shown("Targets, worst first");
    assert!(
        !listed.contains("? all commands") && listed.contains("▸  ! at risk"),
        "{listed}"
    );
    pty.press("capture-xfs");
    pty.until_shown("/ capture-xfs_");
    pty.press("\r");
    let shown = pty.until_gone("Targets, worst first");
    assert!(
        shown.lines().nth(1).unwrap().contains("capture-xfs"),
        "{shown}"
    );
    pty.press("[");
    pty.until("previous target", |screen| {
        !screen
            .rows(0, 80)
            .nth(1)
            .unwrap_or_default()
            .contains("capture-xfs")
    });
    pty.press("q");
    pty.ends(0);
}

/// On a wide terminal every target is in sight, and the stack of the chosen one is drawn.
#[test]
fn a_wide_terminal_shows_the_whole_host() {
    let host = capture("loop-over-nobarrier.host");
    let mut pty = Pty::walwise(&["/data", "--host", host.to_str().unwrap()]);
    pty.until_shown("Fix first");
    for (columns, rows) in [(140, 45), (100, 30), (80, 24)] {
        pty.resize(columns, rows);
        let shown = pty.until("the keys are in the last row", |screen| {
            let last = screen.rows(0, columns).nth(usize::from(rows) - 1);
            last.is_some_and(|row| row.contains("q quit"))
                && screen.contents().contains("LOST HERE")
        });
        assert!(
            shown.contains("┗━━✗ ext4") && shown.contains("! sda"),
            "{shown}"
        );
        assert_eq!(
            shown.contains("worst first") || shown.contains(" Target "),
            columns == 140,
            "{shown}"
        );
    }
    pty.press("q");
    pty.ends(0);
}

/// A fact of a recorded machine is supposed, its advice seen to change, and the machine as it is
/// comes back.
#[test]
fn another_kernel_is_supposed_and_left_again() {
    let host = capture("el8-xfs-nobarrier.host");
    let mut pty = Pty::walwise(&["/data", "--host", host.to_str().unwrap()]);
    pty.until_shown("Fix first");
    pty.press("4");
    let real = pty.until_shown("in order of application");
    assert!(real.contains("interrupts"), "{real}");
    suppose_another_kernel(&mut pty);
    let supposed = pty.until_shown("(boot.ineffective-option)");
    assert!(supposed.contains("(assumed; actual:"), "{supposed}");
    let (_, gone) = supposed.split_once("No longer").expect(&supposed);
    assert!(
        gone.contains("(boot.refused-option)"),
        "the kernel that runs refuses the option: {supposed}"
    );
    pty.press("W");
    pty.until_gone("WHAT IF");
    let again = pty.until_shown("in order of application");
    assert!(!again.contains("(boot.ineffective-option)"), "{again}");
    pty.press("q");
    pty.ends(0);
}

#[test]
fn every_fact_of_a_layer_is_two_keys_away() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Fix first");
    pty.press("2");
    pty.until_shown("from the target down");
    // There is room for all that says where it comes from.
    pty.resize(80, 40);
    // Whatever the file system is, it has a type, and that was read in the mount table.
    pty.press("/fstype");
    pty.until("only what was looked for", |screen| {
        let shown = screen.contents();
        shown.contains("mount.fstype")
            && shown.contains("mountinfo:")
            && !shown.contains("mount.point")
    });
    pty.press("\rj\r");
    pty.until_shown("means ");
    pty.resize(130, 40);
    pty.until("the facts stand beside", |screen| {
        screen.rows(0, 130).any(|row| row.contains("│ "))
    });
    pty.press("\x1b\x1b\x1b");
    pty.until_shown("Fix first");
    pty.press("q");
    pty.ends(0);
}

#[test]
fn why_a_rule_does_not_apply_is_shown() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Fix first");
    pty.press("5");
    pty.until_shown("enter more");
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
    pty.ends(0);
}
