//! Beside a mount that never answers, the screens open, accept keys, can be left, and end on
//! signals.

use std::fs;

use nix::sys::signal::Signal;

use super::{directory, help_and_back};
use crate::support::fuse::HeldFuse;
use crate::support::pty::Pty;

/// walwise on a name in this directory, of which nothing is looked at here.
fn on(place: &tempfile::TempDir, name: &str) -> Pty {
    Pty::program_in(place.path(), &[], env!("CARGO_BIN_EXE_walwise"), &[name])
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn a_target_that_never_answers_keeps_nobody() {
    let place = directory();
    let point = place.path().join("held");
    fs::create_dir(&point).unwrap();
    let _held = HeldFuse::mount(&point);
    let whole = point.join("pg/data");
    // By its whole path, by a path beneath where we are, and by a mere name, which may be a
    // mistyped command.
    for name in [whole.to_str().unwrap(), "./held", "held"] {
        let mut pty = on(&place, name);
        pty.until_shown("Overview");
        help_and_back(&mut pty);
        pty.press("q");
        pty.ends(0);
        for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
            let mut pty = on(&place, name);
            pty.until_shown("Overview");
            pty.signal_foreground(signal);
            pty.ends(code);
        }
    }
}

/// Finally there is a verdict, and it promises nothing.
#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn what_never_answers_is_unproven_on_the_screens() {
    let place = directory();
    let point = place.path().join("held");
    fs::create_dir(&point).unwrap();
    let _held = HeldFuse::mount(&point);
    let mut pty = on(&place, "./held");
    pty.until_gone("reading");
    let shown = pty.until_shown("UNPROVEN");
    assert!(!shown.contains("DURABLE"), "{shown}");
    pty.press("q");
    pty.ends(0);
}
