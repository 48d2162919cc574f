//! The overview, a dashboard: the verdict, the flush path, what to do first, the price of a commit,
//! what is kept and what is not known; on a wide terminal the other targets and the host beside it.
//! Its parts take longer forms where rows are left. What is said elsewhere in full is one key away.

mod facts;
mod side {
    //! The column at the left of a wide dashboard: every target, and what is known of the host and
    //! of the stack of the chosen one.

    use ratatui::text::{Line, Span};

    use super::facts;
    use crate::facts::{Scope, Subject};
    use crate::report::Report;
    use crate::tui::data::Data;
    use crate::tui::side::{Side, SideRow};
    use crate::tui::standing;
    use crate::tui::theme::TextRole;
    use crate::tui::widgets::columns::{self, StyledText};

    /// Its columns, with margins and the line at its right.
    const WIDTH: u16 = 50;
    const ROOM: usize = 47;
    /// Columns of the name of a target.
    const NAME: usize = 16;
    /// The most facts of one thing.
    const MOST: usize = 7;

    /// The column in so many rows.
    pub fn side(data: &Data, report: &Report, rows: usize) -> Side {
        let mut all = targets(data, report, rows / 2);
        for subject in concerned(data, report) {
            if all.len() >= rows {
                break;
            }
            let said = facts::of(report, &subject, data.theme, ROOM - 1, MOST);
            if !said.is_empty() {
                all.push(SideRow {
                    line: Line::default(),
                    target: None,
                });
            }
            all.extend(said.into_iter().map(|line| SideRow {
                line: indented(line),
                target: None,
            }));
        }
        all.truncate(rows);
        Side {
            rows: all,
            width: WIDTH,
        }
    }

    fn indented(mut line: Line<'static>) -> Line<'static> {
        line.spans.insert(0, Span::raw(" "));
        line
    }

    /// What is told of: two disks, the host, file systems, the server, what the next boot does, and
    /// other devices.
    fn concerned<'d>(data: &'d Data, report: &Report) -> impl Iterator<Item = Subject> + use<'d> {
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

    /// The targets, the worst first, the chosen one among them.
    fn targets(data: &Data, report: &Report, most: usize) -> Vec<SideRow> {
        let theme = data.theme;
        let (place, count) = data.focus.place;
        let title = if count == 1 {
            " Target".to_owned()
        } else {
            format!(" Targets {count}, worst first")
        };
        let mut rows = vec![SideRow {
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
                    standing::cells(report, target, at == place, NAME, theme),
                )
            })
            .unzip();
        let lines = columns::lines(&cells, &standing::SHAPE, ROOM)
            .into_iter()
            .zip(places);
        rows.extend(lines.map(|(line, at)| SideRow {
            line,
            target: Some(at),
        }));
        let below = count.saturating_sub(skipped).saturating_sub(most);
        if below > 0 {
            let line = Line::styled(format!("  {below} more: t"), theme.style(TextRole::Dim));
            rows.push(SideRow { line, target: None });
        }
        rows
    }
}
mod path;
mod todo;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::details::{Details, indented};
use super::rest::MOST;
use super::sections::SectionView;
use super::{unknown, what_if};
use crate::durability::Standing;
use crate::report::telling::host;
use crate::report::telling::target::{self, heading, standing, without_verdict};
use crate::report::telling::unknown::NOTHING;
use crate::report::{Plan, Report};
use crate::tui::data::{Activity, Data};
use crate::tui::fill::{DashboardPart, fill};
use crate::tui::page::{Block, Enter, Page, PageState};
use crate::tui::room::{PageLayout, PageRoom};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns;
use crate::tui::widgets::text;

/// In which order rows that are left are spent on longer forms.
mod turn {
    /// Commands beneath the first thing to do, then beneath each.
    pub const COMMAND: u8 = 1;
    pub const COMMANDS: u8 = 2;
    /// The price as a chart, then with its curves.
    pub const CHART: u8 = 3;
    pub const CURVES: u8 = 4;
    pub const NAMES: u8 = 5;
    /// What is kept, open and at a price, as lists.
    pub const LISTS: u8 = 6;
    /// What is known of the disks.
    pub const FACTS: u8 = 7;
    /// An empty line before a line with a label.
    pub const AIR: u8 = 8;
}

/// Columns for what stands before a sentence.
const LABEL: usize = 10;

