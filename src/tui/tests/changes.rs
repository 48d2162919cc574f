use super::screen_text;
use crate::tui::job::{ComparisonReference, Job, JobResult, SaveOutcome};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::{Msg, SideEffect};
use crate::tui::screen_data::ConfirmationRequest;
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{
    RICH, at_risk_report, finish_job, finish_started_job, press_keys, sample_host_change,
    sample_upgrade_choices, session_before_report, session_with_comparisons, session_with_report,
};
use crate::tui::update::update;

fn started_jobs(effects: &[SideEffect]) -> Vec<Job> {
    let job = |effect: &'_ SideEffect| match effect {
        SideEffect::Start(_, job) => Some(job.clone()),
        _ => None,
    };
    effects.iter().filter_map(job).collect()
}

#[test]
fn report_is_saved_after_location_is_confirmed() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    let effects = press_keys(&mut model, "7");
    assert_eq!(
        started_jobs(&effects),
        [Job::Compare(ComparisonReference::SavedReport, None)]
    );
    finish_started_job(&mut model, &effects, JobResult::Comparison(None));
    let shown = screen_text(&model);
    assert!(
        shown.contains("no saved report; press s to save one"),
        "{shown}"
    );
    assert!(shown.contains("press o to choose an upgrade"), "{shown}");
    let effects = press_keys(&mut model, "s");
    assert_eq!(started_jobs(&effects), [Job::PlanReportSave]);
    finish_job(
        &mut model,
        JobResult::Plan(vec!["Saved in /state.".to_owned()]),
    );
    assert!(matches!(
        &model.overlay,
        Some(Overlay::Confirm {
            question: ConfirmationRequest::SaveReport,
            ..
        })
    ));
    let effects = press_keys(&mut model, "y");
    assert_eq!(started_jobs(&effects), [Job::SaveReport]);
    let saved = JobResult::Saved(SaveOutcome::At("/state/1.json".to_owned()));
    let effects = finish_started_job(&mut model, &effects, saved);
    assert!(screen_text(&model).contains("saved: /state/1.json"));
    // The first saved report becomes the baseline.
    assert_eq!(
        started_jobs(&effects),
        [Job::Compare(ComparisonReference::SavedReport, None)]
    );
}

#[test]
fn upgrade_is_chosen_from_list_or_typed() {
    for (keys, name) in [("down enter", "rhel10"), ("6 . 9 enter", "6.9")] {
        let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
        let effects = press_keys(&mut model, "2 o");
        finish_started_job(
            &mut model,
            &effects,
            JobResult::References(sample_upgrade_choices()),
        );
        let effects = press_keys(&mut model, keys);
        let wanted = Job::Compare(ComparisonReference::Upgrade, Some(name.to_owned()));
        assert!(started_jobs(&effects).contains(&wanted), "{effects:?}");
        assert_eq!(
            (model.screen, model.overlay.is_none()),
            (ScreenId::Changes, true)
        );
    }
}

#[test]
fn fix_commands_of_comparison_are_copied() {
    let mut model = session_with_comparisons((100, 30), RICH);
    let copied = |effects: &[SideEffect]| match effects {
        [SideEffect::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    let all = copied(&press_keys(&mut model, "Y"));
    assert!(all.contains("mount -o remount"), "{all}");
}

fn session_with_host_change() -> Model {
    let mut model = session_before_report((100, 30), RICH);
    let read = finish_job(&mut model, JobResult::Report(Box::new(at_risk_report())));
    assert_eq!(started_jobs(&read), [Job::Watch]);
    assert!(
        started_jobs(&press_keys(&mut model, "2")).is_empty(),
        "one watch at a time"
    );
    let again = finish_started_job(
        &mut model,
        &read,
        JobResult::Moved(Box::new(sample_host_change())),
    );
    assert_eq!(started_jobs(&again), [Job::Watch]);
    model
}

#[test]
fn host_changes_are_marked_until_rescan() {
    let mut model = session_with_host_change();
    let shown = screen_text(&model);
    assert!(
        shown.contains("CHANGED  mount.super_options of /srv: removed nobarrier"),
        "{shown}"
    );
    let marked: Vec<&str> = shown.lines().filter(|line| line.ends_with('~')).collect();
    assert!(
        matches!(&marked[..], [row] if row.contains("/srv")),
        "{marked:?}\n{shown}"
    );
    for screen in ScreenId::ALL {
        press_keys(&mut model, screen.digit_key());
        assert!(screen_text(&model).contains("CHANGED  mount"), "{screen:?}");
    }
    let effects = press_keys(&mut model, "r");
    assert_eq!(started_jobs(&effects), [Job::Collect]);
    assert!(!screen_text(&model).contains("CHANGED"));
}

#[test]
fn failed_watch_is_not_restarted() {
    let mut model = session_before_report((80, 24), RICH);
    let read = finish_job(&mut model, JobResult::Report(Box::new(at_risk_report())));
    let effects = finish_started_job(&mut model, &read, JobResult::Failed("a bug".to_owned()));
    assert!(effects.is_empty() && model.notice.is_none(), "{effects:?}");
    assert!(update(&mut model, Msg::Tick).is_empty());
}

#[test]
fn capture_starts_no_watch_job() {
    let mut report = at_risk_report();
    report.host.live = false;
    let mut model = session_before_report((80, 24), RICH);
    assert!(finish_job(&mut model, JobResult::Report(Box::new(report))).is_empty());
}
