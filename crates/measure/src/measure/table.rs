//! Prints the latencies of a measurement as a table without colour; every character is one column
//! wide. All bars share one scale, so their lengths are comparable.

use super::compare::overall_conclusion;
use super::{Comparison, ComparisonConclusion, Estimate, Measurement, MethodResult};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::text::bars::{bar_char, format_interval_bar};
use crate::text::format_micros_or_dash;
use walwise_model::text::JoinText;

const BAR_WIDTH: usize = 24;

/// `current` is the `wal_sync_method` in force, if there is a PostgreSQL server.
pub fn latency_table_lines(found: &Measurement, current: Option<WalSyncMethod>) -> Vec<String> {
    let rows: Vec<_> = found.attempted_one_page_server_rows().collect();
    let intervals = || {
        rows.iter()
            .filter_map(|row| Some(row.paced.as_ref()?.median_us))
    };
    let low = intervals()
        .map(|median| median.low)
        .fold(f64::INFINITY, f64::min);
    let high = intervals().map(|median| median.high).fold(0.0, f64::max);
    let share = |us: f64| (us - low) / (high - low).max(f64::MIN_POSITIVE);
    let line = |row: &&MethodResult| {
        let name = row.method.name();
        if let Some(error) = &row.error {
            return format!("{name:<24} {error}");
        }
        let bar = row.paced.as_ref().map_or_else(
            || " ".repeat(BAR_WIDTH),
            |paced| {
                let Estimate { low, value, high } = paced.median_us;
                format_interval_bar([low, value, high].map(share), BAR_WIDTH)
            },
        );
        let setting = found.log.setting_for_method(row.method).unwrap_or_default();
        let mark = if found.is_row_of_method_in_force(row, current) {
            "← in force"
        } else {
            ""
        };
        let comparison = comparison_label(found, row);
        let says = [comparison.as_str(), setting, mark]
            .into_iter()
            .filter(|part| !part.is_empty());
        format!(
            "{name:<24} {:>8}  {bar} {:>8} {:>13}   {}",
            format_micros_or_dash(row.paced_median_us()),
            format_micros_or_dash(row.paced_p99_us()),
            format_micros_or_dash(row.back_to_back_median_us()),
            says.join_with("  ")
        )
        .trim_end()
        .to_owned()
    };
    let heading = format!(
        "{:<24} {:>8}  {:<BAR_WIDTH$} {:>8} {:>13}",
        "", "median", "95 % interval", "p99", "back to back"
    );
    std::iter::once(heading)
        .chain(rows.iter().map(line))
        .collect()
}

/// Compares the method with the default, as `best`, `equal` or `1.9 × slower`. Empty for a method
/// without a comparison, unless that method is the best.
pub fn comparison_label(found: &Measurement, row: &MethodResult) -> String {
    let is_best = row.method == found.best
        && !found.comparisons.is_empty()
        && !overall_conclusion(found, found.reference_method()).is_undecided();
    let comparison = found.comparisons.iter().find(|c| c.method == row.method);
    match comparison {
        _ if is_best => "best".to_owned(),
        Some(Comparison {
            settled: ComparisonConclusion::NoMeaningfulDifference,
            ..
        }) => "equal".to_owned(),
        Some(Comparison {
            gain_percent: gain, ..
        }) if gain.high < 0.0 => {
            format!("{:.1} × slower", 1.0 - gain.value / 100.0)
        }
        Some(Comparison {
            settled: ComparisonConclusion::Settled,
            gain_percent,
            ..
        }) => {
            format!("{:.0} % faster", gain_percent.value)
        }
        Some(Comparison {
            settled: ComparisonConclusion::NotSettled,
            ..
        }) => "undecided".to_owned(),
        None => String::new(),
    }
}

