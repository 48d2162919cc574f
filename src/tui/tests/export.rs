use std::sync::Arc;

use super::{PLAIN, screen_text};
use crate::facts::{Choice as _, Subject};
use crate::report::Format;
use crate::tui::job::{Job, JobId, JobResult, SaveOutcome, SaveRequest};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::{Msg, SideEffect};
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{
    RICH, assumed_host_with_older_kernel, at_risk_report, named_sessions, press_keys,
    report_with_two_targets, sample_document, session_before_report, session_with_open_export,
    session_with_report,
};
use crate::tui::update::update;

fn started_job(effects: &[SideEffect]) -> (JobId, Job) {
    let [SideEffect::Start(id, job)] = effects else {
        panic!("{effects:?}")
    };
    (*id, job.clone())
}

fn finish_job_by_id(model: &mut Model, id: JobId, result: JobResult) -> Vec<SideEffect> {
    update(model, Msg::Done(id, result))
}

#[test]
fn snapshots_of_save_form() {
    for (name, model) in named_sessions((80, 24), PLAIN) {
        if ["naming a file", "naming a file again", "replacing a file"].contains(&name) {
            insta::assert_snapshot!(name.replace(' ', "_"), screen_text(&model));
        }
    }
}

#[test]
fn export_key_opens_screen_and_documents_render_on_demand() {
    for screen in ScreenId::ALL {
        let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
        press_keys(&mut model, screen.digit_key());
        assert_eq!(
            press_keys(&mut model, "e"),
            [],
            "nothing is made before it is asked for"
        );
        assert_eq!(model.screen, ScreenId::Export);
        let (id, job) = started_job(&press_keys(&mut model, "j enter"));
        assert_eq!(job, Job::Document(Format::Script));
        assert!(screen_text(&model).contains("rendering …"));
        assert_eq!(
            press_keys(&mut model, "esc G enter"),
            [],
            "one after the other"
        );
        let (next, job) = started_job(&finish_job_by_id(
            &mut model,
            id,
            JobResult::Document("{\n}\n".into()),
        ));
        assert_eq!(job, Job::Document(Format::ALL[Format::ALL.len() - 1]));
        assert_eq!(
            finish_job_by_id(
                &mut model,
                next,
                JobResult::Failed("this is a bug in walwise".to_owned())
            ),
            []
        );
        let failed = model
            .data
            .export
            .rendered_document(Format::ALL[Format::ALL.len() - 1]);
        assert!(failed.is_some_and(|made| made.is_err_and(|why| why.contains("this is a bug"))));
        press_keys(&mut model, "esc home j enter");
        assert!(
            screen_text(&model).contains("2 lines"),
            "{}",
            screen_text(&model)
        );
    }
}

#[test]
fn new_report_invalidates_rendered_document() {
    let mut model = session_with_open_export((80, 24), RICH);
    assert!(
        screen_text(&model).contains("as text"),
        "{}",
        screen_text(&model)
    );
    press_keys(&mut model, "r");
    let job = model.data.activity.job_id().unwrap();
    let (id, again) = started_job(&finish_job_by_id(
        &mut model,
        job,
        JobResult::Report(Box::new(at_risk_report())),
    ));
    assert_eq!(again, Job::Document(Format::Text));
    assert!(!screen_text(&model).contains("as text"));
    // A newer report arrives before the document, so the document is outdated.
    press_keys(&mut model, "r");
    let job = model.data.activity.job_id().unwrap();
    let (last, _) = started_job(&finish_job_by_id(
        &mut model,
        job,
        JobResult::Report(Box::new(at_risk_report())),
    ));
    finish_job_by_id(&mut model, id, JobResult::Document("old".into()));
    assert!(!screen_text(&model).contains("old"));
    finish_job_by_id(&mut model, last, JobResult::Document("new".into()));
    assert!(screen_text(&model).contains("new"));
}

