mod sidebar {
    use ratatui::text::Line;

    use crate::report::Report;
    use crate::tui::data::Data;
    use crate::tui::sidebar::{Sidebar, SidebarRow};
    use crate::tui::target_row;
    use crate::tui::theme::TextRole;
    use crate::tui::widgets::columns::{self, StyledText};

    /// Width in columns, including margins and the vertical line at the right.
    const SIDEBAR_WIDTH: u16 = 44;
    const CONTENT_WIDTH: usize = 41;
    const NAME_WIDTH: usize = 22;

    /// Builds the list of targets for a page of `rows` rows.
    pub fn build_sidebar(data: &Data, report: &Report, rows: usize) -> Sidebar {
        let mut all = target_rows(data, report, rows.saturating_sub(2));
        all.truncate(rows);
        Sidebar {
            rows: all,
            width: SIDEBAR_WIDTH,
        }
    }

    fn target_rows(data: &Data, report: &Report, most: usize) -> Vec<SidebarRow> {
        let theme = data.theme;
        let (place, count) = data.focus.place;
        let title = format!(" Targets {count}, worst first");
        let mut rows = vec![SidebarRow {
            line: Line::styled(title, theme.role_style(TextRole::Heading)),
            target: None,
        }];
        let skipped = (place + 1).saturating_sub(most);
        let shown = data
            .focus
            .targets_worst_first(report)
            .enumerate()
            .skip(skipped)
            .take(most);
        let (places, cells): (Vec<usize>, Vec<Vec<StyledText>>) = shown
            .map(|(at, target)| {
                (
                    at,
                    target_row::target_cells(report, target, at == place, NAME_WIDTH, theme),
                )
            })
            .unzip();
        let lines = columns::align_rows(&cells, &target_row::COLUMNS, CONTENT_WIDTH)
            .into_iter()
            .zip(places);
        rows.extend(lines.map(|(line, at)| SidebarRow {
            line,
            target: Some(at),
        }));
        let below = count.saturating_sub(skipped).saturating_sub(most);
        if below > 0 {
            let line = Line::styled(
                format!("  {below} more (press t)"),
                theme.role_style(TextRole::Dim),
            );
            rows.push(SidebarRow { line, target: None });
        }
        rows
    }
}
mod advice_parts;
mod path_and_latency;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::detail_lines::{DetailLines, indent_lines};
use super::sections::SectionView;
use super::shared_page_parts::MAX_ITEMS;
use super::{unknown_facts, what_if};
use crate::durability::VerdictKind;
use crate::report::view::host;
use crate::report::view::target::{
    self, device_content_sentences, heading_with_reservations, verdict_heading,
};
use crate::report::view::unknown_facts::NONE_MISSING_TEXT;
use crate::report::{Plan, Report};
use crate::tui::dashboard_layout::{DashboardPart, choose_fitting_forms};
use crate::tui::data::{Activity, Data};
use crate::tui::page::{Block, EnterEffect, Page, PageState};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::viewport::{PageLayout, Viewport};
use crate::tui::widgets::columns;
use crate::tui::widgets::text;

/// Priorities by which parts of the page get spare rows; the lowest number is served first.
mod form_priority {
    /// Adds the fixes after the first ones, with their commands.
    pub const FIXES: u8 = 2;
    /// Adds the reasons of the answers.
    pub const WHY: u8 = 3;
    /// Shows commit latency as a chart; `CURVES` adds the curves.
    pub const CHART: u8 = 4;
    pub const CURVES: u8 = 5;
    pub const NAMES: u8 = 6;
    pub const LISTS: u8 = 7;
    pub const SPACING: u8 = 8;
}

const LABEL_WIDTH: usize = 10;

