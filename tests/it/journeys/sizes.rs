use super::{
    capture_path, data_directory, directory_in_memory, open_and_close_help, open_and_start_probe,
    path_str,
};
use crate::support::deadline::wait_for_condition;
use crate::support::pty::Pty;

#[test]
fn screens_follow_terminal_resizes() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    pty.resize(120, 40);
    pty.wait_until("the last row has the keys", |screen| {
        screen
            .rows(0, 120)
            .nth(39)
            .is_some_and(|row| row.contains("q quit"))
    });
    pty.resize(50, 10);
    pty.wait_for_text("needs 60×15; this terminal has 50×10");
    // Keys are typed during the resize; neither a key nor the resize may be lost.
    pty.resize(100, 30);
    pty.press("4");
    pty.wait_for_text("in order of application");
    pty.wait_until("the last row has the keys", |screen| {
        screen
            .rows(0, 100)
            .nth(29)
            .is_some_and(|row| row.contains("q quit"))
    });
    pty.press("1");
    pty.resize(80, 24);
    pty.wait_for_text("Fix first");
    pty.press("q");
    pty.assert_ends_clean(0);
}

fn next_pseudo_random(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

#[test]
fn rapid_resizes_end_in_the_screen_of_a_full_redraw() {
    let data = directory_in_memory();
    let mut pty = open_and_start_probe(data.path());
    let mut state = 0x2f6e_2b1d;
    let keys = [
        "1", "2", "3", "4", "5", "6", "j", "k", "G", "g", " ", "\t", "x", "\x1b[B", "\x1b[A", "m",
        "t",
    ];
    for round in 0..600_u32 {
        let [width, height] = [300, 100]
            .map(|most| u16::try_from(next_pseudo_random(&mut state) % most + 1).unwrap());
        // The final size must not occur earlier.
        let (width, height) = if round % 100 == 0 || height == 24 {
            (1, 1)
        } else {
            (width, height)
        };
        pty.resize_without_parser(width, height);
        if round % 3 == 0 {
            pty.press(keys[next_pseudo_random(&mut state) as usize % keys.len()]);
        }
    }
    pty.resize_without_parser(80, 24);
    let name = &path_str(&data)[path_str(&data).len() - 4..];
    pty.press("3");
    pty.wait_until("the end of the probe, drawn for 80×24", |screen| {
        let row = |at| screen.rows(0, 80).nth(at).unwrap_or_default();
        let status = row(22);
        screen.contents().contains("rounds in")
            && row(0).trim_end().ends_with(name)
            && (status.starts_with('─') && status.ends_with('─'))
            && row(23).contains("q quit")
    });
    pty.press("2");
    pty.wait_for_text_gone("rounds in");
    // Ctrl-L clears and redraws the screen.
    pty.press("\x0c");
    // Opening and closing the help proves that the redraw is done.
    open_and_close_help(&mut pty);
    pty.press("q");
    pty.assert_ends_clean(0);
    let written = pty.all_output();
    let (drawn, _) = written.rsplit_once("\x1b[?1049l").unwrap();
    let (before, _) = drawn.rsplit_once("\x1b[2J").unwrap();
    let [before, after] = [before, drawn].map(screen_text);
    assert_eq!(before, after);
}

#[test]
fn any_size_is_drawn_in_bounded_memory() {
    let host = capture_path("real-loop-xfs.host");
    let mut pty = Pty::start_walwise(&["--host", host.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
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
    let mut side = || u16::try_from(next_pseudo_random(&mut state) & 0xffff).unwrap();
    sizes.extend((0..10).map(|_| (side(), side())));
    for (width, height) in sizes {
        let drawn = || pty.all_output().matches("\x1b[2J").count();
        let before = drawn();
        pty.resize_without_parser(width, height);
        wait_for_condition(&format!("{width}×{height} is drawn"), || drawn() > before);
    }
    pty.resize_without_parser(80, 24);
    pty.press("4");
    pty.wait_for_text("in order of application");
    pty.press("q");
    pty.assert_ends_clean(0);
    assert!(pty.peak_memory() < 150 << 20, "{} bytes", pty.peak_memory());
}

fn screen_text(written: &str) -> String {
    let mut parser = vt100::Parser::default();
    parser.process(written.as_bytes());
    parser
        .screen()
        .contents()
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}
