//! The share of commits done within a time, a stepped curve for each method, on a logarithmic axis.

use std::fmt::Write as _;

use super::{APART, Illustration, WIDTH, along, bottom_axis, left_axis, legend, nth, tenth, texts};
use crate::measure::{Measurement, MethodResult};
use crate::report::axis::Axis;
use crate::report::html::markup::tag;
use crate::text::micros;

/// Where the field begins and ends.
const FIELD: [f64; 2] = [60.0, WIDTH - 30.0];
const HEIGHT: f64 = 180.0;

/// The chart; nothing where no quantiles are kept.
pub fn chart(measurement: &Measurement) -> Option<Illustration> {
    let rows: Vec<&MethodResult> =
        measurement.of_server().filter(|row| !row.quantiles_us.is_empty()).collect();
    let axis = Axis::around_quantiles(rows.iter().map(|row| row.quantiles_us.as_slice()))?;
    let (mut drawn, top) = legend(rows.iter().map(|row| row.method.name()));
    let bottom = top + HEIGHT;
    drawn.extend(bottom_axis(axis.ticks(), FIELD, [top, bottom], APART));
    let marks = [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")];
    drawn.extend(left_axis(marks.map(|(share, label)| (share, label.to_owned())), FIELD, [top, bottom]));
    for (at, row) in rows.iter().enumerate() {
        let way = steps(&axis, &row.quantiles_us, top, bottom);
        drawn.push(tag("path").with("class", &nth(at)).with("d", &way));
    }
    let head = std::iter::once("share of commits".to_owned());
    Some(Illustration {
        name: "shares",
        title: "Share of commits done within a time",
        says: "How many of all commits were done within the time beneath; a steep curve is even, a long tail to the right \
               is commits that wait. One page, one session."
            .to_owned(),
        height: bottom + 26.0,
        drawn,
        has_links: false,
        head: head.chain(rows.iter().map(|row| row.method.name().to_owned())).collect(),
        rows: texts(numbers(&rows)),
    })
}

/// The curve goes along to each time and up by one step there.
fn steps(axis: &Axis, quantiles: &[f64], top: f64, bottom: f64) -> String {
    let count = quantiles.len().max(1) as f64;
    let mut way = format!("M{} {}", tenth(FIELD[0]), tenth(bottom));
    for (done, us) in (1_u32..).zip(quantiles) {
        let (x, y) = (along(axis.share(*us), FIELD), along(f64::from(done) / count, [bottom, top]));
        let _ = write!(way, "H{}V{}", tenth(x), tenth(y));
    }
    way
}

fn numbers(rows: &[&MethodResult]) -> Vec<Vec<String>> {
    let most = rows.iter().map(|row| row.quantiles_us.len()).max().unwrap_or_default();
    let share = |at: usize| format!("{:.1} %", 100.0 * at.saturating_add(1) as f64 / most.max(1) as f64);
    let time = |row: &&MethodResult, at: usize| {
        let of_same_length = row.quantiles_us.get(at).filter(|_| row.quantiles_us.len() == most);
        of_same_length.map(|us| micros(*us)).unwrap_or_default()
    };
    (0..most)
        .map(|at| std::iter::once(share(at)).chain(rows.iter().map(|row| time(row, at))).collect())
        .collect()
}
