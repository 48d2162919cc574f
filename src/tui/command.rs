//! The commands available in the current state, as one list: key lookup, footer and help all use
//! it, so they cannot disagree.

use super::data::Activity;
use super::documents::{SaveForm, SaveState};
use super::export;
use super::key::KeyPress;
use super::model::{Model, Overlay, PageView};
use super::page::{Block, EnterEffect, JumpToIssue, Motion, Page, PageState};
use super::screen_id::ScreenId;
use super::what_if::{self, Picker};
use super::widgets::field::Edit;
use crate::facts::catalog;
use crate::report::TargetSummary;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAction {
    /// Key names, separated by spaces.
    pub keys: &'static str,
    /// Its effect, in a few words.
    pub label: &'static str,
    /// Its heading in help.
    pub group: HelpSection,
    /// Whether it is available now; the error is the reason.
    pub enabled: Result<(), String>,
    /// Key and label in the footer; empty if it is only in help.
    pub footer: &'static str,
    pub action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HelpSection {
    /// About the selected row.
    Selection,
    Move,
    Work,
    View,
    Program,
}

impl HelpSection {
    pub fn title(self) -> &'static str {
        match self {
            Self::Selection => "this row",
            Self::Move => "move",
            Self::Work => "work",
            Self::View => "view",
            Self::Program => "walwise",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Go(Motion),
    /// Select the next or previous row with a problem.
    JumpToIssue(JumpToIssue),
    /// Enter on the selected block.
    Enter,
    /// Close what was opened last, or return to the previous screen.
    Back,
    /// Copy the commands of the selected block.
    Copy,
    /// Start typing a filter.
    Filter,
    /// Keep the filter; keys are commands again.
    FilterKeep,
    FilterEnd,
    /// Toggle: only unknown facts, or everything.
    OnlyUnknown,
    /// Toggle names and sources of all facts.
    Sources,
    Show(ScreenId),
    AskTarget,
    NextTarget,
    PreviousTarget,
    /// Ask the worker what a probe would write.
    PlanProbe,
    StartProbe,
    /// Stop measuring and keep the results so far.
    CancelProbe,
    Rescan,
    /// Choose a fact to assume another value for.
    WhatIf,
    /// Enter a value for the unknown fact of the selected block.
    EnterFact,
    /// Back to the real host.
    LeaveWhatIf,
    /// Complete the typed text.
    WhatIfComplete,
    /// From values back to facts, from facts back to the screen.
    WhatIfBack,
    /// Choose a file system for the free disk shown.
    AskFilesystem,
    /// Ask for a file name for the selected document.
    AskSave,
    /// Save to a new file.
    Save,
    /// Save over the existing file.
    Replace,
    Rename,
    /// Edit the typed name.
    Edit(Edit),
    /// Toggle between our mouse handling and the terminal's.
    Mouse,
    Help,
    /// Move in the list of the overlay.
    ListGo(Motion),
    /// Choose the selected entry.
    ListChoose,
    /// Delete the last typed character.
    Erase,
    /// Delete all typed text.
    Clear,
    /// Close the overlay.
    Close,
    Redraw,
    /// Return to the shell until continued.
    Suspend,
    Quit,
    /// Exit immediately, as by SIGINT.
    Interrupt,
}

fn command(
    keys: &'static str,
    label: &'static str,
    group: HelpSection,
    action: Action,
) -> UserAction {
    UserAction {
        keys,
        label,
        group,
        enabled: Ok(()),
        footer: "",
        action,
    }
}

impl UserAction {
    fn footer(self, footer: &'static str) -> Self {
        Self { footer, ..self }
    }

    fn enabled_if(self, enabled: Result<(), String>) -> Self {
        Self { enabled, ..self }
    }
}

/// The commands available now: of the overlay if there is one, else of the screen.
pub fn commands(model: &Model, view: &PageView) -> Vec<UserAction> {
    let mut all = match &model.overlay {
        None if view.state.is_typing() => filter_commands(),
        None => return screen_commands(model, view),
        Some(Overlay::Help { .. }) => help_commands(),
        Some(Overlay::Confirm { plan, .. }) => confirm_commands(plan),
        Some(Overlay::WhatIf(picker)) => what_if_commands(model, picker),
        Some(Overlay::Filesystem { chosen }) => filesystem_commands(model, *chosen),
        Some(Overlay::Save(form)) => save_commands(form),
        Some(Overlay::Targets { filter, .. }) => target_commands(model, filter.text()),
    };
    all.extend(global_commands());
    all
}

fn global_commands() -> [UserAction; 3] {
    [
        command(
            "ctrl-c",
            "exit immediately",
            HelpSection::Program,
            Action::Interrupt,
        ),
        command(
            "ctrl-z",
            "suspend (fg resumes)",
            HelpSection::Program,
            Action::Suspend,
        ),
        command(
            "ctrl-l",
            "redraw the screen",
            HelpSection::Program,
            Action::Redraw,
        ),
    ]
}

pub fn lookup(model: &Model, view: &PageView, key: &KeyPress) -> Option<UserAction> {
    let mut of_key: Vec<UserAction> = commands(model, view)
        .into_iter()
        .filter(|c| key.is_in(c.keys))
        .collect();
    // A disabled command is still found, to show its reason, but never instead of an enabled one.
    of_key.sort_by_key(|command| command.enabled.is_err());
    of_key.into_iter().next()
}

/// About as many commands as a screen has. Reserved up front, since moving large commands on each
/// growth takes longer than creating them.
const TYPICAL_COUNT: usize = 96;

/// The commands of the screen, which help lists as well.
fn screen_commands(model: &Model, PageView { page, state }: &PageView) -> Vec<UserAction> {
    let mut all = Vec::with_capacity(TYPICAL_COUNT);
    all.extend(motion_commands());
    all.extend(issue_commands(page, state));
    all.extend(block_commands(page, state, model));
    all.extend(search_commands(state, model));
    all.extend(work_commands(model));
    all.extend(view_commands(model));
    all.push(
        command(
            "? :",
            "help: all commands",
            HelpSection::Program,
            Action::Help,
        )
        .footer("? help"),
    );
    let mouse = if model.mouse {
        "release the mouse, to select text"
    } else {
        "use the mouse to click and scroll"
    };
    all.push(command("m", mouse, HelpSection::Program, Action::Mouse));
    all.push(command("q", "quit", HelpSection::Program, Action::Quit).footer("q quit"));
    all.extend(global_commands());
    all
}

fn block_commands(page: &Page, state: &PageState, model: &Model) -> Vec<UserAction> {
    let block = page.selected(state);
    let place = page.active_state(state);
    let unfolded = block
        .and_then(|b| b.key.as_deref())
        .is_some_and(|key| place.is_unfolded(key));
    let exporting = model.screen == ScreenId::Export;
    let (label, footer) = match (block.map(|block| &block.enter), exporting, unfolded) {
        (_, true, true) => ("hide the document", "enter close"),
        (_, true, false) => ("show the document", "enter show"),
        (_, false, true) => ("hide the details", "enter close"),
        (Some(EnterEffect::OpenPane), ..) => ("go to the related item", "enter related"),
        _ => ("show the details", "enter more"),
    };
    let enter = block
        .map(|block| &block.enter)
        .filter(|enter| **enter != EnterEffect::Nothing);
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
    let back = unfolded
        || page.is_in_pane(state)
        || state.filter.is_some()
        || !model.trail.is_empty()
        || model.data.assumed_host.is_some();
    let (back_keys, back_footer) = if is_probing(model) {
        ("left h backspace", "h back")
    } else {
        ("esc left h backspace", "esc back")
    };
    let save = command(
        "s",
        "save the document to a file",
        HelpSection::Selection,
        Action::AskSave,
    )
    .footer("s save")
    .enabled_if(export::may_save(&model.data));
    let mut all = vec![
        command(
            "enter right l space",
            label,
            HelpSection::Selection,
            Action::Enter,
        )
        .footer(footer)
        .enabled_if(
            enter
                .map(|_| ())
                .ok_or_else(|| "no details for this row".to_owned()),
        ),
        command("y", copy_label, HelpSection::Selection, Action::Copy)
            .footer("y copy")
            .enabled_if(copy),
        enter_fact_command(block, model),
        command(back_keys, "back", HelpSection::Selection, Action::Back)
            .footer(back_footer)
            .enabled_if(
                back.then_some(())
                    .ok_or_else(|| "nothing is open".to_owned()),
            ),
    ];
    if exporting {
        all.insert(1, save);
    }
    all
}

/// Key `i`: enter a value for the fact of this block.
fn enter_fact_command(block: Option<&Block>, model: &Model) -> UserAction {
    let fact = block.and_then(|block| block.fact.as_ref());
    let report = model.data.report.as_deref();
    let possible = match (fact, report) {
        (Some((subject, fact)), Some(report)) => match catalog::find(fact) {
            Some(key) if what_if::may_suppose(report, subject, key) => {
                model.data.activity.may_start()
            }
            _ => Err(format!("{fact} is derived from other facts")),
        },
        _ => Err("no single fact on this row; enter shows its facts".to_owned()),
    };
    command(
        "i",
        "enter a value for this fact",
        HelpSection::Selection,
        Action::EnterFact,
    )
    .footer("i enter value")
    .enabled_if(possible)
}

fn motion_commands() -> Vec<UserAction> {
    let go = |keys, label, motion| command(keys, label, HelpSection::Move, Action::Go(motion));
    vec![
        go("up k", "up", Motion::Up),
        go("down j", "down", Motion::Down).footer("↑↓ choose"),
        go("pgup ctrl-b", "page up", Motion::PageUp),
        go("pgdn ctrl-f", "page down", Motion::PageDown),
        go("home g", "to the top", Motion::Top),
        go("end G", "to the bottom", Motion::Bottom),
    ]
}

/// Next and previous row with a problem.
fn issue_commands(page: &Page, state: &PageState) -> [UserAction; 2] {
    let possible = page
        .has_issue(state)
        .then_some(())
        .ok_or_else(|| "no problems here".to_owned());
    let to = |keys, label, way| command(keys, label, HelpSection::Move, Action::JumpToIssue(way));
    [
        to("n", "next problem", JumpToIssue::Next).enabled_if(possible.clone()),
        to("N", "previous problem", JumpToIssue::Previous).enabled_if(possible),
    ]
}

/// Filters and folds. The footer shows the filter only on screens with many rows.
fn search_commands(state: &PageState, model: &Model) -> Vec<UserAction> {
    let here = model.screen.has_unknowns();
    let (label, footer) = match (here, state.only_unknown) {
        (true, true) => ("show everything", "u all"),
        (true, false) => ("show only unknown facts", "u unknown"),
        (false, _) => ("unknown facts and their reasons", ""),
    };
    let known = model.data.complete && model.data.focus.target.is_some();
    vec![
        command("/", "filter", HelpSection::View, Action::Filter).footer(
            if model.screen.has_much() {
                "/ find"
            } else {
                ""
            },
        ),
        command("u", label, HelpSection::View, Action::OnlyUnknown)
            .footer(footer)
            .enabled_if(
                known
                    .then_some(())
                    .ok_or_else(|| "no target yet".to_owned()),
            ),
        command(
            "v",
            "fact names and sources",
            HelpSection::View,
            Action::Sources,
        )
        .footer(if here { "v sources" } else { "" })
        .enabled_if(here.then_some(()).ok_or_else(|| "Storage only".to_owned())),
    ]
}

/// Motions in a list without letter keys, because letters are typed.
fn row_motions(act: fn(Motion) -> Action) -> Vec<UserAction> {
    let go = |keys, label, motion| command(keys, label, HelpSection::Move, act(motion));
    vec![
        go("up", "up", Motion::Up),
        go("down", "down", Motion::Down).footer("↑↓ choose"),
        go("pgup", "page up", Motion::PageUp),
        go("pgdn", "page down", Motion::PageDown),
    ]
}

/// Motions in the list of an overlay, and choosing an entry.
fn list_commands(
    label: &'static str,
    footer: &'static str,
    enabled: Result<(), String>,
) -> Vec<UserAction> {
    let go = |keys, label, motion| command(keys, label, HelpSection::Move, Action::ListGo(motion));
    let mut all = row_motions(Action::ListGo);
    all.extend([
        go("home", "to the top", Motion::Top),
        go("end", "to the bottom", Motion::Bottom),
        command("enter", label, HelpSection::Selection, Action::ListChoose)
            .footer(footer)
            .enabled_if(enabled),
    ]);
    all
}

fn close_command(keys: &'static str, label: &'static str) -> UserAction {
    command(keys, label, HelpSection::Program, Action::Close).footer("esc close")
}

/// Editing commands for a typed filter.
fn typing_commands() -> [UserAction; 2] {
    [
        command(
            "backspace",
            "delete a character",
            HelpSection::Selection,
            Action::Erase,
        ),
        command(
            "ctrl-u",
            "delete everything",
            HelpSection::Selection,
            Action::Clear,
        ),
    ]
}

fn filter_commands() -> Vec<UserAction> {
    let mut all = row_motions(Action::Go);
    all.extend(typing_commands());
    all.extend([
        command(
            "enter",
            "keep filter",
            HelpSection::Selection,
            Action::FilterKeep,
        )
        .footer("enter keep"),
        command(
            "esc",
            "show everything",
            HelpSection::Program,
            Action::FilterEnd,
        )
        .footer("esc end"),
    ]);
    all
}

fn work_commands(model: &Model) -> Vec<UserAction> {
    let free = model.data.activity.may_start();
    let supposes = model.data.assumed_host.is_some()
        || matches!(model.data.activity, Activity::Assuming { .. });
    let mut all = vec![
        command(
            "W",
            "back to the real host",
            HelpSection::Work,
            Action::LeaveWhatIf,
        )
        .footer("W real host")
        .enabled_if(
            supposes
                .then_some(())
                .ok_or_else(|| "no assumptions".to_owned()),
        ),
        command(
            "p",
            "probe: measure commit latency",
            HelpSection::Work,
            Action::PlanProbe,
        )
        .footer("p probe")
        .enabled_if(may_probe(model)),
        command(
            "f",
            "choose the file system",
            HelpSection::Work,
            Action::AskFilesystem,
        )
        .footer("f choose fs")
        .enabled_if(may_choose(model)),
        command(
            "w",
            "what if a fact had another value",
            HelpSection::Work,
            Action::WhatIf,
        )
        .footer("w what if")
        .enabled_if(may_suppose(model)),
        command("r", "rescan", HelpSection::Work, Action::Rescan)
            .footer("r rescan")
            .enabled_if(free),
    ];
    let cancel_keys = if is_probing(model) { "c esc" } else { "c" };
    let cancel = command(
        cancel_keys,
        "cancel the probe, keep the results",
        HelpSection::Work,
        Action::CancelProbe,
    );
    all.push(
        cancel
            .footer("c cancel")
            .enabled_if(match &model.data.activity {
                Activity::Probing {
                    cancelled: false, ..
                } => Ok(()),
                Activity::Probing { .. } => Err("the probe is stopping".to_owned()),
                _ => Err("no probe is running".to_owned()),
            }),
    );
    all
}

fn is_probing(model: &Model) -> bool {
    matches!(
        model.data.activity,
        Activity::Probing {
            cancelled: false,
            ..
        }
    )
}

fn may_probe(model: &Model) -> Result<(), String> {
    model.data.check_measurable().map_err(str::to_owned)?;
    model.data.activity.may_start()
}

fn may_suppose(model: &Model) -> Result<(), String> {
    if !model.data.complete || model.data.focus.target.is_none() {
        return Err("no target yet".to_owned());
    }
    model.data.activity.may_start()
}

fn may_choose(model: &Model) -> Result<(), String> {
    if model.data.filesystems().is_empty() {
        return Err("free disks only".to_owned());
    }
    model.data.activity.may_start()
}

fn view_commands(model: &Model) -> Vec<UserAction> {
    let mut all: Vec<UserAction> = ScreenId::ALL
        .into_iter()
        .map(|screen| {
            command(
                screen.digit(),
                screen.title(),
                HelpSection::View,
                Action::Show(screen),
            )
        })
        .collect();
    let beside = |by: usize| {
        let at = ScreenId::ALL
            .iter()
            .position(|screen| *screen == model.screen)
            .unwrap_or(0);
        let screens = ScreenId::ALL.iter().cycle().skip(at.saturating_add(by));
        screens.copied().next().unwrap_or(model.screen)
    };
    let before = ScreenId::ALL.len().saturating_sub(1);
    all.push(command(
        "tab",
        "next screen",
        HelpSection::View,
        Action::Show(beside(1)),
    ));
    all.push(command(
        "backtab",
        "previous screen",
        HelpSection::View,
        Action::Show(beside(before)),
    ));
    let export = command(
        "e",
        "export: save or copy the report",
        HelpSection::View,
        Action::Show(ScreenId::Export),
    );
    all.push(if model.screen == ScreenId::Export {
        export
    } else {
        export.footer("e export")
    });
    let several = model.data.focus.place.1 > 1;
    let only = || "there is only one".to_owned();
    for (keys, label, action, footer) in [
        ("t", "targets", Action::AskTarget, "t targets"),
        ("]", "next target", Action::NextTarget, ""),
        ("[", "previous target", Action::PreviousTarget, ""),
    ] {
        let enabled = several.then_some(()).ok_or_else(only);
        all.push(
            command(keys, label, HelpSection::View, action)
                .footer(footer)
                .enabled_if(enabled),
        );
    }
    all
}

fn target_commands(model: &Model, filter: &str) -> Vec<UserAction> {
    let found = overlay_targets(model, filter).next().map(|_| ());
    let found = found.ok_or_else(|| "no target matches".to_owned());
    let mut all = list_commands("show this target", "enter show", found);
    all.extend(typing_commands());
    all.push(close_command("esc", "close"));
    all
}

/// The targets whose title has every typed word, each with its position counted from the worst.
pub fn overlay_targets<'m>(
    model: &'m Model,
    filter: &str,
) -> impl Iterator<Item = (usize, &'m TargetSummary)> + use<'m> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let report = model.data.report.as_deref();
    let all = report
        .into_iter()
        .flat_map(|report| model.data.focus.targets(report))
        .enumerate();
    all.filter(move |(_, target)| {
        let title = target.title.to_lowercase();
        words.iter().all(|word| title.contains(word))
    })
}

/// The most useful keys of a screen, shown until the first key press.
pub fn hints(model: &Model) -> Vec<(&'static str, &'static str)> {
    const HINTED: usize = 3;
    let all = screen_commands(model, &model.view());
    let usable = |key: &&'static str| {
        let is_it = |command: &&UserAction| {
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
        .take(HINTED - 1)
        .chain([("?", "all commands")])
        .collect()
}

fn help_commands() -> Vec<UserAction> {
    let mut all = list_commands("run this command", "enter run", Ok(()));
    all.extend(typing_commands());
    all.push(close_command("esc", "close"));
    all
}

fn what_if_commands(model: &Model, picker: &Picker) -> Vec<UserAction> {
    let take = picker.select(model.data.suppositions()).map(|_| ());
    let (label, footer, back) = match picker.fact {
        None => ("choose this fact", "enter choose", "esc close"),
        Some(_) => ("assume this value", "enter assume", "esc back"),
    };
    let mut all = list_commands(
        label,
        footer,
        take.and_then(|()| model.data.activity.may_start()),
    );
    all.extend(typing_commands());
    all.extend([
        command(
            "tab",
            "complete",
            HelpSection::Selection,
            Action::WhatIfComplete,
        )
        .footer("tab complete"),
        command("esc", "back", HelpSection::Program, Action::WhatIfBack).footer(back),
    ]);
    all
}

fn filesystem_commands(model: &Model, chosen: usize) -> Vec<UserAction> {
    let choice = model.data.filesystems().get(chosen);
    let refused = choice.and_then(|choice| choice.refused.clone());
    let enabled = refused.map_or_else(|| model.data.activity.may_start(), Err);
    let mut all = list_commands("plan for this file system", "enter choose", enabled);
    all.push(close_command("esc q", "keep the current choice"));
    all
}

fn confirm_commands(plan: &Result<Vec<String>, String>) -> Vec<UserAction> {
    let start = command("y", "start", HelpSection::Selection, Action::StartProbe).footer("y start");
    let close = command("n esc q", "cancel", HelpSection::Selection, Action::Close).footer("n no");
    match plan {
        Ok(_) => vec![start, close],
        Err(why) => vec![
            start.enabled_if(Err(why.clone())),
            close.footer("esc close"),
        ],
    }
}

fn save_commands(form: &SaveForm) -> Vec<UserAction> {
    let here = |keys, label, action| command(keys, label, HelpSection::Selection, action);
    let close = |label, footer| here("esc", label, Action::Close).footer(footer);
    match form.stage {
        SaveState::Naming(_) => vec![
            here("enter", "save", Action::Save).footer("enter save"),
            close("cancel", "esc cancel"),
            here(
                "left",
                "one character to the left",
                Action::Edit(Edit::Left),
            ),
            here(
                "right",
                "one character to the right",
                Action::Edit(Edit::Right),
            ),
            here("home ctrl-a", "to the beginning", Action::Edit(Edit::Home)),
            here("end ctrl-e", "to the end", Action::Edit(Edit::End)),
            here(
                "backspace",
                "delete the previous character",
                Action::Edit(Edit::Backspace),
            ),
            here(
                "delete ctrl-d",
                "delete the next character",
                Action::Edit(Edit::Delete),
            ),
            here("ctrl-u", "delete everything", Action::Edit(Edit::Clear)).footer("ctrl-u clear"),
        ],
        SaveState::Saving => vec![close("do not wait", "esc do not wait")],
        SaveState::Exists(_) => vec![
            here("y", "replace it", Action::Replace).footer("y replace it"),
            here("n", "another name", Action::Rename).footer("n another name"),
            close("do not save", "esc do not save"),
        ],
    }
}

/// The commands of the screen whose label, keys or group have every typed word.
pub fn help_entries(model: &Model, filter: &str) -> Vec<UserAction> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let mut all = screen_commands(model, &model.view());
    all.sort_by_key(|command| command.group);
    all.retain(|command| {
        let text = format!(
            "{} {} {}",
            command.label,
            command.keys,
            command.group.title()
        )
        .to_lowercase();
        words.iter().all(|word| text.contains(word))
    });
    all
}
