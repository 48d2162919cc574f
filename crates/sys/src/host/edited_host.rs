//! A machine with edited answers, which the collectors read again for a what-if.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Host, HostError, Question};
use crate::bounds::Bounds;

type QuestionFilter = Box<dyn Fn(&Question) -> bool + Send + Sync>;
type AnswerChange = Box<dyn Fn(&str) -> Result<String, HostError> + Send + Sync>;

/// A change to the answers of some questions.
pub struct Edit {
    applies_to: QuestionFilter,
    change: AnswerChange,
}

impl Edit {
    /// Changes the answers to the questions that meet a condition, or removes them.
    pub fn new(
        of: impl Fn(&Question) -> bool + Send + Sync + 'static,
        change: impl Fn(&str) -> Result<String, HostError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            applies_to: Box::new(of),
            change: Box::new(change),
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl Edit {
    pub fn change(&self, text: &str) -> Result<String, HostError> {
        (self.change)(text)
    }
}

/// The edited answers, each with the numbers of the lines that changed; none where it was removed.
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

    pub fn into_edited_answers(self) -> EditedAnswers {
        self.edited
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The numbers of the lines that differ: those of a file, or those at the start of each line of an
/// answer about a configuration.
fn changed_lines(question: &Question, before: &str, now: &str) -> BTreeSet<u32> {
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
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let mut answer = self.host.ask(question)?;
        let bare = question.inner();
        for edit in self.edits.iter().filter(|edit| (edit.applies_to)(bare)) {
            let Ok(before) = std::str::from_utf8(&answer) else {
                continue;
            };
            let now = (edit.change)(before);
            if now.as_ref().is_ok_and(|now| now == before) {
                continue;
            }
            let lines = now
                .as_ref()
                .map(|now| changed_lines(bare, before, now))
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

    fn possible_masks(&self, path: &Path) -> Vec<PathBuf> {
        self.host.possible_masks(path)
    }

    fn bounds(&self) -> Bounds {
        self.host.bounds()
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}
