//! Ten recorded measurements, in every output.
//!
//! All outputs must show the same figure for the method in force under the same label, and never a
//! back-to-back figure in its place.

use serde_json::Value as Json;
use walwise_testkit::collapse_whitespace;

use super::{PLAIN, screen_text};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::facts::catalog::target::FlushDelivery;
use crate::measure::{Estimate, Latencies, Measurement, Method, MethodResult};
use crate::report::{Format, Report, sample_reports};
use crate::text::{format_latency_summary, format_micros};
use crate::tui::test_sessions::{measurement_after_rounds, press_keys, session_with_report};

/// Figures of one method in microseconds. `median` holds the value and the ends of its interval;
/// all but `back_to_back` are of paced commits.
struct RecordedLatency {
    method: Method,
    samples: u64,
    median: [f64; 3],
    p99: Option<f64>,
    back_to_back: f64,
}

const fn recorded_latency(
    method: Method,
    samples: u64,
    median: [f64; 3],
    p99: Option<f64>,
    back_to_back: f64,
) -> RecordedLatency {
    RecordedLatency {
        method,
        samples,
        median,
        p99,
        back_to_back,
    }
}

use Method::{Fdatasync, Fsync, OpenDatasync, OpenSync};

const TEN: [(WalSyncMethod, [RecordedLatency; 4]); 10] = [
    (
        WalSyncMethod::Fdatasync,
        [
            recorded_latency(Fdatasync, 47, [293.3, 255.1, 324.8], None, 212.3),
            recorded_latency(OpenDatasync, 47, [302.1, 283.9, 318.4], None, 212.7),
            recorded_latency(Fsync, 47, [594.6, 555.5, 645.0], None, 227.7),
            recorded_latency(OpenSync, 47, [577.8, 542.7, 601.8], None, 212.8),
        ],
    ),
    (
        WalSyncMethod::OpenDatasync,
        [
            recorded_latency(Fdatasync, 46, [336.4, 304.6, 365.2], None, 241.1),
            recorded_latency(OpenDatasync, 46, [341.8, 320.1, 367.8], None, 247.7),
            recorded_latency(Fsync, 46, [584.2, 528.2, 644.8], None, 231.1),
            recorded_latency(OpenSync, 46, [561.4, 528.4, 628.0], None, 252.5),
        ],
    ),
    (
        WalSyncMethod::Fsync,
        [
            recorded_latency(Fdatasync, 41, [1247.6, 1173.7, 1311.1], None, 1071.2),
            recorded_latency(OpenDatasync, 41, [1226.9, 1155.2, 1315.2], None, 1035.2),
            recorded_latency(Fsync, 41, [1244.9, 1138.9, 1321.0], None, 1068.0),
            recorded_latency(OpenSync, 41, [1221.9, 1091.0, 1307.3], None, 1049.0),
        ],
    ),
    (
        WalSyncMethod::OpenSync,
        [
            recorded_latency(Fdatasync, 45, [278.4, 259.5, 303.7], None, 161.1),
            recorded_latency(OpenDatasync, 45, [279.8, 259.0, 299.7], None, 142.9),
            recorded_latency(Fsync, 45, [278.3, 250.5, 297.8], None, 152.4),
            recorded_latency(OpenSync, 45, [282.7, 252.1, 310.2], None, 149.2),
        ],
    ),
    (
        WalSyncMethod::Fdatasync,
        [
            recorded_latency(Fdatasync, 169, [325.6, 311.4, 340.7], None, 251.2),
            recorded_latency(OpenDatasync, 169, [312.7, 286.4, 329.5], None, 248.0),
            recorded_latency(Fsync, 169, [654.4, 623.3, 681.2], None, 239.5),
            recorded_latency(OpenSync, 169, [666.1, 629.5, 702.5], None, 267.9),
        ],
    ),
    (
        WalSyncMethod::Fsync,
        [
            recorded_latency(Fdatasync, 169, [307.8, 294.0, 323.8], None, 215.2),
            recorded_latency(OpenDatasync, 169, [310.6, 295.4, 320.4], None, 224.2),
            recorded_latency(Fsync, 169, [532.8, 501.2, 565.3], None, 217.2),
            recorded_latency(OpenSync, 169, [527.4, 509.1, 554.7], None, 233.6),
        ],
    ),
    (
        WalSyncMethod::OpenDatasync,
        [
            recorded_latency(Fdatasync, 156, [1129.6, 1071.7, 1204.9], None, 1005.3),
            recorded_latency(OpenDatasync, 156, [1177.5, 1103.1, 1222.2], None, 1012.3),
            recorded_latency(Fsync, 156, [1156.8, 1103.3, 1214.0], None, 875.4),
            recorded_latency(OpenSync, 156, [1129.9, 1081.1, 1182.5], None, 992.0),
        ],
    ),
    (
        WalSyncMethod::Fdatasync,
        [
            recorded_latency(Fdatasync, 171, [280.0, 270.7, 291.1], None, 140.1),
            recorded_latency(OpenDatasync, 171, [285.4, 273.6, 300.6], None, 142.7),
            recorded_latency(Fsync, 171, [284.5, 270.3, 299.8], None, 151.0),
            recorded_latency(OpenSync, 171, [288.7, 276.9, 305.6], None, 144.9),
        ],
    ),
    (
        WalSyncMethod::OpenSync,
        [
            recorded_latency(Fdatasync, 962, [301.8, 283.3, 312.9], None, 227.5),
            recorded_latency(OpenDatasync, 962, [310.6, 298.1, 322.2], None, 234.6),
            recorded_latency(Fsync, 962, [562.2, 534.6, 581.0], None, 232.7),
            recorded_latency(OpenSync, 962, [582.9, 547.4, 596.5], None, 235.8),
        ],
    ),
    (
        WalSyncMethod::Fdatasync,
        [
            recorded_latency(Fdatasync, 986, [237.6, 228.3, 244.8], None, 133.9),
            recorded_latency(OpenDatasync, 986, [233.7, 228.9, 238.9], None, 131.4),
            recorded_latency(Fsync, 986, [238.2, 232.4, 244.9], None, 135.2),
            recorded_latency(OpenSync, 986, [241.6, 235.2, 245.1], None, 136.4),
        ],
    ),
];

