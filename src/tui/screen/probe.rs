//! The probe screen. It shows figures during a measurement, but only a planned interim analysis may
//! call a comparison settled.

use ratatui::text::{Line, Span};

use super::detail_lines::DetailLines;
use super::{PageContext, commit_latency, curves};
use crate::measure::{
    Latencies, Measurement, MethodResult, ProbeProgress, measurement_summary, sparkline,
};
use crate::report::view::latency::HEADING;
use crate::text::{format_micros, format_micros_or_dash, group_digits};
use crate::tui::page::Page;
use crate::tui::screen_data::{BackgroundActivity, FinishedProbe};
use crate::tui::theme::{BOLD, DIM, PLAIN, method_style};
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::{histogram, text};

/// Rows of a chart, its scale included; a page with fewer free rows scrolls.
const CHART_ROWS: usize = 8;
const MAX_CHART_ROWS: usize = 30;
/// Columns needed to show curves and histogram side by side.
const TWO_COLUMN_WIDTH: usize = 120;
const GAP: usize = 3;
/// Columns of the tail latency table, including gaps, without the bars of the rounds.
const WIDTH_BESIDE_ROUNDS: usize = 55;

impl PageContext<'_> {
    pub fn probe_page(&self) -> Page {
        let mut page = Page::default();
        match (&self.data.activity, self.data.measurement_in_report()) {
            (
                BackgroundActivity::Probing {
                    target,
                    progress,
                    cancelled,
                    ..
                },
                _,
            ) if target == self.target => {
                self.push_running_probe(&mut page, progress.as_deref(), *cancelled);
            }
            (_, Some(measurement)) => self.push_measurement_result(&mut page, measurement),
            (_, None) => self.push_unmeasured_notice(&mut page),
        }
        page
    }

    fn push_probe_heading(&self, page: &mut Page, aside: &str) {
        const TITLE_PREFIX: &str = "Probe of ";
        let name = self.target.name();
        let taken = text::width(TITLE_PREFIX) + text::width(aside) + 3;
        let name = text::truncate_middle(name, self.room.columns.saturating_sub(taken).max(12));
        page.push_heading(&format!("{TITLE_PREFIX}{name}"), aside);
    }

    fn push_unmeasured_notice(&self, page: &mut Page) {
        self.push_probe_heading(page, "not measured");
        let mut details = DetailLines::new(self.room.columns);
        self.push_last_probe_failure(&mut details);
        details.push_empty_line();
        match self.data.check_measurable() {
            Ok(()) => {
                details.push_paragraph(
                    "Press p to see what the probe would write, where and for how long. \
                     Nothing starts until you confirm.",
                );
                details.push_empty_line();
                details.push_paragraph(
                    "The probe commits as the server does, with each sync method in turn, so that a \
                     disturbance affects all methods alike. The probe stops when further rounds cannot change \
                     the advice, or when time is up.",
                );
            }
            Err(why) => details.push_paragraph(why),
        }
        page.push_text_block(details.lines);
    }

    fn last_probe(&self) -> Option<&FinishedProbe> {
        let ended = self.data.last_probe.as_ref();
        ended.filter(|ended| ended.target == *self.target)
    }

    fn push_last_probe_failure(&self, details: &mut DetailLines) {
        if let Some(why) = self.last_probe().and_then(|ended| ended.error.as_deref()) {
            details.push_empty_line();
            details.push_paragraph(why);
        }
    }

    fn push_running_probe(
        &self,
        page: &mut Page,
        progress: Option<&ProbeProgress>,
        cancelled: bool,
    ) {
        let Some(progress) = progress else {
            return self.push_probe_heading(page, "starting");
        };
        self.push_probe_heading(
            page,
            &format!(
                "{}, {}",
                progress.phase.description(),
                progress.round_and_remaining_time_text()
            ),
        );
        let says = match progress.interim_comparison_text() {
            _ if cancelled => "cancelling; the results so far are kept".to_owned(),
            Some(says) => says,
            None => "the first round is still running".to_owned(),
        };
        let mut details = DetailLines::new(self.room.columns);
        details.push_paragraph(&says);
        // At least two lines, so that the figures below stay in place.
        while details.lines.len() < 2 {
            details.push_empty_line();
        }
        page.push_text_block(details.lines);
        let Some(measurement) = &progress.interim else {
            return;
        };
        self.push_latency_figures(page, measurement, &progress.histogram);
        let mut details = DetailLines::new(self.room.columns);
        details.push_empty_line();
        commit_latency::push_caveats(&mut details, measurement);
        if details.lines.len() > 1 {
            page.push_text_block(details.lines);
        }
    }

    fn push_measurement_result(&self, page: &mut Page, measurement: &Measurement) {
        let (rounds, seconds) = (measurement.rounds, measurement.seconds);
        self.push_probe_heading(
            page,
            &format!(
                "measured {}: {rounds} rounds in {seconds:.1} s",
                measurement.when
            ),
        );
        let mut details = DetailLines::new(self.room.columns);
        let in_force = self.data.method_in_force();
        details.push_paragraph(&measurement_summary(measurement, in_force));
        commit_latency::push_caveats(&mut details, measurement);
        self.push_last_probe_failure(&mut details);
        details.push_empty_line();
        page.push_text_block(details.lines);
        let histogram = self.last_probe().map(|ended| ended.histogram.as_slice());
        self.push_latency_figures(page, measurement, histogram.unwrap_or_default());
    }

    fn push_latency_figures(
        &self,
        page: &mut Page,
        measurement: &Measurement,
        histogram: &[(f64, u64)],
    ) {
        page.push_text_block(vec![Line::from(vec![
            Span::styled(HEADING, BOLD),
            Span::styled(format!("   {}", measurement.paced_conditions_text()), DIM),
        ])]);
        self.push_method_table(page, measurement);
        let tails = self.tail_latency_lines(measurement);
        self.push_charts(page, measurement, histogram, tails.len());
        page.push_text_block(tails);
    }

    fn tail_latency_lines(&self, measurement: &Measurement) -> Vec<Line<'static>> {
        let wide = self
            .room
            .columns
            .saturating_sub(WIDTH_BESIDE_ROUNDS)
            .clamp(10, 40);
        let row = |(row, paced): (&MethodResult, &Latencies)| -> Vec<StyledText> {
            let flushes = row
                .flushes_per_commit
                .map_or_else(|| "-".to_owned(), |count| format!("{count:.2}"));
            let right = |said: String| (format!("{said:>8}"), PLAIN);
            vec![
                (row.method.name().to_owned(), PLAIN),
                (sparkline(&paced.rounds_us, wide), method_style(row.method)),
                right(format_micros(paced.p95_us)),
                right(format_micros_or_dash(paced.p99_us)),
                right(format_micros(paced.max_us)),
                right(flushes),
            ]
        };
        let head = |said: &str| (format!("{said:>8}"), DIM);
        let mut rows = vec![vec![
            ("Tail latency".to_owned(), BOLD),
            ("rounds".to_owned(), DIM),
            head("p95"),
            head("p99"),
            head("max"),
            head("flushes"),
        ]];
        let measured = measurement
            .attempted_one_page_server_rows()
            .filter_map(MethodResult::paced_row_and_latencies);
        rows.extend(measured.map(row));
        let shape = [
            Column::new_cuttable(13),
            Column::new_droppable(4),
            Column::new_droppable(2),
            Column::new_cuttable(8),
            Column::new_droppable(3),
            Column::new_droppable(1),
        ];
        let mut lines = vec![Line::default()];
        lines.extend(columns::align_rows(&rows, &shape, self.room.columns));
        lines
    }

    /// Adds curves and histogram, which fill the free rows. `below` counts the rows of the table
    /// that follows.
    fn push_charts(
        &self,
        page: &mut Page,
        measurement: &Measurement,
        histogram: &[(f64, u64)],
        below: usize,
    ) {
        let in_force = self.data.method_in_force();
        let room = self.room.columns;
        let (half, is_wide) = match room {
            TWO_COLUMN_WIDTH.. => ((room - GAP) / 2, true),
            narrow => (narrow, false),
        };
        let is_pair = is_wide && !histogram.is_empty();
        let columns = if is_pair { half } else { room };
        // A heading and a blank row precede each chart.
        let rows = self.room.rows_above_pane();
        let free = rows.saturating_sub(page.height() + below);
        let stacked = if is_pair || histogram.is_empty() {
            1
        } else {
            2
        };
        let rows = (free / stacked)
            .saturating_sub(2)
            .clamp(CHART_ROWS, MAX_CHART_ROWS);
        let curves = curves::latency_curve_lines(
            measurement,
            in_force,
            self.data.options.ascii,
            columns,
            rows,
        );
        let times = histogram_lines(measurement, histogram, (columns, rows));
        let gap = || vec![Line::default()];
        let both = if is_wide && !curves.is_empty() && !times.is_empty() {
            vec![columns::join_lines_side_by_side(curves, times, half + GAP)]
        } else {
            vec![curves, times]
        };
        for lines in both.into_iter().filter(|lines| !lines.is_empty()) {
            page.push_text_block(gap().into_iter().chain(lines).collect());
        }
    }
}

fn histogram_lines(
    measurement: &Measurement,
    buckets: &[(f64, u64)],
    (columns, rows): (usize, usize),
) -> Vec<Line<'static>> {
    if buckets.is_empty() {
        return Vec::new();
    }
    let all = buckets
        .iter()
        .fold(0, |all: u64, (_, count)| all.saturating_add(*count));
    let method = measurement
        .comparisons
        .first()
        .map_or(measurement.best, |of| of.against);
    let aside = format!("   {}, {} commits", method.name(), group_digits(all));
    let mut lines = vec![Line::from(vec![
        Span::styled("Histogram", BOLD),
        Span::styled(
            text::truncate_to_width(&aside, columns.saturating_sub(9)),
            DIM,
        ),
    ])];
    let drawn = histogram::histogram_chart(buckets, columns, rows).into_iter();
    lines.extend(drawn.map(|row| Line::styled(row, method_style(method))));
    lines
}
