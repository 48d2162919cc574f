//! The price of one commit: each method with its interval on a common logarithmic axis, and what
//! the comparison came to; beneath each, what its figures are made of. The overview and the screen
//! of the probe take their parts from here.

use ratatui::text::{Line, Span};

use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{Estimate, Latencies, Measurement, MethodResult, comparison, sentence};
use crate::report::Report;
use crate::report::axis::Axis;
use crate::report::price::{in_force, is_without_flushes};
use crate::report::telling::price as told;
use crate::report::telling::words::count;
use crate::text::{grouped, micros_or_dash};
use crate::tui::data::Data;
use crate::tui::page::{Block, Enter, Page, PageState};
use crate::tui::screen::details::Details;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::{axis, interval, text};

/// Fewer columns than this are no field for intervals.
const LEAST_FIELD: usize = 12;
/// Columns of a name, of a median, of a tail and of a median back to back.
const NAME: usize = 13;
const MEDIAN: usize = 8;
const TAIL: usize = 8;
const LOOPS: usize = 12;
const GAP: usize = 2;

/// What is measured of the chosen target, and when that was.
pub fn of(data: &Data) -> Option<(&Measurement, String)> {
    let live = data.live().map(|live| (live, "measuring …".to_owned()));
    live.or_else(|| {
        data.measurement()
            .map(|done| (done, format!("measured {}", done.when)))
    })
}

/// How to measure, or why that cannot be done.
pub fn unmeasured(data: &Data) -> (String, TextRole) {
    match data.measurable() {
        Ok(()) => (
            "p measures it, after it has shown what it would write".to_owned(),
            TextRole::Plain,
        ),
        Err(why) => (why.to_owned(), TextRole::Dim),
    }
}

/// What a commit costs, in a sentence.
pub fn in_short(data: &Data, report: &Report, measurement: &Measurement) -> String {
    let target = report.targets.get(data.focus.at);
    let Some(says) = target.and_then(|target| told::cost(report, target)) else {
        return sentence(measurement, in_force(report, data.focus.cluster.as_ref()));
    };
    match told::caveats(measurement).len() {
        0 => says,
        doubts => format!("{says}; {}", count(doubts, "caveat")),
    }
}

/// The methods in rows that fit beside something: median and interval.
pub fn brief(
    data: &Data,
    report: &Report,
    measurement: &Measurement,
    room: usize,
) -> Vec<Line<'static>> {
    let table = MethodTable {
        data,
        report,
        measurement,
        room,
    };
    let Chart { rows, axis, .. } = table.chart(true);
    table
        .reservation()
        .into_iter()
        .chain(rows)
        .chain(axis)
        .collect()
}

/// Each method in a row, and before them whether the figures are those of durable commits.
pub struct MethodTable<'a> {
    pub data: &'a Data,
    pub report: &'a Report,
    pub measurement: &'a Measurement,
    pub room: usize,
}

