//! The screens: each turns the data into a page. They do not know each other; a link names a screen
//! by its id.

mod details;
mod sections;
mod export {
    //! Export: the formats of the report with a description; Enter shows the document that would be
    //! saved.

    use ratatui::text::Line;

    use crate::escape::Command;
    use crate::report::view::wording::count_noun;
    use crate::report::{Format, Report};
    use crate::tui::data::Data;
    use crate::tui::documents::ExportDocument;
    use crate::tui::export::may_save;
    use crate::tui::page::{Block, EnterEffect, Page, PageState};
    use crate::tui::theme::{TextRole, Theme};
    use crate::tui::widgets::columns::{self, Column};
    use crate::tui::widgets::text;

    /// Lines shown of a document; all of them are saved.
    const SHOWN: usize = 500;

    pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
        let mut page = Page::default();
        let theme = data.theme;
        let dim = theme.style(TextRole::Dim);
        let Some(report) = data.report.as_deref().filter(|_| may_save(data).is_ok()) else {
            page.text(vec![
                Line::default(),
                Line::styled("Still collecting facts.", dim),
            ]);
            return page;
        };
        let what = match report.targets.len() {
            0 | 1 => "same output as `walwise check --format`".to_owned(),
            all => {
                format!("all {all} targets, same output as `walwise check --format`")
            }
        };
        page.heading(theme, "Export", &what);
        let of = scope_note(data, report);
        if !of.is_empty() {
            let of = text::wrap(&of, room).into_iter();
            page.text(
                of.map(|line| Line::styled(line, theme.style(TextRole::Doubt)))
                    .collect(),
            );
        }
        if let Some(saved) = &data.export.saved_notice {
            page.text(
                text::wrap(saved, room)
                    .into_iter()
                    .map(Line::from)
                    .collect(),
            );
        }
        let rows = Format::ALL.map(|format| {
            vec![
                (format.name().to_owned(), theme.style(TextRole::Plain)),
                (format.description().to_owned(), dim),
            ]
        });
        let rows = columns::wrapped_rows(&rows, &[Column::keep(10), Column::wrap(24)], room);
        for (format, mut lines) in Format::ALL.into_iter().zip(rows) {
            if state.is_unfolded(format.name()) {
                lines.extend(match data.export.document(format) {
                    None => vec![Line::styled("  rendering …", dim)],
                    Some(Err(why)) => vec![Line::styled(
                        format!("  {why}"),
                        theme.style(TextRole::Doubt),
                    )],
                    Some(Ok(document)) => preview(document, state, theme, room.saturating_sub(2)),
                });
                lines.push(Line::default());
            }
            page.blocks
                .push(Block::item(format.name(), EnterEffect::Unfold, lines));
        }
        if data.export.saved_notice.is_none() {
            page.text(vec![
                Line::default(),
                Line::styled("Nothing is written until you confirm with s.", dim),
            ]);
        }
        page
    }

    /// How the export differs from the screens.
    fn scope_note(data: &Data, report: &Report) -> String {
        let mut says = Vec::new();
        if let Some(target) = data
            .focus
            .target
            .as_ref()
            .filter(|_| report.targets.len() > 1)
        {
            let name = target.name();
            says.push(
                match Command::check(name, "").and_then(|command| report.host.command(command)) {
                    Some(command) => {
                        format!("Covers all targets; for {name} alone: `{command}`.")
                    }
                    None => "Covers all targets.".to_owned(),
                },
            );
        }
        if data.assumed_host.is_some() {
            says.push("Describes the real host, without assumptions or entered values.".to_owned());
        }
        says.join(" ")
    }

    /// The beginning of a document, or its lines that match the search; long lines are cut.
    fn preview(
        document: &ExportDocument,
        state: &PageState,
        theme: Theme,
        room: usize,
    ) -> Vec<Line<'static>> {
        let all = count_noun(document.lines, "line");
        let first = if document.lines > SHOWN {
            format!(", the first {SHOWN} shown")
        } else {
            String::new()
        };
        let found = if state.is_searching() {
            "; matching lines only"
        } else {
            ""
        };
        let shown = document
            .text
            .lines()
            .take(SHOWN)
            .filter(|line| state.passes(line));
        let mut lines = vec![Line::styled(
            format!("  {all}{first}{found}"),
            theme.style(TextRole::Dim),
        )];
        lines.extend(shown.map(|line| Line::raw(format!("  {}", text::truncate(line, room)))));
        lines
    }
}
mod commit_latency;
mod curves {
    //! The methods as curves: share of commits completed within a time.

    use ratatui::text::{Line, Span};

