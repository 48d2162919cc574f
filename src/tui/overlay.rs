pub mod overlay_widgets {

    use std::ops::Range;

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;
    use ratatui::text::{Line, Span};
    use ratatui::widgets::{Block, Clear, Widget};

    use crate::tui::click_map::ClickMap;
    use crate::tui::theme::{TextRole, Theme};
    use crate::tui::widgets::{area, text};

    pub const WIDTH: u16 = 76;

    pub fn draw_key_row(
        theme: Theme,
        choices: &[(&str, &str)],
        row: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let mut rest = row;
        for (key, label) in choices {
            let said = format!(" {label}");
            let wide = text::width(key).saturating_add(text::width(&said));
            let (place, after) = area::split_left(rest, area::saturating_columns(wide));
            let key_style = theme.role_style(TextRole::Accent);
            Line::from(vec![Span::styled(*key, key_style), Span::raw(said)]).render(place, buffer);
            hits.add_key_area(place, key);
            (_, rest) = area::split_left(after, 4);
        }
    }

    /// If the screen is too short, the text is cut but the keys stay.
    pub fn draw_dialog(
        theme: Theme,
        (title, mut lines): (&str, Vec<Line<'static>>),
        choices: &[(&str, &str)],
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let height = u16::try_from(lines.len())
            .unwrap_or(u16::MAX)
            .saturating_add(4)
            .min(area.height);
        let inner = draw_overlay_frame(theme, title, WIDTH.min(area.width), height, area, buffer);
        lines.truncate(usize::from(inner.height.saturating_sub(2)));
        let below = lines.len().saturating_add(1);
        for (line, row) in lines.into_iter().zip(inner.rows()) {
            line.render(row, buffer);
        }
        if let Some(row) = inner.rows().nth(below) {
            draw_key_row(theme, choices, row, hits, buffer);
        }
    }

    const BORDER_ROWS: usize = 2;
    /// Rows of an overlay that are not entries: borders, input line, and hints.
    const OTHER_ROWS: u16 = 5;

    /// Entries per page, for a screen body of `body` rows.
    pub fn entries_per_page(body: u16) -> usize {
        usize::from(body.saturating_sub(OTHER_ROWS)).max(1)
    }

    pub struct ChoiceList<'a> {
        pub title: &'a str,
        pub width: u16,
        pub above: Vec<Line<'static>>,
        pub count: usize,
        pub chosen: usize,
        /// Lines after the entries. If empty, the number of hidden entries is shown instead.
        pub below: Vec<Line<'static>>,
    }

    impl ChoiceList<'_> {
        /// Draws as many entries as fit, always including the chosen one. Returns the index and
        /// area of each drawn entry.
        pub fn draw_list(
            self,
            theme: Theme,
            whole: Rect,
            buffer: &mut Buffer,
            entries: impl FnOnce(Range<usize>, usize) -> Vec<Line<'static>>,
        ) -> Vec<(usize, Rect)> {
            let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
            let said = self.below.len().max(1);
            let wanted = rows(self.above.len() + self.count + said + BORDER_ROWS);
            let width = self.width.min(whole.width);
            let room = usize::from(width).saturating_sub(4);
            let title = text::truncate_to_width(self.title, room);
            let inner = draw_overlay_frame(
                theme,
                &title,
                width,
                wanted.min(whole.height),
                whole,
                buffer,
            );
            let (last, rest) = area::split_bottom(inner, rows(said));
            let (first, rest) = area::split_top(rest, rows(self.above.len()));
            let skipped = self
                .chosen
                .saturating_add(1)
                .saturating_sub(usize::from(rest.height));
            let shown = skipped
                ..self
                    .count
                    .min(skipped.saturating_add(usize::from(rest.height)));
            let mut below = self.below;
            if below.is_empty() && shown.end < self.count {
                let says = format!("↓ {} more", self.count.saturating_sub(shown.end));
                below.push(Line::styled(says, theme.role_style(TextRole::Doubt)));
            }
            let places: Vec<(usize, Rect)> = shown.clone().zip(rest.rows()).collect();
            let lines = self
                .above
                .into_iter()
                .zip(first.rows())
                .chain(below.into_iter().zip(last.rows()));
            let entries = entries(shown, room).into_iter().zip(rest.rows());
            lines
                .chain(entries)
                .for_each(|(line, row)| line.render(row, buffer));
            if let Some((_, row)) = places.iter().find(|(at, _)| *at == self.chosen) {
                buffer.set_style(*row, Theme::selection_style());
            }
            places
        }
    }

    /// `asks` is the placeholder while the input is empty.
    pub fn input_line(theme: Theme, mark: &'static str, typed: &str, asks: &str) -> Line<'static> {
        let (shown, role) = match typed {
            "" => (asks.to_owned(), TextRole::Dim),
            typed => (format!("{typed}_"), TextRole::Plain),
        };
        Line::from(vec![
            Span::styled(mark, theme.role_style(TextRole::Accent)),
            Span::styled(shown, theme.role_style(role)),
        ])
    }

    /// The frame is centred; the result is the area inside its border.
    pub fn draw_overlay_frame(
        theme: Theme,
        title: &str,
        width: u16,
        height: u16,
        whole: Rect,
        buffer: &mut Buffer,
    ) -> Rect {
        let pane = area::centred_area(whole, width, height);
        Clear.render(pane, buffer);
        let block = Block::bordered()
            .border_style(theme.role_style(TextRole::Dim))
            .title(Line::styled(
                format!(" {title} "),
                theme.role_style(TextRole::Heading),
            ));
        let inner = block.inner(pane);
        block.render(pane, buffer);
        let content = area::inset_sides(inner, 1);
        buffer.set_style(content, Style::default());
        content
    }
}
mod confirmation {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::Line;

