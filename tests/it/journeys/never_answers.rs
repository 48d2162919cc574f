//! Next to a mount that never answers, the screens open, accept keys, can be left, and end on
//! signals.

use std::fs;

use nix::sys::signal::Signal;

use super::{data_directory, open_and_close_help};
use crate::support::fuse::HungFuse;
use crate::support::pty::Pty;

/// Starts walwise with a target in this directory. The test itself must not touch any path there.
fn start_with_target(place: &tempfile::TempDir, name: &str) -> Pty {
    Pty::start_program_in(
        place.path(),
        &[],
        crate::support::programs::walwise_path(),
        &[name],
    )
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn hung_target_blocks_neither_keys_nor_exit() {
    let place = data_directory();
    let point = place.path().join("held");
    fs::create_dir(&point).unwrap();
    let _held = HungFuse::mount(&point);
    let whole = point.join("pg/data");
    // The absolute path, a relative path, and a bare name, which could also be a mistyped command.
    for name in [whole.to_str().unwrap(), "./held", "held"] {
        let mut pty = start_with_target(&place, name);
        pty.wait_for_text("Overview");
        open_and_close_help(&mut pty);
        pty.press("q");
        pty.assert_ends_clean(0);
        for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
            let mut pty = start_with_target(&place, name);
            pty.wait_for_text("Overview");
            pty.signal_foreground(signal);
            pty.assert_ends_clean(code);
        }
    }
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn hung_target_is_shown_as_unproven() {
    let place = data_directory();
    let point = place.path().join("held");
    fs::create_dir(&point).unwrap();
    let _held = HungFuse::mount(&point);
    let mut pty = start_with_target(&place, "./held");
    pty.wait_for_text_gone("reading");
    let shown = pty.wait_for_text("UNPROVEN");
    assert!(!shown.contains("DURABLE"), "{shown}");
    pty.press("q");
    pty.assert_ends_clean(0);
}
