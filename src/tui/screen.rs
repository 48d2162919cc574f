//! The screens: each turns the data into a page. They do not know each other; another one is opened
//! by its name.

mod details;
mod sections;
mod export {
    //! Export: the forms of the report, each with what it is; what Enter opens beneath is the
    //! document that would be saved.

    use ratatui::text::Line;

    use crate::quote::Command;
    use crate::report::telling::words::count;
    use crate::report::{Format, Report};
    use crate::tui::data::Data;
    use crate::tui::documents::ExportDocument;
    use crate::tui::export::may_save;
    use crate::tui::page::{Block, Enter, Page, PageState};
    use crate::tui::theme::{TextRole, Theme};
    use crate::tui::widgets::columns::{self, Column};
    use crate::tui::widgets::text;

    /// So many lines of a document are shown; all of them are saved.
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
            0 | 1 => "the report, as `walwise check --format` prints it".to_owned(),
            all => {
                format!("the report of all {all} targets, as `walwise check --format` prints it")
            }
        };
        page.heading(theme, "Export", &what);
        let of = told_of(data, report);
        if !of.is_empty() {
            let of = text::wrap(&of, room).into_iter();
            page.text(
                of.map(|line| Line::styled(line, theme.style(TextRole::Doubt)))
                    .collect(),
            );
        }
        if let Some(saved) = &data.export.saved {
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
                (format.says().to_owned(), dim),
            ]
        });
        let rows = columns::wrapped(&rows, &[Column::keep(10), Column::wrap(24)], room);
        for (format, mut lines) in Format::ALL.into_iter().zip(rows) {
            if state.is_unfolded(format.name()) {
                lines.extend(match data.export.document(format) {
                    None => vec![Line::styled("  making it …", dim)],
                    Some(Err(why)) => vec![Line::styled(
                        format!("  {why}"),
                        theme.style(TextRole::Doubt),
                    )],
                    Some(Ok(document)) => preview(document, state, theme, room.saturating_sub(2)),
                });
                lines.push(Line::default());
            }
            page.blocks
                .push(Block::item(format.name(), Enter::Unfold, lines));
        }
        if data.export.saved.is_none() {
            page.text(vec![
                Line::default(),
                Line::styled("Nothing is written before s was answered.", dim),
            ]);
        }
        page
    }

    /// What of the screens before is not what is exported.
    fn told_of(data: &Data, report: &Report) -> String {
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
                        format!("It is of all targets; `{command}` makes one of {name} alone.")
                    }
                    None => "It is of all targets.".to_owned(),
                },
            );
        }
        if data.supposed.is_some() {
            says.push(
                "It is of the machine as it is: nothing assumed or entered affects it.".to_owned(),
            );
        }
        says.join(" ")
    }

    /// The beginning of a document, or all of it where it is short, as it is, or the lines of that
    /// with what is looked for; what does not fit in a line is cut.
    fn preview(
        document: &ExportDocument,
        state: &PageState,
        theme: Theme,
        room: usize,
    ) -> Vec<Line<'static>> {
        let all = count(document.lines, "line");
        let first = if document.lines > SHOWN {
            format!(", of which the first {SHOWN} are shown")
        } else {
            String::new()
        };
        let found = if state.is_searching() {
            "; of these, those with the words"
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
        lines.extend(shown.map(|line| Line::raw(format!("  {}", text::fit(line, room)))));
        lines
    }
}
mod price;
mod curves {
    //! The methods as curves: which share of commits was done within a time.

    use ratatui::text::{Line, Span};

    use crate::facts::catalog::postgres::WalSyncMethod;
    use crate::measure::{Measurement, MethodResult};
    use crate::tui::theme::{TextRole, Theme};
    use crate::tui::widgets::ecdf::{self, Curve};
    use crate::tui::widgets::text;

    /// Methods whose medians differ by less than this factor are one curve.
    const ALIKE: f64 = 1.05;
    /// The letters of the curves: at most the fastest, that in force and the slowest are drawn.
    const LETTERS: [char; 3] = ['a', 'b', 'c'];
    /// The widest and the highest chart.
    const MOST: (usize, usize) = (100, 10);

