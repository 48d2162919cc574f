//! The overview, a dashboard: verdict, flush path, fixes, commit latency, answers and unknown
//! facts; on wide terminals also other targets and the host. Parts take longer forms where rows are
//! left, and link to the screens with details.

mod facts;
mod sidebar {
    //! The left column of a wide dashboard: all targets, and facts of the host and of the chosen
    //! target's stack.

    use ratatui::text::{Line, Span};

    use super::facts;
    use crate::facts::{Scope, Subject};
    use crate::report::Report;
    use crate::tui::data::Data;
    use crate::tui::sidebar::{Sidebar, SidebarRow};
    use crate::tui::target_row;
    use crate::tui::theme::TextRole;
    use crate::tui::widgets::columns::{self, StyledText};

    /// In columns, including margins and the line at its right.
    const WIDTH: u16 = 50;
    const CONTENT_WIDTH: usize = 47;
    /// Columns for the title of a target.
    const NAME: usize = 16;
    /// Facts per subject.
    const MAX_FACTS: usize = 7;

    /// The sidebar in so many rows.
    pub fn build(data: &Data, report: &Report, rows: usize) -> Sidebar {
        let mut all = targets(data, report, rows / 2);
        for subject in related_subjects(data, report) {
            if all.len() >= rows {
                break;
            }
            let said =
                facts::subject_facts(report, &subject, data.theme, CONTENT_WIDTH - 1, MAX_FACTS);
            if !said.is_empty() {
                all.push(SidebarRow {
                    line: Line::default(),
                    target: None,
                });
            }
            all.extend(said.into_iter().map(|line| SidebarRow {
                line: indented(line),
                target: None,
            }));
        }
        all.truncate(rows);
        Sidebar {
            rows: all,
            width: WIDTH,
        }
    }

    fn indented(mut line: Line<'static>) -> Line<'static> {
        line.spans.insert(0, Span::raw(" "));
        line
    }

    /// The subjects to describe, most useful first: two disks, the host, file systems, the server,
    /// boot settings, other devices.
    fn related_subjects<'d>(
        data: &'d Data,
        report: &Report,
    ) -> impl Iterator<Item = Subject> + use<'d> {
        let mut first = facts::disks(data, report);
        first.truncate(2);
        first.push(Subject::host());
        let of_scope = |scope: Scope| {
            data.focus
                .subjects()
                .filter(move |subject| subject.scope() == scope)
        };
        let others = [Scope::Mount, Scope::Cluster, Scope::Boot, Scope::Device]
            .into_iter()
            .flat_map(of_scope);
        let known = first.clone();
        first.into_iter().chain(
            others
                .filter(move |subject| !known.contains(subject))
                .cloned(),
        )
    }

    /// The targets, worst first, scrolled to the chosen one.
    fn targets(data: &Data, report: &Report, most: usize) -> Vec<SidebarRow> {
        let theme = data.theme;
        let (place, count) = data.focus.place;
        let title = if count == 1 {
            " Target".to_owned()
        } else {
            format!(" Targets {count}, worst first")
        };
        let mut rows = vec![SidebarRow {
            line: Line::styled(title, theme.style(TextRole::Heading)),
            target: None,
        }];
        let skipped = (place + 1).saturating_sub(most);
        let shown = data
            .focus
            .targets(report)
            .enumerate()
            .skip(skipped)
            .take(most);
        let (places, cells): (Vec<usize>, Vec<Vec<StyledText>>) = shown
            .map(|(at, target)| {
                (
                    at,
                    target_row::cells(report, target, at == place, NAME, theme),
                )
            })
            .unzip();
        let lines = columns::lines(&cells, &target_row::COLUMNS, CONTENT_WIDTH)
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
                theme.style(TextRole::Dim),
            );
            rows.push(SidebarRow { line, target: None });
        }
        rows
    }
}
mod path;
mod todo;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::details::{Details, indented};
use super::list_limits::MAX_ITEMS;
use super::sections::SectionView;
use super::{unknown, what_if};
use crate::durability::VerdictKind;
use crate::report::view::host;
use crate::report::view::target::{
    self, heading_with_reservations, verdict_heading, without_verdict,
};
use crate::report::view::unknown::NONE_MISSING;
use crate::report::{Plan, Report};
use crate::tui::data::{Activity, Data};
use crate::tui::layout_choice::{DashboardPart, choose_forms};
use crate::tui::page::{Block, EnterEffect, Page, PageState};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::viewport::{PageLayout, Viewport};
use crate::tui::widgets::columns;
use crate::tui::widgets::text;

