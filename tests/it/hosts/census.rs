//! No rule is unused. Each applies on a recorded host, or in a test with a real server or disk.
//! For each, there is a recorded host where it does not apply.

use std::collections::BTreeSet;

use walwise_judge::rules::RuleSet;

use super::check_recorded_host_target;
use crate::support::recorded::recorded_host_documents;

/// Rules that only concern a named target: rule, recorded host, target.
const WITH_A_TARGET: &[[&str; 3]] = &[
    [
        "filesystem.device-held",
        "free-volume-beside-pg16",
        "/dev/sdb",
    ],
    ["filesystem.fuse", "sshfs", "/data"],
    ["filesystem.memory", "tmpfs", "/data"],
    ["filesystem.shared-folder", "nine-p", "/data"],
    ["pg.sync-method-lacking", "seed-sas-ext3", "/data"],
];

/// Rules that apply on no recorded host, each with the test or circumstance that makes the rule
/// apply.
const ELSEWHERE: &[[&str; 2]] = &[
    ["barrier.btrfs-off", "tests/it/loops.rs"],
    ["barrier.option-behind-battery", "tests/it/interlock.rs"],
    [
        "filesystem.pod-directory",
        "its examples: no capture of a node",
    ],
    ["layer.read-only", "tests/lab/stacks/disks.sh"],
    ["mysql.flush-method-none", "tests/it/mariadb.rs"],
    ["pg.commit-delay", "tests/it/passive.rs"],
    ["pg.io-uring-disabled", "tests/it/upgrade.rs"],
    ["pg.sync-method-keep", "a probe"],
    ["pg.sync-method-measured", "a probe"],
    ["pg.sync-method-new-server", "a probe"],
    ["shared.flush-slowdown", "a probe"],
    ["trial.ext4-first", "src/session/trial_facts.rs"],
    ["trial.filesystem-keep", "a trial"],
    ["trial.sync-method", "src/session/trial_facts.rs"],
    ["trial.sync-method-default", "src/session/trial_facts.rs"],
    ["trial.xfs-first", "src/session/trial_facts.rs"],
    ["verdict.few-cuts", "a drill"],
    ["verdict.implausible-rate", "a probe"],
];

#[test]
fn every_rule_applies_somewhere_and_not_everywhere() {
    let rules = RuleSet::builtin();
    let (mut applies, mut does_not): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    for (_, report) in recorded_host_documents() {
        for tally in report["rules"].as_array().unwrap() {
            let rule = tally["rule"].as_str().unwrap();
            if tally["applies"] != 0 {
                applies.insert(rule);
            }
            if tally["does_not_apply"]
                .as_array()
                .is_some_and(|not| !not.is_empty())
            {
                does_not.insert(rule);
            }
        }
    }
    for [rule, host, target] in WITH_A_TARGET {
        let report = check_recorded_host_target(host, target);
        let mut tallies = report["rules"].as_array().unwrap().iter();
        assert!(
            tallies.any(|tally| tally["rule"] == **rule && tally["applies"] != 0),
            "{rule} does not apply to {target} of {host}"
        );
        assert!(applies.insert(rule), "{rule} applies without a target");
    }
    for [rule, _] in ELSEWHERE {
        assert!(
            applies.insert(rule),
            "{rule} applies on a recorded host too"
        );
    }
    // Known changes are judged under an upgrade only; tests/it/upgrade.rs has a host for each.
    let judged = rules.rules().iter().filter(|rule| rule.change.is_none());
    let ids: BTreeSet<&str> = judged.map(|rule| rule.id.as_str()).collect();
    let never: Vec<&&str> = ids.difference(&applies).collect();
    assert!(never.is_empty(), "apply nowhere: {never:?}");
    does_not.extend(ELSEWHERE.iter().map(|[rule, _]| *rule));
    let always: Vec<&&str> = ids.difference(&does_not).collect();
    assert!(always.is_empty(), "apply on every host: {always:?}");
}
