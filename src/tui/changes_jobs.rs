//! Comparisons with a saved report or an upgrade, and the watch for changes of the host.

use super::changes_state::{ChangedFacts, ComparisonState, ReferenceList};
use super::job::{ComparisonReference, HostChange, Job, JobId, JobResult, SaveOutcome};
use super::model::{Model, Overlay};
use super::screen_data::BackgroundActivity;
use super::screen_id::ScreenId;
use super::widgets::text_field::TextField;

pub fn open_reference_list(model: &mut Model, of: ComparisonReference) {
    model.data.changes.list_job = Some(model.start_job(Job::ListReferences(of)));
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
    let state = model.data.changes.comparison_mut(list.of);
    *state = ComparisonState {
        chosen: Some(name),
        ..ComparisonState::default()
    };
    model.overlay = None;
    true
}

pub fn start_report_save(model: &mut Model) {
    model.data.changes.save_job = Some(model.start_job(Job::SaveReport));
}

/// Comparisons start only on the screen Changes, and the watch only on a live host.
pub fn start_comparison_and_watch_jobs(model: &mut Model) {
    let Some(report) = model.data.report.as_ref().filter(|_| model.data.complete) else {
        return;
    };
    let is_read = !matches!(model.data.activity, BackgroundActivity::Collecting { .. });
    if report.host.live && is_read && model.data.changes.watch_job.is_none() {
        model.data.changes.watch_job = Some(model.start_job(Job::Watch));
    }
    if model.screen != ScreenId::Changes {
        return;
    }
    for with in ComparisonReference::ALL {
        let state = model.data.changes.comparison_mut(with);
        let is_wanted = with == ComparisonReference::SavedReport || state.chosen.is_some();
        if is_wanted && state.job.is_none() && state.result.is_none() {
            let job = Job::Compare(with, state.chosen.clone());
            let job = model.start_job(job);
            model.data.changes.comparison_mut(with).job = Some(job);
        }
    }
}

/// Takes the result of a job of this module, and returns whether facts of the host have changed.
/// The error is the result of another job.
pub fn consume_changes_result(
    model: &mut Model,
    from: JobId,
    result: JobResult,
) -> Result<bool, JobResult> {
    let changes = &mut model.data.changes;
    if changes.watch_job == Some(from) {
        // A failed watch would fail again, so the next one starts only after a rescan.
        if let JobResult::Moved(moved) = result {
            changes.watch_job = None;
            // A running rescan reads this change too.
            if !matches!(model.data.activity, BackgroundActivity::Collecting { .. }) {
                show_host_change(model, *moved);
                return Ok(true);
            }
        }
    } else if changes.save_job == Some(from) {
        changes.save_job = None;
        show_report_save_result(model, result);
    } else if changes.list_job == Some(from) {
        changes.list_job = None;
        if let Some(Overlay::References(list)) = &mut model.overlay {
            list.choices = Some(match result {
                JobResult::References(choices) => Ok(choices),
                JobResult::Failed(why) => Err(why),
                other => return Err(other),
            });
        }
    } else {
        let mut of_job = ComparisonReference::ALL.into_iter();
        let Some(with) = of_job.find(|with| changes.comparison_mut(*with).job == Some(from)) else {
            return Err(result);
        };
        let state = changes.comparison_mut(with);
        state.job = None;
        state.result = Some(match result {
            JobResult::Comparison(compared) => Ok(compared),
            JobResult::Failed(why) => Err(why),
            other => return Err(other),
        });
        if let Some(Ok(Some(compared))) = &state.result {
            state.chosen = Some(compared.name.clone());
        }
    }
    Ok(false)
}

fn show_host_change(model: &mut Model, moved: HostChange) {
    let HostChange {
        report,
        facts,
        sentences,
        sections,
    } = moved;
    model.show_report(Box::new(report));
    model.data.changes.moved = (!sentences.is_empty()).then_some(ChangedFacts {
        facts,
        sentences,
        sections,
    });
}

fn show_report_save_result(model: &mut Model, result: JobResult) {
    let saved = &mut model.data.changes.saved;
    model.notice = Some(match result {
        JobResult::Saved(SaveOutcome::At(path)) => {
            // The first saved report becomes the baseline; a later one only enters the list.
            saved.result = saved
                .result
                .take()
                .filter(|shown| !matches!(shown, Ok(None)));
            format!("saved: {path}")
        }
        JobResult::Saved(SaveOutcome::Exists(path)) => format!("not saved: {path} already exists"),
        JobResult::Failed(why) => format!("not saved: {why}"),
        _ => return,
    });
}
