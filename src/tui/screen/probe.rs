//! The probe: before it what it is about, while it runs the race of the methods, afterwards what it
//! came to: intervals on an axis, curves of the shares done within a time, how many commits took
//! how long, and the course of the rounds.
//!
//! What it would write is said by the question before it, which lies over this screen. The
//! surprise: while it runs, the figures of the moment are shown and not believed; only what a
//! planned look found is called settled.

use ratatui::text::{Line, Span};

use super::details::Details;
use super::rest::no_target_page;
use super::{curves, price};
use crate::measure::{Latencies, Measurement, MethodResult, Progress, sentence, sparkline};
use crate::report::Report;
use crate::report::price::in_force;
use crate::report::telling::price::PRICE;
use crate::text::{grouped, micros, micros_or_dash};
use crate::tui::data::{Activity, Data};
use crate::tui::page::{Enter, Page, PageState};
use crate::tui::room::PageRoom;
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::{histogram, text};

/// Rows of curves and histogram, with their axes.
const HIGH: usize = 8;
/// From so many columns on curves and histogram are side by side, with so many between them.
const WIDE: usize = 120;
const BETWEEN: usize = 3;
/// Columns of the tails' table beside the rounds, gaps included.
const BESIDE_ROUNDS: usize = 55;

pub fn page(data: &Data, state: &PageState, room: PageRoom) -> Page {
    let Some((report, _)) = data.chosen() else {
        return no_target_page(data, "measure");
    };
    let mut page = Page::default();
    let view = LatencyTable {
        data,
        state,
        report,
        room: room.columns,
    };
    match (&data.activity, data.measurement()) {
        (
            Activity::Probing {
                target,
                progress,
                cancelled,
                ..
            },
            _,
        ) if Some(target) == data.focus.target.as_ref() => {
            view.running(&mut page, progress.as_deref(), *cancelled);
        }
        (_, Some(measurement)) => view.done(&mut page, measurement),
        (_, None) => view.before(&mut page),
    }
    page
}

struct LatencyTable<'a> {
    data: &'a Data,
    state: &'a PageState,
    report: &'a Report,
    room: usize,
}

