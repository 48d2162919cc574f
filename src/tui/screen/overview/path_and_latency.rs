use ratatui::text::Line;

use super::{Dashboard, advice_parts, form_priority};
use crate::durability::FlushHop;
use crate::measure::measurement_sentence;
use crate::report::latency::sync_method_in_force;
use crate::report::view::flush_path;
use crate::report::view::latency::HEADING as TITLE;
use crate::tui::dashboard_layout::{DashboardPart, total_height};
use crate::tui::page::{Block, EnterEffect};
use crate::tui::screen::detail_lines::DetailLines;
use crate::tui::screen::{commit_latency, curves, storage};
use crate::tui::screen_id::ScreenId;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::viewport::PageLayout;
use crate::tui::widgets::{columns, flush_path as path_widget, text};

/// Columns of the flush path in [`PageLayout::Pairs`].
const PATH_WIDTH: usize = 58;
const GAP: usize = 2;
const CURVE_ROWS: usize = 8;

/// Draws each layer of the flush path as a block that links to the layer on the Storage screen.
/// Only a layer with a remark can be selected.
fn hop_blocks(path: &[FlushHop], theme: Theme, columns: usize) -> Vec<Block> {
    let block = |(hop, lines): (&FlushHop, Vec<Line<'static>>)| {
        let Some(subject) = hop.subjects.first() else {
            return Block::new_text(lines);
        };
        let layer = storage::layer_key(subject);
        if flush_path::needs_no_remark(hop) {
            return Block::new_link(lines, ScreenId::Storage, layer);
        }
        Block::new_selectable_item(
            format!("hop {subject}"),
            EnterEffect::Open(ScreenId::Storage, layer),
            lines,
        )
        .with_issue(true)
    };
    path_widget::path_rows(path, theme, columns)
        .into_iter()
        .map(block)
        .collect()
}

fn append_right_column(mut rows: Vec<Block>, right: Vec<Line<'static>>) -> Vec<Block> {
    let mut right = right.into_iter();
    for block in &mut rows {
        let more: Vec<Line<'static>> = right.by_ref().take(block.lines.len()).collect();
        block.lines =
            columns::side_by_side(std::mem::take(&mut block.lines), more, PATH_WIDTH + GAP);
    }
    rows.push(Block::new_text(columns::side_by_side(
        Vec::new(),
        right.collect(),
        PATH_WIDTH + GAP,
    )));
    rows
}

impl Dashboard<'_> {
    /// Returns the flush path, in [`PageLayout::Pairs`] with commit latency at its right. `above`
    /// is the number of rows already used.
    pub fn flush_path_parts(&self, above: usize) -> Vec<DashboardPart> {
        let path = self
            .data
            .verdict()
            .map(|verdict| verdict.flush_path.as_slice())
            .unwrap_or_default();
        let title = Line::styled("Flush path", self.theme.role_style(TextRole::Heading));
        let part = |head: Vec<Line<'static>>, rows: Vec<Block>| {
            vec![DashboardPart::new(
                [Block::new_text(head)].into_iter().chain(rows).collect(),
            )]
        };
        if path.is_empty() {
            return Vec::new();
        }
        match self.layout {
            PageLayout::Single => {
                let drawn = hop_blocks(path, self.theme, self.room);
                // Fixes and answers must stay visible, so a long path shrinks to a single line.
                let below = advice_parts::MIN_ROWS + self.setting_answers_part().min_rows();
                if above + 1 + total_height(&drawn) + below > self.rows {
                    return part(
                        self.labelled_lines("Path", &flush_path::flush_path_line(path)),
                        Vec::new(),
                    );
                }
                part(vec![Line::default()], drawn)
            }
            PageLayout::Panes => part(
                vec![Line::default(), title],
                hop_blocks(path, self.theme, self.room),
            ),
            PageLayout::Pairs => {
                let room = self.room.saturating_sub(PATH_WIDTH + GAP);
                let mut rows = hop_blocks(path, self.theme, PATH_WIDTH);
                rows.insert(0, Block::new_text(vec![title]));
                let right = self.narrow_latency_lines(room);
                part(vec![Line::default()], append_right_column(rows, right))
            }
        }
    }

    fn narrow_latency_lines(&self, room: usize) -> Vec<Line<'static>> {
        let mut lines = vec![Line::styled(
            TITLE,
            self.theme.role_style(TextRole::Heading),
        )];
        let (says, role) = if let Some((measurement, when)) =
            commit_latency::live_or_last_measurement(self.data)
        {
            lines.extend(commit_latency::narrow_latency_rows(
                self.data,
                self.report,
                measurement,
                room,
            ));
            (
                format!("{}, {when}", measurement.paced_basis_text()),
                TextRole::Dim,
            )
        } else {
            let (how, role) = commit_latency::how_to_measure(self.data);
            (format!("not measured: {how}"), role)
        };
        let rows = text::wrap(&says, room).into_iter();
        lines.extend(rows.map(|row| Line::styled(row, self.theme.role_style(role))));
        lines
    }

    /// Returns the latency at full width, as a line, a chart, or a chart with curves. Empty if
    /// there is no measurement, or if the latency is shown at the right of the flush path.
    pub fn latency_parts(&self) -> Vec<DashboardPart> {
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
        let Some((measurement, when)) = commit_latency::live_or_last_measurement(self.data) else {
            return Vec::new();
        };
        let mut page = self.new_section_page(
            TITLE,
            &format!("{}   {when}", measurement.paced_basis_text()),
        );
        let table = commit_latency::MethodTable {
            data: self.data,
            report: self.report,
            measurement,
            room: self.room,
        };
        table.push_table(&mut page, self.state, |key| {
            EnterEffect::Open(ScreenId::Probe, key)
        });
        let mut details = DetailLines::new(self.theme, self.room);
        let in_force = sync_method_in_force(self.report, self.data.focus.cluster.as_ref());
        details.push_paragraph(&measurement_sentence(measurement, in_force));
        commit_latency::push_caveats(&mut details, measurement);
        page.push_text(details.lines);
        let curves =
            curves::latency_curve_lines(measurement, in_force, self.theme, self.room, CURVE_ROWS);
        let mut with_curves = page.blocks.clone();
        if !curves.is_empty() {
            with_curves.push(Block::new_text(
                [Line::default()].into_iter().chain(curves).collect(),
            ));
        }
        // A running probe shows the chart from the start, so that the page does not jump.
        let chart = if self.data.running_measurement().is_some() {
            DashboardPart::new(page.blocks)
        } else {
            let says = commit_latency::latency_summary(self.data, self.report, measurement);
            let key = measurement
                .server_rows_with_errors()
                .next()
                .map(|row| format!("method {}", row.method.name()));
            let enter = EnterEffect::Open(ScreenId::Probe, key.unwrap_or_default());
            super::part_with_spacing(Block::new_selectable_item(
                "price",
                enter,
                self.labelled_lines("Latency", &says),
            ))
            .with_longer_form(form_priority::CHART, page.blocks)
        };
        vec![chart.with_longer_form(form_priority::CURVES, with_curves)]
    }
}
