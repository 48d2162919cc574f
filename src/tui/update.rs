//! The only module that changes the model. Pure: a message in, effects out; no clock, terminal or
//! thread.

mod results;

use std::sync::Arc;

use ratatui::layout::Position;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTSTP, SIGWINCH};

use super::click_map::ClickTarget;
use super::command::{self, Action, UserAction};
use super::data::{Activity, Data};
use super::documents::SaveState;
use super::export;
use super::filter::Filter;
use super::focus::Focus;
use super::frame;
use super::key::KeyPress;
use super::model::{Dirty, Model, Overlay, PageView};
use super::msg::{Exit, MouseAction, Msg, SideEffect};
use super::overlay::pane::page_size;
use super::page::{EnterEffect, Motion, Page, PageState};
use super::screen_id::ScreenId;
use super::what_if::{Picker, Selection};
use super::widgets::field::{Edit, Field};
use crate::report::Report;
use crate::report::view::wording::count_noun;

/// Lines per step of the mouse wheel.
const LINES_PER_NOTCH: usize = 3;

pub fn update(model: &mut Model, msg: Msg) -> Vec<SideEffect> {
    // Keys decide this themselves: most change only the selection, which keeps the page.
    if !matches!(msg, Msg::Key(_)) {
        model.forget_page();
    }
    let mut effects = handle(model, msg);
    effects.extend(export::render_next(model));
    effects
}

fn handle(model: &mut Model, msg: Msg) -> Vec<SideEffect> {
    let urgency = if matches!(msg, Msg::Progress(..)) {
        Dirty::Soon
    } else {
        Dirty::Now
    };
    model.dirty = model.dirty.max(urgency);
    match msg {
        Msg::Key(key) => handle_key(model, &key),
        Msg::Text(text) => {
            model.notice = None;
            model.shows_hints = false;
            type_text(model, &text);
            Vec::new()
        }
        Msg::Paste(text) => {
            paste(model, &text);
            Vec::new()
        }
        Msg::Mouse(what, cell) => handle_mouse(model, what, cell),
        Msg::Signal(SIGTSTP) => vec![SideEffect::Suspend],
        Msg::Signal(SIGCONT) => vec![SideEffect::Resume],
        Msg::Signal(SIGWINCH) => vec![SideEffect::Redraw],
        Msg::Signal(number) => {
            model.exit = Some(Exit::Signal(number));
            Vec::new()
        }
        Msg::Hangup => {
            model.exit = Some(Exit::Signal(SIGHUP));
            Vec::new()
        }
        Msg::Tick => {
            model.animation_frame = model.animation_frame.wrapping_add(1);
            Vec::new()
        }
        // Only a wake-up: the input has messages of its own.
        Msg::Input => Vec::new(),
        Msg::Progress(job, partial) => results::handle_progress(model, job, partial),
        Msg::Done(job, result) => results::handle_result(model, job, result),
    }
}

fn handle_key(model: &mut Model, key: &KeyPress) -> Vec<SideEffect> {
    model.notice = None;
    model.shows_hints = false;
    let view = model.view();
    model.forget_page();
    if let Some(command) = command::lookup(model, &view, key) {
        return perform(model, view, command);
    }
    if let Some(c) = key.typed_char() {
        type_text(model, c.encode_utf8(&mut [0; 4]));
    }
    Vec::new()
}

/// Types pasted text into a text field, as one line. Elsewhere it is ignored: a copied line must
/// not start a probe or answer a question.
fn paste(model: &mut Model, text: &str) {
    model.notice = None;
    if !type_text(model, text) {
        model.notice = Some("pasted text is ignored outside text fields".to_owned());
    }
}

/// Types into the active text field; false if there is none.
fn type_text(model: &mut Model, text: &str) -> bool {
    let mut fits = true;
    let is_typed = match &mut model.overlay {
        Some(Overlay::Save(form)) if matches!(form.stage, SaveState::Naming(_)) => {
            fits = form.name.push(text);
            true
        }
        Some(overlay) => {
            let lists = overlay.filters_on_typing();
            edit_filter(model, |typed| {
                // `/` starts a search elsewhere, so it is dropped as the first character here.
                let rest = if lists && typed.text().is_empty() {
                    text.strip_prefix('/')
                } else {
                    None
                };
                fits = typed.push(rest.unwrap_or(text));
            })
        }
        None => edit_filter(model, |typed| fits = typed.push(text)),
    };
    if !fits {
        model.notice = Some(format!(
            "limited to {} characters; the rest was cut",
            Field::MAX_CHARS
        ));
    }
    is_typed
}