    use super::overlay_widgets::{WIDTH, draw_dialog};
    use crate::tui::click_map::ClickMap;
    use crate::tui::model::Model;
    use crate::tui::screen_data::ConfirmationRequest;
    use crate::tui::theme::TextRole;
    use crate::tui::widgets::text;

    pub fn draw_confirmation(
        model: &Model,
        asked: &ConfirmationRequest,
        plan: &Result<Vec<String>, String>,
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let theme = model.data.theme;
        let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
        let mut lines: Vec<Line<'static>> = Vec::new();
        let question: &[(&str, &str)] = match plan {
            Ok(says) => {
                lines.extend(
                    says.iter()
                        .flat_map(|line| text::wrap(line, room))
                        .map(Line::from),
                );
                match asked {
                    ConfirmationRequest::Probe(_) => &[("y", "start"), ("n", "no")],
                    ConfirmationRequest::SaveReport => &[("y", "save"), ("n", "no")],
                }
            }
            Err(why) => {
                lines.extend(
                    text::wrap(why, room)
                        .into_iter()
                        .map(|line| Line::styled(line, theme.role_style(TextRole::Doubt))),
                );
                &[("esc", "close")]
            }
        };
        let title = match (asked, plan) {
            (ConfirmationRequest::Probe(target), Ok(_)) => format!("Probe of {}", target.name()),
            (ConfirmationRequest::Probe(target), Err(_)) => {
                format!("{} cannot be probed", target.name())
            }
            (ConfirmationRequest::SaveReport, Ok(_)) => "Save this report".to_owned(),
            (ConfirmationRequest::SaveReport, Err(_)) => "The report cannot be saved".to_owned(),
        };
        draw_dialog(
            theme,
            (&text::truncate_to_width(&title, room), lines),
            question,
            area,
            hits,
            buffer,
        );
    }
}
mod filesystem_choice_list {

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Modifier;
    use ratatui::text::Line;

    use super::overlay_widgets::{ChoiceList, WIDTH};
    use crate::report::FilesystemChoice;
    use crate::tui::model::Model;
    use crate::tui::target_row::selection_mark;
    use crate::tui::theme::{TextRole, Theme};
    use crate::tui::widgets::columns::{self, Column, StyledText};
    use crate::tui::widgets::text;

