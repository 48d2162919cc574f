//! A host for unit tests: a tree of files and links written in the test; directories follow from
//! the paths.
//!
//! It is no recorded host: it holds the few answers of a test and answers *absent* to everything
//! else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use crate::facts::{FactRow, FactSet, Reading};
use crate::host::{Host, Miss, MissKind, Question, Stat, path_bytes};

/// Answers by question, and which questions were asked.
#[derive(Default)]
pub(crate) struct Fake {
    answers: BTreeMap<Question, Result<Vec<u8>, Miss>>,
    asked: Mutex<Vec<Question>>,
}

impl Fake {
    /// A file with this text; an attribute of sysfs ends its line.
    pub(crate) fn file(self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> Self {
        let (path, mut text) = (path.as_ref().to_owned(), text.as_ref().to_vec());
        if (path.starts_with("/sys") || path == Path::new("/proc/version"))
            && text.last().is_some_and(|last| *last != b'\n')
        {
            text.push(b'\n');
        }
        self.answer(Question::Read(path), text)
    }

    /// Files below one directory: `name value` pairs.
    pub(crate) fn files(self, directory: &str, files: &[(&str, &str)]) -> Self {
        files.iter().fold(self, |fake, (name, text)| {
            fake.file(format!("{directory}/{name}"), format!("{text}\n"))
        })
    }

    /// The answer of stat for a path: its type and permissions, as in `st_mode`.
    pub(crate) fn node(self, path: &str, mode: u64) -> Self {
        let (node_major, node_minor) = (253, 0);
        let stat = Stat {
            mode,
            uid: 0,
            gid: 0,
            major: 0,
            minor: 5,
            node_major,
            node_minor,
            inode: 1,
            size: 4096,
            changed: None,
        };
        self.answer(Question::Stat(path.into()), stat.encode())
    }

    pub(crate) fn symlink(self, path: impl AsRef<Path>, to: &str) -> Self {
        self.answer(Question::Link(path.as_ref().to_owned()), to)
    }

    pub(crate) fn answer(mut self, question: Question, answer: impl AsRef<[u8]>) -> Self {
        self.answers.insert(question, Ok(answer.as_ref().to_vec()));
        self
    }

    pub(crate) fn refuse(mut self, question: Question, kind: MissKind) -> Self {
        self.answers
            .insert(question, Err(Miss::new(kind, "refused")));
        self
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }

    fn children(&self, directory: &Path) -> Result<Vec<u8>, Miss> {
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
            Err(Miss::new(MissKind::Absent, ""))
        } else {
            Ok(names.into_iter().collect::<Vec<_>>().join(&0))
        }
    }
}

impl Host for Fake {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self
            .answers
            .get(question)
            .or_else(|| self.answers.get(question.bare()));
        match (answer, question.bare()) {
            (Some(answer), _) => answer.clone(),
            (None, Question::List(directory)) => self.children(directory),
            (None, _) => Err(Miss::new(MissKind::Absent, "no such file")),
        }
    }
}

/// The notes, as sentences.
pub(crate) fn sentences(facts: &FactSet) -> Vec<String> {
    facts.warnings().iter().map(ToString::to_string).collect()
}

/// All text of a set that is displayed: names, values, sources, reasons and warnings.
pub(crate) fn shown(facts: &FactSet) -> String {
    let mut out = sentences(facts);
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