/// Whether typed characters are text now, not commands.
pub fn takes_text(model: &Model) -> bool {
    match &model.overlay {
        Some(Overlay::Save(form)) => matches!(form.stage, SaveState::Naming(_)),
        Some(Overlay::Help { .. } | Overlay::Targets { .. } | Overlay::WhatIf(_)) => true,
        Some(Overlay::Confirm { .. } | Overlay::Filesystem { .. }) => false,
        None => model.page_state().is_typing(),
    }
}

/// Edits the active filter; false if there is none.
fn edit_filter(model: &mut Model, change: impl FnOnce(&mut Field)) -> bool {
    let finding = model.page_state().is_typing();
    match &mut model.overlay {
        Some(Overlay::Help { filter, chosen } | Overlay::Targets { filter, chosen }) => {
            change(filter);
            *chosen = 0;
        }
        Some(Overlay::WhatIf(picker)) => picker.edit(change),
        None if finding => change_filter(model, |filter| {
            if let Some(filter) = filter {
                change(&mut filter.text);
            }
        }),
        _ => return false,
    }
    true
}

/// The mouse acts as keys do; drawing recorded what lies under it.
fn handle_mouse(model: &mut Model, what: MouseAction, cell: Position) -> Vec<SideEffect> {
    let (key, times) = match what {
        MouseAction::Click => return handle_click(model, cell),
        MouseAction::WheelUp => ("up", LINES_PER_NOTCH),
        MouseAction::WheelDown => ("down", LINES_PER_NOTCH),
    };
    // In an overlay each line is an entry, so the wheel moves by one.
    let times = if model.overlay.is_some() { 1 } else { times };
    (0..times)
        .flat_map(|_| handle_key(model, &KeyPress::from_name(key)))
        .collect()
}

fn handle_click(model: &mut Model, cell: Position) -> Vec<SideEffect> {
    model.notice = None;
    model.shows_hints = false;
    match model.hits.at(cell).cloned() {
        None => {}
        Some(ClickTarget::Press(key)) => return handle_key(model, &key),
        Some(ClickTarget::Line(key))
            if selected_block(model).is_some_and(|block| block.key.as_ref() == Some(&key)) =>
        {
            return handle_key(model, &KeyPress::from_name("enter"));
        }
        Some(ClickTarget::Line(key) | ClickTarget::BlockBody(key)) => {
            change_page_state(model, |page, state, _| {
                page.active_state_mut(state).selected = Some(key);
            });
        }
        Some(ClickTarget::Open(screen, key)) => open(model, screen, key),
        Some(ClickTarget::Target(place)) => {
            model.overlay = None;
            switch_target(model, |focus, report| focus.at_place(report, place));
        }
        Some(ClickTarget::Entry(at)) => {
            if let Some(Overlay::Help { chosen, .. }) = &mut model.overlay {
                *chosen = at;
            }
            return run_help_entry(model);
        }
    }
    Vec::new()
}