    pub fn draw_filesystem_choice_list(
        model: &Model,
        chosen: usize,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let theme = model.data.theme;
        let choices = model.data.filesystem_choices();
        let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
        let (says, role) = choices.get(chosen).map_or(
            (String::new(), TextRole::Dim),
            filesystem_choice_explanation,
        );
        let says = text::wrap(&says, room)
            .into_iter()
            .map(|line| Line::styled(line, theme.role_style(role)));
        let list = ChoiceList {
            title: &format!("File system for {}", model.data.focus.title),
            width: WIDTH,
            above: Vec::new(),
            count: choices.len(),
            chosen,
            below: [Line::default()].into_iter().chain(says).collect(),
        };
        let rows: Vec<Vec<StyledText>> = choices
            .iter()
            .enumerate()
            .map(|(at, choice)| filesystem_choice_cells(choice, at == chosen, theme))
            .collect();
        list.draw_list(theme, area, buffer, |shown, room| {
            let lines = columns::align_rows(
                &rows,
                &[
                    Column::new_cuttable(1),
                    Column::new_cuttable(6),
                    Column::new_cuttable(10),
                ],
                room,
            );
            lines
                .into_iter()
                .skip(shown.start)
                .take(shown.len())
                .collect()
        });
    }

    fn filesystem_choice_cells(
        choice: &FilesystemChoice,
        is_chosen: bool,
        theme: Theme,
    ) -> Vec<StyledText> {
        let name = theme.role_style(if choice.refused.is_none() {
            TextRole::Plain
        } else {
            TextRole::Dim
        });
        let name = if is_chosen {
            name.add_modifier(Modifier::BOLD)
        } else {
            name
        };
        let place = match (choice.first, choice.wanted) {
            (true, true) => "first choice, selected",
            (true, false) => "first choice",
            (false, true) => "selected",
            (false, false) => "",
        };
        let refused = if choice.refused.is_some() {
            "not possible here"
        } else {
            ""
        };
        let says = [place, refused]
            .into_iter()
            .filter(|says| !says.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        vec![
            selection_mark(theme, is_chosen),
            (choice.filesystem.to_string(), name),
            (says, theme.role_style(TextRole::Dim)),
        ]
    }

    fn filesystem_choice_explanation(choice: &FilesystemChoice) -> (String, TextRole) {
        if let Some(why) = &choice.refused {
            return (why.clone(), TextRole::Doubt);
        }
        let title = choice.title.as_ref().map(|title| format!("{title}."));
        let price = choice
            .tradeoff
            .as_ref()
            .map(|price| format!("Trade-off: {price}"));
        (
            title.into_iter().chain(price).collect::<Vec<_>>().join(" "),
            TextRole::Dim,
        )
    }
}
mod help {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Modifier;
    use ratatui::text::{Line, Span};

    use super::overlay_widgets::{ChoiceList, input_line};
    use crate::tui::click_map::{ClickMap, ClickTarget};
    use crate::tui::command::{self, KeyCommand};
    use crate::tui::key_press;
    use crate::tui::model::Model;
    use crate::tui::theme::TextRole;
    use crate::tui::widgets::text;

    const WIDTH: u16 = 100;

    pub fn draw_help(
        model: &Model,
        filter: &str,
        chosen: usize,
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let theme = model.data.theme;
        let commands = command::matching_help_commands(model, filter);
        // A row may be too short for the reason why its command is unavailable, so the chosen
        // command's reason is also shown below the list.
        let why = commands
            .get(chosen)
            .and_then(|command| command.enabled.as_ref().err());
        let list = ChoiceList {
            title: "Help",
            width: WIDTH,
            above: vec![input_line(theme, "/ ", filter, "type to filter")],
            count: commands.len(),
            chosen,
            below: why
                .map(|why| {
                    let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
                    let says = text::truncate_to_width(&format!("unavailable: {why}"), room);
                    Line::styled(says, theme.role_style(TextRole::Doubt))
                })
                .into_iter()
                .collect(),
        };
        let places = list.draw_list(theme, area, buffer, |shown, room| {
            let mut group = None;
            let shown = commands
                .iter()
                .enumerate()
                .skip(shown.start)
                .take(shown.len());
            let line = |(at, command): (usize, &KeyCommand)| {
                let heading = if group == Some(command.group) {
                    ""
                } else {
                    command.group.as_str()
                };
                group = Some(command.group);
                help_entry_line(model, command, heading, at == chosen, room)
            };
            shown.map(line).collect()
        });
        for (at, row) in places {
            hits.add_area(row, ClickTarget::Entry(at));
        }
    }

