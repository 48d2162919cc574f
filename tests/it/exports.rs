//! Exports from the screens: by keys, by mouse, and on terminals without answers, without colours,
//! or with ASCII only. The saved report equals the output of `walwise check`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use walwise_model::facts::Choice as _;
use walwise_report::Format;

use crate::support::deadline::CommandInTime as _;
use crate::support::pty::Pty;
use crate::support::{sorted_file_names, stdout, walwise};

fn capture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(name)
}

fn open_screens(place: &Path, variables: &[(&str, &str)], options: &[&str]) -> Pty {
    let host = capture_path("ext4-nobarrier.host");
    let mut arguments = vec!["--host", host.to_str().unwrap()];
    arguments.extend(options);
    let pty = Pty::start_walwise_in(place, variables, &arguments);
    pty.wait_for_text("Fix first");
    pty
}

fn only_file_in(place: &Path) -> PathBuf {
    let names = sorted_file_names(place);
    assert_eq!(names.len(), 1, "{names:?}");
    place.join(&names[0])
}

fn check_output(format: &str) -> String {
    let host = capture_path("ext4-nobarrier.host");
    stdout(
        &walwise()
            .args(["check", "--format", format, "--host"])
            .arg(host)
            .output_in_time(),
    )
}

/// Runs `check`, with `--verbose` for text, the only format that is otherwise shortened.
fn verbose_check_output(format: Format) -> String {
    match format {
        Format::Text => {
            let host = capture_path("ext4-nobarrier.host");
            stdout(
                &walwise()
                    .args(["check", "-v", "--host"])
                    .arg(host)
                    .output_in_time(),
            )
        }
        other => check_output(other.as_str()),
    }
}

const SHAPE: &str = "0000-00-00T00:00:00Z";

