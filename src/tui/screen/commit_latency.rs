use ratatui::text::{Line, Span};

use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{Estimate, Latencies, Measurement, Method, MethodResult, comparison_label};
use crate::report::latency::are_flushes_suppressed;
use crate::report::time_axis::LogTimeAxis;
use crate::report::view::latency as latency_view;
use crate::text::{JoinText, format_micros_or_dash, group_digits};
use crate::tui::page::{Page, PageBlock, RowDetails};
use crate::tui::screen::PageContext;
use crate::tui::screen::detail_lines::DetailLines;
use crate::tui::screen_data::ScreenData;
use crate::tui::theme::{BOLD, DIM, DOUBT, PLAIN, method_style};
use crate::tui::widgets::{axis, interval, text};

/// With fewer columns for the intervals, the table leaves the intervals out.
const MIN_INTERVAL_WIDTH: usize = 12;
const NAME_WIDTH: usize = 13;
const MEDIAN_WIDTH: usize = 8;
const TAIL_WIDTH: usize = 8;
const BACK_TO_BACK_WIDTH: usize = 12;
const GAP_WIDTH: usize = 2;

/// Results so far of a running probe, or else the last measurement. The text is the time of the
/// measurement.
pub fn live_or_last_measurement(data: &ScreenData) -> Option<(&Measurement, String)> {
    let live = data
        .running_measurement()
        .map(|live| (live, "measuring …".to_owned()));
    live.or_else(|| {
        data.measurement_in_report()
            .map(|done| (done, format!("measured {}", done.when)))
    })
}

pub fn measure_hint_or_reason(data: &ScreenData) -> String {
    match data.check_measurable() {
        Ok(()) => "press p to measure (asks first)".to_owned(),
        Err(why) => why.to_owned(),
    }
}

impl PageContext<'_> {
    pub fn push_method_table(&self, page: &mut Page, measurement: &Measurement) {
        let columns = self.room.columns;
        let in_force = self.data.method_in_force();
        let MethodChartLines { head, rows, axis } =
            build_method_chart(measurement, in_force, columns);
        let mut above = Vec::new();
        // No flush of the target reaches the disk, so the measured commits are not durable.
        if are_flushes_suppressed(self.report, self.target) {
            let warning = latency_view::WITHOUT_FLUSHES_WARNING;
            above = text::wrapped_lines(warning, DOUBT, columns);
        }
        above.push(head);
        page.push_text_block(above);
        for (row, line) in measurement.attempted_one_page_server_rows().zip(rows) {
            let key = format!("method {}", row.method.name());
            let details = RowDetails::Method(row.method);
            page.blocks
                .push(PageBlock::new_row(key, details, vec![line]).with_issue(row.error.is_some()));
        }
        page.push_text_block(axis);
    }
}

pub fn push_method_details(details: &mut DetailLines, data: &ScreenData, method: Method) {
    let measured = live_or_last_measurement(data).map(|(measurement, _)| measurement);
    let row = measured.and_then(|of| {
        of.attempted_one_page_server_rows()
            .find(|row| row.method == method)
    });
    let (Some(measurement), Some(row)) = (measured, row) else {
        return;
    };
    details.push_field(
        "source",
        &format!(
            "{}, {}",
            latency_view::HEADING,
            latency_view::measurement_conditions_text(measurement)
        ),
    );
    if let Some(error) = &row.error {
        details.push_field("failed", error);
    } else {
        let in_force = data.method_in_force();
        let figures = latency_view::method_row_cells(measurement, row, in_force);
        let figures = latency_view::COLUMNS
            .iter()
            .zip(&figures)
            .map(|(name, says)| (*name, says.as_str()));
        let fields: Vec<(&str, &str)> = figures
            .skip(1)
            .filter(|(name, says)| !name.is_empty() && *says != "–")
            .collect();
        details.push_fields(&fields);
        let counted = |of: &Latencies| format!("{} commits", group_digits(of.samples));
        for (name, latencies) in [("paced", &row.paced), ("back to back", &row.back_to_back)] {
            if let Some(of) = latencies {
                details.push_field(name, &counted(of));
            }
        }
    }
    let beside = measurement
        .comparisons
        .iter()
        .find(|one| one.method == row.method);
    if let Some(comparison) = beside {
        let Estimate { value, low, high } = comparison.gain_percent;
        let against = comparison.against.name();
        let says = format!(
            "{against}: latency lower by {value:.1} %, 99 % interval {low:.1} – {high:.1} %"
        );
        details.push_field("against", &says);
    }
}

pub fn push_caveats(details: &mut DetailLines, measurement: &Measurement) {
    for says in latency_view::caveat_texts(measurement) {
        details.push_field("caveat", &says);
    }
}

struct MethodChartLines {
    head: Line<'static>,
    rows: Vec<Line<'static>>,
    axis: Vec<Line<'static>>,
}

/// Widths in columns; `field` holds the intervals and is 0 if they do not fit.
struct MethodChartWidths {
    field: usize,
    remark: usize,
}