#[test]
fn shown_document_is_saved_and_overwrite_is_confirmed() {
    let mut model = session_with_open_export((80, 24), RICH);
    press_keys(&mut model, "s");
    let typed = "ctrl-u / r o o t / a space b . t x t left left left left backspace C end";
    assert_eq!(press_keys(&mut model, typed), []);
    let (id, job) = started_job(&press_keys(&mut model, "enter"));
    let save = SaveRequest {
        format: Format::Text,
        document: Some(Arc::from(sample_document())),
        name: "/root/a C.txt".to_owned(),
        replace: false,
    };
    assert_eq!(job, Job::Save(save.clone()));
    finish_job_by_id(
        &mut model,
        id,
        JobResult::Saved(SaveOutcome::Exists("/root/a C.txt".to_owned())),
    );
    assert!(
        screen_text(&model).contains("/root/a C.txt exists. Replace it?"),
        "{}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "enter x"), [], "only y replaces");
    press_keys(&mut model, "n");
    assert!(
        screen_text(&model).contains("/root/a C.txt"),
        "the name is kept: {}",
        screen_text(&model)
    );
    let (id, _) = started_job(&press_keys(&mut model, "enter"));
    finish_job_by_id(
        &mut model,
        id,
        JobResult::Saved(SaveOutcome::Exists("/root/a C.txt".to_owned())),
    );
    let (id, job) = started_job(&press_keys(&mut model, "y"));
    assert_eq!(
        job,
        Job::Save(SaveRequest {
            replace: true,
            ..save
        })
    );
    finish_job_by_id(
        &mut model,
        id,
        JobResult::Saved(SaveOutcome::At("/root/a C.txt".to_owned())),
    );
    assert!(model.overlay.is_none());
    press_keys(&mut model, "esc j k");
    assert!(
        screen_text(&model).contains("saved: /root/a C.txt"),
        "it stays on the screen: {}",
        screen_text(&model)
    );
}

#[test]
fn unrendered_document_is_saved_only_after_naming() {
    let mut model = session_with_report(report_with_two_targets(), (80, 24), RICH);
    assert_eq!(press_keys(&mut model, "6 j s"), []);
    assert!(
        screen_text(&model).contains("walwise-db7.sh"),
        "{}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "esc"), []);
    assert!(model.overlay.is_none());
    let (_, job) = started_job(&press_keys(&mut model, "s enter"));
    assert!(matches!(
        job,
        Job::Save(SaveRequest {
            format: Format::Script,
            document: None,
            replace: false,
            ..
        })
    ));
}

#[test]
fn failed_save_states_reason_and_keeps_file_name() {
    let mut model = session_with_open_export((80, 24), RICH);
    let (id, _) = started_job(&press_keys(&mut model, "s enter"));
    finish_job_by_id(
        &mut model,
        id,
        JobResult::Failed("cannot write /x/y: No such file or directory".to_owned()),
    );
    let screen = screen_text(&model);
    assert!(
        screen.contains("No such file") && screen.contains("walwise-db7-srv-pg-15-main.txt"),
        "{screen}"
    );
    let (id, _) = started_job(&press_keys(&mut model, "backspace enter"));
    press_keys(&mut model, "esc");
    for (result, said) in [
        (
            JobResult::Failed("the disk is full".to_owned()),
            "not saved: the disk is full",
        ),
        (
            JobResult::Saved(SaveOutcome::Exists("/x".to_owned())),
            "not saved: /x already exists",
        ),
        (
            JobResult::Saved(SaveOutcome::At("/x".to_owned())),
            "saved: /x",
        ),
    ] {
        let mut model = model.clone();
        finish_job_by_id(&mut model, id, result);
        assert!(
            model.overlay.is_none() && screen_text(&model).contains(said),
            "{}",
            screen_text(&model)
        );
    }
}

#[test]
fn y_copies_the_document_that_is_shown() {
    let mut model = session_with_open_export((80, 24), RICH);
    assert_eq!(
        press_keys(&mut model, "y"),
        [SideEffect::Copy(sample_document())]
    );
    assert!(
        screen_text(&model).contains("clipboard"),
        "{}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "esc end y"), [], "not made yet");
    let last = Format::ALL[Format::ALL.len() - 1].as_str();
    assert!(
        screen_text(&model).contains(&format!("press enter to render {last} first")),
        "{}",
        screen_text(&model)
    );
    let (id, _) = started_job(&press_keys(&mut model, "enter"));
    finish_job_by_id(
        &mut model,
        id,
        JobResult::Document("x".repeat(80_000).into()),
    );
    assert_eq!(press_keys(&mut model, "y"), []);
    assert!(
        screen_text(&model).contains("too large for the clipboard (80 kB);"),
        "{}",
        screen_text(&model)
    );
}

#[test]
fn export_waits_until_all_facts_are_read() {
    let mut model = session_before_report((80, 24), RICH);
    assert_eq!(press_keys(&mut model, "e enter s y"), []);
    assert!(
        model.overlay.is_none() && screen_text(&model).contains("Still collecting facts."),
        "{}",
        screen_text(&model)
    );
}

#[test]
fn export_works_while_a_probe_runs() {
    let mut model = session_with_open_export((80, 24), RICH);
    press_keys(&mut model, "p");
    let job = model.data.activity.job_id().unwrap();
    finish_job_by_id(&mut model, job, JobResult::Plan(vec!["Writes.".to_owned()]));
    press_keys(&mut model, "y");
    assert!(model.data.activity.job_id().is_some());
    let (id, _) = started_job(&press_keys(&mut model, "6 s enter"));
    finish_job_by_id(
        &mut model,
        id,
        JobResult::Saved(SaveOutcome::At("/x".to_owned())),
    );
    assert!(model.data.activity.job_id().is_some(), "the probe goes on");
    assert_eq!(
        model.data.focus.target,
        Some(Subject::target("/srv/pg/15/main"))
    );
    assert!(!matches!(model.overlay, Some(Overlay::Save(_))));
}

#[test]
fn export_note_states_scope() {
    const TARGETS: &str =
        "This export covers all targets; for /srv/pg/15/main alone: `walwise check";
    const MACHINE: &str =
        "This export describes the real host, without assumptions or entered values.";
    for (report, several) in [(at_risk_report(), false), (report_with_two_targets(), true)] {
        for supposing in [false, true] {
            let mut model = session_with_report(report.clone(), (80, 24), PLAIN);
            model.data.assumed_host = supposing.then(|| Box::new(assumed_host_with_older_kernel()));
            press_keys(&mut model, "e");
            let screen = screen_text(&model);
            let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(said.contains(TARGETS), several, "{screen}");
            assert_eq!(said.contains(MACHINE), supposing, "{screen}");
        }
    }
}
