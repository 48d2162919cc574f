//! The screen Changes, host changes while the screens are open, and the number of keys that
//! each task takes.

use std::path::Path;
use std::time::{Duration, Instant};

use super::loops::last_clipboard_text;
use super::{capture_path, data_directory, directory_in_memory, path_str};
use crate::support::loops::mount_ext4;
use crate::support::programs::walwise_path;
use crate::support::pty::Pty;
use crate::support::run;

/// From the start to the text that completes a task, the user presses no more keys than the
/// task's limit.
#[test]
fn each_task_takes_few_keys() {
    let host = capture_path("el8-xfs-nobarrier.host");
    let host = ["/data", "--host", host.to_str().unwrap()];
    let place = data_directory();
    // Task, keys, limit on their number, text on the screen before Enter, and text that completes
    // the task.
    let tasks = [
        ("a command to paste", "", 0, "", "--format fstab"),
        ("the top item's why", "\r", 2, "Fix first", "esc back"),
        (
            "the blockers",
            "o\r",
            3,
            "Linux 5.14",
            "Will not mount or boot",
        ),
        ("what if", "w\r", 3, "choose a fact", "type a value"),
        ("a saved script", "ejs\r", 4, "Save as script", "saved: "),
    ];
    for (task, keys, most, before_enter, shown) in tasks {
        assert!(keys.len() <= most, "{task}");
        let mut pty = Pty::start_walwise_in(place.path(), &[], &host);
        pty.wait_for_text("Fix first");
        for key in keys.split_inclusive(|_: char| true) {
            if key == "\r" {
                pty.wait_for_text(before_enter);
            }
            pty.press(key);
        }
        pty.wait_for_text(shown);
        if task == "a saved script" {
            let file = place.path().join("walwise-el8-data.sh");
            pty.accept_changed_file(&first_saved_file(place.path()).unwrap_or(file));
        }
        pty.signal_foreground(nix::sys::signal::Signal::SIGTERM);
        pty.assert_ends_clean(128 + 15);
    }
    let data = directory_in_memory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    pty.press("p");
    pty.wait_for_text("y start");
    pty.press("y");
    pty.wait_for_text("back to back");
    pty.press("q");
    pty.assert_ends_clean(0);
}

fn first_saved_file(place: &Path) -> Option<std::path::PathBuf> {
    Some(std::fs::read_dir(place).ok()?.next()?.ok()?.path())
}

/// Whether the row of a layer is marked. The mounts of other tests are not layers of this
/// target.
fn has_changed_layer_mark(screen: &vt100::Screen) -> bool {
    let rows = screen.contents();
    rows.lines()
        .any(|row| row.contains('~') && row.contains("ext4"))
}

/// One of three remounts must be marked in time, because a busy host can delay the others.
#[test]
#[ignore = "needs root: loop devices"]
fn a_remount_is_marked_within_six_seconds() {
    let mounted = mount_ext4(&[], "");
    let data = mounted.create_subdirectory("data");
    let mut pty = Pty::start_walwise(&[data.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
    pty.press("2");
    pty.wait_for_text("from the target down");
    let mut best = Duration::MAX;
    for _ in 0..3 {
        if best < Duration::from_secs(6) {
            break;
        }
        let begun = Instant::now();
        mounted.remount("nobarrier");
        let shown = pty.wait_until("the row is marked", has_changed_layer_mark);
        best = best.min(begun.elapsed());
        assert!(shown.contains("CHANGED  "), "{shown}");
        // Once the original options are restored, the row must lose its mark.
        mounted.remount("barrier");
        pty.wait_until("no row is marked", |screen| !has_changed_layer_mark(screen));
    }
    assert!(best < Duration::from_secs(6), "{best:?}");
    mounted.remount("nobarrier");
    pty.wait_until("the row is marked", has_changed_layer_mark);
    pty.press("r");
    pty.wait_until("no row is marked", |screen| !has_changed_layer_mark(screen));
    pty.wait_for_text_gone("reading");
    pty.press("q");
    pty.assert_ends_clean(0);
}

/// Root saves reports in a system-wide directory, so `state` is mounted there.
fn start_walwise_saving_in(state: &Path, data: &str) -> Pty {
    let cover = "mount --make-rprivate / && mount --bind \"$0\" /var/lib && exec \"$@\"";
    let state = state.to_str().unwrap();
    let arguments = ["-m", "sh", "-c", cover, state, walwise_path(), data];
    let pty = Pty::start_program_in(Path::new("."), &[], "unshare", &arguments);
    pty.wait_for_text("Fix first");
    pty
}

#[test]
#[ignore = "needs root: loop devices and a mount name space"]
fn changes_screen_leads_from_saved_report_to_fix() {
    let state = data_directory();
    let mounted = mount_ext4(&[], "");
    let data = mounted.create_subdirectory("data");
    let data = data.to_str().unwrap();
    let mut pty = start_walwise_saving_in(state.path(), data);
    pty.press("7");
    pty.wait_for_text("no saved report; press s to save one");
    pty.press("s");
    pty.wait_for_text("/var/lib/walwise/");
    pty.press("y");
    pty.wait_for_text("000001-");
    pty.wait_for_text("No lasting differences.");
    pty.press("q");
    pty.assert_ends_clean(0);
    mounted.remount("nobarrier");
    let mut pty = start_walwise_saving_in(state.path(), data);
    pty.press("b");
    pty.wait_for_text("this target");
    pty.press("\r");
    let shown = pty.wait_for_text("Worse now");
    assert!(shown.contains("without barriers"), "{shown}");
    pty.press("Y");
    pty.wait_for_text("clipboard");
    let commands = last_clipboard_text(&pty);
    assert!(
        commands.contains("mount -o remount,barrier=1"),
        "{commands}"
    );
    for command in commands.lines() {
        run("sh", &["-c", command]);
    }
    pty.press("r");
    // Another test may mount something at risk.
    pty.wait_until("its own mount is no longer worse", |screen| {
        let rows = screen.contents();
        !rows
            .lines()
            .any(|row| row.contains("critical") && row.contains(mounted.path()))
    });
    pty.wait_for_text_gone("reading");
    pty.press("q");
    pty.assert_ends_clean(0);
}
