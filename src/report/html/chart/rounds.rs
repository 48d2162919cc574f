//! The median of each round, in order: whether it drifted, and whether something came between.

use super::{Illustration, WIDTH, along, legend, line, nth, text_before};
use crate::measure::{Measurement, MethodResult};
use crate::report::axis::Axis;
use crate::text::micros;

/// Where the field begins and ends.
const FIELD: [f64; 2] = [70.0, WIDTH - 30.0];
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
    let ends = |(_, all): &(&MethodResult, Vec<f64>)| {
        (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max))
    };
    let axis = Axis::around(rows.iter().map(ends))?;
    let (mut drawn, top) = legend(rows.iter().map(|(row, _)| row.method.name()));
    let bottom = top + HEIGHT;
    for (us, label) in axis.ticks() {
        let y = along(&axis, us, bottom, top);
        drawn.push(text_before(FIELD[0] - 8.0, y + 4.0, &label));
        drawn.push(line("grid", [(FIELD[0], y), (FIELD[1], y)]));
    }
    for (at, (_, all)) in rows.iter().enumerate() {
        let last = all.len().saturating_sub(1).max(1) as f64;
        let points = all.iter().enumerate().map(|(at, us)| {
            ((at as f64 / last).mul_add(FIELD[1] - FIELD[0], FIELD[0]), along(&axis, *us, bottom, top))
        });
        drawn.push(line(&nth(at), points));
    }
    let rounds = measurement.rounds;
    drawn.push(super::text(FIELD[0], bottom + 18.0, "first round"));
    drawn.push(text_before(FIELD[1], bottom + 18.0, &format!("round {rounds}")));
    let most = rows.iter().map(|(_, all)| all.len()).max().unwrap_or_default();
    let each = usize::try_from(rounds).unwrap_or_default().div_ceil(MOST).max(1);
    let row = |at: usize| {
        let first = at.saturating_mul(each).saturating_add(1);
        let name = if each == 1 { first.to_string() } else { format!("from {first} on") };
        let time = |all: &Vec<f64>| all.get(at).map(|us| micros(*us)).unwrap_or_default();
        std::iter::once(name).chain(rows.iter().map(|(_, all)| time(all))).collect()
    };
    Some(Illustration {
        title: "Commits round by round",
        says: "The median of each round of the measurement, from the first to the last; a level line is a calm machine."
            .to_owned(),
        height: bottom + 26.0,
        drawn,
        head: std::iter::once("round".to_owned())
            .chain(rows.iter().map(|(row, _)| row.method.name().to_owned()))
            .collect(),
        rows: (0..most).map(row).collect(),
    })
}

/// The rounds, or the medians of groups of as many as are needed.
fn grouped(rounds: &[f64]) -> Vec<f64> {
    let each = rounds.len().div_ceil(MOST).max(1);
    rounds.chunks(each).map(crate::measure::median_of).collect()
}