fn sample_latencies(samples: u64, [value, low, high]: [f64; 3], p99_us: Option<f64>) -> Latencies {
    Latencies {
        samples,
        median_us: Estimate { value, low, high },
        p99_us,
        ..sample_reports::latencies(samples, value)
    }
}

fn measurement_from_recorded(rows: &[RecordedLatency]) -> Measurement {
    let row = |of: &RecordedLatency| MethodResult {
        method: of.method,
        pages: 1,
        as_server: true,
        paced: Some(sample_latencies(of.samples, of.median, of.p99)),
        back_to_back: Some(sample_latencies(
            4_000,
            [of.back_to_back; 3],
            Some(of.back_to_back),
        )),
        flushes_per_commit: None,
        error: None,
    };
    Measurement {
        methods: rows.iter().map(row).collect(),
        caveats: Vec::new(),
        ..measurement_after_rounds(71)
    }
}

fn parsed_report_json(report: &Report, is_verbose: bool) -> Json {
    let text = if is_verbose {
        crate::report::json::render_report(report)
    } else {
        Format::Json.render(report).unwrap()
    };
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_output_shows_the_same_latency() {
    for (in_force, rows) in &TEN {
        let spoken = rows
            .iter()
            .find(|row| row.method.wal_sync_method() == Some(*in_force))
            .unwrap();
        let [value, low, high] = spoken.median;
        let says = format_latency_summary(value, low, high, spoken.p99);
        let median = format!("{} median", format_micros(value));
        let report = sample_reports::at_risk_with_measurement(
            measurement_from_recorded(rows),
            *in_force,
            FlushDelivery::Sent,
        );
        for (name, page) in [
            ("text", crate::report::text::render(&report)),
            ("short", Format::Text.render(&report).unwrap()),
            ("markdown", Format::Markdown.render(&report).unwrap()),
            ("html", Format::Html.render(&report).unwrap()),
            (
                "overview",
                screen_text(&session_with_report(report.clone(), (100, 45), PLAIN)),
            ),
        ] {
            assert!(
                collapse_whitespace(&page).contains(&median),
                "{name}: {median}\n{page}"
            );
        }
        // Lines of these formats are long enough for the full wording.
        for page in [
            Format::Markdown.render(&report).unwrap(),
            Format::Html.render(&report).unwrap(),
        ] {
            assert!(collapse_whitespace(&page).contains(&says), "{says}\n{page}");
        }
        let near =
            |json: &Json, us: f64| json.as_f64().is_some_and(|of| (of - us).abs() < 1e-6 * us);
        for is_verbose in [false, true] {
            let current = &parsed_report_json(&report, is_verbose)["targets"][0]["answers"]["commit_latency"]
                ["current"];
            assert_eq!(current["method"], spoken.method.name());
            let all = [("median_us", value), ("low_us", low), ("high_us", high)];
            assert!(
                all.iter().all(|(key, us)| near(&current[key], *us)),
                "{current}"
            );
            assert_eq!(
                current["p99_us"].as_f64().is_some(),
                spoken.p99.is_some(),
                "{current}"
            );
        }
        let whole = parsed_report_json(&report, true);
        let chosen = |row: &&Json| row["chosen"] == true;
        let methods = whole["commit_latencies"][0]["methods"].as_array().unwrap();
        assert!(
            near(&methods.iter().find(chosen).unwrap()["median_us"], value),
            "{methods:?}"
        );
        let method = spoken.method.name();
        let metrics = Format::Prometheus.render(&report).unwrap();
        let of_median = format!("method=\"{method}\",stat=\"median\"}} {}", value / 1e6);
        assert!(metrics.contains(&of_median), "{of_median}\n{metrics}");
        assert!(
            Format::Nagios
                .render(&report)
                .unwrap()
                .contains(&format!("={}s;;;0", value / 1e6))
        );
        let mut probe = session_with_report(report, (119, 40), PLAIN);
        press_keys(&mut probe, "3");
        let screen = screen_text(&probe);
        let row = screen
            .lines()
            .find(|row| row.contains("◂ in force"))
            .unwrap()
            .replace('▌', " ");
        let cells = [
            format!(" {method} "),
            format_micros(value),
            format_micros(spoken.back_to_back),
        ];
        let places: Vec<Option<usize>> = cells.iter().map(|cell| row.find(cell.as_str())).collect();
        assert!(
            places.is_sorted() && places.iter().all(Option::is_some),
            "{row}"
        );
    }
}
