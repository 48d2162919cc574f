//! Key lookup, footer and help share one list of commands, so they cannot disagree.

mod comparisons;

use super::export;
use super::export_state::{SaveForm, SaveFormStage};
use super::job::ComparisonReference;
use super::key_press::KeyPress;
use super::model::{Model, Overlay};
use super::page::{IssueDirection, Motion, PageBlock, PageState, PaneFocus, RowDetails};
use super::page_view::PageView;
use super::screen_data::BackgroundActivity;
use super::screen_id::ScreenId;
use super::what_if::{self, AssumptionPicker};
use super::widgets::text_field::TextEdit;
use crate::facts::{catalog, choice};
use crate::report::TargetSummary;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCommand {
    /// Key names separated by spaces: `"down j"`.
    pub keys: &'static str,
    pub label: &'static str,
    pub group: HelpSection,
    /// The error is the reason why the command is unavailable now.
    pub enabled: Result<(), String>,
    /// Text in the footer, as `KEY LABEL`. Empty if only help shows the command.
    pub footer: &'static str,
    pub action: Action,
}

choice! {
    pub enum HelpSection {
        Selection = "this row",
        Move = "move",
        Work = "work",
        View = "view",
        Program = "walwise",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Go(Motion),
    JumpToIssue(IssueDirection),
    Enter,
    /// Moves the keyboard focus from the list to the pane, or back.
    FocusPane,
    Back,
    Copy,
    CopyAll,
    Filter,
    FilterKeep,
    FilterEnd,
    OnlyUnknown,
    Sources,
    Show(ScreenId),
    AskTarget,
    NextTarget,
    PreviousTarget,
    /// Asks the user to confirm what the probe would write.
    PlanProbe,
    /// Asks the user to confirm where the report would be saved.
    PlanReportSave,
    Confirm,
    AskReference(ComparisonReference),
    /// The results so far are kept.
    CancelProbe,
    Rescan,
    WhatIf,
    EnterFact,
    LeaveWhatIf,
    WhatIfComplete,
    /// Returns from the input of a value to the list of facts; from the list, closes the picker.
    WhatIfBack,
    AskFilesystem,
    AskSave,
    Save,
    Replace,
    Rename,
    Edit(TextEdit),
    Mouse,
    Help,
    ListGo(Motion),
    ListChoose,
    Erase,
    Clear,
    Close,
    Redraw,
    /// Stops the process, as SIGTSTP does.
    Suspend,
    Quit,
    /// Ends the process, as SIGINT does.
    Interrupt,
}

fn new_key_command(
    keys: &'static str,
    label: &'static str,
    group: HelpSection,
    action: Action,
) -> KeyCommand {
    KeyCommand {
        keys,
        label,
        group,
        enabled: Ok(()),
        footer: "",
        action,
    }
}

impl KeyCommand {
    fn with_footer(self, footer: &'static str) -> Self {
        Self { footer, ..self }
    }

    fn enabled_if(self, enabled: Result<(), String>) -> Self {
        Self { enabled, ..self }
    }
}

pub fn current_commands(model: &Model, view: &PageView) -> Vec<KeyCommand> {
    let mut all = match &model.overlay {
        None if view.state.is_typing_filter() => filter_typing_commands(),
        None => return screen_commands(model, view),
        Some(Overlay::Help { .. }) => help_list_commands(),
        Some(Overlay::Confirm { question, plan }) => {
            comparisons::confirmation_commands(question, plan)
        }
        Some(Overlay::WhatIf(picker)) => what_if_commands(model, picker),
        Some(Overlay::Filesystem { chosen }) => filesystem_commands(model, *chosen),
        Some(Overlay::Save(form)) => save_form_commands(form),
        Some(Overlay::Targets { filter, .. }) => target_list_commands(model, filter.text()),
        Some(Overlay::References(list)) => comparisons::reference_list_commands(list),
    };
    all.extend(global_commands());
    all
}

fn global_commands() -> [KeyCommand; 3] {
    [
        new_key_command(
            "ctrl-c",
            "exit immediately",
            HelpSection::Program,
            Action::Interrupt,
        ),
        new_key_command(
            "ctrl-z",
            "suspend (fg resumes)",
            HelpSection::Program,
            Action::Suspend,
        ),
        new_key_command(
            "ctrl-l",
            "redraw the screen",
            HelpSection::Program,
            Action::Redraw,
        ),
    ]
}

pub fn find_command_by_key(model: &Model, view: &PageView, key: &KeyPress) -> Option<KeyCommand> {
    let mut of_key: Vec<KeyCommand> = current_commands(model, view)
        .into_iter()
        .filter(|c| key.is_one_of(c.keys))
        .collect();
    // A disabled command is returned only if no enabled one has this key; its reason is then shown.
    of_key.sort_by_key(|command| command.enabled.is_err());
    of_key.into_iter().next()
}

/// About the number of commands of a screen. Without this capacity, the list would be reallocated
/// several times, which takes longer than creating the commands.
const TYPICAL_COMMAND_COUNT: usize = 96;

fn screen_commands(model: &Model, view: &PageView) -> Vec<KeyCommand> {
    let mut all = Vec::with_capacity(TYPICAL_COMMAND_COUNT);
    all.extend(motion_commands());
    all.extend(issue_jump_commands(view));
    all.extend(selected_block_commands(view, model));
    all.extend(filter_and_source_commands(&view.state, model));
    all.extend(probe_and_what_if_commands(model));
    all.extend(screen_and_target_commands(model));
    all.push(
        new_key_command(
            "? :",
            "help: all commands",
            HelpSection::Program,
            Action::Help,
        )
        .with_footer("? help"),
    );
    let mouse = if model.mouse {
        "release the mouse to select text"
    } else {
        "use the mouse to click and scroll"
    };
    all.push(new_key_command(
        "m",
        mouse,
        HelpSection::Program,
        Action::Mouse,
    ));
    all.push(
        new_key_command("q", "quit", HelpSection::Program, Action::Quit).with_footer("q quit"),
    );
    all.extend(global_commands());
    all
}

fn selected_block_commands(view: &PageView, model: &Model) -> Vec<KeyCommand> {
    let block = view.focused_selection();
    let exporting = model.screen == ScreenId::Export;
    let is_full = view.state.focus == PaneFocus::Full;
    let (label, footer, enter) = match block.map(|block| &block.details) {
        Some(RowDetails::Unfold) => ("expand or collapse this row", "enter expand", true),
        _ if is_full => ("back to the list", "enter close", true),
        None | Some(RowDetails::Nothing) => ("show the details", "", view.is_pane_focused()),
        Some(_) => ("show the details at full height", "enter details", true),
    };
    let (copy_label, copy) = if exporting {
        (
            "copy the document",
            export::copyable_document(model).map(|_| ()),
        )
    } else {
        let has_some = block.is_some_and(|block| !block.commands.is_empty());
        (
            "copy its commands",
            has_some
                .then_some(())
                .ok_or_else(|| "no commands to copy for this row".to_owned()),
        )
    };
    let back = view.is_pane_focused()
        || view.state.filter.is_some()
        || !model.trail.is_empty()
        || model.data.assumed_host.is_some();
    let (back_keys, back_footer) = if is_uncancelled_probe_running(model) {
        ("left h backspace", "h back")
    } else {
        ("esc left h backspace", "esc back")
    };
    let save = new_key_command(
        "s",
        "save the document to a file",
        HelpSection::Selection,
        Action::AskSave,
    )
    .with_footer("s save")
    .enabled_if(export::check_can_save(&model.data));
    let mut all = vec![
        new_key_command(
            "enter right l space",
            label,
            HelpSection::Selection,
            Action::Enter,
        )
        .with_footer(footer)
        .enabled_if(
            enter
                .then_some(())
                .ok_or_else(|| "no details for this row".to_owned()),
        ),
        new_key_command("y", copy_label, HelpSection::Selection, Action::Copy)
            .with_footer("y copy")
            .enabled_if(copy),
        new_key_command(
            "Y",
            "copy the commands of all fixes shown",
            HelpSection::Selection,
            Action::CopyAll,
        )
        .enabled_if(match &model.data.assumed_host {
            Some(_) => Err("assumptions do not change the real host".to_owned()),
            None if exporting || view.page.fix_commands().is_empty() => {
                Err("no fix with a command on this screen".to_owned())
            }
            None => Ok(()),
        }),
        fact_value_entry_command(block, model),
        new_key_command(
            "tab",
            "to the details or back",
            HelpSection::Selection,
            Action::FocusPane,
        )
        .with_footer("tab pane")
        .enabled_if(
            view.has_pane()
                .then_some(())
                .ok_or_else(|| "the details are hidden; enter shows them".to_owned()),
        ),
        new_key_command(back_keys, "back", HelpSection::Selection, Action::Back)
            .with_footer(back_footer)
            .enabled_if(
                back.then_some(())
                    .ok_or_else(|| "nothing is open".to_owned()),
            ),
    ];
    if exporting {
        all.insert(1, save);
    }
    all.splice(1..1, comparisons::comparison_commands(model));
    all
}

fn fact_value_entry_command(block: Option<&PageBlock>, model: &Model) -> KeyCommand {
    let fact = block.and_then(|block| block.fact.as_ref());
    let report = model.data.report.as_deref();
    let possible = match (fact, report) {
        (Some((subject, fact)), Some(report)) => match catalog::find_by_name(fact) {
            Some(key) if what_if::can_assume(report, subject, key) => {
                model.data.activity.check_idle()
            }
            _ => Err(format!("{fact} is derived from other facts")),
        },
        _ => Err("no single fact on this row; enter shows its facts".to_owned()),
    };
    new_key_command(
        "i",
        "enter a value for this fact",
        HelpSection::Selection,
        Action::EnterFact,
    )
    .with_footer("i enter value")
    .enabled_if(possible)
}

fn motion_commands() -> Vec<KeyCommand> {
    let go =
        |keys, label, motion| new_key_command(keys, label, HelpSection::Move, Action::Go(motion));
    vec![
        go("up k", "up", Motion::Up),
        go("down j", "down", Motion::Down).with_footer("↑↓ choose"),
        go("pgup ctrl-b", "page up", Motion::PageUp),
        go("pgdn ctrl-f", "page down", Motion::PageDown),
        go("home g", "to the top", Motion::Top),
        go("end G", "to the bottom", Motion::Bottom),
    ]
}

fn issue_jump_commands(view: &PageView) -> [KeyCommand; 2] {
    let possible = view
        .focused_page()
        .0
        .has_block_with_issue()
        .then_some(())
        .ok_or_else(|| "no problems here".to_owned());
    let to = |keys, label, way| {
        new_key_command(keys, label, HelpSection::Move, Action::JumpToIssue(way))
    };
    [
        to("n", "next problem", IssueDirection::Next).enabled_if(possible.clone()),
        to("N", "previous problem", IssueDirection::Previous).enabled_if(possible),
    ]
}

fn filter_and_source_commands(state: &PageState, model: &Model) -> Vec<KeyCommand> {
    let here = model.screen.can_hide_known_facts();
    let (label, footer) = match (here, state.only_unknown) {
        (true, true) => ("show everything", "u all"),
        (true, false) => ("show only unknown facts", "u unknown"),
        (false, _) => ("unknown facts and why they are unknown", ""),
    };
    let known = model.data.complete && model.data.focus.target.is_some();
    vec![
        new_key_command("/", "filter", HelpSection::View, Action::Filter).with_footer(
            if model.screen.has_own_filter() {
                "/ find"
            } else {
                ""
            },
        ),
        new_key_command("u", label, HelpSection::View, Action::OnlyUnknown)
            .with_footer(footer)
            .enabled_if(
                known
                    .then_some(())
                    .ok_or_else(|| "no target yet".to_owned()),
            ),
        new_key_command(
            "v",
            "fact names and sources",
            HelpSection::View,
            Action::Sources,
        )
        .with_footer(if here { "v sources" } else { "" })
        .enabled_if(here.then_some(()).ok_or_else(|| "Storage only".to_owned())),
    ]
}

/// Motions with named keys, such as `up`. Letters are not included, because they are typed into a
/// text field.
fn named_key_motion_commands(act: fn(Motion) -> Action) -> Vec<KeyCommand> {
    let go = |keys, label, motion| new_key_command(keys, label, HelpSection::Move, act(motion));
    vec![
        go("up", "up", Motion::Up),
        go("down", "down", Motion::Down).with_footer("↑↓ choose"),
        go("pgup", "page up", Motion::PageUp),
        go("pgdn", "page down", Motion::PageDown),
    ]
}

fn list_overlay_commands(
    label: &'static str,
    footer: &'static str,
    enabled: Result<(), String>,
) -> Vec<KeyCommand> {
    let go = |keys, label, motion| {
        new_key_command(keys, label, HelpSection::Move, Action::ListGo(motion))
    };
    let mut all = named_key_motion_commands(Action::ListGo);
    all.extend([
        go("home", "to the top", Motion::Top),
        go("end", "to the bottom", Motion::Bottom),
        new_key_command("enter", label, HelpSection::Selection, Action::ListChoose)
            .with_footer(footer)
            .enabled_if(enabled),
    ]);
    all
}

fn close_command(keys: &'static str, label: &'static str) -> KeyCommand {
    new_key_command(keys, label, HelpSection::Program, Action::Close).with_footer("esc close")
}

fn text_deletion_commands() -> [KeyCommand; 2] {
    [
        new_key_command(
            "backspace",
            "delete a character",
            HelpSection::Selection,
            Action::Erase,
        ),
        new_key_command(
            "ctrl-u",
            "delete everything",
            HelpSection::Selection,
            Action::Clear,
        ),
    ]
}

fn filter_typing_commands() -> Vec<KeyCommand> {
    let mut all = named_key_motion_commands(Action::Go);
    all.extend(text_deletion_commands());
    all.extend([
        new_key_command(
            "enter",
            "keep filter",
            HelpSection::Selection,
            Action::FilterKeep,
        )
        .with_footer("enter keep"),
        new_key_command(
            "esc",
            "show everything",
            HelpSection::Program,
            Action::FilterEnd,
        )
        .with_footer("esc end"),
    ]);
    all
}

fn probe_and_what_if_commands(model: &Model) -> Vec<KeyCommand> {
    let free = model.data.activity.check_idle();
    let supposes = model.data.assumed_host.is_some()
        || matches!(model.data.activity, BackgroundActivity::Assuming { .. });
    let mut all = vec![
        new_key_command(
            "W",
            "back to the real host",
            HelpSection::Work,
            Action::LeaveWhatIf,
        )
        .with_footer("W real host")
        .enabled_if(
            supposes
                .then_some(())
                .ok_or_else(|| "no assumptions".to_owned()),
        ),
        new_key_command(
            "p",
            "probe: measure commit latency",
            HelpSection::Work,
            Action::PlanProbe,
        )
        .with_footer("p probe")
        .enabled_if(check_can_probe(model)),
        new_key_command(
            "f",
            "choose the file system",
            HelpSection::Work,
            Action::AskFilesystem,
        )
        .with_footer("f choose fs")
        .enabled_if(check_can_choose_filesystem(model)),
        new_key_command(
            "w",
            "what if a fact had another value",
            HelpSection::Work,
            Action::WhatIf,
        )
        .with_footer("w what if")
        .enabled_if(check_can_assume(model)),
        new_key_command("r", "rescan", HelpSection::Work, Action::Rescan)
            .with_footer("r rescan")
            .enabled_if(free),
    ];
    let cancel_keys = if is_uncancelled_probe_running(model) {
        "c esc"
    } else {
        "c"
    };
    let cancel = new_key_command(
        cancel_keys,
        "cancel the probe, keep the results",
        HelpSection::Work,
        Action::CancelProbe,
    );
    all.push(
        cancel
            .with_footer("c cancel")
            .enabled_if(match &model.data.activity {
                BackgroundActivity::Probing {
                    cancelled: false, ..
                } => Ok(()),
                BackgroundActivity::Probing { .. } => Err("the probe is stopping".to_owned()),
                _ => Err("no probe is running".to_owned()),
            }),
    );
    all
}

fn is_uncancelled_probe_running(model: &Model) -> bool {
    matches!(
        model.data.activity,
        BackgroundActivity::Probing {
            cancelled: false,
            ..
        }
    )
}

fn check_can_probe(model: &Model) -> Result<(), String> {
    model.data.check_measurable().map_err(str::to_owned)?;
    model.data.activity.check_idle()
}

fn check_can_assume(model: &Model) -> Result<(), String> {
    if !model.data.complete || model.data.focus.target.is_none() {
        return Err("no target yet".to_owned());
    }
    model.data.activity.check_idle()
}

fn check_can_choose_filesystem(model: &Model) -> Result<(), String> {
    if model.data.filesystem_choices().is_empty() {
        return Err("free disks only".to_owned());
    }
    model.data.activity.check_idle()
}

fn screen_and_target_commands(model: &Model) -> Vec<KeyCommand> {
    let mut all: Vec<KeyCommand> = ScreenId::ALL
        .into_iter()
        .map(|screen| {
            new_key_command(
                screen.digit_key(),
                screen.title(),
                HelpSection::View,
                Action::Show(screen),
            )
        })
        .collect();
    let export = new_key_command(
        "e",
        "export: save or copy the report",
        HelpSection::View,
        Action::Show(ScreenId::Export),
    );
    all.push(if model.screen == ScreenId::Export {
        export
    } else {
        export.with_footer("e export")
    });
    let several = model.data.focus.place.1 > 1;
    let only = || "there is only one target".to_owned();
    for (keys, label, action, footer) in [
        ("t", "targets", Action::AskTarget, "t targets"),
        ("]", "next target", Action::NextTarget, ""),
        ("[", "previous target", Action::PreviousTarget, ""),
    ] {
        let enabled = several.then_some(()).ok_or_else(only);
        all.push(
            new_key_command(keys, label, HelpSection::View, action)
                .with_footer(footer)
                .enabled_if(enabled),
        );
    }
    all
}

fn target_list_commands(model: &Model, filter: &str) -> Vec<KeyCommand> {
    let found = filter_targets(model, filter).next().map(|_| ());
    let found = found.ok_or_else(|| "no target matches".to_owned());
    let mut all = list_overlay_commands("show this target", "enter show", found);
    all.extend(text_deletion_commands());
    all.push(close_command("esc", "close"));
    all
}

/// Lists the targets that match a filter, each with its position in the list of all targets, which
/// begins with the worst verdict.
pub fn filter_targets<'m>(
    model: &'m Model,
    filter: &str,
) -> impl Iterator<Item = (usize, &'m TargetSummary)> + use<'m> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let report = model.data.report.as_deref();
    let all = report
        .into_iter()
        .flat_map(|report| model.data.focus.targets_worst_first(report))
        .enumerate();
    all.filter(move |(_, target)| {
        let title = target.title.to_lowercase();
        words.iter().all(|word| title.contains(word))
    })
}

