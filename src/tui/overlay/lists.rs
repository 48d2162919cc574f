use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::{Canvas, ChoiceList, WIDTH};
use crate::report::FilesystemChoice;
use crate::text::JoinText;
use crate::tui::changes_state::ReferenceList;
use crate::tui::command;
use crate::tui::job::ComparisonReference;
use crate::tui::key_press;
use crate::tui::labels;
use crate::tui::model::Model;
use crate::tui::target_row::{self, selection_mark};
use crate::tui::theme::{ACCENT, DIM, DOUBT, PLAIN};
use crate::tui::what_if::{AssumptionPicker, PickerEntry, SelectableFact};
use crate::tui::widgets::columns::{Column, StyledText};
use crate::tui::widgets::text;
use crate::tui::widgets::text_field::TextField;

const HELP_WIDTH: u16 = 100;

/// `asks` is the placeholder while the input is empty.
fn input_line(mark: &'static str, typed: &str, asks: &str) -> Line<'static> {
    let (shown, style) = match typed {
        "" => (asks.to_owned(), DIM),
        typed => (format!("{typed}_"), PLAIN),
    };
    Line::from(vec![Span::styled(mark, ACCENT), Span::styled(shown, style)])
}

fn bold_if(is_bold: bool, style: Style) -> Style {
    if is_bold {
        style.add_modifier(Modifier::BOLD)
    } else {
        style
    }
}

pub(super) fn draw_filesystems(model: &Model, chosen: usize, canvas: &mut Canvas<'_>) {
    let choices = model.data.filesystem_choices();
    let (says, style) = choices
        .get(chosen)
        .map_or((String::new(), DIM), filesystem_explanation);
    let says = text::wrapped_lines(&says, style, canvas.text_room(WIDTH));
    let list = ChoiceList {
        title: &format!("File system for {}", model.data.focus.title),
        width: WIDTH,
        above: Vec::new(),
        count: choices.len(),
        chosen,
        below: [vec![Line::default()], says].concat(),
    };
    list.draw(canvas, &[1, 6, 10].map(Column::new_cuttable), |at| {
        Some(filesystem_cells(choices.get(at)?, at == chosen))
    });
}

fn filesystem_cells(choice: &FilesystemChoice, is_chosen: bool) -> Vec<StyledText> {
    let name = if choice.refused.is_none() { PLAIN } else { DIM };
    let says = [
        choice.first.then_some("first choice"),
        choice.wanted.then_some("selected"),
    ];
    let place = says.into_iter().flatten().join_with(", ");
    let refused = choice
        .refused
        .is_some()
        .then(|| "not possible here".to_owned());
    let place = Some(place).filter(|place| !place.is_empty());
    vec![
        selection_mark(is_chosen),
        (choice.filesystem.to_string(), bold_if(is_chosen, name)),
        (place.into_iter().chain(refused).join_with("; "), DIM),
    ]
}

fn filesystem_explanation(choice: &FilesystemChoice) -> (String, Style) {
    if let Some(why) = &choice.refused {
        return (why.clone(), DOUBT);
    }
    let title = choice.title.as_ref().map(|title| format!("{title}."));
    let price = choice.tradeoff.as_ref();
    let price = price.map(|price| format!("Trade-off: {price}"));
    (title.into_iter().chain(price).join_with(" "), DIM)
}

pub(super) fn draw_help(model: &Model, filter: &TextField, chosen: usize, canvas: &mut Canvas<'_>) {
    let commands = command::matching_help_commands(model, filter);
    // A row may be too short for the reason why its command is unavailable, so the chosen
    // command's reason is also shown below the list.
    let why = commands
        .get(chosen)
        .and_then(|command| command.enabled.as_ref().err());
    let why = why.map(|why| {
        let says = format!("unavailable: {why}");
        let says = text::truncate_to_width(&says, canvas.text_room(HELP_WIDTH));
        Line::styled(says, DOUBT)
    });
    let list = ChoiceList {
        title: "Help",
        width: HELP_WIDTH,
        above: vec![input_line("/ ", filter.text(), "type to filter")],
        count: commands.len(),
        chosen,
        below: why.into_iter().collect(),
    };
    let mut group = None;
    list.draw(canvas, &[8, 19, 10].map(Column::new_cuttable), |at| {
        let command = commands.get(at)?;
        let is_new = group.replace(command.group) != Some(command.group);
        let heading = if is_new { command.group.as_str() } else { "" };
        let (says, style) = match &command.enabled {
            Ok(()) => (command.label.to_owned(), PLAIN),
            Err(why) => (format!("{}  ({why})", command.label), DIM),
        };
        let (mark, _) = selection_mark(at == chosen);
        let keys = format!("{mark} {}", key_press::format_key_names(command.keys));
        Some(vec![
            (text::pad_or_truncate(heading, 8), DIM),
            (text::pad_or_truncate(&keys, 19), ACCENT),
            (says, bold_if(at == chosen, style)),
        ])
    });
}

pub(super) fn draw_targets(
    model: &Model,
    filter: &TextField,
    chosen: usize,
    canvas: &mut Canvas<'_>,
) {
    let Some(report) = model.data.report.as_deref() else {
        return;
    };
    let found: Vec<_> = command::filter_targets(model, filter).collect();
    let none = Line::styled("No target matches.", DOUBT);
    let list = ChoiceList {
        title: "Targets, worst first",
        width: WIDTH,
        above: vec![input_line("/ ", filter.text(), "type to filter")],
        count: found.len(),
        chosen,
        below: found.is_empty().then_some(none).into_iter().collect(),
    };
    list.draw(canvas, &target_row::COLUMNS, |at| {
        let (_, target) = found.get(at)?;
        Some(target_row::target_cells(report, target, at == chosen))
    });
}

pub(super) fn draw_references(list: &ReferenceList, canvas: &mut Canvas<'_>) {
    let matching = list.matching_choices();
    let (title, asks) = match list.of {
        ComparisonReference::SavedReport => ("Saved reports, newest first", "type to filter"),
        ComparisonReference::Upgrade => ("Upgrade to", "type to filter, or type a kernel version"),
    };
    let why = list.chosen_reference_name().err();
    let drawn = ChoiceList {
        title,
        width: WIDTH,
        above: vec![input_line("/ ", list.filter.text(), asks)],
        count: matching.len(),
        chosen: list.chosen,
        below: why
            .map(|why| Line::styled(why, DOUBT))
            .into_iter()
            .collect(),
    };
    drawn.draw(canvas, &[1, 16, 10].map(Column::new_cuttable), |at| {
        let choice = matching.get(at)?;
        Some(vec![
            selection_mark(at == list.chosen),
            (choice.label.clone(), PLAIN),
            (choice.text.clone(), DIM),
        ])
    });
}

pub(super) fn draw_what_if_picker(picker: &AssumptionPicker, canvas: &mut Canvas<'_>) {
    let entries = picker.matching_entries();
    let room = canvas.text_room(WIDTH);
    let (title, sign, asks, mut above) = match &picker.fact {
        None => (
            "What if: choose a fact".to_owned(),
            "/ ",
            "type to find a fact of this target",
            Vec::new(),
        ),
        Some(of) => {
            let action = if of.actual.is_known() {
                "What if"
            } else {
                "Enter a value"
            };
            let title = format!("{action}: {} of {}", of.key.name, of.subject);
            (title, "= ", "type a value", picked_fact_lines(of, room))
        }
    };
    above.push(input_line(sign, picker.input.text(), asks));
    let (says, style) = picker_hint(picker, entries.is_empty());
    let mut below = text::wrapped_lines(&says, style, room);
    below.truncate(3);
    let list = ChoiceList {
        title: &title,
        width: WIDTH,
        above,
        count: entries.len(),
        chosen: picker.chosen,
        below,
    };
    let facts = [12, 1, 20, 8, 10].map(Column::new_cuttable);
    let values = [1, 10].map(Column::new_cuttable);
    let is_facts = matches!(entries.first(), Some(PickerEntry::Fact(_)));
    let mut group = "";
    list.draw(canvas, if is_facts { &facts } else { &values }, |at| {
        let is_chosen = at == picker.chosen;
        let name = |name: &str| (name.to_owned(), bold_if(is_chosen, PLAIN));
        let mark = selection_mark(is_chosen);
        Some(match entries.get(at)? {
            PickerEntry::Fact(choice) => {
                let is_new = choice.group != group;
                group = choice.group;
                let heading = if is_new { group } else { "" };
                let now = match &choice.assumed_value {
                    Some(supposed) => (format!("assumed {supposed}"), DOUBT),
                    None => (choice.actual_value_text(), DIM),
                };
                let of = (labels::subject_label(&choice.subject), PLAIN);
                let heading = (heading.to_owned(), DIM);
                vec![heading, mark, name(choice.key.name), of, now]
            }
            PickerEntry::Value(word) => vec![mark, name(word)],
            PickerEntry::ActualValue => vec![mark, name("the real value")],
        })
    });
}

fn picked_fact_lines(choice: &SelectableFact, room: usize) -> Vec<Line<'static>> {
    let mut lines = text::wrapped_lines(choice.key.doc.trim(), DIM, room);
    let now = format!("now      {}", choice.actual_value_text());
    lines.push(Line::raw(text::truncate_to_width(&now, room)));
    if let Some(supposed) = &choice.assumed_value {
        let line = text::truncate_to_width(&format!("assumed  {supposed}"), room);
        lines.push(Line::styled(line, DOUBT));
    }
    lines
}

fn picker_hint(picker: &AssumptionPicker, is_without_entries: bool) -> (String, Style) {
    let mistake = picker.mistake.clone();
    if let Some(mistake) = mistake.or_else(|| picker.equals_sign_error()) {
        return (mistake, DOUBT);
    }
    match &picker.fact {
        Some(of) if is_without_entries => {
            let now = if of.actual.is_known() {
                "; press Tab to fill in the current value"
            } else {
                ""
            };
            let kind = of.key.kind.value_kind_description();
            (format!("{} is {kind}{now}", of.key.name), DIM)
        }
        None if is_without_entries => ("no fact of this target matches".to_owned(), DOUBT),
        _ => (
            "Assumptions never affect plans or exports, and never unlock settings that can lose data."
                .to_owned(),
            DIM,
        ),
    }
}