fn perform(model: &mut Model, view: PageView, command: UserAction) -> Vec<SideEffect> {
    if let Err(why) = command.enabled {
        model.notice = Some(format!("Unavailable ({}): {why}", command.label));
        return Vec::new();
    }
    match command.action {
        Action::Go(motion) => change_selection(model, view, |page, state, height| {
            page.go(state, motion, height);
        }),
        Action::JumpToIssue(way) => change_selection(model, view, |page, state, height| {
            page.jump_to_issue(state, way, height);
        }),
        Action::Enter => {
            let block = selected_block(model);
            enter(model);
            let Data { raw, report, .. } = &model.data;
            let job = block.and_then(|block| raw.fetch_job(report.as_deref(), &block));
            return job
                .map(|job| SideEffect::Start(model.next_job_id(), job))
                .into_iter()
                .collect();
        }
        Action::Back => back(model),
        Action::Copy => return copy(model),
        Action::Filter => {
            change_filter(model, |filter| filter.get_or_insert_default().typing = true);
        }
        Action::FilterKeep => change_filter(model, |filter| {
            let kept = filter
                .take()
                .filter(|filter| !filter.text.text().trim().is_empty());
            *filter = kept.map(|kept| Filter {
                typing: false,
                ..kept
            });
        }),
        Action::FilterEnd => change_filter(model, |filter| *filter = None),
        Action::OnlyUnknown => toggle_unknown(model),
        Action::Sources => {
            change_page_state(model, |_, state, _| {
                state.with_sources = !state.with_sources;
            });
            change_page_state(model, Page::reveal);
        }
        Action::Show(screen) => show(model, screen),
        Action::AskTarget => {
            let chosen = model.data.focus.place.0;
            model.overlay = Some(Overlay::Targets {
                filter: Field::default(),
                chosen,
            });
        }
        Action::ListGo(motion) => move_in_list(model, motion),
        Action::ListChoose => return choose_in_list(model),
        Action::NextTarget => switch_target(model, Focus::next),
        Action::PreviousTarget => switch_target(model, Focus::previous),
        Action::PlanProbe => {
            return model
                .data
                .focus
                .target
                .clone()
                .map(|t| model.plan_probe(t))
                .into_iter()
                .collect();
        }
        Action::StartProbe => return start_probe(model),
        Action::CancelProbe => return cancel_probe(model),
        Action::Rescan => return vec![model.collect()],
        Action::WhatIf => {
            model.overlay = Some(Overlay::WhatIf(Box::new(Picker::open(&model.data))));
        }
        Action::EnterFact => open_fact_entry(model),
        Action::LeaveWhatIf => leave_what_if(model),
        Action::WhatIfComplete => with_picker(model, Picker::complete),
        Action::WhatIfBack => {
            let mut returns = false;
            with_picker(model, |picker| returns = picker.back());
            if !returns {
                model.overlay = None;
            }
        }
        Action::AskFilesystem => {
            let wanted = model
                .data
                .filesystems()
                .iter()
                .position(|choice| choice.wanted);
            model.overlay = Some(Overlay::Filesystem {
                chosen: wanted.unwrap_or_default(),
            });
        }
        Action::AskSave => export::open_save_form(model),
        Action::Save => return export::save(model, false).into_iter().collect(),
        Action::Replace => return export::save(model, true).into_iter().collect(),
        Action::Rename => {
            if let Some(Overlay::Save(form)) = &mut model.overlay {
                form.stage = SaveState::Naming(None);
            }
        }
        Action::Edit(edit) => {
            if let Some(Overlay::Save(form)) = &mut model.overlay {
                form.name.edit(edit);
            }
        }
        Action::Mouse => return toggle_mouse(model),
        Action::Help => {
            model.overlay = Some(Overlay::Help {
                filter: Field::default(),
                chosen: 0,
            });
        }
        Action::Erase => {
            edit_filter(model, |typed| typed.edit(Edit::Backspace));
        }
        Action::Clear => {
            edit_filter(model, |typed| typed.edit(Edit::Clear));
        }
        Action::Close => model.overlay = None,
        Action::Redraw => return vec![SideEffect::Redraw],
        Action::Suspend => return vec![SideEffect::Suspend],
        Action::Quit => model.exit = Some(Exit::Quit),
        Action::Interrupt => model.exit = Some(Exit::Signal(SIGINT)),
    }
    Vec::new()
}

fn change_page_state(model: &mut Model, change: impl FnOnce(&Page, &mut PageState, u16)) {
    let view = model.view();
    change_view_state(model, view, change);
}

/// Changes only the selection and the scroll position.
fn change_selection(
    model: &mut Model,
    view: PageView,
    change: impl FnOnce(&Page, &mut PageState, u16),
) {
    let page = Arc::clone(&view.page);
    change_view_state(model, view, change);
    if !model.screen.follows_selection() {
        model.cache_page(page);
    }
}

fn change_view_state(
    model: &mut Model,
    view: PageView,
    change: impl FnOnce(&Page, &mut PageState, u16),
) {
    let PageView { page, mut state } = view;
    let body = frame::body(model.size, &state);
    change(&page, &mut state, body.height);
    model.pages.insert(model.screen, state);
}

/// Changes what is unfolded, then scrolls the selected block into view.
fn change_unfolded(model: &mut Model, change: impl FnOnce(&mut PageState)) {
    change_page_state(model, |page, state, _| change(page.active_state_mut(state)));
    change_page_state(model, Page::reveal);
}

/// Changes the filter; the selection stays if it is still visible.
fn change_filter(model: &mut Model, change: impl FnOnce(&mut Option<Filter>)) {
    change_page_state(model, |_, state, _| change(&mut state.filter));
    change_page_state(model, Page::reveal);
}

fn selected_block(model: &Model) -> Option<super::page::Block> {
    let PageView { page, state } = model.view();
    page.selected(&state).cloned()
}

