//! The price of one commit: each method with its interval on a common scale, and what the comparison came to. The overview
//! has it as a section; the screen of the probe takes its parts.

use ratatui::text::{Line, Span};

use crate::facts::Subject;
use crate::facts::catalog::{postgres, target};
use crate::measure::{Measurement, MethodResult, beside_default};
use crate::report::Report;
use crate::text::{grouped, micros};
use crate::ui::model::Data;
use crate::ui::page::Page;
use crate::ui::screen::details::Details;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::columns::{self, Cell, Column};
use crate::ui::widgets::{interval, text};

/// Columns of the field that the intervals are drawn in.
const FIELD: usize = 22;

/// Adds the section.
pub fn add(page: &mut Page, data: &Data, report: &Report, room: usize) {
    let theme = data.theme;
    let live = data.live();
    let Some(measurement) = live.or_else(|| data.measurement()) else {
        page.heading(theme, "Price of one commit", "not measured");
        page.text(vec![match data.measurable() {
            Ok(()) => Line::from(vec![
                Span::styled("p", theme.style(Role::Accent)),
                Span::raw(" measures it, after showing what it would write"),
            ]),
            Err(why) => Line::styled(text::fit(why, room), theme.style(Role::Dim)),
        }]);
        return;
    };
    let when =
        if live.is_some() { "measuring …".to_owned() } else { format!("measured {}", measurement.when) };
    page.heading(theme, "Price of one commit", &format!("8 kB, one session   {when}"));
    page.text(methods(data, report, measurement, room));
    let mut details = Details::new(theme, room);
    details.paragraph(&measurement.sentence);
    caveats(&mut details, measurement);
    page.text(details.lines);
}

/// Each method in a row, and before them whether the figures are those of durable commits.
pub fn methods(data: &Data, report: &Report, measurement: &Measurement, room: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if flushes_are_suppressed(data, report) {
        let says = text::wrap("no flush is sent: not the figures of durable commits", room);
        lines.extend(says.into_iter().map(|row| Line::styled(row, data.theme.style(Role::Doubt))));
    }
    let in_force = data.focus.cluster.as_ref().and_then(|cluster| in_force(report, cluster));
    lines.extend(table(measurement, in_force.as_deref(), data.theme, room));
    lines
}

/// What limits the figures.
pub fn caveats(details: &mut Details, measurement: &Measurement) {
    if measurement.cancelled {
        details.field("caveat", "cancelled before its end; what was measured until then is kept");
    }
    for caveat in &measurement.caveats {
        details.field("caveat", &caveat.in_full());
    }
}

/// The rows of the server's methods.
pub fn of_server(measurement: &Measurement) -> impl Iterator<Item = &MethodResult> {
    let counts = |row: &&MethodResult| row.as_server && row.pages == 1;
    measurement.methods.iter().filter(counts).filter(|row| row.samples > 0 || row.error.is_some())
}

/// Whether what a commit asks for never reaches the disk, so that no figure is the price of durability.
fn flushes_are_suppressed(data: &Data, report: &Report) -> bool {
    let flush = data.focus.target.as_ref().and_then(|of| report.value(of, target::FLUSH.name()));
    flush.is_some_and(|flush| flush.to_string() == "suppressed")
}

/// The method that the server uses now.
fn in_force(report: &Report, cluster: &Subject) -> Option<String> {
    report.value(cluster, postgres::WAL_SYNC_METHOD.name()).map(ToString::to_string)
}

fn table(measurement: &Measurement, in_force: Option<&str>, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let methods: Vec<&MethodResult> = of_server(measurement).collect();
    let top = methods.iter().map(|row| row.median_us.high.max(row.median_us.value)).fold(0.0, f64::max);
    let rows: Vec<Vec<Cell>> =
        methods.iter().map(|row| cells(row, measurement, top, in_force, theme)).collect();
    let shape = [
        Column::keep(13),
        Column::keep(8),
        Column::drop(2),
        Column::drop(3),
        Column::drop(4),
        Column::keep(26),
    ];
    columns::lines(&rows, &shape, room)
}

fn cells(
    row: &MethodResult,
    measurement: &Measurement,
    top: f64,
    in_force: Option<&str>,
    theme: Theme,
) -> Vec<Cell> {
    let dim = theme.style(Role::Dim);
    let plain = theme.style(Role::Plain);
    let is_in_force = in_force.is_some() && row.method.server_name() == in_force;
    let name = (row.method.name().to_owned(), if is_in_force { theme.style(Role::Heading) } else { plain });
    if let Some(error) = &row.error {
        let none = || (String::new(), plain);
        return vec![name, none(), none(), none(), none(), (error.clone(), theme.style(Role::Doubt))];
    }
    let median = row.median_us.value;
    let (tail_name, tail) = row.p99_us.map_or(("p95", row.p95_us), |p99| ("p99", p99));
    let tail = format!("{tail_name} {:>7}", micros(tail));
    let mut said = beside_default(measurement, row);
    if is_in_force {
        said = if said.is_empty() { "← in force".to_owned() } else { format!("{said}  ← in force") };
    }
    vec![
        name,
        (format!("{:>8}", micros(median)), plain),
        (interval::bar(row.median_us, top, FIELD), theme.style(Role::Accent)),
        (tail, dim),
        (format!("{:>7} commits/s", per_second(row.mean_us)), dim),
        (said, plain),
    ]
}

fn per_second(mean_us: f64) -> String {
    if mean_us.is_finite() && mean_us > 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let whole = (1e6 / mean_us).round() as u64;
        grouped(whole)
    } else {
        "?".to_owned()
    }
}
