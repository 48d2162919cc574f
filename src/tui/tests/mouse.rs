use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{screen_text, session_with_started_probe};
use crate::tui::click_map::{ClickMap, ClickTarget};
use crate::tui::command;
use crate::tui::frame;
use crate::tui::job::{Job, JobResult};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::{MouseAction, Msg, SideEffect};
use crate::tui::page::PaneFocus;
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{
    RICH, at_risk_report, click_on_text, finish_job, named_sessions, press_keys,
    report_with_two_targets, session_with_open_export, session_with_report,
};
use crate::tui::update::update;

fn drawn_click_map(model: &Model) -> ClickMap {
    let mut buffer = Buffer::empty(Rect::from((Position::ORIGIN, model.size)));
    frame::draw(model, &mut buffer)
}

fn click_targets_by_cell(model: &Model) -> Vec<(Position, ClickTarget)> {
    let (area, hits) = (
        Rect::from((Position::ORIGIN, model.size)),
        drawn_click_map(model),
    );
    area.positions()
        .filter_map(|cell| hits.click_target_at(cell).cloned().map(|hit| (cell, hit)))
        .collect()
}

fn turn_mouse_wheel(model: &mut Model, what: MouseAction) {
    assert_eq!(update(model, Msg::Mouse(what, Position::new(10, 10))), []);
}

#[test]
#[ignore = "exhaustive"]
fn clicks_press_only_available_keys() {
    for size in [(60, 15), (80, 24), (140, 50)] {
        for (name, mut model) in named_sessions(size, RICH) {
            let commands = command::current_commands(&model, &model.current_page_view());
            let mut seen = Vec::new();
            for (cell, hit) in click_targets_by_cell(&model) {
                let fine = match &hit {
                    // With a single target, the key for the list of targets is disabled; a click
                    // then shows the reason.
                    ClickTarget::Press(key) => {
                        commands.iter().any(|command| key.is_one_of(command.keys))
                    }
                    ClickTarget::Row(_) | ClickTarget::PaneRow(_) | ClickTarget::Target(_) => {
                        model.overlay.is_none()
                    }
                    ClickTarget::Entry(_) => {
                        let list = model.overlay.as_mut();
                        list.is_some_and(|list| list.chosen_mut().is_some())
                    }
                };
                assert!(fine, "{name}: {hit:?} at {cell}");
            }
            model.hits = drawn_click_map(&model);
            let mut ends = Vec::new();
            for (cell, hit) in click_targets_by_cell(&model) {
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
fn tabs_header_target_and_footer_are_clickable() {
    for screen in ScreenId::ALL {
        for width in [60, 80, 120] {
            let mut model = session_with_report(report_with_two_targets(), (width, 24), RICH);
            model.hits = drawn_click_map(&model);
            let tabs = screen_text(&model).lines().nth(1).unwrap().to_owned();
            let column = tabs.find(&format!(" {}", screen.digit_key())).unwrap() + 1;
            let tab = Position::new(u16::try_from(column).unwrap(), 1);
            update(&mut model, Msg::Mouse(MouseAction::Click, tab));
            assert_eq!(model.screen, screen, "{tabs}");
        }
    }
    let mut model = session_with_report(report_with_two_targets(), (120, 24), RICH);
    click_on_text(&mut model, "1/2 ");
    assert!(matches!(model.overlay, Some(Overlay::Targets { .. })));
    click_on_text(&mut model, "· disk");
    assert!(
        model.overlay.is_none() && screen_text(&model).contains("2/2 "),
        "{}",
        screen_text(&model)
    );
    click_on_text(&mut model, "t targets");
    click_on_text(&mut model, "! at risk");
    assert!(screen_text(&model).contains("1/2 "));
    assert!(matches!(
        &click_on_text(&mut model, "r rescan")[..],
        [SideEffect::Start(_, Job::Collect)]
    ));
    click_on_text(&mut model, "? help");
    assert!(matches!(model.overlay, Some(Overlay::Help { .. })));
    click_on_text(&mut model, "1 Overview");
    assert!(model.overlay.is_some(), "what is beneath has no mouse");
    click_on_text(&mut model, "esc close");
    assert!(model.overlay.is_none());
}

#[test]
fn second_click_on_row_opens_details() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "2");
    click_on_text(&mut model, "md0 ");
    assert_eq!(model.current_page_state().focus, PaneFocus::List);
    click_on_text(&mut model, "md0 ");
    assert_eq!(model.current_page_state().focus, PaneFocus::Full);
    let before = model.current_page_state().pane.unfolded;
    click_on_text(&mut model, "write cache");
    assert_ne!(model.current_page_state().pane.unfolded, before);
    click_on_text(&mut model, "esc back");
    assert_eq!(model.current_page_state().focus, PaneFocus::List);
}

#[test]
fn click_on_flush_path_hop_selects_its_layer() {
    let mut model = session_with_report(at_risk_report(), (80, 60), RICH);
    click_on_text(&mut model, "LOST HERE");
    assert_eq!(
        model
            .current_page_view()
            .focused_selection()
            .and_then(|block| block.key.as_deref()),
        Some("layer device sdb")
    );
    assert!(
        screen_text(&model).contains("Details"),
        "{}",
        screen_text(&model)
    );
}

#[test]
fn mouse_wheel_moves_selection_in_page_and_help() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "6");
    turn_mouse_wheel(&mut model, MouseAction::WheelDown);
    assert_eq!(
        model.current_page_state().list.selected.as_deref(),
        Some("conf")
    );
    turn_mouse_wheel(&mut model, MouseAction::WheelUp);
    assert_eq!(
        model.current_page_state().list.selected.as_deref(),
        Some("text")
    );
    press_keys(&mut model, "?");
    turn_mouse_wheel(&mut model, MouseAction::WheelDown);
    assert!(matches!(
        model.overlay,
        Some(Overlay::Help { chosen: 1, .. })
    ));
}

#[test]
fn help_and_confirmations_are_clickable() {
    let mut model = session_with_report(at_risk_report(), (80, 40), RICH);
    press_keys(&mut model, "?");
    assert!(matches!(
        &click_on_text(&mut model, "rescan")[..],
        [SideEffect::Start(_, Job::Collect)]
    ));
    assert!(model.overlay.is_none());
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    click_on_text(&mut model, "p probe");
    finish_job(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
    click_on_text(&mut model, "n no");
    assert!(model.overlay.is_none());
    click_on_text(&mut model, "p probe");
    finish_job(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
    assert!(matches!(
        &click_on_text(&mut model, "y start")[..],
        [SideEffect::Start(_, Job::Probe(_))]
    ));
    let mut model = session_with_started_probe(at_risk_report());
    assert!(matches!(
        &click_on_text(&mut model, "c cancel")[..],
        [SideEffect::Cancel(_)]
    ));
    let mut model = session_with_open_export((80, 24), RICH);
    click_on_text(&mut model, "s save");
    assert!(matches!(
        &click_on_text(&mut model, "enter save")[..],
        [SideEffect::Start(_, Job::Save(_))]
    ));
}

#[test]
fn m_toggles_mouse_capture() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    assert_eq!(press_keys(&mut model, "m"), [SideEffect::Mouse(false)]);
    assert!(screen_text(&model).contains("press m to turn it on again"));
    assert_eq!(press_keys(&mut model, "m"), [SideEffect::Mouse(true)]);
    assert!(screen_text(&model).contains("press m to release it"));
    press_keys(&mut model, "?");
    assert_eq!(press_keys(&mut model, "m"), [], "typing in help is typing");
}
