//! Device stacks that no kernel creates: cycles, very long chains, arrays on top of themselves.
//! Each run ends in a report, and no such stack counts as proven.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;
use walwise_collect::{Request, run_all_collectors};
use walwise_judge::durability::{VerdictCaps, judge_targets};
use walwise_model::facts::catalog::target::{VERDICT, VerdictKind};
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_sys::host::RecordedHost;

use crate::support::{check_json, verdict};

fn capture_of_stack(slaves: &[Vec<usize>]) -> String {
    let mut text = String::from("walwise host 1\n# synthetic: stacks that no kernel makes\n");
    let names: Vec<String> = (0..slaves.len()).map(|n| format!("dm-{n}")).collect();
    let lines = |names: Vec<String>| {
        if names.is_empty() {
            ":\n".to_owned()
        } else {
            format!("|{}\n", names.join("\n|"))
        }
    };
    text += "read /proc/self/mountinfo\n|20 1 253:0 / / rw - ext4 /dev/dm-0 rw\n|21 20 253:0 / /data rw - ext4 /dev/dm-0 rw\n";
    text += "real-path /data\n:/data\nstat /data\n|mode=16877 uid=0 gid=0 major=253 minor=0 node_major=0 node_minor=0 inode=2 size=4096\n";
    let _ = write!(text, "list /sys/class/block\n{}", lines(names.clone()));
    for (n, below) in slaves.iter().enumerate() {
        let home = format!("/sys/class/block/dm-{n}");
        let _ = write!(
            text,
            "read {home}/size\n|2048\nread {home}/uevent\n|MAJOR=253\n|MINOR={n}\n|DEVNAME=dm-{n}\n|DEVTYPE=disk\n\
             link {home}\n:../../devices/virtual/block/dm-{n}\nread {home}/dm/uuid\n|LVM-x{n}\n\
             read {home}/queue/write_cache\n|write back\nlist {home}/slaves\n{}",
            lines(below.iter().map(|slave| format!("dm-{slave}")).collect())
        );
    }
    text
}

fn collect_stack_facts(slaves: &[Vec<usize>]) -> FactSet {
    let host = RecordedHost::parse(capture_of_stack(slaves).as_bytes()).unwrap();
    run_all_collectors(&host, &Request::default(), &mut |_, _| {})
}

fn check_stack(slaves: &[Vec<usize>]) -> Value {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), capture_of_stack(slaves)).unwrap();
    check_json(&["/data", "--host", file.path().to_str().unwrap()]).1
}

fn chained_slaves(layers: usize) -> Vec<Vec<usize>> {
    (1..layers).map(|n| vec![n]).chain([Vec::new()]).collect()
}

/// Devices beyond the limit are only mentioned in a note.
#[test]
fn ten_thousand_layers_are_walked_and_prove_nothing() {
    for (layers, noted) in [(2_000, false), (10_000, true)] {
        let mut facts = collect_stack_facts(&chained_slaves(layers));
        let verdicts = judge_targets(&mut facts, false, &VerdictCaps::default());
        assert!(!verdicts.is_empty());
        assert!(
            verdicts
                .iter()
                .all(|verdict| verdict.standing.as_str() == "unproven")
        );
        assert_eq!(facts.bottom_devices(&Subject::mount("/data")).len(), 1);
        let is_noted = facts
            .notes()
            .iter()
            .any(|note| note.to_string().contains("beyond the limit"));
        assert_eq!(is_noted, noted, "{layers}");
    }
}

#[test]
fn two_thousand_layers_end_in_a_report() {
    let report = check_stack(&chained_slaves(2_000));
    assert_eq!(verdict(&report, "/data".as_ref()), Some("unproven"));
    let stack = &report["stacks"][0];
    let rows = stack["layers"].as_array().unwrap();
    assert!(rows.len() <= 256, "{}", rows.len());
    assert_eq!(stack["left_out"], 2_002 - rows.len());
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("has 2002 layers; this report omits the facts of"),
        "{warnings}"
    );
    let size = report.to_string().len();
    assert!(size < 4 << 20, "{size} bytes");
    // Findings stay undecided on many layers, so the truncation does not change the exit code.
    let undecided = report["undecided"].as_array().unwrap().iter();
    assert!(
        undecided
            .filter(|finding| finding["rule"] == "layout.scheduler-bfq")
            .count()
            >= 128
    );
}

#[test]
fn a_cycle_ends_in_a_report_and_proves_nothing() {
    for cycle in [
        vec![vec![0]],
        vec![vec![1], vec![0]],
        vec![vec![1], vec![2, 1], vec![0]],
    ] {
        assert_eq!(
            verdict(&check_stack(&cycle), "/data".as_ref()),
            Some("unproven"),
            "{cycle:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn arbitrary_stacks_visit_each_layer_once(
        slaves in prop::collection::vec(prop::collection::vec(0_usize..14, 0..4), 1..12)
    ) {
        let mut facts = collect_stack_facts(&slaves);
        judge_targets(&mut facts, false, &VerdictCaps::default());
        let tops: Vec<Subject> = facts.subjects_of_scope(Scope::Mount).chain(facts.subjects_of_scope(Scope::Device)).cloned().collect();
        for top in tops {
            let stack = facts.layers_below(&top);
            let mut once = stack.clone();
            once.sort();
            once.dedup();
            prop_assert_eq!(once.len(), stack.len());
            for leaf in facts.bottom_devices(&top) {
                prop_assert!(facts.layers_directly_below(&leaf).is_empty());
            }
            prop_assert!(facts.distinct_bottom_disks(&top).len() <= facts.bottom_devices(&top).len());
        }
        for target in facts.subjects_of_scope(Scope::Target) {
            let verdict = facts.value(target, &VERDICT);
            prop_assert_ne!(verdict, Some(VerdictKind::Durable));
        }
    }
}
