//! A machine whose recorded answers are edited, for the collectors to read again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Host, Miss, Question};
use crate::bounds::Bounds;

type QuestionFilter = Box<dyn Fn(&Question) -> bool + Send + Sync>;
type AnswerChange = Box<dyn Fn(&str) -> Result<String, Miss> + Send + Sync>;

/// A change of the answers to some questions.
pub struct Edit {
    of: QuestionFilter,
    change: AnswerChange,
}

impl Edit {
    /// Changes the answers to the questions that meet a condition, or takes them away.
    pub fn new(
        of: impl Fn(&Question) -> bool + Send + Sync + 'static,
        change: impl Fn(&str) -> Result<String, Miss> + Send + Sync + 'static,
    ) -> Self {
        Self {
            of: Box::new(of),
            change: Box::new(change),
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl Edit {
    /// An answer as it is edited.
    pub fn change(&self, text: &str) -> Result<String, Miss> {
        (self.change)(text)
    }
}

/// The answers that were edited, each with the numbers of the lines that changed; none where it was
/// taken away.
pub type EditedAnswers = BTreeMap<Question, BTreeSet<u32>>;

/// Another host with edited answers.
pub struct EditedHost<'a> {
    host: &'a dyn Host,
    edits: Vec<Edit>,
    edited: Mutex<EditedAnswers>,
}

impl<'a> EditedHost<'a> {
    pub fn new(host: &'a dyn Host, edits: Vec<Edit>) -> Self {
        Self {
            host,
            edits,
            edited: Mutex::default(),
        }
    }

    /// The answers that were edited so far.
    pub fn edited(self) -> EditedAnswers {
        self.edited
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The numbers of the lines that differ: those of a file, or those that the answer about a
/// configuration has in front.
fn changed(question: &Question, before: &str, now: &str) -> BTreeSet<u32> {
    let kept: BTreeSet<(u32, &str)> = (1..).zip(before.lines()).collect();
    let other = (1..).zip(now.lines()).filter(|line| !kept.contains(line));
    let number = |(at, line): (u32, &str)| match question {
        Question::Config(..) => line
            .split([' ', '\t'])
            .next()
            .and_then(|number| number.parse().ok()),
        _ => Some(at),
    };
    other.filter_map(number).collect()
}

impl Host for EditedHost<'_> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        let mut answer = self.host.ask(question)?;
        let bare = question.bare();
        for edit in self.edits.iter().filter(|edit| (edit.of)(bare)) {
            let Ok(before) = std::str::from_utf8(&answer) else {
                continue;
            };
            let now = (edit.change)(before);
            if now.as_ref().is_ok_and(|now| now == before) {
                continue;
            }
            let lines = now
                .as_ref()
                .map(|now| changed(bare, before, now))
                .unwrap_or_default();
            let mut edited = self.edited.lock().unwrap_or_else(PoisonError::into_inner);
            edited.entry(bare.clone()).or_default().extend(lines);
            answer = now?.into_bytes();
        }
        Ok(answer)
    }

    fn notes(&self) -> Vec<String> {
        self.host.notes()
    }

    fn may_be_called(&self, path: &Path) -> Vec<PathBuf> {
        self.host.may_be_called(path)
    }

    fn bounds(&self) -> Bounds {
        self.host.bounds()
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}
