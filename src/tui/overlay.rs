//! Questions, forms and lists over the screens.

mod lists;

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::click_map::{ClickMap, ClickTarget};
use super::export_state::{SaveForm, SaveFormStage};
use super::model::{Model, Overlay};
use super::screen_data::ConfirmationRequest;
use super::theme::{ACCENT, BOLD, DIM, DOUBT, PLAIN, SELECTED};
use super::widgets::{area, text};

const WIDTH: u16 = 76;
const BORDER_ROWS: usize = 2;
/// Rows of an overlay that are not entries: borders, input line, and hints.
const OTHER_ROWS: u16 = 5;

struct Canvas<'a> {
    area: Rect,
    hits: &'a mut ClickMap,
    buffer: &'a mut Buffer,
}

impl Canvas<'_> {
    /// Columns for the text of an overlay of this width.
    fn text_room(&self, width: u16) -> usize {
        usize::from(width.min(self.area.width).saturating_sub(4))
    }
}

pub fn draw_open_overlay(model: &Model, area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    let canvas = &mut Canvas { area, hits, buffer };
    match &model.overlay {
        None => {}
        Some(Overlay::Confirm { question, plan }) => {
            draw_confirmation(question, plan, canvas);
        }
        Some(Overlay::Save(form)) => draw_save_dialog(form, canvas),
        Some(Overlay::Help { filter, chosen }) => {
            lists::draw_help(model, filter, *chosen, canvas);
        }
        Some(Overlay::References(list)) => lists::draw_references(list, canvas),
        Some(Overlay::WhatIf(picker)) => lists::draw_what_if_picker(picker, canvas),
        Some(Overlay::Filesystem { chosen }) => {
            lists::draw_filesystems(model, *chosen, canvas);
        }
        Some(Overlay::Targets { filter, chosen }) => {
            lists::draw_targets(model, filter, *chosen, canvas);
        }
    }
}

/// Entries per page, for a screen body of `body` rows.
pub fn entries_per_page(body: u16) -> usize {
    usize::from(body.saturating_sub(OTHER_ROWS)).max(1)
}

fn draw_confirmation(
    asked: &ConfirmationRequest,
    plan: &Result<Vec<String>, String>,
    canvas: &mut Canvas<'_>,
) {
    let room = canvas.text_room(WIDTH);
    let (title, yes) = match (asked, plan) {
        (ConfirmationRequest::Probe(target), Ok(_)) => {
            (format!("Probe of {}", target.name()), "start")
        }
        (ConfirmationRequest::Probe(target), Err(_)) => {
            (format!("{} cannot be probed", target.name()), "")
        }
        (ConfirmationRequest::SaveReport, Ok(_)) => ("Save this report".to_owned(), "save"),
        (ConfirmationRequest::SaveReport, Err(_)) => ("The report cannot be saved".to_owned(), ""),
    };
    let (lines, choices): (_, &[(&str, &str)]) = match plan {
        Ok(says) => {
            let rows = says.iter().flat_map(|line| text::wrap(line, room));
            (rows.map(Line::from).collect(), &[("y", yes), ("n", "no")])
        }
        Err(why) => (text::wrapped_lines(why, DOUBT, room), &[("esc", "close")]),
    };
    let title = text::truncate_to_width(&title, room);
    draw_dialog((&title, lines), choices, canvas);
}

fn draw_save_dialog(form: &SaveForm, canvas: &mut Canvas<'_>) {
    const INDENT: usize = 6;
    let room = canvas.text_room(WIDTH);
    let name_room = room.saturating_sub(INDENT);
    let name = match form.stage {
        SaveFormStage::Naming(_) => form.name.render_line(name_room),
        SaveFormStage::Saving | SaveFormStage::Exists(_) => {
            Line::raw(text::truncate_start(form.name.text(), name_room))
        }
    };
    let mut named = vec![Span::styled(text::pad_or_truncate("File", INDENT), DIM)];
    named.extend(name.spans);
    let exists;
    let (says, style, choices): (_, _, &[(&str, &str)]) = match &form.stage {
        SaveFormStage::Naming(mistake) => {
            let hint = "A file name without a directory is saved in the directory in which walwise was started.";
            let (says, style) = mistake.as_deref().map_or((hint, DIM), |why| (why, DOUBT));
            (says, style, &[("enter", "save"), ("esc", "cancel")])
        }
        SaveFormStage::Saving => ("saving …", DIM, &[("esc", "do not wait")]),
        SaveFormStage::Exists(path) => {
            exists = format!("{path} exists. Replace it?");
            let choices = &[
                ("y", "replace it"),
                ("n", "save under another name"),
                ("esc", "do not save"),
            ];
            (exists.as_str(), PLAIN, choices)
        }
    };
    let mut lines = vec![Line::from(named), Line::default()];
    lines.extend(text::wrapped_lines(says, style, room));
    let title = format!("Save as {}", form.format.as_str());
    draw_dialog((&title, lines), choices, canvas);
}

