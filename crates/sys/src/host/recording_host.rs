//! Records the answers of another host, for a capture.

use std::sync::{Mutex, PoisonError};

use super::archive::{self, Answers};
use super::mask;
use super::{Host, HostError, Question};
use crate::bounds::Bounds;

pub struct RecordingHost<'a> {
    host: &'a dyn Host,
    answers: Mutex<Answers>,
}

impl<'a> RecordingHost<'a> {
    pub fn new(host: &'a dyn Host) -> Self {
        Self {
            host,
            answers: Mutex::default(),
        }
    }

    /// The questions and answers so far as an archive, with `comment` at its top. With `masked`,
    /// serials, world-wide names, UUIDs, addresses, and names of hosts and users are replaced
    /// one-to-one.
    pub fn archive(&self, comment: &str, masked: bool) -> String {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if masked {
            archive::write(&mask::mask(&answers), comment)
        } else {
            archive::write(&answers, comment)
        }
    }
}

impl Host for RecordingHost<'_> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let answer = self.host.ask(question);
        self.answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(question.clone(), answer.clone());
        answer
    }

    fn notes(&self) -> Vec<String> {
        self.host.notes()
    }

    fn bounds(&self) -> Bounds {
        self.host.bounds()
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}