    fn help_entry_line(
        model: &Model,
        command: &KeyCommand,
        heading: &str,
        chosen: bool,
        room: usize,
    ) -> Line<'static> {
        let theme = model.data.theme;
        let keys_room = 18;
        let said_room = room.saturating_sub(keys_room).saturating_sub(12);
        let (said, role) = match &command.enabled {
            Ok(()) => (command.label.to_owned(), TextRole::Plain),
            Err(why) => (format!("{}  ({why})", command.label), TextRole::Dim),
        };
        let mut said_style = theme.role_style(role);
        if chosen {
            said_style = said_style.add_modifier(Modifier::BOLD);
        }
        Line::from(vec![
            Span::styled(
                text::pad_or_truncate(heading, 10),
                theme.role_style(TextRole::Dim),
            ),
            Span::styled(
                if chosen { "▸ " } else { "  " },
                theme.role_style(TextRole::Accent),
            ),
            Span::styled(
                text::pad_or_truncate(&key_press::format_key_names(command.keys), keys_room),
                theme.role_style(TextRole::Accent),
            ),
            Span::styled(text::truncate_to_width(&said, said_room), said_style),
        ])
    }
}
mod save_dialog {

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::{Line, Span};

    use super::overlay_widgets::{WIDTH, draw_dialog};
    use crate::tui::click_map::ClickMap;
    use crate::tui::export_state::{SaveForm, SaveFormStage};
    use crate::tui::model::Model;
    use crate::tui::theme::TextRole;
    use crate::tui::widgets::text;

    const INDENT: usize = 6;

    pub fn draw_save_dialog(
        model: &Model,
        form: &SaveForm,
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let theme = model.data.theme;
        let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
        let name = match form.stage {
            SaveFormStage::Naming(_) => form.name.render_line(room.saturating_sub(INDENT)),
            SaveFormStage::Saving | SaveFormStage::Exists(_) => Line::raw(text::truncate_start(
                form.name.text(),
                room.saturating_sub(INDENT),
            )),
        };
        let mut named = vec![Span::styled(
            text::pad_or_truncate("File", INDENT),
            theme.role_style(TextRole::Dim),
        )];
        named.extend(name.spans);
        let mut lines = vec![Line::from(named), Line::default()];
        let (says, role) = match &form.stage {
            SaveFormStage::Naming(None) => (
                "A name without a path is saved in the directory where walwise was started.",
                TextRole::Dim,
            ),
            SaveFormStage::Naming(Some(why)) => (why.as_str(), TextRole::Doubt),
            SaveFormStage::Saving => ("saving …", TextRole::Dim),
            SaveFormStage::Exists(_) => ("", TextRole::Plain),
        };
        let exists = match &form.stage {
            SaveFormStage::Exists(path) => format!("{path} exists. Replace it?"),
            _ => says.to_owned(),
        };
        lines.extend(
            text::wrap(&exists, room)
                .into_iter()
                .map(|line| Line::styled(line, theme.role_style(role))),
        );
        let choices: &[(&str, &str)] = match form.stage {
            SaveFormStage::Naming(_) => &[("enter", "save"), ("esc", "cancel")],
            SaveFormStage::Saving => &[("esc", "do not wait")],
            SaveFormStage::Exists(_) => &[
                ("y", "replace it"),
                ("n", "another name"),
                ("esc", "do not save"),
            ],
        };
        let title = format!("Save as {}", form.format.as_str());
        draw_dialog(theme, (&title, lines), choices, area, hits, buffer);
    }
}
mod target_choice_list {

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::Line;

    use super::overlay_widgets::{ChoiceList, WIDTH, input_line};
    use crate::report::TargetSummary;
    use crate::tui::click_map::{ClickMap, ClickTarget};
    use crate::tui::command;
    use crate::tui::model::Model;
    use crate::tui::target_row;
    use crate::tui::theme::TextRole;
    use crate::tui::widgets::columns;

