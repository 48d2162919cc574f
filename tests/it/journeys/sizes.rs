//! Terminals that change their size at any moment.

use super::{capture, directory, help_and_back, memory, path, probing};
use crate::support::deadline::wait_for;
use crate::support::pty::Pty;

#[test]
fn a_size_is_followed() {
    let data = directory();
    let mut pty = Pty::walwise(&[path(&data)]);
    pty.until_shown("Fix first");
    pty.resize(120, 40);
    pty.until("the last row has the keys", |screen| {
        screen
            .rows(0, 120)
            .nth(39)
            .is_some_and(|row| row.contains("q quit"))
    });
    pty.resize(50, 10);
    pty.until_shown("needs 60×15, this is 50×10");
    // Typed at the very moment of a change: neither may be lost.
    pty.resize(100, 30);
    pty.press("4");
    pty.until_shown("in order of application");
    pty.until("the last row has the keys", |screen| {
        screen
            .rows(0, 100)
            .nth(29)
            .is_some_and(|row| row.contains("q quit"))
    });
    pty.press("1");
    pty.resize(80, 24);
    pty.until_shown("Fix first");
    pty.press("q");
    pty.ends(0);
}

/// Numbers that are the same in every run.
fn next(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

/// Hundreds of sizes while a probe runs and keys arrive, faster than anything can be drawn; the
/// final screen equals a complete redraw.
#[test]
fn a_storm_of_sizes_ends_in_the_picture_that_is_drawn_anew() {
    let data = memory();
    let mut pty = probing(data.path());
    let mut state = 0x2f6e_2b1d;
    let keys = [
        "1", "2", "3", "4", "5", "6", "j", "k", "G", "g", " ", "\t", "x", "\x1b[B", "\x1b[A", "m",
        "t",
    ];
    for round in 0..600_u32 {
        let [width, height] =
            [300, 100].map(|most| u16::try_from(next(&mut state) % most + 1).unwrap());
        // Not the last one before its time.
        let (width, height) = if round % 100 == 0 || height == 24 {
            (1, 1)
        } else {
            (width, height)
        };
        pty.resize_unseen(width, height);
        if round % 3 == 0 {
            pty.press(keys[next(&mut state) as usize % keys.len()]);
        }
    }
    pty.resize_unseen(80, 24);
    let name = &path(&data)[path(&data).len() - 4..];
    pty.press("3");
    pty.until("the end of the probe, drawn for 80×24", |screen| {
        let row = |at| screen.rows(0, 80).nth(at).unwrap_or_default();
        let status = row(22);
        screen.contents().contains("rounds in")
            && row(1).trim_end().ends_with(name)
            && (status.starts_with('─') && status.ends_with('─'))
            && row(23).contains("q quit")
    });
    pty.press("2");
    pty.until_gone("rounds in");
    // Clears the screen and draws it.
    pty.press("\x0c");
    // Seen to be drawn, by what comes after it and goes again.
    help_and_back(&mut pty);
    pty.press("q");
    pty.ends(0);
    let written = pty.written();
    let (drawn, _) = written.rsplit_once("\x1b[?1049l").unwrap();
    let (before, _) = drawn.rsplit_once("\x1b[2J").unwrap();
    let [before, after] = [before, drawn].map(picture);
    assert_eq!(before, after);
}

/// Any number of columns and rows: a picture is drawn, and the memory for it is bounded.
#[test]
fn any_size_is_drawn_in_bounded_memory() {
    let host = capture("real-loop-xfs.host");
    let mut pty = Pty::walwise(&["--host", host.to_str().unwrap()]);
    pty.until_shown("Fix first");
    let mut sizes: Vec<(u16, u16)> = vec![
        (0, 0),
        (1, 1),
        (65_535, 1),
        (1, 65_535),
        (30_000, 30_000),
        (65_535, 65_535),
        (0, 65_535),
    ];
    let mut state = 0x51f3_7a2b;
    let mut side = || u16::try_from(next(&mut state) & 0xffff).unwrap();
    sizes.extend((0..10).map(|_| (side(), side())));
    for (width, height) in sizes {
        let drawn = || pty.written().matches("\x1b[2J").count();
        let before = drawn();
        pty.resize_unseen(width, height);
        wait_for(&format!("{width}×{height} is drawn"), || drawn() > before);
    }
    pty.resize_unseen(80, 24);
    pty.press("4");
    pty.until_shown("in order of application");
    pty.press("q");
    pty.ends(0);
    assert!(pty.largest() < 150 << 20, "{} bytes", pty.largest());
}

/// The text on a screen of 80×24 after this was written.
fn picture(written: &str) -> String {
    let mut parser = vt100::Parser::default();
    parser.process(written.as_bytes());
    parser
        .screen()
        .contents()
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}
