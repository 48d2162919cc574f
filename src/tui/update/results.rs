//! What jobs report while they run and when they end. What keys and signals do is left to the
//! parent.

use super::{on_page, show};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{Measurement, sentence};
use crate::report::price::in_force;
use crate::report::{Plan, ProbeResult};
use crate::tui::data::{Activity, ProbeReport};
use crate::tui::export;
use crate::tui::job::{JobId, JobResult, Partial};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::SideEffect;
use crate::tui::page::Motion;
use crate::tui::screen_id::ScreenId;
use crate::tui::supposed::Supposed;

/// Progress of the running job; that of any other is ignored.
pub(super) fn progress(model: &mut Model, from: JobId, partial: Partial) -> Vec<SideEffect> {
    if model.data.activity.job() != Some(from) {
        return Vec::new();
    }
    match (partial, &mut model.data.activity) {
        (Partial::Reading(now), Activity::Collecting { what, .. }) => *what = now,
        (Partial::Probing(mut now), Activity::Probing { progress, .. }) => {
            // Most messages have no figures; the last ones stay until newer ones arrive.
            if now.so_far.is_none()
                && let Some(before) = progress.take()
            {
                (now.so_far, now.histogram) = (before.so_far, before.histogram);
            }
            *progress = Some(now);
        }
        (Partial::Report(report), _) => model.learn_some(report),
        (Partial::Rules(rules), _) => model.data.rules = rules,
        _ => {}
    }
    Vec::new()
}

pub(super) fn done(model: &mut Model, from: JobId, result: JobResult) -> Vec<SideEffect> {
    let Some(result) = export::done(model, from, result) else {
        return Vec::new();
    };
    let Some(result) = model.data.raw.done(result) else {
        return Vec::new();
    };
    if model.data.activity.job() != Some(from) {
        return Vec::new();
    }
    let activity = std::mem::replace(&mut model.data.activity, Activity::Idle);
    match (result, activity) {
        (JobResult::Report(report), Activity::Wanting { .. }) => {
            model.learn(report);
            let wish = model.data.plan().and_then(Plan::wish);
            model.notice =
                Some(wish.unwrap_or_else(|| "the plan is of the first choice".to_owned()));
            return suppose_again(model);
        }
        (JobResult::Report(report), activity) => {
            if let Activity::Probing {
                target, progress, ..
            } = activity
            {
                let found = report.probes.iter().find(|probe| probe.target == target);
                // The screen of the probe says it anyway.
                let elsewhere = model.screen != ScreenId::Probe;
                let cluster = report.targets.iter().find(|about| about.target == target);
                let in_force = in_force(&report, cluster.and_then(|about| about.cluster.as_ref()));
                let says = |probe: &ProbeResult| measured(&probe.measurement, in_force);
                model.notice = found.filter(|_| elsewhere).map(says);
                let histogram = progress
                    .map(|progress| progress.histogram)
                    .unwrap_or_default();
                model.data.ended = Some(ProbeReport {
                    target,
                    histogram,
                    failed: None,
                });
            }
            model.learn(report);
            return suppose_again(model);
        }
        (JobResult::Supposed(found), Activity::Supposing { .. }) => supposed(model, found),
        (JobResult::Failed(why), Activity::Supposing { .. }) => {
            if let Some(Overlay::WhatIf(picker)) = &mut model.overlay {
                picker.mistake = Some(why);
            } else {
                model.data.supposed = None;
                model.notice = Some(format!("no assumptions any more: {why}"));
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
                .ended
                .take()
                .filter(|before| before.target == target);
            let histogram = before.map(|before| before.histogram).unwrap_or_default();
            model.data.ended = Some(ProbeReport {
                target,
                histogram,
                failed: Some(said),
            });
        }
        (JobResult::Failed(why), Activity::Wanting { .. }) => model.notice = Some(why),
        (JobResult::Failed(why), _) => {
            model.notice = Some(format!("reading the machine failed: {why}"));
        }
        (_, _) => {}
    }
    Vec::new()
}

/// The result of a probe, in a line.
fn measured(found: &Measurement, in_force: Option<WalSyncMethod>) -> String {
    let how = if found.cancelled {
        "cancelled, results kept"
    } else {
        "measured"
    };
    format!("{how}: {}", sentence(found, in_force))
}

/// Shows what would be different where it can be seen.
fn supposed(model: &mut Model, supposed: Box<Supposed>) {
    model.data.supposed = Some(supposed);
    if matches!(model.overlay, Some(Overlay::WhatIf(_))) {
        model.overlay = None;
        if model.screen != ScreenId::Overview {
            show(model, ScreenId::Advice);
        }
        on_page(model, |page, state, height| {
            page.go(state, Motion::Top, height);
        });
    }
}

/// Assumptions must be evaluated again after the machine was read or measured again.
fn suppose_again(model: &mut Model) -> Vec<SideEffect> {
    let all = model.data.suppositions().to_vec();
    if all.is_empty() {
        Vec::new()
    } else {
        vec![model.suppose(all)]
    }
}
