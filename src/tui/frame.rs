//! Draws the screen from the model, without any other input.

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::click_map::{ClickMap, draw_key_hint};
use super::command::{self, KeyCommand};
use super::filter::Filter;
use super::model::Model;
use super::overlay;
use super::page_view::PageView;
use super::screen_data::{BackgroundActivity, ConfirmationRequest};
use super::screen_id::ScreenId;
use super::theme::{ACCENT, BOLD, DIM, DOUBT, apply_options};
use super::viewport::{FrameLayout, frame_layout, page_area};
use super::widgets::{area, interval, text};
use crate::report::view::what_if;
use crate::report::{FactAssumption, Report};

/// Smallest supported terminal, in columns and rows.
pub const MIN_SIZE: Size = Size {
    width: 60,
    height: 15,
};

/// Columns of the header reserved for the line about the host; a target's title gets the others.
const MIN_HOST_WIDTH: usize = 24;

pub fn draw(model: &Model, buffer: &mut Buffer) -> ClickMap {
    draw_page_view(model, &model.current_page_view(), buffer)
}

/// `view` is the current one of the model.
pub fn draw_page_view(model: &Model, view: &PageView, buffer: &mut Buffer) -> ClickMap {
    let mut hits = ClickMap::default();
    let area = *buffer.area();
    if area.width < MIN_SIZE.width || area.height < MIN_SIZE.height {
        draw_too_small_notice(area, buffer);
    } else {
        draw_whole_screen(model, view, &mut hits, buffer);
    }
    apply_options(model.data.options, buffer);
    hits
}

fn draw_whole_screen(model: &Model, view: &PageView, hits: &mut ClickMap, buffer: &mut Buffer) {
    let area = *buffer.area();
    let parts = frame_layout(area.as_size());
    draw_header(model, parts.header, hits, buffer);
    draw_tabs(model, parts.tabs, hits, buffer);
    area::draw_horizontal_line(parts.rule, buffer);
    draw_assumption_or_change_banner(model, parts.rule, buffer);
    let state = &view.state;
    let body = page_area(model.size, state.filter.is_some());
    view.draw(body, hits, buffer);
    if let Some(filter) = &state.filter {
        draw_search_row(filter, parts.body, buffer);
    }
    draw_status_row(model, view, &parts, hits, buffer);
    if model.overlay.is_some() || state.is_typing_filter() {
        // Overlays and text fields receive all keys and clicks, so the areas below them are no
        // longer clickable.
        hits.clear_areas();
    }
    draw_footer(model, view, parts.footer, hits, buffer);
    overlay::draw_open_overlay(model, view, parts.body, hits, buffer);
}

fn draw_search_row(filter: &Filter, body: Rect, buffer: &mut Buffer) {
    let (row, _) = area::split_top(body, 1);
    let cursor = if filter.typing { "_" } else { "" };
    let left = Line::from(vec![
        Span::styled(" / ", ACCENT),
        Span::raw(text::truncate_start(
            &format!("{}{cursor}", filter.text.text()),
            usize::from(row.width).saturating_sub(24),
        )),
    ]);
    draw_left_and_right(left, Line::styled("esc: clear ", DIM), row, buffer);
}

fn draw_too_small_notice(area: Rect, buffer: &mut Buffer) {
    let lines = [
        format!(
            "needs {}×{}; this terminal has {}×{}",
            MIN_SIZE.width, MIN_SIZE.height, area.width, area.height
        ),
        "q quits; `walwise check` prints a text report".to_owned(),
    ];
    let top = area.height.saturating_sub(2) / 2;
    for (line, row) in lines.iter().zip(area.rows().skip(usize::from(top))) {
        Line::raw(text::truncate_to_width(line, usize::from(row.width)))
            .centered()
            .render(row, buffer);
    }
}

pub fn draw_left_and_right(left: Line<'_>, right: Line<'_>, place: Rect, buffer: &mut Buffer) {
    let (right_area, rest) = area::split_right(place, area::saturating_columns(right.width()));
    let (_, left_area) = area::split_right(rest, 1);
    left.render(left_area, buffer);
    right.render(right_area, buffer);
}

