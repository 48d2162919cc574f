//! The commands available here and now, as one list: keys are looked up in it, and footer and help
//! are made from it, so that neither can be wrong.

use super::data::Activity;
use super::documents::{SaveForm, SaveState};
use super::export;
use super::key::KeyPress;
use super::model::{Model, Overlay, PageView};
use super::page::{Block, Enter, Motion, Page, PageState, Seek};
use super::screen_id::ScreenId;
use super::what_if::{self, Picker};
use super::widgets::field::Edit;
use crate::facts::catalog;
use crate::report::TargetSummary;

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAction {
    /// Names of the keys that do it, with spaces between.
    pub keys: &'static str,
    /// Its effect, in a few words.
    pub label: &'static str,
    /// The heading it stands under in help.
    pub group: HelpSection,
    /// Whether it is available now; the error says why not.
    pub enabled: Result<(), String>,
    /// Its label in the footer; empty for commands that are only in help.
    pub footer: &'static str,
    pub action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HelpSection {
    /// About the selected line.
    Here,
    Move,
    Work,
    Look,
    Program,
}

impl HelpSection {
    pub fn title(self) -> &'static str {
        match self {
            Self::Here => "this line",
            Self::Move => "move",
            Self::Work => "work",
            Self::Look => "look at",
            Self::Program => "walwise",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Go(Motion),
    /// Select the next or the previous block that is not all right.
    Seek(Seek),
    /// Enter on the selected block.
    Enter,
    /// Close what was opened last, or return to the screen before.
    Back,
    /// Copy what the selected block offers.
    Copy,
    /// Look for something on the screen: keys are typed from then on.
    Filter,
    /// Keep what was typed; keys are commands again.
    FilterKeep,
    FilterEnd,
    /// Show only what is unknown, or everything again.
    OnlyUnknown,
    /// Show names and sources of all facts, or fold them again.
    Sources,
    Show(ScreenId),
    /// Show the list of targets.
    AskTarget,
    NextTarget,
    /// Show the target before.
    PreviousTarget,
    /// Find out what a probe would write.
    PlanProbe,
    StartProbe,
    /// Stop measuring, keep what was measured.
    CancelProbe,
    /// Read the machine again.
    Rescan,
    /// Choose a fact to be supposed another.
    WhatIf,
    /// Say by hand what the fact of the selected block is.
    State,
    /// Back to the machine as it is.
    LeaveWhatIf,
    /// Complete what was typed.
    WhatIfComplete,
    /// From the value back to the facts, from the facts to the screen.
    WhatIfBack,
    /// Choose a file system for the free disk in sight.
    AskFilesystem,
    /// Ask for the name of a file to save the selected document in.
    AskSave,
    /// Save it where nothing has that name.
    Save,
    /// Save it in place of the file that has that name.
    Replace,
    Rename,
    /// Change the name that is being typed.
    Edit(Edit),
    /// Take the mouse, or leave it to the terminal.
    Mouse,
    Help,
    /// Move in the list that lies over the screen.
    ListGo(Motion),
    /// Take what is chosen there.
    ListTake,
    /// Take back the last character of what was typed to find something.
    Erase,
    /// Take back all of it.
    Clear,
    /// Close what lies over the screen.
    Close,
    Redraw,
    /// Give the terminal back until continued.
    Suspend,
    Quit,
    /// Leave at once, as by an interrupt.
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

    fn when(self, enabled: Result<(), String>) -> Self {
        Self { enabled, ..self }
    }
}

/// The commands available now: of the overlay if there is one, else of the screen.
pub fn commands(model: &Model, view: &PageView) -> Vec<UserAction> {
    let mut all = match &model.overlay {
        None if view.state.is_typing() => in_filter(),
        None => return on_screen(model, view),
        Some(Overlay::Help { .. }) => in_help(),
        Some(Overlay::Confirm { plan, .. }) => in_confirm(plan),
        Some(Overlay::WhatIf(picker)) => in_what_if(model, picker),
        Some(Overlay::Filesystem { chosen }) => in_filesystem(model, *chosen),
        Some(Overlay::Save(form)) => in_save(form),
        Some(Overlay::Targets { filter, .. }) => in_targets(model, filter.text()),
    };
    all.extend(always());
    all
}

/// The commands that are always available.
fn always() -> [UserAction; 3] {
    [
        command(
            "ctrl-c",
            "leave at once",
            HelpSection::Program,
            Action::Interrupt,
        ),
        command(
            "ctrl-z",
            "suspend; fg continues",
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
    // A disabled command is still found, so that its reason can be shown, but never instead of an
    // enabled one.
    of_key.sort_by_key(|command| command.enabled.is_err());
    of_key.into_iter().next()
}

/// About as many commands as a screen has: a command is large, and moving them all as they become
/// more takes longer than making them.
const MOST: usize = 96;

/// The commands of the visible screen, which help lists as well.
fn on_screen(model: &Model, PageView { page, state }: &PageView) -> Vec<UserAction> {
    let mut all = Vec::with_capacity(MOST);
    all.extend(moving());
    all.extend(seeking(page, state));
    all.extend(here(page, state, model));
    all.extend(finding(state, model));
    all.extend(work(model));
    all.extend(looking(model));
    all.push(
        command(
            "? :",
            "help: every command",
            HelpSection::Program,
            Action::Help,
        )
        .footer("? help"),
    );
    let mouse = if model.mouse {
        "free the mouse, to select text with it"
    } else {
        "take the mouse, to click and scroll with it"
    };
    all.push(command("m", mouse, HelpSection::Program, Action::Mouse));
    all.push(command("q", "quit", HelpSection::Program, Action::Quit).footer("q quit"));
    all.extend(always());
    all
}

fn here(page: &Page, state: &PageState, model: &Model) -> Vec<UserAction> {
    let block = page.selected(state);
    let place = page.place(state);
    let unfolded = block
        .and_then(|b| b.key.as_deref())
        .is_some_and(|key| place.is_unfolded(key));
    let exporting = model.screen == ScreenId::Export;
    let (label, footer) = match (block.map(|block| &block.enter), exporting, unfolded) {
        (_, true, true) => ("hide the document", "enter close"),
        (_, true, false) => ("show the document", "enter show"),
        (_, false, true) => ("hide the details", "enter close"),
        (Some(Enter::Beside), ..) => ("go to the related item", "enter beside"),
        _ => ("why: show the details", "enter why"),
    };
    let enter = block
        .map(|block| &block.enter)
        .filter(|enter| **enter != Enter::Nothing);
    let (copy_label, copy) = if exporting {
        ("copy the document", export::to_copy(model).map(|_| ()))
    } else {
        let has_some = block.is_some_and(|block| !block.copy.is_empty());
        (
            "copy its commands",
            has_some
                .then_some(())
                .ok_or_else(|| "it has none".to_owned()),
        )
    };
    let back = unfolded
        || page.is_beside(state)
        || state.filter.is_some()
        || !model.trail.is_empty()
        || model.data.supposed.is_some();
    let (back_keys, back_footer) = if is_probing(model) {
        ("left h backspace", "h back")
    } else {
        ("esc left h backspace", "esc back")
    };
    let save = command(
        "s",
        "save the document to a file",
        HelpSection::Here,
        Action::AskSave,
    )
    .footer("s save")
    .when(export::may_save(&model.data));
    let mut all = vec![
        command(
            "enter right l space",
            label,
            HelpSection::Here,
            Action::Enter,
        )
        .footer(footer)
        .when(enter.map(|_| ()).ok_or_else(|| "there are none".to_owned())),
        command("y", copy_label, HelpSection::Here, Action::Copy)
            .footer("y copy")
            .when(copy),
        stating(block, model),
        command(back_keys, "back", HelpSection::Here, Action::Back)
            .footer(back_footer)
            .when(
                back.then_some(())
                    .ok_or_else(|| "nothing is open".to_owned()),
            ),
    ];
    if exporting {
        all.insert(1, save);
    }
    all
}

/// To say by hand what the fact of this block is.
fn stating(block: Option<&Block>, model: &Model) -> UserAction {
    let fact = block.and_then(|block| block.fact.as_ref());
    let report = model.data.report.as_deref();
    let possible = match (fact, report) {
        (Some((subject, fact)), Some(report)) => match catalog::find(fact) {
            Some(key) if what_if::may_suppose(report, subject, key) => {
                model.data.activity.may_start()
            }
            _ => Err(format!("{fact} is concluded from other facts")),
        },
        _ => Err("this line is about no single fact; enter leads to those it has".to_owned()),
    };
    command(
        "i",
        "enter this fact by hand",
        HelpSection::Here,
        Action::State,
    )
    .footer("i state it")
    .when(possible)
}

fn moving() -> Vec<UserAction> {
    let go = |keys, label, motion| command(keys, label, HelpSection::Move, Action::Go(motion));
    vec![
        go("up k", "up", Motion::Up),
        go("down j", "down", Motion::Down).footer("↑↓ choose"),
        go("pgup ctrl-b", "a screenful up", Motion::PageUp),
        go("pgdn ctrl-f", "a screenful down", Motion::PageDown),
        go("home g", "to the top", Motion::Top),
        go("end G", "to the bottom", Motion::Bottom),
    ]
}

/// To what is not all right, wherever it is among the rest.
fn seeking(page: &Page, state: &PageState) -> [UserAction; 2] {
    let possible = page
        .has_amiss(state)
        .then_some(())
        .ok_or_else(|| "nothing here is amiss".to_owned());
    let to = |keys, label, way| command(keys, label, HelpSection::Move, Action::Seek(way));
    [
        to("n", "the next row that is not all right", Seek::Next).when(possible.clone()),
        to("N", "the row before that is not all right", Seek::Previous).when(possible),
    ]
}

/// To find something on the screen; the footer says so where there is much.
fn finding(state: &PageState, model: &Model) -> Vec<UserAction> {
    let here = model.screen.has_unknowns();
    let (label, footer) = match (here, state.only_unknown) {
        (true, true) => ("show everything", "u all"),
        (true, false) => ("only what is unknown", "u unknown"),
        (false, _) => ("every fact that is unknown, and why", ""),
    };
    let known = model.data.complete && model.data.focus.target.is_some();
    vec![
        command("/", "filter", HelpSection::Look, Action::Filter).footer(
            if model.screen.has_much() {
                "/ find"
            } else {
                ""
            },
        ),
        command("u", label, HelpSection::Look, Action::OnlyUnknown)
            .footer(footer)
            .when(
                known
                    .then_some(())
                    .ok_or_else(|| "there is no target yet".to_owned()),
            ),
        command(
            "v",
            "names and sources of all facts",
            HelpSection::Look,
            Action::Sources,
        )
        .footer(if here { "v sources" } else { "" })
        .when(
            here.then_some(())
                .ok_or_else(|| "only the screen Storage has them".to_owned()),
        ),
    ]
}

/// Moving in a list without letter keys, because letters are typed.
fn rows(act: fn(Motion) -> Action) -> Vec<UserAction> {
    let go = |keys, label, motion| command(keys, label, HelpSection::Move, act(motion));
    vec![
        go("up", "up", Motion::Up),
        go("down", "down", Motion::Down).footer("↑↓ choose"),
        go("pgup", "a screenful up", Motion::PageUp),
        go("pgdn", "a screenful down", Motion::PageDown),
    ]
}

/// Moving in the list that lies over the screen, and taking what is chosen.
fn list(label: &'static str, footer: &'static str, enabled: Result<(), String>) -> Vec<UserAction> {
    let go = |keys, label, motion| command(keys, label, HelpSection::Move, Action::ListGo(motion));
    let mut all = rows(Action::ListGo);
    all.extend([
        go("home", "to the top", Motion::Top),
        go("end", "to the bottom", Motion::Bottom),
        command("enter", label, HelpSection::Here, Action::ListTake)
            .footer(footer)
            .when(enabled),
    ]);
    all
}

fn close(keys: &'static str, label: &'static str) -> UserAction {
    command(keys, label, HelpSection::Program, Action::Close).footer("esc close")
}

/// The commands for a search text being typed.
fn typing() -> [UserAction; 2] {
    [
        command(
            "backspace",
            "take back a character",
            HelpSection::Here,
            Action::Erase,
        ),
        command(
            "ctrl-u",
            "take back everything",
            HelpSection::Here,
            Action::Clear,
        ),
    ]
}

fn in_filter() -> Vec<UserAction> {
    let mut all = rows(Action::Go);
    all.extend(typing());
    all.extend([
        command("enter", "keep it", HelpSection::Here, Action::FilterKeep).footer("enter keep"),
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

fn work(model: &Model) -> Vec<UserAction> {
    let free = model.data.activity.may_start();
    let supposes =
        model.data.supposed.is_some() || matches!(model.data.activity, Activity::Supposing { .. });
    let mut all = vec![
        command(
            "W",
            "leave what if: the machine as it is",
            HelpSection::Work,
            Action::LeaveWhatIf,
        )
        .footer("W leave what if")
        .when(
            supposes
                .then_some(())
                .ok_or_else(|| "no assumptions".to_owned()),
        ),
        command(
            "p",
            "probe: measure a commit",
            HelpSection::Work,
            Action::PlanProbe,
        )
        .footer("p probe")
        .when(may_probe(model)),
        command(
            "f",
            "choose the file system of this free disk",
            HelpSection::Work,
            Action::AskFilesystem,
        )
        .footer("f choose fs")
        .when(may_choose(model)),
        command(
            "w",
            "what if a fact were another",
            HelpSection::Work,
            Action::WhatIf,
        )
        .footer("w what if")
        .when(may_suppose(model)),
        command("r", "read again", HelpSection::Work, Action::Rescan)
            .footer("r rescan")
            .when(free),
    ];
    let cancel_keys = if is_probing(model) { "c esc" } else { "c" };
    let cancel = command(
        cancel_keys,
        "cancel the probe, keep the results",
        HelpSection::Work,
        Action::CancelProbe,
    );
    all.push(cancel.footer("c cancel").when(match &model.data.activity {
        Activity::Probing {
            cancelled: false, ..
        } => Ok(()),
        Activity::Probing { .. } => Err("it is stopping".to_owned()),
        _ => Err("none is running".to_owned()),
    }));
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
    model.data.measurable().map_err(str::to_owned)?;
    model.data.activity.may_start()
}

fn may_suppose(model: &Model) -> Result<(), String> {
    if !model.data.complete || model.data.focus.target.is_none() {
        return Err("there is no target yet".to_owned());
    }
    model.data.activity.may_start()
}

fn may_choose(model: &Model) -> Result<(), String> {
    if model.data.filesystems().is_empty() {
        return Err("this is no free disk".to_owned());
    }
    model.data.activity.may_start()
}

fn looking(model: &Model) -> Vec<UserAction> {
    let mut all: Vec<UserAction> = ScreenId::ALL
        .into_iter()
        .map(|screen| {
            command(
                screen.digit(),
                screen.title(),
                HelpSection::Look,
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
        "the next screen",
        HelpSection::Look,
        Action::Show(beside(1)),
    ));
    all.push(command(
        "backtab",
        "the screen before",
        HelpSection::Look,
        Action::Show(beside(before)),
    ));
    let export = command(
        "e",
        "export: save or copy the report",
        HelpSection::Look,
        Action::Show(ScreenId::Export),
    );
    all.push(if model.screen == ScreenId::Export {
        export
    } else {
        export.footer("e export")
    });
    let several = model.data.focus.place.1 > 1;
    let only = || "there is no other".to_owned();
    for (keys, label, action, footer) in [
        ("t", "the list of targets", Action::AskTarget, "t targets"),
        ("]", "the next target", Action::NextTarget, ""),
        ("[", "the target before", Action::PreviousTarget, ""),
    ] {
        let enabled = several.then_some(()).ok_or_else(only);
        all.push(
            command(keys, label, HelpSection::Look, action)
                .footer(footer)
                .when(enabled),
        );
    }
    all
}

fn in_targets(model: &Model, filter: &str) -> Vec<UserAction> {
    let found = overlay_targets(model, filter).next().map(|_| ());
    let found = found.ok_or_else(|| "no target has such a name".to_owned());
    let mut all = list("show this target", "enter show", found);
    all.extend(typing());
    all.push(close("esc", "close"));
    all
}

/// The targets that match what was typed, each with its place from the worst on: every word must
/// appear in the name.
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

/// The most useful keys of a screen with what they do, for somebody who has pressed none yet.
pub fn hints(model: &Model) -> Vec<(&'static str, &'static str)> {
    const HINTED: usize = 3;
    let all = on_screen(model, &model.view());
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
        .chain([("?", "every command")])
        .collect()
}

fn in_help() -> Vec<UserAction> {
    let mut all = list("do it", "enter do it", Ok(()));
    all.extend(typing());
    all.push(close("esc", "close"));
    all
}

fn in_what_if(model: &Model, picker: &Picker) -> Vec<UserAction> {
    let take = picker.take(model.data.suppositions()).map(|_| ());
    let (label, footer, back) = match picker.of {
        None => ("choose this fact", "enter choose", "esc close"),
        Some(_) => ("suppose it", "enter suppose", "esc back"),
    };
    let mut all = list(
        label,
        footer,
        take.and_then(|()| model.data.activity.may_start()),
    );
    all.extend(typing());
    all.extend([
        command("tab", "complete", HelpSection::Here, Action::WhatIfComplete)
            .footer("tab complete"),
        command("esc", "back", HelpSection::Program, Action::WhatIfBack).footer(back),
    ]);
    all
}

fn in_filesystem(model: &Model, chosen: usize) -> Vec<UserAction> {
    let choice = model.data.filesystems().get(chosen);
    let refused = choice.and_then(|choice| choice.refused.clone());
    let enabled = refused.map_or_else(|| model.data.activity.may_start(), Err);
    let mut all = list("make the plan for it", "enter choose", enabled);
    all.push(close("esc q", "leave it as it is"));
    all
}

fn in_confirm(plan: &Result<Vec<String>, String>) -> Vec<UserAction> {
    let start = command("y", "start", HelpSection::Here, Action::StartProbe).footer("y start");
    let close = command("n esc q", "do not", HelpSection::Here, Action::Close).footer("n no");
    match plan {
        Ok(_) => vec![start, close],
        Err(why) => vec![start.when(Err(why.clone())), close.footer("esc close")],
    }
}

fn in_save(form: &SaveForm) -> Vec<UserAction> {
    let here = |keys, label, action| command(keys, label, HelpSection::Here, action);
    let close = |label, footer| here("esc", label, Action::Close).footer(footer);
    match form.stage {
        SaveState::Naming(_) => vec![
            here("enter", "save", Action::Save).footer("enter save"),
            close("do not", "esc do not"),
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
                "take back a character",
                Action::Edit(Edit::Backspace),
            ),
            here(
                "delete ctrl-d",
                "take away a character",
                Action::Edit(Edit::Delete),
            ),
            here("ctrl-u", "take away everything", Action::Edit(Edit::Clear))
                .footer("ctrl-u clear"),
        ],
        SaveState::Saving => vec![close("do not wait", "esc do not wait")],
        SaveState::Exists(_) => vec![
            here("y", "replace it", Action::Replace).footer("y replace it"),
            here("n", "another name", Action::Rename).footer("n another name"),
            close("do not save", "esc do not save"),
        ],
    }
}

/// The commands of the screen that match the text typed in help: every word of it must appear in
/// label, keys or group.
pub fn filtered(model: &Model, filter: &str) -> Vec<UserAction> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let mut all = on_screen(model, &model.view());
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
