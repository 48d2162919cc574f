//! The frame around every screen: host, tabs, status line and keys. The same model always yields
//! the same picture.

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::click_map::ClickMap;
use super::command::{self, UserAction};
use super::data::Activity;
use super::filter::Filter;
use super::model::{Model, PageView};
use super::overlay;
use super::page::PageState;
use super::screen_id::ScreenId;
use super::theme::{TextRole, Theme, to_ascii};
use super::widgets::{area, interval, text};
use crate::report::view::what_if;
use crate::report::view::wording::count_noun;
use crate::report::{Assumed, Report};

/// The smallest supported terminal.
pub const MIN_SIZE: Size = Size {
    width: 60,
    height: 15,
};

/// Columns reserved for the title of the target.
const TITLE_WIDTH: usize = 14;

/// The areas of the frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameLayout {
    /// Host, and the number of unknown facts.
    pub header: Rect,
    pub tabs: Rect,
    pub rule: Rect,
    pub body: Rect,
    pub status: Rect,
    pub footer: Rect,
}

pub fn layout(size: Size) -> FrameLayout {
    let (header, rest) = area::top(Rect::new(0, 0, size.width, size.height), 1);
    let (tabs, rest) = area::top(rest, 1);
    let (rule, rest) = area::top(rest, 1);
    let (footer, rest) = area::bottom(rest, 1);
    let (status, body) = area::bottom(rest, 1);
    FrameLayout {
        header,
        tabs,
        rule,
        body,
        status,
        footer,
    }
}

/// The area of the page: the body, less the search row if there is one.
pub fn body(size: Size, state: &PageState) -> Rect {
    let body = layout(size).body;
    area::top(body, u16::from(state.filter.is_some())).1
}

/// Draws everything; returns the clickable areas.
pub fn draw(model: &Model, buffer: &mut Buffer) -> ClickMap {
    let mut hits = ClickMap::default();
    let area = *buffer.area();
    if area.width < MIN_SIZE.width || area.height < MIN_SIZE.height {
        too_small(area, buffer);
    } else {
        draw_frame(model, &mut hits, buffer);
    }
    if model.data.theme.ascii {
        to_ascii(buffer);
    }
    hits
}

fn draw_frame(model: &Model, hits: &mut ClickMap, buffer: &mut Buffer) {
    let area = *buffer.area();
    let parts = layout(area.as_size());
    let theme = model.data.theme;
    header(model, parts.header, hits, buffer);
    tabs(model, parts.tabs, hits, buffer);
    draw_rule(parts.rule, theme.style(TextRole::Dim), buffer);
    banner(model, parts.rule, buffer);
    let view = model.view();
    let PageView { page, state } = &view;
    let body = body(model.size, state);
    page.draw(state, theme, body, hits, buffer);
    if let Some(filter) = &state.filter {
        search_row(filter, theme, parts.body, buffer);
    }
    status(
        model,
        page.hidden_below(state, body.height),
        &parts,
        hits,
        buffer,
    );
    if model.overlay.is_some() || state.is_typing() {
        // Overlays and text fields get mouse and keys to themselves.
        hits.clear();
    }
    footer(model, &view, parts.footer, hits, buffer);
    overlay::draw(model, parts.body, hits, buffer);
}

/// The search text, in the first row.
fn search_row(filter: &Filter, theme: Theme, body: Rect, buffer: &mut Buffer) {
    let (row, _) = area::top(body, 1);
    let cursor = if filter.typing { "_" } else { "" };
    let left = Line::from(vec![
        Span::styled(" / ", theme.style(TextRole::Accent)),
        Span::raw(text::fit_end(
            &format!("{}{cursor}", filter.text.text()),
            usize::from(row.width).saturating_sub(24),
        )),
    ]);
    draw_both_sides(
        left,
        Line::styled("esc clears ", theme.style(TextRole::Dim)),
        row,
        buffer,
    );
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let lines = [
        format!(
            "needs {}×{}, this is {}×{}",
            MIN_SIZE.width, MIN_SIZE.height, area.width, area.height
        ),
        "q quits; `walwise check` prints a text report".to_owned(),
    ];
    let top = area.height.saturating_sub(2) / 2;
    for (line, row) in lines.iter().zip(area.rows().skip(usize::from(top))) {
        Line::raw(text::truncate(line, usize::from(row.width)))
            .centered()
            .render(row, buffer);
    }
}