fn draw_header(model: &Model, area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    let focus = &model.data.focus;
    let mut left = vec![Span::styled(" walwise", BOLD)];
    let mut right = String::new();
    if let Some(report) = &model.data.report {
        let name = format!("   {}", report.host.name);
        let room = usize::from(area.width)
            .saturating_sub(text::width(&name))
            .saturating_sub(13);
        let (which, list) = match focus.place {
            (_, 0 | 1) => (String::new(), ""),
            (at, of) => (format!("{}/{of} ", at + 1), " ▾"),
        };
        let around = text::width(&which) + text::width(list);
        let title_room = room.saturating_sub(MIN_HOST_WIDTH).saturating_sub(around);
        let title = text::truncate_middle(&focus.title, title_room);
        right = format!("{which}{title}{list} ");
        let room = room.saturating_sub(text::width(&right));
        left.push(Span::styled(name, ACCENT));
        left.push(Span::raw(format!("   {}", fitting_host_text(report, room))));
    }
    let (place, _) = area::split_right(area, area::saturating_columns(text::width(&right)));
    hits.add_key_area(place, "t");
    draw_left_and_right(Line::from(left), Line::raw(right), area, buffer);
}

/// Shortens the line about the host to fit. The name of the distribution is shortened, then
/// dropped; the kernel is next, and the rest is cut last.
fn fitting_host_text(report: &Report, room: usize) -> String {
    let host = &report.host;
    let who = match host.privileged {
        Some(true) => "root",
        Some(false) => "not root",
        None => "privileges unknown",
    };
    let source = if host.live { "" } else { " · capture" };
    let os = host.os.split(" (").next().unwrap_or_default();
    let rest = |kernel| format!("Linux {kernel} · {} · {who}{source}", host.seen_by);
    let (full, release) = (
        rest(host.kernel.as_str()),
        host.kernel.split('-').next().unwrap_or_default(),
    );
    let tries = [
        format!("{} · {full}", host.os),
        format!("{os} · {full}"),
        full,
        rest(release),
        format!("{} · {who}{source}", host.seen_by),
    ];
    let [.., shortest] = &tries;
    let fitting = tries.iter().find(|line| text::width(line) <= room);
    text::truncate_to_width(fitting.unwrap_or(shortest), room)
}

fn draw_tabs(model: &Model, area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    let unknown = match model.data.focus.unknown_count {
        0 => String::new(),
        count => format!("{count} unknown "),
    };
    // On a narrow terminal, first the gaps between the tabs shrink, then the names of the screens
    // are left out.
    let fits = |(named, gap): &(bool, u16)| {
        let names = ScreenId::ALL
            .iter()
            .map(|screen| text::width(&tab_label(*screen, model, *named)));
        names.map(|name| name + usize::from(*gap)).sum::<usize>() + text::width(&unknown)
            <= usize::from(area.width)
    };
    let (named, gap) = [(true, 3), (true, 1)]
        .into_iter()
        .find(fits)
        .unwrap_or((false, 1));
    let (_, mut rest) = area::split_left(area, 1);
    for screen in ScreenId::ALL {
        let style = if screen == model.screen {
            ACCENT.add_modifier(ratatui::style::Modifier::UNDERLINED)
        } else {
            DIM
        };
        let tab = Span::styled(tab_label(screen, model, named), style);
        let (place, after) = area::split_left(rest, area::saturating_columns(tab.width()));
        tab.render(place, buffer);
        hits.add_key_area(place, screen.digit_key());
        (_, rest) = area::split_left(after, gap);
    }
    let (place, _) = area::split_right(rest, area::saturating_columns(text::width(&unknown)));
    Span::styled(unknown, DOUBT).render(place, buffer);
    hits.add_key_area(place, "u");
}

