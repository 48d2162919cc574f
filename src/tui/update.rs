//! Applies messages to the model and returns side effects. No function here reads a clock or the
//! terminal, or starts a thread.

mod job_results;

use std::sync::Arc;

use ratatui::layout::Position;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTSTP, SIGWINCH};

use super::changes_jobs;
use super::click_map::ClickTarget;
use super::command::{self, Action, KeyCommand};
use super::export;
use super::export_state::SaveFormStage;
use super::filter::Filter;
use super::job::Job;
use super::key_press::KeyPress;
use super::model::{Model, Overlay, RedrawUrgency};
use super::msg::{ExitReason, MouseAction, Msg, SideEffect};
use super::overlay::entries_per_page;
use super::page::{Motion, Page, PageBlock, PaneFocus, RowDetails, SelectionState};
use super::page_view::PageView;
use super::screen_data::{BackgroundActivity, ConfirmationRequest, ScreenData};
use super::screen_id::ScreenId;
use super::target_context::TargetContext;
use super::viewport;
use super::what_if::{AssumptionPicker, PickerOutcome};
use super::widgets::text_field::TextField;
use crate::escape::ShellCommand;
use crate::report::Report;
use crate::report::view::wording::count_with_noun;

const LINES_PER_NOTCH: usize = 3;
const CLIPBOARD_NOTICE: &str = "sent to the terminal's clipboard";

pub fn update(model: &mut Model, msg: Msg) -> Vec<SideEffect> {
    // Every message but a key press drops the cached page. Most keys change only the selection, for
    // which the page stays valid.
    if !matches!(msg, Msg::Key(_)) {
        model.drop_cached_page();
    }
    handle_message(model, msg);
    export::start_rendering_shown_document(model);
    changes_jobs::start_comparison_and_watch_jobs(model);
    std::mem::take(&mut model.effects)
}

fn handle_message(model: &mut Model, msg: Msg) {
    let urgency = if matches!(msg, Msg::Progress(..)) {
        RedrawUrgency::Soon
    } else {
        RedrawUrgency::Now
    };
    model.dirty = model.dirty.max(urgency);
    match msg {
        Msg::Key(key) => handle_key(model, &key),
        Msg::Text(text) => {
            model.notice = None;
            model.shows_hints = false;
            type_text(model, &text);
        }
        Msg::Paste(text) => paste_text(model, &text),
        Msg::Mouse(what, cell) => handle_mouse(model, what, cell),
        Msg::Signal(SIGTSTP) => model.effects.push(SideEffect::Suspend),
        Msg::Signal(SIGCONT) => model.effects.push(SideEffect::Resume),
        Msg::Signal(SIGWINCH) => model.effects.push(SideEffect::Redraw),
        Msg::Signal(number) => model.exit = Some(ExitReason::Signal(number)),
        Msg::Hangup => model.exit = Some(ExitReason::Signal(SIGHUP)),
        Msg::Tick => model.animation_frame = model.animation_frame.wrapping_add(1),
        Msg::Input => {}
        Msg::Progress(job, partial) => job_results::handle_job_progress(model, job, partial),
        Msg::Done(job, result) => job_results::handle_job_result(model, job, result),
    }
}

fn handle_key(model: &mut Model, key: &KeyPress) {
    model.notice = None;
    model.shows_hints = false;
    let view = model.current_page_view();
    model.drop_cached_page();
    if let Some(command) = command::find_command_by_key(model, &view, key) {
        perform_action(model, view, command);
    } else if let Some(c) = key.typed_char() {
        type_text(model, c.encode_utf8(&mut [0; 4]));
    }
}

/// Types pasted text into a text field as one line. Elsewhere it is ignored, because a pasted
/// command must neither start a probe nor answer a question.
fn paste_text(model: &mut Model, text: &str) {
    model.notice = None;
    if !type_text(model, text) {
        model.notice = Some("pasted text was ignored: no text field is open".to_owned());
    }
}

