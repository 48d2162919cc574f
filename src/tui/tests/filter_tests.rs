use super::{PLAIN, screen_text};
use crate::report::Format;
use crate::tui::model::Model;
use crate::tui::screen_data::BackgroundActivity;
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{
    at_risk_report, measurement_after_rounds, press_keys, report_with_measurement,
    report_with_two_targets, session_before_report, session_with_open_export, session_with_report,
};

fn type_filter(model: &mut Model, word: &str) {
    press_keys(model, "/");
    for c in word.chars() {
        press_keys(model, &c.to_string());
    }
}

#[test]
fn filter_is_typed_on_every_screen() {
    for screen in ScreenId::ALL {
        let mut before = session_with_report(at_risk_report(), (80, 24), PLAIN);
        press_keys(&mut before, screen.digit_key());
        let mut model = before.clone();
        // As commands, these keys would quit, measure, export, assume and change the screen.
        type_filter(&mut model, "qpew4");
        assert_eq!((model.exit, model.screen), (None, screen));
        assert!(
            model.overlay.is_none() && model.data.activity == BackgroundActivity::Idle,
            "{screen:?}"
        );
        let found = screen_text(&model);
        assert!(found.contains("/ qpew4_"), "{found}");
        // On Export the rows are formats and the filter searches the document, so the rows stay.
        let has_rows = screen == ScreenId::Export;
        assert!(has_rows || found.contains("No matches."), "{found}");
        press_keys(&mut model, "esc");
        assert_eq!(screen_text(&model), screen_text(&before), "{screen:?}");
    }
}

#[test]
fn filter_matches_are_shown_below_their_heading() {
    let mut model = session_with_report(at_risk_report(), (80, 24), PLAIN);
    type_filter(&mut model, "noatime");
    let screen = screen_text(&model);
    assert!(
        screen.contains("Fix first") && screen.contains("noatime"),
        "{screen}"
    );
    assert!(
        !screen.contains("AT RISK") && !screen.contains("Price of"),
        "{screen}"
    );
    press_keys(&mut model, "enter enter");
    let screen = screen_text(&model);
    assert!(
        screen.contains("Because of what mount.noatime says."),
        "what was found is chosen: {screen}"
    );
    press_keys(&mut model, "esc");
    assert!(screen_text(&model).contains("/ noatime"), "it was kept");
    // A heading that matches keeps everything below it.
    let mut model = session_with_report(
        report_with_measurement(measurement_after_rounds(71)),
        (80, 40),
        PLAIN,
    );
    press_keys(&mut model, "4");
    type_filter(&mut model, "undecided");
    let screen = screen_text(&model);
    assert!(
        screen.contains("ext4.fast-commit") && !screen.contains("No change needed"),
        "{screen}"
    );
}

#[test]
fn filter_before_first_report_keeps_loading_screen() {
    let mut model = session_before_report((80, 24), PLAIN);
    type_filter(&mut model, "word");
    assert!(
        screen_text(&model).contains("reading this host"),
        "{}",
        screen_text(&model)
    );
}

#[test]
fn document_filter_shows_only_matching_lines() {
    let mut model = session_with_open_export((80, 24), PLAIN);
    let all = model
        .data
        .export
        .rendered_document(Format::Text)
        .unwrap()
        .unwrap()
        .clone();
    let word = all.text.split_whitespace().next().unwrap().to_owned();
    type_filter(&mut model, &word);
    let screen = screen_text(&model);
    assert!(screen.contains("matching lines only"), "{screen}");
    assert!(
        all.text.lines().any(|line| !line.contains(&word)),
        "{}",
        all.text
    );
    for line in all.text.lines().filter(|line| !line.trim().is_empty()) {
        assert_eq!(
            screen.contains(line.trim()),
            line.to_lowercase().contains(&word.to_lowercase()),
            "{line}: {screen}"
        );
    }
}

#[test]
fn switching_target_clears_filter() {
    let mut model = session_with_report(report_with_two_targets(), (80, 24), PLAIN);
    type_filter(&mut model, "noatime");
    press_keys(&mut model, "enter ]");
    assert_eq!(model.current_page_state().filter, None);
}

#[test]
fn leading_slash_is_ignored_in_filtered_lists() {
    for (keys, found) in [("w", "choose a fact"), ("?", "type to filter")] {
        let mut model = session_with_report(at_risk_report(), (80, 24), PLAIN);
        press_keys(&mut model, keys);
        let before = screen_text(&model);
        press_keys(&mut model, "/");
        assert!(
            before.contains(found) && screen_text(&model) == before,
            "{}",
            screen_text(&model)
        );
        press_keys(&mut model, "r e / a");
        assert!(
            screen_text(&model).contains("/ re/a_"),
            "{}",
            screen_text(&model)
        );
    }
    // A typed value may start with a slash, although the key `/` starts a filter on the screens.
    let mut model = session_with_report(at_risk_report(), (80, 24), PLAIN);
    press_keys(&mut model, "w k e r n e l . r e l e a s e enter / s");
    assert!(
        screen_text(&model).contains("= /s_"),
        "{}",
        screen_text(&model)
    );
}

#[test]
fn ctrl_u_clears_every_text_field() {
    for keys in ["w", "?", "/", "2 /", "w k e r n e l . r e l e a s e enter"] {
        let mut model = session_with_report(at_risk_report(), (80, 24), PLAIN);
        press_keys(&mut model, keys);
        let before = screen_text(&model);
        press_keys(&mut model, "x q backspace z down");
        assert_ne!(screen_text(&model), before);
        press_keys(&mut model, "ctrl-u");
        assert_eq!(screen_text(&model), before, "{keys}");
    }
}