fn draw_rule(area: Rect, style: Style, buffer: &mut Buffer) {
    Span::styled("─".repeat(usize::from(area.width)), style).render(area, buffer);
}

/// Left and right text in one row; the left is cut if needed.
fn draw_both_sides(left: Line<'_>, right: Line<'_>, place: Rect, buffer: &mut Buffer) {
    let (right_area, rest) = area::right(place, u16::try_from(right.width()).unwrap_or(u16::MAX));
    let (_, left_area) = area::right(rest, 1);
    left.render(left_area, buffer);
    right.render(right_area, buffer);
}

fn header(model: &Model, area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let mut left = vec![Span::styled(" walwise", theme.style(TextRole::Heading))];
    let mut right = String::new();
    if let Some(report) = &model.data.report {
        let unknown = model.data.focus.unknown_count;
        if unknown > 0 {
            right = format!("{} unknown ", count_noun(unknown, "fact"));
        }
        let name = format!("   {}", report.host.name);
        let room = usize::from(area.width)
            .saturating_sub(text::width(&right))
            .saturating_sub(text::width(&name))
            .saturating_sub(13);
        left.push(Span::styled(name, theme.style(TextRole::Accent)));
        left.push(Span::raw(format!("   {}", host_line(report, room))));
    }
    let (place, _) = area::right(area, u16::try_from(text::width(&right)).unwrap_or(u16::MAX));
    hits.add_key(place, "u");
    draw_both_sides(
        Line::from(left),
        Line::styled(right, theme.style(TextRole::Doubt)),
        area,
        buffer,
    );
}

/// The host in so many columns, dropping the least informative parts first.
fn host_line(report: &Report, room: usize) -> String {
    let host = &report.host;
    let who = match host.privileged {
        Some(true) => "root",
        Some(false) => "not root",
        None => "privilege unknown",
    };
    let source = if host.live { "" } else { " · capture" };
    let os = host.os.split(" (").next().unwrap_or_default();
    let rest = format!("Linux {} · {} · {who}{source}", host.kernel, host.seen_by);
    let tries = [
        format!("{} · {rest}", host.os),
        format!("{os} · {rest}"),
        rest.clone(),
    ];
    tries
        .into_iter()
        .find(|line| text::width(line) <= room)
        .unwrap_or_else(|| text::truncate(&rest, room))
}

fn tabs(model: &Model, area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    let focus = &model.data.focus;
    let (which, list) = match focus.place {
        (_, 0 | 1) => (String::new(), ""),
        (at, of) => (format!("{}/{of} ", at.saturating_add(1)), " ▾"),
    };
    // Narrow terminals lose the wide gaps first, then the middle of the target, then the names of
    // the screens.
    let around = text::width(&which).saturating_add(text::width(list));
    let needed = text::width(&focus.title)
        .min(TITLE_WIDTH)
        .saturating_add(around)
        .saturating_add(2);
    let fits = |(named, gap): &(bool, u16)| {
        let names = ScreenId::ALL
            .iter()
            .map(|screen| text::width(&tab(*screen, model, *named)));
        names
            .map(|name| name.saturating_add(usize::from(*gap)))
            .sum::<usize>()
            .saturating_add(needed)
            <= usize::from(area.width)
    };
    let (named, gap) = [(true, 3), (true, 1)]
        .into_iter()
        .find(fits)
        .unwrap_or((false, 1));
    let theme = model.data.theme;
    let (_, mut rest) = area::left(area, 1);
    for screen in ScreenId::ALL {
        let style = if screen == model.screen {
            theme
                .style(TextRole::Accent)
                .add_modifier(ratatui::style::Modifier::UNDERLINED)
        } else {
            theme.style(TextRole::Dim)
        };
        let tab = Span::styled(tab(screen, model, named), style);
        let (place, after) = area::left(rest, u16::try_from(tab.width()).unwrap_or(u16::MAX));
        tab.render(place, buffer);
        hits.add_key(place, screen.digit());
        (_, rest) = area::left(after, gap);
    }
    let room = usize::from(rest.width)
        .saturating_sub(around)
        .saturating_sub(1);
    let target = Line::raw(format!(
        "{which}{}{list} ",
        text::fit_middle(&focus.title, room)
    ));
    let (place, _) = area::right(rest, u16::try_from(target.width()).unwrap_or(u16::MAX));
    target.render(place, buffer);
    hits.add_key(place, "t");
}

