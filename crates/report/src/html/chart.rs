//! Charts as pictures in the document (SVG), each with a title, a sentence, and its numbers as a
//! table.
//!
//! Colour repeats what dashes, marks and labels say. Coordinates are rounded to a tenth, so that
//! the same report has the same bytes.

mod intervals {
    //! The median of each method with its 95 % interval, on a logarithmic axis.

    use super::{
        APART, Illustration, LINE, bottom_axis, interval, is_in_force, text, text_before, texts,
    };
    use crate::axis::Axis;
    use crate::price::is_without_flushes;
    use crate::telling::price::WITHOUT_FLUSHES;
    use crate::{Report, TargetSummary};
    use walwise_measure::measure::{Latencies, Measurement, MethodResult, sentence};
    use walwise_model::text::{grouped, micros, micros_between, micros_or_dash};

    /// Where the field begins and ends.
    const FIELD: [f64; 2] = [150.0, 405.0];

    /// The chart; nothing where nothing was measured.
    pub fn chart(
        report: &Report,
        target: &TargetSummary,
        measurement: &Measurement,
    ) -> Option<Illustration> {
        let rows: Vec<(&MethodResult, &Latencies)> = measurement
            .of_server()
            .filter_map(MethodResult::with_paced)
            .collect();
        let axis = Axis::around(
            rows.iter()
                .map(|(_, of)| (of.median_us.low, of.median_us.high)),
        )?;
        let is_no_price = is_without_flushes(report, &target.target)
            || !rows.iter().any(|(row, _)| row.method.is_durable());
        let top = if is_no_price { LINE } else { 0.0 };
        let bottom = LINE.mul_add(rows.len() as f64, top + 10.0);
        let mut drawn = bottom_axis(axis.ticks(), FIELD, [top + 4.0, bottom], APART);
        drawn.extend(
            is_no_price.then(|| text(FIELD[0], LINE - 6.0, "not durable").with("class", "bad")),
        );
        let mut numbers = Vec::new();
        for (at, (row, paced)) in rows.iter().enumerate() {
            let y = LINE.mul_add(at as f64, top + LINE);
            let used = is_in_force(report, target, measurement, row);
            let name = if used {
                format!("▸ {}", row.method.name())
            } else {
                row.method.name().to_owned()
            };
            drawn.push(text_before(FIELD[0] - 8.0, y + 4.0, &name));
            drawn.extend(interval(axis.shares(paced.median_us), FIELD, y));
            drawn.push(text(
                FIELD[1] + 10.0,
                y + 4.0,
                &micros(paced.median_us.value),
            ));
            numbers.push(vec![
                row.method.name().to_owned(),
                if used { "yes" } else { "" }.to_owned(),
                micros(paced.median_us.value),
                micros_between(paced.median_us.low, paced.median_us.high),
                micros_or_dash(paced.p99_us),
                micros_or_dash(row.back_to_back_us()),
                grouped(paced.samples),
            ]);
        }
        let warning = if is_no_price {
            format!("{WITHOUT_FLUSHES} ")
        } else {
            String::new()
        };
        let says = format!(
            "{warning}The dot is the median, the line its 95 % interval, ▸ the method in force; {}. {}",
            measurement.basis(),
            sentence(
                measurement,
                crate::price::in_force(report, target.cluster.as_ref())
            )
        );
        Some(Illustration {
            name: "price",
            title: "Commit latency by method",
            says,
            height: bottom + 26.0,
            drawn,
            has_links: false,
            head: [
                "method",
                "in force",
                "median",
                "95 % interval",
                "p99",
                "back to back",
                "commits",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: texts(numbers),
        })
    }
}
mod shares {
    //! The share of commits done within a time, a stepped curve for each method, on a logarithmic
    //! axis.

    use std::fmt::Write as _;

    use super::{
        APART, Illustration, WIDTH, along, bottom_axis, left_axis, legend, nth, tenth, texts,
    };
    use crate::axis::Axis;
    use crate::html::markup::tag;
    use walwise_measure::measure::{Latencies, Measurement, MethodResult};
    use walwise_model::text::micros;

    /// Where the field begins and ends.
    const FIELD: [f64; 2] = [60.0, WIDTH - 30.0];
    const HEIGHT: f64 = 180.0;