    use crate::facts::catalog::postgres::WalSyncMethod;
    use crate::measure::{Measurement, MethodResult};
    use crate::tui::theme::{TextRole, Theme};
    use crate::tui::widgets::ecdf::{self, Curve};
    use crate::tui::widgets::text;

    /// Methods whose medians differ by less than this factor share a curve.
    const SAME_CURVE_FACTOR: f64 = 1.05;
    /// At most the fastest method, the one in force and the slowest are drawn.
    const LETTERS: [char; 3] = ['a', 'b', 'c'];
    /// The largest width and height.
    const MAX_CHART_SIZE: (usize, usize) = (100, 10);

    /// A heading with the names of the curves, and the chart; empty without quantiles or space.
    pub fn lines<'m>(
        measurement: &'m Measurement,
        in_force: Option<WalSyncMethod>,
        theme: Theme,
        columns: usize,
        rows: usize,
    ) -> Vec<Line<'static>> {
        let groups = groups(measurement, in_force);
        let curve = |(letter, group): (&char, &Vec<&'m MethodResult>)| {
            let paced = group.first().and_then(|row| row.paced.as_ref());
            let quantiles = paced
                .map(|paced| paced.quantiles_us.as_slice())
                .unwrap_or_default();
            Curve {
                letter: *letter,
                quantiles,
            }
        };
        let curves: Vec<Curve<'m>> = LETTERS.iter().zip(&groups).map(curve).collect();
        let drawn = ecdf::lines(
            &curves,
            columns.min(MAX_CHART_SIZE.0),
            rows.min(MAX_CHART_SIZE.1),
            theme.ascii,
        );
        if drawn.is_empty() {
            return Vec::new();
        }
        let name = |(letter, group): (&char, &Vec<&MethodResult>)| {
            let names: Vec<&str> = group.iter().map(|row| row.method.name()).collect();
            format!("{letter} {}", names.join(" + "))
        };
        let names: Vec<String> = LETTERS.iter().zip(&groups).map(name).collect();
        let title = "Commits completed within";
        let aside = text::truncate(
            &names.join("   "),
            columns.saturating_sub(text::width(title) + 3),
        );
        let mut lines = vec![Line::from(vec![
            Span::styled(title, theme.style(TextRole::Heading)),
            Span::styled(format!("   {aside}"), theme.style(TextRole::Dim)),
        ])];
        lines.extend(
            drawn
                .into_iter()
                .map(|row| Line::styled(row, theme.style(TextRole::Accent))),
        );
        lines
    }

    /// The methods with quantiles, fastest first, similar ones grouped.
    fn groups(
        measurement: &Measurement,
        in_force: Option<WalSyncMethod>,
    ) -> Vec<Vec<&MethodResult>> {
        let paced = measurement
            .server_rows_with_errors()
            .filter_map(|row| Some((row.median_us()?, row)));
        let mut rows: Vec<(f64, &MethodResult)> = paced.collect();
        rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut groups: Vec<Vec<&MethodResult>> = Vec::new();
        for (median, row) in rows {
            let is_alike = |group: &&mut Vec<&MethodResult>| {
                group
                    .first()
                    .and_then(|first| first.median_us())
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
                .any(|row| measurement.is_in_force(row, in_force))
        };
        let numbered = groups.into_iter().enumerate();
        let shown = numbered.filter(|(at, group)| *at == 0 || *at == last || used(group));
        shown.map(|(_, group)| group).collect()
    }
}
mod list_limits {
    //! Pages without a target, and the ends of shortened lists.

    use ratatui::text::Line;

    use crate::tui::data::Data;
    use crate::tui::page::Page;
    use crate::tui::screen_id::ScreenId;
    use crate::tui::theme::{TextRole, Theme};

    /// The largest number of steps or missing facts listed.
    pub const MAX_ITEMS: usize = 8;

    /// Adds the number of entries not shown.
    pub fn push_remainder(page: &mut Page, theme: Theme, all: usize, shown: usize) {
        let advice = ScreenId::Advice.digit();
        let left = all.saturating_sub(shown);
        if left > 0 {
            page.text(vec![Line::styled(
                format!("{left} more (press {advice})"),
                theme.style(TextRole::Dim),
            )]);
        }
    }

    /// A page for when no target is chosen.
    pub fn no_target_page(data: &Data, to: &str) -> Page {
        let said = if data.complete {
            &format!("No target to {to}.")
        } else {
            "Still collecting facts."
        };
        let mut page = Page::default();
        page.text(vec![
            Line::default(),
            Line::styled(said.to_owned(), data.theme.style(TextRole::Dim)),
        ]);
        page
    }
}
mod probe;
mod rules;
mod storage;
mod unknown;
mod what_if {
    //! What assumptions change: a summary on the overview, everything before the advice.

