//! Advice that removes flushes, from facts to plan. walwise gives such advice only to hosts that
//! the specification allows, and no built-in rule can lose data in another form.
//!
//! crates/judge/src/durability/tests/interlock enumerates the combinations of facts that open the
//! interlock itself.

use walwise_judge::durability::{VerdictCaps, judge_targets};
use walwise_judge::rules::model::ChangeSpec;
use walwise_judge::rules::{EvaluationOptions, Finding, RuleSet, evaluate_rule, rule_subjects};
use walwise_model::facts::Scope;
use walwise_model::settings;
use walwise_report::{Format, Report};

use crate::support::test_host::TestHost;

mod torn_writes;

/// The only rule that may advise removing flushes.
const RULE: &str = "barrier.option-behind-battery";

/// Values of settings that lose committed data, from the product's list and the manuals of servers
/// and file systems. Settings that no rule can name yet are included in advance.
const LOSING: &[(&str, &[&str])] = &[
    (
        "mount.options",
        &[
            "nobarrier",
            "barrier=0",
            "barrier=none",
            "data=writeback",
            "journal_async_commit",
            "fsync_mode=nobarrier",
            "volatile",
            "soft",
            "norecovery",
            "noload",
        ],
    ),
    (
        "boot.options",
        &[
            "nobarrier",
            "barrier=0",
            "barrier=none",
            "data=writeback",
            "journal_async_commit",
            "fsync_mode=nobarrier",
            "volatile",
            "soft",
            "norecovery",
            "noload",
        ],
    ),
    ("mkfs.options", &["-O ^has_journal"]),
    ("mkfs.features", &["^has_journal"]),
    ("block.write_cache", &["write through", "none"]),
    ("zfs.sync", &["disabled"]),
    ("pg.fsync", &["off"]),
    ("pg.full_page_writes", &["off"]),
    ("pg.synchronous_commit", &["off"]),
    ("pg.data_sync_retry", &["on"]),
    ("pg.recovery_init_sync_method", &["syncfs"]),
    ("mysql.innodb_doublewrite", &["OFF", "0", "DETECT_ONLY"]),
    ("mysql.innodb_flush_log_at_trx_commit", &["0", "2"]),
    ("mysql.sync_binlog", &["0"]),
    ("mysql.innodb_checksum_algorithm", &["none", "strict_none"]),
    (
        "mysql.innodb_flush_method",
        &["nosync", "O_DIRECT_NO_FSYNC", "littlesync"],
    ),
];

const LOSING_COMMANDS: &[&str] = &[
    "nobarrier",
    "barrier=0",
    "write through",
    "sync=disabled",
    "fsync=off",
    "fsync = off",
    "full_page_writes=off",
    "full_page_writes = off",
    "synchronous_commit=off",
    "doublewrite=0",
    "doublewrite=OFF",
    "data=writeback",
    "journal_async_commit",
    "^has_journal",
    "cacheflush=1",
    "echo 1 > /sys/module/zfs",
    "eatmydata",
    "hdparm -W1",
    "hdparm -W 1",
];

#[test]
fn settings_flag_every_value_that_loses_data() {
    for (name, words) in LOSING {
        let Some(setting) = settings::find_by_name(name) else {
            continue;
        };
        for word in *words {
            assert!(
                setting.can_lose_data(&[(*word).to_owned()]),
                "{name} {word}"
            );
        }
    }
}

fn value_loses_data(setting: &str, values: &[String]) -> bool {
    let words = LOSING
        .iter()
        .find(|(name, _)| *name == setting)
        .map_or(&[][..], |(_, words)| words);
    values.iter().any(|value| words.contains(&value.as_str()))
}

