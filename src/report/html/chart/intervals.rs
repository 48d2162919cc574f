//! The median of each method with its 95 % interval, on a logarithmic axis.

use super::{APART, Illustration, LINE, bottom_axis, interval, is_in_force, text, text_before, texts};
use crate::measure::{Measurement, MethodResult};
use crate::report::axis::Axis;
use crate::report::price::is_without_flushes;
use crate::report::telling::price::WITHOUT_FLUSHES;
use crate::report::{Report, TargetSummary};
use crate::text::{grouped, micros, micros_between};

/// Where the field begins and ends.
const FIELD: [f64; 2] = [150.0, 405.0];

/// The chart; nothing where nothing was measured.
pub fn chart(report: &Report, target: &TargetSummary, measurement: &Measurement) -> Option<Illustration> {
    let rows: Vec<&MethodResult> = measurement.of_server().collect();
    let axis = Axis::around(rows.iter().map(|row| (row.median_us.low, row.median_us.high)))?;
    let is_no_price =
        is_without_flushes(report, &target.target) || !rows.iter().any(|row| row.method.is_durable());
    let top = if is_no_price { LINE } else { 0.0 };
    let bottom = LINE.mul_add(rows.len() as f64, top + 10.0);
    let mut drawn = bottom_axis(axis.ticks(), FIELD, [top + 4.0, bottom], APART);
    drawn.extend(is_no_price.then(|| text(FIELD[0], LINE - 6.0, "no durable price").with("class", "bad")));
    let mut numbers = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let y = LINE.mul_add(at as f64, top + LINE);
        let used = is_in_force(report, target, measurement, row);
        let name = if used { format!("▸ {}", row.method.name()) } else { row.method.name().to_owned() };
        drawn.push(text_before(FIELD[0] - 8.0, y + 4.0, &name));
        drawn.extend(interval(axis.shares(row.median_us), FIELD, y));
        drawn.push(text(FIELD[1] + 10.0, y + 4.0, &micros(row.median_us.value)));
        numbers.push(vec![
            row.method.name().to_owned(),
            if used { "yes" } else { "" }.to_owned(),
            micros(row.median_us.value),
            micros_between(row.median_us.low, row.median_us.high),
            grouped(row.samples),
        ]);
    }
    let warning = if is_no_price { format!("No durable price. {WITHOUT_FLUSHES} ") } else { String::new() };
    let says = format!(
        "{warning}The dot is the median, the line its 95 % interval, ▸ the method in force; one page, one session. {}",
        measurement.sentence
    );
    Some(Illustration {
        name: "price",
        title: "Time of a commit by method",
        says,
        height: bottom + 26.0,
        drawn,
        has_links: false,
        head: ["method", "in force", "median", "95 % interval", "commits"].map(str::to_owned).to_vec(),
        rows: texts(numbers),
    })
}
