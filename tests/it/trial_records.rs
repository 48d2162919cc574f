//! Records of trials on recorded hosts change no verdict, no critical finding and no advice that
//! can lose data; records from other hosts change nothing.

use std::collections::BTreeSet;

use serde_json::json;
use walwise::session::Session;
use walwise_collect::{Request, run_all_collectors};
use walwise_judge::rules::{Finding, Level, Risk, RuleSet};
use walwise_measure::drill::StackFacts;
use walwise_measure::trial::{ExtentKind, TrialRecord};
use walwise_model::facts::{FactSet, Note, Scope, Subject};
use walwise_report::Report;
use walwise_sys::host::RecordedHost;

use crate::support::recorded::recorded_host_files;

/// Rules outside trial.toml that read facts of a trial.
const TIED: [&str; 2] = ["filesystem.free-ext4", "filesystem.free-xfs"];

pub fn decisive_trial_record(candidates: [&str; 2], stack: &StackFacts) -> TrialRecord {
    let sample = |rate: f64| {
        json!({ "commits": 1000, "seconds": 1000.0 / rate, "p50_us": 250.0, "p99_us": 500.0, "flushes": 1000,
                "leaf_flushes": null, "calls": 1000 })
    };
    let cell = |runner: serde_json::Value, rate: f64, nth: usize| {
        let rate = rate * (1.0 + 0.001 * ((nth * 7) % 5) as f64);
        // One client with fdatasync, then with open_datasync, which is 30 % faster.
        json!({ "runner": runner, "samples": [sample(rate), sample(rate * 1.3)], "error": null })
    };
    let block = |nth: usize| {
        json!({ "written": 1, "cells": [
            cell(json!({ "candidate": 0 }), 4000.0, nth), cell(json!({ "candidate": 1 }), 5000.0, nth + 1),
            cell(json!("twin"), 4000.0, nth + 2), cell(json!("floor"), 6000.0, nth), cell(json!("host"), 6000.0, nth),
        ] })
    };
    let made = candidates
        .map(|candidate| json!({ "candidate": candidate, "mkfs": ["mkfs"], "version": "1", "mount": "" }));
    let text = json!({
        "trial": 1, "walwise": "0.1.0", "started": "2026-11-25T08:00:00Z", "ending": "settled", "seconds": 60.0,
        "budget": 60.0, "seed": 1, "directory": "/srv", "bytes": 1 << 30, "host_filesystem": "ext4", "leaves": ["sda"],
        "stack": stack.to_string().lines().collect::<Vec<_>>(), "load_seconds": 0.5,
        "loads": [{ "clients": 1, "shape": "usual" }, { "clients": 1, "shape": "open-datasync" }],
        "candidates": made, "blocks": (0..15).map(block).collect::<Vec<_>>(),
    });
    TrialRecord::parse(&text.to_string()).unwrap()
}

fn critical_findings_and_advice(report: &Report) -> String {
    let loses = |finding: &&Finding| {
        finding.level == Level::Critical
            || !finding.held_back.is_empty()
            || finding
                .advice
                .iter()
                .any(|advice| advice.risk == Risk::DataLossIfWrong)
    };
    let findings: Vec<&Finding> = report.findings.iter().filter(loses).collect();
    format!("{findings:#?}\n{:#?}", report.verdicts)
}

fn live_session(facts: FactSet, records: Vec<TrialRecord>) -> Session {
    let mut session = Session::new(facts, RuleSet::builtin(), true);
    session.traced = false;
    session.trials = records
        .into_iter()
        .map(|record| ("t.json".to_owned(), record))
        .collect();
    session
}

#[test]
fn trial_records_change_no_critical_finding() {
    let (mut here, mut changed) = (0, BTreeSet::new());
    // Every other host, because each report takes long.
    for (number, file) in recorded_host_files().into_iter().step_by(2).enumerate() {
        let host = RecordedHost::parse(&std::fs::read(&file).unwrap()).unwrap();
        let read = run_all_collectors(&host, &Request::default(), &mut |_, _| {});
        let without = live_session(read.clone(), Vec::new()).build_report();
        let elsewhere = decisive_trial_record(["ext4", "xfs"], &StackFacts::default());
        let with = live_session(read.clone(), vec![elsewhere]).build_report();
        assert_eq!(
            with.findings,
            without.findings,
            "{}: from elsewhere",
            file.display()
        );
        let targets: Vec<Subject> = read.subjects_of_scope(Scope::Target).cloned().collect();
        let pairs = [
            ["ext4", "xfs"],
            ["xfs", "ext4"],
            ["ext4", "btrfs"],
            ["xfs", "btrfs-nocow"],
        ];
        if let Some(target) = targets.first() {
            let candidates = pairs[number % pairs.len()];
            let mut own = decisive_trial_record(candidates, &StackFacts::from_facts(&read, target));
            if target.name().starts_with("/dev/") {
                own.extent = ExtentKind::Disk;
            }
            let with = live_session(read.clone(), vec![own]).build_report();
            assert_eq!(
                critical_findings_and_advice(&with),
                critical_findings_and_advice(&without),
                "{}: {target}",
                file.display()
            );
            let notes: Vec<String> = with.warnings.iter().map(Note::to_string).collect();
            here += usize::from(
                notes
                    .iter()
                    .any(|note| note.contains("rules may use the result")),
            );
            for finding in with
                .findings
                .into_iter()
                .filter(|finding| !without.findings.contains(finding))
            {
                let own = finding.rule.starts_with("trial.") || TIED.contains(&&*finding.rule);
                assert!(own, "{}: {finding:#?}", file.display());
                changed.insert(finding.rule);
            }
        }
    }
    assert!(here > 20, "only {here} trials were of their own disk");
    assert!(changed.len() > 1, "{changed:?}");
}