    pub fn draw_target_choice_list(
        model: &Model,
        filter: &str,
        chosen: usize,
        area: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) {
        let theme = model.data.theme;
        let Some(report) = model.data.report.as_deref() else {
            return;
        };
        let found: Vec<(usize, &TargetSummary)> = command::filter_targets(model, filter).collect();
        let none = Line::styled("No target matches.", theme.role_style(TextRole::Doubt));
        let list = ChoiceList {
            title: "Targets, worst first",
            width: WIDTH,
            above: vec![input_line(theme, "/ ", filter, "type to filter")],
            count: found.len(),
            chosen,
            below: if found.is_empty() {
                vec![none]
            } else {
                Vec::new()
            },
        };
        let cells = |at: usize| {
            let (_, target) = found.get(at)?;
            Some(target_row::target_cells(
                report,
                target,
                at == chosen,
                theme,
            ))
        };
        let places = list.draw_list(theme, area, buffer, |shown, room| {
            columns::align_rows(
                &shown.filter_map(cells).collect::<Vec<_>>(),
                &target_row::COLUMNS,
                room,
            )
        });
        for (at, place) in places {
            if let Some((target, _)) = found.get(at) {
                hits.add_area(place, ClickTarget::Target(*target));
            }
        }
    }
}
mod reference_list;
mod what_if_picker {

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Modifier;
    use ratatui::text::Line;

    use super::overlay_widgets::{ChoiceList, WIDTH, input_line};
    use crate::tui::labels;
    use crate::tui::model::Model;
    use crate::tui::target_row::selection_mark;
    use crate::tui::theme::{TextRole, Theme};
    use crate::tui::what_if::{AssumptionPicker, PickerEntry, SelectableFact};
    use crate::tui::widgets::columns::{self, Column, StyledText};
    use crate::tui::widgets::text;

    pub fn draw_what_if_picker(
        model: &Model,
        picker: &AssumptionPicker,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let theme = model.data.theme;
        let entries = picker.matching_entries();
        let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
        let mut above = picker
            .fact
            .as_deref()
            .map(|choice| picked_fact_lines(choice, theme, room))
            .unwrap_or_default();
        let (sign, asks) = match &picker.fact {
            None => ("/ ", "type to find a fact of this target"),
            Some(_) => ("= ", "type a value"),
        };
        above.push(input_line(theme, sign, picker.input.text(), asks));
        let title = match &picker.fact {
            None => "What if: which fact?".to_owned(),
            Some(of) if of.actual.is_known() => {
                format!("What if: {} of {}", of.key.name, of.subject)
            }
            Some(of) => format!("Enter value: {} of {}", of.key.name, of.subject),
        };
        let below = picker_hint_lines(picker, entries.len(), theme, room);
        let choices = ChoiceList {
            title: &title,
            width: WIDTH,
            above,
            count: entries.len(),
            chosen: picker.chosen,
            below,
        };
        choices.draw_list(theme, area, buffer, |shown, room| {
            let shown: Vec<(usize, &PickerEntry<'_>)> = entries
                .iter()
                .enumerate()
                .skip(shown.start)
                .take(shown.len())
                .collect();
            picker_entry_lines(&shown, picker.chosen, theme, room)
        });
    }

    fn picked_fact_lines(choice: &SelectableFact, theme: Theme, room: usize) -> Vec<Line<'static>> {
        let dim = theme.role_style(TextRole::Dim);
        let doc = text::wrap(choice.key.doc.trim(), room).into_iter();
        let mut lines: Vec<Line<'static>> = doc.map(|line| Line::styled(line, dim)).collect();
        lines.push(Line::raw(text::truncate_to_width(
            &format!("now      {}", choice.actual_value_text()),
            room,
        )));
        if let Some(supposed) = &choice.assumed_value {
            let line = text::truncate_to_width(&format!("assumed  {supposed}"), room);
            lines.push(Line::styled(line, theme.role_style(TextRole::Doubt)));
        }
        lines
    }