    use ratatui::text::Line;

    use super::sections::SectionView;
    use crate::report::view::{Section, what_if};
    use crate::tui::data::Data;
    use crate::tui::page::{Block, EnterEffect, Page, PageState};
    use crate::tui::screen_id::ScreenId;
    use crate::tui::widgets::text;

    const ASIDE: &str = "compared with the real host; W ends";

    /// A summary: assumptions, changed verdicts, newly decided rules, and counts of the rest.
    pub fn add_summary(page: &mut Page, data: &Data, state: &PageState, room: usize) {
        let Some(supposed) = &data.assumed_host else {
            return;
        };
        page.heading(
            data.theme,
            "What if",
            &text::truncate(ASIDE, room.saturating_sub(10)),
        );
        let view = SectionView {
            data,
            reports: &[],
            state,
            room,
        };
        let sections = what_if::what_if_sections(&supposed.what_if);
        let (told, counted): (Vec<&Section>, Vec<&Section>) = sections
            .iter()
            .skip(1)
            .partition(|section| section.heading.is_empty());
        let items: Vec<_> = told
            .into_iter()
            .flat_map(|section| view.all_items(section))
            .collect();
        let mut lines: Vec<Line<'static>> = view
            .blocks(&items)
            .into_iter()
            .flat_map(|block| block.lines)
            .collect();
        let counted = counted.into_iter().map(|section| {
            let heading = section.heading.to_string();
            // The part after a comma does not fit in the line.
            let heading = heading.split(',').next().unwrap_or_default().to_lowercase();
            format!("{heading} ({})", view.all_items(section).len())
        });
        let counted = counted.collect::<Vec<_>>().join(" · ");
        lines.extend(
            text::wrap(&counted, room)
                .into_iter()
                .filter(|row| !row.is_empty())
                .map(Line::from),
        );
        let first = items
            .into_iter()
            .next()
            .map(|item| item.key)
            .unwrap_or_default();
        page.blocks.push(Block::item(
            "what if",
            EnterEffect::Open(ScreenId::Advice, first),
            lines,
        ));
    }

    pub fn add_details(page: &mut Page, data: &Data, state: &PageState, room: usize) {
        let (Some(supposed), Some(real)) = (&data.assumed_host, data.report.as_deref()) else {
            return;
        };
        // The reasons of what disappears are in the report of the real host.
        let view = SectionView {
            data,
            reports: &[&supposed.report, real],
            state,
            room,
        };
        for section in what_if::what_if_sections(&supposed.what_if) {
            view.add(page, &section);
        }
    }
}
mod advice {
    //! Advice: the sections of the report about the chosen target, from the plan with its steps to
    //! conflicting rules.

    use ratatui::text::Line;

    use super::list_limits::no_target_page;
    use super::sections::SectionView;
    use super::what_if;
    use crate::tui::data::Data;
    use crate::tui::page::{Page, PageState};

    pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
        let Some((report, _)) = data.chosen_target() else {
            return no_target_page(data, "advise on");
        };
        let mut page = Page::default();
        what_if::add_details(&mut page, data, state, room);
        if data.focus.advised.change.is_none() {
            page.heading(data.theme, "Plan", "");
            page.text(vec![Line::raw("Nothing to change.")]);
        }
        let view = SectionView {
            data,
            reports: &[report],
            state,
            room,
        };
        for section in data.focus.advised.sections() {
            view.add(&mut page, section);
        }
        page
    }
}
mod overview;

use ratatui::text::Line;

use super::data::Data;
use super::page::{Page, PageState};
use super::screen_id::ScreenId;
use super::theme::TextRole;
use super::viewport::Viewport;

impl ScreenId {
    /// Builds the page of this screen.
    pub fn page(self, data: &Data, state: &PageState, room: Viewport) -> Page {
        let mut page = match self {
            Self::Overview => overview::page(data, state, room),
            Self::Storage => storage::page(data, state, room.columns),
            Self::Probe => probe::page(data, state, room),
            Self::Advice => advice::page(data, state, room.columns),
            Self::Rules => rules::page(data, state, room.columns),
            Self::Export => export::page(data, state, room.columns),
        };
        if !self.has_much() && data.complete && state.is_searching() {
            page.retain_matching(|said| state.passes(said));
            if page.blocks.is_empty() {
                page.text(vec![Line::styled(
                    "No matches.",
                    data.theme.style(TextRole::Dim),
                )]);
            }
        }
        page
    }
}
