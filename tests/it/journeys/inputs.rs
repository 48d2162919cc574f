//! Terminal input that no person types: pastes, junk, and a terminal that accepts no output.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{capture, directory, memory, path, probing};
use crate::support::pty::Pty;
use crate::support::running::wait_for;

/// Ten thousand bytes of everything that a terminal hands on as pasted: letters that are keys, line
/// ends, control characters, escape sequences.
fn junk() -> String {
    let pieces = [
        "q",
        "py",
        "4e",
        "s\r",
        "y\r\n",
        "\x03",
        "\x1a",
        "\x1b[A",
        "\x1b]0;title\x07",
        "\x1b",
        "ä",
        "デ",
        "\u{9b}5n",
        "?",
    ];
    pieces
        .iter()
        .cycle()
        .take(5000)
        .copied()
        .collect::<String>()
}

fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[test]
fn a_paste_is_no_keys() {
    let data = memory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("recommended");
    assert!(junk().len() > 10_000);
    pty.press(&pasted(&junk()));
    let shown = pty.until_shown("pasted text is ignored outside text fields");
    assert!(shown.contains("Fix first"), "{shown}");
    // A question is not answered by it either.
    pty.press("p");
    pty.until_shown("y start");
    pty.press(&pasted("y\r"));
    pty.until_shown("pasted text is ignored outside text fields");
    pty.press("n");
    pty.until_gone("y start");
    pty.assert_untouched("nothing was confirmed");
    pty.press("q");
    pty.ends(0);
}

/// Where a name is asked for it is what was typed, in one line.
#[test]
fn a_paste_is_typed_where_text_is_typed() {
    let place = directory();
    let host = capture("ext4-nobarrier.host");
    let mut pty = Pty::walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
    pty.until_shown("Fix first");
    pty.press("?");
    pty.until_shown("type to filter");
    pty.press(&pasted("redraw\r \x07the\r"));
    pty.until_shown("redraw the screen");
    pty.press("\x1b");
    pty.until_gone("redraw the screen");
    pty.press("w");
    pty.until_shown("which fact?");
    pty.press(&pasted("kernel.rel"));
    pty.until_shown("/ kernel.rel_");
    pty.press("\x1b");
    pty.until_gone("kernel.rel_");
    pty.press("2");
    pty.until_shown("from the target down");
    pty.press("/");
    pty.until_shown("esc clears");
    pty.press(&pasted("mount.\nfstype"));
    pty.until_shown("/ mount.fstype_");
    pty.press(&pasted(&junk()));
    pty.until_gone("/ mount.fstype_");
    pty.press("\x1b");
    pty.until_gone("esc clears");
    pty.press("es");
    pty.until_shown("Save as text");
    pty.press("\x15");
    pty.press(&pasted("pasted.\ntxt"));
    pty.press("\r");
    pty.until_shown("saved: ");
    pty.asked_for(&place.path().join("pasted.txt"));
    assert!(place.path().join("pasted.txt").exists());
    pty.press("q");
    pty.ends(0);
}

/// Terminals that do not mark a paste hand it on as keys. It may do what keys do; it may not do
/// harm.
#[test]
fn junk_that_no_terminal_marked_is_survived() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Fix first");
    // No key that leaves, measures or saves is in it.
    let pieces = [
        "jjkG",
        "\x1b[B",
        "\x1b[999;999;999~",
        "\x1b]0;jk\x07",
        "\x1bOP",
        "äデ",
        "\x1b[<35;4;4M",
        "\x1b[M !!",
        "\x02",
        "\x1b[1;5D",
        "12345",
        "\x1b[I",
        "\x1b[?1;2c",
        "g\t",
        "\x1b[<0;300;200M",
    ];
    let junk: Vec<&str> = pieces.iter().cycle().take(3000).copied().collect();
    // A terminal that is full hands a key on in halves, which are other keys: so wait until all of
    // it was taken.
    for whole in junk.chunks(25 * pieces.len()) {
        for piece in whole.chunks(50) {
            pty.press(&piece.concat());
        }
        pty.press("?");
        pty.until_shown("type to filter");
        pty.press("\x1b");
        pty.until_gone("type to filter");
    }
    pty.press("5");
    pty.until_shown("enter more");
    pty.press("?");
    pty.until_shown("type to filter");
    pty.press("zq7");
    pty.until_shown("/ zq7_");
    pty.press("\x03");
    pty.ends(130);
}

