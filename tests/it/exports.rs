//! Journeys to a saved report: by keys, by the mouse alone, on terminals that answer nothing, have
//! few colours or none, or only ASCII. The saved report equals the output of `walwise check`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use walwise_report::Format;

use crate::support::deadline::CommandInTime as _;
use crate::support::pty::Pty;
use crate::support::{names, stdout, walwise};

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(name)
}

/// The screens on a capture with a database at risk, in an empty directory.
fn screens(place: &Path, variables: &[(&str, &str)], options: &[&str]) -> Pty {
    let host = capture("ext4-nobarrier.host");
    let mut arguments = vec!["--host", host.to_str().unwrap()];
    arguments.extend(options);
    let pty = Pty::walwise_in(place, variables, &arguments);
    pty.until_shown("Fix first");
    pty
}

/// The only file in a directory.
fn only_file(place: &Path) -> PathBuf {
    let names = names(place);
    assert_eq!(names.len(), 1, "{names:?}");
    place.join(&names[0])
}

/// The output of `walwise check` for the same capture.
fn printed(format: &str) -> String {
    let host = capture("ext4-nobarrier.host");
    stdout(
        &walwise()
            .args(["check", "--format", format, "--host"])
            .arg(host)
            .output_in_time(),
    )
}

/// The same in full; only the text has a short form.
fn printed_whole(format: Format) -> String {
    match format {
        Format::Text => {
            let host = capture("ext4-nobarrier.host");
            stdout(
                &walwise()
                    .args(["check", "-v", "--host"])
                    .arg(host)
                    .output_in_time(),
            )
        }
        other => printed(other.name()),
    }
}

/// A time, with zeros for digits.
const SHAPE: &str = "0000-00-00T00:00:00Z";

/// Without the time at which it was made.
fn timeless(document: &str) -> String {
    let untimed = |line: &str| {
        let run = "walwise_last_run_timestamp_seconds ";
        if line.starts_with(run) {
            format!("{run}NOW\n")
        } else {
            line.to_owned()
        }
    };
    let document: String = document.split_inclusive('\n').map(untimed).collect();
    // Wherever it stands: in HTML a tag follows without a blank.
    let (mut out, mut rest) = (String::new(), document.as_str());
    while let Some(next) = rest.chars().next() {
        let time = rest.get(..SHAPE.len()).filter(|word| {
            word.chars()
                .map(|c| if c.is_ascii_digit() { '0' } else { c })
                .eq(SHAPE.chars())
        });
        let (says, length) = if time.is_some() {
            ("NOW", SHAPE.len())
        } else {
            ("", next.len_utf8())
        };
        out.push_str(if says.is_empty() {
            &rest[..length]
        } else {
            says
        });
        rest = &rest[length..];
    }
    out
}

