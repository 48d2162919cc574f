//! Tests the accuracy of a probe with delays that strace injects into system calls. Each commit
//! writes once, so a delay of pwrite64 slows every method equally. A delay of a flush slows only the
//! methods that call it.

use std::path::Path;

use serde_json::Value;

use crate::support::sorted_file_names;
use crate::support::strace::{directory_in_memory, start_probe_under_strace};

/// Largest allowed error of an estimate, in percent: tracing and load add a different time to each
/// commit.
const TOLERANCE: f64 = 10.0;

/// Probe durations in seconds, tried in order, because a busy host completes few rounds in the
/// first.
const PATIENCE_SECONDS: [&str; 3] = ["10", "30", "90"];

fn measure_with_delays(delays: &[(&str, f64)], differing: &[&str]) -> Value {
    let probes = PATIENCE_SECONDS
        .iter()
        .map(|seconds| measure_with_delays_within(seconds, delays));
    let is_settled = |found: &Value| {
        differing
            .iter()
            .all(|method| gain_over_fdatasync(found, method).1 == "settled")
    };
    let mut last = Value::Null;
    for found in probes {
        last = found;
        if is_settled(&last) {
            break;
        }
    }
    last
}

fn measure_with_delays_within(seconds: &str, delays: &[(&str, f64)]) -> Value {
    let directory = directory_in_memory();
    let planted: Vec<String> = delays
        .iter()
        .map(|(call, us)| format!("{call}:delay_exit={us:.0}"))
        .collect();
    let planted: Vec<&str> = planted.iter().map(String::as_str).collect();
    let arguments = ["--seconds", seconds, "--format", "json"];
    let output = start_probe_under_strace(
        directory.path(),
        Path::new("/dev/null"),
        &planted,
        &arguments,
    )
    .wait_for_output();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(sorted_file_names(directory.path()), [""; 0]);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the delay to inject, in microseconds: twenty times the commit time of the slowest
/// method, from 2 to 4 ms. Two delays of 4 ms still fit between paced commits.
fn common_delay_us() -> f64 {
    let found = measure_with_delays(&[], &[]);
    let methods = found["methods"].as_array().unwrap();
    let medians = methods.iter().map(paced_median_us);
    (20.0 * medians.flatten().fold(0.0, f64::max)).clamp(2_000.0, 4_000.0)
}

fn paced_median_us(row: &Value) -> Option<f64> {
    row["paced"]["median_us"]["value"].as_f64()
}

/// Returns a lower bound, in percent, of a delay's share in an fdatasync commit. The delay lasts
/// `delay_us` or more, and the rest of the commit takes longer on a busy host.
fn least_delay_share_percent(found: &Value, delay_us: f64) -> f64 {
    let methods = found["methods"].as_array().unwrap();
    let default = methods.iter().find(|row| row["method"] == "fdatasync");
    100.0 * delay_us / default.and_then(paced_median_us).unwrap()
}

fn gain_over_fdatasync(found: &Value, method: &str) -> ([f64; 3], String) {
    let all = found["comparisons"].as_array().unwrap();
    let one = all
        .iter()
        .find(|one| one["method"] == method && one["against"] == "fdatasync")
        .unwrap();
    let number = |key: &str| one["gain_percent"][key].as_f64().unwrap();
    (
        ["low", "value", "high"].map(number),
        one["settled"].as_str().unwrap().to_owned(),
    )
}

fn assert_gain_in_range(found: &Value, method: &str, truth: [f64; 2]) {
    let ([low, value, high], settled) = gain_over_fdatasync(found, method);
    let [least, most] = [truth[0].min(truth[1]), truth[0].max(truth[1])];
    assert!(low <= value && value <= high, "{found:#}");
    assert!(
        low - TOLERANCE <= most && least <= high + TOLERANCE,
        "{method}: {low} to {high}, in truth {least} to {most}"
    );
    assert!(
        (least - 2.0 * TOLERANCE..=most + 2.0 * TOLERANCE).contains(&value),
        "{method}: {value}, in truth {least} to {most}"
    );
    assert_eq!(settled, "settled", "{method}");
}

fn assert_no_settled_difference(found: &Value, method: &str) {
    let ([low, _, high], settled) = gain_over_fdatasync(found, method);
    assert_ne!(settled, "settled", "{method}: {low} to {high}");
}

#[test]
#[ignore = "needs strace"]
fn a_planted_delay_is_found_where_it_is_and_nowhere_else() {
    let common = common_delay_us();
    let planted = |calls: &[&'static str], differing: &[&str]| {
        let delays: Vec<_> = ["pwrite64"]
            .iter()
            .chain(calls)
            .map(|call| (*call, common))
            .collect();
        measure_with_delays(&delays, differing)
    };

    // Write and flush are delayed equally, so a method that does both in one call saves up to half
    // of the commit.
    let slow_flush = planted(&["fdatasync", "fsync"], &["open_datasync", "open_sync"]);
    assert!(
        ["open_datasync", "open_sync"].contains(&slow_flush["best"].as_str().unwrap()),
        "{slow_flush:#}"
    );
    for method in ["open_datasync", "open_sync"] {
        assert_gain_in_range(
            &slow_flush,
            method,
            [least_delay_share_percent(&slow_flush, common), 50.0],
        );
    }
    assert_no_settled_difference(&slow_flush, "fsync");

    // Part of fsync's work cannot take longer than all of fsync: the probe reports the
    // inconsistency and bases nothing on the figures.
    let slow_default = planted(&["fdatasync"], &["open_datasync", "fsync", "open_sync"]);
    for method in ["open_datasync", "fsync", "open_sync"] {
        assert_gain_in_range(
            &slow_default,
            method,
            [least_delay_share_percent(&slow_default, common), 50.0],
        );
    }
    assert_eq!(slow_default["best"], "fdatasync");
    let caveats = slow_default["caveats"].as_array().unwrap();
    assert!(
        caveats
            .iter()
            .any(|caveat| caveat["id"] == "less-work-slower"),
        "{caveats:?}"
    );

    // fsync costs twice the default, and the other methods cost the same.
    let slow_other = planted(&["fsync"], &["fsync"]);
    assert_eq!(slow_other["best"], "fdatasync");
    assert_gain_in_range(
        &slow_other,
        "fsync",
        [-100.0, -least_delay_share_percent(&slow_other, common)],
    );
    for method in ["open_datasync", "open_sync"] {
        assert_no_settled_difference(&slow_other, method);
    }

    // Memory needs no flush, which the probe reports; no method may count as different for that
    // reason.
    let equal = planted(&[], &[]);
    assert_eq!(equal["best"], "fdatasync");
    for method in ["open_datasync", "fsync", "open_sync"] {
        assert_no_settled_difference(&equal, method);
    }
}