    /// A heading with the names of the curves, and the curves; nothing where no quantiles are known
    /// or there is no room.
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
        let drawn = ecdf::lines(&curves, columns.min(MOST.0), rows.min(MOST.1), theme.ascii);
        if drawn.is_empty() {
            return Vec::new();
        }
        let name = |(letter, group): (&char, &Vec<&MethodResult>)| {
            let names: Vec<&str> = group.iter().map(|row| row.method.name()).collect();
            format!("{letter} {}", names.join(" + "))
        };
        let names: Vec<String> = LETTERS.iter().zip(&groups).map(name).collect();
        let title = "Share of commits done within …";
        let aside = text::fit(
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

    /// The methods with quantiles from the fastest on, those that are alike together.
    fn groups(
        measurement: &Measurement,
        in_force: Option<WalSyncMethod>,
    ) -> Vec<Vec<&MethodResult>> {
        let paced = measurement
            .tried_of_server()
            .filter_map(|row| Some((row.median_us()?, row)));
        let mut rows: Vec<(f64, &MethodResult)> = paced.collect();
        rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut groups: Vec<Vec<&MethodResult>> = Vec::new();
        for (median, row) in rows {
            let is_alike = |group: &&mut Vec<&MethodResult>| {
                group
                    .first()
                    .and_then(|first| first.median_us())
                    .is_some_and(|first| median <= first * ALIKE)
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
mod rest {
    //! Pages without a target, and lists of which only the beginning is shown.

    use ratatui::text::Line;

    use crate::tui::data::Data;
    use crate::tui::page::Page;
    use crate::tui::screen_id::ScreenId;
    use crate::tui::theme::{TextRole, Theme};

    /// So many things to do, or missing facts, are shown before the rest is only counted.
    pub const MOST: usize = 8;

    /// How many were left out of a list, after those that are shown.
    pub fn rest(page: &mut Page, theme: Theme, all: usize, shown: usize) {
        let advice = ScreenId::Advice.digit();
        let left = all.saturating_sub(shown);
        if left > 0 {
            page.text(vec![Line::styled(
                format!("{left} more: {advice}"),
                theme.style(TextRole::Dim),
            )]);
        }
    }

    /// The page of what is done to a target where none is chosen.
    pub fn no_target_page(data: &Data, to: &str) -> Page {
        let said = if data.complete {
            &format!("There is no target to {to}.")
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
    //! What would be different, beside the machine as it is: in short on the overview, whole before
    //! the advice.

    use ratatui::text::Line;

    use super::sections::SectionView;
    use crate::report::telling::{Section, what_if};
    use crate::tui::data::Data;
    use crate::tui::page::{Block, Enter, Page, PageState};
    use crate::tui::screen_id::ScreenId;
    use crate::tui::widgets::text;

    const ASIDE: &str = "beside the machine as it is; W leaves";

    /// In short: what is supposed, what becomes of verdicts, which rules are decided, and how much
    /// else is different.
    pub fn brief(page: &mut Page, data: &Data, state: &PageState, room: usize) {
        let Some(supposed) = &data.supposed else {
            return;
        };
        page.heading(
            data.theme,
            "What if",
            &text::fit(ASIDE, room.saturating_sub(10)),
        );
        let view = SectionView {
            data,
            reports: &[],
            state,
            room,
        };
        let sections = what_if::sections(&supposed.what_if);
        let (told, counted): (Vec<&Section>, Vec<&Section>) = sections
            .iter()
            .skip(1)
            .partition(|section| section.heading.is_empty());
        let items: Vec<_> = told
            .into_iter()
            .flat_map(|section| view.all(section))
            .collect();
        let mut lines: Vec<Line<'static>> = view
            .blocks(&items)
            .into_iter()
            .flat_map(|block| block.lines)
            .collect();
        let counted = counted.into_iter().map(|section| {
            let heading = section.heading.to_string();
            // What stands behind a comma has no room in a line.
            let heading = heading.split(',').next().unwrap_or_default().to_lowercase();
            format!("{heading} ({})", view.all(section).len())
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
            Enter::Open(ScreenId::Advice, first),
            lines,
        ));
    }

    pub fn all(page: &mut Page, data: &Data, state: &PageState, room: usize) {
        let (Some(supposed), Some(real)) = (&data.supposed, data.report.as_deref()) else {
            return;
        };
        // What is gone has its reasons in the report of the machine as it is.
        let view = SectionView {
            data,
            reports: &[&supposed.report, real],
            state,
            room,
        };
        for section in what_if::sections(&supposed.what_if) {
            view.add(page, &section);
        }
    }
}
mod advice {
    //! Advice: the plan with its steps, what is right already, what may be done at a price, what
    //! else was found, what cannot be decided, what was withheld, and where rules disagree: the
    //! sections of the report about the chosen target.

    use ratatui::text::Line;

    use super::rest::no_target_page;
    use super::sections::SectionView;
    use super::what_if;
    use crate::tui::data::Data;
    use crate::tui::page::{Page, PageState};

    pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
        let Some((report, _)) = data.chosen() else {
            return no_target_page(data, "advise on");
        };
        let mut page = Page::default();
        what_if::all(&mut page, data, state, room);
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
use super::room::PageRoom;
use super::screen_id::ScreenId;
use super::theme::TextRole;

impl ScreenId {
    /// What it shows in this room.
    pub fn page(self, data: &Data, state: &PageState, room: PageRoom) -> Page {
        let mut page = match self {
            Self::Overview => overview::page(data, state, room),
            Self::Storage => storage::page(data, state, room.columns),
            Self::Probe => probe::page(data, state, room),
            Self::Advice => advice::page(data, state, room.columns),
            Self::Rules => rules::page(data, state, room.columns),
            Self::Export => export::page(data, state, room.columns),
        };
        if !self.has_much() && data.complete && state.is_searching() {
            page.find(|said| state.passes(said));
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
