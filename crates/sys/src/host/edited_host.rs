//! A host with edited answers. The collectors run on it again to evaluate an assumption.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::{Host, HostError, HostResult, Question};
use crate::limits::SubjectLimits;
use walwise_model::parallel::lock;

type QuestionFilter = Box<dyn Fn(&Question) -> bool + Send + Sync>;
type AnswerChange = Box<dyn Fn(&str) -> Result<String, HostError> + Send + Sync>;

pub struct AnswerEdit {
    applies_to: QuestionFilter,
    change: AnswerChange,
}

impl AnswerEdit {
    /// Applies `change` to the answers of the questions for which `of` is true. An error from
    /// `change` replaces the answer.
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
impl AnswerEdit {
    pub fn apply_to(&self, text: &str) -> Result<String, HostError> {
        (self.change)(text)
    }
}

/// Edited answers, each with the numbers of the changed lines. The set of numbers is empty if an
/// error replaced the answer.
pub type EditedLinesByQuestion = BTreeMap<Question, BTreeSet<u32>>;

pub struct EditedHost<'a> {
    host: &'a dyn Host,
    edits: Vec<AnswerEdit>,
    edited: Mutex<EditedLinesByQuestion>,
}

impl<'a> EditedHost<'a> {
    pub fn new(host: &'a dyn Host, edits: Vec<AnswerEdit>) -> Self {
        Self {
            host,
            edits,
            edited: Mutex::default(),
        }
    }

    pub fn into_edited_lines(self) -> EditedLinesByQuestion {
        self.edited
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The numbers of the lines of `now` that differ from `before`. For a configuration answer, the
/// numbers are the file's line numbers, with which its lines start.
fn changed_line_numbers(question: &Question, before: &str, now: &str) -> BTreeSet<u32> {
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
    fn ask(&self, question: &Question) -> HostResult {
        let mut answer = self.host.ask(question)?;
        let bare = question.strip_as_user();
        for edit in self.edits.iter().filter(|edit| (edit.applies_to)(bare)) {
            let Ok(before) = str::from_utf8(&answer) else {
                continue;
            };
            let now = (edit.change)(before);
            if now.as_ref().is_ok_and(|now| now == before) {
                continue;
            }
            let lines = now
                .as_ref()
                .map(|now| changed_line_numbers(bare, before, now))
                .unwrap_or_default();
            let mut edited = lock(&self.edited);
            edited.entry(bare.clone()).or_default().extend(lines);
            answer = now?.into_bytes();
        }
        Ok(answer)
    }

    fn run_notes(&self) -> Vec<String> {
        self.host.run_notes()
    }

    fn subject_count_limits(&self) -> SubjectLimits {
        self.host.subject_count_limits()
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}