/// The order in which spare rows are spent on longer forms.
mod priority {
    /// The command of the first fix, then of all.
    pub const COMMAND: u8 = 1;
    pub const COMMANDS: u8 = 2;
    /// Commit latency as a chart, then with curves.
    pub const CHART: u8 = 3;
    pub const CURVES: u8 = 4;
    pub const NAMES: u8 = 5;
    /// Optional and undecided advice, as lists.
    pub const LISTS: u8 = 6;
    /// Facts of the disks.
    pub const FACTS: u8 = 7;
    /// An empty line before a labelled line.
    pub const SPACING: u8 = 8;
}

/// Columns for a label.
const LABEL: usize = 10;

pub fn page(data: &Data, state: &PageState, room: Viewport) -> Page {
    let mut page = Page::default();
    let Some(report) = data.report.as_deref() else {
        page.text(loading_lines(data));
        return page;
    };
    let layout = room.layout();
    let side = match layout {
        PageLayout::Panes if data.complete && data.focus.target.is_some() => {
            Some(sidebar::build(data, report, room.rows))
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
        vec![DashboardPart::new(vec![Block::text(targets_so_far(
            data, report, view.room,
        ))])]
    } else if data.focus.target.is_none() {
        vec![DashboardPart::new(vec![Block::text(no_target(
            data, view.room,
        ))])]
    } else {
        view.parts()
    };
    parts.push(view.warnings());
    page.blocks = choose_forms(parts, room.rows);
    page.side = side;
    page
}

/// The inputs of all parts of the page.
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
    fn parts(&self) -> Vec<DashboardPart> {
        let mut parts = vec![self.verdict(), self.what_if()];
        let above = parts.iter().map(DashboardPart::rows).sum();
        parts.extend(self.path_and_latency(above));
        parts.extend([self.fix_first(), self.answers()]);
        parts.extend(self.latency());
        parts.extend([
            self.withheld(),
            self.options(),
            self.undecided(),
            self.unknown(),
            self.disks(),
        ]);
        parts
    }

    fn view(&self) -> SectionView<'_> {
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

    /// A page with this heading.
    fn section(&self, title: &str, aside: &str) -> Page {
        let mut page = Page::default();
        // The empty block makes the heading insert its empty line.
        page.text(Vec::new());
        page.heading(self.theme, title, aside);
        page
    }

    /// A label and a text wrapped beside it.
    fn labelled_lines(&self, label: &str, says: &str) -> Vec<Line<'static>> {
        let rows = text::wrap(says, self.room.saturating_sub(LABEL));
        columns::labelled_rows(
            (label, self.theme.style(TextRole::Heading)),
            LABEL,
            rows,
            Style::default(),
        )
    }

    fn what_if(&self) -> DashboardPart {
        let mut page = Page::default();
        page.text(Vec::new());
        what_if::add_summary(&mut page, self.data, self.state, self.room);
        DashboardPart::new(page.blocks)
    }

    /// Unknown facts: number and best remedy, or each by name.
    fn unknown(&self) -> DashboardPart {
        const KEY: &str = "unknown";
        if self.data.focus.needs.is_empty() {
            return with_spacing(Block::text(self.labelled_lines("Unknown", NONE_MISSING)));
        }
        let named = |most: usize| {
            let mut page = Page::default();
            page.text(Vec::new());
            unknown::add_section(
                &mut page,
                self.data,
                self.report,
                self.state,
                self.room,
                most,
            );
            page.blocks
        };
        // What the user opened stays open.
        if self.state.is_unfolded(KEY) || unknown::has_unfolded(self.data, self.state) {
            return DashboardPart::new(named(MAX_ITEMS));
        }
        let line = Block::item(
            KEY,
            EnterEffect::Unfold,
            self.labelled_lines("Unknown", &unknown::summary(self.data, self.report)),
        )
        .with_issue(true);
        todo::LIST_SIZES
            .into_iter()
            .fold(with_spacing(line), |part, most| {
                part.with_form(priority::NAMES, named(most))
            })
    }

    fn warnings(&self) -> DashboardPart {
        let mut page = Page::default();
        // The empty block makes the heading insert its empty line.
        page.text(Vec::new());
        if let Some(section) = host::notes_section(self.report) {
            self.view().add(&mut page, &section);
        }
        DashboardPart::new(page.blocks)
    }

    fn verdict(&self) -> DashboardPart {
        const KEY: &str = "verdict";
        let (data, report, theme, room) = (self.data, self.report, self.theme, self.room);
        let Some(verdict) = data.verdict() else {
            let mut details = Details::new(theme, room);
            if let Some(target) = report.targets.get(data.focus.position) {
                details.paragraph(&verdict_heading(report, target).to_string());
                let wish = data
                    .plan()
                    .and_then(Plan::requested_filesystem)
                    .map(|wish| format!("Planned: {wish}."));
                for says in without_verdict(target).into_iter().chain(wish) {
                    details.paragraph(&says);
                }
            }
            return DashboardPart::new(vec![Block::text(details.lines)]);
        };
        let word = heading_with_reservations(verdict).to_string();
        // A long heading, such as one with reservations, gets its own line.
        let beside = text::width(&word) + 3;
        let indent = if beside > room / 3 { 3 } else { beside };
        let mut head = (indent == beside).then(|| text::pad(&word, indent));
        let mut lines = Vec::new();
        if head.is_none() {
            let rows = text::wrap(&word, room).into_iter();
            lines.extend(rows.map(|row| Line::styled(row, theme.verdict(verdict.standing))));
        }
        let (plain, dim) = (theme.style(TextRole::Plain), theme.style(TextRole::Dim));
        let says = [&verdict.sentence, &verdict.second_fault, &verdict.host_loss]
            .map(|says| (says, plain));
        for (says, style) in says.into_iter().chain([(&verdict.limits, dim)]) {
            let rows = text::wrap(says, room.saturating_sub(indent)).into_iter();
            for row in rows.filter(|row| !row.is_empty()) {
                let head = head.take().unwrap_or_else(|| text::blank(indent));
                let head = Span::styled(head, theme.verdict(verdict.standing));
                lines.push(Line::from(vec![head, Span::styled(row, style)]));
            }
        }
        if self.state.is_unfolded(KEY) {
            let view = SectionView {
                room: room.saturating_sub(2),
                ..self.view()
            };
            let mut page = Page::default();
            for section in target::evidence_sections(verdict) {
                view.add(&mut page, &section);
            }
            lines.extend(indented(
                page.blocks
                    .into_iter()
                    .flat_map(|block| block.lines)
                    .collect(),
            ));
        }
        let is_amiss = verdict.standing < VerdictKind::ProvenByDrill;
        DashboardPart::new(vec![
            Block::item(KEY, EnterEffect::Unfold, lines).with_issue(is_amiss),
        ])
    }
}

/// A line, preceded by an empty one if rows are left.
fn with_spacing(line: Block) -> DashboardPart {
    let air = vec![Block::text(vec![Line::default()]), line.clone()];
    DashboardPart::new(vec![line]).with_form(priority::SPACING, air)
}

/// Before the first fact arrives.
fn loading_lines(data: &Data) -> Vec<Line<'static>> {
    let said = match &data.activity {
        Activity::Collecting { what, .. } => format!("reading {what} …"),
        _ => "Reading failed; r tries again.".to_owned(),
    };
    vec![
        Line::default(),
        Line::styled(said, data.theme.style(TextRole::Dim)),
    ]
}

/// While the host is read: targets found, without verdicts.
fn targets_so_far(data: &Data, report: &Report, room: usize) -> Vec<Line<'static>> {
    let mut lines = loading_lines(data);
    lines.push(Line::default());
    for target in &report.targets {
        lines.push(Line::raw(text::truncate(
            &format!("found  {}", target.title),
            room,
        )));
    }
    lines
}

fn no_target(data: &Data, room: usize) -> Vec<Line<'static>> {
    let mut details = Details::new(data.theme, room);
    details.gap();
    details.paragraph("No database, data mount or free disk found. Name a directory: walwise DIR");
    details.lines
}
