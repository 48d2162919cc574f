//! What a probe found, as a table with its reservations.

use super::section::{Bullet, Grid, Mark};
use super::{Phrase, Section, words};
use crate::price::{in_force, is_without_flushes, row_in_force};
use crate::{Report, TargetSummary};
use walwise_measure::measure::{Estimate, Latencies, Measurement, MethodResult, sentence};
use walwise_model::facts::catalog::postgres::WalSyncMethod;
use walwise_model::text::{bytes, latency, micros, micros_between, micros_or_dash};

/// What the columns of [`rows`] hold.
pub const HEAD: [&str; 10] = [
    "method",
    "pages",
    "median",
    "95 % interval",
    "p95",
    "p99",
    "max",
    "back to back",
    "flushes",
    "",
];

/// Which of them are aligned to the right.
pub(crate) const RIGHT: [bool; 10] = [false, true, true, true, true, true, true, true, true, false];

/// Where one table of all is too wide: what a commit takes comes before how it spreads.
const NARROW: [&[usize]; 2] = [&[0, 1, 2, 3, 5, 9], &[0, 1, 4, 6, 7, 8]];

/// The measurement of a target.
pub fn section(report: &Report, target: &TargetSummary, measurement: &Measurement) -> Section {
    let mut section = Section {
        lead: lead(measurement).into(),
        ..Section::part(PRICE)
    };
    let cells = |row: Vec<String>| {
        // Behind the method there are figures only, which are our own.
        let cell = |(at, cell): (usize, String)| {
            if at == 0 {
                Phrase::code(cell)
            } else {
                cell.into()
            }
        };
        row.into_iter().enumerate().map(cell).collect()
    };
    section.grid(Grid {
        head: HEAD.to_vec(),
        right: RIGHT.to_vec(),
        narrow: &NARROW,
        rows: rows(report, target, measurement)
            .into_iter()
            .map(cells)
            .collect(),
    });
    let remarks = remarks(report, target, measurement)
        .into_iter()
        .map(Bullet::sentence);
    let caveats = caveats(measurement)
        .into_iter()
        .map(|says| Bullet::marked(Mark::Remark("caveat"), says));
    section.bullets(&[], remarks.chain(caveats).collect());
    section
}

pub const PRICE: &str = "Commit latency";

/// How, where and how long it was measured.
pub fn lead(measurement: &Measurement) -> String {
    format!(
        "{}; measured in {} for {:.1} s, {} rounds, {} written",
        measurement.basis(),
        measurement.directory,
        measurement.seconds,
        measurement.rounds,
        bytes(measurement.bytes_written)
    )
}

/// A row for each method that could be measured.
pub fn rows(
    report: &Report,
    target: &TargetSummary,
    measurement: &Measurement,
) -> Vec<Vec<String>> {
    let in_force = in_force(report, target.cluster.as_ref());
    let measured = measurement
        .methods
        .iter()
        .filter(|method| method.error.is_none());
    measured
        .map(|method| row(measurement, method, in_force))
        .collect()
}

/// Said where what a commit asks for never reaches the disk.
pub const WITHOUT_FLUSHES: &str = "No flush was sent: not the latency of durable commits.";

/// Said of a measurement that was stopped.
const CANCELLED: &str = "cancelled; partial results kept";

/// What is to be said of the figures, a sentence each.
pub fn remarks(report: &Report, target: &TargetSummary, measurement: &Measurement) -> Vec<String> {
    let mut all = Vec::new();
    for method in &measurement.methods {
        let pages = usize::try_from(method.pages).unwrap_or_default();
        if let Some(error) = &method.error {
            let pages = words::count(pages, "page");
            all.push(format!(
                "{}, {pages}: not measured, {error}",
                method.method.name()
            ));
        }
    }
    if measurement.methods.iter().any(|method| !method.as_server) {
        let says = "Flushes are per commit, where the disks count them. No server uses the “compare” methods.";
        all.push(says.to_owned());
    }
    if is_without_flushes(report, &target.target) {
        all.push(WITHOUT_FLUSHES.to_owned());
    }
    all.push(sentence(
        measurement,
        in_force(report, target.cluster.as_ref()),
    ));
    all
}