impl MethodTable<'_> {
    /// Adds them; `enter` says what Enter does on the row of this name.
    pub fn add(&self, page: &mut Page, state: &PageState, enter: impl Fn(String) -> Enter) {
        let Chart { head, rows, axis } = self.chart(false);
        page.text(self.reservation().into_iter().chain([head]).collect());
        for (row, line) in self.measurement.tried_of_server().zip(rows) {
            let key = format!("method {}", row.method.name());
            let enter = enter(key.clone());
            let mut lines = vec![line];
            if enter == Enter::Unfold && state.is_unfolded(&key) {
                lines.extend(self.beneath(row));
            }
            page.blocks
                .push(Block::item(key, enter, lines).amiss(row.error.is_some()));
        }
        page.text(axis);
    }

    /// Whether the figures are those of durable commits, where they are not.
    fn reservation(&self) -> Vec<Line<'static>> {
        if !flushes_are_suppressed(self.data, self.report) {
            return Vec::new();
        }
        let doubt = self.data.theme.style(TextRole::Doubt);
        text::wrap(told::WITHOUT_FLUSHES, self.room)
            .into_iter()
            .map(|row| Line::styled(row, doubt))
            .collect()
    }

    fn chart(&self, is_brief: bool) -> Chart {
        let in_force = in_force(self.report, self.data.focus.cluster.as_ref());
        chart(
            self.measurement,
            in_force,
            self.data.theme,
            self.room,
            is_brief,
        )
    }

    /// The figures of a method, and what they are made of.
    fn beneath(&self, row: &MethodResult) -> Vec<Line<'static>> {
        let mut details = Details::new(self.data.theme, self.room.saturating_sub(2));
        details.field(
            "source",
            &format!("{}, {}", told::PRICE, told::lead(self.measurement)),
        );
        if let Some(error) = &row.error {
            details.field("failed", error);
        } else {
            let in_force = in_force(self.report, self.data.focus.cluster.as_ref());
            let figures = told::row(self.measurement, row, in_force);
            let figures = told::HEAD
                .iter()
                .zip(&figures)
                .map(|(name, says)| (*name, says.as_str()));
            let fields: Vec<(&str, &str)> = figures
                .skip(1)
                .filter(|(name, says)| !name.is_empty() && *says != "–")
                .collect();
            details.fields(&fields);
            let counted = |of: &Latencies| format!("{} commits", grouped(of.samples));
            for (name, latencies) in [("paced", &row.paced), ("back to back", &row.back_to_back)] {
                if let Some(of) = latencies {
                    details.field(name, &counted(of));
                }
            }
        }
        let beside = self
            .measurement
            .comparisons
            .iter()
            .find(|one| one.method == row.method);
        if let Some(comparison) = beside {
            let Estimate { value, low, high } = comparison.gain_percent;
            let against = comparison.against.name();
            let says =
                format!("{against}: {value:.1} % less, 99 % interval {low:.1} – {high:.1} %");
            details.field("against", &says);
        }
        details.gap();
        details.indented()
    }
}

/// What limits the figures.
pub fn caveats(details: &mut Details, measurement: &Measurement) {
    for says in told::caveats(measurement) {
        details.field("caveat", &says);
    }
}

/// Whether what a commit asks for never reaches the disk, so that no figure is the price of
/// durability.
fn flushes_are_suppressed(data: &Data, report: &Report) -> bool {
    data.focus
        .target
        .as_ref()
        .is_some_and(|target| is_without_flushes(report, target))
}

/// A table of methods: its head, a line for each, and the axis of their intervals.
struct Chart {
    head: Line<'static>,
    rows: Vec<Line<'static>>,
    axis: Vec<Line<'static>>,
}

/// The columns of the table: of the field for intervals, which may have none, and of what stands at
/// the end of a row.
struct ChartColumns {
    field: usize,
    said: usize,
    is_brief: bool,
}

impl ChartColumns {
    fn new(room: usize, said: usize, is_brief: bool) -> Self {
        let figures = if is_brief {
            0
        } else {
            GAP + TAIL + GAP + LOOPS
        };
        let rest = room.saturating_sub(NAME + GAP + MEDIAN + GAP + figures);
        // The mark of the method in force has room in any case.
        let said = if is_brief || rest.saturating_sub(said + GAP) < LEAST_FIELD * 2 {
            1
        } else {
            said
        };
        let field = rest.saturating_sub(said + GAP);
        Self {
            field: if field < LEAST_FIELD {
                0
            } else {
                field.min(60)
            },
            said,
            is_brief,
        }
    }

    /// Columns before the field.
    const BEFORE: usize = NAME + GAP + MEDIAN + GAP;
}