    /// The chart; nothing where no quantiles are kept.
    pub fn chart(measurement: &Measurement) -> Option<Illustration> {
        let rows: Vec<(&MethodResult, &Latencies)> = measurement
            .of_server()
            .filter_map(MethodResult::with_paced)
            .collect();
        let axis = Axis::around_quantiles(rows.iter().map(|(_, of)| of.quantiles_us.as_slice()))?;
        let (mut drawn, top) = legend(rows.iter().map(|(row, _)| row.method.name()));
        let bottom = top + HEIGHT;
        drawn.extend(bottom_axis(axis.ticks(), FIELD, [top, bottom], APART));
        let marks = [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")];
        drawn.extend(left_axis(
            marks.map(|(share, label)| (share, label.to_owned())),
            FIELD,
            [top, bottom],
        ));
        for (at, (_, paced)) in rows.iter().enumerate() {
            let way = steps(&axis, &paced.quantiles_us, top, bottom);
            drawn.push(tag("path").with("class", &nth(at)).with("d", &way));
        }
        let head = std::iter::once("share of commits".to_owned());
        Some(Illustration {
        name: "shares",
        title: "Share of commits done within a time",
        says: "How many of all commits were done within the time beneath; a steep curve is even, a long tail to the right \
               is commits that wait. Paced commits of one page by one client."
            .to_owned(),
        height: bottom + 26.0,
        drawn,
        has_links: false,
        head: head.chain(rows.iter().map(|(row, _)| row.method.name().to_owned())).collect(),
        rows: texts(numbers(&rows)),
    })
    }

    /// The curve goes along to each time and up by one step there.
    fn steps(axis: &Axis, quantiles: &[f64], top: f64, bottom: f64) -> String {
        let count = quantiles.len().max(1) as f64;
        let mut way = format!("M{} {}", tenth(FIELD[0]), tenth(bottom));
        for (done, us) in (1_u32..).zip(quantiles) {
            let (x, y) = (
                along(axis.share(*us), FIELD),
                along(f64::from(done) / count, [bottom, top]),
            );
            let _ = write!(way, "H{}V{}", tenth(x), tenth(y));
        }
        way
    }

    fn numbers(rows: &[(&MethodResult, &Latencies)]) -> Vec<Vec<String>> {
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
            let of_same_length = of
                .quantiles_us
                .get(at)
                .filter(|_| of.quantiles_us.len() == most);
            of_same_length.map(|us| micros(*us)).unwrap_or_default()
        };
        (0..most)
            .map(|at| {
                std::iter::once(share(at))
                    .chain(rows.iter().map(|row| time(row, at)))
                    .collect()
            })
            .collect()
    }
}
mod rounds;
mod sessions {
    //! What sessions come to that commit side by side: group commit, on an axis that doubles.

    use super::{Illustration, WIDTH, along, dot, left_axis, line, nth, text_around, texts};
    use walwise_measure::measure::{Measurement, Workload, WorkloadRow};
    use walwise_model::text::{micros, per_second, rounded};

    /// Where the field begins and ends.
    const FIELD: [f64; 2] = [80.0, WIDTH - 40.0];
    const HEIGHT: f64 = 150.0;
    const TOP: f64 = 14.0;

    /// The chart; nothing where that workload was not measured.
    pub fn chart(measurement: &Measurement) -> Option<Illustration> {
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
        let bottom = TOP + HEIGHT;
        let x = |row: &WorkloadRow| along(f64::from(row.threads).log2() / doublings, FIELD);
        let y = |rate: f64| along(rate / most, [bottom, TOP]);
        let marks = [0.0, 0.5, 1.0].map(|share| (share, per_second(Some(share * most))));
        let mut drawn = left_axis(marks, FIELD, [TOP, bottom]);
        drawn.push(line(
            &nth(0),
            rows.iter().map(|row| (x(row), y(row.per_second.value))),
        ));
        for row in &rows {
            let at = x(row);
            drawn.push(line(
                "rule",
                [(at, y(row.per_second.low)), (at, y(row.per_second.high))],
            ));
            drawn.push(dot(at, y(row.per_second.value)));
            drawn.push(text_around(at, bottom + 18.0, &row.threads.to_string()));
        }
        let numbers = |row: &&WorkloadRow| {
            vec![
                row.threads.to_string(),
                rounded(row.per_second.value),
                format!(
                    "{}–{}",
                    rounded(row.per_second.low),
                    rounded(row.per_second.high)
                ),
                micros(row.median_us.value),
                row.flushes_per_operation
                    .map_or_else(|| "–".to_owned(), |count| format!("{count:.2}")),
            ]
        };
        let head = [
            "sessions",
            "commits/s",
            "95 % interval",
            "median of a commit",
            "flushes a commit",
        ];
        Some(Illustration {
            name: "sessions",
            title: "Commits of sessions side by side",
            says: format!(
                "Commits per second of all sessions, by the number of sessions beneath. {}",
                found.sentence
            ),
            height: bottom + 26.0,
            rows: texts(rows.iter().map(numbers).collect()),
            drawn,
            has_links: false,
            head: head.map(str::to_owned).to_vec(),
        })
    }
}
mod path {
    //! The flush path as a rail: solid while the flush travels, dashed where that is unknown,
    //! absent below a drop; on it each hop with its mark, its name, which leads to its facts, and
    //! its fate.