/// False if no text field is active.
fn type_text(model: &mut Model, text: &str) -> bool {
    let overlay = model.overlay.as_ref();
    let is_filter = overlay.is_some_and(Overlay::is_filtered_by_typing);
    let mut fits = true;
    let is_typed = edit_text(model, |field| {
        // A leading slash is dropped, because the key `/` starts a filter outside overlays.
        let is_first = is_filter && field.text().is_empty();
        let rest = text.strip_prefix('/').filter(|_| is_first);
        fits = field.insert_text(rest.unwrap_or(text));
    });
    if !fits {
        model.notice = Some(format!(
            "limited to {} characters; the rest was cut",
            TextField::MAX_CHARS
        ));
    }
    is_typed
}

/// False if no text field is active.
fn edit_text(model: &mut Model, change: impl FnOnce(&mut TextField)) -> bool {
    let Some(field) = model.active_text_field() else {
        return false;
    };
    change(field);
    match &mut model.overlay {
        Some(Overlay::WhatIf(picker)) => picker.start_over(),
        Some(overlay) => {
            if let Some(chosen) = overlay.chosen_mut() {
                *chosen = 0;
            }
        }
        None => change_cursor(model, Page::scroll_to_selection),
    }
    true
}

fn handle_mouse(model: &mut Model, what: MouseAction, cell: Position) {
    let (key, times) = match what {
        MouseAction::Click => return handle_click(model, cell),
        MouseAction::WheelUp => ("up", LINES_PER_NOTCH),
        MouseAction::WheelDown => ("down", LINES_PER_NOTCH),
    };
    // In an overlay every line of the list is an entry, so the wheel moves by one line.
    let times = if model.overlay.is_some() { 1 } else { times };
    for _ in 0..times {
        handle_key(model, &KeyPress::from_name(key));
    }
}

fn handle_click(model: &mut Model, cell: Position) {
    model.notice = None;
    model.shows_hints = false;
    match model.hits.click_target_at(cell).cloned() {
        None => {}
        Some(ClickTarget::Press(key)) => handle_key(model, &key),
        Some(ClickTarget::Row(key)) => select_or_enter_row(model, PaneFocus::List, key),
        Some(ClickTarget::PaneRow(key)) => {
            let focus = match model.current_page_state().focus {
                PaneFocus::List => PaneFocus::Pane,
                focus => focus,
            };
            select_or_enter_row(model, focus, key);
        }
        Some(ClickTarget::Target(place)) => {
            switch_target(model, |focus, report| {
                focus.target_context_at(report, place)
            });
        }
        Some(ClickTarget::Entry(at)) => {
            if let Some(chosen) = model.overlay.as_mut().and_then(Overlay::chosen_mut) {
                *chosen = at;
            }
            handle_key(model, &KeyPress::from_name("enter"));
        }
    }
}

/// Selects the row, or enters it if it is already selected.
fn select_or_enter_row(model: &mut Model, focus: PaneFocus, key: String) {
    model.page_state_mut().focus = focus;
    if selected_block(model).is_some_and(|block| block.key.as_ref() == Some(&key)) {
        return handle_key(model, &KeyPress::from_name("enter"));
    }
    change_cursor(model, |_, cursor, _| cursor.selected = Some(key));
}

