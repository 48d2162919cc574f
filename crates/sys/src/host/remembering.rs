//! Asks another host each question once, so that collectors can run again over the very same
//! answers.
//!
//! A question that was not asked before is asked of the other host. An assumed fact can therefore
//! lead to facts that nothing had read yet.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Host, Miss, Question};
use crate::bounds::Bounds;

type RememberedAnswer = Result<Vec<u8>, Miss>;

/// A host that remembers its answers.
pub struct RememberingHost<H> {
    host: H,
    answers: Mutex<HashMap<Question, Arc<OnceLock<RememberedAnswer>>>>,
}

impl<H: Deref<Target: Host>> RememberingHost<H> {
    /// Wraps a host, borrowed or owned.
    pub fn new(host: H) -> Self {
        Self {
            host,
            answers: Mutex::default(),
        }
    }

    /// A question of this kind that was answered, with the answer.
    pub fn answered(&self, of: impl Fn(&Question) -> bool) -> Option<(Question, Vec<u8>)> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = answers
            .iter()
            .filter_map(|(question, answer)| Some((question, answer.get()?.as_ref().ok()?)));
        // The least of several, so that the choice is always the same.
        let found = answered
            .filter(|(question, _)| of(question))
            .min_by_key(|(question, _)| format!("{question:?}"));
        found.map(|(question, answer)| (question.clone(), answer.clone()))
    }
}

impl<H: Deref<Target: Host> + Sync> Host for RememberingHost<H> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        let answer = {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            match answers.get(question) {
                Some(answer) => Arc::clone(answer),
                None => Arc::clone(answers.entry(question.clone()).or_default()),
            }
        };
        // An answer may take time: whoever asks the same question waits for it; other questions
        // proceed.
        answer.get_or_init(|| self.host.ask(question)).clone()
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::deadline::{ThreadInTime, wait_for};

    /// A host that never answers the same twice.
    struct Counter(AtomicU32);

    /// One that answers only when nobody else can be on the way to ask it the same.
    struct Slow(Counter, AtomicU32);

    impl Slow {
        /// Waits until both have come.
        fn meet(&self) {
            self.1.fetch_add(1, Ordering::SeqCst);
            wait_for("both have come", || self.1.load(Ordering::SeqCst) >= 2);
        }
    }

    impl Host for Slow {
        fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
            if question == &Question::Summary {
                self.meet();
            }
            self.0.ask(question)
        }
    }

    impl Host for Counter {
        fn ask(&self, _: &Question) -> Result<Vec<u8>, Miss> {
            Ok(self
                .0
                .fetch_add(1, Ordering::Relaxed)
                .to_string()
                .into_bytes())
        }
    }

    #[test]
    fn a_question_has_one_answer() {
        let counter = Counter(AtomicU32::new(0));
        let host = RememberingHost::new(&counter);
        let first = host.ask(&Question::Uname);
        assert_ne!(host.ask(&Question::Summary), first);
        assert_eq!(host.ask(&Question::Uname), first);
        assert_eq!(counter.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn whoever_asks_what_is_being_asked_waits_for_the_answer() {
        let slow = Slow(Counter(AtomicU32::new(0)), AtomicU32::new(0));
        let host = RememberingHost::new(&slow);
        let answers = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| host.ask(&Question::Summary)))
                .collect();
            // One question is before the host; another one is answered meanwhile.
            host.ask(&Question::Uname).unwrap();
            slow.meet();
            asking
                .into_iter()
                .map(ThreadInTime::join_in_time)
                .collect::<Vec<_>>()
        });
        assert!(answers.iter().all(|answer| answer == &answers[0]));
        assert_eq!(slow.0.0.load(Ordering::Relaxed), 2);
    }
}
