//! The text format of a capture: questions and answers, for people to review and for walwise to
//! replay.
//!
//! ```text
//! walwise host 1
//! # a comment
//! read /sys/block/sda/queue/rotational
//! |0
//! link /sys/block/sda
//! :../devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda
//! read /var/lib/postgresql/16/main/PG_VERSION
//! !denied Permission denied
//! ```
//!
//! `|` precedes a line of an answer or a name in a directory; `:` precedes a last line without a
//! newline at its end; `!` precedes an error. Bytes are escaped by [`crate::text`], except that
//! tabs stay. A line that cannot be parsed invalidates only its own entry.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{HostError, HostErrorKind, HostResult, Question, question};
use crate::limits::CAPTURE;
use crate::text::{self, bytes};
use walwise_model::facts::Choice as _;

pub type Answers = BTreeMap<Question, HostResult>;

const HEADER: &str = "walwise host 1";

const MAX_PROBLEMS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureParseError {
    #[error("not a capture: its first line is not `{HEADER}`; make one with `walwise capture`")]
    Header,
    #[error("the capture has format {0:?}; this version of walwise reads format 1")]
    Version(String),
    /// Captures come from strangers, so walwise reads at most [`CAPTURE`] bytes.
    #[error("the capture is larger than 64 MiB")]
    TooLarge,
}

