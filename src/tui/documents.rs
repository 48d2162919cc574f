//! Rendered documents, the file name being typed, and what was saved, as values only.
//! [`super::export`] acts on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::job::JobId;
use super::widgets::field::Field;
use crate::report::Format;

#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The report in each rendered format; the error is the reason.
    pub documents: BTreeMap<Format, Result<ExportDocument, String>>,
    pub render_job: Option<(JobId, Format)>,
    pub save_job: Option<JobId>,
    /// The message about the last saved file.
    pub saved_notice: Option<String>,
}

impl Export {
    /// Drops documents of a replaced report.
    pub fn forget(&mut self) {
        self.documents.clear();
        self.render_job = None;
    }

    /// The report in this format, once rendered; the error is the reason.
    pub fn document(&self, format: Format) -> Option<Result<&ExportDocument, &str>> {
        self.documents
            .get(&format)
            .map(|made| made.as_ref().map_err(String::as_str))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportDocument {
    pub text: Arc<str>,
    pub lines: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveForm {
    pub format: Format,
    pub name: Field,
    pub stage: SaveState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveState {
    /// The name is being typed; the error of the last attempt, if any.
    Naming(Option<String>),
    Saving,
    /// This file exists already.
    Exists(String),
}