#[test]
fn no_builtin_rule_can_lose_data_but_one() {
    let rules = RuleSet::builtin();
    let mut losing = Vec::new();
    for rule in rules.rules() {
        for advice in &rule.advise {
            let name = advice.setting.name;
            let listed = LOSING.iter().any(|(setting, _)| *setting == name);
            let by_value = match &advice.change {
                ChangeSpec::Fixed(change) => {
                    assert!(
                        !value_loses_data(name, change.set_or_added_values())
                            || advice.setting.can_lose_data(change.set_or_added_values()),
                        "{}: the asymmetry of settings does not know that {name} {} loses data",
                        rule.id,
                        change.describe_change()
                    );
                    value_loses_data(name, change.set_or_added_values())
                }
                // crates/judge/src/compat/tests checks that the features left out at mkfs never
                // include the journal.
                ChangeSpec::AddFrom(fact)
                    if name == "mkfs.features" && fact.name.ends_with("_leave_out") =>
                {
                    false
                }
                // A fact can have any value, so no setting that can lose data may be set from a
                // fact.
                ChangeSpec::SetFrom(_) | ChangeSpec::AddFrom(_) => {
                    assert!(!listed, "{}: {name} is set from a fact", rule.id);
                    false
                }
                ChangeSpec::RemoveFrom(_) => false,
            };
            // A comment may name the option that a command removes.
            let commands = advice
                .apply
                .iter()
                .map(walwise_judge::rules::Template::as_written);
            let by_command = commands
                .map(|text| text.split('#').next().unwrap_or_default().to_owned())
                .any(|command| LOSING_COMMANDS.iter().any(|word| command.contains(word)));
            if by_value || by_command {
                losing.push((rule.id.clone(), advice.risk.as_str()));
            }
        }
    }
    assert_eq!(losing, [(RULE.to_owned(), "data-loss-if-wrong")]);
}

/// Facts that decide the interlock: all their values, unknown included, and the values that open
/// it.
const DECIDING: &[(&str, &[&str], &[&str])] = &[
    (
        "controller.battery",
        &["healthy"],
        &[
            "charging",
            "learning",
            "degraded",
            "failed",
            "absent",
            "unreadable",
            "?",
        ],
    ),
    (
        "controller.policy",
        &["write back"],
        &["write through", "always write back", "?"],
    ),
    (
        "controller.policy_in_force",
        &["write back"],
        &["write through", "?"],
    ),
    (
        "controller.on_battery_failure",
        &["write through"],
        &["stays", "?"],
    ),
    (
        "controller.disk_cache",
        &["off"],
        &["on", "disk default", "?"],
    ),
    (
        "device.kind",
        &["disk"],
        &["zvol", "zram", "ram", "other", "?"],
    ),
    (
        "device.transport",
        &["megaraid", "raid"],
        &[
            "nvme",
            "sata",
            "sas",
            "scsi",
            "usb",
            "virtio",
            "virtio-scsi",
            "xen",
            "vmware",
            "hyperv",
            "mmc",
            "pmem",
            "network",
            "other",
            "?",
        ],
    ),
    ("device.fabric", &["?"], &["iscsi", "fibre channel"]),
    (
        "device.write_cache",
        &["write back"],
        &["write through", "?"],
    ),
    (
        "device.cache_type",
        &["write back", "write through", "none", "?"],
        &[],
    ),
    ("device.drive_cache", &["on", "off", "?"], &[]),
    ("device.ephemeral", &["false"], &["true", "?"]),
    (
        "nvme.critical_warning",
        &["", "?", "temperature"],
        &["memory backup failed", "read-only"],
    ),
    // A drive's capacitor does not count as a controller battery and opens nothing.
    (
        "nvme.capacitor",
        &["healthy", "degraded", "absent", "unreadable", "?"],
        &["failed"],
    ),
    (
        "mount.class",
        &["block"],
        &["network", "memory", "fuse", "overlay", "zfs", "other", "?"],
    ),
    (
        "mount.fstype",
        &["ext4"],
        &["ext3", "xfs", "btrfs", "f2fs", "?"],
    ),
    // If the option is already set but has no effect, adding it is not advised.
    ("mount.barrier", &["on"], &["off", "no effect", "?"]),
    ("ext4.journal", &["true"], &["false", "?"]),
    ("host.container", &["none"], &["docker", "?"]),
    ("kernel.version", &["6.1.0", "5.10.0"], &["9.0", "?"]),
    ("kernel.vendor", &["debian"], &["?"]),
    ("pg.fsync", &["true"], &["false", "?"]),
    ("pg.synchronous_commit", &["on", "local"], &["off", "?"]),
    ("pg.full_page_writes", &["true"], &["false", "?"]),
    ("pg.fsync_disabled_by", &["none"], &["libeatmydata.so", "?"]),
    ("probe.flush_cost", &["40"], &["4", "0", "-1", "?"]),
    ("probe.commit", &["100"], &["?"]),
    ("probe.implausible", &["false", "?"], &["true"]),
];

fn host_with_unlocked_advice() -> TestHost {
    TestHost::new_with_protected_cache().with_cluster()
}

