//! The mouse: it acts as keys do, where elements were drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{screen_text, start_probe};
use crate::tui::click_map::{ClickMap, ClickTarget};
use crate::tui::command;
use crate::tui::frame;
use crate::tui::job::{Job, JobResult};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::{MouseAction, Msg, SideEffect};
use crate::tui::sample::{
    RICH, at_risk, click, export_screen, finish, press, session_with, states, two_targets,
};
use crate::tui::screen_id::ScreenId;
use crate::tui::update::update;

/// The clickable areas of the picture.
fn drawn_targets(model: &Model) -> ClickMap {
    let mut buffer = Buffer::empty(Rect::from((Position::ORIGIN, model.size)));
    frame::draw(model, &mut buffer)
}

/// The clickable areas, cell by cell.
fn targets_by_cell(model: &Model) -> Vec<(Position, ClickTarget)> {
    let (area, hits) = (
        Rect::from((Position::ORIGIN, model.size)),
        drawn_targets(model),
    );
    area.positions()
        .filter_map(|cell| hits.at(cell).cloned().map(|hit| (cell, hit)))
        .collect()
}

fn scroll(model: &mut Model, what: MouseAction) {
    assert_eq!(update(model, Msg::Mouse(what, Position::new(10, 10))), []);
}

#[test]
#[ignore = "exhaustive"]
fn a_click_presses_only_keys_that_do_something_now() {
    for size in [(60, 15), (80, 24), (140, 50)] {
        for (name, mut model) in states(size, RICH) {
            let commands = command::commands(&model, &model.view());
            let mut seen = Vec::new();
            for (cell, hit) in targets_by_cell(&model) {
                let fine = match &hit {
                    // With a single target this key is disabled; clicking shows the reason.
                    ClickTarget::Press(key) => {
                        commands.iter().any(|command| key.is_in(command.keys))
                    }
                    ClickTarget::Line(_) | ClickTarget::BlockBody(_) | ClickTarget::Open(..) => {
                        model.overlay.is_none()
                    }
                    ClickTarget::Entry(_) => matches!(model.overlay, Some(Overlay::Help { .. })),
                    ClickTarget::Target(_) => {
                        matches!(model.overlay, None | Some(Overlay::Targets { .. }))
                    }
                };
                assert!(fine, "{name}: {hit:?} at {cell}");
            }
            model.hits = drawn_targets(&model);
            let mut ends = Vec::new();
            for (cell, hit) in targets_by_cell(&model) {
                if seen.contains(&(cell.y, hit.clone())) {
                    continue;
                }
                seen.push((cell.y, hit));
                let mut after = model.clone();
                update(&mut after, Msg::Mouse(MouseAction::Click, cell));
                ends.extend(after.exit.map(|_| usize::from(cell.y)));
            }
            let screen: Vec<String> = screen_text(&model).lines().map(str::to_owned).collect();
            for row in &ends {
                let says =
                    screen[*row].contains("quit") || screen[*row].contains("exit immediately");
                assert!(
                    says,
                    "{name}: it ends only where that is said: {}",
                    screen[*row]
                );
            }
            let quit = screen
                .last()
                .is_some_and(|footer| footer.contains("q quit"));
            assert_eq!(ends.contains(&(screen.len() - 1)), quit, "{name}");
        }
    }
}

#[test]
fn tabs_target_and_footer_are_keys() {
    for screen in ScreenId::ALL {
        for width in [60, 80, 120] {
            let mut model = session_with(two_targets(), (width, 24), RICH);
            model.hits = drawn_targets(&model);
            let tabs = screen_text(&model).lines().nth(1).unwrap().to_owned();
            let column = tabs.find(&format!(" {}", screen.digit())).unwrap() + 1;
            let tab = Position::new(u16::try_from(column).unwrap(), 1);
            update(&mut model, Msg::Mouse(MouseAction::Click, tab));
            assert_eq!(model.screen, screen, "{tabs}");
        }
    }
    let mut model = session_with(two_targets(), (120, 24), RICH);
    click(&mut model, "1/2 ");
    assert!(matches!(model.overlay, Some(Overlay::Targets { .. })));
    click(&mut model, "· disk");
    assert!(
        model.overlay.is_none() && screen_text(&model).contains("2/2 "),
        "{}",
        screen_text(&model)
    );
    click(&mut model, "t targets");
    click(&mut model, "! at risk");
    assert!(screen_text(&model).contains("1/2 "));
    assert!(matches!(
        &click(&mut model, "r rescan")[..],
        [SideEffect::Start(_, Job::Collect)]
    ));
    click(&mut model, "? help");
    assert!(matches!(model.overlay, Some(Overlay::Help { .. })));
    click(&mut model, "1 Overview");
    assert!(model.overlay.is_some(), "what is beneath has no mouse");
    click(&mut model, "esc close");
    assert!(model.overlay.is_none());
}

