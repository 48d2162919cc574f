//! A host for unit tests, with the files and links that the test sets; directories follow from the
//! paths. Everything else is *absent*.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use crate::facts::{FactRow, FactSet, Reading};
use crate::host::{Host, HostError, HostErrorKind, HostResult, Question, Stat, path_bytes};

/// The base of a test's `Stat`; the test sets only the fields that matter to it.
pub(crate) const ZERO_STAT: Stat = Stat {
    mode: 0,
    uid: 0,
    gid: 0,
    major: 0,
    minor: 0,
    node_major: 0,
    node_minor: 0,
    inode: 0,
    size: 0,
    ctime: None,
};

#[derive(Default)]
pub(crate) struct FakeHost {
    answers: BTreeMap<Question, HostResult>,
    asked: Mutex<Vec<Question>>,
}

impl FakeHost {
    /// Files below /sys, and /proc/version, get a final newline, as the kernel writes one.
    pub(crate) fn with_file(self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> Self {
        let (path, mut text) = (path.as_ref().to_owned(), text.as_ref().to_vec());
        if (path.starts_with("/sys") || path == Path::new("/proc/version"))
            && text.last().is_some_and(|last| *last != b'\n')
        {
            text.push(b'\n');
        }
        self.with_answer(Question::Read(path), text)
    }

    pub(crate) fn with_files_in_directory(self, directory: &str, files: &[(&str, &str)]) -> Self {
        files.iter().fold(self, |fake, (name, text)| {
            fake.with_file(format!("{directory}/{name}"), format!("{text}\n"))
        })
    }

    /// `mode` is `st_mode`, with type and permissions.
    pub(crate) fn with_stat_of_device_node(self, path: &str, mode: u64) -> Self {
        let stat = Stat {
            mode,
            minor: 5,
            node_major: 253,
            inode: 1,
            size: 4096,
            ..ZERO_STAT
        };
        self.with_answer(Question::Stat(path.into()), stat.encode())
    }

    pub(crate) fn with_symlink(self, path: impl AsRef<Path>, to: &str) -> Self {
        self.with_answer(Question::Link(path.as_ref().to_owned()), to)
    }

    pub(crate) fn with_answer(mut self, question: Question, answer: impl AsRef<[u8]>) -> Self {
        self.answers.insert(question, Ok(answer.as_ref().to_vec()));
        self
    }

    pub(crate) fn with_error(mut self, question: Question, kind: HostErrorKind) -> Self {
        self.answers
            .insert(question, Err(HostError::new(kind, "refused")));
        self
    }

    pub(crate) fn asked_questions(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }

    fn list_directory_of_answers(&self, directory: &Path) -> HostResult {
        let mut names = BTreeSet::new();
        for question in self.answers.keys() {
            if let Question::Read(path) | Question::Link(path) = question
                && let Ok(rest) = path.strip_prefix(directory)
                && let Some(first) = rest.components().next()
            {
                names.insert(path_bytes(first.as_ref()).to_vec());
            }
        }
        if names.is_empty() {
            Err(HostError::new(HostErrorKind::Absent, ""))
        } else {
            Ok(names.into_iter().collect::<Vec<_>>().join(&0))
        }
    }
}

impl Host for FakeHost {
    fn ask(&self, question: &Question) -> HostResult {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self
            .answers
            .get(question)
            .or_else(|| self.answers.get(question.strip_as_user()));
        match (answer, question.strip_as_user()) {
            (Some(answer), _) => answer.clone(),
            (None, Question::List(directory)) => self.list_directory_of_answers(directory),
            (None, _) => Err(HostError::new(HostErrorKind::Absent, "no such file")),
        }
    }
}

pub(crate) fn note_sentences(facts: &FactSet) -> Vec<String> {
    facts.notes().iter().map(ToString::to_string).collect()
}

pub(crate) fn displayed_notes_and_readings(facts: &FactSet) -> String {
    let mut out = note_sentences(facts);
    for FactRow {
        subject, reading, ..
    } in facts.rows()
    {
        out.push(subject.to_string());
        match reading {
            Reading::Known { value, source } => out.push(format!("{value} {source}")),
            Reading::Unknown { detail, .. } => out.push(detail.clone()),
        }
    }
    out.concat()
}
