//! The only module that changes the model. Pure: a message goes in, effects come out; no clock, no
//! terminal, no thread.

mod results;

use std::sync::Arc;

use ratatui::layout::Position;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTSTP, SIGWINCH};

use super::command::{self, Action, UserAction};
use super::data::{Activity, Data};
use super::documents::SaveState;
use super::export;
use super::filter::Filter;
use super::focus::Focus;
use super::frame;
use super::hits::Hit;
use super::key::KeyPress;
use super::model::{Dirty, Model, Overlay, PageView};
use super::msg::{Exit, Msg, Pointed, SideEffect};
use super::overlay::pane::screenful;
use super::page::{Enter, Motion, Page, PageState};
use super::screen_id::ScreenId;
use super::what_if::{Picker, Taken};
use super::widgets::field::{Edit, Field};
use crate::report::Report;
use crate::report::telling::words::count;

/// How many lines the wheel goes at once.
const NOTCH: usize = 3;

pub fn update(model: &mut Model, msg: Msg) -> Vec<SideEffect> {
    // A key decides itself whether more than the selection changes.
    if !matches!(msg, Msg::Key(_)) {
        model.forget_page();
    }
    let mut effects = take(model, msg);
    effects.extend(export::make(model));
    effects
}

fn take(model: &mut Model, msg: Msg) -> Vec<SideEffect> {
    let urgency = if matches!(msg, Msg::Progress(..)) {
        Dirty::Soon
    } else {
        Dirty::Now
    };
    model.dirty = model.dirty.max(urgency);
    match msg {
        Msg::Key(key) => press(model, &key),
        Msg::Text(text) => {
            model.notice = None;
            model.is_new = false;
            type_text(model, &text);
            Vec::new()
        }
        Msg::Paste(text) => {
            paste(model, &text);
            Vec::new()
        }
        Msg::Mouse(what, cell) => point(model, what, cell),
        Msg::Signal(SIGTSTP) => vec![SideEffect::Suspend],
        Msg::Signal(SIGCONT) => vec![SideEffect::Resume],
        Msg::Signal(SIGWINCH) => vec![SideEffect::Renew],
        Msg::Signal(number) => {
            model.exit = Some(Exit::Signal(number));
            Vec::new()
        }
        Msg::Hangup => {
            model.exit = Some(Exit::Signal(SIGHUP));
            Vec::new()
        }
        Msg::Tick => {
            model.beat = model.beat.wrapping_add(1);
            Vec::new()
        }
        // What it announces comes in messages of its own.
        Msg::Input => Vec::new(),
        Msg::Progress(job, partial) => results::progress(model, job, partial),
        Msg::Done(job, result) => results::done(model, job, result),
    }
}

fn press(model: &mut Model, key: &KeyPress) -> Vec<SideEffect> {
    model.notice = None;
    model.is_new = false;
    let view = model.view();
    model.forget_page();
    if let Some(command) = command::lookup(model, &view, key) {
        return perform(model, view, command);
    }
    if let Some(c) = key.types() {
        type_text(model, c.encode_utf8(&mut [0; 4]));
    }
    Vec::new()
}

/// Pasted text is typed into a text field, as one line. Anywhere else it is ignored: a copied line
/// must not start a probe or answer a question.
fn paste(model: &mut Model, text: &str) {
    model.notice = None;
    if !type_text(model, text) {
        model.notice = Some("pasted text is not taken for keys".to_owned());
    }
}

/// Types a text where one is typed now; false where none is.
fn type_text(model: &mut Model, text: &str) -> bool {
    let mut fits = true;
    let is_typed = match &mut model.overlay {
        Some(Overlay::Save(form)) if matches!(form.stage, SaveState::Naming(_)) => {
            fits = form.name.push(text);
            true
        }
        Some(overlay) => {
            let lists = overlay.finds_at_once();
            retype(model, |typed| {
                // Elsewhere finding begins with this key.
                let rest = if lists && typed.text().is_empty() {
                    text.strip_prefix('/')
                } else {
                    None
                };
                fits = typed.push(rest.unwrap_or(text));
            })
        }
        None => retype(model, |typed| fits = typed.push(text)),
    };
    if !fits {
        model.notice = Some(format!(
            "a text field holds {} characters; the rest is left out",
            Field::MOST
        ));
    }
    is_typed
}

/// Whether characters are typed into a text now, so that none of them is a command.
pub fn takes_text(model: &Model) -> bool {
    match &model.overlay {
        Some(Overlay::Save(form)) => matches!(form.stage, SaveState::Naming(_)),
        Some(Overlay::Help { .. } | Overlay::Targets { .. } | Overlay::WhatIf(_)) => true,
        Some(Overlay::Confirm { .. } | Overlay::Filesystem { .. }) => false,
        None => model.page_state().is_typing(),
    }
}

