//! Builds the page of each screen from the data. A screen links to another only by its `ScreenId`.

mod detail_lines;
mod details;
mod sections;
mod export {
    use ratatui::text::Line;

    use crate::facts::Choice as _;
    use crate::report::view::wording::count_with_noun;
    use crate::report::{Format, Report};
    use crate::tui::export::check_can_export;
    use crate::tui::export_state::ExportDocument;
    use crate::tui::page::{Page, PageBlock, PageState, PaneFocus, RowDetails};
    use crate::tui::screen_data::ScreenData;
    use crate::tui::theme::{DIM, DOUBT, PLAIN};
    use crate::tui::widgets::columns::{self, Column};
    use crate::tui::widgets::text;

    /// Lines of a document shown as a preview; saving writes all lines.
    const MAX_SHOWN_LINES: usize = 500;

    pub fn export_page(data: &ScreenData, room: usize) -> Page {
        let mut page = Page::default();
        let Some(report) = data
            .report
            .as_deref()
            .filter(|_| check_can_export(data).is_ok())
        else {
            page.push_text_block(vec![
                Line::default(),
                Line::styled("Still collecting facts.", DIM),
            ]);
            return page;
        };
        let what = match report.targets.len() {
            0 | 1 => "the same output as `walwise check --format`".to_owned(),
            all => {
                format!("all {all} targets, with the same output as `walwise check --format`")
            }
        };
        page.push_heading("Export", &what);
        let of = export_scope_note(data, report);
        if !of.is_empty() {
            page.push_text_block(text::wrapped_lines(&of, DOUBT, room));
        }
        if let Some(saved) = &data.export.saved_notice {
            page.push_text_block(text::wrapped_lines(saved, PLAIN, room));
        }
        let rows = Format::ALL.iter().map(|format| {
            vec![
                (format.as_str().to_owned(), PLAIN),
                (format.description().to_owned(), DIM),
            ]
        });
        let rows = columns::wrapped_rows(
            &rows.collect::<Vec<_>>(),
            &[Column::new_cuttable(10), Column::new_wrapping(24)],
            room,
        );
        for (format, lines) in Format::ALL.iter().zip(rows) {
            page.blocks.push(PageBlock::new_row(
                format.as_str(),
                RowDetails::Document(*format),
                lines,
            ));
        }
        page
    }

    fn export_scope_note(data: &ScreenData, report: &Report) -> String {
        let mut says = Vec::new();
        if let Some(target) = data
            .focus
            .target
            .as_ref()
            .filter(|_| report.targets.len() > 1)
        {
            let name = target.name();
            says.push(match report.check_command(target, "") {
                Some(command) => {
                    format!("This export covers all targets; for {name} alone: `{command}`.")
                }
                None => "This export covers all targets.".to_owned(),
            });
        }
        if data.assumed_host.is_some() {
            says.push(
                "This export describes the real host, without assumptions or entered values."
                    .to_owned(),
            );
        }
        says.join(" ")
    }

    pub fn document_lines(
        data: &ScreenData,
        format: Format,
        state: &PageState,
        room: usize,
    ) -> Vec<Line<'static>> {
        match data.export.rendered_document(format) {
            None if state.focus == PaneFocus::List => {
                let says = "Press enter to render the document. Nothing is written until you press s and confirm.";
                text::wrapped_lines(says, DIM, room)
            }
            None => vec![Line::styled("rendering …", DIM)],
            Some(Err(why)) => vec![Line::styled(why.to_owned(), DOUBT)],
            Some(Ok(document)) => document_preview_lines(document, state, room),
        }
    }

    fn document_preview_lines(
        document: &ExportDocument,
        state: &PageState,
        room: usize,
    ) -> Vec<Line<'static>> {
        let all = count_with_noun(document.lines, "line");
        let first = if document.lines > MAX_SHOWN_LINES {
            format!(", the first {MAX_SHOWN_LINES} shown")
        } else {
            String::new()
        };
        let found = if state.has_filter_text() {
            "; matching lines only"
        } else {
            ""
        };
        let shown = document
            .text
            .lines()
            .take(MAX_SHOWN_LINES)
            .filter(|line| state.passes_filter(line));
        let mut lines = vec![Line::styled(format!("{all}{first}{found}"), DIM)];
        let rows = shown.flat_map(|line| text::wrap_with_prefix(line, "", room));
        lines.extend(rows.map(Line::raw));
        lines
    }
}
mod changes;
mod commit_latency;
mod curves {
    use ratatui::text::{Line, Span};