pub fn overview_page(data: &Data, state: &PageState, room: Viewport) -> Page {
    let mut page = Page::default();
    let Some(report) = data.report.as_deref() else {
        page.push_text(loading_lines(data));
        return page;
    };
    let layout = room.layout();
    let side = match layout {
        PageLayout::Panes if data.complete && data.focus.place.1 > 1 => {
            Some(sidebar::build_sidebar(data, report, room.rows))
        }
        PageLayout::Single | PageLayout::Pairs | PageLayout::Panes => None,
    };
    let taken = side.as_ref().map_or(0, |side| usize::from(side.width));
    let view = Dashboard {
        data,
        report,
        state,
        theme: data.theme,
        room: room.columns.saturating_sub(taken),
        rows: room.rows,
        layout,
    };
    let mut parts = if !data.complete {
        vec![DashboardPart::new(vec![Block::new_text(targets_so_far(
            data, report, view.room,
        ))])]
    } else if data.focus.target.is_none() {
        vec![DashboardPart::new(vec![Block::new_text(no_target_lines(
            data, view.room,
        ))])]
    } else {
        view.build_parts()
    };
    parts.push(view.notes_part());
    page.blocks = choose_fitting_forms(parts, room.rows);
    page.side = side;
    page
}

struct Dashboard<'a> {
    data: &'a Data,
    report: &'a Report,
    state: &'a PageState,
    theme: Theme,
    room: usize,
    rows: usize,
    layout: PageLayout,
}

impl Dashboard<'_> {
    fn build_parts(&self) -> Vec<DashboardPart> {
        let mut parts = vec![self.verdict_part(), self.what_if_part()];
        let above = parts.iter().map(DashboardPart::min_rows).sum();
        parts.extend(self.flush_path_parts(above));
        parts.extend([self.fix_first_part(), self.setting_answers_part()]);
        parts.extend(self.latency_parts());
        parts.extend([
            self.withheld_advice_part(),
            self.optional_advice_part(),
            self.undecided_rules_part(),
            self.unknown_facts_part(),
        ]);
        parts
    }

    fn section_view(&self) -> SectionView<'_> {
        let Self {
            data, state, room, ..
        } = *self;
        SectionView {
            data,
            reports: &[],
            state,
            room,
        }
    }

    fn new_section_page(&self, title: &str, aside: &str) -> Page {
        let mut page = Page::default();
        // Adds an empty block, because a heading inserts an empty line only below a block.
        page.push_text(Vec::new());
        page.push_heading(self.theme, title, aside);
        page
    }

    fn labelled_lines(&self, label: &str, says: &str) -> Vec<Line<'static>> {
        let rows = text::wrap(says, self.room.saturating_sub(LABEL_WIDTH));
        columns::labelled_rows(
            (label, self.theme.role_style(TextRole::Heading)),
            LABEL_WIDTH,
            rows,
            Style::default(),
        )
    }

    fn what_if_part(&self) -> DashboardPart {
        let mut page = Page::default();
        page.push_text(Vec::new());
        what_if::push_what_if_summary(&mut page, self.data, self.state, self.room);
        DashboardPart::new(page.blocks)
    }

    fn unknown_facts_part(&self) -> DashboardPart {
        const KEY: &str = "unknown";
        if self.data.focus.needs.is_empty() {
            return part_with_spacing(Block::new_text(
                self.labelled_lines("Unknown", NONE_MISSING_TEXT),
            ));
        }
        let named = |most: usize| {
            let mut page = Page::default();
            page.push_text(Vec::new());
            unknown_facts::push_unknown_section(
                &mut page,
                self.data,
                self.report,
                self.state,
                self.room,
                most,
            );
            page.blocks
        };
        // A list that the user unfolded stays, even if too few rows are left.
        if self.state.is_unfolded(KEY) || unknown_facts::has_unfolded_fact(self.data, self.state) {
            return DashboardPart::new(named(MAX_ITEMS));
        }
        let line = Block::new_selectable_item(
            KEY,
            EnterEffect::Unfold,
            self.labelled_lines(
                "Unknown",
                &unknown_facts::unknown_facts_summary(self.data, self.report),
            ),
        )
        .with_issue(true);
        advice_parts::LIST_SIZES
            .into_iter()
            .fold(part_with_spacing(line), |part, most| {
                part.with_longer_form(form_priority::NAMES, named(most))
            })
    }

    fn notes_part(&self) -> DashboardPart {
        let mut page = Page::default();
        // Adds an empty block, because a heading inserts an empty line only below a block.
        page.push_text(Vec::new());
        if let Some(section) = host::notes_section(self.report) {
            self.section_view().push_section(&mut page, &section);
        }
        DashboardPart::new(page.blocks)
    }

    fn verdict_part(&self) -> DashboardPart {
        const KEY: &str = "verdict";
        let (data, report, theme, room) = (self.data, self.report, self.theme, self.room);
        let Some(verdict) = data.verdict() else {
            let mut details = DetailLines::new(theme, room);
            if let Some(target) = report.targets.get(data.focus.position) {
                details.push_paragraph(&verdict_heading(report, target).to_string());
                let wish = data
                    .plan()
                    .and_then(Plan::requested_filesystem_sentence)
                    .map(|wish| format!("Planned: {wish}."));
                for says in device_content_sentences(target).into_iter().chain(wish) {
                    details.push_paragraph(&says);
                }
            }
            return DashboardPart::new(vec![Block::new_text(details.lines)]);
        };
        let word = heading_with_reservations(verdict).to_string();
        // A long heading, such as one with reservations, gets a line of its own.
        let beside = text::width(&word) + 3;
        let indent = if beside > room / 3 { 3 } else { beside };
        let mut head = (indent == beside).then(|| text::pad_or_truncate(&word, indent));
        let mut lines = Vec::new();
        if head.is_none() {
            let rows = text::wrap(&word, room).into_iter();
            lines.extend(rows.map(|row| Line::styled(row, theme.verdict_style(verdict.standing))));
        }
        let (plain, dim) = (
            theme.role_style(TextRole::Plain),
            theme.role_style(TextRole::Dim),
        );
        let says = [&verdict.sentence, &verdict.second_fault, &verdict.host_loss]
            .map(|says| (says, plain));
        for (says, style) in says.into_iter().chain([(&verdict.limits, dim)]) {
            let rows = text::wrap(says, room.saturating_sub(indent)).into_iter();
            for row in rows.filter(|row| !row.is_empty()) {
                let head = head.take().unwrap_or_else(|| text::spaces(indent));
                let head = Span::styled(head, theme.verdict_style(verdict.standing));
                lines.push(Line::from(vec![head, Span::styled(row, style)]));
            }
        }
        if self.state.is_unfolded(KEY) {
            let view = SectionView {
                room: room.saturating_sub(2),
                ..self.section_view()
            };
            let mut page = Page::default();
            for section in target::evidence_sections(verdict) {
                view.push_section(&mut page, &section);
            }
            lines.extend(indent_lines(
                page.blocks
                    .into_iter()
                    .flat_map(|block| block.lines)
                    .collect(),
            ));
        }
        let is_amiss = verdict.standing < VerdictKind::ProvenByDrill;
        DashboardPart::new(vec![
            Block::new_selectable_item(KEY, EnterEffect::Unfold, lines).with_issue(is_amiss),
        ])
    }
}

