use super::*;
use crate::settings::NewFilesystem;
use crate::tui::test_sessions::session_with_chosen_filesystem;

#[test]
fn snapshots_of_filesystem_choice() {
    for (name, model) in named_sessions((80, 24), RICH) {
        if ["which file system", "another file system"].contains(&name) {
            insta::assert_snapshot!(name.replace(' ', "_"), screen_text(&model));
        }
    }
    let mut model = session_with_chosen_filesystem((80, 24), RICH);
    press_keys(&mut model, "4");
    insta::assert_snapshot!("another_file_system_advice", screen_text(&model));
}

#[test]
fn filesystem_is_chosen_by_key_and_default_removes_choice() {
    let mut model = session_with_report(sample_reports::free_disk(), (80, 24), RICH);
    let disk = sample_reports::free_disk_target();
    assert!(
        screen_text(&model)
            .lines()
            .last()
            .unwrap()
            .contains("f choose fs"),
        "{}",
        screen_text(&model)
    );
    press_keys(&mut model, "f");
    assert!(
        screen_text(&model).contains("File system for"),
        "{}",
        screen_text(&model)
    );
    let asked = press_keys(&mut model, "home enter");
    assert!(
        matches!(&asked[..], [SideEffect::Start(_, Job::ChooseFilesystem(of, Some(NewFilesystem::Ext4)))] if *of == disk),
        "{asked:?}"
    );
    assert_eq!(press_keys(&mut model, "f"), [], "one thing at a time");
    finish_job(
        &mut model,
        JobResult::Report(Box::new(sample_reports::free_disk_with_request(
            NewFilesystem::Ext4,
        ))),
    );
    assert!(
        screen_text(&model).contains("ext4, as requested; the first choice here is xfs"),
        "{}",
        screen_text(&model)
    );

    let back = press_keys(&mut model, "f down enter");
    assert!(
        matches!(&back[..], [SideEffect::Start(_, Job::ChooseFilesystem(of, None))] if *of == disk),
        "XFS is the first choice: {back:?}"
    );
    finish_job(
        &mut model,
        JobResult::Failed("the host has not been read yet".to_owned()),
    );
    assert!(
        screen_text(&model).contains("the host has not been read yet"),
        "{}",
        screen_text(&model)
    );
}

#[test]
fn refused_filesystem_choice_states_reason() {
    let mut model = session_with_report(sample_reports::free_disk(), (80, 24), RICH);
    press_keys(&mut model, "f end");
    assert!(
        screen_text(&model).contains("No rule recommends this file system here."),
        "{}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "enter"), [], "it cannot be made");
    press_keys(&mut model, "esc");
    assert!(model.overlay.is_none());

    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    assert_eq!(press_keys(&mut model, "f"), []);
    assert!(
        screen_text(&model).contains("only for free disks"),
        "{}",
        screen_text(&model)
    );
}
