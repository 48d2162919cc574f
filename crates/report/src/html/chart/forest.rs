//! Candidates of a trial against the first: the middle and the 95 % interval of each, under one
//! load; and the speed of the bare extent, block by block.

use super::{
    Illustration, LINE, WIDTH, along, bottom_axis, dot, ends, interval, left_axis, line, nth_share,
    text, text_before, texts,
};
use crate::html::markup::{Markup, Tag};
use crate::ratios::RatioAxis;
use walwise_measure::trial::{
    ForestPlace, ForestRow, Interval, LoadResult, NOT_RANKED, TrialRecord,
};
use walwise_model::text::{per_second, rounded};

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
    let mut drawn = bottom_axis(axis.marks(APART), FIELD, [4.0, bottom], 0.0);
    let mut numbers = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let y = LINE.mul_add(at as f64, LINE);
        drawn.push(text_before(
            FIELD[0] - 8.0,
            y + 4.0,
            &format!("{}{}", sign(row), row.name),
        ));
        drawn.extend(bar(&axis, row, y));
        let rate = per_second(row.rate);
        drawn.push(text(FIELD[1] + 8.0, y + 4.0, &rate));
        numbers.push(vec![
            row.name.clone(),
            rate,
            row.place.against(),
            says(row).to_owned(),
        ]);
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

fn sign(row: &ForestRow) -> &'static str {
    if row.place.may_be_best() { "● " } else { "" }
}

fn says(row: &ForestRow) -> &'static str {
    match row.place {
        ForestPlace::First { may_be_best: true }
        | ForestPlace::Ranked {
            may_be_best: true, ..
        } => "may be the best, or within 5 % of it",
        ForestPlace::First { may_be_best: false }
        | ForestPlace::Ranked {
            may_be_best: false, ..
        } => "slower",
        ForestPlace::Twin { .. } => "the resolution",
        ForestPlace::Below => NOT_RANKED,
    }
}

fn bar(axis: &RatioAxis, row: &ForestRow, y: f64) -> Vec<Tag> {
    match (row.place, row.place.interval()) {
        (_, Some(Interval { low, value, high })) => {
            interval([low, value, high].map(|log| axis.share(log)), FIELD, y).to_vec()
        }
        (ForestPlace::First { .. }, None) => vec![dot(along(axis.share(0.0), FIELD), y)],
        (
            place @ (ForestPlace::Ranked { .. } | ForestPlace::Twin { .. } | ForestPlace::Below),
            None,
        ) => {
            vec![text(FIELD[0] + 8.0, y + 4.0, &place.against()).with("class", "dim")]
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
    let (field, [top, bottom]) = ([80.0, WIDTH - 30.0], [10.0, 10.0 + STRIP]);
    let mut drawn = left_axis(
        [0.0, 1.0].map(|share| (share, per_second(Some(share * most)))),
        field,
        [top, bottom],
    );
    let point = |(at, rate): (usize, &f64)| {
        (
            along(nth_share(at as f64, rates.len()), field),
            along(rate / most, [bottom, top]),
        )
    };
    drawn.push(line("line l0", rates.iter().enumerate().map(point)));
    drawn.extend(ends(
        field,
        bottom,
        ["first block", &format!("block {}", rates.len())],
    ));
    let numbers = rates
        .iter()
        .enumerate()
        .map(|(at, rate)| vec![(at + 1).to_string(), rounded(*rate)])
        .collect();
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
