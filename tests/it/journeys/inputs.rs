use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{capture_path, data_directory, directory_in_memory, open_and_start_probe, path_str};
use crate::support::pty::Pty;
use crate::support::running::wait_for_condition;

fn junk_input() -> String {
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

fn bracketed_paste(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[test]
fn bracketed_paste_is_not_read_as_keys() {
    let data = directory_in_memory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("recommended");
    assert!(junk_input().len() > 10_000);
    pty.press(&bracketed_paste(&junk_input()));
    let shown = pty.wait_for_text("pasted text was ignored: no text field is open");
    assert!(shown.contains("Fix first"), "{shown}");
    // A paste does not answer a question either.
    pty.press("p");
    pty.wait_for_text("y start");
    pty.press(&bracketed_paste("y\r"));
    pty.wait_for_text("pasted text was ignored: no text field is open");
    pty.press("n");
    pty.wait_for_text_gone("y start");
    pty.assert_directories_untouched("nothing was confirmed");
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn paste_is_inserted_into_text_fields() {
    let place = data_directory();
    let host = capture_path("ext4-nobarrier.host");
    let mut pty = Pty::start_walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
    pty.press("?");
    pty.wait_for_text("type to filter");
    pty.press(&bracketed_paste("redraw\r \x07the\r"));
    pty.wait_for_text("redraw the screen");
    pty.press("\x1b");
    pty.wait_for_text_gone("redraw the screen");
    pty.press("w");
    pty.wait_for_text("choose a fact");
    pty.press(&bracketed_paste("kernel.rel"));
    pty.wait_for_text("/ kernel.rel_");
    pty.press("\x1b");
    pty.wait_for_text_gone("kernel.rel_");
    pty.press("2");
    pty.wait_for_text("from the target down");
    pty.press("/");
    pty.wait_for_text("esc: clear");
    pty.press(&bracketed_paste("mount.\nfstype"));
    pty.wait_for_text("/ mount.fstype_");
    pty.press(&bracketed_paste(&junk_input()));
    pty.wait_for_text_gone("/ mount.fstype_");
    pty.press("\x1b");
    pty.wait_for_text_gone("esc: clear");
    pty.press("es");
    pty.wait_for_text("Save as text");
    pty.press("\x15");
    pty.press(&bracketed_paste("pasted.\ntxt"));
    pty.press("\r");
    pty.wait_for_text("saved: ");
    pty.accept_changed_file(&place.path().join("pasted.txt"));
    assert!(place.path().join("pasted.txt").exists());
    pty.press("q");
    pty.assert_ends_clean(0);
}

/// Terminals without bracketed paste pass a paste on as keys, which act as commands but must do no
/// harm.
#[test]
fn unbracketed_junk_paste_does_no_harm() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    // No piece contains a key that quits, measures or saves.
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
    // A full terminal may cut an escape sequence, whose rest would count as other keys. The test
    // therefore waits until all bytes are read.
    for whole in junk.chunks(25 * pieces.len()) {
        for piece in whole.chunks(50) {
            pty.press(&piece.concat());
        }
        pty.press("?");
        pty.wait_for_text("type to filter");
        pty.press("\x1b");
        pty.wait_for_text_gone("type to filter");
    }
    pty.press("5");
    pty.wait_for_text("enter details");
    pty.press("?");
    pty.wait_for_text("type to filter");
    pty.press("zq7");
    pty.wait_for_text("/ zq7_");
    pty.press("\x03");
    pty.assert_ends_clean(130);
}

fn block_terminal_output(pty: &mut Pty) {
    pty.set_output_held(true);
    pty.resize_without_parser(300, 100);
    wait_for_condition("the output is stuck", || {
        pty.press("\x0c");
        pty.is_blocked_writing()
    });
}

#[test]
fn blocked_terminal_output_does_not_prevent_sigterm_exit() {
    for during_a_probe in [false, true] {
        let data = directory_in_memory();
        let mut pty = if during_a_probe {
            open_and_start_probe(data.path())
        } else {
            Pty::start_walwise(&[path_str(&data)])
        };
        pty.wait_for_text("q quit");
        block_terminal_output(&mut pty);
        pty.signal(Signal::SIGTERM);
        pty.assert_exit_with_unread_output(143);
    }
}

#[test]
fn late_terminal_reads_get_the_current_screen() {
    let data = data_directory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    block_terminal_output(&mut pty);
    pty.resize_without_parser(80, 24);
    pty.press("4");
    pty.set_output_held(false);
    pty.wait_for_text("in order of application");
    pty.press("q");
    pty.assert_ends_clean(0);
}

/// Fast typing or a slow line delivers Escape and the next key together; they must stay two keys.
#[test]
fn escape_followed_by_a_key_counts_as_two_keys() {
    let place = data_directory();
    std::fs::write(place.path().join("there.txt"), "").unwrap();
    let host = capture_path("ext4-nobarrier.host");
    let mut pty = Pty::start_walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
    for keys in ["\x1b\x1b", "\x1b1", "\x1bq"] {
        pty.press("es");
        pty.wait_for_text("Save as text");
        pty.press("\x15there.txt\r");
        pty.wait_for_text("Replace it?");
        pty.press(keys);
        if keys.ends_with('1') {
            pty.wait_for_text("Fix first");
        } else if !keys.ends_with('q') {
            pty.wait_for_text_gone("Replace it?");
        }
    }
    pty.assert_ends_clean(0);
}

/// Text fields: the keys that open each, and the text shown then. The first entry opens no field.
const PLACES: [(&str, &str); 6] = [
    ("", "Fix first"),
    ("2/", "esc: clear"),
    ("?", "type to filter"),
    ("w", "choose a fact"),
    ("es", "Save as text"),
    ("t", "Targets, worst first"),
];

#[test]
fn ctrl_c_ends_during_a_megabyte_paste() {
    let host = capture_path("real-loop-xfs.host");
    let much = "jk \u{202e}".repeat((1 << 20) / 6);
    for (keys, shown) in PLACES {
        for (begin, end) in [("\x1b[200~", "\x1b[201~"), ("\x1b[200~", ""), ("", "")] {
            let place = data_directory();
            let mut pty =
                Pty::start_walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
            pty.wait_for_text("Fix first");
            pty.press(keys);
            pty.wait_for_text(shown);
            let begun = Instant::now();
            pty.press(&[begin, &much, end].concat());
            pty.press("\x03");
            pty.assert_ends_clean(130);
            let all = begun.elapsed();
            assert!(all < Duration::from_secs(30), "{shown}, {begin:?}: {all:?}");
            assert!(
                !pty.all_output().contains('\u{202e}'),
                "{shown}: what is hostile is drawn"
            );
            assert!(
                pty.peak_memory() < 150 << 20,
                "{shown}, {begin:?}: {} bytes",
                pty.peak_memory()
            );
        }
    }
}

/// Keys of an unbracketed paste are typed as fast as a bracketed one, up to the length limit of a
/// field.
#[test]
fn text_fields_limit_their_length_and_report_it() {
    let place = data_directory();
    let host = capture_path("real-loop-xfs.host");
    let mut pty = Pty::start_walwise_in(place.path(), &[], &["--host", host.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
    for (keys, shown) in &PLACES[1..] {
        for text in ["x".repeat(10_000), bracketed_paste(&"デ".repeat(10_000))] {
            pty.press(keys);
            pty.wait_for_text(shown);
            pty.press(&text);
            pty.wait_for_text("limited to 500 characters");
            pty.press("\x15");
            pty.wait_for_text_gone("limited to 500 characters");
            pty.press("\x1b");
            pty.wait_for_text_gone(shown);
            pty.press("1");
            pty.wait_for_text("Fix first");
        }
    }
    pty.press("q");
    pty.assert_ends_clean(0);
}
