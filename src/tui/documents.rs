//! The documents made of a report, the name being typed for one, and what was saved: values only.
//! What is done with them is in [`super::export`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::job::JobId;
use super::widgets::field::Field;
use crate::report::Format;

/// Documents, and what was done with them.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The report in each form that was made; the error says what failed.
    pub documents: BTreeMap<Format, Result<ExportDocument, String>>,
    /// The form that is being made.
    pub making: Option<(JobId, Format)>,
    /// The job that writes a file.
    pub saving: Option<JobId>,
    /// The sentence about the last saved file.
    pub saved: Option<String>,
}

impl Export {
    /// Forgets documents of a report that has been replaced.
    pub fn forget(&mut self) {
        self.documents.clear();
        self.making = None;
    }

    /// The report in this form, once it was made; the error says what failed.
    pub fn document(&self, format: Format) -> Option<Result<&ExportDocument, &str>> {
        self.documents
            .get(&format)
            .map(|made| made.as_ref().map_err(String::as_str))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportDocument {
    pub text: Arc<str>,
    /// How many lines that are.
    pub lines: usize,
}

/// The form shown before a document is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveForm {
    pub format: Format,
    pub name: Field,
    pub stage: SaveState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveState {
    /// The name is being typed; why it could not be saved the last time, if there was one.
    Naming(Option<String>),
    Saving,
    /// There is this file already.
    Exists(String),
}
