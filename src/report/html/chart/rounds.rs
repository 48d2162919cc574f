//! The median of each round, in order: whether it drifted, and whether something came between. Rounds in which others were
//! seen are hatched.

use std::fmt::Write as _;

use super::{Illustration, WIDTH, along, ends, left_axis, legend, line, nth, nth_share, texts};
use crate::measure::{Caveat, Measurement, MethodResult};
use crate::report::axis::Axis;
use crate::report::html::markup::Tag;
use crate::text::micros;

/// Where the field begins and ends.
const FIELD: [f64; 2] = [70.0, WIDTH - 30.0];
/// The style sheet gives a hatched period the same height.
const HEIGHT: f64 = 150.0;
/// More rounds than these are told as the medians of groups.
const MOST: usize = 64;

/// The chart; nothing with fewer than two rounds.
pub fn chart(measurement: &Measurement) -> Option<Illustration> {
    let rows: Vec<(&MethodResult, Vec<f64>)> = measurement
        .of_server()
        .map(|row| (row, grouped(&row.rounds_us)))
        .filter(|(_, all)| all.len() > 1)
        .collect();
    let span = |(_, all): &(&MethodResult, Vec<f64>)| {
        (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max))
    };
    let axis = Axis::around(rows.iter().map(span))?;
    let rounds = rows.iter().map(|(row, _)| row.rounds_us.len()).max().unwrap_or_default();
    let each = size_of_group(rounds);
    let seen = seen(measurement, rounds.div_ceil(each), each);
    let (mut drawn, top) = legend(rows.iter().map(|(row, _)| row.method.name()));
    let bottom = top + HEIGHT;
    drawn.extend(hatches(&seen, f64::midpoint(top, bottom)));
    drawn.extend(left_axis(axis.ticks(), FIELD, [top, bottom]));
    for (at, (_, all)) in rows.iter().enumerate() {
        let point =
            |(at, us): (usize, &f64)| (x(at as f64, all.len()), along(axis.share(*us), [bottom, top]));
        drawn.push(line(&nth(at), all.iter().enumerate().map(point)));
    }
    drawn.extend(ends(FIELD, bottom, ["first round", &format!("round {rounds}")]));
    let is_disturbed = seen.iter().any(|caveats| !caveats.is_empty());
    let row = |(at, caveats): (usize, &Vec<&Caveat>)| {
        let first = at.saturating_mul(each).saturating_add(1);
        let name = if each == 1 { first.to_string() } else { format!("from {first} on") };
        let time = |(_, all): &(_, Vec<f64>)| all.get(at).map(|us| micros(*us)).unwrap_or_default();
        let ids = caveats.iter().map(|caveat| caveat.id.to_string()).collect::<Vec<_>>().join(", ");
        std::iter::once(name).chain(rows.iter().map(time)).chain(is_disturbed.then_some(ids)).collect()
    };
    let mut says = "The median of each round of the measurement, from the first to the last; a level line is a calm machine."
        .to_owned();
    for caveat in measurement.caveats.iter().filter(|caveat| is_hatched(caveat)) {
        let _ = write!(says, " Hatched: {}", caveat.says);
    }
    let names = rows.iter().map(|(row, _)| row.method.name().to_owned());
    Some(Illustration {
        name: "rounds",
        title: "Commits round by round",
        says,
        height: bottom + 26.0,
        drawn,
        has_links: false,
        head: std::iter::once("round".to_owned())
            .chain(names)
            .chain(is_disturbed.then(|| "caveat".to_owned()))
            .collect(),
        rows: texts(seen.iter().enumerate().map(row).collect()),
    })
}

/// Where a round or a group of them stands, of so many.
fn x(at: f64, of: usize) -> f64 {
    along(nth_share(at, of), FIELD)
}

/// Whether a caveat is about rounds, or about all of the measurement.
fn is_hatched(caveat: &Caveat) -> bool {
    !caveat.rounds.is_empty() || caveat.id.slows_all_alike()
}

/// What was seen in each group of rounds.
fn seen(measurement: &Measurement, groups: usize, each: usize) -> Vec<Vec<&Caveat>> {
    let hatched = || measurement.caveats.iter().filter(|caveat| is_hatched(caveat));
    let concerns = |caveat: &Caveat, group: usize| {
        let within =
            |round: &u32| usize::try_from(round.saturating_sub(1)).is_ok_and(|at| at / each == group);
        caveat.rounds.is_empty() || caveat.rounds.iter().any(within)
    };
    (0..groups).map(|group| hatched().filter(|caveat| concerns(caveat, group)).collect()).collect()
}

/// Groups in which something was seen, those in a row as one; each reaches halfway to its neighbours.
fn hatches(seen: &[Vec<&Caveat>], middle: f64) -> Vec<Tag> {
    let mut periods: Vec<(usize, usize)> = Vec::new();
    for (at, _) in seen.iter().enumerate().filter(|(_, caveats)| !caveats.is_empty()) {
        match periods.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => periods.push((at, at)),
        }
    }
    let reach = |(from, to): (usize, usize)| {
        [from as f64 - 0.5, to as f64 + 0.5].map(|at| (x(at, seen.len()), middle))
    };
    periods.into_iter().map(|period| line("hatch", reach(period))).collect()
}

/// The rounds, or the medians of groups of as many as are needed.
fn grouped(rounds: &[f64]) -> Vec<f64> {
    rounds.chunks(size_of_group(rounds.len())).map(crate::measure::median_of).collect()
}

fn size_of_group(rounds: usize) -> usize {
    rounds.div_ceil(MOST).max(1)
}