fn part_with_spacing(line: Block) -> DashboardPart {
    let air = vec![Block::new_text(vec![Line::default()]), line.clone()];
    DashboardPart::new(vec![line]).with_longer_form(form_priority::SPACING, air)
}

fn loading_lines(data: &Data) -> Vec<Line<'static>> {
    let said = match &data.activity {
        Activity::Collecting { what, .. } => format!("reading {what} …"),
        _ => "Reading failed; press r to try again.".to_owned(),
    };
    vec![
        Line::default(),
        Line::styled(said, data.theme.role_style(TextRole::Dim)),
    ]
}

/// Lists the targets found so far. Verdicts are left out, because they could still change.
fn targets_so_far(data: &Data, report: &Report, room: usize) -> Vec<Line<'static>> {
    let mut lines = loading_lines(data);
    lines.push(Line::default());
    for target in &report.targets {
        lines.push(Line::raw(text::truncate_to_width(
            &format!("found  {}", target.title),
            room,
        )));
    }
    lines
}

fn no_target_lines(data: &Data, room: usize) -> Vec<Line<'static>> {
    let mut details = DetailLines::new(data.theme, room);
    details.push_empty_line();
    details.push_paragraph(
        "No database, data mount or free disk found. To check a directory: walwise DIR",
    );
    details.lines
}
