//! The host's recorded answer behind a fact.
//!
//! Secrets need no handling here: the host already reduced its answers to allow-listed keys.

use std::ops::Deref;

use crate::facts::Source;
use crate::host::{CachingHost, Host, Question};
use crate::text::{display_path, display_safe};
use walwise_model::text::JoinText;

const MAX_LINES: usize = 8;
/// Characters per line; longer lines are cut.
const MAX_LINE_LENGTH: usize = 400;

/// The recorded lines behind a value, display-safe; empty if the answer was not recorded. A known
/// line number selects one line. Otherwise at most [`MAX_LINES`] lines are returned, preferably
/// those that contain `value`, and a count of the others.
pub fn raw_answer_lines<H: Deref<Target: Host> + Sync>(
    machine: &CachingHost<H>,
    source: &Source,
    value: &str,
) -> Vec<String> {
    let line = match source {
        Source::File { line, .. } => line.and_then(|line| usize::try_from(line).ok()),
        _ => None,
    };
    let Some((question, answer)) =
        machine.find_cached_answer(|question| question_matches_source(question, source))
    else {
        return Vec::new();
    };
    let all: Vec<&[u8]> = answer
        .split(|byte| matches!(byte, b'\n' | 0))
        .filter(|line| !line.is_empty())
        .collect();
    // Line numbers of a configuration file count all its lines, but the recorded answer holds only
    // allow-listed keys. Such numbers are therefore ignored.
    let line = line
        .filter(|_| matches!(question.strip_as_user(), Question::Read(_)))
        .and_then(|line| line.checked_sub(1));
    if let Some(line) = line.and_then(|line| answer.split(|byte| *byte == b'\n').nth(line)) {
        return vec![display_line(line)];
    }
    let telling: Vec<&[u8]> = all
        .iter()
        .copied()
        .filter(|line| !value.is_empty() && display_line(line).contains(value))
        .collect();
    let few = if all.len() > MAX_LINES && !telling.is_empty() {
        telling
    } else {
        all
    };
    let mut lines: Vec<String> = few
        .iter()
        .take(MAX_LINES)
        .map(|line| display_line(line))
        .collect();
    if few.len() > MAX_LINES {
        lines.push(format!("… and {} more", few.len() - MAX_LINES));
    }
    lines
}

fn display_line(line: &[u8]) -> String {
    display_safe(line.trim_ascii_end())
        .chars()
        .take(MAX_LINE_LENGTH)
        .collect()
}

pub fn question_matches_source(question: &Question, source: &Source) -> bool {
    match (question.strip_as_user(), source) {
        (
            Question::Read(file) | Question::Config(file, _) | Question::Link(file),
            Source::File { path, .. },
        ) => display_path(file) == *path,
        (Question::Run(tool, arguments), Source::Command { argv }) => {
            let words = [tool.name().into_owned()]
                .into_iter()
                .chain(arguments.iter().cloned());
            display_safe(words.join_with(" ").as_bytes()) == *argv
        }
        (Question::PgSettings(path) | Question::MysqlSettings(path), Source::Server { socket }) => {
            display_path(path) == *socket
        }
        (Question::Superblock(path, _), Source::Call { name }) => {
            name.strip_prefix("superblock of ") == Some(&display_path(path))
        }
        (Question::Uname, Source::Call { name }) => name == "uname",
        (Question::Resources, Source::Call { name }) => name == "sysinfo",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{HostError, HostResult};
    use std::path::PathBuf;

    struct TwoFileHost;

    impl Host for TwoFileHost {
        fn ask(&self, question: &Question) -> HostResult {
            match question {
                Question::Read(path) if path.ends_with("mounts") => {
                    let lines: Vec<String> = (1..=20)
                        .map(|n| format!("line {n} of\x1b[2J mounts"))
                        .collect();
                    Ok(lines.join("\n").into_bytes())
                }
                Question::Read(_) => Ok(b"write back\n".to_vec()),
                _ => Err(HostError::failed("not asked")),
            }
        }
    }

    #[test]
    fn raw_answer_lines_select_lines_of_source() {
        let machine = CachingHost::new(&TwoFileHost as &(dyn Host + Sync));
        let of = |source: &Source, value: &str| raw_answer_lines(&machine, source, value);
        let [cache, mounts] = ["/sys/cache", "/proc/mounts"].map(PathBuf::from);
        assert!(
            of(&Source::from_file("/sys/cache"), "write back").is_empty(),
            "not collected"
        );
        for file in [cache, mounts] {
            machine.ask(&Question::Read(file)).unwrap();
        }
        assert_eq!(
            of(&Source::from_file("/sys/cache"), "write back"),
            ["write back"]
        );
        let telling = of(&Source::from_file("/proc/mounts"), "line 17");
        assert!(
            telling.len() == 1 && telling[0].starts_with("line 17 of"),
            "{telling:?}"
        );
        assert!(telling[0].chars().all(|c| !c.is_control()), "{telling:?}");
        assert!(
            of(&Source::from_file_line("/proc/mounts", 3), "anything")[0].starts_with("line 3 of")
        );
        let first = of(&Source::from_file("/proc/mounts"), "not in it");
        assert_eq!(
            (first.len(), first[MAX_LINES].as_str()),
            (MAX_LINES + 1, "… and 12 more")
        );
        assert!(of(&Source::Assumed, "write back").is_empty());
    }
}