fn chart(
    measurement: &Measurement,
    in_force: Option<WalSyncMethod>,
    theme: Theme,
    room: usize,
    is_brief: bool,
) -> Chart {
    let methods: Vec<&MethodResult> = measurement.tried_of_server().collect();
    let longest = methods
        .iter()
        .map(|row| text::width(&said(measurement, row, in_force)))
        .max();
    let widths = ChartColumns::new(room, longest.unwrap_or_default(), is_brief);
    let measured = methods.iter().filter(|row| row.error.is_none());
    let axis = Axis::around(
        measured
            .filter_map(|row| row.paced.as_ref())
            .map(|of| (of.median_us.low, of.median_us.high)),
    );
    let axis = axis.and_then(|axis| Some((axis, axis::lines(&axis, widths.field)?)));
    let drawn = methods.iter().map(|row| {
        let is_in_force = measurement.is_in_force(row, in_force);
        let said = match widths.said {
            1 if is_in_force => "◂".to_owned(),
            1 => String::new(),
            _ => said(measurement, row, in_force),
        };
        line(
            row,
            axis.as_ref().map(|(axis, _)| axis),
            &widths,
            (is_in_force, &said),
            theme,
        )
    });
    let rows = drawn.collect();
    let dim = theme.style(TextRole::Dim);
    let left = text::blank(ChartColumns::BEFORE);
    let scale = axis.iter().flat_map(|(_, lines)| lines);
    let scale = scale
        .map(|row| Line::styled(format!("{left}{}", row.trim_end()), dim))
        .collect();
    let field = if widths.field > 0 {
        text::pad("  95 % interval", widths.field + GAP)
    } else {
        String::new()
    };
    let figures = if is_brief {
        String::new()
    } else {
        format!(
            "{:>TAIL$}{:>width$}",
            "p99",
            "back to back",
            width = GAP + LOOPS
        )
    };
    let head = format!(
        "{}{:>MEDIAN$}{}{field}{figures}",
        text::blank(NAME + GAP),
        "median",
        text::blank(GAP)
    );
    Chart {
        head: Line::styled(head, dim),
        rows,
        axis: scale,
    }
}

fn line(
    row: &MethodResult,
    axis: Option<&Axis>,
    widths: &ChartColumns,
    (is_in_force, said): (bool, &str),
    theme: Theme,
) -> Line<'static> {
    let (plain, dim) = (theme.style(TextRole::Plain), theme.style(TextRole::Dim));
    let name = text::pad(row.method.name(), NAME + GAP);
    let mut spans = vec![Span::styled(
        name,
        if is_in_force {
            theme.style(TextRole::Heading)
        } else {
            plain
        },
    )];
    if let Some(error) = &row.error {
        spans.push(Span::styled(error.clone(), theme.style(TextRole::Doubt)));
        return Line::from(spans);
    }
    spans.push(Span::raw(format!(
        "{:>MEDIAN$}{}",
        micros_or_dash(row.median_us()),
        text::blank(GAP)
    )));
    if widths.field > 0 {
        let paced = axis.zip(row.paced.as_ref());
        let bar = paced.map(|(axis, paced)| interval::bar(paced.median_us, axis, widths.field));
        let bar = bar.unwrap_or_else(|| text::blank(widths.field));
        spans.push(Span::styled(
            format!("{bar}{}", text::blank(GAP)),
            theme.style(TextRole::Accent),
        ));
    }
    if !widths.is_brief {
        let p99 = micros_or_dash(row.p99_us());
        let loops = micros_or_dash(row.back_to_back_us());
        spans.push(Span::styled(
            format!("{p99:>TAIL$}{loops:>width$}", width = GAP + LOOPS),
            dim,
        ));
        spans.push(Span::raw(text::blank(GAP)));
    }
    spans.push(Span::styled(said.to_owned(), plain));
    Line::from(spans)
}

/// What stands at the end of a row.
fn said(measurement: &Measurement, row: &MethodResult, in_force: Option<WalSyncMethod>) -> String {
    let comparison = comparison(measurement, row);
    let setting = measurement.log.setting(row.method).unwrap_or_default();
    let mark = if measurement.is_in_force(row, in_force) {
        "◂ in force"
    } else {
        ""
    };
    let parts = [comparison.as_str(), setting, mark]
        .into_iter()
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("  ")
}