#[test]
fn a_line_is_selected_and_the_second_click_enters_it() {
    let mut model = session_with(at_risk(), (80, 24), RICH);
    click(&mut model, "remove nobarrier, r");
    assert_eq!(model.screen, ScreenId::Overview);
    assert!(
        screen_text(&model)
            .lines()
            .any(|line| line.starts_with(" ▸ critical") && line.contains("nobarrier, r"))
    );
    click(&mut model, "remove nobarrier, r");
    assert_eq!(model.screen, ScreenId::Advice);
    let opened = model.page_state();
    click(&mut model, "Because of what");
    assert_eq!(
        model.page_state().unfolded,
        opened.unfolded,
        "what stands beneath stays open"
    );
    click(&mut model, "mount.options");
    assert_ne!(
        model.page_state().unfolded,
        opened.unfolded,
        "its first line closes it"
    );
}

#[test]
fn a_hop_opens_its_layer() {
    let mut model = session_with(at_risk(), (80, 60), RICH);
    click(&mut model, "passed");
    assert_eq!(model.screen, ScreenId::Storage);
    let page = model.page(&model.page_state());
    assert_eq!(
        page.selected(&model.page_state())
            .and_then(|block| block.key.as_deref()),
        Some("layer cluster /srv/pg/15/main")
    );
}

#[test]
fn the_wheel_goes_through_a_page_and_through_help() {
    let mut model = session_with(at_risk(), (80, 24), RICH);
    press(&mut model, "6");
    scroll(&mut model, MouseAction::WheelDown);
    assert_eq!(model.page_state().selected.as_deref(), Some("conf"));
    scroll(&mut model, MouseAction::WheelUp);
    assert_eq!(model.page_state().selected.as_deref(), Some("text"));
    press(&mut model, "?");
    scroll(&mut model, MouseAction::WheelDown);
    assert!(matches!(
        model.overlay,
        Some(Overlay::Help { chosen: 1, .. })
    ));
}

#[test]
fn help_and_questions_are_clicked_through() {
    let mut model = session_with(at_risk(), (80, 40), RICH);
    press(&mut model, "?");
    assert!(matches!(
        &click(&mut model, "rescan")[..],
        [SideEffect::Start(_, Job::Collect)]
    ));
    assert!(model.overlay.is_none());
    let mut model = session_with(at_risk(), (80, 24), RICH);
    click(&mut model, "p probe");
    finish(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
    click(&mut model, "n no");
    assert!(model.overlay.is_none());
    click(&mut model, "p probe");
    finish(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
    assert!(matches!(
        &click(&mut model, "y start")[..],
        [SideEffect::Start(_, Job::Probe(_))]
    ));
    let mut model = start_probe(at_risk());
    assert!(matches!(
        &click(&mut model, "c cancel")[..],
        [SideEffect::Cancel(_)]
    ));
    let mut model = export_screen((80, 24), RICH);
    click(&mut model, "s save");
    assert!(matches!(
        &click(&mut model, "enter save")[..],
        [SideEffect::Start(_, Job::Save(_))]
    ));
}

#[test]
fn m_frees_the_mouse_and_takes_it_back() {
    let mut model = session_with(at_risk(), (80, 24), RICH);
    assert_eq!(press(&mut model, "m"), [SideEffect::Mouse(false)]);
    assert!(screen_text(&model).contains("m takes it back"));
    assert_eq!(press(&mut model, "m"), [SideEffect::Mouse(true)]);
    assert!(screen_text(&model).contains("m releases it"));
    press(&mut model, "?");
    assert_eq!(press(&mut model, "m"), [], "typing in help is typing");
}