    use super::{Illustration, LINE, WIDTH, line, text, text_around, text_before};
    use crate::html::class;
    use crate::html::evidence::FactsTold;
    use crate::html::markup::{Markup, Tag};
    use crate::telling::flush;
    use walwise_judge::durability::FlushHop;
    use walwise_model::facts::catalog::target::Flush;
    use walwise_model::text::wrap::fit;

    /// Where rail, names, words and fates stand.
    const RAIL: f64 = 14.0;
    const NAME: f64 = 30.0;
    const SAYS: f64 = 148.0;
    /// How many signs of a name and of its words have room; the table beside has all of them.
    const LONGEST_NAME: usize = 13;
    const LONGEST_WORDS: usize = 32;
    /// How many things of one hop are named in the table.
    const MOST: usize = 8;

    /// The chart; nothing without a path.
    pub fn chart(path: &[FlushHop], facts: &FactsTold<'_>) -> Option<Illustration> {
        path.first()?;
        let mut drawn = Vec::new();
        let y = |at: usize| LINE.mul_add(1.4 * at as f64, LINE);
        for (at, hop) in path.iter().enumerate().skip(1) {
            let part = |class| line(class, [(RAIL, y(at - 1) + 8.0), (RAIL, y(at) - 8.0)]);
            match hop.arrival {
                Flush::Sent => drawn.push(part("rail")),
                Flush::Unknown => drawn.push(part("rail doubted")),
                Flush::Suppressed | Flush::NotNeeded => {}
            }
        }
        for (at, hop) in path.iter().enumerate() {
            let (mark, word, tone) = flush::sign(hop);
            let role = class(tone);
            drawn.push(text_around(RAIL, y(at) + 5.0, mark).with("class", role));
            let name = text(NAME, y(at) + 4.0, &fit(&hop.name, LONGEST_NAME));
            drawn.push(
                match hop.subjects.iter().find_map(|subject| facts.link(subject)) {
                    Some(link) => link.add(name),
                    None => name,
                },
            );
            drawn
                .push(text(SAYS, y(at) + 4.0, &fit(&hop.says, LONGEST_WORDS)).with("class", "dim"));
            drawn.push(text_before(WIDTH - 2.0, y(at) + 4.0, word).with("class", role));
        }
        let row = |hop: &FlushHop| {
            let (mark, word, _) = flush::sign(hop);
            let says = [&hop.says, &hop.because].map(String::as_str);
            let says: Vec<&str> = says.into_iter().filter(|says| !says.is_empty()).collect();
            vec![
                Markup::text(mark),
                linked(hop, facts),
                Markup::text(&says.join("; ")),
                Markup::text(word),
                Markup::text(&hop.source),
            ]
        };
        Some(Illustration {
            name: "path",
            title: "The way of a commit's flush",
            says: flush::line(path),
            height: y(path.len() - 1) + LINE,
            drawn,
            has_links: path
                .iter()
                .flat_map(|hop| &hop.subjects)
                .any(|subject| facts.link(subject).is_some()),
            head: [
                "mark",
                "hop",
                "what it is",
                "what becomes of the flush",
                "read from",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: path.iter().map(row).collect(),
        })
    }

    /// A hop by its name, with links to the facts of what stands there.
    fn linked(hop: &FlushHop, facts: &FactsTold<'_>) -> Markup {
        let name = |words: &str, link: Option<Tag>| match link {
            Some(link) => link.text(words).into(),
            None => Markup::text(words),
        };
        if let [subject] = hop.subjects.as_slice() {
            return name(&hop.name, facts.link(subject));
        }
        let each = hop
            .subjects
            .iter()
            .take(MOST)
            .map(|subject| Markup::fixed(" ").and(name(subject.name(), facts.link(subject))));
        Markup::text(&hop.name).and(Markup::all(each))
    }
}
pub mod forest;

use super::evidence::FactsTold;
use super::markup::{Markup, Tag, tag};
use super::section;
use crate::{Report, TargetSummary};
use walwise_measure::measure::{Measurement, MethodResult};

/// The width of every chart, in units of its picture.
const WIDTH: f64 = 480.0;
/// The height of a line of text.
const LINE: f64 = 20.0;
/// How far labels of times stand apart.
const APART: f64 = 56.0;
/// How many lines differ by their dashes.
const DASHES: usize = 5;

struct Illustration {
    /// Its name among the charts of a target.
    name: &'static str,
    /// What it shows, in a few words.
    title: &'static str,
    /// The same in a sentence, for those who do not see it.
    says: String,
    height: f64,
    drawn: Vec<Tag>,
    /// Whether something drawn is a link.
    has_links: bool,
    /// Its numbers: what the columns hold, and the rows.
    head: Vec<String>,
    rows: Vec<Vec<Markup>>,
}

/// A target of which charts are drawn.
#[derive(Clone, Copy)]
pub struct Charted<'a> {
    pub report: &'a Report,
    pub target: &'a TargetSummary,
    /// Its place in the document, from 1.
    pub place: usize,
    /// Facts that a picture can lead to.
    pub facts: &'a FactsTold<'a>,
}

impl Charted<'_> {
    /// The way of a flush below the target.
    pub fn path(self) -> Option<Markup> {
        let verdict = self.report.verdict(&self.target.target)?;
        path::chart(&verdict.flush_path, self.facts).map(|chart| chart.placed(self.place))
    }