/// Draws values as at most `width` bars of one character each. With more values than `width`, each
/// bar is the maximum of several consecutive values.
pub fn sparkline(values: &[f64], width: usize) -> String {
    let share = values.len().div_ceil(width.max(1)).max(1);
    let columns: Vec<f64> = values
        .chunks(share)
        .map(|c| c.iter().copied().fold(0.0, f64::max))
        .collect();
    let low = columns.iter().copied().fold(f64::INFINITY, f64::min);
    let high = columns.iter().copied().fold(0.0, f64::max);
    // The bars span at least a tenth of the highest value, so that noise does not look like a
    // difference.
    let span = (high - low).max(0.1 * high).max(f64::MIN_POSITIVE);
    columns
        .iter()
        .map(|value| bar_char((value - low) / span))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Comparison, Estimate, Latencies};
    use crate::measure::{MeasuredLog, Method};

    fn method_row(method: Method, us: f64, low: f64, high: f64, back_to_back: f64) -> MethodResult {
        let latencies = |us: f64, low, high| Latencies {
            samples: 1_000,
            mean_us: us,
            median_us: Estimate {
                value: us,
                low,
                high,
            },
            p95_us: 2.0 * us,
            p95_interval_us: None,
            p99_interval_us: None,
            p99_us: Some(3.0 * us),
            max_us: 9.0 * us,
            quantiles_us: Vec::new(),
            rounds_us: vec![us; 3],
            samples_us: Vec::new(),
        };
        MethodResult {
            method,
            pages: 1,
            as_server: method.is_durable(),
            paced: Some(latencies(us, low, high)),
            back_to_back: Some(latencies(back_to_back, back_to_back, back_to_back)),
            flushes_per_commit: Some(1.0),
            error: None,
        }
    }

    fn sample_measurement() -> Measurement {
        let comparison = |method, value, low, high, settled| Comparison {
            method,
            against: Method::Fdatasync,
            gain_percent: Estimate { value, low, high },
            settled,
        };
        let refused = MethodResult {
            paced: None,
            back_to_back: None,
            error: Some("the file system refuses O_DIRECT".to_owned()),
            ..method_row(Method::OpenSyncDirect, 0.0, 0.0, 0.0, 0.0)
        };
        Measurement {
            directory: "/srv".to_owned(),
            when: "2026-01-01T00:00:00Z".to_owned(),
            seconds: 7.1,
            rounds: 3,
            bytes_written: 0,
            log: MeasuredLog::default(),
            methods: vec![
                method_row(Method::Fdatasync, 182.0, 170.0, 195.0, 110.0),
                method_row(Method::OpenDatasync, 179.0, 168.0, 190.0, 109.0),
                method_row(Method::Fsync, 346.0, 330.0, 400.0, 120.0),
                MethodResult {
                    paced: None,
                    ..method_row(Method::OpenSync, 0.0, 0.0, 0.0, 121.0)
                },
                refused,
                method_row(Method::Floor, 2.0, 2.0, 2.0, 2.0),
            ],
            comparisons: vec![
                comparison(
                    Method::OpenDatasync,
                    1.0,
                    -2.0,
                    3.0,
                    ComparisonConclusion::NoMeaningfulDifference,
                ),
                comparison(
                    Method::Fsync,
                    -90.0,
                    -120.0,
                    -80.0,
                    ComparisonConclusion::Settled,
                ),
            ],
            best: Method::Fdatasync,
            cancelled: false,
            caveats: Vec::new(),
            workloads: Vec::new(),
        }
    }

    #[test]
    fn latency_table_aligns_columns() {
        insta::assert_snapshot!(latency_table_lines(&sample_measurement(), Some(WalSyncMethod::Fdatasync)).join("\n"), @r"
                           median  95 % interval                 p99  back to back
fdatasync                  182 µs  ├●─┤                       546 µs        110 µs   best  ← in force
open_datasync              179 µs  ├●┤                        537 µs        109 µs   equal
fsync                      346 µs                  ├─●────┤  1.04 ms        120 µs   1.9 × slower
open_sync                       –                                  –        121 µs
open_sync (O_DIRECT)     the file system refuses O_DIRECT
");
    }

    #[test]
    fn sparkline_does_not_exaggerate_noise() {
        assert_eq!(sparkline(&[100.0, 101.0, 100.5], 10), "▁▂▁");
        assert_eq!(sparkline(&[100.0, 200.0], 10), "▁█");
        assert_eq!(sparkline(&[1.0; 100], 10).chars().count(), 10);
        assert_eq!(sparkline(&[], 10), "");
    }
}