pub fn newcomer_hints(model: &Model) -> Vec<(&'static str, &'static str)> {
    const MAX_HINTS: usize = 3;
    let all = screen_commands(model, &model.current_page_view());
    let usable = |key: &&'static str| {
        let is_it = |command: &&KeyCommand| {
            command.enabled.is_ok() && command.keys.split(' ').any(|one| one == *key)
        };
        let command = all.iter().find(is_it)?;
        Some((
            *key,
            command
                .footer
                .split_once(' ')
                .map_or(command.label, |(_, label)| label),
        ))
    };
    let wanted = ["p", "enter", "t", "2"];
    wanted
        .iter()
        .filter_map(usable)
        .take(MAX_HINTS - 1)
        .chain([("?", "all commands")])
        .collect()
}

fn help_list_commands() -> Vec<KeyCommand> {
    let mut all = list_overlay_commands("run this command", "enter run", Ok(()));
    all.extend(text_deletion_commands());
    all.push(close_command("esc", "close"));
    all
}

fn what_if_commands(model: &Model, picker: &AssumptionPicker) -> Vec<KeyCommand> {
    let take = picker
        .current_choice(model.data.assumed_facts())
        .map(|_| ());
    let (label, footer, back) = match picker.fact {
        None => ("choose this fact", "enter choose", "esc close"),
        Some(_) => ("assume this value", "enter assume", "esc back"),
    };
    let mut all = list_overlay_commands(
        label,
        footer,
        take.and_then(|()| model.data.activity.check_idle()),
    );
    all.extend(text_deletion_commands());
    all.extend([
        new_key_command(
            "tab",
            "complete",
            HelpSection::Selection,
            Action::WhatIfComplete,
        )
        .with_footer("tab complete"),
        new_key_command("esc", "back", HelpSection::Program, Action::WhatIfBack).with_footer(back),
    ]);
    all
}

