//! Damaged or forged captures: walwise ends with a documented exit code and prints nothing that can
//! control a terminal.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use walwise::session::Session;
use walwise_collect::{Request, run_all_collectors};
use walwise_judge::rules::RuleSet;
use walwise_model::facts::Choice as _;
use walwise_model::text::is_display_unsafe;
use walwise_report::{Format, text};
use walwise_sys::host::{CachingHost, RecordedHost};

use crate::support::deadline::CommandInTime as _;
use crate::support::{recorded, walwise};

fn recorded_captures() -> Vec<Vec<u8>> {
    recorded::recorded_host_files()
        .iter()
        .map(|file| fs::read(file).unwrap())
        .collect()
}

fn arbitrary_hostile_text() -> impl Strategy<Value = Vec<u8>> {
    let words: [&[u8]; 22] = [
        b"",
        b"-1",
        b"0",
        b"18446744073709551615",
        b"99999999999999999999999999999999",
        b"1e308",
        b"NaN",
        b"\x1b]0;owned\x07\x1b[31m",
        b"\xff\xfe\x9b31m",
        "\u{202e}\u{200b}\u{9b}".as_bytes(),
        b"\\x1b[2J\\u{202e}",
        b"$(reboot)`reboot`;'\"",
        b"../../../../etc/passwd",
        b"/data /data /data",
        b"\0",
        b"\t\r",
        b"\\040\\134\\777",
        b"|",
        b"!denied",
        b"nobarrier,data=writeback,=,,",
        b"4.18.0.0.0.0.0.0-..-",
        b"{mount.point}",
    ];
    prop_oneof![
        8 => prop::sample::select(words.map(<[u8]>::to_vec).to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => Just(vec![b'a'; 70_000]),
    ]
}

const HOSTILE: [&str; 5] = [
    "\\x1b]0;owned\\x07\\x1b[31m",
    "\\u{202e}\\u{200b}\\u{9b}",
    "\\xff\\x9b31m",
    "\\x0a\\x0d",
    "\\x7f\\u{2028}\\u{e0041}",
];

fn long_words_in_line(line: &[u8]) -> Vec<&[u8]> {
    let in_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    line.split(|b| !in_word(b))
        .filter(|word| word.len() >= 3)
        .collect()
}

fn append_to_words(lines: &mut [Vec<u8>], chosen: impl Fn(&[u8]) -> bool, what: &[u8]) {
    let in_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    for line in lines.iter_mut().skip(1) {
        let mut out = Vec::with_capacity(line.len());
        for word in line.chunk_by(|a, b| in_word(*a) == in_word(*b)) {
            out.extend_from_slice(word);
            // The first word of a question names its kind and must stay intact.
            if !out.iter().all(|b| b.is_ascii_lowercase() || *b == b'-') && chosen(word) {
                out.extend_from_slice(what);
            }
        }
        *line = out;
    }
}

#[derive(Clone, Debug)]
enum LineDamage {
    Remove,
    Repeat,
    Swap(prop::sample::Index),
    Copy(prop::sample::Index),
    Replace(Vec<u8>),
    Word(prop::sample::Index, Vec<u8>),
    Insert(prop::sample::Index, Vec<u8>),
    Cut(prop::sample::Index),
    /// Appends text to one word everywhere, so that references between lines still match.
    Everywhere(prop::sample::Index, Vec<u8>),
}

fn arbitrary_damage() -> impl Strategy<Value = LineDamage> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        1 => Just(LineDamage::Remove),
        1 => Just(LineDamage::Repeat),
        1 => place().prop_map(LineDamage::Swap),
        1 => place().prop_map(LineDamage::Copy),
        1 => arbitrary_hostile_text().prop_map(LineDamage::Replace),
        2 => (place(), arbitrary_hostile_text()).prop_map(|(at, what)| LineDamage::Word(at, what)),
        1 => (place(), arbitrary_hostile_text()).prop_map(|(at, what)| LineDamage::Insert(at, what)),
        1 => place().prop_map(LineDamage::Cut),
        3 => (place(), prop::sample::select(HOSTILE.to_vec()))
            .prop_map(|(at, what)| LineDamage::Everywhere(at, what.as_bytes().to_vec())),
    ]
}