/// Without what is blank at the ends of lines.
fn trimmed(screen: &str) -> String {
    screen
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn every_form_is_saved_as_check_prints_it() {
    let place = tempfile::tempdir().unwrap();
    let mut pty = screens(place.path(), &[], &[]);
    pty.press("e");
    pty.until_shown("Nothing is written until you confirm with s");
    let mut before: Vec<String> = Vec::new();
    for form in Format::ALL {
        let (format, extension) = (form.name(), form.extension());
        pty.press("s");
        pty.until_shown(&format!("Save as {format}"));
        assert_eq!(
            names(place.path()),
            before,
            "nothing is written before it was answered"
        );
        pty.press("\r");
        pty.until("it says where", |screen| {
            let shown = screen.contents().replace('\n', "");
            shown.contains("saved: ")
                && shown.contains(&format!(".{extension}"))
                && !shown.contains("Save as")
        });
        let new: Vec<String> = names(place.path())
            .into_iter()
            .filter(|name| !before.contains(name))
            .collect();
        let [name] = &new[..] else { panic!("{new:?}") };
        assert!(
            name.starts_with("walwise-") && name.ends_with(&format!(".{extension}")),
            "{name}"
        );
        let saved = fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(timeless(&saved), timeless(&printed_whole(form)), "{format}");
        pty.asked_for(&place.path().join(name));
        before = names(place.path());
        pty.press("j");
    }
    pty.press("q");
    pty.ends(0);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A file as anybody makes it.
fn fresh(place: &Path) -> PathBuf {
    let path = place.join("fresh");
    fs::write(&path, "").unwrap();
    path
}

#[test]
fn a_file_that_exists_is_replaced_only_after_a_question() {
    let place = tempfile::tempdir().unwrap();
    let mine = place.path().join("mine.md");
    fs::write(&mine, "mine").unwrap();
    fs::set_permissions(&mine, fs::Permissions::from_mode(0o640)).unwrap();
    let mut pty = screens(place.path(), &[], &[]);
    let down = Format::ALL
        .iter()
        .position(|form| *form == Format::Markdown)
        .unwrap();
    pty.press(&format!("e{}s", "j".repeat(down)));
    pty.until_shown("Save as markdown");
    pty.press("\x15mine.md\r");
    pty.until_shown("Replace it?");
    pty.press("\x1b");
    pty.until_gone("Replace it?");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    pty.press("s");
    pty.until_shown("Save as markdown");
    pty.press("\x15mine.md\r");
    pty.until_shown("Replace it?");
    pty.press("y");
    pty.until_shown("saved: ");
    assert_eq!(
        timeless(&fs::read_to_string(&mine).unwrap()),
        timeless(&printed("markdown"))
    );
    // It is a new file, of which nothing is as it was.
    let usual = if nix::unistd::geteuid().is_root() {
        0o600
    } else {
        mode(&fresh(place.path()))
    };
    assert_eq!(mode(&mine), usual);
    // What is wrong is said, and the name is kept.
    for (name, said) in [
        ("no/such/place.md", "No such file or directory"),
        (".", "name a file, not a directory"),
        ("/dev/null", "name a regular file"),
        (place.path().to_str().unwrap(), "a directory"),
    ] {
        pty.press("s");
        pty.until_shown("Save as markdown");
        pty.press(&format!("\x15{name}\r"));
        // It goes on in the next line of the frame, beside which the list behind may have its mark.
        let words = |text: String| {
            text.replace(['│', '▸'], " ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        pty.until("the reason", |screen| {
            words(screen.contents()).contains(said)
        });
        pty.press("\x1b");
        pty.until_gone("Save as markdown");
    }
    pty.asked_for(&mine);
    pty.press("q");
    pty.ends(0);
}

/// From the start to a saved report without any key except those of the file's name.
#[test]
fn the_mouse_alone_exports_and_can_be_freed() {
    let place = tempfile::tempdir().unwrap();
    let mut pty = screens(place.path(), &[], &[]);
    pty.click("critical");
    pty.click("critical");
    pty.until_shown("enter close");
    pty.click("6 Export");
    pty.until_shown("Nothing is written");
    pty.click("json");
    pty.until_shown("▸ json");
    pty.click("json");
    pty.until_shown("\"schema\":");
    pty.press("\x1b[<65;10;10M");
    pty.until_gone("Export   same output");
    pty.press("\x1b[<64;10;10M");
    pty.until_shown("Export   same output");
    // The wheel chose the line above when it came to the top.
    pty.click("json");
    pty.click("? help");
    pty.until_shown("type to filter");
    pty.click("save the document");
    pty.until_shown("Save as json");
    pty.click("enter save");
    pty.until_shown("saved: ");
    let file = only_file(place.path());
    assert_eq!(
        timeless(&fs::read_to_string(&file).unwrap()),
        timeless(&printed("json"))
    );
    pty.asked_for(&file);
    pty.press("m");
    pty.until("the mouse is free", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    });
    pty.press("m");
    pty.until("the mouse is back", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
    });
    pty.click("q quit");
    pty.ends(0);
}

/// Answers, which not every terminal gives, are never waited for: nothing that asks for one is
/// sent.
#[test]
fn nothing_is_asked_of_the_terminal() {
    let place = tempfile::tempdir().unwrap();
    let mut pty = screens(place.path(), &[], &[]);
    pty.press("e\ry");
    pty.until_shown("walwise");
    pty.press("s\r");
    pty.until_shown("saved: ");
    pty.asked_for(&only_file(place.path()));
    pty.press("q");
    pty.ends(0);
    let written = pty.written();
    for question in [
        "\x1b[6n", "\x1b[5n", "\x1b[c", "\x1b[0c", "\x1b[>", "\x1b[=", "\x1b[?u", "\x1b[18t", "$p",
        "\x1bP+q", ";?\x1b", ";?\x07",
    ] {
        assert!(!written.contains(question), "{question:?}");
    }
}

