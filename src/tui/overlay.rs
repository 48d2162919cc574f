//! Questions, forms and lists over the screens.

mod lists;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::click_map::{ClickMap, ClickTarget, draw_key_hint};
use super::command::{self, KeyCommand};
use super::export_state::{SaveForm, SaveFormStage};
use super::model::{Model, Overlay};
use super::page_view::PageView;
use super::screen_data::ConfirmationRequest;
use super::theme::{BOLD, DIM, DOUBT, PLAIN, SELECTED};
use super::widgets::columns::{Column, StyledText, align_rows};
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

pub fn draw_open_overlay(
    model: &Model,
    view: &PageView,
    area: Rect,
    hits: &mut ClickMap,
    buffer: &mut Buffer,
) {
    let canvas = &mut Canvas { area, hits, buffer };
    let commands = || command::current_commands(model, view);
    match &model.overlay {
        None => {}
        Some(Overlay::Confirm { question, plan }) => {
            draw_confirmation(question, plan, &commands(), canvas);
        }
        Some(Overlay::Save(form)) => draw_save_dialog(form, &commands(), canvas),
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
    commands: &[KeyCommand],
    canvas: &mut Canvas<'_>,
) {
    let room = canvas.text_room(WIDTH);
    let title = match (asked, plan) {
        (ConfirmationRequest::Probe(target), Ok(_)) => format!("Probe of {}", target.name()),
        (ConfirmationRequest::Probe(target), Err(_)) => {
            format!("{} cannot be probed", target.name())
        }
        (ConfirmationRequest::SaveReport, Ok(_)) => "Save this report".to_owned(),
        (ConfirmationRequest::SaveReport, Err(_)) => "The report cannot be saved".to_owned(),
    };
    let lines = match plan {
        Ok(says) => {
            let rows = says.iter().flat_map(|line| text::wrap(line, room));
            rows.map(Line::from).collect()
        }
        Err(why) => text::wrapped_lines(why, DOUBT, room),
    };
    let title = text::truncate_to_width(&title, room);
    draw_dialog((&title, lines), commands, canvas);
}

fn draw_save_dialog(form: &SaveForm, commands: &[KeyCommand], canvas: &mut Canvas<'_>) {
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
    let (says, style) = match &form.stage {
        SaveFormStage::Naming(mistake) => {
            let hint = "A file name without a directory is saved in the directory in which walwise was started.";
            mistake.as_deref().map_or((hint, DIM), |why| (why, DOUBT))
        }
        SaveFormStage::Saving => ("saving …", DIM),
        SaveFormStage::Exists(path) => {
            exists = format!("{path} exists. Replace it?");
            (exists.as_str(), PLAIN)
        }
    };
    let mut lines = vec![Line::from(named), Line::default()];
    lines.extend(text::wrapped_lines(says, style, room));
    let title = format!("Save as {}", form.format.as_str());
    draw_dialog((&title, lines), commands, canvas);
}

/// If the screen is too short, the text is cut but the keys stay.
fn draw_dialog(
    (title, mut lines): (&str, Vec<Line<'static>>),
    commands: &[KeyCommand],
    canvas: &mut Canvas<'_>,
) {
    let inner = draw_overlay_frame(title, WIDTH, lines.len() + 4, canvas);
    lines.truncate(usize::from(inner.height.saturating_sub(2)));
    let below = lines.len() + 1;
    for (line, row) in lines.into_iter().zip(inner.rows()) {
        line.render(row, canvas.buffer);
    }
    let row = inner.rows().nth(below).unwrap_or_default();
    let usable = commands.iter().filter(|command| command.enabled.is_ok());
    let shown = usable.filter(|command| !command.footer.is_empty());
    shown.fold(row, |rest, command| {
        let hint = command.footer_key_and_label();
        draw_key_hint(hint, command.keys, rest, canvas.hits, canvas.buffer)
    });
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
    /// Draws as many entries as fit, always including the chosen one. `cells` returns those of an
    /// entry.
    fn draw(
        self,
        canvas: &mut Canvas<'_>,
        columns: &[Column],
        cells: impl FnMut(usize) -> Option<Vec<StyledText>>,
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
        let entries: Vec<_> = shown.clone().filter_map(cells).collect();
        let entries = align_rows(&entries, columns, room).into_iter();
        around
            .chain(entries.zip(rest.rows()))
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