fn enter(model: &mut Model) {
    let Some(block) = selected_block(model) else {
        return;
    };
    let Some(key) = block.key else { return };
    match block.enter {
        EnterEffect::Nothing => {}
        EnterEffect::Unfold => change_unfolded(model, |state| {
            state.selected = Some(key.clone());
            if !state.unfolded.remove(&key) {
                state.unfolded.insert(key);
            }
        }),
        EnterEffect::OpenPane => change_page_state(model, |_, state, _| state.enter_pane()),
        EnterEffect::Open(screen, key) => open(model, screen, key),
    }
}

/// Opens a screen with this block selected and unfolded.
fn open(model: &mut Model, screen: ScreenId, key: String) {
    show(model, screen);
    change_unfolded(model, |state| {
        state.selected = Some(key.clone());
        state.unfolded.insert(key);
    });
}

fn back(model: &mut Model) {
    let PageView { page, state } = model.view();
    let open = page.selected(&state).and_then(|block| block.key.clone());
    if let Some(key) = open.filter(|key| page.active_state(&state).is_unfolded(key)) {
        change_unfolded(model, |state| {
            state.unfolded.remove(&key);
        });
    } else if page.is_in_pane(&state) {
        change_page_state(model, |_, state, _| state.leave_pane());
    } else if state.filter.is_some() {
        change_filter(model, |filter| *filter = None);
    } else if let Some(screen) = model.trail.pop() {
        model.screen = screen;
    } else {
        leave_what_if(model);
    }
}

fn with_picker(model: &mut Model, change: impl FnOnce(&mut Picker)) {
    if let Some(Overlay::WhatIf(picker)) = &mut model.overlay {
        change(picker);
    }
}

/// Asks for the value of the selected block's fact.
fn open_fact_entry(model: &mut Model) {
    let fact = selected_block(model).and_then(|block| block.fact);
    let picker = fact.and_then(|(subject, fact)| Picker::new(&model.data, &subject, &fact));
    model.overlay = picker.map(|picker| Overlay::WhatIf(Box::new(picker)));
}

/// Chooses a fact, or its value, which is evaluated at once.
fn choose_in_picker(model: &mut Model) -> Vec<SideEffect> {
    let Some(Overlay::WhatIf(picker)) = &mut model.overlay else {
        return Vec::new();
    };
    let held = model
        .data
        .assumed_host
        .as_ref()
        .map(|supposed| supposed.suppositions.clone());
    match picker.select(&held.unwrap_or_default()) {
        Ok(Selection::Fact(choice)) => picker.ask_value(choice),
        Ok(Selection::Assumptions(all)) if all.is_empty() => {
            model.overlay = None;
            leave_what_if(model);
        }
        Ok(Selection::Assumptions(all)) => return vec![model.suppose(all)],
        Err(_) => {}
    }
    Vec::new()
}

/// Plans with the chosen file system; the recommended one needs no choice.
fn choose_filesystem(model: &mut Model) -> Option<SideEffect> {
    let Some(Overlay::Filesystem { chosen }) = model.overlay else {
        return None;
    };
    let choice = model.data.filesystems().get(chosen)?;
    let filesystem = Some(choice.filesystem).filter(|_| !choice.first);
    let target = model.data.focus.target.clone()?;
    model.overlay = None;
    Some(model.choose_filesystem(target, filesystem))
}

fn leave_what_if(model: &mut Model) {
    // The result of a running evaluation is dropped with its job.
    if matches!(model.data.activity, Activity::Assuming { .. }) {
        model.data.activity = Activity::Idle;
    }
    if model.data.assumed_host.take().is_some() {
        model.notice = Some("back to the real host".to_owned());
    }
}

fn show(model: &mut Model, screen: ScreenId) {
    if screen == model.screen {
        return;
    }
    model.trail.retain(|passed| *passed != screen);
    if !model.trail.contains(&model.screen) {
        model.trail.push(model.screen);
    }
    model.screen = screen;
}

/// Toggles unknown facts on a screen that supports it; elsewhere opens Storage with only unknown
/// facts.
fn toggle_unknown(model: &mut Model) {
    let stays = model.screen.has_unknowns();
    if !stays {
        show(model, ScreenId::Storage);
        change_page_state(model, |_, state, _| state.filter = None);
    }
    change_page_state(model, |_, state, _| {
        state.only_unknown = !(stays && state.only_unknown);
    });
    change_page_state(model, Page::reveal);
}