impl LatencyTable<'_> {
    fn heading(&self, page: &mut Page, aside: &str) {
        const BEFORE: &str = "Probe of ";
        let name = self
            .data
            .focus
            .target
            .as_ref()
            .map(crate::facts::Subject::name)
            .unwrap_or_default();
        let taken = text::width(BEFORE)
            .saturating_add(text::width(aside))
            .saturating_add(3);
        let name = text::fit_middle(name, self.room.saturating_sub(taken).max(12));
        page.heading(self.data.theme, &format!("{BEFORE}{name}"), aside);
    }

    fn details(&self) -> Details {
        Details::new(self.data.theme, self.room)
    }

    fn before(&self, page: &mut Page) {
        self.heading(page, "not measured");
        let mut details = self.details();
        self.failure(&mut details);
        details.gap();
        match self.data.measurable() {
            Ok(()) => {
                details
                    .paragraph("p says what would be written, where, and for how long, and asks.");
                details.gap();
                details.paragraph(
                    "Then commits are made as the server makes them, with each of its methods in turn, round by \
                     round, so that what disturbs the disk disturbs all of them alike. It ends when more rounds \
                     would not change which method is advised, or when its time is over.",
                );
            }
            Err(why) => details.paragraph(why),
        }
        page.text(details.lines);
    }

    /// Why the last probe of this target came to nothing, if it did.
    fn failure(&self, details: &mut Details) {
        let ended = self
            .data
            .ended
            .as_ref()
            .filter(|ended| Some(&ended.target) == self.data.focus.target.as_ref());
        if let Some(why) = ended.and_then(|ended| ended.failed.as_deref()) {
            details.gap();
            details.paragraph(why);
        }
    }

    fn running(&self, page: &mut Page, progress: Option<&Progress>, cancelled: bool) {
        let Some(progress) = progress else {
            return self.heading(page, "starting");
        };
        self.heading(
            page,
            &format!("{}, {}", progress.phase.words(), progress.how_far()),
        );
        let says = match progress.so_far_in_words() {
            _ if cancelled => "cancelling; the results so far are kept".to_owned(),
            Some(says) => says,
            None => "the first round is not over yet".to_owned(),
        };
        let mut details = self.details();
        details.paragraph(&says);
        // Two lines whatever is said, or all beneath would jump.
        while details.lines.len() < 2 {
            details.gap();
        }
        page.text(details.lines);
        let Some(measurement) = &progress.so_far else {
            return;
        };
        self.figures(page, measurement, &progress.histogram);
        let mut details = self.details();
        details.gap();
        price::caveats(&mut details, measurement);
        if details.lines.len() > 1 {
            page.text(details.lines);
        }
    }

    fn done(&self, page: &mut Page, measurement: &Measurement) {
        let (rounds, seconds) = (measurement.rounds, measurement.seconds);
        self.heading(
            page,
            &format!(
                "measured {}: {rounds} rounds in {seconds:.1} s",
                measurement.when
            ),
        );
        let mut details = self.details();
        let in_force = in_force(self.report, self.data.focus.cluster.as_ref());
        details.paragraph(&sentence(measurement, in_force));
        price::caveats(&mut details, measurement);
        self.failure(&mut details);
        details.gap();
        page.text(details.lines);
        let ended = self.data.ended.as_ref();
        let ended = ended.filter(|ended| Some(&ended.target) == self.data.focus.target.as_ref());
        self.figures(
            page,
            measurement,
            ended
                .map(|ended| ended.histogram.as_slice())
                .unwrap_or_default(),
        );
    }

    fn figures(&self, page: &mut Page, measurement: &Measurement, histogram: &[(f64, u64)]) {
        let theme = self.data.theme;
        page.text(vec![Line::from(vec![
            Span::styled(PRICE, theme.style(TextRole::Heading)),
            Span::styled(
                format!("   {}", measurement.basis()),
                theme.style(TextRole::Dim),
            ),
        ])]);
        let rows = price::MethodTable {
            data: self.data,
            report: self.report,
            measurement,
            room: self.room,
        };
        rows.add(page, self.state, |_| Enter::Unfold);
        self.curves_and_times(page, measurement, histogram);
        page.text(self.tails(measurement));
    }

    /// What the medians do not tell: the course of the rounds, and the slow commits.
    fn tails(&self, measurement: &Measurement) -> Vec<Line<'static>> {
        let theme = self.data.theme;
        let (plain, dim) = (theme.style(TextRole::Plain), theme.style(TextRole::Dim));
        let wide = self.room.saturating_sub(BESIDE_ROUNDS).clamp(10, 40);
        let row = |(row, paced): (&MethodResult, &Latencies)| -> Vec<StyledText> {
            let flushes = row
                .flushes_per_commit
                .map_or_else(|| "-".to_owned(), |count| format!("{count:.2}"));
            let right = |said: String| (format!("{said:>8}"), plain);
            vec![
                (row.method.name().to_owned(), plain),
                (
                    sparkline(&paced.rounds_us, wide),
                    theme.style(TextRole::Accent),
                ),
                right(micros(paced.p95_us)),
                right(micros_or_dash(paced.p99_us)),
                right(micros(paced.max_us)),
                right(flushes),
            ]
        };
        let head = |said: &str| (format!("{said:>8}"), dim);
        let mut rows = vec![vec![
            ("Tails".to_owned(), theme.style(TextRole::Heading)),
            ("rounds".to_owned(), dim),
            head("p95"),
            head("p99"),
            head("max"),
            head("flush/op"),
        ]];
        let measured = measurement
            .tried_of_server()
            .filter_map(MethodResult::with_paced);
        rows.extend(measured.map(row));
        let shape = [
            Column::keep(13),
            Column::drop(4),
            Column::drop(2),
            Column::keep(8),
            Column::drop(3),
            Column::drop(1),
        ];
        let mut lines = vec![Line::default()];
        lines.extend(columns::lines(&rows, &shape, self.room));
        lines
    }

    /// The share of commits done within a time, and how many took how long: side by side where
    /// there is room.
    fn curves_and_times(
        &self,
        page: &mut Page,
        measurement: &Measurement,
        histogram: &[(f64, u64)],
    ) {
        let in_force = in_force(self.report, self.data.focus.cluster.as_ref());
        let (half, is_wide) = match self.room {
            WIDE.. => ((self.room - BETWEEN) / 2, true),
            narrow => (narrow, false),
        };
        let curves = curves::lines(measurement, in_force, self.data.theme, half, HIGH);
        let times = self.times(measurement, histogram, half);
        let gap = || vec![Line::default()];
        let both = if is_wide && !curves.is_empty() && !times.is_empty() {
            vec![columns::beside(curves, times, half + BETWEEN)]
        } else {
            vec![curves, times]
        };
        for lines in both.into_iter().filter(|lines| !lines.is_empty()) {
            page.text(gap().into_iter().chain(lines).collect());
        }
    }

    /// How often a commit with the default took how long.
    fn times(
        &self,
        measurement: &Measurement,
        buckets: &[(f64, u64)],
        columns: usize,
    ) -> Vec<Line<'static>> {
        let theme = self.data.theme;
        if buckets.is_empty() {
            return Vec::new();
        }
        let all = buckets
            .iter()
            .fold(0, |all: u64, (_, count)| all.saturating_add(*count));
        let method = measurement
            .comparisons
            .first()
            .map_or(measurement.best, |of| of.against)
            .name();
        let aside = format!("   {} commits with {method}, by time", grouped(all));
        let mut lines = vec![Line::from(vec![
            Span::styled("Times", theme.style(TextRole::Heading)),
            Span::styled(
                text::fit(&aside, columns.saturating_sub(5)),
                theme.style(TextRole::Dim),
            ),
        ])];
        let drawn = histogram::chart(buckets, columns, HIGH).into_iter();
        lines.extend(drawn.map(|row| Line::styled(row, theme.style(TextRole::Accent))));
        lines
    }
}
