//! Kinds of terminals: with few colours, with none, without a cursor, and without answers to
//! queries.

use super::{memory, path, start_probe};
use crate::support::pty::Pty;

/// Every screen, a probe, the help, and out.
fn tour(variables: &[(&str, &str)]) -> String {
    let data = memory();
    let mut pty = Pty::walwise_in(data.path(), variables, &[path(&data)]);
    start_probe(&mut pty);
    pty.until_shown("rounds in");
    for (key, shown) in [
        ("2", "from the target down"),
        ("4", "in order of"),
        ("5", "enter more"),
        ("6", "same output"),
    ] {
        pty.press(key);
        pty.until_shown(shown);
    }
    pty.press("?");
    pty.until_shown("type to filter");
    pty.press("\x1b");
    pty.until_gone("type to filter");
    pty.press("1");
    pty.until_shown("Fix first");
    pty.press("q");
    pty.ends(0);
    pty.written()
}

/// The parameters of every sequence that sets colours or emphasis.
fn styles(written: &str) -> Vec<String> {
    let sequences = written.split("\x1b[").skip(1);
    let parameters = sequences.filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        rest[end..].starts_with('m').then(|| &rest[..end])
    });
    parameters.map(str::to_owned).collect()
}

/// On a terminal of sixteen colours, or eight, nothing is written with a number that it does not
/// know.
#[test]
fn terminals_of_few_colours_get_no_others() {
    for term in [
        "linux",
        "xterm-16color",
        "xterm",
        "vt220",
        "screen",
        "xterm-256color",
    ] {
        let written = tour(&[("TERM", term), ("COLORTERM", "truecolor")]);
        let styles = styles(&written);
        assert!(
            styles.iter().any(|style| style.contains("36")),
            "{term} has colours"
        );
        for style in styles {
            for number in style.split(';') {
                let number: u32 = number.parse().unwrap_or(99);
                assert!(
                    [0, 1, 2, 4, 7].contains(&number) || (30..=37).contains(&number),
                    "{term}: {style}"
                );
            }
        }
        for question in [
            "\x1b[6n", "\x1b[5n", "\x1b[c", "\x1b[>", "\x1b[?u", "\x1b[18t", "$p", ";?\x1b",
            ";?\x07",
        ] {
            assert!(!written.contains(question), "{term} is asked {question:?}");
        }
    }
}

#[test]
fn without_colours_a_whole_tour_has_none() {
    for style in styles(&tour(&[("NO_COLOR", "1")])) {
        for number in style.split(';') {
            assert!(
                ["0", "1", "2", "4", "7"].contains(&number),
                "a colour: {style}"
            );
        }
    }
}
