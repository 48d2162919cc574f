//! The raw answer behind a fact: the machine's answer to the question that the source names.
//!
//! Secrets need no handling here, because the host has already reduced its answers to allow-listed
//! keys.

use std::ops::Deref;

use crate::facts::Source;
use crate::host::{Host, Question, RememberingHost, path_bytes};
use crate::text::safe;

/// The largest number of lines that are shown of an answer.
const MOST: usize = 8;
/// The longest line, in characters.
const LONGEST: usize = 400;

/// The lines that a value was read from, display-safe; empty where the source has none. Of a long
/// answer, the lines that contain the value, else the first ones.
pub fn raw<H: Deref<Target: Host> + Sync>(
    machine: &RememberingHost<H>,
    source: &Source,
    value: &str,
) -> Vec<String> {
    let line = match source {
        Source::File { line, .. } => line.and_then(|line| usize::try_from(line).ok()),
        _ => None,
    };
    let Some((question, answer)) = machine.answered(|question| is_of(question, source)) else {
        return Vec::new();
    };
    let all: Vec<&[u8]> = answer
        .split(|byte| matches!(byte, b'\n' | 0))
        .filter(|line| !line.is_empty())
        .collect();
    // Line numbers of a configuration refer to the file, of which the answer holds only the keys.
    let line = line
        .filter(|_| matches!(question.bare(), Question::Read(_)))
        .and_then(|line| line.checked_sub(1));
    if let Some(line) = line.and_then(|line| answer.split(|byte| *byte == b'\n').nth(line)) {
        return vec![shown(line)];
    }
    let telling: Vec<&[u8]> = all
        .iter()
        .copied()
        .filter(|line| !value.is_empty() && shown(line).contains(value))
        .collect();
    let few = if all.len() > MOST && !telling.is_empty() {
        telling
    } else {
        all
    };
    let mut lines: Vec<String> = few.iter().take(MOST).map(|line| shown(line)).collect();
    if few.len() > MOST {
        lines.push(format!("… and {} more lines", few.len() - MOST));
    }
    lines
}

fn shown(line: &[u8]) -> String {
    safe(line.trim_ascii_end()).chars().take(LONGEST).collect()
}

/// Whether a question is the one that a source names.
pub fn is_of(question: &Question, source: &Source) -> bool {
    match (question.bare(), source) {
        (
            Question::Read(file) | Question::Config(file, _) | Question::Link(file),
            Source::File { path, .. },
        ) => safe(path_bytes(file)) == *path,
        (Question::Run(tool, arguments), Source::Command { argv }) => {
            let words = [tool.name().into_owned()]
                .into_iter()
                .chain(arguments.iter().cloned());
            safe(words.collect::<Vec<_>>().join(" ").as_bytes()) == *argv
        }
        (Question::PgSettings(path) | Question::MysqlSettings(path), Source::Server { socket }) => {
            safe(path_bytes(path)) == *socket
        }
        (Question::Superblock(path, _), Source::Call { name }) => {
            name.strip_prefix("superblock of ") == Some(&safe(path_bytes(path)))
        }
        (Question::Uname, Source::Call { name }) => name == "uname",
        (Question::Summary, Source::Call { name }) => name == "sysinfo",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Miss, MissKind};
    use std::path::PathBuf;

    /// A host with one long file and one program's answer.
    struct Small;

    impl Host for Small {
        fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
            match question {
                Question::Read(path) if path.ends_with("mounts") => {
                    let lines: Vec<String> = (1..=20)
                        .map(|n| format!("line {n} of\x1b[2J mounts"))
                        .collect();
                    Ok(lines.join("\n").into_bytes())
                }
                Question::Read(_) => Ok(b"write back\n".to_vec()),
                _ => Err(Miss::new(MissKind::Failed, "not asked")),
            }
        }
    }

    #[test]
    fn the_lines_of_the_source_are_shown_as_they_were_answered() {
        let machine = RememberingHost::new(&Small as &(dyn Host + Sync));
        let of = |source: &Source, value: &str| raw(&machine, source, value);
        let [cache, mounts] = ["/sys/cache", "/proc/mounts"].map(PathBuf::from);
        assert!(
            of(&Source::file("/sys/cache"), "write back").is_empty(),
            "nobody asked"
        );
        for file in [cache, mounts] {
            machine.ask(&Question::Read(file)).unwrap();
        }
        assert_eq!(
            of(&Source::file("/sys/cache"), "write back"),
            ["write back"]
        );
        let telling = of(&Source::file("/proc/mounts"), "line 17");
        assert!(
            telling.len() == 1 && telling[0].starts_with("line 17 of"),
            "{telling:?}"
        );
        assert!(telling[0].chars().all(|c| !c.is_control()), "{telling:?}");
        assert!(of(&Source::line("/proc/mounts", 3), "anything")[0].starts_with("line 3 of"));
        let first = of(&Source::file("/proc/mounts"), "not in it");
        assert_eq!(
            (first.len(), first[MOST].as_str()),
            (MOST + 1, "… and 12 more lines")
        );
        assert!(of(&Source::Assumed, "write back").is_empty());
    }
}
