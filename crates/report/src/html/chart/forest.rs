use super::{
    Chart, LINE_HEIGHT, WIDTH, bottom_axis, cells_from_text, end_labels, index_to_share,
    interpolate_clamped, interval_shapes, left_axis, polyline, right_aligned_text, svg_dot,
    svg_text,
};
use crate::html::markup::{Markup, Tag};
use crate::ratio_axis::LogRatioAxis;
use walwise_measure::trial::{
    CandidateStanding, ForestPlotRow, LoadComparison, LogRatioInterval, NOT_RANKED, TrialRecord,
};
use walwise_model::text::{format_rate_or_dash, format_rounded_and_grouped};

/// Left and right edge of the plot, in SVG units.
const PLOT_X: [f64; 2] = [150.0, 400.0];
/// The share of the plot's width that a label needs.
const LABEL_SHARE: f64 = 0.2;
/// The height of the plot of speed by block, in SVG units.
const BLOCK_PLOT_HEIGHT: f64 = 60.0;
const MAX_BLOCKS: usize = 124;

/// Draws the interval of every candidate under one load. `place` is the number of the load and
/// makes the ids of the chart unique.
pub fn forest_chart(record: &TrialRecord, result: &LoadComparison, place: usize) -> Markup {
    let rows = record.forest_plot_rows(result);
    let axis = LogRatioAxis::from_intervals(rows.iter().filter_map(|row| row.place.interval()));
    let bottom = LINE_HEIGHT.mul_add(rows.len() as f64, 10.0);
    let mut drawn = bottom_axis(axis.ticks(LABEL_SHARE), PLOT_X, [4.0, bottom], 0.0);
    let mut numbers = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let y = LINE_HEIGHT.mul_add(at as f64, LINE_HEIGHT);
        drawn.push(right_aligned_text(
            PLOT_X[0] - 8.0,
            y + 4.0,
            &format!(
                "{}{}",
                if row.place.may_be_best() { "● " } else { "" },
                row.name
            ),
        ));
        drawn.extend(candidate_shapes(&axis, row, y));
        let rate = format_rate_or_dash(row.rate);
        drawn.push(svg_text(PLOT_X[1] + 8.0, y + 4.0, &rate));
        numbers.push(vec![
            row.name.clone(),
            rate,
            row.place.comparison_text(),
            standing_text(row).to_owned(),
        ]);
    }
    let chart = Chart {
        name: "forest",
        title: "Throughput relative to the first candidate",
        description: "The dot is the estimate; the line is its 95 % interval. A candidate with ● \
               may be the best, or is within 5 % of the best. “Again” is a second run of the first \
               candidate: differences smaller than its interval are noise."
            .to_owned(),
        height: bottom + 26.0,
        shapes: drawn,
        head: vec![
            "candidate",
            "per second",
            "compared with the first",
            "standing",
        ],
        rows: cells_from_text(numbers),
        ..Chart::default()
    };
    chart.into_markup(place)
}

fn standing_text(row: &ForestPlotRow) -> &'static str {
    match row.place {
        CandidateStanding::Reference { may_be_best: true }
        | CandidateStanding::Ranked {
            may_be_best: true, ..
        } => "may be the best, or within 5 % of the best",
        CandidateStanding::Reference { may_be_best: false }
        | CandidateStanding::Ranked {
            may_be_best: false, ..
        } => "slower",
        CandidateStanding::Twin { .. } => "repeat of the first candidate",
        CandidateStanding::Unranked => NOT_RANKED,
    }
}

fn candidate_shapes(axis: &LogRatioAxis, row: &ForestPlotRow, y: f64) -> Vec<Tag> {
    match (row.place, row.place.interval()) {
        (_, Some(LogRatioInterval { low, value, high })) => interval_shapes(
            [low, value, high].map(|log| axis.position_of_log_ratio(log)),
            PLOT_X,
            y,
        )
        .into(),
        (CandidateStanding::Reference { .. }, None) => {
            vec![svg_dot(
                interpolate_clamped(axis.position_of_log_ratio(0.0), PLOT_X),
                y,
            )]
        }
        (
            place @ (CandidateStanding::Ranked { .. }
            | CandidateStanding::Twin { .. }
            | CandidateStanding::Unranked),
            None,
        ) => {
            vec![svg_text(PLOT_X[0] + 8.0, y + 4.0, &place.comparison_text()).attr("class", "dim")]
        }
    }
}

/// Draws the rate of commits directly to the trial's extent, without a file system, by block.
/// `None` with fewer than two blocks, or if all rates are 0.
pub fn raw_extent_chart(record: &TrialRecord, place: usize) -> Option<Markup> {
    let rates: Vec<f64> = record
        .raw_extent_commit_rates()
        .into_iter()
        .take(MAX_BLOCKS)
        .collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    if rates.len() < 2 || most <= 0.0 {
        return None;
    }
    let (field, [top, bottom]) = ([80.0, WIDTH - 30.0], [10.0, 10.0 + BLOCK_PLOT_HEIGHT]);
    let mut drawn = left_axis(
        [0.0, 1.0].map(|share| (share, format_rate_or_dash(Some(share * most)))),
        field,
        [top, bottom],
    );
    let point = |(at, rate): (usize, &f64)| {
        (
            interpolate_clamped(index_to_share(at as f64, rates.len()), field),
            interpolate_clamped(rate / most, [bottom, top]),
        )
    };
    drawn.push(polyline("line l0", rates.iter().enumerate().map(point)));
    drawn.extend(end_labels(
        field,
        bottom,
        ["first block", &format!("block {}", rates.len())],
    ));
    let numbers = rates
        .iter()
        .enumerate()
        .map(|(at, rate)| vec![(at + 1).to_string(), format_rounded_and_grouped(*rate)])
        .collect();
    let chart = Chart {
        name: "floor",
        title: "The raw extent, block by block",
        description: "Writes per second on the raw extent, each followed by a flush, from the first block to the last. A flat line means that the host had no other load."
            .to_owned(),
        height: bottom + 26.0,
        shapes: drawn,
        head: vec!["block", "per second"],
        rows: cells_from_text(numbers),
        ..Chart::default()
    };
    Some(chart.into_markup(place))
}
