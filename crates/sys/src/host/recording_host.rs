//! Passes questions to another host and records the answers, for a capture.

use std::sync::{Mutex, PoisonError};

use super::archive::{self, Answers};
use super::mask;
use super::{Host, HostError, Question};
use crate::limits::Limits;

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

    /// Renders all answers so far as a capture that begins with `comment`. `masked` replaces
    /// serials, world-wide names, UUIDs, addresses, and names of hosts and users one-to-one.
    pub fn render_capture(&self, comment: &str, masked: bool) -> String {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if masked {
            archive::render(&mask::mask_answers(&answers), comment)
        } else {
            archive::render(&answers, comment)
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

    fn fact_notes(&self) -> Vec<String> {
        self.host.fact_notes()
    }

    fn collection_limits(&self) -> Limits {
        self.host.collection_limits()
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}
