//! Draws the medians of consecutive paced commits over the time of a probe, which show drift and
//! disturbances.

use std::fmt::Write as _;

use super::{
    Chart, WIDTH, cells_from_text, end_labels, index_to_share, interpolate_clamped, left_axis,
    legend_shapes_and_height, line_style_class, polyline,
};
use crate::html::markup::Tag;
use crate::time_axis::LogTimeAxis;
use walwise_measure::measure::{Caveat, Measurement, MethodResult};
use walwise_model::text::{JoinText, format_micros};

/// Left and right edge of the plot, in SVG units.
const PLOT_X: [f64; 2] = [70.0, WIDTH - 30.0];
/// The height of the plot, in SVG units; `.hatch` in style.css has the same stroke width.
const HEIGHT: f64 = 150.0;
/// Maximum number of points per curve. If a measurement has more runs (groups of consecutive
/// commits), each point is the median of several runs.
const MAX_RUNS: usize = 64;

/// Draws a curve per method; `None` if no method has two runs with valid times.
pub fn rounds_chart(measurement: &Measurement) -> Option<Chart> {
    let rows: Vec<(&MethodResult, Vec<f64>)> = measurement
        .one_page_server_rows_without_error()
        .filter_map(|row| Some((row, medians_of_grouped_runs(&row.paced.as_ref()?.rounds_us))))
        .filter(|(_, all)| all.len() > 1)
        .collect();
    let span = |(_, all): &(&MethodResult, Vec<f64>)| {
        let times = all.iter().copied();
        let low = times.clone().fold(f64::INFINITY, f64::min);
        (low, times.fold(0.0, f64::max))
    };
    let axis = LogTimeAxis::from_spans(rows.iter().map(span))?;
    let runs = rows.iter().map(|(_, all)| all.len()).max();
    let seen = caveats_by_run(measurement, runs.unwrap_or_default());
    let (mut drawn, top) = legend_shapes_and_height(&rows);
    let bottom = top + HEIGHT;
    drawn.extend(hatch_shapes(&seen, f64::midpoint(top, bottom)));
    drawn.extend(left_axis(axis.ticks(), PLOT_X, [top, bottom]));
    for (at, (_, all)) in rows.iter().enumerate() {
        let point = |(at, us): (usize, &f64)| {
            (
                run_x_coordinate(at as f64, all.len()),
                interpolate_clamped(axis.position_of_time(*us), [bottom, top]),
            )
        };
        drawn.push(polyline(
            &line_style_class(at),
            all.iter().enumerate().map(point),
        ));
    }
    drawn.extend(end_labels(PLOT_X, bottom, ["start", "end"]));
    let is_disturbed = seen.iter().any(|caveats| !caveats.is_empty());
    let row = |(at, caveats): (usize, &Vec<&Caveat>)| {
        let name = at.saturating_add(1).to_string();
        let time =
            |(_, all): &(_, Vec<f64>)| all.get(at).map(|us| format_micros(*us)).unwrap_or_default();
        let ids = caveats.iter().map(|caveat| caveat.id.to_string());
        let ids = ids.join_with(", ");
        std::iter::once(name)
            .chain(rows.iter().map(time))
            .chain(is_disturbed.then_some(ids))
            .collect()
    };
    let mut says =
        "Medians of consecutive paced commits, from the first to the last; a flat line means that the host had no other load."
            .to_owned();
    for caveat in measurement
        .caveats
        .iter()
        .filter(|caveat| is_shown_as_hatching(caveat))
    {
        let _ = write!(says, " Hatched: {}", caveat.text);
    }
    let names = rows.iter().map(|(row, _)| row.method.name());
    Some(Chart {
        name: "rounds",
        title: "Commit latency during the measurement",
        description: says,
        height: bottom + 26.0,
        shapes: drawn,
        head: std::iter::once("run")
            .chain(names)
            .chain(is_disturbed.then_some("caveat"))
            .collect(),
        rows: cells_from_text(seen.iter().enumerate().map(row).collect()),
        ..Chart::default()
    })
}

fn run_x_coordinate(at: f64, of: usize) -> f64 {
    interpolate_clamped(index_to_share(at, of), PLOT_X)
}

fn is_shown_as_hatching(caveat: &Caveat) -> bool {
    !caveat.rounds.is_empty() || caveat.id.affects_all_methods_alike()
}

fn caveats_by_run(measurement: &Measurement, runs: usize) -> Vec<Vec<&Caveat>> {
    let rounds = usize::try_from(measurement.rounds)
        .unwrap_or(usize::MAX)
        .max(1);
    let hatched = || {
        measurement
            .caveats
            .iter()
            .filter(|caveat| is_shown_as_hatching(caveat))
    };
    // Runs are groups of paced commits, and caveats name rounds. Both divide the time of the probe,
    // but a run can span several rounds, and a round several runs.
    let concerns = |caveat: &Caveat, run: usize| {
        let within = |round: &u32| {
            let round = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
            round.saturating_mul(runs) < (run + 1).saturating_mul(rounds)
                && round.saturating_add(1).saturating_mul(runs) > run.saturating_mul(rounds)
        };
        caveat.rounds.is_empty() || caveat.rounds.iter().any(within)
    };
    (0..runs)
        .map(|run| hatched().filter(|caveat| concerns(caveat, run)).collect())
        .collect()
}

fn hatch_shapes(seen: &[Vec<&Caveat>], middle: f64) -> Vec<Tag> {
    let mut periods: Vec<(usize, usize)> = Vec::new();
    for (at, _) in seen
        .iter()
        .enumerate()
        .filter(|(_, caveats)| !caveats.is_empty())
    {
        match periods.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => periods.push((at, at)),
        }
    }
    let reach = |(from, to): (usize, usize)| {
        [from as f64 - 0.5, to as f64 + 0.5].map(|at| (run_x_coordinate(at, seen.len()), middle))
    };
    periods
        .into_iter()
        .map(|period| polyline("hatch", reach(period)))
        .collect()
}

fn medians_of_grouped_runs(runs: &[f64]) -> Vec<f64> {
    runs.chunks(runs.len().div_ceil(MAX_RUNS).max(1))
        .map(walwise_measure::measure::median_of)
        .collect()
}
