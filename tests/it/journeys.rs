//! Journeys through the real program in a real terminal. [`Pty::assert_ends_clean`] checks the
//! final state of terminal and directories for every journey.

mod changes;
mod failures;
mod inputs;
mod leaving;
mod loops;
mod never_answers;
mod probing;
mod shell;
mod sizes;
mod terminals;
mod walks;

use std::path::{Path, PathBuf};

use crate::support::pty::Pty;

fn data_directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Creates a directory in memory, so that probes do not slow down those of other tests on the disk.
fn directory_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

fn path_str(directory: &tempfile::TempDir) -> &str {
    directory.path().to_str().unwrap()
}

fn capture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(name)
}

fn open_and_start_probe(data: &Path) -> Pty {
    let mut pty = Pty::start_walwise(&[data.to_str().unwrap()]);
    start_probe(&mut pty);
    pty
}

fn start_probe(pty: &mut Pty) {
    pty.wait_until("all is read and nothing runs", |screen| {
        let shown = screen.contents();
        shown.contains("p measures it")
            || shown.contains("recommended")
            || shown.contains("rounds in")
    });
    pty.press("p");
    let asked = pty.wait_for_text("y start");
    assert!(asked.contains("Probe of"), "{asked}");
    pty.assert_directories_untouched("nothing is written before it is confirmed");
    pty.press("y");
    pty.wait_for_text("back to back");
}

fn assume_older_kernel(pty: &mut Pty) {
    pty.press("w");
    pty.wait_for_text("choose a fact");
    pty.press("kernel.rel");
    pty.wait_for_text("/ kernel.rel_");
    pty.press("\r");
    pty.wait_for_text("type a value");
    pty.press("4.14.200\r");
    pty.wait_for_text("WHAT IF  kernel.release = 4.14.200");
}

/// Opens the help and closes it again, which proves that the screens respond.
fn open_and_close_help(pty: &mut Pty) {
    pty.press("?");
    pty.wait_for_text("type to filter");
    pty.press("\x1b");
    pty.wait_for_text_gone("type to filter");
}
