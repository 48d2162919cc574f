//! Pictures of each screen at common sizes, and the same text in every colour and in ASCII.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color;

use super::{ASCII, PLAIN, screen_text};
use crate::tui::model::Model;
use crate::tui::sample::{
    RICH, at_risk, export_screen, picture, press, session_with, states, styled_text,
};
use crate::tui::theme::Theme;

/// The usual terminal, a wide one, and nearly the narrowest supported.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (60, 20)];

/// Each screen of a database at risk, as first shown.
fn screens(size: (u16, u16), theme: Theme) -> Vec<(&'static str, Model)> {
    let session = |keys: &str| {
        let mut model = session_with(at_risk(), size, theme);
        press(&mut model, keys);
        model
    };
    let probe = states(size, theme)
        .into_iter()
        .find(|(name, _)| *name == "after a probe");
    vec![
        ("overview", session("1")),
        ("storage", session("2")),
        ("probe", probe.unwrap().1),
        ("advice", session("4")),
        ("rules", session("5")),
        ("export", export_screen(size, theme)),
    ]
}

#[test]
fn every_screen_at_every_usual_size() {
    for (width, height) in SIZES {
        for (name, model) in screens((width, height), RICH) {
            insta::assert_snapshot!(
                format!("{name}_{width}x{height}"),
                styled_text(&picture(&model))
            );
        }
    }
}

/// So the plain pictures need no snapshots: characters and modifiers are those of the coloured
/// ones.
#[test]
fn without_colour_only_colours_are_missing() {
    let mut all: Vec<((u16, u16), &str, Model, Model)> = Vec::new();
    for size in SIZES {
        let plain = screens(size, PLAIN).into_iter().zip(screens(size, RICH));
        all.extend(plain.map(|((name, plain), (_, rich))| (size, name, plain, rich)));
    }
    let sessions = states((100, 30), PLAIN)
        .into_iter()
        .zip(states((100, 30), RICH));
    all.extend(sessions.map(|((name, plain), (_, rich))| ((100, 30), name, plain, rich)));
    for (size, name, plain, rich) in all {
        let colourless = |cell: &Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        let plain = picture(&plain);
        assert!(plain.content.iter().all(colourless), "{name} {size:?}");
        let mut rich: Buffer = picture(&rich);
        for cell in &mut rich.content {
            cell.set_fg(Color::Reset).set_bg(Color::Reset);
        }
        assert_eq!(plain, rich, "{name} {size:?}");
    }
}

#[test]
fn colours_are_few_and_never_those_a_background_may_have() {
    for (name, model) in states((100, 30), RICH) {
        for cell in &picture(&model).content {
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
    for ((name, model), (_, rich)) in states((100, 30), ASCII)
        .into_iter()
        .zip(states((100, 30), PLAIN))
    {
        let drawn = screen_text(&model);
        assert!(drawn.is_ascii(), "{name}:\n{drawn}");
        // Unmapped characters become question marks; intended ones are in both.
        let marks = |text: &str| text.matches('?').count();
        assert_eq!(
            marks(&drawn),
            marks(&screen_text(&rich)),
            "{name}: unmapped\n{drawn}"
        );
    }
}

#[test]
fn what_is_seen_of_an_advice() {
    let mut model = session_with(at_risk(), (120, 40), RICH);
    press(&mut model, "4 j enter");
    insta::assert_snapshot!("advice_why", screen_text(&model));
    let mut model = session_with(at_risk(), (120, 40), RICH);
    press(&mut model, "enter");
    insta::assert_snapshot!("overview_evidence", screen_text(&model));
}

#[test]
fn what_is_seen_of_a_probe() {
    for (name, model) in states((80, 24), RICH) {
        match name {
            "before a probe" => insta::assert_snapshot!("probe_before", screen_text(&model)),
            "probing" => insta::assert_snapshot!("probe_running", screen_text(&model)),
            _ => {}
        }
    }
    let mut model = session_with(at_risk(), (80, 24), RICH);
    press(&mut model, "3 enter");
    insta::assert_snapshot!("probe_why", screen_text(&model));
    let probing = states((100, 30), ASCII)
        .into_iter()
        .find(|(name, _)| *name == "probing");
    insta::assert_snapshot!("probe_ascii", screen_text(&probing.unwrap().1));
}