/// The digit of a screen, with its name if there is room or it is the current one.
fn tab(screen: ScreenId, model: &Model, named: bool) -> String {
    let name = if named || screen == model.screen {
        screen.title()
    } else {
        ""
    };
    format!("{} {name}", screen.digit()).trim_end().to_owned()
}

/// The assumptions, on every screen, so that nobody mistakes an assumed host for the real one.
fn banner(model: &Model, area: Rect, buffer: &mut Buffer) {
    const WHAT_IF: &str = "WHAT IF  ";
    let Some(supposed) = &model.data.assumed_host else {
        return;
    };
    let inner = area::inset(area, 1);
    let leave = " W ends ";
    let assumed = &supposed.what_if.assumed;
    let more = match assumed.len() {
        0 | 1 => String::new(),
        all => format!(" and {} more", all.saturating_sub(1)),
    };
    let room = usize::from(inner.width)
        .saturating_sub(text::width(leave))
        .saturating_sub(4);
    let room = room.saturating_sub(text::width(&more));
    let room = room.saturating_sub(text::width(WHAT_IF));
    let first = assumed
        .first()
        .map(|one| fitting_text(one, room))
        .unwrap_or_default();
    let says = format!(" {WHAT_IF}{first}{more} ");
    Span::styled(says, model.data.theme.style(TextRole::Doubt)).render(inner, buffer);
    let (right, _) = area::right(inner, u16::try_from(text::width(leave)).unwrap_or(0));
    Span::styled(leave, model.data.theme.style(TextRole::Doubt)).render(right, buffer);
}

/// The longest form of the assumption that fits.
fn fitting_text(one: &Assumed, room: usize) -> String {
    let [short, shorter] = what_if::short_forms(one);
    let all = [what_if::assumption_bullet(one).text.to_string(), short];
    all.into_iter()
        .find(|says| text::width(says) <= room)
        .unwrap_or_else(|| text::truncate(&shorter, room))
}

/// The current activity, else the last event. A long notice takes several rows upwards.
fn status(
    model: &Model,
    hidden: usize,
    parts: &FrameLayout,
    hits: &mut ClickMap,
    buffer: &mut Buffer,
) {
    let theme = model.data.theme;
    let room = usize::from(parts.status.width).saturating_sub(4);
    let more = if hidden > 0 {
        format!(" ↓ {hidden} more ")
    } else {
        String::new()
    };
    let beside = room.saturating_sub(text::width(&more)).saturating_sub(2);
    let busy = activity(model).map(|line| text::truncate(&line, beside));
    let is_quiet = busy.is_none() && model.notice.is_none();
    let said = busy.or_else(|| model.notice.clone()).unwrap_or_default();
    let (last, lines) = if text::width(&said) <= beside {
        (said, Vec::new())
    } else {
        (String::new(), text::wrap(&said, room))
    };
    draw_rule(parts.status, theme.style(TextRole::Dim), buffer);
    let inner = area::inset(parts.status, 1);
    if !last.is_empty() {
        Span::raw(format!(" {last} ")).render(inner, buffer);
    }
    if is_quiet && model.shows_hints && model.data.complete {
        hints(model, inner, hits, buffer);
    }
    let (right, _) = area::right(inner, u16::try_from(text::width(&more)).unwrap_or(0));
    Span::raw(more).render(right, buffer);
    hits.add_key(right, "pgdn");
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let (above, _) = area::bottom(parts.body, rows.saturating_add(u16::from(rows > 0)));
    Clear.render(above, buffer);
    let (edge, above) = area::top(above, 1);
    if rows > 0 {
        draw_rule(edge, theme.style(TextRole::Dim), buffer);
    }
    for (line, row) in lines.into_iter().zip(area::inset(above, 2).rows()) {
        Line::raw(line).render(row, buffer);
    }
}

