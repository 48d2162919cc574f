use std::collections::BTreeMap;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color;

use super::{ASCII, PLAIN, screen_text};
use crate::tui::ScreenOptions;
use crate::tui::model::Model;
use crate::tui::test_sessions::{
    RICH, at_risk_report, draw_screen, named_sessions, press_keys, session_with_comparisons,
    session_with_open_export, session_with_report, styled_text,
};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (60, 20)];

fn sample_sessions(size: (u16, u16), options: ScreenOptions) -> Vec<(&'static str, Model)> {
    let session = |keys: &str| {
        let mut model = session_with_report(at_risk_report(), size, options);
        press_keys(&mut model, keys);
        model
    };
    let probe = named_sessions(size, options)
        .into_iter()
        .find(|(name, _)| *name == "after a probe");
    vec![
        ("overview", session("1")),
        ("storage", session("2")),
        ("probe", probe.unwrap().1),
        ("advice", session("4")),
        ("rules", session("5")),
        ("export", session_with_open_export(size, options)),
        ("changes", session_with_comparisons(size, options)),
    ]
}

#[test]
fn snapshots_of_every_screen_at_usual_sizes() {
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for size in SIZES {
        for (name, model) in sample_sessions(size, RICH) {
            let text = styled_text(&draw_screen(&model));
            texts.entry(name).or_default().push(text);
        }
    }
    for (name, texts) in texts {
        insta::assert_snapshot!(name, texts.join("\n\n"));
    }
}

/// Screens without colour need no snapshots, because they differ from coloured ones only in
/// colours.
#[test]
fn screens_without_colour_differ_only_in_colours() {
    let mut all: Vec<((u16, u16), &str, Model, Model)> = Vec::new();
    for size in SIZES {
        let plain = sample_sessions(size, PLAIN)
            .into_iter()
            .zip(sample_sessions(size, RICH));
        all.extend(plain.map(|((name, plain), (_, rich))| (size, name, plain, rich)));
    }
    let sessions = named_sessions((100, 30), PLAIN)
        .into_iter()
        .zip(named_sessions((100, 30), RICH));
    all.extend(sessions.map(|((name, plain), (_, rich))| ((100, 30), name, plain, rich)));
    for (size, name, plain, rich) in all {
        let colourless = |cell: &Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        let plain = draw_screen(&plain);
        assert!(plain.content.iter().all(colourless), "{name} {size:?}");
        let mut rich: Buffer = draw_screen(&rich);
        for cell in &mut rich.content {
            cell.set_fg(Color::Reset).set_bg(Color::Reset);
        }
        assert_eq!(plain, rich, "{name} {size:?}");
    }
}

#[test]
fn screens_use_only_allowed_foreground_colours() {
    for (name, model) in named_sessions((100, 30), RICH) {
        for cell in &draw_screen(&model).content {
            let fine = [
                Color::Reset,
                Color::Cyan,
                Color::Green,
                Color::Red,
                Color::Magenta,
                Color::Blue,
            ];
            assert!(
                fine.contains(&cell.fg) && cell.bg == Color::Reset,
                "{name}: {cell:?}"
            );
        }
    }
}

#[test]
fn ascii_terminals_get_ascii() {
    for ((name, model), (_, rich)) in named_sessions((100, 30), ASCII)
        .into_iter()
        .zip(named_sessions((100, 30), PLAIN))
    {
        let drawn = screen_text(&model);
        assert!(drawn.is_ascii(), "{name}:\n{drawn}");
        // A character without an ASCII replacement becomes a question mark, so both screens must
        // have the same number of question marks.
        let marks = |text: &str| text.matches('?').count();
        assert_eq!(
            marks(&drawn),
            marks(&screen_text(&rich)),
            "{name}: unmapped\n{drawn}"
        );
    }
}

#[test]
fn snapshots_of_advice_and_evidence_details() {
    let mut model = session_with_report(at_risk_report(), (120, 40), RICH);
    press_keys(&mut model, "4 j enter");
    insta::assert_snapshot!("advice_why", screen_text(&model));
    let mut model = session_with_report(at_risk_report(), (120, 40), RICH);
    press_keys(&mut model, "enter");
    insta::assert_snapshot!("overview_evidence", screen_text(&model));
}

#[test]
fn snapshots_of_probe_screen_states() {
    for (name, model) in named_sessions((80, 24), RICH) {
        match name {
            "before a probe" => insta::assert_snapshot!("probe_before", screen_text(&model)),
            "probing" => insta::assert_snapshot!("probe_running", screen_text(&model)),
            _ => {}
        }
    }
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "3 enter");
    insta::assert_snapshot!("probe_why", screen_text(&model));
    let probing = named_sessions((100, 30), ASCII)
        .into_iter()
        .find(|(name, _)| *name == "probing");
    insta::assert_snapshot!("probe_ascii", screen_text(&probing.unwrap().1));
}