fn perform_action(model: &mut Model, view: PageView, command: KeyCommand) {
    if let Err(why) = command.enabled {
        model.notice = Some(format!("Unavailable ({}): {why}", command.label));
        return;
    }
    match command.action {
        Action::Go(motion) if model.overlay.is_some() => move_in_overlay_list(model, motion),
        Action::Go(motion) => {
            change_cursor_keeping_cached_page(model, view, |page, cursor, height| {
                page.apply_motion(cursor, motion, height);
            });
        }
        Action::JumpToIssue(way) => {
            change_cursor_keeping_cached_page(model, view, |page, cursor, height| {
                page.jump_to_issue(cursor, way, height);
            });
        }
        Action::Enter => {
            let block = selected_block(model);
            enter_selected_block(model, block.as_ref());
            let ScreenData { raw, report, .. } = &model.data;
            let job = block.and_then(|block| raw.job_to_fetch_answer(report.as_deref(), &block));
            if let Some(job) = job {
                model.start_job(job);
            }
        }
        Action::FocusPane => {
            let focus = &mut model.page_state_mut().focus;
            *focus = match focus {
                PaneFocus::List => PaneFocus::Pane,
                PaneFocus::Pane | PaneFocus::Full => PaneFocus::List,
            };
        }
        Action::Back => go_back(model),
        Action::Copy => copy_document_or_commands(model),
        Action::CopyAll => {
            copy_commands(model, &view.page.fix_commands());
        }
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
        Action::OnlyUnknown => toggle_only_unknown(model),
        Action::Sources => {
            let with_sources = &mut model.page_state_mut().with_sources;
            *with_sources = !*with_sources;
        }
        Action::Show(screen) => show_screen(model, screen),
        Action::AskTarget => {
            let chosen = model.data.focus.place.0;
            model.overlay = Some(Overlay::Targets {
                filter: TextField::default(),
                chosen,
            });
        }
        Action::ListChoose => choose_in_overlay_list(model),
        Action::StepTarget(step) => {
            switch_target(model, |focus, report| focus.neighbour_context(report, step));
        }
        Action::PlanProbe => {
            if let Some(target) = model.data.focus.target.clone() {
                model.start_planning_for_confirmation(ConfirmationRequest::Probe(target));
            }
        }
        Action::PlanReportSave => {
            model.start_planning_for_confirmation(ConfirmationRequest::SaveReport);
        }
        Action::Confirm => start_confirmed_job(model),
        Action::AskReference(of) => changes_jobs::open_reference_list(model, of),
        Action::CancelProbe => cancel_probe(model),
        Action::Rescan => model.start_collect(),
        Action::WhatIf => {
            model.overlay = Some(Overlay::WhatIf(Box::new(AssumptionPicker::with_all_facts(
                &model.data,
            ))));
        }
        Action::EnterFact => open_fact_value_picker(model),
        Action::LeaveWhatIf => leave_what_if(model),
        Action::WhatIfComplete => change_assumption_picker(model, AssumptionPicker::complete_input),
        Action::WhatIfBack => {
            let mut returns = false;
            change_assumption_picker(model, |picker| returns = picker.return_to_fact_list());
            if !returns {
                model.overlay = None;
            }
        }
        Action::AskFilesystem => {
            let wanted = model
                .data
                .filesystem_choices()
                .iter()
                .position(|choice| choice.wanted);
            model.overlay = Some(Overlay::Filesystem {
                chosen: wanted.unwrap_or_default(),
            });
        }
        Action::AskSave => export::open_save_form(model),
        Action::Save => export::start_document_save(model, false),
        Action::Replace => export::start_document_save(model, true),
        Action::Rename => {
            if let Some(Overlay::Save(form)) = &mut model.overlay {
                form.stage = SaveFormStage::Naming(None);
            }
        }
        Action::Edit(edit) => {
            edit_text(model, |field| field.edit(edit));
        }
        Action::Mouse => toggle_mouse_capture(model),
        Action::Help => {
            model.overlay = Some(Overlay::Help {
                filter: TextField::default(),
                chosen: 0,
            });
        }
        Action::Close => model.overlay = None,
        Action::Redraw => model.effects.push(SideEffect::Redraw),
        Action::Suspend => model.effects.push(SideEffect::Suspend),
        Action::Quit => model.exit = Some(ExitReason::Quit),
        Action::Interrupt => model.exit = Some(ExitReason::Signal(SIGINT)),
    }
}

fn change_cursor(model: &mut Model, change: impl FnOnce(&Page, &mut SelectionState, u16)) {
    let state = model
        .current_page_view()
        .into_state_with_changed_cursor(change);
    model.pages.insert(model.screen, state);
}

fn change_cursor_keeping_cached_page(
    model: &mut Model,
    view: PageView,
    change: impl FnOnce(&Page, &mut SelectionState, u16),
) {
    let page = Arc::clone(&view.page);
    model
        .pages
        .insert(model.screen, view.into_state_with_changed_cursor(change));
    model.cache_page(page);
}

/// The selection stays if the filter keeps the selected block.
fn change_filter(model: &mut Model, change: impl FnOnce(&mut Option<Filter>)) {
    change(&mut model.page_state_mut().filter);
    change_cursor(model, Page::scroll_to_selection);
}

fn selected_block(model: &Model) -> Option<PageBlock> {
    model.current_page_view().focused_selection().cloned()
}