pub fn page(data: &Data, state: &PageState, room: PageRoom) -> Page {
    let mut page = Page::default();
    let Some(report) = data.report.as_deref() else {
        page.text(not_yet(data));
        return page;
    };
    let layout = room.layout();
    let side = match layout {
        PageLayout::Panes if data.complete && data.focus.target.is_some() => {
            Some(side::side(data, report, room.rows))
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
        vec![DashboardPart::new(vec![Block::text(so_far(
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
    page.blocks = fill(parts, room.rows);
    page.side = side;
    page
}

/// All that the parts of the page are made from.
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
        parts.extend(self.path_and_price(above));
        parts.extend([self.do_first(), self.answers()]);
        parts.extend(self.price());
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

    /// Blocks beneath a heading.
    fn section(&self, title: &str, aside: &str) -> Page {
        let mut page = Page::default();
        // A heading that is not the first has an empty line before it.
        page.text(Vec::new());
        page.heading(self.theme, title, aside);
        page
    }

    /// A sentence behind a label.
    fn labelled(&self, label: &str, says: &str) -> Vec<Line<'static>> {
        let rows = text::wrap(says, self.room.saturating_sub(LABEL));
        columns::labelled(
            (label, self.theme.style(TextRole::Heading)),
            LABEL,
            rows,
            Style::default(),
        )
    }

    fn what_if(&self) -> DashboardPart {
        let mut page = Page::default();
        page.text(Vec::new());
        what_if::brief(&mut page, self.data, self.state, self.room);
        DashboardPart::new(page.blocks)
    }

    /// What is not known: how much, and what would help with most of it; or each fact by its name.
    fn unknown(&self) -> DashboardPart {
        const KEY: &str = "unknown";
        if self.data.focus.needs.is_empty() {
            return airy(Block::text(self.labelled("Unknown", NOTHING)));
        }
        let named = |most: usize| {
            let mut page = Page::default();
            page.text(Vec::new());
            unknown::add(
                &mut page,
                self.data,
                self.report,
                self.state,
                self.room,
                most,
            );
            page.blocks
        };
        // What was opened stays in sight.
        if self.state.is_unfolded(KEY) || unknown::is_open(self.data, self.state) {
            return DashboardPart::new(named(MOST));
        }
        let line = Block::item(
            KEY,
            Enter::Unfold,
            self.labelled("Unknown", &unknown::in_short(self.data, self.report)),
        )
        .amiss(true);
        todo::FEW
            .into_iter()
            .fold(airy(line), |part, most| part.or(turn::NAMES, named(most)))
    }

    fn warnings(&self) -> DashboardPart {
        let mut page = Page::default();
        // A heading that is not the first has an empty line before it.
        page.text(Vec::new());
        if let Some(section) = host::warnings(self.report) {
            self.view().add(&mut page, &section);
        }
        DashboardPart::new(page.blocks)
    }

    fn verdict(&self) -> DashboardPart {
        const KEY: &str = "verdict";
        let (data, report, theme, room) = (self.data, self.report, self.theme, self.room);
        let Some(verdict) = data.verdict() else {
            let mut details = Details::new(theme, room);
            if let Some(target) = report.targets.get(data.focus.at) {
                details.paragraph(&standing(report, target).to_string());
                let wish = data
                    .plan()
                    .and_then(Plan::wish)
                    .map(|wish| format!("The plan makes {wish}."));
                for says in without_verdict(target).into_iter().chain(wish) {
                    details.paragraph(&says);
                }
            }
            return DashboardPart::new(vec![Block::text(details.lines)]);
        };
        let word = heading(verdict).to_string();
        // A heading with reservations has a line of its own.
        let beside = text::width(&word) + 3;
        let indent = if beside > room / 3 { 3 } else { beside };
        let mut head = (indent == beside).then(|| text::pad(&word, indent));
        let mut lines = Vec::new();
        if head.is_none() {
            let rows = text::wrap(&word, room).into_iter();
            lines.extend(rows.map(|row| Line::styled(row, theme.standing(verdict.standing))));
        }
        let (plain, dim) = (theme.style(TextRole::Plain), theme.style(TextRole::Dim));
        let says = [&verdict.sentence, &verdict.second_fault, &verdict.host_loss]
            .map(|says| (says, plain));
        for (says, style) in says.into_iter().chain([(&verdict.limits, dim)]) {
            let rows = text::wrap(says, room.saturating_sub(indent)).into_iter();
            for row in rows.filter(|row| !row.is_empty()) {
                let head = head.take().unwrap_or_else(|| text::blank(indent));
                let head = Span::styled(head, theme.standing(verdict.standing));
                lines.push(Line::from(vec![head, Span::styled(row, style)]));
            }
        }
        if self.state.is_unfolded(KEY) {
            let view = SectionView {
                room: room.saturating_sub(2),
                ..self.view()
            };
            let mut page = Page::default();
            for section in target::evidence(verdict) {
                view.add(&mut page, &section);
            }
            lines.extend(indented(
                page.blocks
                    .into_iter()
                    .flat_map(|block| block.lines)
                    .collect(),
            ));
        }
        let is_amiss = verdict.standing < Standing::ProvenByDrill;
        DashboardPart::new(vec![Block::item(KEY, Enter::Unfold, lines).amiss(is_amiss)])
    }
}

/// A line, with an empty one before it where rows are left.
fn airy(line: Block) -> DashboardPart {
    let air = vec![Block::text(vec![Line::default()]), line.clone()];
    DashboardPart::new(vec![line]).or(turn::AIR, air)
}

/// Before the first fact.
fn not_yet(data: &Data) -> Vec<Line<'static>> {
    let said = match &data.activity {
        Activity::Collecting { what, .. } => format!("reading {what} …"),
        _ => "Nothing was read: r tries again.".to_owned(),
    };
    vec![
        Line::default(),
        Line::styled(said, data.theme.style(TextRole::Dim)),
    ]
}

/// While the machine is being read: what was found, and no judgement yet.
fn so_far(data: &Data, report: &Report, room: usize) -> Vec<Line<'static>> {
    let mut lines = not_yet(data);
    lines.push(Line::default());
    for target in &report.targets {
        lines.push(Line::raw(text::fit(
            &format!("found  {}", target.title),
            room,
        )));
    }
    lines
}

fn no_target(data: &Data, room: usize) -> Vec<Line<'static>> {
    let mut details = Details::new(data.theme, room);
    details.gap();
    details
        .paragraph("No database, data mount or free disk was found. Name a directory: walwise DIR");
    details.lines
}
