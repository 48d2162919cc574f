//! Comparisons with a saved report or an upgrade, and the watch for changes of the host.

use super::changes_state::{ComparisonState, ReferenceList};
use super::export;
use super::job::{ComparisonReference, HostChange, Job, JobResult, SaveOutcome};
use super::model::{Model, Overlay};
use super::screen_data::BackgroundActivity;
use super::screen_id::ScreenId;
use super::widgets::text_field::TextField;

pub fn open_reference_list(model: &mut Model, of: ComparisonReference) {
    model
        .data
        .forget_jobs(|job| matches!(job, Job::ListReferences(_)));
    model.start_job(Job::ListReferences(of));
    model.overlay = Some(Overlay::References(ReferenceList {
        of,
        choices: None,
        filter: TextField::default(),
        chosen: 0,
    }));
}

/// Chooses the selected entry of the open list and closes the list; false without an entry.
pub fn try_choose_reference(model: &mut Model) -> bool {
    let Some(Overlay::References(list)) = &model.overlay else {
        return false;
    };
    let Ok(name) = list.chosen_reference_name() else {
        return false;
    };
    let of = list.of;
    model
        .data
        .forget_jobs(|job| matches!(job, Job::Compare(with, _) if *with == of));
    *model.data.changes.comparison_mut(of) = ComparisonState {
        chosen: Some(name),
        result: None,
    };
    model.overlay = None;
    true
}

/// Comparisons start only on the screen Changes, and the watch only on a live host.
pub fn start_comparison_and_watch_jobs(model: &mut Model) {
    let Some(report) = model.data.report.as_ref().filter(|_| model.data.complete) else {
        return;
    };
    let is_read = !matches!(model.data.activity, BackgroundActivity::Collecting { .. });
    let is_watched = || model.data.is_job_running(|job| matches!(job, Job::Watch));
    if report.host.live && is_read && !is_watched() {
        model.start_job(Job::Watch);
    }
    if model.screen != ScreenId::Changes {
        return;
    }
    for with in ComparisonReference::ALL {
        let is_running = model.data.is_comparison_running(with);
        let state = model.data.changes.comparison_mut(with);
        let is_wanted = with == ComparisonReference::SavedReport || state.chosen.is_some();
        if is_wanted && !is_running && state.result.is_none() {
            let job = Job::Compare(with, state.chosen.clone());
            model.start_job(job);
        }
    }
}

pub fn show_reference_choices(model: &mut Model, result: JobResult) {
    if let Some(Overlay::References(list)) = &mut model.overlay {
        list.choices = Some(match result {
            JobResult::References(choices) => Ok(choices),
            JobResult::Failed(why) => Err(why),
            _ => return,
        });
    }
}

pub fn show_comparison(model: &mut Model, with: ComparisonReference, result: JobResult) {
    let state = model.data.changes.comparison_mut(with);
    state.result = Some(match result {
        JobResult::Comparison(compared) => Ok(compared),
        JobResult::Failed(why) => Err(why),
        _ => return,
    });
    if let Some(Ok(Some(compared))) = &state.result {
        state.chosen = Some(compared.name.clone());
    }
}

pub fn show_host_change(model: &mut Model, HostChange { report, changed }: HostChange) {
    model.show_report(Box::new(report));
    let is_changed = !changed.sentences.is_empty();
    model.data.changes.moved = is_changed.then_some(changed);
}

pub fn show_report_save_result(model: &mut Model, result: &JobResult) {
    model.notice = export::save_notice(result);
    let saved = &mut model.data.changes.saved.result;
    // The first saved report becomes the baseline; a later one only enters the list.
    if matches!(result, JobResult::Saved(SaveOutcome::At(_))) && matches!(saved, Some(Ok(None))) {
        *saved = None;
    }
}
