//! Facts of the disks, the host and the rest of the stack, with plain labels. They fill rows that
//! nothing more urgent needs.

use ratatui::text::Line;

use super::{Dashboard, priority};
use crate::facts::{FactGroup, Scope, Subject, Value, catalog};
use crate::report::Report;
use crate::tui::data::Data;
use crate::tui::layout_choice::DashboardPart;
use crate::tui::page::Block;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::viewport::PageLayout;
use crate::tui::widgets::columns::{self, Column};
use crate::tui::widgets::text;

/// Columns for the label of a fact.
const LABEL: usize = 19;
/// The largest number of disks described.
const MAX_DISKS: usize = 4;
/// Facts per subject.
const MAX_FACTS: usize = 6;

impl Dashboard<'_> {
    /// Facts of the target's disks; empty in its shortest form. With panes they are in the sidebar
    /// instead.
    pub fn disks(&self) -> DashboardPart {
        let form = |rows: usize| {
            let mut page = self.section("Disks", "");
            page.text(disk_facts(
                self.data,
                self.report,
                self.theme,
                self.room,
                rows,
            ));
            page.blocks
        };
        let known = disk_facts(self.data, self.report, self.theme, self.room, 2 * MAX_FACTS).len();
        let all = [4, 8, 12]
            .into_iter()
            .filter(|rows| *rows <= known + 3 && known > 0 && self.has_no_side());
        all.fold(
            DashboardPart::new(vec![Block::text(Vec::new())]),
            |part, rows| part.with_form(priority::FACTS, form(rows)),
        )
    }

    /// Whether disks are shown neither beside the path nor in the sidebar.
    fn has_no_side(&self) -> bool {
        let has_path = self
            .data
            .verdict()
            .is_some_and(|verdict| !verdict.flush_path.is_empty());
        match self.layout {
            PageLayout::Panes => false,
            PageLayout::Pairs => !has_path,
            PageLayout::Single => true,
        }
    }
}

/// Facts of the target's disks, in at most so many rows.
pub fn disk_facts(
    data: &Data,
    report: &Report,
    theme: Theme,
    room: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let of_each = disks(data, report)
        .into_iter()
        .flat_map(|disk| subject_facts(report, &disk, theme, room, MAX_FACTS));
    let lines: Vec<Line<'static>> = of_each.take(rows).collect();
    // The name of a disk without any fact is useless.
    if lines.len() < 2 { Vec::new() } else { lines }
}

/// The disks of the chosen target: those of its path, or itself.
pub fn disks(data: &Data, report: &Report) -> Vec<Subject> {
    let path = data
        .verdict()
        .map(|verdict| verdict.flush_path.as_slice())
        .unwrap_or_default();
    let ends = path
        .iter()
        .filter(|hop| hop.kind.is_disk())
        .flat_map(|hop| &hop.subjects);
    let mut disks: Vec<Subject> = ends.take(MAX_DISKS).cloned().collect();
    if disks.is_empty() {
        let layers = data
            .focus
            .target
            .as_ref()
            .and_then(|target| report.stack(target));
        let layers = layers
            .into_iter()
            .flat_map(|stack| &stack.layers)
            .filter(|row| row.below.is_empty());
        disks.extend(layers.take(MAX_DISKS).map(|row| row.subject.clone()));
    }
    disks
}

/// The known facts of a subject, most informative first, one per row below its name.
pub fn subject_facts(
    report: &Report,
    subject: &Subject,
    theme: Theme,
    room: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let (plain, dim) = (theme.style(TextRole::Plain), theme.style(TextRole::Dim));
    let is_host = subject.scope() == Scope::Host;
    let known = report.facts.rows_of(subject).filter_map(|row| {
        let info = catalog::find(row.fact)?;
        let value = row.reading.value()?;
        // Boot settings are a subject of their own, and the header names the operating system.
        let is_told = !is_host
            || !AREAS_SHOWN_ELSEWHERE
                .iter()
                .any(|area| info.name.starts_with(area));
        let label = if is_host {
            info.name.replace(['.', '_'], " ")
        } else {
            info.label()
        };
        is_told.then(|| {
            (
                (is_empty_value(value), rank(info.group)),
                label,
                info.format_value(value),
            )
        })
    });
    let mut known: Vec<((bool, u8), String, String)> = known.collect();
    known.sort_by_key(|(rank, ..)| *rank);
    let name = if subject.name().is_empty() {
        "host".to_owned()
    } else {
        text::fit_middle(subject.name(), room)
    };
    let head = Line::styled(name, theme.style(TextRole::Heading));
    let cells = |(_, label, value): ((bool, u8), String, String)| {
        vec![
            (format!("  {}", text::pad(&label, LABEL)), dim),
            (value, plain),
        ]
    };
    let rows: Vec<_> = known.into_iter().take(most).map(cells).collect();
    let rows = columns::lines(&rows, &[Column::keep(LABEL + 2), Column::keep(0)], room);
    if rows.is_empty() {
        Vec::new()
    } else {
        [head].into_iter().chain(rows).collect()
    }
}

/// Areas of host facts that are shown elsewhere.
const AREAS_SHOWN_ELSEWHERE: [&str; 3] = ["boot.", "os.", "kernel.release"];

/// Whether a value only reports that something is absent.
fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Bool(is) => !is,
        Value::Whole(count) => *count == 0,
        Value::Number(number) => *number <= 0.0,
        Value::Text(text) => text.is_empty(),
        Value::Version(_) => false,
        Value::List(all) => all.is_empty(),
    }
}

/// Lower ranks are shown first.
fn rank(group: FactGroup) -> u8 {
    match group {
        FactGroup::Health => 0,
        FactGroup::Speed => 1,
        FactGroup::Flushes => 2,
        FactGroup::Identity => 3,
        FactGroup::Other => 4,
    }
}
