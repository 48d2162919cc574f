//! Pictures of each screen at common sizes, and the same text in every colour and in ASCII.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color;

use super::{ASCII, PLAIN, shown};
use crate::tui::model::Model;
use crate::tui::sample::{RICH, at_risk, exporting, picture, press, states, styled, with};
use crate::tui::theme::Theme;

/// The usual terminal, a wide one, and about the narrowest there can be.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (60, 20)];

/// Each screen with a database at risk, as it is when one comes to it.
fn screens(size: (u16, u16), theme: Theme) -> Vec<(&'static str, Model)> {
    let session = |keys: &str| {
        let mut model = with(at_risk(), size, theme);
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
        ("export", exporting(size, theme)),
    ]
}

#[test]
fn every_screen_at_every_usual_size() {
    for (width, height) in SIZES {
        for (name, model) in screens((width, height), RICH) {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), styled(&picture(&model)));
        }
    }
}

/// So the pictures without colours are those above: every character, bold, dim and underlined is
/// the same.
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
        let drawn = shown(&model);
        assert!(drawn.is_ascii(), "{name}:\n{drawn}");
        // What has no place in ASCII becomes a question mark; those that are meant are in both.
        let marks = |text: &str| text.matches('?').count();
        assert_eq!(
            marks(&drawn),
            marks(&shown(&rich)),
            "{name}: unmapped\n{drawn}"
        );
    }
}

#[test]
fn what_is_seen_of_an_advice() {
    let mut model = with(at_risk(), (120, 40), RICH);
    press(&mut model, "4 j enter");
    insta::assert_snapshot!("advice_why", shown(&model));
    let mut model = with(at_risk(), (120, 40), RICH);
    press(&mut model, "enter");
    insta::assert_snapshot!("overview_evidence", shown(&model));
}

#[test]
fn what_is_seen_of_a_probe() {
    for (name, model) in states((80, 24), RICH) {
        match name {
            "before a probe" => insta::assert_snapshot!("probe_before", shown(&model)),
            "probing" => insta::assert_snapshot!("probe_running", shown(&model)),
            _ => {}
        }
    }
    let mut model = with(at_risk(), (80, 24), RICH);
    press(&mut model, "3 enter");
    insta::assert_snapshot!("probe_why", shown(&model));
    let probing = states((100, 30), ASCII)
        .into_iter()
        .find(|(name, _)| *name == "probing");
    insta::assert_snapshot!("probe_ascii", shown(&probing.unwrap().1));
}