    /// What commits cost with each method.
    pub fn price(self) -> Option<Markup> {
        let chart = intervals::chart(self.report, self.target, self.measured()?);
        chart.map(|chart| chart.placed(self.place))
    }

    /// How the times of commits are spread, what sessions side by side come to, and how it went
    /// round by round.
    pub fn further(self) -> Vec<Markup> {
        let Some(measurement) = self.measured() else {
            return Vec::new();
        };
        let all = [
            shares::chart(measurement),
            sessions::chart(measurement),
            rounds::chart(measurement),
        ];
        all.into_iter()
            .flatten()
            .map(|chart| chart.placed(self.place))
            .collect()
    }

    fn measured(&self) -> Option<&Measurement> {
        let probe = self
            .report
            .probes
            .iter()
            .find(|probe| probe.target == self.target.target);
        probe.map(|probe| &probe.measurement)
    }
}

impl Illustration {
    /// The chart of the target in this place.
    fn placed(self, place: usize) -> Markup {
        let (title, says) = (
            format!("chart-{place}-{}", self.name),
            format!("chart-{place}-{}-says", self.name),
        );
        // A picture is one thing to those who do not see it, unless it has links.
        let picture = tag("svg")
            .with("role", if self.has_links { "group" } else { "img" })
            .with("aria-labelledby", &title)
            .with("aria-describedby", &says)
            .with("viewBox", &format!("0 0 {WIDTH:.0} {:.0}", self.height))
            .with("class", "chart")
            .adding(self.drawn);
        let about = tag("figcaption")
            .add(tag("strong").with("id", &title).text(self.title))
            .text(": ")
            .add(tag("span").with("id", &says).text(&self.says));
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let numbers = section::table(self.title, &head, &[], self.rows);
        let numbers = tag("details")
            .with("class", "appendix")
            .add(tag("summary").text("Numbers of this chart"))
            .add(numbers);
        tag("figure")
            .add(about)
            .add(section::framed(self.title, picture))
            .add(numbers)
            .into()
    }
}

fn texts(rows: Vec<Vec<String>>) -> Vec<Vec<Markup>> {
    rows.into_iter()
        .map(|row| row.iter().map(|cell| Markup::text(cell)).collect())
        .collect()
}

/// A text in a picture, to the right of its place.
fn text(x: f64, y: f64, words: &str) -> Tag {
    tag("text")
        .with("x", &tenth(x))
        .with("y", &tenth(y))
        .drawn(words)
}