/// If the screen is too short, the text is cut but the keys stay.
fn draw_dialog(
    (title, mut lines): (&str, Vec<Line<'static>>),
    choices: &[(&str, &str)],
    canvas: &mut Canvas<'_>,
) {
    let inner = draw_overlay_frame(title, WIDTH, lines.len() + 4, canvas);
    lines.truncate(usize::from(inner.height.saturating_sub(2)));
    let below = lines.len() + 1;
    for (line, row) in lines.into_iter().zip(inner.rows()) {
        line.render(row, canvas.buffer);
    }
    let mut rest = inner.rows().nth(below).unwrap_or_default();
    for (key, label) in choices {
        let line = Line::from(vec![
            Span::styled(*key, ACCENT),
            Span::raw(format!(" {label}")),
        ]);
        let (place, after) = area::split_left(rest, area::saturating_columns(line.width()));
        line.render(place, canvas.buffer);
        canvas.hits.add_key_area(place, key);
        (_, rest) = area::split_left(after, 4);
    }
}

struct ChoiceList<'a> {
    title: &'a str,
    width: u16,
    above: Vec<Line<'static>>,
    count: usize,
    chosen: usize,
    /// Lines after the entries. If empty, the number of hidden entries is shown instead.
    below: Vec<Line<'static>>,
}

impl ChoiceList<'_> {
    /// Draws as many entries as fit, always including the chosen one. `entries` returns the lines
    /// of a range of entries, for a number of columns.
    fn draw(
        self,
        canvas: &mut Canvas<'_>,
        entries: impl FnOnce(Range<usize>, usize) -> Vec<Line<'static>>,
    ) {
        let said = self.below.len().max(1);
        let wanted = self.above.len() + self.count + said + BORDER_ROWS;
        let room = canvas.text_room(self.width);
        let title = text::truncate_to_width(self.title, room);
        let inner = draw_overlay_frame(&title, self.width, wanted, canvas);
        let (last, rest) = area::split_bottom(inner, area::saturating_columns(said));
        let (first, rest) = area::split_top(rest, area::saturating_columns(self.above.len()));
        let height = usize::from(rest.height);
        let skipped = (self.chosen + 1).saturating_sub(height);
        let shown = skipped..self.count.min(skipped + height);
        let mut below = self.below;
        if below.is_empty() && shown.end < self.count {
            let says = format!("↓ {} more", self.count - shown.end);
            below.push(Line::styled(says, DOUBT));
        }
        let around = self.above.into_iter().zip(first.rows());
        let around = around.chain(below.into_iter().zip(last.rows()));
        let lines = entries(shown.clone(), room).into_iter().zip(rest.rows());
        around
            .chain(lines)
            .for_each(|(line, row)| line.render(row, canvas.buffer));
        for (at, row) in shown.zip(rest.rows()) {
            canvas.hits.add_area(row, ClickTarget::Entry(at));
            if at == self.chosen {
                canvas.buffer.set_style(row, SELECTED);
            }
        }
    }
}

/// The frame is centred; the result is the area inside its border.
fn draw_overlay_frame(title: &str, width: u16, height: usize, canvas: &mut Canvas<'_>) -> Rect {
    let height = area::saturating_columns(height).min(canvas.area.height);
    let pane = area::centred_area(canvas.area, width.min(canvas.area.width), height);
    Clear.render(pane, canvas.buffer);
    let block = Block::bordered()
        .border_style(DIM)
        .title(Line::styled(format!(" {title} "), BOLD));
    let inner = block.inner(pane);
    block.render(pane, canvas.buffer);
    let content = area::inset_sides(inner, 1);
    canvas.buffer.set_style(content, Style::default());
    content
}