fn tab_label(screen: ScreenId, model: &Model, named: bool) -> String {
    let name = if named || screen == model.screen {
        screen.title()
    } else {
        ""
    };
    format!("{} {name}", screen.digit_key())
        .trim_end()
        .to_owned()
}

/// Draws the banner about assumptions on every screen, so that no user mistakes an assumed host for
/// the real one. Without assumptions, the first change since the last rescan is shown.
fn draw_assumption_or_change_banner(model: &Model, area: Rect, buffer: &mut Buffer) {
    if let Some(supposed) = &model.data.assumed_host {
        let assumed = &supposed.what_if.assumed;
        let first = |room| Some(fitting_assumption_text(assumed.first()?, room));
        draw_banner(
            "WHAT IF",
            assumed.len(),
            first,
            " W: real host ",
            area,
            buffer,
        );
    } else if let Some(moved) = &model.data.changes.moved {
        let sentences = &moved.sentences;
        let first = |room| Some(text::truncate_to_width(sentences.first()?, room));
        let keys = format!(
            " {}: all changes, r: rescan ",
            ScreenId::Changes.digit_key()
        );
        draw_banner("CHANGED", sentences.len(), first, &keys, area, buffer);
    }
}

/// Shows the first text, for a number of columns, and the number of further texts.
fn draw_banner(
    label: &str,
    count: usize,
    first: impl FnOnce(usize) -> Option<String>,
    keys: &str,
    area: Rect,
    buffer: &mut Buffer,
) {
    let inner = area::inset_sides(area, 1);
    let more = match count {
        0 | 1 => String::new(),
        all => format!(" and {} more", all - 1),
    };
    let around = [label, keys, &more].map(text::width).iter().sum::<usize>() + 6;
    let first = first(usize::from(inner.width).saturating_sub(around));
    let says = format!(" {label}  {}{more} ", first.unwrap_or_default());
    let (left, right) = (Line::styled(says, DOUBT), Line::styled(keys, DOUBT));
    draw_left_and_right(left, right, inner, buffer);
}

fn fitting_assumption_text(one: &FactAssumption, room: usize) -> String {
    let [short, shorter] = what_if::assumption_short_forms(one);
    let all = [what_if::assumption_bullet(one).text.to_string(), short];
    all.into_iter()
        .find(|says| text::width(says) <= room)
        .unwrap_or_else(|| text::truncate_to_width(&shorter, room))
}

/// Draws the current activity, or the last notice if no activity runs. A text that is longer than
/// the row also covers rows above it.
fn draw_status_row(
    model: &Model,
    view: &PageView,
    parts: &FrameLayout,
    hits: &mut ClickMap,
    buffer: &mut Buffer,
) {
    let room = usize::from(parts.status.width).saturating_sub(4);
    let hidden = view.hidden_lines_below();
    let more = if hidden > 0 {
        format!(" ↓ {hidden} more ")
    } else {
        String::new()
    };
    let beside = room.saturating_sub(text::width(&more)).saturating_sub(2);
    let busy = activity_line(model).map(|line| text::truncate_to_width(&line, beside));
    let is_quiet = busy.is_none() && model.notice.is_none();
    let is_newcomer = is_quiet && model.shows_hints && model.data.complete;
    let page_hints = || {
        let add = |all: String, hint: &String| match all.as_str() {
            "" => hint.clone(),
            all => format!("{all} · {hint}"),
        };
        let wanted = view.page.hints.iter().filter(|_| !is_newcomer);
        wanted.fold(String::new(), |fitting, hint| {
            let longer = add(fitting.clone(), hint);
            let fits = text::width(&longer) <= beside;
            if fits { longer } else { fitting }
        })
    };
    let said = busy
        .or_else(|| model.notice.clone())
        .unwrap_or_else(page_hints);
    let (last, lines) = if text::width(&said) <= beside {
        (said, Vec::new())
    } else {
        (String::new(), text::wrap(&said, room))
    };
    area::draw_horizontal_line(parts.status, buffer);
    let inner = area::inset_sides(parts.status, 1);
    if !last.is_empty() {
        Span::raw(format!(" {last} ")).render(inner, buffer);
    }
    if is_newcomer {
        command::newcomer_hints(model, view)
            .into_iter()
            .fold(inner, |rest, (key, label)| {
                draw_key_hint((key, label), key, rest, hits, buffer)
            });
    }
    let (right, _) = area::split_right(inner, area::saturating_columns(text::width(&more)));
    Span::raw(more).render(right, buffer);
    hits.add_key_area(right, "pgdn");
    let rows = area::saturating_columns(lines.len());
    let (above, _) = area::split_bottom(parts.body, rows.saturating_add(u16::from(rows > 0)));
    Clear.render(above, buffer);
    let (edge, above) = area::split_top(above, 1);
    if rows > 0 {
        area::draw_horizontal_line(edge, buffer);
    }
    for (line, row) in lines.into_iter().zip(area::inset_sides(above, 2).rows()) {
        Line::raw(line).render(row, buffer);
    }
}

