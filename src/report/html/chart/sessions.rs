//! What sessions come to that commit side by side: group commit, on an axis that doubles.

use super::{Illustration, WIDTH, along, dot, left_axis, line, nth, text_around, texts};
use crate::measure::{Measurement, Workload, WorkloadRow};
use crate::text::{micros, per_second, rounded};

/// Where the field begins and ends.
const FIELD: [f64; 2] = [80.0, WIDTH - 40.0];
const HEIGHT: f64 = 150.0;
const TOP: f64 = 14.0;

/// The chart; nothing where that workload was not measured.
pub fn chart(measurement: &Measurement) -> Option<Illustration> {
    let found = measurement.workloads.iter().find(|found| found.workload == Workload::Group)?;
    let measured = |row: &&WorkloadRow| {
        let rate = row.per_second;
        row.error.is_none()
            && row.threads > 0
            && [rate.value, rate.low, rate.high].iter().all(|x| x.is_finite())
    };
    let mut rows: Vec<&WorkloadRow> = found.rows.iter().filter(measured).collect();
    rows.sort_by_key(|row| row.threads);
    let most = rows.iter().map(|row| row.per_second.high.max(row.per_second.value)).fold(0.0, f64::max);
    let doublings = f64::from(rows.last()?.threads).log2().max(1.0);
    if most <= 0.0 {
        return None;
    }
    let bottom = TOP + HEIGHT;
    let x = |row: &WorkloadRow| along(f64::from(row.threads).log2() / doublings, FIELD);
    let y = |rate: f64| along(rate / most, [bottom, TOP]);
    let marks = [0.0, 0.5, 1.0].map(|share| (share, per_second(Some(share * most))));
    let mut drawn = left_axis(marks, FIELD, [TOP, bottom]);
    drawn.push(line(&nth(0), rows.iter().map(|row| (x(row), y(row.per_second.value)))));
    for row in &rows {
        let at = x(row);
        drawn.push(line("rule", [(at, y(row.per_second.low)), (at, y(row.per_second.high))]));
        drawn.push(dot(at, y(row.per_second.value)));
        drawn.push(text_around(at, bottom + 18.0, &row.threads.to_string()));
    }
    let numbers = |row: &&WorkloadRow| {
        vec![
            row.threads.to_string(),
            rounded(row.per_second.value),
            format!("{}–{}", rounded(row.per_second.low), rounded(row.per_second.high)),
            micros(row.median_us.value),
            row.flushes_per_operation.map_or_else(|| "–".to_owned(), |count| format!("{count:.2}")),
        ]
    };
    let head = ["sessions", "commits/s", "95 % interval", "median of a commit", "flushes a commit"];
    Some(Illustration {
        name: "sessions",
        title: "Commits of sessions side by side",
        says: format!(
            "Commits per second of all sessions, by the number of sessions beneath. {}",
            found.sentence
        ),
        height: bottom + 26.0,
        rows: texts(rows.iter().map(numbers).collect()),
        drawn,
        has_links: false,
        head: head.map(str::to_owned).to_vec(),
    })
}