    use crate::facts::catalog::postgres::WalSyncMethod;
    use crate::measure::{Measurement, MethodResult};
    use crate::tui::theme::{BOLD, DIM, method_style};
    use crate::tui::widgets::ecdf::{self, Curve};
    use crate::tui::widgets::text;

    /// Methods share a curve if their medians differ at most by this factor.
    const SAME_CURVE_FACTOR: f64 = 1.05;
    /// Curves of the fastest method, the method in force, and the slowest method.
    const MAX_CURVES: usize = 3;

    /// A heading and the chart. Empty if there are no quantiles or too few columns or rows.
    pub fn latency_curve_lines(
        measurement: &Measurement,
        in_force: Option<WalSyncMethod>,
        ascii: bool,
        columns: usize,
        rows: usize,
    ) -> Vec<Line<'static>> {
        let groups = drawn_method_groups(measurement, in_force);
        let curves: Vec<Curve<'_>> = groups
            .iter()
            .take(MAX_CURVES)
            .filter_map(|group| method_group_curve(group))
            .collect();
        let chart = ecdf::ecdf_chart(&curves, columns, rows, DIM, ascii);
        if chart.lines.is_empty() {
            return Vec::new();
        }
        let title = "Commits completed within";
        let names = [vec!["log scale".to_owned()], chart.unplaced_labels].concat();
        let aside = text::truncate_to_width(
            &names.join(" · "),
            columns.saturating_sub(text::width(title) + 3),
        );
        let mut lines = vec![Line::from(vec![
            Span::styled(title, BOLD),
            Span::styled(format!("   {aside}"), DIM),
        ])];
        lines.extend(chart.lines);
        lines
    }

    fn method_group_curve<'m>(group: &[&'m MethodResult]) -> Option<Curve<'m>> {
        let first = group.first()?;
        let label = match group.len() {
            1 => first.method.name().to_owned(),
            all => format!("{} +{}", first.method.name(), all - 1),
        };
        Some(Curve {
            label,
            style: method_style(first.method),
            quantiles: first.paced.as_ref()?.quantiles_us.as_slice(),
        })
    }

    /// Groups methods with similar medians, the fastest group first. Groups between the fastest and
    /// the slowest are dropped unless they contain the method in force.
    fn drawn_method_groups(
        measurement: &Measurement,
        in_force: Option<WalSyncMethod>,
    ) -> Vec<Vec<&MethodResult>> {
        let paced = measurement
            .attempted_one_page_server_rows()
            .filter_map(|row| Some((row.paced_median_us()?, row)));
        let mut rows: Vec<(f64, &MethodResult)> = paced.collect();
        rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut groups: Vec<Vec<&MethodResult>> = Vec::new();
        for (median, row) in rows {
            let is_alike = |group: &&mut Vec<&MethodResult>| {
                group
                    .first()
                    .and_then(|first| first.paced_median_us())
                    .is_some_and(|first| median <= first * SAME_CURVE_FACTOR)
            };
            match groups.last_mut().filter(is_alike) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        let last = groups.len().saturating_sub(1);
        let used = |group: &[&MethodResult]| {
            group
                .iter()
                .any(|row| measurement.is_row_of_method_in_force(row, in_force))
        };
        let numbered = groups.into_iter().enumerate();
        let shown = numbered.filter(|(at, group)| *at == 0 || *at == last || used(group));
        shown.map(|(_, group)| group).collect()
    }
}
mod probe;
mod rules;
mod storage;
mod unknown_facts;
mod what_if {
    use super::sections::SectionRenderer;
    use crate::report::view::{Section, what_if};
    use crate::tui::page::{Page, PageBlock, RowDetails};
    use crate::tui::widgets::text;
    use ratatui::text::Line;

    const ASIDE: &str = "compared with the real host; press W to leave";