fn replace_timestamps(document: &str) -> String {
    let untimed = |line: &str| {
        let run = "walwise_last_run_timestamp_seconds ";
        if line.starts_with(run) {
            format!("{run}NOW\n")
        } else {
            line.to_owned()
        }
    };
    let document: String = document.split_inclusive('\n').map(untimed).collect();
    // A time may be followed directly by an HTML tag, so every position in the text is checked.
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

fn trim_line_ends(screen: &str) -> String {
    screen
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn saved_documents_equal_check_output() {
    let place = tempfile::tempdir().unwrap();
    let mut pty = open_screens(place.path(), &[], &[]);
    pty.press("e");
    pty.wait_for_text("Nothing is written until you press s");
    let mut before: Vec<String> = Vec::new();
    for form in Format::ALL {
        let (format, extension) = (form.as_str(), form.extension());
        pty.press("s");
        pty.wait_for_text(&format!("Save as {format}"));
        assert_eq!(
            sorted_file_names(place.path()),
            before,
            "nothing is written before it was answered"
        );
        pty.press("\r");
        pty.wait_until("it says where", |screen| {
            let shown = screen.contents().replace('\n', "");
            shown.contains("saved: ")
                && shown.contains(&format!(".{extension}"))
                && !shown.contains("Save as")
        });
        let new: Vec<String> = sorted_file_names(place.path())
            .into_iter()
            .filter(|name| !before.contains(name))
            .collect();
        let [name] = &new[..] else { panic!("{new:?}") };
        assert!(
            name.starts_with("walwise-") && name.ends_with(&format!(".{extension}")),
            "{name}"
        );
        let saved = fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(
            replace_timestamps(&saved),
            replace_timestamps(&verbose_check_output(*form)),
            "{format}"
        );
        pty.accept_changed_file(&place.path().join(name));
        before = sorted_file_names(place.path());
        pty.press("j");
    }
    pty.press("q");
    pty.assert_ends_clean(0);
}

fn permission_bits(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn create_file(place: &Path) -> PathBuf {
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
    let mut pty = open_screens(place.path(), &[], &[]);
    let down = Format::ALL
        .iter()
        .position(|form| *form == Format::Markdown)
        .unwrap();
    pty.press(&format!("e{}s", "j".repeat(down)));
    pty.wait_for_text("Save as markdown");
    pty.press("\x15mine.md\r");
    pty.wait_for_text("Replace it?");
    pty.press("\x1b");
    pty.wait_for_text_gone("Replace it?");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    pty.press("s");
    pty.wait_for_text("Save as markdown");
    pty.press("\x15mine.md\r");
    pty.wait_for_text("Replace it?");
    pty.press("y");
    pty.wait_for_text("saved: ");
    assert_eq!(
        replace_timestamps(&fs::read_to_string(&mine).unwrap()),
        replace_timestamps(&check_output("markdown"))
    );
    // The export creates a new file that does not inherit the old one's permissions.
    let usual = if nix::unistd::geteuid().is_root() {
        0o600
    } else {
        permission_bits(&create_file(place.path()))
    };
    assert_eq!(permission_bits(&mine), usual);
    for (name, said) in [
        ("no/such/place.md", "No such file or directory"),
        (".", "specify a file, not a directory"),
        ("/dev/null", "specify a regular file"),
        (place.path().to_str().unwrap(), "a directory"),
    ] {
        pty.press("s");
        pty.wait_for_text("Save as markdown");
        pty.press(&format!("\x15{name}\r"));
        // The message wraps in its frame, which leaves the first cells of the list visible.
        let words = |text: String| {
            let framed = text.lines().filter_map(|row| row.split('│').nth(1));
            let framed: Vec<&str> = framed.flat_map(str::split_whitespace).collect();
            framed.join(" ")
        };
        pty.wait_until("the reason", |screen| {
            words(screen.contents()).contains(said)
        });
        pty.press("\x1b");
        pty.wait_for_text_gone("Save as markdown");
    }
    pty.accept_changed_file(&mine);
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn mouse_alone_exports_and_capture_can_be_disabled() {
    let place = tempfile::tempdir().unwrap();
    let mut pty = open_screens(place.path(), &[], &[]);
    // The first fix is selected, so one click opens it.
    pty.click("critical");
    pty.wait_for_text("enter close");
    pty.click("6 Export");
    pty.wait_for_text("Nothing is written");
    pty.click("json");
    pty.wait_for_text("▌json");
    pty.click("json");
    pty.wait_for_text("\"schema\":");
    pty.press("\x1b[<65;10;10M");
    pty.wait_for_text_gone("\"schema\":");
    pty.press("\x1b[<64;10;10M");
    pty.wait_for_text("\"schema\":");
    pty.click("esc back");
    pty.wait_for_text("▌json");
    pty.click("? help");
    pty.wait_for_text("type to filter");
    pty.click("save the document");
    pty.wait_for_text("Save as json");
    pty.click("enter save");
    pty.wait_for_text("saved: ");
    let file = only_file_in(place.path());
    assert_eq!(
        replace_timestamps(&fs::read_to_string(&file).unwrap()),
        replace_timestamps(&check_output("json"))
    );
    pty.accept_changed_file(&file);
    pty.press("m");
    pty.wait_until("the mouse is free", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    });
    pty.press("m");
    pty.wait_until("the mouse is back", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
    });
    pty.click("q quit");
    pty.assert_ends_clean(0);
}

/// walwise sends no terminal query, because some terminals never answer.
#[test]
fn no_terminal_queries_are_sent() {
    let place = tempfile::tempdir().unwrap();
    let mut pty = open_screens(place.path(), &[], &[]);
    pty.press("e\ry");
    pty.wait_for_text("walwise");
    pty.press("s\r");
    pty.wait_for_text("saved: ");
    pty.accept_changed_file(&only_file_in(place.path()));
    pty.press("q");
    pty.assert_ends_clean(0);
    let written = pty.all_output();
    for question in [
        "\x1b[6n", "\x1b[5n", "\x1b[c", "\x1b[0c", "\x1b[>", "\x1b[=", "\x1b[?u", "\x1b[18t", "$p",
        "\x1bP+q", ";?\x1b", ";?\x07",
    ] {
        assert!(!written.contains(question), "{question:?}");
    }
}

fn overview_text(variables: &[(&str, &str)], options: &[&str]) -> (String, String) {
    let place = tempfile::tempdir().unwrap();
    let mut pty = open_screens(place.path(), variables, options);
    let shown = pty.wait_until("all is read", |screen| {
        screen.contents().contains("recommended")
    });
    pty.press("q");
    pty.assert_ends_clean(0);
    (shown, pty.all_output())
}

#[test]
fn no_color_shows_the_same_text() {
    let (rich, coloured) = overview_text(&[], &[]);
    // A 16-colour terminal misreads the escape of 256 colours (`38;5`) as blinking.
    assert!(
        coloured.contains(";36m") && !coloured.contains("38;5;"),
        "{coloured:?}"
    );
    let (plain, written) = overview_text(&[("NO_COLOR", "1")], &[]);
    assert_eq!(trim_line_ends(&rich), trim_line_ends(&plain));
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
fn ascii_mode_shows_the_same_words() {
    let (rich, _) = overview_text(&[], &[]);
    for (variables, options) in [
        (&[][..], &["--ascii"][..]),
        (&[("LC_ALL", "C")][..], &[][..]),
    ] {
        let (ascii, written) = overview_text(variables, options);
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
    let host = capture_path("ext4-nobarrier.host");
    let mut pty = Pty::start_walwise_in(
        place.path(),
        &[("TERM", "dumb")],
        &["--host", host.to_str().unwrap()],
    );
    pty.assert_ends_clean(0);
    let written = pty.all_output().replace("\r\n", "\n");
    let (said, report) = written.split_once('\n').unwrap();
    assert!(said.contains("TERM=dumb"), "{said}");
    assert!(!report.contains('\x1b'), "{report}");
    assert_eq!(
        replace_timestamps(report),
        replace_timestamps(&check_output("text"))
    );
}

struct TmuxServer(PathBuf);

impl Drop for TmuxServer {
    fn drop(&mut self) {
        // The server has usually ended with its only window.
        Command::new("tmux")
            .arg("-S")
            .arg(&self.0)
            .arg("kill-server")
            .output_in_time();
    }
}

#[test]
#[ignore = "needs tmux"]
fn copying_goes_through_tmux() {
    for setting in ["set -g set-clipboard on", "set -g allow-passthrough on"] {
        let place = tempfile::tempdir().unwrap();
        let server = TmuxServer(place.path().join("socket"));
        let config = place.path().join("tmux.conf");
        fs::write(&config, format!("{setting}\nset -g exit-empty on\n")).unwrap();
        let host = capture_path("ext4-nobarrier.host");
        let command = format!(
            "{} --host {}",
            crate::support::programs::walwise_path(),
            host.display()
        );
        let (socket, config) = (server.0.to_str().unwrap(), config.to_str().unwrap());
        let mut pty = Pty::start_program_in(
            place.path(),
            &[],
            "tmux",
            &["-u", "-S", socket, "-f", config, "new", &command],
        );
        pty.wait_for_text("Fix first");
        pty.press("e\r");
        pty.wait_until("the document", |screen| {
            screen.contents().contains("Details  text") && screen.contents().contains("AT RISK:")
        });
        pty.press("y");
        pty.wait_for_text("clipboard");
        pty.press("q");
        pty.assert_ends_clean(0);
        assert!(
            pty.all_output().contains("\x1b]52;"),
            "{setting}: {:?}",
            pty.all_output()
        );
    }
}
