//! The candidates of a trial relative to the first, under one load, each with its estimate and 95 %
//! interval; and the speed of the bare extent, block by block.

use super::{
    Chart, LINE, WIDTH, bottom_axis, dot, end_labels, interpolate, interval, left_axis, line,
    nth_fraction, right_aligned_text, text, text_cells,
};
use crate::html::markup::{Markup, Tag};
use crate::ratios::RatioAxis;
use walwise_measure::trial::{
    ForestPlace, ForestRow, Interval, LoadResult, NOT_RANKED, TrialRecord,
};
use walwise_model::text::{per_second, round_grouped};

/// Left and right edge of the plot.
const PLOT_X: [f64; 2] = [150.0, 400.0];
/// The share of the plot that a label needs.
const LABEL_SHARE: f64 = 0.2;
/// The height of the strip.
const STRIP: f64 = 60.0;
/// The most blocks drawn.
const MAX_BLOCKS: usize = 124;

/// The chart of the candidates under one load; `place` makes its ids unique.
pub fn forest(record: &TrialRecord, result: &LoadResult, place: usize) -> Markup {
    let rows = record.forest(result);
    let axis = RatioAxis::spanning(rows.iter().filter_map(|row| row.place.interval()));
    let bottom = LINE.mul_add(rows.len() as f64, 10.0);
    let mut drawn = bottom_axis(axis.ticks(LABEL_SHARE), PLOT_X, [4.0, bottom], 0.0);
    let mut numbers = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let y = LINE.mul_add(at as f64, LINE);
        drawn.push(right_aligned_text(
            PLOT_X[0] - 8.0,
            y + 4.0,
            &format!("{}{}", best_mark(row), row.name),
        ));
        drawn.extend(interval_bar(&axis, row, y));
        let rate = per_second(row.rate);
        drawn.push(text(PLOT_X[1] + 8.0, y + 4.0, &rate));
        numbers.push(vec![
            row.name.clone(),
            rate,
            row.place.comparison_text(),
            standing(row).to_owned(),
        ]);
    }
    let chart = Chart {
        name: "forest",
        title: "Throughput relative to the first candidate",
        description: "The dot is the estimate, the line its 95 % interval. ● may be the best, or is within 5 % of it. \
               “Again” is the first candidate under another name: it shows what this trial can tell apart."
            .to_owned(),
        height: bottom + 26.0,
        shapes: drawn,
        has_links: false,
        head: ["candidate", "per second", "against the first", "standing"].map(str::to_owned).to_vec(),
        rows: text_cells(numbers),
    };
    chart.into_markup(place)
}

fn best_mark(row: &ForestRow) -> &'static str {
    if row.place.may_be_best() { "● " } else { "" }
}

fn standing(row: &ForestRow) -> &'static str {
    match row.place {
        ForestPlace::Reference { may_be_best: true }
        | ForestPlace::Ranked {
            may_be_best: true, ..
        } => "may be the best, or within 5 % of it",
        ForestPlace::Reference { may_be_best: false }
        | ForestPlace::Ranked {
            may_be_best: false, ..
        } => "slower",
        ForestPlace::Twin { .. } => "the resolution",
        ForestPlace::Unranked => NOT_RANKED,
    }
}

fn interval_bar(axis: &RatioAxis, row: &ForestRow, y: f64) -> Vec<Tag> {
    match (row.place, row.place.interval()) {
        (_, Some(Interval { low, value, high })) => {
            interval([low, value, high].map(|log| axis.share(log)), PLOT_X, y).to_vec()
        }
        (ForestPlace::Reference { .. }, None) => vec![dot(interpolate(axis.share(0.0), PLOT_X), y)],
        (
            place @ (ForestPlace::Ranked { .. } | ForestPlace::Twin { .. } | ForestPlace::Unranked),
            None,
        ) => {
            vec![text(PLOT_X[0] + 8.0, y + 4.0, &place.comparison_text()).attr("class", "dim")]
        }
    }
}

/// The speed of the bare extent; `None` with fewer than two blocks.
pub fn strip(record: &TrialRecord, place: usize) -> Option<Markup> {
    let rates: Vec<f64> = record
        .floor_rates()
        .into_iter()
        .flatten()
        .take(MAX_BLOCKS)
        .collect();
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
            interpolate(nth_fraction(at as f64, rates.len()), field),
            interpolate(rate / most, [bottom, top]),
        )
    };
    drawn.push(line("line l0", rates.iter().enumerate().map(point)));
    drawn.extend(end_labels(
        field,
        bottom,
        ["first block", &format!("block {}", rates.len())],
    ));
    let numbers = rates
        .iter()
        .enumerate()
        .map(|(at, rate)| vec![(at + 1).to_string(), round_grouped(*rate)])
        .collect();
    let chart = Chart {
        name: "floor",
        title: "The bare extent, block by block",
        description: "Writes with a flush per second on the bare extent, from the first block to the last; a level line means a quiet host."
            .to_owned(),
        height: bottom + 26.0,
        shapes: drawn,
        has_links: false,
        head: ["block", "per second"].map(str::to_owned).to_vec(),
        rows: text_cells(numbers),
    };
    Some(chart.into_markup(place))
}
