use std::panic::{AssertUnwindSafe, catch_unwind};

use super::attack_directory::AttackDirectory;
use super::attempts::Attempts;
use super::support::deadline::becomes_true_in_time;
use super::support::pty::Pty;

const MOST: u64 = 150 << 20;

/// Places where root pastes: the keys that lead there, and the text that the screen then shows.
const PLACES: [(&str, &str); 5] = [
    ("", "Fix first"),
    ("2/", "esc clear"),
    ("?", "type to filter"),
    ("w", "choose a fact"),
    ("es\x15", "Save as text"),
];

/// An attacker's text: keys that measure and save, a terminal title, a write to the clipboard, text
/// in reverse direction, and Ctrl-C.
const HOSTILE: &str = "py\rses\r\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\u{9b}31m\u{9d}0;owned\u{9c}\u{202e}owned\x03\x1a\x1b[A\u{200b}";

const OBEYED: [&str; 5] = ["\x1b]0;", "\x1b]52;", "\u{9b}", "\u{202e}", "\u{200b}"];

fn catch_panic_as_gain(attempt: impl FnOnce() -> Vec<String>) -> Vec<String> {
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        vec![text.unwrap_or_else(|| "a check failed".to_owned())]
    })
}

fn excess_memory(pty: &Pty) -> Option<String> {
    (pty.peak_memory() > MOST).then(|| format!("{} MB of memory", pty.peak_memory() >> 20))
}

/// Root pastes a megabyte. The attacker wants the text to act as keys or terminal sequences, or
/// Ctrl-C to be delayed until the end of the text.
#[test]
#[ignore = "needs root: it measures what root would"]
fn pasted_text_acts_neither_as_keys_nor_sequences() {
    let mut attempts = Attempts::for_attack("a stranger's text that root pastes into the screens");
    let much = HOSTILE.repeat((1 << 20) / HOSTILE.len());
    for (keys, shown) in PLACES {
        for (how, text) in [
            ("once", format!("\x1b[200~{HOSTILE}\x1b[201~")),
            ("a megabyte", format!("\x1b[200~{much}\x1b[201~")),
            (
                "a megabyte without an end",
                format!("\x1b[200~{}", much.replace('\x03', "")),
            ),
        ] {
            let found = catch_panic_as_gain(|| {
                let ground = AttackDirectory::new();
                let directory = ground.create_directory("data", 0o755);
                let mut pty =
                    Pty::start_walwise_in(&directory, &[], &[directory.to_str().unwrap()]);
                pty.wait_for_text("Fix first");
                pty.wait_for_text_gone("reading");
                pty.press(keys);
                pty.wait_for_text(shown);
                pty.press(&text);
                pty.press("\x03");
                pty.assert_ends_clean(130);
                let written = pty.all_output();
                let obeyed = OBEYED.iter().filter(|text| written.contains(**text));
                obeyed
                    .map(|text| format!("{text:?} is written"))
                    .chain(excess_memory(&pty))
                    .collect()
            });
            attempts.record_attempt(&format!("{how}, where {shown:?} is shown"), &found);
        }
    }
    attempts.write_tally_and_assert();
}

/// The emulator reports an extreme terminal size. The attacker wants walwise to panic, or to use
/// too much memory.
#[test]
#[ignore = "needs root: it measures what root would"]
fn any_terminal_size_is_drawn_in_bounded_memory() {
    let mut attempts = Attempts::for_attack("sizes that the other side of a terminal claims");
    let sides = [0, 1, 59, 200, 30_000, 65_535];
    let ground = AttackDirectory::new();
    let directory = ground.create_directory("data", 0o755);
    let mut pty = Pty::start_walwise_in(&directory, &[], &[directory.to_str().unwrap()]);
    pty.wait_for_text("Fix first");
    for (width, height) in sides
        .into_iter()
        .flat_map(|width| sides.map(|height| (width, height)))
    {
        let drawn = || pty.all_output().matches("\x1b[2J").count();
        let before = drawn();
        pty.resize_without_parser(width, height);
        let is_drawn = becomes_true_in_time(|| drawn() > before);
        let gains: Vec<String> = (!is_drawn)
            .then(|| "nothing is drawn".to_owned())
            .into_iter()
            .collect();
        attempts.record_attempt(&format!("{width}×{height}"), &gains);
        if !is_drawn {
            break;
        }
    }
    let end = catch_panic_as_gain(|| {
        pty.press("q");
        pty.assert_ends_clean(0);
        excess_memory(&pty).into_iter().collect()
    });
    attempts.record_attempt("all of them, one after the other", &end);
    attempts.write_tally_and_assert();
}
