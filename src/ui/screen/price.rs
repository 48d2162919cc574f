//! The price of one commit: each method with its interval on a common scale, and what the comparison came to; beneath each,
//! what its figures are made of. The overview has it as a section; the screen of the probe takes its parts.

use ratatui::text::{Line, Span};

use crate::facts::Subject;
use crate::facts::catalog::postgres::{self, WalSyncMethod};
use crate::facts::catalog::target::{self, Flush};
use crate::measure::{LogKind, Measurement, MethodResult, beside_default};
use crate::report::Report;
use crate::report::telling::price as told;
use crate::text::{grouped, micros, micros_between};
use crate::ui::data::Data;
use crate::ui::page::{Block, Enter, Page, PageState};
use crate::ui::screen::details::Details;
use crate::ui::screen_id::ScreenId;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::columns::{self, Column, StyledText};
use crate::ui::widgets::{interval, text};

/// Columns of the field that the intervals are drawn in: as many as there is room for, between these.
const FIELD: (usize, usize) = (22, 60);
/// Columns of everything else in a row but what stands at its end.
const BESIDE_FIELD: usize = 59;

/// Adds the section.
pub fn add(page: &mut Page, data: &Data, report: &Report, state: &PageState, room: usize) {
    let theme = data.theme;
    let live = data.live();
    let Some(measurement) = live.or_else(|| data.measurement()) else {
        page.heading(theme, "Price of one commit", "not measured");
        page.text(match data.measurable() {
            Ok(()) => vec![Line::from(vec![
                Span::styled("p", theme.style(TextRole::Accent)),
                Span::raw(" measures it, after showing what it would write"),
            ])],
            Err(why) => {
                let rows = text::wrap(why, room).into_iter();
                rows.map(|row| Line::styled(row, theme.style(TextRole::Dim))).collect()
            }
        });
        return;
    };
    let when =
        if live.is_some() { "measuring …".to_owned() } else { format!("measured {}", measurement.when) };
    page.heading(theme, "Price of one commit", &format!("{}, one session   {when}", pages(measurement)));
    let rows = MethodTable { data, report, measurement, room };
    rows.add(page, state, |key| Enter::Open(ScreenId::Probe, key));
    let mut details = Details::new(theme, room);
    details.paragraph(&measurement.sentence);
    caveats(&mut details, measurement);
    page.text(details.lines);
}

/// Each method in a row, and before them whether the figures are those of durable commits.
pub struct MethodTable<'a> {
    /// What is known.
    pub data: &'a Data,
    /// The report of it.
    pub report: &'a Report,
    /// What was measured.
    pub measurement: &'a Measurement,
    /// Columns.
    pub room: usize,
}

impl MethodTable<'_> {
    /// Adds them; `enter` says what Enter does on the row of this name.
    pub fn add(&self, page: &mut Page, state: &PageState, enter: impl Fn(String) -> Enter) {
        let theme = self.data.theme;
        if flushes_are_suppressed(self.data, self.report) {
            let says = text::wrap(told::WITHOUT_FLUSHES, self.room);
            page.text(says.into_iter().map(|row| Line::styled(row, theme.style(TextRole::Doubt))).collect());
        }
        let cluster = self.data.focus.cluster.as_ref();
        let in_force = cluster.and_then(|cluster| in_force(self.report, cluster));
        let lines = table(self.measurement, in_force, theme, self.room);
        for (row, line) in of_server(self.measurement).zip(lines) {
            let key = format!("method {}", row.method.name());
            let enter = enter(key.clone());
            let mut lines = vec![line];
            if enter == Enter::Unfold && state.is_unfolded(&key) {
                lines.extend(self.beneath(row));
            }
            page.blocks.push(Block::item(key, enter, lines));
        }
    }

    /// What the figures of a method are made of.
    fn beneath(&self, row: &MethodResult) -> Vec<Line<'static>> {
        let mut details = Details::new(self.data.theme, self.room.saturating_sub(2));
        details.field("source", &format!("{}, {}", told::PRICE, told::lead(self.measurement)));
        if let Some(error) = &row.error {
            details.field("failed", error);
        } else {
            let median = row.median_us;
            let (value, interval) = (micros(median.value), micros_between(median.low, median.high));
            details.field("median", &format!("{value}, 95 % interval {interval}"));
            let rate = per_second(row.mean_us);
            details.field("mean", &format!("{}; {rate} commits/s follow from it", micros(row.mean_us)));
            let p99 = row.p99_us.map(|p99| format!("p99 {}, ", micros(p99))).unwrap_or_default();
            details.field("tails", &format!("p95 {}, {p99}max {}", micros(row.p95_us), micros(row.max_us)));
            details.field("counted", &format!("{} commits", grouped(row.samples)));
            let flushes = row.flushes_per_commit.map_or_else(
                || "not counted: these disks' statistics do not say".to_owned(),
                |count| format!("{count:.2} per commit, by the disks' own statistics"),
            );
            details.field("flushes", &flushes);
        }
        let beside = self.measurement.comparisons.iter().find(|one| one.method == row.method);
        if let Some(comparison) = beside {
            let gain = comparison.gain_percent;
            let says = format!(
                "{}: gains {:.1} %, 95 % interval {:.1} – {:.1} %",
                comparison.against.name(),
                gain.value,
                gain.low,
                gain.high
            );
            details.field("beside", &says);
        }
        details.gap();
        details.indented()
    }
}

