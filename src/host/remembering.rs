//! Asks another host each question once, so that collectors can run again over the very same answers. The surprise: what
//! was not asked before is asked now, which is how a fact that is assumed can lead to facts that nobody had read.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use super::{Host, Miss, Question};

/// A host that remembers what it answered.
pub struct RememberingHost<H> {
    host: H,
    answers: Mutex<HashMap<Question, Result<Vec<u8>, Miss>>>,
}

impl<H: Deref<Target: Host>> RememberingHost<H> {
    /// Asks this host, which is borrowed or its own.
    pub fn new(host: H) -> Self {
        Self { host, answers: Mutex::default() }
    }

    /// A question of this kind that was answered, with the answer.
    pub fn answered(&self, of: impl Fn(&Question) -> bool) -> Option<(Question, Vec<u8>)> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answered =
            answers.iter().filter_map(|(question, answer)| Some((question, answer.as_ref().ok()?)));
        // Of several the least, so that it is always the same one.
        let found =
            answered.filter(|(question, _)| of(question)).min_by_key(|(question, _)| format!("{question:?}"));
        found.map(|(question, answer)| (question.clone(), answer.clone()))
    }
}

impl<H: Deref<Target: Host> + Sync> Host for RememberingHost<H> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        let known = self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(question).cloned();
        known.unwrap_or_else(|| {
            // Not held while asking: answers take their time, and others ask meanwhile.
            let answer = self.host.ask(question);
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.entry(question.clone()).or_insert(answer).clone()
        })
    }

    fn notes(&self) -> Vec<String> {
        self.host.notes()
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A host that never answers the same twice.
    struct Counter(AtomicU32);

    impl Host for Counter {
        fn ask(&self, _: &Question) -> Result<Vec<u8>, Miss> {
            Ok(self.0.fetch_add(1, Ordering::Relaxed).to_string().into_bytes())
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
}
