//! The probe: what it does, live results while it runs, and the result: intervals, curves, a
//! histogram, and tails by round.
//!
//! The question before it is an overlay. While it runs, figures are shown as they come, but only a
//! planned interim analysis calls a comparison settled.

use ratatui::text::{Line, Span};

use super::details::Details;
use super::list_limits::no_target_page;
use super::{commit_latency, curves};
use crate::measure::{Latencies, Measurement, MethodResult, Progress, sentence, sparkline};
use crate::report::Report;
use crate::report::latency::sync_method_in_force;
use crate::report::view::latency::HEADING;
use crate::text::{group_digits, micros, micros_or_dash};
use crate::tui::data::{Activity, Data};
use crate::tui::page::{EnterEffect, Page, PageState};
use crate::tui::theme::TextRole;
use crate::tui::viewport::Viewport;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::{histogram, text};

/// Rows of curves and histogram, with axes.
const CHART_ROWS: usize = 8;
/// The width for curves and histogram side by side, and the gap between.
const TWO_COLUMN_WIDTH: usize = 120;
const GAP: usize = 3;
/// Columns of the tail table without the rounds, including gaps.
const BESIDE_ROUNDS: usize = 55;

pub fn page(data: &Data, state: &PageState, room: Viewport) -> Page {
    let Some((report, _)) = data.chosen_target() else {
        return no_target_page(data, "measure");
    };
    let mut page = Page::default();
    let view = ProbePage {
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
            view.push_running(&mut page, progress.as_deref(), *cancelled);
        }
        (_, Some(measurement)) => view.push_result(&mut page, measurement),
        (_, None) => view.push_unmeasured(&mut page),
    }
    page
}

struct ProbePage<'a> {
    data: &'a Data,
    state: &'a PageState,
    report: &'a Report,
    room: usize,
}

impl ProbePage<'_> {
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

    fn push_unmeasured(&self, page: &mut Page) {
        self.heading(page, "not measured");
        let mut details = self.details();
        self.failure(&mut details);
        details.gap();
        match self.data.check_measurable() {
            Ok(()) => {
                details
                    .paragraph("p shows what will be written, where and for how long, then asks.");
                details.gap();
                details.paragraph(
                    "It commits as the server does, with each sync method in turn, so a disturbance \
                     hits every method alike. It stops when more rounds cannot change the advice, \
                     or when time is up.",
                );
            }
            Err(why) => details.paragraph(why),
        }
        page.text(details.lines);
    }

    /// Why the last probe of this target failed, if it did.
    fn failure(&self, details: &mut Details) {
        let ended = self
            .data
            .last_probe
            .as_ref()
            .filter(|ended| Some(&ended.target) == self.data.focus.target.as_ref());
        if let Some(why) = ended.and_then(|ended| ended.error.as_deref()) {
            details.gap();
            details.paragraph(why);
        }
    }

    fn push_running(&self, page: &mut Page, progress: Option<&Progress>, cancelled: bool) {
        let Some(progress) = progress else {
            return self.heading(page, "starting");
        };
        self.heading(
            page,
            &format!(
                "{}, {}",
                progress.phase.description(),
                progress.remaining_time()
            ),
        );
        let says = match progress.interim_comparison() {
            _ if cancelled => "cancelling; the results so far are kept".to_owned(),
            Some(says) => says,
            None => "first round still running".to_owned(),
        };
        let mut details = self.details();
        details.paragraph(&says);
        // At least two lines, so that the figures below do not jump.
        while details.lines.len() < 2 {
            details.gap();
        }
        page.text(details.lines);
        let Some(measurement) = &progress.interim else {
            return;
        };
        self.figures(page, measurement, &progress.histogram);
        let mut details = self.details();
        details.gap();
        commit_latency::caveats(&mut details, measurement);
        if details.lines.len() > 1 {
            page.text(details.lines);
        }
    }

    fn push_result(&self, page: &mut Page, measurement: &Measurement) {
        let (rounds, seconds) = (measurement.rounds, measurement.seconds);
        self.heading(
            page,
            &format!(
                "measured {}: {rounds} rounds in {seconds:.1} s",
                measurement.when
            ),
        );
        let mut details = self.details();
        let in_force = sync_method_in_force(self.report, self.data.focus.cluster.as_ref());
        details.paragraph(&sentence(measurement, in_force));
        commit_latency::caveats(&mut details, measurement);
        self.failure(&mut details);
        details.gap();
        page.text(details.lines);
        let ended = self.data.last_probe.as_ref();
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
            Span::styled(HEADING, theme.style(TextRole::Heading)),
            Span::styled(
                format!("   {}", measurement.basis()),
                theme.style(TextRole::Dim),
            ),
        ])]);
        let rows = commit_latency::MethodTable {
            data: self.data,
            report: self.report,
            measurement,
            room: self.room,
        };
        rows.add(page, self.state, |_| EnterEffect::Unfold);
        self.curves_and_times(page, measurement, histogram);
        page.text(self.tail_table(measurement));
    }

    /// What medians hide: the course of the rounds, and slow commits.
    fn tail_table(&self, measurement: &Measurement) -> Vec<Line<'static>> {
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
            ("Tail latency".to_owned(), theme.style(TextRole::Heading)),
            ("rounds".to_owned(), dim),
            head("p95"),
            head("p99"),
            head("max"),
            head("flushes"),
        ]];
        let measured = measurement
            .server_rows_with_errors()
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

    /// Curves and histogram, side by side if there is room.
    fn curves_and_times(
        &self,
        page: &mut Page,
        measurement: &Measurement,
        histogram: &[(f64, u64)],
    ) {
        let in_force = sync_method_in_force(self.report, self.data.focus.cluster.as_ref());
        let (half, is_wide) = match self.room {
            TWO_COLUMN_WIDTH.. => ((self.room - GAP) / 2, true),
            narrow => (narrow, false),
        };
        let curves = curves::lines(measurement, in_force, self.data.theme, half, CHART_ROWS);
        let times = self.histogram_lines(measurement, histogram, half);
        let gap = || vec![Line::default()];
        let both = if is_wide && !curves.is_empty() && !times.is_empty() {
            vec![columns::side_by_side(curves, times, half + GAP)]
        } else {
            vec![curves, times]
        };
        for lines in both.into_iter().filter(|lines| !lines.is_empty()) {
            page.text(gap().into_iter().chain(lines).collect());
        }
    }

    /// The distribution of commit times with the default method.
    fn histogram_lines(
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
        let aside = format!("   {method}, {} commits", group_digits(all));
        let mut lines = vec![Line::from(vec![
            Span::styled("Histogram", theme.style(TextRole::Heading)),
            Span::styled(
                text::truncate(&aside, columns.saturating_sub(9)),
                theme.style(TextRole::Dim),
            ),
        ])];
        let drawn = histogram::chart(buckets, columns, CHART_ROWS).into_iter();
        lines.extend(drawn.map(|row| Line::styled(row, theme.style(TextRole::Accent))));
        lines
    }
}
