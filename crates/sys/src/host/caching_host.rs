//! Asks another host each question only once, so that collectors can run again over the same
//! answers, and a capture has one answer for each question.
//!
//! A new question is passed on to the other host, because an assumed fact can lead a collector to
//! questions that were not asked before.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::capture_format::{self, Answers};
use super::{Host, HostResult, Question, mask};
use crate::limits::SubjectLimits;
use walwise_model::parallel::lock;

pub struct CachingHost<H> {
    host: H,
    answers: Mutex<HashMap<Question, Arc<OnceLock<HostResult>>>>,
}

impl<H: Deref<Target: Host>> CachingHost<H> {
    pub fn new(host: H) -> Self {
        Self {
            host,
            answers: Mutex::default(),
        }
    }

    pub fn find_cached_answer(
        &self,
        of: impl Fn(&Question) -> bool,
    ) -> Option<(Question, Vec<u8>)> {
        let answers = lock(&self.answers);
        let answered = answers
            .iter()
            .filter_map(|(question, answer)| Some((question, answer.get()?.as_ref().ok()?)));
        // If several questions match, the smallest is chosen, so that the result is reproducible.
        let found = answered
            .filter(|(question, _)| of(question))
            .min_by_key(|(question, _)| format!("{question:?}"));
        found.map(|(question, answer)| (question.clone(), answer.clone()))
    }

    /// Renders the answers as a capture. `masked` replaces serials, world-wide names, UUIDs,
    /// addresses, and names of hosts and users one-to-one.
    pub fn render_capture(&self, comment: &str, masked: bool) -> String {
        let answers: Answers = lock(&self.answers)
            .iter()
            .filter_map(|(question, answer)| Some((question.clone(), answer.get()?.clone())))
            .collect();
        let answers = if masked {
            mask::mask_answers(&answers)
        } else {
            answers
        };
        capture_format::render_capture(&answers, comment)
    }

    /// Asks the answered questions for which `of` is true again. Returns true if an answer has
    /// changed; later callers get the new answers.
    pub fn refresh_matching_answers(&self, of: impl Fn(&Question) -> bool) -> bool {
        let locked = || lock(&self.answers);
        let asked: Vec<Question> = locked()
            .keys()
            .filter(|question| of(question))
            .cloned()
            .collect();
        let mut is_changed = false;
        for question in asked {
            let now = self.host.ask(&question);
            let mut answers = locked();
            let before = answers.get(&question).and_then(|answer| answer.get());
            if before.is_some_and(|before| *before != now) {
                answers.insert(question, Arc::new(OnceLock::from(now)));
                is_changed = true;
            }
        }
        is_changed
    }
}

impl<H: Deref<Target: Host> + Sync> Host for CachingHost<H> {
    fn ask(&self, question: &Question) -> HostResult {
        let answer = {
            let mut answers = lock(&self.answers);
            match answers.get(question) {
                Some(answer) => Arc::clone(answer),
                None => Arc::clone(answers.entry(question.clone()).or_default()),
            }
        };
        // Only callers with the same question wait for this answer.
        answer.get_or_init(|| self.host.ask(question)).clone()
    }

    fn run_notes(&self) -> Vec<String> {
        self.host.run_notes()
    }

    fn possible_masked_paths(&self, path: &Path) -> Vec<PathBuf> {
        self.host.possible_masked_paths(path)
    }

    fn subject_count_limits(&self) -> SubjectLimits {
        self.host.subject_count_limits()
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::deadline::{ThreadInTime, wait_for_condition};

    /// A host whose answers are numbered, so that no two are equal.
    struct NumberedAnswerHost(AtomicU32);

    /// A host that answers [`Question::Resources`] only when two callers wait for the answer.
    struct TwoCallerHost(NumberedAnswerHost, AtomicU32);

    impl TwoCallerHost {
        fn wait_for_two_callers(&self) {
            self.1.fetch_add(1, Ordering::SeqCst);
            wait_for_condition("both have come", || self.1.load(Ordering::SeqCst) >= 2);
        }
    }

    impl Host for TwoCallerHost {
        fn ask(&self, question: &Question) -> HostResult {
            if question == &Question::Resources {
                self.wait_for_two_callers();
            }
            self.0.ask(question)
        }
    }

    impl Host for NumberedAnswerHost {
        fn ask(&self, _: &Question) -> HostResult {
            Ok(self
                .0
                .fetch_add(1, Ordering::Relaxed)
                .to_string()
                .into_bytes())
        }
    }

    #[test]
    fn repeated_question_is_asked_once() {
        let counter = NumberedAnswerHost(AtomicU32::new(0));
        let host = CachingHost::new(&counter);
        let first = host.ask(&Question::Uname);
        assert_ne!(host.ask(&Question::Resources), first);
        assert_eq!(host.ask(&Question::Uname), first);
        assert_eq!(counter.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn concurrent_callers_share_one_answer() {
        let slow = TwoCallerHost(NumberedAnswerHost(AtomicU32::new(0)), AtomicU32::new(0));
        let host = CachingHost::new(&slow);
        let answers = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| host.ask(&Question::Resources)))
                .collect();
            host.ask(&Question::Uname).unwrap();
            slow.wait_for_two_callers();
            asking
                .into_iter()
                .map(ThreadInTime::join_in_time)
                .collect::<Vec<_>>()
        });
        assert!(answers.iter().all(|answer| answer == &answers[0]));
        assert_eq!(slow.0.0.load(Ordering::Relaxed), 2);
    }
}
