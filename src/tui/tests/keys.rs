use std::collections::BTreeSet;

use ratatui::buffer::Cell;
use ratatui::style::Modifier;

use super::{PLAIN, draw_screen};
use crate::tui::command;
use crate::tui::export_state::SaveFormStage;
use crate::tui::key_press::KeyPress;
use crate::tui::model::{Model, Overlay};
use crate::tui::page::PaneFocus;
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{
    RICH, at_risk_report, named_sessions, press_keys, session_with_report,
};

#[test]
fn keys_are_unique_and_exit_keys_exist() {
    for (name, model) in named_sessions((80, 24), RICH) {
        let commands = command::current_commands(&model, &model.current_page_view());
        let mut seen = BTreeSet::new();
        for key in commands
            .iter()
            .filter(|c| c.enabled.is_ok())
            .flat_map(|c| c.keys.split(' '))
        {
            assert!(seen.insert(key), "{name}: {key} does two things");
        }
        let has = |wanted: &str| {
            commands
                .iter()
                .any(|c| c.keys.split(' ').any(|key| key == wanted))
        };
        assert!(has("esc") && has("ctrl-c"), "{name}");
        let types = model.overlay.is_some() || model.current_page_state().is_typing_filter();
        assert!(types || (has("?") && has("q")), "{name}");
        let is_typing = model.clone().active_text_field().is_some();
        let commands_of_text = commands
            .iter()
            .flat_map(|c| c.keys.split(' '))
            .filter(|_| is_typing);
        let letters: Vec<&str> = commands_of_text
            .filter(|key| KeyPress::from_name(key).typed_char().is_some())
            .collect();
        assert!(letters.is_empty(), "{name}: {letters:?} cannot be typed");
        for command in commands.iter().filter(|c| !c.footer.is_empty()) {
            let key = command.footer.split(' ').next().unwrap();
            assert!(
                key == "↑↓" || command.keys.split(' ').any(|k| k == key),
                "{name}: {}",
                command.footer
            );
        }
    }
}

fn ambiguous_keys(model: &Model) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let commands = command::current_commands(model, &model.current_page_view());
    let keys = commands
        .iter()
        .filter(|c| c.enabled.is_ok())
        .flat_map(|c| c.keys.split(' '));
    keys.filter(|key| !seen.insert(*key))
        .map(str::to_owned)
        .collect()
}

/// The named sessions must cover every screen and every overlay.
#[test]
fn keys_are_unique_on_every_screen_whatever_is_selected() {
    let mut screens = BTreeSet::new();
    let mut over = BTreeSet::new();
    for (name, model) in named_sessions((80, 24), RICH) {
        screens.insert(model.screen);
        over.insert(match &model.overlay {
            None => 0,
            Some(Overlay::Help { .. }) => 1,
            Some(Overlay::Confirm { plan: Ok(_), .. }) => 2,
            Some(Overlay::Confirm { plan: Err(_), .. }) => 3,
            Some(Overlay::Save(form)) => match form.stage {
                SaveFormStage::Naming(None) => 4,
                SaveFormStage::Naming(Some(_)) => 5,
                SaveFormStage::Saving => 6,
                SaveFormStage::Exists(_) => 7,
            },
            Some(Overlay::WhatIf(_)) => 8,
            Some(Overlay::Filesystem { .. }) => 9,
            Some(Overlay::Targets { .. }) => 10,
            Some(Overlay::References(_)) => 11,
        });
        for screen in ScreenId::ALL {
            let mut model = model.clone();
            (model.overlay, model.screen) = (None, screen);
            assert_eq!(ambiguous_keys(&model), [""; 0], "{name}, {screen:?}");
            let page = model.build_page(&model.current_page_state());
            for key in page.blocks.into_iter().filter_map(|block| block.key) {
                for focus in [PaneFocus::List, PaneFocus::Pane, PaneFocus::Full] {
                    let mut state = model.current_page_state();
                    state.list.selected = Some(key.clone());
                    state.focus = focus;
                    model.pages.insert(screen, state);
                    assert_eq!(ambiguous_keys(&model), [""; 0], "{name}, {screen:?}, {key}");
                }
            }
        }
    }
    assert!(
        screens.into_iter().eq(ScreenId::ALL),
        "a state for every screen"
    );
    assert!(
        over.into_iter().eq(0..=11),
        "a state for everything that lies over one"
    );
}

/// The focused row is inverse in every palette, and has a mark that is visible even without
/// inverse.
#[test]
fn focused_row_is_visible_with_and_without_colours() {
    for options in [RICH, PLAIN] {
        for size in [(80, 40), (100, 30), (140, 45)] {
            let mut model = session_with_report(at_risk_report(), size, options);
            for screen in [ScreenId::Storage, ScreenId::Advice, ScreenId::Rules] {
                press_keys(&mut model, screen.digit_key());
                let inverse = |model: &Model| {
                    let buffer = draw_screen(model);
                    let width = usize::from(buffer.area.width);
                    let rows = buffer.content.chunks(width);
                    rows.filter(|row| {
                        row.iter()
                            .any(|cell| cell.modifier.contains(Modifier::REVERSED))
                    })
                    .map(|row| row.iter().map(Cell::symbol).collect::<String>())
                    .collect::<Vec<_>>()
                };
                let [row] = &inverse(&model)[..] else {
                    panic!("{screen:?} {size:?}: not one row");
                };
                assert!(row.contains('▌'), "{screen:?} {size:?}: {row}");
                press_keys(&mut model, "tab");
                let rows = inverse(&model);
                assert!(
                    rows[0].contains("Details"),
                    "{screen:?} {size:?}: {rows:#?}"
                );
                press_keys(&mut model, "tab");
                assert_eq!(
                    inverse(&model).as_slice(),
                    std::slice::from_ref(row),
                    "{screen:?} {size:?}"
                );
            }
        }
    }
}

#[test]
fn cached_page_equals_newly_built_page() {
    for (name, model) in named_sessions((120, 40), RICH)
        .into_iter()
        .filter(|(_, model)| model.overlay.is_none())
    {
        for screen in ScreenId::ALL {
            let mut model = model.clone();
            press_keys(&mut model, screen.digit_key());
            for key in ["j", "n", "pgdn", "k", "end"] {
                press_keys(&mut model, key);
                let made = format!("{:?}", model.build_page(&model.current_page_state()));
                assert_eq!(
                    format!("{:?}", model.current_page_view().page),
                    made,
                    "{name}, {screen:?}, {key}"
                );
            }
        }
    }
}
