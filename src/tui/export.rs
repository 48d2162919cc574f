//! What is done with an export: documents are asked for, a name is typed, files are saved.
//!
//! The worker makes documents and writes files; the state is in [`super::documents`]. The displayed
//! document is the one that is saved and copied, byte for byte, until a newer report arrives.

use std::sync::Arc;

use super::data::Data;
use super::documents::{ExportDocument, SaveForm, SaveState};
use super::job::{Job, JobId, JobResult, Save, Saved};
use super::model::{Model, Overlay};
use super::msg::SideEffect;
use super::screen_id::ScreenId;
use super::widgets::field::Field;
use crate::facts::Subject;
use crate::report::{Format, Report};

/// The most bytes that are sent to the clipboard. Terminals cut or drop longer sequences; hterm,
/// the strictest that documents its bound, takes 100 000 characters, which are so many bytes in
/// base64.
pub const MOST_COPIED: usize = 74_994;
/// The longest part of a proposed file name that comes from a host or a target, in characters.
const LONGEST: usize = 60;

/// The form that is selected on the screen.
pub fn selected(model: &Model) -> Format {
    let state = model.pages.get(&ScreenId::Export);
    let name = state.and_then(|state| state.selected.as_deref());
    Format::ALL
        .into_iter()
        .find(|format| Some(format.name()) == name)
        .unwrap_or(Format::Text)
}

/// Whether the selected document can be copied; the error says why not.
pub fn to_copy(model: &Model) -> Result<&ExportDocument, String> {
    let format = selected(model);
    match model.data.export.document(format) {
        None => Err(format!("enter shows the {} first", format.name())),
        Some(Err(why)) => Err(why.to_owned()),
        Some(Ok(document)) if document.text.len() > MOST_COPIED => Err(format!(
            "{} kB are more than terminals take; s saves it",
            document.text.len() / 1000
        )),
        Some(Ok(document)) => Ok(document),
    }
}

/// Whether there is something to save; the error says why not.
pub fn may_save(data: &Data) -> Result<(), String> {
    let known = data.report.is_some() && data.complete;
    known
        .then_some(())
        .ok_or_else(|| "facts are still being collected".to_owned())
}

/// Starts making the next visible document that is missing, one at a time.
pub fn make(model: &mut Model) -> Option<SideEffect> {
    if model.screen != ScreenId::Export
        || model.data.export.making.is_some()
        || may_save(&model.data).is_err()
    {
        return None;
    }
    let state = model.page_state();
    let missing = |format: &Format| {
        state.is_unfolded(format.name()) && !model.data.export.documents.contains_key(format)
    };
    let format = Format::ALL.into_iter().find(missing)?;
    let job = model.number();
    model.data.export.making = Some((job, format));
    Some(SideEffect::Start(job, Job::Document(format)))
}

/// Asks for the name of the file.
pub fn ask(model: &mut Model) {
    let format = selected(model);
    let name = model
        .data
        .report
        .as_deref()
        .map(|report| file_name(report, format))
        .unwrap_or_default();
    let name = Field::new(&name);
    model.overlay = Some(Overlay::Save(SaveForm {
        format,
        name,
        stage: SaveState::Naming(None),
    }));
}

/// Begins to save as typed.
pub fn save(model: &mut Model, replace: bool) -> Option<SideEffect> {
    let job = model.number();
    let Some(Overlay::Save(form)) = &mut model.overlay else {
        return None;
    };
    form.stage = SaveState::Saving;
    let document = model.data.export.document(form.format).and_then(Result::ok);
    let document = document.map(|document| Arc::clone(&document.text));
    let save = Save {
        format: form.format,
        document,
        name: form.name.text().to_owned(),
        replace,
    };
    model.data.export.saving = Some(job);
    Some(SideEffect::Start(job, Job::Save(save)))
}

/// Takes the result of a job of this module; returns any other.
pub fn done(model: &mut Model, from: JobId, result: JobResult) -> Option<JobResult> {
    let export = &mut model.data.export;
    if let Some((_, format)) = export.making.filter(|(job, _)| *job == from) {
        export.making = None;
        let made = match result {
            JobResult::Document(text) => Ok(ExportDocument {
                lines: text.lines().count(),
                text,
            }),
            JobResult::Failed(why) => Err(why),
            _ => return None,
        };
        export.documents.insert(format, made);
        return None;
    }
    if export.saving == Some(from) {
        export.saving = None;
        saved(model, result);
        return None;
    }
    Some(result)
}

/// The result of saving is shown where it was requested, or in a line when nobody waited.
fn saved(model: &mut Model, result: JobResult) {
    let waiting = match &mut model.overlay {
        Some(Overlay::Save(form)) if form.stage == SaveState::Saving => Some(form),
        _ => None,
    };
    let said = match (result, waiting) {
        (JobResult::Saved(Saved::At(path)), waiting) => {
            let said = format!("saved: {path}");
            if waiting.is_some() {
                model.overlay = None;
            }
            model.data.export.saved = Some(said.clone());
            said
        }
        (JobResult::Saved(Saved::Exists(path)), Some(form)) => {
            return form.stage = SaveState::Exists(path);
        }
        (JobResult::Saved(Saved::Exists(path)), None) => format!("not saved: {path} exists"),
        (JobResult::Failed(why), Some(form)) => return form.stage = SaveState::Naming(Some(why)),
        (JobResult::Failed(why), None) => format!("not saved: {why}"),
        _ => return,
    };
    model.notice = Some(said);
}

/// A name for the file: of the host, and of the target where the report is of one.
fn file_name(report: &Report, format: Format) -> String {
    let mut parts = vec!["walwise".to_owned(), plain(&report.host.name)];
    if let [one] = report.targets.as_slice() {
        parts.push(plain(Subject::name(&one.target)));
    }
    parts.retain(|part| !part.is_empty());
    format!("{}.{}", parts.join("-"), format.extension())
}

/// Letters and digits, and single dashes for everything else.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::tui::sample::two_targets;

    #[test]
    fn a_proposed_name_says_host_and_target_and_is_a_plain_one() {
        let mut report = sample::at_risk();
        assert_eq!(
            file_name(&report, Format::Json),
            "walwise-db7-srv-pg-15-main.json"
        );
        assert_eq!(
            file_name(&two_targets(), Format::Markdown),
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
            let file = file_name(&report, Format::Text);
            let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(
                file.chars().all(allowed) && file.starts_with("walwise-") && file.len() < 200,
                "{file}"
            );
        }
    }
}
