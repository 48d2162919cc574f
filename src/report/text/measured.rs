//! What a probe found, as a table with its reservations.

use super::page::Page;
use super::words;
use crate::facts::catalog::postgres;
use crate::facts::catalog::target::FLUSH;
use crate::measure::{Measurement, MethodResult};
use crate::report::{Report, TargetSummary};
use crate::text::{bytes, grouped, micros};

/// Writes the measurement of a target.
pub fn write(page: &mut Page, report: &Report, target: &TargetSummary, measurement: &Measurement) {
    page.gap();
    page.para(
        2,
        &format!(
            "Price of one commit, 8 kB pages, one session; measured in {} for {:.1} s, {} rounds, {} written",
            measurement.directory,
            measurement.seconds,
            measurement.rounds,
            bytes(measurement.bytes_written)
        ),
    );
    let in_force = in_force(report, target);
    let head = [
        "method",
        "pages",
        "median",
        "95 % interval",
        "mean",
        "p95",
        "p99",
        "max",
        "commits/s",
        "flushes",
        "",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(
        measurement.methods.iter().filter(|m| m.error.is_none()).map(|m| row(m, in_force.as_deref())),
    );
    page.table(4, &rows, &[false, true, true, true, true, true, true, true, true, true, false]);
    for method in &measurement.methods {
        let pages = usize::try_from(method.pages).unwrap_or_default();
        if let Some(error) = &method.error {
            page.para(
                4,
                &format!("{}, {}: not measured, {error}", method.method.name(), words::count(pages, "page")),
            );
        }
    }
    if measurement.methods.iter().any(|method| !method.as_server) {
        page.para(4, "Flushes are per commit, where the disks count them. No server does it as in the rows to compare.");
    }
    if report.value(&target.target, FLUSH.name()).is_some_and(|flush| flush.to_string() == "suppressed") {
        page.para(4, "No flush was sent: these are not the figures of durable commits.");
    }
    page.para(4, &measurement.sentence);
    if measurement.cancelled {
        page.hanging(4, "caveat  ", "cancelled before its end");
    }
    for caveat in &measurement.caveats {
        let closes =
            if caveat.refuses_advice { "; no change of method is advised on these figures" } else { "" };
        page.hanging(4, "caveat  ", &format!("{}{closes}", caveat.says));
    }
}

/// The method the server uses now.
fn in_force(report: &Report, target: &TargetSummary) -> Option<String> {
    let cluster = target.cluster.as_ref()?;
    report.value(cluster, postgres::WAL_SYNC_METHOD.name()).map(ToString::to_string)
}

fn row(result: &MethodResult, in_force: Option<&str>) -> Vec<String> {
    let mark = match in_force {
        Some(name) if result.as_server && name == result.method.name() => "in force",
        _ if result.as_server => "",
        _ => "to compare",
    };
    // What a session gets done in a second follows from the mean: stalls count.
    let rate = if result.mean_us > 0.0 { format!("{:.0}", 1e6 / result.mean_us) } else { String::new() };
    vec![
        result.method.name().to_owned(),
        result.pages.to_string(),
        micros(result.median_us.value),
        format!("{} – {}", micros(result.median_us.low), micros(result.median_us.high)),
        micros(result.mean_us),
        micros(result.p95_us),
        result.p99_us.map(micros).unwrap_or_default(),
        micros(result.max_us),
        rate.parse().map_or(rate, grouped),
        result.flushes_per_commit.map_or_else(|| "-".to_owned(), |count| format!("{count:.2}")),
        mark.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use crate::facts::Source;
    use crate::report::{sample, text};

    use super::FLUSH;

    #[test]
    fn figures_without_flushes_are_told_apart() {
        for flush in ["sent", "not needed", "suppressed", "unknown"] {
            let mut report = sample::at_risk();
            let source = Source::derived(["mount.barrier"]);
            report.facts.know(&sample::data(), &FLUSH, flush.to_owned(), source);
            let told =
                text::render(&report).contains("No flush was sent: these are not the figures of durable");
            assert_eq!(told, flush == "suppressed", "{flush}");
        }
    }
}