/// The text on the screen of the overview, without what colours and marks may do.
fn overview(variables: &[(&str, &str)], options: &[&str]) -> (String, String) {
    let place = tempfile::tempdir().unwrap();
    let mut pty = screens(place.path(), variables, options);
    let shown = pty.until("all is read", |screen| {
        screen.contents().contains("recommended")
    });
    pty.press("q");
    pty.ends(0);
    (shown, pty.written())
}

#[test]
fn without_colours_the_same_words_are_there() {
    let (rich, coloured) = overview(&[], &[]);
    // As a terminal of sixteen colours knows them, which takes the numbers of 256 for blinking.
    assert!(
        coloured.contains(";36m") && !coloured.contains("38;5;"),
        "{coloured:?}"
    );
    let (plain, written) = overview(&[("NO_COLOR", "1")], &[]);
    assert_eq!(trimmed(&rich), trimmed(&plain));
    let parameters = written.split("\x1b[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        rest[end..].starts_with('m').then(|| rest[..end].to_owned())
    });
    for parameter in
        parameters.flat_map(|all| all.split(';').map(str::to_owned).collect::<Vec<_>>())
    {
        let number: u32 = parameter.parse().unwrap_or(0);
        assert!(
            number < 30 || number == 39 || number == 49 || number == 59,
            "a colour: {number}"
        );
    }
}

#[test]
fn ascii_has_the_same_words() {
    let (rich, _) = overview(&[], &[]);
    for (variables, options) in [
        (&[][..], &["--ascii"][..]),
        (&[("LC_ALL", "C")][..], &[][..]),
    ] {
        let (ascii, written) = overview(variables, options);
        assert!(written.is_ascii(), "{ascii}");
        let words = |text: &str| {
            let word = |word: &&str| {
                word.chars()
                    .all(|c| c.is_ascii_alphanumeric() || ",.".contains(c))
            };
            let text = text
                .replace('µ', "u")
                .replace('×', "x")
                .replace('↓', "v")
                .replace('✗', "X");
            text.split_whitespace()
                .filter(word)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&rich), words(&ascii));
    }
}

#[test]
fn a_terminal_without_a_cursor_gets_the_report_as_text() {
    let place = tempfile::tempdir().unwrap();
    let host = capture("ext4-nobarrier.host");
    let mut pty = Pty::walwise_in(
        place.path(),
        &[("TERM", "dumb")],
        &["--host", host.to_str().unwrap()],
    );
    pty.ends(0);
    let written = pty.written().replace("\r\n", "\n");
    let (said, report) = written.split_once('\n').unwrap();
    assert!(said.contains("TERM=dumb"), "{said}");
    assert!(!report.contains('\x1b'), "{report}");
    assert_eq!(timeless(report), timeless(&printed("text")));
}

/// A server of tmux, ended with the test.
struct Tmux(PathBuf);

impl Drop for Tmux {
    fn drop(&mut self) {
        // It has usually ended with its only window.
        Command::new("tmux")
            .arg("-S")
            .arg(&self.0)
            .arg("kill-server")
            .output_in_time();
    }
}

/// Copied text arrives at the terminal around tmux, whichever of its two settings allows it.
#[test]
#[ignore = "needs tmux"]
fn copying_goes_through_tmux() {
    for setting in ["set -g set-clipboard on", "set -g allow-passthrough on"] {
        let place = tempfile::tempdir().unwrap();
        let server = Tmux(place.path().join("socket"));
        let config = place.path().join("tmux.conf");
        fs::write(&config, format!("{setting}\nset -g exit-empty on\n")).unwrap();
        let host = capture("ext4-nobarrier.host");
        let command = format!(
            "{} --host {}",
            env!("CARGO_BIN_EXE_walwise"),
            host.display()
        );
        let (socket, config) = (server.0.to_str().unwrap(), config.to_str().unwrap());
        let mut pty = Pty::program_in(
            place.path(),
            &[],
            "tmux",
            &["-u", "-S", socket, "-f", config, "new", &command],
        );
        pty.until_shown("Fix first");
        pty.press("e\r");
        pty.until("the document", |screen| {
            screen.contents().contains("▾ text") && screen.contents().contains("AT RISK:")
        });
        pty.press("y");
        pty.until_shown("clipboard");
        pty.press("q");
        pty.ends(0);
        assert!(
            pty.written().contains("\x1b]52;"),
            "{setting}: {:?}",
            pty.written()
        );
    }
}