impl MethodChartWidths {
    fn new(room: usize, said: usize) -> Self {
        let figures = GAP_WIDTH + TAIL_WIDTH + GAP_WIDTH + BACK_TO_BACK_WIDTH;
        let rest = room.saturating_sub(NAME_WIDTH + GAP_WIDTH + MEDIAN_WIDTH + GAP_WIDTH + figures);
        // One column always remains for the mark of the method in force.
        let said = if rest.saturating_sub(said + GAP_WIDTH) < MIN_INTERVAL_WIDTH * 2 {
            1
        } else {
            said
        };
        let field = rest.saturating_sub(said + GAP_WIDTH);
        Self {
            field: if field < MIN_INTERVAL_WIDTH {
                0
            } else {
                field.min(60)
            },
            remark: said,
        }
    }

    const FIELD_START: usize = NAME_WIDTH + GAP_WIDTH + MEDIAN_WIDTH + GAP_WIDTH;
}

fn build_method_chart(
    measurement: &Measurement,
    in_force: Option<WalSyncMethod>,
    room: usize,
) -> MethodChartLines {
    let methods: Vec<&MethodResult> = measurement.attempted_one_page_server_rows().collect();
    let longest = methods
        .iter()
        .map(|row| text::width(&method_row_remark(measurement, row, in_force)))
        .max();
    let widths = MethodChartWidths::new(room, longest.unwrap_or_default());
    let measured = methods.iter().filter(|row| row.error.is_none());
    let axis = LogTimeAxis::from_spans(
        measured
            .filter_map(|row| row.paced.as_ref())
            .map(|of| (of.median_us.low, of.median_us.high)),
    );
    let axis = axis.and_then(|axis| Some((axis, axis::time_axis_lines(&axis, widths.field)?)));
    let drawn = methods.iter().map(|row| {
        let is_in_force = measurement.is_row_of_method_in_force(row, in_force);
        let said = match widths.remark {
            1 if is_in_force => "◂".to_owned(),
            1 => String::new(),
            _ => method_row_remark(measurement, row, in_force),
        };
        method_chart_line(
            row,
            axis.as_ref().map(|(axis, _)| axis),
            &widths,
            (is_in_force, &said),
        )
    });
    let rows = drawn.collect();
    let left = text::spaces(MethodChartWidths::FIELD_START);
    let scale = axis.iter().flat_map(|(_, lines)| lines);
    let scale = scale
        .map(|row| Line::styled(format!("{left}{}", row.trim_end()), DIM))
        .collect();
    let field = if widths.field > 0 {
        text::pad_or_truncate("  95 % interval", widths.field + GAP_WIDTH)
    } else {
        String::new()
    };
    let figures = format!(
        "{:>TAIL_WIDTH$}{:>width$}",
        "p99",
        "back to back",
        width = GAP_WIDTH + BACK_TO_BACK_WIDTH
    );
    let head = format!(
        "{}{:>MEDIAN_WIDTH$}{}{field}{figures}",
        text::spaces(NAME_WIDTH + GAP_WIDTH),
        "median",
        text::spaces(GAP_WIDTH)
    );
    MethodChartLines {
        head: Line::styled(head, DIM),
        rows,
        axis: scale,
    }
}

fn method_chart_line(
    row: &MethodResult,
    axis: Option<&LogTimeAxis>,
    widths: &MethodChartWidths,
    (is_in_force, said): (bool, &str),
) -> Line<'static> {
    let name = text::pad_or_truncate(row.method.name(), NAME_WIDTH + GAP_WIDTH);
    let mut spans = vec![Span::styled(
        name,
        if is_in_force { BOLD } else { PLAIN }.patch(method_style(row.method)),
    )];
    if let Some(error) = &row.error {
        spans.push(Span::styled(error.clone(), DOUBT));
        return Line::from(spans);
    }
    spans.push(Span::raw(format!(
        "{:>MEDIAN_WIDTH$}{}",
        format_micros_or_dash(row.paced_median_us()),
        text::spaces(GAP_WIDTH)
    )));
    if widths.field > 0 {
        let paced = axis.zip(row.paced.as_ref());
        let bar =
            paced.map(|(axis, paced)| interval::interval_bar(paced.median_us, axis, widths.field));
        let bar = bar.unwrap_or_else(|| text::spaces(widths.field));
        spans.push(Span::styled(
            format!("{bar}{}", text::spaces(GAP_WIDTH)),
            method_style(row.method),
        ));
    }
    let p99 = format_micros_or_dash(row.paced_p99_us());
    let loops = format_micros_or_dash(row.back_to_back_median_us());
    spans.push(Span::styled(
        format!(
            "{p99:>TAIL_WIDTH$}{loops:>width$}",
            width = GAP_WIDTH + BACK_TO_BACK_WIDTH
        ),
        DIM,
    ));
    spans.push(Span::raw(text::spaces(GAP_WIDTH)));
    spans.push(Span::styled(said.to_owned(), PLAIN));
    Line::from(spans)
}

fn method_row_remark(
    measurement: &Measurement,
    row: &MethodResult,
    in_force: Option<WalSyncMethod>,
) -> String {
    let comparison = comparison_label(measurement, row);
    let setting = measurement
        .log
        .setting_for_method(row.method)
        .unwrap_or_default();
    let mark = if measurement.is_row_of_method_in_force(row, in_force) {
        "◂ in force"
    } else {
        ""
    };
    let parts = [comparison.as_str(), setting, mark].into_iter();
    parts.filter(|part| !part.is_empty()).join_with("  ")
}