/// The same to the left of its place.
fn text_before(x: f64, y: f64, words: &str) -> Tag {
    text(x, y, words).with("text-anchor", "end")
}

/// The same around its place.
fn text_around(x: f64, y: f64, words: &str) -> Tag {
    text(x, y, words).with("text-anchor", "middle")
}

/// A line of these points.
fn line(class: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Tag {
    let points: Vec<String> = points
        .into_iter()
        .map(|(x, y)| format!("{},{}", tenth(x), tenth(y)))
        .collect();
    tag("polyline")
        .with("class", class)
        .with("points", &points.join(" "))
}

/// The class of the n-th line, by which it has a colour and dashes.
fn nth(at: usize) -> String {
    format!("line l{}", at % DASHES)
}

/// A coordinate; what is no number is 0.
fn tenth(at: f64) -> String {
    let at = if at.is_finite() { at } else { 0.0 };
    let text = format!("{at:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Where a share of a field stands between its ends in a picture; what lies outside is at the end.
fn along(share: f64, [from, to]: [f64; 2]) -> f64 {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    share.mul_add(to - from, from)
}

/// An axis beneath a field: a line down at each mark, and labels that stand so far apart.
fn bottom_axis(
    marks: Vec<(f64, String)>,
    field: [f64; 2],
    [top, bottom]: [f64; 2],
    apart: f64,
) -> Vec<Tag> {
    let mut drawn = vec![line("rule", field.map(|x| (x, bottom)))];
    let mut free = f64::NEG_INFINITY;
    for (share, label) in marks {
        let x = along(share, field);
        drawn.push(line("grid", [(x, top), (x, bottom + 4.0)]));
        if x >= free {
            drawn.push(text_around(x, bottom + 18.0, &label));
            free = x + apart;
        }
    }
    drawn
}

/// An axis at the left of a field: a line across at each mark.
fn left_axis(
    marks: impl IntoIterator<Item = (f64, String)>,
    field: [f64; 2],
    [top, bottom]: [f64; 2],
) -> Vec<Tag> {
    let mark = |(share, label): (f64, String)| {
        let y = along(share, [bottom, top]);
        [
            text_before(field[0] - 8.0, y + 4.0, &label),
            line("grid", field.map(|x| (x, y))),
        ]
    };
    marks.into_iter().flat_map(mark).collect()
}

/// From where to where a field goes in time, beneath it.
fn ends(field: [f64; 2], bottom: f64, [first, last]: [&str; 2]) -> [Tag; 2] {
    [
        text(field[0], bottom + 18.0, first),
        text_before(field[1], bottom + 18.0, last),
    ]
}

fn dot(x: f64, y: f64) -> Tag {
    tag("circle")
        .with("class", "dot")
        .with("cx", &tenth(x))
        .with("cy", &tenth(y))
        .with("r", "4.5")
}

/// An interval by the shares of the field at which its lower end, its middle and its upper end
/// stand.
fn interval(shares: [f64; 3], field: [f64; 2], y: f64) -> [Tag; 4] {
    let [low, middle, high] = shares.map(|share| along(share, field));
    let end = |x| line("rule", [(x, y - 5.0), (x, y + 5.0)]);
    [
        line("rule", [(low, y), (high, y)]),
        end(low),
        end(high),
        dot(middle, y),
    ]
}

/// The n-th of so many, as a share of their row.
fn nth_share(at: f64, of: usize) -> f64 {
    at / of.saturating_sub(1).max(1) as f64
}

/// Which line is whose, in a row of samples above a field.
fn legend<'n>(names: impl Iterator<Item = &'n str>) -> (Vec<Tag>, f64) {
    let (mut x, mut y, mut drawn) = (10.0, 14.0, Vec::new());
    for (at, name) in names.enumerate() {
        let wide = 50.0 + 7.5 * name.chars().count() as f64;
        if x > 10.0 && x + wide > WIDTH {
            (x, y) = (10.0, y + LINE);
        }
        drawn.push(line(&nth(at), [(x, y - 4.0), (x + 30.0, y - 4.0)]));
        drawn.push(text(x + 36.0, y, name));
        x += wide;
    }
    (drawn, y + 10.0)
}

/// In force, by the setting of the server.
fn is_in_force(
    report: &Report,
    target: &TargetSummary,
    measured: &Measurement,
    row: &MethodResult,
) -> bool {
    measured.is_in_force(row, crate::price::in_force(report, target.cluster.as_ref()))
}