/// A few keys, until the first key press.
fn hints(model: &Model, mut rest: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    for (key, label) in command::hints(model) {
        let line = Line::from(vec![
            Span::raw(" "),
            Span::styled(key, model.data.theme.style(TextRole::Accent)),
            Span::raw(format!(" {label}  ")),
        ]);
        let (place, after) = area::left(rest, u16::try_from(line.width()).unwrap_or(u16::MAX));
        line.render(place, buffer);
        hits.add_key(place, key);
        rest = after;
    }
}

/// The background activity, in one line.
pub fn activity(model: &Model) -> Option<String> {
    const FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
    let turning = FRAMES
        .iter()
        .cycle()
        .nth(model.animation_frame % FRAMES.len())
        .copied()
        .unwrap_or_default();
    match &model.data.activity {
        Activity::Idle => None,
        Activity::Collecting { what, .. } => Some(format!("{turning} reading {what} …")),
        Activity::Planning { target, .. } => Some(format!(
            "{turning} planning the probe of {} …",
            target.name()
        )),
        Activity::Assuming { .. } => Some(format!("{turning} evaluating the assumptions …")),
        Activity::Replanning { .. } => Some(format!("{turning} computing the plan …")),
        Activity::Probing {
            cancelled: true, ..
        } => Some(format!("{turning} stopping the probe …")),
        Activity::Probing { progress: None, .. } => Some(format!("{turning} starting the probe …")),
        Activity::Probing {
            progress: Some(progress),
            ..
        } => Some(format!(
            "{turning} {}  {}  {}",
            progress.phase.description(),
            interval::progress(progress.share, 12),
            progress.remaining_time()
        )),
    }
}

/// As many of the available keys as fit; help and quit always.
fn footer(model: &Model, view: &PageView, area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
    let commands = command::commands(model, view);
    let shown: Vec<&UserAction> = commands
        .iter()
        .filter(|command| command.enabled.is_ok() && !command.footer.is_empty())
        .collect();
    let (program, others): (Vec<&UserAction>, Vec<&UserAction>) = shown
        .into_iter()
        .partition(|command| command.group == command::HelpSection::Program);
    let right: usize = program.iter().map(|command| width(command)).sum();
    let room = usize::from(area.width)
        .saturating_sub(right)
        .saturating_sub(2);
    let mut rest = area;
    for command in fitting_commands(&others, room).iter().chain(&program) {
        let (key, label) = footer_words(command);
        let (place, after) = area::left(rest, u16::try_from(width(command)).unwrap_or(u16::MAX));
        let key = Span::styled(key, model.data.theme.style(TextRole::Accent));
        Line::from(vec![Span::raw(" "), key, Span::raw(format!(" {label}  "))])
            .render(place, buffer);
        hits.add_key(place, command.keys);
        rest = after;
    }
}

fn footer_words(command: &UserAction) -> (&'static str, &'static str) {
    command
        .footer
        .split_once(' ')
        .unwrap_or((command.footer, ""))
}

/// Columns of a command in the footer, including the gap after it.
fn width(command: &UserAction) -> usize {
    let (key, label) = footer_words(command);
    text::width(key)
        .saturating_add(text::width(label))
        .saturating_add(4)
}

/// The first commands, as many as fit.
fn fitting_commands<'a>(commands: &'a [&'a UserAction], room: usize) -> &'a [&'a UserAction] {
    let mut taken = 0_usize;
    let fits = commands.iter().take_while(|command| {
        taken = taken.saturating_add(width(command));
        taken <= room
    });
    let count = fits.count();
    commands
        .split_at_checked(count)
        .map_or(commands, |(first, _)| first)
}
