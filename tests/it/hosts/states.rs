//! States that tools report, from capture to verdict: failed pools and arrays, missing devices, an
//! object with two names, and a cache in write-through mode.

use std::path::Path;

use serde_json::Value;

use super::host;
use crate::support::{check_json, known_fact_value, report_findings, rule_outcome, verdict};

fn check_modified_host(name: &str, changes: &[(&str, &str)], target: &str) -> (i32, Value) {
    let mut text = std::fs::read_to_string(host(name)).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{name} does not hold {old}");
        text = text.replace(old, new);
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("changed.host");
    std::fs::write(&file, text).unwrap();
    check_json(&[target, "--host", file.to_str().unwrap()])
}

fn count_critical_findings(report: &Value) -> usize {
    let is = |finding: &&Value| {
        finding["level"] == "critical" && finding["outcome"]["outcome"] == "applies"
    };
    report_findings(report).filter(is).count()
}

#[test]
fn thin_pool_status_decides_verdict() {
    const OLD: &str = "|vg-pool-tpool: thin-pool failed";
    let pool = |rest: &str| {
        format!(
            "|vg-pool-tpool: thin-pool 1 19/4096 {rest} queue_if_no_space - 1024\n|vg-pg: thin 409600 819199"
        )
    };
    for (status, expect, code, rule, applies) in [
        (
            pool("200/3200 - rw discard_passdown"),
            "durable",
            0,
            "layer.stopped",
            "does-not-apply",
        ),
        (
            pool("3200/3200 - out_of_data_space discard_passdown"),
            "unproven",
            3,
            "layer.stopped",
            "applies",
        ),
        (
            pool("200/3200 - ro discard_passdown"),
            "unproven",
            3,
            "layer.stopped",
            "applies",
        ),
        (
            pool("200/3200 - ? discard_passdown"),
            "unproven",
            0,
            "layer.stopped",
            "undecided",
        ),
        (
            "|vg-pg: thin 409600 819199".to_owned(),
            "unproven",
            0,
            "layer.failed",
            "undecided",
        ),
        (
            pool("200/3200 - rw discard_passdown").replace("409600 819199", "Fail"),
            "at-risk",
            3,
            "layer.failed",
            "applies",
        ),
        (
            format!("{OLD}\n|vg-pg: thin Fail"),
            "at-risk",
            3,
            "layer.failed",
            "applies",
        ),
    ] {
        let (exit, report) = check_modified_host("thin-pool-failed", &[(OLD, &status)], "/pg");
        assert_eq!(verdict(&report, Path::new("/pg")), Some(expect), "{status}");
        assert_eq!(exit, code, "{status}");
        assert_eq!(
            rule_outcome(&report, rule, "target /pg"),
            Some(applies),
            "{status}"
        );
    }
}

#[test]
fn missing_zfs_vdev_is_not_taken_for_a_file() {
    let (exit, report) = check_modified_host("zfs-vdev-node-gone", &[], "/data/pg");
    assert_eq!(
        (exit, verdict(&report, Path::new("/data/pg"))),
        (3, Some("durable")),
        "a degraded pool is critical"
    );
    assert_eq!(
        known_fact_value(&report, "target /data/pg", "target.redundancy").unwrap(),
        "degraded"
    );
    let used = [("ata-GONE-part1  UNAVAIL", "ata-GONE-part1  ONLINE")];
    let (_, report) = check_modified_host("zfs-vdev-node-gone", &used, "/data/pg");
    assert_eq!(verdict(&report, Path::new("/data/pg")), Some("unproven"));
    let damaged = [(
        "errors: No known data errors",
        "errors: 3 data errors, use '-v' for a list",
    )];
    let (exit, report) = check_modified_host("zfs-vdev-node-gone", &damaged, "/data/pg");
    assert_eq!(
        (exit, verdict(&report, Path::new("/data/pg"))),
        (3, Some("at-risk"))
    );
}

#[test]
fn storcli_energy_pack_is_read_like_bbu() {
    let names = [
        ("\"Energy Pack Status\"", "\"BBU Status\""),
        ("\"Energy Pack\"", "\"BBU\""),
    ];
    for changes in [&names[..0], &names[..]] {
        let (exit, report) = check_modified_host("storcli-energy-pack-absent", changes, "/data");
        assert_eq!(
            (exit, verdict(&report, Path::new("/data"))),
            (3, Some("at-risk"))
        );
        assert_eq!(count_critical_findings(&report), 2);
        assert_eq!(
            known_fact_value(&report, "device sda", "controller.battery").unwrap(),
            "absent"
        );
    }
}

#[test]
fn fallback_to_write_through_states_reason() {
    let (exit, report) = check_modified_host("write-back-fell-to-write-through", &[], "/data");
    assert_eq!(
        (exit, verdict(&report, Path::new("/data"))),
        (0, Some("durable"))
    );
    let finding = report_findings(&report)
        .find(|finding| finding["rule"] == "controller.fell-back")
        .unwrap();
    assert_eq!(
        (&finding["level"], &finding["outcome"]["outcome"]),
        (&"warning".into(), &"applies".into())
    );
    assert!(
        finding["because"]
            .as_str()
            .unwrap()
            .contains("backup power source cable error"),
        "{finding}"
    );
}
