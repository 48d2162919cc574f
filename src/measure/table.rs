//! A measurement as lines of text: the price of one commit for reports.
//!
//! Pure text without colour; every character is one column wide. Bars share one scale, so that lengths can be compared.

use super::{Conclusion, Estimate, Measurement, MethodResult};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::text;
use crate::text::bars::{height, interval};

/// The width of the bar of an interval, in columns.
const BAR: usize = 24;

/// One line per server method, with one page per commit: median, interval, 99th percentile, and the comparison with the
/// default. `current` is the setting in force, where there is a server.
pub fn price_of_a_commit(found: &Measurement, current: Option<WalSyncMethod>) -> Vec<String> {
    let rows: Vec<_> = found.tried_of_server().collect();
    // All bars share one scale: from the lowest to the highest end of an interval.
    let measured = || rows.iter().filter(|row| row.samples > 0);
    let low = measured().map(|row| row.median_us.low).fold(f64::INFINITY, f64::min);
    let high = measured().map(|row| row.median_us.high).fold(0.0, f64::max);
    let share = |us: f64| (us - low) / (high - low).max(f64::MIN_POSITIVE);
    let default = found.default_method();
    let line = |row: &&MethodResult| {
        let name = row.method.name();
        if let Some(error) = &row.error {
            return format!("{name:<24} {error}");
        }
        let (tail_name, tail) = row.p99_us.map_or(("p95", row.p95_us), |p99| ("p99", p99));
        let says = if row.method == default {
            format!("{} commits/s", row.per_second())
        } else {
            beside_default(found, row)
        };
        let setting = found.log.setting(row.method).map(|setting| format!("   {setting}"));
        let mark = if found.is_in_force(row, current) { "   ← in force" } else { "" };
        let (median, tail) = (text::micros(row.median_us.value), text::micros(tail));
        let Estimate { low, value, high } = row.median_us;
        format!(
            "{name:<24} {median:>8}  {bar}  {tail_name} {tail:>8}   {says}{setting}{mark}",
            setting = setting.unwrap_or_default(),
            bar = interval([low, value, high].map(share), BAR)
        )
    };
    rows.iter().map(line).collect()
}

/// The comparison of a row with the default; empty for the default itself and for rows that are not compared.
pub fn beside_default(found: &Measurement, row: &MethodResult) -> String {
    let Some(comparison) = found.comparisons.iter().find(|c| c.method == row.method) else {
        return String::new();
    };
    let gain = comparison.gain_percent;
    let ratio = 1.0 - gain.value / 100.0;
    // The effect of pauses is invisible in the row's own figures.
    let default = found.methods.iter().find(|r| r.method == comparison.against && r.pages == row.pages);
    let in_loop = default.map_or(ratio, |d| row.median_us.value / d.median_us.value.max(1e-3));
    let pauses = row.method.is_flattered_by_loops() && ratio > 1.1 * in_loop;
    match comparison.settled {
        Conclusion::NoMeaningfulDifference => "no meaningful difference".to_owned(),
        _ if gain.high < 0.0 && pauses => format!("{ratio:.1} × slower with pauses"),
        _ if gain.high < 0.0 => format!("{ratio:.1} × slower"),
        Conclusion::Settled => format!("{:.0} % faster", gain.value),
        Conclusion::NotSettled => "undecided".to_owned(),
    }
}

/// Values as a row of block characters, at most `width` of them, each the largest of its share of the values.
pub fn sparkline(values: &[f64], width: usize) -> String {
    let share = values.len().div_ceil(width.max(1)).max(1);
    let columns: Vec<f64> = values.chunks(share).map(|c| c.iter().copied().fold(0.0, f64::max)).collect();
    let low = columns.iter().copied().fold(f64::INFINITY, f64::min);
    let high = columns.iter().copied().fold(0.0, f64::max);
    // Rounds that differ by less than a tenth have the same height, so that noise does not look significant.
    let span = (high - low).max(0.1 * high).max(f64::MIN_POSITIVE);
    columns.iter().map(|value| height((value - low) / span)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Comparison, Estimate};
    use crate::measure::{MeasuredLog, Method};

    fn row(method: Method, us: f64, low: f64, high: f64) -> MethodResult {
        MethodResult {
            method,
            pages: 1,
            as_server: method.is_durable(),
            samples: 1_000,
            mean_us: us,
            median_us: Estimate { value: us, low, high },
            p95_us: 2.0 * us,
            p99_us: Some(3.0 * us),
            max_us: 9.0 * us,
            flushes_per_commit: Some(1.0),
            rounds_us: vec![us; 3],
            quantiles_us: Vec::new(),
            paced_us: Vec::new(),
            samples_us: Vec::new(),
            error: None,
        }
    }

    fn measured() -> Measurement {
        let comparison = |method, value, low, high, settled| Comparison {
            method,
            against: Method::Fdatasync,
            gain_percent: Estimate { value, low, high },
            settled,
        };
        let refused = MethodResult {
            samples: 0,
            as_server: true,
            error: Some("O_DIRECT is refused here".to_owned()),
            ..row(Method::OpenSyncDirect, 0.0, 0.0, 0.0)
        };
        Measurement {
            directory: "/srv".to_owned(),
            when: "2026-01-01T00:00:00Z".to_owned(),
            seconds: 7.1,
            rounds: 3,
            bytes_written: 0,
            log: MeasuredLog::default(),
            methods: vec![
                row(Method::Fdatasync, 182.0, 170.0, 195.0),
                row(Method::OpenDatasync, 179.0, 168.0, 190.0),
                row(Method::Fsync, 346.0, 330.0, 400.0),
                row(Method::OpenSync, 184.0, 170.0, 200.0),
                refused,
                row(Method::Floor, 2.0, 2.0, 2.0),
            ],
            comparisons: vec![
                comparison(Method::OpenDatasync, 1.0, -2.0, 3.0, Conclusion::NoMeaningfulDifference),
                comparison(Method::Fsync, -90.0, -120.0, -80.0, Conclusion::Settled),
                comparison(Method::OpenSync, -80.0, -100.0, -70.0, Conclusion::Settled),
            ],
            best: Method::Fdatasync,
            cancelled: false,
            caveats: Vec::new(),
            workloads: Vec::new(),
            sentence: String::new(),
        }
    }

    #[test]
    fn the_price_of_a_commit_stands_in_columns() {
        insta::assert_snapshot!(price_of_a_commit(&measured(), Some(WalSyncMethod::Fdatasync)).join("\n"), @r"
fdatasync                  182 µs  ├●─┤                      p99   546 µs   5 495 commits/s   ← in force
open_datasync              179 µs  ├●┤                       p99   537 µs   no meaningful difference
fsync                      346 µs                  ├─●────┤  p99  1.04 ms   1.9 × slower
open_sync                  184 µs  ├─●┤                      p99   552 µs   1.8 × slower with pauses
open_sync (O_DIRECT)     O_DIRECT is refused here
");
    }

    #[test]
    fn sparklines_do_not_dramatise() {
        assert_eq!(sparkline(&[100.0, 101.0, 100.5], 10), "▁▂▁");
        assert_eq!(sparkline(&[100.0, 200.0], 10), "▁█");
        assert_eq!(sparkline(&[1.0; 100], 10).chars().count(), 10);
        assert_eq!(sparkline(&[], 10), "");
    }
}
