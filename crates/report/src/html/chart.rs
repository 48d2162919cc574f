//! Charts as SVG. Colour only repeats what dashes, marks and labels show. Coordinates are rounded
//! to a tenth of a unit, so that equal reports give equal bytes.

pub mod forest;
mod rounds;

use std::fmt::Write as _;

use super::findings_and_facts::FactAppendix;
use super::markup::{Markup, Tag, tag};
use super::section;
use crate::html::tone_class;
use crate::latency::{are_flushes_suppressed, wal_sync_method_in_force};
use crate::time_axis::LogTimeAxis;
use crate::view::flush_path;
use crate::view::latency::WITHOUT_FLUSHES_WARNING;
use crate::{Report, TargetSummary};
use walwise_judge::durability::FlushHop;
use walwise_measure::measure::{
    Latencies, Measurement, MethodResult, Workload, WorkloadRow, measurement_summary,
};
use walwise_model::facts::catalog::target::FlushDelivery;
use walwise_model::text::wrap::truncate_to_width;
use walwise_model::text::{
    format_micros, format_micros_interval, format_micros_or_dash, format_rate_or_dash,
    format_rounded_and_grouped, group_digits,
};

/// The width of every chart, in SVG units.
const WIDTH: f64 = 480.0;
/// The height of a line of text, in SVG units.
const LINE_HEIGHT: f64 = 20.0;
/// The smallest distance between the centres of time labels, in SVG units.
const MIN_LABEL_DISTANCE: f64 = 56.0;
/// The number of line styles; must match the classes `l0`, `l1`, … in style.css.
const DASH_STYLES: usize = 5;

#[derive(Default)]
struct Chart {
    /// Part of the chart's element ids, unique among the charts of one target.
    name: &'static str,
    title: &'static str,
    /// The caption, which also describes the chart to screen readers.
    description: String,
    height: f64,
    shapes: Vec<Tag>,
    has_links: bool,
    /// Column headings of the table below the chart, which has the figures.
    head: Vec<&'static str>,
    rows: Vec<Vec<Markup>>,
}

#[derive(Clone, Copy)]
pub struct TargetChartBuilder<'a> {
    pub report: &'a Report,
    pub target: &'a TargetSummary,
    /// The position of the target in the document, counted from 1.
    pub place: usize,
    pub facts: &'a FactAppendix<'a>,
}

impl TargetChartBuilder<'_> {
    pub fn flush_path_chart(self) -> Option<Markup> {
        let verdict = self.report.verdict(&self.target.target)?;
        flush_path_chart(&verdict.flush_path, self.facts).map(|chart| chart.into_markup(self.place))
    }

    pub fn latency_chart(self) -> Option<Markup> {
        let chart = latency_interval_chart(
            self.report,
            self.target,
            self.report.measurement(&self.target.target)?,
        );
        chart.map(|chart| chart.into_markup(self.place))
    }

    pub fn detail_charts(self) -> Vec<Markup> {
        let Some(measurement) = self.report.measurement(&self.target.target) else {
            return Vec::new();
        };
        [
            cumulative_latency_chart(measurement),
            commit_rate_chart(measurement),
            rounds::rounds_chart(measurement),
        ]
        .into_iter()
        .flatten()
        .map(|chart| chart.into_markup(self.place))
        .collect()
    }
}

impl Chart {
    /// Combines the drawing and the table of figures. `place` makes the element ids unique in the
    /// document.
    fn into_markup(self, place: usize) -> Markup {
        let (title, says) = (
            format!("chart-{place}-{}", self.name),
            format!("chart-{place}-{}-says", self.name),
        );
        // For screen readers a chart is one image, unless it contains links.
        let picture = tag("svg")
            .attr("role", if self.has_links { "group" } else { "img" })
            .attr("aria-labelledby", &title)
            .attr("aria-describedby", &says)
            .attr("viewBox", &format!("0 0 {WIDTH:.0} {:.0}", self.height))
            .attr("class", "chart")
            .add_all(self.shapes);
        let about = tag("figcaption")
            .add(tag("strong").attr("id", &title).add_text(self.title))
            .add_text(": ")
            .add(tag("span").attr("id", &says).add_text(&self.description));
        let numbers = section::table_markup(self.title, &self.head, &[], self.rows);
        let numbers = tag("details")
            .attr("class", "appendix")
            .add(tag("summary").add_text("Data for this chart"))
            .add(numbers);
        tag("figure")
            .add(about)
            .add(section::scrollable_frame(self.title, picture))
            .add(numbers)
            .into()
    }
}