fn enter_selected_block(model: &mut Model, block: Option<&PageBlock>) {
    let in_list = model.current_page_state().focus == PaneFocus::List;
    match block.map(|block| (&block.details, block.key.clone())) {
        Some((RowDetails::Nothing, _)) if in_list => {}
        Some((RowDetails::Unfold, Some(key))) => {
            let pane = &mut model.page_state_mut().pane;
            if !pane.unfolded.remove(&key) {
                pane.unfolded.insert(key);
            }
            change_cursor(model, Page::scroll_to_selection);
        }
        _ => {
            let focus = &mut model.page_state_mut().focus;
            *focus = match focus {
                PaneFocus::Full => PaneFocus::List,
                PaneFocus::List | PaneFocus::Pane => PaneFocus::Full,
            };
        }
    }
}

fn go_back(model: &mut Model) {
    let state = model.page_state_mut();
    if state.focus != PaneFocus::List {
        state.focus = PaneFocus::List;
    } else if state.filter.is_some() {
        change_filter(model, |filter| *filter = None);
    } else if let Some(screen) = model.trail.pop() {
        model.screen = screen;
    } else {
        leave_what_if(model);
    }
}

fn change_assumption_picker(model: &mut Model, change: impl FnOnce(&mut AssumptionPicker)) {
    if let Some(Overlay::WhatIf(picker)) = &mut model.overlay {
        change(picker);
    }
}

fn open_fact_value_picker(model: &mut Model) {
    let fact = selected_block(model).and_then(|block| block.fact);
    let picker =
        fact.and_then(|(subject, fact)| AssumptionPicker::for_fact(&model.data, &subject, &fact));
    model.overlay = picker.map(|picker| Overlay::WhatIf(Box::new(picker)));
}

fn choose_in_assumption_picker(model: &mut Model) {
    let Some(Overlay::WhatIf(picker)) = &mut model.overlay else {
        return;
    };
    match picker.current_choice(model.data.assumed_facts()) {
        Ok(PickerOutcome::Fact(choice)) => picker.start_value_entry(choice),
        Ok(PickerOutcome::Assumptions(all)) if all.is_empty() => {
            model.overlay = None;
            leave_what_if(model);
        }
        Ok(PickerOutcome::Assumptions(all)) => model.start_assumption_evaluation(all),
        Err(_) => {}
    }
}

/// Choosing the recommended file system removes the user's earlier choice.
fn choose_filesystem(model: &mut Model, chosen: usize) {
    let choice = model.data.filesystem_choices().get(chosen);
    if let (Some(choice), Some(target)) = (choice, model.data.focus.target.clone()) {
        let filesystem = Some(choice.filesystem).filter(|_| !choice.first);
        model.overlay = None;
        let job = model.start_job(Job::ChooseFilesystem(target, filesystem));
        model.data.activity = BackgroundActivity::Replanning { job };
    }
}

fn leave_what_if(model: &mut Model) {
    // While the model is idle, it ignores the result of an evaluation that still runs.
    if matches!(model.data.activity, BackgroundActivity::Assuming { .. }) {
        model.data.activity = BackgroundActivity::Idle;
    }
    if model.data.assumed_host.take().is_some() {
        model.notice = Some("back to the real host".to_owned());
    }
}

fn show_screen(model: &mut Model, screen: ScreenId) {
    if screen == model.screen {
        return;
    }
    model.trail.retain(|passed| *passed != screen);
    if !model.trail.contains(&model.screen) {
        model.trail.push(model.screen);
    }
    model.screen = screen;
    model.page_state_mut().focus = PaneFocus::List;
}

/// Toggles whether only unknown facts are shown. On a screen that cannot hide known facts, opens
/// Storage with only unknown facts and no filter.
fn toggle_only_unknown(model: &mut Model) {
    let stays = model.screen.can_hide_known_facts();
    if !stays {
        show_screen(model, ScreenId::Storage);
    }
    let state = model.page_state_mut();
    state.only_unknown = !(stays && state.only_unknown);
    if !stays {
        state.filter = None;
    }
    change_cursor(model, Page::scroll_to_selection);
}

fn copy_document_or_commands(model: &mut Model) {
    if model.screen != ScreenId::Export {
        let commands = selected_block(model).map(|block| block.commands);
        return copy_commands(model, &commands.unwrap_or_default());
    }
    if let Ok(document) = export::copyable_document(model) {
        let (text, lines) = (document.text.to_string(), document.lines);
        let lines = count_with_noun(lines, "line");
        model.notice = Some(format!(
            "{CLIPBOARD_NOTICE}: {lines}; if the terminal blocks the copy, press s to save the document"
        ));
        model.effects.push(SideEffect::Copy(text));
    }
}

