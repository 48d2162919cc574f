//! The medians of runs of paced commits, in order: whether they drifted, and whether something came
//! between. Runs in which others were seen are hatched.

use std::fmt::Write as _;

use super::{Illustration, WIDTH, along, ends, left_axis, legend, line, nth, nth_share, texts};
use crate::axis::Axis;
use crate::html::markup::Tag;
use walwise_measure::measure::{Caveat, Measurement, MethodResult};
use walwise_model::text::micros;

/// Where the field begins and ends.
const FIELD: [f64; 2] = [70.0, WIDTH - 30.0];
/// The style sheet gives a hatched period the same height.
const HEIGHT: f64 = 150.0;
/// More runs than these are drawn as the medians of groups.
const MOST: usize = 64;

/// The chart; nothing with fewer than two runs.
pub fn chart(measurement: &Measurement) -> Option<Illustration> {
    let rows: Vec<(&MethodResult, Vec<f64>)> = measurement
        .of_server()
        .filter_map(|row| Some((row, grouped(&row.paced.as_ref()?.rounds_us))))
        .filter(|(_, all)| all.len() > 1)
        .collect();
    let span = |(_, all): &(&MethodResult, Vec<f64>)| {
        (
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(0.0, f64::max),
        )
    };
    let axis = Axis::around(rows.iter().map(span))?;
    let seen = caveats_by_run(
        measurement,
        rows.iter()
            .map(|(_, all)| all.len())
            .max()
            .unwrap_or_default(),
    );
    let (mut drawn, top) = legend(rows.iter().map(|(row, _)| row.method.name()));
    let bottom = top + HEIGHT;
    drawn.extend(hatches(&seen, f64::midpoint(top, bottom)));
    drawn.extend(left_axis(axis.ticks(), FIELD, [top, bottom]));
    for (at, (_, all)) in rows.iter().enumerate() {
        let point = |(at, us): (usize, &f64)| {
            (
                x(at as f64, all.len()),
                along(axis.share(*us), [bottom, top]),
            )
        };
        drawn.push(line(&nth(at), all.iter().enumerate().map(point)));
    }
    drawn.extend(ends(FIELD, bottom, ["begin", "end"]));
    let is_disturbed = seen.iter().any(|caveats| !caveats.is_empty());
    let row = |(at, caveats): (usize, &Vec<&Caveat>)| {
        let name = at.saturating_add(1).to_string();
        let time = |(_, all): &(_, Vec<f64>)| all.get(at).map(|us| micros(*us)).unwrap_or_default();
        let ids = caveats
            .iter()
            .map(|caveat| caveat.id.to_string())
            .collect::<Vec<_>>()
            .join(", ");
        std::iter::once(name)
            .chain(rows.iter().map(time))
            .chain(is_disturbed.then_some(ids))
            .collect()
    };
    let mut says =
        "Medians of consecutive paced commits, from the first to the last; a level line is a calm machine."
            .to_owned();
    for caveat in measurement
        .caveats
        .iter()
        .filter(|caveat| is_hatched(caveat))
    {
        let _ = write!(says, " Hatched: {}", caveat.says);
    }
    let names = rows.iter().map(|(row, _)| row.method.name().to_owned());
    Some(Illustration {
        name: "rounds",
        title: "Commits in the course of the measurement",
        says,
        height: bottom + 26.0,
        drawn,
        has_links: false,
        head: std::iter::once("run".to_owned())
            .chain(names)
            .chain(is_disturbed.then(|| "caveat".to_owned()))
            .collect(),
        rows: texts(seen.iter().enumerate().map(row).collect()),
    })
}

/// Where a run stands, of so many.
fn x(at: f64, of: usize) -> f64 {
    along(nth_share(at, of), FIELD)
}

/// Whether a caveat is about rounds, or about all of the measurement.
fn is_hatched(caveat: &Caveat) -> bool {
    !caveat.rounds.is_empty() || caveat.id.slows_all_alike()
}

/// What was seen in each run, of so many.
fn caveats_by_run(measurement: &Measurement, runs: usize) -> Vec<Vec<&Caveat>> {
    let rounds = usize::try_from(measurement.rounds)
        .unwrap_or(usize::MAX)
        .max(1);
    let hatched = || {
        measurement
            .caveats
            .iter()
            .filter(|caveat| is_hatched(caveat))
    };
    // A run lies within one or more rounds, or several runs within a round.
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

/// Runs in which something was seen, those in a row as one; each reaches halfway to its neighbours.
fn hatches(seen: &[Vec<&Caveat>], middle: f64) -> Vec<Tag> {
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
        [from as f64 - 0.5, to as f64 + 0.5].map(|at| (x(at, seen.len()), middle))
    };
    periods
        .into_iter()
        .map(|period| line("hatch", reach(period)))
        .collect()
}

/// The runs, or the medians of groups of as many as are needed.
fn grouped(runs: &[f64]) -> Vec<f64> {
    runs.chunks(runs.len().div_ceil(MOST).max(1))
        .map(walwise_measure::measure::median_of)
        .collect()
}
