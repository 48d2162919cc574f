use std::sync::Arc;

use super::{PLAIN, screen_text};
use crate::facts::Subject;
use crate::report::Format;
use crate::tui::job::{Job, JobId, JobResult, SaveOutcome, SaveRequest};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::{Msg, SideEffect};
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{
    RICH, assumed_older_kernel, at_risk_report, named_sessions, press_keys,
    report_with_two_targets, sample_document, session_before_report, session_with,
    session_with_open_export,
};
use crate::tui::update::update;

fn started_job(effects: &[SideEffect]) -> (JobId, Job) {
    let [SideEffect::Start(id, job)] = effects else {
        panic!("{effects:?}")
    };
    (*id, job.clone())
}

fn finish_job(model: &mut Model, id: JobId, result: JobResult) -> Vec<SideEffect> {
    update(model, Msg::Done(id, result))
}

#[test]
fn pictures_of_naming_a_file() {
    for (name, model) in named_sessions((80, 24), PLAIN) {
        if ["naming a file", "naming a file again", "replacing a file"].contains(&name) {
            insta::assert_snapshot!(name.replace(' ', "_"), screen_text(&model));
        }
    }
}

#[test]
fn e_opens_it_from_every_screen_and_a_document_is_made_when_it_is_to_be_shown() {
    for screen in ScreenId::ALL {
        let mut model = session_with(at_risk_report(), (80, 24), RICH);
        press_keys(&mut model, screen.digit());
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
        let (next, job) = started_job(&finish_job(
            &mut model,
            id,
            JobResult::Document("{\n}\n".into()),
        ));
        assert_eq!(job, Job::Document(Format::ALL[Format::ALL.len() - 1]));
        assert_eq!(
            finish_job(
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
fn a_fresher_report_is_another_document() {
    let mut model = session_with_open_export((80, 24), RICH);
    assert!(
        screen_text(&model).contains("as text"),
        "{}",
        screen_text(&model)
    );
    press_keys(&mut model, "r");
    let job = model.data.activity.job_id().unwrap();
    let (id, again) = started_job(&finish_job(
        &mut model,
        job,
        JobResult::Report(Box::new(at_risk_report())),
    ));
    assert_eq!(again, Job::Document(Format::Text));
    assert!(!screen_text(&model).contains("as text"));
    // A newer report arrives before the document, so the document is outdated.
    press_keys(&mut model, "r");
    let job = model.data.activity.job_id().unwrap();
    let (last, _) = started_job(&finish_job(
        &mut model,
        job,
        JobResult::Report(Box::new(at_risk_report())),
    ));
    finish_job(&mut model, id, JobResult::Document("old".into()));
    assert!(!screen_text(&model).contains("old"));
    finish_job(&mut model, last, JobResult::Document("new".into()));
    assert!(screen_text(&model).contains("new"));
}

#[test]
fn what_was_shown_is_what_is_saved() {
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
    finish_job(
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
    finish_job(
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
    finish_job(
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
fn what_was_not_shown_is_saved_too_and_nothing_before_it_was_answered() {
    let mut model = session_with(report_with_two_targets(), (80, 24), RICH);
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
fn a_file_that_cannot_be_written_says_why_and_keeps_the_name() {
    let mut model = session_with_open_export((80, 24), RICH);
    let (id, _) = started_job(&press_keys(&mut model, "s enter"));
    finish_job(
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
            "not saved: /x exists",
        ),
        (
            JobResult::Saved(SaveOutcome::At("/x".to_owned())),
            "saved: /x",
        ),
    ] {
        let mut model = model.clone();
        finish_job(&mut model, id, result);
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
    let last = Format::ALL[Format::ALL.len() - 1].name();
    assert!(
        screen_text(&model).contains(&format!("press enter to render {last} first")),
        "{}",
        screen_text(&model)
    );
    let (id, _) = started_job(&press_keys(&mut model, "enter"));
    finish_job(
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
fn nothing_is_exported_before_everything_was_read() {
    let mut model = session_before_report((80, 24), RICH);
    assert_eq!(press_keys(&mut model, "e enter s y"), []);
    assert!(
        model.overlay.is_none() && screen_text(&model).contains("Still collecting facts."),
        "{}",
        screen_text(&model)
    );
}

#[test]
fn exporting_goes_on_beside_a_probe() {
    let mut model = session_with_open_export((80, 24), RICH);
    press_keys(&mut model, "p");
    let job = model.data.activity.job_id().unwrap();
    finish_job(&mut model, job, JobResult::Plan(vec!["Writes.".to_owned()]));
    press_keys(&mut model, "y");
    assert!(model.data.activity.job_id().is_some());
    let (id, _) = started_job(&press_keys(&mut model, "6 s enter"));
    finish_job(
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
fn what_of_the_screens_before_is_not_exported_is_said_where_it_holds() {
    const TARGETS: &str =
        "This export covers all targets; for /srv/pg/15/main alone: `walwise check";
    const MACHINE: &str =
        "This export describes the real host, without assumptions or entered values.";
    for (report, several) in [(at_risk_report(), false), (report_with_two_targets(), true)] {
        for supposing in [false, true] {
            let mut model = session_with(report.clone(), (80, 24), PLAIN);
            model.data.assumed_host = supposing.then(|| Box::new(assumed_older_kernel()));
            press_keys(&mut model, "e");
            let screen = screen_text(&model);
            let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(said.contains(TARGETS), several, "{screen}");
            assert_eq!(said.contains(MACHINE), supposing, "{screen}");
        }
    }
}
