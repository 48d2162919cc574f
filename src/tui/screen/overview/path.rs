//! The flush path and the price of a commit: one below the other, or side by side.

use ratatui::text::Line;

use super::{Dashboard, facts, todo, turn};
use crate::durability::FlushHop;
use crate::measure::sentence;
use crate::report::price::in_force;
use crate::report::telling::flush;
use crate::report::telling::price::PRICE as TITLE;
use crate::tui::fill::{DashboardPart, height};
use crate::tui::page::{Block, Enter};
use crate::tui::room::PageLayout;
use crate::tui::screen::details::Details;
use crate::tui::screen::{curves, price, storage};
use crate::tui::screen_id::ScreenId;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::{columns, flush_path, text};

/// Columns of the path where the price is beside it, and between the two.
const PATH: usize = 58;
const BETWEEN: usize = 2;
const CURVES: usize = 8;

/// The hops in blocks: one that is not all right can be selected, and the screen Storage has all of
/// each.
fn hops(path: &[FlushHop], theme: Theme, columns: usize) -> Vec<Block> {
    let block = |(hop, lines): (&FlushHop, Vec<Line<'static>>)| {
        let Some(subject) = hop.subjects.first() else {
            return Block::text(lines);
        };
        let layer = storage::layer_key(subject);
        if flush::is_well(hop) {
            return Block::link(lines, ScreenId::Storage, layer);
        }
        Block::item(
            format!("hop {subject}"),
            Enter::Open(ScreenId::Storage, layer),
            lines,
        )
        .amiss(true)
    };
    flush_path::rows(path, theme, columns)
        .into_iter()
        .map(block)
        .collect()
}

/// Lines at the right of blocks, and below them where there are more.
fn beside(mut rows: Vec<Block>, right: Vec<Line<'static>>) -> Vec<Block> {
    let mut right = right.into_iter();
    for block in &mut rows {
        let more: Vec<Line<'static>> = right.by_ref().take(block.lines.len()).collect();
        block.lines = columns::beside(std::mem::take(&mut block.lines), more, PATH + BETWEEN);
    }
    rows.push(Block::text(columns::beside(
        Vec::new(),
        right.collect(),
        PATH + BETWEEN,
    )));
    rows
}

impl Dashboard<'_> {
    /// The path, beneath so many rows; with the price at its right where two columns have room and
    /// no more.
    pub fn path_and_price(&self, above: usize) -> Vec<DashboardPart> {
        let path = self
            .data
            .verdict()
            .map(|verdict| verdict.flush_path.as_slice())
            .unwrap_or_default();
        let title = Line::styled("Flush path", self.theme.style(TextRole::Heading));
        let part = |head: Vec<Line<'static>>, rows: Vec<Block>| {
            vec![DashboardPart::new(
                [Block::text(head)].into_iter().chain(rows).collect(),
            )]
        };
        if path.is_empty() {
            return Vec::new();
        }
        match self.layout {
            PageLayout::Single => {
                let drawn = hops(path, self.theme, self.room);
                // What to fix first and the answers have to be in sight: a path that would push
                // them out is a line.
                let below = todo::HEAD + self.answers().rows();
                if above + 1 + height(&drawn) + below > self.rows {
                    return part(self.labelled("Path", &flush::line(path)), Vec::new());
                }
                part(vec![Line::default()], drawn)
            }
            PageLayout::Panes => part(
                vec![Line::default(), title],
                hops(path, self.theme, self.room),
            ),
            PageLayout::Pairs => {
                let room = self.room.saturating_sub(PATH + BETWEEN);
                let mut rows = hops(path, self.theme, PATH);
                rows.insert(0, Block::text(vec![title]));
                let mut right = self.beside(room);
                let spare = height(&rows).saturating_sub(right.len());
                right.extend(facts::of_disks(
                    self.data,
                    self.report,
                    self.theme,
                    room,
                    spare,
                ));
                part(vec![Line::default()], beside(rows, right))
            }
        }
    }

    /// The price in few columns.
    fn beside(&self, room: usize) -> Vec<Line<'static>> {
        let mut lines = vec![Line::styled(TITLE, self.theme.style(TextRole::Heading))];
        let (says, role) = if let Some((measurement, when)) = price::of(self.data) {
            lines.extend(price::brief(self.data, self.report, measurement, room));
            (format!("{}, {when}", measurement.basis()), TextRole::Dim)
        } else {
            let (how, role) = price::unmeasured(self.data);
            (format!("not measured: {how}"), role)
        };
        let rows = text::wrap(&says, room).into_iter();
        lines.extend(rows.map(|row| Line::styled(row, self.theme.style(role))));
        lines
    }

    /// The price in all columns: in a line, as a chart, with its curves. Nothing where it is beside
    /// the path.
    pub fn price(&self) -> Vec<DashboardPart> {
        let is_beside = match self.layout {
            PageLayout::Pairs => self
                .data
                .verdict()
                .is_some_and(|verdict| !verdict.flush_path.is_empty()),
            PageLayout::Single | PageLayout::Panes => false,
        };
        if is_beside {
            return Vec::new();
        }
        let Some((measurement, when)) = price::of(self.data) else {
            return Vec::new();
        };
        let mut page = self.section(TITLE, &format!("{}   {when}", measurement.basis()));
        let table = price::MethodTable {
            data: self.data,
            report: self.report,
            measurement,
            room: self.room,
        };
        table.add(&mut page, self.state, |key| {
            Enter::Open(ScreenId::Probe, key)
        });
        let mut details = Details::new(self.theme, self.room);
        let in_force = in_force(self.report, self.data.focus.cluster.as_ref());
        details.paragraph(&sentence(measurement, in_force));
        price::caveats(&mut details, measurement);
        page.text(details.lines);
        let curves = curves::lines(measurement, in_force, self.theme, self.room, CURVES);
        let mut with_curves = page.blocks.clone();
        if !curves.is_empty() {
            with_curves.push(Block::text(
                [Line::default()].into_iter().chain(curves).collect(),
            ));
        }
        // What moves while it is measured has its place from the beginning.
        let chart = if self.data.live().is_some() {
            DashboardPart::new(page.blocks)
        } else {
            let says = price::in_short(self.data, self.report, measurement);
            let key = measurement
                .tried_of_server()
                .next()
                .map(|row| format!("method {}", row.method.name()));
            let enter = Enter::Open(ScreenId::Probe, key.unwrap_or_default());
            super::airy(Block::item("price", enter, self.labelled("Latency", &says)))
                .or(turn::CHART, page.blocks)
        };
        vec![chart.or(turn::CURVES, with_curves)]
    }
}