/// What limits the figures.
pub fn caveats(details: &mut Details, measurement: &Measurement) {
    if measurement.cancelled {
        details.field("caveat", told::CANCELLED);
    }
    for caveat in &measurement.caveats {
        details.field("caveat", &caveat.in_full());
    }
}

/// What is written at once.
pub fn pages(measurement: &Measurement) -> String {
    match measurement.log.kind {
        LogKind::Wal => measurement.log.page(),
        LogKind::Redo => measurement.log.pages(),
    }
}

/// The rows of the server's methods.
pub fn of_server(measurement: &Measurement) -> impl Iterator<Item = &MethodResult> {
    let counts = |row: &&MethodResult| row.as_server && row.pages == 1;
    measurement.methods.iter().filter(counts).filter(|row| row.samples > 0 || row.error.is_some())
}

/// Whether what a commit asks for never reaches the disk, so that no figure is the price of durability.
fn flushes_are_suppressed(data: &Data, report: &Report) -> bool {
    let flush = data.focus.target.as_ref().and_then(|of| report.facts.value(of, &target::FLUSH));
    flush.is_some_and(Flush::is_suppressed)
}

/// The method that the server uses now.
fn in_force(report: &Report, cluster: &Subject) -> Option<WalSyncMethod> {
    report.facts.value(cluster, &postgres::WAL_SYNC_METHOD)
}

fn table(
    measurement: &Measurement,
    in_force: Option<WalSyncMethod>,
    theme: Theme,
    room: usize,
) -> Vec<Line<'static>> {
    let methods: Vec<&MethodResult> = of_server(measurement).collect();
    let said =
        methods.iter().map(|row| text::width(&said(measurement, row, in_force))).max().unwrap_or_default();
    let field = room.saturating_sub(BESIDE_FIELD.saturating_add(said)).clamp(FIELD.0, FIELD.1);
    let top = methods.iter().map(|row| row.median_us.high.max(row.median_us.value)).fold(0.0, f64::max);
    let rows: Vec<Vec<StyledText>> =
        methods.iter().map(|row| cells(row, measurement, (top, field), in_force, theme)).collect();
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
    (top, field): (f64, usize),
    in_force: Option<WalSyncMethod>,
    theme: Theme,
) -> Vec<StyledText> {
    let dim = theme.style(TextRole::Dim);
    let plain = theme.style(TextRole::Plain);
    let is_in_force = measurement.is_in_force(row, in_force);
    let name =
        (row.method.name().to_owned(), if is_in_force { theme.style(TextRole::Heading) } else { plain });
    if let Some(error) = &row.error {
        let none = || (String::new(), plain);
        return vec![name, none(), none(), none(), none(), (error.clone(), theme.style(TextRole::Doubt))];
    }
    let median = row.median_us.value;
    let (tail_name, tail) = row.p99_us.map_or(("p95", row.p95_us), |p99| ("p99", p99));
    let tail = format!("{tail_name} {:>7}", micros(tail));
    vec![
        name,
        (format!("{:>8}", micros(median)), plain),
        (interval::bar(row.median_us, top, field), theme.style(TextRole::Accent)),
        (tail, dim),
        (format!("{:>7} commits/s", per_second(row.mean_us)), dim),
        (said(measurement, row, in_force), plain),
    ]
}

/// What stands at the end of a row.
fn said(measurement: &Measurement, row: &MethodResult, in_force: Option<WalSyncMethod>) -> String {
    let beside = beside_default(measurement, row);
    let setting = measurement.log.setting(row.method).unwrap_or_default();
    let mark = if measurement.is_in_force(row, in_force) { "← in force" } else { "" };
    let parts = [beside.as_str(), setting, mark].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("  ")
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