fn apply_damages(capture: &[u8], damages: Vec<(prop::sample::Index, LineDamage)>) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = capture.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    for (place, damage) in damages {
        // The first line must stay intact, because a capture without its header is not read at all.
        let at = 1 + place.index(lines.len() - 1);
        let mark = |line: &[u8]| line.first().filter(|b| b"|:!".contains(b)).copied();
        match damage {
            LineDamage::Remove if lines.len() > 2 => drop(lines.remove(at)),
            LineDamage::Remove => {}
            LineDamage::Repeat => lines.insert(at, lines[at].clone()),
            LineDamage::Swap(with) => {
                let with = 1 + with.index(lines.len() - 1);
                lines.swap(at, with);
            }
            LineDamage::Copy(from) => {
                let from = 1 + from.index(lines.len() - 1);
                let line = lines[from].clone();
                lines[at] = line;
            }
            LineDamage::Replace(what) => {
                let mark = mark(&lines[at]);
                lines[at] = mark.into_iter().chain(what).collect();
            }
            LineDamage::Word(which, what) => {
                let marks = usize::from(mark(&lines[at]).is_some());
                let body = lines[at].split_off(marks);
                let is_break = |b: &u8| b" \t=,:/".contains(b);
                let mut words: Vec<Vec<u8>> =
                    body.split_inclusive(is_break).map(<[u8]>::to_vec).collect();
                if words.is_empty() {
                    words.push(Vec::new());
                }
                let which = which.index(words.len());
                let end = words[which].last().filter(|b| is_break(b)).copied();
                words[which] = what.into_iter().chain(end).collect();
                lines[at].extend(words.concat());
            }
            LineDamage::Insert(within, what) => {
                let within = within.index(lines[at].len() + 1);
                lines[at].splice(within..within, what);
            }
            LineDamage::Everywhere(which, what) => {
                let words = long_words_in_line(&lines[at]);
                if let Some(word) =
                    (!words.is_empty()).then(|| words[which.index(words.len())].to_vec())
                {
                    append_to_words(&mut lines, |found| found == word, &what);
                }
            }
            LineDamage::Cut(within) => {
                let within = within.index(lines[at].len() + 1);
                lines[at].truncate(within);
            }
        }
    }
    lines.join(&b'\n')
}

fn assert_output_safe(capture: &[u8], arguments: &[&str]) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("host");
    fs::write(&path, capture).unwrap();
    let output = walwise()
        .args(arguments)
        .arg("--host")
        .arg(&path)
        .stdin(Stdio::null())
        .output_in_time();
    let code = output.status.code();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    prop_assert!(!err.contains("panicked"), "{err}");
    let expected: &[i32] = match arguments[0] {
        "check" if arguments.contains(&"nagios") => &[0, 1, 2, 3],
        // Damage may remove the target or make it unfit for a database.
        "check" if err.starts_with("walwise: nothing to check: /data") => &[2],
        "check" => &[0, 3, 4, 5],
        "upgrade" => &[0, 2, 3, 4, 5],
        _ => &[0, 2],
    };
    prop_assert!(
        code.is_some_and(|code| expected.contains(&code)),
        "{code:?}: {err}"
    );
    let text = String::from_utf8(output.stdout).map_err(|e| TestCaseError::fail(e.to_string()))?;
    for shown in [&text, &err] {
        let line = shown
            .lines()
            .find(|line| line.chars().any(is_display_unsafe));
        prop_assert!(line.is_none(), "a control character: {line:?}");
    }
    if arguments.contains(&"json") {
        let json: Result<serde_json::Value, _> = serde_json::from_str(&text);
        prop_assert!(json.is_ok(), "{json:?}");
    }
    Ok(())
}

fn commands_reading_captures() -> Vec<Vec<&'static str>> {
    let forms = Format::WORDS
        .iter()
        .map(|form| vec!["check", "--format", form]);
    let target = Format::WORDS
        .iter()
        .map(|form| vec!["check", "/data", "--format", form]);
    let others: [&[&str]; 5] = [
        &[
            "check",
            "/data",
            "--fail-on",
            "warning",
            "--fail-on-undecided",
        ],
        &["upgrade", "--kernel", "6.18"],
        &["facts"],
        &["facts", "--target", "/data"],
        &["explain", "verdict.at-risk", "/data"],
    ];
    forms
        .into_iter()
        .chain(target)
        .chain(others.map(<[&str]>::to_vec))
        .collect()
}

