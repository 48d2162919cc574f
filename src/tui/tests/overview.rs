use super::{PLAIN, screen_text};
use crate::facts::Subject;
use crate::measure::Measurement;
use crate::tui::model::Overlay;
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{
    RICH, WORST_FIRST, at_risk_report, click_on_text, measurement_after_rounds, press_keys,
    report_with_all_verdicts, report_with_measurement, report_with_two_targets,
    session_with_report,
};

#[test]
fn every_layout_shows_flush_path_latency_and_fixes() {
    for size in [(80, 40), (100, 30), (140, 45)] {
        let screen = screen_text(&session_with_report(
            report_with_measurement(measurement_after_rounds(71)),
            size,
            PLAIN,
        ));
        for said in [
            "AT RISK",
            "DROPPED",
            "LOST HERE",
            "Fix first",
            "fdatasync",
            "critical",
        ] {
            assert!(screen.contains(said), "{size:?} {said}\n{screen}");
        }
        assert!(!screen.contains("worst first"), "one target\n{screen}");
    }
    let several = screen_text(&session_with_report(
        report_with_all_verdicts(),
        (140, 45),
        PLAIN,
    ));
    assert!(several.contains("worst first"), "{several}");
}

#[test]
fn taller_terminal_shows_intervals_and_curves() {
    let of_height = |height| {
        screen_text(&session_with_report(
            report_with_measurement(measurement_after_rounds(71)),
            (80, height),
            PLAIN,
        ))
    };
    let (low, high) = (of_height(24), of_height(80));
    assert!(!low.contains("95 % interval"), "{low}");
    assert!(
        high.contains("95 % interval") && high.contains("Commits completed within"),
        "{high}"
    );
    for screen in [&low, &high] {
        assert!(
            screen.contains("mount -o remount,barrier=1,noatime"),
            "commands are never cut\n{screen}"
        );
    }
}

#[test]
fn targets_are_chosen_from_a_list_by_name_or_by_the_mouse() {
    let mut model = session_with_report(report_with_all_verdicts(), (80, 24), PLAIN);
    press_keys(&mut model, "t");
    let listed = screen_text(&model);
    let places: Vec<usize> = WORST_FIRST
        .iter()
        .map(|path| listed.find(&format!(" {path} ")).unwrap())
        .collect();
    assert!(places.is_sorted(), "worst first:\n{listed}");
    press_keys(&mut model, "s r v / e");
    assert!(
        screen_text(&model).contains("/ srv/e_"),
        "{}",
        screen_text(&model)
    );
    press_keys(&mut model, "enter");
    assert!(model.overlay.is_none());
    assert_eq!(
        model.data.focus.target.as_ref().map(Subject::name),
        Some("/srv/e")
    );
    press_keys(&mut model, "t z z enter");
    assert!(
        matches!(model.overlay, Some(Overlay::Targets { .. })),
        "there is none of that name"
    );
    press_keys(&mut model, "esc [");
    assert_eq!(model.data.focus.place.0, 1);
    press_keys(&mut model, "[ [");
    assert_eq!(
        model.data.focus.place.0,
        WORST_FIRST.len() - 1,
        "round and round"
    );
    let mut wide = session_with_report(report_with_all_verdicts(), (140, 45), PLAIN);
    click_on_text(&mut wide, "≠ contradictory");
    assert_eq!(
        wide.data.focus.target.as_ref().map(Subject::name),
        Some("/srv/e")
    );
}

#[test]
fn tab_names_stay_complete_with_many_targets() {
    for width in [80, 100, 140] {
        let screen = screen_text(&session_with_report(
            report_with_all_verdicts(),
            (width, 24),
            PLAIN,
        ));
        let (header, rest) = screen.split_once('\n').unwrap();
        let tabs = rest.lines().next().unwrap();
        for screen in ScreenId::ALL {
            assert!(tabs.contains(screen.title()), "{width}: {tabs}");
        }
        assert!(
            header.contains("1/8 /srv/f with a n") && header.trim_end().ends_with(" ▾"),
            "{width}: {header}"
        );
    }
}

#[test]
fn key_hints_are_shown_until_first_key_press() {
    let mut unmeasured = at_risk_report();
    unmeasured.probes.clear();
    for report in [unmeasured, report_with_two_targets()] {
        let mut model = session_with_report(report, (80, 24), RICH);
        let row = |model: &_| screen_text(model).lines().nth(22).unwrap().to_owned();
        let hint = row(&model);
        assert_eq!(hint.matches("   ").count(), 2, "{hint}");
        assert!(
            hint.contains("p probe   enter details   ? all commands"),
            "{hint}"
        );
        press_keys(&mut model, "j");
        assert!(!row(&model).contains("? all commands"));
    }
}

#[test]
fn finished_probe_still_shows_its_figures() {
    let cut = Measurement {
        cancelled: true,
        ..measurement_after_rounds(12)
    };
    for (measurement, size) in [
        (measurement_after_rounds(71), (80, 40)),
        (cut, (80, 40)),
        (measurement_after_rounds(71), (140, 45)),
    ] {
        let mut model = session_with_report(report_with_measurement(measurement), size, PLAIN);
        press_keys(&mut model, "3");
        let screen = screen_text(&model);
        for said in [
            "back to back",
            "95 % interval",
            "Commits completed within",
            "100 %",
            "┬",
            " µs",
        ] {
            assert!(screen.contains(said), "{size:?} {said}\n{screen}");
        }
    }
}