/// Changes what is typed to find something; false where nothing is.
fn retype(model: &mut Model, change: impl FnOnce(&mut Field)) -> bool {
    let finding = model.page_state().is_typing();
    match &mut model.overlay {
        Some(Overlay::Help { filter, chosen } | Overlay::Targets { filter, chosen }) => {
            change(filter);
            *chosen = 0;
        }
        Some(Overlay::WhatIf(picker)) => picker.edit(change),
        None if finding => refind(model, |filter| {
            if let Some(filter) = filter {
                change(&mut filter.text);
            }
        }),
        _ => return false,
    }
    true
}

/// The mouse does what keys do; what lies under it was noted while it was drawn.
fn point(model: &mut Model, what: Pointed, cell: Position) -> Vec<SideEffect> {
    let (key, times) = match what {
        Pointed::Click => return click(model, cell),
        Pointed::WheelUp => ("up", NOTCH),
        Pointed::WheelDown => ("down", NOTCH),
    };
    // In a list that lies over the screen each line is a choice of its own.
    let times = if model.overlay.is_some() { 1 } else { times };
    (0..times)
        .flat_map(|_| press(model, &KeyPress::named(key)))
        .collect()
}

fn click(model: &mut Model, cell: Position) -> Vec<SideEffect> {
    model.notice = None;
    model.is_new = false;
    match model.hits.at(cell).cloned() {
        None => {}
        Some(Hit::Press(key)) => return press(model, &key),
        Some(Hit::Line(key))
            if selected(model).is_some_and(|block| block.key.as_ref() == Some(&key)) =>
        {
            return press(model, &KeyPress::named("enter"));
        }
        Some(Hit::Line(key) | Hit::Beneath(key)) => {
            on_page(model, |page, state, _| {
                page.place_mut(state).selected = Some(key);
            });
        }
        Some(Hit::Open(screen, key)) => open(model, screen, key),
        Some(Hit::Target(place)) => {
            model.overlay = None;
            look_at(model, |focus, report| focus.at_place(report, place));
        }
        Some(Hit::Entry(at)) => {
            if let Some(Overlay::Help { chosen, .. }) = &mut model.overlay {
                *chosen = at;
            }
            return help_run(model);
        }
    }
    Vec::new()
}

