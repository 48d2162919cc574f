use std::collections::BTreeMap;
use std::sync::Arc;

use super::widgets::text_field::TextField;
use crate::report::Format;

#[derive(Clone, Debug, Default)]
pub struct ExportState {
    /// An error states why the format cannot be rendered.
    pub documents: BTreeMap<Format, Result<ExportDocument, String>>,
    pub saved_notice: Option<String>,
}

impl ExportState {
    /// `None` until the document is rendered.
    pub fn rendered_document(&self, format: Format) -> Option<Result<&ExportDocument, &str>> {
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
    pub name: TextField,
    pub stage: SaveFormStage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveFormStage {
    /// The user types a file name. Holds the error of the last attempt to save, if any.
    Naming(Option<String>),
    Saving,
    /// The user is asked whether to overwrite the existing file at this path.
    Exists(String),
}
