//! Terminal types: with few colours or none, without cursor addressing, and without answers to
//! queries.

use super::{directory_in_memory, path_str, start_probe};
use crate::support::pty::Pty;

fn visit_all_screens(variables: &[(&str, &str)]) -> String {
    let data = directory_in_memory();
    let mut pty = Pty::start_walwise_in(data.path(), variables, &[path_str(&data)]);
    start_probe(&mut pty);
    pty.wait_for_text("rounds in");
    for (key, shown) in [
        ("2", "from the target down"),
        ("4", "in order of"),
        ("5", "enter details"),
        ("6", "same output"),
    ] {
        pty.press(key);
        pty.wait_for_text(shown);
    }
    pty.press("?");
    pty.wait_for_text("type to filter");
    pty.press("\x1b");
    pty.wait_for_text_gone("type to filter");
    pty.press("1");
    pty.wait_for_text("Fix first");
    pty.press("q");
    pty.assert_ends_clean(0);
    pty.all_output()
}

fn sgr_parameters(written: &str) -> Vec<String> {
    let sequences = written.split("\x1b[").skip(1);
    let parameters = sequences.filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        rest[end..].starts_with('m').then(|| &rest[..end])
    });
    parameters.map(str::to_owned).collect()
}

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
        let written = visit_all_screens(&[("TERM", term), ("COLORTERM", "truecolor")]);
        let styles = sgr_parameters(&written);
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
fn no_color_emits_no_colour_sequences() {
    for style in sgr_parameters(&visit_all_screens(&[("NO_COLOR", "1")])) {
        for number in style.split(';') {
            assert!(
                ["0", "1", "2", "4", "7"].contains(&number),
                "a colour: {style}"
            );
        }
    }
}