/// What limits the figures, a sentence each.
pub fn caveats(measurement: &Measurement) -> Vec<String> {
    let cancelled = measurement.cancelled.then(|| CANCELLED.to_owned());
    cancelled
        .into_iter()
        .chain(
            measurement
                .caveats
                .iter()
                .map(walwise_measure::measure::Caveat::in_full),
        )
        .collect()
}

/// The median of a commit, for a table; nothing where no durable commit was measured.
pub fn median(report: &Report, target: &TargetSummary) -> Option<String> {
    let (_, row) = row_in_force(report, target)?;
    row.median_us()
        .filter(|_| !is_without_flushes(report, &target.target))
        .map(micros)
}

/// The latency of a commit by the method in force, in a line.
pub fn cost(report: &Report, target: &TargetSummary) -> Option<String> {
    let (measurement, row) = row_in_force(report, target)?;
    let paced = row.paced.as_ref()?;
    let Estimate { value, low, high } = paced.median_us;
    if is_without_flushes(report, &target.target) {
        return Some(format!(
            "{} without a flush: not the latency of a durable commit",
            micros(value)
        ));
    }
    let latency = latency(value, low, high, paced.p99_us);
    Some(format!(
        "{latency} with {}, {}",
        row.method.name(),
        measurement.basis()
    ))
}

/// The same, with how many caveats there are and where.
pub fn line(report: &Report, target: &TargetSummary) -> Option<Phrase> {
    let (measurement, _) = row_in_force(report, target)?;
    let says = cost(report, target)?;
    Some(match caveats(measurement).len() {
        count if count > 0 && !is_without_flushes(report, &target.target) => {
            Phrase::plain(format!("{says}; {}", words::count(count, "caveat"))).and_further(PRICE)
        }
        _ => says.into(),
    })
}

/// The cells of a method under [`HEAD`].
pub fn row(
    measurement: &Measurement,
    result: &MethodResult,
    in_force: Option<WalSyncMethod>,
) -> Vec<String> {
    let setting = measurement.log.setting(result.method).unwrap_or_default();
    let mark = match (measurement.is_in_force(result, in_force), setting) {
        _ if !result.as_server => "compare".to_owned(),
        (true, "") => "in force".to_owned(),
        (true, setting) => format!("in force: {setting}"),
        (false, setting) => setting.to_owned(),
    };
    let paced = |of: fn(&Latencies) -> f64| micros_or_dash(result.paced.as_ref().map(of));
    let interval = |of: &Latencies| micros_between(of.median_us.low, of.median_us.high);
    vec![
        result.method.name().to_owned(),
        result.pages.to_string(),
        paced(|of| of.median_us.value),
        result
            .paced
            .as_ref()
            .map_or_else(|| "–".to_owned(), interval),
        paced(|of| of.p95_us),
        micros_or_dash(result.p99_us()),
        paced(|of| of.max_us),
        micros_or_dash(result.back_to_back_us()),
        result
            .flushes_per_commit
            .map_or_else(|| "–".to_owned(), |count| format!("{count:.2}")),
        mark,
    ]
}

#[cfg(test)]
mod tests {
    use crate::{sample, text};
    use walwise_model::facts::{Choice, Source};

    use walwise_model::facts::catalog::target::{FLUSH, Flush};

    #[test]
    fn figures_without_flushes_are_told_apart() {
        for flush in Flush::ALL {
            let mut report = sample::at_risk();
            let source = Source::derived(["mount.barrier"]);
            report.facts.know(&sample::data(), &FLUSH, *flush, source);
            let told =
                text::render(&report).contains("No flush was sent: not the latency of durable");
            assert_eq!(told, *flush == Flush::Suppressed, "{flush}");
        }
    }
}
