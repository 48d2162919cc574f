//! Reports of recorded hosts as baselines: identical in memory and through JSON, no difference to
//! themselves, and exactly the differences made in a recording. Damaged documents cause no panic.

use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_model::text::is_display_unsafe;
use walwise_report::difference::{FindingChangeKind, ReportSnapshot, compare_snapshots};
use walwise_report::{Report, json, text};
use walwise_sys::host::RecordedHost;

use super::{host, recorded_host_names, table::recorded_target};
use crate::support::deadline::CommandInTime as _;
use crate::support::{stderr, stdout, walwise};

fn report_of_recording(recording: &[u8], target: Option<&str>) -> Report {
    let host = RecordedHost::parse(recording).unwrap();
    let request = Request {
        target: target.map(Into::into),
        ..Request::default()
    };
    let mut session =
        Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |_, _| {});
    session.named_target = target.map(str::to_owned);
    session.build_report()
}

#[test]
#[ignore = "exhaustive"]
fn report_snapshots_survive_json_unchanged() {
    for name in recorded_host_names() {
        let recording = fs::read(host(&name)).unwrap();
        for target in [None, Some(recorded_target(&name))] {
            let report = report_of_recording(&recording, target);
            let kept = ReportSnapshot::from_report(&report);
            let back =
                ReportSnapshot::from_reader(json::render_report(&report).as_bytes()).unwrap();
            assert!(kept == back, "{name} {target:?}");
            assert_eq!((back.unknown_facts, back.unreadable), (0, 0), "{name}");
            let none = compare_snapshots(&back, &kept);
            assert!(
                none.facts.is_empty()
                    && !none.has_changes_besides_drift()
                    && none.remarks.is_empty(),
                "{name} {target:?}: {none:?}"
            );
        }
    }
}

#[test]
fn baseline_difference_lists_upgrade_regressions() {
    let after = fs::read_to_string(host("el8-xfs-nobarrier")).unwrap();
    let before = after.replace("4.18.0-553.el8_10.x86_64", "3.10.0-1160.el7.x86_64");
    assert_ne!(before, after);
    let (old, new) = (
        report_of_recording(before.as_bytes(), Some("/data")),
        report_of_recording(after.as_bytes(), Some("/data")),
    );
    let found = compare_snapshots(
        &ReportSnapshot::from_report(&old),
        &ReportSnapshot::from_report(&new),
    );
    let lasting: BTreeSet<&str> = found
        .facts
        .iter()
        .filter(|change| change.nature == walwise_model::facts::FactStability::Lasting)
        .map(|change| change.fact)
        .collect();
    assert_eq!(
        lasting,
        BTreeSet::from(["kernel.build", "kernel.release"]),
        "{:?}",
        found.facts
    );
    let refused = found
        .findings
        .iter()
        .find(|f| f.rule == "boot.refused-option" && f.subject.name() == "/data");
    assert_eq!(refused.unwrap().class, FindingChangeKind::New);
    assert!(
        found.gone.is_empty() && found.appeared.is_empty() && found.renamed.is_empty(),
        "{found:?}"
    );
    let back = compare_snapshots(
        &ReportSnapshot::from_report(&new),
        &ReportSnapshot::from_report(&old),
    );
    let fixed = back
        .findings
        .iter()
        .find(|f| f.rule == "boot.refused-option" && f.subject.name() == "/data");
    assert_eq!(fixed.unwrap().class, FindingChangeKind::Fixed);
}

