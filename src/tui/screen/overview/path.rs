//! The flush path and commit latency: one below the other, or side by side.

use ratatui::text::Line;

use super::{Dashboard, facts, priority, todo};
use crate::durability::FlushHop;
use crate::measure::sentence;
use crate::report::latency::sync_method_in_force;
use crate::report::view::flush;
use crate::report::view::latency::HEADING as TITLE;
use crate::tui::layout_choice::{DashboardPart, height};
use crate::tui::page::{Block, EnterEffect};
use crate::tui::screen::details::Details;
use crate::tui::screen::{commit_latency, curves, storage};
use crate::tui::screen_id::ScreenId;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::viewport::PageLayout;
use crate::tui::widgets::{columns, flush_path, text};

/// Columns of the path when the latency is beside it, and the gap between.
const PATH_WIDTH: usize = 58;
const GAP: usize = 2;
const CURVES: usize = 8;

/// The hops as blocks: those with a problem can be selected, and all link to their layer on
/// Storage.
fn hops(path: &[FlushHop], theme: Theme, columns: usize) -> Vec<Block> {
    let block = |(hop, lines): (&FlushHop, Vec<Line<'static>>)| {
        let Some(subject) = hop.subjects.first() else {
            return Block::text(lines);
        };
        let layer = storage::layer_key(subject);
        if flush::needs_no_remark(hop) {
            return Block::link(lines, ScreenId::Storage, layer);
        }
        Block::item(
            format!("hop {subject}"),
            EnterEffect::Open(ScreenId::Storage, layer),
            lines,
        )
        .with_issue(true)
    };
    flush_path::rows(path, theme, columns)
        .into_iter()
        .map(block)
        .collect()
}

/// Puts lines to the right of blocks; the remaining ones go below.
fn join_right(mut rows: Vec<Block>, right: Vec<Line<'static>>) -> Vec<Block> {
    let mut right = right.into_iter();
    for block in &mut rows {
        let more: Vec<Line<'static>> = right.by_ref().take(block.lines.len()).collect();
        block.lines =
            columns::side_by_side(std::mem::take(&mut block.lines), more, PATH_WIDTH + GAP);
    }
    rows.push(Block::text(columns::side_by_side(
        Vec::new(),
        right.collect(),
        PATH_WIDTH + GAP,
    )));
    rows
}

impl Dashboard<'_> {
    /// The path, with commit latency beside it in the two-column layout. `above`: rows already
    /// used.
    pub fn path_and_latency(&self, above: usize) -> Vec<DashboardPart> {
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
                // The fixes and answers must stay visible, so a long path becomes a single line.
                let below = todo::MIN_ROWS + self.answers().rows();
                if above + 1 + height(&drawn) + below > self.rows {
                    return part(
                        self.labelled_lines("Path", &flush::path_line(path)),
                        Vec::new(),
                    );
                }
                part(vec![Line::default()], drawn)
            }
            PageLayout::Panes => part(
                vec![Line::default(), title],
                hops(path, self.theme, self.room),
            ),
            PageLayout::Pairs => {
                let room = self.room.saturating_sub(PATH_WIDTH + GAP);
                let mut rows = hops(path, self.theme, PATH_WIDTH);
                rows.insert(0, Block::text(vec![title]));
                let mut right = self.narrow_latency(room);
                let spare = height(&rows).saturating_sub(right.len());
                right.extend(facts::disk_facts(
                    self.data,
                    self.report,
                    self.theme,
                    room,
                    spare,
                ));
                part(vec![Line::default()], join_right(rows, right))
            }
        }
    }

    /// Commit latency in few columns.
    fn narrow_latency(&self, room: usize) -> Vec<Line<'static>> {
        let mut lines = vec![Line::styled(TITLE, self.theme.style(TextRole::Heading))];
        let (says, role) =
            if let Some((measurement, when)) = commit_latency::shown_measurement(self.data) {
                lines.extend(commit_latency::narrow_rows(
                    self.data,
                    self.report,
                    measurement,
                    room,
                ));
                (format!("{}, {when}", measurement.basis()), TextRole::Dim)
            } else {
                let (how, role) = commit_latency::how_to_measure(self.data);
                (format!("not measured: {how}"), role)
            };
        let rows = text::wrap(&says, room).into_iter();
        lines.extend(rows.map(|row| Line::styled(row, self.theme.style(role))));
        lines
    }

    /// Commit latency at full width: a line, a chart, a chart with curves. Empty if it is beside
    /// the path.
    pub fn latency(&self) -> Vec<DashboardPart> {
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
        let Some((measurement, when)) = commit_latency::shown_measurement(self.data) else {
            return Vec::new();
        };
        let mut page = self.section(TITLE, &format!("{}   {when}", measurement.basis()));
        let table = commit_latency::MethodTable {
            data: self.data,
            report: self.report,
            measurement,
            room: self.room,
        };
        table.add(&mut page, self.state, |key| {
            EnterEffect::Open(ScreenId::Probe, key)
        });
        let mut details = Details::new(self.theme, self.room);
        let in_force = sync_method_in_force(self.report, self.data.focus.cluster.as_ref());
        details.paragraph(&sentence(measurement, in_force));
        commit_latency::caveats(&mut details, measurement);
        page.text(details.lines);
        let curves = curves::lines(measurement, in_force, self.theme, self.room, CURVES);
        let mut with_curves = page.blocks.clone();
        if !curves.is_empty() {
            with_curves.push(Block::text(
                [Line::default()].into_iter().chain(curves).collect(),
            ));
        }
        // The chart of a running probe is shown from the start, so that the page does not jump.
        let chart = if self.data.running_measurement().is_some() {
            DashboardPart::new(page.blocks)
        } else {
            let says = commit_latency::summary(self.data, self.report, measurement);
            let key = measurement
                .server_rows_with_errors()
                .next()
                .map(|row| format!("method {}", row.method.name()));
            let enter = EnterEffect::Open(ScreenId::Probe, key.unwrap_or_default());
            super::with_spacing(Block::item(
                "price",
                enter,
                self.labelled_lines("Latency", &says),
            ))
            .with_form(priority::CHART, page.blocks)
        };
        vec![chart.with_form(priority::CURVES, with_curves)]
    }
}
