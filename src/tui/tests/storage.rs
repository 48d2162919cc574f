use ratatui::layout::Size;

use super::{Job, JobResult, Msg, PLAIN, SideEffect, screen_text, update};
use crate::facts::catalog::target;
use crate::facts::{Source, Subject};
use crate::report::{DirectoryRow, LayerRow, sample_reports};
use crate::rules::{Finding, Level, Outcome};
use crate::tui::model::Model;
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{RICH, at_risk_report, press_keys, session_with_report};

#[test]
fn snapshots_of_storage_screen() {
    let mut model = session_with_report(at_risk_report(), (80, 60), PLAIN);
    press_keys(&mut model, "2 j j j j enter j j enter");
    let unfolded = screen_text(&model);
    let mut model = session_with_report(at_risk_report(), (120, 40), RICH);
    press_keys(&mut model, "2 j j j j enter j j enter");
    let pane = screen_text(&model);
    press_keys(&mut model, "esc esc u");
    insta::assert_snapshot!([unfolded, pane, screen_text(&model)].join("\n\n"));
}

#[test]
fn jump_to_issue_finds_one_bad_disk_of_two_hundred() {
    let mut report = at_risk_report();
    let stack = report.stacks.first_mut().unwrap();
    let disk = stack.layers.last().unwrap().clone();
    for number in 0..200 {
        let subject = Subject::device(format!("disk{number}"));
        report
            .targets
            .first_mut()
            .unwrap()
            .subjects
            .push(subject.clone());
        stack.layers.push(LayerRow {
            subject,
            weakest: false,
            ..disk.clone()
        });
    }
    let bad = Finding {
        subject: Subject::device("disk150"),
        ..report.findings.first().unwrap().clone()
    };
    assert!(
        bad.level >= Level::Warning && bad.outcome == Outcome::Applies,
        "{bad:?}"
    );
    report.findings.push(bad);
    let mut model = session_with_report(report, (80, 24), PLAIN);
    press_keys(&mut model, "2 end N N");
    let lines = screen_text(&model);
    assert!(
        lines
            .lines()
            .any(|line| line.starts_with('▌') && line.contains("disk150")),
        "{lines}"
    );
}

fn storage_screen_text_of_all_layers(size: (u16, u16)) -> String {
    let mut model = session_with_report(at_risk_report(), size, PLAIN);
    press_keys(&mut model, "2 v");
    let page = model.build_page(&model.current_page_state());
    let layers: Vec<String> = page
        .selectable_blocks()
        .filter_map(|block| block.key.clone())
        .collect();
    assert!(layers.len() > 7, "{layers:?}");
    let mut seen = String::new();
    for layer in layers {
        let mut model = session_with_report(at_risk_report(), size, PLAIN);
        press_keys(&mut model, "2 v");
        model.page_state_mut().list.selected = Some(layer);
        press_keys(&mut model, "enter");
        let mut before = String::new();
        while before != screen_text(&model) {
            before = screen_text(&model);
            seen.push_str(&before);
            press_keys(&mut model, "j");
        }
    }
    seen
}

#[test]
fn every_fact_and_all_evidence_of_the_stack_can_be_reached() {
    let report = at_risk_report();
    let summary = &report.targets[0];
    for size in [(80, 24), (120, 24), (60, 15)] {
        let seen = storage_screen_text_of_all_layers(size);
        for row in summary
            .subjects
            .iter()
            .flat_map(|subject| report.facts.rows_of(subject))
        {
            assert!(
                seen.contains(row.fact),
                "{size:?}: {} of {}",
                row.fact,
                row.subject
            );
        }
        for piece in report
            .verdicts
            .iter()
            .flat_map(|v| &v.paths)
            .flat_map(|path| &path.evidence)
        {
            let words = piece.text.split_whitespace().next_back().unwrap();
            assert!(seen.contains(words), "{size:?}: {}", piece.text);
        }
        assert!(
            seen.contains("controller.battery"),
            "{size:?}: never collected and missing"
        );
        assert!(
            seen.contains("unknown: denied"),
            "{size:?}: why it is not known"
        );
    }
}

#[test]
fn storage_screen_shows_disk_sharing() {
    let mut report = at_risk_report();
    let (of, source) = (sample_reports::data_target(), || {
        Source::derived_from(["target.roles"])
    });
    report.facts.insert_known(
        &of,
        &target::SHARES_DISK,
        vec!["/srv/wal".to_owned()],
        source(),
    );
    report
        .facts
        .insert_known(&of, &target::SWAP_BESIDE, vec!["sdb".to_owned()], source());
    let row = |path: &str| DirectoryRow {
        role: "wal".to_owned(),
        path: path.to_owned(),
        verdict: None,
    };
    report.targets[0].directories = vec![row("/srv/pg/15/main/pg_wal")];
    for width in [60, 80, 120] {
        let mut model = session_with_report(report.clone(), (width, 40), PLAIN);
        press_keys(&mut model, "2");
        let screen = screen_text(&model);
        for said in [
            "This target shares the disks with /srv/wal.",
            "Swap on the same disk: sdb",
            "wal   no verdict  /srv/pg/15/main/pg_wal",
        ] {
            assert!(screen.contains(said), "{said}: {screen}");
        }
    }
}