pub fn render_capture(answers: &Answers, comment: &str) -> String {
    let mut out = format!("{HEADER}\n");
    for line in comment.lines() {
        out.push_str(&format_escaped_line("# ", line.as_bytes()));
    }
    for (question, answer) in answers {
        out.push_str(&question::encode(question));
        out.push('\n');
        match answer {
            Ok(bytes) => write_answer_lines(&mut out, bytes, answer_separator(question)),
            Err(miss) => {
                let detail = display_safe_detail(&miss.detail);
                let line = format!("!{} {detail}", miss.kind);
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
    }
    out
}

fn answer_separator(question: &Question) -> u8 {
    if matches!(question.strip_as_user(), Question::List(_)) {
        0
    } else {
        b'\n'
    }
}

fn write_answer_lines(out: &mut String, bytes: &[u8], separator: u8) {
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|b| *b == separator) {
        let (piece, after) = rest.split_at(end);
        out.push_str(&format_escaped_line("|", piece));
        rest = after.get(1..).unwrap_or_default();
    }
    if !rest.is_empty() || bytes.is_empty() {
        out.push_str(&format_escaped_line(":", rest));
    }
}

fn format_escaped_line(mark: &str, bytes: &[u8]) -> String {
    let pieces: Vec<String> = bytes
        .split(|b| *b == b'\t')
        .map(text::display_safe)
        .collect();
    format!("{mark}{}\n", pieces.join("\t"))
}

fn display_safe_detail(detail: &str) -> String {
    if detail.chars().any(text::is_display_unsafe) {
        text::display_safe(detail.as_bytes())
    } else {
        detail.to_owned()
    }
}

/// The second value describes the entries that could not be read.
#[cfg(any(test, feature = "testing"))]
pub fn parse_capture(bytes: &[u8]) -> Result<(Answers, Vec<String>), CaptureParseError> {
    let mut answers = Answers::new();
    let problems = parse_capture_entries(bytes, |_, question, answer| {
        let is_new = !answers.contains_key(&question);
        if is_new {
            answers.insert(question, answer);
        }
        is_new
    })?;
    Ok((answers, problems))
}

/// Calls `put` with the byte range, question and answer of each entry that can be parsed. `put`
/// returns false for a repeated question. The result describes the unreadable and the repeated
/// entries.
pub(super) fn parse_capture_entries(
    bytes: &[u8],
    mut put: impl FnMut(Range<usize>, Question, HostResult) -> bool,
) -> Result<Vec<String>, CaptureParseError> {
    if bytes.len() > CAPTURE {
        return Err(CaptureParseError::TooLarge);
    }
    let first = bytes::lines(bytes).next().unwrap_or_default();
    let header = first.strip_suffix(b"\r").unwrap_or(first);
    if header != HEADER.as_bytes() {
        let version = header
            .strip_prefix(b"walwise host ")
            .filter(|v| !v.is_empty() && v.len() < 20);
        return Err(version.map_or(CaptureParseError::Header, |v| {
            CaptureParseError::Version(text::display_safe(v))
        }));
    }
    let mut problems = Vec::new();
    let mut omitted = 0;
    let mut add_problem = |line: usize, what| {
        if problems.len() < MAX_PROBLEMS {
            problems.push(format!("capture, line {line}: {what}; entry ignored"));
        } else {
            omitted += 1;
        }
    };
    let (mut start, mut line) = (first.len() + 1, 2);
    let body = bytes.get(start..).unwrap_or_default();
    for entry in body.chunk_by(|before, byte| *before != b'\n' || continues_entry(*byte)) {
        let place = start..start + entry.len();
        // Text before the first question belongs to no entry.
        if !entry.first().copied().is_some_and(continues_entry) {
            let parsed = parse_entry(entry).and_then(|(question, answer)| {
                let is_new = put(place.clone(), question, answer);
                is_new.then_some(()).ok_or((0, "duplicate question"))
            });
            if let Err((at, what)) = parsed {
                add_problem(line + at, what);
            }
        }
        start = place.end;
        line += bytes::lines(entry).count() - 1;
    }
    problems
        .extend((omitted > 0).then(|| format!("capture: {omitted} more entries cannot be read")));
    Ok(problems)
}

/// Whether a line that begins with this byte is empty, a comment, or a line of an answer.
fn continues_entry(byte: u8) -> bool {
    b"|:!#\r\n".contains(&byte)
}

/// Parses the line of a question and the lines of its answer. The error is the index of the faulty
/// line, with a description.
pub(super) fn parse_entry(text: &[u8]) -> Result<(Question, HostResult), (usize, &'static str)> {
    let lines = bytes::lines(text).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut lines = lines.enumerate();
    let question = lines
        .next()
        .and_then(|(_, line)| question::decode(str::from_utf8(line).ok()?))
        .ok_or((0, "unknown question"))?;
    let mut answer = None;
    let mut is_complete = false;
    for (at, line) in lines {
        let (mark, rest) = match line.split_first() {
            None | Some((b'#', _)) => continue,
            Some((mark, rest)) => (*mark, rest),
        };
        let words = str::from_utf8(rest).map_err(|_| (at, "not UTF-8"))?;
        if is_complete || mark == b'\r' || mark == b'!' && answer.is_some() {
            return Err((at, "the line does not continue the previous line"));
        }
        is_complete = mark != b'|';
        if mark == b'!' {
            let (kind, detail) = words.split_once(' ').unwrap_or((words, ""));
            let kind = HostErrorKind::from_word(kind).ok_or((at, "unknown kind of error"))?;
            let detail = display_safe_detail(detail.trim_end());
            answer = Some(Err(HostError::new(kind, detail)));
        } else if let Ok(bytes) = answer.get_or_insert_with(|| Ok(Vec::new())) {
            bytes.append(&mut text::decode_display_safe(words));
            if mark == b'|' {
                bytes.push(answer_separator(&question));
            }
        }
    }
    Ok((question, answer.ok_or((0, "the question has no answer"))?))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::host::question::tests::any_question;

    fn any_answer() -> impl Strategy<Value = HostResult> {
        let kind = prop::sample::select(vec![
            HostErrorKind::Absent,
            HostErrorKind::Denied,
            HostErrorKind::TimedOut,
            HostErrorKind::Failed,
        ]);
        prop_oneof![
            any::<Vec<u8>>().prop_map(Ok),
            "[a-z\n\t|:!#]{0,12}".prop_map(|text| Ok(text.into_bytes())),
            (kind, "([a-z]{1,5} ){0,3}[a-z]{1,5}|")
                .prop_map(|(kind, detail)| Err(HostError::new(kind, detail))),
        ]
    }

    proptest! {
        #[test]
        fn rendered_captures_parse_to_the_same_answers(answers in prop::collection::btree_map(any_question(), any_answer(), 0..8)) {
            let text = render_capture(&answers, "made by a test\non two lines");
            prop_assert!(!text.chars().any(|c| text::is_display_unsafe(c) && !matches!(c, '\n' | '\t')));
            let (read, problems) = parse_capture(text.as_bytes()).unwrap();
            prop_assert_eq!(read, answers);
            prop_assert_eq!(problems, Vec::<String>::new());
        }

        #[test]
        fn hostile_captures_yield_display_safe_text(lines in prop::collection::vec("(read /|link |[|:!#]|run |config )?.{0,20}", 0..20)) {
            let text = format!("{HEADER}\n{}", lines.join("\n"));
            let (answers, problems) = parse_capture(text.as_bytes()).unwrap();
            for miss in answers.values().filter_map(|a| a.as_ref().err()) {
                prop_assert!(!miss.detail.chars().any(text::is_display_unsafe));
            }
            prop_assert!(!problems.iter().any(|p| p.chars().any(text::is_display_unsafe)));
        }

        #[test]
        fn capture_parser_never_panics(bytes: Vec<u8>) {
            let _ = parse_capture(&bytes);
            let _ = parse_capture(&[HEADER.as_bytes(), b"\n", &bytes].concat());
        }
    }

    #[test]
    fn malformed_line_invalidates_only_its_entry() {
        let bad = [
            "raed /a\n|1",
            "read /a",
            "read /a\n|1\n!absent",
            "read /a\n:1\n|2",
            "read /a\n!gone",
            "read /z\n|2",
        ];
        for bad in bad {
            let text = format!("{HEADER}\nread /z\n|first\n{bad}\n# comment\n\nread /b\n|2\n");
            let (answers, problems) = parse_capture(text.as_bytes()).unwrap();
            let read = |path: &str| answers.get(&Question::Read(PathBuf::from(path)));
            assert_eq!(read("/a"), None, "{bad}");
            assert_eq!(read("/z"), Some(&Ok(b"first\n".to_vec())), "{bad}");
            assert_eq!(read("/b"), Some(&Ok(b"2\n".to_vec())), "{bad}");
            assert_eq!(problems.len(), 1, "{bad}: {problems:?}");
        }
    }

    #[test]
    fn trailing_blanks_of_error_lines_are_trimmed() {
        let text =
            format!("{HEADER}\nread /a\n!denied Permission denied \u{a0} \t\nread /b\n!absent  \n");
        let (answers, _) = parse_capture(text.as_bytes()).unwrap();
        let (again, problems) = parse_capture(render_capture(&answers, "").as_bytes()).unwrap();
        assert_eq!((again, problems.len()), (answers, 0));
    }

    #[test]
    fn wrong_header_version_or_size_is_rejected() {
        assert_eq!(parse_capture(b""), Err(CaptureParseError::Header));
        assert_eq!(parse_capture(b"\x7fELF"), Err(CaptureParseError::Header));
        assert_eq!(
            parse_capture(b"walwise host 2\n"),
            Err(CaptureParseError::Version("2".to_owned()))
        );
        assert_eq!(
            parse_capture(&vec![b'\n'; CAPTURE + 1]),
            Err(CaptureParseError::TooLarge)
        );
    }

    #[test]
    fn number_of_parse_problems_is_bounded() {
        let text = format!("{HEADER}\n{}", "what\n".repeat(1000));
        let (_, problems) = parse_capture(text.as_bytes()).unwrap();
        assert_eq!(problems.len(), MAX_PROBLEMS + 1);
    }
}
