use ratatui::text::Line;

use super::{Dashboard, form_priority};
use crate::facts::{FactGroup, Scope, Subject, Value, catalog};
use crate::report::Report;
use crate::tui::dashboard_layout::DashboardPart;
use crate::tui::data::Data;
use crate::tui::page::Block;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::viewport::PageLayout;
use crate::tui::widgets::columns::{self, Column};
use crate::tui::widgets::text;

const LABEL_WIDTH: usize = 19;
const MAX_DISKS: usize = 4;
const MAX_FACTS: usize = 6;

impl Dashboard<'_> {
    /// Builds the section about disks. Empty without spare rows, and in layouts that show the disks
    /// in the sidebar or next to the flush path.
    pub fn disks_part(&self) -> DashboardPart {
        let form = |rows: usize| {
            let mut page = self.new_section_page("Disks", "");
            page.push_text(disk_fact_lines(
                self.data,
                self.report,
                self.theme,
                self.room,
                rows,
            ));
            page.blocks
        };
        let known =
            disk_fact_lines(self.data, self.report, self.theme, self.room, 2 * MAX_FACTS).len();
        let all = [4, 8, 12]
            .into_iter()
            .filter(|rows| *rows <= known + 3 && known > 0 && self.needs_disks_part());
        all.fold(
            DashboardPart::new(vec![Block::new_text(Vec::new())]),
            |part, rows| part.with_longer_form(form_priority::FACTS, form(rows)),
        )
    }

    fn needs_disks_part(&self) -> bool {
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

pub fn disk_fact_lines(
    data: &Data,
    report: &Report,
    theme: Theme,
    room: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let of_each = target_disks(data, report)
        .into_iter()
        .flat_map(|disk| subject_known_fact_lines(report, &disk, theme, room, MAX_FACTS));
    let lines: Vec<Line<'static>> = of_each.take(rows).collect();
    if lines.len() < 2 { Vec::new() } else { lines }
}

/// Returns at most [`MAX_DISKS`] disks of the flush path or, if the path has no disk, the lowest
/// layers of the stack.
pub fn target_disks(data: &Data, report: &Report) -> Vec<Subject> {
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

pub fn subject_known_fact_lines(
    report: &Report,
    subject: &Subject,
    theme: Theme,
    room: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let (plain, dim) = (
        theme.role_style(TextRole::Plain),
        theme.role_style(TextRole::Dim),
    );
    let is_host = subject.scope() == Scope::Host;
    let known = report.facts.rows_of(subject).filter_map(|row| {
        let info = catalog::find_by_name(row.fact)?;
        let value = row.reading.value()?;
        // Host facts about boot, system and kernel are left out: boot settings have their own
        // subject, and the header shows system and kernel.
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
                (is_uninformative_value(value), fact_group_rank(info.group)),
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
        text::truncate_middle(subject.name(), room)
    };
    let head = Line::styled(name, theme.role_style(TextRole::Heading));
    let cells = |(_, label, value): ((bool, u8), String, String)| {
        vec![
            (
                format!("  {}", text::pad_or_truncate(&label, LABEL_WIDTH)),
                dim,
            ),
            (value, plain),
        ]
    };
    let rows: Vec<_> = known.into_iter().take(most).map(cells).collect();
    let rows = columns::align_rows(
        &rows,
        &[
            Column::new_cuttable(LABEL_WIDTH + 2),
            Column::new_cuttable(0),
        ],
        room,
    );
    if rows.is_empty() {
        Vec::new()
    } else {
        [head].into_iter().chain(rows).collect()
    }
}

/// Prefixes of host facts that other parts of the screen show.
const AREAS_SHOWN_ELSEWHERE: [&str; 3] = ["boot.", "os.", "kernel.release"];

/// Whether the value is `no`, zero, negative or empty. Such values are listed last.
fn is_uninformative_value(value: &Value) -> bool {
    match value {
        Value::Bool(is) => !is,
        Value::Whole(count) => *count == 0,
        Value::Number(number) => *number <= 0.0,
        Value::Text(text) => text.is_empty(),
        Value::Version(_) => false,
        Value::List(all) => all.is_empty(),
    }
}

fn fact_group_rank(group: FactGroup) -> u8 {
    match group {
        FactGroup::Health => 0,
        FactGroup::Speed => 1,
        FactGroup::Flushes => 2,
        FactGroup::Identity => 3,
        FactGroup::Other => 4,
    }
}
