//! Candidates of a trial against the first: the middle and the 95 % interval of each, under one load; and the speed of the bare
//! extent, block by block.

use super::{Illustration, LINE, WIDTH, line, tenth, text, text_around, text_before, texts};
use crate::report::html::markup::{Markup, Tag, tag};
use crate::report::ratios::RatioAxis;
use crate::text::rounded;
use crate::trial::{ForestPlace, ForestRow, Interval, LoadResult, TrialRecord, percent};

/// Where the field begins and ends.
const FIELD: [f64; 2] = [150.0, 400.0];
/// The share of the field that a label needs.
const APART: f64 = 0.2;
/// The height of the strip.
const STRIP: f64 = 60.0;
/// More blocks than these are told as the medians of groups.
const MOST: usize = 124;

/// The candidates under a load, the chart of this place in the document.
pub fn forest(record: &TrialRecord, result: &LoadResult, place: usize) -> Markup {
    let rows = record.forest(result);
    let axis = RatioAxis::around(rows.iter().filter_map(|row| row.place.interval()));
    let bottom = LINE.mul_add(rows.len() as f64, 10.0);
    let mut drawn = vec![line("rule", [(FIELD[0], bottom), (FIELD[1], bottom)])];
    for (share, label) in axis.marks(APART) {
        let x = along(share);
        drawn.push(line("grid", [(x, 4.0), (x, bottom + 4.0)]));
        drawn.push(text_around(x, bottom + 18.0, &label));
    }
    let mut numbers = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let y = LINE.mul_add(at as f64, LINE);
        drawn.push(text_before(FIELD[0] - 8.0, y + 4.0, &format!("{}{}", sign(row), row.name)));
        drawn.extend(bar(&axis, row, y));
        let rate = row.rate.map_or_else(|| "–".to_owned(), |rate| format!("{}/s", rounded(rate)));
        drawn.push(text(FIELD[1] + 8.0, y + 4.0, &rate));
        numbers.push(vec![row.name.clone(), rate, against(row), says(row).to_owned()]);
    }
    let chart = Illustration {
        name: "forest",
        title: "Throughput against the first candidate",
        says: "The dot is the middle, the line the 95 % interval over all looks. ● may be the best, or is within 5 % of it. \
               “Again” is the first candidate under another name: what this trial can tell apart."
            .to_owned(),
        height: bottom + 26.0,
        drawn,
        has_links: false,
        head: ["candidate", "per second", "against the first", "standing"].map(str::to_owned).to_vec(),
        rows: texts(numbers),
    };
    chart.placed(place)
}

fn along(share: f64) -> f64 {
    share.clamp(0.0, 1.0).mul_add(FIELD[1] - FIELD[0], FIELD[0])
}

fn sign(row: &ForestRow) -> &'static str {
    if row.place.may_be_best() { "● " } else { "" }
}

fn says(row: &ForestRow) -> &'static str {
    match row.place {
        ForestPlace::First { may_be_best: true } | ForestPlace::Ranked { may_be_best: true, .. } => {
            "may be the best, or within 5 % of it"
        }
        ForestPlace::First { may_be_best: false } | ForestPlace::Ranked { may_be_best: false, .. } => {
            "slower"
        }
        ForestPlace::Twin { .. } => "the resolution",
        ForestPlace::Below => "not ranked",
    }
}

fn against(row: &ForestRow) -> String {
    match row.place {
        ForestPlace::First { .. } => "first".to_owned(),
        ForestPlace::Ranked { interval, .. } | ForestPlace::Twin { interval } => {
            interval.map_or_else(|| "too few blocks".to_owned(), percent)
        }
        ForestPlace::Below => "not ranked".to_owned(),
    }
}

fn bar(axis: &RatioAxis, row: &ForestRow, y: f64) -> Vec<Tag> {
    let x = |log| along(axis.share(log));
    let dot = |x: f64| {
        let dot = tag("circle").with("class", "dot").with("r", "4.5");
        dot.with("cx", &tenth(x)).with("cy", &tenth(y))
    };
    match (row.place, row.place.interval()) {
        (_, Some(Interval { low, value, high })) => {
            let end = |at| line("rule", [(at, y - 5.0), (at, y + 5.0)]);
            vec![line("rule", [(x(low), y), (x(high), y)]), end(x(low)), end(x(high)), dot(x(value))]
        }
        (ForestPlace::First { .. }, None) => vec![dot(x(0.0))],
        (ForestPlace::Ranked { .. } | ForestPlace::Twin { .. } | ForestPlace::Below, None) => {
            let words = match row.place {
                ForestPlace::Below => "not ranked",
                ForestPlace::First { .. } | ForestPlace::Ranked { .. } | ForestPlace::Twin { .. } => {
                    "too few blocks"
                }
            };
            vec![text(FIELD[0] + 8.0, y + 4.0, words).with("class", "dim")]
        }
    }
}

/// The bare extent as a strip, the chart of this place; nothing with fewer than two blocks.
pub fn strip(record: &TrialRecord, place: usize) -> Option<Markup> {
    let rates: Vec<f64> = record.floor().into_iter().flatten().take(MOST).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    if rates.len() < 2 || most <= 0.0 {
        return None;
    }
    let (left, right, top) = (80.0, WIDTH - 30.0, 10.0);
    let bottom = top + STRIP;
    let last = (rates.len() - 1) as f64;
    let point = |(at, rate): (usize, &f64)| {
        ((at as f64 / last).mul_add(right - left, left), (rate / most).mul_add(top - bottom, bottom))
    };
    let mut drawn = Vec::new();
    for share in [0.0, 1.0] {
        let y = f64::mul_add(share, top - bottom, bottom);
        drawn.push(line("grid", [(left, y), (right, y)]));
        drawn.push(text_before(left - 8.0, y + 4.0, &format!("{}/s", rounded(share * most))));
    }
    drawn.push(line("line l0", rates.iter().enumerate().map(point)));
    drawn.push(text(left, bottom + 18.0, "first block"));
    drawn.push(text_before(right, bottom + 18.0, &format!("block {}", rates.len())));
    let numbers =
        rates.iter().enumerate().map(|(at, rate)| vec![(at + 1).to_string(), rounded(*rate)]).collect();
    let chart = Illustration {
        name: "floor",
        title: "The bare extent, block by block",
        says: "Writes with a flush per second on the bare extent, from the first block to the last; a level line is a calm machine."
            .to_owned(),
        height: bottom + 26.0,
        drawn,
        has_links: false,
        head: ["block", "per second"].map(str::to_owned).to_vec(),
        rows: texts(numbers),
    };
    Some(chart.placed(place))
}
