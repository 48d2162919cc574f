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
use super::widgets::text_field::{TextEdit, TextField};
use crate::facts::{catalog, choice};
use crate::report::TargetSummary;
use HelpSection::{Move, Program, Selection, View, Work};

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
        Work = "actions",
        View = "view",
        Program = "walwise",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Number of places in the list of targets.
    StepTarget(isize),
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
    ListChoose,
    Close,
    Redraw,
    /// Stops the process, as SIGTSTP does.
    Suspend,
    Quit,
    /// Ends the process, as SIGINT does.
    Interrupt,
}

const fn key(
    keys: &'static str,
    label: &'static str,
    footer: &'static str,
    group: HelpSection,
    action: Action,
) -> KeyCommand {
    KeyCommand {
        keys,
        label,
        group,
        enabled: Ok(()),
        footer,
        action,
    }
}

impl KeyCommand {
    fn enabled_if(self, enabled: Result<(), impl Into<String>>) -> Self {
        let enabled = enabled.map_err(Into::into);
        Self { enabled, ..self }
    }

    pub fn footer_key_and_label(&self) -> (&'static str, &'static str) {
        self.footer.split_once(' ').unwrap_or((self.footer, ""))
    }
}

fn require(condition: bool, why: &'static str) -> Result<(), &'static str> {
    condition.then_some(()).ok_or(why)
}

pub fn current_commands(model: &Model, view: &PageView) -> Vec<KeyCommand> {
    let mut all = match &model.overlay {
        None if view.state.is_typing_filter() => commands_while_typing_filter(),
        None => return screen_commands(model, view),
        Some(Overlay::Help { .. }) => {
            filtered_list_commands("run this command", "enter run", Ok::<_, String>(()))
        }
        Some(Overlay::Confirm { question, plan }) => {
            comparisons::confirmation_commands(question, plan).into()
        }
        Some(Overlay::WhatIf(picker)) => what_if_commands(model, picker),
        Some(Overlay::Filesystem { chosen }) => filesystem_commands(model, *chosen),
        Some(Overlay::Save(form)) => save_form_commands(form),
        Some(Overlay::Targets { filter, .. }) => target_list_commands(model, filter),
        Some(Overlay::References(list)) => comparisons::reference_list_commands(list),
    };
    all.extend(global_commands());
    all
}

fn global_commands() -> [KeyCommand; 3] {
    [
        key("ctrl-c", "exit immediately", "", Program, Action::Interrupt),
        key(
            "ctrl-z",
            "suspend (fg resumes)",
            "",
            Program,
            Action::Suspend,
        ),
        key("ctrl-l", "redraw the screen", "", Program, Action::Redraw),
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

fn screen_commands(model: &Model, view: &PageView) -> Vec<KeyCommand> {
    let mut all = Vec::from(MOTIONS);
    all.extend(issue_jump_commands(view));
    all.extend(selected_block_commands(view, model));
    all.extend(filter_and_source_commands(&view.state, model));
    all.extend(probe_and_what_if_commands(model));
    all.extend(screen_and_target_commands(model));
    let mouse = if model.mouse {
        "release the mouse to select text"
    } else {
        "let walwise use the mouse"
    };
    all.extend([
        key("? :", "help: all commands", "? help", Program, Action::Help),
        key("m", mouse, "", Program, Action::Mouse),
        key("q", "quit", "q quit", Program, Action::Quit),
    ]);
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
        let document = export::copyable_document(model);
        ("copy the document", document.map(|_| ()))
    } else {
        let has_some = block.is_some_and(|block| !block.commands.is_empty());
        let copy = require(has_some, "this row has no commands to copy");
        ("copy the commands of this row", copy.map_err(Into::into))
    };
    let copy_all = match &model.data.assumed_host {
        Some(_) => Err("the fixes shown are based on assumed facts"),
        None => require(
            !exporting && !view.page.fix_commands().is_empty(),
            "no fix on this screen has a command",
        ),
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
    let enter_keys = "enter right l space";
    let mut all = vec![
        key(enter_keys, label, footer, Selection, Action::Enter)
            .enabled_if(require(enter, "this row has no details")),
    ];
    all.extend(comparisons::comparison_commands(model));
    if exporting {
        let label = "save the document to a file";
        let save = key("s", label, "s save", Selection, Action::AskSave);
        all.push(save.enabled_if(export::check_can_export(&model.data)));
    }
    let copy_all_label = "copy the commands of all fixes shown";
    let pane_label = "switch between list and details";
    let hidden = "the details are hidden; press enter to show them";
    all.extend([
        key("y", copy_label, "y copy", Selection, Action::Copy).enabled_if(copy),
        key("Y", copy_all_label, "", Selection, Action::CopyAll).enabled_if(copy_all),
        fact_value_entry_command(block, model),
        key("tab", pane_label, "tab pane", Selection, Action::FocusPane)
            .enabled_if(require(view.has_pane(), hidden)),
        key(back_keys, "back", back_footer, Selection, Action::Back)
            .enabled_if(require(back, "there is nothing to go back to")),
    ]);
    all
}

fn fact_value_entry_command(block: Option<&PageBlock>, model: &Model) -> KeyCommand {
    let fact = block.and_then(|block| block.fact.as_ref());
    let report = model.data.report.as_deref();
    let possible = match (fact, report) {
        (Some((subject, fact)), Some(report)) => match catalog::find_by_name(fact) {
            Some(key) if what_if::can_assume(report, subject, key) => {
                model.data.activity.check_idle().map_err(Into::into)
            }
            _ => Err(format!("{fact} is derived from other facts")),
        },
        _ => Err("this row is not a single fact; press enter to see its facts".to_owned()),
    };
    let label = "enter a value for this fact";
    key("i", label, "i enter value", Selection, Action::EnterFact).enabled_if(possible)
}

const MOTIONS: [KeyCommand; 6] = [
    key("up k", "up", "", Move, Action::Go(Motion::Up)),
    key(
        "down j",
        "down",
        "↑↓ choose",
        Move,
        Action::Go(Motion::Down),
    ),
    key(
        "pgup ctrl-b",
        "page up",
        "",
        Move,
        Action::Go(Motion::PageUp),
    ),
    key(
        "pgdn ctrl-f",
        "page down",
        "",
        Move,
        Action::Go(Motion::PageDown),
    ),
    key("home g", "to the top", "", Move, Action::Go(Motion::Top)),
    key(
        "end G",
        "to the bottom",
        "",
        Move,
        Action::Go(Motion::Bottom),
    ),
];

/// Motions by the first of their keys. The other keys, such as letters, edit a text field.
fn text_field_motions() -> Vec<KeyCommand> {
    let first_key_only = |motion: KeyCommand| KeyCommand {
        keys: motion.keys.split(' ').next().unwrap_or_default(),
        ..motion
    };
    MOTIONS.map(first_key_only).into()
}

fn issue_jump_commands(view: &PageView) -> [KeyCommand; 2] {
    let has_issue = view.focused_page().0.has_block_with_issue();
    let possible = require(has_issue, "no problems on this page");
    let to = |keys, label, way| {
        key(keys, label, "", Move, Action::JumpToIssue(way)).enabled_if(possible)
    };
    [
        to("n", "next problem", IssueDirection::Next),
        to("N", "previous problem", IssueDirection::Previous),
    ]
}

fn filter_and_source_commands(state: &PageState, model: &Model) -> [KeyCommand; 3] {
    let here = model.screen.can_hide_known_facts();
    let (label, footer) = match (here, state.only_unknown) {
        (true, true) => ("show everything", "u all"),
        (true, false) => ("show only unknown facts", "u unknown"),
        (false, _) => ("show unknown facts and the reasons", ""),
    };
    let find = if model.screen.has_own_filter() {
        "/ find"
    } else {
        ""
    };
    let sources = if here { "v sources" } else { "" };
    [
        key("/", "filter", find, View, Action::Filter),
        key("u", label, footer, View, Action::OnlyUnknown).enabled_if(check_has_target(model)),
        key(
            "v",
            "show or hide fact names and sources",
            sources,
            View,
            Action::Sources,
        )
        .enabled_if(require(here, "only on the Storage screen")),
    ]
}

fn list_overlay_commands(
    label: &'static str,
    footer: &'static str,
    enabled: Result<(), impl Into<String>>,
) -> Vec<KeyCommand> {
    let mut all = text_field_motions();
    all.push(key("enter", label, footer, Selection, Action::ListChoose).enabled_if(enabled));
    all
}

fn filtered_list_commands(
    label: &'static str,
    footer: &'static str,
    enabled: Result<(), impl Into<String>>,
) -> Vec<KeyCommand> {
    let mut all = list_overlay_commands(label, footer, enabled);
    all.extend(TEXT_DELETIONS);
    all.push(key("esc", "close", "esc close", Program, Action::Close));
    all
}

const TEXT_DELETIONS: [KeyCommand; 2] = [
    key(
        "backspace",
        "delete a character",
        "",
        Selection,
        Action::Edit(TextEdit::Backspace),
    ),
    key(
        "ctrl-u",
        "delete everything",
        "",
        Selection,
        Action::Edit(TextEdit::Clear),
    ),
];

fn commands_while_typing_filter() -> Vec<KeyCommand> {
    let mut all = text_field_motions();
    all.extend(TEXT_DELETIONS);
    all.extend([
        key(
            "enter",
            "keep the filter",
            "enter keep",
            Selection,
            Action::FilterKeep,
        ),
        key(
            "esc",
            "show everything",
            "esc clear",
            Program,
            Action::FilterEnd,
        ),
    ]);
    all
}

fn probe_and_what_if_commands(model: &Model) -> [KeyCommand; 6] {
    let activity = &model.data.activity;
    let supposes = model.data.assumed_host.is_some()
        || matches!(activity, BackgroundActivity::Assuming { .. });
    let is_free_disk = !model.data.filesystem_choices().is_empty();
    let idle = |check: Result<(), &'static str>| check.and_then(|()| activity.check_idle());
    let (cancel_keys, cancel) = match activity {
        BackgroundActivity::Probing {
            cancelled: false, ..
        } => ("c esc", Ok(())),
        BackgroundActivity::Probing { .. } => ("c", Err("the probe is stopping")),
        _ => ("c", Err("no probe is running")),
    };
    let probe_label = "probe: measure commit latency";
    let what_if_label = "what if: assume another value for a fact";
    let cancel_label = "cancel the probe and keep the results so far";
    [
        key(
            "W",
            "back to the real host",
            "W real host",
            Work,
            Action::LeaveWhatIf,
        )
        .enabled_if(require(supposes, "no assumptions")),
        key("p", probe_label, "p probe", Work, Action::PlanProbe)
            .enabled_if(idle(model.data.check_measurable())),
        key(
            "f",
            "choose the file system",
            "f choose fs",
            Work,
            Action::AskFilesystem,
        )
        .enabled_if(idle(require(is_free_disk, "only for free disks"))),
        key("w", what_if_label, "w what if", Work, Action::WhatIf)
            .enabled_if(idle(check_has_target(model))),
        key("r", "rescan", "r rescan", Work, Action::Rescan).enabled_if(activity.check_idle()),
        key(
            cancel_keys,
            cancel_label,
            "c cancel",
            Work,
            Action::CancelProbe,
        )
        .enabled_if(cancel),
    ]
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

fn check_has_target(model: &Model) -> Result<(), &'static str> {
    require(
        model.data.complete && model.data.focus.target.is_some(),
        "no target yet",
    )
}

fn screen_and_target_commands(model: &Model) -> Vec<KeyCommand> {
    let screen = |screen: ScreenId| {
        key(
            screen.digit_key(),
            screen.title(),
            "",
            View,
            Action::Show(screen),
        )
    };
    let mut all = ScreenId::ALL.map(screen).to_vec();
    let export = if model.screen == ScreenId::Export {
        ""
    } else {
        "e export"
    };
    let label = "export: save or copy the report";
    all.push(key(
        "e",
        label,
        export,
        View,
        Action::Show(ScreenId::Export),
    ));
    let several = require(model.data.focus.place.1 > 1, "there is only one target");
    let targets = [
        key("t", "targets", "t targets", View, Action::AskTarget),
        key("]", "next target", "", View, Action::StepTarget(1)),
        key("[", "previous target", "", View, Action::StepTarget(-1)),
    ];
    all.extend(targets.map(|command| command.enabled_if(several)));
    all
}

fn target_list_commands(model: &Model, filter: &TextField) -> Vec<KeyCommand> {
    let has_some = filter_targets(model, filter).next().is_some();
    let found = require(has_some, "no target matches");
    filtered_list_commands("show this target", "enter show", found)
}

/// Lists the targets that match a filter, each with its position in the list of all targets, which
/// begins with the worst verdict.
pub fn filter_targets<'m>(
    model: &'m Model,
    filter: &'m TextField,
) -> impl Iterator<Item = (usize, &'m TargetSummary)> {
    let report = model.data.report.as_deref();
    let all = report
        .into_iter()
        .flat_map(|report| model.data.focus.targets_worst_first(report))
        .enumerate();
    all.filter(move |(_, target)| filter.matches(&target.title))
}

pub fn newcomer_hints(model: &Model, view: &PageView) -> Vec<(&'static str, &'static str)> {
    const MAX_HINTS: usize = 3;
    let all = screen_commands(model, view);
    let usable = |key: &&'static str| {
        let is_it = |command: &&KeyCommand| {
            command.enabled.is_ok() && command.keys.split(' ').any(|one| one == *key)
        };
        let command = all.iter().find(is_it)?;
        let (_, label) = command.footer_key_and_label();
        Some((
            *key,
            if label.is_empty() {
                command.label
            } else {
                label
            },
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

fn what_if_commands(model: &Model, picker: &AssumptionPicker) -> Vec<KeyCommand> {
    let take = picker.current_choice(model.data.assumed_facts());
    let enabled = take.and_then(|_| model.data.activity.check_idle().map_err(Into::into));
    let (label, footer, back) = match picker.fact {
        None => ("choose this fact", "enter choose", "esc close"),
        Some(_) => ("assume this value", "enter assume", "esc back"),
    };
    let mut all = list_overlay_commands(label, footer, enabled);
    all.extend(TEXT_DELETIONS);
    all.extend([
        key(
            "tab",
            "complete",
            "tab complete",
            Selection,
            Action::WhatIfComplete,
        ),
        key("esc", "back", back, Program, Action::WhatIfBack),
    ]);
    all
}

fn filesystem_commands(model: &Model, chosen: usize) -> Vec<KeyCommand> {
    let choice = model.data.filesystem_choices().get(chosen);
    let refused = choice.and_then(|choice| choice.refused.clone());
    let idle = || model.data.activity.check_idle().map_err(Into::into);
    let enabled = refused.map_or_else(idle, Err);
    let mut all = list_overlay_commands("plan for this file system", "enter choose", enabled);
    let label = "keep the current choice";
    all.push(key("esc q", label, "esc close", Program, Action::Close));
    all
}

fn save_form_commands(form: &SaveForm) -> Vec<KeyCommand> {
    let here = |keys, label, footer, action| key(keys, label, footer, Selection, action);
    let edit = |keys, label, footer, edit| here(keys, label, footer, Action::Edit(edit));
    match form.stage {
        SaveFormStage::Naming(_) => vec![
            here("enter", "save", "enter save", Action::Save),
            here("esc", "cancel", "esc cancel", Action::Close),
            edit("left", "one character to the left", "", TextEdit::Left),
            edit("right", "one character to the right", "", TextEdit::Right),
            edit("home ctrl-a", "to the beginning", "", TextEdit::Home),
            edit("end ctrl-e", "to the end", "", TextEdit::End),
            edit(
                "backspace",
                "delete the previous character",
                "",
                TextEdit::Backspace,
            ),
            edit(
                "delete ctrl-d",
                "delete the next character",
                "",
                TextEdit::Delete,
            ),
            edit(
                "ctrl-u",
                "delete everything",
                "ctrl-u clear",
                TextEdit::Clear,
            ),
        ],
        SaveFormStage::Saving => vec![here("esc", "do not wait", "esc do not wait", Action::Close)],
        SaveFormStage::Exists(_) => vec![
            here("y", "replace it", "y replace it", Action::Replace),
            here("n", "another name", "n another name", Action::Rename),
            here("esc", "do not save", "esc do not save", Action::Close),
        ],
    }
}

pub fn matching_help_commands(model: &Model, filter: &TextField) -> Vec<KeyCommand> {
    let mut all = screen_commands(model, &model.current_page_view());
    all.sort_by_key(|command| command.group);
    all.retain(|command| {
        let group = command.group.as_str();
        filter.matches(&format!("{} {} {group}", command.label, command.keys))
    });
    all
}