fn perform(model: &mut Model, view: PageView, command: UserAction) -> Vec<SideEffect> {
    if let Err(why) = command.enabled {
        model.notice = Some(format!("Not now, {}: {why}", command.label));
        return Vec::new();
    }
    match command.action {
        Action::Go(motion) => select(model, view, |page, state, height| {
            page.go(state, motion, height);
        }),
        Action::Seek(way) => select(model, view, |page, state, height| {
            page.seek(state, way, height);
        }),
        Action::Enter => {
            let block = selected(model);
            enter(model);
            let Data { raw, report, .. } = &model.data;
            let job = block.and_then(|block| raw.wanted(report.as_deref(), &block));
            return job
                .map(|job| SideEffect::Start(model.number(), job))
                .into_iter()
                .collect();
        }
        Action::Back => back(model),
        Action::Copy => return copy(model),
        Action::Filter => refind(model, |filter| filter.get_or_insert_default().typing = true),
        Action::FilterKeep => refind(model, |filter| {
            let kept = filter
                .take()
                .filter(|filter| !filter.text.text().trim().is_empty());
            *filter = kept.map(|kept| Filter {
                typing: false,
                ..kept
            });
        }),
        Action::FilterEnd => refind(model, |filter| *filter = None),
        Action::OnlyUnknown => only_unknown(model),
        Action::Sources => {
            on_page(model, |_, state, _| {
                state.with_sources = !state.with_sources;
            });
            on_page(model, Page::reveal);
        }
        Action::Show(screen) => show(model, screen),
        Action::AskTarget => {
            let chosen = model.data.focus.place.0;
            model.overlay = Some(Overlay::Targets {
                filter: Field::default(),
                chosen,
            });
        }
        Action::ListGo(motion) => list_go(model, motion),
        Action::ListTake => return list_take(model),
        Action::NextTarget => look_at(model, Focus::next),
        Action::PreviousTarget => look_at(model, Focus::previous),
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
        Action::State => state_fact(model),
        Action::LeaveWhatIf => leave_what_if(model),
        Action::WhatIfComplete => in_picker(model, Picker::complete),
        Action::WhatIfBack => {
            let mut returns = false;
            in_picker(model, |picker| returns = picker.back());
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
        Action::AskSave => export::ask(model),
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
        Action::Mouse => return mouse(model),
        Action::Help => {
            model.overlay = Some(Overlay::Help {
                filter: Field::default(),
                chosen: 0,
            });
        }
        Action::Erase => {
            retype(model, |typed| typed.edit(Edit::Backspace));
        }
        Action::Clear => {
            retype(model, |typed| typed.edit(Edit::Clear));
        }
        Action::Close => model.overlay = None,
        Action::Redraw => return vec![SideEffect::Renew],
        Action::Suspend => return vec![SideEffect::Suspend],
        Action::Quit => model.exit = Some(Exit::Quit),
        Action::Interrupt => model.exit = Some(Exit::Signal(SIGINT)),
    }
    Vec::new()
}

fn on_page(model: &mut Model, change: impl FnOnce(&Page, &mut PageState, u16)) {
    let view = model.view();
    on_view(model, view, change);
}

/// Changes nothing but what is selected and in sight.
fn select(model: &mut Model, view: PageView, change: impl FnOnce(&Page, &mut PageState, u16)) {
    let page = Arc::clone(&view.page);
    on_view(model, view, change);
    if !model.screen.follows_selection() {
        model.keep(page);
    }
}

fn on_view(model: &mut Model, view: PageView, change: impl FnOnce(&Page, &mut PageState, u16)) {
    let PageView { page, mut state } = view;
    let body = frame::body(model.size, &state);
    change(&page, &mut state, body.height);
    model.pages.insert(model.screen, state);
}

/// Changes what is unfolded, then scrolls so that the selected block is in sight in its new size.
fn refold(model: &mut Model, change: impl FnOnce(&mut PageState)) {
    on_page(model, |page, state, _| change(page.place_mut(state)));
    on_page(model, Page::reveal);
}

/// Changes what is looked for; what is selected stays so where it is still shown.
fn refind(model: &mut Model, change: impl FnOnce(&mut Option<Filter>)) {
    on_page(model, |_, state, _| change(&mut state.filter));
    on_page(model, Page::reveal);
}

fn selected(model: &Model) -> Option<super::page::Block> {
    let PageView { page, state } = model.view();
    page.selected(&state).cloned()
}

fn enter(model: &mut Model) {
    let Some(block) = selected(model) else { return };
    let Some(key) = block.key else { return };
    match block.enter {
        Enter::Nothing => {}
        Enter::Unfold => refold(model, |state| {
            state.selected = Some(key.clone());
            if !state.unfolded.remove(&key) {
                state.unfolded.insert(key);
            }
        }),
        Enter::Beside => on_page(model, |_, state, _| state.enter_pane()),
        Enter::Open(screen, key) => open(model, screen, key),
    }
}

/// Opens a block of a screen.
fn open(model: &mut Model, screen: ScreenId, key: String) {
    show(model, screen);
    refold(model, |state| {
        state.selected = Some(key.clone());
        state.unfolded.insert(key);
    });
}

fn back(model: &mut Model) {
    let PageView { page, state } = model.view();
    let open = page.selected(&state).and_then(|block| block.key.clone());
    if let Some(key) = open.filter(|key| page.place(&state).is_unfolded(key)) {
        refold(model, |state| {
            state.unfolded.remove(&key);
        });
    } else if page.is_beside(&state) {
        on_page(model, |_, state, _| state.leave_pane());
    } else if state.filter.is_some() {
        refind(model, |filter| *filter = None);
    } else if let Some(screen) = model.trail.pop() {
        model.screen = screen;
    } else {
        leave_what_if(model);
    }
}

fn in_picker(model: &mut Model, change: impl FnOnce(&mut Picker)) {
    if let Some(Overlay::WhatIf(picker)) = &mut model.overlay {
        change(picker);
    }
}

/// Asks what the fact of the selected block is.
fn state_fact(model: &mut Model) {
    let fact = selected(model).and_then(|block| block.fact);
    let picker = fact.and_then(|(subject, fact)| Picker::new(&model.data, &subject, &fact));
    model.overlay = picker.map(|picker| Overlay::WhatIf(Box::new(picker)));
}

/// Takes what is chosen: a fact, or its value, which is worked out at once.
fn take_choice(model: &mut Model) -> Vec<SideEffect> {
    let Some(Overlay::WhatIf(picker)) = &mut model.overlay else {
        return Vec::new();
    };
    let held = model
        .data
        .supposed
        .as_ref()
        .map(|supposed| supposed.suppositions.clone());
    match picker.take(&held.unwrap_or_default()) {
        Ok(Taken::Fact(choice)) => picker.ask(choice),
        Ok(Taken::Suppose(all)) if all.is_empty() => {
            model.overlay = None;
            leave_what_if(model);
        }
        Ok(Taken::Suppose(all)) => return vec![model.suppose(all)],
        Err(_) => {}
    }
    Vec::new()
}

/// Wants the chosen file system; the first choice needs no wish.
fn want(model: &mut Model) -> Option<SideEffect> {
    let Some(Overlay::Filesystem { chosen }) = model.overlay else {
        return None;
    };
    let choice = model.data.filesystems().get(chosen)?;
    let filesystem = Some(choice.filesystem).filter(|_| !choice.first);
    let target = model.data.focus.target.clone()?;
    model.overlay = None;
    Some(model.want(target, filesystem))
}

fn leave_what_if(model: &mut Model) {
    // The result of a running evaluation is dropped: nobody waits for that job any more.
    if matches!(model.data.activity, Activity::Supposing { .. }) {
        model.data.activity = Activity::Idle;
    }
    if model.data.supposed.take().is_some() {
        model.notice = Some("this is the machine as it is".to_owned());
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

/// On the screen that can, only what is unknown or everything again; from another one, what is
/// unknown there.
fn only_unknown(model: &mut Model) {
    let stays = model.screen.has_unknowns();
    if !stays {
        show(model, ScreenId::Storage);
        on_page(model, |_, state, _| state.filter = None);
    }
    on_page(model, |_, state, _| {
        state.only_unknown = !(stays && state.only_unknown);
    });
    on_page(model, Page::reveal);
}

fn copy(model: &mut Model) -> Vec<SideEffect> {
    const SENT: &str = "sent to the terminal's clipboard";
    if model.screen == ScreenId::Export {
        let Ok(document) = export::to_copy(model) else {
            return Vec::new();
        };
        let (text, lines) = (document.text.to_string(), count(document.lines, "line"));
        model.notice = Some(format!(
            "{SENT}: {lines}; where the terminal takes none, s saves them"
        ));
        return vec![SideEffect::Copy(text)];
    }
    let commands = selected(model).map(|block| block.copy).unwrap_or_default();
    if commands.is_empty() {
        return Vec::new();
    }
    let lines: Vec<&str> = commands.iter().map(AsRef::as_ref).collect();
    model.notice = Some(format!("{SENT}: {}", lines.join("; ")));
    vec![SideEffect::Copy(lines.join("\n"))]
}

fn mouse(model: &mut Model) -> Vec<SideEffect> {
    model.mouse = !model.mouse;
    let said = if model.mouse {
        "the mouse clicks and scrolls here; m frees it"
    } else {
        "the mouse is the terminal's: it selects text; m takes it back"
    };
    model.notice = Some(said.to_owned());
    vec![SideEffect::Mouse(model.mouse)]
}

/// Moves in the list that lies over the screen.
fn list_go(model: &mut Model, motion: Motion) {
    let count = match &model.overlay {
        Some(Overlay::Help { filter, .. }) => command::filtered(model, filter.text()).len(),
        Some(Overlay::Targets { filter, .. }) => {
            command::overlay_targets(model, filter.text()).count()
        }
        Some(Overlay::WhatIf(picker)) => picker.entries().len(),
        Some(Overlay::Filesystem { .. }) => model.data.filesystems().len(),
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => 0,
    };
    let page = screenful(frame::parts(model.size).body.height);
    let chosen = match &mut model.overlay {
        Some(
            Overlay::Help { chosen, .. }
            | Overlay::Targets { chosen, .. }
            | Overlay::Filesystem { chosen },
        ) => chosen,
        Some(Overlay::WhatIf(picker)) => &mut picker.chosen,
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => return,
    };
    *chosen = motion.among(*chosen, page, count);
}

/// Takes what is chosen there.
fn list_take(model: &mut Model) -> Vec<SideEffect> {
    match &model.overlay {
        Some(Overlay::Help { .. }) => help_run(model),
        Some(Overlay::Targets { .. }) => {
            target_take(model);
            Vec::new()
        }
        Some(Overlay::WhatIf(_)) => take_choice(model),
        Some(Overlay::Filesystem { .. }) => want(model).into_iter().collect(),
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => Vec::new(),
    }
}

fn target_take(model: &mut Model) {
    let Some(Overlay::Targets { filter, chosen }) = &model.overlay else {
        return;
    };
    let taken = command::overlay_targets(model, filter.text())
        .nth(*chosen)
        .map(|(place, _)| place);
    model.overlay = None;
    if let Some(place) = taken {
        look_at(model, |focus, report| focus.at_place(report, place));
    }
}

fn look_at(model: &mut Model, which: impl FnOnce(&Focus, &Report) -> Focus) {
    let Some(report) = model.data.report.as_deref() else {
        return;
    };
    model.data.focus = which(&model.data.focus, report);
    model.chosen.clone_from(&model.data.focus.target);
    // Another target is read from its top.
    on_page(model, |_, state, _| *state = state.at_its_top());
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

fn help_run(model: &mut Model) -> Vec<SideEffect> {
    let Some(Overlay::Help { filter, chosen }) = &model.overlay else {
        return Vec::new();
    };
    let Some(command) = command::filtered(model, filter.text())
        .into_iter()
        .nth(*chosen)
    else {
        return Vec::new();
    };
    model.overlay = None;
    let view = model.view();
    perform(model, view, command)
}
