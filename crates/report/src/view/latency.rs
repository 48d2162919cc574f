use super::section::{Badge, Bullet, Grid};
use super::{RichText, Section, wording};
use crate::latency::{are_flushes_suppressed, measurement_and_main_row, wal_sync_method_in_force};
use crate::{Report, TargetSummary};
use walwise_measure::measure::{Caveat, Latencies, Measurement, MethodResult, measurement_summary};
use walwise_model::facts::catalog::postgres::WalSyncMethod;
use walwise_model::text::{
    format_bytes, format_micros, format_micros_interval, format_micros_or_dash,
};

pub const COLUMNS: [&str; 10] = [
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

pub(crate) const RIGHT_ALIGNED: [bool; 10] =
    [false, true, true, true, true, true, true, true, true, false];

/// Column indices of the two tables that replace the table on narrow pages.
const NARROW_SPLITS: [&[usize]; 2] = [&[0, 1, 2, 3, 5, 9], &[0, 1, 4, 6, 7, 8]];

/// `None` without a measurement in this run.
pub(crate) fn latency_section(report: &Report, target: &TargetSummary) -> Option<Section> {
    let measurement = report.measurement(&target.target)?;
    let mut section = Section {
        lead: measurement_conditions_text(measurement).into(),
        ..Section::new_part(HEADING)
    };
    let in_force = wal_sync_method_in_force(report, target.cluster.as_ref());
    // Methods that failed have no row.
    let measured = measurement
        .methods
        .iter()
        .filter(|method| method.error.is_none());
    let rows = measured.map(|method| {
        let mut cells = method_row_cells(measurement, method, in_force).into_iter();
        cells
            .next()
            .map(RichText::code)
            .into_iter()
            .chain(cells.map(RichText::plain))
            .collect()
    });
    section.push_grid(Grid {
        head: COLUMNS.to_vec(),
        right_aligned: RIGHT_ALIGNED.to_vec(),
        narrow_splits: &NARROW_SPLITS,
        rows: rows.collect(),
    });
    let remarks = latency_remarks(report, target, measurement)
        .into_iter()
        .map(Bullet::from_sentence);
    let caveats = caveat_texts(measurement)
        .into_iter()
        .map(|says| Bullet::with_badge(Badge::Remark("caveat"), says));
    section.with_bullets(&[], remarks.chain(caveats))
}

pub const HEADING: &str = "Commit latency";

pub fn measurement_conditions_text(measurement: &Measurement) -> String {
    format!(
        "{}; measured in {}: {:.1} s, {} rounds, {} written",
        measurement.paced_conditions_text(),
        measurement.directory,
        measurement.seconds,
        measurement.rounds,
        format_bytes(measurement.bytes_written)
    )
}

pub const WITHOUT_FLUSHES_WARNING: &str =
    "No flush was sent, so this is not the latency of durable commits.";

pub(crate) fn latency_remarks(
    report: &Report,
    target: &TargetSummary,
    measurement: &Measurement,
) -> Vec<String> {
    let mut all = Vec::new();
    for method in &measurement.methods {
        if let Some(error) = &method.error {
            let pages = usize::try_from(method.pages).unwrap_or_default();
            all.push(format!(
                "{}, {}: not measured, {error}",
                method.method.name(),
                wording::count_with_noun(pages, "page")
            ));
        }
    }
    if measurement.methods.iter().any(|method| !method.as_server) {
        let says = "Flushes are per commit; – means that the disks do not count them. No server \
                    uses the methods marked “compare”.";
        all.push(says.to_owned());
    }
    if are_flushes_suppressed(report, &target.target) {
        all.push(WITHOUT_FLUSHES_WARNING.to_owned());
    }
    all.push(measurement_summary(
        measurement,
        wal_sync_method_in_force(report, target.cluster.as_ref()),
    ));
    all
}

pub fn caveat_texts(measurement: &Measurement) -> Vec<String> {
    let cancelled = measurement
        .cancelled
        .then(|| "cancelled; partial results kept".to_owned());
    let caveats = measurement
        .caveats
        .iter()
        .map(Caveat::text_with_effect_on_advice);
    cancelled.into_iter().chain(caveats).collect()
}

/// Formats the median latency of durable commits; `None` if no durable commit was measured.
pub fn durable_median_text(report: &Report, target: &TargetSummary) -> Option<String> {
    let (_, row) = measurement_and_main_row(report, target)?;
    row.paced_median_us()
        .filter(|_| !are_flushes_suppressed(report, &target.target))
        .map(format_micros)
}

/// The cells of one method, in the order of [`COLUMNS`].
pub fn method_row_cells(
    measurement: &Measurement,
    result: &MethodResult,
    in_force: Option<WalSyncMethod>,
) -> Vec<String> {
    let setting = measurement
        .log
        .setting_for_method(result.method)
        .unwrap_or_default();
    let mark = match (
        measurement.is_row_of_method_in_force(result, in_force),
        setting,
    ) {
        _ if !result.as_server => "compare".to_owned(),
        (true, "") => "in force".to_owned(),
        (true, setting) => format!("in force: {setting}"),
        (false, setting) => setting.to_owned(),
    };
    let dash = || "–".to_owned();
    let latencies = result.paced.as_ref();
    let paced = |of: fn(&Latencies) -> f64| format_micros_or_dash(latencies.map(of));
    let interval = |of: &Latencies| format_micros_interval(of.median_us.low, of.median_us.high);
    let flushes = result.flushes_per_commit;
    vec![
        result.method.name().to_owned(),
        result.pages.to_string(),
        paced(|of| of.median_us.value),
        latencies.map_or_else(dash, interval),
        paced(|of| of.p95_us),
        format_micros_or_dash(result.paced_p99_us()),
        paced(|of| of.max_us),
        format_micros_or_dash(result.back_to_back_median_us()),
        flushes.map_or_else(dash, |count| format!("{count:.2}")),
        mark,
    ]
}

#[cfg(test)]
mod tests {
    use crate::{sample_reports, text};
    use walwise_model::facts::catalog::target::{FLUSH, FlushDelivery};
    use walwise_model::facts::{Choice, Source};

    #[test]
    fn latency_without_flushes_is_remarked() {
        for flush in FlushDelivery::ALL {
            let mut report = sample_reports::at_risk();
            let source = Source::derived_from(["mount.barrier"]);
            report
                .facts
                .insert_known(&sample_reports::data_target(), &FLUSH, *flush, source);
            let told = text::render(&report)
                .contains("No flush was sent, so this is not the latency of durable");
            assert_eq!(told, *flush == FlushDelivery::Suppressed, "{flush}");
        }
    }
}
