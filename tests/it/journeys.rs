//! Journeys through the real program in a real terminal: the visible screens, and the restored
//! state of terminal and directories at the end, which [`Pty::ends`] checks for all of them.

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

/// A directory to look at, on the file system of the build.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A directory in memory, so that these probes do not disturb those of other tests on the disk.
fn memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

fn path(directory: &tempfile::TempDir) -> &str {
    directory.path().to_str().unwrap()
}

/// A recorded machine.
fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(name)
}

/// Confirms a probe and waits until it measures.
fn probing(data: &Path) -> Pty {
    let mut pty = Pty::walwise(&[data.to_str().unwrap()]);
    start_probe(&mut pty);
    pty
}

/// Asks for a probe of what is shown, confirms it, and waits until it measures.
fn start_probe(pty: &mut Pty) {
    pty.until("all is read and nothing runs", |screen| {
        let shown = screen.contents();
        shown.contains("p measures it")
            || shown.contains("recommended")
            || shown.contains("rounds in")
    });
    pty.press("p");
    let asked = pty.until_shown("y start");
    assert!(asked.contains("Probe of"), "{asked}");
    pty.assert_untouched("nothing is written before it is confirmed");
    pty.press("y");
    pty.until_shown("back to back");
}

/// Supposes that the machine runs an old kernel.
fn suppose_another_kernel(pty: &mut Pty) {
    pty.press("w");
    pty.until_shown("which fact?");
    pty.press("kernel.rel");
    pty.until_shown("/ kernel.rel_");
    pty.press("\r");
    pty.until_shown("type a value");
    pty.press("4.14.200\r");
    pty.until_shown("WHAT IF  kernel.release = 4.14.200");
}

/// Opens the help and closes it: the screens answer.
fn help_and_back(pty: &mut Pty) {
    pty.press("?");
    pty.until_shown("type to filter");
    pty.press("\x1b");
    pty.until_gone("type to filter");
}
