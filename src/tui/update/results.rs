//! Progress and results of jobs. [`super`] handles keys, mouse and signals.

use super::{change_page_state, show};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{Measurement, sentence};
use crate::report::latency::sync_method_in_force;
use crate::report::{Plan, ProbeResult};
use crate::tui::data::{Activity, ProbeReport};
use crate::tui::export;
use crate::tui::hypothesis::AssumedHost;
use crate::tui::job::{JobId, JobProgress, JobResult};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::SideEffect;
use crate::tui::page::Motion;
use crate::tui::screen_id::ScreenId;

/// Progress of the running job; progress of any other job is ignored.
pub(super) fn handle_progress(
    model: &mut Model,
    from: JobId,
    partial: JobProgress,
) -> Vec<SideEffect> {
    if model.data.activity.job() != Some(from) {
        return Vec::new();
    }
    match (partial, &mut model.data.activity) {
        (JobProgress::Reading(now), Activity::Collecting { what, .. }) => *what = now,
        (JobProgress::Probing(mut now), Activity::Probing { progress, .. }) => {
            // Most messages have no figures; the last ones stay until newer ones arrive.
            if now.interim.is_none()
                && let Some(before) = progress.take()
            {
                (now.interim, now.histogram) = (before.interim, before.histogram);
            }
            *progress = Some(now);
        }
        (JobProgress::Report(report), _) => model.update_partial(report),
        (JobProgress::Rules(rules), _) => model.data.rules = rules,
        _ => {}
    }
    Vec::new()
}

pub(super) fn handle_result(model: &mut Model, from: JobId, result: JobResult) -> Vec<SideEffect> {
    let Some(result) = export::accept(model, from, result) else {
        return Vec::new();
    };
    let Some(result) = model.data.raw.accept(result) else {
        return Vec::new();
    };
    if model.data.activity.job() != Some(from) {
        return Vec::new();
    }
    let activity = std::mem::replace(&mut model.data.activity, Activity::Idle);
    match (result, activity) {
        (JobResult::Report(report), Activity::Replanning { .. }) => {
            model.update_report(report);
            let wish = model.data.plan().and_then(Plan::requested_filesystem);
            model.notice =
                Some(wish.unwrap_or_else(|| "the plan is for the first choice".to_owned()));
            return reevaluate(model);
        }
        (JobResult::Report(report), activity) => {
            if let Activity::Probing {
                target, progress, ..
            } = activity
            {
                let found = report.probes.iter().find(|probe| probe.target == target);
                // The probe screen shows the result itself.
                let elsewhere = model.screen != ScreenId::Probe;
                let cluster = report.targets.iter().find(|about| about.target == target);
                let in_force =
                    sync_method_in_force(&report, cluster.and_then(|about| about.cluster.as_ref()));
                let says = |probe: &ProbeResult| probe_notice(&probe.measurement, in_force);
                model.notice = found.filter(|_| elsewhere).map(says);
                let histogram = progress
                    .map(|progress| progress.histogram)
                    .unwrap_or_default();
                model.data.last_probe = Some(ProbeReport {
                    target,
                    histogram,
                    error: None,
                });
            }
            model.update_report(report);
            return reevaluate(model);
        }
        (JobResult::AssumedHost(found), Activity::Assuming { .. }) => show_assumed(model, found),
        (JobResult::Failed(why), Activity::Assuming { .. }) => {
            if let Some(Overlay::WhatIf(picker)) = &mut model.overlay {
                picker.mistake = Some(why);
            } else {
                model.data.assumed_host = None;
                model.notice = Some(format!("assumptions dropped: {why}"));
            }
        }
        (JobResult::Plan(lines), Activity::Planning { target, .. }) => {
            model.overlay = Some(Overlay::Confirm {
                target,
                plan: Ok(lines),
            });
        }
        (JobResult::Failed(why), Activity::Planning { target, .. }) => {
            model.overlay = Some(Overlay::Confirm {
                target,
                plan: Err(why),
            });
        }
        (
            JobResult::Failed(why),
            Activity::Probing {
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
            model.data.last_probe = Some(ProbeReport {
                target,
                histogram,
                error: Some(said),
            });
        }
        (JobResult::Failed(why), Activity::Replanning { .. }) => model.notice = Some(why),
        (JobResult::Failed(why), _) => {
            model.notice = Some(format!("reading the host failed: {why}"));
        }
        (_, _) => {}
    }
    Vec::new()
}

/// The result of a probe, in one line.
fn probe_notice(found: &Measurement, in_force: Option<WalSyncMethod>) -> String {
    let how = if found.cancelled {
        "cancelled, results kept"
    } else {
        "measured"
    };
    format!("{how}: {}", sentence(found, in_force))
}

/// Shows the differences on a screen that has them.
fn show_assumed(model: &mut Model, supposed: Box<AssumedHost>) {
    model.data.assumed_host = Some(supposed);
    if matches!(model.overlay, Some(Overlay::WhatIf(_))) {
        model.overlay = None;
        if model.screen != ScreenId::Overview {
            show(model, ScreenId::Advice);
        }
        change_page_state(model, |page, state, height| {
            page.go(state, Motion::Top, height);
        });
    }
}

/// After a new reading or measurement, assumptions must be evaluated again.
fn reevaluate(model: &mut Model) -> Vec<SideEffect> {
    let all = model.data.suppositions().to_vec();
    if all.is_empty() {
        Vec::new()
    } else {
        vec![model.suppose(all)]
    }
}