#[test]
fn baseline_changes_no_other_report_part() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let after = fs::read_to_string(host("el8-xfs-nobarrier")).unwrap();
    fs::write(
        at("before.host"),
        after.replace("4.18.0-553.el8_10.x86_64", "3.10.0-1160.el7.x86_64"),
    )
    .unwrap();
    let path = host("el8-xfs-nobarrier");
    let now = path.to_str().unwrap();
    let made = walwise()
        .args([
            "check",
            "-v",
            "/data",
            "--host",
            &at("before.host"),
            "--format",
            "json",
            "--output",
            &at("before.json"),
        ])
        .output_in_time();
    assert_eq!(stderr(&made), "");
    let check = |more: &[&str]| {
        let output = walwise()
            .args(["check", "-v", "/data", "--host", now])
            .args(more)
            .output_in_time();
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(3), ""),
            "{more:?}"
        );
        stdout(&output)
    };
    let compared = check(&["--baseline", &at("before.json")]);
    let begin = compared.find("Since the baseline").unwrap();
    let (head, rest) = compared.split_at(begin);
    let (section, rest) = rest.split_at(rest.find("\nDURABLE: /data").unwrap());
    insta::with_settings!({filters => vec![(r"20\d\d-\d\d-\d\dT[\d:]+Z", "[when]")]}, {
        insta::assert_snapshot!(section);
    });
    let without_time = |text: &str| {
        text.lines()
            .filter(|line| !line.contains(" rules"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        without_time(&format!("{head}{}", &rest[1..])),
        without_time(&check(&[]))
    );
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut with = parsed(&check(&[
        "--format",
        "json",
        "--baseline",
        &at("before.json"),
    ]));
    assert!(
        with["baseline"]["findings"]
            .as_array()
            .is_some_and(|findings| !findings.is_empty())
    );
    with.as_object_mut().unwrap().remove("baseline");
    let without = parsed(&check(&["--format", "json"]));
    for (key, value) in without
        .as_object()
        .unwrap()
        .iter()
        .filter(|(key, _)| *key != "when")
    {
        assert_eq!(&with[key], value, "{key}");
    }
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        "\u{1b}[31m",
        "\u{202e}\u{9b}",
        "device sda",
        "host",
        "applies",
        "critical",
        "99999999999999999999",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(texts.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(serde_json::json!([])),
        Just(serde_json::json!({"a": [1, {"b": "\u{1b}"}]})),
        Just(serde_json::json!([["a"], 1, null, "\u{1b}]0;x\u{7}"])),
    ]
}

fn replace_value_at(json: &mut Value, way: &[prop::sample::Index], junk: &Value) {
    let Some((first, rest)) = way.split_first() else {
        *json = junk.clone();
        return;
    };
    match json {
        Value::Array(items) if !items.is_empty() => {
            let at = first.index(items.len());
            replace_value_at(&mut items[at], rest, junk);
        }
        Value::Object(members) if !members.is_empty() => {
            let key = members
                .keys()
                .nth(first.index(members.len()))
                .unwrap()
                .clone();
            replace_value_at(members.get_mut(&key).unwrap(), rest, junk);
        }
        other => *other = junk.clone(),
    }
}

static SAMPLE: LazyLock<(Report, Value)> = LazyLock::new(|| {
    let report = report_of_recording(&fs::read(host("ext4-nobarrier")).unwrap(), Some("/data"));
    let document = serde_json::from_str(&json::render_report(&report)).unwrap();
    (report, document)
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damaged_baseline_is_shown_display_safe(
        damages in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 1..6), arbitrary_json()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (report, document) = &*SAMPLE;
        let mut document = document.clone();
        for (way, junk) in &damages {
            replace_value_at(&mut document, way, junk);
        }
        let mut bytes = serde_json::to_vec(&document).unwrap();
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match ReportSnapshot::from_reader(bytes.as_slice()) {
            Err(error) => {
                let says = error.to_string();
                prop_assert!(says.contains("walwise"), "{}", says);
            }
            Ok(kept) => {
                let mut report = report.clone();
                report.baseline = Some(compare_snapshots(&kept, &ReportSnapshot::from_report(&report)));
                let shown = text::render(&report);
                prop_assert!(!shown.chars().any(|c| c != '\n' && is_display_unsafe(c)), "{}", shown);
                let _: Value = serde_json::from_str(&json::render_report(&report)).unwrap();
            }
        }
    }
}