fn copy_commands(model: &mut Model, commands: &[ShellCommand]) {
    let lines: Vec<&str> = commands.iter().map(AsRef::as_ref).collect();
    let what = match lines.as_slice() {
        [] => return,
        [one] => (*one).to_owned(),
        all => format!("{} commands", all.len()),
    };
    model.notice = Some(format!("{CLIPBOARD_NOTICE}: {what}"));
    model.effects.push(SideEffect::Copy(lines.join("\n")));
}

fn toggle_mouse_capture(model: &mut Model) {
    model.mouse = !model.mouse;
    let said = if model.mouse {
        "mouse on: click and scroll; press m to release it"
    } else {
        "mouse off: select text with the terminal; press m to turn it on again"
    };
    model.notice = Some(said.to_owned());
    model.effects.push(SideEffect::Mouse(model.mouse));
}

fn move_in_overlay_list(model: &mut Model, motion: Motion) {
    let count = match &model.overlay {
        Some(Overlay::Help { filter, .. }) => command::matching_help_commands(model, filter).len(),
        Some(Overlay::Targets { filter, .. }) => command::filter_targets(model, filter).count(),
        Some(Overlay::WhatIf(picker)) => picker.matching_entries().len(),
        Some(Overlay::References(list)) => list.matching_choices().len(),
        Some(Overlay::Filesystem { .. }) => model.data.filesystem_choices().len(),
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => 0,
    };
    let page = entries_per_page(viewport::frame_layout(model.size).body.height);
    if let Some(chosen) = model.overlay.as_mut().and_then(Overlay::chosen_mut) {
        *chosen = motion.position_after(*chosen, page, count);
    }
}

fn choose_in_overlay_list(model: &mut Model) {
    match &model.overlay {
        Some(Overlay::Help { filter, chosen }) => {
            let commands = command::matching_help_commands(model, filter);
            if let Some(command) = commands.into_iter().nth(*chosen) {
                model.overlay = None;
                let view = model.current_page_view();
                perform_action(model, view, command);
            }
        }
        Some(Overlay::Targets { filter, chosen }) => {
            let taken = command::filter_targets(model, filter).nth(*chosen);
            let place = taken.map(|(place, _)| place);
            model.overlay = None;
            if let Some(place) = place {
                switch_target(model, |focus, report| {
                    focus.target_context_at(report, place)
                });
            }
        }
        Some(Overlay::WhatIf(_)) => choose_in_assumption_picker(model),
        Some(Overlay::References(_)) => {
            if changes_jobs::try_choose_reference(model) {
                show_screen(model, ScreenId::Changes);
            }
        }
        Some(Overlay::Filesystem { chosen }) => choose_filesystem(model, *chosen),
        Some(Overlay::Confirm { .. } | Overlay::Save(_)) | None => {}
    }
}

fn switch_target(model: &mut Model, which: impl FnOnce(&TargetContext, &Report) -> TargetContext) {
    let Some(report) = model.data.report.as_deref() else {
        return;
    };
    model.data.focus = which(&model.data.focus, report);
    model.chosen_target.clone_from(&model.data.focus.target);
    let state = model.page_state_mut();
    *state = state.display_options_only();
}

fn start_confirmed_job(model: &mut Model) {
    if let Some(Overlay::Confirm { question, .. }) = &model.overlay {
        let question = question.clone();
        model.overlay = None;
        match question {
            ConfirmationRequest::Probe(target) => {
                show_screen(model, ScreenId::Probe);
                model.data.activity = BackgroundActivity::Probing {
                    job: model.start_job(Job::Probe(target.clone())),
                    target,
                    progress: None,
                    cancelled: false,
                };
            }
            ConfirmationRequest::SaveReport => {
                model.start_job(Job::SaveReport);
            }
        }
    }
}

fn cancel_probe(model: &mut Model) {
    if let BackgroundActivity::Probing { job, cancelled, .. } = &mut model.data.activity {
        *cancelled = true;
        model.effects.push(SideEffect::Cancel(*job));
    }
}