    fn picker_hint_lines(
        picker: &AssumptionPicker,
        entries: usize,
        theme: Theme,
        room: usize,
    ) -> Vec<Line<'static>> {
        let mistake = picker
            .mistake
            .clone()
            .or_else(|| picker.equals_sign_error());
        let (says, role) = match (&mistake, &picker.fact) {
            (Some(mistake), _) => (mistake.clone(), TextRole::Doubt),
            (None, Some(of)) if entries == 0 => {
                let now = if of.actual.is_known() {
                    "; Tab fills in the current value"
                } else {
                    ""
                };
                (
                    format!(
                        "{} is {}{now}",
                        of.key.name,
                        of.key.kind.value_kind_description()
                    ),
                    TextRole::Dim,
                )
            }
            (None, _) if entries == 0 => {
                ("no fact of this target matches".to_owned(), TextRole::Doubt)
            }
            (None, _) => {
                let says = "Assumptions never affect plans or exports, and never unlock settings that can lose data.";
                (says.to_owned(), TextRole::Dim)
            }
        };
        text::wrap(&says, room)
            .into_iter()
            .take(3)
            .map(|line| Line::styled(line, theme.role_style(role)))
            .collect()
    }

    fn picker_entry_lines(
        shown: &[(usize, &PickerEntry<'_>)],
        chosen: usize,
        theme: Theme,
        room: usize,
    ) -> Vec<Line<'static>> {
        let mut group = "";
        let mut rows: Vec<Vec<StyledText>> = Vec::new();
        for (at, entry) in shown {
            let is_chosen = *at == chosen;
            let plain = theme.role_style(TextRole::Plain);
            let name = if is_chosen {
                plain.add_modifier(Modifier::BOLD)
            } else {
                plain
            };
            let mark = selection_mark(theme, is_chosen);
            let dim = theme.role_style(TextRole::Dim);
            rows.push(match entry {
                PickerEntry::Fact(choice) => {
                    let heading = if choice.group == group {
                        ""
                    } else {
                        choice.group
                    };
                    group = choice.group;
                    let now = match &choice.assumed_value {
                        Some(supposed) => (
                            format!("assumed {supposed}"),
                            theme.role_style(TextRole::Doubt),
                        ),
                        None => (choice.actual_value_text(), dim),
                    };
                    let of = (labels::subject_label(&choice.subject), plain);
                    vec![
                        (heading.to_owned(), dim),
                        mark,
                        (choice.key.name.to_owned(), name),
                        of,
                        now,
                    ]
                }
                PickerEntry::Value(word) => vec![mark, ((*word).to_owned(), name)],
                PickerEntry::ActualValue => vec![mark, ("the real value".to_owned(), name)],
            });
        }
        let facts = [
            Column::new_cuttable(12),
            Column::new_cuttable(1),
            Column::new_cuttable(20),
            Column::new_cuttable(8),
            Column::new_cuttable(10),
        ];
        let values = [Column::new_cuttable(1), Column::new_cuttable(10)];
        let is_facts = matches!(shown.first(), Some((_, PickerEntry::Fact(_))));
        columns::align_rows(&rows, if is_facts { &facts } else { &values }, room)
    }
}

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::click_map::ClickMap;
use super::model::{Model, Overlay};

pub fn draw_open_overlay(model: &Model, area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help { filter, chosen }) => {
            help::draw_help(model, filter.text(), *chosen, area, hits, buffer);
        }
        Some(Overlay::Confirm { question, plan }) => {
            confirmation::draw_confirmation(model, question, plan, area, hits, buffer);
        }
        Some(Overlay::References(list)) => {
            reference_list::draw_reference_list(model, list, area, hits, buffer);
        }
        Some(Overlay::WhatIf(picker)) => {
            what_if_picker::draw_what_if_picker(model, picker, area, buffer);
        }
        Some(Overlay::Filesystem { chosen }) => {
            filesystem_choice_list::draw_filesystem_choice_list(model, *chosen, area, buffer);
        }
        Some(Overlay::Save(form)) => save_dialog::draw_save_dialog(model, form, area, hits, buffer),
        Some(Overlay::Targets { filter, chosen }) => {
            target_choice_list::draw_target_choice_list(
                model,
                filter.text(),
                *chosen,
                area,
                hits,
                buffer,
            );
        }
    }
}