fn copy(model: &mut Model) -> Vec<SideEffect> {
    const SENT: &str = "sent to the terminal's clipboard";
    if model.screen == ScreenId::Export {
        let Ok(document) = export::copyable_document(model) else {
            return Vec::new();
        };
        let (text, lines) = (
            document.text.to_string(),
            count_noun(document.lines, "line"),
        );
        model.notice = Some(format!(
            "{SENT}: {lines}; if the terminal blocks it, s saves them"
        ));
        return vec![SideEffect::Copy(text)];
    }
    let commands = selected_block(model)
        .map(|block| block.commands)
        .unwrap_or_default();
    if commands.is_empty() {
        return Vec::new();
    }
    let lines: Vec<&str> = commands.iter().map(AsRef::as_ref).collect();
    model.notice = Some(format!("{SENT}: {}", lines.join("; ")));
    vec![SideEffect::Copy(lines.join("\n"))]
}

fn toggle_mouse(model: &mut Model) -> Vec<SideEffect> {
    model.mouse = !model.mouse;
    let said = if model.mouse {
        "mouse on: clicks and scrolls; m releases it"
    } else {
        "mouse released, to select text; m takes it back"
    };
    model.notice = Some(said.to_owned());
    vec![SideEffect::Mouse(model.mouse)]
}

/// Moves in the list of the overlay.
fn move_in_list(model: &mut Model, motion: Motion) {
    let count = match &model.overlay {
        Some(Overlay::Help { filter, .. }) => command::help_entries(model, filter.text()).len(),
        Some(Overlay::Targets { filter, .. }) => {
            command::overlay_targets(model, filter.text()).count()
        }
        Some(Overlay::WhatIf(picker)) => picker.entries().len(),
        Some(Overlay::Filesystem { .. }) => model.data.filesystems().len(),
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => 0,
    };
    let page = page_size(frame::layout(model.size).body.height);
    let chosen = match &mut model.overlay {
        Some(
            Overlay::Help { chosen, .. }
            | Overlay::Targets { chosen, .. }
            | Overlay::Filesystem { chosen },
        ) => chosen,
        Some(Overlay::WhatIf(picker)) => &mut picker.chosen,
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => return,
    };
    *chosen = motion.position_after(*chosen, page, count);
}

/// Chooses the selected entry of the overlay.
fn choose_in_list(model: &mut Model) -> Vec<SideEffect> {
    match &model.overlay {
        Some(Overlay::Help { .. }) => run_help_entry(model),
        Some(Overlay::Targets { .. }) => {
            choose_target(model);
            Vec::new()
        }
        Some(Overlay::WhatIf(_)) => choose_in_picker(model),
        Some(Overlay::Filesystem { .. }) => choose_filesystem(model).into_iter().collect(),
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => Vec::new(),
    }
}

fn choose_target(model: &mut Model) {
    let Some(Overlay::Targets { filter, chosen }) = &model.overlay else {
        return;
    };
    let taken = command::overlay_targets(model, filter.text())
        .nth(*chosen)
        .map(|(place, _)| place);
    model.overlay = None;
    if let Some(place) = taken {
        switch_target(model, |focus, report| focus.at_place(report, place));
    }
}

fn switch_target(model: &mut Model, which: impl FnOnce(&Focus, &Report) -> Focus) {
    let Some(report) = model.data.report.as_deref() else {
        return;
    };
    model.data.focus = which(&model.data.focus, report);
    model.chosen_target.clone_from(&model.data.focus.target);
    // Another target starts at the top of the page.
    change_page_state(model, |_, state, _| *state = state.reset());
}

fn start_probe(model: &mut Model) -> Vec<SideEffect> {
    match model.overlay.take() {
        Some(Overlay::Confirm { target, .. }) => {
            show(model, ScreenId::Probe);
            vec![model.probe(target)]
        }
        other => {
            model.overlay = other;
            Vec::new()
        }
    }
}

fn cancel_probe(model: &mut Model) -> Vec<SideEffect> {
    match &mut model.data.activity {
        Activity::Probing { job, cancelled, .. } => {
            *cancelled = true;
            vec![SideEffect::Cancel(*job)]
        }
        _ => Vec::new(),
    }
}

fn run_help_entry(model: &mut Model) -> Vec<SideEffect> {
    let Some(Overlay::Help { filter, chosen }) = &model.overlay else {
        return Vec::new();
    };
    let Some(command) = command::help_entries(model, filter.text())
        .into_iter()
        .nth(*chosen)
    else {
        return Vec::new();
    };
    model.overlay = None;
    let view = model.view();
    perform(model, view, command)
}