fn filesystem_commands(model: &Model, chosen: usize) -> Vec<KeyCommand> {
    let choice = model.data.filesystem_choices().get(chosen);
    let refused = choice.and_then(|choice| choice.refused.clone());
    let enabled = refused.map_or_else(|| model.data.activity.check_idle(), Err);
    let mut all = list_overlay_commands("plan for this file system", "enter choose", enabled);
    all.push(close_command("esc q", "keep the current choice"));
    all
}

fn save_form_commands(form: &SaveForm) -> Vec<KeyCommand> {
    let here = |keys, label, action| new_key_command(keys, label, HelpSection::Selection, action);
    let close = |label, footer| here("esc", label, Action::Close).with_footer(footer);
    match form.stage {
        SaveFormStage::Naming(_) => vec![
            here("enter", "save", Action::Save).with_footer("enter save"),
            close("cancel", "esc cancel"),
            here(
                "left",
                "one character to the left",
                Action::Edit(TextEdit::Left),
            ),
            here(
                "right",
                "one character to the right",
                Action::Edit(TextEdit::Right),
            ),
            here(
                "home ctrl-a",
                "to the beginning",
                Action::Edit(TextEdit::Home),
            ),
            here("end ctrl-e", "to the end", Action::Edit(TextEdit::End)),
            here(
                "backspace",
                "delete the previous character",
                Action::Edit(TextEdit::Backspace),
            ),
            here(
                "delete ctrl-d",
                "delete the next character",
                Action::Edit(TextEdit::Delete),
            ),
            here("ctrl-u", "delete everything", Action::Edit(TextEdit::Clear))
                .with_footer("ctrl-u clear"),
        ],
        SaveFormStage::Saving => vec![close("do not wait", "esc do not wait")],
        SaveFormStage::Exists(_) => vec![
            here("y", "replace it", Action::Replace).with_footer("y replace it"),
            here("n", "another name", Action::Rename).with_footer("n another name"),
            close("do not save", "esc do not save"),
        ],
    }
}

pub fn matching_help_commands(model: &Model, filter: &str) -> Vec<KeyCommand> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let mut all = screen_commands(model, &model.current_page_view());
    all.sort_by_key(|command| command.group);
    all.retain(|command| {
        let text = format!(
            "{} {} {}",
            command.label,
            command.keys,
            command.group.as_str()
        )
        .to_lowercase();
        words.iter().all(|word| text.contains(word))
    });
    all
}
