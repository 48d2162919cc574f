//! Renders, saves and copies documents. A document is saved and copied byte for byte as shown,
//! until a newer report replaces it.

use std::sync::Arc;

use super::export_state::{ExportDocument, SaveForm, SaveFormStage};
use super::job::{Job, JobResult, SaveOutcome, SaveRequest};
use super::model::{Model, Overlay};
use super::page::PaneFocus;
use super::screen_data::ScreenData;
use super::screen_id::ScreenId;
use super::widgets::text_field::TextField;
use crate::facts::{Choice as _, Subject};
use crate::report::{Format, Report};

/// Largest document for the clipboard, in bytes. Terminals cut or drop longer escape sequences;
/// hterm, the strictest with a documented limit, accepts 100 000 characters of base64.
pub const MAX_COPIED_BYTES: usize = 74_994;
/// Length limit, in characters, for the host and for the target in a proposed file name.
const MAX_NAME_PART: usize = 60;

pub fn selected_format(model: &Model) -> Format {
    let state = model.pages.get(&ScreenId::Export);
    let name = state.and_then(|state| state.list.selected.as_deref());
    name.and_then(Format::from_word).unwrap_or(Format::Text)
}

pub fn copyable_document(model: &Model) -> Result<&ExportDocument, String> {
    let format = selected_format(model);
    match model.data.export.rendered_document(format) {
        None => Err(format!("press enter to render {} first", format.as_str())),
        Some(Err(why)) => Err(why.to_owned()),
        Some(Ok(document)) if document.text.len() > MAX_COPIED_BYTES => Err(format!(
            "too large for the clipboard ({} kB); press s to save it",
            document.text.len() / 1000
        )),
        Some(Ok(document)) => Ok(document),
    }
}

pub fn check_can_export(data: &ScreenData) -> Result<(), &'static str> {
    let known = data.report.is_some() && data.complete;
    known.then_some(()).ok_or("facts are still being collected")
}

/// Renders the document in the pane, if any. Only one document is rendered at a time.
pub fn start_rendering_shown_document(model: &mut Model) {
    let format = selected_format(model);
    if model.screen == ScreenId::Export
        && model.current_page_state().focus != PaneFocus::List
        && !model
            .data
            .is_job_running(|job| matches!(job, Job::Document(_)))
        && check_can_export(&model.data).is_ok()
        && !model.data.export.documents.contains_key(&format)
    {
        model.start_job(Job::Document(format));
    }
}

pub fn open_save_form(model: &mut Model) {
    let format = selected_format(model);
    let name = model
        .data
        .report
        .as_deref()
        .map(|report| proposed_file_name(report, format))
        .unwrap_or_default();
    let name = TextField::new(&name);
    model.overlay = Some(Overlay::Save(SaveForm {
        format,
        name,
        stage: SaveFormStage::Naming(None),
    }));
}

pub fn start_document_save(model: &mut Model, replace: bool) {
    let Some(Overlay::Save(form)) = &mut model.overlay else {
        return;
    };
    form.stage = SaveFormStage::Saving;
    let document = model
        .data
        .export
        .rendered_document(form.format)
        .and_then(Result::ok);
    let document = document.map(|document| Arc::clone(&document.text));
    let save = SaveRequest {
        format: form.format,
        document,
        name: form.name.text().to_owned(),
        replace,
    };
    model.data.forget_jobs(|job| matches!(job, Job::Save(_)));
    model.start_job(Job::Save(save));
}

pub fn show_document(model: &mut Model, format: Format, result: JobResult) {
    let made = match result {
        JobResult::Document(text) => Ok(ExportDocument {
            lines: text.lines().count(),
            text,
        }),
        JobResult::Failed(why) => Err(why),
        _ => return,
    };
    model.data.export.documents.insert(format, made);
}

pub fn show_save_result(model: &mut Model, result: JobResult) {
    let said = save_notice(&result);
    if matches!(result, JobResult::Saved(SaveOutcome::At(_))) {
        model.data.export.saved_notice.clone_from(&said);
    }
    if let Some(Overlay::Save(form)) = &mut model.overlay
        && form.stage == SaveFormStage::Saving
    {
        match result {
            JobResult::Saved(SaveOutcome::Exists(path)) => {
                return form.stage = SaveFormStage::Exists(path);
            }
            JobResult::Failed(why) => return form.stage = SaveFormStage::Naming(Some(why)),
            JobResult::Saved(SaveOutcome::At(_)) => model.overlay = None,
            _ => {}
        }
    }
    model.notice = said;
}

/// The outcome of a job that saves a file.
pub fn save_notice(result: &JobResult) -> Option<String> {
    match result {
        JobResult::Saved(SaveOutcome::At(path)) => Some(format!("saved: {path}")),
        JobResult::Saved(SaveOutcome::Exists(path)) => {
            Some(format!("not saved: {path} already exists"))
        }
        JobResult::Failed(why) => Some(format!("not saved: {why}")),
        _ => None,
    }
}

fn proposed_file_name(report: &Report, format: Format) -> String {
    let mut parts = vec!["walwise".to_owned(), slugify(&report.host.name)];
    if let [one] = report.targets.as_slice() {
        parts.push(slugify(Subject::name(&one.target)));
    }
    parts.retain(|part| !part.is_empty());
    format!("{}.{}", parts.join("-"), format.extension())
}

fn slugify(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(MAX_NAME_PART).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample_reports;
    use crate::tui::test_sessions::report_with_two_targets;

    #[test]
    fn proposed_file_name_has_host_and_target_and_is_safe() {
        let mut report = sample_reports::at_risk();
        assert_eq!(
            proposed_file_name(&report, Format::Json),
            "walwise-db7-srv-pg-15-main.json"
        );
        assert_eq!(
            proposed_file_name(&report_with_two_targets(), Format::Markdown),
            "walwise-db7.md"
        );
        for name in [
            "../../etc/passwd",
            "a b;rm -rf /",
            "-rf",
            "\u{202e}",
            "",
            "x".repeat(500).as_str(),
        ] {
            report.host.name = name.to_owned();
            let file = proposed_file_name(&report, Format::Text);
            let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(
                file.chars().all(allowed) && file.starts_with("walwise-") && file.len() < 200,
                "{file}"
            );
        }
    }
}