#[test]
fn storage_filter_can_be_typed_kept_and_cleared() {
    for size in [(80, 24), (120, 40)] {
        let mut model = session_with_report(at_risk_report(), size, PLAIN);
        press_keys(&mut model, "2 / s d a space q q");
        assert_eq!(model.exit, None, "typing is typing");
        assert!(
            screen_text(&model).contains("No matches."),
            "{}",
            screen_text(&model)
        );
        press_keys(&mut model, "backspace backspace m o d e l");
        let screen = screen_text(&model);
        assert!(
            screen.contains("/ sda model_") && screen.contains("device.model"),
            "{screen}"
        );
        assert!(
            !screen.contains("md0") && !screen.contains("device.size"),
            "{screen}"
        );
        press_keys(&mut model, "enter");
        assert!(!screen_text(&model).contains("model_"), "it is kept");
        press_keys(&mut model, "?");
        assert!(model.overlay.is_some(), "keys are commands again");
        press_keys(&mut model, "esc esc");
        assert!(
            screen_text(&model).contains("md0") && model.screen == ScreenId::Storage,
            "{}",
            screen_text(&model)
        );
        press_keys(&mut model, "/ esc");
        assert_eq!(
            (model.screen, model.current_page_state().filter),
            (ScreenId::Storage, None)
        );
        press_keys(&mut model, "/ enter");
        assert_eq!(
            model.current_page_state().filter,
            None,
            "nothing to look for"
        );
    }
}

#[test]
fn unknown_only_view_matches_unknown_count() {
    let mut model = session_with_report(at_risk_report(), (80, 40), PLAIN);
    press_keys(&mut model, "2 u");
    let screen = screen_text(&model);
    assert!(
        screen.contains("mount.ext4.features") || screen.contains("ext4.features"),
        "{screen}"
    );
    assert!(screen.contains("controller.battery"), "{screen}");
    assert!(!screen.contains("device.model"), "{screen}");
    let (list, _) = screen.split_once("Details").unwrap();
    assert_eq!(
        list.matches("unknown: ").count(),
        model.data.focus.unknown_count,
        "{screen}"
    );
    press_keys(&mut model, "u");
    assert!(!screen_text(&model).contains("controller.battery"));
    press_keys(&mut model, "1 u");
    assert_eq!(screen_text(&model), screen, "one key from everywhere");
    press_keys(&mut model, "1 u");
    assert_eq!(screen_text(&model), screen, "and it stays so");
}

#[test]
fn raw_answer_is_fetched_when_fact_is_unfolded() {
    let mut model = session_with_report(at_risk_report(), (120, 40), PLAIN);
    press_keys(&mut model, "2");
    let asked = (0..60).find_map(|_| match &press_keys(&mut model, "j enter")[..] {
        [SideEffect::Start(job, Job::Raw(source, _))] => Some((*job, source.to_string())),
        _ => None,
    });
    let (job, source) = asked.unwrap();
    assert!(
        screen_text(&model).contains(&source),
        "{}",
        screen_text(&model)
    );
    let lines = vec!["as the machine said it".to_owned()];
    update(&mut model, Msg::Done(job, JobResult::Raw(lines)));
    assert!(
        screen_text(&model).contains("as the machine said it"),
        "{}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "enter enter"), [], "it is known now");
    assert!(screen_text(&model).contains("as the machine said it"));
}

#[test]
fn unknown_fact_can_be_given_a_value() {
    let mut model = session_with_report(at_risk_report(), (80, 60), PLAIN);
    press_keys(&mut model, "2 u");
    let stated = (0..40).find_map(|_| {
        press_keys(&mut model, "j i");
        let screen = screen_text(&model);
        if screen.contains("Enter a value: ") {
            press_keys(&mut model, "esc");
        }
        screen
            .contains("Enter a value: controller.battery")
            .then_some(screen)
    });
    assert!(
        stated.is_some_and(|screen| screen.contains("learning")),
        "its values to choose from"
    );
}

#[test]
fn keys_go_to_page_when_pane_does_not_fit() {
    let mut model = session_with_report(at_risk_report(), (120, 40), PLAIN);
    press_keys(&mut model, "2 home tab j");
    let selected = |model: &Model| model.current_page_state().list.selected;
    let first = selected(&model);
    press_keys(&mut model, "j");
    assert_eq!(selected(&model), first, "it moved in the pane");
    model.size = Size::new(60, 15);
    press_keys(&mut model, "j");
    assert_ne!(selected(&model), first);
}

#[test]
fn long_values_and_names_are_not_cut() {
    let mut report = at_risk_report();
    let (of, long) = (
        sample_reports::data_target(),
        "a value that is longer than the column it stands in, and than most others",
    );
    report.facts.insert_known(
        &of,
        &target::SHARES_DISK,
        vec![long.to_owned()],
        Source::derived_from(["target.roles"]),
    );
    for size in [(60, 40), (80, 40), (120, 40), (160, 40)] {
        let mut model = session_with_report(report.clone(), size, PLAIN);
        press_keys(&mut model, "2");
        press_keys(&mut model, "v home");
        let page = model.current_page_view().details;
        let lines = page
            .blocks
            .iter()
            .flat_map(|block| &block.lines)
            .map(ToString::to_string);
        let said = lines.collect::<Vec<_>>().join(" ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let words: Vec<&str> = said.split(' ').collect();
        for word in long.split(' ').chain(["target.shares_disk_with"]) {
            assert!(
                words.contains(&word),
                "{size:?}, {word}: {}",
                screen_text(&model)
            );
        }
    }
}