fn cells_from_text(rows: Vec<Vec<String>>) -> Vec<Vec<Markup>> {
    rows.into_iter()
        .map(|row| row.iter().map(|cell| Markup::from_text(cell)).collect())
        .collect()
}

fn svg_text(x: f64, y: f64, words: &str) -> Tag {
    tag("text")
        .attr("x", &format_coordinate(x))
        .attr("y", &format_coordinate(y))
        .add_cdata(words)
}

fn right_aligned_text(x: f64, y: f64, words: &str) -> Tag {
    svg_text(x, y, words).attr("text-anchor", "end")
}

fn centred_text(x: f64, y: f64, words: &str) -> Tag {
    svg_text(x, y, words).attr("text-anchor", "middle")
}

fn polyline(class: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Tag {
    let points: Vec<String> = points
        .into_iter()
        .map(|(x, y)| format!("{},{}", format_coordinate(x), format_coordinate(y)))
        .collect();
    tag("polyline")
        .attr("class", class)
        .attr("points", &points.join(" "))
}

fn line_style_class(at: usize) -> String {
    format!("line l{}", at % DASH_STYLES)
}

/// Rounds to a tenth, so that output is reproducible; a number that is not finite gives 0.
fn format_coordinate(at: f64) -> String {
    let at = if at.is_finite() { at } else { 0.0 };
    let text = format!("{at:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The coordinate at a share of the distance from `from` to `to`. Shares outside 0–1 are clamped; a
/// share that is not finite counts as 0.
fn interpolate_clamped(share: f64, [from, to]: [f64; 2]) -> f64 {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    share.mul_add(to - from, from)
}

/// Draws an axis below the chart, with a grid line at each mark. A label closer than `apart` SVG
/// units to the previous one is left out.
fn bottom_axis(
    marks: Vec<(f64, String)>,
    field: [f64; 2],
    [top, bottom]: [f64; 2],
    apart: f64,
) -> Vec<Tag> {
    let mut drawn = vec![polyline("rule", field.map(|x| (x, bottom)))];
    let mut free = f64::NEG_INFINITY;
    for (share, label) in marks {
        let x = interpolate_clamped(share, field);
        drawn.push(polyline("grid", [(x, top), (x, bottom + 4.0)]));
        if x >= free {
            drawn.push(centred_text(x, bottom + 18.0, &label));
            free = x + apart;
        }
    }
    drawn
}

fn left_axis(
    marks: impl IntoIterator<Item = (f64, String)>,
    field: [f64; 2],
    [top, bottom]: [f64; 2],
) -> Vec<Tag> {
    let mark = |(share, label): (f64, String)| {
        let y = interpolate_clamped(share, [bottom, top]);
        [
            right_aligned_text(field[0] - 8.0, y + 4.0, &label),
            polyline("grid", field.map(|x| (x, y))),
        ]
    };
    marks.into_iter().flat_map(mark).collect()
}

fn end_labels(field: [f64; 2], bottom: f64, [first, last]: [&str; 2]) -> [Tag; 2] {
    [
        svg_text(field[0], bottom + 18.0, first),
        right_aligned_text(field[1], bottom + 18.0, last),
    ]
}

fn svg_dot(x: f64, y: f64) -> Tag {
    tag("circle")
        .attr("class", "dot")
        .attr("cx", &format_coordinate(x))
        .attr("cy", &format_coordinate(y))
        .attr("r", "4.5")
}

/// `shares` are the positions of the low end, the estimate and the high end, from 0 to 1.
fn interval_shapes(shares: [f64; 3], field: [f64; 2], y: f64) -> [Tag; 4] {
    let [low, middle, high] = shares.map(|share| interpolate_clamped(share, field));
    let end = |x| polyline("rule", [(x, y - 5.0), (x, y + 5.0)]);
    [
        polyline("rule", [(low, y), (high, y)]),
        end(low),
        end(high),
        svg_dot(middle, y),
    ]
}

/// The position of the point with index `at` among `of` points, from 0 to 1.
fn index_to_share(at: f64, of: usize) -> f64 {
    at / of.saturating_sub(1).max(1) as f64
}

fn legend_shapes_and_height<T>(rows: &[(&MethodResult, T)]) -> (Vec<Tag>, f64) {
    let (mut x, mut y, mut drawn) = (10.0, 14.0, Vec::new());
    for (at, (row, _)) in rows.iter().enumerate() {
        let name = row.method.name();
        let wide = 50.0 + 7.5 * name.chars().count() as f64;
        if x > 10.0 && x + wide > WIDTH {
            (x, y) = (10.0, y + LINE_HEIGHT);
        }
        drawn.push(polyline(
            &line_style_class(at),
            [(x, y - 4.0), (x + 30.0, y - 4.0)],
        ));
        drawn.push(svg_text(x + 36.0, y, name));
        x += wide;
    }
    (drawn, y + 10.0)
}

/// The methods of servers with paced one-page commits.
fn paced_rows(measurement: &Measurement) -> Vec<(&MethodResult, &Latencies)> {
    measurement
        .one_page_server_rows_without_error()
        .filter_map(MethodResult::paced_row_and_latencies)
        .collect()
}

// The flush path as a vertical rail: solid where a flush arrives, dashed where its arrival is
// unknown, and absent where no flush arrives.

const RAIL_X: f64 = 14.0;
const NAME_X: f64 = 30.0;
const TEXT_X: f64 = 148.0;
/// The greatest widths of a name and of a description, in columns. Longer texts are cut; the
/// table below the chart has the full text.
const MAX_NAME: usize = 13;
const MAX_TEXT: usize = 32;
/// Maximum number of subjects that the table below the chart names for one layer of a flush
/// path.
const MAX_SUBJECTS: usize = 8;

/// Draws the layers of a flush path from top to bottom; `None` for an empty path.
fn flush_path_chart(path: &[FlushHop], facts: &FactAppendix<'_>) -> Option<Chart> {
    path.first()?;
    let mut drawn = Vec::new();
    let y = |at: usize| LINE_HEIGHT.mul_add(1.4 * at as f64, LINE_HEIGHT);
    for (at, hop) in path.iter().enumerate().skip(1) {
        let part = |class| polyline(class, [(RAIL_X, y(at - 1) + 8.0), (RAIL_X, y(at) - 8.0)]);
        match hop.arrival {
            FlushDelivery::Sent => drawn.push(part("rail")),
            FlushDelivery::Unknown => drawn.push(part("rail doubted")),
            FlushDelivery::Suppressed | FlushDelivery::NotNeeded => {}
        }
    }
    for (at, hop) in path.iter().enumerate() {
        let (mark, word, tone) = flush_path::hop_symbol_word_and_tone(hop);
        let role = tone_class(tone);
        drawn.push(centred_text(RAIL_X, y(at) + 5.0, mark).attr("class", role));
        let name = svg_text(NAME_X, y(at) + 4.0, &truncate_to_width(&hop.name, MAX_NAME));
        drawn.push(
            match hop
                .subjects
                .iter()
                .find_map(|subject| facts.facts_link(subject))
            {
                Some(link) => link.add(name),
                None => name,
            },
        );
        drawn.push(
            svg_text(TEXT_X, y(at) + 4.0, &truncate_to_width(&hop.text, MAX_TEXT))
                .attr("class", "dim"),
        );
        drawn.push(right_aligned_text(WIDTH - 2.0, y(at) + 4.0, word).attr("class", role));
    }
    let row = |hop: &FlushHop| {
        let (mark, word, _) = flush_path::hop_symbol_word_and_tone(hop);
        let says: Vec<&str> = [&hop.text, &hop.because]
            .map(String::as_str)
            .into_iter()
            .filter(|says| !says.is_empty())
            .collect();
        vec![
            Markup::from_text(mark),
            hop_names_with_fact_links(hop, facts),
            Markup::from_text(&says.join("; ")),
            Markup::from_text(word),
            Markup::from_text(&hop.source),
        ]
    };
    Some(Chart {
        name: "path",
        title: "Path of a commit",
        description: flush_path::flush_path_line(path),
        height: y(path.len() - 1) + LINE_HEIGHT,
        shapes: drawn,
        has_links: path
            .iter()
            .flat_map(|hop| &hop.subjects)
            .any(|subject| facts.facts_link(subject).is_some()),
        head: vec!["mark", "hop", "description", "flush", "read from"],
        rows: path.iter().map(row).collect(),
    })
}

fn hop_names_with_fact_links(hop: &FlushHop, facts: &FactAppendix<'_>) -> Markup {
    let name = |words: &str, link: Option<Tag>| match link {
        Some(link) => link.add_text(words).into(),
        None => Markup::from_text(words),
    };
    if let [subject] = hop.subjects.as_slice() {
        return name(&hop.name, facts.facts_link(subject));
    }
    let each = hop.subjects.iter().take(MAX_SUBJECTS).map(|subject| {
        Markup::from_static(" ").append(name(subject.name(), facts.facts_link(subject)))
    });
    Markup::from_text(&hop.name).append(Markup::concat(each))
}

/// Left and right edge of the plot, in SVG units.
const CURVE_PLOT_X: [f64; 2] = [60.0, WIDTH - 30.0];
const CURVE_HEIGHT: f64 = 180.0;

/// Draws one step curve per method; `None` if no method has quantiles.
fn cumulative_latency_chart(measurement: &Measurement) -> Option<Chart> {
    let rows = paced_rows(measurement);
    let axis =
        LogTimeAxis::from_quantile_curves(rows.iter().map(|(_, of)| of.quantiles_us.as_slice()))?;
    let (mut drawn, top) = legend_shapes_and_height(&rows);
    let bottom = top + CURVE_HEIGHT;
    drawn.extend(bottom_axis(
        axis.ticks(),
        CURVE_PLOT_X,
        [top, bottom],
        MIN_LABEL_DISTANCE,
    ));
    let marks = [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")];
    drawn.extend(left_axis(
        marks.map(|(share, label)| (share, label.to_owned())),
        CURVE_PLOT_X,
        [top, bottom],
    ));
    for (at, (_, paced)) in rows.iter().enumerate() {
        let way = svg_path_of_step_curve(&axis, &paced.quantiles_us, top, bottom);
        drawn.push(
            tag("path")
                .attr("class", &line_style_class(at))
                .attr("d", &way),
        );
    }
    let head = std::iter::once("share of commits");
    Some(Chart {
        name: "shares",
        title: "Commits completed within a given time",
        description:
            "The share of commits completed within each time. A steep curve means consistent \
               latency; a long tail to the right means that some commits are slow. The chart shows paced \
               one-page commits by 1 client."
                .to_owned(),
        height: bottom + 26.0,
        shapes: drawn,
        head: head
            .chain(rows.iter().map(|(row, _)| row.method.name()))
            .collect(),
        rows: cells_from_text(quantile_table_rows(&rows)),
        ..Chart::default()
    })
}

fn svg_path_of_step_curve(axis: &LogTimeAxis, quantiles: &[f64], top: f64, bottom: f64) -> String {
    let count = quantiles.len().max(1) as f64;
    let mut way = format!(
        "M{} {}",
        format_coordinate(CURVE_PLOT_X[0]),
        format_coordinate(bottom)
    );
    for (done, us) in (1_u32..).zip(quantiles) {
        let (x, y) = (
            interpolate_clamped(axis.position_of_time(*us), CURVE_PLOT_X),
            interpolate_clamped(f64::from(done) / count, [bottom, top]),
        );
        let _ = write!(way, "H{}V{}", format_coordinate(x), format_coordinate(y));
    }
    way
}

fn quantile_table_rows(rows: &[(&MethodResult, &Latencies)]) -> Vec<Vec<String>> {
    let most = rows
        .iter()
        .map(|(_, of)| of.quantiles_us.len())
        .max()
        .unwrap_or_default();
    let share = |at: usize| {
        format!(
            "{:.1} %",
            100.0 * at.saturating_add(1) as f64 / most.max(1) as f64
        )
    };
    let time = |(_, of): &(&MethodResult, &Latencies), at: usize| {
        of.quantiles_us
            .get(at)
            .filter(|_| of.quantiles_us.len() == most)
            .map(|us| format_micros(*us))
            .unwrap_or_default()
    };
    (0..most)
        .map(|at| {
            std::iter::once(share(at))
                .chain(rows.iter().map(|row| time(row, at)))
                .collect()
        })
        .collect()
}

/// Left and right edge of the plot, in SVG units.
const INTERVAL_PLOT_X: [f64; 2] = [150.0, 405.0];

/// Draws the median latency of each method with its interval; `None` without paced commits.
fn latency_interval_chart(
    report: &Report,
    target: &TargetSummary,
    measurement: &Measurement,
) -> Option<Chart> {
    let rows = paced_rows(measurement);
    let axis = LogTimeAxis::from_spans(
        rows.iter()
            .map(|(_, of)| (of.median_us.low, of.median_us.high)),
    )?;
    let in_force = wal_sync_method_in_force(report, target.cluster.as_ref());
    let is_no_price = are_flushes_suppressed(report, &target.target)
        || !rows.iter().any(|(row, _)| row.method.is_durable());
    let top = if is_no_price { LINE_HEIGHT } else { 0.0 };
    let bottom = LINE_HEIGHT.mul_add(rows.len() as f64, top + 10.0);
    let mut drawn = bottom_axis(
        axis.ticks(),
        INTERVAL_PLOT_X,
        [top + 4.0, bottom],
        MIN_LABEL_DISTANCE,
    );
    drawn.extend(is_no_price.then(|| {
        svg_text(INTERVAL_PLOT_X[0], LINE_HEIGHT - 6.0, "not durable").attr("class", "bad")
    }));
    let mut numbers = Vec::new();
    for (at, (row, paced)) in rows.iter().enumerate() {
        let y = LINE_HEIGHT.mul_add(at as f64, top + LINE_HEIGHT);
        let used = measurement.is_row_of_method_in_force(row, in_force);
        let name = if used {
            format!("▸ {}", row.method.name())
        } else {
            row.method.name().to_owned()
        };
        drawn.push(right_aligned_text(INTERVAL_PLOT_X[0] - 8.0, y + 4.0, &name));
        drawn.extend(interval_shapes(
            axis.positions_of_estimate(paced.median_us),
            INTERVAL_PLOT_X,
            y,
        ));
        drawn.push(svg_text(
            INTERVAL_PLOT_X[1] + 10.0,
            y + 4.0,
            &format_micros(paced.median_us.value),
        ));
        numbers.push(vec![
            row.method.name().to_owned(),
            if used { "yes" } else { "" }.to_owned(),
            format_micros(paced.median_us.value),
            format_micros_interval(paced.median_us.low, paced.median_us.high),
            format_micros_or_dash(paced.p99_us),
            format_micros_or_dash(row.back_to_back_median_us()),
            group_digits(paced.samples),
        ]);
    }
    let warning = if is_no_price {
        format!("{WITHOUT_FLUSHES_WARNING} ")
    } else {
        String::new()
    };
    let description = format!(
        "{warning}The dot is the median, the line is its 95 % interval, and ▸ marks the \
             method in force; {}. {}",
        measurement.paced_conditions_text(),
        measurement_summary(measurement, in_force)
    );
    Some(Chart {
        name: "price",
        title: "Commit latency by method",
        description,
        height: bottom + 26.0,
        shapes: drawn,
        head: vec![
            "method",
            "in force",
            "median",
            "95 % interval",
            "p99",
            "back to back",
            "commits",
        ],
        rows: cells_from_text(numbers),
        ..Chart::default()
    })
}

/// Left and right edge of the plot, in SVG units.
const RATE_PLOT_X: [f64; 2] = [80.0, WIDTH - 40.0];
const RATE_HEIGHT: f64 = 150.0;
const RATE_PLOT_TOP: f64 = 14.0;

/// Draws the commits per second of the group commit workload by number of clients; `None`
/// without a valid rate.
fn commit_rate_chart(measurement: &Measurement) -> Option<Chart> {
    let found = measurement
        .workloads
        .iter()
        .find(|found| found.workload == Workload::Group)?;
    let measured = |row: &&WorkloadRow| {
        let rate = row.per_second;
        row.error.is_none()
            && row.threads > 0
            && [rate.value, rate.low, rate.high]
                .iter()
                .all(|x| x.is_finite())
    };
    let mut rows: Vec<&WorkloadRow> = found.rows.iter().filter(measured).collect();
    rows.sort_by_key(|row| row.threads);
    let most = rows
        .iter()
        .map(|row| row.per_second.high.max(row.per_second.value))
        .fold(0.0, f64::max);
    let doublings = f64::from(rows.last()?.threads).log2().max(1.0);
    if most <= 0.0 {
        return None;
    }
    let bottom = RATE_PLOT_TOP + RATE_HEIGHT;
    let x = |row: &WorkloadRow| {
        interpolate_clamped(f64::from(row.threads).log2() / doublings, RATE_PLOT_X)
    };
    let y = |rate: f64| interpolate_clamped(rate / most, [bottom, RATE_PLOT_TOP]);
    let marks = [0.0, 0.5, 1.0].map(|share| (share, format_rate_or_dash(Some(share * most))));
    let mut drawn = left_axis(marks, RATE_PLOT_X, [RATE_PLOT_TOP, bottom]);
    drawn.push(polyline(
        &line_style_class(0),
        rows.iter().map(|row| (x(row), y(row.per_second.value))),
    ));
    for row in &rows {
        let at = x(row);
        drawn.push(polyline(
            "rule",
            [(at, y(row.per_second.low)), (at, y(row.per_second.high))],
        ));
        drawn.push(svg_dot(at, y(row.per_second.value)));
        drawn.push(centred_text(at, bottom + 18.0, &row.threads.to_string()));
    }
    let numbers = |row: &&WorkloadRow| {
        vec![
            row.threads.to_string(),
            format_rounded_and_grouped(row.per_second.value),
            format!(
                "{}–{}",
                format_rounded_and_grouped(row.per_second.low),
                format_rounded_and_grouped(row.per_second.high)
            ),
            format_micros(row.median_us.value),
            row.flushes_per_operation
                .map_or_else(|| "–".to_owned(), |count| format!("{count:.2}")),
        ]
    };
    Some(Chart {
        name: "sessions",
        title: "Commits/s by number of clients",
        description: format!(
            "Commits/s (mean) of all clients together, by number of clients. {}",
            found.sentence
        ),
        height: bottom + 26.0,
        rows: cells_from_text(rows.iter().map(numbers).collect()),
        shapes: drawn,
        head: vec![
            "clients",
            "commits/s",
            "95 % interval",
            "median latency",
            "flushes/commit",
        ],
        ..Chart::default()
    })
}
