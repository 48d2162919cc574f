//! The mouse: it does what keys do, at the places that were drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{probing, shown};
use crate::tui::command;
use crate::tui::frame;
use crate::tui::hits::{Hit, Hits};
use crate::tui::job::{Job, JobResult};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::{Msg, Pointed, SideEffect};
use crate::tui::sample::{
    RICH, at_risk, click, exporting, finish, press, states, two_targets, with,
};
use crate::tui::screen_id::ScreenId;
use crate::tui::update::update;

/// What the picture says can be clicked.
fn drawn(model: &Model) -> Hits {
    let mut buffer = Buffer::empty(Rect::from((Position::ORIGIN, model.size)));
    frame::draw(model, &mut buffer)
}

/// The same, cell by cell.
fn hits(model: &Model) -> Vec<(Position, Hit)> {
    let (area, hits) = (Rect::from((Position::ORIGIN, model.size)), drawn(model));
    area.positions()
        .filter_map(|cell| hits.at(cell).cloned().map(|hit| (cell, hit)))
        .collect()
}

fn turn(model: &mut Model, what: Pointed) {
    assert_eq!(update(model, Msg::Mouse(what, Position::new(10, 10))), []);
}

#[test]
#[ignore = "exhaustive"]
fn a_click_presses_only_keys_that_do_something_now() {
    for size in [(60, 15), (80, 24), (140, 50)] {
        for (name, mut model) in states(size, RICH) {
            let commands = command::commands(&model, &model.view());
            let mut seen = Vec::new();
            for (cell, hit) in hits(&model) {
                let fine = match &hit {
                    // That the target is the only one is said when it is clicked.
                    Hit::Press(key) => commands.iter().any(|command| key.is_in(command.keys)),
                    Hit::Line(_) | Hit::Beneath(_) | Hit::Open(..) => model.overlay.is_none(),
                    Hit::Entry(_) => matches!(model.overlay, Some(Overlay::Help { .. })),
                    Hit::Target(_) => matches!(model.overlay, None | Some(Overlay::Targets { .. })),
                };
                assert!(fine, "{name}: {hit:?} at {cell}");
            }
            model.hits = drawn(&model);
            let mut ends = Vec::new();
            for (cell, hit) in hits(&model) {
                if seen.contains(&(cell.y, hit.clone())) {
                    continue;
                }
                seen.push((cell.y, hit));
                let mut after = model.clone();
                update(&mut after, Msg::Mouse(Pointed::Click, cell));
                ends.extend(after.exit.map(|_| usize::from(cell.y)));
            }
            let screen: Vec<String> = shown(&model).lines().map(str::to_owned).collect();
            for row in &ends {
                let says = screen[*row].contains("quit") || screen[*row].contains("leave at once");
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
            let mut model = with(two_targets(), (width, 24), RICH);
            model.hits = drawn(&model);
            let tabs = shown(&model).lines().nth(1).unwrap().to_owned();
            let column = tabs.find(&format!(" {}", screen.digit())).unwrap() + 1;
            let tab = Position::new(u16::try_from(column).unwrap(), 1);
            update(&mut model, Msg::Mouse(Pointed::Click, tab));
            assert_eq!(model.screen, screen, "{tabs}");
        }
    }
    let mut model = with(two_targets(), (120, 24), RICH);
    click(&mut model, "1/2 ");
    assert!(matches!(model.overlay, Some(Overlay::Targets { .. })));
    click(&mut model, "· disk");
    assert!(
        model.overlay.is_none() && shown(&model).contains("2/2 "),
        "{}",
        shown(&model)
    );
    click(&mut model, "t targets");
    click(&mut model, "! at risk");
    assert!(shown(&model).contains("1/2 "));
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
    let mut model = with(at_risk(), (80, 24), RICH);
    click(&mut model, "remove nobarrier, r");
    assert_eq!(model.screen, ScreenId::Overview);
    assert!(
        shown(&model)
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
    let mut model = with(at_risk(), (80, 60), RICH);
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
    let mut model = with(at_risk(), (80, 24), RICH);
    press(&mut model, "6");
    turn(&mut model, Pointed::WheelDown);
    assert_eq!(model.page_state().selected.as_deref(), Some("conf"));
    turn(&mut model, Pointed::WheelUp);
    assert_eq!(model.page_state().selected.as_deref(), Some("text"));
    press(&mut model, "?");
    turn(&mut model, Pointed::WheelDown);
    assert!(matches!(
        model.overlay,
        Some(Overlay::Help { chosen: 1, .. })
    ));
}

#[test]
fn help_and_questions_are_clicked_through() {
    let mut model = with(at_risk(), (80, 40), RICH);
    press(&mut model, "?");
    assert!(matches!(
        &click(&mut model, "read again")[..],
        [SideEffect::Start(_, Job::Collect)]
    ));
    assert!(model.overlay.is_none());
    let mut model = with(at_risk(), (80, 24), RICH);
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
    let mut model = probing(at_risk());
    assert!(matches!(
        &click(&mut model, "c cancel")[..],
        [SideEffect::Cancel(_)]
    ));
    let mut model = exporting((80, 24), RICH);
    click(&mut model, "s save");
    assert!(matches!(
        &click(&mut model, "enter save")[..],
        [SideEffect::Start(_, Job::Save(_))]
    ));
}

#[test]
fn m_frees_the_mouse_and_takes_it_back() {
    let mut model = with(at_risk(), (80, 24), RICH);
    assert_eq!(press(&mut model, "m"), [SideEffect::Mouse(false)]);
    assert!(shown(&model).contains("m takes it back"));
    assert_eq!(press(&mut model, "m"), [SideEffect::Mouse(true)]);
    assert!(shown(&model).contains("m frees it"));
    press(&mut model, "?");
    assert_eq!(press(&mut model, "m"), [], "typing in help is typing");
}