    /// Adds the lines of all sections without a heading, then one line with the number of items in
    /// each other section.
    pub fn push_what_if_summary(page: &mut Page, view: SectionRenderer<'_>) {
        let Some(assumed) = &view.data.assumed_host else {
            return;
        };
        page.push_heading("What if", ASIDE);
        let sections = what_if::what_if_sections(&assumed.what_if);
        let mut lines = Vec::new();
        let mut counted = Vec::new();
        for section in sections.iter().skip(1) {
            let mut drawn = Page::default();
            view.push_section(&mut drawn, section);
            if section.heading.is_empty() {
                lines.extend(drawn.blocks.into_iter().flat_map(|block| block.lines));
            } else {
                let heading = section.heading.to_string();
                // The part of a heading after its comma does not fit in the line.
                let heading = heading.split(',').next().unwrap_or_default().to_lowercase();
                let items = drawn.selectable_blocks().count();
                counted.push(format!("{heading} ({items})"));
            }
        }
        let rows = text::wrap(&counted.join(" · "), view.room).into_iter();
        lines.extend(rows.filter(|row| !row.is_empty()).map(Line::from));
        let details = RowDetails::Sections("What if", sections);
        page.blocks
            .push(PageBlock::new_row("what if", details, lines));
    }

    pub fn assumption_sections(view: SectionRenderer<'_>) -> Vec<Section> {
        let assumed = view.data.assumed_host.as_ref();
        assumed.map_or_else(Vec::new, |host| what_if::what_if_sections(&host.what_if))
    }
}
mod advice {
    use ratatui::text::Line;

    use super::{PageContext, what_if};
    use crate::tui::page::Page;

    impl PageContext<'_> {
        pub fn advice_page(&self) -> Page {
            let mut page = Page::default();
            let view = self.section_renderer();
            for section in what_if::assumption_sections(view) {
                view.push_section(&mut page, &section);
            }
            let advised = &self.data.focus.advised;
            if advised.change.is_none() {
                page.push_heading("Plan", "");
                page.push_text_block(vec![Line::raw("Nothing to change.")]);
            }
            for section in advised.sections_except_fixes() {
                view.push_section(&mut page, section);
            }
            page
        }
    }
}
mod overview;

use ratatui::text::Line;

use self::sections::SectionRenderer;
use super::page::{Page, PageState};
use super::screen_data::ScreenData;
use super::screen_id::ScreenId;
use super::theme::DIM;
use super::viewport::BodyLayout;
use crate::facts::Subject;
use crate::report::Report;

/// The content and the size of a page or of details, once all facts are read and there is a target.
#[derive(Clone, Copy)]
pub struct PageContext<'a> {
    data: &'a ScreenData,
    report: &'a Report,
    target: &'a Subject,
    state: &'a PageState,
    room: BodyLayout,
}

impl<'a> PageContext<'a> {
    fn new(data: &'a ScreenData, state: &'a PageState, room: BodyLayout) -> Option<Self> {
        let (report, target) = data.report_and_chosen_target()?;
        Some(Self {
            data,
            report,
            target,
            state,
            room,
        })
    }

    fn section_renderer(&self) -> SectionRenderer<'a> {
        SectionRenderer {
            data: self.data,
            room: self.room.columns,
            with_commands: false,
        }
    }
}

impl ScreenId {
    pub fn build_page(self, data: &ScreenData, state: &PageState, room: BodyLayout) -> Page {
        let mut page = match (self, PageContext::new(data, state, room)) {
            (Self::Overview, view) => overview::overview_page(data, view, room),
            (Self::Export, _) => export::export_page(data, room.columns),
            (Self::Changes, _) => changes::changes_page(data, room.columns),
            (Self::Storage, Some(view)) => view.storage_page(),
            (Self::Probe, Some(view)) => view.probe_page(),
            (Self::Advice, Some(view)) => view.advice_page(),
            (Self::Rules, Some(view)) => view.rules_page(),
            (Self::Storage | Self::Probe | Self::Advice | Self::Rules, None) => {
                no_target_page(data)
            }
        };
        if !self.has_own_filter() && data.complete && state.has_filter_text() {
            page.retain_matching_blocks(|said| state.passes_filter(said));
            if page.blocks.is_empty() {
                page.push_text_block(vec![Line::styled("No matches.", DIM)]);
            }
        }
        if let Some(moved) = &data.changes.moved {
            changes::mark_changed_blocks(&mut page, moved);
        }
        page
    }
}

fn no_target_page(data: &ScreenData) -> Page {
    let says = if data.complete {
        "No target was found."
    } else {
        "Still collecting facts."
    };
    let mut page = Page::default();
    page.push_text_block(vec![Line::default(), Line::styled(says, DIM)]);
    page
}