#[test]
#[ignore = "exhaustive"]
fn damaged_captures_cause_no_panic_or_escape_sequence() {
    let captures = recorded_captures();
    let damages = prop::collection::vec((any::<prop::sample::Index>(), arbitrary_damage()), 1..12);
    let input = (
        any::<prop::sample::Index>(),
        prop::sample::select(commands_reading_captures()),
        damages,
    );
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(96);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = proptest::test_runner::TestRunner::new(config).run(
        &input,
        |(which, arguments, damages)| {
            let capture = which.get(captures.as_slice());
            assert_output_safe(&apply_damages(capture, damages), &arguments)
        },
    );
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

/// A different share of the words is changed in each run: with all of them changed, even the tables
/// would be unreadable.
#[test]
#[ignore = "exhaustive"]
fn hostile_names_are_escaped_in_every_output() {
    const SHARES: usize = 5;
    for name in [
        "tests/hosts/docker-volume.host",
        "tests/hosts/lab-luks-on-lvm-on-md.host",
    ] {
        let capture = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        for (share, end) in HOSTILE.iter().enumerate().take(SHARES) {
            let mut lines: Vec<Vec<u8>> =
                capture.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            let sum = |word: &[u8]| word.iter().map(|b| usize::from(*b)).sum::<usize>();
            let chosen = |word: &[u8]| word.len() >= 3 && sum(word) % SHARES == share;
            append_to_words(&mut lines, chosen, end.as_bytes());
            let hostile = lines.join(&b'\n');
            for arguments in commands_reading_captures() {
                assert_output_safe(&hostile, &arguments)
                    .unwrap_or_else(|e| panic!("{name}, share {share}, {arguments:?}: {e}"));
            }
            let host = RecordedHost::parse(&hostile).unwrap();
            let recording = CachingHost::new(&host);
            run_all_collectors(&recording, &Request::default(), &mut |_, _| {});
            for text in [
                recording.render_capture("", true),
                recording.render_capture("", false),
            ] {
                let line = text
                    .lines()
                    .find(|line| line.chars().any(|c| is_display_unsafe(c) && c != '\t'));
                assert!(line.is_none(), "{name}, share {share}: {line:?}");
            }
        }
    }
}

#[test]
fn hostile_words_of_every_machine_are_escaped_before_anything_is_written() {
    let shares = HOSTILE.len();
    for (at, file) in recorded::recorded_host_files().iter().enumerate() {
        let capture = fs::read(file).unwrap();
        let mut lines: Vec<Vec<u8>> = capture.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let sum = |word: &[u8]| word.iter().map(|b| usize::from(*b)).sum::<usize>();
        let chosen = |word: &[u8]| word.len() >= 3 && sum(word) % shares == at % shares;
        append_to_words(&mut lines, chosen, HOSTILE[at % shares].as_bytes());
        let host = RecordedHost::parse(&lines.join(&b'\n')).unwrap();
        let session = Session::collect_from_host(
            &host,
            &Request::default(),
            RuleSet::builtin(),
            &mut |_, _| {},
        );
        let report = text::render(&session.build_report());
        let line = report.lines().find(|line| line.contains(is_display_unsafe));
        assert!(line.is_none(), "{}: {line:?}", file.display());
        for row in session.facts.rows() {
            let shown = format!(
                "{} {:?}",
                row.subject,
                row.reading.value().map(ToString::to_string)
            );
            assert!(
                !shown.contains(is_display_unsafe),
                "{}: {shown}",
                file.display()
            );
        }
    }
}

#[test]
fn device_mapper_names_are_escaped() {
    let capture = fs::read_to_string("tests/hosts/lab-luks-on-lvm-on-md.host").unwrap();
    let hostile = capture.replace(" linear", " \\x1b]0;owned\\x07\\x0d\\x9b31m");
    assert_ne!(hostile, capture);
    for arguments in commands_reading_captures() {
        assert_output_safe(hostile.as_bytes(), &arguments)
            .unwrap_or_else(|e| panic!("{arguments:?}: {e}"));
    }
}