pub fn activity_line(model: &Model) -> Option<String> {
    const SPINNER_FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
    let turning = SPINNER_FRAMES
        .iter()
        .cycle()
        .nth(model.animation_frame % SPINNER_FRAMES.len())
        .copied()
        .unwrap_or_default();
    match &model.data.activity {
        BackgroundActivity::Idle => None,
        BackgroundActivity::Collecting { what, .. } => Some(format!("{turning} reading {what} …")),
        BackgroundActivity::Planning { question, .. } => Some(match question {
            ConfirmationRequest::Probe(target) => {
                format!("{turning} planning the probe of {} …", target.name())
            }
            ConfirmationRequest::SaveReport => {
                format!("{turning} finding the directory for reports …")
            }
        }),
        BackgroundActivity::Assuming { .. } => {
            Some(format!("{turning} evaluating the assumptions …"))
        }
        BackgroundActivity::Replanning { .. } => Some(format!("{turning} computing the plan …")),
        BackgroundActivity::Probing {
            cancelled: true, ..
        } => Some(format!("{turning} stopping the probe …")),
        BackgroundActivity::Probing { progress: None, .. } => {
            Some(format!("{turning} starting the probe …"))
        }
        BackgroundActivity::Probing {
            progress: Some(progress),
            ..
        } => Some(format!(
            "{turning} {}  {}  {}",
            progress.phase.description(),
            interval::progress_bar(progress.share, 12),
            progress.round_and_remaining_time_text()
        )),
    }
}

fn draw_footer(
    model: &Model,
    view: &PageView,
    area: Rect,
    hits: &mut ClickMap,
    buffer: &mut Buffer,
) {
    let commands = command::current_commands(model, view);
    let shown: Vec<&KeyCommand> = commands
        .iter()
        .filter(|command| command.enabled.is_ok() && !command.footer.is_empty())
        .collect();
    let (program, others): (Vec<&KeyCommand>, Vec<&KeyCommand>) = shown
        .into_iter()
        .partition(|command| command.group == command::HelpSection::Program);
    let right: usize = program
        .iter()
        .map(|command| footer_command_width(command))
        .sum();
    let room = usize::from(area.width)
        .saturating_sub(right)
        .saturating_sub(2);
    let shown = fitting_commands(&others, room).iter().chain(&program);
    shown.fold(area, |rest, command| {
        draw_key_hint(
            command.footer_key_and_label(),
            command.keys,
            rest,
            hits,
            buffer,
        )
    });
}

fn footer_command_width(command: &KeyCommand) -> usize {
    let (key, label) = command.footer_key_and_label();
    text::width(key) + text::width(label) + 4
}

fn fitting_commands<'a>(commands: &'a [&'a KeyCommand], room: usize) -> &'a [&'a KeyCommand] {
    let mut taken = 0_usize;
    let fits = commands.iter().take_while(|command| {
        taken += footer_command_width(command);
        taken <= room
    });
    let count = fits.count();
    commands
        .split_at_checked(count)
        .map_or(commands, |(first, _)| first)
}