/// Reads nothing more and has large pictures drawn until the program cannot get rid of them.
fn until_stuck(pty: &mut Pty) {
    pty.hold(true);
    pty.resize_unseen(300, 100);
    wait_for("the output is stuck", || {
        pty.press("\x0c");
        pty.is_stuck()
    });
}

/// A terminal that takes no output, over a line that hangs, keeps nobody: a signal ends the
/// program, and what is on disk goes.
#[test]
fn a_terminal_that_reads_nothing_keeps_nobody() {
    for during_a_probe in [false, true] {
        let data = memory();
        let mut pty = if during_a_probe {
            probing(data.path())
        } else {
            Pty::walwise(&[path(&data)])
        };
        pty.until_shown("q quit");
        until_stuck(&mut pty);
        pty.signal(Signal::SIGTERM);
        pty.ends_unread(143);
    }
}

/// One that is only slow gets everything in the end.
#[test]
fn a_terminal_that_reads_late_misses_nothing() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Fix first");
    until_stuck(&mut pty);
    pty.resize_unseen(80, 24);
    pty.press("4");
    pty.hold(false);
    pty.until_shown("in order of application");
    pty.press("q");
    pty.ends(0);
}

/// Input that is typed fast, or over a slow line, arrives at once: Escape and the following key
/// remain two keys.
#[test]
fn escape_and_what_follows_at_once_are_both_taken() {
    let place = directory();
    std::fs::write(place.path().join("there.txt"), "").unwrap();
    let host = capture("ext4-nobarrier.host");
    let mut pty = Pty::walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
    pty.until_shown("Fix first");
    for keys in ["\x1b\x1b", "\x1b1", "\x1bq"] {
        pty.press("es");
        pty.until_shown("Save as text");
        pty.press("\x15there.txt\r");
        pty.until_shown("Replace it?");
        pty.press(keys);
        if keys.ends_with('1') {
            pty.until_shown("Fix first");
        } else if !keys.ends_with('q') {
            pty.until_gone("Replace it?");
        }
    }
    pty.ends(0);
}

/// Places where text is typed, by the keys that lead there and what is shown then; the first takes
/// none.
const PLACES: [(&str, &str); 6] = [
    ("", "Fix first"),
    ("2/", "esc clears"),
    ("?", "type to filter"),
    ("w", "which fact?"),
    ("es", "Save as text"),
    ("t", "Targets, worst first"),
];

/// However much is pasted, wherever, marked or not: Ctrl-C behind it ends the program at once. The
/// figure is printed.
#[test]
fn ctrl_c_passes_a_paste_of_a_megabyte() {
    let host = capture("real-loop-xfs.host");
    let much = "jk \u{202e}".repeat((1 << 20) / 6);
    for (keys, shown) in PLACES {
        for (begin, end) in [("\x1b[200~", "\x1b[201~"), ("\x1b[200~", ""), ("", "")] {
            let place = directory();
            let mut pty = Pty::walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
            pty.until_shown("Fix first");
            pty.press(keys);
            pty.until_shown(shown);
            let begun = Instant::now();
            pty.press(&[begin, &much, end].concat());
            pty.press("\x03");
            pty.ends(130);
            let all = begun.elapsed();
            assert!(all < Duration::from_secs(30), "{shown}, {begin:?}: {all:?}");
            assert!(
                !pty.written().contains('\u{202e}'),
                "{shown}: what is hostile is drawn"
            );
            assert!(
                pty.largest() < 150 << 20,
                "{shown}, {begin:?}: {} bytes",
                pty.largest()
            );
        }
    }
}

/// What terminals hand on as keys is typed as fast as what they mark, up to what a field holds.
#[test]
fn a_text_field_holds_so_much_and_says_so() {
    let place = directory();
    let host = capture("real-loop-xfs.host");
    let mut pty = Pty::walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
    pty.until_shown("Fix first");
    for (keys, shown) in &PLACES[1..] {
        for text in ["x".repeat(10_000), pasted(&"デ".repeat(10_000))] {
            pty.press(keys);
            pty.until_shown(shown);
            pty.press(&text);
            pty.until_shown("limited to 500 characters");
            pty.press("\x15");
            pty.until_gone("limited to 500 characters");
            pty.press("\x1b");
            pty.until_gone(shown);
            pty.press("1");
            pty.until_shown("Fix first");
        }
    }
    pty.press("q");
    pty.ends(0);
}