fn data_losing_advice(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    for plan in &report.plans {
        for (step, part) in plan
            .steps
            .iter()
            .map(|s| (s, "step"))
            .chain(plan.options.iter().map(|o| (o, "option")))
        {
            if value_loses_data(
                step.advice.setting.name,
                step.advice.change.set_or_added_values(),
            ) {
                found.push(format!(
                    "{part} {} by {}",
                    step.advice.change.describe_change(),
                    step.rules.join(" ")
                ));
            }
        }
    }
    found
}

fn count_advice_losing_data(findings: &[Finding]) -> usize {
    let advice = findings.iter().flat_map(|finding| &finding.advice);
    advice
        .filter(|advice| value_loses_data(advice.setting.name, advice.change.set_or_added_values()))
        .count()
}

#[test]
fn nobarrier_is_offered_exactly_for_allowed_values() {
    let offer = format!("option add nobarrier by {RULE}");
    let mut seen = 0;
    for (fact, allowed, other) in DECIDING {
        for (values, expect) in [(allowed, vec![offer.clone()]), (other, vec![])] {
            for value in *values {
                let report = host_with_unlocked_advice()
                    .with_fact(fact, value)
                    .report(true);
                assert_eq!(data_losing_advice(&report), expect, "{fact} = {value}");
                assert_eq!(
                    count_advice_losing_data(&report.findings),
                    expect.len(),
                    "{fact} = {value}"
                );
                for format in [Format::Script, Format::Fstab, Format::Udev] {
                    let pasted = format.render(&report).unwrap();
                    let mut active = pasted
                        .lines()
                        .filter(|line| !line.trim_start().starts_with('#'));
                    assert!(!active.any(|line| line.contains("nobarrier")), "{pasted}");
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 80);
}

#[test]
fn assumed_facts_and_other_hosts_never_unlock_nobarrier() {
    assert_eq!(
        data_losing_advice(&host_with_unlocked_advice().report(true)).len(),
        1
    );
    assert_eq!(
        data_losing_advice(&host_with_unlocked_advice().report(false)).len(),
        0,
        "a capture of another host"
    );
    for (fact, allowed, _) in DECIDING {
        // Facts that matter only if they contradict others.
        let idle = [
            "device.cache_type",
            "device.drive_cache",
            "device.fabric",
            "nvme.capacitor",
        ]
        .contains(fact);
        for value in allowed.iter().filter(|value| !idle && **value != "?") {
            let report = host_with_unlocked_advice()
                .with_fact(fact, &format!("~{value}"))
                .report(true);
            assert_eq!(
                data_losing_advice(&report),
                [""; 0],
                "{fact} = {value}, assumed"
            );
        }
    }
}

#[test]
fn no_pair_of_deviations_unlocks_nobarrier() {
    let rules = RuleSet::builtin();
    let can_lose = |change: &ChangeSpec, setting: &str| match change {
        ChangeSpec::Fixed(change) => value_loses_data(setting, change.set_or_added_values()),
        _ => false,
    };
    let losing: Vec<_> = rules
        .rules()
        .iter()
        .filter(|rule| {
            rule.advise
                .iter()
                .any(|advice| can_lose(&advice.change, advice.setting.name))
        })
        .collect();
    assert_eq!(losing.len(), 1);
    let values = |(fact, allowed, other): &(
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
    )| {
        let fact = *fact;
        let fine = allowed.iter().map(move |value| (fact, *value, true));
        fine.chain(other.iter().map(move |value| (fact, *value, false)))
            .collect::<Vec<_>>()
    };
    let all: Vec<_> = DECIDING.iter().flat_map(values).collect();
    for (i, a) in all.iter().enumerate() {
        let first = host_with_unlocked_advice().with_fact(a.0, a.1);
        for b in all.iter().skip(i + 1).filter(|b| b.0 != a.0) {
            let mut facts = first.clone().with_fact(b.0, b.1).facts;
            judge_targets(&mut facts, true, &VerdictCaps::default());
            let findings: Vec<Finding> = losing
                .iter()
                .flat_map(|rule| {
                    rule_subjects(rule, &facts)
                        .into_iter()
                        .map(|on| (*rule, on))
                        .collect::<Vec<_>>()
                })
                .filter(|(_, on)| on.scope() == Scope::Target)
                .map(|(rule, on)| {
                    evaluate_rule(
                        rule,
                        &facts,
                        &on,
                        EvaluationOptions {
                            live: true,
                            traced: true,
                        },
                    )
                })
                .collect();
            assert_eq!(
                count_advice_losing_data(&findings),
                usize::from(a.2 && b.2),
                "{a:?} {b:?}"
            );
        }
    }
}
