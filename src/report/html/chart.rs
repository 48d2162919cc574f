//! Charts as pictures in the document (SVG), each with a title, a sentence, and its numbers as a table.
//!
//! Colour repeats what dashes, marks and labels say. Coordinates are rounded to a tenth, so that the same report has the
//! same bytes.

mod intervals;
mod shares;
mod rounds;
mod sessions;
mod path;
pub mod forest;

use super::evidence::FactsTold;
use super::markup::{Markup, Tag, tag};
use super::section;
use crate::measure::{Measurement, MethodResult};
use crate::report::{Report, TargetSummary};

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

    /// How the times of commits are spread, what sessions side by side come to, and how it went round by round.
    pub fn further(self) -> Vec<Markup> {
        let Some(measurement) = self.measured() else { return Vec::new() };
        let all = [shares::chart(measurement), sessions::chart(measurement), rounds::chart(measurement)];
        all.into_iter().flatten().map(|chart| chart.placed(self.place)).collect()
    }

    fn measured(&self) -> Option<&Measurement> {
        let probe = self.report.probes.iter().find(|probe| probe.target == self.target.target);
        probe.map(|probe| &probe.measurement)
    }
}

impl Illustration {
    /// The chart of the target in this place.
    fn placed(self, place: usize) -> Markup {
        let (title, says) =
            (format!("chart-{place}-{}", self.name), format!("chart-{place}-{}-says", self.name));
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
        tag("figure").add(about).add(section::framed(self.title, picture)).add(numbers).into()
    }
}

fn texts(rows: Vec<Vec<String>>) -> Vec<Vec<Markup>> {
    rows.into_iter().map(|row| row.iter().map(|cell| Markup::text(cell)).collect()).collect()
}

/// A text in a picture, to the right of its place.
fn text(x: f64, y: f64, words: &str) -> Tag {
    tag("text").with("x", &tenth(x)).with("y", &tenth(y)).drawn(words)
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
    let points: Vec<String> = points.into_iter().map(|(x, y)| format!("{},{}", tenth(x), tenth(y))).collect();
    tag("polyline").with("class", class).with("points", &points.join(" "))
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
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    share.mul_add(to - from, from)
}

/// An axis beneath a field: a line down at each mark, and labels that stand so far apart.
fn bottom_axis(marks: Vec<(f64, String)>, field: [f64; 2], [top, bottom]: [f64; 2], apart: f64) -> Vec<Tag> {
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
        [text_before(field[0] - 8.0, y + 4.0, &label), line("grid", field.map(|x| (x, y)))]
    };
    marks.into_iter().flat_map(mark).collect()
}

/// From where to where a field goes in time, beneath it.
fn ends(field: [f64; 2], bottom: f64, [first, last]: [&str; 2]) -> [Tag; 2] {
    [text(field[0], bottom + 18.0, first), text_before(field[1], bottom + 18.0, last)]
}

fn dot(x: f64, y: f64) -> Tag {
    tag("circle").with("class", "dot").with("cx", &tenth(x)).with("cy", &tenth(y)).with("r", "4.5")
}

/// An interval by the shares of the field at which its lower end, its middle and its upper end stand.
fn interval(shares: [f64; 3], field: [f64; 2], y: f64) -> [Tag; 4] {
    let [low, middle, high] = shares.map(|share| along(share, field));
    let end = |x| line("rule", [(x, y - 5.0), (x, y + 5.0)]);
    [line("rule", [(low, y), (high, y)]), end(low), end(high), dot(middle, y)]
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
fn is_in_force(report: &Report, target: &TargetSummary, measured: &Measurement, row: &MethodResult) -> bool {
    measured.is_in_force(row, crate::report::price::in_force(report, target.cluster.as_ref()))
}
