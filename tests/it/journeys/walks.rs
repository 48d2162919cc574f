//! Walks through the screens: from the overview to reasons, to an assumed host, and to the facts of
//! a layer.

use super::{assume_older_kernel, capture_path, data_directory, path_str};
use crate::support::pty::Pty;

#[test]
fn keys_lead_to_help_advice_and_exit() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    pty.press("?");
    pty.wait_for_text("type to filter");
    pty.press("quit");
    pty.wait_for_text("/ quit_");
    pty.press("\x1b");
    pty.wait_for_text_gone("/ quit_");
    pty.press("4");
    pty.wait_for_text("in order of application");
    pty.press("\x1b");
    pty.wait_for_text("Fix first");
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn a_target_is_chosen_from_the_list() {
    let host = capture_path("real-loop-xfs.host");
    let mut pty = Pty::start_walwise(&["--host", host.to_str().unwrap()]);
    let first = pty.wait_for_text("? all commands");
    assert!(
        first.lines().next().unwrap().contains(" 1/4 /") && first.contains("enter details"),
        "{first}"
    );
    pty.resize(120, 24);
    pty.press("t");
    let listed = pty.wait_for_text("Targets, worst first");
    assert!(
        !listed.contains("? all commands") && listed.contains("▸  ! at risk"),
        "{listed}"
    );
    pty.press("capture-xfs");
    pty.wait_for_text("/ capture-xfs_");
    pty.press("\r");
    let shown = pty.wait_for_text_gone("Targets, worst first");
    assert!(
        shown.lines().next().unwrap().contains("capture-xfs"),
        "{shown}"
    );
    pty.press("[");
    pty.wait_until("previous target", |screen| {
        !screen
            .rows(0, 120)
            .next()
            .unwrap_or_default()
            .contains("capture-xfs")
    });
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn overview_shows_the_flush_path_at_every_size() {
    let host = capture_path("loop-over-nobarrier.host");
    let mut pty = Pty::start_walwise(&["/data", "--host", host.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
    for (columns, rows) in [(140, 45), (100, 30), (80, 24)] {
        pty.resize(columns, rows);
        let shown = pty.wait_until("the keys are in the last row", |screen| {
            let last = screen.rows(0, columns).nth(usize::from(rows) - 1);
            last.is_some_and(|row| row.contains("q quit"))
                && screen.contents().contains("LOST HERE")
        });
        assert!(
            shown.contains("DROPPED") && shown.contains("sda"),
            "{shown}"
        );
        assert!(!shown.contains("worst first"), "one target: {shown}");
    }
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn what_if_kernel_is_applied_and_left() {
    let host = capture_path("el8-xfs-nobarrier.host");
    let mut pty = Pty::start_walwise(&["/data", "--host", host.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
    pty.press("4");
    let real = pty.wait_for_text("in order of application");
    assert!(real.contains("interrupts"), "{real}");
    assume_older_kernel(&mut pty);
    let supposed = pty.wait_for_text("(boot.ineffective-option)");
    assert!(supposed.contains("(assumed; actual:"), "{supposed}");
    let (_, gone) = supposed.split_once("No longer").expect(&supposed);
    assert!(
        gone.contains("(boot.refused-option)"),
        "the kernel that runs refuses the option: {supposed}"
    );
    pty.press("W");
    pty.wait_for_text_gone("WHAT IF");
    let again = pty.wait_for_text("in order of application");
    assert!(!again.contains("(boot.ineffective-option)"), "{again}");
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn every_fact_of_a_layer_is_two_keys_away() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    pty.press("2");
    pty.wait_for_text("from the target down");
    pty.resize(80, 40);
    // Every file system has a type, read from the mount table.
    pty.press("/fstype");
    pty.wait_until("only what was looked for", |screen| {
        let shown = screen.contents();
        shown.contains("mount.fstype")
            && shown.contains("mountinfo:")
            && !shown.contains("mount.point")
    });
    pty.press("\rj\r");
    pty.wait_for_text("meaning ");
    pty.press("\x1b");
    pty.resize(130, 40);
    pty.wait_until("the facts stand beside", |screen| {
        screen.rows(0, 130).any(|row| row.contains("│ "))
    });
    pty.press("\x1b\x1b");
    pty.wait_for_text("Fix first");
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn why_a_rule_does_not_apply_is_shown() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    pty.press("5");
    pty.wait_for_text("enter details");
    pty.press("/does not apply");
    pty.wait_for_text("Does not apply  ");
    pty.press("\r\r");
    let screen = pty.wait_for_text("all of");
    assert!(screen.contains("sources"), "{screen}");
    pty.press("\x1b");
    pty.wait_for_text_gone("all of");
    pty.press("\x1b");
    pty.wait_for_text_gone("/ does not apply");
    pty.press("q");
    pty.assert_ends_clean(0);
}
