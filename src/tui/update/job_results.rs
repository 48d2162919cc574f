use super::{change_cursor, show_screen};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{Measurement, measurement_summary};
use crate::report::Plan;
use crate::report::latency::wal_sync_method_in_force;
use crate::tui::assumptions::AssumedHost;
use crate::tui::changes_jobs;
use crate::tui::export;
use crate::tui::job::{Job, JobId, JobProgress, JobResult};
use crate::tui::model::{Model, Overlay};
use crate::tui::page::Motion;
use crate::tui::screen_data::{BackgroundActivity, FinishedProbe};
use crate::tui::screen_id::ScreenId;

pub(super) fn handle_job_progress(model: &mut Model, from: JobId, partial: JobProgress) {
    if model.data.activity.job_id() != Some(from) {
        return;
    }
    match (partial, &mut model.data.activity) {
        (JobProgress::Reading(now), BackgroundActivity::Collecting { what, .. }) => *what = now,
        (JobProgress::Probing(mut now), BackgroundActivity::Probing { progress, .. }) => {
            // Most messages contain no figures, so the last figures stay until newer ones arrive.
            if now.interim.is_none()
                && let Some(before) = progress.take()
            {
                (now.interim, now.histogram) = (before.interim, before.histogram);
            }
            *progress = Some(now);
        }
        (JobProgress::Report(report), _) => model.show_partial_report(report),
        (JobProgress::Rules(rules), _) => model.data.rules = rules,
        _ => {}
    }
}

pub(super) fn handle_job_result(model: &mut Model, from: JobId, result: JobResult) {
    let Some(job) = model.data.jobs.remove(&from) else {
        return;
    };
    match (job, result) {
        (Job::Raw(source, value), JobResult::Raw(lines)) => {
            model.data.raw.insert_lines(&source, value, lines);
        }
        (Job::Document(format), result) => export::show_document(model, format, result),
        (Job::Save(_), result) => export::show_save_result(model, result),
        (Job::SaveReport, result) => changes_jobs::show_report_save_result(model, &result),
        (Job::ListReferences(_), result) => changes_jobs::show_reference_choices(model, result),
        (Job::Compare(with, _), result) => changes_jobs::show_comparison(model, with, result),
        (Job::Watch, JobResult::Moved(moved)) => {
            // A running rescan reads this change too.
            if !matches!(model.data.activity, BackgroundActivity::Collecting { .. }) {
                changes_jobs::show_host_change(model, *moved);
                if model.data.activity == BackgroundActivity::Idle {
                    reevaluate_assumptions(model);
                }
            }
        }
        // A failed watch would fail again, so it counts as running and no other is started.
        (Job::Watch, _) => {
            model.data.jobs.insert(from, Job::Watch);
        }
        (_, result) if model.data.activity.job_id() == Some(from) => {
            handle_activity_result(model, result);
        }
        (_, _) => {}
    }
}

fn handle_activity_result(model: &mut Model, result: JobResult) {
    let activity = std::mem::replace(&mut model.data.activity, BackgroundActivity::Idle);
    match (result, activity) {
        (JobResult::Report(report), BackgroundActivity::Replanning { .. }) => {
            model.show_report(report);
            let wish = model
                .data
                .target_plan()
                .and_then(Plan::requested_filesystem_sentence);
            model.notice =
                Some(wish.unwrap_or_else(|| {
                    "the plan uses the recommended file system again".to_owned()
                }));
            reevaluate_assumptions(model);
        }
        (JobResult::Report(report), activity) => {
            if let BackgroundActivity::Probing {
                target, progress, ..
            } = activity
            {
                let found = report.measurement(&target);
                // The probe screen itself shows the result.
                let elsewhere = model.screen != ScreenId::Probe;
                let cluster = report.targets.iter().find(|about| about.target == target);
                let in_force = wal_sync_method_in_force(
                    &report,
                    cluster.and_then(|about| about.cluster.as_ref()),
                );
                let says = |measurement: &Measurement| probe_notice(measurement, in_force);
                model.notice = found.filter(|_| elsewhere).map(says);
                let histogram = progress
                    .map(|progress| progress.histogram)
                    .unwrap_or_default();
                model.data.last_probe = Some(FinishedProbe {
                    target,
                    histogram,
                    error: None,
                });
            }
            model.show_report(report);
            reevaluate_assumptions(model);
        }
        (JobResult::AssumedHost(found), BackgroundActivity::Assuming { .. }) => {
            show_assumed_host(model, found);
        }
        (JobResult::Failed(why), BackgroundActivity::Assuming { .. }) => {
            if let Some(Overlay::WhatIf(picker)) = &mut model.overlay {
                picker.mistake = Some(why);
            } else {
                model.data.assumed_host = None;
                model.notice = Some(format!("assumptions dropped: {why}"));
            }
        }
        (JobResult::Plan(lines), BackgroundActivity::Planning { question, .. }) => {
            let plan = Ok(lines);
            model.overlay = Some(Overlay::Confirm { question, plan });
        }
        (JobResult::Failed(why), BackgroundActivity::Planning { question, .. }) => {
            let plan = Err(why);
            model.overlay = Some(Overlay::Confirm { question, plan });
        }
        (
            JobResult::Failed(why),
            BackgroundActivity::Probing {
                target, cancelled, ..
            },
        ) => {
            let how = if cancelled { "was cancelled" } else { "failed" };
            let said = format!("the probe {how}: {why}");
            model.notice = (model.screen != ScreenId::Probe).then(|| said.clone());
            let before = model
                .data
                .last_probe
                .take()
                .filter(|before| before.target == target);
            let histogram = before.map(|before| before.histogram).unwrap_or_default();
            model.data.last_probe = Some(FinishedProbe {
                target,
                histogram,
                error: Some(said),
            });
        }
        (JobResult::Failed(why), BackgroundActivity::Replanning { .. }) => model.notice = Some(why),
        (JobResult::Failed(why), _) => {
            model.notice = Some(format!("reading the host failed: {why}"));
        }
        (_, _) => {}
    }
}

fn probe_notice(found: &Measurement, in_force: Option<WalSyncMethod>) -> String {
    let how = if found.cancelled {
        "cancelled, results kept"
    } else {
        "measured"
    };
    format!("{how}: {}", measurement_summary(found, in_force))
}

/// If the picker is still open on a screen other than the overview, opens Advice, where the
/// differences are listed.
fn show_assumed_host(model: &mut Model, supposed: Box<AssumedHost>) {
    model.data.assumed_host = Some(supposed);
    if matches!(model.overlay, Some(Overlay::WhatIf(_))) {
        model.overlay = None;
        if model.screen != ScreenId::Overview {
            show_screen(model, ScreenId::Advice);
        }
        change_cursor(model, |page, state, height| {
            page.apply_motion(state, Motion::Top, height);
        });
    }
}

/// Evaluates the assumptions again after a new reading or measurement, which invalidates the last
/// evaluation.
fn reevaluate_assumptions(model: &mut Model) {
    let all = model.data.assumed_facts().to_vec();
    if !all.is_empty() {
        model.start_assumption_evaluation(all);
    }
}
